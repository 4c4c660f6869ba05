//! The rooms, a file each.

pub mod at_rest;
pub mod barrier;
pub mod bell;
pub mod broadcast;
pub mod cancellation;
pub mod chan;
pub mod cond;
pub mod drained;
pub mod globq;
pub mod handoff;
pub mod idle;
pub mod interrupt;
pub mod join_set;
pub mod local;
pub mod locked;
pub mod netpoll;
pub mod notify;
pub mod oneshot;
pub mod operation;
pub mod owned_tasks;
pub mod parker;
pub mod permits;
pub mod requests;
pub mod role;
pub mod runq;
pub mod sched;
pub mod scope;
pub mod select;
pub mod semaphore;
pub mod sockets;
pub mod spinning;
pub mod stw;
pub mod syscall;
pub mod task;
pub mod threads;
pub mod timers;
pub mod wait_group;
pub mod watch;

use crate::explore::Declared;

/// Every room. A static: their programs are compiled here, once.
pub static ROOMS: &[Declared] = &[
    Declared::of::<at_rest::AllAtRest>(),
    Declared::of::<barrier::Barriers>(),
    Declared::of::<bell::RungBells>(),
    Declared::of::<broadcast::Broadcasts>(),
    Declared::of::<cancellation::Cancellations>(),
    Declared::of::<chan::Chans>(),
    Declared::of::<cond::Conds>(),
    Declared::of::<drained::Streams>(),
    Declared::of::<globq::GlobQueues>(),
    Declared::of::<handoff::HandedOff>(),
    Declared::of::<idle::IdleLists>(),
    Declared::of::<interrupt::Interrupts>(),
    Declared::of::<join_set::JoinSets>(),
    Declared::of::<local::Locals>(),
    Declared::of::<locked::BoundGs>(),
    Declared::of::<netpoll::Polled>(),
    Declared::of::<notify::Notifies>(),
    Declared::of::<oneshot::Oneshots>(),
    Declared::of::<operation::Operations>(),
    Declared::of::<owned_tasks::OwnedTasks>(),
    Declared::of::<parker::Parkers>(),
    Declared::of::<permits::Permits>(),
    Declared::of::<requests::Served>(),
    Declared::of::<role::SignalledThreads>(),
    Declared::of::<runq::RunQueues>(),
    Declared::of::<sched::Scheduled>(),
    Declared::of::<scope::Scopes>(),
    Declared::of::<select::Selects>(),
    Declared::of::<semaphore::Semaphores>(),
    Declared::of::<sockets::KnownSockets>(),
    Declared::of::<spinning::Conserved>(),
    Declared::of::<stw::StoppedWorlds>(),
    Declared::of::<syscall::Syscalls>(),
    Declared::of::<task::Tasks>(),
    Declared::of::<threads::HandedPs>(),
    Declared::of::<timers::TimerQueues>(),
    Declared::of::<wait_group::WaitGroups>(),
    Declared::of::<watch::Watches>(),
];
