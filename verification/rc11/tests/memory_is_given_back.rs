//! What the checker allocates for an execution it gives back: an exploration of hours must not grow.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use rc11::engine::{Config, Word, explore, fork, spin};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// glibc's, up to what is looked at here. (The checker has the global allocator, so that a test cannot count by one.)
#[repr(C)]
struct Mallinfo {
    first: [i32; 7],
    in_use: i32,
    last: [i32; 2],
}

unsafe extern "C" {
    safe fn mallinfo() -> Mallinfo;
}

/// What an exploration may keep, however long it is: its tally, and what the allocator does not give back at once.
const CONSTANT: i64 = 8_000;

/// How many bytes are allocated more after `f` than before.
fn grows(f: impl FnOnce()) -> i64 {
    let before = mallinfo().in_use;
    f();
    i64::from(mallinfo().in_use) - i64::from(before)
}

/// Three threads, each of which takes a spin lock that reads before it writes.
fn contended() -> String {
    let lock = Arc::new(Word::new(0));
    let takes = |lock: Arc<Word>| {
        move || {
            let kept = vec![7_u8; 500];
            while lock.load(Relaxed) == 1 || lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
                spin();
            }
            lock.store(0, Release);
            kept.len()
        }
    };
    let threads: Vec<_> = (0..3).map(|_| fork("locks", takes(Arc::clone(&lock)))).collect();
    threads.into_iter().map(rc11::engine::Thread::join).sum::<usize>().to_string()
}

/// Two threads count beside each other.
fn counted() -> String {
    let count = Arc::new(Word::new(0));
    let adds = |count: Arc<Word>| move || (0..3).map(|_| count.fetch_add(1, AcqRel)).sum::<u64>();
    let threads: Vec<_> = (0..2).map(|_| fork("adds", adds(Arc::clone(&count)))).collect();
    threads.into_iter().map(rc11::engine::Thread::join).sum::<u64>().to_string()
}

/// One test: what another allocates beside it would count.
#[test]
fn in_each_execution() {
    by_executions_that_block_and_those_that_end();
    by_models_of_the_facade();
    by_waits_that_time_out();
    by_waits_for_locks();
}

fn by_executions_that_block_and_those_that_end() {
    for body in [contended as fn() -> String, counted] {
        let explored = |config: &Config| explore(config, body, |_| ()).tally;
        explored(&Config::default());
        let mut tally = explored(&Config::default());
        let grown = grows(|| tally = explored(&Config::default()));
        let all = (tally.executions + tally.blocked) as i64;
        println!("{} executions, {} blocked: {grown} bytes", tally.executions, tally.blocked);
        assert!(all > 15 && grown < CONSTANT, "{all} executions, {} of them blocked: {grown} bytes", tally.blocked);
    }
}

fn by_models_of_the_facade() {
    use rc11::sync::Mutex;
    use rc11::sync::atomic::AtomicBool;
    use rc11::{hint, thread};
    let check = || {
        rc11::model(|| {
            let shared = rc11::sync::Arc::new((AtomicBool::new(false), Mutex::new(Vec::new())));
            let lock = |shared: rc11::sync::Arc<(AtomicBool, Mutex<Vec<u8>>)>| {
                move || {
                    while shared.0.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                        while shared.0.load(Relaxed) {
                            hint::spin_loop();
                        }
                    }
                    shared.1.lock().unwrap().push(1);
                    shared.0.store(false, Release);
                }
            };
            let others: Vec<_> = (0..2).map(|_| thread::spawn(lock(shared.clone()))).collect();
            lock(shared.clone())();
            others.into_iter().for_each(|other| other.join().unwrap());
            assert_eq!(shared.1.lock().unwrap().len(), 3);
        });
    };
    check();
    let grown = grows(check);
    println!("{grown}");
    assert!(grown < CONSTANT, "{grown} bytes");
}

fn grows_by(name: &str, f: impl Fn() + Send + Sync + Copy + 'static) {
    let explored = || rc11::model::Builder::new().outcome_of(f);
    explored();
    let mut outcome = explored();
    let grown = grows(|| outcome = explored());
    println!("{name}: {} executions, {} blocked: {grown} bytes", outcome.executions, outcome.blocked);
    assert!(outcome.blocked >= 8, "{} blocked", outcome.blocked);
    assert!(grown < CONSTANT, "{name}: {grown} bytes");
}

fn by_waits_that_time_out() {
    use rc11::sync::atomic::AtomicUsize;
    use rc11::sync::{Condvar, Mutex};
    use rc11::thread;
    use std::time::Duration;
    grows_by("park_timeout", || {
        let word = rc11::sync::Arc::new(AtomicUsize::new(0));
        let waits = |word: rc11::sync::Arc<AtomicUsize>| {
            move || {
                let kept = vec![7_u8; 500];
                word.fetch_add(1, AcqRel);
                thread::park_timeout(Duration::from_millis(1));
                word.fetch_add(1, AcqRel);
                kept.len()
            }
        };
        let others = [0, 1].map(|_| thread::spawn(waits(word.clone())));
        others.into_iter().for_each(|other| assert_eq!(other.join().unwrap(), 500));
    });
    grows_by("wait_timeout", || {
        let shared = rc11::sync::Arc::new((Mutex::new(0), Condvar::new()));
        let waits = |shared: rc11::sync::Arc<(Mutex<u32>, Condvar)>| {
            move || {
                let kept = vec![7_u8; 500];
                let guard = shared.0.lock().unwrap();
                *shared.1.wait_timeout(guard, Duration::from_millis(1)).unwrap().0 += 1;
                kept.len()
            }
        };
        let others = [0, 1, 2].map(|_| thread::spawn(waits(shared.clone())));
        others.into_iter().for_each(|other| assert_eq!(other.join().unwrap(), 500));
    });
}

fn by_waits_for_locks() {
    use rc11::engine::{Lock, Parker, Thread};
    let body = || {
        let shared = Arc::new((Lock::new(0_u64), Parker::new(), Word::new(0)));
        let locks = |shared: Arc<(Lock<u64>, Parker, Word)>| {
            move || {
                let kept = vec![7_u8; 500];
                while shared.2.load(Acquire) == 0 {
                    spin();
                }
                shared.0.with(|n| *n += 1);
                kept.len()
            }
        };
        let others: Vec<_> = (0..2).map(|_| fork("locks", locks(Arc::clone(&shared)))).collect();
        shared.2.store(1, Release);
        shared.0.with(|n| *n += 1);
        others.into_iter().map(Thread::join).sum::<usize>().to_string()
    };
    let config = Config { unwind: false, quarantine: true, ..Config::default() };
    let explored = || explore(&config, body, |_| ()).tally;
    explored();
    let mut tally = explored();
    let grown = grows(|| tally = explored());
    println!("locks: {} executions, {} blocked: {grown} bytes", tally.executions, tally.blocked);
    assert!(grown < CONSTANT, "{grown} bytes");
}
