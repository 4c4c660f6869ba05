//! Tasks that are joined in the order in which they end.
//!
//! Invariant 107: each task that ends is given to the joiner once, after all that it did; a joiner that sleeps is woken by the next
//! that ends.

use crate::host::RoomHost;
use crate::plain::of;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::Maker;
use crate::wakers::{Lends, Wakes};
use kernel::waits::join_set::{Ended, JoinSet};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct JoinSets;

/// What a thread has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The set.
    Joiner,
    /// Tasks of the set, which run one after the other. Which thread it is.
    Worker(usize),
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// The joiner begins a task.
    Begin,
    /// The oldest of the thread's tasks that run ends.
    End,
    /// The joiner waits for the next task that ends.
    Join,
    /// The joiner takes the next task that has ended, if there is one.
    Try,
    /// The joiner lets all tasks go. Those of the workers run on; its own are dropped.
    LetAllGo,
    /// The same, and the set is gone.
    Drop,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It has ended.
    Done,
    /// So many tasks are in the set, or were.
    Has(usize),
    /// This task was joined.
    Joined(u64),
    /// There is none.
    Nothing,
}

impl Room for JoinSets {
    /// How many tasks each worker runs.
    type Setup = usize;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = List;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "join_set";

    fn setups() -> Vec<usize> {
        vec![1, 2]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Joiner, Role::Worker(0), Role::Worker(1)]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        match role {
            _ if done.contains(&Op::Drop) => Vec::new(),
            Role::Joiner => vec![Op::Begin, Op::End, Op::Join, Op::Try, Op::LetAllGo, Op::Drop],
            Role::Worker(_) => vec![Op::End],
        }
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if op == Op::Join { WAITS } else { &[] }
    }
    /// One thread has the set, and the workers are counted from 0.
    fn is_worth_it(roles: &[Role]) -> bool {
        let count = |role| roles.iter().filter(|&&other| other == role).count();
        count(Role::Joiner) <= 1 && count(Role::Worker(0)) <= 1 && count(Role::Worker(1)) <= count(Role::Worker(0))
    }
    fn focuses() -> Vec<Focus<Self>> {
        let has = |_, _, waiting| waiting != Some(Waiting::Renewed);
        vec![Focus { lens: &[3, 1], has, is_played: |program| program.threads[0].role == Role::Joiner }]
    }
}

/// A set on a host.
type Set<H> = JoinSet<H, Wakes<H>, u64>;
/// The list of the tasks that have ended.
type Ends<H> = Arc<Ended<H, Wakes<H>>>;

/// What a thread has: the set, and tasks that run. Nothing of it is dropped at the end of a thread: that is no call.
pub struct Hand<H: RoomHost> {
    set: Option<ManuallyDrop<Set<H>>>,
    tasks: ManuallyDrop<VecDeque<(Ends<H>, usize)>>,
}

impl<H: RoomHost> Hand<H> {
    fn new(set: Option<Set<H>>) -> Self {
        Hand { set: set.map(ManuallyDrop::new), tasks: ManuallyDrop::default() }
    }

    fn begin_task(&mut self, by: &mut Set<H>, id: u64) {
        by.insert(|list, number| {
            self.tasks.push_back((Arc::clone(list), number));
            id
        });
    }

    fn end_task(&mut self) -> Answer {
        self.tasks.pop_front().map_or(Answer::Nothing, |(list, number)| {
            list.put(number);
            Answer::Done
        })
    }

    fn joiner_does<'a>(&'a mut self, op: Op, id: u64) -> Begun<'a, H, Answer> {
        let mut set = self.set.take().expect("it is the joiner");
        let answer = match op {
            Op::Drop => {
                self.tasks.clear();
                drop(ManuallyDrop::into_inner(set));
                return Begun::Over(Answer::Done);
            }
            Op::Begin => {
                self.begin_task(&mut set, id);
                Answer::Has(set.len())
            }
            Op::End => self.end_task(),
            Op::Join => return Begun::Waits(Box::new(Joins(self.set.insert(set)))),
            Op::Try => set.try_next().map_or(Answer::Nothing, Answer::Joined),
            Op::LetAllGo => {
                self.tasks.clear();
                let (listed, gone) = (set.tasks().count(), set.let_all_go().count());
                assert!((listed, set.is_empty()) == (gone, true), "{gone} tasks of {listed} were let go");
                Answer::Has(gone)
            }
        };
        self.set = Some(set);
        Begun::Over(answer)
    }
}

/// What each thread is to have.
pub struct OnHost<H: RoomHost> {
    hands: Mutex<Vec<(Role, Hand<H>)>>,
    /// The list of the workers' tasks: none of them drops it last.
    _list: Option<ManuallyDrop<Ends<H>>>,
}

impl<H: RoomHost> Real<JoinSets, H> for OnHost<H> {
    type Hand = Hand<H>;

