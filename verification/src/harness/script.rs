//! The real scheduler in a situation that its Gs have brought about one after the other, before anything happens at once: each
//! G waits at gates that the model opens. So a complete engine explores what comes after, and not how it came to that.
//!
//! The scheduler is not closed: some of its Gs never end, and its other Ms sleep when the model is over.

use crate::harness::embedder::{Embedded, Extra, Play, open_polling, open_with, submit};
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::protocol::work_source::{Poller, Waker};
use spinpark_kernel::sched::Sources;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::Event;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How many gates a model may have.
const GATES: usize = 12;

/// The gate of the main thread.
pub(crate) const MAIN: usize = 0;

/// The gate of the thread that [halts](Script::halts_at).
pub(crate) const HALT: usize = GATES - 1;

/// What the threads of one execution wait at, and what was reported.
pub(crate) struct Script<H: ModelHost> {
    gates: [H::Parker; GATES],
    /// No part of what is checked, as all that is of `std` here: bits for the outcome.
    seen: AtomicU64,
    /// Of these the main thread is told.
    tells: AtomicU64,
    /// The thread that next reports one of these halts.
    halts: AtomicU64,
    /// Ms in a system call, the first first, and which Gs have been in one.
    away: Mutex<(VecDeque<Away>, u64)>,
}

/// A scheduler that plays a script.
pub(crate) type Scripted<H> = Embedded<H, Script<H>>;

/// What may be seen of an execution.
pub(crate) mod saw {
    pub(crate) const SLEPT: u64 = 1;
    pub(crate) const STOLE: u64 = 2;
    pub(crate) const REFUSED: u64 = 4;
    pub(crate) const WOKE: u64 = 8;
    pub(crate) const HELD: u64 = 16;
    pub(crate) const RETAKEN: u64 = 32;
    pub(crate) const STARTED: u64 = 64;
    pub(crate) const LISTED: u64 = 128;
    pub(crate) const ENDED: u64 = 256;
    pub(crate) const SOUGHT: u64 = 512;
    pub(crate) const POLLING: u64 = 1024;
}

impl<H: ModelHost> Extra for Script<H> {
    fn event(&self, event: &Event<'_>) {
        let what = match event {
            Event::Slept { .. } => saw::SLEPT,
            Event::Found { from: Source::Steal, .. } => saw::STOLE,
            Event::Refused => saw::REFUSED,
            Event::Woken { .. } => saw::WOKE,
            Event::Held { .. } => saw::HELD,
            Event::Retaken { .. } => saw::RETAKEN,
            Event::Starting { .. } => saw::STARTED,
            Event::Listed { .. } => saw::LISTED,
            Event::Gone { .. } => saw::ENDED,
            Event::Sought { .. } => saw::SOUGHT,
            Event::Polling { .. } => saw::POLLING,
            _ => return,
        };
        self.saw(what);
        if self.tells.load(Relaxed) & what != 0 {
            self.open(MAIN);
        }
        if self.halts.load(Relaxed) & what != 0 {
            self.halts.store(0, Relaxed);
            self.open(MAIN);
            self.wait(HALT);
        }
    }
}

impl<H: ModelHost> Script<H> {
    pub(crate) fn new() -> Self {
        Script {
            gates: std::array::from_fn(|_| H::Parker::new()),
            seen: AtomicU64::new(0),
            tells: AtomicU64::new(0),
            halts: AtomicU64::new(0),
            away: Mutex::default(),
        }
    }

    /// Waits at this gate. One thread, once for each time that it is opened. Models that use it allow no spurious wake-ups.
    #[track_caller]
    pub(crate) fn wait(&self, gate: usize) {
        self.gates[gate].park();
    }

    /// Opens the gate, for one that waits there or comes later.
    #[track_caller]
    pub(crate) fn open(&self, gate: usize) {
        self.gates[gate].unpark();
    }

    /// From now on such an event opens the main thread's gate; 0: none does.
    pub(crate) fn tells_main(&self, what: u64) {
        self.tells.store(what, Relaxed);
    }

    /// The thread that reports such an event next, which it does without the lock, waits at [`HALT`], and the main thread
    /// is told. To be said while nothing happens at once.
    pub(crate) fn halts_at(&self, what: u64) {
        self.halts.store(what, Relaxed);
    }

