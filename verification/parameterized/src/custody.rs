//! Custody of a P: one owner at every moment, through system calls, retaking, hand-off, sleep, stop; and no P sits out a stop in
//! a system call.
//!
//! A system call is an element: what its M leaves in the P's word is that element, as M and tick are in the kernel. (A tick
//! that comes round, after 2^32 takings while a thread stands between its load and its exchange, is left out.)

use crate::finite::{Finite, State, Universe};
use crate::logic::{Formula, Places, Sort, Var, all, among, and, at, implies, not, or, same, some};
use crate::system::{Conjunct, System, Transition, Variant, places, relations};

/// Threads: Ms, the monitor, stoppers.
pub const M: Sort = Sort("M");
/// Ps.
pub const P: Sort = Sort("P");
/// System calls.
pub const C: Sort = Sort("C");

relations! {
    /// It holds the `OwnedP`.
    OWNS = "owns"(M, P);
    /// The P is in this M's `nextp`.
    NEXTP = "nextp"(M, P);
    /// The P is on the idle list.
    IDLE = "idle"(P);
    /// It is held for the stopper.
    HELD = "held"(P);
    /// Its word says that its M is in this system call.
    WORD = "word"(P, C);
    /// This thread has stored that into the word, and the store is in its store buffer.
    PUTS = "puts_buffered"(M, P, C);
    /// This thread is in this system call.
    IN = "in_call"(M, C);
    /// There was such a call.
    MADE = "made"(C);
    /// This M made the call. Only a wrong variant asks.
    BY = "made_by"(C, M);
    /// The call is none: a G that ignores preemption was interrupted. The stopper may miss it, and the monitor will not.
    DETACHED = "detached"(C);
    /// This thread has read the word of this P, and found this call there.
    SEEN = "seen"(M, P, C);
    /// A P was taken out of another call than the one that was seen.
    MISTAKEN = "mistaken"();
    /// The world is to stop. Under the lock.
    STOPPING = "stopping"();
    /// `wanted` says so.
    WANTED = "wanted"();
    /// This stopper's store to `wanted` is in its store buffer.
    ASKS = "asks_buffered"(M);
    /// This stopper has looked at the word of this P.
    SCANNED = "scanned"(M, P);
}

places! {
    /// Without a P.
    OUT;
    /// An M sleeps, until its `nextp` is set.
    ASLEEP;
    /// An M runs a G.
    RUN;
    /// It has left its P in the word, and has yet to pass the StoreLoad.
    ENTERED;
    /// It has passed it, and asks whether its P is wanted.
    CHECKS;
    /// Its P is wanted: it takes it back, to hand it off.
    GIVES;
    /// It hands a P off, and is in a system call.
    HANDS_INSIDE;
    /// It is in a system call.
    INSIDE;
    /// It is back, and its P is gone.
    BACK;
    /// It is back, and has seen its old P in another's call.
    TAKES_BACK;
    /// The monitor has seen a P in a system call.
    RETAKES;
    /// It holds a P to hand it off.
    HANDS;
    /// A stopper: all that were idle are held; it has yet to pass the StoreLoad.
    SAYS;
    /// A stopper that looks at the words.
    SCANS;
    /// It has seen a P in a word.
    SEES;
    /// It has taken it.
    HOLDS;
    /// It has looked at all words, and sleeps until all Ps are held.
    WAITS;
    /// The world is stopped.
    STOPPED;
    /// Wrong: an M that has read `wanted` before it leaves its P.
    READ_FIRST;
    /// Wrong: an M that has seen its P in its word, and keeps it.
    KEEPS;
}

const STOPPERS: Places = Places::of(&[SAYS, SCANS, SEES, HOLDS, WAITS, STOPPED]);
const OWNERS: Places = Places::of(&[RUN, HANDS, HANDS_INSIDE, HOLDS, READ_FIRST]);
const CALLERS: Places = Places::of(&[ENTERED, CHECKS, GIVES, INSIDE, HANDS_INSIDE, KEEPS]);

