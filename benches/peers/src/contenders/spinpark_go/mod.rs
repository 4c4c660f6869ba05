//! spinpark's goroutines: closures with stacks of their own. The same work as in `rows/`, and as may's coroutines do it, by
//! calls that wait.

pub(crate) mod spawns;
pub(crate) mod tails;

use crate::contenders::spinpark::Spinpark;
use crate::meters::Watch;
use crate::parts::{Countdown, Gate, Pass};
use crate::row::{Round, Sample, Setup, Tally};
use crate::rows::{busy, echo, idle, memory, sparse, timers};
use crate::tasks::{Sockets, Tasks};
use spinpark::time::sleep;
use spinpark::{JoinHandle, Wait, chan, go, yield_now};
use std::hint::black_box;
use std::time::Instant;

/// Runs `f` as a goroutine, and waits for it on this thread.
fn run<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    Spinpark::runtime().go(f).join().expect("no panic")
}

fn join<T>(goroutine: JoinHandle<T>) -> T {
    goroutine.wait().expect("no panic")
}

pub(crate) fn yields(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    Box::new(move |n| {
        run(move || {
            let each = n / setup.width;
            let watch = Watch::start();
            let tasks: Vec<_> = (0..setup.width)
                .map(|_| {
                    go(move || {
                        let mut sum = 0;
                        for i in 0..each {
                            yield_now().wait();
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

/// By spinpark's own channel, with room for one.
pub(crate) fn pingpong(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    Box::new(|n| {
        run(move || {
            let (ping, pinged) = chan::bounded(1);
            let (pong, ponged) = chan::bounded(1);
            let answers = go(move || {
                while let Ok(i) = pinged.recv().wait() {
                    pong.send(i + 1).wait().expect("it listens");
                }
            });
            let watch = Watch::start();
            let mut sum: u64 = 0;
            for i in 0..n {
                ping.send(i).wait().expect("it listens");
                sum += ponged.recv().wait().expect("it answers");
            }
            let sample = watch.time_and_cpu(Tally { count: n, sum });
            drop(ping);
            join(answers);
            sample
        })
    })
}

pub(crate) fn timers(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    Box::new(|n| {
        run(move || {
            let watch = Watch::start();
            let tasks: Vec<_> = timers::times(n)
                .map(|time| {
                    go(move || {
                        let start = Instant::now();
                        sleep(time).wait();
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
    Spinpark::start(setup.workers);
    Box::new(move |n| run(move || echo_round(setup.width, n / setup.width)))
}

/// So many connections to goroutines that send back what they read.
fn connect(width: u64) -> Vec<<Spinpark as Sockets>::Stream> {
    let (listener, address) = wait(Spinpark::listen());
    let server = go(move || {
        for _ in 0..width {
            let mut stream = wait(Spinpark::accept(&listener));
            drop(go(move || {
                let mut message = [0; echo::MESSAGE];
                while wait(Spinpark::read(&mut stream, &mut message)) {
                    wait(Spinpark::write(&mut stream, &message));
                }
            }));
        }
    });
    let streams: Vec<_> = (0..width).map(|_| wait(Spinpark::connect(address))).collect();
    join(server);
    streams
}

fn echo_round(width: u64, each: u64) -> Sample {
    let streams = connect(width);
    let watch = Watch::start();
    let client = |mut stream| {
        go(move || {
            let mut sum = 0;
            let mut answer = [0; echo::MESSAGE];
            for i in 0..each {
                wait(Spinpark::write(&mut stream, &echo::message(i)));
                assert!(wait(Spinpark::read(&mut stream, &mut answer)), "the server has closed");
                sum += echo::number(&answer);
            }
            sum
        })
    };
    let clients: Vec<_> = streams.into_iter().map(client).collect();
    let sum = clients.into_iter().map(join).sum();
    watch.time_and_cpu(Tally { count: width * each, sum })
}

fn wait<F: Future>(future: F) -> F::Output {
    future.wait()
}

pub(crate) fn memory(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let countdown = Countdown::forever();
    // More than any round asks for, so that the list of wakers never grows.
    let gate = Gate::forever(1 << 17);
    Box::new(move |n| {
        run(move || {
            let first = waited(countdown, gate, n);
            memory::sample(countdown.tally(), first, waited(countdown, gate, n))
        })
    })
}

/// `n` goroutines come, wait, and go.
fn waited(countdown: &'static Countdown, gate: &'static Gate, n: u64) -> memory::Waited {
    countdown.begin(n);
    let before = memory::Memory::now();
    for i in 0..n {
        drop(go(move || {
            Pass(gate).wait();
            countdown.add_and_wake(i);
        }));
    }
    while gate.waiting() < n {
        yield_now().wait();
    }
    let waiting = memory::Memory::now();
    gate.open();
    countdown.over().wait();
    // The last one has counted down, and is freed when it returns.
    for _ in 0..10 {
        yield_now().wait();
    }
    gate.close();
    memory::Waited { before, waiting, after: memory::Memory::now() }
}

pub(crate) fn sparse(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let alone = sparse::Alone::measure();
    Box::new(move |n| {
        run(move || {
            let (send, sent) = chan::unbounded();
            let sender = sparse::Sender::start(n, move |message| send.try_send(message).expect("it listens"));
            let mut received = sparse::Received::default();
            while let Ok(message) = sent.recv().wait() {
                received.take(message);
            }
            received.sample(sender, alone)
        })
    })
}

pub(crate) fn busy(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let work = busy::Work::measure(busy::BETWEEN);
    Box::new(move |n| {
        let alone = work.alone(n);
        run(move || {
            let (send, sent) = chan::bounded(1);
            let start = sparse::Start::now();
            drop(go(move || {
                for i in 0..n {
                    work.compute();
                    send.send((i, Instant::now())).wait().expect("it listens");
                }
            }));
            let mut received = sparse::Received::default();
            while let Ok(message) = sent.recv().wait() {
                received.take(message);
            }
            received.since(start, alone)
        })
    })
}

pub(crate) fn wake(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    Box::new(|n| idle::call(n, |call| drop(Spinpark::runtime().go(move || call.arrives()))))
}

pub(crate) fn rest(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        let tally = run(move || {
            countdown.begin(n);
            for i in 0..n {
                drop(go(move || {
                    sleep(idle::BLINK).wait();
                    countdown.add_and_wake(i);
                }));
            }
            countdown.over().wait();
            countdown.tally()
        });
        idle::used_at_rest(tally)
    })
}
