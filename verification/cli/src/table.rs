//! What is printed and written after a run: the table, the JSON, the README's table.

use serde_json::{Value, json};
use spinpark_verification::engines::{Engine, Outcome, Verdict};
use spinpark_verification::job::Order;
use spinpark_verification::model::Model;
use spinpark_verification::mutation::mutant::Mutant;
use spinpark_verification::output::thousands;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// One model on one engine, run or only listed.
pub(crate) struct Row {
    /// The model.
    pub(crate) model: &'static Model,
    /// What was asked.
    pub(crate) order: Order,
    /// What came of it.
    pub(crate) outcome: Option<Outcome>,
}

/// A wrong variant, before one of the models that must kill it.
pub(crate) struct Kill {
    /// The variant.
    pub(crate) mutant: &'static Mutant,
    /// What was asked.
    pub(crate) order: Order,
    /// What came of it.
    pub(crate) outcome: Outcome,
}

impl Row {
    /// Does it hold, as far as was looked?
    pub(crate) fn holds(&self) -> bool {
        self.outcome.as_ref().is_none_or(|outcome| outcome.verdict != Verdict::Failed)
    }

    fn json(&self) -> Value {
        let Order { engine, bounds, seed, .. } = &self.order;
        let mut value = json!({
            "room": self.model.room(),
            "model": self.model.name,
            "claim": self.model.claim,
            "size": self.model.size,
            "invariants": self.model.invariants,
            "must_reach": self.model.must_reach,
            "engine": engine,
            "memory_model": engine.memory_model(),
            "bounds": bounds,
        });
        if let (Some(outcome), Some(fields)) = (&self.outcome, value.as_object_mut()) {
            fields.insert("seed".into(), json!(engine.samples().then_some(seed)));
            fields.insert("executions".into(), json!(outcome.executions));
            fields.insert("redundant".into(), json!(outcome.redundant));
            fields.insert("outcomes".into(), json!(outcome.outcomes));
            fields.insert("seconds".into(), json!(outcome.seconds));
            fields.insert("peak_bytes".into(), json!(outcome.peak_bytes));
            fields.insert("verdict".into(), json!(outcome.verdict));
            fields.insert("failure".into(), json!(outcome.failure.as_ref().map(|failure| &failure.message)));
        }
        value
    }
}

/// All rows, as one JSON array.
pub(crate) fn rows_json(rows: &[Row]) -> Value {
    rows.iter().map(Row::json).collect()
}

impl Kill {
    /// Was it killed, and is it a mutant at all?
    pub(crate) fn verdict(&self) -> &'static str {
        match (self.outcome.verdict, self.outcome.mutant_hits) {
            (Verdict::Failed, _) => "killed",
            (_, 0) => "NO MUTANT",
            _ => "SURVIVED",
        }
    }
}

/// All kills, as one JSON array.
pub(crate) fn kills_json(kills: &[Kill]) -> Value {
    let one = |kill: &Kill| {
        json!({
            "mutant": kill.mutant.name,
            "room": kill.mutant.room,
            "what": kill.mutant.what,
            "model": kill.order.model,
            "engine": kill.order.engine,
            "executions": kill.outcome.executions,
            "seconds": kill.outcome.seconds,
            "verdict": kill.verdict(),
            "failure": kill.outcome.failure.as_ref().map(|failure| &failure.message),
        })
    };
    kills.iter().map(one).collect()
}

/// The outcomes that a complete engine reached for this model: all there are, under the weakest memory model finished.
fn complete<'a>(rows: &'a [Row], model: &Model) -> Option<BTreeSet<&'a str>> {
    let proved = |row: &&Row| row.outcome.as_ref().is_some_and(|outcome| outcome.verdict == Verdict::Proved);
    let of_model = rows.iter().filter(|row| row.model.name == model.name).filter(proved);
    let best = of_model.max_by_key(|row| {
        (row.order.engine == Engine::Rc11, row.order.engine == Engine::Tso, row.order.bounds.spurious)
    })?;
    Some(outcomes(best).collect())
}

fn outcomes(row: &Row) -> impl Iterator<Item = &str> {
    row.outcome.iter().flat_map(|outcome| outcome.outcomes.keys().map(String::as_str))
}

