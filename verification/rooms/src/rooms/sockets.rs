//! Which sockets a poller knows, by key, and the tasks that wait for each.
//!
//! Invariants 29, 78, 121 and 122: a report wakes the tasks on the list of its direction, or one about to wait tries again; of those that poll
//! by a function the last eight are woken; each waker goes once, to the thread that then counts it down, or tells that it was the last; a
//! report of a key that is gone, or another's by now, costs a try; after the end no task waits. An M that reads that no task waits sees what
//! was woken.

pub mod spec;
pub mod system;

use crate::host::RoomHost;
use crate::plain::{Done, of};
use crate::program::Program;
use crate::room::{Begun, Focus, Real, Room, Waiting};
use crate::values::{Maker, Value};
use kernel::waits::bell::Bell;
use kernel::waits::readiness::{Refused, SLOTS, Waits};
use kernel::waits::sockets::{Keyed, NotRegistered, Sockets};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use system::{BOTH, Known, System, interest};

/// The room.
#[derive(Debug)]
pub struct KnownSockets;

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It uses a socket that all tasks share.
    Task,
    /// It has a socket of its own. Is that known at first?
    Owner(bool),
    /// It polls.
    M,
    /// It asks without a lock.
    Asker,
    /// It ends the runtime.
    Closer,
    /// It has a socket that is known, and does all of that, but what would sleep.
    Alone,
}

/// What a thread does. Directions are numbers: 0 to read, 1 to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Tries, and sleeps until it would not block.
    Io(usize),
    /// The same by a function.
    PollIo(usize),
    /// Is listed, without a try.
    Begin(usize),
    /// Gives that up.
    Leave(usize),
    /// Is it listed still?
    IsWaiting(usize),
    /// The same as `Begin` by a function, for one that does not come back.
    PollOnce(usize),
    /// One more than there are slots do so.
    PollMany(usize),
    /// The other end does something.
    Change(usize),
    /// The same to the socket of the others, and then [`Op::Poll`].
    Serve(usize),
    /// Takes a report, and wakes.
    Poll,
    /// Does a task wait?
    IsAny,
    /// Is no socket known?
    IsEmpty,
    /// The system refuses what it is asked next.
    Refuse,
    /// Makes the socket known. The system may refuse it at the start.
    Register(bool),
    /// The same by hand: it has a key.
    Insert,
    /// And then the system knows it.
    Open,
    /// Forgets it.
    Forget,
    /// Ends the runtime.
    Close,
}

impl Op {
    /// Is it about a socket? If not, about the table, the system or the count.
    fn is_of_socket(self) -> bool {
        use Op::{Begin, Io, IsWaiting, Leave, Open, PollIo, PollMany, PollOnce};
        matches!(self, Io(_) | PollIo(_) | Begin(_) | Leave(_) | IsWaiting(_) | PollOnce(_) | PollMany(_) | Open)
    }
}

/// What a call returns. Tasks are numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done.
    Done,
    /// There is no such socket, or wait, or report.
    Nothing,
    /// It is listed. Is it the first of all?
    Listed(bool),
    /// It is listed, and this one is no longer.
    Instead(u64),
    /// The runtime has ended.
    Closed,
    /// The system would not. No task is left that waits?
    Refused(bool),
    /// It is listed no more. Was it the last of all? `None`: it was woken.
    Left(Option<bool>),
    /// Yes or no; or the runtime has ended.
    Is(Option<bool>),
    /// So many times the socket was armed so far.
    Armed(usize),
    /// These were woken. Would the system arm the socket again?
    Woke(Vec<u64>, bool),
    /// These had waited, and do not any more. Were they the last?
    Ended(Vec<u64>, bool),
    /// By this key. Is it to be armed each time?
    Known(usize, bool),
}

/// Has each socket to be armed for each report? And does one wait already, and was reported?
pub type Setup = (bool, bool);

/// Which socket a thread uses.
fn socket_of(role: Role) -> usize {
    match role {
        Role::Owner(true) | Role::Alone => 1,
        Role::Owner(false) => 2,
        _ => 0,
    }
}

