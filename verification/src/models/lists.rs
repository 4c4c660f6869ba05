//! The whole scheduler beside [lists that say](crate::spec) what each move does: every event, in order, and where
//! each party is after it.
//!
//! One moves at a time, so nothing is asked of memory orderings, and no step is interrupted: what is checked is *which* G
//! is found *where*, which M is woken *with what*, and which is told. The other models see the races, and none of this.

use crate::checker::tally::Broken;
use crate::engines::Engine;
use crate::harness::common::any_of;
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, OnAny, sampled, sc};
use crate::spec::What::{
    Arrive, Await, Block, Calm, Close, End, Enter, ExitBound, Expect, ForEachP, GoOn, Interrupt, Next, NextLocal,
    NextTurn, Park, Ready, ReadyBound, Refuse, Report, Resize, Start, StartMonitor, Stop, Submit, Tick, Timer, Yield,
    YieldBound,
};
use crate::spec::{self, Kernel, Lists, Move, Numbers, Theme, What, Who};
use spinpark_kernel::protocol::locked::Wake;

const SMALL: Numbers = Numbers {
    procs: 2,
    spare: 1,
    ring_log: 1,
    global_first: false,
    global_every: 3,
    inherit_at_most: 1,
    steal_passes: 2,
    max_ms: 4,
    max_detached: 0,
    elsewhere: false,
    peek_every: 0,
};

/// Rings in which a share has room, and an M that counts apart.
const WIDER: Numbers = Numbers { ring_log: 2, max_detached: 1, ..SMALL };

/// With timers, a poller, and a monitor's thread.
const ELSEWHERE: Numbers = Numbers { spare: 0, elsewhere: true, ..SMALL };

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

    fn make(&mut self, what: What, seed: u64) {
        let this = Move { what, seed };
        assert!(self.lists.allows(what), "{what:?} makes no sense here");
        self.made.push(this);
        if let Err(why) = spec::both(&mut self.lists, &mut self.kernel, this) {
            differ(self.lists.numbers(), &self.made, &why);
        }
    }

    /// Brings it to its end; says what was reached.
    fn end(self) -> String {
        let Play { lists, kernel, made } = self;
        let numbers = lists.numbers();
        match spec::to_the_end(lists, kernel) {
            Ok(seen) => seen.names().collect::<Vec<_>>().join("; "),
            Err(why) => differ(numbers, &made, &why),
        }
    }
}

fn differ(numbers: Numbers, made: &[Move], why: &Broken) -> ! {
    let moves: String = made.iter().map(|this| format!("\n  {this:?}")).collect();
    panic!("the kernel and the lists differ\n{numbers:?}{moves}\n{why}")
}

/// After these moves any two of all there are, then the end. Searched in either order.
fn any_two_moves_after<H: ModelHost>(numbers: Numbers, before: &[What]) -> String {
    let global_first = H::choose(2) == 1;
    let mut play = Play::new(Lists::new(Numbers { global_first, ..numbers }, None));
    before.iter().for_each(|what| play.make(*what, 0));
    for _ in 0..2 {
        let mut all = play.lists.allowed();
        all.dedup();
        play.make(any_of::<H, _>(&all), 0);
    }
    play.end()
}

/// Models that begin with these moves.
macro_rules! beginnings {
    ($($name:ident: $what:literal, reaches $reach:literal, invariants [$($inv:literal),*], $numbers:ident [$($move:expr),*];)*) => {
        $(fn $name<H: ModelHost>() -> String {
            any_two_moves_after::<H>($numbers, &[$($move),*])
        })*

        /// Any two moves, after a beginning.
        pub const BEGINNINGS: &[Model] = &[$(Model {
            name: concat!("sched::answers_as_lists_would::any_two_moves_after_", stringify!($name)),
            file: file!(),
            claim: concat!($what, "; whatever is done next, twice: every event, in order, and where everybody is, is what lists would say"),
            size: "one moves at a time; any 2 moves of all there are, then the end; 2 Ps and a spare, 4 Ms or 5, rings of 2 or 4; both orders of search",
            invariants: &[$($inv),*],
            must_reach: &[$reach],
            runs: const { &[sc()] },
            play: $name::<OnAny>,
        }),*];
    };
}

const M0: Who = Who::M(0);
const M1: Who = Who::M(1);
const OUT: Who = Who::Outsider(0);

