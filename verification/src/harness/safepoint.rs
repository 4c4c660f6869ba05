//! The smallest scheduler around `safepoint`: that of [`stw`](crate::harness::stw), and a caller that runs a function
//! under each P.

use crate::harness::stw::Tiny;
use crate::hosts::model_host::{Cell, ModelHost};
use spinpark_kernel::host::{Lock, Parker};
use spinpark_kernel::protocol::stw::safepoint::{self, Safepoint, SafepointFn};
use spinpark_kernel::protocol::stw::wanted::Want;
use spinpark_kernel::protocol::syscall::SyscallWord;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// An M that passes a safepoint.
struct Passer<'a, H: ModelHost> {
    tiny: &'a Tiny<H>,
    parker: Arc<H::Parker>,
    run: &'a Arc<SafepointFn>,
}

impl<H: ModelHost> safepoint::Neighbours for Passer<'_, H> {
    fn begin(&self) -> Vec<OwnedP> {
        self.tiny.lock.with(|c| {
            self.tiny.unrest.begin();
            let procs = self.tiny.procs();
            c.safepoint = Some(Safepoint::new(procs, Arc::clone(self.run), Arc::clone(&self.parker)));
            self.tiny.wanted.ask(Want::Safepoint);
            std::mem::take(&mut c.idle)
        })
    }
    fn take_from_syscalls(&self) -> Vec<OwnedP> {
        let taken: Vec<OwnedP> = self.tiny.words.iter().filter_map(SyscallWord::take_any).collect();
        self.tiny.taken.fetch_add(taken.len(), Relaxed);
        taken
    }
    fn pass(&self, p: OwnedP) {
        self.tiny.pass(p);
    }
    fn finish(&self) {
        while !self.tiny.lock.with(|c| c.safepoint.as_ref().is_none_or(Safepoint::is_passed)) {
            if self.tiny.unrest.relies() {
                self.tiny.lock.with(|c| self.tiny.nothing_is_sat_out(c));
            }
            self.parker.park();
        }
        self.tiny.lock.with(|c| {
            c.safepoint = None;
            self.tiny.wanted.done(Want::Safepoint);
        });
    }
}

impl<H: ModelHost> Tiny<H> {
    /// Runs a function under each P that counts, one at a time; sees that it has run, and that only the
    /// caller still refers to it.
    pub fn for_each_p(self: &Arc<Self>, own: Option<OwnedP>) {
        let run: Arc<SafepointFn> = Arc::new({
            let tiny = Arc::clone(self);
            move |p: PId| {
                assert!(!tiny.used[p.index()].get(), "P{} is used while the function runs", p.0);
                let passed = &tiny.passed[p.index()];
                passed.set(passed.get() + 1);
            }
        });
        let nth = self.safepoints.fetch_add(1, Relaxed) as u32 + 1;
        safepoint::for_each_p::<H>(own, &Passer { tiny: self, parker: Self::parker(), run: &run });
        assert!(
            Arc::strong_count(&run) == 1,
            "the caller of for_each_p has come back, and an M still refers to its function"
        );
        for (p, passed) in self.passed.iter().enumerate() {
            let n = passed.get();
            assert!(n == nth, "the function ran {n} times under P{p}, by the end of safepoint {nth}");
        }
    }
}
