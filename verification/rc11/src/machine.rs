//! Threads as coroutines on one thread of the machine: they are played again up to the graph that is to be extended,
//! each operation answered out of the graph, and then go on, one step at a time.
//!
//! What a thread does between two operations is its own. What it shares goes through the graph, or through memory
//! that only changes hands in the graph's order: a read is answered only when the write that it reads has been.

mod answers;
mod drain;
mod frame;
mod late;
mod memory;
mod moment;
mod pointers;
mod recursion;
mod timeouts;
mod turns;
mod yields;

pub(crate) use self::memory::{
    as_if_it_knew, as_if_it_knew_all, has_ended, is_freed_under, is_gone, known, must_know_all_of,
};
pub(super) use yields::ask_to_yield;

use crate::graph::{Clock, Graph, Loc, MAX_THREADS, Update};
use crate::heap;
use crate::naming::unlike;
use crate::quarantine;
use crate::step::{Ask, Way};
use crate::text::panic_text;
use crate::verdict::{Failure, Why};
use corosensei::stack::{DefaultStack, Stack as _};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(crate) use self::frame::{Frame, wipe};
pub(crate) use self::late::{all_are_joined, bind, late_number};
pub use self::moment::Moment;
pub(crate) use self::moment::{at_the_latest, holds_a_lock, moment};
pub(crate) use self::timeouts::{ComesBack, aside, comes_back, has_news, is_cut};

type Body = Box<dyn FnOnce()>;
type Thread = Coroutine<(), (), (), DefaultStack>;

/// A thread of the execution, as far as it has come.
struct Slot {
    thread: Option<Thread>,
    yielder: *const Yielder<(), ()>,
    /// What it waits to be answered. `None`: it has yet to come so far.
    asks: Option<Ask>,
    /// Its events, by number.
    events: Vec<u16>,
    /// How many of them it has had the answers to.
    told: u16,
    /// How many locks it holds.
    holds: u16,
    /// How many locations it has made.
    locs: u32,
    is_done: bool,
    /// Is it in the middle of a panic?
    is_unwinding: bool,
    /// Was another thread, when this one last went on? Then it cannot be known whether this one is: the machine's
    /// thread counts for all.
    others_unwind: bool,
    asked_in_vain: u32,
    /// How often it has yielded in a row, and asked for nothing else.
    yields: u32,
    /// It is tried whether its loop goes on as it does.
    dry: Option<yields::Dry>,
    /// Which thread made the location that it asks for, if another did, and after how many of its events.
    must_know: Option<(u8, u16)>,
    /// It runs a destructor, and counts as knowing this.
    knows: Option<Clock>,
    /// Where its stack begins and ends.
    stack_begins: usize,
    stack_ends: usize,
    /// Where it stood when it yielded last, and the line of the source.
    frame: Option<frame::Frame>,
    at: Option<&'static Location<'static>>,
    /// Which one it is, in the order in which threads were started in this play.
    number: usize,
    /// What it is called; only when it is played again.
    name: String,
}

impl Slot {
    fn new() -> Slot {
        Slot {
            thread: None,
            yielder: std::ptr::null(),
            asks: None,
            events: Vec::new(),
            told: 0,
            holds: 0,
            locs: 0,
            is_done: false,
            is_unwinding: false,
            others_unwind: false,
            asked_in_vain: 0,
            yields: 0,
            dry: None,
            must_know: None,
            stack_begins: 0,
            knows: None,
            stack_ends: 0,
            frame: None,
            at: None,
            number: 0,
            name: String::new(),
        }
    }

    /// As new, for another thread. Its memory is used again.
    fn reset(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        *self = Slot { events, ..Slot::new() };
    }
}

/// How a lock is taken.
pub(super) const LOCKING: Update = Update::Await { wanted: 0, new: 1 };
/// How a parked thread is woken.
pub(super) const PARKING: Update = Update::Await { wanted: 1, new: 0 };

