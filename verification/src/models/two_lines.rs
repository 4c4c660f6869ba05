//! Models that mistakes of two lines have shown to be missing: a step that is right in every state of its room but one.

use crate::harness::common::party;
use crate::harness::parker::OnFutex;
use crate::harness::task::{Got, Tiny};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, sc};
use spinpark_kernel::queues::timers::Key;
use spinpark_kernel::waits::claim::Ticket;
use spinpark_kernel::waits::select::{Cases, Selection};
use spinpark_kernel::waits::timer_queue::{Registers, Timer, TimerQueue};
use std::rc::Rc;
use std::task::Poll;

/// A task that is aborted is run for the last time.
fn an_abort_beside_the_last_run<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::that_is_closed(0);
    // The aborter has a waker.
    task.clone_waker();
    let aborter = party::<H, _, _>("aborter", &task, |task| {
        task.abort();
        task.drop_waker();
    });
    task.run_last();
    let got = task.join(handle, 0);
    H::join(aborter);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// Its runtime ends beside it; it yields once, and no M may run it again.
fn a_yield_beside_the_end<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::that_yields_and_is_closed(1);
    let closer = party::<H, _, _>("closer", &task, Tiny::end);
    task.run_mine();
    H::join(closer);
    let got = task.join(handle, 0);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// It was given back by a runtime that has ended, is run once, and yields there.
fn a_yield_in_the_last_run<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::that_yields_and_is_closed(1);
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, &[0]));
    task.run_last();
    let got = H::join(joiner);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// It waits, its runtime has ended, and its last waker and its handle are dropped.
fn nobody_can_wake_it_after_the_end<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::that_is_closed(1);
    task.run_mine();
    task.end();
    let waker = party::<H, _, _>("waker", &task, Tiny::drop_waker);
    let got = task.ask_and_detach(handle, &[]);
    H::join(waker);
    assert!(got.is_none(), "it was not woken, and it came to {got:?}");
    format!("dropped by {}, {}", task.dropped_by(), task.check_at_rest(0))
}

/// It waits, and its last waker and its handle are dropped beside each other.
fn nobody_can_wake_it_any_more<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(1, 0);
    task.run_mine();
    let waker = party::<H, _, _>("waker", &task, Tiny::drop_waker);
    let got = task.ask_and_detach(handle, &[]);
    H::join(waker);
    let end = task.check_at_rest(0);
    assert!(got.is_none() && end.starts_with("polled 1,"), "no waker was left, and it came to {got:?}, {end}");
    format!("dropped by {}", task.dropped_by())
}

/// It waits, and is aborted, before or after its last waker is dropped.
fn an_abort_of_a_task_that_waits<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(1, 0);
    task.run_mine();
    let has_a_waker = H::choose(2) == 0;
    if !has_a_waker {
        task.drop_waker();
    }
    task.abort();
    let got = task.join(handle, 0);
    assert!(got == Got::Aborted, "it waited as it was aborted, and came to {got:?}");
    if has_a_waker {
        task.drop_waker();
    }
    task.check_at_rest(1)
}

/// Its handle, which has changed its mind already, is dropped while it ends.
fn a_renewed_handle_is_dropped<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(0, 0);
    task.ask(&handle, 0);
    task.ask(&handle, 1);
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, &[]));
    task.run_mine();
    H::join(joiner);
    task.check_at_rest(2)
}

/// Two wake it before it is polled: one of them runs it.
fn two_wakes_before_one_poll<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(2, 0);
    let other = party::<H, _, _>("other waker", &task, |task| task.wake_by_ref(1));
    task.wake_by_ref(0);
    let got = task.join(handle, 0);
    H::join(other);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// A parker whose sleeper is unparked while it sleeps.
