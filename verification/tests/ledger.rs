//! The books are balanced: what the documents say of the kernel is what stands in its source, and what the README says was
//! found is what the last recorded run found.

use spinpark_verification::engines::Verdict;
use spinpark_verification::mutation::mutant;
use spinpark_verification::publish::record::{Fate, Record};
use spinpark_verification::{model, museum, publish, report};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The kernel's files: their names without `.rs`, and their texts.
fn kernel() -> BTreeMap<String, String> {
    let folder = fs::read_dir(root().join("src/kernel")).expect("the kernel is there");
    let paths = folder.map(|entry| entry.expect("it can be read").path());
    let name = |path: &Path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    paths.map(|path| (name(&path), fs::read_to_string(&path).expect("it is text"))).collect()
}

/// Words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

mod every_pair {
    use super::*;

    /// The first column of the table, but for the lock, which has no name in the source.
    fn in_the_document() -> BTreeSet<String> {
        let text = read("docs/orderings.md");
        let rows = text.lines().filter(|line| line.starts_with("| `"));
        rows.filter_map(|row| quoted(row).next().map(str::to_owned)).collect()
    }

    /// How often each is named in a comment beside an access: `// Release: `publish`, …`, or `// `publish` …`.
    fn in_the_source() -> BTreeMap<String, usize> {
        const ORDERINGS: [&str; 4] = ["Acquire: ", "Release: ", "AcqRel: ", "SeqCst: "];
        let mut places = BTreeMap::new();
        // One that is not there any more is an error, not one less to read.
        let hosts =
            ["src/runtime/host/cores.rs", "verification/src/hosts/shuttle.rs", "verification/src/hosts/loom.rs"]
                .map(read);
        for text in kernel().into_values().chain(hosts) {
            let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("// "));
            for comment in comments {
                let argued = ORDERINGS.iter().find_map(|ordering| comment.strip_prefix(ordering)).unwrap_or(comment);
                let Some(name) = argued.strip_prefix('`').and_then(|rest| rest.split('`').next()) else { continue };
                // Who acquires and releases is both halves of a pair: for who came before, and for who comes after.
                let both = comment.starts_with("AcqRel: ");
                *places.entry(name.to_owned()).or_default() += if both { 2 } else { 1 };
            }
        }
        places
    }

    #[test]
    fn of_the_document_stands_in_two_places() {
        let (pairs, places) = (in_the_document(), in_the_source());
        assert!(pairs.len() >= 12, "only {pairs:?}");
        for pair in pairs {
            // `request` is argued where `baton` is, by the same access.
            let n = places.get(&pair).copied().unwrap_or(0);
            assert!(n >= 2 || pair == "request", "`{pair}` is named beside {n} accesses");
        }
    }

    #[test]
    fn of_the_source_stands_in_the_document() {
        let pairs = in_the_document();
        for (name, file) in kernel().iter().flat_map(|(file, text)| named_as_pairs(text).map(move |name| (name, file)))
        {
            assert!(pairs.contains(&name), "{file}.rs names the pair `{name}`, docs/orderings.md does not");
        }
    }

    /// Names that open an ordering's comment and say which half it is.
    fn named_as_pairs(text: &str) -> impl Iterator<Item = String> {
        let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("// "));
        let halves = comments.filter(|comment| comment.contains("half"));
        let names = halves.filter_map(|comment| {
            let argued = comment.split_once(": ").map_or(comment, |(_, rest)| rest);
            argued.strip_prefix('`').and_then(|rest| rest.split('`').next()).map(str::to_owned)
        });
        names.collect::<Vec<_>>().into_iter()
    }
}

mod every_room {
    use super::*;

    /// Files without a protocol: numbers, the map, who watches, evidence in debug builds.
    const NO_ROOMS: [&str; 4] = ["config", "evidence", "mod", "observer"];

