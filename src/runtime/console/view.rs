//! What is shown, as JSON.

use crate::host::{Host, Nanos};
use crate::runtime::console::table::{Doing, Seen, State, Table, Task};
use crate::runtime::exec::checkdead::is_quiet;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::host::cores::Cores;
use crate::runtime::observe::json::quoted;
use crate::runtime::observe::metrics::Metrics;
use core::panic::Location;
use core::time::Duration;
use std::collections::BTreeMap;

/// A task that waits for so long for another may be deadlocked.
const SUSPECT: Nanos = 10_000_000_000;
/// A task that runs for so long without a pause is named.
const LONG: Nanos = 100_000_000;
/// Of each list so many are shown.
const SHOWN: usize = 50;
/// What ends by itself, or by what comes from outside.
const NOT_FOR_OTHERS: [&str; 2] = ["sleep", "IO wait"];

type Place = &'static Location<'static>;

/// What the runtime looks like now.
pub(super) fn json(tasks: &Tasks, table: &Table) -> String {
    let (seen, metrics, now) = (table.look(), Metrics::of(tasks), Cores::now());
    // Nothing of it runs, and neither a timer nor a socket will change that.
    let is_quiet = is_quiet(tasks) && !tasks.shared().is_expecting();
    let count = |state: fn(&State) -> bool| seen.tasks.iter().filter(|task| state(&task.state)).count();
    let queues = list(metrics.per_p.iter().take(metrics.procs).map(|p| p.queue.to_string()));
    let dispatches = list(metrics.per_p.iter().take(metrics.procs).map(|p| p.dispatches().to_string()));
    let waits = tasks.shared().wait_graph.waits();
    let fields = [
        ("uptime", micros(metrics.uptime.as_nanos() as Nanos)),
        ("procs", metrics.procs.to_string()),
        ("idle_procs", metrics.idle_procs.to_string()),
        ("queues", queues),
        ("dispatches", dispatches),
        ("global_queue", metrics.global_queue.to_string()),
        ("threads", metrics.threads.to_string()),
        ("threads_sleeping", metrics.threads_sleeping.to_string()),
        ("threads_spinning", metrics.threads_spinning.to_string()),
        ("threads_polling", metrics.threads_polling.to_string()),
        ("timers", metrics.timers.to_string()),
        ("steals", metrics.per_p.iter().map(|p| p.tasks_stolen).sum::<u64>().to_string()),
        ("thread_wakes", metrics.wakes.to_string()),
        ("wakes", seen.wakes.to_string()),
        ("running", count(|state| *state == State::Running).to_string()),
        ("runnable", count(|state| *state == State::Runnable).to_string()),
        ("in_syscall", count(|state| *state == State::Syscall).to_string()),
        ("waiting", count(|state| matches!(state, State::Waiting(_))).to_string()),
        (
            "ms",
            list(seen.ms.iter().map(|(n, m)| {
                object(&[
                    ("m", n.to_string()),
                    ("does", quoted(word(m.does))),
                    ("for", micros(now.saturating_sub(m.since))),
                ])
            })),
        ),
        ("places", places(&seen, now)),
        ("busy", busy(&seen, now)),
        ("is_quiet", is_quiet.to_string()),
        ("suspects", suspects(&seen, now, is_quiet)),
        ("joins", list(waits.iter().take(SHOWN).map(|wait| quoted(&wait.to_string())))),
    ];
    object(&fields)
}

