//! The kernel: small rooms, one protocol each.
//!
//! ```text
//!        go(f)                        M: a thread                      P: the right to run
//!          │                         ┌────────────┐   holds   ┌─────────────────────────────┐
//!          ▼                         │ find ─ run │◄─────────►│ runnext │ ring ■ ■ ■ ▢ ▢ ▢ ▢│
//!     ┌─────────┐  one in 61, or     └─────┬──────┘           └────────────▲────────────────┘
//!     │ global  │  when the ring is empty  │ nothing found?                │ half of it, by thieves
//!     │ queue   │─────────────────────────►│ idle the P, look once more,   │
//!     └─────────┘                          │ then sleep                    │
//!          ▲ a full ring spills half ──────┼───────────────────────────────┘
//!          │                               ▼
//!     submit, wakep ─────────────► a sleeping or new M, with an idle P, seeking
//! ```
//!
//! **The lock rule.** There is one lock, the scheduler's. Under it are the global queue, the idle Ps and the sleeping
//! Ms. The kernel neither blocks, nor wakes or starts a thread while holding it.
//!
//! Reading order, each room on its own:
//!
//! | room | decides | pairs |
//! |------|---------|-------|
//! | [`g`], [`p`], [`m`] | what a G, a P and an M are; evidence that cannot be copied | `status`, `mailbox` |
//! | [`runq`] | the ring of one P | `publish`, `consume` |
//! | [`runnext`] | the slot before it | `slot` |
//! | [`local`] | both as one queue; bounded overtaking | |
//! | [`globq`] | the global queue and its length | |
//! | [`idle`] | idle Ps, sleeping Ms | |
//! | [`spinning`] | who looks for work, and who must be woken to look | `work/spinning` |
//! | [`threads`] | a P for a sleeping or a new M | |
//! | [`sources`], [`find`] | where work can be, and how an M finds it | |
//! | [`sched`], [`neighbours`] | the rooms put together, and what each room asks of the others | |
//!
//! Beside them: [`config`] and [`capacity`] (the numbers), [`observer`] (who watches), [`snapshot`] (what quiescence means), [`random_order`] (in which order to steal), and
//! `evidence` (what makes a forgotten `OwnedP` or `Seeking` a panic in a debug build).
//!
//! A protocol room imports no room: it says what it needs as a `Neighbours` trait of at most four methods.
//! [`neighbours`] implements it with the real structures, the models with the smallest ones. Of the structures only
//! [`local`] joins two others, because a test for emptiness and the bound on overtaking need both.

mod evidence;

pub mod away;
pub mod capacity;
mod central;
pub mod config;
pub mod deadlock;
pub mod find;
pub mod g;
pub mod globq;
pub mod handoff;
pub mod idle;
pub mod local;
pub mod locked;
pub mod m;
pub mod monitor;
pub mod neighbours;
pub mod observer;
pub mod p;
pub mod random_order;
pub mod resize;
pub mod runnext;
pub mod runq;
pub mod safepoint;
pub mod sched;
pub mod snapshot;
pub mod sources;
pub mod spinning;
pub mod stw;
pub mod syscall;
pub mod sysmon;
pub mod threads;
pub mod wanted;
pub mod work_source;
pub mod world;
