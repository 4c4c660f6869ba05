//! Which M has which P: which is woken with one, which sleeps without, to which it is handed on, and when none can go
//! on.

use crate::spec::lists::{At, Lists, NextP, Until};
use crate::spec::moves::{Activity, Ev, Item, Who};
use crate::spec::wrong::Wrong;
use spinpark_kernel::protocol::locked::{Wake, Woken};

/// What came of falling asleep.
pub(super) enum Slept {
    /// It sleeps.
    Sleeps,
    /// It has `nextp`.
    Run { p: usize, spins: bool },
    /// It has to end.
    Exit,
}

impl Lists {
    /// The lock is free: does what was left to do.
    pub(super) fn unlock(&mut self) {
        let later = std::mem::take(&mut self.later);
        for p in later.pass {
            self.hand_on(p);
        }
        if later.wakep {
            self.wakep();
        }
        if later.poller && self.elsewhere.polls.is_some() {
            self.interrupt();
        }
    }

    /// An idle P, the one that was idled last. The monitor has something to see then.
    pub(super) fn idle_p(&mut self) -> Option<usize> {
        if !self.idle.is_empty() {
            self.rouse_monitor();
        }
        self.idle_p_to_hold()
    }

    /// The same, for a stopper: there is nothing to see.
    pub(super) fn idle_p_to_hold(&mut self) -> Option<usize> {
        if self.is(Wrong::UsesThePThatIsIdleLongest) && !self.idle.is_empty() {
            return Some(self.idle.remove(0));
        }
        self.idle.pop()
    }

    fn idle_p_unless_closed(&mut self) -> Option<usize> {
        if self.is_closed { None } else { self.idle_p() }
    }

    /// Work was queued. If no M spins, an idle P gets one that does; if none is idle, a request is left.
    pub(super) fn wakep(&mut self) {
        if self.spinning_ms > 0 && !self.is(Wrong::WakesThoughSomebodyLooks) {
            self.seen.note("nobody was woken, for somebody looks");
            return;
        }
        match self.idle_p_unless_closed() {
            Some(p) => {
                self.spinning_ms += 1;
                self.start(p, true);
            }
            None => self.wants_spinning_m = true,
        }
    }

    /// `p` is run by the M that fell asleep last, else by a new one; if there can be none, by no M for now.
    pub(super) fn start(&mut self, p: usize, spins: bool) {
        let oldest = self.is(Wrong::WakesWhoSleepsLongest) && !self.sleeping.is_empty();
        let sleeper = if oldest { Some(self.sleeping.remove(0)) } else { self.sleeping.pop() };
        if let Some(m) = sleeper {
            self.seen.note("a sleeper was woken");
            self.events.push(Ev::Woken(m));
            return self.wake_with(m, NextP::Run { p, spins });
        }
        let m = if self.is_closed || !self.may_start() { None } else { self.unused.pop() };
        let Some(m) = m else { return self.refuse(p, spins, None) };
        self.alive += 1;
        self.events.push(Ev::Starting(m));
        match self.refusals.checked_sub(1) {
            Some(left) => {
                self.refusals = left;
                self.seen.note("a start was refused");
                self.refuse(p, spins, Some(m));
            }
            None => {
                self.ms[m].at = At::Suspended;
                self.wake_with(m, NextP::Run { p, spins });
            }
        }
    }

    /// The first M is started, by the scheduler's maker.
    pub(super) fn begin(&mut self) {
        let may = self.may_start();
        let p = if may { self.idle_p_unless_closed() } else { None };
        self.seen.note_if(may && p.is_none(), "every P was in use when the first M was to start");
        let Some((p, m)) = p.and_then(|p| Some((p, self.unused.pop()?))) else {
            return self.events.push(Ev::Began(true));
        };
        self.alive += 1;
        (self.spinning_ms, self.wants_spinning_m) = (self.spinning_ms + 1, false);
        self.events.push(Ev::Starting(m));
        let refused = self.refusals.checked_sub(1);
        match refused {
            None => {
                self.ms[m].at = At::Suspended;
                self.wake_with(m, NextP::Run { p, spins: true });
            }
            Some(left) => {
                self.refusals = left;
                self.seen.note("the first M was refused");
                self.refuse_the_first(p, m);
            }
        }
        self.events.push(Ev::Began(refused.is_none()));
    }

    /// Its P goes to one that sleeps, if any does.
    fn refuse_the_first(&mut self, p: usize, m: usize) {
        let Some(sleeper) = self.sleeping.pop() else { return self.refuse(p, true, Some(m)) };
        self.events.push(Ev::Woken(sleeper));
        self.free_m(m);
        self.end_m();
        self.unlock();
        self.wake_with(sleeper, NextP::Run { p, spins: true });
    }