/// The socket that the M's other end has; is it known at first?
fn served(roles: &[Role]) -> (usize, bool) {
    let socket = roles.iter().map(|role| socket_of(*role)).filter(|socket| *socket > 0).min().unwrap_or(0);
    (socket, socket < 2)
}

impl Room for KnownSockets {
    type Setup = Setup;
    type Role = Role;
    type Op = Op;
    type Answer = Answer;
    type Spec = spec::Table;
    type Real<H: RoomHost> = OnHost<H>;

    const NAME: &'static str = "sockets";
    const SOURCE: &'static str = "sockets readiness";

    fn setups() -> Vec<Setup> {
        vec![(false, false), (true, false), (false, true), (true, true)]
    }
    fn roles() -> Vec<Role> {
        vec![Role::Task, Role::Owner(true), Role::Owner(false), Role::M, Role::Asker, Role::Closer, Role::Alone]
    }
    fn may(role: Role, done: &[Op]) -> Vec<Op> {
        use Op::{Begin, Change, Io, IsWaiting, Leave, PollIo, PollMany, PollOnce, Serve};
        let is_last =
            |op: &Op, other: &Op| done.iter().rposition(|one| one == op) > done.iter().rposition(|one| one == other);
        let is_known = match role {
            Role::Owner(false) => is_last(&Op::Register(false), &Op::Forget),
            _ => !is_last(&Op::Forget, &Op::Register(false)),
        };
        // What may be seen of two in a row.
        let then = |first: &[Op]| match done.last() {
            None => first.to_vec(),
            Some(Begin(0)) => vec![Leave(0), Io(1), Op::Forget],
            Some(PollOnce(0)) => vec![PollIo(0), Io(0), Op::Forget],
            Some(Op::Register(_)) => vec![Begin(0), Io(0), Op::Forget],
            _ => vec![Io(0), Op::Forget],
        };
        match role {
            Role::Task => then(&[Io(0), Io(1), PollIo(0), Begin(0), PollOnce(0)])
                .into_iter()
                .filter(|op| *op != Op::Forget)
                .collect(),
            Role::Owner(_) if !is_known => vec![Op::Register(false), Op::Register(true)],
            Role::Owner(_) => then(&[Io(0), Begin(0), PollOnce(0), Change(0), Op::Forget]),
            Role::M => vec![Serve(0), Serve(1), Op::Poll],
            Role::Asker => vec![Op::IsAny, Op::IsEmpty],
            Role::Closer => vec![Op::Close],
            Role::Alone => {
                let both = |at| [Begin(at), Leave(at), IsWaiting(at), PollOnce(at), PollMany(at), Change(at)];
                let table = [Op::Register(false), Op::Register(true), Op::Insert, Op::Open, Op::Forget, Op::Close];
                let asks = [Op::Poll, Op::IsAny, Op::IsEmpty, Op::Refuse];
                [0, 1].into_iter().flat_map(both).chain(table).chain(asks).collect()
            }
        }
    }
    fn waits(_: Op) -> &'static [Waiting] {
        &[]
    }
    fn sleeps(op: Op) -> bool {
        matches!(op, Op::Io(_) | Op::PollIo(_))
    }
    fn is_worth_it(roles: &[Role]) -> bool {
        let of = |role| roles.iter().filter(|&&other| other == role).count();
        let (tasks, owners) = (of(Role::Task), of(Role::Owner(true)) + of(Role::Owner(false)));
        let is_once = Self::roles().into_iter().all(|role| role == Role::Task || of(role) <= 1);
        let is_alone = of(Role::Alone) == 0 || roles.len() == 1;
        // What a task does beside an owner it does beside the M.
        let is_apart = tasks == 0 || owners == 0;
        let are_three = of(Role::M) == 1 && (tasks == 2 || of(Role::Owner(true)) == 1 && of(Role::Asker) == 0);
        is_once && is_alone && is_apart && (roles.len() < 3 || are_three)
    }
    /// A task that waits before the system knows the socket; one that waits while another does elsewhere, or is woken.
    fn focuses() -> Vec<Focus<Self>> {
        use Op::{Begin, Change, Forget, Insert, Open, PollOnce, Register, Serve};
        let has = |role, op, _| {
            role == Role::Alone && matches!(op, Begin(0) | Change(0) | Forget | Insert | Open | PollOnce(0))
        };
        let is_made_by_hand = |program: &Program<Self>| {
            let ops = program.threads[0].steps.iter().map(|step| step.op);
            ops.take(3).eq([Forget, Insert, Begin(0)])
        };
        let of_two = |role, op, _| match role {
            Role::Task | Role::Owner(true) => op == Begin(0),
            Role::Owner(false) => matches!(op, Begin(0) | Register(false)),
            Role::M => op == Serve(0),
            _ => false,
        };
        vec![Focus { lens: &[6], has, is_played: is_made_by_hand }, Focus::new(&[2, 1], of_two)]
    }
}

