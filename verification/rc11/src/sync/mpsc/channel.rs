//! What the ends of a channel share: messages, and who sleeps.

use super::{SendError, TryRecvError, TrySendError};
use crate::graph::{Order, Update};
use crate::machine;
use crate::place::Place;
use crate::step::Ask;
use crate::sync::lock::RawLock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What both ends share.
pub(super) struct Channel<T> {
    pub(super) raw: RawLock,
    /// Where the receiver sleeps.
    pub(super) receiver: Place,
    /// What the senders did before they were dropped.
    pub(super) gone: Place,
    /// So many messages there may be. 0: each sender waits until its message is taken.
    pub(super) bound: Option<usize>,
    pub(super) ends: Mutex<Ends<T>>,
}

pub(super) struct Ends<T> {
    pub(super) queue: VecDeque<Message<T>>,
    pub(super) senders: usize,
    pub(super) has_receiver: bool,
    /// The receiver has found nothing, and sleeps.
    pub(super) is_awaited: bool,
    /// Senders that wait for room.
    pub(super) waiting: Vec<Arc<Place>>,
}

pub(super) struct Message<T> {
    pub(super) value: T,
    /// What the sender did before.
    pub(super) sent: Place,
    /// Where the sender sleeps until it is taken, or given back.
    pub(super) sender: Option<Arc<Waiting<T>>>,
}

/// A sender that waits until its message is taken.
pub(super) struct Waiting<T> {
    pub(super) place: Place,
    pub(super) given_back: Mutex<Option<T>>,
}

impl<T> Channel<T> {
    /// `f` alone on the ends.
    #[track_caller]
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut Ends<T>) -> R) -> R {
        self.raw.lock_as(Order::Relaxed);
        let mut ends: MutexGuard<'_, Ends<T>> = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut ends);
        drop(ends);
        self.raw.unlock();
        result
    }

    #[track_caller]
    pub(super) fn wake_receiver(&self) {
        self.receiver.wake(Order::Relaxed);
    }

    #[track_caller]
    pub(super) fn send(&self, value: T) -> Result<(), SendError<T>> {
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
    pub(super) fn hand_over(&self, value: T) -> Result<(), SendError<T>> {
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
    pub(super) fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
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
    pub(super) fn take(&self, sleeps: bool) -> Result<T, TryRecvError> {
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
