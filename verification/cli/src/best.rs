//! `cargo verify best`: hours for what a usual run cuts off after seconds, and what they have found out.

use crate::run::{orders, run_all};
use crate::{Stop, print};
use clap::Args;
use spinpark_verification::best::{Best, Known};
use spinpark_verification::engines::{Engine, NO_CHECKPOINT, Verdict};
use spinpark_verification::job;
use spinpark_verification::kept::KeptRun;
use spinpark_verification::model::{self, Model};
use spinpark_verification::output::thousands;
use spinpark_verification::selection;
use std::fs;
use std::path::{Path, PathBuf};

use crate::how::How;

/// Where the results are kept, in the folder of the project.
const FILE: &str = "verification/best.jsonl";

#[derive(Args)]
pub(crate) struct Asked {
    /// Rooms, or parts of the names of models. Default: every claim that a usual run does not prove under RC11.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The most minutes for each claim at this sitting.
    #[arg(long, value_name = "N", default_value_t = 60.0, value_parser = minutes)]
    minutes: f64,
    /// Where explorations that have not ended are kept, to be resumed at the next sitting.
    #[arg(long, value_name = "DIR", default_value = "target/best")]
    folder: PathBuf,
    /// Where the results are kept.
    #[arg(long, value_name = "FILE", default_value = FILE)]
    keep: PathBuf,
    /// Prints what is known, and explores nothing.
    #[arg(long)]
    list: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    crate::seconds(text).map_err(|_| "give a number of minutes above 0, such as 0.5".to_owned())
}

/// What the project's own file keeps; nothing, where it cannot be read.
pub(crate) fn kept() -> Best {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../best.jsonl");
    Best::read(&path).unwrap_or_default()
}

/// Does no usual run explore every execution of it under RC11?
fn is_open(model: &Model) -> bool {
    let usual = selection::usual(model);
    !usual.iter().any(|run| run.engine == Engine::Rc11 && run.ends())
}

/// One result, in words.
pub(crate) fn said(known: &Known<'_>) -> String {
    let run = &known.best.run;
    let what = match known.best.estimate {
        Some(all) => format!("{} of about {} executions", thousands(run.executions), thousands(all as u64)),
        None => format!("{} executions", thousands(run.executions)),
    };
    let since = match known.changed.as_slice() {
        [] => String::new(),
        [file] => format!("; {file} has changed since"),
        [file, others @ ..] => format!("; {file} and {} more files have changed since", others.len()),
    };
    format!("{} {}, {what} in {:.0} s{since}", run.verdict, known.best.date, run.seconds)
}

pub(crate) fn run(asked: &Asked) -> Result<(), Stop> {
    let models = asked_for(&asked.names)?;
    let mut best = Best::read(&asked.keep)?;
    if asked.list {
        for model in models {
            let said = best.of(model).map_or_else(|| "not explored under RC11".to_owned(), |known| said(&known));
            print(&format!("{}\n    {said}\n", model.name));
        }
        return Ok(());
    }
    fs::create_dir_all(&asked.folder)
        .map_err(|error| Stop::BadInput(format!("cannot make {}: {error}", asked.folder.display())))?;
    crate::run::listen_for_ctrl_c()?;
    let mut holds = true;
    for model in models {
        if best.of(model).is_some_and(|known| known.is_proof()) {
            continue;
        }
        let how = How { engine: vec![Engine::Rc11], ..How::default() };
        let on_rc11 = |model: &Model| crate::run::asked_for(model, &how).into_iter().take(1).collect();
        let mut orders = orders(&[model], &how, None, on_rc11);
        let file = asked.folder.join(model.name.replace("::", "-"));
        for order in &mut orders {
            order.bounds.seconds = asked.minutes * 60.0;
            order.checkpoint = Some(file.clone());
        }
        let mut outcome = run_all(&orders, &how).remove(0);
        if outcome.failure.as_ref().is_some_and(|failure| failure.message.starts_with(NO_CHECKPOINT)) {
            // It is of another build: what it has explored is no part of this one.
            let _ = fs::remove_file(&file);
            outcome = run_all(&orders, &how).remove(0);
        }
        if let Some(failure) = &outcome.failure {
            print(&format!("FAILED {}: {}\n", model.name, failure.message.lines().next().unwrap_or_default()));
            print(&format!("its picture: cargo verify run {} --engine rc11\n", model.name));
            holds = false;
            continue;
        }
        if outcome.verdict == Verdict::Proved {
            let _ = fs::remove_file(&file);
        }
        let seconds = (outcome.seconds * 100.0).round() / 100.0;
        let run = KeptRun::new(outcome.verdict, outcome.executions, seconds, &outcome.outcomes);
        best.learn(model, run, outcome.estimate);
        best.write(&asked.keep)?;
        let said = best.of(model).map(|known| said(&known)).unwrap_or_default();
        print(&format!("{}\n    {said}\n", model.name));
        if job::is_stopped() {
            return Err(Stop::Interrupted("the same command resumes it".to_owned()));
        }
    }
    if holds { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// The claims that are named; by default those that are open.
fn asked_for(names: &[String]) -> Result<Vec<&'static Model>, Stop> {
    match names {
        [] => Ok(model::all().filter(|model| is_open(model)).collect()),
        names => crate::run::select(names),
    }
}
