//! M: a thread that runs Gs. Its mailbox, where the P it is woken for lies, and its parker.
//!
//! Go: `type m`, `m.nextp`, `m.spinning`, `m.park`, `notesleep`, `notewakeup`.
//!
//! **A woken M finds its mail.** Mail is delivered at most once for each time an M sleeps.
//!
//! | who wakes, in [`M::deliver`]     | who sleeps, in [`M::receive`]          |
//! |----------------------------------|----------------------------------------|
//! | 1. puts the mail into the box    | 1. parks (may return for no reason)    |
//! | 2. unparks                       | 2. takes the mail; none: parks again   |
//!
//! Pair `mailbox`: the mail itself releases and acquires, so a sleeper that looks for whatever reason sees the P's
//! queues as the last owner left them.
//!
//! Checked by: verification/src/models/threads.rs

use crate::atomic::{Atomic, Value};
use crate::host::{Host, Parker};
use crate::kernel::types::p::{OwnedP, PId};
use crate::kernel::types::token::Unspent;
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

/// Evidence that one M is counted in `nmspinning`. Cannot be copied, must be spent.
#[must_use = "a seeker must find work or retire"]
#[derive(Debug)]
pub struct Seeking(Unspent);

impl Seeking {
    /// For whoever has just counted one up, or takes over a count out of a mailbox.
    #[inline(always)]
    pub fn assume() -> Seeking {
        Seeking(Unspent::new("m: a Seeking was dropped; it must find work or retire"))
    }

    /// For whoever is about to count one down, or to put the count into a mailbox.
    #[inline(always)]
    pub fn relinquish(self) {
        self.0.spend();
    }
}

/// What an M is woken for.
#[derive(Debug)]
pub enum Mail {
    /// Use this P; if `seeking`, you are already counted as looking for work.
    Run {
        /// The P to use.
        p: OwnedP,
        /// The count that comes with it.
        seeking: Option<Seeking>,
    },
    /// The scheduler is closed: end.
    Exit,
}

impl Value for Option<Mail> {
    fn into_word(self) -> u64 {
        match self {
            None => 0,
            Some(Mail::Exit) => 1,
            Some(Mail::Run { p, seeking }) => {
                let counted = seeking.map(Seeking::relinquish).is_some();
                2 | u64::from(counted) | u64::from(p.relinquish().0) << 2
            }
        }
    }
    fn from_word(word: u64) -> Self {
        match word {
            0 => None,
            1 => Some(Mail::Exit),
            _ => {
                let seeking = (word & 1 != 0).then(Seeking::assume);
                Some(Mail::Run { p: OwnedP::assume(PId((word >> 2) as u32)), seeking })
            }
        }
    }
}

/// What others may touch of an M.
pub struct M<H: Host> {
    mailbox: Atomic<H, Option<Mail>>,
    parker: H::Parker,
}

impl<H: Host> M<H> {
    /// Awake, with an empty mailbox.
    #[track_caller]
    pub fn new() -> Self {
        M { mailbox: Atomic::new(None), parker: H::Parker::new() }
    }

    /// Puts `mail` into the box of an M that sleeps, and wakes it. At most once for each sleep.
    ///
    /// # Panics
    /// If there was mail in the box already: two wakers took the same M.
    #[inline]
    pub fn deliver(&self, mail: Mail) {
        self.post(mail);
        self.parker.unpark();
    }

    /// Puts `mail` into the box of an M that has yet to start.
    ///
    /// # Panics
    /// If there was mail in the box already.
    #[inline]
    pub fn post(&self, mail: Mail) {
        // Release: `mailbox`, the waker's half. A swap rather than a store, to catch a second delivery.
        let before = self.mailbox.swap(Some(mail), Release).into_word();
        assert!(before == 0, "m: mail delivered twice ({before} lay there)");
    }

    /// Sleeps until there is mail. Called by the M itself.
    #[inline]
    pub fn receive(&self) -> Mail {
        loop {
            self.parker.park();
            if let Some(mail) = self.collect() {
                return mail;
            }
        }
    }

    /// Takes the mail, if there is any. Called by the M itself, or by who failed to start it.
    #[inline]
    pub fn collect(&self) -> Option<Mail> {
        // Acquire: `mailbox`, the sleeper's half.
        self.mailbox.swap(None, Acquire)
    }
}

impl<H: Host> Default for M<H> {
    fn default() -> Self {
        Self::new()
    }
}

static_assertions::assert_impl_all!(Seeking: Send, Sync);
static_assertions::assert_not_impl_any!(Seeking: Copy, Clone);
static_assertions::assert_not_impl_any!(Mail: Copy, Clone);
