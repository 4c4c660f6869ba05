//! A `Notify`, a oneshot, a watched value and a barrier that are polled by hand, one step after the other: every few steps. A list
//! says who must be woken, each time, and what each poll must answer.

use crate::harness::common::{Counted, any_of};
use crate::harness::told::{Log, Told, waker};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use crate::mutation::variants::watch::Value;
use spinpark_kernel::host::{Host, Lock};
use spinpark_kernel::waits::barrier::{self, Barrier};
use spinpark_kernel::waits::chan::errors::{Closed, TryRecvError};
use spinpark_kernel::waits::notify::{Notified, Notify};
use spinpark_kernel::waits::oneshot::{Oneshot, State};
use spinpark_kernel::waits::watch::{Change, End, Watch};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;

/// Those that wait, the oldest first, and by which waker; and who was woken.
#[derive(Default)]
struct Line {
    queue: Vec<(usize, Option<u64>)>,
    woken: Vec<u64>,
}

impl Line {
    /// It waits by this waker now.
    fn waits(&mut self, i: usize, waker: Option<u64>) {
        match self.queue.iter_mut().find(|(other, _)| *other == i) {
            Some(place) => place.1 = waker,
            None => self.queue.push((i, waker)),
        }
    }

    fn is_in(&self, i: usize) -> bool {
        self.queue.iter().any(|(other, _)| *other == i)
    }

    fn serve_one(&mut self) -> Option<usize> {
        if self.queue.is_empty() {
            return None;
        }
        let (i, waker) = self.queue.remove(0);
        self.woken.extend(waker);
        Some(i)
    }

    fn serve_all(&mut self) -> Vec<usize> {
        std::iter::from_fn(|| self.serve_one()).collect()
    }

    fn leaves(&mut self, i: usize) {
        self.queue.retain(|(other, _)| *other != i);
    }
}

#[derive(Debug, Clone, Copy)]
enum OfANotify {
    Poll(usize, u64),
    Enable(usize),
    Drop(usize),
    One,
    All,
}

/// What a list knows of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Nowhere,
    /// All had been notified so often.
    Created(u64),
    Waits,
    /// Alone?
    Served(bool),
    Over,
}

/// A `Notify` as a list.
struct Listed {
    line: Line,
    at: [At; 2],
    has_permit: bool,
    rounds: u64,
}

impl Listed {
    fn one(&mut self) {
        match self.line.serve_one() {
            Some(i) => self.at[i] = At::Served(true),
            None => self.has_permit = true,
        }
    }

    fn all(&mut self) {
        self.rounds += 1;
        for i in self.line.serve_all() {
            self.at[i] = At::Served(false);
        }
    }

    /// It looks; is it over? If not it waits; by this waker if it is polled.
    fn looks(&mut self, i: usize, by: Option<u64>) -> bool {
        let is_over = match self.at[i] {
            At::Nowhere => panic!("it was created"),
            At::Created(round) => round != self.rounds || std::mem::take(&mut self.has_permit),
            At::Waits => false,
            At::Served(_) | At::Over => true,
        };
        if is_over {
            self.at[i] = At::Over;
        } else if by.is_some() || self.at[i] != At::Waits {
            self.line.waits(i, by);
            self.at[i] = At::Waits;
        }
        is_over
    }

    fn drops(&mut self, i: usize) {
        self.line.leaves(i);
        if std::mem::replace(&mut self.at[i], At::Nowhere) == At::Served(true) {
            self.one();
        }
    }
}

