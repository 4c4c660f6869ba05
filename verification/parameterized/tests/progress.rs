//! What comes to pass: that a stop ends, a G leaves its ring, and a P the call in which it is; and how far an M comes that answers for a G.

use crate::proofs::{names_of_refuted, protocol};
use spinpark_parameterized::logic::{Formula, Update, and, not, or, same};
use spinpark_parameterized::obligations::{self, Obligation};
use spinpark_parameterized::solver::Solver;
use spinpark_parameterized::system::{System, Transition};

/// A step, what is changed in it, and what is refuted then.
type Wrong = (&'static str, fn(&mut Transition), &'static str);

fn refuted(solver: Solver, system: &System, of: fn(&System) -> Vec<Obligation>) -> Vec<String> {
    let all = of(system);
    names_of_refuted(&all, &obligations::ask(solver, system, &all))
}

/// Does z3 refute the obligation of this name?
fn is_refuted(system: &System, of: fn(&System) -> Vec<Obligation>, what: &str) -> bool {
    let asked: Vec<Obligation> = of(system).into_iter().filter(|one| one.name == what).collect();
    names_of_refuted(&asked, &obligations::ask(Solver::Z3, system, &asked)) == [what]
}

/// Each solver discharges all; and z3 refutes what it must, if one step is changed.
fn is_proved_and_needed(name: &str, of: fn(&System) -> Vec<Obligation>, wrong: &[Wrong]) {
    for solver in Solver::ALL.into_iter().filter(|solver| solver.is_here()) {
        assert_eq!(refuted(solver, &(protocol(name).system)(""), of), [""; 0], "{}", solver.name());
        for (step, edit, what) in wrong.iter().filter(|_| solver == Solver::Z3) {
            let mut system = (protocol(name).system)("");
            edit(system.transitions.iter_mut().find(|t| t.name == *step).expect("it is drawn"));
            assert!(is_refuted(&system, of, what), "{step}: {what}");
        }
    }
}

fn drop_update(t: &mut Transition, of: &str) {
    t.updates.retain(|update| !matches!(update, Update::Rel { rel, .. } if rel.name == of));
}

fn drop_conditions(t: &mut Transition) {
    t.guard.retain(|part| !matches!(part, Formula::Some(..) | Formula::Not(..)));
}

#[test]
fn a_stop_ends() {
    use spinpark_parameterized::sched::ends;
    use spinpark_parameterized::sched::state::{AHEAD, HELD, IN_LINE, OUT, SCANNED, TOKEN};
    let pushes_in: fn(&mut Transition) = |t| {
        let m = t.params[0];
        t.assign(AHEAD, |x| or([AHEAD.of([x[0], x[1]]), and([same(x[0], m), IN_LINE.of([x[1]])])]));
    };
    let wrong: &[Wrong] = &[
        ("is_woken", |t| t.guard.push(not(TOKEN.of([t.params[0]]))), "due/wakes_up_when_all_are_held"),
        ("unparks", |t| drop_update(t, TOKEN.name), "leads_on/is_to_be_woken_at_its_turn"),
        ("misses_stopping", |t| drop_update(t, SCANNED.name), "stays/has_seen_a_call/misses_stopping"),
        ("sees_call_stopping", |t| t.guard.truncate(1), "stays/looks_at_words/sees_call_stopping"),
        ("sees_no_call", |t| t.guard.push(TOKEN.of([t.params[0]])), "due/looks_at_words"),
        ("steals", |t| _ = t.clear(HELD, &[t.params[2]]), "stays/waits_for_ps/steals"),
        ("queues_up", pushes_in, "line/queues_up"),
        ("is_first", |t| _ = t.goes(t.params[0], OUT), "stoppers/is_first"),
    ];
    is_proved_and_needed("sched", ends::obligations, wrong);
    if Solver::Z3.is_here() {
        let wakes_nobody = (protocol("sched").system)("wakes-nobody");
        assert!(is_refuted(&wakes_nobody, ends::obligations, "stays/waits_for_ps/hands_in"));
    }
}

