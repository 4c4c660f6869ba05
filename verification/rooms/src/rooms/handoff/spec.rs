//! Ps that are handed on, as a sequential program: each step of a call is one hold of the lock. What a thread asks without the lock is a
//! hint, and so is whether an M is counted as spinning: what must not come of it is said at the end.

use super::{Answer, HandedOff, Op, Role, SOURCES, Setup, Table, Was, p_of};
use crate::room::{CallId, Does, Effects, Spec};

/// What there is, and how many Ms were started.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    table: Table,
    /// The idle Ps, the last one last.
    idle: Vec<u32>,
    in_ring: usize,
    started: usize,
    /// Of each thread, its P, and whether its call has queued a G.
    threads: Vec<(Option<u32>, bool)>,
}

impl Known {
    fn starts(&mut self, p: u32, is_counted: bool) -> Was {
        self.started += 1;
        self.table.spinning += usize::from(is_counted);
        Was::Started(p, is_counted)
    }

    /// A source that has a G is the last that is asked; else it is settled once what becomes of the P.
    fn hands_off(&mut self, p: u32, was: &[Was]) -> Vec<Was> {
        let asked = |n: usize| Was::Asked(SOURCES[n], was.get(n) == Some(&Was::Asked(SOURCES[n], true)));
        let found = (0..SOURCES.len()).find(|&n| asked(n) == Was::Asked(SOURCES[n], true));
        let last = found.unwrap_or(SOURCES.len() - 1);
        let mut is: Vec<Was> = (0..=last).map(asked).collect();
        if found.is_some() {
            is.push(self.starts(p, false));
            return is;
        }
        match was.get(is.len()) {
            _ if self.table.is_stopping => {
                self.table.held += 1;
                is.push(Was::Held);
            }
            Some(&Was::Back(is_counted)) => {
                self.table.asked &= !is_counted;
                is.extend([Was::Back(is_counted), self.starts(p, is_counted)]);
            }
            _ => {
                self.idle.push(p);
                is.push(Was::Idled);
            }
        }
        is
    }

    /// A G is queued, or may be; another M is counted, or this one is and takes an idle P.
    fn wakes(&mut self, was: &[Was]) -> Vec<Was> {
        if was.is_empty() {
            return Vec::new();
        }
        let Some(p) = self.idle.pop() else {
            self.table.asked = true;
            return vec![Was::NoP];
        };
        vec![Was::Took(p), self.starts(p, true)]
    }

    fn takes_batch(&mut self) -> Vec<Was> {
        if self.in_ring > 0 {
            return Vec::new();
        }
        let taken = std::mem::take(&mut self.table.queued);
        self.in_ring = taken.saturating_sub(1);
        vec![Was::Gs(taken)]
    }
}

impl Spec<HandedOff> for Known {
    fn new(Setup { idle, queued, .. }: Setup, roles: &[Role]) -> Self {
        let table = Table { queued: queued as usize, ..Table::default() };
        let threads = roles.iter().map(|role| (p_of(*role), false)).collect();
        Known { table, idle: (2..2 + idle).collect(), in_ring: 0, started: 0, threads }
    }

    /// A G is queued before an M is woken.
    fn step_before(&self, me: CallId, does: Does<Op>, _: Option<&Answer>) -> Option<Self> {
        let is_next = matches!(does, Does::Begin(Op::Submit, _)) && !self.threads[me.thread].1;
        is_next.then(|| {
            let mut next = self.clone();
            next.threads[me.thread].1 = true;
            next.table.queued += 1;
            next
        })
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Answer>, _: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, _) = does else { return None };
        let was: &[Was] = if let Some(Answer::Gave(was)) = answer { was } else { &[] };
        let (p, has_queued) = &mut self.threads[me.thread];
        *has_queued = false;
        Some(Answer::Gave(match op {
            Op::Look => return Some(Answer::Is(Table { idle: self.idle.len(), ..self.table.clone() })),
            Op::Handoffp => p.take().map(|p| self.hands_off(p, was)).unwrap_or_default(),
            Op::Exitsyscall => {
                let idle = self.idle.pop();
                *p = idle.or(*p);
                self.table.queued += usize::from(idle.is_none());
                vec![idle.map_or(Was::NoP, Was::Took)]
            }
            Op::TakeBatch => self.takes_batch(),
            Op::Ready => {
                self.in_ring += 1;
                self.wakes(was)
            }
            Op::Submit | Op::Wakep => self.wakes(was),
            Op::Stop => {
                self.table.is_stopping = true;
                self.table.held += std::mem::take(&mut self.idle).len();
                Vec::new()
            }
        }))
    }

    fn at_rest(&self) -> Result<(), &'static str> {
        let waits = self.table.queued + self.in_ring > 0;
        match self.idle.is_empty() || self.started > 0 || !waits {
            true => Ok(()),
            false => Err("a G waits beside an idle P, and no M was started"),
        }
    }
}
