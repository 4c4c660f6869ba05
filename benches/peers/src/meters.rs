//! Processor time, switches, memory: all of the whole process, which is one contender's.

use crate::row::{Sample, Tally};
use hdrhistogram::Histogram;
use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Nanoseconds of processor time that this process has used.
pub fn process_cpu() -> u64 {
    nanos(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// The same of this thread.
pub fn thread_cpu() -> u64 {
    nanos(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("a clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// How often a thread of this process has gone to sleep.
pub fn process_switches() -> u64 {
    switches(UsageWho::RUSAGE_SELF)
}

/// The same of this thread.
pub fn thread_switches() -> u64 {
    switches(UsageWho::RUSAGE_THREAD)
}

fn switches(who: UsageWho) -> u64 {
    getrusage(who).expect("the usage").voluntary_context_switches() as u64
}

/// Bytes of this process that are in memory.
pub fn resident() -> i64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("procfs");
    let pages: i64 = pages.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("the second number");
    pages * 4096
}

/// Runs by the clock and by the processor's.
#[derive(Clone, Copy)]
pub struct Watch {
    start: Instant,
    cpu: u64,
}

impl Watch {
    pub fn start() -> Watch {
        Watch { cpu: process_cpu(), start: Instant::now() }
    }

    /// [`TIME`](crate::row::TIME) of each operation.
    pub fn time(&self, tally: Tally) -> Sample {
        let time = self.start.elapsed().as_nanos() as f64;
        Sample { tally, figures: vec![time / tally.count as f64] }
    }

    /// [`TIME`](crate::row::TIME) and [`CPU`](crate::row::CPU) of each operation.
    pub fn time_and_cpu(&self, tally: Tally) -> Sample {
        let mut sample = self.time(tally);
        sample.figures.push((process_cpu() - self.cpu) as f64 / tally.count as f64);
        sample
    }
}

/// How late things were, to three digits.
pub struct Late(Histogram<u64>);

impl Default for Late {
    fn default() -> Late {
        const MOST: Duration = Duration::from_secs(60);
        Late(Histogram::new_with_max(MOST.as_nanos() as u64, 3).expect("three digits of a minute"))
    }
}

impl Late {
    pub fn take(&mut self, late: Duration) {
        self.0.saturating_record(late.as_nanos() as u64);
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Of a row that has no other figures. `sum`: of the numbers of what was late.
    pub fn sample(&self, sum: u64) -> Sample {
        Sample { tally: Tally { count: self.count(), sum }, figures: self.figures().into() }
    }

    /// Of several tasks, with the sums of their numbers.
    pub fn sample_of(all: impl IntoIterator<Item = (u64, Late)>) -> Sample {
        let (mut sum, mut late) = (0, Late::default());
        for (its_sum, its_late) in all {
            sum += its_sum;
            late.0.add(&its_late.0).expect("both are of the same size");
        }
        late.sample(sum)
    }

    /// [`LATE`](crate::row::LATE), in microseconds.
    pub fn figures(&self) -> [f64; 4] {
        [0.99, 0.5, 0.999, 1.0].map(|share| self.0.value_at_quantile(share) as f64 / 1e3)
    }
}

/// The value below which `share` of the others are.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

/// The system's allocator, that counts what is asked of it.
pub struct Counting;

static ALLOCATED: AtomicI64 = AtomicI64::new(0);

/// Bytes that were asked for and not given back. Always 0 without [`Counting`].
pub fn allocated() -> i64 {
    ALLOCATED.load(Relaxed)
}

// SAFETY: the system's allocator does everything; the count is only looked at.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as i64, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size() as i64, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATED.fetch_add(size as i64 - layout.size() as i64, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
