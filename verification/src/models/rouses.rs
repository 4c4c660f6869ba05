//! The monitor's sleep beside each taker of an idle P: its real loop, on a thread of its own, and a taker of a P
//! meanwhile.
//!
//! Every P is idle, or the world is stopped, and the monitor has looked so often that it may sleep until it is woken: it is about
//! to ask, under the lock, whether it may. Just then a P is taken, and is not given back. So the monitor has to look once more:
//! it does not sleep, or the taker of the P wakes it. If neither, the main thread waits for that look for ever.
//!
//! | what takes an idle P                             | where               | model               |
//! |--------------------------------------------------|---------------------|---------------------|
//! | a submitter, or a source that wakes              | `wakep`             | `a_submitter`       |
//! | an M back from a system call                     | `pidleget_or_queue` | `a_system_call`     |
//! | a thread that readies a bound G                  | `send_for`          | `a_bound_g`         |
//! | a thread that starts the first M                 | `start`             | `the_first_m`       |
//! | an M that idled its P, and sees work after all   | `retire`            | `an_m_that_retires` |
//! | an M back from the poller                        | `injectglist`       | `the_poller`        |
//! | a thread that runs a function under each P       | `safepoint::begin`  | `a_safepoint`       |
//! | a G that starts the world again: its P has work  | `start_the_world`   | `a_stopped_world`   |
//! | a submitter, for which there is no M             | `refused`           | `a_refused_start`   |

use crate::harness::embedder::submit;
use crate::harness::script::{MAIN, Scripted, begin, for_ever, keeps, numbers, saw, script, with_poller};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11};
use spinpark_kernel::host::{Nanos, Parker};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::Wake;
use spinpark_kernel::protocol::stw::safepoint::SafepointFn;
use spinpark_kernel::protocol::sysmon::CALM;
use spinpark_kernel::protocol::work_source::{Poller, Waker, WorkSource};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::PId;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// What comes from elsewhere, and counts the monitor's looks. Each counter is one thread's.
struct Elsewhere<H: ModelHost> {
    looks: AtomicU32,
    asked: AtomicU32,
    /// The index of the question from which on there is a G; 0: never.
    has_work_from: u32,
    /// Is there a socket to wait for?
    is_awaited: bool,
    /// The main thread waits here for the monitor's look after the last.
    looked: H::Parker,
    /// The main thread waits here until all has come about.
    ready: H::Parker,
    /// An M waits here, until the main thread takes part.
    goes_on: H::Parker,
}

struct Source<H: ModelHost>(Arc<Elsewhere<H>>, Waker);

impl<H: ModelHost> WorkSource for Source<H> {
    fn waker(&self) -> &Waker {
        &self.1
    }
    fn has_work(&self) -> bool {
        let nth = self.0.asked.fetch_add(1, Relaxed) + 1;
        if self.0.has_work_from > 1 && nth == self.0.has_work_from {
            // An M has idled its P, and looks again.
            self.0.ready.unpark();
            self.0.goes_on.park();
        }
        self.0.has_work_from > 0 && nth >= self.0.has_work_from
    }
    fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) {
        put(crate::harness::common::g(2));
    }
    fn is_expecting(&self) -> bool {
        false
    }
    fn tick(&self, _: Nanos) {
        match self.0.looks.fetch_add(1, Relaxed) + 1 {
            CALM => self.0.ready.unpark(),
            looks if looks > CALM => {
                self.0.looked.unpark();
                for_ever::<H>();
            }
            _ => (),
        }
    }
}

struct Sea<H: ModelHost>(Arc<Elsewhere<H>>);

impl<H: ModelHost> Poller for Sea<H> {
    fn is_awaited(&self) -> bool {
        self.0.is_awaited
    }
    fn poll(&self, _: Nanos, put: &mut dyn FnMut(G)) {
        self.0.ready.unpark();
        self.0.goes_on.park();
        put(crate::harness::common::g(2));
    }
    fn interrupt(&self) {}
}

/// A scheduler with a monitor, which is started when all has come about.
struct Watched<H: ModelHost> {
    sched: Scripted<H>,
    elsewhere: Arc<Elsewhere<H>>,
}

impl<H: ModelHost> Watched<H> {
    fn new(
        (procs, max_ms): (usize, usize),
        (has_work_from, is_awaited): (u32, bool),
        play: fn(&Scripted<H>, Worker, u64) -> Option<Worker>,
    ) -> Self {
        let elsewhere = Arc::new(Elsewhere {
            looks: AtomicU32::new(0),
            asked: AtomicU32::new(0),
            has_work_from,
            is_awaited,
            looked: H::Parker::new(),
            ready: H::Parker::new(),
            goes_on: H::Parker::new(),
        });
        let sched = with_poller::<H>(numbers(procs, max_ms), 2, play, |waker| {
            let source = Source(Arc::clone(&elsewhere), waker.clone());
            (vec![Box::new(source)], Box::new(Sea(Arc::clone(&elsewhere))))
        });
        let _ = sched.observer().make(2).into_raw(); // for a thread from elsewhere
        Watched { sched, elsewhere }
    }

    /// The monitor looks, until it may sleep. What happens from here on happens at once.
    fn may_sleep(&self) {
        assert!(self.sched.start_sysmon().is_ok(), "there is a thread");
        self.elsewhere.ready.park();
    }

    /// It has to look once more.
    fn looks_again(&self) -> String {
        self.elsewhere.looked.park();
        "looked".to_owned()
    }
}

/// Any G is kept.
fn kept<H: ModelHost>(_: &Scripted<H>, worker: Worker, _: u64) -> Option<Worker> {
    keeps::<H>(worker)
}

/// G1 ends, and M0 has nothing to do; G2 is kept.
fn first_ends<H: ModelHost>(_: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
    if n == 1 { Some(worker) } else { keeps::<H>(worker) }
}

