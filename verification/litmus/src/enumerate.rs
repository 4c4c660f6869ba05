//! The reference: every RC11-consistent execution graph of a small program, found in the plainest way.
//!
//! Grow graphs from nothing: any thread takes its next step, a read reads any write that is there. This gives all
//! graphs without cycles in `sb U rf`, each remembered so that it is looked at once. Then try all orders of the writes,
//! and keep what the axioms allow (`graph.rs`).

use crate::depend::{Depends, Follower};
use crate::graph::{Act, Event, Graph, Grounds};
use crate::model::MemoryModel;
use crate::perform::{Memory, Stop, perform};
use crate::program::{Access, Kind, Loc, Program, Stmt, Update};
use crate::question::Item;
use crate::relation::{Relation, Set, members};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// What the reference found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reference {
    /// How many consistent graphs there are in which every thread comes to its end.
    pub executions: u64,
    /// Their outcomes, and how many graphs have each.
    pub outcomes: BTreeMap<String, u64>,
    /// Is there a data race in a consistent graph, come to its end or not?
    pub race: bool,
    /// Is there a consistent graph in which every thread that is not at its end waits, and waits forever: the last
    /// write of its place does not hold what it waits for?
    pub stuck: bool,
}

/// What is decided when a thread asks: which write it reads (thread, and which of its events), or which choice it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    Reads { thread: Option<usize>, event: usize, value: i64 },
    Chooses(usize),
}

/// What a thread asks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asks {
    /// What does it read here? If it waits, only this will do.
    Read(Loc, Option<i64>),
    /// Which of so many?
    Choice(usize),
}

/// A thread played as far as the answers go.
struct Played<'a> {
    thread: usize,
    answers: std::slice::Iter<'a, Answer>,
    asks: Option<Asks>,
    events: Vec<Event>,
    depends: Vec<Depends>,
    follower: Follower,
    /// What each read event reads: (read, thread and event of the write).
    reads: Vec<(usize, Option<usize>, usize)>,
}

fn read_part(order: Ordering) -> Ordering {
    match order {
        Relaxed | Release => Relaxed,
        Acquire | AcqRel => Acquire,
        _ => SeqCst,
    }
}

fn write_part(order: Ordering) -> Ordering {
    match order {
        Relaxed | Acquire => Relaxed,
        Release | AcqRel => Release,
        _ => SeqCst,
    }
}

fn order_of(access: Access) -> Option<Ordering> {
    match access {
        Access::Plain => None,
        Access::Atomic(order) => Some(order),
    }
}

impl Played<'_> {
    fn add(&mut self, act: Act, loc: Option<Loc>, value: i64, order: Option<Ordering>, is_rmw: bool) {
        let depends = self.follower.depends(act == Act::Write);
        self.depends.push(depends);
        self.events.push(Event { thread: Some(self.thread), act, loc, value, order, is_rmw });
    }
    fn ask<T>(&mut self, asks: Asks) -> Result<T, Stop> {
        self.asks = Some(asks);
        Err(Stop::Undecided)
    }
    /// Reads; the order may depend on the value.
    fn read(&mut self, loc: Loc, wanted: Option<i64>, order: impl Fn(i64) -> Option<Ordering>) -> Result<i64, Stop> {
        let Some(Answer::Reads { thread, event, value }) = self.answers.next().copied() else {
            return self.ask(Asks::Read(loc, wanted));
        };
        self.reads.push((self.events.len(), thread, event));
        self.add(Act::Read, Some(loc), value, order(value), false);
        self.follower.has_read(self.events.len() - 1, false);
        Ok(value)
    }
    fn rmw_write(&mut self, loc: Loc, value: i64, order: Ordering) {
        self.add(Act::Write, Some(loc), value, Some(write_part(order)), true);
    }
}

