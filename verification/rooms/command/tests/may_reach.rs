//! What may come of the programs is what was recorded: no history more, and none less.

use spinpark_rooms::explore::shape_name;
use spinpark_rooms_command::ROOMS;

/// The shapes that take no more than a second; `cargo room all --record` writes all of them.
const QUICK: [usize; 4] = [0, 1, 2, 3];

/// One test: what was reached is counted for the whole process.
#[test]
fn is_what_was_recorded_and_nothing_less() {
    // A set that is smaller has another digest.
    let room = ROOMS.iter().find(|room| room.name == "notify").expect("there is one");
    let (all, some) = (room.sweep(3, false, ""), room.sweep(3, false, "All"));
    assert!(some.programs < all.programs && some.may_reach != all.may_reach);
    let recorded = include_str!("../../may_reach.txt");
    for room in ROOMS {
        // The whole scheduler's other shapes take half a minute.
        let is_quick = |n: &usize| room.name != "sched" || *n == 0;
        for n in QUICK.into_iter().filter(|n| is_quick(n) && room.programs(*n) > 0) {
            let swept = room.sweep(n, false, "");
            assert_eq!(swept.failure, None);
            let line = format!("{} {}: {}", room.name, shape_name(n), swept.may_reach);
            assert!(
                recorded.lines().any(|other| other == line),
                "not recorded: {line}\nif that is meant: cargo room all --record"
            );
        }
    }
}
