//! loom's paths: programs as one writes them for loom, with no line changed but the name. What is right is proved, and
//! each wrong variant fails.

extern crate rc11 as loom;

#[path = "loom_paths/addresses.rs"]
mod addresses;
#[path = "loom_paths/atomics.rs"]
mod atomics;
#[path = "loom_paths/bad_use.rs"]
mod bad_use;
#[path = "loom_paths/bounds.rs"]
mod bounds;
#[path = "loom_paths/cells.rs"]
mod cells;
#[path = "loom_paths/channels.rs"]
mod channels;
#[path = "loom_paths/classics.rs"]
mod classics;
#[path = "loom_paths/contracts.rs"]
mod contracts;
#[path = "loom_paths/counted.rs"]
mod counted;
#[path = "loom_paths/found_in_crates.rs"]
mod found_in_crates;
#[path = "loom_paths/futures.rs"]
mod futures;
#[path = "loom_paths/given_back.rs"]
mod given_back;
#[path = "loom_paths/locks.rs"]
mod locks;
#[path = "loom_paths/loops.rs"]
mod loops;
#[path = "loom_paths/memory.rs"]
mod memory;
#[path = "loom_paths/once.rs"]
mod once;
#[path = "loom_paths/pointers.rs"]
mod pointers;
#[path = "loom_paths/protocols.rs"]
mod protocols;
#[path = "loom_paths/scoped.rs"]
mod scoped;
#[path = "loom_paths/spurious.rs"]
mod spurious;
#[path = "loom_paths/statics.rs"]
mod statics;
#[path = "loom_paths/structures.rs"]
mod structures;
#[path = "loom_paths/symmetric.rs"]
mod symmetric;
#[path = "loom_paths/timeouts.rs"]
mod timeouts;
#[path = "loom_paths/weak.rs"]
mod weak;

use loom::model::{Builder, Outcome, Verdict};

fn outcome(f: impl Fn() + Send + Sync + 'static) -> Outcome {
    Builder::new().outcome_of(f)
}

/// Every execution of `f` is as it should be; how many there are.
#[track_caller]
fn proved(f: impl Fn() + Send + Sync + 'static) -> u64 {
    let outcome = outcome(f);
    assert_eq!(outcome.verdict, Verdict::Proved);
    assert!(outcome.executions > 0);
    outcome.executions
}

/// Some execution of `f` is not; why.
#[track_caller]
fn refuted(f: impl Fn() + Send + Sync + 'static) -> String {
    match outcome(f).verdict {
        Verdict::Failed(why) => why,
        other => panic!("{other}"),
    }
}

/// Memory that is not atomic.
#[derive(Debug, Default)]
struct Memory(loom::cell::UnsafeCell<u32>);
// SAFETY: whether two accesses race is what the model finds out, before they are made.
unsafe impl Sync for Memory {}

impl Memory {
    #[track_caller]
    fn write(&self, new: u32) {
        // SAFETY: a race ends the execution.
        self.0.with_mut(|value| unsafe { *value = new });
    }

    #[track_caller]
    fn read(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
}
