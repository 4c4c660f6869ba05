//! The workers: a stack of graphs each.

use super::{Body, Branch, Config, Counterexample, Report, Sharing, Tally, play};
use crate::graph::Graph;
use crate::machine::{End, Mode};
use crate::preemption::passes;
use crate::walk::Walk;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// So many random branches, and then so many depth first.
const TURN: u64 = 128;

/// Random branches are taken as long as what waits takes less memory than this.
const MOST_BYTES: u64 = 256 << 20;

/// Each execution frees what it has used, and the next one wants it again: glibc would hand it back to the system meanwhile,
/// which costs a seventh of the time.
pub(super) fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const KEPT_BYTES: libc::c_int = 256 << 20;
        static ONCE: std::sync::Once = std::sync::Once::new();
        // SAFETY: it takes two numbers, and may be called at any time.
        ONCE.call_once(|| _ = unsafe { libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES) });
    }
}

/// What the workers share.
pub(super) struct Pool<'a> {
    config: &'a Config,
    body: Body,
    pub(super) stop: AtomicBool,
    begun: Instant,
    /// How many walks have a number.
    walkers: AtomicU64,
    executions: AtomicU64,
    /// A part of all, as the bits of a float.
    pub(super) done: AtomicU64,
    /// How many workers have nothing to do.
    idle: AtomicUsize,
    pub(super) shared: Mutex<Shared>,
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct Shared {
    branches: Vec<Branch>,
    /// Workers that explore.
    busy: usize,
    pub(super) report: Report,
}

