//! What failed once, as a file: the program, the schedule, and the seed it came from.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spinpark_verification::engine::{Engine, Failure};
use spinpark_verification::mutant::{self, Mutation};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Today's format.
pub const FORMAT: u32 = 1;

/// A program that failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Regression {
    /// The format, so that an old file is refused rather than misread.
    pub spinpark_program: u32,
    /// In which room.
    pub room: String,
    /// With which wrong twin, if any.
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
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let regression: Regression =
            serde_json::from_str(&text).map_err(|error| format!("{} is no program file: {error}", path.display()))?;
        match regression.spinpark_program {
            FORMAT => Ok(regression),
            other => Err(format!("{} has format {other}; this program reads {FORMAT}", path.display())),
        }
    }

    /// Writes it into `folder`, under the room's name, the twin's, and the seed.
    ///
    /// # Errors
    /// If the file system says no.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let mutant = self.mutant.as_ref().map(|name| format!("{name}.")).unwrap_or_default();
        let path = folder.join(format!("{}.{mutant}{}.json", self.room, self.seed));
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(&path, format!("{text}\n"))?;
        Ok(path)
    }

    /// What is wrong with the kernel it is played with.
    ///
    /// # Errors
    /// If there is no such twin.
    pub fn mutation(&self) -> Result<Option<Mutation>, String> {
        let Some(name) = &self.mutant else { return Ok(None) };
        let mutant = mutant::find(name).ok_or_else(|| format!("there is no mutant `{name}`"))?;
        Ok(Some(mutant.mutation))
    }
}
