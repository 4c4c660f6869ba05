//! What the documents name is there: links, paths of files, identifiers.

use super::{files, quoted, read, root};
use std::collections::BTreeSet;

/// Folders of the project's own text.
const FOLDERS: [&str; 8] = ["src", "verification", "proptests", "docs", "tests", "examples", "benches", ".ci"];

/// Names of other projects: Go's functions, C's, the system's.
const OF_OTHERS: &[&str] = &[
    // Go.
    "LockOSThread",
    "SetMaxThreads",
    "UnlockOSThread",
    "adjustCgroupGOMAXPROCS",
    "asyncPreempt",
    "checkRunqsNoP",
    "exitsyscallNoP",
    "exitsyscallTryGetP",
    "findRunnable",
    "forcePreemptNS",
    "gTrackingPeriod",
    "gcBgMarkWorker",
    "idlepMask",
    "mReserveID",
    "maybeAdd",
    "netpollBreak",
    "pidlegetSpinning",
    "preemptM",
    "runSafePointFn",
    "selectDone",
    "stealWork",
    "traceAcquire",
    "traceRelease",
    "waitReason",
    "wakeNetPoller",
    "wakeTime",
    "startTemplateThread",
    "templateThread",
    "newmHandoff",
    "pollCache",
    // C, Linux, other crates.
    "rseq_weak",
    "rseq_weak2",
    "EINTR",
    "scoped_tls",
];

/// The documents: their paths, and their texts. The changelog tells of what was.
pub(super) fn documents() -> Vec<(String, String)> {
    let top = ["README.md", "CONTRIBUTING.md"].map(str::to_owned);
    let below = FOLDERS.iter().flat_map(|folder| files(folder)).filter(|path| path.ends_with(".md"));
    top.into_iter().chain(below).map(|path| (path.clone(), read(&path))).collect()
}

/// A text without its blocks of code.
pub(super) fn prose(text: &str) -> String {
    text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n")
}

/// Is there such a file or folder, seen from the folder of the document `from`?
fn is_there(from: &str, path: &str) -> bool {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    root().join(folder).join(path).exists()
}

/// How a page that is read elsewhere, on the registry for instance, links to a file of the project: to read it, and to show it.
const OURS: [&str; 2] =
    ["https://github.com/spinpark/spinpark/blob/main/", "https://raw.githubusercontent.com/spinpark/spinpark/main/"];

/// The document and the path that a link is about; nothing if it leads out of the project, or stays on its page.
fn target<'a>(from: &'a str, link: &'a str) -> Option<(&'a str, &'a str)> {
    let path = link.split('#').next().unwrap_or_default();
    if let Some(path) = OURS.iter().find_map(|ours| path.strip_prefix(ours)) {
        return Some(("README.md", path));
    }
    let is_path = !path.is_empty() && !path.contains("://") && !path.contains(' ');
    is_path.then_some((from, path))
}

#[test]
fn link_to_what_is_there() {
    let mut found = 0;
    for (path, text) in documents() {
        for link in prose(&text).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if let Some((from, to)) = target(&path, link) {
                assert!(is_there(from, to), "{path}: there is no {link}");
                found += 1;
            }
        }
    }
    assert!(found > 100, "only {found} links");
}

/// The library's own pages are read on docs.rs, so their links are absolute, too.
#[test]
fn and_the_sources_link_to_files_of_ours_that_are_there() {
    let mut found = 0;
    for path in FOLDERS.iter().flat_map(|folder| files(folder)).filter(|path| path.ends_with(".rs")) {
        // It makes links up.
        if path.ends_with("ledger/the_documents.rs") {
            continue;
        }
        let text = read(&path);
        for rest in OURS.iter().flat_map(|ours| text.split(ours).skip(1)) {
            let link = rest.split(|c: char| c.is_whitespace() || ")#>\"".contains(c)).next().unwrap_or_default();
            assert!(is_there("README.md", link), "{path}: there is no {link}");
            found += 1;
        }
    }
    assert!(found >= 5, "only {found} links");
}

/// Paths of files as they are written in prose and in comments: `src/kernel/src/protocol/{spinning,find}.rs`.
fn paths(text: &str) -> Vec<String> {
    let ends = |c: char| !(c.is_alphanumeric() || "_-./{},".contains(c));
    let words = text.split(ends).map(|word| word.trim_end_matches(['.', ',']));
    let is_path = |word: &&str| {
        let folder = word.split('/').next().unwrap_or_default();
        let kinds = [".rs", ".md", ".toml", ".txt", ".json", ".pml", ".litmus"];
        FOLDERS.contains(&folder) && word.contains('/') && kinds.iter().any(|kind| word.ends_with(kind))
    };
    words.filter(is_path).flat_map(spread).collect()
}

/// `models/{sched,whole}.rs` as two paths.
pub(super) fn spread(path: &str) -> Vec<String> {
    let Some((before, (inner, after))) =
        path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return vec![path.to_owned()];
    };
    inner.split(',').map(|part| format!("{before}{part}{after}")).collect()
}

