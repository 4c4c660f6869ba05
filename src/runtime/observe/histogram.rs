//! How long something took, many times.

use crate::runtime::observe::count::Count;
use core::fmt;
use core::ops::Range;
use core::time::Duration;

/// The first bin ends at 2^6 ns.
const FIRST: u32 = 6;
/// The last but one ends at 2^37 ns: 137 s.
const LAST: u32 = 37;
/// Between two powers of two there are four bins.
const BINS: usize = 2 + 4 * (LAST - FIRST) as usize;

/// The bin of a time.
fn bin_of(nanos: u64) -> usize {
    let Some(power) = nanos.checked_ilog2().filter(|&power| power >= FIRST) else { return 0 };
    if power >= LAST {
        return BINS - 1;
    }
    1 + 4 * (power - FIRST) as usize + (nanos >> (power - 2) & 3) as usize
}

/// Where a bin begins.
fn start_of(bin: usize) -> u64 {
    match bin.checked_sub(1) {
        None => 0,
        Some(above) => (4 + above as u64 % 4) << (FIRST - 2 + above as u32 / 4),
    }
}

/// Where it is counted, by one thread at a time.
pub(in crate::runtime) struct Bins {
    counts: Box<[Count]>,
    nanos: Count,
}

impl Bins {
    pub(in crate::runtime) fn new() -> Bins {
        Bins { counts: (0..BINS).map(|_| Count::default()).collect(), nanos: Count::default() }
    }

    /// One more. Only for the M that owns it.
    pub(in crate::runtime) fn add(&self, nanos: u64) {
        self.counts[bin_of(nanos)].add_alone(1);
        self.nanos.add_alone(nanos);
    }
}

/// How long something took, many times: how often it took how long. As Go's `runtime/metrics.Float64Histogram`, with bins
/// four to each power of two, so a time is known to a quarter.
///
/// ```
/// let runtime = spinpark::Runtime::builder().procs(1).latency_histogram(true).build()?;
/// for _ in 0..1000 {
///     runtime.go(|| ()).join()?;
/// }
/// let latency = runtime.metrics().latency.expect("it was asked for");
/// println!("half of {} tasks ran within {:?}", latency.count(), latency.quantile(0.5));
/// assert!(latency.count() > 0 && latency.quantile(0.5) <= latency.quantile(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    nanos: u64,
}

impl Histogram {
    pub(in crate::runtime) fn sum<'a>(all: impl Iterator<Item = &'a Bins>) -> Histogram {
        let mut sum = Histogram { counts: vec![0; BINS], nanos: 0 };
        for bins in all {
            sum.counts.iter_mut().zip(&bins.counts).for_each(|(sum, count)| *sum += count.get());
            sum.nanos = sum.nanos.saturating_add(bins.nanos.get());
        }
        sum
    }

    /// How many times were measured.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How long all of them took together.
    #[must_use]
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.nanos)
    }

    /// How long they took on average. `None`: none was measured.
    ///
    /// An example is at [`bins`](Histogram::bins).
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        self.nanos.checked_div(self.count()).map(Duration::from_nanos)
    }

    /// The time within which this part of them was done, rounded up to the end of its bin: 0.5 for the median, 0.99 for
    /// all but the slowest hundredth. What is below 0 is 0, above 1 is 1. `None`: none was measured.
    ///
    /// If it took more than 137 s, [`Duration::MAX`].
    #[must_use]
    pub fn quantile(&self, part: f64) -> Option<Duration> {
        let count = self.count();
        // At least one: the fastest.
        let rank = ((count as f64 * part.clamp(0.0, 1.0)).ceil() as u64).max(1);
        let mut below = 0;
        let found = self.bins().find(|(_, count)| {
            below += count;
            below >= rank
        });
        found.filter(|_| count > 0).map(|(bin, _)| bin.end)
    }

    /// The bins, from the fastest on: from when to when, and how many were in it. The last has no end:
    /// [`Duration::MAX`].
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).latency_histogram(true).build()?;
    /// runtime.spawn(async {}).join()?;
    /// let waits = runtime.metrics().latency.expect("it is measured");
    /// for (range, count) in waits.bins() {
    ///     println!("{range:?}: {count}");
    /// }
    /// println!("{:?}", waits.mean());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bins(&self) -> impl Iterator<Item = (Range<Duration>, u64)> + '_ {
        self.counts.iter().enumerate().map(|(bin, &count)| {
            let end = if bin == BINS - 1 { Duration::MAX } else { Duration::from_nanos(start_of(bin + 1)) };
            (Duration::from_nanos(start_of(bin))..end, count)
        })
    }
}

/// Only the bins in which something is.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.bins().filter(|(_, count)| *count > 0)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[u64]) -> Histogram {
        let bins = Bins::new();
        times.iter().for_each(|&nanos| bins.add(nanos));
        Histogram::sum([&bins].into_iter())
    }

    mod each_time {
        use super::*;

        #[test]
        fn is_in_the_bin_around_it() {
            let powers = (0..64).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1, (5 << power) >> 2]);
            for nanos in powers.chain([0, 1, 63, 64, 79, 80, 95, 96, 111, 112, 127, u64::MAX]) {
                let time = Duration::from_nanos(nanos);
                let bin = of(&[nanos]).bins().find(|(_, count)| *count == 1).expect("it is in some").0;
                assert!(bin.contains(&time), "{time:?} is not in {bin:?}");
            }
        }
    }

    mod the_bins {
        use super::*;

        #[test]
        fn follow_each_other_and_are_a_quarter_wide() {
            let bins: Vec<_> = of(&[]).bins().map(|(bin, _)| bin).collect();
            assert_eq!((bins[0].start, bins[0].end), (Duration::ZERO, Duration::from_nanos(64)));
            assert!(bins.windows(2).all(|two| two[0].end == two[1].start));
            let inner = &bins[1..BINS - 1];
            assert!(inner.iter().all(|bin| bin.end - bin.start <= bin.start / 4), "{inner:?}");
            assert_eq!((bins[BINS - 1].start, bins[BINS - 1].end), (Duration::from_nanos(1 << 37), Duration::MAX));
        }
    }

    mod a_quantile {
        use super::*;

        #[test]
        fn is_the_end_of_the_bin_of_that_rank() {
            let hundred = of(&[vec![70; 90], vec![1000; 9], vec![1 << 40]].concat());
            assert_eq!(hundred.count(), 100);
            assert_eq!(hundred.quantile(0.5), Some(Duration::from_nanos(80)));
            assert_eq!(hundred.quantile(0.9), Some(Duration::from_nanos(80)));
            assert_eq!(hundred.quantile(0.91), Some(Duration::from_nanos(1024)));
            assert_eq!(hundred.quantile(1.0), Some(Duration::MAX));
            assert_eq!(hundred.quantile(-1.0), Some(Duration::from_nanos(80)));
            assert_eq!(hundred.quantile(7.0), Some(Duration::MAX));
        }

        #[test]
        fn of_nothing_is_none() {
            assert_eq!((of(&[]).quantile(0.5), of(&[]).mean()), (None, None));
            assert_eq!(of(&[100, 200]).mean(), Some(Duration::from_nanos(150)));
        }
    }
}
