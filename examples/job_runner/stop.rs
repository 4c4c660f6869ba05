//! How all is asked to end: by a signal, or by a job that has failed.

use spinpark::chan::{self, Receiver, Sender};
use spinpark::signal::unix::{SignalKind, signal};
use spinpark::{select, spawn};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, OnceLock};

/// Why it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reason {
    Signal(i32),
    /// A job has failed, and that is enough.
    Failure,
}

impl Reason {
    /// The exit code.
    pub(crate) fn code(self) -> i32 {
        match self {
            Reason::Signal(number) => 128 + number,
            Reason::Failure => 1,
        }
    }
}

/// Each task has one. Nothing is ever sent to `asked` and `urged`: they are closed.
#[derive(Clone)]
pub(crate) struct Stop {
    asked: Receiver<Infallible>,
    urged: Receiver<Infallible>,
    ask: Sender<Reason>,
    reason: Arc<OnceLock<Reason>>,
}

impl Stop {
    /// From now on signals are heard.
    pub(crate) fn listen() -> io::Result<Stop> {
        let (term, int) = (SignalKind::terminate(), SignalKind::interrupt());
        let (mut terms, mut ints) = (signal(term)?, signal(int)?);
        let ((goes_on, asked), (may_take_time, urged)) = (chan::rendezvous(), chan::rendezvous());
        let (ask, asks) = chan::unbounded();
        let reason = Arc::new(OnceLock::new());
        let stop = Stop { asked, urged, ask, reason: Arc::clone(&reason) };
        drop(spawn(async move {
            let mut both = (Some(goes_on), Some(may_take_time));
            loop {
                let why = select! {
                    _ = terms.recv() => Reason::Signal(term.as_raw_value()),
                    _ = ints.recv() => Reason::Signal(int.as_raw_value()),
                    why = asks.recv() => match why {
                        Ok(why) => why,
                        Err(_) => return, // all has ended
                    },
                };
                // The first reason is the one that is told, unless a signal urges.
                if let (None, Reason::Signal(_)) = (&both.0, why) {
                    both.1 = None;
                }
                let _ = reason.set(why);
                both.0 = None;
            }
        }));
        Ok(stop)
    }

    /// Asks all to end.
    pub(crate) fn ask(&self, why: Reason) {
        // The other end is there as long as the runtime is.
        let _ = self.ask.try_send(why);
    }

    /// Waits until it is to end.
    pub(crate) async fn asked(&self) {
        let Err(_) = self.asked.recv().await;
    }

    /// Waits until it is to end at once.
    pub(crate) async fn urged(&self) {
        let Err(_) = self.urged.recv().await;
    }

    /// Why it ends, if it does.
    pub(crate) fn reason(&self) -> Option<Reason> {
        self.reason.get().copied()
    }
}
