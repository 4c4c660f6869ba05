//! The ring of [`runq`](crate::queues::runq) by type: one owner, and thieves.
//!
//! Go: none; crossbeam-deque and st3 have it so.
//!
//! **Only the owner puts and gets**: an [`Owner`] can be sent to another thread, but neither shared nor cloned, so one thread at a
//! time has it. A [`Stealer`] is for any thread. The ring below is the one that the scheduler runs and that the models check; there the P
//! says which M is the owner.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/os.in"));
//! # fn main() {
//! use spinpark_kernel::queues::owner::{Owner, Stealer};
//! use spinpark_kernel::queues::runq::{Capacity, Full};
//!
//! let g = |n| G::from_raw(NonZeroU64::new(n).unwrap());
//! let owner = Owner::<Os>::new(Capacity::new(4).unwrap());
//! (1..=4).for_each(|n| owner.put(g(n)).unwrap());
//! let Err(Full(fifth)) = owner.put(g(5)) else { panic!("four fit") };
//!
//! // A thief takes half: the oldest to run, the others into a ring of its own.
//! let stealer: Stealer<Os> = owner.stealer();
//! let thief = thread::spawn(move || {
//!     let mine = Owner::new(Capacity::new(4).unwrap());
//!     let (first, stolen) = stealer.steal_some(&mine).unwrap();
//!     (first.into_raw().get(), stolen, mine.get().unwrap().into_raw().get())
//! });
//! assert_eq!(thief.join().unwrap(), (1, 2, 2));
//! owner.put(fifth).unwrap();
//! assert_eq!(std::iter::from_fn(|| owner.get()).map(|g| g.into_raw().get()).collect::<Vec<_>>(), [3, 4, 5]);
//! # }
//! ```
//!
//! An owner that is shared, or cloned, does not compile:
//!
//! ```compile_fail,E0277
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/os.in"));
//! # fn main() {
//! # use spinpark_kernel::queues::owner::Owner;
//! fn is_shared<T: Sync>() {}
//! is_shared::<Owner<Os>>();
//! # }
//! ```
//! ```compile_fail,E0599
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/os.in"));
//! # fn main() {
//! # use spinpark_kernel::queues::owner::Owner;
//! # let owner = Owner::<Os>::new(spinpark_kernel::queues::runq::Capacity::MIN);
//! let another = owner.clone();
//! # }
//! ```
//!
//! Checked by: verification/rooms/src/rooms/runq.rs, verification/src/models/runq.rs

use crate::host::Host;
use crate::queues::runq::{Capacity, Full, RunQueue, Spilled};
use crate::types::g::G;
use alloc::sync::Arc;
use core::cell::Cell;
use core::marker::PhantomData;

/// The one that puts and gets. Gs that are left when the last of owner and stealers is dropped are dropped with the ring.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::queues::{owner::Owner, runq::{Capacity, Full}};
/// let owner = Owner::<Os>::new(Capacity::new(2).unwrap());
/// assert_eq!(owner.put_batch(&mut [g(1), g(2), g(3)].into_iter()), 2); // as many as fit
/// assert!(matches!(owner.put(g(3)), Err(Full(_))));
/// assert_eq!(owner.spill_half().expect("it is full").map(|g| g.id()).collect::<Vec<_>>(), [1]);
/// assert_eq!((owner.get().map(|g| g.id()), owner.is_empty()), (Some(2), true));
/// # }
/// ```
pub struct Owner<H: Host>(Arc<RunQueue<H>>, PhantomData<Cell<()>>);

/// One that steals. Can be cloned.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::queues::{owner::Owner, runq::Capacity};
/// let (victim, mine) = (Owner::<Os>::new(Capacity::DEFAULT), Owner::new(Capacity::DEFAULT));
/// victim.put_batch(&mut (1..=4).map(g));
/// let (first, stolen) = victim.stealer().steal_some(&mine).expect("there is something");
/// assert_eq!((first.id(), stolen, mine.len(), victim.len()), (1, 2, 1, 2));
/// # }
/// ```
pub struct Stealer<H: Host>(Arc<RunQueue<H>>);

impl<H: Host> Owner<H> {
    /// Of an empty ring.
    pub fn new(capacity: Capacity) -> Self {
        Owner(Arc::new(RunQueue::made(capacity, 0)), PhantomData)
    }

    /// One more thief.
    pub fn stealer(&self) -> Stealer<H> {
        Stealer(Arc::clone(&self.0))
    }

    /// Appends `g`.
    ///
    /// # Errors
    /// [`Full`], with the G: make room by [`spill_half`](Owner::spill_half).
    #[inline]
    pub fn put(&self, g: G) -> Result<(), Full> {
        self.0.put(g)
    }

    /// Appends as many of `gs` as fit, publishes them at once, and returns how many.
    pub fn put_batch(&self, gs: &mut impl Iterator<Item = G>) -> usize {
        self.0.put_batch(gs)
    }

    /// Takes the oldest.
    #[inline]
    pub fn get(&self) -> Option<G> {
        self.0.get()
    }

    /// Takes the older half out of a full ring, to be put elsewhere. `None`: it is not full.
    pub fn spill_half(&self) -> Option<Spilled<'_, H, 32>> {
        self.0.spill_half()
    }

    /// How many Gs it holds, or held a moment ago.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Does it hold none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<H: Host> Stealer<H> {
    /// Takes the older half, rounded up: the oldest for the caller to run, the rest into `mine`. Returns the oldest, and how many it
    /// took, that one included. `None`: there was nothing.
    ///
    /// # Panics
    /// If `mine` is not empty.
    #[inline]
    pub fn steal_some(&self, mine: &Owner<H>) -> Option<(G, usize)> {
        assert!(mine.is_empty(), "owner: a thief's own ring holds {} Gs", mine.len());
        self.0.steal_some(&mine.0)
    }
}

impl<H: Host> Clone for Stealer<H> {
    fn clone(&self) -> Self {
        Stealer(Arc::clone(&self.0))
    }
}
