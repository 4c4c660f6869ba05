//! A mistake before its judges: one model after the other, until one fails.
//!
//! In a process of its own, since a mistake may also hang, or bring a checker down.

use crate::engines::{self, Outcome, Verdict};
use crate::job::Order;
use crate::mutation::mutant::{Mutation, SOURCES};
use crate::mutation::weaken::{self, Access, Asked, Change, Fault, Site, Strength};
use crate::worker;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{io, thread};

/// What is wrong, as it travels to the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mistake {
    /// Nothing; what is covered is written down.
    Nothing,
    /// An access is made in another way.
    Access {
        /// In which file, below `src`.
        file: String,
        /// In which line.
        line: u32,
        /// In which column.
        column: u32,
        /// In which way.
        change: Change,
    },
    /// A step of the mutated kernel's, by its number.
    Step(u32),
}

/// What a process is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trial {
    /// What is wrong.
    pub mistake: Mistake,
    /// The models and engines it is tried on, in this order.
    pub judges: Vec<Order>,
}

/// An access that was made, as it travels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Seen {
    /// In which file, below `src`.
    pub file: String,
    /// In which line.
    pub line: u32,
    /// In which column.
    pub column: u32,
    /// How.
    pub access: Access,
    /// With which ordering.
    pub order: Strength,
    /// With which, if it fails.
    pub failure: Option<Strength>,
}

/// What the process says of one judge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Word {
    /// Which of them.
    pub judge: usize,
    /// What came of it.
    pub outcome: Outcome,
    /// If nothing is wrong: which accesses were made.
    pub seen: Vec<Seen>,
    /// If nothing is wrong: which of the mutated kernel's steps were covered.
    pub steps: Vec<u32>,
}

/// The switches of a mutated kernel.
#[derive(Debug, Clone, Copy)]
pub struct Switches {
    /// This step is wrong from now on; 0: none.
    pub switch_on: fn(u32),
    /// How often it was covered.
    pub hits: fn() -> u64,
    /// Which were covered since the last time this was asked.
    pub take_reached: fn() -> Vec<u32>,
}

impl Switches {
    /// The kernel as it is has none.
    pub const NONE: Switches = Switches { switch_on: |_| (), hits: || 0, take_reached: Vec::new };
}

impl Seen {
    fn of(asked: &Asked) -> Seen {
        let Asked { site: Site { file, line, column }, access, order, failure } = *asked;
        Seen { file: file.to_owned(), line, column, access, order, failure }
    }

    /// Back again. `None`: there is no such file.
    pub fn asked(&self) -> Option<Asked> {
        let Seen { ref file, line, column, access, order, failure } = *self;
        Some(Asked { site: Site { file: file_name(file)?, line, column }, access, order, failure })
    }
}

fn file_name(file: &str) -> Option<&'static str> {
    SOURCES.iter().map(|(name, _)| *name).find(|name| *name == file)
}

/// The life of a trial's process: reads what it is asked, and says of each judge what came of it, up to the first that
/// fails.
///
/// # Errors
/// If it cannot be read, or names what is not there.
pub fn work(switches: Switches) -> Result<(), String> {
    let Trial { mistake, judges } = worker::order()?;
    let mutation = match &mistake {
        Mistake::Access { file, line, column, change } => {
            let file = file_name(file).ok_or_else(|| format!("there is no file `{file}`"))?;
            let site = Site { file, line: *line, column: *column };
            Some(Mutation::Access(Fault { site, change: *change }))
        }
        Mistake::Nothing | Mistake::Step(_) => None,
    };
    for (judge, order) in judges.iter().enumerate() {
        let mut job = order.job()?;
        job.mutation = job.mutation.or(mutation);
        (switches.take_reached)();
        if let Mistake::Step(step) = mistake {
            (switches.switch_on)(step);
        }
        let is_watched = mistake == Mistake::Nothing;
        if is_watched {
            weaken::watch();
        }
        let mut outcome = engines::run(job, &engines::silent());
        outcome.mutant_hits += (switches.hits)();
        let seen = if is_watched { weaken::take_seen().iter().map(Seen::of).collect() } else { Vec::new() };
        let steps = if is_watched { (switches.take_reached)() } else { Vec::new() };
        let has_failed = outcome.verdict == Verdict::Failed;
        let line = serde_json::to_string(&Word { judge, outcome, seen, steps }).expect("words are plain data");
        // If no reader is left, there is nothing to be done about it here.
        let _ = writeln!(io::stdout(), "{line}");
        if has_failed {
            break;
        }
    }
    Ok(())
}

/// How a trial ended.
#[derive(Debug)]
pub enum End {
    /// All judges were asked, or the first that failed is the last of the words.
    Heard,
    /// Before this judge nothing more was said: it hangs, or the checker died.
    Silent {
        /// Which judge.
        judge: usize,
        /// What happened, in a sentence.
        why: String,
    },
}

/// Holds `trial` in a process of its own: `program worker-of-trials`. Waits for each judge as long as its bounds say, and
/// `grace` longer.
///
/// # Errors
/// If the process cannot be started.
pub fn hold(program: &Path, trial: &Trial, grace: Duration) -> Result<(Vec<Word>, End), String> {
    let mut command = Command::new(program);
    command.arg("trial").env("RUST_BACKTRACE", "0");
    let mut child = worker::start(&mut command, trial)?;
    let said = listen(&mut child);
    let mut words: Vec<Word> = Vec::new();
    while words.len() < trial.judges.len() {
        let judge = words.len();
        let patience = Duration::from_secs_f64(trial.judges[judge].bounds.seconds) + grace;
        match said.recv_timeout(patience) {
            Ok(word) => {
                let has_failed = word.outcome.verdict == Verdict::Failed;
                words.push(word);
                if has_failed {
                    break;
                }
            }
            Err(gone) => {
                let why = match gone {
                    RecvTimeoutError::Timeout => "it hangs: one execution does not end".to_owned(),
                    RecvTimeoutError::Disconnected => "the checker died of it".to_owned(),
                };
                put_down(&mut child);
                return Ok((words, End::Silent { judge, why }));
            }
        }
    }
    put_down(&mut child);
    Ok((words, End::Heard))
}

/// What the process says, as it comes.
fn listen(child: &mut Child) -> mpsc::Receiver<Word> {
    let stdout = child.stdout.take().expect("it is piped");
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            let Some(word) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else { break };
            if send.send(word).is_err() {
                break;
            }
        }
    });
    receive
}

/// Not to be waited for longer than it takes to end by itself.
fn put_down(child: &mut Child) {
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(20) {
        if child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    // It has ended since, or it ends now.
    let _ = child.kill();
    let _ = child.wait();
}
