//! What the abstractions cost in machine code: nothing. On x86-64 the compiler's own listing is read.
//!
//! * The seam: `put` and `get` of a `RunQueue<Cores>` against the same ring written by hand (codegen/twins.rs).
//! * The observer: the scheduler, watched by `()`, against a copy of its source out of which every report is cut
//!   (codegen/observed.rs is compiled with both).
//! * The simulated host: the functions of the real one name no symbol of it.
//!
//! `cargo test --test sources codegen -- --ignored --nocapture` prints the counts.
#![cfg(target_arch = "x86_64")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

/// Each function by its symbol, one entry an instruction; of what refers to other symbols, only that it does.
type Listing = BTreeMap<String, Vec<String>>;

/// The three listings: twins, observed, unobserved. Made once.
static LISTINGS: LazyLock<[Listing; 3]> = LazyLock::new(compile);

mod the_seam_costs_nothing {
    use super::*;

    fn compare(operation: &str) {
        let twins = &LISTINGS[0];
        let kernel = &twins[&format!("{operation}_by_kernel")];
        let hand = &twins[&format!("{operation}_by_hand")];
        let same = if kernel == hand { ", the same" } else { "" };
        println!("{operation}: {} instructions, by hand {}{same}", kernel.len(), hand.len());
        assert!(kernel.len() > 5, "{operation} is not there: {kernel:?}");
        assert!(kernel.len() <= hand.len(), "{operation}\nby kernel: {kernel:#?}\nby hand: {hand:#?}");
        assert_eq!(locked(kernel), locked(hand), "{operation}: atomic read-modify-writes and fences differ");
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn in_put() {
        compare("put");
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn in_get() {
        compare("get");
    }
}

mod an_observer_that_does_nothing_costs_nothing {
    use super::*;

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn in_the_whole_scheduler() {
        let [_, observed, unobserved] = &*LISTINGS;
        let names = |listing: &Listing| listing.keys().cloned().collect::<Vec<_>>();
        let (all, all_unobserved) = (count(observed), count(unobserved));
        println!("scheduler: {all} instructions, with no reports at all {all_unobserved}");
        assert!(all > 500, "the scheduler is not there: {:?}", names(observed));
        // What is cut out changes what the compiler inlines: some instructions in ten thousand, to either side.
        assert!(all <= all_unobserved + all_unobserved / 100, "observed: {observed:#?}\nunobserved: {unobserved:#?}");
        let all_locked = |listing: &Listing| listing.values().map(|function| locked(function)).sum::<usize>();
        let (costly, costly_unobserved) = (all_locked(observed), all_locked(unobserved));
        println!("of them atomic read-modify-writes and fences: {costly}, with no reports at all {costly_unobserved}");
        assert!(costly.abs_diff(costly_unobserved) <= costly / 50, "a report costs an atomic operation");
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn and_one_that_does_something_is_seen() {
        let twins = &LISTINGS[0];
        assert!(locked(&twins["submit_watched"]) > locked(&twins["submit_unwatched"]));
    }

    fn count(listing: &Listing) -> usize {
        listing.values().map(Vec::len).sum()
    }
}

mod a_host_that_is_simulated_costs_nothing {
    use super::*;

    /// What names the simulated host in a symbol, whichever way it is mangled.
    const SIMULATED: &str = "4host3sim";

    /// Each function that `is_wanted`, with the lines that name the simulated host.
    fn naming(name: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, Vec<String>> {
        assert!(LISTINGS.len() == 3, "what was built");
        let deps = Path::new(env!("CARGO_TARGET_TMPDIR")).join("codegen/target/release/deps");
        let (mut functions, mut function) = (BTreeMap::new(), String::new());
        for line in text(&deps, name).lines() {
            let label = line.strip_suffix(':').filter(|label| !label.starts_with(['.', ' ', '\t']));
            if let Some(label) = label {
                function = label.to_owned();
            } else if is_wanted(&function) {
                let lines: &mut Vec<String> = functions.entry(function.clone()).or_default();
                lines.extend(line.contains(SIMULATED).then(|| line.trim().to_owned()));
            }
        }
        functions
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn in_the_functions_of_the_real_one() {
        let asked = naming("twins", |function| function.starts_with("cores_"));
        assert_eq!(asked.len(), 5, "{asked:?}");
        let own = naming("spinpark", |function| {
            ["4host5cores", "4host5futex", "4host10cheaprand"].iter().any(|file| function.contains(file))
        });
        for (function, lines) in asked.into_iter().chain(own) {
            assert!(lines.is_empty(), "{function}: {lines:?}");
        }
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn and_the_simulated_one_is_seen() {
        let sim = naming("spinpark", |function| function.contains(SIMULATED));
        assert!(sim.values().any(|lines| !lines.is_empty()), "{sim:?}");
    }
}

/// How many atomic read-modify-writes and fences there are.
fn locked(listing: &[String]) -> usize {
    let costly = ["lock", "xchg", "mfence"];
    listing.iter().filter(|line| costly.iter().any(|start| line.starts_with(start))).count()
}

/// Builds a workspace of five packages: the kernel with its reports cut out, the runtime on it, and three users. `spinpark` itself comes
/// from where this test does, with the same lock file, so nothing is downloaded.
fn compile() -> [Listing; 3] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = Path::new(env!("CARGO_TARGET_TMPDIR")).join("codegen");
    let _ = fs::remove_dir_all(here.join("target").join("release").join("deps"));
    let dependencies = "crossbeam-utils = { version = \"0.8\", default-features = false }\n";
    let kernel = root.join("src").join("kernel");
    let seen = format!("spinpark = {{ path = {root:?} }}\nspinpark-kernel = {{ path = {kernel:?} }}\n{dependencies}");
    let blind =
        format!("spinpark = {{ package = \"spinpark-blind\", path = \"../blind\" }}\n{BLIND_KERNEL}\n{dependencies}");
    let tests = root.join("tests").join("codegen");

    let mut cut = 0;
    copy_without_reports(&root.join("src"), &here.join("blind").join("src"), &mut cut);
    assert!(cut > 5, "only {cut} reports were found in the kernel");
    write(
        &here.join("Cargo.toml"),
        "[workspace]\nmembers = [\"blind\", \"blind-kernel\", \"twins\", \"observed\", \"unobserved\"]\nresolver = \"3\"\n\n\
         [profile.release]\ncodegen-units = 1\n",
    );
    write(&here.join("blind").join("Cargo.toml"), &blind_manifest(root));
    write(
        &here.join("blind-kernel").join("Cargo.toml"),
        &format!(
            "[package]\nname = \"spinpark-blind-kernel\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [lib]\npath = \"../blind/src/kernel/src/lib.rs\"\n\n[features]\nmodel = []\n\n\
             [dependencies]\n{dependencies}slab = {{ version = \"0.4\", default-features = false }}\nstatic_assertions = \"1.1.0\"\n"
        ),
    );
    package(&here, "twins", &tests.join("twins.rs"), &seen);
    package(&here, "observed", &tests.join("observed.rs"), &seen);
    package(&here, "unobserved", &tests.join("observed.rs"), &blind);
    fs::copy(root.join("Cargo.lock"), here.join("Cargo.lock")).expect("the lock file");

    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--offline", "--workspace", "--target-dir", "target"])
        .current_dir(&here)
        // Not what the tests were built with, coverage for example: the product's code is looked at.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .env("RUSTFLAGS", "--emit=asm -Awarnings")
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ["twins", "observed", "unobserved"].map(|name| read(&here.join("target/release/deps"), name))
}

/// How the blind kernel is asked for.
const BLIND_KERNEL: &str = "spinpark-kernel = { package = \"spinpark-blind-kernel\", path = \"../blind-kernel\" }";

/// The manifest of the product, but for its name, what it inherits, and what only its tests need.
fn blind_manifest(root: &Path) -> String {
    let text = fs::read_to_string(root.join("Cargo.toml")).expect("the manifest");
    let section = |name: &str| {
        let start = text.find(&format!("\n[{name}]\n")).unwrap_or_else(|| panic!("no section {name}")) + 1;
        let end = text[start..].find("\n[").map_or(text.len(), |length| start + length);
        text[start..end].to_owned()
    };
    let shared = section("workspace.dependencies");
    let from_workspace = |line: &str| {
        if line.starts_with("spinpark-kernel = ") {
            return BLIND_KERNEL.to_owned();
        }
        let name = line.split_once(" = { workspace = true").map(|(name, _)| name);
        let shared = |name| shared.lines().find(|line| line.starts_with(&format!("{name} = "))).map(str::to_owned);
        name.map_or_else(|| line.to_owned(), |name| shared(name).unwrap_or_else(|| panic!("{name} is nowhere")))
    };
    let needs = [
        "features",
        "dependencies",
        "target.'cfg(not(target_os = \"linux\"))'.dependencies",
        "target.'cfg(unix)'.dependencies",
        "target.'cfg(target_os = \"linux\")'.dependencies",
    ];
    let needs = needs.map(section).join("\n\n");
    let needs: Vec<_> = needs.lines().map(from_workspace).collect();
    // A member of the product's workspace is taken from where it is: what it inherits is there.
    let members = format!("path = \"{}/src/", root.display());
    format!(
        "[package]\nname = \"spinpark-blind\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\npath = \"src/lib.rs\"\n\n{}\n",
        needs.join("\n").replace("path = \"src/", &members)
    )
}

fn package(here: &Path, name: &str, source: &Path, dependencies: &str) {
    let manifest = format!(
        "[package]\nname = \"spinpark-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\nname = \"{name}\"\npath = {source:?}\n\n[dependencies]\n{dependencies}"
    );
    write(&here.join(name).join("Cargo.toml"), &manifest);
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("a directory");
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Copies a tree of sources and cuts out each statement `self.observer.event(…);`.
fn copy_without_reports(from: &Path, to: &Path, cut: &mut usize) {
    for entry in fs::read_dir(from).expect("the sources") {
        let path = entry.expect("a source").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_without_reports(&path, &to, cut);
            continue;
        }
        let mut text = fs::read_to_string(&path).expect("a source");
        while let Some(start) = text.find("self.observer.event(") {
            let length = text[start..].find(");").expect("a call ends") + 2;
            text.replace_range(start..start + length, "");
            *cut += 1;
        }
        write(&to, &text);
    }
}

/// Reads the listing of one crate.
fn read(directory: &Path, name: &str) -> Listing {
    parse(&text(directory, name))
}

/// The listing of this package, as the compiler has written it.
fn text(directory: &Path, name: &str) -> String {
    let is_listing = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        file.starts_with(&format!("{name}-")) && file.ends_with(".s")
    };
    let paths = fs::read_dir(directory).expect("what was built").filter_map(|entry| Some(entry.ok()?.path()));
    let found: Vec<_> = paths.filter(is_listing).collect();
    let [path] = &found[..] else { panic!("one listing of {name} was expected: {found:?}") };
    fs::read_to_string(path).expect("a listing")
}

fn parse(text: &str) -> Listing {
    let (mut listing, mut aliases) = (Listing::new(), Vec::new());
    let mut function = String::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let (is_indented, line) = (line.starts_with(char::is_whitespace), line.trim());
        if let Some(alias) = line.strip_prefix(".set").and_then(|alias| alias.split_once(',')) {
            // Two functions were found to be the same, and became one.
            aliases.push((alias.0.trim().to_owned(), alias.1.trim().to_owned()));
        } else if let Some(label) = line.strip_suffix(':') {
            if !label.starts_with('.') {
                function = label.to_owned();
            }
        } else if is_indented && !line.is_empty() && !line.starts_with('.') {
            listing.entry(function.clone()).or_default().push(instruction(line));
        }
    }
    for (alias, of) in aliases {
        if let Some(same) = listing.get(&of).cloned() {
            listing.insert(alias, same);
        }
    }
    listing
}

/// `jne .LBB0_3` becomes `jne …`: where code lies is not compared.
fn instruction(line: &str) -> String {
    let words = line.split_whitespace();
    let shown =
        words.map(|word| if word.contains(".L") || word.contains("_ZN") || word.contains("_R") { "…" } else { word });
    shown.collect::<Vec<_>>().join(" ")
}