    #[test]
    fn says_who_checks_it() {
        for (name, text) in kernel().iter().filter(|(name, _)| !NO_ROOMS.contains(&name.as_str())) {
            let line = text.lines().find_map(|line| line.strip_prefix("//! Checked by: "));
            let line = line.unwrap_or_else(|| panic!("{name}.rs does not say who checks it"));
            for path in line.split(", ").flat_map(spread) {
                let path = path.split_whitespace().next().unwrap_or_default().trim_end_matches(['.', ';']);
                assert!(root().join(path).exists(), "{name}.rs is checked by {path}, which is not there");
            }
        }
    }

    /// `models/{sched,whole}.rs` as two paths.
    fn spread(path: &str) -> Vec<String> {
        let Some((before, (inner, after))) =
            path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        else {
            return vec![path.to_owned()];
        };
        inner.split(',').map(|part| format!("{before}{part}{after}")).collect()
    }

    #[test]
    fn has_its_line_in_the_architecture() {
        let text = read("docs/architecture.md");
        for name in kernel().keys().filter(|name| !NO_ROOMS.contains(&name.as_str())) {
            assert!(text.contains(&format!("`{name}`")) || text.contains(&format!("{name}.rs")), "{name} is not drawn");
        }
    }
}

mod imports {
    use super::*;

    /// The rooms put together: these may import everything.
    const TOGETHER: [&str; 9] =
        ["away", "central", "mod", "monitor", "neighbours", "poll", "sched", "snapshot", "world"];

    /// What is drawn in docs/architecture.md, "Who may import whom".
    const DRAWN: &[(&str, &[&str])] = &[
        ("capacity", &[]),
        ("config", &["runq", "sources", "sysmon"]),
        ("deadlock", &["locked"]),
        ("evidence", &[]),
        ("find", &["g", "m", "p", "sources"]),
        ("g", &["m"]),
        ("globq", &["g", "m"]),
        ("handoff", &["m", "p", "sources"]),
        ("idle", &["m", "p"]),
        ("local", &["g", "p", "runnext", "runq"]),
        ("locked", &["m"]),
        ("m", &["evidence", "p"]),
        ("netpoll", &["timers"]),
        ("observer", &["g", "locked", "m", "p", "sources", "syscall"]),
        ("p", &["evidence"]),
        ("random_order", &[]),
        ("resize", &["p"]),
        ("role", &[]),
        ("runnext", &["g"]),
        ("runq", &["capacity", "g"]),
        ("safepoint", &["p"]),
        ("sources", &[]),
        ("spinning", &["m"]),
        ("stw", &["p"]),
        ("syscall", &["evidence", "g", "m", "p"]),
        ("sysmon", &[]),
        ("threads", &["m"]),
        ("timers", &[]),
        ("wanted", &[]),
        ("work_source", &["g", "p", "timers"]),
    ];

    #[test]
    fn are_those_that_are_drawn() {
        let drawn: BTreeMap<&str, &[&str]> = DRAWN.iter().copied().collect();
        for (name, text) in kernel().iter().filter(|(name, _)| !TOGETHER.contains(&name.as_str())) {
            let allowed = drawn.get(name.as_str()).unwrap_or_else(|| panic!("{name}.rs is not drawn"));
            let lines = text.lines().map(|line| line.trim_start_matches("pub "));
            let paths = lines.filter_map(|line| line.strip_prefix("use super::"));
            let imported: BTreeSet<&str> = paths.filter_map(|path| path.split([':', ';', '{', ' ']).next()).collect();
            assert!(imported.iter().eq(*allowed), "{name}.rs imports {imported:?}, and {allowed:?} is drawn");
        }
    }

    #[test]
    fn of_the_kernel_reach_no_std_and_no_runtime() {
        for (name, text) in &kernel() {
            let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
            for line in code.filter(|line| line.starts_with("use ")) {
                let strays = ["use std::", "use crate::runtime", "use tokio", "use loom"];
                assert!(!strays.iter().any(|stray| line.starts_with(stray)), "{name}.rs: {line}");
            }
        }
    }
}

