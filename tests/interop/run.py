#!/usr/bin/env python3
"""Runs the published tests and examples of others' crates on spinpark's executor.

The sources come from the registry, by cargo, at the versions that Cargo.toml beside this states. They are copied below
target/interop, into packages in which futures-lite, futures, easy-parallel, smol and tokio are the shims of that name here; nothing of
others' stands in this project. primitives.py runs tokio's tests on our own primitives. Prints a table; `--write` puts it into
docs/evidence/interop.md. Exit status: 1 if a test or a talk between examples (examples.py) failed, or was not compiled.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import examples

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "target" / "interop"
BUILT = ROOT / "target" / "interop-build"
PAGE = ROOT / "docs" / "evidence" / "interop.md"
MARKS = ("<!-- table -->", "<!-- /table -->")
SHIMS = ["easy-parallel", "futures", "futures-lite", "smol", "tokio"]
MINUTES = 15

PAUSED = "stops tokio's clock, which ours is not"
NO_EXECUTOR = "polls by hand: no executor has a part in it"
BUDGET = "spends a budget that only tasks on tokio's workers have"
ONE_THREAD = "expects what it gives to `tokio::spawn` on its own thread, as in a `current_thread` runtime"
SEVERAL_THREADS = "fails now and then on tokio's own runtime of several threads, too"
REFUSES = "expects tokio to refuse to block a worker; it does not know ours for one"
WHEN_IT_YIELDS = "expects the poller to be asked whenever it yields, as in a `current_thread` runtime"
DRIVEN = "expects that no other thread polls meanwhile"
OWN_RUNTIME = "is about tokio's own runtime"

# The tests of each crate, in files or folders below its `tests`, and what is left out: `file` or `file::test`, and why.
CRATES = {
    "async-channel": {"files": ["bounded", "unbounded"], "out": {}},
    "async-lock": {
        "files": ["barrier", "mutex", "rwlock", "semaphore"],
        "out": {"loom": "wants loom's types"},
    },
    "futures-channel": {
        "files": ["channel", "mpsc", "mpsc-close", "oneshot"],
        "out": {"mpsc-size_hint": NO_EXECUTOR},
    },
    "hyper-util": {
        "files": ["legacy_client", "proxy"],
        "out": {
            "legacy_client::alpn_h2": SEVERAL_THREADS,
            "legacy_client::connection_poisoning": SEVERAL_THREADS,
            "proxy::test_socks_v5_with_locally_resolved_domain_works": "looks a name up in the network",
        },
    },
    "piper": {"files": ["pipe"], "out": {}},
    "tokio": {
        "files": [
            "sync_broadcast", "sync_broadcast_weak", "sync_mpsc", "sync_mpsc_weak", "sync_watch", "sync_mutex", "sync_mutex_owned", "sync_oneshot",
            "sync_rwlock", "sync_semaphore", "sync_semaphore_owned", "sync_set_once",
            "buffered", "io_async_fd", "io_copy", "io_copy_bidirectional", "net_bind_resource", "tcp_accept", "tcp_connect", "tcp_echo",
            "tcp_into_split", "tcp_into_std", "tcp_peek", "tcp_shutdown", "tcp_socket", "tcp_split", "tcp_stream", "udp", "uds_cred", "uds_datagram",
            "uds_split", "uds_stream", "unix_shutdown",
        ],
        "out": {
            "sync_mutex::mutex_fifo_with_coop_budget": BUDGET,
            "sync_mutex::mutex_coop_drop_after_take_permit": BUDGET,
            "sync_broadcast::receiver_recv_is_cooperative": BUDGET,
            **{f"sync_watch::{which}_is_cooperative{ok}": BUDGET
               for which in ["receiver_changed", "receiver_wait_for"] for ok in ["", "_ok"]},
            "sync_watch::sender_closed_is_cooperative": BUDGET,
            "io_copy::copy_is_cooperative": BUDGET,
            **{f"io_async_fd::try_io_{which}": WHEN_IT_YIELDS for which in ["readable", "writable"]},
            **{f"io_async_fd::{which}": DRIVEN for which in ["driver_shutdown_wakes_currently_pending_polls", "poll_fns"]},
            "uds_stream::epollhup": DRIVEN,
            "io_copy::copy_buf_is_cooperative": BUDGET,
            **{f"sync_semaphore::blocking_acquire{which}_in_async_context": REFUSES
               for which in ["", "_many", "_many_owned", "_owned"]},
            "sync_mpsc::blocking_recv_async": REFUSES,
            "sync_mpsc::blocking_send_async": REFUSES,
            "sync_barrier, sync_notify": NO_EXECUTOR,
            "sync_once_cell": PAUSED,
            "the others": OWN_RUNTIME,
        },
    },
    "tower": {
        "files": ["buffer", "builder", "load_shed", "ready_cache", "retry", "spawn_ready", "steer", "util"],
        "out": {
            "hedge, limit": PAUSED,
            "balance": NO_EXECUTOR,
            "filter": "is never compiled: its folder has no `main.rs`",
            "spawn_ready::when_inner_is_not_ready": PAUSED,
            "buffer::propagates_trace_spans": ONE_THREAD,
            "spawn_ready::propagates_trace_spans": ONE_THREAD,
            "spawn_ready::abort_on_drop": ONE_THREAD,
        },
    },
}
# Those that publish neither, or nothing in which an executor has a part.
WITHOUT = {
    "hyper 1.12.0": "publishes none; tests/ecosystem has clients and servers of its kind, hyper-util's tests are of it",
    "tungstenite 0.30.0": "publishes examples that block their thread: no executor has a part in them",
}
# What must be said of a crate, for its own code or for its tests.
FEATURES = {
    "async-tungstenite": ["handshake", "tokio-runtime"],
    "futures-channel": ["sink"],
    "hyper-util": ["full"],
    "tower": ["full"],
}

TEST = re.compile(r"#\[tokio::test[^\]]*\]")


def cargo(*args, **options):
    return subprocess.run(["cargo", *args], text=True, stdout=subprocess.PIPE, **options)


def sources(crates=(*CRATES, *examples.CRATES)):
    """Where cargo has put each crate, its version and its edition."""
    told = cargo("metadata", "--format-version", "1", "--manifest-path", str(HERE / "Cargo.toml"), check=True).stdout
    found = {}
    for package in json.loads(told)["packages"]:
        if package["source"] and package["name"] in crates:
            found[package["name"]] = (Path(package["manifest_path"]).parent, package["version"], package["edition"])
    return found


def ours(text):
    """A test's source with our executor, in tokio's context: for its timers and sockets, and for what a crate's own code gives to its `spawn`."""
    return TEST.sub("#[spinpark::test(tokio)]", text)


