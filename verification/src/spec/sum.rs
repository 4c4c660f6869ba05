//! What must hold of the lists themselves, whatever the kernel says: lists that make the same mistake as the kernel
//! would agree with it.

use crate::spec::lists::{At, Lists, M, NextP};
use crate::spec::moves::Item;
use spinpark_kernel::protocol::locked::Wake;

impl Lists {
    /// What does not add up, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let ps = (0..self.procs).map(|p| (p, self.owners(p))).find(|(_, owners)| *owners != 1);
        let gs = (1..self.next_g).map(|g| (g, self.holders(g))).find(|(_, holders)| *holders > 1);
        if let Some((p, owners)) = ps {
            return Some(format!("P{p} has {owners} owners"));
        } else if let Some((g, holders)) = gs {
            return Some(format!("G{g} is in {holders} places"));
        } else if self.ps.iter().any(|p| p.ring.len() > self.numbers.ring()) {
            return Some("a ring holds more than it can".to_owned());
        } else if self.idle.iter().any(|&p| self.ps[p].len() > 0) {
            return Some("an idle P holds Gs".to_owned());
        } else if self.spinning_ms != self.wakes_of_spinning_ms() {
            return Some(format!("{} are counted as looking", self.spinning_ms));
        } else if let Some(m) = self.overdue() {
            return Some(format!("M{m} waits, though none can ready it"));
        } else if self.is_neglected() {
            return Some("no M waits in the poller, or too long".to_owned());
        }
        None
    }

    fn owners(&self, p: usize) -> usize {
        let owns = |m: &&M| {
            matches!(m.at, At::Runs { p: its, .. } if its == p)
                || matches!(m.nextp, Some(NextP::Run { p: its, .. }) if its == p)
        };
        let listed = self.idle.iter().chain(&self.held).filter(|&&other| other == p).count();
        listed + usize::from(self.ps[p].in_call_of.is_some()) + self.ms.iter().filter(owns).count()
    }

    fn holders(&self, g: u64) -> usize {
        let has = |m: &&M| match m.at {
            At::Runs { g: its, .. } | At::Away { g: its, .. } | At::Stops { g: its, .. } => its == g,
            At::Yielded(its) | At::Waits(its) | At::Returns(its) => its == g,
            At::Nowhere | At::Suspended | At::Rests | At::Polls => false,
        };
        let queues = self.ps.iter().flat_map(|p| p.next.iter().chain(&p.ring)).chain(&self.global);
        let arrived = self.arrived.iter().flatten().filter(|&&other| other == g).count();
        let timers = self.elsewhere.timers.iter().map(|(_, other)| other);
        let elsewhere = timers.chain(&self.elsewhere.reports).filter(|&&other| other == g).count();
        let arrived = arrived + elsewhere;
        queues.filter(|&&item| item == Item::G(g)).count() + arrived + self.ms.iter().filter(has).count()
    }

    /// Between two moves only Ms look that have yet to begin.
    fn wakes_of_spinning_ms(&self) -> usize {
        self.ms.iter().filter(|m| matches!(m.nextp, Some(NextP::Run { spins: true, .. }))).count()
    }

    /// No M is awake, and none waits for what comes from elsewhere, though there is something.
    fn is_neglected(&self) -> bool {
        let moves = |m: &M| m.nextp.is_some() || !matches!(m.at, At::Nowhere | At::Rests | At::Waits(_) | At::Polls);
        let is_still = !self.ms.iter().any(moves) && self.line.is_empty() && !self.elsewhere.is_interrupted;
        is_still && self.elsewhere.is_missing() && !self.may_leave_work()
    }

    /// An M whose G waits for others of the same scheduler, when nothing at all can move any more.
    fn overdue(&self) -> Option<usize> {
        let may_arrive =
            self.expects || self.elsewhere.is_expecting() || !self.arrived.is_empty() || !self.global.is_empty();
        let moves = |m: &M| m.nextp.is_some() || !matches!(m.at, At::Nowhere | At::Rests | At::Waits(_));
        let is_still = !self.ms.iter().any(moves) && self.line.is_empty() && !self.is_closed;
        if !is_still || may_arrive || self.is_hidden {
            return None;
        }
        let all_inside = self.waiting.iter().all(|(_, wake)| *wake == Wake::Inside);
        self.waiting.first().filter(|_| all_inside).map(|(m, _)| *m)
    }
}
