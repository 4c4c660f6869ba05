//! `Apart<H>`: makes loom find what its pruning hides.
//!
//! Loom remembers one last access of each atomic. When a thread loads a word and then stores it, its own load takes the
//! place of another thread's earlier load, and that one's race with the store is never tried the other way round
//! (tokio-rs/loom #166, #392). Here each word has a mark for each thread: a reader touches its own mark, a writer
//! those of all others. Every touch is a store, so on one mark any two touches depend on each other, and the last one
//! is all that a search needs to remember (Flanagan and Godefroid, 2005). The marks are never read, and order nothing.
//!
//! The price is a few more steps an access. It mends this gap, and no other of loom's.

use crate::hosts::model_host::{Mixes, ModelHost, PlainAccess};
use crate::hosts::wrap::trace;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError, Word as _};
use std::marker::PhantomData;
use std::sync::atomic::Ordering::{self, Relaxed};

/// As many threads as loom has.
const THREADS: usize = 5;

/// Host `H`, with a mark for each thread beside each word.
pub struct Apart<H>(PhantomData<fn() -> H>);

/// A word of `H`'s, and the marks.
pub struct Word<H: Host, W = <H as Host>::Word> {
    word: W,
    marks: [H::Word; THREADS],
}

impl<H: ModelHost, W> Word<H, W> {
    fn reads(&self) {
        self.marks[H::me()].store(0, Relaxed);
    }
    fn writes(&self) {
        let me = H::me();
        let others = self.marks.iter().enumerate().take(trace::thread_count()).filter(|(thread, _)| *thread != me);
        others.for_each(|(_, mark)| mark.store(0, Relaxed));
    }
}

impl<H: ModelHost, W: host::Word> host::Word for Word<H, W> {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word { word: W::new(value), marks: std::array::from_fn(|_| H::Word::new(0)) }
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        self.reads();
        self.word.load(order)
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.writes();
        self.word.store(value, order);
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.writes();
        self.word.swap(value, order)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.writes();
        self.word.fetch_add(value, order)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        self.writes();
        self.word.compare_exchange(current, new, success, failure)
    }
}

impl<H: ModelHost, W: PlainAccess> PlainAccess for Word<H, W> {
    #[track_caller]
    fn plain_load(&self) -> u64 {
        self.reads();
        self.word.plain_load()
    }
    #[track_caller]
    fn plain_store(&self, value: u64) {
        self.writes();
        self.word.plain_store(value);
    }
}

impl<H: Mixes> Mixes for Apart<H> {
    type Mixed = Word<H, H::Mixed>;
}

impl<H: ModelHost> Host for Apart<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = H::Lock<T>;
    type Parker = H::Parker;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    #[track_caller]
    fn fence(order: Ordering) {
        H::fence(order);
    }

    host_and_spawn_as_beneath!();
}

impl<H: ModelHost> ModelHost for Apart<H> {
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    threads_as_beneath!();
}
