//! What becomes of values, and who is woken.

use crate::harness::chan::{Tiny, UNBOUNDED};
use crate::harness::common::{any_of, party};
use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::ModelHost;
use crate::mutation::variants::chan as steps;
use spinpark_kernel::waits::chan::send::Send;
use spinpark_kernel::waits::chan::state::Side;
use std::task::Poll;

/// Room for none, for one, for all.
fn any_room<H: ModelHost>() -> usize {
    any_of::<H, _>(&[0, 1, UNBOUNDED])
}

fn room(capacity: usize) -> String {
    if capacity == UNBOUNDED { "room for all".to_owned() } else { format!("room for {capacity}") }
}

/// All that comes until the channel is closed.
fn recv_all<H: ModelHost>(tiny: &Tiny<H>) -> Vec<u64> {
    std::iter::from_fn(|| tiny.recv()).collect()
}

/// One sends two, another receives both.
pub(super) fn a_send_beside_a_receive<H: ModelHost>() -> String {
    let capacity = any_room::<H>();
    let tiny = Tiny::<H>::new(capacity);
    let sender = party::<H, _, _>("sender", &tiny, |tiny| {
        (1..=2).for_each(|n| assert!(tiny.send(n).is_ok(), "{n} came back"));
        tiny.has_waited()
    });
    let got = [tiny.recv(), tiny.recv()];
    assert!(got == [Some(1), Some(2)], "1 and 2 were sent, {got:?} was received");
    let waited = tiny.has_waited();
    let sender = H::join(sender);
    assert!(capacity != UNBOUNDED || !sender, "a sender waited, and there was room");
    format!("{}, the receiver waited: {waited}, the sender: {sender}", room(capacity))
}

/// Two send, at once or not; one receives.
pub(super) fn tries_beside_a_receive<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let tiny = Tiny::<H>::new(capacity);
    let one = party::<H, _, _>("tries", &tiny, |tiny| tiny.try_send(1).is_ok());
    let other = party::<H, _, _>("sender", &tiny, |tiny| tiny.send(2).is_ok());
    let first = tiny.recv();
    let is_sent = H::join(one);
    // If 1 was sent it is here, or it is what comes next.
    let second = if is_sent { tiny.recv() } else { None };
    let got = [first, second];
    assert!(H::join(other), "2 came back");
    assert!(got.contains(&Some(2)), "2 was sent, {got:?} was received");
    assert!(got.contains(&Some(1)) == is_sent, "was 1 sent? {is_sent}; {got:?} was received");
    assert!(tiny.rest().is_empty(), "something was received twice");
    format!("{}, 1 was sent: {is_sent}", room(capacity))
}

/// One sends, one closes, one receives to the end.
pub(super) fn a_close_beside_both<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let tiny = Tiny::<H>::new(capacity);
    let sender = party::<H, _, _>("sender", &tiny, |tiny| [tiny.send(1), tiny.send(2)]);
    let closer = party::<H, _, _>("closer", &tiny, Tiny::close);
    let got = recv_all(&tiny);
    let sent = H::join(sender);
    assert!(H::join(closer), "it was closed already");
    let is_sent: Vec<u64> = (1..=2).filter(|&n| sent[n as usize - 1].is_ok()).collect();
    assert!(got == is_sent, "{is_sent:?} were sent, {got:?} received");
    let back: Vec<u64> = sent.iter().filter_map(|sent| sent.err()).collect();
    format!("{}, received {got:?}, came back {back:?}", room(capacity))
}

/// Two senders, each of which is dropped when it has sent; one receives to the end.
pub(super) fn the_last_sender_is_dropped<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let tiny = Tiny::<H>::new(capacity);
    tiny.chan.add_end(Side::Senders);
    let sender = |n| {
        move |tiny: &Tiny<H>| {
            assert!(tiny.send(n).is_ok(), "{n} came back");
            tiny.chan.drop_end(Side::Senders);
        }
    };
    let one = party::<H, _, _>("sender", &tiny, sender(1));
    let other = party::<H, _, _>("other sender", &tiny, sender(2));
    let got = recv_all(&tiny);
    H::join(one);
    H::join(other);
    assert!(got == [1, 2] || got == [2, 1], "1 and 2 were sent, {got:?} was received");
    format!("{}, received {got:?}", room(capacity))
}

