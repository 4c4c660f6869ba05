//! The whole scheduler, in which one move is made in the middle of another.
//!
//! The moves are those of [the lists](crate::spec), and so is what is done before. Then one party makes a move, and is
//! interrupted before one of its steps outside of the lock: another makes a move, perhaps a third does, each whole or
//! interrupted too; then they go on, the first first. What comes of it the lists do not say: they know no move that is
//! interrupted. So it is judged when each party has done what it can, and none looks, ticks or submits any more: no G
//! waits beside an idle P if an M is available, only parties with nothing to do sleep, an M waits for what may come
//! from elsewhere, and each G was found once for each time it was queued; and if it was closed, all have ended.
//!
//! A mistake that needs one party to come at the wrong moment, once, is one of these plays: few preemptions, in the words of
//! *CHESS*. They are many, and sampled at random.

use crate::engines::Engine;
use crate::harness::common::any_of;
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sampled};
use crate::spec::What::{
    Arrive, Await, Block, Calm, Close, End, Enter, GoOn, Next, Park, Ready, ReadyBound, StartMonitor, Stop, Submit,
    Tick, Timer,
};
use crate::spec::{Activity, Ev, Item, Kernel, Lists, Move, Numbers, What, Who};
use spinpark_kernel::protocol::locked::Wake;
use std::collections::BTreeMap;

/// Two Ps, and more Ms than that.
const TWO: Numbers = Numbers {
    procs: 2,
    spare: 0,
    ring_log: 1,
    global_first: false,
    global_every: 3,
    inherit_at_most: 1,
    steal_passes: 2,
    max_ms: 4,
    max_detached: 0,
    elsewhere: true,
    peek_every: 0,
};

/// Three of each.
const THREE: Numbers = Numbers { procs: 3, max_ms: 3, ..TWO };

/// One P.
const ONE: Numbers = Numbers { procs: 1, max_ms: 2, ..TWO };

/// One P, one M.
const SINGLE: Numbers = Numbers { procs: 1, max_ms: 1, ..TWO };

const M0: Who = Who::M(0);
const M1: Who = Who::M(1);
const M2: Who = Who::M(2);
const OUT: Who = Who::Outsider(0);

/// How often each G was queued and found so far, and what is done next.
struct Play {
    kernel: Kernel,
    queued: BTreeMap<u64, usize>,
    found: BTreeMap<u64, usize>,
    made: Vec<String>,
}

impl Play {
    fn fails(&self, why: &str) -> ! {
        panic!("{why}\n  {}", self.made.join("\n  "))
    }

    /// What was seen of the last move.
    fn note(&mut self) {
        let seen = self.kernel.seen_now();
        for event in &seen.events {
            match event {
                Ev::Queued(_, Item::G(g)) | Ev::QueuedNext(_, Item::G(g)) => *self.queued.entry(*g).or_default() += 1,
                Ev::Found { item: Item::G(g), .. } => *self.found.entry(*g).or_default() += 1,
                _ => (),
            }
        }
        let mut ps: Vec<usize> = seen
            .ms
            .iter()
            .filter_map(|parker| match parker {
                Activity::Runs { p, .. } => Some(*p),
                _ => None,
            })
            .collect();
        ps.sort_unstable();
        if let Some(twice) = ps.windows(2).find(|two| two[0] == two[1]) {
            self.fails(&format!("P{} is had by two Ms", twice[0]));
        }
    }

    fn make(&mut self, what: What) {
        self.made.push(format!("{what:?}"));
        self.kernel.make(Move { what, seed: 0 });
        self.note();
    }

    /// Each party does what it can.
    fn goes_on(&mut self) {
        for _ in 0..400 {
            match self.kernel.goes_on() {
                Some(what) => self.make(what),
                None => return,
            }
        }
        self.fails("there is no end");
    }

    fn judge(&mut self, has_closed: bool) {
        if let Some(why) = self.kernel.fault(has_closed) {
            self.fails(&why);
        }
    }
}

