//! `Trace<H>`: writes down every access of an execution, to print a failing schedule with one column a thread.
//!
//! Switched off it adds a test of one flag. It makes no access of its own, so it changes nothing for the engine.

use crate::hosts::model_host::{self, Cell, ModelHost};
use crate::mutation::weaken::is_weakened;
use rc11::naming::unlike;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::{Cell as StdCell, RefCell};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// One step of one thread.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, PartialEq, Eq)]
pub struct Step {
    /// Which thread, as an index into the names.
    pub thread: usize,
    /// What it did, and what came of it.
    pub what: String,
    /// The file's path below `src`.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

thread_local! {
    static ON: StdCell<bool> = const { StdCell::new(false) };
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    static THREADS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static WORDS: StdCell<u32> = const { StdCell::new(0) };
}

/// A new execution begins: forget the last one. `on`: write this one down.
pub fn begin(on: bool) {
    ON.set(on);
    STEPS.with_borrow_mut(Vec::clear);
    THREADS.with_borrow_mut(|threads| {
        threads.clear();
        threads.push("main".to_owned());
    });
    WORDS.set(0);
    model_host::begin();
}

/// A thread of the model was started; its number. If another has the name already, this one's gets a number: no two columns
/// of a schedule are called alike.
pub fn name_thread(name: &str) -> usize {
    THREADS.with_borrow_mut(|threads| {
        let name = unlike(name, threads.iter().map(String::as_str));
        threads.push(name);
        threads.len() - 1
    })
}

/// What the main thread plays in this scenario. rc11's pictures, which know no other trace, call it so too.
pub fn main_plays(role: &str) {
    THREADS.with_borrow_mut(|threads| {
        if let Some(main) = threads.first_mut() {
            role.clone_into(main);
        }
    });
    rc11::engine::name_thread(role);
}

/// How many threads this execution has had so far.
pub(crate) fn thread_count() -> usize {
    THREADS.with_borrow(Vec::len)
}

/// The names of the threads of this execution.
pub fn threads() -> Vec<String> {
    THREADS.with_borrow(Clone::clone)
}

/// What was written down of this execution.
pub fn take_steps() -> Vec<Step> {
    STEPS.with_borrow_mut(std::mem::take)
}

#[inline]
pub(crate) fn is_on() -> bool {
    ON.get()
}

/// One more step of the calling thread.
pub(crate) fn write_down<H: ModelHost>(mut what: String, at: &'static Location<'static>) {
    if is_weakened(at) && !what.starts_with("no ") {
        what.push_str(" (weakened)");
    }
    let file = rc11::naming::below_src(at.file()).to_owned();
    let step = Step { thread: H::me(), what, file, line: at.line() };
    STEPS.with_borrow_mut(|steps| steps.push(step));
}

/// Host `H`, written down.
pub struct Trace<H>(PhantomData<fn() -> H>);

/// A word of `H`'s, with a number to name it.
pub struct Word<H: Host>(H::Word, u32);

impl<H: ModelHost> host::Word for Word<H> {
    #[track_caller]
    fn new(value: u64) -> Self {
        WORDS.set(WORDS.get() + 1);
        Word(H::Word::new(value), WORDS.get())
    }
    #[track_caller]
    fn with_ordered_writes(self) -> Self {
        Word(self.0.with_ordered_writes(), self.1)
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        let value = self.0.load(order);
        if is_on() {
            write_down::<H>(format!("w{} = {value}", self.1), Location::caller());
        }
        value
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
        if is_on() {
            write_down::<H>(format!("w{} := {value}", self.1), Location::caller());
        }
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.swap(value, order);
        if is_on() {
            write_down::<H>(format!("w{} {before} -> {value}", self.1), Location::caller());
        }
        before
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.fetch_add(value, order);
        if is_on() {
            let after = before.wrapping_add(value);
            write_down::<H>(format!("w{} {before} -> {after}", self.1), Location::caller());
        }
        before
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        let result = self.0.compare_exchange(current, new, success, failure);
        if is_on() {
            let what = match result {
                Ok(_) => format!("w{} {current} -> {new}", self.1),
                Err(found) => format!("w{} is {found}, not {current}", self.1),
            };
            write_down::<H>(what, Location::caller());
        }
        result
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
        if is_on() {
            write_down::<H>("parks".into(), Location::caller());
        }
        self.0.park();
        if is_on() {
            write_down::<H>("is up again".into(), Location::caller());
        }
    }
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos) {
        if is_on() {
            write_down::<H>("parks for a while".into(), Location::caller());
        }
        self.0.park_timeout(nanos);
        if is_on() {
            write_down::<H>("is up again".into(), Location::caller());
        }
    }
    #[track_caller]
    fn unpark(&self) {
        if is_on() {
            write_down::<H>("unparks".into(), Location::caller());
        }
        self.0.unpark();
    }
}

/// A cell of `H`'s.
pub struct TracedCell<H: ModelHost, T: Copy + Send + 'static>(H::Cell<T>);

impl<H: ModelHost, T: Copy + Send + 'static> Cell<T> for TracedCell<H, T> {
    fn new(value: T) -> Self {
        TracedCell(H::Cell::new(value))
    }
    #[track_caller]
    fn get(&self) -> T {
        if is_on() {
            write_down::<H>("reads the task's data".into(), Location::caller());
        }
        self.0.get()
    }
    #[track_caller]
    fn set(&self, value: T) {
        if is_on() {
            write_down::<H>("writes the task's data".into(), Location::caller());
        }
        self.0.set(value);
    }
}

impl<H: ModelHost> Host for Trace<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = H::Lock<T>;
    type Parker = Parker<H>;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    #[track_caller]
    fn fence(order: Ordering) {
        H::fence(order);
        if is_on() {
            let at = Location::caller();
            let what = if is_weakened(at) { "no StoreLoad" } else { "---- StoreLoad ----" };
            write_down::<H>(what.into(), at);
        }
    }

    host_and_spawn_as_beneath!();
}

impl<H: ModelHost> ModelHost for Trace<H> {
    type Cell<T: Copy + Send + 'static> = TracedCell<H, T>;

    threads_as_beneath!();
}
