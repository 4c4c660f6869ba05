//! Tasks that borrow.
//!
//! Invariants 110 and 119: once the lender's wait is over the content of each task was dropped, and all that it did is seen; a scope that
//! is ended early leaves none.

use crate::host::RoomHost;
use crate::plain::{Plain, of};
use crate::program::Program;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::rooms::wait_group::{self, Count};
use crate::values::{Maker, Value};
use crate::wakers::{Lends, Wakes};
use kernel::waits::scope;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Scopes;

/// What a thread has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Begins tasks, and waits for all.
    Lender,
    /// Runs those that were begun before the first call.
    Runner,
}

/// What a task does when it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// It is ready.
    Ends,
    /// It is not.
    Waits,
    /// It begins another, and is ready.
    Begins,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// One more.
    Begin,
    /// Runs that task of those that were there before the first call.
    Run(usize, How),
    /// Runs the next of those that this thread has begun.
    RunOwn,
    /// Ends the scope early.
    End,
    /// Waits until no task is left.
    Wait,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is begun, or ended.
    Done,
    /// The task ran: is it ready?
    Ran(bool),
    /// What it would run is not there.
    IsAway,
    /// There is no such task.
    Nothing,
    /// No task is left.
    Over,
}

impl Room for Scopes {
    /// How many tasks there are before the first call.
    type Setup = usize;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = List;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "scope";

    fn setups() -> Vec<usize> {
        vec![1, 2]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Lender, Role::Runner]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let begins = |&op: &Op| matches!(op, Op::Begin | Op::Run(_, How::Begins));
        let own = [Op::RunOwn].into_iter().filter(|_| done.iter().any(begins));
        let others: &[Op] = match role {
            Role::Lender => &[Op::Begin, Op::End, Op::Wait],
            Role::Runner => &[
                Op::Run(0, How::Ends),
                Op::Run(0, How::Waits),
                Op::Run(0, How::Begins),
                Op::Run(1, How::Ends),
                Op::Run(1, How::Waits),
            ],
        };
        others.iter().copied().chain(own).collect()
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if op == Op::Wait { WAITS } else { &[] }
    }
    /// What is lent is one thread's.
    fn is_worth_it(roles: &[Role]) -> bool {
        roles.iter().filter(|&&role| role == Role::Lender).count() <= 1
    }
    /// An end, and a wait for what two threads run meanwhile.
    fn focuses() -> Vec<Focus<Self>> {
        let to_the_end = |_, _, waiting: Option<Waiting>| waiting.is_none_or(|waiting| waiting == Waiting::ToTheEnd);
        let ends_and_waits =
            |program: &Program<Self>| program.threads[0].steps.iter().map(|step| step.op).eq([Op::End, Op::Wait]);
        vec![Focus { lens: &[2, 1, 1], has: to_the_end, is_played: ends_and_waits }]
    }
}

/// What is lent to a task: how often it was touched, and dropped.
#[derive(Default)]
struct Lent {
    touched: u64,
    dropped: u64,
}

/// What a task runs: it touches what it borrowed, its destructor too.
pub struct Content<H: RoomHost> {
    lent: Arc<Plain<H, Lent>>,
    _value: Value<H>,
}

impl<H: RoomHost> Drop for Content<H> {
    fn drop(&mut self) {
        self.lent.write(|lent| lent.dropped += 1);
    }
}

type Scope<H> = scope::Scope<H, Wakes<H>, Content<H>>;
type Task<H> = scope::Task<H, Wakes<H>, Content<H>>;

/// The tasks that a thread has begun, and how many of them it has run. None is dropped at the end of a thread: that is no call.
pub struct Hand<H: RoomHost> {
    tasks: ManuallyDrop<Vec<Arc<Task<H>>>>,
    ran: usize,
}

/// A scope on a host.
pub struct OnHost<H: RoomHost> {
    scope: ManuallyDrop<Arc<Scope<H>>>,
    given: ManuallyDrop<Vec<Arc<Task<H>>>>,
    lent: Mutex<Vec<Arc<Plain<H, Lent>>>>,
}

impl<H: RoomHost> OnHost<H> {
    fn begin_task(&self, values: &Maker<H>) -> Arc<Task<H>> {
        let lent = Arc::new(Plain::new(Lent::default()));
        of(&self.lent).push(Arc::clone(&lent));
        self.scope.begin(Content { lent, _value: values.value().lent() })
    }

