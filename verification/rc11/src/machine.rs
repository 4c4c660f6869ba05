//! Threads as coroutines on one thread of the machine: they are played again up to the graph that is to be extended,
//! each operation answered out of the graph, and then go on, one step at a time.
//!
//! What a thread does between two operations is its own. What it shares goes through the graph, or through memory
//! that only changes hands in the graph's order: a read is answered only when the write that it reads has been.

mod answers;
mod calls;
mod drain;
mod ended;
mod frame;
mod late;
mod memory;
mod moment;
mod outcome;
mod pointers;
mod readers;
mod recursion;
mod rounds;
mod seen;
mod slot;
mod threads;
mod timeouts;
mod turns;
mod yields;

pub(super) use self::calls::{
    ask, ask_of_pointers, current, fail, fork, is_one_of_many, is_over, is_seen, leave_waiting, make_location,
    may_wake_spuriously, me, mixes, must_know, name_thread, note_no_more_ways, note_other_ways, panics_at, play,
    reduces_by_symmetry, refusals, refuse_spawns, rest_in_peace, reuses, told, unwinds,
};
use self::calls::{over, suspend};
pub(crate) use self::memory::{
    as_if_it_knew, as_if_it_knew_all, has_ended, is_freed_again, is_freed_as_another, is_freed_under, is_gone, known,
    must_know_all_of, must_know_events, note_free,
};
pub(super) use self::outcome::{End, Limits, Mode, Run};
pub use self::outcome::{Site, Wait, Wants};
use self::slot::Slot;
use self::threads::{drive, end_all, start};
pub(super) use yields::{NOT_SHOWN, ask_to_yield};

use crate::graph::{Graph, Loc, MAX_THREADS, Update};
use crate::heap;
use crate::naming::unlike;
use crate::quarantine;
use crate::step::{Ask, Way};
use crate::text::panic_text;
use crate::verdict::{Failure, Why};
use corosensei::Coroutine;
use corosensei::stack::DefaultStack;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(crate) use self::ended::with_last_values;
pub(crate) use self::frame::{Frame, wipe, wipe_if_tracked};
pub(crate) use self::late::{all_are_joined, bind, late_number};
pub use self::moment::Moment;
pub(crate) use self::moment::{at_the_latest, holds_a_lock, moment};
pub(crate) use self::readers::{forget_read, note_read};
pub(crate) use self::seen::{Seen, last_event_to_note, note_type, note_value};
pub(crate) use self::timeouts::{ComesBack, aside, comes_back, has_news, is_cut, times_out_silently};

type Body = Box<dyn FnOnce()>;
type Thread = Coroutine<(), (), (), DefaultStack>;

/// How a lock is taken.
pub(super) const LOCKING: Update = Update::Await { wanted: 0, new: 1 };
/// How a lock is taken that may be tried.
pub(super) const TAKE: Update = Update::Await { wanted: 0, new: 2 };
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
    /// Is an execution being played, so that there is a machine to ask?
    is_on: bool,
    /// Which play it is, of all in this process.
    play: u32,
    /// [`STRANGERS`], when it began.
    strangers: u32,
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
    /// Has a last owner, by a count of std's, freed what others had accessed?
    std_counts: bool,
    /// What was tried came to nothing: the graph is to be played again.
    begins_anew: bool,
    /// It stands for nothing, and is played to its end.
    drain: Option<Box<drain::Drain>>,
    /// How many starts of threads are to be refused.
    refusals: u64,
    /// Are threads that wait left as they are, once the main thread has ended?
    leaves_waiting: bool,
    rereads: Vec<readers::Reread>,
    /// Is a word accessed plainly? Then races are looked for at the end: an access that is atomic may be one half.
    mixes: bool,
    stacks: Vec<DefaultStack>,
    /// Where in the source each event was asked for, and each location was made; only when it is played again.
    sites: Vec<Site>,
    made: Vec<Made>,
    seen: Seen,
    /// The file and the line of the last panic.
    panicked: Option<String>,
    /// All threads have come to their end: the graph, while it is asked how it ended.
    ended: Option<Graph>,
}

/// A location, the thread that made it, after how many of its events, and where in the source.
type Made = (Loc, u8, u16, &'static Location<'static>);

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

const ASYMMETRIC: &str = "symmetric threads are not: two of them have read the same, and do not do the same next. What \
    they do must not depend on which one they are, nor on anything outside of the model; else start each by `spawn`.";

/// Plays `body` from `graph` on.
pub(super) fn run(graph: Graph, limits: Limits, mode: Mode, body: Body) -> Run {
    with(|machine| machine.begin(graph, limits, mode));
    if mode == Mode::Replay {
        // Whether a wait comes back to where it was is found as when it was explored.
        quarantine::track();
    }
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
        std_counts: machine.std_counts,
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
        seen: std::mem::take(&mut machine.seen),
    })
}

/// The message where no model is played.
const OUTSIDE: &str = "rc11: used outside of a model, or by a thread that the model does not know. Make it inside of \
    the closure, and start threads by `thread::spawn` of this crate.";

/// Which thread goes on.
enum Next {
    Thread(u8),
    End(End),
}

/// How often a thread of std's has used a model. What such a thread frees, and where that comes again, is not known.
static STRANGERS: AtomicU32 = AtomicU32::new(0);

impl Machine {
    fn must_be_on(&self) {
        if !self.is_on {
            STRANGERS.fetch_add(1, Relaxed);
            panic!("{OUTSIDE}");
        }
    }

    fn begin(&mut self, graph: Graph, limits: Limits, mode: Mode) {
        static PLAYS: AtomicU32 = AtomicU32::new(0);
        // Relaxed: a unique number.
        self.play = PLAYS.fetch_add(1, Relaxed);
        self.is_on = true;
        self.strangers = STRANGERS.load(Relaxed);
        self.pointers.clear();
        self.made.clear();
        self.rereads.clear();
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
        (self.mixes, self.is_seen, self.std_counts) = (false, false, false);
    }

    /// Leaves every thread that has not come to its end where it is; their stacks are used again.
    fn abandon_all(&mut self) {
        self.is_over = true;
        for slot in &mut self.slots {
            let Some(mut thread) = slot.thread.take() else { continue };
            // SAFETY: what lies on the stack is forgotten, not dropped. No thread is left that could have borrowed from
            // it: the other threads of this execution have ended or are forgotten here too, and a coroutine lends
            // nothing to the resumer.
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
        let must_know = MUST_KNOW.take();
        if let Some(last) = self.last_value(ask) {
            return Some(Ok(last));
        }
        self.must_be_on();
        if let Some((maker, told)) = must_know {
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
            if matches!(ask, Ask::Yield) {
                self.notes_state(thread);
            }
            return self.again(thread, ask);
        }
        if self.left > 0
            || self.mode == Mode::Replay
            || !matches!(self.who_is_next(), Next::Thread(next) if next == thread)
        {
            return None;
        }
        if self.is_timed_out(thread) {
            return Some(Ok(0));
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

    /// The second of two accesses races with the first.
    fn fails_by(&mut self, (first, second): (usize, usize)) {
        self.current = self.graph.events[second].thread;
        self.fails(Why::Race(first));
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
            let is_played = self.mode == Mode::Replay && self.left == 0 && !self.mixes;
            // Exploring ends at a race: what a thread does with the value that it has read there is no part of the execution.
            match self.graph.race() {
                Some(race) if is_played => self.fails_by(race),
                _ => self.fails(Why::Panic(panic_text(&*payload))),
            }
        }
    }
}
