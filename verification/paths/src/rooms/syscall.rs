//! `protocol/syscall.rs`. Three operations are what the monitor and a stopper do with a P's word.

use super::straight;
use super::stw::World;
use crate::host::{Access, Domain, Havoc, Telling, ask, before, tell, whether};
use crate::path::{Operation, Room};
use kernel::atomic::Value;
use kernel::protocol::syscall::{
    Away, Neighbours, SyscallStatus, SyscallWord, Way, entersyscall, entersyscallblock, exitsyscall, interrupt,
};
use kernel::types::g::G;
use kernel::types::m::MId;
use kernel::types::p::{OwnedP, PId};
use std::num::NonZeroU64;

/// In this call, of this M; or in none.
const fn status(in_syscall: Option<MId>, tick: u32) -> SyscallStatus {
    SyscallStatus { in_syscall, tick }
}

/// The P is owned.
const OWNED: SyscallStatus = status(None, 0);
/// It is in the call of which the operation knows.
const KNOWN: SyscallStatus = status(Some(MId(0)), 0);
/// In a later call of the same M, or in one of another.
const OTHER: SyscallStatus = status(Some(MId(0)), 1);

fn show(word: u64) -> String {
    let is = |status: SyscallStatus| word == status.into_word();
    let taken = |seen: SyscallStatus| is(status(None, seen.tick.wrapping_add(1)));
    match () {
        () if is(OWNED) || taken(KNOWN) || taken(OTHER) => "owned".to_owned(),
        () if is(KNOWN) => "the call".to_owned(),
        () if is(OTHER) => "another call".to_owned(),
        () => format!("{:?}", SyscallStatus::from_word(word)),
    }
}

pub(super) static ROOM: Room = Room {
    name: "syscall",
    words: &[Domain {
        name: "word",
        answers: |access| match access {
            // Its owner has it, and no other thread writes it.
            Access::Load if is_owner() => vec![OWNED.into_word()],
            _ => [OWNED, KNOWN, OTHER].map(SyscallStatus::into_word).to_vec(),
        },
        telling: Telling::Values(show),
    }],
    operations: &[
        straight("entersyscall", || away(entersyscall(MId(0), owned(), &Others::new()))),
        straight("interrupt", || {
            tell("its G was interrupted");
            away(interrupt(MId(0), owned(), &Others::new()))
        }),
        straight("entersyscallblock", || away(entersyscallblock(MId(0), owned(), &Others::new()))),
        straight("exitsyscall", || exits(entered(false))),
        straight("exitsyscall, of a call known to block", || exits(entered(true))),
        straight("retake", || taken(word().take_any())),
        straight("retake, of a word that was seen", || taken(word().take(KNOWN))),
        straight("pidleget_or_queue", || match Others::new().pidleget_or_queue(G::from_raw(NonZeroU64::MIN)) {
            Some((p, g)) => {
                p.discard();
                g.into_raw();
                "an idle P".to_owned()
            }
            None => "rests".to_owned(),
        }),
        Operation { name: "take_from_syscalls, for a stop", heads: &["word.load", IS_STOPPED], run: scans },
    ],
};

thread_local!(static OWNER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });

fn is_owner() -> bool {
    OWNER.get()
}

fn owned() -> OwnedP {
    OWNER.set(true);
    OwnedP::forge(PId(0))
}

fn word() -> SyscallWord<Havoc> {
    OWNER.set(false);
    SyscallWord::new(PId(0))
}

/// An M that is away already, in a call that may be short, or in one that was known to block.
fn entered(blocks: bool) -> Away {
    let enter = if blocks { entersyscallblock } else { entersyscall };
    let away = before(|| enter(MId(0), owned(), &Others::new()));
    OWNER.set(false);
    away
}

const IS_STOPPED: &str = "under the lock: every P is held";

/// What a stopper does behind its StoreLoad, in `sched/stw.rs`, with the word of each P; and until all are held.
fn scans() -> String {
    let word = word();
    loop {
        if let Some(p) = word.take_any() {
            p.discard();
            if World::hands_in("under the lock: it is held") {
                tell("unparks it");
            }
        }
        if !whether("there is another word") {
            break;
        }
    }
    tell("it has looked at each word");
    while !whether(IS_STOPPED) {
        tell("sleeps");
    }
    "a stopped world".to_owned()
}

/// What a monitor got.
fn taken(p: Option<OwnedP>) -> String {
    let Some(p) = p else { return "nothing".to_owned() };
    p.discard();
    tell("handoffp");
    "the P".to_owned()
}

fn away(away: Away) -> String {
    std::mem::forget(away);
    "away".to_owned()
}

fn exits(away: Away) -> String {
    let g = G::from_raw(NonZeroU64::MIN);
    match exitsyscall(away, g, &Others::new()) {
        Ok((p, g, way)) => {
            p.discard();
            g.into_raw();
            tell("goes on under a P");
            match way {
                Way::Kept => "its P, kept",
                Way::TookBack => "its P, taken back",
                Way::Idle => "an idle P",
                Way::Queued => "a P that came to it",
            }
            .to_owned()
        }
        Err(_) => "rests".to_owned(),
    }
}

struct Others(SyscallWord<Havoc>);

impl Others {
    fn new() -> Others {
        Others(SyscallWord::new(PId(0)))
    }
}

impl Neighbours<Havoc> for Others {
    fn syscall_word(&self, _: PId) -> &SyscallWord<Havoc> {
        &self.0
    }
    fn is_wanted(&self) -> bool {
        whether("its P is wanted")
    }
    fn handoffp(&self, p: OwnedP) {
        p.discard();
        tell("handoffp");
    }
    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)> {
        if ask("pidleget_or_queue", &["queued", "a P"]) == 1 {
            return Some((OwnedP::forge(PId(1)), g));
        }
        g.into_raw();
        None
    }
}
