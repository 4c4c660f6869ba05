//! `cargo verify pages`: what the record says, in the documents.

use crate::table::{self, Row};
use crate::{Stop, every_size, print, write};
use spinpark_verification::engines::{Engine, Outcome, Verdict};
use spinpark_verification::job::Order;
use spinpark_verification::model;
use spinpark_verification::output::thousands;
use spinpark_verification::record::{self, Record, RunRecord};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Each document, and the name of its markers: `<!-- NAME:begin -->` and `<!-- NAME:end -->`.
const PAGES: [(&str, &str); 3] =
    [("README.md", "guarantees"), ("docs/evidence/verdicts.md", "verdicts"), ("docs/evidence/every-size.md", "proofs")];

/// What stands between the markers of this name.
fn generated(name: &str, record: &Record) -> String {
    match name {
        "guarantees" => guarantees(record),
        "proofs" => every_size::markdown(),
        _ => table::markdown(&recorded(record)),
    }
}

pub(crate) fn write_all(from: &Path) -> Result<(), Stop> {
    let record = record::read(from)?;
    for (file, name) in PAGES {
        let path = Path::new(file);
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot read {file}: {error}; run this in the folder of the project"))?;
        let new =
            between_markers(&text, name, &generated(name, &record)).map_err(|error| format!("{file}: {error}"))?;
        write(path, &new)?;
        print(&format!("{file}\n"));
    }
    Ok(())
}

/// The rows of a recorded run. Runs of models that are no more are left out.
fn recorded(record: &Record) -> Vec<Row> {
    let row = |run: &RunRecord| {
        let model = model::find(&run.model)?;
        let order = Order::new(&run.model, run.engine, run.bounds, None, run.seed.unwrap_or(1));
        let outcome = Outcome {
            verdict: run.verdict,
            executions: run.executions,
            redundant: run.redundant,
            outcomes: run.outcomes.clone(),
            seconds: run.seconds,
            failure: None,
            mutant_hits: 0,
            peak_bytes: None,
        };
        Some(Row { model, order, outcome: Some(outcome) })
    };
    record.runs.iter().filter_map(row).collect()
}

/// One claim: its size, and the executions of the largest run that proved it, on RC11 and elsewhere.
struct Claim<'a> {
    size: &'a str,
    on_rc11: Option<u64>,
    elsewhere: Option<u64>,
    is_bounded: bool,
}

/// What is known of one room.
#[derive(Default)]
struct Room<'a> {
    claims: BTreeMap<&'a str, Claim<'a>>,
    /// Wrong variants, and mistakes of the matrix, that a claim of this room saw.
    variants: usize,
    mistakes: usize,
}

impl<'a> Room<'a> {
    fn count(&self, is_wanted: impl Fn(&Claim<'a>) -> bool) -> usize {
        self.claims.values().filter(|claim| is_wanted(claim)).count()
    }

    /// The part of it that is not proved at all, and the part that is not proved on RC11.
    fn weakness(&self) -> (f64, f64) {
        let all = self.claims.len() as f64;
        let unproved = self.count(|claim| claim.on_rc11.or(claim.elsewhere).is_none());
        (unproved as f64 / all, self.count(|claim| claim.on_rc11.is_none()) as f64 / all)
    }

    /// The claim of which most executions were proved, on RC11 if there is one.
    fn largest(&self) -> String {
        let most = |of: fn(&Claim<'a>) -> Option<u64>| {
            let counted = self.claims.values().filter_map(|claim| Some((of(claim)?, claim.size)));
            counted.max_by_key(|(n, _)| *n)
        };
        match (most(|claim| claim.on_rc11), most(|claim| claim.elsewhere)) {
            (Some((n, size)), _) => format!("{}: {} executions", shortened(size), thousands(n)),
            (None, Some((n, size))) => format!("{}: {} executions, on SC", shortened(size), thousands(n)),
            (None, None) => "-".to_owned(),
        }
    }

    fn weaker(&self) -> String {
        let is_proved = |claim: &Claim<'_>| claim.on_rc11.or(claim.elsewhere).is_some();
        let counts = [
            (self.count(|claim| claim.on_rc11.is_none() && claim.elsewhere.is_some()), "proved on SC"),
            (self.count(|claim| !is_proved(claim) && claim.is_bounded), "bounded"),
            (self.count(|claim| !is_proved(claim) && !claim.is_bounded), "sampled"),
        ];
        let parts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
    }
}

/// The first words of a size, as many as a column has room for.
fn shortened(size: &str) -> String {
    const WIDTH: usize = 56;
    let size = size.split(';').next().unwrap_or(size).replace('`', "");
    if size.chars().count() <= WIDTH {
        return size;
    }
    let head: String = size.chars().take(WIDTH).collect();
    format!("{}, …", head.rsplit_once(", ").map_or(head.as_str(), |(head, _)| head))
}

fn rooms(record: &Record) -> BTreeMap<&str, Room<'_>> {
    let mut rooms: BTreeMap<&str, Room<'_>> = BTreeMap::new();
    for run in &record.runs {
        let none = Claim { size: &run.size, on_rc11: None, elsewhere: None, is_bounded: false };
        let claim = rooms.entry(&run.room).or_default().claims.entry(&run.model).or_insert(none);
        let place = if run.engine == Engine::Rc11 { &mut claim.on_rc11 } else { &mut claim.elsewhere };
        match run.verdict {
            Verdict::Proved => *place = (*place).max(Some(run.executions)),
            verdict => claim.is_bounded |= verdict == Verdict::Bounded,
        }
    }
    let room_of = |model: &str| model.split("::").next().unwrap_or_default().to_owned();
    for mutant in record.mutants.iter().filter(|mutant| mutant.fate.is_killed()) {
        let room = mutant.model.as_deref().map(room_of).unwrap_or_default();
        if let Some(room) = rooms.get_mut(room.as_str()) {
            room.variants += 1;
        }
    }
    // What a property test killed was seen by no claim.
    for model in record.matrix.values().filter_map(|fate| fate.strip_prefix("killed by ")) {
        if let Some(room) = rooms.get_mut(room_of(model).as_str()).filter(|_| model.contains("::")) {
            room.mistakes += 1;
        }
    }
    rooms
}