/// G1 makes a call that blocks. A second P is idle, so no M has to look for work in its place.
fn first_blocks<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
    if n == 1 && script(sched).leaves_once(n) {
        script(sched).leaves(sched.entersyscallblock(worker));
        script(sched).open(MAIN);
        for_ever::<H>()
    }
    keeps::<H>(worker)
}

fn a_submitter<H: ModelHost>() -> String {
    let watched = Watched::<H>::new((1, 1), (0, false), kept::<H>);
    watched.may_sleep();
    submit(&watched.sched, 1, 1);
    watched.looks_again()
}

fn a_system_call<H: ModelHost>() -> String {
    let watched = Watched::<H>::new((2, 1), (0, false), first_blocks::<H>);
    begin(&watched.sched, 1);
    let away = script(&watched.sched).take_away();
    watched.may_sleep();
    let back = watched.sched.exitsyscall(away, watched.sched.observer().again(1));
    assert!(back.is_ok(), "two Ps are idle");
    std::mem::forget(back);
    watched.looks_again()
}

fn a_bound_g<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, _: u64) -> Option<Worker> {
        script(sched).tells_main(saw::LISTED);
        let (worker, _) = sched.park_bound(worker, Wake::Outside);
        keeps::<H>(worker)
    }
    let watched = Watched::<H>::new((2, 1), (0, false), play::<H>);
    begin(&watched.sched, 1);
    script(&watched.sched).tells_main(0);
    watched.may_sleep();
    watched.sched.ready_bound(MId(0));
    watched.looks_again()
}

fn the_first_m<H: ModelHost>() -> String {
    let watched = Watched::<H>::new((1, 1), (1, false), kept::<H>);
    watched.may_sleep();
    assert!(watched.sched.start().is_ok(), "there is a thread");
    watched.looks_again()
}

fn an_m_that_retires<H: ModelHost>() -> String {
    let watched = Watched::<H>::new((1, 1), (2, false), first_ends::<H>);
    submit(&watched.sched, 1, 1);
    watched.elsewhere.ready.park();
    watched.may_sleep();
    watched.elsewhere.goes_on.unpark();
    watched.looks_again()
}

fn the_poller<H: ModelHost>() -> String {
    let watched = Watched::<H>::new((1, 1), (0, true), first_ends::<H>);
    submit(&watched.sched, 1, 1);
    watched.elsewhere.ready.park();
    watched.may_sleep();
    watched.elsewhere.goes_on.unpark();
    watched.looks_again()
}

fn a_safepoint<H: ModelHost>() -> String {
    let watched = Watched::<H>::new((1, 1), (0, false), kept::<H>);
    watched.may_sleep();
    let elsewhere = Arc::clone(&watched.elsewhere);
    // What runs under the P holds it until the monitor has looked.
    let holds: Arc<SafepointFn> = Arc::new(move |_| elsewhere.looked.park());
    let none = watched.sched.for_each_p(None, &holds);
    assert!(none.is_none(), "it was called from outside");
    "looked".to_owned()
}

fn a_stopped_world<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 2 {
            return keeps::<H>(worker);
        }
        sched.goyield(&mut worker, crate::harness::common::g(2));
        sched.observer().events.leaves(worker.m().0);
        let stopped = sched.stop_the_world(Some(worker));
        script(sched).open(MAIN);
        script(sched).wait(1);
        std::mem::forget(sched.start_the_world(stopped));
        for_ever::<H>()
    }
    let watched = Watched::<H>::new((1, 2), (0, false), play::<H>);
    begin(&watched.sched, 1);
    watched.may_sleep();
    script(&watched.sched).open(1);
    watched.looks_again()
}

fn a_refused_start<H: ModelHost>() -> String {
    let watched = Watched::<H>::new((2, 1), (0, false), first_blocks::<H>);
    begin(&watched.sched, 1);
    watched.may_sleep();
    assert!(watched.sched.submit(crate::harness::common::g(2)).is_ok(), "it is open");
    std::mem::forget(script(&watched.sched).take_away());
    watched.looks_again()
}

macro_rules! rouses {
    ($($play:ident: $claim:literal, $size:literal;)*) => {
        /// The models.
        pub const MODELS: &[Model] = &[$(
            Model {
                name: concat!("monitor::wakes_for_whoever_takes_a_p::", stringify!($play)),
                file: file!(),
                claim: $claim,
                size: $size,
                invariants: &[32, 43],
                must_reach: &["looked"],
                runs: const { &[rc11()] },
                play: $play::<crate::model::OnAny>,
            }),*];
    };
}

rouses! {
    a_submitter: "the monitor does not sleep on a P that a submitter has taken for an M", "the monitor, a submitter, 1 P, 1 M";
    a_system_call: "nor on one that an M takes as it comes back from a system call", "the monitor, an M, 2 Ps";
    a_bound_g: "nor on one that is sent for a bound G", "the monitor, a thread that readies, 1 M, 2 Ps";
    the_first_m: "nor on one with which the first M is started", "the monitor, a thread that starts, 1 P, 1 M, a source";
    an_m_that_retires: "nor on one that an M takes back, which it has just idled", "the monitor, 1 P, 1 M, a source";
    the_poller: "nor on one that an M takes for what the poller has reported", "the monitor, 1 P, 1 M, a poller";
    a_safepoint: "nor on one under which a safepoint's function runs", "the monitor, a thread that passes a safepoint, 1 P";
    a_stopped_world: "nor when the world starts, and the one P that there is has work", "the monitor, 1 P, 2 Ms, 1 stop";
    a_refused_start: "nor when a G waits for which there is no M", "the monitor, a submitter, 2 Ps, 1 M";
}
