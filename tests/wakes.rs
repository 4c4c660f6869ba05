//! What is woken when an idle runtime gets something to do: one thread, not two. Alone in its process, so that nothing
//! else keeps its threads busy.

use crate::cases::Case;
use spinpark::net::UdpSocket;
use spinpark::{Runtime, spawn, time, yield_now};
use std::thread;
use std::time::Duration;

pub(crate) const CASES: &[Case] = &[
    ("a_task_from_outside_wakes_one", a_task_from_outside_wakes_one),
    ("a_datagram_and_a_timer_wake_only_who_waits_for_them", a_datagram_and_a_timer_wake_only_who_waits_for_them),
    ("a_task_that_spawns_another_wakes_one_more_for_it", a_task_that_spawns_another_wakes_one_more_for_it),
    #[cfg(target_os = "linux")]
    ("what_wakes_a_task_does_not_wake_who_waits_in_block_on", what_wakes_a_task_does_not_wake_who_waits_in_block_on),
];

/// A runtime whose threads all sleep, or wait in the poller. Each has been there before: none has to be started.
fn idle() -> Runtime {
    let runtime = Runtime::builder().procs(4).build().expect("a runtime");
    for _ in 0..3 {
        let tasks: Vec<_> = (0..8).map(|_| runtime.go(|| thread::sleep(Duration::from_millis(2)))).collect();
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
    }
    quiet(&runtime);
    runtime
}

fn quiet(runtime: &Runtime) {
    while !runtime.snapshot().is_quiescent() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// How many sleeping threads were woken by what `happens`, `times` times. A machine that is busy adds some; so the least of
/// several rounds.
fn wakes(runtime: &Runtime, times: u64, mut happens: impl FnMut()) -> u64 {
    (0..6).map(|_| wakes_in_a_round(runtime, times, &mut happens)).min().unwrap_or(u64::MAX)
}

fn wakes_in_a_round(runtime: &Runtime, times: u64, mut happens: impl FnMut()) -> u64 {
    let before = runtime.metrics();
    for _ in 0..times {
        happens();
        quiet(runtime);
    }
    let after = runtime.metrics();
    assert_eq!(after.threads_started, before.threads_started, "a thread was started, though others slept");
    after.wakes - before.wakes
}

fn a_task_from_outside_wakes_one() {
    let runtime = idle();
    let wakes = wakes(&runtime, 100, || runtime.spawn(async {}).join().expect("a value"));
    assert!((100..110).contains(&wakes), "100 tasks woke {wakes} threads");
}

fn a_datagram_and_a_timer_wake_only_who_waits_for_them() {
    let runtime = idle();
    let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0")).expect("no deadlock").expect("a socket");
    let address = socket.local_addr().expect("an address");
    let (came, comes) = std::sync::mpsc::channel();
    let reader = runtime.spawn(async move {
        let mut buffer = [0; 8];
        while socket.recv(&mut buffer).await.expect("received") > 0 {
            time::sleep(Duration::from_millis(1)).await;
            yield_now().await;
            came.send(()).expect("the test waits");
        }
    });
    quiet(&runtime);
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let wakes = wakes(&runtime, 100, || {
        sender.send_to(b"x", address).expect("sent");
        comes.recv().expect("it came");
    });
    // Each comes back from the poller by itself, twice a round; no task is woken beside it.
    assert!(wakes < 10, "100 datagrams and 100 timers woke {wakes} more threads");
    sender.send_to(b"", address).expect("sent");
    reader.join().expect("a value");
}

fn a_task_that_spawns_another_wakes_one_more_for_it() {
    let runtime = idle();
    let root = || async {
        let child = spawn(async { thread::sleep(Duration::from_micros(300)) });
        // Longer than the child, or that would wake us, and one more thread to look for what else there is.
        thread::sleep(Duration::from_millis(3));
        child.await.expect("a value");
    };
    let wakes = wakes(&runtime, 50, || runtime.spawn(root()).join().expect("a value"));
    assert!((50..=110).contains(&wakes), "50 tasks and their children woke {wakes} threads");
}

/// How often this thread has slept.
#[cfg(target_os = "linux")]
fn slept() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("Linux");
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).expect("a count");
    count.trim().parse().expect("a number")
}

/// It was woken each time that the last M fell asleep, to look for a deadlock, and read a directory for that.
#[cfg(target_os = "linux")]
fn what_wakes_a_task_does_not_wake_who_waits_in_block_on() {
    const MESSAGES: u64 = 60;
    let runtime = idle();
    let (to_task, messages) = spinpark::chan::bounded(MESSAGES as usize);
    let task = runtime.spawn(async move {
        let mut received = 0;
        while messages.recv().await.is_ok() {
            received += 1;
        }
        received
    });
    let sender = thread::spawn(move || {
        for _ in 0..MESSAGES {
            thread::sleep(Duration::from_millis(2));
            to_task.try_send(()).expect("there is room for all");
        }
    });
    let before = slept();
    assert_eq!(runtime.block_on(task).expect("no deadlock").expect("a value"), MESSAGES);
    let times = slept() - before;
    assert!(times < MESSAGES / 2, "{MESSAGES} messages to a task woke the thread in block_on {times} times");
    sender.join().expect("all are sent");
}
