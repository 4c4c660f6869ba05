//! The source against the drawings: is each path of an operation one of the drawing, and each step of the drawing, at the places
//! where it passes, one of the source?
//!
//! A [`Dictionary`] reads a step of the source as a guard and an update over the drawing's relations. Runs of steps are composed, and
//! the transition that does just that is found by search, not by name: candidates are compared in states of small universes, and
//! what is found is decided by the solvers, for every size: under the drawing's invariant the guards are the same, and where they
//! hold each relation becomes the same.

mod extent;
mod runq;
mod sched;
mod search;

use crate::path::{self, Edge};
use crate::rooms;
pub use extent::Extent;
use search::{Found, Met, Search};
use spinpark_parameterized::logic::{Formula, Places, Rel, Sort, Update, Var, among, and, not, or};
use spinpark_parameterized::obligations::{self, Obligation};
use spinpark_parameterized::solver::Solver;
use spinpark_parameterized::system::{System, Transition};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

/// What a step of the source is in the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// What was added to the transition; perhaps nothing.
    Step,
    /// Here another room's operation goes on, which begins at one of these places.
    Elsewhere(Places),
    /// No such step is known.
    Unknown,
}

/// Where a run of steps stands while it is read.
pub struct Context {
    /// The operation, with its room.
    pub operation: String,
    /// The thread.
    pub m: Var,
    /// Where it is in the drawing.
    pub place: u8,
    /// Does it hold the scheduler's lock?
    pub is_locked: bool,
}

/// Reads one step of the source, with all answers that lead on to the same state.
pub type Dictionary = fn(&Edge, &mut Transition, &mut Context) -> Reading;

/// A drawing, and how the source is read in its words.
#[derive(Clone, Copy)]
pub struct Drawing {
    /// The protocol's name in `spinpark-parameterized`.
    pub name: &'static str,
    /// The system, or a wrong variant of it.
    pub system: fn(&str) -> System,
    /// Reads the source.
    pub dictionary: Dictionary,
    /// Operations, and where a thread is that begins them.
    pub begins: &'static [(&'static str, u8)],
    /// Where a thread may be when an operation returns this.
    pub ends: fn(&str) -> Places,
    /// Words that other threads write at any time: one access to one of these is a step of its own.
    pub open: &'static [&'static str],
    /// How the steps begin that read or write what is drawn: an operation without one of them is no part of this drawing.
    pub words: &'static [&'static [&'static str]],
    /// Operations with such steps that are read as parts of others.
    pub within: &'static [&'static str],
    /// And those that the drawing leaves out, with what is left out so. `runq::` is each of that room.
    pub left_out: &'static [(&'static str, &'static [&'static str])],
    /// Transitions that are no step of these operations: where else they are, in the source.
    pub elsewhere: &'static [(&'static str, &'static [&'static str])],
    /// Universes in which candidates are compared.
    pub sizes: &'static [&'static [usize]],
    /// So many steps are walked in each, each walk so long, and the states that are met are looked at.
    pub steps: (usize, usize),
}

/// How steps begin by which a P changes hands.
const MOVES: &[&str] = &[
    "a spare P",
    "handoffp",
    "hands its P on",
    "hands its own P in",
    "hands the P in",
    "idles",
    "it idles its P",
    "its P is held",
    "its own P is held",
    "nextp.",
    "pidleget",
    "runs it under",
    "startm",
    "takes every P",
    "the P is spare",
    "the world runs",
    "under the lock: it is held",
    "under the lock: the function is wanted",
    "under the lock: the world is to stop",
    "word.",
];

/// The drawings that are tied.
pub static DRAWINGS: &[&Drawing] = &[&sched::DRAWING, &runq::DRAWING];

/// What came of it.
#[derive(Debug, Default)]
pub struct Tied {
    /// How many transitions of the drawing there are.
    pub transitions: usize,
    /// By transition: where it was found, and the runs of the source that it is.
    pub found: BTreeMap<String, Vec<String>>,
    /// Steps of the source that change nothing in the drawing's words.
    pub silent: BTreeSet<String>,
    /// Transitions that are steps of other operations.
    pub elsewhere: usize,
    /// What became of each operation of the kernel.
    pub extent: Extent,
    /// Questions asked, of each solver.
    pub questions: usize,
    /// The solvers that were here.
    pub solvers: Vec<&'static str>,
    /// What differs.
    pub differences: Vec<String>,
}

