//! The ring on one thread, as a host of one's own is checked, and its cursors. What owner and thieves get out of it beside each other,
//! `verification/rooms` asks.

use proptest::collection::vec;
use spinpark_kernel::queues::runq::{Capacity, RunQueue};
use spinpark_proptests::check::check;
use spinpark_proptests::oracle::ring::{Kernel, Oracle, op};
use spinpark_proptests::oracle::{compare, g};
use spinpark_proptests::solo::Solo;

fn capacity(n: usize) -> Capacity {
    Capacity::new(n).expect("an allowed capacity")
}

#[test]
fn the_ring_answers_as_a_list_would() {
    let seen = check(1000, vec(op(6), 0..200), |ops| {
        let mut oracle = Oracle::new(capacity(4));
        compare(&mut Kernel::<Solo, 3>::new(capacity(4)), &mut oracle, &ops)?;
        Ok(oracle.seen)
    });
    seen.must_have(&["a put met a full ring", "a batch fitted in part", "a spill took half", "a steal had to round"]);
}

mod a_ring_needs_cursors_that_tell_full_from_empty {
    use super::*;

    #[test]
    fn three_bits_are_enough_for_four() {
        assert_eq!(RunQueue::<Solo, 3>::new(capacity(4)).capacity(), 4);
    }

    #[test]
    #[should_panic(expected = "3 bits cannot tell 8 Gs from none")]
    fn three_bits_are_too_few_for_eight() {
        RunQueue::<Solo, 3>::new(capacity(8));
    }
}

/// Else the narrow cursors above would be wide ones, and never wrap around.
mod a_cursor_never_needs_more_bits_than_it_has {
    use super::*;
    use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
    use spinpark_proptests::solo;
    use std::cell::Cell;
    use std::sync::atomic::Ordering;

    thread_local! {
        static LARGEST: Cell<u64> = const { Cell::new(0) };
    }

    /// One thread, and the largest value that it wrote into any word.
    struct Watched;

    struct Word(solo::Word);

    fn written(value: u64) -> u64 {
        LARGEST.set(LARGEST.get().max(value));
        value
    }

    impl Host for Watched {
        type Word = Word;
        type Lock<T: Send + 'static> = solo::Lock<T>;
        type Parker = solo::Parker;

        fn fence(order: Ordering) {
            Solo::fence(order);
        }
        fn relax() {
            Solo::relax();
        }
        fn choose(n: usize) -> usize {
            Solo::choose(n)
        }
        fn now() -> Nanos {
            Solo::now()
        }
        fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
            Solo::spawn(name, body)
        }
    }

    impl host::Word for Word {
        fn new(value: u64) -> Self {
            Word(solo::Word::new(written(value)))
        }
        fn load(&self, order: Ordering) -> u64 {
            self.0.load(order)
        }
        fn store(&self, value: u64, order: Ordering) {
            self.0.store(written(value), order);
        }
        fn swap(&self, value: u64, order: Ordering) -> u64 {
            self.0.swap(written(value), order)
        }
        fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
            written(self.0.fetch_add(value, order).wrapping_add(value)).wrapping_sub(value)
        }
        fn compare_exchange(&self, current: u64, new: u64, yes: Ordering, no: Ordering) -> Result<u64, u64> {
            self.0.compare_exchange(current, written(new), yes, no)
        }
    }

    #[test]
    fn three_bits_and_gs_of_as_many() {
        let [owner, thief] = [(); 2].map(|()| RunQueue::<Watched, 3>::new(capacity(4)));
        for _ in 0..100 {
            // Both cursors go round in each of their functions, by steps of 1, 2 and 4.
            assert_eq!(owner.put_batch(&mut (1..=5).map(g)), 4);
            assert_eq!(owner.spill_half().map(Iterator::count), Some(2));
            assert_eq!(owner.steal_some(&thief), Some((g(3), 1)));
            assert!(owner.put(g(5)).is_ok() && owner.put(g(6)).is_ok());
            assert_eq!(owner.steal_some(&thief), Some((g(4), 2)));
            assert_eq!((thief.get(), thief.get()), (Some(g(5)), None));
            assert_eq!((owner.get(), owner.get()), (Some(g(6)), None));
        }
        assert_eq!(LARGEST.get(), 7);
    }
}
