//! What a runtime does about what its scheduler reports.
//!
//! It stands above [`Shared`], which is state and does nothing by itself; and below the schedulers, which report to it.

use crate::kernel::sched::observer::{Event, Observer};
use crate::runtime::observe::event;
use crate::runtime::observe::spans;
use crate::runtime::shared::Shared;

/// The observer of a runtime's scheduler.
pub(in crate::runtime) struct Events {
    shared: Shared,
}

impl Events {
    /// Of the runtime with this state.
    pub(in crate::runtime) fn new(shared: Shared) -> Events {
        Events { shared }
    }

    /// What belongs to the runtime besides its scheduler.
    #[inline(always)]
    pub(in crate::runtime) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Observer for Events {
    #[inline(always)]
    fn event(&self, event: Event<'_>) {
        let shared = &self.shared;
        shared.report(event::Event::Sched(event));
        shared.meter.note(&event);
        spans::report_to_subscribers(&event);
        match event {
            Event::Starting { .. } => shared.thread_config.announce(),
            Event::Preempt { p, .. } => shared.detached_tasks.signal(p),
            Event::Undetachable { .. } => shared.detached_tasks.reached_limit(),
            _ => (),
        }
    }
}
