//! Two channels, and the selects and other waits at them, as a sequential program.
//!
//! A select is no one step: it sees each of its cases not ready, then enqueues a waiter for each that is not ready still, in some order;
//! between these it may be served by another thread. Each is a guess of the oracle.

mod steps;

use super::{Answer, How, Op, Selects, Way, What};
use crate::room::{CallId, Does, Effects, Spec};

/// A value, when it was sent, and by which call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Sent {
    number: u64,
    nth: usize,
    by: CallId,
}

/// A thread's case.
type Place = (usize, usize);

/// One channel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Chan {
    capacity: usize,
    /// The oldest first, those that came back among them.
    values: Vec<Sent>,
    entered: usize,
    /// Those that wait to send, and to receive.
    queues: [Vec<Place>; 2],
    /// The calls that took a value out of the list: a send that finds room sees them.
    took: Vec<CallId>,
    closed: Option<CallId>,
}

/// What a case was served with, by another thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Served {
    /// Its value was taken by that call.
    Taken(CallId),
    Given(Sent),
    Closed(CallId),
    /// What it was given went back.
    Gone,
}

/// A case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Case {
    way: Way,
    chan: usize,
    /// Of one that sends, if it was not taken.
    value: Option<u64>,
    /// It was seen not to be ready, since the select began to try.
    is_tried: bool,
    /// It has a waiter, by that call.
    enqueued: Option<CallId>,
    /// Its thread is done with it.
    is_over: bool,
}

/// A wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Waits {
    /// `None`: no select, but one send or receive, or a select's first case that goes on alone.
    how: Option<How>,
    cases: Vec<Case>,
    /// Can it be served?
    is_open: bool,
    served: Option<(usize, Served)>,
    /// The call in which it began to try its cases.
    round: Option<CallId>,
    /// What came back of a case that was dropped.
    back: Vec<u64>,
}

impl Waits {
    fn new(how: Option<How>, cases: &[(Way, usize)], number: u64) -> Self {
        let case = |&(way, chan): &(Way, usize)| Case {
            way,
            chan,
            value: (way == Way::Sends).then_some(number),
            is_tried: false,
            enqueued: None,
            is_over: false,
        };
        let cases = cases.iter().map(case).collect();
        Waits { how, cases, is_open: false, served: None, round: None, back: Vec::new() }
    }

    /// Has each case a waiter?
    fn is_enqueued(&self) -> bool {
        self.cases.iter().all(|case| case.is_over || case.enqueued.is_some())
    }

    fn held(&self) -> usize {
        let given = matches!(self.served, Some((_, Served::Given(_))));
        self.cases.iter().filter(|case| case.value.is_some() && !case.is_over).count() + usize::from(given)
    }
}

/// Two channels, and what each thread waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Two {
    chans: [Chan; 2],
    waits: Vec<Option<Waits>>,
}

impl Two {
    /// The first in a queue that can be served, and is not of `me`.
    fn first(&self, chan: usize, way: Way, me: usize) -> Option<Place> {
        let is_open =
            |&&(thread, _): &&Place| thread != me && self.waits[thread].as_ref().is_some_and(|one| one.is_open);
        self.chans[chan].queues[way as usize].iter().find(is_open).copied()
    }

    /// It is served: no other case of it is. By which call was it enqueued?
    fn serve(&mut self, (thread, case): Place, served: Served) -> Option<CallId> {
        let one = self.waits[thread].as_mut()?;
        (one.is_open, one.served) = (false, Some((case, served)));
        one.cases[case].enqueued
    }

    /// The value of one that waits to send.
    fn takes(&mut self, (thread, case): Place, by: CallId) -> Option<Sent> {
        let sender = self.serve((thread, case), Served::Taken(by))?;
        let one = &mut self.waits[thread].as_mut()?.cases[case];
        let (number, chan) = (one.value.take()?, &mut self.chans[one.chan]);
        chan.entered += 1;
        Some(Sent { number, nth: chan.entered - 1, by: sender })
    }

    fn has_room(&self, n: usize) -> bool {
        self.chans[n].values.len() < self.chans[n].capacity
    }

    /// Could a case of this thread go on?
    fn is_ready(&self, case: &Case, me: usize) -> bool {
        let (n, chan) = (case.chan, &self.chans[case.chan]);
        let can_go_on = match case.way {
            Way::Sends => self.has_room(n) || self.first(n, Way::Receives, me).is_some(),
            Way::Receives => !chan.values.is_empty() || self.first(n, Way::Sends, me).is_some(),
        };
        can_go_on || chan.closed.is_some()
    }

    fn put(&mut self, n: usize, number: u64, me: CallId, effects: &mut Effects) -> What {
        if let Some(by) = self.chans[n].closed {
            effects.sees.push(by);
            return What::Refused;
        }
        let sent = Sent { number, nth: self.chans[n].entered, by: me };
        if let Some(first) = self.first(n, Way::Receives, me.thread) {
            effects.sees.extend(self.serve(first, Served::Given(sent)));
        } else if self.has_room(n) {
            effects.sees.extend(&self.chans[n].took);
            self.chans[n].values.push(sent);
        } else {
            return What::Full;
        }
        self.chans[n].entered += 1;
        What::Sent
    }

