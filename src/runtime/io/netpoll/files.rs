//! Operations on files, in a ring: started by a task, completed by the M that polls.
//!
//! The owner of the buffer, and the task to wake, are [`operation`]'s business(crate::waits::operation). A task that waits for a file is counted as one
//! that waits for a socket is ([`Waiting`](crate::waits::readiness::Waiting)): before the operation is started, until it has been woken,
//! or has given up.

use crate::runtime::io::netpoll::poller::Netpoll;
use crate::runtime::io::netpoll::under_way::{Started, Work};
use crate::runtime::task_waker::TaskWaker;
use crate::waits::waker::Lender;
use core::task::Poll;
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
        if netpoll.sockets.waiting().add()
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
    pub(in crate::runtime) fn poll(
        &self,
        lender: &mut impl Lender<Waker = TaskWaker>,
    ) -> Poll<(Work, io::Result<usize>)> {
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
