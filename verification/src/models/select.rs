//! Models of a select: one case takes effect, nothing is missed, and nothing is lost.

use crate::engines::Engine;
use crate::harness::chan::Tiny;
use crate::harness::common::{any_of, party};
use crate::harness::select::{Got, Select, recv, send};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom, rc11, rc11_spurious, sampled, sc};
use crate::mutation::mutant::Mutant;
use std::sync::Arc;
use std::task::Poll;

/// Two channels.
struct Two<H: ModelHost>([Arc<Tiny<H>>; 2]);

impl<H: ModelHost> Two<H> {
    fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Two([Tiny::new(capacity), Tiny::new(capacity)]))
    }

    /// What is left in each.
    fn rest(&self) -> [Vec<u64>; 2] {
        [self.0[0].rest(), self.0[1].rest()]
    }

    /// Is nothing left?
    fn is_empty(&self) -> bool {
        self.rest().concat().is_empty()
    }

    fn receives(&self) -> Select<'_, H> {
        Select::new(recv(&self.0[0]), recv(&self.0[1]))
    }

    /// 1 to the first, or 2 to the second.
    fn sends(&self) -> Select<'_, H> {
        Select::new(send(&self.0[0], 1), send(&self.0[1], 2))
    }

    /// What was received belongs to it.
    fn saw(&self, got: Got) {
        if let Got::Received(case, Some(n)) = got {
            self.0[case].read(n);
        }
    }
}

/// Two send to two channels, and one selects between them; then it takes the other.
fn two_senders<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let two = Two::<H>::new(capacity);
    let one = party::<H, _, _>("sender", &two, |two| two.0[0].send(1).is_ok());
    let other = party::<H, _, _>("other sender", &two, |two| two.0[1].send(2).is_ok());
    let got = two.receives().wait();
    two.saw(got);
    let Got::Received(case, Some(n)) = got else { panic!("something was sent, and came to {got:?}") };
    assert!(n == case as u64 + 1, "case {case} received {n}");
    assert!(two.0[1 - case].recv() == Some(3 - n), "{n} was received, and the other was too");
    assert!(H::join(one) && H::join(other), "something came back");
    assert!(two.is_empty(), "something was received twice");
    format!("room for {capacity}, case {case}")
}

/// Two select between two channels, and one sends to both.
fn two_selects<H: ModelHost>() -> String {
    let two = Two::<H>::new(0);
    let selects = |two: &Two<H>| {
        let got = two.receives().wait();
        two.saw(got);
        got
    };
    let one = party::<H, _, _>("select", &two, selects);
    let other = party::<H, _, _>("other select", &two, selects);
    assert!(two.0[0].send(1).is_ok() && two.0[1].send(2).is_ok(), "something came back");
    let got = [H::join(one), H::join(other)];
    let each = [Got::Received(0, Some(1)), Got::Received(1, Some(2))];
    assert!(got == each || got == [each[1], each[0]], "1 and 2 were sent, and they came to {got:?}");
    assert!(two.is_empty(), "something was received twice");
    format!("the first: {:?}", got[0])
}

/// Two selects, each of which would send where the other receives.
fn facing_one_another<H: ModelHost>() -> String {
    let two = Two::<H>::new(0);
    let other = party::<H, _, _>("other select", &two, |two| {
        let got = Select::new(recv(&two.0[0]), send(&two.0[1], 2)).wait();
        two.saw(got);
        got
    });
    let mine = Select::new(send(&two.0[0], 1), recv(&two.0[1])).wait();
    two.saw(mine);
    let other = H::join(other);
    let met = match (mine, other) {
        (Got::Sent(0, true), Got::Received(0, Some(1))) => 0,
        (Got::Received(1, Some(2)), Got::Sent(1, true)) => 1,
        _ => panic!("one came to {mine:?}, the other to {other:?}"),
    };
    assert!(two.is_empty(), "a case that was not chosen took effect");
    format!("met at {met}")
}

/// One channel is closed, something comes to the other.
fn beside_a_close<H: ModelHost>() -> String {
    let two = Two::<H>::new(any_of::<H, _>(&[0, 1]));
    let closer = party::<H, _, _>("closer", &two, |two| {
        two.0[0].write(3);
        two.0[0].close();
    });
    let sender = party::<H, _, _>("sender", &two, |two| two.0[1].try_send(2).is_ok());
    let got = two.receives().wait();
    two.saw(got);
    H::join(closer);
    let is_sent = H::join(sender);
    let rest = two.rest();
    match got {
        Got::Received(0, None) => {
            two.0[0].read(3);
            assert!(rest[1] == [2] || !is_sent && rest[1].is_empty(), "2 was sent: {is_sent}, and {rest:?} are left");
        }
        Got::Received(1, Some(2)) => assert!(rest.concat().is_empty(), "{rest:?} are left"),
        _ => panic!("it came to {got:?}"),
    }
    format!("{got:?}, sent {is_sent}")
}