def without(text, name):
    """The test of that name is gone, to its last brace: it may want what is not there."""
    text, found = re.subn(rf"(?:#\[[^\n]*\n)+(?:async )?fn {name}\(\)[^\n]*\n(?:.*\n)*?\}}\n", "", text)
    assert found == 1, f"there is no test {name}"
    return text


def manifest(kind, name, version, edition):
    """The package of a crate's tests or examples: what those of all need, with the shims."""
    below = (HERE / "Cargo.toml").read_text().split("[target.'cfg(unix)'.dev-dependencies]")[1]
    lines = [line for line in below.splitlines() if "=" in line and not line.startswith("#")]
    others = [line for line in lines if line.split(" ")[0] not in [*SHIMS, name]]
    if name != "tokio":
        others.append(f'{name} = {{ version = "={version}", features = {json.dumps(FEATURES.get(name, []))} }}')
    others += [f'{shim} = {{ package = "interop-{shim}", path = "{HERE}/shims/{shim}" }}' for shim in SHIMS]
    others.append(f'spinpark = {{ path = "{ROOT}", features = ["macros", "tokio-context"] }}')
    # Their tests ask for features of the crate that they are of.
    features = "buffer filter full hedge limit load-shed ready-cache retry spawn-ready std steer sync util".split()
    features += "client-legacy client-proxy http1 http2 server".split()
    return "\n".join([
        "[package]", f'name = "{kind}-of-{name}"', 'version = "0.0.0"', f'edition = "{edition}"', "publish = false", "",
        "[features]", f"default = {json.dumps(features)}", *[f"{feature} = []" for feature in features], "",
        "[dependencies]", *others, "",
    ])


