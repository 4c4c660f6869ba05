//! As many executions as there are consistent graphs: none twice, and none is missed.

use super::agree::agree;
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed};
use rc11::engine::{Config, explore};
use spinpark_litmus::enumerate::enumerate;
use spinpark_litmus::parse::parse;
use spinpark_litmus::program::Stmt::{Exchange, Fence, Load, Locked, Store, Update};
use spinpark_litmus::program::{self, Access, Expr, Kind, Location, Program, Stmt, Thread};
use spinpark_litmus::question::Item;
use spinpark_litmus::random::{Size, program};
use std::path::Path;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

/// The same programs every time. What failed once is kept beside this file, and tried first.
pub(super) fn config(cases: u32) -> ProptestConfig {
    let from_env = ProptestConfig::default();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() { from_env.cases } else { cases },
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        rng_seed: RngSeed::Fixed(1),
        ..from_env
    }
}

/// Small enough to enumerate, large enough to go wrong. A smaller one is another program.
fn sizes() -> impl Strategy<Value = Size> {
    let size = |(threads, statements, locations)| Size { threads, statements, locations, ..Size::default() };
    (2..=4usize, 3..=8usize, 1..=3usize).prop_map(size)
}

fn agrees(program: &Program, has_awaits: bool) -> Result<(), TestCaseError> {
    agree(program, has_awaits).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(config(2_500))]
    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn random_programs(seed in any::<u64>(), size in sizes()) {
        agrees(&program(seed, size), false)?;
    }
}

proptest! {
    #![proptest_config(config(700))]
    #[test]
    fn random_programs_with_plain_memory(seed in any::<u64>(), size in sizes(), locks in any::<bool>()) {
        agrees(&program(seed, Size { plain: true, locks, ..size }), false)?;
    }
}

proptest! {
    #![proptest_config(config(1_300))]
    #[test]
    fn random_programs_with_awaits(seed in any::<u64>(), size in sizes()) {
        agrees(&program(seed, Size { awaits: true, ..size }), true)?;
    }
}

proptest! {
    #![proptest_config(config(1_200))]
    #[test]
    fn random_programs_with_asymmetric_fences(
        seed in any::<u64>(), size in sizes(), plain in any::<bool>(), locks in any::<bool>()
    ) {
        agrees(&program(seed, Size { asymmetric: true, plain, locks, ..size }), false)?;
    }
}

proptest! {
    #![proptest_config(config(1_500))]
    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn random_programs_with_a_lock_and_a_parker(seed in any::<u64>(), size in sizes()) {
        agrees(&program(seed, Size { locks: true, ..size }), false)?;
    }
}

proptest! {
    #![proptest_config(config(1_000))]
    #[test]
    fn random_programs_with_nested_locks(seed in any::<u64>(), size in sizes(), mut dice in any::<u64>()) {
        let size = Size { locks: true, locations: size.locations.min(2), statements: size.statements.min(7), ..size };
        let mut nested = program(seed, size);
        nest(&mut nested, &mut dice);
        agrees(&nested, false)?;
    }
}

/// A second lock: around some statements alone, around some that have the first, and inside of some.
fn nest(program: &mut Program, dice: &mut u64) {
    let second = program.locations.len();
    program.locations.push(Location { name: "M".to_owned(), initial: 0, kind: Kind::Lock });
    for stmt in program.threads.iter_mut().flat_map(|thread| &mut thread.body) {
        let drawn = *dice % 4;
        *dice = dice.rotate_right(2);
        *stmt = match (stmt.clone(), drawn) {
            (Locked(first, inner), 0) => Locked(second, vec![Locked(first, inner)]),
            (Locked(first, inner), 1) => Locked(first, vec![Locked(second, inner)]),
            (one @ (Load { .. } | Store { .. } | Update { .. }), 0 | 1) => Locked(second, vec![one]),
            (other, _) => other,
        };
    }
}

const A: usize = 0;
const B: usize = 1;
const L: usize = 2;
const M: usize = 3;

