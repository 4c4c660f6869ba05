//! Starts contenders, and asks them in turn.

use crate::child::READY;
use crate::cli::Programs;
use crate::row::{Contender, Row, Sample};
use serde::Serialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The longest that a round may take: a contender that hangs is an error too.
const PATIENCE: Duration = Duration::from_secs(120);

/// What one contender gave in all rounds of a row.
pub struct Series {
    pub contender: &'static Contender,
    pub operations: u64,
    /// By figure, then by round.
    pub figures: Vec<Vec<f64>>,
}

/// A contender that was started.
struct Running {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    name: String,
}

impl Running {
    fn start(programs: &Programs, row: &Row, contender: &Contender) -> Result<Running> {
        let mut process = programs
            .command(row, contender)
            .ok_or("there is no Go")?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(process.stdout.take().ok_or("no pipe")?);
        let (send, lines) = channel();
        thread::spawn(move || output.lines().map_while(|line| line.ok()).try_for_each(|line| send.send(line)));
        let running = Running { process, input, lines, name: format!("{}: {}", row.name, contender.name) };
        match running.line()?.as_str() {
            READY => Ok(running),
            other => Err(format!("{} began with {other:?}", running.name).into()),
        }
    }

    fn line(&self) -> Result<String> {
        self.lines.recv_timeout(PATIENCE).map_err(|error| format!("{} did not answer: {error}", self.name).into())
    }

    fn round(&mut self, operations: u64) -> Result<Sample> {
        writeln!(self.input, "{operations}")?;
        self.input.flush()?;
        Ok(serde_json::from_str(&self.line()?)?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has nothing to save. Errors: it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One round of each to warm up, then `rounds` of each: in every round all of them, in an order of its own.
///
/// # Errors
/// If a contender hangs or ends, or did not do its work.
pub fn measure(
    programs: &Programs,
    row: &'static Row,
    contenders: &[&'static Contender],
    rounds: usize,
    quick: bool,
) -> Result<Vec<Series>> {
    let start = |contender: &&'static Contender| {
        let running = Running::start(programs, row, contender)?;
        let operations = row.operations(contender, quick);
        Ok((running, Series { contender, operations, figures: vec![vec![]; row.figures.len()] }))
    };
    let mut all = contenders.iter().map(start).collect::<Result<Vec<_>>>()?;
    for round in 0..=rounds.min(row.at_most_rounds) {
        fastrand::shuffle(&mut all);
        for (running, series) in &mut all {
            if row.fresh && round > 0 {
                *running = Running::start(programs, row, series.contender)?;
            }
            let sample = running.round(series.operations)?;
            row.check(series.contender, series.operations, &sample).map_err(|wrong| wrong.to_string())?;
            if round > 0 {
                series.figures.iter_mut().zip(sample.figures).for_each(|(figure, value)| figure.push(value));
            }
        }
    }
    let mut all: Vec<_> = all.into_iter().map(|(_, series)| series).collect();
    all.sort_by_key(|series| contenders.iter().position(|contender| contender.name == series.contender.name));
    Ok(all)
}

/// What is counted, an operation: by the name of what it is.
pub type Counts = BTreeMap<String, f64>;

/// Set for a contender that a tool slows down some fifty times: what its runtime does by the clock, as to preempt a task, is not what it does
/// by itself.
pub const SLOWED_DOWN: &str = "SPINPARK_PEERS_SLOWED_DOWN";

/// Which tool counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Instructions, by valgrind's callgrind.
    Instructions,
    /// System calls, by strace.
    Calls,
}

/// How often what happens, an operation. Two runs of one round each, the second with more operations than the first: what
/// both have, the start above all, is not in the difference.
///
/// # Errors
/// If the tool is not there, or the contender does not run under it.
pub fn count(tool: Tool, programs: &Programs, row: &Row, contender: &Contender) -> Result<Counts> {
    let few = row.quick.min(contender.at_most);
    let many = row.full.min(contender.at_most).min(few * 20);
    let once = |operations| count_once(tool, programs.of(row), row, contender, operations);
    let ((few, less), (many, mut more)) = (once(few)?, once(many)?);
    let operations = (many.tally.count - few.tally.count) as f64;
    for (name, count) in less {
        *more.entry(name).or_default() -= count;
    }
    more.values_mut().for_each(|count| *count /= operations);
    Ok(more)
}

fn count_once(
    tool: Tool,
    program: &Path,
    row: &Row,
    contender: &Contender,
    operations: u64,
) -> Result<(Sample, Counts)> {
    let file = Temporary::new();
    let mut command = match tool {
        Tool::Instructions => {
            let mut command = Command::new("valgrind");
            // Threads in turn, so that one that spins does not keep the others from running.
            command.args(["--tool=callgrind", "--fair-sched=yes"]);
            command.arg(format!("--callgrind-out-file={}", file.0.display()));
            command.env(SLOWED_DOWN, "yes");
            command
        }
        Tool::Calls => {
            let mut command = Command::new("strace");
            command.args(["-f", "-qq", "-c", "-U", "name,calls", "-o"]).arg(&file.0);
            command
        }
    };
    let output = command
        .arg(program)
        .args([row.name, contender.name, "--once", "--operations", &operations.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        // valgrind's own lines begin so.
        let why = said.lines().find(|line| !line.is_empty() && !line.starts_with("=="));
        return Err(why.unwrap_or("it failed").into());
    }
    // A tool may write to the same stream.
    let said = String::from_utf8(output.stdout)?;
    let answer = said.lines().find(|line| line.starts_with('{')).ok_or("no answer")?;
    let sample: Sample = serde_json::from_str(answer)?;
    row.check(contender, operations, &sample).map_err(|wrong| wrong.to_string())?;
    let counts = match tool {
        Tool::Instructions => instructions(&std::fs::read_to_string(&file.0)?),
        Tool::Calls => calls(&std::fs::read_to_string(&file.0)?),
    };
    Ok((sample, counts))
}

/// callgrind's file has the sum of all threads in one line.
fn instructions(file: &str) -> Counts {
    let totals = file.lines().filter_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    let total = totals.filter_map(|n| n.trim().parse().ok()).fold(0.0, f64::max);
    Counts::from([("instructions".into(), total)])
}

/// strace's table: a name and a number in each line, between a head and a foot.
fn calls(table: &str) -> Counts {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, calls) = (words.next()?, words.next()?.parse().ok()?);
        (name != "total").then(|| (name.into(), calls))
    };
    table.lines().filter_map(line).collect()
}

/// A file that is gone when it is not needed any more.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Temporary {
        let name = format!("spinpark-peers-{}-{:x}", std::process::id(), fastrand::u64(..));
        Temporary(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // If the tool never started, there is none.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod what_a_tool_says {
        use super::*;

        #[test]
        fn is_read_from_callgrinds_file() {
            let counts = instructions("events: Ir\nsummary: 12\n\nfn=(1) main\n16 4\n\ntotals: 1234\n");
            assert_eq!(counts["instructions"], 1234.0);
        }

        #[test]
        fn is_read_from_straces_table() {
            let counts = calls("syscall              calls\n----- -----\nfutex 12\nread 3\n----- -----\ntotal 15\n");
            assert_eq!(counts, Counts::from([("futex".into(), 12.0), ("read".into(), 3.0)]));
        }
    }
}
