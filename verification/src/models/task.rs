//! Models of a task's life: which thread polls it, gets its output, frees it. The threads share nothing but the task.

use crate::harness::common::party;
use crate::harness::task::Tiny;
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, rc11_cut, sc};
use crate::mutation::mutant::Mutant;

/// The thread that made the task runs it, and awaits it; another wakes it.
fn a_wake_beside_run<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(1, 0);
    let waker = party::<H, _, _>("waker", &task, |task| task.wake(0));
    task.run_mine();
    let got = task.join(handle, 0);
    H::join(waker);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// Two wake it, one by reference.
fn two_wakers_beside_run<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(2, 0);
    let one = party::<H, _, _>("waker", &task, |task| task.wake(0));
    let two = party::<H, _, _>("other waker", &task, |task| task.wake_by_ref(1));
    task.ask_and_detach(handle, &[]);
    task.run_mine();
    H::join(one);
    H::join(two);
    task.check_at_rest(0)
}

/// It yields, and is woken meanwhile.
fn a_wake_beside_yields<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(1, 2);
    let waker = party::<H, _, _>("waker", &task, |task| task.wake_by_ref(0));
    task.run_mine();
    let got = task.join(handle, 0);
    H::join(waker);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// Its handle is asked by some wakers in turn, and let go, while it ends.
fn a_handle_asks<H: ModelHost>(by: &'static [u64]) -> String {
    let (task, handle) = Tiny::<H>::new(1, 0);
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, by));
    task.run_mine();
    task.wake(0);
    let got = H::join(joiner);
    format!("{got:?}, {}", task.check_at_rest(by.len()))
}

fn a_handle_changes_its_mind<H: ModelHost>() -> String {
    a_handle_asks::<H>(&[0, 1])
}

fn a_handle_changes_its_mind_twice<H: ModelHost>() -> String {
    a_handle_asks::<H>(&[0, 1, 2])
}

/// Its handle has been asked by two wakers, and is asked by a third while it ends: the slot looks as it did. The word's exchange
/// alone says that it stands for the third.
fn a_third_waker_beside_the_end<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(0, 0);
    (0..2).for_each(|joiner| task.ask(&handle, joiner));
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, &[2]));
    task.run_mine();
    let got = H::join(joiner);
    format!("{got:?}, {}", task.check_at_rest(3))
}

/// The handle is dropped while the task ends.
fn a_handle_is_dropped<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(0, 0);
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, &[0]));
    task.run_mine();
    let got = H::join(joiner);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// A waker outlives all else.
fn the_waker_is_last<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(1, 0);
    let waker = party::<H, _, _>("waker", &task, |task| {
        task.clone_waker();
        task.wake(0);
        task.wake_by_ref(0);
    });
    task.run_mine();
    let got = task.join(handle, 0);
    H::join(waker);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// It waits, and no waker is left: its handle is dropped meanwhile.
fn nobody_can_wake_it<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(1, 0);
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, &[]));
    let waker = party::<H, _, _>("waker", &task, Tiny::drop_waker);
    task.run_mine();
    H::join(joiner);
    H::join(waker);
    format!("dropped by {}, {}", task.dropped_by(), task.check_at_rest(0))
}

/// It is aborted, and woken.
fn an_abort_beside_a_wake<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(2, 0);
    task.run_mine();
    let one = party::<H, _, _>("waker", &task, |task| task.wake(0));
    let two = party::<H, _, _>("other waker", &task, |task| task.wake(1));
    task.abort();
    let got = task.join(handle, 0);
    H::join(one);
    H::join(two);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// Its runtime ends while it is woken.
