//! Models of `role`: a thread that runs a G, and the handler of a signal that comes between any two of its steps.
//!
//! The monitor requests preemption and retakes the P; the signal itself is sent by nobody, it may come anywhere, also when
//! it is not due. M0's G does one thing that needs a decision: it waits, enters a system call, or wants its P. At the end of
//! every execution M0's thread has its P back and lets go of it.

use super::common::party;
use crate::engine::Engine;
use crate::model::{Model, rc11, sc};
use crate::mutant::{self, Mutant, Mutation};
use crate::stage::Stage;
use crate::tiny::role::{Place, Tiny};
use crate::wrap::signals::Signals;
use spinpark::atomic::Atomic;
use spinpark::kernel::role::{Role, Waits};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What somebody else does, by name.
type Other<H, R> = (&'static str, fn(&Tiny<Signals<H>>) -> R);

/// Plays `act` as M0's G, beside a monitor and `others`, with up to `signals` signals.
fn play<H: Stage, R: Send + 'static>(
    signals: usize,
    others: &[Other<H, R>],
    act: impl FnOnce(&Arc<Tiny<Signals<H>>>, &Rc<Place<Signals<H>>>) -> String,
) -> String {
    type Of<H> = Signals<H>;
    let tiny = Tiny::<Of<H>>::new();
    let place = Tiny::<Of<H>>::running();
    let detached = Rc::new(Cell::new(0));
    let listens = Of::<H>::listen(signals, {
        let (tiny, place, detached) = (Arc::clone(&tiny), Rc::clone(&place), Rc::clone(&detached));
        move || detached.set(detached.get() + usize::from(tiny.handle(&place)))
    });
    let monitor = party::<Of<H>, _, _>("monitor", &tiny, Tiny::monitor);
    let others: Vec<_> = others.iter().map(|(name, act)| party::<Of<H>, _, _>(name, &tiny, *act)).collect();
    let went = act(&tiny, &place);
    // The G has ended: its M lets go of the P, wherever a signal has put it.
    Of::<H>::point();
    let p = place.take(|away| tiny.reattach(away)).expect("M0's G has no P, and has lost none");
    drop(listens);
    tiny.release(p);
    let retook = Of::<H>::join(monitor);
    others.into_iter().for_each(|other| drop(Of::<H>::join(other)));
    tiny.judge();
    format!("{went}; detached {}, retaken {retook}", detached.get())
}

/// It waits, with its thread; or leaves it, if it could.
fn waits<H: Stage>(could_leave: bool) -> String {
    play::<H, ()>(1, &[("who brings it", |tiny| tiny.bring())], |tiny, place| {
        match decide::<H>(place, could_leave) {
            Waits::Suspend => {
                assert!(could_leave, "it left a thread that it could not leave");
                // The M goes on with another G, under the P.
                let p = place.take(|away| tiny.reattach(away)).expect("an M ran a G, and has no P");
                tiny.work(&p);
                drop(place.replace(Role::Running(p)));
                "left".to_owned()
            }
            Waits::Block => {
                assert!(!could_leave, "it waits with its thread, and could leave it");
                let p = match mutant::twin() {
                    // It waits as it is, with its P or without.
                    Some("waits-without-reattaching") => place.with(|role| match role {
                        Role::Detached(_) => panic!("it waits, has lost its P, and is not known to have none"),
                        _ => None,
                    }),
                    _ => None,
                }
                .or_else(|| place.take(|away| tiny.reattach(away)))
                .expect("it had a P, or had lost one");
                let p = tiny.park_bound(p);
                drop(place.replace(Role::Running(p)));
                "blocked".to_owned()
            }
            Waits::WithoutP => panic!("it waits as if it had no P to hand on, and could suspend or block"),
        }
    })
}

/// How it may wait. A wrong variant asks a flag beside the role first, as the runtime once did.
fn decide<H: Stage>(place: &Place<Signals<H>>, could_leave: bool) -> Waits {
    if mutant::twin() != Some("asks-a-flag-beside-the-role") {
        return place.waits(could_leave);
    }
    let has_lost = place.with(|role| matches!(role, Role::Detached(_)));
    Signals::<H>::point();
    let has_p = place.with(|role| matches!(role, Role::Running(_)));
    match has_lost || has_p {
        true if could_leave => Waits::Suspend,
        true => Waits::Block,
        false => Waits::WithoutP,
    }
}

fn it_blocks<H: Stage>() -> String {
    waits::<H>(false)
}

fn it_suspends<H: Stage>() -> String {
    waits::<H>(true)
}

