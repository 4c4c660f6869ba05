//! Ps in their words, as a sequential program: each step of a call is one exchange of a word, or one hold of the lock. What a thread asks
//! without either, whether every P is wanted, is a hint: what must not come of it is said at the end.

use super::{Op, Role, Syscalls, Was, away, procs};
use crate::room::{CallId, Does, Effects, Spec};
use kernel::protocol::syscall::Way;

/// Where the Ps are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    words: Vec<Word>,
    idle: Vec<u32>,
    queued: Vec<u64>,
    held: Vec<u32>,
    is_stopping: bool,
    threads: Vec<Thread>,
}

/// Of a P, its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Word {
    in_syscall: Option<u32>,
    takings: u32,
    /// Its M has entered a system call, and was not interrupted.
    has_entered: bool,
}

/// Of a thread, what it has, and where its call stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Thread {
    p: Option<u32>,
    /// The P that its M has left, and the word then.
    left: Option<(u32, Option<Word>)>,
    seen: Option<Word>,
    at: At,
    was: Vec<Was>,
}

/// What a call does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    /// It begins.
    Start,
    /// Takes the P that it has just left.
    GivesUp,
    /// Releases this P.
    Releases(u32),
    /// Takes its old P out of any call.
    TakesBack,
    /// Takes an idle P, or queues its G.
    Locks,
    /// The stopper looks at this word.
    Looks(usize),
    /// It returns, a stopper when every P is held.
    Over,
}

impl Known {
    /// Takes `p` out of its word, if it is in that call, or `None`: in any.
    fn takes(&mut self, p: u32, seen: Option<Word>) -> bool {
        let word = &mut self.words[p as usize];
        let is_there = word.in_syscall.is_some() && seen.is_none_or(|seen| seen == *word);
        if is_there {
            *word = Word { in_syscall: None, takings: word.takings.wrapping_add(1), has_entered: false };
        }
        is_there
    }

    fn releases(&mut self, p: u32) -> Was {
        if self.is_stopping {
            self.held.push(p);
            return Was::Held(p);
        }
        self.idle.push(p);
        Was::Idled(vec![p], std::mem::take(&mut self.queued))
    }

    /// Leaves `p` in its word.
    fn puts(&mut self, m: u32, p: u32, has_entered: bool) -> Word {
        let word = &mut self.words[p as usize];
        *word = Word { in_syscall: Some(m), has_entered, ..*word };
        *word
    }

    /// The M has `p`.
    fn is_back(&mut self, me: usize, p: u32, way: Way) -> At {
        let thread = &mut self.threads[me];
        thread.p = Some(p);
        thread.was.push(Was::Back(p, me as u64 + 1, way));
        At::Over
    }

    fn begins(&mut self, me: usize, op: Op, is_wanted: bool) -> At {
        let Thread { p, left, seen, .. } = self.threads[me].clone();
        match (op, p, left) {
            (Op::See, ..) => {
                let word = self.words[0];
                self.threads[me].seen = Some(word);
                self.threads[me].was.push(Was::Saw(word.in_syscall, word.takings));
            }
            (Op::Retake, ..) if seen.is_some() && self.takes(0, seen) => return At::Releases(0),
            (Op::Stop, ..) => {
                self.is_stopping = true;
                self.held.extend(self.threads[me].p.take());
                self.held.append(&mut self.idle);
                return At::Looks(0);
            }
            (Op::Start, ..) => {
                let ps = std::mem::take(&mut self.held);
                self.is_stopping = false;
                self.idle.extend(&ps);
                let was = Was::Idled(ps, std::mem::take(&mut self.queued));
                self.threads[me].was.push(was);
            }
            (Op::Exitsyscall, _, Some((p, left))) => {
                self.threads[me].left = None;
                if left.is_some() && self.takes(p, left) {
                    return self.is_back(me, p, Way::Kept);
                }
                self.threads[me].left = Some((p, None));
                self.threads[me].was.push(Was::Wanted(is_wanted));
                return if is_wanted { At::Locks } else { At::TakesBack };
            }
            (Op::Entersyscall | Op::Entersyscallblock | Op::Interrupt, Some(p), _) => {
                self.threads[me].p = None;
                if op == Op::Entersyscallblock {
                    self.threads[me].left = Some((p, None));
                    return self.goes_on(me, op, is_wanted, At::Releases(p));
                }
                let word = self.puts(me as u32, p, op == Op::Entersyscall);
                let thread = &mut self.threads[me];
                thread.left = Some((p, Some(word)));
                thread.was.extend((op == Op::Entersyscall).then_some(Was::Wanted(is_wanted)));
                if op == Op::Entersyscall && is_wanted {
                    return At::GivesUp;
                }
                thread.was.push(Was::Left(me as u32, op == Op::Interrupt));
            }
            _ => {}
        }
        At::Over
    }

