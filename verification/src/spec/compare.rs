//! Lists and kernel side by side.

use crate::checker::tally::{Broken, Tally};
use crate::spec::kernel::Kernel;
use crate::spec::lists::Lists;
use crate::spec::moves::{Move, Observed};
use std::fmt::Debug;

/// In so many moves every scheduler that was closed has come to its end.
const END: usize = 1000;

/// Makes `moves` with both, and compares after each. After the last the scheduler is brought to its end, by moves too.
/// `step` is called before each move.
///
/// # Errors
/// The first move after which they differ.
pub fn play(start: &Lists, moves: &[Move], step: impl Fn()) -> Result<Tally, Broken> {
    let mut lists = start.clone();
    let mut kernel = Kernel::new(lists.numbers());
    for (i, this) in moves.iter().enumerate() {
        step();
        both(&mut lists, &mut kernel, *this)
            .map_err(|why| Broken::because(format_args!("move {i}, {this:?}: {why}")))?;
    }
    to_the_end(lists, kernel)
}

/// Brings both to their end.
///
/// # Errors
/// The first move after which they differ; or that there is no end.
pub fn to_the_end(mut lists: Lists, mut kernel: Kernel) -> Result<Tally, Broken> {
    for _ in 0..END {
        let Some(what) = lists.to_the_end() else { break };
        both(&mut lists, &mut kernel, Move { what, seed: 0 })
            .map_err(|why| Broken::because(format_args!("at the end, {what:?}: {why}")))?;
    }
    if lists.is_at_its_end() {
        Ok(lists.seen)
    } else {
        Err(Broken::because(format_args!("no party moves any more, but not all have ended: {:?}", lists.seen_now())))
    }
}

/// Makes a move with both.
///
/// # Errors
/// What differs after it.
pub fn both(lists: &mut Lists, kernel: &mut Kernel, this: Move) -> Result<(), Broken> {
    lists.make(this);
    kernel.make(this);
    let (told, found) = (lists.seen_now(), kernel.seen_now());
    same("what happens", &told.events, &found.events)?;
    same("where the Ms are", &told.ms, &found.ms)?;
    same("where the others are", &told.outside, &found.outside)?;
    same("whether an M could be had", &told.can_start_m, &found.can_start_m)?;
    same("the scheduler", &told.snapshot, &found.snapshot)?;
    match lists.fault() {
        // A wrong rule need not add up; it is the kernel that has to refute it.
        Some(why) if lists.is_right() => Err(Broken::because(format_args!("in the lists {why}"))),
        _ => quiet(lists, &found),
    }
}

/// When every M sleeps nothing may be wrong, unless no M was available, or the scheduler is closed.
fn quiet(lists: &Lists, found: &Observed) -> Result<(), Broken> {
    let snapshot = &found.snapshot;
    match snapshot.violation() {
        Some(why) if snapshot.is_quiescent() && !lists.may_leave_work() => {
            Err(Broken::because(format_args!("{why}: {snapshot:?}")))
        }
        _ => Ok(()),
    }
}

fn same<T: Debug + PartialEq>(what: &str, told: &T, found: &T) -> Result<(), Broken> {
    if told == found {
        return Ok(());
    }
    Err(Broken::because(format_args!("{what}: {found:?} instead of {told:?}")))
}
