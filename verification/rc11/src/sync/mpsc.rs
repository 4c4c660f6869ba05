//! Like `std::sync::mpsc`: a queue behind a lock, and threads that sleep.
//!
//! The lock gives no order. What a thread did before it sent a message, or dropped the last sender, happens before what the
//! receiver does when it has found that out: as std promises, and no more.

mod iter;

pub use self::iter::{IntoIter, Iter, TryIter};
use super::lock::RawLock;
use crate::graph::{Order, Update};
use crate::machine;
use crate::place::Place;
use crate::step::Ask;
use crate::timeout::{self, Timeout};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[doc(no_inline)]
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// What both ends share.
struct Channel<T> {
    raw: RawLock,
    /// Where the receiver sleeps.
    receiver: Place,
    /// What the senders did before they were dropped.
    gone: Place,
    /// So many messages there may be. 0: each sender waits until its message is taken.
    bound: Option<usize>,
    ends: Mutex<Ends<T>>,
}

struct Ends<T> {
    queue: VecDeque<Message<T>>,
    senders: usize,
    has_receiver: bool,
    /// The receiver has found nothing, and sleeps.
    is_awaited: bool,
    /// Senders that wait for room.
    waiting: Vec<Arc<Place>>,
}

struct Message<T> {
    value: T,
    /// What the sender did before.
    sent: Place,
    /// Where the sender sleeps until it is taken, or given back.
    sender: Option<Arc<Waiting<T>>>,
}

/// A sender that waits until its message is taken.
struct Waiting<T> {
    place: Place,
    given_back: Mutex<Option<T>>,
}

impl<T> Channel<T> {
    /// `f` alone on the ends.
    #[track_caller]
    fn with<R>(&self, f: impl FnOnce(&mut Ends<T>) -> R) -> R {
        self.raw.lock_as(Order::Relaxed);
        let mut ends: MutexGuard<'_, Ends<T>> = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut ends);
        drop(ends);
        self.raw.unlock();
        result
    }

    #[track_caller]
    fn wake_receiver(&self) {
        self.receiver.wake(Order::Relaxed);
    }

    #[track_caller]
    fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut message = self.message(value);
        loop {
            let me = Arc::new(Place::internal(0));
            let sent = self.with(|ends| match ends.push(message, self.bound) {
                Err(TrySendError::Full(message)) => {
                    ends.waiting.push(Arc::clone(&me));
                    Err(TrySendError::Full(message))
                }
                other => other,
            });
            match sent {
                Ok(()) => break,
                Err(TrySendError::Disconnected(message)) => return Err(SendError(message.value)),
                Err(TrySendError::Full(back)) => {
                    me.sleep(Order::Relaxed);
                    message = back;
                }
            }
        }
        self.wake_receiver();
        Ok(())
    }

    /// For a channel without room: waits until the message is taken.
    #[track_caller]
    fn hand_over(&self, value: T) -> Result<(), SendError<T>> {
        let mut message = self.message(value);
        let me = Arc::new(Waiting { place: Place::internal(0), given_back: Mutex::new(None) });
        message.sender = Some(Arc::clone(&me));
        let sent = self.with(|ends| ends.push(message, None));
        if let Err(TrySendError::Full(message) | TrySendError::Disconnected(message)) = sent {
            return Err(SendError(message.value));
        }
        self.wake_receiver();
        me.place.sleep(Order::Acquire);
        let back = me.given_back.lock().unwrap_or_else(PoisonError::into_inner).take();
        back.map_or(Ok(()), |value| Err(SendError(value)))
    }

    #[track_caller]
    fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let message = self.message(value);
        let sent = self.with(|ends| {
            // Without room it must be taken at once.
            let room =
                if self.bound == Some(0) { usize::from(ends.is_awaited) } else { self.bound.unwrap_or(usize::MAX) };
            ends.push(message, Some(room))
        });
        sent.map_err(|error| match error {
            TrySendError::Full(message) => TrySendError::Full(message.value),
            TrySendError::Disconnected(message) => TrySendError::Disconnected(message.value),
        })?;
        self.wake_receiver();
        Ok(())
    }

    #[track_caller]
    fn message(&self, value: T) -> Message<T> {
        let sent = Place::internal(0);
        sent.wake(Order::Release);
        Message { value, sent, sender: None }
    }

    /// Takes a message; if there is none, and the thread will sleep, senders know that.
    #[track_caller]
    fn take(&self, sleeps: bool) -> Result<T, TryRecvError> {
        let taken = self.with(|ends| {
            ends.is_awaited = sleeps && ends.queue.is_empty();
            match ends.queue.pop_front() {
                Some(message) => Ok((message, ends.next_waiting())),
                None if ends.senders == 0 => Err(TryRecvError::Disconnected),
                None => Err(TryRecvError::Empty),
            }
        });
        match taken {
            Ok((Message { value, sent, sender }, waiting)) => {
                sent.sleep(Order::Acquire);
                if let Some(waiting) = waiting {
                    waiting.wake(Order::Relaxed);
                }
                if let Some(sender) = sender {
                    sender.place.wake(Order::Release);
                }
                Ok(value)
            }
            Err(why) => {
                if why == TryRecvError::Disconnected {
                    self.gone.update(Order::Acquire, Update::Add(0));
                }
                Err(why)
            }
        }
    }
}

impl<T> Ends<T> {
    fn push(&mut self, message: Message<T>, room: Option<usize>) -> Result<(), TrySendError<Message<T>>> {
        if !self.has_receiver {
            return Err(TrySendError::Disconnected(message));
        }
        if room.is_some_and(|room| self.queue.len() >= room) {
            return Err(TrySendError::Full(message));
        }
        self.queue.push_back(message);
        Ok(())
    }

    /// There is room for one: any of those that wait may be the one that is woken.
    #[track_caller]
    fn next_waiting(&mut self) -> Option<Arc<Place>> {
        let n = self.waiting.len();
        let which = if n > 1 { machine::ask(Ask::Choose(n as u32)) as usize } else { 0 };
        (n > 0).then(|| self.waiting.remove(which))
    }
}

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
