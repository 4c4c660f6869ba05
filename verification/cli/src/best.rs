//! `cargo verify best`: hours for what a usual run cuts off after seconds, and what they have found out.

use crate::how::How;
use crate::run::{self, listen_for_ctrl_c, orders, print_failures, rows, run_all, select};
use crate::{Stop, collect, print};
use clap::Args;
use spinpark_verification::best::{Best, Known};
use spinpark_verification::engines::{Engine, Outcome, Verdict};
use spinpark_verification::job;
use spinpark_verification::kept::KeptRun;
use spinpark_verification::model::{self, Model};
use spinpark_verification::output::thousands;
use spinpark_verification::selection;
use std::fs;
use std::path::{Path, PathBuf};

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

pub(crate) fn explore(asked: &Asked) -> Result<(), Stop> {
    let models = asked_for(&asked.names)?;
    let mut best = Best::read(&asked.keep)?;
    if asked.list {
        for model in models {
            let said = best.of(model).map_or_else(|| "not explored under RC11".to_owned(), |known| said(&known));
            print(&format!("{}\n    {said}\n", model.name));
        }
        return Ok(());
    }
    if !cfg!(debug_assertions) {
        let why = "this build leaves debug assertions out, so it would prove less: `cargo best` has them";
        return Err(Stop::BadInput(why.to_owned()));
    }
    fs::create_dir_all(&asked.folder)
        .map_err(|error| Stop::BadInput(format!("cannot make {}: {error}", asked.folder.display())))?;
    listen_for_ctrl_c()?;
    let mut holds = true;
    for model in models {
        if best.of(model).is_some_and(|known| known.is_proof()) {
            continue;
        }
        let how = How { engine: vec![Engine::Rc11], ..How::default() };
        let on_rc11 = |model: &Model| run::asked_for(model, &how).into_iter().take(1).collect();
        let mut orders = orders(&[model], &how, None, on_rc11);
        let file = asked.folder.join(model.name.replace("::", "-"));
        for order in &mut orders {
            order.bounds.seconds = asked.minutes * 60.0;
            order.checkpoint = Some(file.clone());
        }
        let mut earlier = if file.exists() { seconds_so_far(&best, model) } else { 0.0 };
        let mut outcomes = run_all(&orders, &how);
        if let Some(why) = outcomes.iter().find_map(Outcome::no_checkpoint) {
            // What it has explored is no part of this one.
            print(&format!("{}: {why}; it is explored from the beginning\n", model.name));
            let _ = fs::remove_file(&file);
            earlier = 0.0;
            outcomes = run_all(&orders, &how);
        }
        if let Some(why) = outcomes.iter().find_map(Outcome::no_checkpoint) {
            return Err(Stop::BadInput(why.to_owned()));
        }
        let rows = rows(orders, outcomes);
        if !print_failures(&rows, &how) {
            holds = false;
            continue;
        }
        for (row, run) in rows.iter().filter_map(|row| Some((row, collect::run(row)?))) {
            if run.verdict == Verdict::Proved {
                let _ = fs::remove_file(&file);
            }
            let kept = KeptRun { seconds: run.seconds + earlier, ..KeptRun::from(&run) };
            best.learn(model, kept, row.outcome.as_ref().and_then(|outcome| outcome.estimate));
        }
        best.write(&asked.keep)?;
        let said = best.of(model).map(|known| said(&known)).unwrap_or_default();
        print(&format!("{}\n    {said}\n", model.name));
        if job::is_stopped() {
            return Err(Stop::Interrupted("the same command resumes it".to_owned()));
        }
    }
    if holds { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// How long the sittings took that this one goes on from, but for those that were killed.
fn seconds_so_far(best: &Best, model: &Model) -> f64 {
    best.of(model).filter(|known| known.changed.is_empty()).map_or(0.0, |known| known.best.run.seconds)
}

/// The claims that are named; by default those that are open.
fn asked_for(names: &[String]) -> Result<Vec<&'static Model>, Stop> {
    match names {
        [] => Ok(model::all().filter(|model| is_open(model)).collect()),
        names => select(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spinpark_verification::best::stamps;
    use std::collections::BTreeMap;

    fn run(verdict: Verdict, executions: u64) -> KeptRun {
        KeptRun::new(verdict, executions, 3.0, &BTreeMap::new())
    }

    fn model() -> &'static Model {
        model::all().find(|model| model.room() == "sched").expect("there is such a room")
    }

    /// What is read back of what is written, with `from` in it replaced.
    fn read_back(best: &Best, from: &str, to: &str) -> Result<Best, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("best.jsonl");
        best.write(&path).expect("written");
        let text = fs::read_to_string(&path).expect("it is there");
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).expect("written");
        Best::read(&path)
    }

    #[test]
    fn a_proof_is_kept_and_nothing_weaker_takes_its_place() {
        let mut best = Best::default();
        best.learn(model(), run(Verdict::Bounded, 10), Some(100.4));
        assert!(!best.of(model()).expect("known").is_proof());
        best.learn(model(), run(Verdict::Proved, 90), Some(90.0));
        best.learn(model(), run(Verdict::Bounded, 95), Some(100.0));
        let known = best.of(model()).expect("known");
        assert!(known.is_proof());
        assert_eq!((known.best.run.executions, known.best.estimate), (90, None));
    }

    #[test]
    fn a_proof_of_other_sources_is_none_and_names_the_file() {
        let mut best = Best::default();
        best.learn(model(), run(Verdict::Proved, 90), None);
        assert!(read_back(&best, "", "").expect("read").of(model()).expect("known").is_proof());
        let with_a_file_that_is_gone = read_back(&best, "\"sched/find.rs\"", "\"gone.rs\":\"other\",\"sched/find.rs\"");
        assert!(with_a_file_that_is_gone.expect("read").of(model()).expect("known").is_proof());
        let stamp = format!("\"sched/find.rs\":\"{}\"", stamps(model())["sched/find.rs"]);
        let mut best = read_back(&best, &stamp, "\"sched/find.rs\":\"other\"").expect("read");
        let known = best.of(model()).expect("known");
        assert!(!known.is_proof());
        assert_eq!(known.changed, ["sched/find.rs"]);
        best.learn(model(), run(Verdict::Bounded, 5), None);
        assert_eq!(best.of(model()).expect("known").best.run.verdict, Verdict::Bounded, "the source is another one");
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let mut best = Best::default();
        best.learn(model(), run(Verdict::Proved, 90), None);
        let error = read_back(&best, "\"model\"", "\"mode\"").expect_err("it is no line");
        assert!(error.contains("line 2") && error.contains("cargo verify best"), "{error}");
    }

    #[test]
    fn every_model_is_stamped_with_the_file_that_declares_it() {
        for model in model::all() {
            let declares = |file: &String| model.file.ends_with(file.as_str());
            assert!(stamps(model).keys().any(declares), "{}", model.name);
        }
    }
}
