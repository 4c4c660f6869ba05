//! The run: two Ms, a monitor and a stopper, on the smallest scheduler around the room.

use super::{MONITOR, Op, STOPPER, Syscall};
use crate::oracle::g;
use crate::room::{Program, reached, reached_if};
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::stw;
use spinpark_kernel::protocol::syscall::{Away, Neighbours, SyscallStatus, Way, entersyscallblock};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use spinpark_verification::harness::syscall::{How, P0, P1, Tiny};
use spinpark_verification::harness::unrest::Unrest;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::syscall::Crossing;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};

/// What the threads of a program share.
pub(super) struct SyscallRun<H: ModelHost, C: Crossing> {
    tiny: Arc<Tiny<H, C>>,
    procs: usize,
    /// Which thread has each P; written by it. No part of what is checked, and so no step, as all of `std`.
    owners: Mutex<[Option<usize>; 2]>,
    unrest: Unrest,
    stops_to_come: AtomicUsize,
    /// Does the monitor still do something?
    is_watched: AtomicBool,
    /// Where each M blocks in its system call.
    io: [H::Parker; 2],
    gs_made: AtomicUsize,
}

/// Where an M is.
enum CallState {
    Runs(OwnedP, G),
    InSyscall(Away, PId, G),
    /// It has no P, and no G.
    Nowhere,
}

/// An M, or the monitor.
struct Actor<'a, H: ModelHost, C: Crossing> {
    run: &'a SyscallRun<H, C>,
    me: usize,
    place: CallState,
    rests: bool,
    /// What the monitor saw.
    seen: [SyscallStatus; 2],
    ran: Vec<u64>,
}

impl<H: ModelHost, C: Crossing> SyscallRun<H, C> {
    pub(super) fn play(program: &Program<Syscall>) -> String {
        let procs = program.setup.procs.clamp(1, 2);
        let acts = |thread: &usize| !program.of(*thread).is_empty();
        let has_p = [0, 1].map(|thread| thread < procs && acts(&thread));
        let run = Arc::new(SyscallRun::<H, C> {
            tiny: Tiny::starting_at(name(0), procs, 0u32.wrapping_sub(program.setup.before_wrap)),
            procs,
            owners: Mutex::new([0, 1].map(|p| has_p[p].then_some(p))),
            unrest: Unrest::of((0..STOPPER).filter(acts).count()),
            stops_to_come: AtomicUsize::new(program.of(STOPPER).len()),
            is_watched: AtomicBool::new(acts(&MONITOR)),
            io: [H::Parker::new(), H::Parker::new()],
            gs_made: AtomicUsize::new(0),
        });
        (0..procs).filter(|p| !has_p[*p]).for_each(|p| run.tiny.release(OwnedP::forge(PId(p as u32)), How::Idle));
        let others: Vec<_> = (1..=STOPPER)
            .filter(acts)
            .map(|thread| {
                let (run, ops) = (Arc::clone(&run), program.of(thread));
                H::fork(name(thread), move || run.thread(thread, has_p.get(thread) == Some(&true), ops))
            })
            .collect();
        let mut ran = if acts(&0) { run.thread(0, has_p[0], program.of(0)) } else { Vec::new() };
        others.into_iter().for_each(|other| ran.extend(H::join(other)));
        let made = run.gs_made.load(SeqCst) as u64;
        run.tiny.check_at_rest(made, &[&ran], &[P0, P1][..procs]);
        format!("{ran:?}")
    }

    fn thread(&self, me: usize, has_p: bool, ops: Vec<Op>) -> Vec<u64> {
        if me == STOPPER {
            return ops.iter().flat_map(|_| self.stop_the_world()).collect();
        }
        let place =
            if has_p { CallState::Runs(OwnedP::forge(PId(me as u32)), self.new_g()) } else { CallState::Nowhere };
        let seen = [SyscallStatus { in_syscall: None, tick: 0 }; 2];
        let mut actor = Actor { run: self, me, place, rests: false, seen, ran: Vec::new() };
        ops.into_iter().for_each(|op| actor.act(op));
        actor.end();
        actor.ran
    }

