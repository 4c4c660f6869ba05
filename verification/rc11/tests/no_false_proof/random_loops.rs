//! Random loops that wait, beside a thread that writes, and may wait for them: against the same programs without a yield, whose
//! loops are played round by round, so often that each has been in all its states. From the same states each must be seen to
//! end, and one that waits for ever must be seen to.

use rc11::hint;
use rc11::model::{Builder, Verdict};
use rc11::sync::Arc;
use rc11::sync::atomic::AtomicUsize;
use rc11::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use rc11::thread;
use std::collections::BTreeSet;
use std::sync::{Arc as StdArc, Mutex};

/// What the other thread does, one after the other.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Stores the next number there.
    Store(usize),
    /// Waits until the loop has helped.
    Awaits,
    /// Changes memory of its own.
    Noise,
}

/// A loop whose state is a number below 3 and the last value of a word that it has found.
#[derive(Debug, Clone)]
struct Program {
    is_first: bool,
    /// By both: which number is next.
    next: [[usize; 3]; 3],
    /// By the number: which word is looked at.
    looks: [usize; 3],
    /// By the number: does it look whether it is to end?
    may_end: [bool; 3],
    ends: (usize, usize),
    /// At which number it helps, once.
    helps: usize,
    steps: Vec<Step>,
}

/// How a thread's loop has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loop {
    Ended(usize, usize),
    /// After so many rounds as were asked for; by word, what it has found in the last of them.
    Goes([Option<usize>; 3]),
}

/// How both have, and what is in the words in the end.
type End = ([Loop; 2], [usize; 3]);

/// The last so many rounds are those of a loop that has had its news.
const LAST: usize = 3;

impl Program {
    fn new(seed: u64) -> Program {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n as usize
        };
        let steps = (0..1 + below(3)).map(|_| match below(4) {
            0 => Step::Awaits,
            1 => Step::Noise,
            _ => Step::Store(below(2)),
        });
        let mut steps: Vec<Step> = steps.collect();
        let word = below(2);
        if below(4) > 0 {
            // Then the last value is what it waits for.
            steps.push(Step::Store(word));
        }
        let times = steps.iter().filter(|step| matches!(step, Step::Store(n) if *n == word)).count();
        let all = below(3) > 0;
        let may_end = [0; 3].map(|_| all || below(3) > 0);
        Program {
            is_first: below(2) == 0,
            next: [0; 3].map(|_| [0; 3].map(|_| below(3))),
            looks: [0; 3].map(|_| below(2)),
            may_end,
            ends: (word, times.max(1)),
            helps: below(4),
            steps,
        }
    }

    fn waits(&self, words: &[AtomicUsize; 3], most: Option<usize>) -> Loop {
        let (mut number, mut found, mut has_helped) = (0, 0, false);
        let mut last = [None; 3];
        let mut round = 0;
        loop {
            if most == Some(round) {
                return Loop::Goes(last);
            }
            if most.is_some_and(|most| round == most - LAST) {
                last = [None; 3];
            }
            // Without a bound nothing is counted: that would be a part of the state.
            round += usize::from(most.is_some());
            let mut look = |word: usize| {
                let value = words[word].load(Acquire);
                // Words only grow: the oldest.
                last[word] = most.map(|_| last[word].unwrap_or(value).min(value));
                value
            };
            if self.may_end[number] && look(self.ends.0) == self.ends.1 {
                break;
            }
            found = look(self.looks[number]).min(2);
            if number == self.helps && !has_helped {
                has_helped = true;
                words[2].store(1, Release);
            }
            number = self.next[number][found];
            if most.is_none() {
                hint::spin_loop();
            }
        }
        Loop::Ended(number, found)
    }

    fn beside(&self, words: &[AtomicUsize; 3], most: Option<usize>) -> Loop {
        let mut own = vec![Box::new(0)];
        let mut stored = [0; 2];
        for step in &self.steps {
            match *step {
                Step::Store(word) => {
                    stored[word] += 1;
                    words[word].store(stored[word], Release);
                }
                Step::Noise => own.push(Box::new(own.len())),
                Step::Awaits => {
                    let mut round = 0;
                    while words[2].load(Acquire) == 0 {
                        if most.is_some_and(|most| round + LAST == most) {
                            return Loop::Goes([None, None, Some(0)]);
                        }
                        round += usize::from(most.is_some());
                        *own[0] = 1 - *own[0];
                        if most.is_none() {
                            hint::spin_loop();
                        }
                    }
                }
            }
        }
        Loop::Ended(0, 0)
    }

    /// Plays it; both loops, and what is in the words in the end.
    fn play(&self, most: Option<usize>) -> End {
        let words: Arc<[AtomicUsize; 3]> = Arc::new(Default::default());
        let (theirs, program) = (words.clone(), self.clone());
        let other = thread::spawn(move || match program.is_first {
            true => program.beside(&theirs, most),
            false => program.waits(&theirs, most),
        });
        let mine = if self.is_first { self.waits(&words, most) } else { self.beside(&words, most) };
        let loops = [mine, other.join().unwrap()];
        (loops, [0, 1, 2].map(|word| words[word].load(Relaxed)))
    }

    /// The ends that are played; with the verdict.
    fn ends(&self, most: Option<usize>) -> (BTreeSet<End>, Verdict) {
        let found = StdArc::new(Mutex::new(BTreeSet::new()));
        let (theirs, program) = (found.clone(), self.clone());
        let mut builder = Builder::new();
        builder.max_permutations = Some(3_000);
        let plays = move || {
            let end = program.play(most);
            theirs.lock().unwrap().insert(end);
        };
        let verdict = builder.outcome_of(plays).verdict;
        let found = found.lock().unwrap().clone();
        (found, verdict)
    }
}

/// Does a loop go on for ever in that one: is there nothing new for any that goes on?
fn is_stuck((loops, words): &End) -> bool {
    let is_old = |found: &[Option<usize>; 3]| (0..3).all(|word| found[word].is_none_or(|value| value == words[word]));
    let goes = |one: &Loop| matches!(one, Loop::Goes(_));
    loops.iter().any(goes) && loops.iter().all(|one| !matches!(one, Loop::Goes(found) if !is_old(found)))
}

/// Is it as it is when its loops are played round by round? `None`: that is too much to play.
fn agrees(seed: u64) -> Option<bool> {
    let program = Program::new(seed);
    let (by_rounds, Verdict::Proved) = program.ends(Some(9)) else { return None };
    let (found, verdict) = program.ends(None);
    let ended = by_rounds.iter().filter(|(loops, _)| loops.iter().all(|one| matches!(one, Loop::Ended(..))));
    if by_rounds.iter().any(is_stuck) {
        assert!(verdict.to_string().contains("deadlock"), "{seed} {program:?}: {verdict}");
        return Some(true);
    }
    assert_eq!(verdict, Verdict::Proved, "{seed} {program:?}");
    assert_eq!(found, ended.copied().collect(), "{seed} {program:?}");
    Some(false)
}

/// Among the last ones is the first program that notices a cycle left too early.
#[test]
fn end_as_they_do_round_by_round() {
    let stuck: Vec<bool> = (0..40).chain(260..280).filter_map(agrees).collect();
    let how_many = |is_stuck: bool| stuck.iter().filter(|stuck| **stuck == is_stuck).count();
    assert!(how_many(true) > 10 && how_many(false) > 10, "{stuck:?}");
}
