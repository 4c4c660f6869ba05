//! From what was run to the record of it, and back to the table.

use crate::run::schedule;
use crate::table::{Kill, Row};
use spinpark_museum::{self as museum, Exhibit, Source};
use spinpark_verification::best::Known;
use spinpark_verification::engines::{self, Engine, Outcome, Script, Verdict};
use spinpark_verification::job::Order;
use spinpark_verification::kept::{self, Head, Kept, KeptRun, Tally};
use spinpark_verification::mutation::mutant::{self, Mutation, source_line};
use spinpark_verification::record::{ExhibitRecord, FORMAT, Fate, MutantRecord, Picture, Record, RunRecord, Sort};
use spinpark_verification::stamp;
use std::collections::BTreeMap;
use std::process::Command;

/// A record without results.
pub(crate) fn empty(deep: bool) -> Record {
    Record {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine(),
        date: stamp::today(),
        deep,
        ..Record::default()
    }
}

fn machine() -> String {
    let compiler = Command::new("rustc").arg("--version").output().ok();
    let compiler = compiler.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = [std::env::consts::OS, std::env::consts::ARCH, &format!("{cores} cores"), compiler.trim()];
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

/// A failing execution, drawn.
pub(crate) fn drawn(order: &Order, outcome: &Outcome, with_graph: bool) -> Option<Picture> {
    let failure = outcome.failure.as_ref()?;
    let columns = schedule(order, outcome).map(|schedule| schedule.picture()).unwrap_or_default();
    let svg = match &failure.script {
        Some(Script::Graph(graph)) if with_graph => {
            order.job().and_then(|job| engines::draw(job, graph)).ok().flatten().map(|picture| picture.svg())
        }
        _ => None,
    };
    Some(Picture { message: failure.message.clone(), columns, svg })
}

/// A model on an engine.
pub(crate) fn run(row: &Row) -> Option<RunRecord> {
    let outcome = row.outcome.as_ref()?;
    let Order { engine, bounds, seed, .. } = row.order;
    Some(RunRecord {
        room: row.model.room().to_owned(),
        model: row.model.name.to_owned(),
        claim: row.model.claim.to_owned(),
        size: row.model.size.to_owned(),
        invariants: row.model.invariants.to_vec(),
        engine,
        memory_model: engine.memory_model().to_owned(),
        bounds,
        seed: engine.samples().then_some(seed),
        executions: outcome.executions,
        redundant: outcome.redundant,
        outcomes: outcome.outcomes.clone(),
        // What the clock says is no part of what is recorded to be compared: two digits do.
        seconds: (outcome.seconds * 100.0).round() / 100.0,
        verdict: outcome.verdict,
        failure: drawn(&row.order, outcome, true),
    })
}

/// A wrong variant: one line of the record for each model that must kill it.
pub(crate) fn variant(kill: &Kill, with_picture: bool) -> MutantRecord {
    let (file, line) = match mutant::site(kill.mutant.mutation) {
        Some(site) => (site.file.to_owned(), Some(site.line)),
        None => (String::new(), None),
    };
    let fate = match kill.verdict() {
        "killed" => Fate::Killed,
        "NO MUTANT" => Fate::Unreached,
        _ => Fate::Survived,
    };
    let source = line.and_then(|line| source_line(&file, line)).unwrap_or_default().to_owned();
    MutantRecord {
        name: format!("{}, {} on {}", kill.mutant.name, kill.order.model, kill.order.engine),
        sort: Sort::Variant,
        kind: String::new(),
        room: kill.mutant.room.to_owned(),
        file,
        line,
        source,
        what: kill.mutant.what.to_owned(),
        fate,
        model: Some(kill.order.model.clone()),
        engine: Some(kill.order.engine),
        executions: kill.outcome.executions,
        seconds: kill.outcome.seconds,
        reason: None,
        failure: with_picture.then(|| drawn(&kill.order, &kill.outcome, true)).flatten(),
    }
}

/// An exhibit of the museum, with the run that kills it.
pub(crate) fn exhibit(exhibit: &Exhibit, kill: &Kill) -> ExhibitRecord {
    let killed = variant(kill, false);
    let source = match exhibit.source {
        Source::Read => "the issue, the fix or the code was read",
        Source::Told => "as others tell it; not verified",
        Source::OurReading => "what happened is known; the mechanism is our reading of it",
    };
    let change = match kill.mutant.mutation {
        Mutation::Weaken { .. } => format!("{} (`{}`)", kill.mutant.what, killed.source),
        _ => kill.mutant.what.to_owned(),
    };
    ExhibitRecord {
        name: exhibit.name.to_owned(),
        project: exhibit.project.to_owned(),
        issue: exhibit.issue.to_owned(),
        year: exhibit.year,
        people: exhibit.people.to_owned(),
        cause: exhibit.cause.to_owned(),
        fix: exhibit.fix.to_owned(),
        source: source.to_owned(),
        change,
        fate: killed.fate,
        model: killed.model,
        engine: killed.engine,
        executions: killed.executions,
        failure: drawn(&kill.order, &kill.outcome, true),
    }
}

/// Which of the models that kill a mutant shows an exhibit: the first, and rc11 before others, whose picture says most.
pub(crate) fn best_killer(exhibit: &Exhibit) -> Option<(&'static mutant::Mutant, &'static str, Engine)> {
    let mutant = mutant::find(exhibit.mutant)?;
    let judges = || mutant.killed_by.iter();
    let (model, engine) = judges().find(|(_, engine)| *engine == Engine::Rc11).or_else(|| judges().next())?;
    Some((mutant, model, *engine))
}

/// All exhibits whose names contain one of these; all, if there are none.
pub(crate) fn exhibits(names: &[String]) -> Vec<&'static Exhibit> {
    let is_of = |exhibit: &Exhibit, name: &str| {
        let Exhibit { name: title, project, issue, mutant, .. } = exhibit;
        [title, project, issue, mutant].iter().any(|text| text.to_lowercase().contains(&name.to_lowercase()))
    };
    let is_selected = |exhibit: &&Exhibit| names.is_empty() || names.iter().any(|name| is_of(exhibit, name));
    museum::all().filter(is_selected).collect()
}

