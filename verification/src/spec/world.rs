//! Stopping the world, and what is done while it stands; the safepoint; the end.

use crate::spec::lists::{At, Lists, Sleeper, Until};
use crate::spec::moves::{Ev, Item, Who};
use crate::spec::wrong::Wrong;
use std::collections::BTreeSet;

impl Lists {
    /// `who` wants to stop the world, or to pass a safepoint; `own` is its P.
    pub(super) fn queue_up(&mut self, who: Who, own: Option<usize>, stops: bool) {
        let at = if self.is(Wrong::LastStopperFirst) { self.line.len().min(1) } else { self.line.len() };
        self.line.insert(at, who);
        if self.line.front() == Some(&who) {
            return if stops { self.stop(who, own) } else { self.for_each_p(who, own) };
        }
        self.seen.note("one stood in line");
        own.into_iter().for_each(|p| self.hand_on(p));
        self.sleep(who, Until::First { stops });
    }

    /// `who` sleeps, unless what it waits for holds.
    pub(super) fn sleep(&mut self, who: Who, until: Until) {
        if !self.is_over(who, until) {
            self.sleepers.insert(who, Sleeper { until, is_woken: false });
            return;
        }
        match until {
            Until::First { stops: true } => self.stop(who, None),
            Until::First { stops: false } => self.for_each_p(who, None),
            Until::Stopped => {
                self.has_stopped = Some(who);
                self.events.push(Ev::Stopped);
            }
            Until::Passed => self.passed(who),
            Until::Closed => {
                self.closer_is_done = true;
                let left: Vec<Item> = self.global.drain(..).collect();
                self.events.extend(left.into_iter().map(Ev::Over));
            }
        }
    }

    fn stop(&mut self, who: Who, own: Option<usize>) {
        self.is_stopping = true;
        own.into_iter().for_each(|p| self.releasep(p, false));
        while let Some(p) = self.idle_p_to_hold() {
            self.releasep(p, false);
        }
        for p in self.in_calls() {
            self.seen.note("stopped while a G is in a system call");
            if !self.is(Wrong::LeavesPsInSyscalls) {
                self.take_from_call(p);
                self.releasep(p, false);
            }
        }
        self.sleep(who, Until::Stopped);
    }

    fn in_calls(&self) -> Vec<usize> {
        (0..self.procs).filter(|&p| self.ps[p].in_call_of.is_some()).collect()
    }

    /// The world goes on. What `who` has to do then: an M is back as from a system call.
    pub(super) fn start_the_world(&mut self, who: Who) {
        let held = std::mem::take(&mut self.held);
        (self.is_stopping, self.has_stopped) = (false, None);
        self.events.push(Ev::Started(held.len()));
        self.rouse_monitor();
        let (busy, mut idle): (Vec<usize>, Vec<usize>) = held.into_iter().partition(|&p| self.ps[p].len() > 0);
        self.seen.note_if(busy.len() > 1, "several Ps had work when the world was started");
        if !self.is(Wrong::StartsInAnotherOrder) {
            idle.reverse();
        }
        idle.into_iter().for_each(|p| self.releasep(p, false));
        self.leave_line();
        self.later.wakep = true;
        self.unlock();
        busy.into_iter().for_each(|p| self.start(p, false));
        self.is_back(who);
    }

    fn leave_line(&mut self) {
        self.line.pop_front();
        if let Some(next) = self.line.front() {
            self.wake(*next);
        }
    }

    /// An M that had given up its P to stop the world has to get one.
    fn is_back(&mut self, who: Who) {
        if let Who::M(m) = who
            && let At::Stops { g, p } = self.ms[m].at
        {
            self.ms[m].at = At::Away { g, p, left: None };
        }
    }

    /// From now on there are `procs` Ps. What one that ends still holds goes before what waits globally.
    pub(super) fn resize(&mut self, procs: usize) {
        if !(1..=self.numbers.capacity()).contains(&procs) {
            return self.events.push(Ev::NoRoom(procs));
        }
        self.events.push(Ev::Were(self.procs));
        self.seen.note_if(procs > self.procs, "more Ps");
        let ended = procs..self.procs.max(procs);
        let left: Vec<Item> = ended.flat_map(|p| self.ps[p].empty()).collect();
        self.seen.note_if(!left.is_empty(), "a P that ended held Gs");
        self.seen.note_if(left.len() > 1 && !self.global.is_empty(), "a P that ended held Gs, and others waited");
        if self.is(Wrong::ResizeQueuesBehind) {
            self.global.extend(left);
        } else {
            left.into_iter().rev().for_each(|item| self.global.push_front(item));
        }
        self.procs = procs;
        self.held = (0..procs).collect();
    }

    fn for_each_p(&mut self, who: Who, own: Option<usize>) {
        self.safepoint = Some((0..self.procs).collect::<BTreeSet<usize>>());
        let mut idle = Vec::new();
        while let Some(p) = self.idle_p() {
            idle.push(p);
        }
        own.into_iter().chain(idle).for_each(|p| self.hand_on(p));
        let calls = self.in_calls();
        calls.iter().for_each(|&p| self.take_from_call(p));
        self.seen.note_if(!calls.is_empty(), "a safepoint was passed while a G is in a system call");
        calls.into_iter().for_each(|p| self.hand_on(p));
        self.sleep(who, Until::Passed);
    }

    fn passed(&mut self, who: Who) {
        self.seen.note("a safepoint was passed");
        self.safepoint = None;
        self.leave_line();
        self.is_back(who);
    }

    /// Runs the safepoint's function under `p`, unless it was.
    pub(super) fn attend(&mut self, p: usize) {
        let Some(pending) = &mut self.safepoint else { return };
        if pending.remove(&p) {
            let is_last = pending.is_empty();
            self.events.push(Ev::Ran(p));
            if is_last && let Some(first) = self.line.front() {
                self.wake(*first);
            }
        }
    }

    /// No G is begun any more, and every M ends.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        while let Some(m) = self.sleeping.pop() {
            self.wake_with(m, crate::spec::lists::NextP::Exit);
        }
        let mut waiting: Vec<usize> = self.waiting.iter().map(|(m, _)| *m).collect();
        waiting.sort_unstable();
        self.seen.note_if(!waiting.is_empty(), "closed while a G waits");
        for m in waiting {
            if self.ready_m(m, spinpark_kernel::protocol::locked::Woken::Closed) {
                self.send_for(m);
            }
        }
        self.serve_tickets();
        self.end_monitor();
        self.later.poller = true;
        self.unlock();
        self.sleep(Who::Closer, Until::Closed);
    }
}