    fn run(&self, task: &Task<H>, how: How, hand: &mut Hand<H>, values: &Maker<H>) -> Answer {
        let mut ran = false;
        let polled = task.run(|content| {
            ran = true;
            content.lent.write(|lent| lent.touched += 1);
            if how == How::Begins {
                hand.tasks.push(self.begin_task(values));
            }
            if how == How::Waits { Poll::Pending } else { Poll::Ready(()) }
        });
        assert!(ran || polled.is_ready(), "a task that is away is not ready");
        if ran { Answer::Ran(polled.is_ready()) } else { Answer::IsAway }
    }

    /// The borrows are over: no task touches what was lent while the lender does.
    fn is_mine_again(&self) {
        let all = of(&self.lent).clone();
        for lent in all {
            lent.write(|lent| {
                assert!(lent.dropped == 1, "the wait is over, and a content was dropped {} times", lent.dropped)
            });
        }
    }
}

impl<H: RoomHost> Real<Scopes, H> for OnHost<H> {
    type Hand = Hand<H>;

    fn new(tasks: usize, _: &[Role]) -> Self {
        let given = ManuallyDrop::new(Vec::with_capacity(tasks));
        OnHost { scope: ManuallyDrop::new(Scope::new()), given, lent: Mutex::default() }
    }

    fn given(&mut self, values: &Maker<H>) {
        for _ in 0..self.given.capacity() {
            let task = self.begin_task(values);
            self.given.push(task);
        }
    }

    fn hand(&self, _: Role) -> Hand<H> {
        Hand { tasks: ManuallyDrop::default(), ran: 0 }
    }

    fn begin<'a>(&'a self, hand: &'a mut Hand<H>, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        let task = match op {
            Op::Begin => {
                hand.tasks.push(self.begin_task(values));
                return Begun::Over(Answer::Done);
            }
            Op::End => {
                self.scope.end();
                return Begun::Over(Answer::Done);
            }
            Op::Wait => return Begun::Waits(Box::new(Waits { wait: self.scope.wait(), scope: self })),
            Op::Run(nth, _) => self.given.get(nth).cloned(),
            Op::RunOwn => hand.tasks.get(hand.ran).cloned(),
        };
        let how = if let Op::Run(_, how) = op { how } else { How::Ends };
        hand.ran += usize::from(op == Op::RunOwn);
        Begun::Over(task.map_or(Answer::Nothing, |task| self.run(&task, how, hand, values)))
    }
}

/// The lender waits.
struct Waits<'a, H: RoomHost> {
    wait: kernel::waits::wait_group::Wait<'a, H, Wakes<H>>,
    scope: &'a OnHost<H>,
}

impl<H: RoomHost> Wait<H, Answer> for Waits<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        self.wait.poll(lender).map(|()| {
            self.scope.is_mine_again();
            Answer::Over
        })
    }
}

/// Where the content of a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    There,
    /// A thread runs it; is it wanted back?
    Out(bool),
    Gone,
}

/// How far a thread's call is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Call {
    /// The task whose content it has.
    runs: Option<usize>,
    /// The task that this one has begun; was the scope ended by then?
    begun: Option<(usize, bool)>,
    /// The tasks that an end has yet to come to.
    ends: Option<Vec<usize>>,
    /// How many contents it has dropped.
    drops: usize,
}

/// Tasks by number, and in which order the scope has them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    places: Vec<Place>,
    /// The task of each number of the scope, which come again: the last that became free is the next.
    numbers: Vec<Option<usize>>,
    free: Vec<usize>,
    is_ended: bool,
    /// How many tasks are left, and where the lender waits.
    count: Count,
    calls: Vec<Call>,
    /// What each thread has begun, and how many of these it has run.
    own: Vec<(Vec<usize>, usize)>,
}

impl List {
    fn counts(&mut self, me: CallId, does: Does<wait_group::Op>, effects: &mut Effects) -> Option<bool> {
        self.count.step(me, does, None, effects)
    }

    /// One more, which is counted.
    fn begin(&mut self, by: CallId) -> usize {
        self.counts(by, Does::Begin(wait_group::Op::Add(1), 0), &mut Effects::default());
        let task = self.list();
        self.own[by.thread].0.push(task);
        task
    }

    fn list(&mut self) -> usize {
        let task = self.places.len();
        self.places.push(Place::There);
        match self.free.pop() {
            Some(number) => self.numbers[number] = Some(task),
            None => self.numbers.push(Some(task)),
        }
        task
    }

    /// Its content is dropped.
    fn drop_content(&mut self, task: usize, by: CallId) {
        self.places[task] = Place::Gone;
        self.calls[by.thread].drops += 1;
        if let Some(number) = self.numbers.iter().position(|other| *other == Some(task)) {
            self.numbers[number] = None;
            self.free.push(number);
        }
        self.counts(by, Does::Begin(wait_group::Op::Done, 0), &mut Effects::default());
    }