    pub(super) fn wake_with(&mut self, m: usize, nextp: NextP) {
        debug_assert!(self.ms[m].nextp.is_none(), "M{m} has `nextp`");
        self.ms[m].nextp = Some(nextp);
    }

    /// No M was available for `p`: its Gs go to where all look, it is idle, and a spinning M is asked for.
    fn refuse(&mut self, p: usize, spins: bool, m: Option<usize>) {
        self.events.push(Ev::Refused);
        self.refused += 1;
        self.seen.note_if(m.is_none() && !self.is_closed, "there could be no more Ms");
        if !self.is(Wrong::RefusedAndForgotten) {
            self.must_retry = true;
        }
        let gs = self.ps[p].empty();
        self.seen.note_if(!gs.is_empty(), "a P that nobody could run held Gs");
        self.global.extend(gs);
        self.releasep(p, true);
        self.wants_spinning_m |= !self.is(Wrong::RefusedAndForgotten);
        self.spinning_ms -= usize::from(spins);
        self.rouse_monitor();
        self.later.poller = true;
        if let Some(m) = m {
            self.free_m(m);
            self.end_m();
        }
        self.unlock();
    }

    /// No M runs `p` any more: a stop comes first, then a safepoint, then a waiting M, if none can look.
    pub(super) fn releasep(&mut self, p: usize, nobody_looks: bool) {
        if self.is_stopping {
            self.events.push(Ev::Held(p));
            self.held.push(p);
            if self.held.len() == self.procs
                && let Some(first) = self.line.front()
            {
                self.wake(*first);
            }
            return;
        }
        if self.safepoint.as_ref().is_some_and(|pending| pending.contains(&p)) {
            return self.later.pass.push(p);
        }
        let ticket = if nobody_looks || self.is_closed { self.oldest_ticket() } else { None };
        match ticket {
            Some(m) => {
                self.seen.note("a P that nobody looks for went to who waits");
                self.wake_with(m, NextP::Run { p, spins: false });
            }
            None => {
                self.events.push(Ev::Listed(p));
                self.idle.push(p);
            }
        }
        if self.is_closed {
            self.wake(Who::Closer);
        }
        self.check_dead();
    }

    fn oldest_ticket(&mut self) -> Option<usize> {
        let is_ticket = |item: &Item| matches!(item, Item::Ticket(_));
        let at = self.global.iter().position(is_ticket)?;
        match self.global.remove(at)? {
            Item::Ticket(m) => Some(m),
            Item::G(_) => None,
        }
    }

    /// While the scheduler closes: those whose tickets wait get the idle Ps.
    pub(super) fn serve_tickets(&mut self) {
        while !self.idle.is_empty()
            && let Some(m) = self.oldest_ticket()
        {
            self.send_for(m);
        }
    }

    /// The G that is bound to `m` goes on: under an idle P, else when an M finds its ticket.
    pub(super) fn send_for(&mut self, m: usize) {
        match self.idle_p() {
            Some(p) => {
                self.seen.note("who waited got an idle P");
                self.wake_with(m, NextP::Run { p, spins: false });
            }
            None => self.global.push_back(Item::Ticket(m)),
        }
    }

    /// `m` is readied. If it waits, it waits no more.
    pub(super) fn ready_m(&mut self, m: usize, why: Woken) -> bool {
        let Some(at) = self.waiting.iter().position(|(waits, _)| *waits == m) else {
            if !self.is(Wrong::ForgetsAnEarlyWake) {
                self.readied.insert(m);
            }
            return false;
        };
        self.waiting.remove(at);
        self.ms[m].why = why;
        true
    }

    /// Is every M asleep, and will be? Then one of those that wait for the others is told.
    pub(super) fn check_dead(&mut self) {
        self.is_hidden = false;
        let inside = self.inside();
        if self.is_closed || !self.all_wait() {
            return;
        }
        let expects = self.expects || self.elsewhere.is_expecting();
        let has_work = !self.global.is_empty() || expects || !self.arrived.is_empty();
        let why = match has_work {
            false => Woken::Deadlock,
            true if self.lacks_ms() => Woken::NoThread,
            true => return,
        };
        let mut theirs = self.waiting.iter().filter(|(_, wake)| *wake == Wake::Inside).map(|(m, _)| *m);
        let told = if self.is(Wrong::TellsTheYoungest) { theirs.next_back() } else { theirs.next() };
        if let Some(m) = told {
            self.seen.note(if why == Woken::Deadlock {
                "a deadlock was told"
            } else {
                "it was told that no M is left"
            });
            self.seen.note_if(inside > 1, "one of several that wait was told");
            self.ready_m(m, why);
            self.events.push(Ev::Deadlock(m, why));
            self.send_for(m);
        }
    }

