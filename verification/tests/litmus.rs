//! The engines, asked what they take memory to be: the classic programs, and the outcomes each engine reaches.
//!
//! What a complete engine must reach stands here to the last outcome; where loom differs from C11, that is written down
//! as it is, so that a change in loom shows.

use spinpark_verification::engines::{self, Bounds, Engine, Job, Verdict};
use spinpark_verification::hosts::any::{self, Kind};
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::model::{self, Model};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use spinpark_kernel::atomic::{Atomic, store_load};

type Word<H> = Atomic<H, u64>;

struct Two<H: ModelHost> {
    x: Word<H>,
    y: Word<H>,
}

impl<H: ModelHost> Two<H> {
    fn new() -> Arc<Self> {
        Arc::new(Two { x: Word::new(0), y: Word::new(0) })
    }

    /// Runs `f` on a thread of its own.
    fn fork<R: Send + 'static>(this: &Arc<Self>, f: impl FnOnce(&Self) -> R + Send + 'static) -> H::Thread<R> {
        let this = Arc::clone(this);
        H::fork("other", move || f(&this))
    }
}

/// Store buffering: each writes its own word, then reads the other's.
fn sb<H: ModelHost>() -> String {
    let two = Two::<H>::new();
    let other = Two::fork(&two, |two| {
        two.y.store(1, Relaxed);
        two.x.load(Relaxed)
    });
    two.x.store(1, Relaxed);
    let mine = two.y.load(Relaxed);
    format!("{mine} {}", H::join(other))
}

/// Store buffering, with a StoreLoad on both sides.
fn sb_fenced<H: ModelHost>() -> String {
    let two = Two::<H>::new();
    let other = Two::fork(&two, |two| {
        two.y.store(1, Relaxed);
        // `litmus`: the other half is below.
        store_load::<H>();
        two.x.load(Relaxed)
    });
    two.x.store(1, Relaxed);
    // `litmus`: the other half is above.
    store_load::<H>();
    let mine = two.y.load(Relaxed);
    format!("{mine} {}", H::join(other))
}

/// Store buffering, with SeqCst accesses and no fence.
fn sb_seqcst<H: ModelHost>() -> String {
    let two = Two::<H>::new();
    let other = Two::fork(&two, |two| {
        two.y.store(1, SeqCst);
        two.x.load(SeqCst)
    });
    two.x.store(1, SeqCst);
    let mine = two.y.load(SeqCst);
    format!("{mine} {}", H::join(other))
}

/// Message passing: data, then a flag; Relaxed.
fn mp_relaxed<H: ModelHost>() -> String {
    let two = Two::<H>::new();
    let other = Two::fork(&two, |two| {
        two.x.store(1, Relaxed);
        two.y.store(1, Relaxed);
    });
    let (flag, data) = (two.y.load(Relaxed), two.x.load(Relaxed));
    H::join(other);
    format!("{flag} {data}")
}

/// Message passing, with release and acquire.
fn mp<H: ModelHost>() -> String {
    let two = Two::<H>::new();
    let other = Two::fork(&two, |two| {
        two.x.store(1, Relaxed);
        two.y.store(1, Release);
    });
    let (flag, data) = (two.y.load(Acquire), two.x.load(Relaxed));
    H::join(other);
    format!("{flag} {data}")
}

/// Load buffering: each reads, then writes the other's word.
fn lb<H: ModelHost>() -> String {
    let two = Two::<H>::new();
    let other = Two::fork(&two, |two| {
        let seen = two.x.load(Relaxed);
        two.y.store(1, Relaxed);
        seen
    });
    let mine = two.y.load(Relaxed);
    two.x.store(1, Relaxed);
    format!("{mine} {}", H::join(other))
}

/// A thread that reads a word and then writes it hides an earlier reader from loom (tokio-rs/loom #166, #392).
fn read_then_write<H: ModelHost>() -> String {
    let two = Two::<H>::new();
    let writer = Two::fork(&two, |two| {
        let n = two.x.load(Relaxed);
        two.x.store(n + 1, Relaxed);
    });
    let seen = two.x.load(Relaxed);
    H::join(writer);
    format!("{seen}")
}

