//! The real scheduler: its world is stopped, its Ps come and go, a function runs under each of them.

use crate::harness::embedder::{
    Embedded, Extra, Note, finish, first_runs, open, rest, small, stops, submit, while_stopped,
};
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::stw::safepoint::SafepointFn;
use spinpark_kernel::protocol::syscall::{Away, Way};
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::Event;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A G makes a system call.
fn calls_once<H: ModelHost, X: Extra>(sched: &Embedded<H, X>, worker: Worker) -> (Worker, Way) {
    let away = sched.entersyscall(worker);
    let (worker, way) = sched.exitsyscall_bound(away);
    sched.observer().uses(&worker);
    (worker, way)
}

pub(super) fn one_g_makes_a_system_call<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Embedded<H, ()>, worker: Worker, _: u64) -> Option<Worker> {
        Some(calls_once(sched, worker).0)
    }
    let sched = open::<H, ()>(small(1, 2), 1, (), play::<H>);
    submit(&sched, 1, 1);
    first_runs(&sched);
    stops(&sched, |_| ());
    let snapshot = finish(&sched);
    format!("{} Ms", snapshot.alive)
}

pub(super) fn a_g_spawns_another<H: ModelHost>() -> String {
    let sched = open::<H, ()>(small(1, 1), 2, (), spawns_one::<H, ()>);
    submit(&sched, 1, 1);
    stops(&sched, |_| ());
    finish(&sched);
    String::new()
}

pub(super) fn one_p_is_idle<H: ModelHost>() -> String {
    let sched = open::<H, ()>(small(2, 1), 1, (), |sched, worker, _| {
        sched.observer().uses(&worker);
        Some(worker)
    });
    submit(&sched, 1, 1);
    stops(&sched, |_| ());
    finish(&sched);
    String::new()
}

pub(super) fn a_g_and_an_outsider<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Embedded<H, ()>, worker: Worker, _: u64) -> Option<Worker> {
        sched.observer().events.leaves(worker.m().0);
        let ((), away) = while_stopped(sched, Some(worker), |_| ());
        let (worker, _) = sched.exitsyscall_bound(away.expect("the stopper was an M"));
        sched.observer().uses(&worker);
        Some(worker)
    }
    let sched = open::<H, ()>(small(1, 1), 1, (), play::<H>);
    submit(&sched, 1, 1);
    let so_far = stops(&sched, |_| sched.observer().reported().stops);
    finish(&sched);
    let stops = sched.observer().reported().stops;
    assert!(stops == 2, "{stops} stops of 2");
    format!("the G was {}", if so_far == 1 { "second" } else { "first" })
}

/// The world is stopped, a G waits in the ring of a P that is held, and another thread closes the scheduler.
pub(super) fn the_world_is_stopped<H: ModelHost>() -> String {
    /// The world is stopped; and the stopper, which is not joined (see `locked`), is done.
    struct Stopped<H: ModelHost>(Note<H>, Note<H>);
    impl<H: ModelHost> Extra for Stopped<H> {}
    fn play<H: ModelHost>(sched: &Embedded<H, Stopped<H>>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            let child = sched.observer().make(2);
            sched.ready(&mut worker, child);
        }
        Some(worker)
    }
    let sched = open::<H, _>(small(1, 2), 2, Stopped(Note::new(), Note::new()), play::<H>);
    submit(&sched, 1, 1);
    first_runs(&sched);
    H::fork("stopper", {
        let sched = Arc::clone(&sched);
        move || {
            stops(&sched, |_| sched.observer().more.0.wakeup());
            sched.observer().more.1.wakeup();
        }
    });
    sched.observer().more.0.sleep();
    sched.observer().events.closes();
    let left: Vec<u64> = sched.close().into_iter().map(|g| sched.observer().runs(g)).collect();
    sched.observer().more.1.sleep();
    sched.observer().each_ran_once();
    let snapshot = sched.snapshot();
    assert!(snapshot.alive == 0 && snapshot.global == 0 && snapshot.idle_ps == 1, "closed, but {snapshot:?}");
    format!("gave back {}", left.len())
}