    fn take(&mut self, n: usize, me: CallId, effects: &mut Effects) -> What {
        let sender = self.first(n, Way::Sends, me.thread);
        let sent = if self.chans[n].values.is_empty() {
            sender.and_then(|first| self.takes(first, me))
        } else {
            let sent = self.chans[n].values.remove(0);
            self.chans[n].took.push(me);
            if let Some(next) = sender.filter(|_| self.has_room(n)).and_then(|first| self.takes(first, me)) {
                self.chans[n].values.push(next);
            }
            Some(sent)
        };
        effects.sees.extend(sent.map_or(self.chans[n].closed, |sent| Some(sent.by)));
        match sent {
            Some(sent) => What::Received(sent.number),
            None if self.chans[n].closed.is_some() => What::Over,
            None => What::Empty,
        }
    }

    fn close(&mut self, n: usize, by: CallId) -> bool {
        let is_first = self.chans[n].closed.is_none();
        self.chans[n].closed.get_or_insert(by);
        // A select at both ends is served as one that receives.
        for way in [Way::Receives, Way::Sends] {
            while let Some(first) = self.first(n, way, by.thread) {
                self.serve(first, Served::Closed(by));
            }
        }
        is_first
    }

    /// A value comes back: to the receive that waits first, or to its place among the oldest.
    fn come_back(&mut self, n: usize, sent: Sent, me: usize) {
        match self.first(n, Way::Receives, me) {
            Some(first) => drop(self.serve(first, Served::Given(sent))),
            None => {
                let at = self.chans[n].values.partition_point(|other| other.nth < sent.nth);
                self.chans[n].values.insert(at, sent);
            }
        }
    }

    fn dequeue(&mut self, place: Place, n: usize) {
        self.chans[n].queues.iter_mut().for_each(|queue| queue.retain(|other| *other != place));
    }

    /// The case has no waiter any more; what it was given goes back.
    fn leave(&mut self, me: usize, case: usize) {
        let Some(one) = &mut self.waits[me] else { return };
        let n = one.cases[case].chan;
        one.cases[case].enqueued = None;
        let given = match one.served {
            Some((by, Served::Given(sent))) if by == case => {
                one.served = Some((case, Served::Gone));
                Some(sent)
            }
            _ => None,
        };
        self.dequeue((me, case), n);
        given.into_iter().for_each(|sent| self.come_back(n, sent, me));
    }

    /// A case is tried.
    fn attempt(&mut self, me: CallId, case: usize, effects: &mut Effects) -> Option<What> {
        let Case { way, chan, value, .. } = self.waits[me.thread].as_ref()?.cases[case].clone();
        let what = match way {
            Way::Sends => self.put(chan, value?, me, effects),
            Way::Receives => self.take(chan, me, effects),
        };
        if what == What::Sent {
            self.waits[me.thread].as_mut()?.cases[case].value = None;
        }
        (!matches!(what, What::Full | What::Empty)).then_some(what)
    }

    /// What a case was served with.
    fn collect(&mut self, me: CallId, case: usize, effects: &mut Effects) -> Option<What> {
        let one = self.waits[me.thread].as_ref()?;
        Some(match one.served.filter(|(by, _)| *by == case)?.1 {
            Served::Taken(by) => {
                effects.sees.push(by);
                What::Sent
            }
            Served::Given(sent) => {
                effects.sees.push(sent.by);
                What::Received(sent.number)
            }
            Served::Closed(by) => {
                effects.sees.push(by);
                if one.cases[case].way == Way::Sends { What::Refused } else { What::Over }
            }
            Served::Gone => return None,
        })
    }

    /// The wait is over. The values that come back.
    fn ends(&mut self, me: usize) -> Vec<u64> {
        let Some(one) = self.waits[me].take() else { return Vec::new() };
        for (nth, case) in one.cases.iter().enumerate() {
            self.dequeue((me, nth), case.chan);
        }
        one.cases.iter().filter(|case| !case.is_over).filter_map(|case| case.value).chain(one.back).collect()
    }

    fn enqueue(&mut self, me: CallId, nth: usize) {
        let Some(one) = &mut self.waits[me.thread] else { return };
        let case = &mut one.cases[nth];
        case.enqueued = Some(me);
        one.is_open = one.served.is_none();
        self.chans[case.chan].queues[case.way as usize].push((me.thread, nth));
    }

