//! Every command that the documents show, and every option that `--help` shows, is run: as it stands if that is cheap, else
//! in a cheap form. One that is not run at all has its reason here.

#[path = "../../../tests/programs/cargo.rs"]
mod cargo;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, str};
use tempfile::TempDir;

/// What becomes of a command that a document shows.
#[derive(Debug, Clone, Copy)]
enum Try {
    /// This command stands for it: `verify …`, run in a folder that looks like the project's. It ends with this status.
    Verify(i32, &'static str),
    /// This command stands for it, run at the project's root: `cargo …`. It ends well.
    Cargo(&'static str),
    /// The same, of something that fails.
    Fails(&'static str),
    /// `.ci/run` has this line.
    InCi(&'static str),
    /// `.ci/nightly` has this line.
    Nightly(&'static str),
    /// It is not run.
    No(&'static str),
}
use Try::{Cargo, Fails, InCi, Nightly, No, Verify};

const WHOLE: &str = "cargo verify --against verification/record.jsonl";
const EVERYTHING: &str = "each run there is takes some minutes; cli.rs asks for `--all` on one engine";
const PEERS: &str =
    "a workspace of its own, with other runtimes in it; it is built and run by hand, for docs/evidence/performance.md";
const MUTATED: &str = "it builds the mutated kernel first, and tries each step: half an hour";
const BENCH: &str = "a bench: minutes on a quiet machine. `cargo clippy --all-targets` compiles it";
const MACHINE: &str =
    "a workspace of its own, minutes or a quarter of an hour; CI runs its tests, which play smaller machines";
const FUZZERS: &str = "needs nightly Rust and libFuzzer";

/// The commands, as they stand in the documents, and what becomes of each.
const SHOWN: &[(&str, Try)] = &[
    // README.md, CONTRIBUTING.md, examples/README.md
    ("cargo test", InCi("cargo test")),
    ("cargo verify", InCi(WHOLE)),
    ("cargo verify --against verification/record.jsonl", InCi(WHOLE)),
    ("cargo room watch", Cargo("room watch 2x1")),
    ("cargo room watch 2x2", Cargo("room watch 2x1")),
    ("cargo room all", No("`cargo verify` plays the same programs as models; it takes a minute more")),
    ("cargo mistakes all", InCi("cargo mistakes all")),
    ("cargo mistakes watch", InCi("cargo mistakes all")),
    ("cargo mistakes watch --every", No("minutes: each small mistake in a process of its own")),
    (
        "cargo room all --record verification/rooms/may_reach.txt",
        No("it writes what `cargo test -p spinpark-rooms-command` compares; without `--record` it writes nothing"),
    ),
    ("cargo verify --all", No(EVERYTHING)),
    ("cargo verify --all --record verification/record.jsonl", No(EVERYTHING)),
    ("cargo verify --table", Verify(0, "--table --engine tso-random --jobs 2 --json rows.json")),
    ("cargo verify best --list", Verify(0, "best --list --keep best.jsonl")),
    (
        "cargo best --minutes 60",
        Verify(0, "best globq::the_length_is_a_hint --minutes 0.2 --folder best --keep best.jsonl"),
    ),
    ("cargo verify pages", Verify(0, "pages --from verification/record.jsonl")),
    ("cargo verify completions SHELL", Verify(0, "completions bash")),
    ("cargo verify man DIR", Verify(0, "man pages")),
    ("cargo install --path verification/cli", No("it installs a program; `cargo build` builds the same")),
    ("cargo fmt --all && cargo clippy --workspace --all-targets", InCi("cargo clippy --workspace --all-targets")),
    ("cargo run --release --example blocking_io", Cargo("run --quiet --example blocking_io")),
    ("cargo run --release --example deterministic", Cargo("run --quiet --example deterministic")),
    ("cargo run --release --example embed_executor", Cargo("run --quiet --example embed_executor")),
    (
        "cargo run --release --package spinpark-kernel --example embed_host",
        No("tests/embedding.rs runs the example; `.ci/run` builds the kernel without features"),
    ),
    ("cargo run --release --example goroutines", Cargo("run --quiet --example goroutines")),
    ("cargo run --release --example stop_the_world", Cargo("run --quiet --example stop_the_world")),
    ("cargo run --release --example trace", Cargo("run --quiet --example trace -- target/tmp/trace.json")),
    ("cargo run --release --example link_check", Cargo("run --quiet --example link_check")),
    ("cargo run --release --example word_count -- DIR", Cargo("run --quiet --example word_count -- docs")),
    (
        "cargo run --release --features hyper --example http_server -- 127.0.0.1:8080",
        No("it serves for ever: tests/http_server.rs starts it, asks it, and ends it"),
    ),
    (
        "cargo run --release --features hyper,signal --example https_proxy -- --upstream 127.0.0.1:8000 --self-signed cert.pem",
        No("it serves for ever: tests/https_proxy.rs starts it, asks it, and ends it"),
    ),
    (
        "cargo run --release --features hyper,signal --example chat",
        No("it serves for ever: tests/chat.rs starts it, talks with it, and ends it"),
    ),
    (
        "cargo run --release --features process,signal --example job_runner -- --jobs 4 FILE",
        No("tests/job_runner.rs starts it, with jobs of all kinds"),
    ),
    ("cargo machine", No(MACHINE)),
    ("cargo machine --help", No(MACHINE)),
    ("cargo machine --svg FOLDER", No(MACHINE)),
    ("cargo machine producer --procs 16,32,64 --seed 2", No(MACHINE)),
    ("cargo machine storm --work 5000", No(MACHINE)),
    (
        "cargo test --manifest-path benches/machine/Cargo.toml",
        InCi("cargo test --manifest-path benches/machine/Cargo.toml"),
    ),
    ("cargo bench --bench growth", No(BENCH)),
    ("cargo bench --bench growth -- --most 100000", No(BENCH)),
    ("cargo run --example deterministic", Cargo("run --quiet --example deterministic")),
    ("cargo run --example figures", Cargo("run --quiet --example figures -- target/tmp/figures")),
    ("cargo run -p rc11 --example check_a_lock", Cargo("run --quiet --example check_a_lock")),
    ("cargo run -p spinpark-verification --example own_scheduler", Cargo("run --quiet --example own_scheduler")),
    ("cargo peers", No(PEERS)),
    ("cargo peers --quick", No(PEERS)),
    ("cargo peers --json FILE", No(PEERS)),
    ("cargo peers --markdown=docs/evidence/performance.md", No(PEERS)),
    ("cargo peers --once ROW CONTENDER", No(PEERS)),
    ("cargo peers echo sparse pread yield --calls", No(PEERS)),
    ("cargo peers queue yield spawn_ --instructions --markdown=docs/evidence/performance.md", No(PEERS)),
    ("cargo peers yield spawn --rounds 31", No(PEERS)),
    (
        "cargo test --manifest-path tests/interop/Cargo.toml --package interop-programs --target-dir target/programs",
        Nightly(
            "cargo test --manifest-path tests/interop/Cargo.toml --package interop-programs --target-dir target/programs",
        ),
    ),
    ("cargo bench --manifest-path benches/peers/Cargo.toml --", No(PEERS)),
    ("cargo bench --bench hogs", No(BENCH)),
    ("cargo bench --bench seeing", No(BENCH)),
    (
        "cargo bench -p spinpark-costs --bench instructions",
        InCi("cargo bench --package spinpark-costs --bench instructions"),
    ),
    (
        "cargo bench -p spinpark-costs --bench system_calls",
        InCi("cargo bench --package spinpark-costs --bench system_calls"),
    ),
    ("cargo install cargo-fuzz", No(FUZZERS)),
    ("cargo update", No("it is the crate of a reader's own that it updates")),
    ("cargo install mdbook", No("it fetches and builds a tool that only the pages' site needs: minutes")),
    ("cargo +nightly fuzz run rooms --sanitizer none -- -max_len=512 -max_total_time=600", No(FUZZERS)),
    ("cargo +nightly fuzz run rooms artifacts/rooms/crash-…", No(FUZZERS)),
    ("cargo run -p spinpark-mutator --bin prune", No("it compiles the mutated kernel until it does: many minutes")),
    ("cargo test -p spinpark-verification --test all stress", InCi("cargo test")),
    ("cargo test … -- --ignored", Nightly("--package spinpark-proptests -- --ignored")),
    ("RC11_REPLAY=FILE cargo test NAME", No("rc11's tests/environment.rs plays a schedule again")),
    ("cargo test -p spinpark-proptests", InCi("cargo test")),
    ("cargo test -p spinpark-verification --test all litmus_files", InCi("cargo test")),
    ("cargo test -p spinpark-verification --test all liveness", InCi("cargo test")),
    ("cargo test -p spinpark-verification --test all every_size", InCi("cargo test")),
    ("cargo verify paths", Verify(0, "paths")),
    ("cargo verify paths spinning::wakep", Verify(0, "paths spinning::wakep")),
    ("cargo verify paths --tie", Verify(0, "paths --tie")),
    ("cargo verify paths sched --tie", Verify(0, "paths sched --tie")),
    ("cargo run -p spinpark-parameterized", InCi("cargo run --package spinpark-parameterized")),
    ("cargo run -p spinpark-parameterized -- check", InCi("cargo run --package spinpark-parameterized -- check")),
    (
        "cargo run -p spinpark-parameterized -- show sched leaves_last",
        Cargo("run --quiet --bin spinpark-parameterized -- show sched leaves_last"),
    ),
    ("cargo run -p spinpark-parameterized -- progress", No("its tests ask for each obligation")),
    (
        "cargo run -p spinpark-parameterized -- page sched",
        Cargo("run --quiet --bin spinpark-parameterized -- page sched"),
    ),
    ("cargo run -p spinpark-parameterized -- variants", No("its tests ask for each variant")),
    ("LITMUS=write cargo test -p spinpark-verification --test all litmus_files", No("it writes the expectations anew")),
    ("PICTURES=write cargo test -p rc11 --test pictures", No("it writes the expectations anew")),
    // docs/evidence/soak.md
    ("cargo test --test soak", InCi("cargo test")),
    (
        "cargo test --release --test soak ping_pong_pairs -- --ping-pong-seconds 450",
        No("an hour; `.ci/nightly` has a minute with each number of Ps"),
    ),
    (
        "SPINPARK_SOAK_SECONDS=3600 cargo test --release --test soak",
        No("an hour; `.ci/nightly` has five minutes of it"),
    ),
    ("cargo test --test soak -- --help", Cargo("test --quiet --test soak -- --help")),
    (
        "cargo test --test soak -- --seed 7 --seconds 60",
        Cargo("test --quiet --test soak -- --seed 7 --seconds 2 --patience 5 --shrink 5 random_programs"),
    ),
    (
        "cargo test --test soak -- --keep-going --seconds 600",
        Cargo("test --quiet --test soak -- --keep-going --seconds 1 random_programs"),
    ),
    ("cargo test --test soak ping_pong_pairs", Cargo("test --quiet --test soak -- --seconds 1 ping_pong_pairs")),
    (
        "cargo test --test soak -- --replay FILE",
        Cargo("test --quiet --test soak -- --replay tests/soak/regressions/hogs-take-every-thread.json"),
    ),
    // The fuzzer
    (
        "cargo verify fuzz",
        Cargo("verify fuzz --minutes 0.02 --seed 1 --out target/tmp/programs --json target/tmp/fuzz.json"),
    ),
    ("cargo verify fuzz --minutes 5", InCi("cargo verify fuzz --minutes 1")),
    ("cargo verify fuzz --minutes 60", Cargo("verify fuzz --minutes 0.02 --longest 8 --schedules 10 --jobs 1")),
    ("cargo verify fuzz list", Cargo("verify fuzz list")),
    (
        "cargo verify fuzz replay FILE",
        Fails("verify fuzz replay proptests/regressions/timers.timers-tells-when-late.json"),
    ),
    ("cargo verify fuzz timers sched", Cargo("verify fuzz timers sched --minutes 0.02 --jobs 1 --regressions src")),
    (
        "cargo verify fuzz variants",
        Cargo("verify fuzz variants timers-tells-when-late --jobs 1 --seed 1 --out target/tmp/programs"),
    ),
    // Everything else
    ("cargo verify list", Verify(0, "list")),
    ("cargo verify list --json FILE", Verify(0, "list --json list.json")),
    ("cargo verify run NAME", Verify(0, "run kicked_out --engine sc")),
    (
        "cargo verify run NAME…",
        Verify(0, "run runnext kicked_out --engine sc --json runs.json --against verification/record.jsonl"),
    ),
    ("cargo verify run spinning --engine rc11", Verify(0, "run one_submitter_one_spinning_m --engine rc11 --seed 3")),
    (
        "cargo verify run two_ps_three_ms --engine rc11 --deep --jobs 2 --checkpoint state.json",
        Verify(0, "run one_p_two_gs --engine rc11 --deep --jobs 2 --checkpoint state.json"),
    ),
    ("cargo verify replay FILE", Verify(1, "replay schedules/FAILED.json")),
    ("cargo verify picture FILE", Verify(0, "picture schedules/FAILED.json")),
    ("cargo verify picture FILE --svg OUT", Verify(0, "picture schedules/FAILED.json --svg it.svg")),
    (
        "cargo verify picture schedules/FAILED.json --svg it.svg",
        Verify(0, "picture schedules/FAILED.json --svg it.svg"),
    ),
    (
        "cargo verify litmus FILE",
        Verify(0, "litmus verification/litmus/SB+rlx.litmus --seconds 10 --json answers.json"),
    ),
    ("cargo verify litmus FILE… DIR…", Verify(1, "litmus verification/litmus/SB+rlx.litmus one --engine sc")),
    ("cargo verify litmus --engine reference", Verify(0, "litmus one --engine reference")),
    (
        "cargo verify litmus DIR --engine loom --json answers.json",
        Verify(0, "litmus one --engine loom --json answers.json"),
    ),
    (
        "cargo verify litmus FILE --engine reference --model imm",
        Verify(0, "litmus verification/litmus/SB+rlx.litmus --engine reference --model imm"),
    ),
    ("cargo verify litmus verification/litmus", Verify(0, "litmus one")),
    (
        "cargo verify litmus verification/litmus/IRIW+scfences.litmus",
        Verify(0, "litmus verification/litmus/IRIW+scfences.litmus"),
    ),
    ("cargo verify litmus verification/litmus/SB+rlx.litmus", Verify(0, "litmus verification/litmus/SB+rlx.litmus")),
    ("cargo verify museum", InCi("cargo verify museum")),
    ("cargo verify museum --guide docs/evidence/museum.md", Verify(0, "museum 45867 --guide museum.md")),
    ("cargo verify museum NAME", Verify(0, "museum 45867 --seed 2 --jobs 1 --json museum.json")),
    ("cargo verify museum [NAME…]", Verify(0, "museum tokio --list")),
    ("cargo verify mutants", Verify(0, "mutants globq --sort variant")),
    ("cargo verify mutants --sort ordering", InCi("cargo verify mutants --sort ordering")),
    (
        "cargo verify mutants NAME --show",
        Verify(0, "mutants runq --sort variant --shard 1/2 --show --seed 1 --jobs 2 --json kills.json"),
    ),
    ("cargo verify mutants [NAME…]", Verify(0, "mutants runq stw --list")),
    (
        "cargo verify mutants kernel/FILE.rs",
        No("it builds the mutated kernel first: minutes; cli.rs has `--sort ordering`"),
    ),
    ("cargo verify mutants protocol/spinning.rs", No("it builds the mutated kernel first: minutes")),
    ("cargo verify mutants --argued", No(MUTATED)),
    ("cargo verify mutants --argued kernel/FILE.rs", No(MUTATED)),
    ("cargo verify mutants --alone", No("each is a build of its own: minutes each")),
    ("cargo verify mutants --record verification/record.jsonl", No(MUTATED)),
    (
        "cargo verify report --html DIR",
        Verify(0, "report --from verification/full-record.json --html page --junit junit.xml --json copy.json"),
    ),
];

/// Options that `--help` shows and no command above has, and why not.
const NOT_GIVEN: &[(&str, &str)] = &[
    ("verify --record", "a record is of everything"),
    ("verify --all", EVERYTHING),
    ("verify --watch", "cli.rs: `a_change::runs_its_room_again`"),
    ("verify report --shard", "runs a part of everything: minutes; cli.rs refuses one that there is not"),
    ("verify report --no-steps", "runs everything: minutes"),
    ("verify mutants --resume", "cli.rs: `is_not_gone_on_with_from_a_strange_file`"),
    ("verify mutants --argued", MUTATED),
    ("verify mutants --one-in", MUTATED),
    ("verify mutants --alone", "each is a build of its own: minutes each"),
    ("verify mutants --open", "tries each step of the source: hours"),
    ("verify fuzz --mutant", "fuzz_cli.rs: `a_wrong_variant_is_found_written_and_played_again`"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("it prints UTF-8")
}

/// The commands in a document: lines of code that begin with `cargo`, and `cargo …` in a sentence.
fn commands(document: &str) -> Vec<String> {
    let is_one = |text: &str| {
        let command = text.split(' ').find(|word| !word.contains('=')).unwrap_or_default();
        command == "cargo" && text.contains(' ')
    };
    let (mut found, mut is_code) = (Vec::new(), false);
    for line in document.lines().map(str::trim) {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            // What it does stands behind it, some blanks apart.
            found.push(line.split("   ").next().unwrap_or_default().split("  ").next().unwrap_or_default().trim());
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found.into_iter().filter(|text| is_one(text)).map(str::to_owned).collect()
}

fn documents() -> Vec<PathBuf> {
    let mut files = vec![
        "README.md",
        "CONTRIBUTING.md",
        "examples/README.md",
        "verification/README.md",
        "verification/rc11/README.md",
        "verification/rooms/README.md",
        "verification/cli/README.md",
        "proptests/README.md",
    ]
    .into_iter()
    .map(|name| root().join(name))
    .collect::<Vec<_>>();
    files.push(root().join("proptests/fuzz/README.md"));
    files.push(root().join("verification/spin/README.md"));
    for folder in ["docs", "docs/guide", "docs/reference", "docs/evidence"] {
        let docs = fs::read_dir(root().join(folder)).expect("there are documents");
        files.extend(docs.map(|entry| entry.expect("it can be read").path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files
}

fn in_the_documents() -> BTreeSet<String> {
    let read = |path: PathBuf| fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    documents().into_iter().flat_map(|path| commands(&read(path))).collect()
}

/// A folder that looks like the project's, as far as the commands look at it, and in which they may write.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("verification/litmus")).expect("a folder");
    fs::create_dir_all(at("one")).expect("a folder");
    fs::create_dir_all(at("docs/evidence")).expect("a folder");
    for page in ["README.md", "docs/evidence/verdicts.md", "docs/evidence/every-size.md"] {
        fs::copy(root().join(page), at(page)).expect("it is there");
    }
    for file in ["record.jsonl", "litmus/SB+rlx.litmus", "litmus/IRIW+scfences.litmus"] {
        fs::copy(root().join("verification").join(file), at("verification").join(file)).expect("it is there");
    }
    fs::copy(root().join("verification/litmus/SB+rlx.litmus"), at("one/SB+rlx.litmus")).expect("it is there");
    let full = "verification/cli/tests/full-record.json";
    fs::copy(root().join(full), at("verification/full-record.json")).expect("it is there");
    let fails =
        "run one_submitter_one_spinning_m --engine rc11 --mutant spinning-no-submitter-fence --schedules schedules";
    assert_eq!(verify(folder.path(), fails).status.code(), Some(1));
    let written = fs::read_dir(at("schedules")).expect("schedules were written").next();
    fs::rename(written.expect("there is one").expect("it can be read").path(), at("schedules/FAILED.json"))
        .expect("room");
    folder
}

fn verify(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_verify"));
    command.args(arguments.split(' ')).current_dir(folder).output().expect("the program starts")
}

/// The very cargo that runs this test.
fn cargo(arguments: &str) -> Output {
    cargo::cargo().args(arguments.split(' ')).current_dir(root()).output().expect("cargo starts")
}

#[track_caller]
fn ends_with(output: &Output, status: i32, command: &str) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{command}\n{out}\n{err}");
}

#[test]
fn every_command_that_a_document_shows_is_listed_here_and_no_other() {
    let shown = in_the_documents();
    assert!(shown.len() > 50, "only {shown:?}");
    let listed: BTreeSet<String> = SHOWN.iter().map(|(command, _)| (*command).to_owned()).collect();
    let unlisted: Vec<_> = shown.difference(&listed).collect();
    let unshown: Vec<_> = listed.difference(&shown).collect();
    assert!(unlisted.is_empty() && unshown.is_empty(), "not listed: {unlisted:#?}; shown nowhere: {unshown:#?}");
}

/// Two at a time: many of them wait most of the time.
fn each_of<T: Sync>(all: &[T], act: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| {
        scope.spawn(|| all.iter().step_by(2).for_each(&act));
        all.iter().skip(1).step_by(2).for_each(&act);
    });
}

#[test]
fn verify_does_what_is_shown() {
    let folder = folder();
    each_of(SHOWN, |(shown, how)| {
        if let Verify(status, arguments) = how {
            ends_with(&verify(folder.path(), arguments), *status, shown);
        }
    });
}

/// `cargo verify fuzz` as its readers type it, the examples, and the rest that cargo runs.
#[test]
fn cargo_does_what_is_shown() {
    fs::create_dir_all(root().join("target/tmp")).expect("a folder");
    let asked = SHOWN.iter().filter_map(|(shown, how)| match how {
        Cargo(arguments) => Some((arguments, (0, shown))),
        Fails(arguments) => Some((arguments, (1, shown))),
        _ => None,
    });
    let each_once: BTreeMap<_, _> = asked.collect();
    let each_once: Vec<_> = each_once.into_iter().collect();
    each_of(&each_once, |(arguments, (status, shown))| ends_with(&cargo(arguments), *status, shown));
}

#[test]
fn what_is_left_to_ci_is_done_there() {
    for (shown, how) in SHOWN {
        let (name, line) = match how {
            InCi(line) => (".ci/run", line),
            Nightly(line) => (".ci/nightly", line),
            _ => continue,
        };
        let script = fs::read_to_string(root().join(name)).expect("there is a script");
        let mut steps = script.lines().filter(|line| line.starts_with("step ") || line.starts_with("within "));
        assert!(steps.any(|step| step.contains(line)), "{shown}: `{name}` has no step `{line}`");
    }
}

#[test]
fn what_is_not_run_has_a_reason() {
    for (shown, how) in SHOWN {
        if let No(reason) = how {
            assert!(reason.len() > 20, "{shown}: `{reason}` is no reason");
        }
    }
}

/// What `--help` shows: options with a long name.
fn options(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    lines.filter_map(|line| line.split([' ', ',']).find(|word| word.starts_with("--")))
}

#[test]
fn every_option_that_help_shows_is_given_somewhere() {
    let here = std::env::temp_dir();
    let mut given: Vec<Vec<&str>> = Vec::new();
    for (_, how) in SHOWN {
        match how {
            Verify(_, arguments) => given.push(arguments.split(' ').collect()),
            Cargo(arguments) | Fails(arguments) | InCi(arguments) | Nightly(arguments) => {
                let words: Vec<&str> = arguments.split(' ').collect();
                let from = words.iter().position(|word| *word == "verify");
                given.extend(from.map(|from| words[from + 1..].to_vec()));
            }
            No(_) => (),
        }
    }
    // The folder of failing schedules is given where one is made; a mutant too.
    given.push(["run", "--mutant", "--schedules"].to_vec());
    let commands = [
        "",
        "list",
        "run",
        "mutants",
        "museum",
        "best",
        "report",
        "pages",
        "replay",
        "picture",
        "litmus",
        "completions",
        "man",
        "fuzz",
    ];
    let mut missing = Vec::new();
    for command in commands {
        let help = match command {
            "" => verify(&here, "--help"),
            "fuzz" => cargo("verify fuzz --help"),
            command => verify(&here, &format!("{command} --help")),
        };
        ends_with(&help, 0, command);
        for option in options(text(&help.stdout)).filter(|option| !["--help", "--version"].contains(option)) {
            // What all commands share is one thing: given to one of them, it is tried.
            let is_of = |words: &&Vec<&str>| command == "fuzz" || words.first() != Some(&"fuzz");
            let is_given = given.iter().filter(is_of).any(|words| words.contains(&option));
            let is_excused = |(what, _): &&(&str, &str)| {
                let mut words = what.split(' ').skip(1).collect::<Vec<_>>();
                let name = words.pop();
                name == Some(option) && (words.is_empty() || words == [command])
            };
            if !is_given && !NOT_GIVEN.iter().any(|excused| is_excused(&excused)) {
                missing.push(format!("verify {command} {option}"));
            }
        }
    }
    assert!(missing.is_empty(), "never tried: {missing:#?}");
}

/// Else `cargo verify` and `cargo test` would each build everything: minutes.
#[test]
fn cargo_verify_and_cargo_test_share_what_they_build() {
    let features = |arguments: &str| -> BTreeSet<String> {
        let output = cargo(&format!("tree --offline --prefix none --format {{p}}={{f}} {arguments}"));
        ends_with(&output, 0, "cargo tree");
        let lines = text(&output.stdout).lines().map(|line| line.trim_end_matches(" (*)").to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let tests = features("--edges normal,build,dev --workspace");
    for package in ["spinpark-verify", "spinpark-proptests"] {
        let own = features(&format!("--edges normal,build --package {package}"));
        let other: Vec<_> = own.difference(&tests).collect();
        assert!(other.is_empty(), "{package} is built with other features than its tests: {other:#?}");
    }
}
