//! A runtime of one M and one queue, and its tasks, of [`kernel::task`]: it is shut down as the real one is.

use super::{Did, How};
use crate::host::RoomHost;
use crate::plain::{Done, Plain, of};
use crate::values::{Maker, Value};
use kernel::host::{Lock, Parker};
use kernel::task::{self, Active, JoinerSlot, Memory, Mode, TaskWord, WakerWords};
use kernel::waits::owned_tasks::{Key, Owned, OwnedTasks};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, Weak};
use std::task::Poll;

/// The runtime.
pub(super) struct Tiny<H: RoomHost> {
    /// The tasks that have waited.
    owned: OwnedTasks<H, Waker<H>>,
    queue: H::Lock<Queue<H>>,
    m: H::Parker,
    closer: H::Parker,
    /// What each thread did in its call.
    did: Mutex<BTreeMap<usize, Vec<Did>>>,
    /// The threads that are about to put a task back.
    refused: Mutex<BTreeSet<usize>>,
}

struct Queue<H: RoomHost> {
    tasks: VecDeque<Queued<H>>,
    is_closed: bool,
    has_an_m: bool,
}

/// What an M finds.
enum Found<H: RoomHost> {
    Task(Queued<H>),
    Nothing,
    Closed,
}

impl<H: RoomHost> Tiny<H> {
    /// Without tasks; its list has so many rows.
    pub(super) fn new(rows: usize, has_an_m: bool) -> Arc<Self> {
        Arc::new(Tiny {
            owned: OwnedTasks::new(rows),
            queue: H::Lock::new(Queue { tasks: VecDeque::new(), is_closed: false, has_an_m }),
            m: H::Parker::new(),
            closer: H::Parker::new(),
            did: Mutex::default(),
            refused: Mutex::default(),
        })
    }

    fn did(&self, did: Did) {
        assert!(!H::holds_a_lock(), "user code runs while a lock is held");
        of(&self.did).entry(H::me()).or_default().push(did);
    }

    /// What the calling thread did since this was asked last.
    pub(super) fn take_did(&self) -> Vec<Did> {
        of(&self.did).remove(&H::me()).unwrap_or_default()
    }

    /// Makes this task run, if anything does.
    ///
    /// # Errors
    /// It comes back.
    pub(super) fn submit(&self, queued: Queued<H>) -> Result<(), Queued<H>> {
        let submitted = self.queue.with(|queue| {
            if queue.is_closed {
                return Err(queued);
            }
            queue.tasks.push_back(queued);
            Ok(())
        });
        match submitted.is_ok() {
            true => self.m.unpark(),
            false => _ = of(&self.refused).insert(H::me()),
        }
        submitted
    }

    /// The life of the M.
    pub(super) fn run_m(&self) {
        let next = |queue: &mut Queue<H>| match queue.is_closed {
            true => {
                queue.has_an_m = false;
                Found::Closed
            }
            false => queue.tasks.pop_front().map_or(Found::Nothing, Found::Task),
        };
        loop {
            match self.queue.with(next) {
                Found::Task(queued) => queued.run(),
                Found::Nothing => self.m.park(),
                Found::Closed => return self.closer.unpark(),
            }
        }
    }

    /// Shuts it down: waits for the M, and ends the tasks. Those that never ran.
    pub(super) fn close(&self) -> Vec<Queued<H>> {
        self.queue.with(|queue| queue.is_closed = true);
        self.m.unpark();
        while self.queue.with(|queue| queue.has_an_m) {
            self.closer.park();
        }
        let left = self.queue.with(|queue| std::mem::take(&mut queue.tasks));
        let unstarted = self.owned.end_started(left, |queued| queued.task().address());
        // The thread that puts a task back says when it has.
        self.owned.close_all(|| self.closer.park());
        unstarted
    }

    /// The calling thread has put back the task that it had woken, if it was refused.
    pub(super) fn is_done(&self) {
        if of(&self.refused).remove(&H::me()) {
            self.closer.unpark();
        }
    }
}

/// A task that ends when it was woken so often.
pub(super) struct Task<H: RoomHost>(Arc<Inside<H>>);

/// Its memory.
pub(super) struct Inside<H: RoomHost> {
    number: u64,
    wakes_wanted: usize,
    word: TaskWord<H>,
    slot: JoinerSlot<H>,
    /// Gone, once nothing is played any more.
    runtime: Weak<Tiny<H>>,
    memory: Plain<H, Option<Value<H>>>,
    /// The future, and where it is listed.
    future: Plain<H, (Option<Value<H>>, Option<Key>)>,
    wakes: Mutex<Vec<(u64, Done<H>)>>,
}

/// The right to run a task. Dropped, it ends the task.
pub(super) struct Queued<H: RoomHost>(Option<(Task<H>, Active)>);

/// A waker of a task, in the list.
pub(super) struct Waker<H: RoomHost>(Task<H>);

impl<H: RoomHost> Queued<H> {
    fn task(&self) -> &Task<H> {
        &self.0.as_ref().expect("it has its task").0
    }

    /// Runs the task.
    pub(super) fn run(mut self) {
        let (task, active) = self.0.take().expect("it has its task");
        task::run(&task, active);
    }

