//! What one thread does for others, which sleep until it is done.
//!
//! Invariant 124: a requester gets one answer: what the server made of the request, or the request itself, if that has ended; each is
//! served once, in the order in which they came, after what was done before it was asked.

use crate::host::RoomHost;
use crate::plain::Plain;
use crate::program::Program;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, Waiting};
use crate::values::{Maker, Value};
use kernel::waits::requests::{Next, Request, Requests, Taken, Unanswered};
use std::collections::{BTreeMap, VecDeque};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// The room.
#[derive(Debug)]
pub struct Served;

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It asks.
    Asker,
    /// It serves.
    Server,
    /// It ends the server.
    Ender,
    /// It does all of that but what would sleep.
    Alone,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Asks, and sleeps until it is answered.
    Ask,
    /// Puts a request there.
    Put,
    /// Sleeps until the oldest that it has put is answered.
    Wait,
    /// Serves until the end.
    Serve,
    /// Sleeps until there is one, and serves that.
    ServeOne,
    /// Sleeps until there is one, and ends over it.
    LoseOne,
    /// Takes one, if there is one.
    Next,
    /// Answers the oldest that it has taken.
    Answer,
    /// Drops that.
    Lose,
    /// It is over.
    End,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The request was served.
    Served(u64),
    /// It comes back.
    Back(u64),
    /// The server has ended over it.
    Lost,
    /// Was it put there?
    Put(bool),
    /// There is none.
    Nothing,
    /// It is over.
    Over,
    /// It is done.
    Done,
}

impl Room for Served {
    type Setup = ();
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = Asked;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "requests";

    fn setups() -> Vec<()> {
        vec![()]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Asker, Role::Server, Role::Ender, Role::Alone]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        let count = |op| done.iter().filter(|&&other| other == op).count();
        let wait = (count(Op::Put) > count(Op::Wait)).then_some(Op::Wait);
        let ops: &[Op] = match role {
            Role::Asker => &[Op::Ask, Op::Put],
            Role::Server => &[Op::Serve, Op::ServeOne, Op::LoseOne],
            Role::Ender => &[Op::End],
            Role::Alone => &[Op::Put, Op::Next, Op::Answer, Op::Lose, Op::End, Op::Ask, Op::Serve],
        };
        ops.iter().copied().chain(wait).collect()
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        matches!(op, Op::Ask | Op::Wait | Op::Serve | Op::ServeOne | Op::LoseOne)
    }
    /// There is one server.
    fn is_worth_it(roles: &[Role]) -> bool {
        let count = |role| roles.iter().filter(|&&other| other == role).count();
        if count(Role::Alone) > 0 {
            return roles.len() == 1 + count(Role::Ender) && roles.len() < 3;
        }
        count(Role::Server) <= 1 && count(Role::Ender) <= 1 && (roles.len() < 3 || count(Role::Server) == 1)
    }
    fn focuses() -> Vec<Focus<Self>> {
        // One after the other, and what the end leaves; a request that is there still though another was refused.
        let alone = |role, op, _| role == Role::Alone && !matches!(op, Op::Lose | Op::Ask | Op::Serve);
        let ended = |_, op, _| matches!(op, Op::Put | Op::Next | Op::End);
        let is_played = |program: &Program<Self>| program.roles() == [Role::Alone, Role::Ender];
        vec![Focus::new(&[6], alone), Focus { lens: &[3, 1], has: ended, is_played }]
    }
}

/// A request: the server does it after what its asker has done.
pub struct Body<H: RoomHost> {
    value: Value<H>,
    done: Arc<Plain<H, u64>>,
}

impl<H: RoomHost> Body<H> {
    fn new(values: &Maker<H>) -> (Self, Arc<Plain<H, u64>>) {
        let done = Arc::new(Plain::new(0));
        done.write(|done| *done = 1);
        (Body { value: values.value(), done: Arc::clone(&done) }, done)
    }

    /// The server does it.
    fn serve(self) -> u64 {
        let was = self.done.write(|done| std::mem::replace(done, 2));
        assert!(was == 1, "it is served, and was not asked for, or was served before");
        self.value.take()
    }
}

