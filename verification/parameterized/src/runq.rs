//! The run queue: each G that is put is taken exactly once, nothing is lost, for any capacity and any number of thieves.
//!
//! A put is an element, as is its position: the cursors are sets of positions, closed downwards. `reuses(y, x)` says that y is put
//! into the slot in which x was, a round before; nothing else is said of the capacity. So a ring has as many slots as it likes.
//!
//! The ring that a thief fills is one more ring: it puts there what it stole, as its owner, in one batch.

use crate::finite::{Finite, State, Universe};
use crate::logic::{Formula, Places, Sort, Var, all, among, and, at, implies, not, or, same, some};
use crate::system::{Conjunct, System, Transition, Variant, places, relations};

/// Threads.
pub const T: Sort = Sort("T");
/// Puts, in order.
pub const X: Sort = Sort("X");

relations! {
    /// This put comes before that. Never changes.
    BEFORE = "before"(X, X);
    /// This put uses the slot of that one again. Never changes.
    REUSES = "reuses"(X, X);
    /// It is the owner.
    OWNER = "owner"(T);
    /// Its slot is written.
    WRITTEN = "written"(X);
    /// It is below `tail`.
    PUBLISHED = "published"(X);
    /// It is below `head`.
    CONSUMED = "consumed"(X);
    /// It is below the `head` that this thread has read.
    SAW_HEAD = "saw_head"(T, X);
    /// It is below the `tail` that this thread has read.
    SAW_TAIL = "saw_tail"(T, X);
    /// This thread has read its slot, and found it there.
    READ = "read"(T, X);
    /// This thread has read its slot, and found another G there.
    MISREAD = "misread"(T, X);
    /// This thread has claimed it, and reads its slot after that.
    CLAIMED = "claimed"(T, X);
    /// This thread has got it.
    GOT = "got"(T, X);
    /// This thread has got something else instead.
    GOT_WRONG = "got_wrong"(T, X);
    /// `runnext` holds a G.
    NEXT = "next"();
    /// Since this thread began to ask whether the queue is empty, it never was.
    NEVER_EMPTY = "never_empty"(T);
}

places! {
    /// It does nothing with this ring.
    AWAY;
    /// It puts: it has read `head`.
    PUTS;
    /// It takes: it has read `head`.
    TAKES;
    /// It takes: it has read `tail` after that.
    READS;
    /// It has claimed half of a full ring.
    SPILLS;
    /// It asks whether the queue is empty: the ring looked so.
    RING_LOOKS_EMPTY;
    /// And `runnext` did.
    NEXT_LOOKS_EMPTY;
    /// It says that the queue was empty.
    SAYS_EMPTY;
}

/// The protocol; or with one step wrong, if `variant` names it.
pub fn system(variant: &str) -> System {
    System {
        name: "runq",
        about: "the run queue: each G that is put is taken once, and none is lost",
        memory: "SC",
        sorts: &[T, X],
        places: PLACES,
        relations: RELATIONS,
        axioms: axioms(),
        initial: initial(),
        begins,
        transitions: steps(variant),
        invariant: invariant(),
        safety: safety(),
        sizes: &[&[1, 1], &[2, 2], &[2, 3], &[3, 3], &[3, 4]],
    }
}

fn axioms() -> Vec<Formula> {
    vec![
        all("x", X, |x| not(BEFORE.of([x, x]))),
        all("x", X, |x| all("y", X, |y| or([same(x, y), BEFORE.of([x, y]), BEFORE.of([y, x])]))),
        all("x", X, |x| {
            all("y", X, |y| all("z", X, |z| implies(and([BEFORE.of([x, y]), BEFORE.of([y, z])]), BEFORE.of([x, z]))))
        }),
        all("y", X, |y| all("x", X, |x| implies(REUSES.of([y, x]), BEFORE.of([x, y])))),
    ]
}

