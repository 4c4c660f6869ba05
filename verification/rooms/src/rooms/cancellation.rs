//! A tree of tokens, of which one branch at a time is cancelled.
//!
//! Invariant 108: a waiter of a token that is cancelled goes on, and sees what was done before. Invariant 109: a child of a cancelled
//! token is cancelled, whenever it was made; a thread that sees a token cancelled sees its children cancelled.

use crate::host::RoomHost;
use crate::plain::of;
use crate::room::{Begun, CallId, Does, Effects, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::Maker;
use crate::wakers::{Lends, Wakes};
use kernel::waits::cancellation::Token;
use std::mem::ManuallyDrop;
use std::sync::Mutex;
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Cancellations;

/// Which token a thread has: the middle one is below the top, the leaf below the middle. A token that no thread has was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The root.
    Top,
    /// Between the two.
    Middle,
    /// The lowest.
    Leaf,
}

/// What a thread does with the lowest token that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Cancels it.
    Cancel,
    /// Asks whether the highest token that it has is cancelled, and if so, whether those below it are.
    Ask,
    /// Waits until it is cancelled.
    Wait,
    /// Makes a token below it, which is the lowest from now on.
    Child,
    /// Drops it.
    Drop,
    /// Counts the tree's nodes, and its waiters.
    Count,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done.
    Done,
    /// Is it cancelled?
    Is(bool),
    /// So many nodes, and so many waiters.
    Has(usize, usize),
}

fn count(done: &[Op], op: Op) -> usize {
    done.iter().filter(|&&other| other == op).count()
}

impl Room for Cancellations {
    type Setup = ();
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Tree;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "cancellation";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Top, Role::Middle, Role::Leaf]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        if count(done, Op::Drop) > count(done, Op::Child) {
            return vec![];
        }
        let all = [Op::Cancel, Op::Ask, Op::Wait, Op::Child, Op::Drop];
        all.into_iter().chain((role == Role::Top).then_some(Op::Count)).collect()
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if op == Op::Wait { WAITS } else { &[] }
    }
    /// Without a token above them, those below are a tree of their own.
    fn is_worth_it(roles: &[Role]) -> bool {
        let has = |role| roles.contains(&role);
        has(Role::Top) && (has(Role::Middle) || !has(Role::Leaf))
    }
}

/// The tokens that a thread has, the highest first. None of them is dropped at the end of a thread: that is no call.
type Hand<H> = ManuallyDrop<Vec<Token<H, Wakes<H>>>>;

/// What each thread is to have.
pub struct OnHost<H: RoomHost>(Mutex<Vec<(Role, Hand<H>)>>);

impl<H: RoomHost> Real<Cancellations, H> for OnHost<H> {
    type Hand = Hand<H>;

    fn new((): (), roles: &[Role]) -> Self {
        let top = Token::new();
        let middle = top.child();
        let leaf = middle.child();
        let token = |role| match role {
            Role::Top => &top,
            Role::Middle => &middle,
            Role::Leaf => &leaf,
        };
        let hand = |&role| (role, ManuallyDrop::new(vec![token(role).clone()]));
        OnHost(Mutex::new(roles.iter().map(hand).collect()))
    }

    fn hand(&self, role: Role) -> Hand<H> {
        let mut hands = of(&self.0);
        let place = hands.iter().position(|(other, _)| *other == role).expect("one for each thread");
        hands.swap_remove(place).1
    }

    fn begin<'a>(&'a self, tokens: &'a mut Hand<H>, op: Op, _: &Maker<H>) -> Begun<'a, H, Answer> {
        const HAS_ONE: &str = "it has not dropped all";
        if op == Op::Wait {
            return Begun::Waits(Box::new(Waits { token: tokens.last().expect(HAS_ONE), waiter: None }));
        }
        let lowest = tokens.last().expect(HAS_ONE);
        Begun::Over(match op {
            Op::Cancel => {
                lowest.cancel();
                Answer::Done
            }
            Op::Ask => {
                let is_cancelled = tokens[0].is_cancelled();
                let are = !is_cancelled || tokens.iter().all(Token::is_cancelled);
                assert!(are, "a token is cancelled, and one below it is not");
                Answer::Is(is_cancelled)
            }
            Op::Wait => unreachable!("it waits"),
            Op::Child => {
                let child = lowest.child();
                tokens.push(child);
                Answer::Done
            }
            Op::Drop => {
                drop(tokens.pop());
                Answer::Done
            }
            Op::Count => {
                let (nodes, waiters) = lowest.with(|state, _| state.sizes());
                Answer::Has(nodes, waiters)
            }
        })
    }
}

struct Waits<'a, H: RoomHost> {
    token: &'a Token<H, Wakes<H>>,
    waiter: Option<usize>,
}

impl<H: RoomHost> Wait<H, Answer> for Waits<'_, H> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        self.token.poll(&mut self.waiter, lender).map(|()| Answer::Done)
    }
    fn stays_over(&mut self, _: &mut Lends<H>) -> bool {
        self.waiter.is_none()
    }
    fn give_up(mut self: Box<Self>) -> Option<Answer> {
        self.token.give_up(&mut self.waiter);
        None
    }
}

