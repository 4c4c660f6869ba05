//! `Recorded<H>`: host `H`, of which every access to a word, every fence, and every hold of the lock is written down, in order,
//! beside what the kernel tells its observer. `Recorded<Tso<Beneath<H>>>` writes down, too, when a store leaves its buffer.

use crate::scenes::Watch;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::sched::observer::Event;
use spinpark_kernel::types::p::PId;
use spinpark_verification::hosts::model_host::ModelHost;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    Load(u64),
    Store(u64),
    Swap(u64, u64),
    Add(u64, u64),
    Exchange(u64, u64),
    NoExchange(u64),
    Fence,
    Lock,
    Unlock,
    /// The oldest store in this thread's buffer becomes visible.
    Visible,
    /// A store becomes visible: see [`shown`].
    Shown(u64),
    Event(Told),
}

/// What the kernel tells, as far as it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Told {
    Queued { p: Option<u8>, g: u64, next: bool },
    Found { p: u8, g: u64 },
    Got { m: u8, p: u8 },
    Called,
    Spinning,
    Sought,
    Listed { p: u8 },
    Slept,
    Woken { m: u8 },
    Starting { m: u8 },
    Refused,
    Entered { p: u8, blocks: bool },
    Returned { p: u8, kept: bool },
    Held { p: u8 },
    Stopped,
}

/// Which word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    Next(u8),
    Head(u8),
    Tail(u8),
    Slot(u8),
    Syscall(u8),
    /// An M's.
    NextP(u8),
    Other(u32),
}

/// One thing that one thread did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Item {
    pub(crate) thread: usize,
    pub(crate) act: Act,
    pub(crate) word: Name,
    /// The file below `src/kernel/src`, and the line.
    pub(crate) at: (&'static str, u32),
}

thread_local! {
    static LOG: RefCell<Option<Vec<Item>>> = const { RefCell::new(None) };
    static WORDS: RefCell<Words> = RefCell::new(Words::default());
}
/// That of real threads: one access at a time, in the order in which they come.
static REAL: Mutex<Option<Vec<Item>>> = Mutex::new(None);
/// Of which execution a real thread is. One that ends late is not of the next.
static EXECUTION: AtomicU32 = AtomicU32::new(0);
thread_local!(static MINE: Cell<u32> = const { Cell::new(0) });

/// Words get their names in the order in which they are made: each P's are `runnext`, `head`, `tail`, the slots, and three more.
#[derive(Default)]
struct Words {
    made: u32,
    /// For the P that is being made: how many words it has.
    of_p: u8,
    p: u8,
    line: u32,
    ms: u8,
}

fn real() -> MutexGuard<'static, Option<Vec<Item>>> {
    REAL.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn begin<H: ModelHost>() {
    if H::IS_REAL {
        let mut log = real();
        MINE.set(EXECUTION.fetch_add(1, Relaxed) + 1);
        *log = Some(Vec::new());
    }
    LOG.with_borrow_mut(|log| *log = Some(Vec::new()));
    WORDS.with_borrow_mut(|words| *words = Words::default());
}

pub(crate) fn end<H: ModelHost>() -> Vec<Item> {
    let log = if H::IS_REAL { real().take() } else { LOG.with_borrow_mut(Option::take) };
    log.expect("it was begun")
}

/// Does it, and writes it down before another thread does anything.
fn done<H: ModelHost, R>(
    word: Name,
    at: &'static Location<'static>,
    does: impl FnOnce() -> R,
    act: impl Fn(&R) -> Act,
) -> R {
    let thread = H::me();
    let file = at.file().rsplit_once("src/kernel/src/").map_or(at.file(), |(_, file)| file);
    let item = |act| Item { thread, act, word, at: (file, at.line()) };
    if H::IS_REAL {
        // Now and then another thread comes first.
        if H::choose(3) == 0 {
            std::thread::yield_now();
        }
        let mut log = real();
        let result = does();
        if MINE.get() == 0 {
            MINE.set(EXECUTION.load(Relaxed));
        }
        if MINE.get() == EXECUTION.load(Relaxed) {
            log.iter_mut().for_each(|log| log.push(item(act(&result))));
        }
        return result;
    }
    let result = does();
    LOG.with_borrow_mut(|log| log.iter_mut().for_each(|log| log.push(item(act(&result)))));
    result
}

pub(crate) fn push<H: ModelHost>(act: Act, word: Name, at: &'static Location<'static>) {
    done::<H, ()>(word, at, || (), |()| act);
}

/// The same, and each store is followed by `Shown`: when it leaves its buffer; or at once, if there are none. The lock is open
/// when the buffer of the thread that had it is empty.
pub(crate) fn shown(items: &[Item]) -> Vec<Item> {
    let mut stores: HashMap<usize, VecDeque<Item>> = HashMap::new();
    let is_buffered = items.iter().any(|item| item.act == Act::Visible);
    let mut shown = Vec::with_capacity(items.len());
    let mut unlock: Option<Item> = None;
    for item in items {
        if unlock.is_some_and(|last| item.act == Act::Lock || last.thread == item.thread && item.act != Act::Visible) {
            shown.extend(unlock.take());
        }
        match item.act {
            Act::Unlock => unlock = Some(*item),
            Act::Visible => (),
            _ => shown.push(*item),
        }
        if let Act::Store(value) = item.act {
            stores.entry(item.thread).or_default().push_back(Item { act: Act::Shown(value), ..*item });
        }
        if item.act == Act::Visible || !is_buffered {
            shown.extend(stores.get_mut(&item.thread).and_then(VecDeque::pop_front));
            shown.extend(if is_buffered { None } else { unlock.take() });
        }
    }
    shown.extend(unlock);
    shown
}

