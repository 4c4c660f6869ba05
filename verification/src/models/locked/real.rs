//! The real scheduler, whose Gs wait for each other.

use crate::harness::embedder::{Embedded, Extra, Note, Play, finish, open, rest, small, stops, submit};
use crate::hosts::model_host::{Cell, ModelHost};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::types::m::MId;
use std::sync::Arc;
use std::sync::atomic::Ordering::AcqRel;

/// What the Gs of a model know of each other.
struct Known<H: ModelHost> {
    /// The Ms of G1 and G2: each written before its G says that it begins to wait.
    ms: [H::Cell<Option<MId>>; 2],
    /// Why their waits ended.
    woken: [H::Cell<Option<Woken>>; 2],
    /// G1, or G2, is about to wait, or is in a system call.
    begins: [Note<H>; 2],
    /// Where a G blocks in its system call.
    io: Note<H>,
    /// The world is stopped.
    stopped: Note<H>,
    /// A thread beside the main one is done. It is not joined: loom cannot have it that the joiner is woken, late, for
    /// something else.
    done: Note<H>,
    /// Gs that have yet to run.
    left: Atomic<H, u64>,
}

impl<H: ModelHost> Extra for Known<H> {}

impl<H: ModelHost> Known<H> {
    fn new() -> Self {
        Known {
            ms: [Cell::new(None), Cell::new(None)],
            woken: [Cell::new(None), Cell::new(None)],
            begins: [Note::new(), Note::new()],
            io: Note::new(),
            stopped: Note::new(),
            done: Note::new(),
            left: Atomic::new(2),
        }
    }

    fn m(&self, n: u64) -> Option<MId> {
        self.ms[n as usize - 1].get()
    }

    /// Waits until G `n` is about to wait. Which M it has.
    fn waits(&self, n: u64) -> MId {
        self.begins[n as usize - 1].sleep();
        self.m(n).expect("G said which M it has")
    }

    fn woken(&self) -> [Option<Woken>; 2] {
        self.woken.each_ref().map(Cell::get)
    }
}

type Table<H> = Embedded<H, Known<H>>;

fn table<H: ModelHost>(procs: usize, max_ms: usize, n: u64, play: Play<H, Known<H>>) -> Table<H> {
    open(small(procs, max_ms), n, Known::new(), play)
}

/// G `n` waits, with a word to the main thread before.
fn waits<H: ModelHost>(sched: &Table<H>, worker: Worker, n: u64, wake: Wake) -> (Worker, Woken) {
    let known = &sched.observer().more;
    let m = worker.m();
    known.ms[n as usize - 1].set(Some(m));
    known.begins[n as usize - 1].wakeup();
    let (worker, woken) = sched.park_bound(worker, wake);
    assert!(worker.m() == m, "a bound G goes on on another M");
    sched.observer().uses(&worker);
    known.woken[n as usize - 1].set(Some(woken));
    (worker, woken)
}

pub(super) fn readied_from_outside<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            let woken;
            (worker, woken) = waits(sched, worker, n, Wake::Outside);
            assert!(woken == Woken::Ready, "{woken:?}");
        }
        Some(worker)
    }
    let sched = table::<H>(1, 2, 2, play);
    submit(&sched, 1, 2);
    let m = sched.observer().more.waits(1);
    sched.ready_bound(m);
    let snapshot = finish(&sched);
    let seen = sched.observer().reported();
    assert!(seen.deadlocks.is_empty(), "told {:?}, but a thread outside was to ready it", seen.deadlocks);
    format!("{} Ms, {} tickets", snapshot.alive, seen.tickets)
}