    fn begin(&mut self, me: CallId, op: Op, number: u64, effects: &mut Effects) -> Option<Answer> {
        let back = |what| if matches!(what, What::Full | What::Refused) { vec![number] } else { Vec::new() };
        Some(match op {
            Op::TrySend(n) => {
                let what = self.put(n, number, me, effects);
                Answer::Is(what, back(what))
            }
            Op::TryRecv(n) => Answer::Is(self.take(n, me, effects), Vec::new()),
            Op::Close(n) => Answer::Closed(self.close(n, me)),
            // The last of so many changes places with one of them, or with itself; the default comes behind all.
            Op::Order(two, three) => {
                let mut order = vec![0, 1];
                order.swap(1, two);
                order.push(2);
                order.swap(2, three);
                order.push(3);
                Answer::Order(order)
            }
            Op::Send(n) | Op::Recv(n) => {
                let way = if matches!(op, Op::Send(_)) { Way::Sends } else { Way::Receives };
                self.waits[me.thread] = Some(Waits::new(None, &[(way, n)], number));
                return None;
            }
            Op::Select(kind, how) => {
                self.waits[me.thread] = Some(Waits::new(Some(how), &kind.cases(), number));
                return None;
            }
        })
    }

    /// A send or a receive is polled.
    fn poll_alone(&mut self, me: CallId, effects: &mut Effects) -> Option<Answer> {
        let one = self.waits[me.thread].as_ref()?;
        let what = match (one.served, one.cases[0].enqueued) {
            (Some(_), _) => self.collect(me, 0, effects),
            (None, Some(_)) => return None,
            (None, None) => self.attempt(me, 0, effects),
        };
        let Some(what) = what else {
            self.enqueue(me, 0);
            return None;
        };
        Some(Answer::Case(0, what, self.ends(me.thread)))
    }

    /// A select has done all of its steps but the last.
    fn select(&mut self, me: CallId, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let one = self.waits[me.thread].as_ref()?;
        let (is_enqueued, is_of_this_call) = (one.is_enqueued(), one.round == Some(me));
        // Whether it was served, it saw, or returned before.
        if answer.is_none()
            && is_enqueued
            && (is_of_this_call || one.served.is_none())
            && one.how != Some(How::ThenAlone)
        {
            return None;
        }
        let is_tried = one.cases.iter().all(|case| case.is_tried);
        let has_default = one.how == Some(How::OrDefault);
        if has_default && is_tried && matches!(answer, Some(Answer::Default(_))) {
            return Some(Answer::Default(self.ends(me.thread)));
        }
        let asked = if let Some(Answer::Case(case, ..)) = answer { Some(*case) } else { None };
        let served = one.served.map(|(case, _)| case);
        let has_waiters = one.cases.iter().any(|case| case.enqueued.is_some());
        let what = match (served, asked) {
            (Some(case), _) => self.collect(me, case, effects).map(|what| (case, what)),
            (None, Some(case)) if !has_waiters => self.attempt(me, case, effects).map(|what| (case, what)),
            _ => None,
        };
        what.map_or(Some(Answer::Tries), |(case, what)| Some(Answer::Case(case, what, self.ends(me.thread))))
    }

    fn poll(&mut self, me: CallId, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let one = self.waits[me.thread].as_ref()?;
        if one.how.is_none() { self.poll_alone(me, effects) } else { self.select(me, answer, effects) }
    }

    fn give_up(&mut self, me: usize, effects: &mut Effects) -> Answer {
        let Some(one) = self.waits[me].as_mut() else { return Answer::Back(Vec::new()) };
        one.is_open = false;
        let (how, cases) = (one.how, one.cases.len());
        (0..cases).for_each(|case| self.leave(me, case));
        let back = self.ends(me);
        if how == Some(How::Dropped) {
            effects.drops = back.len();
            return Answer::Back(Vec::new());
        }
        Answer::Back(back)
    }
}

impl Spec<Selects> for Two {
    /// Between the waiters of two polls a select may find a case ready, of which no thread has woken it.
    const RENEWS_AT_ONCE: bool = false;
    const WAKES_EARLY: bool = true;

    fn new(capacity: usize, roles: &[super::Role]) -> Self {
        let (values, queues, took) = (Vec::new(), [Vec::new(), Vec::new()], Vec::new());
        let chan = Chan { capacity, values, entered: 0, queues, took, closed: None };
        Two { chans: [chan.clone(), chan], waits: vec![None; roles.len()] }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(Op::Select(_, How::OrDefault), _) => self.select(me, answer, effects),
            Does::Begin(op, number) => self.begin(me, op, number, effects),
            Does::Poll => self.poll(me, answer, effects),
            Does::Enable => unreachable!("no select is enabled"),
            Does::GiveUp => Some(self.give_up(me.thread, effects)),
        }
    }

    fn guesses(&self, me: CallId, does: Does<Op>) -> Vec<Self> {
        self.may_do(me, does)
    }

    fn held(&self) -> usize {
        let in_channels: usize = self.chans.iter().map(|chan| chan.values.len()).sum();
        in_channels + self.waits.iter().flatten().map(Waits::held).sum::<usize>()
    }
}
