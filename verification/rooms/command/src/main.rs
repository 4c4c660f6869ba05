//! `cargo room NAME [SHAPE…]`: every client program of one room, from an edit to a verdict in seconds.

use spinpark_rooms::explore::{Played, Swept, shape_name, shape_of};
use spinpark_rooms_command::ROOMS;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: rooms [--all] [--only TEXT] [--record FILE] ROOM|all [SHAPE…]\n\
    ROOM is one of the names below; SHAPE one of 1x1 1x2 1x3 2x1 1,1,1 2x2 2,1,1, or focus-1 …: those of sched that\n\
    take minutes are played only if they are named\n\
    --all goes on after a program that fails; --only takes the programs whose text contains TEXT;\n\
    --record writes what may come of the programs into a file, which keeps its lines of other rooms and shapes";

fn main() -> ExitCode {
    let (mut goes_on, mut only, mut record, mut names) = (false, String::new(), None, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--all" => goes_on = true,
            "--only" => only = args.next().unwrap_or_default(),
            "--record" => record = args.next(),
            _ => names.push(arg),
        }
    }
    let Some((room, shapes)) = names.split_first() else { return usage() };
    let rooms: Vec<&Played> = ROOMS.iter().filter(|declared| room == "all" || declared.name == room).collect();
    let named: Vec<Option<usize>> = shapes.iter().map(|shape| shape_of(&shape.replace('-', " "))).collect();
    let is_played =
        |room: &Played, n| if named.is_empty() { room.usual().contains(&n) } else { named.contains(&Some(n)) };
    let is_known = |n: usize| rooms.iter().any(|room| room.shapes().contains(&n));
    if rooms.is_empty() || !named.iter().all(|n| n.is_some_and(is_known)) {
        return usage();
    }
    let (mut is_fine, mut played) = (true, Vec::new());
    for room in rooms {
        for n in room.shapes().filter(|&n| is_played(room, n) && room.programs(n) > 0) {
            let swept = tell(room, n, goes_on, &only);
            is_fine &= swept.failed == 0;
            played.push((line_of(room, n), swept.may_reach.to_string()));
        }
    }
    if let Some(file) = record {
        let old = std::fs::read_to_string(&file).unwrap_or_default();
        let now = |line: &String| played.iter().find(|(other, _)| other == line).map(|(_, found)| found.as_str());
        let before = |line: &String| old.lines().find_map(|text| text.strip_prefix(line.as_str()));
        let lines = ROOMS.iter().flat_map(|room| room.shapes().map(|n| line_of(room, n)));
        let text =
            lines.filter_map(|line| now(&line).or_else(|| before(&line)).map(|found| format!("{line}{found}\n")));
        if let Err(error) = std::fs::write(&file, text.collect::<String>()) {
            eprintln!("{file}: cannot be written: {error}");
            return ExitCode::from(2);
        }
    }
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How the line of these programs begins in a record.
fn line_of(room: &Played, n: usize) -> String {
    format!("{} {}: ", room.name, shape_name(n))
}

fn usage() -> ExitCode {
    let names: Vec<&str> = ROOMS.iter().map(|room| room.name).collect();
    eprintln!("{USAGE}\nrooms: {}", names.join(" "));
    ExitCode::from(2)
}

fn tell(room: &Played, n: usize, goes_on: bool, only: &str) -> Swept {
    let clock = Instant::now();
    let swept = room.sweep(n, goes_on, only);
    let verdict = match swept.failed {
        0 => "proved (RC11)".to_owned(),
        failed => format!("{failed} FAILED"),
    };
    println!(
        "{:<12} {:<8} {:>6} programs {:>9} executions {:>6.1} s  {verdict}, {}",
        room.name,
        shape_name(n),
        swept.programs,
        swept.executions,
        clock.elapsed().as_secs_f64(),
        swept.may_reach
    );
    if let Some(failure) = &swept.failure {
        println!("{failure}\n");
    }
    swept
}
