//! Models of a thread that waits for a future: `block_on`, a join outside of a task, and both beside the runtime's end.

use crate::harness::bell::{Process, Waiter};
use crate::harness::common::party;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, rc11, rc11_spurious, sc, tso};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::waits::at_rest::AtRest;
use spinpark_kernel::waits::bell::{Bell, Counts};
use std::sync::Arc;

/// It is woken while it polls, or before, or as it goes to sleep.
fn a_wake_beside_the_poll<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let polls = waiter.block_on();
    H::join(waker);
    format!("polled {polls}")
}

/// Two wake it.
fn two_wakers<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(2);
    let one = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let two = party::<H, _, _>("other waker", &waiter, |waiter| waiter.ring(1));
    let polls = waiter.block_on();
    H::join(one);
    H::join(two);
    format!("polled {polls}")
}

/// A waker rings for what is over already: while the same thread waits for something else, and after that.
fn a_waker_outlives_the_wait<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(2);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| {
        waiter.ring(0);
        waiter.ring(0);
        waiter.ring(1);
        waiter.ring(1);
    });
    let first = waiter.block_on_first(1);
    let second = waiter.block_on();
    H::join(waker);
    format!("polled {first}, then {second}")
}

/// Its runtime is shut down.
fn a_close_beside_the_wait<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let closer = party::<H, _, _>("closer", &waiter, Waiter::close);
    let ended = waiter.block_on_in_a_task();
    H::join(closer);
    waiter.check_at_rest();
    format!("{ended:?}")
}

/// The same, and it is woken.
fn a_close_beside_a_wake<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let closer = party::<H, _, _>("closer", &waiter, Waiter::close);
    let ended = waiter.block_on_in_a_task();
    H::join(waker);
    H::join(closer);
    ended.map_or("closed", |_| "ready").to_owned()
}

/// A task that waits with its thread is woken, and no thread shuts down.
fn a_wake_in_a_task<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let ended = waiter.block_on_in_a_task();
    H::join(waker);
    waiter.check_at_rest();
    assert!(ended.is_some(), "a task gives up, and its runtime goes on");
    format!("{ended:?}")
}

/// A thread asks whether it is deadlocked, and is woken meanwhile.
fn a_wake_beside_the_question<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let woken = waiter.gives_up(|| H::join(waker));
    assert!(woken, "a thread that was woken gives up");
    "woken".to_owned()
}

/// A bell whose thread is counted.
struct Told<H: ModelHost> {
    at_rest: Arc<AtRest<H>>,
    bell: Bell<H, Counted<H>>,
}

struct Counted<H: ModelHost>(Arc<AtRest<H>>);

impl<H: ModelHost> Counts for Counted<H> {
    fn enter(&self) {
        self.0.enter();
    }
    fn leave(&self) {
        self.0.leave();
    }
}

/// A thread is told that it is deadlocked, and is woken at that moment; then it waits again.
fn a_ring_beside_the_end_of_the_wait<H: ModelHost>() -> String {
    let at_rest = Arc::new(AtRest::new());
    let told = Arc::new(Told::<H> { bell: Bell::counted_by(Counted(Arc::clone(&at_rest))), at_rest });
    let waker = party::<H, _, _>("waker", &told, |told| told.bell.ring());
    let in_vain = || Err::<(), ()>(());
    let first = told.bell.wait(in_vain);
    H::join(waker);
    assert!(first.is_ok() || told.bell.wait(in_vain).is_ok(), "it gives up, and the ring is lost");
    assert!(told.at_rest.are_all(|| Some(0), || true), "none waits, and one is counted");
    format!("woken: {}", first.is_ok())
}

/// Two that wait are woken at once.
fn two_are_woken_at_once<H: ModelHost>() -> String {
    let at_rest = Arc::new(AtRest::<H>::new());
    (0..2).for_each(|_| at_rest.enter());
    let other = party::<H, _, _>("waker", &at_rest, |at_rest| at_rest.leave());
    at_rest.leave();
    H::join(other);
    assert!(at_rest.are_all(|| Some(0), || true), "none waits, and one is counted");
    "none is counted".to_owned()
}

