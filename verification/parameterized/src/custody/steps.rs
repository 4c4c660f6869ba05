//! What may happen to a P.

use super::*;
use crate::logic::{Var, and, or, same, some};
use crate::system::Transition;

impl Transition {
    /// The stores of `m` become visible.
    pub fn shows(&mut self, m: Var) -> &mut Self {
        self.assign(WORD, |x| or([WORD.of([x[0], x[1]]), PUTS.of([m, x[0], x[1]])]));
        self.clear_all(PUTS, &[m]);
        self.assign(WANTED, |_| or([WANTED.of([]), ASKS.of([m])]));
        self.clear(ASKS, &[m])
    }

    /// Its buffered request is visible, at the latest, when the next thread takes the lock that `m` had.
    pub fn locks(&mut self, m: Var) -> &mut Self {
        self.shows(m)
    }

    /// `m` takes `p` out of `call`, by an exchange.
    pub fn takes(&mut self, m: Var, p: Var, call: Var) -> &mut Self {
        self.shows(m).when(WORD.of([p, call])).clear(WORD, &[p, call])
    }

    /// `m` leaves `p` in its word, in a new call.
    pub fn leaves(&mut self, m: Var, p: Var, c: Var) -> &mut Self {
        self.when(OWNS.of([m, p])).when(not(MADE.of([c]))).clear(OWNS, &[m, p]);
        self.set(PUTS, &[m, p, c]).set(MADE, &[c]).set(IN, &[m, c]).set(BY, &[c, m])
    }
}

/// Each transition; with one step wrong, if `variant` names it.
pub(super) fn steps(variant: &str) -> Vec<Transition> {
    let mut steps = Steps(Vec::new(), variant);
    steps.enter();
    steps.exit();
    steps.change_hands();
    steps.stop();
    steps.0
}

struct Steps<'a>(Vec<Transition>, &'a str);

