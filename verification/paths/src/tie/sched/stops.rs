//! A stop of the world, and its start, in the words of the drawing `sched`.

use super::*;
use spinpark_parameterized::sched::calls::is_scanned;

pub(super) fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    match edge.step.act.as_str() {
        "under the lock: another stopper is in the line" => {
            let another = some("o", M, |o| and([IN_LINE.of([o]), not(same(o, m))]));
            t.when(if is("yes") { another } else { not(another) });
        }
        "it comes into the line, behind all others" => _ = t.joins_the_line(m),
        "it is the first" => _ = t.when(is_first(m)),
        "it is not the first" => _ = t.when(not(is_first(m))),
        // As if another thread did it meanwhile.
        "hands its P on" => {
            let (h, p) = (the(t, "h", M), the(t, "p", P));
            t.when(at(h, OUT)).when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(HANDS, &[h, p]);
        }
        "under the lock: those before it have left the line" if is("yes") => _ = t.when(is_first(m)),
        // Its P is handed on, and who it has noted is woken, before it asks.
        "under the lock: those before it have left the line" => _ = t.when(not(is_first(m))).owes_nothing(m),
        "sleeps until another thread unparks it" => _ = t.when(TOKEN.of([m])).clear(TOKEN, &[m]),
        "sleeps, and wakes spuriously" => (),
        "under the lock: the world is to stop, the idle Ps are held" => {
            let has_none = context.operation.ends_with("without a P");
            if has_none {
                t.when(not(has_p(m)));
            }
            t.takes_lock(m).holds_what_is_idle(m);
            if has_none {
                are_held(edge, t);
            }
        }
        // Under the same hold of the lock.
        "its own P is held" => {
            let p = the(t, "p", P);
            t.when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(HELD, &[p]);
            are_held(edge, t);
        }
        "fence" => _ = t.drains(m),
        // Word by word: `syscall::take_from_syscalls, for a stop`.
        "takes every P that is in a system call" => _ = t.when(all("p", P, |p| is_scanned(m, p))),
        "under the lock: it is held" => {
            let p = the(t, "p", P);
            t.when(HANDS.of([m, p])).takes_lock(m).clear(HANDS, &[m, p]).set(HELD, &[p]);
            are_held(edge, t);
        }
        "notes that the first in the line is to be woken" => {
            t.assign(OWES, |x| or([OWES.of([x[0], x[1]]), and([same(x[0], m), is_first(x[1])])]));
        }
        "unparks it" => {
            let s = the(t, "s", M);
            t.when(OWES.of([m, s])).clear(OWES, &[m, s]).set(TOKEN, &[s]);
        }
        "under the lock: every P is held" => {
            t.when(if is("yes") { all_held() } else { not(all_held()) }).owes_nothing(m);
        }
        "the world runs: the Ps with a G are its own, the others are idle" => _ = t.takes_lock(m).starts(m),
        "it leaves the line" => _ = t.clear(IN_LINE, &[m]).clear_all(AHEAD, &[m]),
        "a G is left in the ring of a P that ends" => {
            let p = the(t, "p", P);
            t.when(HELD.of([p]));
            if is("yes") {
                let g = the(t, "g", G);
                t.when(lock_is_free()).when(RING.of([g, p])).clear(RING, &[g, p]).set(PUTS_GLOBAL, &[m, g]);
            } else {
                t.when(not(ring_shows(p)));
            }
        }
        "so many Ps are wanted" | "its Gs come before those in the global queue" => (),
        "the P is spare" => {
            let p = the(t, "p", P);
            t.clear(HELD, &[p]).set(SPARE, &[p]);
        }
        "a spare P is held" => {
            let p = the(t, "p", P);
            t.when(SPARE.of([p])).clear(SPARE, &[p]).set(HELD, &[p]);
        }
        "wakep" => return Reading::Elsewhere(Places::of(&[QUEUED])),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

/// Is every P held now? The answer is that of a step by which one is.
pub(super) fn are_held(edge: &Edge, t: &mut Transition) {
    let is_last = edge.answers.contains("so is every P");
    t.when(if is_last { all_held() } else { not(all_held()) });
}

/// Under the lock, of an M that searches, or of a P that is handed off.
pub(super) fn sees_the_stop(t: &mut Transition, context: &mut Context) {
    let m = context.m;
    t.takes_lock(m).when(STOPPING.of([])).set(LOCKS, &[m]);
    if context.place == SEARCH {
        t.clear_all(YIELDED, &[m]);
    }
    context.is_locked = true;
}
