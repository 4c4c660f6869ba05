//! The order of events: which cannot follow which.
//!
//! A user of a runtime believes what its observer reports. So it is checked like anything else: an M that is given a
//! P has none, an M that is woken slept, a G that is found was queued. Each rule is about one M, one P or one G, whose
//! events are ordered by the kernel's own synchronisation; what happens elsewhere at the same time may be reported in any
//! order.
//!
//! It makes no access that an engine sees.

use super::invariants::{EVENTS_ARE_TRUE, Violation};
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::sched::observer::Event;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What an M has in its hands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Hands {
    /// Nothing.
    #[default]
    Empty,
    /// A P.
    Has(u32),
    /// It has left this P for a call, or to stop the world.
    Away(u32),
    /// It was away, and was sent this P.
    Back(u32),
}

#[derive(Debug, Clone, Default)]
struct Thread {
    lives: bool,
    sleeps: bool,
    polls: bool,
    spins: bool,
    /// It has stolen, and is about to find what it was.
    stole: bool,
    hands: Hands,
    /// The G that it runs, or whose call it makes.
    runs: Option<u64>,
}

/// What is known by now.
#[derive(Debug, Clone, Default)]
pub struct Order {
    threads: BTreeMap<u32, Thread>,
    queued: BTreeSet<u64>,
    /// Those of them that are to run next.
    next: BTreeSet<u64>,
    held: BTreeSet<u32>,
    retaken: BTreeSet<u32>,
    is_stopped: bool,
    /// A stop or a close has begun: spinning Ms are not reported any more.
    ends_early: bool,
}

/// An [`Order`] for the observers of a scheduler, on any thread.
#[derive(Debug, Default)]
pub struct EventChecker(Mutex<Order>);

impl EventChecker {
    fn order(&self) -> MutexGuard<'_, Order> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happened.
    ///
    /// # Panics
    /// If it cannot be.
    pub fn check(&self, event: &Event<'_>) {
        let checked = self.order().check(event);
        if let Err(violation) = checked {
            panic!("{violation}");
        }
    }

    /// See [`Order::leaves`].
    pub fn leaves(&self, m: u32) {
        self.order().leaves(m);
    }

    /// See [`Order::closes`].
    pub fn closes(&self) {
        self.order().closes();
    }

    /// M `m` runs G `g` now.
    ///
    /// # Panics
    /// If no event has reported that it was found.
    pub fn runs(&self, m: u32, g: u64) {
        let found = self.order().threads.get(&m).and_then(|thread| thread.runs);
        assert!(found == Some(g), "M{m} runs G{g}, and no event reported that it was found, but of G{found:?}");
    }
}

/// What is wrong with an event.
type Wrong = &'static str;

fn must(holds: bool, wrong: Wrong) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(wrong) }
}

impl Thread {
    fn has(&self, p: u32) -> Result<(), Wrong> {
        must(matches!(self.hands, Hands::Has(mine) | Hands::Back(mine) if mine == p), "the M has not this P")
    }

    /// It goes on with its P. If it was away, and has not come back with its G, that was queued: which G?
    fn goes_on(&mut self) -> Option<u64> {
        matches!(self.hands, Hands::Back(_)).then(|| self.runs.take()).flatten()
    }

    /// It has no P any more. Which G was queued?
    fn gives_up(&mut self) -> Option<u64> {
        let queued = self.goes_on();
        self.hands = Hands::Empty;
        queued
    }

    fn awake(&self) -> Result<(), Wrong> {
        must(self.lives, "the M does not live")?;
        must(!self.sleeps && !self.polls, "the M sleeps")
    }
}

impl Order {
    /// M `m` gives its P away without an event: it is interrupted, stops the world, or ends.
    pub fn leaves(&mut self, m: u32) {
        let thread = self.threads.entry(m).or_default();
        if let Hands::Has(p) | Hands::Back(p) = thread.hands {
            thread.hands = Hands::Away(p);
        }
    }

    /// The scheduler is about to be closed.
    pub fn closes(&mut self) {
        self.ends_early = true;
    }

