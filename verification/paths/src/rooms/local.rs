//! `queues/local.rs`: a ring and `runnext`, told as `runq` tells a ring.

use super::runq::{NEXT_AND_MINE, NEXT_AND_RING, OLD, are_those_read, given, is, none, was_read, with, world};
use super::straight;
use crate::host::{Havoc, tell, words};
use crate::path::{Operation, Room};
use kernel::queues::local::LocalQueue;
use kernel::queues::runq::Spilled;
use kernel::types::g::G;
use kernel::types::p::Turn;

/// A ring that is full is seen so, is full no more when half of it is to be spilled, and is looked at again.
const PUTS: &[&str] = &["head.load", "slot.load"];

pub(super) static ROOM: Room = Room {
    name: "local",
    words: NEXT_AND_RING,
    operations: &[
        Operation {
            name: "put",
            heads: PUTS,
            run: || {
                let queue = queue_to_put();
                queue.put(given(), spills);
                "queued".to_owned()
            },
        },
        Operation {
            name: "put, by a G that yields",
            heads: PUTS,
            run: || {
                queue_to_put().put(given(), spills);
                "yields".to_owned()
            },
        },
        Operation {
            name: "put_next",
            heads: PUTS,
            run: || {
                let queue = queue_to_put();
                let g = given();
                with(|view| view.given = OLD);
                queue.put_next(g, spills);
                "queued".to_owned()
            },
        },
        gets("get", || got(queue().get(&mut Turn::default(), 1))),
        gets("get, when the ring has its turn", || got(queue().get(&mut Turn::default(), 0))),
        steal("steal_some"),
        steal("steal_some, into its own"),
        Operation {
            name: "is_empty",
            heads: &["head.load"],
            run: || {
                let queue = queue();
                with(|view| view.asks = true);
                if queue.is_empty() { "true: it was, at some moment" } else { "false" }.to_owned()
            },
        },
        straight("len", || {
            queue().len();
            "the number".to_owned()
        }),
    ],
};

const fn gets(name: &'static str, run: fn() -> String) -> Operation {
    Operation { name, heads: &["slot.load"], run }
}

const fn steal(name: &'static str) -> Operation {
    let heads = &["head.load", "mine.slot.store the G that it read, into the next slot"];
    let run = || {
        let capacity = world(NEXT_AND_RING);
        with(|view| view.first_slot = 3);
        let queue = LocalQueue::<Havoc>::new(capacity);
        words(NEXT_AND_MINE);
        let mine = LocalQueue::<Havoc>::new(capacity);
        match queue.steal_some(&mine, true, || tell("backs off")) {
            Some((g, 1)) if g.id() == OLD => "the one in runnext".to_owned(),
            Some((g, n)) => is(was_read(&g, 0) && n == with(|view| view.read), "the oldest, and how many it read"),
            None => none(),
        }
    };
    Operation { name, heads, run }
}

fn queue() -> LocalQueue<Havoc> {
    let capacity = world(NEXT_AND_RING);
    with(|view| view.first_slot = 3);
    LocalQueue::new(capacity)
}

fn queue_to_put() -> LocalQueue<Havoc> {
    let queue = queue();
    with(|view| view.puts = true);
    queue
}

/// What the caller does with the half of a full ring, and the G after it.
fn spills(half: Spilled<'_, Havoc, 32>, g: G) {
    let gs: Vec<G> = half.collect();
    let is_all = are_those_read(&gs) && gs.len() == with(|view| view.read) && g.id() == with(|view| view.given);
    tell(is(is_all, "spills all that it claimed, and the G"));
}

fn got(g: Option<G>) -> String {
    match g {
        Some(g) if g.id() == OLD => "the one in runnext".to_owned(),
        Some(g) => is(was_read(&g, 0), "the G that it read"),
        None => none(),
    }
}
