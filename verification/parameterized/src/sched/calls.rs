//! System calls: an M leaves its P in the P's word, and takes it back; the monitor, another M that is back, or a stopper may be there first.

use super::state::*;
use super::steps::step;
use crate::logic::{Formula, Rel, Var, all, and, not, or, same, some};
use crate::system::Transition;

/// It is in no word, nor about to be.
pub fn in_no_word(p: Var) -> Formula {
    all("c", C, |c| not(in_word(p, c)))
}

/// What the steps have in common.
impl Transition {
    /// `m` leaves `p` in its word, in a new call.
    pub fn leaves(&mut self, m: Var, p: Var, c: Var) -> &mut Self {
        self.when(OWNS.of([m, p])).when(not(MADE.of([c]))).clear(OWNS, &[m, p]);
        self.set(LEAVES, &[m, p, c]).set(MADE, &[c]).set(IN, &[m, c]).set(BY, &[c, m])
    }

    /// `m` takes `p` out of `call`, by an exchange.
    pub fn takes(&mut self, m: Var, p: Var, call: Var) -> &mut Self {
        self.drains(m).when(WORD.of([p, call])).clear(WORD, &[p, call])
    }

    /// `m`, which is in call `c`, has tried to take its P: it is in no word in that call.
    pub fn finds_it_gone(&mut self, m: Var, c: Var) -> &mut Self {
        self.when(IN.of([m, c])).drains(m).when(all("p", P, |p| not(WORD.of([p, c]))))
    }

    /// `m` has tried to take the P that it has seen in this call, and it is there no more.
    pub fn finds_it_taken(&mut self, m: Var, p: Var, c: Var) -> &mut Self {
        self.when(SEEN.of([m, p, c])).drains(m).when(not(WORD.of([p, c]))).clear_all(SEEN, &[m])
    }
}

/// The steps, with one of them wrong if `variant` names it.
pub(super) fn steps(variant: &str, steps: &mut Vec<Transition>) {
    enters(variant, steps);
    exits(variant, steps);
    retakes(variant, steps);
    scans(variant, steps);
}

/// A step of thread `m`, of P `p` and system call `c`.
fn of_mpc(
    steps: &mut Vec<Transition>,
    name: &'static str,
    source: &'static str,
    make: impl FnOnce(&mut Transition, Var, Var, Var),
) {
    step(steps, name, source, |t, m| {
        let (p, c) = (t.for_each("p", P), t.for_each("c", C));
        make(t, m, p, c);
    });
}

/// An M that enters a system call, or is interrupted.
fn enters(variant: &str, steps: &mut Vec<Transition>) {
    let source = "protocol/syscall.rs: entersyscall";
    step(steps, "enters_blocking", "protocol/syscall.rs: entersyscallblock", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, RUN).passes_on(m, p, m).goes(m, HAND_OFF);
    });
    let reads_first = variant == "reads-before-it-writes";
    if reads_first {
        step(steps, "reads_first", source, |t, m| {
            t.from(m, RUN).when(not(WANTED.of([]))).goes(m, READ_FIRST);
        });
    }
    of_mpc(steps, "enters", "protocol/syscall.rs: put", |t, m, p, c| {
        if reads_first {
            t.from(m, READ_FIRST).leaves(m, p, c).drains(m).goes(m, INSIDE);
        } else {
            t.from(m, RUN).leaves(m, p, c).goes(m, ENTERED);
        }
    });
    of_mpc(steps, "flushes_word", "protocol/syscall.rs: put", |t, m, p, c| {
        t.when(LEAVES.of([m, p, c])).clear(LEAVES, &[m, p, c]).set(WORD, &[p, c]);
    });
    step(steps, "fences_entering", source, |t, m| {
        t.from(m, ENTERED);
        if variant != "no-entering-fence" {
            t.drains(m);
        }
        t.goes(m, CHECKS);
    });
    step(steps, "is_not_wanted", source, |t, m| {
        t.from(m, CHECKS).when(not(WANTED.of([]))).goes(m, INSIDE);
    });
    step(steps, "is_wanted", source, |t, m| {
        t.from(m, CHECKS).when(WANTED.of([])).goes(m, GIVES);
    });
    of_mpc(steps, "gives", "protocol/syscall.rs: take", |t, m, p, c| {
        t.from(m, GIVES).when(IN.of([m, c])).takes(m, p, c).set(HANDS, &[m, p]).goes(m, HAND_OFF);
    });
    step(steps, "has_none_to_give", "protocol/syscall.rs: take", |t, m| {
        let c = t.for_each("c", C);
        t.from(m, GIVES).finds_it_gone(m, c).goes(m, INSIDE);
    });
    of_mpc(steps, "is_interrupted", "protocol/syscall.rs: interrupt", |t, m, p, c| {
        t.from(m, RUN).leaves(m, p, c).set(DETACHED, &[c]).goes(m, INSIDE);
    });
}

