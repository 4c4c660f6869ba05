//! What the poller reports, and what sources have, in the words of the drawing `sched`.

use super::*;

pub(super) fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    let is_back = context.operation.contains("injectglist");
    match edge.step.act.as_str() {
        "pidleget, to use it" if is("a P") => {
            let p = the(t, "p", P);
            t.takes_lock(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]);
        }
        // Under one hold of the lock with what follows: it is told there.
        "pidleget, to use it" => context.is_locked = true,
        "what the poller reports, or sources have" if is("one G") && is_back => {
            let g = the(t, "g", G);
            t.queues(g).set(SPILLS, &[m, g]);
        }
        "what the poller reports, or sources have" if is("more") && is_back => _ = t.queues_batch(SPILLS, m),
        "what the poller reports, or sources have" if context.place == SEARCH && (is("some") || is("more")) => {
            t.clear_all(YIELDED, &[m]);
        }
        "what the poller reports, or sources have" => (),
        "queues them, under that lock" => _ = t.takes_lock(m).when(not(some_idle())).queues_batch(PUTS_GLOBAL, m),
        "queues them, under the lock" => _ = t.takes_lock(m).queues_batch(PUTS_GLOBAL, m),
        "unlock" => context.is_locked = false,
        "puts the one into the ring of the P" => {
            let g = the(t, "g", G);
            t.puts_the_last_in_hand(m, g).set(YIELDED, &[m, g]);
        }
        "puts one of them into the ring of the P" => {
            let g = the(t, "g", G);
            t.puts_from_hand(m, g);
        }
        "one more is in hand" => {
            let none = has_none_in_hand(m);
            t.when(if is("no") { none } else { not(none) });
        }
        "puts one of them into its own queues" => {
            let g = the(t, "g", G);
            t.queues(g).set(PUTS, &[m, g]);
        }
        // One that is counted is asked for.
        "puts it into its own queues, and runs it next" if context.place == SPIN => {
            let g = the(t, "g", G);
            t.queues(g).set(PUTS, &[m, g]);
        }
        "puts it into its own queues, and runs it next" => {
            let (p, g) = (the(t, "p", P), the(t, "g", G));
            t.when(OWNS.of([m, p])).sees_its_ring_empty(m, p);
            t.queues(g).set(PUTS, &[m, g]).clear_all(YIELDED, &[m]).set(YIELDED, &[m, g]);
        }
        "runs the first" => _ = t.has_yielded_none(m),
        // Its own operation's, and then the search.
        "calls wakep" => return Reading::Elsewhere(Places::of(&[QUEUED])),
        "one more is ready" | "runs under it" => (),
        _ => return Reading::Unknown,
    }
    Reading::Step
}
