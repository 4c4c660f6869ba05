//! The end of a runtime.

use crate::runtime::exec::call_site::Call;
use crate::runtime::exec::inside::Inside;
use crate::runtime::exec::leaving::Return;
use crate::runtime::exec::task::Task;
use crate::runtime::exec::tasks::{Tasks, on_host};
use crate::runtime::host::sim;
use std::thread;

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
        const NAME: &str = "spinpark-closer";
        match self {
            Tasks::Cores(_) => drop(thread::Builder::new().name(NAME.into()).spawn(move || drop(self.close()))),
            Tasks::Sim(_) => {
                sim::will_end();
                let _ = sim::spawn(NAME, None, move || drop(self.close()));
            }
        }
    }
}
