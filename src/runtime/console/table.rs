//! What each task does, and each M, as they report it.
//!
//! | invariant | race |
//! |-----------|------|
//! | a task is counted in one state | its events come from several threads, each made while its maker owns the task, so in their order; the table's lock of its shard does the rest |
//! | no thread waits long here, the scheduler's lock held or not | a reader takes one shard's lock at a time, and copies |
//!
//! A number that is a moment old is right enough: it is for the eye.

use crate::host::Nanos;
use crate::kernel::sched::observer;
use crate::kernel::types::m::MId;
use crate::runtime::observe::event::{Event, Observer};
use crate::runtime::observe::watch;
use core::panic::Location;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tasks are in one of so many, by their address.
const SHARDS: usize = 64;

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Runnable,
    Running,
    Syscall,
    /// For this.
    Waiting(&'static str),
}

/// A task that has not ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) at: &'static Location<'static>,
    pub(super) state: State,
    pub(super) since: Nanos,
}

/// What the tasks of one place have done, those that have ended too.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) at: &'static Location<'static>,
    pub(super) spawned: u64,
    /// How often one ran until it waited, yielded, left for a system call, or ended.
    pub(super) polls: u64,
    pub(super) busy: Nanos,
    pub(super) longest: Nanos,
}

#[derive(Default)]
struct Shard {
    tasks: HashMap<u64, Task>,
    /// By the location's address: the same place may be there twice.
    places: HashMap<usize, Counts>,
    wakes: u64,
}

/// What an M does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Doing {
    #[default]
    Absent,
    /// It looks for its next task, or is about to sleep or end.
    Awake,
    Running,
    Syscall,
    /// It waits with its task, which cannot leave it.
    Blocked,
    Spinning,
    Polling,
    Sleeping,
}

/// An M.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct M {
    pub(super) does: Doing,
    pub(super) since: Nanos,
    /// Its task.
    g: Option<u64>,
}

/// What was seen, at a moment.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) tasks: Vec<Task>,
    pub(super) places: Vec<Counts>,
    /// With their numbers.
    pub(super) ms: Vec<(usize, M)>,
    pub(super) wakes: u64,
}

/// The observer of a runtime.
pub(super) struct Table {
    shards: [Mutex<Shard>; SHARDS],
    ms: Box<[Mutex<M>]>,
    clock: fn() -> Nanos,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shard {
    fn place(&mut self, at: &'static Location<'static>) -> &mut Counts {
        let new = Counts { at, spawned: 0, polls: 0, busy: 0, longest: 0 };
        self.places.entry(core::ptr::from_ref(at).addr()).or_insert(new)
    }

    /// The task `g` does something else from `now` on; `None`: it is over.
    fn turns(&mut self, g: u64, state: Option<State>, now: Nanos) {
        let Some(task) = self.tasks.get_mut(&g) else { return };
        let (before, Task { at, .. }) = (*task, *task);
        match state {
            Some(state) => (task.state, task.since) = (state, now),
            None => drop(self.tasks.remove(&g)),
        }
        let ran = now.saturating_sub(before.since);
        match (before.state, state) {
            (State::Running, _) => {
                let place = self.place(at);
                (place.polls, place.busy) = (place.polls + 1, place.busy + ran);
                place.longest = place.longest.max(ran);
            }
            (State::Waiting(_), Some(State::Runnable | State::Running)) => self.wakes += 1,
            _ => (),
        }
    }
}

impl Table {
    /// Of a runtime that has so many Ms at most.
    pub(super) fn new(max_ms: usize, clock: fn() -> Nanos) -> Table {
        let ms = (0..max_ms).map(|_| Mutex::default()).collect();
        Table { shards: core::array::from_fn(|_| Mutex::default()), ms, clock }
    }

    /// All of it. Each shard is as it is at its own moment.
    pub(super) fn look(&self) -> Seen {
        let mut seen = Seen::default();
        for shard in &self.shards {
            let shard = lock(shard);
            seen.tasks.extend(shard.tasks.values());
            seen.places.extend(shard.places.values());
            seen.wakes += shard.wakes;
        }
        let ms = self.ms.iter().map(|m| *lock(m)).enumerate();
        seen.ms.extend(ms.filter(|(_, m)| m.does != Doing::Absent));
        seen
    }

