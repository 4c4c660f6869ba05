//! Models of a `Notify`: no notification is missed, and none ends two waits.

use crate::engines::Engine;
use crate::harness::common::party;
use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sampled, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::notify::{self as steps, Notified, Notify};
use spinpark_kernel::host::Lock;
use std::sync::Arc;

/// A `Notify`, and what it is about.
struct Tiny<H: ModelHost> {
    notify: Notify<H>,
    /// Apples, or whether something has happened.
    apples: H::Lock<u64>,
    /// What was done before it was notified.
    work: H::Cell<u64>,
    /// Who waited.
    waited: [H::Cell<bool>; 3],
}

impl<H: ModelHost> Tiny<H> {
    fn new() -> Arc<Self> {
        let waited = [(); 3].map(|()| Cell::new(false));
        Arc::new(Tiny { notify: Notify::<H>::new(), apples: H::Lock::new(0), work: Cell::new(0), waited })
    }

    /// Waits to the end; has it had to?
    fn waits(&self, notified: Notified<'_, H>) -> bool {
        let waited = &self.waited[H::me()];
        steps::wait(&self.notify, notified, || waited.set(true));
        waited.get()
    }

    fn bring(&self) {
        self.apples.with(|apples| *apples += 1);
    }

    fn take(&self) -> bool {
        self.apples.with(|apples| {
            let is_there = *apples > 0;
            *apples -= u64::from(is_there);
            is_there
        })
    }

    /// Takes an apple, when there is one: waits for one before it looks. Has it had to wait?
    fn take_when_there_is_one(&self) -> bool {
        loop {
            let mut notified = self.notify.notified();
            steps::enable(&mut notified);
            if self.take() {
                steps::give_up(notified);
                return self.waited[H::me()].get();
            }
            self.waits(notified);
        }
    }
}

/// One waits, one notifies it.
fn one_notifies_one<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let notifier = party::<H, _, _>("notifier", &tiny, |tiny| {
        tiny.work.set(1);
        steps::notify_one(&tiny.notify);
    });
    let waited = tiny.waits(tiny.notify.notified());
    let work = tiny.work.get();
    assert!(work == 1, "it is notified, and not of what was done before");
    H::join(notifier);
    format!("waited: {waited}")
}

/// Two take an apple each, and one brings two.
fn two_apples_for_two<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let one = party::<H, _, _>("taker", &tiny, Tiny::take_when_there_is_one);
    let other = party::<H, _, _>("other taker", &tiny, Tiny::take_when_there_is_one);
    (0..2).for_each(|_| {
        tiny.bring();
        steps::notify_one(&tiny.notify);
    });
    let mut waited = [H::join(one), H::join(other)];
    waited.sort_unstable();
    format!("waited: {waited:?}")
}

/// Of two that wait one is dropped; one is notified.
fn one_is_dropped<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let gives_up = party::<H, _, _>("gives up", &tiny, |tiny| {
        let mut notified = tiny.notify.notified();
        let is_over = notified.poll(&mut Sleeper::<H>::new().lender()).is_ready();
        steps::give_up(notified);
        is_over
    });
    let waiter = party::<H, _, _>("waiter", &tiny, |tiny| tiny.waits(tiny.notify.notified()));
    steps::notify_one(&tiny.notify);
    let is_over = H::join(gives_up);
    if is_over {
        // Another, so that nobody waits for ever.
        steps::notify_one(&tiny.notify);
    }
    format!("at once: {is_over}, the other waited: {}", H::join(waiter))
}

/// Two look whether something has happened, and wait; it happens, and all are notified.
fn all_are_notified<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let waiter = |tiny: &Tiny<H>| {
        let notified = tiny.notify.notified();
        let has_happened = tiny.apples.with(|apples| *apples > 0);
        let waited = !has_happened && tiny.waits(notified);
        assert!(tiny.work.get() == 1, "it goes on, and not of what was done before");
        (has_happened, waited)
    };
    let one = party::<H, _, _>("waiter", &tiny, waiter);
    let other = party::<H, _, _>("other waiter", &tiny, waiter);
    tiny.work.set(1);
    tiny.bring();
    steps::notify_waiters(&tiny.notify);
    let mut waited = [H::join(one), H::join(other)];
    waited.sort_unstable();
    format!("{waited:?}")
}

/// One waits and waits again, and all are notified once.
fn one_call_ends_no_second_wait<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let notifier = party::<H, _, _>("notifier", &tiny, |tiny| steps::notify_waiters(&tiny.notify));
    let sleeper = Sleeper::<H>::new();
    let mut first = tiny.notify.notified();
    let at_once = first.poll(&mut sleeper.lender()).is_ready();
    // It is asked again, as if it had been woken.
    let is_over = at_once || first.poll(&mut sleeper.lender()).is_ready();
    let mut second = is_over.then(|| tiny.notify.notified());
    let mut ends = || second.as_mut().is_some_and(|second| second.poll(&mut sleeper.lender()).is_ready());
    let begins = ends();
    H::join(notifier);
    // The call has returned: whom it concerns it has served.
    assert!(!begins && !ends(), "one call has ended two waits, of which one was created after the other had ended");
    format!("over: {is_over}")
}

