//! Making a move, and which there are to make.

use crate::spec::lists::{At, Lists, NextP, Theme};
use crate::spec::look::Looker;
use crate::spec::moves::{Activity, Ev, Item, Move, What, Who};
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::locked::{Wake, Woken};

/// Between two ticks of the monitor: hardly any time, its shortest pace, and more than a slice.
const PAUSES: [Nanos; 3] = [1, 20_000, 10_000_001];

/// More Gs than this in all queues are not asked for: what they would show, fewer do.
const MANY: usize = 24;

impl Lists {
    /// Makes a move that is allowed. What happens in it is in [`seen_now`](Lists::seen_now).
    pub fn make(&mut self, this: Move) {
        self.events.clear();
        self.drawn = (this.seed, 0);
        match this.what {
            What::Submit
            | What::Arrive(_)
            | What::Expect(_)
            | What::ExpectSilently(_)
            | What::ReadyBound(_)
            | What::Begin
            | What::LookForDeadlock => {
                self.by_an_outsider(this.what);
            }
            What::Refuse(threads) => self.refusals = threads,
            What::Tick(pause) => {
                self.now += pause;
                let retook = self.tick();
                self.events.push(Ev::Ticked(retook));
            }
            What::Timer(..) | What::Await(..) | What::Report(_) | What::StartMonitor | What::Watch(_) | What::Calm => {
                self.done_elsewhere(this.what);
            }
            What::GoOn(who) | What::Stir(who) => self.go_on(who),
            What::Stop(who) => self.leave_for_the_world(who, true),
            What::ForEachP(who) => self.leave_for_the_world(who, false),
            What::Start(who) => self.start_the_world(who),
            What::Resize(_, procs) => self.resize(procs),
            What::Close => self.close(),
            What::EnterDetached(m, blocks) => self.enter_detached(m, blocks),
            What::TryReattach(m) => self.try_reattach(m),
            What::Exit(m) | What::ExitBound(m) => {
                let At::Away { g, p, left, .. } = self.ms[m].at else { unreachable!("M{m} is not away") };
                if matches!(this.what, What::Exit(_)) {
                    self.exit(m, g, p, left)
                } else {
                    self.exit_bound(m, g, p, left)
                }
            }
            What::Ready(m)
            | What::Next(m)
            | What::NextLocal(m)
            | What::NextTurn(m)
            | What::GoYield(m)
            | What::Yield(m)
            | What::YieldBound(m)
            | What::Enter(m)
            | What::Interrupt(m)
            | What::Block(m)
            | What::Park(m, _)
            | What::End(m) => {
                let At::Runs { g, p } = self.ms[m].at else { unreachable!("M{m} runs nothing") };
                self.by_a_g(this.what, m, g, p);
            }
        }
    }

    fn by_an_outsider(&mut self, what: What) {
        match what {
            What::Submit => {
                let g = self.fresh();
                self.events.push(Ev::Queued(None, Item::G(g)));
                if self.is_closed {
                    return self.events.push(Ev::TurnedAway(g));
                }
                self.global.push_back(Item::G(g));
                self.wakep();
            }
            What::Arrive(gs) => {
                let gs = (0..gs).map(|_| self.fresh()).collect();
                self.arrived.push_back(gs);
                self.wakep();
            }
            What::Expect(expects) => {
                self.expects = expects;
                self.wakep();
            }
            What::ExpectSilently(expects) => {
                self.expects = expects;
                self.is_hidden = !expects;
            }
            What::ReadyBound(m) => {
                if self.ready_m(m, Woken::Ready) {
                    self.send_for(m);
                    self.unlock();
                }
            }
            What::Begin => self.begin(),
            What::LookForDeadlock => {
                self.check_dead();
                self.events.push(Ev::IsDead(self.is_dead()));
                self.unlock();
            }
            other => unreachable!("{other:?} does not come from outside"),
        }
    }

    /// A G has queued another. Beside the only P there is no M to wake.
    fn wake_another(&mut self) {
        if self.procs > 1 {
            self.wakep();
        }
    }

    fn by_a_g(&mut self, what: What, m: usize, g: u64, p: usize) {
        match what {
            What::Ready(_) => {
                let item = Item::G(self.fresh());
                if self.numbers.inherit_at_most > 0 {
                    self.events.push(Ev::QueuedNext(p, item));
                    self.put_next(p, item);
                } else {
                    self.seen.note("nothing may overtake");
                    self.events.push(Ev::Queued(Some(p), item));
                    self.put(p, item);
                }
                self.wake_another();
            }
            What::Next(_) => self.look(Looker { m, p, spins: false, asks: false }),
            What::NextTurn(_) => self.look(Looker { m, p, spins: false, asks: true }),
            What::NextLocal(_) => self.next_local(m, p),
            What::GoYield(_) => {
                self.events.push(Ev::Queued(Some(p), Item::G(g)));
                self.put(p, Item::G(g));
                self.look(Looker { m, p, spins: false, asks: false });
            }
            What::Yield(_) => {
                self.events.push(Ev::Queued(None, Item::G(g)));
                self.global.push_back(Item::G(g));
                self.wake_another();
                self.look(Looker { m, p, spins: false, asks: false });
            }
            What::YieldBound(_) => self.yield_bound(m, g, p),
            What::Enter(_) => {
                self.events.push(Ev::Entered { m, p, blocks: false });
                self.enter(m, g, p, true);
            }
            What::Interrupt(_) => self.enter(m, g, p, false),
            What::Block(_) => {
                self.events.push(Ev::Entered { m, p, blocks: true });
                self.ms[m].at = At::Away { g, p, left: None };
                self.ms[m].is_detached = false;
                self.hand_on(p);
            }
            What::Park(_, wake) => self.park(m, g, p, wake),
            What::End(_) => {
                self.ms[m].is_detached = false;
                self.hand_on(p);
                self.exited(m);
            }
            other => unreachable!("{other:?} is not done by a G"),
        }
    }