fn an_unpark_is_used_up<H: ModelHost>() -> String {
    let parker = OnFutex::<H, 0>::new();
    let remembered = H::choose(2) == 1;
    if remembered {
        parker.unpark();
    }
    let mut has_slept = false;
    parker.park_by(|_| {
        has_slept = true;
        parker.unpark();
    });
    assert!(has_slept != remembered, "an unpark was remembered: {remembered}, and the next park slept: {has_slept}");
    let mut sleeps = false;
    parker.park_by(|_| sleeps = true);
    assert!(sleeps, "one unpark has ended two parks");
    format!("remembered: {remembered}")
}

/// Three cases that are never ready; what a select asks of them.
struct Asked {
    order: Vec<usize>,
    is_ready: Option<usize>,
    has_asked: bool,
}

impl<H: ModelHost> Cases<H> for Asked {
    type Output = usize;
    const LEN: usize = 3;

    fn choose(&mut self, n: usize) -> usize {
        H::choose(n)
    }

    fn attempt(&mut self, case: usize) -> Poll<usize> {
        assert!(!self.has_asked, "what there is besides was asked before case {case}");
        self.order.push(case);
        if self.is_ready == Some(case) { Poll::Ready(case) } else { Poll::Pending }
    }

    fn otherwise(&mut self) -> Poll<usize> {
        self.has_asked = true;
        Poll::Ready(3)
    }

    fn enlist(&mut self, case: usize, _: Ticket<H>) -> bool {
        panic!("case {case} is to wait, and there is a default")
    }

    fn collect(&mut self, case: usize) -> usize {
        panic!("case {case} was not served")
    }

    fn withdraw(&mut self) {
        panic!("none of them has waited")
    }
}

/// In which order the cases are tried.
fn the_order_of_cases<H: ModelHost>() -> String {
    let is_ready = Some(H::choose(4)).filter(|&case| case < 3);
    let mut asked = Asked { order: Vec::new(), is_ready, has_asked: false };
    let polled = Selection::<H>::new().poll(&mut asked);
    let Asked { order, has_asked, .. } = asked;
    assert!(polled == Poll::Ready(is_ready.unwrap_or(3)), "case {is_ready:?} is ready, and it came to {polled:?}");
    assert!(has_asked == is_ready.is_none(), "case {is_ready:?} is ready; the default was asked: {has_asked}");
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert!(sorted.len() == order.len() && (has_asked <= (order.len() == 3)), "the cases were tried so: {order:?}");
    format!("{is_ready:?}: {order:?}")
}

/// A queue of timers, as a sleep has it.
struct Sleeps<H: ModelHost>(Rc<TimerQueue<H, u64>>);

impl<H: ModelHost> Registers for Sleeps<H> {
    type Waker = u64;

    fn remove(&self, key: Key) {
        self.0.remove(key);
    }

    fn take(&self, key: Key) -> Option<u64> {
        self.0.remove(key)
    }

    fn replace(&self, key: Key, waker: u64) -> Result<(), u64> {
        self.0.replace(key, waker).map(drop)
    }
}