    fn new(tasks: usize, roles: &[Role]) -> Self {
        let (mut set, mut hands) = (Set::new(), Vec::new());
        for &role in roles.iter().filter(|&&role| role != Role::Joiner) {
            let mut hand = Hand::new(None);
            (0..tasks).for_each(|nth| hand.begin_task(&mut set, id_of(role, nth)));
            hands.push((role, hand));
        }
        let list = hands.first().map(|(_, hand)| ManuallyDrop::new(Arc::clone(&hand.tasks[0].0)));
        hands.push((Role::Joiner, Hand::new(Some(set))));
        OnHost { hands: Mutex::new(hands), _list: list }
    }

    fn hand(&self, role: Role) -> Hand<H> {
        let mut hands = of(&self.hands);
        let place = hands.iter().position(|(other, _)| *other == role).expect("each is taken once");
        hands.swap_remove(place).1
    }

    fn begin<'a>(&'a self, hand: &'a mut Hand<H>, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        match hand.set {
            Some(_) => hand.joiner_does(op, values.number()),
            None => Begun::Over(hand.end_task()),
        }
    }
}

/// The number of a worker's task: no call has it.
fn id_of(role: Role, nth: usize) -> u64 {
    let Role::Worker(worker) = role else { unreachable!("the joiner's tasks have the numbers of calls") };
    (1_000 + 10 * worker + nth) as u64
}

/// The joiner waits for the next.
struct Joins<'a, H: RoomHost>(&'a mut Set<H>);

impl<H: RoomHost> Wait<H, Answer> for Joins<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        self.0.poll_next(lender).map(|joined| joined.map_or(Answer::Nothing, Answer::Joined))
    }
}

/// A list of tasks: does the joiner's waker lie there?
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Listed {
    ended: Vec<(u64, CallId)>,
    has_waker: bool,
}

/// The tasks that were not joined, and those of them that have ended, in the order of ending.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct List {
    left: Vec<u64>,
    list: Listed,
    /// The list of the workers' tasks, if these were let go.
    old: Option<Listed>,
    /// Of each thread, its tasks that run.
    run: Vec<VecDeque<u64>>,
    roles: Vec<Role>,
    waits: bool,
}

impl List {
    fn end(&mut self, me: CallId) -> Answer {
        let Some(task) = self.run[me.thread].pop_front() else { return Answer::Nothing };
        let is_workers = self.roles[me.thread] != Role::Joiner;
        let list = if is_workers { self.old.as_mut().unwrap_or(&mut self.list) } else { &mut self.list };
        list.ended.push((task, me));
        list.has_waker = false;
        Answer::Done
    }

    fn take(&mut self, effects: &mut Effects) -> Option<Answer> {
        if self.list.ended.is_empty() {
            return None;
        }
        let (task, by) = self.list.ended.remove(0);
        effects.sees.push(by);
        self.left.retain(|&other| other != task);
        Some(Answer::Joined(task))
    }

    /// The joiner's waker was woken, or stays in the list.
    fn let_all_go(&mut self, me: usize, wakes: bool) -> Answer {
        let mut list = std::mem::take(&mut self.list);
        list.has_waker &= !wakes;
        if self.roles.iter().any(|role| *role != Role::Joiner) {
            self.old.get_or_insert(list);
        }
        self.run[me].clear();
        Answer::Has(std::mem::take(&mut self.left).len())
    }
}

impl Spec<JoinSets> for List {
    const TAKES_ITS_WAKER: bool = false;

    fn new(tasks: usize, roles: &[Role]) -> Self {
        let of = |&role: &Role| match role {
            Role::Joiner => VecDeque::new(),
            role => (0..tasks).map(|nth| id_of(role, nth)).collect(),
        };
        let run: Vec<VecDeque<u64>> = roles.iter().map(of).collect();
        let (left, list) = (run.iter().flatten().copied().collect(), Listed::default());
        List { left, list, old: None, run, roles: roles.to_vec(), waits: false }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(Op::Begin, id) => {
                self.left.push(id);
                self.run[me.thread].push_back(id);
                Some(Answer::Has(self.left.len()))
            }
            Does::Begin(Op::End, _) => Some(self.end(me)),
            Does::Begin(Op::Try, _) => Some(self.take(effects).unwrap_or(Answer::Nothing)),
            Does::Begin(Op::LetAllGo, _) => Some(self.let_all_go(me.thread, true)),
            Does::Begin(Op::Drop, _) => {
                self.let_all_go(me.thread, false);
                Some(Answer::Done)
            }
            Does::Begin(Op::Join, _) => None,
            Does::Poll if self.left.is_empty() => Some(Answer::Nothing),
            Does::Poll => {
                let answer = self.take(effects);
                self.waits = answer.is_none();
                self.list.has_waker |= self.waits;
                answer
            }
            Does::Enable => unreachable!("no wait of a set is enabled"),
            Does::GiveUp => {
                self.waits = false;
                None
            }
        }
    }

    fn wakers(&self) -> usize {
        let of_others = self.list.has_waker && !self.waits;
        usize::from(of_others) + usize::from(self.old.as_ref().is_some_and(|old| old.has_waker))
    }
}
