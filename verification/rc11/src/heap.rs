//! The heap of the execution that is played: which blocks the model has, where, and which of them were freed.
//!
//! A block whose address is compared, exchanged or kept in an integer is of a **class**: its size and alignment. Blocks of
//! a class lie in an arena, of which each thread has a part of its own and takes one block after the other. So the address
//! of a thread's nth block is the same in each play, and values that are made of it are: with a tag in the low bits or
//! above, or in an `AtomicUsize`. In the graph it stands as if every arena began at [`HOME`], since each worker has its own.
//!
//! Giving out a block and freeing one are events, of the class's own location ([`Kind::Alloc`](crate::graph::Kind::Alloc),
//! [`Kind::Free`](crate::graph::Kind::Free)): a block may lie where one that was freed lay, which is a way to be explored.
//! What lies there is overwritten, as the allocator's next caller would.

use crate::graph::{Loc, MAX_THREADS};
use crate::quarantine::checker;
use crate::step::Ask;
use crate::{machine, model};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// What each thread has of an arena.
const PART: usize = 1 << 20;
const SIZE: usize = PART * MAX_THREADS;
/// Where every arena begins, as far as the graph knows.
const HOME: u64 = 0x2a5c_0000_0000;
/// The bits of a word that are an address.
const ADDRESS: u64 = (1 << 48) - 1;

/// A block of an arena.
#[derive(Debug, Clone, Copy)]
struct Block {
    layout: Layout,
    is_there: bool,
}

#[derive(Default)]
struct Heap {
    classes: Vec<Layout>,
    /// How much of its part each thread has used.
    used: [usize; MAX_THREADS],
    /// The arena's blocks, by address.
    blocks: HashMap<usize, Block>,
    /// The other blocks that the model was given in this play, and what they lie between.
    others: Vec<(usize, Layout)>,
    /// Blocks that were given to the checker since, where one of these may have lain: how many of these there were, and where.
    checkers: Vec<(usize, usize)>,
    low: usize,
    high: usize,
    /// Where objects of the model's lie that were accessed.
    objects: Vec<(usize, Loc)>,
}

std::thread_local! {
    static HEAP: RefCell<Heap> = RefCell::new(Heap::default());
    /// Where this thread's arena is, once there is one; else 0.
    static ARENA_AT: Cell<usize> = const { Cell::new(0) };
}

fn with<R>(f: impl FnOnce(&mut Heap) -> R) -> R {
    checker(|| HEAP.with_borrow_mut(f))
}

impl Drop for Heap {
    fn drop(&mut self) {
        let arena = ARENA_AT.replace(0);
        if arena != 0 {
            // SAFETY: from `arena`, with that layout; the thread that has played executions in it ends.
            unsafe { System.dealloc(std::ptr::with_exposed_provenance_mut(arena), ARENA) };
        }
    }
}

/// This thread's arena.
fn arena() -> usize {
    if ARENA_AT.get() == 0 {
        // SAFETY: the size is not 0.
        let arena = unsafe { System.alloc(ARENA) };
        assert!(!arena.is_null(), "rc11: no memory for the blocks of a model");
        ARENA_AT.set(arena.expose_provenance());
    }
    ARENA_AT.get()
}

/// Its alignment is its size, so that the low bits of an address are those at `HOME`.
const ARENA: Layout = match Layout::from_size_align(SIZE, SIZE) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

impl Heap {
    /// The next block of `thread`, if its part has room.
    fn fresh(&mut self, thread: u8, layout: Layout) -> Option<usize> {
        let used = &mut self.used[usize::from(thread)];
        let at = used.next_multiple_of(layout.align().max(16));
        *used = at + layout.size();
        (*used <= PART).then(|| arena() + usize::from(thread) * PART + at)
    }

    /// With which layout the block was given out that begins there.
    fn given(&self, address: usize) -> Option<Layout> {
        if let Some(block) = self.blocks.get(&address) {
            return Some(block.layout);
        }
        let last = self.others.iter().rposition(|(block, _)| *block == address)?;
        let is_checkers = self.checkers.iter().any(|&(many, block)| many > last && block == address);
        (!is_checkers).then(|| self.others[last].1)
    }

    /// The arena's block that lies there, or the model's other block, by its layout.
    fn layout_at(&self, address: usize) -> Option<Layout> {
        if !(self.low..self.high).contains(&address) {
            return None;
        }
        let lies_in = |&&(block, layout): &&(usize, Layout)| (block..block + layout.size()).contains(&address);
        self.others.iter().rev().find(lies_in).map(|&(_, layout)| layout)
    }
}

/// Blocks are given out and freed here, whatever the model's line is: an allocator is not told.
pub(crate) const FILE: &str = file!();

/// In this play blocks of these layouts are of classes.
pub(crate) fn set_classes(classes: &[Layout]) {
    with(|heap| heap.classes.extend_from_slice(classes));
}

/// A play begins.
pub(crate) fn begin() {
    with(|heap| {
        heap.classes.clear();
        heap.used = [0; MAX_THREADS];
        heap.blocks.clear();
        heap.others.clear();
        heap.checkers.clear();
        (heap.low, heap.high) = (usize::MAX, 0);
        heap.objects.clear();
    });
}

/// A block for the model, if one of that layout is of a class.
pub(crate) fn allocate(layout: Layout) -> Option<*mut u8> {
    let class = with(|heap| heap.classes.iter().position(|class| *class == layout))?;
    let freed = machine::ask(Ask::Alloc { heap: Loc::of_heap(class) });
    let address = match freed {
        0 => with(|heap| heap.fresh(machine::current(), layout))?,
        freed => from_graph(freed) as usize,
    };
    with(|heap| heap.blocks.insert(address, Block { layout, is_there: true }));
    Some(std::ptr::with_exposed_provenance_mut(address))
}