fn steps_of_a_notify<H: ModelHost>() -> String {
    use OfANotify::{All, Drop, Enable, One, Poll};
    const OPS: [OfANotify; 9] = [Poll(0, 0), Poll(0, 1), Poll(1, 0), Enable(0), Enable(1), Drop(0), Drop(1), One, All];
    let notify = Notify::<H, Told>::new();
    let (log, is_trusted) = (Arc::new(Log::default()), H::choose(2) == 1);
    let mut listed = Listed { line: Line::default(), at: [At::Nowhere; 2], has_permit: false, rounds: 0 };
    let mut waits: [Option<Notified<'_, H, Told>>; 2] = [None, None];
    let mut does = |op: OfANotify, listed: &mut Listed| {
        if let Poll(i, _) | Enable(i) = op
            && waits[i].is_none()
        {
            (waits[i], listed.at[i]) = (Some(notify.notified()), At::Created(listed.rounds));
        }
        match op {
            Poll(i, by) => {
                let wait = waits[i].as_mut().expect("it was created");
                let is_over = wait.poll(&mut log.lender(waker(i, by), is_trusted)).is_ready();
                assert!(is_over == listed.looks(i, Some(waker(i, by))), "{op:?}: over {is_over}");
            }
            Enable(i) => {
                let is_over = waits[i].as_mut().expect("it was created").enable();
                assert!(is_over == listed.looks(i, None), "{op:?}: over {is_over}");
            }
            Drop(i) => {
                waits[i] = None;
                listed.drops(i);
            }
            One => {
                notify.notify_one();
                listed.one();
            }
            All => {
                notify.notify_waiters();
                listed.all();
            }
        }
        log.check(&mut listed.line.woken, &op);
    };
    // From the beginning, or where both wait.
    if H::choose(2) == 1 {
        [Poll(0, 0), Poll(1, 0)].into_iter().for_each(|op| does(op, &mut listed));
    }
    (0..4).for_each(|_| does(any_of::<H, _>(&OPS), &mut listed));
    [Drop(0), Drop(1)].into_iter().for_each(|op| does(op, &mut listed));
    format!("a permit: {}, rounds: {}", listed.has_permit, listed.rounds)
}

#[derive(Debug, Clone, Copy)]
enum OfAOneshot {
    Send,
    DropSender,
    PollClosed(u64),
    StopWaiting,
    Poll(u64),
    TryRecv,
    Close,
    DropReceiver,
}

/// A oneshot as a few flags.
#[derive(Default)]
struct Flags {
    has_value: bool,
    is_closed: bool,
    sender_is_gone: bool,
    receiver_is_gone: bool,
    /// By which waker each end waits.
    sender: Option<u64>,
    receiver: Option<u64>,
    woken: Vec<u64>,
    dropped: usize,
}

impl Flags {
    fn takes(&mut self) -> Result<(), TryRecvError> {
        match std::mem::take(&mut self.has_value) {
            true => Ok(()),
            false if self.is_closed || self.sender_is_gone => Err(TryRecvError::Closed),
            false => Err(TryRecvError::Empty),
        }
    }

    fn sender_ends(&mut self) {
        self.sender_is_gone = true;
        self.woken.extend(self.receiver.take());
        self.sender = None;
    }

    fn closes(&mut self) {
        self.is_closed = true;
        self.woken.extend(self.sender.take());
        self.receiver = None;
    }
}

fn steps_of_a_oneshot<H: ModelHost>() -> String {
    use OfAOneshot::{Close, DropReceiver, DropSender, Poll, PollClosed, Send, StopWaiting, TryRecv};
    const OPS: [OfAOneshot; 10] =
        [Send, DropSender, PollClosed(0), PollClosed(1), StopWaiting, Poll(0), Poll(1), TryRecv, Close, DropReceiver];
    let oneshot = Oneshot::<Counted, Told, <H as Host>::Lock<State<Counted, Told>>>::new();
    let (log, is_trusted) = (Arc::new(Log::default()), H::choose(2) == 1);
    let (dropped, mut flags) = (Arc::new(AtomicUsize::new(0)), Flags::default());
    let does = |op: OfAOneshot, flags: &mut Flags| {
        let is_senders = matches!(op, Send | DropSender | PollClosed(_) | StopWaiting);
        if is_senders && flags.sender_is_gone || !is_senders && flags.receiver_is_gone {
            return;
        }
        match op {
            Send => {
                let sent = oneshot.send(Counted(Arc::clone(&dropped)));
                assert!(
                    sent.is_ok() != flags.is_closed,
                    "it is closed: {}, and was sent: {}",
                    flags.is_closed,
                    sent.is_ok()
                );
                flags.dropped += usize::from(sent.is_err());
                flags.has_value = sent.is_ok();
                flags.sender_ends();
            }
            DropSender => {
                oneshot.drop_sender();
                flags.sender_ends();
            }
            PollClosed(by) => {
                let is_closed = oneshot.poll_closed(&mut log.lender(by, is_trusted)).is_ready();
                assert!(
                    is_closed == flags.is_closed,
                    "it is closed: {}, and that is told: {is_closed}",
                    flags.is_closed
                );
                flags.sender = (!is_closed).then_some(by);
            }
            StopWaiting => {
                oneshot.stop_waiting();
                flags.sender = None;
            }
            Poll(by) => {
                let by = waker(1, by);
                let polled = oneshot.poll_recv(&mut log.lender(by, is_trusted));
                let expected = flags.takes();
                match (&polled, expected) {
                    (std::task::Poll::Ready(Ok(_)), Ok(())) => flags.dropped += 1,
                    (std::task::Poll::Ready(Err(_)), Err(TryRecvError::Closed)) => (),
                    (std::task::Poll::Pending, Err(TryRecvError::Empty)) => flags.receiver = Some(by),
                    _ => panic!("{op:?}, where {expected:?} is to be received"),
                }
            }
            TryRecv => {
                let (received, expected) = (oneshot.try_recv().map(drop), flags.takes());
                assert!(received == expected, "{received:?} was received, and not {expected:?}");
                flags.dropped += usize::from(received.is_ok());
            }
            Close => {
                oneshot.close();
                flags.closes();
            }
            DropReceiver => {
                oneshot.drop_receiver();
                flags.closes();
                flags.dropped += usize::from(std::mem::take(&mut flags.has_value));
                flags.receiver_is_gone = true;
            }
        }
        log.check(&mut flags.woken, &op);
        let now = dropped.load(SeqCst);
        assert!(now == flags.dropped, "after {op:?} {now} values were dropped, and not {}", flags.dropped);
        let told = oneshot.with(|state| (state.has_value(), state.is_closed()));
        assert!(told == (flags.has_value, flags.is_closed), "after {op:?} it tells {told:?}");
    };
    (0..4).for_each(|_| does(any_of::<H, _>(&OPS), &mut flags));
    let kept = (flags.sender.is_some(), flags.receiver.is_some());
    [DropSender, DropReceiver].into_iter().for_each(|op| does(op, &mut flags));
    format!("dropped: {}, waiting: {kept:?}", flags.dropped)
}

#[derive(Debug, Clone, Copy)]
enum OfAWatch {
    Poll(usize, u64),
    Drop(usize),
    PollEnd(u64),
    DropEnd,
    Send,
    Look,
    AddSender,
    DropSender,
    AddReceiver,
    DropReceiver,
}

/// A watched value as a list.
struct Watched {
    changes: Line,
    end: Option<Option<u64>>,
    /// The sender that waits was served, and has not looked.
    is_served: bool,
    version: u64,
    seen: [u64; 2],
    senders: usize,
    receivers: usize,
    woken: Vec<u64>,
}

impl Watched {
    fn changes(&mut self) {
        self.changes.serve_all();
        self.woken.append(&mut self.changes.woken);
    }

    fn polls(&mut self, i: usize, by: u64) -> Poll<Result<u64, Closed>> {
        if self.version != self.seen[i] {
            self.changes.leaves(i);
            self.seen[i] = self.version;
            return Poll::Ready(Ok(self.version));
        }
        if self.senders == 0 {
            return Poll::Ready(Err(Closed));
        }
        self.changes.waits(i, Some(by));
        Poll::Pending
    }
}

fn steps_of_a_watch<H: ModelHost>() -> String {
    use OfAWatch::{AddReceiver, AddSender, Drop, DropEnd, DropReceiver, DropSender, Look, Poll, PollEnd, Send};
    const OPS: [OfAWatch; 12] = [
        Poll(0, 0),
        Poll(0, 1),
        Poll(1, 0),
        Drop(0),
        PollEnd(0),
        PollEnd(1),
        DropEnd,
        Send,
        Look,
        DropSender,
        DropReceiver,
        AddReceiver,
    ];
    let watch = Watch::<H, Told, Value<H>>::new(Value(H::Lock::new(0)), 1);
    let (log, is_trusted) = (Arc::new(Log::default()), H::choose(2) == 1);
    let mut listed = Watched {
        changes: Line::default(),
        end: None,
        is_served: false,
        version: 0,
        seen: [0; 2],
        senders: 1,
        receivers: 1,
        woken: Vec::new(),
    };
    let mut changes: [Option<Change<'_, H, Told, Value<H>>>; 2] = [None, None];
    let mut end: Option<End<'_, H, Told, Value<H>>> = None;
    let mut does = |op: OfAWatch, listed: &mut Watched| {
        match op {
            Poll(i, by) => {
                let seen = listed.seen[i];
                let change = changes[i].get_or_insert_with(|| watch.changed());
                let polled = change.poll(seen, &mut log.lender(waker(i, by), is_trusted));
                let expected = listed.polls(i, waker(i, by));
                assert!(polled == expected, "{op:?}: {polled:?}, and not {expected:?}");
            }
            Drop(i) => {
                changes[i] = None;
                listed.changes.leaves(i);
            }
            PollEnd(by) if listed.senders > 0 => {
                let by = waker(5, by);
                let polled = end.get_or_insert_with(|| watch.closed()).poll(&mut log.lender(by, is_trusted));
                let is_over = listed.receivers == 0 || std::mem::take(&mut listed.is_served);
                assert!(polled.is_ready() == is_over, "{op:?}: {polled:?}");
                listed.end = (!is_over).then_some(Some(by));
                listed.is_served = false;
            }
            DropEnd => {
                end = None;
                (listed.end, listed.is_served) = (None, false);
            }
            Send if listed.senders > 0 => {
                let before = watch.replace(listed.version + 1);
                assert!(before == listed.version, "{before} was there, and not {}", listed.version);
                listed.version += 1;
                listed.changes();
            }
            Look => {
                assert!(!watch.modify(|_| false), "nothing was changed");
                let (value, version) = watch.read();
                assert!(value == version && version == listed.version, "{value} is there, in version {version}");
            }
            AddSender if listed.senders > 0 => {
                watch.add_sender();
                listed.senders += 1;
            }
            DropSender if listed.senders > 0 => {
                watch.drop_sender();
                listed.senders -= 1;
                if listed.senders == 0 {
                    listed.changes();
                }
            }
            AddReceiver => {
                let version = watch.add_receiver();
                assert!(version == listed.version, "{version} is not seen, {} is", listed.version);
                listed.receivers += 1;
            }
            DropReceiver if listed.receivers > 0 => {
                watch.drop_receiver();
                listed.receivers -= 1;
                if listed.receivers == 0 && listed.end.is_some() {
                    listed.woken.extend(listed.end.take().flatten());
                    listed.is_served = true;
                }
            }
            PollEnd(_) | Send | AddSender | DropSender | DropReceiver => (),
        }
        log.check(&mut listed.woken, &op);
        let counts = watch.with(|state| (state.version(), state.senders(), state.receivers()));
        assert!(counts == (listed.version, listed.senders, listed.receivers), "after {op:?} it counts {counts:?}");
    };
    // From the beginning, or with a second sender, where all wait.
    if H::choose(2) == 1 {
        [AddSender, Poll(0, 0), Poll(1, 0), PollEnd(0)].into_iter().for_each(|op| does(op, &mut listed));
    }
    (0..4).for_each(|_| does(any_of::<H, _>(&OPS), &mut listed));
    [Drop(0), Drop(1), DropEnd].into_iter().for_each(|op| does(op, &mut listed));
    format!("version {}, {} send, {} receive", listed.version, listed.senders, listed.receivers)
}

#[derive(Debug, Clone, Copy)]
enum OfABarrier {
    Poll(usize, u64),
    Drop(usize),
}

/// What a list knows of one that comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Not,
    In(u64),
    Over(bool),
}

fn steps_of_a_barrier<H: ModelHost>() -> String {
    use OfABarrier::{Drop, Poll};
    const OPS: [OfABarrier; 7] = [Poll(0, 0), Poll(0, 1), Poll(1, 0), Poll(2, 0), Drop(0), Drop(1), Drop(2)];
    let parties = H::choose(4);
    let barrier = Barrier::<H, Told>::new(parties);
    let (log, is_trusted) = (Arc::new(Log::default()), H::choose(2) == 1);
    let (mut line, mut arrived, mut round) = (Line::default(), 0, 0);
    let mut came = [Came::Not; 3];
    let mut waits: [Option<barrier::Wait<'_, H, Told>>; 3] = [None, None, None];
    for _ in 0..5 {
        let op = any_of::<H, _>(&OPS);
        match op {
            Poll(i, by) => {
                let wait = waits[i].get_or_insert_with(|| barrier.wait());
                let polled = wait.poll(&mut log.lender(waker(i, by), is_trusted));
                if came[i] == Came::Not {
                    arrived += 1;
                    came[i] = Came::In(round);
                    if arrived >= parties {
                        came[i] = Came::Over(true);
                        (arrived, round) = (0, round + 1);
                        line.serve_all();
                    }
                }
                if let Came::In(of) = came[i]
                    && of != round
                {
                    came[i] = Came::Over(false);
                }
                let expected = match came[i] {
                    Came::Over(leads) => std::task::Poll::Ready(leads),
                    _ => std::task::Poll::Pending,
                };
                assert!(polled == expected, "{op:?}: {polled:?}, and not {expected:?}");
                if expected.is_pending() {
                    line.waits(i, Some(waker(i, by)));
                }
            }
            Drop(i) => {
                waits[i] = None;
                line.leaves(i);
                came[i] = Came::Not;
            }
        }
        log.check(&mut line.woken, &op);
        assert!(barrier.with(|state| state.round()) == round, "after {op:?} it is another round than {round}");
    }
    drop(waits);
    log.check(&mut line.woken, &"the end");
    format!("for {parties}, round {round}, somebody waited: {}", (0..3).any(|i| line.is_in(i)))
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("notify::no_notification_is_lost::steps_of_a_notify", steps_of_a_notify,
        claim: "waits that are polled, polled again, enabled and dropped are notified, and their wakers woken, as a list with a permit would",
        size: "1 thread; 2 waits, which wait or not, 4 steps of 9 kinds",
        invariants: [111, 112],
        must_reach: ["a permit: true, rounds: 3", "a permit: false, rounds: 0"],
        runs: [sc()]),
    crate::model!("oneshot::the_value_has_one_owner::steps_of_a_oneshot", steps_of_a_oneshot,
        claim: "both ends, polled, polled again, closed and dropped, answer, wake and drop as a few flags would; no waker is lost",
        size: "1 thread; 4 steps of 10 kinds",
        invariants: [113, 114],
        must_reach: ["dropped: 1, waiting: (false, false)", "dropped: 0, waiting: (true, true)"],
        runs: [sc()]),
    crate::model!("watch::no_change_is_missed::steps_of_a_watch", steps_of_a_watch,
        claim: "receivers and a sender that wait, polled, polled again and dropped, are answered and woken as a list would",
        size: "1 thread; 2 receivers and a sender, who wait or not, 4 steps of 12 kinds",
        invariants: [115, 116],
        must_reach: ["version 4, 1 send, 1 receive", "version 0, 0 send, 0 receive"],
        runs: [sc()]),
    crate::model!("barrier::nobody_goes_on_before_the_last::steps_of_a_barrier", steps_of_a_barrier,
        claim: "parties that are polled, polled again and dropped are counted, led and woken as a list would",
        size: "1 thread; 3 parties, a barrier for 0 to 3, 5 steps of 7 kinds",
        invariants: [117],
        must_reach: ["for 0, round 4", "for 2, round 2", "for 3, round 1", "for 3, round 0, somebody waited: true"],
        runs: [sc()]),
];
