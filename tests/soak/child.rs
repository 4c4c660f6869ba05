//! One program, played in a process of its own: so a hang, an abort and a leak can be told apart, and shrunk.
//!
//! The parent writes the program to the child's standard input. The child says `ready` when signals may come, and in the
//! end a line with its verdict. Meanwhile the parent's threads burn, and signal the child's.

use crate::program::Program;
use crate::world::{WORLD, World};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The argument of a child, and its patience in milliseconds after it.
pub(crate) const PLAY: &str = "--play";

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Verdict {
    /// All ended as it should, after so many steps.
    Passed {
        steps: u64,
    },
    Failed(Failure),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// In a sentence.
    pub(crate) message: String,
    /// The waiting tasks, and what the runtime says of itself.
    pub(crate) report: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FailureKind {
    /// Nothing went on.
    Stuck,
    /// It has ended, and not as it should.
    Wrong,
    /// The process died.
    Died,
}

impl Failure {
    fn failed(kind: FailureKind, message: String, report: &str) -> Verdict {
        Verdict::Failed(Failure { kind, message, report: report.lines().map(str::to_owned).collect() })
    }
}

/// The child: reads a program, and plays it.
pub(crate) fn child(patience: Duration) -> ExitCode {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("a program");
    let program: Program = serde_json::from_str(&text).expect("a program");
    if program.setup.one_core {
        one_core();
    }
    hear_signals();
    let panics: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&panics);
    // Quiet: most panics are wanted. The last ones are for the report.
    std::panic::set_hook(Box::new(move |info| {
        let text = info.to_string();
        if text.contains("cannot unwind") || text.contains("during cleanup") {
            // The process dies of this one: which handler caught it last, and under which call.
            eprintln!("{text}\n{}", std::backtrace::Backtrace::force_capture());
        }
        let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if kept.len() > 8 {
            kept.remove(0);
        }
        kept.push(text.replace('\n', " "));
    }));
    println!("ready");
    let start = Instant::now();
    let runtime = crate::api::build(&program.setup, program.max_threads(), program.max_preempted());
    let world = World::new(runtime, &program);
    let _ = WORLD.set(Arc::clone(&world));
    let (tell, told) = mpsc::channel();
    let player = {
        let world = Arc::clone(&world);
        thread::Builder::new().name("soak-main".to_owned()).spawn(move || {
            crate::play::play(&program, &world);
            while !world.is_over() {
                thread::sleep(Duration::from_millis(1));
            }
            let _ = tell.send(());
        })
    };
    let player = player.expect("a thread");
    // The watchdog: as long as something goes on, it waits.
    let (mut seen, mut since) = (world.progress(), Instant::now());
    let verdict = loop {
        match told.recv_timeout(Duration::from_millis(50)) {
            Ok(()) => {
                break match world.first_wrong() {
                    None => Verdict::Passed { steps: world.progress() },
                    Some(what) => Failure::failed(FailureKind::Wrong, what, &report(&world, &panics)),
                };
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                drop(player.join());
                break Failure::failed(
                    FailureKind::Wrong,
                    "the main thread panicked".to_owned(),
                    &report(&world, &panics),
                );
            }
            Err(mpsc::RecvTimeoutError::Timeout) => (),
        }
        let now = world.progress();
        if now != seen {
            (seen, since) = (now, Instant::now());
        } else if since.elapsed() > patience {
            let message = format!("no progress for {patience:?}, after {seen} steps and {:.1?}", start.elapsed());
            break Failure::failed(FailureKind::Stuck, message, &report(&world, &panics));
        }
    };
    println!("{}", serde_json::to_string(&verdict).expect("a verdict"));
    let _ = std::io::stdout().flush();
    // What is stuck would not end.
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(i32::from(!matches!(verdict, Verdict::Passed { .. }))) }
}

/// The waiting tasks. What needs the scheduler's lock may wait for ever, so it is asked for on a thread of its own.
fn report(world: &Arc<World>, panics: &Mutex<Vec<String>>) -> String {
    let mut text = String::from("tasks that have not ended:\n");
    text += &world.unfinished();
    let (tell, told) = mpsc::channel();
    let asked = Arc::clone(world);
    drop(thread::spawn(move || {
        let mut text = asked.handle.schedtrace();
        let mut metrics = asked.handle.metrics();
        metrics.per_p.truncate(metrics.procs);
        text += &format!("\n{metrics:?}");
        let snapshot = asked.runtime.try_lock().ok().and_then(|runtime| Some(runtime.as_ref()?.snapshot()));
        text += &format!("\n{snapshot:?}");
        let _ = tell.send(text);
    }));
    text += &told.recv_timeout(Duration::from_secs(1)).unwrap_or_else(|_| "the scheduler does not answer".to_owned());
    text += "\nthreads:\n";
    for thread in threads_of("self") {
        let read = |what: &str| fs::read_to_string(format!("/proc/self/task/{thread}/{what}")).unwrap_or_default();
        let stat = read("stat");
        // After the name, which may contain anything: the state, and, 11 fields on, the time used.
        let rest: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |n: usize| rest.get(n).copied().unwrap_or("?");
        text += &format!(
            "  {thread} {}: state {}, {} ticks used, in {}\n",
            read("comm").trim(),
            field(0),
            field(11),
            read("wchan").trim()
        );
    }
    text += "the last panics:\n";
    for panic in panics.lock().unwrap_or_else(std::sync::PoisonError::into_inner).iter() {
        text += &format!("  {panic}\n");
    }
    text
}

