//! Tasks that may borrow: the lender waits until none of them is left. std: `thread::scope`.
//!
//! What a task runs is its content, which borrows; the task itself borrows nothing, and may be kept anywhere. The content
//! is taken out by the thread that runs it, and put back; or thrown away by a lender that ends the scope early.
//!
//! **Once the wait is over, the content of each task was dropped, and all that it did is seen. A content is dropped once,
//! by one thread, and never while another runs it.**
//!
//! | the lender | the thread that runs a task |
//! |-----------|-----------------|
//! | counts one more, before the task is queued | takes the content out, under the task's lock; runs it |
//! | under one lock: sees a count, enqueues its waiter; sleeps | ready: drops the content; counts down; at zero wakes the lender |
//! | to end early: says so under the list's lock; then task by task, under its lock: takes the content, or, if it is out, says that it is unwanted | not ready: under the task's lock puts the content back, or sees that it is unwanted, and drops it |
//!
//! Checked by: verification/rooms/src/rooms/scope.rs

use crate::host::{Host, Lock};
use crate::waits::wait_group::{Wait, WaitGroup};
use crate::waits::waker::Waker;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::task::Poll;
use slab::Slab;

/// The tasks of a scope that are left.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::scope::Scope;
/// let (scope, mut lender) = (Scope::<Os, Task, u8>::new(), Task::default());
/// let (task, other) = (scope.begin(2), scope.begin(9));
/// let mut wait = scope.wait();
/// assert!(wait.poll(&mut lender).is_pending());
/// while task.run(|left| { *left -= 1; if *left == 0 { Poll::Ready(()) } else { Poll::Pending } }).is_pending() {}
/// scope.end(); // drops the other's content
/// assert!(other.run(|_| panic!("it was ended")).is_ready());
/// assert_eq!((lender.wakes(), wait.poll(&mut lender)), (1, Poll::Ready(())));
/// scope.begin(1).run(|_| panic!("it was ended")); // it comes too late
/// # }
/// ```
pub struct Scope<H: Host, W: Waker + Send + 'static, C: Send + 'static> {
    /// How many contents are not dropped yet.
    group: WaitGroup<H, W>,
    list: H::Lock<List<H, W, C>>,
}

/// What a scope is under its lock.
struct List<H: Host, W: Waker + Send + 'static, C: Send + 'static> {
    tasks: Slab<Arc<Task<H, W, C>>>,
    /// Those that come from now on are ended at once.
    is_closed: bool,
}

/// Where a content is.
enum Place<C> {
    /// Here.
    There(C),
    /// A thread runs it, and puts it back.
    Out,
    /// A thread runs it, and drops it after that.
    Unwanted,
    /// It was dropped, or is being dropped.
    Gone,
}

/// A task of a scope: what the scheduler has of it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::scope::Scope;
/// let scope = Scope::<Os, Task, u8>::new();
/// let task = scope.begin(1);
/// assert!(task.run(|_| Poll::Pending).is_pending());
/// task.end(); // drops its content
/// assert!(scope.wait().poll(&mut Task::default()).is_ready());
/// # }
/// ```
pub struct Task<H: Host, W: Waker + Send + 'static, C: Send + 'static> {
    scope: Arc<Scope<H, W, C>>,
    number: usize,
    place: H::Lock<Place<C>>,
}

impl<H: Host, W: Waker + Send + 'static, C: Send + 'static> Scope<H, W, C> {
    /// No task.
    pub fn new() -> Arc<Self> {
        let list = List { tasks: Slab::new(), is_closed: false };
        Arc::new(Scope { group: WaitGroup::new(), list: H::Lock::new(list) })
    }

    /// The count.
    pub fn group(&self) -> &WaitGroup<H, W> {
        &self.group
    }

    /// One more, that is counted. By the lender, or by a task of this scope, while it runs.
    pub fn begin(self: &Arc<Self>, content: C) -> Arc<Task<H, W, C>> {
        let is_counted = self.group.add(1);
        assert!(is_counted, "scope: more tasks than can be counted");
        let (task, is_closed) = self.list(content);
        if is_closed {
            task.end();
        }
        task
    }

