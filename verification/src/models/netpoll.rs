//! Models of `netpoll`: timers come, Ms go to sleep, and exactly one waits, for long enough and not too long; and of the
//! word of `timers` that they read.
//!
//! The rest of the scheduler is as small as it can be, see `tiny`. At the end of every execution all parties have come to
//! rest, and the question is: there is something to wait for and a P is idle, but does an M look, or wait until then?

mod rule;

use crate::harness::common::party;
use crate::harness::netpoll::{End, Tiny};
use crate::harness::timers::Shard;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::netpoll::Polling;
use crate::mutation::variants::scenario;
use rule::three_operations;
use spinpark_kernel::host::NEVER;
use spinpark_kernel::host::Nanos;
use std::sync::Arc;

const SOON: Nanos = 5;
const SOON_AFTER: Nanos = 7;
const LATE: Nanos = 100;

fn with_timer<H: ModelHost, D: Polling>(timer: Nanos) -> Arc<Tiny<H, D>> {
    main_plays("M0");
    Tiny::new(timer)
}

/// With one that is late. An M has waited before, for another that was soon: the room remembers until when.
fn with_old_until<H: ModelHost, D: Polling>() -> Arc<Tiny<H, D>> {
    let tiny = with_timer::<H, D>(SOON);
    let poll = tiny.waits();
    tiny.room.leave(poll, 1);
    tiny.put_off(LATE);
    tiny
}

scenario!(netpoll::Polling, the_first_timer, |H, D| {
    let tiny = with_timer::<H, D>(NEVER);
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.add_from_outside(SOON));
    let end = tiny.goes_to_sleep();
    H::join(outsider);
    tiny.check_at_rest(&[end])
});

scenario!(netpoll::Polling, an_earlier_timer, |H, D| {
    let tiny = with_old_until::<H, D>();
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.add_from_outside(SOON_AFTER));
    let end = tiny.goes_to_sleep();
    H::join(outsider);
    tiny.check_at_rest(&[end])
});

scenario!(netpoll::Polling, somebody_waits_for_a_socket, |H, D| {
    let tiny = with_timer::<H, D>(NEVER);
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.awaits());
    let end = tiny.goes_to_sleep();
    H::join(outsider);
    tiny.check_at_rest(&[end])
});

scenario!(netpoll::Polling, two_go_to_sleep, |H, D| {
    let tiny = with_timer::<H, D>(LATE);
    let other = party::<H, _, _>("M1", &tiny, |tiny| tiny.goes_to_sleep());
    let end = tiny.goes_to_sleep();
    let other = H::join(other);
    tiny.check_at_rest(&[end, other])
});

scenario!(netpoll::Polling, a_timer_that_is_not_announced, |H, D| {
    let tiny = with_old_until::<H, D>();
    let adder = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.add(SOON_AFTER);
        tiny.goes_to_sleep()
    });
    let end = tiny.goes_to_sleep();
    let adder = H::join(adder);
    tiny.check_at_rest(&[end, adder])
});

scenario!(netpoll::Polling, its_p_is_handed_on, |H, D| {
    let tiny = with_old_until::<H, D>();
    let adder = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.add(SOON_AFTER);
        tiny.hands_on()
    });
    let end = tiny.goes_to_sleep();
    H::join(adder);
    tiny.check_at_rest(&[end])
});

scenario!(netpoll::Polling, who_leaves_finds_no_p, |H, D| {
    // M0 waits until a timer is due, and comes back for it. M1, which has the only P, has taken that timer, and goes to
    // sleep. An adder of a later one trusts the waiting M.
    let tiny = with_timer::<H, D>(SOON);
    let poll = tiny.waits();
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.add_from_outside(SOON_AFTER));
    let other = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.remove();
        tiny.goes_to_sleep()
    });
    let end = tiny.comes_back(poll, true);
    H::join(outsider);
    let other = H::join(other);
    tiny.check_at_rest(&[end, other])
});

scenario!(netpoll::Polling, who_leaves_waits_again, |H, D| {
    let tiny = with_timer::<H, D>(SOON);
    let poll = tiny.waits();
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.add_from_outside(SOON_AFTER));
    let other = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.remove();
        tiny.goes_to_sleep()
    });
    let end = tiny.comes_back(poll, false);
    H::join(outsider);
    let other = H::join(other);
    tiny.check_at_rest(&[end, other])
});

