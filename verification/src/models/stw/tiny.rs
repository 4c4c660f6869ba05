//! The rooms with the smallest scheduler around them, and by themselves.

use crate::harness::common::{any_of, party};
use crate::harness::stw::Tiny;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::hosts::wrap::trace::main_plays;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::stw::resize::procresize;
use spinpark_kernel::protocol::stw::safepoint::{Safepoint, SafepointFn};
use spinpark_kernel::protocol::stw::wanted::{Want, Wanted};
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::types::m::{MId, NextP};
use spinpark_kernel::types::p::{OwnedP, PId};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The M of `p` is about to find its next G: runs one, unless it sees that the world is to stop; then idles its P.
fn runs_one_and_idles<H: ModelHost>(tiny: &Tiny<H>, p: OwnedP) -> bool {
    let ran = !tiny.wanted.is(Want::Stop);
    if ran {
        tiny.run(&p);
    }
    tiny.release(p);
    ran
}

pub(super) fn an_m_enters_a_system_call_and_blocks<H: ModelHost>() -> String {
    main_plays("stopper");
    let tiny = Tiny::<H>::new(1, 0);
    let m = party::<H, _, _>("m", &tiny, |tiny| tiny.block(OwnedP::forge(PId(0))));
    tiny.stop(0, &Tiny::<H>::parker());
    tiny.start();
    tiny.io.unpark();
    let way = H::join(m);
    tiny.check_at_rest();
    format!("{}, back: {way:?}", if tiny.gave_up.load(Relaxed) { "its M gave it up" } else { "the stopper took it" })
}

pub(super) fn one_idles_and_one_enters_a_system_call<H: ModelHost>() -> String {
    main_plays("stopper");
    let tiny = Tiny::<H>::new(2, 0);
    let caller = party::<H, _, _>("caller", &tiny, |tiny| tiny.block(OwnedP::forge(PId(0))));
    let idler = party::<H, _, _>("idler", &tiny, |tiny| runs_one_and_idles(tiny, OwnedP::forge(PId(1))));
    tiny.stop(0, &Tiny::<H>::parker());
    tiny.start();
    tiny.io.unpark();
    let way = H::join(caller);
    let ran = H::join(idler);
    tiny.check_at_rest();
    format!("ran {ran}, gave up {}, back: {way:?}", tiny.gave_up.load(Relaxed))
}

pub(super) fn the_p_lies_in_nextp<H: ModelHost>() -> String {
    main_plays("stopper");
    let tiny = Tiny::<H>::new(1, 0);
    let giver = party::<H, _, _>("giver", &tiny, |tiny| {
        let p = OwnedP::forge(PId(0));
        tiny.run(&p);
        tiny.m.wake_with(NextP::Run { p, token: None });
    });
    let taker = party::<H, _, _>("taker", &tiny, |tiny| match tiny.m.wait_nextp() {
        NextP::Run { p, .. } => runs_one_and_idles(tiny, p),
        NextP::Exit => unreachable!("no exit was sent"),
    });
    tiny.stop(0, &Tiny::<H>::parker());
    tiny.start();
    H::join(giver);
    let ran = H::join(taker);
    tiny.check_at_rest();
    format!("ran {ran}")
}

/// An M whose G makes `n` system calls. Returns how many it came back from with its P.
fn calls<H: ModelHost>(tiny: &Tiny<H>, n: u32) -> u32 {
    let mut p = OwnedP::forge(PId(0));
    for made in 0..n {
        tiny.run(&p);
        let asked = tiny.is_needspinning();
        let back = tiny.enter(MId(0), p).and_then(|away| tiny.come_back(away));
        p = match back {
            Some((p, way)) => {
                assert!(way != Way::Kept || !asked, "a system call after the stop was asked for, and the P is kept");
                p
            }
            None => return made,
        };
    }
    tiny.release(p);
    n
}

pub(super) fn one_system_call_after_another<H: ModelHost>() -> String {
    main_plays("stopper");
    let tiny = Tiny::<H>::new(1, 0);
    let m = party::<H, _, _>("m", &tiny, |tiny| calls(tiny, 3));
    tiny.stop(0, &Tiny::<H>::parker());
    tiny.start();
    let made = H::join(m);
    tiny.check_at_rest();
    format!("came back {made} times")
}

pub(super) fn two_stoppers_and_an_m<H: ModelHost>() -> String {
    main_plays("stopper 1");
    let tiny = Tiny::<H>::new(1, 0);
    let m = party::<H, _, _>("m", &tiny, |tiny| calls(tiny, 1));
    let two = party::<H, _, _>("stopper 2", &tiny, |tiny| {
        tiny.stop(2, &Tiny::<H>::parker());
        tiny.start();
    });
    tiny.stop(1, &Tiny::<H>::parker());
    tiny.start();
    let made = H::join(m);
    H::join(two);
    tiny.check_at_rest();
    let first = tiny.served()[0];
    format!("came back {made} times, first {first}")
}

pub(super) fn one_stops_again_and_again<H: ModelHost>() -> String {
    main_plays("stopper 1");
    let tiny = Tiny::<H>::new(0, 0);
    let two = party::<H, _, _>("stopper 2", &tiny, |tiny| tiny.stop_at_once(2));
    for _ in 0..2 {
        tiny.stop_at_once(1);
    }
    H::join(two);
    tiny.check_at_rest();
    format!("{:?}", tiny.served())
}

