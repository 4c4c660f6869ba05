//! The two solvers, as child processes that are fed SMT-LIB.

use crate::said;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Solver {
    /// Microsoft's.
    Z3,
    /// Of Stanford and Iowa.
    Cvc5,
}

impl Solver {
    /// Both.
    pub const ALL: [Solver; 2] = [Solver::Z3, Solver::Cvc5];

    /// Its name, which is its program's.
    pub const fn name(self) -> &'static str {
        match self {
            Solver::Z3 => "z3",
            Solver::Cvc5 => "cvc5",
        }
    }

    const fn options(self) -> &'static [&'static str] {
        match self {
            Solver::Z3 => &["-in", "-smt2"],
            Solver::Cvc5 => &["--lang=smt2", "--incremental", "--full-saturate-quant", "-q"],
        }
    }

    /// Is it installed? If not, says so in one line.
    pub fn is_here(self) -> bool {
        let is_here = Command::new(self.name()).arg("--version").output().is_ok_and(|out| out.status.success());
        if !is_here {
            said::say(&format!("skipped: {0} is not installed (Debian: apt-get install {0})", self.name()));
        }
        is_here
    }

    /// Which version it is.
    pub fn version(self) -> String {
        let out = Command::new(self.name()).arg("--version").output();
        let text = out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
        let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        format!("{} {}", self.name(), word.unwrap_or("?").trim_end_matches(','))
    }

    /// Milliseconds for one query.
    fn limit(self, time: Duration) -> String {
        match self {
            Solver::Z3 => format!("(set-option :timeout {})\n", time.as_millis()),
            Solver::Cvc5 => format!("(set-option :tlimit-per {})\n", time.as_millis()),
        }
    }

    /// Feeds it `script`, and returns its answers, one a line, each with the time that it took since the last.
    ///
    /// # Panics
    /// If it cannot be run.
    pub fn run(self, script: &str, limit: Duration) -> Vec<(String, Duration)> {
        self.run_until(script, limit, |_| false)
    }

    /// The same, but the solver is stopped after the first answer that `is_enough`.
    ///
    /// # Panics
    /// If it cannot be run.
    pub fn run_until(self, script: &str, limit: Duration, is_enough: impl Fn(&str) -> bool) -> Vec<(String, Duration)> {
        let child = Command::new(self.name())
            .args(self.options())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", self.name()));
        let mut stdin = child.stdin.take().expect("it is piped");
        let text = format!("(set-option :produce-models true)\n{}(set-logic ALL)\n{script}(exit)\n", self.limit(limit));
        let writer = std::thread::spawn(move || {
            // A solver that ends early answers too little, which is noticed, or is stopped.
            _ = stdin.write_all(text.as_bytes());
        });
        let mut answers = Vec::new();
        let mut last = Instant::now();
        for line in BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok) {
            let ends = is_enough(&line);
            answers.push((line, last.elapsed()));
            last = Instant::now();
            if ends {
                _ = child.kill();
                break;
            }
        }
        writer.join().expect("it does not panic");
        _ = child.wait();
        answers
    }
}