scenario!(netpoll::Polling, who_goes_to_sleep_as_one_comes_back, |H, D| {
    // M0 was interrupted, and sees no timer; M1 has added one, woken no M, and goes to sleep.
    let tiny = with_timer::<H, D>(SOON);
    let poll = tiny.waits();
    let other = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.remove();
        tiny.add(SOON_AFTER);
        tiny.goes_to_sleep()
    });
    let end = tiny.comes_back(poll, false);
    let other = H::join(other);
    tiny.check_at_rest(&[end, other])
});

/// M0 comes back from its wait, while M1 does not sleep, but hands its P on, with a timer that was not announced.
fn handed_on_while_one_comes_back<H: ModelHost, D: Polling>(is_due: bool) -> String {
    let tiny = with_timer::<H, D>(SOON);
    let poll = tiny.waits();
    let other = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.remove();
        tiny.add(SOON_AFTER);
        tiny.hands_on()
    });
    let end = tiny.comes_back(poll, is_due);
    H::join(other);
    tiny.check_at_rest(&[end])
}

scenario!(netpoll::Polling, who_leaves_and_a_p_is_handed_on, |H, D| { handed_on_while_one_comes_back::<H, D>(true) });

// The same, and M0 was interrupted: it waits again if it knows of the timer.
scenario!(netpoll::Polling, who_is_interrupted_and_a_p_is_handed_on, |H, D| {
    handed_on_while_one_comes_back::<H, D>(false)
});

scenario!(netpoll::Polling, one_peeks_and_another_goes_to_sleep, |H, D| {
    let tiny = with_timer::<H, D>(LATE);
    let peeker = party::<H, _, _>("M1", &tiny, |tiny| tiny.peeks());
    let end = tiny.goes_to_sleep();
    H::join(peeker);
    tiny.check_at_rest(&[end, End::Busy])
});

scenario!(netpoll::Polling, one_peeks_while_a_timer_comes, |H, D| {
    let tiny = with_timer::<H, D>(LATE);
    let peeker = party::<H, _, _>("M1", &tiny, |tiny| tiny.peeks());
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.add_from_outside(SOON));
    let end = tiny.goes_to_sleep();
    H::join(peeker);
    H::join(outsider);
    tiny.check_at_rest(&[end, End::Busy])
});

scenario!(netpoll::Polling, one_peeks_as_another_leaves, |H, D| {
    let tiny = with_timer::<H, D>(LATE);
    let poll = tiny.waits();
    let peeker = party::<H, _, _>("M1", &tiny, |tiny| tiny.peeks());
    let end = tiny.comes_back(poll, false);
    H::join(peeker);
    // It had no P, and so there was none to wake an M with.
    let ends = format!("{end:?}");
    if end == End::Asleep {
        return format!("{ends}, missed it");
    }
    tiny.check_at_rest(&[end, End::Busy])
});

fn two_add<H: ModelHost>() -> String {
    let shard = Shard::<H>::new();
    let other = party::<H, _, _>("other", &shard, |shard| shard.add(SOON, false));
    shard.add(LATE, false);
    let seen = shard.deadline();
    H::join(other);
    let left = shard.deadline();
    assert!(left == SOON, "the earliest timer is due at {SOON}, and the shard says {left}");
    format!("first {seen}, then {left}")
}

