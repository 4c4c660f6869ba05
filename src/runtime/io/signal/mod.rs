//! Signals that the process is sent. With the feature `signal`. Go: `os/signal`.
//!
//! | you want | take |
//! |----------|------|
//! | Ctrl-C, once | [`ctrl_c`] |
//! | each of a kind | [`unix::signal`] with a [`unix::SignalKind`]: a [`unix::Signal`] |
//! | a program that ends well | [graceful shutdown](crate::task#graceful-shutdown) |
//!
//! ```no_run
//! # async fn serve() -> std::io::Result<()> {
//! use spinpark::signal;
//!
//! // Another task serves meanwhile.
//! signal::ctrl_c().await?;
//! println!("goes");
//! # Ok(())
//! # }
//! ```
//!
//! Once a listener exists, the default action is off: after SIGINT the program must exit on its own, and that is
//! so though the listener is dropped. Other handlers that are installed by the crate signal-hook, or were before, are called, too.

pub mod unix;

use std::io;

/// Waits for Ctrl-C (`SIGINT`), the first since this future was polled. One that is dropped has caught nothing for others: each
/// listener hears all.
///
/// # Errors
/// Those of [`signal`](unix::signal); and if the runtime was shut down.
///
/// # Cancel safety
/// Dropped, no listener is left: a signal that comes before the next call is missed. Keep a [`Signal`](unix::Signal) to miss none.
///
/// ```
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let in_time = spinpark::time::timeout(Duration::from_millis(1), spinpark::signal::ctrl_c()).await;
/// assert!(in_time.is_err(), "no Ctrl-C");
/// # });
/// ```
pub async fn ctrl_c() -> io::Result<()> {
    match unix::signal(unix::SignalKind::interrupt())?.recv().await {
        Some(()) => Ok(()),
        None => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the runtime of this listener was shut down")),
    }
}
