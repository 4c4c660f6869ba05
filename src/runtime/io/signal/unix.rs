//! Signals by name.
//!
//! **A listener hears of each signal that came after it was made, once for all that came since it heard last.** The handler writes a
//! byte into a pair of sockets, one pair a listener, and the poller reports that. A byte that finds no room is not missed: there are
//! others before it.
//!
//! The handlers are the crate signal-hook's; that they run on the thread's signal stack is the host's doing (`host::signal_stack`).

use crate::runtime::host::signal_handler::Handler;
use crate::runtime::io::around;
use crate::runtime::io::netpoll::{Direction, Registered};
use core::ffi::c_int;
use core::fmt;
use core::task::{Context, Poll};
use signal_hook::consts;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;

/// Which signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignalKind(c_int);

/// Signals that have a name.
macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident = $number:path;)*) => {
        impl SignalKind {
            $($(#[$about])* pub const fn $name() -> SignalKind {
                SignalKind($number)
            })*
        }
    };
}

kinds! {
    /// `SIGALRM`: a timer of the process has run out.
    alarm = consts::SIGALRM;
    /// `SIGCHLD`: a child process has ended, or was stopped.
    child = consts::SIGCHLD;
    /// `SIGHUP`: the terminal is gone; by habit: read your settings again.
    hangup = consts::SIGHUP;
    /// `SIGINT`: Ctrl-C.
    interrupt = consts::SIGINT;
    /// `SIGIO`.
    io = consts::SIGIO;
    /// `SIGPIPE`: no reader is left. Rust's programs ignore it.
    pipe = consts::SIGPIPE;
    /// `SIGQUIT`: Ctrl-\.
    quit = consts::SIGQUIT;
    /// `SIGTERM`: the process is asked to end.
    terminate = consts::SIGTERM;
    /// `SIGUSR1`.
    user_defined1 = consts::SIGUSR1;
    /// `SIGUSR2`.
    user_defined2 = consts::SIGUSR2;
    /// `SIGWINCH`: the terminal has another size.
    window_change = consts::SIGWINCH;
}

impl SignalKind {
    /// By its number.
    ///
    /// ```
    /// use spinpark::signal::unix::SignalKind;
    ///
    /// assert_eq!(SignalKind::from_raw(1), SignalKind::hangup());
    /// ```
    pub const fn from_raw(number: c_int) -> SignalKind {
        SignalKind(number)
    }

    /// Its number.
    pub const fn as_raw_value(self) -> c_int {
        self.0
    }

    /// Why it cannot be listened to.
    fn refused(self) -> Option<&'static str> {
        match self.0 {
            consts::SIGURG => Some("the runtime preempts tasks by SIGURG: listen to another signal"),
            consts::SIGBUS => Some("SIGBUS is an error of the program's, which cannot go on after it"),
            number if consts::FORBIDDEN.contains(&number) => Some("this signal cannot be listened to"),
            _ => None,
        }
    }
}

/// Listens to a signal. It belongs to the caller's runtime.
///
/// # Errors
/// If the caller is no task, or the system refuses; [`InvalidInput`](io::ErrorKind::InvalidInput) for a signal that no task can listen
/// to: `SIGKILL`, `SIGSTOP`, the errors of programs, and `SIGURG`, by which the runtime preempts tasks.
///
/// ```
/// use spinpark::signal::unix::{SignalKind, signal};
///
/// let runtime = spinpark::Runtime::new()?;
/// runtime.block_on(async {
///     let mut hangups = signal(SignalKind::hangup())?;
/// #   signal_hook::low_level::raise(signal_hook::consts::SIGHUP)?;
///     hangups.recv().await; // kill -HUP
///     println!("read the settings again");
///     Ok::<_, std::io::Error>(())
/// })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    if let Some(reason) = kind.refused() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let netpoll = around::netpoll("signal was called")?;
    let (ours, handlers) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let bytes = Registered::new(netpoll, ours)?;
    Ok(Signal { kind, bytes, _handler: Handler::new(kind.0, handlers)? })
}

/// Listens to a signal, until it is dropped.
///
/// ```
/// use spinpark::signal::unix::{SignalKind, signal};
/// use std::future::poll_fn;
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let mut hangups = signal(SignalKind::hangup()).expect("in a task");
/// let none = spinpark::time::timeout(Duration::from_millis(1), hangups.recv()).await;
/// assert!(none.is_err());
/// let none = spinpark::time::timeout(Duration::from_millis(1), poll_fn(|cx| hangups.poll_recv(cx))).await;
/// assert!(none.is_err());
/// # });
/// ```
pub struct Signal {
    kind: SignalKind,
    /// What the handler has written.
    bytes: Registered<UnixStream>,
    _handler: Handler,
}

impl Signal {
    /// Waits for the next one. Several that came since the last are one. `None`: the runtime was shut down.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, no signal is lost.
    ///
    /// ```
    /// use spinpark::signal::unix::{SignalKind, signal};
    ///
    /// # spinpark::run(async {
    /// let mut hangups = signal(SignalKind::hangup())?;
    /// # signal_hook::low_level::raise(signal_hook::consts::SIGHUP)?;
    /// assert_eq!(hangups.recv().await, Some(())); // kill -HUP
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn recv(&mut self) -> Option<()> {
        self.bytes.io(Direction::Read, take_all).await.ok()
    }

    /// As [`recv`](Signal::recv), for futures written by hand.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.bytes.poll_io(Direction::Read, cx, take_all).map(Result::ok)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Takes all bytes that are there; at least one.
fn take_all(mut bytes: &UnixStream) -> io::Result<()> {
    let (mut buffer, mut came) = ([0; 64], false);
    loop {
        match bytes.read(&mut buffer) {
            // Some more may be there.
            Ok(n) if n == buffer.len() => came = true,
            Ok(1..) => return Ok(()),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if came && error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

static_assertions::assert_impl_all!(Signal: Send, Sync, Unpin);