/// What becomes of a block that the model frees.
pub(crate) enum Freed {
    /// It was given out with another layout.
    AsAnother(Layout),
    /// It is an arena's, and stays there.
    Kept,
    /// It is no arena's.
    Other,
    /// It was freed before.
    Twice,
}

/// The model frees a block: whatever lies in it must not be in use.
pub(crate) fn free(block: *mut u8, layout: Layout) -> Freed {
    let address = block.addr();
    let (known, given, class, objects) = with(|heap| {
        let class = heap.classes.iter().position(|class| *class == layout);
        let lies_in = |(at, _): &&(usize, Loc)| (address..address + layout.size()).contains(at);
        let objects: Vec<Loc> = heap.objects.iter().filter(lies_in).map(|(_, loc)| *loc).collect();
        (heap.blocks.get(&address).copied(), heap.given(address), class, objects)
    });
    for loc in objects {
        machine::is_freed_under(loc, address..address + layout.size());
    }
    if let Some(given) = given.filter(|given| *given != layout) {
        return Freed::AsAnother(given);
    }
    match (known, class) {
        (Some(Block { is_there: false, .. }), _) => Freed::Twice,
        (Some(_), Some(class)) => {
            with(|heap| {
                heap.blocks.insert(address, Block { layout, is_there: false });
            });
            machine::ask(Ask::Free { heap: Loc::of_heap(class), address: to_graph(address as u64) });
            Freed::Kept
        }
        _ => Freed::Other,
    }
}

/// The model was given a block that is no arena's.
pub(crate) fn note(block: *mut u8, layout: Layout) {
    let address = block.addr();
    with(|heap| {
        heap.others.push((address, layout));
        (heap.low, heap.high) = (heap.low.min(address), heap.high.max(address + layout.size()));
    });
}

/// The checker was given a block, where one of the model's may have lain.
pub(crate) fn note_checkers(block: usize) {
    // Not while the lists here grow.
    let note = |heap: &RefCell<Heap>| {
        let Ok(mut heap) = heap.try_borrow_mut() else { return };
        if (heap.low..heap.high).contains(&block) {
            let many = heap.others.len();
            heap.checkers.push((many, block));
        }
    };
    let _ = checker(|| HEAP.try_with(note));
}

/// An object of the model's lies at `address`, and is accessed there: the number by which to say where it lies later.
pub(crate) fn place_object(number: Option<u32>, address: usize, loc: Loc) -> u32 {
    with(|heap| {
        let number = number.unwrap_or(heap.objects.len() as u32);
        match heap.objects.get_mut(number as usize) {
            Some(object) => *object = (address, loc),
            None => heap.objects.push((address, loc)),
        }
        number
    })
}

/// Does `address` lie in a block of an arena's that was freed?
pub(crate) fn is_freed(address: usize) -> bool {
    is_in_arena(address)
        && with(|heap| {
            let mut freed = heap.blocks.iter().filter(|(_, block)| !block.is_there);
            freed.any(|(&at, block)| (at..at + block.layout.size()).contains(&address))
        })
}

/// Does the model have a block there that it was given in this play?
pub(crate) fn has(address: usize) -> bool {
    with(|heap| heap.blocks.contains_key(&address) || heap.others.iter().any(|(other, _)| *other == address))
}

/// Is it an address of this thread's arena?
#[inline]
pub(crate) fn is_in_arena(address: usize) -> bool {
    let arena = ARENA_AT.get();
    arena != 0 && address ^ arena < SIZE
}

/// Blocks of the model's that it has not freed: how many, and the size of the first one.
pub(crate) fn left(is_freed: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    with(|heap| {
        let there = heap.blocks.values().filter(|block| block.is_there).map(|block| block.layout.size());
        let others = heap.others.iter().filter(|(address, _)| !is_freed(*address)).map(|(_, layout)| layout.size());
        let mut sizes = there.chain(others).peekable();
        let first = *sizes.peek()?;
        Some((sizes.count(), first))
    })
}

/// `value` as it stands in the graph: an address of the arena's as if that began at `HOME`, whatever tag it has.
pub(crate) fn to_graph(value: u64) -> u64 {
    if value < PART as u64 {
        return value;
    }
    match ARENA_AT.get() {
        0 => value,
        arena => moved(value, arena as u64, HOME),
    }
}

/// The other way round.
pub(crate) fn from_graph(value: u64) -> u64 {
    if !lies_in(value, HOME) && !lies_in(value >> 16, HOME) {
        return value;
    }
    match ARENA_AT.get() {
        0 => value,
        arena => moved(value, HOME, arena as u64),
    }
}

/// Is it an address of an arena, as it stands in the graph?
pub(crate) fn is_address(value: u64) -> bool {
    lies_in(value, HOME)
}

fn lies_in(value: u64, arena: u64) -> bool {
    (value & ADDRESS) ^ arena < SIZE as u64
}

/// An address in the low 48 bits or in the high ones: where tags are not.
fn moved(value: u64, from: u64, to: u64) -> u64 {
    if lies_in(value, from) {
        value ^ from ^ to
    } else if lies_in(value >> 16, from) {
        value ^ (from ^ to) << 16
    } else {
        value
    }
}

/// `value` is compared, exchanged, or kept in an integer. If it is an address of the model's, blocks of that layout must be
/// of a class: the exploration begins anew.
pub(crate) fn observe(value: u64) {
    if value < PART as u64 {
        return;
    }
    let found = with(|heap| {
        let address = [value & ADDRESS, value >> 16].map(|address| address as usize);
        address.into_iter().find_map(|address| heap.layout_at(address))
    });
    if let Some(layout) = found {
        model::observe_layout(layout);
    }
}