/// The same, but the thread would not sleep for ever: that it wakes of itself was tried elsewhere.
pub(super) const PARKING_FOR_A_WHILE: Update = Update::Await { wanted: 1, new: 2 };

/// One execution.
#[derive(Default)]
struct Machine {
    graph: Graph,
    slots: Vec<Slot>,
    /// How many slots this play has used.
    used: usize,
    /// The threads that there are, in the order of their paths.
    order: Vec<u8>,
    /// How many threads were started in this play.
    started: usize,
    /// Events that are still to be played again.
    left: usize,
    current: u8,
    ways: Vec<Way>,
    failure: Option<Failure>,
    /// The rest is not to be played: every thread unwinds.
    is_over: bool,
    limits: Limits,
    mode: Mode,
    /// Is an execution being played, so that there is somebody to ask?
    is_on: bool,
    /// Which play it is, of all in this process.
    play: u32,
    pointers: pointers::Pointers,
    /// Which places of objects that no thread made are in use in this play.
    bound: BTreeSet<u32>,
    /// Of each of these objects, by where it was when it was used first.
    late: HashMap<usize, u32>,
    memory: memory::Memory,
    /// No other ways are noted: from [`stop_exploring`] on.
    is_stopped: bool,
    /// The same, to the end.
    is_ending: bool,
    /// How many other ways were not noted.
    skipped: u64,
    /// How many loops that write were left.
    cuts: u64,
    /// Which, and why.
    cut: BTreeSet<String>,
    /// Waits of threads, by line, that have timed out so often that not each such execution is played.
    timed_out: BTreeMap<(u8, usize), String>,
    /// How many loops were shown to have no end.
    shown: u64,
    /// Does the model use what is no location, but the checker's?
    is_seen: bool,
    /// What was tried came to nothing: the graph is to be played again.
    begins_anew: bool,
    /// It stands for nothing, and is played to its end.
    drain: Option<Box<drain::Drain>>,
    /// How many starts of threads are to be refused.
    refusals: u64,
    /// Are threads that wait left as they are, once the main thread has ended?
    leaves_waiting: bool,
    /// Is a word accessed plainly? Then races are looked for at the end: an access that is atomic may be one half.
    mixes: bool,
    stacks: Vec<DefaultStack>,
    /// Where in the source each event was asked for, and each location was made; only when it is played again.
    sites: Vec<Site>,
    made: Vec<Made>,
    /// The file and the line of the last panic.
    panicked: Option<String>,
}

/// Whose event, which of its thread's, and where in the source it was asked for.
pub type Site = (u8, u16, &'static Location<'static>);

/// A location, the thread that made it, after how many of its events, and where in the source.
type Made = (Loc, u8, u16, &'static Location<'static>);

/// What an execution may take, and how it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Limits {
    pub max_events: usize,
    pub max_threads: usize,
    /// When it is over, do its threads unwind? If not, nothing of theirs is dropped.
    pub unwind: bool,
    /// Is what it frees kept until its end?
    pub quarantine: bool,
    /// Is one explored of the executions that symmetric threads make of one?
    pub symmetry: bool,
    /// So many times a block may lie where one that was freed lay.
    pub reuse: u16,
    /// Is it counted what it does not free?
    pub leaks: bool,
}

/// What is to be done with a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    /// It is extended until all threads have ended.
    #[default]
    Explore,
    /// It is only played again, and looked at.
    Replay,
}

thread_local! {
    static MACHINE: RefCell<Machine> = RefCell::new(Machine::default());
    /// What the next question is of: which thread made the location, and after how many of its events.
    static MUST_KNOW: Cell<Option<(u8, u16)>> = const { Cell::new(None) };
}

fn with<R>(f: impl FnOnce(&mut Machine) -> R) -> R {
    quarantine::checker(|| MACHINE.with_borrow_mut(f))
}

/// Thrown through threads whose execution is over.
struct Over;

