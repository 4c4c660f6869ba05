//! The whole scheduler, compared with lists, while one moves at a time: which M gets which G from where, which is woken with
//! which P, which sleeps, and what is left, after each of some hundred moves of Ms, outsiders and the monitor.

use spinpark_proptests::machine::{check, refute};
use spinpark_proptests::oracle::sched::{Machine, Wrong};

const CASES: u32 = 3000;
const MOVES: usize = 120;

#[test]
fn the_scheduler_answers_as_lists_would() {
    let seen = check::<Machine<0>>(CASES, MOVES);
    seen.must_have(&[
        "found at the global queue's turn",
        "found locally",
        "found in the global queue",
        "found in the source",
        "stolen",
        "several were stolen",
        "runnext was stolen",
        "runnext had its turns",
        "a share was more than one",
        "spilled",
        "enough look already",
        "the source was emptied at the global queue's turn",
        "a turn was asked for",
        "a turn that was asked for was not due",
        "what a turn found that was asked for runs next",
        "a turn that was asked for looked again soon",
        "a P was relieved that dispatches nothing",
        "the last to find work left nothing, and woke nobody",
    ]);
    seen.must_have(&[
        "a sleeper was woken",
        "an M woke spuriously",
        "nobody was woken, for somebody looks",
        "who was about to sleep was asked to look",
        "who was about to idle its P was asked to look",
        "a start was refused",
        "there could be no more Ms",
        "a P that nobody could run held Gs",
        "the monitor tried again to get an M",
    ]);
    seen.must_have(&[
        "back, and the P was kept",
        "back, and the P was taken back",
        "back, and a P was idle",
        "back, and queued",
        "back, and a P came later",
        "retaken",
        "a G was asked to yield",
        "a P with work was handed on",
        "a P was handed on because a spinning M was asked for",
        "a P was handed on because nobody looks",
    ]);
    seen.must_have(&[
        "a ticket was served",
        "a bound G yielded",
        "it was readied before it waited",
        "who waited got an idle P",
        "a P that nobody looks for went to who waits",
        "a deadlock was told",
        "one of several that wait was told",
        "it was told that no M is left",
        "closed while a G waits",
    ]);
    seen.must_have(&[
        "stopped while a G is in a system call",
        "one stood in line",
        "a safepoint was passed",
        "a safepoint was passed while a G is in a system call",
        "several Ps had work when the world was started",
        "a P that ended held Gs, and others waited",
        "more Ps",
    ]);
    println!("{seen}");
}

/// Alive: each of these rules is refuted, in no more than a dozen moves; one that needs two Ps relieved in as many more as that takes.
mod a_wrong_rule_is_refuted_in_a_dozen_moves {
    use super::*;

    const CASES: u32 = 5000;

    fn refuted<const WRONG: u8>() {
        refuted_in::<WRONG>(12);
    }

    fn refuted_in<const WRONG: u8>(at_most: usize) {
        let refuted = refute::<Machine<WRONG>>(CASES);
        let moves = refuted.ops.len();
        assert!(moves <= at_most, "{:?} took {moves} moves:\n{refuted}", Wrong::ALL[usize::from(WRONG) - 1]);
    }