/// The number of a step; small ones more often.
fn any_step<H: ModelHost>() -> u32 {
    1 + [4, 16, 64][H::choose(3)] * H::choose(8) as u32 / 8 + H::choose(8) as u32
}

/// After these moves one is made in another.
fn one_in_another<H: ModelHost>(numbers: Numbers, before: &[What]) -> String {
    let mut lists = Lists::new(numbers, None);
    let mut play =
        Play { kernel: Kernel::new(numbers), queued: BTreeMap::new(), found: BTreeMap::new(), made: Vec::new() };
    for &what in before {
        assert!(lists.allows(what), "{what:?} makes no sense here");
        lists.make(Move { what, seed: 0 });
        play.make(what);
    }
    let mut all = lists.allowed();
    all.dedup();
    // Without refused threads and expected Gs: work may wait for either.
    all.retain(|what| !matches!(what, What::Refuse(_) | What::Stir(_) | What::Expect(_) | What::ExpectSilently(_)));
    let first = any_of::<H, _>(&all);
    let step = any_step::<H>();
    play.made.push(format!("{first:?}, up to its step {step}:"));
    let is_paused = play.kernel.make_in_part(Move { what: first, seed: 0 }, step);
    play.note();
    let mut closes = first == Close;
    if is_paused {
        let (mut busy, mut interrupted) = (vec![first.by()], 1);
        for _ in 0..1 + H::choose(2) {
            let meets = |what: &What| {
                let is_another = what.by().is_none() || !busy.contains(&what.by());
                // A thread from outside that is in the middle of a move holds what it works with.
                is_another && !(closes && (*what == Submit || what.by() == Some(OUT) || *what == Close))
            };
            let others: Vec<What> = all.iter().copied().filter(meets).collect();
            if others.is_empty() {
                break;
            }
            let other = any_of::<H, _>(&others);
            closes |= other == Close;
            busy.push(other.by());
            // There is one watch, one poller and one line outside.
            all.retain(|what| {
                *what != other && !matches!((what, other), (Timer(..), Timer(..)) | (Await(..), Await(..)))
            });
            if H::choose(2) == 0 {
                play.make(other);
            } else {
                let step = any_step::<H>();
                play.made.push(format!("{other:?}, up to its step {step}:"));
                interrupted += usize::from(play.kernel.make_in_part(Move { what: other, seed: 0 }, step));
                play.note();
            }
        }
        for _ in 0..interrupted {
            play.made.push("the first goes on".to_owned());
            play.kernel.finish();
            play.note();
        }
    }
    play.goes_on();
    play.judge(closes);
    // Those that wait for a G are readied.
    for m in 0..numbers.ms() {
        if !closes {
            play.make(ReadyBound(m));
        }
    }
    play.goes_on();
    play.judge(closes);
    let twice = play.found.iter().find(|(g, found)| **found > play.queued.get(g).copied().unwrap_or(0) + 1);
    if let Some((g, _)) = twice {
        play.fails(&format!("G{g} was found more often than it was queued"));
    }
    if is_paused { "one in another".to_owned() } else { "one after another".to_owned() }
}