    fn shard(&self, g: u64) -> MutexGuard<'_, Shard> {
        // Tasks are far from each other in memory, and aligned.
        lock(&self.shards[(g.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SHARDS.ilog2())) as usize])
    }

    fn turns(&self, g: u64, state: impl Into<Option<State>>) {
        self.shard(g).turns(g, state.into(), (self.clock)());
    }

    /// What `m` does from now on, and with which task.
    fn m(&self, m: MId, does: Doing, g: Option<u64>) {
        if let Some(m) = self.ms.get(m.index()) {
            *lock(m) = M { does, since: (self.clock)(), g };
        }
    }

    /// `m` does this no longer, if it still did: it may have found its task before it said so.
    fn no_longer(&self, m: MId, does: Doing) {
        if self.ms.get(m.index()).is_some_and(|m| lock(m).does == does) {
            self.m(m, Doing::Awake, None);
        }
    }

    /// The task of `m`, if it has one.
    fn task_of(&self, m: MId) -> Option<u64> {
        self.ms.get(m.index()).and_then(|m| lock(m).g)
    }

    /// The task of `m` does something else, and so does `m`.
    fn with_its_task(&self, m: MId, does: Doing, state: State) {
        let g = self.task_of(m);
        self.m(m, if g.is_some() { does } else { Doing::Awake }, g);
        if let Some(g) = g {
            self.turns(g, state);
        }
    }

    fn sched(&self, event: &observer::Event<'_>) {
        use observer::Event;
        match *event {
            // The ticket of a task that is bound to its M.
            Event::Queued { g, .. } => match g.bound() {
                Some(m) => self.task_of(m).into_iter().for_each(|g| self.turns(g, State::Runnable)),
                None => self.turns(g.address(), State::Runnable),
            },
            Event::Found { m, g, .. } => match g.bound() {
                Some(_) => self.m(m, Doing::Awake, None),
                None => {
                    self.m(m, Doing::Running, Some(g.address()));
                    self.turns(g.address(), State::Running);
                }
            },
            Event::Got { m, .. } | Event::Returned { m, .. } => self.with_its_task(m, Doing::Running, State::Running),
            Event::Entered { m, .. } => self.with_its_task(m, Doing::Syscall, State::Syscall),
            Event::Left { m, waits: true, .. } => {
                self.with_its_task(m, Doing::Blocked, State::Waiting(watch::why()));
            }
            Event::Left { m, waits: false, .. } => self.with_its_task(m, Doing::Blocked, State::Runnable),
            Event::Spinning { m } | Event::Called { m } => self.m(m, Doing::Spinning, None),
            Event::Sought { m } => self.no_longer(m, Doing::Spinning),
            Event::Polled { m } => self.no_longer(m, Doing::Polling),
            Event::Woken { m } | Event::Starting { m } => self.m(m, Doing::Awake, None),
            Event::Slept { m, .. } => self.m(m, Doing::Sleeping, None),
            Event::Polling { m, .. } => self.m(m, Doing::Polling, None),
            Event::Exited { m } => self.m(m, Doing::Absent, None),
            _ => (),
        }
    }
}

impl Observer for Table {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Sched(ref event) => self.sched(event),
            Event::Created { g, at } => {
                let mut shard = self.shard(g);
                shard.place(at).spawned += 1;
                // An address that was another task's, which was dropped elsewhere.
                shard.tasks.insert(g, Task { at, state: State::Runnable, since: (self.clock)() });
            }
            Event::Waiting { m, g, why, .. } => {
                self.m(m, Doing::Awake, None);
                self.turns(g, State::Waiting(why));
            }
            Event::Dead { m, g, .. } => {
                self.m(m, Doing::Awake, None);
                self.turns(g, None);
            }
            Event::SyscallOver { .. } => (),
        }
    }
}
