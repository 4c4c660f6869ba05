//! What a model needs beyond a [`Host`]: threads that can be joined, cells whose races are detected, and names.

use spinpark_kernel::host::{Host, Nanos};
use std::sync::atomic::Ordering::SeqCst;

/// A host that models can be played on.
pub trait ModelHost: Host {
    /// Are its threads real? Then it is not seen that all of them wait, and time passes by itself.
    const IS_REAL: bool = false;
    /// A thread that can be waited for.
    type Thread<T: Send + 'static>;
    /// Plain memory. Where the engine can, an unordered pair of accesses is a failure of its own.
    type Cell<T: Copy + Send + 'static>: Cell<T>;

    /// Starts a thread of the model, named for the schedule's columns.
    fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> Self::Thread<T>;
    /// Waits for it.
    fn join<T: Send + 'static>(thread: Self::Thread<T>) -> T;
    /// Starts `n` threads that do the same: each runs a copy of `body`. What this returns joins them, and returns what they
    /// have, sorted. An engine that can explores one of the executions that differ only by which of them did what.
    fn fork_symmetric<T: Ord + Send + 'static>(
        name: &str,
        n: usize,
        body: impl FnOnce() -> T + Clone + Send + 'static,
    ) -> Box<dyn FnOnce() -> Vec<T>> {
        let bodies: Vec<_> = std::iter::repeat_n(body, n).collect();
        let threads: Vec<_> = bodies.into_iter().map(|body| Self::fork(name, body)).collect();
        Box::new(|| {
            let mut found: Vec<T> = threads.into_iter().map(Self::join).collect();
            found.sort();
            found
        })
    }
    /// The calling thread's number in this execution.
    fn me() -> usize;
    /// How many times `Host::spawn` is still refused. Each refusal counts one down.
    fn refuse_spawns(n: usize) {
        REFUSALS.set(n);
    }
    /// The model is over as soon as its main thread has returned and no thread can go on: those that sleep then are left as
    /// they are. `false`: the engine cannot do that, so each of them has to be ended.
    fn leave_sleeping() -> bool {
        false
    }
    /// So much time passes, for all threads. Time does not pass by itself, only here and in `park_timeout`.
    fn pass(nanos: Nanos) {
        advance(nanos);
    }
}

/// Plain memory that one thread at a time may touch.
pub trait Cell<T>: Send + Sync + 'static {
    /// A cell that holds `value`.
    fn new(value: T) -> Self;
    /// Reads.
    fn get(&self) -> T;
    /// Writes.
    fn set(&self, value: T);
}

/// A stage with what C's litmus tests have and no model of the kernel needs: words that may also be accessed plainly, and
/// asymmetric fences.
pub trait Mixes: ModelHost {
    /// Such a word.
    type Mixed: spinpark_kernel::host::Word + PlainAccess + Send + Sync + 'static;
    /// A light fence; a `SeqCst` fence where there is no other, as programs fall back to it.
    fn light_fence() {
        Self::fence(SeqCst);
    }
    /// A heavy fence.
    fn heavy_fence() {
        Self::fence(SeqCst);
    }
}

/// Accesses of a word that are not atomic: each races with any other access that it is not ordered with, if one of the
/// two writes.
pub trait PlainAccess {
    /// Reads.
    fn plain_load(&self) -> u64;
    /// Writes.
    fn plain_store(&self, value: u64);
}

thread_local! {
    /// Every model runs on one thread of the machine, so a thread local is the execution's own.
    static REFUSALS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    static CLOCK: std::cell::Cell<Nanos> = const { std::cell::Cell::new(0) };
}

/// A new execution begins, at time 0.
pub(crate) fn begin() {
    CLOCK.set(0);
}

/// What time it is in this execution.
pub(crate) fn clock() -> Nanos {
    CLOCK.get()
}

/// Sets the clock forward.
pub(crate) fn advance(nanos: Nanos) {
    CLOCK.set(CLOCK.get().saturating_add(nanos));
}

/// Should this spawn be refused?
pub(crate) fn take_refusal() -> bool {
    let n = REFUSALS.get();
    REFUSALS.set(n.saturating_sub(1));
    n > 0
}
