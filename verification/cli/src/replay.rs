//! `cargo verify replay` and `cargo verify picture`: a failing execution, played and drawn again.

use crate::{Stop, print, write};
use spinpark_verification::engines::{self, Failure, Script};
use spinpark_verification::job::{self, Order};
use spinpark_verification::schedule::{Replayed, Schedule};
use std::path::Path;

pub(crate) fn replay(file: &Path) -> Result<(), Stop> {
    let mut schedule = Schedule::read(file)?;
    let was = schedule.failure.message.clone();
    let (now, said) = match schedule.replay(&job::replay) {
        Replayed::Passes => {
            let Schedule { model, engine, .. } = &schedule;
            print(&format!("It no longer fails: {model} on {engine} held in this execution.\n"));
            return Ok(());
        }
        Replayed::DoesNotFit(reason) => return Err(Stop::BadInput(format!("{}: {reason}", file.display()))),
        Replayed::FailsTheSame(failure) => (failure, "It still fails, in the same way.".to_owned()),
        Replayed::FailsOtherwise(failure) => {
            (failure, format!("It fails, but in another way. It said before:\n  {}", was.trim_end()))
        }
    };
    let execution = schedule.failure.execution;
    schedule.failure = Failure { execution, ..now };
    print(&schedule.picture());
    print(&format!("\n{said}\n"));
    Err(Stop::DoesNotHold)
}

pub(crate) fn picture(file: &Path, svg: Option<&Path>) -> Result<(), Stop> {
    let Schedule { model, engine, bounds, seed, mutant, failure, .. } = Schedule::read(file)?;
    let does_not_fit = |message: String| format!("{}: {message}", file.display());
    let Some(Script::Graph(graph)) = &failure.script else {
        let hint = format!("run it with `cargo verify run {model} --engine rc11`, which writes one that can");
        return Err(Stop::BadInput(format!("{} is a schedule of {engine}, not a graph; {hint}", file.display())));
    };
    let order = Order::new(&model, engine, bounds, mutant.as_deref(), seed);
    let job = order.job().map_err(does_not_fit)?;
    // What the model says when it fails is in the picture.
    std::panic::set_hook(Box::new(|_| ()));
    let Some(picture) = engines::draw(job, graph).map_err(does_not_fit)? else {
        return Err(Stop::BadInput("it no longer fails: the code has changed since it was written".to_owned()));
    };
    print(&picture.columns());
    svg.map_or(Ok(()), |path| write(path, &picture.svg()))
}
