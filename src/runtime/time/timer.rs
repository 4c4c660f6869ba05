//! The timers of a runtime: wakers that become due.

use crate::host::{NEVER, Nanos, Parker};
use crate::kernel::protocol::work_source;
use crate::kernel::queues::timers::Key;
use crate::kernel::types::p::PId;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::foreign_threads::MayAct;
use crate::runtime::task_waker::TaskWaker;
use crate::runtime::time::clock::Clock;
use crate::waits::timer_queue::{self, Added, Registers};
use crate::waits::waker;
use core::ops::Deref;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

/// What sleeps, by time.
pub(in crate::runtime) struct TimerQueue {
    /// By which they are due.
    pub(in crate::runtime) clock: Clock,
    timers: timer_queue::TimerQueue<Cores, TaskWaker>,
    scheduler: OnceLock<work_source::Waker>,
    servers: Mutex<Servers>,
    /// One of them has ended, or is wanted.
    changed: Condvar,
}

/// The threads that serve what sleeps after the runtime's end, one after the other.
#[derive(Default)]
struct Servers {
    threads: Vec<JoinHandle<()>>,
    running: usize,
    /// A sleeper came after the end.
    are_wanted: bool,
}

/// Serves, as long as it lives.
struct Serves<'a>(&'a TimerQueue);

impl Drop for Serves<'_> {
    fn drop(&mut self) {
        self.0.servers().running -= 1;
        self.0.changed.notify_all();
    }
}

impl TimerQueue {
    pub(in crate::runtime) fn new(shards: usize) -> Self {
        TimerQueue {
            clock: Clock::new(),
            timers: timer_queue::TimerQueue::new(shards),
            scheduler: OnceLock::new(),
            servers: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub(in crate::runtime) fn open(&self, scheduler: &work_source::Waker) {
        let _ = self.scheduler.set(scheduler.clone());
    }

    /// Wakes `waker` at `when`. `p`: the P that this thread holds.
    pub(in crate::runtime) fn add(self: &Arc<Self>, when: Nanos, waker: TaskWaker, p: Option<PId>) -> Key {
        let (key, added) = self.timers.add(p.map_or(0, |p| p.index()), when, waker);
        match added {
            Added::Closed => {
                self.serve();
                self.servers().are_wanted = true;
                self.changed.notify_all();
            }
            Added::First if p.is_none() => self.announce(self.clock.on_host(when)),
            // It was set to never: perhaps nothing is left to wait for.
            Added::Later if p.is_none() && when == NEVER => self.look_again(),
            Added::First | Added::Later => (),
        }
        key
    }

    /// When the first is due, by the host's time.
    pub(in crate::runtime) fn deadline_on_host(&self) -> Nanos {
        self.clock.on_host(self.timers.deadline())
    }

    /// Time is paused, and nothing goes on but by the next timer.
    pub(in crate::runtime) fn jump(&self) {
        self.clock.jump(self.timers.deadline());
    }

    /// A thread without a P waits from now on until `when`, by the host's time; or for a socket, with [`NEVER`].
    pub(in crate::runtime) fn announce(&self, when: Nanos) {
        if let Some(scheduler) = self.scheduler.get() {
            scheduler.announce(when);
        }
    }

    /// An M looks for work, and then whether there is nothing more to wait for.
    pub(in crate::runtime) fn look_again(&self) {
        if let Some(scheduler) = self.scheduler.get() {
            scheduler.wake();
        }
    }

    pub(in crate::runtime) fn is_expecting(&self) -> bool {
        self.deadline() != NEVER
    }

    /// From now on the runtime's threads may look no more, because it is shut down: what sleeps is served by a thread of its
    /// own. Tasks are dropped, and their timers with them; but a future that another executor runs sleeps on, and so may a
    /// destructor.
    pub(in crate::runtime) fn close(self: &Arc<Self>) {
        if self.timers.close() {
            self.serve();
        }
    }

    /// Sees to it that what sleeps is served, after [`close`](TimerQueue::close).
    fn serve_if_any(self: &Arc<Self>) {
        if !self.timers.is_empty() {
            self.serve();
        }
    }

    /// After the runtime was shut down: a task sleeps.
    #[cold]
    fn serve(self: &Arc<Self>) {
        self.timers.serve(|| {
            let queue = Arc::clone(self);
            // Not `Known`: it wakes by itself.
            let may_act = MayAct::new();
            let body = move || {
                let _may_act = may_act;
                let _serves = Serves(&queue);
                queue.serve_the_first();
            };
            // Held meanwhile, so that no thread has ended unnoticed.
            let mut servers = self.servers();
            let started = thread::Builder::new().name("spinpark-timers".into()).spawn(body);
            let is_started = started.is_ok();
            servers.running += usize::from(is_started);
            servers.threads.retain(|thread| !thread.is_finished());
            servers.threads.extend(started);
            is_started
        });
    }

    fn servers(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At the end of the runtime: if nothing sleeps any more, waits until no thread serves.
    pub(in crate::runtime) fn join(&self) {
        // Before it is asked whether a task sleeps: one that comes later is seen here.
        self.servers().are_wanted = false;
        if !self.timers.is_empty() {
            return;
        }
        let is_served = |servers: &mut Servers| servers.running > 0 && !servers.are_wanted;
        let mut servers = self.changed.wait_while(self.servers(), is_served).unwrap_or_else(PoisonError::into_inner);
        if servers.running > 0 {
            return;
        }
        let ended = mem::take(&mut servers.threads);
        drop(servers);
        // Wakers are guarded: what panicked has been reported.
        ended.into_iter().for_each(|thread| drop(thread.join()));
    }

    /// Until the first is due.
    fn serve_the_first(self: &Arc<Self>) {
        let due = self.timers.wait_for_due(0, |parker, nanos| parker.park_timeout(nanos));
        self.serve_if_any();
        due.into_iter().for_each(TaskWaker::wake);
    }
}

impl Deref for TimerQueue {
    type Target = timer_queue::TimerQueue<Cores, TaskWaker>;

    fn deref(&self) -> &Self::Target {
        &self.timers
    }
}

impl Registers for TimerQueue {
    type Waker = TaskWaker;

    fn remove(&self, key: Key) {
        waker::forget(self.timers.remove(key));
    }

    fn take(&self, key: Key) -> Option<TaskWaker> {
        self.timers.remove(key)
    }

    fn replace(&self, key: Key, waker: TaskWaker) -> Result<(), TaskWaker> {
        self.timers.replace(key, waker).map(|old| waker::forget(Some(old)))
    }
}
