//! Stopping the world: no P runs in a stopped world, stoppers come in turn, each is woken when it is its turn, and no start is lost.
//!
//! How a P changes hands is another protocol's: see `custody`. Here a P has an owner: an M that runs or
//! is in a system call, a waker that is about to set a `nextp`, a thread that has started the world.

pub mod ends;

use crate::finite::{Finite, State, Universe};
use crate::logic::{Formula, Places, Sort, Var, all, among, and, at, implies, not, or, same, some};
use crate::system::{Conjunct, System, Transition, Variant, at_most_one, nothing, places, relations};

/// Threads: Ms and stoppers.
pub const M: Sort = Sort("M");
/// Ps.
pub const P: Sort = Sort("P");

relations! {
    /// It has this P, to run Gs or to hand it on.
    OWNS = "owns"(M, P);
    /// The P is on the idle list.
    IDLE = "idle"(P);
    /// It is held for the stopper.
    HELD = "held"(P);
    /// There are Gs in its queues.
    BUSY = "busy"(P);
    /// The world is to stop.
    STOPPING = "stopping"();
    /// It is in the queue of stoppers.
    IN_LINE = "in_line"(M);
    /// It came into the queue before that one.
    AHEAD = "ahead"(M, M);
    /// Its parker was unparked, and it has not parked since.
    TOKEN = "token"(M);
    /// This thread has noted, under the lock, that it has to wake that stopper.
    OWES = "owes_a_wake"(M, M);
    /// A G was queued while the world was to stop, and no M was woken for it.
    UNSERVED = "unserved"();
    /// Gs are left in the queues that a step takes some out of: as it likes, and not so between steps.
    LEFT = "left"();
}

places! {
    /// It stops nothing.
    OUT;
    /// A stopper that asks whether it is first.
    ASKS;
    /// It sleeps until it is.
    SLEEPS_IN_LINE;
    /// It is first.
    FIRST;
    /// It has said that the world is to stop, and asks whether every P is held.
    WAITS;
    /// It sleeps until that is so.
    SLEEPS;
    /// The world is stopped.
    STOPPED;
    /// It has started the world, and has yet to call `wakep`.
    WAKES;
    /// Wrong: it holds a P for another M, and waits for the world to start.
    WAITS_FOR_START;
    /// Wrong: it has left the queue before the world runs.
    LEFT_EARLY;
}

const SERVED: Places = Places::of(&[FIRST, WAITS, SLEEPS, STOPPED]);
/// Those that do nothing for others now.
pub const SLEEPERS: Places = Places::of(&[SLEEPS_IN_LINE, SLEEPS, STOPPED, WAITS_FOR_START]);

/// The protocol; or with one step wrong, if `variant` names it.
pub fn system(variant: &str) -> System {
    System {
        name: "stw",
        about: "stopping the world: no P runs in a stopped world, every stopper has its turn, and no start is lost",
        memory: "SC",
        sorts: &[M, P],
        places: PLACES,
        relations: RELATIONS,
        axioms: Vec::new(),
        initial: initial(),
        begins,
        transitions: steps(variant),
        invariant: invariant(),
        safety: safety(),
        sizes: &[&[1, 1], &[2, 1], &[2, 2], &[3, 2]],
    }
}

fn initial() -> Vec<Formula> {
    let mut facts = vec![all("m", M, |m| at(m, OUT)), all("p", P, |p| IDLE.of([p]))];
    facts.extend([not(STOPPING.of([])), not(UNSERVED.of([]))]);
    facts.extend([OWNS, HELD, BUSY, IN_LINE, AHEAD, TOKEN, OWES].map(nothing));
    facts
}

fn begins(system: &System, sizes: Universe) -> Vec<State> {
    let finite = Finite::new(system, sizes);
    let mut state = State::EMPTY;
    (0..sizes[1] as u8).for_each(|p| finite.put(&mut state, IDLE, &[p], true));
    vec![state]
}