fn initial() -> Vec<Formula> {
    let mut facts = vec![
        all("t", T, |t| at(t, AWAY)),
        not(NEXT.of([])),
        all("t", T, |t| all("u", T, |u| implies(and([OWNER.of([t]), OWNER.of([u])]), same(t, u)))),
    ];
    facts.extend([WRITTEN, PUBLISHED, CONSUMED].map(|rel| all("x", X, |x| not(rel.of([x])))));
    facts.extend(
        [SAW_HEAD, SAW_TAIL, READ, MISREAD, CLAIMED, GOT, GOT_WRONG]
            .map(|rel| all("t", T, |t| all("x", X, |x| not(rel.of([t, x]))))),
    );
    facts.push(all("t", T, |t| not(NEVER_EMPTY.of([t]))));
    facts
}

/// For each capacity: the slot of the put so many before.
fn begins(system: &System, sizes: Universe) -> Vec<State> {
    let finite = Finite::new(system, sizes);
    let n = sizes[1] as u8;
    let with = |capacity: u8| {
        let mut state = State::EMPTY;
        finite.put(&mut state, OWNER, &[0], true);
        for y in 0..n {
            (0..y).for_each(|x| finite.put(&mut state, BEFORE, &[x, y], true));
            if y >= capacity {
                finite.put(&mut state, REUSES, &[y, y - capacity], true);
            }
        }
        state
    };
    (1..=n).map(with).collect()
}

/// It is this one, or before it.
fn up_to(x: Var, end: Var) -> Formula {
    or([same(x, end), BEFORE.of([x, end])])
}

/// Its slot holds what was put there.
fn is_there(x: Var) -> Formula {
    and([WRITTEN.of([x]), not(some("y", X, |y| and([REUSES.of([y, x]), WRITTEN.of([y])])))])
}

fn is_empty() -> Formula {
    and([not(NEXT.of([])), all("x", X, |x| or([not(PUBLISHED.of([x])), CONSUMED.of([x])]))])
}

