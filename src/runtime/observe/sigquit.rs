//! What is printed at SIGQUIT. Go: the stacks that it prints.
//!
//! The handler, which is the crate signal-hook's, writes a byte into a pair of sockets; a thread reads it, and prints. So what a signal
//! handler may not do is done by no handler.

use crate::runtime::host::foreign_threads::Known;
use crate::runtime::host::signal_handler::Handler;
use crate::runtime::host::thread_config;
use signal_hook::consts::SIGQUIT;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// A thread that prints, if it was asked for.
#[derive(Default)]
pub(in crate::runtime) struct Dumper(Mutex<Option<Running>>);

struct Running {
    handler: Handler,
    /// Shut down, it ends the thread.
    bytes: UnixStream,
    thread: JoinHandle<()>,
}

impl Dumper {
    /// Prints what `text` gives, at each signal. `None`: the runtime is gone.
    ///
    /// # Errors
    /// Those of the system: no sockets, no thread.
    pub(in crate::runtime) fn start(&self, text: impl Fn() -> Option<String> + Send + 'static) -> io::Result<()> {
        let (bytes, handlers) = UnixStream::pair()?;
        let theirs = bytes.try_clone()?;
        let body = move || {
            let _known = Known::new();
            while is_sent(&theirs) {
                let Some(text) = text() else { return };
                // Without a place to write there is no reader of it.
                let _ = writeln!(io::stderr(), "SIGQUIT: {text}");
            }
        };
        let thread = thread_config::Wanted::take("spinpark-sigquit").builder().spawn(body)?;
        let handler = match Handler::new(SIGQUIT, handlers) {
            Ok(handler) => handler,
            Err(error) => {
                end(&bytes, thread);
                return Err(error);
            }
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running { handler, bytes, thread });
        Ok(())
    }

    /// Ends the thread, and waits for that.
    pub(in crate::runtime) fn end(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { handler, bytes, thread }) = running {
            drop(handler);
            end(&bytes, thread);
        }
    }
}

fn end(bytes: &UnixStream, thread: JoinHandle<()>) {
    // If it fails, it is shut down already.
    let _ = bytes.shutdown(Shutdown::Both);
    // It has no code that panics; if it did, it has been reported.
    drop(thread.join());
}

/// Waits for a signal; several that came meanwhile are one. `false`: it is to end.
fn is_sent(mut bytes: &UnixStream) -> bool {
    let mut buffer = [0; 64];
    loop {
        match bytes.read(&mut buffer) {
            Ok(n) => return n > 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(_) => return false,
        }
    }
}
