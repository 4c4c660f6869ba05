//! A world that is stopped and started, as a sequential program: each step of a call is one exchange of a word, or one hold of the lock. What
//! an M asks without either, whether every P is wanted, is a hint: what must not come of it is said at the end.

use super::{Op, Role, SPARE, StoppedWorlds, Was, p_of, procs};
use crate::room::{CallId, Does, Effects, Spec};
use kernel::protocol::syscall::Way;
use std::collections::VecDeque;

/// What is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    /// Of each P, the M that has entered a system call, and has left it there.
    words: Vec<Option<usize>>,
    idle: Vec<u32>,
    spare: Vec<u32>,
    procs: u32,
    /// The stoppers, in order.
    line: VecDeque<usize>,
    /// While the world is to stop.
    held: Option<Vec<u32>>,
    /// While a function is to run: under which Ps it has yet to begin, and under how many to end.
    pending: Option<(Vec<u32>, u32)>,
    threads: Vec<Thread>,
    /// Of a thread that asks as bits: what is wanted.
    bits: [bool; 3],
    /// Of one that counts: under which Ps the function has begun, and under how many it has run.
    counts: ([bool; 3], usize),
}

/// Of a thread, what it has, and where its call stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Thread {
    p: Option<u32>,
    /// The P that its M has left in its word.
    left: Option<u32>,
    at: At,
    /// Where it goes on when a P is released, or a function has run.
    then: At,
    /// Ps under which it has to run the function; and whether it has looked for those in system calls.
    todo: VecDeque<u32>,
    has_looked: bool,
    was: Vec<Was>,
}

/// What a call does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    /// It begins.
    Start,
    /// Takes the P that it has just left.
    GivesUp,
    /// Comes to a scheduling point, and runs a G.
    Attends,
    /// Releases this P.
    Releases(u32),
    /// Has run the function under this P.
    Ran(u32),
    /// Takes its old P out of any call.
    TakesBack,
    /// Takes an idle P.
    Gets,
    /// Is in the line of stoppers.
    InLine,
    /// Looks at this word.
    Looks(usize),
    /// Runs the function under the next P.
    Passes,
    /// Waits for all Ps.
    Waits,
    /// It returns.
    Over,
}

impl Known {
    fn says(&mut self, me: usize, was: Was) {
        self.threads[me].was.push(was);
    }

    fn takes(&mut self, p: u32, of: Option<usize>) -> bool {
        let word = &mut self.words[p as usize];
        let is_there = word.is_some() && of.is_none_or(|m| *word == Some(m));
        *word = word.filter(|_| !is_there);
        is_there
    }

    /// Holds `p` for the stopper. Is it the last?
    fn holds(&mut self, me: usize, p: u32) -> bool {
        let held = self.held.as_mut().expect("the world is to stop");
        held.push(p);
        self.threads[me].was.push(Was::Held(p));
        held.len() as u32 == self.procs
    }

    /// The function begins under `p`, if it has yet to.
    fn begins_under(&mut self, me: usize, p: u32) -> bool {
        let Some((pending, _)) = &mut self.pending else { return false };
        let is_pending = pending.contains(&p);
        pending.retain(|other| *other != p);
        self.threads[me].was.extend(is_pending.then_some(Was::Begins(p)));
        is_pending
    }

