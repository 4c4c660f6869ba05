//! Stopping the world: stoppers come in turn; every P is held for the one that is the first, and none is idle; when it starts the world
//! those with a G in their ring are run, the others are idle, and an M is woken for what was queued.
//!
//! How an M and a stopper see each other at a system call is in [`calls`](super::calls).

use super::calls::in_no_word;
use super::resizes;
use super::state::*;
use super::steps::step;
use crate::logic::{Formula, Places, Var, all, among, and, at, implies, not, or, same, some};
use crate::system::{Conjunct, Transition, at_most_one};

/// It is the first in the line.
pub fn is_first(s: Var) -> Formula {
    and([IN_LINE.of([s]), all("a", M, |a| not(AHEAD.of([a, s])))])
}

/// Each P that there is is held.
pub fn all_held() -> Formula {
    all("h", P, is_held_or_spare)
}

/// It is held, or is none of those that there are.
pub fn is_held_or_spare(p: Var) -> Formula {
    or([HELD.of([p]), SPARE.of([p])])
}

impl Transition {
    /// The world is to stop, says `m`, and each P that was idle is held.
    pub fn holds_what_is_idle(&mut self, m: Var) -> &mut Self {
        self.set(REQUESTS, &[m]).clear_all(SCANNED, &[m]);
        self.assign(STOPPING, |_| Formula::Is(true));
        self.assign(HELD, |x| or([HELD.of([x[0]]), IDLE.of([x[0]])])).assign(IDLE, |_| Formula::Is(false))
    }

    /// If every P is held now, `m` owes the first in the line a wake.
    fn notes_the_stopper(&mut self, m: Var) -> &mut Self {
        self.assign(OWES, |x| or([OWES.of([x[0], x[1]]), and([same(x[0], m), all_held(), is_first(x[1])])]))
    }

    /// `m` comes into the line, behind all others.
    pub fn joins_the_line(&mut self, m: Var) -> &mut Self {
        self.when(not(IN_LINE.of([m])));
        self.assign(AHEAD, |x| or([AHEAD.of([x[0], x[1]]), and([same(x[1], m), IN_LINE.of([x[0]])])]))
            .set(IN_LINE, &[m])
    }

    /// `m` leaves the line, and owes the next a wake.
    fn leaves_the_line(&mut self, m: Var) -> &mut Self {
        self.clear(IN_LINE, &[m]).clear_all(AHEAD, &[m]);
        self.assign(OWES, |x| or([OWES.of([x[0], x[1]]), and([same(x[0], m), is_first(x[1])])]))
    }

    /// `m` may sleep: it has no P, and owes no wake.
    pub fn owes_nothing(&mut self, m: Var) -> &mut Self {
        self.when(all("p", P, |p| not(has(m, p)))).when(all("s", M, |s| not(OWES.of([m, s]))))
    }

    /// The world runs: of the Ps that are held, `m` has those with a G, and the others are idle.
    pub fn starts(&mut self, m: Var) -> &mut Self {
        let is_its = |x: &[Var]| and([same(x[0], m), HELD.of([x[1]]), ring_shows(x[1])]);
        self.assign(STOPPING, |_| Formula::Is(false)).assign(WANTED, |_| Formula::Is(false));
        self.assign(STARTS, |x| or([STARTS.of([x[0], x[1]]), is_its(x)]));
        self.assign(IDLE, |x| or([IDLE.of([x[0]]), and([HELD.of([x[0]]), not(ring_shows(x[0]))])]));
        self.assign(HELD, |_| Formula::Is(false))
    }
}

/// The steps of a stop, with one of them wrong if `variant` names it.
pub fn steps(variant: &str, steps: &mut Vec<Transition>) {
    in_line(variant, steps);
    stops(variant, steps);
    meanwhile(variant, steps);
    resizes::steps(variant, steps);
}

