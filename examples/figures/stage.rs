//! One moment of a play, with the names that the figures use.

use super::scenarios::Play;
use spinpark::trace::{MFrame, MState, State};
use std::collections::BTreeMap;

/// The places.
pub(crate) struct Stage {
    pub(crate) ms: Vec<Thread>,
    pub(crate) ps: Vec<Proc>,
    /// The global queue, the oldest first.
    pub(crate) grq: Vec<&'static str>,
    /// The one that waits for timers and sockets.
    pub(crate) poller: Vec<&'static str>,
}

/// An M.
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) does: Does,
    pub(crate) g: Option<&'static str>,
    /// Which P it has, by its place in [`Stage::ps`].
    pub(crate) p: Option<usize>,
}

/// What an M does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    Executes,
    /// Its G is in a system call.
    IsBlocked,
    /// The system call of its G is over, but it has no P.
    WaitsForP,
    Seeks,
    Sleeps,
}

/// A P.
pub(crate) struct Proc {
    pub(crate) name: String,
    /// Its queue: the one that is to run next, then its ring, the oldest first.
    pub(crate) lrq: Vec<&'static str>,
}

impl Stage {
    /// After so many records.
    pub(crate) fn after(play: &Play, records: usize) -> Stage {
        let scene = play.trace.frame(records);
        let states = states(play, records);
        let name = |gs: &[u64]| gs.iter().map(|&g| play.name(g)).collect::<Vec<_>>();
        let is_one = scene.ps.len() == 1;
        let proc = |(n, p): (usize, &spinpark::trace::PFrame)| Proc {
            name: if is_one { "P".into() } else { format!("P{}", n + 1) },
            lrq: p.next.iter().chain(&p.ring).map(|&g| play.name(g)).collect(),
        };
        let is_there = |m: &MFrame| !matches!(m.state, MState::Absent | MState::Waking);
        let thread = |(n, m): (usize, &MFrame)| Thread {
            name: format!("M{}", n + 1),
            does: does(m, m.g.and_then(|g| states.get(&g).copied())),
            g: m.g.map(|g| play.name(g)),
            p: m.p.map(|p| p as usize),
        };
        let waits = |(&g, state): (&u64, &State)| matches!(state, State::Waiting(_)).then(|| play.name(g));
        Stage {
            ps: scene.ps.iter().enumerate().map(proc).collect(),
            ms: scene.ms.iter().enumerate().filter(|(_, m)| is_there(m)).map(thread).collect(),
            grq: name(&scene.global),
            poller: states.iter().filter_map(waits).collect(),
        }
    }

    /// In words.
    pub(crate) fn lines(&self) -> Vec<String> {
        let threads = self.ms.iter().map(|m| self.words(m));
        let procs = self.ps.iter().map(|p| format!("LRQ of {}: {}", p.name, list(&p.lrq)));
        let others = [format!("GRQ: {}", list(&self.grq)), format!("poller: {}", list(&self.poller))];
        threads.chain(procs).chain(others).collect()
    }

    fn words(&self, m: &Thread) -> String {
        let (name, g) = (&m.name, m.g.unwrap_or("nothing"));
        let under = m.p.map_or("without a P".into(), |p| format!("under {}", self.ps[p].name));
        match m.does {
            Does::Executes => format!("{name} executes {g} {under}"),
            Does::IsBlocked => format!("{name} is blocked with {g}, {under}"),
            Does::WaitsForP => format!("{name} waits with {g} for a P"),
            Does::Seeks => format!("{name} has no G, and looks for one {under}"),
            Does::Sleeps => format!("{name} is idle, and kept"),
        }
    }
}

fn does(m: &MFrame, g: Option<State>) -> Does {
    match (m.state, g) {
        (_, Some(State::Syscall)) => Does::IsBlocked,
        (_, Some(State::Runnable)) => Does::WaitsForP,
        (_, Some(_)) => Does::Executes,
        (MState::Sleeping | MState::Polling, None) => Does::Sleeps,
        (_, None) => Does::Seeks,
    }
}

/// What each G does after so many records.
fn states(play: &Play, records: usize) -> BTreeMap<u64, State> {
    let told = play.trace.records()[..records].iter();
    told.filter_map(|record| Some((record.g?, record.state()?))).collect()
}

fn list(gs: &[&str]) -> String {
    if gs.is_empty() { "empty".into() } else { gs.join(" ") }
}
