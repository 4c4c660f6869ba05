use super::figures::{is, syscall};
use super::scenarios::{SEED, a_blocking_system_call};
use super::stage::Stage;
use spinpark::kernel::protocol::syscall::Way;
use spinpark::trace::{State, What};

#[test]
fn figure_06_g1_runs_on_m1_and_is_about_to_call() {
    let lines = syscall()[0].lines();
    assert_eq!(lines, ["M1 executes G1 under P", "LRQ of P: G2 G3 G4", "GRQ: empty", "poller: empty"]);
}

#[test]
fn figure_07_m1_is_blocked_with_g1_and_m2_has_p_and_runs_g2() {
    let lines = syscall()[1].lines();
    let expected = [
        "M1 is blocked with G1, without a P",
        "M2 executes G2 under P",
        "LRQ of P: G3 G4",
        "GRQ: empty",
        "poller: empty",
    ];
    assert_eq!(lines, expected);
}

/// The figure draws G1 in P's ring, and M1 idle. Here, as in Go, G1 goes to the global queue: only the owner of a P puts into
/// its ring. And M1 stays with G1, which is in the middle of a closure on M1's thread, until it is G1's turn.
#[test]
fn figure_08_g1_is_back_in_a_queue_and_g2_still_runs_on_m2() {
    let lines = syscall()[2].lines();
    let expected =
        ["M1 waits with G1 for a P", "M2 executes G2 under P", "LRQ of P: G3 G4", "GRQ: G1", "poller: empty"];
    assert_eq!(lines, expected);
}

#[test]
fn after_figure_08_g3_and_g4_come_first_and_then_p_goes_to_m1_and_g1() {
    let play = a_blocking_system_call(SEED);
    let over = play.trace.records().iter().filter(|record| record.what == What::Dead);
    let order: Vec<_> = over.filter_map(|record| record.g).map(|g| play.name(g)).take(4).collect();
    assert_eq!(order, ["G2", "G3", "G4", "G1"]);
    let back = play.until("G1", |record| record.what == What::Returned { way: Way::Queued });
    let lines = Stage::after(&play, back).lines();
    assert_eq!(lines[..2], ["M1 executes G1 under P", "M2 is idle, and kept"]);
}

#[test]
fn a_later_call_finds_an_m_that_was_kept_and_needs_no_new_thread() {
    let play = a_blocking_system_call(SEED);
    assert_eq!(super::count(&play, super::is_start), 2, "M1 and M2");
    let called = play.until("G5", is(State::Syscall));
    let woken = play.trace.records()[called..].iter().any(|record| record.what == What::Woken);
    assert!(woken, "{}", play.trace);
    let meanwhile = Stage::after(&play, play.until("G6", is(State::Executing))).lines();
    assert!(meanwhile.iter().any(|line| line.contains("is blocked with G5")), "{meanwhile:?}");
    assert!(meanwhile.iter().any(|line| line.contains("executes G6 under P")), "{meanwhile:?}");
}
