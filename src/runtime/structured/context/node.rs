//! One context's end: its token, its deadline, and why it has ended.

use crate::runtime::handle::Handle;
use crate::runtime::host::clock;
use crate::runtime::structured::abort_on_drop::AbortOnDropHandle;
use crate::runtime::structured::cancellation::CancellationToken;
use crate::runtime::time::sleep_until;
use core::error::Error;
use core::fmt;
use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

/// Why a context has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextError {
    /// It was cancelled, or one above it.
    Canceled,
    /// Its deadline has elapsed, or that of one above it.
    DeadlineExceeded,
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ContextError::Canceled => "context canceled",
            ContextError::DeadlineExceeded => "context deadline exceeded",
        })
    }
}

impl Error for ContextError {}

impl From<ContextError> for io::Error {
    fn from(error: ContextError) -> Self {
        let kind = match error {
            // Not `Interrupted`: loops of std try again then.
            ContextError::Canceled => io::ErrorKind::Other,
            ContextError::DeadlineExceeded => io::ErrorKind::TimedOut,
        };
        io::Error::new(kind, error)
    }
}

/// What it was ended with.
#[derive(Clone)]
pub(super) struct Ended {
    pub(super) error: ContextError,
    pub(super) cause: Option<Arc<dyn Error + Send + Sync>>,
}

/// What the clones of a context share.
///
/// **`ended` is set before the token is cancelled, and once**: a thread that sees the token cancelled finds why, here or above.
pub(super) struct Node {
    /// A child of that of the node above.
    token: CancellationToken,
    /// The earliest from here up.
    deadline: Option<Instant>,
    ended: OnceLock<Ended>,
    above: Option<Arc<Node>>,
    /// Ends it at its deadline.
    alarm: OnceLock<AbortOnDropHandle<()>>,
}

impl Node {
    pub(super) fn root(token: CancellationToken) -> Arc<Node> {
        Arc::new(Node { token, deadline: None, ended: OnceLock::new(), above: None, alarm: OnceLock::new() })
    }

    #[track_caller]
    pub(super) fn below(above: &Arc<Node>, deadline: Option<Instant>) -> Arc<Node> {
        let deadline = deadline.filter(|&own| above.deadline.is_none_or(|earlier| own < earlier));
        let node = Arc::new(Node {
            token: above.token.child_token(),
            deadline: deadline.or(above.deadline),
            ended: OnceLock::new(),
            above: Some(Arc::clone(above)),
            alarm: OnceLock::new(),
        });
        if let Some(deadline) = deadline {
            node.set_alarm(deadline);
        }
        node
    }

    #[track_caller]
    fn set_alarm(self: &Arc<Node>, deadline: Instant) {
        if self.ended().is_some() {
            // The deadline has passed, or the one above has ended: this one's token says so too.
            return self.token.cancel();
        }
        let runtime = Handle::current_for("a context with a deadline was made");
        let task = runtime.spawn(rings(Arc::downgrade(self), self.token.clone(), deadline));
        let _ = self.alarm.set(AbortOnDropHandle::new(task));
    }

    pub(super) fn token(&self) -> &CancellationToken {
        &self.token
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// It ends, unless it has.
    pub(super) fn end(&self, error: ContextError, cause: Option<Arc<dyn Error + Send + Sync>>) {
        if self.ended().is_none() {
            let _ = self.ended.set(Ended { error, cause });
        }
        self.token.cancel();
    }

    /// Why it has ended. From the first time on it is the same.
    pub(super) fn ended(&self) -> Option<Ended> {
        if let Some(ended) = self.ended.get() {
            return Some(ended.clone());
        }
        let passed = self.deadline.is_some_and(|deadline| clock::instant() >= deadline);
        if !passed && !self.token.is_cancelled() {
            return None;
        }
        // In a loop: they may be many. The nearest that knows; if none does, and no deadline has passed, a token of others was cancelled.
        let mut above = self.above.as_deref();
        let known = loop {
            match above.map(|node| (node.ended.get(), node.above.as_deref())) {
                Some((None, next)) => above = next,
                Some((known, _)) => break known.cloned(),
                None => break None,
            }
        };
        let error = if passed { ContextError::DeadlineExceeded } else { ContextError::Canceled };
        Some(self.ended.get_or_init(|| known.unwrap_or(Ended { error, cause: None })).clone())
    }
}

impl Drop for Node {
    /// In a loop: of many, one below the other, the destructors would use up the stack.
    fn drop(&mut self) {
        let mut next = self.above.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.above.take();
        }
    }
}

/// Sleeps until the deadline; no longer, if the context ends before.
async fn rings(node: Weak<Node>, token: CancellationToken, deadline: Instant) {
    if token.run_until_cancelled_owned(sleep_until(deadline)).await.is_some()
        && let Some(node) = node.upgrade()
    {
        node.end(ContextError::DeadlineExceeded, None);
    }
}