/// What a stop that was asked for has to do with the system calls of a G.
struct CallCounts<H: ModelHost> {
    /// Made in all, and since the stop was asked for.
    made: AtomicU32,
    late: AtomicU32,
    asked: Atomic<H, bool>,
}

impl<H: ModelHost> Extra for CallCounts<H> {
    fn event(&self, event: &Event<'_>) {
        match event {
            // The first P is held, so the stop was asked for. Release: an M that sees this sees `wanted` too.
            Event::Held { .. } => self.asked.store(true, Release),
            Event::Started { .. } => {
                // Relaxed: a P comes with it.
                self.asked.store(false, Relaxed);
                self.late.store(0, Relaxed);
            }
            _ => (),
        }
    }
}

pub(super) fn a_g_makes_one_system_call_after_another<H: ModelHost>() -> String {
    const CALLS: u32 = 6;
    fn play<H: ModelHost>(sched: &Embedded<H, CallCounts<H>>, mut worker: Worker, _: u64) -> Option<Worker> {
        let counts = &sched.observer().more;
        for _ in 0..CALLS {
            // Acquire: then `wanted` is seen as well.
            let asked = counts.asked.load(Acquire);
            let late = if asked { counts.late.fetch_add(1, Relaxed) } else { 0 };
            assert!(late == 0, "a second system call was made after the stop was asked for");
            let way;
            (worker, way) = calls_once(sched, worker);
            counts.made.fetch_add(1, Relaxed);
            assert!(way != Way::Kept || !asked, "the P was kept through a system call after the stop was asked for");
        }
        Some(worker)
    }
    let counts = CallCounts { made: AtomicU32::new(0), late: AtomicU32::new(0), asked: Atomic::new(false) };
    let sched = open::<H, _>(small(2, 2), 1, counts, play::<H>);
    submit(&sched, 1, 1);
    first_runs(&sched);
    let made = stops(&sched, |_| sched.observer().more.made.load(Relaxed));
    finish(&sched);
    format!("stopped after {made} calls")
}

/// The world is stopped, and there are `to` Ps instead of `from`. How many Gs waited under those that are no more.
fn resizes<H: ModelHost, X: Extra>(sched: &Embedded<H, X>, from: usize, to: usize) -> usize {
    stops(sched, |stopped| {
        let moved = sched.snapshot().local.iter().skip(to).sum();
        let before = sched.procresize(stopped, to).expect("there is a place for so many");
        assert!(before == from, "there were {before} Ps, not {from}");
        moved
    })
}

/// The last but one spawns the last.
fn spawns_one<H: ModelHost, X: Extra>(sched: &Embedded<H, X>, mut worker: Worker, n: u64) -> Option<Worker> {
    assert!(worker.p().index() < sched.procs(), "P{} of {}", worker.p().0, sched.procs());
    if n + 1 == sched.observer().last() {
        let child = sched.observer().make(n + 1);
        sched.ready(&mut worker, child);
    }
    sched.observer().uses(&worker);
    Some(worker)
}

pub(super) fn from_two_to_one<H: ModelHost>() -> String {
    /// The second G, which another M may have stolen, runs.
    struct SecondRuns<H: ModelHost>(Note<H>);
    impl<H: ModelHost> Extra for SecondRuns<H> {}
    let sched = open::<H, SecondRuns<H>>(small(2, 2), 3, SecondRuns(Note::new()), |sched, mut worker, n| {
        match n {
            1 => sched.ready(&mut worker, sched.observer().make(2)),
            2 => sched.observer().more.0.wakeup(),
            _ => (),
        }
        spawns_one(sched, worker, n)
    });
    rest(&sched, 2);
    submit(&sched, 1, 1);
    sched.observer().more.0.sleep();
    let moved = resizes(&sched, 2, 1);
    let snapshot = finish(&sched);
    assert!(snapshot.procs == 1, "{} Ps", snapshot.procs);
    format!("moved {moved}")
}

pub(super) fn from_one_to_two<H: ModelHost>() -> String {
    let sched = open::<H, ()>(Config { max_procs: 2, ..small(1, 1) }, 2, (), spawns_one::<H, ()>);
    submit(&sched, 1, 1);
    resizes(&sched, 1, 2);
    let snapshot = finish(&sched);
    assert!(snapshot.procs == 2, "{} Ps", snapshot.procs);
    String::new()
}

