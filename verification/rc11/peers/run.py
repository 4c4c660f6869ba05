#!/usr/bin/env python3
"""Published crates' own loom tests, on loom and on rc11: the same tests, on the same machine, one after the other.

    python3 verification/rc11/peers/run.py                    all of them, and the table of docs/evidence/rc11-peers.md
    python3 verification/rc11/peers/run.py st3 --seconds 20   one of them, no test longer than that

Each crate is copied out of cargo's cache, at the version below, twice. To the manifest of one copy `[patch.crates-io]` is added, which
puts the shim `verification/rc11/loom` in loom's place, for the crate and for what it depends on; where a loom before 0.7 is asked for, its
entry is changed instead. Nothing else is changed, and nothing of theirs is kept here.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
RC11 = HERE.parent
ROOT = RC11.parent.parent
SCRATCH = ROOT / "target" / "rc11-peers"
TABLE = ROOT / "docs" / "evidence" / "rc11-peers.md"
REPORT = SCRATCH / "report.jsonl"
# A bounded run passes. As loom: nothing wakes or fails spuriously.
ON_RC11 = {
    "RC11_REPORT": str(REPORT), "RC11_BOUNDED_OK": "true", "RC11_DIR": str(SCRATCH / "failures"), "RC11_SPURIOUS": "0"
}

# Name, version, the cfg that its tests want, what cargo is told, and a filter of the tests' names: where tests without a
# model are beside those with one.
PEERS = [
    ("st3", "0.4.1", "st3_loom", ["--test", "integration"], ""),
    ("crossbeam-epoch", "0.9.21", "crossbeam_loom", ["--features", "loom", "--test", "loom"], ""),
    ("parking", "2.2.1", "loom", ["--features", "loom", "--test", "loom"], ""),
    ("event-listener", "5.4.2", "loom", ["--features", "loom", "--test", "loom"], ""),
    ("concurrent-queue", "2.5.0", "loom", ["--features", "loom", "--test", "loom"], ""),
    ("oneshot", "0.2.1", "oneshot_loom", ["--features", "loom,std,async", "--test", "loom", "--test", "sync", "--test", "future"], ""),
    # Without debug assertions its tests do not compile.
    ("thingbuf", "0.1.6", "loom", ["--profile", "loom", "--lib"], ""),
    ("bytes", "1.12.2", "loom", ["--lib"], "fuzz"),
    # The same, of debug assertions.
    ("tokio", "1.54.1", "loom --cfg tokio_unstable", ["--config", "profile.release.debug-assertions=true", "--features", "full,test-util", "--lib"], "loom"),
]

# A crate of more tests than that has one row.
MANY = 60


def cached(name, version):
    """Where cargo keeps the crate's source."""
    scratch = SCRATCH / "fetch"
    (scratch / "src").mkdir(parents=True, exist_ok=True)
    (scratch / "src" / "lib.rs").write_text("")
    (scratch / "Cargo.toml").write_text(
        f'[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n{name} = "={version}"\n'
    )
    (scratch / "Cargo.lock").unlink(missing_ok=True)
    meta = subprocess.run(["cargo", "metadata", "--format-version", "1"], cwd=scratch, check=True, stdout=subprocess.PIPE)
    packages = json.loads(meta.stdout)["packages"]
    [manifest] = [p["manifest_path"] for p in packages if (p["name"], p["version"]) == (name, version)]
    return pathlib.Path(manifest).parent


def copy(source, kind):
    """A copy of the crate; on rc11, with the shim in loom's place."""
    target = SCRATCH / kind / source.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    # A library's lock file may be older than what the shim needs.
    (target / "Cargo.lock").unlink(missing_ok=True)
    manifest = target / "Cargo.toml"
    text, patch = manifest.read_text(), ""
    if kind == "rc11":
        patch = f'[patch.crates-io]\nloom = {{ path = "{RC11}/loom" }}\n'
        # A patch is of the version that is asked for: who asks for a loom before 0.7 gets the shim by its own entry.
        text = re.sub(r'(dependencies\.loom\]\n)version = "=?0\.[0-6][^"]*"', rf'\1path = "{RC11}/loom"', text)
    manifest.write_text(f"{text}\n[workspace]\n{patch}")
    return target


