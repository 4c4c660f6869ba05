//! Every execution under sequential consistency, up to the order of steps that commute: a scheduler for shuttle.
//!
//! Depth-first, with sleep sets (Godefroid 1996): when one order of two neighbouring steps has been explored and the
//! steps commute, the other order is not. Each thread says what its next step touches before it lets the scheduler
//! choose ([`Announced`]); a step that was not announced commutes with nothing, which is always safe. Choices
//! (`Host::choose`) are enumerated like threads. What remains to be trusted is that an announced step touches only what
//! it says, and that a model is deterministic; the second is checked on every replay of a prefix.

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What a step touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Nothing that is shared: the first step of a thread.
    Nothing,
    /// Reads this object.
    Read(u32),
    /// Writes this object, or may.
    Write(u32),
    /// Not known: it commutes with nothing.
    Anything,
}

impl Touch {
    fn commutes_with(self, other: Touch) -> bool {
        match (self, other) {
            (Touch::Nothing, _) | (_, Touch::Nothing) => true,
            (Touch::Anything, _) | (_, Touch::Anything) => false,
            (Touch::Read(_), Touch::Read(_)) => true,
            (Touch::Read(a) | Touch::Write(a), Touch::Read(b) | Touch::Write(b)) => a != b,
        }
    }
}

thread_local! {
    /// What the next step of each thread touches, as far as it has said.
    static NEXT: RefCell<Vec<Touch>> = const { RefCell::new(Vec::new()) };
    static OBJECTS: Cell<u32> = const { Cell::new(0) };
    static CHOICES: Cell<usize> = const { Cell::new(0) };
}

/// For as long as it lives, the calling thread's next step is known.
pub struct Announced(());

impl Announced {
    /// The calling thread is about to touch this, and nothing else, when it is scheduled next.
    pub fn new(touch: Touch) -> Announced {
        Self::set(touch);
        Announced(())
    }

    /// A number for a new object. The same in each execution that begins alike.
    pub fn new_object() -> u32 {
        let id = OBJECTS.get();
        OBJECTS.set(id + 1);
        id
    }

    /// The value drawn next is one of `n`.
    pub fn choices(n: usize) {
        CHOICES.set(n);
    }

    fn set(touch: Touch) {
        let me = usize::from(shuttle::current::me());
        NEXT.with_borrow_mut(|next| {
            if next.len() <= me {
                next.resize(me + 1, Touch::Nothing);
            }
            next[me] = touch;
        });
    }

    /// A new execution begins.
    pub(crate) fn reset() {
        NEXT.with_borrow_mut(Vec::clear);
        OBJECTS.set(0);
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // A panicking execution is over; it is not read, and shuttle may have no current task.
        if !std::thread::panicking() {
            Self::set(Touch::Anything);
        }
    }
}

/// How an exploration went.
#[derive(Debug, Default, Clone)]
pub struct Explored {
    /// Executions that differ in more than the order of steps that commute.
    pub executions: u64,
    /// Executions that turned out to be explored already, seen only at their end.
    pub redundant: u64,
    /// Was everything explored?
    pub complete: bool,
    /// Could ever more threads than one go on?
    pub races: bool,
}

enum Decision {
    /// A thread was chosen.
    Thread { chosen: usize, touch: Touch, left: Vec<(usize, Touch)>, asleep: Vec<(usize, Touch)> },
    /// A value was chosen.
    Value { chosen: usize, of: usize },
}

/// The scheduler.
pub struct Exhaustive {
    path: Vec<Decision>,
    depth: usize,
    started: bool,
    /// Below the path everything has been explored: run to the end by any rule, and keep no record.
    redundant: bool,
    /// How many spurious returns from `park` an execution may have.
    spurious: usize,
    spurious_left: usize,
    /// May steps commute? If not, every order of every two steps is explored.
    reduces: bool,
    keep_going: Box<dyn FnMut(&Explored) -> bool>,
    seen: Rc<RefCell<Explored>>,
}

impl Exhaustive {
    /// Explores while `keep_going` says so, asked before each execution. Each execution may have `spurious` wake-ups.
    pub fn new(spurious: usize, keep_going: impl FnMut(&Explored) -> bool + 'static) -> (Self, Rc<RefCell<Explored>>) {
        let seen = Rc::new(RefCell::new(Explored::default()));
        let scheduler = Exhaustive {
            path: Vec::new(),
            depth: 0,
            started: false,
            redundant: false,
            spurious,
            spurious_left: spurious,
            reduces: true,
            keep_going: Box::new(keep_going),
            seen: Rc::clone(&seen),
        };
        (scheduler, seen)
    }

