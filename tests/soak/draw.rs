//! Programs, sampled at random by proptest, which shrinks them too: the first of several is the simplest.

use crate::program::{
    Closure, Destructor, Disturbance, End, How, Kind, Op, Outcome, Program, Setup, TaskSpec, Then, ThreadOp,
};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};

/// Any program. What comes first is shrunk first: without tasks the rest is quickly tried.
pub(crate) fn program() -> impl Strategy<Value = Program> {
    let threads = vec(vec(thread_op(), 1..4), 0..3);
    (vec(task(2), 0..7), threads, end(), disturbance(), setup())
        .prop_map(|(tasks, threads, end, disturbance, setup)| Program { setup, disturbance, tasks, threads, end })
}

fn setup() -> impl Strategy<Value = Setup> {
    let numbers = (
        1_usize..=8,
        prop_oneof![Just(500_usize), 0_usize..4],
        any::<bool>(),
        prop_oneof![Just(10_000_u64), 20_u64..500],
        prop_oneof![Just(64_usize), 1_usize..4],
    );
    let more = (
        weighted_bool(0.9, true),
        prop_oneof![3 => Just(256_usize), 1 => Just(2_usize), 1 => Just(8_usize)],
        any::<bool>(),
        prop_oneof![Just(16_u32), Just(0_u32)],
        prop_oneof![Just(61_u32), Just(2_u32), Just(0_u32)],
        prop_oneof![3 => Just(10_000_000_u64), 1 => 10_u64..5_000],
        weighted_bool(0.1, false),
    );
    (numbers, more).prop_map(
        |(
            (procs, spare_threads, stackful, slice_us, max_preempted),
            (preemption, ring, global_first, inherit_at_most, global_every, keep_alive_us, one_core),
        )| Setup {
            procs,
            spare_threads,
            stackful,
            slice_us,
            max_preempted,
            preemption,
            ring,
            global_first,
            inherit_at_most,
            global_every,
            keep_alive_us,
            one_core,
        },
    )
}

/// Usually the first.
fn weighted_bool(chance: f64, usual: bool) -> impl Strategy<Value = bool> {
    weighted(if usual { 1.0 - chance } else { chance }, Just(())).prop_map(move |other| other.is_some() != usual)
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    let signals = weighted(0.5, prop_oneof![1_000_u64..5_000, 50_u64..1_000]);
    (prop_oneof![3 => Just(0_usize), 1 => 1_usize..4], signals)
        .prop_map(|(burners, signals_us)| Disturbance { burners, signals_us })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Future), Just(Kind::Goroutine)]
}

fn task(depth: u32) -> BoxedStrategy<TaskSpec> {
    let outcome = prop_oneof![8 => Just(Outcome::Value), 1 => Just(Outcome::Panic), 1 => Just(Outcome::PanicWithBomb)];
    (kind(), vec(op(depth), 1..7), outcome).prop_map(|(kind, ops, outcome)| TaskSpec { kind, ops, outcome }).boxed()
}

fn ops(depth: u32) -> BoxedStrategy<Vec<Op>> {
    vec(op(depth), 1..4).boxed()
}

/// Short, and now and then long enough to be preempted.
fn micros() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0_u64..200, 2 => 200_u64..3_000, 1 => 10_000_u64..25_000]
}

fn capacity() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![Just(Some(0)), (1_usize..5).prop_map(Some), Just(None)]
}

