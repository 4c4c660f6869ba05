//! What the operations of a runtime's tasks mean.

use super::{Answer, Did, How, Op, OwnedTasks, Role, Setup, Was, busy, number_of, rows_of};
use crate::room::{CallId, Does, Effects, Spec};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The owner of the right to a task's future.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Right {
    /// It waits.
    Free,
    /// The queue, the M, or the closer.
    Taken,
    /// The thread that has woken it, and looks where it may be run.
    Submits(usize),
    /// There is no future.
    Gone,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Task {
    right: Right,
    is_notified: bool,
    is_aborted: bool,
    wakes_wanted: usize,
    /// The wakes so far.
    wakes: Vec<u64>,
    is_listed: bool,
    /// How many wakers there are besides the one that is listed.
    wakers: usize,
}

/// How far the M is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum M {
    /// There is none, or none any more.
    Absent,
    Looks,
    Has(u64),
    HasPolled(u64),
    Yields(u64),
}

/// How far a thread's call is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Call {
    did: Vec<Did>,
    /// The rows that it has looked at, and the entries there.
    looked: (usize, BTreeSet<u64>),
    /// The closer has ended what was queued.
    has_queue: bool,
}

/// The tasks, what is queued, and the other list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    tasks: BTreeMap<u64, Task>,
    queue: VecDeque<u64>,
    is_closed: bool,
    m: M,
    calls: Vec<Call>,
    rows: Vec<BTreeSet<u64>>,
    own: Vec<Own>,
}

/// The entries of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Own {
    /// Those that it has not removed, and their rows.
    left: VecDeque<(u64, usize)>,
    /// All that it ever listed.
    all: Vec<u64>,
}

impl List {
    fn task(&mut self, number: u64) -> &mut Task {
        self.tasks.get_mut(&number).expect("it is there")
    }

    fn ends(&mut self, me: CallId, number: u64, how: How) {
        self.calls[me.thread].did.push(Did::Ended(number, how));
        let task = self.task(number);
        (task.right, task.is_listed) = (Right::Gone, false);
    }

    /// The M's next step, unless it is at rest, or at its end.
    fn m_goes_on(&mut self, me: CallId) -> bool {
        match self.m {
            M::Looks if self.is_closed => return false,
            M::Looks => {
                let Some(number) = self.queue.pop_front() else { return false };
                self.m = M::Has(number);
            }
            M::Has(number) if self.tasks[&number].is_aborted => {
                self.ends(me, number, How::Dropped);
                self.m = M::Looks;
            }
            M::Has(number) => {
                let task = self.task(number);
                task.is_notified = false;
                let is_ready = task.wakes.len() >= task.wakes_wanted;
                task.is_listed |= !is_ready;
                let mut seen = task.wakes.clone();
                seen.sort_unstable();
                self.calls[me.thread].did.push(Did::Polled(number, seen));
                self.m = M::HasPolled(number);
                if is_ready {
                    self.ends(me, number, How::Output);
                    self.m = M::Looks;
                }
            }
            M::HasPolled(number) => {
                let task = self.task(number);
                match (task.is_aborted, task.is_notified) {
                    (false, true) => {
                        self.m = M::Yields(number);
                        return true;
                    }
                    (true, _) => self.ends(me, number, How::Dropped),
                    (false, false) => task.right = Right::Free,
                }
                self.m = M::Looks;
            }
            M::Yields(number) => {
                match self.is_closed {
                    true => self.ends(me, number, How::Dropped),
                    false => self.queue.push_back(number),
                }
                self.m = M::Looks;
            }
            M::Absent => return false,
        }
        true
    }

    /// The closer's next step, unless it waits: for the M, or for a thread that is about to wake a task.
    fn closer_goes_on(&mut self, me: CallId) -> bool {
        if !self.is_closed {
            self.is_closed = true;
        } else if self.m != M::Absent {
            return false;
        } else if !self.calls[me.thread].has_queue {
            self.calls[me.thread].has_queue = true;
            for number in std::mem::take(&mut self.queue) {
                match self.tasks[&number].is_listed {
                    true => self.ends(me, number, How::Dropped),
                    false => self.calls[me.thread].did.push(Did::GivenBack(number)),
                }
            }
        } else {
            let waits = |(_, task): &(&u64, &Task)| task.is_listed && task.right == Right::Free;
            let Some((&number, _)) = self.tasks.iter().find(waits) else { return false };
            self.ends(me, number, How::Dropped);
        }
        true
    }

    /// A wake or an abort of a task that waits gets the right to it.
    fn gets_the_right(&mut self, me: CallId, op: Op, number: u64) -> bool {
        let (Op::Wake(nth) | Op::Abort(nth)) = op else { return false };
        let Some(task) = self.tasks.get_mut(&number_of(nth)) else { return false };
        if task.right != Right::Free || matches!(op, Op::Abort(_)) && task.is_aborted {
            return false;
        }
        match op {
            Op::Wake(_) => task.wakes.push(number),
            _ => task.is_aborted = true,
        }
        task.right = Right::Submits(me.thread);
        true
    }

    /// A waker is used, and gone.
    fn uses(&mut self, me: CallId, op: Op, nth: usize, number: u64) -> Answer {
        let (is_closed, of) = (self.is_closed, number_of(nth));
        let Some(task) = self.tasks.get_mut(&of) else { return Answer::Nothing };
        task.wakers -= 1;
        match (op, task.right) {
            (_, Right::Submits(by)) if by == me.thread => {
                task.is_notified &= !is_closed;
                task.right = if is_closed { Right::Free } else { Right::Taken };
                if !is_closed {
                    self.queue.push_back(of);
                }
            }
            (_, Right::Gone) | (Op::Drop(_), _) => (),
            (Op::Wake(_), _) => {
                task.is_notified = true;
                task.wakes.push(number);
            }
            _ => task.is_aborted = true,
        }
        Answer::Did(Vec::new())
    }