def copy(name, folder, *described):
    """The tests of a crate, as a package of their own."""
    crate, to = CRATES[name], OUT / name
    shutil.copytree(folder / "tests", to / "tests")
    for left in crate["out"]:
        file, _, test = left.partition("::")
        if test:
            path = to / "tests" / file / "main.rs" if (to / "tests" / file).is_dir() else to / "tests" / f"{file}.rs"
            path.write_text(without(path.read_text(), test))
    for path in (to / "tests").rglob("*.rs"):
        path.write_text(ours(path.read_text()))
    for path in list((to / "tests").iterdir()):
        is_helper = path.name in ["common", "support", "support.rs", "test_utils"]
        if path.stem not in crate["files"] and not is_helper:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if (to / "tests" / "support.rs").exists():
        # A module, and no test.
        (to / "tests" / "support").mkdir()
        shutil.move(to / "tests" / "support.rs", to / "tests" / "support" / "mod.rs")
        for path in (to / "tests").rglob("*.rs"):
            path.write_text(path.read_text().replace('"../support.rs"', '"../support/mod.rs"'))
    (to / "src").mkdir()
    (to / "src" / "lib.rs").write_text("")
    (to / "Cargo.toml").write_text(manifest("tests", name, *described))


def copy_examples(name, folder, *described):
    """The examples of a crate, as a package of their own."""
    crate, to = examples.CRATES[name], OUT / f"{name}-examples"
    for below in "examples", "src":
        (to / below).mkdir(parents=True)
    (to / "src" / "lib.rs").write_text("")
    for example in crate["examples"]:
        text = (folder / "examples" / f"{example}.rs").read_text()
        (to / "examples" / f"{example}.rs").write_text(examples.ours(text))
    (to / "Cargo.toml").write_text(manifest("examples", name, *described))


def run_examples(name):
    """How many talks between examples passed and failed; one failed if they were not compiled."""
    folder = BUILT / name
    built = cargo("build", "--quiet", "--examples", "--target-dir", str(folder), "--package", f"examples-of-{name}", cwd=OUT)
    return examples.run(name, folder / "debug" / "examples") if built.returncode == 0 else (0, 1)


def run(name):
    """How many passed and failed; one failed if they were not compiled, or did not end."""
    command = ["test", "--quiet", "--no-fail-fast", "--tests", "--target-dir", str(BUILT), "--package", f"tests-of-{name}"]
    try:
        ran = cargo(*command, cwd=OUT, stderr=subprocess.STDOUT, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired as late:
        print((late.stdout or b"").decode(errors="replace"))
        return 0, 1
    counts = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed", ran.stdout)
    passed, failed = (sum(int(count[n]) for count in counts) for n in range(2))
    if ran.returncode != 0:
        print(ran.stdout)
        failed = max(failed, 1)
    return passed, failed


def left_out(out):
    """What is left out, by reason."""
    reasons = {}
    for what, why in out.items():
        reasons.setdefault(why, []).append(what)
    return "; ".join(f"{', '.join(whats)}: {why}" for why, whats in reasons.items()) or "none"


def write(marks, head, rows):
    """Puts a table between these marks of the page."""
    before, _, rest = PAGE.read_text().partition(marks[0])
    after = rest.partition(marks[1])[2]
    PAGE.write_text(before + marks[0] + "\n\n" + head + "\n".join(rows) + "\n\n" + marks[1] + after)


def main():
    names = [arg for arg in sys.argv[1:] if not arg.startswith("--")] or [*CRATES, *examples.CRATES]
    found = sources()
    shutil.rmtree(OUT, ignore_errors=True)
    for name in CRATES:
        copy(name, *found[name])
    for name in examples.CRATES:
        copy_examples(name, *found[name])
    members = [*CRATES, *[f"{name}-examples" for name in examples.CRATES]]
    (OUT / "Cargo.toml").write_text(
        '[workspace]\nresolver = "3"\nmembers = ' + json.dumps(members) + "\n[profile.dev]\ndebug = false\n"
    )
    shutil.copy(HERE / "Cargo.lock", OUT / "Cargo.lock")
    rows, bad = [], 0
    for kinds, what, play in [(CRATES, "", run), (examples.CRATES, ", examples", run_examples)]:
        for name in [name for name in kinds if name in names]:
            passed, failed = play(name)
            bad += failed
            rows.append(f"| {name}{what} | {found[name][1]} | {passed} | {failed} | {left_out(kinds[name]['out'])} |")
            print(f"{name} {found[name][1]}{what}: {passed} passed, {failed} failed", flush=True)
    if "--write" in sys.argv:
        rows += [f"| {name} | | 0 | 0 | {why} |" for name, why in WITHOUT.items()]
        head = "| crate | version | passed | failed | left out, and why |\n|---|---|---:|---:|---|\n"
        write(MARKS, head, rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
