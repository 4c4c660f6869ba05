//! Fuzzing for a given time: jobs in processes of their own, and what came of all of them.
//!
//! A process each, because a checker's panic hook and refused threads are a process's, and because one that crashes must
//! not take the others along.

use crate::regression::Regression;
use crate::room::{Trial, take_reached};
use crate::rooms::{self, Entry};
use crate::shrink::Hunt;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::mutation::mutant::{self, Mutant};
use spinpark_verification::worker;
use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What a job's process is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// In which rooms, by name, in turn.
    pub rooms: Vec<String>,
    /// With which wrong variant, by name.
    pub mutant: Option<String>,
    /// From which seed.
    pub seed: u64,
    /// For how many seconds; less if something is found.
    pub seconds: f64,
    /// At most so many operations in a program, before it is made shorter.
    pub longest: usize,
    /// Under how many schedules each program is played.
    pub schedules: u64,
}

/// What a job's process says.
#[derive(Debug, Serialize, Deserialize)]
pub enum News {
    /// A while in one room.
    Slice(Slice),
    /// Something does not hold.
    Found(Box<Regression>),
}

/// What was done in one room for a while.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Slice {
    /// Which room.
    pub room: String,
    /// Programs played.
    pub programs: u64,
    /// Schedules they were played under.
    pub schedules: u64,
    /// Seconds that took.
    pub seconds: f64,
    /// What was reached: rare paths, and invariants that were looked at.
    pub reached: BTreeMap<String, u64>,
}

/// How long a job stays in one room.
const SLICE: Duration = Duration::from_millis(700);
/// How long a failing program is made shorter.
const SHRINKING: Duration = Duration::from_secs(20);

/// The room's part of an order.
fn hunt(room: &Entry, order: &Order, mutant: Option<&'static Mutant>, slice: u64, time: Duration) -> Hunt {
    // Slices of all jobs are apart by more than a slice can play.
    let seed = order.seed.wrapping_mul(1 << 40).wrapping_add(slice << 16);
    let trial = Trial { engine: Engine::Pct, schedules: order.schedules, seed, mutant };
    Hunt { trial, engines: room.engines, longest: order.longest, programs: u64::MAX, time, shrinking: SHRINKING }
}

/// Does `order` on this thread, and tells `tell` how it goes. The first thing that is found ends it.
///
/// # Errors
/// If there is no such room or variant.
pub fn work(order: &Order, mut tell: impl FnMut(News)) -> Result<(), String> {
    let find = |name: &String| rooms::find(name).ok_or_else(|| format!("there is no room `{name}`"));
    let rooms: Vec<&Entry> = order.rooms.iter().map(find).collect::<Result<_, _>>()?;
    let mutant = order.mutant.as_ref().map(|name| mutant::find(name).ok_or(format!("there is no mutant `{name}`")));
    let mutant = mutant.transpose()?;
    let start = Instant::now();
    let left = || order.seconds - start.elapsed().as_secs_f64();
    for (slice, room) in (0..).zip(rooms.iter().cycle()) {
        if left() <= 0.0 {
            break;
        }
        let time = SLICE.min(Duration::from_secs_f64(left().max(0.001)));
        let mut done = Slice { room: room.name.to_owned(), ..Slice::default() };
        let clock = Instant::now();
        let found = room.hunt(&hunt(room, order, mutant, slice, time), |outcome| {
            done.programs += 1;
            done.schedules += outcome.executions;
        });
        done.seconds = clock.elapsed().as_secs_f64();
        done.reached = take_reached().into_iter().map(|(path, times)| (path.to_owned(), times)).collect();
        tell(News::Slice(done));
        if let Some(found) = found {
            tell(News::Found(Box::new(found)));
            break;
        }
    }
    Ok(())
}

