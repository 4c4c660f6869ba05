//! Signals that the process is sent: several listeners, several runtimes, beside preemption.

#![cfg(target_os = "linux")]

use rustix::process::{Signal as Which, getpid, kill_process};
use spinpark::signal::unix::{Signal, SignalKind, signal};
use spinpark::{Runtime, spawn, time};
use std::future::Future;
use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Seconds after which something hangs.
const LONG: Duration = Duration::from_secs(60);

fn run<F: Future>(future: F) -> F::Output {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    runtime.block_on(async { time::timeout(LONG, future).await.expect("it hangs") }).expect("no deadlock")
}

/// Sent to the process: whichever thread the system chooses handles it, in a moment.
fn send(signal: Which) {
    kill_process(getpid(), signal).expect("this process");
}

/// Sent to this thread, which has handled it when this returns.
fn raise(signal: Which) {
    signal_hook::low_level::raise(signal.as_raw()).expect("this thread");
}

async fn hears_nothing(signal: &mut Signal) -> bool {
    time::timeout(Duration::from_millis(30), signal.recv()).await.is_err()
}

// Each test has a signal of its own: they are in one process.

#[test]
fn all_listeners_hear_each_signal() {
    run(async {
        let listeners: Vec<_> = (0..3).map(|_| signal(SignalKind::user_defined1()).expect("a listener")).collect();
        let hear: Vec<_> = listeners
            .into_iter()
            .map(|mut listener| {
                spawn(async move {
                    for _ in 0..10 {
                        listener.recv().await.expect("a signal");
                        send(Which::URG); // another, in between
                    }
                })
            })
            .collect();
        // Signals that come close together are one, so it goes on until all have enough.
        let goes_on = spawn(async {
            loop {
                send(Which::USR1);
                time::sleep(Duration::from_millis(1)).await;
            }
        });
        for one in hear {
            one.await.expect("no panic");
        }
        goes_on.abort();
    });
}

#[test]
fn signals_that_nobody_has_fetched_are_one() {
    run(async {
        let mut listener = signal(SignalKind::user_defined2()).expect("a listener");
        assert!(hears_nothing(&mut listener).await);
        // More than a pair of sockets has room for.
        (0..5_000).for_each(|_| raise(Which::USR2));
        listener.recv().await.expect("a signal");
        assert!(hears_nothing(&mut listener).await);
        raise(Which::USR2);
        listener.recv().await.expect("one more");
    });
}

#[test]
fn a_listener_that_was_dropped_leaves_the_others_alone() {
    run(async {
        let mut one = signal(SignalKind::window_change()).expect("a listener");
        let other = signal(SignalKind::window_change()).expect("a listener");
        drop(other);
        raise(Which::WINCH);
        one.recv().await.expect("a signal");
        drop(one);
        raise(Which::WINCH);
        let mut late = signal(SignalKind::window_change()).expect("a listener");
        assert!(hears_nothing(&mut late).await, "it was sent before");
    });
}

#[test]
fn two_runtimes_hear_the_same_signal() {
    let [one, other] = [(); 2].map(|()| Runtime::builder().procs(1).build().expect("a runtime"));
    let hear = |runtime: &Runtime| {
        let (made, is_made) = std::sync::mpsc::channel();
        let hears = runtime.spawn(async move {
            let mut listener = signal(SignalKind::hangup()).expect("a listener");
            made.send(()).expect("the test waits");
            listener.recv().await
        });
        is_made.recv().expect("it was made");
        hears
    };
    let both = [hear(&one), hear(&other)];
    raise(Which::HUP);
    for hears in both {
        assert_eq!(hears.join().expect("no panic"), Some(()));
    }
}

#[test]
fn a_listener_whose_runtime_is_gone_hears_no_more() {
    let runtime = Runtime::builder().procs(1).build().expect("a runtime");
    let mut listener = runtime.block_on(async { signal(SignalKind::io()).expect("a listener") }).expect("no deadlock");
    drop(runtime);
    run(async move { assert_eq!(listener.recv().await, None) });
}

