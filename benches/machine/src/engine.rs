//! The simulated machine: its threads, each on a core of its own, and their clocks.
//!
//! | a thread, before an access, in [`turn`]         | the machine, in [`Machine::run`]                   |
//! |-------------------------------------------------|----------------------------------------------------|
//! | 1. is its clock behind the horizon? goes on     | 1. takes the thread with the least clock           |
//! | 2. else it suspends itself                      | 2. the horizon is the least clock of the others    |
//! | 3. makes the access, and its clock moves on     | 3. runs it until it suspends itself                |
//!
//! **The thread that makes an access has the least clock.** A thread that is woken can be earlier than the horizon, so that moves too.
//!
//! There are as many cores as threads: an M that is awake has one. With as many Ps as the machine is said to have cores, only
//! those Ms are more that have just given their P away, or have yet to get one.

use crate::costs::{Costs, Picos};
use crate::counts::Counts;
use crate::lines::{Access, Lines};
use generator::{Generator, Gn};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::panic::Location;

/// Words of a simulated thread's stack; memory is only taken as it is used.
const STACK: usize = 1 << 14;

thread_local! {
    /// The clock of the thread that runs.
    static NOW: Cell<Picos> = const { Cell::new(0) };
    /// The least clock of the others.
    static HORIZON: Cell<Picos> = const { Cell::new(Picos::MAX) };
    /// The thread that runs.
    static ME: Cell<usize> = const { Cell::new(0) };
    static MACHINE: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

/// Why a thread does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// On this parker; the system can wake it from that moment on.
    Parked {
        since: Picos,
    },
    /// For this lock.
    Queued,
    Ended,
}

struct Thread {
    state: State,
    body: Option<Generator<'static, (), ()>>,
    /// Which of its places in the heap counts.
    ticket: u64,
    /// Since when it has looked for a G, awake.
    searches: Option<Picos>,
    /// Was it woken, and has run nothing since?
    is_vain: bool,
}

#[derive(Default)]
struct Park {
    is_notified: bool,
    sleeper: Option<usize>,
}

#[derive(Default)]
struct Held {
    is_held: bool,
    queue: VecDeque<usize>,
    since: Picos,
}

struct Machine {
    costs: Costs,
    lines: Lines,
    threads: Vec<Thread>,
    ready: BinaryHeap<Reverse<(Picos, usize, u64)>>,
    parkers: Vec<Park>,
    locks: Vec<Held>,
    dice: u64,
    counts: Counts,
}

/// Lines that have no address: a lock's, a G's.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// One of those of this lock: 0 is its word.
    Lock(usize, u64),
    /// A parker's word.
    Parker(usize),
    /// A task's header.
    Task(u64),
    /// Another, of this number.
    Other(u64),
}

impl Place {
    /// No address has such a line: they are far below 2^58.
    fn line(self) -> usize {
        let (kind, number) = match self {
            Place::Lock(lock, line) => (1, lock as u64 * 16 + line),
            Place::Parker(parker) => (2, parker as u64),
            Place::Task(g) => (3, g),
            Place::Other(number) => (4, number),
        };
        (kind << 58 | number) as usize
    }
}

fn with<R>(f: impl FnOnce(&mut Machine) -> R) -> R {
    MACHINE.with_borrow_mut(|machine| f(machine.as_mut().expect("machine: no machine runs on this thread")))
}

