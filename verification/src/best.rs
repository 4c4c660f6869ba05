//! The best that was ever found out about a claim by exploring under RC11: one JSON object a line.
//!
//! A usual run is cut off after seconds, so that it is short. What an hour or several nights have proved is no less true for that,
//! as long as the source is the same: each result names the sources that it is of, file by file, and [`Best::of`] says which of
//! them have changed since.

use crate::engines::Verdict;
use crate::kept::KeptRun;
use crate::model::Model;
use crate::sources::SOURCES;
use crate::{files, fnv, output, parts, stamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

/// Each file, and the hash of its code.
pub type Stamps = BTreeMap<String, String>;

/// The best of each model.
#[derive(Debug, Clone, Default)]
pub struct Best {
    models: BTreeMap<String, BestRun>,
    sources: BTreeMap<String, Stamps>,
}

/// The strongest result of one model under RC11.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestRun {
    /// What came of it. Its seconds are those of the last sitting.
    pub run: KeptRun,
    /// About how many executions there are, where it has not ended: Knuth's estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub estimate: Option<f64>,
    /// When it ended, as `2026-11-22`, in UTC.
    pub date: String,
    /// Of which sources.
    sources: String,
}

/// A result, and whether it is of the sources that are here.
#[derive(Debug, Clone, PartialEq)]
pub struct Known<'a> {
    /// The result.
    pub best: &'a BestRun,
    /// The files that have changed since.
    pub changed: Vec<String>,
}

impl Known<'_> {
    /// Is every execution explored, of the very sources that are here?
    pub fn is_proof(&self) -> bool {
        self.best.run.verdict == Verdict::Proved && self.changed.is_empty()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Sources {
        sources: String,
        files: Stamps,
    },
    Model {
        model: String,
        #[serde(flatten)]
        best: BestRun,
    },
}

/// Each source, and the hash of its code: asked for every model that is known.
static CODE: LazyLock<Vec<(&str, String)>> =
    LazyLock::new(|| SOURCES.iter().map(|(file, text)| (*file, stamp::of_code(text)[..8].to_owned())).collect());

/// The [files](parts::of) of `model`, and the checker's version.
pub fn stamps(model: &Model) -> Stamps {
    let files = parts::of(model);
    let stamped = CODE.iter().filter(|(file, _)| files.contains(file));
    let stamped = stamped.map(|(file, stamp)| ((*file).to_owned(), stamp.clone()));
    stamped.chain([("rc11".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]).collect()
}

impl Best {
    /// What is known of `model`, and which of its sources are other ones now.
    pub fn of(&self, model: &Model) -> Option<Known<'_>> {
        let best = self.models.get(model.name)?;
        let (then, now) = (self.sources.get(&best.sources)?, stamps(model));
        // Files of which the model is no longer made are no part of what it does.
        let changed =
            now.into_iter().filter(|(file, stamp)| then.get(file) != Some(stamp)).map(|(file, _)| file).collect();
        Some(Known { best, changed })
    }

    /// Keeps a result, unless what is known of the same sources is stronger.
    pub fn learn(&mut self, model: &Model, run: KeptRun, estimate: Option<f64>) {
        let known = self.of(model).filter(|known| known.changed.is_empty()).map(|known| &known.best.run);
        if known.is_some_and(|known| known.verdict == Verdict::Proved || known.executions > run.executions) {
            return;
        }
        let stamps = stamps(model);
        let text = stamps.iter().flat_map(|(file, stamp)| file.bytes().chain(stamp.bytes()));
        let sources = format!("{:08x}", fnv::hash(text) as u32);
        let estimate = estimate.filter(|_| run.verdict != Verdict::Proved).map(f64::round);
        let best = BestRun { run, estimate, date: stamp::today(), sources: sources.clone() };
        self.models.insert(model.name.to_owned(), best);
        self.sources.insert(sources, stamps);
        let models = &self.models;
        self.sources.retain(|sources, _| models.values().any(|best| best.sources == *sources));
    }

    /// The results of this file; none, if there is no such file.
    ///
    /// # Errors
    /// The file cannot be read, or is no such file: says which line.
    pub fn read(path: &Path) -> Result<Best, String> {
        if !path.exists() {
            return Ok(Best::default());
        }
        let file = path.display();
        let text = files::read(path).map_err(|error| format!("{file}: cannot be read: {error}"))?;
        let mut best = Best::default();
        for (n, line) in text.lines().enumerate() {
            match serde_json::from_str(line) {
                Ok(Line::Sources { sources, files }) => drop(best.sources.insert(sources, files)),
                Ok(Line::Model { model, best: run }) => drop(best.models.insert(model, run)),
                Err(error) => return Err(format!("{file}: line {}: {error}; `cargo verify best` writes it", n + 1)),
            }
        }
        Ok(best)
    }

    /// Writes it where [`read`](Best::read) finds it, as a whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let sources = self
            .sources
            .iter()
            .map(|(sources, files)| Line::Sources { sources: sources.clone(), files: files.clone() });
        let models = self.models.iter().map(|(model, best)| Line::Model { model: model.clone(), best: best.clone() });
        let text: String =
            sources.chain(models).map(|line| serde_json::to_string(&line).expect("plain data") + "\n").collect();
        output::replace(path, &text)
    }
}
