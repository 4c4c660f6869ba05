//! What can be wrong with a checkpoint.

use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with a checkpoint: see [`CheckpointError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file cannot be read or written.
    Io,
    /// The file is no checkpoint, or one that was cut off or changed.
    Broken,
    /// Another version of this crate wrote it.
    OtherVersion,
    /// Another program wrote it: the executable was rebuilt since, or the model's first execution differs.
    ChangedProgram,
    /// It is of another model, or of this one within other bounds.
    OtherModel,
    /// Another process has it.
    InUse,
}

/// A checkpoint cannot be used: nothing was explored because of it, and there is no verdict.
///
/// ```
/// use rc11::engine::{Config, explore_with_checkpoint};
/// use rc11::checkpoint::ErrorKind;
///
/// let path = std::env::temp_dir().join(format!("rc11-example-{}", std::process::id()));
/// std::fs::write(&path, "no checkpoint").unwrap();
/// let error = explore_with_checkpoint(&Config::default(), "a model", &path, String::new, |_| ()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Broken);
/// # std::fs::remove_file(&path).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointError {
    path: PathBuf,
    kind: ErrorKind,
    what: String,
}

impl CheckpointError {
    pub(super) fn new(path: &Path, kind: ErrorKind, what: impl Into<String>) -> CheckpointError {
        CheckpointError { path: path.to_owned(), kind, what: what.into() }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cure = match self.kind {
            ErrorKind::Io => "",
            ErrorKind::InUse => ": wait for the other process, or name another file",
            _ => ": remove it, or name another file",
        };
        write!(f, "checkpoint {}: {}{cure}", self.path.display(), self.what)
    }
}

impl std::error::Error for CheckpointError {}