    fn new_g(&self) -> G {
        g(self.gs_made.fetch_add(1, SeqCst) as u64 + 1)
    }

    fn owner<R>(&self, p: PId, act: impl FnOnce(&mut Option<usize>) -> R) -> R {
        act(&mut self.owners.lock().unwrap_or_else(PoisonError::into_inner)[p.index()])
    }

    /// Thread `me` has got `p`.
    fn owns(&self, me: usize, p: PId) {
        let before = self.owner(p, |owner| owner.replace(me));
        let other = before.map(name).unwrap_or_default();
        assert!(before.is_none(), "P{} is {other}'s, and {} has got it too", p.0, name(me));
    }

    /// Thread `me` is about to let go of `p`.
    fn disowns(&self, me: usize, p: PId) {
        let owner = self.owner(p, Option::take);
        assert!(owner == Some(me), "P{} was {}'s, and another thread has it too", p.0, name(me));
    }

    fn stop_the_world(&self) -> Vec<u64> {
        let parker = Arc::new(H::Parker::new());
        stw::stop::<H>(None, &Stopper { run: self, parker: &parker });
        for (p, how) in self.tiny.held() {
            self.owns(STOPPER, p);
            reached_if(how == How::GivenUp, "the M that entered gave its P up itself");
            reached_if(how == How::Taken, "a stopper took a P out of a call");
            reached_if(how == How::Retaken, "a P that the monitor took was held for a stop");
        }
        (0..self.procs).for_each(|p| self.disowns(STOPPER, PId(p as u32)));
        let ran = self.tiny.start();
        if self.stops_to_come.fetch_sub(1, SeqCst) == 1 {
            self.io.iter().for_each(Parker::unpark);
        }
        ran
    }
}

fn name(thread: usize) -> &'static str {
    ["M0", "M1", "monitor", "stopper"][thread]
}

