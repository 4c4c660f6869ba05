//! `cargo verify mutants`.

use crate::matrix::{self, Accused, Patience, Step, Tried};
use crate::survivors::{self, Survivors};
use crate::{
    How, Stop, all_named, bar, check_files, kill_orders, print, print_kills, run_kills, schedule, unknown_mutant, write,
};
use clap::{Args, ValueEnum};
use spinpark_verification::fnv;
use spinpark_verification::model::{self, Model};
use spinpark_verification::mutant::{self, Mutant};
use spinpark_verification::publish::record::Fate;
use spinpark_verification::report;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What is asked.
#[derive(Args)]
pub(crate) struct Asked {
    /// Only those whose names contain one of these. A name with a slash is a place in the kernel: `kernel/runq.rs`; one
    /// without is a wrong twin's: `stw-no-stopper-fence`.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Only of this sort; may be given several times. Default: all.
    #[arg(long, value_enum, value_name = "SORT")]
    sort: Vec<Asking>,
    /// Only lists them.
    #[arg(long)]
    list: bool,
    /// Prints the schedule that kills each wrong twin.
    #[arg(long)]
    show: bool,
    /// Keeps what is found out in this file, a line each, and goes on from there if it exists.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Tries those too of which it is known that they live, and writes the names of the steps that do and are not explained
    /// to this file: `verification/open-steps.txt`.
    #[arg(long, value_name = "FILE")]
    open: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Asking {
    /// Wrong twins, written by hand.
    Twin,
    /// Weaker orderings, and atomic steps that are torn.
    Ordering,
    /// Steps of the source.
    Step,
}

impl Asked {
    fn wants(&self, sort: Asking) -> bool {
        let is_place = |name: &String| name.contains('/');
        let is_meant = match sort {
            Asking::Twin => self.names.is_empty() || !self.names.iter().all(is_place),
            _ => self.names.is_empty() || self.names.iter().any(is_place),
        };
        if self.sort.is_empty() { is_meant } else { self.sort.contains(&sort) }
    }

