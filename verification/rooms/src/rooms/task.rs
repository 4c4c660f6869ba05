//! A task's word: who polls its future, who has its output, who frees it; its wakers, its handle, and the end of its runtime.
//!
//! Invariants 53 to 57: future, output and memory are used by one thread at a time; no wake is lost; a waker of the handle's is woken or
//! forgotten; a task is freed once, by the last that refers to it; a wake after the runtime's end drops nothing.
//!
//! A task that becomes runnable is run by the thread that made it so: nothing but the word orders one run before the next.

pub mod life;

use crate::host::RoomHost;
use crate::plain::{Done, Plain, of};
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Wait, Waiting};
use crate::values::{Maker, Value};
use crate::wakers::{Lends, Wakes};
use kernel::host::Lock as _;
use kernel::task::{self, Active, Handle, JoinerSlot, Memory, Mode, TaskWord, WakerWords};
use kernel::waits::waker::{Lender as _, Waker as _};
use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Tasks;

/// What a poll of the future comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Polled {
    /// It waits.
    Waits,
    /// It has woken itself, and waits.
    Yields,
    /// It is over, with an output.
    Ready,
}

/// The part of a thread. Without a runner the task waits at first; without a joiner its handle is gone; without a closer or a stopper the
/// runtime goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The task is its to run.
    Runner,
    /// It has a waker.
    Waker,
    /// It has the handle.
    Joiner,
    /// It ends the runtime, and has a waker until the task is complete.
    Closer,
    /// It ends the runtime, and does not know the task.
    Stopper,
    /// It has a waker, and may drop it: it must not wake a task that no closer knows.
    Dropper,
}

impl Role {
    fn has_a_waker(self) -> bool {
        matches!(self, Role::Waker | Role::Closer | Role::Dropper)
    }
    fn may_end(self) -> bool {
        matches!(self, Role::Closer | Role::Stopper)
    }
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Runs the task, if that is its to do.
    Run,
    /// The same, where it is not run again.
    RunLast,
    /// Wakes it by a waker, which is gone then.
    Wake,
    /// Wakes it by a waker that it keeps.
    WakeByRef,
    /// Makes a waker of the one that it has.
    Clone,
    /// Drops a waker.
    Drop,
    /// Aborts it.
    Abort,
    /// Awaits its end. Given up, it leaves the waker where it is.
    Join,
    /// Drops the handle.
    Detach,
    /// Nothing is run any more.
    End,
    /// Ends the task, unless a thread has it; then drops its waker.
    Close,
}