/// The protocol; or with one step wrong, if `variant` names it.
pub fn system(variant: &str) -> System {
    System {
        name: "custody",
        about: "custody of a P: one owner at every moment, and none sits out a stop in a system call",
        memory: "TSO-like store buffers",
        sorts: &[M, P, C],
        places: PLACES,
        relations: RELATIONS,
        axioms: Vec::new(),
        initial: initial(),
        begins,
        transitions: steps(variant),
        invariant: invariant(),
        safety: safety(),
        sizes: &[&[2, 1, 1], &[2, 1, 2], &[2, 2, 2], &[3, 2, 2]],
    }
}

fn initial() -> Vec<Formula> {
    let mut facts = vec![
        all("m", M, |m| among(m, Places::of(&[OUT, ASLEEP]))),
        all("p", P, |p| and([IDLE.of([p]), not(HELD.of([p]))])),
        all("c", C, |c| and([not(MADE.of([c])), not(DETACHED.of([c]))])),
        all("p", P, |p| all("c", C, |c| not(WORD.of([p, c])))),
        all("c", C, |c| all("m", M, |m| and([not(BY.of([c, m])), not(IN.of([m, c]))]))),
        all("m", M, |m| not(ASKS.of([m]))),
        not(STOPPING.of([])),
        not(WANTED.of([])),
        not(MISTAKEN.of([])),
    ];
    facts.extend([OWNS, NEXTP, SCANNED].map(|rel| all("m", M, |m| all("p", P, |p| not(rel.of([m, p]))))));
    facts.extend([PUTS, SEEN].map(|rel| all("m", M, |m| all("p", P, |p| all("c", C, |c| not(rel.of([m, p, c])))))));
    facts
}

fn begins(system: &System, sizes: Universe) -> Vec<State> {
    let finite = Finite::new(system, sizes);
    let mut state = State::EMPTY;
    (0..sizes[1] as u8).for_each(|p| finite.put(&mut state, IDLE, &[p], true));
    vec![state]
}

impl Transition {
    /// The stores of `m` become visible.
    fn shows(&mut self, m: Var) -> &mut Self {
        self.assign(WORD, |x| or([WORD.of([x[0], x[1]]), PUTS.of([m, x[0], x[1]])]));
        self.clear_all(PUTS, &[m]);
        self.assign(WANTED, |_| or([WANTED.of([]), ASKS.of([m])]));
        self.clear(ASKS, &[m])
    }

    /// Its buffered request is visible, at the latest, when the next thread takes the lock that `m` had.
    fn locks(&mut self, m: Var) -> &mut Self {
        self.shows(m)
    }

    /// `m` takes `p`, out of `call`, by an exchange.
    fn takes(&mut self, m: Var, p: Var, call: Var) -> &mut Self {
        self.shows(m).when(WORD.of([p, call])).clear(WORD, &[p, call]).set(OWNS, &[m, p])
    }
}

fn leaves(t: &mut Transition, m: Var, p: Var, c: Var) {
    t.when(OWNS.of([m, p])).when(not(MADE.of([c]))).clear(OWNS, &[m, p]);
    t.set(PUTS, &[m, p, c]).set(MADE, &[c]).set(IN, &[m, c]).set(BY, &[c, m]);
}