    /// Does each M sleep, or wait with its G for the others?
    fn all_wait(&self) -> bool {
        let inside = self.inside();
        inside > 0 && self.idle.len() == self.procs && self.alive == self.sleeping.len() + inside
    }

    fn lacks_ms(&self) -> bool {
        self.sleeping.is_empty() && !self.may_start()
    }

    /// Does a G wait for ever, but for what a source has or expects?
    pub(super) fn is_dead(&self) -> bool {
        self.all_wait() && (self.global.is_empty() || self.lacks_ms())
    }

    /// `m` has nothing to do.
    pub(super) fn rest(&mut self, m: usize) -> Slept {
        if self.is_closed {
            return Slept::Exit;
        }
        if !self.idle.is_empty() && self.wants_spinning_m {
            (self.spinning_ms, self.wants_spinning_m) = (self.spinning_ms + 1, false);
            self.seen.note("who was about to sleep was asked to look");
            return self.idle_p().map_or(Slept::Sleeps, |p| Slept::Run { p, spins: true });
        }
        self.sleeping.push(m);
        self.events.push(Ev::Slept { m, sleeping: self.sleeping.len(), alive: self.alive });
        self.ms[m].at = At::Rests;
        self.check_dead();
        self.rouse_monitor();
        self.unlock();
        self.collect(m)
    }

    /// Is there `nextp` for `m`, which sleeps?
    pub(super) fn collect(&mut self, m: usize) -> Slept {
        match self.ms[m].nextp.take() {
            None => Slept::Sleeps,
            Some(NextP::Run { p, spins }) => Slept::Run { p, spins },
            Some(NextP::Exit) => Slept::Exit,
        }
    }

    /// The thread of `m` is over.
    pub(super) fn exited(&mut self, m: usize) {
        self.ms[m].at = At::Nowhere;
        self.free_m(m);
        if !self.is_closed && std::mem::take(&mut self.must_retry) {
            self.wakep();
        }
        self.end_m();
        self.unlock();
    }

    fn free_m(&mut self, m: usize) {
        self.events.push(Ev::Exited(m));
        self.readied.remove(&m);
        self.unused.push(m);
    }

    fn end_m(&mut self) {
        self.alive -= 1;
        self.events.push(Ev::Gone { sleeping: self.sleeping.len(), alive: self.alive });
        if self.is_closed && self.alive == 0 {
            self.end_monitor();
            self.wake(Who::Closer);
        }
        self.check_dead();
    }

    /// A sleeper without a P is woken; a party that does not sleep will not the next time.
    pub(super) fn wake(&mut self, who: Who) {
        if let Some(sleeper) = self.sleepers.get_mut(&who) {
            sleeper.is_woken = true;
        }
    }

    /// `p` is of no use to its M: another M runs it if there is work for it, or if none would see what there is;
    /// else it is let go of.
    pub(super) fn hand_on(&mut self, p: usize) {
        self.attend(p);
        let has_work = !self.global.is_empty() || self.has_arrived() || self.ps[p].len() > 0;
        if has_work && !self.is_wanted() {
            self.seen.note("a P with work was handed on");
            return self.start(p, false);
        }
        if self.is_closed {
            let gs = self.ps[p].empty();
            self.global.extend(gs);
        } else if !self.is_stopping {
            if has_work {
                return self.start(p, false);
            }
            let nobody_looks = self.idle.is_empty() && self.spinning_ms == 0 && !self.is(Wrong::HandsOnWithoutALook);
            if self.wants_spinning_m || nobody_looks {
                self.seen.note_if(self.wants_spinning_m, "a P was handed on because a spinning M was asked for");
                self.seen.note_if(!self.wants_spinning_m, "a P was handed on because nobody looks");
                (self.spinning_ms, self.wants_spinning_m) = (self.spinning_ms + 1, false);
                return self.start(p, true);
            }
            if self.elsewhere.is_missing() {
                self.seen.note("a P was handed on so that an M waits in the poller");
                return self.start(p, false);
            }
        }
        self.releasep(p, false);
        self.unlock();
    }

    /// A party without a P sleeps until something holds.
    pub(super) fn is_over(&self, who: Who, until: Until) -> bool {
        match until {
            Until::First { .. } => self.line.front() == Some(&who),
            Until::Stopped => self.held.len() == self.procs,
            Until::Passed => self.safepoint.as_ref().is_none_or(|pending| pending.is_empty()),
            Until::Closed => {
                self.alive == 0 && self.idle.len() == self.procs && self.where_is(Who::Monitor) == Activity::Nowhere
            }
        }
    }
}
