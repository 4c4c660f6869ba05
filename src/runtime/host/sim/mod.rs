//! A machine that is simulated: of all threads of a runtime one runs at a time, in an order that a seed decides, and time is a number. The kernel and the runtime on it are the real ones; see [`crate::deterministic`].
//!
//! ```text
//!   the main thread: the one that built it       the runtime's threads: Ms, the monitor
//!     block_on, join, shutdown: would sleep
//!       └─► pick ── by the seed ──► one that can go on: a fiber ──► runs until it would sleep,
//!            ▲                                                      or its dispatch is a place to switch
//!            └───────────────────────────────────────────────────────┘
//!            no thread can go on, or all that do only yield, over and over: the clock jumps to the earliest moment that is waited for
//!            none waits for a moment: nothing can ever happen, and a thread that waits for a future gets a deadlock
//! ```
//!
//! [`Sim`](sim_host::Sim) is the host: a type of its own beside [`Cores`](crate::runtime::Cores), which knows nothing of it. `mod` is what
//! the runtime asks of this thread's machine; `machine`, its threads and the choice among them; `fiber`, a thread of the system that
//! runs when it is its turn; `outside`, how a thread that is no machine's wakes one that is.
//!
//! **The same again for the same seed**: all that is drawn comes from one generator, and nothing that is drawn from or
//! ordered by depends on an address, on the real time, or on other threads.

mod clock;
mod fiber;
mod machine;
pub(in crate::runtime) mod outside;
pub(in crate::runtime) mod sim_host;
#[cfg(test)]
mod tests;

pub(in crate::runtime) use clock::Number;

use crate::host::{NEVER, Nanos, SpawnError};
use crate::runtime::host::duration::{self, START};
use crate::runtime::host::thread_state::thread_state;
use clock::{clock, set_clock};
use core::cell::RefCell;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU64, AtomicUsize};
use core::time::Duration;
use machine::{MAIN, Machine, State, Thread};
use std::rc::Rc;
use std::time::Instant;

thread_state!(
    static MACHINE: RefCell<Option<Rc<Machine>>> = RefCell::new(None);
);

/// How many machines there are in this process: while there is none, no thread asks whether it has one.
static MACHINES: AtomicUsize = AtomicUsize::new(0);

/// This thread's machine.
fn machine() -> Option<Rc<Machine>> {
    if !is_here() {
        return None;
    }
    MACHINE::with(|machine| machine.borrow().clone()).flatten()
}

fn with<R: Default>(f: impl FnOnce(&Machine) -> R) -> R {
    machine().map_or_else(R::default, |machine| f(&machine))
}

/// Has this thread a machine?
#[inline(always)]
pub(in crate::runtime) fn is_here() -> bool {
    // Relaxed: a thread that has a machine has counted it itself, or was started by the one that has.
    MACHINES.load(Relaxed) != 0 && clock() != 0
}

