//! `cargo verify fuzz`: random programs against the kernel, for as long as you like.

use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use spinpark_proptests::fuzz::{self, Order, Total};
use spinpark_proptests::regression::{self, Regression};
use spinpark_proptests::rooms::{self, Entry};
use spinpark_verification::checker::invariants::INVARIANTS;
use spinpark_verification::command_line::{self, Stop};
use spinpark_verification::schedule::Replayed;
use spinpark_verification::{job, output};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// `println`, but for a reader that has gone away.
macro_rules! say {
    ($($what:tt)*) => { output::print(&(format!($($what)*) + "\n")) };
}

/// Throws random concurrent programs at the rooms of spinpark's kernel, and at the whole scheduler.
///
/// Each program is played under many schedules, by shuttle's schedulers, over store buffers, or on real cores. What
/// fails is made shorter until each operation is needed, printed in columns, and written to a file that `fuzz replay`
/// plays again. A run that found nothing has sampled; it has proved nothing. The table at the end says which rare paths
/// were reached, and which never were.
///
/// Exit status: 0 if nothing was found, 1 if something does not hold, 2 if it could not be asked that way.
#[derive(Parser)]
#[command(name = "cargo verify fuzz", bin_name = "cargo verify fuzz", version, max_term_width = 120)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Act>,
    /// Only these rooms; `fuzz list` names them.
    #[arg(value_name = "ROOM")]
    rooms: Vec<String>,
    #[command(flatten)]
    how: How,
    /// Plays a wrong variant instead of the kernel, in the rooms that must find it.
    #[arg(long, value_name = "NAME")]
    mutant: Option<String>,
    /// For how many minutes.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    minutes: f64,
}

