//! The scheduler: spinning and parking, handing off, system calls, and stopping the world. While a G waits in a queue and a P is idle, some
//! M looks, or must look; and what is wanted of stops ([`stops`]).

pub mod ends;
pub mod progress;
pub mod state;
pub mod steps;
pub mod stops;

use crate::finite::{Finite, State, Universe};
use crate::logic::{Formula, Places, Var, all, among, and, at, implies, not, or, same, some};
use crate::system::{Conjunct, System, Variant, nothing};
use state::*;

/// The protocol; or with one step wrong, if `variant` names it.
pub fn system(variant: &str) -> System {
    System {
        name: "sched",
        about: "the scheduler: while a G is queued and a P is idle, some M looks for it, or must look; and the world is stopped in turn",
        memory: "TSO-like store buffers",
        sorts: &[M, P, G],
        places: PLACES,
        relations: RELATIONS,
        axioms: Vec::new(),
        initial: initial(),
        begins,
        transitions: steps::steps(variant),
        invariant: invariant(),
        safety: safety(),
        sizes: &[&[2, 1, 1], &[2, 2, 1], &[3, 2, 1], &[3, 2, 2], &[4, 3, 2]],
    }
}

fn initial() -> Vec<Formula> {
    let mut facts = vec![
        all("m", M, |m| among(m, Places::of(&[OUT, NEW, ASLEEP]))),
        all("p", P, |p| IDLE.of([p])),
        all("g", G, |g| not(GLOBAL.of([g]))),
        all("g", G, |g| all("p", P, |p| not(RING.of([g, p])))),
        not(NEED.of([])),
        not(STOPPING.of([])),
        all("p", P, |p| not(HELD.of([p]))),
    ];
    facts.extend([AHEAD, OWES].map(nothing));
    facts.extend([COUNTED, LOCKS, CLEARS, SAW_GLOBAL, IN_LINE, TOKEN].map(|rel| all("m", M, |m| not(rel.of([m])))));
    facts.extend([SAW_RING, OWNS, HANDS, STARTS].map(|rel| all("m", M, |m| all("p", P, |p| not(rel.of([m, p]))))));
    facts.extend([PUTS, PUTS_GLOBAL, SPILLS, YIELDED].map(|rel| all("m", M, |m| all("g", G, |g| not(rel.of([m, g]))))));
    facts
}

/// The first thread is the embedder's, the others are Ms that were never started.
fn begins(system: &System, sizes: Universe) -> Vec<State> {
    let finite = Finite::new(system, sizes);
    let mut state = State::EMPTY;
    for m in 1..sizes[0] {
        state.places[m] = NEW;
    }
    for p in 0..sizes[1] {
        finite.put(&mut state, IDLE, &[p as u8], true);
    }
    vec![state]
}

fn conjunct(name: &'static str, words: &'static str, says: Formula) -> Conjunct {
    Conjunct { name, words, says }
}

/// An M has yielded this G under its own P, and searches next.
fn looks_for_its_own(g: Var, p: Var) -> Formula {
    some("m", M, |m| and([among(m, Places::of(&[SEARCH])), OWNS.of([m, p]), YIELDED.of([m, g])]))
}

/// In this case each G in a ring is answered for, if its own M does not look for it.
fn each_in_a_ring(in_case: Formula, is_answered: impl Fn(Var) -> Formula) -> Formula {
    all("g", G, |g| {
        all("p", P, |p| implies(and([RING.of([g, p]), in_case.clone()]), or([is_answered(p), looks_for_its_own(g, p)])))
    })
}

fn invariant() -> Vec<Conjunct> {
    let mut all_of_it = while_the_world_runs();
    all_of_it.extend(stops::invariant());
    all_of_it
}