    fn names(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }
}

pub(crate) fn run(asked: &Asked) -> Result<(), Stop> {
    asked.how.refuse("mutants", &["--engine", "--schedules", "--readme", "--record", "--against"])?;
    all_named(&asked.names)?;
    check_files(&asked.how)?;
    let twins: Vec<&Mutant> =
        mutant::all().filter(|twin| asked.wants(Asking::Twin) && asked.names(twin.name)).collect();
    if asked.list {
        return list(asked, &twins);
    }
    let mut holds = true;
    let mut found = twins.len();
    let mut json = Vec::new();
    if !twins.is_empty() {
        let (all_killed, objects) = try_twins(&twins, asked);
        holds &= all_killed;
        json.extend(objects);
    }
    let others = [Asking::Ordering, Asking::Step].into_iter().filter(|sort| asked.wants(*sort));
    for sort in others {
        let tried =
            try_sort(sort, &asked.how, asked.open.is_some(), asked.resume.as_deref(), &|name| asked.names(name))?;
        found += tried.len();
        holds &= print_matrix(sort, &tried, &Survivors::read()?);
        if let (Some(path), Asking::Step) = (&asked.open, sort) {
            write_open(path, &tried)?;
        }
        json.extend(tried.iter().map(|tried| serde_json::to_value(tried).expect("a record is plain data")));
    }
    if found == 0 {
        return Err(unknown_mutant(&asked.names.join(" ")));
    }
    if let Some(path) = &asked.how.json {
        write(path, &format!("{:#}\n", serde_json::Value::from(json)))?;
    }
    if holds { Ok(()) } else { Err(Stop::DoesNotHold) }
}

fn list(asked: &Asked, twins: &[&Mutant]) -> Result<(), Stop> {
    twins.iter().for_each(|twin| print(&format!("{:36} {}\n", twin.name, twin.what)));
    if asked.sort.contains(&Asking::Step) {
        for step in steps(&build()?)?.iter().filter(|step| asked.names(&step.file)) {
            let Step { file, line, kind, before, after, .. } = step;
            print(&format!("{file}:{line} {kind}: {before} => {after}\n"));
        }
    }
    Ok(())
}

fn try_twins(twins: &[&'static Mutant], asked: &Asked) -> (bool, Vec<serde_json::Value>) {
    let kills = run_kills(kill_orders(twins, &asked.how), &asked.how);
    if asked.show {
        for kill in &kills {
            if let Some(schedule) = schedule(&kill.order, &kill.outcome) {
                print(&format!("\n{}: {}\n{}", kill.mutant.name, kill.mutant.what, schedule.picture()));
            }
        }
    }
    let json = match report::kills_json(&kills) {
        serde_json::Value::Array(objects) => objects,
        other => vec![other],
    };
    (print_kills(&kills), json)
}

/// All mistakes of one sort, tried.
pub(crate) fn try_sort(
    sort: Asking,
    how: &How,
    with_known: bool,
    resume: Option<&Path>,
    is_asked: &dyn Fn(&str) -> bool,
) -> Result<Vec<Tried>, Stop> {
    let jobs = how.jobs();
    let mut patience = if how.deep { Patience::DEEP } else { Patience::QUICK };
    patience.tries_known |= with_known;
    let program = match sort {
        Asking::Step => build()?,
        _ => std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?,
    };
    let models: Vec<&'static Model> = model::all().collect();
    let what = if sort == Asking::Step { "steps" } else { "orderings" };
    let survey_bar = bar(models.len());
    let survey = matrix::survey(&program, &models, how.seed, patience, jobs, |done, all, name| {
        survey_bar.set_length(all as u64);
        survey_bar.set_position(done as u64);
        survey_bar.set_message(format!("who comes by which {what}: {name}"));
    })?;
    survey_bar.finish_and_clear();
    let accused = match sort {
        Asking::Step => matrix::steps(&steps(&program)?, &survey),
        _ => matrix::accesses(&survey),
    };
    let accused: Vec<Accused> = accused.into_iter().filter(|accused| is_asked(&accused.record.name)).collect();
    let order: BTreeMap<String, usize> =
        accused.iter().enumerate().map(|(i, accused)| (accused.record.name.clone(), i)).collect();
    let mut kept = Kept::open(resume, how.deep)?;
    let mut tried = kept.take(&order);
    let known: BTreeSet<&str> = tried.iter().map(|tried| tried.record.name.as_str()).collect();
    let left: Vec<Accused> =
        accused.into_iter().filter(|accused| !known.contains(accused.record.name.as_str())).collect();
    let survivors = Survivors::read()?;
    let (clock, bar, all) = (Instant::now(), bar(left.len()), left.len());
    let mut counts: BTreeMap<Fate, usize> = BTreeMap::new();
    let mut done = 0;
    tried.extend(matrix::try_all(&program, left, &survey, &survivors, patience, jobs, |one| {
        done += 1;
        *counts.entry(one.record.fate).or_default() += 1;
        let so_far: Vec<String> = counts.iter().map(|(fate, n)| format!("{n} {}", word(*fate))).collect();
        bar.set_message(format!("{what}: {}", so_far.join(", ")));
        bar.set_position(done);
        if bar.is_hidden() && (done.is_multiple_of(100) || done == all as u64) {
            eprintln!("[{done}/{all}] {what}: {}; {:.0} s", so_far.join(", "), clock.elapsed().as_secs_f64());
        }
        kept.keep(one);
    })?);
    bar.finish_and_clear();
    tried.sort_by_key(|tried| order.get(&tried.record.name).copied());
    Ok(tried)
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Killed => "killed",
        Fate::Argued => "argued",
        Fate::Survived => "SURVIVED",
        Fate::Unreached => "NOT REACHED",
    }
}

/// Builds the mutated kernel with its models. Its program.
fn build() -> Result<PathBuf, Stop> {
    let here = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let target = here.ancestors().nth(2).map(|target| target.join("mutants"));
    let target = target.ok_or_else(|| "this program lies in no target folder".to_owned())?;
    let manifest = Path::new("verification/mutants/Cargo.toml");
    if !manifest.exists() {
        return Err(Stop::BadInput(format!(
            "there is no {} here: run it at the root of the project",
            manifest.display()
        )));
    }
    if std::io::stderr().is_terminal() {
        eprintln!("building the mutated kernel, which takes some minutes the first time");
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--manifest-path"]).arg(manifest).arg("--target-dir").arg(&target);
    let status = cargo.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        let hint = "if the kernel has changed, a new mistake may not compile: in verification/mutants, \
                    `cargo run -p spinpark-mutator --bin prune` leaves it out";
        return Err(Stop::BadInput(format!("the mutated kernel does not build; {hint}")));
    }
    let mut program = target.join("debug").join("mutants");
    program.set_extension(std::env::consts::EXE_EXTENSION);
    Ok(program)
}

fn steps(program: &Path) -> Result<Vec<Step>, Stop> {
    let output = Command::new(program).arg("list").output();
    let output = output.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let step = |line: &str| serde_json::from_str(line).map_err(|error| Stop::BadInput(error.to_string()));
    String::from_utf8_lossy(&output.stdout).lines().map(step).collect()
}

/// Those that live and are not explained, for the next run to know.
fn write_open(path: &Path, tried: &[Tried]) -> Result<(), Stop> {
    let header = include_str!("../../open-steps.txt").lines().filter(|line| line.starts_with('#'));
    let names = tried.iter().filter(|tried| tried.record.fate.is_unexplained()).map(|tried| tried.record.name.as_str());
    write(path, &header.chain(names).flat_map(|line| [line, "\n"]).collect::<String>())
}

fn print_matrix(sort: Asking, tried: &[Tried], survivors: &Survivors) -> bool {
    let open = survivors::open();
    let count = |fate: Fate| tried.iter().filter(|tried| tried.record.fate == fate).count();
    let name = if sort == Asking::Step { "steps" } else { "orderings" };
    print(&format!("\n{name}: {} mistakes\n", tried.len()));
    // An argument that is too wide would hide what lives next.
    let dies = |tried: &&Tried| tried.record.fate == Fate::Killed && survivors.reason(&tried.record).is_some();
    tried.iter().filter(dies).for_each(|tried| print(&format!("  argued, and yet it dies: {}\n", tried.record.name)));
    for fate in [Fate::Survived, Fate::Unreached] {
        for tried in tried.iter().filter(|tried| tried.record.fate == fate) {
            let line = tried.record.line.map(|line| format!(":{line}")).unwrap_or_default();
            let noticed = match (tried.noticed, open.contains(tried.record.name.as_str())) {
                (_, true) => " (open)",
                (true, false) => " (the counts show it)",
                (false, false) => "",
            };
            print(&format!("  {:11} {}{line} {}{noticed}\n", word(fate), tried.record.file, tried.record.what));
        }
    }
    let noticed = tried.iter().filter(|tried| tried.noticed && tried.record.fate == Fate::Survived).count();
    let [killed, argued, survived, unreached] =
        [Fate::Killed, Fate::Argued, Fate::Survived, Fate::Unreached].map(count);
    print(&format!(
        "{name}: {killed} of {} killed, {argued} argued, {survived} survived ({noticed} of them show in the counts), {unreached} not reached\n",
        tried.len()
    ));
    let mut unexplained = tried.iter().filter(|tried| tried.record.fate.is_unexplained());
    unexplained.all(|tried| open.contains(tried.record.name.as_str()))
}

/// What was found out, kept in a file as it comes.
struct Kept {
    file: Option<File>,
    found: Vec<Tried>,
}

impl Kept {
    fn open(path: Option<&Path>, deep: bool) -> Result<Kept, Stop> {
        let Some(path) = path else { return Ok(Kept { file: None, found: Vec::new() }) };
        let say = |error: std::io::Error| Stop::BadInput(format!("cannot use {}: {error}", path.display()));
        let header = format!("spinpark mutants {} {deep}", fingerprint());
        let mut found = Vec::new();
        if path.exists() {
            let mut lines = BufReader::new(File::open(path).map_err(say)?).lines();
            if lines.next().and_then(Result::ok).as_deref() != Some(header.as_str()) {
                let why = "is of another kernel, or of another depth: remove it, or name another";
                return Err(Stop::BadInput(format!("{} {why}", path.display())));
            }
            // The last line may be torn.
            found.extend(lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()));
        } else {
            fs::write(path, format!("{header}\n")).map_err(say)?;
        }
        let file = File::options().append(true).open(path).map_err(say)?;
        Ok(Kept { file: Some(file), found })
    }

    fn take(&mut self, asked: &BTreeMap<String, usize>) -> Vec<Tried> {
        self.found.extract_if(.., |tried| asked.contains_key(&tried.record.name)).collect()
    }

    fn keep(&mut self, tried: &Tried) {
        if let Some(file) = &mut self.file {
            let line = serde_json::to_string(tried).expect("a record is plain data");
            // It is there to save time; without it nothing is wrong.
            let _ = writeln!(file, "{line}");
        }
    }
}

/// The sources that were looked at, in a number.
fn fingerprint() -> u64 {
    fnv::hash(mutant::SOURCES.iter().flat_map(|(_, text)| text.bytes()))
}
