//! What is asked of the allocator inside of a signal handler. This program's `malloc` stands before the C library's, for
//! the loader too, which asks it for the room of thread locals.

#![allow(unsafe_code)]

use libc::{c_int, c_void, size_t};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::SeqCst};

/// The thread that is inside of a handler; 0: none.
static INSIDE: AtomicI32 = AtomicI32::new(0);
static ASKED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    fn __libc_malloc(size: size_t) -> *mut c_void;
    fn __libc_calloc(count: size_t, size: size_t) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: size_t) -> *mut c_void;
    fn __libc_memalign(align: size_t, size: size_t) -> *mut c_void;
}

fn this_thread() -> c_int {
    // SAFETY: asks only.
    unsafe { libc::gettid() }
}

fn count() {
    let inside = INSIDE.load(SeqCst);
    if inside != 0 && inside == this_thread() {
        ASKED.fetch_add(1, SeqCst);
    }
}

/// What `f` asks the allocator for, as if it were a handler of this thread.
pub(crate) fn asked_by(f: impl FnOnce()) -> usize {
    let before = ASKED.load(SeqCst);
    let outer = INSIDE.swap(this_thread(), SeqCst);
    f();
    INSIDE.store(outer, SeqCst);
    ASKED.load(SeqCst) - before
}

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn malloc(size: size_t) -> *mut c_void {
    count();
    // SAFETY: the caller's.
    unsafe { __libc_malloc(size) }
}

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn calloc(count_: size_t, size: size_t) -> *mut c_void {
    count();
    // SAFETY: the caller's.
    unsafe { __libc_calloc(count_, size) }
}

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn realloc(old: *mut c_void, size: size_t) -> *mut c_void {
    count();
    // SAFETY: the caller's.
    unsafe { __libc_realloc(old, size) }
}

/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn memalign(align: size_t, size: size_t) -> *mut c_void {
    count();
    // SAFETY: the caller's.
    unsafe { __libc_memalign(align, size) }
}
