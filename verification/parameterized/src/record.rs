//! What the solvers have said, kept in a file: a row for each protocol, with its invariant and what follows from it.
//!
//! `proofs.json` is written by `check --write`, if every solver proves every obligation, and a test sees to it that
//! it is what they say of the systems as they stand. It is what `cargo verify` and the documents show.

use crate::obligations;
use crate::smt;
use crate::solver::Solver;
use crate::stamp;
use crate::system::{Conjunct, Protocol, System};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The verdict, as it is said everywhere; with the memory in brackets.
pub const PROVED: &str = "proved for every size";

/// One protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proved {
    /// Its name.
    pub protocol: String,
    /// The rooms of the kernel that it is about.
    pub rooms: Vec<String>,
    /// The verdict.
    pub verdict: String,
    /// Under which memory model.
    pub memory: String,
    /// How many transitions it has.
    pub transitions: usize,
    /// The conjuncts of its invariant, and what follows.
    pub rows: Vec<Row>,
    /// The solvers that have discharged every obligation.
    pub solvers: Vec<String>,
    /// A hash of all that they were asked.
    pub seal: String,
    /// When they said so.
    pub recorded: String,
    /// A hash of the rooms' code then: of another source nothing is said.
    pub source: String,
}

/// A conjunct of the invariant, or what follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// In words.
    pub words: String,
    /// Does it follow from the invariant? Else it is a conjunct of it.
    pub follows: bool,
    /// So many obligations were discharged for it.
    pub obligations: usize,
}

impl Proved {
    /// How many obligations there are.
    pub fn obligations(&self) -> usize {
        self.rows.iter().map(|row| row.obligations).sum()
    }
}

/// The rooms of the kernel that a protocol is about, and their source.
fn rooms(protocol: &str) -> &'static [(&'static str, &'static str)] {
    match protocol {
        "sched" => &[
            ("spinning", include_str!("../../../src/kernel/src/protocol/spinning.rs")),
            ("handoff", include_str!("../../../src/kernel/src/protocol/handoff.rs")),
            ("stw", include_str!("../../../src/kernel/src/protocol/stw/mod.rs")),
            ("syscall", include_str!("../../../src/kernel/src/protocol/syscall.rs")),
        ],
        "runq" => &[("runq", include_str!("../../../src/kernel/src/queues/runq.rs"))],
        other => panic!("{other} is about no room"),
    }
}

/// What may be said of a protocol if these solvers have discharged every obligation.
pub fn of(protocol: &Protocol, solvers: &[Solver]) -> Proved {
    let system = (protocol.system)("");
    let obligations = obligations::of(&system);
    let row = |conjunct: &Conjunct, follows: bool| Row {
        name: conjunct.name.to_owned(),
        words: conjunct.words.to_owned(),
        follows,
        obligations: obligations.iter().filter(|obligation| obligation.conjunct == conjunct.name).count(),
    };
    let invariant = system.invariant.iter().map(|conjunct| row(conjunct, false));
    Proved {
        protocol: system.name.to_owned(),
        rooms: rooms(system.name).iter().map(|(room, _)| (*room).to_owned()).collect(),
        verdict: PROVED.to_owned(),
        memory: system.memory.to_owned(),
        transitions: system.transitions.len(),
        rows: invariant.chain(system.safety.iter().map(|conjunct| row(conjunct, true))).collect(),
        solvers: solvers.iter().map(|solver| solver.name().to_owned()).collect(),
        seal: seal(&system),
        recorded: stamp::today(),
        source: stamp::of_code(&rooms(system.name).iter().map(|(_, source)| *source).collect::<String>()),
    }
}

/// Does this solver discharge every obligation of the protocol?
pub fn is_proved(protocol: &Protocol, solver: Solver) -> bool {
    let system = (protocol.system)("");
    obligations::ask(solver, &system, &obligations::of(&system)).iter().all(|verdict| verdict.is_proved)
}

/// FNV-1a of the system in SMT-LIB, with its variables numbered from the beginning.
fn seal(system: &System) -> String {
    let mut text = String::new();
    smt::declare_state(system, &mut text);
    let facts = system.axioms.iter().chain(&system.initial);
    facts.for_each(|fact| smt::assert(fact, system, &mut text));
    let conjuncts = system.invariant.iter().chain(&system.safety);
    conjuncts.for_each(|conjunct| smt::assert(&conjunct.says, system, &mut text));
    system.transitions.iter().for_each(|transition| smt::transition(transition, system, &mut text));
    let mut numbers = HashMap::new();
    let words: Vec<String> = text
        .split_inclusive(|c: char| !c.is_alphanumeric() && c != '_')
        .map(|word| match word.rsplit_once('_') {
            Some((name, id)) if id.starts_with(|c: char| c.is_ascii_digit()) => {
                let id = id.trim_end_matches(|c: char| !c.is_ascii_digit());
                let next = numbers.len();
                format!("{name}_{} ", numbers.entry(id.to_owned()).or_insert(next))
            }
            _ => word.to_owned(),
        })
        .collect();
    let hash = words
        .concat()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}
