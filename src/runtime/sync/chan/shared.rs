//! What all ends of a channel have.

use crate::runtime::host::cores::Cores;
use crate::runtime::sync::chan::parts::Channel;
use crate::runtime::sync::locks::Mutex;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::cancellation::Token;
use crate::waits::chan::state::Side;
use core::ops::Deref;
use std::sync::OnceLock;

/// The channel, and the senders that wait until it is closed.
///
/// | a sender, in [`closes`](Shared::closes)       | a thread that closes the channel            |
/// |-----------------------------------------------|---------------------------------------------|
/// | 1. makes the token                            | 1. closes the channel, under its lock       |
/// | 2. asks under the lock: is the channel closed? | 2. cancels the token, if there is one      |
///
/// The thread that takes the lock second sees what the other did before it took the lock: so the sender finds the channel closed, or
/// the closing thread finds the token.
pub(super) struct Shared<T> {
    channel: Channel<T>,
    /// Made by the first sender that waits until the channel is closed.
    closes: OnceLock<Token<Cores, TaskWaker>>,
    /// Held by the sender that gathers many slots. Made by the first.
    turn: OnceLock<Box<Mutex<()>>>,
}

impl<T> Shared<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Shared { channel: Channel::new(capacity), closes: OnceLock::new(), turn: OnceLock::new() }
    }

    /// Whose turn it is to gather many slots.
    pub(super) fn turn(&self) -> &Mutex<()> {
        self.turn.get_or_init(Box::default)
    }

    /// Is cancelled when the channel is closed. `None`: the channel is closed.
    pub(super) fn closes(&self) -> Option<&Token<Cores, TaskWaker>> {
        let token = self.closes.get_or_init(Token::new);
        (!self.with(|state| state.is_closed())).then_some(token)
    }

    /// The token, if a sender has waited.
    pub(super) fn token(&self) -> Option<&Token<Cores, TaskWaker>> {
        self.closes.get()
    }

    /// As the channel's; senders that wait for it are woken.
    pub(super) fn close(&self) -> bool {
        let is_first = self.channel.close();
        if is_first {
            self.announce();
        }
        is_first
    }

    /// As the channel's; senders that wait for its end are woken.
    pub(super) fn drop_end(&self, side: Side) {
        self.channel.drop_end(side);
        self.announce();
    }

    /// After the lock was released.
    fn announce(&self) {
        if let Some(token) = self.closes.get()
            && self.with(|state| state.is_closed())
        {
            token.cancel();
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = Channel<T>;

    fn deref(&self) -> &Channel<T> {
        &self.channel
    }
}
