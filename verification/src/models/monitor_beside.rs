//! Models of `monitor` beside others, on threads of their own.

use crate::engines::Engine;
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, sampled, sc};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::Observer;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::harness::common::{g, party};

fn numbers() -> Config {
    Config { procs: 1, ring: 2, max_ms: 1, steal_passes: 1, ..Config::default() }
}

/// The monitor's thread may end before its starter goes on.
fn closed_while_it_is_started<H: ModelHost>() -> String {
    let sched = Sched::<H>::new(numbers(), (), |_, _| ()).expect("these numbers are allowed");
    let closer = party::<H, _, _>("closer", &Arc::new(Arc::clone(&sched)), |sched| sched.close().len());
    let started = sched.start_sysmon().is_ok();
    let left = H::join(closer);
    // A second close has nothing to wait for either.
    let again = sched.close().len();
    format!("started {started}, {left} and {again} left")
}

/// What the M and its test share.
struct Calls<H: ModelHost> {
    is_over: Atomic<H, bool>,
    parker: H::Parker,
}

impl<H: ModelHost> Observer for Calls<H> {}

/// M0's G enters a system call, which the monitor sees; and another, just when the monitor looks again.
fn a_look_between_two_calls<H: ModelHost>() -> String {
    fn life<H: ModelHost>(sched: &Arc<Sched<H, Calls<H>>>, worker: Worker) {
        let Some((worker, g1)) = sched.next(worker) else { return };
        let mut watch = sched.watch();
        let away = sched.entersyscall(worker);
        assert!(!sched.tick(&mut watch, 1), "it is the first look");
        let monitor =
            party::<H, _, _>("monitor", &Arc::new(Arc::clone(sched)), move |sched| sched.tick(&mut watch, 20_001));
        // A taker of its P may have it in hand for a while: then M0 waits for one.
        let (worker, first) = sched.exitsyscall_bound(away);
        let away = sched.entersyscall(worker);
        let retook = H::join(monitor);
        let (worker, second) = sched.exitsyscall_bound(away);
        assert!(first != Way::Kept || second == Way::Kept, "a P was taken out of a call that was never seen before");
        assert!(retook == (first != Way::Kept), "it says whether it has taken the P");
        let _ = g1.into_raw();
        sched.observer().is_over.store(true, Relaxed);
        sched.observer().parker.unpark();
        assert!(sched.next(worker).is_none(), "there is no other G");
    }
    let calls = Calls { is_over: Atomic::new(false), parker: H::Parker::new() };
    let sched = Sched::<H, Calls<H>>::new(numbers(), calls, life::<H>).expect("these numbers are allowed");
    assert!(sched.submit(g(1)).is_ok(), "it is open");
    while !sched.observer().is_over.load(Relaxed) {
        sched.observer().parker.park();
    }
    let left = sched.close().len();
    format!("{left} left, {} refused", sched.snapshot().refused)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("monitor::ends_with_the_last_m::closed_while_it_is_started", closed_while_it_is_started,
        claim: "a monitor that has ended before its starter goes on is not waited for",
        size: "3 threads: the starter, the closer, the monitor; no M",
        invariants: [36],
        must_reach: ["started true, 0 and 0 left"],
        runs: [sc(), rc11()]),
    crate::model!("monitor::takes_what_it_has_seen::a_look_between_two_calls", a_look_between_two_calls,
        claim: "the monitor takes a P out of the system call that it has seen twice, and never out of a later one",
        size: "3 threads: an M, the monitor, the closer; 1 P, 2 system calls",
        invariants: [20, 21],
        must_reach: ["0 left, 0 refused", "0 left, 1 refused"],
        runs: [rc11(), sampled(Engine::Pct, 4_000)]),
];
