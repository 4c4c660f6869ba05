//! Models of a scope: the lender waits until no task has what was borrowed, and sees all that was done.

use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::scope::{self as steps, ThreadScope, ThreadTask};
use std::sync::Arc;
use std::task::Poll;

/// What is lent: to each task a cell to work on, and one that its destructor touches.
struct Lent<H: ModelHost> {
    work: [H::Cell<u64>; 2],
    dropped: [H::Cell<u64>; 2],
}

impl<H: ModelHost> Lent<H> {
    fn new() -> Arc<Self> {
        let cells = || [(); 2].map(|()| Cell::new(0));
        Arc::new(Lent { work: cells(), dropped: cells() })
    }

    /// The borrows are over: all is seen, and no task touches it while it is written to. How often each was run.
    fn is_mine_again(&self, tasks: usize) -> [u64; 2] {
        let read = |cells: &[H::Cell<u64>; 2]| [cells[0].get(), cells[1].get()];
        let (worked, dropped) = (read(&self.work), read(&self.dropped));
        let once = [1, u64::from(tasks == 2)];
        assert!(dropped == once, "the wait is over, and of {once:?} contents {dropped:?} were dropped");
        self.work.iter().chain(&self.dropped).for_each(|cell| cell.set(9));
        worked
    }
}

/// What a task runs: touches what it borrowed, and waits so many times.
struct Borrows<H: ModelHost> {
    lent: Arc<Lent<H>>,
    n: usize,
    waits: usize,
}

impl<H: ModelHost> Borrows<H> {
    fn new(lent: &Arc<Lent<H>>, n: usize, waits: usize) -> Self {
        Borrows { lent: Arc::clone(lent), n, waits }
    }

    fn run(&mut self) -> Poll<()> {
        let work = &self.lent.work[self.n];
        work.set(work.get() + 1);
        match self.waits {
            0 => Poll::Ready(()),
            _ => {
                self.waits -= 1;
                Poll::Pending
            }
        }
    }
}

impl<H: ModelHost> Drop for Borrows<H> {
    fn drop(&mut self) {
        let dropped = &self.lent.dropped[self.n];
        dropped.set(dropped.get() + 1);
    }
}

type Of<H> = ThreadScope<H, Borrows<H>>;
type Task<H> = ThreadTask<H, Borrows<H>>;

/// A thread that runs a task, once.
fn runs<H: ModelHost>(name: &'static str, scope: &Arc<Of<H>>, task: Arc<Task<H>>) -> H::Thread<()> {
    let scope = Arc::clone(scope);
    H::fork(name, move || {
        let _ = steps::run(&scope, &task, Borrows::run);
    })
}

/// Two run beside the wait.
fn two_run<H: ModelHost>() -> String {
    let (lent, scope) = (Lent::<H>::new(), Of::<H>::new());
    let one = runs("runner", &scope, steps::begin(&scope, Borrows::new(&lent, 0, 0)));
    let other = runs("other runner", &scope, steps::begin(&scope, Borrows::new(&lent, 1, 0)));
    let waited = steps::wait(&scope);
    assert!(lent.is_mine_again(2) == [1, 1], "both have run");
    H::join(one);
    H::join(other);
    format!("waited: {waited}")
}

/// One waits for something, and goes on on another thread.
fn one_moves<H: ModelHost>() -> String {
    let (lent, scope) = (Lent::<H>::new(), Of::<H>::new());
    let task = steps::begin(&scope, Borrows::new(&lent, 0, 1));
    assert!(steps::run(&scope, &task, Borrows::run).is_pending(), "it waits once");
    let runner = runs("runner", &scope, task);
    let waited = steps::wait(&scope);
    assert!(lent.is_mine_again(1) == [2, 0], "it has run twice");
    H::join(runner);
    format!("waited: {waited}")
}

