//! A oneshot: a thread that sends, or is dropped, or waits until the receiver is gone, beside one that receives, looks and closes.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::sleeper::Sleeper;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::oneshot::{self as steps, Oneshot as Steps};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What the sender, thread 0, does in the end; before that, what its program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ends {
    /// It sends.
    Sends,
    /// It is dropped.
    IsDropped,
    /// It waits until the receiver is gone, and is dropped. Then no thread waits for a value.
    WaitsForTheOther,
}

/// What is done before the end: by the sender, and by the receiver, thread 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// The sender looks whether anybody receives, and waits no longer for that.
    LooksForTheOther,
    /// The receiver waits for the value.
    Receive,
    /// It looks whether there is one.
    TryRecv,
    /// It closes.
    Close,
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Oneshot;

impl Room for Oneshot {
    const NAME: &'static str = "oneshot";
    const CLAIM: &'static str = "the value is received, or comes back, or is dropped with the receiver; once";
    const THREADS: usize = 2;
    const LONGEST: usize = 8;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "oneshot-looks-and-waits-apart",
        "oneshot-drops-silently",
        "oneshot-looks-and-puts-apart",
        "oneshot-closes-silently",
        "oneshot-leaves-the-value",
        "oneshot-takes-before-it-closes",
    ];
    const PATHS: &'static [&'static str] =
        &["the receiver waited", "the value came back", "the sender waited", "what was sent was never received"];
    type Setup = Ends;
    type Op = Op;

    fn setup() -> BoxedStrategy<Ends> {
        prop_oneof![3 => Just(Ends::Sends), 1 => Just(Ends::IsDropped), 1 => Just(Ends::WaitsForTheOther)].boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread == 0 {
            return Just(Op::LooksForTheOther).boxed();
        }
        prop_oneof![2 => Just(Op::Receive), 1 => Just(Op::TryRecv), 1 => Just(Op::Close)].boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let shared = Arc::new(Shared::<H> { oneshot: Steps::<H, _>::new(), dropped: Arc::default() });
        let (receiver, ops, ends) = (Arc::clone(&shared), program.of(1), program.setup);
        let receiver = H::fork("receiver", move || receiver.receives(&ops, ends));
        let sent = shared.sends(program.of(0).len(), ends);
        let (received, has_closed) = H::join(receiver);
        assert!(received <= sent, "it was received, and never sent");
        assert!(received == sent || !has_closed, "it was sent, and the receiver, which has closed, does not find it");
        reached_if(sent && !received, "what was sent was never received");
        let (made, dropped) = (usize::from(ends == Ends::Sends), shared.dropped.load(Relaxed));
        assert!(dropped == made, "both ends are gone, and of {made} values {dropped} were dropped");
        format!("sent {sent}, received {received}")
    }
}

/// A value that counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

struct Shared<H: ModelHost> {
    oneshot: Steps<H, Counted>,
    dropped: Arc<AtomicUsize>,
}

impl<H: ModelHost> Shared<H> {
    /// Was it sent, as the sender sees it?
    fn sends(&self, looks: usize, ends: Ends) -> bool {
        let sleeper = Sleeper::<H>::new();
        for _ in 0..looks {
            let _ = self.oneshot.poll_closed(&mut sleeper.lender());
            self.oneshot.stop_waiting();
        }
        match ends {
            Ends::Sends => {
                let sent = steps::send(&self.oneshot, Counted(Arc::clone(&self.dropped)));
                reached_if(sent.is_err(), "the value came back");
                return sent.is_ok();
            }
            Ends::IsDropped => (),
            Ends::WaitsForTheOther => sleeper.wait_for(|lender| {
                let polled = self.oneshot.poll_closed(lender);
                reached_if(polled.is_pending(), "the sender waited");
                polled
            }),
        }
        steps::drop_sender(&self.oneshot);
        false
    }

    /// Was it received; and has the receiver closed before it was dropped?
    fn receives(&self, ops: &[Op], ends: Ends) -> (bool, bool) {
        let (mut received, mut has_closed) = (false, false);
        for op in ops {
            let came = match op {
                Op::Receive if ends != Ends::WaitsForTheOther && !received => {
                    steps::receive(&self.oneshot, || reached_if(true, "the receiver waited")).is_ok()
                }
                Op::Close => {
                    steps::close(&self.oneshot);
                    has_closed = true;
                    self.oneshot.try_recv().is_ok()
                }
                _ => self.oneshot.try_recv().is_ok(),
            };
            assert!(!(came && received), "it was received twice");
            received |= came;
        }
        steps::drop_receiver(&self.oneshot);
        (received, has_closed)
    }
}