fn steps(variant: &str) -> Vec<Transition> {
    let is = |name: &str| variant == name;
    let mut steps = Vec::new();
    let mut step = |name, source, make: &dyn Fn(&mut Transition)| {
        let mut t = Transition::new(name, source);
        make(&mut t);
        steps.push(t);
    };
    // What may have emptied the queue ends that it never was.
    let may_empty = |t: &mut Transition| {
        t.assign(NEVER_EMPTY, |x| and([NEVER_EMPTY.of([x[0]]), not(is_empty())]));
    };
    step("owner_changes", "protocol/syscall.rs: take", &|t| {
        let (o, u) = (t.for_each("o", T), t.for_each("u", T));
        // It may still ask, or take as any other does.
        t.when(not(among(o, Places::of(&[PUTS, SPILLS])))).from(u, AWAY).when(OWNER.of([o]));
        t.clear(OWNER, &[o]).set(OWNER, &[u]);
    });
    step("begins_to_put", "queues/runq.rs: put, put_batch", &|t| {
        let o = t.for_each("o", T);
        t.from(o, AWAY).when(OWNER.of([o]));
        t.assign(SAW_HEAD, |x| {
            or([and([same(x[0], o), CONSUMED.of([x[1]])]), and([not(same(x[0], o)), SAW_HEAD.of([x[0], x[1]])])])
        });
        t.goes(o, PUTS);
    });
    let is_next = |x: Var, rel: crate::logic::Rel| {
        and([not(rel.of([x])), all("y", X, |y| implies(BEFORE.of([y, x]), rel.of([y])))])
    };
    step("writes_slot", "queues/runq.rs: put, put_batch", &|t| {
        let (o, x) = (t.for_each("o", T), t.for_each("x", X));
        t.from(o, PUTS).when(is_next(x, WRITTEN)).set(WRITTEN, &[x]);
        if is("publishes-before-it-writes") {
            t.when(PUBLISHED.of([x]));
        }
        if !is("puts-without-room") {
            t.when(all("w", X, |w| implies(REUSES.of([x, w]), SAW_HEAD.of([o, w]))));
        }
    });
    step("publishes", "queues/runq.rs: put, put_batch", &|t| {
        let o = t.for_each("o", T);
        t.from(o, PUTS);
        if is("publishes-before-it-writes") {
            let x = t.for_each("x", X);
            t.when(is_next(x, PUBLISHED)).set(PUBLISHED, &[x]);
        } else {
            t.assign(PUBLISHED, |x| WRITTEN.of([x[0]])).goes(o, AWAY);
        }
    });
    step("reads_head", "queues/runq.rs: steal_some, get", &|t| {
        let m = t.for_each("t", T);
        t.from(m, AWAY);
        t.assign(SAW_HEAD, |x| {
            or([and([same(x[0], m), CONSUMED.of([x[1]])]), and([not(same(x[0], m)), SAW_HEAD.of([x[0], x[1]])])])
        });
        t.goes(m, if is("reads-tail-first") { READS } else { TAKES });
    });
    if is("reads-tail-first") {
        step("reads_old_tail", "queues/runq.rs: steal_some", &|t| {
            let m = t.for_each("t", T);
            t.from(m, AWAY);
            t.assign(SAW_TAIL, |x| {
                or([and([same(x[0], m), PUBLISHED.of([x[1]])]), and([not(same(x[0], m)), SAW_TAIL.of([x[0], x[1]])])])
            });
        });
    }
    step("reads_tail", "queues/runq.rs: steal_some, get", &|t| {
        let m = t.for_each("t", T);
        t.from(m, TAKES);
        t.assign(SAW_TAIL, |x| {
            or([and([same(x[0], m), PUBLISHED.of([x[1]])]), and([not(same(x[0], m)), SAW_TAIL.of([x[0], x[1]])])])
        });
        t.goes(m, READS);
    });
    step("finds_none", "queues/runq.rs: steal_some, get", &|t| {
        let m = t.for_each("t", T);
        t.from(m, READS).clear_all(READ, &[m]).clear_all(MISREAD, &[m]).goes(m, AWAY);
    });
    step("reads_slot", "queues/runq.rs: steal_some, get", &|t| {
        let (m, x) = (t.for_each("t", T), t.for_each("x", X));
        if is("reads-slots-before-tail") {
            t.from_any(m, Places::of(&[TAKES, READS]));
        } else {
            t.from(m, READS).when(SAW_TAIL.of([m, x]));
        }
        t.when(not(SAW_HEAD.of([m, x])));
        t.when(is_there(x)).set(READ, &[m, x]);
    });
    step("misreads_slot", "queues/runq.rs: steal_some, get", &|t| {
        let (m, x) = (t.for_each("t", T), t.for_each("x", X));
        if is("reads-slots-before-tail") {
            t.from_any(m, Places::of(&[TAKES, READS]));
        } else {
            t.from(m, READS).when(SAW_TAIL.of([m, x]));
        }
        t.when(not(SAW_HEAD.of([m, x])));
        t.when(not(is_there(x))).set(MISREAD, &[m, x]);
    });
    step("claims", "queues/runq.rs: steal_some, get", &|t| {
        let (m, e) = (t.for_each("t", T), t.for_each("e", X));
        t.from(m, READS);
        let is_new = |x: Var| and([not(SAW_HEAD.of([m, x])), up_to(x, e)]);
        let claims_first = is("claims-before-it-reads");
        t.when(not(SAW_HEAD.of([m, e]))).when(SAW_TAIL.of([m, e]));
        if !is("claims-whatever-came-between") {
            t.when(all("x", X, |x| {
                and([implies(SAW_HEAD.of([m, x]), CONSUMED.of([x])), implies(CONSUMED.of([x]), SAW_HEAD.of([m, x]))])
            }));
        }
        if claims_first {
            t.assign(CLAIMED, |x| or([CLAIMED.of([x[0], x[1]]), and([same(x[0], m), is_new(x[1])])]));
        } else {
            t.when(all("x", X, |x| implies(is_new(x), or([READ.of([m, x]), MISREAD.of([m, x])]))));
            t.assign(GOT, |x| or([GOT.of([x[0], x[1]]), and([same(x[0], m), is_new(x[1]), READ.of([m, x[1]])])]));
            t.assign(GOT_WRONG, |x| {
                or([GOT_WRONG.of([x[0], x[1]]), and([same(x[0], m), is_new(x[1]), MISREAD.of([m, x[1]])])])
            });
        }
        t.assign(CONSUMED, |x| or([CONSUMED.of([x[0]]), up_to(x[0], e)]));
        t.clear_all(READ, &[m]).clear_all(MISREAD, &[m]);
        may_empty(t);
        t.goes(m, if claims_first { SPILLS } else { AWAY });
    });
    step("claims_to_spill", "queues/runq.rs: spill_half", &|t| {
        let (o, e) = (t.for_each("o", T), t.for_each("e", X));
        t.from(o, AWAY).when(OWNER.of([o])).when(PUBLISHED.of([e])).when(not(CONSUMED.of([e])));
        t.assign(CLAIMED, |x| {
            or([CLAIMED.of([x[0], x[1]]), and([same(x[0], o), not(CONSUMED.of([x[1]])), up_to(x[1], e)])])
        });
        t.assign(CONSUMED, |x| or([CONSUMED.of([x[0]]), up_to(x[0], e)]));
        may_empty(t);
        t.goes(o, SPILLS);
    });
    step("takes_claimed", "queues/runq.rs: Spilled::next", &|t| {
        let (o, x) = (t.for_each("o", T), t.for_each("x", X));
        t.from(o, SPILLS).when(CLAIMED.of([o, x])).clear(CLAIMED, &[o, x]);
        t.assign(GOT, |y| or([GOT.of([y[0], y[1]]), and([same(y[0], o), same(y[1], x), is_there(x)])]));
        t.assign(GOT_WRONG, |y| {
            or([GOT_WRONG.of([y[0], y[1]]), and([same(y[0], o), same(y[1], x), not(is_there(x))])])
        });
    });
    step("ends_spilling", "queues/runq.rs: Spilled::next", &|t| {
        let o = t.for_each("o", T);
        t.from(o, SPILLS).when(all("x", X, |x| not(CLAIMED.of([o, x])))).goes(o, AWAY);
    });
    // `runnext`, and whether the queue is empty.
    step("puts_next", "queues/local.rs: put_next", &|t| {
        let o = t.for_each("o", T);
        t.from(o, AWAY).when(OWNER.of([o])).when(not(NEXT.of([]))).assign(NEXT, |_| Formula::Is(true));
    });
    step("takes_next", "queues/runnext.rs: take, steal", &|t| {
        let m = t.for_each("t", T);
        t.from(m, AWAY).when(NEXT.of([])).assign(NEXT, |_| Formula::Is(false));
        may_empty(t);
    });
    step("asks_ring", "queues/runq.rs: looks_empty", &|t| {
        let m = t.for_each("t", T);
        t.from(m, AWAY).when(all("x", X, |x| or([not(PUBLISHED.of([x])), CONSUMED.of([x])])));
        t.assign(SAW_TAIL, |x| {
            or([and([same(x[0], m), PUBLISHED.of([x[1]])]), and([not(same(x[0], m)), SAW_TAIL.of([x[0], x[1]])])])
        });
        t.assign(NEVER_EMPTY, |x| {
            or([and([same(x[0], m), not(is_empty())]), and([not(same(x[0], m)), NEVER_EMPTY.of([x[0]])])])
        });
        t.goes(m, RING_LOOKS_EMPTY);
    });
    step("asks_next", "queues/local.rs: is_empty", &|t| {
        let m = t.for_each("t", T);
        t.from(m, RING_LOOKS_EMPTY).when(not(NEXT.of([])));
        t.goes(m, if is("asks-the-tail-once") { SAYS_EMPTY } else { NEXT_LOOKS_EMPTY });
    });
    step("asks_tail", "queues/runq.rs: is_still_at", &|t| {
        let m = t.for_each("t", T);
        t.from(m, NEXT_LOOKS_EMPTY)
            .when(all("x", X, |x| implies(PUBLISHED.of([x]), SAW_TAIL.of([m, x]))))
            .goes(m, SAYS_EMPTY);
    });
    step("ends_asking", "queues/local.rs: is_empty", &|t| {
        let m = t.for_each("t", T);
        t.from_any(m, Places::of(&[RING_LOOKS_EMPTY, NEXT_LOOKS_EMPTY, SAYS_EMPTY])).clear(NEVER_EMPTY, &[m]);
        t.goes(m, AWAY);
    });
    steps
}

