//! `Beneath<H>`: host `H`, under store buffers. Each store that it is asked for comes out of one: that is written down.

use super::recorded::{Act, Name, push};
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use spinpark_verification::hosts::model_host::ModelHost;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::Ordering;

pub(crate) struct Beneath<H>(PhantomData<fn() -> H>);

pub(crate) struct Word<H: Host>(H::Word);

impl<H: ModelHost> host::Word for Word<H> {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(host::Word::new(value))
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
        push::<H>(Act::Visible, Name::Other(0), Location::caller());
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

impl<H: ModelHost> Host for Beneath<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = H::Lock<T>;
    type Parker = H::Parker;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    fn fence(order: Ordering) {
        H::fence(order);
    }
    spinpark_verification::host_and_spawn_as_beneath!();
}

impl<H: ModelHost> ModelHost for Beneath<H> {
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    spinpark_verification::threads_as_beneath!();
}
