//! Models of `syscall`: a P in its word, and all that would have it.
//!
//! The rest of the scheduler is as small as it can be: the words of two Ps, and under a lock the idle Ps and the queued
//! Gs. The stopper is the real `stw::stop`, with the real `Wanted`: the pair `syscall/stop` has its halves in two
//! rooms. Monitor and hand-off are one thread that takes a P out of its word, and may run Gs under it. At the end of
//! every execution all parties have come to rest, and the question is: which M has the P?

use crate::harness::common::{g, party};
use crate::harness::syscall::{How, P0, P1, Tiny};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::scenario;
use crate::mutation::variants::syscall::Crossing;
use spinpark_kernel::protocol::stw;
use spinpark_kernel::protocol::syscall::{Away, Neighbours, Way, entersyscallblock};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::OwnedP;
use std::cell::RefCell;

const M0: MId = MId(0);
const M1: MId = MId(1);

/// Of those that would have a P, one has it.
fn one_has_it(owners: &[(&str, bool)]) {
    let have: Vec<&str> = owners.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    assert!(have.len() == 1, "P0 is had by {have:?}");
}

// Which M has a P.

scenario!(syscall::Crossing, a_returning_m_and_a_retaker, |H, C| {
    let tiny = Tiny::<H, C>::new("M0", 1);
    let retaker = party::<H, _, _>("retaker", &tiny, |tiny| tiny.retake_for_good(P0));
    let away = tiny.enter(M0, OwnedP::forge(P0));
    let way = tiny.exit_for_good(away, P0);
    let retaken = H::join(retaker).is_some();
    one_has_it(&[("M0", way != Way::Queued), ("the retaker", retaken)]);
    format!("M0 {way:?}, retaken {retaken}")
});

scenario!(syscall::Crossing, two_returning_ms_and_a_retaker, |H, C| {
    let tiny = Tiny::<H, C>::new("M0", 1);
    // M1 went away with P0; it was taken from it, and is M0's now. Which comes first?
    let away = tiny.enter(M1, OwnedP::forge(P0));
    let p = tiny.syscall_word(P0).take_any().expect("M1 has left it in its word");
    let retaker = party::<H, _, _>("retaker", &tiny, |tiny| tiny.retake_for_good(P0));
    let second = party::<H, _, _>("M1", &tiny, |tiny| tiny.exit_for_good(away, P0));
    let away = tiny.enter(M0, p);
    let first = tiny.exit_for_good(away, P0);
    let (second, retaken) = (H::join(second), H::join(retaker).is_some());
    one_has_it(&[("M0", first != Way::Queued), ("M1", second != Way::Queued), ("the retaker", retaken)]);
    format!("M0 {first:?}, M1 {second:?}, retaken {retaken}")
});

/// A retaker looks as M0 makes two system calls; before that, the P was taken out of its word so often.
fn two_calls<H: ModelHost, C: Crossing>(takings: u32) -> String {
    let tiny = Tiny::<H, C>::starting_at("M0", 1, takings);
    let retaker = party::<H, _, _>("retaker", &tiny, |tiny| tiny.retake_for_good(P0));
    let (mut p, mut last) = (Some(OwnedP::forge(P0)), 0);
    for call in 1..=2 {
        let Some(mine) = p.take() else { break };
        last = call;
        let away = tiny.enter(M0, mine);
        p = tiny.exit(away, P0, g(1)).ok().map(|(p, ..)| p);
    }
    // Each taking counts the tick up.
    let seen = H::join(retaker).map(|tick| tick.wrapping_sub(takings) + 1);
    one_has_it(&[("M0", p.is_some()), ("the retaker", seen.is_some())]);
    p.map(OwnedP::discard);
    let Some(seen) = seen else { return "not taken".to_owned() };
    assert!(seen == last, "a retaker that looked at system call {seen} took the P out of system call {last}");
    format!("taken in call {seen}")
}

scenario!(syscall::Crossing, seen_in_one_call_taken_in_the_next, |H, C| { two_calls::<H, C>(0) });
scenario!(syscall::Crossing, seen_before_the_wrap, |H, C| { two_calls::<H, C>(u32::MAX) });

scenario!(syscall::Crossing, an_interrupted_m_and_a_retaker, |H, C| {
    let tiny = Tiny::<H, C>::new("M0", 1);
    let retaker = party::<H, _, _>("retaker", &tiny, |tiny| tiny.retake_for_good(P0));
    let away = tiny.interrupt(M0, OwnedP::forge(P0));
    let way = tiny.exit_for_good(away, P0);
    let retaken = H::join(retaker).is_some();
    one_has_it(&[("M0", way != Way::Queued), ("the retaker", retaken)]);
    format!("M0 {way:?}, retaken {retaken}")
});

