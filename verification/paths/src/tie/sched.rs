//! `protocol/spinning.rs` and `protocol/handoff.rs` in the words of the drawing `sched`.

mod calls;
mod poller;
mod queues;
mod stops;

use super::{Context, Drawing, MOVES, Reading, the};
use crate::path::Edge;
use spinpark_parameterized::logic::{Formula, Places, Var, all, and, at, not, or, same, some};
use spinpark_parameterized::sched::{
    self,
    state::*,
    stops::{all_held, is_first},
};
use spinpark_parameterized::system::Transition;
use std::collections::BTreeSet;

pub(super) static DRAWING: Drawing = Drawing {
    name: "sched",
    system: sched::system,
    dictionary: read,
    begins: &[
        ("spinning::wakep", QUEUED),
        ("spinning::wakep_under", QUEUED),
        ("spinning::found_work", FOUND),
        ("spinning::retire", IDLED),
        ("spinning::begin to steal", SEARCH),
        ("spinning::idle", SEARCH),
        ("spinning::idle, counted", SPIN),
        ("spinning::idle, in a stop", SEARCH),
        ("spinning::idle, in a stop, counted", SPIN),
        ("spinning::run a P of a world that was started", OUT),
        ("spinning::settle", HAND_OFF),
        ("spinning::injectglist", REST),
        ("spinning::take_turn", SEARCH),
        ("spinning::take_turn, counted", SPIN),
        ("spinning::take_extra", SEARCH),
        ("spinning::take_extra, counted", SPIN),
        ("spinning::sysmon_netpoll", OUT),
        ("handoff::handoffp", HAND_OFF),
        ("handoff::handoffp, in Go's order", HAND_OFF),
        ("spinning::mput", REST),
        ("spinning::end_old_ms", OUT),
        ("syscall::pidleget_or_queue", OUT),
        ("globq::peek", SCAN_FOUND),
        ("globq::peek", SCAN_RETIRED),
        ("local::is_empty", SCAN_FOUND),
        ("local::is_empty", SCAN_RETIRED),
        ("globq::put", RUN),
        ("globq::put", OUT),
        ("globq::put", INSIDE),
        ("globq::get_batch", SEARCH),
        ("globq::get_batch", SPIN),
        ("local::get", SEARCH),
        ("local::get", SPIN),
        ("local::get, when the ring has its turn", SEARCH),
        ("local::get, when the ring has its turn", SPIN),
        ("local::len", RUN),
        ("local::put", RUN),
        ("local::put, by a G that yields", RUN),
        ("local::put_next", RUN),
        ("local::steal_some", SPIN),
        ("globq::put_batch", SPILL),
        ("spinning::startm, counted", START),
        ("spinning::startm, not counted", START_UNCOUNTED),
        ("spinning::next", RUN),
        ("spinning::make", RUN),
        ("spinning::make", OUT),
        ("spinning::make", INSIDE),
        ("syscall::entersyscallblock", RUN),
        ("syscall::entersyscall", RUN),
        ("syscall::interrupt", RUN),
        ("syscall::exitsyscall", INSIDE),
        ("syscall::exitsyscall, of a call known to block", OUT),
        ("syscall::retake", OUT),
        ("syscall::take_from_syscalls, for a stop", SCANS),
        ("threads::stopm", REST),
        ("threads::wait_nextp", WOKEN),
        ("threads::wait_nextp", WOKEN_COUNTED),
        ("stw::queue_up", RUN),
        ("stw::queue_up, without a P", OUT),
        ("stw::stop", FIRST),
        ("stw::stop, without a P", FIRST),
        ("stw::start_the_world", STOPPED),
        ("stw::procresize", STOPPED),
    ],
    ends: |what| match what {
        "counted" => Places::of(&[SPIN, IDLED, START]),
        "nothing" => Places::of(&[REST, OUT, INSIDE]),
        "none" => SEARCHING,
        "a G" | "the G that it read" | "the one in runnext" | "the oldest, and how many it read" => {
            Places::of(&[RUN, FOUND])
        }
        "none in it" | "some in it" | "true: it was, at some moment" | "false" => SCANNING,
        // One that has spilled wakes an M before it searches.
        "yields" => Places::of(&[SEARCH, QUEUED]),
        "queued" => Places::of(&[QUEUED]),
        "an idle P" | "its P, kept" | "its P, taken back" => Places::of(&[RUN]),
        "the P" => Places::of(&[HAND_OFF]),
        "rests" => Places::of(&[REST]),
        "looks" => Places::of(&[SEARCH]),
        "away" => Places::of(&[HAND_OFF, INSIDE]),
        "a P" => SEARCHING,
        "asleep" => Places::of(&[ASLEEP]),
        "the first in the line" => Places::of(&[FIRST]),
        "a stopped world" | "a world of another size" => Places::of(&[STOPPED]),
        "the P, to be run by an M that is not counted" => Places::of(&[START_UNCOUNTED]),
        _ => OUTSIDE,
    },
    open: &[
        "nmspinning.",
        "needspinning.",
        "a P is idle",
        "head.exchange",
        "runnext.swap",
        "word.",
        "nextp.",
        "its P is wanted",
    ],
    words: &[
        MOVES,
        &[
            "nmspinning.",
            "needspinning.",
            "len.",
            "head.",
            "tail.",
            "slot.",
            "runnext.",
            "mput",
            "mget",
            "falls asleep",
            "its P is wanted",
        ],
    ],
    within: &[
        "spinning::take_needspinning",
        "spinning::must_recheck(true)",
        "spinning::must_recheck(false)",
        "spinning::become_spinning",
        "spinning::give_up",
        "spinning::set_needspinning",
        "spinning::elect",
        "spinning::may_spin(4, 0, 4)",
        "spinning::may_spin(2, 0, 1)",
        "spinning::count",
        "spinning::is_needspinning",
        "stw::releasep",
        "threads::startm",
        "syscall::retake, of a word that was seen",
        "local::steal_some, into its own",
        "runq::get",
        "runq::put",
        "runq::put_batch",
        "runq::spill_half",
        "runq::steal_some",
        "runq::steal_some, into its own",
        "runq::is_empty",
        "runq::len",
        "runnext::put",
        "runnext::take",
        "runnext::steal",
        "runnext::is_set",
    ],
    left_out: &[("the safepoint", &["stw::for_each_p"])],
    elsewhere: &[(
        "a store buffer",
        &["flushes_put", "flushes_global", "flushes_clear", "flushes_word", "flushes_request"],
    )],
    sizes: &[&[3, 1, 0, 3], &[2, 2, 1, 2], &[3, 2, 2, 2]],
    steps: (80_000, 120),
};