/// Ties a drawing, or a wrong variant of it.
#[must_use]
pub fn tie(drawing: &Drawing, variant: &str) -> Tied {
    let system = (drawing.system)(variant);
    let tied = tie_where(drawing, &system, met_in_the_right_one(drawing));
    // A wrong step differs, as a rule, where the right drawing comes to it: then its own executions need not be walked.
    if variant.is_empty() || !tied.differences.is_empty() {
        return tied;
    }
    tie_where(drawing, &system, &Met::of(drawing, &system))
}

/// The states that executions of the drawing itself meet.
fn met_in_the_right_one(drawing: &Drawing) -> &'static Met {
    static MET: LazyLock<Vec<OnceLock<Met>>> = LazyLock::new(|| DRAWINGS.iter().map(|_| OnceLock::new()).collect());
    let at = DRAWINGS.iter().position(|right| right.name == drawing.name).expect("it is a variant of one");
    MET[at].get_or_init(|| Met::of(DRAWINGS[at], &(DRAWINGS[at].system)("")))
}

fn tie_where(drawing: &Drawing, system: &System, met: &Met) -> Tied {
    let search = Search::new(drawing, system, met);
    let mut tied = Tied { transitions: system.transitions.len(), ..Tied::default() };
    let mut found: BTreeMap<(u8, usize), Vec<Found>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (name, place) in drawing.begins {
        let (room, operation) = rooms::operation(name).unwrap_or_else(|| panic!("no operation {name}"));
        tied.differences.extend(path::remembers(room, operation));
        let explained = search.explain(room, operation, *place);
        tied.differences.extend(explained.difference);
        tied.silent.extend(explained.silent);
        seen.extend(explained.places);
        for one in explained.found {
            found.entry((one.place, one.transition)).or_default().push(one);
        }
    }
    for ((place, transition), found) in &found {
        let name = format!("{}, at {}", system.transitions[*transition].name, system.places[*place as usize]);
        if !search.is_covered(&system.transitions[*transition], *place, found) {
            tied.differences.push(format!("{name}: drawn where no step of the source does it"));
        }
        tied.found.insert(name, found.iter().map(|one| one.run.clone()).collect::<BTreeSet<_>>().into_iter().collect());
    }
    let used: BTreeSet<usize> = found.keys().map(|(_, transition)| *transition).collect();
    other_way(drawing, system, &found, &seen, &mut tied);
    tied.extent = Extent::of(drawing, &mut tied.differences);
    tied.elsewhere = system.transitions.len() - used.len();
    // What differs in a small universe needs no solver.
    if tied.differences.is_empty() {
        decide(system, &found, &mut tied);
    }
    tied
}

impl Tied {
    /// In a few lines.
    #[must_use]
    pub fn words(&self, name: &str) -> String {
        let solvers = if self.solvers.is_empty() {
            "no solver was asked: compared in small universes only".to_owned()
        } else {
            format!("{} questions, decided for every size by {}", self.questions, self.solvers.join(" and "))
        };
        let found = self.transitions - self.elsewhere;
        let verdict = if self.differences.is_empty() { "the source and the drawing agree" } else { "THEY DIFFER" };
        let mut text = format!(
            "{name}: {verdict}: {found} of {} transitions are steps of the source, {} are steps of other operations; {solvers}\n  {}",
            self.transitions,
            self.elsewhere,
            self.extent.words()
        );
        for difference in &self.differences {
            text += &format!("\n  {difference}");
        }
        text
    }
}

/// Each step of the drawing at these places is one of the source, or stands under `elsewhere`.
fn other_way(
    drawing: &Drawing,
    system: &System,
    found: &BTreeMap<(u8, usize), Vec<Found>>,
    seen: &BTreeSet<u8>,
    tied: &mut Tied,
) {
    let is_elsewhere = |name: &str| drawing.elsewhere.iter().any(|(_, names)| names.contains(&name));
    for (index, transition) in system.transitions.iter().enumerate() {
        let is_found = |place: Option<u8>| found.keys().any(|(at, of)| *of == index && place.is_none_or(|p| p == *at));
        let missing: Vec<u8> = match search::places_of(transition) {
            Some(places) => seen.iter().copied().filter(|p| places.has(*p) && !is_found(Some(*p))).collect(),
            None => Vec::new(),
        };
        if is_elsewhere(transition.name) || (missing.is_empty() && is_found(None)) {
            continue;
        }
        let places: Vec<&str> = missing.iter().map(|place| system.places[*place as usize]).collect();
        let at = if places.is_empty() { String::new() } else { format!(", at {}", places.join(", ")) };
        tied.differences
            .push(format!("{}: drawn{at}, and no step of the source does it ({})", transition.name, transition.source));
    }
    for (_, names) in drawing.elsewhere {
        for name in *names {
            let at = system.transitions.iter().position(|transition| transition.name == *name);
            match at {
                Some(at) if found.keys().any(|(_, of)| *of == at) => {
                    tied.differences.push(format!("{name}: said to be elsewhere, and found"));
                }
                Some(_) => (),
                None => tied.differences.push(format!("{name}: said to be elsewhere, and not drawn")),
            }
        }
    }
}

