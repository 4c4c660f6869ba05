//! A life that ends by a panic, or without its worker, loses its M, and `close` does not wait for it; in a release as in a debug build.
//! The host and the life are the README's.
#![allow(dead_code)]

include!("pool.in");

use spinpark_kernel::sched::observer::{Event, Observer};

/// A life that lets panics out.
fn careless(sched: &Arc<Sched<Os>>, mut worker: Worker) {
    while let Some((mine, g)) = sched.next(worker) {
        worker = mine;
        assert!(g.into_raw().get() != 1, "the first job panics");
    }
}

/// A life that drops its worker in the middle.
fn forgetful(sched: &Arc<Sched<Os>>, worker: Worker) {
    drop(sched.next(worker));
}

fn g(n: u64) -> G {
    G::from_raw(NonZeroU64::new(n).expect("numbers begin at 1"))
}

/// Closes `sched` on another thread: within ten seconds, or the test fails. The numbers of the Gs that come back.
fn close(sched: Arc<Sched<Os>>) -> Vec<u64> {
    let (sender, closed) = mpsc::channel();
    thread::spawn(move || sender.send(sched.close()));
    let gs = closed.recv_timeout(Duration::from_secs(10)).expect("`close` hangs");
    gs.into_iter().map(|g| g.into_raw().get()).collect()
}

/// Waits until an M is lost: ten seconds, or the test fails.
fn lost<O: Observer>(sched: &Arc<Sched<Os, O>>) {
    let end = Instant::now() + Duration::from_secs(10);
    while sched.lost() == 0 {
        assert!(Instant::now() < end, "no M is lost");
        thread::yield_now();
    }
}

#[test]
fn by_a_panic_out_of_its_life_an_m_is_lost_and_the_rest_is_given_back() {
    let config = Config { procs: 1, ..Config::default() };
    let sched = Sched::<Os>::new(config, (), careless).expect("the numbers are good");
    sched.submit(g(1)).expect("it is open");
    lost(&sched);
    // The only P is gone: these never run.
    (2..40).for_each(|n| sched.submit(g(n)).expect("it is open"));
    assert_eq!(close(sched), (2..40).collect::<Vec<_>>());
}

#[test]
fn what_lies_in_the_ring_of_a_lost_m_is_given_back() {
    fn live(sched: &Arc<Sched<Os>>, worker: Worker) {
        let (mut worker, _) = sched.next(worker).expect("there is a G");
        (10..20).for_each(|n| sched.ready(&mut worker, g(n)));
        panic!("with Gs in its ring");
    }
    let sched = Sched::<Os>::new(Config { procs: 1, ..Config::default() }, (), live).expect("the numbers are good");
    sched.submit(g(1)).expect("it is open");
    lost(&sched);
    let mut back = close(sched);
    back.sort_unstable();
    assert_eq!(back, (10..20).collect::<Vec<_>>());
}

#[test]
fn while_one_m_is_lost_the_others_run_all_that_is_queued() {
    let sched = Sched::<Os>::new(Config { procs: 2, ..Config::default() }, (), careless).expect("the numbers are good");
    (1..100).for_each(|n| sched.submit(g(n)).expect("it is open"));
    lost(&sched);
    while sched.snapshot().global > 0 {
        thread::yield_now();
    }
    assert_eq!(sched.lost(), 1);
    drop(close(sched));
}

#[test]
fn that_drops_its_worker_is_lost() {
    let sched =
        Sched::<Os>::new(Config { procs: 1, ..Config::default() }, (), forgetful).expect("the numbers are good");
    sched.submit(g(1)).expect("it is open");
    lost(&sched);
    assert!(close(sched).is_empty());
}

#[test]
fn that_catches_panics_is_not_lost() {
    let sched = Sched::<Os>::new(Config { procs: 1, ..Config::default() }, (), live).expect("the numbers are good");
    let (sender, results) = mpsc::channel();
    spawn(&sched, || panic!("a job"));
    spawn(&sched, move || sender.send(()).expect("it waits"));
    results.recv().expect("the M runs on");
    assert_eq!(sched.lost(), 0);
    assert!(close(sched).is_empty());
}

