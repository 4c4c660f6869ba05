//! What the tests of sockets have instead of a scheduler: one thread that polls, one for each task.

use crate::runtime::env;
use crate::runtime::io::netpoll::Netpoll;
use crate::runtime::io::netpoll::choice::Poller;
use core::pin::pin;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::SeqCst;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, JoinHandle, Thread};

/// The poller that these tests are of.
pub(crate) fn chosen() -> Poller {
    env::poller().expect("epoll or io_uring").unwrap_or_default()
}

/// A poller that is polled, until this is dropped.
pub(crate) struct Driver {
    pub(crate) netpoll: Arc<Netpoll>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    pub(crate) fn new() -> Driver {
        let netpoll = Arc::new(Netpoll::new(chosen()).expect("a poller"));
        let is_over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (netpoll, is_over) = (Arc::clone(&netpoll), Arc::clone(&is_over));
            move || {
                while !is_over.load(SeqCst) {
                    netpoll.poll(None);
                }
            }
        });
        Driver { netpoll, is_over, thread: Some(thread) }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        self.netpoll.close();
        let ended = self.thread.take().expect("it was not joined").join();
        assert!(ended.is_ok() || thread::panicking(), "the thread that polls panicked");
    }
}

/// Runs a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
