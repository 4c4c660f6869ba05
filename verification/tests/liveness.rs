//! That every submitted G runs, checked by Spin on an abstract model of who looks, wakes and sleeps; and that the model
//! is one of this kernel: what the kernel tells its observer, the model can do. See docs/liveness.md.

#[path = "liveness/kernel.rs"]
mod kernel;
#[path = "liveness/spin.rs"]
mod spin;
#[path = "liveness/trace.rs"]
mod trace;

use spin::Checker;

/// What is there, by number of Ms.
const TWO_MS: &str = "NM=2";
const THREE_MS: &str = "NM=3";

/// The properties of these scenes, and what it took.
fn holds(ms: &str, scenes: &[&[&str]]) {
    if !spin::is_here() {
        return;
    }
    for scene in scenes {
        let checker = Checker::new(&[&[ms], *scene].concat(), &["-O1"]);
        let verdict = checker.every_g_runs();
        println!("{ms} {}: every G runs: {} states, {:.1?}", scene.join(" "), verdict.states, verdict.time);
        assert!(!verdict.is_violated, "with {ms} {scene:?} a G waits for ever");
        if !scene.contains(&"FOREVER") {
            let verdict = checker.all_is_quiet();
            println!("{ms} {}: all is quiet: {} states, {:.1?}", scene.join(" "), verdict.states, verdict.time);
            assert!(!verdict.is_violated, "with {ms} {scene:?} it never comes to rest");
        }
    }
}

mod every_submitted_g_runs {
    use super::*;

    #[test]
    fn for_two_ms() {
        holds(
            TWO_MS,
            &[
                &["NG=3", "NS=1", "HOG"],
                &["NG=2", "NS=2"],
                &["NG=3", "NS=1", "SPAWN", "HOG"],
                &["NG=2", "NS=2", "CALLS", "HOG"],
            ],
        );
    }

    #[test]
    fn for_three_ms() {
        holds(THREE_MS, &[&["NG=3", "NS=1", "HOG"], &["NG=3", "NS=1", "SPAWN", "HOG"]]);
    }

    #[test]
    fn if_the_global_queue_is_searched_first() {
        holds(TWO_MS, &[&["NG=3", "NS=1", "HOG", "GLOBAL_FIRST"]]);
    }

    #[test]
    fn while_another_readies_gs_for_ever() {
        holds(TWO_MS, &[&["NG=2", "NS=1", "FOREVER"]]);
    }
}

mod a_trace_of_the_kernel {
    use super::*;
    use crate::kernel::{Act, play};
    use crate::trace::{GS, MS, SUBMITTERS, Trace};
    use spinpark::kernel::sources::SearchOrder::{self, GlobalFirst, StealFirst};
    use spinpark_verification::engine::{self, Engine, Job};
    use spinpark_verification::model::{Model, sampled};
    use spinpark_verification::stage::Stage;
    use spinpark_verification::threads::Threads;
    use std::collections::HashSet;
    use std::num::NonZeroUsize;
    use std::sync::Mutex;
    use std::time::Instant;

    fn checker(order: SearchOrder) -> Checker {
        let sizes = [format!("NM={MS}"), format!("NS={SUBMITTERS}"), format!("NG={GS}")];
        let mut defines = vec!["TRACE", &sizes[0], &sizes[1], &sizes[2]];
        if order == GlobalFirst {
            defines.push("GLOBAL_FIRST");
        }
        Checker::new(&defines, &["-O1", "-DSAFETY"])
    }

    const FAMILY: &[Act] = &[Act::Spawn(2), Act::Yield];
    const CALLS: &[Act] = &[Act::Call, Act::Spawn(1), Act::YieldHere];

    static TRACES: Mutex<Vec<Trace>> = Mutex::new(Vec::new());

    fn family<H: Stage>() -> String {
        let trace = play::<H>(FAMILY, 3, StealFirst);
        TRACES.lock().expect("nobody panics with it").push(trace);
        "played".to_owned()
    }

    fn calls<H: Stage>() -> String {
        let trace = play::<H>(CALLS, 3, StealFirst);
        TRACES.lock().expect("nobody panics with it").push(trace);
        "played".to_owned()
    }