    /// Lists one that is counted. Is the scope ended already?
    fn list(self: &Arc<Self>, content: C) -> (Arc<Task<H, W, C>>, bool) {
        self.list.with(|list| {
            let place = list.tasks.vacant_entry();
            let (number, scope) = (place.key(), Arc::clone(self));
            let task = Arc::new(Task { scope, number, place: H::Lock::new(Place::There(content)) });
            place.insert(Arc::clone(&task));
            (task, list.is_closed)
        })
    }

    /// Waits until no content is left.
    pub fn wait(&self) -> Wait<'_, H, W> {
        self.group.wait()
    }

    /// Ends all tasks: those that do not run now, here; the others when they next wait.
    pub fn end(&self) {
        let tasks: Vec<_> = self.list.with(|list| {
            list.is_closed = true;
            list.tasks.iter().map(|(_, task)| Arc::clone(task)).collect()
        });
        tasks.iter().for_each(|task| task.end());
    }
}

impl<H: Host, W: Waker + Send + 'static, C: Send + 'static> Task<H, W, C> {
    /// Runs it, by one thread at a time. Ready: its content is gone.
    pub fn run(&self, run: impl FnOnce(&mut C) -> Poll<()>) -> Poll<()> {
        let Some(content) = self.place.with(Place::take_out) else { return Poll::Ready(()) };
        let mut held = Held { task: self, content: Some(content) };
        let polled = held.content.as_mut().map_or(Poll::Ready(()), run);
        match polled.is_pending() && held.put_back() {
            true => Poll::Pending,
            // What is held is dropped.
            false => Poll::Ready(()),
        }
    }

    /// It is run no more: its content is dropped, here, or by the thread that runs it now.
    pub fn end(&self) {
        if let Some(content) = self.place.with(Place::take_away) {
            self.is_over(content);
        }
    }

    /// The content was taken for the last time.
    fn is_over(&self, content: C) {
        // First: what it borrowed may be gone as soon as it is counted.
        drop(content);
        let listed = self.scope.list.with(|list| list.tasks.try_remove(self.number));
        debug_assert!(listed.is_some(), "scope: a task was ended twice");
        let was_counted = self.scope.group.done();
        debug_assert!(was_counted, "scope: a task was not counted");
    }
}

impl<C> Place<C> {
    /// By the thread that runs it.
    fn take_out(&mut self) -> Option<C> {
        match core::mem::replace(self, Place::Gone) {
            Place::There(content) => {
                *self = Place::Out;
                Some(content)
            }
            other => {
                *self = other;
                None
            }
        }
    }

    /// By the thread that has run it. `Some`: it is unwanted, and is to be dropped as soon as the lock is free.
    fn put_back(&mut self, content: C) -> Option<C> {
        match self {
            Place::Unwanted => {
                *self = Place::Gone;
                Some(content)
            }
            _ => {
                *self = Place::There(content);
                None
            }
        }
    }

    /// By the lender that ends it. `Some`: it is to be dropped as soon as the lock is free.
    fn take_away(&mut self) -> Option<C> {
        match core::mem::replace(self, Place::Gone) {
            Place::There(content) => Some(content),
            Place::Out | Place::Unwanted => {
                *self = Place::Unwanted;
                None
            }
            Place::Gone => None,
        }
    }
}

/// A content that is run. Dropped, also by a panic, it is over.
struct Held<'a, H: Host, W: Waker + Send + 'static, C: Send + 'static> {
    task: &'a Task<H, W, C>,
    content: Option<C>,
}

impl<H: Host, W: Waker + Send + 'static, C: Send + 'static> Held<'_, H, W, C> {
    /// `false`: it is unwanted.
    fn put_back(&mut self) -> bool {
        let back = |content| self.task.place.with(|place| place.put_back(content));
        self.content = self.content.take().and_then(back);
        self.content.is_none()
    }
}

impl<H: Host, W: Waker + Send + 'static, C: Send + 'static> Drop for Held<'_, H, W, C> {
    fn drop(&mut self) {
        if let Some(content) = self.content.take() {
            self.task.place.with(|place| *place = Place::Gone);
            self.task.is_over(content);
        }
    }
}
