//! How a run goes, for a reader at a terminal: a line for each room that is at work, and what came of those that are done.
//!
//! ```text
//! syscall      14 claims hold, 14 proved; 21 of 21 kills of wrong variants; 2.1 s of runs
//! spinning     ━━━━━━━━━━╸━━━━━━━━━ 21/40  three_beside_each_other (rc11) 41 %
//! 0:31 ━━━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━━━━━━━━━━━ 402/561  1,204,113 executions, about 0:28 left
//! ```
//!
//! Where no terminal is, only the lines of rooms that are done are printed.

use crate::plan;
use crate::summary::many;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use spinpark_verification::engines::{Outcome, Verdict};
use spinpark_verification::job::{Event, Order};
use spinpark_verification::output;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// One room: its line, and what came of it so far.
struct Room {
    name: String,
    orders: usize,
    done: usize,
    /// The strongest verdict of each claim.
    claims: BTreeMap<String, Verdict>,
    not_begun: usize,
    kills: usize,
    killed: usize,
    seconds: f64,
    /// From the moment when one of them has begun.
    bar: Option<ProgressBar>,
}

/// What is shown.
pub(crate) struct Progress<'a> {
    orders: &'a [Order],
    /// How long each may take.
    expected: Vec<f64>,
    jobs: usize,
    /// Of each order, its room.
    rooms: Vec<Room>,
    of: Vec<usize>,
    running: Vec<usize>,
    explored: Vec<u64>,
    parts: Vec<Option<f64>>,
    is_done: Vec<bool>,
    clock: Instant,
    all: ProgressBar,
    screen: MultiProgress,
    is_terminal: bool,
}

impl<'a> Progress<'a> {
    /// `expected`: how long each order may take, in seconds.
    pub(crate) fn new(orders: &'a [Order], expected: Vec<f64>, jobs: usize) -> Progress<'a> {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let screen = MultiProgress::with_draw_target(target);
        let all = screen.add(bar(orders.len(), "{elapsed} {bar:48} {pos}/{len}  {wide_msg}"));
        let mut rooms: Vec<Room> = Vec::new();
        let mut of = Vec::new();
        for order in orders {
            let name = plan::room(order);
            let place = rooms.iter().position(|room| room.name == name).unwrap_or_else(|| {
                rooms.push(Room::new(name));
                rooms.len() - 1
            });
            rooms[place].orders += 1;
            of.push(place);
        }
        all.enable_steady_tick(Duration::from_millis(250));
        let n = orders.len();
        Progress {
            orders,
            expected,
            jobs,
            rooms,
            of,
            running: Vec::new(),
            explored: vec![0; n],
            parts: vec![None; n],
            is_done: vec![false; n],
            clock: Instant::now(),
            all,
            screen,
            is_terminal,
        }
    }

    /// Shows what is new.
    pub(crate) fn hear(&mut self, event: &Event<'_>) {
        match *event {
            Event::Begun(i) => {
                self.running.push(i);
                let room = &mut self.rooms[self.of[i]];
                if room.bar.is_none() {
                    let line = bar(room.orders, "{prefix:12} {bar:20} {pos}/{len}  {wide_msg}");
                    line.set_prefix(room.name.clone());
                    room.bar = Some(self.screen.insert_before(&self.all, line));
                }
            }
            Event::Progress(i, n, part) => (self.explored[i], self.parts[i]) = (n, part),
            Event::Done(i, outcome) => self.done(i, outcome),
        }
        self.draw();
    }

    fn done(&mut self, i: usize, outcome: &Outcome) {
        self.explored[i] = outcome.executions + outcome.redundant;
        self.running.retain(|other| *other != i);
        self.is_done[i] = true;
        let room = &mut self.rooms[self.of[i]];
        room.add(&self.orders[i], outcome);
        if room.done == room.orders {
            if let Some(bar) = &room.bar {
                bar.finish_and_clear();
            }
            let line = room.line();
            if self.is_terminal {
                // If the terminal has gone away, there is nothing to be done.
                let _ = self.screen.println(line);
            } else {
                eprintln!("{line}");
            }
        }
    }

    fn draw(&self) {
        if !self.is_terminal {
            return;
        }
        for (place, room) in self.rooms.iter().enumerate().filter(|(_, room)| room.done < room.orders) {
            let Some(bar) = &room.bar else { continue };
            let running = self.running.iter().filter(|&&i| self.of[i] == place);
            let names: Vec<String> = running.map(|&i| short(&self.orders[i]) + &percent(self.parts[i])).collect();
            bar.set_position(room.done as u64);
            bar.set_message(names.join(", "));
        }
        let executions = output::thousands(self.explored.iter().sum());
        self.all.set_position(self.is_done.iter().filter(|&&is_done| is_done).count() as u64);
        let left = self.left().map(|left| format!(", about {}:{:02} left", left / 60, left % 60));
        self.all.set_message(format!("{executions} executions{}", left.unwrap_or_default()));
    }

    /// How many seconds more, as fast as it has gone so far. `None` in the first seconds.
    fn left(&self) -> Option<u64> {
        let elapsed = self.clock.elapsed().as_secs_f64();
        let sum = |wanted: bool| -> f64 {
            self.expected
                .iter()
                .zip(&self.is_done)
                .filter(|(_, is_done)| **is_done == wanted)
                .map(|(seconds, _)| seconds)
                .sum()
        };
        let (done, left) = (sum(true), sum(false));
        let pace = elapsed * self.jobs as f64 / done;
        (elapsed > 2.0 && done > 0.0).then(|| (left * pace / self.jobs as f64).ceil() as u64)
    }

    /// Takes everything from the screen that is not to stay.
    pub(crate) fn end(self) {
        self.all.finish_and_clear();
    }
}

impl Room {
    fn new(name: &str) -> Room {
        Room {
            name: name.to_owned(),
            orders: 0,
            done: 0,
            claims: BTreeMap::new(),
            not_begun: 0,
            kills: 0,
            killed: 0,
            seconds: 0.0,
            bar: None,
        }
    }

