//! The kernel: small rooms, one protocol each.
//!
//! ```text
//!        go(f)                        M: a thread                      P: the right to run
//!          │                         ┌────────────┐   holds   ┌─────────────────────────────┐
//!          ▼                         │ find ─ run │◄─────────►│ runnext │ ring ■ ■ ■ ▢ ▢ ▢ ▢│
//!     ┌─────────┐  one in 61, or     └─┬───┬──────┘           └────────────▲────────────────┘
//!     │ global  │  when the ring is    │   │ nothing found?                │ half of it, by thieves
//!     │ queue   │─────────empty───────►│   │ idle the P, look once more,   │
//!     └─────────┘                      │   │ then sleep                    │
//!          ▲ a full ring spills half ──┼───┼───────────────────────────────┘
//!          │                           │   ▼
//!     submit, wakep ───────────────────┼─► a sleeping or new M, with an idle P, spinning
//!          ▲                           │
//!          │ no P for it               │ the G makes a system call
//!     ┌────┴────────┐                  ▼
//!     │ exitsyscall │◄── M ── the P lies in a word of its own: whoever exchanges it first, has it
//!     └─────────────┘                  │ the monitor, after two ticks; a stopper, at once
//!                                      ▼
//!                    handoffp: another M, or idle, or held: the world is stopped
//! ```
//!
//! **The lock rule.** There is one lock, the scheduler's. Under it are the global queue, the idle Ps, the sleeping Ms,
//! and the state of the world. The kernel neither blocks, nor wakes or starts a thread while holding it.
//!
//! Reading order, each room on its own:
//!
//! | room | decides | pairs |
//! |------|---------|-------|
//! | [`g`], [`p`], [`m`] | what a G, a P and an M are; evidence that cannot be copied | `nextp` |
//! | [`runq`] | the ring of one P | `publish`, `consume` |
//! | [`runnext`] | the slot before it | `slot` |
//! | [`local`] | both as one queue; bounded overtaking | |
//! | [`globq`] | the global queue and its length | |
//! | [`idle`] | idle Ps, sleeping Ms | |
//! | [`spinning`] | who looks for work, and who must be woken to look | `work/spinning`, `baton`, `request` |
//! | [`threads`] | a P for a sleeping or a new M | |
//! | [`sources`], [`work_source`], [`find`] | where work can be, and how an M finds it | |
//! | [`timers`], [`netpoll`] | what becomes due; who waits in the poller, and until when | `timer/poll`, `poll` |
//! | [`syscall`] | who has the P of an M that is in a system call | `syscall/stop`, `syscall-word` |
//! | [`role`] | what a thread is while a G's code runs on it, and how that code may wait; what a signal handler may change | |
//! | [`handoff`] | who gets a P that its M cannot use | |
//! | [`sysmon`] | which P the monitor takes, and when it looks again | |
//! | [`wanted`], [`stw`], [`safepoint`], [`resize`] | stopping the world, passing it P by P, more or fewer Ps | `syscall/stop` |
//! | [`locked`], [`deadlock`] | Gs that cannot leave their M; whether anything can still happen | |
//! | [`sched`], `central`, [`neighbours`] | the rooms put together, under one lock, and what each asks of the others | |
//! | [`away`], [`world`], `poll`, [`monitor`] | the same for an M without a P, for a stopper, for who waits in the poller, for the monitor | |
//!
//! Beside them: [`config`] and [`capacity`] (the numbers), [`observer`] (who watches), [`snapshot`] (what quiescence
//! means), [`random_order`] (in which order to steal), and
//! `evidence` (what makes a forgotten `OwnedP` or `SpinningToken` a panic in a debug build).
//!
//! A protocol room imports no room: it says what it needs as a `Neighbours` trait of at most four methods.
//! [`neighbours`] implements it with the real structures, the models with the smallest ones. Of the structures only
//! [`local`] joins two others, because a test for emptiness and the bound on overtaking need both.

pub mod model;
pub mod protocol;
pub mod queues;
pub mod sched;
pub mod types;
