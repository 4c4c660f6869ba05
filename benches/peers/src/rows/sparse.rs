//! Little to do: what it costs to wake up, and to go back to sleep.

use crate::meters::{Late, process_cpu, process_switches, thread_cpu, thread_switches};
use crate::row::{Round, Sample, Setup, Tally, sum_below};
use crate::tasks::Tasks;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(2);

pub(crate) fn tally(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: sum_below(n) }
}

/// What is sent.
pub(crate) type Message = (u64, Instant);

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let alone = Alone::measure();
    Box::new(move |n| {
        T::run(async move {
            let (send, sent) = async_channel::unbounded();
            let sender = Sender::start(n, move |message| send.try_send(message).expect("it listens"));
            let mut received = Received::default();
            while let Ok(message) = sent.recv().await {
                received.take(message);
            }
            received.sample(sender, alone)
        })
    })
}

/// What the thread outside uses for a message that wakes no task: its own sleep. What wakes the receiver is not in it, and
/// so is the runtime's.
#[derive(Clone, Copy)]
pub(crate) struct Alone {
    pub(crate) cpu: f64,
    pub(crate) switches: f64,
}

impl Alone {
    pub(crate) fn measure() -> Alone {
        const MESSAGES: u64 = 200;
        let (send, sent) = async_channel::unbounded();
        let alone = thread::spawn(move || {
            every_pause(MESSAGES, |message| send.try_send(message).expect("it is open"));
            (thread_cpu(), thread_switches())
        });
        let (cpu, switches) = alone.join().expect("no panic");
        assert_eq!(sent.len() as u64, MESSAGES);
        Alone { cpu: cpu as f64 / MESSAGES as f64, switches: switches as f64 / MESSAGES as f64 }
    }
}

fn every_pause(n: u64, send: impl Fn(Message)) {
    for i in 0..n {
        thread::sleep(PAUSE);
        send((i, Instant::now()));
    }
}

/// The thread outside.
pub(crate) struct Sender {
    thread: JoinHandle<()>,
    start: Start,
}

impl Sender {
    pub(crate) fn start(n: u64, send: impl Fn(Message) + Send + 'static) -> Sender {
        let start = Start::now();
        Sender { thread: thread::spawn(move || every_pause(n, send)), start }
    }
}

/// What the process had used before the first message.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    cpu: u64,
    switches: u64,
}

impl Start {
    pub(crate) fn now() -> Start {
        Start { cpu: process_cpu(), switches: process_switches() }
    }
}

/// What came, and how late.
#[derive(Default)]
pub(crate) struct Received {
    sum: u64,
    late: Late,
}

impl Received {
    pub(crate) fn take(&mut self, (number, sent): Message) {
        self.late.take(sent.elapsed());
        self.sum += number;
    }

    pub(crate) fn sample(self, sender: Sender, alone: Alone) -> Sample {
        let sample = self.since(sender.start, alone);
        sender.thread.join().expect("no panic");
        sample
    }

    pub(crate) fn since(self, start: Start, alone: Alone) -> Sample {
        let (cpu, switches) = (process_cpu() - start.cpu, process_switches() - start.switches);
        let count = self.late.count() as f64;
        let mut figures = vec![cpu as f64 / count - alone.cpu, switches as f64 / count - alone.switches];
        figures.extend(self.late.figures());
        Sample { tally: Tally { count: self.late.count(), sum: self.sum }, figures }
    }
}
