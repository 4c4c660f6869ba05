//! The seams of the runtime, read from its source: the real host knows nothing of the simulated one, and imports run one way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join("runtime")
}

/// The source of each file of the runtime, by its path there, without tests and comments.
fn files() -> BTreeMap<String, String> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![runtime()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && !["tests.rs", "testing.rs", "driver.rs"].contains(&&*name) {
                let inside = path.strip_prefix(runtime()).expect("below it");
                let text = fs::read_to_string(&path).expect("text");
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let code = lines.map(|line| format!("{line}\n")).collect();
                files.insert(inside.to_string_lossy().replace('\\', "/"), code);
            }
        }
    }
    assert!(files.len() > 80, "only {} files", files.len());
    files
}

mod the_real_host {
    use super::*;

    /// What is on the way of a real thread: the host, and an M's life.
    const REAL: [&str; 13] = [
        "host/cores.rs",
        "host/futex.rs",
        "host/futex/linux.rs",
        "host/futex/slices.rs",
        "host/cheaprand.rs",
        "host/template.rs",
        "host/thread_config.rs",
        "host/threads.rs",
        "host/signal.rs",
        "exec/mloop.rs",
        "exec/current_worker.rs",
        "exec/task.rs",
        "events.rs",
    ];

    #[test]
    fn knows_nothing_of_the_simulated_one() {
        let files = files();
        for name in REAL {
            let text = files.get(name).unwrap_or_else(|| panic!("{name} is gone"));
            let is_simulation = |word: &str| ["sim", "Sim", "machine_for"].contains(&word);
            let found: Vec<_> =
                text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| is_simulation(word)).collect();
            assert!(found.is_empty(), "{name} says {found:?}");
        }
    }
}

mod thread_locals {
    use super::*;

    /// `thread_state!` keeps each behind a function that is not inlined: see tests/thread_locals.rs.
    #[test]
    fn are_declared_in_one_place() {
        let declares = |text: &str| text.contains("thread_local!") || text.contains("#[thread_local]");
        let found: Vec<_> = files().into_iter().filter(|(_, text)| declares(text)).map(|(file, _)| file).collect();
        assert_eq!(found, ["host/thread_state.rs"]);
    }
}

mod imports {
    use super::*;

    /// The module of a file, as a path below `crate::runtime`.
    fn module(file: &str) -> Vec<String> {
        let path = file.strip_suffix(".rs").unwrap_or(file);
        let path = path.strip_suffix("/mod").unwrap_or(path);
        if path == "mod" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
    }

    /// The paths that a piece of source names, from `prefix` on: `{a, b::{c, d}}` is three.
    fn expand(tree: &str) -> Vec<String> {
        let Some((head, rest)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
        let rest = rest.strip_suffix('}').unwrap_or(rest);
        let (mut depth, mut parts) = (0, vec![String::new()]);
        for c in rest.chars() {
            match c {
                ',' if depth == 0 => parts.push(String::new()),
                _ => {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    parts.last_mut().expect("one").push(c);
                }
            }
        }
        let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
        parts.flat_map(expand).map(|path| format!("{}{path}", head.trim())).collect()
    }

    /// Which files each imports, by `use crate::runtime::…` or by such a path in its text.
    fn edges() -> BTreeMap<String, BTreeSet<String>> {
        let files = files();
        let modules: BTreeMap<_, _> = files.keys().map(|file| (module(file), file.clone())).collect();
        let resolve = |path: &str| {
            let mut path: Vec<String> = path.split("::").map(str::to_owned).collect();
            while !path.is_empty() && !modules.contains_key(&path) {
                path.pop();
            }
            modules[&path].clone()
        };
        let mut edges = BTreeMap::new();
        for (file, text) in &files {
            let mut to = BTreeSet::new();
            for (at, _) in text.match_indices("crate::runtime::") {
                // In a macro it is a path of its user's; in a visibility it is none.
                if text[..at].ends_with('$') || text[..at].ends_with("pub(in ") {
                    continue;
                }
                let rest = &text[at + "crate::runtime::".len()..];
                let is_use = text[..at].ends_with("use ");
                let end = match is_use {
                    true => rest.find(';').expect("an end"),
                    false => rest.find(|c: char| !c.is_alphanumeric() && !"_:".contains(c)).unwrap_or(rest.len()),
                };
                to.extend(expand(&rest[..end]).iter().map(|path| resolve(path)));
            }
            // Its own children, which it names without the beginning.
            let me = module(file);
            for line in text.lines().filter_map(|line| line.trim().split_once("use ").map(|(_, path)| path)) {
                let child: Vec<_> = me.iter().cloned().chain(line.split("::").next().map(str::to_owned)).collect();
                to.extend(modules.get(&child).cloned());
            }
            to.remove(file);
            edges.insert(file.clone(), to);
        }
        edges
    }

    /// All that can be reached from `from`.
    fn reach(edges: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(file) = todo.pop() {
            for to in &edges[&file] {
                if seen.insert(to.clone()) {
                    todo.push(to.clone());
                }
            }
        }
        seen
    }

    fn folder(file: &str) -> &str {
        file.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    #[test]
    fn run_in_no_circle_but_one_of_two_files() {
        let edges = edges();
        assert!(edges.values().map(BTreeSet::len).sum::<usize>() > 300, "the imports are not found");
        let reached: BTreeMap<_, _> = edges.keys().map(|file| (file.clone(), reach(&edges, file))).collect();
        let mut circles = BTreeSet::new();
        for file in edges.keys().filter(|&file| reached[file].contains(file)) {
            let is_in = |other: &&String| reached[file].contains(*other) && reached[*other].contains(file);
            circles.insert(edges.keys().filter(is_in).cloned().collect::<Vec<_>>());
        }
        for circle in &circles {
            assert!(circle.len() <= 3, "a circle of imports: {circle:?}");
            assert!(circle.iter().all(|file| folder(file) == folder(&circle[0])), "one across folders: {circle:?}");
        }
        assert_eq!(circles.len(), 1, "{circles:?}");
    }
}
