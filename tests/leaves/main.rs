//! Every leaf future: what can be polled, and is not made of what else can.
//!
//! Each lets others run though it is always ready, and leaves nothing behind when it is given up. `sources` finds all of them, so that no
//! list here forgets one.

#[cfg(target_os = "linux")]
mod given_up;
#[cfg(target_os = "linux")]
mod ready;
#[cfg(target_os = "linux")]
mod sources;

/// One test at a time: the bytes that are in use are counted for the whole process.
#[cfg(target_os = "linux")]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What polls a future of the caller's, or one that stands in a list under its own name.
#[cfg(target_os = "linux")]
const COMPOSED: &[&str] = &[
    "compat/hyper AsyncRead for Io",
    "compat/hyper AsyncWrite for Io",
    "compat/hyper rt::Read for Io",
    "compat/hyper rt::Write for Io",
    "compat/tokio AsyncBufRead for Io",
    "compat/tokio AsyncRead for Io",
    "compat/tokio AsyncWrite for Io",
    "compat/tokio theirs::AsyncBufRead for Io",
    "compat/tokio theirs::AsyncRead for Io",
    "compat/tokio theirs::AsyncSeek for Io",
    "compat/tokio theirs::AsyncWrite for Io",
    "compat/tokio/context Future for Compat",
    "exec/goroutine Future for Goroutine",
    "exec/life Future for Life",
    "exec/local_set Future for RunUntil",
    "exec/local_set run_until",
    "exec/on_thread Future for OnThread",
    "exec/yielding Future for YieldNow",
    "io/copy copy",
    "io/copy copy_bidirectional",
    "io/process/command output",
    "io/process/command status",
    "io/signal ctrl_c",
    "observe/spans Future for Traced",
    "structured/abort_on_drop Future for AbortOnDropHandle",
    "structured/cancellation Future for UntilCancelled",
    "structured/context run",
    "structured/err_group wait",
    "structured/join_map join_next",
    "structured/join_map poll_join_next",
    "structured/join_map shutdown",
    "structured/scope Future for AllEnded",
    "structured/scope Future for Runs",
    "structured/scoped Future for Body",
    "structured/scoped Future for ScopedJoinHandle",
    "structured/task_builder Future for Named",
    "structured/task_local Future for TaskLocalFuture",
    "structured/together all",
    "structured/together try_all",
    "structured/tracker Future for TrackedFuture",
    "sync/singleflight call",
    "time/sleep Future for Timeout",
];
