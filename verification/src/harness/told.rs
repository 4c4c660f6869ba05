//! Wakers that say what became of them: each is woken or forgotten, where no lock is held, and none is dropped by the room that
//! had it. For rooms that are polled by hand, one step after the other.

use spinpark_kernel::waits::waker::{Lender, Waker};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What became of wakers.
#[derive(Default)]
pub struct Log(Mutex<Became>);

#[derive(Default)]
struct Became {
    woken: Vec<u64>,
    /// Dropped, and neither woken nor forgotten.
    lost: Vec<u64>,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Became> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which were woken since this was asked last.
    fn take_woken(&self) -> Vec<u64> {
        let mut became = self.lock();
        assert!(became.lost.is_empty(), "wakers {:?} were dropped, and neither woken nor forgotten", became.lost);
        std::mem::take(&mut became.woken)
    }

    /// By `op`, these were woken, in this order, and no others. Of the next nothing is expected yet.
    pub fn check(&self, expected: &mut Vec<u64>, op: &dyn Debug) {
        let (woken, expected) = (self.take_woken(), std::mem::take(expected));
        assert!(woken == expected, "{op:?} has woken {woken:?}, and not {expected:?}");
    }

    /// A lender of waker `id`, which gives copies at once if it `is_trusted`.
    pub fn lender(self: &Arc<Self>, id: u64, is_trusted: bool) -> Lends {
        Lends { log: Arc::clone(self), id, copy: None, is_trusted }
    }
}

/// A waker.
pub struct Told {
    log: Arc<Log>,
    id: u64,
    is_used: bool,
}

impl Told {
    fn new(log: &Arc<Log>, id: u64) -> Told {
        Told { log: Arc::clone(log), id, is_used: false }
    }
}

impl Waker for Told {
    fn wake(mut self) {
        self.is_used = true;
        self.log.lock().woken.push(self.id);
    }

    fn forget(mut self) {
        self.is_used = true;
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if !self.is_used {
            self.log.lock().lost.push(self.id);
        }
    }
}

/// Gives copies of one waker.
pub struct Lends {
    log: Arc<Log>,
    id: u64,
    copy: Option<Told>,
    is_trusted: bool,
}

impl Lender for Lends {
    type Waker = Told;

    fn is_same(&self, waker: &Told) -> bool {
        self.id == waker.id
    }

    fn lend(&mut self) -> Option<Told> {
        let at_once = self.is_trusted.then(|| Told::new(&self.log, self.id));
        self.copy.take().or(at_once)
    }

    fn prepare(&mut self) {
        assert!(self.copy.is_none(), "a copy is made though there is one");
        self.copy = Some(Told::new(&self.log, self.id));
    }
}

impl Drop for Lends {
    fn drop(&mut self) {
        self.copy.take().into_iter().for_each(Waker::forget);
    }
}
