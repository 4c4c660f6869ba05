//! `Builder::console`: what it shows, asked by hand and seen in a browser; and that without it there is nothing.

#![cfg(target_os = "linux")]

use crate::programs::browser::Browser;
use crate::programs::{LONG, until};
use serde_json::Value;
use spinpark::sync::Semaphore;
use spinpark::{Builder, Runtime, spawn, time};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

const LOOPBACK: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

fn builder() -> Builder {
    Runtime::builder().procs(2).console(LOOPBACK)
}

fn address(runtime: &Runtime) -> SocketAddr {
    runtime.console_addr().expect("it was asked for")
}

fn ask(at: SocketAddr, request: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(at).expect("connected");
    stream.set_read_timeout(Some(LONG)).expect("set");
    stream.write_all(request.replace("HOST", &at.to_string()).as_bytes()).expect("written");
    BufReader::new(stream)
}

fn status(at: SocketAddr, request: &str) -> String {
    let mut line = String::new();
    ask(at, request).read_line(&mut line).expect("an answer");
    line.split(' ').nth(1).expect("a status").to_owned()
}

/// The events, one after the other.
struct Events(BufReader<TcpStream>);

impl Events {
    fn of(at: SocketAddr) -> Events {
        Events(ask(at, "GET /events HTTP/1.1\r\nhost: HOST\r\n\r\n"))
    }

    fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("an event") > 0, "they have ended");
            if let Some(json) = line.strip_prefix("data: ") {
                return serde_json::from_str(json).expect("JSON");
            }
        }
    }

    /// The next for which this is so.
    fn until(&mut self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let from = Instant::now();
        loop {
            let event = self.next();
            if is_so(&event) {
                return event;
            }
            assert!(from.elapsed() < LONG, "not {what}: {event}");
        }
    }
}

/// The first of a list that was spawned in this file, in this line.
fn at_line(list: &Value, line: u32) -> Option<&Value> {
    let place = format!("{}:{line}:", file!());
    list.as_array().expect("a list").iter().find(|item| item["at"].as_str().expect("a place").starts_with(&place))
}

mod what_it_shows {
    use super::*;

    #[test]
    fn is_what_the_metrics_say() {
        // A task that is asked to yield is polled once more.
        let runtime = builder().time_slice(Duration::from_secs(3600)).build().expect("a runtime");
        let gate = Arc::new(Semaphore::new(0));
        let mut line = 0;
        for _ in 0..30 {
            let gate = gate.clone();
            line = line!() + 1;
            drop(runtime.spawn(async move { drop(gate.acquire().await) }));
        }
        drop(runtime.spawn(time::sleep(Duration::from_secs(1000))));
        let mut events = Events::of(address(&runtime));
        let shown = events.until("at rest", |event| {
            event["waiting"] == 31 && event["running"] == 0 && event["idle_procs"] == 2 && event["threads_polling"] == 1
        });
        let metrics = runtime.metrics();
        for (name, expected) in [
            ("procs", metrics.procs),
            ("idle_procs", metrics.idle_procs),
            ("threads", metrics.threads),
            ("threads_polling", metrics.threads_polling),
            ("timers", metrics.timers),
            ("waiting", metrics.tasks_waiting),
            ("runnable", metrics.tasks_queued()),
            ("global_queue", metrics.global_queue),
        ] {
            assert_eq!(shown[name], expected, "{name}: {metrics:?}");
        }
        assert_eq!(shown["queues"].as_array().map(Vec::len), Some(2));
        let dispatches: Vec<u64> = serde_json::from_value(shown["dispatches"].clone()).expect("numbers");
        assert_eq!(dispatches.iter().sum::<u64>(), metrics.dispatches());
        assert_eq!(shown["ms"].as_array().map(Vec::len), Some(metrics.threads));
        let place = at_line(&shown["places"], line).expect("where they were spawned");
        assert_eq!((&place["alive"], &place["waiting"], &place["spawned"]), (&30.into(), &30.into(), &30.into()));
        assert_eq!((&place["polls"], &place["why"]), (&30.into(), &"semacquire".into()));
        // Each is woken once more, and is gone.
        gate.add_permits(30);
        let shown = events.until("ended", |event| event["waiting"] == 1 && event["running"] == 0);
        let place = at_line(&shown["places"], line).expect("where they were spawned");
        assert_eq!((&place["alive"], &place["spawned"], &place["polls"]), (&0.into(), &30.into(), &60.into()));
        assert_eq!(shown["wakes"], 30);
    }

    #[test]
    fn names_a_task_that_runs_without_a_pause() {
        let runtime = builder().build().expect("a runtime");
        let ends = Arc::new(AtomicBool::new(false));
        let is_over = ends.clone();
        let line = line!() + 1;
        let task = runtime.go(move || {
            while !is_over.load(Relaxed) {
                std::hint::spin_loop();
            }
        });
        let mut events = Events::of(address(&runtime));
        let shown = events.until("named", |event| at_line(&event["busy"], line).is_some());
        assert!(at_line(&shown["busy"], line).expect("it")["for"].as_u64() >= Some(100_000), "{shown}");
        ends.store(true, Relaxed);
        task.join().expect("no panic");
        let shown = events.until("over", |event| at_line(&event["busy"], line).is_none());
        let place = at_line(&shown["places"], line).expect("where it was spawned");
        assert!(place["longest"].as_u64() >= Some(100_000), "{place}");
    }

