//! Examples as programs: built, started, and waited for.

pub(crate) mod browser;
pub(crate) mod cargo;
pub(crate) mod killed;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Seconds after which something hangs.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The example of this name, built once, with these features.
pub(crate) fn built(name: &'static str, features: &str) -> String {
    static PROGRAMS: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let program = programs.entry(name).or_insert_with(|| {
        let built = cargo::cargo()
            .args(["build", "--features", features, "--example", name, "--message-format=json"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stderr(Stdio::null())
            .output()
            .expect("cargo can be started");
        let text = String::from_utf8_lossy(&built.stdout).into_owned();
        let mut program = text.lines().filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
        program.next_back().expect("it was built").to_owned()
    });
    program.clone()
}

/// Is a program of others there, and does it say that it can do this? If not, that is said, and what asks for it is skipped.
pub(crate) fn is_there(program: &str, argument: &str, can: &str) -> bool {
    let output = Command::new(program).arg(argument).stderr(Stdio::null()).output();
    let is_there = output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(can));
    if !is_there {
        println!("skipped: there is no `{program}` here that has `{can}`");
    }
    is_there
}

pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let from = Instant::now();
    while !is_so() {
        assert!(from.elapsed() < LONG, "not {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A folder that is removed in the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("spinpark-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
