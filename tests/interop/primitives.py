#!/usr/bin/env python3
"""Runs tokio's published tests on spinpark's own primitives, which have tokio's names.

As run.py, which it takes the sources from; but `tokio` is shims/spinpark-as-tokio here: the same paths, our types. Where ours differ by
decision in what they return, a test's source is changed as REWRITTEN says, and not otherwise. Prints a table, one row a file; `--write`
puts it into docs/evidence/interop.md. Exit status: 1 if a test failed, hung, or was not compiled.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import run as interop

OUT = interop.ROOT / "target" / "interop-primitives"
MARKS = ("<!-- primitives -->", "<!-- /primitives -->")
SECONDS = 120
# Of which crates the tests are, and what these need.
FROM = ["tokio", "tokio-util"]
NEEDED = ["futures", "futures-test", "libc", "nix", "rand", "socket2", "tempfile", "tokio-stream", "tokio-test"]

# What has another name or type here by decision.
REWRITTEN = [
    (r"\b((?:tokio::|maybe_tokio_)?test)\((?:flavor|start_paused|worker_threads)[^()]*\)", r"\1"),
    (r"\btokio_util::(sync|task)\b", r"tokio::\1"),
    (r"::const_new\(", "::new("),
    (r"unsafe \{ AsyncFd::register\((\w+(?:\([^)]*\))?)\) \}", r"AsyncFd::new(\1)"),
]

# The same, in one file only.
REWRITTEN_IN = {
    # There is no set of the thread that one is in.
    "abort_on_drop": [(r"\{AbortOnDrop, AbortOnDropHandle\}", "AbortOnDropHandle")],
    "task_join_map": [(r"None => map\.spawn_local\((.*)\),", r"None => { drop((\1)); unreachable!() }")],
    "task_join_set": [(r"None => set\.spawn_local\((.*)\),", r"None => { drop(\1); unreachable!() }")],
    # A socket of ours is made in a task.
    "tcp_socket": [(r"#\[test\](\s*(?:\$\( #\[\$attr\] \)\*\s*)?)fn", r"#[tokio::test]\1async fn")],
    # Ours takes what lends its descriptor, not what has a number.
    "io_async_fd": [
        (r"impl AsRawFd for FileDescriptor \{", r"""impl std::os::fd::AsFd for FileDescriptor {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for FileDescriptor {"""),
        (r"impl<T: AsRawFd> AsRawFd for ArcFd<T> \{", r"""impl<T: std::os::fd::AsFd> std::os::fd::AsFd for ArcFd<T> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<T: AsRawFd> AsRawFd for ArcFd<T> {"""),
    ],
}

NO_BIASED = "`join!`: no `biased`, no empty list, and what it gives for one is a tuple"
SIZE = "is about how many bytes tokio's future has"
READINESS = "expects readiness to be remembered until a try fails; ours is asked of the system"
PANICS = "expects a panic where ours returns an error, or panics when it is polled"
BLOCKING = "a `blocking_` method: ours is `.wait()`, or a `Result` of `try_`"
PARTS = "our lock has no number of readers, nor guards of a part"
NOTIFY = "our `Notify` has no owned future, and no last"
PAUSED = "stops or turns tokio's clock, which ours is not"
LOCAL = "there is no set or runtime of the thread that one is in: a `LocalSet` has a name"
CURRENT_ID = "a task of ours knows no number of its own: its handle does"
BUFFERS = "fills buffers of the crate bytes or of tokio's `ReadBuf`, or looks without taking"
PULLS_A_BUFFER = "our files have no buffer, and become std's at once"
FROM_NUMBER = "ours takes what owns a descriptor, not its number; no urgent data, no errors to wait for"
BUDGET = "spends a budget that only tasks on tokio's workers have"
BLOCKS = "expects `block_on` to ask for a yield: ours asks tasks"
TEXT = "compares a text that is ours"
UNEQUAL = "our tokens cannot be compared"
ONE_THREAD = "expects what it spawns to run only while it waits, as in a `current_thread` runtime"
CLONES = "the last receiver gets the value itself, not a clone"
ROOMS = "expects room for the next power of two, and not for more than that"
MOMENT = "our `closed` is over when there is no receiver, if only for a moment"
CONNECTS = "expects to wait where our call is ready at once"
ROOT = "fails for the root user, with tokio too"
NAMES = "a name in the abstract space is made by std's `from_abstract_name`"
NOT_HERE = "a method or function that is not here"
OTHERS = "is about mpsc, which is theirs"

# tokio's files, and what is left out of each, by reason. A file has no test left here if it has none on Linux.
FILES = {
    "sync_oneshot": {PANICS: "close_try_recv_poll"},
    "sync_watch": {},
    "sync_broadcast": {
        ROOMS: "capacity_too_big lag_uses_power_of_two_buffer_length receiver_len_with_lagged",
        MOMENT: "broadcast_sender_closed_with_extra_subscribe",
        CLONES: "panic_in_clone",
    },
    "sync_broadcast_weak": {},
    "sync_notify": {NOTIFY: "notify_multi_notified_last notified_multi_notify_last_drop"},
    "sync_barrier": {},
    "sync_semaphore": {
        BLOCKING: "blocking_acquire_in_async_context blocking_acquire blocking_acquire_waits_for_permit "
        "blocking_acquire_many_in_async_context blocking_acquire_many blocking_acquire_owned_in_async_context "
        "blocking_acquire_owned blocking_acquire_many_owned_in_async_context blocking_acquire_many_owned "
        "blocking_acquire_closed",
    },
    "sync_semaphore_owned": {},
    "sync_mutex": {BUDGET: "mutex_fifo_with_coop_budget mutex_coop_drop_after_take_permit"},
    "sync_mutex_owned": {},
    "sync_rwlock": {PARTS: "downgrade_map try_downgrade_map exhaust_reading zero_max_readers zero_max_readers_const"},
    "sync_errors": {},
    "sync_panic": {
        BLOCKING: "mutex_blocking_lock_panic_caller oneshot_blocking_recv_panic_caller "
        "rwlock_blocking_read_panic_caller rwlock_blocking_write_panic_caller",
        PARTS: "rwlock_with_max_readers_panic_caller",
        OTHERS: "mpsc_bounded_channel_panic_caller mpsc_bounded_receiver_blocking_recv_panic_caller "
        "mpsc_bounded_receiver_blocking_recv_many_panic_caller mpsc_bounded_sender_blocking_send_panic_caller "
        "mpsc_unbounded_receiver_blocking_recv_panic_caller mpsc_unbounded_receiver_blocking_recv_many_panic_caller",
    },
    "sync_cancellation_token": {
        UNEQUAL: "cloned_cancellation_tokens_are_considered_equal child_cancellation_tokens_are_not_considered_equal "
        "independent_cancellation_tokens_are_not_considered_equal cloned_cancellation_tokens_have_same_hash "
        "different_cancellation_tokens_have_different_hash",
    },
    "task_join_set": {
        BLOCKS: "join_set_coop",
        LOCAL: "panic_in_multi_thread_runtime panic_outside_any_runtime spawn_then_drop spawn_then_join_next "
        "spawn_then_shutdown",
        ONE_THREAD: "replace_parent_waker_drops_outside_lock try_join_next try_join_next_with_id runtime_gone",
    },
    "task_join_map": {
        BLOCKS: "join_map_coop",
        LOCAL: "spawn_local spawn_local_on",
        ONE_THREAD: "runtime_gone try_join_next_skips_replaced_task",
        "ours wants a `Clone` of a key": "duplicate_keys_drop",
    },
    "task_tracker": {LOCAL: "spawn_local spawn_local_on"},
    "abort_on_drop": {
        "ours aborts with the task's own handle, not with an `AbortHandle`": "handle_aborts_task_on_drop handle_aborts_task_directly "
        "handle_does_not_abort_after_detach",
    },
    "task_local": {},
    "task_abort": {
        LOCAL: "remote_abort_local_set_3929",
        TEXT: "test_join_error_debug test_join_error_display",
        PANICS: "test_abort_task_that_panics_on_drop_returned",
    },
    "join_handle_panic": {},
    "unwindsafe": {},
    "async_send_sync": {},
    "macros_join": {
        NO_BIASED: "sync_one_lit_expr_comma sync_one_lit_expr_no_comma sync_two_lit_expr_comma sync_two_lit_expr_no_comma "
        "futures_are_polled_in_order_in_biased_mode join_size_biased empty_join uninhabited_output_type",
        SIZE: "join_size",
    },
    "macros_try_join": {
        NO_BIASED: "sync_one_lit_expr_comma sync_one_lit_expr_no_comma sync_two_lit_expr_comma sync_two_lit_expr_no_comma "
        "futures_are_polled_in_order_in_biased_mode try_join_size_biased empty_try_join uninhabited_ok_type "
        "uninhabited_err_type",
        SIZE: "try_join_size",
    },
    "macros_select": {
        BUDGET: "select_is_budget_aware",
        SIZE: "struct_size_1 struct_size_2 struct_size_3",
        "a future whose type nothing says": "disable_with_if",
    },
    "time_timeout": {
        PAUSED: "future_and_deadline_in_future future_and_timeout_in_future very_large_timeout deadline_now_elapses "
        "deadline_future_elapses",
        NOT_HERE: "timeout_is_not_exhausted_by_future",
    },
    "time_sleep": {
        PAUSED: "immediate_sleep is_elapsed delayed_sleep_level_0 sub_ms_delayed_sleep delayed_sleep_wrapping_level_0 "
        "reset_future_sleep_before_fire reset_past_sleep_before_turn reset_past_sleep_before_fire "
        "reset_future_sleep_after_fire reset_sleep_to_past greater_than_max multi_long_sleeps long_sleeps exactly_max "
        "no_out_of_bounds_close_to_max drop_after_reschedule_at_new_scheduled_time drop_from_wake "
        "long_wait_sleep_does_not_break_other_timers long_wait_sleep_does_not_corrupt_wheel issue_5183",
        PANICS: "creating_sleep_outside_of_context",
    },
    "time_interval": {
        PAUSED: "burst delay skip reset reset_immediately reset_after reset_at reset_at_bigger_than_interval",
    },
    "time_panic": {
        PAUSED: "pause_panic_caller resume_panic_caller",
        PANICS: "timeout_panic_caller timeout_at_panic_caller",
    },
    "io_async_fd": {
        READINESS: "reset_readable guard_try_io try_io_readable try_io_writable clear_ready_matching_clears_ready "
        "clear_ready_matching_clears_ready_mut driver_shutdown_wakes_poll",
        FROM_NUMBER: "drop_closes register_error register_with_interest_error try_new try_with_interest "
        "drop_after_closing_raw_fd_with_live_duplicate priority_event_on_oob_data await_error_readiness_timestamping "
        "await_error_readiness_invalid_address",
        "of several that poll by hand, tokio wakes the last; ours all": "poll_fns",
    },
    "net_lookup_host": {},
    "tcp_accept": {ONE_THREAD: "no_extra_poll"},
    "tcp_accept_ready": {
        READINESS: "accepted_stream_with_no_data_still_waits",
        NOT_HERE: "later_reads_after_runtime_drop_report_shutdown",
    },
    "tcp_connect": {},
    "tcp_echo": {},
    "tcp_into_split": {NOT_HERE: "split"},
    "tcp_into_std": {},
    "tcp_peek": {},
    "tcp_shutdown": {NOT_HERE: "shutdown"},
    "tcp_socket": {},
    "tcp_stream": {
        READINESS: "try_read_write poll_read_ready",
        NOT_HERE: "set_linger",
        BUFFERS: "try_read_buf",
    },
    "udp": {
        BUFFERS: "send_recv_poll send_to_recv_from_poll send_to_peek_from send_to_try_peek_from send_to_peek_from_poll "
        "poll_peek_sender split_chan_poll peek_sender try_peek_sender try_recv_buf recv_buf try_recv_buf_from poll_ready "
        "recv_buf_from",
    },
    "uds_cred": {},
    "uds_datagram": {
        BUFFERS: "send_to_recv_from_poll send_recv_poll try_recv_buf_from poll_ready recv_buf_from try_recv_buf_never_block "
        "recv_buf",
        READINESS: "try_send_recv_never_block",
    },
    "uds_split": {},
    "uds_stream": {
        BUFFERS: "try_read_buf",
        READINESS: "try_read_write poll_read_ready",
        NAMES: "abstract_socket_name",
        CONNECTS: "epollhup",
    },
    "unix_shutdown": {},
    "fs": {PULLS_A_BUFFER: "try_clone_should_preserve_max_buf_size"},
    "fs_canonicalize_dir": {},
    "fs_copy": {},
    "fs_dir": {NOT_HERE: "build_dir build_dir_mode_read_only read_inherent read_dir_entry_info"},
    "fs_file": {
        NOT_HERE: "set_times rewind_seek_position",
        PULLS_A_BUFFER: "write_into_std read_file_from_unix_fd write_into_std_immediate set_max_buf_size_read "
        "set_max_buf_size_write set_max_buf_size_panics_on_zero",
        TEXT: "file_debug_fmt",
        "polls a file by hand, outside of a task, until it yields: only a task is asked to": "coop",
    },
    "fs_link": {},
    "fs_open_options": {},
    "fs_remove_dir_all": {},
    "fs_remove_file": {},
    "fs_rename": {},
    "fs_try_exists": {ROOT: "try_exists"},
    "fs_write": {},
    "process_arg0": {},
    "process_issue_2174": {},
    "process_issue_42": {},
    "process_issue_7144": {},
    "process_kill_after_wait": {},
    "process_kill_on_drop": {},
    "process_smoke": {},
    "signal_ctrl_c": {ONE_THREAD: "ctrl_c"},
    "signal_drop_recv": {"expects to hear of a signal that came before it listened": "drop_then_get_a_signal"},
    "signal_drop_rt": {},
    "signal_drop_signal": {},
    "signal_multi_rt": {},
    "signal_notify_both": {},
    "signal_realtime": {},
    "signal_twice": {},
    "signal_usr1": {},
}
# Files of which nothing is left, or that are of what is not ours. Files about tokio's runtime, its traits for streams and `mpsc` are not named.
WITHOUT = {
    "sync_notify_owned": NOTIFY,
    "sync_once_cell": PAUSED,
    "task_id": CURRENT_ID,
    "task_local_set, task_panic": LOCAL,
    "task_yield_now": "looks at tokio's own queue of those that yield",
    "net_panic, signal_no_rt, signal_panic": PANICS,
    "process_change_of_runtime": "what is waited for belongs to a runtime, and ends with it",
    "net_quickack": "`shutdown` says which direction, and waits for nothing",
    "net_unix_pipe": "pipes with a name are not here",
    "tcp_split": "looks without taking, at a borrowed half",
    "uds_socket": "there is no socket before it is a stream, a listener or one for datagrams",
    "fs_file_join_error, process_issue_8042, time_rt": "is about tokio's own runtime",
    "task_join_queue of tokio-util": "ours has no such type",
}
# Files of tokio-util.
OF_UTIL = ["sync_cancellation_token", "task_join_map", "task_tracker", "abort_on_drop"]
# In this one a test is a statement that is compiled: which of tokio's types may be sent, shared and moved.
STATEMENTS = "async_send_sync"
UNSTATED = [
    r"tokio::io::(?!unix)", r"\bpipe::", r"unconstrained|LocalRuntime|LocalOptions|Mapped|SetOnce|coop::|OwnedNotified",
    r"AsyncFdRegisterError|MutGuard<'_, Impls|able_mut\(|EnterGuard|FileTimes|DirBuilder|ReadDir|set_modified|into_std",
    r"DirEntry::(file_type|metadata)|JoinError|time::advance",
    r"time::error::Error|(tcp|unix)::(Read|Write)Half",
    # Ours may be moved, or sent, where theirs may not.
    r"time::(timeout|timeout_at|sleep|sleep_until)\(|time::(Timeout|Sleep)\b|(watch|oneshot)::Sender<..>::closed",
    r"watch::Receiver<..>::changed|broadcast::Receiver<..>::recv|Notify::notified|Notified<|Barrier::wait|LocalKey<",
    r"RwLockWriteGuard<'_, YN>|RwLock<..>::(read|write)\(|Semaphore::acquire(_many)?\(",
    # Values that are received at once by several must be such that may be shared; so must what a future of a lock refers to.
    r"broadcast::(Sender|Receiver|WeakSender)<YN>", r"Mutex<YN>::lock",
]


def folder(file, found):
    """Where a file of tests is, and what it is called there."""
    name = "tokio-util" if file in OF_UTIL else "tokio"
    return found[name][0] / "tests" / f"{file}.rs"


COOPERATIVE = re.compile(r"^async fn (\w+_is_cooperative\w*)\(\) \{\n(.*?)^\}\n", re.M | re.S)


def in_a_task(test):
    """Who is asked to yield is a task of ours, and not what a thread plays in `block_on`; and there is no `biased` here."""
    name, body = test.groups()
    body = body.replace("biased;", "")
    return f"async fn {name}() {{\n    tokio::spawn({name}_inside()).await.unwrap();\n}}\n\nasync fn {name}_inside() {{\n{body}}}\n"


def rewritten(text, file):
    for pattern, ours in REWRITTEN + REWRITTEN_IN.get(file, []):
        text = re.sub(pattern, ours, text)
    return COOPERATIVE.sub(in_a_task, text)


def cut(text, name):
    """The first function or module of that name is gone, with its attributes. `None`: there is none."""
    found = re.search(rf"^[ ]*(?:pub )?(?:async )?(?:unsafe )?(?:fn|mod) {name}\b[^\n]*", text, re.M)
    if not found:
        return None
    start = found.start()
    while start > 0:
        before = text.rfind("\n", 0, start - 1) + 1
        line = text[before:start].strip()
        if not line or line[-1] in "};{":
            break
        start = before
    depth = 0
    for one in re.finditer(r'"(?:\\.|[^"\\])*"|[{}]', text[found.start():]):
        depth += {"{": 1, "}": -1}.get(one.group(), 0)
        if one.group() == "}" and depth == 0:
            return text[:start] + text[found.start() + one.end():]
    raise AssertionError(f"{name} has no end")


def without(text, name):
    """All functions of that name are gone: they may want what is not there."""
    left = cut(text, name)
    assert left is not None, f"there is no {name}"
    while left is not None:
        text, left = left, cut(left, name)
    return text


def statements(text):
    """The statements that can be compiled; and how many there are."""
    text = re.sub(r"^mod unix_pipe \{.*?^\}\n", "", text, flags=re.M | re.S)
    every = re.compile(r"^ *(?:async_assert_fn|assert_value)!\((?:[^;]|\n)*?\);\n", re.M)
    unstated = re.compile("|".join(UNSTATED))
    text = every.sub(lambda one: "" if unstated.search(re.sub(r"\s+", " ", one.group())) else one.group(), text)
    return text, len(every.findall(text))


def copy(found):
    """All files, as one package; how many statements there are."""
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "src").mkdir(parents=True)
    (OUT / "src" / "lib.rs").write_text("")
    shutil.copytree(found["tokio"][0] / "tests" / "support", OUT / "tests" / "support")
    count = 0
    for file, out in FILES.items():
        text = folder(file, found).read_text()
        for name in " ".join(out.values()).split():
            text = without(text, name)
        if file == STATEMENTS:
            text, count = statements(text)
        (OUT / "tests" / f"{file}.rs").write_text(rewritten(text, file))
    (OUT / "Cargo.toml").write_text(manifest())
    shutil.copy(interop.HERE / "Cargo.lock", OUT / "Cargo.lock")
    return count


def manifest():
    """The package: what the tests need, and `tokio`, which is ours."""
    below = (interop.HERE / "Cargo.toml").read_text().split(".dev-dependencies]")[1]
    lines = [line for line in below.splitlines() if line.split(" ")[0] in NEEDED]
    assert len(lines) == len(NEEDED), f"{interop.HERE}/Cargo.toml states other crates than these: {NEEDED}"
    features = "fs full io-std join-map io-util macros net process rt rt-multi-thread signal sync time".split()
    return "\n".join([
        "[workspace]", 'resolver = "3"', "",
        "[package]", 'name = "tests-of-primitives"', 'version = "0.0.0"', 'edition = "2021"', "publish = false", "",
        "[features]", f"default = {json.dumps(features)}", *[f"{feature} = []" for feature in features], "",
        "[profile.dev]", "debug = false", "",
        "[dependencies]", *lines,
        f'tokio = {{ package = "interop-spinpark-as-tokio", path = "{interop.HERE}/shims/spinpark-as-tokio" }}',
        f'spinpark = {{ path = "{interop.ROOT}", features = ["macros"] }}', "",
    ])


def build():
    """The programs, by the names of their files. Those that are not compiled are missing."""
    command = ["build", "--tests", "--keep-going", "--message-format", "json-render-diagnostics"]
    built = interop.cargo(*command, "--target-dir", str(interop.BUILT), cwd=OUT)
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    return {
        message["target"]["name"]: message["executable"]
        for message in messages
        if message["reason"] == "compiler-artifact" and message["executable"] and "test" in message["target"]["kind"]
    }


def run(file, program):
    """How many passed and failed; one failed if it was not compiled, hung, or was ended by a signal."""
    if program is None:
        return 0, 1
    try:
        ran = subprocess.run([program], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, cwd=OUT)
    except subprocess.TimeoutExpired as late:
        print((late.stdout or b"").decode(errors="replace"))
        return 0, 1
    passed, failed = (int(n) for n in (re.findall(r"(\d+) passed; (\d+) failed", ran.stdout) or [(0, 1)])[0])
    if ran.returncode != 0:
        print(f"{file}: {ran.returncode}\n{ran.stdout}")
    return passed, max(failed, int(ran.returncode != 0))


def left_out(out):
    """What is left out, by reason: by name, or how many there are."""
    def which(names):
        names = names.split()
        return ", ".join(names) if len(names) <= 3 else f"{len(names)} tests"

    return "; ".join(f"{which(names)}: {why}" for why, names in out.items()) or "none"


def main():
    found = interop.sources(FROM)
    stated = copy(found)
    programs = build()
    rows, bad, all_passed = [], 0, 0
    for file, out in FILES.items():
        passed, failed = run(file, programs.get(file))
        if file == STATEMENTS and not failed:
            passed = stated
        bad, all_passed = bad + failed, all_passed + passed
        rows.append(f"| {file} | {passed} | {failed} | {left_out(out)} |")
        print(f"{file}: {passed} passed, {failed} failed", flush=True)
    rows += [f"| {file} | 0 | 0 | {why} |" for file, why in WITHOUT.items()]
    rows.append(f"| all | {all_passed} | {bad} | |")
    print(f"all: {all_passed} passed, {bad} failed")
    if "--write" in sys.argv:
        versions = ", ".join(f"{name} {found[name][1]}" for name in FROM)
        head = f"| file of {versions} | passed | failed | left out, and why |\n|---|---:|---:|---|\n"
        interop.write(MARKS, head, rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
