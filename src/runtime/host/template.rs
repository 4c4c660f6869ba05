//! Threads that are started from a clean one.
//!
//! Go: `startTemplateThread`, `templateThread`, `newm`. A new thread inherits some of the state of the one that starts it: a
//! name space, a signal mask, a capability. One that a task has changed for itself, under
//! [`lock_thread`](crate::lock_thread), starts none: it leaves that to a thread that runs no task, and was started before the
//! first such lock. Requests for one, and answers, are [`requests`](crate::waits::requests).

use crate::host::Host;
use crate::runtime::host::foreign_threads::Known;
use crate::waits::requests::{Requests, Unanswered};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// A thread to be.
struct Order {
    thread: thread::Builder,
    body: Box<dyn FnOnce() + Send>,
}

impl Order {
    /// Starts it, from here.
    fn start(self) -> io::Result<JoinHandle<()>> {
        self.thread.spawn(self.body)
    }
}

/// The clean thread, as the others see it.
pub(in crate::runtime) struct Template<H: Host> {
    orders: Arc<Requests<H, Order, io::Result<JoinHandle<()>>>>,
    /// Is a task bound to the calling thread?
    is_bound: fn() -> bool,
}

impl<H: Host> Template<H> {
    /// Starts the clean thread, from here. `None`: the system gives none. `is_bound`: is a task bound to the thread that calls it?
    pub(in crate::runtime) fn start(is_bound: fn() -> bool) -> Option<Template<H>> {
        let orders = Arc::new(Requests::new());
        let serve = {
            let orders = Arc::clone(&orders);
            move || {
                let _known = Known::new();
                orders.serve(Order::start);
            }
        };
        let started = thread::Builder::new().name("spinpark-template".into()).spawn(serve);
        started.ok().map(|_| Template { orders, is_bound })
    }

    /// Is a task bound to the calling thread? Then it starts no other by itself.
    pub(in crate::runtime) fn is_bound(&self) -> bool {
        (self.is_bound)()
    }

    /// Starts a thread from the clean one; if that has ended, from here.
    ///
    /// # Errors
    /// If the system gives none, or the clean thread has ended as it started this one.
    pub(in crate::runtime) fn spawn(
        &self,
        thread: thread::Builder,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        match self.orders.ask(Order { thread, body: Box::new(body) }) {
            Ok(started) => started,
            Err(Unanswered::Ended(order)) => order.start(),
            Err(Unanswered::Lost) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}