    /// The scope is ended: this task is not wanted.
    fn take_away(&mut self, task: usize, by: CallId) {
        match self.places[task] {
            Place::There => self.drop_content(task, by),
            Place::Out(_) => self.places[task] = Place::Out(false),
            Place::Gone => (),
        }
    }

    /// The task that this call is to run.
    fn task_of(&self, me: CallId, op: Op) -> Option<usize> {
        let (own, ran) = &self.own[me.thread];
        match op {
            Op::Run(nth, _) => Some(nth).filter(|&nth| self.numbers_given() > nth),
            Op::RunOwn => own.get(*ran).copied(),
            _ => None,
        }
    }

    fn numbers_given(&self) -> usize {
        let begun: usize = self.own.iter().map(|(own, _)| own.len()).sum();
        self.places.len() - begun
    }

    fn begins(&mut self, me: CallId, op: Op, effects: &mut Effects) -> Option<Answer> {
        let answer = match op {
            Op::Begin => {
                let task = self.begin(me);
                if self.is_ended {
                    self.take_away(task, me);
                }
                Answer::Done
            }
            Op::End => Answer::Done,
            Op::Wait => {
                self.counts(me, Does::Begin(wait_group::Op::Wait, 0), effects);
                return None;
            }
            Op::Run(..) | Op::RunOwn => {
                let answer = match (self.task_of(me, op), self.calls[me.thread].runs) {
                    (None, _) => Answer::Nothing,
                    (Some(task), Some(_))
                        if matches!(op, Op::Run(_, How::Waits)) && self.places[task] == Place::Out(true) =>
                    {
                        self.places[task] = Place::There;
                        Answer::Ran(false)
                    }
                    (Some(task), Some(_)) => {
                        self.drop_content(task, me);
                        Answer::Ran(true)
                    }
                    // It is there: then it runs.
                    (Some(task), None) if self.places[task] == Place::There => return None,
                    (Some(_), None) => Answer::IsAway,
                };
                self.own[me.thread].1 += usize::from(op == Op::RunOwn);
                answer
            }
        };
        effects.drops = std::mem::take(&mut self.calls[me.thread]).drops;
        Some(answer)
    }
}

impl Spec<Scopes> for List {
    fn new(tasks: usize, roles: &[Role]) -> Self {
        let (calls, own) = (vec![Call::default(); roles.len()], vec![(Vec::new(), 0); roles.len()]);
        let (places, numbers, free) = (Vec::new(), Vec::new(), Vec::new());
        let count = Count::new(tasks, &vec![(); roles.len()]);
        let mut list = List { places, numbers, free, is_ended: false, count, calls, own };
        (0..tasks).for_each(|_| _ = list.list());
        list
    }

    /// The content is out, another is begun, and then it is dropped or put back. An end comes to one task after the other.
    fn step_before(&self, me: CallId, does: Does<Op>, answer: Option<&Answer>) -> Option<Self> {
        let Does::Begin(op, _) = does else { return None };
        let mut next = self.clone();
        let call = &self.calls[me.thread];
        match (op, &call.ends) {
            (Op::End, None) => {
                next.is_ended = true;
                next.calls[me.thread].ends = Some(self.numbers.iter().flatten().copied().collect());
            }
            (Op::End, Some(left)) => {
                let (&task, left) = left.split_first()?;
                next.take_away(task, me);
                next.calls[me.thread].ends = Some(left.to_vec());
            }
            (Op::Run(..) | Op::RunOwn, _) => {
                let task = self.task_of(me, op)?;
                match (call.runs, call.begun) {
                    (None, _) if self.places[task] == Place::There && answer != Some(&Answer::IsAway) => {
                        next.places[task] = Place::Out(true);
                        next.calls[me.thread].runs = Some(task);
                    }
                    (Some(_), None) if matches!(op, Op::Run(_, How::Begins)) => {
                        let begun = next.begin(me);
                        next.calls[me.thread].begun = Some((begun, self.is_ended));
                    }
                    (Some(_), Some((begun, true))) => {
                        next.take_away(begun, me);
                        next.calls[me.thread].begun = Some((begun, false));
                    }
                    _ => return None,
                }
            }
            (Op::Begin | Op::Wait, _) => return None,
        }
        Some(next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(op, _) => self.begins(me, op, effects),
            Does::Poll => self.counts(me, Does::Poll, effects).map(|_| Answer::Over),
            Does::Enable => unreachable!("no wait of a scope is enabled"),
            Does::GiveUp => {
                self.counts(me, Does::GiveUp, effects);
                None
            }
        }
    }

    fn held(&self) -> usize {
        self.places.iter().filter(|place| **place != Place::Gone).count()
    }
}
