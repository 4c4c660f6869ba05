//! The source of a stopped world, and the rest of the scheduler as it sees it.

use super::{Op, Role, SPARE, StoppedWorlds, WANTS, Was, p_of, procs};
use crate::host::RoomHost;
use crate::others::Others;
use crate::plain::Plain;
use crate::room::{Begun, Real};
use crate::rooms::runq::{g, number};
use crate::values::Maker;
use kernel::host::{Lock as _, Parker as _};
use kernel::protocol::stw::resize::procresize;
use kernel::protocol::stw::safepoint::{self, Safepoint, SafepointFn};
use kernel::protocol::stw::wanted::{Want, Wanted};
use kernel::protocol::stw::{self, WorldState};
use kernel::protocol::syscall::{self, Away, SyscallWord};
use kernel::types::g::G;
use kernel::types::m::MId;
use kernel::types::p::{OwnedP, PId};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// What is under the lock.
pub(super) struct Central<H: RoomHost> {
    world: WorldState<H>,
    safepoint: Option<Safepoint<H>>,
    procs: usize,
    idle: Vec<u32>,
    spare: Vec<u32>,
}

/// The world, and the rest of the scheduler.
pub struct OnHost<H: RoomHost> {
    roles: Vec<Role>,
    words: Vec<SyscallWord<H>>,
    wanted: Wanted<H>,
    central: H::Lock<Central<H>>,
    /// Where each thread sleeps.
    parkers: Vec<Arc<H::Parker>>,
    /// Of each P, what only its owner uses; and how often a function has run under it.
    ps: Arc<[Plain<H, ()>]>,
    ran: Arc<[Plain<H, ()>]>,
}

/// A thread.
pub struct Hand<H: RoomHost> {
    me: usize,
    p: Option<u32>,
    away: Option<ManuallyDrop<Away>>,
    bits: Option<Wanted<H>>,
    counts: Option<(Safepoint<H>, Vec<Arc<SafepointFn>>)>,
}

/// Ps in their order, as numbers.
fn ids(ps: impl IntoIterator<Item = OwnedP>) -> Vec<u32> {
    ps.into_iter().map(|p| p.discard().0).collect()
}

fn forged(ps: Vec<u32>) -> Vec<OwnedP> {
    ps.into_iter().map(|p| OwnedP::forge(PId(p))).collect()
}

/// A call of a thread, and what it has seen of the rest.
struct Call<'a, H: RoomHost> {
    others: Others<'a, OnHost<H>, Was>,
    me: usize,
    run: Option<Arc<SafepointFn>>,
}

/// What becomes of a P that is released.
enum Released {
    Over,
    Runs(OwnedP, Arc<SafepointFn>),
}

