//! The Ms that look for work, as a sequential program. One thread alone is told exactly what must follow. Of several, who is counted and what
//! is queued may be seen late by each: what they say was done is counted, and what must not come of it is said at the end.

use super::{Conserved, From, Is, Op, Role, Setup, Was, table};
use crate::room::{CallId, Does, Effects, Spec};

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    /// How many Gs are queued, Ps are idle, and Ms are started and have yet to look. A call counts as a whole: on the way there may be less
    /// than none.
    queued: i32,
    idle: i32,
    started: i32,
    ms: Vec<Is>,
    /// There is one thread, and this is so.
    alone: Option<Exact>,
    was: Vec<Was>,
}

/// What one thread knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Exact {
    ring: i32,
    /// How many are counted as spinning, and is one more asked for?
    count: usize,
    asked: bool,
    procs: usize,
    at_most: usize,
    /// A source says that it has work, and has none.
    is_misled: bool,
}

impl Known {
    /// This was done by thread `me`.
    fn counts(&mut self, me: usize, was: Was) {
        match was {
            Was::Began => (self.started, self.ms[me]) = (self.started - 1, Is::Looks),
            Was::Put => self.queued += 1,
            Was::Got(is_any) => self.idle -= i32::from(is_any),
            Was::Started => self.started += 1,
            Was::Spins | Was::Called | Was::Again => self.ms[me] = Is::Looks,
            Was::Found(from) => {
                self.queued -= i32::from(from != From::Elsewhere);
                self.ms[me] = Is::Runs;
            }
            Was::Idled => self.idle += 1,
            Was::Taken => self.idle -= 1,
            Was::Asleep => self.ms[me] = Is::Sleeps,
            Was::CameBack(true) => {
                self.idle -= 1;
                self.ms[me] = if self.ms[me] == Is::Outside { Is::Runs } else { self.ms[me] };
            }
            Was::CameBack(false) => self.queued += 1,
            Was::AnyWork(_) | Was::AnyIdle(_) | Was::Counted(_) | Was::Is(..) | Was::May(_) => {}
        }
        self.was.push(was);
    }

    fn does(&mut self, was: Was) {
        self.counts(0, was);
    }

    fn exact(&mut self) -> &mut Exact {
        self.alone.as_mut().expect("there is one thread")
    }

    fn becomes_spinning(&mut self, was: Was) {
        let exact = self.exact();
        (exact.count, exact.asked) = (exact.count + 1, false);
        self.does(was);
    }

    /// Asks for an idle P.
    fn gets_p(&mut self) -> bool {
        let (is_any, count) = (self.idle > 0, self.exact().count);
        self.does(Was::Counted(count));
        self.does(Was::Got(is_any));
        self.exact().asked |= !is_any;
        is_any
    }

    /// Asks for an idle P, for an M that is started and counted.
    fn starts(&mut self) {
        self.exact().count += 1;
        if self.gets_p() {
            return self.does(Was::Started);
        }
        self.exact().count -= 1;
    }

    fn sees_work(&mut self) -> bool {
        let is_any = self.queued > 0 || self.exact().is_misled;
        self.does(Was::AnyWork(is_any));
        is_any
    }

    fn wakes(&mut self) {
        if self.exact().count > 0 {
            return;
        }
        if self.exact().asked {
            let is_any = self.idle > 0;
            self.does(Was::AnyIdle(is_any));
            if !is_any {
                return;
            }
        }
        self.starts();
    }

    fn submits(&mut self) {
        self.does(Was::Put);
        match self.idle > 0 {
            true if self.exact().count == 0 => self.starts(),
            true => {}
            false => self.wakes(),
        }
    }

    fn finds(&mut self, from: From) {
        let looks = self.ms[0] == Is::Looks;
        self.does(Was::Found(from));
        if !looks {
            return;
        }
        self.exact().count -= 1;
        if self.exact().count > 0 {
            return;
        }
        if self.sees_work() {
            self.wakes();
        }
    }

