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
    /// It has added a timer: as the first? Had the closer counted that shard?
    In(bool, bool),
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

/// A list for each shard.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lists {
    shards: Vec<Vec<Item>>,
    added: Vec<u64>,
    mine: Vec<Mine>,
    /// How many shards the closer has counted.
    closed: Option<usize>,
    /// What each shard's word was, and who has set it.
    words: Vec<Vec<(Nanos, CallId)>>,
    /// Who is the closer, and how many words of each shard there were when it counted that.
    closer: Option<usize>,
    counted: Vec<usize>,
}

impl Lists {
    fn first(&self, shard: usize) -> Nanos {
        self.shards[shard].first().map_or(NEVER, |first| first.0)
    }

    fn tells(&mut self, me: CallId, shard: usize) {
        let first = self.first(shard);
        if self.words[shard].last().map_or(NEVER, |last| last.0) != first {
            self.words[shard].push((first, me));
        }
    }

    fn add(&mut self, me: CallId, when: Nanos, waker: u64, who: u8) {
        let shard = self.mine[me.thread].shard;
        let is_first = when < self.first(shard);
        let number = self.added[shard];
        self.added[shard] += 1;
        self.shards[shard].push((when, number, waker, me));
        self.shards[shard].sort_by_key(|item| (item.0, item.1));
        self.tells(me, shard);
        let mine = &mut self.mine[me.thread];
        mine.timer = Some((number, who));
        mine.phase = Phase::In(is_first, self.closed.is_some_and(|counted| counted > shard));
    }

    /// Where the thread's timer is, if it is not over.
    fn place(&self, me: CallId) -> Option<usize> {
        let mine = &self.mine[me.thread];
        self.shards[mine.shard].iter().position(|item| Some(item.1) == mine.timer.map(|timer| timer.0))
    }

    fn cancel(&mut self, me: CallId) -> Option<u64> {
        let (at, shard) = (self.place(me)?, self.mine[me.thread].shard);
        let item = self.shards[shard].remove(at);
        self.tells(me, shard);
        Some(item.2)
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
        if op == Op::Close {
            (self.closed, self.closer) = (Some(at + 1), Some(me.thread));
            self.counted[at] = self.words[at].len();
        }
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
                self.tells(me, shard);
                return wakers;
            }
            // It asks a shard's word without its lock.
            effects.misses.extend(due.iter().map(|item| item.3));
        }
        Vec::new()
    }

    /// What the shards' words say, which are read without their locks: each of a moment ago, perhaps. The closer has seen what they were
    /// when it counted.
    fn words(&self, me: CallId, answer: Option<&Vec<Did>>, effects: &mut Effects) -> u64 {
        let Some([Did::Is(said)]) = answer.map(Vec::as_slice) else { return NEVER };
        let all = 0..self.shards.len();
        let word = |shard: usize, at: usize| if at == 0 { NEVER } else { self.words[shard][at - 1].0 };
        let from = |shard: usize| if self.closer == Some(me.thread) { self.counted[shard] } else { 0 };
        let latest = |shard: usize, fits: &dyn Fn(Nanos) -> bool| {
            (from(shard)..=self.words[shard].len()).rev().find(|at| fits(word(shard, *at)))
        };
        let missed = |one: usize| -> Option<Vec<CallId>> {
            let mut missed = Vec::new();
            for shard in all.clone() {
                let at = latest(shard, &|word| if shard == one { word == *said } else { word >= *said })?;
                missed.extend(self.words[shard][at..].iter().map(|(_, by)| *by));
            }
            Some(missed)
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
        Lists {
            shards: vec![Vec::new(); shards],
            added: vec![0; shards],
            mine,
            closed: None,
            words: vec![Vec::new(); shards],
            closer: None,
            counted: vec![0; shards],
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
                let Phase::In(is_first, is_counted) = phase else { return None };
                let added = if is_first { FIRST } else { BEHIND };
                let is_closed = self.closed.is_some() && when != NEVER;
                let says_so = answer?.last() == Some(&Did::Added(CLOSED));
                did.push(Did::Added(if is_closed && (is_counted || says_so) { CLOSED } else { added }));
            }
            Op::Sleep(who, _) => {
                if let Some(at) = self.place(me).filter(|_| timer.is_some_and(|timer| timer.1 != who)) {
                    let item = &mut self.shards[shard][at];
                    did.push(Did::Replaced(std::mem::replace(&mut item.2, number)));
                    item.3 = me;
                    self.mine[me.thread].timer = timer.map(|(number, _)| (number, who));
                }
            }
            Op::Reset(_) | Op::Forget => {
                if timer.is_some() {
                    did.push(Did::Cancelled(self.cancel(me)));
                    self.mine[me.thread].timer = None;
                }
            }
            Op::Take(now) => did.push(Did::Took(self.take(me, now, answer, effects))),
            Op::Deadline => did.push(Did::Is(self.words(me, answer, effects))),
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