impl<H: RoomHost> Call<'_, H> {
    fn says(&self, was: Was) {
        self.others.says(was);
    }

    fn on(&self) -> &OnHost<H> {
        self.others.on
    }

    /// The owner of `p` does something under it.
    fn uses(&self, p: &OwnedP) {
        self.on().ps[p.id().index()].write(|()| ());
    }

    /// The thread that sleeps there.
    fn sleeper(&self, parker: &Arc<H::Parker>) -> usize {
        let thread = self.on().parkers.iter().position(|other| Arc::ptr_eq(other, parker));
        thread.expect("it is one of them")
    }

    fn wakes(&self, parker: Option<Arc<H::Parker>>) {
        if let Some(parker) = parker {
            self.says(Was::Wakes(self.sleeper(&parker)));
            parker.unpark();
        }
    }

    /// Under the lock, while the world is to stop.
    fn holds(&self, c: &mut Central<H>, p: OwnedP) -> Option<Arc<H::Parker>> {
        self.says(Was::Held(p.id().0));
        c.world.hold(p)
    }

    /// As `Sched::releasep`: `p` is held, or a function runs under it before it is idle.
    fn releases(&self, mut p: OwnedP) {
        loop {
            let (released, stopper) = self.on().central.with(|c| {
                if c.world.is_stopping() {
                    return (Released::Over, self.holds(c, p));
                }
                let wants = c.safepoint.as_mut().filter(|safepoint| safepoint.wants(&p));
                if let Some(run) = wants.and_then(|safepoint| safepoint.begin(&p)) {
                    return (Released::Runs(p, run), None);
                }
                let p = p.discard().0;
                self.says(Was::Idled(p));
                c.idle.push(p);
                (Released::Over, None)
            });
            self.wakes(stopper);
            match released {
                Released::Over => return,
                Released::Runs(of, run) => p = self.runs(of, run),
            }
        }
    }

    fn runs(&self, p: OwnedP, run: Arc<SafepointFn>) -> OwnedP {
        self.says(Was::Begins(p.id().0));
        run(p.id());
        let caller = self.on().central.with(|c| c.safepoint.as_mut().and_then(|safepoint| safepoint.ran(run)));
        self.wakes(caller);
        p
    }

    /// As `Sched::queue_up`: what it still has of its own P when it is the first.
    fn queues_up(&self, own: Option<OwnedP>) -> Option<OwnedP> {
        let parker = &self.on().parkers[self.me];
        let is_first = self.on().central.with(|c| c.world.queue_up(parker));
        self.says(Was::First(is_first));
        if is_first {
            return own;
        }
        own.into_iter().for_each(|p| self.releases(p));
        while !self.on().central.with(|c| c.world.is_first(parker)) {
            parker.park();
        }
        None
    }

    /// Under the lock.
    fn leaves_line(&self, c: &mut Central<H>) {
        let next = c.world.leave_line();
        self.says(Was::Next(next.as_ref().map(|next| self.sleeper(next))));
        next.into_iter().for_each(|next| next.unpark());
    }

    fn stops(&self, own: Option<OwnedP>) {
        let own = self.queues_up(own);
        stw::stop::<H>(own, self);
        self.on().ps.iter().for_each(|p| p.write(|()| ()));
    }

    fn starts(&self) {
        self.on().ps.iter().for_each(|p| p.write(|()| ()));
        self.on().central.with(|c| {
            let ps = ids(c.world.resume());
            self.on().wanted.done(Want::Stop);
            c.idle.extend(&ps);
            ps.into_iter().for_each(|p| self.says(Was::Idled(p)));
            self.leaves_line(c);
        });
    }

    fn resizes(&self, procs: usize) {
        self.on().central.with(|c| {
            let (mut spare, mut emptied) = (forged(std::mem::take(&mut c.spare)), Vec::new());
            let held = c.world.resize(procs);
            procresize(held, &mut spare, procs, |p| emptied.push(p.id().0));
            let held = held.iter().map(|p| p.id().0).collect();
            (c.procs, c.spare) = (procs, ids(spare));
            let mut spare = c.spare.clone();
            spare.sort_unstable();
            self.says(Was::Resized([held, spare, emptied]));
        });
    }

    fn runs_under_each(&self, own: Option<OwnedP>) {
        let own = self.queues_up(own);
        safepoint::for_each_p::<H>(own, self);
        let is_last = self.run.as_ref().is_some_and(|run| Arc::strong_count(run) == 1);
        assert!(is_last, "the caller has come back, and an M still refers to the function");
    }

    fn runs_a_g(&self, hand: &mut Hand<H>) {
        if hand.p.is_none() {
            hand.p = self.on().central.with(|c| c.idle.pop());
            hand.p.into_iter().for_each(|p| self.says(Was::Got(p)));
        }
        let Some(mut p) = hand.p.take().map(|p| OwnedP::forge(PId(p))) else { return };
        if self.on().wanted.is(Want::Safepoint) {
            let run = self.on().central.with(|c| c.safepoint.as_mut()?.begin(&p));
            p = if let Some(run) = run { self.runs(p, run) } else { p };
        }
        self.uses(&p);
        self.says(Was::Used(p.id().0));
        hand.p = Some(p.discard().0);
    }

    fn comes_back(&self, hand: &mut Hand<H>) {
        let Some(away) = hand.away.take().map(ManuallyDrop::into_inner) else { return };
        if let Ok((p, g, way)) = syscall::exitsyscall(away, g(1), self) {
            let _ = number(g);
            self.uses(&p);
            let p = p.discard().0;
            self.says(Was::Back(p, way));
            hand.p = Some(p);
        }
    }
}

impl<H: RoomHost> syscall::Neighbours<H> for Call<'_, H> {
    fn syscall_word(&self, p: PId) -> &SyscallWord<H> {
        &self.on().words[p.index()]
    }
    fn is_wanted(&self) -> bool {
        let is_wanted = self.on().wanted.any();
        self.says(Was::Wanted(is_wanted));
        is_wanted
    }
    fn handoffp(&self, p: OwnedP) {
        self.releases(p);
    }
    fn pidleget_or_queue(&self, waits: G) -> Option<(OwnedP, G)> {
        let n = number(waits);
        self.on().central.with(|c| c.idle.pop()).map(|p| (OwnedP::forge(PId(p)), g(n)))
    }
}

impl<H: RoomHost> stw::Neighbours for Call<'_, H> {
    fn begin(&self, own: Option<OwnedP>) {
        let stopper = self.on().central.with(|c| {
            c.world.begin_stop();
            self.on().wanted.ask(Want::Stop);
            let idle = forged(std::mem::take(&mut c.idle));
            own.into_iter().chain(idle.into_iter().rev()).filter_map(|p| self.holds(c, p)).last()
        });
        self.wakes(stopper);
    }
    fn take_from_syscalls(&self) {
        for p in self.on().words.iter().filter_map(SyscallWord::take_any) {
            self.says(Was::Took(p.id().0));
            self.releases(p);
        }
    }
    fn is_stopped(&self) -> bool {
        self.on().central.with(|c| c.world.is_stopped())
    }
    fn sleep(&self) {
        self.on().parkers[self.me].park();
    }
}

