//! Which process is at the other end of a socket between processes of one machine.
//!
//! rustix's `socket_peercred` takes the number of a process for one that is not 0. The system answers 0 for a process of a
//! namespace that the caller's does not contain, and what rustix then returns is undefined.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;

/// Which process is at the other end of a [`UnixStream`](super::unix::UnixStream).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UCred {
    pid: i32,
    uid: u32,
    gid: u32,
}

impl UCred {
    pub(super) fn of_peer(socket: &impl AsRawFd) -> io::Result<UCred> {
        let mut cred = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut size = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: the descriptor is `socket`'s, which is open; `cred` has room for `size` bytes, and any bytes are a `ucred`.
        let result = unsafe {
            let cred = (&raw mut cred).cast();
            libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, cred, &raw mut size)
        };
        match result {
            0 => Ok(UCred { pid: cred.pid, uid: cred.uid, gid: cred.gid }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The number of its user.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The number of its group.
    #[must_use]
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// The number of its process. `None`: that process is in a namespace that the caller's does not contain, or in another machine.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (one, _two) = spinpark::net::unix::UnixStream::pair()?;
    /// assert_eq!(one.peer_cred()?.pid(), Some(std::process::id() as i32));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn pid(&self) -> Option<i32> {
        (self.pid > 0).then_some(self.pid)
    }
}