/// What time it is on this thread's machine.
#[inline(always)]
pub(in crate::runtime) fn now() -> Option<Nanos> {
    is_here().then(clock)
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

/// When that moment is on this thread's machine.
pub(in crate::runtime) fn nanos_of(moment: Instant) -> Option<Nanos> {
    Some(duration::nanos_of(moment, machine()?.base))
}

/// The moment at which this thread's machine shows that time.
pub(in crate::runtime) fn instant_of(time: Nanos) -> Option<Instant> {
    let base = machine()?.base;
    Some(duration::instant_of(time, base).unwrap_or(base))
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

/// Sleeps on the word at this address, for so long at the most. `false`: this thread is no simulated one.
pub(super) fn park(word: usize, nanos: Option<Nanos>) -> bool {
    let until = nanos.map_or(NEVER, |nanos| clock().saturating_add(nanos));
    let parks = |machine: Rc<Machine>| {
        if machine.current.get() == MAIN {
            machine.goes_on();
        }
        machine.park(word, until);
    };
    machine().map(parks).is_some()
}

/// Wakes the thread of this machine that sleeps on the word at this address, if one does.
pub(super) fn unpark(word: usize) {
    with(|machine| {
        let mut threads = machine.threads.borrow_mut();
        let sleeps = |thread: &&mut Thread| matches!(thread.state, State::Parked { word: on, .. } if on == word);
        if let Some(thread) = threads.iter_mut().find(sleeps) {
            thread.state = State::Ready;
        }
    });
}

/// This simulated thread does nothing for so long.
pub(in crate::runtime) fn pause(time: Duration) -> bool {
    let Some(machine) = machine() else { return false };
    let until = clock().saturating_add(duration::nanos(time));
    while clock() < until {
        machine.park(0, until);
    }
    machine.has_asked.set(false);
    true
}

/// The main thread would go on at once: others may come first.
pub(in crate::runtime) fn yield_p() {
    with(|machine| {
        machine.step();
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

/// A task was run, and has done more than to yield.
pub(in crate::runtime) fn goes_on() {
    with(Machine::goes_on);
}

/// A task could yield. Shall it?
#[cold]
pub(in crate::runtime) fn yields() -> bool {
    with(|machine| {
        machine.step();
        machine.happens(machine.temper.defer)
    })
}

/// Runs `body` as a simulated thread. The kernel calls it `name`.
///
/// # Errors
/// If the system gives no stack.
pub(in crate::runtime) fn spawn(
    name: &str,
    stack: Option<usize>,
    body: impl FnOnce() + Send + 'static,
) -> Result<(), SpawnError> {
    let machine = machine().ok_or(SpawnError { os_error: None })?;
    machine.spawn(name, stack, body)
}

/// While it lives, the thread that sleeps waits for a future, and can get a deadlock.
pub(in crate::runtime) struct AwaitsFuture(());

impl AwaitsFuture {
    pub(in crate::runtime) fn new() -> AwaitsFuture {
        Self::set(true);
        AwaitsFuture(())
    }

    fn set(awaits_future: bool) {
        with(|machine| machine.change(machine.current.get(), |thread| thread.awaits_future = awaits_future));
    }
}

impl Drop for AwaitsFuture {
    fn drop(&mut self) {
        Self::set(false);
    }
}

/// Is this simulated thread deadlocked? It is said once.
pub(in crate::runtime) fn take_deadlock() -> bool {
    with(|machine| machine.change(machine.current.get(), |thread| core::mem::take(&mut thread.has_deadlock)))
}

/// Does the main thread of this thread's machine sleep, without an end?
pub(in crate::runtime) fn is_main_asleep() -> bool {
    with(|machine| machine.change(MAIN, |main| matches!(main.state, State::Parked { until, .. } if until == NEVER)))
}

/// Gives this thread a machine.
fn install(seed: u64) -> Number {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Relaxed: only that no number comes twice.
    let number = Number::of(NEXT.fetch_add(1, Relaxed));
    install_on_this_thread(Rc::new(Machine::new(number, seed)));
    // Relaxed: it is for this thread, and for those that it starts.
    MACHINES.fetch_add(1, Relaxed);
    set_clock(START);
    number
}

fn install_on_this_thread(new: Rc<Machine>) {
    MACHINE::with(|machine| machine.replace(Some(new)));
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

/// The machine is this runtime's, whose scheduler `checkdead` has look whether it is dead, and whose next timer is due at `deadline`.
pub(in crate::runtime) fn belongs_to(checkdead: impl Fn() + 'static, deadline: impl Fn() -> Nanos + 'static) {
    with(|machine| {
        machine.checkdead.replace(Some(Box::new(checkdead)));
        machine.deadline.replace(Some(Box::new(deadline)));
    });
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
/// it is asked for.
fn dismantle_old() {
    let Some(machine) = machine() else { return };
    if machine.is_closed.get() && machine.current.get() == MAIN {
        machine.finish();
        set_clock(0);
        // Relaxed: as in `install`.
        MACHINES.fetch_sub(1, Relaxed);
        let old = MACHINE::with(RefCell::take);
        drop(old);
    }
}

/// The machine that plays this thread.
pub(in crate::runtime) fn number() -> Number {
    machine().map_or(Number::NONE, |machine| machine.number)
}

/// A runtime on the machine `number`, or on none, is used by this thread. Is that its thread? It does not matter of one
/// that is not open.
///
/// # Panics
/// If it is not.
#[track_caller]
pub(in crate::runtime) fn check(number: Number, is_open: impl FnOnce() -> bool) {
    if self::number() != number {
        check_again(number, is_open);
    }
}

#[cold]
#[track_caller]
fn check_again(number: Number, is_open: impl FnOnce() -> bool) {
    dismantle_old();
    // One that is closed takes nothing, and says so.
    if !is_open() || !number.is_any() && !is_here() {
        return;
    }
    match number.is_any() {
        true => panic!(
            "a deterministic runtime was used by another thread than the one that built it: only that thread may \
             spawn in it, wake its tasks, wait for them or shut it down"
        ),
        false => panic!(
            "a runtime was used by a thread on which a deterministic one lives: until that is dropped, the thread may \
             use no other"
        ),
    }
}