fn word(does: Doing) -> &'static str {
    match does {
        Doing::Absent => "absent",
        Doing::Awake => "awake",
        Doing::Running => "running",
        Doing::Syscall => "in a system call",
        Doing::Blocked => "waits with its task",
        Doing::Spinning => "spinning",
        Doing::Polling => "polling",
        Doing::Sleeping => "parked",
    }
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    format!("{{{}}}", fields.join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// Browsers' numbers are exact up to 2^53: 285 years of these.
fn micros(nanos: Nanos) -> String {
    Duration::from_nanos(nanos).as_micros().to_string()
}

fn place(at: Place) -> String {
    quoted(&at.to_string())
}

/// The tasks of one place.
#[derive(Default)]
struct Row {
    spawned: u64,
    polls: u64,
    busy: Nanos,
    longest: Nanos,
    running: usize,
    runnable: usize,
    in_syscall: usize,
    waiting: usize,
    why: BTreeMap<&'static str, usize>,
}

impl Row {
    fn alive(&self) -> usize {
        self.running + self.runnable + self.in_syscall + self.waiting
    }

    fn counts(&mut self, task: &Task, now: Nanos) {
        match task.state {
            State::Running => {
                self.running += 1;
                // What has not ended is the longest yet, perhaps.
                self.longest = self.longest.max(now.saturating_sub(task.since));
            }
            State::Runnable => self.runnable += 1,
            State::Syscall => self.in_syscall += 1,
            State::Waiting(why) => {
                self.waiting += 1;
                *self.why.entry(why).or_default() += 1;
            }
        }
    }

    fn json(&self, at: Place) -> String {
        let why = self.why.iter().max_by_key(|(_, count)| **count).map_or("", |(why, _)| why);
        object(&[
            ("at", place(at)),
            ("spawned", self.spawned.to_string()),
            ("alive", self.alive().to_string()),
            ("running", self.running.to_string()),
            ("runnable", self.runnable.to_string()),
            ("in_syscall", self.in_syscall.to_string()),
            ("waiting", self.waiting.to_string()),
            ("why", quoted(why)),
            ("polls", self.polls.to_string()),
            ("busy", micros(self.busy)),
            ("longest", micros(self.longest)),
        ])
    }
}

/// By place: those first of which the most are alive.
fn places(seen: &Seen, now: Nanos) -> String {
    let mut rows = BTreeMap::<Place, Row>::new();
    for counts in &seen.places {
        let row = rows.entry(counts.at).or_default();
        row.spawned += counts.spawned;
        row.polls += counts.polls;
        row.busy += counts.busy;
        row.longest = row.longest.max(counts.longest);
    }
    seen.tasks.iter().for_each(|task| rows.entry(task.at).or_default().counts(task, now));
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(at, row)| (core::cmp::Reverse((row.alive(), row.polls)), *at));
    list(rows.iter().take(SHOWN).map(|(at, row)| row.json(at)))
}

/// Tasks that run, and have not paused for long.
fn busy(seen: &Seen, now: Nanos) -> String {
    let long = |task: &&Task| task.state == State::Running && now.saturating_sub(task.since) >= LONG;
    let mut busy: Vec<_> = seen.tasks.iter().filter(long).collect();
    busy.sort_by_key(|task| task.since);
    list(
        busy.iter()
            .take(SHOWN)
            .map(|task| object(&[("at", place(task.at)), ("for", micros(now.saturating_sub(task.since)))])),
    )
}

/// Tasks that wait for others, and have done so for long; or all, if nothing can change that.
fn suspects(seen: &Seen, now: Nanos, is_quiet: bool) -> String {
    let mut suspects = BTreeMap::<(Place, &str), (usize, Nanos)>::new();
    for task in &seen.tasks {
        let waited = now.saturating_sub(task.since);
        if let State::Waiting(why) = task.state
            && !NOT_FOR_OTHERS.contains(&why)
            && (is_quiet || waited >= SUSPECT)
        {
            let (count, longest) = suspects.entry((task.at, why)).or_default();
            (*count, *longest) = (*count + 1, waited.max(*longest));
        }
    }
    let mut suspects: Vec<_> = suspects.into_iter().collect();
    suspects.sort_by_key(|(key, (_, longest))| (core::cmp::Reverse(*longest), *key));
    list(suspects.iter().take(SHOWN).map(|((at, why), (count, longest))| {
        object(&[("at", place(at)), ("why", quoted(why)), ("count", count.to_string()), ("for", micros(*longest))])
    }))
}
