//! One job: its tries, and how each ends.

use crate::jobs::Job;
use crate::lines::{Budget, show};
use crate::options::Options;
use crate::stop::Stop;
use rustix::process::{Pid, Signal, kill_process_group};
use spinpark::process::{Child, Command, ExitStatus, Stdio};
use spinpark::{chan, select, spawn, time};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What became of a job.
pub(crate) enum Outcome {
    Succeeded,
    Failed(String),
    /// It was asked to end before it had.
    Cancelled,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Succeeded => f.write_str("succeeded"),
            Outcome::Failed(why) => write!(f, "failed: {why}"),
            Outcome::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// The pause before the second try; it doubles from try to try.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// So long what a job has written is read after it has ended.
const READING: Duration = Duration::from_secs(1);

/// Tries it until it succeeds, or has failed too often.
pub(crate) async fn run(job: &Job, stop: &Stop, options: &Options) -> Outcome {
    let (mut left, mut pause) = (job.retries, PAUSE);
    loop {
        let why = match once(job, stop, options).await {
            Outcome::Failed(why) if left > 0 => why,
            outcome => return outcome,
        };
        left -= 1;
        eprintln!("{}: {why}; tried again in {:.1} s, {left} times more after that", job.name, pause.as_secs_f64());
        select! {
            _ = stop.asked() => return Outcome::Cancelled,
            timeout(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
        }
    }
}

/// One try.
async fn once(job: &Job, stop: &Stop, options: &Options) -> Outcome {
    let mut command = Command::new("sh");
    // A group of its own: it is signalled with all that it starts, and a Ctrl-C is for us.
    command.arg("-c").arg(job.script()).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Outcome::Failed(format!("it cannot be started: {error}")),
    };
    let group = Group::of(&child);
    let (budget, (full, too_much)) = (Arc::new(Budget::new(job.output)), chan::bounded(1));
    let shows: Vec<_> = [child.stdout.take(), child.stderr.take()]
        .into_iter()
        .flatten()
        .map(|pipe| {
            let (name, budget, full) = (job.name.clone(), budget.clone(), full.clone());
            spawn(async move { show(&name, pipe, &budget, full).await })
        })
        .collect();
    let out_of_time = time::sleep(job.timeout.unwrap_or(Duration::MAX));
    let outcome = select! {
        status = child.wait() => ended(status),
        _ = stop.asked() => Outcome::Cancelled,
        _ = out_of_time => Outcome::Failed(format!("it took longer than {:?}", job.timeout.unwrap_or_default())),
        _ = too_much.recv() => Outcome::Failed(format!("it wrote more than {} bytes", job.output.unwrap_or_default())),
    };
    end(&mut child, &group, stop, options.grace).await;
    match reading(shows).await {
        Err(error) if matches!(outcome, Outcome::Succeeded) => {
            Outcome::Failed(format!("what it wrote is lost: {error}"))
        }
        _ => outcome,
    }
}

/// Until what it wrote was shown. A process that has left the group, and keeps a pipe open, is not waited for.
async fn reading(shows: Vec<spinpark::JoinHandle<std::io::Result<()>>>) -> std::io::Result<()> {
    let until = std::time::Instant::now() + READING;
    for show in shows {
        if let Ok(shown) = time::timeout_at(until, show).await {
            shown.map_err(std::io::Error::other)??;
        }
    }
    Ok(())
}

/// The processes of a job.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Group {
        Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // If none is left, that is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Asks it to end if it has not, and kills what is left of it.
async fn end(child: &mut Child, group: &Group, stop: &Stop, grace: Duration) {
    if matches!(child.try_wait(), Ok(None)) {
        group.signal(Signal::TERM);
        select! {
            _ = child.wait() => (),
            _ = stop.urged() => (),
            timeout(grace) => (),
        }
    }
    // What the job has left running in its group goes, too.
    group.signal(Signal::KILL);
    let _ = child.wait().await;
}

fn ended(status: std::io::Result<ExitStatus>) -> Outcome {
    match status {
        Ok(status) if status.success() => Outcome::Succeeded,
        Ok(status) => Outcome::Failed(status.to_string()),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}
