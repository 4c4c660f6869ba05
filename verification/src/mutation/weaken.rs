//! `Weaken<H>`: the kernel as it is, but for one line: a fence that is not there, an ordering that is weaker, or an atomic
//! step that is torn in two.
//!
//! The line is chosen at run time, so one build holds every such mutant and the kernel itself carries none. And it can
//! write down which accesses are made at all, so that none is forgotten.

use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::{host_and_spawn_as_beneath, threads_as_beneath};
use rc11::naming::below_src;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::{self, Host, Nanos, SpawnError, Word as _};
use std::cell::{Cell as StdCell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// A place in a source where memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The file's path below `src`.
    pub file: &'static str,
    /// Which line.
    pub line: u32,
    /// Which column. 0: all of the line.
    pub column: u32,
}

/// An ordering, as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Strength {
    /// `Relaxed`; as a fence: none.
    Relaxed,
    /// `Acquire`.
    Acquire,
    /// `Release`.
    Release,
    /// `AcqRel`.
    AcqRel,
    /// `SeqCst`.
    SeqCst,
}

/// How memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// `load`.
    Load,
    /// `store`.
    Store,
    /// `swap`.
    Swap,
    /// `fetch_add`, `fetch_sub`.
    Add,
    /// `compare_exchange`.
    Exchange,
    /// `fence`.
    Fence,
}

/// An access that was made, and what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// Where.
    pub site: Site,
    /// How.
    pub access: Access,
    /// With which ordering.
    pub order: Strength,
    /// With which, if the exchange fails.
    pub failure: Option<Strength>,
}

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Its ordering is this one instead.
    To(Strength),
    /// Its ordering on failure is this one instead.
    FailureTo(Strength),
    /// It reads, and then it writes: another may come between.
    Torn,
}

impl Change {
    /// The name of its kind.
    pub const fn name(self) -> &'static str {
        match self {
            Change::To(_) => "weakened",
            Change::FailureTo(_) => "weakened on failure",
            Change::Torn => "torn",
        }
    }
}

/// One place that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub site: Site,
    /// What is wrong.
    pub change: Change,
}

thread_local! {
    static FAULT: StdCell<Option<Fault>> = const { StdCell::new(None) };
    static HITS: StdCell<u64> = const { StdCell::new(0) };
    static IS_WATCHED: StdCell<bool> = const { StdCell::new(false) };
    static SEEN: RefCell<BTreeSet<Asked>> = const { RefCell::new(BTreeSet::new()) };
}

/// From now on, on this thread, this is wrong, and nothing else.
pub fn mutate(fault: Option<Fault>) {
    FAULT.set(fault);
    HITS.set(0);
}

/// How often the mutated place was covered. A mutant that never was is no mutant.
pub fn hits() -> u64 {
    HITS.get()
}

/// From now on, on this thread, every access is written down.
pub fn watch() {
    IS_WATCHED.set(true);
    SEEN.take();
}

/// The accesses that were made since.
pub fn take_seen() -> BTreeSet<Asked> {
    IS_WATCHED.set(false);
    SEEN.take()
}

impl Site {
    fn is_at(self, at: &Location<'_>) -> bool {
        at.line() == self.line && [0, at.column()].contains(&self.column) && below_src(at.file()) == self.file
    }
}

/// Is this the mutated place? For display.
pub(crate) fn is_weakened(at: &'static Location<'static>) -> bool {
    FAULT.get().is_some_and(|fault| fault.site.is_at(at))
}

impl Strength {
    /// What it is for a processor.
    pub const fn order(self) -> Ordering {
        match self {
            Strength::Relaxed => Ordering::Relaxed,
            Strength::Acquire => Ordering::Acquire,
            Strength::Release => Ordering::Release,
            Strength::AcqRel => Ordering::AcqRel,
            Strength::SeqCst => Ordering::SeqCst,
        }
    }

    fn of(order: Ordering) -> Strength {
        match order {
            Ordering::Relaxed => Strength::Relaxed,
            Ordering::Acquire => Strength::Acquire,
            Ordering::Release => Strength::Release,
            Ordering::AcqRel => Strength::AcqRel,
            _ => Strength::SeqCst,
        }
    }