mod sizes {
    use super::*;

    /// Lines that are neither empty nor comments.
    fn code(text: &str) -> usize {
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    }

    #[test]
    fn are_within_the_budget() {
        let kernel = kernel();
        let all: usize = kernel.values().map(|text| code(text)).sum();
        assert!(all <= 3_960, "the kernel has {all} lines of code");
        for (name, text) in &kernel {
            let lines = code(text);
            assert!(lines <= 310, "{name}.rs has {lines} lines of code");
        }
    }

    #[test]
    fn of_functions_are_those_of_one_glance() {
        for (name, text) in &kernel() {
            let mut begun: Option<(usize, usize, &str)> = None;
            for (n, line) in text.lines().enumerate() {
                let indent = line.len() - line.trim_start().len();
                let is_head = line.trim_start().starts_with("fn ") || line.contains(" fn ");
                match begun {
                    None if is_head && !line.trim_start().starts_with("//") && !line.ends_with(';') => {
                        begun = Some((n, indent, line.trim()));
                    }
                    Some((from, outer, head)) if line.trim_end() == format!("{}}}", " ".repeat(outer)) => {
                        assert!(n - from <= 62, "{name}.rs: `{head}` has {} lines", n - from);
                        begun = None;
                    }
                    _ => (),
                }
            }
        }
    }
}

mod the_record {
    use super::*;

    fn record() -> Record {
        publish::read(&root().join("verification/record.json")).expect("there is a record")
    }

    #[test]
    fn knows_every_run_of_every_model_and_no_other() {
        let declared: BTreeSet<String> = model::all()
            .flat_map(|model| model.runs.iter().map(move |run| format!("{} {} {}", model.name, run.engine, run.bounds)))
            .collect();
        let recorded: BTreeSet<String> =
            record().runs.iter().map(|run| format!("{} {} {}", run.model, run.engine, run.bounds)).collect();
        let new: Vec<_> = declared.difference(&recorded).collect();
        let gone: Vec<_> = recorded.difference(&declared).collect();
        let again = "`cargo verify --readme README.md --record verification/record.json`";
        assert!(new.is_empty() && gone.is_empty(), "run {again}: new {new:?}, gone {gone:?}");
    }

    #[test]
    fn holds_and_each_wrong_variant_is_killed() {
        let record = record();
        assert!(record.runs.iter().all(|run| run.verdict != Verdict::Failed));
        assert!(record.mutants.iter().all(|mutant| mutant.fate == Fate::Killed));
        let expected: usize = mutant::all().map(|mutant| mutant.killed_by.len()).sum();
        assert_eq!(record.mutants.len(), expected, "the wrong variants have changed: record them again");
    }

    #[test]
    fn is_what_the_readme_shows() {
        let readme = read("README.md");
        let table = report::markdown(&report::recorded(&record()));
        let again = report::between_markers(&readme, &table).expect("the README has a table");
        assert!(again == readme, "the README's table is not the record's");
    }
}

/// Counts that the prose gives of recorded runs.
mod the_weak_memory_checker {
    use super::*;
    use spinpark_verification::engines::Engine;
    use spinpark_verification::publish::record::RunRecord;

    fn runs() -> Vec<RunRecord> {
        let record = publish::read(&root().join("verification/record.json")).expect("there is a record");
        record.runs.into_iter().filter(|run| run.engine == Engine::Rc11).collect()
    }

    #[test]
    fn proves_as_many_models_as_its_page_says() {
        let runs = runs();
        let models: BTreeSet<&str> = runs.iter().map(|run| run.model.as_str()).collect();
        let is_cut = |model: &&&str| runs.iter().any(|run| run.model == **model && run.verdict == Verdict::Bounded);
        let cut = models.iter().filter(is_cut).count();
        let says = format!("Of the {} models, {} are proved on RC11", models.len(), models.len() - cut);
        let text = read("docs/weak-memory.md").replace('\n', " ");
        assert!(text.contains(&format!("{says} within the default run; {cut}, ")), "not so: {says}; {cut}, …");
    }