/// What the kernel tells its observer, written down.
pub(crate) struct Recorder;

impl<H: ModelHost> Watch<Recorded<H>> for Recorder {
    fn event(&self, event: Event<'_>) {
        project(event).into_iter().for_each(|told| push::<H>(Act::Event(told), Name::Other(0), Location::caller()));
    }
}

fn project(event: Event<'_>) -> Option<Told> {
    let number = |p: PId| p.0 as u8;
    Some(match event {
        Event::Queued { p, g, next } => Told::Queued { p: p.map(number), g: g.id(), next },
        Event::Found { p, g, .. } => Told::Found { p: number(p), g: g.id() },
        Event::Got { m, p } => Told::Got { m: m.0 as u8, p: number(p) },
        Event::Called { .. } => Told::Called,
        Event::Spinning { .. } => Told::Spinning,
        Event::Sought { .. } => Told::Sought,
        Event::Listed { p } => Told::Listed { p: number(p) },
        Event::Slept { .. } => Told::Slept,
        Event::Woken { m } => Told::Woken { m: m.0 as u8 },
        Event::Starting { m } => Told::Starting { m: m.0 as u8 },
        Event::Refused => Told::Refused,
        Event::Entered { p, blocks, .. } => Told::Entered { p: number(p), blocks },
        Event::Returned { p, way, .. } => Told::Returned { p: number(p), kept: way == Way::Kept },
        Event::Held { p } => Told::Held { p: number(p) },
        Event::Stopped => Told::Stopped,
        _ => return None,
    })
}

fn name(at: &'static Location<'static>) -> Name {
    const SCHED: &str = include_str!("../../../src/kernel/src/sched/mod.rs");
    WORDS.with_borrow_mut(|words| {
        words.made += 1;
        // The slots are made in a closure, which has a place of its own.
        if at.file().ends_with("queues/runq.rs") {
            return Name::Slot(words.p);
        }
        let line = SCHED.lines().nth(at.line() as usize - 1);
        if at.file().ends_with("sched/mod.rs") && line.is_some_and(|line| line.contains("M::new()")) {
            words.ms += 1;
            return Name::NextP(words.ms - 1);
        }
        if !at.file().ends_with("sched/proc.rs") {
            return Name::Other(words.made);
        }
        // The first line is that of the queue; the next P begins when that line comes again.
        if words.line == 0 {
            words.line = at.line();
        }
        if at.line() != words.line {
            // And the next is that of a system call.
            if words.of_p > 0 {
                (words.of_p, words.p) = (0, words.p + 1);
                return Name::Syscall(words.p - 1);
            }
            return Name::Other(words.made);
        }
        words.of_p += 1;
        let p = words.p;
        match words.of_p {
            1 => Name::Next(p),
            2 => Name::Head(p),
            _ => Name::Tail(p),
        }
    })
}

pub(crate) struct Recorded<H>(PhantomData<fn() -> H>);

pub(crate) struct Word<H: Host>(H::Word, Name);

impl<H: ModelHost> host::Word for Word<H> {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(H::Word::new(value), name(Location::caller()))
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        done::<H, _>(self.1, Location::caller(), || self.0.load(order), |value| Act::Load(*value))
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        done::<H, _>(self.1, Location::caller(), || self.0.store(value, order), |()| Act::Store(value));
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        let act = |before: &u64| Act::Swap(*before, value);
        done::<H, _>(self.1, Location::caller(), || self.0.swap(value, order), act)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        let act = |before: &u64| Act::Add(*before, before.wrapping_add(value));
        done::<H, _>(self.1, Location::caller(), || self.0.fetch_add(value, order), act)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        let act = |result: &Result<u64, u64>| result.map_or_else(Act::NoExchange, |before| Act::Exchange(before, new));
        done::<H, _>(self.1, Location::caller(), || self.0.compare_exchange(current, new, success, failure), act)
    }
}

pub(crate) struct Lock<H: Host, T: Send + 'static>(H::Lock<T>, PhantomData<fn() -> H>);

impl<H: ModelHost, T: Send + 'static> host::Lock<T> for Lock<H, T> {
    fn new(value: T) -> Self {
        Lock(H::Lock::new(value), PhantomData)
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let at = Location::caller();
        self.0.with(|value| {
            push::<H>(Act::Lock, Name::Other(0), at);
            let result = f(value);
            push::<H>(Act::Unlock, Name::Other(0), at);
            result
        })
    }
}

impl<H: ModelHost> Host for Recorded<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = Lock<H, T>;
    type Parker = H::Parker;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    #[track_caller]
    fn fence(order: Ordering) {
        done::<H, _>(Name::Other(0), Location::caller(), || H::fence(order), |()| Act::Fence);
    }
    spinpark_verification::host_and_spawn_as_beneath!();
}

impl<H: ModelHost> ModelHost for Recorded<H> {
    const IS_REAL: bool = H::IS_REAL;
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    spinpark_verification::threads_as_beneath!();
}

/// The numbers of threads: an M's is its own, the others come after them.
pub(crate) struct Numbers(HashMap<usize, u8>, u8);

pub(crate) fn numbers(items: &[Item], ms: u8) -> Numbers {
    let got = items.iter().filter_map(|item| match item.act {
        Act::Event(Told::Got { m, .. }) => Some((item.thread, m)),
        _ => None,
    });
    Numbers(got.collect(), ms)
}

impl Numbers {
    pub(crate) fn of(&mut self, thread: usize) -> u8 {
        *self.0.entry(thread).or_insert_with(|| {
            self.1 += 1;
            self.1 - 1
        })
    }
}
