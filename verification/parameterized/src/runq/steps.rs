//! What may happen to a queue.

use super::*;
use crate::logic::{Rel, Var, and, implies, or, same, some};
use crate::system::Transition;

/// It is this one, or before it.
fn up_to(x: Var, end: Var) -> Formula {
    or([same(x, end), BEFORE.of([x, end])])
}

/// Its slot holds what was put there.
pub(super) fn is_there(x: Var) -> Formula {
    and([WRITTEN.of([x]), not(GONE.of([x]))])
}

pub(super) fn is_empty() -> Formula {
    and([not(NEXT.of([])), ring_is_empty()])
}

/// It is the first of those of which this does not hold.
fn is_next(x: Var, is: impl Fn(Var) -> Formula) -> Formula {
    and([not(is(x)), all("y", X, |y| implies(BEFORE.of([y, x]), is(y)))])
}

/// The thread has read its slot.
pub(super) fn has_read(m: Var, x: Var) -> Formula {
    or([READ.of([m, x]), MISREAD.of([m, x])])
}

/// The head is where the thread has seen it.
pub fn is_where_seen(m: Var) -> Formula {
    all("x", X, |x| {
        and([implies(SAW_HEAD.of([m, x]), CONSUMED.of([x])), implies(CONSUMED.of([x]), SAW_HEAD.of([m, x]))])
    })
}

/// So many Gs are below the tail, from the head on that the thread has seen, that one would be in the slot of another.
pub fn sees_too_many(m: Var) -> Formula {
    some("y", X, |y| some("w", X, |w| and([REUSES.of([y, w]), PUBLISHED.of([y]), not(SAW_HEAD.of([m, w]))])))
}

/// Below the tail is nothing, from the head on that the thread has seen.
pub fn sees_nothing(m: Var) -> Formula {
    all("x", X, |x| implies(PUBLISHED.of([x]), SAW_HEAD.of([m, x])))
}

/// No G is in the ring.
pub fn ring_is_empty() -> Formula {
    all("x", X, |x| implies(PUBLISHED.of([x]), CONSUMED.of([x])))
}

/// The next put would be into a slot that is not free.
pub fn ring_is_full() -> Formula {
    some("y", X, |y| {
        some("w", X, |w| and([is_next(y, |x| PUBLISHED.of([x])), REUSES.of([y, w]), not(CONSUMED.of([w]))]))
    })
}

impl Transition {
    /// The thread takes note of where a cursor is.
    pub fn notes(&mut self, m: Var, saw: Rel, cursor: Rel) -> &mut Self {
        self.assign(saw, |x| {
            or([and([same(x[0], m), cursor.of([x[1]])]), and([not(same(x[0], m)), saw.of([x[0], x[1]])])])
        })
    }

    /// What was written into slots, and is not below the tail, is forgotten.
    pub fn gives_up(&mut self) -> &mut Self {
        self.assign(WRITTEN, |x| PUBLISHED.of([x[0]]))
    }

    /// The thread reads the slot in which this was put, the first that it has not read.
    pub fn reads(&mut self, m: Var, x: Var) -> &mut Self {
        self.when(is_next(x, |x| or([SAW_HEAD.of([m, x]), has_read(m, x)])));
        let it = |y: &[Var]| and([same(y[0], m), same(y[1], x)]);
        self.assign(READ, |y| or([READ.of([y[0], y[1]]), and([it(y), is_there(x)])]));
        self.assign(MISREAD, |y| or([MISREAD.of([y[0], y[1]]), and([it(y), not(is_there(x))])]))
    }

    /// The thread forgets which slots it has read.
    pub fn forgets(&mut self, m: Var) -> &mut Self {
        self.clear_all(READ, &[m]).clear_all(MISREAD, &[m])
    }

    /// The head moves past this one.
    pub fn consumes(&mut self, e: Var) -> &mut Self {
        self.assign(CONSUMED, |x| or([CONSUMED.of([x[0]]), up_to(x[0], e)]));
        self.may_empty()
    }

    /// What may have emptied the queue ends that it never was.
    pub fn may_empty(&mut self) -> &mut Self {
        self.assign(NEVER_EMPTY, |x| and([NEVER_EMPTY.of([x[0]]), not(is_empty())]))
    }

