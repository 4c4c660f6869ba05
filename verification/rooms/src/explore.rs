//! Every program of a shape in every way that RC11 allows, and the set of what may come of it.

use crate::cores;
use crate::host::{Rc11, RoomHost};
use crate::plain::of;
use crate::play;
use crate::program::{Chosen, LADDER, Program, Shape};
use crate::room::Room;
use crate::rooms::{Common, Declared, ROOMS};
use rc11::engine::{Config, Counterexample, Report};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
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
}

/// One execution of one of the programs number `n` of the room, which the engine chooses. Returns at once.
pub fn play_any<R: Room, H: RoomHost>(n: usize) {
    let programs = Common::<R>::of().programs(n);
    let nth = if programs.len() > 1 { H::choose(programs.len()) } else { 0 };
    plays(n, nth);
    play::start::<R, H>(&programs[nth]);
}

/// This is the program that is played from now on.
fn plays(n: usize, nth: usize) {
    PROGRAM.set(((n as u64) << 32) + nth as u64 + 1);
}

/// A client program, of whichever room.
pub trait Client: fmt::Display + Send + Sync {
    /// Starts an execution on RC11.
    fn start(self: Arc<Self>);
}

impl<R: Room> Client for Program<R> {
    fn start(self: Arc<Self>) {
        play::start::<R, Rc11>(&self);
    }
}

/// Explores one program.
pub fn explore(program: &Arc<dyn Client>, executions: Option<u64>, seed: Option<u64>) -> Report {
    let program = Arc::clone(program);
    let body = move || {
        rc11::engine::leave_waiting();
        Arc::clone(&program).start();
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

/// A room as it is played: on RC11, and on threads of the machine. Each is compiled where there is a list of these.
pub struct Played {
    name: &'static str,
    clients: fn(usize) -> Vec<Arc<dyn Client>>,
    chosen: fn(&Chosen) -> Option<Arc<dyn Client>>,
    run_on_cores: fn(usize) -> Result<(), String>,
}

impl Deref for Played {
    type Target = Declared;
    fn deref(&self) -> &Declared {
        ROOMS.iter().find(|declared| declared.name == self.name).expect("it is in the list")
    }
}

impl Played {
    /// This room.
    pub const fn of<R: Room>() -> Played {
        fn client<R: Room>(program: &Arc<Program<R>>) -> Arc<dyn Client> {
            Arc::clone(program) as Arc<dyn Client>
        }
        Played {
            name: R::NAME,
            clients: |n| Common::<R>::of().programs(n).iter().map(client).collect(),
            chosen: |chosen| Common::<R>::of().chosen(chosen).as_ref().map(client),
            run_on_cores: |programs| cores::run_some::<R, R::Real<cores::Cores>>(programs, |_| true).map(drop),
        }
    }

    /// How many programs number `n` it has.
    pub fn programs(&self, n: usize) -> usize {
        (self.clients)(n).len()
    }

    /// Explores the programs number `n`; goes on after one that fails; only those whose text contains `text`.
    pub fn sweep(&self, n: usize, goes_on: bool, text: &str) -> Swept {
        self.sweep_some(n, goes_on, |_, program| text.is_empty() || program.to_string().contains(text))
    }

    /// Explores one of the programs number `n`.
    pub fn sweep_one(&self, n: usize, nth: usize) -> Swept {
        self.sweep_some(n, false, |other, _| other == nth)
    }

    fn sweep_some(&self, n: usize, goes_on: bool, is_tried: impl Fn(usize, &dyn Client) -> bool) -> Swept {
        take_reached();
        let mut swept = Swept::default();
        let programs = (self.clients)(n);
        for (nth, program) in programs.iter().enumerate().filter(|(nth, program)| is_tried(*nth, &***program)) {
            plays(n, nth);
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

    /// Plays so many executions, drawn at random, of the program that these numbers choose. Why it fails.
    pub fn sample(&self, chosen: &Chosen, executions: u64) -> Option<String> {
        let program = (self.chosen)(chosen)?;
        explore(&program, Some(executions), Some(1)).failure.map(|found| sentence(&found))
    }

    /// [`cores::run_some`] of so many programs of each shape, against the room's source.
    ///
    /// # Errors
    /// As there.
    pub fn run_on_cores(&self, programs: usize) -> Result<(), String> {
        (self.run_on_cores)(programs)
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
