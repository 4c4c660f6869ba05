//! Futures, driven by threads of a model.

mod atomic_waker;

pub use self::atomic_waker::AtomicWaker;

use crate::alloc::Track;
use crate::sync::Notify;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// A waker must have been given back by the end of the execution.
struct Woken(Track<Notify>);

impl Wake for Woken {
    #[track_caller]
    fn wake(self: Arc<Self>) {
        self.0.get_ref().notify();
    }

    #[track_caller]
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.get_ref().notify();
    }
}

/// Polls `future` until it is ready, and sleeps until it is woken in between. Once in an execution it polls again though
/// no waker was called.
///
/// ```
/// rc11::model(|| assert_eq!(rc11::future::block_on(async { 6 * 7 }), 42));
/// ```
#[track_caller]
pub fn block_on<F>(future: F) -> F::Output
where
    F: Future,
{
    let mut future = pin!(future);
    let woken = Arc::new(Woken(Track::new(Notify::counted())));
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => woken.0.get_ref().wait(),
        }
    }
}
