//! Bounds: each makes the verdict `bounded`, if it is reached.

use loom::model::{Builder, Verdict};
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;
use std::time::Duration;

fn many() {
    let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let threads: Vec<_> = (1..4)
        .map(|n| {
            let words = words.clone();
            thread::spawn(move || {
                words[0].store(n, Relaxed);
                words[1].store(words[0].load(Relaxed), Relaxed);
                words[0].store(words[1].load(Relaxed), Relaxed);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn few() {
    let word = Arc::new(AtomicUsize::new(0));
    let theirs = word.clone();
    let other = thread::spawn(move || theirs.store(1, Relaxed));
    word.load(Relaxed);
    other.join().unwrap();
}

#[track_caller]
fn bounded(change: impl Fn(&mut Builder), f: fn()) -> String {
    let mut builder = Builder::new();
    change(&mut builder);
    match builder.outcome_of(f).verdict {
        Verdict::Bounded(why) => why,
        other => panic!("{other}"),
    }
}

#[test]
fn of_executions() {
    let why = bounded(|b| b.max_permutations = Some(100), many);
    assert!(why.starts_with("not all was explored: max_permutations 100, of about "), "{why}");
}

#[test]
fn of_time() {
    let why = bounded(|b| b.max_duration = Some(Duration::from_millis(50)), many);
    assert!(why.starts_with("not all was explored: max_duration 50ms"), "{why}");
}

#[test]
fn of_preemptions() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(1);
    let outcome = builder.outcome_of(few);
    assert_eq!((outcome.verdict, outcome.executions), (Verdict::Proved, 2), "none takes more");
    let why = bounded(|b| b.preemption_bound = Some(0), few);
    assert!(why.starts_with("executions with more than 0 preemptions were left out"), "{why}");
    assert!(why.ends_with("raise `preemption_bound`, or leave it out"), "{why}");
}

/// What two threads read first of all is changed last of all when depth comes first: long after the bound.
fn decides_early() {
    let words = Arc::new([0, 0, 0].map(AtomicUsize::new));
    let threads: Vec<_> = (0..3)
        .map(|n| {
            let words = words.clone();
            thread::spawn(move || {
                let is_early = if n == 0 {
                    words[0].store(1, Relaxed);
                    false
                } else {
                    words[0].load(Relaxed) == 0
                };
                (0..4).for_each(|_| _ = words[1].fetch_add(1, Relaxed));
                words[2].fetch_add(usize::from(is_early), Relaxed);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(words[2].load(Relaxed) < 2, "both were early");
}

#[test]
fn of_executions_find_what_depth_first_does_not_come_to() {
    use loom::engine::{Config, explore};
    let finds = |seed: Option<u64>| {
        let mut builder = Builder::new();
        builder.max_permutations = Some(3_000);
        match seed {
            Some(seed) => {
                builder.seed = seed;
                matches!(builder.outcome_of(decides_early).verdict, Verdict::Failed(_))
            }
            None => {
                let config = Config { executions: Some(3_000), unwind: false, ..Config::default() };
                let body = || {
                    decides_early();
                    String::new()
                };
                explore(&config, body, |_| ()).failure.is_some()
            }
        }
    };
    assert!(!finds(None), "depth first does not come to it");
    let found = (1..=10).filter(|seed| finds(Some(*seed))).count();
    assert!(found >= 8, "found with {found} seeds of 10");
}

#[test]
fn of_threads() {
    let mut builder = Builder::new();
    builder.max_threads = 1;
    let outcome = builder.outcome_of(few);
    let why = "failed: more than 1 threads in one execution: see `Builder::max_threads`";
    assert_eq!(outcome.verdict.to_string(), why);
}

#[test]
fn of_events() {
    let mut builder = Builder::new();
    builder.max_branches = 1;
    assert!(builder.outcome_of(few).verdict.to_string().starts_with("failed: more than 3 events in one execution"));
}

#[test]
fn of_what_the_model_explores() {
    let why = "the model has stopped the exploration, for a part";
    let stopped = || {
        loom::stop_exploring();
        few();
        loom::explore();
    };
    assert_eq!(bounded(|_| (), stopped), why);
    let skipped = || {
        loom::skip_branch();
        loom::explore();
        few();
    };
    assert_eq!(bounded(|_| (), skipped), why);
    assert_eq!(bounded(|b| b.expect_explicit_explore = true, few), why);
    let mut builder = Builder::new();
    builder.expect_explicit_explore = true;
    let explored = || {
        loom::explore();
        few();
    };
    assert_eq!(builder.outcome_of(explored).verdict, Verdict::Proved);
}

#[test]
fn the_counts_do_not_depend_on_how_many_explore() {
    let executions = |jobs| {
        let mut builder = Builder::new();
        builder.jobs = jobs;
        builder.outcome_of(many).executions
    };
    assert_eq!(executions(1), executions(3));
}
