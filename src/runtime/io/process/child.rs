//! A child process.

use crate::runtime::exec::yielding::proceed;
use crate::runtime::io::netpoll::poller::Netpoll;
use crate::runtime::io::pipe::{PipeReader, PipeWriter};
use crate::runtime::io::process::exit::Exit;
use crate::runtime::io::process::reap;
use core::fmt;
use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;
use std::process::{self, ExitStatus, Output};
use std::sync::Arc;
use std::{io, mem};

/// What a child reads as its standard input. When it is dropped, the child finds the end there.
pub type ChildStdin = PipeWriter;
/// What a child writes to its standard output. It ends when no process has the other end any more: the child, and its children.
pub type ChildStdout = PipeReader;
/// What a child writes to its standard error. As for the rest see [`ChildStdout`].
pub type ChildStderr = PipeReader;

/// A child process that was started by [`Command::spawn`](crate::process::Command::spawn).
///
/// Dropped, it runs on, or is killed, as [`kill_on_drop`](crate::process::Command::kill_on_drop) says; a zombie it does not become.
///
/// ```
/// use spinpark::process::Command;
///
/// # spinpark::run(async {
/// let mut child = Command::new("sleep").arg("60").kill_on_drop(true).spawn()?;
/// assert!(child.id().is_some() && child.try_wait()?.is_none());
/// child.start_kill()?;
/// assert!(!child.wait().await?.success());
/// child.kill().await?; // it has ended: nothing to do
/// let child = Command::new("echo").arg("hello").stdout(std::process::Stdio::piped()).spawn()?;
/// assert_eq!(child.wait_with_output().await?.stdout, b"hello\n");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct Child {
    /// To write what it reads, if that was [`piped`](std::process::Stdio::piped).
    pub stdin: Option<ChildStdin>,
    /// To read what it writes, if that was [`piped`](std::process::Stdio::piped).
    pub stdout: Option<ChildStdout>,
    /// To read its messages, if that was [`piped`](std::process::Stdio::piped).
    pub stderr: Option<ChildStderr>,
    state: State,
    kill_on_drop: bool,
}

enum State {
    Runs {
        child: process::Child,
        exit: Exit,
    },
    Ended(ExitStatus),
    /// It was given to the reaper.
    Left,
}

impl Child {
    pub(super) fn new(netpoll: Arc<Netpoll>, child: process::Child, kill_on_drop: bool) -> io::Result<Child> {
        match Self::try_new(netpoll, child, kill_on_drop) {
            Ok(child) => Ok(child),
            Err((error, mut child)) => {
                // No task could wait for it.
                let _ = child.kill();
                reap::later(child);
                Err(error)
            }
        }
    }

    fn try_new(
        netpoll: Arc<Netpoll>,
        mut child: process::Child,
        kill_on_drop: bool,
    ) -> Result<Child, (io::Error, process::Child)> {
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let made = || {
            let stdin = streams.0.map(|stream| PipeWriter::from_owned_fd(stream.into())).transpose()?;
            let stdout = streams.1.map(|stream| PipeReader::from_owned_fd(stream.into())).transpose()?;
            let stderr = streams.2.map(|stream| PipeReader::from_owned_fd(stream.into())).transpose()?;
            Ok((stdin, stdout, stderr, Exit::of(netpoll, &child)?))
        };
        match made() {
            Ok((stdin, stdout, stderr, exit)) => {
                Ok(Child { stdin, stdout, stderr, state: State::Runs { child, exit }, kill_on_drop })
            }
            Err(error) => Err((error, child)),
        }
    }

    /// Its number. `None`: it has ended, and was waited for; the number may be another's.
    pub fn id(&self) -> Option<u32> {
        match &self.state {
            State::Runs { child, .. } => Some(child.id()),
            _ => None,
        }
    }

