//! Plays a litmus test on any stage, as live code: its threads are the stage's threads, its locations the stage's words
//! and cells.

use crate::perform::{Memory, Stop, emulate_update, perform};
use crate::program::{Access, Kind, Loc, Program, Update};
use crate::question::Item;
use spinpark_kernel::host::{Lock as _, Parker as _, Word};
use spinpark_verification::hosts::model_host::{Cell as _, Mixes, PlainAccess as _};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, Relaxed};

/// Stands for the outcome of an execution that does not count: an assumption did not hold.
pub const CUT: &str = "cut";

enum Place<H: Mixes> {
    Word(H::Word),
    Mixed(H::Mixed),
    Cell(H::Cell<u64>),
    Lock(H::Lock<()>),
    Parker(H::Parker),
}

/// Memory as a stage has it. All its places are of the right kind: [`Program::check`] has looked.
struct Live<H: Mixes>(Arc<Vec<Place<H>>>);

const WRONG_KIND: &str = "litmus: a location is used as what it is not; was the program checked?";

impl<H: Mixes> Live<H> {
    fn new(program: &Program) -> Self {
        let places = program.locations.iter().map(|location| match location.kind {
            Kind::Atomic => Place::Word(H::Word::new(location.initial as u64)),
            Kind::Mixed => Place::Mixed(H::Mixed::new(location.initial as u64)),
            Kind::Plain => Place::Cell(H::Cell::new(location.initial as u64)),
            Kind::Lock => Place::Lock(H::Lock::new(())),
            Kind::Parker => Place::Parker(H::Parker::new()),
        });
        Live(Arc::new(places.collect()))
    }
    fn parker(&self, loc: Loc) -> &H::Parker {
        let Place::Parker(parker) = &self.0[loc] else { panic!("{WRONG_KIND}") };
        parker
    }
}

impl<H: Mixes> Memory for Live<H> {
    fn load(&mut self, loc: Loc, access: Access) -> Result<i64, Stop> {
        Ok(match (&self.0[loc], access) {
            (Place::Word(word), Access::Atomic(order)) => word.load(order),
            (Place::Mixed(word), Access::Atomic(order)) => word.load(order),
            (Place::Mixed(word), Access::Plain) => word.plain_load(),
            (Place::Cell(cell), Access::Plain) => cell.get(),
            _ => panic!("{WRONG_KIND}"),
        } as i64)
    }
    fn store(&mut self, loc: Loc, value: i64, access: Access) -> Result<(), Stop> {
        match (&self.0[loc], access) {
            (Place::Word(word), Access::Atomic(order)) => word.store(value as u64, order),
            (Place::Mixed(word), Access::Atomic(order)) => word.store(value as u64, order),
            (Place::Mixed(word), Access::Plain) => word.plain_store(value as u64),
            (Place::Cell(cell), Access::Plain) => cell.set(value as u64),
            _ => panic!("{WRONG_KIND}"),
        }
        Ok(())
    }
    fn update(&mut self, loc: Loc, op: Update, operand: i64, order: Ordering) -> Result<i64, Stop> {
        if !op.is_native() {
            return emulate_update(self, loc, op, operand, order);
        }
        Ok(match &self.0[loc] {
            Place::Word(word) => update(word, op, operand, order),
            Place::Mixed(word) => update(word, op, operand, order),
            _ => panic!("{WRONG_KIND}"),
        } as i64)
    }
    fn exchange(
        &mut self,
        loc: Loc,
        change: (i64, i64),
        success: Ordering,
        failure: Ordering,
    ) -> Result<Result<i64, i64>, Stop> {
        let (current, new) = (change.0 as u64, change.1 as u64);
        let found = match &self.0[loc] {
            Place::Word(word) => word.compare_exchange(current, new, success, failure),
            Place::Mixed(word) => word.compare_exchange(current, new, success, failure),
            _ => panic!("{WRONG_KIND}"),
        };
        Ok(found.map(|old| old as i64).map_err(|old| old as i64))
    }
    fn fence(&mut self, order: Ordering) -> Result<(), Stop> {
        H::fence(order);
        Ok(())
    }
    fn light_fence(&mut self) -> Result<(), Stop> {
        H::light_fence();
        Ok(())
    }
    fn heavy_fence(&mut self) -> Result<(), Stop> {
        H::heavy_fence();
        Ok(())
    }
    fn choose(&mut self, n: usize) -> Result<usize, Stop> {
        Ok(H::choose(n))
    }
    /// No stage can wait for a value, but one look is enough: an execution in which it comes too early does not count.
    fn wait(&mut self, loc: Loc, value: i64, order: Ordering, then: Option<i64>) -> Result<(), Stop> {
        let seen = match then {
            None => self.load(loc, Access::Atomic(order))? == value,
            Some(then) => self.exchange(loc, (value, then), order, Relaxed)?.is_ok(),
        };
        if seen { Ok(()) } else { Err(Stop::Cut) }
    }
    fn locked(&mut self, lock: Loc, body: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        let places = Arc::clone(&self.0);
        let Place::Lock(lock) = &places[lock] else { panic!("{WRONG_KIND}") };
        lock.with(|()| body(self))
    }
    fn park(&mut self, parker: Loc) -> Result<(), Stop> {
        self.parker(parker).park();
        Ok(())
    }
    fn unpark(&mut self, parker: Loc) -> Result<(), Stop> {
        self.parker(parker).unpark();
        Ok(())
    }
}

