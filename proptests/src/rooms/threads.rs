//! Ms that hand their Ps to others, sleep, and wake others, while threads can be had or not. At the end every M sleeps or
//! runs a G for good: each P is in one place, and none is idle although a spinning M was asked for and an M could be it.

use crate::room::{Program, Room, reached, reached_if};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::{Lock, SpawnError};
use spinpark_kernel::protocol::threads::{Available, Neighbours, startm, stopm};
use spinpark_kernel::types::m::{MId, NextP};
use spinpark_kernel::types::p::PId;
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::threads::{Central, Tiny, nextp, open};
use spinpark_verification::hosts::model_host::{Cell, ModelHost};
use spinpark_verification::hosts::wrap::trace::main_plays;
use std::sync::Arc;

/// Each thread plays one M.
const MS: usize = 3;
const NAMES: [&str; MS] = ["M0", "M1", "M2"];

/// How it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Which Ms hold a P.
    pub has_p: Vec<bool>,
    /// How many Ps are idle.
    pub idle_ps: usize,
    /// How many more Ms there may be.
    pub new_ms: usize,
    /// How many threads can be had for them.
    pub threads: u32,
}

/// What an M does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Hands its P, if it has one, to another M.
    Startm,
    /// Takes an idle P, if there is one, and gives it to another M.
    Wakep,
    /// Idles its P, if it has one, and sleeps until there is `nextp`.
    Stopm,
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Threads;

impl Room for Threads {
    const NAME: &'static str = "threads";
    const CLAIM: &'static str = "no P is lost, and no M sleeps through a request though a P is idle";
    const THREADS: usize = MS;
    // Not TSO: an exchange or the lock comes with all that is written here.
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &["threads-sleeps-on-a-request", "threads-forgets-who-fell-asleep"];
    const PATHS: &'static [&'static str] = &[
        "a sleeping M was woken",
        "a new M was started",
        "no thread could be had",
        "every number was taken",
        "a start was refused while an M fell asleep",
        "an M about to sleep was asked to search",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        let has_p = vec(prop::bool::weighted(0.6), MS);
        (has_p, 0..=1usize, 0..=2usize, 0..=1u32)
            .prop_map(|(has_p, idle_ps, new_ms, threads)| Setup { has_p, idle_ps, new_ms, threads })
            .boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![3 => Just(Op::Startm), 2 => Just(Op::Wakep), 3 => Just(Op::Stopm)].boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let without = (0..MS).filter(|&m| setup.has_p[m]).map(|m| {
            let mut simpler = setup.clone();
            simpler.has_p[m] = false;
            simpler
        });
        let idle_ps = setup.idle_ps.checked_sub(1).map(|idle_ps| Setup { idle_ps, ..setup.clone() });
        let new_ms = setup.new_ms.checked_sub(1).map(|new_ms| Setup { new_ms, ..setup.clone() });
        let threads = setup.threads.checked_sub(1).map(|threads| Setup { threads, ..setup.clone() });
        without.chain(idle_ps).chain(new_ms).chain(threads).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        main_plays(NAMES[0]);
        let mut ms = begin::<H>(program);
        let others = ms.split_off(1);
        let others: Vec<_> = others.into_iter().map(|m| H::fork(NAMES[m.me.index()], move || m.plays())).collect();
        let first = ms.remove(0);
        let tiny = Arc::clone(&first.tiny);
        let mut ps = vec![first.plays()];
        ps.extend(others.into_iter().map(|m| H::join(m)));
        check_at_rest(&tiny, ps.into_iter().flatten().collect())
    }
}

/// The Ms that are played, with their Ps.
fn begin<H: ModelHost>(program: &Program<Threads>) -> Vec<Played<H>> {
    let Setup { has_p, idle_ps, new_ms, threads } = &program.setup;
    let playing = program.threads().max(1);
    let held = has_p[..playing].iter().filter(|has_p| **has_p).count();
    let mut central = Central { threads: *threads, awake: playing, ..Central::default() };
    central.idle = (held..held + idle_ps).map(|p| PId(p as u32)).collect();
    central.unused = (playing..playing + new_ms).map(|m| MId(m as u32)).collect();
    let tiny = Tiny::new(playing + new_ms, held + idle_ps, central);
    let mut ps = (0..held).map(|p| PId(p as u32));
    (0..playing)
        .map(|m| {
            let p = if has_p[m] { ps.next() } else { None };
            Played { tiny: Arc::clone(&tiny), me: MId(m as u32), p, ops: program.of(m) }
        })
        .collect()
}

