//! One P, two Ms and a lock.

use crate::harness::common::party;
use crate::harness::locked::{Central, Tiny};
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::sync::Arc;

pub(super) const M0: MId = MId(0);
pub(super) const M1: MId = MId(1);

/// Two Ms, the first of which the main thread plays.
fn tiny<H: ModelHost>(central: Central) -> Arc<Tiny<H>> {
    Tiny::new("m0", 2, central)
}

pub(super) fn one_waits_and_two_ready_it<H: ModelHost>() -> String {
    let tiny = tiny::<H>(Central { alive: 3, ..Central::new(2) });
    let one = party::<H, _, _>("readier 1", &tiny, |tiny| tiny.ready(M0));
    let two = party::<H, _, _>("readier 2", &tiny, |tiny| tiny.ready(M0));
    let (p, woken) = tiny.wait(M0, OwnedP::forge(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "{woken:?}");
    tiny.run();
    tiny.release(p);
    let mut did = [H::join(one), H::join(two)];
    did.sort_unstable();
    tiny.check_at_rest();
    // The second wake is left over for the next wait, unless both came before this one.
    let left = tiny.is_readied(M0);
    assert!(left || did == ["early", "early"], "the second wake is lost: {did:?}");
    format!("{}, {}, left over: {left}", did[0], did[1])
}

pub(super) fn two_ready_each_other<H: ModelHost>() -> String {
    // M1's G has its ticket in the queue.
    let tiny = tiny::<H>(Central { tickets: vec![M1], alive: 3, ..Central::new(2) });
    let other = party::<H, _, _>("m1", &tiny, |tiny| {
        let p = tiny.wait_p(M1);
        tiny.run();
        let did = tiny.ready(M0);
        let (p, _) = tiny.wait(M1, p, Wake::Inside);
        tiny.run();
        tiny.release(p);
        did
    });
    let p = OwnedP::forge(PId(0));
    tiny.run();
    let (p, _) = tiny.wait(M0, p, Wake::Inside);
    tiny.run();
    tiny.ready(M1);
    tiny.release(p);
    let did = H::join(other);
    tiny.check_at_rest();
    format!("m0 was {did}")
}

/// Two Gs that wait for each other; `queued` Gs wait for an M that there cannot be.
fn two_wait<H: ModelHost>(queued: usize) -> String {
    let tiny = tiny::<H>(Central { tickets: vec![M1], queued: vec![M0; queued], ..Central::new(2) });
    fn waits<H: ModelHost>(tiny: &Tiny<H>, m: MId, other: MId, p: OwnedP) -> Woken {
        tiny.run();
        let (p, woken) = tiny.wait(m, p, Wake::Inside);
        tiny.run();
        if woken != Woken::Ready {
            tiny.ready(other);
        }
        tiny.release(p);
        woken
    }
    let other = party::<H, _, _>("m1", &tiny, |tiny| waits(tiny, M1, M0, tiny.wait_p(M1)));
    let first = waits(&tiny, M0, M1, OwnedP::forge(PId(0)));
    let second = H::join(other);
    tiny.with(|c| c.queued.clear());
    let told = tiny.check_at_rest();
    assert!(told.len() == 1, "told: {told:?}");
    assert!((first == Woken::Ready) != (second == Woken::Ready), "woken: {first:?} and {second:?}");
    format!("m0 {first:?}, m1 {second:?}")
}

pub(super) fn two_wait_for_each_other<H: ModelHost>() -> String {
    two_wait::<H>(0)
}

pub(super) fn two_wait_and_no_third_can_be_had<H: ModelHost>() -> String {
    two_wait::<H>(1)
}

pub(super) fn the_readier_is_in_a_system_call<H: ModelHost>() -> String {
    let tiny = tiny::<H>(Central { away: 1, ..Central::new(2) });
    let caller = party::<H, _, _>("m1", &tiny, |tiny| {
        // Back: takes the P if it is idle, else its ticket is queued.
        tiny.central(|c| {
            c.away = 0;
            ((), c.send_for(M1))
        });
        let p = tiny.wait_p(M1);
        tiny.run();
        let did = tiny.ready(M0);
        tiny.release(p);
        did
    });
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::forge(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "told {woken:?}, but an M was in a system call");
    tiny.release(p);
    let did = H::join(caller);
    let told = tiny.check_at_rest();
    format!("m0 was {did}, told {}", told.len())
}

pub(super) fn the_readier_is_queued<H: ModelHost>() -> String {
    // What an M that sleeps is woken for comes from outside. If it comes too late, there is nothing to wait for.
    let tiny = tiny::<H>(Central { sleeping: vec![M1], ..Central::new(2) });
    let worker = party::<H, _, _>("m1", &tiny, |tiny| tiny.works(M1));
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| {
        tiny.with(|c| c.queued.push(M0));
        tiny.central(|c| {
            let worker = if c.idle && !c.queued.is_empty() { c.pop_sleeper() } else { None };
            c.idle &= worker.is_none();
            ((), worker)
        });
    });
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::forge(PId(0)), Wake::Inside);
    tiny.release(p);
    H::join(submitter);
    H::join(worker);
    tiny.check_at_rest();
    format!("woken: {woken:?}")
}

pub(super) fn the_readier_is_in_a_ring_and_the_world_is_stopped<H: ModelHost>() -> String {
    let tiny = tiny::<H>(Central { sleeping: vec![M1], local: vec![M0], ..Central::new(2) });
    let worker = party::<H, _, _>("m1", &tiny, |tiny| tiny.works(M1));
    let stopper = party::<H, _, _>("stopper", &tiny, |tiny| {
        tiny.with(|c| c.stopping = true);
        // If it holds the P by now, the world is stopped.
        tiny.central(|c| {
            c.stopping = false;
            let held = std::mem::take(&mut c.held);
            (held, if held { c.releasep() } else { None })
        })
    });
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::forge(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "told {woken:?}, but a G was in the ring of its P");
    tiny.release(p);
    H::join(worker);
    let held = H::join(stopper);
    let told = tiny.check_at_rest();
    assert!(told.is_empty(), "told {told:?}");
    if held { "held" } else { "not held" }.to_owned()
}