pub(super) fn two_wait_and_two_ready_them<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, worker: Worker, n: u64) -> Option<Worker> {
        let (worker, woken) = waits(sched, worker, n, Wake::Outside);
        assert!(woken == Woken::Ready, "{woken:?}");
        Some(worker)
    }
    let sched = table::<H>(1, 2, 2, play);
    rest(&sched, 2);
    submit(&sched, 1, 2);
    let other = H::fork("readier", {
        let sched = Arc::clone(&sched);
        move || sched.ready_bound(sched.observer().more.waits(2))
    });
    sched.ready_bound(sched.observer().more.waits(1));
    H::join(other);
    finish(&sched);
    format!("{} tickets", sched.observer().reported().tickets)
}

pub(super) fn its_ticket_is_found<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            let woken;
            (worker, woken) = waits(sched, worker, n, Wake::Outside);
            assert!(woken == Woken::Ready, "{woken:?}");
        } else {
            if n == 2 {
                let child = sched.observer().make(3);
                sched.ready(&mut worker, child);
            }
            // While this G has the only P, the ticket has to be queued.
            sched.ready_bound(sched.observer().more.m(1).expect("it was known before"));
            sched.observer().uses(&worker);
        }
        Some(worker)
    }
    let sched = table::<H>(1, 2, 3, play);
    submit(&sched, 1, 1);
    sched.observer().more.waits(1);
    submit(&sched, 2, 2);
    // One of them readies it a second time: that is for a wait that never comes.
    let snapshot = finish(&sched);
    format!("{} Ms, {} tickets", snapshot.alive, sched.observer().reported().tickets)
}

/// G1 ends while it is bound. Its thread ends, its P is handed on, the others are run.
pub(super) fn ends<H: ModelHost>(max_ms: usize) -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n > 1 {
            let known = &sched.observer().more;
            if known.left.fetch_sub(1, AcqRel) == 1 {
                known.done.wakeup();
            }
            return Some(worker);
        }
        let child = sched.observer().make(3);
        sched.ready(&mut worker, child);
        sched.observer().events.leaves(worker.m().0);
        sched.end(worker);
        None
    }
    let sched = table::<H>(1, max_ms, 3, play);
    submit(&sched, 1, 2);
    // The thread that ends may be the last, and may have yet to see to it that there is another.
    sched.observer().more.done.sleep();
    let snapshot = finish(&sched);
    format!("{} Ms left", snapshot.alive)
}

pub(super) fn with_its_g<H: ModelHost>() -> String {
    ends::<H>(2)
}

pub(super) fn with_its_g_and_there_was_no_other<H: ModelHost>() -> String {
    ends::<H>(1)
}

pub(super) fn while_it_is_readied<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            let child = sched.observer().make(2);
            sched.ready(&mut worker, child);
            (worker, _) = waits(sched, worker, n, Wake::Outside);
        }
        Some(worker)
    }
    let sched = table::<H>(1, 2, 2, play);
    submit(&sched, 1, 1);
    let m = sched.observer().more.waits(1);
    H::fork("readier", {
        let sched = Arc::clone(&sched);
        move || {
            sched.ready_bound(m);
            sched.observer().more.done.wakeup();
        }
    });
    sched.observer().events.closes();
    let left: Vec<u64> = sched.close().into_iter().map(|g| sched.observer().runs(g)).collect();
    sched.observer().more.done.sleep();
    sched.observer().each_ran_once();
    let [Some(woken), None] = sched.observer().more.woken() else { panic!("its wait has not ended") };
    let snapshot = sched.snapshot();
    assert!(snapshot.alive == 0 && snapshot.global == 0 && snapshot.idle_ps == 1, "closed, but {snapshot:?}");
    format!("woken {woken:?}, gave back {}", left.len())
}

/// The only M is back from its system call while the world is stopped.
pub(super) fn the_only_m_comes_back_while_stopped<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, worker: Worker, _: u64) -> Option<Worker> {
        let away = sched.entersyscall(worker);
        sched.observer().more.begins[0].wakeup();
        let (worker, way) = sched.exitsyscall_bound(away);
        assert!(way != Way::Idle || sched.observer().reported().stops == 1, "its P was taken, but not for the stop");
        sched.observer().uses(&worker);
        Some(worker)
    }
    let sched = table::<H>(1, 1, 1, play);
    submit(&sched, 1, 1);
    sched.observer().more.begins[0].sleep();
    stops(&sched, |_| ());
    finish(&sched);
    let refused = sched.observer().reported().refused;
    if refused > 0 { "no M was available for its ticket" } else { "it needed none" }.to_owned()
}

