//! Where a P is inside a system call, and inside a wake: what is always true.

use super::calls::{in_no_word, is_scanned};
use super::state::*;
use super::stops::of_mp;
use crate::logic::{Formula, Places, Var, all, among, and, at, implies, not, or, same, some};
use crate::system::{Conjunct, at_most_one};

fn of_pc(body: impl FnOnce(Var, Var) -> Formula) -> Formula {
    all("p", P, |p| all("c", C, |c| body(p, c)))
}

/// For each stopper `s`, and each M `m` whose P `p` is in its word, in a call `c` that is one.
fn of_calls(body: impl FnOnce([Var; 4]) -> Formula) -> Formula {
    all("s", M, |s| {
        of_mp(|m, p| {
            all("c", C, |c| implies(and([in_word(p, c), IN.of([m, c]), not(DETACHED.of([c]))]), body([s, m, p, c])))
        })
    })
}

fn is_nobodys(p: Var) -> Formula {
    all("n", M, |n| not(has(n, p)))
}

/// Of a P, and of the call in its word.
pub(super) fn invariant() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    let mut all_of_it = vec![
        conjunct("one_nextp", "a P is in one nextp", at_most_one(NEXTP, 0)),
        conjunct("nextp_of_one", "a nextp is of one P", at_most_one(NEXTP, 1)),
        conjunct(
            "nextp_places",
            "an M whose nextp is set is to wake, or to have a thread",
            of_mp(|m, p| implies(NEXTP.of([m, p]), among(m, WOKENS.and(Places::of(&[RESERVED]))))),
        ),
        conjunct(
            "reserved_by_one",
            "one that is to have a thread is one thread's, which starts it",
            all("w", M, |w| implies(at(w, RESERVED), some("m", M, |m| RESERVES.of([m, w])))),
        ),
        conjunct(
            "reserving_places",
            "that thread is there, and no other M",
            all("m", M, |m| all("w", M, |w| implies(RESERVES.of([m, w]), and([among(m, STARTING), at(w, RESERVED)])))),
        ),
        conjunct("reserves_one", "it starts one", at_most_one(RESERVES, 1)),
        conjunct("reserved_once", "which no other thread starts", at_most_one(RESERVES, 0)),
        conjunct(
            "nextp_only",
            "a P in a nextp is no thread's",
            of_mp(|m, p| {
                let has = |n: Var| or([OWNS, HANDS, STARTS].map(|rel| rel.of([n, p])));
                implies(NEXTP.of([m, p]), all("n", M, |n| not(has(n))))
            }),
        ),
        conjunct(
            "in_word_only",
            "a P in a system call is nowhere else",
            of_pc(|p, c| {
                let nowhere = [IDLE, HELD, SPARE].map(|rel| not(rel.of([p]))).into_iter().chain([is_nobodys(p)]);
                implies(in_word(p, c), and(nowhere))
            }),
        ),
        conjunct(
            "one_call",
            "a P is in one system call",
            of_pc(|p, c| all("d", C, |d| implies(and([in_word(p, c), in_word(p, d)]), same(c, d)))),
        ),
        conjunct(
            "one_p_a_call",
            "a system call has one P",
            of_pc(|p, c| all("q", P, |q| implies(and([in_word(p, c), in_word(q, c)]), same(p, q)))),
        ),
        conjunct(
            "left_once",
            "what is left and not visible is not in the word yet, and is one thread's",
            of_mp(|m, p| {
                all("c", C, |c| {
                    let is_one = all("n", M, |n| implies(LEAVES.of([n, p, c]), same(m, n)));
                    implies(LEAVES.of([m, p, c]), and([not(WORD.of([p, c])), is_one]))
                })
            }),
        ),
    ];
    all_of_it.extend(of_callers());
    all_of_it.extend(of_stops());
    all_of_it
}

