//! What the system tells of sockets: on Linux by epoll itself, elsewhere by `polling`.
//!
//! `polling` reports once and has to be armed again, because that is what all systems can do; each wait of it on Linux
//! is six system calls, and each arming one. Here a socket is given to epoll once, reports what *changes* (edges), and a
//! wait is one call. So on Linux a round trip of an echo makes the system calls that tokio's makes. With the feature `io-uring` there is a
//! ring where it is asked for ([`uring`](super::uring)), if the system gives one.
//!
//! In tests all are there, and go through the same tests.

use crate::runtime::io::netpoll::change::Change;
use crate::runtime::io::netpoll::choice::Poller;
#[cfg(any(test, not(target_os = "linux")))]
use crate::runtime::io::netpoll::socket::Interest;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use crate::runtime::io::netpoll::{under_way::FileOperation, uring::Uring};
use core::time::Duration;
use std::io;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use std::sync::Arc;

/// So many reports a wait of epoll gives at most, the bell's among them; elsewhere it gives more.
pub(super) const AT_ONCE: usize = 128;

/// Where the system leaves its reports.
pub(super) struct Buffer {
    #[cfg(any(test, not(target_os = "linux")))]
    events: polling::Events,
    /// Operations on files, with their results.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    pub(super) complete: Vec<(Arc<FileOperation>, i32)>,
}

impl Buffer {
    pub(super) fn new() -> Self {
        Buffer {
            #[cfg(any(test, not(target_os = "linux")))]
            events: polling::Events::new(),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            complete: Vec::new(),
        }
    }
}

/// A poller of the system's.
pub(super) enum System {
    #[cfg(target_os = "linux")]
    Epoll(Epoll),
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    Uring(Box<Uring>),
    #[cfg(any(test, not(target_os = "linux")))]
    Portable(polling::Poller),
}

impl System {
    /// The one that was asked for, or, where the system does not give that, the one that it always has.
    pub(super) fn new(choice: Poller) -> io::Result<System> {
        #[cfg(test)]
        if std::env::var_os(tests::PORTABLE).is_some() {
            return System::portable();
        }
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if choice == Poller::IoUring
            && let Ok(ring) = Uring::new()
        {
            return Ok(System::Uring(Box::new(ring)));
        }
        let _ = choice; // nothing else can be chosen
        #[cfg(target_os = "linux")]
        return Ok(System::Epoll(Epoll::new()?));
        #[cfg(not(target_os = "linux"))]
        System::portable()
    }

    #[cfg(any(test, not(target_os = "linux")))]
    pub(super) fn portable() -> io::Result<System> {
        Ok(System::Portable(polling::Poller::new()?))
    }

    /// Its name.
    pub(super) fn name(&self) -> &'static str {
        match self {
            #[cfg(target_os = "linux")]
            System::Epoll(_) => "epoll",
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            System::Uring(_) => "io_uring",
            #[cfg(any(test, not(target_os = "linux")))]
            System::Portable(_) => "polling",
        }
    }

    /// Has a socket to be armed, for one report?
    pub(super) fn is_armed_each_time(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            System::Epoll(_) => false,
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            System::Uring(_) => false,
            #[cfg(any(test, not(target_os = "linux")))]
            System::Portable(_) => true,
        }
    }

    /// The ring, if it is one.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    pub(super) fn ring(&self) -> Option<&Uring> {
        match self {
            System::Uring(ring) => Some(ring),
            _ => None,
        }
    }

    /// Waits for reports, for `timeout` at most, or until it is notified.
    pub(super) fn wait(
        &self,
        buffer: &mut Buffer,
        timeout: Option<Duration>,
        #[cfg_attr(all(target_os = "linux", not(test)), expect(unused_mut, reason = "the other one calls it"))]
        mut each: impl FnMut(Change),
    ) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            System::Epoll(epoll) => {
                let _ = buffer; // its reports are on the stack
                epoll.wait(timeout, each)
            }
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            System::Uring(ring) => {
                ring.wait(timeout, each, |operation, result| buffer.complete.push((operation, result)))
            }
            #[cfg(any(test, not(target_os = "linux")))]
            System::Portable(poller) => {
                let result = poller.wait(&mut buffer.events, timeout);
                for event in buffer.events.iter() {
                    let what = Interest { read: event.readable, write: event.writable };
                    // What it is for: nothing is drained where a socket is armed each time.
                    each(Change { key: event.key, what, end: Interest::default(), ended: None });
                }
                buffer.events.clear();
                result.map(drop)
            }
        }
    }

    /// What is readable when there are reports.
    #[cfg(feature = "tokio-context")]
    pub(super) fn descriptor(&self) -> io::Result<std::os::fd::OwnedFd> {
        match self {
            #[cfg(target_os = "linux")]
            System::Epoll(epoll) => epoll.descriptor(),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            System::Uring(_) => Err(io::ErrorKind::Unsupported.into()),
            #[cfg(any(test, not(target_os = "linux")))]
            System::Portable(poller) => std::os::fd::AsFd::as_fd(poller).try_clone_to_owned(),
        }
    }

    /// Ends the wait that goes on; if none does, the next.
    pub(super) fn notify(&self) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            System::Epoll(epoll) => epoll.notify(),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            System::Uring(ring) => ring.notify(),
            #[cfg(any(test, not(target_os = "linux")))]
            System::Portable(poller) => poller.notify(),
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::Epoll;

