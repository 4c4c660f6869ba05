//! What a signal handler says on standard error.

#![allow(unsafe_code)]

use core::fmt::{self, Write};

/// Text without memory from the heap.
pub(super) struct Text {
    bytes: [u8; 512],
    len: usize,
}

impl Text {
    pub(super) const fn empty() -> Text {
        Text { bytes: [0; 512], len: 0 }
    }

    /// As a signal handler may write. Standard error may be in non-blocking mode.
    pub(super) fn to_standard_error(&self) {
        let mut rest = &self.bytes[..self.len];
        while !rest.is_empty() {
            // SAFETY: bytes that are there.
            let written = unsafe { libc::write(2, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(n) => rest = &rest[n..],
                // SAFETY: the place of this thread's `errno`.
                Err(_) => match unsafe { *libc::__errno_location() } {
                    libc::EAGAIN => {
                        let mut writable = libc::pollfd { fd: 2, events: libc::POLLOUT, revents: 0 };
                        // SAFETY: one entry, which is there.
                        unsafe { libc::poll(&raw mut writable, 1, -1) };
                    }
                    libc::EINTR => (),
                    _ => return,
                },
            }
        }
    }
}

impl Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let room = &mut self.bytes[self.len..];
        let len = room.len().min(s.len());
        room[..len].copy_from_slice(&s.as_bytes()[..len]);
        self.len += len;
        Ok(())
    }
}
