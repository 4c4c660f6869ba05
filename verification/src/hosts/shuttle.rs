//! Host 3: shuttle 0.9.9. Sequential consistency: it sees every logic error and no missing ordering.
//!
//! Each access announces itself before it lets the scheduler choose, so that [`Exhaustive`](crate::engines::sc) knows
//! which threads' next steps commute.

use crate::engines::sc::{Announced, Touch};
use crate::hosts::model_host::{self, Cell, Mixes, ModelHost, PlainAccess, take_refusal};
use shuttle::rand::RngCore;
use shuttle::sync::atomic::AtomicU64;
use shuttle::thread::{self, JoinHandle};
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::sync::Mutex;
use std::sync::atomic::Ordering::{self, SeqCst};

/// The host.
pub struct Shuttle;

/// One of shuttle's atomics, with the number by which the scheduler knows it.
pub struct Word {
    word: AtomicU64,
    id: u32,
}

impl Word {
    fn reads(&self) -> Announced {
        Announced::new(Touch::Read(self.id))
    }
    fn writes(&self) -> Announced {
        Announced::new(Touch::Write(self.id))
    }
}

impl host::Word for Word {
    fn new(value: u64) -> Self {
        Word { word: AtomicU64::new(value), id: Announced::new_object() }
    }
    fn load(&self, _: Ordering) -> u64 {
        let _now = self.reads();
        self.word.load(SeqCst)
    }
    fn store(&self, value: u64, _: Ordering) {
        let _now = self.writes();
        self.word.store(value, SeqCst);
    }
    fn swap(&self, value: u64, _: Ordering) -> u64 {
        let _now = self.writes();
        self.word.swap(value, SeqCst)
    }
    fn fetch_add(&self, value: u64, _: Ordering) -> u64 {
        let _now = self.writes();
        self.word.fetch_add(value, SeqCst)
    }
    fn compare_exchange(&self, current: u64, new: u64, _: Ordering, _: Ordering) -> Result<u64, u64> {
        let _now = self.writes();
        self.word.compare_exchange(current, new, SeqCst, SeqCst)
    }
}

/// One of shuttle's mutexes.
pub struct Lock<T> {
    lock: shuttle::sync::Mutex<T>,
    id: u32,
}

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock { lock: shuttle::sync::Mutex::new(value), id: Announced::new_object() }
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let locking = Announced::new(Touch::Write(self.id));
        let mut guard = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        drop(locking);
        let result = f(&mut guard);
        let _unlocking = Announced::new(Touch::Write(self.id));
        drop(guard);
        result
    }
}

/// A word that remembers an unpark, and the thread to wake. Shuttle's own park may wake spuriously.
pub struct Parker {
    token: Word,
    /// Which thread to wake: written before the word is touched, and no part of what is checked.
    sleeper: Mutex<Option<thread::Thread>>,
}

/// The clock is shared like a word, so asking for the time and its passing are steps. No object gets this number.
const CLOCK: u32 = u32::MAX;

/// A step that touches this, and is nothing else.
fn step(touch: Touch) {
    let _now = Announced::new(touch);
    AtomicU64::new(0).load(SeqCst);
}

impl host::Parker for Parker {
    fn new() -> Self {
        Parker { token: host::Word::new(0), sleeper: Mutex::new(None) }
    }
    fn park(&self) {
        *self.sleeper.lock().unwrap() = Some(thread::current());
        if host::Word::swap(&self.token, 0, SeqCst) == 0 {
            {
                let _parking = self.token.writes();
                thread::park();
            }
            host::Word::swap(&self.token, 0, SeqCst);
        }
    }
    fn park_timeout(&self, nanos: Nanos) {
        // No thread waits: without an unpark, time passes.
        if host::Word::swap(&self.token, 0, SeqCst) == 0 {
            Shuttle::pass(nanos);
        }
    }
    fn unpark(&self) {
        host::Word::swap(&self.token, 1, SeqCst);
        let sleeper = self.sleeper.lock().unwrap().clone();
        if let Some(sleeper) = sleeper {
            let _waking = self.token.writes();
            sleeper.unpark();
        }
    }
}

impl Host for Shuttle {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;
    const UNWINDS_TO_END: bool = true;

    fn fence(_: Ordering) {}
    fn relax() {}
    fn choose(n: usize) -> usize {
        if n == 1 {
            return 0;
        }
        Announced::choices(n);
        shuttle::rand::thread_rng().next_u64() as usize % n
    }
    fn now() -> Nanos {
        step(Touch::Read(CLOCK));
        model_host::clock()
    }
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        if take_refusal() {
            return Err(SpawnError { os_error: None });
        }
        drop(Self::fork(name.trim_start_matches("spinpark-"), body));
        Ok(())
    }
}

/// Memory. Under sequential consistency there are no races to detect; each access is a step of its own.
pub struct StepCell<T> {
    value: Mutex<T>,
    step: Word,
}

impl<T: Copy + Send + 'static> Cell<T> for StepCell<T> {
    fn new(value: T) -> Self {
        StepCell { value: Mutex::new(value), step: host::Word::new(0) }
    }
    fn get(&self) -> T {
        host::Word::load(&self.step, SeqCst);
        *self.value.lock().unwrap()
    }
    fn set(&self, value: T) {
        host::Word::store(&self.step, 0, SeqCst);
        *self.value.lock().unwrap() = value;
    }
}

/// Under sequential consistency a plain access is a step like any other.
impl PlainAccess for Word {
    fn plain_load(&self) -> u64 {
        host::Word::load(self, SeqCst)
    }
    fn plain_store(&self, value: u64) {
        host::Word::store(self, value, SeqCst);
    }
}

impl Mixes for Shuttle {
    type Mixed = Word;
}

impl ModelHost for Shuttle {
    type Thread<T: Send + 'static> = JoinHandle<T>;
    type Cell<T: Copy + Send + 'static> = StepCell<T>;

    fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        crate::hosts::wrap::trace::name_thread(name); // shuttle numbers its tasks in the same order
        thread::spawn(body)
    }
    fn join<T: Send + 'static>(thread: JoinHandle<T>) -> T {
        thread.join().unwrap()
    }
    fn me() -> usize {
        usize::from(shuttle::current::me())
    }
    fn pass(nanos: Nanos) {
        step(Touch::Write(CLOCK));
        model_host::advance(nanos);
    }
}
