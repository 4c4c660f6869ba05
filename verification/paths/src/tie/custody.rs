//! `protocol/syscall.rs` and `protocol/threads.rs` in the words of the drawing `custody`.

use super::{Context, Drawing, Reading, the};
use crate::path::Edge;
use spinpark_parameterized::custody::{self, *};
use spinpark_parameterized::logic::{Formula, Places, all, among, and, at, not, or, same};
use spinpark_parameterized::system::Transition;

pub(super) static DRAWING: Drawing = Drawing {
    name: "custody",
    system: custody::system,
    dictionary: read,
    begins: &[
        ("syscall::entersyscall", RUN),
        ("syscall::interrupt", RUN),
        ("syscall::entersyscallblock", RUN),
        ("syscall::exitsyscall", INSIDE),
        ("syscall::exitsyscall, of a call known to block", OUT),
        ("syscall::retake", OUT),
        ("threads::startm", OUT),
        ("threads::stopm", OUT),
        ("stw::stop, without a P", OUT),
    ],
    ends: |what| match what {
        "away" => Places::of(&[INSIDE, OUT]),
        "its P, kept" | "its P, taken back" | "an idle P" | "a P" => Places::of(&[RUN]),
        "an end" => Places::of(&[ASLEEP]),
        _ => Places::of(&[OUT]),
    },
    open: &["word.", "nextp.", "its P is wanted"],
    elsewhere: &[
        ("a store buffer", &["shows_put", "shows_request"]),
        (
            "sched, whose data is under the lock",
            &["gets_idle_p", "keeps", "idles", "holds_for_stopper", "starts_the_world"],
        ),
        (
            "sched/stw.rs: a stopper looks at each word, and sleeps until every P is held",
            &["sees_no_call", "sees_call_stopping", "takes_stopping", "misses_stopping", "ends_scan", "stops"],
        ),
    ],
    sizes: &[&[2, 1, 3], &[2, 2, 2]],
    steps: 12_000,
};

fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    // Which call it knows of: its own, of which it left the P in the word; or the one that it has seen there.
    let is_own_call = [GIVES, INSIDE].contains(&context.place);
    match edge.step.act.as_str() {
        "its G was interrupted" => {
            let c = the(t, "c", C);
            t.set(DETACHED, &[c]);
        }
        "word.load" if is("owned") => (),
        // The owner of the P reads its count of takings.
        "word.load" => {
            let (p, c) = (the(t, "p", P), the(t, "c", C));
            t.when(WORD.of([p, c])).set(SEEN, &[m, p, c]);
        }
        "word.store the call" => {
            let (p, c) = (the(t, "p", P), the(t, "c", C));
            t.leaves(m, p, c);
        }
        "fence" => _ = t.shows(m),
        "under the lock: the world is to stop, the idle Ps are held" => {
            t.when(all("s", M, |s| not(among(s, STOPPERS))))
                .locks(m)
                .set(ASKS, &[m])
                .assign(STOPPING, |_| Formula::Is(true));
            t.assign(HELD, |x| or([HELD.of([x[0]]), IDLE.of([x[0]])])).assign(IDLE, |_| Formula::Is(false));
            t.assign(SCANNED, |x| and([SCANNED.of([x[0], x[1]]), not(same(x[0], m))]));
        }
        "notes that the first in the line is to be woken" | "unparks it" => (),
        "takes every P that is in a system call" => return Reading::Elsewhere(Places::of(&[SCANS])),
        "its P is wanted" => {
            let wanted = WANTED.of([]);
            t.when(if is("yes") {
                wanted
            } else if is("no") {
                not(wanted)
            } else {
                Formula::Is(true)
            });
        }
        act if act.starts_with("word.exchange") => {
            let c = the(t, "c", C);
            if is("done") {
                let p = the(t, "p", P);
                t.when(if is_own_call { IN.of([m, c]) } else { SEEN.of([m, p, c]) }).takes(m, p, c);
                if !is_own_call {
                    t.clear_all(SEEN, &[m]);
                }
            } else if is_own_call {
                // Its call stands in no other word.
                t.when(IN.of([m, c])).shows(m).when(all("p", P, |p| not(WORD.of([p, c]))));
                if context.place == INSIDE {
                    t.clear(IN, &[m, c]);
                }
            } else {
                let p = the(t, "p", P);
                t.when(SEEN.of([m, p, c])).shows(m).when(not(WORD.of([p, c]))).clear_all(SEEN, &[m]);
            }
        }
        // A P that an M gives away while it has a G.
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
            t.locks(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]);
        }
        "pidleget_or_queue" => _ = t.locks(m).when(all("i", P, |i| not(IDLE.of([i])))),
        "mput" if is("it sleeps") => _ = t.locks(m),
        "mget" | "newm" | "park" | "unpark" => (),
        "nextp.swap the P" => {
            let (p, w) = (the(t, "p", P), the(t, "w", M));
            t.when(at(w, ASLEEP)).when(HANDS.of([m, p])).when(all("q", P, |q| not(NEXTP.of([w, q]))));
            t.shows(m).clear(HANDS, &[m, p]).set(NEXTP, &[w, p]);
        }
        "nextp.swap none" if context.place == ASLEEP && is("the P") => {
            let p = the(t, "p", P);
            t.when(NEXTP.of([m, p])).clear(NEXTP, &[m, p]).set(OWNS, &[m, p]);
        }
        "nextp.swap none" if is("the P") => {
            let (p, w) = (the(t, "p", P), the(t, "w", M));
            t.when(at(w, ASLEEP)).when(NEXTP.of([w, p])).shows(m).clear(NEXTP, &[w, p]).set(HANDS, &[m, p]);
        }
        "nextp.swap none" if is("none") => (),
        "nextp.swap none" => return Reading::Elsewhere(Places::of(&[ASLEEP])),
        // What happens to the P then is decided under the lock.
        "mput" | "gives the number back" | "has no number to give back" => {
            return Reading::Elsewhere(Places::of(&[OUT]));
        }
        _ => return Reading::Unknown,
    }
    Reading::Step
}
