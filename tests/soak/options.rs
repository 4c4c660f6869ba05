//! The command line, and the cases.

use crate::child::{self, PLAY};
use crate::hunt::{Hunt, hunt};
use crate::ping_pong;
use crate::regression::{self, Regression};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Plays random programs over spinpark's public API on real cores, each in a process of its own.
///
/// Each program is made such that it ends. If nothing goes on in one, or a sum is wrong, or its process dies, it is made
/// shorter, printed with the waiting tasks, and written to a file that `--replay` plays again. A run that found nothing has
/// sampled; it has proved nothing.
///
/// Cases: `regressions` replays what failed once; `ping_pong_pairs` asks whether any of eight pairs is ever stuck for a
/// second; `random_programs` is the rest of the time. Exit status: 0 if nothing was found, 1 if something does not hold, 2
/// on a usage error.
#[derive(Parser)]
#[command(name = "cargo test --test soak --", bin_name = "cargo test --test soak --", max_term_width = 120)]
struct Cli {
    /// Only the cases whose names contain one of these.
    #[arg(value_name = "CASE")]
    cases: Vec<String>,
    /// For how many seconds random programs are played. `.ci/nightly` plays them for minutes.
    #[arg(long, value_name = "N", env = "SPINPARK_SOAK_SECONDS", default_value_t = 6)]
    seconds: u64,
    /// For how many seconds eight pairs play ping-pong, with each number of Ps and each kind of goroutine: eight times in
    /// all. Default: half of `--seconds`, and at most 60; 1 if `--seconds` is at most 30.
    #[arg(long, value_name = "N", env = "SPINPARK_SOAK_PING_PONG_SECONDS")]
    ping_pong_seconds: Option<u64>,
    /// The seed; the same seed draws the same programs. Default: from the clock, and printed.
    #[arg(long, value_name = "S", env = "SPINPARK_SOAK_SEED")]
    seed: Option<u64>,
    /// After so many seconds without progress a program is stuck.
    #[arg(long, value_name = "N", env = "SPINPARK_SOAK_PATIENCE", default_value_t = 5,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
    /// For how many seconds at most a failing program is made shorter.
    #[arg(long, value_name = "N", env = "SPINPARK_SOAK_SHRINK", default_value_t = 60)]
    shrink: u64,
    /// Goes on after a failure, until the time is over.
    #[arg(long, env = "SPINPARK_SOAK_KEEP_GOING")]
    keep_going: bool,
    /// Where failing programs are written.
    #[arg(long, value_name = "DIR", env = "SPINPARK_SOAK_OUT", default_value = "target/soak")]
    out: PathBuf,
    /// Plays a failing program again, 20 times. Exit status 1 if it still fails, 0 if it no longer does.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Lists the cases.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    harness: Harness,
    #[command(flatten)]
    hidden: Hidden,
}

/// What cargo gives to every test program, and this one has no use for.
#[derive(clap::Args)]
struct Harness {
    #[arg(long, hide = true)]
    nocapture: bool,
    #[arg(long, hide = true)]
    show_output: bool,
    #[arg(long, hide = true)]
    exact: bool,
    #[arg(long, short, hide = true)]
    quiet: bool,
    #[arg(long, hide = true)]
    ignored: bool,
    #[arg(long, hide = true)]
    include_ignored: bool,
    #[arg(long, hide = true, value_name = "N")]
    test_threads: Option<String>,
    #[arg(long, hide = true, value_name = "NAME")]
    skip: Vec<String>,
    #[arg(long, hide = true, value_name = "WHEN")]
    color: Option<String>,
    #[arg(long, hide = true, value_name = "FORMAT")]
    format: Option<String>,
}

/// A child.
#[derive(clap::Args)]
struct Hidden {
    #[arg(long, hide = true, value_name = "MS")]
    play: Option<u64>,
    #[arg(long, hide = true, value_name = "PROCS,STACKFUL,MS")]
    pairs: Option<String>,
}

enum Stop {
    DoesNotHold,
    BadInput(String),
}

const CASES: [&str; 3] = ["regressions", "ping_pong_pairs", "random_programs"];

