//! A machine that is simulated: one thread of the system plays all threads of a runtime, in an order that a seed decides,
//! and time is a number. The kernel and the runtime on it are the real ones; see [`crate::deterministic`].
//!
//! ```text
//!   the thread that built the runtime            the runtime's threads: Ms, the monitor
//!     block_on, join, shutdown: would sleep
//!       └─► pick ── by the seed ──► one that can go on: a fiber ──► runs until it would sleep,
//!            ▲                                                      or its dispatch is a place to switch
//!            └───────────────────────────────────────────────────────┘
//!            nobody can go on: the clock jumps to the earliest moment that somebody waits for
//!            nobody waits for a moment: nothing can ever happen, and who waits for a future is told
//! ```
//!
//! What the host does for real threads, [`Cores`](crate::runtime::Cores) leaves to this file on a thread that has a machine:
//! sleep and wake, the time, choices, new threads. So no more is asked of other threads than to look at one thread local.
//! What a thread keeps in thread locals of this crate is exchanged whenever another is run, for all of them are one.
//!
//! **The same again for the same seed**: all that is drawn comes from one generator, and nothing that is drawn from or
//! ordered by depends on an address, on the real time, or on other threads.

mod fiber;

use crate::host::{NEVER, Nanos, SpawnError};
use crate::runtime::exec::registry::RuntimeId;
use crate::runtime::exec::{entered, worker};
use crate::runtime::observe::{metrics, watch};
use core::cell::{Cell, RefCell};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use fiber::Fiber;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::Instant;

/// When the simulated time begins. Not 0: that is the time of who has no machine.
const START: Nanos = 1;
/// What a dispatch takes, and a checkpoint.
const STEP: Nanos = 1_000;
/// The stack of a simulated thread, if nobody says.
const STACK: usize = 1 << 20;
/// A task is held back for fewer dispatches.
const HOLD: usize = 32;
/// So many ticks of the monitor in a row, while nobody else runs, and it has seen all there is to see.
const LONELY: u32 = 1_000;
/// The thread that has the machine.
const MAIN: usize = 0;

thread_local! {
    /// What time it is on this thread's machine; 0: it has none.
    static CLOCK: Cell<Nanos> = const { Cell::new(0) };
    static MACHINE: RefCell<Option<Rc<Machine>>> = const { RefCell::new(None) };
}

/// Which machine; 0: real cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) struct Number(u64);

impl Number {
    pub(in crate::runtime) const NONE: Number = Number(0);

    /// Is it a machine?
    pub(in crate::runtime) fn is_any(self) -> bool {
        self != Number::NONE
    }
}

/// Where a simulated thread is.
#[derive(Debug, Clone, Copy)]
enum State {
    /// It can go on, or does.
    Ready,
    /// It sleeps on this word, until this moment at the latest.
    Parked { word: usize, until: Nanos },
    /// It is no more.
    Ended,
}

struct Thread {
    state: State,
    fiber: Option<Fiber>,
    /// What stands in thread locals while it runs, and here while it does not.
    own: Rc<SavedThreadState>,
    is_monitor: bool,
    /// It waits for a future, and can be told that it does so in vain.
    is_patient: bool,
    /// It was told.
    is_told: bool,
}

#[derive(Default)]
struct SavedThreadState {
    worker: worker::SavedThreadState,
    entered: entered::SavedThreadState,
    metrics: metrics::SavedThreadState,
    watch: watch::SavedThreadState,
}

impl SavedThreadState {
    fn swap(&self) {
        self.worker.swap();
        self.entered.swap();
        self.metrics.swap();
        self.watch.swap();
    }
}

/// How often, one time in so many, what may happen does: never, if it is 0. Drawn at the start, so that seeds differ in
/// kind too: some hardly disturb the order that the scheduler would keep, some leave nothing of it.
struct Temper {
    /// Another thread goes on first.
    switch: usize,
    /// Another task of the same P comes first.
    defer: usize,
}

struct Machine {
    number: Number,
    seed: u64,
    dice: Cell<u64>,
    print: Cell<u64>,
    temper: Temper,
    /// The moment at which the simulated time begins.
    base: Instant,
    /// The first is [`MAIN`]. Borrowed for a moment only, never while one of them runs.
    threads: RefCell<Vec<Thread>>,
    current: Cell<usize>,
    /// The task that is held back, by its address, and for how many dispatches yet. It is in a queue, so that address is no
    /// other's.
    held: Cell<Option<(usize, usize)>>,
    /// How often the monitor was the only one to run.
    lonely: Cell<u32>,
    /// The scheduler was asked whether it is dead, and no task has gone on since.
    has_asked: Cell<bool>,
    /// Whose it is.
    runtime_id: Cell<Option<RuntimeId>>,
    is_closed: Cell<bool>,
}