#[test]
fn a_g_in_a_ring_leaves_it() {
    use spinpark_parameterized::runq::{CONSUMED, GONE, PUBLISHED, leaves, ring_is_full};
    let wrong: &[Wrong] = &[
        ("gives_up", |t| _ = t.assign(PUBLISHED, |_| Formula::Is(false)), "waits/gives_up"),
        ("publishes", |t| _ = t.assign(CONSUMED, |_| Formula::Is(false)), "waits/publishes"),
        ("claims", |t| drop_update(t, CONSUMED.name), "nearer/claims"),
        ("claims_to_spill", |t| drop_update(t, CONSUMED.name), "nearer/claims_to_spill"),
        ("is_overtaken", drop_conditions, "overtaken/is_overtaken"),
        ("finds_less", drop_conditions, "overtaken/finds_less"),
        ("sees_two_times", |t| t.guard.truncate(1), "overtaken/sees_two_times"),
        ("sees_nothing", |t| t.guard.truncate(1), "sees_it/sees_nothing"),
        ("finds_none", |t| t.guard.truncate(2), "sees_it/finds_none"),
        ("writes_slot", |t| t.guard.truncate(3), "room/writes_slot"),
        ("sees_some", |t| t.guard.push(ring_is_full()), "due/sees_some"),
        ("claims", |t| t.guard.push(GONE.of([t.params[1]])), "due/claims"),
    ];
    is_proved_and_needed("runq", leaves::obligations, wrong);
}

#[test]
fn a_p_in_a_call_is_retaken() {
    use spinpark_parameterized::sched::retakes;
    use spinpark_parameterized::sched::state::{DETACHED, HANDS, OWNS, SEEN, WORD};
    let wrong: &[Wrong] = &[
        ("sees_call", |t| drop_update(t, SEEN.name), "leads_on/sees_call"),
        ("retakes", |t| drop_update(t, HANDS.name), "is_taken/retakes"),
        ("retakes", |t| drop_update(t, WORD.name), "leads_on/retakes"),
        ("retakes", |t| t.guard.push(DETACHED.of([t.params[2]])), "due/retakes"),
        ("misses_call", |t| t.guard.truncate(2), "stays/misses_call"),
        ("exits_kept", |t| drop_update(t, OWNS.name), "is_taken/exits_kept"),
        ("enters", drop_conditions, "is_over/enters"),
        ("sleeps", |t| t.guard.clear(), "stays/sleeps"),
    ];
    is_proved_and_needed("sched", retakes::obligations, wrong);
}

mod an_m_that_answers_for_a_g {
    use super::*;
    use spinpark_parameterized::sched::{progress, state};

    #[test]
    fn has_a_rank_wherever_it_answers() {
        let answering = state::ANSWERING.and(state::SCANNING);
        let places = (0..state::PLACES.len() as u8).filter(|place| answering.has(*place));
        let mut ranks = progress::RANKS.to_vec();
        ranks.sort_unstable();
        assert_eq!(ranks, places.collect::<Vec<u8>>());
    }

    /// Each step of its own brings it nearer, and each on which it relies is nearer than itself: but for these.
    fn named() -> Vec<String> {
        let rises = progress::RISES.iter().map(|(step, _)| format!("descends/{step}"));
        rises.chain(progress::RELIES.iter().map(|s| format!("passes_down/{s}"))).collect()
    }

    #[test]
    fn comes_to_it_but_for_what_is_named_by_z3() {
        if Solver::Z3.is_here() {
            let failed = refuted(Solver::Z3, &(protocol("sched").system)(""), progress::obligations);
            assert_eq!(failed, named());
        }
    }

    /// What is named it is not asked: it would look for a minute for what z3 finds at once.
    #[test]
    fn comes_to_it_but_for_what_is_named_by_cvc5() {
        let others = |system: &System| {
            let (mut all, named) = (progress::obligations(system), named());
            all.retain(|obligation| !named.contains(&obligation.name));
            all
        };
        if Solver::Cvc5.is_here() {
            let failed = refuted(Solver::Cvc5, &(protocol("sched").system)(""), others);
            assert_eq!(failed, Vec::<String>::new());
        }
    }
}
