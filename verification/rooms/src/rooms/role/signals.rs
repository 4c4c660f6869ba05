//! A host on which a signal may come before each access of a word. Its handler runs on the thread itself.

use crate::host::RoomHost;
use kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Host `H`, with signals. A word is one thread's alone.
pub(super) struct Heard<H>(PhantomData<fn() -> H>);

/// So many signals may come, and what is done then.
type Handler = (usize, Rc<dyn Fn()>);

thread_local! {
    /// Of the thread that hears signals: `None`, too, while its handler runs.
    static HANDLER: RefCell<Option<Handler>> = const { RefCell::new(None) };
}

/// As `act` goes on, up to `signals` signals may come. How many are left.
pub(super) fn heard(signals: usize, handler: impl Fn() + 'static, act: impl FnOnce()) -> usize {
    // An execution that was cut off may have left one.
    HANDLER.set(Some((signals, Rc::new(handler))));
    act();
    HANDLER.take().map_or(0, |(left, _)| left)
}

/// A signal may come here; `marks` is called before its handler.
pub(super) fn comes<H: RoomHost>(marks: impl Fn()) {
    let Some((mut left, handler)) = HANDLER.take() else { return };
    while left > 0 && H::choose(2) == 1 {
        left -= 1;
        marks();
        handler();
    }
    HANDLER.set(Some((left, handler)));
}

/// A word of one thread.
pub(super) struct Word<H>(AtomicU64, PhantomData<fn() -> H>);

impl<H: RoomHost> Word<H> {
    fn now(&self) -> &AtomicU64 {
        comes::<H>(|| ());
        &self.0
    }
}

impl<H: RoomHost> host::Word for Word<H> {
    fn new(value: u64) -> Self {
        Word(AtomicU64::new(value), PhantomData)
    }
    fn with_ordered_writes(self) -> Self {
        self
    }
    fn load(&self, order: Ordering) -> u64 {
        self.now().load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.now().store(value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.now().swap(value, order)
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.now().fetch_add(value, order)
    }
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        self.now().compare_exchange(current, new, success, failure)
    }
}

impl<H: RoomHost> Host for Heard<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = H::Lock<T>;
    type Parker = H::Parker;

    fn fence(order: Ordering) {
        H::fence(order);
    }
    fn relax() {}
    fn choose(n: usize) -> usize {
        H::choose(n)
    }
    fn now() -> Nanos {
        H::now()
    }
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        H::spawn(name, body)
    }
}
