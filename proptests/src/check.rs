//! Running a property: over generated inputs, with a tally of what was reached, or in search of a counterexample.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestCaseError, TestError, TestRunner};
use std::cell::RefCell;
use std::env;
use std::fmt;
use std::ops::Range;
use std::panic::Location;

pub use spinpark_verification::checker::tally::{Broken, Tally};

/// Tries `property` on `cases` generated inputs, or on as many as `PROPTEST_CASES` says, and returns what was reached.
///
/// # Panics
/// If the property does not hold for one of them, with a smaller one for which it does not hold either. The seed is
/// kept beside the caller's source file.
#[track_caller]
pub fn check<S: Strategy>(cases: u32, inputs: S, property: impl Fn(S::Value) -> Result<Tally, Broken>) -> Tally {
    let total = RefCell::new(Tally::default());
    let outcome = TestRunner::new(config(cases)).run(&inputs, |input| match property(input) {
        Ok(tally) => {
            total.borrow_mut().merge(&tally);
            Ok(())
        }
        Err(broken) => Err(TestCaseError::fail(broken.to_string())),
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    total.into_inner()
}

/// So many cases, or as many as `PROPTEST_CASES` says; seeds of failures are kept beside the caller's source file.
#[track_caller]
pub(crate) fn config(cases: u32) -> Config {
    let from_env = Config::default();
    Config {
        cases: if env::var_os("PROPTEST_CASES").is_some() { from_env.cases } else { cases },
        source_file: Some(Location::caller().file()),
        // What fails because the kernel was mutated is no regression, and need not be short.
        failure_persistence: match is_mutated() {
            true => None,
            false => Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        },
        max_shrink_iters: if is_mutated() { 0 } else { 20_000 },
        ..from_env
    }
}

/// Is this the mutated kernel, in which `cargo verify mutants` has switched a mutant on?
fn is_mutated() -> bool {
    env::var_os("SPINPARK_MUTANT").is_some()
}

/// Finds a list of operations for which `property` does not hold, and shortens it until each operation is needed.
///
/// # Panics
/// If there is none among the `cases` generated: then the property cannot fail, or is not looked at closely enough.
#[track_caller]
pub fn refute<T: Clone + fmt::Debug, S: Strategy<Value = Vec<T>>>(
    cases: u32,
    inputs: S,
    property: impl Fn(&[T]) -> Result<Tally, Broken>,
) -> (Vec<T>, Broken) {
    // Always the same cases: how short a counterexample can be made depends on which is met first.
    let rng_seed = RngSeed::Fixed(1);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, rng_seed, ..Config::default() };
    let outcome = TestRunner::new(config).run(&inputs, |ops| match property(&ops) {
        Ok(_) => Ok(()),
        Err(broken) => Err(TestCaseError::fail(broken.to_string())),
    });
    let ops = match outcome {
        Err(TestError::Fail(_, ops)) => ops,
        other => panic!("no counterexample in {cases} cases: {other:?}"),
    };
    shortest(ops, property)
}

/// Shortens `ops`, for which `property` does not hold, until each operation is needed.
///
/// The generator's own shrinking takes out one operation at a time, once through. Runs of operations, and pairs, taken
/// out until none can be, leave less: a round of turns goes as a whole or not at all.
///
/// # Panics
/// If the property holds in the end.
#[track_caller]
pub fn shortest<T: Clone + fmt::Debug>(
    mut ops: Vec<T>,
    property: impl Fn(&[T]) -> Result<Tally, Broken>,
) -> (Vec<T>, Broken) {
    let mut before = usize::MAX;
    while ops.len() < before {
        before = ops.len();
        for run in (1..=16).rev() {
            let mut at = 0;
            while at + run <= ops.len() {
                at += usize::from(!shorten(&mut ops, &property, at..at + run, 0..0));
            }
        }
        let near = ops.len().min(32);
        (0..near).any(|a| (a + 1..near).any(|b| shorten(&mut ops, &property, a..a + 1, b..b + 1)));
    }
    match property(&ops) {
        Err(why) => (ops, why),
        Ok(_) => panic!("the property does not always give the same answer on {ops:?}"),
    }
}

/// Takes out `first` and, behind it, `second`, unless the property holds then.
fn shorten<T: Clone>(
    ops: &mut Vec<T>,
    property: impl Fn(&[T]) -> Result<Tally, Broken>,
    first: Range<usize>,
    second: Range<usize>,
) -> bool {
    let fewer: Vec<T> =
        (0..ops.len()).filter(|at| !first.contains(at) && !second.contains(at)).map(|at| ops[at].clone()).collect();
    let still_fails = property(&fewer).is_err();
    if still_fails {
        *ops = fewer;
    }
    still_fails
}
