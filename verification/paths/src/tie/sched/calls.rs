//! `protocol/syscall.rs`, and an M that sleeps, in the words of the drawing `sched`.

use super::*;
use spinpark_parameterized::sched::calls::is_scanned;

pub(super) fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    match edge.step.act.as_str() {
        "its G was interrupted" => {
            let c = the(t, "c", C);
            t.set(DETACHED, &[c]);
        }
        act if act.starts_with("word.") => return word(edge, t, context),
        "fence" => _ = t.drains(m),
        "its P is wanted" if edge.answers.len() == 2 => (),
        "its P is wanted" => _ = t.when(if is("yes") { WANTED.of([]) } else { not(WANTED.of([])) }),
        // A P that an M gives away while it has a G; or one that it has taken out of a word.
        "handoffp" => {
            let p = the(t, "p", P);
            if context.place == RUN {
                t.when(OWNS.of([m, p])).clear(OWNS, &[m, p]);
            }
            t.set(HANDS, &[m, p]);
        }
        "goes on under a P" if context.place == RUN => (),
        "goes on under a P" => {
            let p = the(t, "p", P);
            t.set(OWNS, &[m, p]);
            if context.place == INSIDE {
                let c = the(t, "c", C);
                t.clear(IN, &[m, c]);
            }
        }
        "pidleget_or_queue" if is("a P") => {
            let p = the(t, "p", P);
            t.takes_lock(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]);
        }
        "pidleget_or_queue" => {
            let g = the(t, "g", G);
            t.takes_lock(m).when(not(some_idle())).queues(g).set(PUTS_GLOBAL, &[m, g]);
        }
        "there is another word" => (),
        "it has looked at each word" => _ = t.when(all("p", P, |p| is_scanned(m, p))),
        // How it waits until all are: `stw::stop`.
        "under the lock: every P is held" => return Reading::Elsewhere(Places::of(&[WAITS])),
        _ => return stops::read(edge, t, context),
    }
    Reading::Step
}

/// The word of a P. Which call the thread knows of: its own, in which it left the P in the word; or the one that it has seen there.
fn word(edge: &Edge, t: &mut Transition, context: &Context) -> Reading {
    let (m, place) = (context.m, context.place);
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    let is_own_call = [GIVES, INSIDE].contains(&place);
    let act = edge.step.act.as_str();
    let c = if is("owned") && act == "word.load" { None } else { Some(the(t, "c", C)) };
    match (act, c) {
        // A stopper notes that there is none.
        ("word.load", None) if place == SCANS => {
            let p = the(t, "p", P);
            t.when(not(SCANNED.of([m, p]))).when(all("c", C, |c| not(WORD.of([p, c])))).set(SCANNED, &[m, p]);
        }
        // The owner of the P reads its count of takings; or an M finds no P there.
        ("word.load", None) => (),
        ("word.load", Some(c)) => {
            let p = the(t, "p", P);
            if place == SCANS {
                t.when(not(SCANNED.of([m, p])));
            }
            t.when(WORD.of([p, c])).set(SEEN, &[m, p, c]);
        }
        ("word.store the call", Some(c)) => {
            let p = the(t, "p", P);
            t.leaves(m, p, c);
        }
        (_, Some(c)) if is("done") => {
            let p = the(t, "p", P);
            t.when(if is_own_call { IN.of([m, c]) } else { SEEN.of([m, p, c]) }).takes(m, p, c);
            if !is_own_call {
                t.clear_all(SEEN, &[m]);
            }
            if place == SEES {
                t.set(HANDS, &[m, p]).set(SCANNED, &[m, p]);
            }
        }
        // Its call stands in no other word.
        (_, Some(c)) if is_own_call => {
            t.finds_it_gone(m, c);
            if place == INSIDE {
                t.clear(IN, &[m, c]);
            }
        }
        (_, Some(c)) => {
            let p = the(t, "p", P);
            t.finds_it_taken(m, p, c);
            if place == SEES {
                t.set(SCANNED, &[m, p]);
            }
        }
        (_, None) => return Reading::Unknown,
    }
    Reading::Step
}

/// An M that sleeps, and wakes.
pub(super) fn waits(edge: &Edge, t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    let is_woken = WOKENS.has(context.place);
    match edge.step.act.as_str() {
        "mput" if is("it sleeps") => {
            t.takes_lock(m).when(not(and([NEED.of([]), some_idle()]))).owes_nothing(m);
        }
        // Instead of sleep: `spinning::mput`.
        "mput" => return Reading::Elsewhere(Places::of(&[REST])),
        "park" => (),
        "nextp.swap none" if is("the P") && is_woken => {
            let p = the(t, "p", P);
            t.when(NEXTP.of([m, p])).clear(NEXTP, &[m, p]).set(OWNS, &[m, p]);
        }
        "nextp.swap none" if is("none") => _ = t.when(all("p", P, |p| not(NEXTP.of([m, p])))),
        // Another thread has woken it, with a P or to end: then it is there, and no more where it sleeps.
        "nextp.swap none" => return Reading::Elsewhere(Places::of(&[ASLEEP, WOKEN, WOKEN_COUNTED])),
        _ => return Reading::Unknown,
    }
    Reading::Step
}
