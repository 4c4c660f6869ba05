//! M: a thread that runs Gs. Its `nextp`, the P that it is woken with, and its parker.
//!
//! Go: `type m`, `m.nextp`, `m.spinning`, `m.park`, `notesleep`, `notewakeup`.
//!
//! **A woken M finds its `nextp`.** It is set at most once for each time that an M sleeps.
//!
//! | the waker, in [`M::wake_with`] | the sleeper, in [`M::wait_nextp`]       |
//! |--------------------------------|-----------------------------------------|
//! | 1. sets `nextp`                | 1. parks (may wake spuriously)          |
//! | 2. unparks                     | 2. takes `nextp`; none: parks again     |
//!
//! Pair `nextp`: `nextp` itself releases and acquires, so a sleeper that takes it, even after a spurious wake, sees the P's
//! queues as the last owner left them.
//!
//! Checked by: verification/rooms/src/rooms/threads.rs

use crate::atomic::{Atomic, Value};
use crate::host::{Host, Parker};
use crate::types::p::{OwnedP, PId};
use crate::types::token::Unspent;
use core::sync::atomic::Ordering::{Acquire, Release};

/// An M's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MId(pub u32);

impl MId {
    /// As an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Evidence that one M is counted in `nmspinning`. It cannot be copied, and must be spent.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{protocol::spinning::Spinning, types::m::SpinningToken};
/// let spinning = Spinning::<Os>::new();
/// let token: SpinningToken = spinning.become_spinning();
/// spinning.give_up(token); // dropped, it would panic
/// # }
/// ```
#[must_use = "a spinning M must find work or retire"]
#[derive(Debug)]
pub struct SpinningToken(Unspent<SpinningToken>);

impl SpinningToken {
    /// For an M that was just counted, or that takes a count over from its `nextp`.
    #[inline(always)]
    pub(crate) fn assume() -> SpinningToken {
        SpinningToken(Unspent::new())
    }

    /// For the caller that is about to lower the count, or to put it into a `nextp`.
    #[inline(always)]
    pub(crate) fn relinquish(self) {
        self.0.spend();
    }
}

/// What an M is woken for.
#[derive(Debug)]
pub enum NextP {
    /// Use this P; with `token`, the M is counted as spinning already.
    Run {
        /// The P to use.
        p: OwnedP,
        /// The count that comes with it.
        token: Option<SpinningToken>,
    },
    /// The scheduler is closed: end.
    Exit,
}

/// A `nextp`, or none, as one word. No public type: code that can read a word as a `nextp` can forge one.
pub(crate) struct NextPWord(pub(crate) Option<NextP>);

impl Value for NextPWord {
    fn into_word(self) -> u64 {
        match self.0 {
            None => 0,
            Some(NextP::Exit) => 1,
            Some(NextP::Run { p, token }) => {
                let counted = token.map(SpinningToken::relinquish).is_some();
                2 | u64::from(counted) | u64::from(p.relinquish().0) << 2
            }
        }
    }
    fn from_word(word: u64) -> Self {
        NextPWord(match word {
            0 => None,
            1 => Some(NextP::Exit),
            _ => {
                let token = (word & 1 != 0).then(SpinningToken::assume);
                Some(NextP::Run { p: OwnedP::assume(PId((word >> 2) as u32)), token })
            }
        })
    }
}

/// What others may touch of an M.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::types::m::{M, NextP};
/// let m = Arc::new(M::<Os>::new());
/// let waker = Arc::clone(&m);
/// thread::spawn(move || waker.wake_with(NextP::Exit));
/// assert!(matches!(m.wait_nextp(), NextP::Exit));
/// m.set_nextp(NextP::Exit); // of an M that has yet to start
/// assert!(m.take_nextp().is_some() && m.take_nextp().is_none());
/// # }
/// ```
pub struct M<H: Host> {
    nextp: Atomic<H, NextPWord>,
    parker: H::Parker,
}

impl<H: Host> M<H> {
    /// Awake, with an empty `nextp`.
    #[track_caller]
    pub fn new() -> Self {
        M { nextp: Atomic::new(NextPWord(None)), parker: H::Parker::new() }
    }

    /// Sets `nextp` of an M that sleeps, and wakes it. At most once for each sleep.
    ///
    /// # Panics
    /// If `nextp` was set already: two wakers took the same M.
    #[inline]
    pub fn wake_with(&self, nextp: NextP) {
        self.set_nextp(nextp);
        self.parker.unpark();
    }

    /// Sets `nextp` of an M that has yet to start.
    ///
    /// # Panics
    /// If `nextp` was set already.
    #[inline]
    pub fn set_nextp(&self, nextp: NextP) {
        // Release: `nextp`, the waker's half. A swap rather than a store, to catch a second delivery.
        let before = self.nextp.swap(NextPWord(Some(nextp)), Release).into_word();
        assert!(before == 0, "m: `nextp` is set twice (it was {before})");
    }

    /// Sleeps until `nextp` is set, and takes it. Called by the M itself.
    #[inline]
    pub fn wait_nextp(&self) -> NextP {
        loop {
            self.parker.park();
            if let Some(nextp) = self.take_nextp() {
                return nextp;
            }
        }
    }

    /// Takes `nextp`, if it is set. Called by the M itself, or by the caller that failed to start it.
    #[inline]
    pub fn take_nextp(&self) -> Option<NextP> {
        // Acquire: `nextp`, the sleeper's half.
        self.nextp.swap(NextPWord(None), Acquire).0
    }
}

static_assertions::assert_impl_all!(SpinningToken: Send, Sync);