/// As the system calls them.
pub(crate) fn threads_of(process: &str) -> Vec<i32> {
    let entries = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn one_core() {
    // SAFETY: all zero is an empty set; the first core that we may use is put into it.
    unsafe {
        let mut all: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &raw mut all) != 0 {
            return;
        }
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        if let Some(core) = (0..libc::CPU_SETSIZE as usize).find(|&core| libc::CPU_ISSET(core, &all)) {
            libc::CPU_SET(core, &mut one);
            libc::sched_setaffinity(0, size, &raw const one);
        }
    }
}

extern "C" fn nothing(_: libc::c_int) {}

/// `SIGUSR1` interrupts a system call, and that is all.
fn hear_signals() {
    // SAFETY: a handler that does nothing; without `SA_RESTART`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as *const () as usize;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
}

/// Plays `program` in a child. A hang is one if nothing goes on for so long.
pub(crate) fn run(program: &Program, patience: Duration) -> Verdict {
    let me = std::env::current_exe().expect("this program");
    let mut child = Command::new(me)
        .args([PLAY, &patience.as_millis().to_string()])
        .env_remove("SPINPARK_DEBUG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this program can be started");
    let text = serde_json::to_string(program).expect("it can be written");
    drop(child.stdin.take().expect("a pipe").write_all(text.as_bytes()));
    let mut errors = child.stderr.take().expect("a pipe");
    let errors = thread::spawn(move || {
        let mut text = String::new();
        drop(errors.read_to_string(&mut text));
        text
    });
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    drop(output.read_line(&mut line));
    let is_over = AtomicBool::new(false);
    let process = child.id();
    let answer = thread::scope(|scope| {
        for _ in 0..program.disturbance.burners {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        if let Some(us) = program.disturbance.signals_us {
            let is_over = &is_over;
            scope.spawn(move || signal(process, Duration::from_micros(us), is_over));
        }
        // The child's own watchdog may be held up for as long as the machine is busy; not for ever.
        let (tell, told) = mpsc::channel();
        let reader = scope.spawn(move || {
            let mut text = String::new();
            drop(output.read_to_string(&mut text));
            let _ = tell.send(());
            text
        });
        if told.recv_timeout(patience + Duration::from_secs(120)).is_err() {
            drop(child.kill());
        }
        is_over.store(true, Relaxed);
        reader.join().unwrap_or_default()
    });
    let status = child.wait();
    let errors = errors.join().unwrap_or_default();
    let verdict = answer.lines().rev().find_map(|line| serde_json::from_str::<Verdict>(line).ok());
    verdict.unwrap_or_else(|| {
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        Failure::failed(FailureKind::Died, format!("the process died: {status}"), &format!("{answer}{errors}"))
    })
}

/// Signals each thread of the process, over and over.
fn signal(process: u32, period: Duration, is_over: &AtomicBool) {
    let signals = [libc::SIGURG, libc::SIGUSR1];
    let mut n = 0;
    while !is_over.load(Relaxed) {
        for thread in threads_of(&process.to_string()) {
            // SAFETY: a signal that the child handles, or ignores. It is not waited for yet, so its number is its own.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signals[n % 2]) };
        }
        n += 1;
        thread::sleep(period);
    }
}

/// Runs this program with other arguments, until it ends or so much time has passed. What it printed, and whether it
/// succeeded.
pub(crate) fn run_self(args: &[&str], limit: Duration) -> (String, bool) {
    let me = std::env::current_exe().expect("this program");
    let child: Child =
        Command::new(me).args(args).stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("it can be started");
    let child = Arc::new(Mutex::new(child));
    let mut output = child.lock().expect("ours").stdout.take().expect("a pipe");
    let (tell, told) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        drop(output.read_to_string(&mut text));
        let _ = tell.send(());
        text
    });
    if told.recv_timeout(limit).is_err() {
        drop(child.lock().expect("ours").kill());
    }
    let status = child.lock().expect("ours").wait();
    (reader.join().unwrap_or_default(), status.is_ok_and(|status| status.success()))
}