/// An M that is back from it.
fn exits(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;
    let source = "protocol/syscall.rs: exitsyscall";
    let keeps = is("exit-without-its-exchange");
    if keeps {
        of_mpc(steps, "sees_its_p", source, |t, m, p, c| {
            t.from(m, INSIDE).when(IN.of([m, c])).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, KEEPS);
        });
    }
    of_mpc(steps, "exits_kept", source, |t, m, p, c| {
        if keeps {
            t.from(m, KEEPS).when(IN.of([m, c])).when(SEEN.of([m, p, c])).clear_all(SEEN, &[m]).clear(WORD, &[p, c]);
        } else {
            t.from(m, INSIDE).when(IN.of([m, c])).takes(m, p, c);
        }
        t.set(OWNS, &[m, p]).clear(IN, &[m, c]).goes(m, RUN);
    });
    step(steps, "finds_its_p_gone", source, |t, m| {
        let c = t.for_each("c", C);
        t.from(m, INSIDE).finds_it_gone(m, c).clear(IN, &[m, c]).goes(m, OUT);
    });
    of_mpc(steps, "sees_old_p", source, |t, m, p, c| {
        t.from(m, OUT).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, TAKES_BACK);
    });
    of_mpc(steps, "takes_back", source, |t, m, p, c| {
        t.from(m, TAKES_BACK).takes_what_it_saw(m, p, c, OWNS).goes(m, RUN);
    });
    of_mpc(steps, "misses_old_p", source, |t, m, p, c| {
        t.from(m, TAKES_BACK).finds_it_taken(m, p, c).goes(m, OUT);
    });
    let source = "sched/syscall.rs: pidleget_or_queue";
    step(steps, "exits_to_idle_p", source, |t, m| {
        let p = t.for_each("p", P);
        t.from(m, OUT).gets_idle(m, p, OWNS).goes(m, RUN);
    });
    if is("queues-outside-the-lock") {
        step(steps, "sees_no_idle_p", source, |t, m| {
            t.from(m, OUT).takes_lock(m).when(not(some_idle())).goes(m, SAW_NO_P);
        });
    }
    step(steps, "exits_and_queues", source, |t, m| {
        let g = t.for_each("g", G);
        if is("queues-outside-the-lock") {
            t.from(m, SAW_NO_P).takes_lock(m);
        } else {
            t.from(m, OUT).takes_lock(m).when(not(some_idle()));
        }
        t.queues(g).set(PUTS_GLOBAL, &[m, g]).goes(m, REST);
    });
}

impl Transition {
    /// `m` takes `p` out of the call in which it has seen it.
    pub fn takes_what_it_saw(&mut self, m: Var, p: Var, c: Var, holds: Rel) -> &mut Self {
        self.when(SEEN.of([m, p, c])).takes(m, p, c).set(holds, &[m, p]).clear_all(SEEN, &[m])
    }
}

