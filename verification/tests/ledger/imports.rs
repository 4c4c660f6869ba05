//! Which file imports which: the picture in docs/reference/architecture.md, and no circles.

use super::kernel;
use std::collections::{BTreeMap, BTreeSet};

/// What a file of the kernel may import besides `types`, of what is not glue. A room imports no other room.
const DRAWN: &[(&str, &[&str])] = &[
    // Counters that start near their wrap, of the Ps of a whole scheduler.
    // And the ring, of which a model knows the owner.
    ("model", &["protocol/syscall", "queues/runq", "sched", "sched/observer"]),
    // The reason for a deadlock is said in the words of the waiter.
    ("protocol/deadlock", &["protocol/locked"]),
    // The places where work can be, and their order.
    ("protocol/find", &["protocol/sources"]),
    ("protocol/handoff", &["protocol/sources"]),
    // The test for emptiness, and the bound on overtaking, need both.
    ("queues/local", &["queues/runnext", "queues/runq"]),
    ("queues/owner", &["queues/runq"]),
    ("queues/runq", &["queues/capacity"]),
];

/// The modules that a text imports of its crate, as paths of files: the longest that is one.
fn imported(text: &str, is_file: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let path = "crate::";
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = code.flat_map(|line| line.split(path).skip(1).map(str::to_owned).collect::<Vec<_>>());
    let mut found = BTreeSet::new();
    for path in paths {
        let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(path.len());
        let mut parts: Vec<&str> = path[..end].split("::").filter(|part| !part.is_empty()).collect();
        while !parts.is_empty() && !is_file(&parts.join("/")) {
            parts.pop();
        }
        if !parts.is_empty() {
            found.insert(parts.join("/"));
        }
    }
    found
}

#[test]
fn are_those_that_are_drawn() {
    let kernel = kernel();
    let drawn: BTreeMap<&str, &[&str]> = DRAWN.iter().copied().collect();
    for (name, text) in kernel.iter().filter(|(name, _)| !name.starts_with("sched")) {
        let imported = imported(text, |path| kernel.contains_key(path));
        let of_others = |path: &&String| !path.starts_with("types/") && *path != name;
        let others: BTreeSet<&str> = imported.iter().filter(of_others).map(String::as_str).collect();
        let allowed: BTreeSet<&str> = drawn.get(name.as_str()).into_iter().copied().flatten().copied().collect();
        assert!(others == allowed, "{name} imports {others:?} besides `types`, and {allowed:?} is drawn");
    }
    for (name, _) in DRAWN {
        assert!(kernel.contains_key(*name), "{name} is drawn, and is not there");
    }
}

#[test]
fn of_the_kernel_reach_no_std_and_no_runtime() {
    for (name, text) in &kernel() {
        let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        for line in code {
            let strays = ["use std::", "spinpark::runtime", "use tokio", "use loom"];
            assert!(!strays.iter().any(|stray| line.contains(stray)), "{name}.rs: {line}");
        }
    }
}

/// Files that can reach each other by imports, in groups of two or more.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(file) = next.pop() {
            for to in imports.get(&file).into_iter().flatten() {
                if seen.insert(to.clone()) {
                    next.push(to.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> = imports.keys().map(|file| (file, reached(file))).collect();
    let mut found: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (file, to) in &reach {
        let back = |other: &&String| reach.get(other).is_some_and(|reach| reach.contains(*file));
        let mut circle: BTreeSet<String> = to.iter().filter(back).cloned().collect();
        circle.insert((*file).clone());
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// Which files of the kernel import which.
fn among_the_kernel() -> BTreeMap<String, BTreeSet<String>> {
    let files = kernel();
    let imports = |(file, text): (&String, &String)| {
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut to = imported(code, |path| files.contains_key(path));
        to.remove(file);
        (file.clone(), to)
    };
    files.iter().map(imports).collect()
}

#[test]
fn of_the_kernel_make_no_circle() {
    // The glue is one type, `Sched`, in several files: that is what a circle within `sched` is.
    let is_glue = |circle: &BTreeSet<String>| circle.iter().all(|file| file.starts_with("sched"));
    let circles: Vec<_> = circles(&among_the_kernel()).into_iter().filter(|circle| !is_glue(circle)).collect();
    assert!(circles.is_empty(), "{circles:?}");
}

#[test]
fn that_go_round_are_seen() {
    let to = |files: &[&str]| files.iter().map(|&file| file.to_owned()).collect::<BTreeSet<_>>();
    let imports = [("a", to(&["b"])), ("b", to(&["c"])), ("c", to(&["a"])), ("d", to(&["a"]))];
    let imports = imports.into_iter().map(|(file, to)| (file.to_owned(), to)).collect();
    assert_eq!(circles(&imports), [to(&["a", "b", "c"])]);
}