    const MODELS: &[Model] = &[
        spinpark_verification::model!("liveness::traces::family", family,
            claim: "Gs ready others and make way", size: "2 Ps, 3 Ms, 4 Gs", invariants: [], must_reach: ["played"],
            runs: [sampled(Engine::Random, 30), sampled(Engine::Pct, 30)]),
        spinpark_verification::model!("liveness::traces::calls", calls,
            claim: "Gs make system calls", size: "2 Ps, 3 Ms, 4 Gs", invariants: [], must_reach: ["played"],
            runs: [sampled(Engine::Random, 30), sampled(Engine::Pct, 30)]),
    ];

    /// One after the other: the traces are kept in one place.
    fn of_the_engine() -> Vec<Trace> {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock();
        TRACES.lock().expect("nobody panics with it").clear();
        for model in MODELS {
            for run in model.runs {
                let (bounds, jobs) = (run.bounds, NonZeroUsize::MIN);
                let job = Job { model, engine: run.engine, bounds, mutation: None, seed: 1, jobs, checkpoint: None };
                let outcome = engine::run(job, &engine::silent());
                assert_eq!(outcome.failure, None);
            }
        }
        let mut seen = HashSet::new();
        let traces = std::mem::take(&mut *TRACES.lock().expect("nobody panics with it"));
        traces.into_iter().filter(|trace| seen.insert(trace.clone())).collect()
    }

    /// Are all of these accepted? Says what it took.
    fn accepted(checker: &Checker, traces: &[Trace], window: usize) {
        let (mut events, mut states, begun) = (0, 0, Instant::now());
        for trace in traces {
            let verdict = checker.accepts(&trace.text(window));
            assert!(verdict.is_violated, "the model cannot do what the kernel did: {trace:?}");
            events += trace.len();
            states += verdict.states;
        }
        let n = traces.len();
        assert!(n > 0, "no trace");
        println!("{n} traces, {events} events, all accepted: {states} states, {:.1?}", begun.elapsed());
    }

    #[test]
    fn from_the_sc_engine_is_accepted() {
        if spin::is_here() {
            accepted(&checker(StealFirst), &of_the_engine(), 0);
        }
    }

    #[test]
    fn from_real_cores_is_accepted() {
        if !spin::is_here() {
            return;
        }
        for order in [StealFirst, GlobalFirst] {
            let mut traces = Vec::new();
            for acts in [FAMILY, CALLS] {
                traces.extend((0..20).map(|_| play::<Threads>(acts, 3, order)));
            }
            // The order in which it was written down is that of each thread only.
            accepted(&checker(order), &traces, traces.iter().map(Trace::len).max().unwrap_or(0));
        }
    }

    /// Of the traces that differ from one of the kernel, how many does the model refuse?
    fn refused(name: &str, wrong: impl Fn(&Trace) -> Vec<Trace>, at_least: f64) {
        if !spin::is_here() {
            return;
        }
        let checker = checker(StealFirst);
        let (mut refused, mut all) = (0, 0);
        for trace in of_the_engine().iter().step_by(37) {
            for wrong in wrong(trace) {
                all += 1;
                if !checker.accepts(&wrong.text(0)).is_violated { refused += 1; } else { println!("{trace:?} accepts {wrong:?}"); }
            }
        }
        println!("{name}: {refused} of {all} refused");
        assert!(refused as f64 >= at_least * all as f64, "{name}: only {refused} of {all} are refused");
    }

    #[test]
    fn with_an_event_gone_is_refused() {
        refused("an event gone", |trace| (0..trace.len()).map(|at| trace.without(at)).collect(), 1.0);
    }

    #[test]
    fn with_an_event_twice_is_refused() {
        refused("an event twice", |trace| (0..trace.len()).map(|at| trace.with_one_twice(at)).collect(), 1.0);
    }

    #[test]
    fn with_two_events_of_a_thread_swapped_is_refused() {
        let wrong = |trace: &Trace| (0..trace.len()).filter_map(|at| trace.with_two_swapped(at)).collect();
        refused("two of a thread swapped", wrong, 1.0);
    }

    #[test]
    fn with_neighbours_of_two_threads_swapped_may_be_accepted() {
        let wrong = |trace: &Trace| (0..trace.len()).filter_map(|at| trace.with_neighbours_swapped(at)).collect();
        refused("neighbours of two threads swapped", wrong, 0.0);
    }
}
