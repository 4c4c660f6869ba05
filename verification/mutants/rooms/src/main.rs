//! Which mistakes in a room's source do its client programs kill? `rooms-mutants ROOM`: each in a process of its own.

use kernel::{STEPS, Step, hits, switch_on};
use spinpark_rooms::explore::{Declared, shape_name};
use spinpark_rooms::program::LADDER;
use spinpark_rooms::rooms::ROOMS;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How long one mistake may take.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let find = |name: &str| ROOMS.iter().find(|room| room.name == name);
    match args.as_slice() {
        ["one", id, name] => one(id.parse().unwrap_or(0), find(name).expect("a room")),
        [name] | [name, "--edits"] if find(name).is_some() => all(name, args.len() > 1),
        _ => {
            eprintln!("usage: rooms-mutants ROOM [--edits]: every mistake in the room's source, or those made by hand");
            ExitCode::from(2)
        }
    }
}

/// The life of the process that tries one.
fn one(id: u32, room: &Declared) -> ExitCode {
    std::panic::set_hook(Box::new(|_| ()));
    switch_on(id);
    for n in 0..LADDER.len() + (room.focuses)() {
        let swept = (room.sweep)(n, false, "");
        if let Some(failure) = swept.failure {
            let why = failure.lines().next().unwrap_or_default().to_owned();
            println!("killed by {} after {} executions: {why}", shape_name(n), swept.executions);
            return ExitCode::SUCCESS;
        }
    }
    println!("{}", if hits() > 0 { "LIVES" } else { "NOT COVERED" });
    ExitCode::SUCCESS
}

fn all(room: &str, edits: bool) -> ExitCode {
    let is_of = |step: &&Step| {
        let folder = format!("waits/{room}/");
        let is_file = step.file == format!("waits/{room}.rs") || step.file.starts_with(&folder);
        is_file && step.both.is_none() && (!edits || step.kind == "edited")
    };
    let (mut tried, mut lives) = (0, 0);
    for step in STEPS.iter().filter(is_of) {
        let came = try_one(step.id, room);
        tried += 1;
        lives += u32::from(!came.starts_with("killed"));
        println!("{}:{} {}\n    {came}", step.file, step.line, step.what);
    }
    println!("{room}: {tried} mistakes, {} killed", tried - lives);
    ExitCode::from(u8::from(lives > 0))
}

fn try_one(id: u32, room: &str) -> String {
    let program = std::env::current_exe().expect("this program");
    let child = Command::new(program).args(["one", &id.to_string(), room]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let (mut child, begun) = (child.expect("a process"), Instant::now());
    while begun.elapsed() < PATIENCE && child.try_wait().is_ok_and(|status| status.is_none()) {
        std::thread::sleep(Duration::from_millis(2));
    }
    if begun.elapsed() >= PATIENCE {
        let _ = child.kill();
    }
    let output = child.wait_with_output().expect("its output");
    match String::from_utf8_lossy(&output.stdout).trim() {
        "" if begun.elapsed() >= PATIENCE => "NOTHING within a minute".to_owned(),
        "" => "killed: the checker died of it".to_owned(),
        text => text.to_owned(),
    }
}