/// Runs `main` as the first thread of a machine, and all that it starts, until all have ended.
///
/// # Panics
/// If a thread panics, or if all that are left sleep for ever.
pub fn run(costs: Costs, seed: u64, main: impl FnOnce() + Send + 'static) -> Counts {
    let machine = Machine {
        costs,
        lines: Lines::new(),
        threads: Vec::new(),
        ready: BinaryHeap::new(),
        parkers: Vec::new(),
        locks: Vec::new(),
        dice: seed,
        counts: Counts::default(),
    };
    MACHINE.set(Some(machine));
    with(|machine| machine.add(0, main));
    while let Some(thread) = with(Machine::next) {
        let mut body = with(|machine| machine.threads[thread].body.take()).expect("machine: it does not run");
        body.resume();
        let has_ended = body.is_done();
        with(|machine| machine.left(thread, body, has_ended));
    }
    let machine = MACHINE.take().unwrap_or_else(|| unreachable!("machine: it is taken once"));
    let left = machine.threads.iter().filter(|thread| thread.state != State::Ended).count();
    if left > 0 {
        // What sleeps is left as it is: unwinding would run the scheduler's code without a machine.
        std::mem::forget(machine);
        panic!("machine: {left} threads sleep for ever");
    }
    machine.counts
}

impl Machine {
    fn add(&mut self, at: Picos, body: impl FnOnce() + Send + 'static) {
        let body = Gn::<()>::new_opt(STACK, body);
        let (state, ticket) = (State::Ready, 0);
        self.threads.push(Thread { state, body: Some(body), ticket, searches: None, is_vain: false });
        self.push(at, self.threads.len() - 1);
    }

    /// The thread goes on at `at`.
    fn push(&mut self, at: Picos, thread: usize) {
        let it = &mut self.threads[thread];
        it.ticket += 1;
        self.ready.push(Reverse((at, thread, it.ticket)));
        HORIZON.set(HORIZON.get().min(at));
    }

    /// The earliest place in the heap that still counts.
    fn earliest(&mut self) -> Option<(Picos, usize)> {
        while let Some(&Reverse((at, thread, ticket))) = self.ready.peek() {
            if self.threads[thread].ticket == ticket {
                return Some((at, thread));
            }
            self.ready.pop();
        }
        None
    }

    /// The thread that goes on, off the heap; the clock and the horizon are set.
    fn next(&mut self) -> Option<usize> {
        let (at, thread) = self.earliest()?;
        self.ready.pop();
        if let State::Parked { .. } = self.threads[thread].state {
            self.timed_out(thread);
        }
        HORIZON.set(self.earliest().map_or(Picos::MAX, |(at, _)| at));
        NOW.set(at);
        ME.set(thread);
        Some(thread)
    }

    /// A wait with a limit is over.
    fn timed_out(&mut self, thread: usize) {
        self.threads[thread].state = State::Ready;
        for park in &mut self.parkers {
            if park.sleeper == Some(thread) {
                park.sleeper = None;
            }
        }
    }

    fn left(&mut self, thread: usize, body: Generator<'static, (), ()>, has_ended: bool) {
        if has_ended {
            self.threads[thread].state = State::Ended;
            return;
        }
        self.threads[thread].body = Some(body);
        if self.threads[thread].state == State::Ready {
            self.push(NOW.get(), thread);
        }
    }

    fn access(&mut self, line: usize, what: Access, at: Option<&'static Location<'static>>) {
        let me = ME.get();
        let charge = self.lines.access(me, line, what, at, NOW.get(), &self.costs);
        NOW.set(charge.until);
        self.counts.accesses += 1;
        self.counts.lines += u64::from(charge.moved);
        self.counts.lines_in_search += u64::from(charge.moved && self.threads[me].searches.is_some());
    }

    /// SplitMix64.
    fn draw(&mut self) -> u64 {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.dice ^ (self.dice >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(n)) >> 64) as u64
    }

    /// Sleeps: the caller suspends itself after this.
    fn fall_asleep(&mut self, parker: usize, until: Option<Picos>) {
        let me = ME.get();
        NOW.set(NOW.get() + self.costs.sleep_call);
        self.threads[me].state = State::Parked { since: NOW.get() };
        if let Some(from) = self.threads[me].searches {
            self.counts.searched += NOW.get() - from;
        }
        self.parkers[parker].sleeper = Some(me);
        if std::mem::take(&mut self.threads[me].is_vain) {
            self.counts.wasted += 1;
        }
        self.threads[me].ticket += 1;
        if let Some(until) = until {
            self.push(until.max(NOW.get()), me);
        }
    }

    fn wake(&mut self, sleeper: usize) {
        let State::Parked { since } = self.threads[sleeper].state else {
            unreachable!("machine: a sleeper is parked");
        };
        let (least, most) = self.costs.wake;
        let at = NOW.get().max(since) + least + self.below(most - least + 1);
        NOW.set(NOW.get() + self.costs.wake_call);
        self.threads[sleeper].state = State::Ready;
        self.threads[sleeper].is_vain = true;
        if let Some(from) = &mut self.threads[sleeper].searches {
            *from = at;
        }
        self.counts.wakes += 1;
        self.push(at, sleeper);
    }
}

