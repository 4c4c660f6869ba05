//! The word that a shard of timers shows.

use crate::room::{Program, Room, reached, together};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::{NEVER, Nanos};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::timers::Shard;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::hosts::wrap::trace::main_plays;
use std::sync::Arc;

/// The word of a shard of timers.
#[derive(Debug, Clone, PartialEq)]
pub struct Word;

/// A timer is added, and removed again or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    when: Nanos,
    is_removed: bool,
}

impl Room for Word {
    const NAME: &'static str = "timers";
    const CLAIM: &'static str = "the word of a shard is the moment of its earliest timer";
    const THREADS: usize = 3;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &["timers-tells-when-late", "timers-forgets-to-tell-when"];
    const PATHS: &'static [&'static str] = &["one stays", "one is removed"];
    type Setup = ();
    type Op = Timer;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Timer> {
        (1..=9 as Nanos, any::<bool>()).prop_map(|(when, is_removed)| Timer { when, is_removed }).boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        fn plays<H: ModelHost>(shard: &Arc<Shard<H>>, timers: Vec<Timer>) {
            for Timer { when, is_removed } in timers {
                reached(if is_removed { "one is removed" } else { "one stays" });
                shard.add(when, is_removed);
            }
        }
        main_plays("one");
        let (shard, ()) =
            together::<H, Self, _, _>(program, Shard::<H>::new(), |shard, _, ops| plays(shard, ops), plays);
        let stays = program.ops.iter().filter(|(_, timer)| !timer.is_removed);
        let (told, found) = (stays.map(|(_, timer)| timer.when).min().unwrap_or(NEVER), shard.deadline());
        assert!(told == found, "the earliest timer is due at {told}, and the shard says {found}");
        format!("{found}")
    }
}