    fn leave_for_the_world(&mut self, who: Who, stops: bool) {
        let mut own = None;
        if let Who::M(m) = who
            && let At::Runs { g, p } = self.ms[m].at
        {
            self.ms[m].at = At::Stops { g, p };
            self.ms[m].is_detached = false;
            own = Some(p);
        }
        self.queue_up(who, own, stops);
    }

    fn go_on(&mut self, who: Who) {
        if let Some(sleeper) = self.sleepers.remove(&who) {
            return self.sleep(who, sleeper.until);
        }
        if who == Who::Monitor {
            return self.monitor_goes_on();
        }
        let Who::M(m) = who else { unreachable!("{who:?} does not sleep") };
        if self.ms[m].at == At::Polls {
            return self.leaves_the_poller(m);
        }
        match self.ms[m].nextp.take() {
            None => self.seen.note("an M woke spuriously"),
            Some(NextP::Exit) => self.exited(m),
            Some(NextP::Run { p, spins }) => match self.ms[m].at {
                At::Suspended | At::Rests => self.look_with(m, p, spins),
                _ => self.get_up(m, p),
            },
        }
    }

    /// May this be done now?
    pub fn allows(&self, what: What) -> bool {
        let runs = |m: usize| matches!(self.ms.get(m).map(|m| m.at), Some(At::Runs { .. }));
        let is_away = |m: usize| matches!(self.ms.get(m).map(|m| m.at), Some(At::Away { .. }));
        let few = self.global.len() + self.ps.iter().map(|p| p.len()).sum::<usize>() < MANY;
        match what {
            What::Submit | What::Arrive(_) => few,
            What::Expect(expects) | What::ExpectSilently(expects) => expects != self.expects,
            What::Refuse(threads) => threads != self.refusals,
            What::Tick(_) => true,
            What::GoOn(who) => matches!(self.where_is(who), Activity::Suspended | Activity::Asleep(true)),
            What::Stir(who) => self.where_is(who) == Activity::Asleep(false),
            What::Ready(m) => runs(m) && few,
            What::Begin => !self.is_closed,
            What::LookForDeadlock => true,
            What::EnterDetached(m, _) | What::TryReattach(m) => is_away(m) && self.ms[m].is_detached,
            What::Next(m) | What::NextLocal(m) | What::NextTurn(m) => runs(m),
            What::Yield(m) | What::GoYield(m) | What::YieldBound(m) => runs(m),
            What::Enter(m) | What::Interrupt(m) | What::Block(m) | What::Park(m, _) | What::End(m) => runs(m),
            What::Exit(m) | What::ExitBound(m) => is_away(m),
            What::ReadyBound(m) => self.ms.get(m).is_some_and(|m| m.at != At::Nowhere),
            What::Stop(who) | What::ForEachP(who) => match who {
                Who::M(m) => runs(m) && !self.is_closed,
                Who::Outsider(_) => self.where_is(who) == Activity::Nowhere && !self.is_closed,
                Who::Closer | Who::Monitor => false,
            },
            What::Start(who) => self.has_stopped == Some(who),
            What::Resize(who, procs) => self.has_stopped == Some(who) && procs <= self.numbers.capacity() + 1,
            What::Close => !self.is_closed,
            What::Timer(..) | What::Report(_) => few && self.allows_from_elsewhere(what),
            What::Await(..) | What::StartMonitor | What::Watch(_) | What::Calm => self.allows_from_elsewhere(what),
        }
    }