    /// The thread gets what it has read, all up to this one.
    pub fn gets(&mut self, m: Var, e: Var) -> &mut Self {
        self.when(has_read(m, e)).when(all("x", X, |x| implies(BEFORE.of([e, x]), not(has_read(m, x)))));
        self.assign(GOT, |x| or([GOT.of([x[0], x[1]]), and([same(x[0], m), READ.of([m, x[1]])])]));
        self.assign(GOT_WRONG, |x| or([GOT_WRONG.of([x[0], x[1]]), and([same(x[0], m), MISREAD.of([m, x[1]])])]));
        self.consumes(e).forgets(m)
    }

    /// The thread claims all up to this one, and reads their slots after that.
    pub fn claims(&mut self, m: Var, e: Var) -> &mut Self {
        let is_new = |x: Var| and([up_to(x, e), not(CONSUMED.of([x]))]);
        self.assign(CLAIMED, |x| or([CLAIMED.of([x[0], x[1]]), and([same(x[0], m), is_new(x[1])])]));
        self.consumes(e)
    }

    /// The thread takes one of those out of its slot that it has claimed, the first.
    pub fn takes_claimed(&mut self, m: Var, x: Var) -> &mut Self {
        self.when(CLAIMED.of([m, x])).when(all("y", X, |y| implies(BEFORE.of([y, x]), not(CLAIMED.of([m, y])))));
        self.clear(CLAIMED, &[m, x]);
        let it = |y: &[Var]| and([same(y[0], m), same(y[1], x)]);
        self.assign(GOT, |y| or([GOT.of([y[0], y[1]]), and([it(y), is_there(x)])]));
        self.assign(GOT_WRONG, |y| or([GOT_WRONG.of([y[0], y[1]]), and([it(y), not(is_there(x))])]))
    }
}

/// Has the thread claimed what it has yet to read?
pub fn has_claimed(m: Var) -> Formula {
    some("c", X, |c| CLAIMED.of([m, c]))
}

pub(super) fn steps(variant: &str) -> Vec<Transition> {
    let mut steps = Steps { variant: variant.to_owned(), all: Vec::new() };
    puts(&mut steps);
    takes(&mut steps);
    gets_and_spills(&mut steps);
    asks(&mut steps);
    steps.all
}

struct Steps {
    variant: String,
    all: Vec<Transition>,
}

impl Steps {
    fn is(&self, name: &str) -> bool {
        self.variant == name
    }

    fn step(&mut self, name: &'static str, source: &'static str, make: impl FnOnce(&mut Transition, Var)) {
        let mut t = Transition::new(name, source);
        let m = t.for_each("m", T);
        make(&mut t, m);
        self.all.push(t);
    }
}

fn puts(steps: &mut Steps) {
    let (unpublished, anywhere) = (steps.is("publishes-before-it-writes"), steps.is("puts-without-room"));
    steps.step("owner_changes", "protocol/syscall.rs: take", |t, m| {
        let u = t.for_each("u", T);
        // It may still ask, or steal as any other does.
        t.when(not(among(m, OWNS))).from(u, AWAY).when(OWNER.of([m])).clear(OWNER, &[m]).set(OWNER, &[u]);
    });
    steps.step("begins_to_put", "queues/runq.rs: put, put_batch, steal_some", |t, m| {
        t.from(m, AWAY).when(OWNER.of([m])).notes(m, SAW_HEAD, CONSUMED).goes(m, PUTS);
    });
    steps.step("writes_slot", "queues/runq.rs: put, put_batch, steal_some", |t, m| {
        let x = t.for_each("x", X);
        t.from(m, PUTS).when(is_next(x, |x| WRITTEN.of([x])));
        if unpublished {
            t.when(PUBLISHED.of([x]));
        }
        if !anywhere {
            t.when(all("w", X, |w| implies(REUSES.of([x, w]), SAW_HEAD.of([m, w]))));
        }
        t.set(WRITTEN, &[x]).assign(GONE, |w| or([GONE.of([w[0]]), REUSES.of([x, w[0]])]));
    });
    steps.step("publishes", "queues/runq.rs: put, put_batch, steal_some", |t, m| {
        t.from(m, PUTS);
        if unpublished {
            let x = t.for_each("x", X);
            t.when(is_next(x, |x| PUBLISHED.of([x]))).set(PUBLISHED, &[x]);
        } else {
            t.assign(PUBLISHED, |x| WRITTEN.of([x[0]])).goes(m, AWAY);
        }
    });
    // The ring is full; or a thief loses what it has begun to put into its own.
    steps.step("gives_up", "queues/runq.rs: put, put_batch, steal_some", |t, m| {
        t.from(m, PUTS).gives_up().goes(m, AWAY);
    });
}

