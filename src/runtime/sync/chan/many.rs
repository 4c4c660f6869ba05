//! Receiving several values at once.

use crate::runtime::exec::goroutine::Wait as _;
use crate::runtime::exec::yielding::proceed;
use crate::runtime::sync::chan::Receiver;

impl<T> Receiver<T> {
    /// Receives the oldest values, at most `limit`, and appends them to `buffer`; waits while there is none. It does not wait for
    /// more: it takes those that are there when the first is. Returns how many. 0: the channel is closed and nothing is left in it, or
    /// `limit` is 0.
    ///
    /// # Cancel safety
    /// Dropped, no value is lost: it has received nothing.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, receiver) = spinpark::chan::bounded(8);
    /// for n in 0..5 {
    ///     sender.send(n).await.expect("it is open");
    /// }
    /// let mut some = Vec::new();
    /// assert_eq!(receiver.recv_many(&mut some, 3).await, 3);
    /// assert_eq!(receiver.recv_many(&mut some, 100).await, 2);
    /// assert_eq!(some, [0, 1, 2, 3, 4]);
    /// drop(sender);
    /// assert_eq!(receiver.recv_many(&mut some, 100).await, 0);
    /// # });
    /// ```
    pub async fn recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> usize {
        if limit == 0 {
            proceed().await;
            return 0;
        }
        let Ok(first) = self.recv().await else { return 0 };
        buffer.push(first);
        1 + self.take_some(buffer, limit - 1)
    }

    /// As [`recv_many`](Receiver::recv_many), with this thread; see [`Sender::blocking_send`](super::Sender::blocking_send).
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(8);
    /// sender.try_send(1).expect("there is room");
    /// sender.try_send(2).expect("there is room");
    /// let mut both = Vec::new();
    /// assert_eq!(receiver.blocking_recv_many(&mut both, 8), 2);
    /// ```
    #[track_caller]
    pub fn blocking_recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> usize {
        self.recv_many(buffer, limit).wait()
    }

    /// Those that are there now, at most `limit`. Without that bound a loop beside fast senders would have no end.
    fn take_some(&self, buffer: &mut Vec<T>, limit: usize) -> usize {
        let before = buffer.len();
        let some = (0..limit.min(self.len())).map_while(|_| self.try_recv().ok());
        buffer.extend(some);
        buffer.len() - before
    }
}
