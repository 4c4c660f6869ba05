//! `cargo verify --watch`: what a changed file touches is built and run again.
//!
//! ```text
//!   src/kernel/src/**        a file of which some room has wrong variants: those rooms
//!   verification/src/**      a file named as a room, or in a folder named as one: that room
//!   any other of these       everything that was asked for
//! ```

use crate::Stop;
use crate::how::How;
use spinpark_verification::model;
use spinpark_verification::mutation::mutant::{self, Mutation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use std::{fs, thread};

/// Where a change matters.
const FOLDERS: [&str; 3] = ["src", "verification/src", "verification/rc11/src"];

/// How long a change may go unseen.
const LOOK: Duration = Duration::from_millis(300);

/// The source files, and when each was changed last.
type Seen = BTreeMap<PathBuf, SystemTime>;

/// Runs for ever.
///
/// # Errors
/// If there is no source in this folder, or cargo cannot be run.
pub(crate) fn watch(names: &[String], how: &How) -> Result<(), Stop> {
    let mut seen = look();
    if seen.is_empty() {
        return Err(Stop::BadInput(format!(
            "there is no source to watch in {}; run this in the project's folder",
            FOLDERS.join(", ")
        )));
    }
    eprintln!("watching {} files; Ctrl-C ends it", seen.len());
    again(&BTreeSet::new(), names, how)?;
    loop {
        thread::sleep(LOOK);
        let now = look();
        let changed = changed(&seen, &now);
        seen = now;
        if !changed.is_empty() {
            again(&touched(&changed), names, how)?;
        }
    }
}

fn look() -> Seen {
    let mut seen = Seen::new();
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.metadata() {
                Ok(data) if data.is_dir() => folders.push(path),
                Ok(data) if path.extension().is_some_and(|extension| extension == "rs") => {
                    seen.insert(path, data.modified().unwrap_or(SystemTime::UNIX_EPOCH));
                }
                _ => (),
            }
        }
    }
    seen
}

fn changed(before: &Seen, now: &Seen) -> Vec<PathBuf> {
    let is_new = |path: &&PathBuf| before.get(*path) != now.get(*path);
    before.keys().chain(now.keys()).filter(is_new).cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// The rooms that these files touch; none: all of them.
fn touched(changed: &[PathBuf]) -> BTreeSet<&'static str> {
    let mut rooms = BTreeSet::new();
    for path in changed {
        let of_this = rooms_of(path);
        if of_this.is_empty() {
            return BTreeSet::new();
        }
        rooms.extend(of_this);
    }
    rooms
}

fn rooms_of(path: &Path) -> BTreeSet<&'static str> {
    if let Ok(file) = path.strip_prefix("src/kernel/src") {
        let file = file.to_string_lossy();
        let of_this = |mutation: Mutation| mutant::site(mutation).is_some_and(|site| site.file == file);
        return mutant::all().filter(|mutant| of_this(mutant.mutation)).map(|mutant| mutant.room).collect();
    }
    let names: BTreeSet<String> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    model::all().map(|model| model.room()).filter(|room| names.contains(*room)).collect()
}

/// Builds what has changed, and runs these rooms, as far as they were asked for.
fn again(rooms: &BTreeSet<&'static str>, names: &[String], how: &How) -> Result<(), Stop> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--package", "spinpark-verify", "--bin", "verify", "--"]);
    let rooms: Vec<&str> = rooms.iter().copied().collect();
    match (names, rooms.as_slice()) {
        ([], []) => (),
        ([], rooms) => drop(command.arg("run").args(rooms)),
        (names, _) => drop(command.arg("run").args(names)),
    }
    command.args(how.engine.iter().flat_map(|engine| ["--engine", engine.name()]));
    command.args(["--seed", &how.seed.to_string(), "--jobs", &how.jobs().to_string()]);
    eprintln!(
        "\n{}",
        if rooms.is_empty() {
            "everything that was asked for".to_owned()
        } else {
            format!("again: {}", rooms.join(", "))
        }
    );
    // What came of it was said; the next change may mend it.
    let status = command.status();
    status.map(drop).map_err(|error| Stop::BadInput(format!("cannot run cargo to build what has changed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rooms(path: &str) -> Vec<&'static str> {
        touched(&[PathBuf::from(path)]).into_iter().collect()
    }

    #[test]
    fn a_file_of_the_kernel_touches_the_rooms_with_mistakes_in_it() {
        assert!(rooms("src/kernel/src/protocol/spinning.rs").contains(&"spinning"));
        assert!(rooms("src/kernel/src/queues/runq.rs").contains(&"runq"));
    }

    #[test]
    fn a_file_of_models_touches_its_room() {
        assert_eq!(rooms("verification/src/models/globq.rs"), ["globq"]);
        assert_eq!(rooms("verification/src/models/stw/begin.rs"), ["stw"]);
    }

    #[test]
    fn whatever_else_touches_everything() {
        assert!(rooms("src/kernel/src/host.rs").is_empty());
        let both = [PathBuf::from("verification/src/models/globq.rs"), PathBuf::from("verification/src/job.rs")];
        assert!(touched(&both).is_empty());
    }

    #[test]
    fn a_file_that_is_new_gone_or_changed_is_seen() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let seen =
            |files: &[(&str, u64)]| -> Seen { files.iter().map(|(name, time)| (name.into(), at(*time))).collect() };
        let found = changed(
            &seen(&[("same", 1), ("gone", 1), ("changed", 1)]),
            &seen(&[("same", 1), ("changed", 2), ("new", 1)]),
        );
        assert_eq!(found, ["changed", "gone", "new"].map(PathBuf::from));
    }
}