impl Memory for Played<'_> {
    fn begins(&mut self, stmt: &Stmt) {
        self.follower.begins(stmt);
    }
    fn is_behind(&mut self, branch: &Stmt) {
        self.follower.is_behind(branch);
    }
    /// An exchange that fails without a reason loads too.
    fn load(&mut self, loc: Loc, access: Access) -> Result<i64, Stop> {
        let value = self.read(loc, None, |_| order_of(access))?;
        self.follower.has_read(self.events.len() - 1, true);
        Ok(value)
    }
    fn store(&mut self, loc: Loc, value: i64, access: Access) -> Result<(), Stop> {
        self.add(Act::Write, Some(loc), value, order_of(access), false);
        Ok(())
    }
    fn update(&mut self, loc: Loc, op: Update, operand: i64, order: Ordering) -> Result<i64, Stop> {
        let old = self.read(loc, None, |_| Some(read_part(order)))?;
        self.rmw_write(loc, op.apply(old, operand), order);
        Ok(old)
    }
    fn exchange(
        &mut self,
        loc: Loc,
        (current, new): (i64, i64),
        success: Ordering,
        failure: Ordering,
    ) -> Result<Result<i64, i64>, Stop> {
        let order = |value| Some(if value == current { read_part(success) } else { failure });
        let found = self.read(loc, None, order)?;
        if found != current {
            self.follower.has_read(self.events.len() - 1, true);
            return Ok(Err(found));
        }
        self.rmw_write(loc, new, success);
        Ok(Ok(found))
    }
    fn fence(&mut self, order: Ordering) -> Result<(), Stop> {
        self.add(Act::Fence, None, 0, Some(order), false);
        Ok(())
    }
    fn light_fence(&mut self) -> Result<(), Stop> {
        self.add(Act::Light, None, 0, None, false);
        Ok(())
    }
    fn heavy_fence(&mut self) -> Result<(), Stop> {
        self.add(Act::Call, None, 0, Some(SeqCst), false);
        self.add(Act::Return, None, 0, Some(SeqCst), false);
        Ok(())
    }
    fn choose(&mut self, n: usize) -> Result<usize, Stop> {
        match self.answers.next() {
            Some(Answer::Chooses(choice)) => Ok(*choice),
            _ => self.ask(Asks::Choice(n)),
        }
    }
    fn wait(&mut self, loc: Loc, value: i64, order: Ordering, then: Option<i64>) -> Result<(), Stop> {
        self.read(loc, Some(value), |_| Some(read_part(order)))?;
        if let Some(then) = then {
            self.rmw_write(loc, then, order);
        }
        Ok(())
    }
    fn locked(&mut self, lock: Loc, body: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        self.wait(lock, 0, Acquire, Some(1))?;
        body(self)?;
        self.store(lock, 0, Access::Atomic(Release))
    }
    fn park(&mut self, parker: Loc) -> Result<(), Stop> {
        self.wait(parker, 1, Acquire, Some(0))
    }
    fn unpark(&mut self, parker: Loc) -> Result<(), Stop> {
        self.update(parker, Update::Swap, 1, Release).map(|_| ())
    }
}

/// How far a thread came.
pub(super) enum End {
    Done(Vec<i64>),
    Cut,
    Asks(Asks),
}

/// A thread's events so far, what its reads read, and how far it came.
pub(super) struct Trace {
    pub(super) events: Vec<Event>,
    /// What each event depends on.
    pub(super) depends: Vec<Depends>,
    pub(super) reads: Vec<(usize, Option<usize>, usize)>,
    pub(super) end: End,
}

pub(super) fn trace(program: &Program, thread: usize, answers: &[Answer]) -> Trace {
    let mut played = Played {
        thread,
        answers: answers.iter(),
        asks: None,
        events: Vec::new(),
        depends: Vec::new(),
        follower: Follower::new(program.threads[thread].registers.len()),
        reads: Vec::new(),
    };
    let mut registers = program.threads[thread].start();
    let result = perform(&program.threads[thread].body, &mut registers, &mut played);
    let end = match (result, played.asks) {
        (Ok(()), _) => End::Done(registers),
        (Err(Stop::Undecided), Some(asks)) => End::Asks(asks),
        (Err(_), _) => End::Cut,
    };
    Trace { events: played.events, depends: played.depends, reads: played.reads, end }
}

