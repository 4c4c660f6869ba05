//! may: coroutines with stacks of their own. The same work as in `rows/`, by calls that wait.
//!
//! Two of its numbers are not its own: the workers, and the pool of stacks, which holds as many as the row has tasks (its
//! own number is 1000). A stack and the page that guards it are two mappings, and Linux gives a process 65,530 of them,
//! so there are never more than 32,000 coroutines.

pub(crate) mod spawns;

use crate::meters::Watch;
use crate::parts::Countdown;
use crate::row::{Round, Sample, Setup, Tally};
use crate::rows::{busy, echo, idle, memory, pread, sparse, timers};
use may::coroutine::{Coroutine, JoinHandle, current, park, sleep, yield_now};
use may::go;
use may::net::{TcpListener, TcpStream};
use may::sync::{Semphore, SyncFlag, mpsc};
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

/// Adds a number; the last one wakes the task that waits for all.
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
            watch.time_and_cpu(Tally { count: setup.width * each, sum })
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
            let sample = watch.time_and_cpu(Tally { count: n, sum });
            drop(ping);
            join(answers);
            sample
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
    slept(setup, 1000)
}

/// So many sleep at once as there can be.
pub(crate) fn sleeps(setup: Setup) -> Round {
    slept(setup, 30_000)
}

fn slept(setup: Setup, pool: usize) -> Round {
    start(setup, pool);
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

/// may's channel has no bound; a semaphore gives it one.
pub(crate) fn busy(setup: Setup) -> Round {
    start(setup, 1000);
    let work = busy::Work::measure(busy::BETWEEN);
    Box::new(move |n| {
        let alone = work.alone(n);
        run(move || {
            let (send, sent) = mpsc::channel();
            let room = Arc::new(Semphore::new(1));
            let taken = Arc::clone(&room);
            let start = sparse::Start::now();
            drop(go!(move || {
                for i in 0..n {
                    work.compute();
                    room.wait();
                    send.send((i, Instant::now())).expect("it listens");
                }
            }));
            let mut received = sparse::Received::default();
            while let Ok(message) = sent.recv() {
                taken.post();
                received.take(message);
            }
            received.since(start, alone)
        })
    })
}

pub(crate) fn wake(setup: Setup) -> Round {
    start(setup, 1000);
    Box::new(|n| idle::call(n, |call| drop(go!(move || call.arrives()))))
}

pub(crate) fn rest(setup: Setup) -> Round {
    start(setup, 1000);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        let tally = run(move || {
            countdown.begin(n);
            let waiter: &'static Coroutine = Box::leak(Box::new(current()));
            for i in 0..n {
                drop(go!(move || {
                    sleep(idle::BLINK);
                    add_and_wake(countdown, i, waiter);
                }));
            }
            over(countdown);
            countdown.tally()
        });
        idle::used_at_rest(tally)
    })
}
