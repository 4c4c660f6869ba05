//! `start`, when no M is needed.
#![allow(dead_code)]

include!("pool.in");

use spinpark_kernel::sched::observer::{Event, Observer};
use std::sync::atomic::AtomicUsize;

/// How many Ms were reported to start, and to end.
#[derive(Default)]
struct Lives {
    started: AtomicUsize,
    ended: AtomicUsize,
    /// The two, when the G had asked for another M.
    seen: OnceLock<(usize, usize)>,
}

impl Observer for Lives {
    fn event(&self, event: Event<'_>) {
        // Relaxed: an M's start is reported before its thread begins.
        match event {
            Event::Starting { .. } => self.started.fetch_add(1, Ordering::Relaxed),
            Event::Exited { .. } => self.ended.fetch_add(1, Ordering::Relaxed),
            _ => return,
        };
    }
}

#[test]
fn where_every_p_is_in_use_no_m_is_started_and_none_is_reported_to_have_ended() {
    let life = |sched: &Arc<Sched<Os, Lives>>, mut worker| {
        while let Some((mine, _)) = sched.next(worker) {
            sched.start().expect("there is nothing to start");
            let Lives { started, ended, seen } = sched.observer();
            // Relaxed: what `start` reports, it reports on this thread.
            seen.set((started.load(Ordering::Relaxed), ended.load(Ordering::Relaxed))).expect("there is one G");
            worker = mine;
        }
    };
    let config = Config { procs: 1, ..Config::default() };
    let sched = Sched::new(config, Lives::default(), life).expect("the numbers are good");
    sched.submit(G::from_raw(NonZeroU64::MIN)).expect("it is open");
    let end = Instant::now() + Duration::from_secs(20);
    let seen = loop {
        match sched.observer().seen.get() {
            Some(&seen) => break seen,
            None => assert!(Instant::now() < end, "the G has not run"),
        }
        thread::yield_now();
    };
    assert_eq!(seen, (1, 0), "Ms that started, and that ended");
    sched.close();
}
