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

/// An access; its answer is the environment's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Load,
    /// A store of this.
    Store(u64),
    /// A swap for this.
    Swap(u64),
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
    /// How it is told what is done with it.
    pub telling: Telling,
}

/// How an access is told.
#[derive(Debug, Clone, Copy)]
pub enum Telling {
    /// By its values, each as a reader writes it.
    Values(fn(u64) -> String),
    /// By what they are to the operation: first the access, then what it was answered.
    Relative(fn(Access) -> String, fn(Access, u64) -> String),
}

impl Telling {
    fn act(self, access: Access) -> String {
        let show = match self {
            Telling::Values(show) => show,
            Telling::Relative(act, _) => return act(access),
        };
        match access {
            Access::Load => "load".to_owned(),
            Access::Store(value) => format!("store {}", show(value)),
            Access::Swap(value) => format!("swap {}", show(value)),
            Access::Add(value) => format!("add {}", value.cast_signed()),
            Access::Exchange(current, new) => format!("exchange {} for {}", show(current), show(new)),
        }
    }

    fn answer(self, access: Access, was: u64) -> String {
        let show = match self {
            Telling::Values(show) => show,
            Telling::Relative(_, answer) => return answer(access, was),
        };
        match access {
            Access::Store(_) => String::new(),
            Access::Exchange(current, _) if was == current => "done".to_owned(),
            Access::Exchange(..) => format!("found {}", show(was)),
            Access::Load | Access::Swap(_) | Access::Add(_) => show(was),
        }
    }
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
    /// The word that is accessed now: its number, in the order in which they were made.
    pub word: usize,
    /// The accesses or questions with which loops' bodies begin, the outer loop's first; how often each may be asked.
    pub heads: Vec<(&'static str, usize)>,
    /// What is done now is not told: it comes before the operation.
    pub is_before: bool,
}

thread_local!(pub(crate) static RUN: RefCell<Run> = RefCell::default());

/// Thrown where the loop with this head begins again.
pub struct Again(pub &'static str);

/// The operation's words from now on; the next that it makes is the first of these.
pub fn words(words: &'static [Domain]) {
    RUN.with_borrow_mut(|run| (run.words, run.count) = (words, 0));
}

/// The number of the word that is accessed now.
pub fn word() -> usize {
    RUN.with_borrow(|run| run.word)
}

/// One of `n` worlds in which the operation runs. It is not told in which: what it does must not depend on that.
pub fn any_of(n: usize) -> usize {
    pick("", n)
}

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

/// Ends the path if `act` is a loop's head, and its turns are over. An inner loop's are counted from the last turn of the outer one.
fn begins_again(act: &str) {
    let again = RUN.with_borrow(|run| {
        let at = run.heads.iter().position(|(head, _)| *head == act).filter(|_| !run.is_before)?;
        let is_outer = |step: &Step| run.heads[..at].iter().any(|(head, _)| *head == step.act);
        let from = run.steps.iter().rposition(is_outer).unwrap_or(0);
        let asked = run.steps[from..].iter().filter(|step| step.act == act).count();
        (asked == run.heads[at].1).then_some(run.heads[at].0)
    });
    if let Some(head) = again {
        std::panic::resume_unwind(Box::new(Again(head)));
    }
}

/// One of `n` answers, as the script says; before `act`, at which a loop may begin again.
fn pick(act: &str, n: usize) -> usize {
    begins_again(act);
    RUN.with_borrow_mut(|run| {
        assert!(n > 0, "the environment has no answer after {:#?}", run.steps);
        if run.is_before {
            return 0;
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

/// The operation asks, and the room knows the answer. A loop may begin here.
pub fn answered(act: &'static str, answer: &str) {
    begins_again(act);
    note(None, act, String::new(), answer);
}

/// Yes or no.
pub fn whether(act: &'static str) -> bool {
    ask(act, &["no", "yes"]) == 1
}

/// The host.
pub struct Havoc;

/// A word whose content is the environment's to say; and its number.
pub struct Word(Domain, usize);

impl Word {
    fn access(&self, at: &Location<'_>, access: Access, order: String) -> u64 {
        let Word(Domain { name, answers, telling }, number) = self;
        RUN.with_borrow_mut(|run| run.word = *number);
        let act = format!("{name}.{}", telling.act(access));
        let was = if let Access::Store(_) = access {
            begins_again(&act);
            0
        } else {
            let answers = answers(access);
            answers[pick(&act, answers.len())]
        };
        note(Some(at), act, order, telling.answer(access, was));
        was
    }
}

impl host::Word for Word {
    fn new(_: u64) -> Self {
        RUN.with_borrow_mut(|run| {
            run.count += 1;
            Word(*run.words.get(run.count - 1).expect("each word of the room has a domain"), run.count - 1)
        })
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        self.access(Location::caller(), Access::Load, format!("{order:?}"))
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.access(Location::caller(), Access::Store(value), format!("{order:?}"));
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.access(Location::caller(), Access::Swap(value), format!("{order:?}"))
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.access(Location::caller(), Access::Add(value), format!("{order:?}"))
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        let order = format!("{success:?}/{failure:?}");
        let was = self.access(Location::caller(), Access::Exchange(current, new), order);
        if was == current { Ok(was) } else { Err(was) }
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
