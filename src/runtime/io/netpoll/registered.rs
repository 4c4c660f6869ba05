//! A socket with its place in the poller: what tries, waits, and tries again.

use crate::runtime::exec::yielding::{leaf, poll_leaf};
use crate::runtime::io::netpoll::entry::{Entry, is_ready};
use crate::runtime::io::netpoll::lock::shut_down;
use crate::runtime::io::netpoll::poller::Netpoll;
use crate::runtime::io::netpoll::socket::{Direction, Socket};
use crate::runtime::task_waker::TaskWaker;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::task::{Context, Poll};
use std::io;
use std::sync::Arc;

/// A socket that the poller of a runtime knows, as long as this lives.
pub(crate) struct Registered<S> {
    // In this order: when it is dropped the poller forgets the socket, then it is closed.
    pub(super) registration: Registration,
    socket: Arc<S>,
}

impl<S: Socket> Registered<S> {
    /// Makes `socket`, which has to be in non-blocking mode, known to `netpoll`.
    ///
    /// # Errors
    /// If the poller was closed, or the system takes no more.
    pub(crate) fn new(netpoll: Arc<Netpoll>, socket: S) -> io::Result<Registered<S>> {
        let socket = Arc::new(socket);
        let entry = netpoll.register(socket.clone())?;
        Ok(Registered { registration: Registration { netpoll, entry }, socket })
    }

    /// Makes another socket known where this one is.
    ///
    /// # Errors
    /// As those of [`new`](Registered::new).
    pub(crate) fn sibling<T: Socket>(&self, socket: T) -> io::Result<Registered<T>> {
        Registered::new(Arc::clone(&self.registration.netpoll), socket)
    }

    /// The socket.
    pub(crate) fn get(&self) -> &S {
        &self.socket
    }

    /// The socket, which the poller forgets.
    pub(crate) fn into_inner(self) -> S {
        let Registered { registration, socket } = self;
        drop(registration);
        Arc::into_inner(socket).expect("netpoll: the registration had the only other share")
    }

