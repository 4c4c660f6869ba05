//! Each invariant of the whole scheduler can fail: a short wrong list of facts that breaks it and no other, and the same list
//! put right.

use spinpark_kernel::protocol::locked::Woken;
use spinpark_kernel::sched::observer::Event;
use spinpark_kernel::sched::snapshot::Snapshot;
use spinpark_kernel::types::m::MId;
use spinpark_verification::checker::Checker;
use spinpark_verification::checker::facts::Fact;
use spinpark_verification::checker::invariants::*;

/// All sleep, nothing waits: two Ps, one M.
fn at_rest() -> Snapshot {
    Snapshot {
        procs: 2,
        local: vec![0, 0],
        global: 0,
        idle_ps: 2,
        masks_agree: true,
        nmspinning: 0,
        sleeping: 1,
        alive: 1,
        polling: 0,
        waiting: 0,
        bound: 0,
        detached: 0,
        may_start: true,
        in_syscall: 0,
        held: 0,
        refused: 0,
    }
}

fn told(facts: &[Fact]) -> Result<(), Violation> {
    let mut checker = Checker::new(2);
    facts.iter().cloned().try_for_each(|fact| checker.tell(fact))
}

/// The last fact of `wrong` breaks `of`. With `right` in its place nothing is broken.
#[track_caller]
fn breaks(of: Invariant, before: &[Fact], wrong: Fact, right: Fact) {
    told(before).expect("what comes before is right");
    let facts = |last: Fact| before.iter().cloned().chain([last]).collect::<Vec<_>>();
    assert_eq!(told(&facts(wrong)).expect_err("it is wrong").of, of);
    told(&facts(right)).expect("and this is right");
}

fn runs(g: u64, p: u32) -> Fact {
    Fact::Runs { g, p, data: g }
}

/// G1 was found by M0 and runs under P0.
fn one_runs() -> Vec<Fact> {
    vec![Fact::Queued(1), Fact::Found { g: 1, m: 0 }, runs(1, 0)]
}

fn one_is_over() -> Vec<Fact> {
    [one_runs(), vec![Fact::Leaves { g: 1, p: 0 }, Fact::Ends(1)]].concat()
}

mod each_invariant_can_fail {
    use super::*;

    #[test]
    fn what_was_done_before_is_seen() {
        breaks(NO_G_IS_LOST, &one_runs()[..2], Fact::Runs { g: 1, p: 0, data: 0 }, runs(1, 0));
    }

    #[test]
    fn a_g_is_found_once() {
        let second = Fact::Found { g: 1, m: 1 };
        breaks(NO_G_RUNS_TWICE, &one_runs(), second, Fact::Leaves { g: 1, p: 0 });
    }

    #[test]
    fn a_g_is_queued_once() {
        breaks(NO_G_RUNS_TWICE, &[Fact::Queued(1)], Fact::Queued(1), Fact::Queued(2));
    }

    #[test]
    fn a_g_that_is_over_does_not_run() {
        breaks(NO_G_RUNS_TWICE, &one_is_over(), runs(1, 0), Fact::Queued(2));
    }

    #[test]
    fn a_p_runs_one_g() {
        let two = [one_runs(), vec![Fact::Queued(2), Fact::Found { g: 2, m: 1 }]].concat();
        breaks(ONE_OWNER, &two, runs(2, 0), runs(2, 1));
    }

    #[test]
    fn no_more_gs_run_than_there_are_ps() {
        let found = |g| [Fact::Queued(g), Fact::Found { g, m: g as u32 }];
        let facts = [found(1).to_vec(), found(2).to_vec(), found(3).to_vec(), vec![runs(1, 0), runs(2, 1)]].concat();
        breaks(ONE_OWNER, &facts, runs(3, 2), Fact::Leaves { g: 1, p: 0 });
    }

    #[test]
    fn who_sleeps_finds_nothing() {
        let facts = [Fact::Slept(0), Fact::Queued(1)];
        breaks(SLEEPERS_RUN_NOTHING, &facts, Fact::Found { g: 1, m: 0 }, Fact::Found { g: 1, m: 1 });
    }

    #[test]
    fn who_does_not_sleep_is_not_woken() {
        let facts = [Fact::Slept(0), Fact::Queued(1), Fact::Woken(0)];
        breaks(ONE_WAKE_A_SLEEP, &facts, Fact::Woken(0), Fact::Slept(0));
    }

    #[test]
    fn who_sleeps_does_not_fall_asleep() {
        breaks(ONE_WAKE_A_SLEEP, &[Fact::Slept(0)], Fact::Slept(0), Fact::Slept(1));
    }

    #[test]
    fn who_sleeps_is_not_started() {
        breaks(ONE_WAKE_A_SLEEP, &[Fact::Slept(0), Fact::Queued(1)], Fact::Starting(0), Fact::Starting(1));
    }

