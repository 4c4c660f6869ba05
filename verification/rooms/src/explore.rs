//! Every program of a shape in every way that RC11 allows, and the set of what may come of it.

use crate::cores;
use crate::host::{Rc11, RoomHost};
use crate::plain::of;
use crate::play;
use crate::program::{Chosen, LADDER, Program, Shape, of_focus, of_shape};
use crate::room::Room;
use rc11::engine::{Config, Counterexample, Report};
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// What may come of some programs: how many histories there are, and a digest of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MayReach {
    /// How many there are.
    pub histories: usize,
    /// Of all of them, in no order.
    pub digest: u64,
}

impl fmt::Display for MayReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} histories, {:016x}", self.histories, self.digest)
    }
}

static REACHED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// What was reached in this process since this was asked last.
pub fn take_reached() -> MayReach {
    let all = std::mem::take(&mut *of(&REACHED));
    MayReach { histories: all.len(), digest: all.iter().fold(0, |digest, one| digest ^ one) }
}

/// Of an engine: an execution has come to its end. How it ended.
///
/// # Errors
/// Why the specification does not explain it.
pub fn at_end() -> Result<Option<String>, String> {
    let Some((digest, asleep)) = play::judge()? else { return Ok(None) };
    let salted = (digest ^ PROGRAM.get()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    of(&REACHED).insert(salted ^ (salted >> 29));
    Ok(Some(format!("{asleep} asleep")))
}

thread_local! {
    /// Which program is played, as a hash.
    static PROGRAM: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    /// The programs of each room and shape.
    static PROGRAMS: RefCell<HashMap<(TypeId, usize), Box<dyn Any>>> = RefCell::new(HashMap::new());
}

/// The programs number `n` of a room: those of a shape of the ladder, and behind these those of its focuses.
pub fn programs<R: Room>(n: usize) -> Arc<Vec<Arc<Program<R>>>> {
    let list = || match LADDER.get(n) {
        Some(shape) => of_shape::<R>(shape),
        None => of_focus::<R>(n - LADDER.len()),
    };
    PROGRAMS.with_borrow_mut(|all| {
        let all = all
            .entry((TypeId::of::<R>(), n))
            .or_insert_with(|| Box::new(Arc::new(list().into_iter().map(Arc::new).collect::<Vec<_>>())));
        Arc::clone(all.downcast_ref::<Arc<Vec<Arc<Program<R>>>>>().expect("of this room"))
    })
}

/// One execution of one of the programs number `N` of the room, which the engine chooses. Returns at once.
pub fn play_any<R: Room, H: RoomHost, const N: usize>() {
    let programs = programs::<R>(N);
    let n = if programs.len() > 1 { H::choose(programs.len()) } else { 0 };
    PROGRAM.set(((N as u64) << 32) + n as u64 + 1);
    play::start::<R, H>(&programs[n]);
}

/// Explores one program.
pub fn explore<R: Room>(program: &Arc<Program<R>>, executions: Option<u64>, seed: Option<u64>) -> Report {
    let program = Arc::clone(program);
    let body = move || {
        rc11::engine::leave_waiting();
        play::start::<R, Rc11>(&program);
        String::new()
    };
    let config = Config { executions, seed, at_end: Some(Arc::new(at_end)), ..Config::default() };
    let report = rc11::engine::explore(&config, body, |_| ());
    play::forget();
    report
}

/// Why an execution failed.
fn sentence(found: &Counterexample) -> String {
    found.failure.why.sentence(&found.graph, |thread| format!("thread {thread}"))
}

/// What came of the programs of one shape.
#[derive(Debug, Clone, Default)]
pub struct Swept {
    /// How many programs there are.
    pub programs: usize,
    /// How many executions.
    pub executions: u64,
    /// Of each shape, the program with the most.
    pub most: (u64, String),
    /// What may come of them.
    pub may_reach: MayReach,
    /// Why the first that fails does.
    pub failure: Option<String>,
    /// Which one that is.
    pub fails: Option<usize>,
    /// How many programs fail.
    pub failed: usize,
}

/// Explores each of the programs number `n` of the room; up to the first that fails, or all of them.
pub fn sweep<R: Room>(n: usize, goes_on: bool, only: &dyn Fn(usize, &Program<R>) -> bool) -> Swept {
    take_reached();
    let mut swept = Swept::default();
    for (nth, program) in programs::<R>(n).iter().enumerate().filter(|(nth, program)| only(*nth, program)) {
        PROGRAM.set(((n as u64) << 32) + nth as u64 + 1);
        let report = explore(program, None, None);
        swept.programs += 1;
        swept.executions += report.tally.executions;
        if report.tally.executions > swept.most.0 {
            swept.most = (report.tally.executions, program.to_string());
        }
        if let Some(found) = &report.failure {
            swept.failed += 1;
            swept.fails.get_or_insert(nth);
            let why = sentence(found);
            swept.failure.get_or_insert(format!("{why}\n(program {nth}, execution {})", report.tally.executions));
            if !goes_on {
                break;
            }
        }
    }
    swept.may_reach = take_reached();
    swept
}

/// A room, as it is listed.
#[derive(Clone, Copy)]
pub struct Declared {
    /// Its name.
    pub name: &'static str,
    /// What its source is called.
    pub source: &'static str,
    /// How many programs number `n` it has.
    pub programs: fn(usize) -> usize,
    /// How many focuses it has.
    pub focuses: fn() -> usize,
    /// How many more it has that are larger.
    pub larger: fn() -> usize,
    /// Explores the programs number `n`; goes on after one that fails; only those whose text contains this.
    pub sweep: fn(usize, bool, &str) -> Swept,
    /// Explores one of the programs number `n`.
    pub sweep_one: fn(usize, usize) -> Swept,
    /// Plays so many executions, drawn at random, of the program that these numbers choose. Why it fails.
    pub sample: fn(&Chosen, u64) -> Option<String>,
    /// [`cores::run_some`] of so many programs of each shape, against the room's source.
    pub run_on_cores: fn(usize) -> Result<(), String>,
}

impl Declared {
    /// Of a room.
    pub const fn of<R: Room>() -> Declared {
        Declared {
            name: R::NAME,
            source: R::SOURCE,
            programs: |n| programs::<R>(n).len(),
            focuses: || R::focuses().len(),
            larger: || R::larger().len(),
            sweep: |n, goes_on, text| sweep::<R>(n, goes_on, &|_, program| program.to_string().contains(text)),
            sweep_one: |n, nth| sweep::<R>(n, false, &|other, _| other == nth),
            sample: |chosen, executions| {
                let program = Arc::new(crate::program::chosen::<R>(chosen)?);
                explore(&program, Some(executions), Some(1)).failure.map(|found| sentence(&found))
            },
            run_on_cores: |programs| cores::run_some::<R, R::Real<cores::Cores>>(programs, |_| true).map(drop),
        }
    }

    /// The shapes of a usual run: the ladder, and the focuses.
    pub fn usual(&self) -> Range<usize> {
        0..LADDER.len() + (self.focuses)()
    }

    /// All of its shapes.
    pub fn shapes(&self) -> Range<usize> {
        0..self.usual().end + (self.larger)()
    }

    /// Is this file of the kernel's part of the room's source?
    pub fn is_made_of(&self, file: &str) -> bool {
        let folders = ["queues/", "waits/", "protocol/", "types/"];
        let inside = folders.iter().find_map(|folder| file.strip_prefix(folder)).unwrap_or(file);
        let module = inside.split(['/', '.']).next();
        self.source.split(' ').any(|source| module == Some(source))
    }
}

/// What the programs number `n` of a room are called.
pub fn shape_name(n: usize) -> String {
    LADDER.get(n).map_or_else(|| format!("focus {}", n - LADDER.len() + 1), |shape: &Shape| shape.name.to_owned())
}

/// Which programs are called so.
pub fn shape_of(name: &str) -> Option<usize> {
    let focus = || LADDER.len().checked_add(name.strip_prefix("focus ")?.parse::<usize>().ok()?.checked_sub(1)?);
    LADDER.iter().position(|shape| shape.name == name).or_else(focus)
}