fn one_adds_and_one_removes<H: ModelHost>() -> String {
    let shard = Shard::<H>::new();
    let other = party::<H, _, _>("other", &shard, |shard| shard.add(SOON, true));
    shard.add(LATE, false);
    let seen = shard.deadline();
    H::join(other);
    let left = shard.deadline();
    assert!(left == LATE, "the earliest timer is due at {LATE}, and the shard says {left}");
    format!("first {seen}, then {left}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("netpoll::somebody_waits::the_first_timer", the_first_timer,
        claim: "a timer that is added from outside while the last M goes to sleep is waited for (golang/go #44868)",
        size: "2 threads, 1 timer, 1 P idled",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(5)], woken 0", "[Asleep], woken 1", "[Looks], woken 0", "[Waits(5)], woken 1"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::an_earlier_timer", an_earlier_timer,
        claim: "an M that waits for a later timer is interrupted by one that is earlier (golang/go #38860)",
        size: "2 threads, 2 timers, 1 P idled",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(7)], woken 0", "[Waits(100)], woken 0, interrupted", "[Looks]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::somebody_waits_for_a_socket", somebody_waits_for_a_socket,
        claim: "a thread that waits for a socket from outside while the last M goes to sleep is waited for",
        size: "2 threads, 1 socket, 1 P idled",
        invariants: [28, 29, 35],
        must_reach: ["[Waits(18446744073709551615)]", "[Asleep], woken 1", "[Looks]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::two_go_to_sleep", two_go_to_sleep,
        claim: "two Ms go to sleep: exactly one waits",
        size: "2 threads, 1 timer, 2 Ps idled",
        invariants: [28, 35],
        must_reach: ["[Waits(100), Asleep]", "[Asleep, Waits(100)]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::a_timer_that_is_not_announced", a_timer_that_is_not_announced,
        claim: "an M adds a timer under its P and goes to sleep while another goes to wait: that one waits no longer",
        size: "2 threads, 2 timers, 2 Ps idled",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(7), Asleep]", "[Asleep, Waits(7)]", "[Waits(100), Asleep], woken 0, interrupted"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::its_p_is_handed_on", its_p_is_handed_on,
        claim: "an M adds a timer under its P and hands that on while another goes to wait: the M that gets the P, or \
                waits, sees it",
        size: "2 threads, 2 timers, 1 P idled, 1 handed on",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(7)], woken 0", "[Waits(100)], woken 1"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::who_leaves_finds_no_p", who_leaves_finds_no_p,
        claim: "one comes back from the poller and finds no P, and an adder of a timer trusts it: the M that idles the \
                P sees the timer",
        size: "3 threads, 2 timers, 1 P idled",
        invariants: [28, 35, 44],
        must_reach: ["[Asleep, Waits(7)]", "[Looks, Asleep]"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::who_leaves_waits_again", who_leaves_waits_again,
        claim: "the same of one that was interrupted, and would wait again",
        size: "3 threads, 2 timers, 1 P idled",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(7), Asleep]", "[Asleep, Waits(7)]"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::who_goes_to_sleep_as_one_comes_back", who_goes_to_sleep_as_one_comes_back,
        claim: "an M that goes to sleep, with a timer that no other was told of, trusts no waiter that has left the poller without it",
        size: "2 threads, 2 timers, 1 P idled",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(7), Asleep]", "[Asleep, Waits(7)]"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::who_leaves_and_a_p_is_handed_on", who_leaves_and_a_p_is_handed_on,
        claim: "one comes back from the poller as a P is handed on, with a timer that was not announced: one sees the \
                other",
        size: "2 threads, 2 timers, 1 P handed on",
        invariants: [28, 35, 44],
        must_reach: ["[Asleep], woken 1", "[Looks], woken 0"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::who_is_interrupted_and_a_p_is_handed_on",
        who_is_interrupted_and_a_p_is_handed_on,
        claim: "the same of one that was interrupted, and waits again if it knows what for",
        size: "2 threads, 2 timers, 1 P handed on",
        invariants: [28, 35, 44],
        must_reach: ["[Asleep], woken 1", "[Waits(7)], woken 0", "[Waits(7)], woken 1"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("netpoll::answers_as_the_rule_does::three_operations", three_operations,
        claim: "which M has to wait, which is interrupted or woken, and whether one is missing follow from which waits",
        size: "1 thread, 2 moments, every 3 operations: go to sleep, come back, hand on, announce, look; twice at once",
        invariants: [28, 35, 44],
        must_reach: ["until Some(5)", "until None, somebody has looked", "until Some(18446744073709551615)"],
        runs: [sc()]),
    crate::model!("netpoll::one_at_a_time::one_peeks_and_another_goes_to_sleep", one_peeks_and_another_goes_to_sleep,
        claim: "one looks into the poller while another goes to wait there: not both, and one waits in the end",
        size: "2 threads, 1 timer, 1 P idled",
        invariants: [28, 35],
        must_reach: ["[Waits(100), Busy], woken 0", "[Asleep, Busy], woken 1"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::one_at_a_time::one_peeks_while_a_timer_comes", one_peeks_while_a_timer_comes,
        claim: "an M that looks into the poller does not eat the interrupt for the one that waits (golang/go #42515)",
        size: "3 threads, 2 timers, 1 P idled",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(100), Busy], woken 0, interrupted", "[Waits(5), Busy], woken 0", "[Asleep, Busy]"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("netpoll::one_at_a_time::one_peeks_as_another_leaves", one_peeks_as_another_leaves,
        claim: "one looks into the poller as another leaves it, and would wait again: never both",
        size: "2 threads, 1 timer",
        invariants: [28],
        must_reach: ["[Waits(100), Busy]", "Asleep, missed it"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("timers::when_is_the_earliest::two_add", two_add,
        claim: "two add timers to one shard: its word is the earlier moment",
        size: "2 threads, 2 timers",
        invariants: [35, 44],
        must_reach: ["first 100, then 5", "first 5, then 5"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("timers::when_is_the_earliest::one_adds_and_one_removes", one_adds_and_one_removes,
        claim: "one of them is removed again: the word is the moment of the other",
        size: "2 threads, 2 timers, 1 removed",
        invariants: [35, 44],
        must_reach: ["first 100, then 100", "first 5, then 100"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
];

const FIRST: &str = "netpoll::somebody_waits::the_first_timer";
const EARLIER: &str = "netpoll::somebody_waits::an_earlier_timer";
const UNANNOUNCED: &str = "netpoll::somebody_waits::a_timer_that_is_not_announced";
const HANDED_ON: &str = "netpoll::somebody_waits::its_p_is_handed_on";
const NO_P: &str = "netpoll::somebody_waits::who_leaves_finds_no_p";
const COMES_BACK: &str = "netpoll::somebody_waits::who_goes_to_sleep_as_one_comes_back";
const PEEKS: &str = "netpoll::one_at_a_time::one_peeks_and_another_goes_to_sleep";
const EATS: &str = "netpoll::one_at_a_time::one_peeks_while_a_timer_comes";
const LEAVES: &str = "netpoll::one_at_a_time::one_peeks_as_another_leaves";

const FENCE: &str = "store_load::<H>()";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "netpoll";
    "netpoll-no-adders-fence": "announce without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn announce", FENCE), by EARLIER => [Loom, Tso];
    "netpoll-no-waiters-fence": "prepare without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn prepare", FENCE), by EARLIER => [Loom, Tso];
    "netpoll-no-sleepers-fence": "claim without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn claim", FENCE), by UNANNOUNCED => [Loom];
    "netpoll-no-leavers-fence": "leave without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn leave", FENCE), by NO_P => [Loom];
    "netpoll-no-handers-fence": "is_missing without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn is_missing", FENCE), by HANDED_ON => [Loom];
    "netpoll-leaves-relaxed": "leave gives the poller up Relaxed",
        weaken("protocol/netpoll.rs", "pub fn leave", "who.store"), by LEAVES => [Loom];
    "netpoll-peeks-relaxed": "peek takes the poller Relaxed",
        weaken("protocol/netpoll.rs", "pub fn peek", "compare_exchange"), by LEAVES => [Loom];
    "netpoll-has-peeked-relaxed": "peek gives the poller up Relaxed",
        weaken("protocol/netpoll.rs", "pub fn peek", "who.swap"), by PEEKS => [Loom];
    "netpoll-reads-it-once": "an M that waits does not read the deadline again",
        variant("reads-it-once"), by EARLIER => [Sc, Loom];
    "netpoll-trusts-who-waits": "an M that would wait does not look until when another does",
        variant("trusts-who-waits"), by UNANNOUNCED => [Sc, Loom];
    "netpoll-looks-before-its-fence": "an M that goes to sleep looks whether one waits before its StoreLoad",
        variant("looks-before-its-fence"), by COMES_BACK => [Rc11];
    "netpoll-peeks-and-goes": "an M that has peeked does not wake one for the M that has missed a wait",
        variant("peeks-and-goes"), by PEEKS => [Sc, Loom];
    "netpoll-peeks-beside-who-waits": "a peek does not exclude a wait (golang/go #42515)",
        variant("peeks-beside-who-waits"), by EATS => [Sc], PEEKS => [Loom];
    "netpoll-never-interrupts": "an earlier timer does not interrupt a wait (golang/go #38860)",
        variant("never-interrupts"), by EARLIER => [Sc, Loom];
    "netpoll-wakes-nobody": "a timer that is added while no M waits wakes none (golang/go #44868)",
        variant("wakes-nobody"), by FIRST => [Sc, Loom];
    "netpoll-ignores-until": "an M that hands a P on does not look until when another waits",
        variant("ignores-until"), by HANDED_ON => [Sc, Loom];
    "netpoll-never-missing": "an M that hands a P on does not look whether one waits",
        variant("never-missing"), by HANDED_ON => [Sc, Loom];
    "timers-tells-when-late" of "timers": "a shard's word is written after its lock is released",
        variant("tells-when-late"), by "timers::when_is_the_earliest::two_add" => [Sc, Loom, Rc11];
    "timers-forgets-to-tell-when" of "timers":
        "a shard's word is not written when a timer is removed (the shape of golang/go #51654)",
        variant("forgets-to-tell-when"), by "timers::when_is_the_earliest::one_adds_and_one_removes" => [Sc, Rc11];
};
