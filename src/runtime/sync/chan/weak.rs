//! Senders that do not keep a channel open.

use super::{Sender, Shared, parts};
use crate::waits::chan::state::Side;
use core::fmt;
use std::sync::Arc;

/// A [`Sender`] that does not count: the channel is closed when the last that does is dropped. For what may send now and then, and
/// must not keep the receivers waiting: a cache of senders, a task that sends to itself.
///
/// ```
/// use spinpark::chan;
///
/// let (sender, receiver) = chan::bounded(1);
/// let weak = sender.downgrade();
/// weak.upgrade().expect("`sender` lives").try_send(1)?;
/// drop(sender);
/// assert!(weak.upgrade().is_none());
/// assert_eq!((receiver.try_recv(), receiver.is_closed()), (Ok(1), true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WeakSender<T> {
    channel: Arc<Shared<T>>,
}

impl<T> WeakSender<T> {
    pub(super) fn new(channel: &Arc<Shared<T>>) -> Self {
        WeakSender { channel: Arc::clone(channel) }
    }

    /// A sender that counts. `None`: the channel is closed, because none is left or it was closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        // Under the lock that closes: the last `Sender` either sees this one, or has closed the channel already.
        let is_open = self.channel.with(|state| {
            let is_open = !state.is_closed();
            if is_open {
                state.count_up(Side::Senders);
            }
            is_open
        });
        is_open.then(|| Sender { channel: Arc::clone(&self.channel) })
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender { channel: Arc::clone(&self.channel) }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parts::show(&self.channel, f, "WeakSender")
    }
}
