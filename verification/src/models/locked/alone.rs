//! The rooms by themselves, compared with what is written down of them.

use super::tiny::{M0, M1};
use crate::harness::common::any_of;
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::protocol::locked::{Bindings, Wake, Woken};
use spinpark_kernel::types::m::MId;

/// What is known of one M's G.
#[derive(Debug, Clone, Copy)]
struct Told {
    /// Was it readied since its last wait began, or ended? Then the next does not begin.
    is_early: bool,
    /// It waits, for a wake from inside or outside.
    waits: Option<Wake>,
    /// It has said that it waits, and has yet to give up its P.
    is_to_rest: bool,
    /// Why its last wait ended.
    woken: Woken,
}

/// The bindings of two Ms, beside what is known of each; and those that rest, in order.
struct Both {
    bindings: Bindings,
    told: [Told; 2],
    inside: Vec<MId>,
}

impl Both {
    /// Whatever `m` may do, or others to it.
    fn does<H: ModelHost>(&mut self, m: MId) {
        let Both { bindings, told, inside } = self;
        let told = &mut told[m.index()];
        let may: &[usize] = match told {
            Told { is_to_rest: true, .. } => &[4, 0, 1],
            Told { waits: None, .. } => &[2, 3, 0, 5],
            _ => &[0, 1],
        };
        match any_of::<H, _>(may) {
            why @ 0..2 => {
                let why = [Woken::Ready, Woken::Deadlock][why];
                let needs_ticket = bindings.ready(m, why);
                assert!(needs_ticket == told.waits.is_some(), "{m:?} was readied, {told:?}: a ticket? {needs_ticket}");
                match told.waits.take() {
                    Some(_) => told.woken = why,
                    None => told.is_early = true,
                }
                inside.retain(|other| *other != m);
            }
            wake @ 2..4 => {
                let wake = [Wake::Inside, Wake::Outside][wake - 2];
                let waits = bindings.wait(m, wake);
                assert!(waits != told.is_early, "{m:?} was to wait, {told:?}: does it? {waits}");
                *told = Told { is_early: false, waits: waits.then_some(wake), is_to_rest: waits, woken: Woken::Ready };
            }
            4 => {
                let rests = bindings.rest(m);
                assert!(rests == told.waits.is_some(), "{m:?} has no P any more, {told:?}: does it rest? {rests}");
                told.is_to_rest = false;
                inside.extend((told.waits == Some(Wake::Inside)).then_some(m));
            }
            _ => {
                bindings.forget(m);
                (told.is_early, told.woken) = (false, Woken::Ready);
            }
        }
    }

    fn agree(&self) {
        let Both { bindings, told, inside } = self;
        for m in [M0, M1] {
            let (why, told) = (bindings.woken(m), told[m.index()].woken);
            assert!(why == told, "{m:?}'s last wait ended: {why:?}, not {told:?}");
        }
        let waiting: Vec<MId> = bindings.waiting().collect();
        let expected: Vec<MId> = [M0, M1].into_iter().filter(|m| told[m.index()].waits.is_some()).collect();
        assert!(waiting == expected, "{waiting:?} wait, not {expected:?}");
        assert!(bindings.inside() == inside.len(), "{} rest for one inside, not {inside:?}", bindings.inside());
        let at_rest = told.iter().filter(|told| told.waits.is_some() && !told.is_to_rest).count();
        assert!(bindings.total() == at_rest, "{} rest, not {at_rest}: {told:?}", bindings.total());
        let oldest = inside.first().copied();
        assert!(bindings.oldest_inside() == oldest, "{:?} rests longest, not {oldest:?}", bindings.oldest_inside());
    }
}

pub(super) fn five_operations_on_two_ms<H: ModelHost>() -> String {
    let awake = Told { is_early: false, waits: None, is_to_rest: false, woken: Woken::Ready };
    let mut both = Both { bindings: Bindings::new(2), told: [awake; 2], inside: Vec::new() };
    both.agree();
    for _ in 0..5 {
        both.does::<H>(any_of::<H, _>(&[M1, M0]));
        both.agree();
    }
    format!("{:?} rest, {:?}", both.inside, both.told.map(|told| told.woken))
}
