//! More or fewer Ps: on two lists, and on a whole scheduler whose world is stopped.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::stw::resize::procresize;
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::{Config, ConfigError};
use spinpark_kernel::types::p::{OwnedP, PId};
use spinpark_proptests::check::{Broken, Tally, check, refute};
use spinpark_proptests::oracle::g;
use spinpark_proptests::stepped::{self, Stepped, close, close_with, for_ever};
use std::collections::BTreeSet;
use std::sync::Arc;

const CASES: u32 = 300;

/// What makes `held` so many, or a wrong variant of it; it says of which Ps the Gs are to be taken out.
type Resize = fn(&mut Vec<OwnedP>, &mut Vec<OwnedP>, usize, &mut dyn FnMut(&OwnedP));

fn kernels(held: &mut Vec<OwnedP>, spare: &mut Vec<OwnedP>, procs: usize, empty: &mut dyn FnMut(&OwnedP)) {
    procresize(held, spare, procs, empty);
}

fn numbers(ps: &[OwnedP]) -> Vec<u32> {
    ps.iter().map(|p| p.id().0).collect()
}

/// `0..capacity`, `procs` of them held, in no order.
fn lists(capacity: usize, procs: usize, turned: usize) -> (Vec<OwnedP>, Vec<OwnedP>) {
    let ps = |from, to| (from..to).map(|p| OwnedP::forge(PId(p as u32))).collect::<Vec<_>>();
    let (mut held, mut spare) = (ps(0, procs), ps(procs, capacity));
    held.rotate_left(turned % procs);
    spare.rotate_left(turned % (capacity - procs).max(1));
    (held, spare)
}

fn spend(ps: Vec<OwnedP>) {
    ps.into_iter().for_each(|p| {
        p.discard();
    });
}

/// Whatever is asked for, one after the other, of `capacity` Ps: those that there are, are `0..procs`, the others are
/// spare, and those that end are emptied, each once.
fn are_the_lowest(resize: Resize, capacity: usize, turned: usize, asked: &[usize]) -> Result<Tally, Broken> {
    let (mut seen, mut before) = (Tally::default(), capacity.div_ceil(2));
    let (mut held, mut spare) = lists(capacity, before, turned);
    let mut why = Ok(());
    for &procs in asked {
        let procs = 1 + procs % capacity;
        let mut emptied = Vec::new();
        resize(&mut held, &mut spare, procs, &mut |p| emptied.push(p.id().0));
        // The next stopper holds them in another order.
        held.rotate_left(turned % procs);
        let [are, are_spare]: [BTreeSet<u32>; 2] = [&held, &spare].map(|ps| numbers(ps).into_iter().collect());
        let ended: BTreeSet<u32> = emptied.iter().copied().collect();
        let (lowest, others) = (0..procs as u32, procs as u32..capacity as u32);
        let is_right = are == lowest.collect() && are_spare == others.collect() && held.len() == procs;
        let is_emptied = ended == (procs as u32..before as u32).collect() && emptied.len() == ended.len();
        if !is_right || !is_emptied || held.len() + spare.len() != capacity {
            let [held, spare] = [&held, &spare].map(|ps| numbers(ps));
            why = Err(format!("{before} made {procs}: {held:?}, spare {spare:?}, emptied {emptied:?}"));
            break;
        }
        seen.note(match procs.cmp(&before) {
            std::cmp::Ordering::Less => "some ended",
            std::cmp::Ordering::Equal => "nothing was to be done",
            std::cmp::Ordering::Greater => "some began",
        });
        seen.note_if(procs < before && turned > 0, "some ended that were not the last in the list");
        before = procs;
    }
    [held, spare].into_iter().for_each(spend);
    why.map(|()| seen).map_err(Broken::because)
}

mod the_ps_that_there_are_have_the_lowest_numbers {
    use super::*;

    #[test]
    fn after_any_sequence_of_resizes() {
        let seen = check(CASES, (1..=20usize, 0..20usize, vec(any::<usize>(), 0..20)), |(capacity, turned, asked)| {
            are_the_lowest(kernels, capacity, turned, &asked)
        });
        seen.must_have(&["some ended", "some began", "nothing was to be done"]);
        seen.must_have(&["some ended that were not the last in the list"]);
    }

    #[test]
    fn but_not_with_a_variant_that_takes_them_as_they_come() {
        let variant: Resize = |held, spare, procs, empty| {
            while held.len() < procs {
                held.push(spare.pop().expect("enough"));
            }
            while held.len() > procs {
                let p = held.pop().expect("enough");
                empty(&p);
                spare.push(p);
            }
        };
        let (asked, _) = refute(CASES, vec(any::<usize>(), 0..20), |asked| are_the_lowest(variant, 8, 3, asked));
        assert_eq!(asked.len(), 1);
    }

    fn refused(procs: usize) {
        let (mut held, mut spare) = lists(3, 2, 0);
        procresize(&mut held, &mut spare, procs, |_| ());
    }

    #[test]
    #[should_panic(expected = "resize: 0 Ps were asked for")]
    fn none_is_refused() {
        refused(0);
    }

