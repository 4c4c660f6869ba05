//! An embedder whose Gs do what their submitter has said, under Ps that are memory which only their owners may touch.

use super::Does;
use crate::host::RoomHost;
use crate::plain::{Plain, of};
use crate::values::{Maker, Value};
use kernel::atomic::Atomic;
use kernel::host::Parker as _;
use kernel::protocol::find::Worker;
use kernel::protocol::locked::{Wake, Woken};
use kernel::protocol::stw::safepoint::SafepointFn;
use kernel::protocol::syscall::Away;
use kernel::sched::Sched;
use kernel::sched::observer::{Event, Observer};
use kernel::sched::stw::StoppedWorld;
use kernel::types::g::G;
use kernel::types::m::MId;
use kernel::types::p::PId;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex};

/// Something that happens, and that one thread waits for.
struct Note<H: RoomHost> {
    is_set: Atomic<H, bool>,
    parker: H::Parker,
}

impl<H: RoomHost> Note<H> {
    fn new() -> Self {
        Note { is_set: Atomic::new(false), parker: H::Parker::new() }
    }
    fn wakeup(&self) {
        // Release: what was done before it is seen.
        self.is_set.store(true, Release);
        self.parker.unpark();
    }
    fn sleep(&self) {
        // Acquire: as above.
        while !self.is_set.load(Acquire) {
            self.parker.park();
        }
    }
}

/// What a G is to do.
struct Task<H: RoomHost> {
    does: Does,
    /// It readies another first.
    is_two: bool,
    values: Maker<H>,
    /// `None`: it has run.
    value: Option<Value<H>>,
    /// Its first half is over.
    is_back: bool,
    /// The G that awaits it.
    awaited_by: Option<Arc<Parent<H>>>,
}

/// A G that awaits another.
enum Parent<H: RoomHost> {
    /// It keeps its P until then.
    Keeps(Note<H>),
    /// It is on this M, and has no P.
    Parks(MId),
}

/// A G's task, which one thread at a time may touch.
type Tasks<H> = BTreeMap<u64, Arc<Plain<H, Task<H>>>>;

/// The embedder.
pub(crate) struct Embedder<H: RoomHost> {
    /// By number. Of `std`: that a G is known says nothing of when.
    tasks: Mutex<Tasks<H>>,
    /// May a G that keeps its P wait for another? And one that does not?
    may_keep: bool,
    may_park: bool,
    /// One a P: only its owner uses it.
    used: [Plain<H, ()>; super::MAX_PROCS],
    /// The stopper writes it, Gs that run read it.
    stopped: Plain<H, bool>,
    /// An M has fallen asleep. Before the first call.
    has_slept: H::Parker,
    /// A G is about to wait, or is in a call that lasts: then there is no M that could be readied.
    waits: Note<H>,
    m: Mutex<Option<MId>>,
    /// The call that lasts is over.
    goes_on: Note<H>,
    /// A G keeps its P for ever. Of `std`: it is asked when nothing goes on any more.
    is_kept: AtomicBool,
}

impl<H: RoomHost> Observer for Embedder<H> {
    fn event(&self, event: Event<'_>) {
        if let Event::Slept { .. } = event
            && of(&self.tasks).is_empty()
        {
            self.has_slept.unpark();
        }
    }
}

/// A child's number.
const CHILD: u64 = 1_000;

/// A scheduler with its embedder.
type S<H> = Arc<Sched<H, Embedder<H>>>;

impl<H: RoomHost> Embedder<H> {
    pub(super) fn new(may_keep: bool, may_park: bool) -> Self {
        Embedder {
            tasks: Mutex::default(),
            may_keep,
            may_park,
            used: std::array::from_fn(|_| Plain::new(())),
            stopped: Plain::new(false),
            has_slept: H::Parker::new(),
            waits: Note::new(),
            m: Mutex::default(),
            goes_on: Note::new(),
            is_kept: AtomicBool::new(false),
        }
    }

    /// Until an M that was started sleeps.
    pub(super) fn sleeps(&self) {
        self.has_slept.park();
    }

    /// A new G.
    pub(super) fn make(&self, does: Does, is_two: bool, values: &Maker<H>) -> G {
        self.makes(values.number(), does, is_two, values.another(), None)
    }