fn steps(variant: &str) -> Vec<Transition> {
    let is = |name: &str| variant == name;
    let mut steps = Vec::new();
    let mut step = |name, source, make: &dyn Fn(&mut Transition)| {
        let mut t = Transition::new(name, source);
        make(&mut t);
        steps.push(t);
    };
    let mpc = |t: &mut Transition| (t.for_each("m", M), t.for_each("p", P), t.for_each("c", C));
    let mp = |t: &mut Transition| (t.for_each("m", M), t.for_each("p", P));

    // An M that enters a system call, or is interrupted.
    if is("reads-before-it-writes") {
        step("reads_first", "protocol/syscall.rs: entersyscall", &|t| {
            let m = t.for_each("m", M);
            t.from(m, RUN).when(not(WANTED.of([]))).goes(m, READ_FIRST);
        });
        step("enters", "protocol/syscall.rs: put", &|t| {
            let (m, p, c) = mpc(t);
            t.from(m, READ_FIRST);
            leaves(t, m, p, c);
            t.shows(m).goes(m, INSIDE);
        });
    } else {
        step("enters", "protocol/syscall.rs: put", &|t| {
            let (m, p, c) = mpc(t);
            t.from(m, RUN);
            leaves(t, m, p, c);
            t.goes(m, ENTERED);
        });
    }
    step("shows_put", "protocol/syscall.rs: put", &|t| {
        let (m, p, c) = mpc(t);
        t.when(PUTS.of([m, p, c])).clear(PUTS, &[m, p, c]).set(WORD, &[p, c]);
    });
    step("shows_request", "protocol/stw/wanted.rs: ask", &|t| {
        let m = t.for_each("m", M);
        t.when(ASKS.of([m])).clear(ASKS, &[m]).assign(WANTED, |_| Formula::Is(true));
    });
    step("fences_entering", "protocol/syscall.rs: entersyscall", &|t| {
        let m = t.for_each("m", M);
        t.from(m, ENTERED);
        if !is("no-entering-fence") {
            t.shows(m);
        }
        t.goes(m, CHECKS);
    });
    step("is_not_wanted", "protocol/syscall.rs: entersyscall", &|t| {
        let m = t.for_each("m", M);
        t.from(m, CHECKS).when(not(WANTED.of([]))).goes(m, INSIDE);
    });
    step("is_wanted", "protocol/syscall.rs: entersyscall", &|t| {
        let m = t.for_each("m", M);
        t.from(m, CHECKS).when(WANTED.of([])).goes(m, GIVES);
    });
    step("gives", "protocol/syscall.rs: take", &|t| {
        let (m, p, c) = mpc(t);
        t.from(m, GIVES).when(IN.of([m, c])).takes(m, p, c).goes(m, HANDS_INSIDE);
    });
    step("has_none_to_give", "protocol/syscall.rs: take", &|t| {
        let (m, c) = (t.for_each("m", M), t.for_each("c", C));
        t.from(m, GIVES).when(IN.of([m, c])).shows(m).when(all("p", P, |p| not(WORD.of([p, c])))).goes(m, INSIDE);
    });
    step("is_interrupted", "protocol/syscall.rs: interrupt", &|t| {
        let (m, p, c) = mpc(t);
        t.from(m, RUN);
        leaves(t, m, p, c);
        t.set(DETACHED, &[c]).goes(m, INSIDE);
    });
    // Back from it.
    if is("exit-without-its-exchange") {
        step("sees_its_p", "protocol/syscall.rs: exitsyscall", &|t| {
            let (m, p, c) = mpc(t);
            t.from(m, INSIDE).when(IN.of([m, c])).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, KEEPS);
        });
        step("exits_kept", "protocol/syscall.rs: exitsyscall", &|t| {
            let (m, p, c) = mpc(t);
            t.from(m, KEEPS).when(IN.of([m, c])).when(SEEN.of([m, p, c])).clear_all(SEEN, &[m]);
            t.clear(WORD, &[p, c]).set(OWNS, &[m, p]).clear(IN, &[m, c]).goes(m, RUN);
        });
    } else {
        step("exits_kept", "protocol/syscall.rs: exitsyscall", &|t| {
            let (m, p, c) = mpc(t);
            t.from(m, INSIDE).when(IN.of([m, c])).takes(m, p, c).clear(IN, &[m, c]).goes(m, RUN);
        });
    }
    step("finds_its_p_gone", "protocol/syscall.rs: exitsyscall", &|t| {
        let (m, c) = (t.for_each("m", M), t.for_each("c", C));
        t.from(m, INSIDE).when(IN.of([m, c])).shows(m).when(all("p", P, |p| not(WORD.of([p, c]))));
        t.clear(IN, &[m, c]).goes(m, BACK);
    });
    for (see, take, miss, from, between, to) in [
        ("sees_old_p", "takes_back", "misses_old_p", BACK, TAKES_BACK, RUN),
        ("sees_call", "retakes", "misses_call", OUT, RETAKES, HANDS),
    ] {
        let source = if from == BACK { "protocol/syscall.rs: exitsyscall" } else { "sched/sysmon.rs: look_at" };
        step(see, source, &|t| {
            let (m, p, c) = mpc(t);
            t.from(m, from).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, between);
        });
        let monitor = from == OUT;
        step(take, source, &|t| {
            let (m, p, c) = mpc(t);
            t.from(m, between);
            if monitor && is("take-without-tick") {
                let d = t.for_each("d", C);
                t.when(SEEN.of([m, p, d])).when(some("b", M, |b| and([BY.of([c, b]), BY.of([d, b])])));
                t.takes(m, p, c);
                t.assign(MISTAKEN, |_| or([MISTAKEN.of([]), not(same(c, d))]));
            } else {
                t.when(SEEN.of([m, p, c]));
                if monitor && is("retake-by-store") {
                    t.shows(m).assign(WORD, |x| and([WORD.of([x[0], x[1]]), not(same(x[0], p))])).set(OWNS, &[m, p]);
                } else {
                    t.takes(m, p, c);
                }
            }
            t.clear_all(SEEN, &[m]).goes(m, to);
        });
        step(miss, source, &|t| {
            let (m, p, c) = mpc(t);
            t.from(m, between).when(SEEN.of([m, p, c])).shows(m).when(not(WORD.of([p, c])));
            t.clear_all(SEEN, &[m]).goes(m, if monitor { OUT } else { BACK });
        });
    }
    step("exits_to_idle_p", "sched/syscall.rs: pidleget_or_queue", &|t| {
        let (m, p) = mp(t);
        t.from(m, BACK).locks(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]).goes(m, RUN);
    });
    step("rests", "sched/syscall.rs: pidleget_or_queue", &|t| {
        let m = t.for_each("m", M);
        t.from(m, BACK).locks(m).goes(m, OUT);
    });

    // A P changes hands.
    step("sleeps", "protocol/threads.rs: stopm", &|t| {
        let m = t.for_each("m", M);
        t.from(m, OUT).locks(m).goes(m, ASLEEP);
    });
    step("begins_to_hand_off", "protocol/handoff.rs: handoffp", &|t| {
        let m = t.for_each("m", M);
        t.from(m, RUN).goes(m, HANDS);
    });
    step("gets_idle_p", "sched/spinning.rs: pidleget", &|t| {
        let (m, p) = mp(t);
        t.from(m, OUT).locks(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]).goes(m, HANDS);
    });
    for (place, home, [gives, idles, holds]) in [
        (HANDS, OUT, ["sets_nextp", "idles", "holds_for_stopper"]),
        (HANDS_INSIDE, INSIDE, ["sets_nextp_inside", "idles_inside", "holds_for_stopper_inside"]),
    ] {
        step(gives, "types/m.rs: set_nextp", &|t| {
            let (m, w, p) = (t.for_each("m", M), t.for_each("w", M), t.for_each("p", P));
            t.from(m, place).from(w, ASLEEP).when(OWNS.of([m, p])).when(all("q", P, |q| not(NEXTP.of([w, q]))));
            t.shows(m).clear(OWNS, &[m, p]).set(NEXTP, &[w, p]).goes(m, home);
        });
        step(idles, "sched/central.rs: releasep", &|t| {
            let (m, p) = mp(t);
            t.from(m, place).locks(m).when(OWNS.of([m, p]));
            if !is("forgets-the-stop") {
                t.when(not(STOPPING.of([])));
            }
            t.clear(OWNS, &[m, p]).set(IDLE, &[p]).goes(m, home);
        });
        step(holds, "sched/central.rs: releasep", &|t| {
            let (m, p) = mp(t);
            t.from(m, place).locks(m).when(OWNS.of([m, p])).when(STOPPING.of([]));
            t.clear(OWNS, &[m, p]).set(HELD, &[p]).goes(m, home);
        });
    }
    step("takes_nextp", "types/m.rs: take_nextp", &|t| {
        let (m, p) = mp(t);
        t.from(m, ASLEEP).when(NEXTP.of([m, p])).clear(NEXTP, &[m, p]).set(OWNS, &[m, p]);
        if is("takes-nextp-without-an-exchange") {
            t.set(NEXTP, &[m, p]);
        }
        t.goes(m, RUN);
    });

    // A stopper.
    step("begins_to_stop", "sched/stw.rs: begin", &|t| {
        let m = t.for_each("m", M);
        t.from(m, OUT).when(all("s", M, |s| not(among(s, STOPPERS)))).locks(m).set(ASKS, &[m]);
        t.assign(STOPPING, |_| Formula::Is(true));
        t.assign(HELD, |x| or([HELD.of([x[0]]), IDLE.of([x[0]])])).assign(IDLE, |_| Formula::Is(false));
        if !is("scans-before-it-says") {
            t.assign(SCANNED, |x| and([SCANNED.of([x[0], x[1]]), not(same(x[0], m))]));
        }
        t.goes(m, SAYS);
    });
    if is("scans-before-it-says") {
        step("scans_early", "protocol/stw/mod.rs: stop", &|t| {
            let (m, p) = mp(t);
            t.from(m, OUT).when(all("c", C, |c| not(WORD.of([p, c])))).set(SCANNED, &[m, p]);
        });
    }
    step("fences_stopping", "protocol/stw/mod.rs: stop", &|t| {
        let m = t.for_each("m", M);
        t.from(m, SAYS);
        if !is("no-stopping-fence") {
            t.shows(m);
        }
        t.goes(m, SCANS);
    });
    step("sees_no_call", "sched/stw.rs: take_from_syscalls", &|t| {
        let (m, p) = mp(t);
        t.from(m, SCANS).when(all("c", C, |c| not(WORD.of([p, c])))).set(SCANNED, &[m, p]);
    });
    step("sees_call_stopping", "sched/stw.rs: take_from_syscalls", &|t| {
        let (m, p, c) = mpc(t);
        t.from(m, SCANS).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, SEES);
    });
    step("takes_stopping", "sched/stw.rs: take_from_syscalls", &|t| {
        let (m, p, c) = mpc(t);
        t.from(m, SEES).when(SEEN.of([m, p, c]));
        if is("takes-without-an-exchange") {
            t.set(OWNS, &[m, p]);
        } else {
            t.takes(m, p, c);
        }
        t.clear_all(SEEN, &[m]).set(SCANNED, &[m, p]).goes(m, HOLDS);
    });
    step("misses_stopping", "sched/stw.rs: take_from_syscalls", &|t| {
        let (m, p, c) = mpc(t);
        t.from(m, SEES).when(SEEN.of([m, p, c])).shows(m).when(not(WORD.of([p, c])));
        t.clear_all(SEEN, &[m]).set(SCANNED, &[m, p]).goes(m, SCANS);
    });
    step("holds", "sched/stw.rs: take_from_syscalls", &|t| {
        let (m, p) = mp(t);
        t.from(m, HOLDS).locks(m).when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(HELD, &[p]).goes(m, SCANS);
    });
    step("ends_scan", "protocol/stw/mod.rs: stop", &|t| {
        let m = t.for_each("m", M);
        t.from(m, SCANS).when(all("p", P, |p| SCANNED.of([m, p]))).goes(m, WAITS);
    });
    step("stops", "protocol/stw/mod.rs: is_stopped", &|t| {
        let m = t.for_each("m", M);
        t.from(m, WAITS).locks(m).when(all("p", P, |p| HELD.of([p]))).goes(m, STOPPED);
    });
    step("starts_the_world", "sched/stw.rs: start_the_world", &|t| {
        let m = t.for_each("m", M);
        t.from(m, STOPPED).locks(m).assign(STOPPING, |_| Formula::Is(false)).assign(WANTED, |_| Formula::Is(false));
        t.assign(IDLE, |x| or([IDLE.of([x[0]]), HELD.of([x[0]])])).assign(HELD, |_| Formula::Is(false)).goes(m, OUT);
    });
    steps
}

