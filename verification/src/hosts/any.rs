//! `Any`: the host that the engine in charge needs, chosen at run time.
//!
//! A model is a generic function. Built for each host, it would be built five times over; built for this one, it plays
//! on each of them, for a comparison an access. What a host has made stays that host's, so the choice may change only
//! between executions.

use crate::hosts::loom::Loom;
use crate::hosts::model_host::{self, ModelHost};
use crate::hosts::rc11::Rc11;
use crate::hosts::shuttle::Shuttle;
use crate::hosts::wrap::{apart, tso};
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// loom, with marks.
type Apart = apart::Apart<Loom>;
/// shuttle, with store buffers.
type Tso = tso::Tso<Shuttle>;

/// Whose memory and threads there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// RC11's.
    Rc11,
    /// loom's.
    Loom,
    /// loom's, with marks.
    Apart,
    /// shuttle's.
    Shuttle,
    /// shuttle's, with store buffers.
    Tso,
}

thread_local! {
    static KIND: Cell<Kind> = const { Cell::new(Kind::Rc11) };
}

/// From now on, on this thread of the machine, [`Any`] is this host.
pub fn choose(kind: Kind) {
    KIND.set(kind);
}

/// Which host [`Any`] is on this thread of the machine.
pub fn chosen() -> Kind {
    KIND.get()
}

/// What one of the five hosts has made.
pub enum Five<R, L, A, S, T> {
    /// RC11.
    Rc11(R),
    /// loom.
    Loom(L),
    /// loom, with marks.
    Apart(A),
    /// shuttle.
    Shuttle(S),
    /// shuttle, with store buffers.
    Tso(T),
}

/// The same call, whichever it is.
macro_rules! either {
    ($five:expr, $it:pat => $then:expr) => {
        match $five {
            Five::Rc11($it) => $then,
            Five::Loom($it) => $then,
            Five::Apart($it) => $then,
            Five::Shuttle($it) => $then,
            Five::Tso($it) => $then,
        }
    };
}

/// What the chosen host makes of this.
macro_rules! make {
    ($trait:path, $make:ident($($with:expr),*)) => {
        match KIND.get() {
            Kind::Rc11 => Five::Rc11(<R as $trait>::$make($($with),*)),
            Kind::Loom => Five::Loom(<L as $trait>::$make($($with),*)),
            Kind::Apart => Five::Apart(<A as $trait>::$make($($with),*)),
            Kind::Shuttle => Five::Shuttle(<S as $trait>::$make($($with),*)),
            Kind::Tso => Five::Tso(<T as $trait>::$make($($with),*)),
        }
    };
}

/// What the chosen host says to this.
macro_rules! ask {
    ($ask:ident($($with:expr),*)) => {
        match KIND.get() {
            Kind::Rc11 => Rc11::$ask($($with),*),
            Kind::Loom => Loom::$ask($($with),*),
            Kind::Apart => Apart::$ask($($with),*),
            Kind::Shuttle => Shuttle::$ask($($with),*),
            Kind::Tso => Tso::$ask($($with),*),
        }
    };
}

impl<R, L, A, S, T> host::Word for Five<R, L, A, S, T>
where
    R: host::Word,
    L: host::Word,
    A: host::Word,
    S: host::Word,
    T: host::Word,
{
    #[track_caller]
    fn new(value: u64) -> Self {
        make!(host::Word, new(value))
    }
    #[track_caller]
    fn with_ordered_writes(self) -> Self {
        match self {
            Five::Rc11(word) => Five::Rc11(word.with_ordered_writes()),
            other => other,
        }
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        either!(self, word => word.load(order))
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        either!(self, word => word.store(value, order));
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        either!(self, word => word.swap(value, order))
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        either!(self, word => word.fetch_add(value, order))
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        either!(self, word => word.compare_exchange(current, new, success, failure))
    }
}

impl<V, R, L, A, S, T> host::Lock<V> for Five<R, L, A, S, T>
where
    R: host::Lock<V>,
    L: host::Lock<V>,
    A: host::Lock<V>,
    S: host::Lock<V>,
    T: host::Lock<V>,
{
    #[track_caller]
    fn new(value: V) -> Self {
        make!(host::Lock<V>, new(value))
    }
    #[track_caller]
    fn with<U>(&self, f: impl FnOnce(&mut V) -> U) -> U {
        let (mut f, mut result) = (Some(f), None);
        self.hold(&mut |value| result = f.take().map(|f| f(value)));
        result.expect("what holds the lock is called once")
    }
}

impl<R, L, A, S, T> Five<R, L, A, S, T> {
    /// The five hosts' locks, each built for one kind of function and not for each of hundreds.
    #[track_caller]
    fn hold<V>(&self, f: &mut dyn FnMut(&mut V))
    where
        R: host::Lock<V>,
        L: host::Lock<V>,
        A: host::Lock<V>,
        S: host::Lock<V>,
        T: host::Lock<V>,
    {
        either!(self, lock => lock.with(f));
    }
}