#[derive(Args, Clone)]
struct How {
    /// How many jobs at once, up to 1024. Default: as many as there are cores.
    #[arg(long, value_name = "N", value_parser = job::how_many)]
    jobs: Option<NonZeroUsize>,
    /// The seed; the same seed draws the same programs. Default: drawn from the clock, and printed.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// At most so many operations in a program.
    #[arg(long, value_name = "N", default_value_t = 16)]
    longest: usize,
    /// Under how many schedules each program is played.
    #[arg(long, value_name = "N", default_value_t = 60)]
    schedules: u64,
    /// Where failing programs are written.
    #[arg(long, value_name = "DIR", default_value = "programs")]
    out: PathBuf,
    /// What failed once, to be replayed first. Default: `proptests/regressions`, if it is there.
    #[arg(long, value_name = "DIR")]
    regressions: Option<PathBuf>,
    /// Writes what was done and reached to this file, as one JSON object. `-`: to the standard output, and all else to the standard
    /// error.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Act {
    /// Lists the rooms: what must hold, the rare paths, and the wrong variants that must be found.
    List,
    /// Hunts each wrong variant for a minute at most, and says how long it took and how short the program is.
    Variants {
        /// Only those whose names contain one of these.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Plays a failing program again: under its schedule, or from its seed if it has none.
    ///
    /// Exit status: 1 if it still fails, in the same way or in another; 0 if it no longer does; 2 if it does not fit: the
    /// schedule is one of another kernel, or the file is damaged.
    Replay {
        /// The file that a failing run has written.
        file: PathBuf,
    },
    /// The process of one job. Reads it from its standard input.
    #[command(hide = true)]
    Worker,
    /// The process that plays again what failed once.
    #[command(hide = true)]
    Regressions {
        /// The folder.
        folder: PathBuf,
    },
}

/// What failed once.
const REGRESSIONS: &str = "proptests/regressions";

/// In minutes.
const A_YEAR: f64 = 365.0 * 24.0 * 60.0;

fn main() -> ExitCode {
    command_line::main(command)
}

fn command(cli: Cli) -> Result<ExitCode, Stop> {
    let done = match cli.command {
        None => hunt(&cli),
        Some(Act::List) => {
            list();
            Ok(())
        }
        Some(Act::Variants { names, how }) => variants(&names, &how),
        Some(Act::Replay { file }) => replay(&file),
        Some(Act::Regressions { folder }) => replay_all(&folder),
        Some(Act::Worker) => fuzz::worker().map_err(Stop::BadInput),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn hunt(cli: &Cli) -> Result<(), Stop> {
    if !(cli.minutes > 0.0 && cli.minutes <= A_YEAR) {
        let most = "such as 0.5, and not more than a year's";
        return Err(Stop::BadInput(format!("--minutes is {}: give a number above 0, {most}", cli.minutes)));
    }
    let how = &cli.how;
    check(how)?;
    let rooms = asked(&cli.rooms, cli.mutant.as_deref())?;
    let regressions = how.regressions.as_deref().unwrap_or(REGRESSIONS.as_ref());
    let holds = cli.mutant.is_some() || replayed(regressions)?;
    let (seed, jobs) = (seed(how), jobs(how));
    say!("seed {seed}, {jobs} jobs, {} rooms", rooms.len());
    let order = |job: usize| Order {
        // Each job begins in another room.
        rooms: (0..rooms.len()).map(|i| rooms[(i + job) % rooms.len()].name.to_owned()).collect(),
        mutant: cli.mutant.clone(),
        seed: seed.wrapping_add(job as u64),
        seconds: cli.minutes * 60.0,
        longest: how.longest,
        schedules: how.schedules,
    };
    let orders: Vec<Order> = (0..jobs).map(order).collect();
    let bar = Bar::new(cli.minutes * 60.0);
    let total = fuzz::run(&orders, |total| bar.tell(total, &rooms))?;
    bar.finish();
    print_total(&total, &rooms);
    if let Some(path) = &how.json {
        let text = serde_json::json!({ "seed": seed, "rooms": total.rooms, "found": total.found });
        output::write(path, &format!("{text:#}\n"))?;
    }
    for found in &total.found {
        print_found(found, &how.out);
    }
    for death in &total.died {
        say!("a job's process died ({death}); what it did last is not known");
    }
    if holds && total.found.is_empty() && total.died.is_empty() { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// Before minutes are spent: are the numbers sane?
fn check(how: &How) -> Result<(), Stop> {
    if how.longest == 0 || how.longest > 100 {
        return Err(Stop::BadInput(format!("--longest is {}: give 1 to 100", how.longest)));
    }
    if how.json.as_deref() == Some(Path::new(output::STANDARD_OUTPUT)) {
        output::take();
    }
    if let Some(folder) = how.regressions.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Stop::BadInput(format!("--regressions is {}, and there is no such folder", folder.display())));
    }
    if how.schedules == 0 {
        return Err(Stop::BadInput("--schedules is 0: give 1 or more, or nothing is played".to_owned()));
    }
    Ok(())
}

fn seed(how: &How) -> u64 {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    how.seed.unwrap_or_else(clock)
}

fn jobs(how: &How) -> usize {
    how.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

fn asked(names: &[String], mutant: Option<&str>) -> Result<Vec<&'static Entry>, Stop> {
    if let Some(name) = names.iter().find(|name| rooms::find(name).is_none()) {
        let all: Vec<&str> = rooms::ALL.iter().map(|room| room.name).collect();
        return Err(Stop::BadInput(format!("there is no room `{name}`; there are {}", all.join(", "))));
    }
    let is_needspinning = |room: &&Entry| names.is_empty() || names.iter().any(|name| name == room.name);
    let finds = |room: &&Entry| mutant.is_none_or(|mutant| room.falls.contains(&mutant));
    let rooms: Vec<&Entry> = rooms::ALL.iter().filter(is_needspinning).filter(finds).collect();
    match (rooms.is_empty(), mutant) {
        (true, Some(mutant)) => Err(Stop::BadInput(format!(
            "no such room must find the wrong variant `{mutant}`; see `cargo verify fuzz list`"
        ))),
        _ => Ok(rooms),
    }
}

/// Plays programs, some of which panic, as they must: what is wrong with them is said elsewhere.
fn quietly<T>(play: impl FnOnce() -> T) -> T {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let played = play();
    std::panic::set_hook(hook);
    played
}

/// What failed once must fail no more; with its wrong variant, it must still fail. Is it so? In a process of its own: what is played
/// there panics, as it must, and shuttle says so whatever the hook is.
fn replayed(folder: &Path) -> Result<bool, Stop> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut command = Command::new(program);
    let output = command.arg("regressions").arg(folder).stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot start a process: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(code @ (0 | 1)) => {
            output::print(&said);
            Ok(code == 0)
        }
        _ => Err(Stop::BadInput(format!("{}: {}{}", folder.display(), said, output.status))),
    }
}

/// That process.
fn replay_all(folder: &Path) -> Result<(), Stop> {
    let files = regression::files_in(folder)?;
    let mut holds = true;
    for file in &files {
        let wrong = match Regression::read(file).and_then(|regression| regression.is_as_it_should_be()) {
            Ok(found) => found.err(),
            Err(why) => {
                say!("{why}");
                return Err(Stop::BadInput(why));
            }
        };
        holds &= wrong.is_none();
        wrong.into_iter().for_each(|wrong| say!("{}: {wrong}", file.display()));
    }
    if !files.is_empty() {
        say!("replayed {} programs that failed once", files.len());
    }
    if holds { Ok(()) } else { Err(Stop::DoesNotHold) }
}

fn replay(file: &Path) -> Result<(), Stop> {
    let regression = Regression::read(file)?;
    let was = regression.failure.message.trim_end();
    let (replayed, misfit) = quietly(|| regression.replay());
    let (failure, said) = match replayed {
        Replayed::FailsTheSame(failure) => (failure, "It still fails, in the same way.".to_owned()),
        Replayed::FailsOtherwise(failure) => {
            let how = misfit.map(|why| format!("Its schedule does not fit: {why}; from its seed it fails. "));
            (failure, format!("{}It fails, but in another way. It said before:\n  {was}", how.unwrap_or_default()))
        }
        Replayed::Passes => {
            say!("{}\nIt no longer fails.", regression.picture.join("\n"));
            return Ok(());
        }
        Replayed::DoesNotFit(why) => return Err(Stop::BadInput(format!("{}: {why}", file.display()))),
    };
    say!("{}", regression.picture.join("\n"));
    say!("{}", regression.schedule(&failure).picture());
    say!("{said}");
    Err(Stop::DoesNotHold)
}

fn variants(names: &[String], how: &How) -> Result<(), Stop> {
    check(how)?;
    let is_needspinning = |name: &&str| names.is_empty() || names.iter().any(|asked| name.contains(asked.as_str()));
    let pairs: Vec<(&Entry, &str)> = rooms::ALL
        .iter()
        .flat_map(|room| room.falls.iter().copied().filter(is_needspinning).map(move |mutant| (room, mutant)))
        .collect();
    if pairs.is_empty() {
        return Err(Stop::BadInput(format!(
            "no wrong variant's name contains `{}`; see `fuzz list`",
            names.join("` or `")
        )));
    }
    let (seed, jobs) = (seed(how), jobs(how));
    say!("seed {seed}, {jobs} jobs, at most 60 s each\n");
    say!("{:12} {:36} {:>8} {:>11}  seen", "room", "wrong variant", "seconds", "operations");
    let mut is_good = true;
    for (room, mutant) in pairs {
        let clock = Instant::now();
        let order = |job: usize| Order {
            rooms: vec![room.name.to_owned()],
            mutant: Some(mutant.to_owned()),
            seed: seed.wrapping_add(job as u64),
            seconds: 60.0,
            longest: how.longest,
            schedules: how.schedules,
        };
        let orders: Vec<Order> = (0..jobs).map(order).collect();
        let total = fuzz::run(&orders, |_| ())?;
        let seconds = clock.elapsed().as_secs_f64();
        let Some(found) = total.found.first() else {
            say!("{:12} {mutant:36} {seconds:8.1} {:>11}  NOT FOUND", room.name, "");
            is_good = false;
            continue;
        };
        let line = found.failure.message.lines().next().unwrap_or_default();
        say!("{:12} {mutant:36} {seconds:8.1} {:11}  {line}", room.name, found.operations);
        is_good &= found.operations <= 12 && found.mutant.as_deref() == Some(mutant);
        found.write(&how.out).map_err(|error| format!("cannot write to {}: {error}", how.out.display()))?;
    }
    say!("\nthe programs are in {}", how.out.display());
    if is_good { Ok(()) } else { Err(Stop::DoesNotHold) }
}

fn list() {
    let mut text = String::new();
    for room in rooms::ALL {
        let engines: Vec<&str> = room.engines.iter().map(|engine| engine.name()).collect();
        text.push_str(&format!("{}: {}\n  played by {}\n", room.name, room.claim, engines.join(", ")));
        room.paths.iter().for_each(|path| text.push_str(&format!("  path  {path}\n")));
        room.falls.iter().for_each(|mutant| text.push_str(&format!("  finds {mutant}\n")));
    }
    output::print(&text);
}

fn print_total(total: &Total, rooms: &[&Entry]) {
    say!("\n{:12} {:>9} {:>11} {:>8}", "room", "programs", "schedules", "seconds");
    for room in rooms {
        let slice = total.rooms.get(room.name).cloned().unwrap_or_default();
        say!("{:12} {:9} {:11} {:8.1}", room.name, slice.programs, slice.schedules, slice.seconds);
    }
    say!("\n{:>11}  rare path", "times");
    for (room, path) in rooms.iter().flat_map(|room| room.paths.iter().map(move |path| (room, path))) {
        say!("{:11}  {}: {path}", total.reached(room.name, path), room.name);
    }
    let checked = |says: &str| total.rooms.values().filter_map(|slice| slice.reached.get(says)).sum::<u64>();
    if rooms.iter().any(|room| matches!(room.name, "sched" | "hogs" | "cores")) {
        say!("\n{:>11}  invariant of the whole scheduler", "looked at");
        for invariant in INVARIANTS {
            say!("{:11}  {:2} {}", checked(invariant.says), invariant.number, invariant.says);
        }
    }
    let never = never_reached(total, rooms);
    match never.len() {
        0 => say!("\nevery rare path was reached"),
        n => say!("\n{n} rare paths were never reached:\n  {}", never.into_iter().collect::<Vec<_>>().join("\n  ")),
    }
}

fn never_reached(total: &Total, rooms: &[&Entry]) -> BTreeSet<String> {
    let paths = rooms.iter().flat_map(|room| room.paths.iter().map(move |path| (room.name, *path)));
    paths.filter(|(room, path)| total.reached(room, path) == 0).map(|(room, path)| format!("{room}: {path}")).collect()
}

fn print_found(found: &Regression, out: &Path) {
    let variant = found.mutant.as_ref().map(|name| format!(", with the wrong variant {name}")).unwrap_or_default();
    say!("\nFOUND in {}{variant}: {} operations\n{}", found.room, found.operations, found.picture.join("\n"));
    say!("{}", found.schedule(&found.failure).picture());
    match found.write(out) {
        Ok(path) => say!("play it again: cargo verify fuzz replay {}", path.display()),
        Err(error) => eprintln!("cannot write the program to {}: {error}", out.display()),
    }
}

/// How far it is: a bar on a terminal, else a line every ten seconds.
struct Bar {
    bar: ProgressBar,
    start: Instant,
    last: std::cell::Cell<Instant>,
}

impl Bar {
    fn new(seconds: f64) -> Bar {
        let bar =
            if std::io::stderr().is_terminal() { ProgressBar::new(seconds as u64) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{elapsed:>4} {bar:24} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar { bar, start: Instant::now(), last: std::cell::Cell::new(Instant::now()) }
    }

    fn tell(&self, total: &Total, rooms: &[&Entry]) {
        let (programs, schedules) = total.sums();
        let seconds = self.start.elapsed().as_secs_f64();
        let all: usize = rooms.iter().map(|room| room.paths.len()).sum();
        let reached = all - never_reached(total, rooms).len();
        let rate = schedules as f64 / seconds.max(0.001);
        let text =
            format!("{programs} programs, {schedules} schedules, {rate:.0}/s; {reached} of {all} rare paths reached");
        self.bar.set_position(seconds as u64);
        if self.bar.is_hidden() && self.last.get().elapsed() > Duration::from_secs(10) {
            self.last.set(Instant::now());
            eprintln!("[{seconds:4.0} s] {text}");
        }
        self.bar.set_message(text);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
