//! The protocols, as what a trace is an execution of.

use super::functions::Functions;
use super::recorded::Item;
use super::{runq, sched};
use crate::scenes::{Act, Scenario};
use spinpark_parameterized::finite::{Finite, State};
use spinpark_parameterized::replay::Replay;
use spinpark_parameterized::system::System;
use std::fmt::Debug;
use std::hash::Hash;

/// So many threads there are that are no Ms.
fn others(scenario: &Scenario) -> usize {
    2 + usize::from(scenario.ticks > 0) + scenario.stoppers.saturating_sub(1)
}

/// A trace, and what of it a protocol sees: one of its steps.
pub(crate) trait Protocol {
    type Step: Copy + Eq + Hash + Debug;
    /// What is carried along beside the states.
    type Carry: Default;
    fn system(&self) -> System;
    fn sizes(&self, scenario: &Scenario) -> Vec<usize>;
    fn begins(&self, finite: &Finite<'_>, scenario: &Scenario) -> Vec<State>;
    /// Does the drawing have what happens there?
    fn has(&self, _scenario: &Scenario) -> bool {
        true
    }
    /// One execution of the kernel may be several of the protocol.
    fn steps(&self, scenario: &Scenario, items: &[Item]) -> Vec<Vec<Self::Step>>;
    fn play(&self, replay: &mut Replay<'_>, step: Self::Step, scenario: &Scenario, carry: &mut Self::Carry) -> bool;
    /// May a trace end here?
    fn may_end(&self, finite: &Finite<'_>, state: &State, scenario: &Scenario) -> bool;
    fn thread(&self, step: Self::Step) -> u8;
}

/// The last says which step of the drawing is wrong, if any.
pub(crate) struct Scheduler(pub(crate) Functions, pub(crate) &'static str);

impl Protocol for Scheduler {
    type Step = sched::Step;
    type Carry = sched::Scans;
    fn system(&self) -> System {
        spinpark_parameterized::sched::system(self.1)
    }
    fn sizes(&self, scenario: &Scenario) -> Vec<usize> {
        vec![scenario.ms() + others(scenario), scenario.procs, sched::GS + 1, sched::CALLS]
    }
    fn begins(&self, finite: &Finite<'_>, scenario: &Scenario) -> Vec<State> {
        sched::begins(finite, scenario.ms() as u8)
    }
    fn has(&self, scenario: &Scenario) -> bool {
        let acts = scenario.acts;
        scenario.stoppers == 0 && scenario.refusals == 0 && !acts.contains(&Act::Stop) && !acts.contains(&Act::Detach)
    }
    fn steps(&self, scenario: &Scenario, items: &[Item]) -> Vec<Vec<Self::Step>> {
        sched::steps(items, scenario.ms() as u8, &self.0).into_iter().collect()
    }
    fn play(&self, replay: &mut Replay<'_>, step: Self::Step, scenario: &Scenario, carry: &mut Self::Carry) -> bool {
        sched::play(replay, step, carry, scenario.order)
    }
    fn may_end(&self, finite: &Finite<'_>, state: &State, _: &Scenario) -> bool {
        sched::is_at_rest(finite, state)
    }
    fn thread(&self, step: Self::Step) -> u8 {
        step.m
    }
}

pub(crate) struct RunQueue(pub(crate) Functions);

impl Protocol for RunQueue {
    type Step = runq::Step;
    type Carry = ();
    fn system(&self) -> System {
        spinpark_parameterized::runq::system("")
    }
    fn sizes(&self, scenario: &Scenario) -> Vec<usize> {
        vec![scenario.ms() + others(scenario), runq::PUTS_AT_MOST]
    }
    fn begins(&self, finite: &Finite<'_>, scenario: &Scenario) -> Vec<State> {
        runq::begins(finite, scenario.ring as u8)
    }
    fn steps(&self, scenario: &Scenario, items: &[Item]) -> Vec<Vec<Self::Step>> {
        (0..scenario.procs as u8).filter_map(|p| runq::steps(items, p, scenario.ring as u64, &self.0)).collect()
    }
    fn play(&self, replay: &mut Replay<'_>, step: Self::Step, _: &Scenario, (): &mut ()) -> bool {
        runq::play(replay, step)
    }
    fn may_end(&self, finite: &Finite<'_>, state: &State, _: &Scenario) -> bool {
        runq::is_at_rest(finite, state)
    }
    fn thread(&self, step: Self::Step) -> u8 {
        step.t
    }
}