/// After any of these beginnings: Gs come and go; they wait, and enter system calls; timers, the poller, the monitor; the
/// world is stopped, and goes on.
const BEGINNINGS: &[(Numbers, &[What])] = &[
    (TWO, &[]),
    (TWO, &[Submit, GoOn(M0)]),
    (ONE, &[Submit, GoOn(M0)]),
    (SINGLE, &[Submit, GoOn(M0)]),
    (SINGLE, &[Submit, GoOn(M0), ReadyBound(0)]),
    (SINGLE, &[Submit, GoOn(M0), Block(0)]),
    (SINGLE, &[Submit, GoOn(M0), Submit]),
    (TWO, &[Submit, GoOn(M0), Ready(0), GoOn(M1), Ready(0), Ready(0), Ready(1)]),
    (TWO, &[Submit, GoOn(M0), Submit, GoOn(M1), Next(0), Next(1)]),
    (THREE, &[Submit, GoOn(M0), Submit, GoOn(M1), Submit, GoOn(M2), Ready(0)]),
    (THREE, &[Submit, GoOn(M0), Ready(0), Arrive(2), GoOn(M1)]),
    (TWO, &[Submit, GoOn(M0), Park(0, Wake::Outside)]),
    (TWO, &[Submit, GoOn(M0), Ready(0), GoOn(M1), Park(0, Wake::Inside), Enter(1)]),
    (TWO, &[Submit, GoOn(M0), Ready(0), GoOn(M1), Enter(0), Enter(1), Submit]),
    (ONE, &[Submit, GoOn(M0), Block(0), Submit, GoOn(M1)]),
    (ONE, &[Submit, GoOn(M0), Enter(0), Tick(20_000), Submit]),
    (SINGLE, &[Submit, GoOn(M0), Submit, Enter(0)]),
    (TWO, &[Submit, GoOn(M0), Submit, GoOn(M1), Block(0), Submit, GoOn(M2), Submit]),
    (THREE, &[Submit, GoOn(M0), Park(0, Wake::Inside), Submit, GoOn(M1), End(1)]),
    (TWO, &[Submit, GoOn(M0), Timer(None, 20_000), Next(0)]),
    (TWO, &[Submit, GoOn(M0), Await(None, true), Next(0)]),
    (TWO, &[Submit, GoOn(M0), Await(Some(0), true)]),
    (ONE, &[Submit, GoOn(M0), Timer(Some(0), 20_000)]),
    (ONE, &[Submit, GoOn(M0), Timer(Some(0), 20_000), Tick(20_000)]),
    (TWO, &[Submit, GoOn(M0), Submit, GoOn(M1), Timer(Some(0), 10_000_001), Next(0)]),
    (TWO, &[Submit, GoOn(M0), Submit, GoOn(M1), Await(None, true), Next(0), What::Report(3)]),
    (TWO, &[Submit, GoOn(M0), StartMonitor, GoOn(Who::Monitor), Park(0, Wake::Outside), Calm]),
    (TWO, &[Submit, GoOn(M0), Ready(0), GoOn(M1), Ready(0), Enter(1)]),
    (TWO, &[Submit, GoOn(M0), Ready(0), GoOn(M1), Ready(0), Enter(1), Stop(OUT)]),
    (TWO, &[Submit, GoOn(M0), Ready(0), Block(0), Stop(OUT)]),
    (TWO, &[Submit, GoOn(M0), Stop(OUT), Stop(Who::Outsider(1))]),
    (TWO, &[Submit, GoOn(M0), Submit, GoOn(M1), What::ForEachP(OUT), Enter(1)]),
    (TWO, &[Submit, GoOn(M0), Submit, GoOn(M1), Park(0, Wake::Outside), Enter(1)]),
    (ONE, &[Submit, GoOn(M0), Submit, Block(0), GoOn(M1)]),
    (TWO, &[Submit, GoOn(M0), Ready(0), Ready(0), Stop(OUT)]),
];

fn one_move_in_another<H: ModelHost>() -> String {
    let (numbers, before) = BEGINNINGS[H::choose(BEGINNINGS.len())];
    let global_first = H::choose(2) == 1;
    one_in_another::<H>(Numbers { global_first, ..numbers }, before)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::an_interruption_costs_nothing::one_move_in_another", one_move_in_another,
        claim: "Gs come, wait and call, timers fire, the world stops: whichever party is interrupted, nothing is lost, \
                left or missed",
        size: "one is interrupted before any of about 70 steps, by one or two others, which may be too; 1 to 3 Ps, 1 to 4 Ms",
        invariants: [1, 2, 4, 16, 30, 31, 32, 34, 36],
        must_reach: ["one in another", "one after another"],
        runs: [sampled(Engine::Random, 8_000)]),
];
