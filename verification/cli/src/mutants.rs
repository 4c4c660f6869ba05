//! `cargo verify mutants`.

use crate::alone;
use crate::how::How;
use crate::matrix::{self, Budget, Known, Programs, Step, Tried, Untried, sort_of};
use crate::proptest;
use crate::report::shard::Shard;
use crate::run::{all_named, kill_orders, print_kills, run_kills, schedule, unknown_mutant};
use crate::survivors::{self, Survivors};
use crate::table;
use crate::{Stop, print, progress, write};
use clap::{Args, ValueEnum};
use spinpark_verification::fnv;
use spinpark_verification::job::Order;
use spinpark_verification::kept::Kept;
use spinpark_verification::model::{self, Model};
use spinpark_verification::mutation::mutant::{self, Mutant};
use spinpark_verification::record::{Fate, MutantRecord, Sort};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What is asked.
#[derive(Args)]
pub(crate) struct Asked {
    /// Only those whose names contain one of these. A name with a slash is a place in the kernel: `queues/runq.rs`; one
    /// without is a wrong variant's: `stw-no-stopper-fence`.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Only of this sort; may be given several times. Default: all.
    #[arg(long, value_enum, value_name = "SORT")]
    sort: Vec<Asking>,
    /// Only lists them.
    #[arg(long)]
    list: bool,
    /// Prints the schedule that kills each wrong variant.
    #[arg(long)]
    show: bool,
    /// Keeps what is found out in this file, a line each, and goes on from there if it exists.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Tries those too of which it is known that they live, and writes the names of the steps that do and are not explained
    /// to this file: `verification/open-steps.txt`.
    #[arg(long, value_name = "FILE")]
    open: Option<PathBuf>,
    /// Tries only those that are argued or open: one that is killed has lost its argument, and is named.
    #[arg(long, conflicts_with = "resume")]
    argued: bool,
    /// Only one in so many, sampled with `--seed`: of the argued ones `--one-in 10` every night.
    #[arg(long, value_name = "N", conflicts_with_all = ["open", "alone", "record", "against"])]
    one_in: Option<NonZeroU64>,
    /// Tries those that no common build can have: each is built by itself, which takes some minutes the first time.
    #[arg(long, conflicts_with_all = ["argued", "resume", "sort"])]
    alone: bool,
    /// Tries only a part of them, as in 1/4; the results of all parts, put together, are those of the whole.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["open", "alone", "list", "record", "against"])]
    shard: Option<Shard>,
    #[command(flatten)]
    how: How,
}

/// Which mutants are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trying {
    /// Those of which it is not known yet that they live; one in so many of them, sampled with this seed.
    New { one_in: u64, seed: u64 },
    /// All of them.
    All,
    /// Those of which it is said that they live; one in so many of them, sampled with this seed.
    Known { one_in: u64, seed: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Asking {
    /// Wrong variants, written by hand.
    Variant,
    /// Weaker orderings, and atomic steps that are torn.
    Ordering,
    /// Steps of the source.
    Step,
    /// Mistakes of two lines, the scopes of locks, and arms that return at once. Only if it is asked for.
    Pair,
}

impl Asking {
    /// All that are not written by hand, as the record calls them.
    const fn sort(self) -> Sort {
        match self {
            Asking::Variant => Sort::Variant,
            Asking::Ordering => Sort::Ordering,
            Asking::Step => Sort::Step,
            Asking::Pair => Sort::Pair,
        }
    }

    const fn several(self) -> &'static str {
        match self {
            Asking::Variant => "variants",
            Asking::Ordering => "orderings",
            Asking::Step => "steps",
            Asking::Pair => "pairs",
        }
    }

    const fn is_of_the_source(self) -> bool {
        matches!(self, Asking::Step | Asking::Pair)
    }
}

impl Asked {
    /// Where the results go.
    pub(crate) fn json(&self) -> &Option<PathBuf> {
        &self.how.json
    }

    fn wants(&self, sort: Asking) -> bool {
        let is_place = |name: &String| name.contains('/');
        let is_meant = match sort {
            Asking::Variant => self.names.is_empty() || !self.names.iter().all(is_place),
            Asking::Pair => false,
            _ => self.names.is_empty() || self.names.iter().any(is_place),
        };
        if self.sort.is_empty() { is_meant } else { self.sort.contains(&sort) }
    }

    fn names(&self, name: &str) -> bool {
        let is_named = self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()));
        is_named && self.shard.is_none_or(|shard| shard.takes(name))
    }
}