/// Both handlers interrupt the same tasks, which never wait.
#[test]
fn tasks_are_preempted_meanwhile() {
    let runtime = Runtime::builder().procs(1).build().expect("a runtime");
    let from = Instant::now();
    let busy = runtime.go(move || {
        while from.elapsed() < Duration::from_millis(600) {
            std::hint::black_box(0);
        }
    });
    let heard = runtime
        .block_on(async {
            let (mut listener, mut heard) = (signal(SignalKind::alarm()).expect("a listener"), 0);
            while from.elapsed() < Duration::from_millis(400) {
                send(Which::ALARM);
                listener.recv().await.expect("a signal");
                heard += 1;
            }
            heard
        })
        .expect("no deadlock");
    assert!(heard >= 5, "it heard {heard}, beside a task that never waits");
    busy.join().expect("no panic");
}

/// In a process of its own: others open descriptors, too.
#[test]
fn listeners_that_are_gone_leave_no_descriptors() {
    in_a_process_of_its_own("listeners_that_are_gone_leave_no_descriptors", || {
        run(async {
            let open = || std::fs::read_dir("/proc/self/fd").expect("descriptors").count();
            drop(signal(SignalKind::pipe()).expect("a listener"));
            let before = open();
            for _ in 0..100 {
                drop(signal(SignalKind::pipe()).expect("a listener"));
            }
            assert_eq!(open(), before);
        });
    });
}

/// Has the test `name` run alone, as `body` says.
fn in_a_process_of_its_own(name: &str, body: impl FnOnce()) {
    const ALONE: &str = "SPINPARK_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let me = std::env::current_exe().expect("this program");
    let alone = Command::new(me).args(["--exact", name]).env(ALONE, "1").output().expect("started");
    let said = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}");
}

/// What `SA_ONSTACK` is for: the handler has a stack of its own.
#[test]
fn handlers_run_on_the_signal_stack() {
    run(async {
        let _listener = signal(SignalKind::quit()).expect("a listener");
        let status = std::fs::read_to_string("/proc/self/status").expect("the status");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("what is caught");
        let caught = u64::from_str_radix(caught.trim(), 16).expect("a set");
        assert!(caught & 1 << (Which::QUIT.as_raw() - 1) != 0, "it is not caught");
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asks only, and fills it.
        let action = unsafe {
            assert_eq!(libc::sigaction(libc::SIGQUIT, std::ptr::null(), action.as_mut_ptr()), 0);
            action.assume_init()
        };
        assert!(action.sa_flags & libc::SA_ONSTACK != 0 && action.sa_flags & libc::SA_RESTART != 0);
        // SAFETY: a set that the system has filled.
        assert_eq!(unsafe { libc::sigismember(&action.sa_mask, libc::SIGURG) }, 1);
    });
}

/// Were each handled in the middle of another, so many would not fit into a signal stack.
#[test]
fn many_different_signals_may_come_at_once() {
    in_a_process_of_its_own("many_different_signals_may_come_at_once", || {
        run(async {
            let all = libc::SIGRTMIN()..libc::SIGRTMIN() + 28;
            let listeners: Vec<_> =
                all.clone().map(|number| signal(SignalKind::from_raw(number)).expect("a listener")).collect();
            thread::spawn(move || {
                let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
                // SAFETY: a set of ours. All are sent to this thread while it takes none, so all come at once.
                unsafe {
                    libc::sigfillset(set.as_mut_ptr());
                    libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
                    all.for_each(|number| assert_eq!(libc::pthread_kill(libc::pthread_self(), number), 0));
                    libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
                }
            });
            for mut listener in listeners {
                listener.recv().await.expect("a signal");
            }
        });
    });
}

mod what_nobody_can_listen_to {
    use super::*;

    #[test]
    fn is_an_error_that_says_so() {
        run(async {
            for number in [libc::SIGKILL, libc::SIGSTOP, libc::SIGSEGV, libc::SIGBUS, libc::SIGURG, 0, -1, 4711] {
                let error = signal(SignalKind::from_raw(number)).expect_err("it is refused");
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{number}: {error}");
            }
            let error = signal(SignalKind::from_raw(libc::SIGURG)).expect_err("it is refused");
            assert!(error.to_string().contains("preempts"), "{error}");
        });
    }

    #[test]
    fn is_all_outside_of_a_runtime() {
        let error = signal(SignalKind::child()).expect_err("there is no runtime");
        assert!(error.get_ref().is_some_and(|inner| inner.is::<spinpark::NotInRuntime>()), "{error}");
    }
}

