//! An allocator that, while a model is played, keeps what the model frees until the execution has ended.
//!
//! So an address means one allocation, unless it is given out again by choice: see [`heap`](crate::heap). A model that
//! reads what it has freed reads what was there, and is told so, instead of bringing down its checker. All else goes to the
//! system's allocator.

use crate::heap::{self, Freed};
use crate::machine;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::HashSet;
use std::mem::ManuallyDrop;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing is kept.
    Off,
    /// A model is played, but the checker runs.
    Checker,
    /// The model runs.
    Model,
}

type Kept = ManuallyDrop<Vec<(*mut u8, Layout)>>;

std::thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::Off) };
    static LEFT: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    /// Never dropped of itself: threads that end free memory too.
    static KEPT: Cell<Kept> = const { Cell::new(ManuallyDrop::new(Vec::new())) };
    /// Blocks that the model has allocated, if they are tracked, in the order in which it did.
    static BLOCKS: Cell<Kept> = const { Cell::new(ManuallyDrop::new(Vec::new())) };
    static IS_TRACKED: Cell<bool> = const { Cell::new(false) };
    /// Blocks from this number on are not kept when they are freed.
    static PASSING: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// From the next execution on it is known which blocks the model has. Was that not so until now?
pub(crate) fn track() -> bool {
    !IS_TRACKED.replace(true)
}

/// What the model does from now on is only tried: blocks that it allocates and frees meanwhile are freed at once, so that
/// it finds the same block again in each round; or no longer so.
pub(crate) fn only_tries(tries: bool) {
    let blocks = BLOCKS.take();
    PASSING.set(if tries { blocks.len() } else { usize::MAX });
    BLOCKS.set(blocks);
}

/// Is it known which blocks the model has?
pub(crate) fn is_tracked() -> bool {
    IS_TRACKED.get()
}

/// The blocks that the model has allocated in this execution and not freed, and those that are kept though it has. `None`:
/// they are not known.
pub(crate) fn blocks<R>(f: impl FnOnce(&[(*mut u8, Layout)], &[(*mut u8, Layout)]) -> R) -> Option<R> {
    if !cfg!(feature = "quarantine") || STATE.get() == State::Off {
        return None;
    }
    let blocks = BLOCKS.take();
    let result = looked_at(|kept| f(&blocks, kept));
    BLOCKS.set(blocks);
    Some(result)
}

/// An execution begins; is what it frees kept?
pub(crate) fn begin(keeps: bool) {
    let mut blocks = BLOCKS.take();
    blocks.clear();
    BLOCKS.set(blocks);
    PASSING.set(usize::MAX);
    STATE.set(if keeps { State::Checker } else { State::Off });
    heap::begin();
}

/// It has ended: what was kept is freed. With `counts`, it is known afterwards what the model has not freed.
pub(crate) fn end(counts: bool) {
    STATE.set(State::Off);
    LEFT.set(if counts { blocks_left() } else { None });
    let mut kept = KEPT.take();
    for (block, layout) in kept.drain(..) {
        // SAFETY: the block was given to `dealloc` with that layout, and kept from the system's allocator, of which it
        // is; this is the one time that it is handed on.
        unsafe { System.dealloc(block, layout) };
    }
    KEPT.set(kept);
}

/// The model runs.
#[inline]
pub(crate) fn enter() {
    if STATE.get() == State::Checker {
        STATE.set(State::Model);
    }
}

/// The checker runs.
#[inline]
pub(crate) fn leave() {
    if STATE.get() == State::Model {
        STATE.set(State::Checker);
    }
}

/// Runs `f` as a part of the checker: what it allocates is none of the model's.
#[inline]
pub(crate) fn checker<R>(f: impl FnOnce() -> R) -> R {
    let before = STATE.get();
    if before == State::Model {
        STATE.set(State::Checker);
    }
    let result = f();
    STATE.set(before);
    result
}

/// Does `address` lie in memory that the model has freed?
pub(crate) fn is_freed(address: usize) -> bool {
    let lies_in = |(block, layout): &(*mut u8, Layout)| (block.addr()..block.addr() + layout.size()).contains(&address);
    heap::is_freed(address) || looked_at(|kept| kept.iter().any(lies_in))
}

/// Blocks that the model had not freed by the end of the execution: how many, and the size of one.
pub(crate) fn left() -> Option<(usize, usize)> {
    LEFT.get()
}

fn blocks_left() -> Option<(usize, usize)> {
    let freed: HashSet<usize> = looked_at(|kept| kept.iter().map(|(block, _)| block.addr()).collect());
    heap::left(|address| freed.contains(&address))
}

/// The system's allocator, but what a model allocates and frees is known to the checker: what is freed twice, or while it
/// is used, what is left in the end, and where a block lies that was freed before.
///
/// It is the global allocator of each program that has this crate, unless the feature `quarantine` is off. Then a program
/// without one of its own may say so in its tests:
///
/// ```ignore
/// #[global_allocator]
/// static ALLOCATOR: rc11::alloc::Allocator = rc11::alloc::Allocator;
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocator;

