//! Whole runs: nothing is lost, and the same seed does the same.

use spinpark_machine::costs::{Costs, MICRO, NANO};
use spinpark_machine::designs::Design;
use spinpark_machine::engine;
use spinpark_machine::play::{Outcome, play};
use spinpark_machine::workloads::{ForkJoin, Outside, PingPong, Producer, Sparse, Storm, Tally, Tasks, Workload};

const PROCS: [usize; 3] = [1, 3, 16];

fn designs() -> [Design; 4] {
    [Design::ours(), Design::Go, Design::Tokio { wakes: 1 }, Design::Tokio { wakes: 2 }]
}

fn storm(design: Design, procs: usize, seed: u64) -> Outcome {
    play(design, procs, Costs::default(), seed, || Storm::new(2_000, 200 * NANO))
}

mod every_g {
    use super::*;

    /// `play` fails if a G has run more or less often than it was to, or if a thread sleeps for ever.
    #[test]
    fn runs_as_often_as_it_was_to() {
        for (design, procs) in designs().into_iter().flat_map(|design| PROCS.map(|procs| (design.clone(), procs))) {
            let costs = Costs::default();
            let all = [
                storm(design.clone(), procs, 1),
                play(design.clone(), procs, costs.clone(), 1, || ForkJoin::new(2_000, 200 * NANO)),
                play(design.clone(), procs, costs.clone(), 1, || Sparse::new(100, 10 * MICRO, 5 * MICRO)),
                play(design.clone(), procs, costs.clone(), 1, || PingPong::new(20, 50)),
                play(design.clone(), procs, costs, 1, || Producer::new(2_000, MICRO)),
            ];
            for outcome in all {
                assert!(outcome.counts.runs >= outcome.operations, "{design:?}, {procs} Ps: {outcome:?}");
                let least = outcome.computing / procs as u64;
                assert!(outcome.time >= least, "{design:?}, {procs} Ps: quicker than its computing: {outcome:?}");
            }
        }
    }

    /// A storm in which one G is lost: what it was to spawn is never spawned.
    struct Loses(Storm);

    impl Workload for Loses {
        fn operations(&self) -> u64 {
            self.0.operations()
        }
        fn computing(&self) -> u64 {
            0
        }
        fn begin(&self, outside: &dyn Outside) {
            outside.submit(1);
        }
        fn run(&self, g: u64, tasks: &mut dyn Tasks) {
            if g != 5 {
                self.0.run(g, tasks);
            }
        }
        fn tally(&self) -> &Tally {
            self.0.tally()
        }
    }

    #[test]
    #[should_panic(expected = "sleep for ever")]
    fn that_is_lost_is_missed() {
        play(Design::ours(), 2, Costs::default(), 1, || Loses(Storm::new(100, 0)));
    }
}

mod a_seed {
    use super::*;

    #[test]
    fn does_the_same_again() {
        for design in designs() {
            assert_eq!(storm(design.clone(), 8, 7), storm(design.clone(), 8, 7), "{design:?}");
            let differ = (1..10).any(|seed| storm(design.clone(), 8, seed) != storm(design.clone(), 8, 7));
            assert!(differ, "{design:?}: nothing is drawn");
        }
    }
}

mod a_wrong_cost {
    use super::*;

    /// The same run with one cost changed takes another time: each is charged somewhere.
    #[test]
    fn is_noticed() {
        let usual = Costs::default();
        let time = |costs: Costs| play(Design::ours(), 8, costs, 1, || Storm::new(2_000, 200 * NANO)).time;
        let right = time(usual.clone());
        let wrong = [
            ("local", Costs { local: 2 * usual.local, ..usual.clone() }),
            ("locked", Costs { locked: 2 * usual.locked, ..usual.clone() }),
            ("line", Costs { line: 2 * usual.line, ..usual.clone() }),
            ("far_line", Costs { socket: 4, ..usual.clone() }),
            ("memory", Costs { memory: 2 * usual.memory, ..usual.clone() }),
            ("guarded", Costs { guarded: 9, ..usual.clone() }),
            ("switch", Costs { switch: 2 * usual.switch, ..usual.clone() }),
            ("task", Costs { task: 2 * usual.task, ..usual.clone() }),
            ("wake", Costs { wake: (20_000 * NANO, 20_000 * NANO), ..usual.clone() }),
            ("wake_call", Costs { wake_call: 2 * usual.wake_call, ..usual.clone() }),
        ];
        for (name, costs) in wrong {
            assert_ne!(time(costs), right, "{name} is charged nowhere");
        }
    }
}

mod the_bound_of_spinning_ms {
    use super::*;
    use spinpark_kernel::sched::config::Config;

    /// What a spawn costs a producer with 64 Ps, in nanoseconds.
    fn a_spawn(spinning_at_most: usize, seed: u64) -> f64 {
        let design = Design::Ours(Config { spinning_at_most, ..Config::default() });
        let outcome = play(design, 64, Costs::default(), seed, || Producer::new(32_000, 2 * MICRO));
        outcome.figures[0].1
    }

    #[test]
    fn is_what_keeps_spawns_cheap() {
        for seed in 1..4 {
            let (with, without) = (a_spawn(Config::default().spinning_at_most, seed), a_spawn(usize::MAX, seed));
            assert!(2.0 * with < without, "seed {seed}: {with} ns with, {without} ns without");
        }
    }
}

mod a_thousand_ps {
    use super::*;

    #[test]
    fn are_allowed() {
        let outcome = play(Design::ours(), 1024, Costs::default(), 1, || Storm::new(8_000, 5 * MICRO));
        assert!(outcome.counts.wakes > 1, "{outcome:?}");
        assert!(outcome.time < outcome.computing / 2, "more than one P has run: {outcome:?}");
        assert_eq!(engine::me(), 0, "the machine is left as it was");
    }
}