fn conjunct(name: &'static str, words: &'static str, says: Formula) -> Conjunct {
    Conjunct { name, words, says }
}

fn invariant() -> Vec<Conjunct> {
    let closed = |rel: crate::logic::Rel| {
        all("x", X, |x| all("y", X, |y| implies(and([rel.of([y]), BEFORE.of([x, y])]), rel.of([x]))))
    };
    vec![
        conjunct(
            "one_owner",
            "one thread owns the ring",
            all("t", T, |t| all("u", T, |u| implies(and([OWNER.of([t]), OWNER.of([u])]), same(t, u)))),
        ),
        conjunct(
            "owner_puts",
            "only the owner puts",
            all("t", T, |t| implies(among(t, Places::of(&[PUTS, SPILLS])), OWNER.of([t]))),
        ),
        conjunct("written_in_order", "slots are written in order", closed(WRITTEN)),
        conjunct("published_in_order", "what is below tail is closed downwards", closed(PUBLISHED)),
        conjunct(
            "consumed_is_published",
            "head is not beyond tail",
            all("x", X, |x| implies(CONSUMED.of([x]), PUBLISHED.of([x]))),
        ),
        conjunct(
            "published_is_written",
            "what is below tail is written",
            all("x", X, |x| implies(PUBLISHED.of([x]), WRITTEN.of([x]))),
        ),
        conjunct(
            "slots_are_free",
            "a slot is used again only for what was consumed",
            all("y", X, |y| all("x", X, |x| implies(and([WRITTEN.of([y]), REUSES.of([y, x])]), CONSUMED.of([x])))),
        ),
        conjunct(
            "seen_head",
            "a head that was seen is not beyond the head",
            all("t", T, |t| all("x", X, |x| implies(SAW_HEAD.of([t, x]), CONSUMED.of([x])))),
        ),
        conjunct(
            "seen_tail",
            "a tail that was seen is not beyond the tail",
            all("t", T, |t| all("x", X, |x| implies(SAW_TAIL.of([t, x]), PUBLISHED.of([x])))),
        ),
        conjunct(
            "misread_is_consumed",
            "a thread that misreads a slot was overtaken: the head is beyond it",
            all("t", T, |t| all("x", X, |x| implies(MISREAD.of([t, x]), CONSUMED.of([x])))),
        ),
        conjunct(
            "claimed_is_consumed",
            "what is claimed is below head",
            all("t", T, |t| all("x", X, |x| implies(CLAIMED.of([t, x]), and([CONSUMED.of([x]), at(t, SPILLS)])))),
        ),
        conjunct(
            "claimed_is_there",
            "what is claimed and not read yet is still in its slot",
            all("t", T, |t| {
                all("x", X, |x| {
                    implies(CLAIMED.of([t, x]), not(some("y", X, |y| and([REUSES.of([y, x]), WRITTEN.of([y])]))))
                })
            }),
        ),
        conjunct(
            "got_is_consumed",
            "what was got is below head",
            all("t", T, |t| all("x", X, |x| implies(GOT.of([t, x]), CONSUMED.of([x])))),
        ),
        conjunct(
            "got_once",
            "each G is got once, or is yet to be",
            all("t", T, |t| {
                all("u", T, |u| {
                    all("x", X, |x| {
                        and([
                            implies(and([GOT.of([t, x]), GOT.of([u, x])]), same(t, u)),
                            not(and([GOT.of([t, x]), CLAIMED.of([u, x])])),
                        ])
                    })
                })
            }),
        ),
        conjunct(
            "none_is_lost",
            "what is below head was got, or is claimed",
            all("x", X, |x| implies(CONSUMED.of([x]), some("t", T, |t| or([GOT.of([t, x]), CLAIMED.of([t, x])])))),
        ),
        conjunct(
            "none_is_wrong",
            "what is got is what was put",
            all("t", T, |t| all("x", X, |x| not(GOT_WRONG.of([t, x])))),
        ),
        conjunct(
            "seen_in_order",
            "a thread that read head before tail sees no head beyond its tail",
            all("t", T, |t| all("x", X, |x| implies(and([at(t, READS), SAW_HEAD.of([t, x])]), SAW_TAIL.of([t, x])))),
        ),
        conjunct(
            "ring_looked_empty",
            "a ring that looked empty is empty until something is put",
            all("t", T, |t| {
                implies(
                    among(t, Places::of(&[RING_LOOKS_EMPTY, NEXT_LOOKS_EMPTY])),
                    all("x", X, |x| implies(SAW_TAIL.of([t, x]), CONSUMED.of([x]))),
                )
            }),
        ),
        conjunct(
            "was_never_empty",
            "if the queue was never empty, it is not",
            all("t", T, |t| implies(NEVER_EMPTY.of([t]), not(is_empty()))),
        ),
        conjunct(
            "next_looked_empty",
            "if runnext was empty and the queue never was, something was put meanwhile",
            all("t", T, |t| {
                implies(
                    and([at(t, NEXT_LOOKS_EMPTY), NEVER_EMPTY.of([t])]),
                    some("x", X, |x| and([PUBLISHED.of([x]), not(SAW_TAIL.of([t, x]))])),
                )
            }),
        ),
        conjunct(
            "says_empty",
            "a queue that is said to be empty was so at some moment",
            all("t", T, |t| implies(at(t, SAYS_EMPTY), not(NEVER_EMPTY.of([t])))),
        ),
    ]
}

