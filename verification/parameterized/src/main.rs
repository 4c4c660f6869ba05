//! probe
use spinpark_parameterized::{obligations, solver::Solver, spinning};
use std::time::Instant;
fn main() {
    let variant = std::env::args().nth(1).unwrap_or_default();
    let system = spinning::system(&variant);
    let all = obligations::of(&system);
    for solver in Solver::ALL {
        if std::env::args().nth(2).is_some_and(|s| s != solver.name()) { continue; }
        let begun = Instant::now();
        let verdicts = obligations::ask(solver, &system, &all);
        let bad: Vec<_> = verdicts.iter().filter(|v| !v.is_proved).collect();
        println!("{}: {} obligations, {} failed, {:.1?}, worst {:?}", solver.version(), all.len(), bad.len(), begun.elapsed(), verdicts.iter().map(|v| (v.time, &all[v.obligation].name)).max());
        for v in &bad {
            println!("  {} {:?}", all[v.obligation].name, v.time);
        }
        if let Some(v) = bad.first() { if solver == Solver::Z3 {
            if let Some(found) = obligations::counterexample(&system, &all[v.obligation]) {
                println!("{}", obligations::tell(&system, &all[v.obligation], &found));
            }
        }}
    }
}
