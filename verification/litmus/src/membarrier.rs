//! Asymmetric fences a second time, as what a system does: a heavy fence puts a full fence into every other thread, at some
//! moment between its call and its return. And a third time, as what a program falls back to: `SeqCst` fences.
//!
//! Both are programs without asymmetric fences. So of the axioms that [`enumerate`](crate::enumerate::enumerate)
//! has for them none is used here, and the two can be compared.
//!
//! ```text
//!      owner              thief                    interrupt of the owner in the gap behind its first light fence
//!
//!      a := 1             b := 1
//!      light fence 1      SeqCst fence             wait for passed
//!      passed := 1 rel    called := 1 rel          wait for called
//!      r = b              wait for done            SeqCst fence
//!      wait for done      SeqCst fence             done := 1 rel
//!      light fence 2      s = a
//! ```
//!
//! The full fence is a thread of its own, and not a statement of the owner's: between two light fences a compiler may move
//! what it likes to either side of it. So a moment is a gap between two light fences, or before the first, or behind the
//! last. All gaps are tried, of each heavy fence in each thread; a moment that cannot be is a program in which threads wait
//! for each other, and has no outcome.

use crate::program::{Access, Expr, Kind, Loc, Location, Program, Stmt, Thread};
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};

/// More choices of moments are too many.
const MANY: usize = 1_000;

/// One heavy fence that interrupts one thread.
#[derive(Debug, Clone, Copy)]
struct Interrupt {
    /// Which heavy fence.
    heavy: usize,
    /// The threads it is for.
    thread: usize,
    /// Behind so many of its light fences.
    gap: usize,
}

/// The same program with `SeqCst` fences in place of light and heavy ones.
pub fn fallback(program: &Program) -> Program {
    fn symmetric(body: &mut [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::LightFence | Stmt::HeavyFence => *stmt = Stmt::Fence(SeqCst),
                Stmt::If { then, otherwise, .. } => {
                    symmetric(then);
                    symmetric(otherwise);
                }
                Stmt::Locked(_, body) => symmetric(body),
                _ => (),
            }
        }
    }
    let mut program = program.clone();
    program.threads.iter_mut().for_each(|thread| symmetric(&mut thread.body));
    program
}

/// The programs that `program` is on a system: one for each choice of the moments at which its heavy fences interrupt its
/// threads. What it may do is what any of them may do.
///
/// # Errors
/// If a fence stands in a branch or under a lock, so that it cannot be counted; or if there are too many choices.
pub fn moments(program: &Program) -> Result<Vec<Program>, String> {
    let count = |fence: &Stmt| -> Vec<usize> {
        program.threads.iter().map(|thread| thread.body.iter().filter(|stmt| *stmt == fence).count()).collect()
    };
    let (lights, heavies) = (count(&Stmt::LightFence), count(&Stmt::HeavyFence));
    let mut flat = program.clone();
    flat.threads
        .iter_mut()
        .for_each(|thread| thread.body.retain(|s| !matches!(s, Stmt::LightFence | Stmt::HeavyFence)));
    if flat.is_asymmetric() {
        return Err(format!(
            "{}: an asymmetric fence in a branch has no moment that can be chosen ahead",
            program.name
        ));
    }
    let callers = heavies.iter().enumerate().flat_map(|(thread, n)| std::iter::repeat_n(thread, *n));
    let mut choices: Vec<Vec<Interrupt>> = vec![Vec::new()];
    for (heavy, caller) in callers.enumerate() {
        // In a thread without light fences an interrupt orders nothing.
        for thread in (0..lights.len()).filter(|&thread| thread != caller && lights[thread] > 0) {
            let gaps = |begun: &Vec<Interrupt>| {
                let interrupt = |gap| Interrupt { heavy, thread, gap };
                (0..=lights[thread]).map(|gap| [begun.as_slice(), &[interrupt(gap)]].concat()).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(gaps).collect();
            if choices.len() > MANY {
                return Err(format!("{}: more than {MANY} choices of moments", program.name));
            }
        }
    }
    Ok(choices.iter().map(|interrupts| with_interrupts(program, interrupts)).collect())
}

/// Where an interrupt is told of.
#[derive(Debug, Clone, Copy)]
struct Flags {
    of: Interrupt,
    /// The thread has passed the light fence before the gap.
    passed: Loc,
    /// The interrupt is over.
    done: Loc,
}

fn with_interrupts(program: &Program, interrupts: &[Interrupt]) -> Program {
    let mut program = program.clone();
    let heavies = interrupts.iter().map(|interrupt| interrupt.heavy + 1).max().unwrap_or(0);
    let called: Vec<Loc> = (0..heavies).map(|n| flag(&mut program, format!("called{n}"))).collect();
    let flags: Vec<Flags> = interrupts
        .iter()
        .map(|&of| {
            let Interrupt { heavy, thread, gap } = of;
            let done = flag(&mut program, format!("done{heavy}.{thread}"));
            // Before the first gap there is nothing to pass.
            let passed = if gap > 0 { flag(&mut program, format!("passed{heavy}.{thread}")) } else { done };
            Flags { of, passed, done }
        })
        .collect();
    let mut heavy = 0;
    for (n, thread) in program.threads.iter_mut().enumerate() {
        let mut light = 0;
        let body = std::mem::take(&mut thread.body).into_iter().flat_map(|stmt| match stmt {
            Stmt::LightFence => {
                light += 1;
                passes(&flags, n, light)
            }
            Stmt::HeavyFence => {
                heavy += 1;
                calls(&flags, &called, heavy - 1)
            }
            other => vec![other],
        });
        thread.body = body.collect();
    }
    program.threads.extend(flags.iter().map(|flags| {
        let passed = (flags.of.gap > 0).then(|| await_flag(flags.passed));
        let rest = [await_flag(called[flags.of.heavy]), Stmt::Fence(SeqCst), raise(flags.done)];
        Thread { body: passed.into_iter().chain(rest).collect(), ..Thread::default() }
    }));
    program
}

/// Thread `n` passes its light fence of that number, from 1: interrupts of the gap before it are over, those of the gap
/// behind it may come.
fn passes(flags: &[Flags], n: usize, light: usize) -> Vec<Stmt> {
    let of = |gap: usize| flags.iter().filter(move |flags| flags.of.thread == n && flags.of.gap == gap);
    of(light - 1).map(|flags| await_flag(flags.done)).chain(of(light).map(|flags| raise(flags.passed))).collect()
}

fn calls(flags: &[Flags], called: &[Loc], heavy: usize) -> Vec<Stmt> {
    let call = called.get(heavy).map(|&loc| raise(loc));
    let over = flags.iter().filter(|flags| flags.of.heavy == heavy).map(|flags| await_flag(flags.done));
    let fence = || std::iter::once(Stmt::Fence(SeqCst));
    fence().chain(call).chain(over).chain(fence()).collect()
}

fn flag(program: &mut Program, name: String) -> Loc {
    program.locations.push(Location { name, initial: 0, kind: Kind::Atomic });
    program.locations.len() - 1
}

fn raise(loc: Loc) -> Stmt {
    Stmt::Store { loc, value: Expr::Const(1), access: Access::Atomic(Release) }
}

fn await_flag(loc: Loc) -> Stmt {
    Stmt::Await { loc, value: 1, order: Acquire, then: None }
}
