//! When all is at rest: whom the kernel counts by itself, and who waits where it does not know. The host is the README's.
#![allow(dead_code)]

include!("pool.in");

/// `act` in the life of the only M, which runs the only G.
fn on_the_only_m(act: fn(&Arc<Sched<Os>>, Worker) -> Worker) {
    let (sender, acted) = mpsc::channel();
    let life = move |sched: &Arc<Sched<Os>>, worker| {
        let (worker, _) = sched.next(worker).expect("there is a G");
        let said = catch_unwind(AssertUnwindSafe(|| act(sched, worker)));
        sender.send(said.is_ok()).expect("it waits");
        assert!(sched.next(said.expect("what it asserts")).is_none(), "it is closed");
    };
    let sched = Sched::<Os>::new(Config { max_ms: 2, ..Config::default() }, (), life).expect("the numbers are good");
    sched.submit(G::from_raw(NonZeroU64::MIN)).expect("it is open");
    assert_eq!(acted.recv_timeout(Duration::from_secs(10)), Ok(true));
    sched.close();
}

#[test]
fn it_is_not_while_a_g_runs_whoever_waits_elsewhere() {
    on_the_only_m(|sched, worker| {
        assert!(![0, 1, 2].iter().any(|&n| sched.is_at_rest(|| n, || true)));
        worker
    });
}

#[test]
fn it_is_when_each_m_that_lives_waits_where_the_scheduler_does_not_know() {
    on_the_only_m(|sched, worker| {
        let away = sched.entersyscallblock(worker);
        // An M that gets the P looks for work, and sleeps.
        let end = Instant::now() + Duration::from_secs(5);
        while !sched.is_at_rest(|| 1, || true) {
            assert!(Instant::now() < end, "all but this M sleep, and it waits elsewhere");
            thread::yield_now();
        }
        assert!(![-1, 0, 2].iter().any(|&n| sched.is_at_rest(|| n, || true)));
        assert!(!sched.is_at_rest(|| 1, || false), "it is not certain");
        sched.exitsyscall_bound(away).0
    });
}