/// How many Ms are counted, if the count is one of these. `is_counted`: the thread itself is.
fn count(answers: &BTreeSet<String>, m: Var, is_counted: bool) -> Formula {
    let two = || some("c", M, |c| some("d", M, |d| and([not(same(c, d)), COUNTED.of([c]), COUNTED.of([d])])));
    let alone = || all("c", M, |c| or([same(c, m), not(COUNTED.of([c]))]));
    let classes: Vec<&str> = answers.iter().map(|answer| answer.trim_start_matches("found ")).collect();
    match (&classes[..], is_counted) {
        (["0", "1", "2+"], _) | (["1", "2+"], true) => Formula::Is(true),
        (["0"], _) => none_counted(),
        (["1", "2+"], false) => not(none_counted()),
        (["1"], true) => alone(),
        (["2+"], true) => not(alone()),
        (["1"], false) => and([not(none_counted()), not(two())]),
        (["2+"], false) => two(),
        other => unreachable!("{other:?}"),
    }
}

fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
    let m = context.m;
    let is = |answer: &str| edge.answers.len() == 1 && edge.answers.contains(answer);
    let either = |yes: Formula| {
        if edge.answers.len() == 2 {
            Formula::Is(true)
        } else if is("yes") || is("true") {
            yes
        } else {
            not(yes)
        }
    };
    if context.operation.starts_with("globq::") || context.operation.starts_with("local::") {
        return queues::read(edge, t, context);
    }
    if context.operation.starts_with("syscall::") {
        return calls::read(edge, t, context);
    }
    if context.operation.starts_with("threads::") {
        return calls::waits(edge, t, context);
    }
    if context.operation.starts_with("stw::") {
        return stops::read(edge, t, context);
    }
    if ["injectglist", "take_turn", "take_extra", "sysmon_netpoll"].iter().any(|name| context.operation.contains(name))
    {
        return poller::read(edge, t, context);
    }
    match edge.step.act.as_str() {
        // Who it has noted is woken, and what it was to run is run, before it comes here.
        "falls asleep" => {
            context.is_locked = false;
            t.takes_lock(m).owes_nothing(m);
        }
        // It is called. It takes the P last, and is drawn as taking it first, under the same hold of the lock. A thread without the lock
        // may see the P as idle meanwhile: so it may at any time.
        "needspinning.load" if context.place == REST && is("true") => {
            let p = the(t, "p", P);
            t.takes_lock(m).when(NEED.of([])).set(LOCKS, &[m]);
            t.when(IDLE.of([p])).clear(IDLE, &[p]).set(OWNS, &[m, p]);
        }
        "takes the idle P" => (),
        "under the lock: an M has slept for long" => context.is_locked = true,
        "it is told to end" => {
            let w = the(t, "w", M);
            t.takes_lock(m).when(at(w, ASLEEP));
        }
        "fence" => _ = t.drains(m),
        "nmspinning.load" => _ = t.when(count(&edge.answers, m, false)),
        "nmspinning.exchange 0 for 1" if is("done") => _ = t.when(none_counted()).drains(m).set(COUNTED, &[m]),
        // One that fails is a load.
        "nmspinning.exchange 0 for 1" => _ = t.when(count(&edge.answers, m, false)),
        "nmspinning.add 1" => _ = t.drains(m).set(COUNTED, &[m]),
        "nmspinning.add -1" => _ = t.when(count(&edge.answers, m, true)).drains(m).clear(COUNTED, &[m]),
        "needspinning.load" => _ = t.when(either(NEED.of([]))),
        // What it has put into the global queue under this hold of the lock is visible before it.
        "needspinning.store true" if context.place == REFUSED_ASK => {
            _ = t.drains(m).assign(NEED, |_| Formula::Is(true))
        }
        "needspinning.store true" => _ = t.assign(NEED, |_| Formula::Is(true)),
        "needspinning.store false" if context.is_locked => _ = t.assign(NEED, |_| Formula::Is(false)),
        "needspinning.store false" => _ = t.set(CLEARS, &[m]),
        // Asked without the lock: a P may show before the hold of the lock that idles it is over. That none shows is exact.
        "a P is idle" if is("yes") => (),
        "a P is idle" | "another P is idle" => _ = t.when(either(some_idle())),
        "under the lock: a P is idle" => {
            context.is_locked = true;
            t.when(either(some_idle()));
        }
        act @ ("pidleget" | "pidleget, to use it") => {
            t.takes_lock(m);
            if is("none") {
                context.is_locked = true;
                t.when(not(some_idle())).set(LOCKS, &[m]);
            } else {
                let p = the(t, "p", P);
                let holds = if act == "pidleget" { HANDS } else { OWNS };
                t.when(IDLE.of([p])).clear(IDLE, &[p]).set(holds, &[m, p]);
            }
        }
        "unlock" => {
            context.is_locked = false;
            t.clear(LOCKS, &[m]);
        }
        "looks at every queue" => _ = t.begins_scan(m),
        // What it has seen may be gone again: only that it has seen nothing says something.
        "a G is queued" if is("no") => {
            t.when(SAW_GLOBAL.of([m])).when(all("q", P, |q| SAW_RING.of([m, q])));
        }
        "a G is queued" => (),
        "finds nothing of its own" => _ = t.clear_all(YIELDED, &[m]),
        "takes the lock, and finds nothing for its own P" => finds_nothing(t, context, true),
        "takes the lock, and finds nothing for the P" => finds_nothing(t, context, false),
        act if ["idles ", "hands its own P in", "hands the P in"].iter().any(|begin| act.starts_with(begin)) => {
            let (holds, p) = (if act.contains("own") { OWNS } else { HANDS }, the(t, "p", P));
            let is_idled = act.starts_with("idles ");
            t.when(holds.of([m, p])).clear(holds, &[m, p]).set(if is_idled { IDLE } else { HELD }, &[p]);
            refused(act, t, m);
            if !is_idled {
                stops::are_held(edge, t);
            }
        }
        "takes the lock, and the world is to stop" => stops::sees_the_stop(t, context),
        "what is there for the P, under the lock?" if is("a stop") => stops::sees_the_stop(t, context),
        "the world is to stop" => _ = t.when(either(STOPPING.of([]))),
        // One that has a P has not handed the last one in.
        "unparks it" if context.place == RUN => return Reading::Elsewhere(Places::of(&[RUN])),
        "notes that the first in the line is to be woken" | "unparks it" => return stops::read(edge, t, context),
        "takes one of the Ps with a G" => {
            let p = the(t, "p", P);
            t.when(STARTS.of([m, p])).clear(STARTS, &[m, p]).set(HANDS, &[m, p]);
        }
        "mget" if is("one that sleeps") => {
            let w = the(t, "w", M);
            t.takes_lock(m).when(at(w, ASLEEP));
        }
        "mget" if is("a new one") => {
            let w = the(t, "w", M);
            t.takes_lock(m).when(at(w, NEW));
        }
        "newm" if is("done") => {
            let w = the(t, "w", M);
            t.when(RESERVES.of([m, w])).clear(RESERVES, &[m, w]);
            if context.place == NEWM {
                t.clear(COUNTED, &[m]).set(COUNTED, &[w]);
            }
        }
        // Set for an M that sleeps; or for a new one, which has no thread yet.
        "nextp.swap the P" => return gives(t, context),
        // What its caller has set, and the M has no thread to take.
        "nextp.swap none" => {
            let (w, p) = (the(t, "w", M), the(t, "p", P));
            t.when(RESERVES.of([m, w])).when(NEXTP.of([w, p])).clear(RESERVES, &[m, w]);
            t.clear(NEXTP, &[w, p]).set(HANDS, &[m, p]);
        }
        "mget" | "newm" | "unpark" => (),
        "refused, under the lock" if is("no M sleeps") => {
            context.is_locked = true;
            t.takes_lock(m).when(all("s", M, |s| not(at(s, ASLEEP)))).set(LOCKS, &[m]);
        }
        "refused, under the lock" => {
            let w = the(t, "w", M);
            t.takes_lock(m).when(at(w, ASLEEP));
        }
        "a G is left in the ring of the P" if is("yes") => {
            let (p, g) = (the(t, "p", P), the(t, "g", G));
            t.when(HANDS.of([m, p])).when(RING.of([g, p])).clear(RING, &[g, p]).set(PUTS_GLOBAL, &[m, g]);
        }
        "a G is left in the ring of the P" => {
            let p = the(t, "p", P);
            t.when(HANDS.of([m, p])).when(not(ring_shows(p)));
        }
        // One after the other, as they are taken.
        "puts them into the global queue" => (),
        "has run its G, and looks for another" | "calls wakep" => (),
        "what is there for the P, under the lock?" if is("work") => {
            context.is_locked = true;
            t.takes_lock(m).set(LOCKS, &[m]);
        }
        "what is there for the P, under the lock?" => (),
        "runs under it" => (),
        act if act.starts_with("a G in ") => (),
        "startm, counted" => return Reading::Elsewhere(Places::of(&[START])),
        "startm, not counted" => return Reading::Elsewhere(Places::of(&[START_UNCOUNTED])),
        // All that it answers is its own operation's; a P that comes back is started.
        "settle" => return Reading::Elsewhere(Places::of(&[HAND_OFF])),
        _ => return Reading::Unknown,
    }
    Reading::Step
}