/// What a thread has put there.
type Put<H> = (Arc<Request<H, Body<H>, u64>>, Arc<Plain<H, u64>>);

/// What the server has taken.
type Has<H> = (Body<H>, Taken<H, Body<H>, u64>);

/// The server's requests on a host. What is left at the end is not freed: that is no call.
pub struct OnHost<H: RoomHost>(ManuallyDrop<Requests<H, Body<H>, u64>>);

/// What a thread has put there, and what it has taken.
pub struct Hand<H: RoomHost> {
    put: VecDeque<Put<H>>,
    taken: VecDeque<Has<H>>,
}

fn told<H: RoomHost>(answer: Result<u64, Unanswered<Body<H>>>, done: &Plain<H, u64>) -> Answer {
    let (answer, is) = match answer {
        Ok(number) => (Answer::Served(number), 2),
        Err(Unanswered::Ended(body)) => (Answer::Back(body.value.take()), 1),
        Err(Unanswered::Lost) => (Answer::Lost, 1),
    };
    assert!(done.read(|done| *done) == is, "{answer:?}, and that is not what the server did");
    answer
}

impl<H: RoomHost> OnHost<H> {
    /// The server sleeps until there is one, or it is over.
    fn next(&self) -> Option<Has<H>> {
        loop {
            match self.0.next() {
                Next::Request(body, taken) => return Some((body, taken)),
                Next::Nothing => self.0.park(),
                Next::Over => return None,
            }
        }
    }
}

impl<H: RoomHost> Real<Served, H> for OnHost<H> {
    type Hand = ManuallyDrop<Hand<H>>;

    fn new((): (), _: &[Role]) -> Self {
        OnHost(ManuallyDrop::new(Requests::new()))
    }
    fn hand(&self, _: Role) -> Self::Hand {
        ManuallyDrop::new(Hand { put: VecDeque::new(), taken: VecDeque::new() })
    }
    fn begin<'a>(&'a self, has: &'a mut Self::Hand, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        Begun::Over(match op {
            Op::Ask => {
                let (body, done) = Body::new(values);
                told(self.0.ask(body), &done)
            }
            Op::Put => {
                let (body, done) = Body::new(values);
                let request = Request::new(body);
                let is_put = self.0.with(|waiting| waiting.put(&request));
                match is_put {
                    true => self.0.unpark(),
                    false => request.give_back(),
                }
                has.put.push_back((request, done));
                Answer::Put(is_put)
            }
            Op::Wait => {
                let (request, done) = has.put.pop_front().expect("it has put one there");
                told(request.wait(), &done)
            }
            Op::Serve => {
                self.0.serve(Body::serve);
                Answer::Over
            }
            Op::ServeOne => self.next().map_or(Answer::Over, |(body, taken)| {
                let number = body.serve();
                taken.answer(number);
                Answer::Served(number)
            }),
            Op::LoseOne => {
                let _ends = self.0.ends_with();
                self.next().map_or(Answer::Over, |(body, _taken)| Answer::Served(body.value.take()))
            }
            Op::Next => match self.0.next() {
                Next::Request(body, taken) => {
                    let number = body.value.number();
                    has.taken.push_back((body, taken));
                    Answer::Served(number)
                }
                Next::Nothing => Answer::Nothing,
                Next::Over => Answer::Over,
            },
            Op::Answer => has.taken.pop_front().map_or(Answer::Nothing, |(body, taken)| {
                taken.answer(body.serve());
                Answer::Done
            }),
            Op::Lose => has.taken.pop_front().map_or(Answer::Nothing, |_| Answer::Done),
            Op::End => {
                self.0.end();
                Answer::Done
            }
        })
    }
}

/// Where a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    Queue,
    Server,
    /// Answered, in that call.
    Answered(Answer, CallId),
}

/// The requests by number, those that wait, and what each thread has put there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Asked {
    all: BTreeMap<u64, At>,
    queue: VecDeque<u64>,
    put: Vec<VecDeque<u64>>,
    /// Those that the server has.
    taken: VecDeque<u64>,
    /// What the server that ends over one has taken.
    lost: Option<u64>,
    /// Since that call.
    over: Option<CallId>,
}

