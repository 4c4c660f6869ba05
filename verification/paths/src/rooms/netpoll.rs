//! `protocol/netpoll.rs`.

use super::straight;
use crate::host::{Access, Domain, Havoc, Telling, ask, before, tell, whether};
use crate::path::{Operation, Room};
use kernel::host::{NEVER, Nanos};
use kernel::protocol::netpoll::{Neighbours, Netpoll, Poll};

/// Two moments that the room tells apart, and none.
const MOMENTS: [(Nanos, &str); 3] = [(10, "early"), (20, "late"), (NEVER, "never")];

fn moment(value: u64) -> String {
    MOMENTS.iter().find(|(nanos, _)| *nanos == value).map_or_else(|| value.to_string(), |(_, name)| (*name).to_owned())
}

pub(super) static ROOM: Room = Room {
    name: "netpoll",
    words: &[
        Domain {
            name: "who",
            // The thread that peeks swaps: until then other threads may only note that they missed it.
            answers: |access| if matches!(access, Access::Swap(_)) { vec![1, 2] } else { vec![3, 0, 1, 2] },
            telling: Telling::Values(|value| match value {
                0 => "blocked".to_owned(),
                1 => "peeking".to_owned(),
                2 => "missed".to_owned(),
                _ => "empty".to_owned(),
            }),
        },
        Domain {
            name: "until",
            answers: |_| MOMENTS.map(|(nanos, _)| nanos).to_vec(),
            telling: Telling::Values(moment),
        },
    ],
    operations: &[
        Operation {
            name: "claim",
            heads: &["who.load"],
            run: || match room().claim(&Others) {
                Some(_) => "the poller".to_owned(),
                None => "nothing".to_owned(),
            },
        },
        straight("prepare", || {
            let poll = poll();
            let until = room().prepare(&poll, &Others);
            moment(until)
        }),
        straight("leave", || {
            let poll = poll();
            room().leave(poll, 3);
            "".to_owned()
        }),
        straight("peek", || room().peek(&Others, || 3, || tell("looks")).to_string()),
        straight("announce", || {
            room().announce(20, &Others);
            "".to_owned()
        }),
        straight("is_missing", || room().is_missing(&Others).to_string()),
        straight("is_blocked", || room().is_blocked().to_string()),
        straight("neglected_since", || if room().neglected_since().is_some() { "a time" } else { "none" }.to_owned()),
    ],
};

fn room() -> Netpoll<Havoc> {
    Netpoll::new()
}

/// The right to wait, of an M that has claimed it.
fn poll() -> Poll {
    struct Due;
    impl Neighbours for Due {
        fn deadline(&self) -> Nanos {
            10
        }
        fn is_awaited(&self) -> bool {
            true
        }
        fn interrupt(&self) {}
        fn wakep(&self) {}
    }
    before(|| room().claim(&Due).expect("it is empty"))
}

struct Others;

impl Neighbours for Others {
    fn deadline(&self) -> Nanos {
        MOMENTS[ask("deadline", &MOMENTS.map(|(_, name)| name))].0
    }
    fn is_awaited(&self) -> bool {
        whether("a task waits for the poller")
    }
    fn interrupt(&self) {
        tell("interrupts the wait");
    }
    fn wakep(&self) {
        tell("wakep");
    }
}
