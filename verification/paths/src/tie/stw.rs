//! `protocol/stw` in the words of the drawing `stw`.

use super::{Context, Drawing, MOVES, Reading, the};
use crate::path::Edge;
use spinpark_parameterized::logic::{Formula, Places, Var, among, and, not, or, same, some};
use spinpark_parameterized::stw::{self, *};
use spinpark_parameterized::system::Transition;

pub(super) static DRAWING: Drawing = Drawing {
    name: "stw",
    system: stw::system,
    dictionary: read,
    begins: &[
        ("stw::queue_up", OUT),
        ("stw::stop", FIRST),
        ("stw::stop, without a P", FIRST),
        ("stw::start_the_world", STOPPED),
        ("stw::releasep", OUT),
        ("spinning::wakep", OUT),
        ("spinning::wakep_under", OUT),
        ("spinning::retire", OUT),
        ("spinning::found_work", OUT),
        ("spinning::idle", OUT),
        ("spinning::idle, counted", OUT),
        ("spinning::settle", OUT),
        ("handoff::handoffp", OUT),
        ("handoff::handoffp, in Go's order", OUT),
        ("threads::startm", OUT),
        ("threads::stopm", OUT),
        ("syscall::entersyscall", OUT),
        ("syscall::interrupt", OUT),
        ("syscall::entersyscallblock", OUT),
        ("syscall::retake", OUT),
        ("syscall::pidleget_or_queue", OUT),
        ("syscall::take_from_syscalls, for a stop", WAITS),
        ("globq::put", OUT),
        ("globq::put_batch", OUT),
        ("globq::get_batch", OUT),
        ("spinning::startm, counted", OUT),
        ("spinning::startm, not counted", OUT),
        ("local::get", OUT),
        ("local::get, when the ring has its turn", OUT),
        ("local::put", OUT),
        ("local::put, by a G that yields", OUT),
        ("local::put_next", OUT),
        ("local::steal_some", OUT),
    ],
    ends: |what| match what {
        "the first in the line" => Places::of(&[FIRST]),
        "a stopped world" => Places::of(&[STOPPED]),
        _ => Places::of(&[OUT]),
    },
    open: &["under the lock", "word.", "nextp.", "head.exchange", "tail.store", "mine.tail.store", "runnext.swap"],
    words: &[
        MOVES,
        &["it comes into the line", "it leaves the line", "len.store", "puts the rest", "puts them", "spills"],
        &["head.exchange", "tail.store", "mine.tail.store", "runnext.swap"],
    ],
    within: &[
        "syscall::exitsyscall",
        "syscall::exitsyscall, of a call known to block",
        "syscall::retake, of a word that was seen",
        "local::steal_some, into its own",
        "runnext::put",
        "runnext::steal",
        "runnext::take",
        "runq::get",
        "runq::put",
        "runq::put_batch",
        "runq::spill_half",
        "runq::steal_some",
        "runq::steal_some, into its own",
    ],
    left_out: &[("the safepoint", &["stw::for_each_p"])],
    elsewhere: &[],
    sizes: &[&[2, 1], &[2, 2]],
    steps: 12_000,
};

fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    if context.operation.starts_with("stw::") { of_a_stop(edge, t, context) } else { elsewhere(edge, t, context) }
}

/// How a P comes from one thread to another, and what is queued meanwhile.
fn elsewhere(edge: &Edge, t: &mut Transition, context: &Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    match edge.step.act.as_str() {
        "pidleget" | "pidleget, to use it" | "pidleget_or_queue" if is("a P") => {
            let p = the(t, "p", P);
            t.when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]);
        }
        // An M that sleeps, or is new, stops nothing.
        "nextp.swap the P" => {
            let (n, p) = (the(t, "n", M), the(t, "p", P));
            t.when(not(among(n, SLEEPERS))).when(OWNS.of([m, p])).clear(OWNS, &[m, p]).set(OWNS, &[n, p]);
        }
        // One that is woken has its P since it was set.
        "nextp.swap none" if context.operation.contains("::startm") && is("the P") => takes(t, m),
        "nextp.swap none" => (),
        act if act.starts_with("word.exchange") && is("done") && !context.operation.starts_with("syscall::enter") => {
            takes(t, m);
        }
        act if act.starts_with("word.") => (),
        // What happens to the P then is another operation's.
        "startm, counted" | "startm, not counted" | "idles its own P" | "handoffp" => {
            return Reading::Elsewhere(Places::of(&[OUT]));
        }
        act if act.starts_with("idles the P") => {
            return Reading::Elsewhere(Places::of(&[OUT]));
        }
        "gives the number back" | "has no number to give back" => return Reading::Elsewhere(Places::of(&[OUT])),
        "mput" if !is("it sleeps") => return Reading::Elsewhere(Places::of(&[OUT])),
        "puts the rest of its share into its ring" => fills(t, m),
        // A ring, as far as it is drawn: are there Gs in it? A full one is put into in the end: see `local::put`.
        "tail.store past what it wrote" | "mine.tail.store past what it wrote" | "runnext.swap the G" => fills(t, m),
        act if is("done") && act.starts_with("head.exchange") => empties(t, context),
        "runnext.swap none" if is("a G") => empties(t, context),
        "a G is left in the ring of the P" if is("yes") => empties(t, context),
        act if act.starts_with("len.store") && context.operation == "globq::get_batch" => {
            let p = the(t, "p", P);
            t.when(OWNS.of([m, p])).assign(UNSERVED, |_| Formula::Is(false));
        }
        act if ["len.store", "spills", "puts them", "pidleget_or_queue"].iter().any(|put| act.starts_with(put)) => {
            _ = t.assign(UNSERVED, |_| or([UNSERVED.of([]), STOPPING.of([])]))
        }
        "under the lock: every P is held" if is("no") => (),
        "under the lock: it is held" | "under the lock: every P is held" => {
            return Reading::Elsewhere(Places::of(&[WAITS]));
        }
        _ => (),
    }
    Reading::Step
}

