//! The whole scheduler beside [its lists](spinpark_verification::spec), as a state machine for proptest: the programs are
//! drawn by it, and made short when one fails.

use crate::check::{Broken, Tally};
use crate::machine::Played;
use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::ReferenceStateMachine;
use spinpark_verification::spec::{self, Lists, Move, Numbers, Theme};

pub use spinpark_verification::spec::Wrong;

/// The state machine of [`Lists`]. `WRONG`: the number of a [`Wrong`] rule; 0: none.
#[derive(Debug)]
pub struct Machine<const WRONG: u8>;

impl<const WRONG: u8> ReferenceStateMachine for Machine<WRONG> {
    type State = Lists;
    type Transition = Move;

    fn init_state() -> BoxedStrategy<Lists> {
        let wrong = Wrong::ALL.into_iter().find(|wrong| *wrong as u8 == WRONG);
        let themes = select(&Theme::ALL[..]);
        (numbers(), themes).prop_map(move |(numbers, theme)| Lists::new(numbers, wrong).about(theme)).boxed()
    }

    fn transitions(lists: &Lists) -> BoxedStrategy<Move> {
        let seed = prop_oneof![1 => Just(0), 3 => 0..1000u64];
        (select(lists.allowed()), seed).prop_map(|(what, seed)| Move { what, seed }).boxed()
    }

    fn preconditions(lists: &Lists, this: &Move) -> bool {
        lists.allows(this.what)
    }

    fn apply(mut lists: Lists, this: &Move) -> Lists {
        lists.make(*this);
        lists
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
    fn play(start: &Lists, moves: &[Move], step: impl Fn()) -> Result<Tally, Broken> {
        spec::play(start, moves, step)
    }

    fn setting(start: &Lists) -> String {
        format!("{:?}", start.numbers())
    }

    fn simplest(this: &Move) -> Move {
        Move { seed: 0, ..*this }
    }
}
