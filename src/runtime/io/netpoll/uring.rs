//! io_uring as a poller: a socket is polled by one request that completes again and again.
//!
//! What [`readiness`](crate::waits::readiness) wants of a poller that is armed for ever, and what it is here:
//!
//! | the contract                                         | the ring                                                  |
//! |------------------------------------------------------|-----------------------------------------------------------|
//! | what changes after a try is reported after that try  | a multishot poll is edge-triggered: each wake-up of the socket's queue has the kernel look at the socket again, and complete the request if it is ready |
//! | armed, a socket reports what it is ready for already | the kernel looks at it as it takes the request            |
//! | a report may be of a socket that is gone             | a completion that was there before its request was cancelled |
//! | one notice is remembered                             | a request that does nothing: its completion stays until it is taken |
//!
//! So a completion with the mark that more will come is a report. One without it is the last of its request: the queue of completions
//! was too full; the thread that had submitted it has ended, and the kernel cancels its requests; or the socket was forgotten.
//! [`Change`] says in `ended` which request that was. If the source has no other since, it submits a new one, which reports what is so then: so nothing
//! that changed in between is lost.
//!
//! **A request has a number of its own**, the key with a generation, so what comes of an old one is told from what comes of the
//! one that has its key now. (A number comes again after 2^31 requests.)
//!
//! The kernel completes a request on the thread that had submitted it, so that may be interrupted, or, where it sleeps, be woken for
//! a moment.

use crate::runtime::io::netpoll::change::{Change, Request, reported};
use crate::runtime::io::netpoll::lock::lock;
use crate::runtime::io::netpoll::ring::{Completion, Ring};
use crate::runtime::io::netpoll::socket::{Interest, Socket};
use crate::runtime::io::netpoll::under_way::{FileOperation, Started, Work};
use core::time::Duration;
use rustix::event::epoll;
use rustix::event::epoll::EventFlags as Flags;
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex};

/// The number of a request that ends a wait.
const BELL: u64 = u64::MAX;
/// The number of a request to cancel another.
const CANCELS: u64 = u64::MAX - 1;
/// How many entries can be queued before the kernel takes them, and how many completions before a thread does.
const ROOM: (u32, u32) = (256, 4096);

/// A ring, and the generation of the last request.
pub(in crate::runtime::io::netpoll) struct Uring {
    ring: Ring,
    generation: Mutex<u32>,
}

impl Uring {
    /// # Errors
    /// The system has no io_uring, forbids it, or is too old.
    pub(super) fn new() -> io::Result<Uring> {
        Self::with_room(ROOM)
    }

    pub(super) fn with_room((entries, completions): (u32, u32)) -> io::Result<Uring> {
        Ok(Uring { ring: Ring::new(entries, completions)?, generation: Mutex::new(0) })
    }

    /// Can `socket` be polled? epoll is asked, which refuses what is always ready; all sockets can.
    ///
    /// # Errors
    /// It cannot.
    pub(super) fn check(socket: &dyn Socket) -> io::Result<()> {
        if rustix::net::sockopt::socket_type(socket.as_fd()).is_ok() {
            return Ok(());
        }
        let judge = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(epoll::add(&judge, socket.as_fd(), epoll::EventData::new_u64(0), Flags::IN)?)
    }

    /// From now on `socket` reports what changes; at once what it is ready for.
    pub(super) fn poll(&self, socket: &dyn Socket, key: usize) -> io::Result<Request> {
        let key = u32::try_from(key).map_err(|_| Errno::MFILE)?;
        let request = {
            let mut generation = lock(&self.generation);
            *generation = generation.wrapping_add(1) & (u32::MAX >> 1);
            Request(u64::from(*generation) << 32 | u64::from(key))
        };
        // No task waits for urgent bytes. But a read stops at them, with more behind.
        let wanted = (Flags::IN | Flags::OUT | Flags::RDHUP | Flags::PRI).bits();
        self.ring.poll(socket.as_fd(), wanted, request.0)?;
        Ok(request)
    }

    /// The socket of this request reports no more. The kernel closes it as soon as the thread that had submitted the request has
    /// run on for a moment.
    pub(super) fn remove(&self, request: Request) -> io::Result<()> {
        self.ring.cancel(request.0, CANCELS)
    }

    pub(super) fn notify(&self) -> io::Result<()> {
        self.ring.nop(BELL)
    }

    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        mut each: impl FnMut(Change),
        mut complete: impl FnMut(Arc<FileOperation>, i32),
    ) -> io::Result<()> {
        self.ring.wait(timeout, |completion| match completion {
            Completion::Operation(operation, result) => complete(operation, result),
            Completion::Poll { number: BELL | CANCELS, .. } => (),
            Completion::Poll { number, result, has_more } => each(report(Request(number), result, has_more)),
        })
    }

    /// Starts an operation on a file.
    pub(super) fn start(&self, file: BorrowedFd<'_>, work: Work) -> io::Result<Started> {
        self.ring.start(file, work)
    }

    /// No task waits for this operation any more.
    pub(super) fn cancel(&self, number: u64) -> io::Result<()> {
        self.ring.cancel(number, CANCELS)
    }

    /// Cancels all operations, and waits for them.
    pub(super) fn finish(&self, mut complete: impl FnMut(Arc<FileOperation>, i32)) {
        let each = |completion| {
            if let Completion::Operation(operation, result) = completion {
                complete(operation, result);
            }
        };
        self.ring.finish(each, BELL);
    }
}

/// What a completion of a poll says. A report may be older than the last try; so that there is no more is never remembered here: each
/// report counts as one of the end.
fn report(request: Request, result: i32, has_more: bool) -> Change {
    const BOTH: Interest = Interest { read: true, write: true };
    let (what, end) = match u32::try_from(result) {
        Ok(flags) => (reported(Flags::from_bits_retain(flags)).0, BOTH),
        Err(_) if result == -Errno::CANCELED.raw_os_error() => (Interest::default(), Interest::default()),
        // The task that tries gets the error.
        Err(_) => (BOTH, BOTH),
    };
    let ended = (!has_more).then_some(request);
    Change { key: (request.0 & u64::from(u32::MAX)) as usize, what, end, ended }
}