// A stop.

/// The stopper. It sleeps until every M is in its system call, or rests: after that it is given no P.
struct Stopper<'a, H: ModelHost, C: Crossing> {
    tiny: &'a Tiny<H, C>,
    procs: usize,
    others: RefCell<Vec<H::Thread<Ended>>>,
    ended: RefCell<Vec<Ended>>,
}

/// How an M ended: in which of its system calls; it is still in there, unless it has left without a P.
type Ended = (u32, Option<Away>);

impl<H: ModelHost, C: Crossing> stw::Neighbours for Stopper<'_, H, C> {
    fn begin(&self, own: Option<OwnedP>) {
        self.tiny.begin_stop(None);
        debug_assert!(own.is_none(), "this stopper has no P");
    }
    fn take_from_syscalls(&self) {
        self.tiny.take_from_syscalls(self.procs);
    }
    fn is_stopped(&self) -> bool {
        self.tiny.is_stopped()
    }
    fn sleep(&self) {
        self.ended.borrow_mut().extend(self.others.borrow_mut().drain(..).map(H::join));
        self.tiny.no_stop_is_sat_out(|| true);
    }
}

/// M0 makes the first number of system calls with P0, M1 the second with P1, while the world is stopped.
fn stopped_while<H: ModelHost, C: Crossing>(calls: &'static [u32], is_watched: bool) -> String {
    let tiny = Tiny::<H, C>::new("stopper", calls.len());
    let ms = calls.iter().zip([(M0, P0, "M0"), (M1, P1, "M1")]).map(|(&calls, (m, p, name))| {
        party::<H, _, _>(name, &tiny, move |tiny| {
            let mut away = tiny.enter(m, OwnedP::forge(p));
            for call in 1..calls {
                match tiny.exit(away, p, g(1)) {
                    Ok((mine, ..)) => away = tiny.enter(m, mine),
                    Err(_) => return (call, None),
                }
            }
            (calls, Some(away))
        })
    });
    let mut others: Vec<_> = ms.collect();
    others.extend(is_watched.then(|| {
        party::<H, _, _>("monitor", &tiny, |tiny| {
            let taken = tiny.retake(P0);
            taken.into_iter().for_each(|(p, _)| tiny.release(p, How::Retaken));
            (0, None)
        })
    }));
    let stopper = Stopper { tiny: &*tiny, procs: calls.len(), others: RefCell::new(others), ended: RefCell::default() };
    stw::stop::<H>(None, &stopper);
    let Stopper { others, ended, .. } = stopper;
    let ended: Vec<_> = ended.into_inner().into_iter().chain(others.into_inner().into_iter().map(H::join)).collect();
    let held = tiny.held();
    let ends = ended.into_iter().take(calls.len()).zip([P0, P1]).map(|((call, away), p)| {
        let back = away.and_then(|away| tiny.exit(away, p, g(1)).ok());
        assert!(back.is_none(), "the world is stopped, but from a system call one comes back with {back:?}");
        let how = held.iter().find(|(held, _)| *held == p).map(|(_, how)| how);
        format!("P{} {:?} in call {call}", p.0, how.expect("it is held"))
    });
    ends.collect::<Vec<_>>().join(", ")
}

scenario!(syscall::Crossing, one_m_enters, |H, C| { stopped_while::<H, C>(&[1], false) });
scenario!(syscall::Crossing, one_m_enters_twice, |H, C| { stopped_while::<H, C>(&[2], false) });
scenario!(syscall::Crossing, two_ms_enter_twice, |H, C| { stopped_while::<H, C>(&[2, 2], false) });
scenario!(syscall::Crossing, two_ms_enter, |H, C| { stopped_while::<H, C>(&[1, 1], false) });
scenario!(syscall::Crossing, an_m_and_a_monitor, |H, C| { stopped_while::<H, C>(&[1], true) });

scenario!(syscall::Crossing, an_m_is_interrupted_and_the_monitor_looks_again, |H, C| {
    let tiny = Tiny::<H, C>::new("stopper", 1);
    // The handler asks for nothing, so the stopper may have looked before it left the P; the monitor's next tick sees it.
    let hog = party::<H, _, _>("M0", &tiny, |tiny| (1, Some(tiny.interrupt(M0, OwnedP::forge(P0)))));
    let stopper = Interrupting { tiny: &*tiny, hog: RefCell::new(Some(hog)), ended: RefCell::default() };
    stw::stop::<H>(None, &stopper);
    let Interrupting { hog, ended, .. } = stopper;
    let (by_monitor, away) = match hog.into_inner() {
        Some(hog) => (false, H::join(hog).1),
        None => (true, ended.take().and_then(|(_, away)| away)),
    };
    let back = away.and_then(|away| tiny.exit(away, P0, g(1)).ok());
    assert!(back.is_none(), "the world is stopped, but a hog comes back with {back:?}");
    format!("seen by the {}", if by_monitor { "monitor" } else { "stopper" })
});

