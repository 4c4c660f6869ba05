//! Each protocol is proved for every size by both solvers; each part of it is needed; each wrong variant is noticed.

use spinpark_parameterized::PROTOCOLS;
use spinpark_parameterized::finite::{Env, Finite, State};
use spinpark_parameterized::obligations::{self, Obligation, Verdict};
use spinpark_parameterized::search;
use spinpark_parameterized::smt;
use spinpark_parameterized::solver::Solver;
use spinpark_parameterized::system::{Protocol, System, Transition, Variant};
use std::collections::BTreeMap;

pub(crate) fn protocol(name: &str) -> &'static Protocol {
    PROTOCOLS.iter().find(|protocol| protocol.name == name).expect("there is one")
}

pub(crate) fn names_of_refuted(all: &[Obligation], verdicts: &[Verdict]) -> Vec<String> {
    obligations::refuted(all, verdicts).into_iter().map(|obligation| obligation.name.clone()).collect()
}

mod every_obligation_is_discharged {
    use super::*;

    fn by(solver: Solver, name: &str) {
        if !solver.is_here() {
            return;
        }
        let system = (protocol(name).system)("");
        let all = obligations::of(&system);
        let verdicts = obligations::ask(solver, &system, &all);
        let failed = names_of_refuted(&all, &verdicts);
        assert!(failed.is_empty(), "{name}, {}: {failed:?}", solver.name());
        assert_eq!(verdicts.len(), all.len());
        println!("{name}, {}: {} obligations", solver.version(), all.len());
    }

    #[test]
    #[ignore = "`.ci/run` asks both solvers by `check`, and `.ci/nightly` runs it"]
    fn of_the_scheduler_by_z3() {
        by(Solver::Z3, "sched");
    }
    #[test]
    #[ignore = "`.ci/run` asks both solvers by `check`, and `.ci/nightly` runs it"]
    fn of_the_scheduler_by_cvc5() {
        by(Solver::Cvc5, "sched");
    }
    #[test]
    #[ignore = "`.ci/run` asks both solvers by `check`, and `.ci/nightly` runs it"]
    fn of_the_run_queue_by_z3() {
        by(Solver::Z3, "runq");
    }
    #[test]
    #[ignore = "`.ci/run` asks both solvers by `check`, and `.ci/nightly` runs it"]
    fn of_the_run_queue_by_cvc5() {
        by(Solver::Cvc5, "runq");
    }
}

mod what_is_written_down {
    use super::*;
    use spinpark_parameterized::record::{self, Proved};

    /// Of the systems as they stand. That its solvers prove them, the tests above say.
    #[test]
    fn is_what_the_solvers_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/proofs.json");
        let text = std::fs::read_to_string(path).expect("the file is there");
        let mut written: Vec<Proved> = serde_json::from_str(&text).expect("it is one");
        let now: Vec<Proved> = PROTOCOLS.iter().map(|protocol| record::of(protocol, &Solver::ALL)).collect();
        // When, and of which source of the kernel: `cargo verify` says so, and withdraws what is of another.
        for (written, now) in written.iter_mut().zip(&now) {
            (written.recorded, written.source) = (now.recorded.clone(), now.source.clone());
        }
        assert_eq!(
            written, now,
            "`cargo run -p spinpark-parameterized -- record verification/parameterized/proofs.json`"
        );
    }

    #[test]
    fn changes_if_a_step_changes() {
        let sched = protocol("sched");
        let wrong = Protocol { system: |_| (protocol("sched").system)("drops-the-baton"), ..*sched };
        let [right, wrong] = [sched, &wrong].map(|protocol| record::of(protocol, &Solver::ALL).seal);
        assert_eq!(right, record::of(sched, &Solver::ALL).seal);
        assert_ne!(right, wrong);
    }
}

mod each_conjunct_is_needed {
    use super::*;