/// What is done in a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Did {
    /// The future was polled; these wakes had been before.
    Polled(Vec<u64>),
    /// It was dropped.
    FutureDropped,
    /// The output was.
    OutputDropped,
    /// The task is the caller's to run: it was woken, or yields.
    Runnable(&'static str),
    /// It is complete: is it?
    Closed(bool),
    /// The caller has the output; or an end without one.
    Got(&'static str),
}

const WOKEN: &str = "woken";
const YIELDS: &str = "yields";
const OUTPUT: &str = "the output";
const NO_OUTPUT: &str = "no output";
const ABORTED: &str = "no output: aborted";

fn count(done: &[Op], ops: &[Op]) -> usize {
    done.iter().filter(|op| ops.contains(op)).count()
}

impl Room for Tasks {
    /// What the future's polls come to.
    type Setup = &'static [Polled];
    type Role = Role;
    type Op = Op;
    type Answer = Vec<Did>;
    type Spec = life::Life;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "task";

    fn setups() -> Vec<Self::Setup> {
        vec![&[Polled::Ready], &[Polled::Waits, Polled::Ready], &[Polled::Yields, Polled::Ready]]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Runner, Role::Waker, Role::Joiner, Role::Closer, Role::Stopper, Role::Dropper]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        use Op::{Abort, Clone, Close, Detach, Drop, End, Join, Run, RunLast, Wake, WakeByRef};
        let runs = (count(done, &[Wake, WakeByRef, Drop, Abort, Detach]) > 0 && !done.contains(&End)).then_some(Run);
        let ops: &[Op] = match role {
            Role::Runner if done.contains(&RunLast) => &[],
            Role::Runner => &[Run, RunLast],
            Role::Waker if count(done, &[Wake, Drop]) > count(done, &[Clone]) => &[],
            Role::Waker if done.contains(&Clone) => &[Wake, WakeByRef, Drop, Abort],
            Role::Waker => &[Wake, WakeByRef, Drop, Abort, Clone],
            Role::Joiner if done.contains(&Detach) => &[],
            Role::Joiner => &[Join, Detach, Abort],
            Role::Closer if done.contains(&Close) => &[Close],
            Role::Closer if done.contains(&End) => &[WakeByRef, Close],
            Role::Closer => &[WakeByRef, End],
            Role::Stopper if done.is_empty() => &[End],
            Role::Dropper if done.is_empty() => &[Drop],
            Role::Stopper | Role::Dropper => &[],
        };
        ops.iter().copied().chain(runs).collect()
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if op == Op::Join { &[Waiting::ToTheEnd, Waiting::GivenUp, Waiting::Renewed] } else { &[] }
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let of = |role| roles.iter().filter(|&&other| other == role).count();
        let (stops, is_known) = (of(Role::Stopper), roles.iter().any(|role| *role != Role::Stopper));
        is_known
            && of(Role::Runner) <= 1
            && of(Role::Joiner) <= 1
            && of(Role::Closer) + stops <= 1
            && if stops == 0 { of(Role::Dropper) == 0 } else { of(Role::Waker) == 0 }
    }
    /// A handle that changes its mind while the task ends; three threads; a closer for longer.
    fn focuses() -> Vec<Focus<Self>> {
        let asks = |_, op, waiting| matches!(op, Op::Run | Op::Join | Op::Detach) && waiting != Some(Waiting::Renewed);
        let wakes = |role, op, waiting: Option<Waiting>| {
            let is_it = matches!(op, Op::Run | Op::Wake | Op::WakeByRef | Op::Drop | Op::Join | Op::Detach);
            is_it && role != Role::Closer && waiting.is_none_or(|waiting| waiting == Waiting::ToTheEnd)
        };
        let closes = |role, op, _| match role {
            Role::Closer => true,
            Role::Waker => matches!(op, Op::WakeByRef | Op::Abort),
            _ => false,
        };
        let has_one = |program: &Program<Self>| program.roles().contains(&Role::Closer);
        let closer = |lens| Focus { is_played: has_one, ..Focus::new(lens, closes) };
        vec![Focus::new(&[4, 1], asks), Focus::new(&[2, 1, 1], wakes), closer(&[4]), closer(&[3, 1])]
    }
}

/// A task, and what is behind its rights.
pub struct OnHost<H: RoomHost> {
    word: TaskWord<H>,
    slot: JoinerSlot<H>,
    memory: Plain<H, Option<Value<H>>>,
    /// What its polls will come to, and the future.
    future: Plain<H, (std::collections::VecDeque<Polled>, Option<Value<H>>)>,
    output: Plain<H, Option<Value<H>>>,
    /// Is nothing run any more? Asked only where that may be.
    has_ended: Option<H::Lock<bool>>,
    /// The handle's wakers, by number, and whose they are; and each wake.
    joiners: Mutex<Vec<(usize, Option<Wakes<H>>)>>,
    wakes: Mutex<Vec<(u64, Done<H>)>>,
    rights: Mutex<(Option<Active>, Option<Handle>)>,
    roles: Vec<Role>,
}

/// What a thread has.
#[derive(Default)]
pub struct Hand {
    active: Cell<Option<Active>>,
    handle: Cell<Option<Handle>>,
    is_taken: Cell<bool>,
    is_polling: Cell<bool>,
    has_yielded: Cell<bool>,
    did: RefCell<Vec<Did>>,
}

/// A thread that uses the task.
struct User<'a, H: RoomHost> {
    task: &'a OnHost<H>,
    hand: &'a Hand,
}

