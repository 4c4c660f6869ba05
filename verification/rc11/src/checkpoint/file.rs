//! The file: which program wrote it, and an entry for each model that is not finished.

use super::{CheckpointError, ErrorKind, Subject};
use crate::explore::{Branch, Report, Tally};
use crate::graph::Graph;
use crate::step::Way;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::{env, fs, io};

/// Today's format.
const FORMAT: u32 = 2;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    rc11_checkpoint: u32,
    #[serde(default)]
    engine: String,
    /// The digest of the executable.
    #[serde(default)]
    program: u64,
    /// The digest of what follows.
    #[serde(default)]
    sum: u64,
}

/// The rest.
#[derive(Default, Serialize, Deserialize)]
struct Entries {
    entries: Vec<Entry>,
}

/// The state of an exploration.
#[derive(Serialize, Deserialize)]
pub(super) struct Entry {
    owner: String,
    what: String,
    pub(super) notes: BTreeSet<String>,
    bounds: String,
    /// The digest of the first execution's events.
    first: u64,
    tally: Tally,
    seconds: f64,
    /// The execution that failed.
    failed: Option<Graph>,
    /// Executions that went by what is left.
    executions: Vec<Graph>,
    /// What is left: of which execution, and which way it did not go.
    left: Vec<(usize, Option<Way>)>,
}

impl Entry {
    pub(super) fn of(subject: &Subject, first: u64, bounds: String, report: &Report) -> Entry {
        let mut executions: Vec<Arc<Graph>> = Vec::new();
        let mut left = Vec::new();
        for branch in &report.left {
            // Branches of one execution lie side by side.
            if !executions.last().is_some_and(|last| Arc::ptr_eq(last, &branch.of)) {
                executions.push(Arc::clone(&branch.of));
            }
            left.push((executions.len() - 1, branch.way));
        }
        let executions = executions.iter().map(|graph| Graph::clone(graph)).collect();
        let failed = report.failure.as_ref().map(|found| found.graph.clone());
        let Subject { owner, what, notes } = subject.clone();
        let (tally, seconds) = (report.tally.clone(), report.seconds);
        Entry { owner, what, notes, bounds, first, tally, seconds, failed, executions, left }
    }

    /// The report so far, and the execution that failed.
    fn into_report(self) -> Result<(Report, Option<Graph>), String> {
        self.executions.iter().chain(&self.failed).try_for_each(Graph::check)?;
        let executions: Vec<Arc<Graph>> = self.executions.into_iter().map(|graph| Arc::new(graph.reindex())).collect();
        let branch = |(n, way): (usize, Option<Way>)| Some(Branch { of: Arc::clone(executions.get(n)?), way });
        let left: Option<Vec<Branch>> = self.left.into_iter().map(branch).collect();
        let left = left.ok_or("it names an execution that it does not hold")?;
        Ok((Report { tally: self.tally, failure: None, left, seconds: self.seconds }, self.failed))
    }
}

/// A checkpoint's file. As long as there is one, no other process uses it.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    /// The lock, which all explorations of this process share.
    _lock: Arc<lock::Lock>,
}