impl<H: RoomHost> safepoint::Neighbours for Call<'_, H> {
    fn begin(&self) -> Vec<OwnedP> {
        let Some(run) = self.run.clone() else { return Vec::new() };
        self.on().central.with(|c| {
            c.safepoint = Some(Safepoint::new(c.procs, run, Arc::clone(&self.on().parkers[self.me])));
            self.on().wanted.ask(Want::Safepoint);
            forged(std::mem::take(&mut c.idle))
        })
    }
    fn take_from_syscalls(&self) -> Vec<OwnedP> {
        let says = |p: &OwnedP| self.says(Was::Took(p.id().0));
        self.on().words.iter().filter_map(SyscallWord::take_any).inspect(says).collect()
    }
    fn pass(&self, p: OwnedP) {
        self.releases(p);
    }
    fn finish(&self) {
        while !self.on().central.with(|c| c.safepoint.as_ref().is_none_or(Safepoint::is_passed)) {
            self.on().parkers[self.me].park();
        }
        self.on().ran.iter().for_each(|ran| ran.read(|()| ()));
        self.on().central.with(|c| {
            c.safepoint = None;
            self.on().wanted.done(Want::Safepoint);
            self.leaves_line(c);
        });
    }
}

impl<H: RoomHost> Hand<H> {
    /// What is beside the world, and is told at once.
    fn tells(&mut self, op: Op) -> Option<Was> {
        if let Some(bits) = &self.bits {
            match op {
                Op::Ask(want) => bits.ask(WANTS[want]),
                Op::Done(want) => bits.done(WANTS[want]),
                _ => return None,
            }
            return Some(Was::Is(bits.any(), bits.is_end(), WANTS.map(|want| bits.is(want))));
        }
        let (safepoint, runs) = self.counts.as_mut()?;
        if let Op::Comes(p) = op {
            let p = OwnedP::forge(PId(p));
            let (is_wanted, run) = (safepoint.wants(&p), safepoint.begin(&p));
            p.discard();
            let came = Was::Came(is_wanted, run.is_some());
            runs.extend(run);
            return Some(came);
        }
        let is_woken = runs.pop().is_some_and(|run| safepoint.ran(run).is_some());
        Some(Was::Ended(is_woken, safepoint.is_passed()))
    }
}

impl<H: RoomHost> Real<StoppedWorlds, H> for OnHost<H> {
    type Hand = Hand<H>;
    fn new((): (), roles: &[Role]) -> Self {
        let (procs, idle) = procs(roles);
        let procs = procs as usize;
        let all = procs..procs + SPARE;
        let central = Central {
            world: WorldState::new(procs),
            safepoint: None,
            procs,
            idle,
            spare: all.clone().map(|p| p as u32).collect(),
        };
        OnHost {
            roles: roles.to_vec(),
            words: (0..procs).map(|p| SyscallWord::new(PId(p as u32))).collect(),
            wanted: Wanted::new(),
            central: H::Lock::new(central),
            parkers: roles.iter().map(|_| Arc::new(H::Parker::new())).collect(),
            ps: (0..all.end).map(|_| Plain::new(())).collect(),
            ran: (0..all.end).map(|_| Plain::new(())).collect(),
        }
    }
    fn hand(&self, role: Role) -> Hand<H> {
        let me = self.roles.iter().position(|other| *other == role).expect("it is one of them");
        let bits = (role == Role::Bits).then(Wanted::new);
        let counts = || (Safepoint::new(3, Arc::new(|_| ()), Arc::new(H::Parker::new())), Vec::new());
        Hand { me, p: p_of(&self.roles, me), away: None, bits, counts: (role == Role::Counts).then(counts) }
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand<H>, op: Op, _: &Maker<H>) -> Begun<'a, H, Vec<Was>> {
        let (ps, ran) = (Arc::clone(&self.ps), Arc::clone(&self.ran));
        let run = (op == Op::ForEachP).then(|| -> Arc<SafepointFn> {
            Arc::new(move |p: PId| {
                ps[p.index()].write(|()| ());
                ran[p.index()].write(|()| ());
            })
        });
        let call = Call { others: Others::new(self), me: hand.me, run };
        let mut own = || hand.p.take().map(|p| OwnedP::forge(PId(p)));
        match op {
            Op::Run => call.runs_a_g(hand),
            Op::Idle => own().into_iter().for_each(|p| call.releases(p)),
            Op::Entersyscall => {
                if let Some(p) = own() {
                    call.uses(&p);
                    let away = syscall::entersyscall(MId(hand.me as u32), p, &call);
                    hand.away = Some(ManuallyDrop::new(away));
                }
            }
            Op::Exitsyscall => call.comes_back(hand),
            Op::Stop => call.stops(own()),
            Op::Resize(procs) => call.resizes(procs as usize),
            Op::Start => call.starts(),
            Op::ForEachP => call.runs_under_each(own()),
            Op::Ask(_) | Op::Done(_) | Op::Comes(_) | Op::Ran => {
                hand.tells(op).into_iter().for_each(|was| call.says(was))
            }
        }
        Begun::Over(call.others.into_was())
    }
}
