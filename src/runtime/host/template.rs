//! Threads that are started from a clean one.
//!
//! Go: `startTemplateThread`, `templateThread`, `newm`. A new thread inherits some of the state of the one that starts it: a
//! name space, a signal mask, a capability. One that a task has changed for itself, under
//! [`lock_thread`](crate::lock_thread), starts none: it leaves that to a thread that runs no task, and was started before the
//! first such lock.

use crate::runtime::host::foreign_threads::Known;
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread;

type Body = Box<dyn FnOnce() + Send>;

/// A thread to be, and the answer whether it was started.
struct Order {
    thread: thread::Builder,
    body: Body,
    started: SyncSender<io::Result<()>>,
}

/// The clean thread, as the others see it.
struct Template {
    orders: Sender<Order>,
    /// Is a task bound to the calling thread?
    is_bound: fn() -> bool,
}

/// `None`: it could not be started.
static TEMPLATE: OnceLock<Option<Template>> = OnceLock::new();

/// A task is about to be bound to this thread for the first time: there has to be a thread that stays clean. If the system
/// gives none, threads are started from wherever one is wanted. `is_bound`: is a task bound to the thread that calls it?
pub(in crate::runtime) fn prepare(is_bound: fn() -> bool) {
    TEMPLATE.get_or_init(|| {
        let (sender, orders) = channel::<Order>();
        let known = Known::new();
        let serve = move || {
            let _known = known;
            for Order { thread, body, started } in orders {
                // The thread that ordered it waits.
                let _ = started.send(thread.spawn(body).map(drop));
            }
        };
        thread::Builder::new()
            .name("spinpark-template".into())
            .spawn(serve)
            .ok()
            .map(|_| Template { orders: sender, is_bound })
    });
}

/// Starts a thread; from the clean one, if a task is bound to this.
///
/// # Errors
/// If the system gives none.
pub(in crate::runtime) fn spawn(thread: thread::Builder, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let template = TEMPLATE.get().and_then(Option::as_ref).filter(|template| (template.is_bound)());
    let Some(template) = template else { return thread.spawn(body).map(drop) };
    let (started, answer) = sync_channel(1);
    let order = Order { thread, body: Box::new(body), started };
    match template.orders.send(order) {
        Ok(()) => answer.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())),
        Err(refused) => refused.0.thread.spawn(refused.0.body).map(drop),
    }
}
