//! An allocator that, while a model is played, keeps what the model frees until the execution has ended.
//!
//! So an address means one allocation, and its name in the graph one thing. A model that reads what it has freed reads
//! what was there, and is told so, instead of bringing down its checker. All else goes to the system's allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
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

/// The blocks that the model has allocated in this execution and not freed. `None`: they are not known.
pub(crate) fn blocks<R>(f: impl FnOnce(&[(*mut u8, Layout)]) -> R) -> Option<R> {
    if !cfg!(feature = "quarantine") || STATE.get() == State::Off {
        return None;
    }
    let blocks = BLOCKS.take();
    let result = f(&blocks);
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
}

/// It has ended: what was kept is freed.
pub(crate) fn end() {
    STATE.set(State::Off);
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

/// The allocator: the system's, but for models.
pub(crate) struct Quarantine;

impl Quarantine {
    /// The model has a block more.
    #[inline]
    fn note(block: *mut u8, layout: Layout) {
        if STATE.try_with(Cell::get) == Ok(State::Model) && IS_TRACKED.get() && !block.is_null() {
            Quarantine::change(|blocks| blocks.push((block, layout)));
        }
    }

    /// The model, or the checker, has freed a block. Is it to be freed at once?
    fn forget(block: *mut u8) -> bool {
        if STATE.try_with(Cell::get).unwrap_or(State::Off) == State::Off || !IS_TRACKED.get() {
            return false;
        }
        let mut passes = false;
        Quarantine::change(|blocks| {
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
        // A thread that is ending may have no state any more.
        if Quarantine::forget(block) || STATE.try_with(Cell::get) != Ok(State::Model) {
            return false;
        }
        // The list grows by this allocator.
        STATE.set(State::Checker);
        let mut kept = KEPT.take();
        kept.push((block, layout));
        KEPT.set(kept);
        STATE.set(State::Model);
        true
    }
}

// SAFETY: each block is the system's, with the layout that was asked for. It goes back there once: at once, or by
// `end`, which holds the only copy. `realloc` is the default one, by `alloc` and `dealloc`, only where blocks are kept.
unsafe impl GlobalAlloc for Quarantine {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to us.
        let block = unsafe { System.alloc(layout) };
        Quarantine::note(block, layout);
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to us.
        let block = unsafe { System.alloc_zeroed(layout) };
        Quarantine::note(block, layout);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !Quarantine::keeps(block, layout) {
            // SAFETY: as promised to us.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if STATE.try_with(Cell::get) != Ok(State::Model) {
            Quarantine::forget(block);
            // SAFETY: as promised to us.
            return unsafe { System.realloc(block, layout, size) };
        }
        // SAFETY: the caller promises that the size, rounded up to the alignment, does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the caller promises that the size is not 0.
        let new = unsafe { System.alloc(wanted) };
        Quarantine::note(new, wanted);
        if !new.is_null() {
            // SAFETY: both are at least as long as the shorter of the two, and the new block is nobody else's.
            unsafe { std::ptr::copy_nonoverlapping(block, new, layout.size().min(size)) };
            // SAFETY: as promised to us.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}

#[cfg(feature = "quarantine")]
#[global_allocator]
static ALLOCATOR: Quarantine = Quarantine;
