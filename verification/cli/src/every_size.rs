//! What is proved for every size: read from what the solvers have said, which a test of `spinpark-parameterized` keeps true. No
//! solver is asked here. So it is said when it was recorded; and where the room's source is not that of which it was recorded, the
//! verdict is withdrawn.

use serde::Deserialize;
use spinpark_verification::sources::{SOURCES, is_checked};
use spinpark_verification::stamp;
use std::fmt::Write as _;

/// One protocol.
#[derive(Deserialize)]
pub(crate) struct Proved {
    pub(crate) protocol: String,
    rooms: Vec<String>,
    verdict: String,
    memory: String,
    transitions: usize,
    rows: Vec<Row>,
    pub(crate) solvers: Vec<String>,
    /// When the solvers said so.
    recorded: String,
    /// Of which source of the rooms.
    source: String,
}

/// A conjunct of its invariant, or what follows.
#[derive(Deserialize)]
struct Row {
    name: String,
    follows: bool,
    obligations: usize,
}

/// Each protocol.
pub(crate) fn proved() -> Vec<Proved> {
    serde_json::from_str(include_str!("../../parameterized/proofs.json")).expect("the file is as it was written")
}

impl Proved {
    /// The verdict, with its memory model; or that it is withdrawn.
    pub(crate) fn verdict(&self) -> String {
        match self.is_of_this_source() {
            true => format!("{} ({})", self.verdict, self.memory),
            false => format!("withdrawn: it was {} of another source, on {}", self.verdict, self.recorded),
        }
    }

    /// Is the rooms' source the one of which it was recorded?
    pub(crate) fn is_of_this_source(&self) -> bool {
        self.source_now().is_some_and(|source| source == self.source)
    }

    /// The stamp of the rooms' source, as it is.
    fn source_now(&self) -> Option<String> {
        let of_room = |room: &String| {
            let (file, folder) = (format!("/{room}.rs"), format!("/{room}/mod.rs"));
            let is_it = |path: &str| is_checked(path) && (path.ends_with(&file) || path.ends_with(&folder));
            SOURCES.iter().find(|(path, _)| is_it(path)).map(|(_, text)| *text)
        };
        self.rooms.iter().map(of_room).collect::<Option<String>>().map(|text| stamp::of_code(&text))
    }

    /// What is claimed: it follows from the invariant.
    pub(crate) fn follows(&self) -> Vec<&str> {
        self.rows.iter().filter(|row| row.follows).map(|row| row.name.as_str()).collect()
    }

    pub(crate) fn obligations(&self) -> usize {
        self.rows.iter().map(|row| row.obligations).sum()
    }
}

/// What is said of a room, if one of the protocols is its own.
pub(crate) fn of_room(room: &str) -> Option<String> {
    proved().iter().find(|proved| proved.rooms.iter().any(|of| of == room)).map(Proved::verdict)
}

/// A line a protocol and invariant, for the table of all verdicts.
pub(crate) fn text() -> String {
    let mut text = String::new();
    for proved in proved() {
        for row in &proved.rows {
            let name = format!("{}::{}{}", proved.protocol, if row.follows { "" } else { "invariant::" }, row.name);
            let (verdict, solvers) = (proved.verdict(), proved.solvers.join(", "));
            let _ = writeln!(text, "{name:<56} {verdict}; {} obligations: {solvers}", row.obligations);
        }
    }
    text
}

/// In a line or two, for the end of a run.
pub(crate) fn summary() -> String {
    summary_of(&proved())
}

fn summary_of(all: &[Proved]) -> String {
    let (held, withdrawn): (Vec<&Proved>, Vec<&Proved>) = all.iter().partition(|proved| proved.is_of_this_source());
    let mut text = String::new();
    if let Some(first) = held.first() {
        let obligations: usize = held.iter().map(|proved| proved.obligations()).sum();
        let names: Vec<String> = held.iter().map(|proved| format!("{} ({})", proved.protocol, proved.memory)).collect();
        let (names, solvers) = (names.join(", "), first.solvers.join(" and "));
        let when = held.iter().map(|proved| proved.recorded.as_str()).min().unwrap_or_default();
        let _ = writeln!(
            text,
            "  recorded on {when}, of this source: {}: {names}; {obligations} obligations, by {solvers}; not asked now",
            first.verdict
        );
    }
    for proved in withdrawn {
        let Proved { protocol, recorded, .. } = proved;
        let _ = writeln!(
            text,
            "  withdrawn: {protocol}, {} on {recorded} of another source: `cargo run -p spinpark-parameterized -- record \
             verification/parameterized/proofs.json`",
            proved.verdict
        );
    }
    text
}

/// A line a protocol, for docs/evidence/every-size.md.
pub(crate) fn markdown() -> String {
    let mut text =
        "| protocol | verdict | what follows | conjuncts | transitions | obligations | solvers |\n".to_owned();
    text += "|---|---|---|---:|---:|---:|---|\n";
    for proved in proved() {
        let follows = proved.follows();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            proved.protocol,
            proved.verdict(),
            follows.join(", "),
            proved.rows.len() - follows.len(),
            proved.transitions,
            proved.obligations(),
            proved.solvers.join(", ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_is_that_of_rooms() {
        for proved in proved() {
            for room in &proved.rooms {
                assert!(spinpark_verification::model::all().any(|model| model.room() == *room), "{room}");
                assert_eq!(of_room(room), Some(proved.verdict()));
            }
        }
    }

    #[test]
    fn another_source_withdraws_what_was_proved() {
        let mut all = proved();
        for proved in &mut all {
            proved.source = proved.source_now().expect("each protocol is that of a room");
        }
        let said = summary_of(&all);
        assert!(said.contains("recorded on 20") && !said.contains("withdrawn"), "{said}");
        all[0].source = "of an edited kernel".to_owned();
        let said = summary_of(&all);
        assert!(said.contains("withdrawn: sched, proved for every size on 20"), "{said}");
        assert!(all[0].verdict().starts_with("withdrawn: "), "{}", all[0].verdict());
    }

    #[test]
    fn a_room_without_a_protocol_has_none() {
        assert_eq!(of_room("timers"), None);
    }
}