impl Asked {
    /// Was it put there?
    fn put(&mut self, me: CallId, number: u64) -> bool {
        match self.over {
            Some(_) => self.all.insert(number, At::Answered(Answer::Back(number), me)),
            None => self.all.insert(number, At::Queue),
        };
        self.queue.extend(self.over.is_none().then_some(number));
        self.over.is_none()
    }

    fn take(&mut self) -> Option<u64> {
        let number = self.queue.pop_front()?;
        self.all.insert(number, At::Server);
        Some(number)
    }

    fn answer(&mut self, me: CallId, number: u64, answer: Answer) {
        self.all.insert(number, At::Answered(answer, me));
    }

    fn end(&mut self, me: CallId) {
        self.over.get_or_insert(me);
        for number in std::mem::take(&mut self.queue) {
            self.answer(me, number, Answer::Back(number));
        }
    }

    /// The answer, once it is there.
    fn answered(&mut self, number: u64, effects: &mut Effects) -> Option<Answer> {
        let At::Answered(answer, by) = *self.all.get(&number)? else { return None };
        self.all.remove(&number);
        effects.sees.push(by);
        Some(answer)
    }
}

impl Spec<Served> for Asked {
    fn new((): (), roles: &[Role]) -> Self {
        let put = vec![VecDeque::new(); roles.len()];
        Asked { all: BTreeMap::new(), queue: VecDeque::new(), put, taken: VecDeque::new(), lost: None, over: None }
    }

    /// An asker puts its request there, and then sleeps. A server takes one after the other; one that ends over a request has taken it
    /// before.
    fn step_before(&self, me: CallId, does: Does<Op>, _: Option<&Answer>) -> Option<Self> {
        let mut next = self.clone();
        match does {
            Does::Begin(Op::Ask, number) if !self.all.contains_key(&number) => _ = next.put(me, number),
            Does::Begin(Op::Serve, _) => {
                let number = next.take()?;
                next.answer(me, number, Answer::Served(number));
            }
            Does::Begin(Op::LoseOne, _) if self.lost.is_none() => {
                next.lost = Some(next.take()?);
                next.answer(me, next.lost?, Answer::Lost);
            }
            _ => return None,
        }
        Some(next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, number) = does else { return None };
        match op {
            Op::Ask => self.answered(number, effects),
            Op::Put => {
                self.put[me.thread].push_back(number);
                Some(Answer::Put(self.put(me, number)))
            }
            Op::Wait => {
                let number = *self.put[me.thread].front()?;
                let answer = self.answered(number, effects)?;
                self.put[me.thread].pop_front();
                Some(answer)
            }
            Op::Serve | Op::ServeOne | Op::Next | Op::LoseOne => {
                let taken = if op == Op::LoseOne { self.lost.take() } else { self.take() };
                match (taken, self.over) {
                    (Some(number), _) => match op {
                        Op::ServeOne => self.answer(me, number, Answer::Served(number)),
                        Op::Next => self.taken.push_back(number),
                        _ => self.end(me),
                    },
                    (None, Some(by)) => effects.sees.push(by),
                    (None, None) => return (op == Op::Next).then_some(Answer::Nothing),
                }
                Some(taken.map_or(Answer::Over, Answer::Served))
            }
            Op::Answer | Op::Lose => match self.taken.pop_front() {
                Some(number) if op == Op::Answer => {
                    self.answer(me, number, Answer::Served(number));
                    Some(Answer::Done)
                }
                Some(number) => {
                    effects.drops = 1;
                    self.answer(me, number, Answer::Lost);
                    Some(Answer::Done)
                }
                None => Some(Answer::Nothing),
            },
            Op::End => {
                self.end(me);
                Some(Answer::Done)
            }
        }
    }

    fn held(&self) -> usize {
        let has = |at: &At| matches!(at, At::Queue | At::Answered(Answer::Back(_), _));
        self.all.values().filter(|at| has(at)).count() + self.taken.len()
    }
}
