//! Models of `locked` and `deadlock`: first one P, two Ms and a lock, then the real scheduler.
//!
//! The P is a cell that only its owner may touch: a G that goes on although it was never given a P, or twice for one
//! wait, is seen.

use crate::engines::Engine;
use crate::harness::common::{any_of, party};
use crate::harness::locked::{Central, Tiny};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, rc11_cut, sampled, sc, tso};
use crate::models::stw::real::{More, On, Play, Sign, finish, open, small, submit};
use crate::mutation::mutant::{Mutant, Mutation};
use spinpark::atomic::Atomic;
use spinpark::host::Lock;
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::locked::{Bindings, Wake, Woken};
use spinpark::kernel::protocol::syscall::Way;
use spinpark::kernel::types::m::MId;
use spinpark::kernel::types::p::{OwnedP, PId};
use std::sync::Arc;
use std::sync::atomic::Ordering::AcqRel;

const M0: MId = MId(0);
const M1: MId = MId(1);

/// Two Ms, the first of which the main thread plays.
fn tiny<H: ModelHost>(central: Central) -> Arc<Tiny<H>> {
    Tiny::new("m0", 2, central)
}

fn one_waits_and_two_ready_it<H: ModelHost>() -> String {
    let tiny = tiny::<H>(Central { alive: 3, ..Central::new(2) });
    let one = party::<H, _, _>("readier 1", &tiny, |tiny| tiny.ready(M0));
    let two = party::<H, _, _>("readier 2", &tiny, |tiny| tiny.ready(M0));
    let (p, woken) = tiny.wait(M0, OwnedP::forge(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "{woken:?}");
    tiny.run();
    tiny.release(p);
    let mut did = [H::join(one), H::join(two)];
    did.sort_unstable();
    tiny.judge();
    // The second wake is left over for the next wait, unless both came before this one.
    let left = tiny.is_readied(M0);
    assert!(left || did == ["early", "early"], "the second wake is lost: {did:?}");
    format!("{}, {}, left over: {left}", did[0], did[1])
}

fn two_ready_each_other<H: ModelHost>() -> String {
    // M1's G has its ticket in the queue.
    let tiny = tiny::<H>(Central { tickets: vec![M1], alive: 3, ..Central::new(2) });
    let other = party::<H, _, _>("m1", &tiny, |tiny| {
        let p = tiny.wait_p(M1);
        tiny.run();
        let did = tiny.ready(M0);
        let (p, _) = tiny.wait(M1, p, Wake::Inside);
        tiny.run();
        tiny.release(p);
        did
    });
    let p = OwnedP::forge(PId(0));
    tiny.run();
    let (p, _) = tiny.wait(M0, p, Wake::Inside);
    tiny.run();
    tiny.ready(M1);
    tiny.release(p);
    let did = H::join(other);
    tiny.judge();
    format!("m0 was {did}")
}

/// Two Gs that wait for each other; `queued` Gs wait for an M that there cannot be.
fn two_wait<H: ModelHost>(queued: usize) -> String {
    let tiny = tiny::<H>(Central { tickets: vec![M1], queued: vec![M0; queued], ..Central::new(2) });
    fn waits<H: ModelHost>(tiny: &Tiny<H>, m: MId, other: MId, p: OwnedP) -> Woken {
        tiny.run();
        let (p, woken) = tiny.wait(m, p, Wake::Inside);
        tiny.run();
        if woken != Woken::Ready {
            tiny.ready(other);
        }
        tiny.release(p);
        woken
    }
    let other = party::<H, _, _>("m1", &tiny, |tiny| waits(tiny, M1, M0, tiny.wait_p(M1)));
    let first = waits(&tiny, M0, M1, OwnedP::forge(PId(0)));
    let second = H::join(other);
    tiny.with(|c| c.queued.clear());
    let told = tiny.judge();
    assert!(told.len() == 1, "told: {told:?}");
    assert!((first == Woken::Ready) != (second == Woken::Ready), "woken: {first:?} and {second:?}");
    format!("m0 {first:?}, m1 {second:?}")
}

fn two_wait_for_each_other<H: ModelHost>() -> String {
    two_wait::<H>(0)
}

fn two_wait_and_no_third_can_be_had<H: ModelHost>() -> String {
    two_wait::<H>(1)
}

fn the_readier_is_in_a_system_call<H: ModelHost>() -> String {
    let tiny = tiny::<H>(Central { away: 1, ..Central::new(2) });
    let caller = party::<H, _, _>("m1", &tiny, |tiny| {
        // Back: takes the P if it is idle, else its ticket is queued.
        tiny.central(|c| {
            c.away = 0;
            ((), c.send_for(M1))
        });
        let p = tiny.wait_p(M1);
        tiny.run();
        let did = tiny.ready(M0);
        tiny.release(p);
        did
    });
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::forge(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "told {woken:?}, but an M was in a system call");
    tiny.release(p);
    let did = H::join(caller);
    let told = tiny.judge();
    format!("m0 was {did}, told {}", told.len())
}

fn the_readier_is_queued<H: ModelHost>() -> String {
    // What an M that sleeps is woken for comes from outside. If it comes too late, there is nothing to wait for.
    let tiny = tiny::<H>(Central { sleeping: vec![M1], ..Central::new(2) });
    let worker = party::<H, _, _>("m1", &tiny, |tiny| tiny.works(M1));
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| {
        tiny.with(|c| c.queued.push(M0));
        tiny.central(|c| {
            let worker = if c.idle && !c.queued.is_empty() { c.pop_sleeper() } else { None };
            c.idle &= worker.is_none();
            ((), worker)
        });
    });
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::forge(PId(0)), Wake::Inside);
    tiny.release(p);
    H::join(submitter);
    H::join(worker);
    tiny.judge();
    format!("woken: {woken:?}")
}

