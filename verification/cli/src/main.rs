//! `cargo verify`: runs the model checks and says what was proved. Which file does what is drawn in the package's README.

mod alone;
mod collect;
mod matrix;
mod museum;
mod mutants;
mod proptest;
mod report;
mod survivors;
mod table;

use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use spinpark_verification::command_line::{self, Stop};
use spinpark_verification::engines::{self, Engine, Failure, Outcome, Script, Verdict};
use spinpark_verification::job::{self, Event, Order};
use spinpark_verification::litmus;
use spinpark_verification::litmus::model::MemoryModel;
use spinpark_verification::litmus::report::Answer;
use spinpark_verification::litmus::run::LitmusEngine;
use spinpark_verification::model::{self, Model, Run};
use spinpark_verification::mutation::mutant::{self, Mutant};
use spinpark_verification::mutation::trial::{self, Switches};
use spinpark_verification::output::{self, print};
use spinpark_verification::record;
use spinpark_verification::schedule::{Replayed, Schedule};
use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::time::{Duration, Instant};
use table::{Kill, Row};

/// Explores the interleavings of spinpark's kernel: the very source that runs on real cores.
///
/// Without a command: every model on its engines, then every wrong variant. The table says for each model what is claimed,
/// who explored it, within which bounds, and what may be said:
///
///   proved    a complete engine finished; the memory model is named
///   explored  the engine finished, but is known to miss executions (loom)
///   bounded   a bound was set and may have cut something off
///   sampled   schedules were sampled at random
///   FAILED    it does not hold; the schedule is printed, and written to a file
///
/// The column `reached` compares with a complete engine: 3/6 means 3 of the 6 outcomes there are.
///
/// Exit status: 0 if all holds and every wrong variant was killed, 1 if not, 2 if it could not be asked that way.
#[derive(Parser)]
#[command(name = "cargo verify", bin_name = "cargo verify", version, verbatim_doc_comment, max_term_width = 120)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    how: How,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the models, what they claim, and on which engines they run.
    List {
        /// Also writes them to this file, as a JSON array.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Runs some models: a room's, or those whose names contain NAME.
    Run {
        /// A room, or a model's name or a part of it: `spinning`, `two_thieves`.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        how: How,
        /// Plays a wrong variant instead of the kernel; `cargo verify mutants --list` names them.
        #[arg(long, value_name = "NAME")]
        mutant: Option<String>,
        /// Keeps the state of the exploration in this file, and goes on from there if it exists: for one model on rc11.
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<PathBuf>,
    },
    /// The kill matrix: every wrong variant, every access of the kernel in every weaker way, and every step of its source
    /// dropped, doubled, swapped or mistaken.
    ///
    /// Each must be killed by a model. What lives on stands in `verification/survivors.toml` with its reason, or is
    /// printed. Steps are tried on a copy of the kernel that has all of them, each behind a switch; it is built first.
    Mutants(mutants::Asked),
    /// The museum: bugs that real schedulers, queues and locks had, each made again by one line, and caught.
    Museum(museum::Asked),
    /// Everything, in one page that can be published; or as JUnit's XML; or as a record, whole or a shard of it.
    ///
    /// A fleet splits it: `cargo verify report --deep --shard 1/4 --json 1.json` on the first machine, and so on; then
    /// `cargo verify report --from 1.json --from 2.json --from 3.json --from 4.json --html report`.
    Report(report::Asked),
    /// Plays a failing schedule again and prints it.
    ///
    /// Exit status: 1 if it still fails, in the same way or in another; 0 if it no longer does; 2 if it does not fit: the
    /// file was changed, or the kernel, the model or the engine has, and the schedule cannot be played.
    Replay {
        /// The file that a failing run has written.
        file: PathBuf,
    },
    /// Draws a failing execution of rc11's as a graph: which read has its value from where, and what is wrong with that.
    Picture {
        /// The file that a failing run has written.
        file: PathBuf,
        /// Also writes it to this file, as an SVG picture.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Answers litmus tests in herd7's C format: the outcomes there are, and whether `exists` holds.
    Litmus {
        /// Files, or folders of `*.litmus` files.
        #[arg(required = true, value_name = "FILE|DIR")]
        files: Vec<PathBuf>,
        /// Who answers.
        #[arg(long, value_enum, value_name = "ENGINE", default_value = "rc11")]
        engine: LitmusEngine,
        /// Under which memory model. All but rc11 are the reference's alone, and for tests of a few dozen events.
        #[arg(long, value_enum, value_name = "MODEL", default_value = "rc11")]
        model: MemoryModel,
        /// No more than so many seconds a file.
        #[arg(long, value_name = "N", default_value_t = 60.0, value_parser = seconds)]
        seconds: f64,
        /// Also writes the answers to this file, as a JSON array with an object for each file.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Throws random programs at the rooms and at the whole scheduler: `cargo verify fuzz --minutes 5`.
    ///
    /// `cargo verify fuzz --help` says more. It is a program of its own, `fuzz` of spinpark-proptests, which is built
    /// first.
    #[command(disable_help_flag = true)]
    Fuzz {
        /// What it is to do.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<OsString>,
    },
    /// The process of one job. Reads it from its standard input.
    #[command(hide = true)]
    Worker,
    /// The process that tries one mutant. Reads it from its standard input.
    #[command(hide = true)]
    Trial,
}

#[derive(Args, Clone)]
struct How {
    /// Only on this engine; may be given several times.
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Vec<Engine>,
    /// Wider bounds: hours instead of minutes.
    #[arg(long)]
    deep: bool,
    /// How many jobs at once, up to 1024. Default: as many as there are cores.
    #[arg(long, value_name = "N", value_parser = job::how_many)]
    jobs: Option<NonZeroUsize>,
    /// The seed of the engines that draw schedules at random.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Writes the results to this file, as a JSON array with an object for each model and engine.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where failing schedules are written.
    #[arg(long, value_name = "DIR", default_value = SCHEDULES)]
    schedules: PathBuf,
    /// Also puts the table between the markers `<!-- verdicts:begin -->` and `<!-- verdicts:end -->` of this file.
    #[arg(long, value_name = "FILE")]
    readme: Option<PathBuf>,
    /// Also writes the record of this run to this file: `verification/record.json`. Only of the run of everything.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Fails if this run explored less than the record in this file says.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

/// Where failing schedules go, if nothing else is said.
const SCHEDULES: &str = "schedules";

/// A number of seconds: more than none, and less than a lifetime.
fn seconds(text: &str) -> Result<f64, String> {
    let n: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if n > 0.0 && n <= 1e9 { Ok(n) } else { Err("give a number above 0, such as 0.5".to_owned()) }
}

impl How {
    /// How many jobs at once.
    fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.jobs.map_or_else(cores, NonZeroUsize::get)
    }

    /// What `command` does not heed is refused: an option without effect would be taken for one that has it.
    fn refuse(&self, command: &str, unheeded: &[&str]) -> Result<(), Stop> {
        let given = [
            ("--engine", !self.engine.is_empty()),
            ("--deep", self.deep),
            ("--schedules", self.schedules != Path::new(SCHEDULES)),
            ("--readme", self.readme.is_some()),
            ("--record", self.record.is_some()),
            ("--against", self.against.is_some()),
        ];
        match given.iter().find(|(option, is_given)| *is_given && unheeded.contains(option)) {
            Some(("--record", _)) => Err(Stop::BadInput(format!(
                "`{command}` writes no record, which is of every model: `cargo verify --record FILE`; `--json FILE` has the results"
            ))),
            Some((option, _)) => Err(Stop::BadInput(format!("`{command}` has no `{option}`"))),
            None => Ok(()),
        }
    }
}

fn main() -> ExitCode {
    command_line::main(command)
}

fn command(cli: Cli) -> Result<ExitCode, Stop> {
    let done = match cli.command {
        None => everything(&cli.how),
        Some(Command::List { json }) => list(json.as_deref()),
        Some(Command::Run { names, how, mutant, checkpoint }) => some(&names, &how, mutant.as_deref(), checkpoint),
        Some(Command::Mutants(asked)) => mutants::run(&asked),
        Some(Command::Museum(asked)) => museum::run(&asked),
        Some(Command::Report(asked)) => report::run(&asked),
        Some(Command::Replay { file }) => replay(&file),
        Some(Command::Picture { file, svg }) => picture(&file, svg.as_deref()),
        Some(Command::Litmus { files, engine, model, seconds, json }) => {
            litmus(&files, (engine, model), seconds, json.as_deref())
        }
        Some(Command::Fuzz { args }) => return Ok(fuzz(&args)),
        Some(Command::Worker) => job::work().map_err(Stop::BadInput),
        Some(Command::Trial) => trial::work(Switches::NONE).map_err(Stop::BadInput),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn everything(how: &How) -> Result<(), Stop> {
    check_files(how)?;
    let models: Vec<&Model> = model::all().collect();
    let orders = orders(&models, how, None);
    let mutants: Vec<&Mutant> = mutant::all().collect();
    let kill_orders = if how.engine.is_empty() { kill_orders(&mutants, how) } else { Vec::new() };
    let together: Vec<Order> = orders.iter().chain(kill_orders.iter().map(|(_, order)| order)).cloned().collect();
    let clock = Instant::now();
    let mut outcomes = run_all(&together, how);
    let kill_outcomes = outcomes.split_off(orders.len());
    let rows = rows(orders, outcomes);
    let kills = kills(kill_orders, kill_outcomes);
    let rows_hold = print_rows(&rows, how)?;
    let kills_hold = print_kills(&kills);
    summary(&rows, &kills, clock.elapsed());
    if let Some(path) = &how.record {
        let mut record = collect::empty(how.deep);
        // The matrix is tried by `cargo verify mutants`: what it has found out stays.
        record.matrix = record::read(path).map(|old| old.matrix).unwrap_or_default();
        record.runs = rows.iter().filter_map(collect::run).collect();
        record.mutants = kills.iter().map(|kill| collect::variant(kill, false)).collect();
        record::write(path, &record)?;
    }
    let nothing_dropped = compare(&rows, how, true)?;
    if rows_hold && kills_hold && nothing_dropped { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// Is everything explored that the record says was explored?
fn compare(rows: &[Row], how: &How, of_all: bool) -> Result<bool, Stop> {
    let Some(path) = &how.against else { return Ok(true) };
    let mut record = record::read(path)?;
    if !of_all || !how.engine.is_empty() {
        let is_run =
            |model: &str, engine: Engine| rows.iter().any(|row| row.model.name == model && row.order.engine == engine);
        record.runs.retain(|run| is_run(&run.model, run.engine));
    }
    let dropped = collect::dropped(&record, rows);
    if !dropped.is_empty() {
        print(&format!("\nless than in {}:\n  {}\n", path.display(), dropped.join("\n  ")));
        print("if that is as it should be: cargo verify --readme README.md --record verification/record.json\n");
    }
    Ok(dropped.is_empty())
}

fn some(names: &[String], how: &How, mutant: Option<&str>, checkpoint: Option<PathBuf>) -> Result<(), Stop> {
    how.refuse("run", &["--record"])?;
    check_files(how)?;
    let models = select(names)?;
    let mutant = mutant.map(|name| mutant::find(name).ok_or_else(|| unknown_mutant(name))).transpose()?;
    let mut orders = orders(&models, how, mutant);
    match (orders.as_mut_slice(), checkpoint) {
        ([], _) => return Err(Stop::BadInput("none of these models runs on that engine".to_owned())),
        (_, None) => (),
        ([order], checkpoint) if order.engine == Engine::Rc11 => order.checkpoint = checkpoint,
        (many, _) => {
            let n = many.len();
            let hint = "a checkpoint is of one model on one engine: name it in full, with `--engine rc11`";
            return Err(Stop::BadInput(format!("{hint} (this names {n} runs)")));
        }
    }
    let clock = Instant::now();
    let outcomes = run_all(&orders, how);
    let rows = rows(orders, outcomes);
    let hold = print_rows(&rows, how)?;
    summary(&rows, &[], clock.elapsed());
    let hold = hold & compare(&rows, how, false)?;
    if hold { Ok(()) } else { Err(Stop::DoesNotHold) }
}

fn list(json: Option<&Path>) -> Result<(), Stop> {
    let models: Vec<&Model> = model::all().collect();
    let how = How {
        engine: vec![],
        deep: false,
        jobs: None,
        seed: 1,
        json: None,
        schedules: PathBuf::new(),
        readme: None,
        record: None,
        against: None,
    };
    let rows: Vec<Row> = orders(&models, &how, None).into_iter().map(|order| row(order, None)).collect();
    print(&table::text(&rows));
    match json {
        Some(path) => write(path, &format!("{:#}\n", table::rows_json(&rows))),
        None => Ok(()),
    }
}

/// The fuzzer needs this crate, so this crate cannot need it: it is built and run as another program.
fn fuzz(args: &[OsString]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = process::Command::new(cargo);
    command.args(["run", "--quiet", "--package", "spinpark-proptests", "--bin", "fuzz", "--"]).args(args);
    // In the place of this process, so that a signal to this one ends the fuzzer.
    #[cfg(unix)]
    let status = Err(std::os::unix::process::CommandExt::exec(&mut command));
    #[cfg(not(unix))]
    let status = command.status();
    let code = |status: process::ExitStatus| status.code().and_then(|code| u8::try_from(code).ok());
    match status {
        Ok(status) => code(status).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            eprintln!("error: cannot run cargo to build the fuzzer: {error}");
            ExitCode::from(2)
        }
    }
}

fn replay(file: &Path) -> Result<(), Stop> {
    let mut schedule = Schedule::read(file)?;
    let was = schedule.failure.message.clone();
    let (now, said) = match schedule.replay(&job::replay) {
        Replayed::Passes => {
            let Schedule { model, engine, .. } = &schedule;
            print(&format!("It no longer fails: {model} on {engine} held in this execution.\n"));
            return Ok(());
        }
        Replayed::DoesNotFit(reason) => return Err(Stop::BadInput(format!("{}: {reason}", file.display()))),
        Replayed::FailsTheSame(failure) => (failure, "It still fails, in the same way.".to_owned()),
        Replayed::FailsOtherwise(failure) => {
            (failure, format!("It fails, but in another way. It said before:\n  {}", was.trim_end()))
        }
    };
    let execution = schedule.failure.execution;
    schedule.failure = Failure { execution, ..now };
    print(&schedule.picture());
    print(&format!("\n{said}\n"));
    Err(Stop::DoesNotHold)
}

fn picture(file: &Path, svg: Option<&Path>) -> Result<(), Stop> {
    let Schedule { model, engine, bounds, seed, mutant, failure, .. } = Schedule::read(file)?;
    let does_not_fit = |message: String| format!("{}: {message}", file.display());
    let Some(Script::Graph(graph)) = &failure.script else {
        let hint = format!("run it with `cargo verify run {model} --engine rc11`, which writes one that can");
        return Err(Stop::BadInput(format!("{} is a schedule of {engine}, not a graph; {hint}", file.display())));
    };
    let order = Order::new(&model, engine, bounds, mutant.as_deref(), seed);
    let job = order.job().map_err(does_not_fit)?;
    // What the model says when it fails is in the picture.
    std::panic::set_hook(Box::new(|_| ()));
    let Some(picture) = engines::draw(job, graph).map_err(does_not_fit)? else {
        return Err(Stop::BadInput("it no longer fails: the code has changed since it was written".to_owned()));
    };
    print(&picture.columns());
    svg.map_or(Ok(()), |path| write(path, &picture.svg()))
}

fn litmus(
    files: &[PathBuf],
    (engine, model): (LitmusEngine, MemoryModel),
    seconds: f64,
    json: Option<&Path>,
) -> Result<(), Stop> {
    let files = litmus::report::files(files)?;
    let answer = |file: &PathBuf| match (engine, model) {
        (_, MemoryModel::Rc11) => Ok(litmus::report::answer(file, engine, seconds)),
        (LitmusEngine::Reference, _) => Ok(litmus::report::answer_in(file, model)),
        _ => Err(format!("{} knows no model but rc11; `--engine reference` knows {}", engine.name(), model.name())),
    };
    let answers: Vec<Answer> = files.iter().map(answer).collect::<Result<_, String>>()?;
    print(&litmus::report::text(&answers));
    if let Some(path) = json {
        write(path, &format!("{:#}\n", litmus::report::json(&answers)))?;
    }
    if answers.iter().any(|answer| answer.result.is_err()) {
        return Err(Stop::BadInput("not every file could be answered".to_owned()));
    }
    let all_agree = answers.iter().all(|answer| answer.agrees() != Some(false));
    if all_agree { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// The models that `names` name, each once, in reading order.
fn select(names: &[String]) -> Result<Vec<&'static Model>, Stop> {
    all_named(names)?;
    let mut selected = Vec::new();
    for name in names {
        let models = model::matching(name);
        if models.is_empty() {
            return Err(Stop::BadInput(format!("there is no model `{name}`; there are\n{}", table::all_names())));
        }
        selected.extend(models.iter().map(|model| model.name));
    }
    Ok(model::all().filter(|model| selected.contains(&model.name)).collect())
}

/// Every name has an empty one in it.
fn all_named(names: &[String]) -> Result<(), Stop> {
    match names.iter().any(|name| name.trim().is_empty()) {
        true => Err(Stop::BadInput("a NAME is empty, and would name everything".to_owned())),
        false => Ok(()),
    }
}

fn unknown_mutant(name: &str) -> Stop {
    let all: Vec<String> = mutant::all().map(|mutant| format!("  {}", mutant.name)).collect();
    Stop::BadInput(format!("there is no mutant `{name}`; there are\n{}", all.join("\n")))
}

fn orders(models: &[&'static Model], how: &How, mutant: Option<&Mutant>) -> Vec<Order> {
    let order = |model: &Model, run: &Run| {
        let bounds = if how.deep { run.deep } else { run.bounds };
        Order::new(model.name, run.engine, bounds, mutant.map(|mutant| mutant.name), how.seed)
    };
    let mut orders = Vec::new();
    for model in models {
        if how.engine.is_empty() {
            orders.extend(model.runs.iter().map(|run| order(model, run)));
        }
        for engine in &how.engine {
            let mut runs: Vec<Run> = model.runs.iter().filter(|run| run.engine == *engine).copied().collect();
            if runs.is_empty() {
                runs.push(model::usual(*engine));
            }
            orders.extend(runs.iter().map(|run| order(model, run)));
        }
    }
    orders
}

fn kill_orders(mutants: &[&'static Mutant], how: &How) -> Vec<(&'static Mutant, Order)> {
    let mut orders = Vec::new();
    for mutant in mutants {
        for (name, engine) in mutant.killed_by {
            let run = model::find(name).and_then(|model| model.run_on(*engine));
            let bounds = run.unwrap_or_else(|| model::usual(*engine)).bounds;
            orders.push((*mutant, Order::new(name, *engine, bounds, Some(mutant.name), how.seed)));
        }
    }
    orders
}

fn row(order: Order, outcome: Option<Outcome>) -> Row {
    let model = model::find(&order.model).expect("orders are made from models");
    Row { model, order, outcome }
}

fn rows(orders: Vec<Order>, outcomes: Vec<Outcome>) -> Vec<Row> {
    orders.into_iter().zip(outcomes).map(|(order, outcome)| row(order, Some(outcome))).collect()
}

fn kills(orders: Vec<(&'static Mutant, Order)>, outcomes: Vec<Outcome>) -> Vec<Kill> {
    let kill = |((mutant, order), outcome)| Kill { mutant, order, outcome };
    orders.into_iter().zip(outcomes).map(kill).collect()
}

/// Plays mutants against the models that must kill them.
fn run_kills(orders: Vec<(&'static Mutant, Order)>, how: &How) -> Vec<Kill> {
    let only_orders: Vec<Order> = orders.iter().map(|(_, order)| order.clone()).collect();
    kills(orders, run_all(&only_orders, how))
}

/// Runs them with a progress bar; with plain lines if nobody watches a terminal.
fn run_all(orders: &[Order], how: &How) -> Vec<Outcome> {
    let jobs = how.jobs();
    // Fewer models than cores: one that can use several does.
    let each = NonZeroUsize::new(jobs / orders.len().max(1)).unwrap_or(NonZeroUsize::MIN);
    let orders: Vec<Order> = orders.iter().map(|order| Order { jobs: each, ..order.clone() }).collect();
    let orders = orders.as_slice();
    let bar = bar(orders.len());
    let clock = Instant::now();
    let mut explored = vec![0; orders.len()];
    let mut parts = vec![None; orders.len()];
    let mut running: Vec<usize> = Vec::new();
    let mut done = 0;
    let outcomes = job::run_all(orders, jobs, |event| {
        match event {
            Event::Begun(i) => running.push(i),
            Event::Progress(i, n, part) => (explored[i], parts[i]) = (n, part),
            Event::Done(i, outcome) => {
                explored[i] = outcome.executions + outcome.redundant;
                running.retain(|other| *other != i);
                done += 1;
                plain_line(&bar, done, &orders[i], orders.len(), outcome);
            }
        }
        let sum: u64 = explored.iter().sum();
        let rate = sum as f64 / clock.elapsed().as_secs_f64().max(0.001);
        let names: Vec<String> = running.iter().map(|&i| short(&orders[i]) + &percent(parts[i])).collect();
        let sum = output::thousands(sum);
        bar.set_message(format!("{sum} executions, {}/s: {}", output::thousands(rate as u64), names.join(", ")));
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    outcomes
}

/// About so much is done.
fn percent(part: Option<f64>) -> String {
    part.map(|part| format!(" {:.0} %", part * 100.0)).unwrap_or_default()
}

fn bar(jobs: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{elapsed:>4} {bar:30} {pos}/{len} {wide_msg}");
    let bar = ProgressBar::new(jobs as u64);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

fn plain_line(bar: &ProgressBar, done: usize, order: &Order, of: usize, outcome: &Outcome) {
    if !bar.is_hidden() {
        return;
    }
    let said = match (&order.mutant, outcome.verdict) {
        (Some(name), Verdict::Failed) => format!("killed    {name} by "),
        (Some(name), _) => format!("SURVIVED  {name} before "),
        (None, verdict) => format!("{:8}  ", verdict.to_string()),
    };
    let (n, seconds) = (output::thousands(outcome.executions), outcome.seconds);
    eprintln!("[{done:3}/{of}] {said}{}: {n} executions, {seconds:.1} s", short(order));
}

fn short(order: &Order) -> String {
    format!("{} ({})", order.model.rsplit("::").next().unwrap_or(&order.model), order.engine)
}

/// Prints the table, and a picture of each failure. Does all hold?
fn print_rows(rows: &[Row], how: &How) -> Result<bool, Stop> {
    print(&output::painted(&table::text(rows)));
    let gaps = table::gaps(rows);
    if !gaps.is_empty() {
        print("\nreached by a complete engine, but missed by loom (within its bounds)\n");
        gaps.iter().for_each(|gap| print(&format!("  {gap}\n")));
    }
    if let Some(path) = &how.json {
        write(path, &format!("{:#}\n", table::rows_json(rows)))?;
    }
    if let Some(path) = &how.readme {
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let text = table::between_markers(&text, &table::markdown(rows));
        write(path, &text.map_err(|error| format!("{}: {error}", path.display()))?)?;
    }
    for row in rows.iter().filter(|row| !row.holds()) {
        let Some(schedule) = row.outcome.as_ref().and_then(|outcome| schedule(&row.order, outcome)) else { continue };
        print(&format!("\nFAILED {}", schedule.picture()));
        if schedule.failure.script.is_some() {
            match schedule.write(&how.schedules) {
                Ok(path) => print(&format!("\nplay it again: cargo verify replay {}\n", path.display())),
                Err(error) => eprintln!("cannot write the schedule to {}: {error}", how.schedules.display()),
            }
        }
    }
    Ok(rows.iter().all(Row::holds))
}

fn print_kills(kills: &[Kill]) -> bool {
    if !kills.is_empty() {
        print(&output::painted(&table::kills_text(kills)));
    }
    kills.iter().all(|kill| kill.verdict() == "killed")
}

fn schedule(order: &Order, outcome: &Outcome) -> Option<Schedule> {
    Some(Schedule::new(order, outcome.failure.clone()?))
}

fn summary(rows: &[Row], kills: &[Kill], time: Duration) {
    let count = |verdict: Verdict| {
        let n = rows.iter().filter(|row| row.outcome.as_ref().is_some_and(|o| o.verdict == verdict)).count();
        (n > 0).then(|| format!("{n} {verdict}"))
    };
    let all = [Verdict::Proved, Verdict::Explored, Verdict::Bounded, Verdict::Sampled, Verdict::Failed];
    let mut parts: Vec<String> = all.into_iter().filter_map(count).collect();
    let killed = kills.iter().filter(|kill| kill.verdict() == "killed").count();
    if !kills.is_empty() {
        parts.push(format!("{killed} of {} kills of wrong variants", kills.len()));
    }
    let outcomes = rows.iter().filter_map(|row| row.outcome.as_ref()).chain(kills.iter().map(|kill| &kill.outcome));
    let executions: u64 = outcomes.map(|outcome| outcome.executions + outcome.redundant).sum();
    let executions = output::thousands(executions);
    print(&format!("\n{}; {executions} executions in {:.0} s\n", parts.join(", "), time.as_secs_f64()));
}

/// Before hours are spent: can the results be written, and is there what they are to be compared with?
fn check_files(how: &How) -> Result<(), Stop> {
    if let Some(path) = &how.against {
        record::read(path)?;
    }
    for path in how.json.iter().chain(&how.readme).chain(&how.record) {
        let exists = path.exists();
        let opened = fs::OpenOptions::new().append(true).create(true).open(path);
        opened.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        if !exists {
            // It was made only to see whether it can be; a run that is interrupted leaves nothing behind.
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Stop> {
    fs::write(path, text).map_err(|error| Stop::BadInput(format!("cannot write {}: {error}", path.display())))
}
