//! Which moment of which play each figure shows.

use super::scenarios::{self, Play, SEED, THREADS};
use super::stage::Stage;
use spinpark::kernel::protocol::sources::SearchOrder;
use spinpark::trace::{Record, State, What};

/// It has this state from now on.
pub(crate) fn is(state: State) -> impl Fn(&Record) -> bool {
    move |record| record.state() == Some(state)
}

impl Play {
    /// When `name` first does that.
    pub(crate) fn when(&self, name: &str, state: State) -> Stage {
        Stage::after(self, self.until(name, is(state)))
    }

    /// When the M that ran `name` looks for another G, because there is none under its P.
    pub(crate) fn when_nothing_is_left_after(&self, name: &str) -> Stage {
        let over = self.until(name, is(State::Dead));
        let records = self.trace.records();
        let m = records[over - 1].m;
        let seeks = records[over..].iter().position(|record| record.m == m && record.what == What::Spinning);
        Stage::after(self, over + 1 + seeks.expect("it looks"))
    }

    /// When `name` waits for its turn again, after it has run.
    pub(crate) fn when_back(&self, name: &str) -> Stage {
        let ran = self.until(name, is(State::Executing));
        let is_back = |record: &Record| record.g.is_some_and(|g| self.name(g) == name) && is(State::Runnable)(record);
        let back = self.trace.records()[ran..].iter().position(is_back).expect("it comes back");
        Stage::after(self, ran + 1 + back)
    }
}

/// Figures 3 to 5.
pub(crate) fn network() -> Vec<Stage> {
    let play = scenarios::the_network_poller(SEED);
    vec![play.when("G1", State::Executing), play.when("G2", State::Executing), play.when_back("G1")]
}

/// Figures 6 to 8.
pub(crate) fn syscall() -> Vec<Stage> {
    let play = scenarios::a_blocking_system_call(SEED);
    vec![play.when("G1", State::Executing), play.when("G2", State::Executing), play.when_back("G1")]
}

/// Figures 9 to 13.
pub(crate) fn stealing() -> Vec<Stage> {
    let play = scenarios::work_stealing(SEED, SearchOrder::StealFirst);
    vec![
        play.when("G9", State::Runnable),
        play.when_nothing_is_left_after("G8"),
        play.when("G3", State::Executing),
        play.when_nothing_is_left_after("G7"),
        play.when("G9", State::Executing),
    ]
}

/// Figures 14 and 15.
pub(crate) fn threads() -> Play {
    scenarios::threads_that_play(THREADS, 3)
}

/// Figures 16 and 17.
pub(crate) fn goroutines() -> Play {
    scenarios::goroutines_that_play(scenarios::builder().procs(1).deterministic(SEED), 3)
}
