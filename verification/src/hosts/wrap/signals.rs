//! `Signals<H>`: a thread of a model may be sent a signal. Its handler runs on the thread itself, between any two of its own
//! steps: before each access of a word, and wherever the model says that code of a G's runs. Whether it comes there is a
//! choice, so exhaustive engines try every place; under RC11 the handler's accesses stand in the thread's program order,
//! where they were made.
//!
//! Between a thread and its own handler the processor keeps the order by itself. The compiler need not, and is no engine's:
//! the kernel's `compiler_fence`s are argued, not checked.
//!
//! loom knows no choice, and never sends a signal.

use crate::hosts::model_host::ModelHost;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// Host `H`, with signals.
pub struct Signals<H>(PhantomData<fn() -> H>);

/// What one thread of the model does when a signal comes.
struct Handler {
    thread: usize,
    handle: Rc<dyn Fn()>,
    /// So many signals are sent at the most.
    left: usize,
}

thread_local! {
    /// Of the execution that is played. A thread is not among them while its handler runs.
    static HANDLERS: RefCell<Vec<Handler>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread of the model hears signals, as long as this lives.
pub struct Listens(usize);

impl<H: ModelHost> Signals<H> {
    /// An execution begins without listeners. One that was broken off may have left some.
    pub fn begin() {
        HANDLERS.with_borrow_mut(Vec::clear);
    }

    /// From now on up to `n` signals may come on the calling thread, and are handled by `handle`.
    #[must_use = "dropped, it hears none"]
    pub fn listen(n: usize, handle: impl Fn() + 'static) -> Listens {
        let thread = H::me();
        let handler = Handler { thread, handle: Rc::new(handle), left: n };
        HANDLERS.with_borrow_mut(|handlers| handlers.push(handler));
        Listens(thread)
    }

    /// A signal may come here.
    #[track_caller]
    pub fn point() {
        let me = H::me();
        let take = |handlers: &mut Vec<Handler>| {
            let place = handlers.iter().position(|handler| handler.thread == me && handler.left > 0)?;
            Some(handlers.swap_remove(place))
        };
        let Some(mut handler) = HANDLERS.with_borrow_mut(take) else { return };
        while handler.left > 0 && H::choose(2) == 1 {
            handler.left -= 1;
            (handler.handle)();
        }
        HANDLERS.with_borrow_mut(|handlers| handlers.push(handler));
    }
}

impl Drop for Listens {
    fn drop(&mut self) {
        HANDLERS.with_borrow_mut(|handlers| handlers.retain(|handler| handler.thread != self.0));
    }
}

/// A word of `H`'s.
pub struct Word<H: Host>(H::Word);

impl<H: ModelHost> host::Word for Word<H> {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(H::Word::new(value))
    }
    #[track_caller]
    fn with_ordered_writes(self) -> Self {
        Word(self.0.with_ordered_writes())
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        Signals::<H>::point();
        self.0.load(order)
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        Signals::<H>::point();
        self.0.store(value, order);
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        Signals::<H>::point();
        self.0.swap(value, order)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        Signals::<H>::point();
        self.0.fetch_add(value, order)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        Signals::<H>::point();
        self.0.compare_exchange(current, new, success, failure)
    }
}

impl<H: ModelHost> Host for Signals<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = H::Lock<T>;
    type Parker = H::Parker;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    #[track_caller]
    fn fence(order: Ordering) {
        Signals::<H>::point();
        H::fence(order);
    }
    host_and_spawn_as_beneath!();
}

impl<H: ModelHost> ModelHost for Signals<H> {
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;
    threads_as_beneath!();
}
