//! What everything looked like at one moment of a trace.

/// What an M does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MState {
    /// There is no such thread.
    #[default]
    Absent,
    /// It is about to start, or to wake.
    Waking,
    /// It runs a G, or looks which is the next.
    Awake,
    /// It looks for work at other Ps.
    Spinning,
    /// It sleeps.
    Sleeping,
    /// It waits for timers and sockets.
    Polling,
}

/// An M at one moment of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MFrame {
    /// What it does.
    pub state: MState,
    /// The P that it has.
    pub p: Option<u32>,
    /// The G that it runs, or that waits on it.
    pub g: Option<u64>,
}

/// A P at one moment of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PFrame {
    /// It is on the idle list.
    pub is_idle: bool,
    /// The M that has it, or has left it for a system call.
    pub m: Option<u32>,
    /// The G that is to run next.
    pub next: Option<u64>,
    /// Those in its ring, the oldest first.
    pub ring: Vec<u64>,
}

/// What everything looked like at one moment of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Frame {
    /// By number.
    pub ps: Vec<PFrame>,
    /// By number.
    pub ms: Vec<MFrame>,
    /// Those in the global queue, the oldest first.
    pub global: Vec<u64>,
}