/// The next access is this thread's to make: others, whose clock is behind, go first.
#[inline]
pub(crate) fn turn() {
    while NOW.get() > HORIZON.get() {
        suspend();
    }
}

/// Leaves the thread: until its turn, or, if its state says so, until another lets it go on.
// Deprecated for one that is handed to the body: which the kernel, between the body and here, knows nothing of.
#[expect(deprecated)]
fn suspend() {
    generator::yield_with(());
}

/// The access is made, and paid for.
#[inline]
pub(crate) fn access(line: usize, what: Access, at: Option<&'static Location<'static>>) {
    turn();
    with(|machine| machine.access(line, what, at));
}

/// Which line an address is in.
pub(crate) fn line_of<T>(word: &T) -> usize {
    core::ptr::from_ref(word).addr() >> 6
}

/// What time it is for this thread.
pub fn now() -> Picos {
    NOW.get()
}

/// Which thread runs; also its core.
pub fn me() -> usize {
    ME.get()
}

/// This thread computes.
pub fn work(time: Picos) {
    NOW.set(NOW.get() + time);
}

/// This thread does nothing until then.
pub fn sleep_until(moment: Picos) {
    NOW.set(NOW.get().max(moment));
}

/// A full fence: waits until the core's stores are out.
pub fn fence() {
    turn();
    with(|machine| {
        let drained = machine.lines.drained(ME.get(), NOW.get());
        NOW.set(drained + machine.costs.locked);
    });
}

/// A pause in a busy loop.
pub fn relax() {
    with(|machine| NOW.set(NOW.get() + machine.costs.relax));
}

/// Any number below `n`.
pub fn choose(n: usize) -> usize {
    with(|machine| machine.below(n as u64) as usize)
}

/// Reads this line, writes it, or changes it by a locked instruction.
pub fn load(place: Place) {
    access(place.line(), Access::Load, None);
}

/// As [`load`].
pub fn store(place: Place) {
    access(place.line(), Access::Store, None);
}

/// As [`load`].
pub fn locked(place: Place) {
    access(place.line(), Access::Locked, None);
}

/// This core has made the line: it costs a store.
pub fn fresh(place: Place) {
    turn();
    with(|machine| {
        machine.lines.fresh(ME.get(), place.line());
        NOW.set(NOW.get() + machine.costs.local);
    });
}

/// The costs of this machine.
pub fn costs() -> Costs {
    with(|machine| machine.costs.clone())
}

/// What was counted so far.
pub fn counts() -> Counts {
    with(|machine| machine.counts)
}

/// From now on, which line is on its way longest?
pub fn forget_moves() {
    with(|machine| machine.lines.forget_moves());
}

/// The line that was on its way longest since then: for how long, and whose it is.
pub fn hottest() -> (Picos, String) {
    let (moving, line) = with(|machine| machine.lines.hottest());
    let name = match line {
        None => String::new(),
        Some((_, Some(at))) => {
            let file = at.file().rsplit(['/', '\\']).next().unwrap_or_default();
            format!("{}:{}", file.trim_end_matches(".rs"), at.line())
        }
        Some((number, None)) => {
            ["a word", "a lock", "a parker", "a task", "a channel"][(number >> 58).min(4)].to_owned()
        }
    };
    (moving, name)
}

