//! The life of a task: the rights to its future and to its output, and when its memory is free.
//!
//! Generic in the [host](crate::host), like the kernel: the runtime's tasks run it on real cores, the models on hosts that
//! explore. What is behind the rights (a future, an output, memory) belongs to the implementation of [`Memory`].
//!
//! ```text
//!        new                 start                wait
//!   ──────────────► ACTIVE ─────────► (polled) ─────────► idle
//!                     ▲  in a queue, or with the thread     │
//!                     │  that runs it                       │
//!                     └──────────────── wake ◄──────────────┘
//!                     │
//!                     └── the future is ready, or closed ──► COMPLETE ──► freed, when nothing refers to it
//! ```
//!
//! Invariants:
//! * **One right, [`Active`]**, to touch the future. The thread that turns the word from idle to active has it; a queue passes it on.
//! * **No wake is lost.** A wake of a task that is active leaves NOTIFIED in the word: the poll that follows sees all that
//!   the waker wrote before, or the task is polled once more.
//! * **One right, [`Handle`]**, to the output once it is COMPLETE, and until then to store its waker. Without a handle the
//!   output is dropped by the thread that ran the task.
//! * **Freed once**, by the thread that removes the last of: ACTIVE, the handle, the wakers.
//!
//! Read-modify-writes of the word, counted by proptests/tests/task_costs.rs, besides those of cloning and dropping wakers (one
//! each):
//!
//! | what | how many |
//! |------|----------|
//! | wake a task that waits | 1 |
//! | poll a task that then waits | 1 |
//! | a task that wakes itself while it is polled: a yield | 0 |
//! | spawn, let the handle go, run to the end | 1 |
//! | await the handle, run to the end, take the output | 2 |
//! | the same, the output being there already | 1 |

mod life;
mod model;
mod slot;
pub mod stackful;
mod word;

pub use life::{
    Memory, Mode, abort, cancel, close, drop_handle, drop_waker, poll_handle, run, run_last, wake, wake_by_ref,
};
pub use slot::{JoinerSlot, WakerWords};
pub use word::{Active, Handle, TaskWord, View};