/// The P that the thread passes on is in the other's `nextp`; and so is its place in the count, if that one has a thread.
fn gives(t: &mut Transition, context: &Context) -> Reading {
    let (m, w, p) = (context.m, the(t, "w", M), the(t, "p", P));
    let is_new = t.guard.contains(&at(w, NEW));
    t.sets_nextp(m, w, p);
    if is_new {
        t.set(RESERVES, &[m, w]);
    } else if [START, NO_THREAD].contains(&context.place) {
        t.clear(COUNTED, &[m]).set(COUNTED, &[w]);
    }
    Reading::Step
}

fn finds_nothing(t: &mut Transition, context: &mut Context, is_own: bool) {
    let (m, p) = (context.m, the(t, "p", P));
    t.when(if is_own { OWNS } else { HANDS }.of([m, p]));
    t.when(not(some("o", G, |o| PUTS.of([m, o])))).when(not(ring_shows(p))).takes_lock(m).when(not(global_shows()));
    t.when(not(STOPPING.of([])));
    if is_own && context.place == SEARCH {
        t.clear_all(YIELDED, &[m]);
    }
    t.set(LOCKS, &[m]);
    context.is_locked = true;
}

/// No M was available, for a P that one that is counted had, or one that is not.
fn refused(act: &str, t: &mut Transition, m: Var) {
    if act.ends_with("of one that is counted") {
        t.when(COUNTED.of([m]));
    } else if act.ends_with("of one that is not") {
        t.when(not(COUNTED.of([m])));
    }
}
