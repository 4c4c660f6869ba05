//! One task's word, and the steps that it can take.
//!
//! | bit      | says | set by | cleared by |
//! |----------|------|--------|------------|
//! | ACTIVE   | a queue or a thread has the right to the future | wake, abort, close | wait, completion |
//! | NOTIFIED | woken while active | wake | the next start |
//! | CLOSED   | the future is to be dropped, not polled | abort, close | - |
//! | ABORTED  | by [`abort`](super::abort) | abort | - |
//! | COMPLETE | there is no future any more | completion | - |
//! | EMPTY    | nor an output: it never came to its end | completion | - |
//! | HANDLE   | there is a handle | - | the handle's drop |
//! | JOINER   | the slot has the handle's waker | the handle | the handle, completion |
//! | RENEWED  | the slot was written more than once | the handle | - |
//! | the rest | how many wakers there are | clone | drop, wake |

use crate::atomic::Atomic;
use crate::host::Host;
use core::fmt;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const ACTIVE: u64 = 1;
pub(super) const NOTIFIED: u64 = 1 << 1;
const CLOSED: u64 = 1 << 2;
const ABORTED: u64 = 1 << 3;
const COMPLETE: u64 = 1 << 4;
const EMPTY: u64 = 1 << 5;
const HANDLE: u64 = 1 << 6;
const JOINER: u64 = 1 << 7;
const RENEWED: u64 = 1 << 8;
const WAKER: u64 = 1 << 9;

/// The right to a task's future: to poll it, to drop it. There is one at a time.
#[must_use = "a task whose right is lost is never run again"]
pub struct Active(());

/// The right to a task's output, and until it is complete to store a waker.
#[must_use = "a handle that is lost keeps its task's memory"]
pub struct Handle(());

impl Active {
    /// The right that its owner kept as something else: a runtime keeps it as a pointer in a queue. Hidden, because it makes a
    /// right out of nothing where none was kept.
    #[doc(hidden)]
    pub fn assume() -> Active {
        Active(())
    }
}

/// What stood in a word at some moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct View(u64);

impl View {
    pub(super) const fn has(self, bits: u64) -> bool {
        self.0 & bits != 0
    }

    /// The future is gone.
    pub const fn is_complete(self) -> bool {
        self.has(COMPLETE)
    }

    /// Complete, and without an output.
    pub const fn is_empty(self) -> bool {
        self.has(EMPTY)
    }

    /// It was aborted.
    pub const fn is_aborted(self) -> bool {
        self.has(ABORTED)
    }

    /// There is a handle.
    pub const fn has_handle(self) -> bool {
        self.has(HANDLE)
    }

    /// The slot has a waker.
    pub const fn has_joiner(self) -> bool {
        self.has(JOINER)
    }

    /// Nothing refers to the task: no right, no handle, no waker.
    pub const fn is_unreferenced(self) -> bool {
        self.0 & (ACTIVE | HANDLE) == 0 && self.0 < WAKER
    }

    /// Nothing refers to it but the caller's right.
    const fn is_unreferenced_but_for(self, right: u64) -> bool {
        View(self.0 & !right).is_unreferenced()
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (ACTIVE, "active"),
            (NOTIFIED, "notified"),
            (CLOSED, "closed"),
            (ABORTED, "aborted"),
            (COMPLETE, "complete"),
            (EMPTY, "empty"),
            (HANDLE, "handle"),
            (JOINER, "joiner"),
            (RENEWED, "renewed"),
        ];
        let names = names.into_iter().filter(|&(bit, _)| self.has(bit));
        names
            .fold(&mut f.debug_struct("View"), |f, (_, name)| f.field(name, &true))
            .field("wakers", &(self.0 / WAKER))
            .finish()
    }
}

/// What became of a try to close a task.
pub(super) enum Closing {
    /// It is complete.
    Complete,
    /// The caller has its right, and drops the future.
    Mine(Active),
    /// A thread has the right, and puts it back.
    Busy,
}

/// What a task does that was polled and is not ready.
pub(super) enum Waiting {
    /// It waits: its waker gets the right.
    Idle,
    /// It was woken meanwhile.
    Woken(Active),
    /// It is never polled again: it was closed; or it was not woken, and nothing is left that could wake it.
    Over(Active),
}

/// A task's word.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::task::TaskWord;
/// let (word, _active, _handle) = TaskWord::<Os>::new(); // with both rights
/// word.clone_waker();
/// let view = word.view();
/// assert!(view.has_handle() && !view.is_complete() && !view.is_unreferenced());
/// # }
/// ```
pub struct TaskWord<H: Host>(Atomic<H, u64>);

impl<H: Host> TaskWord<H> {
    /// Of a new task, which can be run, and has a handle.
    pub fn new() -> (Self, Active, Handle) {
        (TaskWord(Atomic::new(ACTIVE | HANDLE)), Active(()), Handle(()))
    }

