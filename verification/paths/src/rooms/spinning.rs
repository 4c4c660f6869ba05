//! `protocol/spinning.rs`. Some operations are what callers in `sched/` do around it, whose data is under the scheduler's lock:
//! they are told here once more, and named after them.

use super::straight;
use super::stw::World;
use crate::host::{Access, Domain, Havoc, Telling, answered, ask, tell, whether};
use crate::path::{Operation, Room};
use kernel::host::SpawnError;
use kernel::protocol::spinning::{Neighbours, Spinning};
use kernel::protocol::threads::{self, Available, startm};
use kernel::types::m::{M, MId, NextP, SpinningToken};
use kernel::types::p::{OwnedP, PId};
use std::cell::Cell;

pub(super) static ROOM: Room = Room {
    name: "spinning",
    words: &[
        Domain {
            name: "nmspinning",
            // A token says that its M is counted: 0 is no answer to a subtraction. 2 stands for every larger number.
            answers: |access| if access == Access::Add(u64::MAX) { vec![1, 2] } else { vec![0, 1, 2] },
            telling: Telling::Values(|value| if value == 2 { "2+".to_owned() } else { value.to_string() }),
        },
        Domain {
            name: "needspinning",
            answers: |_| vec![0, 1],
            telling: Telling::Values(|value| (value != 0).to_string()),
        },
        Domain {
            name: "nextp",
            // Set once for each sleep. What the caller takes back is what it has set: the M has no thread that could have taken it.
            answers: |access| if access == Access::Swap(0) { vec![SET.get()] } else { vec![0] },
            telling: Telling::Values(|value| if value == 0 { "none".to_owned() } else { "the P".to_owned() }),
        },
    ],
    operations: &[
        straight("wakep", || {
            room().wakep(&Others("pidleget"));
            "".to_owned()
        }),
        straight("wakep_under", || {
            // The caller has seen under the lock that a P is idle.
            let taken = room().wakep_under(|| Some(ask("pidleget", &["a P"])));
            if let Some((_, token)) = taken {
                token.discard();
                tell("startm, counted");
            }
            "".to_owned()
        }),
        straight("found_work", || {
            room().found_work(SpinningToken::forge(), &Others("pidleget"));
            "".to_owned()
        }),
        straight("retire", || match room().retire(SpinningToken::forge(), &Others("pidleget, to use it")) {
            Some(((), token)) => {
                tell("runs under it");
                counted(Some(token))
            }
            None => "nothing".to_owned(),
        }),
        straight("take_needspinning", || counted(room().take_needspinning())),
        straight("must_recheck(true)", || counted(room().must_recheck(true))),
        straight("must_recheck(false)", || counted(room().must_recheck(false))),
        straight("become_spinning", || counted(Some(room().become_spinning()))),
        straight("give_up", || {
            room().give_up(SpinningToken::forge());
            "".to_owned()
        }),
        straight("set_needspinning", || {
            room().set_needspinning();
            "".to_owned()
        }),
        straight("elect", || counted(room().elect())),
        // Beside one spinning M of 4 Ps that are busy, and of 2.
        straight("may_spin(4, 0, 4)", || room().may_spin(4, 0, 4).to_string()),
        straight("may_spin(2, 0, 1)", || room().may_spin(2, 0, 1).to_string()),
        straight("count", || {
            room().count();
            "the count".to_owned()
        }),
        straight("is_needspinning", || {
            room().is_needspinning();
            "the answer".to_owned()
        }),
        straight("begin to steal", || {
            tell("finds nothing of its own");
            counted(Some(room().become_spinning()))
        }),
        straight("mput", || {
            // As `sched/threads.rs`.
            if whether("under the lock: a P is idle")
                && let Some(token) = room().take_needspinning()
            {
                tell("takes the idle P");
                tell("unlock");
                return counted(Some(token));
            }
            tell("falls asleep");
            "asleep".to_owned()
        }),
        Operation {
            name: "end_old_ms",
            heads: &[OLD],
            run: || {
                while whether(OLD) {
                    tell("it is told to end");
                }
                "".to_owned()
            },
        },
        straight("idle", || idles("its own P")),
        straight("idle, counted", || {
            tell("takes the lock, and finds nothing for its own P");
            let token = SpinningToken::forge();
            tell("idles its own P");
            tell("unlock");
            counted(Some(token))
        }),
        straight("idle, in a stop", || {
            tell("takes the lock, and the world is to stop");
            hands_in("hands its own P in")
        }),
        straight("idle, in a stop, counted", || {
            tell("takes the lock, and the world is to stop");
            room().give_up(SpinningToken::forge());
            hands_in("hands its own P in")
        }),
        straight("run a P of a world that was started", || {
            tell("takes one of the Ps with a G");
            tell("startm, not counted");
            "".to_owned()
        }),
        Operation { name: "injectglist", heads: &[PUTS], run: injectglist },
        Operation { name: "take_turn", heads: &[PUTS_OWN], run: || take_turn(false) },
        Operation { name: "take_turn, counted", heads: &[PUTS_OWN], run: || take_turn(true) },
        Operation { name: "take_extra", heads: &[PUTS_OWN], run: || take_extra(false) },
        Operation { name: "take_extra, counted", heads: &[PUTS_OWN], run: || take_extra(true) },
        straight("sysmon_netpoll", || {
            if ask(READY, &["nothing", "some"]) == 0 {
                return "".to_owned();
            }
            tell("queues them, under the lock");
            tell("calls wakep");
            "queued".to_owned()
        }),
        straight("settle", || match ask("what is there for the P, under the lock?", &["nothing", "work", "a stop"]) {
            0 => idles("the P"),
            2 => hands_in("hands the P in"),
            _ => {
                tell("unlock");
                "the P, to be run by an M that is not counted".to_owned()
            }
        }),
        Operation { name: "startm, counted", heads: &[LEFT], run: || starts(Some(SpinningToken::forge())) },
        Operation { name: "startm, not counted", heads: &[LEFT], run: || starts(None) },
        straight("next", || {
            tell("has run its G, and looks for another");
            "looks".to_owned()
        }),
        straight("make", || {
            // A call that was noted under the lock.
            tell("calls wakep");
            "queued".to_owned()
        }),
    ],
};

