//! Counting what the scheduler does.
//!
//! Go: `schedstats`.
//!
//! What happens at each dispatch is counted by the M that owns the P, in a line of memory of that P's own, by a load and a
//! store: nothing is shared, and nothing is locked. What is rare, because a thread sleeps or wakes for it, is counted in
//! one place for all.

use crate::host::Nanos;
use crate::kernel::protocol::sources::Source;
use crate::kernel::sched::observer::Event;
use crate::kernel::types::p::PId;
use crate::runtime::host::thread_state::thread_state;
use crate::runtime::observe::count::Count;
use crate::runtime::observe::histogram::{Bins, Histogram};
use crate::runtime::observe::sampling::{self, Timed};
use core::cell::Cell;
use core::time::Duration;
use crossbeam_utils::CachePadded;

thread_state! {
    /// Since when this thread looks for work; 0: it does not.
    static LOOKS_SINCE: Cell<Nanos> = Cell::new(0);
}

/// Where a runtime counts.
pub(in crate::runtime) struct Meter {
    pub(super) ps: Box<[CachePadded<PMeter>]>,
    times: Option<(Timed, Box<[CachePadded<Times>]>)>,
    pub(super) rare: CachePadded<Rare>,
    since: Nanos,
    /// What time it is, on the host of the runtime.
    clock: fn() -> Nanos,
}

/// Counted by the M that owns the P.
#[derive(Default)]
pub(super) struct PMeter {
    /// By [`Source`]; the last are those from `runnext`.
    pub(super) found: [Count; RUNNEXT + 1],
    pub(super) gs_stolen: Count,
}

/// Where those from `runnext` are counted.
pub(super) const RUNNEXT: usize = 5;

/// Measured by the M that owns the P.
pub(super) struct Times {
    pub(super) latency: Bins,
    pub(super) run_time: Bins,
}

/// Counted by any.
#[derive(Default)]
pub(super) struct Rare {
    pub(super) spins: Count,
    pub(super) spinning_nanos: Count,
    pub(super) sleeps: Count,
    pub(super) wakes: Count,
    pub(super) polls: Count,
    pub(super) starts: Count,
    pub(super) retakes: Count,
    pub(super) refused: Count,
    pub(super) stops: Count,
}

impl Meter {
    /// For so many Ps. Does it measure times?
    pub(in crate::runtime) fn new(ps: usize, is_timed: bool, clock: fn() -> Nanos) -> Meter {
        let times = || CachePadded::new(Times { latency: Bins::new(), run_time: Bins::new() });
        Meter {
            ps: (0..ps).map(|_| CachePadded::default()).collect(),
            times: is_timed.then(|| (Timed::new(), (0..ps).map(|_| times()).collect())),
            rare: CachePadded::default(),
            since: clock(),
            clock,
        }
    }

    /// Something was reported.
    #[inline(always)]
    pub(in crate::runtime) fn note(&self, event: &Event<'_>) {
        match *event {
            Event::Found { p, from, next, .. } => {
                let place = if next { RUNNEXT } else { from as usize };
                self.ps[p.index()].found[place].add_alone(1);
            }
            Event::Queued { .. } | Event::Returned { .. } => (),
            _ => self.note_rare(event),
        }
    }

    #[inline(never)]
    fn note_rare(&self, event: &Event<'_>) {
        let rare = &self.rare;
        match *event {
            Event::Stole { p, gs, .. } => self.ps[p.index()].gs_stolen.add_alone(gs as u64),
            Event::Spinning { .. } | Event::Called { .. } => {
                rare.spins.add(1);
                LOOKS_SINCE::with(|since| since.set((self.clock)().max(1)));
            }
            Event::Sought { .. } => {
                let since = LOOKS_SINCE::with(Cell::take).unwrap_or(0);
                if since > 0 {
                    rare.spinning_nanos.add((self.clock)().saturating_sub(since));
                }
            }
            Event::Slept { .. } => rare.sleeps.add(1),
            Event::Woken { .. } => rare.wakes.add(1),
            Event::Polling { .. } => rare.polls.add(1),
            Event::Starting { .. } => rare.starts.add(1),
            Event::Retaken { .. } => rare.retakes.add(1),
            Event::Refused => rare.refused.add(1),
            Event::Stopped => rare.stops.add(1),
            _ => (),
        }
    }

    /// Does it measure times?
    pub(in crate::runtime) fn is_timed(&self) -> bool {
        self.times.is_some()
    }

    /// The task at this address is about to run under `p`. `Some`: tell when it has run.
    #[inline(always)]
    pub(in crate::runtime) fn begins(&self, p: PId, address: u64) -> Option<Nanos> {
        let (_, times) = self.times.as_ref()?;
        let readied = sampling::begins(address)?;
        let now = (self.clock)();
        times[p.index()].latency.add(now.saturating_sub(readied));
        Some(now)
    }

    /// It has run since then, and now it waits or ends, under `p`.
    #[cold]
    pub(in crate::runtime) fn ended(&self, p: PId, since: Nanos) {
        if let Some((_, times)) = &self.times {
            times[p.index()].run_time.add((self.clock)().saturating_sub(since));
        }
    }

    /// How long the runtime has been there.
    pub(in crate::runtime) fn uptime(&self) -> Duration {
        Duration::from_nanos((self.clock)().saturating_sub(self.since))
    }

    pub(super) fn histogram(&self, which: fn(&Times) -> &Bins) -> Option<Histogram> {
        self.times.as_ref().map(|(_, times)| Histogram::sum(times.iter().map(|times| which(times))))
    }
}

static_assertions::const_assert!((Source::Steal as usize) < RUNNEXT);
