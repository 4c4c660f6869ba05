//! Counts the words of every file under a directory, on all cores.
//!
//! ```text
//! cargo run --release --example word_count -- [--sequential | --check] DIR
//! ```
//!
//! One task a file; a large file is cut into pieces by the task that read it, one task each. No task waits for another:
//! each takes a free tally from the bench (or a new one), counts into it, and puts it back. So there are as
//! many tallies as there were tasks at once, and only those are added up at the end.

use spinpark::{Runtime, go};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Instant;
use std::{env, fs};

const USAGE: &str = "usage: word_count [--sequential | --check] DIR

Counts the words of every file under DIR on all cores. A word is a run of letters and digits, in lower case.

  --sequential  on one thread
  --check       both ways; fails if they differ";

/// A file larger than this is cut into pieces of about this size.
const PIECE: usize = 1 << 20;

fn main() -> ExitCode {
    let code = run(env::args_os().skip(1), &mut io::stdout().lock(), &mut io::stderr().lock());
    ExitCode::from(code)
}

/// The program. 0: counted; 1: could not, or a check failed; 2: wrong arguments.
pub(crate) fn run(args: impl Iterator<Item = OsString>, out: &mut impl Write, err: &mut impl Write) -> u8 {
    let (flags, dirs): (Vec<_>, Vec<_>) = args.partition(|arg| arg.to_string_lossy().starts_with("--"));
    let [dir] = &dirs[..] else { return refuse(err, USAGE, 2) };
    let dir = Path::new(dir);
    let result = match flags.iter().filter_map(|flag| flag.to_str()).collect::<Vec<_>>()[..] {
        _ if flags.len() > 1 => return refuse(err, USAGE, 2),
        [] if flags.is_empty() => report(dir, on_all_cores, out),
        ["--sequential"] => report(dir, on_one_thread, out),
        ["--check"] => check(dir, out),
        _ => return refuse(err, USAGE, 2),
    };
    match result {
        Ok(tally) => {
            for (path, error) in &tally.skipped {
                let _ = writeln!(err, "word_count: skipped {}: {error}", path.display());
            }
            0
        }
        Err(error) => refuse(err, &format!("word_count: {error}"), 1),
    }
}

fn refuse(err: &mut impl Write, text: &str, code: u8) -> u8 {
    let _ = writeln!(err, "{text}");
    code
}

/// What was counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Files read.
    pub(crate) files: u64,
    /// How often each word came.
    pub(crate) words: HashMap<String, u64>,
    /// What could not be read, and why; in order when all is counted.
    pub(crate) skipped: Vec<(PathBuf, String)>,
}

impl Tally {
    /// Counts the words of `bytes`. What is no UTF-8 separates words.
    fn count(&mut self, bytes: &[u8]) {
        let mut lower = String::new();
        for word in String::from_utf8_lossy(bytes).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
        {
            lower.clear();
            lower.extend(word.chars().flat_map(char::to_lowercase));
            match self.words.get_mut(&lower) {
                Some(n) => *n += 1,
                None => drop(self.words.insert(lower.clone(), 1)),
            }
        }
    }

    fn skip(&mut self, path: &Path, error: &io::Error) {
        self.skipped.push((path.to_owned(), error.to_string()));
    }

    fn add(&mut self, other: Tally) {
        self.files += other.files;
        self.skipped.extend(other.skipped);
        for (word, n) in other.words {
            *self.words.entry(word).or_default() += n;
        }
    }

    /// The order in which files were read depends on the scheduler; what is shown does not.
    fn sorted(mut self) -> Tally {
        self.skipped.sort();
        self
    }
}

/// Every file under `dir`; symbolic links are not followed. Directories that cannot be read are skipped.
fn files(dir: &Path, tally: &mut Tally) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = left.pop() {
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                tally.skip(&dir, &error);
                continue;
            }
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
                Ok((kind, path)) if kind.is_dir() => left.push(path),
                Ok((kind, path)) if kind.is_file() => found.push(path),
                Ok(_) => {} // a link, a socket, …: no words of its own
                Err(error) => tally.skip(&dir, &error),
            }
        }
    }
    found
}

