//! How many connections may wait to be accepted.

/// How many connections may wait to be accepted. The system knows better how many are too many, and cuts it down.
pub(super) const BACKLOG: u32 = 4096;

/// Asks for a longer queue than the 128 connections for which std asks. That can be asked for again.
pub(super) fn lengthen_queue(listener: impl std::os::fd::AsFd) -> std::io::Result<()> {
    Ok(rustix::net::listen(listener, BACKLOG as i32)?)
}
