//! Programs that go on: each way to wait, woken by each kind of waker. No deadlock is told; and in the end, when there is one, it is.

use rustix::process::{Signal as Which, getpid, kill_process};
use spinpark::chan::{Sender, bounded};
use spinpark::net::unix::UnixStream;
use spinpark::signal::unix::{SignalKind, signal};
use spinpark::{Handle, JoinHandle, Runtime, Wait, blocking, lock_thread, spawn, syscall, time, yield_now};
use std::future::{Future, pending};
use std::io::Write;
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::thread;
use std::time::{Duration, Instant};

/// What is waited for; it is made where it is waited for.
type Event = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;
/// What comes of it: what a deadlock is called that was told, though there was none.
type Told = Result<(), String>;
/// Waits for the end of what waits.
type End = Box<dyn FnOnce() -> Told>;
/// Starts what waits for the event, and then gives an answer.
type Way = fn(&Runtime, Event, Sender<()>) -> End;
/// An event, and what brings it about.
type Waker = fn(&Runtime) -> (Event, Box<dyn FnOnce()>);

pub(crate) const WAYS: &[(&str, Way)] = &[
    ("a_thread_in_block_on", |runtime, event, answer| {
        let handle = runtime.handle();
        on_thread(move || answered(answer, told(handle.block_on(event()))))
    }),
    ("a_thread_in_wait", |runtime, event, answer| {
        let handle = runtime.handle();
        on_thread(move || {
            let _entered = handle.enter();
            event().wait();
            answered(answer, Ok(()))
        })
    }),
    ("a_thread_in_join", |runtime, event, answer| {
        let task = runtime.spawn(async move { event().await });
        on_thread(move || answered(answer, told(task.join())))
    }),
    ("a_task", |runtime, event, answer| {
        joined(runtime.spawn(async move {
            event().await;
            answered(answer, Ok(()))
        }))
    }),
    ("a_task_in_block_on", |runtime, event, answer| {
        joined(runtime.spawn(async move { answered(answer, told(Handle::current().block_on(event()))) }))
    }),
    ("a_goroutine", |runtime, event, answer| {
        joined(runtime.go(move || {
            event().wait();
            answered(answer, Ok(()))
        }))
    }),
    ("a_goroutine_in_block_on", |runtime, event, answer| {
        joined(runtime.go(move || answered(answer, told(Handle::current().block_on(event())))))
    }),
    ("a_goroutine_in_join", |runtime, event, answer| {
        joined(runtime.go(move || answered(answer, told(spawn(async move { event().await }).join()))))
    }),
    ("a_goroutine_in_blocking", |runtime, event, answer| {
        joined(runtime.go(move || {
            blocking(|| event().wait());
            answered(answer, Ok(()))
        }))
    }),
    ("a_goroutine_in_blocking_in_block_on", |runtime, event, answer| {
        let handle = runtime.handle();
        joined(runtime.go(move || answered(answer, told(blocking(|| handle.block_on(event()))))))
    }),
    ("a_goroutine_in_syscall", |runtime, event, answer| {
        joined(runtime.go(move || {
            syscall(|| event().wait());
            answered(answer, Ok(()))
        }))
    }),
    ("a_goroutine_in_syscall_in_block_on", |runtime, event, answer| {
        let handle = runtime.handle();
        joined(runtime.go(move || answered(answer, told(syscall(|| handle.block_on(event()))))))
    }),
    ("a_goroutine_that_is_bound_to_its_thread", |runtime, event, answer| {
        joined(runtime.go(move || {
            let _bound = lock_thread();
            event().wait();
            answered(answer, Ok(()))
        }))
    }),
];