/// Of an M in a call.
fn of_callers() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    vec![
        conjunct(
            "calls_in_words_go_on",
            "what is in a word is the call of the M that put it there",
            of_pc(|p, c| implies(in_word(p, c), some("m", M, |m| IN.of([m, c])))),
        ),
        conjunct(
            "leaves_its_own",
            "what is left and not visible is of its thread's own call",
            of_mp(|m, p| all("c", C, |c| implies(LEAVES.of([m, p, c]), IN.of([m, c])))),
        ),
        conjunct("one_call_an_m", "an M is in one system call", at_most_one(IN, 1)),
        conjunct("one_m_a_call", "a system call is one M's", at_most_one(IN, 0)),
        conjunct(
            "callers",
            "an M that is in a system call is there",
            all("m", M, |m| all("c", C, |c| implies(IN.of([m, c]), and([among(m, CALLERS), MADE.of([c])])))),
        ),
        conjunct(
            "callers_own_none",
            "and has no P",
            of_mp(|m, p| implies(OWNS.of([m, p]), all("c", C, |c| not(IN.of([m, c]))))),
        ),
        conjunct(
            "seen_places",
            "what was seen in a word is forgotten after the exchange",
            of_mp(|m, p| all("c", C, |c| implies(SEEN.of([m, p, c]), among(m, SEEING)))),
        ),
        conjunct("not_mistaken", "a P is taken out of the call in which it was seen", not(MISTAKEN.of([]))),
    ]
}

/// While a thread stops the world.
fn of_stops() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    vec![
        conjunct(
            "wanted_behind_the_fence",
            "every thread can see behind a stopper's StoreLoad that the world is to stop",
            all("s", M, |s| implies(among(s, LOOKERS.and(Places::of(&[STOPPED]))), WANTED.of([]))),
        ),
        conjunct(
            "says_it",
            "before that, its request is at least in its store buffer",
            all("s", M, |s| implies(at(s, SAYS), or([REQUESTS.of([s]), WANTED.of([])]))),
        ),
        conjunct(
            "says_before_it_scans",
            "it looks at the words after its StoreLoad",
            of_mp(|s, p| implies(at(s, SAYS), not(SCANNED.of([s, p])))),
        ),
        conjunct(
            "waits_behind_all_words",
            "a stopper waits once it has looked at all words",
            of_mp(|s, p| implies(among(s, WAITERS), is_scanned(s, p))),
        ),
        conjunct(
            "scanned_gives",
            "a P in a word at which the stopper has looked is about to be handed off by its M",
            of_calls(|[s, m, p, _]| implies(and([among(s, LOOKERS), SCANNED.of([s, p])]), among(m, GIVERS))),
        ),
        conjunct(
            "seen_then_gives",
            "and so is one in a later call than the stopper has seen",
            of_calls(|[s, m, p, c]| {
                all("d", C, |d| implies(and([at(s, SEES), SEEN.of([s, p, d]), not(same(c, d))]), among(m, GIVERS)))
            }),
        ),
        conjunct(
            "checks_behind_the_fence",
            "an M that asks whether its P is wanted has shown where the P is",
            of_mp(|m, p| all("c", C, |c| implies(and([LEAVES.of([m, p, c]), not(DETACHED.of([c]))]), at(m, ENTERED)))),
        ),
    ]
}

/// What is wanted.
pub(super) fn safety() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    vec![
        conjunct(
            "one_owner_of_each_p",
            "a P is one thread's, to run Gs, to pass it on, or in its nextp; or it is in one other place",
            of_mp(|m, p| {
                let rels = [OWNS, HANDS, STARTS, NEXTP];
                let in_one_way = rels.map(|rel| {
                    let others = or(rels.into_iter().filter(|other| *other != rel).map(|other| other.of([m, p])));
                    implies(rel.of([m, p]), not(others))
                });
                let no_other = all("n", M, |n| implies(has(n, p), same(m, n)));
                let nowhere = [IDLE, HELD, SPARE].map(|rel| not(rel.of([p]))).into_iter().chain([in_no_word(p)]);
                implies(has(m, p), and(in_one_way.into_iter().chain([no_other]).chain(nowhere)))
            }),
        ),
        conjunct(
            "no_p_sits_out_a_stop",
            "while a stopper waits, a P in a system call is about to be handed off",
            of_calls(|[s, m, _, _]| implies(among(s, WAITERS), among(m, GIVERS))),
        ),
        conjunct(
            "no_p_is_idle_in_a_stop",
            "while a stopper waits, no P is idle",
            all("s", M, |s| all("p", P, |p| implies(among(s, WAITERS), not(IDLE.of([p]))))),
        ),
        conjunct("the_call_that_was_seen", "a P is taken out of the call in which it was seen", not(MISTAKEN.of([]))),
    ]
}
