//! What all tasks of a program share: the runtime, the locks, the counts, and the board on which each task writes where it
//! is.

use crate::program::{Closure, Program, Setup};
use spinpark::sync::{Mutex, RwLock};
use spinpark::{Handle, Runtime};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, OnceLock, PoisonError};

pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) handle: Handle,
    /// The thread that takes it shuts it down.
    pub(crate) runtime: StdMutex<Option<Runtime>>,
    /// The runtime may be shut down from now on: waits may end without what was waited for.
    closing: AtomicBool,
    /// A task that has begun ends inside of the runtime.
    pub(crate) drops_inside: bool,
    /// Tasks may compute until others have run.
    pub(crate) may_hog: bool,
    pub(crate) locks: [Mutex<u64>; 3],
    pub(crate) locked: [AtomicU64; 3],
    pub(crate) rw_lock: RwLock<u64>,
    pub(crate) rw_locked: AtomicU64,
    /// Grows with each operation and each message.
    progress: AtomicU64,
    pub(crate) counts: Counts,
    wrong: StdMutex<Vec<String>>,
    board: StdMutex<Vec<Arc<Slot>>>,
}

/// What is made, and what is dropped: in the end, as many.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) tasks: Pair,
    pub(crate) messages: Pair,
    pub(crate) closures: Pair,
    pub(crate) destructors: AtomicU64,
}

#[derive(Default)]
pub(crate) struct Pair {
    made: AtomicU64,
    dropped: AtomicU64,
}

impl Pair {
    fn are_equal(&self) -> bool {
        self.made.load(SeqCst) == self.dropped.load(SeqCst)
    }
}

/// Counted when it is made, and when it is dropped.
pub(crate) struct Counted {
    world: Arc<World>,
    which: fn(&Counts) -> &Pair,
    pub(crate) value: u64,
}

impl Counted {
    pub(crate) fn message(world: &Arc<World>, value: u64) -> Counted {
        Self::new(world, |counts| &counts.messages, value)
    }

    pub(crate) fn closure(world: &Arc<World>) -> Counted {
        Self::new(world, |counts| &counts.closures, 0)
    }

    fn new(world: &Arc<World>, which: fn(&Counts) -> &Pair, value: u64) -> Counted {
        which(&world.counts).made.fetch_add(1, SeqCst);
        Counted { world: Arc::clone(world), which, value }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.world.counts).dropped.fetch_add(1, SeqCst);
    }
}

/// Where a task is.
pub(crate) struct Slot {
    name: String,
    at: StdMutex<Vec<(usize, &'static str)>>,
    detail: AtomicU64,
    is_started: AtomicBool,
    is_ended: AtomicBool,
}

/// A task's place on the board; dropped, the task has ended.
pub(crate) struct Ticket {
    _count: Counted,
    slot: Arc<Slot>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.slot.is_ended.store(true, SeqCst);
        self._count.world.step();
    }
}

impl Ticket {
    pub(crate) fn starts(&self) {
        self.slot.is_started.store(true, SeqCst);
    }

    pub(crate) fn slot(&self) -> Arc<Slot> {
        Arc::clone(&self.slot)
    }
}

impl Slot {
    fn at(&self) -> MutexGuard<'_, Vec<(usize, &'static str)>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// It is about to do its `n`th operation at this depth.
    pub(crate) fn begins(&self, depth: usize, n: usize, name: &'static str) {
        let mut at = self.at();
        at.truncate(depth);
        at.push((n, name));
        self.detail.store(0, Relaxed);
    }

    /// One message more.
    pub(crate) fn counts(&self) {
        self.detail.fetch_add(1, Relaxed);
    }
}

impl World {
    pub(crate) fn new(runtime: Runtime, program: &Program) -> Arc<World> {
        Arc::new(World {
            setup: program.setup.clone(),
            handle: runtime.handle(),
            runtime: StdMutex::new(Some(runtime)),
            closing: AtomicBool::new(false),
            drops_inside: program.drops_inside(),
            may_hog: program.may_hog(),
            locks: Default::default(),
            locked: Default::default(),
            rw_lock: RwLock::new(0),
            rw_locked: AtomicU64::new(0),
            progress: AtomicU64::new(0),
            counts: Counts::default(),
            wrong: StdMutex::default(),
            board: StdMutex::default(),
        })
    }

    pub(crate) fn step(&self) {
        self.progress.fetch_add(1, Relaxed);
    }

    pub(crate) fn progress(&self) -> u64 {
        self.progress.load(Relaxed)
    }

    pub(crate) fn begins_to_close(&self) {
        self.closing.store(true, SeqCst);
    }

    pub(crate) fn may_be_closing(&self) -> bool {
        self.closing.load(SeqCst)
    }

    /// The runtime, to be shut down.
    pub(crate) fn take_runtime(&self) -> Option<Runtime> {
        self.begins_to_close();
        self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Something does not hold.
    pub(crate) fn wrong(&self, what: String) {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    pub(crate) fn first_wrong(&self) -> Option<String> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }

    pub(crate) fn ticket(self: &Arc<Self>, name: String) -> Ticket {
        let slot = Arc::new(Slot {
            name,
            at: StdMutex::default(),
            detail: AtomicU64::new(0),
            is_started: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
        });
        self.board.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&slot));
        Ticket { _count: Counted::new(self, |counts| &counts.tasks, 0), slot }
    }

    /// Has each task ended, and is nothing left of what was made?
    pub(crate) fn is_over(&self) -> bool {
        let Counts { tasks, messages, closures, destructors: _ } = &self.counts;
        tasks.are_equal() && messages.are_equal() && closures.are_equal()
    }

    /// The waiting tasks.
    pub(crate) fn unfinished(&self) -> String {
        let mut text = String::new();
        for slot in self.board.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            if slot.is_ended.load(SeqCst) {
                continue;
            }
            let place: Vec<String> = slot.at().iter().map(|(n, name)| format!("operation {n}, {name}")).collect();
            let place = match slot.is_started.load(SeqCst) {
                false => "not started".to_owned(),
                true if place.is_empty() => "started".to_owned(),
                true => place.join("; in it "),
            };
            let _ = writeln!(text, "  {}: {place}, count {}", slot.name, slot.detail.load(Relaxed));
        }
        let Counts { tasks, messages, closures, destructors } = &self.counts;
        for (what, pair) in [("tasks", tasks), ("messages", messages), ("closures", closures)] {
            let (made, dropped) = (pair.made.load(SeqCst), pair.dropped.load(SeqCst));
            let _ = writeln!(text, "  {made} {what} made, {dropped} dropped");
        }
        let _ = writeln!(text, "  {} destructors run", destructors.load(SeqCst));
        text
    }

    /// What the runtime is to call. Is it dropped before the runtime is? What waits for an idle moment need not be.
    pub(crate) fn closure(self: &Arc<Self>, closure: Closure, is_counted: bool) -> impl Fn() + Send + Sync + use<> {
        let world = Arc::clone(self);
        let counted = is_counted.then(|| Counted::closure(self));
        move || {
            let _ = &counted;
            world.step();
            match closure {
                Closure::Counts => (),
                Closure::Panics => panic!("a closure of the runtime panics"),
                Closure::PanicsWithBomb => std::panic::panic_any(Bomb),
                Closure::Spawns => drop(world.handle.spawn(async {})),
                Closure::DropsRuntime => drop(world.take_runtime()),
            }
        }
    }
}

/// A payload whose destructor panics.
pub(crate) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("the destructor of a panic's payload panics");
        }
    }
}

/// For the watchdog.
pub(crate) static WORLD: OnceLock<Arc<World>> = OnceLock::new();