fn safety() -> Vec<Conjunct> {
    vec![
        conjunct(
            "taken_once",
            "no G is taken twice",
            all("t", T, |t| {
                all("u", T, |u| all("x", X, |x| implies(and([GOT.of([t, x]), GOT.of([u, x])]), same(t, u))))
            }),
        ),
        conjunct(
            "taken_as_put",
            "a thread that takes a G has got the one that was put there",
            all("t", T, |t| all("x", X, |x| not(GOT_WRONG.of([t, x])))),
        ),
        conjunct(
            "nothing_is_lost",
            "a G that was put is in the ring, or was taken",
            all("x", X, |x| {
                implies(
                    PUBLISHED.of([x]),
                    or([
                        and([not(CONSUMED.of([x])), is_there(x)]),
                        some("t", T, |t| or([GOT.of([t, x]), CLAIMED.of([t, x])])),
                    ]),
                )
            }),
        ),
        conjunct(
            "cursors_in_order",
            "head is not beyond tail, as a thread that reads head first sees them",
            and([
                all("x", X, |x| implies(CONSUMED.of([x]), PUBLISHED.of([x]))),
                all("t", T, |t| {
                    all("x", X, |x| implies(and([at(t, READS), SAW_HEAD.of([t, x])]), SAW_TAIL.of([t, x])))
                }),
            ]),
        ),
        conjunct(
            "empty_is_true",
            "a queue that is said to be empty was empty at some moment of the call",
            all("t", T, |t| implies(at(t, SAYS_EMPTY), not(NEVER_EMPTY.of([t])))),
        ),
    ]
}