/// How an execution ended.
pub(super) enum End {
    /// All threads have come to their end.
    Complete,
    /// A thread spins on what was overwritten: no execution of its own.
    Blocked,
    /// It was only played again.
    Played,
    /// It is to be played again, and then goes on.
    Anew,
    /// It must not be.
    Failed(Failure),
}

/// What came of one run.
pub(super) struct Run {
    pub end: End,
    pub graph: Graph,
    pub ways: Vec<Way>,
    /// How many ways were not to be noted.
    pub skipped: u64,
    /// How many loops that write were left without news.
    pub cuts: u64,
    /// Which, and why.
    pub cut: BTreeSet<String>,
    /// How many loops were shown to have no end.
    pub shown: u64,
    /// Does the model use what is no location, but the checker's?
    pub is_seen: bool,
    pub sites: Vec<Site>,
    /// What each thread waits for, and what they are called; only when it is played again.
    pub waits: Vec<Wait>,
    pub names: Vec<String>,
    /// Of the location that the thread that failed asks for: who made it, after how many events, and where.
    pub lost: Option<(u8, u16, &'static Location<'static>)>,
    /// The file and the line of the panic that it ended with.
    pub panicked: Option<String>,
}

/// A thread that has come to rest, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The thread that waits.
    pub thread: u8,
    /// What for.
    pub wants: Wants,
}

/// What a thread may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Until `value` is at `loc`.
    Value {
        /// Where.
        loc: Loc,
        /// What.
        value: u64,
    },
    /// Until that thread has come to its end.
    Thread(u8),
    /// Until something is written that its loop has read.
    News,
    /// Until there is room at that place.
    Room(Loc),
}

const ASYMMETRIC: &str = "symmetric threads are not: two of them have read the same, and do not do the same next. What \
    they do must not depend on which one they are, nor on anything outside of the model; else start each by `spawn`.";

/// Plays `body` from `graph` on.
pub(super) fn run(graph: Graph, limits: Limits, mode: Mode, body: Body) -> Run {
    with(|machine| machine.begin(graph, limits, mode));
    // An allocator must not unwind.
    quarantine::begin(limits.quarantine && !limits.unwind);
    start(0, "main", body);
    let end = drive();
    let (waits, names, lost) = with(|machine| (machine.waits(), machine.names(), machine.lost()));
    end_all(limits.unwind);
    let end = if drain::undo() { End::Blocked } else { end };
    quarantine::end(limits.leaks);
    with(|machine| Run {
        waits,
        names,
        skipped: machine.skipped,
        cuts: machine.cuts + machine.timed_out.len() as u64,
        cut: machine.cut.iter().chain(machine.timed_out.values()).cloned().collect(),
        shown: machine.shown,
        is_seen: machine.is_seen,
        end: match machine.failure.take() {
            _ if std::mem::take(&mut machine.begins_anew) => End::Anew,
            Some(failure) => End::Failed(failure),
            None => end,
        },
        graph: std::mem::take(&mut machine.graph),
        ways: std::mem::take(&mut machine.ways),
        lost,
        panicked: machine.panicked.take(),
        sites: std::mem::take(&mut machine.sites),
    })
}

/// Asks, and waits for the answer.
#[track_caller]
pub(super) fn ask(ask: Ask) -> u64 {
    ask_about(&ask, false)
}

/// The same; what is read and written are addresses.
#[track_caller]
pub(super) fn ask_of_pointers(ask: Ask) -> u64 {
    ask_about(&ask, true)
}

#[track_caller]
fn ask_about(ask: &Ask, are_pointers: bool) -> u64 {
    let at = Location::caller();
    quarantine::leave();
    let value = loop {
        let answer = with(|machine| machine.answer(ask, at, are_pointers));
        match answer {
            Some(Ok(value)) => break value,
            Some(Err(Over)) => break over(),
            None => suspend(),
        }
    };
    yields::wipe_if_dry();
    quarantine::enter();
    value
}

/// What to say to who asks where no model is played.
const OUTSIDE: &str = "rc11: used outside of a model, or by a thread that the model does not know. Make it inside of \
    the closure, and start threads by `thread::spawn` of this crate.";

