//! Every step of the scheduler, once; those of stops are in [`stops`].

use super::state::*;
use super::{hands, poller, stops};
use crate::logic::{Formula, Places, all, and, at, not, or, same, some};
use crate::system::Transition;

const OUTSIDE: Places = Places::of(&[RUN, OUT]);
const ELECTS: Places = Places::of(&[ELECT, SEES_IDLE]);

/// The steps, with one of them wrong if `variant` names it.
pub fn steps(variant: &str) -> Vec<Transition> {
    let mut steps = Vec::new();
    queues(variant, &mut steps);
    wakes(variant, &mut steps);
    searches(variant, &mut steps);
    scans(variant, &mut steps);
    hands::steps(variant, &mut steps);
    steps.extend(poller::steps(variant));
    steps.extend(stops::steps(variant));
    steps
}

/// A thread that queues a G.
fn queues(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;
    let mut step = |name, source, make: &dyn Fn(&mut Transition)| {
        let mut t = Transition::new(name, source);
        make(&mut t);
        steps.push(t);
    };

    step("submits", "sched/mod.rs: submit, yield_now", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from_any(m, OUTSIDE).takes_lock(m).queues(g).set(PUTS_GLOBAL, &[m, g]).goes(m, QUEUED);
    });
    step("readies", "sched/mod.rs: ready", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from(m, RUN).queues(g).set(PUTS, &[m, g]).goes(m, QUEUED);
    });
    step("kicks", "queues/local.rs: put_next", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        let (g, old) = (t.for_each("g", G), t.for_each("old", G));
        t.from(m, RUN).when(OWNS.of([m, p])).drains(m).when(RING.of([old, p])).when(not(same(g, old)));
        t.queues(g).clear(RING, &[old, p]).set(RING, &[g, p]).set(SPILLS, &[m, old]).goes(m, KICKS);
    });
    step("puts_kicked", "queues/local.rs: put_next", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from(m, KICKS).when(SPILLS.of([m, g])).clear(SPILLS, &[m, g]).set(PUTS, &[m, g]);
        t.when(all("h", G, |h| not(SPILLS.of([m, h])))).goes(m, QUEUED);
    });
    step("wakes", "sched/central.rs: make", &|t| {
        let m = t.for_each("m", M);
        t.from_any(m, OUTSIDE).goes(m, QUEUED);
    });
    if is("trusts-the-idle-count") {
        step("sees_none_idle", "sched/netpoll.rs: injectglist", &|t| {
            let m = t.for_each("m", M);
            t.from(m, RUN).when(not(some_idle())).goes(m, SAW_NONE_IDLE);
        });
        step("injects", "sched/netpoll.rs: injectglist", &|t| {
            let (m, p, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("g", G));
            t.from(m, SAW_NONE_IDLE).when(OWNS.of([m, p])).queues(g).set(RING, &[g, p]).goes(m, RUN);
        });
    }
    step("spills", "queues/runq.rs: spill_half", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from_any(m, Places::of(&[RUN, KICKS])).when(OWNS.of([m, p])).drains(m).takes_batch(p);
        t.puts_batch(SPILLS, m).goes(m, SPILL);
    });
    step("puts_spilled", "sched/mod.rs: spill", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from(m, SPILL).takes_lock(m).puts_spilled(m, g);
        if is("spills-all-but-the-last") {
            t.clear(PUTS_GLOBAL, &[m, g]);
        }
        t.goes(m, if is("spills-and-wakes-nobody") { RUN } else { QUEUED });
    });
    step("flushes_put", "queues/runq.rs: put", &|t| {
        let (m, p, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("g", G));
        t.when(PUTS.of([m, g])).when(OWNS.of([m, p])).clear(PUTS, &[m, g]).set(RING, &[g, p]);
    });
    step("flushes_global", "queues/globq.rs: set", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.when(PUTS_GLOBAL.of([m, g])).clear(PUTS_GLOBAL, &[m, g]).set(GLOBAL, &[g]);
    });
    step("flushes_clear", "protocol/spinning.rs: become_spinning", &|t| {
        let m = t.for_each("m", M);
        t.when(CLEARS.of([m])).clear(CLEARS, &[m]).assign(NEED, |_| Formula::Is(false));
    });
}

