//! Models of a cancellation: a task that waits for a token goes on once it, or one above it, is cancelled; a child is
//! made meanwhile.

use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::cancellation::{self as steps, ThreadToken};
use std::sync::Arc;

/// What was done before it was cancelled.
struct Reason<H: ModelHost>(H::Cell<u64>);

impl<H: ModelHost> Reason<H> {
    fn new() -> Arc<Self> {
        Arc::new(Reason(Cell::new(0)))
    }

    /// A thread that has a reason, and cancels.
    fn cancels(self: &Arc<Self>, token: ThreadToken<H>) -> H::Thread<()> {
        let reason = Arc::clone(self);
        H::fork("canceller", move || {
            reason.0.set(7);
            steps::cancel(&token);
        })
    }

    fn is_seen(&self) {
        let seen = self.0.get();
        assert!(seen == 7, "it is cancelled, and what was done before is not seen: {seen}");
    }
}

/// Waits; has it had to?
fn waits<H: ModelHost>(token: &ThreadToken<H>, reason: &Reason<H>) -> bool {
    let mut waited = false;
    steps::wait(token, || waited = true);
    reason.is_seen();
    waited
}

/// One waits, one cancels.
fn one_waits<H: ModelHost>() -> String {
    let (token, reason) = (ThreadToken::<H>::new(), Reason::<H>::new());
    let canceller = reason.cancels(token.clone());
    let waited = waits(&token, &reason);
    H::join(canceller);
    format!("waited: {waited}")
}

/// One waits for a token, one for a child of it.
fn two_wait<H: ModelHost>() -> String {
    let (token, reason) = (ThreadToken::<H>::new(), Reason::<H>::new());
    let (child, other) = (token.child(), Arc::clone(&reason));
    let waiter = H::fork("waiter", move || waits(&child, &other));
    let canceller = reason.cancels(token.clone());
    let waited = waits(&token, &reason);
    let other_waited = H::join(waiter);
    H::join(canceller);
    format!("waited: {waited}, for the child: {other_waited}")
}

/// A child is made at that moment.
fn a_child_is_made<H: ModelHost>() -> String {
    let (token, reason) = (ThreadToken::<H>::new(), Reason::<H>::new());
    let canceller = reason.cancels(token.clone());
    let child = steps::child(&token);
    let waited = waits(&child, &reason);
    H::join(canceller);
    assert!(token.is_cancelled() && child.is_cancelled(), "it was cancelled");
    format!("waited: {waited}")
}

/// A child is cancelled at that moment, and one waits for a child of that.
fn a_child_is_cancelled_too<H: ModelHost>() -> String {
    let (token, reason) = (ThreadToken::<H>::new(), Reason::<H>::new());
    let child = token.child();
    let leaf = child.child();
    let other = H::fork("canceller of the child", move || steps::cancel(&child));
    let canceller = reason.cancels(token.clone());
    let mut waited = false;
    steps::wait(&leaf, || waited = true);
    H::join(other);
    H::join(canceller);
    assert!(token.is_cancelled() && leaf.is_cancelled(), "both were cancelled");
    format!("waited: {waited}")
}

/// One asks for a token, and then for its child.
fn one_asks<H: ModelHost>() -> String {
    let (token, reason) = (ThreadToken::<H>::new(), Reason::<H>::new());
    let child = token.child();
    let canceller = reason.cancels(token.clone());
    let is_cancelled = token.is_cancelled();
    if is_cancelled {
        reason.is_seen();
        assert!(child.is_cancelled(), "it is cancelled, and its child is not");
    }
    let is_the_child = child.is_cancelled();
    H::join(canceller);
    format!("cancelled: {is_cancelled}, the child: {is_the_child}")
}

/// The token between two is dropped at that moment.
fn the_one_between_is_dropped<H: ModelHost>() -> String {
    let (token, reason) = (ThreadToken::<H>::new(), Reason::<H>::new());
    let between = token.child();
    let leaf = between.child();
    let dropper = H::fork("dropper", move || drop(between));
    let canceller = reason.cancels(token.clone());
    let waited = waits(&leaf, &reason);
    H::join(dropper);
    H::join(canceller);
    let nodes = token.with(|state, _| state.nodes());
    assert!(nodes == 2, "{nodes} nodes for two tokens");
    format!("waited: {waited}")
}

