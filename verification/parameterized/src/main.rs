//! probe
use spinpark_parameterized::{obligations, solver::Solver, spinning, runq, custody, system::{System, Variant}, search, finite::Finite};
use std::time::Instant;
fn main() {
    let (make, wrongs): (fn(&str) -> System, &[Variant]) = match std::env::var("P").unwrap_or_default().as_str() { "runq" => (runq::system, runq::WRONG), "custody" => (custody::system, custody::WRONG), _ => (spinning::system, spinning::WRONG) };
    let variant = std::env::args().nth(1).unwrap_or_default();
    let what = std::env::args().nth(2).unwrap_or_default();
    if variant == "all" {
        for v in wrongs.iter() {
            let system = make(v.name);
            let all = obligations::of(&system);
            let verdicts = obligations::ask(Solver::Z3, &system, &all);
            let bad: Vec<_> = verdicts.iter().filter(|v| !v.is_proved).collect();
            let names: Vec<_> = bad.iter().map(|b| all[b.obligation].name.as_str()).take(3).collect();
            let begun = Instant::now();
            let finite = Finite::new(&system, v.sizes);
            let found = search::breadth_first(&finite, if bad.is_empty() { 100 } else { 200000 }, &search::safety(&system));
            println!("{}: {} fail {names:?}; bfs: {} states, {:?} {:.1?}", v.name, bad.len(), found.states, found.wrong.as_ref().map(|w| (w.0, w.1.len())), begun.elapsed());
        }
        return;
    }
    let system = make(&variant);
    if what == "search" {
        let sizes: Vec<usize> = std::env::args().nth(3).unwrap().split(',').map(|x| x.parse().unwrap()).collect();
        let n: usize = std::env::args().nth(4).unwrap().parse().unwrap();
        let finite = Finite::new(&system, &sizes);
        let begun = Instant::now();
        let found = search::breadth_first(&finite, n, &search::safety(&system));
        println!("{variant} {sizes:?} bfs: {} states, complete {}, {:?} {:.1?}", found.states, found.is_complete, found.wrong.as_ref().map(|w| (w.0, w.1.len())), begun.elapsed());
        if found.wrong.is_none() {
            let never: Vec<_> = found.taken.iter().enumerate().filter(|(_, n)| **n == 0).map(|(i, _)| system.transitions[i].name).collect();
            println!("never {never:?}");
            let begun = Instant::now();
            let found = search::at_random(&finite, n, 200, 7, &search::safety(&system));
            println!("random: {} states, {:?} {:.1?}", found.states, found.wrong.as_ref().map(|w| (w.0, w.1.len())), begun.elapsed());
        } else if std::env::args().nth(5).is_some() { println!("{}", search::tell(&finite, &found)); }
        return;
    }
    let all = obligations::of(&system);
    for solver in Solver::ALL {
        if what != "" && what != solver.name() { continue; }
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
