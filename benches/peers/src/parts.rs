//! What the workloads share. All of it is the same for every runtime.

use crate::row::Tally;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Detached tasks add their numbers here; the last of them wakes the task that waits for all.
#[derive(Default)]
pub struct Countdown {
    left: AtomicU64,
    count: AtomicU64,
    sum: AtomicU64,
    waiter: Mutex<Option<Waker>>,
}

impl Countdown {
    /// One that is never freed, so that tasks share it without a count.
    pub fn forever() -> &'static Countdown {
        Box::leak(Box::default())
    }

    /// `n` tasks will come.
    pub fn begin(&self, n: u64) {
        self.count.store(0, Relaxed);
        self.sum.store(0, Relaxed);
        self.left.store(n, Release);
    }

    /// A task's number. `true`: it was the last, so a task may be waiting.
    pub fn add(&self, number: u64) -> bool {
        self.count.fetch_add(1, Relaxed);
        self.sum.fetch_add(number, Relaxed);
        // AcqRel: the last one, and its waiter, see what the others have added.
        self.left.fetch_sub(1, AcqRel) == 1
    }

    /// The same for a task of an async runtime.
    pub fn add_and_wake(&self, number: u64) {
        if self.add(number)
            && let Some(waiter) = self.waiter.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            waiter.wake();
        }
    }

    pub fn is_over(&self) -> bool {
        self.left.load(Acquire) == 0
    }

    /// Waits for the last.
    pub fn over(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|cx| {
            let mut waiter = self.waiter.lock().unwrap_or_else(PoisonError::into_inner);
            // Under the lock: the last one looks for a waiter after it has counted down.
            if self.is_over() {
                return Poll::Ready(());
            }
            *waiter = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    pub fn tally(&self) -> Tally {
        Tally { count: self.count.load(Acquire), sum: self.sum.load(Acquire) }
    }
}

/// Tasks wait before it until it is opened.
pub struct Gate {
    is_open: AtomicBool,
    waiting: AtomicU64,
    wakers: Mutex<Vec<Waker>>,
}

impl Gate {
    /// With room for so many, so that it allocates nothing later. Never freed.
    pub fn forever(room: u64) -> &'static Gate {
        Box::leak(Box::new(Gate {
            is_open: AtomicBool::new(false),
            waiting: AtomicU64::new(0),
            wakers: Mutex::new(Vec::with_capacity(room as usize)),
        }))
    }

    pub fn waiting(&self) -> u64 {
        self.waiting.load(Acquire)
    }

    /// Wakes all, in the order in which they came.
    pub fn open(&self) {
        self.is_open.store(true, Release);
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        wakers.drain(..).for_each(Waker::wake);
    }

    /// For the next round.
    pub fn close(&self) {
        self.waiting.store(0, Relaxed);
        self.is_open.store(false, Release);
    }
}

/// Pending until the gate is opened. One word large, so that what is measured is the runtime's.
pub struct Pass(pub &'static Gate);

impl Future for Pass {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut wakers = self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        if self.0.is_open.load(Acquire) {
            return Poll::Ready(());
        }
        wakers.push(cx.waker().clone());
        self.0.waiting.fetch_add(1, Release);
        Poll::Pending
    }
}
