//! `protocol/syscall.rs` and `protocol/threads.rs` in the words of the drawing `custody`.

use super::{Context, Drawing, MOVES, Reading, the};
use crate::path::Edge;
use spinpark_parameterized::custody::{self, *};
use spinpark_parameterized::logic::{Formula, Places, Var, all, among, and, at, not, or, same};
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
        ("stw::queue_up", OUT),
        ("stw::queue_up, without a P", OUT),
        ("stw::stop", OUT),
        ("stw::stop, without a P", OUT),
        ("syscall::take_from_syscalls, for a stop", SCANS),
        ("stw::start_the_world", STOPPED),
        ("stw::releasep", OUT),
        ("spinning::wakep", OUT),
        ("spinning::wakep_under", OUT),
        ("spinning::retire", OUT),
        ("spinning::found_work", OUT),
        ("spinning::idle", RUN),
        ("spinning::idle, counted", RUN),
        ("spinning::idle, in a stop", RUN),
        ("spinning::idle, in a stop, counted", RUN),
        ("spinning::run a P of a world that was started", OUT),
        ("spinning::settle", OUT),
        ("spinning::injectglist", OUT),
        ("handoff::handoffp", OUT),
        ("handoff::handoffp, in Go's order", OUT),
    ],
    ends: |what| match what {
        "away" => Places::of(&[INSIDE, OUT]),
        "its P, kept" | "its P, taken back" | "an idle P" | "a P" => Places::of(&[RUN]),
        "counted" | "looks" | "queued" => Places::of(&[RUN, OUT]),
        "an end" => Places::of(&[ASLEEP]),
        "a stopped world" => Places::of(&[STOPPED]),
        _ => Places::of(&[OUT]),
    },
    open: &["word.", "nextp.", "its P is wanted"],
    words: &[MOVES, &["its P is wanted"]],
    within: &[
        "spinning::startm, counted",
        "spinning::startm, not counted",
        "syscall::pidleget_or_queue",
        "syscall::retake, of a word that was seen",
    ],
    left_out: &[("the safepoint", &["stw::for_each_p"]), ("resizing", &["stw::procresize"])],
    elsewhere: &[("a store buffer", &["shows_put", "shows_request"])],
    sizes: &[&[2, 1, 3], &[2, 2, 2]],
    steps: (12_000, 40),
};

fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    // Which call it knows of: its own, of which it left the P in the word; or the one that it has seen there.
    let is_own_call = [GIVES, INSIDE].contains(&context.place);
    if context.operation.starts_with("spinning::") || context.operation.starts_with("handoff::") {
        return spins(&edge.step.act, &is, t, m);
    }
    match edge.step.act.as_str() {
        "its G was interrupted" => {
            let c = the(t, "c", C);
            t.set(DETACHED, &[c]);
        }
        // A stopper notes that there is none.
        "word.load" if is("owned") && context.place == SCANS => {
            let p = the(t, "p", P);
            t.when(all("c", C, |c| not(WORD.of([p, c])))).set(SCANNED, &[m, p]);
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
                if context.place == SEES {
                    t.set(HANDS, &[m, p]).set(SCANNED, &[m, p]);
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
                if context.place == SEES {
                    t.set(SCANNED, &[m, p]);
                }
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
        _ => {
            return match nextp(edge, t, context) {
                Reading::Unknown => stops(edge, t, context),
                reading => reading,
            };
        }
    }
    Reading::Step
}

/// An M that sleeps, and one that wakes it.
fn nextp(edge: &Edge, t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    match edge.step.act.as_str() {
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

/// A stop of the world, and a P that an M releases.
fn stops(edge: &Edge, t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    match edge.step.act.as_str() {
        "under the lock: the world is to stop, the idle Ps are held" => {
            t.when(all("s", M, |s| not(among(s, STOPPERS))))
                .locks(m)
                .set(ASKS, &[m])
                .assign(STOPPING, |_| Formula::Is(true));
            t.assign(HELD, |x| or([HELD.of([x[0]]), IDLE.of([x[0]])])).assign(IDLE, |_| Formula::Is(false));
            t.assign(SCANNED, |x| and([SCANNED.of([x[0], x[1]]), not(same(x[0], m))]));
        }
        "notes that the first in the line is to be woken" | "unparks it" => (),
        "it comes into the line, behind all others" | "it is the first" | "it is not the first" => (),
        "under the lock: those before it have left the line" => (),
        "sleeps until another thread unparks it" | "sleeps, and wakes spuriously" => (),
        "hands its P on" => return Reading::Elsewhere(Places::of(&[OUT])),
        "under the lock: it is held" | "its P is held" | "its own P is held" => {
            let p = the(t, "p", P);
            t.locks(m).when(HANDS.of([m, p])).when(STOPPING.of([])).clear(HANDS, &[m, p]).set(HELD, &[p]);
        }
        "it idles its P: the world is not to stop" => {
            let p = the(t, "p", P);
            t.locks(m).when(HANDS.of([m, p])).when(not(STOPPING.of([]))).clear(HANDS, &[m, p]).set(IDLE, &[p]);
        }
        "there is another word" | "sleeps" => (),
        "it has looked at each word" => _ = t.when(all("p", P, |p| SCANNED.of([m, p]))),
        "under the lock: every P is held" if context.place == WAITS && is("yes") => {
            t.locks(m).when(all("p", P, |p| HELD.of([p])));
        }
        "under the lock: every P is held" if context.place == WAITS => (),
        // Those without a G it idles, the others it hands on.
        "the world runs: the Ps with a G are its own, the others are idle" => {
            t.locks(m).assign(STOPPING, |_| Formula::Is(false)).assign(WANTED, |_| Formula::Is(false));
            t.assign(HANDS, |x| or([HANDS.of([x[0], x[1]]), and([same(x[0], m), HELD.of([x[1]])])]));
            t.assign(HELD, |_| Formula::Is(false));
        }
        "under the lock: another stopper is in the line" | "it leaves the line" | "wakep" => (),
        "takes every P that is in a system call" => return Reading::Elsewhere(Places::of(&[SCANS])),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

/// Of a search that is to begin only this matters: which P it is for.
fn spins(act: &str, is: &dyn Fn(&str) -> bool, t: &mut Transition, m: Var) -> Reading {
    match act {
        "runs under it" => {
            let p = the(t, "p", P);
            t.when(HANDS.of([m, p])).clear(HANDS, &[m, p]).set(OWNS, &[m, p]);
        }
        "pidleget" | "pidleget, to use it" if is("a P") => {
            let p = the(t, "p", P);
            t.locks(m).when(IDLE.of([p])).clear(IDLE, &[p]).set(HANDS, &[m, p]);
        }
        "idles its own P" | "hands its own P in" => {
            let p = the(t, "p", P);
            t.when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(HANDS, &[m, p]);
        }
        // What happens to the P then is another operation's.
        "startm, counted" | "startm, not counted" | "idles the P" | "hands the P in" => {
            return Reading::Elsewhere(Places::of(&[OUT]));
        }
        _ => (),
    }
    Reading::Step
}
