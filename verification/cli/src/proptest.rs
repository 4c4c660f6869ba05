//! Mutants that no model kills, before the property tests of `proptests` and the kernel's own, built on the mutated kernel.

use crate::Stop;
use spinpark_verification::record::{Fate, MutantRecord};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The mutated kernel reads there which mutant it has.
const VARIABLE: &str = "SPINPARK_MUTANT";
/// A property test that takes longer than this does not come to its end: without a mutant all of them take a few seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// Which tests are about a file whose name is another than theirs.
const OF_FILES: [(&str, &str); 6] =
    [("g", "words"), ("m", "words"), ("p", "turn"), ("runnext", "local"), ("token", "evidence"), ("wanted", "words")];

/// Those that are about no file in particular: what an operation may touch, the kernel's own, and the whole scheduler beside lists.
const OF_EVERY_FILE: [&str; 5] = ["costs::", "at_rest::", "identity::", "lost::", "the_scheduler::"];

/// Builds the tests on the mutated kernel. Their program.
pub(crate) fn build(manifest: &Path, target: &Path) -> Result<PathBuf, Stop> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--no-run", "--message-format=json-render-diagnostics", "-p", "spinpark-mutated-proptests"]);
    cargo.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(target).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = said.filter_map(|said| said["executable"].as_str().map(PathBuf::from));
    let program =
        programs.find(|program| program.file_stem().is_some_and(|it| it.to_string_lossy().starts_with("all-")));
    program.ok_or_else(|| Stop::BadInput("the property tests do not build on the mutated kernel".to_owned()))
}

/// Is the mutant `step` killed by one of them? Then the record says so.
pub(crate) fn ask(program: &Path, step: u32, record: &mut MutantRecord) -> Result<(), String> {
    let clock = Instant::now();
    let own = OF_FILES.iter().find(|(file, _)| *file == record.room).map_or(record.room.as_str(), |(_, tests)| tests);
    let mut command = Command::new(program);
    command.args(["--test-threads", "1", &format!("{own}::")]).args(OF_EVERY_FILE).env(VARIABLE, step.to_string());
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let said = listen(&mut child);
    let mut last = own.to_owned();
    let killer = loop {
        match said.recv_timeout(PATIENCE.saturating_sub(clock.elapsed())) {
            Ok(line) => {
                let Some((test, verdict)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) else {
                    continue;
                };
                last = test.to_owned();
                // The others are not waited for, or for a failure to be made short.
                if verdict == "FAILED" {
                    break Some(last);
                }
            }
            Err(RecvTimeoutError::Timeout) => break Some(last),
            Err(RecvTimeoutError::Disconnected) => {
                let status = child.wait().map_err(|error| error.to_string())?;
                break (!status.success()).then_some(last);
            }
        }
    };
    if killer.is_some() {
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().map_err(|error| error.to_string())?;
        (record.fate, record.model) = (Fate::KilledByProptest, killer);
    }
    record.seconds += clock.elapsed().as_secs_f64();
    Ok(())
}

/// What it says, line by line.
fn listen(child: &mut Child) -> mpsc::Receiver<String> {
    let stdout = child.stdout.take().expect("it is piped");
    let (send, receive) = mpsc::channel();
    thread::spawn(move || BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    receive
}