    #[test]
    fn explores_as_many_executions_as_its_page_says() {
        let (runs, text) = (runs(), read("docs/weak-memory.md"));
        let mut compared = 0;
        for row in text.lines().filter(|line| line.starts_with("| ") && line.ends_with("| proved |")) {
            let (Some(name), Some(count)) = (quoted(row).next(), row.split('|').nth(2)) else { continue };
            let name = format!("::{name}");
            let run = runs.iter().find(|run| run.model.ends_with(&name) && run.verdict == Verdict::Proved);
            if let Some(run) = run {
                assert_eq!(count.trim(), report::thousands(run.executions), "{row}");
                compared += 1;
            }
        }
        assert!(compared >= 4, "only {compared} rows are of models that are recorded as proved");
    }
}

/// What docs/go.md calls ours is there.
mod the_map_to_go {
    use super::*;

    fn sources(folder: &Path, into: &mut String) {
        for entry in fs::read_dir(folder).expect("the sources are there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                sources(&path, into);
            } else {
                into.push_str(&fs::read_to_string(&path).expect("it is text"));
            }
        }
    }

    /// The rows of its table: what is ours, and where that is.
    fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
        let rows = text.lines().filter(|line| line.starts_with("| ")).map(|line| line.split('|').collect::<Vec<_>>());
        rows.filter(|cells| cells.len() == 5 && !cells[3].contains("file")).map(|cells| (cells[2], cells[3]))
    }

    #[test]
    fn names_what_is_in_the_sources() {
        let (mut all, text) = (String::new(), read("docs/go.md"));
        sources(&root().join("src"), &mut all);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words: BTreeSet<&str> = all.split(|c| !is_part(c)).collect();
        for (ours, _) in rows(&text) {
            let names = quoted(ours).filter(|name| !name.contains(": ")).flat_map(|name| name.split(|c| !is_part(c)));
            for name in names.filter(|name| !name.is_empty()) {
                assert!(words.contains(name), "docs/go.md: there is no `{name}` in src");
            }
        }
    }

    #[test]
    fn names_files_that_are_there() {
        let text = read("docs/go.md");
        let mut found = 0;
        for (_, files) in rows(&text) {
            for link in files.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(root().join("docs").join(link).exists(), "docs/go.md: there is no {link}");
                found += 1;
            }
        }
        assert!(found > 40, "only {found} files");
    }
}

mod the_museum {
    use super::*;

    #[test]
    fn shows_only_what_can_be_played() {
        assert!(museum::all().count() >= 40, "only {} exhibits", museum::all().count());
        let mut names = BTreeSet::new();
        for exhibit in museum::all() {
            assert!(names.insert(exhibit.name), "{} is there twice", exhibit.name);
            let mutant = mutant::find(exhibit.mutant);
            let mutant = mutant.unwrap_or_else(|| panic!("{}: there is no mutant {}", exhibit.name, exhibit.mutant));
            for (name, engine) in mutant.killed_by {
                assert!(model::find(name).is_some(), "{}: there is no model {name} for {engine}", exhibit.name);
            }
        }
    }

    #[test]
    fn has_a_guide_with_every_exhibit() {
        let guide = read("docs/museum.md");
        for exhibit in museum::all() {
            let heading = format!("\n## {}\n", exhibit.name);
            assert!(guide.contains(&heading), "docs/museum.md has no `{}`: write it again", exhibit.name);
            assert!(guide.contains(exhibit.people), "docs/museum.md tells another story of {}", exhibit.name);
        }
    }

    #[test]
    fn has_no_variant_without_an_exhibit() {
        let shown: BTreeSet<&str> = museum::all().map(|exhibit| exhibit.mutant).collect();
        for mutant in museum::MUTANTS.iter().copied().flatten() {
            assert!(shown.contains(mutant.name), "{} is no exhibit", mutant.name);
        }
    }
}
