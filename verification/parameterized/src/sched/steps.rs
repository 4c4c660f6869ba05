//! Every step of the scheduler, once; those of stops are in [`stops`], those of system calls in [`calls`].

use super::state::*;
use super::{calls, hands, poller, stops};
use crate::logic::{Formula, Places, Rel, Var, all, and, at, not, or, same, some};
use crate::system::Transition;

const ELECTS: Places = Places::of(&[ELECT, SEES_IDLE]);
pub(super) const STARTS_COUNTED: Places = Places::of(&[START, NO_THREAD]);
pub(super) const STARTS_UNCOUNTED: Places = Places::of(&[START_UNCOUNTED, NO_THREAD_UNCOUNTED]);

/// The steps, with one of them wrong if `variant` names it.
pub fn steps(variant: &str) -> Vec<Transition> {
    let mut steps = Vec::new();
    queues(variant, &mut steps);
    wakes(variant, &mut steps);
    searches(variant, &mut steps);
    scans(variant, &mut steps);
    hands::steps(variant, &mut steps);
    poller::steps(variant, &mut steps);
    stops::steps(variant, &mut steps);
    calls::steps(variant, &mut steps);
    steps
}

/// Adds a step of a thread `m`.
pub(super) fn step(
    steps: &mut Vec<Transition>,
    name: &'static str,
    source: &'static str,
    make: impl FnOnce(&mut Transition, Var),
) {
    let mut t = Transition::new(name, source);
    let m = t.for_each("m", M);
    make(&mut t, m);
    steps.push(t);
}

/// What the steps have in common.
impl Transition {
    /// Only if the lock is free. To take it drains `m`'s store buffer, and shows what those before did under it.
    pub fn takes_lock(&mut self, m: Var) -> &mut Self {
        self.when(lock_is_free());
        self.drains(m);
        self.assign(GLOBAL, |x| or([GLOBAL.of([x[0]]), some("w", M, |w| PUTS_GLOBAL.of([w, x[0]]))]));
        self.assign(PUTS_GLOBAL, |_| Formula::Is(false))
    }

    /// `m`'s stores become visible.
    pub fn drains(&mut self, m: Var) -> &mut Self {
        self.assign(RING, |x| or([RING.of([x[0], x[1]]), and([PUTS.of([m, x[0]]), OWNS.of([m, x[1]])])]));
        self.assign(PUTS, |x| and([PUTS.of([x[0], x[1]]), not(and([same(x[0], m), has_p(m)]))]));
        self.assign(GLOBAL, |x| or([GLOBAL.of([x[0]]), PUTS_GLOBAL.of([m, x[0]])]));
        self.clear_all(PUTS_GLOBAL, &[m]);
        self.assign(NEED, |_| and([NEED.of([]), not(CLEARS.of([m]))]));
        self.clear(CLEARS, &[m]);
        self.assign(WORD, |x| or([WORD.of([x[0], x[1]]), LEAVES.of([m, x[0], x[1]])]));
        self.clear_all(LEAVES, &[m]);
        self.assign(WANTED, |_| or([WANTED.of([]), REQUESTS.of([m])]));
        self.clear(REQUESTS, &[m])
    }

