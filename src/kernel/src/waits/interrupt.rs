//! How the wait of an M in the system's poller is ended from elsewhere. Go: `netpollBreak`.
//!
//! **What was written before an interrupt is seen after a wait that ends, if not by this interrupt, then by one that was on its
//! way.** The system remembers one notice. If one is there already another may only read that (so does the crate polling, as Go:
//! `netpollWakeSig`); it is taken back as the wait ends.
//!
//! | a thread that interrupts, in [`interrupt`]                | the M that waits, in [`wait`]            |
//! |-----------------------------------------------------------|------------------------------------------|
//! | 1. writes what the M is to see                            | 1. waits; the notice is taken back       |
//! | 2. StoreLoad                                              | 2. StoreLoad                             |
//! | 3. reads that there is a notice; or leaves one, and wakes | 3. reads what there is to see            |
//!
//! Pair `notice`.
//!
//! Checked by: verification/rooms/src/rooms/interrupt.rs

use crate::atomic::store_load;
use crate::host::Host;

/// Ends the wait of now, or the next. `notify` leaves a notice with the system, unless there is one.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::interrupt::{interrupt, wait};
/// let (notify, notices) = mpsc::channel();
/// interrupt::<Os, _>(|| notify.send("wake up")).expect("there is a receiver");
/// assert_eq!(wait::<Os, _>(|| notices.recv()), Ok("wake up"));
/// # }
/// ```
#[inline]
pub fn interrupt<H: Host, R>(notify: impl FnOnce() -> R) -> R {
    // `notice`, the interrupter's half. The other half is in `wait`.
    store_load::<H>();
    notify()
}

/// Waits by `wait`, at whose end the system takes the notice back.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::interrupt::wait;
/// assert_eq!(wait::<Os, _>(|| "an event"), "an event"); // by the system's poller
/// # }
/// ```
#[inline]
pub fn wait<H: Host, R>(wait: impl FnOnce() -> R) -> R {
    let waited = wait();
    // `notice`, the M's half. The other half is in `interrupt`.
    store_load::<H>();
    waited
}
