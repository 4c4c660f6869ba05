//! What is printed: whether it arrived, and in which colours.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;

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
    note(io::stdout().write_all(text.as_bytes()));
}

/// Was all that was printed written? If not, why not.
pub fn lost() -> Option<&'static io::Error> {
    note(io::stdout().flush());
    LOST.get()
}

/// Writes a file as a whole or not at all: beside its place first, then renamed. What is no regular file, such as a pipe, is
/// written to directly.
///
/// # Errors
/// The file cannot be written: says which. What stood there before stands there still.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot write {}: {error}", path.display());
    if path.exists() && !path.is_file() {
        return fs::write(path, text).map_err(failed);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        // It may never have been made.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(failed)
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

/// Is there somebody who wants colours? <https://no-color.org>, <https://bixense.com/clicolors>.
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

/// A table with its verdicts in colours, if there is somebody who wants them.
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