beginnings! {
    nothing: "a scheduler that has just begun",
        reaches "a safepoint was passed", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [];
    one_runs: "one M runs a G, a P is idle",
        reaches "back, and the P was kept", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0)];
    two_run: "two Ms run, both Ps hold Gs",
        reaches "found locally", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Ready(0), GoOn(M1), Ready(0), Ready(0), Ready(1)];
    both_sleep: "both Ms sleep",
        reaches "a sleeper was woken", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Submit, GoOn(M1), Next(0), Next(1)];
    one_waits: "one G waits for others of the same scheduler, the other M is in a system call",
        reaches "back, and the P was kept", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Ready(0), GoOn(M1), Park(0, Wake::Inside), Enter(1)];
    a_refusal: "a thread is about to be refused",
        reaches "a start was refused", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Refuse(1), Arrive(3), Ready(0)];
    a_stop: "the world is stopped, one M is in a system call",
        reaches "back, and queued", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Ready(0), GoOn(M1), Ready(0), Enter(1), Stop(OUT), YieldBound(0)];
    a_safepoint: "a safepoint is being passed",
        reaches "a safepoint was passed", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Ready(0), GoOn(M1), Block(1), ForEachP(OUT), Tick(20_000)];
    a_resize: "the world is stopped, and there are more Ps",
        reaches "more Ps", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Stop(OUT), Ready(0), Ready(0), Yield(0), GoOn(OUT), Resize(OUT, 3)];
    a_slice: "a G has run for a slice, and is in a system call",
        reaches "retaken", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Ready(0), Tick(20_000), Tick(10_000_001), Enter(0), Tick(20_000)];
    a_request: "a G is asked to yield",
        reaches "a G was asked to yield", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Tick(20_000), Tick(10_000_001)];
    a_line: "two stand in line to stop the world",
        reaches "one stood in line", invariants [1, 2, 4, 12, 13, 16, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Stop(OUT), Stop(Who::Outsider(1)), NextLocal(0)];
    a_close: "the scheduler is closed while one G waits and one is in a system call",
        reaches "closed while a G waits", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Submit, GoOn(M1), Park(0, Wake::Outside), Enter(1), Close];
    a_ticket: "a ticket lies in a ring behind the G that runs",
        reaches "a ticket was served", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        WIDER [Submit, GoOn(M0), Submit, GoOn(M1), Block(0), Submit, GoOn(Who::M(2)), Submit, ExitBound(0), Next(1)];
    a_late_start: "a ticket is queued, and a P is idle, for the world has just been started",
        reaches "a ticket was served", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Block(0), Stop(OUT), ExitBound(0), Start(OUT)];
    a_hog: "one G of two goes on without its P, for it was preempted",
        reaches "a preempted G blocked, and its P was handed on", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        WIDER [Submit, GoOn(M0), Submit, GoOn(M1), Submit, Interrupt(0)];
    a_hog_beside_an_idle_p: "a G goes on without its P, which was taken and is idle",
        reaches "a preempted G went on under an idle P", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Interrupt(0), Tick(20_000), Tick(10_000_001)];
    a_hog_is_back: "a G that was preempted is back under its P, and others wait behind it",
        reaches "a bound G yielded again", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        WIDER [Submit, GoOn(M0), Submit, GoOn(M1), Interrupt(0), ExitBound(0), Ready(0)];
    a_last_hope: "a G waits for others of the same scheduler, and only a source may still bring one",
        reaches "a deadlock was told", invariants [1, 2, 4, 12, 13, 19, 30, 31, 32, 33, 34],
        SMALL [Submit, GoOn(M0), Expect(true), GoOn(M1), Park(0, Wake::Inside)];
    a_p_that_is_stuck: "an M has looked at the other P, which holds more Gs than its own and has not dispatched since",
        reaches "a P was relieved that dispatches nothing", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        WIDER [Submit, GoOn(M0), Submit, GoOn(M1), Ready(1), Ready(1), Ready(1), Ready(1), Ready(0), Ready(0), NextTurn(0)];
    a_p_that_was_relieved: "an M has stolen from the other P, which had not dispatched, at a turn that it asked for",
        reaches "a P was relieved that dispatches nothing", invariants [1, 2, 4, 12, 13, 30, 31, 32, 33, 34],
        WIDER [Submit, GoOn(M0), Submit, GoOn(M1), Ready(1), Ready(1), Ready(1), Ready(1), Ready(0), Ready(0), NextTurn(0), NextTurn(0)];
    a_late_wake: "a G was readied, and ended with its M before it waited; another runs on an M of the same number",
        reaches "who waited got an idle P", invariants [1, 2, 4, 30, 31, 34],
        SMALL [Submit, GoOn(M0), ReadyBound(0), End(0), Submit, GoOn(M0)];
    a_deep_sleep: "a G waits, and the monitor sleeps deeply",
        reaches "a monitor that slept deeply was woken", invariants [1, 2, 30, 31, 34],
        ELSEWHERE [Submit, GoOn(M0), StartMonitor, GoOn(Who::Monitor), Park(0, Wake::Outside), Calm];
    a_deep_sleep_of_all: "an M sleeps, and so does the monitor, while the world is stopped",
        reaches "a monitor that slept deeply was woken", invariants [1, 2, 30, 31, 34],
        ELSEWHERE [Submit, GoOn(M0), StartMonitor, GoOn(Who::Monitor), Stop(OUT), Next(0), GoOn(OUT), Calm];
    a_stop_that_waits: "a thread waits for the G that runs to stop the world, and the monitor is awake",
        reaches "one stood in line", invariants [1, 2, 16, 30, 31, 34],
        ELSEWHERE [Submit, GoOn(M0), StartMonitor, GoOn(Who::Monitor), Stop(OUT)];
    a_timer: "an M waits in the poller for a timer",
        reaches "a timer was due", invariants [1, 2, 30, 31, 34],
        ELSEWHERE [Submit, GoOn(M0), Timer(None, 20_000), Submit, GoOn(M1), Next(0), Next(1)];
    a_socket: "an M waits in the poller for what it reports",
        reaches "several Gs were reported", invariants [1, 2, 30, 31, 34],
        ELSEWHERE [Submit, GoOn(M0), Await(None, true), Next(0)];
    a_busy_poller: "what the poller has to report waits for two Ms that run",
        reaches "the monitor looked for who is busy", invariants [1, 2, 30, 31, 34],
        ELSEWHERE [Submit, GoOn(M0), Submit, GoOn(M1), Await(Some(0), true), Report(3)];
}