/// Counts everything under `dir` on this thread.
///
/// # Errors
/// If `dir` is no directory that can be read.
pub(crate) fn on_one_thread(dir: &Path) -> io::Result<Tally> {
    fs::read_dir(dir)?;
    let mut tally = Tally::default();
    for path in files(dir, &mut tally) {
        match fs::read(&path) {
            Ok(bytes) => {
                tally.files += 1;
                tally.count(&bytes);
            }
            Err(error) => tally.skip(&path, &error),
        }
    }
    Ok(tally.sorted())
}

/// Counts everything under `dir` on all cores.
///
/// # Errors
/// If `dir` is no directory that can be read, or thread creation failed.
pub(crate) fn on_all_cores(dir: &Path) -> io::Result<Tally> {
    fs::read_dir(dir)?;
    let runtime = Runtime::new().map_err(io::Error::other)?;
    let mut total = Tally::default();
    let bench = Arc::new(Bench::default());
    // Nothing is ever sent: it ends when the last task has dropped its end.
    let (end, all_ended) = mpsc::channel::<()>();
    for path in files(dir, &mut total) {
        let (bench, end) = (Arc::clone(&bench), end.clone());
        runtime.go(move || read_and_count(&path, &bench, &end));
    }
    drop(end);
    let _ = all_ended.recv();
    for tally in bench.free.lock().expect("no task panics in there").drain(..) {
        total.add(tally);
    }
    Ok(total.sorted())
}

/// Tallies that no task uses now.
#[derive(Default)]
struct Bench {
    free: Mutex<Vec<Tally>>,
}

impl Bench {
    fn with(&self, f: impl FnOnce(&mut Tally)) {
        let free = || self.free.lock().expect("no task panics in there");
        let taken = free().pop();
        let mut tally = taken.unwrap_or_default();
        f(&mut tally);
        free().push(tally);
    }
}

fn read_and_count(path: &Path, bench: &Arc<Bench>, end: &mpsc::Sender<()>) {
    let bytes = match fs::read(path) {
        Ok(bytes) => Arc::new(bytes),
        Err(error) => return bench.with(|tally| tally.skip(path, &error)),
    };
    let mut from = 0;
    while bytes.len() - from > PIECE {
        let to = cut(&bytes, from + PIECE);
        let (bytes, bench, end) = (Arc::clone(&bytes), Arc::clone(bench), end.clone());
        go(move || {
            bench.with(|tally| tally.count(&bytes[from..to]));
            drop(end);
        });
        from = to;
    }
    bench.with(|tally| {
        tally.files += 1;
        tally.count(&bytes[from..]);
    });
}

/// The first place from `at` on where neither a word nor a character can be cut in two.
fn cut(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(u8::is_ascii_whitespace).map_or(bytes.len(), |n| at + n)
}

fn report(dir: &Path, count: fn(&Path) -> io::Result<Tally>, out: &mut impl Write) -> io::Result<Tally> {
    let start = Instant::now();
    let tally = count(dir).map_err(|error| about(dir, &error))?;
    let seconds = start.elapsed().as_secs_f64();
    writeln!(out, "files     {:>12}", tally.files)?;
    writeln!(out, "words     {:>12}", tally.words.values().sum::<u64>())?;
    writeln!(out, "distinct  {:>12}", tally.words.len())?;
    let mut top: Vec<_> = tally.words.iter().collect();
    top.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (word, n) in top.into_iter().take(10) {
        writeln!(out, "  {word:<20} {n:>12}")?;
    }
    writeln!(out, "seconds   {seconds:>12.3}")?;
    Ok(tally)
}

fn check(dir: &Path, out: &mut impl Write) -> io::Result<Tally> {
    writeln!(out, "on one thread")?;
    let one = report(dir, on_one_thread, out)?;
    writeln!(out, "on all cores")?;
    let all = report(dir, on_all_cores, out)?;
    if one != all {
        return Err(io::Error::other("the two counts differ: did a file change meanwhile?"));
    }
    writeln!(out, "both counts are the same")?;
    Ok(all)
}

fn about(dir: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot count {}: {error}", dir.display()))
}