impl<R, L, A, S, T> host::Parker for Five<R, L, A, S, T>
where
    R: host::Parker,
    L: host::Parker,
    A: host::Parker,
    S: host::Parker,
    T: host::Parker,
{
    fn new() -> Self {
        make!(host::Parker, new())
    }
    #[track_caller]
    fn park(&self) {
        either!(self, parker => parker.park());
    }
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos) {
        either!(self, parker => parker.park_timeout(nanos));
    }
    #[track_caller]
    fn unpark(&self) {
        either!(self, parker => parker.unpark());
    }
}

impl<V, R, L, A, S, T> model_host::Cell<V> for Five<R, L, A, S, T>
where
    R: model_host::Cell<V>,
    L: model_host::Cell<V>,
    A: model_host::Cell<V>,
    S: model_host::Cell<V>,
    T: model_host::Cell<V>,
{
    fn new(value: V) -> Self {
        make!(model_host::Cell<V>, new(value))
    }
    #[track_caller]
    fn get(&self) -> V {
        either!(self, cell => cell.get())
    }
    #[track_caller]
    fn set(&self, value: V) {
        either!(self, cell => cell.set(value));
    }
}

/// The host.
pub struct Any;

type WordOf<H> = <H as Host>::Word;
type LockOf<H, V> = <H as Host>::Lock<V>;
type ParkerOf<H> = <H as Host>::Parker;
type CellOf<H, V> = <H as ModelHost>::Cell<V>;
type ThreadOf<H, V> = <H as ModelHost>::Thread<V>;

impl Host for Any {
    type Word = Five<WordOf<Rc11>, WordOf<Loom>, WordOf<Apart>, WordOf<Shuttle>, WordOf<Tso>>;
    type Lock<V: Send + 'static> =
        Five<LockOf<Rc11, V>, LockOf<Loom, V>, LockOf<Apart, V>, LockOf<Shuttle, V>, LockOf<Tso, V>>;
    type Parker = Five<ParkerOf<Rc11>, ParkerOf<Loom>, ParkerOf<Apart>, ParkerOf<Shuttle>, ParkerOf<Tso>>;
    const UNWINDS_TO_END: bool = true;

    #[track_caller]
    fn fence(order: Ordering) {
        ask!(fence(order));
    }
    fn relax() {
        ask!(relax());
    }
    #[track_caller]
    fn choose(n: usize) -> usize {
        ask!(choose(n))
    }
    #[track_caller]
    fn now() -> Nanos {
        ask!(now())
    }
    #[track_caller]
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        let body: Box<dyn FnOnce() + Send> = Box::new(body);
        ask!(spawn(name, body))
    }
}

impl ModelHost for Any {
    type Thread<V: Send + 'static> =
        Five<ThreadOf<Rc11, V>, ThreadOf<Loom, V>, ThreadOf<Apart, V>, ThreadOf<Shuttle, V>, ThreadOf<Tso, V>>;
    type Cell<V: Copy + Send + 'static> =
        Five<CellOf<Rc11, V>, CellOf<Loom, V>, CellOf<Apart, V>, CellOf<Shuttle, V>, CellOf<Tso, V>>;

    #[track_caller]
    fn fork<V: Send + 'static>(name: &str, body: impl FnOnce() -> V + Send + 'static) -> Self::Thread<V> {
        // The five hosts' threads are built for one kind of body, not for each of hundreds.
        let body: Box<dyn FnOnce() -> V + Send> = Box::new(body);
        match KIND.get() {
            Kind::Rc11 => Five::Rc11(Rc11::fork(name, body)),
            Kind::Loom => Five::Loom(Loom::fork(name, body)),
            Kind::Apart => Five::Apart(Apart::fork(name, body)),
            Kind::Shuttle => Five::Shuttle(Shuttle::fork(name, body)),
            Kind::Tso => Five::Tso(Tso::fork(name, body)),
        }
    }
    #[track_caller]
    fn join<V: Send + 'static>(thread: Self::Thread<V>) -> V {
        match thread {
            Five::Rc11(thread) => Rc11::join(thread),
            Five::Loom(thread) => Loom::join(thread),
            Five::Apart(thread) => Apart::join(thread),
            Five::Shuttle(thread) => Shuttle::join(thread),
            Five::Tso(thread) => Tso::join(thread),
        }
    }
    fn me() -> usize {
        ask!(me())
    }
    fn refuse_spawns(n: usize) {
        ask!(refuse_spawns(n));
    }
    fn leave_sleeping() -> bool {
        ask!(leave_sleeping())
    }
    #[track_caller]
    fn pass(nanos: Nanos) {
        ask!(pass(nanos));
    }
}