impl<H: RoomHost> User<'_, H> {
    fn did(&self, did: Did) {
        assert!(!self.hand.is_polling.get(), "a thread that is done with a task takes its wakes for the task's own");
        assert!(!H::holds_a_lock(), "user code runs while a lock is held");
        self.hand.did.borrow_mut().push(did);
    }
    fn joiner(&self, words: WakerWords) -> Wakes<H> {
        assert!(words.data == words.vtable, "a waker was read in two halves");
        let mut joiners = of(&self.task.joiners);
        let taken = joiners.get_mut((words.data as usize).wrapping_sub(1)).and_then(|(_, waker)| waker.take());
        taken.expect("a waker is used that is not there any more, or never was")
    }
}

impl<H: RoomHost> Memory for User<'_, H> {
    type Host = H;
    fn word(&self) -> &TaskWord<H> {
        assert!(self.task.memory.read(Option::is_some), "a task is used that was freed");
        &self.task.word
    }
    fn slot(&self) -> &JoinerSlot<H> {
        assert!(self.task.memory.read(Option::is_some), "a task is used that was freed");
        &self.task.slot
    }
    fn poll(&self, _: &Active) -> Poll<()> {
        let wakes = of(&self.task.wakes);
        let mut seen: Vec<u64> = wakes.iter().filter(|(_, done)| done.is_seen()).map(|(n, _)| *n).collect();
        seen.sort_unstable();
        self.did(Did::Polled(seen));
        self.hand.is_polling.set(true);
        self.task.future.write(|(polls, future)| {
            assert!(future.is_some(), "a future is polled that is gone");
            let polled = polls.pop_front().expect("it was not ready yet");
            self.hand.has_yielded.set(polled == Polled::Yields);
            if polled != Polled::Ready {
                return Poll::Pending;
            }
            self.task.output.write(|output| *output = future.take());
            Poll::Ready(())
        })
    }
    fn has_woken_itself(&self) -> bool {
        self.hand.is_polling.set(false);
        self.hand.has_yielded.take()
    }
    fn drop_future(&self, _: &Active) {
        self.did(Did::FutureDropped);
        self.task.future.write(|(_, future)| future.take().expect("a future is dropped that is gone").take());
    }
    fn drop_output(&self) {
        self.did(Did::OutputDropped);
        self.task.output.write(|output| output.take().expect("an output is dropped that is not there").take());
    }
    fn schedule(&self, active: Active, mode: Mode) -> Result<(), Active> {
        if self.task.has_ended.as_ref().is_some_and(|has_ended| has_ended.with(|has_ended| *has_ended)) {
            return Err(active);
        }
        self.did(Did::Runnable(if mode == Mode::Yields { YIELDS } else { WOKEN }));
        assert!(self.hand.active.replace(Some(active)).is_none(), "a right is given to a thread that has it");
        Ok(())
    }
    fn wake_joiner(&self, joiner: WakerWords) {
        assert!(!self.hand.is_polling.get(), "a thread that is done with a task takes its wakes for the task's own");
        self.joiner(joiner).wake();
    }
    fn drop_joiner(&self, joiner: WakerWords) {
        self.joiner(joiner).forget();
    }
    fn free(&self) {
        self.task.memory.write(|memory| memory.take().expect("a task is freed twice").take());
    }
}

