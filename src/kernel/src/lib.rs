//! A work-stealing scheduler core, Go's G-M-P scheduler: the embedder brings threads, a clock, and tasks as numbers.
//!
//! **To embed it**: [`Sched`](sched::Sched) (`new`, `submit`, `next`, `close`), [`Config`](sched::config::Config), and a [`Host`](host::Host) of
//! yours. The README has a program that runs. A run queue alone: [`Owner` and `Stealer`](queues::owner).
//!
//! | word | what it is here |
//! |------|-----------------|
//! | G, M, P | a task, to the kernel a number; a thread; the right to run Gs, with a queue of its own |
//! | room | a file that decides one thing: a protocol, a queue. The file of its name in [`sched`], the *glue*, gives it the real structures |
//! | evidence | a value that cannot be copied and must be handed on: a P's owner, a spinning M's count, a [`Worker`](protocol::find::Worker) |
//! | bound | a G that runs on its M's own stack, so that no other M can run it; its *ticket* is what is queued in its place |
//! | detached | an M whose G was preempted, and goes on without the P until it wants something of the scheduler |
//! | baton | what the last spinning M hands over: the duty to look for what it leaves behind |
//! | pair | two places in the code that order each other |
//!
//! The kernel is made of small rooms, one protocol each.
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
//! | [`queues`] | where Gs, idle Ps, sleeping Ms and timers wait; the ring [by type](queues::owner) |
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
//! which order to steal), `token` (what makes a forgotten `OwnedP` or `SpinningToken` a panic), and `model`
//! (what only checkers build).
//!
//! A protocol room imports no room: what it needs of others is a `Neighbours` trait of at most four methods. The file of its
//! name in [`sched`] implements it with the real structures, the models with the smallest ones. Of the structures only
//! [`local`](queues::local) joins two others, because a test for emptiness and the bound on overtaking need both.
//!
//! # Reading order
//!
//! 1. [`host`]: the seam, all that the kernel asks of the world. [`atomic`]: one word with a type, and `store_load`.
//! 2. The picture above, the lock rule, and the rooms in the order of the table above.
//! 3. [`protocol::spinning`], if you read one room only: which Ms spin, and when one more must be woken to spin.
//! 4. [`task`] and [`waits`]: a task's life, and what is between it and what it waits for; on the same seam.
//!
//! # Invariants
//!
//! | room | invariant |
//! |------|-----------|
//! | [`g`](types::g) | a G is in one place at every moment |
//! | [`p`](types::p) | a P has one owner at every moment; overtaking is bounded |
//! | [`m`](types::m) | a woken M finds its `nextp` |
//! | [`runq`](queues::runq) | each G that is put is taken exactly once; `head <= tail <= head + capacity` |
//! | [`runnext`](queues::runnext) | the thread that empties the slot owns the G that was in it |
//! | [`local`](queues::local) | never empty while a G was there all the time |
//! | [`globq`](queues::globq) | list and length agree whenever the lock is free |
//! | [`idle`](queues::idle) | a P is listed exactly when its bit is set and it is counted |
//! | [`spinning`](protocol::spinning) | **work conservation:** while a G waits and a P is idle, some M is spinning, or has yet to scan that queue |
//! | [`threads`](protocol::threads) | one wake a sleep; no P is lost when no M is available |
//! | [`sources`](protocol::sources), [`find`](protocol::find) | what is searched is scanned again before an M sleeps, and before it idles a P |
//! | [`work_source`](protocol::work_source) | a source that gets work wakes, after it can be seen |
//! | [`timers`](queues::timers) | a shard's word is the moment of its earliest timer |
//! | [`netpoll`](protocol::netpoll) | one M waits in the poller at most, and no longer than until the earliest timer; while there is one, an M waits there, or is awake |
//! | [`role`](protocol::role) | a thread that waits has handed its P off or is known to have none; a preempted G gets a P back once |
//! | [`syscall`](protocol::syscall) | the P of an M in a system call has one owner: one exchange decides |
//! | [`handoff`](protocol::handoff) | a P is idled only if nothing that it would find is left to find |
//! | [`sysmon`](protocol::sysmon) | a P in a system call while work waits is retaken within two ticks |
//! | [`stw`](protocol::stw) | after `stop` no P runs, and each is held once |
//! | [`safepoint`](protocol::stw::safepoint) | the function runs once for each P, by its owner |
//! | [`resize`](protocol::stw::resize) | no G is lost, and those of one P keep their order |
//! | [`locked`](protocol::locked) | a bound G never leaves its M; a ticket is queued once a wait |
//! | [`deadlock`](protocol::deadlock) | reported only if no M can ever run a G again, and always then |
//!
//! # Pairs
//!
//! A pair is two places that order each other. Its name opens the comment at both.
//!
//! | pair | one half | the other |
//! |------|----------|-----------|
//! | `publish` | the owner moves `tail` | a thief reads it ([`runq`](queues::runq)) |
//! | `consume` | a taker moves `head` | a reader of `head` before `tail` ([`runq`](queues::runq)) |
//! | `slot` | the owner or the thief that fills or empties `runnext` | the thief that steals from it, the M that tests for emptiness ([`runnext`](queues::runnext)) |
//! | `nextp` | the waker sets it | the sleeper takes it ([`m`](types::m)) |
//! | `token` | a thread unparks | the thread that returns from `park` ([`Parker`](host::Parker)) |
//! | `work/spinning` | queue a G, StoreLoad, read `nmspinning` | leave `nmspinning`, StoreLoad, read the queues ([`spinning`](protocol::spinning)) |
//! | `baton` | a spinning M that leaves Gs in its ring | a spinning M that leaves after it, and looks ([`spinning`](protocol::spinning)) |
//! | `request` | a spinning M that clears `needspinning`, and leaves | an M that leaves after it, and sets it ([`spinning`](protocol::spinning)) |
//! | `share` | an M takes a share into its ring, then lowers the length | a spinning M reads the length, then the rings ([`globq`](queues::globq)) |
//! | `timer/poll` | add a timer, StoreLoad, read `who` and `until` | set them, StoreLoad, read the deadline ([`timers`](queues::timers), [`netpoll`](protocol::netpoll)) |
//! | `poll` | a thread leaves the poller | the thread that uses it next ([`netpoll`](protocol::netpoll)) |
//! | `syscall-word` | an M leaves its P in the P's word | the thread that takes it out ([`syscall`](protocol::syscall)) |
//! | `syscall/stop` | leave the P in its word, StoreLoad, read `wanted` | set `wanted`, StoreLoad, read the words ([`syscall`](protocol::syscall), [`stw`](protocol::stw), [`safepoint`](protocol::stw::safepoint)) |
//! | `bell` | a waker rings | the thread in `block_on` takes the ring ([`bell`](waits::bell)) |
//! | `awaited` | count down the woken; the last that gives up: StoreLoad, read `who` | an M reads the count; having claimed the poller, StoreLoad ([`readiness`](waits::readiness)) |
//! | `cancelled` | mark a branch, from below | ask a token whether it is cancelled (`waits::cancellation`) |
//! | `notice` | StoreLoad, leave a notice with the poller | wait, StoreLoad, look ([`interrupt`](waits::interrupt)) |
//!
//! Numbers, and what checks each of them: docs/reference/invariants.md. What nothing checks: docs/reference/caveats.md.
//!
//!
//! # The feature `model`
//!
//! For checkers of the kernel only. It makes evidence (see the words above) out of nothing (the ownership of a P, the count of a spinning M), so a
//! program that switches it on can break every invariant above in safe code.
//!
//! Rust 1.88 or later, and a target with 64-bit atomics.