const READY: &str = "what the poller reports, or sources have";
const PUTS: &str = "puts one of them into the ring of the P";
const PUTS_OWN: &str = "puts one of them into its own queues";

/// An M comes back from the poller; as `sched/netpoll.rs`.
fn injectglist() -> String {
    if ask("pidleget, to use it", &["none", "a P"]) == 0 {
        if ask(READY, &["nothing", "some"]) == 1 {
            tell("queues them, under that lock");
        }
        tell("unlock");
        return "rests".to_owned();
    }
    let ready = ask(READY, &["nothing", "one G", "more"]);
    tell("unlock");
    match ready {
        0 => (),
        1 => tell("puts the one into the ring of the P"),
        _ => {
            loop {
                answered(PUTS, "");
                if !whether("one more is in hand") {
                    break;
                }
            }
            tell("calls wakep");
            tell("runs under it");
            return "queued".to_owned();
        }
    }
    tell("runs under it");
    "looks".to_owned()
}

/// It is the turn of the sources and the poller; as `sched/find.rs` in `take`.
fn take_turn(is_counted: bool) -> String {
    match ask(READY, &["nothing", "one G, and its ring is empty", "some"]) {
        0 => (),
        1 => tell("puts it into its own queues, and runs it next"),
        _ => return puts_and_wakes(is_counted),
    }
    (if is_counted { "none" } else { "looks" }).to_owned()
}

/// As `sched/find.rs`.
fn take_extra(is_counted: bool) -> String {
    match ask(READY, &["nothing", "one G", "more"]) {
        0 => "none".to_owned(),
        1 => {
            tell("runs the first");
            "a G".to_owned()
        }
        _ => puts_and_wakes(is_counted),
    }
}

