//! The list of jobs.

use std::collections::BTreeSet;
use std::time::Duration;

/// One job.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) name: String,
    /// For the shell.
    pub(crate) command: String,
    /// How often it is tried again.
    pub(crate) retries: u32,
    /// How long one try may take.
    pub(crate) timeout: Option<Duration>,
    /// How many bytes one try may write.
    pub(crate) output: Option<u64>,
    /// How many bytes of memory each process of it may have.
    pub(crate) memory: Option<u64>,
    /// How much processor time each process of it may use.
    pub(crate) cpu: Option<Duration>,
}

impl Job {
    /// The command, after the limits that the shell sets: so they hold from the first moment on, and for its children.
    pub(crate) fn script(&self) -> String {
        let memory = self.memory.map(|bytes| format!("ulimit -v {} && ", bytes.div_ceil(1024)));
        let cpu = self.cpu.map(|time| format!("ulimit -t {} && ", time.as_secs_f64().ceil()));
        format!("{}{}{{\n{}\n}}", memory.unwrap_or_default(), cpu.unwrap_or_default(), self.command)
    }
}

/// The jobs of a list.
///
/// # Errors
/// The number of a line, and what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Vec<Job>, String> {
    let (mut jobs, mut names) = (Vec::new(), BTreeSet::new());
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let job = parse_line(line).map_err(|error| format!("{}: {error}", n + 1))?;
        if !names.insert(job.name.clone()) {
            return Err(format!("{}: there are two jobs `{}`", n + 1, job.name));
        }
        jobs.push(job);
    }
    Ok(jobs)
}

fn parse_line(line: &str) -> Result<Job, String> {
    let (head, command) = line.split_once(" : ").ok_or("a job is `NAME [LIMIT=VALUE]... : COMMAND`")?;
    let mut words = head.split_whitespace();
    let name = words.next().ok_or("a job has a name")?.to_owned();
    if !name.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c)) {
        return Err(format!("`{name}` is no name: letters, digits, `_`, `.` and `-` may be in it"));
    }
    let command = command.trim().to_owned();
    if command.is_empty() {
        return Err(format!("`{name}` has no command"));
    }
    let mut job = Job { name, command, retries: 0, timeout: None, output: None, memory: None, cpu: None };
    for word in words {
        let (limit, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is no limit: LIMIT=VALUE"))?;
        let wrong = |what: &str| format!("{limit} is {what}, not `{value}`");
        match limit {
            "retries" => job.retries = value.parse().map_err(|_| wrong("a number"))?,
            "timeout" => job.timeout = Some(duration(value).ok_or_else(|| wrong("a time, such as 500ms, 10s, 2m"))?),
            "cpu" => job.cpu = Some(duration(value).ok_or_else(|| wrong("a time, such as 10s, 2m"))?),
            "output" => job.output = Some(size(value).ok_or_else(|| wrong("a size, such as 100, 10k, 5M"))?),
            "memory" => job.memory = Some(size(value).ok_or_else(|| wrong("a size, such as 500M, 2G"))?),
            _ => return Err(format!("unknown limit `{limit}`: there are retries, timeout, cpu, output and memory")),
        }
    }
    Ok(job)
}

/// The number before a unit.
fn in_units<'a>(text: &'a str, units: &[(&str, u64)]) -> Option<(u64, u64)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit): (&'a str, &'a str) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    Some((number.parse().ok()?, *factor))
}

fn duration(text: &str) -> Option<Duration> {
    let (number, factor) = in_units(text, &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)])?;
    number.checked_mul(factor).filter(|&ms| ms > 0).map(Duration::from_millis)
}

fn size(text: &str) -> Option<u64> {
    let (number, factor) = in_units(text, &[("", 1), ("k", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)])?;
    number.checked_mul(factor)
}
