//! Sentences name their actor: docs/reference/vocabulary.md. Words that hide it, or that only this project had, are not written.

use super::{files, read, root};

/// Where the words are looked for.
const FOLDERS: [&str; 18] = [
    "docs",
    "src",
    "examples",
    "benches",
    "tests",
    "proptests",
    "verification/cli",
    "verification/rc11",
    ".ci",
    "verification/src",
    "verification/rooms",
    "verification/parameterized",
    "verification/paths",
    "verification/mutants/mutator",
    "verification/mutants/src",
    "verification/mutants/kernel",
    "verification/litmus",
    "verification/museum",
];

/// Each, as it begins a word; a name with a hyphen or an underscore is another word.
const WORDS: [&str; 3] = ["nobody", "somebody", "whoever"];

/// Phrases for which the field has a term.
const PHRASES: [&str; 18] = [
    "by lot",
    "make way",
    "makes way",
    "made way for",
    "thread to be had",
    "leaves word",
    "come by",
    "comes by",
    "seeker",
    "called upon",
    "order of coming",
    "how manieth",
    "behind the back",
    "told to stop before it ended",
    "time was over before it was ready",
    "for no reason",
    "in vain",
    "in the wings",
];

/// Files in which a word is a name, and how many lines have it: a user of the system, a mutant that there is not, outcomes that are
/// recorded, code that mutants are named by; or is quoted.
const NAMES: &[(&str, usize)] = &[
    ("docs/reference/vocabulary.md", 1),
    ("proptests/tests/fuzz_cli.rs", 3),
    ("src/kernel/src/task/stackful.rs", 3),
    ("src/kernel/src/task/word.rs", 1),
    ("src/kernel/src/waits/broadcast.rs", 1),
    ("proptests/tests/sched_oracle.rs", 5),
    ("tests/ecosystem/postgres/server.rs", 1),
    ("tests/https_proxy.rs", 1),
    ("verification/survivors.toml", 3),
    ("verification/museum/src/go/stop.rs", 4),
    ("verification/src/harness/goroutine.rs", 3),
    ("verification/src/harness/transcript.rs", 1),
    ("verification/src/models/idling.rs", 2),
    ("verification/src/models/locked/real.rs", 1),
    ("verification/src/models/poll.rs", 3),
    ("verification/src/models/poll/sysmon.rs", 4),
    ("verification/src/models/poll/waits.rs", 1),
    ("verification/src/models/poller.rs", 1),
    ("verification/src/models/work_source.rs", 4),
    ("verification/src/spec/hands.rs", 4),
    ("verification/src/spec/look.rs", 1),
];

/// The lines with one of them: comments, texts and messages.
fn found(text: &str) -> Vec<&str> {
    let has_word = |line: &str| {
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || "_-".contains(c)));
        words.any(|word| WORDS.contains(&word.to_lowercase().as_str()))
    };
    let has_phrase = |line: &str| {
        let line =
            format!(" {} ", line.to_lowercase().replace(|c: char| !(c.is_alphanumeric() || "_-".contains(c)), " "));
        PHRASES.iter().any(|phrase| line.contains(phrase) && line.contains(&format!(" {phrase} ")))
    };
    text.lines().filter(|line| has_word(line) || has_phrase(line)).collect()
}

#[test]
fn that_hide_an_actor_are_not_written() {
    let is_text = |path: &String| [".rs", ".md", ".py", ".toml", ".svg"].iter().any(|end| path.ends_with(end));
    let below = FOLDERS.iter().flat_map(|folder| files(folder)).filter(is_text);
    // What these tell are names of mutants, of models, and stories: written by `cargo verify museum`.
    let below = below.filter(|path| path != "docs/evidence/museum.md");
    let top = [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "verification/README.md",
        "verification/survivors.toml",
        "verification/open-steps.txt",
    ]
    .map(str::to_owned);
    for path in below.chain(top) {
        let (text, named) = (read(&path), NAMES.iter().find(|(name, _)| *name == path).map_or(0, |(_, n)| *n));
        let found = found(&text);
        assert!(found.len() == named, "{path}: {found:#?}; docs/reference/vocabulary.md says what to write");
    }
}

#[test]
fn are_excused_only_in_files_that_are_there() {
    let gone: Vec<_> = NAMES.iter().filter(|(path, _)| !root().join(path).is_file()).collect();
    assert!(gone.is_empty(), "{gone:#?}");
}

#[test]
fn are_seen_in_sentences_and_not_in_names() {
    assert_eq!(
        found("Nobody has it.\nwakes-nobody\nsomebody_waits\nIt is drawn by lot."),
        ["Nobody has it.", "It is drawn by lot."]
    );
}
