//! Which of the system's pollers a runtime has.

/// Which of the system's pollers a runtime waits in: see [`Builder::poller`](crate::Builder::poller). Which it has is in
/// [`Metrics::poller`](crate::Metrics::poller).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Poller {
    /// What the variable `SPINPARK_POLLER` says, `epoll` or `io_uring`; if it is not set, [`Epoll`](Poller::Epoll).
    #[default]
    Auto,
    /// The one that the system always has. On Linux it is epoll.
    Epoll,
    /// io_uring, with the feature `io-uring`, on Linux since 5.19. Where there is none, or where it is forbidden, as
    /// [`Epoll`](Poller::Epoll).
    IoUring,
}
