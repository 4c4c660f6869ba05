//! How a task learns that a child has ended.
//!
//! **What is waited for is readable from the child's end on**: its descriptor (`pidfd_open(2)`), or, where there is none, a pipe
//! whose other end a thread has that waits for the child. Neither takes the child's status: the owner of the child does.

use crate::runtime::io::async_fd::{Interest, now};
use crate::runtime::io::netpoll::poller::Netpoll;
use crate::runtime::io::netpoll::{Direction, Registered};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::Arc;
use std::{io, thread};

/// The end of a child, which may be to come.
pub(super) struct Exit(Registered<OwnedFd>);

impl Exit {
    /// That of `child`.
    pub(super) fn of(netpoll: Arc<Netpoll>, child: &Child) -> io::Result<Exit> {
        let fd = match descriptor(child) {
            Ok(fd) => fd,
            // An old system, or one in which that is forbidden.
            Err(_) => waited_for_by_a_thread(child)?,
        };
        Registered::new(netpoll, fd).map(Exit)
    }

    #[cfg(test)]
    pub(super) fn by_thread(netpoll: Arc<Netpoll>, child: &Child) -> io::Result<Exit> {
        Registered::new(netpoll, waited_for_by_a_thread(child)?).map(Exit)
    }

    /// Waits for it.
    ///
    /// # Errors
    /// If the runtime was shut down.
    pub(super) async fn wait(&self) -> io::Result<()> {
        self.0.io(Direction::Read, |fd| now(fd, Interest::READABLE)).await.map(drop)
    }
}

#[cfg(target_os = "linux")]
fn descriptor(child: &Child) -> io::Result<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    Ok(pidfd_open(Pid::from_child(child), PidfdFlags::empty())?)
}

#[cfg(not(target_os = "linux"))]
fn descriptor(_: &Child) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

fn waited_for_by_a_thread(child: &Child) -> io::Result<OwnedFd> {
    let pid = Pid::from_child(child);
    let (reader, writer) = io::pipe()?;
    let waits = move || {
        // The child stays a zombie, for its owner. If it is no more, its owner has been here.
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {
        }
        drop(writer);
    };
    thread::Builder::new().name("spinpark-wait".into()).stack_size(64 << 10).spawn(waits)?;
    Ok(reader.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::io::around;
    use crate::runtime::testing::run;
    use std::process::{Command, Stdio};

    /// As on a system without descriptors of processes.
    #[test]
    fn a_thread_that_waits_reports_the_end_and_leaves_the_status() {
        run(async {
            let mut child =
                Command::new("sh").args(["-c", "read x; exit 5"]).stdin(Stdio::piped()).spawn().expect("started");
            let exit =
                Exit::by_thread(around::netpoll("a test was called").expect("a poller"), &child).expect("a thread");
            let early = crate::time::timeout(core::time::Duration::from_millis(30), exit.wait()).await;
            assert!(early.is_err(), "it has not ended yet");
            drop(child.stdin.take());
            exit.wait().await.expect("it ends");
            assert_eq!(child.try_wait().expect("asked").expect("it has ended").code(), Some(5));
            exit.wait().await.expect("it has ended");
        });
    }
}
