//! The kernel, moved by the same moves, on [`Stepped`].

use crate::harness::common::g;
use crate::hosts::stepped::{Halt, Stepped, Threads};
use crate::spec::moves::{Activity, Ev, Move, Numbers, OUTSIDERS, Observed, What, Who};
use crate::spec::witness::{Role, Sockets, Source, Witness, item, ran};
use spinpark_kernel::host::NEVER;
use spinpark_kernel::host::{Host, Parker};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sysmon::CALM;
use spinpark_kernel::protocol::work_source::Waker;
use spinpark_kernel::sched::sysmon::SysmonTicks;
use spinpark_kernel::sched::{Sched, Sources};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};

type S = Arc<Sched<Stepped, Witness>>;

/// An M's life: it looks for its first G. What it does with it is the test's.
fn live(sched: &S, worker: Worker) {
    let m = worker.m();
    look(sched, m, Some(worker));
}

/// With a P, `m` looks for a G; without, it has ended.
fn look(sched: &S, m: MId, worker: Option<Worker>) {
    finds(sched, m, worker.and_then(|worker| sched.next(worker)));
}

fn finds(sched: &S, m: MId, found: Option<(Worker, G)>) {
    if let Some((worker, g)) = found {
        sched.observer().put(Who::M(m.index()), Role::Runs(worker, g));
    }
}

/// A scheduler whose threads the test moves.
pub struct Kernel {
    sched: S,
    threads: Threads,
    witness: Witness,
    waker: Waker,
    watch: SysmonTicks,
    /// In the poller.
    parker: Arc<<Stepped as Host>::Parker>,
    asleep: BTreeMap<Who, usize>,
    /// The parties that were interrupted, the first first.
    paused: VecDeque<(Option<Who>, usize)>,
    next_g: u64,
    ms: usize,
}

impl Kernel {
    /// One with these numbers.
    ///
    /// # Panics
    /// If they are not allowed.
    pub fn new(numbers: Numbers) -> Kernel {
        let (threads, witness) = (Threads::new(), Witness::default());
        let (mut waker, theirs) = (None, witness.clone());
        let (parker, its) = (Arc::new(<Stepped as Host>::Parker::new()), Arc::new(OnceLock::new()));
        let sockets = Sockets { witness: witness.clone(), parker: Arc::clone(&parker), sched: Arc::clone(&its) };
        let mut sources = |its: &Waker| -> Sources {
            waker = Some(its.clone());
            vec![Box::new(Source(theirs.clone(), its.clone()))]
        };
        let (config, watcher) = (numbers.config(), witness.clone());
        let sched: S = match numbers.elsewhere {
            true => Sched::with_poller(config, watcher, live, |its| (sources(its), Box::new(sockets))),
            false => Sched::with_sources(config, watcher, live, |its| sources(its)),
        }
        .expect("these numbers are allowed");
        its.set(Arc::downgrade(&sched)).expect("it is set once");
        let watch = sched.watch();
        let waker = waker.expect("a source was made");
        Kernel {
            sched,
            threads,
            witness,
            waker,
            watch,
            parker,
            asleep: BTreeMap::new(),
            paused: VecDeque::new(),
            next_g: 1,
            ms: numbers.ms(),
        }
    }

