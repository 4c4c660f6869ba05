//! How a P is left: an M idles it, or hands it off; and how an M that sleeps, or is new, gets one.

use super::state::*;
use super::steps::{STARTS_COUNTED, STARTS_UNCOUNTED, step};
use crate::logic::{Formula, Update, and, at, not, or, same, some};
use crate::system::Transition;

/// The steps, with one of them wrong if `variant` names it.
pub(super) fn steps(variant: &str, steps: &mut Vec<Transition>) {
    idles(variant, steps);
    looks_too_early(variant, steps);
    rests(variant, steps);
    wakes_m(variant, steps);
    starts(steps);
}

/// An M that idles its P, or hands one off.
fn idles(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;

    let found_none = |t: &mut Transition, m, p| {
        t.sees_its_ring_empty(m, p).takes_lock(m).when(not(global_shows()));
        if !is("idles-in-a-stop") {
            t.when(not(STOPPING.of([])));
        }
    };
    step(steps, "idles_spinning", "sched/find.rs: idle", |t, m| {
        let p = t.for_each("p", P);
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
        step(steps, pick("is_called", "is_called_handing"), source, |t, m| {
            let p = t.for_each("p", P);
            begin(t, m, p);
            t.when(NEED.of([])).set(LOCKS, &[m]).goes(m, if hand { HAND_SEES_NEED } else { SEES_NEED });
        });
        step(steps, pick("idles_beside_another", "settles_beside_another"), source, |t, m| {
            let p = t.for_each("p", P);
            begin(t, m, p);
            if recheck {
                t.when(not(NEED.of([])));
            }
            if counts {
                t.when(some_idle());
            }
            t.clear(holds, &[m, p]).set(IDLE, &[p]);
            if hand {
                t.goes_out(m)
            } else {
                t.goes(m, REST)
            };
        });
        step(steps, pick("rechecks", "rechecks_handing"), source, |t, m| {
            let p = t.for_each("p", P);
            begin(t, m, p);
            t.when(not(NEED.of([])))
                .when(not(some_idle()))
                .set(LOCKS, &[m])
                .goes(m, if hand { HAND_RECHECK } else { RECHECK });
        });
        let (rechecking, idling) = if hand { (HAND_RECHECK, HAND_IDLES) } else { (RECHECK, IDLES) };
        step(steps, pick("elects_itself", "elects_itself_handing"), "protocol/spinning.rs: must_recheck", |t, m| {
            t.from(m, rechecking).when(none_counted()).drains(m);
            t.set(COUNTED, &[m]).clear(LOCKS, &[m]).goes(m, if hand { START } else { SPIN });
        });
        step(steps, pick("trusts_a_count", "trusts_a_count_handing"), "protocol/spinning.rs: must_recheck", |t, m| {
            t.from(m, rechecking).when(not(none_counted())).goes(m, idling);
        });
        step(steps, pick("idles", "settles"), source, |t, m| {
            let p = t.for_each("p", P);
            t.from(m, idling).when(holds.of([m, p])).clear(LOCKS, &[m]);
            t.clear(holds, &[m, p]).set(IDLE, &[p]);
            if hand {
                t.goes_out(m)
            } else {
                t.goes(m, REST)
            };
        });
        step(steps, pick("counts_called", "counts_called_handing"), "protocol/spinning.rs: become_spinning", |t, m| {
            t.from(m, if hand { HAND_SEES_NEED } else { SEES_NEED }).drains(m).set(COUNTED, &[m]);
            t.goes(m, if hand { HAND_CALLED } else { CALLED });
        });
        step(
            steps,
            pick("clears_called", "clears_called_handing"),
            "protocol/spinning.rs: take_needspinning",
            |t, m| {
                t.from(m, if hand { HAND_CALLED } else { CALLED }).clear(LOCKS, &[m]);
                t.assign(NEED, |_| Formula::Is(false)).goes(m, if hand { START } else { SPIN });
            },
        );
    }
    if is("handoff-ignores-the-call") || is("elects-outside-the-lock") {
        step(steps, "trusts_before_the_lock", "protocol/handoff.rs: handoffp", |t, m| {
            t.from(m, HAND_OFF).when(or([not(none_counted()), some_idle()])).goes(m, HAND_TRUSTS);
        });
        step(steps, "settles_on_trust", "sched/handoff.rs: settle", |t, m| {
            let p = t.for_each("p", P);
            t.from(m, HAND_TRUSTS).when(HANDS.of([m, p]));
            found_none(t, m, p);
            if is("elects-outside-the-lock") {
                t.when(not(NEED.of([])));
            }
            t.clear(HANDS, &[m, p]).set(IDLE, &[p]).goes_out(m);
        });
    }
    for (name, is_locked) in [("sees_work_handing", false), ("has_work_handing", true)] {
        step(steps, name, "protocol/handoff.rs: handoffp", |t, m| {
            t.from(m, HAND_OFF);
            if is_locked {
                t.takes_lock(m);
            }
            t.goes(m, START_UNCOUNTED);
        });
    }
    step(steps, "retires", "protocol/spinning.rs: retire", |t, m| {
        t.from(m, IDLED).drains(m).clear(COUNTED, &[m]).begins_scan(m);
        t.goes(m, SCAN_RETIRED);
    });
}

/// Wrong: what it looks at, before it leaves the count.
fn looks_too_early(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;
    if is("finder-looks-before-it-leaves") {
        for t in steps.iter_mut() {
            let m = t.params[0];
            match t.name {
                "leaves_last" => t.updates.retain(|u| !matches!(u, Update::Rel { rel, .. } if *rel == COUNTED)),
                "ends_scan_found" | "sees_work_found" => _ = t.clear(COUNTED, &[m]),
                _ => (),
            }
        }
    }
    if is("the-last-looks-by-its-decrement") {
        step(steps, "retires_not_last", "protocol/spinning.rs: retire", |t, m| {
            t.from(m, IDLED).when(some("c", M, |c| and([not(same(c, m)), COUNTED.of([c])])));
            t.drains(m).clear(COUNTED, &[m]).goes(m, REST);
        });
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
        step(steps, "leaves_the_look_to_others", "protocol/spinning.rs: retire", |t, m| {
            t.from(m, IDLED).when(some("c", M, |c| and([not(same(c, m)), COUNTED.of([c])]))).goes(m, REST);
        });
    }
}

/// An M without a P.
fn rests(variant: &str, steps: &mut Vec<Transition>) {
    let is = |name: &str| variant == name;
    let begins_with = |name: &str| variant.starts_with(name);

    step(steps, "gets_p_for_work", "protocol/spinning.rs: retire", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, SAW_WORK).gets_idle(m, p, OWNS).goes(m, GOT_P);
    });
    step(steps, "asks_for_work", "protocol/spinning.rs: retire", |t, m| {
        t.from(m, SAW_WORK).takes_lock(m).when(not(some_idle())).goes(m, REST);
        if !begins_with("retire-does-not-ask") {
            t.assign(NEED, |_| Formula::Is(true));
        }
    });
    step(steps, "counts_itself", "protocol/spinning.rs: become_spinning", |t, m| {
        t.from(m, GOT_P).drains(m).set(COUNTED, &[m]).goes(m, CLEAR);
    });
    step(steps, "sleeps", "sched/threads.rs: mput", |t, m| {
        t.from(m, REST).takes_lock(m);
        if !is("sleeps-on-a-request") {
            t.when(not(and([NEED.of([]), some_idle()])));
        }
        t.owes_nothing(m).goes(m, ASLEEP);
    });
    step(steps, "is_called_resting", "sched/netpoll.rs: instead_of_sleep", |t, m| {
        let p = t.for_each("p", P);
        t.from(m, REST).takes_lock(m).when(NEED.of([])).when(IDLE.of([p]));
        t.clear(IDLE, &[p]).set(OWNS, &[m, p]).set(LOCKS, &[m]).goes(m, SEES_NEED);
    });
    step(steps, "ends", "sched/sysmon.rs: end_old_ms", |t, m| {
        let w = t.for_each("w", M);
        t.from(m, OUT).takes_lock(m).from(w, ASLEEP).goes(w, NEW);
    });
}

