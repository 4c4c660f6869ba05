//! One task: wakers, a handle and a thread that aborts it, beside the thread that runs it. It is polled by one at a time, no wake is
//! lost, its output is taken or dropped once, and its memory is freed once.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::task::Handle;
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::task::{Got, Tiny};
use spinpark_verification::hosts::model_host::ModelHost;
use std::sync::Arc;

/// What the task does, and how it may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// How often it yields before it waits.
    pub yields: u64,
    /// What becomes of its handle.
    pub handle: HandleUse,
    /// Thread 0 ends the runtime, after it has run the task. Then only one thread wakes it.
    pub closes: bool,
}

/// What thread 1 does with the handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandleUse {
    /// Awaits the task.
    Join,
    /// Lets it go.
    Detach,
    /// Asks once, and lets it go.
    AskAndDetach,
    /// Asks by two wakers, one after the other, and lets it go.
    AskTwiceAndDetach,
}

/// What a thread does with a waker of its own. The future is ready when all that were to bring something have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Wakes by it.
    Wake,
    /// Wakes by reference, and drops it.
    WakeByRef,
    /// Makes a copy, and drops that.
    CloneAndDrop,
    /// Aborts the task.
    Abort,
}

/// So many wakers at most.
const WAKERS: usize = 4;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Task;

impl Room for Task {
    const NAME: &'static str = "task";
    const CLAIM: &'static str = "no wake is lost; future, output and memory have one owner at a time, and one end";
    const THREADS: usize = 4;
    const LONGEST: usize = 8;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "task-forgets-that-it-woke-itself",
        "task-drops-where-it-is-woken",
        "task-drops-what-is-woken-while-polled",
        "task-counts-its-references-before-its-wakes",
    ];
    const PATHS: &'static [&'static str] = &[
        "the handle got the output",
        "the handle learned that it was aborted",
        "the handle learned that it was dropped",
        "the handle was let go before the end",
        "the runtime ended while a thread was about to run the task",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        let handle = prop_oneof![
            3 => Just(HandleUse::Join),
            1 => Just(HandleUse::Detach),
            2 => Just(HandleUse::AskAndDetach),
            1 => Just(HandleUse::AskTwiceAndDetach),
        ];
        (0..3u64, handle, any::<bool>()).prop_map(|(yields, handle, closes)| Setup { yields, handle, closes }).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![4 => Just(Op::Wake), 4 => Just(Op::WakeByRef), 1 => Just(Op::CloneAndDrop), 1 => Just(Op::Abort)]
            .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        (0..setup.yields).map(|yields| Setup { yields, ..*setup }).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        if program.setup.closes { ends::<H>(program) } else { runs::<H>(program) }
    }
}

/// What each thread from 2 on does, with the number of its waker. Threads 0 and 1 have something else to do, so theirs is done
/// by 2 and 3.
fn numbered(program: &Program<Task>) -> [Vec<(Op, usize)>; 2] {
    let mut next = 0;
    let mut all = [Vec::new(), Vec::new()];
    for &(thread, op) in &program.ops {
        let is_wake = matches!(op, Op::Wake | Op::WakeByRef);
        if is_wake && next == WAKERS {
            continue;
        }
        all[thread % 2].push((op, next));
        next += usize::from(is_wake);
    }
    all
}

fn wakers(all: &[Vec<(Op, usize)>]) -> usize {
    all.iter().flatten().filter(|(op, _)| matches!(op, Op::Wake | Op::WakeByRef)).count()
}

/// Each has a waker besides, which it drops last: so it may use the task.
fn acts<H: ModelHost>(task: &Tiny<H>, ops: Vec<(Op, usize)>) {
    for (op, n) in ops {
        match op {
            Op::Wake => task.wake(n),
            Op::WakeByRef => task.wake_by_ref(n),
            Op::CloneAndDrop => {
                task.clone_waker();
                task.drop_waker();
            }
            Op::Abort => task.abort(),
        }
    }
    task.drop_waker();
}

fn uses<H: ModelHost>(task: &Tiny<H>, handle: Handle, how: HandleUse) -> Option<Got> {
    match how {
        HandleUse::Join => Some(task.join(handle, 0)),
        HandleUse::Detach => task.ask_and_detach(handle, &[]),
        HandleUse::AskAndDetach => task.ask_and_detach(handle, &[0]),
        HandleUse::AskTwiceAndDetach => task.ask_and_detach(handle, &[0, 1]),
    }
}

fn given(how: HandleUse) -> usize {
    match how {
        HandleUse::Join | HandleUse::AskAndDetach => 1,
        HandleUse::Detach => 0,
        HandleUse::AskTwiceAndDetach => 2,
    }
}

fn tell(got: Option<Got>) {
    reached_if(got == Some(Got::Output), "the handle got the output");
    reached_if(got == Some(Got::Aborted), "the handle learned that it was aborted");
    reached_if(got == Some(Got::Dropped), "the handle learned that it was dropped");
    reached_if(got.is_none(), "the handle was let go before the end");
}

/// All wakers are used, so it comes to its end.
fn runs<H: ModelHost>(program: &Program<Task>) -> String {
    let Setup { yields, handle: how, .. } = program.setup;
    let all = numbered(program);
    let may_abort = all.iter().flatten().any(|(op, _)| *op == Op::Abort);
    let (task, handle) = Tiny::<H>::new(wakers(&all), yields);
    all.iter().for_each(|_| task.clone_waker());
    let fork = |ops: Vec<(Op, usize)>| {
        let task = Arc::clone(&task);
        H::fork("waker", move || acts(&task, ops))
    };
    let others = all.map(fork);
    let joins = Arc::clone(&task);
    let joiner = H::fork("joiner", move || uses(&joins, handle, how));
    task.run_mine();
    let got = H::join(joiner);
    others.into_iter().for_each(|other| H::join(other));
    assert!(got.is_none_or(|got| got == Got::Output || may_abort), "all have woken it, and it got {got:?}");
    tell(got);
    task.check_at_rest(given(how))
}

/// The runtime ends, after it has run the task; one thread may wake it meanwhile.
fn ends<H: ModelHost>(program: &Program<Task>) -> String {
    let how = program.setup.handle;
    let all = [numbered(program).concat()];
    let (task, handle) = Tiny::<H>::that_is_closed(wakers(&all));
    // One for the waker, and one for the thread that ends the runtime.
    (0..2).for_each(|_| task.clone_waker());
    task.run_mine();
    let [ops] = all;
    let wakes = Arc::clone(&task);
    let waker = H::fork("waker", move || acts(&wakes, ops));
    let joins = Arc::clone(&task);
    let joiner = H::fork("joiner", move || uses(&joins, handle, how));
    let waker = task.close(waker);
    reached_if(waker.is_none(), "the runtime ended while a thread was about to run the task");
    tell(H::join(joiner));
    waker.map(H::join);
    task.check_at_rest(given(how))
}