fn a_wake_beside_the_end<H: ModelHost>() -> String {
    // A second, which never wakes it, or none.
    let wakers = 1 + H::choose(2);

    let (task, handle) = Tiny::<H>::that_is_closed(wakers);
    if wakers == 1 {
        task.clone_waker();
    }
    task.run_mine();
    let waker = party::<H, _, _>("waker", &task, |task| task.wake(0));
    let waker = task.close(waker);
    let got = task.join(handle, 0);
    waker.map(H::join);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// Its runtime has ended; it is woken, and its handle says meanwhile whom to wake.
fn a_handle_beside_a_late_wake<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::that_is_closed(1);
    task.clone_waker();
    task.run_mine();
    task.end();
    let waker = party::<H, _, _>("waker", &task, |task| task.wake(0));
    task.ask(&handle, 0);
    let waker = task.close(waker);
    task.check_woken(0);
    let was_busy = waker.is_none();
    let got = task.join(handle, 0);
    waker.map(H::join);
    format!("{got:?}, busy {was_busy}, {}", task.check_at_rest(1))
}

/// The same, while another awaits its handle.
fn a_joiner_beside_the_end<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::that_is_closed(1);
    task.clone_waker();
    task.run_mine();
    let waker = party::<H, _, _>("waker", &task, |task| task.wake(0));
    let joiner = party::<H, _, _>("joiner", &task, |task| task.join(handle, 0));
    let waker = task.close(waker);
    let got = H::join(joiner);
    waker.map(H::join);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// It was given back by a runtime that has ended, and is run once.
fn a_wake_beside_its_last_run<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::that_is_closed(1);
    let waker = party::<H, _, _>("waker", &task, |task| task.wake(0));
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, &[0]));
    task.run_last();
    H::join(waker);
    let got = H::join(joiner);
    format!("{got:?}, {}", task.check_at_rest(1))
}

