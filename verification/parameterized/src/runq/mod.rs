//! The run queue: each G that is put is taken exactly once, nothing is lost, for any capacity and any number of thieves.
//!
//! A put is an element, as is its position: the cursors are sets of positions, closed downwards. `reuses(y, x)` says that y is put
//! into the slot in which x was, a round before; nothing else is said of the capacity. So a ring has as many slots as it likes.
//!
//! The ring that a thief fills is one more ring: it puts there what it stole, as its owner, in one batch.

pub mod leaves;
mod steps;

use crate::finite::{Finite, State, Universe};
use crate::logic::{Formula, Places, Rel, Sort, all, among, and, at, implies, not, or, same, some};
use crate::system::{Conjunct, System, Variant, places, relations};
pub use steps::{has_claimed, is_where_seen, ring_is_empty, ring_is_full, saw_all, sees_nothing, sees_too_many};
use steps::{has_read, is_empty, is_there, steps};

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
    /// Its slot was written again, for a later one.
    GONE = "gone"(X);
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
    /// It steals: it has read `head`.
    TAKES;
    /// It steals: it has read `tail` after that.
    READS;
    /// The owner takes: it has read `head`.
    GETS;
    /// The owner has seen that the ring is full.
    FULL;
    /// It has claimed half of a full ring.
    SPILLS;
    /// It asks whether the queue is empty: it has read `head`.
    ASKS;
    /// The ring looked empty.
    RING_LOOKS_EMPTY;
    /// And `runnext` did.
    NEXT_LOOKS_EMPTY;
    /// It says that the queue was empty.
    SAYS_EMPTY;
}

/// Where only the owner is.
const OWNS: Places = Places::of(&[PUTS, GETS, FULL, SPILLS]);

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
    facts.extend([WRITTEN, GONE, PUBLISHED, CONSUMED].map(|rel| all("x", X, |x| not(rel.of([x])))));
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

fn conjunct(name: &'static str, words: &'static str, says: Formula) -> Conjunct {
    Conjunct { name, words, says }
}

fn invariant() -> Vec<Conjunct> {
    let closed =
        |rel: Rel| all("x", X, |x| all("y", X, |y| implies(and([rel.of([y]), BEFORE.of([x, y])]), rel.of([x]))));
    vec![
        conjunct(
            "one_owner",
            "one thread owns the ring",
            all("t", T, |t| all("u", T, |u| implies(and([OWNER.of([t]), OWNER.of([u])]), same(t, u)))),
        ),
        conjunct("owner_puts", "only the owner puts", all("t", T, |t| implies(among(t, OWNS), OWNER.of([t])))),
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
            "a slot is used again only when what was there is consumed",
            all("x", X, |x| implies(GONE.of([x]), CONSUMED.of([x]))),
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
            "reads_between",
            "a thread reads slots between the head and the tail that it has seen",
            all("t", T, |t| {
                all("x", X, |x| {
                    let is_between = and([SAW_TAIL.of([t, x]), not(SAW_HEAD.of([t, x]))]);
                    implies(has_read(t, x), and([among(t, Places::of(&[READS, GETS])), is_between]))
                })
            }),
        ),
        conjunct(
            "reads_in_order",
            "a thread reads slots in order",
            all("t", T, |t| {
                all("x", X, |x| {
                    all("y", X, |y| {
                        implies(and([has_read(t, x), BEFORE.of([y, x])]), or([SAW_HEAD.of([t, y]), has_read(t, y)]))
                    })
                })
            }),
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
            all("t", T, |t| all("x", X, |x| implies(CLAIMED.of([t, x]), not(GONE.of([x]))))),
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
        6,
        "reads-tail-first",
        "a thief reads tail before head, as with a Relaxed exchange of an owner's",
        "mutants runq-get-consume-relaxed, runq-spill-consume-relaxed",
    ),
    wrong(
        10,
        "claims-whatever-came-between",
        "the exchange takes another head for the one that was read",
        "mutant runq-cursors-of-two-bits; tokio #5041",
    ),
    wrong(4, "puts-without-room", "the owner puts without a look at head", ""),
    wrong(8, "asks-the-tail-once", "a test for emptiness does not read tail again", "golang/go #10573"),
];

/// Changes that are right.
pub const RIGHT: &[Variant] = &[];