    /// Explores every order of every two steps, whether they commute or not: to check the reduction against.
    #[must_use]
    pub fn without_reduction(mut self) -> Self {
        self.reduces = false;
        self
    }

    /// Goes back to the last decision that has another way out. `false`: there is none.
    fn backtrack(&mut self) -> bool {
        while let Some(last) = self.path.last_mut() {
            match last {
                Decision::Value { chosen, of } => {
                    *chosen += 1;
                    if chosen < of {
                        return true;
                    }
                }
                Decision::Thread { chosen, touch, left, asleep } => {
                    asleep.push((*chosen, *touch));
                    if let Some((next, touches)) = left.pop() {
                        (*chosen, *touch) = (next, touches);
                        return true;
                    }
                }
            }
            self.path.pop();
        }
        false
    }

    /// What sleeps after the last thread decision: what slept before it, or was explored there, and commutes with it.
    fn asleep(&self) -> Vec<(usize, Touch)> {
        let last = self.path.iter().rev().find_map(|decision| match decision {
            Decision::Thread { chosen, touch, asleep, .. } => Some((*chosen, *touch, asleep)),
            Decision::Value { .. } => None,
        });
        let Some((chosen, touch, asleep)) = last.filter(|_| self.reduces) else { return Vec::new() };
        asleep.iter().filter(|(who, what)| *who != chosen && what.commutes_with(touch)).copied().collect()
    }

    fn runnable(&self, tasks: &[&Task]) -> Vec<(usize, Touch)> {
        NEXT.with_borrow(|next| {
            let awake = |task: &&&Task| !task.blocked() || self.spurious_left > 0;
            let tasks = tasks.iter().filter(awake).map(|task| usize::from(task.id()));
            tasks.map(|id| (id, next.get(id).copied().unwrap_or(Touch::Nothing))).collect()
        })
    }

    fn decide(&mut self, tasks: &[&Task]) -> usize {
        let mut left = self.runnable(tasks);
        if let Some(Decision::Thread { chosen, touch, .. }) = self.path.get(self.depth) {
            assert!(left.contains(&(*chosen, *touch)), "sc: the model is not deterministic");
            self.depth += 1;
            return *chosen;
        }
        self.seen.borrow_mut().races |= left.len() > 1;
        let asleep = self.asleep();
        left.retain(|step| !asleep.contains(step));
        // The thread with the smallest number goes first.
        left.reverse();
        match left.pop() {
            Some((chosen, touch)) => {
                self.path.push(Decision::Thread { chosen, touch, left, asleep });
                self.depth += 1;
                chosen
            }
            None => {
                self.redundant = true;
                usize::from(tasks[0].id())
            }
        }
    }
}

impl Scheduler for Exhaustive {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.started {
            let mut seen = self.seen.borrow_mut();
            match self.redundant {
                true => seen.redundant += 1,
                false => seen.executions += 1,
            }
            drop(seen);
            if !self.backtrack() {
                self.seen.borrow_mut().complete = true;
                return None;
            }
        }
        if !(self.keep_going)(&self.seen.borrow()) {
            return None;
        }
        self.started = true;
        self.redundant = false;
        self.depth = 0;
        self.spurious_left = self.spurious;
        Announced::reset();
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], _current: Option<TaskId>, _is_yielding: bool) -> Option<TaskId> {
        let chosen = if self.redundant {
            // Any rule that ends: the first that is not merely waiting to be woken.
            usize::from(tasks.iter().find(|task| !task.blocked()).unwrap_or(&tasks[0]).id())
        } else {
            self.decide(tasks)
        };
        if tasks.iter().any(|task| usize::from(task.id()) == chosen && task.blocked()) {
            self.spurious_left = self.spurious_left.saturating_sub(1);
        }
        Some(TaskId::from(chosen))
    }

    fn next_u64(&mut self) -> u64 {
        if self.redundant {
            return 0;
        }
        if let Some(Decision::Value { chosen, .. }) = self.path.get(self.depth) {
            self.depth += 1;
            return *chosen as u64;
        }
        self.path.push(Decision::Value { chosen: 0, of: CHOICES.get() });
        self.depth += 1;
        0
    }
}
