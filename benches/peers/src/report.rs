//! What is said about what was measured: on the terminal, as Markdown, as JSON.

use crate::drive::{Counts, Result, Series, Tool};
use crate::row::{CPU, Contender, Figure, LATE, LATE_99, Row, Side, TIME};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Of all rounds.
pub struct Summary {
    pub median: f64,
    pub min: f64,
    /// Between the first and the third quartile.
    pub spread: f64,
}

impl Summary {
    pub fn of(values: &[f64]) -> Summary {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        // Between two values where there is none in the middle.
        let at = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Summary { median: at(0.5), min: values[0], spread: at(0.75) - at(0.25) }
    }
}

/// A row's table: a head, and lines with as many cells.
pub struct Table {
    pub head: Vec<String>,
    pub lines: Vec<Vec<String>>,
    /// Are there words in the cells, not numbers?
    pub has_words: bool,
}

/// What stands where spinpark was not measured.
const NOT_YET: &str = "not measured yet";

impl Table {
    /// The contenders by their first figure, beside the best peer; of the other figures only the median.
    pub fn of(row: &Row, all: &[Series]) -> Table {
        let first = |series: &Series| Summary::of(&series.figures[0]);
        let best = |of: fn(&Summary) -> f64| {
            let peers = all.iter().filter(|series| series.contender.side == Side::Peer);
            peers.map(|series| of(&first(series))).fold(f64::INFINITY, f64::min)
        };
        let (best_median, best_min) = (best(|summary| summary.median), best(|summary| summary.min));
        // No peer was measured, or it had nothing to pay: nothing to compare with.
        let ratio = |n: f64, best: f64| {
            if best.is_finite() && best > 0.0 { format!("{:.2}", n / best) } else { String::new() }
        };
        let mut head = vec![String::new(), unit(&row.figures[0])];
        head.extend(["of best peer", "spread", "least", "of least peer"].map(String::from));
        head.extend(row.figures[1..].iter().map(unit));
        let line = |series: &Series| {
            let Summary { median, min, spread } = first(series);
            let mut cells = vec![series.contender.name.into()];
            cells.extend([number(median), ratio(median, best_median), number(spread)]);
            cells.extend([number(min), ratio(min, best_min)]);
            cells.extend(series.figures[1..].iter().map(|values| number(Summary::of(values).median)));
            cells
        };
        let mut lines: Vec<_> = all.iter().map(line).collect();
        // Its closures may be there already; they are another thing.
        if !row.contenders.iter().any(|contender| contender.side == Side::Ours && contender.name != "spinpark-go") {
            let mut cells = vec![String::new(); head.len()];
            cells[0] = "spinpark".into();
            cells[1] = NOT_YET.into();
            lines.push(cells);
        }
        Table { head, lines, has_words: false }
    }

