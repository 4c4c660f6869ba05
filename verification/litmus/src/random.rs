//! Small random programs, the same for the same seed.
//!
//! Every register and every location is shown, so that two engines agree only if they agree on everything.

use crate::program::{Access, Expr, Kind, Location, Program, Stmt, Thread, Update};
use crate::question::Item;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// How large, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// At most so many threads, at least two.
    pub threads: usize,
    /// So many statements in all.
    pub statements: usize,
    /// At most so many atomic locations, at least one.
    pub locations: usize,
    /// A plain location too? Most programs with one have a data race.
    pub plain: bool,
    /// Plain accesses of the atomic locations too? Most programs with them have a data race.
    pub mixed: bool,
    /// Awaits of words too?
    pub awaits: bool,
    /// A lock and a parker too? Not together with awaits where deadlocks are compared: see [`play`](crate::play::play).
    pub locks: bool,
    /// Light and heavy fences too?
    pub asymmetric: bool,
}

impl Default for Size {
    fn default() -> Self {
        let (plain, mixed, awaits, locks, asymmetric) = (false, false, false, false, false);
        Size { threads: 3, statements: 8, locations: 2, plain, mixed, awaits, locks, asymmetric }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
    fn value(&mut self) -> i64 {
        self.below(3) as i64
    }
    fn load_order(&mut self) -> Ordering {
        self.one_of(&[Relaxed, Acquire, SeqCst])
    }
    fn store_order(&mut self) -> Ordering {
        self.one_of(&[Relaxed, Release, SeqCst])
    }
    fn order(&mut self) -> Ordering {
        self.one_of(&[Relaxed, Acquire, Release, AcqRel, SeqCst])
    }
}

/// The numbers of the locations beside the atomic ones.
struct Layout {
    size: Size,
    atomics: usize,
    plain: usize,
    lock: usize,
    parker: usize,
}

/// The program of this seed.
pub fn program(seed: u64, size: Size) -> Program {
    let mut dice = Dice(seed);
    let threads = 2 + dice.below(size.threads.saturating_sub(1));
    let atomics = 1 + dice.below(size.locations);
    let layout = Layout { size, atomics, plain: atomics, lock: atomics + 1, parker: atomics + 2 };
    let mut kinds = vec![if size.mixed { Kind::Mixed } else { Kind::Atomic }; atomics];
    kinds.extend([Kind::Plain, Kind::Lock, Kind::Parker]);
    let location =
        |(n, kind): (usize, &Kind)| Location { name: format!("{}", n as u8 as char), initial: 0, kind: *kind };
    let mut program = Program { name: format!("random-{seed}"), ..Program::default() };
    program.locations = (usize::from(b'a')..).zip(&kinds).map(location).collect();
    program.threads = vec![Thread::default(); threads];
    for n in 0..size.statements {
        // One statement each at least.
        let place = if n < threads { n } else { dice.below(threads) };
        let stmts = statement(&mut dice, &layout, place, &mut program.threads[place]);
        program.threads[place].body.extend(stmts);
    }
    let registers =
        |(n, thread): (usize, &Thread)| (0..thread.registers.len()).map(move |reg| Item::Reg(n, reg)).collect();
    program.shown = program.threads.iter().enumerate().flat_map::<Vec<Item>, _>(registers).collect();
    program.shown.extend((0..atomics).map(Item::Loc));
    if size.plain {
        program.shown.push(Item::Loc(layout.plain));
    }
    program
}

fn register(thread: &mut Thread, initial: i64) -> usize {
    thread.registers.push(format!("r{}", thread.registers.len()));
    thread.initial.push(initial);
    thread.registers.len() - 1
}

/// A small constant, or what was read before.
fn operand(dice: &mut Dice, thread: &Thread) -> Expr {
    let registers = thread.registers.len();
    if registers > 0 && dice.below(4) == 0 {
        return Expr::Reg(dice.below(registers));
    }
    Expr::Const(1 + dice.below(2) as i64)
}

fn statement(dice: &mut Dice, layout: &Layout, n: usize, thread: &mut Thread) -> Vec<Stmt> {
    let Size { plain: with_plain, awaits, locks, asymmetric, .. } = layout.size;
    let more = [(with_plain, 2), (awaits, 2), (locks, 3), (asymmetric, 6)]
        .map(|(wanted, weight)| usize::from(wanted) * weight);
    let drawn = dice.below(10 + more.iter().sum::<usize>());
    let stmt = match drawn.checked_sub(10) {
        None if layout.size.mixed && dice.below(5) == 0 => {
            let loc = dice.below(layout.atomics);
            plain(dice, loc, thread)
        }
        None => access(dice, layout.atomics, thread),
        Some(n) if n < more[0] => plain(dice, layout.plain, thread),
        Some(n) if n < more[0] + more[1] => wait(dice, layout.atomics),
        Some(n) if n >= more[..3].iter().sum() => match dice.below(2) {
            0 => Stmt::LightFence,
            _ => Stmt::HeavyFence,
        },
        Some(_) => lock(dice, layout, n, thread),
    };
    let registers = thread.registers.len();
    if registers > 0 && dice.below(8) == 0 {
        let condition = Expr::Reg(dice.below(registers));
        return vec![Stmt::If { condition, then: vec![stmt], otherwise: Vec::new() }];
    }
    vec![stmt]
}

fn access(dice: &mut Dice, atomics: usize, thread: &mut Thread) -> Stmt {
    let loc = dice.below(atomics);
    match dice.below(10) {
        0..3 => Stmt::Load { access: Access::Atomic(dice.load_order()), loc, into: register(thread, 0) },
        3..6 => Stmt::Store { value: operand(dice, thread), access: Access::Atomic(dice.store_order()), loc },
        6 => update(dice, Update::Swap, loc, thread),
        7 => update(dice, Update::Add, loc, thread),
        8 => {
            let (new, expected) = (operand(dice, thread), dice.value());
            let (success, failure) = (dice.order(), dice.load_order());
            let expected = register(thread, expected);
            let done = Some(register(thread, 0));
            Stmt::Exchange { done, loc, expected, new, success, failure, weak: dice.below(4) == 0 }
        }
        _ => Stmt::Fence(dice.one_of(&[Acquire, Release, AcqRel, SeqCst, SeqCst])),
    }
}

fn update(dice: &mut Dice, op: Update, loc: usize, thread: &mut Thread) -> Stmt {
    let (operand, order) = (operand(dice, thread), dice.order());
    Stmt::Update { into: Some(register(thread, 0)), loc, op, operand, order }
}

fn plain(dice: &mut Dice, loc: usize, thread: &mut Thread) -> Stmt {
    match dice.below(2) {
        0 => Stmt::Load { into: register(thread, 0), loc, access: Access::Plain },
        _ => Stmt::Store { value: operand(dice, thread), loc, access: Access::Plain },
    }
}

fn wait(dice: &mut Dice, atomics: usize) -> Stmt {
    let (loc, value) = (dice.below(atomics), dice.value());
    match dice.below(2) {
        0 => Stmt::Await { loc, value, order: dice.load_order(), then: None },
        _ => Stmt::Await { loc, value, order: dice.order(), then: Some(dice.value()) },
    }
}

fn lock(dice: &mut Dice, layout: &Layout, n: usize, thread: &mut Thread) -> Stmt {
    match dice.below(4) {
        // The parker is the first thread's.
        0 if n == 0 => Stmt::Park(layout.parker),
        0 | 1 => Stmt::Unpark(layout.parker),
        _ if layout.size.plain => Stmt::Locked(layout.lock, vec![plain(dice, layout.plain, thread)]),
        _ => Stmt::Locked(layout.lock, vec![access(dice, layout.atomics, thread)]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Size, program};
    use crate::enumerate::enumerate;

    #[test]
    fn they_are_fit_to_be_played_and_small_enough() {
        let size = Size { plain: true, awaits: true, locks: true, ..Size::default() };
        for seed in 0..500 {
            let program = program(seed, size);
            assert_eq!(program, super::program(seed, size));
            let found = enumerate(&program).unwrap();
            assert!(found.race || found.stuck || found.executions > 0 || !found.outcomes.is_empty());
        }
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn without_waits_they_come_to_their_end() {
        for seed in 0..500 {
            let found = enumerate(&program(seed, Size::default())).unwrap();
            assert!(found.executions > 0 && !found.race && !found.stuck, "{seed}");
        }
    }
}
