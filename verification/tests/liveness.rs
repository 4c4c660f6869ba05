//! That every submitted G runs, checked by Spin on an abstract model of which M looks, wakes and sleeps; and that the
//! model is one of this kernel: what the kernel tells its observer, the model can do. See docs/evidence/liveness.md.

#[path = "liveness/spin.rs"]
mod spin;
#[path = "liveness/trace.rs"]
mod trace;

use spin::Checker;

/// Compiled in no time. What is searched for seconds is worth more.
const PLAIN: &[&str] = &["-O0"];
const FAST: &[&str] = &["-O1"];

mod every_submitted_g_runs {
    use super::*;

    /// In this scenario; and all is quiet in the end, if it has one. Says what it took.
    fn holds(scenario: &[&str], options: &[&str]) {
        let checker = Checker::new(scenario, options);
        let verdict = checker.every_g_runs();
        println!("{}: every G runs: {} states, {:.1?}", scenario.join(" "), verdict.states, verdict.time);
        assert!(!verdict.is_violated, "{scenario:?}: a G waits for ever");
        if !scenario.contains(&"FOREVER") {
            let verdict = checker.all_is_quiet();
            println!("{}: all is quiet: {} states, {:.1?}", scenario.join(" "), verdict.states, verdict.time);
            assert!(!verdict.is_violated, "{scenario:?}: it never comes to rest");
        }
    }

    #[test]
    fn for_two_ms() {
        if spin::is_here() {
            holds(&["NM=2", "NG=3", "NS=1", "HOG"], PLAIN);
            holds(&["NM=2", "NG=2", "NS=2"], PLAIN);
            holds(&["NM=2", "NG=3", "NS=1", "SPAWN", "HOG"], PLAIN);
            holds(&["NM=2", "NG=2", "NS=2", "CALLS", "HOG"], PLAIN);
        }
    }

    #[test]
    fn for_three_ms() {
        if spin::is_here() {
            holds(&["NM=3", "NG=3", "NS=1", "HOG"], FAST);
            holds(&["NM=3", "NG=2", "NS=2"], PLAIN);
            holds(&["NM=3", "NG=3", "NS=1", "SPAWN", "HOG"], PLAIN);
        }
    }

    #[test]
    fn if_the_global_queue_is_searched_first() {
        if spin::is_here() {
            holds(&["NM=2", "NG=3", "NS=1", "HOG", "GLOBAL_FIRST"], PLAIN);
        }
    }

    #[test]
    fn while_another_is_readied_for_ever() {
        if spin::is_here() {
            holds(&["NM=2", "NG=2", "NS=1", "FOREVER"], PLAIN);
        }
    }
}

mod each_wrong_variant_starves_somebody {
    use super::*;

    fn starves(variant: &str, scenario: &[&str]) {
        if spin::is_here() {
            let verdict =
                Checker::new(&[&["NM=2", "NG=3", "NS=1", "HOG", variant], scenario].concat(), PLAIN).every_g_runs();
            println!("{variant}: {} states, {:.1?}", verdict.states, verdict.time);
            assert!(verdict.is_violated, "{variant} starves no G");
        }
    }

    #[test]
    fn a_submitter_wakes_nobody() {
        starves("SUBMITTED_AND_NOBODY_WOKEN", &[]);
    }

    #[test]
    fn the_last_that_looks_finds_work_and_wakes_nobody() {
        starves("THE_LAST_WAKES_NOBODY", &[]);
    }

    #[test]
    fn a_spinning_m_sleeps_without_a_second_look() {
        starves("NO_SECOND_LOOK", &["SPAWN"]);
    }

    #[test]
    fn a_spinning_m_looks_again_before_it_is_counted_out() {
        starves("LOOKS_BEFORE_IT_LEAVES", &["SPAWN"]);
    }

    #[test]
    fn who_finds_no_idle_p_stays_counted() {
        starves("COUNT_STAYS_UP", &[]);
    }

    #[test]
    fn a_woken_m_forgets_that_it_is_counted() {
        starves("FORGETS_THAT_IT_IS_COUNTED", &["SPAWN"]);
    }

    #[test]
    fn an_m_sleeps_though_a_spinning_m_is_asked_for() {
        starves("SLEEPS_UNASKED", &["SPAWN"]);
    }

    #[test]
    fn who_can_have_no_m_asks_for_no_spinning_m() {
        starves("REFUSED_AND_NOBODY_ASKED", &["SPAWN"]);
    }
}

mod a_trace_of_the_kernel {
    use super::trace::{GS, Log, MS, SUBMITTERS, Trace};
    use super::*;
    use crate::scenes::{Act, Scenario};
    use spinpark_kernel::protocol::sources::SearchOrder::{self, GlobalFirst, StealFirst};
    use spinpark_verification::engines::{self, Engine, Job};
    use spinpark_verification::hosts::model_host::ModelHost;
    use spinpark_verification::hosts::threads::Threads;
    use spinpark_verification::model::{Model, sampled};
    use std::collections::HashSet;
    use std::num::NonZeroUsize;
    use std::sync::{Arc, Mutex, Weak};
    use std::time::Instant;

    /// For `StealFirst`, one for all tests that use it at the same time.
    fn common() -> Arc<Checker> {
        static COMMON: Mutex<Weak<Checker>> = Mutex::new(Weak::new());
        let mut common = COMMON.lock().expect("no panic under it");
        common.upgrade().unwrap_or_else(|| {
            let made = Arc::new(checker(StealFirst));
            *common = Arc::downgrade(&made);
            made
        })
    }

