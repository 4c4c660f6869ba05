//! Work conservation *now*: while one M keeps its G, for ever, and not only when all is quiet and the harm has healed. On the
//! real scheduler, with its real lock scopes.
//!
//! G1 keeps M0 and P0. So what is queued meanwhile, beside an idle P, has to be run by another M; if no M looks for it,
//! the main thread waits for ever, and the engine says so. The invariant is the one that is proved for every size in
//! `verification/parameterized/src/sched`: a queued G beside an idle P has an M that looks, or must look.
//!
//! | what queues the G, and how                   | the M that may fall asleep on it      | model                    |
//! |----------------------------------------------|---------------------------------------|--------------------------|
//! | a submitter, in the global queue             | an M that idles its P, and retires    | `submitted`              |
//! | the G that is kept, under its own P          | the same                              | `readied`                |
//! | a full ring, by `goyield`                    | the same                              | `spilled`                |
//! | an M without a P, by `exitsyscall`: no wake  | the same                              | `shared`                 |
//! | a submitter                                  | an M that hands its P off: it blocks  | `submitted_beside_block` |
//! | the G that is kept, under its own P          | the same                              | `readied_beside_block`   |
//! | an M without a P, by `exitsyscall`: no wake  | the same, as the idle P gets taken    | `shared_beside_block`    |
//! | a submitter                                  | an M that ends, the last there may be | `submitted_beside_end`   |
//! | a submitter                                  | the same, the only one there may be   | `submitted_beside_the_only_end` |
//! | a submitter                                  | the same, beside an idle P            | `submitted_beside_the_only_end_of_two_ps` |

use crate::harness::embedder::submit;
use crate::harness::script::{
    MAIN, Scripted, begin, for_ever, keeps, numbers, saw, says_and_keeps, script, scripted, waits_at,
};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::sched::config::Config;

/// The M that looks waits here, and the one that keeps its G.
const LOOKS: usize = 1;
const KEEPS: usize = 2;

/// The two Gs run; what happens from here on happens at once.
fn two_run<H: ModelHost>(sched: &Scripted<H>) {
    begin(sched, 1);
    begin(sched, 2);
    script(sched).forget();
}

/// The G ends when the model opens `gate`.
fn goes_on<H: ModelHost>(sched: &Scripted<H>, worker: Worker, gate: usize) -> Option<Worker> {
    waits_at(sched, gate);
    Some(worker)
}

/// Waits until what was queued has run.
fn outcome<H: ModelHost>(sched: &Scripted<H>) -> String {
    script(sched).wait(MAIN);
    script(sched).words(&[
        (saw::SLEPT, "slept"),
        (saw::STOLE, "stole"),
        (saw::STARTED, "started"),
        (saw::REFUSED, "refused"),
    ])
}

/// G3 is submitted while M1 looks, idles its P and falls asleep.
fn submitted<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
        match n {
            2 => goes_on(sched, worker, LOOKS),
            _ => says_and_keeps(sched, worker),
        }
    }
    let sched = scripted::<H>(numbers(2, 3), 3, play::<H>);
    two_run(&sched);
    script(&sched).open(LOOKS);
    submit(&sched, 3, 3);
    outcome(&sched)
}

/// G1 readies G3, and runs on.
fn readied<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        match n {
            1 => {
                waits_at(sched, KEEPS);
                sched.ready(&mut worker, sched.observer().make(3));
                keeps::<H>(worker)
            }
            2 => goes_on(sched, worker, LOOKS),
            _ => says_and_keeps(sched, worker),
        }
    }
    let sched = scripted::<H>(numbers(2, 3), 3, play::<H>);
    two_run(&sched);
    script(&sched).open(KEEPS);
    script(&sched).open(LOOKS);
    outcome(&sched)
}

/// G1 yields G3, G4 and G5 into a ring of two, of which the third spills; M0 goes on with one that is left there, for ever.
fn spilled<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        match n {
            1 => {
                waits_at(sched, KEEPS);
                for g in 3..=5 {
                    sched.goyield(&mut worker, sched.observer().make(g));
                }
                Some(worker)
            }
            2 => goes_on(sched, worker, LOOKS),
            4 => keeps::<H>(worker),
            _ => says_and_keeps(sched, worker),
        }
    }
    // Rings before the global queue, a second look would find it there.
    let sched = scripted::<H>(Config { order: SearchOrder::GlobalFirst, ..numbers(2, 3) }, 5, play::<H>);
    two_run(&sched);
    script(&sched).open(KEEPS);
    script(&sched).open(LOOKS);
    outcome(&sched)
}

