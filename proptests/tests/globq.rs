//! A share of the global queue. What the queue answers besides, `verification/rooms` asks.

use spinpark_kernel::queues::globq::{GlobQueue, Len};
use spinpark_proptests::oracle::{g, numbers};
use spinpark_proptests::solo::Solo;

/// Go's share, one more than the even part rounded down: a P that looks gets something, and no even part is left over.
mod a_share_is_the_even_part_or_one_more {
    use super::*;

    #[test]
    fn for_every_number_of_ps() {
        for (procs, waiting) in (1..=16_usize).flat_map(|procs| (0..=64_usize).map(move |waiting| (procs, waiting))) {
            let (mut queue, len, mut share) = (GlobQueue::default(), Len::<Solo>::new(), Vec::new());
            queue.put_batch((1..=waiting as u64).map(g), &len);
            let first = queue.get_batch(procs, 128, &len, |gs| share = numbers(gs));
            share.extend(numbers(first));
            assert!(share.len() >= waiting.div_ceil(procs), "one of {procs} Ps takes only {share:?} of {waiting}");
            assert!(share.len() <= waiting.div_ceil(procs) + 1, "one of {procs} Ps takes {share:?} of {waiting}");
        }
    }
}