    /// What stands in it. Acquires what the thread did that completed the task.
    #[inline]
    pub fn view(&self) -> View {
        // Acquire: (output) with `complete`; a thread that sees COMPLETE reads the output. (last) with those that let go of the task
        // before: the one that finds nothing left frees the memory that they used.
        View(self.0.load(Acquire))
    }

    /// Wakes the task. `Some`: the caller has the right to its future, and makes it run. If it `consumes` its waker, that
    /// is gone; the view is of what is left.
    #[inline]
    pub(super) fn wake(&self, consumes: bool) -> (Option<Active>, View) {
        let gone = if consumes { WAKER } else { 0 };
        // Relaxed: the exchange decides.
        let mut word = self.0.load(Relaxed);
        loop {
            let new = match View(word) {
                view if view.is_complete() && !consumes => return (None, view),
                view if view.is_complete() => word,
                // Also if it is notified already: the next poll must see what this caller wrote.
                view if view.has(ACTIVE) => word | NOTIFIED,
                _ => word | ACTIVE,
            } - gone;
            // AcqRel: Release (wake) with `start`, `wait` and the next `wake`: the poll sees what the waker wrote.
            // Acquire: (future) with `wait`: the thread that gets the right sees the future as it was left. (last) with the other
            // wakers' drops. Relaxed: it is tried again.
            match self.0.compare_exchange(word, new, AcqRel, Relaxed) {
                Ok(_) if View(word).has(ACTIVE | COMPLETE) => return (None, View(new)),
                Ok(_) => return (Some(Active(())), View(new)),
                Err(found) => word = found,
            }
        }
    }

    /// The task is about to be polled. `false`: it is closed.
    #[inline]
    pub(super) fn start(&self, _: &Active) -> bool {
        // Relaxed: what the right brought along is seen; a wake that is not is found by `wait`.
        let view = View(self.0.load(Relaxed));
        if view.has(NOTIFIED) {
            // Acquire: (wake) with `wake`. What is written before a wake is seen by the poll that it is to be seen by.
            self.0.fetch_sub(NOTIFIED, Acquire);
        }
        !view.has(CLOSED)
    }

    /// The task was polled, and is not ready.
    #[inline]
    pub(super) fn wait(&self, active: Active) -> Waiting {
        // Relaxed: the exchange decides.
        let mut word = self.0.load(Relaxed);
        loop {
            match View(word) {
                view if view.has(CLOSED) => return Waiting::Over(active),
                // Before its references are counted: the wake may have used up the last one, and is owed a poll all the same.
                view if view.has(NOTIFIED) => return Waiting::Woken(active),
                view if view.is_only_active() => return Waiting::Over(active),
                _ => (),
            }
            // Release: (future) with `wake`, `close`, `abort`: the next to have the right sees the future as we left it.
            match self.0.compare_exchange(word, word & !ACTIVE, Release, Relaxed) {
                Ok(_) => return Waiting::Idle,
                Err(found) => word = found,
            }
        }
    }

