//! Every model on every engine that it runs on, a test each, cut short: the long run is `cargo verify`. Runs that are not
//! usual there are ignored here: `cargo test -p spinpark-verification --test models -- --ignored`. The museum's models are
//! among them: what is shown there as caught by a model holds on the same model without the bug.

use libtest_mimic::{Arguments, Failed, Trial};
use spinpark_museum as museum;
use spinpark_verification::engines::{self, Bounds, Engine, Job, Verdict};
use spinpark_verification::model::{self, Model, Run};
use spinpark_verification::selection;
use std::num::NonZeroUsize;

/// Enough to see every model at work.
const EXECUTIONS: u64 = 500;

fn main() {
    // Shuttle sets its panic hook when it first runs, and the hook then speaks of loom's coroutines too, which end by
    // unwinding. What fails here is reported all the same.
    shuttle::check_random(|| (), 1);
    std::panic::set_hook(Box::new(|_| ()));
    let arguments = Arguments::from_args();
    let museums = museum::MODELS.iter().copied().flatten();
    let trials = model::all().chain(museums).flat_map(|model| model.runs.iter().map(move |run| trial(model, *run)));
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn trial(model: &'static Model, run: Run) -> Trial {
    let spurious = if run.bounds.spurious > 0 { "_with_spurious_wakes" } else { "" };
    let name = format!("{}::on_{}{spurious}", model.name, run.engine);
    Trial::test(name, move || holds(model, run)).with_ignored_flag(!selection::is_usual(model, &run))
}

fn holds(model: &Model, run: Run) -> Result<(), Failed> {
    let executions = run.bounds.executions.map_or(EXECUTIONS, |n| n.min(EXECUTIONS));
    let bounds = Bounds { executions: Some(executions), ..run.bounds };
    let outcome = engines::run(
        Job { model, engine: run.engine, bounds, mutation: None, seed: 1, jobs: NonZeroUsize::MIN, checkpoint: None },
        &engines::silent(),
    );
    if let Some(failure) = outcome.failure {
        return Err(failure.message.into());
    }
    // loom forgets; and for rc11 what differs only in which thread runs first is one execution.
    if outcome.executions < 2 && !matches!(run.engine, Engine::Loom | Engine::Rc11) {
        return Err("it explored a single execution".into());
    }
    if outcome.verdict == Verdict::Proved && outcome.outcomes.is_empty() {
        return Err("it explored nothing".into());
    }
    Ok(())
}