    #[test]
    fn a_thief_takes_half_rounded_down() {
        refuted::<{ Wrong::StealsHalfRoundedDown as u8 }>();
    }
    #[test]
    fn a_thief_runs_the_last_that_it_took() {
        refuted::<{ Wrong::RunsTheLastItStole as u8 }>();
    }
    #[test]
    fn runnext_is_stolen_in_any_pass() {
        refuted::<{ Wrong::StealsRunnextAtOnce as u8 }>();
    }
    #[test]
    fn the_global_queue_has_no_turn_of_its_own() {
        refuted::<{ Wrong::NoGlobalTurn as u8 }>();
    }
    #[test]
    fn a_turn_that_is_asked_for_is_not_taken() {
        refuted::<{ Wrong::AskedTurnIsNotTaken as u8 }>();
    }
    #[test]
    fn two_turns_in_a_row_that_are_asked_for_serve_the_global_queue() {
        refuted::<{ Wrong::TwoAskedTurnsInARow as u8 }>();
    }
    #[test]
    fn a_turn_that_was_asked_for_once_stays_asked_for() {
        refuted::<{ Wrong::AskedTurnStaysAskedFor as u8 }>();
    }
    #[test]
    fn a_turn_that_is_asked_for_takes_the_place_of_the_next_by_count() {
        refuted::<{ Wrong::AskedTurnReplacesTheNext as u8 }>();
    }
    #[test]
    fn what_a_turn_finds_that_is_asked_for_waits_behind_the_others() {
        refuted::<{ Wrong::AskedTurnQueuesAll as u8 }>();
    }
    #[test]
    fn a_turn_that_is_asked_for_leaves_the_poller_to_who_looked_a_moment_ago() {
        refuted::<{ Wrong::AskedTurnLeavesThePoller as u8 }>();
    }
    #[test]
    fn a_p_is_relieved_though_it_dispatches() {
        refuted::<{ Wrong::RelievesWhoRuns as u8 }>();
    }
    #[test]
    fn a_p_is_relieved_at_each_turn() {
        refuted::<{ Wrong::RelievesAtEachTurn as u8 }>();
    }
    #[test]
    fn a_p_is_relieved_of_what_runs_next() {
        refuted::<{ Wrong::RelievesOfRunnext as u8 }>();
    }
    #[test]
    fn a_p_is_relieved_twice_in_a_row() {
        refuted_in::<{ Wrong::RelievesTwiceInARow as u8 }>(24);
    }
    #[test]
    fn a_p_is_relieved_by_one_with_as_many() {
        refuted::<{ Wrong::RelievesWhoHasFewer as u8 }>();
    }
    #[test]
    fn runnext_comes_first_however_often_it_did() {
        refuted::<{ Wrong::RunnextWithoutBound as u8 }>();
    }
    #[test]
    fn a_share_may_be_more_than_half_a_ring() {
        refuted::<{ Wrong::ShareWithoutBound as u8 }>();
    }
    #[test]
    fn the_m_that_sleeps_longest_is_woken() {
        refuted::<{ Wrong::WakesWhoSleepsLongest as u8 }>();
    }
    #[test]
    fn the_p_that_is_idle_longest_is_used() {
        refuted::<{ Wrong::UsesThePThatIsIdleLongest as u8 }>();
    }
    #[test]
    fn somebody_is_woken_though_somebody_looks() {
        refuted::<{ Wrong::WakesThoughSomebodyLooks as u8 }>();
    }
    #[test]
    fn the_last_to_find_work_wakes_nobody() {
        refuted::<{ Wrong::PassesNoBaton as u8 }>();
    }
    #[test]
    fn the_last_to_find_work_wakes_another_for_nothing() {
        refuted::<{ Wrong::PassesTheBatonForNothing as u8 }>();
    }
    #[test]
    fn the_source_waits_at_the_global_queues_turn() {
        refuted::<{ Wrong::LeavesTheSourceAtTheTurn as u8 }>();
    }
    #[test]
    fn a_turn_wakes_an_m_for_what_is_run_next() {
        refuted::<{ Wrong::WakesForWhatItRunsNext as u8 }>();
    }
    #[test]
    fn a_turn_wakes_nobody_for_what_has_to_wait() {
        refuted::<{ Wrong::WakesNobodyAtTheTurn as u8 }>();
    }
    #[test]
    fn a_full_ring_spills_only_the_g_that_did_not_fit() {
        refuted::<{ Wrong::SpillsOnlyTheNewG as u8 }>();
    }
    #[test]
    fn a_full_ring_spills_and_wakes_nobody() {
        refuted::<{ Wrong::SpillsAndWakesNobody as u8 }>();
    }
    #[test]
    fn the_monitor_retakes_one_tick_late() {
        refuted::<{ Wrong::RetakesOneTickLate as u8 }>();
    }
    #[test]
    fn the_monitor_forgets_the_slice() {
        refuted::<{ Wrong::ForgetsTheSlice as u8 }>();
    }
    #[test]
    fn the_time_a_p_is_idle_counts_as_its_next_gs() {
        refuted::<{ Wrong::IdleTimeIsOfASlice as u8 }>();
    }
    #[test]
    fn who_returns_takes_an_idle_p_before_its_own() {
        refuted::<{ Wrong::TakesAnIdlePFirst as u8 }>();
    }
    #[test]
    fn a_preempted_g_takes_back_the_p_that_it_lost() {
        refuted::<{ Wrong::ReattachesToThePItLost as u8 }>();
    }
    #[test]
    fn a_preempted_g_takes_an_idle_p_though_its_own_was_not_taken() {
        refuted::<{ Wrong::ReattachesBesideThePItLost as u8 }>();
    }
    #[test]
    fn a_preempted_g_counts_as_detached_no_more_when_it_has_a_p() {
        refuted::<{ Wrong::ReattachedCountsNoMore as u8 }>();
    }
    #[test]
    fn a_p_is_idled_though_nobody_looks() {
        refuted::<{ Wrong::HandsOnWithoutALook as u8 }>();
    }
    #[test]
    fn a_stop_leaves_ps_in_system_calls() {
        refuted::<{ Wrong::LeavesPsInSyscalls as u8 }>();
    }
    #[test]
    fn the_last_stopper_comes_first() {
        refuted::<{ Wrong::LastStopperFirst as u8 }>();
    }
    #[test]
    fn what_a_p_that_ends_holds_goes_behind_what_waits() {
        refuted::<{ Wrong::ResizeQueuesBehind as u8 }>();
    }
    #[test]
    fn the_ps_are_used_in_another_order_after_a_stop() {
        refuted::<{ Wrong::StartsInAnotherOrder as u8 }>();
    }
    #[test]
    fn a_wake_before_the_wait_is_forgotten() {
        refuted::<{ Wrong::ForgetsAnEarlyWake as u8 }>();
    }
    #[test]
    fn the_youngest_is_told_of_a_deadlock() {
        refuted::<{ Wrong::TellsTheYoungest as u8 }>();
    }
    #[test]
    fn a_refused_p_is_forgotten() {
        refuted::<{ Wrong::RefusedAndForgotten as u8 }>();
    }
}
