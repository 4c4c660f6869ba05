//! A failure: shown, written to files, and played again.

use super::settings::Subject;
use super::source;
use super::{Builder, Program, Settings, on_a_thread};
use crate::engine::{Counterexample, Picture, Played};
use crate::explore::watch_as;
use crate::graph::Graph;
use crate::machine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{env, fs, io, panic};

/// Today's format.
const FORMAT: u32 = 1;

/// An execution that fails, as a file holds it.
#[derive(Serialize, Deserialize)]
pub(super) struct Schedule {
    rc11_schedule: u32,
    test: String,
    model: usize,
    why: String,
    observed: BTreeSet<String>,
    graph: Graph,
}

/// Panics of executions are not printed: the picture says what is wrong, once. All others are, as before.
pub(super) fn hush_executions() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // Relaxed: set before the thread starts that reads it here.
            if !machine::panics_at(info.location()) || IS_LOUD.load(Relaxed) {
                before(info);
            }
        }));
    });
}

/// Are panics of executions printed nevertheless, with their backtraces? When one is played again by itself.
static IS_LOUD: AtomicBool = AtomicBool::new(false);

/// Writes the picture and the schedule to files. What is wrong, with the picture as text.
pub(super) fn show(
    found: &Counterexample,
    subject: &Subject,
    builder: &Builder,
    settings: Arc<Settings>,
    f: Program,
) -> String {
    let played = play_again(found.graph.clone(), builder, Arc::clone(&settings), f);
    let picture = Picture::of(&subject.name, found, &played, &source::line);
    let schedule = Schedule {
        rc11_schedule: FORMAT,
        test: subject.name.clone(),
        model: subject.nth,
        why: picture.sentence().to_owned(),
        observed: settings.observed.clone(),
        graph: found.graph.clone(),
    };
    let files = match write(&schedule, &picture) {
        Ok((path, drawing)) => format!(
            "drawn: {}\nto play it again: RC11_REPLAY={} cargo test {}",
            drawing.display(),
            path.display(),
            subject.name
        ),
        Err(error) => format!("the schedule cannot be written: {error}"),
    };
    format!("{}\n{files}", picture.columns())
}

pub(super) fn play_again(graph: Graph, builder: &Builder, settings: Arc<Settings>, f: Program) -> Played {
    let (config, body) = (builder.config(), builder.body(settings, f));
    on_a_thread(move || watch_as(graph, &config, body))
}

/// The schedule and the drawing.
fn write(schedule: &Schedule, picture: &Picture) -> io::Result<(PathBuf, PathBuf)> {
    let directory = directory();
    fs::create_dir_all(&directory)?;
    let clean = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    let mut name: String =
        schedule.test.replace("::", ".").chars().map(|c| if c == '.' { c } else { clean(c) }).collect();
    if schedule.model > 1 {
        name = format!("{name}-{}", schedule.model);
    }
    let (path, drawing) = (directory.join(format!("{name}.json")), directory.join(format!("{name}.svg")));
    fs::write(&path, serde_json::to_vec(schedule).map_err(io::Error::other)?)?;
    fs::write(&drawing, picture.svg())?;
    Ok((path, drawing))
}

/// `RC11_DIR`, or `rc11` beside the tests' own directory.
fn directory() -> PathBuf {
    if let Some(directory) = env::var_os("RC11_DIR") {
        return directory.into();
    }
    let beside = env::current_exe().ok().and_then(|exe| {
        let deps = exe.ancestors().find(|directory| directory.ends_with("deps"))?;
        deps.parent().map(Path::to_path_buf)
    });
    beside.unwrap_or_else(env::temp_dir).join("rc11")
}

/// The schedule that `RC11_REPLAY` names, if it is of this model.
pub(super) fn to_be_replayed(subject: &Subject) -> Option<Schedule> {
    let path = PathBuf::from(env::var_os("RC11_REPLAY")?);
    let wrong = |error: String| -> ! { panic!("RC11_REPLAY={}: {error}", path.display()) };
    let text = fs::read(&path).unwrap_or_else(|error| wrong(error.to_string()));
    let schedule: Schedule =
        serde_json::from_slice(&text).unwrap_or_else(|error| wrong(format!("no schedule: {error}")));
    if schedule.rc11_schedule != FORMAT {
        wrong(format!("it has format {}; this version reads {FORMAT}", schedule.rc11_schedule));
    }
    if let Err(error) = schedule.graph.check() {
        wrong(error);
    }
    (schedule.test == subject.name && schedule.model == subject.nth).then_some(schedule)
}

/// Plays it again, and fails as it did; or says that it does not any more.
#[track_caller]
pub(super) fn replay(schedule: Schedule, subject: &Subject, builder: &Builder, f: Program) -> ! {
    hush_executions();
    IS_LOUD.store(true, Relaxed);
    let settings = Arc::new(Settings::new(schedule.observed));
    let played = play_again(schedule.graph, builder, settings, f);
    let Some(found) = played.found.clone() else {
        panic!("the schedule was played, and nothing is wrong with it any more; it was: {}", schedule.why);
    };
    let picture = Picture::of(&subject.name, &found, &played, &source::line);
    panic!("{}", picture.columns());
}
