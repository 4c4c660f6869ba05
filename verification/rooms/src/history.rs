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
    /// Its place among all calls.
    place: usize,
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
    /// The call that it is inside of: when it began, and its place among all calls.
    open: Option<(Moment, usize)>,
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

/// What a thread has said in a call, and was answered.
pub type Said<R> = (Does<<R as Room>::Op>, Option<<R as Room>::Answer>);

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

/// The paper of a room: of each thread a page, and what was said in all calls, in the order in which they began.
pub struct Log<R: Room>(Mutex<(Vec<Page>, Vec<Said<R>>)>);

impl<R: Room> Log<R> {
    /// Of so many threads.
    pub fn new(threads: usize) -> Self {
        Log(Mutex::new((pages(threads), Vec::new())))
    }
}

fn pages(threads: usize) -> Vec<Page> {
    let page = |_| Page { calls: Vec::new(), open: None, wakes: Vec::new(), fate: Fate::Calls };
    (0..threads).map(page).collect()
}

impl<R: Room> Paper<R> for Log<R> {
    fn begins(&self, me: usize, at: Moment, does: Does<R::Op>) {
        let (pages, said) = &mut *of(&self.0);
        pages[me].open = Some((at, said.len()));
        said.push((does, None));
    }

    fn ends(&self, me: usize, at: Moment, answer: Option<R::Answer>, drops: usize) {
        let (pages, said) = &mut *of(&self.0);
        let (_, place) = pages[me].open.expect("the call has begun");
        pages[me].ends(at, said[place].0.kind(), answer.is_some(), drops);
        said[place].1 = answer;
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
        let (pages, said) = &*of(&self.0);
        let sleeps = |call: usize| matches!(said[call].0, Does::Begin(op, _) if R::sleeps(op));
        let history = History::<R> { threads: threads(pages, &sleeps), said };
        explain(R::Spec::new(program.setup, &program.roles()), &history, judged)
            .map_err(|why| format!("{why}{program}"))?;
        at_rest().map_err(|why| format!("{why}\n{history}{program}"))?;
        Ok((history.digest(), asleep(&history.threads)))
    }
}

impl Page {
    fn ends(&mut self, ends: Moment, does: Does<()>, is_answered: bool, drops: usize) {
        let (begins, place) = self.open.take().expect("the call has begun");
        let (begins, wait) = (begins.at_the_latest(), self.wakes.len());
        self.calls.push(Written { place, does, is_answered, begins, ends, wait, drops });
    }
}

/// What each thread has done. `sleeps`: is the call at this place one that sleeps?
fn threads(pages: &[Page], sleeps: &dyn Fn(usize) -> bool) -> Vec<Thread> {
    let ended = |begins: Moment| -> Vec<usize> {
        let of = |page: &Page| page.calls.iter().take_while(|other| other.ends.is_before(&begins)).count();
        pages.iter().map(of).collect()
    };
    let seen = |ends: Moment| -> Vec<usize> {
        let of = |page: &Page| {
            let begun = page.calls.iter().map(|call| call.begins).chain(page.open.map(|(begins, _)| begins));
            begun.take_while(|begins| begins.is_seen(&ends)).count()
        };
        pages.iter().map(of).collect()
    };
    let call = |call: &Written| Call {
        place: call.place,
        does: call.does,
        is_answered: call.is_answered,
        after: ended(call.begins),
        seen: seen(call.ends),
        wait: call.wait,
        drops: call.drops,
    };
    let thread = |page: &Page| Thread {
        calls: page.calls.iter().map(call).collect(),
        open: page.open.map(|(_, place)| place),
        sleeping: page.open.filter(|(_, place)| sleeps(*place)).map(|(begins, _)| ended(begins)),
        wakes: page.wakes.iter().map(|wakes| wakes()).collect(),
        fate: page.fate,
    };
    pages.iter().map(thread).collect()
}

/// A call.
pub struct Call {
    /// Its place among all calls.
    place: usize,
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
    /// The call that it is inside of after these: its place among all calls.
    open: Option<usize>,
    /// It sleeps in that one: of each thread, how many calls end before it begins.
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

/// How many of these threads sleep at the end.
fn asleep(threads: &[Thread]) -> usize {
    threads.iter().filter(|thread| thread.is_asleep()).count()
}

/// What the threads of an execution have called.
pub struct History<'a, R: Room> {
    /// All but what they have said.
    pub threads: Vec<Thread>,
    /// And that, by the places of the calls.
    said: &'a [Said<R>],
}

impl<R: Room> History<'_, R> {
    /// What this call does: if its thread has no such call, it polls its wait.
    pub fn does(&self, id: CallId) -> Does<R::Op> {
        let thread = &self.threads[id.thread];
        thread.calls.get(id.nth).map(|call| call.place).or(thread.open).map_or(Does::Poll, |place| self.said[place].0)
    }

    /// What this call was answered.
    pub fn answer(&self, id: CallId) -> Option<&R::Answer> {
        let call = self.threads[id.thread].calls.get(id.nth)?;
        self.said[call.place].1.as_ref()
    }

    /// A number of what was answered: of two executions that differ in that, almost surely another.
    fn digest(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
        for thread in &self.threads {
            thread.is_asleep().hash(&mut fnv);
            for call in &thread.calls {
                self.said[call.place].1.hash(&mut fnv);
            }
        }
        fnv.finish()
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

impl<R: Room> std::fmt::Display for History<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let does = |place: usize| match &self.said[place].0 {
            Does::Begin(op, number) => format!("{op:?} {number}"),
            other => format!("{other:?}"),
        };
        let answer = |place: usize| match &self.said[place].1 {
            Some(answer) => format!("{answer:?}"),
            None => String::from("…"),
        };
        let open = |place: usize| format!("{:?}", self.said[place].0);
        f.write_str(&told(&self.threads, &does, &answer, &open))
    }
}

/// A text that a call's place has.
type Text<'a> = &'a dyn Fn(usize) -> String;

fn told(threads: &[Thread], does: Text<'_>, answer: Text<'_>, open: Text<'_>) -> String {
    let mut text = String::new();
    for (n, thread) in threads.iter().enumerate() {
        for (nth, call) in thread.calls.iter().enumerate() {
            thread.tells(&mut text, n, nth, &does(call.place), &answer(call.place));
        }
        thread.tells_its_end(&mut text, n, thread.open.map(open));
    }
    text
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
