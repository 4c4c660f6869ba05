//! A little of everything, as a picture: `cargo run --release --example trace [FILE]`, to be looked at in
//! <https://ui.perfetto.dev>.
//!
//! Tasks that are stolen, two goroutines that play ping-pong, timers, system calls whose P is handed on, a CPU-bound task
//! that loses its P, and a stopped world.

use spinpark::{Runtime, Wait, blocking, go, spawn, syscall, time, yield_now};
use std::error::Error;
use std::future::poll_fn;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "trace.json".into());
    let runtime = Runtime::builder().procs(2).trace(&file).build()?;
    runtime.block_on(async {
        let all = [spawn(crowd()), spawn(timers()), go(calls), spawn(ping_pong())];
        for one in all {
            one.await.expect("it does not panic");
        }
        go(hog).await.expect("it does not panic");
    })?;
    runtime.stop_the_world(|| busy(Duration::from_micros(200)))?;
    runtime.spawn(crowd()).join()?;
    let metrics = runtime.metrics();
    drop(runtime);
    let stolen: u64 = metrics.per_p.iter().map(|p| p.tasks_stolen).sum();
    println!("{file}: open it in https://ui.perfetto.dev; a track for each P and each M. What is to be found there:");
    println!("  {} dispatches, of which {stolen} of tasks stolen from another P: arrows", metrics.dispatches());
    println!("  {} Ps taken out of a system call that lasted: the P goes on under another M", metrics.retakes);
    println!("  {} tasks that ignored preemption for a slice: they run on without a P", metrics.interrupts);
    println!("  {} threads; {} stop of the world: a line over everything", metrics.threads, metrics.stops);
    Ok(())
}

fn busy(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        black_box(start);
    }
}

/// Many tasks, made under one P: others steal them.
async fn crowd() {
    let tasks: Vec<_> = (0..12).map(|_| spawn(async { busy(Duration::from_micros(80)) })).collect();
    for task in tasks {
        task.await.expect("it does not panic");
    }
}

async fn timers() {
    for _ in 0..4 {
        time::sleep(Duration::from_millis(1)).await;
        busy(Duration::from_micros(50));
        yield_now().await;
    }
}

/// One that returns soon, one that does not, and one that is known not to.
fn calls() {
    syscall(|| busy(Duration::from_micros(5)));
    syscall(|| std::thread::sleep(Duration::from_millis(1)));
    blocking(|| std::thread::sleep(Duration::from_millis(1)));
}

/// Two goroutines; each waits until the other has thrown the ball.
async fn ping_pong() {
    let ball = Arc::new(Ball::default());
    let player = |me: u64| {
        let ball = Arc::clone(&ball);
        move || {
            for turn in (me..20).step_by(2) {
                poll_fn(|cx| ball.poll_turn(turn, cx)).wait();
                busy(Duration::from_micros(20));
                ball.throw();
            }
        }
    };
    for player in [go(player(0)), go(player(1))] {
        player.await.expect("it does not panic");
    }
}

/// How often it was thrown, and the waiter for it.
#[derive(Default)]
struct Ball(Mutex<(u64, Option<Waker>)>);

impl Ball {
    fn poll_turn(&self, turn: u64, cx: &Context<'_>) -> Poll<()> {
        let mut ball = self.0.lock().expect("no panic under it");
        if ball.0 == turn {
            return Poll::Ready(());
        }
        ball.1 = Some(cx.waker().clone());
        Poll::Pending
    }

    fn throw(&self) {
        let mut ball = self.0.lock().expect("no panic under it");
        ball.0 += 1;
        ball.1.take().into_iter().for_each(Waker::wake);
    }
}

/// Two that do not yield until they are over, and some that want a turn meanwhile.
fn hog() {
    let other = go(|| busy(Duration::from_millis(25)));
    let small: Vec<_> = (0..4).map(|_| go(|| busy(Duration::from_millis(1)))).collect();
    busy(Duration::from_millis(25));
    for one in small.into_iter().chain([other]) {
        one.wait().expect("it does not panic");
    }
}
