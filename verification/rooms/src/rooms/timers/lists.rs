//! What is done with timers, as lists.

use super::{BEHIND, CLOSED, Did, FIRST, Op, Role, TimerQueues};
use crate::room::{CallId, Does, Effects, Spec};
use kernel::host::{NEVER, Nanos};

/// A timer: when it is due, how many were added to its shard before it, its waker, and who has added that.
type Item = (Nanos, u64, u64, CallId);

/// How far a call is that takes several locks, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Begun,
    /// Its waker is in no timer.
    Out(u64),
    /// It has added a timer: as the first?
    In(bool),
    /// It has looked at some shards, and found so much.
    Looked(usize, u64),
}

/// What a thread has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Mine {
    shard: usize,
    /// Its timer's number in the shard, and which waker it is of.
    timer: Option<(u64, u8)>,
    phase: Phase,
    /// What it has done before it added one.
    before: Vec<Did>,
}

/// What happens before what a thread does next; what a lock hands on to the next thread that takes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct View {
    /// Is the flag of the end set?
    is_closed: bool,
    /// So many words of each shard.
    words: Vec<usize>,
}

impl View {
    fn join(&mut self, other: &View) {
        self.is_closed |= other.is_closed;
        self.words.iter_mut().zip(&other.words).for_each(|(mine, other)| *mine = (*mine).max(*other));
    }
}

/// A list for each shard.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lists {
    shards: Vec<Vec<Item>>,
    added: Vec<u64>,
    mine: Vec<Mine>,
    is_closed: bool,
    /// What each shard's word was, and which call set it.
    words: Vec<Vec<(Nanos, CallId)>>,
    threads: Vec<View>,
    locks: Vec<View>,
}

impl Lists {
    fn first(&self, shard: usize) -> Nanos {
        self.shards[shard].first().map_or(NEVER, |first| first.0)
    }

    /// The thread has had the shard's lock: it has set the word, and sees all that was seen by the threads that had the lock before.
    fn unlocks(&mut self, me: CallId, shard: usize) {
        let first = self.first(shard);
        if self.words[shard].last().map_or(NEVER, |last| last.0) != first {
            self.words[shard].push((first, me));
        }
        let view = &mut self.threads[me.thread];
        view.join(&self.locks[shard]);
        view.words[shard] = self.words[shard].len();
        self.locks[shard] = view.clone();
    }

    fn add(&mut self, me: CallId, when: Nanos, waker: u64, who: u8) {
        let shard = self.mine[me.thread].shard;
        let is_first = when < self.first(shard);
        let number = self.added[shard];
        self.added[shard] += 1;
        self.shards[shard].push((when, number, waker, me));
        self.shards[shard].sort_by_key(|item| (item.0, item.1));
        self.unlocks(me, shard);
        let mine = &mut self.mine[me.thread];
        mine.timer = Some((number, who));
        mine.phase = Phase::In(is_first);
    }

    /// Where the thread's timer is, if it is not over.
    fn place(&self, me: CallId) -> Option<usize> {
        let mine = &self.mine[me.thread];
        self.shards[mine.shard].iter().position(|item| Some(item.1) == mine.timer.map(|timer| timer.0))
    }

    fn cancel(&mut self, me: CallId) -> Option<u64> {
        let shard = self.mine[me.thread].shard;
        let item = self.place(me).map(|at| self.shards[shard].remove(at));
        self.unlocks(me, shard);
        item.map(|item| item.2)
    }

    /// Looks at the next shard. What it has found in all, when that was the last.
    fn look(&mut self, me: CallId, op: Op) -> Option<u64> {
        let (at, found) = match self.mine[me.thread].phase {
            Phase::Looked(at, found) => (at, found),
            _ => (0, 0),
        };
        let found = match op {
            Op::Len => found + self.shards[at].len() as u64,
            _ => found.max(u64::from(self.first(at) != NEVER)),
        };
        self.unlocks(me, at);
        self.mine[me.thread].phase = Phase::Looked(at + 1, found);
        (at + 1 == self.shards.len()).then_some(found)
    }

    fn take(&mut self, me: CallId, now: Nanos, answer: Option<&Vec<Did>>, effects: &mut Effects) -> Vec<u64> {
        for step in 0..self.shards.len() {
            let shard = (1 + step) % self.shards.len();
            let due: Vec<Item> = self.shards[shard].iter().copied().filter(|item| item.0 <= now).collect();
            let wakers: Vec<u64> = due.iter().map(|item| item.2).collect();
            if !due.is_empty() && answer == Some(&vec![Did::Took(wakers.clone())]) {
                effects.sees.extend(due.iter().map(|item| item.3));
                self.shards[shard].retain(|item| item.0 > now);
                self.unlocks(me, shard);
                return wakers;
            }
            // Its word was later, as this thread saw it.
            match self.word(me, shard, |word| word > now) {
                Some(missed) => effects.misses.extend(missed),
                None => return wakers,
            }
        }
        Vec::new()
    }

    /// A thread reads a shard's word without its lock: one that is older than others, perhaps, but than none that it has seen. The calls that
    /// it then misses, if it reads one of these.
    fn word(&self, me: CallId, shard: usize, fits: impl Fn(Nanos) -> bool) -> Option<Vec<CallId>> {
        let words = &self.words[shard];
        let word = |at: usize| if at == 0 { NEVER } else { words[at - 1].0 };
        let at = (self.threads[me.thread].words[shard]..=words.len()).rev().find(|at| fits(word(*at)))?;
        Some(words[at..].iter().map(|(_, by)| *by).collect())
    }