/// Finds every consistent execution.
///
/// # Errors
/// If the program says what cannot be done, or is too large: an execution may have 64 events.
pub fn enumerate(program: &Program) -> Result<Reference, String> {
    enumerate_while(program, || true).map(|(found, _)| found)
}

/// What is found while `goes_on` says so, asked before each graph; and whether that is all.
///
/// # Errors
/// As [`enumerate`].
pub fn enumerate_while(program: &Program, goes_on: impl Fn() -> bool) -> Result<(Reference, bool), String> {
    enumerate_some(program, &[], goes_on, |_, _, _| true)
}

/// The same, of those graphs that `counts` accepts, which is asked with the answers, the events, and the order of each
/// location's writes. The registers of threads that are in one of `groups` are sorted, thread by thread.
pub(super) fn enumerate_some(
    program: &Program,
    groups: &[Range<usize>],
    goes_on: impl Fn() -> bool,
    mut counts: impl FnMut(&[Vec<Answer>], &Graph, &[Vec<usize>]) -> bool,
) -> Result<(Reference, bool), String> {
    program.check()?;
    let mut found = Reference::default();
    let start = vec![Vec::new(); program.threads.len()];
    let mut seen = HashSet::from([start.clone()]);
    let mut todo = vec![start];
    while let Some(answers) = todo.pop() {
        if !goes_on() {
            return Ok((found, false));
        }
        let traces: Vec<Trace> = answers.iter().enumerate().map(|(n, a)| trace(program, n, a)).collect();
        let traces_of: Vec<&Trace> = traces.iter().collect();
        let reads = traces.iter().enumerate().flat_map(|(n, trace)| {
            trace.reads.iter().map(move |(read, from, write)| Read {
                thread: n,
                read: *read,
                from: *from,
                write: *write,
            })
        });
        let graph = graph(program, &traces_of, &reads.collect::<Vec<_>>(), MemoryModel::Rc11)?;
        if !graph.is_viable() {
            continue;
        }
        let mut stopped = true;
        for (thread, asked) in traces.iter().enumerate() {
            let End::Asks(asks) = &asked.end else { continue };
            stopped &= matches!(asks, Asks::Read(_, Some(_)));
            for answer in possible(program, &traces, *asks) {
                let mut more = answers.clone();
                more[thread].push(answer);
                if seen.insert(more.clone()) {
                    todo.push(more);
                }
            }
        }
        if stopped {
            judge(program, &traces_of, &graph, groups, |orders| counts(&answers, &graph, orders), &mut found);
        }
    }
    Ok((found, true))
}

/// All answers to what is asked, of which some may turn out to be inconsistent.
fn possible(program: &Program, traces: &[Trace], asks: Asks) -> Vec<Answer> {
    let (loc, wanted) = match asks {
        Asks::Choice(n) => return (0..n).map(Answer::Chooses).collect(),
        Asks::Read(loc, wanted) => (loc, wanted),
    };
    let mut writes = vec![(None, loc, program.locations[loc].initial)];
    for (thread, trace) in traces.iter().enumerate() {
        let events = trace.events.iter().enumerate().filter(|(_, e)| e.act == Act::Write && e.loc == Some(loc));
        writes.extend(events.map(|(event, e)| (Some(thread), event, e.value)));
    }
    let suits = |value| wanted.is_none_or(|wanted| wanted == value);
    let writes = writes.into_iter().filter(|(_, _, value)| suits(*value));
    writes.map(|(thread, event, value)| Answer::Reads { thread, event, value }).collect()
}

/// Which write a read reads: a thread's, by its number there; or the initial one of the location of that number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    pub(super) thread: usize,
    pub(super) read: usize,
    pub(super) from: Option<usize>,
    pub(super) write: usize,
}

