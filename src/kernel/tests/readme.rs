//! The README's program works when it is pasted into a crate that has `spinpark-kernel` as its only dependency.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn its_program_runs_in_a_crate_of_its_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("the README");
    let program = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    assert_eq!(program, include_str!("pool.in"), "the README, and what the other tests are made of");
    assert!(
        program.starts_with(include_str!("os.in")),
        "the host, of which the examples of the documentation are made"
    );
    let here = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pasted");
    fs::create_dir_all(here.join("src")).expect("a folder");
    fs::write(here.join("src/main.rs"), program).expect("the program");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"pasted\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nspinpark-kernel = {{ path = {root:?} }}\n"
    );
    fs::write(here.join("Cargo.toml"), manifest).expect("the manifest");
    fs::copy(root.join("../../Cargo.lock"), here.join("Cargo.lock")).expect("the versions that are there");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--offline", "--target-dir", "target"]).current_dir(&here);
    let output = cargo.env_remove("CARGO_BUILD_TARGET").output().expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a thousand jobs ran\n");
}
