//! A sketch of the rules of tokio's multi-threaded scheduler: not its code, and only what decides which thread runs what, when.
//!
//! | rule                                                                                  | where          |
//! |---------------------------------------------------------------------------------------|----------------|
//! | what a task wakes or spawns goes into a slot that is not stolen from; what was there, into the ring | `ready` |
//! | the slot is served at most three times in a row                                       | `run`          |
//! | a worker is woken only if none searches and not all are awake: one word says so       | `notify`       |
//! | sleepers are a list under the mutex, which guards the queue of injected tasks too     | `Synced`       |
//! | at most half of the workers search                                                    | `search`       |
//! | half of a ring is stolen, from victims in their order from a random one on, once      | `search`       |
//! | the injected queue is looked into once in 61 turns, and when the ring is empty: a share | `next`       |
//! | the last that searched, and has found a task, wakes another                           | `found`        |
//! | the last that searched, and found none, looks once more before it sleeps              | `park`         |
//!
//! Left out: the driver, which a sleeping worker may wait in; the tuning of the 61 by the length of polls; the budget; yields.

use crate::designs::tokio_queue::{CAPACITY, Ring};
use crate::engine;
use crate::host::{Lock, Parker, Word};
use crate::workloads::{Outside, Tasks, Workload};
use crossbeam_utils::CachePadded;
use spinpark_kernel::host::{Lock as _, Parker as _, Word as _};
use std::collections::VecDeque;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::{Arc, Mutex};

/// One turn in so many serves the injected queue first.
const GLOBAL_EVERY: u32 = 61;
/// So often in a row the slot is served.
const SLOT_AT_MOST: u32 = 3;
/// Of the word: a worker is awake; below it, how many search.
const AWAKE: u64 = 1 << 16;

struct Synced {
    sleepers: Vec<usize>,
    injected: VecDeque<u64>,
}

struct Remote {
    ring: Ring,
    parker: Parker,
}

struct Shared {
    /// How many are awake, how many search.
    state: CachePadded<Word>,
    injected: CachePadded<Word>,
    closed: CachePadded<Word>,
    synced: Lock<Synced>,
    remotes: Box<[Remote]>,
    wakes: usize,
    workload: Mutex<Option<Arc<dyn Workload>>>,
}

/// The scheduler.
pub(super) struct Tokio(Arc<Shared>);

struct Worker {
    shared: Arc<Shared>,
    me: usize,
    slot: Option<u64>,
    slot_runs: u32,
    turn: u32,
    is_searching: bool,
}

impl Shared {
    fn may_notify(&self) -> bool {
        // An addition of nothing: a load that is ordered with the others' changes.
        let state = self.state.fetch_add(0, SeqCst);
        state.is_multiple_of(AWAKE) && state / AWAKE < self.remotes.len() as u64
    }

    /// Wakes a worker, which searches, if there is reason to.
    fn notify(&self) {
        if self.may_notify() {
            self.wake_one(false);
        }
    }

    /// Wakes a sleeper. `beside`: also if another searches.
    fn wake_one(&self, beside: bool) {
        let sleeper = self.synced.with(|synced| {
            if !beside && !self.may_notify() {
                return None;
            }
            let sleeper = synced.sleepers.pop()?;
            self.state.fetch_add(AWAKE + 1, SeqCst);
            Some(sleeper)
        });
        if let Some(sleeper) = sleeper {
            self.remotes[sleeper].parker.unpark();
        }
    }

    fn inject(&self, gs: Vec<u64>) {
        self.synced.with(|synced| {
            synced.injected.extend(gs);
            self.injected.store(synced.injected.len() as u64, Release);
        });
    }

    fn is_any_work(&self) -> bool {
        self.remotes.iter().any(|remote| !remote.ring.is_empty()) || self.injected.load(Acquire) > 0
    }
}

impl Worker {
    fn mine(&self) -> &Ring {
        &self.shared.remotes[self.me].ring
    }

    fn live(mut self) {
        engine::searching(true);
        while self.shared.closed.load(Relaxed) == 0 {
            self.turn = self.turn.wrapping_add(1);
            self.slot_runs = 0;
            match self.next().or_else(|| self.search()) {
                Some(g) => self.run(g),
                None => self.park(),
            }
        }
    }

    /// From its own slot, its own ring, or what was injected.
    fn next(&mut self) -> Option<u64> {
        if self.turn.is_multiple_of(GLOBAL_EVERY) {
            return self.take_injected(1).or_else(|| self.next_local());
        }
        self.next_local().or_else(|| self.take_injected(CAPACITY / 2))
    }

    fn next_local(&mut self) -> Option<u64> {
        self.slot.take().or_else(|| self.mine().pop())
    }

