//! What things cost, in picoseconds.

/// Picoseconds: the clock of the machine.
pub type Picos = u64;

/// A nanosecond.
pub const NANO: Picos = 1_000;
/// A microsecond.
pub const MICRO: Picos = 1_000 * NANO;

/// What a machine's words cost, and its system's calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// A load or a store whose line the core has.
    pub local: Picos,
    /// A locked instruction, or a full fence, whose line the core has.
    pub locked: Picos,
    /// A line that comes from another core of the same socket.
    pub line: Picos,
    /// A line that comes from another socket.
    pub far_line: Picos,
    /// A line that no core has.
    pub memory: Picos,
    /// Cores of a socket.
    pub socket: usize,
    /// Lines that a lock guards, and which are brought to the core that enters it.
    pub guarded: u64,
    /// From one G to the next on the same thread: the change of stacks, or the call of a future.
    pub switch: Picos,
    /// What a task's own code costs around a run, beside the words that are simulated.
    pub task: Picos,
    /// The shortest time from a futex wake to the moment at which the thread runs, and the longest.
    pub wake: (Picos, Picos),
    /// What the waker pays for it.
    pub wake_call: Picos,
    /// From the call that sleeps to the moment from which the thread can be woken by the system.
    pub sleep_call: Picos,
    /// Starting a thread: what the caller pays, and the time until it runs.
    pub start: (Picos, Picos),
    /// A short pause in a busy loop: 32 `pause` instructions.
    pub relax: Picos,
}

impl Default for Costs {
    /// Measured on two cores of an AMD EPYC, but for `memory`, `far_line`, `guarded`, `task`, the calls of the waker and of the
    /// sleeper, `start` and `relax`, which are estimates.
    fn default() -> Self {
        Costs {
            local: 240,
            locked: 4_900,
            line: 175 * NANO,
            far_line: 350 * NANO,
            memory: 90 * NANO,
            socket: 64,
            guarded: 2,
            switch: NANO,
            task: 40 * NANO,
            wake: (2_500 * NANO, 12_000 * NANO),
            wake_call: 1_000 * NANO,
            sleep_call: 600 * NANO,
            start: (10 * MICRO, 20 * MICRO),
            relax: 500 * NANO,
        }
    }
}