    pub fn text(&self) -> String {
        let all = || std::iter::once(&self.head).chain(&self.lines);
        let width = |column: usize| all().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<_> = (0..self.head.len()).map(width).collect();
        let mut text = String::new();
        for cells in all() {
            let cell = |(column, cell): (usize, &String)| match column {
                _ if column == 0 || self.has_words => format!("  {cell:<0$}", widths[column]),
                _ => format!("  {cell:>0$}", widths[column]),
            };
            let line: String = cells.iter().enumerate().map(cell).collect();
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// The lines of a row in the page's one table: one for its first figure, and one for each other but processor time. How late it was
/// is one line: what 99 of 100 stayed below, and half of them.
pub fn lines_of_row(row: &Row, all: &[Series], date: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let has_line = |figure: &Figure| *figure == LATE_99 || *figure != CPU && !LATE.contains(figure);
    for (n, figure) in row.figures.iter().enumerate().filter(|(n, figure)| *n == 0 || has_line(figure)) {
        let half_of = |contender: &Contender| {
            let series = all.iter().find(|series| *figure == LATE_99 && series.contender.name == contender.name)?;
            Some(format!(" ({})", number(Summary::of(series.figures.get(n + 1)?).median)))
        };
        let measured = |series: &&Series| series.figures.len() > n;
        let mut all: Vec<_> = all.iter().filter(measured).map(|s| (s.contender, Summary::of(&s.figures[n]))).collect();
        all.sort_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
        let of = |side: Side| all.iter().filter(move |(contender, _)| contender.side == side);
        let cell = |side: Side| {
            let spread = |contender: &Contender, s: &Summary| match half_of(contender) {
                Some(half) => half,
                None if s.spread == 0.0 => String::new(),
                None => format!(" ± {}", number(s.spread)),
            };
            let each = of(side).map(|(c, s)| {
                format!("{} {}{}", short(c.name), number(s.median), spread(c, s)).trim_start().to_string()
            });
            each.collect::<Vec<_>>().join(", ")
        };
        let best = |side: Side, of_it: fn(&Summary) -> f64| {
            of(side).map(|(_, summary)| of_it(summary)).fold(f64::INFINITY, f64::min)
        };
        let ratio = |of_it: fn(&Summary) -> f64| {
            let (ours, peers) = (best(Side::Ours, of_it), best(Side::Peer, of_it));
            if ours.is_finite() && peers.is_finite() && peers > 0.0 {
                format!("{:.2}", ours / peers)
            } else {
                "-".into()
            }
        };
        let floor =
            if of(Side::Floor).next().is_some() { format!(" (floor: {})", cell(Side::Floor)) } else { String::new() };
        lines.push(format!(
            "| {} | {} | {} | {}{floor} | {} | {} | {date} |\n",
            row.name,
            match *figure {
                TIME => String::new(),
                LATE_99 => "late, us".into(),
                _ => unit(figure),
            },
            cell(Side::Ours),
            cell(Side::Peer),
            ratio(|summary| summary.median),
            ratio(|summary| summary.min),
        ));
    }
    lines
}

/// In a column that is headed `spinpark`.
fn short(contender: &str) -> &str {
    contender.strip_prefix("spinpark").map_or(contender, |rest| rest.trim_start_matches('-'))
}

fn unit(figure: &Figure) -> String {
    if figure.unit.is_empty() { figure.name.into() } else { format!("{}, {}", figure.name, figure.unit) }
}

/// A row's line in the page's table of what a tool counted.
pub fn line_of_counts(tool: Tool, row: &Row, all: &[(&str, Result<Counts>)]) -> String {
    let cells = counted(tool, all).lines.into_iter().map(|cells| cells.join(" "));
    format!("| {} | {} |\n", row.name, cells.collect::<Vec<_>>().join("; "))
}

/// Three digits, or all before the point.
fn number(n: f64) -> String {
    match n.abs() {
        size if size >= 99.95 => format!("{n:.0}"),
        size if size >= 9.995 => format!("{n:.1}"),
        _ => format!("{n:.2}"),
    }
}

/// What a tool counted: a line for each contender, or why there is none.
pub fn counted(tool: Tool, all: &[(&str, Result<Counts>)]) -> Table {
    let what = match tool {
        Tool::Instructions => "instructions",
        Tool::Calls => "system calls",
    };
    let line = |(name, counts): &(&str, Result<Counts>)| {
        let said = match (tool, counts) {
            (_, Err(error)) => format!("not counted: {error}"),
            (Tool::Instructions, Ok(counts)) => number(counts.values().sum()),
            (Tool::Calls, Ok(counts)) => calls(counts),
        };
        vec![name.to_string(), said]
    };
    let lines = all.iter().map(line).collect();
    Table { head: vec![String::new(), what.into()], lines, has_words: tool == Tool::Calls }
}

/// The most frequent first; not those that are rarer than one in five operations.
fn calls(counts: &Counts) -> String {
    let mut counts: Vec<_> = counts.iter().filter(|(_, count)| **count >= 0.2).collect();
    counts.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let counts: Vec<_> = counts.into_iter().map(|(name, count)| format!("{name} {count:.2}")).collect();
    if counts.is_empty() { "none".into() } else { counts.join(", ") }
}

pub fn json_of_row(row: &Row, all: &[Series]) -> Value {
    let contenders: Vec<_> = all
        .iter()
        .map(|series| {
            let figures = row.figures.iter().zip(&series.figures).map(|(figure, values)| {
                let Summary { median, min, spread } = Summary::of(values);
                json!({ "name": figure.name, "unit": figure.unit, "median": median, "min": min, "iqr": spread, "rounds": values })
            });
            json!({
                "name": series.contender.name,
                "is_spinpark": series.contender.side == Side::Ours,
                "operations": series.operations,
                "figures": figures.collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "name": row.name, "what": row.what, "operation": row.operation, "workers": row.setup.workers,
        "contenders": contenders,
    })
}

pub fn json_of_counts(tool: Tool, row: &Row, all: &[(&str, Result<Counts>)]) -> Value {
    let contender = |(name, counts): &(&str, Result<Counts>)| match counts {
        Ok(counts) => json!({ "name": name, "counts": counts }),
        Err(error) => json!({ "name": name, "error": error.to_string() }),
    };
    let contenders: Vec<_> = all.iter().map(contender).collect();
    json!({ "name": row.name, "tool": tool, "contenders": contenders })
}

/// On what it was measured.
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub system: String,
    pub compiler: String,
    pub date: String,
    /// How many threads wanted to run before the bench did: above 0, others disturbed it.
    pub load: String,
    pub versions: Vec<(String, String)>,
}

impl Machine {
    pub fn this() -> Machine {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let processor = read("/proc/cpuinfo");
        let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
        let compiler = std::process::Command::new("rustc").arg("--version").output();
        let compiler = compiler.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_string());
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Machine {
            processor: processor.unwrap_or("a processor").trim().into(),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            system: format!("Linux {}", read("/proc/sys/kernel/osrelease").trim()),
            compiler: compiler.unwrap_or_else(|_| "rustc".into()),
            date: date(seconds / 86_400),
            load: read("/proc/loadavg").split(' ').next().unwrap_or("?").into(),
            versions: versions(include_str!("../Cargo.lock")),
        }
    }

    pub fn text(&self) -> String {
        let Machine { processor, cores, system, compiler, date, load, versions } = self;
        let mut lines = vec![String::new()];
        for (name, version) in versions {
            let line = lines.last_mut().expect("there is one");
            let separator = if line.is_empty() { "" } else { ", " };
            if line.len() + name.len() + version.len() < 110 {
                *line += &format!("{separator}{name} {version}");
            } else {
                *line += ",";
                lines.push(format!("{name} {version}"));
            }
        }
        let versions = lines.join("\n");
        format!("{date}; {processor}, {cores} cores, load before {load}; {system}; {compiler}.\n{versions}.\n")
    }

    pub fn json(&self) -> Value {
        let Machine { processor, cores, system, compiler, date, load, versions } = self;
        json!({
            "processor": processor, "cores": cores, "system": system, "compiler": compiler, "date": date, "load": load,
            "versions": versions.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        })
    }
}

/// Of those whose versions matter, as the lock file has them.
fn versions(lock: &str) -> Vec<(String, String)> {
    const NAMES: [&str; 11] = [
        "spinpark",
        "tokio",
        "async-executor",
        "async-io",
        "async-net",
        "blocking",
        "may",
        "async-channel",
        "crossbeam-deque",
        "st3",
        "concurrent-queue",
    ];
    let version = |name: &str| {
        let at = lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{name}\"\n")))?;
        Some((name.to_string(), at.split("version = \"").nth(1)?.split('"').next()?.to_string()))
    };
    NAMES.into_iter().filter_map(version).collect()
}

