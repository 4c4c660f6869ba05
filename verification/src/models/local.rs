//! Models of `local` and `runnext`.

use crate::harness::common::{Tasks, each_once, g, party};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::queues::local::LocalQueue;
use spinpark_kernel::queues::runnext::RunNext;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::Turn;
use std::collections::VecDeque;
use std::sync::Arc;

struct Local<H: ModelHost> {
    queue: LocalQueue<H, 4>,
    tasks: Tasks<H>,
}

impl<H: ModelHost> Local<H> {
    fn new(tasks: usize) -> Arc<Self> {
        main_plays("owner");
        Arc::new(Local { queue: LocalQueue::new(Capacity::MIN), tasks: Tasks::new(tasks) })
    }
    fn put_next(&self, n: u64) {
        self.queue.put_next(self.tasks.make(n), |_, g: G| panic!("G{} does not fit", g.id()));
    }
    fn get(&self) -> Vec<u64> {
        self.tasks.run_all(self.queue.get(&mut Turn::default(), 16))
    }
    fn drain(&self) -> Vec<u64> {
        self.tasks.run_all(self.queue.drain())
    }
}

fn kicked_out_of_runnext<H: ModelHost>() -> String {
    let local = Local::<H>::new(2);
    local.put_next(1);
    let spinning_m = party::<H, _, _>("spinning_m", &local, |local| local.queue.is_empty());
    // G1 goes from runnext to the ring, G2 comes and goes: there is a G all the time.
    local.put_next(2);
    let owner = local.get();
    let empty = H::join(spinning_m);
    assert!(!empty, "the queue looked empty, but G1 was in it all the time");
    let left = local.drain();
    each_once(2, &[&owner, &left]);
    format!("owner {owner:?} left {left:?}")
}

fn served_before_runnext<H: ModelHost>() -> String {
    let local = Local::<H>::new(2);
    local.queue.put(local.tasks.make(1), |_, g: G| panic!("G{} does not fit", g.id()));
    let spinning_m = party::<H, _, _>("spinning_m", &local, |local| local.queue.is_empty());
    // `runnext` has had its turns: G1 leaves the ring when G2 is in `runnext` already.
    local.put_next(2);
    let owner = local.tasks.run_all(local.queue.get(&mut Turn::default(), 0));
    let empty = H::join(spinning_m);
    assert!(!empty, "the queue looked empty, but G2 came before G1 left");
    let left = local.drain();
    each_once(2, &[&owner, &left]);
    format!("owner {owner:?} left {left:?}")
}

fn emptied_meanwhile<H: ModelHost>() -> String {
    let local = Local::<H>::new(1);
    local.put_next(1);
    let spinning_m = party::<H, _, _>("spinning_m", &local, |local| local.queue.is_empty());
    let owner = local.get();
    let empty = H::join(spinning_m);
    each_once(1, &[&owner]);
    format!("looked empty: {empty}")
}

fn owner_and_thief_share_runnext<H: ModelHost>() -> String {
    let local = Local::<H>::new(2);
    let thief = party::<H, _, _>("thief", &local, |local| {
        let mine = LocalQueue::<H, 4>::new(Capacity::MIN);
        let first = local.queue.steal_some(&mine, true, || ()).map(|(first, _)| first);
        local.tasks.run_all(first.into_iter().chain(mine.drain()))
    });
    local.put_next(1);
    local.put_next(2);
    let mut owner = local.get();
    let stolen = H::join(thief);
    owner.extend(local.drain());
    each_once(2, &[&owner, &stolen]);
    format!("owner {owner:?} thief {stolen:?}")
}

fn owner_and_one_thief<H: ModelHost>() -> String {
    struct Slot<H: ModelHost> {
        slot: RunNext<H>,
        tasks: Tasks<H>,
    }
    let shared = Arc::new(Slot::<H> { slot: RunNext::new(), tasks: Tasks::new(2) });
    let thief = party::<H, _, _>("thief", &shared, |shared| shared.tasks.run_all(shared.slot.steal()));
    let mut owner = shared.tasks.run_all(shared.slot.put(shared.tasks.make(1)));
    owner.extend(shared.tasks.run_all(shared.slot.put(shared.tasks.make(2))));
    owner.extend(shared.tasks.run_all(shared.slot.take()));
    let stolen = H::join(thief);
    each_once(2, &[&owner, &stolen]);
    format!("owner {owner:?} thief {stolen:?}")
}

