//! `protocol/stw`: a stop, a safepoint, and the word that tells an M that its P is wanted.

use super::{number, straight};
use crate::host::{Domain, Havoc, Telling, ask, tell, whether};
use crate::path::{Operation, Room};
use kernel::protocol::stw::wanted::{Want, Wanted};
use kernel::protocol::stw::{Neighbours, safepoint, stop};
use kernel::types::p::{OwnedP, PId};

pub(super) static ROOM: Room = Room {
    name: "stw",
    words: &[Domain { name: "wanted", answers: |_| (0..8).collect(), telling: Telling::Values(number) }],
    operations: &[
        Operation {
            name: "stop",
            heads: &["every P is held"],
            run: || {
                stop::<Havoc>(Some(OwnedP::forge(PId(0))), &Others);
                "a stopped world".to_owned()
            },
        },
        Operation {
            name: "stop, without a P",
            heads: &["every P is held"],
            run: || {
                stop::<Havoc>(None, &Others);
                "a stopped world".to_owned()
            },
        },
        straight("for_each_p", || {
            safepoint::for_each_p::<Havoc>(Some(OwnedP::forge(PId(0))), &Others);
            "".to_owned()
        }),
        straight("ask", || {
            Wanted::<Havoc>::new().ask(Want::Safepoint);
            "".to_owned()
        }),
        straight("done", || {
            Wanted::<Havoc>::new().done(Want::Safepoint);
            "".to_owned()
        }),
        straight("any", || Wanted::<Havoc>::new().any().to_string()),
        straight("is_end", || Wanted::<Havoc>::new().is_end().to_string()),
        straight("is", || Wanted::<Havoc>::new().is(Want::Safepoint).to_string()),
    ],
};

struct Others;

impl Neighbours for Others {
    fn begin(&self, own: Option<OwnedP>) {
        let own = if own.map(OwnedP::discard).is_some() {
            "its own P and the idle Ps are held"
        } else {
            "the idle Ps are held"
        };
        tell(format!("under the lock: the world is to stop, {own}"));
    }
    fn take_from_syscalls(&self) {
        tell("takes every P that is in a system call");
    }
    fn is_stopped(&self) -> bool {
        whether("every P is held")
    }
    fn sleep(&self) {
        tell("sleeps");
    }
}

impl safepoint::Neighbours for Others {
    fn begin(&self) -> Vec<OwnedP> {
        let idle = ask("under the lock: the function is wanted under each P; idle Ps", &["none", "one"]);
        (0..idle as u32).map(|n| OwnedP::forge(PId(1 + n))).collect()
    }
    fn take_from_syscalls(&self) -> Vec<OwnedP> {
        let away = ask("takes every P that is in a system call", &["none", "one"]);
        (0..away as u32).map(|n| OwnedP::forge(PId(2 + n))).collect()
    }
    fn pass(&self, p: OwnedP) {
        tell(
            ["runs it under its own P", "runs it under an idle P", "runs it under a P of a system call"]
                [p.discard().index()],
        );
    }
    fn finish(&self) {
        tell("sleeps until it has run under each P");
    }
}