/// It is the first in the queue.
pub fn is_first(s: Var) -> Formula {
    and([IN_LINE.of([s]), all("a", M, |a| not(AHEAD.of([a, s])))])
}

/// Each P is held.
pub fn all_held() -> Formula {
    all("h", P, |h| HELD.of([h]))
}

impl Transition {
    /// If every P is held now, `m` owes the first in the queue a wake.
    fn notes_the_stopper(&mut self, m: Var) -> &mut Self {
        self.assign(OWES, |x| or([OWES.of([x[0], x[1]]), and([same(x[0], m), all_held(), is_first(x[1])])]))
    }

    /// `m` leaves the queue, and owes the next a wake.
    fn leaves_the_line(&mut self, m: Var) -> &mut Self {
        self.clear(IN_LINE, &[m]);
        self.clear_all(AHEAD, &[m]);
        self.assign(OWES, |x| or([OWES.of([x[0], x[1]]), and([same(x[0], m), is_first(x[1])])]))
    }

    /// `m` comes into the queue, behind all others.
    pub fn joins_the_line(&mut self, m: Var) -> &mut Self {
        self.when(not(IN_LINE.of([m])));
        self.assign(AHEAD, |x| or([AHEAD.of([x[0], x[1]]), and([same(x[1], m), IN_LINE.of([x[0]])])]))
            .set(IN_LINE, &[m])
    }

    /// `m`, which has `q`, takes Gs out of the queues of `p`, perhaps the last.
    pub fn takes_gs(&mut self, m: Var, p: Var, q: Var) -> &mut Self {
        self.when(OWNS.of([m, q])).when(BUSY.of([p])).for_each_set(LEFT);
        self.assign(BUSY, |x| and([BUSY.of([x[0]]), or([not(same(x[0], p)), LEFT.of([])])])).with_set_done()
    }

    /// `m` may sleep: it has no P, and owes no wake.
    pub fn owes_nothing(&mut self, m: Var) -> &mut Self {
        self.when(all("p", P, |p| not(OWNS.of([m, p])))).when(all("s", M, |s| not(OWES.of([m, s]))))
    }
}