impl<H: RoomHost> Real<Tasks, H> for OnHost<H> {
    type Hand = Hand;
    fn new(polls: &'static [Polled], roles: &[Role]) -> Self {
        let (word, active, handle) = TaskWord::new();
        roles.iter().filter(|role| role.has_a_waker()).for_each(|_| word.clone_waker());
        let first = (!roles.contains(&Role::Runner)).then_some(Polled::Waits);
        OnHost {
            word,
            slot: JoinerSlot::new(),
            memory: Plain::new(None),
            future: Plain::new((first.into_iter().chain(polls.iter().copied()).collect(), None)),
            output: Plain::new(None),
            has_ended: roles.iter().any(|role| role.may_end()).then(|| H::Lock::new(false)),
            joiners: Mutex::default(),
            wakes: Mutex::default(),
            rights: Mutex::new((Some(active), Some(handle))),
            roles: roles.to_vec(),
        }
    }
    fn given(&mut self, values: &Maker<H>) {
        self.memory = Plain::new(Some(values.value()));
        self.future.write(|(_, future)| *future = Some(values.value()));
        let (user, mut rights) = (User { task: self, hand: &Hand::default() }, of(&self.rights));
        if !self.roles.contains(&Role::Joiner) {
            rights.1.take().into_iter().for_each(|handle| task::drop_handle(&user, handle, false));
        }
        if !self.roles.contains(&Role::Runner) {
            rights.0.take().into_iter().for_each(|active| task::run(&user, active));
        }
    }
    fn hand(&self, role: Role) -> Hand {
        let (hand, mut rights) = (Hand::default(), of(&self.rights));
        match role {
            Role::Runner => hand.active.set(rights.0.take()),
            Role::Joiner => hand.handle.set(rights.1.take()),
            _ => (),
        }
        hand
    }
    fn begin<'a>(&'a self, hand: &'a mut Hand, op: Op, values: &Maker<H>) -> Begun<'a, H, Vec<Did>> {
        let user = User { task: self, hand };
        if matches!(op, Op::Wake | Op::WakeByRef) {
            of(&self.wakes).push((values.number(), Done::now()));
        }
        match op {
            Op::Join if !hand.is_taken.get() => return Begun::Waits(Box::new(user)),
            Op::Join => (),
            Op::Run => hand.active.take().into_iter().for_each(|active| task::run(&user, active)),
            Op::RunLast => hand.active.take().into_iter().for_each(|active| task::run_last(&user, active)),
            // In the mode that no other wake has.
            Op::Wake => task::wake(&user, Mode::Yields),
            Op::WakeByRef => task::wake_by_ref(&user),
            Op::Clone => self.word.clone_waker(),
            Op::Drop => task::drop_waker(&user),
            Op::Abort => task::abort(&user),
            Op::Detach => {
                let handle = hand.handle.take().expect("it is dropped once");
                task::drop_handle(&user, handle, hand.is_taken.get());
            }
            Op::End => self.has_ended.iter().for_each(|has_ended| has_ended.with(|has_ended| *has_ended = true)),
            Op::Close if hand.is_taken.get() => (),
            Op::Close => {
                let is_closed = task::close(&user);
                user.did(Did::Closed(is_closed));
                hand.is_taken.set(is_closed);
                if is_closed {
                    task::drop_waker(&user);
                }
            }
        }
        Begun::Over(hand.did.take())
    }
}

impl<H: RoomHost> Wait<H, Vec<Did>> for User<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Vec<Did>> {
        let gives = |old: Option<WakerWords>| {
            let (mut joiners, sleeper) = (of(&self.task.joiners), lender.sleeper());
            if old.is_some_and(|old| joiners[old.data as usize - 1].0 == sleeper) {
                return None;
            }
            lender.prepare();
            let known = joiners.iter().position(|(other, _)| *other == sleeper);
            let at = known.unwrap_or_else(|| {
                joiners.push((sleeper, None));
                joiners.len() - 1
            });
            joiners[at].1 = lender.lend();
            Some(WakerWords { data: at as u64 + 1, vtable: at as u64 + 1 })
        };
        let handle = self.hand.handle.take().expect("it is not dropped yet");
        let polled = task::poll_handle(self, &handle, gives);
        self.hand.handle.set(Some(handle));
        polled.map(|view| {
            self.hand.is_taken.set(true);
            match (view.is_empty(), view.is_aborted()) {
                (true, false) => return vec![Did::Got(NO_OUTPUT)],
                (true, true) => return vec![Did::Got(ABORTED)],
                _ => (),
            }
            self.task.output.write(|output| output.take().expect("an output that is not there").take());
            vec![Did::Got(OUTPUT)]
        })
    }
}
