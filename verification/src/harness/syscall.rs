//! The smallest scheduler around `syscall`: the words of two Ps, and under a lock the idle Ps and the queued Gs.

use crate::harness::common::{each_once, g};
use crate::hosts::model_host::{Cell, ModelHost};
use crate::hosts::wrap::trace::main_plays;
use crate::mutation::mutant;
use crate::mutation::variants::syscall::Crossing;
use spinpark_kernel::host::{Lock, Parker};
use spinpark_kernel::protocol::stw::WorldState;
use spinpark_kernel::protocol::stw::wanted::{Want, Wanted};
use spinpark_kernel::protocol::syscall::{self, Away, Neighbours, SyscallStatus, SyscallWord, Way};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;

/// The first P.
pub const P0: PId = PId(0);
/// The second.
pub const P1: PId = PId(1);

/// The smallest scheduler around the room.
pub struct Tiny<H: ModelHost, C: Crossing> {
    words: [SyscallWord<H>; 2],
    /// What is done under each P; only its owner does anything.
    used: [H::Cell<u64>; 2],
    wanted: Wanted<H>,
    central: H::Lock<Central<H>>,
    crossing: PhantomData<fn() -> C>,
}

/// Under the lock.
pub struct Central<H: ModelHost> {
    world: WorldState<H>,
    idle: Vec<PId>,
    queued: VecDeque<G>,
    /// How each P that is held for a stop came there.
    held: Vec<(PId, How)>,
}

/// How a P came into the hands of a stopper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It was idle.
    Idle,
    /// Its M gave it up, just after it had put it into its word.
    GivenUp,
    /// The stopper took it out of its word.
    Taken,
    /// The monitor took it out of its word, and handed it on.
    Retaken,
}

impl<H: ModelHost> Central<H> {
    /// `p` is held for a stop, or idle. A stopper that stands in line has to be woken if it was the last.
    #[must_use = "the stopper has to be woken"]
    fn releasep(&mut self, p: OwnedP, how: How) -> Option<Arc<H::Parker>> {
        if self.world.is_stopping() {
            self.held.push((p.id(), how));
            self.world.hold(p)
        } else {
            self.idle.push(p.discard());
            None
        }
    }
    fn pidleget(&mut self) -> Option<OwnedP> {
        self.idle.pop().map(OwnedP::forge)
    }
}

impl<H: ModelHost, C: Crossing> Neighbours<H> for Tiny<H, C> {
    fn syscall_word(&self, p: PId) -> &SyscallWord<H> {
        &self.words[p.index()]
    }
    fn is_wanted(&self) -> bool {
        self.wanted.any()
    }
    fn handoffp(&self, p: OwnedP) {
        self.release(p, How::GivenUp);
    }
    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)> {
        let is_early = mutant::is_variant("queues-outside-the-lock");
        let early = is_early.then(|| self.central.with(Central::pidleget));
        self.central.with(|c| match early.unwrap_or_else(|| c.pidleget()) {
            Some(p) => Some((p, g)),
            None => {
                c.queued.push_back(g);
                None
            }
        })
    }
}

impl<H: ModelHost, C: Crossing> Tiny<H, C> {
    /// There are `procs` Ps, each owned by an M. The main thread plays `main`.
    pub fn new(main: &str, procs: usize) -> Arc<Self> {
        Self::starting_at(main, procs, 0)
    }

    /// The same, with Ps that were taken out of their words so often.
    pub fn starting_at(main: &str, procs: usize, takings: u32) -> Arc<Self> {
        main_plays(main);
        Arc::new(Tiny {
            words: [P0, P1].map(|p| SyscallWord::starting_at(p, takings)),
            used: [Cell::new(0), Cell::new(0)],
            wanted: Wanted::new(),
            central: H::Lock::new(Central {
                world: WorldState::new(procs),
                idle: Vec::new(),
                queued: VecDeque::new(),
                held: Vec::new(),
            }),
            crossing: PhantomData,
        })
    }

    /// The owner of `p` does something under it.
    pub fn work(&self, p: &OwnedP) {
        self.used[p.id().index()].set(1);
    }

    /// M `m` works under `p`, and enters a system call.
    pub fn enter(&self, m: MId, p: OwnedP) -> Away {
        self.work(&p);
        C::entersyscall(m, p, self)
    }

    /// M `m` works under `p`, and is interrupted.
    pub fn interrupt(&self, m: MId, p: OwnedP) -> Away {
        self.work(&p);
        syscall::interrupt(m, p, self)
    }

    /// The system call into which its M went with `old` is over. How it got a P for `g`, if it did; it works under it.
    pub fn exit(&self, away: Away, old: PId, g: G) -> Result<(OwnedP, G, Way), Way> {
        let back = C::exitsyscall(away, old, g, self).map_err(|_| Way::Queued)?;
        self.work(&back.0);
        Ok(back)
    }

    /// The same, for an M that keeps its P for good, whatever its G does.
    pub fn exit_for_good(&self, away: Away, old: PId) -> Way {
        self.exit(away, old, g(1)).map_or_else(
            |queued| queued,
            |(p, _, way)| {
                p.discard();
                way
            },
        )
    }

    /// Looks at the word of `p`, and takes the P if it was in a system call, and is still in the same.
    pub fn retake(&self, p: PId) -> Option<(OwnedP, SyscallStatus)> {
        let seen = self.syscall_word(p).peek();
        Some((self.retake_seen(p, seen)?, seen))
    }

