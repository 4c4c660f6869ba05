//! Random programs until the time is over; what fails is made shorter.

use crate::child::{Failure, Verdict, run};
use crate::draw;
use crate::program::Program;
use crate::regression::Regression;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::{Duration, Instant};

/// How to hunt.
pub(crate) struct Hunt {
    pub(crate) seed: u64,
    pub(crate) time: Duration,
    /// Without progress for so long a program is stuck.
    pub(crate) patience: Duration,
    /// For so long at most a failing program is made shorter.
    pub(crate) shrinking: Duration,
}

/// What was done.
#[derive(Default)]
pub(crate) struct Total {
    pub(crate) programs: u64,
    pub(crate) operations: u64,
    pub(crate) steps: u64,
    pub(crate) failed: u64,
}

/// Each program has a seed of its own, so that it can be made again alone.
fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Plays programs until one fails, or, if it `goes_on`, until the time is over. `each` is given what was done so far, and
/// what failed just now.
///
/// # Errors
/// That of `each`.
pub(crate) fn hunt<E>(
    how: &Hunt,
    goes_on: bool,
    mut each: impl FnMut(&Total, Option<&Regression>) -> Result<(), E>,
) -> Result<Total, E> {
    let start = Instant::now();
    let mut total = Total::default();
    let mut seed = how.seed;
    while start.elapsed() < how.time {
        let mut found = None;
        let mut tree = draw::program().new_tree(&mut runner(seed)).expect("a strategy that rejects nothing");
        let program = tree.current();
        total.programs += 1;
        total.operations += program.operations() as u64;
        match run(&program, how.patience) {
            Verdict::Passed { steps } => total.steps += steps,
            Verdict::Failed(failure) => {
                println!("seed {seed}: {}, after {:.1?}; shrinking", failure.message, start.elapsed());
                let (program, failure) = shrink(&mut tree, (program, failure), how);
                total.failed += 1;
                found = Some(Regression::new(seed, program, failure));
            }
        }
        each(&total, found.as_ref())?;
        if found.is_some() && !goes_on {
            break;
        }
        seed = seed.wrapping_add(1);
    }
    Ok(total)
}

/// The shortest program that fails in the same way, that was found in the time there is. A shorter one may fail less often:
/// each is played some times.
fn shrink(tree: &mut impl ValueTree<Value = Program>, found: (Program, Failure), how: &Hunt) -> (Program, Failure) {
    let start = Instant::now();
    let mut best = found;
    // A hang costs the patience each time. What is found with less of it is asked again in the end.
    let patience = how.patience.min(Duration::from_millis(1_500));
    let fails = |program: &Program, best: &Failure| {
        (0..4).find_map(|_| match run(program, patience) {
            Verdict::Failed(failure) if failure.kind == best.kind => Some(failure),
            _ => None,
        })
    };
    let mut simpler = tree.simplify();
    while simpler && start.elapsed() < how.shrinking {
        let program = tree.current();
        if program == best.0 {
            simpler = tree.simplify();
            continue;
        }
        match fails(&program, &best.1) {
            Some(failure) => {
                best = (program, failure);
                simpler = tree.simplify();
            }
            None => simpler = tree.complicate(),
        }
    }
    best
}
