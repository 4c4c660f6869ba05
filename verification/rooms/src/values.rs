//! Values that are counted: how many there are, and in which call one is dropped.

use crate::host::RoomHost;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// The most threads of an execution.
const THREADS: usize = 32;

thread_local! {
    /// How many values each thread of the execution has dropped. On real cores a thread has its own.
    static DROPPED: RefCell<[usize; THREADS]> = const { RefCell::new([0; THREADS]) };
    /// How many each thread had dropped when its call began.
    static BEFORE: RefCell<[usize; THREADS]> = const { RefCell::new([0; THREADS]) };
}

/// The calling thread begins a call. How many values it has dropped so far.
pub fn call_begins<H: RoomHost>() -> usize {
    let before = dropped::<H>();
    BEFORE.with_borrow_mut(|all| all[H::me() % THREADS] = before);
    before
}

/// Has the calling thread dropped a value since its call began?
pub fn has_dropped_one<H: RoomHost>() -> bool {
    BEFORE.with_borrow(|all| all[H::me() % THREADS]) != dropped::<H>()
}

/// How many values the calling thread has dropped so far, in whichever execution.
pub fn dropped<H: RoomHost>() -> usize {
    DROPPED.with_borrow(|all| all[H::me() % THREADS])
}

/// The values of one execution.
#[derive(Debug, Default)]
pub struct Ledger {
    live: AtomicUsize,
    is_closed: AtomicBool,
}

impl Ledger {
    /// How many values there are that no caller has.
    pub fn live(&self) -> usize {
        self.live.load(SeqCst)
    }

    /// The execution is over: what is dropped from now on is not looked at.
    pub fn close(&self) {
        self.is_closed.store(true, SeqCst);
    }
}

/// Makes the value of one call.
pub struct Maker<H> {
    number: u64,
    ledger: Arc<Ledger>,
    host: PhantomData<fn() -> H>,
}

impl<H: RoomHost> Maker<H> {
    /// For the call that has this number.
    pub fn new(number: u64, ledger: &Arc<Ledger>) -> Self {
        Maker { number, ledger: Arc::clone(ledger), host: PhantomData }
    }

    /// One more, for what makes values between calls.
    pub fn another(&self) -> Self {
        Maker::new(self.number, &self.ledger)
    }

    /// The number, which no other call has.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The value.
    pub fn value(&self) -> Value<H> {
        self.ledger.live.fetch_add(1, SeqCst);
        let ledger = Some(Arc::clone(&self.ledger));
        Value { number: self.number, ledger, is_guarded: false, is_lent: false, host: PhantomData }
    }
}

/// A value. Dropped, it is counted for the thread that drops it.
#[derive(Debug)]
pub struct Value<H: RoomHost> {
    number: u64,
    /// `None`: it was taken.
    ledger: Option<Arc<Ledger>>,
    /// The room may drop it by its guard only.
    is_guarded: bool,
    /// It may be dropped before a waiter is woken.
    is_lent: bool,
    host: PhantomData<fn() -> H>,
}

impl<H: RoomHost> Value<H> {
    /// The same, of a room that hands each value it drops to the embedder, whose guard catches a panic of the destructor.
    pub fn guarded(mut self) -> Self {
        self.is_guarded = true;
        self
    }

    /// The same, of a room whose waiter waits until it is dropped.
    pub fn lent(mut self) -> Self {
        self.is_lent = true;
        self
    }

    /// The embedder's guard drops it.
    pub fn drop_guarded(mut self) {
        self.is_guarded = false;
    }

    /// The number, which no other value has.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes it: the caller has it, and the room no longer.
    pub fn take(mut self) -> u64 {
        self.ledger.take().expect("it is taken once").live.fetch_sub(1, SeqCst);
        self.number
    }
}

impl<H: RoomHost> Drop for Value<H> {
    fn drop(&mut self) {
        // An execution that is cut off unwinds its threads.
        let is_looked_at = |ledger: &Arc<Ledger>| !ledger.is_closed.load(SeqCst) && !std::thread::panicking();
        let Some(ledger) = self.ledger.take().filter(is_looked_at) else { return };
        ledger.live.fetch_sub(1, SeqCst);
        DROPPED.with_borrow_mut(|all| all[H::me() % THREADS] += 1);
        BEFORE.with_borrow_mut(|all| all[H::me() % THREADS] += usize::from(self.is_lent));
        assert!(!H::holds_a_lock(), "a value is dropped while a lock is held");
        assert!(!self.is_guarded, "the room drops a value, and not the embedder's guard");
    }
}
