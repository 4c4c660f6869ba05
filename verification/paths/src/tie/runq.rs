//! `queues/runq.rs`, `queues/runnext.rs`, and the test for emptiness of `queues/local.rs` in the words of the drawing `runq`.

use super::{Context, Drawing, Reading, the};
use crate::path::Edge;
use spinpark_parameterized::logic::{Formula, Places, all, and, implies, not, or};
use spinpark_parameterized::runq::{self, *};
use spinpark_parameterized::system::Transition;

pub(super) static DRAWING: Drawing = Drawing {
    name: "runq",
    system: runq::system,
    dictionary: read,
    begins: &[
        ("runq::put", AWAY),
        ("runq::put_batch", AWAY),
        ("runq::get", AWAY),
        ("runq::spill_half", AWAY),
        ("runq::steal_some", AWAY),
        ("runq::steal_some, into its own", AWAY),
        ("runq::len", AWAY),
        ("runq::is_empty", AWAY),
        ("local::put", AWAY),
        ("local::put, by a G that yields", AWAY),
        ("local::put_next", AWAY),
        ("local::get", AWAY),
        ("local::get, when the ring has its turn", AWAY),
        ("local::steal_some", AWAY),
        ("local::steal_some, into its own", AWAY),
        ("local::is_empty", AWAY),
        ("local::len", AWAY),
        ("runnext::put", AWAY),
        ("runnext::take", AWAY),
        ("runnext::steal", AWAY),
        ("runnext::is_set", AWAY),
    ],
    ends: |what| match what {
        what if what.starts_with("NOT ") => Places::of(&[]),
        "true: it was, at some moment" => Places::of(&[SAYS_EMPTY]),
        _ => Places::of(&[AWAY]),
    },
    open: &["head.", "tail.", "slot.", "runnext.", "mine."],
    words: &[&["head.", "tail.", "slot.", "runnext.", "mine.", "puts the rest", "spills"]],
    within: &["globq::get_batch"],
    left_out: &[],
    elsewhere: &[("a P's ring goes with the P", &["owner_changes"]), ("the call is over", &["ends_asking"])],
    sizes: &[&[2, 2], &[2, 3]],
    steps: (12_000, 40),
};

fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let answers: Vec<&str> = edge.answers.iter().map(String::as_str).collect();
    let act = edge.step.act.as_str();
    let (room, operation) = context.operation.split_once("::").unwrap_or_default();
    match (room, operation) {
        // A number for display, or asked by the owner.
        (_, "len") | ("runq", "is_empty") | ("runnext", "is_set") => Reading::Step,
        (_, "is_empty") => asks(act, &answers, t, context),
        (_, "steal_some, into its own") => fills(act, &answers, t, context),
        _ if act.starts_with("runnext.") => runnext(act, &answers, t, context),
        (_, "steal_some") => steals(act, &answers, t, context),
        (_, "get" | "get, when the ring has its turn") => gets(act, &answers, t, context),
        _ => match puts(act, &answers, t, context) {
            Reading::Unknown => spills(act, &answers, t, context),
            reading => reading,
        },
    }
}

