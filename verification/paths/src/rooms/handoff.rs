//! `protocol/handoff.rs`.

use super::straight;
use crate::host::{ask, tell};
use crate::path::Room;
use kernel::protocol::handoff::{Neighbours, handoffp};
use kernel::protocol::sources::{SearchOrder, Source};
use kernel::types::m::SpinningToken;
use kernel::types::p::{OwnedP, PId};

pub(super) static ROOM: Room = Room {
    name: "handoff",
    words: &[],
    operations: &[
        straight("handoffp", || hands_off(SearchOrder::StealFirst)),
        straight("handoffp, in Go's order", || hands_off(SearchOrder::GlobalFirst)),
    ],
};

fn hands_off(order: SearchOrder) -> String {
    handoffp(OwnedP::forge(PId(0)), order.sources(), &Others);
    "".to_owned()
}

struct Others;

impl Neighbours for Others {
    fn has_work(&self, _: &OwnedP, source: Source) -> bool {
        let question = match source {
            Source::GlobalTurn => "a G in the global queue, at its turn",
            Source::Local => "a G in the P's ring",
            Source::Global => "a G in the global queue",
            Source::Extra => "a G in a source",
            Source::Steal => "a G in another ring",
        };
        // Other rings count as empty.
        if source == Source::Steal {
            tell(format!("{question}: not asked"));
            return false;
        }
        ask(question, &["no", "yes"]) == 1
    }
    fn settle(&self, p: OwnedP) -> Option<(OwnedP, Option<SpinningToken>)> {
        match ask("settle", &["settled", "work", "counted"]) {
            0 => {
                p.discard();
                None
            }
            1 => Some((p, None)),
            _ => Some((p, Some(SpinningToken::forge()))),
        }
    }
    fn startm(&self, p: OwnedP, token: Option<SpinningToken>) {
        p.discard();
        tell(if token.map(SpinningToken::discard).is_some() { "startm, counted" } else { "startm, not counted" });
    }
}
