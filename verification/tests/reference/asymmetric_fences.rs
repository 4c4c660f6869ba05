//! Light and heavy fences, defined three times: by axioms, by the moments at which a system interrupts threads, and by
//! what a program falls back to. The checker has the axioms. They must allow what either of the others does, and no more
//! but where hardware may.

use super::agree::agree;
use super::each_graph_is_explored_once::folder;
use spinpark_litmus::enumerate::enumerate;
use spinpark_litmus::membarrier::{fallback, moments};
use spinpark_litmus::model::MemoryModel;
use spinpark_litmus::program::{Access, Expr, Kind, Location, Program, Stmt, Thread};
use spinpark_litmus::question::Item;
use spinpark_litmus::speculate::enumerate_in;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// What a program may do.
#[derive(Debug, Default, PartialEq, Eq)]
struct May {
    outcomes: BTreeSet<String>,
    race: bool,
}

impl May {
    /// Any of the programs, in this model.
    fn of(programs: &[Program], model: MemoryModel) -> Result<May, String> {
        let mut may = May::default();
        for program in programs {
            let found = enumerate_in(program, model)?;
            may.race |= found.race;
            may.outcomes.extend(found.outcomes.into_keys());
        }
        Ok(may)
    }
}

/// How the definitions compare.
#[derive(Debug, PartialEq, Eq)]
enum Compared {
    /// The axioms allow what the system does, and no more.
    Alike,
    /// What the system does not do `SeqCst` fences do, or the other way round.
    AsEither,
    /// What more they allow needs a write that is done before a read that stands before it: the axioms of both others
    /// forbid it, some hardware does it.
    ByLoadBuffering,
}

/// # Errors
/// If it is too large, or has a fence that cannot be compared.
///
/// # Panics
/// If the axioms forbid what one of the others does, or allow what they should not.
fn compare(program: &Program) -> Result<Compared, String> {
    let one = std::slice::from_ref;
    let axioms = May::of(one(program), MemoryModel::Rc11)?;
    let seqcst = May::of(one(&fallback(program)), MemoryModel::Rc11)?;
    let played = moments(program)?;
    let system = May::of(&played, MemoryModel::Rc11)?;
    for other in [&system, &seqcst] {
        assert!(axioms.race || !other.race, "{program:#?}");
        assert!(axioms.race || other.outcomes.is_subset(&axioms.outcomes), "{program:#?}\n{axioms:#?}\n{other:#?}");
    }
    if axioms.race || axioms == system {
        return Ok(Compared::Alike);
    }
    let is_new = |outcome: &&String| !system.outcomes.contains(*outcome) && !seqcst.outcomes.contains(*outcome);
    let new: Vec<&String> = axioms.outcomes.iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(Compared::AsEither);
    }
    let buffered = May::of(&played, MemoryModel::C11Dep)?;
    assert!(new.iter().all(|outcome| buffered.outcomes.contains(*outcome)), "{program:#?}\n{new:#?}");
    Ok(Compared::ByLoadBuffering)
}

/// Xorshift (Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }
}