/// The models' names, where mutants name them.
const WAKE: &str = "task::no_wake_is_lost::a_wake_beside_run";
const TWO_WAKERS: &str = "task::no_wake_is_lost::two_wakers_beside_run";
const YIELDS: &str = "task::no_wake_is_lost::a_wake_beside_yields";
const DROPPED_HANDLE: &str = "task::an_output_is_taken_or_dropped_once::a_handle_is_dropped_beside_the_end";
const LAST_WAKER: &str = "task::a_task_is_freed_once::the_waker_is_last";
const CHANGING_HANDLE: &str = "task::an_output_is_taken_or_dropped_once::a_handle_changes_its_mind";
const ABORT: &str = "task::an_aborted_task_ends::an_abort_beside_a_wake";
const END: &str = "task::a_wake_after_the_end_drops_nothing::a_wake_beside_the_end";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("task::no_wake_is_lost::a_wake_beside_run", a_wake_beside_run,
        claim: "a task that is woken while it is polled, or before, or after, is polled again and ends; its joiner \
            gets the output, once",
        size: "2 threads, 1 waker",
        invariants: [53, 54, 55, 56],
        must_reach: ["Output, polled 1, wakers [None]", "Output, polled 2, wakers [Some(Woken)]"],
        runs: [rc11(), sc()]),
    crate::model!("task::no_wake_is_lost::two_wakers_beside_run", two_wakers_beside_run,
        claim: "of two wakes at once none is lost, and the future is polled by one thread at a time",
        size: "3 threads, 2 wakers, no handle",
        invariants: [53, 54, 56],
        must_reach: ["polled 1", "polled 2", "polled 3"],
        runs: [rc11()]),
    crate::model!("task::no_wake_is_lost::a_wake_beside_yields", a_wake_beside_yields,
        claim: "a task that wakes itself is polled again, without a step of its word; a wake that comes meanwhile is not lost",
        size: "2 threads, 1 waker, 2 yields",
        invariants: [53, 54, 55, 56],
        must_reach: ["Output, polled 3, wakers [None]", "Output, polled 4"],
        runs: [rc11(), sc()]),
    crate::model!("task::an_output_is_taken_or_dropped_once::a_handle_changes_its_mind", a_handle_changes_its_mind,
        claim: "a handle that is asked by one waker and then by another, and let go, while the task ends: each waker is woken \
            or dropped, once, and so is the output",
        size: "2 threads, 2 wakers of the handle's",
        invariants: [53, 55, 56],
        must_reach: ["Some(Output), polled 2, wakers [None, None]", "None, polled 2, wakers [Some(Dropped), Some(Dropped)]",
            "None, polled 2, wakers [Some(Dropped), Some(Woken)]"],
        runs: [rc11()]),
    crate::model!("task::an_output_is_taken_or_dropped_once::a_handle_changes_its_mind_twice", a_handle_changes_its_mind_twice,
        claim: "the same by three wakers: the slot may look as it did, and stand for another",
        size: "2 threads, 3 wakers of the handle's",
        invariants: [53, 55, 56],
        must_reach: [],
        runs: [rc11_cut()]),
    crate::model!("task::an_output_is_taken_or_dropped_once::a_third_waker_beside_the_end", a_third_waker_beside_the_end,
        claim: "a handle that two wakers have asked is asked by a third while the task ends: it is the third that is woken, or \
            dropped",
        size: "2 threads, 3 wakers of the handle's",
        invariants: [53, 55, 56],
        must_reach: ["None, polled 1, wakers [Some(Dropped), Some(Dropped), Some(Woken)]",
            "None, polled 1, wakers [Some(Dropped), Some(Dropped), Some(Dropped)]"],
        runs: [rc11()]),
    crate::model!("task::an_output_is_taken_or_dropped_once::a_handle_is_dropped_beside_the_end", a_handle_is_dropped,
        claim: "a handle that is let go while the task ends: one of the two drops the output, and one frees the task",
        size: "2 threads",
        invariants: [53, 55, 56],
        must_reach: ["Some(Output), polled 1, wakers [None]", "None, polled 1, wakers [Some(Woken)]",
            "None, polled 1, wakers [Some(Dropped)]"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_task_is_freed_once::the_waker_is_last", the_waker_is_last,
        claim: "a waker outlives the handle and the run: the last frees the task, after all that the others did with \
                it",
        size: "2 threads, 2 wakers",
        invariants: [53, 54, 56],
        must_reach: ["Output, polled 1", "Output, polled 2"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_task_is_freed_once::nobody_can_wake_it", nobody_can_wake_it,
        claim: "a task that waits, and whose wakers and handle are all dropped, is dropped and freed, by the last",
        size: "3 threads, 1 waker",
        invariants: [53, 56],
        must_reach: ["dropped by 0", "dropped by 1", "dropped by 2"],
        runs: [rc11(), sc()]),
    crate::model!("task::an_aborted_task_ends::an_abort_beside_a_wake", an_abort_beside_a_wake,
        claim: "a task that is aborted while it is polled or woken ends: with its output, or, its future dropped, without",
        size: "3 threads, 2 wakers",
        invariants: [53, 55, 56],
        must_reach: ["Output", "Aborted"],
        runs: [rc11()]),
    crate::model!("task::a_wake_after_the_end_drops_nothing::a_wake_beside_the_end", a_wake_beside_the_end,
        claim: "a wake after the runtime's end leaves the task as it was: its future is dropped by the closer of the \
            runtime, or was polled to its end before",
        size: "2 threads, 2 wakers",
        invariants: [53, 55, 56, 57],
        must_reach: ["Output", "Dropped"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_wake_after_the_end_drops_nothing::a_handle_beside_a_late_wake", a_handle_beside_a_late_wake,
        claim: "a handle that says whom to wake, while a wake finds the runtime ended, has it woken by the closer of \
                the runtime",
        size: "2 threads, 2 wakers",
        invariants: [53, 55, 56, 57],
        must_reach: ["Dropped, busy false", "Dropped, busy true"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_wake_after_the_end_drops_nothing::a_joiner_beside_the_end", a_joiner_beside_the_end,
        claim: "a joiner of a task whose runtime ends, and that is woken, learns how it ended",
        size: "3 threads, 2 wakers",
        invariants: [53, 55, 56, 57],
        must_reach: ["Output, polled 2, wakers [Some(Woken)]", "Dropped, polled 1, wakers [Some(Woken)]"],
        runs: [rc11()]),
    crate::model!("task::a_wake_after_the_end_drops_nothing::a_wake_beside_its_last_run", a_wake_beside_its_last_run,
        claim: "a task that is run once where it is not run again ends there, though it is woken meanwhile",
        size: "3 threads, 1 waker",
        invariants: [53, 55, 56, 57],
        must_reach: ["Some(Output)", "Some(Dropped)", "None"],
        runs: [rc11()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "task";
    "task-wake-relaxed": "a wake is Relaxed", weaken("task/word.rs", "fn wake(", "compare_exchange"),
        by WAKE => [Rc11], TWO_WAKERS => [Rc11];
    "task-start-relaxed": "a poll that finds a wake takes it Relaxed", weaken("task/word.rs", "fn start(", "fetch_sub"),
        by WAKE => [Rc11];
    "task-wait-relaxed": "a task that waits leaves its future Relaxed",
        weaken("task/word.rs", "fn wait(", "compare_exchange"), by WAKE => [Rc11];
    "task-complete-relaxed": "a task is completed Relaxed", weaken("task/word.rs", "fn complete(", "compare_exchange"),
        by WAKE => [Rc11];
    "task-view-relaxed": "a handle looks at the word Relaxed", weaken("task/word.rs", "pub fn view(", "load("),
        by WAKE => [Rc11];
    "task-put-back-relaxed": "a wake that finds the runtime ended leaves the task Relaxed",
        weaken("task/word.rs", "fn put_back(", "compare_exchange"), by END => [Rc11];
    "task-close-relaxed": "the closer of the runtime takes a task's future Relaxed",
        weaken("task/word.rs", "fn close(", "compare_exchange"), by END => [Rc11];
    "task-abort-relaxed": "a thread that aborts a task takes its future Relaxed",
        weaken("task/word.rs", "fn abort(", "compare_exchange"), by ABORT => [Rc11];
    "task-leave-relaxed": "the M that has completed a task, and read its joiner, leaves it Relaxed",
        weaken("task/word.rs", "fn leave(", "fetch_sub"), by CHANGING_HANDLE => [Rc11];
    "task-withdraw-relaxed": "a handle that takes its waker back finds the task complete, Relaxed",
        weaken_failure("task/word.rs", "fn withdraw(", "compare_exchange"), by CHANGING_HANDLE => [Rc11];
    "task-drop-waker-relaxed": "a waker is dropped Relaxed", weaken("task/word.rs", "fn drop_waker(", "fetch_sub"),
        by LAST_WAKER => [Rc11];
    "task-offer-relaxed": "a handle says Relaxed whom to wake", weaken("task/word.rs", "fn offer(", "compare_exchange"),
        by DROPPED_HANDLE => [Rc11];
    "task-offer-finds-it-complete-relaxed": "a handle that says whom to wake finds the task complete, Relaxed",
        weaken_failure("task/word.rs", "fn offer(", "compare_exchange"), by DROPPED_HANDLE => [Rc11];
    "task-detach-relaxed": "a handle is dropped Relaxed", weaken("task/word.rs", "fn detach(", "compare_exchange"),
        by DROPPED_HANDLE => [Rc11];
    "task-forgets-that-it-woke-itself": "a task that wakes itself while it is polled is taken for one that waits",
        variant("forgets-that-it-woke-itself"), by YIELDS => [Sc, Rc11];
    "task-drops-what-is-woken-while-polled": "a task that is woken while it is polled is dropped",
        variant("task-drops-what-is-woken-while-polled"), by WAKE => [Rc11, Sc], TWO_WAKERS => [Rc11];
    "task-counts-its-references-before-its-wakes": "a task that is woken while it is polled, by the last that could, is dropped",
        variant("task-counts-its-references-before-its-wakes"), by TWO_WAKERS => [Rc11];
    "task-drops-where-it-is-woken": "a wake that finds the runtime ended drops the future, there (async-task 4.7)",
        variant("drops-where-it-is-woken"), by END => [Sc, Rc11];
};
