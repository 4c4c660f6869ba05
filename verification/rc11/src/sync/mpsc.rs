//! Like `std::sync::mpsc`: a queue behind a lock, and threads that sleep.
//!
//! The lock gives no order. What a thread did before it sent a message, or dropped the last sender, happens before what the
//! receiver does when it has found that out: as std promises, and no more.

mod channel;
mod iter;

use self::channel::{Channel, Ends, Message};
pub use self::iter::{IntoIter, Iter, TryIter};
use super::lock::RawLock;
use crate::graph::{Order, Update};
use crate::machine;
use crate::place::Place;
use crate::timeout::{self, Timeout};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[doc(no_inline)]
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// A sender, of either kind.
struct Sending<T>(Arc<Channel<T>>);

impl<T> Clone for Sending<T> {
    #[track_caller]
    fn clone(&self) -> Sending<T> {
        self.0.with(|ends| ends.senders += 1);
        Sending(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sending<T> {
    #[track_caller]
    fn drop(&mut self) {
        let is_last = self.0.with(|ends| {
            self.0.gone.update(Order::Release, Update::Swap(1));
            ends.senders -= 1;
            ends.senders == 0
        });
        if is_last {
            self.0.wake_receiver();
        }
    }
}

/// Like `std::sync::mpsc::Sender`.
///
/// ```
/// rc11::model(|| {
///     let (sender, receiver) = rc11::sync::mpsc::channel();
///     let other = rc11::thread::spawn(move || sender.send(7).unwrap());
///     assert_eq!(receiver.recv(), Ok(7));
///     other.join().unwrap();
/// });
/// ```
pub struct Sender<T>(Sending<T>);

/// Like `std::sync::mpsc::SyncSender`.
///
/// ```
/// rc11::model(|| {
///     let (sender, receiver) = rc11::sync::mpsc::sync_channel(1);
///     sender.send(7).unwrap();
///     assert!(sender.try_send(8).is_err()); // there is no room
///     assert_eq!(receiver.try_recv(), Ok(7));
/// });
/// ```
pub struct SyncSender<T>(Sending<T>);

/// Like `std::sync::mpsc::Receiver`.
///
/// ```
/// rc11::model(|| {
///     let (sender, receiver) = rc11::sync::mpsc::channel();
///     let other = rc11::thread::spawn(move || sender.send(7).unwrap());
///     assert_eq!(receiver.recv(), Ok(7));
///     other.join().unwrap();
///     assert!(receiver.try_recv().is_err()); // the sender is gone
///     assert!(receiver.recv_timeout(std::time::Duration::from_secs(1)).is_err());
/// });
/// ```
pub struct Receiver<T>(Arc<Channel<T>>);

// SAFETY: a message goes from one thread to another, and a receiver is one thread's at a time, as with std's.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: the queue is behind a lock.
unsafe impl<T: Send> Sync for Sender<T> {}
// SAFETY: as `Sender`.
unsafe impl<T: Send> Send for SyncSender<T> {}
// SAFETY: as `Sender`.
unsafe impl<T: Send> Sync for SyncSender<T> {}
// SAFETY: as `Sender`.
unsafe impl<T: Send> Send for Receiver<T> {}

/// Like `std::sync::mpsc::channel`.
///
/// # Panics
/// Outside of a model.
///
/// ```
/// rc11::model(|| {
///     let (sender, receiver) = rc11::sync::mpsc::channel();
///     sender.send(7).unwrap();
///     drop(sender);
///     assert_eq!(receiver.iter().collect::<Vec<_>>(), [7]);
/// });
/// ```
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = ends(None);
    (Sender(sender), receiver)
}

/// Like `std::sync::mpsc::sync_channel`: with room for `bound` messages. If there is none, a sender waits for its turn,
/// which is any sender's that waits; of a channel with room for 0, it waits until its message is taken.
///
/// # Panics
/// Outside of a model.
///
/// ```
/// rc11::model(|| {
///     let (sender, receiver) = rc11::sync::mpsc::sync_channel(0); // hands over
///     let other = rc11::thread::spawn(move || sender.send(7).unwrap());
///     assert_eq!(receiver.recv(), Ok(7));
///     other.join().unwrap();
/// });
/// ```
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (sender, receiver) = ends(Some(bound));
    (SyncSender(sender), receiver)
}

#[track_caller]
fn ends<T>(bound: Option<usize>) -> (Sending<T>, Receiver<T>) {
    let ends = Ends { queue: VecDeque::new(), senders: 1, has_receiver: true, is_awaited: false, waiting: Vec::new() };
    let (raw, receiver, gone) = (RawLock::counted(), Place::counted(0), Place::counted(0));
    let channel = Arc::new(Channel { raw, receiver, gone, bound, ends: Mutex::new(ends) });
    (Sending(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends.
    ///
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.0.send(message)
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Sender<T> {
        Sender(self.0.clone())
    }
}

impl<T> SyncSender<T> {
    /// Sends, when there is room.
    ///
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let channel = &self.0.0;
        if channel.bound == Some(0) { channel.hand_over(message) } else { channel.send(message) }
    }

    /// Sends, if there is room: of a channel with room for 0, if the receiver waits.
    ///
    /// # Errors
    /// If there is none, or the receiver is gone.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0.0.try_send(message)
    }
}

impl<T> Clone for SyncSender<T> {
    #[track_caller]
    fn clone(&self) -> SyncSender<T> {
        SyncSender(self.0.clone())
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    ///
    /// # Errors
    /// If there is none, and all senders are gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_and(|receiver| receiver.sleep(Order::Relaxed))
    }

