//! What is waited for of a file descriptor, and what it is ready for.

use core::fmt;
use core::ops::BitOr;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::AsFd;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    read: bool,
    write: bool,
}

impl Interest {
    /// Something to read, or that no more will come.
    pub const READABLE: Interest = Interest { read: true, write: false };
    /// Room to write, or no reader is left.
    pub const WRITABLE: Interest = Interest { read: false, write: true };

    /// Both of them.
    ///
    /// ```
    /// use spinpark::io::Interest;
    ///
    /// let both = Interest::READABLE.add(Interest::WRITABLE);
    /// assert!(both.is_readable() && both.is_writable());
    /// ```
    #[must_use]
    pub const fn add(self, other: Interest) -> Interest {
        Interest { read: self.read || other.read, write: self.write || other.write }
    }

    /// Is [`READABLE`](Interest::READABLE) in it?
    pub const fn is_readable(self) -> bool {
        self.read
    }

    /// Is [`WRITABLE`](Interest::WRITABLE) in it?
    pub const fn is_writable(self) -> bool {
        self.write
    }
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        self.add(other)
    }
}

/// What a file descriptor is ready for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Ready(PollFlags);

impl Ready {
    /// There may be something to read, or no more will come.
    pub fn is_readable(self) -> bool {
        self.0.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) || self.is_read_closed()
    }

    /// There may be room to write, or no reader is left.
    pub fn is_writable(self) -> bool {
        self.0.intersects(PollFlags::OUT | PollFlags::HUP | PollFlags::ERR)
    }

    /// No more will come than what is there.
    pub fn is_read_closed(self) -> bool {
        self.0.intersects(PollFlags::HUP) || self.0.intersects(READ_HANG_UP)
    }

    /// No reader is left.
    pub fn is_write_closed(self) -> bool {
        self.0.intersects(PollFlags::HUP | PollFlags::ERR)
    }

    /// The system reports an error; of a pipe, that its reader is gone.
    pub fn is_error(self) -> bool {
        self.0.intersects(PollFlags::ERR)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready")
            .field("readable", &self.is_readable())
            .field("writable", &self.is_writable())
            .field("read_closed", &self.is_read_closed())
            .field("write_closed", &self.is_write_closed())
            .finish()
    }
}

/// The peer of a socket sends no more. Only some systems tell it apart.
#[cfg(target_os = "linux")]
const READ_HANG_UP: PollFlags = PollFlags::RDHUP;
#[cfg(not(target_os = "linux"))]
const READ_HANG_UP: PollFlags = PollFlags::empty();

/// What it is ready for now, of what is asked for.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) if for none of it; those of the system.
pub(in crate::runtime::io) fn now(fd: &impl AsFd, interest: Interest) -> io::Result<Ready> {
    let mut flags = PollFlags::empty();
    if interest.read {
        flags |= PollFlags::IN | READ_HANG_UP;
    }
    if interest.write {
        flags |= PollFlags::OUT;
    }
    let mut asked = [PollFd::new(fd, flags)];
    match poll(&mut asked, Some(&Timespec::default()))? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(Ready(asked[0].revents())),
    }
}
