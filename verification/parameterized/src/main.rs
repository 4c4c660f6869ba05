//! Proves spinpark's protocols for every size, and shows that wrong variants are noticed. Try `--help`.

use clap::{Parser, Subcommand};
use spinpark_parameterized::finite::Finite;
use spinpark_parameterized::obligations::{self, Obligation, Verdict};
use spinpark_parameterized::page;
use spinpark_parameterized::record;
use spinpark_parameterized::said;
use spinpark_parameterized::search;
use spinpark_parameterized::smt;
use spinpark_parameterized::solver::Solver;
use spinpark_parameterized::system::{Protocol, System, Variant};
use spinpark_parameterized::{LIVENESS, PROTOCOLS};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// `println`, but for a reader that has gone away.
macro_rules! say {
    ($($what:tt)*) => { said::say(&format!($($what)*)) };
}

#[derive(Parser)]
#[command(about = "Proves spinpark's protocols for any number of Ms, Ps and Gs, by two solvers: z3 and cvc5")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// The protocols, their sizes, their invariants
    List,
    /// Asks both solvers for every obligation, and prints the verdicts (the default)
    Check {
        /// Only this protocol
        name: Option<String>,
        /// Each obligation, with its time
        #[arg(long)]
        all: bool,
        /// Only this solver
        #[arg(long, value_parser = ["z3", "cvc5"])]
        solver: Option<String>,
    },
    /// Asks both solvers, and writes down what they prove
    Record {
        /// The file
        file: PathBuf,
    },
    /// Each wrong variant: which obligation fails, and an execution that goes wrong
    Variants {
        /// Only this protocol
        name: Option<String>,
        /// Only this variant, and its execution step by step
        variant: Option<String>,
    },
    /// That each stop ends; and how far the argument goes that an M which answers for a G comes to it: what fails, each as two states
    Progress,
    /// A conjunct or a transition in SMT-LIB
    Show {
        /// The protocol
        name: String,
        /// Its conjunct or transition
        what: String,
    },
    /// The invariant in words and in symbols, and the wrong variants: the tables behind docs/evidence/every-size.md
    Page {
        /// Only this protocol
        name: Option<String>,
    },
    /// For each conjunct an obligation that fails without it
    Needed {
        /// Only this protocol
        name: Option<String>,
    },
}

fn main() -> ExitCode {
    let status = act();
    match said::lost() {
        Some(error) => {
            eprintln!("error: cannot write to the standard output: {error}");
            ExitCode::from(2)
        }
        None => status,
    }
}

fn act() -> ExitCode {
    match Arguments::parse().command.unwrap_or(Command::Check { name: None, all: false, solver: None }) {
        Command::List => list(),
        Command::Check { name, all, solver } => return check(&named(name.as_deref()), all, solver.as_deref()),
        Command::Record { file } => return write_down(&file),
        Command::Variants { name, variant } => return variants(&named(name.as_deref()), variant.as_deref()),
        Command::Progress => progress(),
        Command::Show { name, what } => show(named(Some(&name))[0], &what),
        Command::Page { name } => {
            named(name.as_deref()).into_iter().for_each(|protocol| say!("{}", page::tables(protocol)))
        }
        Command::Needed { name } => named(name.as_deref()).into_iter().for_each(needed),
    }
    ExitCode::SUCCESS
}

fn named(name: Option<&str>) -> Vec<&'static Protocol> {
    let found: Vec<_> = PROTOCOLS.iter().filter(|protocol| name.is_none_or(|name| name == protocol.name)).collect();
    if found.is_empty() {
        let names: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
        eprintln!("no protocol has this name; there are: {}", names.join(", "));
        std::process::exit(2);
    }
    found
}

