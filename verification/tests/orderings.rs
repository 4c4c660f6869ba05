//! Each ordering of the kernel stronger than `Relaxed` is held by a mutant that some model kills (`tests/cli.rs` sees
//! to that), or stands in `survivors.toml` with its reason.

use serde::Deserialize;
use spinpark_verification::mutant::{self, Mutation, SOURCES};
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
    SOURCES.iter().copied().filter(|(file, _)| file.starts_with("kernel/"))
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
    let (_, text) = kernel().find(|(file, _)| *file == survivor.file)?;
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| !line.contains(&survivor.after));
    let (index, _) = lines.find(|(_, line)| line.contains(&survivor.needle))?;
    Some((survivor.file.clone(), index as u32 + 1))
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
            if let Mutation::Weaken { file, after, needle } = mutant.mutation {
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

    #[test]
    fn in_a_comment_above_it() {
        let mut bare = Vec::new();
        for (file, text) in kernel().chain([SOURCES[0]]) {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for (index, line) in lines.iter().enumerate() {
                let orderings = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
                let accesses = [".load(", ".store(", ".swap(", ".fetch_add(", ".fetch_sub(", ".compare_exchange("];
                let is_access = accesses.iter().any(|access| line.contains(access)) || line.contains("store_load::<H>");
                let names_one =
                    orderings.iter().any(|ordering| line.contains(ordering)) || line.contains("store_load::<H>");
                if !is_access || !names_one || line.starts_with("//") {
                    continue;
                }
                let above =
                    lines[..index].iter().rev().take_while(|above| above.starts_with("//") || above.ends_with("in"));
                let argued = |above: &&&str| {
                    let text = above.trim_start_matches("// ");
                    orderings.iter().any(|ordering| text.starts_with(ordering)) || text.starts_with('`')
                };
                let near = lines[index.saturating_sub(4)..index].iter();
                if !above.clone().any(|line| argued(&line))
                    && !near.filter(|line| line.starts_with("//")).any(|line| argued(&line))
                {
                    bare.push(format!("{file}:{} {line}", index + 1));
                }
            }
        }
        assert!(bare.is_empty(), "no comment that opens with the ordering or the pair:\n{}", bare.join("\n"));
    }
}
