//! The whole scheduler beside [lists](crate::lists) that say what each move does: every event, in order, and where
//! everybody is after it.
//!
//! One moves at a time, so nothing is asked of memory orderings, and no step is interrupted: what is checked is *which* G
//! is found *where*, who is woken *with what*, and who is told. The other models see the races, and none of this.

use crate::engine::Engine;
use crate::lists::{self, Kernel, Model as Lists, Move, Numbers, Theme, What};
use crate::model::{Model, sampled, sc};
use crate::stage::Stage;
use spinpark::kernel::locked::Wake;

const SMALL: Numbers = Numbers {
    procs: 2,
    spare: 1,
    ring_log: 1,
    global_first: false,
    global_every: 3,
    inherit_at_most: 1,
    steal_passes: 2,
    max_ms: 4,
};

/// One of these, which the engine chooses.
fn one_of<H: Stage, T: Copy>(all: &[T]) -> T {
    all[H::choose(all.len())]
}

/// Both, and the moves that were made.
struct Play {
    lists: Lists,
    kernel: Kernel,
    made: Vec<Move>,
}

impl Play {
    fn new(lists: Lists) -> Self {
        Play { kernel: Kernel::new(lists.numbers()), lists, made: Vec::new() }
    }

    fn make(&mut self, what: What, lot: u64) {
        let this = Move { what, lot };
        self.made.push(this);
        if let Err(why) = lists::both(&mut self.lists, &mut self.kernel, this) {
            self.differ(&why);
        }
    }

    fn differ(&self, why: &impl std::fmt::Display) -> ! {
        let moves: String = self.made.iter().map(|this| format!("\n  {this:?}")).collect();
        panic!("the kernel and the lists differ\n{:?}{moves}\n{why}", self.lists.numbers())
    }

    /// Brings it to its end; says what was reached.
    fn end(self) -> String {
        let Play { lists, kernel, made } = self;
        let numbers = lists.numbers();
        match lists::to_the_end(lists, kernel) {
            Ok(seen) => seen.names().collect::<Vec<_>>().join("; "),
            Err(why) => panic!("the kernel and the lists differ\n{numbers:?} {made:?}\n{why}"),
        }
    }
}

/// What was done before, so that a few moves reach far.
const PRELUDES: [&[What]; 5] = [
    &[],
    &[What::Submit, What::GoOn(lists::Who::M(0))],
    // Two run, and one holds Gs.
    &[
        What::Submit,
        What::GoOn(lists::Who::M(0)),
        What::Ready(0),
        What::GoOn(lists::Who::M(1)),
        What::Ready(0),
        What::Ready(0),
    ],
    // Both sleep.
    &[
        What::Submit,
        What::GoOn(lists::Who::M(0)),
        What::Submit,
        What::GoOn(lists::Who::M(1)),
        What::Next(0),
        What::Next(1),
    ],
    // One waits for the other, which is in a system call.
    &[
        What::Submit,
        What::GoOn(lists::Who::M(0)),
        What::Ready(0),
        What::GoOn(lists::Who::M(1)),
        What::Park(0, Wake::Inside),
        What::Enter(1),
    ],
];

fn any_two_moves<H: Stage>() -> String {
    let mut play = Play::new(Lists::new(SMALL, None));
    for what in one_of::<H, _>(&PRELUDES) {
        play.make(*what, 0);
    }
    for _ in 0..2 {
        let mut all = play.lists.allowed();
        all.dedup();
        play.make(one_of::<H, _>(&all), 0);
    }
    play.end()
}

/// Sizes at which something differs: one P or several, one pass or more, rings that fill at once.
fn numbers<H: Stage>() -> Numbers {
    Numbers {
        procs: 1 + H::choose(3),
        spare: H::choose(3),
        ring_log: 1 + H::choose(3) as u32,
        global_first: H::choose(2) == 0,
        global_every: one_of::<H, _>(&[0, 1, 3, 61]),
        inherit_at_most: 1 + H::choose(3) as u32,
        steal_passes: one_of::<H, _>(&[1, 2, 4]),
        max_ms: one_of::<H, _>(&[4, 5, 6, 4, 5, 6, 1, 2, 3]),
    }
}

