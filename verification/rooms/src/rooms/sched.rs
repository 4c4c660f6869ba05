//! The whole scheduler: threads outside submit Gs, stop the world, change the number of Ps, run a function under each P, look as the monitor
//! does, and close; Gs do what Gs do. Its Ms are those that it starts itself.
//!
//! Invariants 1, 2, 4, 16, 17, 18, 20, 26, 30 to 34, 36, 41, 45: each G runs once, or is given back by `close`, and sees what was done before it
//! was queued; two use no P at once, and none while the world is stopped; a call comes to its end; when nothing goes on any more no G
//! waits, no M is counted as spinning, every P is idle, and nothing is detached or held. A G that keeps its P for ever, while others come,
//! asks whether work is conserved now, and not only when all is quiet. Not all programs are played (programs.rs says which), and nothing is
//! asked about the order of events.

mod embedder;
mod programs;
mod spec;

use crate::host::RoomHost;
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting};
use crate::values::Maker;
use embedder::Embedder;
use kernel::sched::config::Config;
use kernel::sched::stw::StoppedWorld;
use kernel::sched::{Closed, Sched};
use spec::Known;
use std::sync::Arc;

/// The room.
#[derive(Debug)]
pub struct Scheduled;

/// How large the scheduler is.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// How many Ps there are.
    pub procs: usize,
    /// How many Ms there may be.
    pub max_ms: usize,
    /// How many of them sleep before the first call.
    pub asleep: usize,
    /// How many threads the system refuses, from then on.
    pub refused: u64,
}

impl Setup {
    /// How many Ps there are, how many Ms there may be, and how many threads are refused.
    fn size(self) -> (usize, usize, u64) {
        (self.procs, self.max_ms, self.refused)
    }
    /// May a G keep its P while others run?
    fn may_keep(self) -> bool {
        self.procs > 1 && self.max_ms > 1
    }
    /// May a G wait without its P?
    fn may_park(self) -> bool {
        self.max_ms > 1 && self.refused == 0
    }
}

/// What a thread is. None is an M.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It submits a G, and then does something else.
    Both,
    /// It submits Gs.
    Submits,
    /// It does all but that.
    Party,
}

/// What a G does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Does {
    /// It runs.
    Runs,
    /// It yields once, behind what waits under its P.
    Goyields,
    /// It yields once, behind all others.
    Yields,
    /// It yields once, and cannot leave its M.
    YieldsBound,
    /// It makes a system call, which may be short.
    Calls,
    /// The same, and it cannot leave its M.
    CallsBound,
    /// It makes a system call that is known to block.
    Blocks,
    /// The same, and it cannot leave its M.
    BlocksBound,
    /// It is preempted by a signal, and cannot leave its M.
    IsInterrupted,
    /// It waits until it is readied, and cannot leave its M.
    Parks,
    /// It makes a system call that lasts until it is readied, and cannot leave its M.
    CallsLong,
    /// It stops the world, and starts it.
    Stops,
    /// It runs a function under each P.
    Passes,
    /// It ends with its M's thread.
    Ends,
    /// It keeps its P for ever; if there is but one P or M, it does not.
    Keeps,
    /// It keeps its P until the G that it has readied has run; if there is but one P or M, it does not.
    Awaits,
    /// It waits without its P until the G that it has readied has run, and cannot leave its M; if there may be no other M, it does not.
    AwaitsParked,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Submits a G.
    Submit(Does),
    /// Submits a G that readies another before all else, which does the same.
    SubmitTwo(Does),
    /// Stops the world, and starts it.
    Stop,
    /// The same; meanwhile there is one P more, or one less.
    Resize,
    /// Runs a function under each P.
    ForEachP,
    /// Looks twice as the monitor does, so long after each other that what is seen again is retaken.
    Tick,
    /// Readies the G that waits, or is in a call that lasts, once there is one.
    Ready,
    /// Closes the scheduler.
    Close,
}

/// What a call returns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is over.
    Done,
    /// Was the G accepted?
    Submitted(bool),
    /// So many Ps there are now.
    Procs(usize),
    /// So often the function has run under each P.
    Ran(Vec<u32>),
    /// So many Gs were given back.
    Back(usize),
}

/// The most Ps that there may be.
const MAX_PROCS: usize = 2;

impl Room for Scheduled {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Known;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "sched";

