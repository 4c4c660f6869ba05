//! A thread that waits as a task does: it polls, and parks until the waker that it gave is woken.

use crate::hosts::model_host::ModelHost;
use spinpark_kernel::host::Parker;
use spinpark_kernel::waits::waker::{Lender, Waker};
use std::sync::Arc;
use std::task::Poll;

/// Wakes one thread.
pub struct ParkWaker<H: ModelHost>(Arc<H::Parker>);

impl<H: ModelHost> Waker for ParkWaker<H> {
    fn wake(self) {
        self.0.unpark();
    }

    fn forget(self) {}
}

/// Where a thread parks.
pub struct Sleeper<H: ModelHost>(Arc<H::Parker>);

impl<H: ModelHost> Sleeper<H> {
    /// Of the calling thread.
    pub fn new() -> Self {
        Sleeper(Arc::new(H::Parker::new()))
    }

    /// Gives copies of its waker at once.
    pub fn lender(&self) -> ThreadLender<'_, H> {
        ThreadLender { sleeper: self, copy: None, is_trusted: true }
    }

    /// Gives copies of its waker that were made outside of the lock only.
    pub fn untrusted_lender(&self) -> ThreadLender<'_, H> {
        ThreadLender { is_trusted: false, ..self.lender() }
    }

    /// Parks until its waker is woken.
    pub fn park(&self) {
        self.0.park();
    }

    /// Polls until it is ready, and parks meanwhile.
    pub fn wait_for<R>(&self, poll: impl FnMut(&mut ThreadLender<'_, H>) -> Poll<R>) -> R {
        self.wait(poll, Self::lender)
    }

    /// The same, with copies of its waker that were made outside of the lock only.
    pub fn wait_for_untrusted<R>(&self, poll: impl FnMut(&mut ThreadLender<'_, H>) -> Poll<R>) -> R {
        self.wait(poll, Self::untrusted_lender)
    }

    fn wait<R>(
        &self,
        mut poll: impl FnMut(&mut ThreadLender<'_, H>) -> Poll<R>,
        lender: fn(&Self) -> ThreadLender<'_, H>,
    ) -> R {
        loop {
            match poll(&mut lender(self)) {
                Poll::Ready(result) => return result,
                Poll::Pending => self.park(),
            }
        }
    }
}

impl<H: ModelHost> Default for Sleeper<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// Gives copies of a thread's waker.
pub struct ThreadLender<'a, H: ModelHost> {
    sleeper: &'a Sleeper<H>,
    copy: Option<ParkWaker<H>>,
    is_trusted: bool,
}

impl<H: ModelHost> Lender for ThreadLender<'_, H> {
    type Waker = ParkWaker<H>;

    fn is_same(&self, waker: &ParkWaker<H>) -> bool {
        Arc::ptr_eq(&self.sleeper.0, &waker.0)
    }

    fn lend(&mut self) -> Option<ParkWaker<H>> {
        let at_once = || self.is_trusted.then(|| ParkWaker(Arc::clone(&self.sleeper.0)));
        self.copy.take().or_else(at_once)
    }

    fn prepare(&mut self) {
        self.copy = Some(ParkWaker(Arc::clone(&self.sleeper.0)));
    }
}
