//! What is proved for every size: read from what the solvers have said, which a test of `spinpark-parameterized` keeps true.

use serde::Deserialize;
use std::fmt::Write as _;

/// One protocol.
#[derive(Deserialize)]
pub(crate) struct Proved {
    pub(crate) protocol: String,
    room: String,
    verdict: String,
    memory: String,
    transitions: usize,
    rows: Vec<Row>,
    pub(crate) solvers: Vec<String>,
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
    /// The verdict, with its memory model.
    pub(crate) fn verdict(&self) -> String {
        format!("{} ({})", self.verdict, self.memory)
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
    proved().iter().find(|proved| proved.room == room).map(Proved::verdict)
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
    let all = proved();
    let (Some(first), obligations) = (all.first(), all.iter().map(Proved::obligations).sum::<usize>()) else {
        return String::new();
    };
    let names: Vec<String> = all.iter().map(|proved| format!("{} ({})", proved.protocol, proved.memory)).collect();
    format!(
        "  {}: {}; {obligations} obligations, by {}\n",
        first.verdict,
        names.join(", "),
        first.solvers.join(" and ")
    )
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
    fn each_protocol_is_that_of_a_room() {
        for proved in proved() {
            assert!(spinpark_verification::model::all().any(|model| model.room() == proved.room), "{}", proved.room);
            assert_eq!(of_room(&proved.room), Some(proved.verdict()));
        }
    }

    #[test]
    fn a_room_without_a_protocol_has_none() {
        assert_eq!(of_room("timers"), None);
    }
}