    /// One step, of a call that is at `at`; and what its next is.
    fn goes_on(&mut self, me: usize, op: Op, is_wanted: bool, at: At) -> At {
        let left = self.threads[me].left;
        let (p, word) = left.unwrap_or_default();
        match at {
            At::Start => return self.begins(me, op, is_wanted),
            At::GivesUp if self.takes(p, word) => return At::Releases(p),
            At::GivesUp => self.threads[me].was.push(Was::Left(me as u32, false)),
            At::Releases(p) => {
                let was = self.releases(p);
                let enters = matches!(op, Op::Entersyscall | Op::Entersyscallblock);
                self.threads[me].was.push(was);
                self.threads[me].was.extend(enters.then_some(Was::Left(me as u32, false)));
                if op == Op::Stop {
                    return self.looks(p as usize + 1);
                }
            }
            At::TakesBack if self.takes(p, None) => {
                self.threads[me].left = None;
                return self.is_back(me, p, Way::TookBack);
            }
            At::TakesBack => return At::Locks,
            At::Locks => {
                self.threads[me].left = None;
                if let Some(p) = self.idle.pop() {
                    self.threads[me].was.push(Was::Idle(p));
                    return self.is_back(me, p, Way::Idle);
                }
                let g = me as u64 + 1;
                self.queued.push(g);
                self.threads[me].was.extend([Was::Queued(g), Was::Rests(me as u32)]);
            }
            At::Looks(n) if self.takes(n as u32, None) => {
                self.threads[me].was.push(Was::Took(n as u32));
                return At::Releases(n as u32);
            }
            At::Looks(n) => return self.looks(n + 1),
            At::Over => {}
        }
        At::Over
    }

    fn looks(&self, n: usize) -> At {
        if n < self.words.len() { At::Looks(n) } else { At::Over }
    }

    /// The next step of this call, which was answered so.
    fn steps(&mut self, me: CallId, op: Op, answer: Option<&Vec<Was>>) {
        let is_wanted = answer.is_some_and(|was| was.contains(&Was::Wanted(true)));
        let at = self.goes_on(me.thread, op, is_wanted, self.threads[me.thread].at);
        self.threads[me.thread].at = at;
    }
}

impl Spec<Syscalls> for Known {
    fn new(takings: u32, roles: &[Role]) -> Self {
        let word = Word { in_syscall: None, takings, has_entered: false };
        let thread = |role: &Role| Thread { p: role.ps().0, left: None, seen: None, at: At::Start, was: Vec::new() };
        let mut known = Known {
            words: vec![word; procs(roles)],
            idle: Vec::new(),
            queued: Vec::new(),
            held: Vec::new(),
            is_stopping: false,
            threads: roles.iter().map(thread).collect(),
        };
        for (m, role) in away(roles) {
            known.threads[m as usize].left = Some((0, Some(known.puts(m, 0, true))));
            if role == Role::Robbed {
                known.takes(0, None);
            }
        }
        known
    }

    fn step_before(&self, me: CallId, does: Does<Op>, answer: Option<&Vec<Was>>) -> Option<Self> {
        let Does::Begin(op, _) = does else { return None };
        let mut next = self.clone();
        let is_over = self.threads[me.thread].at == At::Over;
        next.steps(me, op, answer);
        // A stopper's last step is that it finds every P held.
        (!is_over && (op == Op::Stop || next.threads[me.thread].at != At::Over)).then_some(next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Vec<Was>>, _: &mut Effects) -> Option<Vec<Was>> {
        let Does::Begin(op, _) = does else { return None };
        if op == Op::Stop && self.held.len() < self.words.len() {
            return None;
        }
        self.steps(me, op, answer);
        let thread = &mut self.threads[me.thread];
        thread.at = At::Start;
        Some(std::mem::take(&mut thread.was))
    }

    fn at_rest(&self) -> Result<(), &'static str> {
        match self.is_stopping && self.words.iter().any(|word| word.has_entered) {
            false => Ok(()),
            true => Err("the world is to stop, and a P is left in a system call"),
        }
    }
}
