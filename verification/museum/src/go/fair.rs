//! Gs that wait for ever beside others that go on and on.

use crate::common::{Engine, Exhibit, ModelHost, Source, is_wrong, main_plays, party, rc11, sc};
use crate::go::{Case, told, variant};
use spinpark_kernel::host::Lock;
use std::collections::VecDeque;
use std::sync::Arc;

/// The global queue is asked first at each dispatch of this many. (Go: 61.)
const EVERY: u32 = 2;

fn a_chain_of_successors<H: ModelHost>() -> String {
    main_plays("p");
    let global = Arc::new(H::Lock::new(0_u64));
    let submitter = party::<H, _, _>("submitter", &global, |global: &H::Lock<u64>| global.with(|n| *n += 1));
    let (mut schedtick, mut overtaken, mut ran) = (0, 0, None);
    for dispatch in 0..6 {
        // `findRunnable`: the global queue, each so many ticks.
        if schedtick % EVERY == 0 && global.with(|n| std::mem::take(n) > 0) {
            ran = Some(dispatch);
            break;
        }
        // The G that ran has spawned another, which is in `runnext`, and ended. It inherits the slice. `execute`: a
        // slice that is inherited is no new tick; in our kernel each dispatch is one.
        let inherits = is_wrong("museum-go-52934");
        schedtick += u32::from(!inherits || schedtick == 0);
        overtaken += u32::from(global.with(|n| *n > 0));
        assert!(overtaken <= EVERY, "a G in the global queue was overtaken {overtaken} times, and will be");
    }
    H::join(submitter);
    format!("ran {ran:?}, overtaken {overtaken}")
}

const CHAIN: &str = "museum::go_52934::a_chain_of_successors";

/// #52934.
pub(super) const ENDLESS_SLICE: Case = Case {
    exhibit: Exhibit {
        source: Source::OurReading,
        ..told(
            "a time slice that is inherited for ever",
            "golang/go#52934",
            2022,
            "museum-go-52934",
            [
                "Where each G starts another and ends, other Gs of that P wait, for as long as the chain goes on. We \
                 measured up to 1.6 s on Go 1.27. It is open.",
                "A G that was just readied runs next, in the slice of the one before it, and that counts as no tick. \
                 The global queue is asked every 61 ticks.",
                "None in Go. Our kernel ticks at each dispatch.",
            ],
        )
    },
    mutant: variant(
        "museum-go-52934",
        "a dispatch from runnext is no tick",
        &[(CHAIN, Engine::Rc11), (CHAIN, Engine::Sc)],
    ),
    model: crate::model!("museum::go_52934::a_chain_of_successors", a_chain_of_successors,
        claim: "a G in the global queue is overtaken a bounded number of times by a chain of successors",
        size: "2 threads: a P with a chain of 6, a submitter; the global queue each 2 ticks",
        invariants: [40],
        must_reach: ["ran Some(0)", "ran Some(2)", "ran None", "overtaken 1"],
        runs: [rc11(), sc()]),
};

/// A P whose G makes one short system call after the other, while others wait in its ring.
#[derive(Default)]
struct Calls {
    in_call: bool,
    /// `syscalltick`.
    tick: u64,
    retaken: bool,
}

/// Passes of `sysmon`, each as long as a slice after the one before.
const PASSES: u64 = 3;

fn calls_and_calls<H: ModelHost>() -> String {
    main_plays("sysmon");
    let p = Arc::new(H::Lock::new(Calls::default()));
    let caller = party::<H, _, _>("caller", &p, |p: &H::Lock<Calls>| {
        let mut calls = 0;
        for _ in 0..PASSES {
            // `entersyscall`.
            p.with(|p| p.in_call = true);
            calls += 1;
            // `exitsyscall`.
            let keeps_its_p = p.with(|p| {
                p.in_call = false;
                p.tick += 1;
                !p.retaken
            });
            if !keeps_its_p {
                break;
            }
        }
        calls
    });
    // What `sysmon` remembers of the P: `pd.schedwhen`, `pd.syscalltick`. `schedtick` does not change: no G is
    // scheduled.
    let (mut slice_began, mut seen_tick) = (None, None);
    let mut sightings = 0;
    for pass in 0..PASSES {
        // `retake`.
        let retaken = p.with(|p| {
            let began = *slice_began.get_or_insert(pass);
            if !p.in_call {
                return false;
            }
            let is_expired = pass > began && !is_wrong("museum-go-28701");
            let is_the_same_call = seen_tick.replace(p.tick) == Some(p.tick);
            p.retaken = is_expired || is_the_same_call;
            sightings += u64::from(!p.retaken);
            p.retaken
        });
        if retaken {
            break;
        }
        assert!(sightings <= 1, "a P was seen in a system call {sightings} times, for slices, and not taken");
    }
    let calls = H::join(caller);
    let retaken = p.with(|p| p.retaken);
    format!("{calls} calls, retaken {retaken}")
}