pub(super) fn the_only_m_yields<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, worker: Worker, n: u64) -> Option<Worker> {
        if n > 1 {
            return Some(worker);
        }
        let worker = sched.yield_bound(worker);
        sched.observer().uses(&worker);
        Some(worker)
    }
    let sched = table::<H>(1, 1, 2, play);
    submit(&sched, 1, 2);
    finish(&sched);
    let refused = sched.observer().reported().refused;
    if refused > 0 { "others waited" } else { "nobody waited" }.to_owned()
}

/// G1 is in a system call when the world is stopped, and comes back meanwhile: its ticket is queued. Then the world is
/// started and the scheduler is closed.
pub(super) fn its_ticket_waits_when_the_world_starts<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, worker: Worker, _: u64) -> Option<Worker> {
        let known = &sched.observer().more;
        let away = sched.entersyscall(worker);
        known.begins[0].wakeup();
        known.io.sleep();
        let (worker, _) = sched.exitsyscall_bound(away);
        Some(worker)
    }
    let sched = table::<H>(1, 3, 1, play);
    submit(&sched, 1, 1);
    sched.observer().more.begins[0].sleep();
    H::fork("stopper", {
        let sched = Arc::clone(&sched);
        move || {
            let known = &sched.observer().more;
            stops(&sched, |_| {
                known.io.wakeup();
                known.stopped.wakeup();
            });
            known.done.wakeup();
        }
    });
    sched.observer().more.stopped.sleep();
    sched.observer().events.closes();
    let left = sched.close();
    assert!(left.is_empty(), "{} Gs were given back that were not submitted", left.len());
    sched.observer().more.done.sleep();
    sched.observer().each_ran_once();
    format!("{} tickets", sched.observer().reported().tickets)
}

pub(super) fn two_wait_in_the_scheduler<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            let child = sched.observer().make(2);
            sched.ready(&mut worker, child);
        }
        let (worker, woken) = waits(sched, worker, n, Wake::Inside);
        if woken != Woken::Ready {
            let other = sched.observer().more.m(3 - n).expect("it waits, or none would have been told");
            sched.ready_bound(other);
        }
        Some(worker)
    }
    let sched = table::<H>(2, 2, 2, play);
    submit(&sched, 1, 1);
    finish(&sched);
    let told = match sched.observer().more.woken() {
        [Some(Woken::Deadlock), Some(Woken::Ready)] => 1,
        [Some(Woken::Ready), Some(Woken::Deadlock)] => 2,
        woken => panic!("woken: {woken:?}"),
    };
    assert!(
        sched.observer().reported().deadlocks == [Woken::Deadlock],
        "told: {:?}",
        sched.observer().reported().deadlocks
    );
    format!("G{told} is told")
}

/// G2 spawns G1, which waits for it; does something meanwhile, and readies G1.
fn another<H: ModelHost>(procs: usize, play: Play<H, Known<H>>) -> String {
    let sched = table::<H>(procs, 3, 2, play);
    submit(&sched, 2, 2);
    finish(&sched);
    let seen = sched.observer().reported();
    assert!(seen.deadlocks.is_empty(), "told: {:?}", seen.deadlocks);
    format!("{} tickets", seen.tickets)
}

/// G2, or what it does first.
fn spawns<H: ModelHost>(sched: &Table<H>, worker: &mut Worker) {
    let child = sched.observer().make(1);
    sched.ready(worker, child);
}

/// G1: waits, and no deadlock is reported to it.
fn is_readied<H: ModelHost>(sched: &Table<H>, worker: Worker) -> Worker {
    let (worker, woken) = waits(sched, worker, 1, Wake::Inside);
    assert!(woken == Woken::Ready, "told {woken:?}, but a G was about to ready it");
    worker
}