    /// Without it the obligation that is named beside it fails.
    fn of(name: &str) {
        if !Solver::Z3.is_here() {
            return;
        }
        let protocol = protocol(name);
        let names: Vec<&str> = (protocol.system)("").invariant.iter().map(|conjunct| conjunct.name).collect();
        let listed: Vec<&str> = protocol.needed.iter().map(|(conjunct, _)| *conjunct).collect();
        assert_eq!(names, listed, "each conjunct has its reason");
        for (conjunct, obligation) in protocol.needed {
            let mut system = (protocol.system)("");
            system.invariant.retain(|c| c.name != *conjunct);
            let one: Vec<_> = obligations::of(&system).into_iter().filter(|o| o.name == *obligation).collect();
            let verdicts = obligations::ask(Solver::Z3, &system, &one);
            assert!(
                matches!(verdicts[..], [Verdict { is_proved: false, .. }]),
                "{obligation} holds without {conjunct}"
            );
        }
    }

    #[test]
    fn of_the_scheduler() {
        of("sched");
    }
    #[test]
    fn of_the_run_queue() {
        of("runq");
    }
}

mod each_wrong_variant {
    use super::*;

    fn fails(name: &str) {
        if !Solver::Z3.is_here() {
            return;
        }
        // Those of the steps that are changed come first: one of them fails, as a rule.
        let right: Vec<String> = texts(&(protocol(name).system)("")).into_values().collect();
        for variant in protocol(name).wrong {
            let system = (protocol(name).system)(variant.name);
            let mut all = obligations::of(&system);
            let changed: Vec<&str> =
                texts(&system).into_iter().filter(|(_, text)| !right.contains(text)).map(|(step, _)| step).collect();
            all.sort_by_key(|one| !changed.iter().any(|step| one.name.starts_with(&format!("{step}/"))));
            let failed = obligations::first_refuted(Solver::Z3, &system, &all);
            let failed = failed.unwrap_or_else(|| panic!("{name}: {} is not noticed", variant.name));
            // And is told as two states, which the evaluator judges as the solver did.
            let obligation = &all[failed.obligation];
            let found = obligations::counterexample(&system, obligation)
                .unwrap_or_else(|| panic!("{}: no small state", obligation.name));
            judged_alike(&system, obligation.conjunct, &found);
        }
    }

    /// Each step in SMT-LIB, without the numbers of its variables.
    fn texts(system: &System) -> BTreeMap<&'static str, String> {
        let text = |t: &Transition| {
            let mut text = String::new();
            smt::transition(t, system, &mut text);
            text.replace(|c: char| c.is_ascii_digit(), "")
        };
        system.transitions.iter().map(|t| (t.name, text(t))).collect()
    }

    fn judged_alike(system: &System, conjunct: &str, found: &obligations::Counterexample) {
        let finite = Finite::new(system, &found.sizes);
        let is_so =
            |c: &spinpark_parameterized::logic::Formula, state: &State| finite.is_true(c, state, &mut Env::new());
        if found.states.len() == 2 {
            assert!(
                system.invariant.iter().all(|c| is_so(&c.says, &found.states[0])),
                "{conjunct}: the state before is not allowed"
            );
        }
        let last = found.states.last().expect("there is one");
        let wrong =
            system.invariant.iter().chain(&system.safety).find(|c| c.name == conjunct).expect("it has this name");
        assert!(!is_so(&wrong.says, last), "{conjunct}: the state after is as it should be");
    }

    #[test]
    fn of_the_scheduler_fails_an_obligation() {
        fails("sched");
    }
    #[test]
    fn of_the_run_queue_fails_an_obligation() {
        fails("runq");
    }

    fn goes_wrong(protocol: &Protocol, variant: &Variant, at_most: usize) {
        let system = (protocol.system)(variant.name);
        let finite = Finite::new(&system, variant.sizes);
        let found = search::breadth_first(&finite, at_most, &search::safety(&system));
        let steps = found.wrong.map(|(_, way, _)| way.len());
        assert_eq!(steps, variant.steps, "{}: {}", protocol.name, variant.name);
    }

    /// Those whose executions are short.
    #[test]
    fn has_an_execution_that_goes_wrong() {
        for protocol in PROTOCOLS {
            for variant in protocol.wrong.iter().filter(|variant| variant.steps.is_some_and(|steps| steps <= 16)) {
                goes_wrong(protocol, variant, 20_000);
            }
        }
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn has_an_execution_that_goes_wrong_however_long() {
        for protocol in PROTOCOLS {
            for variant in protocol.wrong.iter().filter(|variant| variant.steps.is_some()) {
                goes_wrong(protocol, variant, 100_000);
            }
        }
    }

    #[test]
    fn that_is_right_fails_nothing() {
        if !Solver::Z3.is_here() {
            return;
        }
        for protocol in PROTOCOLS {
            for variant in protocol.right {
                let system = (protocol.system)(variant.name);
                let all = obligations::of(&system);
                assert!(
                    obligations::ask(Solver::Z3, &system, &all).iter().all(|verdict| verdict.is_proved),
                    "{}",
                    variant.name
                );
            }
        }
    }
}