/// A stopper, until it is its turn.
fn in_line(variant: &str, steps: &mut Vec<Transition>) {
    step(steps, "queues_up", "protocol/stw/mod.rs: queue_up", |t, m| {
        t.from_any(m, Places::of(&[RUN, OUT])).joins_the_line(m).goes(m, ASKS);
    });
    if variant == "pushes" {
        step(steps, "pushes_in", "protocol/stw/mod.rs: queue_up", |t, m| {
            t.from(m, OUT).when(all("s", M, |s| not(among(s, SERVED)))).joins_the_line(m).goes(m, FIRST);
        });
    }
    step(steps, "is_first", "protocol/stw/mod.rs: is_first", |t, m| {
        t.from(m, ASKS).when(is_first(m)).goes(m, FIRST);
    });
    // As if another thread handed it off meanwhile.
    step(steps, "hands_its_p_on", "sched/stw.rs: queue_up", |t, m| {
        let (h, p) = (t.for_each("h", M), t.for_each("p", P));
        t.from(m, ASKS).from(h, OUT).passes_on(m, p, h).goes(h, HAND_OFF);
    });
    step(steps, "is_not_first", "protocol/stw/mod.rs: is_first", |t, m| {
        t.from(m, ASKS).when(not(is_first(m))).owes_nothing(m).goes(m, SLEEPS_IN_LINE);
    });
    for (name, spuriously, from, to) in [
        ("is_woken_in_line", "wakes_spuriously_in_line", SLEEPS_IN_LINE, ASKS),
        ("is_woken", "wakes_spuriously", SLEEPS, WAITS),
    ] {
        step(steps, name, "host.rs: park", |t, m| {
            t.from(m, from).when(TOKEN.of([m])).clear(TOKEN, &[m]).goes(m, to);
        });
        step(steps, spuriously, "host.rs: park", |t, m| {
            t.from(m, from).goes(m, to);
        });
    }
    step(steps, "unparks", "sched/central.rs: make", |t, m| {
        let s = t.for_each("s", M);
        t.when(OWES.of([m, s])).clear(OWES, &[m, s]).set(TOKEN, &[s]);
    });
}

/// It stops the world, and starts it.
fn stops(variant: &str, steps: &mut Vec<Transition>) {
    step(steps, "begins_to_stop", "sched/stw.rs: begin", |t, m| {
        t.from(m, FIRST).when(not(has_p(m))).takes_lock(m).holds_what_is_idle(m).notes_the_stopper(m).goes(m, SAYS);
    });
    step(steps, "begins_to_stop_with_a_p", "sched/stw.rs: begin", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, FIRST).when(OWNS.of([m, p])).takes_lock(m).holds_what_is_idle(m);
        t.clear(OWNS, &[m, p]).set(HELD, &[p]).notes_the_stopper(m).goes(m, SAYS);
    });
    step(steps, "holds_it", "sched/central.rs: releasep", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, HOLDS).when(HANDS.of([m, p])).takes_lock(m).clear(HANDS, &[m, p]).set(HELD, &[p]);
        t.notes_the_stopper(m).goes(m, SCANS);
    });
    step(steps, "is_stopped", "protocol/stw/mod.rs: is_stopped", |t, m| {
        t.from(m, WAITS).when(all_held()).owes_nothing(m).goes(m, STOPPED);
    });
    step(steps, "is_not_stopped", "protocol/stw/mod.rs: is_stopped", |t, m| {
        t.from(m, WAITS).when(not(all_held())).owes_nothing(m).goes(m, SLEEPS);
    });
    let early = variant == "released-early";
    if early {
        step(steps, "leaves_early", "protocol/stw/mod.rs: leave_line", |t, m| {
            t.from(m, STOPPED).leaves_the_line(m).goes(m, LEFT_EARLY);
        });
    }
    step(steps, "starts_the_world", "sched/stw.rs: start_the_world", |t, m| {
        t.from(m, if early { LEFT_EARLY } else { STOPPED }).takes_lock(m);
        if variant == "idles-what-has-gs" {
            t.assign(STOPPING, |_| Formula::Is(false)).assign(IDLE, |x| or([IDLE.of([x[0]]), HELD.of([x[0]])]));
            t.assign(HELD, |_| Formula::Is(false));
        } else {
            t.starts(m);
        }
        if !early {
            t.leaves_the_line(m);
        }
        t.goes(m, if variant == "starts-and-wakes-no-m" { OUT } else { QUEUED });
    });
    step(steps, "runs_a_p", "sched/stw.rs: start_the_world", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, OUT).when(STARTS.of([m, p])).clear(STARTS, &[m, p]).set(HANDS, &[m, p]).goes(m, START_UNCOUNTED);
    });
}

