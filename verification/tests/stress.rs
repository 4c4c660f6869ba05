//! The scheduler on real cores, with windows widened: what no model has is the machine itself. Sampled, not proved.

use spinpark::runtime::Cores;
use spinpark_kernel::host::{Host, Parker};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::types::g::G;
use spinpark_verification::hosts::wrap::jitter::Jitter;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

type Rough = Jitter<Cores>;

/// One count a G.
struct Counts {
    runs: Vec<AtomicU8>,
    roots: u64,
    children: u64,
    left: AtomicU64,
    done: <Rough as Host>::Parker,
    steals: AtomicU64,
}

impl Observer for Counts {
    fn event(&self, event: Event<'_>) {
        if let Event::Found { from: spinpark_kernel::protocol::sources::Source::Steal, .. } = event {
            self.steals.fetch_add(1, Relaxed);
        }
    }
}

fn g(n: u64) -> G {
    G::from_raw(NonZeroU64::new(n).expect("numbers begin at 1"))
}

fn life(sched: &Arc<Sched<Rough, Counts>>, mut worker: Worker) {
    let counts = sched.observer();
    while let Some((next, task)) = sched.next(worker) {
        worker = next;
        let n = task.into_raw().get();
        counts.runs[n as usize - 1].fetch_add(1, Relaxed);
        if n <= counts.roots {
            for child in 0..counts.children {
                sched.ready(&mut worker, g(counts.roots + (n - 1) * counts.children + child + 1));
            }
        }
        if counts.left.fetch_sub(1, Relaxed) == 1 {
            counts.done.unpark();
        }
    }
}

/// Runs `roots` Gs, submitted by two threads, each of which spawns `children`; every one must run exactly once.
fn each_runs_once(procs: usize, ring: usize, order: SearchOrder, roots: u64, children: u64) {
    let n = roots * (1 + children);
    let counts = Counts {
        runs: (0..n).map(|_| AtomicU8::new(0)).collect(),
        roots,
        children,
        left: AtomicU64::new(n),
        done: Parker::new(),
        steals: AtomicU64::new(0),
    };
    let config = Config { procs, ring, order, ..Config::default() };
    let sched = Sched::<Rough, Counts>::new(config, counts, life).expect("the numbers are allowed");
    sched.start().expect("a thread can be started");
    std::thread::scope(|scope| {
        for half in 0..2 {
            let sched = &sched;
            scope.spawn(move || {
                for n in (1..=roots).filter(|n| n % 2 == half) {
                    assert!(sched.submit(g(n)).is_ok(), "the scheduler is open");
                }
            });
        }
    });
    let counts = sched.observer();
    while counts.left.load(Relaxed) > 0 {
        counts.done.park();
    }
    let left = sched.close();
    assert!(left.is_empty(), "{} Gs were given back, though all have run", left.len());
    let wrong = counts.runs.iter().position(|runs| runs.load(Relaxed) != 1);
    assert_eq!(wrong, None, "G{} ran {} times", wrong.unwrap_or(0) + 1, counts.runs[wrong.unwrap_or(0)].load(Relaxed));
    // With rings that spill at once and the global queue searched first, there may be nothing to steal.
    let must_steal = procs > 1 && order == SearchOrder::StealFirst;
    assert!(!must_steal || counts.steals.load(Relaxed) > 0, "nothing was ever stolen");
}

mod a_million_gs_run_once_each {
    use super::*;

    #[test]
    fn on_four_ps() {
        each_runs_once(4, 256, SearchOrder::StealFirst, 100_000, 9);
    }
}

mod a_hundred_thousand_gs_run_once_each {
    use super::*;

    #[test]
    fn on_one_p() {
        each_runs_once(1, 256, SearchOrder::StealFirst, 10_000, 9);
    }

    #[test]
    fn on_rings_that_always_spill() {
        each_runs_once(3, 2, SearchOrder::GlobalFirst, 10_000, 9);
    }

    #[test]
    fn on_more_ps_than_cores() {
        each_runs_once(16, 8, SearchOrder::StealFirst, 10_000, 9);
    }
}

/// The hand-off path: Gs make system calls and yield, a monitor takes Ps, the world is stopped again and again, and
/// Ps come and go.
mod thirty_thousand_gs_that_call_run_once_each {
    use super::*;
    use std::sync::atomic::AtomicBool;

