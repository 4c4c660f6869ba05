//! What was called in one execution, and what was answered.
//!
//! What is the same for every room is kept apart from what its threads have said: it is compiled once.

use crate::host::Moment;
use crate::oracle::{Judged, explain};
use crate::plain::of;
use crate::program::Program;
use crate::room::{CallId, Does, Room, Spec as _};
use std::fmt::Write as _;
use std::sync::Mutex;

/// A call, as it is written down.
struct Written {
    does: Does<()>,
    is_answered: bool,
    begins: Moment,
    ends: Moment,
    wait: usize,
    drops: usize,
}

/// What one thread has written down.
struct Page {
    calls: Vec<Written>,
    /// When the call began that it is inside of.
    open: Option<Moment>,
    /// Of each of its waits, what became of its wakers so far.
    wakes: Vec<Box<dyn Fn() -> Wakers + Send>>,
    /// Where it is.
    fate: Fate,
}

/// What became of a wait's wakers.
#[derive(Debug, Clone, Copy)]
pub struct Wakers {
    /// How many were woken.
    pub woken: u64,
    /// How many are in the room still.
    pub unsettled: u64,
}

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Inside of a call.
    Calls,
    /// Its wait goes on, and it sleeps.
    Sleeps,
    /// At its end.
    Done,
}

/// What one thread has said, and was answered.
pub struct Said<R: Room> {
    /// In each call.
    pub calls: Vec<(Does<R::Op>, Option<R::Answer>)>,
    /// In the call that it is inside of.
    pub open: Option<Does<R::Op>>,
}

impl<R: Room> Clone for Said<R> {
    fn clone(&self) -> Self {
        Said { calls: self.calls.clone(), open: self.open }
    }
}

impl<R: Room> Said<R> {
    /// What its call number `nth` does, which is the one that it is inside of if there are fewer.
    pub fn does(&self, nth: usize) -> Option<Does<R::Op>> {
        self.calls.get(nth).map(|(does, _)| *does).or(self.open)
    }
}

/// What the threads of an execution write on, while it goes on.
pub trait Paper<R: Room>: Send + Sync {
    /// A call of thread `me` begins.
    fn begins(&self, me: usize, at: Moment, does: Does<R::Op>);
    /// It ends, and was answered so, with so many values dropped in it.
    fn ends(&self, me: usize, at: Moment, answer: Option<R::Answer>, drops: usize);
    /// Thread `me` has one more wait; what becomes of its wakers.
    fn waits(&self, me: usize, wakes: Box<dyn Fn() -> Wakers + Send>);
    /// Where thread `me` is from now on.
    fn is_at(&self, me: usize, fate: Fate);
    /// Is all of it explained, once nothing goes on any more, and may the source stay as it is? Its digest, and how many threads sleep.
    ///
    /// # Errors
    /// Why not, with the program and the history.
    fn judge(
        &self,
        program: &Program<R>,
        judged: Judged,
        at_rest: &dyn Fn() -> Result<(), String>,
    ) -> Result<(u64, usize), String>;
}

/// The paper of a room.
pub struct Log<R: Room>(Mutex<(Vec<Page>, Vec<Said<R>>)>);

impl<R: Room> Log<R> {
    /// Of so many threads.
    pub fn new(threads: usize) -> Self {
        let page = |_| Page { calls: Vec::new(), open: None, wakes: Vec::new(), fate: Fate::Calls };
        let said = |_| Said { calls: Vec::new(), open: None };
        Log(Mutex::new(((0..threads).map(page).collect(), (0..threads).map(said).collect())))
    }

    /// The history, once nothing goes on any more.
    fn history(&self) -> History<R> {
        let (pages, said) = &*of(&self.0);
        let sleeps = |said: &Said<R>| matches!(said.open, Some(Does::Begin(op, _)) if R::sleeps(op));
        History { threads: threads(pages, &said.iter().map(sleeps).collect::<Vec<_>>()), said: said.clone() }
    }
}

impl<R: Room> Paper<R> for Log<R> {
    fn begins(&self, me: usize, at: Moment, does: Does<R::Op>) {
        let (pages, said) = &mut *of(&self.0);
        (pages[me].open, said[me].open) = (Some(at), Some(does));
    }

    fn ends(&self, me: usize, at: Moment, answer: Option<R::Answer>, drops: usize) {
        let (pages, said) = &mut *of(&self.0);
        let does = said[me].open.take().expect("the call has begun");
        pages[me].ends(at, does.kind(), answer.is_some(), drops);
        said[me].calls.push((does, answer));
    }

    fn waits(&self, me: usize, wakes: Box<dyn Fn() -> Wakers + Send>) {
        of(&self.0).0[me].wakes.push(wakes);
    }

    fn is_at(&self, me: usize, fate: Fate) {
        of(&self.0).0[me].fate = fate;
    }

    fn judge(
        &self,
        program: &Program<R>,
        judged: Judged,
        at_rest: &dyn Fn() -> Result<(), String>,
    ) -> Result<(u64, usize), String> {
        let history = self.history();
        explain(R::Spec::new(program.setup, &program.roles()), &history, judged)
            .map_err(|why| format!("{why}{program}"))?;
        at_rest().map_err(|why| format!("{why}\n{history}{program}"))?;
        Ok((history.digest(), history.asleep()))
    }
}

impl Page {
    fn ends(&mut self, ends: Moment, does: Does<()>, is_answered: bool, drops: usize) {
        let begins = self.open.take().expect("the call has begun").at_the_latest();
        self.calls.push(Written { does, is_answered, begins, ends, wait: self.wakes.len(), drops });
    }
}

