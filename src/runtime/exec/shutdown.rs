//! The end of a runtime.

use crate::runtime::exec::call_site::Call;
use crate::runtime::exec::inside::Inside;
use crate::runtime::exec::leaving::Return;
use crate::runtime::exec::task::Task;
use crate::runtime::exec::tasks::{Tasks, on_host};
use crate::runtime::host::sim;
use core::convert::Infallible;
use core::time::Duration;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};

/// The kernel's names begin so, too.
const CLOSER: &str = "spinpark-closer";

impl Tasks {
    /// Waits for the tasks that run, ends those that wait, and gives back those that never ran. Then none of the threads is there
    /// any more, but for the calling one, if it is one of them: a thread local's destructor may call this.
    pub(in crate::runtime) fn close(&self) -> Vec<Task> {
        self.check_thread();
        let shared = self.shared();
        // In a task of another runtime: others run there meanwhile.
        let _back = Return::after_leaving(Call::Blocks);
        if let Tasks::Cores(_) = self {
            shared.timers.close();
        }
        shared.block_on_waiters.close();
        let left = on_host!(self, sched => sched.close());
        // Destructors of what has not ended run inside the runtime.
        let inside = Inside::of(self);
        // What has waited once is known in the owned tasks, also if it could run now.
        let unstarted = shared.owned_tasks.end_started(left, Task::address);
        shared.close();
        drop(inside);
        self.runtime_id().close();
        sim::finish(shared.machine);
        shared.timers.join();
        shared.thread_config.threads().join();
        unstarted
    }

    /// The same on a new thread, for a task, which would wait for itself.
    pub(in crate::runtime) fn close_elsewhere(self) {
        match self {
            Tasks::Cores(_) => drop(self.start_closer()),
            Tasks::Sim(_) => {
                sim::will_end();
                let _ = sim::spawn(CLOSER, None, move || drop(self.close()));
            }
        }
    }

    /// The same, and waits until it is closed, for `time` at most. Not for a task of it; nor on a machine that is simulated.
    pub(in crate::runtime) fn close_within(self, time: Duration) {
        // As in `close`.
        let _back = Return::after_leaving(Call::Blocks);
        let Some((closer, is_closed)) = self.start_closer() else { return };
        // Nothing is sent: the end of the sender says it.
        if is_closed.recv_timeout(time) == Err(RecvTimeoutError::Disconnected) {
            // It has no code that panics; if it did, it has been reported.
            drop(closer.join());
        }
    }

    /// A thread that closes it, and what says that it has. `None`: the system gives none.
    fn start_closer(self) -> Option<(JoinHandle<()>, Receiver<Infallible>)> {
        let (closes, is_closed) = mpsc::channel();
        let body = move || {
            let _closes = closes;
            drop(self.close());
            // The scheduler before the sender: the thread that waits has the last.
            drop(self);
        };
        let closer = thread::Builder::new().name(CLOSER.into()).spawn(body).ok()?;
        Some((closer, is_closed))
    }
}