fn steps(variant: &str) -> Vec<Transition> {
    let is = |name: &str| variant == name;
    let mut steps = Vec::new();
    let mut step = |name, source, make: &dyn Fn(&mut Transition, Var)| {
        let mut t = Transition::new(name, source);
        let m = t.for_each("m", M);
        make(&mut t, m);
        steps.push(t);
    };

    // A P has owners, one after the other.
    step("gets_a_p", "sched/central.rs: pidleget", &|t, m| {
        let p = t.for_each("p", P);
        t.when(not(among(m, SLEEPERS))).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]);
    });
    step("hands_on", "types/m.rs: set_nextp", &|t, m| {
        let (n, p) = (t.for_each("n", M), t.for_each("p", P));
        t.when(not(among(n, SLEEPERS))).when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(OWNS, &[n, p]);
    });
    step("takes_over", "protocol/syscall.rs: take", &|t, m| {
        let (n, p) = (t.for_each("n", M), t.for_each("p", P));
        t.when(not(among(m, SLEEPERS))).when(OWNS.of([n, p])).clear(OWNS, &[n, p]).set(OWNS, &[m, p]);
    });
    step("readies", "sched/mod.rs: ready", &|t, m| {
        let p = t.for_each("p", P);
        t.when(OWNS.of([m, p])).set(BUSY, &[p]);
    });
    // It, or a thief: also out of a P that is held already.
    step("takes_gs", "queues/local.rs: get, steal_some, put", &|t, m| {
        let (p, q) = (t.for_each("p", P), t.for_each("q", P));
        t.takes_gs(m, p, q);
    });
    step("idles", "sched/central.rs: releasep", &|t, m| {
        let p = t.for_each("p", P);
        t.when(OWNS.of([m, p])).when(not(BUSY.of([p])));
        if !is("forgets-the-stop") {
            t.when(not(STOPPING.of([])));
        }
        t.clear(OWNS, &[m, p]).set(IDLE, &[p]);
    });
    step("hands_in", "sched/central.rs: releasep", &|t, m| {
        let p = t.for_each("p", P);
        t.when(OWNS.of([m, p])).when(STOPPING.of([])).clear(OWNS, &[m, p]).set(HELD, &[p]);
        if !is("wakes-nobody") {
            t.notes_the_stopper(m);
        }
    });
    step("submits", "sched/mod.rs: submit", &|t, _| {
        t.assign(UNSERVED, |_| or([UNSERVED.of([]), STOPPING.of([])]));
    });
    step("takes_global", "sched/find.rs: take_global", &|t, m| {
        let p = t.for_each("p", P);
        t.when(OWNS.of([m, p])).assign(UNSERVED, |_| Formula::Is(false));
    });
    if is("stopped-with-a-p-in-hand") {
        step("waits_for_the_start", "sched/threads.rs: startm", &|t, m| {
            t.from(m, OUT).when(STOPPING.of([])).goes(m, WAITS_FOR_START);
        });
    }
    step("wakes", "sched/central.rs: make", &|t, m| {
        let s = t.for_each("s", M);
        t.when(OWES.of([m, s])).clear(OWES, &[m, s]).set(TOKEN, &[s]);
    });

    // A stopper, until it is its turn.
    step("queues_up", "protocol/stw/mod.rs: queue_up", &|t, m| {
        t.from(m, OUT).joins_the_line(m).goes(m, ASKS);
    });
    if is("pushes") {
        step("pushes_in", "protocol/stw/mod.rs: queue_up", &|t, m| {
            t.from(m, OUT).when(all("s", M, |s| not(among(s, SERVED)))).joins_the_line(m).goes(m, FIRST);
        });
    }
    step("is_first", "protocol/stw/mod.rs: is_first", &|t, m| {
        t.from(m, ASKS).when(is_first(m)).goes(m, FIRST);
    });
    step("is_not_first", "protocol/stw/mod.rs: is_first", &|t, m| {
        t.from(m, ASKS).when(not(is_first(m))).owes_nothing(m).goes(m, SLEEPS_IN_LINE);
    });
    for (name, spuriously, from, to) in [
        ("is_woken_in_line", "wakes_spuriously_in_line", SLEEPS_IN_LINE, ASKS),
        ("is_woken", "wakes_spuriously", SLEEPS, WAITS),
    ] {
        step(name, "host.rs: park", &|t, m| {
            t.from(m, from).when(TOKEN.of([m])).clear(TOKEN, &[m]).goes(m, to);
        });
        step(spuriously, "host.rs: park", &|t, m| {
            t.from(m, from).goes(m, to);
        });
    }

    // It stops the world, and starts it.
    step("begins_to_stop", "sched/stw.rs: begin", &|t, m| {
        t.from(m, FIRST).assign(STOPPING, |_| Formula::Is(true));
        t.assign(HELD, |x| or([HELD.of([x[0]]), IDLE.of([x[0]])])).assign(IDLE, |_| Formula::Is(false));
        t.notes_the_stopper(m).goes(m, WAITS);
    });
    step("is_stopped", "protocol/stw/mod.rs: is_stopped", &|t, m| {
        t.from(m, WAITS).when(all_held()).owes_nothing(m).goes(m, STOPPED);
    });
    step("is_not_stopped", "protocol/stw/mod.rs: is_stopped", &|t, m| {
        t.from(m, WAITS).when(not(all_held())).owes_nothing(m).goes(m, SLEEPS);
    });
    if is("released-early") {
        step("leaves_early", "protocol/stw/mod.rs: leave_line", &|t, m| {
            t.from(m, STOPPED).leaves_the_line(m).goes(m, LEFT_EARLY);
        });
    }
    step("starts_the_world", "sched/stw.rs: start_the_world", &|t, m| {
        let early = is("released-early");
        t.from(m, if early { LEFT_EARLY } else { STOPPED }).assign(STOPPING, |_| Formula::Is(false));
        if is("forgets-the-busy") {
            t.assign(IDLE, |x| or([IDLE.of([x[0]]), HELD.of([x[0]])]));
        } else {
            t.assign(IDLE, |x| or([IDLE.of([x[0]]), and([HELD.of([x[0]]), not(BUSY.of([x[0]]))])]));
            t.assign(OWNS, |x| or([OWNS.of([x[0], x[1]]), and([same(x[0], m), HELD.of([x[1]]), BUSY.of([x[1]])])]));
        }
        t.assign(HELD, |_| Formula::Is(false));
        if !early {
            t.leaves_the_line(m);
        }
        t.goes(m, if is("starts-and-wakes-nobody") { OUT } else { WAKES });
    });
    step("calls_wakep", "sched/central.rs: make", &|t, m| {
        t.from(m, WAKES).assign(UNSERVED, |_| and([UNSERVED.of([]), STOPPING.of([])])).goes(m, OUT);
    });
    steps
}

