//! Rules that are wrong. A check that refutes none of them would see nothing.

/// A rule that is not the scheduler's. Some are Go's, where this scheduler differs on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Wrong {
    /// A thief takes half, rounded down.
    StealsHalfRoundedDown = 1,
    /// A thief runs the last that it took. (Go's.)
    RunsTheLastItStole,
    /// `runnext` is stolen in any pass.
    StealsRunnextAtOnce,
    /// The global queue has no turn of its own.
    NoGlobalTurn,
    /// A turn that is asked for is not taken.
    AskedTurnIsNotTaken,
    /// Turns that are asked for serve the global queue twice in a row.
    TwoAskedTurnsInARow,
    /// A turn that was asked for once stays asked for, whichever M has the P.
    AskedTurnStaysAskedFor,
    /// A turn that was asked for takes the place of the next by count, which comes later than promised.
    AskedTurnReplacesTheNext,
    /// What a turn finds that is asked for waits behind what runs for long.
    AskedTurnQueuesAll,
    /// A turn that is asked for does not look into the poller if an M did a moment ago.
    AskedTurnLeavesThePoller,
    /// A P gives half of its ring to one that looks, though it dispatches.
    RelievesWhoRuns,
    /// A P that dispatches nothing is relieved at turns by count too, which may be microseconds apart.
    RelievesAtEachTurn,
    /// A P that dispatches nothing gives what is to run next too.
    RelievesOfRunnext,
    /// What a P was relieved of counts as one's own, so that the next turn may be asked for again.
    RelievesTwiceInARow,
    /// A P that dispatches nothing gives to one with as many Gs.
    RelievesWhoHasFewer,
    /// `runnext` comes first, however often it did. (Go's.)
    RunnextWithoutBound,
    /// A share of the global queue may be more than half a ring.
    ShareWithoutBound,
    /// The M that sleeps longest is woken.
    WakesWhoSleepsLongest,
    /// The P that is idle longest is used.
    UsesThePThatIsIdleLongest,
    /// An M is woken though one spins.
    WakesThoughSomebodyLooks,
    /// The last to find work wakes no M.
    PassesNoBaton,
    /// The last to find work wakes another, though nothing is left to be found. (Go's.)
    PassesTheBatonForNothing,
    /// What the source has is not taken at the global queue's turn.
    LeavesTheSourceAtTheTurn,
    /// A turn that finds one G wakes an M for it, though it is run next.
    WakesForWhatItRunsNext,
    /// A turn wakes no M, whatever it finds.
    WakesNobodyAtTheTurn,
    /// A full ring spills only the G that did not fit.
    SpillsOnlyTheNewG,
    /// A full ring that spills wakes no M. (Go's, in `goyield`.)
    SpillsAndWakesNobody,
    /// The monitor waits one tick longer.
    RetakesOneTickLate,
    /// The monitor looks only at the system call, not at the slice. (golang/go #28701.)
    ForgetsTheSlice,
    /// A G that gets an idle P has run since that was dispatched under last. (Go's.)
    IdleTimeIsOfASlice,
    /// An M that returns takes an idle P before its own, which is in another's call.
    TakesAnIdlePFirst,
    /// A preempted G takes its own P back before another M has it.
    ReattachesToThePItLost,
    /// A preempted G takes an idle P while its own is still in its word.
    ReattachesBesideThePItLost,
    /// A preempted G that goes on under an idle P counts as detached no more.
    ReattachedCountsNoMore,
    /// A P is handed on to no M, though none looks and no P is idle. (golang/go's `handoffp` looks earlier.)
    HandsOnWithoutALook,
    /// A P that is in a system call is left there by a stop.
    LeavesPsInSyscalls,
    /// Of those that want to stop the world the last comes first.
    LastStopperFirst,
    /// What a P that ends still holds goes behind what waits.
    ResizeQueuesBehind,
    /// The Ps that are idle after a stop are used in another order.
    StartsInAnotherOrder,
    /// A wake that comes before its wait is forgotten.
    ForgetsAnEarlyWake,
    /// Of those that wait for ever the youngest is told.
    TellsTheYoungest,
    /// A refused P is idled with its Gs, and no M asks for a spinning one.
    RefusedAndForgotten,
}

impl Wrong {
    /// All of them.
    pub const ALL: [Wrong; 42] = [
        Wrong::StealsHalfRoundedDown,
        Wrong::RunsTheLastItStole,
        Wrong::StealsRunnextAtOnce,
        Wrong::NoGlobalTurn,
        Wrong::AskedTurnIsNotTaken,
        Wrong::TwoAskedTurnsInARow,
        Wrong::AskedTurnStaysAskedFor,
        Wrong::AskedTurnReplacesTheNext,
        Wrong::AskedTurnQueuesAll,
        Wrong::AskedTurnLeavesThePoller,
        Wrong::RelievesWhoRuns,
        Wrong::RelievesAtEachTurn,
        Wrong::RelievesOfRunnext,
        Wrong::RelievesTwiceInARow,
        Wrong::RelievesWhoHasFewer,
        Wrong::RunnextWithoutBound,
        Wrong::ShareWithoutBound,
        Wrong::WakesWhoSleepsLongest,
        Wrong::UsesThePThatIsIdleLongest,
        Wrong::WakesThoughSomebodyLooks,
        Wrong::PassesNoBaton,
        Wrong::PassesTheBatonForNothing,
        Wrong::LeavesTheSourceAtTheTurn,
        Wrong::WakesForWhatItRunsNext,
        Wrong::WakesNobodyAtTheTurn,
        Wrong::SpillsOnlyTheNewG,
        Wrong::SpillsAndWakesNobody,
        Wrong::RetakesOneTickLate,
        Wrong::ForgetsTheSlice,
        Wrong::IdleTimeIsOfASlice,
        Wrong::TakesAnIdlePFirst,
        Wrong::ReattachesToThePItLost,
        Wrong::ReattachesBesideThePItLost,
        Wrong::ReattachedCountsNoMore,
        Wrong::HandsOnWithoutALook,
        Wrong::LeavesPsInSyscalls,
        Wrong::LastStopperFirst,
        Wrong::ResizeQueuesBehind,
        Wrong::StartsInAnotherOrder,
        Wrong::ForgetsAnEarlyWake,
        Wrong::TellsTheYoungest,
        Wrong::RefusedAndForgotten,
    ];
}
