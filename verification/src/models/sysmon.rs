//! Models of `sysmon`: what is seen is enumerated, and what the room says is compared with the rule.
//!
//! One thread. The room computes from the little that it remembers, the rules here from all that there was.

use crate::harness::common::any_of;
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::sysmon::Verdict::{Leave, Preempt, Retake};
use spinpark_kernel::protocol::sysmon::{
    Around, CALM, LONGEST, Observed, PATIENCE, Pace, QUIET, SHORTEST, SLICE, SOON, SysmonTick, Verdict,
};
use std::collections::BTreeSet;

/// A look at a P, without what only the moment counts for.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// Was the P idle at a tick since the look before?
    was_idle: bool,
    now: Nanos,
    dispatches: u32,
    syscall: Option<u32>,
}

/// What only the moment counts for.
#[derive(Debug, Clone, Copy)]
struct Flags {
    has_work: bool,
    somebody_looks: bool,
    is_wanted: bool,
}

impl Flags {
    const NONE: Flags = Flags { has_work: false, somebody_looks: false, is_wanted: false };

    fn all() -> impl Iterator<Item = Flags> {
        (0..8).map(|n| Flags { has_work: n & 1 != 0, somebody_looks: n & 2 != 0, is_wanted: n & 4 != 0 })
    }
}

fn look(seen: &mut SysmonTick, look: Look, flags: Flags) -> Verdict {
    let Look { was_idle, now, dispatches, syscall } = look;
    if was_idle {
        seen.idles();
    }
    let Flags { has_work, somebody_looks, is_wanted } = flags;
    seen.verdict(Observed { dispatches, syscall, has_work }, Around { now, somebody_looks, is_wanted, slice: SLICE })
}

/// For how long the looks have shown the same as the last one does.
fn shown_for<T: PartialEq>(looks: &[Look], what: impl Fn(&Look) -> T) -> Nanos {
    let last = &looks[looks.len() - 1];
    let first = looks.iter().rev().take_while(|look| what(look) == what(last)).last();
    first.map_or(0, |first| last.now - first.now)
}

/// The table at the top of the room, for the last look.
fn rule(looks: &[Look], flags: Flags) -> Verdict {
    let last = &looks[looks.len() - 1];
    let since_idle = looks.iter().rposition(|look| look.was_idle).unwrap_or(0);
    let is_long = shown_for(&looks[since_idle..], |look| look.dispatches) >= SLICE;
    if last.syscall.is_none() {
        return if is_long { Preempt } else { Leave };
    }
    let is_same_call = looks.len() > 1 && looks[looks.len() - 2].syscall == last.syscall;
    let is_needed = flags.has_work || !flags.somebody_looks || shown_for(looks, |look| look.syscall) >= SLICE;
    if flags.is_wanted || (is_same_call || is_long) && is_needed { Retake } else { Leave }
}

/// Any look that comes one of these times after the one before. The first is at moment 1: 0 is the room's "never".
///
/// The two slices have the numbers `first` and the next, and so have the calls.
fn any_look<H: ModelHost>(before: Option<&Look>, after: &[Nanos], calls: &[Option<u32>], first: u32) -> Look {
    let was_idle = before.is_some() && H::choose(2) == 1;
    let n = H::choose(after.len() * 2 * calls.len());
    let (n, dispatches) = (n / 2, first.wrapping_add(n as u32 % 2));
    let now = before.map_or(1, |look| look.now) + after[n / calls.len()];
    Look { was_idle, now, dispatches, syscall: calls[n % calls.len()].map(|call| first.wrapping_add(call)) }
}

fn three_looks<H: ModelHost>() -> String {
    verdicts::<H>(&[0, 1, SLICE - 1, SLICE], 0)
}

/// The second slice, and the second call, have the smaller number.
fn three_looks_at_the_wrap<H: ModelHost>() -> String {
    verdicts::<H>(&[1, SLICE], u32::MAX)
}