    struct Calls {
        runs: Vec<AtomicU8>,
        left: AtomicU64,
        done: <Rough as Host>::Parker,
        is_stopped: AtomicBool,
        retaken: AtomicU64,
        ways: [AtomicU64; 4],
    }

    impl Observer for Calls {
        fn event(&self, event: Event<'_>) {
            match event {
                Event::Retaken { .. } => {
                    self.retaken.fetch_add(1, Relaxed);
                }
                Event::Returned { way, .. } => {
                    self.ways[way as usize].fetch_add(1, Relaxed);
                }
                _ => (),
            }
        }
    }

    fn life(sched: &Arc<Sched<Rough, Calls>>, mut worker: Worker) {
        while let Some((next, task)) = sched.next(worker) {
            worker = next;
            let calls = sched.observer();
            let n = task.into_raw().get();
            assert!(!calls.is_stopped.load(Relaxed), "G{n} runs in a stopped world");
            match n % 8 {
                0..4 => {
                    let away = sched.entersyscall(worker);
                    if n % 64 == 0 {
                        std::thread::sleep(std::time::Duration::from_micros(200));
                    }
                    worker = sched.exitsyscall_bound(away).0;
                    assert!(!calls.is_stopped.load(Relaxed), "G{n} came back into a stopped world");
                }
                4 => worker = sched.exitsyscall_bound(sched.entersyscallblock(worker)).0,
                5 => worker = sched.yield_bound(worker),
                _ => (),
            }
            calls.runs[n as usize - 1].fetch_add(1, Relaxed);
            if calls.left.fetch_sub(1, Relaxed) == 1 {
                calls.done.unpark();
            }
        }
    }

    fn play(procs: usize, max_procs: usize, order: SearchOrder) {
        let n = 30_000;
        let calls = Calls {
            runs: (0..n).map(|_| AtomicU8::new(0)).collect(),
            left: AtomicU64::new(n),
            done: Parker::new(),
            is_stopped: AtomicBool::new(false),
            retaken: AtomicU64::new(0),
            ways: Default::default(),
        };
        let config = Config { procs, max_procs, order, ring: 16, max_ms: 64, ..Config::default() };
        let sched = Sched::<Rough, Calls>::new(config, calls, life).expect("the numbers are allowed");
        sched.start().and_then(|()| sched.start_sysmon()).expect("threads can be started");
        std::thread::scope(|scope| {
            let sched = &sched;
            scope.spawn(move || (1..=n).for_each(|n| assert!(sched.submit(g(n)).is_ok(), "the scheduler is open")));
            for stopper in 0..2 {
                scope.spawn(move || {
                    let calls = sched.observer();
                    let mut round = stopper;
                    while calls.left.load(Relaxed) > 0 {
                        let mut stopped = sched.stop_the_world(None);
                        assert!(!calls.is_stopped.swap(true, Relaxed), "two have stopped the world");
                        round += 1;
                        sched.procresize(&mut stopped, 1 + round % max_procs).expect("there is room");
                        calls.is_stopped.store(false, Relaxed);
                        assert!(sched.start_the_world(stopped).is_none(), "it was stopped from outside");
                        std::thread::sleep(std::time::Duration::from_micros(300));
                    }
                });
            }
        });
        let calls = sched.observer();
        while calls.left.load(Relaxed) > 0 {
            calls.done.park();
        }
        assert!(sched.close().is_empty(), "Gs were given back, though all have run");
        let wrong = calls.runs.iter().position(|runs| runs.load(Relaxed) != 1);
        assert_eq!(wrong, None, "G{} did not run once", wrong.unwrap_or(0) + 1);
        assert!(calls.ways[0].load(Relaxed) > 0, "no P was ever kept");
        assert!(calls.ways[1..].iter().any(|way| way.load(Relaxed) > 0), "no P was ever taken");
        println!("ways out {:?}, retaken {:?}", calls.ways, calls.retaken);
    }

    #[test]
    fn on_one_to_four_ps() {
        play(2, 4, SearchOrder::StealFirst);
    }

    #[test]
    fn on_one_to_nine_ps_global_first() {
        play(1, 9, SearchOrder::GlobalFirst);
    }
}
