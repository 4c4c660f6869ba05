//! The room by itself, and the rule that it follows.

use super::{LATE, SOON, SOON_AFTER};
use crate::harness::common::any_of;
use crate::harness::netpoll::StubNeighbours;
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::host::NEVER;
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::netpoll::{Netpoll, Poll};

/// Nothing to wait for, a socket, or a timer.
fn any_neighbours<H: ModelHost>() -> StubNeighbours {
    let (deadline, is_awaited) = any_of::<H, _>(&[(NEVER, false), (NEVER, true), (SOON, false), (SOON_AFTER, false)]);
    StubNeighbours::new(deadline, is_awaited)
}

/// The room, and what is known of it.
struct Both<H: ModelHost> {
    room: Netpoll<H>,
    /// The wait, and until when.
    waits: Option<(Poll, Nanos)>,
    /// The last look, if there was one.
    looked: Option<Nanos>,
}

impl<H: ModelHost> Both<H> {
    fn until(&self) -> Option<Nanos> {
        self.waits.as_ref().map(|(_, until)| *until)
    }

    /// Does `around` need what the waiting M, if there is one, does not do in time?
    fn is_too_late(&self, around: &StubNeighbours) -> bool {
        self.until().is_some_and(|until| around.deadline < until)
    }

    fn does(&mut self, now: Nanos) {
        let around = any_neighbours::<H>();
        let (mut interrupts, mut wakes) = (false, false);
        match H::choose(7) {
            0 => {
                let must = around.has_something() && self.waits.is_none();
                interrupts = around.has_something() && self.is_too_late(&around);
                let poll = self.room.claim(&around);
                assert!(poll.is_some() == must, "{:?}, {around:?}: has it to wait? {}", self.waits, poll.is_some());
                if let Some(poll) = poll {
                    let until = self.room.prepare(&poll, &around);
                    assert!(until == around.deadline, "it waits until {until}, {around:?}");
                    self.waits = Some((poll, until));
                }
            }
            1 => {
                if let Some((poll, _)) = self.waits.take() {
                    self.room.leave(poll, now);
                    self.looked = Some(now);
                }
            }
            2 => {
                let told = around.has_something() && (self.waits.is_none() || self.is_too_late(&around));
                let missing = self.room.is_missing(&around);
                assert!(missing == told, "{:?}, {around:?}: does no M wait in time? {missing}", self.waits);
            }
            3 => {
                self.room.announce(around.deadline, &around);
                (interrupts, wakes) = (self.is_too_late(&around), self.waits.is_none());
            }
            n => {
                // While one looks, up to two want to wait.
                let mut looks = 0;
                let looked = self.room.peek(
                    &around,
                    || now,
                    || {
                        looks += 1;
                        (4..n).for_each(|_| assert!(self.room.claim(&around).is_none(), "one waits, another looks"));
                    },
                );
                assert!(looked == self.waits.is_none() && looks == u32::from(looked), "looked {looks} times, {looked}");
                wakes = looked && n > 4 && around.has_something();
                self.looked = if looked { Some(now) } else { self.looked };
            }
        }
        let (found, told) =
            ((around.interrupts.get(), around.wakes.get()), (usize::from(interrupts), usize::from(wakes)));
        assert!(found == told, "interrupts and wakes: {found:?}, not {told:?}, {:?}, {around:?}", self.waits);
    }

    fn agrees(&self) {
        let is_blocked = self.room.is_blocked();
        assert!(is_blocked == self.waits.is_some(), "{:?}: does an M wait? {is_blocked}", self.waits);
        let since = self.room.neglected_since();
        assert!(since.is_none() == is_blocked, "{:?}: neglected since {since:?}", self.waits);
        // Before the first look there was none.
        assert!(is_blocked || self.looked.is_none() || since == self.looked, "{since:?}, not {:?}", self.looked);
    }
}

pub(super) fn three_operations<H: ModelHost>() -> String {
    let mut both = Both::<H> { room: Netpoll::new(), waits: None, looked: None };
    for step in 1..=3 {
        both.agrees();
        both.does(step * LATE);
    }
    both.agrees();
    let looked = if both.looked.is_some() { ", somebody has looked" } else { "" };
    format!("until {:?}{looked}", both.until())
}
