//! Models of a goroutine that is suspended while it is woken. Its stack is memory like any other: two threads on it are a race.

use crate::harness::common::party;
use crate::harness::goroutine::Stackful;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, rc11, sc, sc_cut};
use crate::mutation::mutant::Mutant;

/// It is woken between its poll and the moment when its stack is left, or before, or after.
fn a_wake_beside_the_suspend<H: ModelHost>() -> String {
    main_plays("M");
    let goroutine = Stackful::<H>::new(1);
    let waker = party::<H, _, _>("waker", &goroutine, |goroutine| goroutine.wake(0));
    goroutine.run_mine();
    H::join(waker);
    goroutine.check_at_rest()
}

/// Two wake it, and the one that may runs it.
fn two_wakes_beside_the_suspend<H: ModelHost>() -> String {
    main_plays("M");
    let goroutine = Stackful::<H>::new(2);
    let one = party::<H, _, _>("waker", &goroutine, |goroutine| goroutine.wake(0));
    let two = party::<H, _, _>("other waker", &goroutine, |goroutine| goroutine.wake(1));
    goroutine.run_mine();
    H::join(one);
    H::join(two);
    goroutine.check_at_rest()
}

/// It is aborted as it is suspended, and woken.
fn an_abort_beside_the_suspend<H: ModelHost>() -> String {
    main_plays("M");
    let goroutine = Stackful::<H>::new(1);
    goroutine.clone_waker();
    let waker = party::<H, _, _>("waker", &goroutine, |goroutine| goroutine.wake(0));
    let aborter = party::<H, _, _>("aborter", &goroutine, |goroutine| {
        goroutine.abort();
        goroutine.drop_waker();
    });
    goroutine.run_mine();
    H::join(waker);
    H::join(aborter);
    goroutine.check_at_rest()
}

const ONE: &str = "goroutine::a_stack_has_one_thread::a_wake_beside_the_suspend";
const TWO: &str = "goroutine::a_stack_has_one_thread::two_wakes_beside_the_suspend";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("goroutine::a_stack_has_one_thread::a_wake_beside_the_suspend", a_wake_beside_the_suspend,
        claim: "a goroutine that is woken when others know its waker, and its stack is not left yet, is run again after that, \
            by one thread, which finds the stack as it was left",
        size: "2 threads, 1 wake",
        invariants: [53, 54, 81],
        must_reach: ["changed stacks 2 times", "changed stacks 4 times"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("goroutine::a_stack_has_one_thread::two_wakes_beside_the_suspend", two_wakes_beside_the_suspend,
        claim: "the same with two wakes, and three threads that may run it",
        size: "3 threads, 2 wakes",
        invariants: [53, 54, 81],
        must_reach: ["changed stacks 2 times", "changed stacks 4 times", "changed stacks 6 times"],
        runs: [rc11(), sc_cut()]),
    crate::model!("goroutine::a_stack_has_one_thread::an_abort_beside_the_suspend", an_abort_beside_the_suspend,
        claim: "a goroutine that is aborted as it is suspended or woken is unwound by a thread that is alone on its stack, or \
            comes to its end",
        size: "3 threads, 1 wake, 1 abort",
        invariants: [53, 54, 81],
        must_reach: ["changed stacks 0 times", "changed stacks 2 times", "changed stacks 4 times", "changed stacks 6 times"],
        runs: [rc11(), sc_cut()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "goroutine";
    "goroutine-waits-before-it-has-left-its-stack": "the task waits, and then the thread leaves the goroutine's stack",
        variant("goroutine-waits-before-it-has-left-its-stack"), by ONE => [Rc11, Sc];
    "goroutine-is-run-by-whoever-wakes-it": "a waker of a goroutine runs it, without a look at its state",
        variant("goroutine-is-run-by-whoever-wakes-it"), by ONE => [Rc11, Sc];
    "goroutine-keeps-the-waker-of-its-last-thread": "an M that resumes a goroutine leaves the frame's waker as it is",
        variant("goroutine-keeps-the-waker-of-its-last-thread"), by ONE => [Rc11, Sc];
    "goroutine-drops-what-is-woken-while-polled": "a goroutine that is woken before its stack is left is unwound",
        variant("task-drops-what-is-woken-while-polled"), by ONE => [Rc11, Sc], TWO => [Rc11];
    "goroutine-counts-its-references-before-its-wakes": "the same, if it was woken by the last that could",
        variant("task-counts-its-references-before-its-wakes"), by ONE => [Rc11, Sc], TWO => [Rc11];
    "goroutine-stack-without-release": "a task that waits publishes nothing",
        weaken("task/word.rs", "pub(super) fn wait(", "compare_exchange(word, word & !ACTIVE, Release, Relaxed)"),
        by ONE => [Rc11], TWO => [Rc11];
};
