//! The whole scheduler as a sequential program: what its calls answer.

use super::{Answer, Does as OfG, Op, Role, Scheduled, Setup};
use crate::room::{CallId, Does, Effects, Spec};

/// What is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    procs: usize,
    /// May a G keep its P for ever? There is another, and an M for it.
    may_keep: bool,
    is_closed: bool,
    /// How many Gs were accepted, those that they ready among them.
    accepted: usize,
    /// How many of them wait until they are readied, or go on for ever.
    waiting: usize,
}

impl Spec<Scheduled> for Known {
    fn new(setup: Setup, _: &[Role]) -> Self {
        Known { procs: setup.procs, may_keep: setup.may_keep(), is_closed: false, accepted: 0, waiting: 0 }
    }
    fn step(&mut self, _: CallId, does: Does<Op>, answer: Option<&Answer>, _: &mut Effects) -> Option<Answer> {
        let Does::Begin(op, _) = does else { unreachable!("there are no waits") };
        Some(match op {
            Op::Submit(_) | Op::SubmitTwo(_) if self.is_closed => Answer::Submitted(false),
            Op::Submit(of_g) => {
                self.accepted += 1 + usize::from(matches!(of_g, OfG::Awaits | OfG::AwaitsParked));
                let waits = matches!(of_g, OfG::Parks | OfG::CallsLong) || of_g == OfG::Keeps && self.may_keep;
                self.waiting += usize::from(waits);
                Answer::Submitted(true)
            }
            Op::SubmitTwo(_) => {
                self.accepted += 2;
                Answer::Submitted(true)
            }
            Op::Stop | Op::Tick => Answer::Done,
            Op::Resize => {
                self.procs = super::MAX_PROCS + 1 - self.procs;
                Answer::Procs(self.procs)
            }
            Op::ForEachP => Answer::Ran(vec![1; self.procs]),
            Op::Ready => {
                self.waiting = self.waiting.checked_sub(1)?;
                Answer::Done
            }
            Op::Close => {
                (self.is_closed, self.waiting) = (true, 0);
                match answer {
                    Some(Answer::Back(n)) if *n <= self.accepted => Answer::Back(*n),
                    _ => Answer::Back(0),
                }
            }
        })
    }
    fn held(&self) -> usize {
        self.waiting
    }
}
