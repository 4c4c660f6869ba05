//! What a room is declared by, once.

use crate::host::RoomHost;
use crate::program::Program;
use crate::values::Maker;
use crate::wakers::Lends;
use std::fmt::Debug;
use std::hash::Hash;
use std::task::Poll;

/// A call: the `nth` of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// Which thread of the program.
    pub thread: usize,
    /// Which of its calls, from 0.
    pub nth: usize,
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does<Op> {
    /// An operation, with a number that no other call has. It is over at once, or creates the thread's wait.
    Begin(Op, u64),
    /// The thread's wait is polled.
    Poll,
    /// The thread's wait is enabled: it waits from now on, without a poll.
    Enable,
    /// The thread's wait is dropped.
    GiveUp,
}

impl<Op> Does<Op> {
    /// The same, whichever operation it is.
    pub fn kind(&self) -> Does<()> {
        match self {
            Does::Begin(_, number) => Does::Begin((), *number),
            Does::Poll => Does::Poll,
            Does::Enable => Does::Enable,
            Does::GiveUp => Does::GiveUp,
        }
    }
}

/// What becomes of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Waiting {
    /// It is polled, and its thread parks, until it is over.
    ToTheEnd,
    /// It is polled once, and dropped if it is not over.
    GivenUp,
    /// It is polled with one waker, then with another until it is over. The wakers are cloned outside of locks.
    Renewed,
    /// It is enabled, then polled until it is over.
    Enabled,
    /// It is enabled, then dropped.
    EnabledAndGivenUp,
    /// It is dropped without a poll.
    NeverPolled,
}

/// The usual ways to wait.
pub const WAITS: &[Waiting] = &[Waiting::ToTheEnd, Waiting::GivenUp, Waiting::Renewed, Waiting::NeverPolled];

/// A room: its operations, what they mean, and the source that does them.
pub trait Room: Sized + 'static {
    /// How large the room is.
    type Setup: Copy + Debug + Send + Sync + 'static;
    /// What a thread holds: one end, for instance.
    type Role: Copy + Debug + Ord + Send + Sync + 'static;
    /// An operation.
    type Op: Copy + Debug + Ord + Send + Sync + 'static;
    /// What a call returns.
    type Answer: Clone + Debug + PartialEq + Hash + Send + 'static;
    /// What the operations mean.
    type Spec: Spec<Self>;
    /// The room's source.
    type Real<H: RoomHost>: Real<Self, H>;

    /// The room's name, most often that of its file below `waits` or `queues`.
    const NAME: &'static str;
    /// What its source is called there, if that is another name, or several.
    const SOURCE: &'static str = Self::NAME;
    /// Every size that is tried.
    fn setups() -> Vec<Self::Setup>;
    /// Every role.
    fn roles() -> Vec<Self::Role>;
    /// What a thread of this role that has done this may do next.
    fn may(role: Self::Role, done: &[Self::Op]) -> Vec<Self::Op>;
    /// The ways in which the operation's wait may go. None: it does not wait.
    fn waits(op: Self::Op) -> &'static [Waiting];
    /// Does the call itself sleep until the specification answers it? It has no wait that is polled.
    fn sleeps(_op: Self::Op) -> bool {
        false
    }
    /// Is there something to be checked about threads of these roles?
    fn is_worth_it(_roles: &[Self::Role]) -> bool {
        true
    }
    /// Is this program of a small shape played? Where not all are, the room's head says which have too many executions.
    fn is_small(_program: &Program<Self>) -> bool {
        true
    }
    /// Small sets of operations for larger shapes.
    fn focuses() -> Vec<Focus<Self>> {
        Vec::new()
    }
    /// The same, with so many executions that a usual run cuts them off.
    fn larger() -> Vec<Focus<Self>> {
        Vec::new()
    }
}

/// Is there one thread of each of these roles?
pub fn is_each_once<T: PartialEq>(roles: &[T]) -> bool {
    roles.iter().enumerate().all(|(n, role)| !roles[..n].contains(role))
}

/// Does the second role of a kind come behind the first? Otherwise the program is another's, with their numbers exchanged.
pub fn is_in_order<T: PartialEq>(roles: &[T], kind: fn(usize) -> T) -> bool {
    let place = |n| roles.iter().position(|role| *role == kind(n));
    place(1).is_none_or(|at| place(0).is_some_and(|first| first < at))
}

/// Some operations of a room, for a larger shape.
pub struct Focus<R: Room> {
    /// How many operations each thread does, the longest first.
    pub lens: &'static [usize],
    /// Which operations, and which ways to wait.
    pub has: fn(R::Role, R::Op, Option<Waiting>) -> bool,
    /// Which programs of these.
    pub is_played: fn(&Program<R>) -> bool,
}

