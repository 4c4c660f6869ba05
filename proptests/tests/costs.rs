//! What an operation of the scheduler costs at most: a wake-up for nothing, a fence, or a lock that need not be entered,
//! breaks no order, so it is counted here.
//!
//! Played by hand on one thread, so that the numbers are the same each time. A smaller number is no mistake: put it in.

use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::queues::runq::{Capacity, RunQueue};
use spinpark_kernel::queues::timers::Timers;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::types::g::G;
use spinpark_proptests::oracle::g;
use spinpark_proptests::solo::Solo;
use spinpark_proptests::stepped::{self, Stepped};
use spinpark_verification::hosts::wrap::count::{Count, Counts};
use std::sync::Arc;

type S = Arc<Sched<Count<Stepped>>>;

/// `[loads, stores, rmws, fences, locks, wakes, spawns]`
type Most = [u64; 7];

/// Does `act`, which may cost so much at most.
#[track_caller]
fn costs<T>(what: &str, most: Most, act: impl FnOnce() -> T) -> T {
    let (done, counts) = Counts::of(act);
    let [loads, stores, rmws, fences, locks, wakes, spawns] = most;
    let most = Counts { loads, stores, rmws, fences, locks, wakes, spawns };
    assert!(counts.is_within(most), "{what} cost {counts}; at most {most}");
    done
}

fn sched(procs: usize, max_ms: usize) -> S {
    Stepped::reset();
    let config = Config { procs, max_ms, ..Config::default() };
    Sched::new(config, (), stepped::enter).expect("these numbers are allowed")
}

fn begin() -> Worker {
    Stepped::begin().expect("a thread was asked for")
}

fn run(sched: &S, worker: Worker, n: u64) -> Worker {
    let (worker, it) = sched.next(worker).expect("it is open");
    assert_eq!(it.id(), n);
    let _ = it.into_raw();
    worker
}

fn submit(sched: &S, n: u64) {
    sched.submit(g(n)).expect("it is open");
}

/// The only M runs G1, and nothing waits.
fn one_p() -> (S, Worker) {
    let sched = sched(1, 2);
    submit(&sched, 1);
    let m1 = begin();
    let m1 = run(&sched, m1, 1);
    (sched, m1)
}

/// M1 runs G1, M2 runs G2, nothing waits, no M is spinning; more Ps are idle, and no other M sleeps.
fn two_busy(procs: usize) -> (S, Worker, Worker) {
    let sched = sched(procs, 4);
    submit(&sched, 1);
    let m1 = begin();
    let m1 = run(&sched, m1, 1);
    submit(&sched, 2);
    let m2 = begin();
    let m2 = run(&sched, m2, 2);
    (sched, m1, m2)
}

mod with_one_p {
    use super::*;

    #[test]
    fn a_submission_to_an_idle_runtime_asks_for_one_thread() {
        let sched = sched(1, 2);
        costs("the first submission", [4, 3, 2, 1, 3, 0, 1], || submit(&sched, 1));
        costs("a second before the thread has begun", [1, 1, 0, 1, 1, 0, 0], || submit(&sched, 2));
        let m1 = costs("the thread begins", [0, 0, 1, 0, 0, 0, 0], begin);
        let m1 = costs("it finds a share of two", [18, 5, 3, 1, 2, 0, 0], || run(&sched, m1, 1));
        let m1 = costs("the second is under its P", [37, 4, 2, 1, 1, 0, 0], || run(&sched, m1, 2));
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }

    #[test]
    fn who_readies_a_g_passes_no_fence_and_enters_no_lock() {
        let (sched, mut m1) = one_p();
        costs("ready", [1, 0, 1, 0, 0, 0, 0], || sched.ready(&mut m1, g(2)));
        costs("ready, which kicks out the one before", [3, 2, 1, 0, 0, 0, 0], || sched.ready(&mut m1, g(3)));
        costs("goyield", [2, 2, 0, 0, 0, 0, 0], || sched.goyield(&mut m1, g(4)));
        let next = costs("next_local", [5, 1, 1, 0, 0, 0, 0], || sched.next_local(&m1)).expect("there is a G");
        assert_eq!(next.id(), 3);
        let m1 = costs("next", [8, 1, 1, 0, 0, 0, 0], || run(&sched, m1, 2));
        let m1 = costs("next, out of the ring", [8, 1, 1, 0, 0, 0, 0], || run(&sched, m1, 4));
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }

