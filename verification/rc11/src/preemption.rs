//! How many preemptions an execution takes.
//!
//! A graph has no switches between threads, but a scheduler that plays it has: a thread runs until it needs a write that has
//! not been played, or a thread that has not ended, and then another one must. **A preemption is a switch away from a thread
//! that could go on by itself**: it is neither at its end, nor does it join, wait for a lock, park or yield there. Old values
//! cost nothing: a thread may read them late.
//!
//! A thread that can go on may as well do so: what it does only lets others go on too. So the only choice is which thread
//! comes next when one cannot, and there are few such moments.
//!
//! An execution whose beginning takes more preemptions than are allowed may be one step of TruSt's on the way to one that
//! takes fewer. [`SLACK`] more for each thread beyond the second are enough to reach these (Marmanis, Kokologiannakis,
//! Vafeiadis: Reconciling Preemption Bounding with DPOR, TACAS 2023); a test compares it with what is explored without a
//! bound.

use crate::graph::{Event, Graph, INIT, Kind, MAX_THREADS};
use std::collections::HashMap;

/// For each thread beyond the second, so many preemptions more than the bound are let pass.
const SLACK: usize = 1;

/// Further the schedules of an execution are not searched: it passes.
const MOST_STATES: usize = 2_000;

/// May an execution begin so that takes no more preemptions than that?
pub(crate) fn passes(graph: &Graph, bound: usize) -> bool {
    let slack = SLACK * graph.threads.len().saturating_sub(2);
    Schedules::of(graph).fewest(bound + slack).is_some()
}

/// The fewest preemptions with which a scheduler can play the execution, if they are no more than `most`.
#[cfg(test)]
pub(crate) fn fewest(graph: &Graph, most: usize) -> Option<usize> {
    Schedules::of(graph).fewest(most)
}

/// How far each thread has been played.
type Played = [u16; MAX_THREADS];

struct Schedules<'a> {
    graph: &'a Graph,
    /// The events of each thread.
    of_thread: Vec<Vec<usize>>,
}