/// What wakes a task.
pub struct Wakes<H: RoomHost> {
    number: u64,
    value: Value<H>,
    bell: Arc<Bell<H>>,
    /// Whose it is.
    who: Arc<()>,
}

impl<H: RoomHost> Wakes<H> {
    /// It goes. Which task that was.
    fn take(self) -> u64 {
        self.value.take();
        self.number
    }

    fn wake(self) -> u64 {
        let bell = Arc::clone(&self.bell);
        let number = self.take();
        bell.ring();
        number
    }

    fn is_same(one: &Self, other: &Self) -> bool {
        Arc::ptr_eq(&one.who, &other.who)
    }
}

type Entry<H> = Arc<Keyed<H, Known<H>, Wakes<H>>>;

/// The table and the system on a host. What is left at the end is not freed: that is no call.
pub struct OnHost<H: RoomHost> {
    system: Arc<System<H>>,
    sockets: ManuallyDrop<Sockets<H, Known<H>, Wakes<H>>>,
    /// The socket that is shared, known where there is no other; and that of an owner.
    entries: ManuallyDrop<[Option<Entry<H>>; 3]>,
    setup: Setup,
    served: (usize, bool),
    /// The M has woken the task that waited before the first call.
    woken: Mutex<Option<Done<H>>>,
}

/// A thread's socket, and by which number it waits in each direction.
pub struct Hand<H: RoomHost> {
    socket: usize,
    entry: Option<Entry<H>>,
    ids: [Option<u64>; 2],
    who: Arc<()>,
}

/// How a waker is listed.
type Listed<H> = Result<Waits<Wakes<H>>, Refused<(), Wakes<H>>>;

impl<H: RoomHost> OnHost<H> {
    fn waker(&self, nth: u64, values: &Maker<H>, bell: &Arc<Bell<H>>, who: &Arc<()>) -> Wakes<H> {
        let number = values.number() * 16 + nth;
        Wakes { number, value: values.value(), bell: Arc::clone(bell), who: Arc::clone(who) }
    }

    /// Is listed, without a try. Is it the first?
    fn list(&self, entry: &Entry<H>, at: usize, id: Option<u64>, waker: Wakes<H>, seen: u64) -> (Listed<H>, bool) {
        let mut is_first = false;
        let waits = entry.wait(BOTH[at], id, waker, seen, Wakes::is_same, || is_first = self.sockets.waiting().add());
        (waits, is_first)
    }

    fn begin_wait(&self, entry: &Entry<H>, at: usize, id: Option<u64>, waker: impl Fn() -> Wakes<H>) -> Answer {
        loop {
            return match self.list(entry, at, id, waker(), entry.ticks(BOTH[at])) {
                (Ok(Waits::Added), is_first) => Answer::Listed(is_first),
                (Ok(Waits::Replaced(old)), _) => Answer::Instead(old.take()),
                (Ok(Waits::Changed(waker)), _) => {
                    waker.take();
                    continue;
                }
                (Err(Refused::Closed(waker)), _) => {
                    waker.take();
                    Answer::Closed
                }
                (Err(Refused::Arm((), waker)), _) => {
                    waker.take();
                    Answer::Refused(self.sockets.waiting().gave_up(1))
                }
            };
        }
    }