#[cfg(target_os = "linux")]
mod linux {
    use super::{AT_ONCE, Change, Duration, io};
    use crate::runtime::io::netpoll::change::reported;
    use crate::runtime::io::netpoll::socket::Socket;
    use core::mem::MaybeUninit;
    use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
    use rustix::fd::OwnedFd;
    use rustix::io::Errno;
    use std::sync::Arc;

    /// The key of the bell.
    const BELL: u64 = u64::MAX;

    /// epoll, and what rings to end a wait.
    pub(in crate::runtime::io::netpoll) struct Epoll {
        epoll: OwnedFd,
        /// Written to, never read: each write is an edge. Its count lasts for 2^64 of them.
        bell: OwnedFd,
    }

    impl Epoll {
        pub(super) fn new() -> io::Result<Epoll> {
            let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            let edges = epoll::EventFlags::IN | epoll::EventFlags::ET;
            epoll::add(&epoll, &bell, epoll::EventData::new_u64(BELL), edges)?;
            Ok(Epoll { epoll, bell })
        }

        /// From now on `socket` reports what changes; at once what it is ready for.
        pub(in crate::runtime::io::netpoll) fn add(&self, socket: &Arc<dyn Socket>, key: usize) -> io::Result<()> {
            use epoll::EventFlags as Flags;
            // No task waits for urgent bytes. But a read stops at them, with more behind.
            let all = Flags::IN | Flags::OUT | Flags::RDHUP | Flags::PRI | Flags::ET;
            Ok(epoll::add(&self.epoll, socket.as_fd(), epoll::EventData::new_u64(key as u64), all)?)
        }

        pub(in crate::runtime::io::netpoll) fn delete(&self, socket: &Arc<dyn Socket>) -> io::Result<()> {
            Ok(epoll::delete(&self.epoll, socket.as_fd())?)
        }

        #[cfg(feature = "tokio-context")]
        pub(super) fn descriptor(&self) -> io::Result<OwnedFd> {
            self.epoll.try_clone()
        }

        pub(super) fn notify(&self) -> io::Result<()> {
            match rustix::io::write(&self.bell, &1_u64.to_ne_bytes()) {
                Ok(_) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }

        pub(super) fn wait(&self, timeout: Option<Duration>, mut each: impl FnMut(Change)) -> io::Result<()> {
            // More than there is room for is as long as one likes.
            let time = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            let mut place = [const { MaybeUninit::uninit() }; AT_ONCE];
            let edges = match epoll::wait(&self.epoll, &mut place[..], time.as_ref()) {
                Ok((edges, _)) => edges,
                Err(Errno::INTR) => return Ok(()),
                // An old system (before 5.11) has no wait of nanoseconds.
                Err(Errno::NOSYS) => {
                    let time = timeout.map(|timeout| Duration::from_millis(in_millis(timeout)));
                    let time = time.and_then(|time| Timespec::try_from(time).ok());
                    epoll::wait(&self.epoll, &mut place[..], time.as_ref())?.0
                }
                Err(error) => return Err(error.into()),
            };
            for edge in edges.iter() {
                let (data, flags) = (edge.data, edge.flags);
                if data.u64() != BELL {
                    let (what, end) = reported(flags);
                    each(Change { key: data.u64() as usize, what, end, ended: None });
                }
            }
            Ok(())
        }
    }

    /// Rounded up: never too short.
    fn in_millis(time: Duration) -> u64 {
        u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    /// Set, the tests of sockets use the poller of other systems.
    pub(super) const PORTABLE: &str = "SPINPARK_TEST_PORTABLE_POLLER";

    #[test]
    fn the_tests_of_sockets_hold_with_the_poller_of_other_systems_too() {
        hold_with(PORTABLE, "1");
    }

    #[test]
    #[cfg(feature = "io-uring")]
    fn the_tests_of_sockets_hold_with_a_ring_too() {
        if super::Uring::new().is_ok() {
            hold_with(crate::runtime::env::POLLER, "io_uring");
        }
    }

    /// The tests of sockets, in another process, with this variable set.
    fn hold_with(variable: &str, value: &str) {
        if std::env::var_os(variable).is_some() {
            return; // this is that run
        }
        let me = std::env::current_exe().expect("this program");
        let run = std::process::Command::new(me)
            .args(["net::", "netpoll::", "async_fd::", "pipe::", "exit::"])
            .env(variable, value)
            .output();
        let output = run.expect("it can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("test result: ok") && !said.contains(" 0 passed"), "{said}");
    }
}
