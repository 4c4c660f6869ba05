//! Which mistakes in a room's source do its client programs kill? `cargo mistakes`.

mod kills;

use kernel::{STEPS, Step, hits, switch_on};
use kills::{Killer, Kills};
use spinpark_rooms::explore::{Played, Swept, shape_name};
use spinpark_rooms::program::LADDER;
use spinpark_rooms::every_room;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Every room.
static ROOMS: &[Played] = &every_room!(Played::of);

/// How long one mistake may take. One of which nothing is known then was not killed.
const PATIENCE: Duration = Duration::from_secs(300);

/// The shapes that take longer than all others together.
const LARGEST: std::ops::Range<usize> = 5..LADDER.len();

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (is_every, records) = (args.contains(&"--every"), args.contains(&"--record"));
    let names: Vec<&str> = args.iter().copied().filter(|arg| !arg.starts_with("--")).collect();
    let find = |name: &&str| ROOMS.iter().find(|room| room.name == *name);
    if let ["one", id, name, killer @ ..] = &args[..] {
        let id = id.parse().expect("a mistake's number");
        return one(id, find(name).expect("a room"), Killer::of(killer).as_ref());
    }
    let has_patches = |name: &&str| patches_of(name).exists();
    let declared: Vec<&str> = ROOMS.iter().map(|room| room.name).filter(has_patches).collect();
    let rooms = if names == ["all"] { declared.clone() } else { names };
    let are_known = args.iter().all(|arg| !arg.starts_with("--") || ["--every", "--record"].contains(arg));
    if rooms.is_empty() || !are_known || is_every && records || !rooms.iter().all(|name| find(name).is_some()) {
        eprintln!("{USAGE}\nrooms with patches: {}", declared.join(", "));
        return ExitCode::from(2);
    }
    let mut kills = Kills::read();
    let lives = rooms.iter().map(|room| all(room, is_every, &mut kills)).sum::<usize>();
    if records && let Err(error) = kills.write() {
        eprintln!("verification/rooms/kills.tsv: cannot be written: {error}");
        return ExitCode::from(2);
    }
    ExitCode::from(u8::from(lives > 0))
}

const USAGE: &str = "usage: cargo mistakes all | ROOM… [--every | --record]
Plays the client programs of a room on its source with one mistake in it, each in a process of its own: with those of
verification/rooms/variants/ROOM.toml, of which each must die; or with every small mistake there is, of which some are argued
in verification/survivors.toml. The program that killed one before is played first: --record keeps which one does.";

/// The room's wrong variants.
fn patches_of(room: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rooms/variants").join(format!("{room}.toml"))
}

/// Is it one of those variants? Other mistakes made by hand are of models, which may ask what no program of the room does.
fn is_patch_of(step: &Step, room: &Played, patches: &str) -> bool {
    step.kind == "edited" && is_in(step, room) && patches.contains(&format!("what = {:?}", step.what))
}

fn is_in(step: &Step, room: &Played) -> bool {
    room.is_made_of(&step.file) && step.both.is_none()
}

/// The life of the process that tries one: with what killed it before, with the room's programs, then with those of the others that have its
/// source.
fn one(id: u32, room: &Played, before: Option<&Killer>) -> ExitCode {
    std::panic::set_hook(Box::new(|_| ()));
    switch_on(id);
    let step = STEPS.iter().find(|step| step.id == id).expect("there is such a mistake");
    let others = ROOMS.iter().filter(|other| is_in(step, other) && other.name != room.name);
    let kills_again = || {
        let before = before?;
        let room = ROOMS.iter().find(|room| room.name == before.room && room.shapes().contains(&before.n))?;
        tells(room, before.n, room.sweep_one(before.n, before.nth))
    };
    if kills_again().or_else(|| std::iter::once(room).chain(others).find_map(kills)).is_none() {
        println!("{}", if hits() > 0 { "LIVES" } else { "NOT COVERED" });
    }
    ExitCode::SUCCESS
}

