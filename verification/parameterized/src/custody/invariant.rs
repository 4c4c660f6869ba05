//! Where a P is: the invariant, and what follows from it.

use super::*;
use crate::logic::{Var, and, at, implies, or, same, some};
use crate::system::{Conjunct, at_most_one};

/// The P is in its word, or about to be.
fn in_word(p: Var, c: Var) -> Formula {
    or([WORD.of([p, c]), some("w", M, |w| PUTS.of([w, p, c]))])
}

fn of_mp(body: impl FnOnce(Var, Var) -> Formula) -> Formula {
    all("m", M, |m| all("p", P, |p| body(m, p)))
}

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

fn neither_idle_nor_held(p: Var) -> [Formula; 2] {
    [not(IDLE.of([p])), not(HELD.of([p]))]
}

fn in_no_word(p: Var) -> Formula {
    all("c", C, |c| not(in_word(p, c)))
}

/// What is true at first, and stays true.
pub(super) fn invariant() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    let mut all_of_it = vec![
        conjunct("one_owner", "a P has one owner", at_most_one(OWNS, 0)),
        conjunct("one_hands_it_on", "one thread at a time hands a P on", at_most_one(HANDS, 0)),
        conjunct("one_nextp", "a P is in one nextp", at_most_one(NEXTP, 0)),
        conjunct(
            "owned_only",
            "a P with an owner is nowhere else",
            of_mp(|m, p| {
                let no_thread = all("n", M, |n| and([not(HANDS.of([n, p])), not(NEXTP.of([n, p]))]));
                implies(OWNS.of([m, p]), and(neither_idle_nor_held(p).into_iter().chain([no_thread, in_no_word(p)])))
            }),
        ),
        conjunct(
            "handed_only",
            "a P that is handed on is nowhere else",
            of_mp(|m, p| {
                let no_thread = all("n", M, |n| not(NEXTP.of([n, p])));
                implies(HANDS.of([m, p]), and(neither_idle_nor_held(p).into_iter().chain([no_thread, in_no_word(p)])))
            }),
        ),
        conjunct(
            "nextp_only",
            "a P in a nextp is nowhere else",
            of_mp(|m, p| implies(NEXTP.of([m, p]), and(neither_idle_nor_held(p).into_iter().chain([in_no_word(p)])))),
        ),
        conjunct(
            "in_word_only",
            "a P in a system call is neither idle nor held",
            of_pc(|p, c| implies(in_word(p, c), and(neither_idle_nor_held(p)))),
        ),
        conjunct("idle_or_held", "an idle P is not held", all("p", P, |p| not(and([IDLE.of([p]), HELD.of([p])])))),
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
            "put_once",
            "a buffered put is not in the word yet, and is one thread's",
            all("m", M, |m| {
                all("n", M, |n| {
                    of_pc(|p, c| {
                        let is_one = implies(PUTS.of([n, p, c]), same(m, n));
                        implies(PUTS.of([m, p, c]), and([not(WORD.of([p, c])), is_one]))
                    })
                })
            }),
        ),
        conjunct(
            "calls_in_words_go_on",
            "what is in a word is the call of the M that put it there",
            of_pc(|p, c| implies(in_word(p, c), some("m", M, |m| IN.of([m, c])))),
        ),
        conjunct(
            "puts_are_its_own",
            "a buffered put is of its thread's own call",
            all("m", M, |m| of_pc(|p, c| implies(PUTS.of([m, p, c]), IN.of([m, c])))),
        ),
        conjunct("one_call_an_m", "an M is in one system call", at_most_one(IN, 1)),
        conjunct("one_m_a_call", "a system call is one M's", at_most_one(IN, 0)),
        conjunct(
            "callers",
            "an M that is in a system call is there",
            all("m", M, |m| all("c", C, |c| implies(IN.of([m, c]), and([among(m, CALLERS), MADE.of([c])])))),
        ),
        conjunct("owners", "only an M that runs owns a P", of_mp(|m, p| implies(OWNS.of([m, p]), among(m, OWNERS)))),
        conjunct("one_p", "an M owns one P", at_most_one(OWNS, 1)),
        conjunct(
            "seen_places",
            "what was seen in a word is forgotten after the exchange",
            all("m", M, |m| {
                of_pc(|p, c| implies(SEEN.of([m, p, c]), among(m, Places::of(&[SEES, RETAKES, TAKES_BACK, KEEPS]))))
            }),
        ),
        conjunct("not_mistaken", "a P is taken out of the call in which it was seen", not(MISTAKEN.of([]))),
    ];
    all_of_it.extend(of_stops());
    all_of_it
}