fn the_readier_is_in_a_ring_and_the_world_is_stopped<H: ModelHost>() -> String {
    let tiny = tiny::<H>(Central { sleeping: vec![M1], local: vec![M0], ..Central::new(2) });
    let worker = party::<H, _, _>("m1", &tiny, |tiny| tiny.works(M1));
    let stopper = party::<H, _, _>("stopper", &tiny, |tiny| {
        tiny.with(|c| c.stopping = true);
        // If it holds the P by now, the world is stopped.
        tiny.central(|c| {
            c.stopping = false;
            let held = std::mem::take(&mut c.held);
            (held, if held { c.releasep() } else { None })
        })
    });
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::forge(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "told {woken:?}, but a G was in the ring of its P");
    tiny.release(p);
    H::join(worker);
    let held = H::join(stopper);
    let told = tiny.judge();
    assert!(told.is_empty(), "told {told:?}");
    if held { "held" } else { "not held" }.to_owned()
}

/// What the Gs of a model know of each other.
struct Known<H: ModelHost> {
    book: H::Lock<Book>,
    /// G1, or G2, is about to wait, or is in a system call.
    begins: [Sign<H>; 2],
    /// Where a G blocks in its system call.
    io: Sign<H>,
    /// The world is stopped.
    stopped: Sign<H>,
    /// A thread beside the main one is done. It is not joined: loom cannot have it that who joins is woken, late, for
    /// something else.
    done: Sign<H>,
    /// Gs that have yet to run.
    left: Atomic<H, u64>,
}

#[derive(Default)]
struct Book {
    /// The Ms of G1 and G2.
    ms: [Option<MId>; 2],
    /// Whose wait ended, and why, in order.
    woken: Vec<(u64, Woken)>,
}

impl<H: ModelHost> More for Known<H> {}

impl<H: ModelHost> Known<H> {
    fn new() -> Self {
        Known {
            book: H::Lock::new(Book::default()),
            begins: [Sign::new(), Sign::new()],
            io: Sign::new(),
            stopped: Sign::new(),
            done: Sign::new(),
            left: Atomic::new(2),
        }
    }

    fn m(&self, n: u64) -> Option<MId> {
        self.book.with(|book| book.ms[n as usize - 1])
    }

    /// Waits until G `n` is about to wait. Which M it has.
    fn waits(&self, n: u64) -> MId {
        self.begins[n as usize - 1].wait();
        self.m(n).expect("G said which M it has")
    }
}

type Table<H> = On<H, Known<H>>;

fn table<H: ModelHost>(procs: usize, max_ms: usize, n: u64, play: Play<H, Known<H>>) -> Table<H> {
    open(small(procs, max_ms), n, Known::new(), play)
}

/// G `n` waits, with a word to the main thread before.
fn waits<H: ModelHost>(sched: &Table<H>, worker: Worker, n: u64, wake: Wake) -> (Worker, Woken) {
    let known = &sched.observer().more;
    let m = worker.m();
    known.book.with(|book| book.ms[n as usize - 1] = Some(m));
    known.begins[n as usize - 1].put();
    let (worker, woken) = sched.park_bound(worker, wake);
    assert!(worker.m() == m, "a bound G goes on on another M");
    sched.observer().uses(&worker);
    known.book.with(|book| book.woken.push((n, woken)));
    (worker, woken)
}