impl Schedules<'_> {
    fn of(graph: &Graph) -> Schedules<'_> {
        let mut of_thread = vec![Vec::new(); graph.threads.len()];
        for (n, event) in graph.events.iter().enumerate() {
            of_thread[usize::from(event.thread)].push(n);
        }
        Schedules { graph, of_thread }
    }

    fn next(&self, played: &Played, thread: usize) -> Option<&Event> {
        let n = self.of_thread[thread].get(usize::from(played[thread]))?;
        Some(&self.graph.events[*n])
    }

    fn is_played(&self, played: &Played, n: usize) -> bool {
        let event = &self.graph.events[n];
        played[usize::from(event.thread)] > event.idx
    }

    fn can_go_on(&self, played: &Played, thread: usize) -> bool {
        let Some(event) = self.next(played, thread) else { return false };
        let is_started = thread == 0 || {
            let starts = |n: &usize| self.graph.events[*n].kind == Kind::Fork(thread as u8);
            (0..self.graph.events.len()).find(starts).is_some_and(|n| self.is_played(played, n))
        };
        let has_ended = |child: u8| self.next(played, usize::from(child)).is_none();
        is_started
            && (event.rf == INIT || self.is_played(played, usize::from(event.rf)))
            && !matches!(event.kind, Kind::Join(child) if !has_ended(child))
    }

    /// `thread` goes on as far as it can. Is it a preemption to leave it there?
    fn run(&self, played: &mut Played, thread: usize) -> bool {
        while self.can_go_on(played, thread) {
            played[thread] += 1;
        }
        let Some(next) = self.next(played, thread) else { return false };
        let waits = match next.kind {
            Kind::Join(_) => true,
            Kind::Updating(update) => update.is_await(),
            _ => false,
        };
        let last = played[thread].checked_sub(1).map(|last| self.of_thread[thread][usize::from(last)]);
        let has_yielded = last.is_some_and(|n| matches!(self.graph.events[n].kind, Kind::Yield | Kind::Spin));
        !waits && !has_yielded
    }

    fn fewest(&self, most: usize) -> Option<usize> {
        let mut best: HashMap<Played, usize> = HashMap::new();
        let mut played = [0; MAX_THREADS];
        let cost = usize::from(self.run(&mut played, 0));
        let mut open = vec![(played, cost)];
        let mut fewest = None;
        while let Some((played, cost)) = open.pop() {
            let all = (0..self.of_thread.len()).all(|thread| self.next(&played, thread).is_none());
            if all {
                // What was last counted was no switch: nothing comes after it.
                fewest = Some(fewest.map_or(cost, |fewest: usize| fewest.min(cost)));
                continue;
            }
            let limit = fewest.map_or(most, |fewest| fewest.saturating_sub(1).min(most));
            if cost > limit || best.get(&played).is_some_and(|known| *known <= cost) {
                continue;
            }
            if best.len() >= MOST_STATES {
                return Some(fewest.unwrap_or(0));
            }
            best.insert(played, cost);
            for thread in (0..self.of_thread.len()).filter(|&thread| self.can_go_on(&played, thread)) {
                let mut then = played;
                let cost = cost + usize::from(self.run(&mut then, thread));
                open.push((then, cost));
            }
        }
        fewest.filter(|fewest| *fewest <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::fewest;
    use crate::engine::{Config, Word, explore, fork};
    use crate::graph::Graph;
    use std::collections::BTreeSet;
    use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
    use std::sync::{Arc, Mutex};

    /// A program of two or three threads of three steps each, on two words, by number.
    fn program(seed: u64) -> impl Fn() -> String + Send + Sync + Clone + 'static {
        move || {
            let words = Arc::new([Word::new(0), Word::new(0)]);
            let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut below = |n: u64| {
                bits = (bits ^ bits >> 31).wrapping_mul(0x94d0_49bb_1331_11eb);
                bits % n
            };
            let threads: Vec<_> = (0..2 + below(2))
                .map(|thread| {
                    let steps = [0, 1, 2].map(|step| (below(5), below(2) as usize, 10 * (thread + 1) + step));
                    let words = Arc::clone(&words);
                    fork("thread", move || {
                        let step = |(what, word, value): &(u64, usize, u64)| match what {
                            0 | 1 => words[*word].load(if *what == 0 { Relaxed } else { Acquire }),
                            2 | 3 => {
                                words[*word].store(*value, if *what == 2 { Relaxed } else { Release });
                                0
                            }
                            _ => words[*word].fetch_add(100, AcqRel),
                        };
                        steps.iter().map(step).map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>().join(" | ")
        }
    }

    /// What identifies an execution, however it was reached.
    fn key(graph: &Graph) -> String {
        let name = |n: u16| graph.events.get(usize::from(n)).map(|e| (e.thread, e.idx));
        let mut all: Vec<String> = graph
            .events
            .iter()
            .map(|e| format!("{} {} {:?} {} {:?}", e.thread, e.idx, name(e.rf), e.mo, e.value))
            .collect();
        all.sort();
        all.join("\n")
    }

    /// The executions that take so many preemptions at most, of those that are explored within a bound.
    fn explored(seed: u64, bound: Option<usize>, most: usize) -> BTreeSet<String> {
        let found = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = Arc::clone(&found);
        let note = move |graph: &Graph| {
            if fewest(graph, most).is_some() {
                seen.lock().unwrap().insert(key(graph));
            }
        };
        let config = Config { preemptions: bound, at_graph: Some(Arc::new(note)), ..Config::default() };
        let report = explore(&config, program(seed), |_| ());
        assert!(report.failure.is_none() && report.left.is_empty());
        std::mem::take(&mut *found.lock().unwrap())
    }

    #[test]
    fn no_execution_within_the_bound_is_missed() {
        let (mut within, mut without) = (0, 0);
        for seed in 1..150 {
            for bound in [0, 1, 2] {
                let all = explored(seed, None, bound);
                assert_eq!(all, explored(seed, Some(bound), bound), "program {seed}, at most {bound} preemptions");
                within += all.len();
            }
            without += explored(seed, None, usize::MAX).len();
        }
        assert!(0 < within && within < 3 * without, "{within} of {without}");
    }

    #[test]
    fn a_bound_leaves_executions_out() {
        let executions = |preemptions| {
            let config = Config { preemptions, ..Config::default() };
            let counters = || {
                let word = Arc::new(Word::new(0));
                let threads = [(); 2].map(|()| {
                    let word = Arc::clone(&word);
                    fork("counter", move || (0..5).for_each(|_| _ = word.fetch_add(1, Relaxed)))
                });
                threads.into_iter().for_each(|thread| thread.join());
                String::new()
            };
            let report = explore(&config, counters, |_| ());
            (report.tally.executions, report.is_proof())
        };
        assert_eq!(executions(None), (252, true));
        let few: Vec<_> = [0, 1, 2].map(|bound| executions(Some(bound))).into();
        assert!(few.iter().all(|(_, is_proof)| !is_proof), "{few:?}");
        assert!(few[0].0 < few[1].0 && few[1].0 < few[2].0 && few[2].0 < 252, "{few:?}");
        assert_eq!(executions(Some(10)), (252, true));
    }
}
