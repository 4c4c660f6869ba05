use super::figures::stealing;
use super::scenarios::{SEED, work_stealing};
use spinpark::kernel::protocol::sources::SearchOrder;
use spinpark::trace::{From, What};

#[test]
fn figure_09_nine_gs_stand_under_two_ps_and_g9_under_none() {
    let lines = stealing()[0].lines();
    let expected = [
        "M1 executes G2 under P1",
        "M2 executes G1 under P2",
        "LRQ of P1: G4 G6 G8",
        "LRQ of P2: G3 G5 G7",
        "GRQ: G9",
        "poller: empty",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn figure_10_nothing_is_left_under_p1() {
    let lines = stealing()[1].lines();
    let expected = [
        "M1 has no G, and looks for one under P1",
        "M2 executes G1 under P2",
        "LRQ of P1: empty",
        "LRQ of P2: G3 G5 G7",
        "GRQ: G9",
        "poller: empty",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn figure_11_p1_steals_half_of_p2s_queue_and_runs_g3_at_once() {
    let lines = stealing()[2].lines();
    let expected = [
        "M1 executes G3 under P1",
        "M2 executes G1 under P2",
        "LRQ of P1: G5",
        "LRQ of P2: G7",
        "GRQ: G9",
        "poller: empty",
    ];
    assert_eq!(lines, expected);
    let play = work_stealing(SEED, SearchOrder::StealFirst);
    let stole = play.until("G3", |record| matches!(record.what, What::Stole { .. }));
    let What::Stole { victim, gs } = &play.trace.records()[stole - 1].what else { unreachable!("asked for above") };
    assert_eq!((*victim, gs.iter().map(|&g| play.name(g)).collect::<Vec<_>>()), (1, vec!["G3", "G5"]));
}

#[test]
fn figure_12_nothing_is_left_under_p2_and_there_is_nothing_to_steal() {
    let lines = stealing()[3].lines();
    let expected = [
        "M1 executes G5 under P1",
        "M2 has no G, and looks for one under P2",
        "LRQ of P1: empty",
        "LRQ of P2: empty",
        "GRQ: G9",
        "poller: empty",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn figure_13_p2_takes_g9_from_the_global_queue() {
    let lines = stealing()[4].lines();
    let expected = [
        "M1 executes G5 under P1",
        "M2 executes G9 under P2",
        "LRQ of P1: empty",
        "LRQ of P2: empty",
        "GRQ: empty",
        "poller: empty",
    ];
    assert_eq!(lines, expected);
    let play = work_stealing(SEED, SearchOrder::StealFirst);
    play.until("G9", |record| record.what == What::Executing { from: From::Global });
}

/// Why the figures' order is asked for: with Go's of today P1 takes G9, and steals nothing then.
#[test]
fn in_the_order_of_todays_go_p1_would_have_taken_g9_first() {
    let play = work_stealing(SEED, SearchOrder::GlobalFirst);
    let g9 = play.until("G9", |record| record.what == What::Executing { from: From::Global });
    assert_eq!(play.trace.records()[g9 - 1].p, Some(0));
    assert!(!play.trace.records()[..g9].iter().any(|r| matches!(&r.what, What::Stole { gs, .. } if gs.len() > 1)));
}