/// Does a program of the room fail? It is printed.
fn kills(room: &Played) -> Option<()> {
    // The largest shapes last. A mistake may make a focus larger, too: what was written last is the smallest of `chan`.
    let focuses = LADDER.len()..room.usual().end;
    (0..LARGEST.start).chain(focuses.rev()).chain(LARGEST).find_map(|n| tells(room, n, room.sweep(n, false, "")))
}

/// The program that fails, in one line.
fn tells(room: &Played, n: usize, swept: Swept) -> Option<()> {
    let (failure, nth) = (swept.failure?, swept.fails?);
    let killer = Killer { room: room.name.to_owned(), n, nth };
    println!("{killer}\t{}", failure.lines().next().unwrap_or_default());
    Some(())
}

/// How many live.
fn all(room: &str, is_every: bool, kills: &mut Kills) -> usize {
    let patches = std::fs::read_to_string(patches_of(room)).unwrap_or_default();
    let declared = ROOMS.iter().find(|declared| declared.name == room).expect("a room");
    let is_tried = |step: &&Step| if is_every { is_in(step, declared) } else { is_patch_of(step, declared, &patches) };
    let steps: Vec<&Step> = STEPS.iter().filter(is_tried).collect();
    let came = side_by_side(&steps, room, kills);
    let killed = came.iter().filter(|came| came.starts_with("killed")).count();
    println!("{room}: {} mistakes, {killed} killed", came.len());
    came.len() - killed
}

/// Tries as many at once as there are processors, and says of each, in order, what came of it.
fn side_by_side(steps: &[&Step], room: &str, kills: &mut Kills) -> Vec<String> {
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    let before: Vec<Option<Killer>> = steps.iter().map(|step| kills.of(room, &step.what).cloned()).collect();
    kills.forget(room);
    let at_once = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 0..at_once {
            let (sender, next, before) = (sender.clone(), &next, &before);
            scope.spawn(move || {
                loop {
                    // Relaxed: each number is taken once.
                    let n = next.fetch_add(1, Relaxed);
                    let Some(step) = steps.get(n) else { break };
                    sender.send((n, try_one(step.id, room, before[n].as_ref()))).expect("it is listened to");
                }
            });
        }
        drop(sender);
        let (mut early, mut told) = (BTreeMap::new(), Vec::new());
        for (n, came) in receiver {
            early.insert(n, came);
            while let Some(came) = early.remove(&told.len()) {
                let step = steps[told.len()];
                let came = match came {
                    Ok((killer, why)) => {
                        let says = format!(
                            "killed by program {} of {} {}: {why}",
                            killer.nth,
                            killer.room,
                            shape_name(killer.n)
                        );
                        kills.tell(room, &step.what, killer);
                        says
                    }
                    Err(other) => other,
                };
                println!("{}:{} {}\n    {came}", step.file, step.line, step.what);
                told.push(came);
            }
        }
        told
    })
}

/// What kills it, and why that fails; or what else came of it.
fn try_one(id: u32, room: &str, before: Option<&Killer>) -> Result<(Killer, String), String> {
    let (id, before) = (id.to_string(), before.map(Killer::to_string));
    let before = before.iter().flat_map(|before| before.split('\t'));
    let program = std::env::current_exe().expect("this program");
    let args = ["one", &id, room].into_iter().chain(before);
    let child = Command::new(program).args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let (mut child, begun) = (child.expect("a process"), Instant::now());
    while begun.elapsed() < PATIENCE && child.try_wait().is_ok_and(|status| status.is_none()) {
        thread::sleep(Duration::from_millis(2));
    }
    if begun.elapsed() >= PATIENCE {
        let _ = child.kill();
    }
    let output = child.wait_with_output().expect("its output");
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim() {
        "" if begun.elapsed() >= PATIENCE => Err("NOTHING within five minutes".to_owned()),
        "" => Err("killed: the checker died of it".to_owned()),
        text => {
            let words: Vec<&str> = text.splitn(4, '\t').collect();
            let killer = words.get(..3).and_then(Killer::of);
            killer.zip(words.get(3)).map(|(by, why)| (by, (*why).to_owned())).ok_or(text.to_owned())
        }
    }
}