    #[test]
    #[should_panic(expected = "resize: 4 Ps were asked for")]
    fn more_than_there_are_is_refused() {
        refused(4);
    }
}

type S = Arc<Sched<Stepped>>;

fn scheduler(procs: usize, max_procs: usize) -> S {
    let config = Config { procs, max_procs, ..Config::default() };
    Sched::new(config, (), stepped::enter).expect("these numbers are allowed")
}

/// Changes the number of Ps of a scheduler that is not stopped.
fn resize(sched: &S, procs: usize) {
    let mut stopped = sched.stop_the_world(None);
    assert!(sched.procresize(&mut stopped, procs).is_ok());
    assert!(sched.start_the_world(stopped).is_none());
}

/// So many Gs run at once: one under each P.
fn all_ps_run(sched: &S, procs: usize) -> Vec<Worker> {
    let mut workers = Vec::new();
    for number in 1..=procs as u64 {
        sched.submit(g(number)).expect("it is open");
        // Starting the world has brought one M to look for work; each that finds some brings the next.
        let worker = Stepped::begin().expect("a P is idle");
        workers.push(sched.next(worker).expect("it is open").0);
    }
    workers.sort_by_key(Worker::p);
    let ps: Vec<u32> = workers.iter().map(|worker| worker.p().0).collect();
    assert_eq!(ps, Vec::from_iter(0..procs as u32));
    assert_eq!((sched.snapshot().idle_ps, Stepped::suspended()), (0, 0));
    workers
}

mod the_ps_that_there_are_can_be_used {
    use super::*;

    #[test]
    fn all_of_them_and_no_other() {
        for (procs, max_procs, asked) in [(1, 8, 8), (1, 100, 70), (3, 5, 4), (4, 4, 2), (8, 1, 1), (2, 2, 2)] {
            let sched = scheduler(procs, max_procs);
            resize(&sched, asked);
            close(&sched, all_ps_run(&sched, asked));
        }
    }

    /// Its memory of each P is made once, for all that there may be.
    #[test]
    fn and_a_monitor_that_was_there_before_looks_at_them() {
        let sched = scheduler(1, 3);
        let mut watch = sched.watch();
        resize(&sched, 3);
        let mut workers = all_ps_run(&sched, 3);
        let away = sched.entersyscall(workers.pop().expect("three"));
        assert_eq!([1, 2].map(|now| sched.tick(&mut watch, now)), [false, true]);
        workers.extend(Stepped::begin());
        assert_eq!(close_with(&sched, workers, vec![(away, g(3))]), [3]);
    }

    #[test]
    fn but_one_that_has_ended_is_not_given_back_to_an_m_that_was_in_a_call() {
        let sched = scheduler(3, 3);
        // Three are in a call; one P is left, and is idle when the first comes back.
        let calls = all_ps_run(&sched, 3).into_iter().map(|worker| sched.entersyscall(worker)).collect::<Vec<_>>();
        let mut stopped = sched.stop_the_world(None);
        assert_eq!(sched.procresize(&mut stopped, 1), Ok(3));
        assert!(sched.start_the_world(stopped).is_none());
        let looks = Stepped::begin().expect("an M searches");
        let mut calls = calls.into_iter().zip(1..).collect::<Vec<_>>();
        for_ever(|| sched.next(looks));
        let (last, number) = calls.pop().expect("three");
        let (worker, last, way) = sched.exitsyscall(last, g(number)).expect("P0 is idle");
        assert_eq!((worker.p(), last, way), (PId(0), g(3), Way::Idle));
        for (away, number) in calls {
            let m = sched.exitsyscall(away, g(number)).expect_err("there is one P, and it is in use");
            for_ever(|| sched.rest(m));
        }
        assert_eq!(sched.snapshot().global, 2);
        let worker = [1, 2].into_iter().fold(worker, |worker, number| {
            let (worker, next) = sched.next(worker).expect("it is open");
            assert_eq!(next, g(number));
            worker
        });
        for_ever(|| sched.next(worker));
        assert_eq!(sched.snapshot().violation(), None);
    }
}

mod a_number_for_which_there_is_no_place_is_refused_and_changes_nothing {
    use super::*;

    #[test]
    fn none_and_too_many() {
        let sched = scheduler(2, 5);
        let mut stopped = sched.stop_the_world(None);
        let before = sched.snapshot();
        for procs in [0, 6, 7, usize::MAX] {
            let refused = sched.procresize(&mut stopped, procs).expect_err("there is no place");
            assert_eq!(refused, ConfigError::NoRoom { procs, capacity: 5 });
            assert_eq!(sched.snapshot(), before);
            let text = refused.to_string();
            let says = [&format!("procs is {procs}"), "give 1 to 5", "max_procs"];
            assert!(says.iter().all(|part| text.contains(*part)), "{text}");
        }
        assert_eq!(sched.procresize(&mut stopped, 5), Ok(2), "so many there may be");
        assert!(sched.start_the_world(stopped).is_none());
        close(&sched, all_ps_run(&sched, 5));
    }
}
