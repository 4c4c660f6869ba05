//! That the systems which are proved for every size are this kernel: what the kernel does, they can do, and what they
//! can do, some execution of the kernel does. See docs/evidence/every-size.md.

#[path = "every_size/kernel.rs"]
mod kernel;
#[path = "every_size/recorded.rs"]
mod recorded;
#[path = "every_size/runq.rs"]
mod runq;
#[path = "every_size/spinning.rs"]
mod spinning;

use kernel::{Act, Scenario};
use recorded::{Functions, Item};
use spinpark::kernel::protocol::sources::SearchOrder::{self, GlobalFirst, StealFirst};
use spinpark_parameterized::finite::{Finite, State};
use spinpark_parameterized::replay::Replay;
use spinpark_parameterized::system::System;
use spinpark_verification::engines::{self, Engine, Job};
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::model::{Model, sampled};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::{Duration, Instant};

static TRACES: Mutex<Vec<(Scenario, Vec<Item>)>> = Mutex::new(Vec::new());

fn played<H: ModelHost>(scenario: Scenario) -> String {
    let items = kernel::play::<H>(scenario);
    TRACES.lock().expect("nobody panics with it").push((scenario, items));
    "played".to_owned()
}

const FAMILY: Scenario =
    Scenario { acts: &[Act::Spawn(2), Act::Yield], procs: 2, ring: 2, max_ms: 3, order: StealFirst };
const CALLS: Scenario =
    Scenario { acts: &[Act::Block, Act::Spawn(1), Act::YieldHere], procs: 2, ring: 2, max_ms: 3, order: GlobalFirst };
const SPILLS: Scenario = Scenario { acts: &[Act::Spawn(4), Act::Run], procs: 2, ring: 2, max_ms: 3, order: StealFirst };
const MANY: Scenario = Scenario {
    acts: &[Act::Run, Act::Run, Act::Run, Act::Run, Act::Run],
    procs: 2,
    ring: 4,
    max_ms: 2,
    order: GlobalFirst,
};
const STEALS: Scenario = Scenario { acts: &[Act::Spawn(4)], procs: 3, ring: 4, max_ms: 3, order: StealFirst };
const SHORT: Scenario = Scenario {
    acts: &[Act::Call, Act::Block, Act::Block, Act::Spawn(1)],
    procs: 2,
    ring: 2,
    max_ms: 2,
    order: StealFirst,
};

fn family<H: ModelHost>() -> String {
    played::<H>(FAMILY)
}
fn calls<H: ModelHost>() -> String {
    played::<H>(CALLS)
}
fn spills<H: ModelHost>() -> String {
    played::<H>(SPILLS)
}
fn many<H: ModelHost>() -> String {
    played::<H>(MANY)
}
fn steals<H: ModelHost>() -> String {
    played::<H>(STEALS)
}
fn short<H: ModelHost>() -> String {
    played::<H>(SHORT)
}

macro_rules! play {
    ($path:literal, $name:ident) => {
        spinpark_verification::model!($path, $name,
            claim: "it is played", size: "2 Ps, 3 Ms", invariants: [], must_reach: ["played"],
            runs: [sampled(Engine::Random, 1), sampled(Engine::Pct, 1)])
    };
}
const MODELS: &[Model] = &[
    play!("every_size::family", family),
    play!("every_size::calls", calls),
    play!("every_size::spills", spills),
    play!("every_size::many", many),
    play!("every_size::steals", steals),
    play!("every_size::short", short),
];

/// So many executions of each scenario, by each of two ways to sample.
fn traces(seed: u64, n: u64) -> Vec<(Scenario, Vec<Item>)> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    for model in MODELS {
        for engine in [Engine::Random, Engine::Pct] {
            let (bounds, jobs) = (sampled(engine, n).bounds, NonZeroUsize::MIN);
            let job = Job { model, engine, bounds, mutation: None, seed, jobs, checkpoint: None };
            let outcome = engines::run(job, &engines::silent());
            assert_eq!(outcome.failure, None);
        }
    }
    std::mem::take(&mut *TRACES.lock().expect("nobody panics with it"))
}