/// A select of two sends is polled, polled again without a wake, and waits; two receive.
fn polled_for_no_reason<H: ModelHost>() -> String {
    let two = Two::<H>::new(0);
    let receiver = |n: usize| move |two: &Two<H>| two.0[n].recv();
    let one = party::<H, _, _>("receiver", &two, receiver(0));
    let other = party::<H, _, _>("other receiver", &two, receiver(1));
    let mut select = two.sends();
    let polled = [select.poll(), Poll::Pending];
    let polled = if polled[0].is_pending() { [polled[0], select.poll()] } else { polled };
    let got = match polled {
        [Poll::Ready(got), _] | [_, Poll::Ready(got)] => got,
        _ => select.wait(),
    };
    let Got::Sent(case, true) = got else { panic!("it came to {got:?}") };
    two.0.iter().for_each(|tiny| assert!(tiny.close(), "it was closed already"));
    let received = [H::join(one), H::join(other)];
    let mut expected = [None; 2];
    expected[case] = Some(case as u64 + 1);
    assert!(received == expected, "case {case} took effect, and {received:?} were received");
    format!("case {case}, at poll {}", polled.iter().take_while(|polled| polled.is_pending()).count())
}

/// A select of two receives is dropped while two send.
fn a_select_of_receives_is_dropped<H: ModelHost>() -> String {
    let two = Two::<H>::new(any_of::<H, _>(&[0, 1]));
    let sender = |n: usize| move |two: &Two<H>| two.0[n].try_send(n as u64 + 1).is_ok();
    let one = party::<H, _, _>("sender", &two, sender(0));
    let other = party::<H, _, _>("other sender", &two, sender(1));
    let mut select = two.receives();
    let polled = select.poll();
    drop(select.give_up());
    let is_sent = [H::join(one), H::join(other)];
    let mut left = two.rest();
    if let Poll::Ready(Got::Received(case, Some(n))) = polled {
        two.0[case].read(n);
        left[case].push(n);
    }
    for n in 0..2 {
        let sent = if is_sent[n] { vec![n as u64 + 1] } else { vec![] };
        assert!(left[n] == sent, "{sent:?} was sent to {n}, and {:?} came", left[n]);
    }
    format!("at once {}, sent {is_sent:?}", polled.is_ready())
}

/// A select of two sends is dropped while two receive.
fn a_select_of_sends_is_dropped<H: ModelHost>() -> String {
    let two = Two::<H>::new(0);
    let receiver = |n: usize| move |two: &Two<H>| two.0[n].try_recv().ok();
    let one = party::<H, _, _>("receiver", &two, receiver(0));
    let other = party::<H, _, _>("other receiver", &two, receiver(1));
    let mut select = two.sends();
    let polled = select.poll();
    let back = select.give_up();
    let received: Vec<u64> = [H::join(one), H::join(other)].into_iter().flatten().collect();
    assert!(polled.is_pending(), "no task waits for it, and it came to {polled:?}");
    let mut all = [back.clone(), received.clone()].concat();
    all.sort_unstable();
    assert!(all == [1, 2], "{received:?} were received, and {back:?} came back");
    assert!(received.len() < 2, "both cases took effect");
    format!("received {received:?}")
}

/// A select with a default, beside a send.
fn with_a_default<H: ModelHost>() -> String {
    let two = Two::<H>::new(any_of::<H, _>(&[0, 1]));
    let sender = party::<H, _, _>("sender", &two, |two| two.0[0].try_send(1).is_ok());
    let Poll::Ready(got) = two.receives().or_default().poll() else { panic!("there is a default, and it waits") };
    two.saw(got);
    let is_sent = H::join(sender);
    let left = two.rest();
    match got {
        Got::Default => assert!(left[0].len() == usize::from(is_sent), "1 was sent: {is_sent}, and {left:?} are left"),
        Got::Received(0, Some(1)) => assert!(is_sent && left.concat().is_empty(), "{left:?} are left"),
        _ => panic!("it came to {got:?}"),
    }
    format!("{got:?}, sent {is_sent}")
}

/// A select that sends to a channel and receives from it, beside a receiver.
fn both_ends_of_one_channel<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(0);
    let receiver = party::<H, _, _>("receiver", &tiny, |tiny| (tiny.recv(), tiny.has_waited()));
    let got = Select::new(send(&tiny, 1), recv(&tiny)).wait();
    assert!(got == Got::Sent(0, true), "it came to {got:?}");
    let (received, waited) = H::join(receiver);
    assert!(received == Some(1), "1 was sent, and {received:?} received");
    format!("the receiver waited: {waited}")
}