    /// Something happened.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn check(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        let wrong = |wrong: Wrong| Violation { of: EVENTS_ARE_TRUE, seen: format!("{event:?}, but {wrong}") };
        self.hear(event).map_err(wrong)
    }

    fn hear(&mut self, event: &Event<'_>) -> Result<(), Wrong> {
        match *event {
            Event::Queued { p, g, next } => {
                must(p.is_some() || !next, "a G runs next under a P")?;
                if next && g.bound().is_none() {
                    self.next.insert(g.id());
                }
                let is_new = g.bound().is_some() || self.queued.insert(g.id());
                // A submitter to a closed scheduler gets the G back, and no event reports it.
                must(is_new || self.ends_early, "the G is queued already")
            }
            Event::Held { p } => {
                self.ends_early = true;
                self.releasep(p.0);
                must(self.held.insert(p.0), "the P is held already")
            }
            Event::Stopped => {
                must(!self.is_stopped, "it was stopped already")?;
                self.is_stopped = true;
                must(!self.held.is_empty(), "no P is held")
            }
            Event::Started { .. } => {
                must(self.is_stopped, "it was not stopped")?;
                self.is_stopped = false;
                self.held.clear();
                Ok(())
            }
            Event::Listed { p } => {
                let is_owned = self.threads.values().any(|thread| thread.has(p.0).is_ok());
                must(!is_owned || self.ends_early, "an M has it")?;
                self.releasep(p.0);
                Ok(())
            }
            Event::Retaken { p } => {
                let is_away = self.threads.values().any(|thread| thread.hands == Hands::Away(p.0));
                must(is_away, "no M has left it for a call")?;
                must(self.retaken.insert(p.0), "it was retaken already")
            }
            _ => self.of_an_m(event),
        }
    }

    /// No M has this P any more.
    fn releasep(&mut self, p: u32) {
        self.retaken.remove(&p);
        let owners = self.threads.values_mut().filter(|thread| thread.has(p).is_ok());
        self.queued.extend(owners.filter_map(Thread::gives_up));
    }

    fn of_an_m(&mut self, event: &Event<'_>) -> Result<(), Wrong> {
        let (ends_early, is_stopped) = (self.ends_early, self.is_stopped);
        let m = match *event {
            Event::Found { m, .. }
            | Event::Stole { m, .. }
            | Event::Got { m, .. }
            | Event::Left { m, .. }
            | Event::Spinning { m }
            | Event::Called { m }
            | Event::Sought { m }
            | Event::Idled { m, .. }
            | Event::Slept { m, .. }
            | Event::Polling { m, .. }
            | Event::Polled { m }
            | Event::Woken { m }
            | Event::Starting { m }
            | Event::Entered { m, .. }
            | Event::Returned { m, .. }
            | Event::Exited { m } => m.0,
            _ => return Ok(()),
        };
        match event {
            Event::Found { g, from, next, .. } if g.bound().is_none() => {
                self.find(m, g.id(), *from)?;
                let was_next = self.next.remove(&g.id());
                must(was_next || !next, "the G was not queued to run next")?;
            }
            // It hands its P on to the M of that G.
            Event::Found { .. } => self.queued.extend(self.threads.entry(m).or_default().goes_on()),
            _ => (),
        }
        if let Event::Got { p, .. } | Event::Returned { p, .. } = event {
            self.retaken.remove(&p.0);
        }
        let thread = self.threads.entry(m).or_default();
        if matches!((event, thread.hands), (Event::Slept { .. }, Hands::Away(_))) {
            // Its call is over, and its G, which may go on elsewhere, was queued.
            self.queued.extend(thread.runs.take());
        }
        match *event {
            Event::Found { p, from, .. } => {
                thread.awake()?;
                thread.has(p.0)?;
                thread.hands = Hands::Has(p.0);
                must(!is_stopped, "the world is stopped")?;
                let stole = std::mem::take(&mut thread.stole);
                must(stole == (from == Source::Steal), "what is stolen is reported, and found then")
            }
            Event::Stole { p, victim, gs, .. } => {
                thread.has(p.0)?;
                must(thread.spins || ends_early, "it does not spin")?;
                must(p != victim && gs > 0, "no P steals from itself, nor nothing")?;
                must(!std::mem::replace(&mut thread.stole, true), "it has stolen already")
            }
            Event::Got { p, .. } => {
                thread.awake()?;
                let back = matches!(thread.hands, Hands::Away(_));
                must(back || thread.hands == Hands::Empty, "it has a P")?;
                thread.hands = if back { Hands::Back(p.0) } else { Hands::Has(p.0) };
                Ok(())
            }
            Event::Left { p, .. } | Event::Idled { p, .. } => {
                thread.has(p.0)?;
                self.queued.extend(thread.gives_up());
                Ok(())
            }
            Event::Entered { p, .. } => {
                thread.has(p.0)?;
                thread.hands = Hands::Away(p.0);
                Ok(())
            }
            Event::Returned { p, way, .. } => {
                let sent = thread.hands == Hands::Back(p.0) && way == Way::Queued;
                let took = matches!(thread.hands, Hands::Away(_)) && way != Way::Queued;
                must(sent || took, "it was not away, or came back in another way")?;
                thread.hands = Hands::Has(p.0);
                Ok(())
            }
            Event::Spinning { .. } | Event::Called { .. } => {
                must(!std::mem::replace(&mut thread.spins, true) || ends_early, "it spins already")
            }
            Event::Sought { .. } => must(std::mem::take(&mut thread.spins), "it did not spin"),
            Event::Slept { .. } => {
                thread.awake()?;
                let spins = std::mem::take(&mut thread.spins);
                must(!spins || ends_early, "it spins")?;
                must(!matches!(thread.hands, Hands::Has(_)) || ends_early, "it has a P")?;
                (thread.hands, thread.sleeps) = (Hands::Empty, true);
                Ok(())
            }
            Event::Woken { .. } => must(std::mem::take(&mut thread.sleeps), "it did not sleep"),
            Event::Polling { .. } => {
                thread.awake()?;
                thread.polls = true;
                must(thread.hands == Hands::Empty || ends_early, "it has a P")
            }
            Event::Polled { .. } => must(std::mem::take(&mut thread.polls), "it did not poll"),
            Event::Starting { .. } => must(!std::mem::replace(&mut thread.lives, true), "it lives already"),
            Event::Exited { .. } => {
                must(thread.lives, "it does not live")?;
                *thread = Thread::default();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What is found was queued; or its call is over, and its M has put it where no event reports it; or a source had
    /// it.
    fn find(&mut self, m: u32, g: u64, from: Source) -> Result<(), Wrong> {
        let was_queued = self.queued.remove(&g);
        let finder = self.threads.entry(m).or_default();
        if finder.runs != Some(g) {
            self.queued.extend(finder.goes_on());
        }
        let is_left = |thread: &Thread| thread.runs == Some(g) && !matches!(thread.hands, Hands::Has(_));
        let was_left = self.threads.values().any(is_left);
        for thread in self.threads.values_mut().filter(|thread| thread.runs == Some(g)) {
            thread.runs = None;
        }
        self.threads.entry(m).or_default().runs = Some(g);
        must(was_queued || was_left || from == Source::Extra, "the G was not queued")
    }
}

#[cfg(test)]
mod tests {
    use super::EventChecker;
    use spinpark_kernel::protocol::sources::Source;
    use spinpark_kernel::sched::observer::Event;
    use spinpark_kernel::types::g::G;
    use spinpark_kernel::types::m::MId;
    use spinpark_kernel::types::p::PId;
    use std::num::NonZeroU64;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const M: MId = MId(0);
    const P: PId = PId(0);

    fn ends_badly(events: &[Event<'_>]) -> bool {
        let checker = EventChecker::default();
        catch_unwind(AssertUnwindSafe(|| events.iter().for_each(|event| checker.check(event)))).is_err()
    }

    #[test]
    fn an_m_has_one_p() {
        let (start, got) = (Event::Starting { m: M }, Event::Got { m: M, p: P });
        assert!(!ends_badly(&[start, got, Event::Idled { m: M, p: P }, got]));
        assert!(ends_badly(&[start, got, got]));
        assert!(ends_badly(&[got]));
    }

    #[test]
    fn an_m_that_gives_up_the_p_that_it_was_sent_had_queued_the_g_of_its_call() {
        let g = G::from_raw(NonZeroU64::MIN);
        let (start, got) = (Event::Starting { m: M }, Event::Got { m: M, p: P });
        let finds = |from| Event::Found { m: M, p: P, g: &g, from, next: false };
        let runs = [start, got, finds(Source::Extra)];
        let sent = [Event::Entered { m: M, p: P, blocks: false }, got];
        for gives_up in [Event::Left { m: M, p: P, waits: false }, Event::Held { p: P }] {
            let after = [gives_up, got, finds(Source::Global)];
            assert!(!ends_badly(&[&runs[..], &sent, &after].concat()));
            assert!(ends_badly(&[&runs[..], &after].concat()), "it makes no call");
        }
    }

    #[test]
    fn an_m_that_is_woken_slept() {
        let (start, woken) = (Event::Starting { m: M }, Event::Woken { m: M });
        assert!(!ends_badly(&[start, Event::Slept { m: M, sleeping: 1, alive: 1 }, woken]));
        assert!(ends_badly(&[start, woken]));
    }

    #[test]
    fn an_m_that_has_looked_was_spinning() {
        let start = Event::Starting { m: M };
        assert!(!ends_badly(&[start, Event::Called { m: M }, Event::Sought { m: M }]));
        assert!(ends_badly(&[start, Event::Sought { m: M }]));
        assert!(ends_badly(&[start, Event::Called { m: M }, Event::Spinning { m: M }]));
    }
}