/// What is kept of this run, beside what is known of the matrix.
pub(crate) fn kept(rows: &[Row], matrix: BTreeMap<(String, Sort), Tally>) -> Kept {
    let record = empty(false);
    let head = Head { kept: 0, version: record.version, machine: record.machine, date: record.date };
    let mut kept = Kept { head, models: BTreeMap::new(), matrix };
    for run in rows.iter().filter_map(run) {
        let key = kept::key(run.engine, run.bounds);
        kept.models.entry(run.model.clone()).or_default().insert(key, KeptRun::from(&run));
    }
    kept
}

/// Puts the best that is known of the same sources in the place of what this run was cut off at.
pub(crate) fn with_the_best(mut kept: Kept) -> Kept {
    let best = crate::best::kept();
    for model in spinpark_verification::model::all() {
        let declared = model.run_on(Engine::Rc11).map(|run| kept::key(run.engine, run.bounds));
        let known = best.of(model).filter(Known::is_proof);
        if let (Some(key), Some(known), Some(runs)) = (declared, known, kept.models.get_mut(model.name)) {
            runs.insert(key, known.best.run.clone());
        }
    }
    kept
}

/// Where this run explored less than is kept, a line each: only what does not depend on the clock is compared. A run that is
/// kept and was not done now counts if this is the `whole`.
pub(crate) fn dropped(then: &Kept, rows: &[Row], is_whole: bool) -> Vec<String> {
    let now = kept(rows, BTreeMap::new());
    let bounds = |model: &str, key: &str| {
        let is_it = |row: &&Row| row.model.name == model && kept::key(row.order.engine, row.order.bounds) == key;
        rows.iter().find(is_it).map_or(0.0, |row| row.order.bounds.seconds)
    };
    let is_firm = |run: &KeptRun| matches!(run.verdict, Verdict::Proved | Verdict::Explored);
    let mut lines = Vec::new();
    for (model, key, then) in then.all().filter(|(_, _, then)| is_firm(then)) {
        let name = format!("{model} on {key}");
        match now.run(model, key) {
            None if is_whole => lines.push(format!("{name}: was {}, and is not run any more", then.verdict)),
            None => (),
            // A slower machine: what was not reached in time is no loss of the models'.
            Some(now) if now.verdict == Verdict::Bounded && now.seconds >= 0.95 * bounds(model, key) => (),
            Some(now) if !is_firm(now) => lines.push(format!("{name}: was {}, is {}", then.verdict, now.verdict)),
            Some(now) => {
                if now.executions < then.executions {
                    lines.push(format!("{name}: {} executions, were {}", now.executions, then.executions));
                }
                if now.outcomes < then.outcomes {
                    lines.push(format!("{name}: {} outcomes, were {}", now.outcomes, then.outcomes));
                } else if now.outcomes == then.outcomes && now.hash != then.hash {
                    lines.push(format!("{name}: its {} outcomes are not those that it had", now.outcomes));
                }
            }
        }
    }
    lines
}
