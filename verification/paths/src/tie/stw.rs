//! `protocol/stw` in the words of the drawing `stw`.

use super::{Context, Drawing, Reading, the};
use crate::path::Edge;
use spinpark_parameterized::logic::{Formula, Places, and, not, or, same, some};
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
    ],
    ends: |what| match what {
        "the first in the line" => Places::of(&[FIRST]),
        "a stopped world" => Places::of(&[STOPPED]),
        _ => Places::of(&[OUT]),
    },
    open: &["under the lock"],
    elsewhere: &[
        ("how a P changes hands: see `custody`", &["gets_a_p", "hands_on"]),
        ("queues", &["readies", "takes_the_last", "submits", "takes_global"]),
    ],
    sizes: &[&[2, 1], &[2, 2]],
    steps: 12_000,
};

fn read(edge: &Edge, t: &mut Transition, context: &mut Context) -> Reading {
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
