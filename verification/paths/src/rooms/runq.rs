//! `queues/runq.rs`.
//!
//! Cursors and slots are told by what they are to the operation: the slot at the head that it saw, the tail past what it wrote. So a path
//! is the same wherever the cursors are, and in a ring of any size: it is played in rings of 2, 4 and 8, at a cursor that wraps around and at
//! one that does not, and whether a slot is free, or a number is half of what there was, is reckoned here.

use super::straight;
use crate::host::{Access, Domain, Havoc, Telling, any_of, whether, words};
use crate::path::{Operation, Room};
use kernel::queues::runq::{Capacity, Full, RunQueue};
use kernel::types::g::G;
use std::cell::RefCell;
use std::num::NonZeroU64;

pub(super) static ROOM: Room = Room {
    name: "runq",
    words: RING,
    operations: &[
        straight("put", || match ring_to_put().put(given()) {
            Ok(()) => "".to_owned(),
            Err(Full(g)) => is(g == next_given(0), "full, and the G comes back"),
        }),
        Operation {
            name: "put_batch",
            heads: &["another G is to be put"],
            run: || {
                let mut gs = std::iter::from_fn(|| whether("another G is to be put").then(given));
                let n = ring_to_put().put_batch(&mut gs);
                is(n == with(|view| view.written), "how many it wrote")
            },
        },
        Operation {
            name: "get",
            heads: &["slot.load"],
            run: || ring().get().map_or_else(none, |g| is(was_read(&g, 0), "the G that it read")),
        },
        Operation {
            name: "spill_half",
            heads: &["slot.load"],
            run: || match ring().spill_half() {
                None => none(),
                Some(half) => {
                    let gs: Vec<G> = half.collect();
                    is(gs.len() == with(|view| view.read) && are_those_read(&gs), "all that it claimed, in order")
                }
            },
        },
        steal("steal_some"),
        // The same, as what it does to its own ring.
        steal("steal_some, into its own"),
        straight("len", || {
            let n = ring().len();
            is(n == with(|view| view.distance().min(view.capacity)), "the distance, or the capacity")
        }),
        straight("is_empty", || ring().is_empty().to_string()),
    ],
};

const fn steal(name: &'static str) -> Operation {
    let heads = &["head.load", "mine.slot.store the G that it read, into the next slot"];
    let run = || {
        let ring = ring();
        words(MINE);
        let mine = RunQueue::<Havoc>::new(Capacity::new(ring.capacity()).expect("it is one"));
        match ring.steal_some(&mine) {
            None => none(),
            Some((g, n)) => is(was_read(&g, 0) && n == with(|view| view.read), "the oldest, and how many it read"),
        }
    };
    Operation { name, heads, run }
}

/// What the operation knows of the ring.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    capacity: usize,
    /// Where the first cursor is that it reads.
    begins: u32,
    /// The cursors as it saw them. Once both are read they are read again, one or both.
    head: Option<u32>,
    tail: Option<u32>,
    /// It asks whether there was ever a G: once both are read it reads the tail again.
    pub(super) asks: bool,
    pub(super) first_slot: usize,
    /// How many slots it has read from there on, and how many it has claimed and is to read.
    pub(super) read: usize,
    claimed: usize,
    /// How many it has written, from the tail on, and how many are free; in its own ring, if it is a thief.
    written: usize,
    free: usize,
    /// The tail of its own ring.
    mine: Option<u32>,
    /// It puts: all that matters is whether there is room.
    pub(super) puts: bool,
    pub(super) given: u64,
}

thread_local!(static VIEW: RefCell<View> = RefCell::default());

pub(super) fn with<T>(act: impl FnOnce(&mut View) -> T) -> T {
    VIEW.with_borrow_mut(act)
}

impl View {
    /// How far the tail is from the head.
    fn distance(&self) -> usize {
        self.tail.unwrap_or(0).wrapping_sub(self.head.unwrap_or(0)) as usize
    }

    /// In words.
    fn there_are(&self) -> String {
        let distance = self.distance();
        match () {
            () if self.puts && distance < self.capacity => "fewer than fit",
            () if distance == 0 => "none",
            // To a thief a full ring is like any other.
            () if distance < self.capacity || distance == self.capacity && self.mine.is_some() => "some",
            () if distance == self.capacity => "as many as fit",
            () => "more than fit",
        }
        .to_owned()
    }

    /// A cursor is read. A second time, if both were.
    fn sees(&mut self, head: Option<u32>, tail: Option<u32>) -> String {
        if self.head.is_some() && self.tail.is_some() {
            if self.asks && tail.is_some() {
                return if self.tail == tail { "as before" } else { "another" }.to_owned();
            }
            (self.head, self.tail) = (None, None);
        }
        (self.read, self.claimed, self.written) = (0, 0, 0);
        (self.head, self.tail) = (head.or(self.head), tail.or(self.tail));
        if self.head.is_none() || self.tail.is_none() {
            return String::new();
        }
        self.free = self.capacity.saturating_sub(self.distance());
        self.there_are()
    }
}

