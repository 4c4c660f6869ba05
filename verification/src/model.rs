//! What a model is: a plain generic function, played by every engine that can, with what it claims.

use crate::catalog;
use crate::engines::{Bounds, Engine};
use crate::hosts::any::Any;
use crate::hosts::wrap::trace::Trace;
use crate::mutation::weaken::Weaken;

/// The engine in charge, as models see it.
pub type OnAny = Trace<Weaken<Any>>;

/// A model of one room.
#[derive(Debug)]
pub struct Model {
    /// `room::property::topology`.
    pub name: &'static str,
    /// The file that declares it: `file!()`.
    pub file: &'static str,
    /// What is claimed, in a sentence.
    pub claim: &'static str,
    /// Threads, sizes, operations: what the claim is bounded by.
    pub size: &'static str,
    /// Which invariants of the specification.
    pub invariants: &'static [u8],
    /// Each must be part of some execution's outcome.
    pub must_reach: &'static [&'static str],
    /// On which engines it runs by default.
    pub runs: &'static [Run],
    /// One execution, on the host that [`any::choose`](crate::hosts::any::choose) has chosen; returns how it ended.
    pub play: fn() -> String,
}

impl Model {
    /// The room it is about.
    pub fn room(&self) -> &'static str {
        self.name.split("::").next().unwrap_or(self.name)
    }

    /// Its run on `engine`, if it runs there by default.
    pub fn run_on(&self, engine: Engine) -> Option<Run> {
        self.runs.iter().find(|run| run.engine == engine).copied()
    }
}

/// The bounds for a model that does not run on `engine` by default.
pub fn usual(engine: Engine) -> Run {
    match engine {
        Engine::Rc11 => rc11(),
        Engine::Loom => loom_bounded(2),
        Engine::LoomApart => loom_apart(),
        Engine::Sc => sc(),
        Engine::Tso => tso(),
        _ => sampled(engine, 2_000),
    }
}

/// One engine, within bounds.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Which engine.
    pub engine: Engine,
    /// Bounds of the default run.
    pub bounds: Bounds,
    /// Bounds of a `--deep` run.
    pub deep: Bounds,
}

impl Run {
    /// Is it to go on until it has explored everything? The rest is cut off somewhere, or sampled.
    pub fn ends(&self) -> bool {
        let Bounds { preemptions, executions, seconds, .. } = self.bounds;
        preemptions.is_none() && executions.is_none() && seconds > CUT
    }
}

/// So many seconds for what is too large to be finished in minutes.
const CUT: f64 = 3.0;

const fn bounds(seconds: f64) -> Bounds {
    Bounds { preemptions: None, depth: None, executions: None, spurious: 0, seconds }
}

/// Every execution under RC11.
pub const fn rc11() -> Run {
    Run { engine: Engine::Rc11, ..sc() }
}

/// Every execution under RC11 that three seconds are enough for: of a model that is too large to be finished in
/// minutes. To its end, or for hours, when it goes deep.
pub const fn rc11_cut() -> Run {
    let mut run = rc11();
    run.bounds.seconds = CUT;
    run
}

/// Every execution under RC11, with up to `n` spurious returns from `park`.
pub const fn rc11_spurious(n: usize) -> Run {
    Run { engine: Engine::Rc11, ..sc_spurious(n) }
}

/// loom, to its end.
pub const fn loom() -> Run {
    Run { engine: Engine::Loom, bounds: bounds(60.0), deep: bounds(3600.0) }
}

/// loom, with at most `n` preemptions; one more when it goes deep.
pub const fn loom_bounded(n: usize) -> Run {
    let (mut bounds, mut deep) = (bounds(60.0), bounds(3600.0));
    bounds.preemptions = Some(n);
    deep.preemptions = Some(n + 1);
    Run { engine: Engine::Loom, bounds, deep }
}

/// loom with marks, to its end.
pub const fn loom_apart() -> Run {
    let mut run = loom();
    run.engine = Engine::LoomApart;
    run
}

/// loom with marks, with at most `n` preemptions.
pub const fn loom_apart_bounded(n: usize) -> Run {
    let mut run = loom_bounded(n);
    run.engine = Engine::LoomApart;
    run
}

/// Every execution under sequential consistency.
pub const fn sc() -> Run {
    Run { engine: Engine::Sc, bounds: bounds(20.0), deep: bounds(7200.0) }
}

/// Every execution under sequential consistency, with up to `n` spurious returns from `park`.
pub const fn sc_spurious(n: usize) -> Run {
    let mut run = sc();
    run.bounds.spurious = n;
    run.deep.spurious = n;
    run
}

/// Every execution under sequential consistency that three seconds are enough for.
pub const fn sc_cut() -> Run {
    let mut run = sc();
    run.bounds.seconds = CUT;
    run
}

/// Every execution under total store order.
pub const fn tso() -> Run {
    Run { engine: Engine::Tso, ..sc() }
}

/// `n` schedules drawn by `engine`; a hundred times as many when it goes deep.
pub const fn sampled(engine: Engine, n: u64) -> Run {
    let (mut bounds, mut deep) = (bounds(120.0), bounds(36000.0));
    bounds.executions = Some(n);
    deep.executions = Some(n * 100);
    if matches!(engine, Engine::Pct | Engine::TsoPct) {
        bounds.depth = Some(3);
        deep.depth = Some(5);
    }
    Run { engine, bounds, deep }
}

/// Declares a model: a generic function, played on whichever host the engine in charge needs.
#[macro_export]
macro_rules! model {
    ($name:literal, $body:ident, claim: $claim:literal, size: $size:literal, invariants: [$($inv:literal),*],
     must_reach: [$($reach:literal),* $(,)?], runs: [$($run:expr),* $(,)?] $(,)?) => {
        $crate::model::Model {
            name: $name,
            file: file!(),
            claim: $claim,
            size: $size,
            invariants: &[$($inv),*],
            must_reach: &[$($reach),*],
            runs: const { &[$($run),*] },
            play: $body::<$crate::model::OnAny>,
        }
    };
}

/// The model of this name: the kernel's, or of a [`Catalog`](catalog::Catalog) that was registered.
pub fn find(name: &str) -> Option<&'static Model> {
    catalog::all().flat_map(|catalog| catalog.models.iter().copied().flatten()).find(|model| model.name == name)
}

/// All models of the kernel.
pub fn all() -> impl Iterator<Item = &'static Model> {
    crate::models::MODELS.iter().copied().flatten()
}

/// The models that `name` names: those of the room of that name; else those whose name contains it.
pub fn matching(name: &str) -> Vec<&'static Model> {
    let of_room: Vec<&Model> = all().filter(|model| model.room() == name).collect();
    if of_room.is_empty() { all().filter(|model| model.name.contains(name)).collect() } else { of_room }
}