fn takes(steps: &mut Steps) {
    let (tail_first, early) = (steps.is("reads-tail-first"), steps.is("reads-slots-before-tail"));
    let (any, claims_first) = (steps.is("claims-whatever-came-between"), steps.is("claims-before-it-reads"));
    steps.step("reads_head", "queues/runq.rs: steal_some", |t, m| {
        t.from(m, AWAY).notes(m, SAW_HEAD, CONSUMED).goes(m, if tail_first { READS } else { TAKES });
    });
    if tail_first {
        steps.step("reads_old_tail", "queues/runq.rs: steal_some", |t, m| {
            t.from(m, AWAY).notes(m, SAW_TAIL, PUBLISHED);
        });
    }
    steps.step("reads_tail", "queues/runq.rs: steal_some", |t, m| {
        t.from(m, TAKES).when(not(sees_nothing(m))).when(not(sees_too_many(m)));
        t.notes(m, SAW_TAIL, PUBLISHED).goes(m, READS);
    });
    steps.step("sees_nothing", "queues/runq.rs: steal_some", |t, m| {
        t.from(m, TAKES).when(sees_nothing(m)).goes(m, AWAY);
    });
    steps.step("sees_two_times", "queues/runq.rs: steal_some", |t, m| {
        t.from(m, TAKES).when(sees_too_many(m)).goes(m, AWAY);
    });
    steps.step("reads_slot", "queues/runq.rs: steal_some, get", |t, m| {
        let x = t.for_each("x", X);
        if early {
            t.from_any(m, Places::of(&[TAKES, READS, GETS]));
        } else {
            t.from_any(m, Places::of(&[READS, GETS])).when(SAW_TAIL.of([m, x]));
        }
        t.reads(m, x);
    });
    steps.step("claims", "queues/runq.rs: steal_some, get", |t, m| {
        let e = t.for_each("e", X);
        t.from_any(m, Places::of(&[READS, GETS]));
        if !any {
            t.when(is_where_seen(m));
        }
        if claims_first {
            t.when(not(SAW_HEAD.of([m, e]))).when(SAW_TAIL.of([m, e])).claims(m, e).goes(m, SPILLS);
        } else {
            t.gets(m, e).goes(m, AWAY);
        }
    });
    steps.step("is_overtaken", "queues/runq.rs: steal_some, spill_half", |t, m| {
        t.from_any(m, Places::of(&[READS, FULL])).when(not(is_where_seen(m))).forgets(m).goes(m, AWAY);
    });
}