    /// `m` takes this idle P, under the lock: to run Gs, or to pass it on.
    pub fn gets_idle(&mut self, m: Var, p: Var, holds: Rel) -> &mut Self {
        self.takes_lock(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(holds, &[m, p])
    }

    /// `m`, which runs under this P, gives it to `h` to be passed on.
    pub fn passes_on(&mut self, m: Var, p: Var, h: Var) -> &mut Self {
        self.when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(HANDS, &[h, p])
    }

    /// The P that `m` passes on is in the `nextp` of `w`.
    pub fn sets_nextp(&mut self, m: Var, w: Var, p: Var) -> &mut Self {
        self.when(HANDS.of([m, p])).clear(HANDS, &[m, p]).set(NEXTP, &[w, p])
    }

    /// `m` goes on to run its G, or is out, or in its system call.
    pub(super) fn goes_home(&mut self, m: Var) -> &mut Self {
        self.goes_where(m, [(has_p(m), RUN), (in_call(m), INSIDE), (Formula::Is(true), OUT)])
    }

    /// `m`, which has no P, is out, or in its system call.
    pub(super) fn goes_out(&mut self, m: Var) -> &mut Self {
        self.goes_if(m, in_call(m), INSIDE, OUT)
    }

    /// `m` begins a scan.
    pub fn begins_scan(&mut self, m: Var) -> &mut Self {
        self.clear(SAW_GLOBAL, &[m]);
        self.clear_all(SAW_RING, &[m])
    }
}

/// A thread that queues a G.
fn queues(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;

    step(steps, "submits", "sched/mod.rs: submit, yield_now", |t, m| {
        let g = t.for_each("g", G);
        t.from_any(m, OUTSIDE).takes_lock(m).queues(g).set(PUTS_GLOBAL, &[m, g]).goes(m, QUEUED);
    });
    step(steps, "readies", "sched/mod.rs: ready", |t, m| {
        let g = t.for_each("g", G);
        t.from(m, RUN).queues(g).set(PUTS, &[m, g]).goes(m, QUEUED);
    });
    step(steps, "kicks", "queues/local.rs: put_next", |t, m| {
        let p = t.for_each("p", P);
        let (g, old) = (t.for_each("g", G), t.for_each("old", G));
        t.from(m, RUN).when(OWNS.of([m, p])).drains(m).when(RING.of([old, p])).when(not(same(g, old)));
        t.queues(g).clear(RING, &[old, p]).set(RING, &[g, p]).set(SPILLS, &[m, old]).goes(m, KICKS);
    });
    step(steps, "puts_kicked", "queues/local.rs: put_next", |t, m| {
        let g = t.for_each("g", G);
        t.from(m, KICKS).puts_the_last_in_hand(m, g).goes(m, QUEUED);
    });
    step(steps, "wakes", "sched/central.rs: make", |t, m| {
        t.from_any(m, OUTSIDE).goes(m, QUEUED);
    });
    if is("trusts-the-idle-count") {
        step(steps, "sees_none_idle", "sched/netpoll.rs: injectglist", |t, m| {
            t.from(m, RUN).when(not(some_idle())).goes(m, SAW_NONE_IDLE);
        });
        step(steps, "injects", "sched/netpoll.rs: injectglist", |t, m| {
            let (p, g) = (t.for_each("p", P), t.for_each("g", G));
            t.from(m, SAW_NONE_IDLE).when(OWNS.of([m, p])).queues(g).set(RING, &[g, p]).goes(m, RUN);
        });
    }
    step(steps, "spills", "queues/runq.rs: spill_half", |t, m| {
        let p = t.for_each("p", P);
        t.from_any(m, Places::of(&[RUN, KICKS])).when(OWNS.of([m, p])).drains(m).takes_batch(p);
        t.puts_batch(SPILLS, m).goes(m, SPILL);
    });
    step(steps, "puts_spilled", "sched/mod.rs: spill", |t, m| {
        let g = t.for_each("g", G);
        t.from(m, SPILL).takes_lock(m).puts_spilled(m, g);
        if is("spills-all-but-the-last") {
            t.clear(PUTS_GLOBAL, &[m, g]);
        }
        t.goes(m, if is("spills-and-wakes-nobody") { RUN } else { QUEUED });
    });
    step(steps, "flushes_put", "queues/runq.rs: put", |t, m| {
        let (p, g) = (t.for_each("p", P), t.for_each("g", G));
        t.when(PUTS.of([m, g])).when(OWNS.of([m, p])).clear(PUTS, &[m, g]).set(RING, &[g, p]);
    });
    step(steps, "flushes_global", "queues/globq.rs: set", |t, m| {
        let g = t.for_each("g", G);
        t.when(PUTS_GLOBAL.of([m, g])).clear(PUTS_GLOBAL, &[m, g]).set(GLOBAL, &[g]);
    });
    step(steps, "flushes_clear", "protocol/spinning.rs: become_spinning", |t, m| {
        t.when(CLEARS.of([m])).clear(CLEARS, &[m]).assign(NEED, |_| Formula::Is(false));
    });
}

/// It wakes an M: `wakep`.
fn wakes(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;
    let begins_with = |name: &str| variant.starts_with(name);

    step(steps, "fences", "protocol/spinning.rs: wakep", |t, m| {
        t.from(m, QUEUED);
        if !is("no-submitters-fence") {
            t.drains(m);
        }
        t.goes(m, FENCED);
    });
    step(steps, "trusts", "protocol/spinning.rs: elect_unless", |t, m| {
        t.from(m, FENCED).when(not(none_counted())).goes_home(m);
    });
    step(steps, "sees_none_counted", "protocol/spinning.rs: elect_unless", |t, m| {
        t.from(m, FENCED).when(none_counted()).goes(m, ELECT);
    });
    step(steps, "sees_a_request", "protocol/spinning.rs: is_needspinning", |t, m| {
        t.from(m, ELECT).when(NEED.of([])).goes(m, REQUESTED);
    });
    step(steps, "trusts_a_request", "protocol/spinning.rs: start_spinning_m", |t, m| {
        t.from(m, REQUESTED);
        if !is("trusts-any-request") {
            t.when(not(some_idle()));
        }
        t.goes_home(m);
    });
    step(steps, "sees_an_idle_p", "protocol/spinning.rs: start_spinning_m", |t, m| {
        t.from(m, REQUESTED).goes(m, SEES_IDLE);
    });
    step(steps, "is_elected", "protocol/spinning.rs: elect_unless", |t, m| {
        t.from_any(m, ELECTS).when(none_counted()).drains(m).set(COUNTED, &[m]).goes(m, ELECTED);
    });
    step(steps, "is_not_elected", "protocol/spinning.rs: elect_unless", |t, m| {
        t.from_any(m, ELECTS).when(not(none_counted())).goes_home(m);
    });
    step(steps, "gets_idle_p", "sched/spinning.rs: pidleget", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, ELECTED).gets_idle(m, p, HANDS).goes(m, START);
    });
    step(steps, "gets_no_p", "sched/spinning.rs: pidleget", |t, m| {
        t.from(m, ELECTED).takes_lock(m).when(not(some_idle())).goes(m, LOWER);
        if !is("lowers-its-count-late") {
            t.set(LOCKS, &[m]);
        }
    });
    let is_gos_order = begins_with("asks-before-it-lowers");
    step(steps, "lowers", "protocol/spinning.rs: give_up", |t, m| {
        t.from(m, LOWER).drains(m);
        if is_gos_order {
            t.assign(NEED, |_| Formula::Is(true)).goes(m, ASK);
        } else {
            t.clear(COUNTED, &[m]).goes(m, ASK);
        }
    });
    step(steps, "asks", "protocol/spinning.rs: set_needspinning", |t, m| {
        t.from(m, ASK).clear(LOCKS, &[m]);
        if is_gos_order {
            t.drains(m).clear(COUNTED, &[m]);
        } else if !begins_with("wakep-does-not-ask") {
            t.assign(NEED, |_| Formula::Is(true));
        }
        t.goes_home(m);
    });
    for (name, from) in [("is_refused", STARTS_COUNTED), ("is_refused_uncounted", STARTS_UNCOUNTED)] {
        step(steps, name, "sched/threads.rs: refused", |t, m| {
            t.from_any(m, from).takes_lock(m);
            if !is("forgets-who-fell-asleep") {
                t.when(all("s", M, |s| not(at(s, ASLEEP))));
            }
            t.set(LOCKS, &[m]).goes(m, REFUSED_DRAIN);
        });
    }
    step(steps, "drains_refused", "queues/local.rs: drain", |t, m| {
        let (p, g) = (t.for_each("p", P), t.for_each("g", G));
        t.from(m, REFUSED_DRAIN).when(HANDS.of([m, p])).when(RING.of([g, p]));
        t.clear(RING, &[g, p]).set(PUTS_GLOBAL, &[m, g]);
    });
    step(steps, "idles_refused", "sched/threads.rs: refused", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, REFUSED_DRAIN).when(HANDS.of([m, p])).when(not(ring_shows(p))).when(not(STOPPING.of([])));
        t.clear(HANDS, &[m, p]).set(IDLE, &[p]).goes_if(m, COUNTED.of([m]), REFUSED_LOWER, REFUSED_ASK);
    });
    step(steps, "lowers_refused", "protocol/spinning.rs: give_up", |t, m| {
        t.from(m, REFUSED_LOWER).drains(m).clear(COUNTED, &[m]).goes(m, REFUSED_ASK);
    });
    step(steps, "asks_refused", "sched/threads.rs: refused", |t, m| {
        // Its stores become visible in order, and the request comes last.
        t.from(m, REFUSED_ASK).drains(m).clear(LOCKS, &[m]);
        if !is("refused-and-nobody-asked") {
            t.assign(NEED, |_| Formula::Is(true));
        }
        t.goes_home(m);
    });
}