/// A program with two words and two locks; each thread with so many registers.
fn by_hand(threads: Vec<(usize, Vec<Stmt>)>) -> Program {
    let kinds = [("a", Kind::Atomic), ("b", Kind::Atomic), ("L", Kind::Lock), ("M", Kind::Lock)];
    let location = |(name, kind): (&str, Kind)| Location { name: name.to_owned(), initial: 0, kind };
    let registers = threads.iter().enumerate().flat_map(|(n, (count, _))| (0..*count).map(move |r| Item::Reg(n, r)));
    let shown = registers.chain([Item::Loc(A), Item::Loc(B)]).collect();
    let thread = |(count, body): (usize, Vec<Stmt>)| Thread {
        registers: (0..count).map(|r| format!("r{r}")).collect(),
        body,
        ..Thread::default()
    };
    Program {
        locations: kinds.map(location).into(),
        threads: threads.into_iter().map(thread).collect(),
        shown,
        ..Program::default()
    }
}

/// Both have as many executions as that.
fn has_executions(program: &Program, n: u64) {
    assert_eq!(enumerate(program).expect("it can be enumerated").executions, n);
    agree(program, false).unwrap_or_else(|text| panic!("{text}"));
}

/// Went wrong once, and was found by random programs with a lock.
#[test]
fn a_store_beside_a_lock_and_an_exchange() {
    let atomic = Access::Atomic;
    let one = Expr::Const(1);
    has_executions(
        &by_hand(vec![
            (0, vec![Locked(L, vec![Store { loc: B, value: one.clone(), access: atomic(Release) }]), Fence(SeqCst)]),
            (1, vec![Update { into: Some(0), loc: A, op: program::Update::Swap, operand: one, order: SeqCst }]),
            (1, vec![Locked(L, vec![Load { into: 0, loc: A, access: atomic(SeqCst) }])]),
            (0, vec![Store { loc: A, value: Expr::Const(2), access: atomic(Relaxed) }]),
        ]),
        12,
    );
}

/// Went wrong once, and was found by random programs with nested locks: a thread that was given a lock must count as waiting when
/// what gave it leaves.
#[test]
fn a_lock_handed_on_inside_of_another() {
    let atomic = Access::Atomic;
    let both = |inner| Locked(L, vec![Locked(M, vec![inner])]);
    let two = Expr::Const(2);
    let exchange = Exchange {
        done: None,
        loc: A,
        expected: 1,
        new: Expr::Const(1),
        success: Relaxed,
        failure: Relaxed,
        weak: false,
    };
    let load = Load { into: 0, loc: B, access: atomic(Relaxed) };
    has_executions(
        &by_hand(vec![
            (2, vec![load, both(Store { loc: A, value: two.clone(), access: atomic(SeqCst) }), exchange]),
            (0, vec![both(Fence(Release))]),
            (0, vec![Locked(M, vec![Store { loc: B, value: two, access: atomic(Release) }])]),
        ]),
        9,
    );
}

/// The folder's tests, with their texts' names.
pub(super) fn folder() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus");
    let files = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "litmus"));
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        parse(&path.display().to_string(), &text).expect("a litmus test")
    };
    files.map(read).collect()
}

#[test]
fn every_litmus_test_in_the_folder() {
    let programs = folder();
    assert!(programs.len() > 200, "only {}", programs.len());
    for program in programs {
        agree(&program, true).unwrap_or_else(|text| panic!("{}: {text}", program.name));
    }
}

#[test]
fn every_litmus_test_has_the_answer_that_its_author_expects() {
    use rc11::verdict::Why;
    use spinpark_litmus::play::{CUT, play};
    use spinpark_verification::hosts::rc11::Rc11;
    for program in folder() {
        let played = std::sync::Arc::new(program.clone());
        let report = explore(&Config::default(), move || play::<Rc11>(&played), |_| ());
        let race = report.failure.is_some_and(|found| matches!(found.failure.why, Why::Race(_)));
        let mut outcomes = report.tally.outcomes;
        let cut = outcomes.remove(CUT).unwrap_or(0);
        assert_eq!(program.expected.verdict, Some(program.verdict(race, outcomes.keys())), "{}", program.name);
        if race {
            continue;
        }
        assert_eq!(program.expected.outcomes, Some(outcomes.len() as u64), "{}", program.name);
        if program.is_native() {
            assert_eq!(program.expected.executions, Some(report.tally.executions - cut), "{}", program.name);
        }
    }
}