/// The monitor, which hands off a P that stays in one call.
fn retakes(variant: &str, steps: &mut Vec<Transition>) {
    let source = "sched/sysmon.rs: look_at";
    of_mpc(steps, "sees_call", source, |t, m, p, c| {
        t.from(m, OUT).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, RETAKES);
    });
    of_mpc(steps, "retakes", source, |t, m, p, c| {
        t.from(m, RETAKES);
        match variant {
            "take-without-tick" => {
                let d = t.for_each("d", C);
                t.when(SEEN.of([m, p, d])).when(some("b", M, |b| and([BY.of([c, b]), BY.of([d, b])])));
                t.takes(m, p, c).assign(MISTAKEN, |_| or([MISTAKEN.of([]), not(same(c, d))]));
                t.set(HANDS, &[m, p]).clear_all(SEEN, &[m]);
            }
            "retake-by-store" => {
                t.when(SEEN.of([m, p, c])).drains(m).assign(WORD, |x| and([WORD.of([x[0], x[1]]), not(same(x[0], p))]));
                t.set(HANDS, &[m, p]).clear_all(SEEN, &[m]);
            }
            _ => _ = t.takes_what_it_saw(m, p, c, HANDS),
        }
        t.goes(m, HAND_OFF);
    });
    of_mpc(steps, "misses_call", source, |t, m, p, c| {
        t.from(m, RETAKES).finds_it_taken(m, p, c).goes(m, OUT);
    });
}

/// A stopper, which looks at each word once.
pub fn scans(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;
    step(steps, "flushes_request", "protocol/stw/wanted.rs: ask", |t, m| {
        t.when(REQUESTS.of([m])).clear(REQUESTS, &[m]).assign(WANTED, |_| Formula::Is(true));
    });
    if is("scans-before-it-says") {
        step(steps, "scans_early", "protocol/stw/mod.rs: stop", |t, m| {
            let p = t.for_each("p", P);
            t.from(m, FIRST).when(all("c", C, |c| not(WORD.of([p, c])))).set(SCANNED, &[m, p]);
        });
        for t in steps.iter_mut().filter(|t| t.name.starts_with("begins_to_stop")) {
            t.updates.retain(|u| !matches!(u, crate::logic::Update::Rel { rel, .. } if *rel == SCANNED));
        }
    }
    step(steps, "fences_stopping", "protocol/stw/mod.rs: stop", |t, m| {
        t.from(m, SAYS);
        if !is("no-stopping-fence") {
            t.drains(m);
        }
        t.goes(m, SCANS);
    });
    let source = "sched/stw.rs: take_from_syscalls";
    step(steps, "sees_no_call", source, |t, m| {
        let p = t.for_each("p", P);
        t.from(m, SCANS).when(not(SCANNED.of([m, p]))).when(all("c", C, |c| not(WORD.of([p, c]))));
        t.set(SCANNED, &[m, p]);
    });
    of_mpc(steps, "sees_call_stopping", source, |t, m, p, c| {
        t.from(m, SCANS).when(not(SCANNED.of([m, p]))).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, SEES);
    });
    of_mpc(steps, "takes_stopping", source, |t, m, p, c| {
        t.from(m, SEES);
        if is("takes-without-an-exchange") {
            t.when(SEEN.of([m, p, c])).set(HANDS, &[m, p]).clear_all(SEEN, &[m]);
        } else {
            t.takes_what_it_saw(m, p, c, HANDS);
        }
        t.set(SCANNED, &[m, p]).goes(m, HOLDS);
    });
    of_mpc(steps, "misses_stopping", source, |t, m, p, c| {
        t.from(m, SEES).finds_it_taken(m, p, c).set(SCANNED, &[m, p]).goes(m, SCANS);
    });
    step(steps, "ends_scan", "protocol/stw/mod.rs: stop", |t, m| {
        t.from(m, SCANS).when(all("p", P, |p| is_scanned(m, p))).goes(m, WAITS);
    });
}

/// The stopper has looked at the word of this P, or there is no such P.
pub fn is_scanned(m: Var, p: Var) -> Formula {
    or([SCANNED.of([m, p]), SPARE.of([p])])
}
