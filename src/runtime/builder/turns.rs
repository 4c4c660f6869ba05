//! When the global queue, timers and sockets have their turn.

use crate::runtime::builder::Builder;
use crate::runtime::host::duration;
use core::time::Duration;

impl Builder {
    /// One dispatch in this many looks first into the global queue, and at timers and, [now and then](Builder::peek_every), sockets,
    /// so that a P with work of its own does not starve them. Default 61, as Go's; 0: never. With 1, a submitter that keeps the global
    /// queue filled starves the local ones.
    pub fn global_every(mut self, n: u32) -> Self {
        self.config.global_every = n;
        self
    }

    /// And where tasks run for long, the global queue, timers and sockets have such a turn about once in this time: after one task at the
    /// soonest, and when short tasks turn long after 5 ms and a task. So a round trip over TCP beside tasks that compute for a
    /// millisecond and yield takes about two, not 120. In such a turn a thread also takes tasks from one that has begun none since the
    /// turn before: it computes, or the system does not let it run. Turns by count stay as they are. Default 200 us; 0: by count alone, as in Go, and
    /// as on a [`deterministic`](Builder::deterministic) runtime always. With `global_every(0)` there is no turn at all.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = spinpark::Runtime::builder().procs(1).turn_every(Duration::from_micros(500)).build()?;
    /// # drop(runtime);
    /// # Ok::<(), spinpark::BuildError>(())
    /// ```
    pub fn turn_every(mut self, time: Duration) -> Self {
        self.turn_every = duration::nanos(time);
        self
    }

    /// How long Ps that all have work leave the sockets alone at the [global queue's turn](Builder::global_every) by count: then one
    /// looks. A P without work looks at once, and one whose turn is one [by time](Builder::turn_every) too. Default 1 ms; 0: at each turn.
    /// A smaller value does not help: a thread busy with fresh socket events never gets round to stealing older tasks.
    pub fn peek_every(mut self, time: Duration) -> Self {
        self.config.peek_every = duration::nanos(time);
        self
    }
}
