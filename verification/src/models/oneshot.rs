//! Models of a oneshot: the value has one owner, and each end is notified of the other's.

use crate::harness::common::{Counted, party};
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::oneshot::{self as steps, Oneshot};
use spinpark_kernel::waits::chan::errors::TryRecvError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A oneshot, and what each end did before.
struct Tiny<H: ModelHost> {
    oneshot: Oneshot<H, Counted>,
    senders: H::Cell<u64>,
    receivers: H::Cell<u64>,
    /// Who waited.
    waited: [H::Cell<bool>; 2],
    /// No memory of the model's: it orders nothing there, and is read when all has ended.
    dropped: Arc<AtomicUsize>,
}

impl<H: ModelHost> Tiny<H> {
    fn new() -> Arc<Self> {
        let waited = [(); 2].map(|()| Cell::new(false));
        let (senders, receivers) = (Cell::new(0), Cell::new(0));
        Arc::new(Tiny { oneshot: Oneshot::<H, _>::new(), senders, receivers, waited, dropped: Arc::default() })
    }

    /// The sender sends. Has somebody taken it? If not, what the receiver did before its end is seen.
    fn sends(&self) -> bool {
        self.senders.set(1);
        let sent = steps::send(&self.oneshot, Counted(Arc::clone(&self.dropped)));
        let is_sent = sent.is_ok();
        assert!(is_sent || self.receivers.get() == 1, "it came back, and what the receiver did before is not seen");
        is_sent
    }

    /// The receiver receives; waits if it has to. Did a value come?
    fn receives(&self) -> bool {
        let waited = &self.waited[H::me()];
        let received = steps::receive(&self.oneshot, || waited.set(true));
        assert!(self.senders.get() == 1, "it goes on, and what the sender did before is not seen");
        received.is_ok()
    }

    /// All values were dropped, so many.
    fn dropped(&self, n: usize) {
        let dropped = self.dropped.load(SeqCst);
        assert!(dropped == n, "both ends are gone, and of {n} values {dropped} were dropped");
    }
}

/// One sends, or is dropped; another receives.
fn a_receive_beside_the_senders_end<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let sends = H::choose(2) == 1;
    let sender = party::<H, _, _>("sender", &tiny, move |tiny| match sends {
        true => assert!(tiny.sends(), "it came back"),
        false => {
            tiny.senders.set(1);
            steps::drop_sender(&tiny.oneshot);
        }
    });
    let received = tiny.receives();
    H::join(sender);
    assert!(received == sends, "was it sent: {sends}, and received: {received}");
    steps::drop_receiver(&tiny.oneshot);
    tiny.dropped(usize::from(sends));
    format!("sent: {sends}, waited: {}", tiny.waited[H::me()].get())
}

/// One sends, the other closes and then looks.
fn a_send_beside_a_close<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let sender = party::<H, _, _>("sender", &tiny, Tiny::sends);
    tiny.receivers.set(1);
    steps::close(&tiny.oneshot);
    let received = tiny.oneshot.try_recv();
    assert!(!matches!(received, Err(TryRecvError::Empty)), "it is closed, and something is to come");
    if received.is_ok() {
        assert!(tiny.senders.get() == 1, "it is here, and what the sender did before is not");
    }
    let (received, sent) = (received.map(drop).is_ok(), H::join(sender));
    assert!(received == sent, "was it sent: {sent}, and received: {received}");
    steps::drop_receiver(&tiny.oneshot);
    tiny.dropped(1);
    format!("received: {received}")
}

/// One sends, the other is dropped.
fn a_send_beside_a_drop<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let sender = party::<H, _, _>("sender", &tiny, Tiny::sends);
    tiny.receivers.set(1);
    steps::drop_receiver(&tiny.oneshot);
    let sent = H::join(sender);
    tiny.dropped(1);
    format!("sent: {sent}")
}

/// The sender waits until nobody receives; the other closes, or is dropped.
fn the_sender_waits_for_the_end<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let closes = H::choose(2) == 1;
    let receiver = party::<H, _, _>("receiver", &tiny, move |tiny| {
        tiny.receivers.set(1);
        if closes { steps::close(&tiny.oneshot) } else { steps::drop_receiver(&tiny.oneshot) }
    });
    let sleeper = crate::harness::sleeper::Sleeper::<H>::new();
    let waited = &tiny.waited[H::me()];
    sleeper.wait_for_untrusted(|lender| {
        let polled = tiny.oneshot.poll_closed(lender);
        polled.is_pending().then(|| waited.set(true));
        polled
    });
    assert!(tiny.receivers.get() == 1, "it is closed, and what the receiver did before is not seen");
    assert!(!tiny.sends(), "nobody receives, and it was sent");
    H::join(receiver);
    tiny.dropped(1);
    format!("closes: {closes}, waited: {}", waited.get())
}

const RECEIVE: &str = "oneshot::the_value_has_one_owner::a_receive_beside_the_senders_end";
const CLOSE: &str = "oneshot::the_value_has_one_owner::a_send_beside_a_close";
const DROP: &str = "oneshot::the_value_has_one_owner::a_send_beside_a_drop";
const END: &str = "oneshot::each_end_is_told::the_sender_waits_for_the_end";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("oneshot::the_value_has_one_owner::a_receive_beside_the_senders_end", a_receive_beside_the_senders_end,
        claim: "who receives gets what is sent, or is told that nothing comes, and sees what the sender did before",
        size: "2 threads, a value or none",
        invariants: [113, 114],
        must_reach: ["sent: true, waited: true", "sent: true, waited: false", "sent: false, waited: true",
            "sent: false, waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("oneshot::the_value_has_one_owner::a_send_beside_a_close", a_send_beside_a_close,
        claim: "a value that is sent beside a close is received after it, or comes back, and was dropped once",
        size: "2 threads, 1 value",
        invariants: [113],
        must_reach: ["received: true", "received: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("oneshot::the_value_has_one_owner::a_send_beside_a_drop", a_send_beside_a_drop,
        claim: "a value that is sent beside the receiver's drop comes back, or is dropped with it: once, when both ends are gone",
        size: "2 threads, 1 value",
        invariants: [113],
        must_reach: ["sent: true", "sent: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("oneshot::each_end_is_told::the_sender_waits_for_the_end", the_sender_waits_for_the_end,
        claim: "a sender that waits until nobody receives is notified of a close and of a drop, and sees what was done before",
        size: "2 threads, 1 value",
        invariants: [113, 114],
        must_reach: ["closes: true, waited: true", "closes: true, waited: false", "closes: false, waited: true",
            "closes: false, waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "oneshot";
    "oneshot-looks-and-waits-apart": "the receiver looks, and leaves its waker under another lock",
        variant("looks-and-waits-apart"), by RECEIVE => [Sc, Rc11];
    "oneshot-drops-silently": "a sender that is dropped wakes nobody",
        variant("drops-silently"), by RECEIVE => [Sc, Rc11];
    "oneshot-looks-and-puts-apart": "whether anybody receives is looked at under one lock, and under another the value is put there",
        variant("looks-and-puts-apart"), by CLOSE => [Sc, Rc11];
    "oneshot-closes-silently": "a close wakes nobody",
        variant("closes-silently"), by END => [Sc, Rc11];
    "oneshot-leaves-the-value": "a receiver that is dropped leaves the value where it is",
        variant("leaves-the-value"), by DROP => [Sc, Rc11];
    "oneshot-takes-before-it-closes": "a receiver that is dropped looks for the value, and closes under another lock",
        variant("takes-before-it-closes"), by DROP => [Sc, Rc11];
};