    fn idles(&mut self, loses: bool) {
        self.does(Was::Idled);
        if loses {
            self.does(Was::Taken);
        }
    }

    fn finds_runnable(&mut self, loses: bool) {
        if self.exact().ring > 0 {
            self.exact().ring -= 1;
            return self.finds(From::Own);
        }
        if self.queued > 0 {
            self.exact().ring = self.queued - 1;
            return self.finds(From::Global);
        }
        let busy = self.exact().procs - self.idle as usize;
        let count = self.exact().count;
        if self.ms[0] == Is::Runs && count < self.exact().at_most && 2 * count < busy {
            self.becomes_spinning(Was::Spins);
        }
        if self.ms[0] == Is::Runs {
            if self.exact().asked {
                return self.becomes_spinning(Was::Called);
            }
            if self.idle == 0 && self.exact().count == 0 {
                self.exact().count = 1;
                return self.does(Was::Called);
            }
            self.idles(loses);
            return self.does(Was::Asleep);
        }
        self.idles(loses);
        self.exact().count -= 1;
        if self.sees_work() && self.gets_p() {
            return self.becomes_spinning(Was::Again);
        }
        self.does(Was::Asleep);
    }

    /// What one thread alone does.
    fn does_alone(&mut self, op: Op) {
        if self.ms[0] == Is::Sleeps && self.started > 0 {
            self.does(Was::Began);
        }
        match (self.ms[0], op) {
            (Is::Runs, Op::Ready) => {
                self.exact().ring += 1;
                self.does(Was::Put);
                self.wakes();
            }
            (Is::Runs, Op::Submit) => self.submits(),
            (Is::Runs, Op::Wakep) => self.wakes(),
            (Is::Runs | Is::Looks, Op::Find | Op::FindAndLose) => self.finds_runnable(op == Op::FindAndLose),
            (Is::Looks, Op::Finds(n)) => {
                self.exact().ring += n as i32 - 1;
                (1..n).for_each(|_| self.does(Was::Put));
                self.finds(From::Elsewhere);
            }
            (_, Op::MaySpin) => {
                let count = self.exact().count;
                self.does(Was::May(table(|procs, idle, at_most| {
                    count == 0 || count < at_most && 2 * count < procs - idle
                })));
            }
            _ => {}
        }
        let Exact { count, asked, .. } = *self.exact();
        self.does(Was::Is(count, asked));
    }
}

impl Spec<Conserved> for Known {
    fn new(setup: Setup, roles: &[Role]) -> Self {
        let idle = setup.idle(roles);
        let is_misled = roles.contains(&Role::Alone(true));
        let (procs, at_most) = (1 + idle as usize, setup.at_most());
        let exact = Exact { ring: 0, count: 0, asked: setup.asked, procs, at_most, is_misled };
        Known {
            queued: setup.global as i32,
            idle: idle as i32,
            started: 0,
            ms: roles.iter().map(|role| Is::of(*role)).collect(),
            alone: roles[0].is_alone().then_some(exact),
            was: Vec::new(),
        }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Vec<Was>>, _: &mut Effects) -> Option<Vec<Was>> {
        let Does::Begin(op, _) = does else { return None };
        match self.alone {
            Some(_) => self.does_alone(op),
            None => answer.into_iter().flatten().for_each(|was| self.counts(me.thread, *was)),
        }
        Some(std::mem::take(&mut self.was))
    }

    fn at_rest(&self) -> Result<(), &'static str> {
        let looks = self.started > 0 || self.ms.contains(&Is::Looks);
        match () {
            () if self.queued < 0 || self.idle < 0 || self.started < 0 => Err("more was taken than there was"),
            () if self.started > 1 => Err("two Ms were started, and neither has begun to look"),
            () if self.queued > 0 && self.idle > 0 && !looks => Err("a G waits and a P is idle, but no M looks"),
            () => Ok(()),
        }
    }
}
