//! A small record with some of everything, for tests.

use spinpark_verification::engines::{Bounds, Engine, Verdict};
use spinpark_verification::record::{ExhibitRecord, FORMAT, Fate, MutantRecord, Picture, Record, RunRecord, Sort};

/// What must not get out of any field: markup, quotes, entities, the end of a script, controls, and what is no
/// character of XML.
pub(super) const HOSTILE: &str = "</script></style></title></pre>--><script>alert(1)</script>\" onload='x' & &lt; \
     ]]> \u{0}\u{1b}[31m\u{fffe} \u{202e}é\n\t`";

/// A drawing, with an arrow's head that has a name.
pub(super) const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\" viewBox=\"0 0 20 \
     10\">\n\
     <title>id=\"red\" is no id here</title><defs><marker id=\"red\"><path d=\"M0 0L10 5Z\"/></marker></defs>\n\
     <g id=\"e1\"><path d=\"M0 0L9 9\" marker-end=\"url(#red)\"/></g></svg>\n";

/// The sample.
pub(super) fn record() -> Record {
    with(&str::to_owned)
}

/// The sample, each of its texts followed by what is hostile.
pub(super) fn hostile() -> Record {
    with(&|text| if text.is_empty() { String::new() } else { format!("{text}{HOSTILE}") })
}

type Text<'a> = &'a dyn Fn(&str) -> String;

fn with(text: Text<'_>) -> Record {
    let mut record = Record {
        format: FORMAT,
        version: text("0.1.0"),
        machine: text("Linux x86-64, rustc 1.95.0"),
        date: text("2026-11-22"),
        deep: false,
        shard: None,
        runs: Vec::new(),
        mutants: Vec::new(),
        museum: Vec::new(),
    };
    for (model, failing) in [("runq::steal::two_thieves", false), ("runq::put::full", false), ("handoff::a_stop", true)]
    {
        for (engine, verdict) in [
            (Engine::Rc11, if failing { Verdict::Failed } else { Verdict::Proved }),
            (Engine::Loom, Verdict::Explored),
            (Engine::Tso, Verdict::Bounded),
            (Engine::Pct, Verdict::Sampled),
        ] {
            record.runs.push(run(text, model, engine, verdict));
        }
    }
    let fates = [Fate::Killed, Fate::KilledByProptest, Fate::Argued, Fate::Survived, Fate::Unreached];
    for (n, sort) in [Sort::Variant, Sort::Ordering, Sort::Step].into_iter().enumerate() {
        record.mutants.extend(fates.iter().map(|&fate| mutant(text, n, sort, fate)));
    }
    record.museum = vec![exhibit(text, "go-lost-wakeup", Fate::Killed), exhibit(text, "late-steal", Fate::Survived)];
    record
}

fn picture(text: Text<'_>, svg: bool) -> Picture {
    Picture {
        message: text("the G is missed\nby every M"),
        columns: text("  M0      │ M1\n  ────────┼───────\n ①head := 1 │"),
        svg: svg.then(|| SVG.to_owned()),
    }
}

fn run(text: Text<'_>, model: &str, engine: Engine, verdict: Verdict) -> RunRecord {
    let samples = engine.samples();
    let bounds = Bounds {
        preemptions: (engine == Engine::Loom).then_some(2),
        depth: samples.then_some(3),
        executions: samples.then_some(2000),
        spurious: usize::from(engine == Engine::Rc11),
        seconds: 60.0,
    };
    RunRecord {
        room: text(model.split("::").next().unwrap_or_default()),
        model: text(model),
        claim: text("no G is lost"),
        size: text("2 threads, 1 G"),
        invariants: vec![11, 14],
        engine,
        memory_model: text(engine.memory_model()),
        bounds,
        seed: samples.then_some(7),
        executions: 12_345,
        redundant: 67,
        outcomes: [(text("[Seeks]"), 12_000), (text("[Idled, Woken]"), 345)].into(),
        seconds: 0.25,
        verdict,
        failure: (verdict == Verdict::Failed).then(|| picture(text, true)),
    }
}

fn mutant(text: Text<'_>, n: usize, sort: Sort, fate: Fate) -> MutantRecord {
    let killed = fate == Fate::Killed;
    MutantRecord {
        name: text(&format!("mutant {n} {fate:?}")),
        sort,
        kind: if sort == Sort::Variant { String::new() } else { text("weakened") },
        room: text("runq"),
        file: text(if sort == Sort::Variant { "" } else { "queues/runq.rs" }),
        line: (sort != Sort::Variant).then_some(88),
        source: text(if sort == Sort::Variant { "" } else { "self.tail.store(tail + 1, Release);" }),
        what: text("Release is Relaxed"),
        fate,
        model: killed.then(|| text("runq::steal::two_thieves")),
        engine: killed.then_some(Engine::Rc11),
        executions: 17,
        seconds: 0.5,
        reason: (fate == Fate::Argued).then(|| text("load buffering\nis beyond RC11")),
        failure: killed.then(|| picture(text, n > 0)),
    }
}

fn exhibit(text: Text<'_>, name: &str, fate: Fate) -> ExhibitRecord {
    let killed = fate == Fate::Killed;
    ExhibitRecord {
        name: text(name),
        project: text("Go"),
        issue: text("golang/go#12345"),
        year: 2020,
        people: text("programs hung"),
        cause: text("a wakeup was lost"),
        fix: text("look once more"),
        source: text("the issue was read"),
        change: text("the second look is gone"),
        fate,
        model: killed.then(|| text("handoff::a_stop")),
        engine: killed.then_some(Engine::Rc11),
        executions: 3,
        failure: killed.then(|| picture(text, true)),
    }
}
