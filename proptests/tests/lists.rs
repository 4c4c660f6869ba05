//! What a channel may answer, as a list would: histories that are right, and wrong ones.

use spinpark_proptests::linear::{Record, Spec};

/// One call after the other, on one thread.
fn one_after_the_other<C: Copy>(calls: &[C]) -> Vec<Record<C>> {
    let record = |(n, &call): (u64, &C)| Record { thread: 0, call, begun: 2 * n, ended: 2 * n + 1 };
    (0..).zip(calls).map(record).collect()
}

mod a_channel {
    use super::*;
    use spinpark_proptests::rooms::queue_of_values::{Call, Queue, check};

    fn answers(capacity: usize, calls: &[Call], rest: &[u64]) -> bool {
        let history = one_after_the_other(calls);
        let rest = rest.to_vec();
        std::panic::catch_unwind(move || check(capacity, history, &rest)).is_ok()
    }

    #[test]
    fn values_come_out_in_the_order_of_sending() {
        assert!(answers(2, &[Call::Sent(0), Call::Sent(1), Call::Closed(true)], &[0, 1]));
        assert!(!answers(2, &[Call::Sent(0), Call::Sent(1), Call::Closed(true)], &[1, 0]));
    }

    #[test]
    fn none_is_lost_and_none_comes_twice() {
        assert!(!answers(2, &[Call::Sent(0), Call::Closed(true)], &[]));
        assert!(!answers(2, &[Call::Sent(0), Call::Received(0), Call::Closed(true)], &[0]));
    }

    #[test]
    fn what_was_given_to_a_receive_that_gave_up_may_have_gone_back() {
        let beside = |capacity, calls: &[Call], rest: &[u64]| {
            let mut history = one_after_the_other(calls);
            // It took all the time.
            history.iter_mut().filter(|record| record.call == Call::GaveUp).for_each(|it| {
                (it.thread, it.begun, it.ended) = (1, 0, 100);
            });
            let rest = rest.to_vec();
            std::panic::catch_unwind(move || check(capacity, history, &rest)).is_ok()
        };
        let calls = [Call::GaveUp, Call::Sent(0), Call::Sent(1), Call::Received(1), Call::Closed(true)];
        assert!(beside(1, &calls, &[0]), "0 was given, and went back");
        assert!(!beside(1, &calls, &[]), "0 is lost");
    }

    #[test]
    fn room_and_closing_are_heeded() {
        assert!(Queue::new(0).after(&Call::Full(0)).is_some());
        assert!(Queue::new(1).after(&Call::Full(0)).is_none());
        assert!(Queue::new(1).after(&Call::NoneLeft).is_none());
        assert!(Queue::new(1).after(&Call::Refused(0)).is_none());
        assert!(!answers(1, &[Call::Sent(0), Call::Sent(1), Call::Closed(true)], &[0, 1]));
    }
}
