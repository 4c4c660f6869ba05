//! What is under the scheduler's lock, as bound Gs see it: each step of a call is one hold of the lock.

use super::{Hand, Looked, Op, Role, Setup, WORKER, Was, m_of};
use kernel::protocol::locked::{Wake, Woken};

/// Which Gs wait, and which of them for ever: the kernel's, or the specification's.
pub(super) trait Waits {
    /// This M's G waits. Or was it readied already?
    fn wait(&mut self, m: u32, wake: Wake) -> bool;
    /// This M has released its P. Does it still wait?
    fn rest(&mut self, m: u32) -> bool;
    /// What its G waits for has happened. Does it wait?
    fn ready(&mut self, m: u32, why: Woken) -> bool;
    /// The M ends.
    fn forget(&mut self, m: u32);
    /// Which Gs wait.
    fn looks(&self) -> Looked;
    /// Was a source asked, and which M is told what?
    fn is_told(&self, beside: &Beside) -> (bool, Option<(u32, Woken)>);
}

/// The Ps and queues.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Beside {
    pub(super) setup: Setup,
    pub(super) alive: Vec<u32>,
    /// Of these, those with nothing to do.
    pub(super) sleeping: Vec<u32>,
    pub(super) idle: Vec<u32>,
    /// Ps that are held while the world is stopped.
    pub(super) held: Vec<u32>,
    is_stopping: bool,
    /// Ms whose tickets are in the global queue.
    pub(super) tickets: Vec<u32>,
    /// So many Gs are in it that will ready M0's.
    pub(super) queued: usize,
    /// And in the ring of each P.
    rings: [usize; 2],
}

/// All that is under the lock.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Central<B> {
    pub(super) beside: Beside,
    pub(super) bound: B,
    /// What happened in this hold.
    pub(super) said: Vec<Was>,
}

/// Which hold of the lock is a call's next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// Its first.
    Start,
    /// Its first with a P: it sleeps until then.
    Back,
    /// The M gives up its P, and will rest.
    Releases,
    /// It rests.
    Rests,
    /// The one after its wait: it sleeps until then.
    Rested,
    /// The worker's, when it has a P: it sleeps until then.
    Slept,
    /// The worker gives up its P.
    Idles,
    /// There is none.
    Over,
}

impl At {
    /// Does its M sleep until it is given a P?
    pub(super) fn is_asleep(self) -> bool {
        matches!(self, At::Back | At::Rested | At::Slept)
    }
}

impl<B: Waits> Central<B> {
    pub(super) fn new(setup: Setup, roles: &[Role], bound: B) -> Self {
        let alive = roles.iter().filter_map(|role| m_of(*role)).collect();
        let beside = Beside {
            setup,
            alive,
            sleeping: Vec::new(),
            idle: (1..setup.ps).collect(),
            held: Vec::new(),
            is_stopping: false,
            tickets: Vec::new(),
            queued: 0,
            rings: [0; 2],
        };
        Central { beside, bound, said: Vec::new() }
    }

    fn gives(&mut self, m: u32, p: u32) {
        self.said.push(Was::Gave(m, p));
    }

    /// The P has no owner now.
    fn releasep(&mut self, p: u32) {
        let Beside { is_stopping, held, tickets, sleeping, queued, rings, idle, .. } = &mut self.beside;
        if *is_stopping {
            return held.push(p);
        }
        let ring = &mut rings[p as usize];
        let next = match tickets.is_empty() {
            false => Some(tickets.remove(0)),
            true => sleeping.pop_if(|_| *queued + *ring > 0),
        };
        match next {
            Some(m) => self.gives(m, p),
            None => {
                // There is no M for them, so an idle P would keep them.
                *queued += std::mem::take(ring);
                idle.push(p);
            }
        }
        self.checkdead();
    }

    /// The M's G may go on.
    fn send_for(&mut self, m: u32) {
        match self.beside.idle.pop() {
            Some(p) => self.gives(m, p),
            None => {
                self.beside.tickets.push(m);
                self.said.push(Was::Ticket(m));
            }
        }
    }

