//! A failing schedule: as a file, to be replayed, and as a picture, with a column a thread.

use crate::engine::{Bounds, Engine, Failure};
use crate::mutant;
use crate::naming::name_in;
use crate::wrap::trace::Step;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What is in a schedule file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Schedule {
    /// The format, so that an old file is refused rather than misread.
    pub spinpark_schedule: u32,
    /// Which model.
    pub model: String,
    /// On which engine.
    pub engine: Engine,
    /// Within which bounds; loom's order of exploration depends on them.
    pub bounds: Bounds,
    /// From which seed.
    pub seed: u64,
    /// With which mutant, if any.
    pub mutant: Option<String>,
    /// What happened.
    pub failure: Failure,
}

/// Today's format.
pub const FORMAT: u32 = 1;

impl Schedule {
    /// Reads a schedule file.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn read(path: &Path) -> Result<Schedule, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let schedule: Schedule =
            serde_json::from_str(&text).map_err(|error| format!("{} is no schedule file: {error}", path.display()))?;
        match schedule.spinpark_schedule {
            FORMAT => Ok(schedule),
            other => Err(format!("{} has format {other}; this program reads {FORMAT}", path.display())),
        }
    }

    /// Writes it into `folder`, under the model's name.
    ///
    /// # Errors
    /// If the file system says no.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let mutant = self.mutant.as_ref().map(|name| format!("{name}.")).unwrap_or_default();
        let path = folder.join(format!("{mutant}{}.{}.json", self.model.replace("::", "."), self.engine));
        fs::write(&path, serde_json::to_string_pretty(self).map_err(io::Error::other)?)?;
        Ok(path)
    }

    /// The picture.
    pub fn picture(&self) -> String {
        let Failure { message, execution, threads, steps, picture, .. } = &self.failure;
        let mut text = String::new();
        let mutant = self.mutant.as_ref().map(|name| format!(", with mutant {name}")).unwrap_or_default();
        let _ = writeln!(text, "{} on {}{mutant}", self.model, self.engine);
        let _ = writeln!(text, "execution {execution}: {}", message.trim_end());
        if let Some(picture) = picture {
            let _ = write!(text, "\n{picture}");
            return text;
        }
        if steps.is_empty() {
            return text;
        }
        let used: Vec<usize> = (0..threads.len()).filter(|t| steps.iter().any(|step| step.thread == *t)).collect();
        let cells: Vec<(usize, String)> = steps.iter().map(|step| (step.thread, named(step))).collect();
        let width = |t: usize| {
            let steps = cells.iter().filter(|(thread, _)| *thread == t).map(|(_, what)| what.chars().count());
            steps.max().unwrap_or(0).max(threads[t].chars().count())
        };
        let widths: Vec<usize> = used.iter().map(|&t| width(t)).collect();
        let row = |cells: Vec<&str>| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join(" │ ")
        };
        let names = used.iter().map(|&t| threads[t].as_str()).collect();
        let _ = writeln!(text, "\n     {} │", row(names));
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let _ = writeln!(text, "     {}─┤", rule.join("─┼─"));
        for (n, ((thread, what), step)) in cells.iter().zip(steps).enumerate() {
            let cells = used.iter().map(|t| if t == thread { what.as_str() } else { "" }).collect();
            let source = mutant::source_line(&step.file, step.line).unwrap_or_default();
            let _ = writeln!(text, "{:4} {} │ {}:{} {source}", n + 1, row(cells), step.file, step.line);
        }
        text
    }
}

/// What a step did, with the word's name out of the source in place of its number, if there is one.
fn named(step: &Step) -> String {
    let source = mutant::source_line(&step.file, step.line);
    let room = step.file.rsplit('/').next().and_then(|file| file.strip_suffix(".rs")).unwrap_or_default();
    let (word, rest) = step.what.split_once(' ').unwrap_or((&step.what, ""));
    let is_number = word.strip_prefix('w').is_some_and(|n| n.parse::<u32>().is_ok());
    match source.and_then(name_in) {
        Some(name) if is_number => format!("{name} {rest}"),
        None if is_number && step.file.starts_with("kernel/") => format!("{room} {rest}"),
        _ => step.what.clone(),
    }
}
