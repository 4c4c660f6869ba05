//! The protocols between a task, or a thread, and what it waits for.
//!
//! Generic in the [host](crate::host), like the kernel: the runtime waits by them on real cores, the models on hosts that
//! explore. Nothing here knows of an executor, a socket or a thread: what these are belongs to their users. A task that
//! waits is a `waker::Waker`, which is copied, woken and dropped where no lock is held.
//!
//! ```text
//!   a task    select ──► chan ──► queue: waiters in FIFO order, the claim of a select among them ──► waker
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
pub mod barrier;
pub mod bell;
pub mod broadcast;
pub mod cancellation;
pub mod cancellation_tree;
pub mod chan;
pub mod claim;
pub mod cond;
pub mod drained;
pub mod interrupt;
pub mod join_set;
pub mod notify;
pub mod oneshot;
pub mod operation;
pub mod owned_tasks;
pub mod parker;
pub mod queue;
pub mod readiness;
pub mod requests;
pub mod scope;
pub mod select;
pub mod semaphore;
pub mod sockets;
pub mod timer_queue;
pub mod wait_group;
pub mod wait_list;
pub mod waker;
pub mod watch;
