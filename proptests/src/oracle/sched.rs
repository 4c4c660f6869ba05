//! The whole scheduler beside [its lists](spinpark_verification::spec), as a state machine for proptest: the programs are
//! drawn by it, and made short when one fails.

use crate::check::{Broken, Tally};
use crate::machine::Played;
use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::ReferenceStateMachine;
use spinpark_verification::spec::{self, Model, Move, Numbers, Theme};

pub use spinpark_verification::spec::Wrong;

/// The state machine of [`Model`]. `WRONG`: the number of a [`Wrong`] rule; 0: none.
#[derive(Debug)]
pub struct Machine<const WRONG: u8>;

impl<const WRONG: u8> ReferenceStateMachine for Machine<WRONG> {
    type State = Model;
    type Transition = Move;

    fn init_state() -> BoxedStrategy<Model> {
        let wrong = Wrong::ALL.into_iter().find(|wrong| *wrong as u8 == WRONG);
        let themes = select(&Theme::ALL[..]);
        (numbers(), themes).prop_map(move |(numbers, theme)| Model::new(numbers, wrong).about(theme)).boxed()
    }

    fn transitions(model: &Model) -> BoxedStrategy<Move> {
        let seed = prop_oneof![1 => Just(0), 3 => 0..1000u64];
        (select(model.allowed()), seed).prop_map(|(what, seed)| Move { what, seed }).boxed()
    }

    fn preconditions(model: &Model, this: &Move) -> bool {
        model.allows(this.what)
    }

    fn apply(mut model: Model, this: &Move) -> Model {
        model.make(*this);
        model
    }
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let ps = (1..=3usize, 0..=2usize);
    let queues = (1..=3u32, any::<bool>(), select(&[0, 1, 3, 61][..]), 1..=3u32);
    let max_ms = (prop_oneof![3 => 4..=6usize, 1 => 1..=3usize], 0..=2usize, any::<bool>());
    (ps, queues, select(&[1, 2, 4][..]), max_ms, select(&[0, 10_000_001][..])).prop_map(
        |(
            (procs, spare),
            (ring_log, global_first, global_every, inherit_at_most),
            steal_passes,
            (max_ms, max_detached, elsewhere),
            peek_every,
        )| Numbers {
            procs,
            spare,
            ring_log,
            global_first,
            global_every,
            inherit_at_most,
            steal_passes,
            max_ms,
            max_detached,
            elsewhere,
            peek_every,
        },
    )
}

impl<const WRONG: u8> Played for Machine<WRONG> {
    fn play(start: &Model, moves: &[Move], step: impl Fn()) -> Result<Tally, Broken> {
        spec::play(start, moves, step)
    }

    fn setting(start: &Model) -> String {
        format!("{:?}", start.numbers())
    }

    fn simplest(this: &Move) -> Move {
        Move { seed: 0, ..*this }
    }
}
