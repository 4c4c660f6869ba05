//! The stopper, beside the smallest scheduler of [`stw`](crate::harness::stw): the line, the stop, the start.

use crate::harness::stw::{Central, Tiny};
use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant::is_variant;
use spinpark_kernel::atomic::store_load;
use spinpark_kernel::host::{Lock, Parker};
use spinpark_kernel::protocol::stw;
use spinpark_kernel::protocol::stw::wanted::Want;
use spinpark_kernel::protocol::syscall::SyscallWord;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::cell::Cell as Count;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};

impl<H: ModelHost> Tiny<H> {
    fn stand_in_line(&self, name: u8, parker: &Arc<H::Parker>) {
        if is_variant("pushes") {
            return self.push(name, parker);
        }
        let is_first = self.lock.with(|c| {
            c.stood.push(name);
            c.world.queue_up(parker)
        });
        while !is_first && !self.lock.with(|c| c.world.is_first(parker)) {
            parker.park();
        }
    }

    fn leave_line(&self, c: &mut Central<H>) -> Option<Arc<H::Parker>> {
        c.taken = false;
        c.world.leave_line().or_else(|| c.pushing.pop())
    }

    /// Stands in line and stops the world.
    pub fn stop(&self, name: u8, parker: &Arc<H::Parker>) {
        self.stand_in_line(name, parker);
        let stopper = Stopper { tiny: self, name, parker, late: Count::new(0) };
        if is_variant("scans-before-it-says") {
            self.stop_late(&stopper)
        } else {
            stw::stop::<H>(None, &stopper)
        }
        // To say so; to look at each word, and hold what is there; to ask, to find a wake left over, and to ask again.
        let (late, bound) = (stopper.late.get(), 1 + 2 * self.words.len() + 3);
        assert!(late <= bound, "all others had come to rest, and the stop took {late} steps, not {bound} at most");
        for (p, used) in self.used.iter().enumerate() {
            assert!(!used.get(), "the world is stopped, but P{p} is used");
            used.set(true);
        }
    }

    /// The world runs again.
    pub fn start(&self) {
        self.used.iter().for_each(|used| used.set(false));
        // Relaxed: read by the holder of a P, which it got under the lock.
        self.asked.store(false, Relaxed);
        let early = if is_variant("released-early") { self.lock.with(|c| self.leave_line(c)) } else { None };
        early.into_iter().for_each(|parker| parker.unpark());
        let next = self.lock.with(|c| {
            let ps = c.world.resume();
            self.wanted.done(Want::Stop);
            c.idle.extend(ps);
            if is_variant("released-early") { None } else { self.leave_line(c) }
        });
        next.into_iter().for_each(|parker| parker.unpark());
    }

    /// There are no Ps, so a stop is over as soon as it is its turn.
    pub fn stop_at_once(&self, name: u8) {
        let parker = Self::parker();
        self.stand_in_line(name, &parker);
        let next = self.lock.with(|c| {
            c.world.begin_stop();
            c.stopped.push(name);
            c.wakes += 1;
            assert!(c.world.resume().is_empty(), "there are no Ps");
            self.leave_line(c)
        });
        next.into_iter().for_each(|parker| parker.unpark());
    }

    /// The variant that has a semaphore instead of a line: the one that comes while it is free has it (golang/go
    /// #40459).
    fn push(&self, name: u8, parker: &Arc<H::Parker>) {
        self.lock.with(|c| c.stood.push(name));
        while !self.lock.with(|c| match c.taken {
            true => {
                c.pushing.push(Arc::clone(parker));
                false
            }
            false => {
                c.taken = true;
                c.world.queue_up(parker)
            }
        }) {
            parker.park();
        }
    }

    /// The variant that looks at the words before it says that it stops.
    fn stop_late(&self, stopper: &Stopper<'_, H>) {
        let early: Vec<_> = self.words.iter().filter_map(SyscallWord::take_any).collect();
        stw::Neighbours::begin(stopper, None);
        store_load::<H>();
        early.into_iter().for_each(|p| self.release(p));
        while !stw::Neighbours::is_stopped(stopper) {
            stw::Neighbours::sleep(stopper);
        }
    }

    /// Where a stopper sleeps.
    pub fn parker() -> Arc<H::Parker> {
        Arc::new(H::Parker::new())
    }
}

struct Stopper<'a, H: ModelHost> {
    tiny: &'a Tiny<H>,
    name: u8,
    parker: &'a Arc<H::Parker>,
    /// How many steps it has made since all others came to rest.
    late: Count<usize>,
}

impl<H: ModelHost> Stopper<'_, H> {
    /// One more step. Each of these accesses a word, the lock or the parker once.
    fn step(&self) {
        if self.tiny.unrest.is_over() {
            self.late.set(self.late.get() + 1);
        }
    }
}

impl<H: ModelHost> stw::Neighbours for Stopper<'_, H> {
    fn begin(&self, own: Option<OwnedP>) {
        self.step();
        let stoppers = self.tiny.lock.with(|c| {
            self.tiny.unrest.begin();
            c.world.begin_stop();
            self.tiny.wanted.ask(Want::Stop);
            // Release: an M that sees it sees `wanted` too.
            self.tiny.asked.store(true, Release);
            let mut ps: Vec<OwnedP> = own.into_iter().collect();
            ps.append(&mut c.idle);
            ps.into_iter().filter_map(|p| Tiny::releasep(c, p).0).collect::<Vec<_>>()
        });
        stoppers.into_iter().for_each(|parker| parker.unpark());
    }
    fn take_from_syscalls(&self) {
        for (p, word) in self.tiny.words.iter().enumerate() {
            let seen = || word.peek().in_syscall.map(|_| OwnedP::forge(PId(p as u32)));
            self.step();
            let taken = if is_variant("takes-without-an-exchange") { seen() } else { word.take_any() };
            taken.into_iter().for_each(|p| {
                self.step();
                self.tiny.taken.fetch_add(1, Relaxed);
                self.tiny.release(p);
            });
        }
    }
    fn is_stopped(&self) -> bool {
        self.step();
        self.tiny.lock.with(|c| {
            let is_stopped = c.world.is_stopped();
            if is_stopped {
                c.stopped.push(self.name);
            }
            is_stopped
        })
    }
    fn sleep(&self) {
        self.step();
        if self.tiny.unrest.relies() {
            self.tiny.lock.with(|c| self.tiny.nothing_is_sat_out(c));
        }
        self.parker.park();
    }
}