/// The stopper, while a G is interrupted; it sleeps until that has happened, and the monitor has looked.
struct Interrupting<'a, H: ModelHost, C: Crossing> {
    tiny: &'a Tiny<H, C>,
    hog: RefCell<Option<H::Thread<Ended>>>,
    ended: RefCell<Option<Ended>>,
}

impl<H: ModelHost, C: Crossing> stw::Neighbours for Interrupting<'_, H, C> {
    fn begin(&self, own: Option<OwnedP>) {
        self.tiny.begin_stop(None);
        debug_assert!(own.is_none(), "this stopper has no P");
    }
    fn take_from_syscalls(&self) {
        self.tiny.take_from_syscalls(1);
    }
    fn is_stopped(&self) -> bool {
        self.tiny.is_stopped()
    }
    fn sleep(&self) {
        *self.ended.borrow_mut() = self.hog.take().map(H::join);
        self.tiny.take_from_syscalls(1);
        self.tiny.no_stop_is_sat_out(|| true);
    }
}

// Figures 6 to 8 of the classic description: G1 goes into a system call and comes back. One scenario for each way out.

scenario!(syscall::Crossing, its_p_is_still_there, |H, C| {
    let tiny = Tiny::<H, C>::new("M0", 1);
    // P0 is taken and given to M1, which runs G2 under it.
    let other =
        party::<H, _, _>("retaker, M1", &tiny, |tiny| tiny.retake(P0).map_or(vec![], |(p, _)| tiny.run_dry(p, g(2))));
    let away = tiny.enter(M0, OwnedP::forge(P0));
    let (way, mine) = tiny.exit_and_run_dry(away, P0, g(1));
    let others = H::join(other);
    let n = if others.is_empty() { 1 } else { 2 };
    tiny.check_at_rest(n, &[&mine, &others], &[P0]);
    format!("M0 {way:?}, M1 ran {others:?}")
});

scenario!(syscall::Crossing, its_old_p_is_in_anothers_call, |H, C| {
    let tiny = Tiny::<H, C>::new("M0", 1);
    // M0 went away with P0; it was taken from it and given to M1, which makes a system call of its own.
    let away = tiny.enter(M0, OwnedP::forge(P0));
    let p = tiny.syscall_word(P0).take_any().expect("M0 has left it in its word");
    let other = party::<H, _, _>("M1", &tiny, |tiny| {
        let away = tiny.enter(M1, p);
        tiny.exit_and_run_dry(away, P0, g(2))
    });
    let (way, mine) = tiny.exit_and_run_dry(away, P0, g(1));
    let (others_way, others) = H::join(other);
    tiny.check_at_rest(2, &[&mine, &others], &[P0]);
    format!("M0 {way:?}, M1 {others_way:?}")
});

scenario!(syscall::Crossing, another_p_is_idle, |H, C| {
    let tiny = Tiny::<H, C>::new("M0", 2);
    // P0 is taken from M0 and kept busy for good; M1 comes to the end of its work and idles P1.
    let away = tiny.enter(M0, OwnedP::forge(P0));
    tiny.syscall_word(P0).take_any().expect("M0 has left it in its word").discard();
    let other = party::<H, _, _>("M1", &tiny, |tiny| tiny.run_dry(OwnedP::forge(P1), g(2)));
    let (way, mine) = tiny.exit_and_run_dry(away, P0, g(1));
    let others = H::join(other);
    tiny.check_at_rest(2, &[&mine, &others], &[P1]);
    format!("M0 {way:?}, M1 ran {others:?}")
});