/// It puts Gs into the queues of its own P.
fn fills(t: &mut Transition, m: Var) {
    let p = the(t, "p", P);
    t.when(OWNS.of([m, p])).set(BUSY, &[p]);
}

/// It takes Gs out of the queues of a P, perhaps the last: of its own, or as a thief of another.
fn empties(t: &mut Transition, context: &Context) {
    let (p, q) = (the(t, "p", P), the(t, "q", P));
    let is_own = same(p, q);
    t.takes_gs(context.m, p, q).when(if context.operation.contains("steal") { not(is_own) } else { is_own });
}

/// It takes a P that is another's.
fn takes(t: &mut Transition, m: Var) {
    let (n, p) = (the(t, "n", M), the(t, "p", P));
    t.when(OWNS.of([n, p])).clear(OWNS, &[n, p]).set(OWNS, &[m, p]);
}

/// A stop, a start, and an M that hands its P in.
fn of_a_stop(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    let is_answered = |so: &str, then: Formula| if is(so) { then } else { not(then) };
    match edge.step.act.as_str() {
        "under the lock: another stopper is in the line" => {
            let another = some("o", M, |o| and([IN_LINE.of([o]), not(same(o, m))]));
            t.when(is_answered("yes", another));
        }
        "it comes into the line, behind all others" => _ = t.joins_the_line(m),
        "it is the first" => _ = t.when(is_first(m)),
        "it is not the first" => _ = t.when(not(is_first(m))),
        "under the lock: those before it have left the line" if is("yes") => _ = t.when(is_first(m)),
        // Its P is handed on, and who it has noted is woken, before it asks.
        "under the lock: those before it have left the line" => _ = t.when(not(is_first(m))).owes_nothing(m),
        "sleeps until another thread unparks it" => _ = t.when(TOKEN.of([m])).clear(TOKEN, &[m]),
        "sleeps, and wakes spuriously" => (),
        "under the lock: the world is to stop, the idle Ps are held" => {
            t.assign(STOPPING, |_| Formula::Is(true));
            t.assign(HELD, |x| or([HELD.of([x[0]]), IDLE.of([x[0]])])).assign(IDLE, |_| Formula::Is(false));
            t.when(match () {
                () if is("as far as it can see") => some("p", P, |p| OWNS.of([m, p])),
                () => is_answered("so is every P", all_held()),
            });
        }
        "its own P is held" | "under the lock: it is held" | "its P is held" => {
            let p = the(t, "p", P);
            t.when(OWNS.of([m, p])).when(STOPPING.of([])).clear(OWNS, &[m, p]).set(HELD, &[p]);
            t.when(is_answered("so is every P", all_held()));
        }
        "notes that the first in the line is to be woken" => {
            t.assign(OWES, |x| or([OWES.of([x[0], x[1]]), and([same(x[0], m), is_first(x[1])])]));
        }
        "unparks it" => {
            let s = the(t, "s", M);
            t.when(OWES.of([m, s])).clear(OWES, &[m, s]).set(TOKEN, &[s]);
        }
        "under the lock: every P is held" => _ = t.when(is_answered("yes", all_held())).owes_nothing(m),
        // Its queues are empty.
        "it idles its P: the world is not to stop" => {
            let p = the(t, "p", P);
            t.when(not(STOPPING.of([])))
                .when(OWNS.of([m, p]))
                .when(not(BUSY.of([p])))
                .clear(OWNS, &[m, p])
                .set(IDLE, &[p]);
        }
        "the world runs: the Ps with a G are its own, the others are idle" => starts(t, context),
        "it leaves the line" => _ = t.clear(IN_LINE, &[m]).clear_all(AHEAD, &[m]),
        "wakep" => _ = t.assign(UNSERVED, |_| and([UNSERVED.of([]), STOPPING.of([])])),
        // Whose P it is then, `custody` says.
        "hands its P on" | "another P is in a system call" | "takes every P that is in a system call" => (),
        "fence" => (),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

fn starts(t: &mut Transition, context: &Context) {
    let m = context.m;
    t.assign(STOPPING, |_| Formula::Is(false));
    t.assign(OWNS, |x| or([OWNS.of([x[0], x[1]]), and([same(x[0], m), HELD.of([x[1]]), BUSY.of([x[1]])])]));
    t.assign(IDLE, |x| or([IDLE.of([x[0]]), and([HELD.of([x[0]]), not(BUSY.of([x[0]]))])]));
    t.assign(HELD, |_| Formula::Is(false));
}
