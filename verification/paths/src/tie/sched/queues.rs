//! What an operation of a queue is in the words of the drawing `sched`.

use super::*;

/// A queue as a whole: the step at which a G comes into it, or leaves it, or at which it is seen to be empty. That it is then, `runq` proves.
pub(super) fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    let is_get = |operation: &str| operation.starts_with("local::get");
    match (context.operation.as_str(), edge.step.act.as_str()) {
        ("globq::peek", "len.load") if is("0") => _ = t.when(not(global_shows())).set(SAW_GLOBAL, &[m]),
        // It scans the global queue before the rings.
        ("local::is_empty", "tail.load") if is("as before") => {
            let p = the(t, "p", P);
            t.when(not(ring_shows(p))).set(SAW_RING, &[m, p]).when(SAW_GLOBAL.of([m]));
        }
        // The half of a ring, and the G that did not fit.
        ("globq::put_batch", act) if act.starts_with("len.store") => spilled(t, m),
        ("globq::put" | "globq::put_batch", "takes the lock") => _ = t.takes_lock(m),
        ("globq::put", _) => {
            let g = the(t, "g", G);
            t.queues(g).set(PUTS_GLOBAL, &[m, g]);
        }
        ("globq::get_batch", "puts the rest of its share into its ring") => {
            let p = the(t, "p", P);
            t.when(OWNS.of([m, p])).takes_share(m, p);
        }
        ("globq::get_batch", act) if act.starts_with("len.store") => {
            let g = the(t, "g", G);
            t.takes_lock(m).when(GLOBAL.of([g])).clear(GLOBAL, &[g]).set(UNQUEUED, &[g]).clear_all(YIELDED, &[m]);
        }
        (get, "head.exchange past the one that it read") if is("done") && is_get(get) => takes_own(t, m),
        (get, "runnext.swap none") if is("a G") && is_get(get) => takes_own(t, m),
        ("local::put", "tail.store past what it wrote") => {
            let g = the(t, "g", G);
            t.queues(g).set(PUTS, &[m, g]);
        }
        ("local::put, by a G that yields", "tail.store past what it wrote") => {
            let (p, g) = (the(t, "p", P), the(t, "g", G));
            t.when(OWNS.of([m, p])).queues(g).set(PUTS, &[m, g]).set(YIELDED, &[m, g]);
        }
        ("local::put_next", "runnext.swap the G") if is("a G") => {
            let (p, g, old) = (the(t, "p", P), the(t, "g", G), the(t, "old", G));
            t.when(OWNS.of([m, p])).drains(m).when(RING.of([old, p])).when(not(same(g, old)));
            t.queues(g).clear(RING, &[old, p]).set(RING, &[g, p]).set(SPILLS, &[m, old]);
        }
        // Visible at once: as if it were flushed next.
        ("local::put_next", "runnext.swap the G") => {
            let g = the(t, "g", G);
            t.queues(g).set(PUTS, &[m, g]);
        }
        ("local::put_next", "tail.store past what it wrote") => {
            let g = the(t, "g", G);
            t.when(SPILLS.of([m, g])).clear(SPILLS, &[m, g]).set(PUTS, &[m, g]);
            t.when(all("h", G, |h| not(SPILLS.of([m, h]))));
        }
        ("local::steal_some", "head.exchange past the one that it read") if is("done") => steals(t, m),
        ("local::steal_some", "runnext.swap none") if is("a G") => steals(t, m),
        // More than one: the first is to be run, the others are put into its own ring, and are visible when that store is.
        ("local::steal_some", "head.exchange past all that it read, half of what there was") if is("done") => {
            steals(t, m);
            let v = the(t, "v", P);
            t.takes_batch(v);
        }
        ("local::steal_some", "mine.tail.store past what it wrote") => _ = t.puts_batch(PUTS, m),
        (_, "head.exchange past half of the slots") if is("done") => {
            let p = the(t, "p", P);
            t.when(OWNS.of([m, p])).drains(m).takes_batch(p).puts_batch(SPILLS, m);
        }
        (_, "spills all that it claimed, and the G") => {
            t.takes_lock(m);
            spilled(t, m);
        }
        _ => (),
    }
    Reading::Step
}

fn spilled(t: &mut Transition, m: Var) {
    let g = the(t, "g", G);
    t.puts_spilled(m, g);
}

fn steals(t: &mut Transition, m: Var) {
    let (p, v, g) = (the(t, "p", P), the(t, "v", P), the(t, "g", G));
    t.when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).takes_out(g, v);
}

fn takes_own(t: &mut Transition, m: Var) {
    let (p, g) = (the(t, "p", P), the(t, "g", G));
    t.when(OWNS.of([m, p])).drains(m).takes_out(g, p).clear_all(YIELDED, &[m]);
}