    fn add(&mut self, order: &Order, outcome: &Outcome) {
        self.done += 1;
        self.seconds += outcome.seconds;
        if outcome.no_checkpoint().is_some() {
            self.not_begun += 1;
            return;
        }
        if order.mutant.is_some() {
            self.kills += 1;
            self.killed += usize::from(outcome.verdict == Verdict::Failed);
            return;
        }
        let verdict = self.claims.entry(order.model.clone()).or_insert(outcome.verdict);
        *verdict = together(*verdict, outcome.verdict);
    }

    fn line(&self) -> String {
        let count = |wanted: Verdict| self.claims.values().filter(|verdict| **verdict == wanted).count();
        let mut parts = Vec::new();
        let (claims, failed) = (self.claims.len(), count(Verdict::Failed));
        if failed > 0 {
            parts.push(format!("{failed} of {claims} claims FAILED"));
        } else if claims > 0 {
            let weaker = [Verdict::Explored, Verdict::Bounded, Verdict::Sampled].into_iter();
            let weaker =
                weaker.filter(|verdict| count(*verdict) > 0).map(|verdict| format!(", {} {verdict}", count(verdict)));
            let proved = count(Verdict::Proved);
            let hold = if claims == 1 { "holds" } else { "hold" };
            parts.push(format!("{} {hold}: {proved} proved{}", many(claims, "claim"), weaker.collect::<String>()));
        }
        if self.not_begun > 0 {
            parts.push(format!("{} not begun", self.not_begun));
        }
        if self.kills > 0 {
            let lived = if self.killed < self.kills { ": SOME LIVE" } else { "" };
            parts.push(format!("{} of {} kills of wrong variants{lived}", self.killed, self.kills));
        }
        // They run side by side: it is not what a clock on the wall shows.
        format!("{:12} {}; {:.1} s of runs", self.name, parts.join("; "), self.seconds)
    }
}

/// What may be said of a claim of which two engines say this.
pub(crate) fn together(one: Verdict, other: Verdict) -> Verdict {
    let strength = |verdict: Verdict| match verdict {
        Verdict::Failed => 4,
        Verdict::Proved => 3,
        Verdict::Explored => 2,
        Verdict::Bounded => 1,
        Verdict::Sampled => 0,
    };
    if strength(one) >= strength(other) { one } else { other }
}

fn bar(length: usize, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length as u64).with_style(style.progress_chars("━╸─"))
}

/// A line by itself, on a terminal.
pub(crate) fn single(jobs: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = bar(jobs, "{elapsed:>4} {bar:30} {pos}/{len} {wide_msg}");
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// About so much is done.
fn percent(part: Option<f64>) -> String {
    part.map(|part| format!(" {:.0} %", part * 100.0)).unwrap_or_default()
}

fn short(order: &Order) -> String {
    let model = order.model.rsplit("::").next().unwrap_or(&order.model);
    match &order.mutant {
        Some(mutant) => format!("{mutant} before {model} ({})", order.engine),
        None => format!("{model} ({})", order.engine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spinpark_verification::engines::Engine;
    use spinpark_verification::model;

    fn outcome(verdict: Verdict) -> Outcome {
        Outcome {
            verdict,
            executions: 2,
            redundant: 0,
            outcomes: BTreeMap::new(),
            seconds: 0.5,
            failure: None,
            mutant_hits: 0,
            peak_bytes: None,
            estimate: None,
        }
    }

    fn order(model: &str, mutant: Option<&str>) -> Order {
        Order::new(model, Engine::Sc, model::usual(Engine::Sc).bounds, mutant, 1)
    }

    #[test]
    fn a_room_says_that_an_exploration_was_not_begun_and_not_that_it_failed() {
        let failure = r#"{"message": "cannot keep the checkpoint: it is another model's", "execution": 1, "script": null, "threads": [], "steps": []}"#;
        let failure = Some(serde_json::from_str(failure).expect("a failure"));
        let not_begun = Outcome { failure, ..outcome(Verdict::Failed) };
        let mut room = Room::new("sched");
        room.add(&order("sched::a", None), &not_begun);
        assert_eq!(room.line(), "sched        1 not begun; 0.5 s of runs");
    }

    #[test]
    fn a_room_says_what_came_of_its_claims() {
        let mut room = Room::new("idle");
        room.add(&order("idle::a", None), &outcome(Verdict::Sampled));
        room.add(&order("idle::a", None), &outcome(Verdict::Proved));
        room.add(&order("idle::b", None), &outcome(Verdict::Sampled));
        room.add(&order("idle::b", Some("m")), &outcome(Verdict::Failed));
        let said = "idle         2 claims hold: 1 proved, 1 sampled; 1 of 1 kills of wrong variants; 2.0 s of runs";
        assert_eq!(room.line(), said);
        room.add(&order("idle::b", Some("n")), &outcome(Verdict::Proved));
        room.add(&order("idle::a", None), &outcome(Verdict::Failed));
        assert!(
            room.line().contains("1 of 2 claims FAILED; 1 of 2 kills of wrong variants: SOME LIVE"),
            "{}",
            room.line()
        );
    }
}
