//! The scheduler's side of starting and stopping Ms: the list of those that sleep, the numbers of those that may be started,
//! and a thread that the host refuses.
//!
//! Go: `mget`, `mput`, `newm`, `mReserveID`.
//!
//! **A P is not lost with a refused thread**: it is idled, with what it holds in the global queue, and a spinning M is asked
//! for, under one hold of the lock.
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs, verification/tests/stress.rs

use crate::host::{Host, SpawnError};
use crate::protocol::find::Worker;
use crate::protocol::threads::{self, Available};
use crate::sched::Sched;
use crate::sched::central::Central;
use crate::sched::observer::{Event, Observer};
use crate::types::g::G;
use crate::types::m::{MId, NextP, SpinningToken};
use crate::types::p::OwnedP;
use alloc::{format, sync::Arc, vec::Vec};

/// As long as an M lives. If its life returns, or panics, and it has not ended, the M is lost.
struct Lives<'a, H: Host, O: Observer> {
    sched: &'a Arc<Sched<H, O>>,
    m: MId,
    /// How often the M of this number had ended before.
    ends: u32,
}

impl<H: Host, O: Observer> Drop for Lives<'_, H, O> {
    fn drop(&mut self) {
        let &mut Lives { sched, m, ends } = self;
        if H::UNWINDS_TO_END {
            return;
        }
        sched.central(|c| {
            // Not `unused`: the number of an M that has ended may be another's by now.
            if c.ends[m.index()] == ends {
                c.lost += 1;
                sched.observer.event(Event::Lost { m });
                if c.closed && !c.lives() {
                    sched.end_monitor(c);
                    c.calls.closer();
                }
            }
        });
    }
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// Starts the first M, to know that there can be one. From then on a refused thread only delays work.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config::default(), (), live).expect("numbers that are allowed");
    /// sched.start().expect("there can be a thread");
    /// sched.close();
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the host cannot start a thread.
    pub fn start(self: &Arc<Self>) -> Result<(), SpawnError> {
        let reserved = self.central(|c| {
            if c.closed || c.idle_ps.is_empty() {
                return None; // every P is in use: there are Ms already
            }
            let m = self.reserve(c)?;
            Some((m, self.pidleget(c)?))
        });
        let Some((m, p)) = reserved else { return Ok(()) };
        let token = Some(self.spinning.become_spinning());
        self.ms[m.index()].set_nextp(NextP::Run { p, token });
        let started = threads::Neighbours::newm(self, m);
        if started.is_err()
            && let Some(nextp) = self.ms[m.index()].take_nextp()
        {
            threads::give_back(nextp, Some(m), &self.ms, self);
        }
        started
    }

    /// How many Ms were lost: a panic came out of the function that is their life, or it returned without its worker, which was dropped
    /// (in itself a panic) or is held elsewhere. Such an M keeps its number and its P, whose Gs other Ms steal, if there are other
    /// Ps. [`close`](Sched::close) does not wait for it, and gives its Gs back, but for the one that ran. Catch panics around each
    /// task, and keep the worker out of it, so that no M is lost.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let life = |sched: &Arc<Sched<Os>>, worker| {
    ///     let (_worker, g) = sched.next(worker).expect("it is open");
    ///     panic!("in {g:?}");
    /// };
    /// let sched = Sched::new(Config::default(), (), life).expect("numbers that are allowed");
    /// sched.submit(g(1)).expect("it is open");
    /// while sched.lost() == 0 {
    ///     thread::yield_now();
    /// }
    /// sched.submit(g(2)).expect("it is open"); // it never runs: the only P is lost too
    /// assert_eq!(sched.close(), [g(2)]);
    /// # }
    /// ```
    pub fn lost(self: &Arc<Self>) -> usize {
        self.central(|c| c.lost)
    }

    /// The Gs that are left when no M is: those of a lost M too. Its P is never idle, and its owner is gone, so this thread may drain it.
    pub(crate) fn never_ran(&self, c: &mut Central<H>) -> Vec<G> {
        if c.lost > 0 {
            self.ps.iter().for_each(|p| c.global.put_batch(p.queue.drain(), &self.global_len));
        }
        core::iter::from_fn(|| c.global.get(&self.global_len)).collect()
    }

    /// An M that sleeps, or a number for a new one.
    pub(super) fn available(&self, c: &mut Central<H>) -> Available {
        match c.sleeping.get() {
            Some(m) => {
                self.observer.event(Event::Woken { m });
                Available::Sleeping(m)
            }
            None if c.closed => Available::None,
            None => self.reserve(c).map_or(Available::None, Available::New),
        }
    }

    /// An M has ended.
    pub(super) fn exited(self: &Arc<Self>, m: MId) {
        let is_wanted = self.central(|c| {
            self.free_m(c, m);
            let is_wanted = !c.closed && core::mem::take(&mut c.must_retry);
            if !is_wanted {
                self.end_m(c);
            }
            is_wanted
        });
        if is_wanted {
            // An M was refused; now there is a number for one. Until it is asked for, this M counts as alive: a thread that
            // closes the scheduler waits for it, and no deadlock is seen.
            self.spinning.wakep(self);
            self.central(|c| self.end_m(c));
        }
    }

    /// `m` got a P, and starts to spin if it is counted.
    pub(crate) fn notify_called(&self, m: MId, token: &Option<SpinningToken>) {
        if token.is_some() {
            self.observer.event(Event::Called { m });
        }
    }

    /// `m`, which had none, has this P, and starts to spin if it is counted.
    pub(crate) fn notify_got(&self, m: MId, p: &OwnedP, token: &Option<SpinningToken>) {
        self.observer.event(Event::Got { m, p: p.id() });
        self.notify_called(m, token);
    }
}

