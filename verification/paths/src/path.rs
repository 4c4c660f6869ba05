//! Every path of an operation, and the automaton that they make.

use crate::host::{Again, Domain, RUN, Run};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// A room of the kernel, and its operations.
#[derive(Debug)]
pub struct Room {
    /// Its name: its file's.
    pub name: &'static str,
    /// Its words, in the order in which it makes them.
    pub words: &'static [Domain],
    /// What can be asked of it.
    pub operations: &'static [Operation],
}

impl Room {
    /// One of its operations, as a reader names it: `spinning::wakep`.
    #[must_use]
    pub fn name_of(&self, operation: &Operation) -> String {
        format!("{}::{}", self.name, operation.name)
    }
}

/// An operation.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Its name in the source.
    pub name: &'static str,
    /// The accesses or questions with which its loops' bodies begin, the outer loop's first: what comes after depends on no earlier turn.
    pub heads: &'static [&'static str],
    /// Makes the room, calls the operation, and says how it ended.
    pub run: fn() -> String,
}

/// One step of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// The line of the kernel: `protocol/spinning.rs:86`. Empty for what it asks of its neighbours.
    pub at: String,
    /// What it does.
    pub act: String,
    /// With which ordering.
    pub order: String,
    /// What it was answered.
    pub answer: String,
}

/// How a path ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// The operation returns this.
    Returns(String),
    /// It panics.
    Panics(String),
    /// The loop with this head begins again.
    Again(&'static str),
}

/// So many paths at the most: more are an operation that should be taken apart.
const MOST: usize = 100_000;
/// So many turns of a loop are compared.
const TURNS: usize = 3;

/// Paths, each with its end.
pub type Paths = Vec<(Vec<Step>, End)>;

/// Every path of an operation, of each loop one turn.
///
/// # Panics
/// If there are more than can be told.
pub fn paths(room: &Room, operation: &Operation) -> Paths {
    enumerated(room, operation).0
}

/// What is wrong with a loop of the operation: a later turn does what the first does not, though the operation says that what comes after
/// its head depends on no earlier turn.
pub fn remembers(room: &Room, operation: &Operation) -> Option<String> {
    enumerated(room, operation).1
}

fn enumerated(room: &Room, operation: &Operation) -> (Paths, Option<String>) {
    static KNOWN: Mutex<BTreeMap<String, (Paths, Option<String>)>> = Mutex::new(BTreeMap::new());
    let name = room.name_of(operation);
    if let Some(known) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
        return known.clone();
    }
    let once = turned(room, operation, "", 1);
    let wrong = operation.heads.iter().find_map(|head| {
        // Turns of an outer loop are many paths.
        let most = if operation.heads.last() == Some(head) { TURNS } else { 2 };
        (2..=most).find_map(|n| differs(&once, &turned(room, operation, head, n), head, n))
    });
    let done = (once, wrong.map(|wrong| format!("{name}: {wrong}")));
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(name, done.clone());
    done
}

/// The paths with `n` turns of the loop with this head, and one of each other.
fn turned(room: &Room, operation: &Operation, of: &str, n: usize) -> Paths {
    let turns = operation.heads.iter().map(|head| (*head, if *head == of { n } else { 1 }));
    paths_of(room, operation, &turns.collect::<Vec<_>>())
}

/// Where the `n`th turn of a loop differs from its first.
fn differs(once: &Paths, more: &Paths, head: &str, n: usize) -> Option<String> {
    let (first, later) = (bodies(once, head, 1), bodies(more, head, n));
    if later.is_empty() {
        return Some(format!("it does `{head}` less than {n} times"));
    }
    // A later turn may come only where there is much to do: there it does nothing new.
    let is_known = |before: &&[Step], body: &Ways<'_>| {
        first.get(*before).is_some_and(|first| if n == 2 { first == body } else { body.is_subset(first) })
    };
    let (before, body) = later.iter().find(|(before, body)| !is_known(before, body))?;
    let told =
        |body: &Ways<'_>| body.iter().map(|(way, end)| format!("\n    {}; {end:?}", words(way))).collect::<String>();
    let was = first.get(before).map_or("\n    nothing".to_owned(), told);
    Some(format!("after `{}` turn {n} from `{head}` on is{}\n  and the first{was}", words(before), told(body)))
}