    #[test]
    fn who_yields_enters_the_lock_once_and_wakes_nobody() {
        let (sched, mut m1) = one_p();
        costs("yield_now", [1, 1, 0, 0, 1, 0, 0], || sched.yield_now(&mut m1, g(2)));
        let m1 = costs("next, from the global queue", [37, 4, 2, 1, 1, 0, 0], || run(&sched, m1, 2));
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }

    #[test]
    fn a_submission_while_the_only_p_is_busy_wakes_nobody() {
        let (sched, m1) = one_p();
        costs("submit", [2, 2, 2, 1, 2, 0, 0], || submit(&sched, 2));
        let m1 = run(&sched, m1, 2);
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }

    #[test]
    fn a_system_call_wakes_nobody() {
        let (sched, m1) = one_p();
        let away = costs("entersyscall", [2, 1, 0, 1, 0, 0, 0], || sched.entersyscall(m1));
        let back = costs("exitsyscall", [0, 0, 1, 0, 0, 0, 0], || sched.exitsyscall(away, g(1)));
        let Ok((m1, ..)) = back else { panic!("its P is still there") };
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }

    #[test]
    fn an_m_that_falls_asleep_is_woken_once() {
        let (sched, m1) = one_p();
        let later = Arc::clone(&sched);
        let wake = move || costs("a submission to an M that sleeps", [3, 3, 2, 1, 3, 1, 0], || submit(&later, 2));
        let (m1, ()) = costs("to fall asleep, and to find a G", [70, 9, 6, 3, 6, 1, 0], || {
            stepped::until_woken(|| run(&sched, m1, 2), wake)
        });
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }
}

mod with_two_ps {
    use super::*;

    #[test]
    fn a_submission_wakes_at_most_one_m() {
        let sched = sched(2, 4);
        costs("the first submission", [4, 3, 2, 1, 3, 0, 1], || submit(&sched, 1));
        costs("a second while an M is spinning", [1, 1, 0, 1, 1, 0, 0], || submit(&sched, 2));
        costs("a third", [1, 1, 0, 1, 1, 0, 0], || submit(&sched, 3));
        let m1 = begin();
        let m1 = costs("an M that finds one of three wakes one", [17, 6, 3, 1, 3, 0, 1], || run(&sched, m1, 1));
        let m2 = begin();
        let m2 = costs("an M that finds the last in the global queue wakes none", [18, 4, 3, 1, 2, 0, 0], || {
            run(&sched, m2, 3)
        });
        let m1 = costs("the other of the first share", [58, 4, 2, 1, 1, 0, 0], || run(&sched, m1, 2));
        assert!(stepped::close(&sched, vec![m1, m2]).is_empty());
    }

    #[test]
    fn to_start_when_every_number_is_in_use_takes_no_p() {
        let sched = sched(2, 1);
        submit(&sched, 1);
        let m1 = begin();
        let m1 = run(&sched, m1, 1);
        costs("start", [1, 0, 0, 0, 1, 0, 0], || sched.start()).expect("there is an M");
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }

    #[test]
    fn who_finds_the_only_g_wakes_nobody() {
        let sched = sched(2, 4);
        submit(&sched, 1);
        let m1 = begin();
        let m1 = costs("find the only G", [23, 3, 1, 1, 1, 0, 0], || run(&sched, m1, 1));
        assert_eq!(Stepped::suspended(), 0);
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }

    #[test]
    fn while_both_are_busy_nobody_is_woken() {
        let (sched, mut m1, m2) = two_busy(2);
        costs("submit", [2, 2, 2, 1, 2, 0, 0], || submit(&sched, 3));
        // Now a spinning M is asked for.
        costs("ready", [4, 0, 1, 1, 0, 0, 0], || sched.ready(&mut m1, g(4)));
        costs("yield_now", [4, 1, 0, 1, 1, 0, 0], || sched.yield_now(&mut m1, g(5)));
        let m1 = costs("next, what was readied", [5, 1, 1, 0, 0, 0, 0], || run(&sched, m1, 4));
        let m2 = costs("next, a share", [57, 6, 4, 1, 2, 0, 0], || run(&sched, m2, 3));
        let m2 = costs("next, the other half", [8, 1, 1, 0, 0, 0, 0], || run(&sched, m2, 5));
        assert!(stepped::close(&sched, vec![m1, m2]).is_empty());
    }