/// `locations` words, each accessed by two of so many threads, of which one writes at least; and between two accesses of a
/// thread a fence, mostly. Much of this is cycles, in which it matters which fence stands where.
fn web(seed: u64, threads: usize, locations: usize) -> Program {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1));
    let mut program = Program { name: format!("web-{seed}"), ..Program::default() };
    program.threads = vec![Thread::default(); threads];
    let mut accesses = Vec::new();
    for loc in 0..locations {
        let name = char::from(b'a' + loc as u8).to_string();
        program.locations.push(Location { name, initial: 0, kind: Kind::Atomic });
        let first = dice.below(threads);
        let second = (first + 1 + dice.below(threads - 1)) % threads;
        let reads = dice.below(4) > 0;
        accesses.extend([(first, loc, None, 1), (second, loc, reads.then_some(()), 2)]);
    }
    while !accesses.is_empty() {
        let (n, loc, reads, value) = accesses.swap_remove(dice.below(accesses.len()));
        let thread = &mut program.threads[n];
        let fence = match dice.below(7) {
            0..3 => Some(Stmt::LightFence),
            3 | 4 => Some(Stmt::HeavyFence),
            5 => Some(Stmt::Fence(SeqCst)),
            _ => None,
        };
        let fence = fence.filter(|_| !thread.body.is_empty());
        let access = Access::Atomic(Relaxed);
        let stmt = match reads {
            None => Stmt::Store { loc, value: Expr::Const(value), access },
            Some(()) => {
                thread.registers.push(format!("r{}", thread.registers.len()));
                Stmt::Load { into: thread.registers.len() - 1, loc, access }
            }
        };
        thread.body.extend(fence.into_iter().chain([stmt]));
    }
    for (n, thread) in program.threads.iter().enumerate() {
        program.shown.extend((0..thread.registers.len()).map(|reg| Item::Reg(n, reg)));
    }
    program.shown.extend((0..locations).map(Item::Loc));
    program
}

fn without_lights(program: &Program) -> Program {
    let mut program = program.clone();
    program.threads.iter_mut().for_each(|thread| thread.body.retain(|stmt| *stmt != Stmt::LightFence));
    program
}

/// What came of programs that were compared.
#[derive(Default)]
struct Counts {
    compared: u32,
    light_fences_matter: u32,
    either: u32,
    buffered: u32,
}

impl Counts {
    fn of(programs: impl Iterator<Item = Program>) -> Counts {
        let mut counts = Counts::default();
        for program in programs.filter(Program::is_asymmetric) {
            agree(&program, false).unwrap_or_else(|text| panic!("{text}"));
            let Ok(how) = compare(&program) else { continue };
            counts.compared += 1;
            counts.either += u32::from(how == Compared::AsEither);
            counts.buffered += u32::from(how == Compared::ByLoadBuffering);
            let [with, without] =
                [&program, &without_lights(&program)].map(|it| enumerate(it).expect("small").outcomes);
            counts.light_fences_matter += u32::from(!with.keys().eq(without.keys()));
        }
        counts
    }

    fn and(self, other: Counts) -> Counts {
        Counts {
            compared: self.compared + other.compared,
            light_fences_matter: self.light_fences_matter + other.light_fences_matter,
            either: self.either + other.either,
            buffered: self.buffered + other.buffered,
        }
    }
}

#[test]
fn three_definitions_are_compared_on_random_cycles() {
    let every_other = |first: u64| {
        let sizes = [(0..900, 3, 3), (0..60, 3, 4), (0..120, 4, 4)];
        sizes.into_iter().flat_map(move |(seeds, threads, locations)| {
            seeds.skip(first as usize).step_by(2).map(move |seed| web(seed, threads, locations))
        })
    };
    // It is the longest of these tests by far: two threads share it.
    let counts = std::thread::scope(|scope| {
        let odd = scope.spawn(move || Counts::of(every_other(1)));
        Counts::of(every_other(0)).and(odd.join().unwrap_or_else(|why| std::panic::resume_unwind(why)))
    });
    let Counts { compared, light_fences_matter, either, buffered } = counts;
    eprintln!(
        "{compared} programs, light fences matter in {light_fences_matter}; {either} either, {buffered} buffered"
    );
    assert!(compared >= 1_000 && light_fences_matter >= 100, "{compared}, {light_fences_matter}");
    assert!(either + buffered <= 10, "{either} need SeqCst fences, {buffered} load buffering");
}

/// The folder's: on each the definitions agree.
#[test]
fn three_definitions_are_compared_on_every_litmus_test() {
    let mut compared = 0;
    for program in folder().iter().filter(|program| program.is_asymmetric()) {
        let how = compare(program).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(how, Compared::Alike, "{}", program.name);
        compared += 1;
    }
    assert!(compared >= 30, "only {compared}");
}
