//! For the models of one thread: a whole scheduler that is played by hand on [`Stepped`], and its transcript: what it reports,
//! and what it asks of two sources and of a poller, in the order in which it happens.

use crate::harness::common::g;
use crate::hosts::stepped::{self, Stepped};
use spinpark_kernel::host::{Host, NEVER, Nanos};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::protocol::work_source::{Poller, Waker, WorkSource};
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use std::collections::VecDeque;
use std::mem::forget;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// A scheduler with a transcript.
pub(crate) type S = Arc<Sched<Stepped, Transcript>>;

/// Something that happens while the scheduler waits for an answer.
type Scenario = Box<dyn FnOnce(&S) + Send>;

/// What there is outside of the scheduler, and the transcript.
#[derive(Default)]
pub(crate) struct Outside {
    told: Mutex<Vec<String>>,
    sources: [Source; 2],
    is_awaited: AtomicBool,
    /// The Gs that can go on as soon as an M looks into the poller.
    ready: Mutex<Vec<u64>>,
    /// What happens in each wait, or look, in the poller.
    scenarios: Mutex<VecDeque<Scenario>>,
    /// What happens when the first source is asked for its deadline, each time.
    asked: Mutex<VecDeque<Option<Scenario>>>,
    /// What happens when the first source is asked whether it has work, each time.
    looked: Mutex<VecDeque<Option<Scenario>>>,
    /// What happens when this is told.
    heard: Mutex<Option<(&'static str, Scenario)>>,
    waker: OnceLock<Waker>,
    sched: OnceLock<Weak<Sched<Stepped, Transcript>>>,
}

struct Source {
    /// What it gives, each time an M takes.
    gs: Mutex<VecDeque<Vec<u64>>>,
    /// When it has work by itself,
    when: AtomicU64,
    /// and what.
    then: Mutex<Vec<u64>>,
}

impl Default for Source {
    fn default() -> Self {
        Source { gs: Mutex::default(), when: AtomicU64::new(NEVER), then: Mutex::default() }
    }
}

/// The observer that writes the transcript.
pub(crate) struct Transcript(pub(crate) Arc<Outside>);

/// One source, as the scheduler sees it.
struct StubSource(Arc<Outside>, usize, Waker);

/// The poller.
struct StubPoller(Arc<Outside>);

/// One thread plays: none waits for a lock. One that failed may have held it.
fn open<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A moment.
pub(crate) fn at(when: Nanos) -> String {
    if when == NEVER { "never".to_owned() } else { when.to_string() }
}

impl Outside {
    fn tell(&self, what: String) {
        let heard = open(&self.heard).take_if(|(this, _)| *this == what);
        let mut told = open(&self.told);
        told.push(what);
        assert!(told.len() < 1_000, "it never ends: {:?}", &told[990..]);
        drop(told);
        self.play(heard.map(|(_, scenario)| scenario));
    }

    /// What has happened since this was last asked.
    pub(crate) fn told(&self) -> Vec<String> {
        std::mem::take(&mut *open(&self.told))
    }

    /// Source `n` has these, to be taken at once.
    pub(crate) fn gives(&self, n: usize, gs: &[u64]) {
        open(&self.sources[n].gs).push_back(gs.to_vec());
    }

    /// Source `n` has work by itself at this moment.
    pub(crate) fn is_due(&self, n: usize, when: Nanos) {
        self.sources[n].when.store(when, Relaxed);
    }

    /// What it has then. If nothing: another was faster.
    pub(crate) fn gives_then(&self, n: usize, gs: &[u64]) {
        *open(&self.sources[n].then) = gs.to_vec();
    }

    /// Does a G wait for what the poller reports?
    pub(crate) fn awaits(&self, is_awaited: bool) {
        self.is_awaited.store(is_awaited, Relaxed);
    }

    /// These can go on as soon as an M looks into the poller.
    pub(crate) fn rings(&self, gs: &[u64]) {
        open(&self.ready).extend(gs);
    }

    /// This happens in the next wait, or look, in the poller. An M that waits there longer waits for ever.
    pub(crate) fn meanwhile(&self, scenario: impl FnOnce(&S) + Send + 'static) {
        open(&self.scenarios).push_back(Box::new(scenario));
    }