/// An update that every host's words have.
fn update(word: &impl Word, op: Update, operand: i64, order: Ordering) -> u64 {
    match op {
        Update::Swap => word.swap(operand as u64, order),
        Update::Sub => word.fetch_add(operand.wrapping_neg() as u64, order),
        _ => word.fetch_add(operand as u64, order),
    }
}

/// Plays one execution; its outcome, or [`CUT`].
///
/// A thread that gives up leaves others waiting for its unpark: a program with both parkers and what may be cut
/// (assumptions, awaits of words) may deadlock here where [`enumerate`](crate::enumerate::enumerate) sees no deadlock.
///
/// The main thread makes the locations, starts the threads and joins them, and reads only what is shown.
pub fn play<H: Mixes>(program: &Arc<Program>) -> String {
    play_symmetric::<H>(program, &[])
}

/// The same; the threads of each of `groups` have the same code, and are started as symmetric ones. In an outcome their
/// registers are sorted, thread by thread.
pub fn play_symmetric<H: Mixes>(program: &Arc<Program>, groups: &[Range<usize>]) -> String {
    let memory: Live<H> = Live::new(program);
    let mut joins: Vec<Box<dyn FnOnce() -> Vec<End>>> = Vec::new();
    let mut n = 0;
    while n < program.threads.len() {
        let (program, memory) = (Arc::clone(program), Arc::clone(&memory.0));
        let body = move || {
            let mut registers = program.threads[n].start();
            let mut memory: Live<H> = Live(memory);
            perform(&program.threads[n].body, &mut registers, &mut memory).ok().map(|()| registers)
        };
        let name = format!("P{n}");
        match groups.iter().find(|group| group.start == n) {
            Some(group) => {
                joins.push(H::fork_symmetric(&name, group.len(), body));
                n = group.end;
            }
            None => {
                let thread = H::fork(&name, body);
                joins.push(Box::new(|| vec![H::join(thread)]));
                n += 1;
            }
        }
    }
    let ends: Vec<End> = joins.into_iter().flat_map(|join| join()).collect();
    let Some(registers) = ends.into_iter().collect::<Option<Vec<_>>>() else { return CUT.to_owned() };
    program.outcome(|item| match item {
        Item::Reg(thread, reg) => registers[thread][reg],
        Item::Loc(loc) => memory.last(loc),
    })
}

/// A thread's registers; `None` if it gave up.
type End = Option<Vec<i64>>;

impl<H: Mixes> Live<H> {
    /// What a location holds when all threads have been joined.
    fn last(&self, loc: Loc) -> i64 {
        match &self.0[loc] {
            Place::Word(word) => word.load(Relaxed) as i64,
            Place::Mixed(word) => word.load(Relaxed) as i64,
            Place::Cell(cell) => cell.get() as i64,
            Place::Lock(_) | Place::Parker(_) => 0,
        }
    }
}