    fn makes(&self, n: u64, does: Does, is_two: bool, values: Maker<H>, awaited_by: Option<Arc<Parent<H>>>) -> G {
        let value = Some(values.value());
        let task = Task { does, is_two, values, value, is_back: false, awaited_by };
        of(&self.tasks).insert(n, Arc::new(Plain::new(task)));
        g(n)
    }

    fn task(&self, n: u64) -> Arc<Plain<H, Task<H>>> {
        let task = of(&self.tasks).get(&n).map(Arc::clone);
        task.unwrap_or_else(|| panic!("G{n} was never made"))
    }

    /// The G has run, or was given back.
    pub(super) fn takes_back(&self, g: G) {
        let n = g.into_raw().get();
        let value = self.task(n).write(|task| task.value.take());
        value.unwrap_or_else(|| panic!("G{n} is there twice")).take();
    }

    /// A G runs under `worker`'s P.
    fn uses(&self, worker: &Worker) {
        assert!(!self.stopped.read(|stopped| *stopped), "a G runs, but the world is stopped");
        self.used[worker.p().index()].write(|()| ());
    }

    /// For the stopper, once the world is stopped or about to start.
    pub(super) fn is_stopped(&self, yes: bool) {
        self.used.iter().for_each(|used| used.write(|()| ()));
        self.stopped.write(|stopped| {
            assert!(*stopped != yes, "two have stopped the world");
            *stopped = yes;
        });
    }

    /// Does a G keep its P?
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept.load(Relaxed)
    }

    /// Does a call last still?
    pub(super) fn is_in_a_call(&self) -> bool {
        // Relaxed: when nothing goes on any more.
        let has = |note: &Note<H>| note.is_set.load(Relaxed);
        of(&self.m).is_none() && has(&self.waits) && !has(&self.goes_on)
    }
}

/// G number `n`.
fn g(n: u64) -> G {
    G::from_raw(NonZeroU64::new(n).expect("a G has a number"))
}

/// What an M does.
pub(super) fn life<H: RoomHost>(sched: &S<H>, worker: Worker) {
    let mut worker = Some(worker);
    while let Some(mine) = worker {
        let Some((mine, g)) = sched.next(mine) else { return };
        sched.observer().uses(&mine);
        worker = run(sched, mine, g);
    }
}

/// A G, or its other half. `None`: the thread ends.
fn run<H: RoomHost>(sched: &S<H>, mut worker: Worker, g: G) -> Option<Worker> {
    let n = g.id();
    let task = sched.observer().task(n);
    let (does, is_two, is_back) =
        task.write(|task| (task.does, task.is_two, std::mem::replace(&mut task.is_back, true)));
    if is_back {
        return ends(sched, worker, g);
    }
    let parent = match does {
        Does::Awaits => Some(Arc::new(Parent::Keeps(Note::new()))),
        Does::AwaitsParked => Some(Arc::new(Parent::Parks(worker.m()))),
        _ => None,
    };
    if is_two || parent.is_some() {
        let (values, does) = (task.read(|task| task.values.another()), if is_two { does } else { Does::Runs });
        let child = sched.observer().makes(n + CHILD, does, false, values, parent.clone());
        sched.ready(&mut worker, child);
    }
    match does {
        Does::Runs => {}
        Does::Goyields => {
            sched.goyield(&mut worker, g);
            return Some(worker);
        }
        Does::Yields => {
            sched.yield_now(&mut worker, g);
            return Some(worker);
        }
        Does::Calls => return comes_back(sched, sched.entersyscall(worker), g),
        Does::Blocks => return comes_back(sched, sched.entersyscallblock(worker), g),
        Does::YieldsBound => worker = sched.yield_bound(worker),
        Does::CallsBound => worker = sched.exitsyscall_bound(sched.entersyscall(worker)).0,
        Does::BlocksBound => worker = sched.exitsyscall_bound(sched.entersyscallblock(worker)).0,
        Does::IsInterrupted => worker = sched.exitsyscall_bound(sched.interrupt(worker)).0,
        Does::Parks => worker = parks(sched, worker),
        Does::CallsLong => {
            let away = sched.entersyscall(worker);
            sched.observer().waits.wakeup();
            sched.observer().goes_on.sleep();
            worker = sched.exitsyscall_bound(away).0;
        }
        Does::Stops => {
            let away = while_stopped(sched, Some(worker), |_| ()).1;
            worker = sched.exitsyscall_bound(away.expect("a G has stopped it")).0;
        }
        Does::Passes => {
            let (ran, away) = passes(sched, Some(worker));
            assert!(ran.iter().all(|times| *times == 1), "it has run so often under each P: {ran:?}");
            worker = sched.exitsyscall_bound(away.expect("an M has called")).0;
        }
        Does::Ends => {
            sched.observer().takes_back(g);
            sched.end(worker);
            return None;
        }
        Does::Awaits if sched.observer().may_keep => {
            if let Some(Parent::Keeps(note)) = parent.as_deref() {
                note.sleep();
            }
        }
        Does::AwaitsParked if sched.observer().may_park => worker = waits(sched, worker),
        Does::Keeps if sched.observer().may_keep => {
            sched.observer().is_kept.store(true, Relaxed);
            H::Parker::new().park();
        }
        Does::Keeps | Does::Awaits | Does::AwaitsParked => {}
    }
    sched.observer().uses(&worker);
    ends(sched, worker, g)
}

