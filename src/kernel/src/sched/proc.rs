//! What a P is to other Ms than its owner. Go: `type p`.
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs, proptests/tests/costs.rs

use crate::atomic::{Atomic, ByOwner};
use crate::host::Host;
use crate::protocol::syscall::SyscallWord;
use crate::queues::local::LocalQueue;
use crate::queues::runq::Capacity;
use crate::types::p::{PId, Turn};
use core::sync::atomic::Ordering::Relaxed;

/// What other Ms may touch of a P. Go: `type p`.
pub(crate) struct Proc<H: Host> {
    pub(super) queue: LocalQueue<H>,
    /// UnderLock the P while its M is in a system call.
    pub(crate) syscall_word: SyscallWord<H>,
    /// The monitor reads it, and a P that relieves another.
    pub(crate) turn: Atomic<H, Turn, ByOwner>,
    /// Preemption of its G is requested.
    pub(super) preempt: Atomic<H, bool>,
    /// Another P, and its dispatches when that was last looked at: `relieve`.
    pub(super) watched: Atomic<H, u64, ByOwner>,
}

impl<H: Host> Proc<H> {
    pub(super) fn new(p: PId, ring: Capacity) -> Self {
        Proc {
            queue: LocalQueue::new(ring),
            syscall_word: SyscallWord::new(p),
            turn: Atomic::new(Turn::default()),
            preempt: Atomic::new(false),
            watched: Atomic::new(0),
        }
    }

    /// A G is about to run; the request to preempt the one before is over. Only for the owner. Go: `execute`.
    #[inline]
    pub(super) fn begin_slice(&self, turn: Turn) {
        // Relaxed: to the next owner it goes with the P; the monitor takes any number that changes.
        self.turn.store(turn, Relaxed);
        // Relaxed: a request, and only a hint of one.
        if self.preempt.load(Relaxed) {
            // Relaxed: a request that comes just now is for a slice that has ended.
            self.preempt.store(false, Relaxed);
        }
    }
}