fn two_thieves<H: ModelHost>() -> String {
    let slot = Arc::new(RunNext::<H>::new());
    assert!(slot.put(g(1)).is_none());
    let steal = |slot: &RunNext<H>| slot.steal().map(G::into_raw).is_some();
    let (one, two) = (party::<H, _, _>("thief 1", &slot, steal), party::<H, _, _>("thief 2", &slot, steal));
    let (one, two) = (H::join(one), H::join(two));
    assert!(one != two, "one G, taken by {} thieves", u8::from(one) + u8::from(two));
    format!("thief {} won", if one { 1 } else { 2 })
}

/// The queues of a P, with a ring of two, beside a slot and a plain list; and what was spilled.
struct Both<H: ModelHost> {
    queue: LocalQueue<H, 4>,
    next: Option<u64>,
    ring: VecDeque<u64>,
    spilled: Vec<u64>,
    put: u64,
    turn: Turn,
    /// How many were dispatched, and how many in a row from the slot.
    told: (u32, u32),
}

impl<H: ModelHost> Both<H> {
    fn ring_gets(&mut self, n: u64) {
        if self.ring.len() == 2 {
            let half = self.ring.pop_front();
            self.spilled.extend(half.into_iter().chain([n]));
        } else {
            self.ring.push_back(n);
        }
    }

    fn puts(&mut self, is_next: bool) {
        self.put += 1;
        let (n, before, mut spilled) = (self.put, self.spilled.len(), Vec::new());
        if is_next {
            self.queue.put_next(g(n), |half, last| spilled.extend(half.chain([last])));
            if let Some(displaced) = self.next.replace(n) {
                self.ring_gets(displaced);
            }
        } else {
            self.queue.put(g(n), |half, last| spilled.extend(half.chain([last])));
            self.ring_gets(n);
        }
        let spilled: Vec<u64> = spilled.into_iter().map(|g| g.into_raw().get()).collect();
        let told = &self.spilled[before..];
        assert!(told == spilled, "spilled {spilled:?}, not {told:?}");
    }

    fn steals(&mut self, and_next: bool) {
        let mine = LocalQueue::new(Capacity::MIN);
        let (first, n) = self.queue.steal_some(&mine, and_next, || ()).map_or((None, 0), |(g, n)| (Some(g), n));
        let found: Vec<u64> = first.into_iter().chain(mine.drain()).map(|g| g.into_raw().get()).collect();
        let half = self.ring.len().div_ceil(2);
        let told: Vec<u64> = match half {
            0 if and_next => self.next.take().into_iter().collect(),
            _ => self.ring.drain(..half).collect(),
        };
        assert!(found == told && n == told.len(), "stole {n}, {found:?}, not {told:?}; runnext too? {and_next}");
    }

    /// The slot, but not twice in a row while the ring holds one.
    fn serves(&mut self) -> Option<u64> {
        let (dispatches, inherited) = self.told;
        if (inherited == 0 || self.ring.is_empty())
            && let Some(n) = self.next.take()
        {
            self.told = (dispatches + 1, inherited + 1);
            return Some(n);
        }
        let n = self.ring.pop_front()?;
        self.told = (dispatches + 1, 0);
        Some(n)
    }

    /// One operation of five.
    fn does(&mut self) {
        match H::choose(5) {
            n @ 0..2 => self.puts(n == 0),
            n @ 2..4 => self.steals(n == 2),
            _ => {
                let told = self.serves();
                let found = self.queue.get(&mut self.turn, 1).map(|g| g.into_raw().get());
                assert!(found == told, "the next is {found:?}, not {told:?}");
                let (turn, (dispatches, inherited)) = (self.turn, self.told);
                let is_inherited = turn.may_inherit(inherited + 1) && !turn.may_inherit(inherited);
                assert!(turn.dispatches() == dispatches && is_inherited, "{turn:?}, not {:?}", self.told);
            }
        }
        let told = self.ring.len() + usize::from(self.next.is_some());
        assert!(self.queue.len() == told, "{} in it, not {told}", self.queue.len());
        assert!(self.queue.is_empty() == (told == 0), "{told} in it: none? {}", self.queue.is_empty());
    }
}

fn five_operations<H: ModelHost>() -> String {
    let (queue, ring) = (LocalQueue::new(Capacity::MIN), VecDeque::new());
    let turn = Turn::default();
    let mut both = Both::<H> { queue, next: None, ring, spilled: Vec::new(), put: 0, turn, told: (0, 0) };
    (0..5).for_each(|_| both.does());
    let left = both.queue.drain().count();
    format!("{} spilled, {left} left", both.spilled.len())
}

