//! What failed once, as a file: the program, and the seed it came from.

use crate::child::{Failure, Verdict, run};
use crate::program::Program;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// Today's format.
const FORMAT: u32 = 1;

/// A program that failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Regression {
    /// The format, so that an old file is refused rather than misread.
    spinpark_soak: u32,
    /// From which seed.
    pub(crate) seed: u64,
    /// How many operations it has.
    pub(crate) operations: usize,
    /// The program, for a reader.
    pub(crate) picture: Vec<String>,
    /// The program.
    pub(crate) program: Program,
    /// What happened.
    pub(crate) failure: Failure,
}

impl Regression {
    pub(crate) fn new(seed: u64, program: Program, failure: Failure) -> Regression {
        let (operations, picture) = (program.operations(), program.picture());
        Regression { spinpark_soak: FORMAT, seed, operations, picture, program, failure }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub(crate) fn read(path: &Path) -> Result<Regression, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let regression: Regression =
            serde_json::from_str(&text).map_err(|error| format!("{} is no program file: {error}", path.display()))?;
        match regression.spinpark_soak {
            FORMAT => Ok(regression),
            other => Err(format!("{} has format {other}; this program reads {FORMAT}", path.display())),
        }
    }

    /// Writes it into `folder`, under its kind and seed.
    ///
    /// # Errors
    /// If the file system says no.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let kind = format!("{:?}", self.failure.kind).to_lowercase();
        let path = folder.join(format!("{kind}.{}.json", self.seed));
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(&path, format!("{text}\n"))?;
        Ok(path)
    }

    /// Plays it some times. The first failure, if there is one.
    pub(crate) fn play(&self, times: u32, patience: Duration) -> Option<Failure> {
        (0..times).find_map(|_| match run(&self.program, patience) {
            Verdict::Passed { .. } => None,
            Verdict::Failed(failure) => Some(failure),
        })
    }
}

/// The files of failed programs in `folder`, in order. None if there is no such folder.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn files_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}
