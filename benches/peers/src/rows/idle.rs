//! A runtime that has nothing to do: what it uses, and how soon it starts what comes from outside.

use crate::meters::{Late, process_cpu, thread_cpu};
use crate::parts::Countdown;
use crate::row::{Round, Sample, Setup, Tally};
use crate::tasks::Tasks;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// So long nothing runs before a task is spawned.
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) fn wake<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(|n| call(n, |call| T::inject(async move { call.arrives() })))
}

/// Spawned by a thread outside, into a runtime at rest.
pub(crate) struct Call {
    number: u64,
    answer: Sender<(u64, Duration)>,
    made: Instant,
}

impl Call {
    /// The task's first act.
    pub(crate) fn arrives(self) {
        let late = self.made.elapsed();
        self.answer.send((self.number, late)).expect("it listens");
    }
}

pub(crate) fn call(n: u64, spawn: impl Fn(Call)) -> Sample {
    let (answer, answers) = channel();
    let mut sum = 0;
    let mut late = Late::default();
    for number in 0..n {
        thread::sleep(PAUSE);
        let answer = answer.clone();
        spawn(Call { number, answer, made: Instant::now() });
        let (number, time) = answers.recv().expect("an answer");
        sum += number;
        late.take(time);
    }
    late.sample(sum)
}

/// `n` tasks, and as many milliseconds of rest.
pub(crate) fn rest<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        let tally = T::run(async move {
            countdown.begin(n);
            for i in 0..n {
                T::detach(async move {
                    T::sleep(BLINK).await;
                    countdown.add_and_wake(i);
                });
            }
            countdown.over().await;
            countdown.tally()
        });
        used_at_rest(tally)
    })
}

/// How long each task sleeps, so that the runtime has timers too.
pub(crate) const BLINK: Duration = Duration::from_millis(1);
/// What has just ended may be put away first.
const SETTLE: Duration = Duration::from_millis(100);

/// Microseconds of processor time a second, without those of this thread, which is none of the runtime's.
pub(crate) fn used_at_rest(tally: Tally) -> Sample {
    let others = || process_cpu() as f64 - thread_cpu() as f64;
    thread::sleep(SETTLE);
    let (start, used) = (Instant::now(), others());
    thread::sleep(Duration::from_millis(tally.count));
    let used = (others() - used) / 1e3;
    // The two clocks are not read at once: what is less than a microsecond is nothing.
    Sample { tally, figures: vec![(used / start.elapsed().as_secs_f64()).round().max(0.0)] }
}
