//! What all pairs share: the embedder of the whole scheduler, which remembers what was reported.

use crate::harness::embedder::{Embedded, Extra, Note, Play, finish, first_runs, open, small, submit};
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::sched::observer::Event;
use spinpark_kernel::types::m::MId;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// What was reported, by name; in the order of the bits.
const REPORTED: [&str; 8] = ["kept", "took back", "idle", "queued", "retaken", "stole", "ticket", "refused"];

/// What a pair knows beside its Gs. No part of what is checked, but for the notes.
pub(super) struct Pair<H: ModelHost> {
    /// One bit for each of [`REPORTED`].
    reported: AtomicU32,
    /// The M of the G that waits, and its number is known.
    m: AtomicU32,
    waits: Note<H>,
    /// Something else has happened, for one thread that waits for it.
    pub(super) happened: Note<H>,
}

impl<H: ModelHost> Extra for Pair<H> {
    fn event(&self, event: &Event<'_>) {
        let bit = match event {
            Event::Returned { way: Way::Kept, .. } => 0,
            Event::Returned { way: Way::TookBack, .. } => 1,
            Event::Returned { way: Way::Idle, .. } => 2,
            Event::Returned { way: Way::Queued, .. } => 3,
            Event::Retaken { .. } => 4,
            Event::Stole { .. } => 5,
            Event::Found { g, .. } if g.bound().is_some() => 6,
            Event::Refused => 7,
            _ => return,
        };
        self.reported.fetch_or(1 << bit, Relaxed);
    }
}

/// A scheduler of a pair.
pub(super) type S<H> = Embedded<H, Pair<H>>;

/// A scheduler for `n` Gs, with no M yet.
pub(super) fn set<H: ModelHost>(procs: usize, max_ms: usize, n: u64, play: Play<H, Pair<H>>) -> S<H> {
    let (reported, m) = (AtomicU32::new(0), AtomicU32::new(0));
    open(small(procs, max_ms), n, Pair { reported, m, waits: Note::new(), happened: Note::new() }, play)
}

/// The same, and G1 runs, or has run.
pub(super) fn begun<H: ModelHost>(procs: usize, max_ms: usize, n: u64, play: Play<H, Pair<H>>) -> S<H> {
    let sched = set(procs, max_ms, n, play);
    submit(&sched, 1, 1);
    first_runs(&sched);
    sched
}

/// All is quiet and each G has run: how many Ms there are, and what was reported.
pub(super) fn ends<H: ModelHost>(sched: &S<H>) -> String {
    let snapshot = finish(sched);
    format!("{} Ms{}", snapshot.alive, reported(sched))
}

/// What was reported.
pub(super) fn reported<H: ModelHost>(sched: &S<H>) -> String {
    let bits = sched.observer().more.reported.load(Relaxed);
    let names = REPORTED.iter().enumerate().filter(|(bit, _)| bits & 1 << bit != 0);
    names.map(|(_, name)| format!(", {name}")).collect()
}

/// The monitor looks twice, so long after each other that what it sees again is retaken.
pub(super) fn ticks<H: ModelHost>(sched: &S<H>) {
    let mut watch = sched.watch();
    sched.tick(&mut watch, 0);
    sched.tick(&mut watch, u64::from(u32::MAX));
}

/// A G makes a system call, which may be short.
pub(super) fn calls<H: ModelHost>(sched: &S<H>, worker: Worker) -> Worker {
    let away = sched.entersyscall(worker);
    let (worker, _) = sched.exitsyscall_bound(away);
    sched.observer().uses(&worker);
    worker
}

/// A G makes one that is known to block.
pub(super) fn blocks<H: ModelHost>(sched: &S<H>, worker: Worker) -> Worker {
    let away = sched.entersyscallblock(worker);
    let (worker, _) = sched.exitsyscall_bound(away);
    sched.observer().uses(&worker);
    worker
}

/// G1 spawns G2, which is to run next.
pub(super) fn spawns<H: ModelHost>(sched: &S<H>, mut worker: Worker, n: u64) -> Option<Worker> {
    if n == 1 {
        let child = sched.observer().make(2);
        sched.ready(&mut worker, child);
        sched.observer().uses(&worker);
    }
    Some(worker)
}

/// A G that cannot leave its M waits until another thread readies it.
pub(super) fn parks<H: ModelHost>(sched: &S<H>, worker: Worker) -> Worker {
    let pair = &sched.observer().more;
    let m = worker.m();
    pair.m.store(m.0, Relaxed);
    pair.waits.wakeup();
    let (worker, woken) = sched.park_bound(worker, Wake::Outside);
    assert!(
        woken == Woken::Ready && worker.m() == m,
        "the wait of M{}'s G ended: {woken:?}, on M{}",
        m.0,
        worker.m().0
    );
    sched.observer().uses(&worker);
    worker
}

/// Which M's G is about to wait, as soon as that is known. For one thread.
pub(super) fn who_parks<H: ModelHost>(sched: &S<H>) -> MId {
    let pair = &sched.observer().more;
    pair.waits.sleep();
    MId(pair.m.load(Relaxed))
}

/// Readies that G.
pub(super) fn readies<H: ModelHost>(sched: &S<H>) {
    sched.ready_bound(who_parks(sched));
}