    /// How it has ended, if it has.
    ///
    /// # Errors
    /// Those of the system: another part of this process has waited for it.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut child = spinpark::process::Command::new("sleep").arg("60").kill_on_drop(true).spawn()?;
    /// assert!(child.try_wait()?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if let State::Runs { child, .. } = &mut self.state {
            match child.try_wait()? {
                Some(status) => self.state = State::Ended(status),
                None => return Ok(None),
            }
        }
        match &self.state {
            State::Ended(status) => Ok(Some(*status)),
            _ => Ok(None),
        }
    }

    /// Waits until it has ended. What it reads is closed before, so that it does not wait for us.
    ///
    /// # Errors
    /// Those of [`try_wait`](Child::try_wait), and if the runtime was shut down.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it can be called again.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut child = spinpark::process::Command::new("true").spawn()?;
    /// assert!(child.wait().await?.success());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        proceed().await;
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(status);
            }
            if let State::Runs { exit, .. } = &self.state {
                exit.wait().await?;
            }
        }
    }

    /// Waits until it has ended, and reads what it writes meanwhile, as far as that is a pipe. If children of its own have the pipe
    /// too, they are waited for as well.
    ///
    /// # Errors
    /// Those of [`wait`](Child::wait) and of reading.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, what it has read is lost, and the child runs on or is killed, as
    /// [`kill_on_drop`](crate::process::Command::kill_on_drop) says.
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # spinpark::run(async {
    /// let child = spinpark::process::Command::new("echo").stdout(Stdio::piped()).spawn()?;
    /// assert_eq!(child.wait_with_output().await?.stdout, b"\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        let (stdout, stderr) = (self.stdout.take(), self.stderr.take());
        let mut reads = pin!(both(read_all(stdout), read_all(stderr)));
        let (status, (stdout, stderr)) = both(self.wait(), reads.as_mut()).await;
        Ok(Output { status: status?, stdout: stdout?, stderr: stderr? })
    }

    /// Has it killed (`SIGKILL`), without waiting for its end.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut child = spinpark::process::Command::new("sleep").arg("60").spawn()?;
    /// child.start_kill()?;
    /// assert!(!child.wait().await?.success());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn start_kill(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Runs { child, .. } => child.kill(),
            _ => Ok(()),
        }
    }

    /// Has it killed (`SIGKILL`), and waits until it has ended.
    ///
    /// # Errors
    /// Those of [`start_kill`](Child::start_kill) and [`wait`](Child::wait).
    ///
    /// # Cancel safety
    /// Dropped before it is ready, the child may have been killed; it can be called again.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut child = spinpark::process::Command::new("sleep").arg("60").spawn()?;
    /// child.kill().await?;
    /// assert!(child.id().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await.map(drop)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.kill_on_drop {
            // It has ended, then.
            let _ = self.start_kill();
        }
        if let Ok(None) = self.try_wait()
            && let State::Runs { child, .. } = mem::replace(&mut self.state, State::Left)
        {
            reap::later(child);
        }
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("id", &self.id()).finish_non_exhaustive()
    }
}

async fn read_all(pipe: Option<PipeReader>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    let Some(pipe) = pipe else { return Ok(all) };
    let mut buffer = vec![0; 16 << 10];
    loop {
        match pipe.read(&mut buffer).await? {
            0 => return Ok(all),
            n => all.extend_from_slice(&buffer[..n]),
        }
    }
}

/// What both futures end with.
async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut of_a, mut of_b) = (None, None);
    poll_fn(|cx| {
        if of_a.is_none()
            && let Poll::Ready(output) = a.as_mut().poll(cx)
        {
            of_a = Some(output);
        }
        if of_b.is_none()
            && let Poll::Ready(output) = b.as_mut().poll(cx)
        {
            of_b = Some(output);
        }
        match (of_a.take(), of_b.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (one, other) => {
                (of_a, of_b) = (one, other);
                Poll::Pending
            }
        }
    })
    .await
}

static_assertions::assert_impl_all!(Child: Send, Sync);