const AGAIN: &str = "select::one_case_takes_effect::polled_for_no_reason";
const SENDS_DROPPED: &str = "select::nothing_is_lost::a_select_of_sends_is_dropped";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("select::one_case_takes_effect::two_senders", two_senders,
        claim: "a select between two channels to which something is sent takes one of the two, and the other is there still",
        size: "3 threads, 2 channels with room for none or one, 2 values",
        invariants: [90, 95, 96],
        must_reach: ["room for 0, case 0", "room for 0, case 1", "room for 1, case 0", "room for 1, case 1"],
        runs: [rc11(), sc()]),
    crate::model!("select::one_case_takes_effect::two_selects", two_selects,
        claim: "two selects that wait at the same two channels get one value each",
        size: "3 threads, 2 channels without room, 2 values",
        invariants: [90, 95, 96],
        must_reach: ["the first: Received(0, Some(1))", "the first: Received(1, Some(2))"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("select::one_case_takes_effect::facing_one_another", facing_one_another,
        claim: "two selects that meet at two channels, from two sides, meet at one of them, and both know it",
        size: "2 threads, 2 channels without room",
        invariants: [90, 95, 96],
        must_reach: ["met at 0", "met at 1"],
        runs: [rc11(), loom()]),
    crate::model!("select::one_case_takes_effect::beside_a_close", beside_a_close,
        claim: "a select one of whose channels is closed while something comes to the other takes one of both; a \
            sender that finds the channel closed sees what was done before the close",
        size: "3 threads, 2 channels with room for none or one, 1 value",
        invariants: [90, 93, 95, 96],
        must_reach: ["Received(0, None), sent true", "Received(0, None), sent false", "Received(1, Some(2))"],
        runs: [rc11(), sc()]),
    crate::model!("select::one_case_takes_effect::polled_for_no_reason", polled_for_no_reason,
        claim: "a select that is polled again, withdraws and waits again beside two that would serve it: one case takes effect",
        size: "3 threads, 2 channels without room, 2 polls before it waits",
        invariants: [90, 95, 96],
        must_reach: ["case 0, at poll 0", "case 1, at poll 1", "case 0, at poll 2", "case 1, at poll 2"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("select::nothing_is_missed::both_ends_of_one_channel", both_ends_of_one_channel,
        claim: "a select that sends to a channel and receives from it does not serve itself, and is served by another",
        size: "2 threads, 1 channel without room",
        invariants: [90, 95, 96],
        must_reach: ["the receiver waited: true", "the receiver waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("select::nothing_is_lost::a_select_of_receives_is_dropped", a_select_of_receives_is_dropped,
        claim: "a select that is dropped when it was given a value already leaves it in the channel",
        size: "3 threads, 2 channels with room for none or one, 2 values",
        invariants: [90, 95],
        must_reach: ["at once false, sent [true, false]", "at once false, sent [false, true]", "at once true"],
        runs: [rc11(), sc()]),
    crate::model!("select::nothing_is_lost::a_select_of_sends_is_dropped", a_select_of_sends_is_dropped,
        claim: "of a select of sends that is dropped one value was taken at most; what was not comes back",
        size: "3 threads, 2 channels without room, 2 values",
        invariants: [90, 95],
        must_reach: ["received []", "received [1]", "received [2]"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("select::nothing_is_lost::with_a_default", with_a_default,
        claim: "a select with a default does not wait, and what is sent meanwhile is received by it, or is there still",
        size: "2 threads, 2 channels with room for none or one, 1 value",
        invariants: [90, 95],
        must_reach: ["Default, sent true", "Default, sent false", "Received(0, Some(1)), sent true"],
        runs: [rc11(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "select";
    "select-each-case-has-a-claim": "the cases of a select do not know of each other: two of them are served",
        variant("each-case-has-a-claim"), by SENDS_DROPPED => [Sc, Rc11];
    "select-never-reopens": "a select that withdrew and waits again cannot be served",
        variant("never-reopens"), by AGAIN => [Sc, Rc11];
    "select-asks-after-dequeuing": "a select that is polled dequeues its waiters, and asks after that whether one was served",
        variant("asks-after-dequeuing"), by AGAIN => [Sc, Rc11];
    "select-asks-no-claim": "a select that is polled dequeues its waiters one by one, and can be served meanwhile",
        variant("asks-no-claim"), by AGAIN => [Sc, Rc11];
};
