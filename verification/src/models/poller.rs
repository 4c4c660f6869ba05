//! Models of the whole scheduler with timers and a poller: Gs that wait for timers and for a socket, outsiders that add
//! timers, while Ms come and go. Time passes when an M waits for it.
//!
//! At the end all is quiet, no timer is left, no G waits, and each G has run once.

use crate::engines::Engine;
use crate::harness::common::g;
use crate::harness::embedder::{Embedded, Extra, Play, finish, open_polling, small, submit};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, rc11_cut, sampled};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{NEVER, Nanos, Parker};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::work_source::{Poller, Waker, WorkSource};
use spinpark_kernel::queues::timers::Timers;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::Event;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::{Arc, OnceLock};

const SOON: Nanos = 1_000;
const LATER: Nanos = 2_000_000;

/// The timers and the socket, as their own threads see them.
struct Outside<H: ModelHost> {
    /// What is due is a G's number.
    timers: Timers<H, u64>,
    /// How many wait for the socket.
    waiters: Atomic<H, u64>,
    /// The G that can go on; 0: none.
    ready: Atomic<H, u64>,
    /// Where the M in the poller sleeps.
    parker: H::Parker,
    waker: OnceLock<Waker>,
    polled: AtomicU32,
}

struct Clock<H: ModelHost>(Arc<Outside<H>>, Waker);

impl<H: ModelHost> WorkSource for Clock<H> {
    fn waker(&self) -> &Waker {
        &self.1
    }
    fn has_work(&self) -> bool {
        self.0.timers.deadline() <= H::now()
    }
    fn take(&self, p: Option<PId>, put: &mut dyn FnMut(G)) {
        let now = H::now();
        let due = self.0.timers.take_due(p.map_or(0, PId::index), now);
        due.into_iter().for_each(|n| put(g(n)));
    }
    fn deadline(&self) -> Nanos {
        self.0.timers.deadline()
    }
    fn is_expecting(&self) -> bool {
        !self.0.timers.is_empty()
    }
}

struct Sea<H: ModelHost>(Arc<Outside<H>>);

impl<H: ModelHost> Poller for Sea<H> {
    fn is_awaited(&self) -> bool {
        self.0.waiters.load(Relaxed) > 0
    }
    fn poll(&self, until: Nanos, put: &mut dyn FnMut(G)) {
        if self.0.ready.load(Acquire) == 0 {
            match until.saturating_sub(H::now()) {
                0 => (),
                _ if until == NEVER => self.0.parker.park(),
                nanos => self.0.parker.park_timeout(nanos),
            }
        }
        self.peek(put);
    }
    fn peek(&self, put: &mut dyn FnMut(G)) {
        match self.0.ready.swap(0, AcqRel) {
            0 => (),
            n => {
                put(g(n));
                self.0.waiters.fetch_sub(1, AcqRel);
            }
        }
    }
    fn interrupt(&self) {
        self.0.parker.unpark();
    }
}

/// The embedder's part.
struct Shore<H: ModelHost>(Arc<Outside<H>>);

impl<H: ModelHost> Extra for Shore<H> {
    fn event(&self, event: &Event<'_>) {
        if let Event::Polling { .. } = event {
            self.0.polled.fetch_add(1, Relaxed);
        }
    }
}

type Coast<H> = Embedded<H, Shore<H>>;

fn coast<H: ModelHost>(config: Config, n: u64, play: Play<H, Shore<H>>) -> Coast<H> {
    let outside = Arc::new(Outside {
        timers: Timers::new(config.procs),
        waiters: Atomic::new(0),
        ready: Atomic::new(0),
        parker: H::Parker::new(),
        waker: OnceLock::new(),
        polled: AtomicU32::new(0),
    });
    open_polling(config, n, Shore(Arc::clone(&outside)), play, |waker| {
        let _ = outside.waker.set(waker.clone());
        (vec![Box::new(Clock(Arc::clone(&outside), waker.clone()))], Box::new(Sea(outside)))
    })
}

/// G `n` waits for a timer, which a G adds under `worker`'s P.
fn waits_until<H: ModelHost>(sched: &Coast<H>, worker: &Worker, n: u64, when: Nanos) {
    let outside = &sched.observer().more.0;
    let n = sched.observer().make(n).into_raw().get();
    outside.timers.add(worker.p().index(), H::now() + when, n);
}

/// The same, from outside.
fn waits_outside_until<H: ModelHost>(sched: &Coast<H>, n: u64, when: Nanos) {
    let outside = &sched.observer().more.0;
    let n = sched.observer().make(n).into_raw().get();
    let when = H::now() + when;
    let (_, is_first) = outside.timers.add(0, when, n);
    if is_first {
        outside.waker.get().expect("it was made from one").announce(when);
    }
}

/// The socket is ready for G `n`, which waits for it.
fn rings<H: ModelHost>(sched: &Coast<H>, n: u64) {
    let outside = &sched.observer().more.0;
    let n = sched.observer().make(n).into_raw().get();
    outside.ready.store(n, Release);
    outside.parker.unpark();
}

fn ends<H: ModelHost>(sched: &Coast<H>) -> String {
    let snapshot = finish(sched);
    let outside = &sched.observer().more.0;
    assert!(outside.timers.is_empty() && outside.waiters.load(Relaxed) == 0, "all is quiet, but a G waits");
    format!("{} Ms, {}", snapshot.alive, if outside.polled.load(Relaxed) > 0 { "one waited" } else { "nobody waited" })
}