    /// As a task does: tries, and waits until it does not block.
    fn io(&self, hand: &Hand<H>, entry: &Entry<H>, at: usize, is_by_function: bool, values: &Maker<H>) -> Answer {
        let (id, bell) = ((!is_by_function).then(|| entry.next_id()), Arc::new(Bell::new()));
        loop {
            let seen = entry.ticks(BOTH[at]);
            if self.system.with(|state| state.attempt(hand.socket, at)) {
                return Answer::Done;
            }
            match self.list(entry, at, id, self.waker(0, values, &bell, &hand.who), seen).0 {
                Ok(Waits::Changed(waker)) => _ = waker.take(),
                Ok(waits) => {
                    if let Waits::Replaced(old) = waits {
                        old.take();
                    }
                    assert!(bell.wait(|| Ok::<(), ()>(())).is_ok(), "a task that never gives up");
                }
                Err(Refused::Closed(waker)) => {
                    waker.take();
                    return Answer::Closed;
                }
                Err(Refused::Arm(..)) => unreachable!("a thread beside others is not refused"),
            }
        }
    }

    /// The M takes a report, and wakes.
    fn poll(&self) -> Answer {
        let Some((key, what)) = self.system.with(|state| state.next()) else { return Answer::Nothing };
        let (mut wakers, mut is_armed) = (Vec::new(), true);
        if let Some(entry) = self.sockets.get(key) {
            is_armed = entry.take_ready(interest(what), interest([false; 2]), &mut wakers).is_ok();
        }
        let woken: Vec<u64> = wakers.into_iter().map(|waker| self.ends(waker)).collect();
        if woken.contains(&0) {
            *of(&self.woken) = Some(Done::now());
        }
        self.sockets.waiting().woken(woken.len() as u64);
        Answer::Woke(woken, is_armed)
    }

    /// It is woken, before it is counted down.
    fn ends(&self, waker: Wakes<H>) -> u64 {
        assert!(self.sockets.waiting().is_any(), "a waker is counted down before it is woken or dropped");
        waker.wake()
    }

    /// Makes the socket known.
    fn register(&self, hand: &mut Hand<H>, refuses_to_start: bool) -> Answer {
        let (system, socket) = (&self.system, hand.socket);
        let add = |key| {
            let nth = system.with(|state| state.add(socket, key))?;
            Ok(Known { system: Arc::clone(system), socket, nth, is_gone: AtomicBool::new(false) })
        };
        let start = |known: &Known<H>| {
            // Relaxed: no memory of the room's.
            known.is_gone.store(refuses_to_start, Relaxed);
            if refuses_to_start { Err(system.with(|state| state.forget(socket, known.nth))) } else { Ok(()) }
        };
        match self.sockets.register(self.setup.0, add, start) {
            Ok(entry) => {
                let known = Answer::Known(entry.key(), entry.is_armed_each_time());
                hand.entry = Some(entry);
                known
            }
            Err(NotRegistered::Closed) => Answer::Closed,
            Err(NotRegistered::System(())) => Answer::Refused(true),
        }
    }

    /// The same by hand.
    fn insert(&self, hand: &mut Hand<H>) -> Answer {
        let Some(entry) = self.sockets.with(|table| table.insert(self.setup.0)) else { return Answer::Closed };
        let known = Answer::Known(entry.key(), entry.is_armed_each_time());
        hand.entry = Some(entry);
        known
    }

    fn of_table(&self, hand: &mut Hand<H>, op: Op) -> Answer {
        let mut ended = Vec::new();
        match op {
            Op::Serve(at) => {
                self.system.with(|state| state.change(self.served.0, at));
                self.poll()
            }
            Op::Poll => self.poll(),
            Op::Change(at) => Answer::Armed(self.system.with(|state| state.change(hand.socket, at))),
            Op::IsAny => {
                let is_any = self.sockets.waiting().is_any();
                let is_seen = of(&self.woken).as_ref().is_none_or(Done::is_seen);
                assert!(is_any || is_seen, "no task waits, and one that was woken is not seen: nothing seems to come");
                Answer::Is(Some(is_any))
            }
            Op::IsEmpty => Answer::Is(Some(self.sockets.is_empty())),
            Op::Refuse => {
                self.system.with(|state| state.refuses = true);
                Answer::Done
            }
            Op::Register(_) | Op::Insert if hand.entry.is_some() => Answer::Nothing,
            Op::Register(refuses_to_start) => self.register(hand, refuses_to_start),
            Op::Insert => self.insert(hand),
            Op::Forget => {
                let Some(entry) = hand.entry.take() else { return Answer::Nothing };
                hand.ids = [None; 2];
                let were_last = self.sockets.forget(&entry, |waker| ended.push(self.ends(waker)));
                Answer::Ended(ended, were_last)
            }
            _ => {
                let were_any = self.sockets.close(|waker| ended.push(self.ends(waker)));
                Answer::Ended(ended, were_any)
            }
        }
    }

