//! `cargo verify report`: what a run leaves for others to read.
//!
//! ```text
//!   run of everything ─┐                      ┌─► html/      one page
//!   --from FILE ───────┼──► record::Record ───┼─► junit.rs   JUnit's XML
//!   shards, merged ────┘    (the models')     └─► --json     the record itself
//! ```

mod html;
mod junit;
#[cfg(test)]
mod sample;
pub(crate) mod shard;

use crate::how::How;
use crate::matrix::Tried;
use crate::mutants::{self, Asking, Trying};
use crate::run::{asked_for, kill_orders, orders, rows, run_all, run_kills};
use crate::{Stop, collect, museum, print, write};
use clap::Args;
use shard::Shard;
use spinpark_museum::Exhibit;
use spinpark_verification::engines::Verdict;
use spinpark_verification::job::Order;
use spinpark_verification::model::{self, Model};
use spinpark_verification::mutation::mutant::{self, Mutant};
use spinpark_verification::output;
use spinpark_verification::record;
use spinpark_verification::record::{Fate, Record};
use std::path::PathBuf;

/// What is asked.
#[derive(Args)]
pub(crate) struct Asked {
    /// Writes the page `index.html` into this folder: one file, which needs nothing else.
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Writes JUnit's XML to this file, as build servers read it.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Runs nothing: takes the record in this file; or, given several times, the records of all shards. What a record does not
    /// hold is not in the report.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shard", "no_steps", "engine", "deep", "jobs", "seed"])]
    from: Vec<PathBuf>,
    /// Runs only a part of it all, as in 1/4; the records of all parts are put together with `--from`.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Leaves out the steps of the source, for which the mutated kernel must be built.
    #[arg(long)]
    no_steps: bool,
    #[command(flatten)]
    how: How,
}

impl Asked {
    /// Where the record goes.
    pub(crate) fn json(&self) -> &Option<PathBuf> {
        &self.how.json
    }
}

pub(crate) fn run(asked: &Asked) -> Result<(), Stop> {
    if asked.html.is_none() && asked.junit.is_none() && asked.how.json.is_none() {
        return Err(Stop::BadInput("where to? Say `--html DIR`, `--junit FILE` or `--json FILE`".to_owned()));
    }
    asked.how.refuse("report", &["--schedules", "--record", "--against"])?;
    let record = match asked.from.as_slice() {
        [] => everything(asked)?,
        [one] => record::read(one)?,
        many => shard::merge(many.iter().map(|path| record::read(path)).collect::<Result<_, _>>()?)?,
    };
    if let Some(path) = &asked.how.json {
        match path.as_os_str() == output::STANDARD_OUTPUT {
            true => write(path, &record::text(&record)?)?,
            false => record::write(path, &record)?,
        }
    }
    if let Some(path) = &asked.junit {
        write(path, &junit::junit(&record))?;
    }
    if let Some(folder) = &asked.html {
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        write(&folder.join("index.html"), &html::page(&record))?;
    }
    let exhibits = match (record.museum.len(), asked.from.is_empty()) {
        (0, false) => "no exhibits: the record was made without the museum".to_owned(),
        (n, _) => format!("{n} exhibits"),
    };
    print(&format!("{} runs, {} mutants, {exhibits}\n", record.runs.len(), record.mutants.len()));
    if holds(&record) { Ok(()) } else { Err(Stop::DoesNotHold) }
}

fn holds(record: &Record) -> bool {
    let dies = |fate: Fate| fate.is_killed() || fate == Fate::Argued;
    record.runs.iter().all(|run| run.verdict != Verdict::Failed)
        && record.mutants.iter().all(|mutant| dies(mutant.fate))
        && record.museum.iter().all(|exhibit| dies(exhibit.fate))
}

/// Models, variants, museum, orderings and steps, as far as this shard takes them.
fn everything(asked: &Asked) -> Result<Record, Stop> {
    let how = &asked.how;
    let takes = |key: &str| asked.shard.is_none_or(|shard| shard.takes(key));
    let mut record = collect::empty(how.deep);
    record.shard = asked.shard.map(|shard| shard.to_string());
    // What a failing execution says on its way is in its picture.
    std::panic::set_hook(Box::new(|_| ()));
    let models: Vec<&Model> = model::all().collect();
    let runs = orders(&models, how, None, |model| asked_for(model, how));
    let runs: Vec<Order> =
        runs.into_iter().filter(|order| takes(&format!("{} {} {}", order.model, order.engine, order.bounds))).collect();
    let outcomes = run_all(&runs, how);
    record.runs = rows(runs, outcomes).iter().filter_map(collect::run).collect();
    let variants: Vec<&Mutant> = mutant::all().filter(|variant| takes(variant.name)).collect();
    let mut shown = "";
    for kill in run_kills(kill_orders(&variants, how), how) {
        // One picture is enough for each.
        record.mutants.push(collect::variant(&kill, kill.mutant.name != shown));
        shown = kill.mutant.name;
    }
    for sort in [Asking::Ordering, Asking::Step] {
        if sort == Asking::Step && asked.no_steps {
            continue;
        }
        let tried: Vec<Tried> =
            mutants::try_sort(sort, how, Trying::New { one_in: 1, seed: how.seed }, None, &|name| takes(name))?;
        record.mutants.extend(tried.into_iter().map(|tried| tried.record));
    }
    let exhibits: Vec<&'static Exhibit> =
        collect::exhibits(&[]).into_iter().filter(|exhibit| takes(exhibit.name)).collect();
    record.museum = museum::show(&exhibits, how)?.records;
    shard::sort(&mut record);
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("deep/down/record.json");
        let record = sample::record();
        record::write(&path, &record).expect("can be written");
        let again = record::read(&path).expect("can be read");
        assert_eq!(format!("{record:?}"), format!("{again:?}"));
    }
}