fn list() {
    for protocol in PROTOCOLS {
        let system = (protocol.system)("");
        say!("{}: {} ({})", system.name, system.about, system.memory);
        let (transitions, wrong) = (system.transitions.len(), protocol.wrong.len());
        say!("  {transitions} transitions, {wrong} wrong variants; the invariant:");
        system.invariant.iter().for_each(|c| say!("    {:32} {}", c.name, c.words));
        say!("  safety:");
        system.safety.iter().for_each(|c| say!("    {:32} {}", c.name, c.words));
    }
}

fn solvers(only: Option<&str>) -> Vec<Solver> {
    Solver::ALL.into_iter().filter(|solver| only.is_none_or(|only| only == solver.name()) && solver.is_here()).collect()
}

fn check(protocols: &[&Protocol], all: bool, only: Option<&str>) -> ExitCode {
    let solvers = solvers(only);
    let begun = Instant::now();
    // None is here, which was said: nothing was asked, and nothing is wrong.
    let mut is_right = true;
    for protocol in protocols {
        let system = (protocol.system)("");
        let obligations = obligations::of(&system);
        // Each solver is a process of its own: they run side by side.
        let asked: Vec<(Solver, Vec<Verdict>, Duration)> = std::thread::scope(|scope| {
            let ask = |solver: Solver| {
                scope.spawn(move || {
                    // Variables are numbered by thread: this one has a system of its own.
                    let (begun, system) = (Instant::now(), (protocol.system)(""));
                    let verdicts = obligations::ask(solver, &system, &obligations::of(&system));
                    (solver, verdicts, begun.elapsed())
                })
            };
            let threads: Vec<_> = solvers.iter().map(|solver| ask(*solver)).collect();
            threads.into_iter().map(|thread| thread.join().expect("a solver answers")).collect()
        });
        for (solver, verdicts, took) in asked {
            let failed: Vec<&Verdict> = verdicts.iter().filter(|verdict| !verdict.is_proved).collect();
            let verdict =
                if failed.is_empty() { format!("{} ({})", record::PROVED, system.memory) } else { "FAILED".to_owned() };
            let worst = verdicts.iter().map(|verdict| verdict.time).max().unwrap_or_default();
            let count = obligations.len();
            say!(
                "{:10} {:13} {count:5} obligations {took:7.1?}, the longest {worst:7.1?}: {verdict}",
                system.name,
                solver.version()
            );
            if all {
                verdicts
                    .iter()
                    .for_each(|verdict| say!("  {:60} {:.1?}", obligations[verdict.obligation].name, verdict.time));
            }
            is_right &= failed.is_empty();
            failed.into_iter().for_each(|verdict| tell(&system, &obligations[verdict.obligation]));
        }
    }
    say!("{:.1?} in all", begun.elapsed());
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn write_down(file: &Path) -> ExitCode {
    let solvers = solvers(None);
    let is_proved = |protocol| solvers.iter().all(|solver| record::is_proved(protocol, *solver));
    if solvers.len() < Solver::ALL.len() || !PROTOCOLS.iter().all(is_proved) {
        eprintln!("not every obligation is proved by both solvers: see `check`");
        return ExitCode::FAILURE;
    }
    let proved: Vec<record::Proved> = PROTOCOLS.iter().map(|protocol| record::of(protocol, &solvers)).collect();
    let text = serde_json::to_string_pretty(&proved).expect("it can be written");
    match std::fs::write(file, text + "\n") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write {}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}

fn tell(system: &System, obligation: &Obligation) {
    match obligations::counterexample(system, obligation) {
        Some(found) => say!("{}", obligations::tell(system, obligation, &found)),
        None => say!("{}: no counterexample in small universes", obligation.name),
    }
}

fn variants(protocols: &[&Protocol], only: Option<&str>) -> ExitCode {
    if !Solver::Z3.is_here() {
        return ExitCode::SUCCESS;
    }
    let mut is_right = true;
    for protocol in protocols {
        for variant in protocol.wrong.iter().filter(|variant| only.is_none_or(|only| only == variant.name)) {
            let (failed, wrong) = variant_is_noticed(protocol, variant, only.is_some());
            let failing = if failed.is_empty() { "nothing fails".to_owned() } else { failed.join(", ") };
            say!("{:10} {:32} {failing}; {wrong}", protocol.name, variant.name);
            is_right &= !failed.is_empty();
        }
        for variant in protocol.right.iter().filter(|variant| only.is_none_or(|only| only == variant.name)) {
            let (failed, _) = variant_is_noticed(protocol, variant, false);
            say!("{:10} {:32} is right: {} obligations fail", protocol.name, variant.name, failed.len());
            is_right &= failed.is_empty();
        }
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The first obligations that fail, and how an execution goes wrong.
fn variant_is_noticed(protocol: &Protocol, variant: &Variant, tells: bool) -> (Vec<String>, String) {
    let system = (protocol.system)(variant.name);
    let all = obligations::of(&system);
    let failed = obligations::refuted(&all, &obligations::ask(Solver::Z3, &system, &all));
    let failed: Vec<String> = failed.into_iter().take(3).map(|obligation| obligation.name.clone()).collect();
    if failed.is_empty() {
        return (failed, String::new());
    }
    let finite = Finite::new(&system, variant.sizes);
    let found = search::breadth_first(&finite, 100_000, &search::safety(&system));
    if tells {
        say!("{}", search::tell(&finite, &found));
    }
    let wrong = match &found.wrong {
        Some((name, way, _)) => format!("{name} is violated in {} steps ({} states)", way.len(), found.states),
        None => format!("no execution found in {} states", found.states),
    };
    (failed, wrong)
}

fn progress() {
    for (name, of) in LIVENESS {
        let system = (named(Some(name))[0].system)("");
        let all = of(&system);
        for solver in solvers(None) {
            let failed = obligations::refuted(&all, &obligations::ask(solver, &system, &all));
            say!("{name}: {}: {} of {} obligations hold", solver.name(), all.len() - failed.len(), all.len());
            failed.iter().for_each(|obligation| say!("  not {}", obligation.name));
            if solver == Solver::Z3 {
                failed.into_iter().for_each(|obligation| tell(&system, obligation));
            }
        }
    }
}

fn show(protocol: &Protocol, what: &str) {
    let system = (protocol.system)("");
    let mut text = String::new();
    for conjunct in system.invariant.iter().chain(&system.safety).filter(|conjunct| conjunct.name == what) {
        text += &format!("; {}\n", conjunct.words);
        smt::assert(&conjunct.says, &system, &mut text);
    }
    for transition in system.transitions.iter().filter(|transition| transition.name == what) {
        smt::transition(transition, &system, &mut text);
    }
    say!(
        "{}",
        if text.is_empty() { "neither a conjunct nor a transition has this name: see `list`" } else { text.trim_end() }
    );
}

/// Drops conjuncts that are not needed, one after the other; then says for each that is left what fails without it.
fn needed(protocol: &Protocol) {
    if !Solver::Z3.is_here() {
        return;
    }
    let without = |names: &[&str]| {
        let mut system = (protocol.system)("");
        system.invariant.retain(|conjunct| !names.contains(&conjunct.name));
        let obligations = obligations::of(&system);
        let failed = obligations::first_refuted(Solver::Z3, &system, &obligations);
        failed.map(|verdict| obligations[verdict.obligation].name.clone())
    };
    let names: Vec<&str> = (protocol.system)("").invariant.iter().map(|conjunct| conjunct.name).collect();
    let mut dropped = Vec::new();
    for name in &names {
        dropped.push(*name);
        if without(&dropped).is_some() {
            dropped.pop();
        }
    }
    say!("{}: not needed: {dropped:?}", protocol.name);
    for name in names.iter().filter(|name| !dropped.contains(name)) {
        let all: Vec<&str> = dropped.iter().chain([name]).copied().collect();
        say!("    (\"{name}\", \"{}\"),", without(&all).expect("it is needed"));
    }
}
