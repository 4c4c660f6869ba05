//! Which tasks wait for which socket, and the system's poller that reports when to wake them.
//!
//! Go: `netpoll`, `pollDesc`, `netpollBreak`, `netpollWaiters`.
//!
//! A socket is tried first; only if it would block its task waits, as a waker in the list of its direction:
//!
//! | a task that waits, in [`wait`](poller::Netpoll::wait) | the M that polls, in [`poll`](poller::Netpoll::poll) |
//! |-------------------------------------------------------|------------------------------------------------------|
//! | 1. is counted, and puts its waker on the list         | 1. gets an event from the system, which disarms      |
//! | 2. arms the socket, unless it is armed already        | 2. takes the lists that the event is for             |
//! |                                                       | 3. arms the socket again, if the other list waits    |
//! |                                                       | 4. wakes, then counts down                           |
//!
//! On Linux a socket is armed for ever, and reports changes only: a tick counts them. A task that was blocked compares, under
//! the lock, with the tick that it saw before it tried: if there was one meanwhile, it tries again.
//!
//! Both hold the entry's lock: the waiter in both steps, the poller in 2 and 3. So nothing is lost: an armed socket that
//! is ready already is reported at once, and a task that finds it armed still, though the event is on its way, is on the list
//! when the poller takes it. An event wakes all that wait for it: one that has given up meanwhile takes it from nobody.
//!
//! A waker is the user's code. It is cloned before the lock is taken, woken and dropped after.

#[cfg(test)]
pub(crate) mod driver;
mod entry;
pub(in crate::runtime) mod poller;
mod registered;
mod socket;
mod source;
mod system;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use poller::Netpoll;
pub(crate) use registered::Registered;
pub(crate) use socket::Direction;
