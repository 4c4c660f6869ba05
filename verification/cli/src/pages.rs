//! `cargo verify pages`: what is kept of the last whole run, in the documents.

use crate::{Stop, every_size, print, write};
use spinpark_verification::engines::{Engine, Verdict};
use spinpark_verification::kept::Kept;
use spinpark_verification::model;
use spinpark_verification::mutation::mutant;
use spinpark_verification::output::thousands;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Each document, and the name of its markers: `<!-- NAME:begin -->` and `<!-- NAME:end -->`.
const PAGES: [(&str, &str); 3] =
    [("README.md", "guarantees"), ("docs/evidence/verdicts.md", "rooms"), ("docs/evidence/every-size.md", "proofs")];

/// The rooms of the README's table, and what each guarantees.
const GUARANTEES: [(&str, &str); 9] = [
    ("spinning", "while a G is queued and a P is idle, an M is spinning or has yet to scan that queue"),
    ("runq", "each G that is put into a ring is taken from it once"),
    ("syscall", "the P of an M in a system call has one owner"),
    ("handoff", "a P becomes idle only if no queue that its M can see holds a G"),
    ("netpoll", "one M at most waits in the poller, and wakes for the earliest timer"),
    ("stw", "after a stop no P runs, and a start loses no G"),
    ("task", "a task that was woken is polled once more, has completed, or was aborted"),
    ("chan", "each value sent is received once, or given back"),
    ("sched", "the protocols together: the whole scheduler"),
];

/// What stands between the markers of this name.
fn generated(name: &str, kept: &Kept) -> String {
    match name {
        "guarantees" => guarantees(&rooms(kept)),
        "proofs" => every_size::markdown(),
        _ => every_room(&rooms(kept)),
    }
}

pub(crate) fn write_all(from: &Path) -> Result<(), Stop> {
    let kept = Kept::read(from)?;
    for (file, name) in PAGES {
        let path = Path::new(file);
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot read {file}: {error}; run this in the folder of the project"))?;
        let new = between_markers(&text, name, &generated(name, &kept)).map_err(|error| format!("{file}: {error}"))?;
        write(path, &new)?;
        print(&format!("{file}\n"));
    }
    Ok(())
}

/// One claim: its size, and the executions of the largest run that proved it, on RC11 and elsewhere.
#[derive(Clone, Copy)]
struct Claim {
    size: &'static str,
    on_rc11: Option<u64>,
    elsewhere: Option<u64>,
    is_bounded: bool,
}

/// What is known of one room.
#[derive(Default)]
struct Room {
    claims: BTreeMap<&'static str, Claim>,
    /// Wrong variants, and mistakes of the matrix, that a claim of this room saw.
    variants: usize,
    mistakes: usize,
}

impl Room {
    fn count(&self, is_wanted: impl Fn(&Claim) -> bool) -> usize {
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
        let most = |of: fn(&Claim) -> Option<u64>| {
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
        let is_proved = |claim: &Claim| claim.on_rc11.or(claim.elsewhere).is_some();
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

fn rooms(kept: &Kept) -> BTreeMap<&str, Room> {
    let mut rooms: BTreeMap<&str, Room> = BTreeMap::new();
    for model in model::all() {
        let mut claim = Claim { size: model.size, on_rc11: None, elsewhere: None, is_bounded: false };
        for (engine, run) in kept.runs_of(model) {
            let place = if engine == Engine::Rc11 { &mut claim.on_rc11 } else { &mut claim.elsewhere };
            match run.verdict {
                Verdict::Proved => *place = (*place).max(Some(run.executions)),
                verdict => claim.is_bounded |= verdict == Verdict::Bounded,
            }
        }
        rooms.entry(model.room()).or_default().claims.insert(model.name, claim);
    }
    // Each is killed, or the run that is kept would have failed.
    for (model, _) in mutant::all().flat_map(|mutant| mutant.killed_by) {
        let room = model.split("::").next().unwrap_or_default();
        if let Some(room) = rooms.get_mut(room) {
            room.variants += 1;
        }
    }
    for (room, n) in kept.matrix.values().flat_map(|tally| &tally.killed) {
        if let Some(room) = rooms.get_mut(room.as_str()) {
            room.mistakes += n;
        }
    }
    rooms
}

/// How many claims are proved, and on which memory model.
fn proved(room: &Room) -> String {
    let (all, on_rc11) = (room.claims.len(), room.count(|claim| claim.on_rc11.is_some()));
    if on_rc11 == all { format!("all {all}") } else { format!("{on_rc11} of {all}") }
}

/// The rooms that a reader asks for first, and the others in one row.
fn guarantees(rooms: &BTreeMap<&str, Room>) -> String {
    let mut text =
        "| protocol | what holds | claims proved on RC11 | weaker | largest model that is proved |\n".to_owned();
    text += "|---|---|---:|---|---|\n";
    for (name, what) in GUARANTEES {
        let Some(room) = rooms.get(name) else { continue };
        let every_size = every_size::of_room(name).map(|verdict| format!("; *{verdict}*")).unwrap_or_default();
        let (proved, weaker, largest) = (proved(room), room.weaker(), room.largest());
        let _ = writeln!(text, "| {name} | {what} | {proved} | {weaker} | {largest}{every_size} |");
    }
    let others = rooms.iter().filter(|(name, _)| GUARANTEES.iter().all(|(listed, _)| listed != *name));
    let mut together = Room::default();
    let mut n = 0;
    for (_, room) in others {
        n += 1;
        together.claims.extend(room.claims.iter().map(|(name, claim)| (*name, *claim)));
    }
    let (proved, weaker) = (proved(&together), together.weaker());
    let _ = writeln!(
        text,
        "| {n} more | [each by name](https://github.com/spinpark/spinpark/blob/main/docs/evidence/verdicts.md) | {proved} | {weaker} | |"
    );
    text
}

/// A room a line, the weakest first.
fn every_room(rooms: &BTreeMap<&str, Room>) -> String {
    let mut rooms: Vec<(&&str, &Room)> = rooms.iter().collect();
    rooms.sort_by(|(_, one), (_, other)| {
        let (one_weak, other_weak) = (one.weakness(), other.weakness());
        let by_weakness = other_weak.0.total_cmp(&one_weak.0).then(other_weak.1.total_cmp(&one_weak.1));
        by_weakness.then(other.claims.len().cmp(&one.claims.len()))
    });
    let mut text = "| room | claims | proved on RC11 | weaker | largest size that is proved | kills |\n".to_owned();
    text += "|---|---:|---:|---|---|---:|\n";
    for (name, room) in rooms {
        let on_rc11 = room.count(|claim| claim.on_rc11.is_some());
        let (weaker, mut largest) = (room.weaker(), room.largest());
        if let Some(verdict) = every_size::of_room(name) {
            let _ = write!(largest, "; *{verdict}*");
        }
        let kills = format!("{} + {}", room.variants, room.mistakes);
        let _ = writeln!(text, "| {name} | {} | {on_rc11} | {weaker} | {largest} | {kills} |", room.claims.len());
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
        let kept = Kept::read(&root.join("verification/record.jsonl")).expect("there is a record");
        for (file, name) in PAGES {
            let text = fs::read_to_string(root.join(file)).expect("there is such a document");
            let again = between_markers(&text, name, &generated(name, &kept)).expect("it has the markers");
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
        assert!(between_markers("nothing", "rooms", "").is_err_and(|said| said.contains("rooms:begin")));
    }
}
