//! quick harness
use spinpark_verification::{engine::{self, Job}, model};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    for m in model::all() {
        if !args.is_empty() && !args.iter().any(|a| m.name.contains(a.as_str())) { continue }
        for r in m.runs {
            let o = engine::run(Job { model: m, engine: r.engine, bounds: r.bounds, mutation: None, seed: 1 }, &engine::silent());
            println!("{:70} {:10} {:8} exec {:8} red {:8} out {:3} {:.2}s {:?}", m.name, r.engine.name(), o.verdict.to_string(), o.executions, o.redundant, o.outcomes.len(), o.seconds, o.failure.as_ref().map(|f| &f.message));
            if std::env::var("OUT").is_ok() { for (k,v) in &o.outcomes { println!("      {v:8} {k}"); } }
            if let Some(f) = o.failure { for s in f.steps { println!("   {} {}:{} {}", f.threads[s.thread], s.file, s.line, s.what); } }
        }
    }

    for mu in spinpark_verification::mutant::all() {
        if !args.is_empty() && !args.iter().any(|a| mu.name.contains(a.as_str())) { continue }
        for (name, e) in mu.killed_by {
            let m = model::all().find(|m| m.name == *name).unwrap();
            let r = m.runs.iter().find(|r| r.engine == *e).copied().unwrap_or_else(|| panic!("{name} does not run on {e}"));
            let o = engine::run(Job { model: m, engine: *e, bounds: r.bounds, mutation: Some(mu.mutation), seed: 1 }, &engine::silent());
            println!("{:40} {:50} {:6} {} exec {:8} {:.2}s hits {} {:?}", mu.name, name.split("::").last().unwrap(), e.name(), if o.verdict == engine::Verdict::Failed {"killed"} else {"SURVIVED"}, o.executions, o.seconds, o.mutant_hits, o.failure.as_ref().map(|f| &f.message));
        }
    }
}
