//! What a run leaves for others to read: a record, which shards of a run add up to, and pages made from it.

pub mod html;
pub mod junit;
pub mod record;
#[cfg(test)]
mod sample;
pub mod shard;

use record::{FORMAT, Record};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// What every format has, so that a newer one is known before its fields are asked for.
#[derive(Deserialize)]
struct Head {
    format: Option<u32>,
}

/// The record in a file. The error says which file, what is wrong with it, and what to do.
pub fn read(path: &Path) -> Result<Record, String> {
    let file = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("{file}: cannot be read: {error}"))?;
    parse(&text).map_err(|error| format!("{file}: {error}"))
}

fn parse(text: &str) -> Result<Record, String> {
    let broken = |error| format!("no record, or a broken one: {error}; make it again with `cargo verify`");
    let head: Head = serde_json::from_str(text).map_err(broken)?;
    match head.format {
        None | Some(0) => Err("no record of a run: it has no `format`".to_owned()),
        Some(newer) if newer > FORMAT => Err(format!(
            "a record of format {newer}, and this version reads up to {FORMAT}: use the spinpark that wrote it, or \
             newer"
        )),
        Some(_) => serde_json::from_str(text).map_err(broken),
    }
}

/// Writes a record where [`read`] finds it. Directories that are missing are made.
pub fn write(path: &Path, record: &Record) -> Result<(), String> {
    let file = path.display();
    let mut text = serde_json::to_string_pretty(record).map_err(|error| format!("{file}: {error}"))?;
    text.push('\n');
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, text)).map_err(|error| format!("{file}: cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("deep/down/record.json");
        let record = sample::record();
        write(&path, &record).expect("can be written");
        let again = read(&path).expect("can be read");
        assert_eq!(format!("{record:?}"), format!("{again:?}"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read(Path::new("/nowhere/record.json")).expect_err("nothing is there");
        assert!(error.starts_with("/nowhere/record.json: cannot be read: "), "{error}");
    }

    #[test]
    fn what_is_no_record_says_what_it_is() {
        for (text, says) in [
            ("", "no record, or a broken one: EOF"),
            ("[1, 2]", "no record, or a broken one"),
            ("{\"format\": 1, \"version\": \"0.1", "no record, or a broken one: EOF"),
            ("{\"runs\": []}", "it has no `format`"),
            ("{\"format\": 1}", "missing field `version`"),
            ("{\"format\": 7, \"all\": \"is new\"}", "a record of format 7, and this version reads up to 1"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
