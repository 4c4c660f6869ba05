//! The lists are held against the sources.

use crate::{COMPOSED, given_up, ready};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The files of the runtime, without tests and comments, by name.
fn files(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the sources are there").path();
        if path.is_dir() {
            files(&path, root, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).expect("a source");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let name = path.strip_prefix(root).expect("below it").with_extension("").display().to_string();
            found.push((name.trim_end_matches("/mod").to_owned(), lines.collect::<Vec<_>>().join("\n")));
        }
    }
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or_default()
}

/// The functions that are polled, by name: `pub async fn`, and what takes a `Context` and returns a `Poll`.
fn functions(code: &str) -> impl Iterator<Item = String> + '_ {
    let of_async = code.split("pub async fn ").skip(1).map(word);
    let by_hand = code.split("pub fn ").skip(1).filter_map(|text| {
        let signature = text.split(['{', ';']).next()?;
        (signature.contains("Context<") && signature.contains("-> Poll<")).then(|| word(text))
    });
    of_async.chain(by_hand).map(str::to_owned)
}

/// What implements a trait that is polled, as `trait for type`.
fn implementations(code: &str) -> impl Iterator<Item = String> + '_ {
    const TRAITS: [&str; 8] =
        ["Future", "Stream", "Sink", "AsyncRead", "AsyncWrite", "AsyncSeek", "AsyncBufRead", "Read"];
    code.lines().filter(|line| line.trim_start().starts_with("impl")).filter_map(|line| {
        let (head, name) = line.split_once(" for ")?;
        let what = head.rsplit(' ').next()?;
        let plain = what.rsplit("::").next()?.split('<').next()?;
        let is_polled = TRAITS.contains(&plain) || what == "rt::Write";
        is_polled.then(|| format!("{what} for {}", word(name.trim_start_matches("::"))))
    })
}

/// All there are: `file function`, or `file trait for type`.
fn leaves() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/runtime");
    let mut found = Vec::new();
    files(&root, &root, &mut found);
    // Its `Stream` is a trait of its own, its `Read` std's; `advance` needs a paused runtime: tests/paused.rs has it.
    let is_other =
        |file: &str| file.starts_with("io/netpoll/") || ["exec/goroutine/wait_io", "time/pause"].contains(&file);
    let keys = found.iter().filter(|(file, _)| !is_other(file)).flat_map(|(file, code)| {
        functions(code).chain(implementations(code)).map(move |what| format!("{file} {what}"))
    });
    keys.collect()
}

/// `listed` are those that the sources have, no more and no fewer.
fn holds<'a>(listed: impl IntoIterator<Item = &'a str>) {
    let _alone = crate::alone();
    let (listed, leaves) = (listed.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), leaves());
    let missing: Vec<_> = leaves.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&leaves).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not in the list: {missing:#?}; not in the sources: {gone:#?}");
}

#[test]
fn the_list_of_those_that_are_always_ready_is_whole() {
    let listed = ready::LEAVES.iter().map(|&(name, _)| name);
    holds(listed.chain(ready::NEVER_READY_AT_ONCE.iter().copied()).chain(COMPOSED.iter().copied()));
}

#[test]
fn the_list_of_those_that_are_given_up_is_whole() {
    let listed = given_up::LEAVES.iter().map(|&(name, _)| name);
    holds(listed.chain(given_up::LEAVES_NOTHING.iter().copied()).chain(COMPOSED.iter().copied()));
}