    /// A fair share, at most so many.
    fn take_injected(&mut self, most: u64) -> Option<u64> {
        let there = self.shared.injected.load(Acquire);
        if there == 0 {
            return None;
        }
        let share = (there / self.shared.remotes.len() as u64 + 1).min(most).min(self.mine().room().max(1));
        let shared = Arc::clone(&self.shared);
        shared.synced.with(|synced| {
            let first = synced.injected.pop_front()?;
            let more = (share as usize - 1).min(synced.injected.len());
            if more > 0 {
                self.mine().push_all(synced.injected.drain(..more));
            }
            shared.injected.store(synced.injected.len() as u64, Release);
            Some(first)
        })
    }

    fn search(&mut self) -> Option<u64> {
        let n = self.shared.remotes.len();
        if !self.is_searching {
            if 2 * (self.shared.state.load(SeqCst) % AWAKE) >= n as u64 {
                return None;
            }
            self.shared.state.fetch_add(1, SeqCst);
            self.is_searching = true;
        }
        let from = engine::choose(n);
        for victim in (0..n).map(|i| (from + i) % n).filter(|victim| *victim != self.me) {
            engine::tries();
            if let Some((g, gs)) = self.shared.remotes[victim].ring.steal_into(self.mine()) {
                engine::stole(gs);
                return Some(g);
            }
        }
        self.take_injected(1)
    }

    /// It has found a task, and searches no longer.
    fn found(&mut self) {
        if std::mem::take(&mut self.is_searching)
            && self.shared.state.fetch_add(1_u64.wrapping_neg(), SeqCst) % AWAKE == 1
        {
            self.shared.notify();
            // Not tokio's: a tree of wakes.
            (1..self.shared.wakes).filter(|_| self.shared.is_any_work()).for_each(|_| self.shared.wake_one(true));
        }
    }

    fn run(&mut self, g: u64) {
        self.found();
        engine::searching(false);
        let shared = Arc::clone(&self.shared);
        let workload = shared.workload.lock().expect("no panic under it").clone().expect("a G is some workload's");
        let mut next = Some(g);
        while let Some(g) = next {
            engine::runs();
            workload.run(g, self);
            next = self.slot.take();
            self.slot_runs += u32::from(next.is_some());
        }
        engine::searching(true);
    }

    fn park(&mut self) {
        let was_searching = std::mem::take(&mut self.is_searching);
        let shared = Arc::clone(&self.shared);
        let was_last = shared.synced.with(|synced| {
            synced.sleepers.push(self.me);
            let before = shared.state.fetch_add((AWAKE + u64::from(was_searching)).wrapping_neg(), SeqCst);
            was_searching && before % AWAKE == 1
        });
        if was_last && shared.is_any_work() {
            shared.notify();
        }
        shared.remotes[self.me].parker.park();
        // Its waker has taken it off the list, and counted it as one that searches.
        self.is_searching = true;
    }
}

impl Tasks for Worker {
    fn ready(&mut self, g: u64) {
        let displaced = match self.slot_runs < SLOT_AT_MOST {
            true => self.slot.replace(g),
            false => Some(g),
        };
        let Some(displaced) = displaced else { return };
        self.yields(displaced);
        self.shared.notify();
    }

    /// tokio's asks its driver before, and notifies.
    fn yields(&mut self, g: u64) {
        if let Err(spilled) = self.mine().push(g) {
            self.shared.inject(spilled);
        }
    }
}

impl Tokio {
    pub(super) fn start(procs: usize, wakes: usize) -> Tokio {
        let remotes = (0..procs).map(|_| Remote { ring: Ring::new(), parker: Parker::new() }).collect();
        let shared = Arc::new(Shared {
            state: CachePadded::new(Word::new(AWAKE * procs as u64)),
            injected: CachePadded::new(Word::new(0)),
            closed: CachePadded::new(Word::new(0)),
            synced: Lock::new(Synced { sleepers: Vec::new(), injected: VecDeque::new() }),
            remotes,
            wakes,
            workload: Mutex::new(None),
        });
        for me in 0..procs {
            let shared = Arc::clone(&shared);
            engine::spawn(move || {
                Worker { shared, me, slot: None, slot_runs: 0, turn: 0, is_searching: false }.live();
            });
        }
        Tokio(shared)
    }
}

impl Outside for Tokio {
    fn submit(&self, g: u64) {
        self.0.inject(vec![g]);
        self.0.notify();
    }
}

impl super::Scheduler for Tokio {
    fn plays(&self, workload: Arc<dyn Workload>) {
        *self.0.workload.lock().expect("no panic under it") = Some(workload);
    }

    fn close(&self) {
        self.0.closed.store(1, Release);
        self.0.remotes.iter().for_each(|remote| remote.parker.unpark());
    }
}