impl<H: Host, O: Observer> threads::Neighbours<H> for Arc<Sched<H, O>> {
    fn mget(&self) -> Available {
        self.central(|c| self.available(c))
    }

    fn mput(&self, m: MId) -> Option<NextP> {
        self.central(|c| {
            let instead = self.instead_of_sleep(c);
            if instead.is_some() {
                return instead;
            }
            c.sleeping.put(m, H::now());
            self.observer.event(Event::Slept { m, sleeping: c.sleeping.len(), alive: c.alive });
            self.checkdead(c);
            // It may have been the last that was awake: at the monitor's tick sources are told, which see then whether all is at rest. No-op but
            // for an M that comes from the poller or late: what had a P has kept the monitor awake.
            self.rouse_monitor(c);
            None
        })
    }

    fn newm(&self, m: MId) -> Result<(), SpawnError> {
        self.observer.event(Event::Starting { m });
        let sched = Arc::clone(self);
        H::spawn(&format!("spinpark-m{}", m.0), move || {
            if let Some(NextP::Run { p, token }) = sched.ms[m.index()].take_nextp() {
                // Where it is not asked for at the end, it is not here: the lock would be two steps of each M in every model.
                let ends = if H::UNWINDS_TO_END { 0 } else { sched.central(|c| c.ends[m.index()]) };
                let _lives = Lives { sched: &sched, m, ends };
                sched.notify_got(m, &p, &token);
                (sched.life)(&sched, Worker::woken(sched.id(), m, p, token));
            }
        })
    }

    fn refused(&self, nextp: NextP, m: Option<MId>) -> Option<(MId, NextP)> {
        self.central(|c| {
            let late = c.sleeping.get();
            let kept = match (late, nextp) {
                (Some(sleeper), nextp) => {
                    self.observer.event(Event::Woken { m: sleeper });
                    Some((sleeper, nextp))
                }
                (None, NextP::Exit) => None,
                (None, NextP::Run { p, token }) => {
                    self.observer.event(Event::Refused);
                    c.refused += 1;
                    c.must_retry = true;
                    // An idle P is not searched: its Gs go to the global queue.
                    c.global.put_batch(self.proc(p.id()).queue.drain(), &self.global_len);
                    self.releasep(c, p, true);
                    // `request`: in this order, as in `wakep`.
                    token.into_iter().for_each(|token| self.spinning.give_up(token));
                    self.spinning.set_needspinning();
                    self.rouse_monitor(c);
                    if m.is_none() && self.may_start(c) && !c.closed {
                        // Another M has ended since we asked for one, and perhaps took us for a spinning M: now there is one.
                        c.calls.wakep();
                    }
                    // The M that waits in the poller is available: it sees the request before it waits again.
                    c.calls.poller();
                    None
                }
            };
            if let Some(m) = m {
                self.free_m(c, m);
                self.end_m(c);
            }
            kept
        })
    }
}