/// Starts a thread.
pub fn spawn(body: impl FnOnce() + Send + 'static) {
    turn();
    with(|machine| {
        let (call, until) = machine.costs.start;
        machine.add(NOW.get() + until, body);
        NOW.set(NOW.get() + call);
    });
}

/// A new parker.
pub(crate) fn new_parker() -> usize {
    with(|machine| {
        machine.parkers.push(Park::default());
        machine.parkers.len() - 1
    })
}

/// Sleeps until it is unparked, or until then.
pub(crate) fn park(parker: usize, until: Option<Picos>) {
    locked(Place::Parker(parker));
    let sleeps = with(|machine| {
        if std::mem::take(&mut machine.parkers[parker].is_notified) {
            return false;
        }
        machine.fall_asleep(parker, until);
        true
    });
    if sleeps {
        suspend();
        locked(Place::Parker(parker));
    }
}

/// Ends a sleep, or the next one at once.
pub(crate) fn unpark(parker: usize) {
    locked(Place::Parker(parker));
    with(|machine| match machine.parkers[parker].sleeper.take() {
        Some(sleeper) => machine.wake(sleeper),
        None => machine.parkers[parker].is_notified = true,
    });
}

/// A new lock.
pub(crate) fn new_lock() -> usize {
    with(|machine| {
        machine.locks.push(Held::default());
        machine.locks.len() - 1
    })
}

/// Enters the lock: in FIFO order; a waiter spins, and does not sleep.
pub(crate) fn enter(lock: usize) {
    let from = now();
    locked(Place::Lock(lock, 0));
    let waits = with(|machine| {
        machine.counts.locks += 1;
        let held = &mut machine.locks[lock];
        if !std::mem::replace(&mut held.is_held, true) {
            return false;
        }
        held.queue.push_back(ME.get());
        machine.counts.contended += 1;
        machine.threads[ME.get()].state = State::Queued;
        machine.threads[ME.get()].ticket += 1;
        true
    });
    if waits {
        suspend();
        locked(Place::Lock(lock, 0));
    }
    let guarded = with(|machine| {
        machine.counts.waited += now() - from;
        machine.locks[lock].since = now();
        machine.costs.guarded
    });
    (1..=guarded).for_each(|line| locked_data(Place::Lock(lock, line)));
}

/// Data that is read and written: the line is waited for, as by a locked instruction, which it is not.
fn locked_data(place: Place) {
    access(place.line(), Access::Load, None);
    access(place.line(), Access::Store, None);
}

/// Leaves it; the longest waiter has it next.
pub(crate) fn leave(lock: usize) {
    locked(Place::Lock(lock, 0));
    with(|machine| {
        let now = now();
        let held = &mut machine.locks[lock];
        machine.counts.held += now - held.since;
        match held.queue.pop_front() {
            Some(next) => {
                machine.threads[next].state = State::Ready;
                machine.push(now, next);
            }
            None => held.is_held = false,
        }
    });
}

/// From now on this thread looks for a G, or no longer.
pub fn searching(is_searching: bool) {
    with(|machine| {
        let before = std::mem::replace(&mut machine.threads[ME.get()].searches, is_searching.then(now));
        machine.counts.searched += before.map_or(0, |from| now() - from);
    });
}

/// Is this thread looking for a G?
pub(crate) fn is_searching() -> bool {
    with(|machine| machine.threads[ME.get()].searches.is_some())
}

/// A G is about to be run by this thread.
pub fn runs() {
    with(|machine| {
        machine.counts.runs += 1;
        machine.threads[ME.get()].is_vain = false;
        NOW.set(NOW.get() + machine.costs.switch + machine.costs.task);
    });
}

/// A thief looks into a ring.
pub fn tries() {
    with(|machine| machine.counts.tries += 1);
}

/// A thief got so many.
pub fn stole(gs: usize) {
    with(|machine| {
        machine.counts.steals += 1;
        machine.counts.stolen += gs as u64;
    });
}