/// Sizes at which something differs: one P or several, one pass or more, rings that fill at once.
fn numbers<H: ModelHost>() -> Numbers {
    Numbers {
        procs: 1 + H::choose(3),
        spare: H::choose(3),
        ring_log: 1 + H::choose(3) as u32,
        global_first: H::choose(2) == 0,
        global_every: any_of::<H, _>(&[0, 1, 3, 61]),
        inherit_at_most: H::choose(4) as u32,
        steal_passes: any_of::<H, _>(&[1, 2, 4]),
        max_ms: any_of::<H, _>(&[4, 5, 6, 4, 5, 6, 1, 2, 3]),
        max_detached: any_of::<H, _>(&[0, 1, 2]),
        elsewhere: false,
        peek_every: 0,
    }
}

fn moves_at_random<H: ModelHost>() -> String {
    let elsewhere = H::choose(2) == 1;
    let peek_every = if elsewhere { any_of::<H, _>(&[0, 10_000_001]) } else { 0 };
    let all = [Theme::Queues, Theme::Calls, Theme::Waits, Theme::World, Theme::Everything, Theme::Elsewhere];
    let theme = any_of::<H, _>(if elsewhere { &all } else { &all[..5] });
    let numbers = Numbers { elsewhere, peek_every, ..numbers::<H>() };
    let mut play = Play::new(Lists::new(numbers, None).about(theme));
    for _ in 0..10 + H::choose(60) {
        let what = any_of::<H, _>(&play.lists.allowed());
        let seed = H::choose(8) as u64;
        play.make(what, seed);
    }
    play.end()
}

/// Moves that are sampled at random.
pub const MODELS: &[Model] = &[crate::model!("sched::answers_as_lists_would::moves_at_random", moves_at_random,
        claim: "which M finds which G where, which waits, comes back, is told or woken, what the monitor takes and what a stop \
                leaves under which P is what lists would say",
        size: "one moves at a time; 10 to 69 moves; 1 to 3 Ps, up to 6 Ms, and 2 more that are detached, rings of 2 to 8; the monitor",
        invariants: [1, 2, 4, 12, 13, 16, 18, 19, 25, 30, 31, 32, 33, 34],
        must_reach: [
            "found at the global queue's turn", "found locally", "found in the global queue", "found in the source", "stolen",
            "several were stolen", "runnext was stolen", "runnext had its turns", "nothing may overtake",
            "a share was more than one", "a turn was asked for", "a turn that was asked for was not due",
            "what a turn found that was asked for runs next", "spilled", "a start was refused", "there could be no more Ms",
            "the source was emptied at the global queue's turn", "the monitor tried again to get an M",
            "the first M was refused", "back, and the P was kept", "back, and the P was taken back", "back, and a P was idle",
            "back, and queued", "retaken", "a G was asked to yield", "a P with work was handed on",
            "as many as may be were detached", "a preempted G blocked, and its P was handed on",
            "a preempted G went on under an idle P", "a P was idle, and a preempted G's own was not taken yet",
            "a ticket was served", "a bound G yielded", "a bound G yielded, and its M counts as detached",
            "a bound G yielded again", "it was readied before it waited", "who waited got an idle P", "a deadlock was told",
            "one of several that wait was told", "closed while a G waits", "back, and a P came later",
            "stopped while a G is in a system call", "one stood in line", "a safepoint was passed", "more Ps",
            "a P that ended held Gs", "an M waited in the poller", "an M came back from the poller for nothing",
            "several Gs were reported", "what was reported found no idle P", "a timer was due",
            "who waits in the poller was called back", "who only looked into the poller found something",
            "who would look into the poller left it at what was seen a moment ago", "the monitor looked for who is busy",
            "a P was handed on so that an M waits in the poller", "a monitor that slept deeply was woken",
        ],
        runs: [sampled(Engine::Random, 6_000)])];
