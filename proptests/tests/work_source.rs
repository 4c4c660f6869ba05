//! Sources of the embedder's: which are let in, how they wake, and what they keep waiting. What one look serves, the model
//! `poll::one_look_serves_all::extra` enumerates.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::work_source::{Waker, WorkSource};
use spinpark_kernel::sched::config::{Config, ConfigError};
use spinpark_kernel::sched::{Sched, Sources};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use spinpark_proptests::check::{Broken, Tally, check};
use spinpark_proptests::oracle::g;
use spinpark_proptests::stepped::{self, Stepped, close};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

type S = Arc<Sched<Stepped>>;

/// What the test sees of a source.
#[derive(Debug, Default)]
struct Shared {
    /// What it has to give.
    gs: Mutex<Vec<u64>>,
    ticks: Mutex<Vec<Nanos>>,
    is_expecting: AtomicBool,
}

/// Lists of Gs.
struct List {
    waker: Waker,
    shared: Arc<Shared>,
}

impl WorkSource for List {
    fn waker(&self) -> &Waker {
        &self.waker
    }
    fn has_work(&self) -> bool {
        !self.shared.gs.lock().expect("one thread").is_empty()
    }
    fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) {
        self.shared.gs.lock().expect("one thread").drain(..).map(g).for_each(put);
    }
    fn is_expecting(&self) -> bool {
        self.shared.is_expecting.load(Relaxed)
    }
    fn tick(&self, now: Nanos) {
        self.shared.ticks.lock().expect("one thread").push(now);
    }
}

fn list(waker: &Waker) -> Box<dyn WorkSource> {
    Box::new(List { waker: waker.clone(), shared: Arc::default() })
}

fn scheduler(make: impl FnOnce(&Waker) -> Sources) -> Result<S, ConfigError> {
    Sched::with_sources(Config::default(), (), stepped::enter, make)
}

/// With `N` sources, and the waker of all of them.
fn with_sources<const N: usize>(config: Config) -> (S, [Arc<Shared>; N], Waker) {
    let (shared, mut out) = (std::array::from_fn(|_| Arc::<Shared>::default()), None);
    let sched = Sched::with_sources(config, (), stepped::enter, |waker| {
        out = Some(waker.clone());
        let list = |shared| -> Box<dyn WorkSource> { Box::new(List { waker: waker.clone(), shared }) };
        shared.iter().map(Arc::clone).map(list).collect()
    });
    (sched.expect("they show its own"), shared, out.expect("they were made"))
}

mod a_source_with_another_schedulers_waker_is_refused {
    use super::*;

    /// The waker of a scheduler that is still there, or of one that is gone.
    fn strangers() -> (S, [Waker; 2]) {
        let mut wakers = Vec::new();
        let mut make = || {
            scheduler(|waker| {
                wakers.push(waker.clone());
                Vec::new()
            })
        };
        let (there, gone) = (make().expect("no source, no foreigner"), make().expect("no source, no foreigner"));
        drop(gone);
        (there, wakers.try_into().expect("two"))
    }

    #[test]
    fn wherever_it_stands_and_the_first_is_named() {
        let (_there, strangers) = strangers();
        // 0: its own waker; 1 and 2: a foreign.
        let own_or_not = prop_oneof![3 => Just(0usize), 1 => 1..=2usize];
        let seen = check(300, vec(own_or_not, 0..6), |kinds| {
            let made = scheduler(|waker| {
                let wakers = [waker, &strangers[0], &strangers[1]];
                kinds.iter().map(|&kind| list(wakers[kind])).collect()
            });
            let expected = kinds.iter().position(|&kind| kind > 0).map(ConfigError::Waker);
            let mut seen = Tally::default();
            seen.note_if(expected.is_none() && !kinds.is_empty(), "all were let in");
            seen.note_if(expected.is_some_and(|error| error != ConfigError::Waker(0)), "one was not the first");
            let found = made.err();
            if found == expected { Ok(seen) } else { Err(Broken::because(format_args!("it is {found:?}"))) }
        });
        seen.must_have(&["all were let in", "one was not the first"]);
    }

    #[test]
    fn and_the_text_says_which_and_what_to_do() {
        let (_there, strangers) = strangers();
        let refused = scheduler(|waker| vec![list(waker), list(&strangers[0])]).err().expect("a foreigner");
        let text = refused.to_string();
        let says =
            ["source 1", "another scheduler's waker", "keep the one it was made from", "wake it when there is work"];
        assert_eq!(says.iter().find(|part| !text.contains(*part)), None, "{text}");
    }

