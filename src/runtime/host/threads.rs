//! The threads of one runtime, so that its end can wait for theirs.
//!
//! **A thread is in the list from before it begins until it is joined**: by the thread that shuts the runtime down, or by the next that ends
//! before that, so that neither the list nor what the system keeps of such threads grows with a runtime's age. The lock is never
//! held while a thread is started or joined.

use crate::runtime::host::thread_state::thread_state;
use core::cell::Cell;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Which thread, among all that were ever in a list. 0: one that was in none.
type Number = u64;

/// The threads of a runtime that have to be joined.
#[derive(Default)]
pub(in crate::runtime) struct Threads {
    list: Mutex<List>,
    /// One that was being started has been, or cannot be.
    started: Condvar,
}

#[derive(Default)]
struct List {
    /// `None`: it is being started.
    threads: BTreeMap<Number, Option<JoinHandle<()>>>,
    /// Their thread locals are no more: they are at their end, and joining them takes no time.
    ended: Vec<Number>,
}

thread_state! {
    static ME: Cell<Number> = Cell::new(0);
    static LAST: Cell<Option<Last>> = Cell::new(None);
    /// Is the body under way? Thread locals are destroyed after it.
    static RUNS: Cell<bool> = Cell::new(false);
}

/// The calling thread.
fn me() -> Number {
    ME::with(Cell::get).unwrap_or(0)
}

impl Threads {
    /// A thread is about to be started.
    pub(in crate::runtime) fn expect(self: &Arc<Self>) -> Expected {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Relaxed: only that no number comes twice.
        let number = NEXT.fetch_add(1, Relaxed);
        self.lock().threads.insert(number, None);
        Expected { threads: Arc::clone(self), number }
    }

    /// The calling thread is left where it is, for ever: it is not joined.
    pub(in crate::runtime) fn leave_this_one(&self) {
        let me = self.lock().threads.remove(&me());
        drop(me);
    }

    /// Is the calling thread one of them, which are waited for? Perhaps at its end: its thread locals are being destroyed.
    pub(in crate::runtime) fn has_this_one(&self) -> bool {
        self.lock().threads.contains_key(&me())
    }

    /// Is the calling thread one of them, and not at its end?
    pub(in crate::runtime) fn runs_this_one(&self) -> bool {
        RUNS::with(Cell::get) == Some(true) && self.has_this_one()
    }

    /// Waits until all threads have ended but the calling one. Only when none is started any more.
    pub(in crate::runtime) fn join(&self) {
        let is_one_to_come = |list: &mut List| list.threads.values().any(Option::is_none);
        let mut list = self.started.wait_while(self.lock(), is_one_to_come).unwrap_or_else(PoisonError::into_inner);
        let threads = mem::take(&mut list.threads);
        drop(list);
        threads.into_iter().for_each(join);
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    /// One more is at its end. What is left of those before; one whose handle is not there yet stays.
    fn ends(&mut self, number: Number) -> Vec<(Number, Option<JoinHandle<()>>)> {
        let List { threads, ended } = self;
        let has_handle = |number: &mut Number| threads.get(number).is_none_or(Option::is_some);
        let before: Vec<_> = ended.extract_if(.., has_handle).collect();
        ended.push(number);
        before.into_iter().filter_map(|number| threads.remove_entry(&number)).collect()
    }
}

/// Waits for the end of this thread, unless it is the calling one: a thread local's destructor may shut the runtime down.
fn join((number, handle): (Number, Option<JoinHandle<()>>)) {
    let joined = handle.filter(|_| number != me()).map(JoinHandle::join);
    if let Some(Err(payload)) = joined {
        // It was reported when it happened; its destructor could panic in turn.
        mem::forget(payload);
    }
}

/// A place in the list, for a thread that is about to be started. Dropped, it could not be.
pub(in crate::runtime) struct Expected {
    threads: Arc<Threads>,
    number: Number,
}

impl Expected {
    /// What that thread says first.
    pub(in crate::runtime) fn body(&self, body: impl FnOnce() + Send + 'static) -> impl FnOnce() + Send + 'static {
        let last = Last { threads: Arc::clone(&self.threads), number: self.number };
        move || {
            ME::with(|me| me.set(last.number));
            // The first that the thread has: they are destroyed in the reverse order. Where it is another, the joiner waits longer.
            LAST::with(|place| place.set(Some(last)));
            RUNS::with(|runs| runs.set(true));
            body();
            RUNS::with(|runs| runs.set(false));
        }
    }

    /// It has been started.
    pub(in crate::runtime) fn started(self, handle: JoinHandle<()>) {
        // One that was left where it is may be gone from there already.
        if let Some(place) = self.threads.lock().threads.get_mut(&self.number) {
            *place = Some(handle);
        }
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        let mut list = self.threads.lock();
        if let Some(None) = list.threads.get(&self.number) {
            list.threads.remove(&self.number);
        }
        drop(list);
        self.threads.started.notify_all();
    }
}

/// Dropped with the thread's locals.
struct Last {
    threads: Arc<Threads>,
    number: Number,
}

impl Drop for Last {
    fn drop(&mut self) {
        // Those before do nothing any more: this takes no time.
        let before = self.threads.lock().ends(self.number);
        before.into_iter().for_each(join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::{Duration, Instant};

    fn start(threads: &Arc<Threads>, body: impl FnOnce() + Send + 'static) {
        let expected = threads.expect();
        let body = expected.body(body);
        expected.started(thread::spawn(body));
    }

    fn len(threads: &Threads) -> usize {
        threads.lock().threads.len()
    }

    #[test]
    fn are_joined() {
        let threads = Arc::new(Threads::default());
        let count = Arc::new(AtomicU64::new(0));
        for _ in 0..10 {
            let count = Arc::clone(&count);
            start(&threads, move || {
                thread::yield_now();
                count.fetch_add(1, Relaxed);
            });
        }
        threads.join();
        assert_eq!((count.load(Relaxed), len(&threads)), (10, 0));
    }

    #[test]
    fn that_have_ended_are_not_kept() {
        let threads = Arc::new(Threads::default());
        for _ in 0..1000 {
            start(&threads, || ());
        }
        let from = Instant::now();
        while len(&threads) > 1 {
            // What ended before its handle was there is found by the next.
            start(&threads, || ());
            thread::sleep(Duration::from_millis(1));
            assert!(from.elapsed() < Duration::from_secs(10), "{} are kept", len(&threads));
        }
        threads.join();
    }

    #[test]
    fn may_panic() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("for a test");
            }
        }
        let threads = Arc::new(Threads::default());
        start(&threads, || std::panic::resume_unwind(Box::new(Bomb)));
        threads.join();
    }

    #[test]
    fn can_join_the_others() {
        let threads = Arc::new(Threads::default());
        let all = Arc::clone(&threads);
        let (done, is_done) = std::sync::mpsc::channel();
        start(&threads, move || {
            all.join();
            done.send(()).expect("it is awaited");
        });
        is_done.recv().expect("it ends");
    }

    #[test]
    fn that_stay_are_left() {
        let threads = Arc::new(Threads::default());
        let all = Arc::clone(&threads);
        let (tell, told) = std::sync::mpsc::channel();
        start(&threads, move || {
            all.leave_this_one();
            tell.send(()).expect("it is awaited");
            loop {
                thread::park();
            }
        });
        told.recv().expect("it begins");
        threads.join();
    }

    #[test]
    fn that_cannot_be_started_are_not_waited_for() {
        let threads = Arc::new(Threads::default());
        let expected = threads.expect();
        drop(expected.body(|| ()));
        drop(expected);
        threads.join();
    }
}
