//! Sources of the embedder's: which are let in, and how they wake.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark::host::Nanos;
use spinpark::kernel::config::{Config, ConfigError};
use spinpark::kernel::g::G;
use spinpark::kernel::sched::{Sched, Sources};
use spinpark::kernel::work_source::{Waker, WorkSource};
use spinpark_proptests::check::{Broken, Tally, check};
use spinpark_proptests::oracle::g;
use spinpark_proptests::staged::{self, Staged, close};
use std::sync::{Arc, Mutex};

type S = Arc<Sched<Staged>>;

/// What the test sees of a source.
#[derive(Debug, Default)]
struct Shared {
    gs: Mutex<Vec<u64>>,
    ticks: Mutex<Vec<Nanos>>,
}

/// A list of Gs.
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
    fn take(&self, put: &mut dyn FnMut(G)) {
        self.shared.gs.lock().expect("one thread").drain(..).map(g).for_each(put);
    }
    fn is_expecting(&self) -> bool {
        false
    }
    fn tick(&self, now: Nanos) {
        self.shared.ticks.lock().expect("one thread").push(now);
    }
}

fn list(waker: &Waker) -> Box<dyn WorkSource> {
    Box::new(List { waker: waker.clone(), shared: Arc::default() })
}

fn scheduler(make: impl FnOnce(&Waker) -> Sources) -> Result<S, ConfigError> {
    Sched::with_sources(Config::default(), (), staged::enter, make)
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
        let (there, gone) = (make().expect("no source, no stranger"), make().expect("no source, no stranger"));
        drop(gone);
        (there, wakers.try_into().expect("two"))
    }

    #[test]
    fn wherever_it_stands_and_the_first_is_named() {
        let (_there, strangers) = strangers();
        // 0: its own waker; 1 and 2: a stranger's.
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
        let refused = scheduler(|waker| vec![list(waker), list(&strangers[0])]).err().expect("a stranger");
        let text = refused.to_string();
        let says =
            ["source 1", "another scheduler's waker", "keep the one it was made from", "wake it when there is work"];
        assert_eq!(says.iter().find(|part| !text.contains(*part)), None, "{text}");
    }

    /// Numbers first: a source is not made for a scheduler that cannot be.
    #[test]
    fn but_not_before_the_numbers() {
        let config = Config { procs: 0, ..Config::default() };
        let made: Result<S, _> = Sched::with_sources(config, (), staged::enter, |_| unreachable!("it was made"));
        assert_eq!(made.err(), Some(ConfigError::Procs(0)));
    }
}

mod a_source_is_served {
    use super::*;

    fn with_one_source() -> (S, Arc<Shared>, Waker) {
        let (shared, mut out) = (Arc::<Shared>::default(), None);
        let sched = scheduler(|waker| {
            out = Some(waker.clone());
            vec![Box::new(List { waker: waker.clone(), shared: Arc::clone(&shared) })]
        });
        (sched.expect("it shows its own"), shared, out.expect("it was made"))
    }

    /// The one that is given first runs first, the others wait in the ring.
    #[test]
    fn by_who_is_started_when_it_wakes() {
        let (sched, shared, waker) = with_one_source();
        shared.gs.lock().expect("one thread").extend([1, 2, 3]);
        assert_eq!(Staged::in_the_wings(), 0, "nobody knows yet");
        waker.wake();
        let mut worker = Staged::begin().expect("somebody was woken");
        for (number, ring) in [(1, 2), (2, 1), (3, 0)] {
            let (next, found) = sched.next(worker).expect("it is open");
            assert_eq!((found, sched.snapshot().local[0]), (g(number), ring));
            worker = next;
        }
        close(&sched, vec![worker]);
    }

    #[test]
    fn by_the_monitor_at_each_tick() {
        let (sched, shared, _) = with_one_source();
        let mut watch = sched.watch();
        for now in [5, 7, 7] {
            sched.tick(&mut watch, now);
        }
        assert_eq!(*shared.ticks.lock().expect("one thread"), [5, 7, 7]);
    }

    #[test]
    fn by_nobody_when_the_scheduler_is_gone() {
        let (sched, _, waker) = with_one_source();
        drop(sched);
        waker.wake();
        assert_eq!(Staged::in_the_wings(), 0);
    }
}
