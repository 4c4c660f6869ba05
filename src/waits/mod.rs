//! The protocols between a task, or a thread, and what it waits for.
//!
//! Generic in the [host](crate::host), like the kernel: the runtime waits by them on real cores, the models on hosts that
//! explore. Nothing here knows of an executor, a socket or a thread: what these are belongs to whoever uses them. A task that
//! waits is a `waker::Waker`, which is copied, woken and dropped where no lock is held.
//!
//! ```text
//!   a task    select ──► chan ──► queue: waiters in the order of coming, the claim of a select among them ──► waker
//!             wait_group, cond, notify, watch, broadcast, barrier ──► wait_list ──► queue ◄── cancellation
//!             semaphore ──► queue
//!             scope ──► wait_group    oneshot: the waker of either end    join_set: a list and a waker
//!             timer_queue: until a moment     operation: until the system has done it
//!             sockets: which a poller knows ──► readiness: until one is ready ──► drained
//!             owned_tasks: those that have waited once, until they end
//!   a thread  parker: on a futex              bell: in `block_on`              interrupt: in the poller
//!             requests: until another has done it      at_rest: how many threads wait
//! ```

pub mod at_rest;
#[cfg(feature = "std")]
pub mod barrier;
pub mod bell;
#[cfg(feature = "std")]
pub mod broadcast;
#[cfg(feature = "std")]
pub mod cancellation;
#[cfg(feature = "std")]
pub mod cancellation_tree;
#[cfg(feature = "std")]
pub mod chan;
#[cfg(feature = "std")]
pub mod claim;
#[cfg(feature = "std")]
pub mod cond;
pub mod drained;
pub mod interrupt;
#[cfg(feature = "std")]
pub mod join_set;
#[cfg(feature = "std")]
pub mod notify;
#[cfg(feature = "std")]
pub mod oneshot;
#[cfg(feature = "std")]
pub mod operation;
#[cfg(feature = "std")]
pub mod owned_tasks;
pub mod parker;
#[cfg(feature = "std")]
pub mod queue;
pub mod readiness;
pub mod requests;
#[cfg(feature = "std")]
pub mod scope;
#[cfg(feature = "std")]
pub mod select;
#[cfg(feature = "std")]
pub mod semaphore;
#[cfg(feature = "std")]
pub mod sockets;
pub mod timer_queue;
#[cfg(feature = "std")]
pub mod wait_group;
#[cfg(feature = "std")]
pub mod wait_list;
#[cfg(feature = "std")]
pub mod waker;
#[cfg(feature = "std")]
pub mod watch;