/// The graph of these traces, with the initial writes in front, in the order of the locations.
pub(super) fn graph(program: &Program, traces: &[&Trace], reads: &[Read], model: MemoryModel) -> Result<Graph, String> {
    let initial = |(loc, location): (usize, &crate::program::Location)| {
        let order = (location.kind != Kind::Plain).then_some(Relaxed);
        Event { thread: None, act: Act::Write, loc: Some(loc), value: location.initial, order, is_rmw: false }
    };
    let mut events: Vec<Event> = program.locations.iter().enumerate().map(initial).collect();
    let mut first = Vec::new();
    for trace in traces {
        first.push(events.len());
        events.extend(&trace.events);
    }
    let too_large = || format!("{}: an execution of more than 64 events is too large to enumerate", program.name);
    if events.len() > 64 {
        return Err(too_large());
    }
    let place = |thread: Option<usize>, event| thread.map_or(event, |thread| first[thread] + event);
    let rf: Vec<_> = reads.iter().map(|r| (place(r.from, r.write), place(Some(r.thread), r.read))).collect();
    let dependencies = |is_imm: bool| {
        let mut deps = Relation::empty(events.len());
        for (trace, first) in traces.iter().zip(&first) {
            for (n, (event, depends)) in trace.events.iter().zip(&trace.depends).enumerate() {
                let branches = if is_imm { depends.behind } else { depends.inside };
                members(depends.data | branches).for_each(|read| deps.add(first + read, first + n));
                if event.is_rmw {
                    deps.add(first + n - 1, first + n);
                }
            }
        }
        // A read that is done early is no cause of anything: only in IMM does a dependency go on through it.
        let targets = if is_imm { !0 } else { set_of(&events, |e| e.act == Act::Write) };
        deps.between(!0, targets)
    };
    let grounds = match model {
        MemoryModel::Rc11 => Grounds::ProgramOrder,
        MemoryModel::Imm => Grounds::Imm(dependencies(true)),
        MemoryModel::C11Dep => Grounds::Dependencies(dependencies(false)),
    };
    let graph = Graph::new(events, &rf, grounds);
    if graph.size() > 64 { Err(too_large()) } else { Ok(graph) }
}

fn set_of(events: &[Event], holds: impl Fn(&Event) -> bool) -> Set {
    events.iter().enumerate().filter(|(_, event)| holds(event)).fold(0, |set, (n, _)| set | 1 << n)
}

/// Counts the consistent graphs that these traces have, one for each order of writes.
pub(super) fn judge(
    program: &Program,
    traces: &[&Trace],
    graph: &Graph,
    groups: &[Range<usize>],
    mut counts: impl FnMut(&[Vec<usize>]) -> bool,
    found: &mut Reference,
) {
    let choices: Vec<Vec<Vec<usize>>> = (0..program.locations.len()).map(|loc| graph.write_orders(loc)).collect();
    let mut orders = vec![Vec::new()];
    for choice in &choices {
        orders = orders
            .iter()
            .flat_map(|begun| choice.iter().map(move |c| [begun.as_slice(), std::slice::from_ref(c)].concat()))
            .collect();
    }
    orders.retain(|order: &Vec<Vec<usize>>| graph.is_ordered(&graph.modification_order(order)));
    found.race |= !orders.is_empty() && graph.has_race();
    for order in orders {
        let last = |loc: Loc| order[loc].last().map_or(0, |write| graph.events[*write].value);
        if counts(&order) {
            count(program, traces, groups, last, found);
        }
    }
}

/// Counts one consistent graph, of which the last value of each location is known.
fn count(
    program: &Program,
    traces: &[&Trace],
    groups: &[Range<usize>],
    last: impl Fn(Loc) -> i64,
    found: &mut Reference,
) {
    let done = traces.iter().map(|trace| match &trace.end {
        End::Done(registers) => Some(registers),
        _ => None,
    });
    if let Some(mut registers) = done.collect::<Option<Vec<_>>>() {
        groups.iter().for_each(|group| registers[group.clone()].sort());
        let outcome = program.outcome(|item| match item {
            Item::Reg(thread, reg) => registers[thread][reg],
            Item::Loc(loc) => last(loc),
        });
        found.executions += 1;
        *found.outcomes.entry(outcome).or_default() += 1;
        return;
    }
    // A thread that was cut short may have run into an endless loop: no deadlock then.
    found.stuck |= traces.iter().all(|trace| match trace.end {
        End::Done(_) => true,
        End::Cut => false,
        End::Asks(Asks::Read(loc, wanted)) => wanted != Some(last(loc)),
        End::Asks(_) => false,
    });
}
