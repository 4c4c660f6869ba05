//! What is told to a subscriber of the crate `tracing`. One subscriber for the process, as the threads are not the
//! test's own: so all of it is one test.
#![cfg(feature = "tracing")]

use crate::cases::Case;
use spinpark::{Runtime, go, yield_now};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

pub(crate) const CASES: &[Case] = &[("spans_and_events_are_told", spans_and_events_are_told)];

#[derive(Default)]
struct Book {
    /// By number: what was recorded, how often it was entered and left, and whether it is over.
    spans: BTreeMap<u64, Seen>,
    /// By message.
    events: BTreeMap<String, u64>,
    /// What the last of each message had with it.
    fields: BTreeMap<String, BTreeMap<String, String>>,
}

#[derive(Default)]
struct Seen {
    fields: BTreeMap<String, String>,
    entered: u64,
    left: u64,
    is_over: bool,
}

/// Counts. With `wakes`, each event makes a task of that runtime runnable.
#[derive(Clone, Default)]
struct Counter {
    book: Arc<Mutex<Book>>,
    next: Arc<AtomicU64>,
    wakes: Arc<Mutex<Option<spinpark::Handle>>>,
}

impl Counter {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn span(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        change(self.book().spans.entry(id.into_u64()).or_default());
    }

    fn events(&self, message: &str) -> u64 {
        self.book().events.get(message).copied().unwrap_or(0)
    }
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("spinpark")
    }
    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        assert_eq!((attributes.metadata().target(), attributes.metadata().name()), ("spinpark::task", "task"));
        let id = Id::from_u64(self.next.fetch_add(1, SeqCst) + 1);
        self.span(&id, |seen| attributes.record(&mut Fields(&mut seen.fields)));
        id
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        assert_eq!((event.metadata().target(), *event.metadata().level()), ("spinpark", Level::TRACE));
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        let message = fields.remove("message").expect("a message");
        {
            let mut book = self.book();
            *book.events.entry(message.clone()).or_default() += 1;
            book.fields.insert(message, fields);
        }
        let wakes = self.wakes.lock().expect("no panic under it").clone();
        if let Some(handle) = wakes {
            drop(handle.go(|| ()));
        }
    }
    fn enter(&self, id: &Id) {
        self.span(id, |seen| seen.entered += 1);
    }
    fn exit(&self, id: &Id) {
        self.span(id, |seen| seen.left += 1);
    }
    fn try_close(&self, id: Id) -> bool {
        self.span(&id, |seen| seen.is_over = true);
        true
    }
}

/// Until it holds, or the test fails.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never happened: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn spans_and_events_are_told() {
    let counter = Counter::default();
    tracing::subscriber::set_global_default(counter.clone()).expect("the first");

    a_task_has_a_span_that_is_entered_around_each_poll(&counter);
    what_the_scheduler_does_is_an_event(&counter);
    a_subscriber_may_wake_tasks(&counter);
}

fn a_task_has_a_span_that_is_entered_around_each_poll(counter: &Counter) {
    let runtime = Runtime::builder().procs(1).build().expect("a runtime");
    let line = line!() + 1;
    let task = runtime.spawn(async {
        for _ in 0..4 {
            yield_now().await;
        }
    });
    task.join().expect("a value");
    drop(runtime);
    let book = counter.book();
    let [seen] = &book.spans.values().collect::<Vec<_>>()[..] else { panic!("one span: {}", book.spans.len()) };
    assert!(seen.fields["spawned_at"].contains(&format!("tracing.rs:{line}:")), "{:?}", seen.fields);
    assert!(seen.fields["name"].contains("tracing::a_task_has_a_span"), "{:?}", seen.fields);
    // Four waits and an end; and once more, to drop what is left of it.
    assert_eq!((seen.entered, seen.left, seen.is_over), (6, 6, true));
    drop(book);
    counter.book().spans.clear();
}

fn what_the_scheduler_does_is_an_event(counter: &Counter) {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    // Stolen: the P on which they are is occupied.
    runtime
        .go(|| {
            (0..64).for_each(|_| drop(go(|| thread::sleep(Duration::from_micros(100)))));
            thread::sleep(Duration::from_millis(50));
        })
        .join()
        .expect("a value");
    wait_until("a theft", || counter.events("steal") >= 1);
    wait_until("all sleep", || runtime.snapshot().is_quiescent());
    // A thread is woken for each; one of two waits in the poller.
    for _ in 0..100 {
        let (first, second) = (runtime.go(|| thread::sleep(Duration::from_micros(200))), runtime.go(|| ()));
        first.join().expect("a value");
        second.join().expect("a value");
        thread::sleep(Duration::from_micros(500));
    }
    wait_until("a sleep and a wake", || counter.events("park") >= 1 && counter.events("wake") >= 1);
    // Taken out of a system call.
    let (waiting, waits) = mpsc::channel();
    let (told, tells) = mpsc::channel();
    let held: Vec<_> = (0..2)
        .map(|_| {
            let waiting = waiting.clone();
            runtime.go(move || {
                spinpark::syscall(|| thread::sleep(Duration::from_millis(50)));
                waiting.send(())
            })
        })
        .collect();
    let other = runtime.go(move || told.send(()));
    tells.recv().expect("it runs");
    waits.recv().expect("it comes back");
    drop((held, other));
    wait_until("a P was retaken", || counter.events("retake") >= 1);
    drop(runtime);
    let book = counter.book();
    assert!(book.events["start"] >= 3, "{:?}", book.events);
    let names = |message: &str| book.fields[message].keys().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(names("steal"), ["m", "p", "tasks", "victim"]);
    assert_eq!((names("park"), names("wake"), names("retake")), (vec!["m"], vec!["m"], vec!["p"]));
    assert!(book.spans.values().all(|seen| seen.is_over && seen.entered == seen.left));
}

fn a_subscriber_may_wake_tasks(counter: &Counter) {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    *counter.wakes.lock().expect("no panic under it") = Some(runtime.handle());
    for _ in 0..50 {
        let tasks: Vec<_> = (0..20).map(|n| runtime.go(move || n)).collect();
        assert_eq!(tasks.into_iter().map(|task| task.join().expect("a value")).sum::<i32>(), 190);
        thread::sleep(Duration::from_micros(500));
    }
    *counter.wakes.lock().expect("no panic under it") = None;
    drop(runtime);
}
