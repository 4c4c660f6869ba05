//! Traces are played, and counted.

use super::protocols::Protocol;
use super::recorded::Item;
use crate::scenes::Scenario;
use spinpark_parameterized::finite::{Finite, State};
use spinpark_parameterized::replay::Replay;
use spinpark_parameterized::system::System;
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

/// Executions of the kernel, each of a scenario.
pub(crate) type Traces = Vec<(Scenario, Vec<Item>)>;

/// What became of a trace.
struct Played {
    /// Where it was refused, and where the system may have been then.
    refused: Option<(usize, Vec<State>)>,
    /// The steps that moved the system. The others only say what a thread has read, or where it is.
    moved: Vec<usize>,
    taken: Vec<usize>,
    most: usize,
    /// Where the system may be after each step: a hash.
    after: Vec<u64>,
}

fn replayed<P: Protocol>(protocol: &P, finite: &Finite<'_>, scenario: &Scenario, trace: &[P::Step]) -> Played {
    let mut replay = Replay::new(finite, protocol.begins(finite, scenario));
    let (mut most, mut moved, mut carry) = (0, Vec::new(), P::Carry::default());
    let mut after = Vec::new();
    let hash = |state: &State| BuildHasherDefault::<DefaultHasher>::default().hash_one(state);
    for (at, step) in trace.iter().enumerate() {
        let before = replay.states.clone();
        replay.moved = false;
        if !protocol.play(&mut replay, *step, scenario, &mut carry) {
            return Played { refused: Some((at, before)), moved, taken: replay.taken, most, after };
        }
        after.push(replay.states.iter().map(hash).fold(0, u64::wrapping_add));
        if replay.moved {
            moved.push(at);
        }
        most = most.max(replay.states.len());
    }
    let before = replay.states.clone();
    let ends = replay.only(|finite, state| protocol.may_end(finite, state, scenario));
    Played { refused: (!ends).then_some((trace.len(), before)), moved, taken: replay.taken, most, after }
}

/// Is it refused?
pub(crate) fn is_refused<P: Protocol>(protocol: &P, system: &System, scenario: &Scenario, items: &[Item]) -> bool {
    let finite = Finite::new(system, &protocol.sizes(scenario));
    let traces = protocol.steps(scenario, items);
    traces.iter().any(|trace| replayed(protocol, &finite, scenario, trace).refused.is_some())
}

/// What was played.
pub(crate) struct Account {
    system: System,
    pub(crate) executions: usize,
    distinct: HashSet<u64>,
    steps: usize,
    most: usize,
    taken: Vec<usize>,
    time: Duration,
}

impl Account {
    pub(crate) fn of<P: Protocol>(protocol: &P) -> Account {
        let system = protocol.system();
        let taken = vec![0; system.transitions.len()];
        Account { system, executions: 0, distinct: HashSet::new(), steps: 0, most: 0, taken, time: Duration::ZERO }
    }

    /// Each execution of the kernel must be one of the protocol.
    pub(crate) fn play<P: Protocol>(&mut self, protocol: &P, traces: &Traces) {
        let begun = Instant::now();
        for (scenario, items) in traces.iter().filter(|(scenario, _)| protocol.has(scenario)) {
            let finite = Finite::new(&self.system, &protocol.sizes(scenario));
            for trace in protocol.steps(scenario, items) {
                self.executions += 1;
                self.steps += trace.len();
                let mut hasher = DefaultHasher::new();
                (&trace, scenario.order).hash(&mut hasher);
                if !self.distinct.insert(hasher.finish()) {
                    continue;
                }
                let played = replayed(protocol, &finite, scenario, &trace);
                if let Some((at, before)) = played.refused {
                    let last = &trace[at.saturating_sub(40)..trace.len().min(at + 1)];
                    last.iter().enumerate().for_each(|(n, step)| println!("{n}: {step:?}"));
                    println!("{} states, the first:\n{}", before.len(), finite.describe(&before[0]));
                    let step = trace.get(at);
                    panic!("{scenario:?}: step {at} of {} is none of the protocol's: {step:?}", trace.len());
                }
                self.most = self.most.max(played.most);
                self.taken.iter_mut().zip(&played.taken).for_each(|(all, one)| *all += one);
            }
        }
        self.time += begun.elapsed();
    }

    /// The transitions that no execution has taken.
    pub(crate) fn never(&self) -> Vec<&'static str> {
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
pub(crate) fn refused<P: Protocol>(protocol: &P, traces: &Traces) -> (usize, usize) {
    let system = protocol.system();
    let (mut refused, mut all, mut same) = (0, 0, 0);
    let mut accepted: Vec<(&str, P::Step)> = Vec::new();
    for (scenario, items) in traces.iter().filter(|(scenario, _)| protocol.has(scenario)) {
        let finite = Finite::new(&system, &protocol.sizes(scenario));
        for trace in protocol.steps(scenario, items) {
            let right = replayed(protocol, &finite, scenario, &trace);
            for &at in &right.moved {
                for Changed { what, wrong, until } in changed(protocol, &trace, &right.moved, at) {
                    let played = replayed(protocol, &finite, scenario, &wrong);
                    let is_refused = played.refused.is_some();
                    if !is_refused && wrong.len() == trace.len() && played.after[until] == right.after[until] {
                        // Two steps that lead to the same place in either order: nothing is changed.
                        same += 1;
                        continue;
                    }
                    all += 1;
                    refused += usize::from(is_refused);
                    accepted.extend((!is_refused).then_some((what, trace[at])));
                }
            }
        }
    }
    println!("{}: {refused} of {all} changed traces are refused; {same} swaps change nothing", system.name);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (what, step) in &accepted {
        let text = format!("{step:?}");
        let label = text.split("label: ").nth(1).unwrap_or("").split([' ', '(', '}']).next().unwrap_or("").to_owned();
        *kinds.entry(format!("{what} {label}")).or_default() += 1;
    }
    println!("accepted: {kinds:?}");
    (refused, all)
}

/// A trace that is changed at one place.
struct Changed<S> {
    what: &'static str,
    wrong: Vec<S>,
    /// From this step on it is as it was.
    until: usize,
}

/// The trace without its step `at`, with it twice, and with it and the next of its thread that moves the system in the other order.
fn changed<P: Protocol>(protocol: &P, trace: &[P::Step], moved: &[usize], at: usize) -> Vec<Changed<P::Step>> {
    let mut gone = trace.to_vec();
    gone.remove(at);
    let mut twice = trace.to_vec();
    twice.insert(at, trace[at]);
    let mut wrongs =
        vec![Changed { what: "gone", wrong: gone, until: at }, Changed { what: "twice", wrong: twice, until: at }];
    let next = moved.iter().find(|then| **then > at && protocol.thread(trace[**then]) == protocol.thread(trace[at]));
    if let Some(&then) = next
        && trace[then] != trace[at]
    {
        let mut swapped = trace.to_vec();
        swapped.swap(at, then);
        wrongs.push(Changed { what: "swapped", wrong: swapped, until: then });
    }
    wrongs
}