macro_rules! program {
    ($body:ident) => {
        spinpark_verification::model!("litmus", $body, claim: "", size: "", invariants: [], must_reach: [], runs: [])
    };
}

fn outcomes(program: Model, engine: Engine) -> BTreeSet<String> {
    let bounds = Bounds { preemptions: None, depth: None, executions: None, spurious: 0, seconds: 60.0 };
    let job =
        Job { model: &program, engine, bounds, mutation: None, seed: 1, jobs: NonZeroUsize::MIN, checkpoint: None };
    let outcome = engines::run(job, &engines::silent());
    assert!(matches!(outcome.verdict, Verdict::Proved | Verdict::Explored), "{:?}", outcome.verdict);
    outcome.outcomes.into_keys().collect()
}

fn all(outcomes: &[&str]) -> BTreeSet<String> {
    outcomes.iter().map(|outcome| (*outcome).to_owned()).collect()
}

const SC_OF_SB: [&str; 3] = ["0 1", "1 0", "1 1"];
const ALL_FOUR: [&str; 4] = ["0 0", "0 1", "1 0", "1 1"];

mod sequential_consistency {
    use super::*;

    #[test]
    fn never_buffers() {
        assert_eq!(outcomes(program!(sb), Engine::Sc), all(&SC_OF_SB));
        assert_eq!(outcomes(program!(lb), Engine::Sc), all(&["0 0", "0 1", "1 0"]));
        assert_eq!(outcomes(program!(mp_relaxed), Engine::Sc), all(&["0 0", "0 1", "1 1"]));
        assert_eq!(outcomes(program!(read_then_write), Engine::Sc), all(&["0", "1"]));
    }
}

mod total_store_order {
    use super::*;

    #[test]
    fn buffers_stores_unless_fenced() {
        assert_eq!(outcomes(program!(sb), Engine::Tso), all(&ALL_FOUR));
        assert_eq!(outcomes(program!(sb_fenced), Engine::Tso), all(&SC_OF_SB));
    }

    #[test]
    fn keeps_stores_and_loads_in_order() {
        assert_eq!(outcomes(program!(mp_relaxed), Engine::Tso), all(&["0 0", "0 1", "1 1"]));
        assert_eq!(outcomes(program!(lb), Engine::Tso), all(&["0 0", "0 1", "1 0"]));
    }
}

mod loom_is_what_we_say_it_is {
    use super::*;

    #[test]
    fn right_about_fences_and_messages() {
        assert_eq!(outcomes(program!(sb), Engine::Loom), all(&ALL_FOUR));
        assert_eq!(outcomes(program!(sb_fenced), Engine::Loom), all(&SC_OF_SB));
        assert_eq!(outcomes(program!(mp_relaxed), Engine::Loom), all(&ALL_FOUR));
        assert_eq!(outcomes(program!(mp), Engine::Loom), all(&["0 0", "0 1", "1 1"]));
    }

    #[test]
    fn too_weak_about_seqcst_accesses() {
        assert!(outcomes(program!(sb_seqcst), Engine::Loom).contains("0 0"), "C11 forbids it; loom once allowed it");
    }

    #[test]
    fn blind_for_load_buffering() {
        assert!(!outcomes(program!(lb), Engine::Loom).contains("1 1"), "C11 allows it; loom once did not");
    }

    #[test]
    fn incomplete_when_a_thread_reads_and_then_writes() {
        // `0` or `1` may be read; if loom finds both now, docs/reference/caveats.md and this test are out of date.
        assert_eq!(outcomes(program!(read_then_write), Engine::Loom).len(), 1);
    }
}

mod marks_mend_it {
    use super::*;

    #[test]
    fn when_a_thread_reads_and_then_writes() {
        assert_eq!(outcomes(program!(read_then_write), Engine::LoomApart), all(&["0", "1"]));
    }