/// Of two that wait one gives up.
fn one_gives_up<H: ModelHost>() -> String {
    let (token, reason) = (ThreadToken::<H>::new(), Reason::<H>::new());
    let (mine, theirs) = (token.clone(), Arc::clone(&reason));
    let gives_up = H::fork("gives up", move || {
        let (sleeper, mut waiter) = (Sleeper::<H>::new(), None);
        let at_once = mine.poll(&mut waiter, &mut sleeper.lender()).is_ready();
        mine.give_up(&mut waiter);
        at_once.then(|| theirs.is_seen());
        at_once
    });
    let canceller = reason.cancels(token.clone());
    let waited = waits(&token, &reason);
    let at_once = H::join(gives_up);
    H::join(canceller);
    format!("at once: {at_once}, the other waited: {waited}")
}

const ONE: &str = "cancellation::who_waits_goes_on::one_waits";
const ASKS: &str = "cancellation::all_below_are_cancelled::one_asks";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("cancellation::who_waits_goes_on::one_waits", one_waits,
        claim: "a waiter for a token that is cancelled goes on, and sees what was done before",
        size: "2 threads, 1 token",
        invariants: [108],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("cancellation::who_waits_goes_on::two_wait", two_wait,
        claim: "a waiter for a token and a waiter for a child of it both go on",
        size: "3 threads, 2 tokens",
        invariants: [108],
        must_reach: ["waited: true, for the child: true", "waited: true, for the child: false",
            "waited: false, for the child: true", "waited: false, for the child: false"],
        runs: [rc11(), sc()]),
    crate::model!("cancellation::who_waits_goes_on::one_gives_up", one_gives_up,
        claim: "of two that wait one gives up, and the other goes on",
        size: "3 threads, 1 token",
        invariants: [108],
        must_reach: ["at once: false, the other waited: true", "at once: true, the other waited: true",
            "at once: false, the other waited: false"],
        runs: [rc11(), sc()]),
    crate::model!("cancellation::all_below_are_cancelled::a_child_is_made", a_child_is_made,
        claim: "a child that is made while its parent is cancelled is cancelled, and its waiter goes on",
        size: "2 threads, 2 tokens",
        invariants: [109],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("cancellation::all_below_are_cancelled::a_child_is_cancelled_too", a_child_is_cancelled_too,
        claim: "a branch is cancelled while a larger one is, and a waiter below both goes on",
        size: "3 threads, 3 tokens",
        invariants: [109],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), sc()]),
    crate::model!("cancellation::all_below_are_cancelled::one_asks", one_asks,
        claim: "a task that sees, without a lock, that a token is cancelled sees that its child is, and what was done \
                before",
        size: "2 threads, 2 tokens",
        invariants: [109],
        must_reach: ["cancelled: true, the child: true", "cancelled: false, the child: true",
            "cancelled: false, the child: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("cancellation::all_below_are_cancelled::the_one_between_is_dropped", the_one_between_is_dropped,
        claim: "the token between two is dropped while the upper one is cancelled, and a waiter for the lower one goes \
                on",
        size: "3 threads, 3 tokens",
        invariants: [109],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "cancellation";
    "cancellation-looks-then-enqueues": "a task that waits sees that it is not cancelled, and enqueues its waiter \
                                         under another lock",
        variant("looks-then-enqueues"), by ONE => [Sc, Rc11];
    "cancellation-child-is-listed-later": "the maker of a child looks whether the parent is cancelled, and lists the \
                                           child under another lock",
        variant("child-is-listed-later"), by "cancellation::all_below_are_cancelled::a_child_is_made" => [Sc, Rc11];
    "cancellation-marks-from-above": "a node is marked before those below it",
        variant("marks-from-above"), by ASKS => [Sc, Rc11];
    "cancellation-wakes-one": "of those that wait one is woken",
        variant("wakes-one"), by "cancellation::who_waits_goes_on::two_wait" => [Sc, Rc11];
    "cancellation-cancels-the-next-only": "of a branch the node and the one below it are cancelled",
        variant("cancels-the-next-only"), by "cancellation::all_below_are_cancelled::the_one_between_is_dropped" => [Sc, Rc11];
    "cancellation-marks-relaxed": "the mark is stored Relaxed",
        weaken("waits/cancellation.rs", "pub fn mark(&mut self)", "self.mark.store"), by ASKS => [Rc11];
    "cancellation-asks-relaxed": "the mark is read Relaxed",
        weaken("waits/cancellation.rs", "pub fn is_cancelled(&self) -> bool", "self.mark.load"), by ASKS => [Rc11];
};
