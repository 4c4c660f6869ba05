//! A room of the kernel and its reference model as a state machine: operations that make sense whatever came before.

use super::Played;
use crate::check::{Broken, Tally};
use crate::oracle::{Subject, compare};
use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A part of the kernel, and the reference model that knows its answers.
pub trait Room: 'static {
    /// What both are made from.
    type Setup: Clone + Debug;
    /// The part of the kernel.
    type Kernel: Subject<Op = <Self::Oracle as Subject>::Op, State = <Self::Oracle as Subject>::State>;
    /// The reference model.
    type Oracle: Subject + Clone + Debug;

    /// Any setup.
    fn setups() -> BoxedStrategy<Self::Setup>;
    /// Any operation.
    fn ops() -> BoxedStrategy<<Self::Oracle as Subject>::Op>;
    /// Both, made from `setup`.
    fn both(setup: &Self::Setup) -> (Self::Kernel, Self::Oracle);
    /// What was reached in `oracle`.
    fn seen(oracle: Self::Oracle) -> Tally;
}

/// The state machine of a [`Room`].
#[derive(Debug)]
pub struct Of<R>(PhantomData<R>);

impl<R: Room> ReferenceStateMachine for Of<R> {
    type State = R::Setup;
    type Transition = <R::Oracle as Subject>::Op;

    fn init_state() -> BoxedStrategy<R::Setup> {
        R::setups()
    }

    fn transitions(_: &R::Setup) -> BoxedStrategy<Self::Transition> {
        R::ops()
    }

    /// What is asked next does not depend on what came before, so only the setup is remembered.
    fn apply(setup: R::Setup, _: &Self::Transition) -> R::Setup {
        setup
    }
}

impl<R: Room> Played for Of<R> {
    fn play(setup: &R::Setup, ops: &[Self::Transition], step: impl Fn()) -> Result<Tally, Broken> {
        ops.iter().for_each(|_| step());
        let (mut kernel, mut oracle) = R::both(setup);
        compare(&mut kernel, &mut oracle, ops)?;
        Ok(R::seen(oracle))
    }

    fn setting(setup: &R::Setup) -> String {
        format!("{setup:?}")
    }
}