fn runnext(act: &str, answers: &[&str], t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    if !context.operation.contains("::steal") {
        t.when(OWNER.of([m]));
    }
    match (act, answers) {
        ("runnext.load", _) => (),
        ("runnext.swap the G", ["none"]) => _ = t.when(not(NEXT.of([]))).assign(NEXT, |_| Formula::Is(true)),
        // The one that was there is displaced.
        ("runnext.swap the G", ["a G"]) => _ = t.when(NEXT.of([])),
        ("runnext.swap none", ["a G"]) => {
            t.when(NEXT.of([])).assign(NEXT, |_| Formula::Is(false)).may_empty();
        }
        ("runnext.swap none", ["none"]) => _ = t.when(not(NEXT.of([]))),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

/// The G goes into the slot of the next put, which is free.
fn writes(t: &mut Transition, context: &Context) {
    let x = the(t, "x", X);
    t.when(not(WRITTEN.of([x]))).when(all("y", X, |y| implies(BEFORE.of([y, x]), WRITTEN.of([y]))));
    t.when(all("w", X, |w| implies(REUSES.of([x, w]), SAW_HEAD.of([context.m, w]))));
    t.set(WRITTEN, &[x]).assign(GONE, |w| or([GONE.of([w[0]]), REUSES.of([x, w[0]])]));
}

fn puts(act: &str, answers: &[&str], t: &mut Transition, context: &Context) -> Reading {
    match (act, answers) {
        ("head.load", [""]) => _ = t.when(OWNER.of([context.m])).notes(context.m, SAW_HEAD, CONSUMED),
        ("tail.load", ["as many as fit"]) => _ = t.gives_up(),
        // Its own tail, where only it puts: that a slot is free stands at the store.
        ("tail.load", ["fewer than fit"]) | ("another G is to be put", _) => (),
        ("slot.store the G, into the next slot", _) => writes(t, context),
        // Nothing: the ring is full.
        ("tail.store past what it wrote", _) if context.place == AWAY => (),
        ("tail.store past what it wrote", _) => _ = t.assign(PUBLISHED, |x| WRITTEN.of([x[0]])),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

fn gets(act: &str, answers: &[&str], t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    match (act, answers) {
        // Its own.
        ("tail.load", [""]) => (),
        ("head.load, after the tail", ["none"]) => _ = t.when(OWNER.of([m])).when(ring_is_empty()),
        ("head.load, after the tail", ["as many as fit", "some"]) => {
            t.when(OWNER.of([m])).when(not(ring_is_empty())).notes(m, SAW_TAIL, PUBLISHED).notes(m, SAW_HEAD, CONSUMED);
        }
        ("slot.load", ["the next"]) => reads(t, context),
        ("head.exchange past the one that it read", ["done"]) => takes(t, context),
        ("head.exchange past the one that it read", ["found another, none"]) => {
            t.when(not(is_where_seen(m))).when(ring_is_empty()).forgets(m);
        }
        ("head.exchange past the one that it read", ["found another, some"]) => {
            t.when(not(is_where_seen(m))).when(not(ring_is_empty())).forgets(m).notes(m, SAW_HEAD, CONSUMED);
        }
        _ => return Reading::Unknown,
    }
    Reading::Step
}

fn reads(t: &mut Transition, context: &Context) {
    let x = the(t, "x", X);
    t.when(SAW_TAIL.of([context.m, x])).reads(context.m, x);
}

fn takes(t: &mut Transition, context: &Context) {
    let e = the(t, "e", X);
    t.when(is_where_seen(context.m)).gets(context.m, e);
}

fn spills(act: &str, answers: &[&str], t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    match (act, answers) {
        ("tail.load", [""]) => (),
        ("head.load, after the tail", ["none", "some"] | ["fewer than fit"]) => {
            _ = t.when(OWNER.of([m])).when(not(ring_is_full()))
        }
        ("head.load, after the tail", ["as many as fit"]) => {
            t.when(OWNER.of([m])).when(ring_is_full()).notes(m, SAW_HEAD, CONSUMED);
        }
        ("head.exchange past half of the slots", ["done"]) => {
            let e = the(t, "e", X);
            t.when(is_where_seen(m)).when(and([PUBLISHED.of([e]), not(CONSUMED.of([e]))])).claims(m, e);
        }
        ("head.exchange past half of the slots", _) => _ = t.when(not(is_where_seen(m))).forgets(m),
        ("slot.load", ["the next" | "the last that it claimed"]) => {
            let x = the(t, "x", X);
            let goes_on = answers == ["the next"];
            t.takes_claimed(m, x).when(if goes_on { has_claimed(m) } else { not(has_claimed(m)) });
        }
        ("spills all that it claimed, and the G", _) => (),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

const PAST_ONE: &str = "head.exchange past the one that it read";
const PAST_ALL: &str = "head.exchange past all that it read, half of what there was";
const INTO_MINE: &str = "mine.slot.store the G that it read, into the next slot";

/// What a thief does to the ring of another.
fn steals(act: &str, answers: &[&str], t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    match (act, answers) {
        ("mine.tail.load" | "mine.head.load" | INTO_MINE | "mine.tail.store past what it wrote" | "backs off", _) => (),
        ("head.load", _) => _ = t.notes(m, SAW_HEAD, CONSUMED),
        ("tail.load", ["none"]) => _ = t.when(sees_nothing(m)),
        ("tail.load", ["more than fit"]) => _ = t.when(sees_too_many(m)),
        ("tail.load", ["some"]) => {
            t.when(not(sees_nothing(m))).when(not(sees_too_many(m))).notes(m, SAW_TAIL, PUBLISHED);
        }
        ("slot.load", ["the next"]) => reads(t, context),
        (PAST_ONE | PAST_ALL, ["done"]) => takes(t, context),
        (PAST_ONE | PAST_ALL, _) => _ = t.when(not(is_where_seen(m))).forgets(m),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

/// What a thief does to its own ring, which is half empty at least.
fn fills(act: &str, answers: &[&str], t: &mut Transition, context: &Context) -> Reading {
    match (act, answers) {
        ("mine.head.load", _) => _ = t.when(OWNER.of([context.m])).notes(context.m, SAW_HEAD, CONSUMED),
        (INTO_MINE, _) => writes(t, context),
        ("mine.tail.store past what it wrote", _) => _ = t.assign(PUBLISHED, |x| WRITTEN.of([x[0]])),
        (PAST_ALL, ["done"]) | ("mine.tail.load" | "head.load" | "tail.load" | "slot.load" | "backs off", _) => (),
        _ if act.starts_with("runnext.") => (),
        // There was one, which it runs; or it has got none, and what it has begun to put there is not its own.
        (PAST_ONE | PAST_ALL, _) => _ = t.gives_up(),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

fn asks(act: &str, answers: &[&str], t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    match (act, answers) {
        ("head.load", _) => _ = t.notes(m, SAW_HEAD, CONSUMED).begins_to_ask(m),
        ("tail.load", ["none"]) => _ = t.when(sees_nothing(m)).notes(m, SAW_TAIL, PUBLISHED),
        ("tail.load", ["as many as fit", "some"]) => _ = t.when(not(sees_nothing(m))).clear(NEVER_EMPTY, &[m]),
        ("runnext.load", ["none"]) => _ = t.when(not(NEXT.of([]))),
        ("runnext.load", ["a G"]) => _ = t.when(NEXT.of([])).clear(NEVER_EMPTY, &[m]),
        ("tail.load", ["as before"]) => _ = t.when(saw_all(m)),
        ("tail.load", ["another"]) => _ = t.when(not(saw_all(m))).clear(NEVER_EMPTY, &[m]),
        _ => return Reading::Unknown,
    }
    Reading::Step
}
