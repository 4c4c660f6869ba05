//! A thread that waits for a future by a bell of [`spinpark_kernel::waits::bell`], and its ringer; with the ways in
//! which that may be wrong.

use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::is_variant;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::waits::at_rest::AtRest;
use spinpark_kernel::waits::bell::{Bell, Bells, Counts};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A future that is ready when all of this is there, and the bell of the thread that waits for it.
pub struct Waiter<H: ModelHost> {
    bell: Arc<Bell<H, Counted<H>>>,
    /// The wrong bell of a variant.
    wrong: WrongBell<H>,
    bells: Bells<H, Bell<H, Counted<H>>>,
    /// The wrong flag of a variant.
    closing: Atomic<H, bool>,
    news: Vec<Atomic<H, bool>>,
}

/// A bell whose two words are the variant's to use.
struct WrongBell<H: ModelHost> {
    parker: H::Parker,
    has_rung: Atomic<H, bool>,
}

impl<H: ModelHost> Waiter<H> {
    /// That waits for so many.
    pub fn new(news: usize) -> Arc<Self> {
        Arc::new(Waiter::counted(Counted::Not, news))
    }

    fn counted(counted: Counted<H>, news: usize) -> Self {
        Waiter {
            bell: Arc::new(Bell::counted_by(counted)),
            wrong: WrongBell { parker: H::Parker::new(), has_rung: Atomic::new(false) },
            bells: Bells::new(),
            closing: Atomic::new(false),
            news: (0..news).map(|_| Atomic::new(false)).collect(),
        }
    }

    /// Waker `n` has news, and rings.
    pub fn ring(&self, n: usize) {
        // Relaxed: that the poll sees it is what a ring is for.
        self.news[n].store(true, Relaxed);
        if is_variant("bell-unparks-before-it-rings") {
            self.wrong.parker.unpark();
            // Relaxed: the order of the two is what is wrong.
            self.wrong.has_rung.swap(true, Relaxed);
            return;
        }
        self.bell.ring();
    }

    fn is_ready(&self) -> bool {
        self.has_first(self.news.len())
    }

    /// Polls.
    fn has_first(&self, n: usize) -> bool {
        // Relaxed: as in `ring`.
        self.news[..n].iter().all(|news| news.load(Relaxed))
    }

    /// Polls, and waits, until the future is ready; how often it polled.
    pub fn block_on(&self) -> u64 {
        self.block_on_first(self.news.len())
    }

    /// The same for the first `n` of its news.
    pub fn block_on_first(&self, n: usize) -> u64 {
        let mut polls = 1;
        while !self.has_first(n) {
            let waited = self.wait(|| Ok::<(), ()>(()));
            assert!(waited.is_ok(), "a thread that never gives up has given up");
            polls += 1;
        }
        polls
    }

    fn wait<E>(&self, before_sleep: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        if is_variant("bell-unparks-before-it-rings") {
            // Relaxed: as in `ring`.
            while !self.wrong.has_rung.swap(false, Relaxed) {
                self.wrong.parker.park();
            }
            return Ok(());
        }
        if is_variant("bell-is-taken-before-the-sleep") {
            // What rang since the poll is forgotten.
            let _ = self.bell.wait(|| Err::<(), ()>(()));
        }
        self.bell.wait(before_sleep)
    }

    /// The same in a task of a runtime that may be shut down: `None`, if it was.
    pub fn block_on_in_a_task(&self) -> Option<u64> {
        if !is_variant("bell-is-never-listed") {
            self.bells.enter(Arc::clone(&self.bell));
            assert!(self.bells.is_any(), "one is listed, and none is counted");
        }
        let mut polls = 1;
        let ready = loop {
            if self.is_ready() {
                break Some(polls);
            }
            if self.wait(|| if self.is_closing() { Err(()) } else { Ok(()) }).is_err() {
                break None;
            }
            polls += 1;
        };
        if !is_variant("bell-is-never-listed") {
            self.bells.leave(&self.bell);
        }
        ready
    }

    /// Another thread that waits for what is there already.
    pub fn come_and_go(&self) {
        let bell = Arc::new(Bell::counted_by(Counted::Not));
        self.bells.enter(Arc::clone(&bell));
        self.bells.leave(&bell);
        assert!(Arc::strong_count(&bell) == 1, "one that waits no more is listed still");
    }

    /// A thread is about to give up, after `while_asked`. Has it been woken all the same?
    pub fn gives_up(&self, while_asked: impl FnOnce()) -> bool {
        let mut while_asked = Some(while_asked);
        let waited = self.wait(|| {
            while_asked.take().into_iter().for_each(|while_asked| while_asked());
            Err::<(), ()>(())
        });
        waited.is_ok()
    }

    /// No thread waits any more.
    pub fn check_at_rest(&self) {
        assert!(!self.bells.is_any(), "no thread waits, and one is counted");
    }

    fn is_closing(&self) -> bool {
        match is_variant("bell-close-wakes-before-it-says") {
            // Relaxed: as in `Bells`.
            true => self.closing.load(Relaxed),
            false => self.bells.is_closing(),
        }
    }

    /// Shuts down.
    pub fn close(&self) {
        if is_variant("bell-close-wakes-before-it-says") {
            self.bells.all_look_again();
            // Relaxed: as in `Bells`.
            return self.closing.store(true, Relaxed);
        }
        self.bells.close();
    }
}

