//! Models of `snapshot`: what is wrong at quiescence, and what is seen of a P in a system call.

use crate::harness::embedder::{Embedded, finish, open, small, submit};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, sc};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::sched::snapshot::Snapshot;

/// Nothing but one P, which is idle.
const QUIET: Snapshot = Snapshot {
    procs: 1,
    local: Vec::new(),
    global: 0,
    idle_ps: 1,
    masks_agree: true,
    nmspinning: 0,
    sleeping: 0,
    alive: 0,
    polling: 0,
    waiting: 0,
    bound: 0,
    detached: 0,
    may_start: true,
    in_syscall: 0,
    held: 0,
    refused: 0,
};

fn every_small_picture<H: ModelHost>() -> String {
    let [one, other, global, nmspinning] = [(); 4].map(|()| H::choose(2));
    let (procs, idle_ps, held) = (1 + H::choose(2), H::choose(3), H::choose(2));
    let (masks_agree, detached) = (H::choose(2) == 0, H::choose(2));
    let local = vec![one, other];
    let picture = Snapshot { procs, local, global, idle_ps, masks_agree, nmspinning, held, detached, ..QUIET };
    // As the invariants say it, each by itself: a part of what is told, and whether it is so.
    let wrong = [
        ("a G waits", idle_ps > 0 && [one, other, global].contains(&1)),
        ("counted as spinning", nmspinning > 0),
        ("a P is not idle", procs != idle_ps + held),
        ("mask differ", !masks_agree),
        ("counted as detached", detached > 0),
    ];
    let told = wrong.iter().find(|(_, is_so)| *is_so).map(|(what, _)| *what);
    let found = picture.violation();
    let is_right = match (told, found) {
        (Some(told), Some(found)) => found.contains(told),
        (told, found) => told.is_none() && found.is_none(),
    };
    assert!(is_right, "wrong is {found:?}, not {told:?}, in {picture:?}");
    told.unwrap_or("nothing is wrong").to_owned()
}

fn every_few_ms<H: ModelHost>() -> String {
    let (sleeping, waiting, polling, alive) = (H::choose(3), H::choose(3), H::choose(2), H::choose(6));
    let awake = alive as isize - [sleeping, waiting, polling].iter().sum::<usize>() as isize;
    let found = Snapshot { sleeping, waiting, polling, alive, ..QUIET }.is_quiescent();
    assert!(found == (awake == 0), "{awake} are awake: is all quiet? {found}");
    (if found { "quiet" } else { "busy" }).to_owned()
}

/// No other M looks for its P.
fn a_g_calls<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Embedded<H, ()>, worker: Worker, _: u64) -> Option<Worker> {
        let in_calls = || sched.snapshot().in_syscall;
        let before = in_calls();
        let away = sched.entersyscall(worker);
        let meanwhile = in_calls();
        let (worker, _) = sched.exitsyscall_bound(away);
        let seen = [before, meanwhile, in_calls()];
        assert!(seen == [0, 1, 0], "before, in and after its call so many Ps were in one: {seen:?}");
        Some(worker)
    }
    let sched = open::<H, ()>(small(1, 1), 1, (), play::<H>);
    submit(&sched, 1, 1);
    let snapshot = finish(&sched);
    format!("{} Ms, {} in a call", snapshot.alive, snapshot.in_syscall)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("snapshot::what_is_wrong_is_told::every_small_picture", every_small_picture,
        claim: "a picture of quiescence is told to be wrong exactly if an invariant does not hold, and which is told",
        size: "1 thread, 1 or 2 Ps, up to 2 idle and 1 held, up to 1 G in each of 3 queues, up to 1 spinning M",
        invariants: [30, 31, 32, 33],
        must_reach: ["a G waits", "counted as spinning", "a P is not idle", "mask differ", "nothing is wrong"],
        runs: [sc()]),
    crate::model!("snapshot::what_is_wrong_is_told::every_few_ms", every_few_ms,
        claim: "all is quiet if every M sleeps, waits, or is in the poller",
        size: "1 thread, up to 2 Ms asleep, 2 that wait, 1 in the poller, 5 alive",
        invariants: [34],
        must_reach: ["quiet", "busy"],
        runs: [sc()]),
    crate::model!("snapshot::a_call_is_seen::a_g_calls", a_g_calls,
        claim: "as long as a G is in a system call, and its P is not taken, one P is seen to be in one",
        size: "1 P, 1 M, 1 G, 1 system call",
        invariants: [34],
        must_reach: ["1 Ms, 0 in a call"],
        runs: [rc11(), sc()]),
];
