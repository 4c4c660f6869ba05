//! A program, played by the checker: with real nodes, in boxes.

#![allow(clippy::undocumented_unsafe_blocks)] // the programs are wrong on purpose: the checker says so

use super::naive::{Outcomes, REUSE};
use super::program::{Op, Program, Strength, WORDS};
use rc11::cell::UnsafeCell;
use rc11::model::{Builder, Verdict};
use rc11::sync::Arc;
use rc11::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use rc11::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};
use rc11::thread;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ptr::null_mut;
use std::sync::{Arc as StdArc, Mutex};

/// Nothing else that the closure below allocates is laid out so.
#[repr(align(128))]
struct Node {
    atomic: AtomicU64,
    cell: UnsafeCell<u64>,
}

fn node(value: u64) -> *mut Node {
    Box::into_raw(Box::new(Node { atomic: AtomicU64::new(value), cell: UnsafeCell::new(value) }))
}

fn ordering(strength: Strength) -> Ordering {
    match strength {
        Strength::Relaxed => Relaxed,
        Strength::Acquire => Acquire,
        Strength::Release => Release,
        Strength::Both => AcqRel,
    }
}

/// What a thread has seen, in words.
fn run(ops: &[Op], words: &[AtomicPtr<Node>; WORDS]) -> String {
    let (mut mine, mut seen, mut log) = (null_mut::<Node>(), null_mut::<Node>(), String::new());
    let mut note = |what: u64| _ = write!(log, "{what} ");
    for op in ops {
        match *op {
            Op::Alloc(value) => mine = node(value),
            Op::Publish(word, strength) => words[word].store(mine, ordering(strength)),
            Op::Look(word, strength) => seen = words[word].load(ordering(strength)),
            Op::Swap(word, strength) => seen = words[word].swap(mine, ordering(strength)),
            Op::Exchange(word, strength) => {
                note(u64::from(words[word].compare_exchange(seen, mine, ordering(strength), Relaxed).is_ok()));
            }
            Op::Fence(strength) => fence(ordering(strength)),
            _ if seen.is_null() => note(99),
            // SAFETY, here and below: none. Whether the node is there is what is asked; memory that was freed stays mapped.
            Op::Free => drop(unsafe { Box::from_raw(seen) }),
            Op::Move => {
                let moved = *unsafe { Box::from_raw(seen) };
                note(moved.atomic.load(Relaxed));
            }
            Op::Read(strength) => note(unsafe { &*seen }.atomic.load(ordering(strength))),
            Op::Write(value, strength) => unsafe { &*seen }.atomic.store(value, ordering(strength)),
            Op::ReadPlain => note(unsafe { &*seen }.cell.with(|value| unsafe { *value })),
            Op::WritePlain(value) => unsafe { &*seen }.cell.with_mut(|cell| unsafe { *cell = value }),
        }
    }
    log
}

fn body(program: &Program) -> String {
    let words = Arc::new([(); WORDS].map(|()| AtomicPtr::new(null_mut())));
    // An exchange: addresses of nodes come again.
    words[0].swap(node(0), Relaxed);
    let start = |ops: &Vec<Op>| {
        let (ops, words) = (ops.clone(), words.clone());
        thread::spawn(move || run(&ops, &words))
    };
    let threads: Vec<_> = program.threads.iter().map(start).collect();
    let logs: Vec<String> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    logs.join("| ")
}

/// How each execution ends, and how many there are of it, if the program is right.
pub(crate) fn outcomes(program: &Program) -> Outcomes {
    let outcomes = StdArc::new(Mutex::new(BTreeMap::new()));
    let (all, program) = (StdArc::clone(&outcomes), program.clone());
    let mut builder = Builder::new();
    builder.reuse = REUSE as u16;
    let outcome = builder.outcome_of(move || {
        let outcome = body(&program);
        *all.lock().unwrap().entry(outcome).or_default() += 1;
    });
    match outcome.verdict {
        Verdict::Proved => Some(outcomes.lock().unwrap().clone()),
        // All was explored all the same.
        Verdict::Bounded(why) if why.starts_with("the checker sees nothing that the threads share") => {
            Some(outcomes.lock().unwrap().clone())
        }
        Verdict::Failed(why) => {
            let expected = ["use after free", "double free", "data race", "uninitialised"];
            assert!(expected.iter().any(|expected| why.starts_with(expected)), "{why}");
            None
        }
        other => panic!("{other}"),
    }
}