    #[test]
    fn who_readies_two_while_one_p_is_idle_wakes_one_m() {
        let (sched, mut m1) = {
            let sched = sched(2, 4);
            submit(&sched, 1);
            let m1 = begin();
            let m1 = run(&sched, m1, 1);
            (sched, m1)
        };
        costs("ready", [5, 2, 3, 1, 2, 0, 1], || sched.ready(&mut m1, g(2)));
        costs("ready while an M is spinning", [4, 2, 1, 1, 0, 0, 0], || sched.ready(&mut m1, g(3)));
        let m2 = begin();
        let m2 = costs("steal the only one in the ring", [27, 2, 4, 1, 1, 0, 0], || run(&sched, m2, 2));
        let m1 = costs("the other is next under its P", [5, 1, 1, 0, 0, 0, 0], || run(&sched, m1, 3));
        assert!(stepped::close(&sched, vec![m1, m2]).is_empty());
    }
}

mod with_many_ps {
    use super::*;

    #[test]
    fn a_thief_looks_at_no_p_that_is_idle() {
        let (sched, mut m1, m2) = two_busy(8);
        (0..4).for_each(|n| sched.ready(&mut m1, g(10 + n)));
        let m3 = begin();
        let m3 = costs("steal half of three", [31, 5, 4, 1, 2, 0, 1], || run(&sched, m3, 10));
        let m3 = costs("the other of the two", [8, 1, 1, 0, 0, 0, 0], || run(&sched, m3, 11));
        let m1 = costs("the one readied last", [5, 1, 1, 0, 0, 0, 0], || run(&sched, m1, 13));
        let m1 = costs("the one left", [8, 1, 1, 0, 0, 0, 0], || run(&sched, m1, 12));
        // Another was asked for: work was left when M3 stopped spinning.
        assert!(Stepped::suspended() <= 1);
        let m4 = (Stepped::suspended() == 1).then(begin);
        assert!(stepped::close(&sched, [m1, m2, m3].into_iter().chain(m4).collect()).is_empty());
    }

    #[test]
    fn who_stops_and_starts_the_world_wakes_one() {
        let (sched, m1, m2) = two_busy(4);
        let away = sched.entersyscall(m2);
        let later = Arc::clone(&sched);
        let stopped = costs("stop the world", [8, 5, 1, 1, 4, 1, 0], || sched.stop_the_world(Some(m1)));
        let back =
            costs("start it", [25, 11, 2, 1, 3, 0, 1], || later.start_the_world(stopped)).expect("an M had stopped it");
        let Ok((m1, ..)) = costs("its M is back", [3, 2, 0, 0, 1, 0, 0], || sched.exitsyscall(back, g(1))) else {
            panic!("Ps are idle")
        };
        let Ok((m2, ..)) = costs("the other too", [3, 2, 1, 0, 1, 0, 0], || sched.exitsyscall(away, g(2))) else {
            panic!("Ps are idle")
        };
        let begun: Vec<Worker> = std::iter::from_fn(Stepped::begin).collect();
        assert!(stepped::close(&sched, [m1, m2].into_iter().chain(begun).collect()).is_empty());
    }
}

mod the_monitor {
    use super::*;

    #[test]
    fn looks_at_an_idle_runtime_and_wakes_nobody() {
        let (sched, m1) = one_p();
        let mut watch = sched.watch();
        let tick = |watch: &mut _, now: Nanos| sched.tick(watch, now);
        costs("a first tick", [14, 0, 0, 0, 1, 0, 0], || tick(&mut watch, 1));
        costs("a tick at which nothing is new", [14, 0, 0, 0, 1, 0, 0], || tick(&mut watch, 2));
        costs("a tick when the slice is over, and nothing waits", [15, 1, 0, 0, 1, 0, 0], || {
            tick(&mut watch, 20_000_000)
        });
        assert!(stepped::close(&sched, vec![m1]).is_empty());
    }
}

mod after_a_thread_was_refused {
    use super::*;

    #[test]
    fn the_monitor_tries_again_once() {
        let sched = sched(2, 4);
        submit(&sched, 1);
        let m1 = run(&sched, begin(), 1);
        let mut watch = sched.watch();
        Stepped::refuse(1);
        submit(&sched, 2);
        Stepped::refuse(0);
        let (_, tried) = Counts::of(|| sched.tick(&mut watch, 1));
        assert_eq!((tried.spawns, Stepped::suspended()), (1, 1), "{tried}");
        let m2 = run(&sched, begin(), 2);
        // Nothing was refused since: one that tried again would pass the fence.
        let (_, tried) = Counts::of(|| sched.tick(&mut watch, 2));
        assert_eq!(tried.spawns + tried.wakes + tried.fences, 0, "{tried}");
        assert!(stepped::close(&sched, vec![m1, m2]).is_empty());
    }
}