    /// All that may be done now, each as often as it is worth.
    pub fn allowed(&self) -> Vec<What> {
        let mut all = vec![What::Submit, What::Begin, What::Close, What::LookForDeadlock];
        all.extend([1, 2, 3].map(What::Arrive));
        all.extend([true, false].map(What::Expect));
        all.extend([true, false].map(What::ExpectSilently));
        all.extend([0, 1, 2].map(What::Refuse));
        all.extend(PAUSES.map(What::Tick));
        if self.numbers.elsewhere {
            all.extend(self.by_elsewhere());
        }
        for who in self.everybody() {
            all.extend([What::GoOn(who), What::Stir(who), What::Stop(who), What::Start(who), What::ForEachP(who)]);
            all.extend((0..=self.numbers.capacity() + 1).map(|procs| What::Resize(who, procs)));
        }
        for m in 0..self.numbers.ms() {
            all.extend([What::Ready(m), What::Next(m), What::Yield(m), What::YieldBound(m), What::ReadyBound(m)]);
            all.extend([What::NextLocal(m), What::NextTurn(m), What::GoYield(m), What::Interrupt(m)]);
            all.extend([What::Enter(m), What::Block(m), What::Exit(m), What::ExitBound(m), What::End(m)]);
            all.extend([What::Park(m, Wake::Inside), What::Park(m, Wake::Outside)]);
            all.extend([What::EnterDetached(m, false), What::EnterDetached(m, true), What::TryReattach(m)]);
        }
        all.retain(|what| self.allows(*what));
        let worth = |what| std::iter::repeat_n(what, self.worth(what));
        all.into_iter().flat_map(worth).collect()
    }

    fn by_elsewhere(&self) -> impl Iterator<Item = What> + use<> {
        let by = || (0..self.numbers.ms()).map(Some).chain([None]);
        let timers = by().flat_map(|by| PAUSES[1..].iter().map(move |&pause| What::Timer(by, pause)));
        let awaits = by().map(|by| What::Await(by, true)).chain([What::Await(None, false)]);
        let others = [What::Report(1), What::Report(3), What::StartMonitor, What::Watch(10_000_001), What::Calm];
        timers.chain(awaits).chain(others).collect::<Vec<_>>().into_iter()
    }

    /// How often `what` is offered: what leads on more often, what belongs to the theme too.
    fn worth(&self, what: What) -> usize {
        let (theme, worth) = match what {
            What::Submit if self.theme == Theme::Waits => return 2,
            What::Submit => return 6,
            What::Expect(false) => return 8,
            What::GoOn(_) => return 12,
            What::Next(_) => return 6,
            What::NextLocal(_) => return 3,
            What::NextTurn(_) if self.theme == Theme::Turns => return 24,
            What::Ready(_) | What::GoYield(_) if self.theme == Theme::Turns => return 12,
            What::NextTurn(_) => return 1,
            What::Exit(_) => return 3,
            What::Start(_) => return 6,
            What::Refuse(0) => return 4,
            What::Close => return usize::from(self.next_g > 12),
            What::Stir(_) | What::Begin => (Theme::Everything, 1),
            What::Ready(_) => (Theme::Queues, 6),
            What::Arrive(_) | What::Yield(_) | What::GoYield(_) | What::Refuse(_) => (Theme::Queues, 1),
            What::Enter(_) => (Theme::Calls, 3),
            What::Block(_) | What::Interrupt(_) | What::Tick(_) | What::EnterDetached(..) => (Theme::Calls, 1),
            What::TryReattach(_) => (Theme::Calls, 2),
            What::LookForDeadlock | What::ExpectSilently(_) => (Theme::Waits, 1),
            What::ExitBound(_) => (Theme::Waits, 2),
            What::Park(_, Wake::Inside) => (Theme::Waits, 3),
            What::Park(_, Wake::Outside) | What::ReadyBound(_) | What::YieldBound(_) | What::End(_) => {
                (Theme::Waits, 1)
            }
            What::Expect(true) => (Theme::Waits, 1),
            What::Resize(_, procs) if procs == 0 || procs > self.numbers.capacity() => (Theme::Everything, 1),
            What::Resize(_, procs) if procs < self.procs => (Theme::World, 3),
            What::Stop(_) => (Theme::World, 2),
            What::Resize(..) | What::ForEachP(_) => (Theme::World, 1),
            What::Await(_, false) => (Theme::Elsewhere, 2),
            What::Timer(..) | What::Await(..) | What::Report(_) => (Theme::Elsewhere, 1),
            What::StartMonitor => (Theme::Elsewhere, 2),
            What::Watch(_) | What::Calm => (Theme::Elsewhere, 1),
        };
        match self.theme {
            Theme::Everything => worth,
            ours if ours == theme => 3 * worth,
            _ => worth / 2,
        }
    }

    /// What brings a scheduler to its end: it is closed, and each party does what it can. `None`: none can do anything.
    pub fn to_the_end(&self) -> Option<What> {
        if !self.is_closed {
            return Some(What::Close);
        }
        self.everybody().find_map(|who| match (self.where_is(who), who) {
            (Activity::Suspended | Activity::Asleep(true), _) => Some(What::GoOn(who)),
            (Activity::HasStopped, _) => Some(What::Start(who)),
            (Activity::Runs { .. }, Who::M(m)) => Some(What::Next(m)),
            (Activity::Away(_), Who::M(m)) => Some(What::Exit(m)),
            _ => None,
        })
    }

    /// Have all parties ended?
    pub fn is_at_its_end(&self) -> bool {
        self.closer_is_done && self.alive == 0 && self.line.is_empty()
    }
}
