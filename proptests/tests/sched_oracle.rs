//! The whole scheduler, compared with lists, while one moves at a time.

use spinpark_proptests::machine::{check, refute};
use spinpark_proptests::oracle::sched::{Machine, Wrong};

const CASES: u32 = 300;
const MOVES: usize = 120;

#[test]
fn the_scheduler_answers_as_lists_would() {
    let seen = check::<Machine<0>>(CASES, MOVES);
    println!("{seen}");
}

fn refuted<const WRONG: u8>() {
    let Ok(refuted) = std::panic::catch_unwind(|| refute::<Machine<WRONG>>(2000)) else {
        println!("!!! {:?}", Wrong::ALL[WRONG as usize - 1]);
        return;
    };
    println!("{:?}: {}\n{refuted}\n", Wrong::ALL[WRONG as usize - 1], refuted.ops.len());
}

macro_rules! all { ($($n:literal)*) => { $(refuted::<$n>();)* } }

#[test]
fn wrongs() {
    all!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22);
}