    fn begins(&mut self, me: usize, op: Op, answer: Option<&Vec<Was>>) -> Option<At> {
        let is_wanted = answer.is_some_and(|was| was.contains(&Was::Wanted(true)));
        let thread = &mut self.threads[me];
        thread.then = At::Over;
        let was = match op {
            Op::Run if thread.p.is_none() => {
                thread.p = self.idle.pop();
                thread.was.extend(thread.p.map(Was::Got));
                return Some(if thread.p.is_some() { At::Attends } else { At::Over });
            }
            Op::Run => return self.goes_on(me, op, answer, At::Attends),
            Op::Idle => {
                let Some(p) = thread.p.take() else { return Some(At::Over) };
                return self.goes_on(me, op, answer, At::Releases(p));
            }
            Op::Entersyscall => {
                thread.left = thread.p.take();
                let Some(p) = thread.left else { return Some(At::Over) };
                self.words[p as usize] = Some(me);
                thread.was.push(Was::Wanted(is_wanted));
                return Some(if is_wanted { At::GivesUp } else { At::Over });
            }
            Op::Exitsyscall => {
                let Some(p) = thread.left.take() else { return Some(At::Over) };
                if self.takes(p, Some(me)) {
                    return Some(self.is_back(me, p, Way::Kept));
                }
                self.says(me, Was::Wanted(is_wanted));
                self.threads[me].left = Some(p);
                return Some(if is_wanted { At::Gets } else { At::TakesBack });
            }
            Op::Stop | Op::ForEachP => {
                self.line.push_back(me);
                let is_first = self.line.len() == 1;
                thread.was.push(Was::First(is_first));
                thread.then = At::InLine;
                let own = if is_first { None } else { thread.p.take() };
                return Some(own.map_or(At::InLine, At::Releases));
            }
            Op::Resize(procs) => self.resizes(procs),
            Op::Start => {
                let held = self.held.take().unwrap_or_default();
                thread.was.extend(held.iter().copied().map(Was::Idled));
                self.idle.extend(held);
                self.leaves_line()
            }
            Op::Ask(want) | Op::Done(want) => {
                self.bits[want] = op == Op::Ask(want);
                Was::Is(self.bits.contains(&true), self.bits[0] || self.bits[2], self.bits)
            }
            Op::Comes(p) => {
                let begun = self.counts.0.get_mut(p as usize);
                let begins = begun.is_some_and(|begun| !std::mem::replace(begun, true));
                Was::Came(begins, begins)
            }
            Op::Ran => {
                let (begun, ran) = &mut self.counts;
                let is_one = *ran < begun.iter().filter(|begun| **begun).count();
                *ran += usize::from(is_one);
                Was::Ended(is_one && *ran == 3, *ran == 3)
            }
        };
        self.says(me, was);
        Some(At::Over)
    }

    /// Its first stopper leaves the line.
    fn leaves_line(&mut self) -> Was {
        self.line.pop_front();
        Was::Next(self.line.front().copied())
    }

    fn resizes(&mut self, procs: u32) -> Was {
        let emptied = (procs..self.procs).rev().collect();
        let all = self.procs + self.spare.len() as u32;
        self.procs = procs;
        self.spare = (procs..all).collect();
        self.held = Some((0..procs).collect());
        Was::Resized([(0..procs).collect(), self.spare.clone(), emptied])
    }

    /// The M has `p`.
    fn is_back(&mut self, me: usize, p: u32, way: Way) -> At {
        let thread = &mut self.threads[me];
        (thread.p, thread.left) = (Some(p), None);
        thread.was.push(Was::Back(p, way));
        At::Over
    }

    /// One step, of a call that is at `at`; and what its next is. `None`: it has to wait.
    fn goes_on(&mut self, me: usize, op: Op, answer: Option<&Vec<Was>>, at: At) -> Option<At> {
        let Thread { p: own, left, then, .. } = self.threads[me];
        Some(match at {
            At::Start => return self.begins(me, op, answer),
            At::GivesUp => {
                let p = left.expect("it was left");
                if self.takes(p, Some(me)) { At::Releases(p) } else { At::Over }
            }
            At::Attends => {
                let p = own.expect("it has one");
                // Whether a function is to run is a hint.
                let is_asked = answer.is_some_and(|was| was.contains(&Was::Begins(p)));
                if is_asked && self.begins_under(me, p) {
                    return Some(At::Ran(p));
                }
                self.says(me, Was::Used(p));
                At::Over
            }
            At::Releases(p) if self.held.is_some() => {
                let first = self.line[0];
                if self.holds(me, p) {
                    self.says(me, Was::Wakes(first));
                }
                then
            }
            At::Releases(p) if self.begins_under(me, p) => At::Ran(p),
            At::Releases(p) => {
                self.idle.push(p);
                self.says(me, Was::Idled(p));
                then
            }
            At::Ran(p) => {
                let first = self.line[0];
                let (_, left) = self.pending.as_mut().expect("a function is to run");
                *left -= 1;
                if *left == 0 {
                    self.says(me, Was::Wakes(first));
                }
                if op == Op::Run {
                    self.says(me, Was::Used(p));
                    return Some(At::Over);
                }
                At::Releases(p)
            }
            At::TakesBack => {
                let p = left.expect("it was left");
                if self.takes(p, None) { self.is_back(me, p, Way::TookBack) } else { At::Gets }
            }
            At::Gets => {
                self.threads[me].left = None;
                match self.idle.pop() {
                    Some(p) => self.is_back(me, p, Way::Idle),
                    None => At::Over,
                }
            }
            At::InLine if self.line[0] != me => return None,
            At::InLine => self.asks(me, op),
            At::Looks(n) if n == self.words.len() => {
                if op == Op::Stop {
                    At::Waits
                } else {
                    At::Passes
                }
            }
            At::Looks(n) => {
                self.threads[me].then = At::Looks(n + 1);
                let p = n as u32;
                if self.takes(p, None) {
                    self.says(me, Was::Took(p));
                    if op == Op::Stop {
                        return Some(At::Releases(p));
                    }
                    self.threads[me].todo.push_back(p);
                }
                At::Looks(n + 1)
            }
            At::Passes => self.passes(me),
            At::Waits => return self.is_over(me, op),
            At::Over => At::Over,
        })
    }

