#![allow(unsafe_code)]

use super::cases::{self, Case};
use libc::{c_int, c_void, siginfo_t};
use spinpark::{BuildError, Runtime, Wait, lock_thread, spawn, syscall};
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, hint, ptr, thread};

const CASES: &[Case] = &[
    ("blocked_in_the_thread_that_builds_it_is_heard_all_the_same", blocked_by_the_builder),
    ("of_others_is_handed_on_to_the_handler_that_was_there_before", handed_on),
    ("a_later_handler_that_calls_ours_is_no_error", replaced_with_a_call),
    ("a_later_handler_that_does_not_call_ours_is_an_error_of_build_and_counted", replaced),
    ("threads_started_by_a_locked_task_are_as_the_first_was", started_by_a_changed_thread),
    ("threads_started_by_one_that_ends_with_its_task_are_as_the_first_was", started_by_a_changed_thread_that_ends),
    #[cfg(target_env = "gnu")]
    ("in_a_loaded_library_the_handler_asks_for_no_memory", in_a_loaded_library),
];

const LONG: Duration = Duration::from_secs(10);

fn runtime() -> Runtime {
    Runtime::builder().procs(1).build().expect("a runtime")
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let from = Instant::now();
    while !is_so() {
        assert!(from.elapsed() < LONG, "{what}: not after {LONG:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A task computes on the only P until another has run.
fn preempts(runtime: &Runtime) {
    let end = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&end);
    let hog = runtime.go(move || {
        while !seen.load(SeqCst) {
            hint::spin_loop();
        }
    });
    let other = runtime.spawn(async move { end.store(true, SeqCst) });
    until("a task beside one that computes has run", || other.is_finished());
    until("the one that computes has ended", || hog.is_finished());
}

/// The signals that are blocked on this thread, as the system writes them.
fn blocked() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").expect("a status");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("a number")
}

fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

fn block(signal: c_int) {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: a set of our own, and this thread's mask.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut());
    }
    assert_ne!(blocked() & bit(signal), 0, "it is blocked");
}

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// What was there before, as a handler.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static CALLED: AtomicUsize = AtomicUsize::new(0);

fn install(handler: Handler) {
    let mut old = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zero is a valid `sigaction`; the handlers below only count, and call what was there.
    unsafe {
        let mut new: libc::sigaction = MaybeUninit::zeroed().assume_init();
        new.sa_sigaction = handler as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGURG, &raw const new, old.as_mut_ptr()), 0);
        BEFORE.store(old.assume_init().sa_sigaction, SeqCst);
    }
}

extern "C" fn counts(_: c_int, _: *mut siginfo_t, _: *mut c_void) {
    CALLED.fetch_add(1, SeqCst);
}

extern "C" fn counts_and_calls(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    CALLED.fetch_add(1, SeqCst);
    before(signal, info, context);
}

fn before(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: what `install` found, which was installed as a handler of this kind.
    let handler = unsafe { std::mem::transmute::<usize, Handler>(BEFORE.load(SeqCst)) };
    handler(signal, info, context);
}

fn raise() {
    // SAFETY: a signal that this process handles.
    unsafe { libc::raise(libc::SIGURG) };
}

fn blocked_by_the_builder() {
    block(libc::SIGURG);
    let runtime = runtime();
    preempts(&runtime);
    assert_ne!(blocked() & bit(libc::SIGURG), 0, "the mask of the thread that builds stays as it was");
}

fn handed_on() {
    install(counts);
    let runtime = runtime();
    preempts(&runtime);
    let before = CALLED.load(SeqCst);
    raise();
    assert!(CALLED.load(SeqCst) > before, "it was there first, and is still called");
}

fn replaced_with_a_call() {
    let first = runtime();
    install(counts_and_calls);
    preempts(&first);
    let second = runtime();
    preempts(&second);
    assert_eq!((first.metrics().preemption_lost, second.metrics().preemption_lost), (false, false));
    assert!(CALLED.load(SeqCst) > 0);
}

fn replaced() {
    let runtime = runtime();
    install(counts);
    let error = Runtime::builder().procs(1).build().expect_err("no handler would get the signal");
    assert!(matches!(error, BuildError::SignalReplaced), "{error:?}");
    assert!(error.to_string().contains("SIGURG"), "{error}");
    // A runtime that is there already counts it.
    let end = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&end);
    let hog = runtime.go(move || {
        while !seen.load(SeqCst) {
            hint::spin_loop();
        }
    });
    let other = runtime.spawn(async {});
    until("it is counted", || runtime.metrics().preemption_lost);
    assert!(!other.is_finished());
    end.store(true, SeqCst);
    until("all have ended", || hog.is_finished() && other.is_finished());
    let without = Runtime::builder().procs(1).preemption(false).build();
    assert!(without.is_ok(), "{without:?}");
}

