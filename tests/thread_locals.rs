//! **No address of a thread local is kept over a change of stacks**: a goroutine that waits may go on upon another thread. The
//! functions of codegen/waits.rs are compiled into a library that is loaded, with all of the product inlined that can be, and the
//! machine code is read. What is looked for is stricter than the property: a function in which a goroutine may wait, itself or in
//! what it calls by name, computes the address of no thread local.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

/// What is read of a function.
#[derive(Default)]
struct Function {
    /// It leaves the goroutine's stack.
    suspends: bool,
    /// The thread locals whose addresses it computes.
    locals: BTreeSet<String>,
    /// The functions that it calls by name, or goes on in.
    calls: BTreeSet<String>,
}

type Listing = BTreeMap<String, Function>;

static LISTING: LazyLock<Listing> = LazyLock::new(|| parse(&compile()));

mod a_function_in_which_a_goroutine_may_wait {
    use super::*;

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn computes_the_address_of_no_thread_local() {
        let mut found = keep_addresses(&LISTING);
        // It is there for this: the check sees what it looks for.
        assert!(found.remove("breaks_its_promise").is_some(), "the check sees nothing");
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn is_found() {
        let waiting = may_wait(&LISTING);
        let twice: Vec<_> = LISTING.keys().filter(|name| name.starts_with("twice_")).collect();
        assert!(twice.len() > 30, "{twice:?}");
        for name in twice {
            assert!(waiting.contains(name.as_str()), "{name} does not wait");
        }
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn calls_what_does() {
        let locals = LISTING.values().filter(|function| !function.locals.is_empty()).count();
        assert!(locals > 10, "only {locals} functions look at a thread local");
    }
}

/// The functions that wait, themselves or in what they call by name.
fn may_wait(listing: &Listing) -> BTreeSet<&str> {
    let suspending = listing.iter().filter(|(_, function)| function.suspends).map(|(name, _)| name.as_str());
    let mut all: BTreeSet<&str> = suspending.collect();
    loop {
        let calls = |function: &Function| function.calls.iter().any(|called| all.contains(called.as_str()));
        let more: Vec<_> =
            listing.iter().filter(|(_, function)| calls(function)).map(|(name, _)| name.as_str()).collect();
        let before = all.len();
        all.extend(more);
        if all.len() == before {
            return all;
        }
    }
}

/// Those of them that compute the address of a thread local, and of which.
fn keep_addresses(listing: &Listing) -> BTreeMap<&str, &BTreeSet<String>> {
    let waiting = may_wait(listing).into_iter().map(|name| (name, &listing[name].locals));
    waiting.filter(|(_, locals)| !locals.is_empty()).collect()
}

/// The machine code of the library, as the compiler has written it after all that is inlined at link time was.
fn compile() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = Path::new(env!("CARGO_TARGET_TMPDIR")).join("thread_locals");
    fs::create_dir_all(&here).expect("a directory");
    let source = root.join("tests").join("codegen").join("waits.rs");
    let manifest = format!(
        "[package]\nname = \"waits\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\npath = {source:?}\ncrate-type = [\"cdylib\"]\n\n[dependencies]\nspinpark = {{ path = {root:?} }}\n\n\
         [profile.release]\nlto = \"fat\"\ncodegen-units = 1\nopt-level = 2\n\n[workspace]\n"
    );
    fs::write(here.join("Cargo.toml"), manifest).expect("a manifest");
    fs::copy(root.join("Cargo.lock"), here.join("Cargo.lock")).expect("the lock file");
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--release", "--lib", "--offline", "--target-dir", "target", "--", "--emit=asm"])
        .current_dir(&here)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .env("RUSTFLAGS", "-Awarnings -Cllvm-args=-inline-threshold=3000")
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(here.join("target/release/deps/waits.s")).expect("a listing")
}

fn parse(text: &str) -> Listing {
    let (mut listing, mut aliases, mut name) = (Listing::new(), Vec::new(), String::new());
    for line in text.lines() {
        if let Some(label) = line.split_once(':').map(|(label, _)| label).filter(|label| is_symbol(label)) {
            name = label.to_owned();
            continue;
        }
        let (operation, operands) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let function = listing.entry(name.clone()).or_default();
        // corosensei's: the stack of the thread that has resumed the goroutine.
        function.suspends |= operation == "movq" && operands.trim() == "(%rdx), %rsp";
        if operation == ".set" {
            aliases.extend(operands.split_once(',').map(|(alias, of)| (alias.to_owned(), of.trim().to_owned())));
        } else if operation.starts_with("call") || operation.starts_with('j') {
            let called = operands.trim().split('@').next().unwrap_or_default();
            function.calls.extend(is_symbol(called).then(|| called.to_owned()));
        } else if let Some((before, _)) =
            ["@TLS", "@DTPOFF", "@TPOFF", "@GOTTPOFF"].iter().find_map(|of| operands.split_once(of))
        {
            function.locals.insert(before.rsplit([' ', ',', '$']).next().unwrap_or_default().to_owned());
        }
    }
    // Two functions were found to be the same, and became one.
    for (alias, of) in aliases {
        let calls = BTreeSet::from([of]);
        listing.entry(alias).or_insert(Function { calls, ..Function::default() });
    }
    listing
}

fn is_symbol(word: &str) -> bool {
    !word.is_empty() && !word.starts_with(['.', '*', '#', ' ', '\t', '"'])
}
