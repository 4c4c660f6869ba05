//! What a simulated thread has in the thread locals of this crate, while another runs.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::polling::Polling;
use crate::runtime::exec::{entered, goroutine, task_locals};
use crate::runtime::host::sim::SavedThreadState;
use crate::runtime::observe::{meter, watch};
use core::cell::Cell;
use std::rc::Rc;

struct Saved {
    context: Context,
    goroutine: Cell<goroutine::Current>,
    entered: entered::SavedThreadState,
    meter: meter::SavedThreadState,
    polling: Polling,
    task_locals: task_locals::SavedThreadState,
    watch: watch::SavedThreadState,
}

/// Of a thread that has yet to run.
pub(in crate::runtime) fn new_thread_state() -> Rc<dyn SavedThreadState> {
    Rc::new(Saved {
        context: Context::new(),
        goroutine: Cell::new(core::ptr::null()),
        entered: entered::SavedThreadState::default(),
        meter: meter::SavedThreadState::default(),
        polling: Polling::default(),
        task_locals: task_locals::SavedThreadState::default(),
        watch: watch::SavedThreadState::default(),
    })
}

impl SavedThreadState for Saved {
    fn swap(&self) {
        self.goroutine.set(goroutine::exchange(self.goroutine.get()));
        Context::try_with(|context| context.swap(&self.context));
        self.entered.swap();
        self.meter.swap();
        self.polling.swap();
        self.task_locals.swap();
        self.watch.swap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::host::sim;
    use crate::runtime::id::RuntimeId;
    use core::time::Duration;

    mod a_simulated_thread {
        use super::*;

        #[test]
        fn has_thread_locals_of_its_own() {
            let number = sim::machine_for(Some(3), new_thread_state).expect("there is none yet");
            for runtime_id in [1, 2] {
                let body = move || {
                    let runtime_id = Some(RuntimeId::for_test(runtime_id));
                    assert_eq!(Context::stopped(), None);
                    Context::set_stopped(runtime_id);
                    for _ in 0..3 {
                        sim::pause(Duration::from_nanos(1));
                        assert_eq!(Context::stopped(), runtime_id);
                    }
                };
                sim::spawn("spinpark-m0", None, body).expect("a stack");
            }
            sim::pause(Duration::from_nanos(100));
            assert_eq!(Context::stopped(), None);
            sim::finish(number);
            assert!(!sim::is_here(), "the machine is still there");
        }
    }
}
