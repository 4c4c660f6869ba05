//! What is reported to subscribers of the crate `tracing`: a span for each task, events for what the scheduler does. Without
//! the feature `tracing`, nothing: these functions are empty.

#[cfg(not(feature = "tracing"))]
mod off {
    use crate::kernel::sched::observer::Event;

    /// The future of a task, as it was.
    #[inline(always)]
    pub(in crate::runtime) fn task<F: Future>(future: F) -> F {
        future
    }

    #[inline(always)]
    pub(in crate::runtime) fn report_to_subscribers(_: &Event<'_>) {}

    #[inline(always)]
    pub(in crate::runtime) fn say_reported() {}

    pub(in crate::runtime) fn preemption_is_lost() {}

    pub(in crate::runtime) fn no_thread_for_preempted() {}
}

#[cfg(feature = "tracing")]
mod on {
    use crate::kernel::sched::observer::Event;
    use crate::kernel::types::m::MId;
    use crate::kernel::types::p::PId;
    use crate::runtime::guarded::guarded;
    use crate::runtime::host::thread_state::thread_state;
    use core::cell::{Cell, RefCell};
    use core::future::Future;
    use core::panic::Location;
    use core::pin::Pin;
    use core::task::{Context, Poll};
    use pin_project_lite::pin_project;
    use tracing::level_filters::LevelFilter;
    use tracing::{Level, Span, trace, trace_span, warn};

    pin_project! {
        /// A future that is polled, and dropped, inside of a span.
        pub(in crate::runtime) struct Traced<F> {
            #[pin]
            future: Option<F>,
            span: Span,
        }

        impl<F> PinnedDrop for Traced<F> {
            fn drop(this: Pin<&mut Self>) {
                let this = this.project();
                let mut future = this.future;
                let _entered = this.span.enter();
                future.set(None);
            }
        }
    }

    /// The future of a task that is spawned at the caller's place, in a span of its own below the spawner's.
    #[track_caller]
    pub(in crate::runtime) fn task<F: Future>(future: F) -> Traced<F> {
        let spawned_at = Location::caller();
        let name = core::any::type_name::<F>();
        let span = trace_span!(target: "spinpark::task", "task", name, %spawned_at);
        Traced { future: Some(future), span }
    }

    impl<F: Future> Future for Traced<F> {
        type Output = F::Output;

        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
            let this = self.project();
            let _entered = this.span.enter();
            match this.future.as_pin_mut() {
                Some(future) => future.poll(cx),
                None => Poll::Pending,
            }
        }
    }

    /// What is reported.
    #[derive(Clone, Copy)]
    enum Report {
        Park(MId),
        Wake(MId),
        Start(MId),
        Steal { m: MId, p: PId, victim: PId, tasks: usize },
        Retake(PId),
    }

    thread_state! {
        /// What was reported under the scheduler's lock: said as soon as that is free, because a subscriber may wake a
        /// task. Borrowed while something is reported.
        static LATER: RefCell<Vec<Report>> = RefCell::new(Vec::new());
        /// A subscriber is being called, or may not be called now. What happens meanwhile is not said.
        static IS_SAYING: Cell<bool> = Cell::new(false);
    }

    /// Something was reported. Not said at once: the thread that reports may hold the scheduler's lock. Each of these is followed by a
    /// [`park`](crate::host::Parker::park) or an [`unpark`](crate::host::Parker::unpark) of the same thread, or by its next
    /// report of something that is said at once.
    #[inline(always)]
    pub(in crate::runtime) fn report_to_subscribers(event: &Event<'_>) {
        let (report, is_locked) = match *event {
            Event::Slept { m, .. } => (Report::Park(m), true),
            Event::Woken { m } => (Report::Wake(m), true),
            Event::Starting { m } => (Report::Start(m), false),
            Event::Stole { m, p, victim, gs } => (Report::Steal { m, p, victim, tasks: gs }, false),
            Event::Retaken { p } => (Report::Retake(p), false),
            _ => return,
        };
        // The subscriber itself is not asked: that would be its code, under the lock.
        if Level::TRACE <= LevelFilter::current() && IS_SAYING::with(Cell::get) == Some(false) {
            LATER::with(|later| later.borrow_mut().push(report));
            if !is_locked {
                say_reported();
            }
        }
    }

    /// The scheduler's lock is free: says what was reported under it.
    #[inline]
    pub(in crate::runtime) fn say_reported() {
        let is_any = LATER::with(|later| !later.borrow().is_empty()) == Some(true);
        if is_any {
            say_all();
        }
    }

    #[cold]
    fn say_all() {
        if IS_SAYING::with(|is| is.replace(true)) != Some(false) {
            return;
        }
        while let Some(later) = LATER::with(RefCell::take)
            && !later.is_empty()
        {
            guarded(|| later.iter().copied().for_each(say));
        }
        IS_SAYING::with(|is| is.set(false));
    }

    /// By the monitor, which holds no lock: the signal's handler was replaced.
    pub(in crate::runtime) fn preemption_is_lost() {
        guarded(|| {
            warn!(
                target: "spinpark",
                "the handler of SIGURG was replaced: tasks that are CPU-bound are not preempted any more; install the other \
                 handler before the first runtime is built, or let it call the one before it"
            );
        });
    }

    /// By the monitor, which holds no lock: as many preempted tasks as may be go on without a P.
    pub(in crate::runtime) fn no_thread_for_preempted() {
        guarded(|| {
            warn!(
                target: "spinpark",
                "as many CPU-bound tasks as max_preempted_threads allows go on without a P: the next ones keep theirs, and \
                 others wait; call checkpoint() in them, or raise the number"
            );
        });
    }

    fn say(report: Report) {
        match report {
            Report::Park(m) => trace!(target: "spinpark", m = m.0, "park"),
            Report::Wake(m) => trace!(target: "spinpark", m = m.0, "wake"),
            Report::Start(m) => trace!(target: "spinpark", m = m.0, "start"),
            Report::Steal { m, p, victim, tasks } => {
                trace!(target: "spinpark", m = m.0, p = p.0, victim = victim.0, tasks, "steal");
            }
            Report::Retake(p) => trace!(target: "spinpark", p = p.0, "retake"),
        }
    }
}

#[cfg(not(feature = "tracing"))]
pub(in crate::runtime) use off::{
    no_thread_for_preempted, preemption_is_lost, report_to_subscribers, say_reported, task,
};
#[cfg(feature = "tracing")]
pub(in crate::runtime) use on::{
    no_thread_for_preempted, preemption_is_lost, report_to_subscribers, say_reported, task,
};