/// The locks that this process holds. The owner of this guard is the only thread that reads or writes a checkpoint.
fn locks() -> MutexGuard<'static, BTreeMap<PathBuf, Weak<lock::Lock>>> {
    static LOCKS: Mutex<BTreeMap<PathBuf, Weak<lock::Lock>>> = Mutex::new(BTreeMap::new());
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl File {
    pub(super) fn open(path: &Path) -> Result<File, CheckpointError> {
        let mut locks = locks();
        let lock = match locks.get(path).and_then(Weak::upgrade) {
            Some(lock) => lock,
            None => match lock::Lock::take(&beside(path, "lock")) {
                Ok(Some(lock)) => Arc::new(lock),
                Ok(None) => {
                    return Err(CheckpointError::new(path, ErrorKind::InUse, "another process is using it"));
                }
                Err(error) => return Err(CheckpointError::new(path, ErrorKind::Io, error.to_string())),
            },
        };
        locks.insert(path.to_owned(), Arc::downgrade(&lock));
        Ok(File { path: path.to_owned(), _lock: lock })
    }

    pub(super) fn error(&self, kind: ErrorKind, what: impl Into<String>) -> CheckpointError {
        CheckpointError::new(&self.path, kind, what)
    }

    /// The entry of that model.
    pub(super) fn entry(&self, subject: &Subject) -> Result<Option<Entry>, CheckpointError> {
        let _alone = locks();
        let mut entries = self.read()?;
        if let Some(at) = entries.iter().position(|entry| entry.what == subject.what) {
            return Ok(Some(entries.swap_remove(at)));
        }
        match entries.iter().find(|entry| entry.owner == subject.owner) {
            Some(other) => {
                let what = format!("it is of `{}`, not of `{}`", other.what, subject.what);
                Err(self.error(ErrorKind::OtherModel, what))
            }
            None => Ok(None),
        }
    }

    /// What was explored when `entry` was written, and the execution that failed then.
    pub(super) fn resumed(
        &self,
        entry: Entry,
        first: u64,
        bounds: &str,
    ) -> Result<(Report, Option<Graph>), CheckpointError> {
        if entry.bounds != bounds {
            let what = format!("its exploration of `{}` allows {}, this one {bounds}", entry.what, entry.bounds);
            return Err(self.error(ErrorKind::OtherModel, what));
        }
        if entry.first != first {
            let what = format!("the first execution of `{}` has other events than when it was written", entry.what);
            return Err(self.error(ErrorKind::ChangedProgram, what));
        }
        entry.into_report().map_err(|what| self.error(ErrorKind::Broken, what))
    }

    /// Replaces the entry of that model. A file without entries is removed.
    pub(super) fn put(&self, subject: &Subject, entry: Option<Entry>) -> Result<(), CheckpointError> {
        let _alone = locks();
        let mut entries = self.read()?;
        entries.retain(|entry| entry.what != subject.what);
        entries.extend(entry);
        let written = match entries.is_empty() {
            true => remove(&self.path),
            false => self.write(entries),
        };
        written.map_err(|error| self.error(ErrorKind::Io, error.to_string()))
    }

    fn read(&self) -> Result<Vec<Entry>, CheckpointError> {
        let io = |error: &io::Error| self.error(ErrorKind::Io, error.to_string());
        let text = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.map_err(|error| io(&error))?,
        };
        let broken = |what: &str| self.error(ErrorKind::Broken, format!("it is no checkpoint: {what}"));
        let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        let head: Head = serde_json::from_slice(&text[..end]).map_err(|error| broken(&error.to_string()))?;
        let engine = env!("CARGO_PKG_VERSION");
        if head.rc11_checkpoint != FORMAT || head.engine != engine {
            let what = format!(
                "rc11 {} has written it, in format {}; this is {engine}, which reads format {FORMAT}",
                if head.engine.is_empty() { "of another version" } else { &head.engine },
                head.rc11_checkpoint
            );
            return Err(self.error(ErrorKind::OtherVersion, what));
        }
        if head.program != program().map_err(io)? {
            return Err(self.error(ErrorKind::ChangedProgram, "the program was rebuilt since it was written"));
        }
        let rest = text.get(end + 1..).unwrap_or_default();
        if digest(rest) != head.sum {
            return Err(broken("it was cut off or changed"));
        }
        let Entries { entries } = serde_json::from_slice(rest).map_err(|error| broken(&error.to_string()))?;
        Ok(entries)
    }

    /// Written beside it first, so that a broken-off write does no harm.
    fn write(&self, entries: Vec<Entry>) -> io::Result<()> {
        let rest = serde_json::to_vec(&Entries { entries }).map_err(io::Error::other)?;
        let program = program().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
        let engine = env!("CARGO_PKG_VERSION").to_owned();
        let head = Head { rc11_checkpoint: FORMAT, engine, program, sum: digest(&rest) };
        let mut text = serde_json::to_vec(&head).map_err(io::Error::other)?;
        text.push(b'\n');
        text.extend(rest);
        let new = beside(&self.path, "new");
        fs::write(&new, text)?;
        fs::rename(&new, &self.path)
    }
}

/// `path` with one more extension.
fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The digest of this executable.
fn program() -> Result<u64, &'static io::Error> {
    static PROGRAM: OnceLock<io::Result<u64>> = OnceLock::new();
    // On Linux the first path leads to the executable even if another was built in its place meanwhile.
    let read = || fs::read("/proc/self/exe").or_else(|_| fs::read(env::current_exe()?));
    PROGRAM.get_or_init(|| read().map(|bytes| digest(&bytes))).as_ref().map(|digest| *digest)
}

/// Two texts of one length that differ in eight aligned bytes alone have different digests; others nearly always.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let add = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let mut chunks = bytes.chunks_exact(8);
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let sum = chunks.by_ref().fold(0, |sum, chunk| add(sum, u64::from_le_bytes(chunk.try_into().unwrap_or_default())));
    add(add(sum, word(chunks.remainder())), bytes.len() as u64)
}

/// A lock between processes: the operating system opens it when the process that holds it ends, however it ends.
mod lock {
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    #[derive(Debug)]
    pub(super) struct Lock {
        path: PathBuf,
        _file: fs::File,
    }

    impl Lock {
        /// `None`: another process has it.
        pub(super) fn take(path: &Path) -> io::Result<Option<Lock>> {
            loop {
                let Some(file) = open(path)? else { return Ok(None) };
                // The process that had it may have removed the file meanwhile: then this is no lock.
                if is_at(&file, path) {
                    return Ok(Some(Lock { path: path.to_owned(), _file: file }));
                }
            }
        }
    }

    impl Drop for Lock {
        fn drop(&mut self) {
            // A lock's file that stays does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }

    #[cfg(unix)]
    fn open(path: &Path) -> io::Result<Option<fs::File>> {
        use rustix::fs::{FlockOperation, flock};
        let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(unix)]
    fn is_at(file: &fs::File, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        matches!((file.metadata().map(id), fs::metadata(path).map(id)), (Ok(held), Ok(there)) if held == there)
    }

    #[cfg(windows)]
    fn open(path: &Path) -> io::Result<Option<fs::File>> {
        use std::os::windows::fs::OpenOptionsExt as _;
        const SHARING_VIOLATION: i32 = 32;
        let shared_with_none = fs::OpenOptions::new().write(true).create(true).share_mode(0).open(path);
        match shared_with_none {
            Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
            file => file.map(Some),
        }
    }

    #[cfg(not(any(unix, windows)))]
    fn open(path: &Path) -> io::Result<Option<fs::File>> {
        fs::OpenOptions::new().write(true).create(true).truncate(false).open(path).map(Some)
    }

    #[cfg(not(unix))]
    fn is_at(_: &fs::File, _: &Path) -> bool {
        true
    }
}
