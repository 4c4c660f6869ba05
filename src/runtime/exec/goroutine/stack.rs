//! The stacks of goroutines: taken from the system many at once, used again, given back in part.
//!
//! Go: `stackalloc`, `stackpool`, `gfput`, `gfget`; there a stack is copied when it has to grow. Here it has its final
//! size from the start, and the system gives memory only for the pages that were touched.
//!
//! ```text
//!    one chunk     │guard│    stack 0    │guard│    stack 1    │ …
//!                        limit         base    (a stack grows from its base down to its limit)
//! ```
//!
//! A goroutine that has used up its stack touches the guard page; see [`signal`](crate::runtime::host::signal) for what is said then.

#![allow(unsafe_code)]

use core::num::NonZeroUsize;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use corosensei::stack::StackPointer;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many stacks one chunk of memory holds.
const PER_CHUNK: usize = 64;
/// So many are kept at each P, as they are.
const KEPT: usize = 64;
/// So many are cleaned at a time.
const CLEANED: usize = 16;

/// What the system maps at once.
struct Chunk(system::Region);

/// A stack that is free, or used by its owner.
pub(in crate::runtime) struct Stack {
    base: NonZeroUsize,
    size: usize,
    /// Keeps the memory.
    chunk: Arc<Chunk>,
}

// SAFETY: from `limit` to `base` the memory is mapped as long as the chunk lives, which we keep, and it is ours alone:
// each stack of a chunk is made once. The page below `limit` was made a guard, or there would be no chunk.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        self.base
    }
    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.guard()).expect("stack: an address is not null")
    }
}

impl Stack {
    /// The lowest address of the guard.
    pub(in crate::runtime) fn guard(&self) -> usize {
        self.base.get() - self.size - system::GUARD
    }

    /// How many bytes there are.
    pub(in crate::runtime) fn size(&self) -> usize {
        self.size
    }

    /// Gives its memory back to the system. It can be used as before, and is empty.
    fn clean(&self) {
        // It is unused: it was put away.
        let _ = self.chunk.0.forget(self.base.get() - self.size, self.size);
    }
}

/// The stacks of one runtime.
pub(in crate::runtime) struct Stacks {
    size: usize,
    /// One row for each P: those used last.
    rows: Box<[Mutex<Vec<Stack>>]>,
    rest: Mutex<Rest>,
    /// How many of the rest are dirty; a hint.
    dirty: AtomicUsize,
    /// How many were ever made.
    made: AtomicUsize,
}

#[derive(Default)]
struct Rest {
    /// They hold memory that is not needed.
    dirty: Vec<Stack>,
    clean: Vec<Stack>,
}

impl Stacks {
    /// The smallest stack: a panic is reported on it.
    pub(in crate::runtime) const SMALLEST: usize = 16 << 10;
    /// The largest.
    pub(in crate::runtime) const LARGEST: usize = 1 << 30;
    /// Where nothing else is said.
    pub(in crate::runtime) const DEFAULT: usize = 256 << 10;

    pub(in crate::runtime) fn new(rows: usize, size: usize) -> Arc<Stacks> {
        Arc::new(Stacks {
            size: size.next_multiple_of(system::GUARD),
            rows: (0..rows.max(1)).map(|_| Mutex::default()).collect(),
            rest: Mutex::default(),
            dirty: AtomicUsize::new(0),
            made: AtomicUsize::new(0),
        })
    }

    fn row(&self, row: usize) -> MutexGuard<'_, Vec<Stack>> {
        self.rows[row % self.rows.len()].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stack.
    ///
    /// # Errors
    /// If the system gives no memory.
    pub(in crate::runtime) fn take(&self, row: usize) -> io::Result<Stack> {
        match self.row(row).pop() {
            Some(stack) => Ok(stack),
            None => self.take_from_rest(),
        }
    }