    /// Makes a move that the lists allow.
    ///
    /// # Panics
    /// If the kernel does, or is not where the lists are.
    pub fn make(&mut self, this: Move) {
        self.witness.book().events.clear();
        Stepped::draw_by(this.seed);
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
            What::EnterDetached(m, blocks) => {
                let who = Who::M(m);
                let Role::Away(away, own) = self.witness.take(who) else { panic!("M{m} is not away") };
                self.act(who, move |sched| {
                    let away = sched.enter_syscall_detached(away, blocks);
                    sched.observer().put(who, Role::Away(away, own));
                });
            }
            What::TryReattach(m) => {
                let who = Who::M(m);
                let Role::Away(away, own) = self.witness.take(who) else { panic!("M{m} is not away") };
                self.act(who, move |sched| {
                    let role = match sched.try_reattach(away) {
                        Ok(worker) => Role::Runs(worker, own),
                        Err(away) => Role::Away(away, own),
                    };
                    sched.observer().put(who, role);
                });
            }
            What::Refuse(threads) => Stepped::refuse(threads),
            What::Tick(pause) => {
                Stepped::pass(pause);
                let retook = self.sched.tick(&mut self.watch, Stepped::now());
                self.witness.note(Ev::Ticked(retook));
            }
            What::GoOn(who) | What::Stir(who) => self.go_on(who),
            What::Timer(..) | What::Await(..) | What::Report(_) | What::StartMonitor | What::Watch(_) | What::Calm => {
                self.done_elsewhere(this.what)
            }
            What::Close => self.act(Who::Closer, |sched| {
                for left in sched.close() {
                    sched.observer().note(Ev::Over(item(&left)));
                }
            }),
            What::Stop(who) | What::ForEachP(who) | What::Start(who) | What::Resize(who, _) => {
                self.with_the_world(this.what, who);
            }
            What::Exit(m) | What::ExitBound(m) => self.come_back(m, matches!(this.what, What::ExitBound(_))),
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
            | What::End(m) => self.by_a_g(this.what, m),
        }
    }

    fn by_an_outsider(&mut self, what: What) {
        match what {
            What::Submit => {
                let number = self.fresh(1)[0];
                if self.sched.submit(g(number)).is_err() {
                    self.witness.note(Ev::TurnedAway(number));
                }
            }
            What::Arrive(gs) => {
                let gs = self.fresh(gs);
                self.witness.book().arrived.push_back(gs);
                self.waker.wake();
            }
            What::Expect(expects) => {
                self.witness.book().expects = expects;
                self.waker.wake();
            }
            What::ExpectSilently(expects) => self.witness.book().expects = expects,
            What::ReadyBound(m) => self.sched.ready_bound(MId(m as u32)),
            What::LookForDeadlock => {
                let is_dead = self.sched.look_for_deadlock();
                self.witness.note(Ev::IsDead(is_dead));
            }
            What::Begin => {
                let began = self.sched.start().is_ok();
                self.witness.note(Ev::Began(began));
            }
            other => unreachable!("{other:?} does not come from outside"),
        }
    }

    fn done_elsewhere(&mut self, what: What) {
        match what {
            What::Timer(by, after) => {
                let (when, g) = (Stepped::now() + after, self.fresh(1)[0]);
                let before = self.witness.book().timers.iter().map(|(when, _)| *when).min();
                self.witness.book().timers.push((when, g));
                if by.is_none() && before.is_none_or(|before| when < before) {
                    self.waker.announce(when);
                }
            }
            What::Await(by, awaits) => {
                self.witness.book().is_awaited = awaits;
                match (by, awaits) {
                    (_, false) => self.sched.break_idle_poll(),
                    (None, true) => self.waker.announce(NEVER),
                    (Some(_), true) => (),
                }
            }
            What::Report(gs) => {
                let gs = self.fresh(gs);
                self.witness.book().reports.extend(gs);
                if self.sched.snapshot().polling > 0 {
                    self.parker.unpark();
                }
            }
            What::StartMonitor => {
                let began = self.sched.start_sysmon().is_ok();
                self.witness.note(Ev::Began(began));
            }
            What::Watch(pause) => {
                Stepped::pass(pause);
                self.go_on(Who::Monitor);
            }
            What::Calm => {
                for _ in 0..=CALM {
                    if self.activity(Who::Monitor) != Activity::Nowhere {
                        self.go_on(Who::Monitor);
                    }
                }
            }
            other => unreachable!("{other:?} does not come from elsewhere"),
        }
    }

    fn fresh(&mut self, gs: usize) -> Vec<u64> {
        self.next_g += gs as u64;
        (self.next_g - gs as u64..self.next_g).collect()
    }

    /// `who` does this, until it is done or falls asleep.
    fn act(&mut self, who: Who, does: impl FnOnce(&S) + Send + 'static) {
        let sched = Arc::clone(&self.sched);
        let halt = self.threads.play(move || does(&sched));
        self.after(who, halt);
    }

    fn after(&mut self, who: Who, halt: Halt) {
        match halt {
            Halt::Paused(thread) => {
                self.paused.push_back((Some(who), thread));
                None
            }
            Halt::Over => self.asleep.remove(&who),
            Halt::Asleep(thread) => self.asleep.insert(who, thread),
        };
    }

    fn go_on(&mut self, who: Who) {
        let halt = match (self.asleep.get(&who), who) {
            (Some(&thread), _) => self.threads.go_on(thread),
            (None, Who::M(_) | Who::Monitor) => self.threads.begin(&name(who)).expect("a thread was asked for"),
            (None, _) => panic!("{who:?} does not sleep"),
        };
        self.after(who, halt);
    }

    fn by_a_g(&mut self, what: What, m: usize) {
        let who = Who::M(m);
        let Role::Runs(mut worker, own) = self.witness.take(who) else { panic!("M{m} runs nothing") };
        let fresh = if matches!(what, What::Ready(_)) { self.fresh(1)[0] } else { 0 };
        self.act(who, move |sched| {
            let id = worker.m();
            let role = match what {
                What::Ready(_) => {
                    sched.ready(&mut worker, g(fresh));
                    Role::Runs(worker, own)
                }
                What::Next(_) => return look(sched, id, Some(worker)),
                What::NextTurn(_) => return finds(sched, id, sched.next_turn(worker)),
                What::NextLocal(_) => match sched.next_local(&worker) {
                    Some(next) => Role::Runs(worker, next),
                    None => return look(sched, id, Some(worker)),
                },
                What::GoYield(_) => {
                    sched.goyield(&mut worker, own);
                    return look(sched, id, Some(worker));
                }
                What::Yield(_) => {
                    sched.yield_now(&mut worker, own);
                    return look(sched, id, Some(worker));
                }
                What::YieldBound(_) => Role::Runs(sched.yield_bound(worker), own),
                What::Enter(_) => Role::Away(sched.entersyscall(worker), own),
                What::Interrupt(_) => Role::Away(sched.interrupt(worker), own),
                What::Block(_) => Role::Away(sched.entersyscallblock(worker), own),
                What::Park(_, wake) => {
                    let (worker, woken) = sched.park_bound(worker, wake);
                    sched.observer().note(Ev::WaitOver(m, woken));
                    Role::Runs(worker, own)
                }
                What::End(_) => return sched.end(worker),
                other => unreachable!("{other:?} is not done by a G"),
            };
            sched.observer().put(who, role);
        });
    }

    fn come_back(&mut self, m: usize, is_bound: bool) {
        let who = Who::M(m);
        let Role::Away(away, own) = self.witness.take(who) else { panic!("M{m} is not away") };
        self.act(who, move |sched| {
            let id = away.m();
            if is_bound {
                let (worker, _) = sched.exitsyscall_bound(away);
                return sched.observer().put(who, Role::Runs(worker, own));
            }
            match sched.exitsyscall(away, own) {
                Ok((worker, own, _)) => sched.observer().put(who, Role::Runs(worker, own)),
                Err(_) => {
                    let worker = sched.rest(id);
                    look(sched, id, worker);
                }
            }
        });
    }

    fn with_the_world(&mut self, what: What, who: Who) {
        let role = match (what, who) {
            (What::Stop(_) | What::ForEachP(_), Who::Outsider(_)) => None,
            _ => Some(self.witness.take(who)),
        };
        self.act(who, move |sched| {
            let witness = sched.observer();
            let role = match (what, role) {
                (What::Stop(_), None) => Role::HasStopped(sched.stop_the_world(None), None),
                (What::Stop(_), Some(Role::Runs(worker, g))) => {
                    Role::HasStopped(sched.stop_the_world(Some(worker)), Some(g))
                }
                (What::Start(_), Some(Role::HasStopped(stopped, g))) => match sched.start_the_world(stopped).zip(g) {
                    Some((away, g)) => Role::Away(away, g),
                    None => return,
                },
                (What::Resize(_, procs), Some(Role::HasStopped(mut stopped, g))) => {
                    witness.note(match sched.procresize(&mut stopped, procs) {
                        Ok(were) => Ev::Were(were),
                        Err(_) => Ev::NoRoom(procs),
                    });
                    Role::HasStopped(stopped, g)
                }
                (What::ForEachP(_), role) => {
                    let (worker, g) = match role {
                        Some(Role::Runs(worker, g)) => (Some(worker), Some(g)),
                        _ => (None, None),
                    };
                    match sched.for_each_p(worker, &ran(witness)).zip(g) {
                        Some((away, g)) => Role::Away(away, g),
                        None => return,
                    }
                }
                (what, _) => unreachable!("{what:?} does not fit"),
            };
            witness.put(who, role);
        });
    }

    fn activity(&self, who: Who) -> Activity {
        if matches!(who, Who::M(_) | Who::Monitor) && self.threads.has_suspended(&name(who)) {
            return Activity::Suspended;
        }
        if let Some(&thread) = self.asleep.get(&who) {
            return Activity::Asleep(self.threads.is_woken(thread));
        }
        match self.witness.book().roles.get(&who) {
            None => Activity::Nowhere,
            Some(Role::Runs(worker, g)) => Activity::Runs {
                g: g.id(),
                p: worker.p().index(),
                should_yield: self.sched.should_yield(worker),
                is_preempted: self.sched.is_preempted(worker),
            },
            Some(Role::Away(_, g)) => Activity::Away(g.id()),
            Some(Role::HasStopped(..)) => Activity::HasStopped,
        }
    }

    /// Begins a move, and interrupts it before its step of this number. `false`: it is over, or is none that can be
    /// interrupted.
    ///
    /// # Panics
    /// If the kernel does.
    pub fn make_in_part(&mut self, this: Move, step: u32) -> bool {
        let before = self.paused.len();
        self.threads.interrupt(step);
        let (sched, waker) = (Arc::clone(&self.sched), self.waker.clone());
        let body: Box<dyn FnOnce() + Send> = match this.what {
            What::Submit => {
                let number = self.fresh(1)[0];
                Box::new(move || sched.submit(g(number)).expect("it is open"))
            }
            What::ReadyBound(m) => Box::new(move || sched.ready_bound(MId(m as u32))),
            What::Arrive(gs) => {
                let gs = self.fresh(gs);
                self.witness.book().arrived.push_back(gs);
                Box::new(move || waker.wake())
            }
            What::Timer(None, after) => {
                let (when, g) = (Stepped::now() + after, self.fresh(1)[0]);
                self.witness.book().timers.push((when, g));
                Box::new(move || waker.announce(when))
            }
            What::Await(None, true) => {
                self.witness.book().is_awaited = true;
                Box::new(move || waker.announce(NEVER))
            }
            What::Tick(pause) => {
                Stepped::pass(pause);
                let mut watch = std::mem::replace(&mut self.watch, sched.watch());
                Box::new(move || {
                    let _ = sched.tick(&mut watch, Stepped::now());
                })
            }
            _ => {
                self.make(this);
                self.threads.interrupt(0);
                return self.paused.len() > before;
            }
        };
        self.witness.book().events.clear();
        Stepped::draw_by(this.seed);
        if let Halt::Paused(thread) = self.threads.play(body) {
            self.paused.push_back((None, thread));
        }
        self.paused.len() > before
    }

    /// Of those that were interrupted the first goes on, until its move is over.
    ///
    /// # Panics
    /// If none was.
    pub fn finish(&mut self) {
        let (who, thread) = self.paused.pop_front().expect("a party was interrupted");
        self.witness.book().events.clear();
        let halt = self.threads.go_on(thread);
        match (who, halt) {
            (Some(who), halt) => self.after(who, halt),
            (None, halt) => assert_eq!(halt, Halt::Over, "a thread from outside never sleeps"),
        }
    }

    /// What a party that can do anything does next, until none can. `None`: none can.
    pub fn goes_on(&self) -> Option<What> {
        let outside = (0..OUTSIDERS).map(Who::Outsider).chain([Who::Closer]);
        let everybody = (0..self.ms).map(Who::M).chain(outside);
        everybody.into_iter().find_map(|who| match (self.activity(who), who) {
            (Activity::Suspended | Activity::Asleep(true), _) => Some(What::GoOn(who)),
            (Activity::HasStopped, _) => Some(What::Start(who)),
            (Activity::Runs { .. }, Who::M(m)) => Some(What::Next(m)),
            (Activity::Away(_), Who::M(m)) => Some(What::ExitBound(m)),
            _ => None,
        })
    }

    /// What is wrong, when no party can go on by itself. `has_closed`: it was closed.
    pub fn fault(&self, has_closed: bool) -> Option<String> {
        let snapshot = self.sched.snapshot();
        let ms: Vec<Activity> = (0..self.ms).map(|m| self.activity(Who::M(m))).collect();
        let outside = (0..OUTSIDERS).map(Who::Outsider).chain([Who::Closer]);
        if let Some(who) = outside.into_iter().find(|&who| self.activity(who) != Activity::Nowhere) {
            return Some(format!("{who:?} waits for ever: {snapshot:?}"));
        }
        if has_closed {
            return ms.iter().any(|parker| *parker != Activity::Nowhere).then(|| "an M has not ended".to_owned());
        }
        let book = self.witness.book();
        let deadline = book.timers.iter().map(|(when, _)| *when).min().unwrap_or(NEVER);
        let until = book.until.filter(|_| snapshot.polling > 0);
        let is_missing = (deadline != NEVER || book.is_awaited) && until.is_none_or(|until| until > deadline);
        // An M that waits in the poller until now comes back by itself.
        let comes_back = until.is_some_and(|until| until <= Stepped::now());
        let is_due = deadline <= Stepped::now() && !comes_back || !book.arrived.is_empty();
        drop(book);
        let can_have_m = self.sched.can_start_m() || snapshot.polling > 0;
        let asleep = ms.iter().filter(|parker| **parker == Activity::Asleep(false)).count();
        match snapshot.violation() {
            // If no M is available, work waits.
            Some(why) if can_have_m || snapshot.idle_ps + snapshot.held != snapshot.procs => {
                Some(format!("{why}: {snapshot:?}"))
            }
            _ if asleep != snapshot.sleeping + snapshot.bound + snapshot.polling => {
                Some(format!("{asleep} sleep, not all for a reason: {snapshot:?}"))
            }
            _ if is_due && snapshot.idle_ps > 0 && can_have_m => Some(format!("what is due is left: {snapshot:?}")),
            _ if is_missing && can_have_m => Some(format!("no M waits in the poller, or too long: {snapshot:?}")),
            _ => None,
        }
    }

    /// What is to be seen of it after the last move.
    pub fn seen_now(&self) -> Observed {
        let outside = (0..OUTSIDERS).map(Who::Outsider).chain([Who::Closer, Who::Monitor]);
        let events = self.witness.book().events.clone();
        Observed {
            events,
            ms: (0..self.ms).map(|m| self.activity(Who::M(m))).collect(),
            outside: outside.map(|who| self.activity(who)).collect(),
            can_start_m: self.sched.can_start_m(),
            snapshot: self.sched.snapshot(),
        }
    }
}

fn name(who: Who) -> String {
    match who {
        Who::M(m) => format!("spinpark-m{m}"),
        _ => "spinpark-sysmon".to_owned(),
    }
}
