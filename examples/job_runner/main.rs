//! Runs jobs: `cargo run --release --example job_runner --features process,signal -- --jobs 4 FILE`.
//!
//! Each line of FILE (`-`: the standard input) is a job: a name, limits, and a command of the shell's.
//!
//! ```text
//!   # name   limits                                  command
//!   build    timeout=5m memory=2G cpu=4m           : make
//!   fetch    timeout=10s retries=3                 : curl -fsS https://example.org
//!   noisy    output=10k                            : yes
//! ```
//!
//! So many run at once as `--jobs` says. What a job writes is shown line by line, with its name before. One that fails is tried
//! again as often as `retries` says, after a pause that doubles. One that takes too long, or writes too much, is ended, with all
//! processes that it has started. With `--fail-fast` the first that fails ends all.
//!
//! It ends by SIGTERM or SIGINT (Ctrl-C): it starts no more, asks those that run to end (SIGTERM), and kills what is left after
//! `--grace` seconds; a second one kills at once. No process of a job is left behind. The exit code is 0 if all jobs succeeded, 1 if
//! one did not, 2 if what was asked for makes no sense, and 128 and the signal's number if a signal ended it.

#[cfg(unix)]
mod jobs;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod options;
#[cfg(unix)]
mod stop;
#[cfg(unix)]
mod tries;

#[cfg(unix)]
fn main() {
    std::process::exit(unix::main());
}

#[cfg(not(unix))]
fn main() {
    eprintln!("job_runner: there are no signals and no groups of processes here");
    std::process::exit(2);
}

#[cfg(unix)]
mod unix {
    use crate::jobs::{self, Job};
    use crate::options::{Options, USAGE};
    use crate::stop::{Reason, Stop};
    use crate::tries::{Outcome, run};
    use spinpark::chan::{self, Receiver};
    use spinpark::fs::File;
    use spinpark::{io, select, spawn};
    use std::error::Error;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    pub(crate) fn main() -> i32 {
        let options = match Options::of(std::env::args().skip(1)) {
            Ok(Some(options)) => options,
            Ok(None) => {
                println!("{USAGE}");
                return 0;
            }
            Err(error) => {
                eprintln!("job_runner: {error}\n{USAGE}");
                return 2;
            }
        };
        let runtime = spinpark::Runtime::new().expect("threads");
        match runtime.block_on(all(options)).expect("no deadlock as long as a signal may come") {
            Ok(code) => code,
            Err(error) => {
                eprintln!("job_runner: {error}");
                2
            }
        }
    }

    async fn read(path: &str) -> std::io::Result<String> {
        let mut text = Vec::new();
        match path {
            "-" => io::stdin()?.read_to_end(&mut text).await?,
            path => File::open(path).await?.read_to_end(&mut text).await?,
        };
        String::from_utf8(text).map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not UTF-8"))
    }

    /// Runs all jobs, and says what became of each.
    async fn all(options: Options) -> Result<i32, Box<dyn Error>> {
        // First of all: a signal that comes early is not missed.
        let stop = Stop::listen()?;
        let text = select! {
            text = read(&options.file) => text.map_err(|error| format!("{}: {error}", options.file))?,
            _ = stop.asked() => return Ok(stop.reason().map_or(1, Reason::code)),
        };
        let jobs = jobs::parse(&text).map_err(|error| format!("{}:{error}", options.file))?;
        let width = jobs.iter().map(|job| job.name.len()).max().unwrap_or_default();
        let names: Vec<_> = jobs.iter().map(|job| job.name.clone()).collect();
        let mut outcomes: Vec<_> = jobs.iter().map(|_| (Outcome::Cancelled, Duration::ZERO)).collect();
        let (queue, next) = chan::bounded(jobs.len().max(1));
        let workers = options.jobs.min(jobs.len());
        for job in jobs.into_iter().enumerate() {
            queue.send(job).await?;
        }
        drop(queue);
        let options = Arc::new(options);
        let workers: Vec<_> = (0..workers)
            .map(|_| {
                let (next, stop, options) = (next.clone(), stop.clone(), options.clone());
                spawn(async move { work(&next, &stop, &options).await })
            })
            .collect();
        for worker in workers {
            for (n, outcome, took) in worker.await? {
                outcomes[n] = (outcome, took);
            }
        }
        let mut counts = [0; 3];
        for (name, (outcome, took)) in names.iter().zip(outcomes) {
            match &outcome {
                Outcome::Succeeded => counts[0] += 1,
                Outcome::Failed(_) => counts[1] += 1,
                Outcome::Cancelled => counts[2] += 1,
            }
            eprintln!("{name:width$}  {outcome}, {:.1} s", took.as_secs_f64());
        }
        let [succeeded, failed, cancelled] = counts;
        eprintln!("{succeeded} succeeded, {failed} failed, {cancelled} cancelled");
        Ok(match stop.reason() {
            Some(reason) => reason.code(),
            None => i32::from(failed > 0),
        })
    }

    /// Runs one job after the other, as long as there are some: in the order of the list. What became of which.
    async fn work(next: &Receiver<(usize, Job)>, stop: &Stop, options: &Options) -> Vec<(usize, Outcome, Duration)> {
        let mut done = Vec::new();
        while stop.reason().is_none()
            && let Ok((n, job)) = next.recv().await
        {
            let from = Instant::now();
            let outcome = run(&job, stop, options).await;
            if matches!(outcome, Outcome::Failed(_)) && options.fail_fast {
                stop.ask(Reason::Failure);
                // Before it looks for another.
                stop.asked().await;
            }
            done.push((n, outcome, from.elapsed()));
        }
        done
    }
}
