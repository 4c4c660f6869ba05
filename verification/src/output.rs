//! What is printed: whether it arrived, and in which colours.

use crate::files;
use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The standard output is for a file that was asked for: what else is printed goes to the standard error.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Keeps the standard output for a file that was asked for as `-`.
pub fn take() {
    // Relaxed: by the thread that prints.
    IS_TAKEN.store(true, Relaxed);
}

/// Why something that was printed did not arrive.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// What became of something that was printed. A reader that has gone away, as `| head` does, is no error of ours.
pub fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error);
    }
}

/// Prints `text` as it is.
pub fn print(text: &str) {
    // Relaxed: as in `take`.
    match IS_TAKEN.load(Relaxed) {
        true => note(io::stderr().write_all(text.as_bytes())),
        false => note(io::stdout().write_all(text.as_bytes())),
    }
}

/// Writes `text` to this file; `-` is the standard output.
///
/// # Errors
/// If the file system says no: the file is as it was.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    if path == Path::new(STANDARD_OUTPUT) {
        note(io::stdout().write_all(text.as_bytes()));
        return Ok(());
    }
    replace(path, text)
}

/// A file of this name is the standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// Was all that was printed written? If not, why not.
pub fn lost() -> Option<&'static io::Error> {
    note(io::stdout().flush());
    LOST.get()
}

/// Writes a file as a whole or not at all: see [`files::write`].
///
/// # Errors
/// The file cannot be written: says which. What stood there before stands there still.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    files::write(path, text.as_bytes()).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// `1234567` as `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Are colours wanted? <https://no-color.org>, <https://bixense.com/clicolors>.
fn has_colours() -> bool {
    let is_set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let is_on = |value: OsString| value != "0";
    let is_dumb = || is_set("TERM").is_some_and(|term| term == "dumb");
    is_set("NO_COLOR").is_none()
        && (is_set("CLICOLOR_FORCE").is_some_and(is_on) || io::stdout().is_terminal() && !is_dumb())
}

const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const RED: &str = "\u{1b}[1;31m";
const END: &str = "\u{1b}[0m";

/// What is said of a model stands at the end of its line, what is said of a mutant at the beginning.
const LAST: [(&str, &str); 5] =
    [("  proved", GREEN), ("  explored", GREEN), ("  bounded", YELLOW), ("  sampled", YELLOW), ("  FAILED", RED)];
const FIRST: [(&str, &str); 3] = [("  killed ", GREEN), ("  SURVIVED ", RED), ("  NO MUTANT ", RED)];

/// A table with its verdicts in colours, if they are wanted.
pub fn painted(table: &str) -> String {
    if has_colours() { table.lines().map(|line| paint(line) + "\n").collect() } else { table.to_owned() }
}

fn paint(line: &str) -> String {
    if let Some((word, colour)) = LAST.iter().find(|(word, _)| line.starts_with("    ") && line.ends_with(word)) {
        let before = line.len() - word.len();
        return format!("{}{colour}{word}{END}", &line[..before]);
    }
    match FIRST.iter().find(|(word, _)| line.starts_with(word)) {
        Some((word, colour)) => format!("{colour}{word}{END}{}", &line[word.len()..]),
        None => line.to_owned(),
    }
}
