//! Is there a thread in this process that could still do something, and that no runtime knows?
//!
//! Go: `checkdead`, which does not report a deadlock either while there is a thread that is not Go's.
//!
//! Counted are the threads that do nothing by themselves, in [`AtRest`]: those of runtimes, and those that wait in one of their
//! functions. What the Ms among the former do, their scheduler knows. The thread that serves timers after a runtime's end is not
//! counted: it wakes.
//!
//! A runtime may be promised that threads that it does not know wake none of its tasks. Then the system is not asked how many there are:
//! as many have to be at rest as are known, or are in a function of a runtime.

use crate::runtime::host::cores::Cores;
use crate::waits::at_rest::AtRest;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::io::Read;
use std::sync::LazyLock;

static AT_REST: LazyLock<AtRest<Cores>> = LazyLock::new(AtRest::new);

/// How many threads are known to be able to wake a task: those that are [`Known`], and those that may act.
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// This thread may wake a task, as long as this lives: it runs code of a runtime's, and is counted in [`AtRest`] only while it waits.
pub(in crate::runtime) struct MayAct(());

impl MayAct {
    pub(in crate::runtime) fn new() -> MayAct {
        // Relaxed: a thread that comes later than the detector looks is one that is not known yet, or it has been counted at rest, which releases.
        KNOWN.fetch_add(1, Relaxed);
        MayAct(())
    }
}

impl Drop for MayAct {
    fn drop(&mut self) {
        // Release: what it has done is seen by a detector that does not count it.
        KNOWN.fetch_sub(1, Release);
    }
}

/// This thread does nothing by itself, as long as this lives.
pub(in crate::runtime) struct Known(MayAct);

impl Known {
    /// The calling thread is a runtime's. Called by the thread itself: one that is counted before it exists would stand for
    /// another, which is not known.
    pub(in crate::runtime) fn new() -> Known {
        let may_act = MayAct::new();
        enter();
        Known(may_act)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        leave();
    }
}

/// This thread, which is [`Known`], runs code of the user's outside of its scheduler's sight, as long as this lives.
pub(in crate::runtime) struct Unknown(());

impl Unknown {
    pub(in crate::runtime) fn new() -> Unknown {
        leave();
        Unknown(())
    }
}

impl Drop for Unknown {
    fn drop(&mut self) {
        enter();
    }
}

/// A thread waits in a function of a runtime.
pub(in crate::runtime) fn enter() {
    AT_REST.enter();
}

/// No longer.
pub(in crate::runtime) fn leave() {
    AT_REST.leave();
}

/// Do all threads of this process nothing by themselves, and does `rest` hold at the same moment? Where the system does not tell how
/// many there are, no.
pub(in crate::runtime) fn are_all_known(rest: impl FnOnce() -> bool) -> bool {
    AT_REST.are_all(count, rest)
}

/// Do all threads that are known do nothing by themselves, and does `rest` hold at the same moment? Others are taken to wake no task.
pub(in crate::runtime) fn known_ones_rest(rest: impl FnOnce() -> bool) -> bool {
    // Acquire: what those have done that are not known any more.
    AT_REST.are_all(|| Some(KNOWN.load(Acquire)), rest)
}

/// How many threads this process has. One number of the system's: to list them would miss some while others end.
#[cfg(target_os = "linux")]
fn count() -> Option<usize> {
    // The twenty fields that are read have room in it.
    let mut stat = [0; 512];
    let length = File::open("/proc/self/stat").ok()?.read(&mut stat).ok()?;
    threads_of(&stat[..length])
}

/// The number of threads in what `/proc/self/stat` says. 0 is none: a process has a thread, so the emulator that says so fills in what it does
/// not know.
#[cfg(target_os = "linux")]
fn threads_of(stat: &[u8]) -> Option<usize> {
    // Behind the name, which may have blanks and brackets of its own.
    let behind = stat.rsplit(|&byte| byte == b')').next()?;
    // The third field of the file is the first here, the twentieth is the number.
    let field = behind.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty()).nth(17)?;
    core::str::from_utf8(field).ok()?.parse().ok().filter(|&threads| threads > 0)
}

#[cfg(not(target_os = "linux"))]
fn count() -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_cannot_be_is_not_believed() {
        let said = |threads| format!("7 (a ) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 1");
        assert_eq!(threads_of(said(3).as_bytes()), Some(3));
        assert_eq!(threads_of(said(0).as_bytes()), None);
        assert_eq!(threads_of(b"7 (a) S 1"), None);
    }

    #[test]
    fn each_thread_is_counted_as_long_as_it_lives() {
        // An emulator has threads of its own, which are listed, and which it leaves out of the number.
        let emulators =
            std::env::var("SPINPARK_TEST_EMULATORS_THREADS").map_or(0, |number| number.parse().expect("a number"));
        let listed = || std::fs::read_dir("/proc/self/task").expect("it can be listed").count() - emulators;
        let (end, is_over) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || is_over.recv().is_err());
        // Other tests start and end threads meanwhile.
        let agree = || (0..1000).any(|_| count() == Some(listed()));
        assert!(agree(), "with one more: {:?}, listed {}", count(), listed());
        drop(end);
        assert!(thread.join().expect("no panic"));
        assert!(agree(), "without: {:?}, listed {}", count(), listed());
    }
}