fn op(depth: u32) -> BoxedStrategy<Op> {
    let simple = prop_oneof![
        4 => Just(Op::Yield),
        1 => Just(Op::Checkpoint),
        3 => micros().prop_map(|us| Op::Sleep { us }),
        4 => (micros(), any::<bool>()).prop_map(|(us, checkpoints)| Op::Compute { us, checkpoints }),
        1 => micros().prop_map(|us| Op::Syscall { us }),
        1 => micros().prop_map(|us| Op::Blocking { us }),
        1 => (0_u64..500).prop_map(|us| Op::Timeout { us }),
        1 => (1_u64..500, 1_u32..5).prop_map(|(us, ticks)| Op::Interval { us, ticks }),
    ];
    let with_partner = prop_oneof![
        4 => (capacity(), 1_usize..4, 1_u64..60, kind(), any::<bool>()).prop_map(
            |(capacity, senders, messages, partner, select)| Op::Channel { capacity, senders, messages, partner, select }
        ),
        4 => (1_u64..2_000, kind(), prop_oneof![3 => Just(0_u64), 1 => 1_u64..20])
            .prop_map(|(rounds, partner, compute_us)| Op::PingPong { rounds, partner, compute_us }),
        2 => (0_usize..3, any::<bool>()).prop_map(|(lock, sleeps)| Op::Lock { lock, sleeps }),
        1 => (1_usize..20, kind()).prop_map(|(hogs, partner)| Op::Hogs { hogs, partner }),
        1 => any::<bool>().prop_map(|writes| Op::RwLock { writes }),
        1 => (1_usize..6, kind()).prop_map(|(workers, partner)| Op::WaitGroup { workers, partner }),
        1 => kind().prop_map(|partner| Op::Cond { partner }),
        1 => (1_usize..200_000, kind()).prop_map(|(bytes, partner)| Op::Tcp { bytes, partner }),
        1 => (1_usize..200_000, kind()).prop_map(|(bytes, partner)| Op::Unix { bytes, partner }),
        1 => kind().prop_map(|partner| Op::Udp { partner }),
    ];
    let of_runtime = prop_oneof![
        3 => destructor().prop_map(Op::Hold),
        1 => (0_u64..200).prop_map(|us| Op::StopTheWorld { us }),
        1 => (1_usize..=8).prop_map(|n| Op::SetProcs { n }),
        1 => closure().prop_map(Op::ForEachP),
        1 => closure().prop_map(Op::WhenIdle),
    ];
    if depth == 0 {
        return prop_oneof![6 => simple, 4 => with_partner, 2 => of_runtime].boxed();
    }
    let nested = prop_oneof![
        2 => ops(depth - 1).prop_map(Op::Sync),
        1 => ops(depth - 1).prop_map(Op::SyscallWith),
        1 => (ops(depth - 1), any::<bool>()).prop_map(|(ops, keeps)| Op::LockThread { ops, keeps }),
        1 => (ops(depth - 1), 1_u32..8).prop_map(|(ops, times)| Op::Catch { ops, times }),
        2 => ops(depth - 1).prop_map(Op::BlockOn),
        1 => ops(depth - 1).prop_map(Op::Local),
        1 => ops(depth - 1).prop_map(Op::Inner),
        5 => (task(depth - 1), then()).prop_map(|(task, then)| Op::Spawn { task, then }),
    ];
    prop_oneof![60 => simple, 40 => with_partner, 20 => of_runtime, 40 => nested, 1 => Just(Op::DropRuntime)].boxed()
}

fn then() -> impl Strategy<Value = Then> {
    prop_oneof![Just(Then::Await), Just(Then::Detach), Just(Then::Join), (0_u64..2_000).prop_map(Then::Abort)]
}

fn destructor() -> impl Strategy<Value = Destructor> {
    prop_oneof![
        Just(Destructor::Counts),
        Just(Destructor::HandleCurrent),
        Just(Destructor::Spawns),
        Just(Destructor::MakesSleep),
        Just(Destructor::Waits),
        Just(Destructor::Panics),
    ]
}

fn closure() -> impl Strategy<Value = Closure> {
    prop_oneof![
        8 => Just(Closure::Counts),
        4 => Just(Closure::Panics),
        4 => Just(Closure::PanicsWithBomb),
        4 => Just(Closure::Spawns),
        1 => Just(Closure::DropsRuntime),
    ]
}

fn thread_op() -> impl Strategy<Value = ThreadOp> {
    prop_oneof![
        2 => (0_u64..5_000).prop_map(|us| ThreadOp::Nap { us }),
        1 => Just(ThreadOp::Metrics),
        3 => ops(1).prop_map(ThreadOp::BlockOn),
        2 => task(1).prop_map(ThreadOp::Spawn),
        1 => task(1).prop_map(ThreadOp::EnterAndSpawn),
        1 => (0_u64..200).prop_map(|us| ThreadOp::StopTheWorld { us }),
        1 => (1_usize..=8).prop_map(|n| ThreadOp::SetProcs { n }),
        1 => closure().prop_map(ThreadOp::ForEachP),
        1 => closure().prop_map(ThreadOp::WhenIdle),
    ]
}

fn end() -> impl Strategy<Value = End> {
    let how = prop_oneof![Just(How::Drop), Just(How::Shutdown), Just(How::ShutdownAndRun), Just(How::DropInTask)];
    (weighted(0.4, 0_u64..10_000), how).prop_map(|(after_us, how)| End { after_us, how })
}