/// An M that sleeps gets a P.
fn wakes_m(variant: &str, steps: &mut Vec<Transition>) {
    for (name, from, to) in [("wakes_m", STARTS_COUNTED, WOKEN_COUNTED), ("wakes_m_uncounted", STARTS_UNCOUNTED, WOKEN)]
    {
        step(steps, name, "types/m.rs: wake_with", |t, m| {
            let (w, p) = (t.for_each("w", M), t.for_each("p", P));
            t.from_any(m, from).from(w, ASLEEP).takes_lock(m).sets_nextp(m, w, p);
            if to == WOKEN_COUNTED {
                t.clear(COUNTED, &[m]).set(COUNTED, &[w]);
            }
            t.goes_home(m).goes(w, to);
        });
    }
    step(steps, "takes_nextp", "types/m.rs: take_nextp", |t, m| {
        let p = t.for_each("p", P);
        t.from_any(m, WOKENS).when(NEXTP.of([m, p]));
        if variant != "takes-nextp-without-an-exchange" {
            t.clear(NEXTP, &[m, p]);
        }
        t.set(OWNS, &[m, p]).goes_if(m, at(m, WOKEN_COUNTED), SPIN, SEARCH);
    });
}

/// It starts a thread for an M that has none.
fn starts(steps: &mut Vec<Transition>) {
    let source = "protocol/threads.rs: start";
    for (name, from, to) in [("reserves", START, NEWM), ("reserves_uncounted", START_UNCOUNTED, NEWM_UNCOUNTED)] {
        step(steps, name, source, |t, m| {
            let (w, p) = (t.for_each("w", M), t.for_each("p", P));
            t.from(m, from).from(w, NEW).takes_lock(m).sets_nextp(m, w, p).set(RESERVES, &[m, w]);
            t.goes(m, to).goes(w, RESERVED);
        });
    }
    for (name, from, to) in [("starts", NEWM, WOKEN_COUNTED), ("starts_uncounted", NEWM_UNCOUNTED, WOKEN)] {
        step(steps, name, source, |t, m| {
            let w = t.for_each("w", M);
            t.from(m, from).when(RESERVES.of([m, w])).clear(RESERVES, &[m, w]);
            if from == NEWM {
                t.clear(COUNTED, &[m]).set(COUNTED, &[w]);
            }
            t.goes_home(m).goes(w, to);
        });
    }
    for (name, from, to) in
        [("gets_no_thread", NEWM, NO_THREAD), ("gets_no_thread_uncounted", NEWM_UNCOUNTED, NO_THREAD_UNCOUNTED)]
    {
        step(steps, name, source, |t, m| {
            let (w, p) = (t.for_each("w", M), t.for_each("p", P));
            t.from(m, from).when(RESERVES.of([m, w])).when(NEXTP.of([w, p])).clear(RESERVES, &[m, w]);
            t.clear(NEXTP, &[w, p]).set(HANDS, &[m, p]).goes(m, to).goes(w, NEW);
        });
    }
}