/// A task begins another.
fn one_begins_another<H: ModelHost>() -> String {
    let (lent, scope) = (Lent::<H>::new(), Of::<H>::new());
    let task = steps::begin(&scope, Borrows::new(&lent, 0, 0));
    let of_runner = Arc::clone(&scope);
    let runner = H::fork("runner", move || {
        let mut begun = None;
        let _ = steps::run(&of_runner, &task, |first| {
            begun = Some(steps::begin(&of_runner, Borrows::new(&first.lent, 1, 0)));
            first.run()
        });
        let _ = steps::run(&of_runner, &begun.expect("it was begun"), Borrows::run);
    });
    let waited = steps::wait(&scope);
    assert!(lent.is_mine_again(2) == [1, 1], "both have run");
    H::join(runner);
    format!("waited: {waited}")
}

/// It is ended while a task runs, that would wait and never go on.
fn ended_beside_a_run<H: ModelHost>() -> String {
    let (lent, scope) = (Lent::<H>::new(), Of::<H>::new());
    let runner = runs("runner", &scope, steps::begin(&scope, Borrows::new(&lent, 0, 9)));
    scope.end();
    let waited = steps::wait(&scope);
    let worked = lent.is_mine_again(1);
    H::join(runner);
    format!("ran: {}, waited: {waited}", worked[0])
}

/// It is ended while a task begins another, which never runs.
fn ended_beside_a_begin<H: ModelHost>() -> String {
    let (lent, scope) = (Lent::<H>::new(), Of::<H>::new());
    let task = steps::begin(&scope, Borrows::new(&lent, 0, 0));
    let of_runner = Arc::clone(&scope);
    let runner = H::fork("runner", move || {
        let _ = steps::run(&of_runner, &task, |first| {
            steps::begin(&of_runner, Borrows::new(&first.lent, 1, 0));
            first.run()
        });
    });
    scope.end();
    let waited = steps::wait(&scope);
    let left = [0, 1].map(|n| lent.dropped[n].get());
    let _ = lent.is_mine_again(left.iter().sum::<u64>() as usize);
    H::join(runner);
    format!("dropped: {left:?}, waited: {waited}")
}

const TWO: &str = "scope::nothing_is_borrowed_after::two_run";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("scope::nothing_is_borrowed_after::two_run", two_run,
        claim: "a lender to two tasks goes on when both have dropped what they had, and sees what they did",
        size: "3 threads, 2 tasks",
        invariants: [110],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("scope::nothing_is_borrowed_after::one_moves", one_moves,
        claim: "a task that waits and goes on on another thread is waited for",
        size: "2 threads, 1 task that runs twice",
        invariants: [110],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("scope::nothing_is_borrowed_after::one_begins_another", one_begins_another,
        claim: "a task that is begun by another of the same scope is waited for",
        size: "2 threads, 2 tasks",
        invariants: [110],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("scope::an_early_end_leaves_none::beside_a_run", ended_beside_a_run,
        claim: "a task that runs while its scope is ended is dropped once, by the thread that runs it or the one that \
                ends it",
        size: "2 threads, 1 task",
        invariants: [119],
        must_reach: ["ran: 0, waited: false", "ran: 1, waited: true", "ran: 1, waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("scope::an_early_end_leaves_none::beside_a_begin", ended_beside_a_begin,
        claim: "a task that is begun while its scope is ended is dropped, although it never runs",
        size: "2 threads, 2 tasks",
        invariants: [119],
        must_reach: ["dropped: [1, 0], waited: false", "dropped: [1, 1], waited: false", "dropped: [1, 1], waited: true"],
        runs: [rc11(), loom(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "scope";
    "scope-counts-before-it-drops": "a task that is ready is counted down, and then drops what it has",
        variant("counts-before-it-drops"), by TWO => [Sc, Rc11];
    "scope-counts-when-it-runs": "a task is counted when it runs, not before it is queued",
        variant("counts-when-it-runs"), by TWO => [Sc, Rc11];
    "scope-puts-it-back-unasked": "a thread that has run a task puts it back, although the scope is ended",
        variant("puts-it-back-unasked"), by "scope::an_early_end_leaves_none::beside_a_run" => [Sc, Rc11];
    "scope-lists-after-the-end": "a task that is begun after the end is listed as any other",
        variant("lists-after-the-end"), by "scope::an_early_end_leaves_none::beside_a_begin" => [Sc, Rc11];
};
