//! Host 5: RC11. Every operation asks the machine, which asks the graph.

use crate::hosts::model_host::{Cell, Mixes, ModelHost, PlainAccess};
use crate::hosts::wrap::trace::name_thread;
use crate::rc11::graph::{Loc, Order, Update};
use crate::rc11::machine::{self, LOCKING, PARKING, ask};
use crate::rc11::step::Ask;
use spinpark::host::{self, Host, Nanos, SpawnError};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// The host: memory is RC11's, and every execution that it allows is explored once.
///
/// It is only there inside of a closure that is explored, or watched. Elsewhere all that it has panics.
pub struct Rc11;

/// Where a location is, what it was made with, and how far its maker had come.
struct Place {
    loc: Loc,
    init: u64,
    maker: u8,
    told: u16,
}

impl Place {
    fn new(init: u64) -> Place {
        let (loc, maker, told) = machine::make_location();
        Place { loc, init, maker, told }
    }

    /// It must be known to who accesses it next.
    #[inline]
    fn known(&self) -> Loc {
        machine::must_know(self.maker, self.told);
        self.loc
    }

    #[track_caller]
    fn update(&self, order: Order, update: Update) -> u64 {
        ask(Ask::Update { loc: self.known(), init: self.init, order, update })
    }
}

/// One word.
pub struct Word(Place);

impl host::Word for Word {
    fn new(value: u64) -> Self {
        Word(Place::new(value))
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        ask(Ask::Load { loc: self.0.known(), init: self.0.init, order: order.into() })
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        ask(Ask::Store { loc: self.0.known(), value, order: order.into() });
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.update(order.into(), Update::Swap(value))
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.update(order.into(), Update::Add(value))
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        let update = Update::Exchange { current, new, failure: failure.into() };
        let found = self.0.update(success.into(), update);
        if found == current || machine::is_over() { Ok(found) } else { Err(found) }
    }
}

impl PlainAccess for Word {
    #[track_caller]
    fn plain_load(&self) -> u64 {
        machine::mixes();
        ask(Ask::Load { loc: self.0.known(), init: self.0.init, order: Order::Plain })
    }
    #[track_caller]
    fn plain_store(&self, value: u64) {
        machine::mixes();
        ask(Ask::Store { loc: self.0.known(), value, order: Order::Plain });
    }
}

impl Mixes for Rc11 {
    type Mixed = Word;
}

/// A lock: who comes when it is taken waits, and is no event until it is open.
pub struct Lock<T> {
    place: Place,
    value: Mutex<T>,
}

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock { place: Place::new(0), value: Mutex::new(value) }
    }
    #[track_caller]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.place.update(Order::Acquire, LOCKING);
        let result = match self.value.try_lock() {
            Ok(mut value) => f(&mut value),
            Err(std::sync::TryLockError::Poisoned(value)) => f(&mut value.into_inner()),
            // Only when the execution is over: who has it will never go on.
            Err(std::sync::TryLockError::WouldBlock) => machine::rest_in_peace(),
        };
        ask(Ask::Open { loc: self.place.loc });
        result
    }
}

/// A word that remembers an unpark, and a thread that waits for it.
pub struct Parker(Place);

impl host::Parker for Parker {
    fn new() -> Self {
        Parker(Place::new(0))
    }
    #[track_caller]
    fn park(&self) {
        let returns_for_no_reason = machine::may_wake_spuriously() && ask(Ask::Spurious) == 1;
        self.0.update(Order::Acquire, if returns_for_no_reason { Update::Swap(0) } else { PARKING });
    }
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos) {
        // Nobody waits: without an unpark, time passes.
        if self.0.update(Order::Acquire, Update::Swap(0)) == 0 {
            Rc11::pass(nanos);
        }
    }
    #[track_caller]
    fn unpark(&self) {
        self.0.update(Order::Release, Update::Swap(1));
    }
}

impl Host for Rc11 {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;

    #[track_caller]
    fn fence(order: Ordering) {
        ask(Ask::Fence(order.into()));
    }
    fn relax() {}
    #[track_caller]
    fn choose(n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        ask(Ask::Choose(u32::try_from(n).expect("a number of choices that can be tried"))) as usize
    }
    /// Time is a word that everybody reads Relaxed: it never runs backwards for who knows of a later time, and gives no
    /// other order.
    #[track_caller]
    fn now() -> Nanos {
        ask(Ask::Load { loc: Loc::CLOCK, init: 0, order: Order::Relaxed })
    }
    #[track_caller]
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        if machine::refusals() > 0 {
            let (init, order) = (machine::refusals(), Order::Relaxed);
            if ask(Ask::Update { loc: Loc::REFUSALS, init, order, update: Update::Take }) > 0 {
                return Err(SpawnError { os_error: None });
            }
        }
        drop(Self::fork(name.trim_start_matches("spinpark-"), body));
        Ok(())
    }
}

/// Memory that is not atomic: two accesses that are not ordered are a race.
pub struct PlainCell<T> {
    place: Place,
    value: Mutex<T>,
}

impl<T: Copy + Send + 'static> Cell<T> for PlainCell<T> {
    fn new(value: T) -> Self {
        PlainCell { place: Place::new(0), value: Mutex::new(value) }
    }
    #[track_caller]
    fn get(&self) -> T {
        ask(Ask::Load { loc: self.place.known(), init: 0, order: Order::Plain });
        *self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
    #[track_caller]
    fn set(&self, value: T) {
        ask(Ask::Store { loc: self.place.known(), value: 0, order: Order::Plain });
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

/// A thread, and what it will have returned.
pub struct Thread<T> {
    number: u8,
    result: Arc<Mutex<Option<T>>>,
}

impl ModelHost for Rc11 {
    type Thread<T: Send + 'static> = Thread<T>;
    type Cell<T: Copy + Send + 'static> = PlainCell<T>;

    #[track_caller]
    fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> Thread<T> {
        let result = Arc::new(Mutex::new(None));
        let place = Arc::clone(&result);
        let body = move || {
            let result = body();
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        };
        Thread { number: machine::fork(|| name_thread(name), Box::new(body)), result }
    }
    #[track_caller]
    fn join<T: Send + 'static>(thread: Thread<T>) -> T {
        ask(Ask::Join(thread.number));
        let result = thread.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Without a result the execution is over.
        result.unwrap_or_else(|| machine::rest_in_peace())
    }
    fn me() -> usize {
        machine::me()
    }
    fn refuse_spawns(n: usize) {
        machine::refuse_spawns(n as u64);
    }
    #[track_caller]
    fn pass(nanos: Nanos) {
        ask(Ask::Update { loc: Loc::CLOCK, init: 0, order: Order::Relaxed, update: Update::Add(nanos) });
    }
}