fn conjunct(name: &'static str, words: &'static str, says: Formula) -> Conjunct {
    Conjunct { name, words, says }
}

/// The P is in its word, or about to be.
fn in_word(p: Var, c: Var) -> Formula {
    or([WORD.of([p, c]), some("w", M, |w| PUTS.of([w, p, c]))])
}

fn invariant() -> Vec<Conjunct> {
    let mp = |body: &dyn Fn(Var, Var) -> Formula| all("m", M, |m| all("p", P, |p| body(m, p)));
    let pc = |body: &dyn Fn(Var, Var) -> Formula| all("p", P, |p| all("c", C, |c| body(p, c)));
    vec![
        conjunct(
            "one_owner",
            "a P has one owner",
            all("m", M, |m| {
                all("n", M, |n| all("p", P, |p| implies(and([OWNS.of([m, p]), OWNS.of([n, p])]), same(m, n))))
            }),
        ),
        conjunct(
            "one_nextp",
            "a P is in one nextp",
            all("m", M, |m| {
                all("n", M, |n| all("p", P, |p| implies(and([NEXTP.of([m, p]), NEXTP.of([n, p])]), same(m, n))))
            }),
        ),
        conjunct(
            "owned_only",
            "a P with an owner is nowhere else",
            mp(&|m, p| {
                implies(
                    OWNS.of([m, p]),
                    and([
                        not(IDLE.of([p])),
                        not(HELD.of([p])),
                        all("n", M, |n| not(NEXTP.of([n, p]))),
                        all("c", C, |c| not(in_word(p, c))),
                    ]),
                )
            }),
        ),
        conjunct(
            "nextp_only",
            "a P in a nextp is nowhere else",
            mp(&|m, p| {
                implies(
                    NEXTP.of([m, p]),
                    and([not(IDLE.of([p])), not(HELD.of([p])), all("c", C, |c| not(in_word(p, c)))]),
                )
            }),
        ),
        conjunct(
            "in_word_only",
            "a P in a system call is neither idle nor held",
            pc(&|p, c| implies(in_word(p, c), and([not(IDLE.of([p])), not(HELD.of([p]))]))),
        ),
        conjunct("idle_or_held", "an idle P is not held", all("p", P, |p| not(and([IDLE.of([p]), HELD.of([p])])))),
        conjunct(
            "one_call",
            "a P is in one system call",
            all("p", P, |p| all("c", C, |c| all("d", C, |d| implies(and([in_word(p, c), in_word(p, d)]), same(c, d))))),
        ),
        conjunct(
            "one_p_a_call",
            "a system call has one P",
            all("p", P, |p| all("q", P, |q| all("c", C, |c| implies(and([in_word(p, c), in_word(q, c)]), same(p, q))))),
        ),
        conjunct(
            "put_once",
            "a buffered put is not in the word yet, and is one thread's",
            all("m", M, |m| {
                all("n", M, |n| {
                    pc(&|p, c| {
                        implies(
                            PUTS.of([m, p, c]),
                            and([not(WORD.of([p, c])), implies(PUTS.of([n, p, c]), same(m, n))]),
                        )
                    })
                })
            }),
        ),
        conjunct(
            "calls_in_words_go_on",
            "what is in a word is the call of the M that put it there",
            pc(&|p, c| implies(in_word(p, c), some("m", M, |m| IN.of([m, c])))),
        ),
        conjunct(
            "puts_are_its_own",
            "a buffered put is of its thread's own call",
            all("m", M, |m| pc(&|p, c| implies(PUTS.of([m, p, c]), IN.of([m, c])))),
        ),
        conjunct(
            "one_call_an_m",
            "an M is in one system call",
            all("m", M, |m| all("c", C, |c| all("d", C, |d| implies(and([IN.of([m, c]), IN.of([m, d])]), same(c, d))))),
        ),
        conjunct(
            "one_m_a_call",
            "a system call is one M's",
            all("m", M, |m| all("n", M, |n| all("c", C, |c| implies(and([IN.of([m, c]), IN.of([n, c])]), same(m, n))))),
        ),
        conjunct(
            "callers",
            "an M that is in a system call is there",
            all("m", M, |m| all("c", C, |c| implies(IN.of([m, c]), and([among(m, CALLERS), MADE.of([c])])))),
        ),
        conjunct(
            "owners",
            "only a thread that runs a G, or passes a P on, owns one",
            mp(&|m, p| implies(OWNS.of([m, p]), among(m, OWNERS))),
        ),
        conjunct(
            "one_p",
            "a thread owns one P",
            mp(&|m, p| all("q", P, |q| implies(and([OWNS.of([m, p]), OWNS.of([m, q])]), same(p, q)))),
        ),
        conjunct(
            "seen_places",
            "what was seen in a word is forgotten after the exchange",
            all("m", M, |m| {
                pc(&|p, c| implies(SEEN.of([m, p, c]), among(m, Places::of(&[SEES, RETAKES, TAKES_BACK, KEEPS]))))
            }),
        ),
        conjunct("not_mistaken", "a P is taken out of the call in which it was seen", not(MISTAKEN.of([]))),
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
            all("m", M, |m| implies(among(m, Places::of(&[SCANS, SEES, HOLDS, WAITS, STOPPED])), WANTED.of([]))),
        ),
        conjunct(
            "says_it",
            "before that, its request is at least in its store buffer",
            all("m", M, |m| implies(at(m, SAYS), or([ASKS.of([m]), WANTED.of([])]))),
        ),
        conjunct(
            "says_before_it_scans",
            "it looks at the words after its StoreLoad",
            mp(&|m, p| implies(at(m, SAYS), not(SCANNED.of([m, p])))),
        ),
        conjunct(
            "none_idle_stopping",
            "while the world is to stop no P is idle",
            all("p", P, |p| implies(STOPPING.of([]), not(IDLE.of([p])))),
        ),
        conjunct(
            "waits_behind_all_words",
            "a stopper waits once it has looked at all words",
            mp(&|m, p| implies(among(m, Places::of(&[WAITS])), SCANNED.of([m, p]))),
        ),
        conjunct(
            "scanned_gives",
            "a P in a word at which the stopper has looked is about to be handed off by its M",
            all("s", M, |s| {
                all("m", M, |m| {
                    pc(&|p, c| {
                        implies(
                            and([
                                among(s, Places::of(&[SCANS, SEES, HOLDS, WAITS])),
                                SCANNED.of([s, p]),
                                in_word(p, c),
                                IN.of([m, c]),
                                not(DETACHED.of([c])),
                            ]),
                            among(m, Places::of(&[ENTERED, CHECKS, GIVES])),
                        )
                    })
                })
            }),
        ),
        conjunct(
            "seen_then_gives",
            "and so is one in a later call than the stopper has seen",
            all("s", M, |s| {
                all("m", M, |m| {
                    all("d", C, |d| {
                        pc(&|p, c| {
                            implies(
                                and([
                                    at(s, SEES),
                                    SEEN.of([s, p, d]),
                                    not(same(c, d)),
                                    in_word(p, c),
                                    IN.of([m, c]),
                                    not(DETACHED.of([c])),
                                ]),
                                among(m, Places::of(&[ENTERED, CHECKS, GIVES])),
                            )
                        })
                    })
                })
            }),
        ),
        conjunct(
            "checks_behind_the_fence",
            "an M that asks whether its P is wanted has shown where the P is",
            all("m", M, |m| pc(&|p, c| implies(and([PUTS.of([m, p, c]), not(DETACHED.of([c]))]), at(m, ENTERED)))),
        ),
        conjunct(
            "stopped_holds_all",
            "the stopper of a stopped world holds every P",
            mp(&|m, p| implies(at(m, STOPPED), HELD.of([p]))),
        ),
    ]
}