/// The execution is over: the thread unwinds. What its destructors ask has no meaning, and is answered at once.
fn over() -> u64 {
    if with(|machine| !machine.limits.unwind) {
        rest_in_peace();
    }
    let (is_unwinding, asked) = with(|machine| {
        let slot = &mut machine.slots[usize::from(machine.current)];
        slot.asked_in_vain += 1;
        (slot.is_unwinding, slot.asked_in_vain)
    });
    if asked > 10_000 {
        rest_in_peace();
    }
    if is_unwinding && std::thread::panicking() {
        return 0;
    }
    with(|machine| machine.slots[usize::from(machine.current)].is_unwinding = true);
    resume_unwind(Box::new(Over));
}

fn suspend() {
    let (yielder, others_unwind) = with(|machine| {
        let slot = &mut machine.slots[usize::from(machine.current)];
        (slot.yielder, slot.others_unwind)
    });
    assert!(!yielder.is_null(), "rc11: asked from outside of a model");
    if !others_unwind {
        let unwinds = std::thread::panicking();
        with(|machine| machine.slots[usize::from(machine.current)].is_unwinding = unwinds);
    }
    // SAFETY: set by this very coroutine when it began, and it has not ended: it is running this.
    unsafe { &*yielder }.suspend(());
}

/// A thread panics in that line. Is it one of an execution's, whose panics are told by what the checker says of it?
pub(super) fn panics_at(at: Option<&Location<'_>>) -> bool {
    let note = |machine: &RefCell<Machine>| {
        // It is borrowed if it is the checker that panics.
        let Ok(mut machine) = machine.try_borrow_mut() else { return false };
        machine.panicked = at.map(|at| format!("{}:{}", at.file(), at.line()));
        machine.is_on
    };
    quarantine::checker(|| MACHINE.try_with(note).unwrap_or(false))
}

/// A new location of the calling thread's, and how many events the thread has had before: the maker's mark.
#[track_caller]
pub(super) fn make_location() -> (Loc, u8, u16) {
    let at = Location::caller();
    with(|machine| {
        assert!(machine.is_on, "{OUTSIDE}");
        let thread = machine.current;
        let slot = &mut machine.slots[usize::from(thread)];
        slot.locs += 1;
        let (loc, told) = (Loc::new(thread, slot.locs - 1), slot.told);
        if machine.mode == Mode::Replay {
            machine.made.push((loc, thread, told, at));
        }
        (loc, thread, told)
    })
}

/// Which play it is, of all in this process. Is there one at all?
pub(super) fn play() -> Option<u32> {
    with(|machine| machine.is_on.then_some(machine.play))
}

/// What the calling thread does cannot be right; the execution is over.
pub(super) fn fail(what: &str) {
    let is_on = with(|machine| {
        machine.fails(Why::Panic(what.to_owned()));
        machine.is_on
    });
    if is_on {
        over();
    }
}

/// Which of the graph's threads the calling one is.
pub(super) fn current() -> u8 {
    with(|machine| {
        assert!(machine.is_on, "{OUTSIDE}");
        machine.current
    })
}

/// How many of its events the calling thread has had the answers to.
pub(super) fn told() -> u16 {
    with(|machine| machine.slots[usize::from(machine.current)].told)
}

/// From here on other ways are noted, or are not.
pub(super) fn note_other_ways(notes: bool) {
    with(|machine| machine.is_stopped = !notes);
}

/// From here on no other ways are noted, whoever says what.
pub(super) fn note_no_more_ways() {
    with(|machine| machine.is_ending = true);
}

/// What the calling thread asks next is of a location that `maker` made after `told` events: it must know of that.
#[inline]
pub(super) fn must_know(maker: u8, told: u16) {
    MUST_KNOW.set(Some((maker, told)));
}

