//! The run: bound Gs with an M each, a thread outside, and perhaps an M for other Gs, on the smallest scheduler around
//! the rooms.

use super::{MS, Op, Setup};
use crate::room::{Program, Room, reached, reached_if};
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use spinpark_verification::harness::bound::Truth;
use spinpark_verification::harness::locked::{Central, Tiny};
use spinpark_verification::hosts::model_host::ModelHost;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

/// What the threads of a program share.
pub(super) struct LockedRun<H: ModelHost> {
    tiny: Arc<Tiny<H>>,
    /// How many threads, beside the worker, have yet to end. No part of what is checked.
    left: AtomicUsize,
    /// Does the kernel know of the thread outside, and that it may ready a G?
    knows_outside: bool,
}

/// The M for Gs that are not bound, after those that are.
const WORKER: MId = MId(MS as u32);

/// The thread outside, in the books of actions.
const OUTSIDE: usize = MS + 1;

/// At first the P has an owner, and each G that does anything has its ticket in the queue. `counts`: which of the Ms,
/// and of the threads outside, may do something.
fn scenario(counts: &[bool], worker: bool) -> Central {
    let mut truth = Truth::new(OUTSIDE + 1);
    let parties = (0..MS).chain([OUTSIDE]).zip(counts);
    parties.filter(|(_, counts)| !**counts).for_each(|(party, _)| truth.ends(party));
    if worker {
        truth.sleeps(WORKER);
    } else {
        truth.ends(WORKER.index());
    }
    Central {
        tickets: (0..MS).filter(|m| counts[*m]).map(|m| MId(m as u32)).collect(),
        alive: counts.iter().filter(|counts| **counts).count() + usize::from(worker),
        sleeping: worker.then_some(WORKER).into_iter().collect(),
        truth: Some(truth),
        ..Central::new(MS + 1)
    }
}

impl<H: ModelHost> LockedRun<H> {
    pub(super) fn play<R: Room<Op = Op, Setup = Setup>>(program: &Program<R>, knows_outside: bool) -> String {
        let acts: Vec<bool> = (0..=MS).map(|thread| !program.of(thread).is_empty()).collect();
        let left = acts.iter().filter(|acts| **acts).count();
        let worker = program.setup.worker && left > 0;
        let counts: Vec<bool> = (0..=MS).map(|thread| acts[thread] && (thread < MS || knows_outside)).collect();
        let tiny = Tiny::<H>::new("M0", MS + 1, scenario(&counts, worker));
        let run = Arc::new(LockedRun { tiny, left: AtomicUsize::new(left), knows_outside });
        run.tiny.release(OwnedP::forge(PId(0)));
        let sleeper = worker.then(|| {
            let run = Arc::clone(&run);
            H::fork("worker", move || run.works())
        });
        let others: Vec<_> = (1..=MS)
            .filter(|thread| acts[*thread])
            .map(|thread| {
                let (run, ops) = (Arc::clone(&run), program.of(thread));
                let name = ["M0", "M1", "M2", "outside"][thread];
                H::fork(name, move || if thread == MS { run.outside(ops) } else { run.m(MId(thread as u32), ops) })
            })
            .collect();
        if acts[0] {
            run.m(MId(0), program.of(0));
        }
        others.into_iter().chain(sleeper).for_each(|other| H::join(other));
        // Without an M for them, they stay.
        if !worker {
            run.tiny.with(|c| c.queued.clear());
        }
        format!("{:?}", run.tiny.check_at_rest())
    }

    fn m(&self, m: MId, ops: Vec<Op>) {
        let p = Some(self.tiny.wait_p(m));
        let mut actor = Actor { run: self, m, p, was_told: false };
        ops.into_iter().for_each(|op| actor.act(op));
        actor.exit();
        actor.p.take().map(OwnedP::discard);
        self.ends(m.index(), Central::releasep);
    }

    fn outside(&self, ops: Vec<Op>) {
        for op in ops {
            match op {
                Op::Ready(m) if self.knows_outside => self.ready(MId(m)),
                Op::Ready(m) | Op::Submit(m) => self.submit(MId(m)),
                Op::StopTheWorld => self.tiny.with(|c| {
                    c.stopping = true;
                    c.held |= std::mem::take(&mut c.idle);
                }),
                _ => self.start(),
            }
        }
        self.start();
        if self.knows_outside {
            return self.ends(OUTSIDE, Central::checkdead);
        }
        self.tiny.central(|c| ((), self.worker_ends(c)));
    }

    /// A party ends, of which the kernel knows.
    fn ends(&self, party: usize, act: fn(&mut Central) -> Option<MId>) {
        self.tiny.central(|c| {
            c.alive -= 1;
            c.truth.iter_mut().for_each(|truth| truth.ends(party));
            let next = act(c);
            ((), self.worker_ends(c).or(next))
        });
    }

