//! Each ordering of the kernel stronger than `Relaxed` is held by a mutant that some model kills
//! (`verification/cli/tests/cli.rs` sees to that), or stands in `survivors.toml` with its reason.

use serde::Deserialize;
use spinpark_verification::mutation::mutant::{self, Mutation, SOURCES};
use spinpark_verification::sources::is_checked;
use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

#[derive(Deserialize)]
struct Survivors {
    survivor: Vec<Survivor>,
}

#[derive(Deserialize)]
struct Survivor {
    file: String,
    after: String,
    needle: String,
    reason: String,
    litmus: Option<String>,
}

type Site = (String, u32);

fn kernel() -> impl Iterator<Item = (&'static str, &'static str)> {
    SOURCES.iter().copied().filter(|(file, _)| is_checked(file))
}

/// Every line of the kernel that makes an access stronger than `Relaxed`, or a fence.
fn strong_lines() -> BTreeSet<Site> {
    let is_strong = |line: &str| {
        let line = line.trim_start();
        let is_code = !line.starts_with("//") && !line.starts_with("use ");
        let strong = ["Acquire)", "Acquire,", "Release)", "Release,", "AcqRel)", "AcqRel,", "SeqCst", "store_load::"];
        is_code && strong.iter().any(|word| line.contains(word))
    };
    let mut sites = BTreeSet::new();
    for (file, text) in kernel() {
        let lines = text.lines().enumerate().filter(|(_, line)| is_strong(line));
        sites.extend(lines.map(|(index, _)| (file.to_owned(), index as u32 + 1)));
    }
    sites
}

fn survivors() -> Vec<Survivor> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("survivors.toml");
    let text = fs::read_to_string(path).expect("survivors.toml is there");
    toml::from_str::<Survivors>(&text).expect("survivors.toml is well formed").survivor
}

fn site_of(survivor: &Survivor) -> Option<Site> {
    let line = mutant::line_of(&survivor.file, &survivor.after, &survivor.needle)?;
    Some((survivor.file.clone(), line))
}

mod every_file_of_the_kernel {
    use super::*;

    #[test]
    fn is_looked_at() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/kernel/src");
        let mut looked_at = 0;
        let folders = ["protocol", "queues", "sched", "task", "types", "waits"];
        let mut folders = folders.map(|folder| source.join(folder)).to_vec();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the kernel is there") {
                let path = entry.expect("it can be read").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(&source).expect("it is below").to_string_lossy();
                assert!(kernel().any(|(file, _)| file == name), "{name} is missing in sources::SOURCES");
                looked_at += 1;
            }
        }
        assert_eq!(looked_at, kernel().count(), "sources::SOURCES names a file that is gone");
    }
}

mod every_strong_ordering {
    use super::*;

    #[test]
    fn is_killed_or_survives_with_a_reason() {
        let mutants = mutant::all().filter_map(|mutant| mutant::site(mutant.mutation));
        let mut held: BTreeSet<Site> = mutants.map(|site| (site.file.to_owned(), site.line)).collect();
        held.extend(survivors().iter().filter_map(site_of));
        let strong = strong_lines();
        assert!(strong.len() >= 15, "only {} strong orderings were found in the kernel", strong.len());
        let loose: Vec<&Site> = strong.difference(&held).collect();
        assert!(loose.is_empty(), "neither a mutant nor survivors.toml holds {loose:?}");
    }
}

mod every_site {
    use super::*;

    #[test]
    fn of_a_mutant_exists() {
        for mutant in mutant::all() {
            if let Mutation::Weaken { file, after, needle, .. } = mutant.mutation {
                let site = mutant::site(mutant.mutation);
                assert!(site.is_some(), "{}: {file} has no `{needle}` after `{after}`", mutant.name);
            }
        }
    }

    #[test]
    fn of_a_survivor_exists_with_its_litmus_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        for survivor in survivors() {
            let Survivor { file, after, needle, reason, litmus } = &survivor;
            assert!(site_of(&survivor).is_some(), "{file} has no `{needle}` after `{after}`");
            assert!(reason.trim().len() > 10, "{file}, {after}: no reason is given");
            assert!(litmus.iter().all(|litmus| folder.join(litmus).exists()), "{litmus:?} is not there");
        }
    }
}

mod every_ordering_is_argued {
    use super::*;

    const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
    const ACCESSES: [&str; 6] = [".load(", ".store(", ".swap(", ".fetch_add(", ".fetch_sub(", ".compare_exchange("];
    /// An expression may take a few lines between its comment and its ordering.
    const NEAR: usize = 4;

    fn is_access(line: &str) -> bool {
        let names_an_ordering = ORDERINGS.iter().any(|ordering| line.contains(ordering));
        let accesses = ACCESSES.iter().any(|access| line.contains(access)) && names_an_ordering;
        (accesses || line.contains("store_load::<H>")) && !line.starts_with("//")
    }

    fn opens_with_an_ordering_or_a_pair(line: &str) -> bool {
        line.strip_prefix("// ").is_some_and(|text| {
            text.starts_with('`') || ORDERINGS.iter().any(|ordering| text.starts_with(&format!("{ordering}:")))
        })
    }

    #[test]
    fn in_a_comment_above_it() {
        let mut bare = Vec::new();
        for (file, text) in kernel() {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for (index, line) in lines.iter().enumerate().filter(|(_, line)| is_access(line)) {
                // A comment of several lines opens above its last.
                let mut above = lines[..index].iter().rev();
                let gap = above.clone().take(NEAR).position(|line| line.starts_with("//"));
                let argued = gap.is_some_and(|gap| {
                    let comment = above.by_ref().skip(gap).take_while(|line| line.starts_with("//"));
                    comment.into_iter().any(|line| opens_with_an_ordering_or_a_pair(line))
                });
                if !argued {
                    bare.push(format!("{file}:{} {line}", index + 1));
                }
            }
        }
        assert!(bare.is_empty(), "no comment that opens with the ordering or the pair:\n{}", bare.join("\n"));
    }
}
