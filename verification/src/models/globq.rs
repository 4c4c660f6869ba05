//! Models of `globq`: the list under the lock, and the length that is read without it.

use crate::harness::common::{Tasks, each_once, g, party};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, loom, loom_apart, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_kernel::host::Lock;
use spinpark_kernel::queues::globq::{GlobQueue, Len};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use std::collections::VecDeque;
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
    fn take(&self) -> Vec<u64> {
        let peeked = self.len.peek();
        let g = (peeked > 0).then(|| self.queue.with(|queue| queue.get(&self.len))).flatten();
        self.tasks.run_all(g)
    }
    fn drain(&self) -> Vec<u64> {
        let gs = self.queue.with(|queue| std::iter::from_fn(|| queue.get(&self.len)).collect::<Vec<_>>());
        assert!(self.len.peek() == 0, "the queue is empty, its length says {}", self.len.peek());
        self.tasks.run_all(gs)
    }
}

fn two_submitters_one_taker<H: ModelHost>() -> String {
    let global = Global::<H>::new(2);
    let one = party::<H, _, _>("submitter 1", &global, |global| global.put(1));
    let two = party::<H, _, _>("submitter 2", &global, |global| global.put(2));
    let taken = global.take();
    H::join(one);
    H::join(two);
    let left = global.drain();
    each_once(2, &[&taken, &left]);
    format!("taken {taken:?}")
}

fn a_share_is_taken<H: ModelHost>() -> String {
    let global = Global::<H>::new(4);
    (1..=3).for_each(|n| global.put(n));
    let other = party::<H, _, _>("submitter", &global, |global| global.put(4));
    let mut more = Vec::new();
    let first = global.queue.with(|queue| queue.get_batch(2, 2, &global.len, |gs| more.extend(gs)));
    let taken = global.tasks.run_all(first.into_iter().chain(more));
    assert!(taken == [1, 2], "a fair share of 3 or 4 Gs among 2 Ps, at most 2, is [1, 2], not {taken:?}");
    H::join(other);
    let left = global.drain();
    each_once(4, &[&taken, &left]);
    format!("left {left:?}")
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

/// What stands in a queue: a G, or the ticket of one that is bound to an M.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    G(u64),
    Ticket(u32),
}

impl Told {
    fn of(g: G) -> Told {
        match g.bound() {
            Some(m) => {
                let _ = g.into_raw();
                Told::Ticket(m.0)
            }
            None => Told::G(g.into_raw().get()),
        }
    }
    fn make(self) -> G {
        match self {
            Told::G(n) => g(n),
            Told::Ticket(m) => G::forge_ticket(MId(m)),
        }
    }
}

/// The queue, beside a plain list.
struct Both<H: ModelHost> {
    queue: GlobQueue,
    len: Len<H>,
    list: VecDeque<Told>,
    /// How many were put so far.
    put: u32,
}

impl<H: ModelHost> Both<H> {
    /// New ones: every third is a ticket.
    fn news(&mut self, n: u32) -> Vec<Told> {
        let from = self.put + 1;
        self.put += n;
        (from..from + n).map(|i| if i % 3 == 2 { Told::Ticket(i) } else { Told::G(u64::from(i)) }).collect()
    }

    /// One operation of eight.
    fn does(&mut self) {
        let Both { queue, len, .. } = self;
        match H::choose(8) {
            0 => {
                let told = self.news(1)[0];
                self.queue.put(told.make(), &self.len);
                self.list.push_back(told);
            }
            1 => {
                let told = self.news(2);
                self.queue.put_batch(told.iter().map(|told| told.make()), &self.len);
                self.list.extend(told);
            }
            2 => {
                let told = self.news(2);
                self.queue.put_front(told.iter().map(|told| told.make()), &self.len);
                told.into_iter().rev().for_each(|told| self.list.push_front(told));
            }
            3 => same("the oldest", self.list.pop_front(), queue.get(len).map(Told::of)),
            4 => {
                let ticket = self.list.iter().position(|told| matches!(told, Told::Ticket(_)));
                let told = ticket.and_then(|at| self.list.remove(at));
                same("the oldest ticket", told, queue.get_bound(len).map(|m| Told::Ticket(m.0)));
            }
            5 => self.shares(1, 2),
            6 => self.shares(2, 4),
            _ => self.shares(3, 1),
        }
        let Both { queue, len, list, .. } = self;
        same("how many", list.len(), queue.len());
        same("none?", list.is_empty(), queue.is_empty());
        same("how many, from outside", list.len(), len.peek());
    }

    /// One takes its share: so many that there would be enough if each of `procs` took one less; at most half a ring.
    fn shares(&mut self, procs: usize, half_ring: usize) {
        let fair = (1..=half_ring).take_while(|n| (n - 1) * procs <= self.list.len()).count();
        let told: Vec<Told> = self.list.drain(..fair.min(self.list.len())).collect();
        let mut rest = Vec::new();
        let first = self.queue.get_batch(procs, half_ring, &self.len, |gs| rest.extend(gs.map(Told::of)));
        same("a share", told, first.map(Told::of).into_iter().chain(rest).collect());
    }
}

fn same<T: std::fmt::Debug + PartialEq>(what: &str, told: T, found: T) {
    assert!(told == found, "{what}: {found:?} instead of {told:?}");
}

fn four_operations<H: ModelHost>() -> String {
    let mut both = Both::<H> { queue: GlobQueue::default(), len: Len::new(), list: VecDeque::new(), put: 0 };
    same("how many at first", 0, both.len.peek());
    (0..4).for_each(|_| both.does());
    format!("{} left", both.list.len())
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("globq::each_g_is_taken_once::two_submitters_one_taker", two_submitters_one_taker,
        claim: "two submitters and a taker that peeks first: each G once, list and length agree",
        size: "3 threads, 2 puts, 1 peek and get",
        invariants: [1, 2],
        must_reach: ["taken []", "taken [1]", "taken [2]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("globq::each_g_is_taken_once::a_share_is_taken", a_share_is_taken,
        claim: "a fair share, oldest first, at most half a ring",
        size: "2 threads, 4 Gs, 2 Ps, half a ring of 4",
        invariants: [1, 2],
        must_reach: ["left [3, 4]"],
        runs: [rc11(), loom(), loom_apart(), sc()]),
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
    crate::model!("globq::answers_as_a_list_would::four_operations", four_operations,
        claim: "first in, first out, but for what is put in front, and tickets; a share is fair; list and length agree",
        size: "1 thread, every 4 operations: put, a batch of 2, 2 in front, get, get a ticket, a share of 1, 2 or 3 Ps",
        invariants: [1, 2, 26],
        must_reach: ["8 left", "0 left"],
        runs: [sc()]),
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
