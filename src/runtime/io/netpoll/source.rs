//! A socket that the poller knows. One call in here is unsafe: `polling` wants a promise that a socket is forgotten
//! before it is closed, and cannot see that it is kept. (On Linux, where epoll is asked itself, it is in tests only.)

#![allow(unsafe_code)]

use crate::runtime::io::netpoll::change::Request;
#[cfg(target_os = "linux")]
use crate::runtime::io::netpoll::socket::Direction;
use crate::runtime::io::netpoll::socket::{Interest, Socket};
use crate::runtime::io::netpoll::system::System;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use crate::runtime::io::netpoll::uring::Uring;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use core::cell::Cell;
use std::io;
#[cfg(all(unix, any(test, not(target_os = "linux"))))]
use std::os::fd::{AsRawFd, BorrowedFd as Handle, RawFd as RawHandle};
#[cfg(windows)]
use std::os::windows::io::{AsRawSocket, BorrowedSocket as Handle, RawSocket as RawHandle};
use std::sync::Arc;

/// A socket that the poller knows, until this is dropped. It has a share in the socket, which is open for as long.
pub(super) struct Source {
    system: Arc<System>,
    socket: Arc<dyn Socket>,
    #[cfg_attr(
        all(target_os = "linux", not(feature = "io-uring"), not(test)),
        expect(dead_code, reason = "epoll is asked once")
    )]
    key: usize,
    /// By which a ring polls it.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    request: Cell<Option<Request>>,
}

impl Source {
    /// Makes `socket` known as `key`. Before it is [started](Source::start) and armed nothing is reported, except perhaps that it is broken.
    pub(super) fn add(system: &Arc<System>, socket: Arc<dyn Socket>, key: usize) -> io::Result<Source> {
        match &**system {
            #[cfg(target_os = "linux")]
            System::Epoll(epoll) => epoll.add(&socket, key)?,
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            System::Uring(_) => Uring::check(&*socket)?,
            #[cfg(any(test, not(target_os = "linux")))]
            System::Portable(poller) => {
                // SAFETY: a socket has to be deleted before it is closed. If this succeeds, a `Source` is made that has
                // a share in the socket and deletes it before it gives up that share. (One that is leaked keeps the
                // socket open.)
                unsafe { poller.add(raw(handle(&*socket)), polling::Event::none(key))? };
            }
        }
        Ok(Source {
            system: Arc::clone(system),
            socket,
            key,
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            request: Cell::new(None),
        })
    }

    /// A ring starts to poll it, or does so again, unless its request is another than `ended`. The other pollers know it.
    pub(super) fn start(&self, ended: Option<Request>) -> io::Result<()> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let System::Uring(ring) = &*self.system
            && self.request.get() == ended
        {
            self.request.set(None);
            self.request.set(Some(ring.poll(&*self.socket, self.key)?));
        }
        let _ = ended; // only a ring has requests
        Ok(())
    }

    /// What `interest` asks for is reported once more, at once if it is so already.
    pub(super) fn arm(&self, interest: Interest) -> io::Result<()> {
        match &*self.system {
            #[cfg(target_os = "linux")]
            System::Epoll(_) => {
                let Interest { read: _, write: _ } = interest; // it reports every change
                Ok(())
            }
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            System::Uring(_) => Ok(()),
            #[cfg(any(test, not(target_os = "linux")))]
            System::Portable(poller) => {
                poller.modify(handle(&*self.socket), polling::Event::new(self.key, interest.read, interest.write))
            }
        }
    }

    /// Could something be done in this direction now?
    #[cfg(target_os = "linux")]
    pub(super) fn is_ready(&self, direction: Direction) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let flags = match direction {
            Direction::Read => PollFlags::IN | PollFlags::RDHUP,
            Direction::Write => PollFlags::OUT,
        };
        let mut asked = [PollFd::new(&self.socket, flags)];
        matches!(poll(&mut asked, Some(&Timespec::default())), Ok(1..))
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // It can only fail if the system has forgotten the socket already.
        let _ = match &*self.system {
            #[cfg(target_os = "linux")]
            System::Epoll(epoll) => epoll.delete(&self.socket),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            System::Uring(ring) => self.request.get().map_or(Ok(()), |request| ring.remove(request)),
            #[cfg(any(test, not(target_os = "linux")))]
            System::Portable(poller) => poller.delete(handle(&*self.socket)),
        };
    }
}

#[cfg(all(unix, any(test, not(target_os = "linux"))))]
fn handle(socket: &dyn Socket) -> Handle<'_> {
    socket.as_fd()
}

#[cfg(all(unix, any(test, not(target_os = "linux"))))]
fn raw(handle: Handle<'_>) -> RawHandle {
    handle.as_raw_fd()
}

#[cfg(windows)]
fn handle(socket: &dyn Socket) -> Handle<'_> {
    socket.as_socket()
}

#[cfg(windows)]
fn raw(handle: Handle<'_>) -> RawHandle {
    handle.as_raw_socket()
}
