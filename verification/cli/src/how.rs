//! The options that the commands share.

use crate::Stop;
use clap::Args;
use spinpark_verification::engines::Engine;
use spinpark_verification::job;
use spinpark_verification::kept::Kept;
use spinpark_verification::output;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(Args, Clone)]
pub(crate) struct How {
    /// Only on this engine; may be given several times. A model that is named runs there even if it does not by default.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub(crate) engine: Vec<Engine>,
    /// Wider bounds: hours instead of minutes.
    #[arg(long)]
    pub(crate) deep: bool,
    /// How many jobs at once, up to 1024. Default: as many as there are cores.
    #[arg(long, value_name = "N", value_parser = job::how_many)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// The seed of the engines that draw schedules at random.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Writes the results to this file, as a JSON array with an object for each model and engine. `-`: to the standard output,
    /// and all else to the standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Where failing schedules are written.
    #[arg(long, value_name = "DIR", default_value = SCHEDULES)]
    pub(crate) schedules: PathBuf,
    /// Also writes the record of this run to this file: `verification/record.jsonl`. Only of the run of everything, `--all`.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Fails if this run explored less than the record in this file says.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
}

/// Where failing schedules go, if nothing else is said.
const SCHEDULES: &str = "schedules";

impl Default for How {
    fn default() -> How {
        How {
            engine: vec![],
            deep: false,
            jobs: None,
            seed: 1,
            json: None,
            schedules: PathBuf::from(SCHEDULES),
            record: None,
            against: None,
        }
    }
}

impl How {
    /// How many jobs at once.
    pub(crate) fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.jobs.map_or_else(cores, NonZeroUsize::get)
    }

    /// What `command` does not heed is refused: an option without effect would be taken for one that has it.
    pub(crate) fn refuse(&self, command: &str, unheeded: &[&str]) -> Result<(), Stop> {
        let given = [
            ("--engine", !self.engine.is_empty()),
            ("--deep", self.deep),
            ("--schedules", self.schedules != Path::new(SCHEDULES)),
            ("--record", self.record.is_some()),
            ("--against", self.against.is_some()),
        ];
        match given.iter().find(|(option, is_given)| *is_given && unheeded.contains(option)) {
            Some(("--record", _)) => Err(Stop::BadInput(format!(
                "`{command}` writes no record, which is of every run: `cargo verify --all --record FILE`; `--json FILE` has \
                 the results"
            ))),
            Some((option, _)) => {
                let hint = format!("`cargo verify {command} --help` lists what it has");
                Err(Stop::BadInput(format!("`{command}` has no `{option}`; {hint}")))
            }
            None => Ok(()),
        }
    }

    /// Before hours are spent: can the results be written, and is there what they are to be compared with?
    pub(crate) fn check_files(&self) -> Result<(), Stop> {
        if let Some(path) = &self.against {
            Kept::read(path)?;
        }
        let is_file = |path: &&PathBuf| path.as_os_str() != output::STANDARD_OUTPUT;
        for path in self.json.iter().filter(is_file).chain(&self.record) {
            let exists = path.exists();
            let opened = fs::OpenOptions::new().append(true).create(true).open(path);
            opened.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            if !exists {
                // It was made only to see whether it can be; a run that is interrupted leaves nothing behind.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}
