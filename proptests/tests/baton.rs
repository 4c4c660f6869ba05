//! A baton that is given to a count without an M behind it: the program by which the fuzzer found that out, under
//! every interleaving.

use spinpark_proptests::room::{Program, Trial, run};
use spinpark_proptests::rooms::spinning::{Begins, Op, Setup, Spinning};
use spinpark_verification::engines::{Engine, Verdict};

/// M1 runs a G that readies two others. M0 spins; there are these two Ps.
///
/// 1. M0 finds nothing, idles its P, leaves `nmspinning` (1 -> 0), looks again, sees the first G, takes its P back.
/// 2. M1 readies the second. No M is counted: `wakep` elects (0 -> 1), finds no idle P, sets `needspinning`.
/// 3. M0 counts itself (1 -> 2), clears `needspinning`, takes the first G, leaves (2 -> 1): not the last, no `wakep`.
/// 4. M0 has run it, and may not spin, for one of two is counted. M1 lowers its count (1 -> 0).
/// 5. M0 looks at `needspinning`, which is clear, idles its P and sleeps. The second G waits for M1, beside an idle P.
#[test]
fn is_asked_for_again() {
    let ops = vec![(0, Op::FindRunnable), (0, Op::FindRunnable), (0, Op::FindRunnable), (1, Op::Ready), (1, Op::Ready)];
    let parties = vec![Begins::SpinningToken, Begins::Running, Begins::Outside, Begins::Outside];
    let program = Program::<Spinning> { setup: Setup { parties, idle_ps: 0, global_first: false }, ops };
    let outcome = run(&program, &Trial { engine: Engine::Sc, schedules: 2_000, seed: 1, mutant: None });
    if let Some(failure) = outcome.failure {
        panic!("{program}{}", failure.message);
    }
    assert_eq!(outcome.verdict, Verdict::Proved, "{} executions were not all", outcome.executions);
}