    /// When the first is due, as the shards' words say.
    fn deadline(&self, me: CallId, answer: Option<&Vec<Did>>, effects: &mut Effects) -> u64 {
        let Some([Did::Is(said)]) = answer.map(Vec::as_slice) else { return NEVER };
        let all = 0..self.shards.len();
        let missed = |one: usize| -> Option<Vec<CallId>> {
            let of =
                |shard: usize| self.word(me, shard, |word| if shard == one { word == *said } else { word >= *said });
            all.clone().map(of).collect::<Option<Vec<_>>>().map(|missed| missed.concat())
        };
        match all.clone().filter_map(missed).min_by_key(Vec::len) {
            Some(missed) => effects.misses.extend(missed),
            None => return all.map(|shard| self.first(shard)).min().unwrap_or(NEVER),
        }
        *said
    }
}

impl Spec<TimerQueues> for Lists {
    fn new(shards: usize, roles: &[Role]) -> Self {
        let shard = |role: &Role| if let Role::Sleeper(shard) = role { shard % shards } else { 0 };
        let mine = roles
            .iter()
            .map(|role| Mine { shard: shard(role), timer: None, phase: Phase::Begun, before: Vec::new() })
            .collect();
        let view = View { is_closed: false, words: vec![0; shards] };
        Lists {
            shards: vec![Vec::new(); shards],
            added: vec![0; shards],
            mine,
            is_closed: false,
            words: vec![Vec::new(); shards],
            threads: vec![view.clone(); roles.len()],
            locks: vec![view; shards],
        }
    }

    fn step_before(&self, me: CallId, does: Does<Op>, _: Option<&Vec<Did>>) -> Option<Self> {
        let (Does::Begin(op, number), mut next) = (does, self.clone()) else { return None };
        let Mine { timer, phase, .. } = self.mine[me.thread];
        match (op, phase) {
            (Op::Sleep(who, when), Phase::Begun) => {
                let is_new = timer.is_none_or(|timer| timer.1 != who) && self.place(me).is_none();
                is_new.then(|| next.add(me, when, number, who))?;
                next.mine[me.thread].before.extend(timer.map(|_| Did::CameLate(number)));
            }
            (Op::Reset(_), Phase::Begun) => {
                let waker = next.cancel(me)?;
                next.mine[me.thread].phase = Phase::Out(waker);
                next.mine[me.thread].before.push(Did::Cancelled(Some(waker)));
            }
            (Op::Reset(when), Phase::Out(waker)) => next.add(me, when, waker, timer?.1),
            (Op::Close, Phase::Begun) => {
                (next.is_closed, next.threads[me.thread].is_closed) = (true, true);
                next.mine[me.thread].phase = Phase::Looked(0, 0);
            }
            (Op::Len | Op::IsEmpty | Op::Close, _) => {
                if next.look(me, op).is_some() {
                    return None;
                }
            }
            _ => return None,
        }
        Some(next)
    }

    fn step(
        &mut self,
        me: CallId,
        does: Does<Op>,
        answer: Option<&Vec<Did>>,
        effects: &mut Effects,
    ) -> Option<Vec<Did>> {
        let Does::Begin(op, number) = does else { unreachable!("nothing waits") };
        let Mine { timer, phase, shard, .. } = self.mine[me.thread];
        let mut did = Vec::new();
        self.mine[me.thread].phase = Phase::Begun;
        match op {
            Op::Sleep(_, when) | Op::Reset(when) if matches!(phase, Phase::In(..)) => {
                did.append(&mut self.mine[me.thread].before);
                let Phase::In(is_first) = phase else { return None };
                let added = if is_first { FIRST } else { BEHIND };
                // It reads the flag without a lock, and sees it if its view has it; if not, perhaps.
                let view = &mut self.threads[me.thread];
                let says_so = answer?.last() == Some(&Did::Added(CLOSED));
                let is_closed = when != NEVER && (view.is_closed || self.is_closed && says_so);
                view.is_closed |= is_closed;
                did.push(Did::Added(if is_closed { CLOSED } else { added }));
            }
            Op::Sleep(who, _) => {
                if let Some(at) = self.place(me).filter(|_| timer.is_some_and(|timer| timer.1 != who)) {
                    let item = &mut self.shards[shard][at];
                    did.push(Did::Replaced(std::mem::replace(&mut item.2, number)));
                    item.3 = me;
                    self.mine[me.thread].timer = timer.map(|(number, _)| (number, who));
                    self.unlocks(me, shard);
                }
            }
            Op::Reset(_) | Op::Forget => {
                if timer.is_some() {
                    did.push(Did::Cancelled(self.cancel(me)));
                    self.mine[me.thread].timer = None;
                }
            }
            Op::Take(now) => did.push(Did::Took(self.take(me, now, answer, effects))),
            Op::Deadline => did.push(Did::Is(self.deadline(me, answer, effects))),
            Op::Len | Op::IsEmpty | Op::Close => {
                self.mine[me.thread].phase = phase;
                let found = self.look(me, op)?;
                self.mine[me.thread].phase = Phase::Begun;
                did.push(Did::Is(if op == Op::IsEmpty { 1 - found } else { found }));
            }
        }
        Some(did)
    }

    fn held(&self) -> usize {
        self.shards.iter().map(Vec::len).sum()
    }
}
