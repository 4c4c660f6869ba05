//! The simulated machine: its threads, and which of them goes on.

#![allow(unsafe_code)]

use crate::host::{NEVER, Nanos, SpawnError};
use crate::runtime::host::cheaprand::wyrand;
use crate::runtime::host::duration::START;
use crate::runtime::host::sim::clock::{Number, clock, set_clock};
use crate::runtime::host::sim::fiber::{self, Fiber};
use core::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::Instant;

/// What a dispatch takes, and a checkpoint.
pub(super) const STEP: Nanos = 1_000;
/// The default stack size of a simulated thread.
pub(super) const STACK: usize = 1 << 20;
/// For so long a thread that could go on for ever does so; then another has its turn.
const SLICE: Nanos = 10_000_000;
/// After so many steps in which tasks only yielded they wait for what time brings, by all appearance.
const PATIENCE: u32 = 10_000;
/// A task is held back for fewer dispatches.
pub(super) const HOLD: usize = 32;
/// So many ticks of the monitor in a row, while no other thread runs, and it has seen all there is to see.
pub(super) const LONELY: u32 = 1_000;
/// The thread that has the machine.
pub(super) const MAIN: usize = 0;

/// Where a simulated thread is.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    /// It can go on, or does.
    Ready,
    /// It sleeps on this word, until this moment at the latest.
    Parked { word: usize, until: Nanos },
    /// It is no more.
    Ended,
}

pub(super) struct Thread {
    pub(super) state: State,
    fiber: Option<Fiber>,
    is_monitor: bool,
    /// It waits for a future, and can get a deadlock.
    pub(super) awaits_future: bool,
    /// It has got one.
    pub(super) has_deadlock: bool,
}

/// How often, one time in so many, what may happen does: never, if it is 0. Drawn at the start, so that seeds differ in
/// kind too: some hardly disturb the order that the scheduler would keep, some leave nothing of it.
pub(super) struct Temper {
    /// Another thread goes on first.
    switch: usize,
    /// Another task of the same P comes first.
    pub(super) defer: usize,
}

pub(super) struct Machine {
    pub(super) number: Number,
    pub(super) seed: u64,
    dice: Cell<u64>,
    pub(super) print: Cell<u64>,
    pub(super) temper: Temper,
    /// The moment at which the simulated time begins.
    pub(super) base: Instant,
    /// The first is [`MAIN`]. Borrowed for a moment only, never while one of them runs.
    pub(super) threads: RefCell<Vec<Thread>>,
    pub(super) current: Cell<usize>,
    /// The task that is held back, by its address, and for how many dispatches yet. It is in a queue, so that address is no
    /// other's.
    held: Cell<Option<(usize, usize)>>,
    /// How often the monitor was the only one to run.
    lonely: Cell<u32>,
    /// The scheduler was asked whether it is dead, and no task has gone on since.
    pub(super) has_asked: Cell<bool>,
    /// How many steps were made since a task has done more than to yield.
    vain: Cell<u32>,
    /// Since when the thread runs that does.
    since: Cell<Nanos>,
    /// Has its runtime's scheduler look whether it is dead.
    pub(super) checkdead: RefCell<Option<Box<dyn Fn()>>>,
    /// When its runtime's next timer is due.
    pub(super) deadline: RefCell<Option<Box<dyn Fn() -> Nanos>>>,
    /// What time it is, while the turn goes from one thread to another: each has a [`CLOCK`].
    clock: Cell<Nanos>,
    pub(super) is_closed: Cell<bool>,
}

/// What came of a try to run a thread.
enum Went {
    /// A thread ran, or time went by.
    On,
    /// It is the turn of the main thread.
    Main,
    /// Nothing can happen any more.
    Nowhere,
}

