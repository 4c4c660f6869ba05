//! The reference models, and the kernel behind the same trait.
//!
//! An operation takes fresh Gs in and lets some come out: those taken, and those refused. Gs are numbers, given out in
//! sequence. So one comparison fits all: the same Gs, in the same order, and the same state to be seen from outside.

pub mod ring;
pub mod sched;

use crate::check::Broken;
use spinpark_kernel::types::g::G;
use std::fmt::Debug;
use std::num::NonZeroU64;
use std::ops::Range;

/// Something to do.
pub trait Op: Copy + Debug {
    /// How many fresh Gs it needs.
    fn fresh(self) -> usize;
}

/// Something that operations are done to: a part of the kernel, its reference model, or a wrong variant of it.
pub trait Subject {
    /// What can be done to it.
    type Op: Op;
    /// What can be seen of it.
    type State: Debug + PartialEq;

    /// Does `op` with the fresh Gs `gs`. What comes out, in order.
    fn apply(&mut self, op: Self::Op, gs: Range<u64>) -> Vec<u64>;
    /// What can be seen of it now.
    fn state(&self) -> Self::State;
    /// Takes out all that is left, in order.
    fn drain(&mut self) -> Vec<u64>;
}

/// Does `ops` to both, and compares what comes out and what can be seen after each; at the end, what is left.
///
/// # Errors
/// The first step at which they differ.
pub fn compare<S, O>(subject: &mut S, oracle: &mut O, ops: &[S::Op]) -> Result<(), Broken>
where
    S: Subject,
    O: Subject<Op = S::Op, State = S::State>,
{
    let mut next = 1;
    same("before the first step", "is", oracle.state(), subject.state())?;
    for (i, &op) in ops.iter().enumerate() {
        let gs = next..next + op.fresh() as u64;
        next = gs.end;
        let step = || format!("step {i}, {op:?} with {gs:?}");
        same(step(), "gives", oracle.apply(op, gs.clone()), subject.apply(op, gs.clone()))?;
        same(step(), "leaves", oracle.state(), subject.state())?;
    }
    same("draining", "gives", oracle.drain(), subject.drain())?;
    same("draining", "leaves", oracle.state(), subject.state())
}

fn same<T: Debug + PartialEq>(when: impl ToString, verb: &str, expected: T, found: T) -> Result<(), Broken> {
    if expected == found {
        return Ok(());
    }
    let when = when.to_string();
    Err(Broken::because(format_args!("{when} {verb} {found:?} instead of {expected:?}")))
}

/// The G with this number, which is not 0.
pub fn g(number: u64) -> G {
    G::from_raw(NonZeroU64::new(number).expect("Gs are numbered from 1"))
}

/// The numbers of these Gs; of a ticket, its M's.
pub fn numbers(gs: impl IntoIterator<Item = G>) -> Vec<u64> {
    gs.into_iter().map(|g| g.bound().map_or(g.id(), |m| u64::from(m.0))).collect()
}
