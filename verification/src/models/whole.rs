//! Models of the whole scheduler with everything at once: Gs that make system calls, block, wait for each other, panic and
//! stop the world, while Ps come and go, and the monitor takes what it finds.
//!
//! At the end all is quiet, each G has run to its end exactly once, and no G ran while the world was stopped.
//!
//! Two that stop the world cannot be explored to their end: here all protocols meet, as they do in what random programs
//! draw, and it is the same each time. What two of them do to each other is proved in the room [`sched`](spinpark_rooms::rooms::sched).

mod embedder;
mod shapes;

use crate::engines::Engine;
use crate::model::{Model, loom_bounded, rc11, rc11_cut, sampled};
use crate::mutation::mutant::Mutant;
use shapes::{a_syscall_waits_for_another_g, everything_at_once, one_p_one_syscall, stops_and_resizes};

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
    crate::model!("sched::a_stopped_world_stands_still::stops_and_resizes", stops_and_resizes,
        claim: "the world is stopped three times, and the Ps become 1, 3, 2, while Gs call, block, are preempted, wait and yield",
        size: "2 of 3 Ps, 8 Ms, 7 Gs, 3 stops, 4 ticks",
        invariants: [1, 2, 4, 16, 17, 26, 30, 31, 32, 33, 36, 41, 42],
        must_reach: ["kept", "idle"],
        runs: [rc11_cut(), sampled(Engine::Random, 4_000), sampled(Engine::Pct, 8_000), sampled(Engine::TsoRandom, 2_000)]),
    crate::model!("sched::a_stopped_world_stands_still::everything_at_once", everything_at_once,
        claim: "the same with Gs that stop the world themselves, panic in a call, and end with their threads",
        size: "2 of 3 Ps, 12 Ms, 12 Gs, 4 stops, 6 ticks",
        invariants: [1, 2, 4, 16, 17, 19, 26, 30, 31, 32, 33, 36, 41, 42],
        must_reach: ["kept", "idle", "queued"],
        runs: [rc11_cut(), sampled(Engine::Random, 3_000), sampled(Engine::Pct, 6_000), sampled(Engine::TsoPct, 3_000)]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
