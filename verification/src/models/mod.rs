//! The models, a file a room; and what each room's mutants are killed by.

pub mod between;
pub mod conserved;
pub mod globq;
pub mod goroutine;
mod idling;
pub mod lists;
pub mod local;
pub mod locked;
pub mod moments;
pub mod monitor;
pub mod monitor_beside;
pub mod poll;
pub mod poller;
pub mod poller_beside;
pub mod rooms;
pub mod rouses;
pub mod runq;
pub mod sched;
pub mod snapshot;
pub mod spinning;
pub mod stopping;
pub mod stw;
pub mod sysmon;
pub mod task_tables;
pub mod timer_queue;
pub mod timers;
pub mod two_ps;
pub mod whole;
pub mod work_source;
pub mod wraps;

use crate::model::Model;
use crate::mutation::mutant::Mutant;

/// Every model, in reading order.
pub static MODELS: &[&[Model]] = &[
    runq::MODELS,
    local::RUNNEXT,
    local::LOCAL,
    rooms::RUNQ,
    rooms::LOCAL,
    globq::MODELS,
    rooms::GLOBQ,
    rooms::IDLE,
    spinning::MODELS,
    rooms::SPINNING,
    rooms::THREADS,
    rooms::SYSCALL,
    rooms::ROLE,
    rooms::HANDOFF,
    sysmon::MODELS,
    rooms::STW,
    stw::MODELS,
    locked::MODELS,
    rooms::LOCKED,
    work_source::MODELS,
    timers::MODELS,
    rooms::NETPOLL,
    lists::BEGINNINGS,
    lists::MODELS,
    between::MODELS,
    wraps::MODELS,
    sched::MODELS,
    conserved::MODELS,
    stopping::MODELS,
    idling::MODELS,
    snapshot::MODELS,
    rooms::SCHED,
    two_ps::MODELS,
    whole::MODELS,
    poll::MODELS,
    poller::MODELS,
    poller_beside::MODELS,
    monitor::MODELS,
    monitor_beside::MODELS,
    rouses::MODELS,
    rooms::TASK,
    rooms::TIMERS,
    timer_queue::MODELS,
    goroutine::MODELS,
    task_tables::MODELS,
    rooms::AT_REST,
    rooms::BARRIER,
    rooms::BELL,
    rooms::BROADCAST,
    rooms::CANCELLATION,
    rooms::CHAN,
    rooms::COND,
    rooms::DRAINED,
    rooms::INTERRUPT,
    rooms::JOIN_SET,
    rooms::NOTIFY,
    rooms::ONESHOT,
    rooms::OPERATION,
    rooms::OWNED_TASKS,
    rooms::PARKER,
    rooms::PERMITS,
    rooms::REQUESTS,
    rooms::SCOPE,
    rooms::SELECT,
    rooms::SEMAPHORE,
    rooms::SOCKETS,
    rooms::WAIT_GROUP,
    rooms::WATCH,
    moments::MODELS,
];

/// Every mutant, in reading order.
pub static MUTANTS: &[&[Mutant]] = &[
    runq::MUTANTS,
    local::MUTANTS,
    globq::MUTANTS,
    spinning::MUTANTS,
    rooms::SPINNING_MUTANTS,
    rooms::THREADS_MUTANTS,
    rooms::SYSCALL_MUTANTS,
    rooms::STW_MUTANTS,
    work_source::MUTANTS,
    rooms::NETPOLL_MUTANTS,
    timers::MUTANTS,
    sched::MUTANTS,
    rooms::SCHED_MUTANTS,
    whole::MUTANTS,
    poll::MUTANTS,
    poller::MUTANTS,
    monitor::MUTANTS,
    rooms::TASK_MUTANTS,
    rooms::SLEEP_MUTANTS,
    timer_queue::MUTANTS,
    rooms::READINESS_MUTANTS,
    goroutine::MUTANTS,
    rooms::MUTANTS,
];
