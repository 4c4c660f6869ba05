//! `cargo verify museum`.

use crate::how::How;
use crate::nearest::unknown;
use crate::run::{all_named, run_kills, schedule};
use crate::table::Kill;
use crate::{Stop, collect, write};
use clap::Args;
use spinpark_museum::Exhibit;
use spinpark_verification::job::Order;
use spinpark_verification::model;
use spinpark_verification::mutation::mutant::Mutant;
use spinpark_verification::output::{self, print};
use spinpark_verification::record::{ExhibitRecord, Fate};
use std::fmt::Write as _;
use std::path::PathBuf;

/// What is asked.
#[derive(Args)]
pub(crate) struct Asked {
    /// Only exhibits whose names, projects, issues or mutants contain one of these: `tokio`, `45867`.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Only lists them.
    #[arg(long)]
    list: bool,
    /// Also writes the guide through the museum to this file, in Markdown: `docs/evidence/museum.md`.
    #[arg(long, value_name = "FILE")]
    guide: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

impl Asked {
    /// Where the results go.
    pub(crate) fn json(&self) -> &Option<PathBuf> {
        &self.how.json
    }
}

pub(crate) fn run(asked: &Asked) -> Result<(), Stop> {
    let unheeded = ["--engine", "--deep", "--schedules", "--record", "--against"];
    asked.how.refuse("museum", &unheeded)?;
    all_named(&asked.names)?;
    asked.how.check_files()?;
    // What a failing execution says on its way is in its picture.
    std::panic::set_hook(Box::new(|_| ()));
    let exhibits = collect::exhibits(&asked.names);
    if exhibits.is_empty() {
        let all =
            collect::exhibits(&[]).into_iter().flat_map(|exhibit| [exhibit.name, exhibit.project, exhibit.mutant]);
        return Err(unknown("exhibit", &asked.names, all, "cargo verify museum --list"));
    }
    if asked.list {
        let line =
            |exhibit: &&Exhibit| format!("{:32} {} {} {}\n", exhibit.name, exhibit.year, exhibit.issue, exhibit.people);
        print(&exhibits.iter().map(line).collect::<String>());
        return Ok(());
    }
    let shown = show(&exhibits, &asked.how)?;
    for (exhibit, kill) in exhibits.iter().zip(&shown.kills) {
        if asked.names.is_empty() {
            continue;
        }
        let Exhibit { name, project, issue, year, people, cause, fix, .. } = exhibit;
        print(&format!("\n{name}: {project}, {issue} ({year})\n  {people}\n  cause: {cause}\n  fix: {fix}\n"));
        if let Some(schedule) = schedule(&kill.order, &kill.outcome) {
            print(&format!("\n{}", schedule.picture()));
        }
    }
    print(&output::painted(&table(&shown.records)));
    if let Some(path) = &asked.how.json {
        let json = serde_json::to_string_pretty(&shown.records).expect("records are plain data");
        write(path, &(json + "\n"))?;
    }
    if let Some(path) = &asked.guide {
        write(path, &guide(&shown.records))?;
    }
    let all_killed = shown.records.iter().all(|record| record.fate == Fate::Killed);
    if all_killed { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// The exhibits, each killed by the model that shows most.
pub(crate) struct Shown {
    pub(crate) records: Vec<ExhibitRecord>,
    pub(crate) kills: Vec<Kill>,
}

/// Plays them.
pub(crate) fn show(exhibits: &[&'static Exhibit], how: &How) -> Result<Shown, Stop> {
    let orders: Vec<(&'static Mutant, Order)> =
        exhibits.iter().map(|exhibit| order(exhibit, how)).collect::<Result<_, Stop>>()?;
    let kills = run_kills(orders, how);
    let records = exhibits.iter().zip(&kills).map(|(exhibit, kill)| collect::exhibit(exhibit, kill)).collect();
    Ok(Shown { records, kills })
}

fn order(exhibit: &Exhibit, how: &How) -> Result<(&'static Mutant, Order), Stop> {
    let Some((mutant, name, engine)) = collect::best_killer(exhibit) else {
        return Err(Stop::BadInput(format!("{}: there is no mutant `{}`", exhibit.name, exhibit.mutant)));
    };
    let run = model::find(name).and_then(|model| model.run_on(engine)).unwrap_or_else(|| model::usual(engine));
    Ok((mutant, Order::new(name, engine, run.bounds, Some(mutant.name), how.seed)))
}

fn table(records: &[ExhibitRecord]) -> String {
    let width = records.iter().map(|record| record.name.len()).max().unwrap_or(0);
    let mut text = String::from("\nmuseum\n");
    for record in records {
        let ExhibitRecord { name, issue, fate, model, engine, executions, .. } = record;
        let fate = if *fate == Fate::Killed { "killed" } else { "SURVIVED" };
        let by = model.as_deref().unwrap_or_default();
        let on = engine.map(|engine| engine.to_string()).unwrap_or_default();
        let n = output::thousands(*executions);
        let _ = writeln!(text, "  {fate:8}  {name:width$}  {issue}: {by} on {on}, execution {n}");
    }
    let killed = records.iter().filter(|record| record.fate == Fate::Killed).count();
    let _ = writeln!(text, "\n{killed} of {} bugs caught", records.len());
    text
}

const PREFACE: &str = "\
# The museum

Bugs that real schedulers, queues and locks had. Each was made again here by one line: of our kernel, or of a small
faithful variant of the code that had it. Each is caught by a model on the engine that is named. Without the line, the
same model holds on the same engine.

`cargo verify museum` plays them all, in seconds. `cargo verify museum NAME` tells one in full: what happened, why, what mended
it, the line that makes it again, and the schedule that shows it. `cargo verify report --html DIR` has them all on one page.
This page is written by `cargo verify museum --guide docs/evidence/museum.md`.

";

/// The guide, in Markdown: a line a bug.
fn guide(records: &[ExhibitRecord]) -> String {
    let mut text = String::from(PREFACE);
    text.push_str("| bug | whose | what happened | caught by |\n|---|---|---|---|\n");
    for record in records {
        let ExhibitRecord { name, project, issue, year, people, model, engine, .. } = record;
        let model = model.as_deref().unwrap_or_default();
        let engine = engine.map(|engine| engine.name()).unwrap_or_default();
        let _ = writeln!(text, "| {name} | {project}, {issue}, {year} | {people} | `{model}` on {engine} |");
    }
    text
}