    /// Tries `f`. If it would block, the task is woken when it may be worth another try.
    ///
    /// For the `poll` methods of others' traits. Which of its callers has given up they do not tell, so the last few are
    /// [woken](crate::waits::readiness::SLOTS).
    ///
    /// # Errors
    /// Those of `f`; and if it would block though the runtime was shut down, that.
    pub(crate) fn poll_io<R>(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        mut f: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        poll_leaf(cx, WHY, |cx| {
            let entry = &self.registration.entry;
            loop {
                let seen = entry.ticks(direction);
                if let Some(result) = attempt(|| f(&self.socket)) {
                    return Poll::Ready(result);
                }
                match self.registration.netpoll.wait(entry, direction, None, TaskWaker(cx.waker().clone()), seen) {
                    Ok(true) => return Poll::Pending,
                    Ok(false) => (),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        })
    }

    /// Tries `f` until it would not block.
    ///
    /// # Errors
    /// Those of `f`; and if it would block though the runtime was shut down, that.
    pub(crate) async fn io<R>(&self, direction: Direction, mut f: impl FnMut(&S) -> io::Result<R>) -> io::Result<R> {
        let mut place = Place::new(&self.registration, direction);
        leaf(WHY, |cx| {
            loop {
                let seen = self.registration.entry.ticks(direction);
                if let Some(result) = attempt(|| f(&self.socket)) {
                    return Poll::Ready(result);
                }
                match place.wait(cx, seen) {
                    Ok(true) => return Poll::Pending,
                    Ok(false) => (),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        })
        .await
    }

    /// Tries `f`, and does not wait.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if it would; those of `f`.
    pub(crate) fn try_io<R>(&self, mut f: impl FnMut(&S) -> io::Result<R>) -> io::Result<R> {
        attempt(|| f(&self.socket)).unwrap_or_else(|| Err(io::ErrorKind::WouldBlock.into()))
    }

    /// As [`io`](Registered::io), for reading, for writing, or for whichever is possible first.
    ///
    /// # Errors
    /// As [`io`](Registered::io)'s.
    #[cfg(unix)]
    pub(crate) async fn io_for<R>(
        &self,
        (reads, writes): (bool, bool),
        f: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        match (reads, writes) {
            (true, false) => self.io(Direction::Read, f).await,
            (false, true) => self.io(Direction::Write, f).await,
            _ => self.io_either(f).await,
        }
    }

    /// Tries `f` until it would not block, whichever direction is reported.
    ///
    /// # Errors
    /// Those of `f`; and if it would block though the runtime was shut down, that.
    #[cfg(unix)]
    async fn io_either<R>(&self, mut f: impl FnMut(&S) -> io::Result<R>) -> io::Result<R> {
        let place = |direction| Place::new(&self.registration, direction);
        let (mut reads, mut writes) = (place(Direction::Read), place(Direction::Write));
        leaf(WHY, |cx| {
            let entry = &self.registration.entry;
            loop {
                let seen = [Direction::Read, Direction::Write].map(|direction| entry.ticks(direction));
                if let Some(result) = attempt(|| f(&self.socket)) {
                    return Poll::Ready(result);
                }
                // One that has changed is worth another try; on the other's list its waker may stay.
                match (reads.wait(cx, seen[0]), writes.wait(cx, seen[1])) {
                    (Ok(true), Ok(true)) => return Poll::Pending,
                    (Err(error), _) | (_, Err(error)) => return Poll::Ready(Err(error)),
                    _ => (),
                }
            }
        })
        .await
    }

    /// Waits until the socket is ready in this direction, or was since this was called.
    ///
    /// # Errors
    /// If the runtime was shut down.
    pub(crate) async fn ready(&self, direction: Direction) -> io::Result<()> {
        let mut place = Place::new(&self.registration, direction);
        leaf(WHY, |cx| {
            let entry = &self.registration.entry;
            let seen = entry.ticks(direction);
            match place.is_called() {
                Ok(false) if is_ready(entry, direction) => Poll::Ready(Ok(())),
                Ok(false) => match place.wait(cx, seen) {
                    Ok(true) => Poll::Pending,
                    Ok(false) => Poll::Ready(Ok(())),
                    Err(error) => Poll::Ready(Err(error)),
                },
                Ok(true) => Poll::Ready(Ok(())),
                Err(error) => Poll::Ready(Err(error)),
            }
        })
        .await
    }
}

/// A panic of the user's leaves nothing half done: none of his code runs under the locks of the poller, and a waker that panics is caught.
impl<S: RefUnwindSafe> UnwindSafe for Registered<S> {}
impl<S: RefUnwindSafe> RefUnwindSafe for Registered<S> {}

impl<S: fmt::Debug> fmt::Debug for Registered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.fmt(f)
    }
}

/// What a task waits for.
pub(super) const WHY: &str = "IO wait";

/// `None`: it would block.
pub(super) fn attempt<R>(mut f: impl FnMut() -> io::Result<R>) -> Option<io::Result<R>> {
    loop {
        match f() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return Some(result),
        }
    }
}

/// A socket's entry. Dropped, it is struck out.
pub(super) struct Registration {
    pub(super) netpoll: Arc<Netpoll>,
    pub(super) entry: Arc<Entry>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.netpoll.forget(&self.entry);
    }
}

/// One that waits, as long as it waits: if it is dropped before, its waker goes.
pub(super) struct Place<'a> {
    registration: &'a Registration,
    direction: Direction,
    id: Option<u64>,
}

impl<'a> Place<'a> {
    /// One that does not wait yet.
    pub(super) fn new(registration: &'a Registration, direction: Direction) -> Self {
        Place { registration, direction, id: None }
    }

    /// `false`: something has changed, it is worth another try.
    pub(super) fn wait(&mut self, cx: &mut Context<'_>, seen: u64) -> io::Result<bool> {
        let entry = &self.registration.entry;
        let id = *self.id.get_or_insert_with(|| entry.next_id());
        self.registration.netpoll.wait(entry, self.direction, Some(id), TaskWaker(cx.waker().clone()), seen)
    }

    /// Did it wait, and has been woken?
    fn is_called(&self) -> io::Result<bool> {
        let Some(id) = self.id else { return Ok(false) };
        let is_waiting = self.registration.entry.is_waiting(self.direction, id).ok_or_else(shut_down)?;
        Ok(!is_waiting)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.registration.netpoll.leave(&self.registration.entry, self.direction, id);
        }
    }
}