/// Wrong in so many steps; 0: no execution was found that goes wrong.
const fn wrong(steps: usize, name: &'static str, what: &'static str, known: &'static str) -> Variant {
    Variant { name, what, known, sizes: &[2, 2], steps: if steps == 0 { None } else { Some(steps) } }
}

/// Wrong variants.
pub const WRONG: &[Variant] = &[
    wrong(
        2,
        "publishes-before-it-writes",
        "tail is moved before the slot is written, as a Relaxed store may seem to",
        "mutants runq-publish-relaxed, runq-batch-publish-relaxed, runq-thief-publish-relaxed",
    ),
    wrong(
        7,
        "reads-slots-before-tail",
        "a thief reads slots before it has read tail, as after a Relaxed load",
        "mutant runq-publish-unseen",
    ),
    wrong(
        9,
        "claims-before-it-reads",
        "a thief moves head before it has read the slots, as with a Relaxed exchange",
        "mutants runq-consume-relaxed, runq-consume-unseen",
    ),
    wrong(
        5,
        "reads-tail-first",
        "a thief reads tail before head, as with a Relaxed exchange of an owner's",
        "mutants runq-get-consume-relaxed, runq-spill-consume-relaxed",
    ),
    wrong(
        9,
        "claims-whatever-came-between",
        "the exchange takes another head for the one that was read",
        "mutant runq-cursors-of-two-bits; tokio #5041",
    ),
    wrong(4, "puts-without-room", "the owner puts without a look at head", ""),
    wrong(7, "asks-the-tail-once", "a test for emptiness does not read tail again", "golang/go #10573"),
];

/// Changes that are right.
pub const RIGHT: &[Variant] = &[];