/// A trace, and what of it a protocol sees: one of its steps.
trait Protocol {
    type Step: Copy + Eq + Hash + std::fmt::Debug;
    fn system(&self) -> System;
    fn sizes(&self, scenario: Scenario) -> Vec<usize>;
    fn begins(&self, finite: &Finite<'_>, scenario: Scenario) -> Vec<State>;
    /// One execution of the kernel may be several of the protocol.
    fn steps(&self, scenario: Scenario, items: &[Item]) -> Vec<Vec<Self::Step>>;
    fn play(&self, replay: &mut Replay<'_>, step: Self::Step) -> bool;
    /// May a trace end here?
    fn may_end(&self, finite: &Finite<'_>, state: &State) -> bool;
    fn thread(&self, step: Self::Step) -> u8;
}

/// The last says which step of the drawing is wrong, if any.
struct Spinning(Functions, RefCell<spinning::Scans>, Cell<SearchOrder>, &'static str);

impl Spinning {
    fn new() -> Spinning {
        Spinning(Functions::new(), RefCell::default(), Cell::default(), "")
    }
}

impl Protocol for Spinning {
    type Step = spinning::Step;
    fn system(&self) -> System {
        spinpark_parameterized::spinning::system(self.3)
    }
    fn sizes(&self, scenario: Scenario) -> Vec<usize> {
        vec![scenario.max_ms + spinning::OTHERS, scenario.procs, spinning::GS + 1]
    }
    fn begins(&self, finite: &Finite<'_>, scenario: Scenario) -> Vec<State> {
        self.1.take();
        self.2.set(scenario.order);
        spinning::begins(finite, scenario.max_ms as u8)
    }
    fn steps(&self, scenario: Scenario, items: &[Item]) -> Vec<Vec<Self::Step>> {
        vec![spinning::steps(items, scenario.max_ms as u8, &self.0)]
    }
    fn play(&self, replay: &mut Replay<'_>, step: Self::Step) -> bool {
        let mut scans = std::mem::take(&mut *self.1.borrow_mut());
        let is_played = spinning::play(replay, step, &mut scans, self.2.get());
        *self.1.borrow_mut() = scans;
        is_played
    }
    fn may_end(&self, finite: &Finite<'_>, state: &State) -> bool {
        spinning::is_at_rest(finite, state)
    }
    fn thread(&self, step: Self::Step) -> u8 {
        step.m
    }
}

struct RunQueue(Functions);

impl Protocol for RunQueue {
    type Step = runq::Step;
    fn system(&self) -> System {
        spinpark_parameterized::runq::system("")
    }
    fn sizes(&self, scenario: Scenario) -> Vec<usize> {
        vec![scenario.max_ms + 2, runq::PUTS_AT_MOST]
    }
    fn begins(&self, finite: &Finite<'_>, scenario: Scenario) -> Vec<State> {
        runq::begins(finite, scenario.ring as u8)
    }
    fn steps(&self, scenario: Scenario, items: &[Item]) -> Vec<Vec<Self::Step>> {
        (0..scenario.procs as u8).filter_map(|p| runq::steps(items, p, &self.0)).collect()
    }
    fn play(&self, replay: &mut Replay<'_>, step: Self::Step) -> bool {
        runq::play(replay, step)
    }
    fn may_end(&self, finite: &Finite<'_>, state: &State) -> bool {
        runq::is_at_rest(finite, state)
    }
    fn thread(&self, step: Self::Step) -> u8 {
        step.t
    }
}

/// What became of a trace.
struct Played {
    /// Where it was refused, and where the system may have been then.
    refused: Option<(usize, Vec<State>)>,
    /// The steps that moved the system. The others only say what a thread has read, or where it is.
    moved: Vec<usize>,
    taken: Vec<usize>,
    most: usize,
}

fn replayed<P: Protocol>(protocol: &P, finite: &Finite<'_>, scenario: Scenario, trace: &[P::Step]) -> Played {
    let mut replay = Replay::new(finite, protocol.begins(finite, scenario));
    let (mut most, mut moved) = (0, Vec::new());
    for (at, step) in trace.iter().enumerate() {
        let before = replay.states.clone();
        replay.moved = false;
        if !protocol.play(&mut replay, *step) {
            return Played { refused: Some((at, before)), moved, taken: replay.taken, most };
        }
        if replay.moved {
            moved.push(at);
        }
        most = most.max(replay.states.len());
    }
    let before = replay.states.clone();
    let ends = replay.only(|finite, state| protocol.may_end(finite, state));
    Played { refused: (!ends).then_some((trace.len() - 1, before)), moved, taken: replay.taken, most }
}

/// What was played.
struct Account {
    system: System,
    executions: usize,
    distinct: HashSet<u64>,
    steps: usize,
    most: usize,
    taken: Vec<usize>,
    time: Duration,
}

impl Account {
    fn of<P: Protocol>(protocol: &P) -> Account {
        let system = protocol.system();
        let taken = vec![0; system.transitions.len()];
        Account { system, executions: 0, distinct: HashSet::new(), steps: 0, most: 0, taken, time: Duration::ZERO }
    }

    /// Each execution of the kernel must be one of the protocol.
    fn play<P: Protocol>(&mut self, protocol: &P, traces: &[(Scenario, Vec<Item>)]) {
        let begun = Instant::now();
        for (scenario, items) in traces {
            let finite = Finite::new(&self.system, &protocol.sizes(*scenario));
            for trace in protocol.steps(*scenario, items) {
                self.executions += 1;
                self.steps += trace.len();
                let mut hasher = DefaultHasher::new();
                (&trace, scenario.order).hash(&mut hasher);
                if !self.distinct.insert(hasher.finish()) {
                    continue;
                }
                let played = replayed(protocol, &finite, *scenario, &trace);
                if let Some((at, before)) = played.refused {
                    let last = &trace[at.saturating_sub(40)..=at];
                    last.iter().enumerate().for_each(|(n, step)| println!("{n}: {step:?}"));
                    println!("{} states, the first:\n{}", before.len(), finite.describe(&before[0]));
                    panic!("step {at} of {} is none of the protocol's: {:?}", trace.len(), trace[at]);
                }
                self.most = self.most.max(played.most);
                self.taken.iter_mut().zip(&played.taken).for_each(|(all, one)| *all += one);
            }
        }
        self.time += begun.elapsed();
    }

    /// The transitions that no execution has taken.
    fn never(&self) -> Vec<&'static str> {
        let (name, all, distinct, steps, most) =
            (self.system.name, self.executions, self.distinct.len(), self.steps, self.most);
        println!(
            "{name}: {all} executions, {distinct} different, {steps} steps, none refused; {most} states at most, {:.1?}",
            self.time
        );
        let never = self.system.transitions.iter().zip(&self.taken).filter(|(_, n)| **n == 0);
        never.map(|(transition, _)| transition.name).collect()
    }
}

/// Of traces that are changed at one place, so many are refused.
fn refused<P: Protocol>(protocol: &P, traces: &[(Scenario, Vec<Item>)]) -> (usize, usize) {
    let system = protocol.system();
    let (mut refused, mut all) = (0, 0);
    let mut accepted: Vec<(&str, P::Step)> = Vec::new();
    for (scenario, items) in traces {
        let finite = Finite::new(&system, &protocol.sizes(*scenario));
        for trace in protocol.steps(*scenario, items) {
            let moved = replayed(protocol, &finite, *scenario, &trace).moved;
            for &at in &moved {
                let mut gone = trace.clone();
                gone.remove(at);
                let mut twice = trace.clone();
                twice.insert(at, trace[at]);
                let mut wrongs = vec![("gone", gone), ("twice", twice)];
                let next = moved
                    .iter()
                    .find(|then| **then > at && protocol.thread(trace[**then]) == protocol.thread(trace[at]));
                if let Some(&then) = next
                    && trace[then] != trace[at]
                {
                    let mut swapped = trace.clone();
                    swapped.swap(at, then);
                    wrongs.push(("swapped", swapped));
                }
                for (what, wrong) in wrongs {
                    all += 1;
                    if replayed(protocol, &finite, *scenario, &wrong).refused.is_some() {
                        refused += 1;
                    } else {
                        accepted.push((what, trace[at]));
                    }
                }
            }
        }
    }
    println!("{}: {refused} of {all} changed traces are refused", system.name);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (what, step) in &accepted {
        let text = format!("{step:?}");
        let label = text.split("label: ").nth(1).unwrap_or("").split([' ', '(', '}']).next().unwrap_or("").to_owned();
        *kinds.entry(format!("{what} {label}")).or_default() += 1;
    }
    println!("accepted: {kinds:?}");
    (refused, all)
}

/// At least so many executions are played.
const EXECUTIONS: usize = 10_000;

#[test]
fn every_execution_of_the_kernel_is_one_of_the_protocols() {
    let (spinning, runq) = (Spinning::new(), RunQueue(Functions::new()));
    let (mut of_spinning, mut of_runq) = (Account::of(&spinning), Account::of(&runq));
    let (mut seed, mut executions) = (0, 0);
    while executions < EXECUTIONS {
        seed += 1;
        let traces = traces(seed, 60);
        executions += traces.len();
        of_spinning.play(&spinning, &traces);
        of_runq.play(&runq, &traces);
    }
    println!("never taken: {:?}, {:?}", of_spinning.never(), of_runq.never());
    // And each transition is one of the kernel's, but for these: no monitor is played, and no M ends.
    assert_eq!(of_spinning.never(), NOT_PLAYED);
    // A thread that reads a slot after another put was made into it: on one ring of two that takes a thief that sleeps long.
    let never = of_runq.never();
    assert!(never.is_empty() || never == ["misreads_slot"], "{never:?}");
}

/// Transitions of the spinning protocol that no scenario plays.
const NOT_PLAYED: &[&str] = &["ends", "retakes", "takes_back"];

mod of_changed_traces {
    use super::*;

    /// At one place of each: an event is gone, is there twice, or has changed places with the next of its thread.
    fn nearly_all_are_refused<P: Protocol>(protocol: &P) {
        let traces: Vec<_> = traces(1, 5).into_iter().step_by(7).collect();
        let (refused, all) = refused(protocol, &traces);
        assert!(all > 1000 && refused * 100 >= all * 99, "{refused} of {all}");
    }

    #[test]
    fn of_spinning_nearly_all_are_refused() {
        nearly_all_are_refused(&Spinning::new());
    }

    #[test]
    fn of_the_run_queue_nearly_all_are_refused() {
        nearly_all_are_refused(&RunQueue(Functions::new()));
    }
}

/// A drawing that is not the kernel's is noticed: where the last spinning M finds work and wakes nobody, say.
#[test]
fn a_drawing_that_differs_from_the_kernel_refuses_executions() {
    let protocol = Spinning(Functions::new(), RefCell::default(), Cell::default(), "drops-the-baton");
    let system = protocol.system();
    let is_refused = |(scenario, items): &(Scenario, Vec<Item>)| {
        let finite = Finite::new(&system, &protocol.sizes(*scenario));
        let traces = protocol.steps(*scenario, items);
        traces.iter().any(|trace| replayed(&protocol, &finite, *scenario, trace).refused.is_some())
    };
    let traces = traces(1, 5);
    let refused = traces.iter().filter(|trace| is_refused(trace)).count();
    println!("{refused} of {} executions are refused", traces.len());
    assert!(refused > 0, "the kernel wakes another, and the drawing does not");
}
