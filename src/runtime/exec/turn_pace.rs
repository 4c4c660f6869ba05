//! When a thread that runs tasks asks for a turn of the global queue, timers and sockets ahead of the count.
//!
//! The kernel gives them their turn once in [`global_every`](crate::Builder::global_every) dispatches. Where tasks compute for a
//! millisecond that is once in 61: too long for a socket. So each thread keeps, for itself, how long its dispatches take, and asks for a turn
//! about once in [`turn_every`](crate::Builder::turn_every). **It asks for turns, and delays none**: those by count come as ever.
//!
//! Short tasks do not pay for it: the clock is read once in 61 of them. When they turn long, 61 would be many: the monitor's ticks, 5 ms apart
//! at most while tasks run, make the thread read the clock at its next dispatch.

use crate::host::Nanos;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// The clock is read once in so many dispatches at least, if turns are asked for at all.
const AT_MOST: u32 = 61;

/// What the threads of a runtime share.
pub(in crate::runtime) struct Turns {
    /// 0: turns by count only; also where time is simulated, which stands still while a task runs.
    every: Nanos,
    /// How often the monitor has ticked.
    ticks: AtomicU64,
}

impl Turns {
    pub(in crate::runtime) fn new(every: Nanos) -> Self {
        Turns { every, ticks: AtomicU64::new(0) }
    }

    /// The monitor ticks. Threads that run short tasks look at the clock.
    pub(in crate::runtime) fn tick(&self) {
        if self.every > 0 {
            // Relaxed: a hint; a dispatch that misses it is followed by one that sees it.
            self.ticks.fetch_add(1, Relaxed);
        }
    }
}

/// What one thread knows of its own dispatches.
pub(in crate::runtime::exec) struct TurnPace {
    turns: Arc<Turns>,
    /// The clock is read after so many more dispatches.
    left: u32,
    /// The monitor's ticks, when that was last compared.
    tick: u64,
    /// When the last turn was asked for,
    since: Nanos,
    /// and how many dispatches there were until the next reading of the clock, beginning then.
    until: u32,
    /// How long a dispatch takes: it rises at once, and falls slowly.
    mean: Nanos,
}

impl TurnPace {
    pub(in crate::runtime::exec) fn new(turns: Arc<Turns>, now: Nanos) -> Self {
        let mut pace = TurnPace { turns, left: 0, tick: 0, since: now, until: 0, mean: 0 };
        pace.reads_next(pace.turns.every);
        pace
    }

    /// A task has run. Is a turn to be asked for before the next? `now` is called only if it may be.
    #[inline(always)]
    pub(in crate::runtime::exec) fn is_due(&mut self, now: impl FnOnce() -> Nanos) -> bool {
        self.left -= 1;
        // Relaxed: a hint.
        (self.left == 0 || self.turns.ticks.load(Relaxed) != self.tick) && self.has_passed(now)
    }

    #[cold]
    #[inline(never)]
    fn has_passed(&mut self, now: impl FnOnce() -> Nanos) -> bool {
        let every = self.turns.every;
        if every == 0 {
            self.left = u32::MAX;
            return false;
        }
        // Relaxed: as above.
        self.tick = self.turns.ticks.load(Relaxed);
        let now = now();
        let passed = now.saturating_sub(self.since);
        let dispatches = self.until - self.left;
        if passed < every {
            self.until = dispatches;
            self.reads_next(every - passed);
            return false;
        }
        // No more than that: a thread that has slept for long soon knows again that its tasks are short.
        let mean = (passed / Nanos::from(dispatches.max(1))).min(every);
        self.mean = mean.max((3 * self.mean + mean) / 4);
        (self.since, self.until) = (now, 0);
        self.reads_next(every);
        true
    }

    /// The clock is read next when about so much time has passed.
    fn reads_next(&mut self, rest: Nanos) {
        self.left = (rest / self.mean.max(1)).clamp(1, Nanos::from(AT_MOST)) as u32;
        self.until = self.until.saturating_add(self.left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::iter::repeat_n;

    const EVERY: Nanos = 200_000;

    /// The moments at which a thread asks for a turn whose tasks take so long each, and where the monitor ticks once in 5 ms.
    fn turns(every: Nanos, tasks: impl IntoIterator<Item = Nanos>) -> (Vec<Nanos>, usize) {
        let turns = Arc::new(Turns::new(every));
        let (mut pace, mut now, mut asked, mut reads) = (TurnPace::new(Arc::clone(&turns), 1), 1, vec![1], 0);
        for took in tasks {
            let before = now;
            now += took;
            (before / 5_000_000..now / 5_000_000).for_each(|_| turns.tick());
            let is_due = pace.is_due(|| {
                reads += 1;
                now
            });
            if is_due {
                asked.push(now);
            }
        }
        (asked, reads)
    }

    fn longest(asked: &[Nanos]) -> Nanos {
        asked.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(Nanos::MAX)
    }

    mod a_turn_is_asked_for {
        use super::*;

        #[test]
        fn after_each_task_that_is_longer_than_the_time() {
            let (asked, _) = turns(EVERY, repeat_n(1_000_000, 100));
            assert!(
                asked.len() > 93,
                "{} turns in 100 tasks, of which the first may be measured only at a tick",
                asked.len()
            );
            assert_eq!(longest(&asked[1..]), 1_000_000);
        }

        #[test]
        fn about_once_in_the_time_if_tasks_are_shorter() {
            for took in [20, 1_000, 3_279, 10_000, 50_000, 100_001, 199_999] {
                let (asked, _) = turns(EVERY, repeat_n(took, 20_000_000 / took as usize));
                let longest = longest(&asked[1..]);
                assert!(
                    longest <= EVERY + took * 61.min(EVERY / took),
                    "tasks of {took} ns: {longest} ns without a turn"
                );
            }
        }

        #[test]
        fn within_a_tick_and_a_task_when_short_ones_turn_long() {
            let tasks = repeat_n(100, 100_000).chain(repeat_n(1_000_000, 200));
            let longest = longest(&turns(EVERY, tasks).0);
            assert!(longest <= 6_300_000, "{longest} ns without a turn");
        }

        #[test]
        fn also_where_short_ones_run_among_long_ones() {
            for short in 1..60 {
                let tasks = (0..3_000).map(|n| if n % (short + 1) == short { 1_000_000 } else { 5_000 });
                let longest = longest(&turns(EVERY, tasks).0[8..]);
                assert!(longest <= 3_000_000, "{short} short ones before each: {longest} ns without a turn");
            }
        }
    }

    mod and_is_not {
        use super::*;

        #[test]
        fn if_turns_come_by_count_alone() {
            assert_eq!(turns(0, repeat_n(1_000_000, 1_000)), (vec![1], 0));
        }

        #[test]
        fn before_its_time_and_short_tasks_read_the_clock_once_in_sixty_one() {
            let (asked, reads) = turns(EVERY, repeat_n(20, 61_000));
            assert!(asked.windows(2).all(|pair| pair[1] - pair[0] >= EVERY));
            assert!(reads <= 1_000 + asked.len(), "{reads} readings");
        }
    }
}
