//! Ps that are handed on, as a sequential program: each step of a call is one hold of the lock.

use super::{Answer, For, HandedPs, Op, Role, Table, Was, p_of};
use crate::room::{CallId, Does, Effects, Spec};

/// What is known of the Ms, and of what is under the lock.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    table: Table,
    ms: Vec<OneM>,
}

/// What is known of an M, by the number of its thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct OneM {
    p: Option<u32>,
    /// What it is woken for, and by which call.
    nextp: Option<(For, CallId)>,
    has_ended: bool,
    at: At,
    /// What its call was answered so far.
    was: Vec<Was>,
}

/// What a call does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    /// It begins.
    Start,
    /// It lists its M as sleeping.
    Lists,
    /// Its M sleeps.
    Sleeps,
    /// It looks for an M.
    Gives(For),
    /// It starts a thread for this M.
    Starts(u32, For),
    /// No M was available; this number is free again.
    Refused(Option<u32>, For),
    /// It returns.
    Over,
}

impl Known {
    /// M `m` is woken by `me`.
    fn wakes(&mut self, me: CallId, m: u32, nextp: For) -> At {
        self.ms[m as usize].nextp = Some((nextp, me));
        At::Over
    }

    /// Before the first hold of the lock, or up to its end.
    fn starts(&mut self, me: CallId, op: Op) -> At {
        let p = if op == Op::Wakep { self.table.idle.pop() } else { self.ms[me.thread].p.take() };
        match (op, p) {
            (Op::Begin, _) => At::Sleeps,
            (Op::Stopm | Op::StopmForNothing, p) => {
                self.table.idle.extend(p);
                At::Lists
            }
            (Op::GiveBack, Some(p)) => At::Refused(None, For::P(p, false)),
            (_, Some(p)) => At::Gives(For::P(p, op == Op::Wakep)),
            (_, None) => At::Over,
        }
    }

    /// One hold of the lock: what it is answered, and what the call does next.
    fn next(&mut self, me: CallId, at: At) -> (Was, At) {
        let table = &mut self.table;
        match at {
            At::Lists => match table.idle.last() {
                Some(&p) if table.asked => {
                    (table.asked, _) = (false, table.idle.pop());
                    (Was::Instead, self.wakes(me, me.thread as u32, For::P(p, true)))
                }
                _ => {
                    table.sleeping.push(me.thread as u32);
                    (Was::Listed, At::Sleeps)
                }
            },
            At::Gives(nextp) => {
                if let Some(m) = table.sleeping.pop() {
                    return (Was::Sleeping(m), self.wakes(me, m, nextp));
                }
                table
                    .unused
                    .pop()
                    .map_or((Was::None, At::Refused(None, nextp)), |m| (Was::New(m), At::Starts(m, nextp)))
            }
            At::Starts(m, nextp) if table.threads > 0 => {
                table.threads -= 1;
                (Was::Started, self.wakes(me, m, nextp))
            }
            At::Starts(m, nextp) => (Was::NoThread, At::Refused(Some(m), nextp)),
            At::Refused(m, nextp) => {
                table.unused.extend(m);
                if let Some(late) = table.sleeping.pop() {
                    return (Was::Late(late), self.wakes(me, late, nextp));
                }
                table.idle.extend(if let For::P(p, _) = nextp { Some(p) } else { None });
                table.asked = true;
                (Was::Idled, At::Over)
            }
            At::Start | At::Sleeps | At::Over => unreachable!("it holds no lock"),
        }
    }

    /// The next hold of the lock.
    fn goes_on(&mut self, me: CallId, op: Op) {
        let holds_a_p = self.ms[me.thread].p.is_some();
        let mut at = self.ms[me.thread].at;
        let mut is_held = false;
        if at == At::Start {
            at = self.starts(me, op);
            is_held = op == Op::Wakep || matches!(op, Op::Stopm | Op::StopmForNothing) && holds_a_p;
        }
        if !is_held && !matches!(at, At::Sleeps | At::Over) {
            let (was, next) = self.next(me, at);
            self.ms[me.thread].was.push(was);
            at = next;
        }
        self.ms[me.thread].at = at;
    }

    /// Has the call no steps?
    fn is_one_step(&self, me: CallId, op: Op) -> bool {
        matches!(op, Op::Look | Op::End) || self.ms[me.thread].has_ended
    }

    /// The call is over.
    fn ends(&mut self, me: CallId, op: Op, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let m = &mut self.ms[me.thread];
        if !op.gets() {
            m.at = At::Start;
            return Some(Answer::Gave(std::mem::take(&mut m.was)));
        }
        let (nextp, by) = m.nextp.take()?;
        let may_be_early = op == Op::StopmForNothing && m.at == At::Sleeps;
        let is_early = may_be_early && matches!(answer, Some(Answer::Got(.., true)));
        m.at = At::Start;
        effects.sees.push(by);
        match nextp {
            For::P(p, _) => m.p = Some(p),
            For::Exit => m.has_ended = true,
        }
        Some(Answer::Got(std::mem::take(&mut m.was), nextp, is_early))
    }
}

impl Spec<HandedPs> for Known {
    fn new(setup: (usize, usize), roles: &[Role]) -> Self {
        let m = |role: &Role| OneM { p: p_of(*role), nextp: None, has_ended: false, at: At::Start, was: Vec::new() };
        Known { table: Table::new(setup, roles).0, ms: roles.iter().map(m).collect() }
    }

    fn step_before(&self, me: CallId, does: Does<Op>, _: Option<&Answer>) -> Option<Self> {
        let Does::Begin(op, _) = does else { return None };
        if self.is_one_step(me, op) || self.ms[me.thread].at == At::Sleeps {
            return None;
        }
        let mut next = self.clone();
        next.goes_on(me, op);
        (next.ms[me.thread].at != At::Over).then_some(next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, _) = does else { return None };
        match op {
            Op::Look => Some(Answer::Is(self.table.clone())),
            Op::End => {
                let m = self.table.sleeping.pop();
                m.into_iter().for_each(|m| _ = self.wakes(me, m, For::Exit));
                Some(Answer::Gave(vec![m.map_or(Was::None, Was::Sleeping)]))
            }
            _ if self.is_one_step(me, op) => Some(Answer::Nothing),
            _ => {
                if self.ms[me.thread].at != At::Sleeps {
                    self.goes_on(me, op);
                }
                self.ends(me, op, answer, effects)
            }
        }
    }
}
