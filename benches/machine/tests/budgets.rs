//! What an operation may touch, on 1 and on 16 Ps: accesses to words, lines that come from another core, and how often the lock is
//! entered. Counted on the simulated machine, so the same wherever this runs.

use spinpark_machine::costs::{Costs, MICRO, NANO};
use spinpark_machine::designs::Design;
use spinpark_machine::play::{Outcome, play};
use spinpark_machine::workloads::{ForkJoin, PingPong, Producer, Sparse, Storm};

/// Below this part of its budget an operation has become so much better that the budget guards nothing.
const SLACK: f64 = 0.75;

/// Plays with so many seeds: who steals from whom is drawn, and the lines that move differ by a third from seed to seed.
const SEEDS: u64 = 8;

/// A budget is some ten in a hundred above what was counted, the mean over all seeds.
fn is_within(what: &str, play: impl Fn(u64) -> Outcome, [accesses, lines, locks]: [f64; 3]) {
    let outcomes: Vec<Outcome> = (1..=SEEDS).map(play).collect();
    let sum = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>() as f64;
    let counted = |of| sum(of) / sum(|outcome| outcome.operations);
    let each = [
        ("accesses", counted(|outcome| outcome.counts.accesses), accesses),
        ("lines", counted(|outcome| outcome.counts.lines), lines),
        ("entries of the lock", counted(|outcome| outcome.counts.locks), locks),
    ];
    for (of, count, most) in each {
        assert!(count <= most, "{what}: an operation makes {count:.3} {of}, and may make {most}");
        // What is near zero is a few at the beginning and at the end.
        let is_low = most > 0.1 && count < SLACK * most;
        assert!(!is_low, "{what}: an operation makes {count:.3} {of}, so far below {most} that that is to be lowered");
    }
}

fn storm(procs: usize) -> impl Fn(u64) -> Outcome {
    move |seed| play(Design::ours(), procs, Costs::default(), seed, || Storm::new(16_000, 200 * NANO))
}

fn fork_join(procs: usize) -> impl Fn(u64) -> Outcome {
    move |seed| play(Design::ours(), procs, Costs::default(), seed, || ForkJoin::new(16_000, 200 * NANO))
}

fn ping_pong(procs: usize) -> impl Fn(u64) -> Outcome {
    move |seed| play(Design::ours(), procs, Costs::default(), seed, || PingPong::new(64, 250))
}

fn producer(procs: usize) -> impl Fn(u64) -> Outcome {
    move |seed| play(Design::ours(), procs, Costs::default(), seed, || Producer::new(16_000, MICRO))
}

fn sparse(procs: usize) -> impl Fn(u64) -> Outcome {
    move |seed| play(Design::ours(), procs, Costs::default(), seed, || Sparse::new(1_000, 10 * MICRO, 5 * MICRO))
}

mod one_p {
    use super::*;

    #[test]
    fn spawns_and_runs() {
        is_within("storm", storm(1), [16.5, 0.01, 0.02]);
    }

    #[test]
    fn forks_and_joins() {
        is_within("fork-join", fork_join(1), [24.0, 0.01, 0.03]);
    }

    #[test]
    fn sends_there_and_back() {
        is_within("ping-pong", ping_pong(1), [36.5, 0.01, 0.01]);
    }
}

mod sixteen_ps {
    use super::*;

    #[test]
    fn spawn_and_run() {
        is_within("storm", storm(16), [18.8, 0.76, 0.02]);
    }

    #[test]
    fn fork_and_join() {
        is_within("fork-join", fork_join(16), [26.6, 1.16, 0.03]);
    }

    #[test]
    fn send_there_and_back() {
        is_within("ping-pong", ping_pong(16), [42.5, 0.45, 0.01]);
    }

    #[test]
    fn run_what_one_makes() {
        is_within("producer", producer(16), [26.0, 1.42, 0.04]);
    }

    #[test]
    fn run_what_comes_now_and_then() {
        is_within("sparse", sparse(16), [246.0, 32.5, 3.95]);
    }
}