fn a_timer_from_outside<H: ModelHost>() -> String {
    let sched = coast::<H>(small(1, 2), 2, |_, worker, _| Some(worker));
    submit(&sched, 1, 1);
    waits_outside_until(&sched, 2, SOON);
    ends(&sched)
}

fn timers_of_gs_and_a_system_call<H: ModelHost>() -> String {
    let sched = coast::<H>(small(1, 2), 2, |sched, mut worker, n| {
        if n == 1 {
            waits_until(sched, &worker, 2, SOON);
            let away = sched.entersyscallblock(worker);
            (worker, _) = sched.exitsyscall_bound(away);
            sched.observer().uses(&worker);
        }
        Some(worker)
    });
    submit(&sched, 1, 1);
    ends(&sched)
}

fn a_socket_and_timers<H: ModelHost>() -> String {
    let sched = coast::<H>(small(1, 1), 3, |sched, worker, n| {
        if n == 1 {
            waits_until(sched, &worker, 2, LATER);
        }
        Some(worker)
    });
    // G3 waits for the socket from the start.
    sched.observer().more.0.waiters.store(1, Release);
    sched.observer().more.0.waker.get().expect("it was made from one").announce(NEVER);
    let other = H::fork("peer", {
        let sched = Arc::clone(&sched);
        move || rings(&sched, 3)
    });
    submit(&sched, 1, 1);
    H::join(other);
    ends(&sched)
}

fn a_socket_and_no_idle_p<H: ModelHost>() -> String {
    let sched = coast::<H>(small(1, 2), 2, |_, worker, _| Some(worker));
    sched.observer().more.0.waiters.store(1, Release);
    sched.observer().more.0.waker.get().expect("it was made from one").announce(NEVER);
    let other = H::fork("peer", {
        let sched = Arc::clone(&sched);
        move || rings(&sched, 2)
    });
    submit(&sched, 1, 1);
    H::join(other);
    ends(&sched)
}

fn no_thread_but_who_waits<H: ModelHost>() -> String {
    let sched = coast::<H>(small(1, 1), 2, |_, worker, _| Some(worker));
    // The poller does not ring before G1 has run: the only M there can be waits for a socket, and has to come back for
    // G1.
    sched.observer().more.0.waiters.store(1, Release);
    sched.observer().more.0.waker.get().expect("it was made from one").announce(NEVER);
    submit(&sched, 1, 1);
    crate::harness::embedder::first_runs(&sched);
    rings(&sched, 2);
    ends(&sched)
}

fn a_timer_and_the_monitor<H: ModelHost>() -> String {
    let sched = coast::<H>(small(1, 1), 2, |sched, worker, n| {
        if n == 1 {
            waits_until(sched, &worker, 2, 0);
        }
        Some(worker)
    });
    let monitor = H::fork("monitor", {
        let sched = Arc::clone(&sched);
        move || sched.tick(&mut sched.watch(), H::now())
    });
    submit(&sched, 1, 1);
    H::join(monitor);
    ends(&sched)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::timers_and_sockets::a_timer_from_outside", a_timer_from_outside,
        claim: "a timer is added from outside while the only M goes to sleep, or sleeps: it fires",
        size: "1 P, 2 Ms, 1 G, 1 timer",
        invariants: [1, 2, 28, 30, 31, 32, 33, 34, 35, 36, 44],
        must_reach: ["one waited"],
        runs: [rc11_cut(), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("sched::timers_and_sockets::timers_of_gs_and_a_system_call", timers_of_gs_and_a_system_call,
        claim: "a G adds a timer under its P, of which no M is told, and blocks: it fires",
        size: "1 P, 2 Ms, 1 G, 1 timer, 1 system call",
        invariants: [1, 2, 28, 30, 31, 32, 33, 34, 35, 36, 44],
        must_reach: ["one waited"],
        runs: [rc11()]),
    crate::model!("sched::timers_and_sockets::a_socket_and_timers", a_socket_and_timers,
        claim: "a socket becomes ready while a timer comes and fires: the G that waits for it goes on",
        size: "1 P, 1 M, 1 G, 1 timer, 1 socket",
        invariants: [1, 2, 28, 29, 30, 31, 32, 33, 34, 35, 36, 44],
        must_reach: ["one waited"],
        runs: [rc11_cut(), sampled(Engine::Random, 3_000), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("sched::timers_and_sockets::a_socket_and_no_idle_p", a_socket_and_no_idle_p,
        claim: "a socket becomes ready while the only P is in use: no M is woken, and the M that idles the P finds \
                what was queued",
        size: "1 P, 2 Ms, 1 G, 1 socket",
        invariants: [1, 2, 28, 29, 30, 31, 32, 33, 34, 35, 36],
        must_reach: ["one waited"],
        runs: [rc11_cut(), sampled(Engine::Random, 2_000), sampled(Engine::Pct, 3_000)]),
    crate::model!("sched::timers_and_sockets::no_thread_but_who_waits", no_thread_but_who_waits,
        claim: "the only M there can be waits for a socket, and a G is submitted: it comes back and runs it",
        size: "1 P, 1 M, 1 G, 1 socket",
        invariants: [1, 2, 28, 30, 36],
        must_reach: ["one waited"],
        runs: [rc11(), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("sched::timers_and_sockets::a_timer_and_the_monitor", a_timer_and_the_monitor,
        claim: "the monitor takes what is due while the only M goes to sleep: it runs, once",
        size: "1 P, 1 M, 1 G, 1 timer, 1 tick",
        invariants: [1, 2, 28, 30, 35, 36, 44],
        must_reach: [],
        runs: [rc11_cut(), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