/// It was unparked, or a thread is about to unpark it.
fn will_wake(s: Var) -> Formula {
    or([TOKEN.of([s]), some("w", M, |w| OWES.of([w, s]))])
}

fn invariant() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    let of_mp = |body: &dyn Fn(Var, Var) -> Formula| all("m", M, |m| all("p", P, |p| body(m, p)));
    let of_mn = |body: &dyn Fn(Var, Var) -> Formula| all("m", M, |m| all("n", M, |n| body(m, n)));
    vec![
        conjunct("one_owner", "a P has one owner", at_most_one(OWNS, 0)),
        conjunct(
            "owned_only",
            "a P with an owner is neither held nor idle",
            of_mp(&|m, p| implies(OWNS.of([m, p]), and([not(HELD.of([p])), not(IDLE.of([p]))]))),
        ),
        conjunct(
            "owners_are_awake",
            "a thread that has a P does not sleep",
            of_mp(&|m, p| implies(OWNS.of([m, p]), not(among(m, SLEEPERS)))),
        ),
        conjunct(
            "wakers_are_awake",
            "a thread that owes a wake does not sleep",
            of_mn(&|m, n| implies(OWES.of([m, n]), not(among(m, SLEEPERS)))),
        ),
        conjunct(
            "none_is_lost",
            "each P is somewhere",
            all("p", P, |p| or([HELD.of([p]), IDLE.of([p]), some("m", M, |m| OWNS.of([m, p]))])),
        ),
        conjunct(
            "held_stopping",
            "Ps are held only while the world is to stop",
            all("p", P, |p| implies(HELD.of([p]), STOPPING.of([]))),
        ),
        conjunct(
            "none_idle_stopping",
            "while it is, none is idle",
            all("p", P, |p| implies(STOPPING.of([]), not(IDLE.of([p])))),
        ),
        conjunct(
            "line",
            "a stopper is in the queue",
            all("s", M, |s| implies(among(s, SERVED.and(Places::of(&[ASKS, SLEEPS_IN_LINE]))), IN_LINE.of([s]))),
        ),
        conjunct(
            "served_in_turn",
            "a stopper that is served is first",
            all("s", M, |s| all("a", M, |a| implies(among(s, SERVED), not(AHEAD.of([a, s]))))),
        ),
        conjunct(
            "line_is_total",
            "of two in the queue, one came first",
            of_mn(&|m, n| {
                implies(and([IN_LINE.of([m]), IN_LINE.of([n])]), or([same(m, n), AHEAD.of([m, n]), AHEAD.of([n, m])]))
            }),
        ),
        conjunct(
            "busy_is_not_idle",
            "a P with Gs is not idle",
            all("p", P, |p| implies(IDLE.of([p]), not(BUSY.of([p])))),
        ),
        conjunct(
            "first_will_wake",
            "the first in the queue does not sleep on",
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
            of_mp(&|m, p| implies(at(m, STOPPED), HELD.of([p]))),
        ),
        conjunct(
            "unserved_is_served",
            "what was queued while the world was to stop is served: it still is, or a thread that has started it is about to call wakep",
            implies(UNSERVED.of([]), or([STOPPING.of([]), some("s", M, |s| at(s, WAKES))])),
        ),
    ]
}

