//! What is played.

use super::embedder::{Act, SMALL, Shape, play};
use crate::checker::order::EventChecker;
use crate::harness::common::g;
use crate::harness::embedder::end_all;
use crate::hosts::model_host::ModelHost;
use Act::{Block, EndLocked, Interrupted, Panic, Stop, Syscall, SyscallThenAnyM, WaitForChild, Yield};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

pub(super) fn one_p_one_syscall<H: ModelHost>() -> String {
    play::<H>(Shape { max_ms: 2, acts: &[Syscall], ticks: 2, ..SMALL })
}

pub(super) fn stops_and_resizes<H: ModelHost>() -> String {
    let acts = &[Syscall, WaitForChild, Interrupted, Block, Yield, SyscallThenAnyM];
    play::<H>(Shape { procs: 2, max_procs: 3, max_ms: 8, acts, resizes: &[1, 3, 2], ticks: 4, ..SMALL })
}

pub(super) fn everything_at_once<H: ModelHost>() -> String {
    let order = SearchOrder::GlobalFirst;
    let acts = &[Syscall, Stop, WaitForChild, Panic, SyscallThenAnyM, EndLocked, Block, Yield, WaitForChild, Stop];
    let shape = Shape { procs: 2, max_procs: 3, max_ms: 12, acts, submitters: 2, resizes: &[3, 1], ticks: 6, ..SMALL };
    play::<H>(Shape { order, ..shape })
}

/// A G sits in a system call until another has run, and there is one P: without the monitor that would be never.
pub(super) fn a_syscall_waits_for_another_g<H: ModelHost>() -> String {
    struct Pair<H: ModelHost> {
        has_entered: H::Parker,
        is_in: Atomic<H, bool>,
        other_has_run: H::Parker,
        is_over: H::Parker,
        runs: Atomic<H, u64>,
        retaken: AtomicU32,
        events: EventChecker,
    }
    impl<H: ModelHost> Observer for Pair<H> {
        fn event(&self, event: Event<'_>) {
            self.events.check(&event);
            if let Event::Retaken { .. } = event {
                self.retaken.fetch_add(1, Relaxed);
            }
        }
    }
    fn wait<H: ModelHost>(pair: &Pair<H>, runs: u64, parker: &H::Parker) {
        while pair.runs.load(Acquire) < runs {
            parker.park();
        }
    }
    fn life<H: ModelHost>(sched: &Arc<Sched<H, Pair<H>>>, mut worker: Worker) {
        while let Some((next, g)) = sched.next(worker) {
            worker = next;
            let pair = sched.observer();
            if g.into_raw().get() == 1 {
                sched.ready(&mut worker, self::g(2));
                let away = sched.entersyscall(worker);
                pair.is_in.store(true, Release);
                pair.has_entered.unpark();
                wait(pair, 1, &pair.other_has_run);
                worker = sched.exitsyscall_bound(away).0;
            }
            pair.runs.fetch_add(1, AcqRel);
            pair.other_has_run.unpark();
            pair.is_over.unpark();
        }
    }
    let config = Config { ring: 2, max_ms: 3, steal_passes: 1, keep_alive: u64::MAX, ..Config::default() };
    let parker = H::Parker::new;
    let (runs, retaken) = (Atomic::new(0), AtomicU32::new(0));
    let is_in = Atomic::new(false);
    let events = EventChecker::default();
    let pair = Pair { has_entered: parker(), is_in, other_has_run: parker(), is_over: parker(), runs, retaken, events };
    let sched = Sched::<H, Pair<H>>::new(config, pair, life::<H>).expect("the numbers are allowed");
    let monitor = {
        let sched = Arc::clone(&sched);
        H::fork("monitor", move || {
            while !sched.observer().is_in.load(Acquire) {
                sched.observer().has_entered.park();
            }
            let mut watch = sched.watch();
            sched.tick(&mut watch, 0);
            sched.tick(&mut watch, 1);
        })
    };
    assert!(sched.submit(g(1)).is_ok(), "the scheduler is open");
    wait(sched.observer(), 2, &sched.observer().is_over);
    H::join(monitor);
    let retaken = sched.observer().retaken.load(Relaxed);
    end_all(&sched, &sched.observer().events);
    format!("retaken {retaken}")
}
