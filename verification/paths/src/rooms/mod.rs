//! The rooms, each with what its environment may answer. A neighbour answers all that its contract, in the room's source, allows.

mod globq;
mod handoff;
mod local;
mod netpoll;
mod runnext;
mod runq;
mod spinning;
mod stw;
mod syscall;
mod threads;

use crate::path::{Operation, Room};

/// All of them.
pub static ROOMS: &[&Room] = &[
    &globq::ROOM,
    &handoff::ROOM,
    &local::ROOM,
    &netpoll::ROOM,
    &runnext::ROOM,
    &runq::ROOM,
    &spinning::ROOM,
    &stw::ROOM,
    &syscall::ROOM,
    &threads::ROOM,
];

/// A room by name.
#[must_use]
pub fn room(name: &str) -> Option<&'static Room> {
    ROOMS.iter().copied().find(|room| room.name == name)
}

/// An operation by its name and its room's: `spinning::wakep`.
#[must_use]
pub fn operation(name: &str) -> Option<(&'static Room, &'static Operation)> {
    let (room_name, name) = name.split_once("::")?;
    let room = room(room_name)?;
    Some((room, room.operations.iter().find(|operation| operation.name == name)?))
}

/// An operation without a loop.
const fn straight(name: &'static str, run: fn() -> String) -> Operation {
    Operation { name, heads: &[], run }
}

/// What a word holds, as a number.
fn number(value: u64) -> String {
    value.to_string()
}