/// The models of `runnext`.
pub const RUNNEXT: &[Model] = &[
    crate::model!("runnext::whoever_empties_it_owns_the_g::owner_and_one_thief", owner_and_one_thief,
        claim: "a G in the slot is displaced, taken or stolen, by one of them, with its data",
        size: "2 threads, 2 puts, 1 take, 1 steal",
        invariants: [1, 2, 8],
        must_reach: ["thief []", "thief [1]", "thief [2]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("runnext::whoever_empties_it_owns_the_g::two_thieves", two_thieves,
        claim: "of two thieves one gets it",
        size: "3 threads, 1 G, 2 steals",
        invariants: [1, 2, 8],
        must_reach: ["thief 1 won", "thief 2 won"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
];

/// The models of `local`.
pub const LOCAL: &[Model] = &[
    crate::model!("local::never_empty_while_a_g_is_there::kicked_out_of_runnext", kicked_out_of_runnext,
        claim: "a G that moves from runnext to the ring is seen by a test for emptiness that began before",
        size: "2 threads, 2 Gs, 1 kick, 1 get, 1 test",
        invariants: [10],
        must_reach: ["owner [2] left [1]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("local::never_empty_while_a_g_is_there::served_before_runnext", served_before_runnext,
        claim: "a test for emptiness that began before a G came to runnext sees that, or the one that left the ring after",
        size: "2 threads, 2 Gs, 1 put, 1 get, 1 test",
        invariants: [10],
        must_reach: ["owner [1] left [2]"],
        runs: [rc11(), loom(), sc(), tso()]),
    crate::model!("local::never_empty_while_a_g_is_there::emptied_meanwhile", emptied_meanwhile,
        claim: "the test does see that a queue is empty",
        size: "2 threads, 1 G, 1 get, 1 test",
        invariants: [10],
        must_reach: ["looked empty: true", "looked empty: false"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("local::each_g_is_taken_once::owner_and_thief_share_runnext", owner_and_thief_share_runnext,
        claim: "runnext and ring together: displaced, run and stolen, each G once",
        size: "2 threads, ring of 2, 2 puts to runnext, 1 get, 1 steal",
        invariants: [1, 2, 8, 9],
        must_reach: ["thief []", "thief [1]", "thief [2]"],
        runs: [rc11(), loom_bounded(3), loom_apart(), sc(), tso()]),
    crate::model!("local::answers_as_a_list_would::five_operations", five_operations,
        claim: "runnext comes first, but once in a row if the ring holds a G, then the ring in order, and each is counted; a thief takes half of the ring, or runnext if it may",
        size: "1 thread, ring of 2, every 5 operations: put, put next, get, steal with runnext or without",
        invariants: [1, 2, 8, 9, 10],
        must_reach: ["4 spilled, 1 left", "2 spilled, 3 left", "0 spilled, 0 left"],
        runs: [sc()]),
];

const KICKED: &str = "local::never_empty_while_a_g_is_there::kicked_out_of_runnext";
const SERVED: &str = "local::never_empty_while_a_g_is_there::served_before_runnext";
const SLOT: &str = "runnext::whoever_empties_it_owns_the_g::owner_and_one_thief";

/// The mutants of both rooms.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "runnext";
    "runnext-put-relaxed": "the owner fills the slot Relaxed",
        weaken("queues/runnext.rs", "pub fn put", "swap"), by SLOT => [Loom, Rc11];
    "runnext-steal-relaxed": "a thief empties the slot Relaxed",
        weaken("queues/runnext.rs", "pub fn steal", "swap"), by SLOT => [Loom, Rc11];
    "runnext-take-relaxed":
        "the owner empties the slot Relaxed, so an emptiness test may not see what it put into the ring before",
        weaken("queues/runnext.rs", "pub fn take", "swap"), by KICKED => [Loom, Rc11];
    "local-emptiness-relaxed" of "local": "the emptiness test reads the slot Relaxed",
        weaken("queues/runnext.rs", "fn is_set_acquire", "load"), by KICKED => [Loom, Rc11];
    "local-emptiness-reads-head-relaxed" of "local":
        "the emptiness test reads head Relaxed, so it may see that a G left the ring, and not that another came to runnext before",
        weaken("queues/runq.rs", "fn looks_empty", "self.head.load"), by SERVED => [Rc11];
};
