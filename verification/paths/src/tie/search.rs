//! Which transitions of the drawing an operation's path takes: depth first over the operation's automaton and the drawing's places.

use super::{Context, Drawing, Reading};
use crate::path::{Edge, End, Node, Operation, Room, automaton, edges, paths};
use spinpark_parameterized::finite::{Env, Finite, Plan, State};
use spinpark_parameterized::logic::{Formula, Places, Update, Var, not};
use spinpark_parameterized::search::walk;
use spinpark_parameterized::system::{System, Transition};
use std::collections::{BTreeMap, BTreeSet};

/// A run of steps that is a transition.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) place: u8,
    pub(super) transition: usize,
    pub(super) run: String,
    pub(super) source: Transition,
}

/// What an operation is in the drawing.
#[derive(Default)]
pub(super) struct Explained {
    pub(super) found: Vec<Found>,
    pub(super) silent: BTreeSet<String>,
    /// Where its thread is on the way.
    pub(super) places: BTreeSet<u8>,
    pub(super) difference: Option<String>,
}

pub(super) struct Search<'a> {
    drawing: &'a Drawing,
    system: &'a System,
    samples: Vec<(Finite<'a>, &'a Sample)>,
}

/// States that executions of a drawing meet, in each of its small universes.
pub(super) struct Met(Vec<Sample>);

/// Those of one universe.
struct Sample {
    states: Vec<State>,
    /// Which threads are at each place, in which states.
    at: Vec<Vec<(usize, u8)>>,
}

impl Sample {
    fn of(states: Vec<State>, threads: usize) -> Sample {
        let mut at = vec![Vec::new(); usize::from(u8::MAX) + 1];
        for (n, state) in states.iter().enumerate() {
            for (thread, place) in state.places[..threads].iter().enumerate() {
                at[usize::from(*place)].push((n, thread as u8));
            }
        }
        Sample { states, at }
    }
}

impl Met {
    pub(super) fn of(drawing: &Drawing, system: &System) -> Met {
        let met = drawing.sizes.iter().map(|sizes| {
            let mut met = BTreeSet::new();
            walk(&Finite::new(system, sizes), drawing.steps, 1, |begin, way| {
                met.insert(way.last().map_or(begin, |step| step.after));
                true
            });
            Sample::of(met.into_iter().collect(), sizes[0])
        });
        Met(met.collect())
    }
}

/// So many steps of the source are one of the drawing, at the most.
const LONGEST: usize = 6;

impl<'a> Search<'a> {
    /// Looks at these states.
    pub(super) fn new(drawing: &'a Drawing, system: &'a System, met: &'a Met) -> Self {
        let samples = drawing.sizes.iter().zip(&met.0);
        let samples = samples.map(|(sizes, sample)| (Finite::new(system, sizes), sample)).collect();
        Search { drawing, system, samples }
    }

    pub(super) fn explain(&self, room: &Room, operation: &Operation, place: u8) -> Explained {
        let nodes = automaton(&paths(room, operation));
        let mut way = Way {
            search: self,
            operation: room.name_of(operation),
            nodes: &nodes,
            heads: operation.heads,
            begun: BTreeSet::new(),
            known: BTreeMap::new(),
            deepest: None,
        };
        let is_explained = way.from(0, place, false);
        let mut explained = Explained::default();
        if !is_explained {
            let (_, what) = way.deepest.unwrap_or_default();
            explained.difference = Some(format!("{}: {what}", room.name_of(operation)));
            return explained;
        }
        // Only what lies on the way that was chosen.
        let mut next = vec![(0, place, false)];
        let mut met = BTreeSet::new();
        while let Some(at) = next.pop() {
            if !met.insert(at) {
                continue;
            }
            for step in way.known.get(&at).into_iter().flatten().flatten() {
                explained.places.insert(at.1);
                explained.found.extend(step.found.clone());
                explained.silent.extend(step.silent.clone());
                next.extend(&step.next);
            }
        }
        explained
    }

    /// Does this transition do, at this place, what the run does, wherever the run is possible?
    fn is_like(&self, source: &Transition, drawn: &Transition, place: u8) -> bool {
        let key = |t: &Transition| {
            let mut params: Vec<_> = t.params.iter().map(|param| (param.name, param.sort.0)).collect();
            params.sort_unstable();
            (params, t.set)
        };
        if key(source) != key(drawn) {
            return false;
        }
        let mut is_possible = false;
        let is_like = self.all(source, place, |finite, state, env| {
            is_possible = true;
            let mut other = translated(source, drawn, env);
            if !is_possible_in(finite, drawn, state, &mut other) {
                return false;
            }
            let mut after = finite.apply(&source.updates, state, env);
            let drawn_after = finite.apply(&drawn.updates, state, &mut other);
            after.places = drawn_after.places;
            after == drawn_after
        });
        is_possible && is_like
    }