/// M0 and M1 have come back from system calls, found no P, and queued their Gs: no M is woken for those. M2 takes both
/// as its share, keeps one, and leaves the other in its ring; M3 looks meanwhile, and idles its P.
fn shared<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
        let is_back = n <= 2 && !script(sched).leaves_once(n);
        match n {
            1 | 2 if !is_back => {
                script(sched).leaves(sched.entersyscallblock(worker));
                script(sched).open(MAIN);
                for_ever::<H>()
            }
            1 => keeps::<H>(worker),
            3 => goes_on(sched, worker, KEEPS),
            4 => goes_on(sched, worker, LOOKS),
            _ => says_and_keeps(sched, worker),
        }
    }
    let sched = scripted::<H>(Config { ring: 4, order: SearchOrder::GlobalFirst, ..numbers(2, 4) }, 4, play::<H>);
    (1..=4).for_each(|n| begin(&sched, n));
    for n in [1, 2] {
        let away = script(&sched).take_away();
        let m = sched.exitsyscall(away, sched.observer().again(n)).err();
        assert!(m.is_some(), "no P is idle");
    }
    script(&sched).forget();
    script(&sched).open(KEEPS);
    script(&sched).open(LOOKS);
    outcome(&sched)
}

/// G2 makes a call that blocks, for ever, just when G3 is submitted.
fn submitted_beside_block<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
        match n {
            2 => {
                waits_at(sched, LOOKS);
                blocks(sched, worker)
            }
            _ => says_and_keeps(sched, worker),
        }
    }
    let sched = scripted::<H>(numbers(2, 3), 3, play::<H>);
    two_run(&sched);
    script(&sched).open(LOOKS);
    submit(&sched, 3, 3);
    outcome(&sched)
}

/// The G makes a call that blocks, and its M does not come back by itself.
fn blocks<H: ModelHost>(sched: &Scripted<H>, worker: Worker) -> Option<Worker> {
    script(sched).leaves(sched.entersyscallblock(worker));
    for_ever::<H>()
}

/// G2 makes a call that blocks, for ever, just when G1 readies G3 and runs on.
fn readied_beside_block<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        match n {
            1 => {
                waits_at(sched, KEEPS);
                sched.ready(&mut worker, sched.observer().make(3));
                keeps::<H>(worker)
            }
            2 => {
                waits_at(sched, LOOKS);
                blocks(sched, worker)
            }
            _ => says_and_keeps(sched, worker),
        }
    }
    let sched = scripted::<H>(numbers(2, 3), 3, play::<H>);
    two_run(&sched);
    script(&sched).open(KEEPS);
    script(&sched).open(LOOKS);
    outcome(&sched)
}

/// G4 makes a call that blocks, for ever, while the other P is idle: its M need not look into others' rings. Just then that P is
/// taken by the M that comes back with G3, so that G1 and G2 find none; and it takes both as its share, and keeps one.
fn shared_beside_block<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
        match n {
            1..=3 if script(sched).leaves_once(n) => {
                script(sched).leaves(sched.entersyscallblock(worker));
                script(sched).open(MAIN);
                for_ever::<H>()
            }
            4 => {
                waits_at(sched, LOOKS);
                blocks(sched, worker)
            }
            1 => keeps::<H>(worker),
            _ => says_and_keeps(sched, worker),
        }
    }
    let sched = scripted::<H>(Config { ring: 4, order: SearchOrder::GlobalFirst, ..numbers(2, 5) }, 4, play::<H>);
    (1..=4).for_each(|n| begin(&sched, n));
    let comes_back = |away, n| sched.exitsyscall(away, sched.observer().again(n));
    let [first, second, third] = [(); 3].map(|()| script(&sched).take_away());
    script(&sched).forget();
    script(&sched).open(LOOKS);
    // From here on this thread is the M of G3.
    let (mut worker, g, _) = comes_back(third, 3).expect("a P is idle");
    sched.observer().runs(g);
    let is_first_kept = match comes_back(first, 1) {
        // It has got the P of G4, and keeps it.
        Ok((p, g, _)) => {
            sched.observer().runs(g);
            std::mem::forget(p);
            true
        }
        Err(_) => false,
    };
    assert!(comes_back(second, 2).is_err(), "G1 waits, or has the only P that may be idle");
    let next;
    (worker, next) = sched.next(worker).expect("the scheduler is open");
    std::mem::forget(worker);
    match sched.observer().runs(next) {
        1 => format!("shared; {}", outcome(&sched)),
        _ => format!("the first {}", if is_first_kept { "found a P" } else { "was taken" }),
    }
}