scenario!(syscall::Crossing, no_p_is_to_be_had, |H, C| {
    let tiny = Tiny::<H, C>::new("M0", 1);
    // G1 is known to block: M0 gives P0 away at once, and M1 runs G2 under it.
    let p = OwnedP::forge(P0);
    tiny.work(&p);
    let away = entersyscallblock(M0, p, &*tiny);
    let p = tiny.acquire().expect("M0 has handed it on");
    let other = party::<H, _, _>("M1", &tiny, |tiny| {
        tiny.work(&p);
        tiny.run_dry(p, g(2))
    });
    let (way, mine) = tiny.exit_and_run_dry(away, P0, g(1));
    let others = H::join(other);
    tiny.check_at_rest(2, &[&mine, &others], &[P0]);
    format!("M0 {way:?}, M1 ran {others:?}")
});

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("syscall::a_p_has_one_owner::a_returning_m_and_a_retaker", a_returning_m_and_a_retaker,
        claim: "of an M that returns and a retaker one gets the P, with all that was done under it",
        size: "2 threads, 1 P, 1 system call",
        invariants: [4, 20],
        must_reach: ["M0 Kept, retaken false", "M0 Queued, retaken true"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::a_p_has_one_owner::two_returning_ms_and_a_retaker", two_returning_ms_and_a_retaker,
        claim: "of an M that returns, one that returns and had the P before, and a retaker, one gets the P",
        size: "3 threads, 1 P, 2 system calls",
        invariants: [4, 20],
        must_reach: ["M0 Kept", "M1 TookBack", "retaken true"],
        runs: [rc11(), loom(), sc(), tso()]),
    crate::model!("syscall::a_p_has_one_owner::seen_in_one_call_taken_in_the_next", seen_in_one_call_taken_in_the_next,
        claim: "a retaker that looked at one system call does not take the P out of the next",
        size: "2 threads, 1 P, 2 system calls",
        invariants: [4, 20, 21],
        must_reach: ["not taken", "taken in call 1", "taken in call 2"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::a_p_has_one_owner::seen_before_the_wrap", seen_before_the_wrap,
        claim: "the same as the number of takings wraps around, so that the next call has the smaller tick",
        size: "2 threads, 1 P, 2 system calls, the wrap between them",
        invariants: [4, 20, 21],
        must_reach: ["not taken", "taken in call 1", "taken in call 2"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("syscall::a_p_has_one_owner::an_interrupted_m_and_a_retaker", an_interrupted_m_and_a_retaker,
        claim: "of an M that was interrupted, and comes back, and a retaker one gets the P, with all that was done under it",
        size: "2 threads, 1 P, 1 interrupt",
        invariants: [4, 20],
        must_reach: ["M0 Kept, retaken false", "M0 Queued, retaken true"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::a_stop_is_not_sat_out::an_m_is_interrupted_and_the_monitor_looks_again",
        an_m_is_interrupted_and_the_monitor_looks_again,
        claim: "a P that an interrupt leaves as the world is stopped is held at the monitor's next tick at the latest",
        size: "2 threads, 1 P, 1 interrupt, 1 stop",
        invariants: [4, 16, 41],
        must_reach: ["seen by the monitor", "seen by the stopper"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::a_stop_is_not_sat_out::one_m_enters", one_m_enters,
        claim: "a P is not left in its word for the length of a system call while the world is to stop",
        size: "2 threads, 1 P, 1 system call",
        invariants: [4, 16, 41],
        must_reach: ["P0 Taken", "P0 GivenUp"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::a_stop_is_not_sat_out::one_m_enters_twice", one_m_enters_twice,
        claim: "the same for a G that makes one system call after another",
        size: "2 threads, 1 P, 2 system calls",
        invariants: [4, 16, 41],
        must_reach: ["Taken in call 1", "GivenUp in call 1", "Taken in call 2", "GivenUp in call 2"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::a_stop_is_not_sat_out::two_ms_enter", two_ms_enter,
        claim: "the same for two Ps",
        size: "3 threads, 2 Ps, 2 system calls",
        invariants: [4, 16, 41],
        must_reach: ["P0 Taken in call 1, P1 GivenUp", "P0 GivenUp in call 1, P1 Taken"],
        runs: [rc11(), loom(), sc(), tso()]),
    crate::model!("syscall::a_stop_is_not_sat_out::two_ms_enter_twice", two_ms_enter_twice,
        claim: "the same for two Ps, and two Gs that make one system call after another",
        size: "3 threads, 2 Ps, 4 system calls",
        invariants: [4, 16, 41],
        must_reach: ["P0 Taken in call 2, P1 GivenUp in call 2", "P0 GivenUp in call 2, P1 Taken in call 2"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("syscall::a_stop_is_not_sat_out::an_m_and_a_monitor", an_m_and_a_monitor,
        claim: "the same while the monitor retakes the P and hands it on; it is held once, whichever thread takes it",
        size: "3 threads, 1 P, 1 system call",
        invariants: [4, 16, 41],
        must_reach: ["P0 Taken", "P0 GivenUp", "P0 Retaken", "P0 Idle"],
        runs: [rc11(), loom(), sc(), tso()]),
    crate::model!("syscall::each_way_out::its_p_is_still_there", its_p_is_still_there,
        claim: "a P that was not taken is kept; one that was taken is waited for, by the G or by its M",
        size: "2 threads, 1 P, 2 Gs",
        invariants: [1, 2, 4, 30],
        must_reach: ["M0 Kept, M1 ran []", "M0 Queued, M1 ran [2, 1]", "M0 Idle, M1 ran [2]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::each_way_out::its_old_p_is_in_anothers_call", its_old_p_is_in_anothers_call,
        claim: "an M takes its old P back out of another M's system call; both Gs are run, once",
        size: "2 threads, 1 P, 2 Gs",
        invariants: [1, 2, 4, 30],
        must_reach: ["M0 TookBack, M1 Queued", "M0 TookBack, M1 Idle", "M0 Queued, M1 Kept", "M0 Idle, M1 Kept"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::each_way_out::another_p_is_idle", another_p_is_idle,
        claim: "a P that becomes idle is found by the M that returns, or the G is found by the M that would idle the P",
        size: "2 threads, 2 Ps, 2 Gs",
        invariants: [1, 2, 4, 30],
        must_reach: ["M0 Idle, M1 ran [2]", "M0 Queued, M1 ran [2, 1]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("syscall::each_way_out::no_p_is_to_be_had", no_p_is_to_be_had,
        claim: "a G that comes back while its P is another's is queued behind everything, and run",
        size: "2 threads, 1 P, 2 Gs",
        invariants: [1, 2, 4, 30],
        must_reach: ["M0 Queued, M1 ran [2, 1]", "M0 Idle, M1 ran [2]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
];

const RETAKER: &str = "syscall::a_p_has_one_owner::a_returning_m_and_a_retaker";
const HOG: &str = "syscall::a_p_has_one_owner::an_interrupted_m_and_a_retaker";
const NEXT: &str = "syscall::a_p_has_one_owner::seen_in_one_call_taken_in_the_next";
const WRAP: &str = "syscall::a_p_has_one_owner::seen_before_the_wrap";
const STOP: &str = "syscall::a_stop_is_not_sat_out::one_m_enters";
const ANOTHER: &str = "syscall::each_way_out::another_p_is_idle";
const NONE: &str = "syscall::each_way_out::no_p_is_to_be_had";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "syscall";
    "syscall-put-relaxed": "a P is put into its word Relaxed",
        weaken("protocol/syscall.rs", "pub fn put", "store(status"),
        by RETAKER => [Loom, LoomApart], HOG => [Loom], RETAKER => [Rc11], HOG => [Rc11];
    "syscall-take-relaxed": "a P is taken out of its word Relaxed",
        weaken("protocol/syscall.rs", "pub fn take", "compare_exchange"),
        by RETAKER => [Loom, LoomApart], HOG => [Loom], RETAKER => [Rc11], HOG => [Rc11];
    "syscall-no-entering-fence": "entersyscall without its StoreLoad",
        weaken("protocol/syscall.rs", "pub fn entersyscall<", "store_load::<H>()"), by STOP => [Loom, Tso, Rc11];
    "syscall-no-stopping-fence": "stw::stop without its StoreLoad",
        weaken("protocol/stw/mod.rs", "pub fn stop", "store_load::<H>()"), by STOP => [Loom, Rc11];
    "syscall-reads-before-it-writes":
        "an M that enters asks whether its P is wanted, then puts it into its word (Go 1.27)",
        variant("reads-before-it-writes"), by STOP => [Sc, Loom, Rc11];
    "syscall-take-without-tick": "a retaker compares the M, but not the tick",
        variant("take-without-tick"), by NEXT => [Sc, Loom, Rc11];
    "syscall-take-unless-later": "a retaker takes the P unless its call is a later one, by which tick is the larger",
        variant("take-unless-later"), by WRAP => [Sc, Loom, Rc11];
    "syscall-retake-by-store": "a retaker loads the word, then stores: the M that returned in between has the P too",
        variant("retake-by-store"), by RETAKER => [Sc, Loom], HOG => [Sc], RETAKER => [Rc11], HOG => [Rc11];
    "syscall-exit-without-its-exchange": "an M that returns keeps its P if a load says that it is still there",
        variant("exit-without-its-exchange"), by RETAKER => [Sc, Loom], HOG => [Sc], RETAKER => [Rc11], HOG => [Rc11];
    "syscall-queues-outside-the-lock":
        "an M that returns looks for an idle P under one hold of the lock, and queues its G under the next",
        variant("queues-outside-the-lock"), by ANOTHER => [Sc], NONE => [Sc], ANOTHER => [Rc11], NONE => [Rc11];
};
