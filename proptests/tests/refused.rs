//! The whole scheduler on a host that refuses every thread: nothing runs, and nothing may be lost. And an M that is listed twice.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark_kernel::queues::idle::SleepingMs;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::types::m::MId;
use spinpark_proptests::check::{Broken, Tally, check};
use spinpark_proptests::oracle::g;
use spinpark_proptests::solo::Solo;
use std::sync::Arc;

/// What its embedder does.
#[derive(Debug, Clone, Copy)]
enum Op {
    Submit,
    Start,
}

mod each_g_comes_back_when_no_thread_can_be_had {
    use super::*;

    #[test]
    fn in_the_order_of_submission() {
        let op = prop_oneof![4 => Just(Op::Submit), 1 => Just(Op::Start)];
        let seen = check(500, (1..=8usize, 1..=4usize, vec(op, 0..50)), |(procs, max_ms, ops)| {
            let config = Config { procs, max_ms, ..Config::default() };
            let sched: Arc<Sched<Solo>> =
                Sched::new(config, (), |_, _| unreachable!("there is no thread")).map_err(Broken::because)?;
            let (mut seen, mut submitted) = (Tally::default(), Vec::new());
            for op in ops {
                match op {
                    Op::Submit => {
                        let number = submitted.len() as u64 + 1;
                        sched.submit(g(number)).map_err(|_| Broken::because("it is not closed yet"))?;
                        submitted.push(number);
                    }
                    // Were the number of a refused M lost, it would at some time say that there are no more.
                    Op::Start if sched.start().is_ok() => return Err(Broken::because("a thread was started")),
                    Op::Start => seen.note("a thread was refused"),
                }
                let now = sched.snapshot();
                if (now.global, now.idle_ps, now.alive, now.nmspinning) != (submitted.len(), procs, 0, 0) {
                    return Err(Broken::because(format_args!("after {op:?}: {now:?}")));
                }
                if !now.masks_agree {
                    return Err(Broken::because(format_args!("after {op:?} the masks are wrong: {now:?}")));
                }
            }
            let left: Vec<u64> = sched.close().iter().map(|g| g.id()).collect();
            if left != submitted {
                return Err(Broken::because(format_args!("{left:?} came back")));
            }
            if sched.submit(g(99)).is_ok() {
                return Err(Broken::because("it was closed, and took a G"));
            }
            Ok(seen)
        });
        seen.must_have(&["a thread was refused"]);
    }
}

mod an_m_sleeps_once {
    use super::*;

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "M3 is listed already")]
    fn listing_it_twice() {
        let mut sleeping = SleepingMs::default();
        sleeping.put(MId(3), 0);
        sleeping.put(MId(3), 1);
    }
}
