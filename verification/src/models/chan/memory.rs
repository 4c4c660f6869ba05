//! What happens before what: Go's memory model, on cells whose races are seen.

use crate::harness::chan::Tiny;
use crate::harness::common::party;
use crate::hosts::model_host::ModelHost;

/// What belongs to no value, but to what a thread did before.
const BEFORE: u64 = 3;

/// Without room: whoever receives has written before, whoever has sent reads.
pub(super) fn a_receive_before_its_send_completes<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(0);
    let receiver = party::<H, _, _>("receiver", &tiny, |tiny| {
        tiny.write(BEFORE);
        assert!(tiny.recv() == Some(1), "1 was sent");
        tiny.has_waited()
    });
    let tried = H::choose(2) == 1 && tiny.try_send(1).is_ok();
    if !tried {
        assert!(tiny.send(1).is_ok(), "1 came back");
    }
    tiny.read(BEFORE);
    format!("the receiver waited: {}, it was sent at once: {tried}", H::join(receiver))
}

/// With room for one: the first receive before the second send completes. There is no second receive.
pub(super) fn the_kth_receive_before_the_k_plus_c_th_send<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    let receiver = party::<H, _, _>("receiver", &tiny, |tiny| {
        tiny.write(BEFORE);
        assert!(tiny.recv() == Some(1), "1 was sent first");
        tiny.has_waited()
    });
    assert!(tiny.send(1).is_ok() && tiny.send(2).is_ok(), "it is not closed");
    tiny.read(BEFORE);
    let receiver = H::join(receiver);
    assert!(tiny.rest() == [2], "2 was sent then");
    format!("the sender waited: {}, the receiver: {receiver}", tiny.has_waited())
}

/// Whoever closes has written before, whoever finds it closed reads; so does who sends in vain.
pub(super) fn a_close_before_who_finds_it<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(0);
    let closer = party::<H, _, _>("closer", &tiny, |tiny| {
        tiny.write(BEFORE);
        assert!(tiny.close(), "it was closed already");
    });
    let sends = H::choose(2) == 1;
    match sends {
        true => assert!(tiny.send(1) == Err(1), "nobody receives"),
        false => assert!(tiny.recv().is_none(), "nobody sends"),
    }
    tiny.read(BEFORE);
    H::join(closer);
    format!("sends: {sends}, waited: {}", tiny.has_waited())
}