def ended(command, directory, environment, seconds=None):
    """What the command prints, how it ended (None: stopped), and how long it took."""
    begun = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=directory,
        env={**os.environ, "RUST_BACKTRACE": "0", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, code = process.communicate()[0], None
    return text, code, time.monotonic() - begun


def cargo(directory, cfg, arguments, environment=None, seconds=None):
    """Runs cargo: what `ended` says of it."""
    told = {"RUSTFLAGS": f"--cfg {cfg}", "CARGO_TARGET_DIR": str(SCRATCH / "target"), **(environment or {})}
    profile = [] if "--profile" in arguments else ["--release"]
    return ended(["cargo", "test", *profile, "--quiet", *arguments], directory, told, seconds)


def reported(runs):
    """What `runs` returns, and what rc11 has reported meanwhile."""
    REPORT.unlink(missing_ok=True)
    result = runs()
    return result, [json.loads(line) for line in REPORT.read_text().splitlines()] if REPORT.exists() else []


def tests_of(directory, peer):
    _, _, cfg, arguments, only = peer
    text, code, _ = cargo(directory, cfg, [*arguments, "--", "--list"])
    if code != 0:
        return None, text
    names = re.findall(r"^(.*): test$", text, re.MULTILINE)
    return sorted({name for name in names if only in name}), text


def on_loom(directory, peer, test, seconds):
    text, code, spent = cargo(
        directory, peer[2], [*peer[3], "--", "--exact", test, "--nocapture", "--test-threads=1"], {"LOOM_LOG": "info"}, seconds
    )
    iterations = sum(int(n) for n in re.findall(r"(?:Completed in |\()(\d+) iterations", text))
    if code is None:
        return {"verdict": "no end", "executions": None, "seconds": spent}
    return {"verdict": "passed" if code == 0 else "failed", "executions": iterations, "seconds": spent, "text": text[-4000:]}


def on_rc11(directory, peer, test, seconds):
    environment = {**ON_RC11, "LOOM_MAX_DURATION": str(seconds)}
    arguments = [*peer[3], "--", "--exact", test, "--nocapture", "--test-threads=1"]
    (text, code, spent), lines = reported(lambda: cargo(directory, peer[2], arguments, environment, 2 * seconds + 30))
    result = {"executions": sum(line["executions"] for line in lines), "seconds": spent, "text": text[-6000:]}
    words = {line["verdict"] for line in lines}
    result["verdict"] = (
        "no end" if code is None
        else "failed" if code != 0
        else "bounded" if "bounded" in words
        else "proved" if words
        else "no model"
    )
    result["why"] = "; ".join(line["why"] for line in lines if line["verdict"] != "proved")
    return result


def examine(peer, seconds):
    name, version, *_ = peer
    source = cached(name, version)
    theirs, ours = copy(source, "loom"), copy(source, "rc11")
    # Built first, so that seconds are those of the tests.
    on_theirs, text = tests_of(theirs, peer)
    tests, text_of_ours = tests_of(ours, peer)
    if tests is None or on_theirs is None:
        print(f"{name} does not compile:\n{(text if on_theirs is None else text_of_ours)[-6000:]}")
        return {"name": name, "version": version, "tests": {}}
    results = {}
    for test in tests:
        # The copy that was built last has its files in the same place: it is built by name, so that both stay.
        loom = on_loom(theirs, peer, test, seconds)
        rc11 = on_rc11(ours, peer, test, seconds)
        results[test] = {"loom": loom, "rc11": rc11}
        print(
            f"{name} {test}: loom {loom['verdict']} {loom['executions']} {loom['seconds']:.2f} s; "
            f"rc11 {rc11['verdict']} {rc11['executions']} {rc11['seconds']:.2f} s {rc11['why']}",
            flush=True,
        )
    return {"name": name, "version": version, "tests": results}


def table(results):
    """A row for each test that one of the two has ended, after more than one execution; of the others, how many there are. Of a crate
    of very many, one row."""
    rows, single, neither = [], {}, {}
    for peer in results:
        if len(peer["tests"]) > MANY:
            rows.append(all_in_one(peer))
            continue
        for test, both in peer["tests"].items():
            loom, rc11 = both["loom"], both["rc11"]
            if not rc11["executions"] and not loom["executions"]:
                continue
            if (rc11["verdict"], rc11["executions"], loom["verdict"], loom["executions"]) == ("proved", 1, "passed", 1):
                single[peer["name"]] = single.get(peer["name"], 0) + 1
                continue
            if (rc11["verdict"], loom["verdict"]) == ("bounded", "no end"):
                neither[peer["name"]] = neither.get(peer["name"], 0) + 1
                continue
            executions = "" if loom["executions"] is None else f"{loom['executions']:,}"
            rows.append(
                f"| {peer['name']} {peer['version']} | `{test}` | {rc11['verdict']} | {rc11['executions']:,} | "
                f"{rc11['seconds']:.2f} | {loom['verdict']} | {executions} | {loom['seconds']:.2f} |"
            )
    said = lambda counts: ", ".join(f"{count} of {name}" for name, count in counts.items())
    head = "| crate | test | rc11 | executions | s | loom | executions | s |\n|--|--|--|--:|--:|--|--:|--:|\n"
    return head + "\n".join(rows) + (
        f"\n\n*Proved* and passed with one execution: {said(single)}.\n"
        f"*Bounded*, and no end on loom: {said(neither)}.\n"
    )


def all_in_one(peer):
    """One row of all its tests: how each checker ended, and how long those took."""
    def ends(checker):
        ended = [both[checker] for both in peer["tests"].values()]
        counts = {verdict: sum(one["verdict"] == verdict for one in ended) for verdict in sorted({one["verdict"] for one in ended})}
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        done = [one for one in ended if one["verdict"] in ("proved", "passed")]
        return said, f"{sum(one['executions'] or 0 for one in done):,}", f"{sum(one['seconds'] for one in ended):.0f}"

    rc11, loom = ends("rc11"), ends("loom")
    return f"| {peer['name']} {peer['version']} | all {len(peer['tests'])} | {' | '.join(rc11)} | {' | '.join(loom)} |"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help="only these")
    options.add_argument("--seconds", type=int, default=60, help="the most that a test may take")
    options.add_argument("--write", action="store_true", help="write the table")
    chosen = options.parse_args()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    peers = [peer for peer in PEERS if not chosen.names or peer[0] in chosen.names]
    results = [examine(peer, chosen.seconds) for peer in peers]
    (SCRATCH / "results.json").write_text(json.dumps(results, indent=1))
    text = table(results)
    print(text)
    if chosen.write:
        before, _, rest = TABLE.read_text().partition("<!-- table -->\n")
        stood, _, after = rest.partition("<!-- /table -->")
        TABLE.write_text(f"{before}<!-- table -->\n{merged(stood, text, {peer[0] for peer in peers})}<!-- /table -->{after}")


def merged(stood, new, named):
    """The table as it stood, with what is new of the crates that are named."""
    counts = {}
    for text, others in [(stood, True), (new, False)]:
        for what, said in re.findall(r"^(\*[PB].*): (.*)\.$", text, re.MULTILINE):
            parts = [part for part in said.split(", ") if part and (part.split(" of ")[1] in named) != others]
            counts.setdefault(what, []).extend(parts)
    rows = [line for line in stood.splitlines() if line.startswith("| ") and line.split()[1] not in {*named, "crate"}]
    rows += [line for line in new.splitlines() if line.startswith("| ") and line.split()[1] != "crate"]
    head = "\n".join(line for line in new.splitlines()[:2])
    return head + "\n" + "\n".join(rows) + "\n\n" + "".join(f"{what}: {', '.join(parts)}.\n" for what, parts in counts.items())


if __name__ == "__main__":
    sys.exit(main())