    #[test]
    fn and_allow_no_more_and_no_less_otherwise() {
        assert_eq!(outcomes(program!(sb), Engine::LoomApart), all(&ALL_FOUR));
        assert_eq!(outcomes(program!(sb_fenced), Engine::LoomApart), all(&SC_OF_SB));
        assert_eq!(outcomes(program!(mp_relaxed), Engine::LoomApart), all(&ALL_FOUR));
        assert_eq!(outcomes(program!(mp), Engine::LoomApart), all(&["0 0", "0 1", "1 1"]));
    }
}

mod the_reduction_loses_nothing {
    use super::*;
    use shuttle::{Config, Runner};
    use spinpark_verification::engines::sc::{Exhaustive, Explored};
    use spinpark_verification::hosts::wrap::{trace, tso};
    use std::sync::Mutex;

    /// Enough for the small models; the large are for the reduced exploration only.
    const AT_MOST: u64 = 8_000;

    /// Where no thread has raced by then, there is one thread, and nothing to reduce.
    const NO_RACE_AFTER: u64 = 20;

    fn explore(body: fn() -> String, spurious: usize, reduced: bool) -> (Explored, BTreeSet<String>) {
        let (scheduler, seen) =
            Exhaustive::new(spurious, |seen| seen.executions < if seen.races { AT_MOST } else { NO_RACE_AFTER });
        let scheduler = if reduced { scheduler } else { scheduler.without_reduction() };
        let outcomes = Arc::new(Mutex::new(BTreeSet::new()));
        let found = Arc::clone(&outcomes);
        let mut config = Config::new();
        config.stack_size = 0x2_0000;
        config.silence_warnings = true;
        Runner::new(scheduler, config).run(move || {
            trace::begin(false);
            tso::begin();
            let outcome = body();
            found.lock().expect("no panic under it").insert(outcome);
        });
        let seen = seen.borrow().clone();
        let outcomes = outcomes.lock().expect("no panic under it").clone();
        (seen, outcomes)
    }

    /// Both ways, if threads race and the long way has an end. How many executions each took.
    fn compare(name: &str, body: fn() -> String, spurious: usize) -> Option<(u64, u64)> {
        let (long, all) = explore(body, spurious, false);
        if !long.complete || !long.races {
            return None;
        }
        let (short, reached) = explore(body, spurious, true);
        assert!(short.complete, "{name}: the short way has no end");
        assert_eq!(reached, all, "{name}: the short way reaches other outcomes");
        assert!(short.executions <= long.executions, "{name}: the short way is longer");
        Some((short.executions, long.executions))
    }

    /// Trees walked, and how many executions each way took. Each of `of` threads walks some.
    fn walk(part: usize, of: usize) -> (u64, u64, u64) {
        // One that is for rc11 alone may end while threads wait, which is a deadlock to others.
        let is_for_others = |model: &&Model| model.runs.iter().any(|run| run.engine != Engine::Rc11);
        let models = model::all().filter(|model| model.room() != "sched").filter(is_for_others).skip(part).step_by(of);
        let trees = models.flat_map(|model| {
            let ways = [(Kind::Shuttle, 0), (Kind::Tso, 0), (Kind::Shuttle, 1)];
            ways.into_iter().map(|(kind, spurious)| {
                any::choose(kind);
                compare(model.name, model.play, spurious)
            })
        });
        trees
            .flatten()
            .fold((0, 0, 0), |(walked, short, long), (reduced, whole)| (walked + 1, short + reduced, long + whole))
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn on_every_model_whose_whole_tree_can_be_walked() {
        let of = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads: Vec<_> = (0..of).map(|part| std::thread::spawn(move || walk(part, of))).collect();
        let parts = threads.into_iter().map(|thread| thread.join().expect("no tree differs"));
        let sum = |a: (u64, u64, u64), b: (u64, u64, u64)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
        let (walked, short, long) = parts.fold((0, 0, 0), sum);
        assert!(walked >= 40, "only {walked} trees could be walked");
        assert!(long > 10 * short, "{short} executions stand for {long}: nothing is reduced");
        eprintln!("{walked} trees, {long} executions, {short} after reduction");
    }
}