/// Starts a thread; the number by which to join it.
#[track_caller]
pub(super) fn fork(name: &str, nth: u8, body: Body) -> u8 {
    let child = ask(Ask::Fork { nth }) as u8;
    if !with(|machine| machine.is_over) {
        start(child, name, body);
    }
    child
}

/// May a block lie where one that was freed lay, in this exploration?
pub(super) fn reuses() -> bool {
    with(|machine| machine.limits.reuse > 0)
}

/// Is one explored of the executions that symmetric threads make of one?
pub(super) fn reduces_by_symmetry() -> bool {
    with(|machine| machine.limits.symmetry)
}

/// Is that one of symmetric threads?
pub(super) fn is_one_of_many(thread: u8) -> bool {
    with(|machine| machine.is_on && machine.graph.threads.get(usize::from(thread)).is_some_and(|thread| thread.nth > 0))
}

/// May `park` wake spuriously in this exploration?
pub(super) fn may_wake_spuriously() -> bool {
    with(|machine| machine.graph.spurious > 0)
}

/// How many starts of threads are to be refused in this execution.
pub(super) fn refusals() -> u64 {
    with(|machine| machine.refusals)
}

/// So many are. Before the first thread starts.
pub(super) fn refuse_spawns(n: u64) {
    with(|machine| machine.refusals = n);
}

/// Threads that wait when the main thread has ended are left as they are.
pub(super) fn leave_waiting() {
    with(|machine| machine.leaves_waiting = true);
}

/// The model uses what is no location, but the checker's.
pub(super) fn is_seen() {
    with(|machine| machine.is_seen = true);
}

/// A word is accessed plainly in this execution.
pub(super) fn mixes() {
    with(|machine| machine.mixes = true);
}

/// Which one the calling thread is, in the order in which threads were started in this play.
pub(super) fn me() -> usize {
    with(|machine| machine.slots.get(usize::from(machine.current)).map_or(0, |slot| slot.number))
}

/// What the calling thread is called in pictures.
pub(super) fn name_thread(name: &str) {
    with(|machine| {
        let (thread, mode) = (machine.current, machine.mode);
        if mode == Mode::Replay && usize::from(thread) < machine.slots.len() {
            machine.slots[usize::from(thread)].name = machine.unlike_the_others(thread, name);
        }
    });
}

/// Is the execution over, so that nothing that is asked has a meaning?
pub(super) fn is_over() -> bool {
    with(|machine| machine.is_over)
}

/// The calling thread can neither go on nor unwind: it is left as it is, for ever.
pub(super) fn rest_in_peace() -> ! {
    loop {
        suspend();
    }
}

fn start(thread: u8, name: &str, body: Body) {
    let stack = with(|machine| machine.stacks.pop());
    let stack = stack.unwrap_or_else(|| DefaultStack::new(STACK).expect("memory for a stack"));
    let (stack_begins, stack_ends) = (stack.base().get(), stack.limit().get());
    let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
        with(|machine| machine.slots[usize::from(thread)].yielder = yielder);
        let result = catch_unwind(AssertUnwindSafe(|| if is_over() { never(body) } else { body() }));
        with(|machine| machine.ends(thread, result));
    });
    with(|machine| {
        let slot = &mut machine.slots[usize::from(thread)];
        slot.thread = Some(coroutine);
        (slot.stack_begins, slot.stack_ends) = (stack_begins, stack_ends);
        slot.number = machine.started;
        machine.started += 1;
        if machine.mode == Mode::Replay {
            machine.slots[usize::from(thread)].name = machine.unlike_the_others(thread, name);
        }
    });
}

/// It has not begun, and never will. What it was given may mind to be dropped, unless the thread unwinds; what its
/// destructors ask is answered as of one that unwinds.
fn never(body: Body) {
    let _body = body;
    with(|machine| machine.slots[usize::from(machine.current)].is_unwinding = true);
    resume_unwind(Box::new(Over));
}

/// Twice as much as shuttle gives its threads: a part is kept for what recursion without end leaves to be done.
const STACK: usize = 0x4_0000;