/// What is true while a thread stops the world.
fn of_stops() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    vec![
        conjunct(
            "one_stopper",
            "one thread at a time stops the world",
            all("m", M, |m| all("n", M, |n| implies(and([among(m, STOPPERS), among(n, STOPPERS)]), same(m, n)))),
        ),
        conjunct(
            "stoppers_stop",
            "while a thread stops the world, the world is to stop",
            all("m", M, |m| implies(among(m, STOPPERS), STOPPING.of([]))),
        ),
        conjunct(
            "wanted_behind_the_fence",
            "and every thread can see that behind its StoreLoad",
            all("m", M, |m| implies(among(m, Places::of(&[SCANS, SEES, WAITS, STOPPED])), WANTED.of([]))),
        ),
        conjunct(
            "says_it",
            "before that, its request is at least in its store buffer",
            all("m", M, |m| implies(at(m, SAYS), or([ASKS.of([m]), WANTED.of([])]))),
        ),
        conjunct(
            "says_before_it_scans",
            "it looks at the words after its StoreLoad",
            of_mp(|m, p| implies(at(m, SAYS), not(SCANNED.of([m, p])))),
        ),
        conjunct(
            "none_idle_stopping",
            "while the world is to stop no P is idle",
            all("p", P, |p| implies(STOPPING.of([]), not(IDLE.of([p])))),
        ),
        conjunct(
            "waits_behind_all_words",
            "a stopper waits once it has looked at all words",
            of_mp(|m, p| implies(at(m, WAITS), SCANNED.of([m, p]))),
        ),
        conjunct(
            "scanned_gives",
            "a P in a word at which the stopper has looked is about to be handed off by its M",
            of_calls(|[s, m, p, _]| {
                let scans = among(s, Places::of(&[SCANS, SEES, WAITS]));
                implies(and([scans, SCANNED.of([s, p])]), among(m, GIVERS))
            }),
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
            all("m", M, |m| of_pc(|p, c| implies(and([PUTS.of([m, p, c]), not(DETACHED.of([c]))]), at(m, ENTERED)))),
        ),
        conjunct(
            "stopped_holds_all",
            "the stopper of a stopped world holds every P",
            of_mp(|m, p| implies(at(m, STOPPED), HELD.of([p]))),
        ),
    ]
}

/// What is wanted.
pub(super) fn safety() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    vec![
        conjunct(
            "one_owner_of_each_p",
            "a P has one owner, or is in one other place",
            of_mp(|m, p| {
                let is_one = |held: Formula, n: Var| implies(held, same(m, n));
                let no_thread = all("n", M, |n| {
                    and([not(NEXTP.of([n, p])), is_one(OWNS.of([n, p]), n), is_one(HANDS.of([n, p]), n)])
                });
                let once = not(and([OWNS.of([m, p]), HANDS.of([m, p])]));
                let in_no_call = all("c", C, |c| not(WORD.of([p, c])));
                let only = and(neither_idle_nor_held(p).into_iter().chain([in_no_call, no_thread, once]));
                implies(or([OWNS.of([m, p]), HANDS.of([m, p])]), only)
            }),
        ),
        conjunct(
            "no_p_runs_in_a_stopped_world",
            "in a stopped world no thread has a P, and none is in a system call",
            all("s", M, |s| {
                let nowhere = of_mp(|m, p| {
                    let no_thread = [OWNS, HANDS, NEXTP].map(|rel| not(rel.of([m, p])));
                    and(no_thread.into_iter().chain([in_no_word(p), HELD.of([p])]))
                });
                implies(at(s, STOPPED), nowhere)
            }),
        ),
        conjunct(
            "no_p_sits_out_a_stop",
            "while a stopper waits, a P in a system call is about to be handed off",
            of_calls(|[s, m, _, _]| implies(at(s, WAITS), among(m, GIVERS))),
        ),
        conjunct(
            "no_p_is_idle_in_a_stop",
            "while a stopper waits, no P is idle",
            all("s", M, |s| all("p", P, |p| implies(at(s, WAITS), not(IDLE.of([p]))))),
        ),
        conjunct("the_call_that_was_seen", "a P is taken out of the call in which it was seen", not(MISTAKEN.of([]))),
    ]
}
