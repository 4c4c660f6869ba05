//! A failing schedule that was sampled is made shorter, and still is one.

use spinpark_verification::engines::shrink::shrink;
use spinpark_verification::engines::{self, Engine, Job, Script};
use spinpark_verification::model;
use spinpark_verification::mutation::mutant;
use std::num::NonZeroUsize;
use std::time::Duration;

#[test]
fn the_schedule_of_a_whole_scheduler_has_fewer_switches_and_fails_alike() {
    let model = model::find("sched::work_is_conserved::a_g_waits_for_its_child").expect("it is there");
    let mutant = mutant::find("sched-no-submitter-fence").expect("it is there");
    let (engine, run) = (Engine::TsoPct, model.run_on(Engine::TsoPct).expect("it is sampled"));
    let jobs = NonZeroUsize::MIN;
    let job =
        Job { model, engine, bounds: run.bounds, mutation: Some(mutant.mutation), seed: 5, jobs, checkpoint: None };
    let failure = engines::run(job, &engines::silent()).failure.expect("it must be caught");
    let shorter = shrink(job, failure.clone(), Duration::from_secs(20));
    let (before, after) = (switches(&failure), switches(&shorter));
    println!("{} steps and {before} switches; then {} and {after}", failure.steps.len(), shorter.steps.len());
    assert!(after < before, "{after} switches, and there were {before}");
    let again = engines::replay(job, shorter.script.as_ref().expect("it has one")).expect("it fits");
    assert_eq!(again.failure.expect("it fails").message, shorter.message);
}

/// How often another thread goes on, by what was done.
fn switches(failure: &engines::Failure) -> usize {
    assert!(matches!(failure.script, Some(Script::Picks(_))), "it was sampled");
    failure.steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}
