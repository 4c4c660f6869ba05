//! Which runs of a model `cargo verify` takes by itself, and which only `cargo verify --all` does.
//!
//! ```text
//!   some engine ends                                   none does
//!
//!   the strongest that does: RC11, else TSO, else SC    a quarter of the samples by PCT, on SC and on TSO;
//!   and beside it loom, if it ends there;               else of whatever there is that samples;
//!   beside SC or TSO, else some samples                 and where none samples, the strongest, cut off
//! ```
//!
//! What is left out repeats on a weaker engine what a stronger one has proved, is cut off after some seconds, or is
//! another sample. Each wrong variant is played on each engine that must kill it, here and there, and in full.

use crate::engines::Engine;
use crate::model::{Model, Run};

/// Whose program an engine is: two of one make may have one mistake in common.
pub fn make(engine: Engine) -> &'static str {
    match engine {
        Engine::Rc11 => "rc11",
        Engine::Sc | Engine::Tso => "sc",
        Engine::Loom | Engine::LoomApart => "loom",
        Engine::Random | Engine::Pct | Engine::TsoRandom | Engine::TsoPct => "shuttle",
    }
}

/// What to sort engines by, the strongest first.
pub fn weakness(engine: Engine) -> u8 {
    match engine {
        Engine::Rc11 => 0,
        Engine::Tso => 1,
        Engine::Sc => 2,
        Engine::Loom => 3,
        Engine::LoomApart => 4,
        Engine::Pct => 5,
        Engine::TsoPct => 6,
        Engine::Random => 7,
        Engine::TsoRandom => 8,
    }
}

/// The runs of `model` that `cargo verify` takes, as it takes them.
pub fn usual(model: &Model) -> Vec<Run> {
    which(model).into_iter().map(shorter).collect()
}

fn which(model: &Model) -> Vec<Run> {
    let mut ending: Vec<Run> = model.runs.iter().filter(|run| run.ends()).copied().collect();
    // Of two runs on one engine the one with spurious wake-ups claims more.
    ending.sort_by_key(|run| (weakness(run.engine), usize::MAX - run.bounds.spurious));
    let mut samples: Vec<Run> = model.runs.iter().filter(|run| run.engine.samples()).copied().collect();
    samples.sort_by_key(|run| weakness(run.engine));
    let Some(strongest) = ending.first().copied() else {
        let cut_off = model.runs.iter().min_by_key(|run| weakness(run.engine)).filter(|_| samples.is_empty());
        samples.truncate(2);
        return samples.into_iter().chain(cut_off.copied()).collect();
    };
    // loom is no part of this project: a reader that doubts our engines asks it first.
    let loom = ending.iter().find(|run| run.engine.is_loom() && !strongest.engine.is_loom());
    let others = ending.iter().find(|run| make(run.engine) != make(strongest.engine)).or(samples.first());
    let beside = if strongest.engine == Engine::Rc11 { loom } else { loom.or(others) };
    [strongest].into_iter().chain(beside.copied()).collect()
}

/// A quarter of a sample.
fn shorter(mut run: Run) -> Run {
    if run.engine.samples() {
        run.bounds.executions = run.bounds.executions.map(|all| all.div_ceil(4));
    }
    run
}

/// Is this run of `model` one that `cargo verify` takes, in full or in part?
pub fn is_usual(model: &Model, run: &Run) -> bool {
    let is_it = |other: &Run| other.engine == run.engine && other.bounds == run.bounds;
    which(model).iter().any(is_it)
}
