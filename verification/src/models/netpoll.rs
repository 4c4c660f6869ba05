//! Models of `netpoll`: timers come, Ms go to sleep, and exactly one waits, for long enough and not too long; and of the
//! word of `timers` that they read.
//!
//! The rest of the scheduler is as small as it can be, see `tiny`. At the end of every execution all parties have come to
//! rest, and the question is: there is something to wait for and a P is idle, but does anybody look, or wait until then?

use crate::engines::Engine;
use crate::harness::common::{any_of, party};
use crate::harness::netpoll::{End, Tiny};
use crate::harness::timers::Shard;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, sc, tso};
use crate::mutation::mutant::{Mutant, Mutation};
use crate::mutation::variants::netpoll::{Polling, Scenario, play};
use spinpark::host::{NEVER, Nanos};
use spinpark::kernel::protocol::netpoll::{Neighbours, Netpoll, Poll};
use std::cell::Cell;
use std::sync::Arc;

const SOON: Nanos = 5;
const SOON_AFTER: Nanos = 7;
const LATE: Nanos = 100;

fn with_timer<H: ModelHost, D: Polling>(timer: Nanos) -> Arc<Tiny<H, D>> {
    main_plays("M0");
    Tiny::new(timer)
}

/// With one that is late. Somebody has waited before, for another that was soon: the room remembers until when.
fn with_old_until<H: ModelHost, D: Polling>() -> Arc<Tiny<H, D>> {
    let tiny = with_timer::<H, D>(SOON);
    let poll = tiny.waits();
    tiny.room.leave(poll, 1);
    tiny.put_off(LATE);
    tiny
}

macro_rules! scenario {
    ($(#[$doc:meta])* $name:ident, |$h:ident, $d:ident| $play:block) => {
        $(#[$doc])*
        fn $name<H: ModelHost>() -> String {
            struct This;
            impl<$h: ModelHost> Scenario<$h> for This {
                fn play<$d: Polling>(self) -> String $play
            }
            play::<H, This>(This)
        }
    };
}

scenario!(the_first_timer, |H, D| {
    let tiny = with_timer::<H, D>(NEVER);
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.add_from_outside(SOON));
    let end = tiny.goes_to_sleep();
    H::join(outsider);
    tiny.judge(&[end])
});

scenario!(an_earlier_timer, |H, D| {
    let tiny = with_old_until::<H, D>();
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.add_from_outside(SOON_AFTER));
    let end = tiny.goes_to_sleep();
    H::join(outsider);
    tiny.judge(&[end])
});

scenario!(somebody_waits_for_a_socket, |H, D| {
    let tiny = with_timer::<H, D>(NEVER);
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.awaits());
    let end = tiny.goes_to_sleep();
    H::join(outsider);
    tiny.judge(&[end])
});

scenario!(two_go_to_sleep, |H, D| {
    let tiny = with_timer::<H, D>(LATE);
    let other = party::<H, _, _>("M1", &tiny, |tiny| tiny.goes_to_sleep());
    let end = tiny.goes_to_sleep();
    let other = H::join(other);
    tiny.judge(&[end, other])
});

scenario!(a_timer_that_is_not_announced, |H, D| {
    let tiny = with_old_until::<H, D>();
    let adder = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.add(SOON_AFTER);
        tiny.goes_to_sleep()
    });
    let end = tiny.goes_to_sleep();
    let adder = H::join(adder);
    tiny.judge(&[end, adder])
});

scenario!(its_p_is_handed_on, |H, D| {
    let tiny = with_old_until::<H, D>();
    let adder = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.add(SOON_AFTER);
        tiny.hands_on()
    });
    let end = tiny.goes_to_sleep();
    H::join(adder);
    tiny.judge(&[end])
});

scenario!(who_leaves_finds_no_p, |H, D| {
    // M0 waits until a timer is due, and comes back for it. M1, which has the only P, has taken that timer, and goes to
    // sleep. Who adds one that is later trusts who waits.
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
    tiny.judge(&[end, other])
});

scenario!(who_leaves_waits_again, |H, D| {
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
    tiny.judge(&[end, other])
});

/// M0 comes back from its wait, while M1 does not sleep, but hands its P on, with a timer that nobody was told of.
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
    tiny.judge(&[end])
}