    /// The task is given back, and stays as it is. Its number.
    pub(super) fn keep(mut self) -> u64 {
        let (task, _active) = self.0.take().expect("it has its task");
        task.number
    }
}

impl<H: RoomHost> Drop for Queued<H> {
    fn drop(&mut self) {
        if let Some((task, active)) = self.0.take().filter(|(task, _)| task.is_played()) {
            task::cancel(&task, active);
        }
    }
}

impl<H: RoomHost> Owned for Waker<H> {
    fn address(&self) -> usize {
        self.0.address()
    }
    fn close(&self) -> bool {
        task::close(&self.0)
    }
}

impl<H: RoomHost> Drop for Waker<H> {
    fn drop(&mut self) {
        if self.0.is_played() {
            task::drop_waker(&self.0);
        }
    }
}

impl<H: RoomHost> Clone for Task<H> {
    fn clone(&self) -> Self {
        Task(Arc::clone(&self.0))
    }
}

impl<H: RoomHost> Deref for Task<H> {
    type Target = Inside<H>;
    fn deref(&self) -> &Inside<H> {
        &self.0
    }
}

impl<H: RoomHost> Task<H> {
    /// Task `number`, of which there are so many wakers; its output is not wanted. The right to run it, and itself.
    pub(super) fn new(
        runtime: &Arc<Tiny<H>>,
        number: u64,
        wakes_wanted: usize,
        values: &Maker<H>,
    ) -> (Queued<H>, Self) {
        let (word, active, handle) = TaskWord::new();
        let task = Task(Arc::new(Inside {
            number,
            wakes_wanted,
            word,
            slot: JoinerSlot::new(),
            runtime: Arc::downgrade(runtime),
            memory: Plain::new(Some(values.value())),
            future: Plain::new((Some(values.value()), None)),
            wakes: Mutex::default(),
        }));
        task::drop_handle(&task, handle, false);
        (Queued(Some((task.clone(), active))), task)
    }

    /// One that was not played to its end, or was cut off, does nothing.
    fn is_played(&self) -> bool {
        !std::thread::panicking() && self.0.runtime.strong_count() > 0
    }

    fn runtime(&self) -> Arc<Tiny<H>> {
        self.runtime.upgrade().expect("it is played")
    }

    fn address(&self) -> usize {
        self.number as usize
    }

    /// Clones the waker; the caller holds one already, or the right.
    pub(super) fn clone_waker(&self) {
        self.word().clone_waker();
    }

    /// Wakes it, by a waker that is gone then.
    pub(super) fn wake(&self, number: u64) {
        of(&self.wakes).push((number, Done::now()));
        task::wake(self, Mode::Woken);
    }

    /// Aborts it.
    pub(super) fn abort(&self) {
        task::abort(self);
        task::drop_waker(self);
    }

    /// Drops a waker.
    pub(super) fn drop_waker(&self) {
        task::drop_waker(self);
    }

    /// Its future is gone.
    fn ends(&self, how: How) {
        let runtime = self.runtime();
        runtime.did(Did::Ended(self.number, how));
        let key = self.future.write(|(future, key)| {
            future.take().expect("a task ends twice").take();
            key.take()
        });
        // What was listed is not dropped under the lock.
        drop(key.map(|key| runtime.owned.remove(key, |_| ())));
    }
}

impl<H: RoomHost> Memory for Task<H> {
    type Host = H;

    fn word(&self) -> &TaskWord<H> {
        assert!(self.memory.read(Option::is_some), "a task is used that was freed");
        &self.word
    }
    fn slot(&self) -> &JoinerSlot<H> {
        &self.slot
    }
    fn poll(&self, _: &Active) -> Poll<()> {
        let mut seen: Vec<u64> = of(&self.wakes).iter().filter(|(_, done)| done.is_seen()).map(|(n, _)| *n).collect();
        seen.sort_unstable();
        let is_ready = seen.len() >= self.wakes_wanted;
        let runtime = self.runtime();
        runtime.did(Did::Polled(self.number, seen));
        if is_ready {
            self.ends(How::Output);
            return Poll::Ready(());
        }
        let is_listed = self.future.write(|(future, key)| {
            assert!(future.is_some(), "a future is polled that is gone");
            key.is_some()
        });
        if !is_listed {
            self.clone_waker();
            let listed = runtime.owned.insert(self.address(), Waker(self.clone()));
            self.future.write(|(_, key)| *key = Some(listed));
        }
        Poll::Pending
    }
    fn has_woken_itself(&self) -> bool {
        false
    }
    fn drop_future(&self, _: &Active) {
        self.ends(How::Dropped);
    }
    fn drop_output(&self) {}
    fn schedule(&self, active: Active, _: Mode) -> Result<(), Active> {
        let queued = Queued(Some((self.clone(), active)));
        self.runtime().submit(queued).map_err(|mut queued| queued.0.take().expect("it has its task").1)
    }
    fn wake_joiner(&self, _: WakerWords) {
        unreachable!("it is not awaited");
    }
    fn drop_joiner(&self, _: WakerWords) {
        unreachable!("it is not awaited");
    }
    fn free(&self) {
        self.memory.write(|memory| memory.take().expect("a task is freed twice").take());
    }
}