    #[cold]
    fn take_from_rest(&self) -> io::Result<Stack> {
        let mut rest = self.rest();
        if let Some(stack) = rest.clean.pop() {
            return Ok(stack);
        }
        if let Some(stack) = rest.dirty.pop() {
            // Relaxed: a hint.
            self.dirty.store(rest.dirty.len(), Relaxed);
            return Ok(stack);
        }
        let mut new = chunk(self.size)?;
        // Relaxed: counted for display.
        self.made.fetch_add(new.len(), Relaxed);
        let stack = new.pop();
        rest.clean.append(&mut new);
        stack.ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// It is unused from now on. Returns whether there is something to [`clean`](Stacks::clean) now that there was not.
    pub(in crate::runtime) fn put(&self, row: usize, stack: Stack) -> bool {
        let mut kept = self.row(row);
        if kept.len() < KEPT {
            kept.push(stack);
            return false;
        }
        drop(kept);
        let mut rest = self.rest();
        rest.dirty.push(stack);
        // Relaxed: a hint.
        self.dirty.store(rest.dirty.len(), Relaxed);
        rest.dirty.len() == 1
    }

    /// Is there memory to give back?
    pub(in crate::runtime) fn is_dirty(&self) -> bool {
        // Relaxed: a hint.
        self.dirty.load(Relaxed) > 0
    }

    /// Gives some memory back to the system.
    pub(in crate::runtime) fn clean(&self) {
        let mut some = {
            let mut rest = self.rest();
            let from = rest.dirty.len().saturating_sub(CLEANED);
            let some = rest.dirty.split_off(from);
            // Relaxed: a hint.
            self.dirty.store(rest.dirty.len(), Relaxed);
            some
        };
        some.iter().for_each(Stack::clean);
        self.rest().clean.append(&mut some);
    }

    /// How many there are, used or not.
    pub(in crate::runtime) fn made(&self) -> usize {
        // Relaxed: for display.
        self.made.load(Relaxed)
    }
}

/// New stacks of `size` bytes each.
fn chunk(size: usize) -> io::Result<Vec<Stack>> {
    let each = size + system::GUARD;
    // Large ones come singly.
    let count = (PER_CHUNK * Stacks::DEFAULT / each).clamp(1, PER_CHUNK);
    let chunk = Arc::new(Chunk(system::Region::new(each * count)?));
    let start = chunk.0.start();
    (0..count)
        .map(|i| {
            chunk.0.guard(start + i * each)?;
            let base = NonZeroUsize::new(start + (i + 1) * each).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(Stack { base, size, chunk: Arc::clone(&chunk) })
        })
        .collect()
}

pub(in crate::runtime) use system::GUARD;

#[cfg(unix)]
mod system {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
    use std::io;

    /// The size of a guard: the largest page of any machine that we know of.
    pub(in crate::runtime) const GUARD: usize =
        if cfg!(any(target_arch = "x86_64", target_arch = "x86")) { 4 << 10 } else { 64 << 10 };

    /// Memory that is mapped, as long as this lives.
    pub(in crate::runtime) struct Region {
        start: usize,
        len: usize,
    }

    impl Region {
        pub(in crate::runtime) fn new(len: usize) -> io::Result<Region> {
            let flags = MapFlags::PRIVATE;
            #[cfg(target_os = "linux")]
            let flags = flags | MapFlags::NORESERVE;
            // SAFETY: a new mapping, at an address that the system chooses.
            let start =
                unsafe { mmap_anonymous(core::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags)? };
            let region = Region { start: start.expose_provenance(), len };
            region.keep_small();
            Ok(region)
        }

        pub(in crate::runtime) fn start(&self) -> usize {
            self.start
        }

        /// A page of two megabytes would be given for a stack of which four kilobytes are used.
        fn keep_small(&self) {
            #[cfg(target_os = "linux")]
            // SAFETY: our own mapping; it says nothing of its content.
            let _ = unsafe {
                let start = core::ptr::with_exposed_provenance_mut(self.start);
                rustix::mm::madvise(start, self.len, rustix::mm::Advice::LinuxNoHugepage)
            };
        }

        /// Code that touches the page at `at` is stopped by the system.
        pub(in crate::runtime) fn guard(&self, at: usize) -> io::Result<()> {
            debug_assert!(
                at >= self.start && at + GUARD <= self.start + self.len,
                "stack: a guard outside of its chunk"
            );
            let page = core::ptr::with_exposed_provenance_mut::<core::ffi::c_void>(at);
            #[cfg(target_os = "linux")]
            {
                // Since Linux 6.13, and it costs no mapping: of those a process has 65,530.
                const MADV_GUARD_INSTALL: i32 = 102;
                // SAFETY: within our own mapping, in a place that no stack uses.
                if unsafe { libc::madvise(page, GUARD, MADV_GUARD_INSTALL) } == 0 {
                    return Ok(());
                }
            }
            // SAFETY: as above.
            unsafe { mprotect(page, GUARD, MprotectFlags::empty()) }.map_err(|error| {
                let hint = "no guard page for a goroutine's stack: this system gives a process so many mappings only \
                            (vm.max_map_count)";
                io::Error::new(io::Error::from(error).kind(), format!("{hint}: {error}"))
            })
        }

