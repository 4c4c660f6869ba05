//! Reference models as state machines for proptest-state-machine: what may be done next depends on what was done.
//!
//! The model generates the operations, one that makes sense after the other, and shortens a failure to one in which each
//! still makes sense. Then they are [played](Played::play): done to the model once more and to the kernel, and what is
//! seen of both is compared.

use crate::check::{Broken, Tally, config, shortest};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use proptest_state_machine::ReferenceStateMachine;
use std::cell::RefCell;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering::Relaxed;

/// How many operations a counterexample may have before it is shortened: few are tried first.
const LENGTHS: [usize; 4] = [12, 18, 36, 100];

/// A state machine that knows how to compare the kernel with itself.
pub trait Played: ReferenceStateMachine {
    /// Does `ops` to the model that `start` is, and to a kernel that was just made, and compares after each.
    /// `step` is to be called before each.
    ///
    /// # Errors
    /// The first step at which they differ.
    fn play(start: &Self::State, ops: &[Self::Transition], step: impl Fn()) -> Result<Tally, Broken>;

    /// What there is to say of `start`: its numbers.
    fn setting(start: &Self::State) -> String;

    /// The same operation in its simplest form, to be tried instead when it belongs to a failure.
    fn simplest(op: &Self::Transition) -> Self::Transition {
        op.clone()
    }
}

/// Compares on `cases` generated sequences of up to `len` operations, or on as many as `PROPTEST_CASES` says. Returns
/// what was reached.
///
/// # Panics
/// If they differ; with a shorter sequence for which they differ too. The seed is kept beside the caller's source file.
#[track_caller]
pub fn check<P: Played>(cases: u32, len: usize) -> Tally {
    match attempt::<P>(config(cases), 1..=len) {
        (seen, None) => seen,
        (_, Some(refuted)) => panic!("{refuted}"),
    }
}

/// A sequence of operations for which model and kernel differ.
pub struct Refuted<P: Played> {
    /// The model before the first.
    pub start: P::State,
    /// The operations. None can be left out.
    pub ops: Vec<P::Transition>,
    /// Where they differ.
    pub why: Broken,
}

impl<P: Played> fmt::Display for Refuted<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", P::setting(&self.start))?;
        self.ops.iter().try_for_each(|op| writeln!(f, "{op:?}"))?;
        write!(f, "{}", self.why)
    }
}

/// Finds a sequence for which model and kernel differ, and shortens it until each operation is needed. Short ones are
/// looked for first; always the same ones.
///
/// # Panics
/// If there is none among the `cases` generated for each of several lengths: then what is wrong cannot be seen.
#[track_caller]
pub fn refute<P: Played>(cases: u32) -> Refuted<P> {
    let rng_seed = RngSeed::Fixed(1);
    let config = Config { cases, failure_persistence: None, rng_seed, ..Config::default() };
    let refuted = LENGTHS.iter().find_map(|&len| attempt::<P>(config.clone(), len..=len).1);
    refuted.unwrap_or_else(|| panic!("no counterexample in {cases} cases of each of {LENGTHS:?} operations"))
}

fn attempt<P: Played>(config: Config, len: RangeInclusive<usize>) -> (Tally, Option<Refuted<P>>) {
    let (total, failed) = (RefCell::new(Tally::default()), RefCell::new(None));
    let config = Config { max_shrink_iters: 1_000, ..config };
    let outcome = TestRunner::new(config).run(&P::sequential_strategy(len), |(start, ops, seen)| {
        // All do, unless a failure is being shortened: what then belongs to another start must not be done.
        let ops = sensible::<P>(&start, &ops);
        let played = P::play(&start, &ops, || {
            if let Some(seen) = &seen {
                // Relaxed: one thread counts, and reads it later.
                seen.fetch_add(1, Relaxed);
            }
        });
        match played {
            Ok(seen) => total.borrow_mut().merge(&seen),
            Err(broken) => {
                let why = TestCaseError::fail(broken.to_string());
                failed.replace(Some((start, ops)));
                return Err(why);
            }
        }
        Ok(())
    });
    let refuted = match (outcome, failed.into_inner()) {
        (Ok(()), _) => None,
        // Not what the runner says failed last: it may have put back less than it took out.
        (Err(TestError::Fail(..)), Some((start, ops))) => Some(shorten(start, ops)),
        (Err(aborted), _) => panic!("{aborted}"),
    };
    (total.into_inner(), refuted)
}

fn shorten<P: Played>(start: P::State, ops: Vec<P::Transition>) -> Refuted<P> {
    let play = |ops: &[P::Transition]| P::play(&start, &sensible::<P>(&start, ops), || ());
    let (mut ops, mut why) = shortest(ops, play);
    for at in 0..ops.len() {
        let simplest = P::simplest(&ops[at]);
        let before = std::mem::replace(&mut ops[at], simplest);
        match play(&ops) {
            Ok(_) => ops[at] = before,
            Err(broken) => why = broken,
        }
    }
    Refuted { ops: sensible::<P>(&start, &ops), start, why }
}

/// Those that make sense, one after the other.
fn sensible<P: Played>(start: &P::State, ops: &[P::Transition]) -> Vec<P::Transition> {
    let (mut state, mut kept) = (start.clone(), Vec::new());
    for op in ops {
        if P::preconditions(&state, op) {
            state = P::apply(state, op);
            kept.push(op.clone());
        }
    }
    kept
}
