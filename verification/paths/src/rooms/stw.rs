//! `protocol/stw`: the line of stoppers, a stop, a start, a safepoint, and the word that tells an M that its P is wanted.
//!
//! The world is the kernel's own value, in each shape in which the operation can tell it from others. What callers in `sched/` do with
//! it under the scheduler's lock is told here once more, and named after them.

use super::{number, straight};
use crate::host::{Domain, Havoc, Parker, Telling, answered, any_of, ask, tell, whether};
use crate::path::{Operation, Room};
use kernel::host::Parker as _;
use kernel::protocol::stw::resize::procresize;
use kernel::protocol::stw::wanted::{Want, Wanted};
use kernel::protocol::stw::{Neighbours, WorldState, safepoint, stop};
use kernel::types::p::{OwnedP, PId};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// With which questions loops begin.
const LEFT: &str = "a G is left in the ring of a P that ends";
const IS_FIRST: &str = "under the lock: those before it have left the line";
const IS_STOPPED: &str = "under the lock: every P is held";

pub(super) static ROOM: Room = Room {
    name: "stw",
    words: &[Domain { name: "wanted", answers: |_| (0..8).collect(), telling: Telling::Values(number) }],
    operations: &[
        Operation { name: "queue_up", heads: &[IS_FIRST], run: || queue_up(true) },
        Operation { name: "queue_up, without a P", heads: &[IS_FIRST], run: || queue_up(false) },
        Operation { name: "stop", heads: &[IS_STOPPED], run: || stops(Some(OwnedP::forge(PId(0)))) },
        Operation { name: "stop, without a P", heads: &[IS_STOPPED], run: || stops(None) },
        straight("start_the_world", start_the_world),
        straight("releasep", releasep),
        Operation { name: "procresize", heads: &[LEFT], run: resizes },
        straight("for_each_p", || {
            safepoint::for_each_p::<Havoc>(Some(OwnedP::forge(PId(0))), &Others);
            "".to_owned()
        }),
        straight("ask", || {
            Wanted::<Havoc>::new().ask(Want::Safepoint);
            "".to_owned()
        }),
        straight("done", || {
            Wanted::<Havoc>::new().done(Want::Safepoint);
            "".to_owned()
        }),
        straight("any", || Wanted::<Havoc>::new().any().to_string()),
        straight("is_end", || Wanted::<Havoc>::new().is_end().to_string()),
        straight("is", || Wanted::<Havoc>::new().is(Want::Safepoint).to_string()),
    ],
};

/// What is under the lock, and two stoppers.
pub(super) struct World {
    state: RefCell<WorldState<Havoc>>,
    me: Arc<Parker>,
    other: Arc<Parker>,
    /// So many Ps are not held yet.
    left: Cell<u32>,
}

/// So many Ps there are.
const PROCS: u32 = 5;

impl World {
    fn new() -> World {
        let state = RefCell::new(WorldState::new(PROCS as usize));
        World { state, me: Arc::new(Parker::new()), other: Arc::new(Parker::new()), left: Cell::new(PROCS) }
    }

    /// One in which this thread is the first stopper; and `another` behind it.
    fn mine(another: bool) -> World {
        let world = World::new();
        let _ = world.state.borrow_mut().queue_up(&world.me);
        if another {
            let _ = world.state.borrow_mut().queue_up(&world.other);
        }
        world
    }

    /// One that is to stop: one P is not held yet, or two.
    fn to_stop() -> World {
        let world = World::mine(any_of(2) == 1);
        world.state.borrow_mut().begin_stop();
        while world.left.get() > 1 + any_of(2) as u32 {
            world.hold();
        }
        world
    }

    /// A thread hands a P in, under the lock: is it to wake the stopper once the lock is open?
    pub(super) fn hands_in(act: &'static str) -> bool {
        let world = World::to_stop();
        let noted = world.hold();
        answered(act, world.are_held());
        let is_noted = noted.is_some();
        world.notes(noted.as_ref(), &world.me);
        is_noted
    }

    /// Holds one more P: whom has the caller to wake?
    fn hold(&self) -> Option<Arc<Parker>> {
        self.left.set(self.left.get() - 1);
        self.state.borrow_mut().hold(OwnedP::forge(PId(self.left.get())))
    }

    fn are_held(&self) -> &'static str {
        if self.left.get() == 0 { "so is every P" } else { "another is not" }
    }

    /// A stopper that is to be woken is noted under the lock, and woken after it.
    fn wakes(&self, noted: Option<Arc<Parker>>, first: &Arc<Parker>) {
        self.notes(noted.as_ref(), first);
        if noted.is_some() {
            tell("unparks it");
        }
    }

    fn notes(&self, noted: Option<&Arc<Parker>>, first: &Arc<Parker>) {
        match noted {
            None => (),
            Some(parker) if Arc::ptr_eq(parker, first) => tell("notes that the first in the line is to be woken"),
            Some(_) => tell("notes that ANOTHER is to be woken"),
        }
    }
}

/// What `sched/stw.rs` does in `queue_up`.
fn queue_up(with_own: bool) -> String {
    let world = World::new();
    let mut state = world.state.borrow_mut();
    let is_another = whether("under the lock: another stopper is in the line");
    if is_another {
        let _ = state.queue_up(&world.other);
    }
    let is_first = state.queue_up(&world.me);
    let is_behind = !is_another || state.is_first(&world.other);
    tell(if is_behind { "it comes into the line, behind all others" } else { "it comes into the line, BEFORE others" });
    tell(if is_first { "it is the first" } else { "it is not the first" });
    if is_first {
        return "the first in the line".to_owned();
    }
    if with_own {
        tell("hands its P on");
    }
    loop {
        if whether(IS_FIRST) {
            let _ = state.leave_line();
        }
        if state.is_first(&world.me) {
            return "the first in the line".to_owned();
        }
        sleeps();
    }
}

