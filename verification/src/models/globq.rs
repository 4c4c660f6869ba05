//! Models of `globq`: the length that is read without the lock, beside what else a spinning M reads. The rest is told once, in
//! `verification/rooms`.

use crate::harness::common::{Tasks, each_once, party};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom, loom_apart, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_kernel::host::Lock;
use spinpark_kernel::queues::globq::{GlobQueue, Len};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

struct Global<H: ModelHost> {
    queue: H::Lock<GlobQueue>,
    len: Len<H>,
    tasks: Tasks<H>,
    /// Does an M still look? As `nmspinning`.
    token: Atomic<H, bool>,
}

impl<H: ModelHost> Global<H> {
    fn new(tasks: usize) -> Arc<Self> {
        Arc::new(Global {
            queue: H::Lock::new(GlobQueue::default()),
            len: Len::new(),
            tasks: Tasks::new(tasks),
            token: Atomic::new(true),
        })
    }
    fn put(&self, n: u64) {
        let g = self.tasks.make(n);
        self.queue.with(|queue| queue.put(g, &self.len));
    }
    fn drain(&self) -> Vec<u64> {
        let gs = self.queue.with(|queue| std::iter::from_fn(|| queue.get(&self.len)).collect::<Vec<_>>());
        assert!(self.len.peek() == 0, "the queue is empty, its length says {}", self.len.peek());
        self.tasks.run_all(gs)
    }
}

fn the_length_is_not_slept_on<H: ModelHost>() -> String {
    let global = Global::<H>::new(1);
    let submitter = party::<H, _, _>("submitter", &global, |global| {
        global.put(1);
        // `work/spinning`, submitter's half, as in `wakep`.
        store_load::<H>();
        global.token.load(Relaxed)
    });
    global.token.store(false, Relaxed);
    // `work/spinning`, spinning M's half, as in `retire`.
    store_load::<H>();
    let seen = global.len.peek() > 0;
    let relies = H::join(submitter);
    assert!(seen || !relies, "the submitter relies on a spinning M that has seen a length of 0");
    each_once(1, &[&global.drain()]);
    format!("spinning M saw it: {seen}, submitter relied on it: {relies}")
}

fn a_share_is_on_its_way<H: ModelHost>() -> String {
    let global = Global::<H>::new(2);
    (1..=2).for_each(|n| global.put(n));
    let ring = Arc::new(Atomic::<H, u64>::new(0));
    let taker = party::<H, _, _>("taker", &global, {
        let ring = Arc::clone(&ring);
        move |global| {
            let first = global.queue.with(|queue| {
                queue.get_batch(1, 2, &global.len, |gs| {
                    let n = gs.fold(0, |_, g| g.into_raw().get());
                    // Relaxed: weaker than the ring's `publish`, which is there for what a thief takes.
                    ring.store(n, Relaxed);
                })
            });
            global.tasks.run_all(first)
        }
    });
    let globals = global.len.peek();
    let locals = ring.load(Relaxed);
    assert!(
        globals > 0 || locals > 0,
        "a spinning M saw neither the global queue's G nor the ring's, and one was there"
    );
    let taken = H::join(taker);
    each_once(2, &[&taken, &[ring.load(Relaxed)]]);
    format!("globally {globals}, in the ring {locals}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("globq::the_length_is_a_hint::not_slept_on", the_length_is_not_slept_on,
        claim: "a peek at the length is enough: behind the fences of work/spinning no M sleeps on an old one",
        size: "2 threads, 1 G",
        invariants: [30],
        must_reach: ["saw it: true", "relied on it: false"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("globq::the_length_is_a_hint::a_share_is_on_its_way", a_share_is_on_its_way,
        claim: "an M that sees the global queue empty because its Gs were taken sees those of them that went into a \
                ring",
        size: "2 threads, 2 Gs, 1 share",
        invariants: [30],
        must_reach: ["globally 2", "globally 0, in the ring 2"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
];

const ON_ITS_WAY: &str = "globq::the_length_is_a_hint::a_share_is_on_its_way";
const HINT: &str = "globq::the_length_is_a_hint::not_slept_on";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "globq";
    "globq-no-fence-after-put": "a submitter peeks at nmspinning without a StoreLoad after it queued globally",
        weaken("models/globq.rs", "global.put(1);", "store_load"), by HINT => [Loom, Rc11];
    "globq-length-set-relaxed": "an M that takes a share lowers the length Relaxed",
        weaken("queues/globq.rs", "fn set", "store"), by ON_ITS_WAY => [Loom, Rc11];
    "globq-length-peeked-at-relaxed": "a spinning M peeks at the length Relaxed",
        weaken("queues/globq.rs", "pub fn peek", "load"), by ON_ITS_WAY => [Loom, Rc11];
};
