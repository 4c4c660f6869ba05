//! `Recorded<H>`: host `H`, of which every access to a word, every fence, and every hold of the lock is written down, in order,
//! beside what the kernel tells its observer.

use spinpark::host::{self, Host, Nanos, SpawnError};
use spinpark_verification::hosts::model_host::ModelHost;
use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::Ordering;

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
}

/// Which word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    Next(u8),
    Head(u8),
    Tail(u8),
    Slot(u8),
    Other(u32),
}

/// One thing that one thread did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Item {
    pub(crate) thread: usize,
    pub(crate) act: Act,
    pub(crate) word: Name,
    /// The file below `src/kernel`, and the line.
    pub(crate) at: (&'static str, u32),
}

thread_local! {
    static LOG: RefCell<Option<Vec<Item>>> = const { RefCell::new(None) };
    static WORDS: RefCell<Words> = RefCell::new(Words::default());
}

/// Words get their names in the order in which they are made: each P's are `runnext`, `head`, `tail`, the slots, and three more.
#[derive(Default)]
struct Words {
    made: u32,
    /// For the P that is being made: how many words it has.
    of_p: u8,
    p: u8,
    line: u32,
}

pub(crate) fn begin() {
    LOG.with_borrow_mut(|log| *log = Some(Vec::new()));
    WORDS.with_borrow_mut(|words| *words = Words::default());
}

pub(crate) fn end() -> Vec<Item> {
    LOG.with_borrow_mut(|log| log.take().expect("it was begun"))
}

fn push<H: ModelHost>(act: Act, word: Name, at: &'static Location<'static>) {
    let thread = H::me();
    LOG.with_borrow_mut(|log| {
        if let Some(log) = log {
            let file = at.file().rsplit_once("src/kernel/").map_or(at.file(), |(_, file)| file);
            log.push(Item { thread, act, word, at: (file, at.line()) });
        }
    });
}

pub(crate) fn tell<H: ModelHost>(told: Told) {
    push::<H>(Act::Event(told), Name::Other(0), Location::caller());
}

fn name(at: &'static Location<'static>) -> Name {
    WORDS.with_borrow_mut(|words| {
        words.made += 1;
        // The slots are made in a closure, which has a place of its own.
        if at.file().ends_with("kernel/queues/runq.rs") {
            return Name::Slot(words.p);
        }
        if !at.file().ends_with("kernel/sched/proc.rs") {
            return Name::Other(words.made);
        }
        // The first line is that of the queue; the next P begins when that line comes again.
        if words.line == 0 {
            words.line = at.line();
        }
        if at.line() != words.line {
            if words.of_p > 0 {
                (words.of_p, words.p) = (0, words.p + 1);
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
        let value = self.0.load(order);
        push::<H>(Act::Load(value), self.1, Location::caller());
        value
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
        push::<H>(Act::Store(value), self.1, Location::caller());
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.swap(value, order);
        push::<H>(Act::Swap(before, value), self.1, Location::caller());
        before
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.fetch_add(value, order);
        push::<H>(Act::Add(before, before.wrapping_add(value)), self.1, Location::caller());
        before
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        let result = self.0.compare_exchange(current, new, success, failure);
        let act = result.map_or_else(Act::NoExchange, |before| Act::Exchange(before, new));
        push::<H>(act, self.1, Location::caller());
        result
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

    #[track_caller]
    fn fence(order: Ordering) {
        H::fence(order);
        push::<H>(Act::Fence, Name::Other(0), Location::caller());
    }
    fn relax() {
        H::relax();
    }
    #[track_caller]
    fn choose(n: usize) -> usize {
        H::choose(n)
    }
    #[track_caller]
    fn now() -> Nanos {
        H::now()
    }
    #[track_caller]
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        H::spawn(name, body)
    }
}

impl<H: ModelHost> ModelHost for Recorded<H> {
    type Thread<T: Send + 'static> = H::Thread<T>;
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    #[track_caller]
    fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> Self::Thread<T> {
        H::fork(name, body)
    }
    #[track_caller]
    fn join<T: Send + 'static>(thread: Self::Thread<T>) -> T {
        H::join(thread)
    }
    fn me() -> usize {
        H::me()
    }
}

/// Which function of the kernel a line is in.
pub(crate) struct Functions {
    begins: HashMap<&'static str, Vec<(u32, String)>>,
    lines: HashMap<&'static str, Vec<String>>,
}

impl Functions {
    pub(crate) fn new() -> Functions {
        let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/kernel/");
        let mut functions = Functions { begins: HashMap::new(), lines: HashMap::new() };
        for file in ["protocol/spinning.rs", "queues/globq.rs", "queues/runq.rs", "queues/runnext.rs", "queues/idle.rs"]
        {
            let text =
                std::fs::read_to_string(format!("{kernel}{file}")).unwrap_or_else(|error| panic!("{file}: {error}"));
            let name = |line: &str| Some(line.split_once("fn ")?.1.split(['(', '<']).next()?.to_owned());
            let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            functions.begins.insert(file, code.filter_map(|(n, line)| Some((n as u32 + 1, name(line)?))).collect());
            functions.lines.insert(file, text.lines().map(str::to_owned).collect());
        }
        functions
    }

    /// Its name, if the line is in a file that matters.
    pub(crate) fn of(&self, (file, line): (&'static str, u32)) -> Option<&str> {
        let functions = self.begins.get(file)?;
        functions.iter().rev().find(|(begin, _)| *begin <= line).map(|(_, name)| name.as_str())
    }

    /// The line itself.
    pub(crate) fn line(&self, (file, line): (&'static str, u32)) -> &str {
        self.lines.get(file).and_then(|lines| lines.get(line as usize - 1)).map_or("", String::as_str)
    }
}
