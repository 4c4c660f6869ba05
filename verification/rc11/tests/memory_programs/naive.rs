//! All executions of a program, by adding the next event of every thread in every way that the axioms allow, to every
//! execution that was found with one event less. Nothing is clever here: what is known before an event is a set of events,
//! and two ways to the same execution are found to be the same by comparing them.

use super::program::{Op, Program, Strength, WORDS};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

/// So many blocks of an execution may lie where one lay that was freed.
pub(crate) const REUSE: usize = 2;

/// Which thread, and which of its events. Thread 0 is the one that starts the others.
type Id = (usize, usize);

/// A block: by the allocation that first gave out its address.
type Address = Option<Id>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    Word(usize),
    /// The atomic of what an allocation gave out.
    Atomic(Id),
    Cell(Id),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum What {
    /// A place is read, written, or both.
    Access {
        place: Place,
        reads: Option<Source>,
        writes: Option<Value>,
        acquires: bool,
        releases: bool,
    },
    Fence {
        acquires: bool,
        releases: bool,
    },
    Alloc {
        address: Id,
        of: Option<Id>,
    },
    Free {
        allocation: Id,
    },
}

/// Whose value is read: what the place was made with, or a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Made,
    Write(Id),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Number(u64),
    Pointer(Address),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Event {
    what: What,
    /// What happens before it.
    before: BTreeSet<Id>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Thread {
    events: Vec<Event>,
    /// How many of its program's operations it has done.
    done: usize,
    mine: Address,
    seen: Address,
    log: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Execution {
    threads: Vec<Thread>,
    /// The writes of each place, in their order.
    orders: BTreeMap<Place, Vec<Id>>,
    /// What each allocation's block holds at first.
    made: BTreeMap<Id, u64>,
}

/// The program does what must not be done.
struct Wrong;

impl Execution {
    fn event(&self, (thread, n): Id) -> &Event {
        &self.threads[thread].events[n]
    }

    fn ids(&self) -> impl Iterator<Item = Id> + '_ {
        (0..self.threads.len()).flat_map(|thread| (0..self.threads[thread].events.len()).map(move |n| (thread, n)))
    }

    fn next_id(&self, thread: usize) -> Id {
        (thread, self.threads[thread].events.len())
    }

    /// What happens before the next event of `thread`, if it acquires nothing.
    fn known(&self, thread: usize) -> BTreeSet<Id> {
        let start = |thread: &Thread| (0..thread.events.len()).map(|n| (0, n)).collect();
        let events = &self.threads[thread].events;
        match events.last() {
            None if thread == 0 => BTreeSet::new(),
            None => start(&self.threads[0]),
            Some(last) => last.before.iter().copied().chain([(thread, events.len() - 1)]).collect(),
        }
    }

    /// What a thread that acquires by reading `write` then knows of.
    fn released(&self, write: Id) -> BTreeSet<Id> {
        let mut all = BTreeSet::new();
        let mut head = write;
        loop {
            let (thread, n) = head;
            let What::Access { place: Place::Word(_) | Place::Atomic(_), reads, releases, .. } = &self.event(head).what
            else {
                return all;
            };
            let is_release = |&m: &usize| matches!(self.event((thread, m)).what, What::Fence { releases: true, .. });
            let last_fence = (0..n).rev().find(is_release).map(|m| (thread, m));
            for from in releases.then_some(head).into_iter().chain(last_fence) {
                all.extend(self.event(from).before.iter().copied().chain([from]));
            }
            match reads {
                // It goes on through an update.
                Some(Source::Write(other)) => head = *other,
                _ => return all,
            }
        }
    }

    /// Where a write stands in its place's order, from 1.
    fn rank(&self, place: Place, source: Source) -> usize {
        match source {
            Source::Made => 0,
            Source::Write(id) => 1 + self.orders[&place].iter().position(|other| *other == id).unwrap(),
        }
    }

    fn value(&self, place: Place, source: Source) -> Value {
        match (source, place) {
            (Source::Made, Place::Word(_)) => Value::Pointer(None),
            (Source::Made, Place::Atomic(of) | Place::Cell(of)) => Value::Number(self.made[&of]),
            (Source::Write(id), _) => match self.event(id).what {
                What::Access { writes: Some(value), .. } => value,
                _ => unreachable!("a write"),
            },
        }
    }

    fn sources(&self, place: Place) -> Vec<Source> {
        let writes = self.orders.get(&place).into_iter().flatten();
        [Source::Made].into_iter().chain(writes.map(|id| Source::Write(*id))).collect()
    }

    /// Twice the rank of a write, once more for a read: one access is before another if this is less.
    fn position(&self, id: Id) -> usize {
        match self.event(id).what {
            What::Access { place, writes: Some(_), .. } => 2 * self.rank(place, Source::Write(id)),
            What::Access { place, reads: Some(source), .. } => 2 * self.rank(place, source) + 1,
            _ => unreachable!("an access"),
        }
    }

    fn place_of(&self, id: Id) -> Option<Place> {
        match self.event(id).what {
            What::Access { place, .. } => Some(place),
            _ => None,
        }
    }

    /// Is a newly added access in no contradiction to those that happen before it, and to updates?
    fn is_coherent(&self, new: Id) -> bool {
        let place = self.place_of(new).expect("an access");
        let here = self.position(new);
        let known = self.event(new).before.iter().filter(|&&id| self.place_of(id) == Some(place));
        let order = self.orders.get(&place).map_or(&[][..], Vec::as_slice);
        let follows = |(n, id): (usize, &Id)| match self.event(*id).what {
            // Nothing stands between an update and what it reads.
            What::Access { reads: Some(source), .. } => self.rank(place, source) == n,
            _ => true,
        };
        known.into_iter().all(|&id| self.position(id) <= here) && order.iter().enumerate().all(follows)
    }

    /// The execution with one more event.
    fn with(&self, thread: usize, what: What, known: BTreeSet<Id>, then: impl FnOnce(&mut Thread)) -> Execution {
        let mut more = self.clone();
        more.threads[thread].events.push(Event { what, before: known });
        more.threads[thread].done += 1;
        then(&mut more.threads[thread]);
        more
    }

    /// With an access of an atomic that reads `source`, if it reads, and stands at any place it may, if it writes.
    fn with_access(
        &self,
        thread: usize,
        place: Place,
        (reads, writes): (Option<Source>, Option<Value>),
        strength: Strength,
        then: impl Fn(&mut Thread),
    ) -> Vec<Execution> {
        let id = self.next_id(thread);
        let mut known = self.known(thread);
        if let (Some(Source::Write(write)), true) = (reads, strength.acquires()) {
            known.extend(self.released(write));
        }
        let what = What::Access {
            place,
            reads,
            writes,
            acquires: strength.acquires(),
            releases: strength.releases() && writes.is_some(),
        };
        let base = self.with(thread, what, known, &then);
        let len = self.orders.get(&place).map_or(0, Vec::len);
        let ranks: Vec<usize> = match (reads, writes) {
            (_, None) => return Some(base).filter(|base| base.is_coherent(id)).into_iter().collect(),
            (Some(source), _) => vec![self.rank(place, source)],
            (None, _) => (0..=len).collect(),
        };
        let at = |rank: usize| {
            let mut more = base.clone();
            more.orders.entry(place).or_default().insert(rank, id);
            more
        };
        ranks.into_iter().map(at).filter(|more| more.is_coherent(id)).collect()
    }

    fn given_again(&self, id: Id) -> bool {
        matches!(self.event(id).what, What::Alloc { of: Some(_), .. })
    }

    fn free_of(&self, allocation: Id) -> Option<Id> {
        self.ids().find(|id| self.event(*id).what == What::Free { allocation })
    }

    /// Which allocation gave out what lies at `address` for `thread`, which must know of it.
    fn there(&self, thread: usize, address: Id) -> Result<Id, Wrong> {
        let is_it = |id: &Id| matches!(self.event(*id).what, What::Alloc { address: other, .. } if other == address);
        let is_there = |id: &Id| is_it(id) && self.free_of(*id).is_none();
        let allocation = self.ids().find(is_there).ok_or(Wrong)?;
        if self.known(thread).contains(&allocation) { Ok(allocation) } else { Err(Wrong) }
    }

    fn free(&self, thread: usize, address: Id, is_move: bool) -> Result<Execution, Wrong> {
        let allocation = self.there(thread, address)?;
        let known = self.known(thread);
        let is_of_it =
            |id: &Id| matches!(self.place_of(*id), Some(Place::Atomic(of) | Place::Cell(of)) if of == allocation);
        if self.ids().filter(is_of_it).any(|id| !known.contains(&id)) {
            return Err(Wrong);
        }
        // All is known, so that the last one is what is there.
        let last = self.sources(Place::Atomic(allocation)).pop().expect("what it was made with");
        let value = self.value(Place::Atomic(allocation), last);
        Ok(self.with(thread, What::Free { allocation }, known, |thread| {
            if let (true, Value::Number(value)) = (is_move, value) {
                _ = write!(thread.log, "{value} ");
            }
        }))
    }

    fn allocate(&self, thread: usize, value: u64) -> Vec<Execution> {
        let id = self.next_id(thread);
        let of_which = |id: Id| match self.event(id).what {
            What::Alloc { of, .. } => of,
            _ => None,
        };
        let taken: Vec<Id> = self.ids().filter_map(of_which).collect();
        let is_free = |id: &Id| matches!(self.event(*id).what, What::Free { .. }) && !taken.contains(id);
        let freed = self.ids().filter(is_free).filter(|_| taken.len() < REUSE).map(Some);
        let one = |of: Option<Id>| {
            let mut known = self.known(thread);
            let address = of.map_or(id, |free| {
                known.extend(self.event(free).before.iter().copied().chain([free]));
                let What::Free { allocation } = self.event(free).what else { unreachable!("it frees") };
                let What::Alloc { address, .. } = self.event(allocation).what else { unreachable!("it allocates") };
                address
            });
            let mut more = self.with(thread, What::Alloc { address, of }, known, |thread| thread.mine = Some(address));
            more.made.insert(id, value);
            more
        };
        [None].into_iter().chain(freed).map(one).collect()
    }

    /// A plain access: nothing that it is not ordered with may touch the place, and it reads the last that was written.
    fn plain(&self, thread: usize, place: Place, writes: Option<u64>) -> Result<Execution, Wrong> {
        let known = self.known(thread);
        let writes_too = |id: &Id| matches!(self.event(*id).what, What::Access { writes: Some(_), .. });
        let mut others = self.ids().filter(|id| self.place_of(*id) == Some(place) && !known.contains(id));
        if others.any(|id| writes.is_some() || writes_too(&id)) {
            return Err(Wrong);
        }
        let id = self.next_id(thread);
        let source = self.sources(place).pop().expect("what it was made with");
        let Value::Number(found) = self.value(place, source) else { unreachable!("a number") };
        let reads = writes.is_none().then_some(source);
        let what = What::Access { place, reads, writes: writes.map(Value::Number), acquires: false, releases: false };
        let mut more = self.with(thread, what, known, |thread| {
            if writes.is_none() {
                _ = write!(thread.log, "{found} ");
            }
        });
        if writes.is_some() {
            more.orders.entry(place).or_default().push(id);
        }
        Ok(more)
    }

    fn fence(&self, thread: usize, strength: Strength) -> Execution {
        let mut known = self.known(thread);
        if strength.acquires() {
            for event in &self.threads[thread].events {
                let What::Access { place, reads: Some(Source::Write(write)), .. } = event.what else { continue };
                if !matches!(place, Place::Cell(_)) {
                    known.extend(self.released(write));
                }
            }
        }
        let what = What::Fence { acquires: strength.acquires(), releases: strength.releases() };
        self.with(thread, what, known, |_| ())
    }

    /// The executions with what `thread` does next.
    fn next(&self, thread: usize, op: Op) -> Result<Vec<Execution>, Wrong> {
        let Thread { mine, seen, .. } = self.threads[thread];
        let note = |thread: &mut Thread, what: u64| _ = write!(thread.log, "{what} ");
        let pointer = |source: Source, place: Place| match self.value(place, source) {
            Value::Pointer(address) => address,
            Value::Number(_) => unreachable!("a pointer"),
        };
        let through = |this: &Execution| match seen {
            Some(address) => this.there(thread, address).map(Some),
            None => Ok(None),
        };
        Ok(match op {
            Op::Alloc(value) => self.allocate(thread, value),
            Op::Fence(strength) => vec![self.fence(thread, strength)],
            Op::Publish(word, strength) => {
                let writes = (None, Some(Value::Pointer(mine)));
                self.with_access(thread, Place::Word(word), writes, strength, |_| ())
            }
            Op::Look(word, strength) => {
                let place = Place::Word(word);
                let one = |source: Source| {
                    let found = pointer(source, place);
                    self.with_access(thread, place, (Some(source), None), strength, |thread| thread.seen = found)
                };
                self.sources(place).into_iter().flat_map(one).collect()
            }
            Op::Swap(word, strength) => {
                let place = Place::Word(word);
                let one = |source: Source| {
                    let found = pointer(source, place);
                    let what = (Some(source), Some(Value::Pointer(mine)));
                    self.with_access(thread, place, what, strength, |thread| thread.seen = found)
                };
                self.sources(place).into_iter().flat_map(one).collect()
            }
            Op::Exchange(word, strength) => {
                let place = Place::Word(word);
                let one = |source: Source| {
                    let is_it = pointer(source, place) == seen;
                    let strength = if is_it { strength } else { Strength::Relaxed };
                    let what = (Some(source), is_it.then_some(Value::Pointer(mine)));
                    self.with_access(thread, place, what, strength, |thread| note(thread, u64::from(is_it)))
                };
                self.sources(place).into_iter().flat_map(one).collect()
            }
            Op::Free | Op::Move | Op::Read(_) | Op::Write(..) | Op::ReadPlain | Op::WritePlain(_) => {
                let Some(of) = through(self)? else {
                    let mut more = self.clone();
                    more.threads[thread].done += 1;
                    note(&mut more.threads[thread], 99);
                    return Ok(vec![more]);
                };
                let (place, cell) = (Place::Atomic(of), Place::Cell(of));
                match op {
                    Op::Read(strength) => {
                        let one = |source: Source| {
                            let Value::Number(found) = self.value(place, source) else { unreachable!("a number") };
                            self.with_access(thread, place, (Some(source), None), strength, |thread| {
                                note(thread, found)
                            })
                        };
                        self.sources(place).into_iter().flat_map(one).collect()
                    }
                    Op::Write(value, strength) => {
                        self.with_access(thread, place, (None, Some(Value::Number(value))), strength, |_| ())
                    }
                    Op::ReadPlain => vec![self.plain(thread, cell, None)?],
                    Op::WritePlain(value) => vec![self.plain(thread, cell, Some(value))?],
                    _ => vec![self.free(thread, seen.expect("not null"), op == Op::Move)?],
                }
            }
        })
    }
}

/// How each execution ends, and how many there are of it, if the program is right.
pub(crate) type Outcomes = Option<BTreeMap<String, usize>>;

/// The outcomes; and does a block lie where one was freed, in any execution?
pub(crate) fn outcomes(program: &Program) -> (Outcomes, bool) {
    let Some(all) = executions(program) else { return (None, false) };
    let reuses = all.iter().any(|execution| execution.ids().any(|id| execution.given_again(id)));
    let mut outcomes = BTreeMap::new();
    for execution in all {
        let logs: Vec<&str> = execution.threads[1..].iter().map(|thread| thread.log.as_str()).collect();
        *outcomes.entry(logs.join("| ")).or_default() += 1;
    }
    (Some(outcomes), reuses)
}

/// All of them. None, if the program is wrong.
fn executions(program: &Program) -> Option<HashSet<Execution>> {
    let threads = vec![Thread::default(); program.threads.len() + 1];
    let empty = Execution { threads, orders: BTreeMap::new(), made: BTreeMap::new() };
    let prologue = [Op::Alloc(0), Op::Swap(0, Strength::Relaxed)];
    let mut start = prologue.into_iter().try_fold(vec![empty], |all, op| {
        all.iter().map(|one| one.next(0, op)).collect::<Result<Vec<_>, Wrong>>().map(|next| next.concat())
    });
    let mut now: HashSet<Execution> = start.as_mut().ok()?.drain(..).collect();
    debug_assert_eq!(now.len(), WORDS - 1);
    let steps = program.threads.iter().map(Vec::len).sum();
    for _ in 0..steps {
        let mut next = HashSet::new();
        for execution in &now {
            for (n, ops) in program.threads.iter().enumerate() {
                if let Some(op) = ops.get(execution.threads[n + 1].done) {
                    next.extend(execution.next(n + 1, *op).ok()?);
                }
            }
        }
        now = next;
    }
    Some(now)
}
