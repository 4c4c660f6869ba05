//! The M in the poller, seen from what happens meanwhile: a monitor that looks, a thread that is refused, the end.

use spinpark_kernel::host::{Host, NEVER, Nanos};
use spinpark_kernel::protocol::work_source::{Poller, Waker, WorkSource};
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use spinpark_proptests::oracle::g;
use spinpark_proptests::stepped::{self, Stepped, close, for_ever};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex};

type S = Arc<Sched<Stepped>>;
type Scenario = Box<dyn FnOnce(&S) + Send>;

/// What the test sees of one source of timers and of the poller.
#[derive(Default)]
struct Shared {
    sched: Mutex<Option<S>>,
    /// When the only timer is due, for G 9.
    when: AtomicU64,
    /// What happens in each wait.
    scenarios: Mutex<Vec<Scenario>>,
    /// Until when an M waited, each time.
    waits: Mutex<Vec<Nanos>>,
    interrupts: AtomicU32,
}

struct Timer(Arc<Shared>, Waker);

impl WorkSource for Timer {
    fn waker(&self) -> &Waker {
        &self.1
    }
    fn has_work(&self) -> bool {
        self.0.when.load(Relaxed) <= Stepped::now()
    }
    fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) {
        if self.has_work() {
            self.0.when.store(NEVER, Relaxed);
            put(g(9));
        }
    }
    fn deadline(&self) -> Nanos {
        self.0.when.load(Relaxed)
    }
    fn is_expecting(&self) -> bool {
        self.deadline() != NEVER
    }
}

struct Wait(Arc<Shared>);

impl Poller for Wait {
    fn is_awaited(&self) -> bool {
        false
    }
    fn poll(&self, until: Nanos, _: &mut dyn FnMut(G)) {
        self.0.waits.lock().expect("one thread").push(until);
        let scenario = self.0.scenarios.lock().expect("one thread").pop().expect("no M waits again");
        let sched = self.0.sched.lock().expect("one thread").clone().expect("it was made");
        scenario(&sched);
    }
    fn interrupt(&self) {
        self.0.interrupts.fetch_add(1, Relaxed);
    }
}

fn scheduler(procs: usize, max_ms: usize, when: Nanos, scenarios: Vec<Scenario>) -> (S, Arc<Shared>) {
    let shared = Arc::new(Shared { scenarios: Mutex::new(scenarios), when: AtomicU64::new(when), ..Shared::default() });
    let config = Config { procs, max_ms, ..Config::default() };
    let sched = Sched::with_poller(config, (), stepped::enter, |waker| {
        let timer: Box<dyn WorkSource> = Box::new(Timer(Arc::clone(&shared), waker.clone()));
        (vec![timer], Box::new(Wait(Arc::clone(&shared))))
    });
    let sched = sched.expect("these numbers are allowed");
    *shared.sched.lock().expect("one thread") = Some(Arc::clone(&sched));
    (sched, shared)
}

fn done(shared: &Shared) {
    shared.sched.lock().expect("one thread").take();
}

const SOON: Nanos = 1_000;
const LATE: Nanos = 1_000_000_000;

mod who_waits_in_the_poller {
    use super::*;

    #[test]
    fn waits_until_the_timer_and_runs_what_it_was_for() {
        let (sched, shared) = scheduler(1, 2, LATE, vec![Box::new(|_| Stepped::pass(LATE))]);
        assert!(sched.submit(g(1)).is_ok());
        let m1 = Stepped::begin().expect("a thread was asked for");
        let (m1, g1) = sched.next(m1).expect("it is open");
        let (m1, g9) = sched.next(m1).expect("it is open");
        assert_eq!((g1.id(), g9.id()), (1, 9));
        assert_eq!(*shared.waits.lock().expect("one thread"), [LATE]);
        close(&sched, vec![m1]);
        done(&shared);
    }

    /// A timer was added under the P of an M that runs on, and so was not announced.
    #[test]
    fn is_interrupted_by_the_monitor_if_a_timer_is_due_that_it_does_not_know() {
        let shared = Arc::<Mutex<Option<Arc<Shared>>>>::default();
        let theirs = Arc::clone(&shared);
        let meanwhile: Scenario = Box::new(move |sched| {
            let shared = theirs.lock().expect("one thread").take().expect("it was made");
            shared.when.store(SOON, Relaxed);
            let mut watch = sched.watch();
            sched.tick(&mut watch, SOON - 1);
            assert_eq!(shared.interrupts.load(Relaxed), 0, "it is not due");
            Stepped::pass(SOON);
            sched.tick(&mut watch, SOON);
            assert_eq!(shared.interrupts.load(Relaxed), 1, "it is due, and no M waits for it");
        });
        let (sched, its) = scheduler(2, 3, LATE, vec![meanwhile]);
        *shared.lock().expect("one thread") = Some(Arc::clone(&its));
        assert!(sched.submit(g(1)).is_ok());
        let m1 = Stepped::begin().expect("a thread was asked for");
        let (m1, g1) = sched.next(m1).expect("it is open");
        assert_eq!(g1.id(), 1);
        assert_eq!(Stepped::suspended(), 1, "no M waits for the timer: one more is to look");
        let m2 = Stepped::begin().expect("a thread was asked for");
        let (m2, g9) = sched.next(m2).expect("it is open");
        assert_eq!(g9.id(), 9);
        assert_eq!(*its.waits.lock().expect("one thread"), [LATE]);
        close(&sched, vec![m1, m2]);
        done(&its);
    }

    /// No thread can be had but this one.
    #[test]
    fn is_brought_back_if_no_other_m_can_be_had() {
        let meanwhile: Scenario = Box::new(|sched| assert!(sched.submit(g(2)).is_ok()));
        let (sched, shared) = scheduler(1, 1, LATE, vec![meanwhile]);
        assert!(sched.submit(g(1)).is_ok());
        let m1 = Stepped::begin().expect("a thread was asked for");
        let (m1, _) = sched.next(m1).expect("it is open");
        let (m1, g2) = sched.next(m1).expect("it is open");
        assert_eq!((g2.id(), sched.snapshot().refused), (2, 1));
        assert_eq!(shared.interrupts.load(Relaxed), 1);
        close(&sched, vec![m1]);
        done(&shared);
    }

    #[test]
    fn is_seen_in_the_picture() {
        let meanwhile: Scenario = Box::new(|sched| {
            let snapshot = sched.snapshot();
            assert_eq!((snapshot.polling, snapshot.sleeping, snapshot.alive), (1, 0, 1));
            assert!(snapshot.is_quiescent() && snapshot.violation().is_none(), "{snapshot:?}");
            Stepped::pass(LATE);
        });
        let (sched, shared) = scheduler(1, 2, LATE, vec![meanwhile]);
        assert!(sched.submit(g(1)).is_ok());
        let m1 = Stepped::begin().expect("a thread was asked for");
        let (m1, _) = sched.next(m1).expect("it is open");
        let (m1, _) = sched.next(m1).expect("it is open");
        close(&sched, vec![m1]);
        done(&shared);
    }
}

/// Without a timer there is nothing to wait for.
#[test]
fn an_m_sleeps_if_there_is_nothing_to_wait_for() {
    let (sched, shared) = scheduler(1, 2, NEVER, Vec::new());
    assert!(sched.submit(g(1)).is_ok());
    let m1 = Stepped::begin().expect("a thread was asked for");
    let (m1, _) = sched.next(m1).expect("it is open");
    for_ever(|| sched.next(m1));
    assert_eq!(*shared.waits.lock().expect("one thread"), [0; 0]);
    done(&shared);
}