/// What came of a try to run somebody.
enum Went {
    /// Somebody ran, or time went by.
    On,
    /// It is the turn of who has the machine.
    Main,
    /// Nothing can happen any more.
    Nowhere,
}

impl Machine {
    fn new(number: Number, seed: u64) -> Machine {
        let mut machine = Machine {
            number,
            seed,
            // Neighbours among the seeds shall have nothing in common.
            dice: Cell::new((seed ^ (seed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ 0x94d0_49bb_1331_11eb),
            print: Cell::new(seed),
            temper: Temper { switch: 0, defer: 0 },
            base: Instant::now(),
            threads: RefCell::new(vec![Thread::new(None, false)]),
            current: Cell::new(MAIN),
            held: Cell::new(None),
            lonely: Cell::new(0),
            has_asked: Cell::new(false),
            runtime_id: Cell::new(None),
            is_closed: Cell::new(false),
        };
        let temper = Temper { switch: [0, 2, 4, 16][machine.choose(4)], defer: [0, 2, 2, 3, 4, 8][machine.choose(6)] };
        machine.temper = temper;
        machine
    }

    fn choose(&self, n: usize) -> usize {
        let (state, drawn) = crate::runtime::host::cores::wyrand(self.dice.get());
        self.dice.set(state);
        let chosen = ((u128::from(drawn) * n as u128) >> u64::BITS) as usize;
        self.note(chosen as u64);
        chosen
    }

    fn happens(&self, one_in: usize) -> bool {
        one_in > 0 && self.choose(one_in) == 0
    }

    /// Something was chosen, or has happened.
    fn note(&self, what: u64) {
        let mixed = (self.print.get() ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.print.set(mixed ^ (mixed >> 29));
    }

    fn change<R>(&self, thread: usize, f: impl FnOnce(&mut Thread) -> R) -> R {
        f(&mut self.threads.borrow_mut()[thread])
    }

    /// Does any thread live, besides who has the machine and this one?
    fn has_others(&self, me: usize) -> bool {
        let is_alive = |thread: &Thread| !matches!(thread.state, State::Ended);
        self.threads.borrow().iter().enumerate().skip(1).any(|(n, thread)| n != me && is_alive(thread))
    }

    /// Those that can go on now, as numbers.
    fn ready(&self) -> Vec<usize> {
        let now = CLOCK.get();
        let is_ready = |thread: &Thread| match thread.state {
            State::Ready => true,
            State::Parked { until, .. } => until <= now,
            State::Ended => false,
        };
        let threads = self.threads.borrow();
        threads.iter().enumerate().filter(|(_, thread)| is_ready(thread)).map(|(n, _)| n).collect()
    }

    /// The earliest moment that somebody waits for. A monitor that has seen everything waits for nothing.
    fn earliest(&self) -> Option<Nanos> {
        let is_over = self.lonely.get() >= LONELY;
        let moment = |thread: &Thread| match thread.state {
            State::Parked { until, .. } if until != NEVER && !(thread.is_monitor && is_over) => Some(until),
            _ => None,
        };
        self.threads.borrow().iter().filter_map(moment).min()
    }

    /// Runs somebody who can go on; if nobody can, lets time go by.
    fn go_on(&self) -> Went {
        let ready = self.ready();
        match ready.len() {
            0 => match self.earliest() {
                Some(moment) => CLOCK.set(moment),
                None => return Went::Nowhere,
            },
            n => match ready[if n == 1 { 0 } else { self.choose(n) }] {
                MAIN => return Went::Main,
                thread => self.run(thread),
            },
        }
        Went::On
    }

    /// Runs `thread` until it is suspended or has ended.
    fn run(&self, thread: usize) {
        self.note(thread as u64 ^ CLOCK.get() << 16);
        let (fiber, own, is_monitor) = self.change(thread, |thread| {
            thread.state = State::Ready;
            (thread.fiber.take(), Rc::clone(&thread.own), thread.is_monitor)
        });
        self.lonely.set(if is_monitor { self.lonely.get().saturating_add(1) } else { 0 });
        let mut fiber = fiber.expect("sim: a thread that does not run has its stack");
        self.current.set(thread);
        own.swap();
        let ended = catch_unwind(AssertUnwindSafe(|| fiber.resume()));
        own.swap();
        self.current.set(MAIN);
        match ended {
            Ok(false) => self.change(thread, |thread| thread.fiber = Some(fiber)),
            ended => {
                self.change(thread, |thread| thread.state = State::Ended);
                drop(fiber);
                ended.map(drop).unwrap_or_else(|payload| resume_unwind(payload));
            }
        }
    }

    /// The thread that runs sleeps on `word`, until `until` at the latest.
    fn park(&self, word: usize, until: Nanos) {
        let me = self.current.get();
        self.change(me, |thread| thread.state = State::Parked { word, until });
        match me {
            MAIN => self.wait(),
            _ => fiber::suspend(),
        }
        self.change(me, |thread| thread.state = State::Ready);
    }

    /// Who has the machine waits: the others run, until it is its turn.
    fn wait(&self) {
        loop {
            match self.go_on() {
                Went::On => (),
                Went::Main => return,
                Went::Nowhere if !self.has_asked.replace(true) => self.ask(),
                Went::Nowhere => self.tell(),
            }
        }
    }

    /// Has the scheduler look once more whether it is dead: when it looked last, who has the machine could still go on.
    fn ask(&self) {
        if let Some(tasks) = self.runtime_id.get().and_then(RuntimeId::find) {
            tasks.shared().timers.look_again();
        }
    }

    /// Nothing can happen any more. One of those that wait for a future is told; the first is who has the machine.
    fn tell(&self) {
        let mut threads = self.threads.borrow_mut();
        match threads.iter_mut().find(|thread| thread.is_patient) {
            Some(thread) => {
                (thread.is_told, thread.is_patient) = (true, false);
                thread.state = State::Ready;
            }
            None => panic!(
                "a deterministic runtime waits for one of its tasks, to shut down or to stop the world, and that task \
                 waits for what nobody will bring"
            ),
        }
    }

    /// The runtime is closed: runs what has yet to end.
    fn finish(&self) {
        self.is_closed.set(true);
        let me = self.current.get();
        if me == MAIN {
            self.change(MAIN, |main| main.state = State::Parked { word: 0, until: NEVER });
            while self.has_others(MAIN) && !matches!(self.go_on(), Went::Nowhere) {}
            self.change(MAIN, |main| main.state = State::Ready);
        } else {
            while self.has_others(me) {
                fiber::suspend();
            }
        }
    }

    fn spawn(&self, name: &str, stack: Option<usize>, body: impl FnOnce() + 'static) -> Result<(), SpawnError> {
        let fiber =
            Fiber::new(stack.unwrap_or(STACK), body).map_err(|error| SpawnError { os_error: error.raw_os_error() })?;
        let thread = Thread::new(Some(fiber), name == "spinpark-sysmon");
        let mut threads = self.threads.borrow_mut();
        let free = threads.iter().position(|thread| matches!(thread.state, State::Ended));
        match free {
            Some(free) => threads[free] = thread,
            None => threads.push(thread),
        }
        Ok(())
    }

    /// Time goes by, and another thread may go on first.
    fn step(&self) {
        self.has_asked.set(false);
        CLOCK.set(CLOCK.get() + STEP);
        if self.current.get() != MAIN && self.happens(self.temper.switch) {
            self.switch();
        }
    }

    /// Do others come before the task at this address?
    fn defers(&self, task: usize) -> bool {
        match self.held.take() {
            Some((held, left @ 1..)) if held == task => self.held.set(Some((task, left - 1))),
            Some((held, _)) if held == task => return false,
            held => {
                self.held.set(held.map(|(held, left)| (held, left.saturating_sub(1))));
                if !self.happens(self.temper.defer) {
                    return false;
                }
                if self.happens(2) {
                    self.held.set(Some((task, self.choose(HOLD))));
                }
            }
        }
        true
    }

    fn switch(&self) {
        match self.current.get() {
            MAIN => self.wait(),
            _ => fiber::suspend(),
        }
    }
}

impl Thread {
    fn new(fiber: Option<Fiber>, is_monitor: bool) -> Thread {
        let own = Rc::default();
        Thread { state: State::Ready, fiber, own, is_monitor, is_patient: false, is_told: false }
    }
}

impl Drop for Machine {
    /// A thread in its middle is forgotten with all it has: a P among it, perhaps.
    fn drop(&mut self) {
        let left = self.threads.get_mut().drain(..).filter(|thread| thread.fiber.is_some());
        left.for_each(core::mem::forget);
    }
}

/// This thread's machine.
fn machine() -> Option<Rc<Machine>> {
    if !is_here() {
        return None;
    }
    MACHINE.try_with(|machine| machine.borrow().clone()).ok().flatten()
}

fn with<R: Default>(f: impl FnOnce(&Machine) -> R) -> R {
    machine().map_or_else(R::default, |machine| f(&machine))
}

/// Has this thread a machine?
#[inline(always)]
pub(in crate::runtime) fn is_here() -> bool {
    CLOCK.get() != 0
}

/// What time it is on this thread's machine.
#[inline(always)]
pub(in crate::runtime) fn now() -> Option<Nanos> {
    match CLOCK.get() {
        0 => None,
        now => Some(now),
    }
}

/// How long this thread's machine has been there.
pub(in crate::runtime) fn elapsed() -> Option<Duration> {
    now().map(|now| Duration::from_nanos(now - START))
}

/// A moment that this thread's machine shows.
pub(in crate::runtime) fn instant() -> Option<Instant> {
    let base = machine()?.base;
    // What the clock cannot show is for ever.
    elapsed().map(|time| base.checked_add(time).unwrap_or(base))
}

/// When that moment is on this thread's machine. One before its beginning is then.
pub(in crate::runtime) fn nanos_of(moment: Instant) -> Option<Nanos> {
    let since = moment.saturating_duration_since(machine()?.base);
    Some(u64::try_from(since.as_nanos()).map_or(NEVER, |nanos| nanos.saturating_add(START)))
}

/// A number below `n`, by this thread's machine.
#[cold]
pub(in crate::runtime) fn choose(n: usize) -> usize {
    with(|machine| machine.choose(n))
}

/// The seed of this thread's machine.
pub(in crate::runtime) fn seed() -> Option<u64> {
    machine().map(|machine| machine.seed)
}

/// What stands for everything that was chosen so far.
pub(in crate::runtime) fn print() -> Option<u64> {
    machine().map(|machine| machine.print.get())
}

/// Sleeps on the word at this address, for so long at the most, if this thread is simulated; says whether it is.
#[inline]
pub(in crate::runtime) fn parks(word: usize, nanos: Option<Nanos>) -> bool {
    is_here() && park(word, nanos)
}

#[cold]
fn park(word: usize, nanos: Option<Nanos>) -> bool {
    let until = nanos.map_or(NEVER, |nanos| CLOCK.get().saturating_add(nanos));
    machine().map(|machine| machine.park(word, until)).is_some()
}

/// Wakes who sleeps on the word at this address, if it is a simulated thread of this machine; says whether it is.
#[inline]
pub(in crate::runtime) fn unparks(word: usize) -> bool {
    is_here() && unpark(word)
}

#[cold]
fn unpark(word: usize) -> bool {
    with(|machine| {
        let mut threads = machine.threads.borrow_mut();
        let sleeps = |thread: &&mut Thread| matches!(thread.state, State::Parked { word: on, .. } if on == word);
        threads.iter_mut().find(sleeps).map(|thread| thread.state = State::Ready).is_some()
    })
}

/// This simulated thread does nothing for so long.
pub(in crate::runtime) fn pause(time: Duration) -> bool {
    let Some(machine) = machine() else { return false };
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(NEVER);
    let until = CLOCK.get().saturating_add(nanos);
    while CLOCK.get() < until {
        machine.park(0, until);
    }
    machine.has_asked.set(false);
    true
}

/// Who has the machine would go on at once: others may come first.
pub(in crate::runtime) fn yield_p() {
    with(|machine| {
        CLOCK.set(CLOCK.get() + STEP);
        machine.switch();
    });
}

/// A pause in a busy loop.
#[cold]
pub(in crate::runtime) fn relax() {
    with(|machine| {
        if machine.current.get() != MAIN && machine.happens(2) {
            machine.switch();
        }
    });
}

/// The task at this address is about to run under a P of this simulated thread. Shall another come first?
#[cold]
pub(in crate::runtime) fn dispatch(task: usize) -> bool {
    with(|machine| {
        machine.step();
        machine.defers(task)
    })
}

/// A task could yield. Shall it?
#[inline]
pub(in crate::runtime) fn yields() -> bool {
    is_here() && checkpoint()
}

#[cold]
fn checkpoint() -> bool {
    with(|machine| {
        machine.step();
        machine.happens(machine.temper.defer)
    })
}

/// Runs `body` as a simulated thread. The kernel calls it `name`.
///
/// # Errors
/// If there is no stack to be had.
pub(in crate::runtime) fn spawn(
    name: &str,
    stack: Option<usize>,
    body: impl FnOnce() + 'static,
) -> Result<(), SpawnError> {
    let machine = machine().ok_or(SpawnError { os_error: None })?;
    machine.spawn(name, stack, body)
}

/// While it lives, the thread that sleeps waits for a future, and can be told that it does so in vain.
pub(in crate::runtime) struct Patient(());

impl Patient {
    pub(in crate::runtime) fn new() -> Patient {
        Self::set(true);
        Patient(())
    }

    fn set(is_patient: bool) {
        with(|machine| machine.change(machine.current.get(), |thread| thread.is_patient = is_patient));
    }
}

impl Drop for Patient {
    fn drop(&mut self) {
        Self::set(false);
    }
}

/// Was this simulated thread told that it waits in vain? Once.
pub(in crate::runtime) fn is_told() -> bool {
    with(|machine| machine.change(machine.current.get(), |thread| core::mem::take(&mut thread.is_told)))
}

/// Does who has this thread's machine sleep, with no end to be seen?
pub(in crate::runtime) fn is_main_asleep() -> bool {
    with(|machine| machine.change(MAIN, |main| matches!(main.state, State::Parked { until, .. } if until == NEVER)))
}

/// Gives this thread a machine.
fn install(seed: u64) -> Number {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Relaxed: only that no number comes twice.
    let number = Number(NEXT.fetch_add(1, Relaxed));
    MACHINE.with(|machine| machine.replace(Some(Rc::new(Machine::new(number, seed)))));
    CLOCK.set(START);
    number
}

/// The machine for a runtime that is built here: with a seed a new one. `None`: another runtime has this thread's.
pub(in crate::runtime) fn machine_for(seed: Option<u64>) -> Option<Number> {
    dismantle_old();
    match seed {
        _ if is_here() => None,
        Some(seed) => Some(install(seed)),
        None => Some(Number::NONE),
    }
}

/// The machine is this runtime's.
pub(in crate::runtime) fn belongs_to(runtime_id: RuntimeId) {
    with(|machine| machine.runtime_id.set(Some(runtime_id)));
}

/// The runtime of this machine is closed: what has yet to end does so, and the machine is no more.
pub(in crate::runtime) fn finish(number: Number) {
    if let Some(machine) = machine()
        && machine.number == number
    {
        machine.finish();
        dismantle_old();
    }
}

/// The runtime of this machine will be closed by one of its threads.
pub(in crate::runtime) fn will_end() {
    with(|machine| machine.is_closed.set(true));
}

/// The runtime could not be built.
pub(in crate::runtime) fn abandon() {
    will_end();
    dismantle_old();
}

/// If this thread's machine has done its duty, it is no more. One whose last task has dropped its runtime is there until
/// somebody asks.
fn dismantle_old() {
    let Some(machine) = machine() else { return };
    if machine.is_closed.get() && machine.current.get() == MAIN {
        machine.finish();
        CLOCK.set(0);
        let old = MACHINE.with(RefCell::take);
        drop(old);
    }
}

/// A runtime on the machine `number`, or on none, is used by this thread. Is that its thread?
///
/// # Panics
/// If it is not.
#[track_caller]
pub(in crate::runtime) fn check(number: Number, runtime_id: RuntimeId) {
    if machine().map_or(Number::NONE, |machine| machine.number) != number {
        check_again(number, runtime_id);
    }
}

#[cold]
#[track_caller]
fn check_again(number: Number, runtime_id: RuntimeId) {
    dismantle_old();
    // One that is closed takes nothing, and says so.
    if runtime_id.find().is_none() || !number.is_any() && !is_here() {
        return;
    }
    match number.is_any() {
        true => panic!(
            "a deterministic runtime was used by another thread than the one that built it: nobody but that thread may \
             spawn in it, wake its tasks, wait for them or shut it down"
        ),
        false => panic!(
            "a runtime was used by a thread on which a deterministic one lives: until that is dropped, the thread may \
             use no other"
        ),
    }
}

#[cfg(test)]
mod tests;