fn while_the_world_runs() -> Vec<Conjunct> {
    vec![
        conjunct(
            "one_holder_of_the_lock",
            "one thread holds the lock",
            all("m", M, |m| all("n", M, |n| implies(and([LOCKS.of([m]), LOCKS.of([n])]), same(m, n)))),
        ),
        conjunct(
            "locked_places",
            "a thread in a locked section holds the lock",
            all("m", M, |m| implies(among(m, LOCKING), LOCKS.of([m]))),
        ),
        conjunct(
            "counted_places",
            "only an M that spins, or is about to, is counted",
            all("m", M, |m| implies(COUNTED.of([m]), among(m, COUNTING))),
        ),
        conjunct(
            "none_idle_was_seen",
            "while a thread that saw under the lock that no P is idle holds it, none is",
            all("m", M, |m| implies(among(m, Places::of(&[LOWER, RECHECK, HAND_RECHECK])), not(some_idle()))),
        ),
        conjunct(
            "one_owner",
            "a P has one owner",
            all("m", M, |m| {
                all("n", M, |n| all("p", P, |p| implies(and([OWNS.of([m, p]), OWNS.of([n, p])]), same(m, n))))
            }),
        ),
        conjunct(
            "one_hands_it_on",
            "one thread at a time hands a P on",
            all("m", M, |m| {
                all("n", M, |n| all("p", P, |p| implies(and([HANDS.of([m, p]), HANDS.of([n, p])]), same(m, n))))
            }),
        ),
        conjunct(
            "owned_or_handed_on",
            "a P with an owner is not handed on",
            all("m", M, |m| all("n", M, |n| all("p", P, |p| not(and([OWNS.of([m, p]), HANDS.of([n, p])]))))),
        ),
        conjunct(
            "one_p",
            "an M owns one P",
            all("m", M, |m| {
                all("p", P, |p| all("q", P, |q| implies(and([OWNS.of([m, p]), OWNS.of([m, q])]), same(p, q))))
            }),
        ),
        conjunct(
            "hands_one_on",
            "a thread hands one P on at a time",
            all("m", M, |m| {
                all("p", P, |p| all("q", P, |q| implies(and([HANDS.of([m, p]), HANDS.of([m, q])]), same(p, q))))
            }),
        ),
        conjunct(
            "owning_places",
            "a thread that sleeps, rests, is out, or hands a P on owns none",
            all("m", M, |m| all("p", P, |p| implies(OWNS.of([m, p]), not(among(m, WITHOUT_P))))),
        ),
        conjunct(
            "handing_places",
            "a P is handed on by a thread that is about to give it to an M, or to idle it",
            all("m", M, |m| all("p", P, |p| implies(HANDS.of([m, p]), among(m, HANDING)))),
        ),
        conjunct(
            "owned_is_not_idle",
            "a P with an owner is neither idle nor held for a stopper",
            all("m", M, |m| {
                all("p", P, |p| {
                    let has = or([OWNS, HANDS, STARTS].map(|rel| rel.of([m, p])));
                    implies(has, and([not(IDLE.of([p])), not(HELD.of([p]))]))
                })
            }),
        ),
        conjunct(
            "idle_ring_is_empty",
            "the ring of an idle P is empty",
            all("g", G, |g| all("p", P, |p| implies(IDLE.of([p]), not(RING.of([g, p]))))),
        ),
        conjunct(
            "being_idled_ring_is_empty",
            "and of one that is about to be idled",
            all("m", M, |m| {
                all("g", G, |g| {
                    all("p", P, |p| {
                        implies(
                            or([
                                and([among(m, Places::of(&[RECHECK, IDLES])), OWNS.of([m, p])]),
                                and([among(m, Places::of(&[HAND_RECHECK, HAND_IDLES])), HANDS.of([m, p])]),
                            ]),
                            not(RING.of([g, p])),
                        )
                    })
                })
            }),
        ),
        conjunct(
            "yields_one",
            "an M that has yielded has yielded one G, and searches",
            all("m", M, |m| {
                all("g", G, |g| {
                    implies(
                        YIELDED.of([m, g]),
                        and([
                            among(m, Places::of(&[SEARCH])),
                            all("h", G, |h| implies(YIELDED.of([m, h]), same(g, h))),
                        ]),
                    )
                })
            }),
        ),
        conjunct(
            "puts_places",
            "a buffered put is that of a submitter, of a finder, or of an M that has yielded",
            all("m", M, |m| {
                all("g", G, |g| {
                    implies(
                        PUTS.of([m, g]),
                        or([
                            among(m, Places::of(&[QUEUED, FOUND])),
                            and([among(m, Places::of(&[SEARCH])), YIELDED.of([m, g])]),
                        ]),
                    )
                })
            }),
        ),
        conjunct(
            "in_hand_places",
            "a G that was kicked out of runnext, or out of a full ring, is in the hands of a thread that queues it",
            all("m", M, |m| all("g", G, |g| implies(SPILLS.of([m, g]), among(m, Places::of(&[SPILL, KICKS]))))),
        ),
        conjunct(
            "clears_places",
            "a buffered clear is that of an M that spins",
            all("m", M, |m| implies(CLEARS.of([m]), among(m, Places::of(&[SPIN, FOUND])))),
        ),
        conjunct(
            "global_before_rings",
            "a scan comes to the rings after the global queue",
            all("m", M, |m| {
                all("p", P, |p| implies(and([among(m, SCANNING), SAW_RING.of([m, p])]), SAW_GLOBAL.of([m])))
            }),
        ),
        conjunct(
            "refused_none_asleep",
            "while a thread that found no M holds the lock, none sleeps",
            all("m", M, |m| all("s", M, |s| implies(among(m, REFUSED), not(among(s, Places::of(&[ASLEEP])))))),
        ),
        conjunct(
            "being_idled_global_is_empty",
            "while a P is being idled the global queue is empty",
            all("m", M, |m| {
                all("g", G, |g| {
                    implies(
                        among(m, Places::of(&[RECHECK, IDLES, HAND_RECHECK, HAND_IDLES])),
                        and([not(GLOBAL.of([g])), all("w", M, |w| not(PUTS_GLOBAL.of([w, g])))]),
                    )
                })
            }),
        ),
        conjunct(
            "global_is_answered_for",
            "if a P is idle, an M answers for each G in the global queue",
            all("g", G, |g| {
                implies(and([GLOBAL.of([g]), some_idle()]), or([some("m", M, answers_for_global), will_be_called()]))
            }),
        ),
        conjunct(
            "put_global_is_answered_for",
            "if a P is idle, a buffered put into the global queue is that of a submitter",
            all("m", M, |m| {
                all("g", G, |g| {
                    implies(and([PUTS_GLOBAL.of([m, g]), some_idle()]), or([at(m, QUEUED), among(m, REFUSED)]))
                })
            }),
        ),
        conjunct(
            "being_idled_nobody_asked",
            "while a P is being idled, no spinning M is asked for",
            all("m", M, |m| {
                implies(among(m, Places::of(&[RECHECK, IDLES, HAND_RECHECK, HAND_IDLES])), not(NEED.of([])))
            }),
        ),
        conjunct(
            "refused_puts_alone",
            "while a thread that found no M puts Gs into the global queue, no other's put is buffered",
            all("m", M, |m| {
                all("r", M, |r| {
                    all("g", G, |g| implies(and([at(r, REFUSED_DRAIN), PUTS_GLOBAL.of([m, g])]), same(m, r)))
                })
            }),
        ),
        conjunct(
            "ring_is_answered_for",
            "if a P is idle, an M answers for each G in a ring",
            each_in_a_ring(some_idle(), |p| or([some("m", M, |m| answers_for_ring(m, p)), will_be_called()])),
        ),
        conjunct(
            "being_idled_ring_is_answered_for",
            "if a P is being idled, an M answers for each G in a ring, and does not leave it to a request",
            each_in_a_ring(some_being_idled(), |p| some("m", M, |m| answers_in_any_case(m, p))),
        ),
    ]
}