impl<H: ModelHost, C: Crossing> Actor<'_, H, C> {
    fn act(&mut self, op: Op) {
        match op {
            Op::See(p) => self.see(p),
            Op::Retake(p) => self.retake(p),
            Op::Tick(p) => {
                self.see(p);
                self.retake(p);
            }
            _ if self.me == MONITOR => (),
            Op::Run => drop(self.run()),
            Op::Idle => self.idle(),
            Op::Exitsyscall => self.exit(),
            Op::StopTheWorld => (),
            Op::Entersyscall | Op::EntersyscallAndBlock | Op::Entersyscallblock => self.enter(op),
        }
    }

    /// Does something under its P, which it gets first if it has none. False: there was none.
    fn run(&mut self) -> bool {
        self.exit();
        if matches!(self.place, CallState::Nowhere)
            && let Some(p) = self.run.tiny.acquire()
        {
            self.run.owns(self.me, p.id());
            self.place = CallState::Runs(p, self.run.new_g());
        }
        let CallState::Runs(p, _) = &self.place else { return false };
        self.run.tiny.work(p);
        true
    }

    fn enter(&mut self, op: Op) {
        if !self.run() {
            return;
        }
        let CallState::Runs(p, g) = std::mem::replace(&mut self.place, CallState::Nowhere) else { return };
        let (m, old) = (MId(self.me as u32), p.id());
        self.run.disowns(self.me, old);
        let away = match op {
            Op::Entersyscallblock => entersyscallblock(m, p, &*self.run.tiny),
            _ => self.run.tiny.enter(m, p),
        };
        self.place = CallState::InSyscall(away, old, g);
        if op == Op::Entersyscallblock {
            self.another_runs();
        }
        if op == Op::EntersyscallAndBlock && self.run.stops_to_come.load(SeqCst) > 0 {
            self.rest();
            self.block(|run| run.stops_to_come.load(SeqCst) > 0);
        }
    }

    fn exit(&mut self) {
        let (away, old, g) = match std::mem::replace(&mut self.place, CallState::Nowhere) {
            CallState::InSyscall(away, old, g) => (away, old, g),
            elsewhere => return self.place = elsewhere,
        };
        match self.run.tiny.exit(away, old, g) {
            Err(_) => reached("an M came back to no P"),
            Ok((p, g, way)) => {
                self.run.owns(self.me, p.id());
                reached_if(way == Way::TookBack, "an M took its own P back");
                reached_if(way == Way::Idle, "an M came back to an idle P");
                self.place = CallState::Runs(p, g);
            }
        }
    }

    /// Runs what there is, then idles its P.
    fn idle(&mut self) {
        self.exit();
        let CallState::Runs(p, g) = std::mem::replace(&mut self.place, CallState::Nowhere) else { return };
        self.run.disowns(self.me, p.id());
        self.ran.extend(self.run.tiny.run_dry(p, g));
    }

    /// A monitor ends. An M in a system call comes back once no thread watches it any more.
    fn end(&mut self) {
        if self.me == MONITOR {
            self.run.is_watched.store(false, SeqCst);
            self.run.io.iter().for_each(Parker::unpark);
        } else if matches!(self.place, CallState::InSyscall(..)) {
            self.block(|run| run.is_watched.load(SeqCst));
        }
        self.idle();
        self.rest();
    }

    /// Its system call lasts as long as `lasts`.
    fn block(&self, lasts: impl Fn(&SyscallRun<H, C>) -> bool) {
        while lasts(self.run) {
            self.run.io[self.me].park();
        }
    }

    /// The P that it handed on is another M's, if there is something to run; that M is played here.
    fn another_runs(&mut self) {
        let p = self.run.tiny.acquire();
        p.into_iter().for_each(|p| self.ran.extend(self.run.tiny.hand_on(p, How::Idle)));
    }

    /// Ends, or blocks for as long as a stopper stops the world.
    fn rest(&mut self) {
        if !std::mem::replace(&mut self.rests, true) {
            self.run.tiny.no_stop_is_sat_out(|| self.run.unrest.rest());
        }
    }

    fn see(&mut self, p: usize) {
        let p = p % self.run.procs;
        self.seen[p] = self.run.tiny.syscall_word(PId(p as u32)).peek();
    }

    fn retake(&mut self, p: usize) {
        let p = p % self.run.procs;
        let (id, seen) = (PId(p as u32), self.seen[p]);
        let Some(p) = self.run.tiny.retake_seen(id, seen) else {
            return reached_if(seen.in_syscall.is_some(), "a retake lost to an exit");
        };
        self.run.owns(self.me, id);
        let (now, taken) = (self.run.tiny.syscall_word(id).peek(), seen.tick.wrapping_add(1));
        assert!(now.tick == taken, "{id:?} was taken out of the call after the one that was seen: {seen:?}, {now:?}");
        self.run.disowns(self.me, id);
        self.ran.extend(self.run.tiny.hand_on(p, How::Retaken));
    }
}

/// The stopper. Once it has looked at the words it relies on the Ms that have a P.
struct Stopper<'a, H: ModelHost, C: Crossing> {
    run: &'a SyscallRun<H, C>,
    parker: &'a Arc<H::Parker>,
}

impl<H: ModelHost, C: Crossing> stw::Neighbours for Stopper<'_, H, C> {
    fn begin(&self, own: Option<OwnedP>) {
        debug_assert!(own.is_none(), "this stopper has no P");
        self.run.unrest.begin();
        self.run.tiny.begin_stop(Some(self.parker));
    }
    fn take_from_syscalls(&self) {
        self.run.tiny.take_from_syscalls(self.run.procs);
    }
    fn is_stopped(&self) -> bool {
        self.run.tiny.is_stopped()
    }
    fn sleep(&self) {
        if self.run.unrest.relies() {
            self.run.tiny.no_stop_is_sat_out(|| true);
        }
        self.parker.park();
    }
}
