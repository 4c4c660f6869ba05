//! The command line.

use crate::drive::{self, Result, Tool};
use crate::report::{self, Machine, Table};
use crate::row::{Contender, Row};
use crate::rows;
use clap::Parser;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

/// The programs that are a contender.
pub struct Programs {
    pub plain: &'static Path,
    pub counting: &'static Path,
    /// The one in Go, built when it is first needed. `None`: there is no Go.
    go: OnceLock<Option<PathBuf>>,
}

impl Programs {
    pub const fn new(plain: &'static Path, counting: &'static Path) -> Programs {
        Programs { plain, counting, go: OnceLock::new() }
    }

    pub(crate) fn of(&self, row: &Row) -> &'static Path {
        if row.counting { self.counting } else { self.plain }
    }

    /// What starts `contender`, which then waits for rounds. `None`: it is in Go, and there is none.
    pub fn command(&self, row: &Row, contender: &Contender) -> Option<Command> {
        let Some(workload) = contender.in_go else {
            let mut command = Command::new(self.of(row));
            command.args([row.name, contender.name]);
            return Some(command);
        };
        let mut command = Command::new(self.go()?);
        command.args(row.in_go(workload));
        Some(command)
    }

    fn go(&self) -> Option<&PathBuf> {
        let build = || {
            let program = self.plain.with_file_name("contender-go");
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
            let built = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(sources).output();
            let why = match built {
                Ok(built) if built.status.success() => return Some(program),
                Ok(built) => String::from_utf8_lossy(&built.stderr).into_owned(),
                Err(error) => error.to_string(),
            };
            eprintln!("peers: Go is left out: {why}");
            None
        };
        self.go.get_or_init(build).as_ref()
    }
}

/// spinpark beside tokio, smol, may and, where it is installed, Go; its run queue beside crossbeam-deque, st3 and concurrent-queue.
///
/// Every contender does the same work, in a process of its own. What comes out is counted and summed; a wrong sum ends
/// the run. In each round all contenders of a row have their turn, in an order of its own, and the first round is not
/// counted.
#[derive(Parser)]
#[command(
    name = "peers",
    bin_name = "cargo peers",
    after_help = "\
What is printed, for each contender: the median of all rounds, in nanoseconds an operation if nothing else is said; how
many times the best peer's; the spread (between the first and the third quartile); the least, and how many times the least
of a peer; then the medians of the row's other figures. How late something was is compared by what 99 of 100 stayed
below. A contender with -bare in its name is no peer: it does less. A difference smaller than the spread is none. Rounds
are short: on a busy machine some of them run undisturbed, so compare the least.

One worker thread, but for the rows that end in _2 or _8: they have as many.

  cargo peers                                     all rows: some minutes
  cargo peers --quick                             only to see that all of them run
  cargo peers yield spawn --contender tokio --contender spinpark
  cargo peers --markdown=docs/evidence/performance.md      writes the tables into the page
  cargo peers queue yield spawn --instructions    by callgrind: the same number every time, or nearly
  cargo peers sparse echo --calls                 by strace: futex, epoll_wait, ...
  cargo peers --once yield_one tokio              one round, no statistics; under a tool: the program `contender`

`cargo peers` is short for: cargo bench --manifest-path benches/peers/Cargo.toml --"
)]
struct Arguments {
    /// Only rows with one of these in their name
    #[arg(value_name = "ROW-FILTER")]
    rows: Vec<String>,
    /// Only contenders whose name begins so; may be given more than once
    #[arg(long, value_name = "NAME")]
    contender: Vec<String>,
    /// Rounds that are counted; rows that take long have fewer
    #[arg(long, value_name = "N", default_value_t = 31, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Two rounds with little work: the numbers mean nothing, the checks do
    #[arg(long)]
    quick: bool,
    /// Write everything, each round too, into FILE
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print the lines of a Markdown table; or put them into FILE, between its marks <!-- peers: NAME --> and <!-- /peers -->
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    markdown: Option<Option<PathBuf>>,
    /// Count instructions an operation, by valgrind
    #[arg(long, conflicts_with_all = ["calls", "quick", "rounds"])]
    instructions: bool,
    /// Count system calls an operation, by strace
    #[arg(long, alias = "futexes", conflicts_with_all = ["quick", "rounds"])]
    calls: bool,
    /// Names of the rows and of their contenders, and what they do
    #[arg(long)]
    list: bool,
    /// One round of one contender
    #[arg(long, num_args = 2, value_names = ["ROW", "CONTENDER"])]
    once: Option<Vec<String>>,
    /// With --once: how many operations
    #[arg(long, value_name = "N", requires = "once")]
    operations: Option<u64>,
    /// Cargo says this to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    fn wants_row(&self, row: &Row) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|part| row.name.contains(part.as_str()))
    }

    fn contenders(&self, row: &'static Row) -> impl Iterator<Item = &'static Contender> {
        let is_it = |name: &str| self.contender.iter().any(|begin| name.starts_with(begin.as_str()));
        row.contenders.iter().filter(move |contender| self.contender.is_empty() || is_it(contender.name))
    }

    fn tool(&self) -> Option<Tool> {
        match (self.instructions, self.calls) {
            (true, _) => Some(Tool::Instructions),
            (_, true) => Some(Tool::Calls),
            _ => None,
        }
    }
}