pub(crate) const WAKERS: &[(&str, Waker)] = &[
    ("a_task", |runtime| {
        let (send, receive) = bounded(1);
        let handle = runtime.handle();
        let fire = move || {
            drop(handle.spawn(async move {
                yield_now().await;
                send.send(()).await
            }));
        };
        (Box::new(|| Box::pin(async move { receive.recv().await.expect("it is sent") })), Box::new(fire))
    }),
    ("the_main_thread", |_| {
        let (send, receive) = bounded(1);
        let fire = move || send.try_send(()).expect("there is room");
        (Box::new(|| Box::pin(async move { receive.recv().await.expect("it is sent") })), Box::new(fire))
    }),
    ("a_thread_that_ends", |_| {
        let (send, receive) = bounded(1);
        let fire = move || drop(thread::spawn(move || send.try_send(()).expect("there is room")));
        (Box::new(|| Box::pin(async move { receive.recv().await.expect("it is sent") })), Box::new(fire))
    }),
    ("a_timer", |_| {
        let time = Duration::from_micros(random_below(300));
        (Box::new(move || Box::pin(time::sleep(time))), Box::new(|| ()))
    }),
    ("a_socket", |_| {
        let (mut ours, theirs) = StdStream::pair().expect("a pair");
        theirs.set_nonblocking(true).expect("it may");
        let event = async move {
            let theirs = UnixStream::from_std(theirs).expect("inside of a runtime");
            theirs.read(&mut [0]).await.expect("it is written");
        };
        (Box::new(|| Box::pin(event)), Box::new(move || ours.write_all(&[1]).expect("there is room")))
    }),
    ("a_signal", |runtime| {
        let _entered = runtime.enter();
        let mut listener = signal(SignalKind::user_defined1()).expect("inside of a runtime");
        let event = async move { listener.recv().await.expect("it is sent") };
        (Box::new(|| Box::pin(event)), Box::new(|| kill_process(getpid(), Which::USR1).expect("this process")))
    }),
];

/// Plays so many rounds of one of each, and then waits for what never comes.
pub(crate) fn play(way: &str, waker: &str, procs: usize, is_stackful: bool, rounds: usize) -> Told {
    let (way, waker) = (find(WAYS, way), find(WAKERS, waker));
    let mut left = rounds;
    while left > 0 {
        let runtime = super::built(procs, is_stackful);
        for round in 0..left.min(100) {
            let (answer, is_answered) = bounded(1);
            let (event, fire) = waker(&runtime);
            let end = way(&runtime, event, answer);
            spin_for(Duration::from_micros(random_below(60)));
            fire();
            if round % 3 > 0 {
                let answer = told(runtime.block_on(is_answered.recv()));
                answer.map_err(|text| format!("block_on: {text}"))?;
            }
            end()?;
        }
        left -= left.min(100);
    }
    let since = Instant::now();
    let Err(deadlock) = super::built(procs, is_stackful).block_on(pending::<std::convert::Infallible>());
    match since.elapsed() {
        late if late > Duration::from_secs(5) => Err(format!("told after {late:?}: {deadlock}")),
        _ => Ok(()),
    }
}

fn find<T: Copy>(list: &[(&str, T)], name: &str) -> T {
    let (_, found) = list.iter().find(|(other, _)| *other == name).expect("one of that name");
    *found
}

fn told<T, E: std::fmt::Display>(outcome: Result<T, E>) -> Told {
    outcome.map(drop).map_err(|error| error.to_string())
}

fn answered(answer: Sender<()>, told: Told) -> Told {
    // No task waits for it, in each third round.
    let _ = answer.try_send(());
    told
}

fn on_thread(body: impl FnOnce() -> Told + Send + 'static) -> End {
    let thread = thread::spawn(body);
    Box::new(|| thread.join().expect("no panic"))
}

/// Joined from outside.
fn joined(task: JoinHandle<Told>) -> End {
    Box::new(|| match task.join() {
        Ok(told) => told.map_err(|text| format!("inside: {text}")),
        Err(error) => Err(format!("join from outside: {error}")),
    })
}

fn spin_for(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// From the clock: what differs from round to round is all that is wanted.
fn random_below(n: u64) -> u64 {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").subsec_nanos();
    (u64::from(nanos).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % n
}