fn safety() -> Vec<Conjunct> {
    let mp = |body: &dyn Fn(Var, Var) -> Formula| all("m", M, |m| all("p", P, |p| body(m, p)));
    vec![
        conjunct(
            "one_owner_of_each_p",
            "a P has one owner, or is in one other place",
            mp(&|m, p| {
                implies(
                    OWNS.of([m, p]),
                    and([
                        not(IDLE.of([p])),
                        not(HELD.of([p])),
                        all("c", C, |c| not(WORD.of([p, c]))),
                        all("n", M, |n| and([not(NEXTP.of([n, p])), implies(OWNS.of([n, p]), same(m, n))])),
                    ]),
                )
            }),
        ),
        conjunct(
            "no_p_runs_in_a_stopped_world",
            "in a stopped world no thread owns a P, and none is in a system call",
            all("s", M, |s| {
                implies(
                    at(s, STOPPED),
                    mp(&|m, p| {
                        and([
                            not(OWNS.of([m, p])),
                            not(NEXTP.of([m, p])),
                            all("c", C, |c| not(in_word(p, c))),
                            HELD.of([p]),
                        ])
                    }),
                )
            }),
        ),
        conjunct(
            "no_p_sits_out_a_stop",
            "while a stopper waits, a P in a system call is about to be handed off",
            all("s", M, |s| {
                all("m", M, |m| {
                    all("p", P, |p| {
                        all("c", C, |c| {
                            implies(
                                and([at(s, WAITS), in_word(p, c), IN.of([m, c]), not(DETACHED.of([c]))]),
                                among(m, Places::of(&[ENTERED, CHECKS, GIVES])),
                            )
                        })
                    })
                })
            }),
        ),
        conjunct(
            "no_p_is_idle_in_a_stop",
            "while a stopper waits, no P is idle",
            all("s", M, |s| all("p", P, |p| implies(at(s, WAITS), not(IDLE.of([p]))))),
        ),
        conjunct("the_call_that_was_seen", "a P is taken out of the call in which it was seen", not(MISTAKEN.of([]))),
    ]
}

