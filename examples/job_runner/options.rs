//! What the command line says.

use std::time::Duration;

pub(crate) const USAGE: &str =
    "usage: job_runner [--jobs N] [--grace SECONDS] [--fail-fast] FILE    (FILE `-`: the standard input)";

pub(crate) struct Options {
    /// How many run at once.
    pub(crate) jobs: usize,
    /// How long one may take to end after it was asked to.
    pub(crate) grace: Duration,
    pub(crate) fail_fast: bool,
    pub(crate) file: String,
}

impl Options {
    /// `None`: help is wanted.
    pub(crate) fn of(args: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let mut options = Options { jobs: 4, grace: Duration::from_secs(5), fail_fast: false, file: String::new() };
        let (mut args, mut files) = (args, Vec::new());
        while let Some(arg) = args.next() {
            let mut value = |name: &str| args.next().ok_or_else(|| format!("{name} wants a number"));
            match arg.as_str() {
                "--help" | "-h" => return Ok(None),
                "--fail-fast" => options.fail_fast = true,
                "--jobs" => {
                    let text = value("--jobs")?;
                    let jobs = text.parse().ok().filter(|&jobs| (1..=10_000).contains(&jobs));
                    options.jobs = jobs.ok_or_else(|| format!("--jobs is a number from 1 to 10000, not `{text}`"))?;
                }
                "--grace" => {
                    let text = value("--grace")?;
                    let grace = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    options.grace = grace.ok_or_else(|| format!("--grace is a number of seconds, not `{text}`"))?;
                }
                option if option.len() > 1 && option.starts_with('-') => {
                    return Err(format!("unknown option `{option}`"));
                }
                _ => files.push(arg),
            }
        }
        match <[String; 1]>::try_from(files) {
            Ok([file]) => Ok(Some(Options { file, ..options })),
            Err(files) => Err(format!("one file is wanted, and {} are given", files.len())),
        }
    }
}