    fn spawn(&mut self, me: CallId, number: u64) -> Answer {
        self.tasks.insert(number, Task::new(Right::Taken, 0, 0));
        match self.is_closed {
            true => self.ends(me, number, How::Dropped),
            false => self.queue.push_back(number),
        }
        Answer::Did(std::mem::take(&mut self.calls[me.thread]).did)
    }

    fn removes(&mut self, entry: Option<(u64, usize)>) -> Answer {
        let Some((number, row)) = entry else { return Answer::Nothing };
        let was_there = self.rows[row].remove(&number);
        Answer::Removed(was_there.then_some(number), self.rows[row].len())
    }

    fn of_list(&mut self, me: CallId, op: Op, number: u64, effects: &mut Effects) -> Answer {
        let (rows, looked) = (self.rows.len(), std::mem::take(&mut self.calls[me.thread].looked.1));
        let own = &mut self.own[me.thread];
        match op {
            Op::Insert(row) => {
                own.left.push_back((number, row % rows));
                own.all.push(number);
                self.rows[row % rows].insert(number);
                Answer::Are(vec![number])
            }
            Op::RemoveOldest => {
                let oldest = own.left.pop_front();
                self.removes(oldest)
            }
            Op::RemoveNewest => {
                let newest = own.left.pop_back();
                self.removes(newest)
            }
            Op::Row(row) => Answer::Has(self.rows[row % rows].len()),
            Op::Len => Answer::Has(looked.len()),
            Op::IsEmpty => Answer::Is(looked.is_empty()),
            Op::Each => Answer::Are(looked.into_iter().collect()),
            Op::EndStarted => Answer::Are(own.all.iter().copied().filter(|number| !looked.contains(number)).collect()),
            _ => {
                let ended: BTreeSet<u64> = self.rows.iter_mut().flat_map(std::mem::take).collect();
                effects.drops = ended.len();
                let pauses = ended.iter().map(|&number| busy(number)).sum();
                Answer::Ended(ended.into_iter().collect(), pauses)
            }
        }
    }
}

impl Task {
    fn new(right: Right, wakes_wanted: usize, wakers: usize) -> Self {
        Task {
            right,
            is_notified: false,
            is_aborted: false,
            wakes_wanted,
            wakes: Vec::new(),
            is_listed: right == Right::Free,
            wakers,
        }
    }
}

impl Spec<OwnedTasks> for List {
    fn new(setup: Setup, roles: &[Role]) -> Self {
        let of = |role| roles.iter().filter(|&&other| other == role).count();
        let task = |(nth, was): (usize, &Was)| {
            let right = if *was == Was::Polled { Right::Free } else { Right::Taken };
            (number_of(nth), Task::new(right, 1, of(Role::Waker)))
        };
        let tasks: BTreeMap<u64, Task> = setup.1.iter().enumerate().map(task).collect();
        let queue = tasks.iter().filter(|(_, task)| task.right == Right::Taken).map(|(&number, _)| number).collect();
        List {
            tasks,
            queue,
            is_closed: false,
            m: if of(Role::M) > 0 { M::Looks } else { M::Absent },
            calls: vec![Call::default(); roles.len()],
            rows: vec![BTreeSet::new(); rows_of(setup).max(1)],
            own: vec![Own::default(); roles.len()],
        }
    }

    /// The M goes from task to task, and the closer from one to the next; a thread that looks at a list, from row to row.
    fn step_before(&self, me: CallId, does: Does<Op>, answer: Option<&Answer>) -> Option<Self> {
        let (Does::Begin(op, number), mut next) = (does, self.clone()) else { return None };
        let goes_on = match op {
            Op::RunM => next.m_goes_on(me),
            Op::Close => next.closer_goes_on(me),
            Op::Wake(_) | Op::Abort(_) => next.gets_the_right(me, op, number),
            Op::Len | Op::IsEmpty | Op::Each | Op::EndStarted => {
                let (row, seen) = &mut next.calls[me.thread].looked;
                let entries = self.rows.get(*row);
                seen.extend(entries.into_iter().flatten());
                *row += 1;
                entries.is_some()
            }
            _ => false,
        };
        let is_it = match (op, answer) {
            (Op::RunM, Some(Answer::Did(did))) => did.starts_with(&next.calls[me.thread].did),
            _ => true,
        };
        (goes_on && is_it).then_some(next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, number) = does else { return None };
        match op {
            Op::RunM if !self.is_closed || self.m != M::Looks => return None,
            Op::RunM => self.m = M::Absent,
            Op::Close => {
                let is_over = self.calls[me.thread].has_queue && !self.tasks.values().any(|task| task.is_listed);
                is_over.then_some(())?;
                self.calls[me.thread].did.sort_unstable();
            }
            Op::Wake(nth) | Op::Abort(nth) | Op::Drop(nth) => return Some(self.uses(me, op, nth, number)),
            Op::Spawn => return Some(self.spawn(me, number)),
            _ => {
                let answer = self.of_list(me, op, number, effects);
                self.calls[me.thread] = Call::default();
                return Some(answer);
            }
        }
        Some(Answer::Did(std::mem::take(&mut self.calls[me.thread]).did))
    }

    fn held(&self) -> usize {
        let of = |task: &Task| match task.right {
            Right::Gone => usize::from(task.wakers > 0),
            _ => 2,
        };
        self.tasks.values().map(of).sum::<usize>() + self.rows.iter().map(BTreeSet::len).sum::<usize>()
    }
}