fn verdicts<H: ModelHost>(after: &[Nanos], first: u32) -> String {
    let (mut seen, mut looks) = (SysmonTick::default(), Vec::new());
    let mut said = BTreeSet::new();
    for _ in 0..3 {
        looks.push(any_look::<H>(looks.last(), after, &[None, Some(0), Some(1)], first));
        let now = looks[looks.len() - 1];
        said.clear();
        let before = seen;
        look(&mut seen, now, Flags::NONE);
        for flags in Flags::all() {
            let (mut then, told) = (before, rule(&looks, flags));
            let verdict = look(&mut then, now, flags);
            assert!(verdict == told, "{verdict:?} instead of {told:?}, with {flags:?}, after {looks:?}");
            assert!(then == seen, "what is remembered depends on {flags:?}, after {looks:?}");
            said.insert(format!("{verdict:?}"));
        }
    }
    format!("{said:?}")
}

fn four_looks<H: ModelHost>() -> String {
    news::<H>(0)
}

fn four_looks_at_the_wrap<H: ModelHost>() -> String {
    news::<H>(u32::MAX)
}

fn news<H: ModelHost>(first: u32) -> String {
    let (mut seen, mut looks) = (SysmonTick::default(), Vec::new());
    let (mut asked, mut news) = (None, Vec::new());
    for _ in 0..4 {
        looks.push(any_look::<H>(looks.last(), &[0, SLICE], &[None, Some(0)], first));
        let now = looks[looks.len() - 1];
        let is_needspinning = look(&mut seen, now, Flags::NONE) == Preempt;
        // The one that was asked before it, if any, ran in another slice.
        asked = asked.filter(|_| !now.was_idle);
        let told = is_needspinning && asked != Some(now.dispatches);
        let is_news = seen.is_news();
        assert!(is_news == told, "asked to yield: {is_needspinning}, and it is news: {is_news}, after {looks:?}");
        asked = if is_needspinning { Some(now.dispatches) } else { asked };
        news.push(u8::from(is_news));
    }
    format!("news {news:?}")
}

/// A turn of the monitor: it looks whether anything is to see, and ticks.
#[derive(Debug, Clone, Copy)]
struct Turn {
    is_quiet: bool,
    retook: bool,
    asked: bool,
}

const BUSY: Turn = Turn { is_quiet: false, retook: false, asked: false };
const STILL: Turn = Turn { is_quiet: true, ..BUSY };

/// The turns since something last began.
#[derive(Default)]
struct Since {
    ticks: u32,
    /// At which of these a G was asked to yield.
    asked: Vec<u32>,
    /// How many naps there were since the last of these.
    naps: u32,
}

impl Since {
    /// So long until the next: twice as long with each tick beyond the monitor's patience.
    fn delay(&self) -> Nanos {
        if self.naps > 0 {
            return QUIET;
        }
        let grown = |from: Nanos, at: u32| {
            let ticks = self.ticks.saturating_sub(at.max(PATIENCE));
            from.saturating_mul(1 << ticks.min(32))
        };
        let soon = self.asked.iter().map(|at| grown(SOON, *at)).min();
        soon.unwrap_or(LONGEST).min(grown(SHORTEST, 0)).min(LONGEST)
    }

    /// Naps are no ticks: after them it goes on as before.
    fn ticks(&mut self, turn: Turn) {
        match turn {
            Turn { retook: true, .. } => *self = Since::default(),
            Turn { is_quiet: true, .. } => self.naps += 1,
            _ => (self.ticks, self.naps) = (self.ticks + 1, 0),
        }
        if turn.asked && self.naps == 0 {
            self.asked.push(self.ticks);
        }
    }
}