    /// Is, wherever the transition is possible at this place, one of these runs?
    pub(super) fn is_covered(&self, drawn: &Transition, place: u8, found: &[Found]) -> bool {
        self.all(drawn, place, |finite, state, env| {
            let is = |one: &Found| is_possible_in(finite, &one.source, state, &mut translated(drawn, &one.source, env));
            found.iter().any(is)
        })
    }

    /// Is that so, in the states that are looked at, of each way in which the transition is possible with its thread at this place?
    fn all(&self, t: &Transition, place: u8, mut is: impl FnMut(&Finite<'_>, &State, &mut Env) -> bool) -> bool {
        let plan = Plan::of(t);
        for (finite, sample) in &self.samples {
            for (state, thread) in &sample.at[usize::from(place)] {
                let mut is_so = true;
                finite.instances(&plan, &sample.states[*state], &[Some(*thread)], |_, state, env| {
                    is_so = is_so && is(finite, state, env);
                });
                if !is_so {
                    return false;
                }
            }
        }
        true
    }
}

fn is_possible_in(finite: &Finite<'_>, t: &Transition, state: &State, env: &mut Env) -> bool {
    t.guard.iter().all(|part| finite.is_true(part, state, env))
}

/// What the parameters of one transition are, for another whose parameters are called the same.
fn translated(from: &Transition, to: &Transition, env: &Env) -> Env {
    let value = |param: &Var| {
        let at = from.params.iter().position(|from| (from.name, from.sort) == (param.name, param.sort));
        env[at.expect("they have the same")].1
    };
    to.params.iter().map(|param| (param.id, value(param))).collect()
}

/// The places at which its thread may be; `None`: anywhere.
pub(super) fn places_of(t: &Transition) -> Option<Places> {
    let m = t.params.first()?;
    t.guard.iter().find_map(|part| match part {
        Formula::At(v, places) if v == m => Some(*places),
        _ => None,
    })
}

/// Where the thread is afterwards. A place whose condition the source itself knows not to hold is none.
fn goes(t: &Transition, place: u8, source: &Transition) -> Vec<u8> {
    let is_refuted = |condition: &Formula| {
        let refuted = not(condition.rename(&t.params[..1], &source.params[..1]));
        source.guard.contains(&refuted)
    };
    let to = t.updates.iter().find_map(|update| match update {
        Update::Goes { m, to } if *m == t.params[0] => {
            Some(to.iter().filter(|(condition, _)| !is_refuted(condition)).map(|(_, to)| *to).collect())
        }
        _ => None,
    });
    to.unwrap_or_else(|| vec![place])
}

/// A state of the operation, a place of the drawing, and whether the lock is held.
type At = (usize, u8, bool);

/// One thing that may happen there, and where it leads.
#[derive(Debug, Clone, Default)]
struct Next {
    found: Option<Found>,
    silent: Option<String>,
    next: Vec<At>,
}

struct Way<'a> {
    search: &'a Search<'a>,
    operation: String,
    nodes: &'a [Node],
    /// With which steps loops' bodies begin, and where their threads are then.
    heads: &'static [&'static str],
    begun: BTreeSet<(&'static str, u8)>,
    /// What was found from there on; `None`: nothing explains it.
    known: BTreeMap<At, Option<Vec<Next>>>,
    /// What could not be explained, furthest from the beginning.
    deepest: Option<(usize, String)>,
}