/// A system call, in which it waits without a P until a stopper has seen that nobody runs without one.
fn it_enters_a_system_call<H: Stage>() -> String {
    play::<H, ()>(1, &[("stopper", |tiny| tiny.stop())], |tiny, place| {
        let stay = |away| match mutant::twin() {
            Some("a-system-call-stays-detached") => away,
            _ => tiny.stay(away),
        };
        let leave = |p| spinpark::kernel::syscall::entersyscall(crate::tiny::role::M0, p, &**tiny);
        assert!(place.enter_syscall(leave, stay), "it had a P, or had lost one");
        assert!(place.waits(true) == Waits::WithoutP, "in a system call there is no P to hand on");
        // Nested, nothing is left, and nothing comes back.
        assert!(!place.enter_syscall(|p| panic!("{p:?} in a system call"), |away| away), "it was in one already");
        if mutant::twin() == Some("a-system-call-stays-detached") {
            // Relaxed: a count that only this thread changes.
            assert!(tiny.detached.load(Relaxed) == 0, "a stopper waits for a G that sits in a system call");
        }
        let p = place.exit_syscall(|away| tiny.come_back(away)).expect("it was in a system call");
        drop(place.replace(Role::Running(p)));
        "in and out".to_owned()
    })
}

/// It readies others under its P, if it has one: what it does there and the handler do not meet.
fn it_works_under_its_p<H: Stage>() -> String {
    let flag = Atomic::<Signals<H>, u64>::new(0);
    play::<H, ()>(2, &[], |tiny, place| {
        let mut under = 0;
        for _ in 0..2 {
            let works = place.try_with_mut(|role| {
                let Role::Running(p) = role else { return false };
                // Relaxed: steps, between which a signal may come.
                flag.store(1, Relaxed);
                tiny.work(p);
                flag.store(2, Relaxed);
                true
            });
            under += u32::from(works == Some(true));
        }
        format!("under its P {under} times")
    })
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("role::whoever_waits_has_handed_its_p_on::it_blocks_beside_signals", it_blocks,
        claim: "a G that waits with its thread has its P first, hands it on, and gets one again; one that was preempted too",
        size: "3 threads, 1 P, 1 signal",
        invariants: [4, 52],
        must_reach: ["blocked; detached 1, retaken true", "blocked; detached 1, retaken false", "blocked; detached 0"],
        runs: [rc11(), sc()]),
    crate::model!("role::nobody_waits_with_its_thread_who_could_leave_it::it_suspends_beside_signals", it_suspends,
        claim: "a G that could leave its thread does, whenever a signal comes; its M has a P when it runs the next",
        size: "3 threads, 1 P, 1 signal",
        invariants: [4, 52],
        must_reach: ["left; detached 1, retaken true", "left; detached 0"],
        runs: [rc11(), sc()]),
    crate::model!("role::whoever_waits_without_a_p_is_known::it_enters_a_system_call_beside_signals", it_enters_a_system_call,
        claim: "a preempted G that enters a system call no longer counts as one that runs; a stopper does not wait for it",
        size: "3 threads, 1 P, 1 signal",
        invariants: [4, 52],
        must_reach: ["in and out; detached 1", "in and out; detached 0"],
        runs: [rc11(), sc()]),
    crate::model!("role::a_p_is_taken_once::it_works_under_its_p_beside_signals", it_works_under_its_p,
        claim: "what a thread does under its P inside the scheduler is not interrupted: nobody else has the P meanwhile",
        size: "2 threads, 1 P, 2 signals",
        invariants: [4, 52],
        must_reach: ["under its P 2 times", "under its P 1 times", "under its P 0 times"],
        runs: [rc11(), sc()]),
];

const BLOCKS: &str = "role::whoever_waits_has_handed_its_p_on::it_blocks_beside_signals";
const SUSPENDS: &str = "role::nobody_waits_with_its_thread_who_could_leave_it::it_suspends_beside_signals";
const SYSCALL: &str = "role::whoever_waits_without_a_p_is_known::it_enters_a_system_call_beside_signals";

/// The mutants.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "role-asks-a-flag-beside-the-role",
        room: "role",
        what: "whether the P was lost is asked before the role, and a signal comes in between: a G that could leave its \
               thread waits with it, and is told to yield for ever",
        mutation: Mutation::Twin("asks-a-flag-beside-the-role"),
        killed_by: &[(SUSPENDS, Engine::Sc), (SUSPENDS, Engine::Rc11), (BLOCKS, Engine::Sc), (BLOCKS, Engine::Rc11)],
    },
    Mutant {
        name: "role-waits-without-reattaching",
        room: "role",
        what: "a G that was preempted waits with its thread as it is, and never takes a P back before it waits",
        mutation: Mutation::Twin("waits-without-reattaching"),
        killed_by: &[(BLOCKS, Engine::Sc), (BLOCKS, Engine::Rc11)],
    },
    Mutant {
        name: "role-a-system-call-stays-detached",
        room: "role",
        what: "a preempted G that enters a system call still counts as one that runs: who stops the world waits for it",
        mutation: Mutation::Twin("a-system-call-stays-detached"),
        killed_by: &[(SYSCALL, Engine::Sc), (SYSCALL, Engine::Rc11)],
    },
];