pub(crate) fn main() -> ExitCode {
    debug_assert_eq!(PLAY, "--play");
    let cli = Cli::parse();
    if let Some(ms) = cli.hidden.play {
        return child::child(Duration::from_millis(ms));
    }
    if let Some(pairs) = &cli.hidden.pairs {
        return ping_pong::child(pairs);
    }
    if cli.list {
        CASES.iter().for_each(|case| println!("{case}: test"));
        return ExitCode::SUCCESS;
    }
    match cases(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::DoesNotHold) => ExitCode::from(1),
        Err(Stop::BadInput(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn cases(cli: &Cli) -> Result<(), Stop> {
    let patience = Duration::from_secs(cli.patience);
    if let Some(file) = &cli.replay {
        return replay(file, patience);
    }
    if cli.harness.ignored && !cli.harness.include_ignored {
        return Ok(());
    }
    let names = |list: &[String], case: &str| list.iter().any(|name| case.contains(name.as_str()));
    let is_asked = |case: &str| (cli.cases.is_empty() || names(&cli.cases, case)) && !names(&cli.harness.skip, case);
    let mut holds = true;
    for case in CASES.into_iter().filter(|case| is_asked(case)) {
        let did = match case {
            "regressions" => regressions(patience)?,
            "ping_pong_pairs" => pairs(cli),
            _ => random_programs(cli, patience)?,
        };
        println!("test {case} ... {}", if did { "ok" } else { "FAILED" });
        holds &= did;
    }
    if holds { Ok(()) } else { Err(Stop::DoesNotHold) }
}

fn replay(file: &Path, patience: Duration) -> Result<(), Stop> {
    let regression = Regression::read(file).map_err(Stop::BadInput)?;
    regression.picture.iter().for_each(|line| println!("  {line}"));
    match regression.play(20, patience) {
        None => {
            println!("it holds, 20 times");
            Ok(())
        }
        Some(failure) => {
            println!("{}", failure.message);
            failure.report.iter().for_each(|line| println!("  {line}"));
            Err(Stop::DoesNotHold)
        }
    }
}

/// What failed once must fail no more.
fn regressions(patience: Duration) -> Result<bool, Stop> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soak/regressions");
    let mut holds = true;
    for file in regression::files_in(&folder).map_err(Stop::BadInput)? {
        let regression = Regression::read(&file).map_err(Stop::BadInput)?;
        if let Some(failure) = regression.play(3, patience) {
            println!("{} fails again: {}", file.display(), failure.message);
            failure.report.iter().for_each(|line| println!("  {line}"));
            holds = false;
        }
    }
    Ok(holds)
}

fn pairs(cli: &Cli) -> bool {
    // One second, eight times, where the whole may take half a minute.
    let default = if cli.seconds <= 30 { 1.min(cli.seconds) } else { (cli.seconds / 2).min(60) };
    ping_pong::all(Duration::from_secs(cli.ping_pong_seconds.unwrap_or(default)))
}

fn random_programs(cli: &Cli, patience: Duration) -> Result<bool, Stop> {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64 / 1000);
    let seed = cli.seed.unwrap_or_else(clock);
    println!("seed {seed}, {} s", cli.seconds);
    let how =
        Hunt { seed, time: Duration::from_secs(cli.seconds), patience, shrinking: Duration::from_secs(cli.shrink) };
    let (start, mut told) = (Instant::now(), Instant::now());
    let total = hunt(&how, cli.keep_going, |total, found| {
        if told.elapsed() > Duration::from_secs(60) {
            told = Instant::now();
            println!("{} programs, {} steps, {:.0?}", total.programs, total.steps, start.elapsed());
        }
        found.map_or(Ok(()), |found| keep(found, &cli.out))
    })?;
    println!(
        "{} programs, {} operations, {} steps, {:.0} s, seed {seed}: {} failed",
        total.programs,
        total.operations,
        total.steps,
        start.elapsed().as_secs_f64(),
        total.failed
    );
    // A run in which nothing is played says nothing.
    let tries = total.programs > 0 || cli.seconds == 0;
    Ok(tries && total.failed == 0)
}

/// Prints what was found, and writes it to `folder`.
fn keep(found: &Regression, folder: &Path) -> Result<(), Stop> {
    println!("\nseed {}, {} operations: {}", found.seed, found.operations, found.failure.message);
    found.picture.iter().for_each(|line| println!("  {line}"));
    found.failure.report.iter().for_each(|line| println!("    {line}"));
    let path = found.write(folder);
    let path = path.map_err(|error| Stop::BadInput(format!("cannot write to {}: {error}", folder.display())))?;
    println!("  again: cargo test --test soak -- --replay {}", path.display());
    Ok(())
}