impl Way<'_> {
    /// Is what the source does from this state on what the drawing does from this place on?
    fn from(&mut self, node: usize, place: u8, is_locked: bool) -> bool {
        let at = (node, place, is_locked);
        if let Some(known) = self.known.get(&at) {
            return known.is_some();
        }
        let ends = match &self.nodes[node].end {
            Some(End::Returns(what)) => (self.search.drawing.ends)(what).has(place),
            Some(End::Again(head)) => self.begun.contains(&(*head, place)),
            Some(End::Panics(_)) => false,
            None => true,
        };
        if !ends {
            let (end, place) = (&self.nodes[node].end, self.search.system.places[place as usize]);
            let end = match end {
                Some(End::Returns(what)) => format!("returns {what}"),
                Some(End::Panics(why)) => format!("panics: {why}"),
                _ => "begins again".to_owned(),
            };
            self.note(node, format!("at {place} the source {end}, and the drawing does not"));
            self.known.insert(at, None);
            return false;
        }
        let mut all = Vec::new();
        for edge in edges(&self.nodes[node]) {
            match self.run(vec![edge], place, is_locked) {
                Some(next) => all.extend(next),
                None => {
                    self.known.insert(at, None);
                    return false;
                }
            }
        }
        self.known.insert(at, Some(all));
        true
    }

    fn note(&mut self, node: usize, what: String) {
        if self.deepest.as_ref().is_none_or(|(deepest, _)| node >= *deepest) {
            self.deepest = Some((node, what));
        }
    }

    fn run(&mut self, run: Vec<Edge>, place: u8, was_locked: bool) -> Option<Vec<Next>> {
        let (search, to) = (self.search, run.last().expect("a step").to);
        let mut source = Transition::new("source", "");
        let m = source.for_each("m", search.system.sorts[0]);
        let mut context = Context { m, place, is_locked: was_locked, operation: self.operation.clone() };
        if let Some(head) = self.heads.iter().find(|head| **head == run[0].step.act) {
            self.begun.insert((head, place));
        }
        let mut open = 0;
        for edge in &run {
            let before = (source.guard.clone(), source.updates.len());
            match (search.drawing.dictionary)(edge, &mut source, &mut context) {
                Reading::Step => {
                    let says_something = before != (source.guard.clone(), source.updates.len());
                    let is_open = search.drawing.open.iter().any(|word| edge.step.act.starts_with(word));
                    open += usize::from(is_open && says_something);
                }
                Reading::Elsewhere(places) if source.updates.is_empty() && places.has(place) => return Some(Vec::new()),
                Reading::Elsewhere(_) | Reading::Unknown => return self.fail(&run, place),
            }
        }
        let is_locked = context.is_locked;
        // None of the drawing's steps, if the rest is explained so; a whole one; a part of one.
        // What is under the lock stays as it is seen until that hold is over: it belongs to the step that is made then.
        let may_change = source.guard.is_empty() || !is_locked || open > 0;
        let may_be_silent = source.updates.is_empty() && may_change;
        if run.len() == 1 && may_be_silent && self.from(to, place, is_locked) {
            let silent = format!("{}: {}", search.system.places[place as usize], words(&run));
            return Some(vec![Next { found: None, silent: Some(silent), next: vec![(to, place, is_locked)] }]);
        }
        for (transition, drawn) in search.system.transitions.iter().enumerate() {
            let may_be_there = places_of(drawn).map_or(!source.updates.is_empty(), |places| places.has(place));
            let changes = !drawn.updates.is_empty();
            if open > 1 || !may_be_there || !changes || !search.is_like(&source, drawn, place) {
                continue;
            }
            let after = goes(drawn, place, &source);
            if after.iter().all(|place| self.from(to, *place, is_locked)) {
                let found = Found { place, transition, run: words(&run), source };
                let next = after.into_iter().map(|place| (to, place, is_locked)).collect();
                return Some(vec![Next { found: Some(found), silent: None, next }]);
            }
        }
        if run.len() == LONGEST || self.nodes[to].edges.is_empty() {
            return self.fail(&run, place);
        }
        let mut all = Vec::new();
        for edge in edges(&self.nodes[to]) {
            let longer = run.iter().cloned().chain([edge]).collect();
            all.extend(self.run(longer, place, was_locked)?);
        }
        Some(all)
    }

    fn fail(&mut self, run: &[Edge], place: u8) -> Option<Vec<Next>> {
        let is_here = |t: &&Transition| places_of(t).is_some_and(|places| places.has(place));
        let drawn: Vec<&str> = self.search.system.transitions.iter().filter(is_here).map(|t| t.name).collect();
        let place = self.search.system.places[place as usize];
        let what = format!(
            "at {place} the source does `{}` ({}), and the drawing none of this, but: {}",
            words(run),
            run[0].step.at,
            if drawn.is_empty() { "nothing".to_owned() } else { drawn.join(", ") }
        );
        self.note(run[0].to, what);
        None
    }
}

/// A run in words.
fn words(run: &[Edge]) -> String {
    run.iter().map(Edge::words).collect::<Vec<_>>().join("; ")
}
