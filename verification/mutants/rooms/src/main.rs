//! Which mistakes in a room's source do its client programs kill? `cargo mistakes`.

use kernel::{STEPS, Step, hits, switch_on};
use spinpark_rooms::explore::{Declared, shape_name};
use spinpark_rooms::program::LADDER;
use spinpark_rooms::rooms::ROOMS;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How long one mistake may take. One of which nothing is known then was not killed.
const PATIENCE: Duration = Duration::from_secs(300);

/// The shapes that take longer than all others together.
const LARGEST: std::ops::Range<usize> = 5..LADDER.len();

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let is_every = args.contains(&"--every");
    let names: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--every").collect();
    let find = |name: &&str| ROOMS.iter().find(|room| room.name == *name);
    if let ["one", id, name] = args[..] {
        return one(id.parse().expect("a mistake's number"), find(&name).expect("a room"));
    }
    let has_patches = |name: &&str| patches_of(name).exists();
    let declared: Vec<&str> = ROOMS.iter().map(|room| room.name).filter(has_patches).collect();
    let rooms = if names == ["all"] { declared.clone() } else { names };
    if rooms.is_empty() || !rooms.iter().all(|name| find(name).is_some()) {
        eprintln!("{USAGE}\nrooms with patches: {}", declared.join(", "));
        return ExitCode::from(2);
    }
    let lives = rooms.iter().map(|room| all(room, is_every)).sum::<usize>();
    ExitCode::from(u8::from(lives > 0))
}

const USAGE: &str = "usage: cargo mistakes all | ROOM… [--every]
Plays the client programs of a room on its source with one mistake in it, each in a process of its own: with those of
verification/rooms/variants/ROOM.toml, of which each must die; or with every small mistake there is, of which some are argued
in verification/survivors.toml.";

/// The room's wrong variants.
fn patches_of(room: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rooms/variants").join(format!("{room}.toml"))
}

/// Is it one of those variants? Other mistakes made by hand are of models, which may ask what no program of the room does.
fn is_patch_of(step: &Step, room: &Declared, patches: &str) -> bool {
    step.kind == "edited" && is_in(step, room) && patches.contains(&format!("what = {:?}", step.what))
}

fn is_in(step: &Step, room: &Declared) -> bool {
    room.is_made_of(&step.file) && step.both.is_none()
}

/// The life of the process that tries one: with the room's programs, then with those of the others that have its source.
fn one(id: u32, room: &Declared) -> ExitCode {
    std::panic::set_hook(Box::new(|_| ()));
    switch_on(id);
    let step = STEPS.iter().find(|step| step.id == id).expect("there is such a mistake");
    let others = ROOMS.iter().filter(|other| is_in(step, other) && other.name != room.name);
    if !std::iter::once(room).chain(others).any(kills) {
        println!("{}", if hits() > 0 { "LIVES" } else { "NOT COVERED" });
    }
    ExitCode::SUCCESS
}

/// Does a program of the room fail? It is printed.
fn kills(room: &Declared) -> bool {
    // The largest shapes last. A mistake may make a focus larger, too: what was written last is the smallest of `chan`.
    let focuses = LADDER.len()..LADDER.len() + (room.focuses)();
    for n in (0..LARGEST.start).chain(focuses.rev()).chain(LARGEST) {
        let swept = (room.sweep)(n, false, "");
        if let Some(failure) = swept.failure {
            let why = failure.lines().next().unwrap_or_default().to_owned();
            println!("killed by {} after {} executions: {why}", shape_name(n), swept.executions);
            return true;
        }
    }
    false
}

/// How many live.
fn all(room: &str, is_every: bool) -> usize {
    let patches = std::fs::read_to_string(patches_of(room)).unwrap_or_default();
    let declared = ROOMS.iter().find(|declared| declared.name == room).expect("a room");
    let is_tried = |step: &&Step| if is_every { is_in(step, declared) } else { is_patch_of(step, declared, &patches) };
    let steps = STEPS.iter().filter(is_tried);
    let came: Vec<String> = steps
        .map(|step| {
            let came = try_one(step.id, room);
            println!("{}:{} {}\n    {came}", step.file, step.line, step.what);
            came
        })
        .collect();
    let killed = came.iter().filter(|came| came.starts_with("killed")).count();
    println!("{room}: {} mistakes, {killed} killed", came.len());
    came.len() - killed
}

fn try_one(id: u32, room: &str) -> String {
    let program = std::env::current_exe().expect("this program");
    let child =
        Command::new(program).args(["one", &id.to_string(), room]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let (mut child, begun) = (child.expect("a process"), Instant::now());
    while begun.elapsed() < PATIENCE && child.try_wait().is_ok_and(|status| status.is_none()) {
        std::thread::sleep(Duration::from_millis(2));
    }
    if begun.elapsed() >= PATIENCE {
        let _ = child.kill();
    }
    let output = child.wait_with_output().expect("its output");
    match String::from_utf8_lossy(&output.stdout).trim() {
        "" if begun.elapsed() >= PATIENCE => "NOTHING within five minutes".to_owned(),
        "" => "killed: the checker died of it".to_owned(),
        text => text.to_owned(),
    }
}
