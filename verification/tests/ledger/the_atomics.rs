//! No atomic, fence or lock-free step of the product stands outside of the seam, but for those that are named here with a reason:
//! what goes through the host is checked by models, what does not is seen by none.

use super::product;
use std::collections::BTreeMap;

/// Files outside of the seam with accesses to atomics, or fences: in how many lines, and why no model is asked.
const OUTSIDE: &[(&str, usize, &str)] = &[
    ("runtime/host/foreign_threads.rs", 3, "a count beside `AtRest`, whose order it has"),
    ("runtime/exec/call_site.rs", 5, "guesses which calls block: a wrong one costs time only"),
    ("runtime/exec/block_on_waiters.rs", 8, "counts that are believed only when everything is at rest"),
    ("runtime/exec/goroutine/held.rs", 3, "a count, and whether a line about it was printed"),
    ("runtime/exec/goroutine/stack.rs", 6, "figures, and hints beside the lock of the list of stacks"),
    ("runtime/exec/idle.rs", 3, "a hint beside the lock of the queue"),
    ("runtime/exec/on_thread.rs", 1, "a number for each thread that has a local task"),
    (
        "runtime/exec/preempt.rs",
        13,
        "figures; the thread numbers of Ms, which a signal may be late for; the count of detached \
        tasks, which is waited for under a lock with a condition variable",
    ),
    ("runtime/exec/turn_pace.rs", 3, "the monitor's ticks, counted: a hint to read the clock"),
    ("runtime/exec/why.rs", 3, "what a task waits for, in one word, for the text of an error"),
    ("runtime/exec/sources.rs", 2, "the monitor's alone: when it has looked last"),
    ("runtime/host/cores.rs", 1, "the seam itself: what `Host` is on cores"),
    ("runtime/host/futex/slices.rs", 1, "the seam itself: a wait in slices reads the word of a parker"),
    ("runtime/host/signal.rs", 13, "the table of a process's threads that signal handlers read: no host has handlers"),
    (
        "runtime/host/sim/sim_host.rs",
        4,
        "the seam itself: what `Host` is on a simulated machine, whose threads never run at once",
    ),
    (
        "runtime/host/sim/mod.rs",
        4,
        "a number for each simulated machine, and how many there are: whether to look for one on this thread",
    ),
    (
        "runtime/host/sim/outside.rs",
        2,
        "a flag that a thread sets which no machine plays: no host has such a thread, a test wakes so",
    ),
    ("runtime/host/thread_state.rs", 1, "for the compiler alone, which must not take two calls for one"),
    ("runtime/host/threads.rs", 1, "a number for each thread"),
    ("runtime/id.rs", 1, "a number for each runtime"),
    ("runtime/io/netpoll/driver.rs", 2, "in tests only: the loop of a thread that polls"),
    ("runtime/time/clock.rs", 3, "whether a test has paused time: beside a lock, and false once and for all"),
    ("runtime/observe/count.rs", 4, "figures for the eye"),
    ("runtime/observe/sampling.rs", 10, "a table of samples: one that is torn is a wrong figure"),
    (
        "runtime/observe/watch.rs",
        5,
        "whether there is an observer, and whether it has panicked: each is read at every use",
    ),
];

/// What is on the seam, or is the seam.
const ON_THE_SEAM: &str = "kernel/";

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// The code of a file: no comments, no imports, no tests.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let product = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = product.lines().map(str::trim_start);
    lines.filter(|line| !["//", "use ", "pub use "].iter().any(|start| line.starts_with(start)))
}

/// Words of a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// Does it name an ordering, or call a fence? An access names its ordering where it stands.
fn is_access(line: &str) -> bool {
    let is_fence = line.contains("fence(") && !line.contains("fn fence(");
    // A type may be called so: it has a lifetime, is made, or is shown.
    let line =
        ["Acquire<", "Acquire {", "\"Acquire\""].iter().fold(line.to_owned(), |line, name| line.replace(name, ""));
    is_fence || words(&line).any(|word| ORDERINGS.contains(&word))
}

/// Does it name an atomic of the standard library's?
fn names_an_atomic(line: &str) -> bool {
    words(line).any(|word| word.strip_prefix("Atomic").is_some_and(|rest| rest.starts_with(char::is_uppercase)))
}

/// How many accesses there are in each file outside of the seam, and whether an atomic is named.
fn outside() -> BTreeMap<String, (usize, bool)> {
    let files = product().into_iter().map(|(path, text)| (path.trim_start_matches("src/").to_owned(), text));
    let outside = files.filter(|(path, _)| !path.starts_with(ON_THE_SEAM) && path != "lib.rs");
    let counted = outside.map(|(path, text)| {
        let accesses = code(&text).filter(|line| is_access(line)).count();
        (path, (accesses, code(&text).any(names_an_atomic)))
    });
    counted.collect()
}

#[test]
fn outside_of_the_seam_are_listed_with_a_reason() {
    let listed: BTreeMap<&str, usize> = OUTSIDE.iter().map(|&(file, lines, _)| (file, lines)).collect();
    let found: BTreeMap<String, (usize, bool)> = outside();
    let found: BTreeMap<&str, usize> =
        found.iter().filter(|(_, (accesses, _))| *accesses > 0).map(|(file, (n, _))| (file.as_str(), *n)).collect();
    assert_eq!(listed, found, "left: this list; right: the sources. What is new goes through `Host`, or has a reason");
    for (file, _, reason) in OUTSIDE {
        assert!(reason.len() > 15, "{file}: no reason is given");
    }
}

#[test]
fn have_their_types_where_they_are_used() {
    let listed = |file: &str| OUTSIDE.iter().any(|&(known, _, _)| known == file);
    // The words of a role, which the kernel's room uses: those of `Cores` and of `Sim`. The word of a parker, for its room and the system.
    let lends = ["runtime/exec/context/mod.rs", "runtime/host/futex.rs", "runtime/host/futex/linux.rs"];
    for (file, (_, names_an_atomic)) in outside() {
        assert!(!names_an_atomic || listed(&file) || lends.contains(&file.as_str()), "{file} has an atomic of its own");
    }
}

#[test]
fn are_read_with_sharp_eyes() {
    assert!(
        is_access("self.count.load(Relaxed) > 0") && is_access("    Ordering::SeqCst,") && is_access("fence(order);")
    );
    assert!(!is_access("fn fence(order: Ordering) {") && !is_access("let released = Released::new();"));
    assert!(!is_access("pub fn acquire(&self) -> Acquire<'_> {"));
    assert!(names_an_atomic("count: AtomicU64,") && !names_an_atomic("count: Atomic<H, u64>,"));
    assert!(code("// Relaxed: a hint.\nuse core::sync::atomic::Ordering::Relaxed;\n").next().is_none());
}
