//! `queues/runnext.rs`.

use super::straight;
use crate::host::{Domain, Havoc, Telling};
use crate::path::Room;
use kernel::queues::runnext::RunNext;
use kernel::types::g::G;
use std::num::NonZeroU64;

pub(super) static ROOM: Room = Room {
    name: "runnext",
    words: &[Domain {
        name: "runnext",
        answers: |_| vec![0, OLD],
        telling: Telling::Values(|word| match word {
            0 => "none".to_owned(),
            OLD => "a G".to_owned(),
            _ => "the G".to_owned(),
        }),
    }],
    operations: &[
        straight("put", || got(room().put(G::from_raw(NonZeroU64::MIN)))),
        straight("take", || got(room().take())),
        straight("steal", || got(room().steal())),
        straight("is_set", || {
            room().is_set();
            "the answer".to_owned()
        }),
    ],
};

/// The G that is there already.
const OLD: u64 = 2;

fn room() -> RunNext<Havoc> {
    RunNext::new()
}

fn got(g: Option<G>) -> String {
    g.map_or("none", |g| if g.into_raw().get() == OLD { "the G that was there" } else { "the G" }).to_owned()
}
