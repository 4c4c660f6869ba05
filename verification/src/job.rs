//! Running many jobs: each in a process of its own, as many at once as asked for.
//!
//! A process each, because shuttle's panic hook is process-wide, a checker that crashes must not take the others along,
//! and loom explores on one core only.

use crate::engines::shrink::shrink;
use crate::engines::{self, Bounds, Checkpoint, Engine, Failure, Job, Outcome, Script, Verdict};
use crate::hosts::wrap::trace::Step;
use crate::model::{self, Model};
use crate::mutation::mutant::{self, Mutant};
use crate::schedule;
use crate::worker;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::{ChildStdin, Command};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use std::{env, io, thread};

/// For so long a failing schedule is made shorter, at most.
const SHRINKING: Duration = Duration::from_secs(5);

/// A job as it travels to its process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// Which model, by name.
    pub model: String,
    /// On which engine.
    pub engine: Engine,
    /// Within which bounds.
    pub bounds: Bounds,
    /// With which mutant, by name.
    pub mutant: Option<String>,
    /// From which seed.
    pub seed: u64,
    /// On how many threads of the machine, if the engine can use more than one.
    pub jobs: NonZeroUsize,
    /// rc11: where the state of the exploration is kept.
    pub checkpoint: Option<PathBuf>,
    /// That file stays when nothing is left.
    pub leaves_checkpoint: bool,
    /// Only this execution, written down.
    pub script: Option<Script>,
    /// Its failure will be read: a schedule that was sampled is made shorter.
    pub is_read: bool,
}

/// What a process says about its job.
#[derive(Debug, Serialize, Deserialize)]
enum News {
    Progress(u64, Option<f64>),
    Done(Box<Outcome>),
    /// A script was played, and this was done; or it is of another execution.
    Replayed(Box<Result<(Outcome, Vec<Step>), String>>),
}

/// What [`run_all`] tells while it runs.
pub enum Event<'a> {
    /// This job has begun.
    Begun(usize),
    /// This job has explored so many executions; and which part of all, where that can be guessed.
    Progress(usize, u64, Option<f64>),
    /// This job is done.
    Done(usize, &'a Outcome),
}

impl Order {
    /// One thread, no checkpoint, and the whole exploration.
    pub fn new(model: &str, engine: Engine, bounds: Bounds, mutant: Option<&str>, seed: u64) -> Order {
        let (model, mutant) = (model.to_owned(), mutant.map(str::to_owned));
        let (jobs, checkpoint, script) = (NonZeroUsize::MIN, None, None);
        Order {
            model,
            engine,
            bounds,
            mutant,
            seed,
            jobs,
            checkpoint,
            leaves_checkpoint: false,
            script,
            is_read: false,
        }
    }

    /// The job that it orders.
    ///
    /// # Errors
    /// If there is no such model, or no such mutant.
    pub fn job(&self) -> Result<Job<'_>, String> {
        let (model, mutant) = self.find()?;
        let Order { engine, bounds, seed, jobs, ref checkpoint, leaves_checkpoint: stays, .. } = *self;
        let mutation = mutant.map(|mutant| mutant.mutation);
        let checkpoint = checkpoint.as_deref().map(|path| Checkpoint { path, stays });
        Ok(Job { model, engine, bounds, mutation, seed, jobs, checkpoint })
    }

    /// The model it is about.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn find(&self) -> Result<(&'static Model, Option<&'static Mutant>), String> {
        let model = model::find(&self.model).ok_or_else(|| format!("there is no model `{}`", self.model))?;
        let mutant = match &self.mutant {
            None => None,
            Some(name) => Some(mutant::find(name).ok_or_else(|| format!("there is no mutant `{name}`"))?),
        };
        Ok((model, mutant))
    }
}

/// The life of a job's process: reads an order, explores, and says how it goes.
///
/// # Errors
/// If the order cannot be read or the news not be written.
pub fn work() -> Result<(), String> {
    let order: Order = worker::order()?;
    let job = order.job()?;
    if order.script.is_some() {
        say(&News::Replayed(Box::new(schedule::here(&order))));
        return Ok(());
    }
    let progress: engines::Progress = Rc::new(|n, done| say(&News::Progress(n, done)));
    let mut outcome = engines::run(job, &progress);
    if order.is_read {
        outcome.failure = outcome.failure.map(|failure| shrink(job, failure, SHRINKING));
    }
    say(&News::Done(Box::new(outcome)));
    Ok(())
}