    /// The caller has got the right, and nowhere to run the task: it waits on. There is another reference to it: the thread that ends
    /// the runtime has a waker until the task is complete.
    pub(super) fn put_back(&self, _: Active) {
        // Relaxed: the exchange decides.
        let mut word = self.0.load(Relaxed);
        loop {
            let new = word & !(ACTIVE | NOTIFIED);
            debug_assert!(!View(new).is_unreferenced(), "task: nobody is left to close {:?}", View(new));
            // Release: (last) the freeing of the memory comes after all that the caller did with it. (future) is carried on: `wait`
            // released it, and a reader of this exchange acquires that too.
            match self.0.compare_exchange(word, new, Release, Relaxed) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
    }

    /// It shall end: the caller gets the right, and drops the future.
    pub(super) fn close(&self) -> Closing {
        // Relaxed: the exchange decides.
        let mut word = self.0.load(Relaxed);
        loop {
            match View(word) {
                view if view.is_complete() => return Closing::Complete,
                view if view.has(ACTIVE) => return Closing::Busy,
                _ => (),
            }
            // Acquire: (future) with `wait` and `put_back`.
            match self.0.compare_exchange(word, word | ACTIVE | CLOSED, Acquire, Relaxed) {
                Ok(_) => return Closing::Mine(Active(())),
                Err(found) => word = found,
            }
        }
    }

    /// It is to end, and its handle wants to know that it was aborted. `Some`: the caller makes it run to its end.
    pub(super) fn abort(&self) -> Option<Active> {
        // Relaxed: the exchange decides.
        let mut word = self.0.load(Relaxed);
        loop {
            if View(word).has(COMPLETE | CLOSED) {
                return None;
            }
            // Acquire: (future) with `wait`.
            match self.0.compare_exchange(word, word | ACTIVE | CLOSED | ABORTED, Acquire, Relaxed) {
                Ok(_) if View(word).has(ACTIVE) => return None,
                Ok(_) => return Some(Active(())),
                Err(found) => word = found,
            }
        }
    }

    /// Nothing refers to a task that waits: the caller drops its future.
    pub(super) fn revive(&self) -> Active {
        // Relaxed: no other thread knows the task.
        self.0.store(ACTIVE | CLOSED, Relaxed);
        Active(())
    }

    /// Ends the task, if its word is still `view`. The caller then wakes its joiner, and must not touch the
    /// task again, unless it is [`late`](View::is_late): then the slot is read first, and [`leave`](TaskWord::leave) called.
    ///
    /// # Errors
    /// What stood there instead.
    #[inline]
    pub(super) fn complete(&self, view: View, has_output: bool) -> Result<(), View> {
        let gone = if view.is_late() { NOTIFIED } else { ACTIVE | NOTIFIED | JOINER };
        let new = view.0 & !gone | COMPLETE | if has_output { 0 } else { EMPTY };
        // AcqRel: Release (output) with `view`: the handle reads the output. (last) the freeing of the memory comes after all
        // that we did. Acquire (joiner), also of a failure, with `offer`: the slot is read, before the next try or, late, after
        // this one.
        match self.0.compare_exchange(view.0, new, AcqRel, Acquire) {
            Ok(_) => Ok(()),
            Err(found) => Err(View(found)),
        }
    }

    /// Gives the right up that was kept to read the slot. What is left then.
    pub(super) fn leave(&self) -> View {
        // AcqRel: (last) as in `complete`.
        View(self.0.fetch_sub(ACTIVE | JOINER, AcqRel) - (ACTIVE | JOINER))
    }

    /// The slot has a waker. The word was `view` not long ago, and not complete.
    ///
    /// # Errors
    /// The task is complete; the slot is the handle's.
    pub(super) fn offer(&self, _: &Handle, view: View) -> Result<(), View> {
        let mut word = view.0;
        loop {
            // Release: (joiner) with `complete`, and `view` before it: the slot is read. Acquire, of a failure (output) with
            // `complete`.
            match self.0.compare_exchange(word, word | JOINER, Release, Acquire) {
                Ok(_) => return Ok(()),
                Err(found) if View(found).is_complete() => return Err(View(found)),
                Err(found) => word = found,
            }
        }
    }

    /// The slot is the handle's again. The word was `view` not long ago, and not complete. What it is then.
    ///
    /// # Errors
    /// The task is complete; the slot is not the handle's.
    pub(super) fn withdraw(&self, _: &Handle, view: View) -> Result<View, View> {
        let mut word = view.0;
        loop {
            let new = word & !JOINER | RENEWED;
            // Relaxed: nothing follows that others must see in this order. Acquire, of a failure (output) with `complete`.
            match self.0.compare_exchange(word, new, Relaxed, Acquire) {
                Ok(_) => return Ok(View(new)),
                Err(found) if View(found).is_complete() => return Err(View(found)),
                Err(found) => word = found,
            }
        }
    }

    /// There is no handle any more, if the word is still `view`; nor a joiner. What is left then.
    ///
    /// # Errors
    /// What stood there instead.
    pub(super) fn detach(&self, view: View) -> Result<View, View> {
        // After completion the joiner is not the handle's.
        let gone = if view.is_complete() { HANDLE } else { HANDLE | JOINER };
        let new = view.0 & !gone;
        // Release: (last) the freeing of the memory comes after all that the handle did. Acquire, of a failure (output) with
        // `complete`. If only the handle is left, no thread has changed the word since `view`, which acquired it.
        match self.0.compare_exchange(view.0, new, Release, Acquire) {
            Ok(_) => Ok(View(new)),
            Err(found) => Err(View(found)),
        }
    }

    /// One waker more.
    #[inline]
    pub fn clone_waker(&self) {
        // Relaxed: the caller has a waker, or the right, and keeps it.
        self.0.fetch_add(WAKER, Relaxed);
    }

    /// One waker less. What is left then.
    #[inline]
    pub(super) fn drop_waker(&self) -> View {
        // AcqRel: (last) the freeing of the memory comes after all that the others did with it.
        View(self.0.fetch_sub(WAKER, AcqRel) - WAKER)
    }
}

impl View {
    /// Is the slot to be read after completion only? It was written more than once: a word that looks the same may stand
    /// for another waker.
    pub(super) const fn is_late(self) -> bool {
        self.has(JOINER) && self.has(RENEWED)
    }

    /// May the memory go at once? Only the handle refers to it.
    pub(super) const fn is_only_handle(self) -> bool {
        self.is_unreferenced_but_for(HANDLE)
    }

    /// May the memory go at once? Only the right to the future refers to it.
    pub(super) const fn is_only_active(self) -> bool {
        self.is_unreferenced_but_for(ACTIVE)
    }
}
