//! What statements do to memory, whatever memory is.

use crate::program::{Access, Loc, Stmt, Update};
use std::sync::atomic::Ordering;

/// Why a thread goes no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// An assumption does not hold: the execution does not count.
    Cut,
    /// The reference enumerator has to decide something first.
    Undecided,
}

/// What a thread of a program asks of the world.
pub(super) trait Memory {
    /// This statement is performed next. For a memory that tracks dependencies.
    fn begins(&mut self, _stmt: &Stmt) {}
    /// This `if` has been performed, and what comes next is behind it.
    fn is_behind(&mut self, _branch: &Stmt) {}
    fn load(&mut self, loc: Loc, access: Access) -> Result<i64, Stop>;
    fn store(&mut self, loc: Loc, value: i64, access: Access) -> Result<(), Stop>;
    fn update(&mut self, loc: Loc, op: Update, operand: i64, order: Ordering) -> Result<i64, Stop>;
    /// Strong. `Err` in `Ok`: what was there instead.
    fn exchange(
        &mut self,
        loc: Loc,
        change: (i64, i64),
        success: Ordering,
        failure: Ordering,
    ) -> Result<Result<i64, i64>, Stop>;
    fn fence(&mut self, order: Ordering) -> Result<(), Stop>;
    fn light_fence(&mut self) -> Result<(), Stop>;
    fn heavy_fence(&mut self) -> Result<(), Stop>;
    fn choose(&mut self, n: usize) -> Result<usize, Stop>;
    /// Waits until `loc` holds `value`.
    fn wait(&mut self, loc: Loc, value: i64, order: Ordering, then: Option<i64>) -> Result<(), Stop>;
    fn locked(&mut self, lock: Loc, body: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop>;
    fn park(&mut self, parker: Loc) -> Result<(), Stop>;
    fn unpark(&mut self, parker: Loc) -> Result<(), Stop>;
}

/// Performs all of `body`.
pub(super) fn perform<M: Memory>(body: &[Stmt], registers: &mut [i64], memory: &mut M) -> Result<(), Stop> {
    body.iter().try_for_each(|stmt| step(stmt, registers, memory))
}

fn step<M: Memory>(stmt: &Stmt, registers: &mut [i64], memory: &mut M) -> Result<(), Stop> {
    memory.begins(stmt);
    match stmt {
        Stmt::Set(into, value) => registers[*into] = value.value(registers),
        Stmt::Load { into, loc, access } => registers[*into] = memory.load(*loc, *access)?,
        Stmt::Store { loc, value, access } => memory.store(*loc, value.value(registers), *access)?,
        Stmt::Update { into, loc, op, operand, order } => {
            let old = memory.update(*loc, *op, operand.value(registers), *order)?;
            if let Some(into) = into {
                registers[*into] = old;
            }
        }
        Stmt::Exchange { .. } => exchange(stmt, registers, memory)?,
        Stmt::Fence(order) => memory.fence(*order)?,
        Stmt::LightFence => memory.light_fence()?,
        Stmt::HeavyFence => memory.heavy_fence()?,
        Stmt::If { condition, then, otherwise } => {
            let branch = if condition.value(registers) != 0 { then } else { otherwise };
            perform(branch, registers, memory)?;
            memory.is_behind(stmt);
        }
        Stmt::Assume(condition) if condition.value(registers) == 0 => return Err(Stop::Cut),
        Stmt::Assume(_) => (),
        Stmt::Await { loc, value, order, then } => memory.wait(*loc, *value, *order, *then)?,
        Stmt::Locked(lock, body) => memory.locked(*lock, |memory| perform(body, registers, memory))?,
        Stmt::Park(parker) => memory.park(*parker)?,
        Stmt::Unpark(parker) => memory.unpark(*parker)?,
    }
    Ok(())
}

fn exchange<M: Memory>(stmt: &Stmt, registers: &mut [i64], memory: &mut M) -> Result<(), Stop> {
    let Stmt::Exchange { done, loc, expected, new, success, failure, weak } = stmt else { return Ok(()) };
    let change = (registers[*expected], new.value(registers));
    let found = if *weak && memory.choose(2)? == 1 {
        // It fails without a reason: a load.
        Err(memory.load(*loc, Access::Atomic(*failure))?)
    } else {
        memory.exchange(*loc, change, *success, *failure)?
    };
    if let Some(done) = done {
        registers[*done] = i64::from(found.is_ok());
    }
    if let Err(found) = found {
        registers[*expected] = found;
    }
    Ok(())
}

/// An update as a load and an exchange that must agree, for hosts whose words cannot do more.
pub(super) fn emulate_update<M: Memory>(
    memory: &mut M,
    loc: Loc,
    op: Update,
    operand: i64,
    order: Ordering,
) -> Result<i64, Stop> {
    let old = memory.load(loc, Access::Atomic(Ordering::Relaxed))?;
    let found = memory.exchange(loc, (old, op.apply(old, operand)), order, Ordering::Relaxed)?;
    found.map_err(|_| Stop::Cut)
}