fn safety() -> Vec<Conjunct> {
    let mut all_of_it = work_conservation();
    all_of_it.extend(stops::safety());
    all_of_it
}

fn work_conservation() -> Vec<Conjunct> {
    let looks = |m| or([answers(m), among(m, SCANNING)]);
    let looks_or_will = move || {
        or([
            some("m", M, looks),
            some("m", M, |m| and([among(m, Places::of(&[SEARCH])), some("y", G, |y| YIELDED.of([m, y]))])),
            will_be_called(),
        ])
    };
    let queued = |g| {
        or([
            GLOBAL.of([g]),
            some("p", P, |p| RING.of([g, p])),
            some("m", M, |m| or([PUTS.of([m, g]), PUTS_GLOBAL.of([m, g]), SPILLS.of([m, g])])),
        ])
    };
    let resting = Places::of(&[OUT, NEW, ASLEEP, RUN, SYSCALL]);
    vec![
        conjunct(
            "work_is_conserved",
            "while a G is queued and a P is idle, some M looks for it, or must look",
            all("g", G, |g| implies(and([queued(g), some_idle()]), looks_or_will())),
        ),
        conjunct(
            "at_rest",
            "when all sleep, run or are out, no G is queued beside an idle P, and none is counted",
            implies(
                and([all("m", M, |m| among(m, resting)), not(will_be_called())]),
                and([none_counted(), not(and([some_idle(), some("g", G, queued)]))]),
            ),
        ),
        conjunct(
            "an_idle_p_has_no_g",
            "the ring of an idle P is empty",
            all("g", G, |g| all("p", P, |p| implies(IDLE.of([p]), not(RING.of([g, p]))))),
        ),
        conjunct(
            "one_owner_of_each_p",
            "a P is owned by one, or is idle",
            all("m", M, |m| {
                all("p", P, |p| {
                    implies(
                        OWNS.of([m, p]),
                        and([
                            not(IDLE.of([p])),
                            all("n", M, |n| and([not(HANDS.of([n, p])), implies(OWNS.of([n, p]), same(m, n))])),
                        ]),
                    )
                })
            }),
        ),
    ]
}