    #[test]
    fn names_tasks_that_wait_for_each_other_when_nothing_else_can_happen() {
        let runtime = builder().build().expect("a runtime");
        let [one, other] = [(); 2].map(|()| Arc::new(Semaphore::new(1)));
        let both = Arc::new(Semaphore::new(0));
        let mut lines = vec![];
        for (first, second) in [(one.clone(), other.clone()), (other, one)] {
            let both = both.clone();
            lines.push(line!() + 1);
            drop(runtime.spawn(async move {
                let _first = first.acquire().await;
                drop(both.acquire().await);
                drop(second.acquire().await);
            }));
        }
        let mut events = Events::of(address(&runtime));
        events.until("both at the gate", |event| event["waiting"] == 2 && event["is_quiet"] == true);
        both.add_permits(2);
        let shown = events.until("deadlocked", |event| event["wakes"] == 2 && event["is_quiet"] == true);
        let suspect = at_line(&shown["suspects"], lines[0]).expect("where they were spawned");
        assert_eq!((&suspect["count"], &suspect["why"]), (&2.into(), &"semacquire".into()));
        // With a timer something can happen: it is too soon to suspect them.
        drop(runtime.spawn(time::sleep(Duration::from_secs(1000))));
        let shown = events.until("a timer", |event| event["timers"] == 1 && event["is_quiet"] == false);
        assert!(at_line(&shown["suspects"], lines[0]).is_none(), "{shown}");
    }

    #[test]
    fn is_there_though_all_ps_are_taken_by_others() {
        let runtime = builder().preemption(false).build().expect("a runtime");
        let (begun, ends) = (Arc::new(Barrier::new(3)), Arc::new(AtomicBool::new(false)));
        for _ in 0..2 {
            let (begun, ends) = (begun.clone(), ends.clone());
            drop(runtime.go(move || {
                begun.wait();
                while !ends.load(Relaxed) {
                    std::hint::spin_loop();
                }
            }));
        }
        begun.wait();
        let shown = Events::of(address(&runtime)).next();
        assert_eq!((&shown["running"], &shown["idle_procs"]), (&2.into(), &0.into()));
        ends.store(true, Relaxed);
    }

    #[test]
    fn knows_tasks_in_system_calls_and_that_wait_with_their_thread() {
        let runtime = builder().build().expect("a runtime");
        let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
        let task = runtime.go(move || spinpark::syscall(|| reader.read(&mut [0])));
        let waits = runtime.go(move || task.join().expect("no panic").expect("read"));
        let mut events = Events::of(address(&runtime));
        let does = |event: &Value, what: &str| event["ms"].as_array().expect("Ms").iter().any(|m| m["does"] == what);
        events.until("both", |event| {
            event["in_syscall"] == 1
                && event["waiting"] == 1
                && does(event, "in a system call")
                && does(event, "waits with its task")
        });
        writer.write_all(b"x").expect("written");
        assert_eq!(waits.join().expect("no panic"), 1);
        events.until("ended", |event| event["in_syscall"] == 0 && event["waiting"] == 0 && event["running"] == 0);
    }
}

mod the_end {
    use super::*;

    #[test]
    fn ends_the_events_and_frees_the_port() {
        let runtime = builder().build().expect("a runtime");
        let at = address(&runtime);
        let mut events = Events::of(at);
        events.next();
        drop(runtime);
        let mut rest = String::new();
        events.0.read_to_string(&mut rest).expect("no connection was cut");
        assert!(rest.ends_with("0\r\n\r\n"), "the last chunk was not sent: {rest:?}");
        TcpListener::bind(at).expect("the port is free");
    }

    #[test]
    fn waits_for_no_client_that_does_not_read() {
        let runtime = builder().build().expect("a runtime");
        let _events = Events::of(address(&runtime));
        let from = Instant::now();
        drop(runtime);
        assert!(from.elapsed() < Duration::from_secs(20), "{:?}", from.elapsed());
    }
}

/// The console's threads, and the sockets, of this process.
fn threads_and_sockets() -> (usize, usize) {
    let tasks = std::fs::read_dir("/proc/self/task").expect("threads").flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    let files = std::fs::read_dir("/proc/self/fd").expect("files").flatten();
    let targets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    let is_socket = |target: &std::path::PathBuf| target.to_string_lossy().starts_with("socket:");
    // The system shows fifteen letters.
    (names.filter(|name| name.starts_with("spinpark-consol")).count(), targets.filter(is_socket).count())
}