/// Plays the program that `bytes` decide, in the room that they decide, for a fuzzer that is guided by coverage: see
/// `fuzz/` beside this crate's sources. What fails is given back.
pub fn play_bytes(bytes: &[u8]) -> Option<Regression> {
    let (&[which, seed], rest) = bytes.split_first_chunk()?;
    // Not on real cores: the same bytes must do the same again.
    let rooms: Vec<&Entry> = rooms::ALL.iter().filter(|room| room.name != "cores").collect();
    let room = rooms[usize::from(which) % rooms.len()];
    let engine = room.engines[usize::from(seed) % room.engines.len()];
    room.play_bytes(rest, &Trial { engine, schedules: 12, seed: u64::from(seed), mutant: None })
}

/// The life of a job's process: reads an order, and says how it goes.
///
/// # Errors
/// If the order cannot be read or asks for what there is not.
pub fn worker() -> Result<(), String> {
    let order: Order = worker::order()?;
    // What fails is reported as a program; a backtrace of the checker would only take time.
    std::panic::set_hook(Box::new(|_| ()));
    work(&order, |news| {
        let line = serde_json::to_string(&news).expect("news are plain data");
        // If no reader is left, there is nothing to be done about it here.
        let _ = writeln!(io::stdout(), "{line}");
    })
}

/// What came of all jobs.
#[derive(Debug, Default)]
pub struct Total {
    /// By room.
    pub rooms: BTreeMap<String, Slice>,
    /// What does not hold.
    pub found: Vec<Regression>,
    /// Processes that died without a word: nothing is known about what they did last.
    pub died: Vec<String>,
}

impl Total {
    fn add(&mut self, slice: &Slice) {
        let of = self.rooms.entry(slice.room.clone()).or_default();
        of.room.clone_from(&slice.room);
        of.programs += slice.programs;
        of.schedules += slice.schedules;
        of.seconds += slice.seconds;
        for (path, times) in &slice.reached {
            *of.reached.entry(path.clone()).or_default() += times;
        }
    }

    /// How often `path` was reached in `room`.
    pub fn reached(&self, room: &str, path: &str) -> u64 {
        self.rooms.get(room).and_then(|slice| slice.reached.get(path)).copied().unwrap_or(0)
    }

    /// Programs and schedules in all rooms.
    pub fn sums(&self) -> (u64, u64) {
        self.rooms.values().fold((0, 0), |(p, s), slice| (p + slice.programs, s + slice.schedules))
    }
}

/// Does all `orders` at once, each in a process of its own. The first thing that is found ends all. `tell` is told now
/// and then.
///
/// # Errors
/// If a process cannot be started.
pub fn run(orders: &[Order], mut tell: impl FnMut(&Total)) -> Result<Total, String> {
    let mut total = Total::default();
    let (send, receive) = mpsc::channel();
    let mut children = Vec::new();
    for order in orders {
        children.push(start(order)?);
    }
    thread::scope(|scope| {
        for child in &mut children {
            let (stdout, send) = (child.stdout.take().expect("it is piped"), send.clone());
            scope.spawn(move || {
                let lines = BufReader::new(stdout).lines().map_while(Result::ok);
                let news = lines.filter_map(|line| serde_json::from_str::<News>(&line).ok());
                // The receiver outlives this scope.
                news.for_each(|news| drop(send.send(news)));
            });
        }
        drop(send);
        let mut is_over = false;
        for news in receive {
            match news {
                News::Slice(slice) => total.add(&slice),
                News::Found(found) => {
                    total.found.push(*found);
                    is_over = true;
                }
            }
            tell(&total);
            if is_over {
                break;
            }
        }
        if is_over {
            children.iter_mut().for_each(|child| drop(child.kill()));
        }
    });
    for mut child in children {
        let status = child.wait().map_err(|error| format!("lost a process: {error}"))?;
        if !status.success() && total.found.is_empty() {
            total.died.push(status.to_string());
        }
    }
    Ok(total)
}

fn start(order: &Order) -> Result<Child, String> {
    let program = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut command = Command::new(program);
    command.arg("worker");
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SHUTTLE_")) {
        command.env_remove(name);
    }
    worker::start(&mut command, order)
}