pub fn main(programs: Programs) -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments, &programs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments, programs: &Programs) -> Result<()> {
    if let Some(once) = &arguments.once {
        return run_once(programs, &once[0], &once[1], arguments.operations);
    }
    // Not only when all has been measured.
    if let Some(Some(page)) = &arguments.markdown {
        report::put_into(&from_here(page), &[])?;
    }
    let rows: Vec<_> = rows::all().filter(|row| arguments.wants_row(row)).collect();
    if rows.is_empty() {
        return Err("no row has such a name; --list says which there are".into());
    }
    if arguments.list {
        rows.into_iter().for_each(list);
        return Ok(());
    }
    let machine = Machine::this();
    println!("{}", machine.text());
    let mut said = Said::default();
    match arguments.tool() {
        None => rows.into_iter().try_for_each(|row| measure(arguments, programs, row, &machine, &mut said))?,
        Some(tool) => rows.into_iter().for_each(|row| count(arguments, programs, tool, row, &mut said)),
    }
    said.publish(arguments, &machine)
}

/// Cargo runs a bench in the directory of its package; a name on the command line is meant from where the user stands.
fn from_here(file: &Path) -> PathBuf {
    std::env::var_os("PWD").map_or_else(|| file.into(), |here| Path::new(&here).join(file))
}

fn run_once(programs: &Programs, row: &str, contender: &str, operations: Option<u64>) -> Result<()> {
    let of = rows::all().find(|known| known.name == row).ok_or_else(|| format!("there is no row {row}"))?;
    let mut command = Command::new(programs.of(of));
    command.args([row, contender, "--once"]);
    if let Some(operations) = operations {
        command.args(["--operations", &operations.to_string()]);
    }
    eprintln!("{} {row} {contender} --once", programs.of(of).display());
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}

fn list(row: &Row) {
    println!("{}: {}", row.name, row.what);
    let names: Vec<_> = row.contenders.iter().map(|contender| contender.name).collect();
    println!("    {} times {}, {} workers: {}", row.full, row.operation, row.setup.workers, names.join(", "));
}

/// What is to be written when all is done.
#[derive(Default)]
struct Said {
    rows: Vec<Value>,
    /// By mark.
    markdown: Vec<(String, String)>,
}

impl Said {
    fn publish(mut self, arguments: &Arguments, machine: &Machine) -> Result<()> {
        if let Some(file) = &arguments.json {
            let all = json!({ "machine": machine.json(), "quick": arguments.quick, "rows": self.rows });
            fs::write(from_here(file), serde_json::to_string_pretty(&all)? + "\n")?;
        }
        match &arguments.markdown {
            None => {}
            Some(None) => self.markdown.iter().for_each(|(name, text)| println!("{name}\n{text}")),
            Some(Some(file)) => {
                self.markdown.push(("machine".into(), machine.text()));
                report::put_into(&from_here(file), &self.markdown)?;
            }
        }
        Ok(())
    }
}

fn measure(
    arguments: &Arguments,
    programs: &Programs,
    row: &'static Row,
    machine: &Machine,
    said: &mut Said,
) -> Result<()> {
    let is_there = |contender: &&Contender| programs.command(row, contender).is_some();
    let contenders: Vec<_> = arguments.contenders(row).filter(is_there).collect();
    if contenders.is_empty() {
        return Ok(());
    }
    let rounds = if arguments.quick { 2 } else { usize::from(arguments.rounds) };
    let all = drive::measure(programs, row, &contenders, rounds, arguments.quick)?;
    let table = Table::of(row, &all);
    println!("{}: {}", row.name, row.what);
    println!("{}", table.text());
    said.rows.push(report::json_of_row(row, &all));
    said.markdown.push(("rows".into(), report::lines_of_row(row, &all, &machine.date).concat()));
    Ok(())
}

fn count(arguments: &Arguments, programs: &Programs, tool: Tool, row: &'static Row, said: &mut Said) {
    let contenders: Vec<_> = arguments.contenders(row).filter(|contender| contender.in_go.is_none()).collect();
    if contenders.is_empty() || !row.countable {
        return;
    }
    let count = |contender: &&'static Contender| (contender.name, drive::count(tool, programs, row, contender));
    let all: Vec<_> = contenders.iter().map(count).collect();
    println!("{}: {}", row.name, row.operation);
    println!("{}", report::counted(tool, &all).text());
    said.rows.push(report::json_of_counts(tool, row, &all));
    let mark = if tool == Tool::Instructions { "instructions" } else { "calls" };
    said.markdown.push((mark.into(), report::line_of_counts(tool, row, &all)));
}
