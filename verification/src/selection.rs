//! Which runs of a model `cargo verify` takes by itself, and which only `cargo verify --all` does.
//!
//! ```text
//!   some engine ends                                   none does
//!
//!   the strongest that does: RC11, else TSO, else SC    sampled by PCT, on SC and on TSO;
//!   and beside it one of another make that ends,        else whatever there is that samples
//!   or, where there is none, one that samples
//! ```
//!
//! What is left out repeats on a weaker engine what a stronger one has proved, is cut off after some seconds, or is a
//! longer sample. Each wrong variant is played on each engine that must kill it, here and there.

use crate::engines::Engine;
use crate::model::{Model, Run};

/// Whose program an engine is: two of one make may have one mistake in common.
fn make(engine: Engine) -> &'static str {
    match engine {
        Engine::Rc11 => "rc11",
        Engine::Sc | Engine::Tso => "sc",
        Engine::Loom | Engine::LoomApart => "loom",
        Engine::Random | Engine::Pct | Engine::TsoRandom | Engine::TsoPct => "shuttle",
    }
}

/// The strongest first.
fn weakness(engine: Engine) -> u8 {
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

/// The runs of `model` that `cargo verify` takes.
pub fn usual(model: &Model) -> Vec<Run> {
    let mut ending: Vec<Run> = model.runs.iter().filter(|run| run.ends()).copied().collect();
    // Of two runs on one engine the one with spurious wake-ups claims more.
    ending.sort_by_key(|run| (weakness(run.engine), usize::MAX - run.bounds.spurious));
    let mut samples: Vec<Run> = model.runs.iter().filter(|run| run.engine.samples()).copied().collect();
    samples.sort_by_key(|run| weakness(run.engine));
    let Some(strongest) = ending.first().copied() else {
        samples.truncate(2);
        return samples;
    };
    let others = || ending.iter().filter(|run| make(run.engine) != make(strongest.engine));
    // loom is no part of this project: who doubts our engines asks it first.
    let beside = others().find(|run| run.engine.is_loom()).or_else(|| others().next()).or(samples.first());
    [strongest].into_iter().chain(beside.copied()).collect()
}

/// Is this run of `model` one that `cargo verify` takes?
pub fn is_usual(model: &Model, run: &Run) -> bool {
    usual(model).iter().any(|other| other.engine == run.engine && other.bounds == run.bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;

    #[test]
    fn every_model_is_run() {
        for model in model::all() {
            let runs = usual(model);
            assert!(!runs.is_empty() && runs.len() <= 2, "{}: {runs:?}", model.name);
            assert!(runs.iter().all(|run| is_usual(model, run)), "{}", model.name);
        }
    }

    /// Nothing that is proved by all engines together is not proved, on as weak a memory, by those of the usual run.
    #[test]
    fn what_can_be_proved_is() {
        for model in model::all() {
            let strongest = |runs: &[Run]| {
                let complete = runs.iter().filter(|run| run.engine.is_complete() && run.ends());
                complete.map(|run| (weakness(run.engine), usize::MAX - run.bounds.spurious)).min()
            };
            assert_eq!(strongest(model.runs), strongest(&usual(model)), "{}", model.name);
        }
    }

    #[test]
    fn two_engines_are_of_two_makes() {
        for model in model::all() {
            if let [one, other] = usual(model).as_slice() {
                let both_sample = one.engine.samples() && other.engine.samples();
                assert!(both_sample || make(one.engine) != make(other.engine), "{}", model.name);
            }
        }
    }
}