/// `ps`: those that an M still holds.
fn check_at_rest<H: ModelHost>(tiny: &Tiny<H>, mut ps: Vec<PId>) -> String {
    let started = tiny.central.with(|c| {
        ps.extend(&c.idle);
        c.started
    });
    let unread = tiny.ms.iter().filter_map(|m| open(m.take_nextp()?));
    ps.extend(unread);
    ps.sort();
    assert!(ps.iter().map(|p| p.index()).eq(0..tiny.data.len()), "of {} Ps these are left: {ps:?}", tiny.data.len());
    format!("started={started}")
}

/// An M, played by a thread.
struct Played<H: ModelHost> {
    tiny: Arc<Tiny<H>>,
    me: MId,
    p: Option<PId>,
    ops: Vec<Op>,
}

impl<H: ModelHost> Played<H> {
    /// Returns its P.
    fn plays(mut self) -> Option<PId> {
        for op in std::mem::take(&mut self.ops) {
            self.uses();
            if !self.does(op) {
                self.close();
                return None;
            }
        }
        self.uses();
        let is_over = self.tiny.central.with(|c| {
            c.one_less();
            c.closed
        });
        if is_over {
            self.close();
        }
        self.p
    }

    /// No other thread uses its P.
    fn uses(&self) {
        if let Some(p) = self.p {
            let (cell, me) = (&self.tiny.data[p.index()], u64::from(self.me.0) + 1);
            cell.set(me);
            assert!(cell.get() == me, "two use P{}", p.0);
        }
    }

    /// Does it go on?
    fn does(&mut self, op: Op) -> bool {
        let Tiny { ms, central, .. } = &*self.tiny;
        let others = Watched(&self.tiny);
        match op {
            Op::Startm => self.p.take().into_iter().for_each(|p| startm(nextp(p), ms, &others)),
            Op::Wakep => central.with(|c| c.idle.pop()).into_iter().for_each(|p| startm(nextp(p), ms, &others)),
            Op::Stopm => {
                let p = self.p.take();
                central.with(|c| c.idle.extend(p));
                self.p = open(stopm(self.me, ms, &others));
                return self.p.is_some();
            }
        }
        true
    }

    /// All is quiet, and this one saw it first. The others that sleep are to end.
    fn close(&self) {
        let sleepers = self.tiny.central.with(|c| {
            assert!(
                !c.asked || c.idle.is_empty() || c.sleeping.is_empty(),
                "a P is idle and a spinning M was asked for, but an M sleeps"
            );
            std::mem::take(&mut c.sleeping)
        });
        for m in sleepers.into_iter().filter(|m| *m != self.me) {
            self.tiny.ms[m.index()].wake_with(NextP::Exit);
        }
    }
}

/// The tiny scheduler, and what it was asked.
struct Watched<'a, H: ModelHost>(&'a Tiny<H>);

impl<H: ModelHost> Neighbours<H> for Watched<'_, H> {
    fn mget(&self) -> Available {
        let m = self.0.mget();
        reached_if(matches!(m, Available::Sleeping(_)), "a sleeping M was woken");
        reached_if(m == Available::None, "every number was taken");
        m
    }
    fn mput(&self, m: MId) -> Option<NextP> {
        let nextp = self.0.mput(m);
        reached_if(matches!(nextp, Some(NextP::Run { .. })), "an M about to sleep was asked to search");
        nextp
    }
    fn newm(&self, m: MId) -> Result<(), SpawnError> {
        let result = self.0.newm(m);
        reached(if result.is_ok() { "a new M was started" } else { "no thread could be had" });
        result
    }
    fn refused(&self, nextp: NextP, m: Option<MId>) -> Option<(MId, NextP)> {
        let late = self.0.refused(nextp, m);
        reached_if(late.is_some(), "a start was refused while an M fell asleep");
        late
    }
}
