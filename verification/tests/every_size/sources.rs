//! Where executions come from.

use super::account::Traces;
use super::beneath::Beneath;
use super::recorded::{self, Recorded, Recorder};
use crate::scenes::{self, Act, Scenario};
use spinpark_kernel::protocol::sources::SearchOrder::{GlobalFirst, StealFirst};
use spinpark_verification::engines::{self, Engine, Job};
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::hosts::threads::{self, Threads};
use spinpark_verification::hosts::wrap::tso::{self, Tso};
use spinpark_verification::model::{Model, sampled};
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// Gs that ready others, yield, block, and are in system calls from which the monitor retakes their Ps.
pub(crate) const PLAIN: &[Scenario] = &[
    Scenario { acts: &[Act::Spawn(2), Act::Yield], ..Scenario::PLAIN },
    Scenario { acts: &[Act::Block, Act::Spawn(1), Act::YieldHere], order: GlobalFirst, ..Scenario::PLAIN },
    Scenario { acts: &[Act::Spawn(4), Act::Run], ..Scenario::PLAIN },
    Scenario { acts: &[Act::Run; 5], ring: 4, max_ms: 2, order: GlobalFirst, ..Scenario::PLAIN },
    Scenario { acts: &[Act::Spawn(4)], procs: 3, ring: 4, ..Scenario::PLAIN },
    Scenario { acts: &[Act::Call, Act::Block, Act::Block, Act::Spawn(1)], max_ms: 2, ..Scenario::PLAIN },
    Scenario { acts: &[Act::Call, Act::Call, Act::Block, Act::Run], ticks: 3, ..Scenario::PLAIN },
    Scenario { acts: &[Act::Call, Act::Call, Act::Spawn(1)], ticks: 4, ..Scenario::PLAIN },
    Scenario { acts: &[Act::Call, Act::Block, Act::Call, Act::Run], ticks: 3, max_ms: 2, ..Scenario::PLAIN },
];

/// So many programs, drawn at random: at most six Gs, and perhaps a thread that stops the world, ticks, is refused.
pub(crate) fn random_programs(seed: u64, n: usize) -> Vec<Scenario> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) % n
    };
    let mut programs = Vec::new();
    for _ in 0..n {
        let (mut acts, mut gs) = (Vec::new(), 0);
        // Every other one without what not all drawings have.
        let kinds = if below(2) == 0 { 6 } else { 8 };
        while gs < 2 + below(3) {
            let act = match below(kinds) {
                0 => Act::Run,
                1 => Act::Spawn(1 + below(2)),
                2 => Act::Yield,
                3 => Act::YieldHere,
                4 => Act::Block,
                5 => Act::Call,
                6 => Act::Detach,
                _ => Act::Stop,
            };
            gs += if let Act::Spawn(n) = act { 1 + n } else { 1 };
            acts.push(act);
        }
        let others = kinds == 8;
        programs.push(Scenario {
            acts: acts.leak(),
            procs: 2 + below(2) as usize,
            ring: [2, 4][below(2) as usize],
            max_ms: 2 + below(2) as usize,
            order: if below(2) == 0 { GlobalFirst } else { StealFirst },
            stoppers: if others { below(3) as usize } else { 0 },
            ticks: if others { below(3) } else { 0 },
            refusals: if others { below(2) as usize } else { 0 },
        });
    }
    programs
}

/// Under which memory it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    Sc,
    Tso,
    /// Real threads on real cores, one access at a time.
    Cores,
}

static SCENE: Mutex<Scenario> = Mutex::new(Scenario::PLAIN);
static TRACES: Mutex<Traces> = Mutex::new(Vec::new());

fn played<H: ModelHost>() -> String {
    let scenario = *SCENE.lock().expect("no panic under it");
    recorded::begin::<H>();
    let items = scenes::play::<Recorded<H>, _, _>(scenario, Recorder, |_| recorded::end::<H>());
    TRACES.lock().expect("no panic under it").push((scenario, items));
    "played".to_owned()
}

fn buffered<H: ModelHost>() -> String {
    tso::begin();
    played::<Tso<Beneath<H>>>()
}

const MODELS: [Model; 2] = [
    spinpark_verification::model!("every_size::sc", played,
        claim: "it is played", size: "2 or 3 Ps, 2 or 3 Ms", invariants: [], must_reach: ["played"],
        runs: [sampled(Engine::Random, 1), sampled(Engine::Pct, 1)]),
    spinpark_verification::model!("every_size::tso", buffered,
        claim: "it is played", size: "2 or 3 Ps, 2 or 3 Ms", invariants: [], must_reach: ["played"],
        runs: [sampled(Engine::Random, 1), sampled(Engine::Pct, 1)]),
];

/// So many executions of each scenario, by each of two ways to sample.
pub(crate) fn traces(memory: Memory, scenes: &[Scenario], seed: u64, n: u64) -> Traces {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    let model = &MODELS[usize::from(memory == Memory::Tso)];
    for scene in scenes {
        if memory == Memory::Cores {
            // Its words are made and its accesses written down in the order in which they come.
            threads::begin();
            *SCENE.lock().expect("no panic under it") = *scene;
            (0..2 * n).for_each(|_| assert_eq!(played::<Threads>(), "played"));
            assert_eq!(threads::take_failure(), None);
            continue;
        }
        *SCENE.lock().expect("no panic under it") = *scene;
        for engine in [Engine::Random, Engine::Pct] {
            let (bounds, jobs) = (sampled(engine, n).bounds, NonZeroUsize::MIN);
            let job = Job { model, engine, bounds, mutation: None, seed, jobs, checkpoint: None };
            let outcome = engines::run(job, &engines::silent());
            assert_eq!(outcome.failure.map(|failure| failure.message), None, "{scene:?}");
        }
    }
    std::mem::take(&mut *TRACES.lock().expect("no panic under it"))
}
