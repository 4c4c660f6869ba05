//! A thread that waits for a future by a bell of [`spinpark::waits::bell`], and who rings; with the ways in which that may be
//! wrong.

use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::is_variant;
use spinpark::atomic::Atomic;
use spinpark::host::Parker;
use spinpark::waits::bell::{Bell, Bells};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A future that is ready when all of this is there, and the bell of the thread that waits for it.
pub struct Waiter<H: ModelHost> {
    bell: Arc<Bell<H>>,
    /// The wrong bell of a variant.
    wrong: WrongBell<H>,
    bells: Bells<H, Bell<H>>,
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
        Arc::new(Waiter {
            bell: Arc::new(Bell::new()),
            wrong: WrongBell { parker: H::Parker::new(), has_rung: Atomic::new(false) },
            bells: Bells::new(),
            closing: Atomic::new(false),
            news: (0..news).map(|_| Atomic::new(false)).collect(),
        })
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
            assert!(self.bells.is_any(), "one is listed, and nobody is counted");
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
        let bell = Arc::new(Bell::new());
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

    /// Nobody waits any more.
    pub fn check_at_rest(&self) {
        assert!(!self.bells.is_any(), "nobody waits, and somebody is counted");
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
