#!/usr/bin/env python3
"""Executions until a bug is found, on rc11, loom and shuttle: prints the table of docs/evidence/rc11-peers.md.

    python3 verification/rc11/peers/medians/run.py

The crate is made in `target`, so that loom and shuttle are no dependencies of this workspace.
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RC11 = HERE.parent.parent
SCRATCH = RC11.parent.parent / "target" / "rc11-medians"
MANIFEST = f"""[package]
name = "medians"
version = "0.0.0"
edition = "2021"
[workspace]
[[bin]]
name = "medians"
path = "{HERE}/main.rs"
[dependencies]
rc11 = {{ path = "{RC11}" }}
loom = "=0.7.2"
shuttle = "=0.9.10"
"""


def main():
    SCRATCH.mkdir(parents=True, exist_ok=True)
    (SCRATCH / "Cargo.toml").write_text(MANIFEST)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(SCRATCH / "target")}
    return subprocess.run(["cargo", "run", "--release", "--quiet"], cwd=SCRATCH, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