    /// The last thread to end wakes the worker, which ends too.
    fn worker_ends(&self, c: &mut Central) -> Option<MId> {
        let is_last = self.left.fetch_sub(1, SeqCst) == 1;
        let worker = if is_last && c.idle { c.pop_sleeper() } else { None };
        c.idle &= worker.is_none();
        worker
    }

    /// The worker runs what is queued whenever it is woken, and ends when no other is left.
    fn works(&self) {
        let mut is_over = false;
        while !is_over {
            let p = self.tiny.wait_p(WORKER);
            while let Some(m) = self.tiny.with(|c| {
                let queue = if c.local.is_empty() { &mut c.queued } else { &mut c.local };
                (!queue.is_empty()).then(|| queue.remove(0))
            }) {
                self.tiny.run();
                self.ready(m);
            }
            p.discard();
            is_over = self.tiny.central(|c| {
                let is_over = self.left.load(SeqCst) == 0 && !c.has_work();
                match &mut c.truth {
                    Some(truth) if is_over => truth.ends(WORKER.index()),
                    Some(truth) => truth.sleeps(WORKER),
                    None => (),
                }
                if is_over {
                    c.alive -= 1;
                } else {
                    c.sleeping.push(WORKER);
                }
                (is_over, c.releasep())
            });
        }
    }

    fn ready(&self, m: MId) {
        let did = self.tiny.ready(m);
        reached_if(did == "waiting", "a wake came while its M gave up the P");
        reached_if(did == "resting", "a wake came to one that rested");
        reached_if(did != "early" && self.tiny.with(|c| c.tickets.contains(&m)), "a ticket was queued");
    }

    /// Into the global queue; and if the P is idle, an M is woken.
    fn submit(&self, m: MId) {
        self.tiny.with(|c| c.queued.push(m));
        self.tiny.central(|c| {
            let worker = if c.idle && c.has_work() { c.pop_sleeper() } else { None };
            c.idle &= worker.is_none();
            ((), worker)
        });
    }

    /// The world runs again, if it was stopped.
    fn start(&self) {
        self.tiny.central(|c| {
            c.stopping = false;
            ((), if std::mem::take(&mut c.held) { c.releasep() } else { None })
        });
    }
}

/// An M with its bound G. `p` is none while it is in a system call.
struct Actor<'a, H: ModelHost> {
    run: &'a LockedRun<H>,
    m: MId,
    p: Option<OwnedP>,
    was_told: bool,
}

impl<H: ModelHost> Actor<'_, H> {
    fn act(&mut self, op: Op) {
        let tiny = &self.run.tiny;
        self.exit();
        match op {
            Op::Wait => self.wait(),
            Op::Ready(m) => {
                reached_if(self.was_told && m != self.m.0, "one that was told readied another");
                reached_if(m == self.m.0, "a G readied itself");
                self.run.ready(MId(m));
            }
            Op::Go(m) | Op::Submit(m) => tiny.with(|c| c.local.push(MId(m))),
            Op::Entersyscallblock => {
                self.p.take().map(OwnedP::discard);
                tiny.central(|c| {
                    c.away += 1;
                    ((), c.releasep())
                });
            }
            Op::Exitsyscall => (),
            Op::Run | Op::StopTheWorld | Op::StartTheWorld => tiny.run(),
        }
    }

    /// Comes back from its system call, if it is in one: to the P, or to the queue with its ticket.
    fn exit(&mut self) {
        if self.p.is_none() {
            self.run.tiny.central(|c| {
                c.away -= 1;
                ((), c.send_for(self.m))
            });
            self.p = Some(self.run.tiny.wait_p(self.m));
            self.run.tiny.run();
        }
    }

    fn wait(&mut self) {
        let Some(p) = self.p.take() else { return };
        let tiny = &self.run.tiny;
        let (away, queued, held, readied) = tiny.with(|c| {
            let readied = c.truth.as_ref().is_some_and(|truth| truth.is_readied(self.m));
            (c.away > 0, !c.queued.is_empty(), c.stopping, readied)
        });
        reached_if(readied, "a wake came before its wait");
        reached_if(!readied && away, "one waited while another was in a system call");
        reached_if(!readied && queued, "one waited while a G was queued");
        reached_if(!readied && held, "one waited while the world was stopped");
        let (p, woken) = tiny.wait(self.m, p, Wake::Inside);
        match woken {
            Woken::Deadlock => reached("a deadlock was told"),
            Woken::NoThread => reached("one was told that there is no thread"),
            Woken::Ready | Woken::Closed => (),
        }
        self.was_told = woken != Woken::Ready;
        tiny.run();
        self.p = Some(p);
    }
}