/// Another comes and goes beside it.
fn a_close_beside_two<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let other = party::<H, _, _>("other", &waiter, Waiter::come_and_go);
    let closer = party::<H, _, _>("closer", &waiter, Waiter::close);
    let ended = waiter.block_on_in_a_task();
    H::join(other);
    H::join(closer);
    waiter.check_at_rest();
    format!("{ended:?}")
}

/// A thread asks another, which answers.
fn a_question_and_its_answer<H: ModelHost>() -> String {
    main_plays("asker");
    let process = Process::<H>::new(2, 0);
    let answerer = party::<H, _, _>("answerer", &process, |process| {
        process.wait(1);
        process.ring(0);
    });
    process.ring(1);
    let answered = process.wait_or_deadlock(0, false);
    assert!(answered, "a deadlock is told, and the answerer was woken");
    H::join(answerer);
    "answered".to_owned()
}

/// The same, and the asker is a third, which ends.
fn a_waker_that_ends<H: ModelHost>() -> String {
    main_plays("waiter");
    let process = Process::<H>::new(2, 1);
    let answerer = party::<H, _, _>("answerer", &process, |process| {
        process.wait(1);
        process.ring(0);
    });
    let asker = party::<H, _, _>("asker", &process, |process| {
        process.ring(1);
        process.end();
    });
    let answered = process.wait_or_deadlock(0, false);
    assert!(answered, "a deadlock is told, and the answerer was woken by a thread that has ended");
    H::join(answerer);
    H::join(asker);
    "answered".to_owned()
}

/// The same, and it is the thread that was woken that ends, while its waker has something else to bring.
fn a_woken_thread_that_ends<H: ModelHost>() -> String {
    main_plays("waiter");
    let process = Process::<H>::new(2, 1);
    let woken = party::<H, _, _>("woken", &process, |process| {
        process.wait(1);
        process.end();
    });
    let waker = party::<H, _, _>("waker", &process, |process| {
        process.ring(1);
        process.ring(0);
    });
    let answered = process.wait_or_deadlock(0, false);
    assert!(answered, "a deadlock is told, and the waker has not finished");
    H::join(woken);
    H::join(waker);
    "answered".to_owned()
}

/// A thread wakes a task that waits with its M, and waits itself for what the task does.
fn a_thread_wakes_a_task<H: ModelHost>() -> String {
    main_plays("waiter");
    let process = Process::<H>::new(2, 0);
    let m = party::<H, _, _>("M", &process, |process| {
        process.wait_m();
        process.ring(1);
    });
    let thread = party::<H, _, _>("thread", &process, |process| {
        process.ring_m();
        process.wait(1);
        process.ring(0);
    });
    let answered = process.wait_or_deadlock(0, true);
    assert!(answered, "a deadlock is told, and a task was woken");
    H::join(m);
    H::join(thread);
    "answered".to_owned()
}

/// A thread wakes a task that waits with its M, and ends.
fn a_waker_of_a_task_that_ends<H: ModelHost>() -> String {
    main_plays("waiter");
    let process = Process::<H>::new(1, 1);
    let m = party::<H, _, _>("M", &process, |process| {
        process.wait_m();
        process.ring(0);
    });
    let waker = party::<H, _, _>("waker", &process, |process| {
        process.ring_m();
        process.end();
    });
    let answered = process.wait_or_deadlock(0, true);
    assert!(answered, "a deadlock is told, and a task was woken by a thread that has ended");
    H::join(m);
    H::join(waker);
    "answered".to_owned()
}

/// Each of two threads waits for the other.
fn two_wait_for_each_other<H: ModelHost>() -> String {
    main_plays("one");
    let process = Process::<H>::new(2, 0);
    let play = |process: &Process<H>, me: usize| {
        let goes_on = process.wait_or_deadlock(me, false);
        process.ring(1 - me);
        goes_on
    };
    let other = party::<H, _, _>("other", &process, move |process| play(process, 1));
    let one = play(&process, 0);
    let told = [one, H::join(other)].into_iter().filter(|goes_on| !goes_on).count();
    assert!(told > 0, "each waited for the other, and none was told");
    format!("told {told}")
}