/// Year, month, day: so many days after 1970-01-01.
fn date(mut days: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= months[month] {
        days -= months[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, days + 1)
}

/// Puts `text` between the marks `<!-- peers: NAME -->` and `<!-- /peers -->` of a page. Lines of a table replace the lines
/// with the same first cell, or are added below; any other text replaces all that stands there.
///
/// # Errors
/// If the page has no such marks.
pub fn put_between_marks(page: &str, name: &str, text: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- peers: {name} -->\n"), "<!-- /peers -->");
    let (before, after) = page.split_once(&begin).ok_or_else(|| format!("the page has no {}", begin.trim()))?;
    let (old, after) = after.split_once(end).ok_or_else(|| format!("the page has no end of {}", begin.trim()))?;
    let new = match text.strip_prefix("| ").and_then(|rest| rest.split_once(" |")) {
        None => text.to_string(),
        Some((row, _)) => {
            let is_of_row = |line: &&str| line.starts_with(&format!("| {row} |"));
            let lines: Vec<_> = old.lines().collect();
            let at = lines.iter().position(is_of_row).unwrap_or(lines.len());
            let join = |lines: &[&str]| {
                lines.iter().filter(|line| !is_of_row(line)).map(|line| format!("{line}\n")).collect::<String>()
            };
            format!("{}{text}{}", join(&lines[..at]), join(&lines[at..]))
        }
    };
    Ok(format!("{before}{begin}{new}{end}{after}"))
}

/// What the page says of the machines of other days, of which rows are left.
fn other_machines(page: &str, today: &str) -> String {
    let said = page.split_once("<!-- peers: machine -->\n").and_then(|(_, rest)| rest.split_once("<!-- /peers -->"));
    let (mut kept, mut is_kept) = (String::new(), false);
    for line in said.map_or("", |(said, _)| said).lines() {
        if let Some((date, _)) = line.split_once("; ") {
            is_kept = date != today && page.contains(&format!("| {date} |"));
        }
        kept.extend(is_kept.then(|| format!("{line}\n")));
    }
    kept
}

/// The same for all of `parts`, in a file. A machine stays with the rows that were measured on it.
///
/// # Errors
/// If there is no such file, or it has no such marks. Then it is as it was.
pub fn put_into(file: &Path, parts: &[(String, String)]) -> Result<()> {
    let mut page = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    for (name, text) in parts {
        let today = text.split("; ").next().unwrap_or_default();
        let others = if name == "machine" { other_machines(&page, today) } else { String::new() };
        page = put_between_marks(&page, name, &format!("{text}{others}"))?;
    }
    Ok(fs::write(file, page)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    mod a_summary {
        use super::*;

        #[test]
        fn is_of_all_rounds() {
            let Summary { median, min, spread } = Summary::of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
            assert_eq!((median, min, spread), (3.0, 1.0, 2.0));
            let Summary { median, spread, .. } = Summary::of(&[1.0, 2.0]);
            assert_eq!((median, spread), (1.5, 0.5));
        }
    }

    mod a_table {
        use super::*;

        #[test]
        fn compares_with_the_best_peer_and_not_with_ourselves() {
            let row = rows::all().next().expect("a row");
            let contender = |name| row.contender(name).expect("it is there");
            let series = |name, time| Series { contender: contender(name), operations: 1, figures: vec![vec![time]] };
            let table =
                Table::of(row, &[series("st3", 4.0), series("crossbeam-deque", 8.0), series("spinpark-runq", 2.0)]);
            let ratios: Vec<_> = table.lines.iter().map(|cells| cells[2].as_str()).collect();
            assert_eq!(ratios, ["1.00", "2.00", "0.50"]);
        }
    }

    mod a_page {
        use super::*;

        #[test]
        fn gets_its_text_between_the_marks() {
            let page = "a\n<!-- peers: x -->\nold\n<!-- /peers -->\nb <!-- peers: y -->\n<!-- /peers -->\n";
            let page = put_between_marks(page, "x", "new\n").expect("it has the marks");
            assert_eq!(page, "a\n<!-- peers: x -->\nnew\n<!-- /peers -->\nb <!-- peers: y -->\n<!-- /peers -->\n");
        }

        #[test]
        fn gets_a_rows_lines_in_place_of_its_old_ones() {
            let page = "<!-- peers: x -->\n| row |\n|---|\n| a | 1 |\n| a | 2 |\n| b | 3 |\n<!-- /peers -->\n";
            let page = put_between_marks(page, "x", "| a | 4 |\n").expect("it has the marks");
            assert_eq!(page, "<!-- peers: x -->\n| row |\n|---|\n| a | 4 |\n| b | 3 |\n<!-- /peers -->\n");
            let page = put_between_marks(&page, "x", "| c | 5 |\n").expect("it has the marks");
            assert!(page.contains("| b | 3 |\n| c | 5 |\n<!-- /peers -->"), "{page}");
        }

        #[test]
        fn keeps_the_machines_of_which_rows_are_left() {
            let machines = "<!-- peers: machine -->\nD1; one; Linux.\nx 1.\nD2; two; Linux.\ny 1.\n<!-- /peers -->\n";
            let page = format!("{machines}| a | 1 | D2 |\n");
            assert_eq!(other_machines(&page, "D3"), "D2; two; Linux.\ny 1.\n");
            assert_eq!(other_machines(&page, "D2"), "");
        }

        #[test]
        fn without_the_marks_is_an_error() {
            assert!(put_between_marks("a", "x", "new").is_err());
            assert!(put_between_marks("<!-- peers: x -->\n", "x", "new").is_err());
        }

        #[test]
        fn in_the_docs_has_a_line_and_a_paragraph_for_every_row() {
            let page = include_str!("../../../docs/evidence/performance.md");
            for name in ["rows", "machine", "instructions", "calls"] {
                put_between_marks(page, name, "").unwrap_or_else(|error| panic!("{error}"));
            }
            for row in rows::all() {
                let (line, paragraph) = (format!("\n| {} | ", row.name), format!("`{}`", row.name));
                assert!(page.contains(&line) && page.contains(&paragraph), "the page says nothing of {}", row.name);
            }
        }
    }

    mod a_date {
        use super::*;

        #[test]
        fn is_the_calendars() {
            for (days, expected) in
                [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_454, "2026-01-01")]
            {
                assert_eq!(date(days), expected);
            }
        }
    }

    mod the_lock_file {
        use super::*;

        #[test]
        fn has_the_version_of_every_contender() {
            assert_eq!(versions(include_str!("../Cargo.lock")).len(), 11);
        }
    }
}
