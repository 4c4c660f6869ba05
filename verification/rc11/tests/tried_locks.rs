//! Random programs with locks. One that is tried only when all is over has the executions of one that is never tried; one that is
//! tried in between ends in all ways in which a lock of one's own does, which is a word and a loop.

use rc11::model::{Builder, Verdict};
use rc11::sync::atomic::AtomicUsize;
use rc11::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use rc11::sync::{Mutex, TryLockError};
use rc11::thread::Thread;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as StdMutex};

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % n
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Load(usize),
    Store(usize, usize),
    Add(usize),
    /// Takes the lock, does so many of the steps that follow, and opens it.
    Lock(usize, u64),
    /// The same, if it is open.
    Try(usize, u64),
    /// Waits for the thread that has been told to wake it.
    Park,
}

impl Step {
    fn locks(self) -> bool {
        matches!(self, Step::Lock(..) | Step::Try(..))
    }
}

fn thread(dice: &mut Dice, tries: bool) -> Vec<Step> {
    let step = |dice: &mut Dice| match dice.below(if tries { 8 } else { 7 }) {
        0 | 1 => Step::Load(dice.below(2) as usize),
        2 => Step::Store(dice.below(2) as usize, dice.below(3) as usize + 1),
        3 => Step::Add(dice.below(2) as usize),
        7 => Step::Try(dice.below(2) as usize, dice.below(3)),
        _ => Step::Lock(dice.below(2) as usize, dice.below(3)),
    };
    (0..=dice.below(3)).map(|_| step(dice)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Locks {
    /// Tried by nothing but the program.
    AsTheyAre,
    TriedAtTheEnd,
    /// Words.
    OfOnesOwn,
}

/// A lock, how it is made if it is one of one's own, and how often it was taken.
struct Lock {
    mutex: Mutex<()>,
    word: AtomicUsize,
    count: AtomicUsize,
}

impl Lock {
    fn new() -> Lock {
        Lock { mutex: Mutex::new(()), word: AtomicUsize::new(0), count: AtomicUsize::new(0) }
    }

    /// `inside` while it is taken, with how often it was; `false`: it is only tried, and was not open.
    fn with(&self, locks: Locks, only_tries: bool, mut inside: impl FnMut(usize)) -> bool {
        let mut count = || inside(self.count.fetch_add(1, Relaxed));
        if locks == Locks::OfOnesOwn {
            while self.word.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
                if only_tries {
                    return false;
                }
                rc11::hint::spin_loop();
            }
            count();
            self.word.store(0, Release);
            return true;
        }
        let guard = match only_tries {
            true => self.mutex.try_lock(),
            false => self.mutex.lock().map_err(TryLockError::Poisoned),
        };
        guard.map(|_guard| count()).is_ok()
    }
}

struct Shared {
    words: [AtomicUsize; 2],
    locks: [Lock; 2],
}

fn play(shared: &Shared, locks: Locks, steps: &[Step], seen: &mut Vec<usize>) {
    let mut rest = steps;
    while let [step, after @ ..] = rest {
        rest = after;
        match *step {
            Step::Load(word) => seen.push(shared.words[word].load(Acquire)),
            Step::Store(word, value) => shared.words[word].store(value, Release),
            Step::Park => rc11::thread::park(),
            Step::Add(word) => seen.push(shared.words[word].fetch_add(10, AcqRel)),
            Step::Lock(lock, steps) | Step::Try(lock, steps) => {
                let only_tries = matches!(step, Step::Try(..));
                let (inner, outer) = after.split_at(after.len().min(steps as usize));
                let inner: Vec<Step> = inner.iter().copied().filter(|step| !step.locks()).collect();
                rest = outer;
                let is_taken = shared.locks[lock].with(locks, only_tries, |count| {
                    seen.push(count);
                    play(shared, locks, &inner, seen);
                });
                seen.push(usize::from(is_taken));
            }
        }
    }
}

/// How many executions end how.
fn ends(threads: &Arc<Vec<Vec<Step>>>, locks: Locks) -> BTreeMap<String, u64> {
    let ends = Arc::new(StdMutex::new(BTreeMap::<String, u64>::new()));
    let (threads, seen) = (Arc::clone(threads), Arc::clone(&ends));
    let outcome = Builder::new().outcome_of(move || {
        let words = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let shared = Arc::new(Shared { words, locks: [Lock::new(), Lock::new()] });
        let start = |n: usize, woken: Vec<Thread>| {
            let (shared, threads) = (Arc::clone(&shared), Arc::clone(&threads));
            rc11::thread::spawn(move || {
                let mut seen = Vec::new();
                play(&shared, locks, &threads[n], &mut seen);
                woken.iter().for_each(Thread::unpark);
                seen
            })
        };
        let mut others: Vec<_> = (1..threads.len()).map(|n| start(n - 1, Vec::new())).collect();
        let parks = threads.iter().flatten().any(|step| matches!(step, Step::Park));
        let woken = others.iter().filter(|_| parks).map(|other| other.thread().clone()).collect();
        others.push(start(threads.len() - 1, woken));
        let all: Vec<_> = others.into_iter().map(|other| other.join().unwrap()).collect();
        if locks == Locks::TriedAtTheEnd {
            shared.locks.iter().for_each(|lock| drop(lock.mutex.try_lock().unwrap()));
        }
        *seen.lock().unwrap().entry(format!("{all:?}")).or_default() += 1;
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{outcome:?}");
    std::mem::take(&mut *ends.lock().unwrap())
}

/// All threads but the last may park once, perhaps inside of a lock; the last takes no lock, and wakes them.
fn random_threads(seed: u64, tries: bool) -> Arc<Vec<Vec<Step>>> {
    let mut dice = Dice(seed);
    let count = 2 + dice.below(3);
    let mut threads: Vec<Vec<Step>> = (0..count).map(|_| thread(&mut dice, tries)).collect();
    if dice.below(3) > 0 {
        threads.last_mut().expect("there are two").retain(|step| !step.locks());
        for steps in threads.split_last_mut().expect("there are two").1 {
            let at = dice.below(steps.len() as u64 + 1) as usize;
            steps.insert(at, Step::Park);
        }
    }
    Arc::new(threads)
}

#[test]
fn locks_that_are_tried_when_all_is_over() {
    for seed in 0..300 {
        let threads = random_threads(seed, false);
        assert_eq!(ends(&threads, Locks::TriedAtTheEnd), ends(&threads, Locks::AsTheyAre), "{seed}: {threads:?}");
    }
}

#[test]
fn locks_that_are_tried() {
    let how = |ends: BTreeMap<String, u64>| ends.into_keys().collect::<Vec<_>>();
    for seed in 0..300 {
        let threads = random_threads(seed, true);
        assert_eq!(how(ends(&threads, Locks::AsTheyAre)), how(ends(&threads, Locks::OfOnesOwn)), "{seed}: {threads:?}");
    }
}

/// Its executions are those of two orders and of two values, and the token may come before it is waited for: so often the engine itself
/// came to grief, where it was to hand the lock on while its holder slept.
#[test]
fn a_holder_that_sleeps() {
    let threads = vec![
        vec![Step::Lock(0, 0)],
        vec![Step::Load(0)],
        vec![Step::Lock(0, 1), Step::Park, Step::Store(0, 1)],
        vec![],
    ];
    let ends = [Locks::AsTheyAre, Locks::TriedAtTheEnd].map(|locks| ends(&Arc::new(threads.clone()), locks));
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0].len(), 4);
}
