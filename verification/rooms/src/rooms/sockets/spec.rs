//! The table, the lists of each socket, and what the threads that are inside of a call have done.

use super::system::{Both, State};
use super::{Answer, KnownSockets, Op, Role, Setup, served, socket_of};
use crate::room::{CallId, Does, Effects, Spec};
use kernel::waits::readiness::SLOTS;

/// How a task waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum By {
    Id(u64),
    /// By a function, as that task.
    Function(u64),
}

/// A socket, as long as it has a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Entry {
    socket: usize,
    key: usize,
    /// The system knows it, and which time that is.
    known: Option<usize>,
    lists: [Vec<(u64, By)>; 2],
    armed: Both,
    is_closed: bool,
}

/// What a thread has done in the call that it is inside of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Doing {
    Nothing,
    Changed,
    /// It has taken that report of that key.
    Has(Option<(usize, Both)>),
    /// And has found that socket.
    Found(Option<usize>, Both),
    /// And has taken these, and armed the socket.
    Took(Vec<u64>, bool),
    /// The key is free.
    Removed,
    /// It ends those sockets yet, and has taken these.
    Ends(Vec<usize>, Vec<u64>),
    /// The socket has that key; the system knows it; or has refused it.
    Inserted,
    Added,
    Refused,
    /// It was listed, or not.
    Left(bool),
    /// It is counted, and about to be listed. Is it the first?
    Counted(bool),
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Hand {
    socket: usize,
    entry: Option<usize>,
    ids: [Option<u64>; 2],
    doing: Doing,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Table {
    is_armed_each_time: bool,
    system: State,
    /// Each that there ever was.
    entries: Vec<Entry>,
    /// Which of them has which key, and the keys that are free, the last one last.
    keys: Vec<Option<usize>>,
    free: Vec<usize>,
    is_closed: bool,
    hands: Vec<Hand>,
    served: usize,
    count: u64,
}

impl Table {
    fn insert(&mut self, socket: usize) -> usize {
        let key = self.free.pop().unwrap_or(self.keys.len());
        self.keys.resize(self.keys.len().max(key + 1), None);
        let number = self.entries.len();
        self.keys[key] = Some(number);
        let lists = Default::default();
        self.entries.push(Entry { socket, key, known: None, lists, armed: [false; 2], is_closed: false });
        number
    }

    fn remove(&mut self, entry: usize) {
        let key = self.entries[entry].key;
        self.keys[key] = None;
        self.free.push(key);
    }

    /// The system knows it, unless it refuses.
    fn add(&mut self, entry: usize) -> Result<(), ()> {
        let of = &mut self.entries[entry];
        of.known = Some(self.system.add(of.socket, of.key)?);
        Ok(())
    }

    /// Whose place one takes that waits so: its own, or that of the oldest.
    fn place(&self, entry: usize, at: usize, by: By) -> Option<usize> {
        let list = &self.entries[entry].lists[at];
        let is_function = |by: &By| matches!(by, By::Function(_));
        let is_full = is_function(&by) && list.iter().filter(|(_, other)| is_function(other)).count() >= SLOTS;
        let mine = list.iter().position(|(_, other)| *other == by);
        mine.or_else(|| list.iter().position(|(_, other)| is_full && is_function(other)))
    }

    /// One that will be listed in a place of its own is counted before.
    fn counted(&mut self, entry: usize, at: usize, by: By) -> Option<Doing> {
        let is_counted = !self.entries[entry].is_closed && self.place(entry, at, by).is_none();
        self.count += u64::from(is_counted);
        is_counted.then_some(Doing::Counted(self.count == 1))
    }

    fn list(&mut self, entry: usize, at: usize, by: By, number: u64, doing: &Doing) -> Answer {
        if self.entries[entry].is_closed {
            return Answer::Closed;
        }
        let place = self.place(entry, at, by);
        let list = &mut self.entries[entry].lists[at];
        let old = place.map(|place| list.remove(place).0);
        list.push((number, by));
        if let Some(old) = old {
            return Answer::Instead(old);
        }
        if self.arm(entry).is_err() {
            self.entries[entry].lists[at].pop();
            return Answer::Refused(self.give_up(1));
        }
        Answer::Listed(*doing == Doing::Counted(true))
    }

    fn arm(&mut self, entry: usize) -> Result<(), ()> {
        let of = &mut self.entries[entry];
        let wanted = [0, 1].map(|at| !of.lists[at].is_empty());
        let is_armed = [0, 1].iter().all(|&at| of.armed[at] || !wanted[at]);
        if self.is_armed_each_time && of.known.is_some() && !is_armed {
            self.system.arm(of.socket, wanted)?;
            of.armed = wanted;
        }
        Ok(())
    }

    /// Empties its lists: those of these directions.
    fn drain(&mut self, entry: usize, what: Both) -> Vec<u64> {
        let lists = self.entries[entry].lists.iter_mut().zip(what).filter(|(_, is_so)| *is_so);
        lists.flat_map(|(list, _)| list.drain(..)).map(|(number, _)| number).collect()
    }

    fn take_ready(&mut self, entry: usize, what: Both) -> Doing {
        self.entries[entry].armed = [false; 2];
        let mut taken = self.drain(entry, what);
        let is_armed = self.arm(entry).is_ok();
        taken.extend(if is_armed { Vec::new() } else { self.drain(entry, [true; 2]) });
        Doing::Took(taken, is_armed)
    }

    /// They wait no more. Were they the last?
    fn give_up(&mut self, gone: u64) -> bool {
        self.count -= gone;
        gone > 0 && self.count == 0
    }

    fn has(&self, entry: usize, number: u64) -> bool {
        self.entries[entry].lists.iter().flatten().any(|(other, _)| *other == number)
    }

    /// May a task be listed whose try would block? Something is reported then, yet.
    fn may_be_listed(&self, entry: usize, at: usize) -> bool {
        let of = &self.entries[entry];
        let brings = |hand: &Hand| match hand.doing {
            Doing::Has(Some((key, what))) => what[at] && self.keys[key] == Some(entry),
            Doing::Found(found, what) => what[at] && found == Some(entry),
            _ => false,
        };
        let is_ready = self.system.sockets[of.socket].ready[at];
        let is_reported = self.system.is_reported(of.key, at) || self.hands.iter().any(brings);
        !of.is_closed && (self.is_armed_each_time || !is_ready || is_reported)
    }

    /// Which socket, direction and place a task waits in that is about to be listed in this call.
    fn waits(&self, me: CallId, op: Op, number: u64) -> Option<(usize, usize, By)> {
        let hand = &self.hands[me.thread];
        let entry = hand.entry.filter(|&entry| !self.has(entry, number * 16))?;
        let function = By::Function(me.thread as u64);
        Some(match op {
            Op::Io(at) => (entry, at, By::Id(number)),
            Op::PollIo(at) | Op::PollOnce(at) => (entry, at, function),
            Op::Begin(at) => (entry, at, By::Id(hand.ids[at].unwrap_or(number))),
            _ => return None,
        })
    }

    /// A task whose try would block is counted, and then listed.
    fn goes_to_sleep(&self, me: CallId, does: Does<Op>) -> Option<Self> {
        let Does::Begin(op @ (Op::Io(_) | Op::PollIo(_)), number) = does else { return None };
        let (entry, at, by) = self.waits(me, op, number).filter(|&(entry, at, _)| self.may_be_listed(entry, at))?;
        let mut next = self.clone();
        let doing = std::mem::replace(&mut next.hands[me.thread].doing, Doing::Nothing);
        let counted = if doing == Doing::Nothing { next.counted(entry, at, by) } else { None };
        match counted {
            Some(counted) => next.hands[me.thread].doing = counted,
            None => _ = next.list(entry, at, by, number * 16, &doing),
        }
        Some(next)
    }

    /// The next of what the call does before its last.
    fn does_more(&mut self, me: CallId, op: Op, number: u64) -> Option<Doing> {
        let Hand { socket, entry, ids, doing } = self.hands[me.thread].clone();
        Some(match (op, doing) {
            (Op::Serve(at), Doing::Nothing) => {
                self.system.change(self.served, at);
                Doing::Changed
            }
            (Op::Poll, Doing::Nothing) | (Op::Serve(_), Doing::Changed) => Doing::Has(self.system.next()),
            (_, Doing::Has(Some((key, what)))) => Doing::Found(self.keys[key], what),
            (_, Doing::Found(Some(found), what)) => self.take_ready(found, what),
            (_, Doing::Found(None, _)) => Doing::Took(Vec::new(), true),
            (Op::Forget, Doing::Nothing) => {
                self.remove(entry?);
                Doing::Removed
            }
            (Op::Forget, Doing::Removed) => {
                let gone = self.drain(entry?, [true; 2]);
                if let Some(nth) = self.entries[entry?].known.take() {
                    self.system.forget(socket, nth);
                }
                Doing::Ends(Vec::new(), gone)
            }
            (Op::Close, Doing::Nothing) => {
                self.is_closed = true;
                Doing::Ends(self.keys.iter().flatten().copied().collect(), Vec::new())
            }
            (Op::Close, Doing::Ends(mut entries, mut gone)) if !entries.is_empty() => {
                let next = entries.remove(0);
                self.entries[next].is_closed = true;
                gone.extend(self.drain(next, [true; 2]));
                Doing::Ends(entries, gone)
            }
            (Op::Register(_), Doing::Nothing) if entry.is_none() && !self.is_closed => {
                self.hands[me.thread].entry = Some(self.insert(socket));
                Doing::Inserted
            }
            (Op::Register(_), Doing::Inserted) => match self.add(entry?) {
                Ok(()) => Doing::Added,
                Err(()) => Doing::Refused,
            },
            (Op::Register(true), Doing::Added) => {
                self.system.forget(socket, self.entries[entry?].known?);
                Doing::Refused
            }
            (Op::Begin(_) | Op::PollOnce(_), Doing::Nothing) => {
                let (entry, at, by) = self.waits(me, op, number)?;
                self.counted(entry, at, by)?
            }
            (Op::Leave(at), Doing::Nothing) => {
                let list = &mut self.entries[entry?].lists[at];
                let mine = list.iter().position(|(_, by)| Some(*by) == ids[at].map(By::Id));
                Doing::Left(mine.map(|mine| list.remove(mine)).is_some())
            }
            _ => return None,
        })
    }

    /// The last of what a call of the table does.
    fn of_table(&mut self, me: CallId, op: Op, doing: Doing) -> Answer {
        let Hand { socket, entry, .. } = self.hands[me.thread];
        match (op, doing) {
            (_, Doing::Has(None)) => Answer::Nothing,
            (_, Doing::Took(taken, is_armed)) => {
                self.give_up(taken.len() as u64);
                Answer::Woke(taken, is_armed)
            }
            (_, Doing::Ends(_, gone)) => {
                if op == Op::Forget {
                    (self.hands[me.thread].entry, self.hands[me.thread].ids) = (None, [None; 2]);
                }
                let were_last = self.give_up(gone.len() as u64);
                Answer::Ended(gone, were_last)
            }
            (Op::Change(at), _) => Answer::Armed(self.system.change(socket, at)),
            (Op::IsAny, _) => Answer::Is(Some(self.count > 0)),
            (Op::IsEmpty, _) => Answer::Is(Some(self.keys.iter().all(Option::is_none))),
            (Op::Refuse, _) => {
                self.system.refuses = true;
                Answer::Done
            }
            (Op::Register(_), Doing::Refused) => {
                self.hands[me.thread].entry = None;
                entry.into_iter().for_each(|entry| self.remove(entry));
                Answer::Refused(true)
            }
            (Op::Insert, _) if entry.is_none() && !self.is_closed => {
                let new = self.insert(socket);
                self.hands[me.thread].entry = Some(new);
                Answer::Known(self.entries[new].key, self.is_armed_each_time)
            }
            (Op::Register(false), Doing::Added) => {
                Answer::Known(self.entries[entry.expect("it was added")].key, self.is_armed_each_time)
            }
            (Op::Register(_) | Op::Insert, _) if entry.is_none() => Answer::Closed,
            _ => Answer::Nothing,
        }
    }

    /// The last of what a call of a socket does. `None`: it sleeps.
    fn of_socket(&mut self, me: CallId, op: Op, number: u64, doing: Doing) -> Option<Answer> {
        let Some(entry) = self.hands[me.thread].entry else { return Some(Answer::Nothing) };
        let function = By::Function(me.thread as u64);
        Some(match op {
            Op::Io(at) | Op::PollIo(at) => {
                if self.has(entry, number * 16) || doing != Doing::Nothing {
                    return None;
                }
                let is_done = self.system.attempt(self.entries[entry].socket, at);
                return match is_done {
                    true => Some(Answer::Done),
                    false => self.entries[entry].is_closed.then_some(Answer::Closed),
                };
            }
            Op::Begin(at) => {
                let id = *self.hands[me.thread].ids[at].get_or_insert(number);
                self.list(entry, at, By::Id(id), number * 16, &doing)
            }
            Op::PollOnce(at) => self.list(entry, at, function, number * 16, &doing),
            Op::PollMany(at) => {
                let poll = |nth| {
                    let by = By::Function(number * 16 + nth);
                    let doing = self.counted(entry, at, by).unwrap_or(Doing::Nothing);
                    self.list(entry, at, by, number * 16 + nth, &doing)
                };
                (0..=SLOTS as u64).map(poll).last()?
            }
            Op::Leave(at) => {
                let had_one = self.hands[me.thread].ids[at].take().is_some();
                match doing {
                    Doing::Left(true) => Answer::Left(Some(self.give_up(1))),
                    _ if had_one => Answer::Left(None),
                    _ => Answer::Nothing,
                }
            }
            Op::IsWaiting(at) => match self.hands[me.thread].ids[at] {
                Some(id) => {
                    let of = &self.entries[entry];
                    let is_there = of.lists[at].iter().any(|(_, by)| *by == By::Id(id));
                    Answer::Is((!of.is_closed).then_some(is_there))
                }
                None => Answer::Nothing,
            },
            _ if self.entries[entry].known.is_some() => Answer::Refused(true),
            _ => self.add(entry).map_or(Answer::Refused(false), |()| Answer::Done),
        })
    }
}

impl Spec<KnownSockets> for Table {
    fn new((is_armed_each_time, is_begun): Setup, roles: &[Role]) -> Self {
        let (served, is_known) = served(roles);
        let hand = |role: &Role| Hand {
            socket: socket_of(*role),
            entry: Some(socket_of(*role)).filter(|socket| *socket < 2),
            ids: [None; 2],
            doing: Doing::Nothing,
        };
        let mut new = Table {
            is_armed_each_time,
            system: State::new(is_armed_each_time),
            entries: Vec::new(),
            keys: Vec::new(),
            free: Vec::new(),
            is_closed: false,
            hands: roles.iter().map(hand).collect(),
            served,
            count: 0,
        };
        for socket in 0..=usize::from(served == 1) {
            let entry = new.insert(socket);
            assert!(new.add(entry).is_ok(), "the system refuses nothing yet");
        }
        if served > 0 {
            new.remove(0);
        }
        if is_begun && is_known {
            new.counted(served, 0, By::Id(u64::MAX));
            new.list(served, 0, By::Id(u64::MAX), 0, &Doing::Nothing);
            new.system.change(served, 0);
        }
        new
    }

    fn step_before(&self, me: CallId, does: Does<Op>, answer: Option<&Answer>) -> Option<Self> {
        let Does::Begin(op, number) = does else { return None };
        if answer.is_none() || matches!(self.hands[me.thread].doing, Doing::Counted(_)) {
            return self.goes_to_sleep(me, does);
        }
        let mut next = self.clone();
        next.hands[me.thread].doing = next.does_more(me, op, number)?;
        Some(next)
    }

    /// Its try would block, and it waits from then on.
    fn guesses(&self, me: CallId, does: Does<Op>) -> Vec<Self> {
        self.goes_to_sleep(me, does).into_iter().collect()
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, _: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, number) = does else { return None };
        let doing = std::mem::replace(&mut self.hands[me.thread].doing, Doing::Nothing);
        match op.is_of_socket() {
            true => self.of_socket(me, op, number, doing),
            false => Some(self.of_table(me, op, doing)),
        }
    }

    fn held(&self) -> usize {
        self.entries.iter().flat_map(|entry| &entry.lists).map(Vec::len).sum()
    }
}
