//! The threads of a runtime.

use crate::runtime::builder::Builder;
use crate::runtime::guarded::Theirs;
use crate::runtime::host::duration;
use core::time::Duration;
use std::sync::Arc;

/// Threads:
///
/// ```
/// use std::time::Duration;
///
/// let runtime = spinpark::Runtime::builder()
///     .max_threads(64)
///     .thread_keep_alive(Duration::from_secs(60))
///     .thread_name("web")
///     .thread_stack_size(1 << 20)
///     .on_thread_start(|| println!("begins"))
///     .on_thread_stop(|| println!("ends"))
///     .build()?;
/// assert_eq!(runtime.block_on(async { 1 })?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Builder {
    /// May a thread that no runtime started wake a task? Default: yes, and then a deadlock is certain only if the system says that there is no such
    /// thread. With `false` the caller promises that such threads wake tasks only from inside [`block_on`](crate::Runtime::block_on) and
    /// [`join`](crate::JoinHandle::join); then the system is not asked. So a deadlock is reported beside the threads of a sanitizer, a profiler
    /// or an emulator too, and on systems that do not say how many threads there are. If the promise is broken, a wait that would have ended may
    /// end with [`Deadlock`](crate::Deadlock).
    ///
    /// ```
    /// use std::{future::pending, thread, time::Duration};
    ///
    /// // It never wakes a task.
    /// thread::spawn(|| thread::sleep(Duration::from_secs(3600)));
    /// let runtime = spinpark::Runtime::builder().foreign_threads(false).build()?;
    /// assert!(runtime.block_on(pending::<()>()).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn foreign_threads(mut self, may_wake: bool) -> Self {
        self.has_foreign_threads = may_wake;
        self
    }

    /// How many threads there may be, besides the monitor's. With fewer than [`procs`](Builder::procs), so many tasks
    /// run at once; a task that waits in a [`syscall`](crate::syscall), in [`blocking`](crate::blocking) or for another
    /// task occupies one. Default 512, or `procs` if that is more. Go: `SetMaxThreads`, where reaching it is
    /// fatal; here work waits for a thread, [`try_blocking`](crate::try_blocking) says so, and tasks that could so
    /// never go on end with [`JoinError::Deadlock`](crate::JoinError::Deadlock).
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).max_threads(8).build()?;
    /// # drop(runtime);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_threads(mut self, n: usize) -> Self {
        self.max_threads = Some(n);
        self
    }

    /// For how long a thread without work is kept; one always is. Default 10 s. Go keeps all of them for ever.
    ///
    /// ```
    /// let minute = std::time::Duration::from_secs(60);
    /// let runtime = spinpark::Runtime::builder().procs(1).thread_keep_alive(minute).build()?;
    /// # drop(runtime);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_keep_alive(mut self, time: Duration) -> Self {
        self.config.keep_alive = duration::nanos(time);
        self
    }

    /// What the names of the threads begin with. Default `spinpark`: then they are `spinpark-m0`, `spinpark-m1` and so on
    /// for those that run tasks, and `spinpark-sysmon` for the monitor. Not empty, and without a zero byte. Linux shows the
    /// first 15 bytes of a thread's name.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).thread_name("web").build()?;
    /// let name = runtime.go(|| std::thread::current().name().map(str::to_owned)).join()?;
    /// assert!(name.is_some_and(|name| name.starts_with("web-m")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_name(mut self, prefix: impl Into<String>) -> Self {
        self.plan.name = Some(prefix.into());
        self
    }

    /// How large the stacks of the threads are, in bytes: 64 KiB to 1 GiB. Default: that of [`std::thread`].
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).thread_stack_size(1 << 20).build()?;
    /// # drop(runtime);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_stack_size(mut self, bytes: usize) -> Self {
        self.plan.stack = Some(bytes);
        self
    }

    /// Is run in each thread that runs tasks, before its first one. Not in the monitor's, which runs no code of yours.
    ///
    /// It is no task, but inside of the runtime: [`Handle::current`](crate::Handle::current) and
    /// [`spawn`](crate::spawn) work. It must not wait for a task: it occupies a P. If it panics, the panic hook says so,
    /// and the thread goes on.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).on_thread_start(|| println!("begins")).build()?;
    /// # drop(runtime);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_start(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        let f = Theirs::new(f);
        self.plan.on_start = Some(Arc::new(move || {
            f();
        }));
        self
    }

    /// Is run in each thread that runs tasks, after its last one: when it has slept for long
    /// ([`thread_keep_alive`](Builder::thread_keep_alive)), when a task ended that was still bound to it
    /// ([`lock_thread`](crate::lock_thread)), or when the runtime is shut down, which waits for it. As
    /// [`on_thread_start`](Builder::on_thread_start) otherwise.
    pub fn on_thread_stop(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        let f = Theirs::new(f);
        self.plan.on_stop = Some(Arc::new(move || {
            f();
        }));
        self
    }
}