fn readied_from_outside<H: ModelHost>() -> String {
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
    let seen = sched.observer().seen();
    assert!(seen.told.is_empty(), "told {:?}, but somebody outside was to ready it", seen.told);
    format!("{} Ms, {} tickets", snapshot.alive, seen.tickets)
}

fn two_wait_and_two_ready_them<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n <= 2 {
            let woken;
            (worker, woken) = waits(sched, worker, n, Wake::Outside);
            assert!(woken == Woken::Ready, "{woken:?}");
        }
        Some(worker)
    }
    let sched = table::<H>(1, 3, 3, play);
    submit(&sched, 1, 3);
    let other = H::fork("readier", {
        let sched = Arc::clone(&sched);
        move || sched.ready_bound(sched.observer().more.waits(2))
    });
    sched.ready_bound(sched.observer().more.waits(1));
    H::join(other);
    finish(&sched);
    format!("{} tickets", sched.observer().seen().tickets)
}

fn its_ticket_is_found<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            let woken;
            (worker, woken) = waits(sched, worker, n, Wake::Outside);
            assert!(woken == Woken::Ready, "{woken:?}");
        } else {
            // While this G has the only P, the ticket has to be queued.
            sched.ready_bound(sched.observer().more.m(1).expect("it was known before"));
            sched.observer().uses(&worker);
        }
        Some(worker)
    }
    let sched = table::<H>(1, 3, 3, play);
    submit(&sched, 1, 1);
    sched.observer().more.waits(1);
    submit(&sched, 2, 3);
    // One of them readies it a second time: that is for a wait that never comes.
    let snapshot = finish(&sched);
    format!("{} Ms, {} tickets", snapshot.alive, sched.observer().seen().tickets)
}

/// G1 ends while it is bound. Its thread ends, its P is handed on, the others are run.
fn ends<H: ModelHost>(max_ms: usize) -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n > 1 {
            let known = &sched.observer().more;
            if known.left.fetch_sub(1, AcqRel) == 1 {
                known.done.put();
            }
            return Some(worker);
        }
        let child = sched.observer().make(3);
        sched.ready(&mut worker, child);
        sched.observer().story.leaves(worker.m().0);
        sched.end(worker);
        None
    }
    let sched = table::<H>(1, max_ms, 3, play);
    submit(&sched, 1, 2);
    // The thread that ends may be the last, and may have yet to see to it that there is another.
    sched.observer().more.done.wait();
    let snapshot = finish(&sched);
    format!("{} Ms left", snapshot.alive)
}

fn with_its_g<H: ModelHost>() -> String {
    ends::<H>(2)
}

fn with_its_g_and_there_was_no_other<H: ModelHost>() -> String {
    ends::<H>(1)
}

fn while_it_is_readied<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            (worker, _) = waits(sched, worker, n, Wake::Outside);
        }
        Some(worker)
    }
    let sched = table::<H>(1, 3, 2, play);
    submit(&sched, 1, 2);
    let m = sched.observer().more.waits(1);
    H::fork("readier", {
        let sched = Arc::clone(&sched);
        move || {
            sched.ready_bound(m);
            sched.observer().more.done.put();
        }
    });
    sched.observer().story.closes();
    let left: Vec<u64> = sched.close().into_iter().map(|g| sched.observer().runs(g)).collect();
    sched.observer().more.done.wait();
    sched.observer().each_ran_once();
    let woken = sched.observer().more.book.with(|book| book.woken.clone());
    assert!(woken.len() == 1, "one wait, and it ended so: {woken:?}");
    let snapshot = sched.snapshot();
    assert!(snapshot.alive == 0 && snapshot.global == 0 && snapshot.idle_ps == 1, "closed, but {snapshot:?}");
    format!("woken {:?}, gave back {}", woken[0].1, left.len())
}

