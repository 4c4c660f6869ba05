//! The room by itself, asked one thing.

use crate::harness::common::any_of;
use crate::harness::netpoll::StubNeighbours;
use crate::hosts::model_host::ModelHost;
use crate::hosts::stepped::Stepped;
use spinpark_kernel::host::NEVER;
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::netpoll::Netpoll;
use std::cell::Cell;

/// The M in the poller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InPoller {
    /// None, ever.
    Nobody,
    /// None, since this moment.
    Since(Nanos),
    /// One that waits until this moment.
    Waits(Nanos),
    /// One that looks.
    Looks,
    /// One that looks, and another has gone to sleep instead of waiting.
    LooksAndWasMissed,
}

/// What is asked of the room.
#[derive(Debug, Clone, Copy)]
enum Asked {
    IsMissing,
    Announce(Nanos),
    Claim,
    Peek,
    NeglectedSince,
    IsBlocked,
}

/// The poller's room by itself, asked one thing.
pub(super) fn one_question<H: ModelHost>() -> String {
    let who = any_of::<H, _>(&[
        InPoller::Nobody,
        InPoller::Since(7),
        InPoller::Waits(10),
        InPoller::Waits(NEVER),
        InPoller::Looks,
        InPoller::LooksAndWasMissed,
    ]);
    let asked = any_of::<H, _>(&[
        Asked::IsMissing,
        Asked::Announce(9),
        Asked::Announce(10),
        Asked::Announce(11),
        Asked::Announce(NEVER),
        Asked::Claim,
        Asked::Peek,
        Asked::NeglectedSince,
        Asked::IsBlocked,
    ]);
    let deadline = any_of::<H, _>(&[9, 10, 11, NEVER]);
    let is_awaited = any_of::<H, _>(&[false, true]);

    let before = |deadline| StubNeighbours::new(deadline, true);
    let rest = StubNeighbours::new(deadline, is_awaited);
    let room = Netpoll::<Stepped>::new();
    let claim = |until| {
        let poll = room.claim(&before(until)).expect("no M is there");
        assert_eq!(room.prepare(&poll, &before(until)), until);
        poll
    };
    let said = Cell::new(None);
    let ask = || said.set(Some(answer(&room, asked, &rest)));
    match who {
        InPoller::Nobody => ask(),
        InPoller::Since(now) => {
            room.leave(claim(NEVER), now);
            ask();
        }
        InPoller::Waits(until) => {
            let _poll = claim(until);
            ask();
        }
        InPoller::Looks | InPoller::LooksAndWasMissed => {
            let around = before(NEVER);
            let has_looked = room.peek(
                &around,
                || 20,
                || {
                    if who == InPoller::LooksAndWasMissed {
                        assert!(room.claim(&before(NEVER)).is_none(), "one is there already");
                    }
                    ask();
                },
            );
            // An M that would have waited is asleep, and trusts the one that looks.
            let is_missed = who == InPoller::LooksAndWasMissed
                || matches!(asked, Asked::Claim) && (deadline != NEVER || is_awaited);
            assert_eq!((has_looked, around.wakes.get()), (true, usize::from(is_missed)), "{who:?}, {asked:?}");
            assert_eq!(room.neglected_since(), Some(20));
        }
    }
    let said = said.take().expect("it was asked");

    let is_for_something = deadline != NEVER || is_awaited;
    let is_free = matches!(who, InPoller::Nobody | InPoller::Since(_));
    let waits_beyond = |when: Nanos| matches!(who, InPoller::Waits(until) if until > when);
    let expected = match asked {
        Asked::IsMissing => {
            let is_served = matches!(who, InPoller::Waits(until) if until <= deadline);
            (u64::from(is_for_something && !is_served), 0, 0)
        }
        Asked::Announce(when) => match who {
            InPoller::Waits(_) => (0, usize::from(waits_beyond(when)), 0),
            _ => (0, 0, 1),
        },
        Asked::Claim => {
            (u64::from(is_for_something && is_free), usize::from(is_for_something && waits_beyond(deadline)), 0)
        }
        Asked::Peek => (u64::from(is_free), 0, 0),
        Asked::NeglectedSince => match who {
            InPoller::Nobody => (3, 0, 0), // long ago
            InPoller::Since(now) => (now, 0, 0),
            _ => (0, 0, 0),
        },
        Asked::IsBlocked => (u64::from(matches!(who, InPoller::Waits(_))), 0, 0),
    };
    let found = (said, rest.interrupts.get(), rest.wakes.get());
    assert_eq!(found, expected, "{who:?}, {asked:?}, due at {deadline}, awaited: {is_awaited}");
    match expected {
        (_, 1, _) => "interrupts",
        (.., 1) => "wakes",
        (0, ..) => "no",
        _ => "yes",
    }
    .to_owned()
}

fn answer(room: &Netpoll<Stepped>, asked: Asked, rest: &StubNeighbours) -> u64 {
    match asked {
        Asked::IsMissing => room.is_missing(rest).into(),
        Asked::Announce(when) => {
            room.announce(when, rest);
            0
        }
        Asked::Claim => room.claim(rest).is_some().into(),
        Asked::Peek => {
            let looks = Cell::new(0);
            let has_looked = room.peek(rest, || 20, || looks.set(looks.get() + 1));
            assert_eq!(looks.get(), usize::from(has_looked), "it says whether it has looked");
            has_looked.into()
        }
        Asked::NeglectedSince => room.neglected_since().unwrap_or(0),
        Asked::IsBlocked => room.is_blocked().into(),
    }
}
