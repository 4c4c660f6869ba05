//! `Tso<H>`: total store order. A store waits in its thread's buffer, first in, first out, until it is drained; the
//! thread itself sees it at once, the others when it is drained. That is what x86 does, and the one reordering that
//! makes a missing StoreLoad visible to an engine that knows only sequential consistency.
//!
//! Before each access a thread may drain as many stores as it likes: a choice, so exhaustive engines try each. An
//! exchange, a SeqCst fence, a lock, a park and the end of a thread drain everything. (A real lock's release does not;
//! to drain there hides nothing that a kernel's own fences are there for, since each follows its lock.)

use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A store that only its own thread sees. `word` tells which, `drain` makes it visible to all.
struct Pending {
    word: usize,
    value: u64,
    drain: Box<dyn FnOnce()>,
}

thread_local! {
    /// One buffer a thread of the model.
    static BUFFERS: RefCell<Vec<VecDeque<Pending>>> = const { RefCell::new(Vec::new()) };
}

/// A new execution begins: nothing is buffered.
pub fn begin() {
    BUFFERS.with_borrow_mut(Vec::clear);
}

fn with_buffer<H: ModelHost, R>(f: impl FnOnce(&mut VecDeque<Pending>) -> R) -> R {
    let me = H::me();
    BUFFERS.with_borrow_mut(|buffers| {
        if buffers.len() <= me {
            buffers.resize_with(me + 1, VecDeque::new);
        }
        f(&mut buffers[me])
    })
}

fn drain_one<H: ModelHost>() -> bool {
    let oldest = with_buffer::<H, _>(VecDeque::pop_front);
    oldest.map(|store| (store.drain)()).is_some()
}

fn drain_all<H: ModelHost>() {
    while drain_one::<H>() {}
}

fn drain_some<H: ModelHost>() {
    while !with_buffer::<H, _>(|buffer| buffer.is_empty()) && H::choose(2) == 1 {
        drain_one::<H>();
    }
}

/// Host `H` with a store buffer in front of each thread.
pub struct Tso<H>(PhantomData<fn() -> H>);

/// A word of `H`'s. Shared with the buffers.
pub struct Word<H: Host>(Arc<H::Word>);

impl<H: ModelHost> Word<H> {
    fn key(&self) -> usize {
        Arc::as_ptr(&self.0) as *const () as usize
    }
}

impl<H: ModelHost> host::Word for Word<H> {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(Arc::new(H::Word::new(value)))
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        drain_some::<H>();
        let key = self.key();
        let own = with_buffer::<H, _>(|buffer| buffer.iter().rev().find(|store| store.word == key).map(|s| s.value));
        own.unwrap_or_else(|| self.0.load(order))
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        drain_some::<H>();
        let word = Arc::clone(&self.0);
        let at = Location::caller();
        let drain = Box::new(move || {
            word.store(value, order);
            if trace::is_on() {
                trace::write_down::<H>(format!("(its {value} is out)"), at);
            }
        });
        with_buffer::<H, _>(|buffer| buffer.push_back(Pending { word: self.key(), value, drain }));
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        drain_all::<H>();
        self.0.swap(value, order)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        drain_all::<H>();
        self.0.fetch_add(value, order)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        drain_all::<H>();
        self.0.compare_exchange(current, new, success, failure)
    }
}

/// A lock of `H`'s.
pub struct Lock<H: Host, T: Send + 'static>(H::Lock<T>);

impl<H: ModelHost, T: Send + 'static> host::Lock<T> for Lock<H, T> {
    fn new(value: T) -> Self {
        Lock(H::Lock::new(value))
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        drain_all::<H>();
        self.0.with(|value| {
            let result = f(value);
            drain_all::<H>();
            result
        })
    }
}

/// A parker of `H`'s.
pub struct Parker<H: Host>(H::Parker);

impl<H: ModelHost> host::Parker for Parker<H> {
    fn new() -> Self {
        Parker(H::Parker::new())
    }
    #[track_caller]
    fn park(&self) {
        drain_all::<H>();
        self.0.park();
    }
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos) {
        drain_all::<H>();
        self.0.park_timeout(nanos);
    }
    #[track_caller]
    fn unpark(&self) {
        drain_all::<H>();
        self.0.unpark();
    }
}

impl<H: ModelHost> Host for Tso<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = Lock<H, T>;
    type Parker = Parker<H>;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    #[track_caller]
    fn fence(order: Ordering) {
        if order == Ordering::SeqCst {
            drain_all::<H>();
        }
        H::fence(order);
    }

    host_as_beneath!();

    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        drain_all::<H>();
        H::spawn(name, move || {
            body();
            drain_all::<H>();
        })
    }
}

impl<H: ModelHost> ModelHost for Tso<H> {
    type Thread<T: Send + 'static> = H::Thread<T>;
    /// Plain memory is buffered like any other; but a model's cells are never raced for under TSO.
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> Self::Thread<T> {
        drain_all::<H>();
        H::fork(name, move || {
            let result = body();
            drain_all::<H>();
            result
        })
    }
    fn join<T: Send + 'static>(thread: Self::Thread<T>) -> T {
        drain_all::<H>();
        H::join(thread)
    }
    fn me() -> usize {
        H::me()
    }
    fn pass(nanos: Nanos) {
        H::pass(nanos);
    }
}