    /// Numbers first: a source is not made for a scheduler that cannot be.
    #[test]
    fn but_not_before_the_numbers() {
        let config = Config { procs: 0, ..Config::default() };
        let made: Result<S, _> = Sched::with_sources(config, (), stepped::enter, |_| unreachable!("it was made"));
        assert_eq!(made.err(), Some(ConfigError::Procs(0)));
    }
}

mod a_source_is_served {
    use super::*;

    /// The one that is given first runs first, the others wait in the ring.
    #[test]
    fn by_who_is_started_when_it_wakes() {
        let (sched, [source], waker) = with_sources(Config::default());
        source.gs.lock().expect("one thread").extend([1, 2, 3]);
        assert_eq!(Stepped::suspended(), 0, "no M knows yet");
        waker.wake();
        let mut worker = Stepped::begin().expect("an M was woken");
        for (number, ring) in [(1, 2), (2, 1), (3, 0)] {
            let (next, found) = sched.next(worker).expect("it is open");
            assert_eq!((found, sched.snapshot().local[0]), (g(number), ring));
            worker = next;
        }
        close(&sched, vec![worker]);
    }

    #[test]
    fn by_the_monitor_at_each_tick() {
        let (sched, [source], _) = with_sources(Config::default());
        let mut watch = sched.watch();
        for now in [5, 7, 7] {
            sched.tick(&mut watch, now);
        }
        assert_eq!(*source.ticks.lock().expect("one thread"), [5, 7, 7]);
    }

    #[test]
    fn by_nobody_when_the_scheduler_is_gone() {
        let (sched, [_], waker) = with_sources(Config::default());
        drop(sched);
        waker.wake();
        assert_eq!(Stepped::suspended(), 0);
    }
}

/// G1 is bound to M0, and waits for another G; there is none, but a source may bring one.
mod who_waits_inside_is_told_when_the_last_source_stops_expecting_and_wakes {
    use super::*;
    use spinpark_kernel::protocol::find::Worker;
    use spinpark_kernel::protocol::locked::{Wake, Woken};
    use spinpark_proptests::stepped::{in_each_sleep, until_woken};
    use std::ops::ControlFlow::{Break, Continue};

    /// All sources expect something.
    fn with_ms<const N: usize>(max_ms: usize) -> (S, [Arc<Shared>; N], Waker, Worker) {
        let (sched, sources, waker) = with_sources(Config { max_ms, ..Config::default() });
        sources.iter().for_each(|source| source.is_expecting.store(true, Relaxed));
        sched.submit(g(1)).expect("it is open");
        let (m0, _) = sched.next(Stepped::begin().expect("a thread was asked for")).expect("it is open");
        (sched, sources, waker, m0)
    }

    fn told_by_who_looks<const N: usize>() {
        let (sched, sources, waker, m0) = with_ms::<N>(2);
        let later = Arc::clone(&sched);
        let looks = move || {
            let (m1, mut expecting) = (Stepped::begin().expect("an M searches"), sources.into_iter());
            let now = Arc::clone(&later);
            // M1 finds nothing, sleeps, is woken by the next source to stop, finds nothing …
            let ended = in_each_sleep(
                || later.next(m1),
                move |_| {
                    let Some(source) = expecting.next() else { return Break(()) };
                    source.is_expecting.store(false, Relaxed);
                    assert_eq!(now.snapshot().waiting, 1, "no M knows yet");
                    waker.wake();
                    Continue(())
                },
            );
            assert!(ended.is_none(), "M1 sleeps");
        };
        let ((m0, woken), ()) = until_woken(|| sched.park_bound(m0, Wake::Inside), looks);
        assert_eq!((woken, sched.snapshot().waiting), (Woken::Deadlock, 0));
        sched.end(m0);
    }

    #[test]
    fn by_who_is_woken_and_finds_nothing() {
        told_by_who_looks::<1>();
        told_by_who_looks::<3>();
    }

    /// Whatever the source brings, the only M that there can be waits for it to have run.
    #[test]
    fn or_at_once_if_no_m_can_be_had_for_what_it_brings() {
        let (sched, [_source], _waker, m0) = with_ms::<1>(1);
        let (m0, woken) = sched.park_bound(m0, Wake::Inside);
        assert_eq!((woken, sched.snapshot().waiting), (Woken::NoThread, 0));
        sched.end(m0);
    }
}
