//! The rooms of the kernel, each on a stage of its own on which random programs are played.

pub mod timers;

use crate::regression::{FORMAT, Regression};
use crate::room::{self, Program, Room, Trial};
use crate::shrink::{Found, Hunt, hunt};
use crate::whole::{Hogs, OnCores, Whole};
use spinpark_verification::engines::{Engine, Outcome};

/// Every room, in reading order.
pub static ALL: &[Entry] =
    &[Entry::of::<timers::Word>(), Entry::of::<Whole>(), Entry::of::<Hogs>(), Entry::of::<OnCores>()];

/// A room, whatever its type.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// [`Room::NAME`].
    pub name: &'static str,
    /// [`Room::CLAIM`].
    pub claim: &'static str,
    /// [`Room::ENGINES`].
    pub engines: &'static [Engine],
    /// [`Room::FALLS`].
    pub falls: &'static [&'static str],
    /// [`Room::PATHS`].
    pub paths: &'static [&'static str],
    hunt: Hunts,
    play: fn(&Regression) -> Result<Again, String>,
    play_bytes: fn(&[u8], &Trial) -> Option<Regression>,
}

/// See [`hunt`].
type Hunts = fn(&Hunt, &mut dyn FnMut(&Outcome)) -> Option<Regression>;

impl Entry {
    const fn of<R: Room>() -> Entry {
        Entry {
            name: R::NAME,
            claim: R::CLAIM,
            engines: R::ENGINES,
            falls: R::FALLS,
            paths: R::PATHS,
            hunt: |how, each| hunt::<R>(how, |_, outcome| each(outcome)).map(|found| erase(&found)),
            play: play_again::<R>,
            play_bytes: |bytes, trial| {
                let program = Program::<R>::from_bytes(bytes, 16);
                let failure = room::run(&program, trial).failure?;
                Some(erase(&Found { program, trial: *trial, failure }))
            },
        }
    }

    /// Plays the program that `bytes` decide; what fails is given back.
    pub fn play_bytes(&self, bytes: &[u8], trial: &Trial) -> Option<Regression> {
        (self.play_bytes)(bytes, trial)
    }

    /// Draws programs until one fails. See [`hunt`].
    pub fn hunt(&self, how: &Hunt, mut each: impl FnMut(&Outcome)) -> Option<Regression> {
        (self.hunt)(how, &mut each)
    }

    /// Plays what failed once: its schedule if it has one, else its program from its seed.
    ///
    /// # Errors
    /// If the program is none of this room's.
    pub fn play(&self, regression: &Regression) -> Result<Again, String> {
        (self.play)(regression)
    }
}

/// The room of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|room| room.name == name)
}

fn erase<R: Room>(found: &Found<R>) -> Regression {
    Regression {
        spinpark_program: FORMAT,
        room: R::NAME.to_owned(),
        mutant: found.trial.mutant.map(|mutant| mutant.name.to_owned()),
        engine: found.trial.engine,
        seed: found.trial.seed,
        schedules: found.trial.schedules,
        program: serde_json::to_value(&found.program).expect("programs are plain data"),
        picture: found.program.picture().lines().map(str::to_owned).collect(),
        operations: found.program.ops.len(),
        failure: found.failure.clone(),
    }
}

/// What failed once, played again.
#[derive(Debug)]
pub struct Again {
    /// What came of it.
    pub outcome: Outcome,
    /// Why its schedule does not fit, if it has one: then the program was played from its seed.
    pub misfit: Option<String>,
}

fn play_again<R: Room>(regression: &Regression) -> Result<Again, String> {
    let program: Program<R> = serde_json::from_value(regression.program.clone())
        .map_err(|error| format!("this is no program of {}: {error}", R::NAME))?;
    let Regression { engine, seed, schedules, .. } = *regression;
    if engine.is_loom() || engine == Engine::Rc11 {
        return Err(format!("generated programs are not played on {engine}"));
    }
    let trial = Trial { engine, seed, schedules, mutant: regression.mutant()? };
    // A schedule is one of the kernel that it failed with: another takes other steps. The program is its own.
    let misfit = match &regression.failure.script {
        None => None,
        Some(script) => match room::replay(&program, &trial, script) {
            Ok(outcome) => return Ok(Again { outcome, misfit: None }),
            Err(why) => Some(why),
        },
    };
    Ok(Again { outcome: room::run(&program, &trial), misfit })
}