/// One waits and is dropped; all are notified, then one.
fn the_permit_stays<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let gives_up = party::<H, _, _>("gives up", &tiny, |tiny| {
        let mut notified = tiny.notify.notified();
        let round = tiny.notify.with(|state| state.rounds());
        let is_over = notified.poll(&mut Sleeper::<H>::new().lender()).is_ready();
        steps::give_up(notified);
        (is_over, round)
    });
    steps::notify_waiters(&tiny.notify);
    steps::notify_one(&tiny.notify);
    let (is_over, round) = H::join(gives_up);
    let is_there = tiny.notify.notified().poll(&mut Sleeper::<H>::new().lender()).is_ready();
    assert!(
        is_there || is_over && round == 1,
        "the permit is gone; over: {is_over}, created in round {round} at the latest"
    );
    format!("over: {is_over}, the permit is there: {is_there}")
}

const ONE: &str = "notify::no_notification_is_lost::one_notifies_one";
const TWO: &str = "notify::no_notification_is_lost::two_apples_for_two";
const DROPPED: &str = "notify::no_notification_is_lost::one_is_dropped";
const ALL: &str = "notify::no_notification_is_lost::all_are_notified";
const TWICE: &str = "notify::none_ends_two_waits::one_call_ends_no_second_wait";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("notify::no_notification_is_lost::one_notifies_one", one_notifies_one,
        claim: "who waits is notified, before or after it begins to wait, and sees what was done before",
        size: "2 threads, 1 notification",
        invariants: [111],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("notify::no_notification_is_lost::two_apples_for_two", two_apples_for_two,
        claim: "two that wait before they look take what is brought, one by one; who finds some at once passes on what it was notified of",
        size: "3 threads, 2 notifications",
        invariants: [111],
        must_reach: ["waited: [false, false]", "waited: [false, true]", "waited: [true, true]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("notify::no_notification_is_lost::one_is_dropped", one_is_dropped,
        claim: "of two that wait one is dropped, chosen or not, and the other is notified",
        size: "3 threads, 1 notification",
        invariants: [111],
        must_reach: ["at once: false, the other waited: true", "at once: false, the other waited: false",
            "at once: true, the other waited: true"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("notify::no_notification_is_lost::all_are_notified", all_are_notified,
        claim: "whoever creates its wait, then finds that nothing has happened, is notified with all",
        size: "3 threads, 1 notification of all",
        invariants: [111],
        must_reach: ["[(false, true), (false, true)]", "[(false, false), (false, true)]", "[(false, false), (false, false)]",
            "(true, false)"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("notify::none_ends_two_waits::one_call_ends_no_second_wait", one_call_ends_no_second_wait,
        claim: "a notification of all ends no wait that is created after another has ended by it",
        size: "2 threads, 1 notification of all",
        invariants: [112],
        must_reach: ["over: true", "over: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("notify::none_ends_two_waits::the_permit_stays", the_permit_stays,
        claim: "one that was notified with all, and is dropped, leaves the permit where it is",
        size: "2 threads, a notification of all and one of one",
        invariants: [112],
        must_reach: ["over: true, the permit is there: true", "over: true, the permit is there: false",
            "over: false, the permit is there: true"],
        runs: [rc11(), loom(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "notify";
    "notify-enqueues-after-it-looked": "who waits looks, and enqueues its waiter under another lock",
        variant("enqueues-after-it-looked"), by ONE => [Sc, Rc11];
    "notify-keeps-no-permit": "a notification is forgotten if nobody waits",
        variant("keeps-no-permit"), by ONE => [Sc, Rc11];
    "notify-keeps-the-notification": "who is dropped after it was chosen takes the notification along",
        variant("keeps-the-notification"), by DROPPED => [Sc, Rc11], TWO => [Rc11];
    "notify-waits-from-its-first-poll": "`enable` does nothing: who waits for one of several is enqueued when it is polled",
        variant("waits-from-its-first-poll"), by TWO => [Rc11];
    "notify-remembers-the-round-late": "a wait is one of those that all are notified of from its first poll on only",
        variant("remembers-the-round-late"), by ALL => [Sc, Rc11];
    "notify-notifies-one-of-all": "of all that wait one is woken",
        variant("notifies-one-of-all"), by ALL => [Sc, Rc11];
    "notify-counts-before-it-serves": "that all were notified is counted under one lock, and they are served under another",
        variant("counts-before-it-serves"), by TWICE => [Sc, Rc11];
    "notify-counts-after-it-served": "all are served under one lock, and that they were is counted under another",
        variant("counts-after-it-served"), by TWICE => [Sc, Rc11];
};
