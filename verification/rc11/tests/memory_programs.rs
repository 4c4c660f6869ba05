//! Sampled programs that allocate, publish, exchange, move and free, compared with a naive enumerator, which shares no code
//! with the checker: both find the same programs wrong, and of the right ones the same executions.

#[path = "memory_programs/naive.rs"]
mod naive;
#[path = "memory_programs/played.rs"]
mod played;
#[path = "memory_programs/program.rs"]
mod program;

use program::{Program, Random};

/// Both agree on a program. Is it wrong, and does a block lie where one was freed?
fn agree(program: &Program) -> (bool, bool) {
    let (expected, reuses) = naive::outcomes(program);
    let found = played::outcomes(program);
    assert_eq!(found, expected, "of {program:#?}");
    (expected.is_none(), reuses)
}

fn sample(seed: u64, count: usize, threads: usize, most: usize) {
    let mut random = Random(seed);
    let kinds: Vec<(bool, bool)> = (0..count).map(|_| agree(&Program::sample(&mut random, threads, most))).collect();
    let wrong = kinds.iter().filter(|(is_wrong, _)| *is_wrong).count();
    let reuse = kinds.iter().filter(|(_, reuses)| *reuses).count();
    let is_enough = |part: usize| part > count / 20;
    assert!(
        is_enough(wrong) && is_enough(count - wrong) && is_enough(reuse),
        "{wrong} wrong, {reuse} reuse of {count}"
    );
}

#[test]
fn two_threads_of_four() {
    sample(1, 6_000, 2, 4);
}

#[test]
fn two_threads_of_five() {
    sample(2, 2_000, 2, 5);
}

#[test]
fn three_threads_of_three() {
    sample(3, 4_000, 3, 3);
}

#[test]
fn a_program_of_which_they_once_differed() {
    use program::{Op, Strength::*};
    let threads = vec![
        vec![Op::Look(0, Acquire), Op::Exchange(0, Relaxed), Op::Free, Op::Exchange(0, Both)],
        vec![Op::Swap(0, Both), Op::ReadPlain],
    ];
    assert_eq!(agree(&Program { threads }), (true, false));
}