    fn ready(&mut self, m: u32, why: Woken) {
        if self.bound.ready(m, why) {
            self.send_for(m);
        }
    }

    /// An M sleeps, rests, ends, or releases its P: was it the last that could run a G?
    fn checkdead(&mut self) {
        let (asks, told) = self.bound.is_told(&self.beside);
        self.said.extend(asks.then_some(Was::Asked));
        if let Some((m, why)) = told {
            self.ready(m, why);
        }
    }

    /// One hold of the lock, of this call; and what its next is.
    pub(super) fn holds(&mut self, hand: &mut Hand, op: Op, at: At) -> At {
        match at {
            At::Start if hand.needs_p(op) => {
                let m = hand.me();
                if !self.beside.alive.contains(&m) {
                    self.beside.alive.push(m);
                }
                self.send_for(m);
                return At::Back;
            }
            At::Start | At::Back => return self.begins(hand, op),
            At::Releases => {
                hand.p.take().into_iter().for_each(|p| self.releasep(p));
                return At::Rests;
            }
            At::Rests => {
                let rests = self.bound.rest(hand.me());
                self.said.push(Was::Rests(rests));
                if rests {
                    self.checkdead();
                }
                return At::Rested;
            }
            At::Rested => self.says_why(hand),
            At::Slept => {
                let ring = &mut self.beside.rings[hand.its_p()];
                let queue = if *ring > 0 { ring } else { &mut self.beside.queued };
                *queue -= 1;
                self.ready(0, Woken::Ready);
                return At::Idles;
            }
            At::Idles => hand.p.take().into_iter().for_each(|p| self.releasep(p)),
            At::Over => unreachable!("it is over"),
        }
        At::Over
    }

    fn waits(&mut self, hand: &Hand, wake: Wake) -> At {
        let waits = self.bound.wait(hand.me(), wake);
        self.said.push(Was::Waits(waits));
        if waits {
            return At::Releases;
        }
        self.says_why(hand);
        At::Over
    }

    fn says_why(&mut self, hand: &Hand) {
        let why = self.bound.looks().woken[hand.me() as usize];
        self.said.push(Was::Woken(why));
    }

    fn begins(&mut self, hand: &mut Hand, op: Op) -> At {
        match op {
            Op::Wait => return self.waits(hand, Wake::Inside),
            Op::WaitOutside => return self.waits(hand, Wake::Outside),
            Op::Work => {
                match self.beside.idle.pop_if(|_| self.beside.queued > 0) {
                    Some(p) => self.gives(WORKER, p),
                    None => {
                        self.beside.sleeping.push(WORKER);
                        self.checkdead();
                    }
                }
                return At::Slept;
            }
            Op::Ready(m) => self.ready(m, Woken::Ready),
            Op::Go => self.beside.rings[hand.its_p()] += 1,
            Op::Entersyscall | Op::End => {
                if op == Op::End {
                    self.beside.alive.retain(|m| Some(*m) != hand.m);
                    self.bound.forget(hand.me());
                }
                match hand.p.take() {
                    Some(p) => self.releasep(p),
                    None => self.checkdead(),
                }
            }
            Op::Submit => {
                self.beside.queued += 1;
                self.wakep();
            }
            Op::Stop => {
                self.beside.is_stopping = true;
                self.beside.held.append(&mut self.beside.idle);
            }
            Op::Start => {
                self.beside.is_stopping = false;
                while let Some(p) = self.beside.held.pop() {
                    self.releasep(p);
                }
            }
            Op::Close => self.bound.looks().waiting.into_iter().for_each(|m| self.ready(m, Woken::Closed)),
            Op::Look => self.said.push(Was::Is(self.bound.looks())),
        }
        At::Over
    }

    /// If a P is idle, the worker runs what is queued. If it is busy, and there is no other, no M comes.
    fn wakep(&mut self) {
        let Some(p) = self.beside.idle.pop() else { return };
        match self.beside.sleeping.pop() {
            Some(m) => self.gives(m, p),
            None => {
                self.beside.idle.push(p);
                self.checkdead();
            }
        }
    }
}