/// One sends two; the only receiver is dropped after it has received one.
pub(super) fn the_last_receiver_is_dropped<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let tiny = Tiny::<H>::new(capacity);
    let sender = party::<H, _, _>("sender", &tiny, |tiny| [tiny.send(1), tiny.send(2)]);
    assert!(tiny.recv() == Some(1), "1 was sent first");
    tiny.chan.drop_end(Side::Receivers);
    let sent = H::join(sender);
    assert!(sent[0].is_ok(), "1 was received, and came back");
    assert!(tiny.rest().is_empty(), "a value is left in a channel that nobody can receive from");
    format!("{}, the second: {:?}", room(capacity), sent[1])
}

/// A receive waits and is dropped beside two sends; the values come in order after it.
pub(super) fn a_dropped_receive_keeps_the_order<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[1, 2]);
    let tiny = Tiny::<H>::new(capacity);
    let sender = party::<H, _, _>("sender", &tiny, |tiny| [tiny.try_send(1).is_ok(), tiny.try_send(2).is_ok()]);
    let at_once = tiny.recv_or_give_up();
    let is_sent = H::join(sender);
    let got: Vec<u64> = at_once.into_iter().chain(tiny.rest()).collect();
    let sent: Vec<u64> = (1..=2).filter(|&n| is_sent[n as usize - 1]).collect();
    assert!(is_sent[0] && (is_sent[1] || capacity == 1), "there was room for {capacity}, and {sent:?} were sent");
    assert!(got == sent, "{sent:?} were sent, {got:?} came after a dropped receive");
    format!("{}, sent {sent:?}, at once {at_once:?}", room(capacity))
}

/// Three receives wait and are dropped, in some order, beside two sends; the values come in order after them.
pub(super) fn dropped_receives_keep_the_order<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let sender = party::<H, _, _>("sender", &tiny, |tiny| {
        (1..=2).for_each(|n| assert!(tiny.try_send(n).is_ok(), "there is room for {n}"));
    });
    let sleeper = Sleeper::new();
    let begun = [(); 3].map(|()| tiny.begin_to_recv(&sleeper));
    let at_once: Vec<u64> = begun.iter().filter_map(|begun| begun.as_ref().ok().copied().flatten()).collect();
    let mut waiting = begun.map(Result::err);
    // Also the one to which the next gave its value, before the one that was given the younger.
    for n in any_of::<H, _>(&[[0, 1, 2], [0, 2, 1], [2, 1, 0]]) {
        waiting[n].take().into_iter().for_each(steps::Waiting::give_up);
    }
    H::join(sender);
    let rest = tiny.rest();
    let mut all = [at_once.clone(), rest.clone()].concat();
    all.sort_unstable();
    assert!(all == [1, 2], "1 and 2 were sent, {all:?} came");
    assert!(rest.is_sorted(), "1 and 2 were sent, and {rest:?} is left after dropped receives");
    format!("at once {at_once:?}, left {rest:?}")
}

/// Two receive, one sends to both.
pub(super) fn two_receives_beside_sends<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let tiny = Tiny::<H>::new(capacity);
    let one = party::<H, _, _>("receiver", &tiny, Tiny::recv);
    let other = party::<H, _, _>("other receiver", &tiny, Tiny::recv);
    (1..=2).for_each(|n| assert!(tiny.send(n).is_ok(), "{n} came back"));
    let got = [H::join(one), H::join(other)];
    assert!(got == [Some(1), Some(2)] || got == [Some(2), Some(1)], "1 and 2 were sent, {got:?} received");
    assert!(tiny.rest().is_empty(), "something was received twice");
    format!("{}, received {got:?}", room(capacity))
}

/// One of two receives is dropped while it waits; a value comes, and the end.
pub(super) fn a_dropped_receive_hands_on<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(0);
    let gives_up = party::<H, _, _>("gives up", &tiny, Tiny::recv_or_give_up);
    let receiver = party::<H, _, _>("receiver", &tiny, |tiny| (tiny.recv(), tiny.has_waited()));
    let sent = tiny.send(1);
    assert!(sent.is_ok(), "1 came back");
    tiny.close();
    let (gave_up, (received, waited)) = (H::join(gives_up), H::join(receiver));
    let left = tiny.rest();
    let got: Vec<u64> = gave_up.into_iter().chain(received).chain(left.iter().copied()).collect();
    assert!(got == [1], "1 was sent, {got:?} received");
    // Whoever asks while it is in the hands of the one that gives up finds the end: then it is left.
    assert!(left.is_empty() || received.is_none(), "1 was sent once");
    let left = if left.is_empty() { "" } else { ", left" };
    format!("at once {gave_up:?}, received {received:?}, waited: {waited}{left}")
}

