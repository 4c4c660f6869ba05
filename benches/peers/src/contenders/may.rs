//! may: coroutines with stacks of their own. The same work as in `rows/`, by calls that wait.
//!
//! Two of its numbers are not its own: the workers, and the pool of stacks, which holds as many as the row has tasks (its
//! own number is 1000). A stack and the page that guards it are two mappings, and Linux gives a process 65,530 of them,
//! so there are never more than 32,000 coroutines.

use crate::meters::Watch;
use crate::parts::Countdown;
use crate::row::{Round, Sample, Setup, Tally};
use crate::rows::{echo, memory, pread, sparse, spawns, timers};
use may::coroutine::{Coroutine, JoinHandle, current, park, sleep, yield_now};
use may::go;
use may::net::{TcpListener, TcpStream};
use may::sync::{SyncFlag, mpsc};
use std::hint::black_box;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

fn start(setup: Setup, pool: usize) {
    may::config().set_workers(setup.workers).set_pool_capacity(pool);
}

/// Runs `f` as a coroutine, and waits for it on this thread.
fn run<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    join(go!(f))
}

fn join<T>(coroutine: JoinHandle<T>) -> T {
    coroutine.join().expect("no panic")
}

pub(crate) fn yields(setup: Setup) -> Round {
    start(setup, 1000);
    Box::new(move |n| {
        run(move || {
            let each = n / setup.width;
            let watch = Watch::start();
            let tasks: Vec<_> = (0..setup.width)
                .map(|_| {
                    go!(move || {
                        let mut sum = 0;
                        for i in 0..each {
                            yield_now();
                            sum += black_box(i);
                        }
                        sum
                    })
                })
                .collect();
            let sum = tasks.into_iter().map(join).sum();
            watch.time(Tally { count: setup.width * each, sum })
        })
    })
}

pub(crate) fn pingpong(setup: Setup) -> Round {
    start(setup, 1000);
    Box::new(|n| {
        run(move || {
            let (ping, pinged) = mpsc::channel();
            let (pong, ponged) = mpsc::channel();
            let answers = go!(move || {
                while let Ok(i) = pinged.recv() {
                    pong.send(i + 1).expect("it listens");
                }
            });
            let watch = Watch::start();
            let mut sum: u64 = 0;
            for i in 0..n {
                ping.send(i).expect("it listens");
                sum += ponged.recv().expect("it answers");
            }
            let sample = watch.time(Tally { count: n, sum });
            drop(ping);
            join(answers);
            sample
        })
    })
}

pub(crate) fn spawn_join(setup: Setup) -> Round {
    start(setup, 10_000);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            let mut tasks = Vec::with_capacity(n as usize);
            for i in 0..n {
                tasks.push(go!(move || {
                    countdown.add(i);
                }));
            }
            tasks.into_iter().for_each(join);
            watch.time(countdown.tally())
        })
    })
}

/// Adds a number; the last one wakes who waits for all.
fn add_and_wake(countdown: &Countdown, number: u64, waiter: &Coroutine) {
    if countdown.add(number) {
        waiter.unpark();
    }
}

fn over(countdown: &Countdown) {
    while !countdown.is_over() {
        park();
    }
}

pub(crate) fn spawn_detached(setup: Setup) -> Round {
    start(setup, 10_000);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            let waiter: &'static Coroutine = Box::leak(Box::new(current()));
            for i in 0..n {
                drop(go!(move || add_and_wake(countdown, i, waiter)));
            }
            over(countdown);
            watch.time(countdown.tally())
        })
    })
}

pub(crate) fn spawn_chain(setup: Setup) -> Round {
    fn link(countdown: &'static Countdown, left: u64, waiter: &'static Coroutine) {
        drop(go!(move || {
            if left > 0 {
                link(countdown, left - 1, waiter);
            }
            add_and_wake(countdown, left, waiter);
        }));
    }
    start(setup, 1000);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            link(countdown, n - 1, Box::leak(Box::new(current())));
            over(countdown);
            watch.time(countdown.tally())
        })
    })
}

pub(crate) fn tree(setup: Setup) -> Round {
    fn node(depth: u32) -> JoinHandle<u64> {
        go!(move || {
            if depth == 0 {
                return 1;
            }
            let (left, right) = (node(depth - 1), node(depth - 1));
            join(left) + join(right)
        })
    }
    start(setup, 16_384);
    Box::new(|n| {
        run(move || {
            let watch = Watch::start();
            let leaves = join(node(spawns::depth(n)));
            watch.time(Tally { count: 2 * leaves - 1, sum: leaves })
        })
    })
}