/// What it does with more than it can run.
fn puts_and_wakes(is_counted: bool) -> String {
    loop {
        answered(PUTS_OWN, "");
        if !whether("one more is ready") {
            break;
        }
    }
    // `wakep` of one that is counted wakes no M.
    if is_counted {
        return "none".to_owned();
    }
    tell("calls wakep");
    "queued".to_owned()
}

thread_local!(static SET: Cell<u64> = const { Cell::new(0) });

const LEFT: &str = "a G is left in the ring of the P";

/// `protocol/threads.rs`, for an M that holds a P to be run by another.
fn starts(token: Option<SpinningToken>) -> String {
    let (others, ms) = (Sleepers(room()), [M::new()]);
    let next = |token| Some(NextP::Run { p: OwnedP::forge(PId(0)), token });
    let set = NextP::into_word(next(token));
    SET.set(set);
    startm(NextP::from_word(set).expect("a P"), &ms, &others);
    "".to_owned()
}

/// Those that sleep, and what `sched/threads.rs` does if there is none. A wake that it notes besides is `make`'s.
struct Sleepers(Spinning<Havoc>);

impl threads::Neighbours<Havoc> for Sleepers {
    fn mget(&self) -> Available {
        super::threads::mget()
    }
    fn mput(&self, _: MId) -> Option<NextP> {
        unreachable!("it does not sleep")
    }
    fn newm(&self, _: MId) -> Result<(), SpawnError> {
        super::threads::newm()
    }
    fn refused(&self, nextp: NextP, _: Option<MId>) -> Option<(MId, NextP)> {
        if ask("refused, under the lock", &["no M sleeps", "one fell asleep meanwhile"]) == 1 {
            return Some((MId(0), nextp));
        }
        while whether(LEFT) {}
        let mut is_noted = false;
        tell("puts them into the global queue");
        if let NextP::Run { p, token } = nextp {
            p.discard();
            let is_counted = token.is_some();
            if whether("the world is to stop") {
                is_noted = World::hands_in(if is_counted {
                    "hands the P in, of one that is counted"
                } else {
                    "hands the P in, of one that is not"
                });
            } else {
                tell(if is_counted { "idles the P of one that is counted" } else { "idles the P of one that is not" });
            }
            token.into_iter().for_each(|token| self.0.give_up(token));
            self.0.set_needspinning();
        }
        tell("unlock");
        if is_noted {
            tell("unparks it");
        }
        None
    }
}

/// With which question a loop of the monitor begins.
const OLD: &str = "under the lock: an M has slept for long";

fn room() -> Spinning<Havoc> {
    Spinning::new()
}

fn counted(token: Option<SpinningToken>) -> String {
    match token {
        Some(token) => {
            token.discard();
            "counted".to_owned()
        }
        None => "nothing".to_owned(),
    }
}

/// What `find::Neighbours::idle` and `handoff::Neighbours::settle` do around `must_recheck`, if the world is not to stop.
fn idles(p: &str) -> String {
    tell(format!("takes the lock, and finds nothing for {p}"));
    let token = room().must_recheck(whether("another P is idle"));
    if token.is_none() {
        tell(format!("idles {p}"));
    }
    tell("unlock");
    counted(token)
}

/// What they do if it is.
fn hands_in(act: &'static str) -> String {
    let is_noted = World::hands_in(act);
    tell("unlock");
    if is_noted {
        tell("unparks it");
    }
    counted(None)
}

/// The rest of the scheduler. What a P that is taken is for, only the caller knows.
struct Others(&'static str);

impl Neighbours for Others {
    type IdleP = ();
    fn any_work(&self) -> bool {
        tell("looks at every queue");
        whether("a G is queued")
    }
    fn is_any_p_idle(&self) -> bool {
        whether("a P is idle")
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<()> {
        if ask(self.0, &["none", "a P"]) == 1 {
            return Some(());
        }
        or_else();
        tell("unlock");
        None
    }
    fn startm(&self, (): (), token: SpinningToken) {
        token.discard();
        tell("startm, counted");
    }
}