fn drive() -> End {
    loop {
        match with(Machine::who_is_next) {
            Next::Thread(thread) => resume(thread),
            Next::End(end) => return end,
        }
    }
}

fn resume(thread: u8) {
    let coroutine = with(|machine| {
        machine.current = thread;
        let slot = &mut machine.slots[usize::from(thread)];
        slot.others_unwind = std::thread::panicking() && !slot.is_unwinding;
        slot.thread.take()
    });
    let mut coroutine = coroutine.expect("a thread that can go on");
    quarantine::enter();
    let result = coroutine.resume(());
    quarantine::leave();
    with(|machine| match result {
        CoroutineResult::Yield(()) => machine.slots[usize::from(thread)].thread = Some(coroutine),
        CoroutineResult::Return(()) => machine.stacks.push(coroutine.into_stack()),
    });
}

/// Ends every thread that has not come to its end.
fn end_all(unwind: bool) {
    if unwind {
        unwind_all();
    } else {
        with(Machine::abandon_all);
    }
    with(|machine| machine.is_on = false);
}

fn unwind_all() {
    let left: Vec<u8> = with(|machine| {
        machine.is_over = true;
        let left = (0..machine.slots.len()).filter(|&n| machine.slots[n].thread.is_some());
        left.map(|n| n as u8).collect()
    });
    for thread in left {
        resume(thread);
        // One that cannot unwind is left alone, with its stack.
        std::mem::forget(with(|machine| machine.slots[usize::from(thread)].thread.take()));
    }
}

/// Which thread goes on.
enum Next {
    Thread(u8),
    End(End),
}

impl Machine {
    fn begin(&mut self, graph: Graph, limits: Limits, mode: Mode) {
        static PLAYS: AtomicU32 = AtomicU32::new(0);
        // Relaxed: a number that nobody else has.
        self.play = PLAYS.fetch_add(1, Relaxed);
        self.is_on = true;
        self.pointers.clear();
        self.made.clear();
        self.panicked = None;
        self.late.clear();
        self.bound.clear();
        self.memory.clear();
        (self.is_stopped, self.is_ending, self.begins_anew) = (false, false, false);
        (self.skipped, self.cuts, self.shown) = (0, 0, 0);
        self.cut.clear();
        self.timed_out.clear();
        self.slots.resize_with(MAX_THREADS, Slot::new);
        self.slots[..self.used].iter_mut().for_each(Slot::reset);
        self.used = graph.threads.len();
        for (n, event) in graph.events.iter().enumerate() {
            self.slots[usize::from(event.thread)].events.push(n as u16);
        }
        self.left = graph.events.len();
        self.graph = graph;
        self.sort_threads();
        self.current = 0;
        self.started = 0;
        self.failure = None;
        self.is_over = false;
        self.limits = limits;
        self.mode = mode;
        self.refusals = 0;
        self.leaves_waiting = false;
        self.drain = None;
        (self.mixes, self.is_seen) = (false, false);
    }

    /// Leaves every thread that has not come to its end where it is; their stacks are used again.
    fn abandon_all(&mut self) {
        self.is_over = true;
        for slot in &mut self.slots {
            let Some(mut thread) = slot.thread.take() else { continue };
            // SAFETY: what lies on the stack is forgotten, not dropped. Nobody is left who could have borrowed from
            // it: the other threads of this execution have ended or are forgotten here too, and a coroutine lends
            // nothing to who resumes it.
            unsafe { thread.force_reset() };
            self.stacks.push(thread.into_stack());
        }
    }

    /// The order of threads is the order of their paths.
    fn sort_threads(&mut self) {
        let there = (0..self.graph.threads.len()).filter(|&n| self.graph.threads[n].is_there);
        self.order.clear();
        self.order.extend(there.map(|n| n as u8));
        let threads = &self.graph.threads;
        self.order.sort_unstable_by_key(|&n| threads[usize::from(n)].path);
    }

