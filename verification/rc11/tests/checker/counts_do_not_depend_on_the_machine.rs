//! As many executions by one thread as by several, and in one go as in several.

use super::{counts_are_those_of_the_literature as literature, proved};
use rc11::engine::{Config, Tally, explore, explore_with_checkpoint, resume};
use std::num::NonZeroUsize;

/// What does not depend on how the work was shared out.
fn counts(tally: &Tally) -> (u64, u64, &std::collections::BTreeMap<String, u64>) {
    (tally.executions, tally.blocked, &tally.outcomes)
}

#[test]
fn by_one_thread_or_by_several() {
    let alone = proved(&Config::default(), literature::large_with_waiting);
    assert!(alone.executions > 1_000 && alone.blocked > 0);
    for jobs in [2, 3, 5] {
        let jobs = NonZeroUsize::new(jobs).expect("some");
        let shared = proved(&Config { jobs, ..Config::default() }, literature::large_with_waiting);
        assert_eq!(counts(&shared), counts(&alone), "{jobs} threads");
    }
}

#[test]
fn of_symmetric_threads_by_one_thread_or_by_several_in_one_go_or_in_several() {
    let alone = proved(&Config::default(), literature::large_with_symmetric_thieves);
    assert!(alone.executions > 300 && alone.blocked > 0, "{} and {}", alone.executions, alone.blocked);
    let jobs = NonZeroUsize::new(3).expect("some");
    let shared = proved(&Config { jobs, ..Config::default() }, literature::large_with_symmetric_thieves);
    assert_eq!(counts(&shared), counts(&alone));
    // By way of a file, so that graphs and what is left are written and read.
    let file = std::env::temp_dir().join(format!("rc11-symmetric-{}.json", std::process::id()));
    let explore = |executions| {
        let config = Config { executions, ..Config::default() };
        explore_with_checkpoint(&config, "thieves", &file, literature::large_with_symmetric_thieves, |_| ())
    };
    let begun = explore(Some(alone.executions / 3)).expect("a checkpoint");
    assert!(!begun.left.is_empty());
    let ended = explore(None).expect("a checkpoint");
    assert!(!file.exists(), "what is finished needs no checkpoint");
    assert!(ended.is_proof());
    assert_eq!(counts(&ended.tally), counts(&alone));
}

#[test]
fn in_one_go_or_in_several() {
    for jobs in [1, 2] {
        let jobs = NonZeroUsize::new(jobs).expect("some");
        let few = Config { jobs, executions: Some(1_000), ..Config::default() };
        let mut report = explore(&few, literature::large_with_waiting, |_| ());
        let (mut sum, mut goes) = (report.tally.clone(), 1);
        while !report.left.is_empty() {
            report = resume(&few, report.left, literature::large_with_waiting, |_| ());
            sum.executions += report.tally.executions;
            sum.blocked += report.tally.blocked;
            for (outcome, n) in report.tally.outcomes {
                *sum.outcomes.entry(outcome).or_default() += n;
            }
            goes += 1;
        }
        assert!(goes > 3, "{goes}");
        assert_eq!(counts(&sum), counts(&proved(&Config::default(), literature::large_with_waiting)));
    }
}
