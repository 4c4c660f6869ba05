//! A stream with its place in the poller: it is not tried where that can only say that it blocks.
//!
//! Which try says that of the next, and why none is missed, is [`drained`](crate::waits::drained). tokio: `PollEvented::poll_read`.

use crate::runtime::exec::yielding::{leaf, poll_leaf};
use crate::runtime::io::netpoll::registered::{Place, Registered, Registration, WHY, attempt};
use crate::runtime::io::netpoll::socket::{Direction, Stream};
use crate::runtime::task_waker::TaskWaker;
use core::task::{Context, Poll};
use std::io;

#[cfg(test)]
mod tests;

/// So many bytes the system reads or writes at once, if they are there or there is room; and more.
const AT_ONCE: usize = 1 << 30;

/// How many bytes of slices of these lengths are read or written at once, at least, if they are there or there is room: the system
/// takes so many slices, and perhaps more.
pub(crate) fn at_once(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.take(16).fold(0, usize::saturating_add)
}

impl<S: Stream> Registered<S> {
    /// As [`poll_io`](Registered::poll_io), where `f` reads or writes `wanted` bytes at most, and takes what it reads.
    ///
    /// # Errors
    /// As those of [`poll_io`](Registered::poll_io).
    pub(crate) fn poll_stream(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        wanted: usize,
        mut f: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        poll_leaf(cx, WHY, |cx| {
            let Registration { netpoll, entry } = &self.registration;
            loop {
                let seen = entry.ticks(direction);
                if let Some(result) = self.try_stream(direction, wanted, seen, &mut f) {
                    return Poll::Ready(result);
                }
                match netpoll.wait(entry, direction, None, TaskWaker(cx.waker().clone()), seen) {
                    Ok(true) => return Poll::Pending,
                    Ok(false) => (),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        })
    }

    /// As [`io`](Registered::io), where `f` reads or writes `wanted` bytes at most, and takes what it reads.
    ///
    /// # Errors
    /// As those of [`io`](Registered::io).
    pub(crate) async fn stream(
        &self,
        direction: Direction,
        wanted: usize,
        mut f: impl FnMut(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut place = Place::new(&self.registration, direction);
        leaf(WHY, |cx| {
            loop {
                let seen = self.registration.entry.ticks(direction);
                if let Some(result) = self.try_stream(direction, wanted, seen, &mut f) {
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

    /// Tries `f`, unless it is known that it would block. `None`: it would. What a try for no bytes finds says nothing of others.
    fn try_stream(
        &self,
        direction: Direction,
        wanted: usize,
        seen: u64,
        mut f: impl FnMut(&S) -> io::Result<usize>,
    ) -> Option<io::Result<usize>> {
        let entry = &self.registration.entry;
        if wanted > 0 && entry.is_drained(direction, seen) {
            return None;
        }
        let result = attempt(|| f(self.get()));
        let is_drained = match result {
            None => wanted > 0,
            // No bytes: the end, which is found again.
            Some(Ok(n)) => S::SHORT_IS_DRAINED && 0 < n && n < wanted.min(AT_ONCE),
            Some(Err(_)) => false,
        };
        if is_drained {
            entry.set_drained(direction, seen);
        }
        result
    }
}