    /// What a read of this ordering keeps, and what a write does, if an atomic step is torn.
    const fn halves(self) -> (Ordering, Ordering) {
        match self {
            Strength::Relaxed => (Ordering::Relaxed, Ordering::Relaxed),
            Strength::Acquire => (Ordering::Acquire, Ordering::Relaxed),
            Strength::Release => (Ordering::Relaxed, Ordering::Release),
            Strength::AcqRel => (Ordering::Acquire, Ordering::Release),
            Strength::SeqCst => (Ordering::SeqCst, Ordering::SeqCst),
        }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Asked {
    /// Everything weaker that could be asked for instead.
    pub fn changes(&self) -> Vec<Change> {
        use Strength::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let weaker: &[Strength] = match (self.access, self.order) {
            (_, Relaxed) => &[],
            (Access::Load, SeqCst) => &[Acquire, Relaxed],
            (Access::Store, SeqCst) => &[Release, Relaxed],
            (_, SeqCst) => &[AcqRel, Acquire, Release, Relaxed],
            (_, AcqRel) => &[Acquire, Release, Relaxed],
            (_, Acquire | Release) => &[Relaxed],
        };
        let on_failure: &[Strength] = match self.failure {
            Some(SeqCst) => &[Acquire, Relaxed],
            Some(Acquire) => &[Relaxed],
            _ => &[],
        };
        let torn = matches!(self.access, Access::Swap | Access::Add | Access::Exchange).then_some(Change::Torn);
        let weaker = weaker.iter().map(|order| Change::To(*order));
        weaker.chain(on_failure.iter().map(|order| Change::FailureTo(*order))).chain(torn).collect()
    }

    /// `change`, for a reader.
    pub fn describe(&self, change: Change) -> String {
        match change {
            Change::To(Strength::Relaxed) if self.access == Access::Fence => "the fence is gone".to_owned(),
            Change::To(order) => format!("{} is {order}", self.order),
            Change::FailureTo(order) => {
                format!("{} on failure is {order}", self.failure.unwrap_or(Strength::Relaxed))
            }
            Change::Torn => "it reads, and then it writes".to_owned(),
        }
    }
}

/// What is wrong with the access that is being made, if anything. Writes it down, where that is asked.
#[inline]
#[track_caller]
fn fault(access: Access, order: Ordering, failure: Option<Ordering>) -> Option<Change> {
    let at = Location::caller();
    if IS_WATCHED.get() {
        let site = Site { file: below_src(at.file()), line: at.line(), column: at.column() };
        let asked = Asked { site, access, order: Strength::of(order), failure: failure.map(Strength::of) };
        SEEN.with_borrow_mut(|seen| seen.insert(asked));
    }
    let fault = FAULT.get().filter(|fault| fault.site.is_at(at))?;
    HITS.set(HITS.get() + 1);
    Some(fault.change)
}

/// With which ordering, in place of the one that is `asked` for?
fn changed(change: Option<Change>, asked: Ordering) -> Ordering {
    match change {
        Some(Change::To(order)) => order.order(),
        _ => asked,
    }
}

/// Host `H`, but for one line.
pub struct Weaken<H>(PhantomData<fn() -> H>);

/// A word of `H`'s.
pub struct Word<H: Host>(H::Word);

impl<H: ModelHost> Word<H> {
    /// Reads, and then writes what `next` makes of it, if anything.
    #[track_caller]
    fn torn(&self, order: Ordering, next: impl FnOnce(u64) -> Option<u64>) -> u64 {
        let (read, write) = Strength::of(order).halves();
        let found = self.0.load(read);
        if let Some(next) = next(found) {
            self.0.store(next, write);
        }
        found
    }
}

impl<H: ModelHost> host::Word for Word<H> {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(H::Word::new(value))
    }
    #[track_caller]
    fn with_ordered_writes(self) -> Self {
        Word(self.0.with_ordered_writes())
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(changed(fault(Access::Load, order, None), order))
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, changed(fault(Access::Store, order, None), order));
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        match fault(Access::Swap, order, None) {
            Some(Change::Torn) => self.torn(order, |_| Some(value)),
            change => self.0.swap(value, changed(change, order)),
        }
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        match fault(Access::Add, order, None) {
            Some(Change::Torn) => self.torn(order, |found| Some(found.wrapping_add(value))),
            change => self.0.fetch_add(value, changed(change, order)),
        }
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        match fault(Access::Exchange, success, Some(failure)) {
            Some(Change::Torn) => {
                let found = self.torn(success, |found| (found == current).then_some(new));
                if found == current { Ok(found) } else { Err(found) }
            }
            Some(Change::FailureTo(failure)) => self.0.compare_exchange(current, new, success, failure.order()),
            change => self.0.compare_exchange(current, new, changed(change, success), failure),
        }
    }
}

impl<H: ModelHost> Host for Weaken<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = H::Lock<T>;
    type Parker = H::Parker;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    #[track_caller]
    fn fence(order: Ordering) {
        match changed(fault(Access::Fence, order, None), order) {
            Ordering::Relaxed => (),
            order => H::fence(order),
        }
    }

    host_and_spawn_as_beneath!();
}

impl<H: ModelHost> ModelHost for Weaken<H> {
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    threads_as_beneath!();
}

#[cfg(test)]
mod tests {
    use super::{Access, Asked, Change, Site, Strength};

    fn changes(access: Access, order: Strength, failure: Option<Strength>) -> Vec<Change> {
        Asked { site: Site { file: "f.rs", line: 1, column: 1 }, access, order, failure }.changes()
    }

    #[test]
    fn every_weaker_ordering_is_tried() {
        use Strength::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        assert_eq!(changes(Access::Load, Acquire, None), [Change::To(Relaxed)]);
        assert_eq!(changes(Access::Store, Relaxed, None), []);
        let all = [AcqRel, Acquire, Release, Relaxed].map(Change::To);
        assert_eq!(changes(Access::Fence, SeqCst, None), all);
        let exchange = changes(Access::Exchange, AcqRel, Some(Acquire));
        let weaker = [Acquire, Release, Relaxed].map(Change::To);
        assert_eq!(exchange, [&weaker[..], &[Change::FailureTo(Relaxed), Change::Torn]].concat());
    }

    #[test]
    fn an_atomic_step_can_be_torn() {
        assert_eq!(changes(Access::Add, Strength::Relaxed, None), [Change::Torn]);
    }
}