const ONE: &str = "bell::no_wake_is_missed::a_wake_beside_the_poll";
const TWO: &str = "bell::no_wake_is_missed::two_wakers";
const LATE: &str = "bell::a_late_ring_harms_nobody::a_waker_outlives_the_wait";
const ASKS: &str = "bell::a_deadlock_is_one::a_question_and_its_answer";
const ENDS: &str = "bell::a_deadlock_is_one::a_waker_that_ends";
const TASK: &str = "bell::a_deadlock_is_one::a_thread_wakes_a_task";
const LEAVES: &str = "bell::a_deadlock_is_one::a_waker_of_a_task_that_ends";
const BOTH: &str = "bell::a_deadlock_is_told::two_wait_for_each_other";
const CLOSE: &str = "bell::nobody_waits_after_the_end::a_close_beside_the_wait";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("bell::no_wake_is_missed::a_wake_beside_the_poll", a_wake_beside_the_poll,
        claim: "a thread that waits for a future, and is woken at any time, polls again, and sees what was written before that",
        size: "2 threads, 1 wake",
        invariants: [73],
        must_reach: ["polled 1", "polled 2"],
        runs: [rc11_spurious(2), loom(), sc(), tso()]),
    crate::model!("bell::no_wake_is_missed::two_wakers", two_wakers,
        claim: "of two wakes at once, of which one unparks, neither is missed",
        size: "3 threads, 2 wakes",
        invariants: [73],
        must_reach: ["polled 1", "polled 2", "polled 3"],
        runs: [rc11(), sc()]),
    crate::model!("bell::a_late_ring_harms_nobody::a_waker_outlives_the_wait", a_waker_outlives_the_wait,
        claim: "a waker that rings for what is over already costs the next wait a poll, and hides no wake from it",
        size: "2 threads, 4 wakes, 2 waits",
        invariants: [73],
        must_reach: ["polled 1, then 1", "polled 2, then 3"],
        runs: [rc11(), sc()]),
    crate::model!("bell::nobody_waits_after_the_end::a_close_beside_the_wait", a_close_beside_the_wait,
        claim: "a task that waits with its thread for what never comes ends when its runtime is shut down, before, while or \
            after it goes to sleep",
        size: "2 threads",
        invariants: [74],
        must_reach: ["None"],
        runs: [rc11_spurious(1), sc(), tso()]),
    crate::model!("bell::nobody_waits_after_the_end::a_close_beside_a_wake", a_close_beside_a_wake,
        claim: "the same beside a wake: it ends by the one or by the other",
        size: "3 threads, 1 wake",
        invariants: [73, 74],
        must_reach: ["ready", "closed"],
        runs: [rc11(), sc()]),
    crate::model!("bell::no_wake_is_missed::a_wake_in_a_task", a_wake_in_a_task,
        claim: "a task that waits with its thread is woken as any other, and gives up only if its runtime ends",
        size: "2 threads, 1 wake",
        invariants: [73, 74],
        must_reach: ["Some(1)", "Some(2)"],
        runs: [rc11(), sc()]),
    crate::model!("bell::no_wake_is_missed::a_wake_beside_the_question", a_wake_beside_the_question,
        claim: "a thread that is told that it is deadlocked, and was woken while it asked, does not give up",
        size: "2 threads, 1 wake",
        invariants: [73],
        must_reach: ["woken"],
        runs: [rc11(), sc()]),
    crate::model!("bell::nobody_waits_after_the_end::a_close_beside_two", a_close_beside_two,
        claim: "the same beside another that is listed and struck off: none is forgotten, none left",
        size: "3 threads, 2 bells",
        invariants: [74],
        must_reach: ["None"],
        runs: [rc11(), sc()]),
    crate::model!("bell::a_deadlock_is_one::a_question_and_its_answer", a_question_and_its_answer,
        claim: "a thread that was woken, and has not run yet, is none of those that wait: no deadlock is told",
        size: "2 threads, 2 wakes",
        invariants: [127],
        must_reach: ["answered"],
        runs: [rc11(), loom(), sc(), tso()]),
    crate::model!("bell::a_deadlock_is_one::a_waker_that_ends", a_waker_that_ends,
        claim: "the same if the thread that woke it has ended meanwhile: the threads that exist and those that wait are not taken for \
            the same because there are as many",
        size: "3 threads, 2 wakes",
        invariants: [127],
        must_reach: ["answered"],
        runs: [rc11(), sc()]),
    crate::model!("bell::a_deadlock_is_one::a_woken_thread_that_ends", a_woken_thread_that_ends,
        claim: "the same if the thread that was woken has ended meanwhile: it does not stand for its waker",
        size: "3 threads, 2 wakes",
        invariants: [127],
        must_reach: ["answered"],
        runs: [rc11(), sc()]),
    crate::model!("bell::a_deadlock_is_one::two_are_woken_at_once", two_are_woken_at_once,
        claim: "two that are woken at once are both out of the count",
        size: "2 threads, 2 wakes",
        invariants: [127],
        must_reach: ["none is counted"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("bell::a_deadlock_is_one::a_ring_beside_the_end_of_the_wait", a_ring_beside_the_end_of_the_wait,
        claim: "a thread that gives up, and is woken at that moment, is taken out of the count once, and the ring is not lost",
        size: "2 threads, 1 wake, 2 waits",
        invariants: [73, 127],
        must_reach: ["woken: true", "woken: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("bell::a_deadlock_is_one::a_thread_wakes_a_task", a_thread_wakes_a_task,
        claim: "the same of a task that waits with its thread, and was woken by a thread that waits now",
        size: "3 threads, 3 wakes",
        invariants: [127],
        must_reach: ["answered"],
        runs: [rc11(), sc()]),
    crate::model!("bell::a_deadlock_is_one::a_waker_of_a_task_that_ends", a_waker_of_a_task_that_ends,
        claim: "the same of a task that was woken by a thread that has ended meanwhile",
        size: "3 threads, 2 wakes",
        invariants: [127],
        must_reach: ["answered"],
        runs: [rc11(), sc()]),
    crate::model!("bell::a_deadlock_is_told::two_wait_for_each_other", two_wait_for_each_other,
        claim: "if each waits for the other, whichever comes last is told",
        size: "2 threads",
        invariants: [128],
        must_reach: ["told 1", "told 2"],
        runs: [rc11(), loom(), sc(), tso()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "bell";
    "bell-unparks-before-it-rings": "a waker unparks, and then rings",
        variant("bell-unparks-before-it-rings"), by ONE => [Rc11, Sc];
    "bell-is-taken-before-the-sleep": "the thread forgets what rang since it polled",
        variant("bell-is-taken-before-the-sleep"), by ONE => [Rc11, Sc];
    "bell-close-wakes-before-it-says": "the runtime wakes those that wait, and then says that it ends",
        variant("bell-close-wakes-before-it-says"), by CLOSE => [Rc11, Sc];
    "bell-is-never-listed": "a task that waits with its thread is not listed",
        variant("bell-is-never-listed"), by CLOSE => [Rc11, Sc];
    "bell-no-release": "a waker rings, Relaxed",
        weaken("waits/bell.rs", "pub fn ring", "swap(State::Rung, Release)"), by ONE => [Rc11], TWO => [Rc11];
    "bell-no-acquire": "the thread takes a ring, Relaxed",
        weaken("waits/bell.rs", "fn take", "swap(State::Idle, Acquire)"), by ONE => [Rc11], LATE => [Rc11];
    "bell-woken-thread-counts-until-it-runs": "a thread that waits is counted until it runs again: its waker does not take it out",
        variant("bell-woken-thread-counts-until-it-runs"), by ASKS => [Rc11, Sc];
    "bell-asks-before-it-counts": "a thread asks whether all others wait, and counts itself after that",
        variant("bell-asks-before-it-counts"), by BOTH => [Rc11, Sc];
    "at-rest-is-read-once": "the count is read once: a thread that was woken stands for the one that woke it, and has ended",
        variant("at-rest-is-read-once"), by ENDS => [Rc11, Sc];
    "at-rest-asks-the-rest-first": "what else has to be at rest is asked before the threads are counted",
        variant("at-rest-asks-the-rest-first"), by LEAVES => [Rc11, Sc];
    "at-rest-no-release": "a thread counts itself, Relaxed",
        weaken("waits/at_rest.rs", "pub fn enter", "fetch_add(CHANGE + 1, Release)"), by TASK => [Rc11];
    "at-rest-no-acquire": "the count is read, Relaxed",
        weaken("waits/at_rest.rs", "pub fn are_all", "load(Acquire)"), by TASK => [Rc11];
};