/// How often the function ran under each P.
struct Passed([AtomicU32; 2]);

impl Extra for Passed {}

/// A function that counts under which P it runs.
fn function<H: ModelHost>(sched: &Embedded<H, Passed>) -> Arc<SafepointFn> {
    let sched = Arc::clone(sched);
    Arc::new(move |p| {
        sched.observer().uses_p(p);
        sched.observer().more.0[p.index()].fetch_add(1, Relaxed);
    })
}

/// Runs it under each P. Nothing of the scheduler refers to it then.
fn passes<H: ModelHost>(sched: &Embedded<H, Passed>, worker: Option<Worker>) -> Option<Away> {
    let run = function(sched);
    let away = sched.for_each_p(worker, &run);
    assert!(Arc::strong_count(&run) == 1, "the caller has come back, and an M still refers to the function");
    away
}

pub(super) fn while_a_p_is_released<H: ModelHost>() -> String {
    let sched = open::<H, Passed>(small(1, 2), 1, Passed(Default::default()), |_, worker, _| Some(worker));
    submit(&sched, 1, 1);
    first_runs(&sched);
    // Its M finds nothing more meanwhile, and lets go of the only P.
    assert!(passes(&sched, None).is_none(), "the caller was no M");
    let count = sched.observer().more.0[0].load(Relaxed);
    assert!(count == 1, "it ran {count} times under the only P");
    finish(&sched);
    String::new()
}

/// How often it ran under each P.
fn counts<H: ModelHost>(sched: &Embedded<H, Passed>) -> [u32; 2] {
    [0, 1].map(|p: usize| sched.observer().more.0[p].load(Relaxed))
}

pub(super) fn a_g_and_an_outsider_run_one_each<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Embedded<H, Passed>, worker: Worker, _: u64) -> Option<Worker> {
        sched.observer().events.leaves(worker.m().0);
        let away = passes(sched, Some(worker)).expect("the caller was an M");
        let (worker, _) = sched.exitsyscall_bound(away);
        sched.observer().uses(&worker);
        Some(worker)
    }
    let sched = open::<H, Passed>(small(1, 1), 1, Passed(Default::default()), play::<H>);
    submit(&sched, 1, 1);
    first_runs(&sched);
    let before = counts(&sched)[0];
    assert!(passes(&sched, None).is_none(), "the caller was no M");
    let after = counts(&sched)[0];
    finish(&sched);
    assert!(counts(&sched) == [2, 0], "two ran a function under the only P, and it ran {:?} times", counts(&sched));
    assert!(after > before, "it came back before it had run");
    format!(
        "the G was {}",
        if before == 1 {
            "first"
        } else if after == 1 {
            "second"
        } else {
            "meanwhile"
        }
    )
}

/// What is wanted is one word: neither the close nor the function is lost in it.
pub(super) fn the_scheduler_is_closed<H: ModelHost>() -> String {
    let sched = open::<H, Passed>(small(1, 1), 0, Passed(Default::default()), |_, worker, _| Some(worker));
    let other = H::fork("other", {
        let sched = Arc::clone(&sched);
        move || assert!(passes(&sched, None).is_none(), "the caller was no M")
    });
    sched.observer().events.closes();
    assert!(sched.close().is_empty(), "there was no G");
    H::join(other);
    let (snapshot, count) = (sched.snapshot(), counts(&sched)[0]);
    assert!(count == 1, "it ran {count} times under the only P");
    assert!(snapshot.alive == 0 && snapshot.idle_ps == 1, "closed, but {snapshot:?}");
    String::new()
}

pub(super) fn a_g_runs_beside_an_idle_p<H: ModelHost>() -> String {
    let sched = open::<H, Passed>(small(2, 1), 1, Passed(Default::default()), |_, worker, _| Some(worker));
    submit(&sched, 1, 1);
    first_runs(&sched);
    assert!(passes(&sched, None).is_none(), "the caller was no M");
    let after = counts(&sched);
    finish(&sched);
    assert!(after == [1, 1] && counts(&sched) == after, "it ran {after:?} times, then {:?}", counts(&sched));
    String::new()
}