/// A task bound to its thread blocks a signal there; then it makes work for more threads than there are, and blocks.
fn started_by_a_changed_thread() {
    for _ in 0..20 {
        let runtime = Runtime::builder().procs(4).build().expect("a runtime");
        let masks = Arc::new(Mutex::new(BTreeSet::new()));
        let all = Arc::clone(&masks);
        let task = runtime.go(move || {
            let _locked = lock_thread();
            block(libc::SIGUSR1);
            let others: Vec<_> = (0..16)
                .map(|_| {
                    let all = Arc::clone(&all);
                    spawn(async move {
                        syscall(|| thread::sleep(Duration::from_millis(1)));
                        all.lock().expect("no panic").insert(blocked());
                    })
                })
                .collect();
            syscall(|| thread::sleep(Duration::from_millis(1)));
            for other in others {
                other.wait().expect("a value");
            }
            assert_ne!(blocked() & bit(libc::SIGUSR1), 0, "its own thread has kept what it changed");
        });
        runtime.block_on(task).expect("no deadlock").expect("a value");
        let masks = masks.lock().expect("no panic");
        let is_clean = masks.iter().all(|mask| mask & bit(libc::SIGUSR1) == 0);
        assert!(is_clean, "what the locked task blocked is blocked on other threads: {masks:x?}");
    }
}

/// A task bound to its thread blocks a signal there, and ends: its thread ends with it, and starts one for the next task.
fn started_by_a_changed_thread_that_ends() {
    for _ in 0..20 {
        let runtime = runtime();
        let task = runtime.go(|| {
            lock_thread().expect("in a task").keep();
            block(libc::SIGUSR1);
            spawn(async { blocked() })
        });
        let next = runtime.block_on(task).expect("no deadlock").expect("a value");
        let mask = runtime.block_on(next).expect("no deadlock").expect("a value");
        assert_eq!(mask & bit(libc::SIGUSR1), 0, "the thread that ended has handed on what it blocked: {mask:x}");
    }
}

#[cfg(target_env = "gnu")]
fn in_a_loaded_library() {
    use super::counting::asked_by;
    use std::ffi::CString;

    static IN_HANDLERS: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn counts_memory(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        CALLED.fetch_add(1, SeqCst);
        let asked = asked_by(|| before(signal, info, context));
        IN_HANDLERS.fetch_add(asked, SeqCst);
    }

    let path = CString::new(plugin()).expect("a path");
    // SAFETY: a library of this project, which does nothing when it is loaded.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!library.is_null(), "{path:?} cannot be loaded");
    let find = |name: &std::ffi::CStr| {
        // SAFETY: the library was loaded, and is not unloaded.
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        assert!(!found.is_null(), "{name:?} is not in it");
        found
    };
    // SAFETY: functions of this kind, in tests/signals/plugin.rs.
    let (start, preempts, touches) = unsafe {
        (
            std::mem::transmute::<*mut c_void, extern "C" fn()>(find(c"plugin_start")),
            std::mem::transmute::<*mut c_void, extern "C" fn() -> bool>(find(c"plugin_preempts")),
            std::mem::transmute::<*mut c_void, extern "C" fn()>(find(c"plugin_touches_a_thread_local")),
        )
    };
    let on_a_new_thread = |f: fn(extern "C" fn()) -> usize| thread::spawn(move || f(touches)).join().expect("no panic");
    // A check that can fail: this is what a thread local costs there.
    assert!(on_a_new_thread(|touches| asked_by(|| touches())) > 0, "a thread local asks for memory at its first touch");

    start();
    install(counts_memory);
    for _ in 0..8 {
        on_a_new_thread(|_| {
            raise();
            0
        });
    }
    assert!(CALLED.load(SeqCst) >= 8);
    assert!(preempts(), "it does not preempt");
    assert!(CALLED.load(SeqCst) > 8, "it preempts without the signal");
    assert_eq!(IN_HANDLERS.load(SeqCst), 0, "the handler has asked for memory");
}

/// Builds the library, and finds it.
#[cfg(target_env = "gnu")]
fn plugin() -> String {
    let built = super::cargo::cargo()
        .args(["build", "--example", "signals_plugin", "--message-format=json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be started");
    let text = String::from_utf8_lossy(&built.stdout);
    let ours = text.lines().filter(|line| line.contains("\"name\":\"signals_plugin\""));
    let file = ours.filter_map(|line| line.split("\"filenames\":[\"").nth(1)?.split('"').next()).next_back();
    file.unwrap_or_else(|| panic!("it is not built: {}", String::from_utf8_lossy(&built.stderr))).to_owned()
}

pub(crate) fn main() -> ExitCode {
    // Here, so that no case is cut off while it is built.
    #[cfg(target_env = "gnu")]
    plugin();
    cases::main(CASES, 60)
}