#![no_std]
#![forbid(unsafe_code)]
// The parts of a scheduler are made by it and by models, by `new`: none is made by default.
#![allow(clippy::new_without_default)]

#[cfg(not(target_has_atomic = "64"))]
compile_error!("spinpark-kernel needs 64-bit atomics, and this target has none: a word of the kernel is one");

extern crate alloc;
// What a forgotten duty asks where panics unwind: see `types::token`.
#[cfg(panic = "unwind")]
extern crate std;

pub mod atomic;
pub mod host;
pub mod model;
pub mod protocol;
pub mod queues;
pub mod sched;
pub mod task;
pub mod types;
pub mod waits;

/// A build without the feature `model` makes no evidence out of nothing.
///
/// ```compile_fail,E0599
/// let _ = spinpark_kernel::types::p::OwnedP::forge(spinpark_kernel::types::p::PId(0));
/// ```
/// ```compile_fail,E0599
/// let _ = spinpark_kernel::types::m::SpinningToken::forge();
/// ```
/// ```compile_fail,E0624
/// let _ = spinpark_kernel::types::p::OwnedP::assume(spinpark_kernel::types::p::PId(0));
/// ```
/// ```compile_fail,E0624
/// let _ = spinpark_kernel::types::m::SpinningToken::assume();
/// ```
/// ```compile_fail,E0624
/// let _ = spinpark_kernel::types::g::G::bound_to(spinpark_kernel::types::m::MId(0));
/// ```
/// ```compile_fail,E0277
/// let _ = <Option<spinpark_kernel::types::m::NextP> as spinpark_kernel::atomic::Value>::from_word(2);
/// ```
/// ```compile_fail,E0599
/// use spinpark_kernel::{host::Host, queues::runq::{Capacity, RunQueue}};
/// fn without_an_owner<H: Host>() { let _ = RunQueue::<H>::new(Capacity::MIN); }
/// ```
#[cfg(all(doctest, not(feature = "model")))]
struct EvidenceIsNotForged;

/// The README's program compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeIsTested;