/// In a process of its own: from then on Ctrl-C does not end it.
#[test]
fn ctrl_c_is_heard_and_does_not_end_the_process() {
    const CHILD: &str = "SPINPARK_TEST_CTRL_C";
    if std::env::var_os(CHILD).is_some() {
        run(async {
            for _ in 0..2 {
                spinpark::signal::ctrl_c().await.expect("heard");
                println!("heard");
            }
        });
        std::process::exit(7);
    }
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "--nocapture", "ctrl_c_is_heard_and_does_not_end_the_process"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let pid = rustix::process::Pid::from_child(&child);
    let from = Instant::now();
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("its status");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("what is caught").trim();
        u64::from_str_radix(caught, 16).expect("a set") & 1 << (Which::INT.as_raw() - 1) != 0
    };
    while !caught() {
        assert!(from.elapsed() < LONG, "it does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
    // One after the other: two at once may be one.
    let status = loop {
        if let Some(status) = child.try_wait().expect("its status") {
            break status;
        }
        let _ = kill_process(pid, Which::INT);
        assert!(from.elapsed() < LONG, "it does not hear");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(7), "it was ended by {status}");
}

mod a_runtime_that_dumps_at_sigquit {
    use super::*;
    use std::io::{BufRead, BufReader};

    const CHILD: &str = "SPINPARK_TEST_SIGQUIT";

    /// What another process of this test prints to standard error, line by line, and it.
    fn child(case: &str) -> (std::process::Child, std::io::Lines<BufReader<std::process::ChildStderr>>) {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args([
            "--exact",
            "a_runtime_that_dumps_at_sigquit::says_what_its_tasks_wait_for_and_goes_on",
            "--nocapture",
        ]);
        let mut child =
            command.env(CHILD, case).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a process");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        (child, lines)
    }

    /// Plays the child.
    fn play(case: &str) {
        // What runs in the background of a shell without jobs, or under `nohup`, is started with SIGQUIT ignored.
        // SAFETY: no handler is installed, and no other thread of this process has one for it yet.
        assert_ne!(unsafe { libc::signal(libc::SIGQUIT, libc::SIG_DFL) }, libc::SIG_ERR);
        let builder = Runtime::builder().procs(1);
        let runtime = if case == "no" { builder } else { builder.dump_on_sigquit() }.build().expect("a runtime");
        drop(runtime.spawn(async { time::sleep(LONG).await }));
        // Its only P is held: the dump needs no thread of the scheduler's.
        let _holds = runtime.spawn(async { thread::sleep(Duration::from_millis(300)) });
        thread::sleep(Duration::from_millis(50));
        eprintln!("ready");
        for _ in 0..2 {
            send(Which::QUIT);
            thread::sleep(Duration::from_millis(200));
        }
        drop(runtime);
        eprintln!("goes on");
        send(Which::QUIT); // no runtime asks for it: it is heard, and does nothing
        thread::sleep(Duration::from_millis(50));
        eprintln!("ended");
    }

    #[test]
    fn says_what_its_tasks_wait_for_and_goes_on() {
        if let Ok(case) = std::env::var(CHILD) {
            return play(&case);
        }
        let (mut process, lines) = child("yes");
        let text: Vec<String> = lines.map(|line| line.expect("text")).collect();
        let text = text.join("\n");
        assert!(process.wait().expect("it ends").success(), "{text}");
        let (before, after) = text.split_once("goes on").expect("it goes on");
        assert_eq!(before.matches("SIGQUIT: ").count(), 2, "{text}");
        assert_eq!(before.matches(&format!("spawned at {}:", file!())).count(), 2, "{text}");
        assert!(before.contains("sleep") && after.contains("ended") && !after.contains("SIGQUIT"), "{text}");
    }

    #[test]
    fn is_only_one_that_was_asked_to() {
        use std::os::unix::process::ExitStatusExt;

        let (mut process, lines) = child("no");
        let text: Vec<String> = lines.map(|line| line.expect("text")).collect();
        assert_eq!(process.wait().expect("it ends").signal(), Some(3), "{text:?}");
        assert!(!text.join("\n").contains("SIGQUIT"), "{text:?}");
    }
}