    fn checker(order: SearchOrder) -> Checker {
        let sizes = [format!("NM={MS}"), format!("NS={SUBMITTERS}"), format!("NG={GS}")];
        let mut defines = vec!["TRACE", &sizes[0], &sizes[1], &sizes[2]];
        if order == GlobalFirst {
            defines.push("GLOBAL_FIRST");
        }
        Checker::new(&defines, &[PLAIN, &["-DSAFETY"]].concat())
    }

    const FAMILY: &[Act] = &[Act::Spawn(2), Act::Yield];
    const CALLS: &[Act] = &[Act::Block, Act::Spawn(1), Act::YieldHere];

    fn play<H: ModelHost>(acts: &'static [Act], max_ms: usize, order: SearchOrder) -> Trace {
        let scenario = Scenario { acts, max_ms, order, ring: 8, ..Scenario::PLAIN };
        crate::scenes::play::<H, Log, _>(scenario, Log::new(), |log| log.end(max_ms))
    }

    static TRACES: Mutex<Vec<Trace>> = Mutex::new(Vec::new());

    fn family<H: ModelHost>() -> String {
        let trace = play::<H>(FAMILY, 3, StealFirst);
        TRACES.lock().expect("no panic under it").push(trace);
        "played".to_owned()
    }

    fn calls<H: ModelHost>() -> String {
        let trace = play::<H>(CALLS, 3, StealFirst);
        TRACES.lock().expect("no panic under it").push(trace);
        "played".to_owned()
    }

    const MODELS: &[Model] = &[
        spinpark_verification::model!("liveness::traces::family", family,
            claim: "Gs ready others and yield", size: "2 Ps, 3 Ms, 4 Gs", invariants: [], must_reach: ["played"],
            runs: [sampled(Engine::Random, 30), sampled(Engine::Pct, 30)]),
        spinpark_verification::model!("liveness::traces::calls", calls,
            claim: "Gs make system calls", size: "2 Ps, 3 Ms, 4 Gs", invariants: [], must_reach: ["played"],
            runs: [sampled(Engine::Random, 30), sampled(Engine::Pct, 30)]),
    ];

    /// One after the other: the traces are kept in one place.
    fn of_the_engine() -> Vec<Trace> {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock();
        TRACES.lock().expect("no panic under it").clear();
        for model in MODELS {
            for run in model.runs {
                let (bounds, jobs) = (run.bounds, NonZeroUsize::MIN);
                let job = Job { model, engine: run.engine, bounds, mutation: None, seed: 1, jobs, checkpoint: None };
                let outcome = engines::run(job, &engines::silent());
                assert_eq!(outcome.failure, None);
            }
        }
        let mut seen = HashSet::new();
        let traces = std::mem::take(&mut *TRACES.lock().expect("no panic under it"));
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
            accepted(&common(), &of_the_engine(), 0);
        }
    }

    #[test]
    fn from_real_cores_is_accepted() {
        if !spin::is_here() {
            return;
        }
        for (order, checker) in [(StealFirst, common()), (GlobalFirst, Arc::new(checker(GlobalFirst)))] {
            let mut traces = Vec::new();
            for acts in [FAMILY, CALLS] {
                traces.extend((0..20).map(|_| play::<Threads>(acts, 3, order)));
            }
            // The order in which it was written down is that of each thread only.
            accepted(&checker, &traces, traces.iter().map(Trace::len).max().unwrap_or(0));
        }
    }

    /// Of the traces that differ from one of the kernel, how many does the model refuse? The others, it says.
    fn refused(name: &str, wrong: impl Fn(&Trace) -> Vec<Trace>) -> (usize, usize) {
        if !spin::is_here() {
            return (0, 0);
        }
        let checker = common();
        let traces = of_the_engine();
        let wrong: Vec<Trace> = traces.iter().step_by(29).flat_map(wrong).collect();
        let refused = wrong.iter().filter(|wrong| !checker.accepts(&wrong.text(0)).is_violated).count();
        println!("{name}: {refused} of {} refused", wrong.len());
        (refused, wrong.len())
    }

    #[test]
    fn with_an_event_gone_is_refused() {
        let (refused, all) = refused("an event gone", |trace| (0..trace.len()).map(|at| trace.without(at)).collect());
        assert_eq!(refused, all);
    }

    #[test]
    fn with_an_event_twice_is_refused() {
        let twice = |trace: &Trace| (0..trace.len()).map(|at| trace.with_one_twice(at)).collect();
        let (refused, all) = refused("an event twice", twice);
        assert_eq!(refused, all);
    }

    /// Nearly always: a G that readies two may ready them in another order.
    #[test]
    fn with_two_events_of_a_thread_swapped_is_refused() {
        let swapped = |trace: &Trace| (0..trace.len()).filter_map(|at| trace.with_two_swapped(at)).collect();
        let (refused, all) = refused("two of a thread swapped", swapped);
        assert!(refused * 10 >= all * 9, "only {refused} of {all}");
    }

    /// What two threads do at once has no order, and the model knows that.
    #[test]
    fn with_neighbours_of_two_threads_swapped_is_mostly_accepted() {
        let swapped = |trace: &Trace| (0..trace.len()).filter_map(|at| trace.with_neighbours_swapped(at)).collect();
        let (refused, all) = refused("neighbours of two threads swapped", swapped);
        assert!(refused * 2 <= all, "{refused} of {all}");
    }
}