/// Asks the solvers for every size what was found in small universes.
fn decide(system: &System, found: &BTreeMap<(u8, usize), Vec<Found>>, tied: &mut Tied) {
    let mut questions = Vec::new();
    for ((place, index), found) in found {
        let drawn = &system.transitions[*index];
        let at = system.places[*place as usize];
        let m = drawn.params[0];
        let there = among(m, Places::of(&[*place]));
        let guard = and(drawn.guard.iter().cloned());
        let mut runs: Vec<(&str, Formula, Vec<Update>)> = Vec::new();
        for one in found {
            let (guard, updates) = in_words_of(drawn, &one.source);
            if !runs.iter().any(|(run, ..)| *run == one.run) {
                runs.push((&one.run, guard, updates));
            }
        }
        let ask = |what: String, more: Vec<Var>, asserts: Vec<Formula>| {
            let params = drawn.params.iter().copied().chain(more).collect();
            Obligation::never(what, params, [there.clone()].into_iter().chain(asserts).collect())
        };
        for (run, source, updates) in &runs {
            questions.push(ask(
                format!("{} is narrower than the source at {at}: `{run}`", drawn.name),
                Vec::new(),
                vec![source.clone(), not(guard.clone())],
            ));
            for rel in changed(&drawn.updates, updates) {
                let args: Vec<Var> = rel.sorts.iter().map(|sort| Var::fresh("x", *sort)).collect();
                let [a, b] = [&drawn.updates, updates].map(|u| Formula::Rel(rel, args.clone()).after(u));
                let differ = or([and([a.clone(), not(b.clone())]), and([b, not(a)])]);
                questions.push(ask(
                    format!("{} makes another `{}` than the source at {at}: `{run}`", drawn.name, rel.name),
                    args,
                    vec![source.clone(), differ],
                ));
            }
        }
        let none = runs.iter().map(|(_, source, _)| not(source.clone()));
        let all: Vec<&str> = runs.iter().map(|(run, ..)| *run).collect();
        questions.push(ask(
            format!("{} is wider than the source at {at}: `{}`", drawn.name, all.join("`, `")),
            Vec::new(),
            [guard.clone()].into_iter().chain(none).collect(),
        ));
    }
    tied.questions = questions.len();
    for solver in Solver::ALL.into_iter().filter(|solver| solver.is_here()) {
        tied.solvers.push(solver.name());
        let open = obligations::refuted(&questions, &obligations::ask(solver, system, &questions));
        tied.differences.extend(open.into_iter().map(|question| format!("{}: {}", solver.name(), question.name)));
    }
}

/// What a run of the source does, in the variables of the drawn transition.
fn in_words_of(drawn: &Transition, source: &Transition) -> (Formula, Vec<Update>) {
    let to: Vec<Var> = source
        .params
        .iter()
        .map(|param| {
            *drawn.params.iter().find(|drawn| (drawn.name, drawn.sort) == (param.name, param.sort)).expect("the same")
        })
        .collect();
    let rename = |formula: &Formula| formula.rename(&source.params, &to);
    let updates = source.updates.iter().map(|update| match update {
        Update::Rel { rel, formals, body } => Update::Rel { rel: *rel, formals: formals.clone(), body: rename(body) },
        Update::Goes { .. } => update.clone(),
    });
    (and(source.guard.iter().map(rename)), updates.collect())
}

/// The relations that either changes.
fn changed(a: &[Update], b: &[Update]) -> Vec<Rel> {
    let mut all = Vec::new();
    for update in a.iter().chain(b) {
        if let Update::Rel { rel, .. } = update
            && !all.contains(rel)
        {
            all.push(*rel);
        }
    }
    all
}

/// The transition's variable of this name; a new one, if it has none.
fn the(t: &mut Transition, name: &'static str, sort: Sort) -> Var {
    match t.params.iter().find(|param| param.name == name) {
        Some(param) => *param,
        None => t.for_each(name, sort),
    }
}
