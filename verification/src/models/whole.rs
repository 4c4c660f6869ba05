//! Models of the whole scheduler with everything at once: Gs that make system calls, block, wait for each other, panic and
//! stop the world, while Ps come and go, threads are refused, and the monitor takes what it finds.
//!
//! At the end all is quiet, each G has run to its end exactly once, and no G ran while the world was stopped.

mod embedder;
mod shapes;

use crate::engines::Engine;
use crate::model::{Model, loom_bounded, rc11, rc11_cut, sampled};
use crate::mutation::mutant::Mutant;
use shapes::{
    a_syscall_waits_for_another_g, bound_gs_end_with_their_ms, everything_at_once, hogs_and_a_system_call,
    hogs_while_the_world_is_stopped, one_hog, one_p_one_syscall, one_p_two_syscalls, stops_and_resizes,
    threads_are_refused, two_hogs, two_ps_all_ways_out,
};

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::a_syscall_holds_up_nobody::a_syscall_waits_for_another_g", a_syscall_waits_for_another_g,
        claim: "a P whose G sits in a system call while another G waits is retaken within two ticks of the monitor",
        size: "1 P, 3 Ms, 2 Gs, 2 ticks",
        invariants: [4, 20, 36, 43],
        must_reach: ["retaken 1"],
        runs: [rc11(), loom_bounded(1), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("sched::each_p_has_one_owner::one_p_one_syscall", one_p_one_syscall,
        claim: "a G makes a system call while the monitor looks: the P is kept, or comes back",
        size: "1 P, 2 Ms, 1 G, 2 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 32],
        must_reach: ["kept"],
        runs: [rc11(), loom_bounded(1), sampled(Engine::Pct, 5_000)]),
    crate::model!("sched::each_p_has_one_owner::one_p_two_syscalls", one_p_two_syscalls,
        claim: "two Gs make system calls under one P while the monitor looks",
        size: "1 P, 3 Ms, 2 Gs, 3 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 32],
        must_reach: ["kept", "idle", "queued", "retaken"],
        runs: [rc11_cut(), sampled(Engine::Pct, 20_000), sampled(Engine::TsoPct, 10_000)]),
    crate::model!("sched::each_p_has_one_owner::two_ps_all_ways_out", two_ps_all_ways_out,
        claim: "six Gs, five of which make system calls, under two Ps: each way out is taken, each G runs once",
        size: "2 Ps, 6 Ms, 6 Gs, 6 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 31, 32, 33, 34, 36],
        must_reach: ["kept", "took back", "idle", "queued", "retaken"],
        // Not `random`: it never took back a P in 5,000 schedules.
        runs: [rc11_cut(), sampled(Engine::Pct, 10_000), sampled(Engine::TsoPct, 5_000)]),
    crate::model!("sched::each_p_has_one_owner::one_hog", one_hog,
        claim: "a G that is interrupted loses its P to another, or keeps it; both run, once",
        size: "1 P, 2 Ms, 2 Gs, 3 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 31, 32, 33, 34, 36],
        must_reach: ["kept", "queued", "retaken"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Pct, 20_000), sampled(Engine::TsoPct, 5_000)]),
    crate::model!("sched::each_p_has_one_owner::two_hogs", two_hogs,
        claim: "two Gs are interrupted at once, and come back at once: when all is quiet none is counted as detached",
        size: "2 Ps, 2 Ms, 2 Gs",
        invariants: [1, 2, 4, 20, 30, 31, 32, 33, 34, 36, 52],
        must_reach: ["kept"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Pct, 10_000)]),
    crate::model!("sched::each_p_has_one_owner::hogs_and_a_system_call", hogs_and_a_system_call,
        claim: "three Gs are interrupted, one makes a system call, two just run: each way back is taken, each runs once",
        size: "2 Ps, 6 Ms, 6 Gs, 6 ticks",
        invariants: [1, 2, 4, 20, 21, 30, 31, 32, 33, 34, 36],
        must_reach: ["kept", "idle", "queued", "retaken"],
        runs: [rc11_cut(), sampled(Engine::Pct, 10_000), sampled(Engine::TsoPct, 5_000)]),
    crate::model!("sched::a_stopped_world_stands_still::hogs_while_the_world_is_stopped",
        hogs_while_the_world_is_stopped,
        claim: "Gs are interrupted while the world is stopped and resized: every P is held, none twice, and all Gs run",
        size: "2 of 3 Ps, 8 Ms, 6 Gs, 3 stops, 5 ticks",
        invariants: [1, 2, 4, 16, 17, 26, 30, 31, 32, 33, 36, 41, 42],
        must_reach: ["kept", "idle"],
        runs: [rc11_cut(), sampled(Engine::Random, 4_000), sampled(Engine::Pct, 8_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("sched::a_stopped_world_stands_still::stops_and_resizes", stops_and_resizes,
        claim: "the world is stopped three times, and the Ps become 1, 3, 2, while Gs call, block, wait and yield",
        size: "2 of 3 Ps, 8 Ms, 7 Gs, 3 stops, 4 ticks",
        invariants: [1, 2, 4, 16, 17, 26, 30, 31, 32, 33, 36, 41, 42],
        must_reach: ["kept", "idle"],
        runs: [rc11_cut(), sampled(Engine::Random, 4_000), sampled(Engine::Pct, 8_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("sched::a_stopped_world_stands_still::everything_at_once", everything_at_once,
        claim: "the same with Gs that stop the world themselves, panic in a call, and end with their threads",
        size: "2 of 3 Ps, 12 Ms, 12 Gs, 4 stops, 6 ticks",
        invariants: [1, 2, 4, 16, 17, 19, 26, 30, 31, 32, 33, 36, 41, 42],
        must_reach: ["kept", "idle", "queued"],
        runs: [rc11_cut(), sampled(Engine::Random, 3_000), sampled(Engine::Pct, 6_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("sched::work_waits_for_a_thread::threads_are_refused", threads_are_refused,
        claim: "three thread starts are refused while Gs call, block and panic, and the world is stopped once",
        size: "2 Ps, 8 Ms, 6 Gs, 3 refusals, 1 stop, 4 ticks",
        invariants: [1, 2, 4, 30, 31, 36],
        must_reach: ["2 Ms", "3 Ms"],
        runs: [rc11_cut(), sampled(Engine::Pct, 8_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("sched::bound_gs::end_with_their_ms", bound_gs_end_with_their_ms,
        claim: "two threads end with the Gs that are bound to them, and leave nothing behind",
        size: "2 Ps, 6 Ms, 4 Gs",
        invariants: [1, 2, 4, 19, 30, 36],
        must_reach: ["1 Ms", "2 Ms"],
        runs: [rc11_cut(), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000)]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
