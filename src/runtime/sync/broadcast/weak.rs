//! Senders that do not keep a channel open.

use super::{Sender, Shared};
use crate::waits::broadcast::State;
use core::fmt;
use std::sync::Arc;

/// A sender that does not keep the channel open: to send, it is [upgraded](WeakSender::upgrade) before.
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
    _counted: Arc<()>,
}

impl<T> WeakSender<T> {
    pub(super) fn new(shared: &Arc<Shared<T>>) -> Self {
        WeakSender { shared: Arc::clone(shared), _counted: Arc::clone(&shared.weak) }
    }

    /// A sender. `None`: the last one was dropped, and the channel is closed.
    ///
    /// ```
    /// let (sender, _receiver) = spinpark::sync::broadcast::channel::<u32>(8);
    /// let weak = sender.downgrade();
    /// assert!(weak.upgrade().is_some());
    /// drop(sender);
    /// assert!(weak.upgrade().is_none());
    /// ```
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        // Under one lock: the last one is counted out before, and the channel closed, or after.
        let is_open = self.shared.with(|state| {
            let is_open = state.senders() > 0;
            if is_open {
                State::add_sender(state);
            }
            is_open
        });
        is_open.then(|| Sender { shared: Arc::clone(&self.shared) })
    }

    /// How many senders there are.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.shared.with(|state| state.senders())
    }

    /// How many weak ones there are, this one included.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        self.shared.weak_count()
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender::new(&self.shared)
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").field("strong_count", &self.strong_count()).finish_non_exhaustive()
    }
}
