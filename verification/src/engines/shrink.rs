//! A failing schedule that was sampled, made shorter: delta debugging (Zeller and Hildebrandt 2002) of its decisions.
//!
//! A schedule is cut into runs of one thread. Some are left out, and the rest is followed as far as it goes: a thread that
//! cannot go on is passed over, and after the last decision the thread that ran runs on. If the execution fails in the same way, with
//! fewer switches, or as many in fewer steps, it is what is cut next.

use super::record::{Pick, Recorder};
use super::{Failure, Job, Script, explore, message, shuttle_config, silent};
use crate::hosts::any;
use crate::hosts::wrap::{trace, tso};
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Follows what can be followed of a schedule, once.
struct Lenient {
    picks: VecDeque<Pick>,
    has_begun: bool,
}

impl Scheduler for Lenient {
    fn new_execution(&mut self) -> Option<Schedule> {
        let first = !self.has_begun;
        self.has_begun = true;
        first.then(|| Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        while let Some(pick) = self.picks.pop_front() {
            if let Pick::T(thread) = pick
                && tasks.iter().any(|task| usize::from(task.id()) == thread)
            {
                return Some(TaskId::from(thread));
            }
        }
        let awake = || tasks.iter().filter(|task| !task.blocked()).map(|task| task.id());
        let same = awake().find(|&task| Some(task) == current && !is_yielding);
        same.or_else(|| awake().find(|&task| Some(task) != current)).or_else(|| awake().next())
    }

    fn next_u64(&mut self) -> u64 {
        match self.picks.front() {
            Some(&Pick::V(value)) => {
                self.picks.pop_front();
                value
            }
            _ => 0,
        }
    }
}

/// Follows `picks`: how the execution fails, if it does, and by which decisions.
fn attempt(job: Job<'_>, picks: VecDeque<Pick>) -> Option<(String, Vec<Pick>)> {
    let taken = Rc::new(RefCell::new(Vec::new()));
    let recorder = Recorder::new(Box::new(Lenient { picks, has_begun: false }), Rc::clone(&taken), |_| true);
    let body = job.model.play;
    let play = move || {
        trace::begin(false);
        tso::begin();
        body();
    };
    let result = catch_unwind(AssertUnwindSafe(|| shuttle::Runner::new(recorder, shuttle_config()).run(play)));
    result.err().map(|payload| (message(&*payload), taken.take()))
}

/// Runs of one thread, each with what was drawn meanwhile.
fn runs(picks: &[Pick]) -> Vec<Vec<Pick>> {
    let mut runs: Vec<(Option<usize>, Vec<Pick>)> = Vec::new();
    for &pick in picks {
        match (pick, runs.last_mut()) {
            (Pick::T(thread), Some((who, run))) if who.is_none_or(|who| who == thread) => {
                *who = Some(thread);
                run.push(pick);
            }
            (Pick::T(thread), _) => runs.push((Some(thread), vec![pick])),
            (Pick::V(_), Some((_, run))) => run.push(pick),
            (Pick::V(_), None) => runs.push((None, vec![pick])),
        }
    }
    runs.into_iter().map(|(_, run)| run).collect()
}

/// Switches first, and then steps.
fn length(picks: &[Pick]) -> (usize, usize) {
    (runs(picks).len(), picks.len())
}

/// The same, whatever the numbers in it.
fn kind(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// The shortest schedule that is found within `time` and fails as `failure` does. What was not sampled is left as it is.
pub fn shrink(job: Job<'_>, failure: Failure, time: Duration) -> Failure {
    let Some(Script::Picks(picks)) = failure.script.clone().filter(|_| job.engine.samples()) else { return failure };
    any::choose(job.engine.kind());
    crate::mutation::mutant::set(job.mutation);
    let shortest = shortest(job, picks.clone(), &kind(&failure.message), time);
    let again = (length(&shortest) < length(&picks))
        .then(|| explore(job, Some(&Script::Picks(shortest.clone())), &silent()).0.failure)
        .flatten();
    crate::mutation::mutant::set(None);
    match again {
        Some(again) => Failure { execution: failure.execution, script: Some(Script::Picks(shortest)), ..again },
        None => failure,
    }
}

fn shortest(job: Job<'_>, mut best: Vec<Pick>, how: &str, time: Duration) -> Vec<Pick> {
    let start = Instant::now();
    let mut size = runs(&best).len().div_ceil(2);
    while size > 0 {
        let (mut at, mut is_shorter) = (0, false);
        loop {
            let cut = runs(&best);
            if at >= cut.len() {
                break;
            }
            if start.elapsed() > time {
                return best;
            }
            let left = cut.iter().enumerate().filter(|(n, _)| !(at..at + size).contains(n));
            let fewer = left.flat_map(|(_, run)| run.iter().copied()).collect();
            match attempt(job, fewer).filter(|(message, picks)| kind(message) == how && length(picks) < length(&best)) {
                Some((_, picks)) => (best, is_shorter) = (picks, true),
                None => at += size,
            }
        }
        size = if is_shorter && size == 1 { 1 } else { size / 2 };
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{kind, length};
    use crate::engines::record::Pick::{T, V};

    #[test]
    fn a_run_is_of_one_thread_with_what_it_draws() {
        assert_eq!(length(&[T(0), V(7), T(0), T(1), T(0)]), (3, 5));
    }

    #[test]
    fn numbers_do_not_matter() {
        assert_eq!(kind("G1 waits"), kind("G22 waits"));
    }
}
