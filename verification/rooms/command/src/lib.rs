//! Every room on RC11, and on threads of the machine: what `cargo room` and the tests play. It is compiled here, apart from the rooms, as
//! `cargo verify` plays them on a host of its own.

use spinpark_rooms::every_room;
use spinpark_rooms::explore::Played;

/// Every room.
pub static ROOMS: &[Played] = &every_room!(Played::of);
