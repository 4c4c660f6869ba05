//! What belongs to a runtime besides its scheduler: who waits, for what, and until when.

use crate::kernel::protocol::work_source::{Poller, Waker};
use crate::kernel::sched::Sources;
use crate::kernel::sched::observer::{Event, Observer};
use crate::runtime::exec::block_on::Guests;
use crate::runtime::exec::goroutine::stack::Stacks;
use crate::runtime::exec::idle::IdleWork;
use crate::runtime::exec::owned::Hall;
use crate::runtime::exec::preempt::Hogs;
use crate::runtime::exec::registry::Home;
use crate::runtime::exec::wait_graph::Board;
use crate::runtime::host::sim;
use crate::runtime::host::thread_config::Staff;
use crate::runtime::io::reactor::Reactor;
use crate::runtime::observe::metrics::Meter;
use crate::runtime::observe::schedtrace::Printer;
use crate::runtime::observe::spans;
use crate::runtime::observe::watch::Watch;
use crate::runtime::time::timer::{TimerQueue, TimerSource};
use core::sync::atomic::AtomicU64;
use std::io;
use std::sync::Arc;

pub(super) struct Shared {
    pub(super) home: Home,
    /// The machine that it runs on, if that is simulated.
    pub(super) machine: sim::Number,
    /// Tasks that wait for others, on a thread of their own.
    pub(super) board: Board,
    /// Tasks that wait, without a thread.
    pub(super) hall: Arc<Hall>,
    pub(super) timers: Arc<TimerQueue>,
    pub(super) reactor: Arc<Reactor>,
    /// Threads in `block_on`.
    pub(super) guests: Guests,
    /// Is a wait without end an error, where it is certain?
    pub(super) detects_deadlock: bool,
    /// What is counted.
    pub(super) meter: Meter,
    /// How its threads are.
    pub(super) staff: Staff,
    /// Who prints what it looks like.
    pub(super) printer: Printer,
    /// What goroutines run on.
    /// `None`: closures run on their threads' own stacks.
    pub(super) stacks: Option<Arc<Stacks>>,
    /// Tasks that run without a P.
    pub(super) hogs: Hogs,
    /// Who watches, if anybody does.
    watch: Option<Box<Watch>>,
}

/// What has to be known of a runtime to make it.
pub(super) struct Parts {
    pub(super) procs: usize,
    pub(super) home: Home,
    pub(super) machine: sim::Number,
    pub(super) detects_deadlock: bool,
    pub(super) meter: Meter,
    pub(super) staff: Staff,
    pub(super) stacks: Option<Arc<Stacks>>,
    pub(super) hogs: Hogs,
    pub(super) watch: Option<Box<Watch>>,
}

impl Shared {
    /// # Errors
    /// If the system gives no poller.
    pub(super) fn new(parts: Parts) -> io::Result<Shared> {
        let Parts { procs, home, machine, detects_deadlock, meter, staff, stacks, hogs, watch } = parts;
        let timers = Arc::new(TimerQueue::new(procs));
        let reactor = Arc::new(Reactor::new(home, &timers, machine.is_any(), IdleWork::new(home, stacks.clone()))?);
        Ok(Shared {
            home,
            machine,
            board: Board::default(),
            hall: Hall::new(procs),
            timers,
            reactor,
            guests: Guests::default(),
            detects_deadlock,
            meter,
            staff,
            printer: Printer::default(),
            stacks,
            hogs,
            watch,
        })
    }

    /// Where Gs come from besides the queues, and where an M waits.
    pub(super) fn sources(&self) -> impl FnOnce(&Waker) -> (Sources, Box<dyn Poller>) + use<> {
        let (home, timers, hall) = (self.home, Arc::clone(&self.timers), Arc::clone(&self.hall));
        let reactor = Arc::clone(&self.reactor);
        move |waker| {
            timers.open(waker);
            let source = TimerSource { home, timers, hall, waker: waker.clone(), looked: AtomicU64::new(0) };
            (vec![Box::new(source)], Box::new(reactor))
        }
    }

    /// The scheduler is closed: whoever waits is dropped.
    pub(super) fn close(&self) {
        self.hall.clear();
        self.timers.serve_if_any();
        self.reactor.close();
        self.printer.end();
        self.watch.iter().for_each(|watch| watch.close());
    }

    /// Does somebody want to know when a task runs: to measure it, or because somebody watches?
    pub(super) fn is_seen(&self) -> bool {
        self.meter.is_timed() || self.is_watched()
    }

    /// Does anybody watch?
    pub(super) fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Something happened that the kernel does not know of.
    pub(super) fn tell(&self, event: Event<'_>) {
        self.watch.iter().for_each(|watch| watch.tell(event));
    }

    /// Can something still arrive: from a timer, from a socket?
    pub(super) fn is_expecting(&self) -> bool {
        self.timers.is_expecting() || self.reactor.is_awaited()
    }
}

impl Observer for Shared {
    #[inline(always)]
    fn event(&self, event: Event<'_>) {
        if let Some(watch) = &self.watch {
            watch.tell(event);
        }
        self.meter.note(&event);
        spans::tell(&event);
        match event {
            Event::Starting { .. } => self.staff.announce(),
            Event::Preempt { p, .. } => self.hogs.signal(p),
            Event::Undetachable { .. } => self.hogs.reached_limit(),
            Event::Slept { sleeping, alive, .. } | Event::Gone { sleeping, alive }
                if sleeping == alive && !self.is_expecting() =>
            {
                spans::quietly(|| self.guests.all_is_quiet());
            }
            _ => (),
        }
    }
}