/// An M that searches.
fn searches(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;

    step(steps, "ends_its_run", "protocol/find.rs: find_runnable", |t, m| {
        t.from(m, RUN).goes(m, SEARCH);
    });
    step(steps, "yields_here", "sched/mod.rs: goyield", |t, m| {
        let (p, g) = (t.for_each("p", P), t.for_each("g", G));
        t.from(m, RUN).when(OWNS.of([m, p])).queues(g).set(PUTS, &[m, g]).set(YIELDED, &[m, g]).goes(m, SEARCH);
    });
    step(steps, "takes_own", "sched/find.rs: take_local", |t, m| {
        let (p, g) = (t.for_each("p", P), t.for_each("g", G));
        t.from_any(m, SEARCHING).when(OWNS.of([m, p])).drains(m).takes_out(g, p);
        t.clear_all(YIELDED, &[m]);
        t.goes_if(m, at(m, SPIN), FOUND, RUN);
    });
    step(steps, "takes_global", "sched/find.rs: take_global", |t, m| {
        let g = t.for_each("g", G);
        t.from_any(m, SEARCHING).takes_lock(m).when(GLOBAL.of([g])).clear(GLOBAL, &[g]);
        t.set(UNQUEUED, &[g]).clear_all(YIELDED, &[m]).goes_if(m, at(m, SPIN), FOUND, RUN);
    });
    step(steps, "takes_share", "queues/globq.rs: get_batch", |t, m| {
        let p = t.for_each("p", P);
        t.from_any(m, SEARCHING).when(OWNS.of([m, p]));
        if is("leaves-its-share-in-the-queue") {
            t.takes_lock(m).for_each_batch(|b| GLOBAL.of([b]));
            t.assign(RING, |x| or([RING.of([x[0], x[1]]), and([same(x[1], p), BATCH.of([x[0]])])])).with_set_done();
        } else {
            t.takes_share(m, p);
        }
    });
    step(steps, "begins_to_spin", "protocol/spinning.rs: become_spinning", |t, m| {
        t.from(m, SEARCH);
        t.drains(m).set(COUNTED, &[m]).clear_all(YIELDED, &[m]).goes(m, CLEAR);
    });
    step(steps, "clears", "protocol/spinning.rs: become_spinning", |t, m| {
        t.from(m, CLEAR).set(CLEARS, &[m]).goes(m, SPIN);
    });
    step(steps, "steals", "queues/runq.rs: steal_some", |t, m| {
        let (p, v, g) = (t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
        t.from(m, SPIN).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).takes_out(g, v);
        t.goes(m, FOUND);
    });
    step(steps, "steals_more", "queues/runq.rs: steal_some", |t, m| {
        let (p, v, g) = (t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
        t.from(m, SPIN).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).takes_out(g, v);
        t.takes_batch(v).puts_batch(PUTS, m).goes(m, FOUND);
    });
    if is("steals-uncounted") {
        step(steps, "steals_uncounted", "queues/runq.rs: steal_some", |t, m| {
            let (p, v, g) = (t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
            t.from(m, SEARCH).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).when(RING.of([g, v]));
            t.clear(RING, &[g, v]).set(RING, &[g, p]);
        });
    }
    step(steps, "leaves_last", "protocol/spinning.rs: found_work", |t, m| {
        t.from(m, FOUND).when(all("c", M, |c| or([same(c, m), not(COUNTED.of([c]))])));
        t.drains(m).clear(COUNTED, &[m]).begins_scan(m);
        t.goes(m, if is("drops-the-baton") { RUN } else { SCAN_FOUND });
    });
    step(steps, "leaves", "protocol/spinning.rs: found_work", |t, m| {
        t.from(m, FOUND).when(some("c", M, |c| and([not(same(c, m)), COUNTED.of([c])])));
        if !is("leaves-without-a-drain") {
            t.drains(m);
        }
        t.clear(COUNTED, &[m]).goes(m, RUN);
    });
}