fn gets_and_spills(steps: &mut Steps) {
    // The tail is the owner's own.
    steps.step("sees_some", "queues/runq.rs: get", |t, m| {
        t.from(m, AWAY).when(OWNER.of([m])).when(not(ring_is_empty()));
        t.notes(m, SAW_TAIL, PUBLISHED).notes(m, SAW_HEAD, CONSUMED).goes(m, GETS);
    });
    steps.step("finds_less", "queues/runq.rs: get", |t, m| {
        t.from(m, GETS).when(not(is_where_seen(m))).when(not(ring_is_empty()));
        t.forgets(m).notes(m, SAW_HEAD, CONSUMED);
    });
    steps.step("finds_none", "queues/runq.rs: get", |t, m| {
        t.from(m, GETS).when(not(is_where_seen(m))).when(ring_is_empty()).forgets(m).goes(m, AWAY);
    });
    steps.step("sees_it_full", "queues/runq.rs: spill_half", |t, m| {
        t.from(m, AWAY).when(OWNER.of([m])).when(ring_is_full()).notes(m, SAW_HEAD, CONSUMED).goes(m, FULL);
    });
    steps.step("claims_to_spill", "queues/runq.rs: spill_half", |t, m| {
        let e = t.for_each("e", X);
        t.from(m, FULL).when(is_where_seen(m)).when(PUBLISHED.of([e])).when(not(CONSUMED.of([e])));
        t.claims(m, e).goes(m, SPILLS);
    });
    steps.step("takes_claimed", "queues/runq.rs: Spilled::next", |t, m| {
        let x = t.for_each("x", X);
        t.from(m, SPILLS).takes_claimed(m, x).when(has_claimed(m));
    });
    steps.step("takes_the_last", "queues/runq.rs: Spilled::next", |t, m| {
        let x = t.for_each("x", X);
        t.from(m, SPILLS).takes_claimed(m, x).when(not(has_claimed(m))).goes(m, AWAY);
    });
}

/// `runnext`, and whether the queue is empty.
fn asks(steps: &mut Steps) {
    let once = steps.is("asks-the-tail-once");
    steps.step("puts_next", "queues/runnext.rs: put", |t, m| {
        t.from(m, AWAY).when(OWNER.of([m])).when(not(NEXT.of([]))).assign(NEXT, |_| Formula::Is(true));
    });
    steps.step("takes_next", "queues/runnext.rs: take, steal", |t, m| {
        t.from(m, AWAY).when(NEXT.of([])).assign(NEXT, |_| Formula::Is(false)).may_empty();
    });
    steps.step("asks_head", "queues/runq.rs: looks_empty", |t, m| {
        t.from(m, AWAY).notes(m, SAW_HEAD, CONSUMED);
        t.begins_to_ask(m).goes(m, ASKS);
    });
    steps.step("asks_ring", "queues/runq.rs: looks_empty", |t, m| {
        t.from(m, ASKS).when(sees_nothing(m)).notes(m, SAW_TAIL, PUBLISHED).goes(m, RING_LOOKS_EMPTY);
    });
    steps.step("sees_the_ring", "queues/runq.rs: looks_empty", |t, m| {
        t.from(m, ASKS).when(not(sees_nothing(m))).clear(NEVER_EMPTY, &[m]).goes(m, AWAY);
    });
    steps.step("asks_next", "queues/local.rs: is_empty", |t, m| {
        t.from(m, RING_LOOKS_EMPTY).when(not(NEXT.of([]))).goes(m, if once { SAYS_EMPTY } else { NEXT_LOOKS_EMPTY });
    });
    steps.step("sees_next", "queues/local.rs: is_empty", |t, m| {
        t.from(m, RING_LOOKS_EMPTY).when(NEXT.of([])).clear(NEVER_EMPTY, &[m]).goes(m, AWAY);
    });
    steps.step("asks_tail", "queues/runq.rs: is_still_at", |t, m| {
        t.from(m, NEXT_LOOKS_EMPTY).when(saw_all(m)).goes(m, SAYS_EMPTY);
    });
    steps.step("sees_a_put", "queues/runq.rs: is_still_at", |t, m| {
        t.from(m, NEXT_LOOKS_EMPTY).when(not(saw_all(m))).clear(NEVER_EMPTY, &[m]).goes(m, AWAY);
    });
    steps.step("ends_asking", "queues/local.rs: is_empty", |t, m| {
        t.from(m, SAYS_EMPTY).clear(NEVER_EMPTY, &[m]).goes(m, AWAY);
    });
}

impl Transition {
    /// From now on it is noted whether the queue was ever empty.
    pub fn begins_to_ask(&mut self, m: Var) -> &mut Self {
        self.assign(NEVER_EMPTY, |x| {
            or([and([same(x[0], m), not(is_empty())]), and([not(same(x[0], m)), NEVER_EMPTY.of([x[0]])])])
        })
    }
}

/// The tail is where the thread has seen it.
pub fn saw_all(m: Var) -> Formula {
    all("x", X, |x| implies(PUBLISHED.of([x]), SAW_TAIL.of([m, x])))
}