impl Allocator {
    /// Does the model run? A thread that is ending may have no state any more; what a panic allocates is not the model's.
    fn is_for_model() -> bool {
        STATE.try_with(Cell::get) == Ok(State::Model) && !std::thread::panicking() && !machine::is_over()
    }

    /// A block for the model.
    fn given(layout: Layout, system: impl FnOnce() -> *mut u8) -> *mut u8 {
        let block = heap::allocate(layout).unwrap_or_else(|| {
            let block = system();
            if !block.is_null() {
                heap::note(block, layout);
            }
            block
        });
        Allocator::note(block, layout);
        block
    }

    /// A block that is not the model's.
    #[inline]
    fn for_checker(block: *mut u8) -> *mut u8 {
        if STATE.try_with(Cell::get).is_ok_and(|state| state != State::Off) {
            heap::note_checkers(block.addr());
        }
        block
    }

    /// The model has a block more.
    #[inline]
    fn note(block: *mut u8, layout: Layout) {
        if IS_TRACKED.get() && !block.is_null() {
            Allocator::change(|blocks| blocks.push((block, layout)));
        }
    }

    /// The model, or the checker, has freed a block. Is it to be freed at once?
    fn forget(block: *mut u8) -> bool {
        if STATE.try_with(Cell::get).unwrap_or(State::Off) == State::Off || !IS_TRACKED.get() {
            return false;
        }
        let mut passes = false;
        Allocator::change(|blocks| {
            if let Some(at) = blocks.iter().rposition(|(other, _)| *other == block) {
                blocks.remove(at);
                let first = PASSING.get();
                passes = at >= first;
                PASSING.set(if passes || first == usize::MAX { first } else { first - 1 });
            }
        });
        passes
    }

    fn change(f: impl FnOnce(&mut Kept)) {
        // The list grows by this allocator.
        let state = STATE.replace(State::Off);
        let mut blocks = BLOCKS.take();
        f(&mut blocks);
        BLOCKS.set(blocks);
        STATE.set(state);
    }

    /// Is the block kept?
    fn keeps(block: *mut u8, layout: Layout) -> bool {
        let is_models = STATE.try_with(Cell::get) == Ok(State::Model);
        let passes = Allocator::forget(block);
        if heap::is_in_arena(block.addr()) && (!is_models || machine::is_over()) {
            return true;
        }
        if !is_models || (passes && !heap::is_in_arena(block.addr())) {
            return false;
        }
        if machine::is_over() {
            keep(block, layout);
            return true;
        }
        let is_kept = |kept: &Kept| kept.iter().rev().any(|(other, _)| *other == block);
        match heap::free(block, layout) {
            Freed::Kept => (),
            Freed::Other if !looked_at(is_kept) => keep(block, layout),
            Freed::Other | Freed::Twice => {
                machine::is_freed_again(block.addr());
                return true;
            }
            Freed::AsAnother(given) => {
                machine::is_freed_as_another(given, layout);
                return true;
            }
        }
        machine::note_free(block.addr());
        true
    }
}

/// What `f` says of what is kept.
fn looked_at<R>(f: impl FnOnce(&Kept) -> R) -> R {
    let kept = KEPT.take();
    let result = f(&kept);
    KEPT.set(kept);
    result
}

fn keep(block: *mut u8, layout: Layout) {
    // The list grows by this allocator.
    checker(|| {
        let mut kept = KEPT.take();
        kept.push((block, layout));
        KEPT.set(kept);
    });
}

// SAFETY: each block is the system's, with the layout that was asked for. It goes back there once: at once, or by
// `end`, which holds the only copy. `realloc` is the default one, by `alloc` and `dealloc`, only where blocks are kept.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to us.
        let system = || unsafe { System.alloc(layout) };
        if Allocator::is_for_model() { Allocator::given(layout, system) } else { Allocator::for_checker(system()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to us.
        let system = || unsafe { System.alloc_zeroed(layout) };
        if !Allocator::is_for_model() {
            return Allocator::for_checker(system());
        }
        let block = Allocator::given(layout, system);
        if !block.is_null() {
            // SAFETY: the block is that long. One of an arena has what an execution before has left.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !Allocator::keeps(block, layout) {
            // SAFETY: as promised to us.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let is_models = STATE.try_with(Cell::get) == Ok(State::Model);
        if !is_models && !heap::is_in_arena(block.addr()) {
            Allocator::forget(block);
            // SAFETY: as promised to us.
            return Allocator::for_checker(unsafe { System.realloc(block, layout, size) });
        }
        // SAFETY: the caller promises that the size, rounded up to the alignment, does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the caller promises that the size is not 0.
        let new =
            unsafe { if is_models && heap::has(block.addr()) { self.alloc(wanted) } else { System.alloc(wanted) } };
        if !new.is_null() {
            // SAFETY: both are at least as long as the shorter of the two, and the new block has no other owner.
            unsafe { std::ptr::copy_nonoverlapping(block, new, layout.size().min(size)) };
            // SAFETY: as promised to us.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}

#[cfg(feature = "quarantine")]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;
