//! Two Ms that run, idle and make system calls, while others stop the world, or run a function under every P. What is
//! asked for comes about, once, in turn; and meanwhile a P is used by one.

use crate::room::{Program, Room, reached, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::syscall::{Away, Way};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::stw::Tiny;
use spinpark_verification::harness::unrest::Unrest;
use spinpark_verification::hosts::model_host::{Cell, ModelHost};
use spinpark_verification::hosts::wrap::trace::main_plays;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

/// Sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// How many Ps there are. Those of threads that do nothing are idle at first.
    pub procs: usize,
}

impl Setup {
    fn simpler(self) -> Vec<Setup> {
        (1..self.procs).map(|procs| Setup { procs }).collect()
    }
}

/// What is done. An M that is in a system call comes back before it does anything else; one that has no P takes an idle
/// one, or does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// An M runs a G, after its scheduling point.
    Run,
    /// An M enters a system call.
    Entersyscall,
    /// The same, and it lasts until no thread will ask for anything any more.
    EntersyscallAndBlock,
    /// Its system call is over.
    Exitsyscall,
    /// An M idles its P.
    Idle,
    /// A thread outside stops the world, and starts it.
    StopTheWorld,
    /// A thread runs a function under every P, its own included, if it has one.
    ForEachP,
}

fn calls_and_runs() -> BoxedStrategy<Op> {
    prop_oneof![
        3 => Just(Op::Run),
        5 => Just(Op::Entersyscall),
        3 => Just(Op::EntersyscallAndBlock),
        3 => Just(Op::Exitsyscall),
        2 => Just(Op::Idle),
    ]
    .boxed()
}

/// Threads 0 and 1 are Ms; beside them are the threads that ask for something.
const MS: usize = 2;

/// The world is stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Stw;

impl Room for Stw {
    const NAME: &'static str = "stw";
    const CLAIM: &'static str = "a stop ends, in turn, by one wake; while the world is stopped no thread uses a P";
    const THREADS: usize = 4;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random, Engine::TsoRandom];
    const FALLS: &'static [&'static str] = &[
        "stw-scans-before-it-says",
        "stw-enters-in-gos-order",
        "syscall-no-entering-fence",
        "stw-counts-a-p-twice",
        "stw-wakes-nobody",
        "stw-released-before-the-world-runs",
        "stw-pushes-in",
    ];
    const PATHS: &'static [&'static str] = &[
        "the world was stopped while another stood in line",
        "the M that entered gave its P up itself",
        "a P was taken out of a system call",
        "an M came back to no P",
        "an M took its own P back",
        "an M kept its P, and then heard of a stop",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (1..=MS).prop_map(|procs| Setup { procs }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread < MS { calls_and_runs() } else { Just(Op::StopTheWorld).boxed() }
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        setup.simpler()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let tiny = StopRun::<H>::play(program, MS);
        format!("{:?}", tiny.served())
    }
}

/// A function runs once under every P.
#[derive(Debug, Clone, PartialEq)]
pub struct Safepoint;

impl Room for Safepoint {
    const NAME: &'static str = "safepoint";
    const CLAIM: &'static str = "a function runs once under each P, by its owner, whatever Ms do meanwhile";
    const THREADS: usize = 3;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random, Engine::TsoRandom];
    const FALLS: &'static [&'static str] =
        &["safepoint-enters-blindly", "safepoint-idles-what-is-wanted", "safepoint-counts-before-it-ran"];
    const PATHS: &'static [&'static str] = &[
        "the function ran at a scheduling point",
        "the function ran under the caller's own P",
        "the M that entered gave its P up itself",
        "a P was taken out of a system call",
        "an M came back to no P",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (1..=MS + 1).prop_map(|procs| Setup { procs }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread < MS {
            return calls_and_runs();
        }
        // It may have a P of its own, and gets one if one is idle. A stopper blocks, so it never is in a system call.
        prop_oneof![4 => Just(Op::ForEachP), 1 => Just(Op::Run), 1 => Just(Op::Idle)].boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        setup.simpler()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let tiny = StopRun::<H>::play(program, MS + 1);
        format!("{:?}", tiny.passed.iter().map(Cell::get).collect::<Vec<_>>())
    }
}

/// What the threads of a program share.
struct StopRun<H: ModelHost> {
    tiny: Arc<Tiny<H>>,
    /// How often something will still be asked for.
    to_come: AtomicUsize,
    /// Where each M blocks in its system call.
    io: [H::Parker; MS],
}

/// Where a thread's P is.
enum Place {
    Here(OwnedP),
    /// In its word. Had a stop been asked for before it was left there?
    InSyscall(Away, bool),
    /// It has none.
    Nowhere,
}

/// One thread.
struct Actor<'a, H: ModelHost> {
    run: &'a StopRun<H>,
    me: usize,
    place: Place,
    rests: bool,
}

fn asks<R: Room<Op = Op>>(program: &Program<R>) -> usize {
    let asks = |op: &Op| matches!(op, Op::StopTheWorld | Op::ForEachP);
    (MS..R::THREADS).map(|thread| program.of(thread).iter().filter(|op| asks(op)).count()).sum()
}

