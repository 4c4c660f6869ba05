//! Hearing a signal: its handler writes a byte into a socket.

use crate::runtime::host::signal_stack;
use core::ffi::c_int;
use signal_hook::SigId;
use signal_hook::low_level::{pipe, unregister};
use std::io;
use std::os::unix::net::UnixStream;

/// A handler of ours, until it is dropped.
pub(in crate::runtime) struct Handler(SigId);

impl Handler {
    /// From now on each such signal writes a byte there.
    ///
    /// # Errors
    /// Those of the system.
    pub(in crate::runtime) fn new(signal: c_int, writes: UnixStream) -> io::Result<Handler> {
        let handler = Handler(pipe::register(signal, writes)?);
        signal_stack::use_for(signal)?;
        Ok(handler)
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        unregister(self.0);
    }
}
