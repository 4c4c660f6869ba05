//! Operations on files, in a ring: started by a task, completed by the M that polls.
//!
//! Who frees the buffer, and who is woken, is [`operation`](crate::waits::operation). A task that waits for a file is counted as one
//! that waits for a socket is ([`Waiting`](crate::waits::readiness::Waiting)): before the operation is started, until it has been woken,
//! or has given up.

use crate::runtime::guarded::guarded;
use crate::runtime::io::netpoll::poller::Netpoll;
use crate::runtime::io::netpoll::under_way::{FileOperation, Started, Work};
use crate::waits::waker::Lender;
use core::task::{Poll, Waker};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// An operation that a task waits for. Dropped, it is cancelled.
pub(in crate::runtime) struct OnFile {
    netpoll: Arc<Netpoll>,
    started: Started,
}

impl OnFile {
    /// Starts it, if the poller is a ring.
    ///
    /// # Errors
    /// It is none, or it is closed, or full.
    pub(in crate::runtime) fn start(netpoll: Arc<Netpoll>, file: BorrowedFd<'_>, work: Work) -> io::Result<OnFile> {
        let ring = netpoll.system.ring().ok_or(Errno::NOSYS)?;
        if netpoll.waiting.add()
            && let Some(hook) = netpoll.on_first.get()
        {
            hook();
        }
        match ring.start(file, work) {
            Ok(started) => Ok(OnFile { netpoll, started }),
            Err(error) => {
                netpoll.count_down(1);
                Err(error)
            }
        }
    }

    /// Waits until it is complete.
    pub(in crate::runtime) fn poll(&self, lender: &mut impl Lender<Waker = Waker>) -> Poll<(Work, io::Result<usize>)> {
        let taken = self.started.operation.poll(lender);
        taken.map(|(work, result)| {
            let result = usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
            (work, result)
        })
    }
}

impl Drop for OnFile {
    fn drop(&mut self) {
        if self.started.operation.give_up() {
            self.netpoll.count_down(1);
            if let Some(ring) = self.netpoll.system.ring()
                && let Err(error) = ring.cancel(self.started.number)
            {
                self.netpoll.keep(error);
            }
        }
    }
}

/// The kernel has completed these. How many tasks wait no more for whom there is no waker?
pub(super) fn take_complete(complete: &mut Vec<(Arc<FileOperation>, i32)>, wakers: &mut Vec<Waker>) -> usize {
    let mut finished = 0;
    for (operation, result) in complete.drain(..) {
        let (left, has_given_up) = operation.with(|state| (state.completes(result), state.has_given_up()));
        finished += usize::from(!has_given_up && left.wakes.is_none());
        wakers.extend(left.wakes);
        drop(left.frees);
    }
    finished
}

impl Netpoll {
    /// Is it a ring?
    pub(in crate::runtime) fn is_ring(&self) -> bool {
        self.system.ring().is_some()
    }

    /// Cancels all operations, and waits until the kernel has done with them.
    pub(super) fn finish_files(&self) {
        let Some(ring) = self.system.ring() else { return };
        let (mut complete, mut wakers) = (Vec::new(), Vec::new());
        ring.finish(|operation, result| complete.push((operation, result)));
        let finished = take_complete(&mut complete, &mut wakers) + wakers.len();
        wakers.into_iter().for_each(|waker| guarded(|| waker.wake()));
        self.count_down(finished);
    }
}