    fn of_socket(&self, hand: &mut Hand<H>, entry: &Entry<H>, op: Op, values: &Maker<H>) -> Answer {
        let bell = Arc::new(Bell::new());
        match op {
            Op::Io(at) => self.io(hand, entry, at, false, values),
            Op::PollIo(at) => self.io(hand, entry, at, true, values),
            Op::Begin(at) => {
                let id = *hand.ids[at].get_or_insert_with(|| entry.next_id());
                self.begin_wait(entry, at, Some(id), || self.waker(0, values, &bell, &hand.who))
            }
            Op::PollOnce(at) => self.begin_wait(entry, at, None, || self.waker(0, values, &bell, &hand.who)),
            Op::PollMany(at) => {
                let poll = |nth| {
                    let who = Arc::new(());
                    self.begin_wait(entry, at, None, || self.waker(nth, values, &bell, &who))
                };
                (0..=SLOTS as u64).map(poll).last().expect("there are some")
            }
            Op::Leave(at) => {
                let Some(id) = hand.ids[at].take() else { return Answer::Nothing };
                let waker = entry.leave(BOTH[at], id);
                Answer::Left(waker.map(|waker| {
                    waker.take();
                    self.sockets.waiting().gave_up(1)
                }))
            }
            Op::IsWaiting(at) => hand.ids[at].map_or(Answer::Nothing, |id| Answer::Is(entry.is_waiting(BOTH[at], id))),
            _ => {
                let is_open = entry.with_source(|_| ()).is_some();
                let added =
                    if is_open { Err(()) } else { self.system.with(|state| state.add(hand.socket, entry.key())) };
                let Ok(nth) = added else { return Answer::Refused(is_open) };
                let (system, is_gone) = (Arc::clone(&self.system), AtomicBool::new(false));
                entry.open(Known { system, socket: hand.socket, nth, is_gone });
                Answer::Done
            }
        }
    }
}

impl<H: RoomHost> Real<KnownSockets, H> for OnHost<H> {
    type Hand = ManuallyDrop<Hand<H>>;

    fn new(setup: Setup, roles: &[Role]) -> Self {
        let mut new = OnHost {
            system: System::new(setup.0),
            sockets: ManuallyDrop::new(Sockets::new()),
            entries: ManuallyDrop::default(),
            setup,
            served: served(roles),
            woken: Mutex::new(None),
        };
        for socket in 0..=usize::from(new.served.0 == 1) {
            let mut hand = Hand { socket, entry: None, ids: [None; 2], who: Arc::default() };
            new.register(&mut hand, false);
            new.entries[socket] = hand.entry;
        }
        if let (1.., Some(shared)) = (new.served.0, &new.entries[0]) {
            new.sockets.remove(shared);
        }
        new
    }
    fn given(&mut self, values: &Maker<H>) {
        let entry = self.entries[self.served.0].as_ref().filter(|_| self.setup.1);
        if let Some(entry) = entry {
            let waker = || self.waker(0, values, &Arc::new(Bell::new()), &Arc::default());
            self.begin_wait(entry, 0, Some(entry.next_id()), waker);
            self.system.with(|state| state.change(self.served.0, 0));
        }
    }
    fn hand(&self, role: Role) -> Self::Hand {
        let socket = socket_of(role);
        ManuallyDrop::new(Hand { socket, entry: self.entries[socket].clone(), ids: [None; 2], who: Arc::default() })
    }
    fn begin<'a>(&'a self, hand: &'a mut Self::Hand, op: Op, values: &Maker<H>) -> Begun<'a, H, Answer> {
        Begun::Over(match hand.entry.clone() {
            Some(entry) if op.is_of_socket() => self.of_socket(hand, &entry, op, values),
            None if op.is_of_socket() => Answer::Nothing,
            _ => self.of_table(hand, op),
        })
    }
}