pub(crate) fn run(asked: &Asked) -> Result<(), Stop> {
    asked.how.refuse("mutants", &["--engine", "--schedules"])?;
    all_named(&asked.names)?;
    asked.how.check_files()?;
    let wants_variants = asked.wants(Asking::Variant) && !asked.argued && !asked.alone;
    let variants: Vec<&Mutant> = mutant::all().filter(|variant| wants_variants && asked.names(variant.name)).collect();
    if asked.list {
        return list(asked, &variants);
    }
    let others: Vec<Asking> =
        [Asking::Ordering, Asking::Step, Asking::Pair].into_iter().filter(|sort| asked.wants(*sort)).collect();
    if let (Some(path), []) = (&asked.resume, others.as_slice()) {
        let why = "keeps what is found out of orderings and steps, and none is asked for";
        return Err(Stop::BadInput(format!("`--resume {}` {why}", path.display())));
    }
    if asked.resume.as_ref().is_some_and(|path| path.is_dir()) {
        return Err(Stop::BadInput("`--resume` takes a file, and this is a folder".to_owned()));
    }
    let mut holds = true;
    let mut found = variants.len();
    let (mut json, mut matrix) = (Vec::new(), Vec::new());
    if !variants.is_empty() {
        let (all_killed, objects) = try_variants(&variants, asked);
        holds &= all_killed;
        json.extend(objects);
    }
    let one_in = asked.one_in.map_or(1, NonZeroU64::get);
    let trying = match (asked.argued, &asked.open) {
        (true, _) => Trying::Known { one_in, seed: asked.how.seed },
        (false, Some(_)) => Trying::All,
        (false, None) => Trying::New { one_in, seed: asked.how.seed },
    };
    if asked.alone {
        let tried = alone::try_all(&asked.how, &|name| asked.names(name))?;
        return if print_matrix(Asking::Step, &tried, &Survivors::read()?) { Ok(()) } else { Err(Stop::DoesNotHold) };
    }
    for sort in others {
        let tried = try_sort(sort, &asked.how, trying, asked.resume.as_deref(), &|name| asked.names(name))?;
        found += tried.len();
        holds &= print_matrix(sort, &tried, &Survivors::read()?);
        matrix.extend(tried.iter().map(|tried| tried.record.clone()));
        if let (Some(path), true) = (&asked.open, sort.is_of_the_source()) {
            write_open(path, &tried, sort.sort())?;
        }
        json.extend(tried.iter().map(|tried| serde_json::to_value(tried).expect("a record is plain data")));
    }
    if found == 0 && !asked.argued && asked.shard.is_none() {
        return Err(unknown_mutant(&asked.names));
    }
    holds &= keep_and_compare(&asked.how, &matrix)?;
    if let Some(path) = &asked.how.json {
        write(path, &format!("{:#}\n", serde_json::Value::from(json)))?;
    }
    if holds { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// Compares the matrix with the one that is kept, and keeps it. Is every kill still one?
fn keep_and_compare(how: &How, matrix: &[MutantRecord]) -> Result<bool, Stop> {
    let lost = match &how.against {
        Some(path) => Kept::read(path)?.lost_kills(matrix),
        None => Vec::new(),
    };
    if !lost.is_empty() {
        print(&format!("\nkilled in the record, and not now:\n  {}\n", lost.join("\n  ")));
    }
    if let Some(path) = &how.record {
        let mut kept = Kept::read(path)?;
        kept.replace(matrix);
        kept.write(path)?;
    }
    Ok(lost.is_empty())
}

fn list(asked: &Asked, variants: &[&Mutant]) -> Result<(), Stop> {
    variants.iter().for_each(|variant| print(&format!("{:36} {}\n", variant.name, variant.what)));
    let sorts: Vec<Sort> = asked.sort.iter().filter(|sort| sort.is_of_the_source()).map(|sort| sort.sort()).collect();
    if !sorts.is_empty() {
        let steps = steps(&build()?.models)?;
        for step in steps.iter().filter(|step| sorts.contains(&sort_of(&step.name)) && asked.names(&step.file)) {
            let Step { file, line, kind, what, .. } = step;
            print(&format!("{file}:{line} {kind}: {what}\n"));
        }
    }
    Ok(())
}

fn try_variants(variants: &[&'static Mutant], asked: &Asked) -> (bool, Vec<serde_json::Value>) {
    let orders = kill_orders(variants, &asked.how);
    let read = orders.into_iter().map(|(mutant, order)| (mutant, Order { is_read: asked.show, ..order })).collect();
    let kills = run_kills(read, &asked.how);
    if asked.show {
        for kill in &kills {
            if let Some(schedule) = schedule(&kill.order, &kill.outcome) {
                print(&format!("\n{}: {}\n{}", kill.mutant.name, kill.mutant.what, schedule.picture()));
            }
        }
    }
    let json = match table::kills_json(&kills) {
        serde_json::Value::Array(objects) => objects,
        other => vec![other],
    };
    (print_kills(&kills), json)
}

/// All mutants of one sort, tried.
pub(crate) fn try_sort(
    sort: Asking,
    how: &How,
    trying: Trying,
    resume: Option<&Path>,
    is_selected: &dyn Fn(&str) -> bool,
) -> Result<Vec<Tried>, Stop> {
    let clock = Instant::now();
    let jobs = how.jobs();
    // First: a file that cannot be used is refused before anything is built or explored.
    let mut kept = Sitting::open(resume, how.deep)?;
    let mut budget = if how.deep { Budget::DEEP } else { Budget::QUICK };
    if !matches!(trying, Trying::New { .. }) {
        budget.known = Known::Tried;
    }
    let programs = match sort {
        Asking::Step | Asking::Pair => build()?,
        _ => {
            let this = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
            Programs { models: this, proptests: None }
        }
    };
    let program = &programs.models;
    let survivors = Survivors::read()?;
    let models: Vec<&'static Model> = model::all().collect();
    let what = sort.several();
    let survey_bar = progress::single(models.len());
    let survey = matrix::survey(program, &models, how.seed, budget, jobs, |done, all, name| {
        survey_bar.set_length(all as u64);
        survey_bar.set_position(done as u64);
        survey_bar.set_message(format!("coverage of each {what}: {name}"));
    })?;
    survey_bar.finish_and_clear();
    let untried = match sort {
        Asking::Step | Asking::Pair => matrix::steps(&steps(program)?, &survey, sort.sort()),
        _ => matrix::accesses(&survey),
    };
    let alone: Vec<MutantRecord> = alone::listed().map(|(_, record)| record).collect();
    let records: Vec<&MutantRecord> = untried.iter().map(|untried| &untried.record).chain(&alone).collect();
    let untrue = survivors.untrue(sort.sort(), &records);
    if !untrue.is_empty() {
        return Err(Stop::BadInput(format!("survivors.toml is not about this kernel:\n  {}", untrue.join("\n  "))));
    }
    let untried: Vec<Untried> = untried
        .into_iter()
        .filter(|untried| is_selected(&untried.record.name) && trying.takes(&untried.record, &survivors))
        .collect();
    let order: BTreeMap<String, usize> =
        untried.iter().enumerate().map(|(i, untried)| (untried.record.name.clone(), i)).collect();
    let mut tried = kept.take(&order);
    let known: BTreeSet<&str> = tried.iter().map(|tried| tried.record.name.as_str()).collect();
    let left: Vec<Untried> =
        untried.into_iter().filter(|untried| !known.contains(untried.record.name.as_str())).collect();
    let (bar, all) = (progress::single(left.len()), left.len());
    let mut counts: BTreeMap<Fate, usize> = BTreeMap::new();
    let mut done = 0;
    tried.extend(matrix::try_all(&programs, left, &survey, &survivors, budget, jobs, |one| {
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
        Fate::KilledByProptest => "killed by proptest",
        Fate::Argued => "argued",
        Fate::Survived => "SURVIVED",
        Fate::Unreached => "NOT REACHED",
    }
}

impl Trying {
    fn takes(self, record: &MutantRecord, survivors: &Survivors) -> bool {
        let is_known = || survivors.reason(record).is_some() || survivors::open().contains(record.name.as_str());
        let (is_asked, one_in, seed) = match self {
            Trying::All => return true,
            Trying::New { one_in, seed } => (true, one_in, seed),
            Trying::Known { one_in, seed } => (is_known(), one_in, seed),
        };
        is_asked && fnv::hash(seed.to_le_bytes().into_iter().chain(record.name.bytes())).is_multiple_of(one_in)
    }
}

/// Where the mutated kernel is built.
pub(crate) fn target() -> Result<PathBuf, Stop> {
    let here = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let target = here.ancestors().nth(2).map(|target| target.join("mutants"));
    Ok(target.ok_or_else(|| "this program lies in no target folder".to_owned())?)
}

/// Builds the mutated kernel with its models, and with the property tests. Their programs.
fn build() -> Result<Programs, Stop> {
    let target = target()?;
    let manifest = crate::sources()?.join("verification/mutants/Cargo.toml");
    eprintln!("building the mutated kernel, which takes some minutes the first time");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--manifest-path"]).arg(&manifest).arg("--target-dir").arg(&target);
    let status = cargo.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        let hint = "if the kernel has changed, a new mistake may not compile: in verification/mutants, \
                    `cargo run -p spinpark-mutator --bin prune` leaves it out";
        return Err(Stop::BadInput(format!("the mutated kernel does not build; {hint}")));
    }
    let mut program = target.join("debug").join("mutants");
    program.set_extension(std::env::consts::EXE_EXTENSION);
    Ok(Programs { models: program, proptests: Some(proptest::build(&manifest, &target)?) })
}

fn steps(program: &Path) -> Result<Vec<Step>, Stop> {
    let output = Command::new(program).arg("list").output();
    let output = output.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let step = |line: &str| serde_json::from_str(line).map_err(|error| Stop::BadInput(error.to_string()));
    String::from_utf8_lossy(&output.stdout).lines().map(step).collect()
}

/// Those that live and are not explained, for the next run to know. What is known of the other sort stays.
fn write_open(path: &Path, tried: &[Tried], sort: Sort) -> Result<(), Stop> {
    let header = include_str!("../../open-steps.txt").lines().filter(|line| line.starts_with('#'));
    let names = tried.iter().filter(|tried| tried.record.fate.is_unexplained()).map(|tried| tried.record.name.as_str());
    let others = survivors::open().into_iter().filter(|name| sort_of(name) != sort);
    write(path, &header.chain(others).chain(names).flat_map(|line| [line, "\n"]).collect::<String>())
}

/// So many that are argued are shown with their reasons.
const SHOWN: usize = 20;

fn print_matrix(sort: Asking, tried: &[Tried], survivors: &Survivors) -> bool {
    let open = survivors::open();
    let count = |fate: Fate| tried.iter().filter(|tried| tried.record.fate == fate).count();
    let name = sort.several();
    print(&format!("\n{name}: {} mistakes\n", tried.len()));
    // An argument that is false would hide the next survivor.
    let refuted: Vec<&MutantRecord> = tried
        .iter()
        .map(|tried| &tried.record)
        .filter(|record| record.fate.is_killed() && survivors.reason(record).is_some())
        .collect();
    for MutantRecord { name, model, .. } in &refuted {
        let killer = model.as_deref().unwrap_or("a model");
        print(&format!("  argued, and killed by {killer}: take it out of survivors.toml: {name}\n"));
    }
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
    let argued: Vec<&MutantRecord> =
        tried.iter().map(|tried| &tried.record).filter(|record| record.fate == Fate::Argued).collect();
    for MutantRecord { name, reason, .. } in argued.iter().take(SHOWN) {
        print(&format!("  {:11} {name}: {}\n", word(Fate::Argued), reason.as_deref().unwrap_or_default().trim()));
    }
    if argued.len() > SHOWN {
        let more = argued.len() - SHOWN;
        print(&format!("  {:11} {more} more; their reasons are in verification/survivors.toml\n", word(Fate::Argued)));
    }
    let noticed = tried.iter().filter(|tried| tried.noticed && tried.record.fate == Fate::Survived).count();
    let [killed, by_proptest, argued, survived, unreached] =
        [Fate::Killed, Fate::KilledByProptest, Fate::Argued, Fate::Survived, Fate::Unreached].map(count);
    print(&format!(
        "{name}: {killed} of {} killed by models, {by_proptest} by property tests, {argued} argued, {survived} survived ({noticed} of them show in the counts), {unreached} not reached\n",
        tried.len()
    ));
    let mut unexplained = tried.iter().filter(|tried| tried.record.fate.is_unexplained());
    refuted.is_empty() && unexplained.all(|tried| open.contains(tried.record.name.as_str()))
}

/// What was found out, kept in a file as it comes.
struct Sitting {
    file: Option<File>,
    found: Vec<Tried>,
}

impl Sitting {
    fn open(path: Option<&Path>, deep: bool) -> Result<Sitting, Stop> {
        let Some(path) = path else { return Ok(Sitting { file: None, found: Vec::new() }) };
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
        Ok(Sitting { file: Some(file), found })
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
pub(crate) fn fingerprint() -> u64 {
    fnv::hash(mutant::SOURCES.iter().flat_map(|(_, text)| text.bytes()))
}