/// A ring of some size, with its cursors somewhere.
fn ring() -> RunQueue<Havoc> {
    RunQueue::new(world(RING))
}

fn ring_to_put() -> RunQueue<Havoc> {
    let ring = ring();
    with(|view| view.puts = true);
    ring
}

pub(super) fn world(of: &'static [Domain]) -> Capacity {
    let (capacity, begins) = [(2, u32::MAX), (4, 1000), (4, u32::MAX), (8, u32::MAX - 1)][any_of(4)];
    VIEW.set(View { capacity, begins, first_slot: 2, ..View::default() });
    words(of);
    Capacity::new(capacity).expect("it is one")
}

pub(super) fn none() -> String {
    "none".to_owned()
}

pub(super) fn is(right: bool, what: &str) -> String {
    if right { what.to_owned() } else { format!("NOT {what}") }
}

/// The `n`th G that is given to be put.
fn next_given(n: u64) -> G {
    G::from_raw(NonZeroU64::MIN.saturating_add(n))
}

pub(super) fn given() -> G {
    with(|view| {
        view.given += 1;
        next_given(view.given - 1)
    })
}

/// What is in a slot: no G that is given is.
fn in_slot(slot: usize) -> u64 {
    100 + slot as u64
}

/// Was it the `n`th that was read?
pub(super) fn was_read(g: &G, n: usize) -> bool {
    with(|view| {
        let slot = view.head.unwrap_or(0).wrapping_add(n as u32) as usize % view.capacity;
        n < view.read && g.id() == in_slot(slot)
    })
}

pub(super) fn are_those_read(gs: &[G]) -> bool {
    gs.iter().enumerate().all(|(n, g)| was_read(g, n))
}

const HEAD: Domain = Domain {
    name: "head",
    answers: |access| {
        with(|view| match (access, view.tail) {
            // Another is further on, up to the tail; a thief or one that spills does not look where.
            (Access::Exchange(head, _), Some(tail)) => {
                let further = tail.wrapping_sub(head as u32);
                let all = [0, 1, further].map(|n| u64::from((head as u32).wrapping_add(n)));
                all[..if further > 1 { 3 } else { 2 }].to_vec()
            }
            (_, Some(tail)) if view.head.is_none() => {
                (0..=view.capacity).map(|n| u64::from(tail.wrapping_sub(n as u32))).collect()
            }
            _ => vec![u64::from(view.begins)],
        })
    },
    telling: Telling::Relative(head_act, |access, was| {
        with(|view| match access {
            Access::Exchange(head, _) if was == head => {
                view.claimed = if view.read == 0 { view.capacity / 2 } else { 0 };
                "done".to_owned()
            }
            Access::Exchange(..) => {
                (view.head, view.read) = (Some(was as u32), 0);
                format!("found another, {}", view.there_are())
            }
            _ => view.sees(Some(was as u32), None),
        })
    }),
};

fn head_act(access: Access) -> String {
    with(|view| {
        let Access::Exchange(current, new) = access else {
            let is_after = view.head.is_none() && view.tail.is_some();
            return if is_after { "load, after the tail" } else { "load" }.to_owned();
        };
        let of = if Some(current as u32) == view.head { "" } else { "of another head, " };
        let by = (new as u32).wrapping_sub(current as u32) as usize;
        let half = view.distance().div_ceil(2);
        let past = match (by, view.read) {
            (_, 0) if by == view.capacity / 2 => "past half of the slots".to_owned(),
            (1, 1) if view.mine.is_none() || half == 1 => "past the one that it read".to_owned(),
            _ if by == view.read && view.mine.is_some() && by == half => {
                "past all that it read, half of what there was".to_owned()
            }
            _ => format!("by {by}, and {} were read", view.read),
        };
        format!("exchange {of}{past}")
    })
}

const TAIL: Domain = Domain {
    name: "tail",
    answers: |_| {
        with(|view| match (view.head, view.tail) {
            (Some(_), Some(tail)) if view.asks => [0, 1].map(|n| u64::from(tail.wrapping_add(n))).to_vec(),
            // Its own.
            (Some(_), Some(tail)) => vec![u64::from(tail)],
            // A thief may see a tail that is much newer.
            (Some(head), None) => {
                let most = view.capacity + if view.mine.is_some() { 2 } else { 0 };
                (0..=most).map(|n| u64::from(head.wrapping_add(n as u32))).collect()
            }
            _ => vec![u64::from(view.begins)],
        })
    },
    telling: Telling::Relative(
        |access| {
            with(|view| if let Access::Store(to) = access { stores(view, view.tail, to) } else { "load".to_owned() })
        },
        |access, was| {
            with(|view| if access == Access::Load { view.sees(None, Some(was as u32)) } else { String::new() })
        },
    ),
};