/// may has no way for calls that block: they hold up the worker.
pub(crate) fn pread(setup: Setup) -> Round {
    start(setup, 1000);
    let file = pread::file();
    Box::new(move |n| {
        let file = Arc::clone(&file);
        run(move || {
            let mut block = Box::new([0; pread::BLOCK]);
            let watch = Watch::start();
            let sum = (0..n).map(|i| pread::read(&file, &mut block, i)).sum();
            watch.time_and_cpu(Tally { count: n, sum })
        })
    })
}

pub(crate) fn timers(setup: Setup) -> Round {
    start(setup, 1000);
    Box::new(|n| {
        run(move || {
            let watch = Watch::start();
            let tasks: Vec<_> = timers::times(n)
                .map(|time| {
                    go!(move || {
                        let start = Instant::now();
                        sleep(time);
                        (time, start.elapsed())
                    })
                })
                .collect();
            let slept: Vec<_> = tasks.into_iter().map(join).collect();
            timers::lateness(watch, &slept)
        })
    })
}

pub(crate) fn echo(setup: Setup) -> Round {
    start(setup, 1000);
    Box::new(move |n| run(move || echo_round(setup.width, n / setup.width)))
}

fn echo_round(width: u64, each: u64) -> Sample {
    let no_delay = |stream: TcpStream| {
        stream.set_nodelay(true).expect("no delay");
        stream
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let server = go!(move || {
        for _ in 0..width {
            let mut stream = no_delay(listener.accept().expect("a connection").0);
            drop(go!(move || {
                let mut message = [0; echo::MESSAGE];
                while stream.read_exact(&mut message).is_ok() {
                    stream.write_all(&message).expect("written");
                }
            }));
        }
    });
    let streams: Vec<_> = (0..width).map(|_| no_delay(TcpStream::connect(address).expect("a connection"))).collect();
    join(server);
    let watch = Watch::start();
    let client = |mut stream: TcpStream| {
        go!(move || {
            let mut sum = 0;
            let mut answer = [0; echo::MESSAGE];
            for i in 0..each {
                stream.write_all(&echo::message(i)).expect("written");
                stream.read_exact(&mut answer).expect("an answer");
                sum += echo::number(&answer);
            }
            sum
        })
    };
    let clients: Vec<_> = streams.into_iter().map(client).collect();
    let sum = clients.into_iter().map(join).sum();
    watch.time_and_cpu(Tally { count: width * each, sum })
}

pub(crate) fn memory(setup: Setup) -> Round {
    start(setup, 1000);
    let countdown = Countdown::forever();
    let waiting: &'static AtomicU64 = Box::leak(Box::default());
    Box::new(move |n| {
        run(move || {
            let waiter: &'static Coroutine = Box::leak(Box::new(current()));
            let first = waited(countdown, waiting, waiter, n);
            memory::sample(countdown.tally(), first, waited(countdown, waiting, waiter, n))
        })
    })
}

fn waited(
    countdown: &'static Countdown,
    waiting: &'static AtomicU64,
    waiter: &'static Coroutine,
    n: u64,
) -> memory::Waited {
    countdown.begin(n);
    waiting.store(0, Release);
    let before = memory::Memory::now();
    let gate = Arc::new(SyncFlag::new());
    for i in 0..n {
        let gate = Arc::clone(&gate);
        drop(go!(move || {
            waiting.fetch_add(1, Release);
            gate.wait();
            add_and_wake(countdown, i, waiter);
        }));
    }
    while waiting.load(Acquire) < n {
        // To yield is not enough: as long as its worker has anything to run, it does not look at what was spawned.
        sleep(Duration::from_millis(1));
    }
    let while_waiting = memory::Memory::now();
    gate.fire();
    over(countdown);
    drop(gate);
    sleep(Duration::from_millis(1));
    memory::Waited { before, waiting: while_waiting, after: memory::Memory::now() }
}

pub(crate) fn sparse(setup: Setup) -> Round {
    start(setup, 1000);
    let alone = sparse::Alone::measure();
    Box::new(move |n| {
        run(move || {
            let (send, sent) = mpsc::channel();
            let sender = sparse::Sender::start(n, move |message| send.send(message).expect("it listens"));
            let mut received = sparse::Received::default();
            while let Ok(message) = sent.recv() {
                received.take(message);
            }
            received.sample(sender, alone)
        })
    })
}