mod a_timer {
    use super::*;

    #[test]
    fn that_is_not_due_costs_a_look() {
        let timers = Timers::<Count<Solo>, u32>::new(2);
        let (key, _) = costs("add", [1, 1, 0, 0, 1, 0, 0], || timers.add(0, 10, 1));
        costs("when?", [2, 0, 0, 0, 0, 0, 0], || timers.deadline());
        let nothing = Vec::<u32>::new();
        assert_eq!(costs("nothing is due", [2, 0, 0, 0, 0, 0, 0], || timers.take_due(0, 9)), nothing);
        let other = || timers.take_due(1, 9);
        assert_eq!(costs("nothing is due, looked at from the other", [2, 0, 0, 0, 0, 0, 0], other), nothing);
        assert_eq!(costs("one is due", [2, 1, 0, 0, 1, 0, 0], || timers.take_due(0, 10)), [1]);
        (0..9).for_each(|n| _ = timers.add(0, 10, n));
        assert_eq!(costs("nine are due", [2, 1, 0, 0, 1, 0, 0], || timers.take_due(0, 10)).len(), 9);
        assert_eq!(costs("it is gone", [0, 0, 0, 0, 1, 0, 0], || timers.remove(key)), None);
    }
}

mod a_ring {
    use super::*;

    #[test]
    fn is_filled_and_emptied_with_one_exchange_each() {
        let ring = RunQueue::<Count<Solo>>::new(Capacity::new(4).expect("a power of two"));
        let put = |n| ring.put(g(n)).map_err(|_| "full").expect("there is room");
        let take = |got: Option<G>| got.map(|it| it.into_raw().get());
        costs("put", [2, 2, 0, 0, 0, 0, 0], || put(1));
        assert_eq!(take(costs("get", [3, 0, 1, 0, 0, 0, 0], || ring.get())), Some(1));
        assert_eq!(take(costs("get nothing", [2, 0, 0, 0, 0, 0, 0], || ring.get())), None);
        (2..6).for_each(put);
        let mine = RunQueue::new(Capacity::new(4).expect("a power of two"));
        let steal = || ring.steal_some(&mine).map(|(first, _)| first);
        assert_eq!(take(costs("steal two of four", [7, 2, 1, 0, 0, 0, 0], steal)), Some(2));
        assert_eq!(take(mine.get()), Some(3));
        assert_eq!(take(costs("steal one of two", [5, 0, 1, 0, 0, 0, 0], steal)), Some(4));
        assert_eq!(take(ring.get()), Some(5));
        assert_eq!(take(costs("steal nothing", [3, 0, 0, 0, 0, 0, 0], steal)), None);
    }
}

/// `work`, submitter's half: what was queued is queued before the StoreLoad, also by an M that spills. While an M is spinning
/// nothing comes after that, so the last lock is the queue's.
mod whoever_queues_passes_the_fence_afterwards {
    use super::*;

    fn does(what: &str, act: impl FnOnce()) {
        let ((), counts) = Counts::of(act);
        assert!(counts.fences == 1 && counts.locks == 1, "{what} cost {counts}: one lock, one fence");
        assert_eq!(Counts::locks_since_a_fence(), 0, "{what}: the fence was passed before it was queued");
    }

    #[test]
    fn into_the_global_queue() {
        Stepped::reset();
        let config = Config { procs: 2, ring: 2, max_ms: 4, ..Config::default() };
        let sched: S = Sched::new(config, (), stepped::enter).expect("these numbers are allowed");
        submit(&sched, 1);
        let m1 = begin();
        let mut m1 = run(&sched, m1, 1);
        // An M is asked for, and is spinning until it begins.
        sched.ready(&mut m1, g(2));
        does("submit", || submit(&sched, 3));
        does("yield_now", || sched.yield_now(&mut m1, g(4)));
        (5..=6).for_each(|n| sched.ready(&mut m1, g(n)));
        does("goyield into a full ring", || sched.goyield(&mut m1, g(7)));
        let m2 = begin();
        assert_eq!(stepped::close(&sched, vec![m1, m2]).len(), 6);
    }
}