/// It wakes an M: `wakep`.
fn wakes(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;
    let begins_with = |name: &str| variant.starts_with(name);
    let mut step = |name, source, make: &dyn Fn(&mut Transition)| {
        let mut t = Transition::new(name, source);
        make(&mut t);
        steps.push(t);
    };

    step("fences", "protocol/spinning.rs: wakep", &|t| {
        let m = t.for_each("m", M);
        t.from(m, QUEUED);
        if !is("no-submitters-fence") {
            t.drains(m);
        }
        t.goes(m, FENCED);
    });
    step("trusts", "protocol/spinning.rs: elect_unless", &|t| {
        let m = t.for_each("m", M);
        t.from(m, FENCED).when(not(none_counted())).goes_home(m);
    });
    step("sees_none_counted", "protocol/spinning.rs: elect_unless", &|t| {
        let m = t.for_each("m", M);
        t.from(m, FENCED).when(none_counted()).goes(m, ELECT);
    });
    step("sees_a_request", "protocol/spinning.rs: is_needspinning", &|t| {
        let m = t.for_each("m", M);
        t.from(m, ELECT).when(NEED.of([])).goes(m, REQUESTED);
    });
    step("trusts_a_request", "protocol/spinning.rs: start_spinning_m", &|t| {
        let m = t.for_each("m", M);
        t.from(m, REQUESTED);
        if !is("trusts-any-request") {
            t.when(not(some_idle()));
        }
        t.goes_home(m);
    });
    step("sees_an_idle_p", "protocol/spinning.rs: start_spinning_m", &|t| {
        let m = t.for_each("m", M);
        t.from(m, REQUESTED).goes(m, SEES_IDLE);
    });
    step("is_elected", "protocol/spinning.rs: elect_unless", &|t| {
        let m = t.for_each("m", M);
        t.from_any(m, ELECTS).when(none_counted()).drains(m).set(COUNTED, &[m]).goes(m, ELECTED);
    });
    step("is_not_elected", "protocol/spinning.rs: elect_unless", &|t| {
        let m = t.for_each("m", M);
        t.from_any(m, ELECTS).when(not(none_counted())).drains(m).goes_home(m);
    });
    step("gets_idle_p", "sched/spinning.rs: pidleget", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from(m, ELECTED).takes_lock(m).when(IDLE.of([p]));
        t.clear(IDLE, &[p]).set(HANDS, &[m, p]).goes(m, START);
    });
    step("gets_no_p", "sched/spinning.rs: pidleget", &|t| {
        let m = t.for_each("m", M);
        t.from(m, ELECTED).takes_lock(m).when(not(some_idle())).goes(m, LOWER);
        if !is("lowers-its-count-late") {
            t.set(LOCKS, &[m]);
        }
    });
    let is_gos_order = begins_with("asks-before-it-lowers");
    step("lowers", "protocol/spinning.rs: give_up", &|t| {
        let m = t.for_each("m", M);
        t.from(m, LOWER).drains(m);
        if is_gos_order {
            t.assign(NEED, |_| Formula::Is(true)).goes(m, ASK);
        } else {
            t.clear(COUNTED, &[m]).goes(m, ASK);
        }
    });
    step("asks", "protocol/spinning.rs: set_needspinning", &|t| {
        let m = t.for_each("m", M);
        t.from(m, ASK).clear(LOCKS, &[m]);
        if is_gos_order {
            t.drains(m).clear(COUNTED, &[m]);
        } else if !begins_with("wakep-does-not-ask") {
            t.assign(NEED, |_| Formula::Is(true));
        }
        t.goes_home(m);
    });
    step("starts", "protocol/threads.rs: startm", &|t| {
        let (m, w, p) = (t.for_each("m", M), t.for_each("w", M), t.for_each("p", P));
        t.from(m, START).from_any(w, Places::of(&[ASLEEP, NEW])).when(HANDS.of([m, p])).takes_lock(m);
        t.clear(HANDS, &[m, p]).set(OWNS, &[w, p]).clear(COUNTED, &[m]).set(COUNTED, &[w]);
        t.goes_home(m).goes(w, SPIN);
    });
    step("starts_uncounted", "protocol/threads.rs: startm", &|t| {
        let (m, w, p) = (t.for_each("m", M), t.for_each("w", M), t.for_each("p", P));
        t.from(m, START_UNCOUNTED).from_any(w, Places::of(&[ASLEEP, NEW])).when(HANDS.of([m, p])).takes_lock(m);
        t.clear(HANDS, &[m, p]).set(OWNS, &[w, p]).goes_home(m).goes(w, SEARCH);
    });
    for (name, from) in [("is_refused", START), ("is_refused_uncounted", START_UNCOUNTED)] {
        step(name, "sched/threads.rs: refused", &|t| {
            let m = t.for_each("m", M);
            t.from(m, from).takes_lock(m);
            if !is("forgets-who-fell-asleep") {
                t.when(all("s", M, |s| not(at(s, ASLEEP))));
            }
            t.set(LOCKS, &[m]).goes(m, REFUSED_DRAIN);
        });
    }
    step("drains_refused", "queues/local.rs: drain", &|t| {
        let (m, p, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("g", G));
        t.from(m, REFUSED_DRAIN).when(HANDS.of([m, p])).when(RING.of([g, p]));
        t.clear(RING, &[g, p]).set(PUTS_GLOBAL, &[m, g]);
    });
    step("idles_refused", "sched/threads.rs: refused", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from(m, REFUSED_DRAIN).when(HANDS.of([m, p])).when(not(ring_shows(p))).when(not(STOPPING.of([])));
        t.clear(HANDS, &[m, p]).set(IDLE, &[p]).goes_if(m, COUNTED.of([m]), REFUSED_LOWER, REFUSED_ASK);
    });
    step("lowers_refused", "protocol/spinning.rs: give_up", &|t| {
        let m = t.for_each("m", M);
        t.from(m, REFUSED_LOWER).drains(m).clear(COUNTED, &[m]).goes(m, REFUSED_ASK);
    });
    step("asks_refused", "sched/threads.rs: refused", &|t| {
        let m = t.for_each("m", M);
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
    let mut step = |name, source, make: &dyn Fn(&mut Transition)| {
        let mut t = Transition::new(name, source);
        make(&mut t);
        steps.push(t);
    };

    step("ends_its_run", "protocol/find.rs: find_runnable", &|t| {
        let m = t.for_each("m", M);
        t.from(m, RUN).goes(m, SEARCH);
    });
    step("yields_here", "sched/mod.rs: goyield", &|t| {
        let (m, p, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("g", G));
        t.from(m, RUN).when(OWNS.of([m, p])).queues(g).set(PUTS, &[m, g]).set(YIELDED, &[m, g]).goes(m, SEARCH);
    });
    step("takes_own", "sched/find.rs: take_local", &|t| {
        let (m, p, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("g", G));
        t.from_any(m, SEARCHING).when(OWNS.of([m, p])).drains(m).takes_out(g, p);
        t.clear_all(YIELDED, &[m]);
        t.goes_if(m, at(m, SPIN), FOUND, RUN);
    });
    step("takes_global", "sched/find.rs: take_global", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from_any(m, SEARCHING).takes_lock(m).when(GLOBAL.of([g])).clear(GLOBAL, &[g]);
        t.set(UNQUEUED, &[g]).clear_all(YIELDED, &[m]).goes_if(m, at(m, SPIN), FOUND, RUN);
    });
    step("takes_share", "queues/globq.rs: get_batch", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from_any(m, SEARCHING).when(OWNS.of([m, p]));
        if is("leaves-its-share-in-the-queue") {
            t.takes_lock(m).for_each_batch(|b| GLOBAL.of([b]));
            t.assign(RING, |x| or([RING.of([x[0], x[1]]), and([same(x[1], p), BATCH.of([x[0]])])])).with_set_done();
        } else {
            t.takes_share(m, p);
        }
    });
    step("begins_to_spin", "protocol/spinning.rs: become_spinning", &|t| {
        let m = t.for_each("m", M);
        t.from(m, SEARCH);
        t.drains(m).set(COUNTED, &[m]).clear_all(YIELDED, &[m]).goes(m, CLEAR);
    });
    step("clears", "protocol/spinning.rs: become_spinning", &|t| {
        let m = t.for_each("m", M);
        t.from(m, CLEAR).set(CLEARS, &[m]).goes(m, SPIN);
    });
    step("steals", "queues/runq.rs: steal_some", &|t| {
        let (m, p, v, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
        t.from(m, SPIN).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).takes_out(g, v);
        t.goes(m, FOUND);
    });
    step("steals_more", "queues/runq.rs: steal_some", &|t| {
        let (m, p, v, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
        t.from(m, SPIN).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).takes_out(g, v);
        t.takes_batch(v).puts_batch(PUTS, m).goes(m, FOUND);
    });
    if is("steals-uncounted") {
        step("steals_uncounted", "queues/runq.rs: steal_some", &|t| {
            let (m, p, v, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
            t.from(m, SEARCH).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).when(RING.of([g, v]));
            t.clear(RING, &[g, v]).set(RING, &[g, p]);
        });
    }
    step("leaves_last", "protocol/spinning.rs: found_work", &|t| {
        let m = t.for_each("m", M);
        t.from(m, FOUND).when(all("c", M, |c| or([same(c, m), not(COUNTED.of([c]))])));
        t.drains(m).clear(COUNTED, &[m]).begins_scan(m);
        t.goes(m, if is("drops-the-baton") { RUN } else { SCAN_FOUND });
    });
    step("leaves", "protocol/spinning.rs: found_work", &|t| {
        let m = t.for_each("m", M);
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
    let mut step = |name, source, make: &dyn Fn(&mut Transition)| {
        let mut t = Transition::new(name, source);
        make(&mut t);
        steps.push(t);
    };

    step("sees_no_global", "sched/spinning.rs: any_work", &|t| {
        let m = t.for_each("m", M);
        t.from_any(m, SCANNING).when(not(global_shows())).set(SAW_GLOBAL, &[m]);
    });
    step("sees_no_ring", "sched/spinning.rs: any_work", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from_any(m, SCANNING).when(not(ring_shows(p))).set(SAW_RING, &[m, p]);
        if !is("scans-the-rings-first") {
            t.when(SAW_GLOBAL.of([m]));
        }
    });
    // What it has seen may be gone again: a ring that looks as if it held a G is the safe answer.
    step("sees_work_found", "protocol/spinning.rs: found_work", &|t| {
        let m = t.for_each("m", M);
        t.from(m, SCAN_FOUND).goes(m, FENCED);
    });
    step("sees_work_retired", "protocol/spinning.rs: retire", &|t| {
        let m = t.for_each("m", M);
        t.from(m, SCAN_RETIRED).goes(m, SAW_WORK);
    });
    for (name, from, to) in [("ends_scan_found", SCAN_FOUND, RUN), ("ends_scan_retired", SCAN_RETIRED, REST)] {
        step(name, "protocol/spinning.rs: any_work", &|t| {
            let m = t.for_each("m", M);
            t.from(m, from);
            if !(is("no-second-look") && from == SCAN_RETIRED) {
                t.when(SAW_GLOBAL.of([m])).when(all("q", P, |q| SAW_RING.of([m, q])));
            }
            t.goes(m, to);
        });
    }
}
