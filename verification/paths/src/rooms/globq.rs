//! `queues/globq.rs`: the queue itself is under the scheduler's lock; its length is read without it.

use super::{number, straight};
use crate::host::{Access, Domain, Havoc, Telling, any_of, tell};
use crate::path::Room;
use kernel::queues::globq::{GlobQueue, Len};
use kernel::types::g::G;
use std::num::NonZeroU64;

pub(super) static ROOM: Room = Room {
    name: "globq",
    words: &[Domain {
        name: "len",
        answers: |access| if access == Access::Load { vec![0, 1] } else { Vec::new() },
        telling: Telling::Values(number),
    }],
    operations: &[
        straight("peek", || if Len::<Havoc>::new().peek() == 0 { "none in it" } else { "some in it" }.to_owned()),
        straight("put", || {
            let mut queue = GlobQueue::default();
            tell("takes the lock");
            queue.put(g(), &Len::<Havoc>::new());
            "queued".to_owned()
        }),
        straight("put_batch", || {
            let mut queue = GlobQueue::default();
            tell("takes the lock");
            queue.put_batch([g(), g()].into_iter(), &Len::<Havoc>::new());
            if queue.len() == 2 { "queued" } else { "some are LOST" }.to_owned()
        }),
        straight("get_batch", || {
            let (mut queue, len) = (GlobQueue::default(), Len::<Havoc>::new());
            let many = any_of(3);
            crate::host::before(|| (0..many).for_each(|_| queue.put(g(), &len)));
            tell("takes the lock");
            let got = queue.get_batch(1, 2, &len, |rest| {
                if rest.count() > 0 {
                    tell("puts the rest of its share into its ring");
                }
            });
            if got.is_some() { "a G" } else { "none" }.to_owned()
        }),
    ],
};

fn g() -> G {
    G::from_raw(NonZeroU64::MIN)
}
