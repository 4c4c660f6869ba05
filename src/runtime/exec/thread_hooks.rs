//! What the builder was given to run in each thread that runs tasks.

use crate::runtime::exec::context::OnHost;
use crate::runtime::exec::inside::Inside;
use crate::runtime::exec::scheduler::Scheduler;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::guarded::guarded;
use crate::runtime::host::foreign_threads::Unknown;
use crate::runtime::host::thread_config::Hook;

/// This thread runs tasks, as long as this lives: the one hook was run, the other is when it ends.
pub(in crate::runtime) struct ThreadHooks(Option<Tasks>);

impl ThreadHooks {
    pub(in crate::runtime) fn run<H: OnHost>(sched: &Scheduler<H>) -> ThreadHooks {
        let thread_config = &sched.shared().thread_config;
        if !thread_config.has_hooks() {
            return ThreadHooks(None);
        }
        let tasks = H::tasks(sched.clone());
        run(&tasks, thread_config.on_start.as_ref());
        ThreadHooks(Some(tasks))
    }
}

fn run(tasks: &Tasks, hook: Option<&Hook>) {
    if let Some(hook) = hook {
        let _inside = Inside::of(tasks);
        guarded(|| hook());
    }
}

impl Drop for ThreadHooks {
    fn drop(&mut self) {
        if let Some(tasks) = &self.0 {
            // Its M has ended, to the scheduler.
            let _unknown = Unknown::new();
            run(tasks, tasks.shared().thread_config.on_stop.as_ref());
        }
    }
}