        /// The bytes from `start` on are 0 from now on, and take no memory.
        pub(in crate::runtime) fn forget(&self, start: usize, len: usize) -> io::Result<()> {
            let start = core::ptr::with_exposed_provenance_mut(start);
            #[cfg(target_os = "linux")]
            // SAFETY: within our own mapping; this part is unused.
            unsafe {
                rustix::mm::madvise(start, len, rustix::mm::Advice::LinuxDontNeed)?;
            }
            // Elsewhere advice promises no zeros: a new mapping takes the place.
            #[cfg(not(target_os = "linux"))]
            // SAFETY: as above.
            unsafe {
                mmap_anonymous(start, len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED)?;
            }
            Ok(())
        }
    }

    impl Drop for Region {
        fn drop(&mut self) {
            let start = core::ptr::with_exposed_provenance_mut(self.start);
            // SAFETY: our own mapping, unused: each stack in use keeps it.
            let _ = unsafe { munmap(start, self.len) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corosensei::stack::Stack as _;

    mod a_stack {
        use super::*;

        #[test]
        fn can_be_written_from_its_base_to_its_limit() {
            let stacks = Stacks::new(1, Stacks::SMALLEST);
            let stack = stacks.take(0).expect("memory for stacks");
            let (low, high) = (stack.guard() + system::GUARD, stack.base().get());
            // Whole pages of any size that the machine may have: four of the smallest are a quarter of one of Arm's.
            assert_eq!(high - low, Stacks::SMALLEST.next_multiple_of(system::GUARD));
            for at in [low, high - 8] {
                let at = core::ptr::with_exposed_provenance_mut::<u64>(at);
                // SAFETY: between the limit and the base, which is ours.
                unsafe {
                    at.write(7);
                    assert_eq!(at.read(), 7);
                }
            }
        }

        #[test]
        #[cfg(target_os = "linux")]
        fn and_its_guard_are_whole_pages_of_this_machine() {
            // SAFETY: asks only.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            let page = usize::try_from(page).expect("a page has a size");
            let stack = Stacks::new(1, Stacks::SMALLEST + 1).take(0).expect("memory for stacks");
            assert_eq!((system::GUARD % page, stack.guard() % page, stack.base().get() % page), (0, 0, 0));
        }

        #[test]
        fn is_used_again() {
            let stacks = Stacks::new(2, Stacks::SMALLEST);
            let stack = stacks.take(0).expect("memory for stacks");
            let base = stack.base();
            assert!(!stacks.put(0, stack));
            assert_eq!(stacks.take(0).expect("memory for stacks").base(), base);
            assert!(stacks.made() <= PER_CHUNK);
        }

        #[test]
        fn is_nobody_elses() {
            let stacks = Stacks::new(1, Stacks::SMALLEST);
            let mut all: Vec<_> = (0..200).map(|_| stacks.take(0).expect("memory for stacks")).collect();
            all.sort_by_key(Stack::guard);
            assert!(all.windows(2).all(|two| two[0].base().get() <= two[1].guard()), "two stacks share memory");
        }
    }

    mod a_crowd {
        use super::*;

        #[test]
        fn that_has_gone_gives_its_memory_back_when_asked() {
            let stacks = Stacks::new(1, Stacks::SMALLEST);
            let all: Vec<_> = (0..KEPT + 40).map(|_| stacks.take(0).expect("memory for stacks")).collect();
            let written = all.last().map(|stack| stack.base().get() - 8).expect("there are some");
            let written = core::ptr::with_exposed_provenance_mut::<u64>(written);
            // SAFETY: between the limit and the base of a stack that is ours.
            unsafe { written.write(7) };
            assert_eq!(
                all.into_iter().filter(|_| true).map(|stack| stacks.put(0, stack)).filter(|news| *news).count(),
                1
            );
            while stacks.is_dirty() {
                stacks.clean();
            }
            // SAFETY: it is mapped, as `stacks` lives, and unused.
            assert_eq!(unsafe { written.read() }, 0, "the memory was kept");
            let made = stacks.made();
            let again: Vec<_> = (0..KEPT + 40).map(|_| stacks.take(0).expect("memory for stacks")).collect();
            assert_eq!((again.len(), stacks.made()), (KEPT + 40, made), "new ones were made");
        }
    }
}