impl<H: ModelHost> StopRun<H> {
    /// The first `owners` threads have a P each, if there are so many.
    fn play<R: Room<Op = Op, Setup = Setup>>(program: &Program<R>, owners: usize) -> Arc<Tiny<H>> {
        main_plays("M0");
        let procs = program.setup.procs.clamp(1, owners);
        let acts: Vec<bool> = (0..R::THREADS).map(|thread| !program.of(thread).is_empty()).collect();
        let unrest = Unrest::of(acts[..MS].iter().filter(|acts| **acts).count());
        let run = Arc::new(StopRun::<H> {
            tiny: Tiny::with(procs as u32, 0, unrest),
            to_come: AtomicUsize::new(asks(program)),
            io: [H::Parker::new(), H::Parker::new()],
        });
        (0..procs).filter(|p| !acts[*p]).for_each(|p| run.tiny.release(OwnedP::forge(PId(p as u32))));
        let others: Vec<_> = (1..R::THREADS)
            .filter(|thread| acts[*thread])
            .map(|thread| {
                let (run, ops) = (Arc::clone(&run), program.of(thread));
                H::fork(["M0", "M1", "thread 2", "thread 3"][thread], move || run.thread(thread, thread < procs, ops))
            })
            .collect();
        if acts[0] {
            run.thread(0, true, program.of(0));
        }
        others.into_iter().for_each(|other| H::join(other));
        run.tiny.check_at_rest();
        reached_if(run.tiny.gave_up.load(SeqCst), "the M that entered gave its P up itself");
        reached_if(run.tiny.taken.load(SeqCst) > 0, "a P was taken out of a system call");
        Arc::clone(&run.tiny)
    }

    fn thread(&self, me: usize, has_p: bool, ops: Vec<Op>) {
        let place = if has_p { Place::Here(OwnedP::forge(PId(me as u32))) } else { Place::Nowhere };
        let mut actor = Actor { run: self, me, place, rests: false };
        ops.into_iter().for_each(|op| actor.act(op));
        actor.idle();
        actor.rest();
    }

    /// What was asked for has come about. If it was the last, no system call has to last any longer.
    fn is_done(&self) {
        if self.to_come.fetch_sub(1, SeqCst) == 1 {
            self.io.iter().for_each(Parker::unpark);
        }
    }
}

impl<H: ModelHost> Actor<'_, H> {
    fn act(&mut self, op: Op) {
        match op {
            Op::Run => self.run(),
            Op::Exitsyscall => self.exit(),
            Op::Idle => self.idle(),
            Op::Entersyscall | Op::EntersyscallAndBlock if self.me < MS => self.enter(op),
            Op::StopTheWorld if self.me >= MS => self.stop_the_world(),
            Op::ForEachP if self.me >= MS => self.for_each_p(),
            _ => (),
        }
    }

    /// An M that has no P takes an idle one.
    fn acquire(&mut self) {
        self.exit();
        if matches!(self.place, Place::Nowhere) {
            self.place = self.run.tiny.acquire().map_or(Place::Nowhere, Place::Here);
        }
    }

    fn take_p(&mut self) -> Option<OwnedP> {
        match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Here(p) => Some(p),
            elsewhere => {
                self.place = elsewhere;
                None
            }
        }
    }

    fn run(&mut self) {
        self.acquire();
        let Place::Here(p) = &self.place else { return };
        let passed = &self.run.tiny.passed[p.id().index()];
        let before = passed.get();
        self.run.tiny.attend(p);
        reached_if(passed.get() > before, "the function ran at a scheduling point");
        self.run.tiny.run(p);
    }

    fn enter(&mut self, op: Op) {
        self.run();
        let Some(p) = self.take_p() else { return };
        let asked = self.run.tiny.is_needspinning();
        let away = self.run.tiny.enter(MId(self.me as u32), p);
        self.place = away.map_or(Place::Nowhere, |away| Place::InSyscall(away, asked));
        if op == Op::EntersyscallAndBlock && self.run.to_come.load(SeqCst) > 0 {
            self.rest();
            while self.run.to_come.load(SeqCst) > 0 {
                self.run.io[self.me].park();
            }
        }
    }

    fn exit(&mut self) {
        let (away, asked) = match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::InSyscall(away, asked) => (away, asked),
            elsewhere => return self.place = elsewhere,
        };
        let Some((p, way)) = self.run.tiny.come_back(away) else { return reached("an M came back to no P") };
        assert!(way != Way::Kept || !asked, "a system call after the stop was asked for, and the P is kept");
        reached_if(way == Way::TookBack, "an M took its own P back");
        reached_if(way == Way::Kept && self.run.tiny.is_needspinning(), "an M kept its P, and then heard of a stop");
        self.run.tiny.run(&p);
        self.place = Place::Here(p);
    }

    fn idle(&mut self) {
        self.exit();
        self.take_p().into_iter().for_each(|p| self.run.tiny.release(p));
    }

    /// Ends, or blocks for as long as anything is asked for.
    fn rest(&mut self) {
        if self.me < MS && !std::mem::replace(&mut self.rests, true) {
            self.run.tiny.rest();
        }
    }

    fn stop_the_world(&mut self) {
        self.idle();
        self.run.tiny.stop(self.me as u8, &Tiny::<H>::parker());
        reached_if(self.run.tiny.line() > 1, "the world was stopped while another stood in line");
        self.run.tiny.start();
        self.run.is_done();
    }

    fn for_each_p(&mut self) {
        let own = self.take_p();
        reached_if(own.is_some(), "the function ran under the caller's own P");
        self.run.tiny.for_each_p(own);
        self.run.is_done();
    }
}
