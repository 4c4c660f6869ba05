//! The steps of a select before its last: each is a guess of the oracle.

use super::{Served, Two, Waits};
use crate::room::{CallId, Does};
use crate::rooms::select::{How, Op};

impl Two {
    /// What a call may do before its last step.
    pub(super) fn may_do(&self, me: CallId, does: Does<Op>) -> Vec<Self> {
        let begun = match (does, &self.waits[me.thread]) {
            (Does::Begin(Op::Select(kind, How::OrDefault), number), None) => {
                let new = Waits { round: Some(me), ..Waits::new(Some(How::OrDefault), &kind.cases(), number) };
                return vec![self.but(|two| two.waits[me.thread] = Some(new))];
            }
            (_, Some(one)) => one,
            _ => return Vec::new(),
        };
        match does {
            // Its cases are dropped one by one, and the second can be served when the first is gone.
            Does::GiveUp if begun.how == Some(How::Dropped) && begun.cases[0].enqueued.is_some() => {
                vec![self.but(|two| two.leave(me.thread, 0))]
            }
            Does::GiveUp => Vec::new(),
            _ if begun.how.is_none() => Vec::new(),
            _ => self.tries(me, begun),
        }
    }

    /// This, changed so.
    fn but(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut other = self.clone();
        change(&mut other);
        other
    }

    /// The steps of a select that is polled, before its last.
    fn tries(&self, me: CallId, one: &Waits) -> Vec<Self> {
        let all = 0..one.cases.len();
        let of =
            |two: &mut Self, change: &dyn Fn(&mut Waits)| two.waits[me.thread].as_mut().into_iter().for_each(change);
        if one.round != Some(me) {
            // Its waiters were left by an earlier poll: they are served no more, and dequeued.
            let begins = |one: &mut Waits| {
                (one.is_open, one.round) = (false, Some(me));
                one.cases.iter_mut().for_each(|case| (case.is_tried, case.enqueued) = (false, None));
            };
            let dequeues = |two: &mut Self| {
                of(two, &begins);
                one.cases.iter().enumerate().for_each(|(nth, case)| two.dequeue((me.thread, nth), case.chan));
            };
            return if one.served.is_none() { vec![self.but(dequeues)] } else { Vec::new() };
        }
        let is_unready = |nth: &usize| !self.is_ready(&one.cases[*nth], me.thread);
        if !one.cases.iter().all(|case| case.is_tried) {
            let untried = all.filter(|nth| !one.cases[*nth].is_tried).filter(is_unready);
            return untried.map(|nth| self.but(|two| of(two, &|one| one.cases[nth].is_tried = true))).collect();
        }
        if one.how == Some(How::OrDefault) {
            return Vec::new();
        }
        if !one.is_enqueued() {
            let left = all.filter(|nth| one.cases[*nth].enqueued.is_none()).filter(is_unready);
            return left.map(|nth| self.but(|two| two.enqueue(me, nth))).collect();
        }
        if one.how == Some(How::ThenAlone) { self.ends_the_select(me.thread, one) } else { Vec::new() }
    }

    /// The steps of a select whose first case is gone on with alone.
    fn ends_the_select(&self, me: usize, one: &Waits) -> Vec<Self> {
        let change = |two: &mut Self, change: &dyn Fn(&mut Waits)| two.waits[me].as_mut().into_iter().for_each(change);
        if !one.cases[1].is_over {
            let closes = |two: &mut Self| change(two, &|one| one.is_open = false);
            let drops = |two: &mut Self| {
                two.leave(me, 1);
                change(two, &|one| {
                    one.back.extend(one.cases[1].value.take());
                    one.cases[1].is_over = true;
                });
            };
            let may_close = one.is_open.then(|| self.but(closes));
            return may_close.into_iter().chain([self.but(drops)]).collect();
        }
        // What the first was given it takes, or it goes back, too. That a value was taken, or that it is closed, is not forgotten.
        if matches!(one.served, Some((0, Served::Taken(_) | Served::Closed(_)))) {
            return Vec::new();
        }
        let goes_on = |two: &mut Self| {
            two.leave(me, 0);
            change(two, &|one| (one.how, one.is_open, one.served) = (None, false, None));
        };
        vec![self.but(goes_on)]
    }
}