fn words(way: &[Step]) -> String {
    way.iter().map(|step| format!("{} {}", step.act, step.answer)).collect::<Vec<_>>().join("; ")
}

type Ways<'a> = BTreeSet<(&'a [Step], &'a End)>;

/// By what came before a loop: what comes from the `nth` turn's first step on.
fn bodies<'a>(paths: &'a [(Vec<Step>, End)], head: &str, nth: usize) -> BTreeMap<&'a [Step], Ways<'a>> {
    let mut bodies: BTreeMap<&[Step], Ways<'_>> = BTreeMap::new();
    for (steps, end) in paths {
        let turns: Vec<usize> = (0..steps.len()).filter(|at| steps[*at].act == head).collect();
        if let Some(at) = turns.get(nth - 1) {
            bodies.entry(&steps[..turns[0]]).or_default().insert((&steps[*at..], end));
        }
    }
    bodies
}

fn paths_of(room: &Room, operation: &Operation, heads: &[(&'static str, usize)]) -> Paths {
    let mut paths = BTreeSet::new();
    let mut script = Vec::new();
    loop {
        RUN.set(Run { script, words: room.words, heads: heads.to_vec(), ..Run::default() });
        let end = match catch_unwind(AssertUnwindSafe(operation.run)) {
            Ok(end) => End::Returns(end),
            Err(why) => match why.downcast::<Again>() {
                Ok(again) => End::Again(again.0),
                Err(why) => match why.downcast::<String>() {
                    Ok(why) => End::Panics(*why),
                    Err(why) => {
                        End::Panics(why.downcast::<&str>().map_or("for a reason".to_owned(), |why| (*why).to_owned()))
                    }
                },
            },
        };
        let run = RUN.take();
        paths.insert((run.steps, end));
        assert!(paths.len() <= MOST, "{} has more than {MOST} paths", room.name_of(operation));
        script = run.script;
        while let Some((taken, of)) = script.pop() {
            if taken + 1 < of {
                script.push((taken + 1, of));
                break;
            }
        }
        if script.is_empty() {
            return paths.into_iter().collect();
        }
    }
}

/// A state of an operation: what it may do next, and where that leads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Node {
    /// Steps, each with the number of the state after it.
    pub edges: BTreeMap<Step, usize>,
    /// How it ends here.
    pub end: Option<End>,
}

/// The smallest automaton with just these paths. State 0 is the first; the others are numbered as they are met.
#[must_use]
pub fn automaton(paths: &[(Vec<Step>, End)]) -> Vec<Node> {
    let tree = tree(paths);
    // Equal futures become one. A child has a larger number than its parent.
    let mut known: HashMap<Node, usize> = HashMap::new();
    let mut states: Vec<Node> = Vec::new();
    let mut name = vec![0; tree.len()];
    for at in (0..tree.len()).rev() {
        let mut node = tree[at].clone();
        node.edges.values_mut().for_each(|to| *to = name[*to]);
        name[at] = *known.entry(node.clone()).or_insert_with(|| {
            states.push(node);
            states.len() - 1
        });
    }
    renumbered(&states, name[0])
}

fn tree(paths: &[(Vec<Step>, End)]) -> Vec<Node> {
    let mut nodes = vec![Node::default()];
    for (steps, end) in paths {
        let mut at = 0;
        for step in steps {
            at = match nodes[at].edges.get(step) {
                Some(next) => *next,
                None => {
                    nodes.push(Node::default());
                    let next = nodes.len() - 1;
                    nodes[at].edges.insert(step.clone(), next);
                    next
                }
            };
        }
        nodes[at].end = Some(end.clone());
    }
    nodes
}

/// The states that are met from `first` on, in the order of their distance from it.
fn renumbered(states: &[Node], first: usize) -> Vec<Node> {
    let mut order = vec![first];
    let mut next = 0;
    while next < order.len() {
        for to in states[order[next]].edges.values() {
            if !order.contains(to) {
                order.push(*to);
            }
        }
        next += 1;
    }
    let name = |state: usize| order.iter().position(|at| *at == state).expect("it was met");
    let node = |at: &usize| {
        let Node { edges, end } = states[*at].clone();
        Node { edges: edges.into_iter().map(|(step, to)| (step, name(to))).collect(), end }
    };
    order.iter().map(node).collect()
}

/// A step with all answers that lead to the same state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The step; of its answers, the first.
    pub step: Step,
    /// Every answer.
    pub answers: BTreeSet<String>,
    /// Where they lead.
    pub to: usize,
}

