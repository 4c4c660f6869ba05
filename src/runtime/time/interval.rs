//! Ticks.

use crate::runtime::host::clock;
use crate::runtime::time::sleep::{Sleep, after, sleep_until};
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll, ready};
use std::time::{Duration, Instant};

/// What to do if ticks were missed because they were not awaited in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// They come at once, one after the other, until the beat is met again.
    Burst,
    /// The next comes a period after this one: the beat moves.
    Delay,
    /// They are left out, and the beat stays. Go: `time.Ticker`.
    #[default]
    Skip,
}

/// Ticks now, and then once every `period`.
///
/// # Panics
/// If `period` is zero.
///
/// ```
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let mut interval = spinpark::time::interval(Duration::from_millis(1));
/// interval.tick().await; // the first is now
/// interval.tick().await; // a millisecond later
/// # });
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(clock::instant(), period)
}

/// Ticks at `first`, and then once every `period`.
///
/// # Panics
/// If `period` is zero.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// # spinpark::run(async {
/// let first = Instant::now() + Duration::from_millis(1);
/// let mut interval = spinpark::time::interval_at(first, Duration::from_millis(1));
/// assert_eq!(interval.tick().await, first);
/// # });
/// ```
#[track_caller]
pub fn interval_at(first: Instant, period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval of no time would tick for ever: give a period of a nanosecond or more");
    Interval { sleep: sleep_until(first), period, missed: MissedTickBehavior::default() }
}

/// What [`interval`] returns.
///
/// ```
/// use spinpark::time::{MissedTickBehavior, interval};
/// use std::time::{Duration, Instant};
///
/// # spinpark::run(async {
/// let mut interval = interval(Duration::from_secs(3600));
/// interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
/// let first = interval.tick().await;
/// interval.reset(); // an hour from now
/// interval.reset_at(Instant::now());
/// assert!(interval.tick().await >= first);
/// interval.reset_immediately();
/// interval.tick().await;
/// interval.reset_after(Duration::from_millis(1));
/// std::future::poll_fn(|cx| interval.poll_tick(cx)).await;
/// # });
/// ```
#[derive(Debug)]
pub struct Interval {
    sleep: Sleep,
    period: Duration,
    missed: MissedTickBehavior,
}

impl Interval {
    /// What to do about ticks that were missed.
    #[must_use]
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed
    }

    /// From now on this is done about ticks that were missed.
    ///
    /// ```
    /// use spinpark::time::{MissedTickBehavior, interval};
    ///
    /// let mut interval = interval(std::time::Duration::from_secs(1));
    /// interval.set_missed_tick_behavior(MissedTickBehavior::Burst);
    /// ```
    pub fn set_missed_tick_behavior(&mut self, missed: MissedTickBehavior) {
        self.missed = missed;
    }

    /// Waits for the next tick; when it was due.
    ///
    /// # Cancel safety
    /// Dropped while it waits, no tick is lost: the next call waits for the same one.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut interval = spinpark::time::interval(std::time::Duration::from_millis(1));
    /// interval.tick().await;
    /// # });
    /// ```
    pub async fn tick(&mut self) -> Instant {
        core::future::poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// The same, for futures that are written by hand.
    pub fn poll_tick(&mut self, cx: &mut task::Context<'_>) -> Poll<Instant> {
        ready!(Pin::new(&mut self.sleep).poll(cx));
        let (due, now) = (self.sleep.deadline, clock::now());
        let next = after(due, self.period);
        self.sleep.deadline = match self.missed {
            _ if next > now => next,
            MissedTickBehavior::Burst => next,
            MissedTickBehavior::Delay => after(now, self.period),
            MissedTickBehavior::Skip => {
                let period = after(0, self.period);
                now.saturating_add(period - (now - due) % period)
            }
        };
        Poll::Ready(clock::instant_of(due))
    }

    /// The next tick is a period from now.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut interval = spinpark::time::interval(std::time::Duration::from_secs(3600));
    /// interval.reset(); // an hour from now
    /// # });
    /// ```
    pub fn reset(&mut self) {
        self.reset_after(self.period);
    }

    /// The next tick is now.
    pub fn reset_immediately(&mut self) {
        self.reset_after(Duration::ZERO);
    }

    /// The next tick is after this time.
    pub fn reset_after(&mut self, time: Duration) {
        self.sleep.reset_to(after(clock::now(), time));
    }

    /// The next tick is at that moment.
    pub fn reset_at(&mut self, moment: Instant) {
        self.sleep.reset(moment);
    }

    /// The time between two ticks.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }
}

static_assertions::assert_impl_all!(Interval: Send, Sync, Unpin);