/// Wrong variants.
pub const WRONG: &[Variant] = &[
    wrong(15, "no-submitters-fence", "wakep without its StoreLoad", "mutant spinning-no-submitter-fence"),
    wrong(
        15,
        "looks-before-it-leaves",
        "retire scans the queues, then leaves nmspinning; or its StoreLoad is missing, so that it may",
        "mutants spinning-looks-before-it-leaves, spinning-no-spinning-m-fence; Go: recheck before decrement",
    ),
    wrong(
        15,
        "finder-looks-before-it-leaves",
        "found_work scans the queues, then leaves nmspinning; or its StoreLoad is missing",
        "mutant spinning-no-finders-fence",
    ),
    wrong(11, "drops-the-baton", "the last spinning M finds work and wakes no M", "mutant spinning-drops-the-baton"),
    wrong(10, "no-second-look", "retire does not look again", "Spin: NO_SECOND_LOOK"),
    wrong(
        14,
        "only-the-last-looks",
        "a spinning M that reads that others are counted does not look again",
        "mutant spinning-only-the-last-looks",
    ),
    wrong(
        13,
        "lowers-its-count-late",
        "wakep finds no idle P and lowers its count after the lock is released",
        "mutant spinning-lowers-its-count-late; Spin: COUNT_STAYS_UP",
    ),
    wrong(
        0,
        "trusts-any-request",
        "wakep finds a spinning M asked for, and does not ask whether a P is idle",
        "mutant spinning-trusts-any-request",
    ),
    wrong(
        11,
        "ignores-the-call",
        "an M idles its P without a look at needspinning, or at the count",
        "mutant spinning-ignores-the-call",
    ),
    wrong(
        11,
        "leaves-it-to-nobody",
        "an M idles its P without asking whether those it left the looking to still look",
        "mutant spinning-leaves-it-to-nobody",
    ),
    wrong(
        11,
        "wakep-does-not-ask-as-go",
        "wakep finds no idle P and does not ask, nor does an M that idles its P count",
        "mutant spinning-wakep-does-not-ask; golang/go #45867",
    ),
    wrong(
        11,
        "retire-does-not-ask-as-go",
        "retire finds no idle P and does not ask, nor does an M that idles its P count",
        "mutant spinning-retire-does-not-ask; golang/go #45867",
    ),
    wrong(
        11,
        "asks-before-it-lowers-as-go",
        "wakep asks, and then lowers its count, and an M that idles its P does not count",
        "mutant spinning-asks-before-it-lowers",
    ),
    Variant {
        sizes: &[3, 2, 2],
        ..wrong(
            18,
            "leaves-without-a-drain",
            "a finder leaves nmspinning before the rest of what it found can be seen",
            "mutant spinning-leaves-relaxed",
        )
    },
    wrong(
        9,
        "idles-at-once",
        "a P that is handed off is idled without a look at anything under the lock",
        "mistake of sched/handoff.rs",
    ),
    wrong(
        19,
        "handoff-ignores-the-call",
        "whether an M looks is asked before the lock, and not whether a spinning M is asked for",
        "mistake of sched/handoff.rs; Go's handoffp",
    ),
    Variant {
        sizes: &[3, 3, 1],
        ..wrong(
            0,
            "elects-outside-the-lock",
            "whether an M looks, or a P is idle, is asked before the lock, and not again",
            "mistake of sched/handoff.rs",
        )
    },
    wrong(
        20,
        "no-spinning-m",
        "no M looks and no P is idle, and still the P that is handed off is not sent to look",
        "mistake of sched/handoff.rs",
    ),
    wrong(
        15,
        "spills-and-wakes-nobody",
        "goyield into a full ring spills half of it into the global queue and wakes no M",
        "Go's goyield",
    ),
    wrong(
        15,
        "trusts-the-idle-count",
        "an M that injects Gs reads once that no P is idle, and wakes no M for them",
        "golang/go #63555",
    ),
    wrong(18, "scans-the-rings-first", "a scan comes to the rings before the global queue", "pair share"),
    wrong(
        0,
        "steals-uncounted",
        "an M steals without being counted",
        "golang/go #43997, as its first repair would have been",
    ),
    wrong(
        15,
        "sleeps-on-a-request",
        "an M goes to sleep without a look at needspinning, although a start was refused",
        "Spin: SLEEPS_UNASKED",
    ),
    wrong(
        9,
        "refused-and-nobody-asked",
        "no M is available, and no spinning M is asked for",
        "Spin: REFUSED_AND_NOBODY_ASKED",
    ),
    wrong(
        12,
        "forgets-who-fell-asleep",
        "when a start is refused, it is not checked whether an M fell asleep meanwhile",
        "client programs of `threads`",
    ),
    wrong(
        17,
        "queues-outside-the-lock",
        "an M that returns looks for an idle P under one hold of the lock, and queues its G under the next",
        "mistake of sched/syscall.rs",
    ),
    wrong(13, "starts-and-wakes-nobody", "the world is started, and no M is woken for what was queued meanwhile", ""),
    wrong(14, "idles-what-has-gs", "when the world is started, a P with Gs in its ring is idled", ""),
    wrong(15, "stays-counted-in-a-stop", "a spinning M that hands its P in for a stop does not leave nmspinning", ""),
    wrong(10, "idles-in-a-stop", "a P is idled although the world is to stop", "mistake of sched/handoff.rs"),
    wrong(9, "wakes-nobody", "an M that hands in the last P does not wake the stopper", "mutant stw-wakes-nobody"),
    Variant {
        sizes: &[2, 1, 1],
        ..wrong(
            23,
            "released-early",
            "the next stopper is let in before the world runs again",
            "mutant stw-released-before-the-world-runs; golang/go #10618",
        )
    },
    wrong(
        13,
        "pushes",
        "a stopper that asks just when the turn is free overtakes those that wait",
        "mutant stw-pushes-in; golang/go #40459",
    ),
    wrong(
        17,
        "stopped-with-a-p-in-hand",
        "a thread that holds a P for another M waits for the world to start",
        "golang/go #42237",
    ),
];

/// Wrong in so many steps; 0: no execution was found that goes wrong.
const fn wrong(steps: usize, name: &'static str, what: &'static str, known: &'static str) -> Variant {
    Variant { name, what, known, sizes: &[3, 2, 1], steps: if steps == 0 { None } else { Some(steps) } }
}

/// Changes that are right: all obligations hold with them, too.
pub const RIGHT: &[Variant] = &[
    wrong(0, "wakep-does-not-ask", "wakep finds no idle P and does not set needspinning", ""),
    wrong(0, "retire-does-not-ask", "retire finds no idle P and does not set needspinning", ""),
    wrong(0, "the-last-looks-by-its-decrement", "only the M whose decrement says that it was the last scans again", ""),
];