/// A tail is moved.
fn stores(view: &View, tail: Option<u32>, to: u64) -> String {
    let by = (to as u32).wrapping_sub(tail.unwrap_or(0)) as usize;
    if by == view.written {
        return "store past what it wrote".to_owned();
    }
    format!("store by {by}, and {} were written", view.written)
}

const SLOT: Domain = Domain {
    name: "slot",
    answers: |_| vec![with(|view| in_slot(crate::host::word() - view.first_slot))],
    telling: Telling::Relative(
        |access| {
            with(|view| {
                if let Access::Store(g) = access { writes(view, view.tail, g == view.given) } else { "load".to_owned() }
            })
        },
        |access, _| {
            with(|view| {
                if access != Access::Load {
                    view.written += 1;
                    return String::new();
                }
                let slot = (crate::host::word() - view.first_slot) as u32;
                let at = slot.wrapping_sub(view.head.unwrap_or(0)) as usize % view.capacity;
                view.read += 1;
                match () {
                    () if at + 1 != view.read => format!("one at {at}, as the {}th", view.read),
                    () if view.read == view.claimed => "the last that it claimed".to_owned(),
                    () => "the next".to_owned(),
                }
            })
        },
    ),
};

/// A slot is written.
fn writes(view: &View, tail: Option<u32>, right: bool) -> String {
    let slot = (crate::host::word() - view.first_slot) as u32;
    let at = slot.wrapping_sub(tail.unwrap_or(0)) as usize % view.capacity;
    let g = match (right, view.mine.is_some()) {
        (true, false) => "the G",
        (true, true) => "the G that it read",
        (false, _) => "ANOTHER G",
    };
    let into = if at == view.written {
        "the next slot".to_owned()
    } else {
        format!("the slot at {at}, as the {}th", view.written)
    };
    format!("store {g}, into {into}{}", if view.written < view.free { "" } else { ", WHICH IS NOT FREE" })
}

const RING: &[Domain] = &[HEAD, TAIL, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT];
/// `runnext`, as it is to its queue.
const NEXT: Domain = Domain {
    name: "runnext",
    answers: |_| vec![0, OLD],
    telling: Telling::Values(|value| {
        match value {
            0 => "none",
            OLD => "a G",
            _ => "the G",
        }
        .to_owned()
    }),
};
/// The G that is in `runnext` already.
pub(super) const OLD: u64 = 99;
pub(super) const NEXT_AND_RING: &[Domain] = &[NEXT, HEAD, TAIL, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT];
pub(super) const NEXT_AND_MINE: &[Domain] = &[
    MINE_NEXT, MINE_HEAD, MINE_TAIL, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT,
    MINE_SLOT,
];
const MINE_NEXT: Domain = Domain { name: "mine.runnext", ..NEXT };
const MINE: &[Domain] =
    &[MINE_HEAD, MINE_TAIL, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT, MINE_SLOT];

/// A thief's own tail is where it likes.
const MINE_TAIL: Domain = Domain {
    name: "mine.tail",
    answers: |_| vec![with(|view| u64::from(view.begins.wrapping_add(2)))],
    telling: Telling::Relative(
        |access| {
            with(|view| if let Access::Store(to) = access { stores(view, view.mine, to) } else { "load".to_owned() })
        },
        |access, was| {
            if access == Access::Load {
                with(|view| view.mine = Some(was as u32));
            }
            String::new()
        },
    ),
};
/// And its ring is half empty, at least.
const MINE_HEAD: Domain = Domain {
    name: "mine.head",
    answers: |_| {
        with(|view| [0, view.capacity / 2].map(|n| u64::from(view.mine.unwrap_or(0).wrapping_sub(n as u32))).to_vec())
    },
    telling: Telling::Relative(
        |_| "load".to_owned(),
        |_, was| {
            with(|view| {
                view.written = 0;
                view.free = view.capacity - view.mine.unwrap_or(0).wrapping_sub(was as u32) as usize;
            });
            String::new()
        },
    ),
};
const MINE_SLOT: Domain = Domain {
    name: "mine.slot",
    answers: |_| Vec::new(),
    telling: Telling::Relative(
        |access| {
            let Access::Store(g) = access else { return "load".to_owned() };
            with(|view| {
                let last =
                    view.head.unwrap_or(0).wrapping_add(view.read as u32).wrapping_sub(1) as usize % view.capacity;
                writes(view, view.mine, g == in_slot(last))
            })
        },
        |_, _| {
            with(|view| view.written += 1);
            String::new()
        },
    ),
};