/// Stands for a name in an explanation.
const PLACEHOLDERS: [&str; 3] = ["verification/litmus/NAME.litmus", "src/name.rs", "src/rooms/NAME.rs"];

#[test]
fn and_comments_name_files_that_are_there() {
    let sources = FOLDERS.iter().flat_map(|folder| files(folder)).filter(|path| path.ends_with(".rs"));
    let comments = sources.map(|path| {
        let text = read(&path);
        let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
        (path, lines.collect::<Vec<_>>().join("\n"))
    });
    let mut found = 0;
    for (path, text) in documents().into_iter().chain(comments) {
        for named in paths(&text).into_iter().filter(|named| !PLACEHOLDERS.contains(&named.as_str())) {
            // A package's own documents name its files from its own folder, too.
            let mut folders = std::path::Path::new(&path).ancestors();
            let is_there = folders.any(|folder| root().join(folder).join(&named).exists());
            assert!(is_there, "{path}: there is no {named}");
            found += 1;
        }
    }
    assert!(found > 150, "only {found} paths");
}

/// Words of the code, comments left out.
fn words() -> BTreeSet<String> {
    let is_source = |path: &String| [".rs", ".toml", ".pml", ".litmus", ".css"].iter().any(|end| path.ends_with(end));
    let sources = FOLDERS.iter().flat_map(|folder| files(folder)).filter(is_source);
    let mut words = BTreeSet::new();
    for path in sources.chain(["Cargo.toml".to_owned()]) {
        // This list is no evidence.
        if path.ends_with("ledger/the_documents.rs") {
            continue;
        }
        for line in read(&path).lines().filter(|line| !line.trim_start().starts_with("//")) {
            words.extend(line.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned));
        }
    }
    words
}

/// Does it look like the name of something in the code: a path, a type, a name of several words?
fn is_name(text: &str) -> bool {
    let text = text.trim_end_matches('!').trim_end_matches("()");
    let parts: Vec<&str> = text.split("::").collect();
    let is_word = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let has_hump = text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_type = text.starts_with(|c: char| c.is_ascii_uppercase());
    parts.iter().all(is_word) && (parts.len() > 1 || text.contains('_') || has_hump || is_type)
}

/// Pages whose stories are those of others, names included.
const THEIRS: [&str; 6] =
    ["/museum.md", "/findings.md", "/interop.md", "/rc11-peers.md", "/from-tokio.md", "/from-go.md"];

#[test]
fn name_what_is_in_the_sources() {
    let (words, mut found) = (words(), 0);
    for (path, text) in documents().into_iter().filter(|(path, _)| !THEIRS.iter().any(|page| path.ends_with(page))) {
        for name in prose(&text).lines().flat_map(|line| quoted(line).map(str::to_owned).collect::<Vec<_>>()) {
            if !is_name(&name) {
                continue;
            }
            for part in name.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|part| !part.is_empty()) {
                let is_known = words.contains(part) || OF_OTHERS.contains(&part) || is_made(part);
                assert!(is_known, "{path}: there is no `{part}` in the sources (`{name}`)");
                found += 1;
            }
        }
    }
    assert!(found > 500, "only {found} names");
}

/// Names that a macro puts together.
fn is_made(part: &str) -> bool {
    part.starts_with("any_two_moves_after_")
}

#[test]
fn are_read_with_sharp_eyes() {
    assert!(is_name("RunQueue::put") && is_name("store_load") && is_name("findRunnable") && !is_name("put it"));
    assert_eq!(paths("see src/kernel/{a,b}.rs, and no/such.rs"), ["src/kernel/a.rs", "src/kernel/b.rs"]);
    assert!(!words().contains("no_such_word_stands_in_any_source"));
    assert!(!is_there("docs/README.md", "guide/no-such-page.md"));
    let link = format!("{}src/kernel/src/host.rs#L1", OURS[0]);
    assert_eq!(target("docs/README.md", &link), Some(("README.md", "src/kernel/src/host.rs")));
    assert_eq!(target("docs/README.md", "https://github.com/tokio-rs/loom/issues/166"), None);
}

#[test]
fn stand_in_the_books_contents_and_on_its_first_page() {
    let (contents, first) = (read("docs/SUMMARY.md"), read("docs/README.md"));
    let pages = files("docs").into_iter().filter(|path| path.ends_with(".md"));
    let pages = pages.map(|path| path.trim_start_matches("docs/").to_owned());
    let pages: Vec<String> = pages.filter(|path| path.contains('/')).collect();
    assert!(pages.len() > 20, "only {pages:?}");
    for page in pages {
        assert!(contents.contains(&format!("]({page})")), "docs/SUMMARY.md does not list {page}");
        assert!(first.contains(&format!("]({page})")), "docs/README.md does not list {page}");
    }
}

/// The registry shows the README without the rest of the package, so a relative link leads nowhere there.
#[test]
fn of_the_first_page_are_absolute_and_short() {
    let text = read("README.md");
    for link in prose(&text).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(link.starts_with("https://"), "README.md: {link} is not to be found from the registry's page");
    }
    let lines = text.lines().count();
    assert!(lines <= 120, "README.md has {lines} lines");
}
