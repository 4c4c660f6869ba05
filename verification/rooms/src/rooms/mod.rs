//! The rooms, a file each.

pub mod chan;
pub mod notify;
pub mod oneshot;
pub mod semaphore;
pub mod wait_group;
pub mod watch;

use crate::explore::Declared;

/// Every room.
pub const ROOMS: &[Declared] = &[
    Declared::of::<chan::Chans>(),
    Declared::of::<notify::Notifies>(),
    Declared::of::<oneshot::Oneshots>(),
    Declared::of::<semaphore::Semaphores>(),
    Declared::of::<wait_group::WaitGroups>(),
    Declared::of::<watch::Watches>(),
];
