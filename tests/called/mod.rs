//! Wakers that are not ours, and what of a runtime's calls them. What is returned is kept until then.

use spinpark::{Handle, time};
use std::any::Any;
use std::future::Future;
use std::task::{Context, Waker};
use std::time::Duration;

/// A timer that is due soon.
pub(crate) fn by_a_timer(runtime: &Handle, waker: &Waker) -> Box<dyn Any> {
    let _entered = runtime.enter();
    let mut sleep = Box::pin(time::sleep(Duration::from_millis(20)));
    assert!(sleep.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    Box::new(sleep)
}

/// A socket, to which something comes.
#[cfg(unix)]
pub(crate) fn by_a_socket(runtime: &Handle, waker: &Waker) -> Box<dyn Any> {
    let _entered = runtime.enter();
    let (ours, theirs) = spinpark::net::unix::UnixStream::pair().expect("a pair");
    let mut reads = Box::pin(async move { ours.read(&mut [0]).await.is_ok() });
    assert!(reads.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    theirs.try_write(&[1]).expect("there is room");
    Box::new((reads, theirs))
}
