//! A thread that runs a G which waits, enters system calls and readies others, while signals come anywhere on it and the
//! monitor takes its P.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::role::{Place, Tiny};
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::hosts::wrap::signals::Signals;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// What comes from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// So many signals may come on M0's thread.
    pub signals: usize,
}

/// What is done: by thread 0, which is M0 and runs the G; by the monitor; by another thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// The G waits, with its thread, until the value has been brought.
    Block,
    /// The G waits, and leaves its thread.
    Suspend,
    /// The G enters a system call, and comes back.
    SystemCall,
    /// The G readies another, under its P if it has one.
    Ready,
    /// The monitor requests preemption, and retakes the P if it can.
    Tick,
    /// A stopper waits until no G runs without a P.
    Stop,
}

/// Where a P is, of a thread that signals come to.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalledThread;

impl Room for SignalledThread {
    const NAME: &'static str = "role";
    const CLAIM: &'static str =
        "a thread that waits has a P to hand on, or is known to have none; a P is neither lost nor doubled";
    const THREADS: usize = 3;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] =
        &["role-asks-a-flag-beside-the-role", "role-waits-without-reattaching", "role-a-system-call-stays-detached"];
    const PATHS: &'static [&'static str] =
        &["a signal took the P", "the monitor took it too", "the G had its P while it readied another"];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (0..4usize).prop_map(|signals| Setup { signals }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        match thread {
            0 => prop_oneof![Just(Op::Block), Just(Op::Suspend), Just(Op::SystemCall), Just(Op::Ready)].boxed(),
            1 => Just(Op::Tick).boxed(),
            _ => Just(Op::Stop).boxed(),
        }
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        (0..setup.signals).map(|signals| Setup { signals }).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        Signals::<H>::begin();
        let tiny = Tiny::<Signals<H>>::new();
        let place = Tiny::<Signals<H>>::running();
        let detached = Rc::new(Cell::new(0u64));
        let listens = Signals::<H>::listen(program.setup.signals, {
            let (tiny, place, detached) = (Arc::clone(&tiny), Rc::clone(&place), Rc::clone(&detached));
            move || detached.set(detached.get() + u64::from(tiny.handle(&place)))
        });
        let other = |name: &'static str, ops: Vec<Op>, last: fn(&Tiny<Signals<H>>)| {
            let tiny = Arc::clone(&tiny);
            H::fork(name, move || {
                ops.into_iter().for_each(|op| match op {
                    Op::Tick => reached_if(tiny.monitor(), "the monitor took it too"),
                    _ => tiny.stop(),
                });
                last(&tiny);
            })
        };
        let others = [
            other("monitor", program.of(1), |_| ()),
            other("stopper", program.of(2), |_| ()),
            // The value is brought in the end, on any thread.
            other("the one that brings it", Vec::new(), |tiny| tiny.bring()),
        ];
        program.of(0).into_iter().for_each(|op| act::<H>(op, &tiny, &place));
        let p = tiny.end(&place);
        drop(listens);
        tiny.release(p);
        others.into_iter().for_each(|other| H::join(other));
        tiny.check_at_rest();
        reached_if(detached.get() > 0, "a signal took the P");
        format!("detached {}", detached.get())
    }
}

fn act<H: ModelHost>(op: Op, tiny: &Tiny<Signals<H>>, place: &Place<Signals<H>>) {
    match op {
        Op::Block => tiny.block(place),
        Op::Suspend => tiny.suspend(place),
        Op::SystemCall => tiny.system_call(place),
        Op::Ready => reached_if(tiny.readies(place), "the G had its P while it readied another"),
        Op::Tick | Op::Stop => unreachable!("others do that"),
    }
}