impl Steps<'_> {
    fn is(&self, name: &str) -> bool {
        self.1 == name
    }

    /// A step of thread `m`.
    fn of_m(&mut self, name: &'static str, source: &'static str, make: impl FnOnce(&mut Transition, Var)) {
        let mut t = Transition::new(name, source);
        let m = t.for_each("m", M);
        make(&mut t, m);
        self.0.push(t);
    }

    /// And P `p`.
    fn of_mp(&mut self, name: &'static str, source: &'static str, make: impl FnOnce(&mut Transition, Var, Var)) {
        self.of_m(name, source, |t, m| {
            let p = t.for_each("p", P);
            make(t, m, p);
        });
    }

    /// And system call `c`.
    fn of_mpc(&mut self, name: &'static str, source: &'static str, make: impl FnOnce(&mut Transition, Var, Var, Var)) {
        self.of_mp(name, source, |t, m, p| {
            let c = t.for_each("c", C);
            make(t, m, p, c);
        });
    }

    /// An M that enters a system call, or is interrupted.
    fn enter(&mut self) {
        let reads_first = self.is("reads-before-it-writes");
        if reads_first {
            self.of_m("reads_first", "protocol/syscall.rs: entersyscall", |t, m| {
                t.from(m, RUN).when(not(WANTED.of([]))).goes(m, READ_FIRST);
            });
        }
        self.of_mpc("enters", "protocol/syscall.rs: put", |t, m, p, c| {
            t.from(m, if reads_first { READ_FIRST } else { RUN }).leaves(m, p, c);
            if reads_first {
                t.shows(m).goes(m, INSIDE);
            } else {
                t.goes(m, ENTERED);
            }
        });
        self.of_mpc("shows_put", "protocol/syscall.rs: put", |t, m, p, c| {
            t.when(PUTS.of([m, p, c])).clear(PUTS, &[m, p, c]).set(WORD, &[p, c]);
        });
        self.of_m("shows_request", "protocol/stw/wanted.rs: ask", |t, m| {
            t.when(ASKS.of([m])).clear(ASKS, &[m]).assign(WANTED, |_| Formula::Is(true));
        });
        let fences = !self.is("no-entering-fence");
        self.of_m("fences_entering", "protocol/syscall.rs: entersyscall", |t, m| {
            t.from(m, ENTERED);
            if fences {
                t.shows(m);
            }
            t.goes(m, CHECKS);
        });
        self.of_m("is_not_wanted", "protocol/syscall.rs: entersyscall", |t, m| {
            t.from(m, CHECKS).when(not(WANTED.of([]))).goes(m, INSIDE);
        });
        self.of_m("is_wanted", "protocol/syscall.rs: entersyscall", |t, m| {
            t.from(m, CHECKS).when(WANTED.of([])).goes(m, GIVES);
        });
        self.of_mpc("gives", "protocol/syscall.rs: take", |t, m, p, c| {
            t.from(m, GIVES).when(IN.of([m, c])).takes(m, p, c).set(HANDS, &[m, p]).goes(m, INSIDE);
        });
        self.of_m("has_none_to_give", "protocol/syscall.rs: take", |t, m| {
            let c = t.for_each("c", C);
            t.from(m, GIVES).when(IN.of([m, c])).shows(m).when(all("p", P, |p| not(WORD.of([p, c])))).goes(m, INSIDE);
        });
        self.of_mpc("is_interrupted", "protocol/syscall.rs: interrupt", |t, m, p, c| {
            t.from(m, RUN).leaves(m, p, c).set(DETACHED, &[c]).goes(m, INSIDE);
        });
    }

    /// Back from it; and the monitor, which may have been there first.
    fn exit(&mut self) {
        let exit = "protocol/syscall.rs: exitsyscall";
        let keeps = self.is("exit-without-its-exchange");
        if keeps {
            self.of_mpc("sees_its_p", exit, |t, m, p, c| {
                t.from(m, INSIDE).when(IN.of([m, c])).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, KEEPS);
            });
        }
        self.of_mpc("exits_kept", exit, |t, m, p, c| {
            t.from(m, if keeps { KEEPS } else { INSIDE }).when(IN.of([m, c]));
            if keeps {
                t.when(SEEN.of([m, p, c])).clear_all(SEEN, &[m]).clear(WORD, &[p, c]);
            } else {
                t.takes(m, p, c);
            }
            t.set(OWNS, &[m, p]).clear(IN, &[m, c]).goes(m, RUN);
        });
        self.of_m("finds_its_p_gone", exit, |t, m| {
            let c = t.for_each("c", C);
            t.from(m, INSIDE).when(IN.of([m, c])).shows(m).when(all("p", P, |p| not(WORD.of([p, c]))));
            t.clear(IN, &[m, c]).goes(m, BACK);
        });
        self.of_m("left_none", exit, |t, m| {
            t.from(m, OUT).goes(m, BACK);
        });
        self.looks(["sees_old_p", "takes_back", "misses_old_p"], exit, [BACK, TAKES_BACK], OWNS, RUN);
        self.looks(["sees_call", "retakes", "misses_call"], "sched/sysmon.rs: look_at", [OUT, RETAKES], HANDS, OUT);
        self.of_mp("exits_to_idle_p", "sched/syscall.rs: pidleget_or_queue", |t, m, p| {
            t.from(m, BACK).locks(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]).goes(m, RUN);
        });
        self.of_m("rests", "sched/syscall.rs: pidleget_or_queue", |t, m| {
            t.from(m, BACK).locks(m).when(all("i", P, |i| not(IDLE.of([i])))).goes(m, OUT);
        });
    }

    /// A thread reads a word, then tries to take the P that it has seen there.
    fn looks(
        &mut self,
        [see, take, miss]: [&'static str; 3],
        source: &'static str,
        [from, between]: [u8; 2],
        gets: crate::logic::Rel,
        to: u8,
    ) {
        self.of_mpc(see, source, |t, m, p, c| {
            t.from(m, from).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, between);
        });
        let is_monitor = between == RETAKES;
        let without_tick = is_monitor && self.is("take-without-tick");
        let by_store = is_monitor && self.is("retake-by-store");
        self.of_mpc(take, source, |t, m, p, c| {
            t.from(m, between);
            if without_tick {
                let d = t.for_each("d", C);
                t.when(SEEN.of([m, p, d])).when(some("b", M, |b| and([BY.of([c, b]), BY.of([d, b])])));
                t.takes(m, p, c).assign(MISTAKEN, |_| or([MISTAKEN.of([]), not(same(c, d))]));
            } else if by_store {
                t.when(SEEN.of([m, p, c]));
                t.shows(m).assign(WORD, |x| and([WORD.of([x[0], x[1]]), not(same(x[0], p))]));
            } else {
                t.when(SEEN.of([m, p, c])).takes(m, p, c);
            }
            t.set(gets, &[m, p]).clear_all(SEEN, &[m]).goes(m, to);
        });
        self.of_mpc(miss, source, |t, m, p, c| {
            t.from(m, between).when(SEEN.of([m, p, c])).shows(m).when(not(WORD.of([p, c])));
            t.clear_all(SEEN, &[m]).goes(m, from);
        });
    }

    /// A P changes hands.
    fn change_hands(&mut self) {
        self.of_m("sleeps", "protocol/threads.rs: stopm", |t, m| {
            t.from(m, OUT).locks(m).goes(m, ASLEEP);
        });
        self.of_mp("begins_to_hand_off", "protocol/handoff.rs: handoffp", |t, m, p| {
            t.from(m, RUN).when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(HANDS, &[m, p]).goes(m, OUT);
        });
        self.of_mp("gets_idle_p", "sched/central.rs: pidleget", |t, m, p| {
            t.locks(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(HANDS, &[m, p]);
        });
        self.of_mp("keeps", "protocol/spinning.rs: retire", |t, m, p| {
            t.from(m, OUT).when(HANDS.of([m, p])).clear(HANDS, &[m, p]).set(OWNS, &[m, p]).goes(m, RUN);
        });
        self.of_mp("sets_nextp", "types/m.rs: set_nextp", |t, m, p| {
            let w = t.for_each("w", M);
            t.from(w, ASLEEP).when(HANDS.of([m, p])).when(all("q", P, |q| not(NEXTP.of([w, q]))));
            t.shows(m).clear(HANDS, &[m, p]).set(NEXTP, &[w, p]);
        });
        let copies = self.is("takes-nextp-without-an-exchange");
        self.of_mp("takes_nextp", "types/m.rs: take_nextp", |t, m, p| {
            t.from(m, ASLEEP).when(NEXTP.of([m, p]));
            if !copies {
                t.clear(NEXTP, &[m, p]);
            }
            t.set(OWNS, &[m, p]).goes(m, RUN);
        });
        self.of_mp("takes_nextp_again", "protocol/threads.rs: startm", |t, m, p| {
            let w = t.for_each("w", M);
            t.from(w, ASLEEP).when(NEXTP.of([w, p])).shows(m).clear(NEXTP, &[w, p]).set(HANDS, &[m, p]);
        });
        let forgets = self.is("forgets-the-stop");
        self.of_mp("idles", "sched/central.rs: releasep", |t, m, p| {
            t.locks(m).when(HANDS.of([m, p]));
            if !forgets {
                t.when(not(STOPPING.of([])));
            }
            t.clear(HANDS, &[m, p]).set(IDLE, &[p]);
        });
        self.of_mp("holds_for_stopper", "sched/central.rs: releasep", |t, m, p| {
            t.locks(m).when(HANDS.of([m, p])).when(STOPPING.of([])).clear(HANDS, &[m, p]).set(HELD, &[p]);
        });
    }

    /// A stopper.
    fn stop(&mut self) {
        let early = self.is("scans-before-it-says");
        self.of_m("begins_to_stop", "sched/stw.rs: begin", |t, m| {
            t.from(m, OUT).when(all("s", M, |s| not(among(s, STOPPERS)))).locks(m).set(ASKS, &[m]);
            t.assign(STOPPING, |_| Formula::Is(true));
            t.assign(HELD, |x| or([HELD.of([x[0]]), IDLE.of([x[0]])])).assign(IDLE, |_| Formula::Is(false));
            if !early {
                t.assign(SCANNED, |x| and([SCANNED.of([x[0], x[1]]), not(same(x[0], m))]));
            }
            t.goes(m, SAYS);
        });
        if early {
            self.of_mp("scans_early", "protocol/stw/mod.rs: stop", |t, m, p| {
                t.from(m, OUT).when(all("c", C, |c| not(WORD.of([p, c])))).set(SCANNED, &[m, p]);
            });
        }
        let fences = !self.is("no-stopping-fence");
        self.of_m("fences_stopping", "protocol/stw/mod.rs: stop", |t, m| {
            t.from(m, SAYS);
            if fences {
                t.shows(m);
            }
            t.goes(m, SCANS);
        });
        let source = "sched/stw.rs: take_from_syscalls";
        self.of_mp("sees_no_call", source, |t, m, p| {
            t.from(m, SCANS).when(all("c", C, |c| not(WORD.of([p, c])))).set(SCANNED, &[m, p]);
        });
        self.of_mpc("sees_call_stopping", source, |t, m, p, c| {
            t.from(m, SCANS).when(WORD.of([p, c])).set(SEEN, &[m, p, c]).goes(m, SEES);
        });
        let exchanges = !self.is("takes-without-an-exchange");
        self.of_mpc("takes_stopping", source, |t, m, p, c| {
            t.from(m, SEES).when(SEEN.of([m, p, c]));
            if exchanges {
                t.takes(m, p, c);
            }
            t.set(HANDS, &[m, p]).clear_all(SEEN, &[m]).set(SCANNED, &[m, p]).goes(m, SCANS);
        });
        self.of_mpc("misses_stopping", source, |t, m, p, c| {
            t.from(m, SEES).when(SEEN.of([m, p, c])).shows(m).when(not(WORD.of([p, c])));
            t.clear_all(SEEN, &[m]).set(SCANNED, &[m, p]).goes(m, SCANS);
        });
        self.of_m("ends_scan", "protocol/stw/mod.rs: stop", |t, m| {
            t.from(m, SCANS).when(all("p", P, |p| SCANNED.of([m, p]))).goes(m, WAITS);
        });
        self.of_m("stops", "protocol/stw/mod.rs: is_stopped", |t, m| {
            t.from(m, WAITS).locks(m).when(all("p", P, |p| HELD.of([p]))).goes(m, STOPPED);
        });
        // It holds every P then: those without a G it idles, the others it hands on.
        self.of_m("starts_the_world", "sched/stw.rs: start_the_world", |t, m| {
            t.from(m, STOPPED).locks(m).assign(STOPPING, |_| Formula::Is(false)).assign(WANTED, |_| Formula::Is(false));
            t.assign(HANDS, |x| or([HANDS.of([x[0], x[1]]), and([same(x[0], m), HELD.of([x[1]])])]));
            t.assign(HELD, |_| Formula::Is(false)).goes(m, OUT);
        });
    }
}