/// A sleep is polled, perhaps again by another waker, and dropped.
fn a_sleep_is_dropped<H: ModelHost>() -> String {
    let queue = Rc::new(TimerQueue::<H, u64>::new(1));
    let mut place = None;
    let wakers = 1 + H::choose(2) as u64;
    for waker in 0..wakers {
        let add = |waker| (Sleeps(Rc::clone(&queue)), queue.add(0, 5, waker).0);
        Timer::poll(&mut place, waker, || waker, add);
        assert!(queue.len() == 1, "one sleeps, by {} timers", queue.len());
    }
    Timer::forget(&mut place);
    assert!(queue.is_empty(), "no thread sleeps, and there is a timer");
    format!("{wakers} wakers")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("task::an_aborted_task_ends::an_abort_beside_the_last_run", an_abort_beside_the_last_run,
        claim: "a task that is aborted before it is run for the last time is not polled, and its handle learns that",
        size: "2 threads",
        invariants: [53, 55, 56],
        must_reach: ["Output", "Aborted"],
        runs: [rc11(), sc()]),
    crate::model!("task::an_aborted_task_ends::an_abort_of_a_task_that_waits", an_abort_of_a_task_that_waits,
        claim: "a task that waits and is aborted ends without an output",
        size: "1 thread, 1 waker",
        invariants: [53, 55, 56],
        must_reach: ["polled 1"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_wake_after_the_end_drops_nothing::a_yield_beside_the_end", a_yield_beside_the_end,
        claim: "a task that yields where nothing is run any more is dropped there, and its handle learns that",
        size: "2 threads, 1 yield",
        invariants: [53, 55, 56, 57],
        must_reach: ["Output, polled 2", "Dropped, polled 1"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_wake_after_the_end_drops_nothing::a_yield_in_the_last_run", a_yield_in_the_last_run,
        claim: "a task that yields in its last run ends there, and leaves nothing to the thread's next task",
        size: "2 threads, 1 yield",
        invariants: [53, 55, 56, 57],
        must_reach: ["Some(Dropped)", "None"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_task_is_freed_once::nobody_can_wake_it_after_the_end", nobody_can_wake_it_after_the_end,
        claim: "a task whose runtime has ended is dropped and freed by the thread that drops the last reference",
        size: "2 threads, 1 waker",
        invariants: [53, 56],
        must_reach: ["dropped by 0", "dropped by 1"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_task_is_freed_once::nobody_can_wake_it_any_more", nobody_can_wake_it_any_more,
        claim: "a task that cannot be woken any more is dropped, and not polled again",
        size: "2 threads, 1 waker",
        invariants: [53, 56],
        must_reach: ["dropped by 0", "dropped by 1"],
        runs: [rc11(), sc()]),
    crate::model!("task::an_output_is_taken_or_dropped_once::a_renewed_handle_is_dropped", a_renewed_handle_is_dropped,
        claim: "a handle that changed its mind before, and is let go while the task ends and its slot is read",
        size: "2 threads, 2 wakers of the handle's",
        invariants: [53, 55, 56],
        must_reach: ["polled 1, wakers [Some(Dropped), Some(Dropped)]", "polled 1, wakers [Some(Dropped), Some(Woken)]"],
        runs: [rc11(), sc()]),
    crate::model!("task::no_wake_is_lost::two_wakes_before_one_poll", two_wakes_before_one_poll,
        claim: "two wake a task before it is polled: that poll sees what both wrote, or there is another",
        size: "2 threads, 2 wakers",
        invariants: [53, 54, 55, 56],
        must_reach: ["Output, polled 1", "Output, polled 2"],
        runs: [rc11(), sc()]),
    crate::model!("parker::an_unpark_is_remembered_once::it_is_used_up", an_unpark_is_used_up,
        claim: "an unpark, before a park or in its midst, ends that one and no other",
        size: "1 thread, 2 parks",
        invariants: [70, 71],
        must_reach: ["remembered: true", "remembered: false"],
        runs: [rc11(), sc()]),
    crate::model!("timer_queue::a_timer_is_fired_once_or_cancelled::a_sleep_is_dropped", a_sleep_is_dropped,
        claim: "a sleep has one timer, by whichever waker it was polled, and none when it is dropped",
        size: "1 thread, 1 sleep",
        invariants: [75, 76],
        must_reach: ["1 wakers", "2 wakers"],
        runs: [sc()]),
    crate::model!("select::the_cases_come_in_any_order::the_order_of_cases", the_order_of_cases,
        claim: "the cases are tried in each order, each once, and what there is besides after them",
        size: "1 thread, 3 cases",
        invariants: [96],
        must_reach: ["None: [0, 1, 2]", "None: [0, 2, 1]", "None: [1, 0, 2]", "None: [1, 2, 0]", "None: [2, 0, 1]", "None: [2, 1, 0]"],
        runs: [sc()]),
];