/// The only M is back from its system call while the world is stopped.
fn the_only_m_comes_back_while_stopped<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, worker: Worker, _: u64) -> Option<Worker> {
        let away = sched.entersyscall(worker);
        sched.observer().more.begins[0].put();
        let (worker, way) = sched.exitsyscall_bound(away);
        assert!(way != Way::Idle || sched.observer().seen().stops == 1, "its P was taken, but not for the stop");
        sched.observer().uses(&worker);
        Some(worker)
    }
    let sched = table::<H>(1, 1, 1, play);
    submit(&sched, 1, 1);
    sched.observer().more.begins[0].wait();
    let stopped = sched.stop_the_world(None);
    assert!(sched.start_the_world(stopped).is_none(), "the stopper was no M");
    finish(&sched);
    let refused = sched.observer().seen().refused;
    if refused > 0 { "no M was available for its ticket" } else { "it needed none" }.to_owned()
}

fn the_only_m_yields<H: ModelHost>() -> String {
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
    let refused = sched.observer().seen().refused;
    if refused > 0 { "others waited" } else { "nobody waited" }.to_owned()
}

/// G1 is in a system call when the world is stopped, and comes back meanwhile: its ticket is queued. Then the world is
/// started and the scheduler is closed.
fn its_ticket_waits_when_the_world_starts<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, worker: Worker, _: u64) -> Option<Worker> {
        let known = &sched.observer().more;
        let away = sched.entersyscall(worker);
        known.begins[0].put();
        known.io.wait();
        let (worker, _) = sched.exitsyscall_bound(away);
        Some(worker)
    }
    let sched = table::<H>(1, 3, 1, play);
    submit(&sched, 1, 1);
    sched.observer().more.begins[0].wait();
    H::fork("stopper", {
        let sched = Arc::clone(&sched);
        move || {
            let stopped = sched.stop_the_world(None);
            sched.observer().more.io.put();
            sched.observer().more.stopped.put();
            assert!(sched.start_the_world(stopped).is_none(), "the stopper was no M");
            sched.observer().more.done.put();
        }
    });
    sched.observer().more.stopped.wait();
    sched.observer().story.closes();
    let left = sched.close();
    assert!(left.is_empty(), "{} Gs were given back that nobody submitted", left.len());
    sched.observer().more.done.wait();
    sched.observer().each_ran_once();
    format!("{} tickets", sched.observer().seen().tickets)
}

fn two_wait_in_the_scheduler<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Table<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 3 {
            for child in [1, 2] {
                let child = sched.observer().make(child);
                sched.ready(&mut worker, child);
            }
            return Some(worker);
        }
        let (worker, woken) = waits(sched, worker, n, Wake::Inside);
        if woken != Woken::Ready {
            let other = sched.observer().more.m(3 - n).expect("it waits, or nobody would have been told");
            sched.ready_bound(other);
        }
        Some(worker)
    }
    let sched = table::<H>(2, 2, 3, play);
    submit(&sched, 3, 3);
    finish(&sched);
    let woken = sched.observer().more.book.with(|book| book.woken.clone());
    assert!(sched.observer().seen().told == [Woken::Deadlock], "told: {:?}", sched.observer().seen().told);
    let [(told, Woken::Deadlock), (_, Woken::Ready)] = woken[..] else { panic!("woken: {woken:?}") };
    format!("G{told} is told")
}

/// G2 spawns G1, which waits for it; does something meanwhile, and readies G1.
fn another<H: ModelHost>(procs: usize, play: Play<H, Known<H>>) -> String {
    let sched = table::<H>(procs, 3, 2, play);
    submit(&sched, 2, 2);
    finish(&sched);
    let seen = sched.observer().seen();
    assert!(seen.told.is_empty(), "told: {:?}", seen.told);
    format!("{} tickets", seen.tickets)
}

/// G2, or what it does first.
fn spawns<H: ModelHost>(sched: &Table<H>, worker: &mut Worker) {
    let child = sched.observer().make(1);
    sched.ready(worker, child);
}

/// G1: waits, and is not told that nobody will ready it.
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