/// As what a thread counts while it waits.
pub enum Counted<H: ModelHost> {
    /// It does not.
    Not,
    /// As one of the threads of a process.
    Thread(Arc<Count<H>>),
    /// As an M whose task waits.
    M(Arc<Atomic<H, u64>>),
}

impl<H: ModelHost> Counts for Counted<H> {
    fn enter(&self) {
        match self {
            Counted::Not => (),
            Counted::Thread(count) => count.enter(),
            // Relaxed: as the runtime's count.
            Counted::M(ms) => _ = ms.fetch_add(1, Relaxed),
        }
    }

    fn leave(&self) {
        match self {
            Counted::Not => (),
            Counted::Thread(count) => count.leave(),
            // Relaxed: as the runtime's count.
            Counted::M(ms) => _ = ms.fetch_sub(1, Relaxed),
        }
    }
}

/// The count of a process's threads that wait, and the wrong one of a variant, whose changes have no number.
pub struct Count<H: ModelHost> {
    at_rest: AtRest<H>,
    wrong: Atomic<H, u64>,
}

impl<H: ModelHost> Count<H> {
    fn enter(&self) {
        match is_variant("at-rest-is-read-once") {
            // Release: as in `AtRest`.
            true => _ = self.wrong.fetch_add(1, Release),
            false => self.at_rest.enter(),
        }
    }

    fn leave(&self) {
        match is_variant("at-rest-is-read-once") {
            // Relaxed: as in `AtRest`.
            true => _ = self.wrong.fetch_sub(1, Relaxed),
            false => self.at_rest.leave(),
        }
    }

    fn are_all(&self, threads: impl FnOnce() -> u64, rest: impl FnOnce() -> bool) -> bool {
        match is_variant("at-rest-is-read-once") {
            true => {
                // Acquire: as in `AtRest`.
                let count = self.wrong.load(Acquire);
                threads() == count && rest()
            }
            false if is_variant("at-rest-asks-the-rest-first") => {
                let rests = rest();
                self.at_rest.are_all(|| Some(threads() as usize), || rests)
            }
            false => self.at_rest.are_all(|| Some(threads() as usize), rest),
        }
    }
}

/// A thread that waits counts itself, until it runs again.
const COUNTS_UNTIL_IT_RUNS: &str = "bell-woken-thread-counts-until-it-runs";

/// The threads of a process, each of which waits for one thing; and a runtime's M, whose task waits for one.
pub struct Process<H: ModelHost> {
    count: Arc<Count<H>>,
    /// How many threads there are: the system's number.
    threads: Atomic<H, u64>,
    ms: Arc<Atomic<H, u64>>,
    waiters: Vec<Waiter<H>>,
    m: Waiter<H>,
}

impl<H: ModelHost> Process<H> {
    /// So many threads that wait in turn, and `others` that are not a runtime's.
    pub fn new(waiters: usize, others: u64) -> Arc<Self> {
        let count = Arc::new(Count { at_rest: AtRest::new(), wrong: Atomic::new(0) });
        let ms = Arc::new(Atomic::new(0));
        let thread = |_| match is_variant(COUNTS_UNTIL_IT_RUNS) {
            true => Waiter::counted(Counted::Not, 1),
            false => Waiter::counted(Counted::Thread(Arc::clone(&count)), 1),
        };
        let waiters_of = (0..waiters).map(thread).collect();
        let m = Waiter::counted(Counted::M(Arc::clone(&ms)), 1);
        Arc::new(Process { threads: Atomic::new(waiters as u64 + others), waiters: waiters_of, m, ms, count })
    }

    /// Thread `n` gets what it waits for.
    pub fn ring(&self, n: usize) {
        self.waiters[n].ring(0);
    }

    /// The M's task gets what it waits for.
    pub fn ring_m(&self) {
        self.m.ring(0);
    }

    /// Thread `n` waits.
    pub fn wait(&self, n: usize) {
        while !self.waiters[n].is_ready() {
            let _ = self.sleep(n, || Ok::<(), ()>(()));
        }
    }

    /// The M waits, with its task.
    pub fn wait_m(&self) {
        self.m.block_on();
    }

    /// Thread `n` waits, and is told if nothing can happen any more: `false`. Then the M, if the process `has_m`, waits, too.
    pub fn wait_or_deadlock(&self, n: usize, has_m: bool) -> bool {
        // Relaxed: as the runtime's count, which is read between the two reads of the other.
        let m_waits = || !has_m || self.ms.load(Relaxed) == 1;
        // Acquire: a thread that sees that another has ended sees what that did.
        let threads = || self.threads.load(Acquire);
        if is_variant("bell-asks-before-it-counts") {
            let is_dead = self.count.are_all(|| threads() - 1, m_waits);
            if !is_dead {
                self.wait(n);
            }
            return !is_dead;
        }
        let asks = || if self.count.are_all(threads, m_waits) { Err(()) } else { Ok(()) };
        while !self.waiters[n].is_ready() {
            if self.sleep(n, asks).is_err() {
                return false;
            }
        }
        true
    }

    fn sleep<E>(&self, n: usize, before_sleep: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        let counts_itself = is_variant(COUNTS_UNTIL_IT_RUNS);
        if counts_itself {
            self.count.enter();
        }
        let woken = self.waiters[n].wait(before_sleep);
        if counts_itself {
            self.count.leave();
        }
        woken
    }

    /// The caller, a thread that is not a runtime's, ends.
    pub fn end(&self) {
        // Release: as the system, whose lock both sides take.
        self.threads.fetch_sub(1, Release);
    }
}