const CALLS: &str = "museum::go_28701::calls_and_calls";

/// #28701.
pub(super) const NEVER_THE_SAME_TICK: Case = Case {
    exhibit: told(
        "never twice in the same call",
        "golang/go#28701",
        2018,
        "museum-go-28701",
        [
            "Gs that made one short call into C after the other kept all Ps, and others did not run.",
            "The monitor takes a P only if it finds it in the same system call at two passes. Between two passes a \
             call had always ended and another had begun.",
            "Since Go 1.27 a P whose slice is over is taken also at the first sight of a call.",
        ],
    ),
    mutant: variant(
        "museum-go-28701",
        "a P is taken only if it is seen twice in the same system call",
        &[(CALLS, Engine::Rc11), (CALLS, Engine::Sc)],
    ),
    model: crate::model!("museum::go_28701::calls_and_calls", calls_and_calls,
        claim: "a P that is seen in system calls for longer than a slice is taken",
        size: "2 threads: sysmon with 3 passes, a caller with 3 calls",
        invariants: [43],
        must_reach: ["retaken true", "3 calls, retaken false"],
        runs: [rc11(), sc()]),
};

/// Gs that hand each other a value to and fro, and one that a timer readies.
const PING: u64 = 1;
const PONG: u64 = 2;
const TIMED: u64 = 3;

fn two_that_ready_each_other<H: ModelHost>() -> String {
    main_plays("p");
    // There is one thread, and no monitor: no G is ever preempted.
    let has_monitor = false;
    let (mut runnext, mut ring) = (None, VecDeque::from([PING]));
    let (fires, mut waited) = (H::choose(3), 0);
    for dispatch in 0..8 {
        if dispatch == fires {
            // `checkTimers`; the slot is some other's by the time that the G is run.
            ring.push_back(TIMED);
        }
        // `runqget`: the slot first.
        let g = runnext.take().or_else(|| ring.pop_front());
        if g == Some(TIMED) {
            return format!("fired at {fires}, waited {waited}");
        }
        // It readies the other, and waits for it: `goready`, `runqput(next)`.
        let other = if g == Some(PING) { PONG } else { PING };
        if has_monitor || is_wrong("museum-go-65178") {
            runnext = Some(other);
        } else {
            // `runqput`: without a monitor there is no slot.
            ring.push_back(other);
        }
        waited += u32::from(dispatch >= fires);
        assert!(waited <= 2, "two Gs ready each other for ever, and a third waits");
    }
    unreachable!("the G was run, or waited too long")
}

const TO_AND_FRO: &str = "museum::go_65178::two_that_ready_each_other";

/// #65178.
pub(super) const SLOT_WITHOUT_A_MONITOR: Case = Case {
    exhibit: Exhibit {
        source: Source::OurReading,
        ..told(
            "two that keep a slot to themselves",
            "golang/go#65178",
            2024,
            "museum-go-65178",
            [
                "On wasm a G that was to end a test after some time never ran, while two others handed values to and \
                 fro.",
                "A G that was just readied runs next, out of turn. Elsewhere the monitor ends that when the slice is \
                 over; on wasm there is no monitor.",
                "Without a monitor no G runs out of turn.",
            ],
        )
    },
    mutant: variant(
        "museum-go-65178",
        "Gs run next, out of turn, though there is no monitor that ends a slice",
        &[(TO_AND_FRO, Engine::Rc11), (TO_AND_FRO, Engine::Sc)],
    ),
    model: crate::model!("museum::go_65178::two_that_ready_each_other", two_that_ready_each_other,
        claim: "without a monitor a G waits for those before it only",
        size: "1 thread, as on wasm; 3 Gs, a timer that fires at one of 3 dispatches",
        invariants: [36, 40],
        must_reach: ["fired at 0", "fired at 1", "fired at 2"],
        runs: [rc11(), sc()]),
};