/// A stop: no G runs while `act` does. What that returns; the M, if `worker`'s has stopped it.
pub(super) fn while_stopped<H: RoomHost, R>(
    sched: &S<H>,
    worker: Option<Worker>,
    act: impl FnOnce(&mut StoppedWorld) -> R,
) -> (R, Option<Away>) {
    let mut stopped = sched.stop_the_world(worker);
    sched.observer().is_stopped(true);
    let result = act(&mut stopped);
    sched.observer().is_stopped(false);
    (result, sched.start_the_world(stopped))
}

/// A G has run to its end.
fn ends<H: RoomHost>(sched: &S<H>, worker: Worker, g: G) -> Option<Worker> {
    let parent = sched.observer().task(g.id()).read(|task| task.awaited_by.clone());
    sched.observer().takes_back(g);
    match parent.as_deref() {
        Some(Parent::Keeps(note)) => note.wakeup(),
        Some(Parent::Parks(m)) => sched.ready_bound(*m),
        None => {}
    }
    Some(worker)
}

/// The G's call is over; if there is no P for it, another M runs its other half.
fn comes_back<H: RoomHost>(sched: &S<H>, away: Away, g: G) -> Option<Worker> {
    match sched.exitsyscall(away, g) {
        Ok((worker, g, _)) => {
            sched.observer().uses(&worker);
            run(sched, worker, g)
        }
        Err(m) => sched.rest(m),
    }
}

fn parks<H: RoomHost>(sched: &S<H>, worker: Worker) -> Worker {
    let embedder = sched.observer();
    *of(&embedder.m) = Some(worker.m());
    embedder.waits.wakeup();
    waits(sched, worker)
}

/// It waits until its M is readied.
fn waits<H: RoomHost>(sched: &S<H>, worker: Worker) -> Worker {
    let m = worker.m();
    let (worker, woken) = sched.park_bound(worker, Wake::Outside);
    assert!(worker.m() == m && matches!(woken, Woken::Ready | Woken::Closed), "the wait of M{} ended: {woken:?}", m.0);
    worker
}

/// Readies the G that waits, as soon as one is about to, or has its call end.
pub(super) fn readies<H: RoomHost>(sched: &S<H>) {
    let embedder = sched.observer();
    embedder.waits.sleep();
    let m = *of(&embedder.m);
    match m {
        Some(m) => sched.ready_bound(m),
        None => embedder.goes_on.wakeup(),
    }
}

/// A function runs under each P: how often it did.
pub(super) fn passes<H: RoomHost>(sched: &S<H>, worker: Option<Worker>) -> (Vec<u32>, Option<Away>) {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let (theirs, embedder) = (Arc::clone(&ran), Arc::clone(sched));
    let function: Arc<SafepointFn> = Arc::new(move |p: PId| {
        assert!(!H::holds_a_lock(), "user code runs while a lock is held");
        embedder.observer().used[p.index()].write(|()| ());
        of(&theirs).push(p.0);
    });
    let away = sched.for_each_p(worker, &function);
    let ran = of(&ran).clone();
    let times = |p| ran.iter().filter(|other| **other == p).count() as u32;
    ((0..super::MAX_PROCS as u32).map(times).filter(|times| *times > 0).collect(), away)
}