    /// Takes `p`, if it is still in the system call in which it was `seen`.
    pub fn retake_seen(&self, p: PId, seen: SyscallStatus) -> Option<OwnedP> {
        let p = C::retake(self.syscall_word(p), p, seen)?;
        self.work(&p);
        Some(p)
    }

    /// The same, for a retaker that keeps the P for good. Which system call did it take it out of?
    pub fn retake_for_good(&self, p: PId) -> Option<u32> {
        self.retake(p).map(|(p, seen)| {
            p.discard();
            seen.tick
        })
    }

    /// An idle P, if there is one.
    pub fn acquire(&self) -> Option<OwnedP> {
        self.central.with(Central::pidleget)
    }

    /// Lets go of `p`.
    pub fn release(&self, p: OwnedP, how: How) {
        self.central.with(|c| c.releasep(p, how)).into_iter().for_each(|stopper| stopper.unpark());
    }

    /// Some M runs what is queued under `p`, then lets go of it. Returns what it ran.
    pub fn hand_on(&self, p: OwnedP, how: How) -> Vec<u64> {
        let (mut ran, mut p) = (Vec::new(), Some(p));
        loop {
            let (g, stopper) = self.central.with(|c| match c.queued.pop_front() {
                Some(g) => (Some(g), None),
                None => (None, p.take().and_then(|p| c.releasep(p, how))),
            });
            stopper.into_iter().for_each(|stopper| stopper.unpark());
            match g {
                Some(g) => ran.push(g.into_raw().get()),
                None => return ran,
            }
        }
    }

    /// An M that has a P and a G runs it, and what is queued; then it idles the P. Returns what it ran.
    pub fn run_dry(&self, p: OwnedP, g: G) -> Vec<u64> {
        let mut ran = vec![g.into_raw().get()];
        ran.extend(self.hand_on(p, How::Idle));
        ran
    }

    /// Back from a system call: runs `g` if there is a P for it, and then what is queued.
    pub fn exit_and_run_dry(&self, away: Away, old: PId, g: G) -> (Way, Vec<u64>) {
        match self.exit(away, old, g) {
            Ok((p, g, way)) => (way, self.run_dry(p, g)),
            Err(queued) => (queued, Vec::new()),
        }
    }

    /// From now on the world is to stop; idle Ps are held. `parker` is where the stopper sleeps, if it is to be woken.
    pub fn begin_stop(&self, parker: Option<&Arc<H::Parker>>) {
        self.central.with(|c| {
            parker.into_iter().for_each(|parker| assert!(c.world.queue_up(parker), "there is one stopper at a time"));
            c.world.begin_stop();
            self.wanted.ask(Want::Stop);
            while let Some(p) = c.pidleget() {
                // If that was the last one, the stopper will see it before it sleeps.
                let _stopper = c.releasep(p, How::Idle);
            }
        });
    }

    /// The stopper looks at the first `procs` words.
    pub fn take_from_syscalls(&self, procs: usize) {
        for p in self.words.iter().take(procs).filter_map(SyscallWord::take_any) {
            self.work(&p);
            self.release(p, How::Taken);
        }
    }

    /// Is every P held?
    pub fn is_stopped(&self) -> bool {
        self.central.with(|c| c.world.is_stopped())
    }

    /// Each P that is held, and how it came there.
    pub fn held(&self) -> Vec<(PId, How)> {
        self.central.with(|c| c.held.clone())
    }

    /// The world runs again. What was run by the Ms that got a P.
    pub fn start(&self) -> Vec<u64> {
        let ps = self.central.with(|c| {
            let ps = c.world.resume();
            self.wanted.done(Want::Stop);
            c.held.clear();
            let _nobody_else = c.world.leave_line();
            ps
        });
        ps.into_iter().flat_map(|p| self.hand_on(p, How::Idle)).collect()
    }

    /// If all parties rest, a stop that is asked for is over.
    pub fn no_stop_is_sat_out(&self, everybody_rests: impl FnOnce() -> bool) {
        self.central.with(|c| {
            if everybody_rests() && c.world.is_stopping() && !c.world.is_stopped() {
                let left = self.words.iter().find_map(|word| word.peek().in_syscall).map(|m| m.0);
                assert!(
                    left.is_none(),
                    "the stop waits until the system call of M{} is over",
                    left.unwrap_or_default()
                );
                panic!("every M has come to rest, but a P is not held");
            }
        });
    }

    /// Every M has come to rest, and `n` Gs were there to be run: by the Ms that ran `ran`, or later.
    pub fn check_at_rest(&self, n: u64, ran: &[&[u64]], ps: &[PId]) {
        let in_words = self.words.iter().zip([P0, P1]).filter(|(word, _)| word.peek().in_syscall.is_some());
        let mut found: Vec<PId> = in_words.map(|(_, p)| p).collect();
        self.central.with(|c| {
            found.extend(&c.idle);
            let queued: Vec<u64> = c.queued.drain(..).map(|g| g.into_raw().get()).collect();
            assert!(
                queued.is_empty() || c.idle.is_empty(),
                "G{} is queued and a P is idle, but every M rests",
                queued[0]
            );
            each_once(n, &[ran, &[&queued]].concat());
        });
        found.sort_unstable();
        assert!(found == ps, "of the Ps {ps:?} there are {found:?}");
    }
}