/// G2, when it has done what it did meanwhile.
fn readies<H: ModelHost>(sched: &Table<H>, worker: &Worker) {
    sched.observer().uses(worker);
    // Not before it has said which M it has: that M's next wait would be none.
    sched.ready_bound(sched.observer().more.waits(1));
}

pub(super) fn another_is_in_a_system_call<H: ModelHost>() -> String {
    another::<H>(1, |sched, mut worker, n| {
        if n == 1 {
            return Some(is_readied(sched, worker));
        }
        spawns(sched, &mut worker);
        // Its P, with G1, is handed on: when it gets one again G1 waits, or is about to.
        let away = sched.entersyscallblock(worker);
        (worker, _) = sched.exitsyscall_bound(away);
        readies(sched, &worker);
        Some(worker)
    })
}

pub(super) fn another_runs<H: ModelHost>() -> String {
    another::<H>(2, |sched, mut worker, n| {
        if n == 1 {
            return Some(is_readied(sched, worker));
        }
        spawns(sched, &mut worker);
        // It keeps its P meanwhile: G1 runs under the other.
        readies(sched, &worker);
        Some(worker)
    })
}

/// G2 spawns G1, which waits, and G3 and G4, of which the last readies it: they wait in a ring.
fn others_wait_in_a_ring<H: ModelHost>(max_ms: usize, is_stopped: bool) -> Woken {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        match n {
            1 => (worker, _) = waits(sched, worker, 1, Wake::Inside),
            2 => {
                for child in [3, 4, 1] {
                    let child = sched.observer().make(child);
                    sched.ready(&mut worker, child);
                }
            }
            3 => (),
            _ => sched.ready_bound(sched.observer().more.m(1).expect("G1 ran before")),
        }
        Some(worker)
    }
    let sched = table::<H>(1, max_ms, 4, play);
    submit(&sched, 2, 2);
    if is_stopped {
        sched.observer().more.waits(1);
        stops(&sched, |_| ());
    }
    finish(&sched);
    let [Some(woken), None] = sched.observer().more.woken() else { panic!("its wait has not ended") };
    woken
}

pub(super) fn others_are_stopped<H: ModelHost>() -> String {
    let woken = others_wait_in_a_ring::<H>(2, true);
    assert!(woken == Woken::Ready, "told {woken:?}, but a G waited in the ring of a P that was stopped");
    "woken".to_owned()
}

pub(super) fn others_get_no_thread<H: ModelHost>() -> String {
    let woken = others_wait_in_a_ring::<H>(1, false);
    assert!(woken == Woken::NoThread, "woken {woken:?}, but there is no other M to run the rest");
    "told".to_owned()
}

pub(super) fn others_get_a_thread<H: ModelHost>() -> String {
    let woken = others_wait_in_a_ring::<H>(2, false);
    assert!(woken == Woken::Ready, "told {woken:?}, but there is another M to run the rest");
    "woken".to_owned()
}

/// G1 waits for one inside, and there is none: a thread outside finds all at rest only when G1 was told.
pub(super) fn one_asks_whether_all_rest<H: ModelHost>() -> String {
    let sched = table::<H>(1, 1, 1, |sched, worker, n| {
        let (worker, woken) = waits(sched, worker, n, Wake::Inside);
        assert!(woken == Woken::Deadlock, "woken {woken:?}, but no G could ready it");
        Some(worker)
    });
    submit(&sched, 1, 1);
    sched.observer().more.waits(1);
    let mut told = 0;
    let rest = sched.is_at_rest(
        || 0,
        || {
            told = sched.observer().reported().deadlocks.len();
            true
        },
    );
    assert!(!rest || told == 1, "all are said to be at rest, and G1 has yet to be told");
    finish(&sched);
    if rest { "at rest" } else { "not yet" }.to_owned()
}