fn another_is_in_a_system_call<H: ModelHost>() -> String {
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

fn another_runs<H: ModelHost>() -> String {
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
fn others_wait_in_a_ring<H: ModelHost>(max_ms: usize, stops: bool) -> Woken {
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
    if stops {
        sched.observer().more.waits(1);
        let stopped = sched.stop_the_world(None);
        assert!(sched.start_the_world(stopped).is_none(), "the stopper was no M");
    }
    finish(&sched);
    let woken = sched.observer().more.book.with(|book| book.woken.clone());
    assert!(woken.len() == 1, "one wait, and it ended so: {woken:?}");
    woken[0].1
}

fn others_are_stopped<H: ModelHost>() -> String {
    let woken = others_wait_in_a_ring::<H>(2, true);
    assert!(woken == Woken::Ready, "told {woken:?}, but a G waited in the ring of a P that was stopped");
    "woken".to_owned()
}

fn others_get_no_thread<H: ModelHost>() -> String {
    let woken = others_wait_in_a_ring::<H>(1, false);
    assert!(woken == Woken::NoThread, "woken {woken:?}, but there is no other M to run the rest");
    "told".to_owned()
}

fn others_get_a_thread<H: ModelHost>() -> String {
    let woken = others_wait_in_a_ring::<H>(2, false);
    assert!(woken == Woken::Ready, "told {woken:?}, but there is another M to run the rest");
    "woken".to_owned()
}

/// What is known of one M's G.
#[derive(Debug, Clone, Copy)]
struct Told {
    /// Was it readied since its last wait began, or ended? Then the next does not begin.
    is_early: bool,
    /// It waits, for somebody inside or outside.
    waits: Option<Wake>,
    /// It has said that it waits, and has yet to give up its P.
    is_to_rest: bool,
    /// Why its last wait ended.
    woken: Woken,
}

/// The bindings of two Ms, beside what is known of each; and who rests, in order.
struct Both {
    bindings: Bindings,
    told: [Told; 2],
    inside: Vec<MId>,
}

impl Both {
    /// Whatever `m` may do, or others to it.
    fn does<H: ModelHost>(&mut self, m: MId) {
        let Both { bindings, told, inside } = self;
        let told = &mut told[m.index()];
        let may: &[usize] = match told {
            Told { is_to_rest: true, .. } => &[4, 0, 1],
            Told { waits: None, .. } => &[2, 3, 0, 5],
            _ => &[0, 1],
        };
        match any_of::<H, _>(may) {
            why @ 0..2 => {
                let why = [Woken::Ready, Woken::Deadlock][why];
                let needs_ticket = bindings.ready(m, why);
                assert!(needs_ticket == told.waits.is_some(), "{m:?} was readied, {told:?}: a ticket? {needs_ticket}");
                match told.waits.take() {
                    Some(_) => told.woken = why,
                    None => told.is_early = true,
                }
                inside.retain(|other| *other != m);
            }
            wake @ 2..4 => {
                let wake = [Wake::Inside, Wake::Outside][wake - 2];
                let waits = bindings.wait(m, wake);
                assert!(waits != told.is_early, "{m:?} was to wait, {told:?}: does it? {waits}");
                *told = Told { is_early: false, waits: waits.then_some(wake), is_to_rest: waits, woken: Woken::Ready };
            }
            4 => {
                let rests = bindings.rest(m);
                assert!(rests == told.waits.is_some(), "{m:?} has no P any more, {told:?}: does it rest? {rests}");
                told.is_to_rest = false;
                inside.extend((told.waits == Some(Wake::Inside)).then_some(m));
            }
            _ => {
                bindings.forget(m);
                (told.is_early, told.woken) = (false, Woken::Ready);
            }
        }
    }

    fn agree(&self) {
        let Both { bindings, told, inside } = self;
        for m in [M0, M1] {
            let (why, told) = (bindings.woken(m), told[m.index()].woken);
            assert!(why == told, "{m:?}'s last wait ended: {why:?}, not {told:?}");
        }
        let waiting: Vec<MId> = bindings.waiting().collect();
        let expected: Vec<MId> = [M0, M1].into_iter().filter(|m| told[m.index()].waits.is_some()).collect();
        assert!(waiting == expected, "{waiting:?} wait, not {expected:?}");
        assert!(bindings.inside() == inside.len(), "{} rest for one inside, not {inside:?}", bindings.inside());
        let oldest = inside.first().copied();
        assert!(bindings.oldest_inside() == oldest, "{:?} rests longest, not {oldest:?}", bindings.oldest_inside());
    }
}

fn five_operations_on_two_ms<H: ModelHost>() -> String {
    let awake = Told { is_early: false, waits: None, is_to_rest: false, woken: Woken::Ready };
    let mut both = Both { bindings: Bindings::new(2), told: [awake; 2], inside: Vec::new() };
    both.agree();
    for _ in 0..5 {
        both.does::<H>(any_of::<H, _>(&[M1, M0]));
        both.agree();
    }
    format!("{:?} rest, {:?}", both.inside, both.told.map(|told| told.woken))
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("locked::a_g_goes_on_once_for_each_wait::one_waits_and_two_ready_it", one_waits_and_two_ready_it,
        claim: "readied before it waits, when about to rest, or at rest: it goes on once, a second wake is kept",
        size: "3 threads, 1 P, 1 wait, 2 wakes",
        invariants: [4, 13, 19],
        must_reach: [
            "early, early, left over: false",
            "early, early, left over: true",
            "early, resting",
            "early, waiting",
        ],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("locked::a_g_goes_on_once_for_each_wait::two_ready_each_other", two_ready_each_other,
        claim: "two bound Gs share a P and ready each other: the P goes to and fro, and is used by one at a time",
        size: "2 threads, 1 P, 2 waits, 2 wakes",
        invariants: [4, 13, 19],
        must_reach: ["m0 was waiting", "m0 was resting"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("locked::answers_as_a_list_would::five_operations_on_two_ms", five_operations_on_two_ms,
        claim: "a wake before a wait is kept, once; one for each wait queues a ticket; who rests longest is told",
        size: "1 thread, 2 Ms, every 5 operations: wait for one inside or outside, rest, ready for 2 reasons, forget",
        invariants: [13, 19, 25],
        must_reach: ["[MId(1), MId(0)] rest", "[] rest, [Deadlock, Deadlock]"],
        runs: [sc()]),
    crate::model!("locked::a_g_goes_on_once_for_each_wait::readied_from_outside", readied_from_outside,
    claim: "a bound G of the real scheduler is readied from outside at any time, and goes on once, on its M",
    size: "1 P, 2 Ms, 2 Gs, 1 wait",
    invariants: [1, 2, 4, 13, 19, 25, 30, 31, 32, 33, 34],
    must_reach: ["1 Ms", "2 Ms", "0 tickets", "1 tickets"],
    runs: [rc11_cut(),
        loom_bounded(1),
        sampled(Engine::Random, 5_000),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 3_000),
    ]),
    crate::model!("locked::a_g_goes_on_once_for_each_wait::two_wait_and_two_ready_them", two_wait_and_two_ready_them,
        claim: "the same with two bound Gs, a third that is not, and one P",
        size: "1 P, 3 Ms, 3 Gs, 2 waits",
        invariants: [1, 2, 4, 13, 19, 25, 30, 31, 32, 33, 34],
        must_reach: ["0 tickets", "1 tickets", "2 tickets"],
        runs: [rc11_cut(), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("locked::a_g_goes_on_once_for_each_wait::its_ticket_is_found", its_ticket_is_found,
        claim: "a G that has the only P readies a bound one: who finds the ticket gives its P away, and gets one again",
        size: "1 P, 3 Ms, 3 Gs, 1 wait, 2 wakes",
        invariants: [1, 2, 4, 13, 19, 30, 31, 32, 33, 34],
        must_reach: ["1 tickets"],
        runs: [rc11_cut(), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("locked::a_thread_ends::with_its_g", with_its_g,
    claim: "a G ends while it is bound: its thread ends, its P is handed on, and the rest is run",
    size: "1 P, 2 Ms, 3 Gs",
    invariants: [1, 2, 4, 19, 30, 31, 32, 33, 34, 36],
    must_reach: ["1 Ms left"],
    runs: [rc11_cut(),
        loom_bounded(1),
        sampled(Engine::Random, 5_000),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 3_000),
    ]),
    crate::model!("locked::a_thread_ends::with_its_g_and_there_was_no_other", with_its_g_and_there_was_no_other,
        claim: "the same if there may be no second thread beside it: then there may be one after it",
        size: "1 P, 1 M, 3 Gs",
        invariants: [1, 2, 4, 19, 30, 31, 32, 33, 34, 36],
        must_reach: ["1 Ms left"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000)]),
    crate::model!("locked::a_bound_g_gets_a_p::the_only_m_comes_back_while_stopped",
        the_only_m_comes_back_while_stopped,
        claim: "the world starts, no other M can be had, and a bound G waits for a P: it gets it",
        size: "1 P, 1 M, 1 G, 1 stop",
        invariants: [1, 4, 19, 30, 36, 42],
        must_reach: ["no M was available for its ticket", "it needed none"],
        runs: [rc11(), loom_bounded(2), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000)]),
    crate::model!("locked::a_bound_g_gets_a_p::the_only_m_yields", the_only_m_yields,
        claim: "a bound G yields for one that waits, but no other M can be had: it gets its P back",
        size: "1 P, 1 M, 2 Gs",
        invariants: [1, 4, 19, 30, 36],
        must_reach: ["others waited"],
        runs: [rc11(), loom_bounded(2), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000)]),
    crate::model!("locked::close_ends::while_it_is_readied", while_it_is_readied,
    claim: "a scheduler is closed while a bound G waits, and is readied: the wait ends once, close comes back",
    size: "1 P, 3 Ms, 2 Gs, 1 wait",
    invariants: [1, 2, 4, 13, 19],
    must_reach: ["woken Closed", "woken Ready", "gave back 0", "gave back 1"],
    runs: [rc11_cut(),
        loom_bounded(1),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 3_000),
    ]),
    crate::model!("locked::close_ends::its_ticket_waits_when_the_world_starts", its_ticket_waits_when_the_world_starts,
        claim: "a scheduler is closed just when the world starts; a bound G that waits gets a P, and close returns",
        size: "1 P, 3 Ms, 1 G, 1 stop",
        invariants: [1, 2, 4, 19],
        must_reach: ["0 tickets"],
        runs: [rc11_cut(), loom_bounded(2), sampled(Engine::Random, 10_000), sampled(Engine::Pct, 10_000)]),
    crate::model!("deadlock::told_always::two_wait_for_each_other", two_wait_for_each_other,
        claim: "two Gs wait for each other: one is told, once; it readies the other",
        size: "2 threads, 1 P, 2 waits",
        invariants: [19, 25],
        must_reach: ["m0 Deadlock, m1 Ready"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("deadlock::told_always::two_wait_and_no_third_can_be_had", two_wait_and_no_third_can_be_had,
        claim: "two Gs wait for one that is queued, and there may be no third M: one is told, once",
        size: "2 threads, 1 P, 2 waits, 1 G queued",
        invariants: [19, 25],
        must_reach: ["m0 NoThread, m1 Ready"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("deadlock::told_always::two_wait_in_the_scheduler", two_wait_in_the_scheduler,
    claim: "two bound Gs of the real scheduler wait for each other: the one that has waited longest is told, once",
    size: "2 Ps, 2 Ms, 3 Gs, 2 waits",
    invariants: [1, 2, 4, 19, 25, 30, 31, 32, 33, 34],
    must_reach: ["G1 is told", "G2 is told"],
    runs: [rc11_cut(),
        loom_bounded(1),
        sampled(Engine::Random, 5_000),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 3_000),
    ]),
    crate::model!("deadlock::told_always::others_get_no_thread", others_get_no_thread,
        claim: "a G waits for one that is queued, and there may be no other M: it is told so",
        size: "1 P, 1 M, 4 Gs, 1 wait",
        invariants: [1, 2, 25, 30, 31, 32, 33, 34],
        must_reach: ["told"],
        runs: [rc11(), loom_bounded(2), sampled(Engine::Random, 3_000), sampled(Engine::Pct, 3_000)]),
    crate::model!("deadlock::never_told_without_reason::the_readier_is_in_a_system_call",
        the_readier_is_in_a_system_call,
        claim: "a G waits while another is in a system call, comes back and readies it: it is not told",
        size: "2 threads, 1 P, 1 wait",
        invariants: [19, 25],
        must_reach: ["m0 was waiting", "m0 was resting"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("deadlock::never_told_without_reason::the_readier_is_queued", the_readier_is_queued,
        claim: "a G waits while another is queued, and the M that is to run it has yet to be woken: it is not told",
        size: "3 threads, 1 P, 1 wait",
        invariants: [19, 25, 30],
        must_reach: ["woken: Ready", "woken: Deadlock"],
        runs: [rc11(), loom_bounded(2), sc(), tso()]),
    crate::model!("deadlock::never_told_without_reason::the_readier_is_in_a_ring_and_the_world_is_stopped",
        the_readier_is_in_a_ring_and_the_world_is_stopped,
        claim: "a G waits for one in the ring of its P, which is handed on, or held by a stopper: it is not told",
        size: "3 threads, 1 P, 1 wait, 1 stop",
        invariants: [19, 25, 30],
        must_reach: ["held", "not held"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("deadlock::never_told_without_reason::another_is_in_a_system_call", another_is_in_a_system_call,
        claim: "the same in the real scheduler: the readier is in a system call, and its P is handed on",
        size: "1 P, 3 Ms, 2 Gs, 1 wait",
        invariants: [1, 2, 4, 19, 25, 30, 31, 32, 33, 34],
        must_reach: ["1 tickets", "2 tickets"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("deadlock::never_told_without_reason::another_runs", another_runs,
    claim: "the same: the readier runs on another P",
    size: "2 Ps, 3 Ms, 2 Gs, 1 wait",
    invariants: [1, 2, 4, 19, 25, 30, 31, 32, 33, 34],
    must_reach: ["0 tickets", "1 tickets"],
    runs: [rc11_cut(),
        loom_bounded(1),
        sampled(Engine::Random, 5_000),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 3_000),
    ]),
    crate::model!("deadlock::never_told_without_reason::others_get_a_thread", others_get_a_thread,
    claim: "the same: the readier waits in the ring of the P that is handed on",
    size: "1 P, 2 Ms, 4 Gs, 1 wait",
    invariants: [1, 2, 4, 19, 25, 30, 31, 32, 33, 34],
    must_reach: ["woken"],
    runs: [rc11(),
        loom_bounded(1),
        sampled(Engine::Random, 5_000),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 3_000),
    ]),
    crate::model!("deadlock::never_told_without_reason::others_are_stopped", others_are_stopped,
    claim: "the same: the readier waits in the ring of a P that is held for a stop, and every M sleeps",
    size: "1 P, 2 Ms, 4 Gs, 1 wait, 1 stop",
    invariants: [1, 2, 4, 19, 25, 30, 31, 32, 33, 34, 42],
    must_reach: ["woken"],
    runs: [rc11_cut(),
        loom_bounded(1),
        sampled(Engine::Random, 5_000),
        sampled(Engine::Pct, 5_000),
        sampled(Engine::TsoPct, 3_000),
    ]),
];

const TWO_READY: &str = "locked::a_g_goes_on_once_for_each_wait::one_waits_and_two_ready_it";
const EACH_OTHER: &str = "deadlock::told_always::two_wait_for_each_other";

/// The mutants.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "locked-forgets-an-early-wake",
        room: "locked",
        what: "a wake that comes before its wait is forgotten",
        mutation: Mutation::Variant("forgets-an-early-wake"),
        killed_by: &[(TWO_READY, Engine::Sc), (TWO_READY, Engine::Rc11)],
    },
    Mutant {
        name: "locked-queues-a-second-ticket",
        room: "locked",
        what: "each wake queues a ticket, also for a G that goes on already",
        mutation: Mutation::Variant("queues-a-second-ticket"),
        killed_by: &[(TWO_READY, Engine::Sc), (TWO_READY, Engine::Rc11)],
    },
    Mutant {
        name: "locked-rests-though-readied",
        room: "locked",
        what: "an M that has handed its P on rests without a look whether it was readied meanwhile",
        mutation: Mutation::Variant("rests-though-readied"),
        killed_by: &[(TWO_READY, Engine::Sc), (TWO_READY, Engine::Rc11)],
    },
    Mutant {
        name: "deadlock-nobody-asks",
        room: "deadlock",
        what: "an M that rests does not ask whether it was the last",
        mutation: Mutation::Variant("rests-and-asks-nobody"),
        killed_by: &[(EACH_OTHER, Engine::Sc), (EACH_OTHER, Engine::Rc11)],
    },
    Mutant {
        name: "deadlock-ignores-the-queue",
        room: "deadlock",
        what: "a G in the global queue does not count as one that will run",
        mutation: Mutation::Variant("ignores-the-queue"),
        killed_by: &[
            ("deadlock::never_told_without_reason::the_readier_is_queued", Engine::Sc),
            ("deadlock::never_told_without_reason::the_readier_is_queued", Engine::Rc11),
        ],
    },
    Mutant {
        name: "deadlock-ignores-system-calls",
        room: "deadlock",
        what: "an M in a system call does not count as one that may run",
        mutation: Mutation::Variant("ignores-system-calls"),
        killed_by: &[
            ("deadlock::never_told_without_reason::the_readier_is_in_a_system_call", Engine::Sc),
            ("deadlock::never_told_without_reason::the_readier_is_in_a_system_call", Engine::Rc11),
        ],
    },
    Mutant {
        name: "deadlock-ignores-ps-in-use",
        room: "deadlock",
        what: "a P that somebody has, with Gs in its ring, does not count: it may be held while the world is stopped",
        mutation: Mutation::Variant("ignores-ps-in-use"),
        killed_by: &[(
            "deadlock::never_told_without_reason::the_readier_is_in_a_ring_and_the_world_is_stopped",
            Engine::Sc,
        )],
    },
];