    #[track_caller]
    fn recv_and(&self, sleep: impl Fn(&Place)) -> Result<T, RecvError> {
        loop {
            match self.0.take(true) {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => sleep(&self.0.receiver),
            }
        }
    }

    /// Waits for a message, or times out, whatever the duration and whenever it likes. For a loop that
    /// waits again each time see [`Condvar::wait_timeout`](super::Condvar::wait_timeout).
    ///
    /// # Errors
    /// If it has timed out, or all senders are gone.
    #[track_caller]
    pub fn recv_timeout(&self, _timeout: Duration) -> Result<T, RecvTimeoutError> {
        let own = [self.0.raw.loc(), self.0.receiver.loc()];
        let gone = |RecvError| RecvTimeoutError::Disconnected;
        match timeout::again(0, &own) {
            Some(Timeout::Again) => return Err(RecvTimeoutError::Timeout),
            Some(_) => return self.recv().map_err(gone),
            None => (),
        }
        match self.try_recv() {
            Ok(message) => Ok(message),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) if timeout::choose(0, &own) == Timeout::Now => Err(RecvTimeoutError::Timeout),
            Err(TryRecvError::Empty) => {
                self.recv_and(|receiver| receiver.sleep_for_a_while(Order::Relaxed)).map_err(gone)
            }
        }
    }

    /// Takes a message, if there is one.
    ///
    /// # Errors
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.take(false)
    }

    /// The messages, as they come, until all senders are gone.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The messages that are there.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        let (queue, waiting) = self.0.with(|ends| {
            ends.has_receiver = false;
            (std::mem::take(&mut ends.queue), std::mem::take(&mut ends.waiting))
        });
        waiting.into_iter().for_each(|sender| sender.wake(Order::Relaxed));
        for Message { value, sender, .. } in queue {
            if let Some(sender) = sender {
                *sender.given_back.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
                sender.place.wake(Order::Release);
            } else {
                // Std's receiver knows what was done before each message was sent.
                machine::as_if_it_knew_all(|| drop(value));
            }
        }
    }
}

macro_rules! debug {
    ($($name:ident)*) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(concat!(stringify!($name), " { .. }"))
            }
        }
    )*};
}
debug! { Sender SyncSender Receiver }