mod in_a_small_universe {
    use super::*;

    /// Executions take each transition, but for those that are named, and keep the invariant: what is proved is not true for
    /// want of executions.
    fn executions_take_each_transition(name: &str, universes: &[&[usize]], states: usize, never: &[&str]) {
        let system = (protocol(name).system)("");
        let mut taken = vec![0; system.transitions.len()];
        for sizes in universes {
            let finite = Finite::new(&system, sizes);
            for state in (system.begins)(&system, sizes) {
                let facts = system.initial.iter().chain(&system.axioms);
                assert!(facts.into_iter().all(|fact| finite.is_true(fact, &state, &mut Env::new())));
            }
            let wanted: Vec<_> = system.invariant.iter().chain(&system.safety).map(|c| (c.name, &c.says)).collect();
            let wide = search::breadth_first(&finite, states, &wanted);
            let deep = search::at_random(&finite, states, 300, 7, &wanted);
            for found in [&wide, &deep] {
                assert!(found.wrong.is_none(), "{}", search::tell(&finite, found));
                taken.iter_mut().zip(&found.taken).for_each(|(all, one)| *all += one);
            }
        }
        let none: Vec<&str> =
            system.transitions.iter().zip(&taken).filter(|(_, n)| **n == 0).map(|(t, _)| t.name).collect();
        assert_eq!(none, never, "{name}");
    }

    #[test]
    fn executions_of_the_scheduler_take_each_transition() {
        executions_take_each_transition("sched", &[&[3, 2, 1, 1], &[3, 2, 2, 2], &[2, 1, 0, 2]], 12_000, &[]);
    }
    #[test]
    fn executions_of_the_run_queue_take_each_transition() {
        executions_take_each_transition("runq", &[&[2, 3]], 5_000, &[]);
    }
}

mod the_page {
    use super::*;
    use spinpark_parameterized::{LIVENESS, sched::progress};

    /// docs/evidence/every-size.md counts what the solvers are asked and refute.
    #[test]
    fn counts_the_obligations_of_progress_and_names_the_variants_without_an_execution() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/evidence/every-size.md");
        let text = std::fs::read_to_string(path).expect("the page is there");
        let all = LIVENESS[0].1(&(protocol("sched").system)("")).len();
        let refuted = progress::RISES.len() + progress::RELIES.len();
        let says = format!("both solvers discharge {} of {all}", all - refuted);
        assert!(text.contains(&says), "not so: {says}");
        for (name, of) in LIVENESS.iter().skip(1) {
            let all = of(&(protocol(name).system)("")).len();
            assert!(text.contains(&format!("({all} obligations)")), "{name}: there are {all}");
        }
        for variant in PROTOCOLS.iter().flat_map(|protocol| protocol.wrong) {
            let is_named = text.contains(&format!("`{}`", variant.name));
            assert_eq!(is_named, variant.steps.is_none(), "{}", variant.name);
        }
    }
}
