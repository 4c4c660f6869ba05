//! The steps of the table of sockets, the right ones unless a variant says otherwise.

use crate::harness::system::Known;
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::readiness::Direction;
use spinpark_kernel::waits::sockets::{Keyed, NotRegistered, Sockets};
use std::sync::Arc;

type Table<H> = Sockets<H, Known<H>, usize>;
type Entry<H> = Keyed<H, Known<H>, usize>;

/// Makes a socket known. See [`Sockets::register`].
pub fn register<H: ModelHost>(
    sockets: &Table<H>,
    is_armed_each_time: bool,
    add: impl FnOnce(usize) -> Result<Known<H>, ()>,
    start: impl FnOnce(&Known<H>) -> Result<(), ()>,
) -> Result<Arc<Entry<H>>, NotRegistered<()>> {
    if !is_variant("sockets-keeps-the-key-of-one-that-is-refused") {
        return sockets.register(is_armed_each_time, add, start);
    }
    let entry = sockets.with(|table| table.insert(is_armed_each_time)).ok_or(NotRegistered::Closed)?;
    let opened = add(entry.key()).and_then(|source| {
        entry.open(source);
        entry.with_source(start).unwrap_or(Ok(()))
    });
    opened.map(|()| entry).map_err(NotRegistered::System)
}

/// Forgets a socket. See [`Sockets::forget`].
pub fn forget<H: ModelHost>(sockets: &Table<H>, entry: &Entry<H>, mut drop: impl FnMut(usize)) -> bool {
    match variant() {
        Some("sockets-counts-down-those-it-saw") => {
            let saw = u64::from(entry.is_waiting(Direction::Read, 0) == Some(true));
            sockets.remove(entry);
            let mut wakers = Vec::new();
            entry.forget(&mut wakers);
            wakers.into_iter().for_each(&mut drop);
            sockets.waiting().gave_up(saw)
        }
        Some("sockets-forgets-the-key-alone") => {
            sockets.remove(entry);
            false
        }
        _ => sockets.forget(entry, drop),
    }
}

/// No task waits any more. See [`Sockets::close`].
pub fn close<H: ModelHost>(sockets: &Table<H>, mut wake: impl FnMut(usize)) -> bool {
    if !is_variant("sockets-copies-before-it-is-closed") {
        return sockets.close(wake);
    }
    let entries = sockets.with(|table| table.entries());
    sockets.with(|table| table.close());
    let mut wakers = Vec::new();
    entries.iter().for_each(|entry| entry.close(&mut wakers));
    let gone = wakers.len() as u64;
    wakers.into_iter().for_each(&mut wake);
    sockets.waiting().gave_up(gone)
}