pub(super) fn one_is_idle_and_one_enters_a_system_call<H: ModelHost>() -> String {
    main_plays("caller");
    let tiny = Tiny::<H>::new(2, 1);
    let m = party::<H, _, _>("m", &tiny, |tiny| tiny.block(OwnedP::forge(PId(0))));
    tiny.for_each_p(None);
    tiny.io.unpark();
    let way = H::join(m);
    tiny.check_at_rest();
    format!("{}, back: {way:?}", if tiny.gave_up.load(Relaxed) { "its M gave it up" } else { "the caller took it" })
}

pub(super) fn one_is_the_callers_and_one_runs<H: ModelHost>() -> String {
    main_plays("caller");
    let tiny = Tiny::<H>::new(2, 0);
    let m = party::<H, _, _>("m", &tiny, |tiny| {
        let p = OwnedP::forge(PId(1));
        let before = tiny.passed[1].get();
        tiny.run(&p);
        // Its next scheduling point, and then there is nothing to run.
        tiny.attend(&p);
        let between = tiny.passed[1].get();
        tiny.run(&p);
        tiny.release(p);
        (before, between)
    });
    tiny.for_each_p(Some(OwnedP::forge(PId(0))));
    let (before, between) = H::join(m);
    assert!(before == 0, "it ran under a P that was owned");
    tiny.check_at_rest();
    if between == 1 { "at its scheduling point" } else { "when its P was idle, or about to be" }.to_owned()
}

pub(super) fn four_operations_on_bits<H: ModelHost>() -> String {
    const ALL: [Want; 3] = [Want::Stop, Want::Safepoint, Want::Close];
    let (wanted, mut told) = (Wanted::<H>::new(), Vec::new());
    for step in 0..=4 {
        let is_end = told.contains(&Want::Stop) || told.contains(&Want::Close);
        assert!(wanted.any() != told.is_empty(), "{told:?} is wanted: anything? {}", wanted.any());
        assert!(wanted.is_end() == is_end, "{told:?} is wanted: is that the end? {}", wanted.is_end());
        for want in ALL {
            assert!(wanted.is(want) == told.contains(&want), "{told:?} is wanted: {want:?}? {}", wanted.is(want));
        }
        if step == 4 {
            break;
        }
        let (want, is_needspinning) = (any_of::<H, _>(&ALL), H::choose(2) == 0);
        told.retain(|other| *other != want);
        if is_needspinning {
            wanted.ask(want);
            told.push(want);
        } else {
            wanted.done(want);
        }
    }
    format!("{} wanted", told.len())
}

/// A function that is to run under three Ps. Their owners come in any order, some of them twice.
pub(super) fn five_come<H: ModelHost>() -> String {
    let run: Arc<SafepointFn> = Arc::new(|_| ());
    let mut safepoint = Safepoint::<H>::new(3, run, Arc::new(H::Parker::new()));
    let (mut begun, mut runs, mut ended) = (Vec::new(), Vec::new(), 0);
    for _ in 0..5 {
        // One of the Ps; one beyond them; or one ends.
        let n = H::choose(5);
        if n == 4 {
            if let Some(run) = runs.pop() {
                ended += 1;
                let last = safepoint.ran(run).is_some();
                assert!(last == (ended == 3), "it has run under {ended} of 3 Ps: is the caller woken? {last}");
            }
        } else {
            let p = OwnedP::forge(PId(n as u32));
            let is_wanted = n < 3 && !begun.contains(&n);
            assert!(safepoint.wants(&p) == is_wanted, "begun under {begun:?}: has it yet to run under P{n}?");
            let begins = safepoint.begin(&p);
            assert!(
                begins.is_some() == is_wanted,
                "begun under {begun:?}: does it begin under P{n}? {}",
                begins.is_some()
            );
            begun.extend(begins.is_some().then_some(n));
            runs.extend(begins);
            p.discard();
        }
        assert!(safepoint.is_passed() == (ended == 3), "it has run under {ended} of 3 Ps");
    }
    format!("begun {}, ended {ended}", begun.len())
}

/// Four Ps, all held at first.
pub(super) fn three_resizes<H: ModelHost>() -> String {
    let mut held: Vec<OwnedP> = (0..4).map(|p| OwnedP::forge(PId(p))).collect();
    let (mut spare, mut emptied) = (Vec::new(), 0);
    for _ in 0..3 {
        // Ps come to the stopper in any order.
        let turn = H::choose(2) * (held.len() - 1);
        held.rotate_left(turn);
        let (before, procs) = (held.len() as u32, 1 + H::choose(4));
        let mut ended = Vec::new();
        procresize(&mut held, &mut spare, procs, |p| ended.push(p.id().0));
        let numbers = |ps: &[OwnedP]| ps.iter().map(|p| p.id().0).collect::<std::collections::BTreeSet<u32>>();
        assert!(held.len() == procs && numbers(&held) == (0..procs as u32).collect(), "{held:?}, of {procs} Ps");
        assert!(numbers(&spare) == (procs as u32..4).collect(), "{spare:?} are spare, with {procs} Ps of 4");
        // The last first: what each puts before the global queue stands in the order of the Ps.
        let told: Vec<u32> = (procs as u32..before).rev().collect();
        assert!(ended == told, "emptied {ended:?}, not {told:?}");
        emptied += ended.len();
    }
    let left = held.len();
    held.into_iter().chain(spare).for_each(|p| {
        p.discard();
    });
    format!("{left} left, emptied {emptied}")
}