/// A room a line, the weakest first. Those of which there is nothing more to say than that all is proved share the last one.
fn guarantees(record: &Record) -> String {
    let mut rooms: Vec<(&str, Room<'_>)> = rooms(record).into_iter().collect();
    rooms.sort_by(|(_, one), (_, other)| {
        let (one_weak, other_weak) = (one.weakness(), other.weakness());
        let by_weakness = other_weak.0.total_cmp(&one_weak.0).then(other_weak.1.total_cmp(&one_weak.1));
        by_weakness.then(other.claims.len().cmp(&one.claims.len()))
    });
    let mut text = "| room | claims | proved on RC11 | weaker | largest size that is proved | kills |\n".to_owned();
    text += "|---|---:|---:|---|---|---:|\n";
    let mut strong = Vec::new();
    for (name, room) in &rooms {
        if room.weakness() == (0.0, 0.0) && every_size::of_room(name).is_none() {
            strong.push(format!("{name} {} ({} + {})", room.claims.len(), room.variants, room.mistakes));
            continue;
        }
        let on_rc11 = room.count(|claim| claim.on_rc11.is_some());
        let (weaker, mut largest) = (room.weaker(), room.largest());
        if let Some(verdict) = every_size::of_room(name) {
            let _ = write!(largest, "; *{verdict}*");
        }
        let kills = format!("{} + {}", room.variants, room.mistakes);
        let _ = writeln!(text, "| {name} | {} | {on_rc11} | {weaker} | {largest} | {kills} |", room.claims.len());
    }
    if !strong.is_empty() {
        let _ =
            writeln!(text, "\nEvery claim is proved on RC11, with so many claims (kills), of: {}.", strong.join(", "));
    }
    text
}

/// `text` with what stands between the markers of this name replaced by `table`.
///
/// # Errors
/// If the markers are not there.
fn between_markers(text: &str, name: &str, table: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {name}:begin -->"), format!("<!-- {name}:end -->"));
    let (before, rest) = text.split_once(&begin).ok_or_else(|| format!("there is no `{begin}`"))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| format!("there is no `{end}` after `{begin}`"))?;
    Ok(format!("{before}{begin}\n\n{table}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_show_what_is_recorded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let record = record::read(&root.join("verification/record.json")).expect("there is a record");
        for (file, name) in PAGES {
            let text = fs::read_to_string(root.join(file)).expect("there is such a document");
            let again = between_markers(&text, name, &generated(name, &record)).expect("it has the markers");
            assert!(again == text, "{file} does not say what the record says: `cargo verify pages`");
        }
    }

    #[test]
    fn a_long_size_is_cut_between_two_parts() {
        assert_eq!(shortened("2 threads, ring of 2; more"), "2 threads, ring of 2");
        let long = "2 threads, ring of 2, cursors of 4 bits, 6 puts, 5 gets, 1 steal";
        assert_eq!(shortened(long), "2 threads, ring of 2, cursors of 4 bits, 6 puts, …");
    }

    #[test]
    fn a_document_without_markers_is_refused() {
        assert!(between_markers("nothing", "verdicts", "").is_err_and(|said| said.contains("verdicts:begin")));
    }
}
