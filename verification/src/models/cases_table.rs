//! A send and a receive as a case of a select, step by step: each is enqueued, something happens to its channel, and then the select
//! comes back to it, or is dropped.

use crate::harness::told::{Log, Told};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::host::Host;
use spinpark_kernel::waits::chan::errors::{Closed, SendError};
use spinpark_kernel::waits::chan::receive::Receive;
use spinpark_kernel::waits::chan::send::Send;
use spinpark_kernel::waits::chan::state::State;
use spinpark_kernel::waits::chan::{Channel, Parts};
use spinpark_kernel::waits::claim::{Claim, Ticket};
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::Poll;

/// A channel whose wakers say what became of them.
pub(super) struct OnTable<H>(PhantomData<fn() -> H>);

impl<H: ModelHost> Parts for OnTable<H> {
    type Host = H;
    type Value = u64;
    type Waker = Told;
    type Lock = <H as Host>::Lock<State<Self>>;

    fn drop_value(_: u64) {}
}

/// What happens to the channel while the case waits there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    Nothing,
    Served,
    Closed,
    /// Closed, when the select goes on by another case already.
    ClosedTooLate,
}

use Meanwhile::{ClosedTooLate, Nothing, Served};

/// How the select comes back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Attempts,
    WithdrawsAndAttempts,
    WithdrawsAndPolls,
    Drops,
}

fn draws<H: ModelHost>() -> (Meanwhile, Then) {
    let meanwhile = [Nothing, Served, Meanwhile::Closed, ClosedTooLate][H::choose(4)];
    let then = [Then::Attempts, Then::WithdrawsAndAttempts, Then::WithdrawsAndPolls, Then::Drops][H::choose(4)];
    (meanwhile, then)
}

/// A case that sends 7, where no receiver waits.
fn a_case_that_sends<H: ModelHost>() -> String {
    let (meanwhile, then) = draws::<H>();
    let (log, claim) = (Arc::new(Log::default()), Arc::new(Claim::<H>::new()));
    let chan = Channel::<OnTable<H>>::new(0);
    let mut send = Send::new(&chan, 7);
    assert!(send.enlist(Ticket::new(&claim, 0), log.lender(1, true).copy()), "no receiver waits");
    match meanwhile {
        Nothing => assert!(claim.withdraw().is_none(), "no party has served it"),
        Served => assert!(chan.try_take() == Ok(7), "a case waits to send 7"),
        Meanwhile::Closed => assert!(chan.close(), "it was open"),
        ClosedTooLate => {
            assert!(claim.withdraw().is_none(), "no party has served it");
            assert!(chan.close(), "it was open");
        }
    }
    let is_over = matches!(meanwhile, Served | Meanwhile::Closed);
    assert!(log.take_woken() == if is_over { vec![1] } else { vec![] }, "{meanwhile:?}, and it was woken or not");
    let expected = match meanwhile {
        Nothing => None,
        Served => Some(Ok(())),
        Meanwhile::Closed | ClosedTooLate => Some(Err(SendError(7))),
    };
    if matches!(then, Then::WithdrawsAndAttempts | Then::WithdrawsAndPolls) {
        send.withdraw();
    }
    let came_to = match then {
        Then::Attempts | Then::WithdrawsAndAttempts => send.attempt(),
        Then::WithdrawsAndPolls => match send.poll(&mut log.lender(2, true)) {
            Poll::Ready(sent) => Some(sent),
            Poll::Pending => None,
        },
        Then::Drops => {
            if H::choose(2) == 1 {
                drop(send);
            } else {
                let back = send.into_inner();
                assert!(back == (meanwhile != Served).then_some(7), "{meanwhile:?}, and {back:?} came back");
            }
            assert!(chan.try_take().is_err(), "no sender is left");
            // A waker that is left in it is lost.
            drop(chan);
            log.take_woken();
            return format!("{meanwhile:?}, dropped");
        }
    };
    assert!(came_to == expected, "{meanwhile:?}, {then:?}: it came to {came_to:?}, and not to {expected:?}");
    let back = send.into_inner();
    assert!(back == expected.is_none().then_some(7), "it came to {came_to:?}, and {back:?} came back");
    log.take_woken();
    format!("{came_to:?}")
}