/// What others do meanwhile.
fn meanwhile(variant: &str, steps: &mut Vec<Transition>) {
    let hands_in = |t: &mut Transition, m, p, holds| {
        t.clear(holds, &[m, p]).set(HELD, &[p]);
        if variant != "wakes-nobody" {
            t.notes_the_stopper(m);
        }
    };
    step(steps, "hands_in", "sched/find.rs: idle", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, SEARCH).when(OWNS.of([m, p])).takes_lock(m).when(STOPPING.of([])).clear_all(YIELDED, &[m]);
        hands_in(t, m, p, OWNS);
        t.goes(m, REST);
    });
    step(steps, "sees_the_stop", "sched/find.rs: idle", |t, m| {
        t.from(m, SPIN).takes_lock(m).when(STOPPING.of([])).set(LOCKS, &[m]).goes(m, GIVES_UP);
    });
    step(steps, "hands_in_counted", "protocol/spinning.rs: give_up", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, GIVES_UP).when(OWNS.of([m, p])).drains(m).clear(LOCKS, &[m]);
        if variant != "stays-counted-in-a-stop" {
            t.clear(COUNTED, &[m]);
        }
        hands_in(t, m, p, OWNS);
        t.goes(m, REST);
    });
    step(steps, "hands_in_what_it_hands_on", "sched/handoff.rs: settle", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, HAND_OFF).when(HANDS.of([m, p])).takes_lock(m).when(STOPPING.of([]));
        hands_in(t, m, p, HANDS);
        t.goes_out(m);
    });
    step(steps, "hands_in_refused", "sched/threads.rs: refused", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, REFUSED_DRAIN).when(HANDS.of([m, p])).when(not(ring_shows(p))).when(STOPPING.of([]));
        hands_in(t, m, p, HANDS);
        t.goes_if(m, COUNTED.of([m]), REFUSED_LOWER, REFUSED_ASK);
    });
    if variant == "stopped-with-a-p-in-hand" {
        step(steps, "waits_for_the_start", "sched/threads.rs: startm", |t, m| {
            t.from(m, START_UNCOUNTED).when(STOPPING.of([])).goes(m, WAITS_FOR_START);
        });
    }
}

/// It has this P, has left it in the P's word, or in the `nextp` of an M that it starts.
fn has_or_left(m: Var, p: Var) -> Formula {
    let starts = some("w", M, |w| and([RESERVES.of([m, w]), NEXTP.of([w, p])]));
    or([has(m, p), some("c", C, |c| and([in_word(p, c), IN.of([m, c])])), starts])
}

/// It was unparked, or a thread is about to unpark it.
fn will_wake(s: Var) -> Formula {
    or([TOKEN.of([s]), some("w", M, |w| OWES.of([w, s]))])
}

pub(super) fn of_mp(body: impl FnOnce(Var, Var) -> Formula) -> Formula {
    all("m", M, |m| all("p", P, |p| body(m, p)))
}

fn of_mn(body: impl FnOnce(Var, Var) -> Formula) -> Formula {
    all("m", M, |m| all("n", M, |n| body(m, n)))
}

/// What is true of stops.
pub(super) fn invariant() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    let mut all_of_it = vec![
        conjunct(
            "none_idle_stopping",
            "while the world is to stop no P is idle",
            all("p", P, |p| implies(STOPPING.of([]), not(IDLE.of([p])))),
        ),
        conjunct(
            "none_is_idled_in_a_stop",
            "nor is one being idled",
            all("m", M, |m| implies(among(m, IDLING), not(STOPPING.of([])))),
        ),
        conjunct(
            "gives_up_in_a_stop",
            "an M that leaves the count without another look does so in a stop",
            all("m", M, |m| implies(at(m, GIVES_UP), STOPPING.of([]))),
        ),
        conjunct(
            "held_stopping",
            "Ps are held only while the world is to stop",
            all("p", P, |p| implies(HELD.of([p]), STOPPING.of([]))),
        ),
        conjunct(
            "stoppers_stop",
            "from when a stopper has said so until it starts the world, it is to stop",
            all("s", M, |s| implies(among(s, STOPPERS), STOPPING.of([]))),
        ),
        conjunct(
            "one_starts_it",
            "one thread has a P that it is to run, once the world is started",
            at_most_one(STARTS, 0),
        ),
        conjunct(
            "starts_only",
            "and no other thread has it",
            of_mp(|m, p| {
                all("n", M, |n| implies(STARTS.of([m, p]), and([not(OWNS.of([n, p])), not(HANDS.of([n, p]))])))
            }),
        ),
        conjunct(
            "starters_are_awake",
            "a thread that is to run a P does not sleep",
            of_mp(|m, p| implies(STARTS.of([m, p]), not(among(m, SLEEPERS)))),
        ),
        conjunct(
            "none_is_lost",
            "each P is somewhere",
            all("p", P, |p| {
                or([is_held_or_spare(p), IDLE.of([p]), some("m", M, |m| has(m, p)), some("c", C, |c| in_word(p, c))])
            }),
        ),
    ];
    all_of_it.extend(resizes::invariant());
    all_of_it.extend(of_the_line());
    all_of_it
}