    fn setups() -> Vec<Setup> {
        let sizes = [(1, 1, 0, 0), (2, 1, 0, 0), (1, 2, 1, 0), (1, 2, 1, 1), (2, 2, 2, 0)];
        sizes.map(|(procs, max_ms, asleep, refused)| Setup { procs, max_ms, asleep, refused }).to_vec()
    }
    fn roles() -> Vec<Role> {
        vec![Role::Both, Role::Submits, Role::Party]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        programs::may(role, done)
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    /// On real threads the Ms would go on behind the last call.
    fn sleeps(_: Op) -> bool {
        true
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        match roles {
            [only] => *only == Role::Both,
            _ => !roles.contains(&Role::Both),
        }
    }
    fn is_small(program: &Program<Self>) -> bool {
        programs::is_small(program)
    }
    fn focuses() -> Vec<Focus<Self>> {
        programs::focuses()
    }
    fn larger() -> Vec<Focus<Self>> {
        programs::larger()
    }
}

/// The scheduler.
pub struct OnHost<H: RoomHost> {
    sched: Arc<Sched<H, Embedder<H>>>,
}

impl<H: RoomHost> OnHost<H> {
    fn submits(&self, does: Does, is_two: bool, values: &Maker<H>) -> Answer {
        let embedder = self.sched.observer();
        let submitted = self.sched.submit(embedder.make(does, is_two, values));
        let is_accepted = submitted.is_ok();
        submitted.unwrap_or_else(|Closed(g)| embedder.takes_back(g));
        Answer::Submitted(is_accepted)
    }

    fn stops<R>(&self, act: impl FnOnce(&mut StoppedWorld) -> R) -> R {
        let (result, away) = embedder::while_stopped(&self.sched, None, act);
        assert!(away.is_none(), "the stopper was no M");
        result
    }

    fn resizes(&self) -> Answer {
        Answer::Procs(self.stops(|stopped| {
            let procs = MAX_PROCS + 1 - self.sched.procs();
            self.sched.procresize(stopped, procs).expect("there is a place for so many");
            self.sched.procs()
        }))
    }

    fn ticks(&self) {
        let mut watch = self.sched.watch();
        self.sched.tick(&mut watch, 0);
        self.sched.tick(&mut watch, u64::from(u32::MAX));
    }
}

impl<H: RoomHost> Real<Scheduled, H> for OnHost<H> {
    type Hand = ();

    fn new(setup: Setup, _: &[Role]) -> Self {
        let Setup { procs, max_ms, asleep, refused } = setup;
        let config = Config { procs, max_procs: MAX_PROCS, max_ms, ring: 2, steal_passes: 1, ..Config::default() };
        let sched = Sched::new(config, Embedder::new(setup.may_keep(), setup.may_park()), embedder::life::<H>);
        let sched = sched.expect("the numbers are allowed");
        for _ in 0..asleep {
            sched.start().expect("there is a thread");
            sched.observer().sleeps();
        }
        H::refuse_spawns(refused);
        OnHost { sched }
    }
    fn hand(&self, _: Role) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        Begun::Over(match op {
            Op::Submit(does) => self.submits(does, false, values),
            Op::SubmitTwo(does) => self.submits(does, true, values),
            Op::Stop => {
                self.stops(|_| ());
                Answer::Done
            }
            Op::Resize => self.resizes(),
            Op::ForEachP => Answer::Ran(embedder::passes(&self.sched, None).0),
            Op::Tick => {
                self.ticks();
                Answer::Done
            }
            Op::Ready => {
                embedder::readies(&self.sched);
                Answer::Done
            }
            Op::Close => {
                let left = self.sched.close();
                assert!(self.sched.snapshot().alive == 0, "it is closed, and an M has not ended");
                Answer::Back(left.into_iter().map(|g| self.sched.observer().takes_back(g)).count())
            }
        })
    }
    fn at_rest(&self) -> Result<(), String> {
        let snapshot = self.sched.snapshot();
        let (calls, kept) = (self.sched.observer().is_in_a_call(), self.sched.observer().is_kept());
        let (calls, kept) = (usize::from(calls), usize::from(kept));
        // The P of a call that lasts is in its word, or was taken out of it.
        let has_its_ps =
            snapshot.procs == snapshot.idle_ps + snapshot.in_syscall + kept && snapshot.in_syscall <= calls;
        let has_its_ms = snapshot.sleeping + snapshot.bound + calls + kept == snapshot.alive;
        let is_quiet = (snapshot.detached, snapshot.held, snapshot.nmspinning) == (0, 0, 0);
        let is_right = calls + kept > 0 || snapshot.violation().is_none();
        if has_its_ps && has_its_ms && is_quiet && is_right {
            Ok(())
        } else {
            Err(format!("nothing goes on any more, but {snapshot:?}"))
        }
    }
}