scenario!(who_leaves_and_a_p_is_handed_on, |H, D| { handed_on_while_one_comes_back::<H, D>(true) });

// The same, and M0 was interrupted: it waits again if it knows of the timer.
scenario!(who_is_interrupted_and_a_p_is_handed_on, |H, D| { handed_on_while_one_comes_back::<H, D>(false) });

scenario!(one_peeks_and_another_goes_to_sleep, |H, D| {
    let tiny = with_timer::<H, D>(LATE);
    let peeker = party::<H, _, _>("M1", &tiny, |tiny| tiny.peeks());
    let end = tiny.goes_to_sleep();
    H::join(peeker);
    tiny.judge(&[end, End::Busy])
});

scenario!(one_peeks_while_a_timer_comes, |H, D| {
    let tiny = with_timer::<H, D>(LATE);
    let peeker = party::<H, _, _>("M1", &tiny, |tiny| tiny.peeks());
    let outsider = party::<H, _, _>("outsider", &tiny, |tiny| tiny.add_from_outside(SOON));
    let end = tiny.goes_to_sleep();
    H::join(peeker);
    H::join(outsider);
    tiny.judge(&[end, End::Busy])
});

scenario!(one_peeks_as_another_leaves, |H, D| {
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
    tiny.judge(&[end, End::Busy])
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

/// What is to be waited for, and what the room does about it.
#[derive(Debug)]
struct World {
    deadline: Nanos,
    is_awaited: bool,
    interrupts: Cell<u32>,
    wakes: Cell<u32>,
}

impl World {
    /// Nothing, a socket, or a timer.
    fn any<H: ModelHost>() -> World {
        let (deadline, is_awaited) =
            any_of::<H, _>(&[(NEVER, false), (NEVER, true), (SOON, false), (SOON_AFTER, false)]);
        World { deadline, is_awaited, interrupts: Cell::new(0), wakes: Cell::new(0) }
    }
    fn has_something(&self) -> bool {
        self.is_awaited || self.deadline != NEVER
    }
}

impl Neighbours for World {
    fn deadline(&self) -> Nanos {
        self.deadline
    }
    fn is_awaited(&self) -> bool {
        self.is_awaited
    }
    fn interrupt(&self) {
        self.interrupts.set(self.interrupts.get() + 1);
    }
    fn wakep(&self) {
        self.wakes.set(self.wakes.get() + 1);
    }
}

/// The room, and what is known of it.
struct Both<H: ModelHost> {
    room: Netpoll<H>,
    /// Who waits, and until when.
    waits: Option<(Poll, Nanos)>,
    /// The last look, if there was one.
    looked: Option<Nanos>,
}

impl<H: ModelHost> Both<H> {
    fn until(&self) -> Option<Nanos> {
        self.waits.as_ref().map(|(_, until)| *until)
    }

    /// Does `world` need what who waits, if anybody does, does not do in time?
    fn is_too_late(&self, world: &World) -> bool {
        self.until().is_some_and(|until| world.deadline < until)
    }

    fn does(&mut self, now: Nanos) {
        let world = World::any::<H>();
        let (mut interrupts, mut wakes) = (false, false);
        match H::choose(7) {
            0 => {
                let must = world.has_something() && self.waits.is_none();
                interrupts = world.has_something() && self.is_too_late(&world);
                let poll = self.room.claim(&world);
                assert!(poll.is_some() == must, "{:?}, {world:?}: has it to wait? {}", self.waits, poll.is_some());
                if let Some(poll) = poll {
                    let until = self.room.prepare(&poll, &world);
                    assert!(until == world.deadline, "it waits until {until}, {world:?}");
                    self.waits = Some((poll, until));
                }
            }
            1 => {
                if let Some((poll, _)) = self.waits.take() {
                    self.room.leave(poll, now);
                    self.looked = Some(now);
                }
            }
            2 => {
                let told = world.has_something() && (self.waits.is_none() || self.is_too_late(&world));
                let missing = self.room.is_missing(&world);
                assert!(missing == told, "{:?}, {world:?}: does nobody wait in time? {missing}", self.waits);
            }
            3 => {
                self.room.announce(world.deadline, &world);
                (interrupts, wakes) = (self.is_too_late(&world), self.waits.is_none());
            }
            n => {
                // While one looks, up to two want to wait.
                let mut looks = 0;
                let looked = self.room.peek(
                    &world,
                    || now,
                    || {
                        looks += 1;
                        (4..n).for_each(|_| assert!(self.room.claim(&world).is_none(), "one waits, another looks"));
                    },
                );
                assert!(looked == self.waits.is_none() && looks == u32::from(looked), "looked {looks} times, {looked}");
                wakes = looked && n > 4 && world.has_something();
                self.looked = if looked { Some(now) } else { self.looked };
            }
        }
        let (found, told) = ((world.interrupts.get(), world.wakes.get()), (u32::from(interrupts), u32::from(wakes)));
        assert!(found == told, "interrupts and wakes: {found:?}, not {told:?}, {:?}, {world:?}", self.waits);
    }

    fn agrees(&self) {
        let is_blocked = self.room.is_blocked();
        assert!(is_blocked == self.waits.is_some(), "{:?}: does somebody wait? {is_blocked}", self.waits);
        let since = self.room.neglected_since();
        assert!(since.is_none() == is_blocked, "{:?}: neglected since {since:?}", self.waits);
        // Before the first look there was none.
        assert!(is_blocked || self.looked.is_none() || since == self.looked, "{since:?}, not {:?}", self.looked);
    }
}

fn three_operations<H: ModelHost>() -> String {
    let mut both = Both::<H> { room: Netpoll::new(), waits: None, looked: None };
    for step in 1..=3 {
        both.agrees();
        both.does(step * LATE);
    }
    both.agrees();
    let looked = if both.looked.is_some() { ", somebody has looked" } else { "" };
    format!("until {:?}{looked}", both.until())
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
        claim: "who waits for a later timer is interrupted by one that is earlier (golang/go #38860)",
        size: "2 threads, 2 timers, 1 P idled",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(7)], woken 0", "[Waits(100)], woken 0, interrupted", "[Looks]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::somebody_waits_for_a_socket", somebody_waits_for_a_socket,
        claim: "who waits for a socket from outside while the last M goes to sleep is waited for",
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
        claim: "an M adds a timer under its P and hands that on while another goes to wait: who gets the P, or waits, sees it",
        size: "2 threads, 2 timers, 1 P idled, 1 handed on",
        invariants: [28, 35, 44],
        must_reach: ["[Waits(7)], woken 0", "[Waits(100)], woken 1"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("netpoll::somebody_waits::who_leaves_finds_no_p", who_leaves_finds_no_p,
        claim: "one comes back from the poller and finds no P, and who adds a timer trusts it: who idles the P sees the timer",
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
    crate::model!("netpoll::somebody_waits::who_leaves_and_a_p_is_handed_on", who_leaves_and_a_p_is_handed_on,
        claim: "one comes back from the poller as a P is handed on, with a timer nobody was told of: one sees the other",
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
        claim: "who has to wait, who is interrupted or woken, and whether somebody is missing follow from who waits",
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
        claim: "who looks into the poller does not eat the interrupt that is meant for who waits (golang/go #42515)",
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
const PEEKS: &str = "netpoll::one_at_a_time::one_peeks_and_another_goes_to_sleep";
const EATS: &str = "netpoll::one_at_a_time::one_peeks_while_a_timer_comes";
const LEAVES: &str = "netpoll::one_at_a_time::one_peeks_as_another_leaves";

const fn weaker(
    name: &'static str,
    what: &'static str,
    after: &'static str,
    needle: &'static str,
    killed_by: &'static [(&'static str, Engine)],
) -> Mutant {
    let mutation = Mutation::Weaken { file: "kernel/protocol/netpoll.rs", after, needle };
    Mutant { name, room: "netpoll", what, mutation, killed_by }
}

const fn wrong(
    name: &'static str,
    variant: &'static str,
    what: &'static str,
    killed_by: &'static [(&'static str, Engine)],
) -> Mutant {
    Mutant { name, room: "netpoll", what, mutation: Mutation::Variant(variant), killed_by }
}

const FENCE: &str = "store_load::<H>()";

/// The mutants.
pub const MUTANTS: &[Mutant] = &[
    weaker(
        "netpoll-no-adders-fence",
        "announce without its StoreLoad",
        "pub fn announce",
        FENCE,
        &[(EARLIER, Engine::Loom), (EARLIER, Engine::Tso)],
    ),
    weaker(
        "netpoll-no-waiters-fence",
        "prepare without its StoreLoad",
        "pub fn prepare",
        FENCE,
        &[(EARLIER, Engine::Loom), (EARLIER, Engine::Tso)],
    ),
    weaker(
        "netpoll-no-sleepers-fence",
        "claim without its StoreLoad",
        "pub fn claim",
        FENCE,
        &[(UNANNOUNCED, Engine::Loom)],
    ),
    weaker("netpoll-no-leavers-fence", "leave without its StoreLoad", "pub fn leave", FENCE, &[(NO_P, Engine::Loom)]),
    weaker(
        "netpoll-no-handers-fence",
        "is_missing without its StoreLoad",
        "pub fn is_missing",
        FENCE,
        &[(HANDED_ON, Engine::Loom)],
    ),
    weaker(
        "netpoll-leaves-relaxed",
        "leave gives the poller up Relaxed",
        "pub fn leave",
        "who.store",
        &[(LEAVES, Engine::Loom)],
    ),
    weaker(
        "netpoll-peeks-relaxed",
        "peek takes the poller Relaxed",
        "pub fn peek",
        "compare_exchange",
        &[(LEAVES, Engine::Loom)],
    ),
    weaker(
        "netpoll-has-peeked-relaxed",
        "peek gives the poller up Relaxed",
        "pub fn peek",
        "who.swap",
        &[(PEEKS, Engine::Loom)],
    ),
    wrong(
        "netpoll-reads-it-once",
        "reads-it-once",
        "who waits does not read the deadline again",
        &[(EARLIER, Engine::Sc), (EARLIER, Engine::Loom)],
    ),
    wrong(
        "netpoll-trusts-who-waits",
        "trusts-who-waits",
        "who would wait does not look until when another does",
        &[(UNANNOUNCED, Engine::Sc), (UNANNOUNCED, Engine::Loom)],
    ),
    wrong(
        "netpoll-peeks-and-goes",
        "peeks-and-goes",
        "who has peeked does not wake for who has missed a wait",
        &[(PEEKS, Engine::Sc), (PEEKS, Engine::Loom)],
    ),
    wrong(
        "netpoll-peeks-beside-who-waits",
        "peeks-beside-who-waits",
        "a peek does not exclude a wait (golang/go #42515)",
        &[(EATS, Engine::Sc), (PEEKS, Engine::Loom)],
    ),
    wrong(
        "netpoll-never-interrupts",
        "never-interrupts",
        "an earlier timer does not interrupt a wait (golang/go #38860)",
        &[(EARLIER, Engine::Sc), (EARLIER, Engine::Loom)],
    ),
    wrong(
        "netpoll-wakes-nobody",
        "wakes-nobody",
        "a timer that is added while nobody waits wakes nobody (golang/go #44868)",
        &[(FIRST, Engine::Sc), (FIRST, Engine::Loom)],
    ),
    wrong(
        "netpoll-ignores-until",
        "ignores-until",
        "who hands a P on does not look until when another waits",
        &[(HANDED_ON, Engine::Sc), (HANDED_ON, Engine::Loom)],
    ),
    wrong(
        "netpoll-never-missing",
        "never-missing",
        "who hands a P on does not look whether anybody waits",
        &[(HANDED_ON, Engine::Sc), (HANDED_ON, Engine::Loom)],
    ),
    Mutant {
        name: "timers-tells-when-late",
        room: "timers",
        what: "a shard's word is written after its lock is released",
        mutation: Mutation::Variant("tells-when-late"),
        killed_by: &[
            ("timers::when_is_the_earliest::two_add", Engine::Sc),
            ("timers::when_is_the_earliest::two_add", Engine::Loom),
            ("timers::when_is_the_earliest::two_add", Engine::Rc11),
        ],
    },
    Mutant {
        name: "timers-forgets-to-tell-when",
        room: "timers",
        what: "a shard's word is not written when a timer is removed (the shape of golang/go #51654)",
        mutation: Mutation::Variant("forgets-to-tell-when"),
        killed_by: &[
            ("timers::when_is_the_earliest::one_adds_and_one_removes", Engine::Sc),
            ("timers::when_is_the_earliest::one_adds_and_one_removes", Engine::Rc11),
        ],
    },
];