/// An M that scans, behind its fence.
fn scans(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;

    step(steps, "sees_no_global", "sched/spinning.rs: any_work", |t, m| {
        t.from_any(m, SCANNING).when(not(global_shows())).set(SAW_GLOBAL, &[m]);
    });
    step(steps, "sees_no_ring", "sched/spinning.rs: any_work", |t, m| {
        let p = t.for_each("p", P);
        t.from_any(m, SCANNING).when(not(ring_shows(p))).set(SAW_RING, &[m, p]);
        if !is("scans-the-rings-first") {
            t.when(SAW_GLOBAL.of([m]));
        }
    });
    // What it has seen may be gone again: a ring that looks as if it held a G is the safe answer.
    step(steps, "sees_work_found", "protocol/spinning.rs: found_work", |t, m| {
        t.from(m, SCAN_FOUND).goes(m, FENCED);
    });
    step(steps, "sees_work_retired", "protocol/spinning.rs: retire", |t, m| {
        t.from(m, SCAN_RETIRED).goes(m, SAW_WORK);
    });
    for (name, from, to) in [("ends_scan_found", SCAN_FOUND, RUN), ("ends_scan_retired", SCAN_RETIRED, REST)] {
        step(steps, name, "protocol/spinning.rs: any_work", |t, m| {
            t.from(m, from);
            if !(is("no-second-look") && from == SCAN_RETIRED) {
                t.when(SAW_GLOBAL.of([m])).when(all("q", P, |q| SAW_RING.of([m, q])));
            }
            t.goes(m, to);
        });
    }
}