fn of_the_line() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    vec![
        conjunct(
            "wakers_are_awake",
            "a thread that owes a wake does not sleep",
            of_mn(|m, n| implies(OWES.of([m, n]), not(among(m, SLEEPERS)))),
        ),
        conjunct(
            "line",
            "a stopper is in the line",
            all("s", M, |s| implies(among(s, SERVED.and(Places::of(&[ASKS, SLEEPS_IN_LINE]))), IN_LINE.of([s]))),
        ),
        conjunct(
            "served_in_turn",
            "a stopper that is served is first",
            of_mn(|s, a| implies(among(s, SERVED), not(AHEAD.of([a, s])))),
        ),
        conjunct(
            "line_is_total",
            "of two in the line, one came first",
            of_mn(|m, n| {
                implies(and([IN_LINE.of([m]), IN_LINE.of([n])]), or([same(m, n), AHEAD.of([m, n]), AHEAD.of([n, m])]))
            }),
        ),
        conjunct(
            "first_will_wake",
            "the first in the line does not sleep on",
            all("s", M, |s| implies(and([at(s, SLEEPS_IN_LINE), is_first(s)]), will_wake(s))),
        ),
        conjunct(
            "stopper_will_wake",
            "a stopper does not sleep on when every P is held",
            all("s", M, |s| implies(and([at(s, SLEEPS), all_held()]), will_wake(s))),
        ),
        conjunct(
            "stopped_holds_all",
            "the stopper of a stopped world holds every P",
            of_mp(|m, p| implies(at(m, STOPPED), is_held_or_spare(p))),
        ),
    ]
}

/// What is wanted of stops.
pub(super) fn safety() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    let mut all_of_it = vec![
        conjunct(
            "no_p_runs_in_a_stopped_world",
            "in a stopped world every P is held, no thread has one, and none is in a system call",
            all("s", M, |s| {
                let nowhere = |m, p| and([not(IDLE.of([p])), not(has(m, p)), in_no_word(p)]);
                implies(at(s, STOPPED), of_mp(|m, p| and([is_held_or_spare(p), nowhere(m, p)])))
            }),
        ),
        conjunct(
            "one_at_a_time",
            "one thread at a time stops the world",
            of_mn(|s, o| implies(and([among(s, SERVED), among(o, SERVED)]), same(s, o))),
        ),
        conjunct(
            "first_come_first_served",
            "no stopper is served before one that came before it",
            of_mn(|s, o| implies(AHEAD.of([o, s]), not(among(s, SERVED)))),
        ),
        conjunct(
            "every_stopper_is_woken",
            "a stopper whose turn it is, or whose world is stopped, does not sleep on",
            all("s", M, |s| {
                let turn = or([and([at(s, SLEEPS_IN_LINE), is_first(s)]), and([at(s, SLEEPS), all_held()])]);
                let is_awake = all("w", M, |w| implies(OWES.of([w, s]), not(among(w, SLEEPERS))));
                implies(turn, and([will_wake(s), is_awake]))
            }),
        ),
        conjunct(
            "every_p_can_be_handed_in",
            "while the world is to stop, a P that is not held is that of a thread that is awake, or is in its system call",
            all("p", P, |p| {
                let owner = some("m", M, |m| and([has_or_left(m, p), not(among(m, SLEEPERS))]));
                implies(and([STOPPING.of([]), not(is_held_or_spare(p))]), owner)
            }),
        ),
        conjunct(
            "no_start_is_lost",
            "in a world that runs each P that there is is idle, or a thread that is awake has it, or has left it in its word",
            all("p", P, |p| {
                let owner = some("m", M, |m| and([has_or_left(m, p), not(among(m, SLEEPERS))]));
                implies(not(STOPPING.of([])), or([IDLE.of([p]), SPARE.of([p]), owner]))
            }),
        ),
    ];
    all_of_it.push(resizes::safety());
    all_of_it
}