/// There may be two Ms. M0 keeps G1; M1 ends with G2, just when G3 is submitted.
fn submitted_beside_end<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
        match n {
            2 => {
                waits_at(sched, LOOKS);
                sched.observer().events.leaves(worker.m().0);
                sched.end(worker);
                None
            }
            _ => says_and_keeps(sched, worker),
        }
    }
    let sched = scripted::<H>(numbers(2, 2), 3, play::<H>);
    two_run(&sched);
    script(&sched).open(LOOKS);
    submit(&sched, 3, 3);
    outcome(&sched)
}

/// There may be one M. It ends with G1, just when G2 is submitted.
fn submitted_beside_the_only_end<H: ModelHost>() -> String {
    beside_the_only_end::<H>(1)
}

/// The same, while another P is idle: its M asks for no other M as it ends.
fn submitted_beside_the_only_end_of_two_ps<H: ModelHost>() -> String {
    beside_the_only_end::<H>(2)
}

fn beside_the_only_end<H: ModelHost>(procs: usize) -> String {
    fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64) -> Option<Worker> {
        if n == 2 {
            return says_and_keeps(sched, worker);
        }
        waits_at(sched, LOOKS);
        sched.observer().events.leaves(worker.m().0);
        sched.end(worker);
        None
    }
    let sched = scripted::<H>(numbers(procs, 1), 2, play::<H>);
    begin(&sched, 1);
    script(&sched).forget();
    script(&sched).open(LOOKS);
    submit(&sched, 2, 2);
    outcome(&sched)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::work_is_conserved_now::submitted", submitted,
        claim: "while an M keeps its G, what is submitted as another M idles its P and falls asleep is run",
        size: "2 Ps, 3 Ms, 1 G that keeps its M, 1 that ends, 1 that is submitted",
        invariants: [30, 36, 37],
        must_reach: ["slept"],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::readied", readied,
        claim: "what a G readies before it keeps its M for ever is run, though another M falls asleep meanwhile",
        size: "2 Ps, 3 Ms, 1 G that keeps its M, 1 that ends, 1 that is readied",
        invariants: [30, 36, 37],
        must_reach: ["slept", "stole"],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::spilled", spilled,
        claim: "what spills out of a full ring is run, though its M goes on for ever with what is left there",
        size: "2 Ps, 3 Ms, ring of 2, 5 Gs, of which one keeps its M",
        invariants: [30, 36, 37],
        must_reach: ["slept"],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::shared", shared,
        claim: "of two Gs for which no M was woken, an M keeps one for ever; the other, in its ring, is run",
        size: "2 Ps, 4 Ms, ring of 4, 2 Gs out of system calls, 2 that end",
        invariants: [30, 36, 37],
        must_reach: ["stole"],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::submitted_beside_block", submitted_beside_block,
        claim: "while an M keeps its G, what is submitted as another hands its P off is run",
        size: "2 Ps, 3 Ms, 1 G that keeps its M, 1 that blocks, 1 that is submitted",
        invariants: [30, 36, 37],
        must_reach: ["started"],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::readied_beside_block", readied_beside_block,
        claim: "what a G readies before it keeps its M for ever is run, though the only other M hands its P off and blocks",
        size: "2 Ps, 3 Ms, 1 G that keeps its M, 1 that blocks, 1 that is readied",
        invariants: [30, 36, 37],
        must_reach: ["started"],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::shared_beside_block", shared_beside_block,
        claim: "an M that saw an idle P hands its own off as that one is taken: of two Gs for which no M was woken, \
            and of which an M keeps one for ever, the other is run",
        size: "2 Ps, 5 Ms, ring of 4, 2 Gs out of system calls, 1 that blocks, 1 that ends",
        invariants: [30, 36, 37],
        must_reach: [],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::submitted_beside_end", submitted_beside_end,
        claim: "there may be no third M: what is submitted as the second ends is run on one that is started then",
        size: "2 Ps, 2 Ms, 1 G that keeps its M, 1 that ends with its M, 1 that is submitted",
        invariants: [2, 30, 36, 37],
        must_reach: ["started", "refused"],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::submitted_beside_the_only_end", submitted_beside_the_only_end,
        claim: "there may be one M: what is submitted as it ends is run on one that is started then, without a monitor",
        size: "1 P, 1 M, 1 G that ends with its M, 1 that is submitted",
        invariants: [2, 30, 36, 37],
        must_reach: ["started", "refused"],
        runs: [rc11()]),
    crate::model!("sched::work_is_conserved_now::submitted_beside_the_only_end_of_two_ps", submitted_beside_the_only_end_of_two_ps,
        claim: "the same while another P is idle, so that the M which ends asks for no other",
        size: "2 Ps, 1 M, 1 G that ends with its M, 1 that is submitted",
        invariants: [2, 30, 36, 37],
        must_reach: ["started", "started, refused"],
        runs: [rc11()]),
];
