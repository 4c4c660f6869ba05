//! What failed once, as a file: the program, the schedule, and the seed it came from.

use crate::rooms::{self, Again};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spinpark_verification::engines::{Engine, Failure, Outcome};
use spinpark_verification::files;
use spinpark_verification::job::Order;
use spinpark_verification::model;
use spinpark_verification::mutation::mutant::{self, Mutant};
use spinpark_verification::schedule::{Replayed, Schedule};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Today's format.
pub const FORMAT: u32 = 1;

/// The files of failed programs in `folder`, in order. None if there is no such folder.
///
/// # Errors
/// If the folder cannot be read.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}

/// A program that failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Regression {
    /// The format, so that an old file is refused rather than misread.
    pub spinpark_program: u32,
    /// In which room.
    pub room: String,
    /// With which wrong variant, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mutant: Option<String>,
    /// On which engine.
    pub engine: Engine,
    /// From which seed.
    pub seed: u64,
    /// Under how many schedules.
    pub schedules: u64,
    /// How many operations it has.
    pub operations: usize,
    /// The program, for a reader.
    pub picture: Vec<String>,
    /// The program.
    pub program: Value,
    /// What happened.
    pub failure: Failure,
}

impl Regression {
    /// Reads a file.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn read(path: &Path) -> Result<Regression, String> {
        let text = files::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let regression: Regression =
            serde_json::from_str(&text).map_err(|error| format!("{} is no program file: {error}", path.display()))?;
        match regression.spinpark_program {
            FORMAT => Ok(regression),
            other => Err(format!("{} has format {other}; this program reads {FORMAT}", path.display())),
        }
    }

    /// Writes it into `folder`, under the room's name and the variant's, or the seed. Of the schedule only the decisions: the
    /// steps are what comes of them.
    ///
    /// # Errors
    /// If the file system says no.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let what = self.mutant.clone().unwrap_or_else(|| self.seed.to_string());
        let path = folder.join(format!("{}.{what}.json", self.room));
        let mut plain = self.clone();
        plain.failure.steps.clear();
        // A line for each decision would hide all else.
        let script = serde_json::to_string(&plain.failure.script.take()).map_err(io::Error::other)?;
        let text = serde_json::to_string_pretty(&plain).map_err(io::Error::other)?;
        let text = text.replacen("\"script\": null", &format!("\"script\": {script}"), 1);
        files::write(&path, format!("{text}\n").as_bytes())?;
        Ok(path)
    }

    /// Plays it again: its schedule if it has one, else its program from its seed.
    ///
    /// # Errors
    /// If there is no such room or variant, or the program is none of that room's.
    pub fn play(&self) -> Result<Outcome, String> {
        let room = rooms::find(&self.room).ok_or_else(|| format!("there is no room `{}`", self.room))?;
        room.play(self).map(|again| again.outcome)
    }

    /// Plays it again, as [`play`](Regression::play) does, and compares what happens with what happened. A schedule that does
    /// not fit any more says nothing; then the program may still fail from its seed.
    /// `Some`, beside what came of it: why its schedule does not fit, if it was played from its seed.
    pub fn replay(&self) -> (Replayed, Option<String>) {
        self.decide().unwrap_or_else(|why| (Replayed::DoesNotFit(why), None))
    }

    fn decide(&self) -> Result<(Replayed, Option<String>), String> {
        let room = rooms::find(&self.room).ok_or_else(|| format!("there is no room `{}`", self.room))?;
        let Again { outcome, misfit } = room.play(self)?;
        match (outcome.failure, misfit) {
            (Some(now), None) if now.message == self.failure.message => Ok((Replayed::FailsTheSame(now), None)),
            (Some(now), misfit) => Ok((Replayed::FailsOtherwise(now), misfit)),
            (None, None) => Ok((Replayed::Passes, None)),
            (None, Some(why)) => {
                let n = outcome.executions;
                Err(format!("its schedule does not fit: {why}; and the program held under {n} others, from its seed"))
            }
        }
    }

    /// A program that failed with a wrong variant must still do so, and hold without it; any other must hold. `Err`: it is
    /// not so.
    ///
    /// # Errors
    /// As [`play`](Regression::play).
    pub fn is_as_it_should_be(&self) -> Result<Result<(), String>, String> {
        if let Some(name) = &self.mutant
            && self.play()?.failure.is_none()
        {
            return Ok(Err(format!("does not find the wrong variant {name} any more")));
        }
        // The schedule is the variant's: the kernel takes other steps.
        let mut right = Regression { mutant: None, ..self.clone() };
        right.failure.script = None;
        let failure = right.play()?.failure;
        Ok(failure.map_or(Ok(()), |failure| Err(format!("the kernel fails: {}", failure.message))))
    }

    /// As a schedule that can be drawn.
    pub fn schedule(&self, failure: &Failure) -> Schedule {
        let bounds = model::usual(self.engine).bounds;
        Schedule::new(&Order::new(&self.room, self.engine, bounds, self.mutant.as_deref(), self.seed), failure.clone())
    }

    /// The wrong variant it is played with.
    ///
    /// # Errors
    /// If there is no such variant.
    pub fn mutant(&self) -> Result<Option<&'static Mutant>, String> {
        let Some(name) = &self.mutant else { return Ok(None) };
        mutant::find(name).map(Some).ok_or_else(|| format!("there is no mutant `{name}`"))
    }
}
