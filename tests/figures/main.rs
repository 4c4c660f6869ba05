//! Figures 3 to 17 of the document this project began with (a text on Go's scheduler), played on the runtime and told by
//! its trace. docs/guide/figures.md shows them.
//!
//! Where the figures and the runtime part, the comment says so. Ms and Ps have the figures' numbers: M1 is the trace's M0.

#[path = "../../examples/figures/figures.rs"]
mod figures;
#[path = "../../examples/figures/lifelines.rs"]
mod lifelines;
#[path = "../../examples/figures/pictures.rs"]
mod pictures;
#[path = "../../examples/figures/scenarios.rs"]
mod scenarios;
#[path = "../../examples/figures/scene.rs"]
mod scene;
#[path = "../../examples/figures/stage.rs"]
mod stage;
#[path = "../../examples/figures/svg.rs"]
mod svg;

mod a_blocking_system_call;
mod goroutines_that_play_ping_pong;
mod the_network_poller;
mod the_pictures;
mod threads_that_play_ping_pong;
mod work_stealing;

use spinpark::trace::{Record, State, What};

/// How often that is told.
fn count(play: &scenarios::Play, is: impl Fn(&&Record) -> bool) -> usize {
    play.trace.records().iter().filter(is).count()
}

/// All turns of both players, one after the other.
fn executions(play: &scenarios::Play) -> Vec<&Record> {
    play.trace.records().iter().filter(|record| record.state() == Some(State::Executing)).collect()
}

fn is_start(record: &&Record) -> bool {
    record.what == What::Starting
}