    /// The first stopper says what it wants, and takes the idle Ps.
    fn asks(&mut self, me: usize, op: Op) -> At {
        let own = self.threads[me].p.take().into_iter();
        let idle = std::mem::take(&mut self.idle).into_iter();
        if op == Op::Stop {
            self.held = Some(Vec::new());
            let are_held = own.chain(idle.rev()).fold(false, |_, p| self.holds(me, p));
            self.threads[me].was.extend(are_held.then_some(Was::Wakes(me)));
            return At::Looks(0);
        }
        self.pending = Some(((0..self.procs).collect(), self.procs));
        let thread = &mut self.threads[me];
        (thread.todo, thread.has_looked) = (own.chain(idle).collect(), false);
        At::Passes
    }

    fn passes(&mut self, me: usize) -> At {
        let thread = &mut self.threads[me];
        thread.then = At::Passes;
        match thread.todo.pop_front() {
            Some(p) => At::Releases(p),
            None if std::mem::replace(&mut thread.has_looked, true) => At::Waits,
            None => At::Looks(0),
        }
    }

    /// Is every P held, or has the function run under each?
    fn is_over(&mut self, me: usize, op: Op) -> Option<At> {
        if op == Op::Stop {
            let are_held = self.held.as_ref().is_some_and(|held| held.len() as u32 == self.procs);
            return are_held.then_some(At::Over);
        }
        self.pending.take_if(|(_, left)| *left == 0)?;
        let was = self.leaves_line();
        self.says(me, was);
        Some(At::Over)
    }

    /// The next step of this call, if it has not to wait.
    fn steps(&mut self, me: CallId, op: Op, answer: Option<&Vec<Was>>) -> Option<At> {
        let at = self.goes_on(me.thread, op, answer, self.threads[me.thread].at)?;
        self.threads[me.thread].at = at;
        Some(at)
    }
}

impl Spec<StoppedWorlds> for Known {
    fn new((): (), roles: &[Role]) -> Self {
        let (procs, idle) = procs(roles);
        let thread = |n| Thread {
            p: p_of(roles, n),
            left: None,
            at: At::Start,
            then: At::Over,
            todo: VecDeque::new(),
            has_looked: false,
            was: Vec::new(),
        };
        Known {
            words: vec![None; procs as usize],
            idle,
            spare: (procs..procs + SPARE as u32).collect(),
            procs,
            line: VecDeque::new(),
            held: None,
            pending: None,
            threads: (0..roles.len()).map(thread).collect(),
            bits: [false; 3],
            counts: ([false; 3], 0),
        }
    }

    fn step_before(&self, me: CallId, does: Does<Op>, answer: Option<&Vec<Was>>) -> Option<Self> {
        let Does::Begin(op, _) = does else { return None };
        let mut next = self.clone();
        next.steps(me, op, answer).filter(|at| *at != At::Over).map(|_| next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Vec<Was>>, _: &mut Effects) -> Option<Vec<Was>> {
        let Does::Begin(op, _) = does else { return None };
        self.steps(me, op, answer).filter(|at| *at == At::Over)?;
        let thread = &mut self.threads[me.thread];
        thread.at = At::Start;
        Some(std::mem::take(&mut thread.was))
    }

    fn at_rest(&self) -> Result<(), &'static str> {
        let is_left = |p: &u32| self.words.get(*p as usize).is_some_and(Option::is_some);
        let is_wanted = |(pending, _): &(Vec<u32>, u32)| pending.iter().any(is_left);
        match self.held.is_some() && (0..self.procs).any(|p| is_left(&p))
            || self.pending.as_ref().is_some_and(is_wanted)
        {
            false => Ok(()),
            true => Err("every P is wanted, and one is left in a system call"),
        }
    }
}
