//! Models of a task's life: who polls it, who gets its output, who frees it. The threads share nothing but the task.

use crate::harness::common::party;
use crate::harness::task::Tiny;
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, sc};
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

/// Its handle is asked by two wakers in turn, and let go, while it ends.
fn a_handle_changes_its_mind<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(1, 0);
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, &[0, 1, 2]));
    task.run_mine();
    task.wake(0);
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

/// It waits, and nobody can wake it: its handle is dropped meanwhile.
fn nobody_can_wake_it<H: ModelHost>() -> String {
    let (task, handle) = Tiny::<H>::new(1, 0);
    let joiner = party::<H, _, _>("joiner", &task, |task| task.ask_and_detach(handle, &[]));
    let waker = party::<H, _, _>("waker", &task, Tiny::drop_waker);
    task.run_mine();
    H::join(joiner);
    H::join(waker);
    task.check_at_rest(0)
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
    let joiner = party::<H, _, _>("joiner", &task, |task| task.join(handle, 0));
    task.close(|| H::join(waker));
    let got = H::join(joiner);
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

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("task::no_wake_is_lost::a_wake_beside_run", a_wake_beside_run,
        claim: "a task that is woken while it is polled, or before, or after, is polled again and ends; who awaits it gets the \
            output, once",
        size: "2 threads, 1 waker",
        invariants: [53, 54, 55, 56],
        must_reach: ["Output, polled 1, wakers [None]", "Output, polled 2, wakers [Some(Woken)]"],
        runs: [rc11(), sc()]),
    crate::model!("task::no_wake_is_lost::two_wakers_beside_run", two_wakers_beside_run,
        claim: "of two wakes at once none is lost, and the future is polled by one thread at a time",
        size: "3 threads, 2 wakers, no handle",
        invariants: [53, 54, 56],
        must_reach: ["polled 1", "polled 2", "polled 3"],
        runs: [rc11(), sc()]),
    crate::model!("task::no_wake_is_lost::a_wake_beside_yields", a_wake_beside_yields,
        claim: "a task that wakes itself is polled again, without a step of its word; a wake that comes meanwhile is not lost",
        size: "2 threads, 1 waker, 2 yields",
        invariants: [53, 54, 55, 56],
        must_reach: ["Output, polled 3, wakers [None]", "Output, polled 4"],
        runs: [rc11(), sc()]),
    crate::model!("task::an_output_is_taken_or_dropped_once::a_handle_changes_its_mind", a_handle_changes_its_mind,
        claim: "a handle that is asked by one waker and then by another, and let go, while the task ends: each waker is woken \
            or dropped, once, and so is the output",
        size: "2 threads, 3 wakers of the handle's",
        invariants: [53, 55, 56],
        must_reach: ["Some(Output), polled 2, wakers [None, None, None]",
            "None, polled 2, wakers [Some(Dropped), Some(Dropped), Some(Dropped)]",
            "None, polled 2, wakers [Some(Dropped), Some(Dropped), Some(Woken)]"],
        runs: [rc11(), sc()]),
    crate::model!("task::an_output_is_taken_or_dropped_once::a_handle_is_dropped_beside_the_end", a_handle_is_dropped,
        claim: "a handle that is let go while the task ends: one of the two drops the output, and one frees the task",
        size: "2 threads",
        invariants: [53, 55, 56],
        must_reach: ["Some(Output), polled 1, wakers [None]", "None, polled 1, wakers [Some(Woken)]",
            "None, polled 1, wakers [Some(Dropped)]"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_task_is_freed_once::the_waker_is_last", the_waker_is_last,
        claim: "a waker outlives the handle and the run: whoever is last frees the task, after all that the others did with it",
        size: "2 threads, 2 wakers",
        invariants: [53, 54, 56],
        must_reach: ["Output, polled 1", "Output, polled 2"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_task_is_freed_once::nobody_can_wake_it", nobody_can_wake_it,
        claim: "a task that waits, and whose wakers and handle are all dropped, is dropped and freed, by whoever is last",
        size: "3 threads, 1 waker",
        invariants: [53, 56],
        must_reach: ["polled 1", "polled 0"],
        runs: [rc11(), sc()]),
    crate::model!("task::an_aborted_task_ends::an_abort_beside_a_wake", an_abort_beside_a_wake,
        claim: "a task that is aborted while it is polled or woken ends: with its output, or, its future dropped, without",
        size: "3 threads, 2 wakers",
        invariants: [53, 55, 56],
        must_reach: ["Output", "Aborted"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_wake_after_the_end_drops_nothing::a_wake_beside_the_end", a_wake_beside_the_end,
        claim: "a wake after the runtime's end leaves the task as it was: its future is dropped by who ends the runtime, or was \
            polled to its end before",
        size: "3 threads, 2 wakers",
        invariants: [53, 55, 56, 57],
        must_reach: ["Output", "Dropped"],
        runs: [rc11(), sc()]),
    crate::model!("task::a_wake_after_the_end_drops_nothing::a_wake_beside_its_last_run", a_wake_beside_its_last_run,
        claim: "a task that is run once where nobody runs it again ends there, whoever wakes it meanwhile",
        size: "3 threads, 1 waker",
        invariants: [53, 55, 56, 57],
        must_reach: ["Some(Output)", "Some(Dropped)", "None"],
        runs: [rc11(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "task";
};
