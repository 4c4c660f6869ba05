//! Every step of the scheduler, once; those of stops are in [`stops`](super::stops). A wrong variant is one of them, changed.

use super::state::*;
use crate::logic::{Formula, Places, Update, all, and, at, not, or, same, some};
use crate::system::Transition;

const OUTSIDE: Places = Places::of(&[RUN, OUT]);
const ELECTS: Places = Places::of(&[ELECT, SEES_IDLE]);

/// The steps, with one of them wrong if `variant` names it.
pub fn steps(variant: &str) -> Vec<Transition> {
    let is = |name: &str| variant == name;
    let begins_with = |name: &str| variant.starts_with(name);
    let mut steps = Vec::new();
    let mut step = |name, source, make: &dyn Fn(&mut Transition)| {
        let mut t = Transition::new(name, source);
        make(&mut t);
        steps.push(t);
    };

    // A submitter.
    step("submits", "sched/mod.rs: submit, yield_now", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from_any(m, OUTSIDE).takes_lock(m).set(PUTS_GLOBAL, &[m, g]).goes(m, QUEUED);
    });
    step("readies", "sched/mod.rs: ready", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from(m, RUN).set(PUTS, &[m, g]).goes(m, QUEUED);
    });
    step("kicks", "queues/local.rs: put_next", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        let (g, old) = (t.for_each("g", G), t.for_each("old", G));
        t.from(m, RUN).when(OWNS.of([m, p])).drains(m).when(RING.of([old, p])).when(not(same(g, old)));
        t.clear(RING, &[old, p]).set(RING, &[g, p]).set(SPILLS, &[m, old]).goes(m, KICKS);
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
            t.from(m, SAW_NONE_IDLE).when(OWNS.of([m, p])).set(RING, &[g, p]).goes(m, RUN);
        });
    }
    step("spills", "queues/runq.rs: spill_half", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from_any(m, Places::of(&[RUN, KICKS])).when(OWNS.of([m, p])).drains(m).takes_batch(p);
        t.puts_batch(SPILLS, m).goes(m, SPILL);
    });
    step("puts_spilled", "sched/mod.rs: spill", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from(m, SPILL).takes_lock(m).set(PUTS_GLOBAL, &[m, g]);
        t.assign(PUTS_GLOBAL, |x| or([PUTS_GLOBAL.of([x[0], x[1]]), and([same(x[0], m), SPILLS.of([m, x[1]])])]));
        t.clear_all(SPILLS, &[m]).goes(m, if is("spills-and-wakes-nobody") { RUN } else { QUEUED });
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

    // An M that searches.
    step("ends_its_run", "protocol/find.rs: find_runnable", &|t| {
        let m = t.for_each("m", M);
        t.from(m, RUN).goes(m, SEARCH);
    });
    step("yields_here", "sched/mod.rs: goyield", &|t| {
        let (m, p, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("g", G));
        t.from(m, RUN).when(OWNS.of([m, p])).set(PUTS, &[m, g]).set(YIELDED, &[m, g]).goes(m, SEARCH);
    });
    step("takes_own", "sched/find.rs: take_local", &|t| {
        let (m, p, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("g", G));
        t.from_any(m, SEARCHING).when(OWNS.of([m, p])).drains(m).when(RING.of([g, p])).clear(RING, &[g, p]);
        t.clear_all(YIELDED, &[m]);
        t.goes_if(m, at(m, SPIN), FOUND, RUN);
    });
    step("takes_global", "sched/find.rs: take_global", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        t.from_any(m, SEARCHING).takes_lock(m).when(GLOBAL.of([g])).clear(GLOBAL, &[g]);
        t.clear_all(YIELDED, &[m]).goes_if(m, at(m, SPIN), FOUND, RUN);
    });
    step("takes_share", "queues/globq.rs: get_batch", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from_any(m, SEARCHING).when(OWNS.of([m, p])).takes_share(m, p);
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
        t.from(m, SPIN).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).when(RING.of([g, v]));
        t.clear(RING, &[g, v]).goes(m, FOUND);
    });
    step("steals_more", "queues/runq.rs: steal_some", &|t| {
        let (m, p, v, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
        t.from(m, SPIN).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).when(RING.of([g, v]));
        t.clear(RING, &[g, v]).takes_batch(v).puts_batch(PUTS, m).goes(m, FOUND);
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

    // An M that scans, behind its fence.
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

    // An M that idles its P, or hands one off.
    let found_none = |t: &mut Transition, m, p| {
        t.when(not(some("o", G, |o| PUTS.of([m, o]))));
        t.when(not(ring_shows(p))).takes_lock(m).when(not(global_shows()));
        if !is("idles-in-a-stop") {
            t.when(not(STOPPING.of([])));
        }
    };
    step("idles_spinning", "sched/find.rs: idle", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from(m, SPIN).when(OWNS.of([m, p]));
        found_none(t, m, p);
        t.clear(OWNS, &[m, p]).set(IDLE, &[p]).goes(m, IDLED);
    });
    let recheck = !is("ignores-the-call");
    let counts = !is("leaves-it-to-nobody") && !variant.ends_with("-as-go") && recheck;
    for (hand, from, holds) in [(false, SEARCH, OWNS), (true, HAND_OFF, HANDS)] {
        let pick = |own: &'static str, handed| if hand { handed } else { own };
        let source = pick("sched/find.rs: idle", "sched/handoff.rs: settle");
        let checks = !(hand && is("idles-at-once"));
        let begin = |t: &mut Transition, m, p| {
            t.from(m, from).when(holds.of([m, p]));
            if checks {
                found_none(t, m, p);
            } else {
                t.takes_lock(m);
            }
            if !hand {
                t.clear_all(YIELDED, &[m]);
            }
        };
        let (recheck, counts) = (recheck && checks, counts && checks && !(hand && is("no-spinning-m")));
        step(pick("is_called", "is_called_handing"), source, &|t| {
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            begin(t, m, p);
            t.when(NEED.of([])).set(LOCKS, &[m]).goes(m, if hand { HAND_SEES_NEED } else { SEES_NEED });
        });
        step(pick("idles_beside_another", "settles_beside_another"), source, &|t| {
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            begin(t, m, p);
            if recheck {
                t.when(not(NEED.of([])));
            }
            if counts {
                t.when(some_idle());
            }
            t.clear(holds, &[m, p]).set(IDLE, &[p]).goes(m, if hand { OUT } else { REST });
        });
        step(pick("rechecks", "rechecks_handing"), source, &|t| {
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            begin(t, m, p);
            t.when(not(NEED.of([])))
                .when(not(some_idle()))
                .set(LOCKS, &[m])
                .goes(m, if hand { HAND_RECHECK } else { RECHECK });
        });
        let (rechecking, idling) = if hand { (HAND_RECHECK, HAND_IDLES) } else { (RECHECK, IDLES) };
        step(pick("elects_itself", "elects_itself_handing"), "protocol/spinning.rs: must_recheck", &|t| {
            let m = t.for_each("m", M);
            t.from(m, rechecking).when(none_counted()).drains(m);
            t.set(COUNTED, &[m]).clear(LOCKS, &[m]).goes(m, if hand { START } else { SPIN });
        });
        step(pick("trusts_a_count", "trusts_a_count_handing"), "protocol/spinning.rs: must_recheck", &|t| {
            let m = t.for_each("m", M);
            t.from(m, rechecking).when(not(none_counted())).goes(m, idling);
        });
        step(pick("idles", "settles"), source, &|t| {
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            t.from(m, idling).when(holds.of([m, p])).clear(LOCKS, &[m]);
            t.clear(holds, &[m, p]).set(IDLE, &[p]).goes(m, if hand { OUT } else { REST });
        });
        step(pick("counts_called", "counts_called_handing"), "protocol/spinning.rs: become_spinning", &|t| {
            let m = t.for_each("m", M);
            t.from(m, if hand { HAND_SEES_NEED } else { SEES_NEED }).drains(m).set(COUNTED, &[m]);
            t.goes(m, if hand { HAND_CALLED } else { CALLED });
        });
        step(pick("clears_called", "clears_called_handing"), "protocol/spinning.rs: take_needspinning", &|t| {
            let m = t.for_each("m", M);
            t.from(m, if hand { HAND_CALLED } else { CALLED }).clear(LOCKS, &[m]);
            t.assign(NEED, |_| Formula::Is(false)).goes(m, if hand { START } else { SPIN });
        });
    }
    if is("handoff-ignores-the-call") || is("elects-outside-the-lock") {
        step("trusts_before_the_lock", "protocol/handoff.rs: handoffp", &|t| {
            let m = t.for_each("m", M);
            t.from(m, HAND_OFF).when(or([not(none_counted()), some_idle()])).goes(m, HAND_TRUSTS);
        });
        step("settles_on_trust", "sched/handoff.rs: settle", &|t| {
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            t.from(m, HAND_TRUSTS).when(HANDS.of([m, p]));
            found_none(t, m, p);
            if is("elects-outside-the-lock") {
                t.when(not(NEED.of([])));
            }
            t.clear(HANDS, &[m, p]).set(IDLE, &[p]).goes(m, OUT);
        });
    }
    for (name, is_locked) in [("sees_work_handing", false), ("has_work_handing", true)] {
        step(name, "protocol/handoff.rs: handoffp", &|t| {
            let m = t.for_each("m", M);
            t.from(m, HAND_OFF);
            if is_locked {
                t.takes_lock(m);
            }
            t.goes(m, START_UNCOUNTED);
        });
    }
    step("retires", "protocol/spinning.rs: retire", &|t| {
        let m = t.for_each("m", M);
        t.from(m, IDLED).drains(m).clear(COUNTED, &[m]).begins_scan(m);
        t.goes(m, SCAN_RETIRED);
    });
    if is("finder-looks-before-it-leaves") {
        for t in &mut steps {
            let m = t.params[0];
            match t.name {
                "leaves_last" => t.updates.retain(|u| !matches!(u, Update::Rel { rel, .. } if *rel == COUNTED)),
                "ends_scan_found" | "sees_work_found" => _ = t.clear(COUNTED, &[m]),
                _ => (),
            }
        }
    }
    if is("the-last-looks-by-its-decrement") {
        let mut t = Transition::new("retires_not_last", "protocol/spinning.rs: retire");
        let m = t.for_each("m", M);
        t.from(m, IDLED).when(some("c", M, |c| and([not(same(c, m)), COUNTED.of([c])])));
        t.drains(m).clear(COUNTED, &[m]).goes(m, REST);
        steps.push(t);
    }
    if is("looks-before-it-leaves") {
        // The scan comes first, while it is counted; a scan that ends leaves the count.
        for t in steps.iter_mut().filter(|t| ["retires", "ends_scan_retired"].contains(&t.name)) {
            let m = t.params[0];
            if t.name == "retires" {
                t.updates.retain(|u| !matches!(u, Update::Rel { rel, .. } if *rel == COUNTED));
            } else {
                t.clear(COUNTED, &[m]);
            }
        }
    }
    if is("only-the-last-looks") {
        // It reads the count before it leaves: an M that is not alone goes to sleep.
        let mut t = Transition::new("leaves_the_look_to_others", "protocol/spinning.rs: retire");
        let m = t.for_each("m", M);
        t.from(m, IDLED).when(some("c", M, |c| and([not(same(c, m)), COUNTED.of([c])]))).goes(m, REST);
        steps.push(t);
    }
    let mut step = |name, source, make: &dyn Fn(&mut Transition)| {
        let mut t = Transition::new(name, source);
        make(&mut t);
        steps.push(t);
    };
    step("gets_p_for_work", "protocol/spinning.rs: retire", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from(m, SAW_WORK).takes_lock(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]).goes(m, GOT_P);
    });
    step("asks_for_work", "protocol/spinning.rs: retire", &|t| {
        let m = t.for_each("m", M);
        t.from(m, SAW_WORK).takes_lock(m).when(not(some_idle())).goes(m, REST);
        if !begins_with("retire-does-not-ask") {
            t.assign(NEED, |_| Formula::Is(true));
        }
    });
    step("counts_itself", "protocol/spinning.rs: become_spinning", &|t| {
        let m = t.for_each("m", M);
        t.from(m, GOT_P).drains(m).set(COUNTED, &[m]).goes(m, CLEAR);
    });
    step("sleeps", "sched/threads.rs: mput", &|t| {
        let m = t.for_each("m", M);
        t.from(m, REST).takes_lock(m);
        if !is("sleeps-on-a-request") {
            t.when(not(and([NEED.of([]), some_idle()])));
        }
        t.owes_nothing(m).goes(m, ASLEEP);
    });
    step("is_called_resting", "sched/netpoll.rs: instead_of_sleep", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from(m, REST).takes_lock(m).when(NEED.of([])).when(IDLE.of([p]));
        t.clear(IDLE, &[p]).set(OWNS, &[m, p]).set(LOCKS, &[m]).goes(m, SEES_NEED);
    });
    step("ends", "sched/sysmon.rs: end_old_ms", &|t| {
        let (m, w) = (t.for_each("m", M), t.for_each("w", M));
        t.from(m, OUT).takes_lock(m).from(w, ASLEEP).goes(w, NEW);
    });

    // System calls.
    step("enters_blocking", "protocol/syscall.rs: entersyscallblock", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from(m, RUN).when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(HANDS, &[m, p]).goes(m, HAND_OFF);
    });
    step("enters", "protocol/syscall.rs: entersyscall", &|t| {
        let m = t.for_each("m", M);
        t.from(m, RUN).goes(m, SYSCALL);
    });
    step("exits_kept", "protocol/syscall.rs: exitsyscall", &|t| {
        let m = t.for_each("m", M);
        t.from(m, SYSCALL).goes(m, RUN);
    });
    step("retakes", "sched/sysmon.rs: look_at", &|t| {
        let (m, w, p) = (t.for_each("m", M), t.for_each("w", M), t.for_each("p", P));
        t.from(m, OUT).from(w, SYSCALL).when(OWNS.of([w, p])).drains(m);
        t.clear(OWNS, &[w, p]).set(HANDS, &[m, p]).goes(w, OUT).goes(m, HAND_OFF);
    });
    step("takes_back", "protocol/syscall.rs: exitsyscall", &|t| {
        let (m, w, p) = (t.for_each("m", M), t.for_each("w", M), t.for_each("p", P));
        t.from(m, OUT).from(w, SYSCALL).when(OWNS.of([w, p])).drains(m);
        t.clear(OWNS, &[w, p]).set(OWNS, &[m, p]).goes(w, OUT).goes(m, RUN);
    });
    step("exits_to_idle_p", "sched/syscall.rs: pidleget_or_queue", &|t| {
        let (m, p) = (t.for_each("m", M), t.for_each("p", P));
        t.from(m, OUT).takes_lock(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]).goes(m, RUN);
    });
    if is("queues-outside-the-lock") {
        step("sees_no_idle_p", "sched/syscall.rs: pidleget_or_queue", &|t| {
            let m = t.for_each("m", M);
            t.from(m, OUT).takes_lock(m).when(not(some_idle())).goes(m, SAW_NO_P);
        });
    }
    step("exits_and_queues", "sched/syscall.rs: pidleget_or_queue", &|t| {
        let (m, g) = (t.for_each("m", M), t.for_each("g", G));
        if is("queues-outside-the-lock") {
            t.from(m, SAW_NO_P).takes_lock(m);
        } else {
            t.from(m, OUT).takes_lock(m).when(not(some_idle()));
        }
        t.set(PUTS_GLOBAL, &[m, g]).goes(m, REST);
    });
    steps.extend(super::stops::steps(variant));
    steps
}
