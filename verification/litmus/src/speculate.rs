//! The reference under models with load buffering: graphs in which a read may take its value from a write that comes
//! later in every order that agrees with program order.
//!
//! Such a graph cannot be grown step by step. So the values are guessed: each thread is traced with every value that its
//! reads could find, and of the traces that fit together the axioms keep what they allow. Nothing else is clever.

use crate::enumerate::{Answer, Asks, End, Read, Reference, Trace, enumerate, graph, judge, trace};
use crate::graph::{Act, Event};
use crate::model::MemoryModel;
use crate::program::{Loc, Program};
use std::collections::BTreeSet;

/// More traces of one thread, or more graphs to look at, are too many.
const MANY: usize = 200_000;

/// Finds every execution that is consistent in `model`.
///
/// # Errors
/// If the program says what cannot be done, or is too large.
pub fn enumerate_in(program: &Program, model: MemoryModel) -> Result<Reference, String> {
    match model {
        MemoryModel::Rc11 => enumerate(program),
        // Hardware orders dependencies across a light fence, and compilers do not: nothing was compared.
        _ if program.is_asymmetric() => {
            Err(format!("{}: asymmetric fences have no meaning under {}", program.name, model.name()))
        }
        _ => guess(program, model),
    }
}

/// The values that a location may hold, of each location.
type Values = Vec<BTreeSet<i64>>;

/// Finds every execution by guessing. For RC11 it is the same as [`enumerate`], which is its test.
pub(super) fn guess(program: &Program, model: MemoryModel) -> Result<Reference, String> {
    program.check()?;
    let too_large = || too_large(program, model);
    let mut values: Values = program.locations.iter().map(|location| BTreeSet::from([location.initial])).collect();
    let mut rounds = 0_usize;
    let traces = loop {
        let threads = 0..program.threads.len();
        let traces: Vec<Vec<Trace>> =
            threads.map(|n| all_traces(program, n, &values).ok_or_else(too_large)).collect::<Result<_, _>>()?;
        let before = values.clone();
        for write in traces.iter().flatten().flat_map(writes) {
            values[write.loc.unwrap_or_default()].insert(write.value);
        }
        // No value is its own cause: each is found in as many rounds as there are writes at most.
        let longest: usize =
            traces.iter().map(|of| of.iter().map(|trace| writes(trace).count()).max().unwrap_or(0)).sum();
        rounds += 1;
        if values == before || rounds > longest {
            break traces;
        }
    };
    let mut search = Search { program, model, chosen: Vec::new(), found: Reference::default(), tried: 0 };
    search.choose(&traces)?;
    Ok(search.found)
}

fn too_large(program: &Program, model: MemoryModel) -> String {
    format!("{}: too large to enumerate under {}", program.name, model.name())
}

fn writes(trace: &Trace) -> impl Iterator<Item = &Event> {
    trace.events.iter().filter(|event| event.act == Act::Write)
}

/// Every way in which a thread comes to its end, or waits, if its reads find these values. `None`: too many.
fn all_traces(program: &Program, thread: usize, values: &Values) -> Option<Vec<Trace>> {
    let mut traces = Vec::new();
    let mut todo = vec![Vec::new()];
    while let Some(answers) = todo.pop() {
        let so_far = trace(program, thread, &answers);
        let next: Vec<Answer> = match so_far.end {
            End::Asks(Asks::Choice(n)) => (0..n).map(Answer::Chooses).collect(),
            End::Asks(Asks::Read(loc, wanted)) => {
                let suits = |value: &&i64| wanted.is_none_or(|wanted| wanted == **value);
                let value = |value: &i64| Answer::Reads { thread: None, event: 0, value: *value };
                values[loc].iter().filter(suits).map(value).collect()
            }
            End::Done(_) | End::Cut => Vec::new(),
        };
        todo.extend(next.into_iter().map(|answer| [answers.as_slice(), &[answer]].concat()));
        if !matches!(so_far.end, End::Asks(Asks::Choice(_) | Asks::Read(_, None))) {
            traces.push(so_far);
        }
        if traces.len() + todo.len() > MANY {
            return None;
        }
    }
    Some(traces)
}

struct Search<'a> {
    program: &'a Program,
    model: MemoryModel,
    chosen: Vec<&'a Trace>,
    found: Reference,
    tried: usize,
}

impl<'a> Search<'a> {
    /// Chooses a trace for each thread that has none.
    fn choose(&mut self, traces: &'a [Vec<Trace>]) -> Result<(), String> {
        let Some((of_next, rest)) = traces[self.chosen.len()..].split_first() else { return self.connect() };
        for trace in of_next {
            self.chosen.push(trace);
            if self.may_fit(rest) {
                self.choose(traces)?;
            }
            self.chosen.pop();
        }
        Ok(())
    }

    /// Is what the chosen ones read written by them, or by some trace of the rest?
    fn may_fit(&self, rest: &[Vec<Trace>]) -> bool {
        let is_there = |read: &Event| {
            let fits = |write: &Event| write.loc == read.loc && write.value == read.value;
            let is_initial = read.loc.is_some_and(|loc: Loc| self.program.locations[loc].initial == read.value);
            is_initial
                || self.chosen.iter().any(|trace| writes(trace).any(fits))
                || rest.iter().flatten().any(|trace| writes(trace).any(fits))
        };
        self.chosen.iter().all(|trace| trace.events.iter().filter(|event| event.act == Act::Read).all(is_there))
    }

    /// Tries every write that each read may read.
    fn connect(&mut self) -> Result<(), String> {
        let mut choices: Vec<Vec<Read>> = vec![Vec::new()];
        for (thread, trace) in self.chosen.iter().enumerate() {
            for (read, event) in trace.events.iter().enumerate().filter(|(_, event)| event.act == Act::Read) {
                let sources = self.sources(thread, read, event);
                choices = choices
                    .iter()
                    .flat_map(|begun| sources.iter().map(move |source| [begun.as_slice(), &[*source]].concat()))
                    .collect();
                if self.tried + choices.len() > MANY {
                    return Err(too_large(self.program, self.model));
                }
            }
        }
        self.tried += choices.len();
        for reads in choices {
            let graph = graph(self.program, &self.chosen, &reads, self.model)?;
            if graph.is_viable() {
                judge(self.program, &self.chosen, &graph, &[], |_| true, &mut self.found);
            }
        }
        Ok(())
    }

    /// The writes with the value that was read, but for the reader's own later ones.
    fn sources(&self, thread: usize, read: usize, event: &Event) -> Vec<Read> {
        let mut sources = Vec::new();
        let loc = event.loc.unwrap_or_default();
        if self.program.locations[loc].initial == event.value {
            sources.push(Read { thread, read, from: None, write: loc });
        }
        for (from, trace) in self.chosen.iter().enumerate() {
            for (write, e) in trace.events.iter().enumerate() {
                let fits = e.act == Act::Write && e.loc == event.loc && e.value == event.value;
                if fits && (from != thread || write < read) {
                    sources.push(Read { thread, read, from: Some(from), write });
                }
            }
        }
        sources
    }
}
