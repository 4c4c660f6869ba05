//! The shortest failing program, and its schedule with the fewest switches.

use crate::room::{Program, Room, Trial, run, run_for};
use spinpark_verification::engines::record::Pick;
use spinpark_verification::engines::{Engine, Failure, Outcome, Script};
use std::time::{Duration, Instant};

/// A program that fails, and how.
#[derive(Debug, Clone)]
pub struct Found<R: Room> {
    /// The program.
    pub program: Program<R>,
    /// On which engine it failed, and from which seed.
    pub trial: Trial,
    /// The schedule, and what went wrong.
    pub failure: Failure,
}

/// How often another thread goes on, though the one before could have.
fn switches(failure: &Failure) -> usize {
    match &failure.script {
        Some(Script::Picks(picks)) => {
            let threads: Vec<usize> =
                picks.iter().filter_map(|pick| if let Pick::T(t) = pick { Some(*t) } else { None }).collect();
            threads.windows(2).filter(|pair| pair[0] != pair[1]).count()
        }
        _ => usize::MAX,
    }
}

/// Plays `program` with a few seeds after the one that `trial` has; the failure with the fewest switches.
fn fails<R: Room>(program: &Program<R>, trial: &Trial, seeds: u64) -> Option<(Trial, Failure)> {
    let again = (0..seeds).filter_map(|n| {
        let trial = Trial { seed: trial.seed.wrapping_add(n), ..*trial };
        let Outcome { failure, .. } = run(program, &trial);
        failure.map(|failure| (trial, failure))
    });
    again.min_by_key(|(_, failure)| switches(failure))
}

/// Makes `found` shorter for as long as anything can be left out, and for so long at most.
pub fn shrink<R: Room>(mut found: Found<R>, time: Duration) -> Found<R> {
    let start = Instant::now();
    let is_over = || start.elapsed() > time;
    // A shorter program may need more schedules: the one that failed was lucky.
    let patient = Trial {
        schedules: if found.trial.engine.samples() {
            (found.trial.schedules * 4).clamp(200, 2_000)
        } else {
            found.trial.schedules
        },
        ..found.trial
    };
    let mut before = usize::MAX;
    while found.program.ops.len() < before && !is_over() {
        before = found.program.ops.len();
        for run in [8, 4, 2, 1] {
            let mut at = 0;
            while at + run <= found.program.ops.len() && !is_over() {
                let mut fewer = found.program.clone();
                fewer.ops.drain(at..at + run);
                match fails(&fewer, &patient, 1) {
                    Some((trial, failure)) => found = Found { program: fewer, trial, failure },
                    None => at += 1,
                }
            }
        }
        simplify(&mut found, &patient, is_over);
    }
    // Schedules are cheap now: the one that is easiest to read.
    if let Some((trial, failure)) = fails(&found.program, &patient, 24).filter(|_| found.trial.engine.samples())
        && switches(&failure) < switches(&found.failure)
    {
        (found.trial, found.failure) = (trial, failure);
    }
    found
}

fn simplify<R: Room>(found: &mut Found<R>, patient: &Trial, is_over: impl Fn() -> bool) {
    let mut again = true;
    while again && !is_over() {
        again = false;
        for setup in R::simpler(&found.program.setup) {
            let simpler = Program { setup, ops: found.program.ops.clone() };
            if let Some((trial, failure)) = fails(&simpler, patient, 1) {
                *found = Found { program: simpler, trial, failure };
                again = true;
                break;
            }
        }
    }
}

/// Draws programs and plays each under a few schedules until one fails, which is then made as short as can be; for so
/// long at most.
///
/// `each` is told of every program that was played.
pub fn hunt<R: Room>(how: &Hunt, mut each: impl FnMut(&Program<R>, &Outcome)) -> Option<Found<R>> {
    let start = Instant::now();
    let mut seed = how.trial.seed;
    let mut left = how.programs;
    while left > 0 && start.elapsed() < how.time {
        left -= 1;
        let program = Program::<R>::draw(seed, how.longest);
        for &engine in how.engines {
            let trial = Trial { seed, engine, ..how.trial };
            let left = how.time.saturating_sub(start.elapsed());
            let outcome = run_for(&program, &trial, left.as_secs_f64());
            each(&program, &outcome);
            if let Some(failure) = outcome.failure {
                let found = shrink(Found { program, trial, failure }, how.shrinking);
                return Some(blame_the_kernel(&found).unwrap_or(found));
            }
        }
        seed = seed.wrapping_add(1);
    }
    None
}

/// If what a wrong variant failed by fails without the variant too, that is worse, and is what was found.
fn blame_the_kernel<R: Room>(found: &Found<R>) -> Option<Found<R>> {
    found.trial.mutant?;
    let right = Trial { mutant: None, ..found.trial };
    let (trial, failure) = fails(&found.program, &right, 4)?;
    Some(Found { program: found.program.clone(), trial, failure })
}

/// What to hunt with.
#[derive(Debug, Clone, Copy)]
pub struct Hunt {
    /// How each program is played. The engine is replaced by each of `engines`.
    pub trial: Trial,
    /// The actor.
    pub engines: &'static [Engine],
    /// The longest program.
    pub longest: usize,
    /// At most so many programs.
    pub programs: u64,
    /// When to give up.
    pub time: Duration,
    /// How long to go on once one was found, to make it shorter.
    pub shrinking: Duration,
}