/// The edges of a state.
#[must_use]
pub fn edges(node: &Node) -> Vec<Edge> {
    let mut all: Vec<Edge> = Vec::new();
    for (step, to) in &node.edges {
        let is_like = |edge: &&mut Edge| {
            edge.to == *to && (&edge.step.at, &edge.step.act, &edge.step.order) == (&step.at, &step.act, &step.order)
        };
        match all.iter_mut().find(is_like) {
            Some(edge) => _ = edge.answers.insert(step.answer.clone()),
            None => {
                all.push(Edge { step: step.clone(), answers: [step.answer.clone()].into(), to: *to });
            }
        }
    }
    all
}

impl Edge {
    /// In words: `nmspinning.load Relaxed -> 1, 2+`.
    #[must_use]
    pub fn words(&self) -> String {
        let order = if self.step.order.is_empty() { String::new() } else { format!(" {}", self.step.order) };
        let answers: Vec<&str> = self.answers.iter().map(String::as_str).filter(|answer| !answer.is_empty()).collect();
        let answers = if answers.is_empty() { String::new() } else { format!(" -> {}", answers.join(", ")) };
        format!("{}{order}{answers}", self.step.act)
    }
}

/// An operation's automaton as text. `with_lines`: each access with its line of the kernel.
#[must_use]
pub fn text(room: &Room, operation: &Operation, with_lines: bool) -> String {
    let paths = paths(room, operation);
    let states = automaton(&paths);
    let count = if paths.len() == 1 { "one path".to_owned() } else { format!("{} paths", paths.len()) };
    let mut text = format!("{}: {count}, {} states\n", room.name_of(operation), states.len());
    for (number, node) in states.iter().enumerate() {
        match &node.end {
            Some(End::Returns(what)) if what.is_empty() => writeln!(text, "  {number:>2}  returns"),
            Some(End::Returns(what)) => writeln!(text, "  {number:>2}  returns {what}"),
            Some(End::Panics(why)) => writeln!(text, "  {number:>2}  panics: {why}"),
            Some(End::Again(head)) => writeln!(text, "  {number:>2}  again from `{head}`"),
            None => Ok(()),
        }
        .expect("to memory");
        for edge in edges(node) {
            let line =
                if with_lines && !edge.step.at.is_empty() { format!("  [{}]", edge.step.at) } else { String::new() };
            writeln!(text, "  {number:>2}  {:<56} then {}{line}", edge.words(), edge.to).expect("to memory");
        }
    }
    text
}

/// The same as a graph, in Graphviz's language.
#[must_use]
pub fn dot(room: &Room, operation: &Operation) -> String {
    let states = automaton(&paths(room, operation));
    let mut text = format!("digraph \"{}\" {{\n", room.name_of(operation));
    for (number, node) in states.iter().enumerate() {
        let (shape, label) = match &node.end {
            Some(End::Returns(what)) => ("box", format!("returns {what}")),
            Some(End::Panics(why)) => ("box", format!("panics: {why}")),
            Some(End::Again(head)) => ("box", format!("again from {head}")),
            None => ("circle", number.to_string()),
        };
        writeln!(text, "  {number} [shape={shape}, label={label:?}];").expect("to memory");
        for edge in edges(node) {
            writeln!(text, "  {number} -> {} [label={:?}];", edge.to, edge.words()).expect("to memory");
        }
    }
    text + "}\n"
}