impl Machine {
    pub(super) fn new(number: Number, seed: u64) -> Machine {
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
            vain: Cell::new(0),
            since: Cell::new(START),
            checkdead: RefCell::new(None),
            deadline: RefCell::new(None),
            clock: Cell::new(START),
            is_closed: Cell::new(false),
        };
        let temper = Temper { switch: [0, 2, 4, 16][machine.choose(4)], defer: [0, 2, 2, 3, 4, 8][machine.choose(6)] };
        machine.temper = temper;
        machine
    }

    pub(super) fn choose(&self, n: usize) -> usize {
        let (state, drawn) = wyrand(self.dice.get());
        self.dice.set(state);
        let chosen = ((u128::from(drawn) * n as u128) >> u64::BITS) as usize;
        self.note(chosen as u64);
        chosen
    }

    pub(super) fn happens(&self, one_in: usize) -> bool {
        one_in > 0 && self.choose(one_in) == 0
    }

    /// Something was chosen, or has happened.
    fn note(&self, what: u64) {
        let mixed = (self.print.get() ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.print.set(mixed ^ (mixed >> 29));
    }

    pub(super) fn change<R>(&self, thread: usize, f: impl FnOnce(&mut Thread) -> R) -> R {
        f(&mut self.threads.borrow_mut()[thread])
    }

    /// Does any thread live, besides the main thread and this one?
    fn has_others(&self, me: usize) -> bool {
        let is_alive = |thread: &Thread| !matches!(thread.state, State::Ended);
        self.threads.borrow().iter().enumerate().skip(1).any(|(n, thread)| n != me && is_alive(thread))
    }

    /// Those that can go on now, as numbers.
    fn ready(&self) -> Vec<usize> {
        let now = clock();
        let is_ready = |thread: &Thread| match thread.state {
            State::Ready => true,
            State::Parked { until, .. } => until <= now,
            State::Ended => false,
        };
        let threads = self.threads.borrow();
        threads.iter().enumerate().filter(|(_, thread)| is_ready(thread)).map(|(n, _)| n).collect()
    }

    /// The earliest moment that a thread waits for. A monitor that has seen everything waits for nothing.
    fn earliest(&self) -> Option<Nanos> {
        let is_over = self.lonely.get() >= LONELY;
        let moment = |thread: &Thread| match thread.state {
            State::Parked { until, .. } if until != NEVER && !(thread.is_monitor && is_over) => Some(until),
            _ => None,
        };
        self.threads.borrow().iter().filter_map(moment).min()
    }

    /// Runs a thread that can go on; if none can, lets time go by.
    fn go_on(&self) -> Went {
        let ready = self.ready();
        match ready.len() {
            0 => match self.earliest() {
                Some(moment) => set_clock(moment),
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
    pub(super) fn run(&self, thread: usize) {
        self.note(thread as u64 ^ clock() << 16);
        let (fiber, is_monitor) = self.change(thread, |thread| {
            thread.state = State::Ready;
            (thread.fiber.take(), thread.is_monitor)
        });
        self.lonely.set(if is_monitor { self.lonely.get().saturating_add(1) } else { 0 });
        let mut fiber = fiber.expect("sim: a thread that does not run has its stack");
        self.current.set(thread);
        self.since.set(clock());
        let ended = self.while_another_runs(|| catch_unwind(AssertUnwindSafe(|| fiber.resume())));
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
    pub(super) fn park(&self, word: usize, until: Nanos) {
        let me = self.current.get();
        self.change(me, |thread| thread.state = State::Parked { word, until });
        match me {
            MAIN => self.wait(),
            _ => self.suspend(),
        }
        self.change(me, |thread| thread.state = State::Ready);
    }

    /// The main thread waits: the others run, until it is its turn.
    fn wait(&self) {
        loop {
            match self.go_on() {
                Went::On => (),
                Went::Main => return self.since.set(clock()),
                Went::Nowhere if !self.has_asked.replace(true) => self.checkdead(),
                Went::Nowhere => self.report_deadlock(),
            }
        }
    }

    /// Has the scheduler look once more whether it is dead: when it looked last, the main thread could still go on.
    fn checkdead(&self) {
        if let Some(checkdead) = &*self.checkdead.borrow() {
            checkdead();
        }
    }

    /// Nothing can happen any more. One of those that wait for a future gets a deadlock; the first is the main thread.
    fn report_deadlock(&self) {
        let mut threads = self.threads.borrow_mut();
        match threads.iter_mut().find(|thread| thread.awaits_future) {
            Some(thread) => {
                (thread.has_deadlock, thread.awaits_future) = (true, false);
                thread.state = State::Ready;
            }
            None => panic!(
                "a deterministic runtime waits for one of its tasks, to shut down or to stop the world, and that task \
                 waits for what no task will bring"
            ),
        }
    }

    /// The runtime is closed: runs what has yet to end.
    pub(super) fn finish(&self) {
        self.is_closed.set(true);
        let me = self.current.get();
        if me == MAIN {
            self.change(MAIN, |main| main.state = State::Parked { word: 0, until: NEVER });
            while self.has_others(MAIN) && !matches!(self.go_on(), Went::Nowhere) {}
            self.change(MAIN, |main| main.state = State::Ready);
        } else {
            while self.has_others(me) {
                self.suspend();
            }
        }
    }

    pub(super) fn spawn(
        self: &Rc<Self>,
        name: &str,
        stack: Option<usize>,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), SpawnError> {
        let machine = Lent(Rc::clone(self));
        let body = move || {
            let machine = machine.on_its_turn();
            set_clock(machine.clock.get());
            super::install_on_this_thread(Rc::clone(&machine));
            body();
            machine.clock.set(clock());
        };
        let fiber = Fiber::new(name, stack.unwrap_or(STACK), body);
        let fiber = fiber.map_err(|error| SpawnError { os_error: error.raw_os_error() })?;
        let thread = Thread::new(Some(fiber), name == "spinpark-sysmon");
        let mut threads = self.threads.borrow_mut();
        let free = threads.iter().position(|thread| matches!(thread.state, State::Ended));
        match free {
            Some(free) => threads[free] = thread,
            None => threads.push(thread),
        }
        Ok(())
    }

    /// Time goes by, and another thread may go on first: one does, if this one has gone on for long.
    pub(super) fn step(&self) {
        self.has_asked.set(false);
        self.pass();
        let switches = self.current.get() != MAIN && self.happens(self.temper.switch);
        if switches || clock() - self.since.get() >= SLICE {
            self.switch();
        }
    }

    /// A task has done more than to yield.
    pub(super) fn goes_on(&self) {
        self.vain.set(0);
    }

    /// A step takes its time. If all that can go on only yields, over and over, time goes on to what is waited for.
    fn pass(&self) {
        let now = clock() + STEP;
        let vain = self.vain.get() + 1;
        self.vain.set(vain % PATIENCE);
        set_clock(if vain < PATIENCE { now } else { self.next_moment().max(now) });
    }

    /// The earliest moment that a task waits for, or a thread, but the monitor; if there is none, 0.
    fn next_moment(&self) -> Nanos {
        let until = |thread: &Thread| match thread.state {
            State::Parked { until, .. } if !thread.is_monitor => Some(until),
            _ => None,
        };
        let timer = self.deadline.borrow().as_ref().map(|deadline| deadline());
        let moments = self.threads.borrow().iter().filter_map(until).chain(timer).min();
        moments.filter(|&moment| moment != NEVER).unwrap_or(0)
    }

    /// Do others come before the task at this address?
    pub(super) fn defers(&self, task: usize) -> bool {
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

    pub(super) fn switch(&self) {
        match self.current.get() {
            MAIN => self.wait(),
            _ => self.suspend(),
        }
    }

    /// The fiber that runs is left until it is its turn again.
    fn suspend(&self) {
        self.while_another_runs(fiber::suspend);
    }

    /// The time goes with the turn.
    fn while_another_runs<R>(&self, f: impl FnOnce() -> R) -> R {
        self.clock.set(clock());
        let result = f();
        set_clock(self.clock.get());
        result
    }
}

impl Thread {
    fn new(fiber: Option<Fiber>, is_monitor: bool) -> Thread {
        Thread { state: State::Ready, fiber, is_monitor, awaits_future: false, has_deadlock: false }
    }
}

/// The machine, for a thread that it plays.
struct Lent(Rc<Machine>);

// SAFETY: the machine is touched, and its references are counted, by the thread only whose turn it is: the one that has it, or the one
// fiber that this has resumed. The turn is handed over under a lock. A fiber that is left in its middle for ever touches it no more.
unsafe impl Send for Lent {}

impl Lent {
    /// For the fiber, from its first turn on.
    fn on_its_turn(self) -> Rc<Machine> {
        self.0
    }
}
