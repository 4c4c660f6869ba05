//! What the system refuses. Each case changes its process, so each is one of its own: this program, called with the
//! case's name.
#![cfg(target_os = "linux")] // elsewhere limits are set in other ways

use crate::cases::Case;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spinpark::net::unix::UnixStream;
use spinpark::net::{TcpListener, TcpStream};
use spinpark::{BuildError, Runtime, Wait, spawn, syscall, time};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

pub(crate) const CASES: &[Case] = &[
    ("every_thread_start_fails_from_the_second_on", every_thread_start_fails),
    ("thread_starts_fail_in_turn", thread_starts_fail_in_turn),
    ("no_descriptor_is_left_for_a_poller", no_descriptor_is_left),
    ("no_descriptor_is_left_for_a_connection", accept_goes_on),
    ("as_many_goroutines_as_threads_sleep", goroutines_sleep),
    ("as_many_goroutines_as_threads_read", goroutines_read),
    #[cfg(feature = "tokio-context")]
    ("no_descriptor_is_left_for_tokio", tokio_is_started_later),
];

/// So much address space may be used, and so much more.
fn allow(more: u64) {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).expect("a size");
    let now: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    let most = Rlimit { current: Some(now * 1024 + more), maximum: None };
    setrlimit(Resource::As, most).expect("a limit that can be set");
}

fn allow_all() {
    setrlimit(Resource::As, Rlimit { current: None, maximum: None }).expect("a limit that can be set");
}

/// Many tasks, some of which block, all of which end.
fn work(runtime: &Runtime, tasks: usize) {
    let ended = Arc::new(AtomicUsize::new(0));
    for n in 0..tasks {
        let ended = Arc::clone(&ended);
        drop(runtime.spawn(async move {
            match n % 3 {
                0 => syscall(|| thread::sleep(Duration::from_micros(100))),
                1 => time::sleep(Duration::from_micros(100)).await,
                _ => spawn(async {}).await.expect("a value"),
            }
            ended.fetch_add(1, SeqCst);
        }));
    }
    while ended.load(SeqCst) < tasks {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Stacks so large that a limit meets them, and nothing else that a thread needs.
const STACK: u64 = 1 << 30;

fn large() -> Runtime {
    Runtime::builder().procs(4).thread_stack_size(STACK as usize).build().expect("a runtime")
}

fn every_thread_start_fails() {
    let runtime = large();
    // Half a stack.
    allow(STACK / 2);
    let refused = thread::Builder::new().stack_size(STACK as usize).spawn(|| ());
    assert!(refused.is_err(), "the limit limits nothing");
    work(&runtime, 300);
    allow_all();
    work(&runtime, 300);
    drop(runtime);
}

fn thread_starts_fail_in_turn() {
    for round in 0..20 {
        let runtime = large();
        // Room for none, one, two … more stacks.
        allow(STACK / 2 + (round % 5) * STACK);
        work(&runtime, 60);
        allow_all();
        work(&runtime, 60);
    }
}

fn no_descriptor_is_left() {
    let now = getrlimit(Resource::Nofile);
    // Standard input, output, and error.
    setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..now }).expect("a limit that can be set");
    let error = Runtime::builder().procs(1).build().expect_err("there is none left");
    assert!(matches!(error, BuildError::Poller(Some(24))), "{error:?}");
    assert!(error.to_string().contains("too many files"), "{error}");
    setrlimit(Resource::Nofile, now).expect("a limit that can be set");
    work(&Runtime::builder().procs(1).build().expect("a runtime"), 30);
}

fn accept_goes_on() {
    let runtime = Runtime::builder().procs(1).build().expect("a runtime");
    let outcome = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let client = TcpStream::connect(listener.local_addr()?).await?;
        let now = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..now })?;
        let refused = listener.accept().await;
        assert_eq!(refused.expect_err("no descriptor").raw_os_error(), Some(24));
        setrlimit(Resource::Nofile, now)?;
        // The connection was not lost.
        let (server, _) = listener.accept().await?;
        server.write_all(b"here").await?;
        let mut buffer = [0; 4];
        client.read_exact(&mut buffer).await?;
        assert_eq!(&buffer, b"here");
        Ok::<_, std::io::Error>(())
    });
    outcome.expect("no deadlock").expect("no error");
}

/// Each sleeps with its thread, so none is left to look when they are due.
fn goroutines_sleep() {
    for procs in [1, 2] {
        let runtime = Runtime::builder().procs(procs).max_threads(8).build().expect("a runtime");
        let sleeps = |n: u64| move || time::sleep(Duration::from_millis(20 + n)).wait();
        let goroutines: Vec<_> = (0..40).map(|n| runtime.go(sleeps(n))).collect();
        goroutines.into_iter().for_each(|one| one.join().expect("no panic"));
    }
}

fn goroutines_read() {
    let runtime = Runtime::builder().procs(2).max_threads(8).build().expect("a runtime");
    let (ends, read): (Vec<_>, Vec<_>) = (0..8)
        .map(|n| {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a pair");
            let reads = move || {
                let mut byte = [0];
                UnixStream::from_std(theirs).expect("a socket").read_exact(&mut byte).wait().expect("read");
                byte[0] == n
            };
            (ours, runtime.go(reads))
        })
        .unzip();
    thread::sleep(Duration::from_millis(50));
    ends.iter().zip(0..).for_each(|(mut end, n)| end.write_all(&[n]).expect("written"));
    read.into_iter().for_each(|one| assert!(one.join().expect("no panic"), "its own byte"));
}

#[cfg(feature = "tokio-context")]
fn tokio_is_started_later() {
    use spinpark::tokio_compat::Compat;
    use std::future::ready;

    let runtime = Runtime::builder().procs(1).build().expect("a runtime");
    let now = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..now }).expect("a limit that can be set");
    let inside = runtime.enter();
    let error = Compat::try_new(ready(())).expect_err("there is none left");
    drop(inside);
    assert_eq!(error.raw_os_error(), Some(24), "{error}");
    setrlimit(Resource::Nofile, now).expect("a limit that can be set");
    let sleeps = async { tokio::time::sleep(Duration::from_millis(1)).await };
    runtime.block_on(Compat::try_new(sleeps).expect("there are enough")).expect("no deadlock");
}