/// A case that receives, where nothing is.
fn a_case_that_receives<H: ModelHost>() -> String {
    let (meanwhile, then) = draws::<H>();
    let (log, claim) = (Arc::new(Log::default()), Arc::new(Claim::<H>::new()));
    let chan = Channel::<OnTable<H>>::new(1);
    let mut recv = Receive::new(&chan);
    assert!(recv.enlist(Ticket::new(&claim, 0), log.lender(1, true).copy()), "nothing is there");
    match meanwhile {
        Nothing => assert!(claim.withdraw().is_none(), "no party has served it"),
        Served => assert!(chan.try_put(7).is_ok(), "a case waits for it"),
        Meanwhile::Closed => assert!(chan.close(), "it was open"),
        ClosedTooLate => {
            assert!(claim.withdraw().is_none(), "no party has served it");
            assert!(chan.close(), "it was open");
        }
    }
    log.take_woken();
    let expected = match meanwhile {
        Nothing => None,
        Served => Some(Ok(7)),
        Meanwhile::Closed | ClosedTooLate => Some(Err(Closed)),
    };
    if matches!(then, Then::WithdrawsAndAttempts | Then::WithdrawsAndPolls) {
        // What it was given goes back, and is there.
        recv.withdraw();
    }
    let came_to = match then {
        Then::Attempts | Then::WithdrawsAndAttempts => recv.attempt(),
        Then::WithdrawsAndPolls => match recv.poll(&mut log.lender(2, true)) {
            Poll::Ready(received) => Some(received),
            Poll::Pending => None,
        },
        Then::Drops => {
            drop(recv);
            log.take_woken();
            let left = chan.try_take().ok();
            assert!(left == (meanwhile == Served).then_some(7), "{meanwhile:?}, and {left:?} is left");
            return format!("{meanwhile:?}, dropped");
        }
    };
    assert!(came_to == expected, "{meanwhile:?}, {then:?}: it came to {came_to:?}, and not to {expected:?}");
    drop(recv);
    log.take_woken();
    assert!(chan.try_take().is_err(), "it came to {came_to:?}, and something is left");
    format!("{came_to:?}")
}

/// A case that could go on when it was to be enqueued.
fn a_case_that_need_not_wait<H: ModelHost>() -> String {
    let (log, claim) = (Arc::new(Log::default()), Arc::new(Claim::<H>::new()));
    let (is_closed, sends) = (H::choose(2) == 1, H::choose(2) == 1);
    let chan = Channel::<OnTable<H>>::new(1);
    if !sends {
        assert!(chan.try_put(5).is_ok(), "there is room");
    }
    if is_closed {
        assert!(chan.close(), "it was open");
    }
    let (ticket, waker) = (Ticket::new(&claim, 0), log.lender(1, true).copy());
    if sends {
        let mut send = Send::new(&chan, 7);
        assert!(!send.enlist(ticket, waker), "there is room, or it is closed");
        let came_to = send.attempt();
        assert!(came_to == Some(if is_closed { Err(SendError(7)) } else { Ok(()) }), "it came to {came_to:?}");
    } else {
        let mut recv = Receive::new(&chan);
        assert!(!recv.enlist(ticket, waker), "something is there");
        let came_to = recv.attempt();
        assert!(came_to == Some(Ok(5)), "it came to {came_to:?}");
    }
    assert!(log.take_woken().is_empty(), "there was no waiter");
    format!("closed {is_closed}, sends {sends}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("select::a_case_loses_nothing::a_case_that_sends", a_case_that_sends,
        claim: "a case that sends, and is served, turned away or left alone, tells what came of it, once, however the select comes \
            back to it; and its waker is woken or forgotten",
        size: "1 thread, 1 case, 4 ends, 4 ways back",
        invariants: [90, 95],
        must_reach: ["Some(Ok(()))", "None", "Served, dropped"],
        runs: [sc()]),
    crate::model!("select::a_case_loses_nothing::a_case_that_receives", a_case_that_receives,
        claim: "the same of a case that receives: what it was given goes back, if it is withdrawn",
        size: "1 thread, 1 case, 4 ends, 4 ways back",
        invariants: [90, 95],
        must_reach: ["Some(Ok(7))", "Some(Err(Closed))", "None", "Served, dropped"],
        runs: [sc()]),
    crate::model!("select::a_case_loses_nothing::a_case_that_need_not_wait", a_case_that_need_not_wait,
        claim: "a case that can go on is not enqueued, and its waker is forgotten",
        size: "1 thread, 1 case",
        invariants: [96],
        must_reach: ["closed false, sends true", "closed true, sends false"],
        runs: [sc()]),
];