/// Wrong in so many steps; 0: no execution was found that goes wrong.
const fn wrong(steps: usize, name: &'static str, what: &'static str, known: &'static str) -> Variant {
    Variant { name, what, known, sizes: &[2, 1, 1], steps: if steps == 0 { None } else { Some(steps) } }
}

/// Wrong variants.
pub const WRONG: &[Variant] = &[
    wrong(11, "no-entering-fence", "entersyscall without its StoreLoad", "mutant syscall-no-entering-fence"),
    wrong(
        11,
        "no-stopping-fence",
        "stop without its StoreLoad",
        "mutants syscall-no-stopping-fence, stw-no-stopper-fence",
    ),
    wrong(
        10,
        "reads-before-it-writes",
        "an M that enters reads whether its P is wanted, then leaves it in its word",
        "mutants syscall-reads-before-it-writes, stw-enters-in-gos-order; Go 1.27's reentersyscall",
    ),
    Variant {
        sizes: &[2, 1, 2],
        ..wrong(
            11,
            "take-without-tick",
            "a retaker compares the M, but not the call",
            "mutant syscall-take-without-tick",
        )
    },
    wrong(9, "retake-by-store", "a retaker loads the word, then stores", "mutant syscall-retake-by-store"),
    wrong(
        10,
        "exit-without-its-exchange",
        "an M that returns keeps its P if a load says that it is still there",
        "mutant syscall-exit-without-its-exchange",
    ),
    wrong(
        6,
        "forgets-the-stop",
        "a P that is handed off is idled although the world is to stop",
        "mutant handoff-forgets-the-stop",
    ),
    wrong(
        10,
        "takes-without-an-exchange",
        "a stopper that sees a P in a system call holds it without an exchange",
        "mutant stw-counts-a-p-twice",
    ),
    wrong(
        11,
        "scans-before-it-says",
        "a stopper looks at the words, then says that it stops",
        "mutant stw-scans-before-it-says",
    ),
    wrong(4, "takes-nextp-without-an-exchange", "an M that wakes leaves its P in its nextp", ""),
];

/// Changes that are right.
pub const RIGHT: &[Variant] = &[];
