//! Random concurrent programs on each room: the kernel holds, and each wrong variant falls, by a program of at most twelve
//! operations.
//!
//! Each room is played for a second, or as many programs as `PROPTEST_CASES` says; all of them longer by `.ci/nightly`.

use spinpark_proptests::room::{Trial, take_reached};
use spinpark_proptests::rooms::{self, Entry};
use spinpark_proptests::shrink::Hunt;
use spinpark_verification::engines::Engine;
use spinpark_verification::mutation::mutant;
use std::time::{Duration, Instant};

fn how(room: &Entry, mutant: Option<&str>, seconds: f64) -> Hunt {
    let mutant = mutant.map(|name| mutant::find(name).expect("there is such a mutant"));
    let trial = Trial { engine: Engine::Pct, schedules: 60, seed: 1, mutant };
    let (time, shrinking) = (Duration::from_secs_f64(seconds), Duration::from_secs(10));
    Hunt { trial, engines: room.engines, longest: 16, programs: u64::MAX, time, shrinking }
}

fn holds(name: &str) {
    let room = rooms::find(name).expect("there is such a room");
    let (mut programs, mut schedules) = (0, 0);
    let cases = std::env::var("PROPTEST_CASES").ok().map(|cases| cases.parse().expect("PROPTEST_CASES is a number"));
    let how = match cases {
        None => how(room, None, 1.0),
        Some(programs) => Hunt { programs, ..how(room, None, 3_600.0) },
    };
    let found = room.hunt(&how, |outcome| {
        programs += 1;
        schedules += outcome.executions;
    });
    let reached = take_reached();
    println!("{name}: {programs} programs, {schedules} schedules");
    for path in room.paths {
        println!("{:9} × {path}", reached.get(path).copied().unwrap_or(0));
    }
    if let Some(found) = found {
        panic!("{}\n{}", found.picture.join("\n"), found.failure.message);
    }
}

fn each_wrong_variant_falls(name: &str) {
    let room = rooms::find(name).expect("there is such a room");
    let mut survivors = Vec::new();
    for mutant in room.falls {
        let clock = Instant::now();
        let Some(found) = room.hunt(&how(room, Some(mutant), 60.0), |_| ()) else {
            survivors.push(*mutant);
            continue;
        };
        let seconds = clock.elapsed().as_secs_f64();
        println!("{mutant} after {seconds:.1} s: {}\n{}", found.failure.message, found.picture.join("\n"));
        assert_eq!(found.mutant.as_deref(), Some(*mutant), "the kernel fails by this without a wrong variant");
        assert!(found.operations <= 12, "{mutant} was found by {} operations, more than 12", found.operations);
    }
    assert!(survivors.is_empty(), "not found within a minute each: {survivors:?}");
}

macro_rules! rooms {
    ($($test:ident: $name:literal),* $(,)?) => {
        mod a_room_holds {
            $(#[test] fn $test() { super::holds($name); })*
        }
        mod each_wrong_variant_is_found {
            $(#[test] #[ignore = "slow: `.ci/nightly` runs it"] fn $test() { super::each_wrong_variant_falls($name); })*
        }
        #[test]
        fn every_room_is_listed_here() {
            let listed = [$($name),*];
            assert!(rooms::ALL.iter().map(|room| room.name).eq(listed), "{listed:?}");
        }
    };
}

rooms! {
    timers: "timers",
    sched: "sched",
    hogs: "hogs",
    cores: "cores",
}

/// What has models, or client programs that are all explored, and no random programs here.
const MODELS_ALONE: [&str; 3] = ["timer_queue", "goroutine", "spinning"];

/// Variants that each die of a model, and that no room's random programs have been asked for.
const NOT_ASKED: [&str; 1] = ["runq-cursors-of-two-bits"];

#[test]
fn every_wrong_variant_has_a_room_that_must_find_it() {
    let tso = |mutant: &mutant::Mutant| mutant.killed_by.iter().any(|(_, engine)| engine.memory_model() == "TSO");
    let is_asked = |mutant: &&mutant::Mutant| !MODELS_ALONE.contains(&mutant.room) && !NOT_ASKED.contains(&mutant.name);
    for mutant in mutant::all().filter(is_asked) {
        let is_step = matches!(mutant.mutation, mutant::Mutation::Variant(_));
        let is_found = rooms::ALL.iter().any(|room| room.falls.contains(&mutant.name));
        // An ordering that is seen to be too weak only below TSO is out of reach.
        assert!(is_found || !(is_step || tso(mutant)), "no room must find {}", mutant.name);
    }
    let all: Vec<&str> = mutant::all().map(|mutant| mutant.name).collect();
    for name in rooms::ALL.iter().flat_map(|room| room.falls) {
        assert!(all.contains(name), "there is no wrong variant {name}");
    }
}
