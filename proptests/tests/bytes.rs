//! Programs out of bytes, for a fuzzer that is guided by coverage.

use spinpark_proptests::fuzz::play_bytes;
use spinpark_proptests::room::{Program, Room};
use spinpark_proptests::rooms::timers::Word;
use spinpark_proptests::whole::Whole;

fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 37 + 11) as u8).collect()
}

/// As many operations as there are threes of bytes behind the first two, and each stays what it is when another changes.
fn each_three_bytes_are_one_operation<R: Room>() {
    let before = bytes(2 + 3 * 8 + 1);
    let program = Program::<R>::from_bytes(&before, 16);
    assert_eq!(program.ops.len(), 8);
    let mut changed = 0;
    for at in 2..before.len() - 1 {
        let mut after = before.clone();
        after[at] ^= 0x55;
        let other = Program::<R>::from_bytes(&after, 16);
        assert_eq!(other.setup, program.setup);
        for (i, (op, was)) in other.ops.iter().zip(&program.ops).enumerate() {
            assert!(op == was || i == (at - 2) / 3, "byte {at} changes operation {i}");
            changed += usize::from(op != was);
        }
    }
    assert!(changed > 8, "a changed byte changed something only {changed} times");
}

#[test]
fn a_changed_byte_changes_one_operation() {
    each_three_bytes_are_one_operation::<Word>();
    each_three_bytes_are_one_operation::<Whole>();
}

#[test]
fn few_bytes_are_a_program_too() {
    for n in 0..5 {
        assert!(Program::<Whole>::from_bytes(&bytes(n), 16).ops.is_empty());
    }
    assert_eq!(Program::<Whole>::from_bytes(&bytes(500), 16).ops.len(), 16);
}

/// The first byte says in which room, the second on which engine.
#[test]
fn bytes_are_played_in_every_room() {
    for room in 0..32 {
        let found = play_bytes(&[&[room, 3][..], &bytes(40)].concat());
        assert!(found.is_none(), "{:?}", found.map(|found| (found.room, found.picture, found.failure.message)));
    }
    assert!(play_bytes(&[]).is_none());
}
