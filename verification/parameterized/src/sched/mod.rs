//! The scheduler: spinning and parking, handing off, system calls, and stopping the world. While a G waits in a queue and a P is idle, some
//! M looks, or must look; and what is wanted of stops ([`stops`]).

pub mod calls;
pub mod ends;
mod hands;
mod owners;
mod places;
pub mod poller;
pub mod progress;
mod queued;
mod resizes;
pub mod retakes;
pub mod state;
pub mod steps;
pub mod stops;
mod variants;

use crate::finite::{Finite, State, Universe};
use crate::logic::{Formula, Places, Var, all, among, and, at, implies, not, or, same, some};
use crate::system::{Conjunct, System, nothing};
use state::*;
pub use variants::{RIGHT, WRONG};

/// The protocol; or with one step wrong, if `variant` names it.
pub fn system(variant: &str) -> System {
    System {
        name: "sched",
        about: "the scheduler: while a G is queued and a P is idle, some M looks for it, or must look; and the world is stopped in turn",
        memory: "TSO-like store buffers",
        sorts: &[M, P, G, C],
        places: PLACES,
        relations: RELATIONS,
        axioms: Vec::new(),
        initial: initial(),
        begins,
        transitions: steps::steps(variant),
        invariant: invariant(),
        safety: safety(),
        sizes: &[&[2, 1, 1, 1], &[2, 2, 1, 1], &[3, 2, 1, 1], &[3, 2, 2, 2], &[4, 3, 2, 2]],
    }
}

fn initial() -> Vec<Formula> {
    let mut facts = vec![
        all("m", M, |m| among(m, Places::of(&[OUT, NEW, ASLEEP]))),
        all("p", P, |p| or([IDLE.of([p]), SPARE.of([p])])),
        all("p", P, |p| not(and([IDLE.of([p]), SPARE.of([p])]))),
        all("g", G, |g| UNQUEUED.of([g])),
    ];
    facts.extend(RELATIONS.iter().filter(|rel| ![IDLE, SPARE, UNQUEUED].contains(rel)).map(|rel| nothing(*rel)));
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
    for g in 0..sizes[2] {
        finite.put(&mut state, UNQUEUED, &[g as u8], true);
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
    all_of_it.extend(queued::invariant());
    all_of_it.extend(stops::invariant());
    all_of_it.extend(owners::invariant());
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
            all("m", M, |m| all("p", P, |p| implies(has(m, p), and([not(IDLE.of([p])), not(HELD.of([p]))])))),
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
            "a buffered put is that of a submitter, of an M that spins, of a finder, or of an M that has yielded",
            all("m", M, |m| {
                all("g", G, |g| {
                    implies(
                        PUTS.of([m, g]),
                        or([
                            among(m, Places::of(&[QUEUED, SPIN, FOUND, INJECTS, TURNS])),
                            and([among(m, Places::of(&[SEARCH])), YIELDED.of([m, g])]),
                        ]),
                    )
                })
            }),
        ),
        conjunct(
            "in_hand_places",
            "a G that was kicked out of runnext, or out of a full ring, or that the poller reports, is in the hands of a thread that queues it",
            all("m", M, |m| {
                all("g", G, |g| implies(SPILLS.of([m, g]), among(m, Places::of(&[SPILL, KICKS, INJECTS_ONE, INJECTS]))))
            }),
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
                    implies(among(m, IDLING), and([not(GLOBAL.of([g])), all("w", M, |w| not(PUTS_GLOBAL.of([w, g])))]))
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
            all("m", M, |m| implies(among(m, IDLING), not(NEED.of([])))),
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
    all_of_it.push(queued::safety());
    all_of_it.extend(stops::safety());
    all_of_it.extend(owners::safety());
    all_of_it
}

fn work_conservation() -> Vec<Conjunct> {
    let looks = |m| or([answers(m), among(m, SCANNING)]);
    let looks_or_will = move || {
        or([
            some("m", M, looks),
            some("m", M, |m| and([among(m, Places::of(&[SEARCH])), some("y", G, |y| YIELDED.of([m, y]))])),
            some("m", M, |m| at(m, INJECTS_ONE)),
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
    let resting = Places::of(&[OUT, NEW, ASLEEP, RUN, INSIDE]);
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
    ]
}
