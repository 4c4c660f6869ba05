//! Symmetric threads: as many executions as there are graphs up to the names of those threads, and the same outcomes.

use super::each_graph_is_explored_once::config;
use proptest::prelude::*;
use rc11::engine::{Config, Report, explore};
use rc11::verdict::Why;
use spinpark_litmus::orbits::enumerate_orbits;
use spinpark_litmus::play::{CUT, play_symmetric};
use spinpark_litmus::program::Program;
use spinpark_litmus::question::Item;
use spinpark_litmus::random::{Size, program};
use spinpark_verification::hosts::rc11::Rc11;
use std::mem::discriminant;
use std::ops::Range;
use std::sync::Arc;

/// A random program, of whose threads the first ones are there several times.
fn symmetric(seed: u64, size: Size, copies: &[usize]) -> (Program, Vec<Range<usize>>) {
    let mut program = program(seed, size);
    let (mut threads, mut groups) = (Vec::new(), Vec::new());
    for (n, thread) in program.threads.iter().enumerate() {
        let (first, copies) = (threads.len(), copies.get(n).copied().unwrap_or(1));
        threads.extend(std::iter::repeat_n(thread.clone(), copies));
        if copies > 1 {
            groups.push(first..threads.len());
        }
    }
    program.threads = threads;
    program.shown.retain(|item| matches!(item, Item::Loc(_)));
    for (n, thread) in program.threads.iter().enumerate() {
        program.shown.extend((0..thread.registers.len()).map(|reg| Item::Reg(n, reg)));
    }
    (program, groups)
}

fn checked(program: &Program, groups: &[Range<usize>], symmetry: bool) -> Report {
    let (program, groups) = (Arc::new(program.clone()), groups.to_vec());
    explore(&Config { symmetry, ..Config::default() }, move || play_symmetric::<Rc11>(&program, &groups), |_| ())
}

fn why(report: &Report) -> Option<&Why> {
    report.failure.as_ref().map(|found| &found.failure.why)
}

/// Of graphs up to renaming, the reference has as many; and what is wrong is found as without symmetry.
fn agrees(seed: u64, size: Size, copies: &[usize]) -> Result<(), TestCaseError> {
    let (program, groups) = symmetric(seed, size, copies);
    let statements: usize = program.threads.iter().map(|thread| thread.body.len()).sum();
    if statements > 11 {
        return Ok(());
    }
    // A parker is one thread's: one that is copied has two.
    if program.check().is_err() {
        return Ok(());
    }
    let text = || format!("{seed} {size:?} {copies:?}");
    let (reduced, all) = (checked(&program, &groups, true), checked(&program, &groups, false));
    prop_assert_eq!(why(&reduced).map(discriminant), why(&all).map(discriminant), "{}", text());
    if why(&all).is_some() {
        return Ok(());
    }
    let reference = enumerate_orbits(&program, &groups).map_err(TestCaseError::fail)?;
    let mut outcomes = reduced.tally.outcomes;
    let cut = outcomes.remove(CUT).unwrap_or(0);
    prop_assert_eq!(&outcomes, &reference.outcomes, "{}", text());
    prop_assert_eq!(reduced.tally.executions - cut, reference.executions, "{}", text());
    prop_assert!(reduced.tally.executions <= all.tally.executions);
    Ok(())
}

/// Which threads are there how many times.
fn copies() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![Just(vec![2, 1]), Just(vec![2]), Just(vec![2, 2]), Just(vec![3]), Just(vec![3, 1])]
}

fn sizes() -> impl Strategy<Value = Size> {
    let size = |(threads, statements, locations)| Size { threads, statements, locations, ..Size::default() };
    (2..=3usize, 2..=4usize, 1..=2usize).prop_map(size)
}

proptest! {
    #![proptest_config(config(150))]
    #[test]
    fn random_programs(seed in any::<u64>(), size in sizes(), copies in copies()) {
        agrees(seed, size, &copies)?;
    }
}

proptest! {
    #![proptest_config(config(100))]
    #[test]
    fn random_programs_with_locks(seed in any::<u64>(), size in sizes(), plain in any::<bool>(), copies in copies()) {
        agrees(seed, Size { locks: true, plain, ..size }, &copies)?;
    }
}

proptest! {
    #![proptest_config(config(100))]
    #[test]
    fn random_programs_with_asymmetric_fences(seed in any::<u64>(), size in sizes(), copies in copies()) {
        agrees(seed, Size { asymmetric: true, ..size }, &copies)?;
    }
}
