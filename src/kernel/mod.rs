//! The kernel: small rooms, one protocol each.
//!
//! ```text
//!        go(f)                        M: a thread                      P: the right to run
//!          │                         ┌────────────┐   holds   ┌─────────────────────────────┐
//!          ▼                         │ find ─ run │◄─────────►│ runnext │ ring ■ ■ ■ ▢ ▢ ▢ ▢│
//!     ┌─────────┐  one in 61, or     └─┬───┬──────┘           └────────────▲────────────────┘
//!     │ global  │  when the ring is    │   │ nothing found?                │ half of it, by thieves
//!     │ queue   │─────────empty───────►│   │ idle the P, scan again,       │
//!     └─────────┘                      │   │ then sleep                    │
//!          ▲ a full ring spills half ──┼───┼───────────────────────────────┘
//!          │                           │   ▼
//!     submit, wakep ───────────────────┼─► a sleeping or new M, with an idle P, spinning
//!          ▲                           │
//!          │ no P for it               │ the G makes a system call
//!     ┌────┴────────┐                  ▼
//!     │ exitsyscall │◄── M ── the P is held in the P's word: one exchange decides which M has it
//!     └─────────────┘                  │ the monitor, after two ticks; a stopper, at once
//!                                      ▼
//!                    handoffp: another M, or idle, or held: the world is stopped
//! ```
//!
//! **The lock rule.** There is one lock, the scheduler's. Under it are the global queue, the idle Ps, the sleeping Ms,
//! and the state of the world. The kernel neither blocks, nor wakes or starts a thread while holding it.
//!
//! | folder | what is in it |
//! |--------|---------------|
//! | [`types`] | what a G, a P and an M are; evidence that cannot be copied |
//! | [`queues`] | where Gs, idle Ps, sleeping Ms and timers wait |
//! | [`protocol`] | the protocols, one a room, each with its own `Neighbours` |
//! | [`sched`] | the rooms put together under one lock, with one file a protocol that answers its `Neighbours` |
//!
//! Reading order, each room on its own:
//!
//! | room | decides | pairs |
//! |------|---------|-------|
//! | [`g`](types::g), [`p`](types::p), [`m`](types::m) | what a G, a P and an M are | `nextp` |
//! | [`runq`](queues::runq) | the ring of one P | `publish`, `consume` |
//! | [`runnext`](queues::runnext) | the slot before it | `slot` |
//! | [`local`](queues::local) | both as one queue; bounded overtaking | |
//! | [`globq`](queues::globq) | the global queue and its length | `share` |
//! | [`idle`](queues::idle) | idle Ps, sleeping Ms | |
//! | [`spinning`](protocol::spinning) | which Ms look for work, and when one more must be woken to look | `work/spinning`, `baton`, `request` |
//! | [`threads`](protocol::threads) | a P for a sleeping or a new M | |
//! | [`sources`](protocol::sources), [`work_source`](protocol::work_source), [`find`](protocol::find) | where work can be, and how an M finds it | |
//! | [`timers`](queues::timers), [`netpoll`](protocol::netpoll) | what becomes due; which M waits in the poller, and until when | `timer/poll`, `poll` |
//! | [`syscall`](protocol::syscall) | which M has the P of an M that is in a system call | `syscall/stop`, `syscall-word` |
//! | [`role`](protocol::role) | what a thread is while a G's code runs on it, and how that code may wait; what a signal handler may change | |
//! | [`handoff`](protocol::handoff) | which M gets a P that its M cannot use | |
//! | [`sysmon`](protocol::sysmon) | which P the monitor retakes, and when it looks again | |
//! | [`wanted`](protocol::stw::wanted), [`stw`](protocol::stw), [`safepoint`](protocol::stw::safepoint), [`resize`](protocol::stw::resize) | stopping the world, passing it P by P, more or fewer Ps | `syscall/stop` |
//! | [`locked`](protocol::locked), [`deadlock`](protocol::deadlock) | Gs that cannot leave their M; whether any G can still run | |
//!
//! Beside them: [`config`](sched::config) and [`capacity`](queues::capacity) (the numbers), [`observer`](sched::observer) (each
//! transition, reported), [`snapshot`](sched::snapshot) (what quiescence means), [`random_order`](protocol::random_order) (in
//! which order to steal), `token` (what makes a forgotten `OwnedP` or `SpinningToken` a panic in a debug build), and `model`
//! (what only checkers build).
//!
//! A protocol room imports no room: what it needs of others is a `Neighbours` trait of at most four methods. The file of its
//! name in [`sched`] implements it with the real structures, the models with the smallest ones. Of the structures only
//! [`local`](queues::local) joins two others, because a test for emptiness and the bound on overtaking need both.

pub mod model;
pub mod protocol;
pub mod queues;
pub mod sched;
pub mod types;
