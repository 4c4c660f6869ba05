//! What was called in one execution, and what was answered.

use crate::host::RoomHost;
use crate::plain::of;
use crate::room::{Does, Room};
use crate::values::{call_begins, dropped};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};

/// A call, as it is written down.
struct Written<R: Room, H: RoomHost> {
    does: Does<R::Op>,
    answer: Option<R::Answer>,
    begins: H::Moment,
    ends: H::Moment,
    wait: usize,
    drops: usize,
}

/// What one thread has written down.
pub struct Page<R: Room, H: RoomHost> {
    calls: Vec<Written<R, H>>,
    /// The call that it is inside of, and when that began.
    open: Option<(Does<R::Op>, H::Moment)>,
    /// Of each of its waits, what became of its wakers so far.
    wakes: Vec<Box<dyn Fn() -> Wakers + Send>>,
    /// Where it is.
    pub fate: Fate,
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

/// What is written down of an execution that goes on.
pub struct Log<R: Room, H: RoomHost>(Arc<Mutex<Vec<Page<R, H>>>>);

impl<R: Room, H: RoomHost> Clone for Log<R, H> {
    fn clone(&self) -> Self {
        Log(Arc::clone(&self.0))
    }
}

impl<R: Room, H: RoomHost> Log<R, H> {
    /// Of so many threads.
    pub fn new(threads: usize) -> Self {
        let page = |_| Page { calls: Vec::new(), open: None, wakes: Vec::new(), fate: Fate::Calls };
        Log(Arc::new(Mutex::new((0..threads).map(page).collect())))
    }

    /// What is written.
    pub fn pages(&self) -> MutexGuard<'_, Vec<Page<R, H>>> {
        of(&self.0)
    }

    /// A call of thread `me`.
    pub fn call<T>(
        &self,
        me: usize,
        does: Does<R::Op>,
        call: impl FnOnce() -> T,
        answer: impl FnOnce(&T) -> Option<R::Answer>,
    ) -> T {
        let (begins, before) = (H::moment(), call_begins::<H>());
        self.pages()[me].open = Some((does, begins));
        let found = call();
        let (answer, begins, ends) = (answer(&found), H::at_the_latest(begins), H::moment());
        let drops = dropped::<H>() - before;
        let page = &mut self.pages()[me];
        let wait = page.wakes.len();
        page.open = None;
        page.calls.push(Written { does, answer, begins, ends, wait, drops });
        found
    }

    /// Thread `me` has one more wait; what becomes of its wakers.
    pub fn waits(&self, me: usize, wakes: impl Fn() -> Wakers + Send + 'static) {
        self.pages()[me].wakes.push(Box::new(wakes));
    }

    /// Where thread `me` is from now on.
    pub fn is_at(&self, me: usize, fate: Fate) {
        self.pages()[me].fate = fate;
    }

    /// The history, once nothing goes on any more.
    pub fn history(&self) -> History<R> {
        let pages = self.pages();
        let count = |is_counted: &dyn Fn(&Written<R, H>) -> bool| -> Vec<usize> {
            pages.iter().map(|page| page.calls.iter().take_while(|other| is_counted(other)).count()).collect()
        };
        let seen = |ends: H::Moment| -> Vec<usize> {
            let of = |page: &Page<R, H>| {
                let begun = page.calls.iter().map(|call| call.begins).chain(page.open.map(|(_, begins)| begins));
                begun.take_while(|&begins| H::is_seen(begins, ends)).count()
            };
            pages.iter().map(of).collect()
        };
        let call = |call: &Written<R, H>| Call {
            does: call.does,
            answer: call.answer.clone(),
            after: count(&|other| H::is_before(other.ends, call.begins)),
            seen: seen(call.ends),
            wait: call.wait,
            drops: call.drops,
        };
        let sleeps = |does| matches!(does, Does::Begin(op, _) if R::sleeps(op));
        let open = |&(does, begins): &(Does<R::Op>, H::Moment)| Sleeping {
            does,
            after: count(&|other| H::is_before(other.ends, begins)),
        };
        let thread = |page: &Page<R, H>| Thread {
            calls: page.calls.iter().map(call).collect(),
            sleeping: page.open.as_ref().filter(|(does, _)| sleeps(*does)).map(open),
            wakes: page.wakes.iter().map(|wakes| wakes()).collect(),
            fate: page.fate,
        };
        History(pages.iter().map(thread).collect())
    }
}

/// A call.
pub struct Call<R: Room> {
    /// What it does.
    pub does: Does<R::Op>,
    /// What it was answered.
    pub answer: Option<R::Answer>,
    /// Of each thread, how many calls end before this one begins.
    pub after: Vec<usize>,
    /// Of each thread, of how many calls what was done before them is seen when this one has ended.
    pub seen: Vec<usize>,
    /// Which of its thread's waits it is about, from 1; 0: it has had none.
    pub wait: usize,
    /// How many values were dropped in it.
    pub drops: usize,
}

/// A call that sleeps, and has not returned at the end.
pub struct Sleeping<Op> {
    /// What it does.
    pub does: Does<Op>,
    /// Of each thread, how many calls end before this one begins.
    pub after: Vec<usize>,
}

/// What one thread has called.
pub struct Thread<R: Room> {
    /// Its calls, in order.
    pub calls: Vec<Call<R>>,
    /// The call after these, inside of which it sleeps.
    pub sleeping: Option<Sleeping<R::Op>>,
    /// Of each of its waits, what became of its wakers.
    pub wakes: Vec<Wakers>,
    /// Where it is at the end.
    pub fate: Fate,
}

impl<R: Room> Thread<R> {
    /// Does it sleep at the end, between two polls or inside of a call?
    pub fn is_asleep(&self) -> bool {
        self.fate == Fate::Sleeps || self.sleeping.is_some()
    }

    /// The wakers of its waits that are over or were given up.
    pub fn of_waits_that_are_over(&self) -> impl Iterator<Item = &Wakers> {
        let over = self.wakes.len() - usize::from(self.fate == Fate::Sleeps);
        self.wakes[..over].iter()
    }
}

/// What the threads of an execution have called.
pub struct History<R: Room>(pub Vec<Thread<R>>);

impl<R: Room> History<R> {
    /// A number of what was answered: of two executions that differ in that, almost surely another.
    pub fn digest(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
        for thread in &self.0 {
            thread.is_asleep().hash(&mut fnv);
            thread.calls.iter().for_each(|call| call.answer.hash(&mut fnv));
        }
        fnv.finish()
    }

    /// How many threads sleep at the end.
    pub fn asleep(&self) -> usize {
        self.0.iter().filter(|thread| thread.is_asleep()).count()
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
        for (n, thread) in self.0.iter().enumerate() {
            for (nth, call) in thread.calls.iter().enumerate() {
                let does = match call.does {
                    Does::Begin(op, number) => format!("{op:?} {number}"),
                    other => format!("{other:?}"),
                };
                let answer = call.answer.as_ref().map_or("…".to_owned(), |answer| format!("{answer:?}"));
                let mut after = String::new();
                for (m, &count) in call.after.iter().enumerate().filter(|&(m, &count)| m != n && count > 0) {
                    let _ = write!(after, "  after {m}.{}", count - 1);
                }
                writeln!(f, "  {n}.{nth}  {does:<16} {answer:<16}{after}")?;
            }
            match &thread.sleeping {
                Some(Sleeping { does, .. }) => writeln!(f, "  {n}    sleeps in {does:?}")?,
                None if thread.fate != Fate::Done => writeln!(f, "  {n}    {:?}", thread.fate)?,
                None => (),
            }
        }
        Ok(())
    }
}
