//! A life that ends by a panic loses its M, and `close` does not wait for it. The host and the life are the README's.
#![allow(dead_code)]

include!("pool.in");

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

fn lost(sched: &Arc<Sched<Os>>) {
    while sched.lost() == 0 {
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
#[cfg(debug_assertions)]
fn that_drops_its_worker_is_lost_in_a_debug_build() {
    let sched =
        Sched::<Os>::new(Config { procs: 1, ..Config::default() }, (), forgetful).expect("the numbers are good");
    sched.submit(g(1)).expect("it is open");
    lost(&sched);
    assert_eq!(close(sched), []);
}

#[test]
fn that_catches_panics_is_not_lost() {
    let sched = Sched::<Os>::new(Config { procs: 1, ..Config::default() }, (), live).expect("the numbers are good");
    let (sender, results) = mpsc::channel();
    spawn(&sched, || panic!("a job"));
    spawn(&sched, move || sender.send(()).expect("it waits"));
    results.recv().expect("the M runs on");
    assert_eq!(sched.lost(), 0);
    assert_eq!(close(sched), []);
}