    #[test]
    fn the_world_is_stopped_when_nobody_runs() {
        let stopped = Fact::Stopped { held: 2, procs: 2 };
        breaks(A_STOPPED_WORLD_STANDS_STILL, &one_runs(), stopped.clone(), Fact::Leaves { g: 1, p: 0 });
        breaks(A_STOPPED_WORLD_STANDS_STILL, &one_is_over(), Fact::Stopped { held: 1, procs: 2 }, stopped);
    }

    #[test]
    fn nobody_runs_while_the_world_is_stopped() {
        let facts = [one_runs()[..2].to_vec(), vec![Fact::Stopped { held: 2, procs: 2 }]].concat();
        breaks(A_STOPPED_WORLD_STANDS_STILL, &facts, runs(1, 0), Fact::Started { procs: 2 });
    }

    #[test]
    fn a_safepoint_runs_under_each_p() {
        let passed = |p| Fact::Passed { round: 0, p };
        breaks(ONCE_UNDER_EACH_P, &[passed(0)], Fact::Over { round: 0, procs: 2 }, passed(1));
        breaks(ONCE_UNDER_EACH_P, &[passed(0)], passed(0), Fact::Passed { round: 1, p: 0 });
    }

    #[test]
    fn a_bound_g_stays() {
        let back = |now| Fact::Bound { g: 1, bound: 3, now };
        breaks(BOUND_GS_STAY, &one_runs(), back(4), back(3));
    }

    #[test]
    fn no_deadlock_is_reported_that_is_none() {
        let told = |why, may_lack_threads| Fact::WaitEnded { why, may_lack_threads };
        breaks(NO_FALSE_DEADLOCK, &[], told(Woken::Deadlock, true), told(Woken::Ready, false));
        breaks(NO_FALSE_DEADLOCK, &[], told(Woken::NoThread, false), told(Woken::NoThread, true));
    }

    #[test]
    fn no_m_is_woken_without_a_cause() {
        let facts = [Fact::Slept(0), Fact::Slept(1), Fact::Queued(1), Fact::Woken(0)];
        breaks(NO_WAKE_WITHOUT_CAUSE, &facts, Fact::Woken(1), Fact::Queued(2));
    }

    #[test]
    fn all_is_quiet_only_if_it_is() {
        let quiet = |change: fn(&mut Snapshot)| {
            let mut snapshot = at_rest();
            change(&mut snapshot);
            Fact::Quiet(snapshot)
        };
        let facts = [one_is_over(), vec![Fact::Slept(0)]].concat();
        let right = || quiet(|_| ());
        breaks(WORK_IS_CONSERVED, &facts, quiet(|s| s.global = 1), right());
        breaks(WORK_IS_CONSERVED, &facts, quiet(|s| s.local[1] = 1), right());
        breaks(NOBODY_SPINS, &facts, quiet(|s| s.nmspinning = 1), right());
        breaks(EVERY_P_IS_IDLE, &facts, quiet(|s| s.idle_ps = 1), right());
        breaks(LISTS_AGREE, &facts, quiet(|s| s.masks_agree = false), right());
        breaks(MS_ARE_ACCOUNTED_FOR, &facts, quiet(|s| s.alive = 2), right());
        breaks(MS_ARE_ACCOUNTED_FOR, &facts, quiet(|s| s.sleeping = 0), right());
    }

    #[test]
    fn events_are_true() {
        let woken = |before: &[Event<'_>]| {
            let mut checker = Checker::new(2);
            checker.tell(Fact::Causes(2)).expect("nothing is wrong yet");
            before.iter().chain([&Event::Woken { m: MId(0) }]).try_for_each(|event| checker.hear(event))
        };
        let (starts, sleeps) = (Event::Starting { m: MId(0) }, Event::Slept { m: MId(0), sleeping: 1, alive: 1 });
        assert_eq!(woken(&[starts]).expect_err("it did not sleep").of, EVENTS_ARE_TRUE);
        woken(&[starts, sleeps]).expect("it slept");
    }

    #[test]
    fn every_g_ends() {
        let facts = [one_is_over(), vec![Fact::Slept(0), Fact::Queued(2)]].concat();
        let end = vec![Fact::Found { g: 2, m: 1 }, runs(2, 0), Fact::Leaves { g: 2, p: 0 }, Fact::Ends(2)];
        assert_eq!(
            told(&[facts.clone(), vec![Fact::Quiet(at_rest())]].concat()).expect_err("G2 waits").of,
            EVERY_G_ENDS
        );
        told(&[facts, end, vec![Fact::Quiet(at_rest())]].concat()).expect("G2 is over");
    }
}

#[test]
fn no_invariant_is_left_out() {
    let source: String = include_str!("checker.rs").split_whitespace().collect();
    let names = include_str!("../../verification/src/checker/invariants.rs")
        .lines()
        .filter_map(|line| line.trim().split_once(" = "));
    let names: Vec<&str> = names.filter(|(_, rest)| rest.contains(": \"")).map(|(name, _)| name).collect();
    assert_eq!(names.len(), INVARIANTS.len());
    for name in names {
        let broken = source.contains(&format!("breaks({name},")) || source.contains(&format!(".of,{name}"));
        assert!(broken, "{name} was never broken");
    }
}