    /// This was seen.
    pub(crate) fn saw(&self, what: u64) {
        self.seen.fetch_or(what, Relaxed);
    }

    /// An M has left its P, and does not come back by itself.
    pub(crate) fn leaves(&self, away: Away) {
        self.away.lock().unwrap().0.push_back(away);
    }

    /// The M that was the first to leave comes back on the calling thread.
    pub(crate) fn take_away(&self) -> Away {
        self.away.lock().unwrap().0.pop_front().expect("one has left")
    }

    /// Is it the first time that this is asked of G `n`?
    pub(crate) fn leaves_once(&self, n: u64) -> bool {
        let left = &mut self.away.lock().unwrap().1;
        let is_first = *left & 1 << n == 0;
        *left |= 1 << n;
        is_first
    }

    /// What was reported before does not count.
    pub(crate) fn forget(&self) {
        self.seen.store(0, Relaxed);
    }

    /// Was it seen?
    pub(crate) fn has_seen(&self, what: u64) -> bool {
        self.seen.load(Relaxed) & what != 0
    }

    /// In words, for the outcome.
    pub(crate) fn words(&self, words: &[(u64, &str)]) -> String {
        let seen: Vec<&str> = words.iter().filter(|(what, _)| self.has_seen(*what)).map(|(_, word)| *word).collect();
        if seen.is_empty() { "nothing".to_owned() } else { seen.join(", ") }
    }
}

/// Small numbers, in which the global queue has no turn of its own.
pub(crate) fn numbers(procs: usize, max_ms: usize) -> Config {
    Config { procs, max_ms, ring: 2, steal_passes: 1, global_every: 0, keep_alive: u64::MAX, ..Config::default() }
}

/// A scheduler for `n` Gs, of which each does as `play` says.
pub(crate) fn scripted<H: ModelHost>(config: Config, n: u64, play: Play<H, Script<H>>) -> Scripted<H> {
    with_sources(config, n, play, |_| Vec::new())
}

/// The same, with sources.
pub(crate) fn with_sources<H: ModelHost>(
    config: Config,
    n: u64,
    play: Play<H, Script<H>>,
    make: impl FnOnce(&Waker) -> Sources,
) -> Scripted<H> {
    // On an engine that cannot, these models deadlock: they are for RC11.
    _ = H::leave_sleeping();
    open_with(config, n, Script::new(), play, make)
}

/// The same, with a poller.
pub(crate) fn with_poller<H: ModelHost>(
    config: Config,
    n: u64,
    play: Play<H, Script<H>>,
    make: impl FnOnce(&Waker) -> (Sources, Box<dyn Poller>),
) -> Scripted<H> {
    // On an engine that cannot, these models deadlock: they are for RC11.
    _ = H::leave_sleeping();
    open_polling(config, n, Script::new(), play, make)
}

/// Submits G `n` and waits until it opens the main thread's gate.
pub(crate) fn begin<H: ModelHost>(sched: &Scripted<H>, n: u64) {
    submit(sched, n, n);
    script(sched).wait(MAIN);
}

/// What all wait at.
pub(crate) fn script<H: ModelHost>(sched: &Scripted<H>) -> &Script<H> {
    &sched.observer().more
}

/// G runs, and goes on when the model opens `gate`.
pub(crate) fn waits_at<H: ModelHost>(sched: &Scripted<H>, gate: usize) {
    script(sched).open(MAIN);
    script(sched).wait(gate);
}

/// The calling thread waits for what never comes.
pub(crate) fn for_ever<H: ModelHost>() -> ! {
    let never = H::Parker::new();
    loop {
        never.park();
    }
}

/// G keeps its M and its P for ever.
pub(crate) fn keeps<H: ModelHost>(worker: Worker) -> Option<Worker> {
    std::mem::forget(worker);
    for_ever::<H>()
}

/// The same, and the main thread hears that it runs.
pub(crate) fn says_and_keeps<H: ModelHost>(sched: &Scripted<H>, worker: Worker) -> Option<Worker> {
    script(sched).open(MAIN);
    keeps::<H>(worker)
}
