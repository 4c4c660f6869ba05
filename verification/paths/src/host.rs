//! A host on which the environment may answer anything. One operation of the kernel runs alone, on one thread; whatever it reads,
//! exchanges or asks is answered by the next entry of a script, and is noted.
//!
//! Nothing is interleaved: what other threads do is in the answers. So a path stands for every execution in which the others
//! answered so, whatever their number.

use crate::path::Step;
use kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// An access whose answer is the environment's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Load,
    /// A swap.
    Swap,
    /// An addition of this.
    Add(u64),
    /// An exchange of this value for that.
    Exchange(u64, u64),
}

/// A word of a room.
#[derive(Debug, Clone, Copy)]
pub struct Domain {
    /// Its name in the source.
    pub name: &'static str,
    /// What may be in it when it is accessed so: one value for each class of values that the operation cannot tell apart.
    pub answers: fn(Access) -> Vec<u64>,
    /// A value, as a reader writes it.
    pub show: fn(u64) -> String,
}

/// One path that is being played.
#[derive(Debug, Default)]
pub struct Run {
    /// The choices: which was taken, of how many.
    pub script: Vec<(usize, usize)>,
    /// How many of them are made.
    pub made: usize,
    /// What was done so far.
    pub steps: Vec<Step>,
    /// The words, in the order in which the room makes them.
    pub words: &'static [Domain],
    /// How many it has made.
    pub count: usize,
    /// The access or question with which a loop's body begins: what comes after depends on no earlier turn.
    pub head: Option<&'static str>,
    /// How often it may be asked.
    pub turns: usize,
    /// What is done now is not told: it comes before the operation.
    pub is_before: bool,
}

thread_local!(pub(crate) static RUN: RefCell<Run> = RefCell::default());

/// Thrown where a loop begins again.
pub struct Again;

/// Does what comes before the operation: it is not told, and each answer is the first.
pub fn before<T>(act: impl FnOnce() -> T) -> T {
    let count = RUN.with_borrow_mut(|run| {
        run.is_before = true;
        run.count
    });
    let done = act();
    RUN.with_borrow_mut(|run| (run.is_before, run.count) = (false, count));
    done
}

/// One of `n` answers, as the script says; before `act`, at which a loop may begin again.
fn pick(act: &str, n: usize) -> usize {
    RUN.with_borrow_mut(|run| {
        assert!(n > 0, "the environment has no answer after {:#?}", run.steps);
        if run.is_before {
            return 0;
        }
        let asked = || run.steps.iter().filter(|step| step.act == act).count();
        if run.head == Some(act) && asked() == run.turns {
            std::panic::resume_unwind(Box::new(Again));
        }
        if run.made == run.script.len() {
            run.script.push((0, n));
        }
        let (taken, of) = run.script[run.made];
        assert_eq!(of, n, "what the operation does is not a function of the answers");
        run.made += 1;
        taken
    })
}

fn note(at: Option<&Location<'_>>, act: impl Into<String>, order: String, answer: impl Into<String>) {
    let at = at.map_or(String::new(), |at| {
        let file = at.file().rsplit("src/kernel/src/").next().unwrap_or_default();
        format!("{file}:{}", at.line())
    });
    RUN.with_borrow_mut(|run| {
        if !run.is_before {
            run.steps.push(Step { at, act: act.into(), order, answer: answer.into() });
        }
    });
}

/// The operation does something that its environment sees.
pub fn tell(act: impl Into<String>) {
    note(None, act, String::new(), "");
}

/// The operation asks its environment, which gives any of these answers.
pub fn ask(act: &'static str, answers: &[&str]) -> usize {
    let n = pick(act, answers.len());
    note(None, act, String::new(), answers[n]);
    n
}

/// Yes or no.
pub fn whether(act: &'static str) -> bool {
    ask(act, &["no", "yes"]) == 1
}

/// The host.
pub struct Havoc;

/// A word whose content is the environment's to say.
pub struct Word(Domain);

impl Word {
    fn answer(&self, act: &str, access: Access) -> u64 {
        let answers = (self.0.answers)(access);
        answers[pick(&format!("{}.{act}", self.0.name), answers.len())]
    }

    fn note(&self, at: &Location<'_>, act: &str, order: impl std::fmt::Debug, answer: impl Into<String>) {
        note(Some(at), format!("{}.{act}", self.0.name), format!("{order:?}"), answer);
    }
}

impl host::Word for Word {
    fn new(_: u64) -> Self {
        RUN.with_borrow_mut(|run| {
            run.count += 1;
            Word(*run.words.get(run.count - 1).expect("each word of the room has a domain"))
        })
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        let value = self.answer("load", Access::Load);
        self.note(Location::caller(), "load", order, (self.0.show)(value));
        value
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.note(Location::caller(), &format!("store {}", (self.0.show)(value)), order, "");
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        let act = format!("swap {}", (self.0.show)(value));
        let was = self.answer(&act, Access::Swap);
        self.note(Location::caller(), &act, order, (self.0.show)(was));
        was
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        let act = format!("add {}", value.cast_signed());
        let was = self.answer(&act, Access::Add(value));
        self.note(Location::caller(), &act, order, (self.0.show)(was));
        was
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        let act = format!("exchange {} for {}", (self.0.show)(current), (self.0.show)(new));
        let was = self.answer(&act, Access::Exchange(current, new));
        let is_done = was == current;
        let answer = if is_done { "done".to_owned() } else { format!("found {}", (self.0.show)(was)) };
        self.note(Location::caller(), &act, format_args!("{success:?}/{failure:?}"), answer);
        if is_done { Ok(was) } else { Err(was) }
    }
}

/// What is under it is the operation's own: rooms whose state lives under the scheduler's lock are asked through their neighbours.
pub struct Lock<T>(std::sync::Mutex<T>);

impl<T> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock(std::sync::Mutex::new(value))
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        tell("lock");
        let result = f(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        tell("unlock");
        result
    }
}

/// Where the operation's thread sleeps: for any time, and wakes for any reason.
pub struct Parker;

impl host::Parker for Parker {
    fn new() -> Self {
        Parker
    }
    #[track_caller]
    fn park(&self) {
        note(Some(Location::caller()), "park", String::new(), "");
    }
    #[track_caller]
    fn park_timeout(&self, _: Nanos) {
        note(Some(Location::caller()), "park_timeout", String::new(), "");
    }
    #[track_caller]
    fn unpark(&self) {
        note(Some(Location::caller()), "unpark", String::new(), "");
    }
}

impl Host for Havoc {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;
    const UNWINDS_TO_END: bool = true;

    #[track_caller]
    fn fence(order: Ordering) {
        note(Some(Location::caller()), "fence", format!("{order:?}"), "");
    }
    fn relax() {
        tell("relax");
    }
    fn choose(n: usize) -> usize {
        let act = format!("choose one of {n}");
        let chosen = pick(&act, n);
        note(None, act, String::new(), chosen.to_string());
        chosen
    }
    fn now() -> Nanos {
        tell("now");
        0
    }
    fn spawn(_: &str, _: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        if ask("spawn", &["done", "refused"]) == 0 { Ok(()) } else { Err(SpawnError { os_error: None }) }
    }
}