fn safety() -> Vec<Conjunct> {
    let conjunct = Conjunct::new;
    vec![
        conjunct(
            "no_p_runs_in_a_stopped_world",
            "in a stopped world every P is held, and no thread has one",
            all("s", M, |s| {
                implies(at(s, STOPPED), all("p", P, |p| and([HELD.of([p]), all("m", M, |m| not(OWNS.of([m, p])))])))
            }),
        ),
        conjunct(
            "one_at_a_time",
            "one thread at a time stops the world",
            all("s", M, |s| all("o", M, |o| implies(and([among(s, SERVED), among(o, SERVED)]), same(s, o)))),
        ),
        conjunct(
            "first_come_first_served",
            "no stopper is served before one that came before it",
            all("s", M, |s| all("o", M, |o| implies(AHEAD.of([o, s]), not(among(s, SERVED))))),
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
            "while the world is to stop, a P that is not held is that of a thread that is awake",
            all("p", P, |p| {
                let owner = some("m", M, |m| and([OWNS.of([m, p]), not(among(m, SLEEPERS))]));
                implies(and([STOPPING.of([]), not(HELD.of([p]))]), owner)
            }),
        ),
        conjunct(
            "no_start_is_lost",
            "in a world that runs each P is idle without a G, or has an owner; and what was queued meanwhile is served",
            all("p", P, |p| {
                let is_somewhere = or([and([IDLE.of([p]), not(BUSY.of([p]))]), some("m", M, |m| OWNS.of([m, p]))]);
                let is_served = or([not(UNSERVED.of([])), some("s", M, |s| at(s, WAKES))]);
                implies(not(STOPPING.of([])), and([is_somewhere, is_served]))
            }),
        ),
    ]
}

/// Wrong in so many steps; 0: no execution was found that goes wrong.
const fn wrong(steps: usize, name: &'static str, what: &'static str, known: &'static str) -> Variant {
    Variant { name, what, known, sizes: &[2, 1], steps: if steps == 0 { None } else { Some(steps) } }
}

/// Wrong variants.
pub const WRONG: &[Variant] = &[
    wrong(5, "forgets-the-stop", "a P is idled although the world is to stop", "mistake of sched/handoff.rs"),
    wrong(6, "wakes-nobody", "an M that hands in the last P does not wake the stopper", "mutant stw-wakes-nobody"),
    wrong(
        12,
        "released-early",
        "the next stopper is let in before the world runs again",
        "mutant stw-released-before-the-world-runs; golang/go #10618",
    ),
    Variant {
        sizes: &[3, 1],
        ..wrong(
            2,
            "pushes",
            "a stopper that asks just when the turn is free overtakes those that wait",
            "mutant stw-pushes-in; golang/go #40459",
        )
    },
    wrong(
        5,
        "stopped-with-a-p-in-hand",
        "a thread that holds a P for another M waits for the world to start",
        "golang/go #42237",
    ),
    wrong(8, "forgets-the-busy", "a P with Gs in its queues is idled when the world starts", ""),
    wrong(7, "starts-and-wakes-nobody", "the world is started without a wakep for what was queued meanwhile", ""),
];

/// Changes that are right.
pub const RIGHT: &[Variant] = &[];
