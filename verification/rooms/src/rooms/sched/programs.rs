//! Which programs there are of the whole scheduler, and which are played.
//!
//! A program has one operation or two, and few have three. Not all of two are played, as some have millions of executions: of two Ps and two Ms
//! only those beside a G that keeps its P; those of a G that hands its P off, or ends with its thread, and of a function under each P, only where
//! one P and one M have few. What is larger has some of the rest.

use super::{Does, Op, Role, Scheduled};
use crate::program::Program;
use crate::room::{Focus, Waiting};

/// What a G may do.
const DOES: [Does; 17] = {
    use Does::*;
    [
        Runs,
        Goyields,
        Yields,
        YieldsBound,
        Calls,
        CallsBound,
        Blocks,
        BlocksBound,
        IsInterrupted,
        Stops,
        Passes,
        Ends,
        Parks,
        CallsLong,
        Awaits,
        AwaitsParked,
        Keeps,
    ]
};

impl Does {
    /// Has it few executions beside others? One that hands its P off meets what comes in many more ways.
    fn is_light(self) -> bool {
        use Does::{AwaitsParked, Blocks, BlocksBound, Ends, Passes, Stops};
        !matches!(self, AwaitsParked | Blocks | BlocksBound | Ends | Passes | Stops)
    }

    /// The same where there are two Ps, and one M.
    fn is_light_on_two(self) -> bool {
        self.is_light() && self != Does::Yields || matches!(self, Does::Blocks | Does::BlocksBound)
    }

    /// Does it go on only if something else happens?
    fn waits(self) -> bool {
        matches!(self, Does::Parks | Does::CallsLong | Does::Keeps | Does::Awaits | Does::AwaitsParked)
    }
}

/// What a thread of this role that has done this may do next.
pub(super) fn may(role: Role, done: &[Op]) -> Vec<Op> {
    let party = [Op::Stop, Op::Resize, Op::ForEachP, Op::Tick, Op::Close];
    let one = DOES.map(Op::Submit).into_iter();
    match (role, done) {
        (Role::Both, []) => {
            let two = DOES.into_iter().filter(|does| !does.waits());
            one.chain(two.map(Op::SubmitTwo)).collect()
        }
        // What is closed waits for the G.
        (Role::Both, [Op::Submit(Does::Awaits), ..]) => party[..4].to_vec(),
        (Role::Both, [Op::Submit(Does::CallsLong), ..]) => party[..4].iter().copied().chain([Op::Ready]).collect(),
        (Role::Both, [Op::Submit(Does::Keeps), ..]) => {
            let ends = |does: &Does| !does.waits() && !matches!(does, Does::Stops | Does::Passes);
            DOES.into_iter().filter(ends).flat_map(|does| [Op::Submit(does), Op::SubmitTwo(does)]).collect()
        }
        // It may have the only M.
        (Role::Both, [Op::Submit(Does::Parks), ..]) => party.into_iter().chain([Op::Ready]).collect(),
        (Role::Both, _) => party.into_iter().chain([Op::Submit(Does::Runs)]).collect(),
        (Role::Submits, _) => one.filter(|op| !matches!(op, Op::Submit(does) if does.waits())).collect(),
        (Role::Party, _) => party.to_vec(),
    }
}

/// What a program does: its threads one after the other.
fn ops_of(program: &Program<Scheduled>) -> Vec<Op> {
    program.threads.iter().flat_map(|thread| thread.steps.iter().map(|step| step.op)).collect()
}

/// Is this program of a small shape played?
pub(super) fn is_small(program: &Program<Scheduled>) -> bool {
    let (procs, max_ms, refused) = program.setup.size();
    let is_one = (procs, max_ms) == (1, 1);
    // A second M makes more of those that yield.
    let is_light = |does: &Does| does.is_light() && (max_ms == 1 || !matches!(does, Does::Yields | Does::YieldsBound));
    match (program.threads.len(), &ops_of(program)[..]) {
        _ if (procs, max_ms) == (2, 2) => false,
        (2, ops) => is_one && is_small_beside(ops),
        (_, [Op::SubmitTwo(Does::Ends)]) => is_one,
        (_, [Op::Submit(does) | Op::SubmitTwo(does)]) => *does != Does::Passes || max_ms == 1,
        (_, [Op::Submit(Does::Keeps), _]) => false,
        _ if refused > 0 => false,
        (_, [_, Op::Ready]) => true,
        (_, [Op::Submit(does), Op::Close | Op::Submit(_)]) => match (procs, max_ms) {
            (1, 1) => *does != Does::Ends,
            (1, _) => is_light(does) && *does != Does::Parks,
            _ => does.is_light_on_two(),
        },
        (_, [Op::SubmitTwo(does), Op::Close | Op::Submit(_)]) => is_light(does) && procs == 1,
        (_, [Op::Submit(does) | Op::SubmitTwo(does), Op::Stop]) => is_light(does) && procs == 1,
        _ => false,
    }
}

