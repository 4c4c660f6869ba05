//! The literal experiment: a copy of the source with one line gone or wrong, built, and `cargo verify` run on it. It must
//! say FAILED and show a schedule.
//!
//! These mistakes, and thousands more, are made at run time by `cargo verify mutants`, in one build. This test is slow, and
//! there to see that those tell the truth.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// One mistake: in `file`, `from` becomes `to`. `models` must fail.
struct Mistake {
    what: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    models: &'static [&'static str],
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        what: "the submitter's fence is deleted",
        file: "src/kernel/src/protocol/spinning.rs",
        from: "        store_load::<H>();\n        self.start_spinning_m(others);",
        to: "        self.start_spinning_m(others);",
        models: &["one_submitter_one_spinning_m"],
    },
    Mistake {
        what: "look again comes before leave nmspinning",
        file: "src/kernel/src/protocol/spinning.rs",
        from: "        self.leave(token);\n        // `work/spinning`, spinning M's half. The other half is in `wakep`.\n        store_load::<H>();\n        if !others.any_work() {",
        to: "        let any_work = others.any_work();\n        self.leave(token);\n        store_load::<H>();\n        if !any_work {",
        models: &["one_submitter_one_spinning_m"],
    },
    Mistake {
        what: "publish is Relaxed",
        file: "src/kernel/src/queues/runq.rs",
        from: "self.tail.store(Self::ahead(tail, 1), Release);",
        to: "self.tail.store(Self::ahead(tail, 1), Relaxed);",
        models: &["owner_and"],
    },
    Mistake {
        what: "the fence of who enters a system call is deleted",
        file: "src/kernel/src/protocol/syscall.rs",
        from: "    store_load::<H>();\n    if others.is_wanted()",
        to: "    if others.is_wanted()",
        models: &["syscall::every_client_program_is_explained::one_beside_one"],
    },
];

#[test]
#[ignore = "slow: `.ci/nightly` runs it"]
fn each_makes_cargo_verify_fail() {
    let copy = copy_of_the_workspace();
    let right = verify(&copy, &["one_submitter_one_spinning_m", "owner_and", MISTAKES[3].models[0]]);
    assert!(right.status.success(), "the copy fails without a mistake:\n{}", text(&right));
    for mistake in MISTAKES {
        let path = copy.join(mistake.file);
        let source = fs::read_to_string(&path).expect("the source is there");
        assert!(source.contains(mistake.from), "{}: {} has changed, change this test too", mistake.what, mistake.file);
        fs::write(&path, source.replacen(mistake.from, mistake.to, 1)).expect("it can be written");
        let output = verify(&copy, mistake.models);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{}: it should have failed\n{said}", mistake.what);
        assert!(said.contains("FAILED") && said.contains('│'), "{}: no schedule is shown\n{said}", mistake.what);
        eprintln!("{}: {}", mistake.what, said.lines().find(|line| line.starts_with("execution")).unwrap_or("failed"));
        fs::write(&path, source).expect("it can be written");
    }
}

/// Builds and runs, in the copy, what the alias `cargo verify` builds and runs; but not optimised, to be built fast.
fn verify(copy: &Path, models: &[&str]) -> Output {
    let build = cargo(copy).args(["build", "--quiet", "--offline", "-p", "spinpark-verify"]).output();
    let build = build.expect("cargo starts");
    assert!(build.status.success(), "the copy does not build:\n{}", String::from_utf8_lossy(&build.stderr));
    let mut program = target().join("debug").join("verify-copy");
    program.set_extension(env::consts::EXE_EXTENSION);
    Command::new(program).arg("run").args(models).current_dir(copy).output().expect("the copy starts")
}

fn cargo(copy: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(copy).env("CARGO_TARGET_DIR", target());
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    cargo
}

/// A target folder of its own: the copy's libraries have this one's names.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("deleted-lines")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The packages that the check is made of, beside those below `src`.
const MEMBERS: &[&str] = &[
    "verification",
    "verification/rc11",
    "verification/rooms",
    "verification/litmus",
    "verification/museum",
    "verification/cli",
    "verification/parameterized",
    "verification/paths",
];

/// The workspace in a folder of its own, with only what the check needs.
fn copy_of_the_workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("copy");
    if copy.exists() {
        fs::remove_dir_all(&copy).expect("the last copy can be removed");
    }
    copy_folder(&root.join("src"), &copy.join("src"));
    for member in MEMBERS {
        copy_folder(&root.join(member).join("src"), &copy.join(member).join("src"));
        // And what its sources include: lists, its page; and how it is built.
        copy_files(&root.join(member), &copy.join(member));
    }
    fs::create_dir_all(copy.join("verification/mutants/kernel")).expect("it can be made");
    for file in ["Cargo.lock", "README.md", "verification/mutants/kernel/alone.txt"] {
        fs::copy(root.join(file), copy.join(file)).expect("it can be copied");
    }
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a workspace has a manifest");
    let manifest = manifest.replace(", \"proptests\"", "").replace("opt-level = 3", "opt-level = 0");
    // Benches and the like are not copied.
    let manifest = ["bench", "test", "example"].into_iter().fold(manifest, |manifest, kind| without(&manifest, kind));
    fs::write(copy.join("Cargo.toml"), manifest).expect("it can be written");
    for member in MEMBERS {
        let path = Path::new(member).join("Cargo.toml");
        let manifest = fs::read_to_string(root.join(&path)).expect("a member has a manifest");
        let manifest = manifest.replace("name = \"verify\"", "name = \"verify-copy\"");
        fs::write(copy.join(path), without(&manifest, "test")).expect("it can be written");
    }
    copy
}

/// A manifest without its tables of one kind.
fn without(manifest: &str, kind: &str) -> String {
    let header = format!("[[{kind}]]");
    let mut parts = manifest.split(&header);
    let first = parts.next().unwrap_or_default();
    first.chars().chain(parts.flat_map(|part| after_table(part).chars())).collect()
}

/// What follows a TOML table's last line.
fn after_table(part: &str) -> &str {
    part.find("\n[").map_or("", |i| &part[i..])
}

fn copy_folder(from: &Path, to: &Path) {
    copy_files(from, to);
    for folder in entries(from).filter(|path| path.is_dir()) {
        copy_folder(&folder, &to.join(folder.file_name().expect("it has a name")));
    }
}

/// Those in the folder itself.
fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be made");
    for file in entries(from).filter(|path| path.is_file()) {
        fs::copy(&file, to.join(file.file_name().expect("it has a name"))).expect("it can be copied");
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).expect("it can be read").map(|entry| entry.expect("it can be read").path())
}
