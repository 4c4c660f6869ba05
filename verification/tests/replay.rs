//! Schedules, round trip: what fails is written down, read, and fails in the same way again, on every engine and however
//! it failed. What was changed in between is found out, and never answered wrongly.

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rc11::graph::Graph;
use spinpark_kernel::host::{Parker as _, Word as _};
use spinpark_verification::catalog;
use spinpark_verification::engines::record::Pick;
use spinpark_verification::engines::{self, Bounds, Engine, Failure, Job, Outcome, Script};
use spinpark_verification::hosts::model_host::{Cell, ModelHost};
use spinpark_verification::hosts::wrap::trace::Step;
use spinpark_verification::job::Order;
use spinpark_verification::model::{self, Model, rc11};
use spinpark_verification::mutation::mutant::{self, Mutant};
use spinpark_verification::schedule::{Replayed, Schedule, here};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::{Arc, Mutex, Once};

const ENGINES: [Engine; 9] = [
    Engine::Rc11,
    Engine::Loom,
    Engine::LoomApart,
    Engine::Sc,
    Engine::Tso,
    Engine::Random,
    Engine::Pct,
    Engine::TsoRandom,
    Engine::TsoPct,
];

/// Failures are expected here, but those of the tests themselves. Shuttle's hook, which it sets when it first runs, would print each.
fn quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        shuttle::check_random(|| (), 1);
        std::panic::set_hook(Box::new(|panic| {
            if panic.location().is_some_and(|at| at.file() == file!()) {
                eprintln!("{panic}");
            }
        }));
    });
}

