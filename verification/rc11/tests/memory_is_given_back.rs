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
