//! RC11: the checker [`rc11`], as a host. Each call is passed on; what it is, stands there.

use crate::hosts::model_host::{Cell, Mixes, ModelHost, PlainAccess};
use crate::hosts::wrap::trace;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::sync::atomic::Ordering;

/// The host: memory is RC11's, and every execution that it allows is explored once.
///
/// It is only there inside of a closure that is explored, or watched. Elsewhere all that it has panics.
pub struct Rc11;

/// One word.
pub struct Word(rc11::engine::Word);

impl host::Word for Word {
    fn new(value: u64) -> Self {
        Word(rc11::engine::Word::new(value))
    }
    #[track_caller]
    fn with_ordered_writes(self) -> Self {
        Word(self.0.with_ordered_writes())
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.swap(value, order)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_add(value, order)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        self.0.compare_exchange(current, new, success, failure)
    }
}

impl PlainAccess for Word {
    #[track_caller]
    fn plain_load(&self) -> u64 {
        self.0.plain_load()
    }
    #[track_caller]
    fn plain_store(&self, value: u64) {
        self.0.plain_store(value);
    }
}

impl Mixes for Rc11 {
    type Mixed = Word;
    #[track_caller]
    fn light_fence() {
        rc11::engine::light_fence();
    }
    #[track_caller]
    fn heavy_fence() {
        rc11::engine::heavy_fence();
    }
}

/// A lock.
pub struct Lock<T>(rc11::engine::Lock<T>);

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock(rc11::engine::Lock::new(value))
    }
    #[track_caller]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.0.with(f)
    }
}

/// A word that remembers an unpark, and a thread that waits for it.
pub struct Parker(rc11::engine::Parker);

impl host::Parker for Parker {
    fn new() -> Self {
        Parker(rc11::engine::Parker::new())
    }
    #[track_caller]
    fn park(&self) {
        self.0.park();
    }
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos) {
        self.0.park_timeout(nanos);
    }
    #[track_caller]
    fn unpark(&self) {
        self.0.unpark();
    }
}

impl Host for Rc11 {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;
    const UNWINDS_TO_END: bool = true;

    #[track_caller]
    fn fence(order: Ordering) {
        rc11::engine::fence(order);
    }
    fn relax() {}
    #[track_caller]
    fn choose(n: usize) -> usize {
        rc11::engine::choose(n)
    }
    #[track_caller]
    fn now() -> Nanos {
        rc11::engine::now()
    }
    #[track_caller]
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        let name = name.trim_start_matches("spinpark-");
        rc11::engine::spawn(name, body).map_err(|rc11::engine::Refused| SpawnError { os_error: None })?;
        started(name);
        Ok(())
    }
}

/// A thread was started: for the trace, which numbers them as the checker does. The checker knows their names itself.
fn started(name: &str) {
    if trace::is_on() {
        trace::name_thread(name);
    }
}

/// Memory that is not atomic: two accesses that are not ordered are a race.
pub struct PlainCell<T>(rc11::engine::PlainCell<T>);

impl<T: Copy + Send + 'static> Cell<T> for PlainCell<T> {
    fn new(value: T) -> Self {
        PlainCell(rc11::engine::PlainCell::new(value))
    }
    #[track_caller]
    fn get(&self) -> T {
        self.0.get()
    }
    #[track_caller]
    fn set(&self, value: T) {
        self.0.set(value);
    }
}

impl ModelHost for Rc11 {
    type Thread<T: Send + 'static> = rc11::engine::Thread<T>;
    type Cell<T: Copy + Send + 'static> = PlainCell<T>;

    #[track_caller]
    fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> rc11::engine::Thread<T> {
        let thread = rc11::engine::fork(name, body);
        started(name);
        thread
    }
    #[track_caller]
    fn join<T: Send + 'static>(thread: rc11::engine::Thread<T>) -> T {
        thread.join()
    }
    #[track_caller]
    fn fork_symmetric<T: Ord + Send + 'static>(
        name: &str,
        n: usize,
        body: impl FnOnce() -> T + Clone + Send + 'static,
    ) -> Box<dyn FnOnce() -> Vec<T>> {
        let threads = rc11::engine::fork_symmetric(name, n, body);
        (0..n).for_each(|_| started(name));
        Box::new(|| threads.join())
    }
    fn me() -> usize {
        rc11::engine::me()
    }
    fn refuse_spawns(n: usize) {
        rc11::engine::refuse_spawns(n as u64);
    }
    fn leave_sleeping() -> bool {
        rc11::engine::leave_waiting();
        true
    }
    #[track_caller]
    fn pass(nanos: Nanos) {
        rc11::engine::advance(nanos);
    }
}
