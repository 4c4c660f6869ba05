//! What a thread's future depends on, besides what it is answered: its registers, its stack, and the memory that the model
//! has allocated in this play. If a loop comes back to the same state, it has no end.
//!
//! Not seen: `static`s and std's `thread_local!`s, which belong to no execution.

use crate::heap;
use crate::quarantine;
use std::alloc::Layout;

/// The registers that a call preserves, and how far the stack is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    registers: [u64; 20],
    stack: usize,
}

impl Frame {
    /// The caller's. `None`: the registers of this machine are not known here.
    #[inline(always)]
    pub(crate) fn here() -> Option<Frame> {
        let mut registers = [0; 20];
        let stack = read_registers(&mut registers)?;
        Some(Frame { registers, stack })
    }

    /// A digest of the state: of the registers, the stack up to `begins`, where it begins, and the blocks of memory. Where
    /// these lie is no part of it: an address in a block counts as the block's number and the place in it.
    /// `None`: the blocks are not known, or too many.
    pub(super) fn digest(&self, begins: usize) -> Option<u64> {
        quarantine::blocks(|blocks, freed| {
            let bytes: usize = blocks.iter().map(|(_, layout)| layout.size()).sum();
            if bytes > MOST {
                return None;
            }
            let lie = Lie::of(blocks, freed);
            let mut sum = self.registers.iter().fold(0, |sum, word| add(sum, lie.name(*word)));
            sum = words(sum, &lie, self.stack, begins.saturating_sub(self.stack));
            let of_one = |sum: u64, (block, layout): &(*mut u8, Layout)| {
                words(add(sum, layout.size() as u64), &lie, block.addr(), layout.size())
            };
            Some(blocks.iter().fold(sum, of_one))
        })?
    }
}

/// Where the blocks of memory lie, those that are freed among them.
struct Lie {
    /// Where each begins and ends, and which one it is; [`FREED`]: one that is freed. In the order of addresses.
    blocks: Vec<(usize, usize, u64)>,
}

/// What an address in a freed block counts as: which one it was is no part of the state.
const FREED: u64 = u64::MAX;

impl Lie {
    fn of(blocks: &[(*mut u8, Layout)], freed: &[(*mut u8, Layout)]) -> Lie {
        let numbers = (0..).map(|n| n << 32);
        let live = blocks.iter().zip(numbers);
        let freed = freed.iter().map(|block| (block, FREED));
        let lies =
            |((block, layout), number): (&(*mut u8, Layout), u64)| (block.addr(), block.addr() + layout.size(), number);
        let mut blocks: Vec<_> = live.chain(freed).map(lies).collect();
        // Of two in one place, the one that is not freed comes last, and is found.
        blocks.sort_unstable_by_key(|&(begins, _, number)| (begins, std::cmp::Reverse(number)));
        Lie { blocks }
    }

    /// What a word counts as: itself, unless it is an address in a block, or at its end.
    #[inline]
    fn name(&self, word: u64) -> u64 {
        let behind = self.blocks.partition_point(|&(begins, ..)| begins as u64 <= word);
        match behind.checked_sub(1) {
            Some(at) => Lie::name_in(self.blocks[at], word),
            None => Lie::name_of_other(word),
        }
    }

    fn name_in((begins, ends, number): (usize, usize, u64), word: u64) -> u64 {
        match (word as usize <= ends, number) {
            (false, _) => Lie::name_of_other(word),
            (true, FREED) => FREED,
            (true, number) => number + 1 + (word - begins as u64),
        }
    }

    /// It lies in none of those: in one that an arena has taken back?
    fn name_of_other(word: u64) -> u64 {
        if heap::is_in_arena(word as usize) { FREED } else { word }
    }
}

/// More bytes than this are not looked at.
const MOST: usize = 4 << 20;

#[inline]
fn add(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

fn words(mut sum: u64, lie: &Lie, from: usize, bytes: usize) -> u64 {
    let whole = if from.is_multiple_of(8) { bytes / 8 } else { 0 };
    for n in 0..whole {
        // SAFETY: the range is a part of the stack that this runs on, above it, or a block that is allocated. What lies
        // there may be of any type, or padding: hence volatile, so that the compiler assumes nothing of the value.
        let word = unsafe { std::ptr::with_exposed_provenance::<u64>(from + 8 * n).read_volatile() };
        sum = add(sum, lie.name(word));
    }
    for at in from + 8 * whole..from + bytes {
        // SAFETY: as above.
        sum = add(sum, u64::from(unsafe { std::ptr::with_exposed_provenance::<u8>(at).read_volatile() }));
    }
    sum
}

/// What the checker has left below the calling thread's frames is wiped: frames that come to lie there may not be filled
/// everywhere, and what is left in the gaps would count as the thread's state.
#[inline(never)]
pub(crate) fn wipe() {
    let mut gaps = [0u64; 2048];
    std::hint::black_box(&mut gaps);
}

/// The same, where states are compared.
#[inline]
pub(crate) fn wipe_if_tracked() {
    if quarantine::is_tracked() {
        wipe();
    }
}

/// Where the stack ends now.
#[cfg(all(target_arch = "x86_64", not(windows)))]
#[inline(always)]
fn read_registers(registers: &mut [u64; 20]) -> Option<usize> {
    let stack: usize;
    // SAFETY: writes seven words of the array, and nothing else.
    unsafe {
        std::arch::asm!(
            "mov [rax], rbx",
            "mov [rax + 8], rbp",
            "mov [rax + 16], r12",
            "mov [rax + 24], r13",
            "mov [rax + 32], r14",
            "mov [rax + 40], r15",
            "mov rax, rsp",
            inout("rax") registers.as_mut_ptr() => stack,
            options(nostack, preserves_flags)
        );
    }
    Some(stack)
}

#[cfg(all(target_arch = "aarch64", not(windows)))]
#[inline(always)]
fn read_registers(registers: &mut [u64; 20]) -> Option<usize> {
    let stack: usize;
    // SAFETY: writes nineteen words of the array, and nothing else.
    unsafe {
        std::arch::asm!(
            "stp x19, x20, [x9]",
            "stp x21, x22, [x9, #16]",
            "stp x23, x24, [x9, #32]",
            "stp x25, x26, [x9, #48]",
            "stp x27, x28, [x9, #64]",
            "str x29, [x9, #80]",
            "stp d8, d9, [x9, #88]",
            "stp d10, d11, [x9, #104]",
            "stp d12, d13, [x9, #120]",
            "stp d14, d15, [x9, #136]",
            "mov x9, sp",
            inout("x9") registers.as_mut_ptr() => stack,
            options(nostack, preserves_flags)
        );
    }
    Some(stack)
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(windows))))]
#[inline(always)]
fn read_registers(_: &mut [u64; 20]) -> Option<usize> {
    None
}