/// A node, until it is taken out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Node {
    parent: Option<usize>,
    tokens: usize,
    cancelled: Option<CallId>,
    /// It was made under one that was cancelled.
    is_born_cancelled: bool,
    /// Calls that saw its mark.
    seen: Vec<CallId>,
}

/// The nodes; of each thread those of its tokens, and whether it waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tree {
    nodes: Vec<Option<Node>>,
    has: Vec<Vec<usize>>,
    waits: Vec<bool>,
    /// Calls that saw that a call has cancelled all that it cancels: these, and that one.
    seen: Vec<(CallId, CallId)>,
}

impl Tree {
    fn add(&mut self, parent: Option<usize>, cancelled: Option<CallId>) -> usize {
        let is_born_cancelled = cancelled.is_some();
        self.nodes.push(Some(Node { parent, tokens: 1, cancelled, is_born_cancelled, seen: Vec::new() }));
        self.nodes.len() - 1
    }

    fn node(&mut self, n: usize) -> &mut Node {
        self.nodes[n].as_mut().expect("a token keeps it")
    }

    fn children(&self, n: usize) -> Vec<usize> {
        let is_child = |&i: &usize| self.nodes[i].as_ref().is_some_and(|node| node.parent == Some(n));
        (0..self.nodes.len()).filter(is_child).collect()
    }

    fn cancel(&mut self, n: usize, by: CallId) {
        self.node(n).cancelled.get_or_insert(by);
        self.children(n).into_iter().for_each(|child| self.cancel(child, by));
    }

    /// A node without tokens that has one child at most is taken out, and then perhaps the one above it.
    fn drop_token(&mut self, n: usize) {
        self.node(n).tokens -= 1;
        while let Some(i) = (0..self.nodes.len()).find(|&i| self.is_needless(i)) {
            let below = self.children(i);
            let gone = self.nodes[i].take().expect("it was found");
            for child in below {
                self.node(child).parent = gone.parent;
                self.node(child).seen.extend(&gone.seen);
            }
        }
    }

    /// Is the node seen to be cancelled, by a call that answers so? A canceller marks from below, and who only asks takes no lock: it may
    /// see no mark yet, though another saw one further down.
    fn asked(&mut self, n: usize, me: CallId, answer: bool, effects: &mut Effects) -> bool {
        let Some(by) = self.node(n).cancelled else { return false };
        if answer {
            effects.sees.push(by);
            match self.node(n).is_born_cancelled {
                true => self.seen.push((me, by)),
                false => self.node(n).seen.push(me),
            }
            return true;
        }
        effects.misses.push(by);
        effects.misses.extend(self.seen.iter().filter(|(_, all_by)| *all_by == by).map(|(call, _)| *call));
        let mut above = Some(n);
        while let Some(node) = above.and_then(|n| self.nodes[n].as_ref()) {
            effects.misses.extend(&node.seen);
            above = node.parent;
        }
        false
    }

    fn is_needless(&self, n: usize) -> bool {
        self.nodes[n].as_ref().is_some_and(|node| node.tokens == 0) && self.children(n).len() <= 1
    }
}

impl Spec<Cancellations> for Tree {
    fn new((): (), roles: &[Role]) -> Self {
        let has = roles.iter().map(|&role| vec![role as usize]).collect();
        let mut tree = Tree { nodes: Vec::new(), has, waits: vec![false; roles.len()], seen: Vec::new() };
        let above = [None, Some(0), Some(1)];
        for parent in above {
            tree.add(parent, None);
        }
        roles.iter().for_each(|&role| tree.node(role as usize).tokens += 1);
        (0..above.len()).for_each(|n| tree.drop_token(n));
        tree
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let has = &self.has[me.thread];
        let (highest, lowest) = (has[0], *has.last()?);
        Some(match does {
            Does::Begin(Op::Cancel, _) => {
                self.cancel(lowest, me);
                Answer::Done
            }
            Does::Begin(Op::Ask, _) => Answer::Is(self.asked(highest, me, answer != Some(&Answer::Is(false)), effects)),
            Does::Begin(Op::Child, _) => {
                let cancelled = self.node(lowest).cancelled;
                let child = self.add(Some(lowest), cancelled);
                self.has[me.thread].push(child);
                Answer::Done
            }
            Does::Begin(Op::Drop, _) => {
                self.has[me.thread].pop();
                self.drop_token(lowest);
                Answer::Done
            }
            Does::Begin(Op::Count, _) => {
                let waiters = self.waits.iter().filter(|&&waits| waits).count();
                Answer::Has(self.nodes.iter().flatten().count(), waiters)
            }
            Does::Poll => {
                let cancelled = self.node(lowest).cancelled;
                self.waits[me.thread] = cancelled.is_none();
                effects.sees.push(cancelled?);
                self.seen.extend(cancelled.map(|by| (me, by)));
                Answer::Done
            }
            Does::Begin(Op::Wait, _) => return None,
            Does::GiveUp => {
                self.waits[me.thread] = false;
                return None;
            }
            Does::Enable => unreachable!("no wait for a token is enabled"),
        })
    }
}