    fn slot(&self, thread: u8) -> &Slot {
        &self.slots[usize::from(thread)]
    }

    /// Answers what the current thread asks. `None`: not now.
    fn answer(&mut self, ask: &Ask, at: &'static Location<'static>, are_pointers: bool) -> Option<Result<u64, Over>> {
        assert!(self.is_on, "{OUTSIDE}");
        if let Some((maker, told)) = MUST_KNOW.take() {
            let me = self.current;
            self.slots[usize::from(me)].must_know = (maker != me).then_some((maker, told));
        }
        if self.is_over {
            return Some(Err(Over));
        }
        if recursion::is_used_up(self.slot(self.current).stack_ends) {
            self.fails(Why::Panic(recursion::sentence()));
            return Some(Err(Over));
        }
        if !are_pointers {
            return self.answer_named(ask, at);
        }
        let ask = self.with_names(self.current, ask);
        let answer = self.answer_named(&ask, at)?;
        let address = |name| if heap::is_address(name) { heap::from_graph(name) } else { self.pointers.address(name) };
        Some(answer.map(address))
    }

    fn answer_named(&mut self, ask: &Ask, at: &'static Location<'static>) -> Option<Result<u64, Over>> {
        let thread = self.current;
        if matches!(ask, Ask::Yield) {
            self.slots[usize::from(thread)].at = Some(at);
        }
        if self.slots[usize::from(thread)].dry.is_some() {
            return self.answer_dry(thread, ask);
        }
        let slot = &mut self.slots[usize::from(thread)];
        slot.asks = Some(*ask);
        if matches!(ask, Ask::Yield | Ask::Spin)
            && let Some(answer) = self.yields_to_the_others(thread)
        {
            return answer;
        }
        let slot = &self.slots[usize::from(thread)];
        if self.mode == Mode::Replay {
            self.sites.push((thread, slot.told, at));
        }
        if matches!(ask, Ask::Yield)
            && let Some(answer) = self.yields_in_vain(thread)
        {
            return Some(answer);
        }
        let slot = &self.slots[usize::from(thread)];
        if usize::from(slot.told) < slot.events.len() {
            return self.again(thread, ask);
        }
        if self.left > 0
            || self.mode == Mode::Replay
            || !matches!(self.who_is_next(), Next::Thread(next) if next == thread)
        {
            return None;
        }
        if matches!(ask, Ask::Yield) {
            return self.yields(thread);
        }
        let answer = self.goes_on(thread, ask);
        // A thread that spins is not answered.
        if matches!(ask, Ask::Spin) && answer.is_ok() { None } else { Some(answer) }
    }

    /// `name`, unless another thread than this has it: then with a number.
    fn unlike_the_others(&self, thread: u8, name: &str) -> String {
        let others = self.order.iter().filter(|&&other| other != thread);
        unlike(name, others.map(|&other| self.slot(other).name.as_str()))
    }

    fn names(&self) -> Vec<String> {
        let threads = if self.mode == Mode::Replay { self.graph.threads.len() } else { 0 };
        let name = |(n, slot): (usize, &Slot)| match slot.name.as_str() {
            // It was never started.
            "" => format!("thread {n}"),
            name => name.to_owned(),
        };
        self.slots[..threads].iter().enumerate().map(name).collect()
    }

    fn fails(&mut self, why: Why) {
        self.is_over = true;
        let thread = self.current;
        self.failure.get_or_insert(Failure { why, thread });
    }

    /// `thread` has come to its end.
    fn ends(&mut self, thread: u8, result: Result<(), Box<dyn Any + Send>>) {
        self.slots[usize::from(thread)].is_done = true;
        if self.slots[usize::from(thread)].dry.is_some() {
            // It has left the loop that was tried, or panicked in a round that is none.
            self.leaves_the_loop(thread);
            return;
        }
        if let Err(payload) = result
            && !payload.is::<Over>()
        {
            self.fails(Why::Panic(panic_text(&*payload)));
        }
    }
}
