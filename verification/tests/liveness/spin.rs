//! Running Spin on `verification/spin/spinpark.pml`, in a directory of its own.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const MODEL: &str = include_str!("../../spin/spinpark.pml");

/// What is needed, and what has it.
const TOOLS: [(&str, &str, &str); 2] = [("spin", "-V", "spin"), ("cc", "--version", "gcc")];

/// Says so if something is not there.
pub(crate) fn is_here() -> bool {
    for (tool, version, package) in TOOLS {
        if Command::new(tool).arg(version).output().is_err() {
            println!("skipped: {tool} is not installed (Debian: apt-get install {package})");
            return false;
        }
    }
    true
}

/// The model, compiled.
pub(crate) struct Checker {
    dir: TempDir,
    defines: Vec<String>,
}

/// What the search said.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// Was there an execution that is not as it should be?
    pub(crate) is_violated: bool,
    /// States stored.
    pub(crate) states: u64,
    pub(crate) time: Duration,
}

impl Checker {
    /// Compiles the model with these defines. What is searched for long is worth optimising, and nothing else is.
    pub(crate) fn new(defines: &[&str], options: &[&str]) -> Checker {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("spinpark.pml"), MODEL).expect("the model is written");
        let defines: Vec<String> = defines.iter().map(|define| format!("-D{define}")).collect();
        run(dir.path(), "spin", ["-a"].into_iter().chain(defines.iter().map(String::as_str)).chain(["spinpark.pml"]));
        // NFAIR: weak fairness for more than two processes.
        let fixed = ["-w", "-DNFAIR=3", "-DVECTORSZ=2048", "-DMEMLIM=3000", "-o", "pan", "pan.c"];
        run(dir.path(), "cc", options.iter().copied().chain(fixed));
        Checker { dir, defines }
    }

    /// Does each G run that is queued, if each thread that can go on goes on some day?
    pub(crate) fn every_g_runs(&self) -> Verdict {
        self.search(&["-a", "-f", "-m1000000", "-N", "every_g_runs"])
    }

    /// Does the scheduler come to rest, even without fairness?
    pub(crate) fn all_is_quiet(&self) -> Verdict {
        self.search(&["-a", "-m1000000", "-N", "all_is_quiet"])
    }

    /// Can this trace be played to its end? It is an error that Spin finds if so.
    pub(crate) fn accepts(&self, trace: &str) -> Verdict {
        // Others may ask at the same time.
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("trace"), trace).expect("the trace is written");
        // A thread that cannot report what comes next is stuck, which is no error: -E.
        self.search_in(dir.path(), &["-E", "-m20000", "-w16"])
    }

    fn search(&self, how: &[&str]) -> Verdict {
        self.search_in(self.dir.path(), how)
    }

    fn search_in(&self, dir: &Path, how: &[&str]) -> Verdict {
        let begun = Instant::now();
        let said = run(dir, &self.dir.path().join("pan").to_string_lossy(), how.iter().copied());
        let time = begun.elapsed();
        let number = |after: &str, before: &str| {
            let line = said.lines().find(|line| line.contains(after) && line.contains(before))?;
            let (_, rest) = if after.is_empty() { ("", line) } else { line.split_once(after)? };
            rest.split_once(before).map_or(Some(rest), |(n, _)| Some(n))?.trim().parse::<f64>().ok()
        };
        let errors = said.lines().find_map(|line| line.split_once("errors: ")?.1.trim().parse::<u64>().ok());
        let errors = errors.unwrap_or_else(|| panic!("the search of {:?} did not end: {said}", self.defines));
        let is_whole = !said.contains("max search depth too small") && !said.contains("out of memory");
        assert!(errors > 0 || is_whole, "the search of {:?} is not complete: {said}", self.defines);
        let states = number("", "states, stored").unwrap_or(0.0) as u64;
        Verdict { is_violated: errors > 0, states, time }
    }
}

fn run<'a>(dir: &Path, program: &str, arguments: impl IntoIterator<Item = &'a str>) -> String {
    let output = Command::new(program).args(arguments).current_dir(dir).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} failed: {said}");
    said
}