impl<R: Room> Focus<R> {
    /// All programs of these operations.
    pub fn new(lens: &'static [usize], has: fn(R::Role, R::Op, Option<Waiting>) -> bool) -> Self {
        Focus { lens, has, is_played: |_| true }
    }
}

/// What a call of the specification does besides its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// Calls that must happen before the end of this one: all that was done before them is seen after it.
    pub sees: Vec<CallId>,
    /// Calls that must not have ended before this one begins: it answers as if they had not been.
    pub misses: Vec<CallId>,
    /// How many values are dropped.
    pub drops: usize,
}

/// The room as a sequential program.
pub trait Spec<R: Room>: Clone + Eq + 'static {
    /// Does it say in which call a value is dropped? Not where several calls have a share in one.
    const COUNTS_DROPS: bool = true;
    /// Does a wait that is given up take its waker out of the room? If not, it may be woken later.
    const TAKES_ITS_WAKER: bool = true;
    /// Is a waker replaced at once? If not, a wait that is over between the two was not woken.
    const RENEWS_AT_ONCE: bool = true;
    /// May a wait be served, and woken, by the very poll that then finds it over?
    const WAKES_EARLY: bool = false;
    /// Before the first call.
    fn new(setup: R::Setup, roles: &[R::Role]) -> Self;
    /// A call; `answer` is what it was answered, where that is known: a guess may be of a moment ago, and then one of several is right.
    /// `None`: the wait was created, goes on, or was dropped without an answer; or the call [sleeps](Room::sleeps), and may not return
    /// yet. What would be answered must not sleep.
    fn step(
        &mut self,
        me: CallId,
        does: Does<R::Op>,
        answer: Option<&R::Answer>,
        effects: &mut Effects,
    ) -> Option<R::Answer>;
    /// What the call that is so answered does under an earlier lock than that of its [step](Spec::step). Asked again after that; `None`:
    /// its step is next.
    fn step_before(&self, _me: CallId, _does: Does<R::Op>, _answer: Option<&R::Answer>) -> Option<Self> {
        None
    }
    /// Steps that the call may do before its [step](Spec::step), or not: what comes of each. Asked again after each.
    fn guesses(&self, _me: CallId, _does: Does<R::Op>) -> Vec<Self> {
        Vec::new()
    }
    /// May the room stay so when no call goes on any more?
    ///
    /// # Errors
    /// Why not.
    fn at_rest(&self) -> Result<(), &'static str> {
        Ok(())
    }
    /// How many values are in the room, and in waits that were not given up.
    fn held(&self) -> usize {
        0
    }
    /// How many wakers are in the room whose waits are over or were given up.
    fn wakers(&self) -> usize {
        0
    }
}

/// What a call comes to.
pub enum Begun<'a, H: RoomHost, A> {
    /// The operation is over.
    Over(A),
    /// It waits.
    Waits(Box<dyn Wait<H, A> + 'a>),
}

/// A wait. Dropped, it is given up.
pub trait Wait<H: RoomHost, A> {
    /// Is it over? If not it waits, by the lender's waker.
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<A>;
    /// Waits from now on. Is it over?
    fn enable(&mut self) -> Option<A> {
        unreachable!("a wait of this room cannot be enabled")
    }
    /// It is over, and is asked again: does it stay so? If it may be asked at all.
    fn stays_over(&mut self, _lender: &mut Lends<H>) -> bool {
        true
    }
    /// Drops it. What it gives back.
    fn give_up(self: Box<Self>) -> Option<A> {
        None
    }
}

impl<H: RoomHost, A, F: FnMut(&mut Lends<H>) -> Poll<A>> Wait<H, A> for F {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<A> {
        self(lender)
    }
}

/// The room's source on a host, by its public entry.
pub trait Real<R: Room, H: RoomHost>: Send + Sync + 'static {
    /// What a thread has besides the room.
    type Hand: Send;
    /// Is a wait that goes on woken exactly once? Of the rooms, yes; a peer may do more.
    const WAKES_ONCE: bool = true;
    /// Before the first call.
    fn new(setup: R::Setup, roles: &[R::Role]) -> Self;
    /// Values that are in the room before the first call.
    fn given(&mut self, _values: &Maker<H>) {}
    /// What a thread of this role has.
    fn hand(&self, role: R::Role) -> Self::Hand;
    /// Does the operation, or creates its wait.
    fn begin<'a>(&'a self, hand: &'a mut Self::Hand, op: R::Op, values: &Maker<H>) -> Begun<'a, H, R::Answer>;
    /// Nothing goes on any more: may the source stay as it is? It is asked behind the last call, and sees what was written last.
    ///
    /// # Errors
    /// Why not.
    fn at_rest(&self) -> Result<(), String> {
        Ok(())
    }
}
