//! Models of `runnext`; and of both as one queue the story of golang/go #10573. The rest is told once, in `verification/rooms`.

use crate::harness::common::{Tasks, each_once, g, party};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::queues::local::LocalQueue;
use spinpark_kernel::queues::runnext::RunNext;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::Turn;
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
pub const LOCAL: &[Model] =
    &[crate::model!("local::never_empty_while_a_g_is_there::kicked_out_of_runnext", kicked_out_of_runnext,
        claim: "a G that moves from runnext to the ring is seen by a test for emptiness that began before",
        size: "2 threads, 2 Gs, 1 kick, 1 get, 1 test",
        invariants: [10],
        must_reach: ["owner [2] left [1]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()])];

const KICKED: &str = "local::never_empty_while_a_g_is_there::kicked_out_of_runnext";
const SLOT: &str = "runnext::whoever_empties_it_owns_the_g::owner_and_one_thief";
const ASKED: &str = "local::every_client_program_is_explained::three_beside_one";

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
        weaken("queues/runq.rs", "fn looks_empty", "self.head.load"), by ASKED => [Rc11];
};
