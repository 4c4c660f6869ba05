//! What a run has come to, on one screen.

use crate::progress::together;
use crate::table::{Kill, Row};
use spinpark_verification::engines::{Engine, Verdict};
use spinpark_verification::model;
use spinpark_verification::output::thousands;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const VERDICTS: [Verdict; 5] =
    [Verdict::Proved, Verdict::Explored, Verdict::Bounded, Verdict::Sampled, Verdict::Failed];

/// The runs by their verdicts, in a line.
pub(crate) fn line(rows: &[Row], kills: &[Kill], time: Duration) -> String {
    let count = |verdict: Verdict| {
        let n = rows.iter().filter(|row| row.outcome.as_ref().is_some_and(|o| o.verdict == verdict)).count();
        (n > 0).then(|| format!("{n} {verdict}"))
    };
    let mut parts: Vec<String> = VERDICTS.into_iter().filter_map(count).collect();
    let killed = kills.iter().filter(|kill| kill.verdict() == "killed").count();
    if !kills.is_empty() {
        parts.push(format!("{killed} of {} kills of wrong variants", kills.len()));
    }
    format!("\n{}; {} executions in {:.0} s\n", parts.join(", "), executions(rows, kills), time.as_secs_f64())
}

fn executions(rows: &[Row], kills: &[Kill]) -> String {
    let outcomes = rows.iter().filter_map(|row| row.outcome.as_ref()).chain(kills.iter().map(|kill| &kill.outcome));
    thousands(outcomes.map(|outcome| outcome.executions + outcome.redundant).sum())
}

/// What may be said of each claim, and by which engine.
fn claims(rows: &[Row]) -> BTreeMap<&str, (Verdict, Engine)> {
    let mut claims: BTreeMap<&str, (Verdict, Engine)> = BTreeMap::new();
    for row in rows {
        let Some(outcome) = &row.outcome else { continue };
        let new = (outcome.verdict, row.order.engine);
        let said = claims.entry(row.model.name).or_insert(new);
        // Of two engines that prove it the one with the weaker memory says more.
        let is_weaker_memory = said.0 == new.0 && new.1 == Engine::Rc11;
        if together(said.0, new.0) != said.0 || is_weaker_memory {
            *said = new;
        }
    }
    claims
}

/// The run of everything, in ten lines. `file`: where its table is.
pub(crate) fn whole(rows: &[Row], kills: &[Kill], time: Duration, file: Option<&Path>) -> String {
    let claims = claims(rows);
    let rooms: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.model.room()).collect();
    let of = |wanted: Verdict| claims.iter().filter(move |(_, said)| said.0 == wanted);
    let (proved, failed) = (of(Verdict::Proved).count(), of(Verdict::Failed).count());
    let on_rc11 = of(Verdict::Proved).filter(|(_, said)| said.1 == Engine::Rc11).count();
    let weaker: Vec<String> = [Verdict::Explored, Verdict::Bounded, Verdict::Sampled]
        .into_iter()
        .filter(|verdict| of(*verdict).count() > 0)
        .map(|verdict| format!("{} {verdict}", of(verdict).count()))
        .collect();
    let of_whole = |(name, _): &(&&str, &(Verdict, Engine))| name.starts_with("sched::");
    let weak_of_whole = claims
        .iter()
        .filter(|(_, said)| said.0 != Verdict::Proved && said.0 != Verdict::Failed)
        .filter(of_whole)
        .count();
    let killed = kills.iter().filter(|kill| kill.verdict() == "killed").count();
    let best = crate::best::kept();
    let weaker_now = claims.iter().filter(|(_, said)| said.0 != Verdict::Proved && said.0 != Verdict::Failed);
    let known = weaker_now.filter_map(|(name, _)| best.of(model::find(name)?));
    let (proofs, stale): (Vec<_>, Vec<_>) =
        known.filter(|known| known.best.run.verdict == Verdict::Proved).partition(|known| known.is_proof());
    let mut text = String::new();
    let holds = if failed == 0 { "all hold".to_owned() } else { format!("{failed} FAILED") };
    let _ = writeln!(text, "\n{}, {}: {holds}", many(rooms.len(), "room"), many(claims.len(), "claim"));
    let _ = writeln!(
        text,
        "  proved    {proved:>4}, of these {on_rc11} on RC11; the rest where memory is stronger, or nothing is concurrent"
    );
    let _ = writeln!(
        text,
        "  weaker    {:>4}: {}; {weak_of_whole} are of the whole scheduler",
        claims.len() - proved - failed,
        weaker.join(", ")
    );
    if !proofs.is_empty() {
        let longest = proofs.iter().map(|known| known.best.run.seconds).fold(0.0, f64::max);
        let (n, rest) = (proofs.len(), "of these proved on RC11 earlier, of the same sources");
        let _ = writeln!(text, "            {n:>4} {rest}, in up to {longest:.0} s: `cargo verify best --list`");
    }
    if !stale.is_empty() {
        let _ = writeln!(text, "            {:>4} of these proved before sources changed: `cargo best`", stale.len());
    }
    if !kills.is_empty() {
        let lived = if killed < kills.len() { "; SOME LIVE" } else { "" };
        let _ = writeln!(text, "  kills     {killed:>4} of {} kills of wrong variants{lived}", kills.len());
    }
    if let Some(slowest) = slowest(rows) {
        let _ = writeln!(text, "  slowest   {slowest}");
    }
    let every: usize = model::all().map(|model| model.runs.len()).sum();
    let left_out = every.saturating_sub(rows.len());
    let more = if left_out > 0 { format!("; {left_out} more by `cargo verify --all`") } else { String::new() };
    let (n, seconds) = (executions(rows, kills), time.as_secs_f64());
    let _ = writeln!(text, "  ran       {:>4} runs, {n} executions, in {seconds:.0} s{more}", rows.len());
    if let Some(file) = file {
        let _ = writeln!(text, "  table     {}, or `cargo verify --table`", file.display());
    }
    text
}

/// So many of these.
pub(crate) fn many(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn slowest(rows: &[Row]) -> Option<String> {
    let timed = rows.iter().filter_map(|row| Some((row, row.outcome.as_ref()?.seconds)));
    let (row, seconds) = timed.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!("{} on {}, {seconds:.1} s", row.model.name, row.order.engine))
}

/// Writes the table beside this program, if it is in a folder for what is built. Where it is.
pub(crate) fn keep(table: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder =
        program.parent().filter(|folder| folder.parent().is_some_and(|above| above.join("CACHEDIR.TAG").exists()))?;
    let path = folder.join("verdicts.txt");
    fs::write(&path, table).ok()?;
    let here = std::env::current_dir().ok()?;
    Some(path.strip_prefix(here).map(Path::to_path_buf).unwrap_or(path))
}