/// A send waits and is dropped beside a receive.
pub(super) fn a_dropped_send_is_taken_or_comes_back<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let tiny = Tiny::<H>::new(capacity);
    if capacity == 1 {
        assert!(tiny.try_send(3).is_ok(), "there is room");
    }
    let gives_up = party::<H, _, _>("gives up", &tiny, |tiny| tiny.send_or_give_up(1));
    let received = [tiny.try_recv().ok(), tiny.try_recv().ok()];
    let back = H::join(gives_up);
    let got: Vec<u64> = received.into_iter().flatten().chain(tiny.rest()).collect();
    let all: Vec<u64> = (capacity == 1).then_some(3).into_iter().chain(back.is_none().then_some(1)).collect();
    assert!(got == all, "{all:?} were sent, {got:?} received");
    format!("{}, came back: {back:?}", room(capacity))
}

/// Two sends of one thread wait, and a third does not; another thread receives.
pub(super) fn sends_in_the_order_of_coming<H: ModelHost>() -> String {
    let capacity = any_of::<H, _>(&[0, 1]);
    let tiny = Tiny::<H>::new(capacity);
    let senders = party::<H, _, _>("senders", &tiny, |tiny| {
        (1..=2).for_each(|n| tiny.write(n));
        let (mut one, mut other) = (Send::new(&tiny.chan, 1), Send::new(&tiny.chan, 2));
        let (one_waits, other_waits) = (Sleeper::new(), Sleeper::new());
        let first = one.poll(&mut one_waits.lender()).is_ready();
        let second = other.poll(&mut other_waits.lender()).is_ready();
        let third = tiny.try_send(3).is_ok();
        if !second {
            other_waits.wait_for(|lender| other.poll(lender)).expect("it is not closed");
        }
        if !first {
            one_waits.wait_for(|lender| one.poll(lender)).expect("it is not closed");
        }
        (first, second, third)
    });
    let mut got: Vec<u64> = [tiny.recv(), tiny.recv()].into_iter().flatten().collect();
    let at_once = H::join(senders);
    got.extend(tiny.rest());
    assert!(
        got == [1, 2, 3][..2 + usize::from(at_once.2)],
        "1 came before 2, and 3 after them, and {got:?} was received"
    );
    format!("{}, at once {at_once:?}", room(capacity))
}

/// Two receives of one thread wait, and another sends two.
pub(super) fn receives_in_the_order_of_coming<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(any_of::<H, _>(&[0, 1]));
    let receivers = party::<H, _, _>("receivers", &tiny, |tiny| {
        let (mut one, mut other) = (tiny.receive(), tiny.receive());
        let (one_waits, other_waits) = (Sleeper::new(), Sleeper::new());
        let first = one.poll(&mut one_waits.lender());
        let second = other.poll(&mut other_waits.lender());
        let at_once = (first.is_ready(), second.is_ready());
        let later = |polled: Poll<_>, wait: &mut dyn FnMut() -> _| match polled {
            Poll::Ready(received) => received,
            Poll::Pending => wait(),
        };
        let second = later(second, &mut || other_waits.wait_for(|lender| other.poll(lender)));
        let first = later(first, &mut || one_waits.wait_for(|lender| one.poll(lender)));
        let got = [first, second];
        got.iter().flatten().for_each(|&n| tiny.read(n));
        (got, at_once)
    });
    (1..=2).for_each(|n| assert!(tiny.send(n).is_ok(), "{n} came back"));
    let (got, at_once) = H::join(receivers);
    // If the first found nothing and the second something, that is the first that was sent.
    let expected = if at_once == (false, true) { [Ok(2), Ok(1)] } else { [Ok(1), Ok(2)] };
    assert!(got == expected || got == [Ok(1), Ok(2)], "the first came first, and they got {got:?}");
    format!("at once {at_once:?}, got {got:?}")
}

/// A receive is polled by one waker and then by another, neither of which may be copied under the lock.
pub(super) fn by_the_waker_of_the_last_poll<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(any_of::<H, _>(&[0, 1]));
    let sender = party::<H, _, _>("sender", &tiny, |tiny| tiny.send(1).is_ok());
    let mut receive = tiny.receive();
    let (first, last) = (Sleeper::new(), Sleeper::new());
    let at_once = receive.poll(&mut first.untrusted_lender());
    let received = match at_once {
        Poll::Ready(received) => received,
        Poll::Pending => last.wait_for_untrusted(|lender| receive.poll(lender)),
    };
    assert!(received == Ok(1), "1 was sent, {received:?} was received");
    tiny.read(1);
    assert!(H::join(sender), "1 came back");
    format!("at once: {}", at_once.is_ready())
}
