//! Every block of memory begins with a cache line of its own.
//!
//! The simulator tells lines by addresses. Where a block begins within a line is the system's choice, and would differ from run
//! to run; so each begins a line, as the kernel's large blocks do on a real machine.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// As long as the largest that `CachePadded` assumes.
const LINE: usize = 128;

struct Lines;

/// The layout that is asked of the system instead.
fn widened(layout: Layout) -> Layout {
    layout.align_to(LINE).unwrap_or(layout)
}

// SAFETY: each call is the system's own, with a layout that is at least as strict; the same for the same layout, so a block is
// given back as it was taken.
unsafe impl GlobalAlloc for Lines {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's: its size is not 0.
        unsafe { System.alloc(widened(layout)) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's: `alloc` gave it for this layout.
        unsafe { System.dealloc(block, widened(layout)) }
    }
}

#[global_allocator]
static GLOBAL: Lines = Lines;
