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
    let refuted = refute::<Machine<WRONG>>(2000, 60);
    println!("{:?}: {}\n{refuted}\n", Wrong::ALL[WRONG as usize - 1], refuted.ops.len());
}

#[test]
fn wrongs() {
    refuted::<{ Wrong::StealsHalfRoundedDown as u8 }>();
}