/// An M whose life is `live`, and which is given one G: lost, and the next G comes back.
fn is_lost(live: impl Fn(&Arc<Sched<Os>>, Worker) + Send + Sync + 'static) {
    // No other M gets the P, where it is idle again.
    let sched = Sched::<Os>::new(Config { max_ms: 1, ..Config::default() }, (), live).expect("the numbers are good");
    sched.submit(g(1)).expect("it is open");
    lost(&sched);
    sched.submit(g(2)).expect("it is open");
    assert_eq!(close(sched), [2]);
}

#[test]
fn that_returns_while_its_worker_is_leaked_is_lost() {
    is_lost(|sched, worker| std::mem::forget(sched.next(worker)));
}

#[test]
fn that_drops_its_worker_in_a_task_whose_panics_it_catches_is_lost() {
    is_lost(|sched, worker| {
        let (worker, _) = sched.next(worker).expect("there is a G");
        let said = catch_unwind(AssertUnwindSafe(|| drop(worker))).expect_err("a dropped worker is a panic");
        let said = said.downcast_ref::<String>().expect("a text");
        assert!(said.contains("was dropped"), "{said}");
    });
}

#[test]
fn that_enters_a_system_call_and_returns_is_lost() {
    is_lost(|sched, worker| {
        let (worker, _) = sched.next(worker).expect("there is a G");
        std::mem::forget(sched.entersyscallblock(worker));
    });
}

#[test]
fn that_panics_after_another_of_its_number_has_ended_is_lost_and_reported_once() {
    #[derive(Default)]
    struct Lost(AtomicU64);

    impl Observer for Lost {
        fn event(&self, event: Event<'_>) {
            // SeqCst, as its load: no memory of the kernel's.
            self.0.fetch_add(u64::from(matches!(event, Event::Lost { .. })), Ordering::SeqCst);
        }
    }
    let (sender, ran) = mpsc::channel();
    let live = move |sched: &Arc<Sched<Os, Lost>>, worker| {
        let Some((worker, g)) = sched.next(worker) else { return };
        let n = g.into_raw().get();
        sender.send(n).expect("it waits");
        assert!(n == 1, "the second M panics");
        sched.end(worker);
    };
    let config = Config { procs: 1, max_ms: 1, ..Config::default() };
    let sched = Sched::<Os, Lost>::new(config, Lost::default(), live).expect("the numbers are good");
    for n in [1, 2] {
        sched.submit(g(n)).expect("it is open");
        assert_eq!(ran.recv_timeout(Duration::from_secs(10)), Ok(n));
    }
    lost(&sched); // the second, whose number the first had
    assert_eq!((sched.lost(), sched.observer().0.load(Ordering::SeqCst)), (1, 1));
    assert!(sched.close().is_empty());
}

#[test]
fn while_the_scheduler_is_closed_no_longer_holds_the_close_up() {
    let (sender, runs) = mpsc::channel();
    let live = move |sched: &Arc<Sched<Os>>, worker| {
        let _got = sched.next(worker).expect("there is a G");
        sender.send(()).expect("it waits");
        while sched.submit(g(2)).is_ok() {
            thread::yield_now();
        }
        // Until the thread that closes it waits for this M.
        thread::sleep(Duration::from_millis(50));
        panic!("it is being closed");
    };
    let config = Config { procs: 1, max_ms: 1, ..Config::default() };
    let sched = Sched::<Os>::new(config, (), live).expect("the numbers are good");
    sched.submit(g(1)).expect("it is open");
    runs.recv_timeout(Duration::from_secs(10)).expect("G 1 runs");
    assert!(close(sched).iter().all(|&n| n == 2));
}

#[test]
fn that_ends_as_it_should_is_not_lost_whatever_its_number_does_meanwhile() {
    let (sender, ran) = mpsc::channel();
    // Each M ends after its first G, and gives its number back before its life returns.
    let live = move |sched: &Arc<Sched<Os>>, worker| {
        let Some((worker, g)) = sched.next(worker) else { return };
        sched.end(worker);
        sender.send(g.into_raw().get()).expect("it waits");
        thread::sleep(Duration::from_millis(1));
    };
    let config = Config { procs: 1, max_ms: 1, ..Config::default() };
    let sched = Sched::<Os>::new(config, (), live).expect("the numbers are good");
    for n in 1..100 {
        sched.submit(g(n)).expect("it is open");
        assert_eq!(ran.recv_timeout(Duration::from_secs(10)), Ok(n), "the next M has the number of the last");
    }
    assert_eq!(sched.lost(), 0);
    assert!(close(sched).is_empty());
}