fn sleeps() {
    tell(["sleeps until another thread unparks it", "sleeps, and wakes spuriously"][any_of(2)]);
}

fn stops(own: Option<OwnedP>) -> String {
    stop::<Havoc>(own, &World::mine(any_of(2) == 1));
    "a stopped world".to_owned()
}

/// As `sched/stw.rs`.
impl Neighbours for World {
    fn begin(&self, own: Option<OwnedP>) {
        self.state.borrow_mut().begin_stop();
        let has_own = own.map(OwnedP::discard).is_some();
        // In the source its own is the first.
        let not_idle = any_of(PROCS as usize) as u32;
        let is_held = |noted: Option<Arc<Parker>>| noted.map_or(Vec::new(), |parker| vec![parker]);
        let mut noted: Vec<Arc<Parker>> = if has_own { is_held(self.hold()) } else { Vec::new() };
        while self.left.get() > not_idle {
            noted.extend(self.hold());
        }
        let held = if has_own { "as far as it can see" } else { self.are_held() };
        answered("under the lock: the world is to stop, the idle Ps are held", held);
        if has_own {
            answered("its own P is held", self.are_held());
        }
        assert!(noted.len() < 2, "one is noted once");
        self.wakes(noted.pop(), &self.me);
    }
    fn take_from_syscalls(&self) {
        // Word by word, in `syscall::take_from_syscalls, for a stop`.
        tell("takes every P that is in a system call");
    }
    fn is_stopped(&self) -> bool {
        // Other threads may have handed in what is missing; they wake this one.
        if self.left.get() == 0 || any_of(2) == 1 {
            while self.left.get() > 0 {
                self.hold();
            }
        }
        answered(IS_STOPPED, if self.left.get() == 0 { "yes" } else { "no" });
        self.state.borrow().is_stopped()
    }
    fn sleep(&self) {
        sleeps();
    }
}

/// The world is stopped; as `sched/stw.rs` in `start_the_world`.
fn start_the_world() -> String {
    let world = World::mine(whether("under the lock: another stopper is in the line"));
    let mut state = world.state.borrow_mut();
    state.begin_stop();
    (0..PROCS).for_each(|p| _ = state.hold(OwnedP::forge(PId(p))));
    let ps = state.resume();
    let all = ps.len() == PROCS as usize && !state.is_stopping() && state.held() == 0;
    ps.into_iter().for_each(|p| _ = p.discard());
    tell(if all { "the world runs: the Ps with a G are its own, the others are idle" } else { "some Ps are LOST" });
    let next = state.leave_line();
    tell(if state.is_first(&world.me) { "it STAYS in the line" } else { "it leaves the line" });
    world.wakes(next, &world.other);
    tell("wakep");
    "".to_owned()
}

/// The world is to stop, or not; as `sched/central.rs` in `releasep`.
fn releasep() -> String {
    let is_to_stop = any_of(2) == 1;
    let world = if is_to_stop { World::to_stop() } else { World::mine(any_of(2) == 1) };
    if !world.state.borrow().is_stopping() {
        tell(if is_to_stop {
            "it idles its P, THOUGH the world is to stop"
        } else {
            "it idles its P: the world is not to stop"
        });
        return "".to_owned();
    }
    let noted = world.hold();
    answered("its P is held", world.are_held());
    world.wakes(noted, &world.me);
    "".to_owned()
}

/// In a stopped world: one P more, or one less. As `sched/stw.rs` in `procresize`.
fn resizes() -> String {
    let (mut held, mut spare) = (vec![OwnedP::forge(PId(1)), OwnedP::forge(PId(0))], vec![OwnedP::forge(PId(2))]);
    let procs = if ask("so many Ps are wanted", &["more", "fewer"]) == 0 { 3 } else { 1 };
    procresize(&mut held, &mut spare, procs, |p| {
        assert_eq!(p.id(), PId(1), "the last ends");
        while whether(LEFT) {}
        tell("its Gs come before those in the global queue");
    });
    tell(match (held.len(), spare.len()) {
        (3, 0) => "a spare P is held",
        (1, 2) => "the P is spare",
        _ => "a P is LOST",
    });
    held.into_iter().chain(spare).for_each(|p| _ = p.discard());
    "a world of another size".to_owned()
}

struct Others;

impl safepoint::Neighbours for Others {
    fn begin(&self) -> Vec<OwnedP> {
        let idle = ask("under the lock: the function is wanted under each P; idle Ps", &["none", "one"]);
        (0..idle as u32).map(|n| OwnedP::forge(PId(1 + n))).collect()
    }
    fn take_from_syscalls(&self) -> Vec<OwnedP> {
        let away = ask("takes every P that is in a system call", &["none", "one"]);
        (0..away as u32).map(|n| OwnedP::forge(PId(2 + n))).collect()
    }
    fn pass(&self, p: OwnedP) {
        tell(
            ["runs it under its own P", "runs it under an idle P", "runs it under a P of a system call"]
                [p.discard().index()],
        );
    }
    fn finish(&self) {
        tell("sleeps until it has run under each P");
    }
}