fn job(model: &'static Model, engine: Engine, bounds: Bounds, mutant: Option<&Mutant>) -> Job<'static> {
    let mutation = mutant.map(|mutant| mutant.mutation);
    Job { model, engine, bounds, mutation, seed: 1, jobs: NonZeroUsize::MIN, checkpoint: None }
}

/// loom ends the process where a thread that it unwinds enters a lock. So it plays only what it must kill.
fn can_play(mutant: &Mutant, name: &str, engine: Engine) -> bool {
    !matches!(engine, Engine::Loom | Engine::LoomApart) || mutant.killed_by.contains(&(name, engine))
}

/// The schedule of what a mutant does to a model, if that is seen in a moment.
fn of_mutant(mutant: &Mutant, name: &str, engine: Engine, seconds: f64) -> Option<Schedule> {
    let model = model::find(name).expect("it is killed by a model that there is");
    let mut bounds = model.run_on(engine).unwrap_or_else(|| model::usual(engine)).bounds;
    bounds.seconds = bounds.seconds.min(seconds);
    let failure = engines::run(job(model, engine, bounds, Some(mutant)), &engines::silent()).failure?;
    let schedule = Schedule::new(&Order::new(name, engine, bounds, Some(mutant.name), 1), failure);
    schedule.failure.script.is_some().then_some(schedule)
}

/// As it is read after it was written.
fn written(schedule: &Schedule) -> Schedule {
    Schedule::parse(&schedule.text()).expect("what was written can be read")
}

/// Of another kernel, or so it says.
fn of_another_kernel(schedule: &Schedule) -> Schedule {
    let mut other = schedule.clone();
    other.sources.kernel_source = "0".repeat(16);
    other
}

#[track_caller]
fn fails_the_same(schedule: &Schedule) -> Failure {
    let Schedule { model, engine, mutant, failure, .. } = schedule;
    match schedule.replay(&here) {
        Replayed::FailsTheSame(again) => again,
        other => panic!("{model} with {mutant:?} on {engine} failed with `{}`, and now {other:?}", failure.message),
    }
}

#[track_caller]
fn goes_round(schedule: &Schedule) {
    let read = written(schedule);
    let again = fails_the_same(&read);
    assert_eq!(again.steps, schedule.failure.steps, "{} on {}: other steps", schedule.model, schedule.engine);
    fails_the_same(&of_another_kernel(&read));
}

mod what_failed_fails_again {
    use super::*;

    #[test]
    fn with_a_wrong_variant_in_four_on_the_engines_that_must_kill_it() {
        with(mutant::all().step_by(4), 5);
    }

    #[test]
    fn with_every_variant_of_a_catalog_that_is_registered() {
        catalog::register(&spinpark_museum::CATALOG);
        with(spinpark_museum::MUTANTS.iter().copied().flatten(), 2);
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn with_every_wrong_variant_on_the_engines_that_must_kill_it() {
        with(mutant::all(), 5);
    }

    fn with(mutants: impl Iterator<Item = &'static Mutant>, engines_at_least: usize) {
        quietly();
        let mut engines = BTreeSet::new();
        for mutant in mutants {
            for (name, engine) in mutant.killed_by {
                let schedule = of_mutant(mutant, name, *engine, 60.0);
                let schedule = schedule.unwrap_or_else(|| panic!("{} lives before {name} on {engine}", mutant.name));
                goes_round(&schedule);
                engines.insert(*engine);
            }
        }
        assert!(engines.len() >= engines_at_least, "only on {engines:?}");
    }

    #[test]
    fn on_every_engine() {
        quietly();
        let mut left = BTreeSet::from(ENGINES);
        for mutant in mutant::all() {
            let Some((name, _)) = mutant.killed_by.first() else { continue };
            for engine in left.clone().into_iter().filter(|engine| can_play(mutant, name, *engine)) {
                if let Some(schedule) = of_mutant(mutant, name, engine, 0.1) {
                    goes_round(&schedule);
                    left.remove(&engine);
                }
            }
        }
        assert!(left.is_empty(), "nothing failed on {left:?}");
    }

    #[test]
    fn but_the_kernel_itself_does_not() {
        quietly();
        let (mut passed, mut fails) = (BTreeSet::new(), 0);
        for mutant in mutant::all() {
            for (name, engine) in mutant.killed_by {
                let Some(schedule) = of_mutant(mutant, name, *engine, 60.0) else { continue };
                let mended = Schedule { mutant: None, ..of_another_kernel(&schedule) };
                match mended.replay(&here) {
                    Replayed::Passes => drop(passed.insert(*engine)),
                    Replayed::DoesNotFit(reason) => assert!(reason.contains("the kernel has changed"), "{reason}"),
                    wrong => {
                        // Panics are not shown here.
                        eprintln!("{name} on {engine}, without {}: {wrong:?}", mutant.name);
                        fails += 1;
                    }
                }
            }
        }
        assert_eq!(fails, 0, "schedules that the kernel fails by itself");
        assert!(passed.len() >= 3, "only on {passed:?} a mended kernel can follow the schedule");
    }
}

/// Each way in which an execution of rc11's can be wrong, by a model that is wrong in that way.
mod each_kind_of_failure_is_told_again {
    use super::*;

    fn schedule_of(model: &'static Model) -> Schedule {
        quietly();
        let bounds = Bounds { seconds: 60.0, ..rc11().bounds };
        let outcome = engines::run(job(model, Engine::Rc11, bounds, None), &engines::silent());
        let failure = outcome.failure.expect("it is wrong");
        Schedule::new(
            &Order::new("runnext::whoever_empties_it_owns_the_g::two_thieves", Engine::Rc11, bounds, None, 1),
            failure,
        )
    }

    /// Plays a schedule on `model`, whatever it says.
    fn on(model: &'static Model, order: &Order) -> Result<(Outcome, Vec<Step>), String> {
        engines::replay_with_steps(
            job(model, order.engine, order.bounds, None),
            order.script.as_ref().expect("a script"),
        )
    }

    macro_rules! wrong {
        ($($name:ident says $message:literal: $body:ident,)*) => { $(
            #[test]
            fn $name() {
                const MODELS: &[Model] = &[spinpark_verification::model!(
                    "wrong", $body, claim: "nothing", size: "small", invariants: [], must_reach: [], runs: [rc11()],
                )];
                let schedule = written(&schedule_of(&MODELS[0]));
                assert!(schedule.failure.message.contains($message), "{}", schedule.failure.message);
                let player = |order: &Order| on(&MODELS[0], order);
                for schedule in [of_another_kernel(&schedule), schedule] {
                    match schedule.replay(&player) {
                        Replayed::FailsTheSame(again) => assert_eq!(again.steps, schedule.failure.steps),
                        other => panic!("it failed with `{}`, and now {other:?}", schedule.failure.message),
                    }
                }
            }
        )* };
    }

    wrong! {
        a_panic says "it was written": panics,
        a_data_race says "data race": races,
        a_deadlock says "nothing that could wake them": sleeps,
        a_thread_that_is_left says "no thread joins or wakes them": leaves,
        more_events_than_the_bound says "more than 3000 events": goes_on,
        more_threads_than_there_may_be says "more than 16 threads": forks,
        a_location_that_is_not_known says "uninitialised": leaks,
    }

    fn panics<H: ModelHost>() -> String {
        let word = Arc::new(H::Word::new(0));
        let theirs = Arc::clone(&word);
        let other = H::fork("other", move || theirs.store(1, Relaxed));
        assert_ne!(word.load(Relaxed), 1, "it was written");
        H::join(other);
        String::new()
    }

    fn races<H: ModelHost>() -> String {
        let cell = Arc::new(H::Cell::<u64>::new(0));
        let theirs = Arc::clone(&cell);
        let other = H::fork("other", move || theirs.set(1));
        let seen = cell.get();
        H::join(other);
        seen.to_string()
    }

    fn sleeps<H: ModelHost>() -> String {
        H::Parker::new().park();
        String::new()
    }

    fn leaves<H: ModelHost>() -> String {
        H::fork("sleeper", || H::Parker::new().park());
        String::new()
    }

    fn goes_on<H: ModelHost>() -> String {
        let word = H::Word::new(0);
        while word.load(Relaxed) == 0 {}
        String::new()
    }

    fn forks<H: ModelHost>() -> String {
        let threads: Vec<_> = (0..16).map(|_| H::fork("one", || ())).collect();
        threads.into_iter().for_each(H::join);
        String::new()
    }

    /// A new word comes to another thread past the host; a flag of the host's says that it is there, and releases nothing.
    fn leaks<H: ModelHost>() -> String {
        let shared = Arc::new((H::Word::new(0), Mutex::new(None::<Arc<H::Word>>)));
        let theirs = Arc::clone(&shared);
        let maker = H::fork("maker", move || {
            *theirs.1.lock().expect("one at a time") = Some(Arc::new(H::Word::new(7)));
            theirs.0.store(1, Relaxed);
        });
        if shared.0.load(Acquire) == 1 {
            let word = shared.1.lock().expect("one at a time").clone();
            word.expect("the flag says that it is there").load(Relaxed);
        }
        H::join(maker);
        String::new()
    }
}

mod what_was_changed_is_found_out {
    use super::*;

    fn some() -> Vec<Schedule> {
        quietly();
        let mutant = mutant::find("spinning-looks-before-it-leaves").expect("there is one");
        let name = "spinning::work_is_conserved::one_submitter_one_spinning_m";
        ENGINES.iter().filter_map(|engine| of_mutant(mutant, name, *engine, 2.0)).collect()
    }

    #[test]
    fn cut_off_anywhere() {
        for schedule in some() {
            let text = schedule.text();
            for n in 0..64 {
                let cut: String = text.chars().take(text.chars().count() * n / 64).collect();
                let wrong = Schedule::parse(&cut).expect_err("it was cut off");
                assert!(wrong.contains("no schedule file"), "{wrong}");
            }
        }
    }

    #[test]
    fn one_digit_of_it() {
        for schedule in some() {
            let text = schedule.text();
            let digits: Vec<usize> =
                text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|(at, _)| at).collect();
            for at in digits.iter().step_by(digits.len() / 100 + 1) {
                let mut bytes = text.clone().into_bytes();
                bytes[*at] = if bytes[*at] == b'9' { b'8' } else { bytes[*at] + 1 };
                let edited = String::from_utf8(bytes).expect("digits are text");
                Schedule::parse(&edited).expect_err("a digit is another");
            }
        }
    }

    #[test]
    fn what_is_of_another_program_altogether() {
        for text in ["", "{}", "[]", "null", "{\"spinpark_schedule\": 1}", "{\"spinpark_schedule\": 2}", "\u{0}", "2"] {
            Schedule::parse(text).expect_err("it is no schedule");
        }
        let old = Schedule::parse("{\"spinpark_schedule\": 1, \"model\": \"runq\"}").expect_err("it is an old one");
        assert!(old.contains("has format 1; this program reads 2"), "{old}");
    }

    /// Even with a seal that fits: of the same sources, whatever does not fail as it did is damaged.
    #[test]
    fn a_script_with_a_new_seal() {
        let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut refused = 0;
        for schedule in some() {
            for n in 0..200 {
                let mut edited = schedule.clone();
                let script = edited.failure.script.as_mut().expect("it has one");
                edit(script, n, &mut rng);
                for edited in [of_another_kernel(&edited), edited] {
                    let is_of_these_sources = edited.sources == schedule.sources;
                    match written(&edited).replay(&here) {
                        Replayed::DoesNotFit(_) => refused += 1,
                        Replayed::FailsTheSame(_) => (),
                        other if is_of_these_sources => panic!("{}: {other:?}", schedule.engine),
                        _ => (),
                    }
                }
            }
        }
        assert!(refused > 1_000, "only {refused} were refused");
    }

    fn below(n: usize, rng: &mut TestRng) -> usize {
        rng.next_u64() as usize % n.max(1)
    }

    fn edit(script: &mut Script, n: usize, rng: &mut TestRng) {
        match script {
            Script::Nth(nth) => *nth = [nth.wrapping_add(1), nth.wrapping_sub(1), 0, u64::MAX, 1][n % 5],
            Script::Picks(picks) => {
                let at = below(picks.len(), rng);
                match n % 4 {
                    0 => drop(picks.remove(at)),
                    1 => picks[at] = Pick::T(below(6, rng)),
                    2 => picks[at] = Pick::V(below(6, rng) as u64),
                    _ => picks.truncate(at),
                }
            }
            Script::Graph(graph) => edit_graph(graph, n, rng),
        }
    }

    fn edit_graph(graph: &mut Graph, n: usize, rng: &mut TestRng) {
        let at = below(graph.events.len(), rng);
        let number = below(40, rng) as u16;
        let event = &mut graph.events[at];
        match n % 9 {
            0 => drop((graph.events.remove(at), graph.clocks.remove(at))),
            1 => event.rf = number,
            2 => event.mo = number,
            3 => event.thread = number as u8,
            4 => event.idx = number,
            5 => event.value = u64::from(number),
            6 => drop(graph.events.pop()),
            7 => graph.threads.truncate(1),
            _ => graph.events.swap(at, usize::from(number) % at.max(1)),
        }
    }
}