/// The same of two threads that do something each.
fn is_small_beside(ops: &[Op]) -> bool {
    match ops {
        [Op::Submit(Does::Runs), Op::Submit(does)] => *does != Does::Ends,
        [Op::Submit(one), Op::Submit(other)] => one == other && matches!(one, Does::BlocksBound | Does::YieldsBound),
        [_, Op::Close] => !ops.contains(&Op::ForEachP),
        [Op::Submit(does), Op::Stop] => does.is_light() || *does == Does::BlocksBound,
        [Op::Submit(does), Op::Tick | Op::Resize] => matches!(does, Does::Runs | Does::YieldsBound),
        [Op::Stop, other] => *other != Op::ForEachP,
        [Op::Tick, Op::Tick] => true,
        _ => false,
    }
}

fn is_both(role: Role, _: Op, _: Option<Waiting>) -> bool {
    role == Role::Both
}

/// Larger shapes, and larger schedulers.
pub(super) fn focuses() -> Vec<Focus<Scheduled>> {
    // Whatever waits for the world, or for the P of a call, does not wait for the call's end.
    let lasts = |role, op, _| {
        role == Role::Both && matches!(op, Op::Submit(Does::CallsLong) | Op::Stop | Op::Resize | Op::Tick | Op::Ready)
    };
    let goes_on = |program: &Program<Scheduled>| {
        let ops = ops_of(program);
        program.setup.procs == 1 && program.setup.refused == 0 && ops[1] != Op::Ready && ops[2] == Op::Ready
    };
    // A P is wanted as it is used.
    let is_wanted = |program: &Program<Scheduled>| match (program.setup.size(), &ops_of(program)[..]) {
        ((1, 1, _), [Op::Submit(does), Op::Tick]) => does.is_light() && *does != Does::Calls,
        ((1, 1, _), [Op::Submit(Does::CallsBound) | Op::SubmitTwo(Does::Runs), Op::ForEachP]) => true,
        ((1, 1, _), [Op::Submit(does), Op::Resize | Op::ForEachP]) => {
            use Does::{CallsLong, IsInterrupted, Parks, Runs, YieldsBound};
            matches!(does, Runs | YieldsBound | IsInterrupted | Parks | CallsLong)
        }
        ((2, 1, _), [Op::Submit(does), Op::Resize]) => does.is_light_on_two(),
        _ => false,
    };
    // There are two Ps.
    let are_two = |program: &Program<Scheduled>| {
        let is_played = match ops_of(program)[..] {
            [Op::Submit(does)] => !matches!(does, Does::Passes | Does::AwaitsParked),
            [Op::SubmitTwo(does)] => does == Does::Runs,
            _ => false,
        };
        program.setup.size() == (2, 2, 0) && is_played
    };
    // A G keeps one of them for ever.
    let is_kept = |program: &Program<Scheduled>| match ops_of(program)[..] {
        _ if program.setup.size() != (2, 2, 0) => false,
        [Op::Submit(Does::Keeps), Op::SubmitTwo(does)] => does == Does::Runs,
        [Op::Submit(Does::Keeps), Op::Submit(does)] => {
            matches!(does, Does::Runs | Does::Goyields | Does::BlocksBound | Does::IsInterrupted)
        }
        _ => false,
    };
    vec![
        Focus { is_played: goes_on, ..Focus::new(&[3], lasts) },
        Focus { is_played: is_wanted, ..Focus::new(&[2], is_both) },
        Focus { is_played: are_two, ..Focus::new(&[1], is_both) },
        Focus { is_played: is_kept, ..Focus::new(&[2], is_both) },
    ]
}

/// Those that take minutes.
pub(super) fn larger() -> Vec<Focus<Scheduled>> {
    // A P is handed off beside what wants one.
    let hands_off = |program: &Program<Scheduled>| {
        use Does::{BlocksBound, CallsBound, Ends, Runs};
        matches!(
            (program.setup.size(), &ops_of(program)[..]),
            ((1, 1, _), [Op::Submit(Ends), Op::Submit(Runs) | Op::Stop])
                | ((1, 1, _), [Op::Submit(BlocksBound), Op::ForEachP | Op::Resize | Op::Tick])
                | ((1, 2, 0), [Op::Submit(BlocksBound), Op::Submit(Runs)])
                | ((1, 2, 0), [Op::SubmitTwo(CallsBound), Op::Tick])
        )
    };
    // All Ps are wanted by two at once.
    let is_party = |role, op, _| role == Role::Party && matches!(op, Op::Stop | Op::Resize | Op::ForEachP);
    let wants_all =
        |program: &Program<Scheduled>| program.setup.size() == (1, 1, 0) && !is_small_beside(&ops_of(program));
    vec![
        Focus { is_played: hands_off, ..Focus::new(&[2], is_both) },
        Focus { is_played: wants_all, ..Focus::new(&[1, 1], is_party) },
    ]
}