    /// This happens when the first source is asked for its deadline for the `nth` time from now on.
    pub(crate) fn when_asked(&self, nth: usize, scenario: impl FnOnce(&S) + Send + 'static) {
        Self::set(&self.asked, nth, Box::new(scenario));
    }

    /// This happens when the first source is asked whether it has work, for the `nth` time from now on.
    pub(crate) fn when_looked_for(&self, nth: usize, scenario: impl FnOnce(&S) + Send + 'static) {
        Self::set(&self.looked, nth, Box::new(scenario));
    }

    fn set(scenarios: &Mutex<VecDeque<Option<Scenario>>>, nth: usize, scenario: Scenario) {
        let mut scenarios = open(scenarios);
        scenarios.extend((1..nth).map(|_| None));
        scenarios.push_back(Some(scenario));
    }

    /// This happens when `what` is told next. The scheduler may be asked, but not told to do anything.
    pub(crate) fn when_told(&self, what: &'static str, scenario: impl FnOnce(&S) + Send + 'static) {
        *open(&self.heard) = Some((what, Box::new(scenario)));
    }

    /// A thread without a P has added something earlier to a source.
    pub(crate) fn announce(&self, when: Nanos) {
        self.waker.get().expect("it was made from one").announce(when);
    }

    fn play(&self, scenario: Option<Scenario>) {
        if let Some(scenario) = scenario {
            scenario(&self.sched.get().and_then(Weak::upgrade).expect("it is there while a scenario plays"));
        }
    }