impl Pool<'_> {
    pub(super) fn new(config: &Config, branches: Vec<Branch>, body: Body) -> Pool<'_> {
        Pool {
            config,
            body,
            stop: AtomicBool::new(false),
            begun: Instant::now(),
            walkers: AtomicU64::new(0),
            executions: AtomicU64::new(0),
            done: AtomicU64::new(0),
            idle: AtomicUsize::new(0),
            shared: Mutex::new(Shared { branches, ..Shared::default() }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker's life.
    pub(super) fn work(&self, beat: &mut dyn FnMut(u64)) {
        if let Some(prepare) = &self.config.on_thread {
            prepare();
        }
        let mut tally = Tally::default();
        while let Some(mut stack) = self.take() {
            self.explore(&mut stack, &mut tally, beat);
            let mut shared = self.lock();
            shared.report.left.append(&mut stack);
            shared.busy -= 1;
            self.changed.notify_all();
        }
        self.lock().report.tally.add(tally);
    }

    /// Something to explore, as soon as there is something. `None`: there will not be.
    fn take(&self) -> Option<Vec<Branch>> {
        let mut shared = self.lock();
        self.idle.fetch_add(1, Relaxed);
        let found = loop {
            if self.stop.load(Relaxed) {
                let mut left = std::mem::take(&mut shared.branches);
                shared.report.left.append(&mut left);
                break None;
            }
            if let Some(branch) = shared.branches.pop() {
                shared.busy += 1;
                break Some(vec![branch]);
            }
            if shared.busy == 0 {
                break None;
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        };
        self.idle.fetch_sub(1, Relaxed);
        found
    }

    fn explore(&self, stack: &mut Vec<Branch>, tally: &mut Tally, beat: &mut dyn FnMut(u64)) {
        let mut told = (tally.executions, tally.done);
        let mut walk = self.config.seed.map(|seed| Walk::new(seed ^ self.walkers.fetch_add(1, Relaxed)));
        loop {
            let is_walking = walk.is_some() && self.walks(tally);
            let next = if let (Some(walk), true) = (&mut walk, is_walking) { walk.take(stack) } else { stack.pop() };
            let Some(branch) = next else { break };
            let weight = branch.weight();
            let mut graphs = branch.graphs();
            if let Some(bound) = self.config.preemptions {
                let all = graphs.len();
                graphs.retain(|graph| passes(graph, bound));
                tally.preempted += (all - graphs.len()) as u64;
            }
            match graphs.pop() {
                Some(graph) => {
                    stack.extend(graphs.into_iter().map(Branch::whole));
                    self.play_one(graph, stack, tally);
                }
                None => tally.done += weight,
            }
            // A bound on executions is kept to the execution.
            if self.config.executions.is_some() || tally.plays.is_multiple_of(64) {
                self.tell(stack, tally, &mut told, beat);
            }
            if self.idle.load(Relaxed) > 0 && stack.len() > 1 {
                self.give_away(stack);
            }
            if self.stop.load(Relaxed) {
                break;
            }
        }
        self.tell(stack, tally, &mut told, beat);
    }

    /// Is the next branch to be a random one?
    fn walks(&self, tally: &Tally) -> bool {
        let Config { executions, seconds, .. } = *self.config;
        let is_early = executions.is_none_or(|all| self.executions.load(Relaxed) < all.div_ceil(2))
            && seconds.is_none_or(|all| self.begun.elapsed().as_secs_f64() < all / 2.0);
        // Turn by turn with depth first, which finds a bug close to the first execution sooner.
        let turn = executions.map_or(TURN, |all| (all / 8).clamp(1, TURN));
        let is_its_turn = tally.plays / turn % 2 == 1;
        (executions.is_some() || seconds.is_some()) && is_early && is_its_turn && tally.peak_bytes < MOST_BYTES
    }

    fn play_one(&self, graph: Graph, stack: &mut Vec<Branch>, tally: &mut Tally) {
        tally.plays += 1;
        let (run, outcome) = play(graph, self.config, Mode::Explore, &self.body);
        tally.skipped += run.skipped;
        tally.cuts += run.cuts;
        tally.cut.extend(run.cut);
        tally.shown += run.shown;
        tally.std_counts |= run.std_counts;
        tally.threads = tally.threads.max(run.graph.threads.len());
        if tally.sharing < Sharing::Shared {
            let own = if run.is_seen { Sharing::Own } else { Sharing::None };
            tally.sharing = tally.sharing.max(own).max(run.graph.sharing());
        }
        if matches!(run.end, End::Anew) {
            stack.push(Branch::whole(run.graph.clone()));
        } else {
            tally.done += run.graph.weight;
        }
        match run.end {
            End::Complete => {
                if let Some(look) = &self.config.at_graph {
                    look(&run.graph);
                }
                tally.executions += 1;
                *tally.outcomes.entry(outcome.unwrap_or_default()).or_default() += 1;
            }
            End::Blocked => tally.blocked += 1,
            End::Anew => (),
            End::Played => {
                tally.cuts += 1;
                tally.cut.insert("an execution was left before its end".to_owned());
            }
            End::Failed(failure) => {
                tally.executions += 1;
                self.stop.store(true, Relaxed);
                let graph = run.graph.clone();
                self.lock().report.failure.get_or_insert(Counterexample { failure, graph });
            }
        }
        let of = Arc::new(run.graph);
        stack.extend(run.ways.into_iter().map(|way| Branch { of: Arc::clone(&of), way: Some(way) }));
    }

    /// Reports to the other workers what was done since `told`, and asks whether it is enough.
    fn tell(&self, stack: &[Branch], tally: &mut Tally, told: &mut (u64, f64), beat: &mut dyn FnMut(u64)) {
        if tally.plays.is_multiple_of(64) || stack.is_empty() {
            tally.peak_bytes = tally.peak_bytes.max(bytes(stack));
        }
        let (executions, done) = (tally.executions - told.0, tally.done - told.1);
        *told = (tally.executions, tally.done);
        // Relaxed, here and above: numbers for people, and a wish to stop that may be heard late.
        let _ = self.done.fetch_update(Relaxed, Relaxed, |bits| Some((f64::from_bits(bits) + done).to_bits()));
        beat(self.executions.fetch_add(executions, Relaxed) + executions);
        if self.config.executions.is_some_and(|limit| self.executions.load(Relaxed) >= limit) {
            self.stop.store(true, Relaxed);
        }
    }

    /// The oldest half, below which lies the most.
    fn give_away(&self, stack: &mut Vec<Branch>) {
        let half = stack.len() / 2;
        self.lock().branches.extend(stack.drain(..half));
        self.changed.notify_all();
    }
}

/// What they take in memory. Branches of one execution lie side by side.
fn bytes(stack: &[Branch]) -> u64 {
    let executions = stack.chunk_by(|a, b| Arc::ptr_eq(&a.of, &b.of));
    executions.map(|of_one| of_one[0].of.bytes() + size_of_val(of_one) as u64).sum()
}