fn say(news: &News) {
    let line = serde_json::to_string(news).expect("news are plain data");
    // If no reader is left, there is nothing to be done about it here.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Does `order` in a process of its own.
pub fn run(order: &Order, progress: impl Fn(u64, Option<f64>)) -> Outcome {
    match ask(order, progress) {
        Ok(News::Done(outcome)) => *outcome,
        Ok(_) => failed("the process did not do what it was told".to_owned()),
        Err(message) => failed(message),
    }
}

/// An outcome without an execution.
fn failed(message: String) -> Outcome {
    Outcome {
        verdict: Verdict::Failed,
        executions: 0,
        redundant: 0,
        outcomes: BTreeMap::new(),
        seconds: 0.0,
        failure: Some(Failure { message, execution: 0, script: None, threads: vec![], steps: vec![], picture: None }),
        mutant_hits: 0,
        peak_bytes: None,
        estimate: None,
    }
}

/// Plays the script of `order` in a process of its own: what came of it, and what was done.
///
/// # Errors
/// Why it does not fit, or what became of the process.
pub fn replay(order: &Order) -> Result<(Outcome, Vec<Step>), String> {
    match ask(order, |_, _| ())? {
        News::Replayed(replayed) => *replayed,
        _ => Err("the process did not do what it was told".to_owned()),
    }
}

/// Has `order` done in a process of its own; the last thing it says.
fn ask(order: &Order, progress: impl Fn(u64, Option<f64>)) -> Result<News, String> {
    let program = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut command = Command::new(program);
    command.arg("worker");
    // What the checkers would read from the environment would change what is explored.
    for (name, _) in env::vars_os().filter(|(name, _)| is_a_checkers(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    // Ctrl-C is for this process, which tells that one to stop, and waits until its state is written.
    #[cfg(unix)]
    if order.checkpoint.is_some() {
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    let mut child = worker::start(&mut command, order)?;
    if order.checkpoint.is_some() {
        Stoppable::of_all().add(child.stdin.take());
    }
    let stdout = child.stdout.take().expect("it is piped");
    let mut done = None;
    for line in BufReader::new(stdout).lines() {
        match line.ok().and_then(|line| serde_json::from_str(&line).ok()) {
            Some(News::Progress(n, done)) => progress(n, done),
            Some(last) => done = Some(last),
            None => (),
        }
    }
    let status = child.wait().map_err(|error| format!("lost the process: {error}"))?;
    done.ok_or_else(|| format!("the checker itself died ({status}); nothing is known about this model"))
}

/// The explorations that keep their state: what they read.
#[derive(Default)]
struct Stoppable {
    is_stopped: bool,
    explorations: Vec<ChildStdin>,
}

impl Stoppable {
    fn of_all() -> MutexGuard<'static, Stoppable> {
        static ALL: Mutex<Stoppable> = Mutex::new(Stoppable { is_stopped: false, explorations: Vec::new() });
        ALL.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&mut self, exploration: Option<ChildStdin>) {
        self.explorations.extend(exploration);
        if self.is_stopped {
            self.stop();
        }
    }

    fn stop(&mut self) {
        self.is_stopped = true;
        for exploration in &mut self.explorations {
            // One that has ended reads no more.
            let _ = exploration.write_all(b"\n");
        }
    }
}

/// Has the explorations that keep their state write it, and end.
pub fn stop() {
    Stoppable::of_all().stop();
}

/// Was that asked for?
pub fn is_stopped() -> bool {
    Stoppable::of_all().is_stopped
}

/// No more jobs than this at once: each is a thread, or a process, of the machine's.
const MOST_JOBS: usize = 1024;

/// A number of jobs, as it stands on a command line.
///
/// # Errors
/// If it is none, or too many.
pub fn how_many(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(jobs) if jobs.get() <= MOST_JOBS => Ok(jobs),
        _ => Err(format!("give a number of jobs, 1 to {MOST_JOBS}")),
    }
}

fn is_a_checkers(variable: &str) -> bool {
    variable.starts_with("LOOM_") || variable.starts_with("SHUTTLE_")
}

/// Does all `orders`, `jobs` at a time, the first first; tells `tell` how it goes.
pub fn run_all(orders: &[Order], jobs: usize, mut tell: impl FnMut(Event<'_>)) -> Vec<Outcome> {
    enum Told {
        Begun(usize),
        Progress(usize, u64, Option<f64>),
        Done(usize, Box<Outcome>),
    }
    let queue = Mutex::new((0..orders.len()).collect::<VecDeque<_>>());
    let (send, receive) = mpsc::channel();
    let mut outcomes: Vec<Option<Outcome>> = orders.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..jobs.min(orders.len()) {
            let (send, queue) = (send.clone(), &queue);
            scope.spawn(move || {
                drain(queue, |i| {
                    // The receiver outlives this scope.
                    let _ = send.send(Told::Begun(i));
                    let outcome = run(&orders[i], |n, done| drop(send.send(Told::Progress(i, n, done))));
                    let _ = send.send(Told::Done(i, Box::new(outcome)));
                });
            });
        }
        drop(send);
        for told in receive {
            match told {
                Told::Begun(i) => tell(Event::Begun(i)),
                Told::Progress(i, n, done) => tell(Event::Progress(i, n, done)),
                Told::Done(i, outcome) => {
                    tell(Event::Done(i, &outcome));
                    outcomes[i] = Some(*outcome);
                }
            }
        }
    });
    outcomes.into_iter().map(|outcome| outcome.expect("each job was done")).collect()
}

/// Does what is queued, one after the other, beside other processes that do the same.
///
/// # Panics
/// If a thread has panicked with the queue locked.
pub fn drain<T>(queue: &Mutex<VecDeque<T>>, mut act: impl FnMut(T)) {
    loop {
        // A statement of its own: the lock must be open again while `act` runs.
        let next = queue.lock().expect("no panic under it").pop_front();
        let Some(next) = next else { return };
        act(next);
    }
}

#[cfg(test)]
mod tests {
    use super::drain;
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex, mpsc};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn two_are_done_at_once() {
        let queue = Arc::new(Mutex::new(VecDeque::from([0, 1])));
        let (send, receive) = mpsc::channel();
        let tells: Vec<_> = [(); 2]
            .map(|()| {
                let (queue, begun) = (Arc::clone(&queue), send.clone());
                let (go_on, wait) = mpsc::channel::<()>();
                thread::spawn(move || {
                    drain(&queue, |i| {
                        begun.send(i).expect("there is a receiver");
                        // Not over before the other has begun too.
                        let _ = wait.recv();
                    });
                });
                go_on
            })
            .into();
        let begun =
            || receive.recv_timeout(Duration::from_secs(20)).expect("two begin, and neither waits for the other");
        let mut both = [begun(), begun()];
        both.sort_unstable();
        assert_eq!(both, [0, 1]);
        drop(tells);
    }
}