    fn drain(&self, put: &mut dyn FnMut(G)) {
        let ready = std::mem::take(&mut *open(&self.ready));
        ready.into_iter().map(g).for_each(put);
    }
}

impl WorkSource for StubSource {
    fn waker(&self) -> &Waker {
        &self.2
    }
    fn has_work(&self) -> bool {
        if self.1 == 0 {
            let scenario = open(&self.0.looked).pop_front();
            self.0.play(scenario.flatten());
        }
        let source = &self.0.sources[self.1];
        if source.when.load(Relaxed) <= Stepped::now() {
            let then = std::mem::take(&mut *open(&source.then));
            open(&source.gs).extend((!then.is_empty()).then_some(then));
        }
        !open(&source.gs).is_empty()
    }
    fn take(&self, p: Option<PId>, put: &mut dyn FnMut(G)) {
        let whom = p.map_or("nobody".to_owned(), |p| format!("P{}", p.0));
        self.0.tell(format!("source {} gives to {whom}", self.1));
        let source = &self.0.sources[self.1];
        if source.when.load(Relaxed) <= Stepped::now() {
            source.when.store(NEVER, Relaxed);
        }
        let gs = open(&source.gs).pop_front();
        gs.into_iter().flatten().map(g).for_each(put);
    }
    fn deadline(&self) -> Nanos {
        if self.1 == 0 {
            let scenario = open(&self.0.asked).pop_front();
            self.0.play(scenario.flatten());
        }
        self.0.sources[self.1].when.load(Relaxed)
    }
    fn is_expecting(&self) -> bool {
        self.0.sources[self.1].when.load(Relaxed) != NEVER
    }
    fn tick(&self, now: Nanos) {
        self.0.tell(format!("source {} ticks at {now}", self.1));
    }
}

impl Poller for StubPoller {
    fn is_awaited(&self) -> bool {
        self.0.is_awaited.load(Relaxed)
    }
    fn poll(&self, until: Nanos, put: &mut dyn FnMut(G)) {
        self.0.tell(format!("poll until {}", at(until)));
        let scenario = open(&self.0.scenarios).pop_front();
        if scenario.is_none() {
            stepped::vanish();
        }
        self.0.play(scenario);
        self.0.drain(put);
    }
    fn peek(&self, put: &mut dyn FnMut(G)) {
        self.0.tell("peek".to_owned());
        let scenario = open(&self.0.scenarios).pop_front();
        self.0.play(scenario);
        self.0.drain(put);
    }
    fn interrupt(&self) {
        self.0.tell("interrupt".to_owned());
    }
}

impl Observer for Transcript {
    fn event(&self, event: Event<'_>) {
        self.0.tell(text(&event));
    }
}

fn text(event: &Event<'_>) -> String {
    match *event {
        Event::Queued { p, g, next } => {
            let whose = p.map_or("all".to_owned(), |p| format!("P{}", p.0));
            format!("G{} for {whose}{}", g.id(), if next { ", next" } else { "" })
        }
        Event::Found { m, p, g, from, .. } => format!("M{} runs G{} under P{}: {from:?}", m.0, g.id(), p.0),
        Event::Got { m, p } => format!("M{} gets P{}", m.0, p.0),
        Event::Spinning { m } => format!("M{} spins", m.0),
        Event::Called { m } => format!("M{} is called", m.0),
        Event::Sought { m } => format!("M{} has sought", m.0),
        Event::Idled { m, p } => format!("M{} idles P{}", m.0, p.0),
        Event::Listed { p } => format!("P{} is idle", p.0),
        Event::Slept { m, sleeping, alive } => format!("M{} sleeps, {sleeping} of {alive}", m.0),
        Event::Polling { m, until } => format!("M{} waits until {}", m.0, at(until)),
        Event::Polled { m } => format!("M{} has waited", m.0),
        Event::Woken { m } => format!("M{} is woken", m.0),
        Event::Starting { m } => format!("M{} starts", m.0),
        Event::Preempt { p, first } => format!("P{} is asked{}", p.0, if first { "" } else { " again" }),
        Event::Retaken { p } => format!("P{} is retaken", p.0),
        Event::Exited { m } => format!("M{} ends", m.0),
        Event::Gone { sleeping, alive } => format!("{sleeping} of {alive} sleep"),
        ref other => format!("{other:?}"),
    }
}

/// The numbers of a small scheduler. Each place is looked at in Go's order of today.
pub(crate) fn numbers(procs: usize) -> Config {
    let order = SearchOrder::GlobalFirst;
    Config { procs, ring: 4, order, global_every: 0, max_ms: 4, peek_every: 0, ..Config::default() }
}

/// A new play of a scheduler with a transcript; two sources have nothing.
pub(crate) fn set(config: Config, has_poller: bool) -> (S, Arc<Outside>) {
    Stepped::reset();
    let outside = Arc::<Outside>::default();
    let sources = |waker: &Waker| -> Vec<Box<dyn WorkSource>> {
        let _ = outside.waker.set(waker.clone());
        let source = |n| -> Box<dyn WorkSource> { Box::new(StubSource(Arc::clone(&outside), n, waker.clone())) };
        (0..2).map(source).collect()
    };
    let transcript = Transcript(Arc::clone(&outside));
    let sched = if has_poller {
        let poller = Box::new(StubPoller(Arc::clone(&outside)));
        Sched::with_poller(config, transcript, stepped::enter, |waker| (sources(waker), poller))
    } else {
        Sched::with_sources(config, transcript, stepped::enter, sources)
    };
    let sched = sched.expect("these numbers are allowed");
    let _ = outside.sched.set(Arc::downgrade(&sched));
    (sched, outside)
}

pub(crate) fn submit(sched: &S, n: u64) {
    sched.submit(g(n)).expect("it is open");
}

/// The M that was asked for first begins, and runs the next G.
pub(crate) fn begin(sched: &S) -> Worker {
    let worker = Stepped::begin().expect("a thread was asked for");
    sched.next(worker).expect("it is open").0
}

/// M0 runs G1, and no other M does anything. The transcript begins after that.
pub(crate) fn one_runs(sched: &S) -> Worker {
    submit(sched, 1);
    let worker = begin(sched);
    assert!(sched.snapshot().alive == 1, "no other M was asked for");
    sched.observer().0.told();
    worker
}

/// From here on, it is not looked at any more.
pub(crate) fn leave<T>(what: T) {
    forget(what);
}

/// It is this moment.
pub(crate) fn it_is(now: Nanos) {
    Stepped::pass(now - Stepped::now());
}
