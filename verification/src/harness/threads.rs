//! The smallest scheduler around `threads`: idle Ps and sleeping Ms in two lists under a lock. A new M does nothing: its
//! `nextp`, with the P, stays in its box.

use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant;
use spinpark_kernel::host::{Lock, SpawnError};
use spinpark_kernel::protocol::threads::{Available, Neighbours};
use spinpark_kernel::types::m::{M, MId, NextP, SpinningToken};
use spinpark_kernel::types::p::{OwnedP, PId};
use std::sync::Arc;

/// The smallest scheduler around the room.
pub struct Tiny<H: ModelHost> {
    /// The Ms.
    pub ms: Box<[M<H>]>,
    /// What is under the lock.
    pub central: H::Lock<Central>,
    /// One a P: what its last owner did. Only its owner touches it.
    pub data: Box<[H::Cell<u64>]>,
}

/// What is under the lock.
#[derive(Debug, Default)]
pub struct Central {
    /// Ms that sleep.
    pub sleeping: Vec<MId>,
    /// Idle Ps.
    pub idle: Vec<PId>,
    /// Is a spinning M asked for? As `needspinning`.
    pub asked: bool,
    /// How many Ms were started.
    pub started: u32,
    /// Numbers for new Ms.
    pub unused: Vec<MId>,
    /// How many threads can be had.
    pub threads: u32,
    /// How many Ms neither sleep nor have ended.
    pub awake: usize,
    /// All is over: an M that sleeps is to end.
    pub closed: bool,
}

/// NextP with this P, and a count.
pub fn nextp(p: PId) -> NextP {
    NextP::Run { p: OwnedP::forge(p), token: Some(SpinningToken::forge()) }
}

/// The P in it. `None`: its M is to end.
pub fn open(nextp: NextP) -> Option<PId> {
    match nextp {
        NextP::Run { p, token } => {
            token.into_iter().for_each(SpinningToken::discard);
            Some(p.discard())
        }
        NextP::Exit => None,
    }
}

impl<H: ModelHost> Tiny<H> {
    /// With so many Ms and Ps, and this under the lock.
    pub fn new(ms: usize, ps: usize, central: Central) -> Arc<Self> {
        Arc::new(Tiny {
            ms: (0..ms).map(|_| M::new()).collect(),
            central: H::Lock::new(central),
            data: (0..ps).map(|_| Cell::new(0)).collect(),
        })
    }
}

impl Central {
    /// Takes a sleeping M, which is awake from now on.
    pub fn wake(&mut self) -> Option<MId> {
        let m = self.sleeping.pop()?;
        self.awake += 1;
        Some(m)
    }

    /// One less is awake. If none is: all is over.
    pub fn one_less(&mut self) {
        self.awake -= 1;
        self.closed = self.awake == 0;
    }
}

impl<H: ModelHost> Neighbours<H> for Tiny<H> {
    fn mget(&self) -> Available {
        self.central.with(|c| match c.wake() {
            Some(m) => Available::Sleeping(m),
            None => c.unused.pop().map_or(Available::None, Available::New),
        })
    }
    fn mput(&self, m: MId) -> Option<NextP> {
        self.central.with(|c| {
            if c.asked && mutant::variant() != Some("sleeps-on-a-request") && !c.idle.is_empty() {
                c.asked = false;
                return Some(nextp(c.idle.remove(0)));
            }
            c.sleeping.push(m);
            c.one_less();
            c.closed.then_some(NextP::Exit)
        })
    }
    fn newm(&self, _m: MId) -> Result<(), SpawnError> {
        self.central.with(|c| {
            c.threads = c.threads.checked_sub(1).ok_or(SpawnError { os_error: None })?;
            c.started += 1;
            Ok(())
        })
    }
    fn refused(&self, nextp: NextP, m: Option<MId>) -> Option<(MId, NextP)> {
        self.central.with(|c| {
            c.unused.extend(m);
            let late = if mutant::is_variant("forgets-who-fell-asleep") { None } else { c.wake() };
            if let Some(late) = late {
                return Some((late, nextp));
            }
            c.idle.extend(open(nextp));
            c.asked = true;
            None
        })
    }
}
