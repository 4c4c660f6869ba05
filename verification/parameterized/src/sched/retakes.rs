//! Each retake happens: a P that stays in one system call is taken out of it, if the monitor looks at its word.
//!
//! | obligation | says |
//! |---|---|
//! | `due/STEP` | a thread without a G can read the word; if it has seen the P in a call, and the P is there, it can take it |
//! | `leads_on/STEP` | it has seen the call then; it has the P then, to hand it on |
//! | `stays/STEP` | until then no step of any thread undoes what it has seen, but by taking the P out of the call |
//! | `is_taken/STEP` | a P leaves the word only into the hands of a thread |
//! | `is_over/STEP` | a call out of which the P was taken never comes back |
//!
//! So of a P in a system call the monitor's second step takes it out, or the call has ended for it, or another thread has it. It is enough that
//! the monitor is not stopped for ever between the two. Which calls are retaken, and when, `sched/sysmon.rs` decides.

use super::state::*;
use crate::logic::{Formula, Var, all, and, at, implies, not, or, same, some};
use crate::obligations::Obligation;
use crate::system::{System, Transition};

/// The monitor `m` has seen `p` in call `c`, and nothing else; and it is still there.
fn is_seen(m: Var, p: Var, c: Var) -> Formula {
    let is_it = |q, d| and([same(p, q), same(c, d)]);
    let alone = all("q", P, |q| all("d", C, |d| implies(SEEN.of([m, q, d]), is_it(q, d))));
    and([at(m, RETAKES), SEEN.of([m, p, c]), WORD.of([p, c]), alone])
}

/// `p` is in call `c` no more, and no store that puts it there is yet to come.
fn is_over(p: Var, c: Var) -> Formula {
    and([MADE.of([c]), not(WORD.of([p, c])), all("w", M, |w| not(LEAVES.of([w, p, c])))])
}

fn of_mpc(wrong: impl Fn(Var, Var, Var) -> Formula) -> Formula {
    some("n", M, |m| some("q", P, |p| some("d", C, |c| wrong(m, p, c))))
}

/// All of them.
pub fn obligations(system: &System) -> Vec<Obligation> {
    let mut all_of_them = Vec::new();
    for (index, t) in system.transitions.iter().enumerate() {
        let later = |formula: Formula| formula.after(&t.updates);
        let mut never = |name: &str, wrong: Formula| {
            all_of_them.push(Obligation::of_transition(system, index, format!("{name}/{}", t.name), vec![wrong]));
        };
        let undone = |m, p, c| and([is_seen(m, p, c), later(WORD.of([p, c])), not(later(is_seen(m, p, c)))]);
        never("stays", of_mpc(undone));
        let has = |p| some("w", M, |w| or([later(HANDS.of([w, p])), later(OWNS.of([w, p]))]));
        never("is_taken", of_mpc(|_, p, c| and([WORD.of([p, c]), not(later(WORD.of([p, c]))), not(has(p))])));
        never("is_over", of_mpc(|_, p, c| and([is_over(p, c), not(later(is_over(p, c)))])));
    }
    all_of_them.extend(is_due(system, "sees_call", |m, p, c| and([at(m, OUT), WORD.of([p, c])]), is_seen));
    all_of_them.extend(is_due(system, "retakes", is_seen, |m, p, c| and([HANDS.of([m, p]), is_over(p, c)])));
    all_of_them
}

/// Where `before` holds the step is possible, and `then` holds after it.
///
/// # Panics
/// If it is not drawn.
fn is_due(
    system: &System,
    name: &str,
    before: impl Fn(Var, Var, Var) -> Formula,
    then: impl Fn(Var, Var, Var) -> Formula,
) -> [Obligation; 2] {
    let index = system.transitions.iter().position(|t| t.name == name).expect("it is drawn");
    let t: &Transition = &system.transitions[index];
    let [m, p, c] = t.params[..] else { unreachable!("it is of a thread, a P and a call") };
    let cannot = vec![before(m, p, c), not(and(t.guard.iter().cloned()))];
    let leads_nowhere = not(implies(before(m, p, c), then(m, p, c).after(&t.updates)));
    [
        Obligation::never(format!("due/{name}"), t.params.clone(), cannot),
        Obligation::of_transition(system, index, format!("leads_on/{name}"), vec![leads_nowhere]),
    ]
}
