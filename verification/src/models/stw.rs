//! Models of `stw`, `safepoint`, `wanted` and `resize`: first with the smallest scheduler around the rooms, then with
//! the real one.
//!
//! A P is a cell that only its owner may touch. While the world is stopped the stopper touches all of them, so a P that
//! was counted without being held is seen.

mod real;
mod tiny;

use crate::engines::Engine;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, rc11_cut, sampled, sc, tso};
use crate::mutation::mutant::Mutant;
use real::{
    a_g_and_an_outsider, a_g_and_an_outsider_run_one_each, a_g_makes_one_system_call_after_another,
    a_g_runs_beside_an_idle_p, a_g_spawns_another, from_one_to_two, from_two_to_one, one_g_makes_a_system_call,
    one_p_is_idle, the_scheduler_is_closed, the_world_is_stopped, while_a_p_is_released,
};
use tiny::{
    an_m_enters_a_system_call_and_blocks, five_come, four_operations_on_bits, one_idles_and_one_enters_a_system_call,
    one_is_idle_and_one_enters_a_system_call, one_is_the_callers_and_one_runs, one_stops_again_and_again,
    one_system_call_after_another, the_p_lies_in_nextp, three_resizes, two_stoppers_and_an_m,
};

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("stw::every_p_is_held::an_m_enters_a_system_call_and_blocks", an_m_enters_a_system_call_and_blocks,
        claim: "a P whose M just enters a system call that lasts does not sit out a stop there",
        size: "2 threads, 1 P, 1 stop",
        invariants: [4, 16, 17, 41],
        must_reach: ["the stopper took it, back: Some(Idle)", "its M gave it up, back: Some(Idle)"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("stw::every_p_is_held::one_idles_and_one_enters_a_system_call",
        one_idles_and_one_enters_a_system_call,
        claim: "the same, while another M idles its P: both are held, each once, and the last wakes the stopper",
        size: "3 threads, 2 Ps, 1 stop",
        invariants: [4, 16, 17, 41],
        must_reach: [
            "ran true, gave up false",
            "ran true, gave up true",
            "ran false, gave up false",
            "ran false, gave up true",
        ],
        runs: [rc11(), loom_bounded(2), sc(), tso()]),
    crate::model!("stw::every_p_is_held::the_p_lies_in_nextp", the_p_lies_in_nextp,
        claim: "a P on its way to another M is held when it gets there, after one G at most",
        size: "3 threads, 1 P, 1 stop",
        invariants: [4, 16, 17],
        must_reach: ["ran true", "ran false"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("stw::a_stop_ends::one_system_call_after_another", one_system_call_after_another,
        claim: "of a G's system calls, one after the other, none that begins after the stop is asked for keeps its P",
        size: "2 threads, 1 P, 3 system calls, 1 stop",
        invariants: [4, 16, 17, 41],
        must_reach: ["came back 0 times", "came back 3 times"],
        runs: [rc11(), loom_bounded(2), sc(), tso()]),
    crate::model!("stw::first_come_first_served::two_stoppers_and_an_m", two_stoppers_and_an_m,
        claim: "two stop the world, each once, in the order in which they came, the second after it ran again",
        size: "3 threads, 1 P, 1 system call, 2 stops",
        invariants: [4, 16, 17, 18, 45],
        must_reach: ["first 1", "first 2", "came back 0 times", "came back 1 times"],
        runs: [rc11(), loom_bounded(3), sampled(Engine::Random, 10_000), sampled(Engine::Pct, 10_000)]),
    crate::model!("stw::first_come_first_served::one_stops_again_and_again", one_stops_again_and_again,
        claim: "a thread that stops the world again and again does not overtake one that waits to",
        size: "2 threads, 3 stops",
        invariants: [16, 17, 45],
        must_reach: ["[1, 1, 2]", "[1, 2, 1]", "[2, 1, 1]"],
        runs: [rc11(), loom_bounded(2), sc(), tso()]),
    crate::model!("stw::no_g_runs_while_stopped::one_g_makes_a_system_call", one_g_makes_a_system_call,
        claim: "the real scheduler is stopped and started while a G makes a system call; it runs on, and all is quiet",
        size: "1 P, 2 Ms, 1 G, 1 stop",
        invariants: [1, 2, 4, 16, 17, 30, 31, 32, 33, 34, 42],
        must_reach: ["1 Ms", "2 Ms"],
        runs: [rc11(), loom_bounded(1), sampled(Engine::Random, 4_000), sampled(Engine::Pct, 4_000)]),
    crate::model!("stw::no_g_runs_while_stopped::a_g_spawns_another", a_g_spawns_another,
        claim: "a G is spawned while the world is to stop: it does not run meanwhile, and does after",
        size: "1 P, 1 M, 2 Gs, 1 stop",
        invariants: [1, 2, 4, 16, 17, 30, 31, 32, 33, 34, 36, 42],
        must_reach: [],
        runs: [rc11(), sampled(Engine::Random, 2_000), sampled(Engine::Pct, 2_000), sampled(Engine::TsoPct, 1_000)]),
    crate::model!("stw::no_g_runs_while_stopped::one_p_is_idle", one_p_is_idle,
        claim: "a P that is idle is held, and the one that a G has: no G runs meanwhile",
        size: "2 Ps, 1 M, 1 G, 1 stop",
        invariants: [1, 2, 4, 16, 17, 30, 31, 32, 33, 34, 42],
        must_reach: [],
        runs: [rc11(), sampled(Engine::Random, 2_000), sampled(Engine::Pct, 2_000), sampled(Engine::TsoPct, 1_000)]),
    crate::model!("stw::first_come_first_served::a_g_and_an_outsider", a_g_and_an_outsider,
        claim: "a G and a thread outside stop the world: each does, none waits for ever",
        size: "1 P, 1 M, 1 G, 2 stops",
        invariants: [1, 2, 4, 16, 17, 30, 31, 32, 33, 34, 42],
        must_reach: ["the G was first", "the G was second"],
        runs: [rc11_cut(), sampled(Engine::Pct, 6_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("stw::a_stop_ends::a_g_makes_one_system_call_after_another", a_g_makes_one_system_call_after_another,
        claim: "after the stop is asked for a G makes one more system call at most, and keeps its P through none",
        size: "2 Ps, 2 Ms, 1 G, 6 system calls, 1 stop",
        invariants: [16, 17, 41, 42],
        must_reach: ["after 0 calls", "after 1 calls", "after 6 calls"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Pct, 10_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("stw::close_gives_back_what_never_ran::the_world_is_stopped", the_world_is_stopped,
        claim: "a scheduler is closed while another thread has stopped it: a G in the ring of a held P is given back",
        size: "1 P, 2 Ms, 2 Gs, 1 stop",
        invariants: [1, 2, 4],
        must_reach: ["gave back 0", "gave back 1"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000)]),
    crate::model!("wanted::answers_as_a_set_would::four_operations", four_operations_on_bits,
        claim: "what is asked for and not done is wanted; a stop and the close are the end",
        size: "1 thread, 3 wants, every 4 operations: ask or done",
        invariants: [16],
        must_reach: ["0 wanted", "3 wanted"],
        runs: [sc()]),
    crate::model!("safepoint::once_under_each_p::five_come", five_come,
        claim: "a function begins once under each P there is, and the caller is woken when it has run under the last",
        size: "1 thread, 3 Ps, every 5 events: the owner of a P comes, of one too many, or the function has run",
        invariants: [17, 18],
        must_reach: ["begun 0, ended 0", "begun 3, ended 2", "begun 3, ended 0"],
        runs: [sc()]),
    crate::model!("safepoint::once_under_each_p::one_is_idle_and_one_enters_a_system_call",
        one_is_idle_and_one_enters_a_system_call,
        claim: "a function runs once under an idle P and once under one whose M just enters a system call that lasts",
        size: "2 threads, 2 Ps",
        invariants: [4, 18, 41],
        must_reach: ["the caller took it", "its M gave it up"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("safepoint::once_under_each_p::one_is_the_callers_and_one_runs", one_is_the_callers_and_one_runs,
        claim: "it runs once under the caller's P and once under one that runs, at its next scheduling point, or idled; when \
                the caller comes back, no M refers to the function",
        size: "2 threads, 2 Ps",
        invariants: [4, 18],
        must_reach: ["at its scheduling point", "when its P was idle"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("safepoint::once_under_each_p::while_a_p_is_released", while_a_p_is_released,
        claim: "a P whose M has found nothing, and lets go of it just when a function is wanted under it, is not missed",
        size: "the whole scheduler: 2 threads, 1 P, 1 G, 1 safepoint",
        invariants: [18],
        must_reach: [],
        runs: [rc11(), sampled(Engine::Random, 500), sampled(Engine::Pct, 500)]),
    crate::model!("safepoint::once_under_each_p::a_g_and_an_outsider_run_one_each", a_g_and_an_outsider_run_one_each,
        claim: "a G and a thread outside each run a function under the only P of the real scheduler",
        size: "1 P, 1 M, 1 G, 2 functions",
        invariants: [1, 2, 4, 18, 30, 31, 32, 33, 34],
        must_reach: ["the G was first", "the G was second"],
        runs: [rc11_cut(), sampled(Engine::Random, 6_000), sampled(Engine::Pct, 6_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("safepoint::once_under_each_p::the_scheduler_is_closed", the_scheduler_is_closed,
        claim: "a function runs once under the only P of the real scheduler while another thread closes that",
        size: "2 threads, 1 P, 1 function",
        invariants: [4, 18, 36],
        must_reach: [],
        runs: [rc11()]),
    crate::model!("safepoint::once_under_each_p::a_g_runs_beside_an_idle_p", a_g_runs_beside_an_idle_p,
        claim: "a function runs once under each of two Ps: the one that a G has, and one that is idle",
        size: "2 Ps, 1 M, 1 G, 1 function",
        invariants: [1, 2, 4, 18, 30, 31, 32, 33, 34],
        must_reach: [],
        runs: [rc11_cut(), sampled(Engine::Random, 2_000), sampled(Engine::Pct, 2_000), sampled(Engine::TsoPct, 1_000)]),
    crate::model!("resize::the_first_numbers_are_held::three_resizes", three_resizes,
        claim: "of four Ps those with the first numbers are held, the others spare, and each that ends is emptied",
        size: "1 thread, 4 Ps, every 3 resizes, the Ps in 2 orders",
        invariants: [4, 26],
        must_reach: ["4 left, emptied 0", "1 left, emptied 3", "1 left, emptied 6", "4 left, emptied 3"],
        runs: [sc()]),
    crate::model!("resize::no_g_is_lost::from_two_to_one", from_two_to_one,
        claim: "two Ps become one while a G waits in the ring of one: it runs once, under the P that there is",
        size: "2 Ps, then 1, 2 Ms, 3 Gs, 1 stop",
        invariants: [1, 2, 4, 16, 26, 27, 30, 31, 32, 33, 34, 42],
        must_reach: ["moved 0", "moved 1"],
        runs: [rc11_cut(), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 5_000)]),
    crate::model!("resize::no_g_is_lost::from_one_to_two", from_one_to_two,
        claim: "one P becomes two while a G is spawned: it runs once",
        size: "1 P, then 2, 1 M, 2 Gs, 1 stop",
        invariants: [1, 2, 4, 16, 26, 27, 30, 31, 32, 33, 34, 42],
        must_reach: [],
        runs: [rc11_cut(), sampled(Engine::Random, 2_000), sampled(Engine::Pct, 2_000), sampled(Engine::TsoPct, 1_000)]),
];

const BLOCKS: &str = "stw::every_p_is_held::an_m_enters_a_system_call_and_blocks";
const TWO_PS: &str = "stw::every_p_is_held::one_idles_and_one_enters_a_system_call";
const TWO_STOPPERS: &str = "stw::first_come_first_served::two_stoppers_and_an_m";
const PASSES: &str = "safepoint::once_under_each_p::one_is_idle_and_one_enters_a_system_call";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "stw";
    // Not on tso: there leaving the lock drains the store to `wanted`, as a fence would.
    "stw-no-stopper-fence": "a stopper looks at the words without a StoreLoad after it has said that it stops",
        weaken("protocol/stw/mod.rs", "pub fn stop<", "store_load::<H>()"), by BLOCKS => [Loom, Rc11];
    "stw-scans-before-it-says": "a stopper looks at the words, then says that it stops",
        variant("scans-before-it-says"), by BLOCKS => [Sc, Loom, Rc11];
    "stw-enters-in-gos-order":
        "an M that enters a system call reads `wanted`, then leaves its P in its word (as Go 1.27 does)",
        variant("enters-in-gos-order"), by BLOCKS => [Sc, Loom, Rc11];
    "stw-counts-a-p-twice": "a stopper that sees a P in a system call holds it without an exchange",
        variant("takes-without-an-exchange"), by TWO_PS => [Sc, Rc11];
    "stw-wakes-nobody": "an M that releases the last P does not wake the stopper",
        variant("wakes-nobody"), by TWO_PS => [Sc, Loom, Rc11];
    "stw-released-before-the-world-runs": "the next in line is let in before the world runs again (golang/go #10618)",
        variant("released-early"), by TWO_STOPPERS => [Sc, Rc11];
    "stw-pushes-in":
        "a semaphore instead of a line: a stopper that asks just when it is free overtakes those that wait (golang/go \
         #40459)",
        variant("pushes"), by "stw::first_come_first_served::one_stops_again_and_again" => [Sc, Rc11];
    "safepoint-no-callers-fence" of "safepoint":
        "for_each_p looks at the words without a StoreLoad after it has said what it wants",
        weaken("protocol/stw/safepoint.rs", "pub fn for_each_p", "store_load::<H>()"), by PASSES => [Loom, Rc11];
    "safepoint-enters-blindly" of "safepoint":
        "an M that enters a system call does not look whether a function is to run",
        variant("enters-blindly"), by PASSES => [Sc, Rc11];
    "safepoint-idles-what-is-wanted" of "safepoint":
        "a P is idled without a look whether the function has run under it",
        variant("idles-what-is-wanted"),
        by "safepoint::once_under_each_p::one_is_the_callers_and_one_runs" => [Sc, Rc11];
    "safepoint-counts-before-it-ran" of "safepoint": "a P counts as done before the function has run under it",
        variant("counts-before-it-ran"),
        by "safepoint::once_under_each_p::one_is_the_callers_and_one_runs" => [Sc, Rc11];
    "safepoint-keeps-the-function" of "safepoint":
        "an M drops its reference to the function after it has woken the caller: the last one runs the user's destructor, with a P",
        variant("keeps-the-function"),
        by "safepoint::once_under_each_p::one_is_the_callers_and_one_runs" => [Sc, Rc11];
};