/// As the monitor does. Did it sleep deeply?
fn turns(pace: &mut Pace, since: &mut Since, turn: Turn) -> bool {
    let told = turn.is_quiet && since.naps >= CALM;
    let may_sleep = pace.may_sleep(turn.is_quiet);
    assert!(may_sleep == told, "{} naps, {turn:?}: may it sleep deeply? {may_sleep}", since.naps);
    if may_sleep {
        (*pace, *since) = (Pace::new(), Since::default());
        return true;
    }
    pace.after(turn.retook);
    if turn.asked {
        pace.hurry();
    }
    since.ticks(turn);
    let (delay, told) = (pace.delay(), since.delay());
    assert!(delay == told, "{delay} instead of {told} until the next tick, after {} ticks, {turn:?}", since.ticks);
    false
}

fn four_stretches<H: ModelHost>() -> String {
    let stretches = [
        (BUSY, 1),
        (BUSY, 9),
        (BUSY, PATIENCE),
        (Turn { retook: true, ..BUSY }, 1),
        (Turn { asked: true, ..BUSY }, 1),
        (STILL, 1),
        (STILL, CALM),
        (Turn { retook: true, ..STILL }, 1),
        (Turn { asked: true, ..STILL }, 1),
    ];
    let (mut pace, mut since, mut slept) = (Pace::new(), Since::default(), false);
    for _ in 0..4 {
        let (turn, n) = any_of::<H, _>(&stretches);
        for _ in 0..n {
            slept |= turns(&mut pace, &mut since, turn);
        }
    }
    format!("{} us{}", pace.delay() / 1000, if slept { ", slept" } else { "" })
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sysmon::the_verdict_is_the_rules::three_looks", three_looks,
        claim: "what the monitor does with a P is what the table says, told from all looks at it",
        size: "1 thread, every 3 looks, the P idle between or not: 2 slices, no call or 2, 0, 1, 10 ms - 1 and 10 ms later; all flags at each",
        invariants: [43],
        must_reach: [r#"{"Leave"}"#, r#"{"Preempt"}"#, r#"{"Leave", "Retake"}"#, r#"{"Retake"}"#],
        runs: [sc()]),
    crate::model!("sysmon::the_verdict_is_the_rules::three_looks_at_the_wrap", three_looks_at_the_wrap,
        claim: "the same as the numbers of slices and calls wrap around",
        size: "1 thread, every 3 looks, the P idle between or not: 2 slices, no call or 2, 1 ns and 10 ms later; all flags at each",
        invariants: [43],
        must_reach: [r#"{"Leave"}"#, r#"{"Preempt"}"#, r#"{"Leave", "Retake"}"#, r#"{"Retake"}"#],
        runs: [sc()]),
    crate::model!("sysmon::a_request_is_news_once::four_looks_at_the_wrap", four_looks_at_the_wrap,
        claim: "the same as the number of slices wraps around",
        size: "1 thread, every 4 looks, the P idle between or not: 2 slices, in a call or not, at once or 10 ms later",
        invariants: [],
        must_reach: ["news [0, 0, 0, 0]", "news [0, 1, 0, 1]"],
        runs: [sc()]),
    crate::model!("sysmon::a_request_is_news_once::four_looks", four_looks,
        claim: "that a G is asked to yield is news at the first tick in its slice, and at no other",
        size: "1 thread, every 4 looks, the P idle between or not: 2 slices, in a call or not, at once or 10 ms later",
        invariants: [],
        must_reach: ["news [0, 0, 0, 0]", "news [0, 1, 0, 0]", "news [0, 1, 0, 1]"],
        runs: [sc()]),
    crate::model!("sysmon::the_pace_is_the_rules::four_stretches", four_stretches,
        claim: "how long the monitor naps, and when it sleeps, follows from the turns since something last began",
        size: "1 thread, every 4 stretches: 1, 9 or 50 busy turns, 1 or 8 quiet; a retake or a request in either",
        invariants: [],
        must_reach: ["20 us", "40 us", "2000 us", "5000 us", "10000 us", "us, slept"],
        runs: [sc()]),
];