/// What each thread has done; `sleep`: which are inside of a call that sleeps.
fn threads(pages: &[Page], sleep: &[bool]) -> Vec<Thread> {
    let ended = |begins: Moment| -> Vec<usize> {
        let of = |page: &Page| page.calls.iter().take_while(|other| other.ends.is_before(&begins)).count();
        pages.iter().map(of).collect()
    };
    let seen = |ends: Moment| -> Vec<usize> {
        let of = |page: &Page| {
            let begun = page.calls.iter().map(|call| call.begins).chain(page.open);
            begun.take_while(|begins| begins.is_seen(&ends)).count()
        };
        pages.iter().map(of).collect()
    };
    let call = |call: &Written| Call {
        does: call.does,
        is_answered: call.is_answered,
        after: ended(call.begins),
        seen: seen(call.ends),
        wait: call.wait,
        drops: call.drops,
    };
    let thread = |(page, sleeps): (&Page, &bool)| Thread {
        calls: page.calls.iter().map(call).collect(),
        sleeping: page.open.filter(|_| *sleeps).map(ended),
        wakes: page.wakes.iter().map(|wakes| wakes()).collect(),
        fate: page.fate,
    };
    pages.iter().zip(sleep).map(thread).collect()
}

/// A call.
pub struct Call {
    /// What it does.
    pub does: Does<()>,
    /// Was it answered?
    pub is_answered: bool,
    /// Of each thread, how many calls end before this one begins.
    pub after: Vec<usize>,
    /// Of each thread, of how many calls what was done before them is seen when this one has ended.
    pub seen: Vec<usize>,
    /// Which of its thread's waits it is about, from 1; 0: it has had none.
    pub wait: usize,
    /// How many values were dropped in it.
    pub drops: usize,
}

/// What one thread has called.
pub struct Thread {
    /// Its calls, in order.
    pub calls: Vec<Call>,
    /// It sleeps inside of the call after these: of each thread, how many calls end before that one begins.
    pub sleeping: Option<Vec<usize>>,
    /// Of each of its waits, what became of its wakers.
    pub wakes: Vec<Wakers>,
    /// Where it is at the end.
    pub fate: Fate,
}

impl Thread {
    /// Does it sleep at the end, between two polls or inside of a call?
    pub fn is_asleep(&self) -> bool {
        self.fate == Fate::Sleeps || self.sleeping.is_some()
    }

    /// The wakers of its waits that are over or were given up.
    pub fn of_waits_that_are_over(&self) -> impl Iterator<Item = &Wakers> {
        let over = self.wakes.len() - usize::from(self.fate == Fate::Sleeps);
        self.wakes[..over].iter()
    }

    /// How many calls end before its call number `nth` begins, of each thread. `None`: it has no such call.
    pub fn after(&self, nth: usize) -> Option<&[usize]> {
        self.calls.get(nth).map(|call| &call.after).or(self.sleeping.as_ref()).map(Vec::as_slice)
    }
}

/// What the threads of an execution have called.
pub struct History<R: Room> {
    /// All but what they have said.
    pub threads: Vec<Thread>,
    /// And that.
    pub said: Vec<Said<R>>,
}

impl<R: Room> History<R> {
    /// What this call does: if its thread has no such call, it polls its wait.
    pub fn does(&self, id: CallId) -> Does<R::Op> {
        self.said[id.thread].does(id.nth).unwrap_or(Does::Poll)
    }

    /// What this call was answered.
    pub fn answer(&self, id: CallId) -> Option<&R::Answer> {
        self.said[id.thread].calls.get(id.nth)?.1.as_ref()
    }

    /// A number of what was answered: of two executions that differ in that, almost surely another.
    pub fn digest(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
        for (thread, said) in self.threads.iter().zip(&self.said) {
            thread.is_asleep().hash(&mut fnv);
            said.calls.iter().for_each(|(_, answer)| answer.hash(&mut fnv));
        }
        fnv.finish()
    }

    /// How many threads sleep at the end.
    pub fn asleep(&self) -> usize {
        self.threads.iter().filter(|thread| thread.is_asleep()).count()
    }
}

/// A hash that is the same everywhere.
struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

impl<R: Room> std::fmt::Display for History<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        for (n, (thread, said)) in self.threads.iter().zip(&self.said).enumerate() {
            for (nth, (does, answer)) in said.calls.iter().enumerate() {
                let does = match does {
                    Does::Begin(op, number) => format!("{op:?} {number}"),
                    other => format!("{other:?}"),
                };
                let answer = answer.as_ref().map(|answer| format!("{answer:?}"));
                thread.tells(&mut text, n, nth, &does, answer.as_deref().unwrap_or("…"));
            }
            thread.tells_its_end(&mut text, n, said.open.map(|does| format!("{does:?}")));
        }
        f.write_str(&text)
    }
}

impl Thread {
    /// A line: its call number `nth`.
    fn tells(&self, text: &mut String, n: usize, nth: usize, does: &str, answer: &str) {
        let _ = write!(text, "  {n}.{nth}  {does:<16} {answer:<16}");
        for (m, count) in self.calls[nth].after.iter().enumerate().filter(|&(m, &count)| m != n && count > 0) {
            let _ = write!(text, "  after {m}.{}", count - 1);
        }
        text.push('\n');
    }

    /// A line: where it is at the end, if that is no end.
    fn tells_its_end(&self, text: &mut String, n: usize, open: Option<String>) {
        let _ = match open.filter(|_| self.sleeping.is_some()) {
            Some(does) => writeln!(text, "  {n}    sleeps in {does}"),
            None if self.fate != Fate::Done => writeln!(text, "  {n}    {:?}", self.fate),
            None => Ok(()),
        };
    }
}
