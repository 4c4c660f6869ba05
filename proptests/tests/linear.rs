//! The checker of linearizability: what it accepts and what it refuses, and that it agrees with trying every order.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark::runtime::Cores;
use spinpark_proptests::check::{Broken, Tally, check};
use spinpark_proptests::linear::{History, Record, Spec, linearize};

/// A register, as in Herlihy and Wing's first figures.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Register(u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Write(u8),
    Read(u8),
}

impl Spec for Register {
    type Call = Call;

    fn after(&self, call: &Call) -> Option<Self> {
        match *call {
            Call::Write(value) => Some(Register(value)),
            Call::Read(value) => (value == self.0).then_some(Register(value)),
        }
    }
}

fn record(thread: usize, call: Call, begun: u64, ended: u64) -> Record<Call> {
    Record { thread, call, begun, ended }
}

fn is_linearizable(history: &[Record<Call>]) -> bool {
    linearize(&Register::default(), history).is_ok()
}

mod a_history_is_linearizable {
    use super::*;

    #[test]
    fn if_nothing_happened() {
        assert!(is_linearizable(&[]));
    }

    #[test]
    fn if_a_read_beside_a_write_sees_either_value() {
        for seen in [0, 1] {
            assert!(is_linearizable(&[record(0, Call::Write(1), 0, 3), record(1, Call::Read(seen), 1, 2)]));
        }
    }

    #[test]
    fn if_two_writes_beside_each_other_are_seen_in_either_order() {
        for last in [1, 2] {
            let history =
                [record(0, Call::Write(1), 0, 2), record(1, Call::Write(2), 1, 3), record(2, Call::Read(last), 4, 5)];
            assert!(is_linearizable(&history));
        }
    }
}

mod a_history_is_not_linearizable {
    use super::*;

    #[test]
    fn if_a_read_after_a_write_sees_the_old_value() {
        assert!(!is_linearizable(&[record(0, Call::Write(1), 0, 1), record(1, Call::Read(0), 2, 3)]));
    }

    #[test]
    fn if_two_readers_beside_one_write_see_it_come_and_go() {
        let history = [record(0, Call::Write(1), 0, 9), record(1, Call::Read(1), 1, 2), record(2, Call::Read(0), 3, 4)];
        assert!(!is_linearizable(&history));
    }

    #[test]
    fn if_one_thread_sees_its_own_calls_in_another_order() {
        // Both belong to one act of the thread: between its beginning and its end, but in order.
        let history = [record(0, Call::Write(1), 0, 5), record(0, Call::Read(0), 0, 5)];
        assert!(!is_linearizable(&history));
    }

    #[test]
    fn if_a_value_was_never_written() {
        let wrong = linearize(&Register::default(), &[record(0, Call::Write(1), 0, 1), record(1, Call::Read(7), 0, 1)]);
        let text = wrong.expect_err("7 was never written").to_string();
        assert!(text.contains("1  thread 0") && text.contains("?  thread 1"), "{text}");
    }
}

/// Does some order of the calls, and of those that are left, explain every answer?
fn by_trying_all(state: &Register, left: &[Record<Call>]) -> bool {
    left.is_empty()
        || (0..left.len()).any(|next| {
            let before = |other: &Record<Call>| other.ended < left[next].begun;
            let same_thread = left[..next].iter().any(|earlier| earlier.thread == left[next].thread);
            if left.iter().any(before) || same_thread {
                return false;
            }
            let mut rest = left.to_vec();
            let record = rest.remove(next);
            state.after(&record.call).is_some_and(|after| by_trying_all(&after, &rest))
        })
}

#[test]
fn it_agrees_with_trying_every_order() {
    let call = prop_oneof![(0u8..3).prop_map(Call::Write), (0u8..3).prop_map(Call::Read)];
    let histories = vec((0usize..3, call, 1u64..6), 0..7);
    let seen = check(3_000, histories, |calls| {
        // Each thread's calls come one after the other; a call of another thread may begin meanwhile.
        let mut free_at = [0u64; 3];
        let mut history = Vec::new();
        for (i, (thread, call, length)) in calls.into_iter().enumerate() {
            let begun = (i as u64 * 2).max(free_at[thread]);
            free_at[thread] = begun + length + 1;
            // No two things happen at once: beginnings are even, ends odd.
            history.push(record(thread, call, 2 * begun, 2 * (begun + length) + 1));
        }
        let (found, all) = (is_linearizable(&history), by_trying_all(&Register::default(), &history));
        let mut seen = Tally::default();
        seen.note(if all { "there was an order" } else { "there was none" });
        if found == all {
            Ok(seen)
        } else {
            Err(Broken::because(format_args!("{found} instead of {all}: {history:?}")))
        }
    });
    seen.must_have(&["there was an order", "there was none"]);
}

#[test]
#[should_panic(expected = "give 128 at most")]
fn too_long_a_history_is_refused() {
    let history: Vec<_> = (0..129).map(|n| record(0, Call::Read(0), 2 * n, 2 * n + 1)).collect();
    is_linearizable(&history);
}

#[test]
fn a_history_is_written_by_many_threads() {
    let history = History::<Cores, _>::default();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let history = &history;
            scope.spawn(move || (0..5).for_each(|_| history.call(thread, || ((), Call::Write(1)))));
        }
    });
    let records = history.records();
    assert_eq!(records.len(), 15);
    assert!(records.iter().all(|record| record.begun < record.ended));
    assert!(is_linearizable(&records));
}