fn drawn_moves<H: Stage>(themes: &[Theme]) -> String {
    let lists = Lists::new(numbers::<H>(), None).about(one_of::<H, _>(themes));
    let mut play = Play::new(lists);
    for _ in 0..10 + H::choose(60) {
        let what = one_of::<H, _>(&play.lists.allowed());
        let lot = H::choose(8) as u64;
        play.make(what, lot);
    }
    play.end()
}

fn moves_of_queues<H: Stage>() -> String {
    drawn_moves::<H>(&[Theme::Queues, Theme::Everything])
}

fn moves_of_calls<H: Stage>() -> String {
    drawn_moves::<H>(&[Theme::Calls, Theme::Everything])
}

fn moves_of_waits<H: Stage>() -> String {
    drawn_moves::<H>(&[Theme::Waits])
}

fn moves_of_the_world<H: Stage>() -> String {
    drawn_moves::<H>(&[Theme::World])
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::answers_as_lists_would::any_two_moves", any_two_moves,
        claim: "whatever is done next, twice, the scheduler does what lists would: every event, in order, and where everybody is",
        size: "one moves at a time; 5 beginnings of up to 6 moves, then any 2 of all there are, then the end; 2 Ps, 4 Ms, rings of 2",
        invariants: [1, 2, 4, 12, 13, 16, 18, 19, 25, 30, 31, 32, 33, 34],
        must_reach: ["back, and the P was kept", "a bound G made way", "one stood in line"],
        runs: [sc()]),
    crate::model!("sched::answers_as_lists_would::moves_of_queues", moves_of_queues,
        claim: "who finds which G where is what lists would say",
        size: "one moves at a time; 10 to 69 moves; 1 to 3 Ps, up to 6 Ms, rings of 2 to 8",
        invariants: [1, 2, 4, 12, 13, 25, 30, 31, 32, 33, 34],
        must_reach: ["found at the global queue's turn", "found locally", "found in the global queue",
            "found in the source", "stolen", "several were stolen", "runnext was stolen", "runnext had its turns", "a share was more than one",
            "spilled", "a start was refused", "there could be no more Ms", "the source was emptied at the global queue's turn",
            "the monitor tried again to get an M", "the first M was refused"],
        runs: [sampled(Engine::Random, 1_000)]),
    crate::model!("sched::answers_as_lists_would::moves_of_calls", moves_of_calls,
        claim: "who comes back from a system call with which P, and what the monitor takes or asks for, is what lists would say",
        size: "one moves at a time; 10 to 69 moves; 1 to 3 Ps, up to 6 Ms, rings of 2 to 8",
        invariants: [1, 2, 4, 12, 13, 25, 30, 31, 32, 33, 34],
        must_reach: ["back, and the P was kept", "back, and the P was taken back", "back, and a P was idle", "back, and queued",
            "retaken", "a G was asked to make way", "a P with work was handed on"],
        runs: [sampled(Engine::Random, 1_000)]),
    crate::model!("sched::answers_as_lists_would::moves_of_waits", moves_of_waits,
        claim: "who waits, who is readied, and who is told of a deadlock is what lists would say",
        size: "one moves at a time; 10 to 69 moves; 1 to 3 Ps, up to 6 Ms, rings of 2 to 8",
        invariants: [1, 2, 4, 12, 13, 19, 25, 30, 31, 32, 33, 34],
        must_reach: ["a ticket was served", "a bound G made way", "it was readied before it waited", "who waited got an idle P",
            "a deadlock was told", "one of several that wait was told", "closed while a G waits", "back, and a P came later"],
        runs: [sampled(Engine::Random, 1_000)]),
    crate::model!("sched::answers_as_lists_would::moves_of_the_world", moves_of_the_world,
        claim: "who stops the world, in which order, and what is under which P afterwards is what lists would say",
        size: "one moves at a time; 10 to 69 moves; 1 to 3 Ps, up to 6 Ms, rings of 2 to 8",
        invariants: [1, 2, 4, 12, 13, 16, 18, 25, 30, 31, 32, 33, 34],
        must_reach: ["stopped while a G is in a system call", "one stood in line", "a safepoint was passed", "more Ps",
            "a P that ended held Gs"],
        runs: [sampled(Engine::Random, 1_000)]),
];
