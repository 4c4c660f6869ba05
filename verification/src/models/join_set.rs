//! Models of a `JoinSet`: each task that ends is joined once, and the joiner sees what it did.

use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::join_set::{self as steps, Set};
use std::sync::Arc;

/// A set, and what its tasks did.
struct Tiny<H: ModelHost> {
    set: Set<H>,
    work: Arc<[H::Cell<u64>; 3]>,
}

impl<H: ModelHost> Tiny<H> {
    fn new() -> Self {
        Tiny { set: Set::<H>::new(), work: Arc::new([(); 3].map(|()| Cell::new(0))) }
    }

    /// Task `n`, a thread: works, and ends.
    fn spawn(&mut self, n: usize) -> H::Thread<()> {
        let (work, mut thread) = (Arc::clone(&self.work), None);
        self.set.insert(|list, number| {
            let list = Arc::clone(list);
            thread = Some(H::fork(["task", "other task", "third task"][n], move || {
                work[n].set(n as u64 + 1);
                steps::put(&list, number);
            }));
            n
        });
        thread.expect("it was begun")
    }

    /// The next that ends; adds whether the joiner had to wait.
    fn join(&mut self, waited: &mut bool) -> Option<usize> {
        let joined = steps::next(&mut self.set, || *waited = true);
        joined.into_iter().for_each(|n| self.saw(n));
        joined
    }

    fn saw(&self, n: usize) {
        let done = self.work[n].get();
        assert!(done == n as u64 + 1, "task {n} was joined, and what it did is not seen: {done}");
    }
}

/// One ends while it is joined.
fn the_last_beside_the_sleep<H: ModelHost>() -> String {
    let mut tiny = Tiny::<H>::new();
    let task = tiny.spawn(0);
    let mut waited = false;
    assert!(tiny.join(&mut waited) == Some(0), "the one that there is is joined");
    assert!(tiny.join(&mut waited).is_none(), "one was joined twice");
    H::join(task);
    format!("waited: {waited}")
}

/// Two end at once.
fn two_end<H: ModelHost>() -> String {
    let mut tiny = Tiny::<H>::new();
    let tasks = [tiny.spawn(0), tiny.spawn(1)];
    let mut waited = [false; 2];
    let joined = [tiny.join(&mut waited[0]), tiny.join(&mut waited[1])];
    assert!(tiny.set.is_empty(), "both were joined, and one is left");
    tasks.into_iter().for_each(H::join);
    format!("joined: {joined:?}, waited: {waited:?}")
}

/// The joiner gives up, and joins again as another task.
fn the_joiner_changes<H: ModelHost>() -> String {
    let mut tiny = Tiny::<H>::new();
    let task = tiny.spawn(0);
    let sleeper = Sleeper::<H>::new();
    let at_once = steps::poll(&mut tiny.set, &mut sleeper.lender()).is_ready();
    if at_once {
        tiny.saw(0);
    }
    let mut waited = false;
    let joined = tiny.join(&mut waited);
    assert!(joined.is_none() == at_once, "the one that there is was joined twice, or never");
    H::join(task);
    format!("at once: {at_once}, waited: {waited}")
}

/// One is let go, and ends while another has its number.
fn one_is_let_go<H: ModelHost>() -> String {
    let mut tiny = Tiny::<H>::new();
    let of_before = tiny.spawn(0);
    assert!(steps::let_all_go(&mut tiny.set) == 1, "there was one");
    let task = tiny.spawn(1);
    let mut waited = false;
    assert!(tiny.join(&mut waited) == Some(1), "the one that there is is joined");
    assert!(tiny.join(&mut waited).is_none(), "one was joined that had been let go");
    H::join(of_before);
    H::join(task);
    format!("waited: {waited}")
}

const LAST: &str = "join_set::each_is_joined_once::the_last_beside_the_sleep";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("join_set::each_is_joined_once::the_last_beside_the_sleep", the_last_beside_the_sleep,
        claim: "the last task ends while its joiner goes to sleep: it is joined, and what it did is seen",
        size: "2 threads, 1 task",
        invariants: [107],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("join_set::each_is_joined_once::two_end", two_end,
        claim: "of two tasks that end at once each is joined once, in the order of ending",
        size: "3 threads, 2 tasks",
        invariants: [107],
        must_reach: ["joined: [Some(0), Some(1)], waited: [true, true]", "joined: [Some(1), Some(0)], waited: [true, false]",
            "joined: [Some(0), Some(1)], waited: [false, false]"],
        // Not loom: it ends by an assertion of its own about a thread that parks twice.
        runs: [rc11(), sc()]),
    crate::model!("join_set::each_is_joined_once::the_joiner_changes", the_joiner_changes,
        claim: "a join that was given up wakes no task in another's stead: the last joiner is woken",
        size: "2 threads, 1 task, 2 joiners, one after the other",
        invariants: [107],
        must_reach: ["at once: true, waited: false", "at once: false, waited: true", "at once: false, waited: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("join_set::each_is_joined_once::one_is_let_go", one_is_let_go,
        claim: "a task that was let go is not taken for the one that has its number now",
        size: "3 threads, 2 tasks, 1 number",
        invariants: [107],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), loom(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "join_set";
    "join-set-looks-then-leaves-its-waker": "the joiner finds nothing, and leaves its waker under another lock",
        variant("looks-then-leaves-its-waker"), by LAST => [Sc, Rc11];
    "join-set-wakes-before-it-puts": "a task that ends wakes the joiner, and says after that that it has ended",
        variant("wakes-before-it-puts"), by LAST => [Sc, Rc11];
    "join-set-keeps-the-first-waker": "a joiner that comes after another leaves that one's waker there",
        variant("keeps-the-first-waker"), by "join_set::each_is_joined_once::the_joiner_changes" => [Sc, Rc11];
    "join-set-lets-go-and-keeps-the-list": "tasks that are let go put their numbers into the list of those that come after",
        variant("lets-go-and-keeps-the-list"), by "join_set::each_is_joined_once::one_is_let_go" => [Sc, Rc11];
};