/// How many of the outcomes that a complete engine reaches this run reached too; and how many others.
pub(crate) fn reached(rows: &[Row], row: &Row) -> String {
    let all = outcomes(row).count();
    match complete(rows, row.model) {
        None => all.to_string(),
        Some(complete) => {
            let common = outcomes(row).filter(|outcome| complete.contains(outcome)).count();
            let more = if all > common { format!(" +{}", all - common) } else { String::new() };
            format!("{common}/{}{more}", complete.len())
        }
    }
}

/// What an engine that finished missed, a line each.
pub(crate) fn gaps(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    for row in rows.iter().filter(|row| row.order.engine.is_loom() && row.holds() && row.outcome.is_some()) {
        let Some(complete) = complete(rows, row.model) else { continue };
        let seen: BTreeSet<&str> = outcomes(row).collect();
        let missed: Vec<&str> = complete.difference(&seen).copied().collect();
        if !missed.is_empty() {
            lines.push(format!("{} on {}: {}", row.model.name, row.order.engine, missed.join("; ")));
        }
    }
    lines
}

const HEAD: [&str; 7] = ["engine", "memory", "bounds", "executions", "reached", "seconds", "verdict"];

fn cells(rows: &[Row], row: &Row) -> [String; 7] {
    let Order { engine, bounds, .. } = &row.order;
    let (executions, reached, seconds, verdict) = match &row.outcome {
        None => (String::new(), String::new(), String::new(), String::new()),
        Some(outcome) => (
            thousands(outcome.executions),
            reached(rows, row),
            format!("{:.2}", outcome.seconds),
            outcome.verdict.to_string(),
        ),
    };
    let cut_off = row.outcome.as_ref().is_some_and(|outcome| outcome.verdict == Verdict::Bounded);
    let bounds = match cut_off && bounds.preemptions.is_none() {
        true => format!("≤{} s", bounds.seconds),
        false => bounds.to_string(),
    };
    [engine.to_string(), engine.memory_model().to_string(), bounds, executions, reached, seconds, verdict]
}

/// The table, for a terminal.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    let lines: Vec<[String; 7]> = rows.iter().map(|row| cells(rows, row)).collect();
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0).max(HEAD[column].len())
    };
    let widths: [usize; 7] = std::array::from_fn(width);
    let is_run = rows.iter().any(|row| row.outcome.is_some());
    let columns = if is_run { 7 } else { 3 };
    let print = |line: [&str; 7]| {
        let cells = line.iter().zip(widths).enumerate().take(columns).map(|(column, (cell, width))| {
            if (3..=5).contains(&column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        format!("    {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    text.push_str(&print(HEAD));
    let mut room = "";
    let mut name = "";
    let best = crate::best::kept();
    for (row, line) in rows.iter().zip(&lines) {
        if row.model.room() != room {
            room = row.model.room();
            let _ = writeln!(text, "\n{room}");
        }
        if row.model.name != name {
            name = row.model.name;
            let _ = writeln!(text, "  {}", name.strip_prefix(room).unwrap_or(name).trim_start_matches("::"));
            let _ = writeln!(text, "    {} ({})", row.model.claim, row.model.size);
        }
        text.push_str(&print(std::array::from_fn(|column| line[column].as_str())));
        let outcome = row.outcome.as_ref().filter(|outcome| outcome.verdict == Verdict::Bounded);
        if let (Some(outcome), Engine::Rc11, Some(known)) = (outcome, row.order.engine, best.of(row.model)) {
            let said = crate::best::said(&known);
            let _ = writeln!(text, "      best: {said}; today {} of them again", thousands(outcome.executions));
        }
    }
    text
}

/// The wrong variants, for a terminal.
pub(crate) fn kills_text(kills: &[Kill]) -> String {
    let mut text = String::from("\nwrong variants\n");
    let width = kills.iter().map(|kill| kill.mutant.name.len()).max().unwrap_or(0);
    for kill in kills {
        let model = kill.order.model.rsplit("::").next().unwrap_or(&kill.order.model);
        let name = kill.mutant.name;
        let by = format!("{model} on {}, execution {}", kill.order.engine, thousands(kill.outcome.executions));
        let _ = writeln!(text, "  {:9}  {name:width$}  {by}", kill.verdict());
    }
    text
}
