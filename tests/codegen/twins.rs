//! Compiled by ../codegen.rs, never run: the kernel's ring on real cores beside the same ring written by hand.

use crossbeam_utils::CachePadded;
use spinpark_kernel::types::g::G;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::queues::owner::Owner;
use spinpark_kernel::queues::runq::Full;
use spinpark_kernel::sched::{Closed, Sched};
use spinpark_kernel::host::{Host, Parker};
use spinpark::runtime::{Cores, FutexParker};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What one would write without a seam: no trait, no type for a word, no G.
pub struct ByHand {
    head: CachePadded<AtomicU64>,
    tail: CachePadded<AtomicU64>,
    slots: Box<[AtomicU64]>,
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn put_by_hand(ring: &Arc<ByHand>, g: NonZeroU64) -> bool {
    let head = ring.head.load(Acquire) as u32;
    let tail = ring.tail.load(Relaxed) as u32;
    if tail.wrapping_sub(head) as usize >= ring.slots.len() {
        return false;
    }
    ring.slots[tail as usize & (ring.slots.len() - 1)].store(g.get(), Relaxed);
    ring.tail.store(u64::from(tail.wrapping_add(1)), Release);
    true
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn put_by_kernel(ring: &Owner<Cores>, g: G) -> bool {
    match ring.put(g) {
        Ok(()) => true,
        Err(Full(_)) => false,
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn get_by_hand(ring: &Arc<ByHand>) -> Option<NonZeroU64> {
    let tail = ring.tail.load(Relaxed) as u32;
    let mut head = ring.head.load(Relaxed) as u32;
    while head != tail {
        let g = ring.slots[head as usize & (ring.slots.len() - 1)].load(Relaxed);
        let (from, to) = (u64::from(head), u64::from(head.wrapping_add(1)));
        match ring.head.compare_exchange(from, to, Relaxed, Relaxed) {
            Ok(_) => return NonZeroU64::new(g),
            Err(found) => head = found as u32,
        }
    }
    None
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn get_by_kernel(ring: &Owner<Cores>) -> Option<NonZeroU64> {
    ring.get().map(G::into_raw)
}

/// An observer that does something, to show that the comparison would see it.
pub struct Count(AtomicU64);

impl Observer for Count {
    fn event(&self, _: Event<'_>) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[unsafe(no_mangle)]
pub fn submit_watched(sched: &Arc<Sched<Cores, Count>>, g: G) -> Result<(), Closed> {
    sched.submit(g)
}

#[unsafe(no_mangle)]
pub fn submit_unwatched(sched: &Arc<Sched<Cores>>, g: G) -> Result<(), Closed> {
    sched.submit(g)
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn cores_now() -> u64 {
    Cores::now()
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn cores_choose(n: usize) -> usize {
    Cores::choose(n)
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn cores_relax() {
    Cores::relax();
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn cores_park(parker: &FutexParker) {
    parker.park();
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn cores_unpark(parker: &FutexParker) {
    parker.unpark();
}
