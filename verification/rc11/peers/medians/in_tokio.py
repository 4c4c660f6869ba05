#!/usr/bin/env python3
"""Until a wrong line of tokio is found by tokio's own loom tests, on rc11 and on loom: prints a table of docs/evidence/rc11-peers.md.

    python3 verification/rc11/peers/medians/in_tokio.py                  all of them
    python3 verification/rc11/peers/medians/in_tokio.py slot --seeds 3   one of them, with fewer seeds

The tests are those that `run.py` finds *bounded* on rc11. Each wrong line is chosen at run time, so each checker builds tokio once.
"""

import argparse
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import run

SCHEDULER = "src/runtime/scheduler/multi_thread"
POOL = "runtime::tests::loom_multi_thread"
# A short name, what is wrong, where, the right line, the wrong one, and the test that finds it.
WRONG = [
    (
        "notify", "a load in place of `fetch_add(0)`: tokio #1768, #8201", f"{SCHEDULER}/idle.rs",
        "State(self.state.fetch_add(0, SeqCst))",
        "if WRONG { State::load(&self.state, SeqCst) } else { State(self.state.fetch_add(0, SeqCst)) }",
        "runtime::tests::loom_join_set::test_join_set",
    ),
    (
        "last", "the last that searches does not look again: tokio #1788", f"{SCHEDULER}/worker.rs",
        "if is_last_searcher {", "if is_last_searcher && !WRONG {",
        f"{POOL}::group_a::only_blocking_with_pending",
    ),
    (
        "slot", "a message is published relaxed", "src/sync/mpsc/block.rs",
        "self.header.ready_slots.fetch_or(mask, Release);",
        "self.header.ready_slots.fetch_or(mask, if WRONG { Ordering::Relaxed } else { Release });",
        "sync::tests::loom_mpsc::try_recv",
    ),
    (
        "both", "both ends of the race, an abort and a completion, are seen", "src/runtime/tests/loom_join_set.rs",
        "assert!(matches!(set.join_next().await, None));",
        "assert!(matches!(set.join_next().await, None)); assert!(!WRONG || !complete_happened.load(SeqCst) || !cancel_happened.load(SeqCst));",
        "runtime::tests::loom_join_set::abort_all_during_completion",
    ),
]
PEER = next(peer for peer in run.PEERS if peer[0] == "tokio")


def built(kind):
    """Tokio's tests with all wrong lines in them, and where they are run."""
    copy = run.copy(run.cached(*PEER[:2]), kind)
    for name, _, file, right, wrong, _ in WRONG:
        path = copy / file
        text = path.read_text()
        assert text.count(right) >= 1, f"{name}: {file} has no {right}"
        path.write_text(text.replace(right, wrong.replace("WRONG", f'crate::is_wrong("{name}")')))
    library = copy / "src" / "lib.rs"
    chosen = 'pub(crate) fn is_wrong(name: &str) -> bool { std::env::var("WRONG").is_ok_and(|wrong| wrong == name) }'
    library.write_text(f"{library.read_text()}\n{chosen}\n")
    text, code, _ = run.cargo(copy, PEER[2], [*PEER[3], "--no-run", "--message-format=json"])
    paths = [json.loads(line).get("executable") for line in text.splitlines() if line.startswith("{")]
    paths = [path for path in paths if path]
    assert code == 0 and paths, text[-4000:]
    return paths[-1], copy


def until(program, wrong, test, environment, seconds):
    """Seconds until the test fails, and executions if those are told. `None`: it did not."""
    executable, copy = program
    command = [executable, "--exact", test, "--nocapture", "--test-threads=1"]
    told = {**run.ON_RC11, "WRONG": wrong, **environment}
    (_, code, spent), lines = run.reported(lambda: run.ended(command, copy, told, seconds + 2))
    return None if code in (0, None) else (spent, sum(line["executions"] for line in lines))


def said(found, of=1):
    """The median; how many found it, if not all did."""
    there = [one for one in found if one]
    if len(there) * 2 <= of:
        return "–" if not there else f"– ({len(there)} of {of})"
    rest = "" if len(there) == of else f" ({len(there)} of {of})"
    executions = statistics.median(one[1] for one in there)
    seconds = statistics.median(one[0] for one in there)
    return (f"{executions:,.0f} in {seconds:.1f} s" if executions else f"{seconds:.1f} s") + rest


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help="only these")
    options.add_argument("--seeds", type=int, default=7)
    options.add_argument("--seconds", type=int, default=20, help="the most that one run may take")
    options.add_argument("--only", choices=["rc11", "loom"], help="on one of the two")
    asked = options.parse_args()
    run.SCRATCH.mkdir(parents=True, exist_ok=True)
    kinds = [asked.only] if asked.only else ["rc11", "loom"]
    programs = {kind: built(kind) for kind in kinds}
    bounded = {"LOOM_MAX_DURATION": str(asked.seconds)}
    print("| wrong line | test | rc11, random | rc11, depth first | loom | loom, 2 preemptions |\n|--|--|--:|--:|--:|--:|")
    for name, what, _, _, _, test in WRONG:
        if asked.names and name not in asked.names:
            continue
        row = []
        ways = [("rc11", [bounded | {"RC11_SEED": str(seed)} for seed in range(1, asked.seeds + 1)]), ("rc11", [{}])]
        ways += [("loom", [{}]), ("loom", [{"LOOM_MAX_PREEMPTIONS": "2"}])]
        for kind, environments in ways:
            if kind in programs:
                found = [until(programs[kind], name, test, environment, asked.seconds) for environment in environments]
                row.append(said(found, len(environments)))
        print(f"| {what} | `{test.rsplit('::', 1)[1]}` | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