#[test]
fn without_it_there_is_no_thread_and_no_port() {
    const ALONE: &str = "SPINPARK_TEST_IS_ALONE";
    if std::env::var_os(ALONE).is_none() {
        // In a process of its own, as there are consoles in this one.
        let me = std::env::current_exe().expect("this program");
        let mut alone = Command::new(me);
        alone.args(["--exact", "console::without_it_there_is_no_thread_and_no_port", "--nocapture"]).env(ALONE, "1");
        let output = alone.stdin(Stdio::null()).output().expect("started");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    let before = threads_and_sockets();
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    runtime.block_on(async { spawn(async { 1 }).await }).expect("no deadlock").expect("no panic");
    assert_eq!((runtime.console_addr(), threads_and_sockets()), (None, before));
    let shown = builder().build().expect("a runtime");
    // A thread names itself, once it runs.
    until("there", || threads_and_sockets().0 >= 2 && threads_and_sockets().1 > before.1);
    drop(shown);
    until("gone", || threads_and_sockets() == before);
}

mod a_request {
    use super::*;

    #[test]
    fn for_what_is_not_there_or_by_anothers_name_is_refused() {
        let runtime = builder().build().expect("a runtime");
        let at = address(&runtime);
        assert_eq!(status(at, "GET / HTTP/1.1\r\nhost: HOST\r\n\r\n"), "200");
        assert_eq!(status(at, "GET / HTTP/1.1\r\nhost: LocalHost:80\r\n\r\n"), "200");
        assert_eq!(status(at, "GET / HTTP/1.1\r\nhost: [::1]:80\r\n\r\n"), "200");
        assert_eq!(status(at, "GET /events HTTP/1.1\r\nhost: example.org\r\n\r\n"), "403");
        assert_eq!(status(at, "GET / HTTP/1.1\r\nhost: 127.0.0.1.example.org:80\r\n\r\n"), "403");
        assert_eq!(status(at, "GET / HTTP/1.0\r\n\r\n"), "403");
        assert_eq!(status(at, "POST / HTTP/1.1\r\nhost: HOST\r\ncontent-length: 0\r\n\r\n"), "404");
        assert_eq!(status(at, "GET /other HTTP/1.1\r\nhost: HOST\r\n\r\n"), "404");
    }
}

mod an_address {
    use super::*;

    #[test]
    fn that_others_can_reach_is_refused_unless_that_is_wanted() {
        let everywhere = ([0, 0, 0, 0], 0);
        let error = Runtime::builder().console(everywhere).build().expect_err("it can be reached").to_string();
        assert!(error.starts_with("the console cannot be served at 0.0.0.0:0: others could reach it"), "{error}");
        let runtime = Runtime::builder().console_exposed(everywhere).build().expect("that is wanted");
        let at = ([127, 0, 0, 1], address(&runtime).port()).into();
        assert_eq!(status(at, "GET / HTTP/1.1\r\nhost: example.org\r\n\r\n"), "200");
    }

    #[test]
    fn that_is_taken_is_an_error() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
        let _holds = TcpListener::bind(taken).expect("it is free again");
        let error = Runtime::builder().console(taken).build().expect_err("it is taken").to_string();
        assert!(error.contains(&taken.to_string()) && error.contains("in use"), "{error}");
    }

    #[test]
    fn of_a_deterministic_runtime_is_an_error() {
        let built = thread::spawn(|| builder().deterministic(1).build().map(drop)).join().expect("no panic");
        let error = built.expect_err("it has none").to_string();
        assert!(error.contains("a deterministic runtime has none"), "{error}");
    }
}

#[test]
fn the_page_in_a_browser_shows_it() {
    let Some(browser) = Browser::start("console") else { return };
    let runtime = builder().build().expect("a runtime");
    let gate = Arc::new(Semaphore::new(0));
    let line = line!() + 1;
    let spawn_one = |gate: Arc<Semaphore>| drop(runtime.spawn(async move { drop(gate.acquire().await) }));
    (0..7).for_each(|_| spawn_one(gate.clone()));
    browser.open(&format!("http://{}/", address(&runtime)));
    browser.until_text("#status", "live");
    browser.until_text("#waiting", "7");
    browser.until_text("#places", &format!("{}:{line}:", file!()));
    browser.until_text("#suspects-head", "Deadlocked, unless another thread helps");
    browser.until_text("#suspects", "7 tasks");
    browser.until_text("#ps", "P1");
    gate.add_permits(7);
    browser.until_text("#waiting", "0");
    until("no suspects", || browser.text("#suspects").is_empty());
    assert_eq!(browser.complaints(), [""; 0], "the page is not as its own policy wants it");
    drop(runtime);
    browser.until_text("#status", "the runtime is gone");
}

mod its_metrics {
    use super::*;

    #[test]
    fn are_what_prometheus_reads() {
        let runtime = builder().latency_histogram(true).build().expect("a runtime");
        runtime.spawn(async {}).join().expect("no panic");
        let mut answer = String::new();
        let request = "GET /metrics HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n";
        ask(address(&runtime), request).read_to_string(&mut answer).expect("an answer");
        assert!(answer.contains("text/plain; version=0.0.4"), "{answer}");
        assert!(answer.contains("\nspinpark_procs 2\n"), "{answer}");
        assert!(answer.contains("spinpark_task_latency_seconds_bucket{le=\"+Inf\"} "), "{answer}");
    }
}
