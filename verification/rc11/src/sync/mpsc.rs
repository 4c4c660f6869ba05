//! Like `std::sync::mpsc`: a queue behind a lock, and a receiver who sleeps.

use super::lock::RawLock;
use crate::graph::Order;
use crate::machine;
use crate::place::Place;
use crate::step::Ask;
use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What both ends share.
struct Channel<T> {
    raw: RawLock,
    /// Where the receiver sleeps.
    receiver: Place,
    ends: Mutex<Ends<T>>,
}

struct Ends<T> {
    queue: VecDeque<T>,
    senders: usize,
    has_receiver: bool,
}

impl<T> Channel<T> {
    /// `f` alone on the ends.
    #[track_caller]
    fn with<R>(&self, f: impl FnOnce(&mut Ends<T>) -> R) -> R {
        self.raw.lock();
        let mut ends: MutexGuard<'_, Ends<T>> = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut ends);
        drop(ends);
        self.raw.unlock();
        result
    }
}

/// Like `std::sync::mpsc::Sender`.
pub struct Sender<T>(Arc<Channel<T>>);

/// Like `std::sync::mpsc::Receiver`.
pub struct Receiver<T>(Arc<Channel<T>>);

/// Like `std::sync::mpsc::channel`.
///
/// # Panics
/// Outside of a model.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let ends = Ends { queue: VecDeque::new(), senders: 1, has_receiver: true };
    let channel = Arc::new(Channel { raw: RawLock::new(), receiver: Place::new(0), ends: Mutex::new(ends) });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends.
    ///
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.with(|ends| {
            if !ends.has_receiver {
                return Err(SendError(message));
            }
            ends.queue.push_back(message);
            Ok(())
        })?;
        self.0.receiver.wake(Order::Release);
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Sender<T> {
        self.0.with(|ends| ends.senders += 1);
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        let is_last = self.0.with(|ends| {
            ends.senders -= 1;
            ends.senders == 0
        });
        if is_last {
            self.0.receiver.wake(Order::Release);
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    ///
    /// # Errors
    /// If there is none, and all senders are gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_and(|receiver| receiver.sleep(Order::Acquire))
    }

    #[track_caller]
    fn recv_and(&self, sleep: impl Fn(&Place)) -> Result<T, RecvError> {
        loop {
            match self.try_recv() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => sleep(&self.0.receiver),
            }
        }
    }

    /// Waits for a message, or does not: both are tried.
    ///
    /// # Errors
    /// If the time was over before there was one, or all senders are gone.
    #[track_caller]
    pub fn recv_timeout(&self, _timeout: Duration) -> Result<T, RecvTimeoutError> {
        match self.try_recv() {
            Ok(message) => Ok(message),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if machine::ask(Ask::Choose(2)) == 1 => Err(RecvTimeoutError::Timeout),
            Err(TryRecvError::Empty) => {
                let result = self.recv_and(|receiver| receiver.sleep_for_a_while(Order::Acquire, true));
                result.map_err(|RecvError| RecvTimeoutError::Disconnected)
            }
        }
    }

    /// Takes a message, if there is one.
    ///
    /// # Errors
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.with(|ends| match ends.queue.pop_front() {
            Some(message) => Ok(message),
            None if ends.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        })
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        let left = self.0.with(|ends| {
            ends.has_receiver = false;
            std::mem::take(&mut ends.queue)
        });
        drop(left);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}
