//! Where loom differs from RC11, and why: `verification/litmus/loom.toml` says it, no more and no less.

use super::{LONG, folder, programs};
use serde::Deserialize;
use spinpark_litmus::program::{Access, Program, Stmt};
use spinpark_litmus::run::{Found, LitmusEngine, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::{fs, thread};

/// What is not done by then is left out of the comparison.
const SOON: f64 = 1.5;

/// The page with the table, from where the tests are.
const PAGE: &str = "../../docs/evidence/litmus.md";

const ENGINES: [LitmusEngine; 2] = [LitmusEngine::Loom, LitmusEngine::LoomApart];

/// The file.
#[derive(Deserialize)]
struct Recorded {
    /// What each reason means.
    reasons: BTreeMap<String, String>,
    /// By engine, the tests that take it too long.
    #[serde(default)]
    unfinished: BTreeMap<String, BTreeSet<String>>,
    #[serde(default)]
    differs: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Entry {
    test: String,
    engines: Vec<String>,
    reason: String,
    /// Outcomes that RC11 has and the engine does not find.
    #[serde(default)]
    missed: Vec<String>,
    /// Outcomes that the engine finds and RC11 forbids.
    #[serde(default)]
    extra: Vec<String>,
}

impl Recorded {
    fn read() -> Recorded {
        let text = fs::read_to_string(folder().join("loom.toml")).expect("loom.toml");
        toml::from_str(&text).expect("a file that can be read")
    }

    fn is_unfinished(&self, test: &str, engine: LitmusEngine) -> bool {
        self.unfinished.get(engine.name()).is_some_and(|tests| tests.contains(test))
    }

    fn reason(&self, test: &str, engine: &str) -> String {
        let mut entries = self.differs.iter().filter(|entry| entry.test == test);
        let found = entries.find(|entry| entry.engines.iter().any(|other| other == engine));
        found.map_or_else(|| "unexplained".to_owned(), |entry| entry.reason.clone())
    }
}

/// Missed, extra.
type Difference = (Vec<String>, Vec<String>);

fn difference(rc11: &Found, loom: &Found) -> Difference {
    let named = |found: &Found| -> BTreeSet<String> {
        if found.race || found.stuck {
            let failures = [("data race", found.race), ("deadlock", found.stuck)];
            return failures.into_iter().filter(|(_, is)| *is).map(|(name, _)| name.to_owned()).collect();
        }
        found.outcomes.keys().cloned().collect()
    };
    let (all, reached) = (named(rc11), named(loom));
    (all.difference(&reached).cloned().collect(), reached.difference(&all).cloned().collect())
}

/// What a test's run came to: `None` if it was not done in time.
type Compared = BTreeMap<(String, LitmusEngine), Option<Difference>>;

/// Compares on as many threads as there are processors. Each engine has its executions on one thread.
fn compare(recorded: Option<&Recorded>, seconds: f64) -> Compared {
    let wanted = |program: &Program, engine| !recorded.is_some_and(|it| it.is_unfinished(&program.name, engine));
    // loom has no asymmetric fences.
    let programs = programs().into_iter().filter(|program| !program.is_asymmetric());
    let pairs = programs.flat_map(|program| ENGINES.map(|engine| (program.clone(), engine)));
    let todo: Mutex<Vec<_>> = Mutex::new(pairs.filter(|(program, engine)| wanted(program, *engine)).collect());
    let done = Mutex::new(Compared::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((program, engine)) = todo.lock().expect("no panic").pop() else { break };
                    let compared = compare_one(&program, engine, seconds);
                    done.lock().expect("no panic").insert((program.name, engine), compared);
                }
            });
        }
    });
    done.into_inner().expect("no panic")
}

fn compare_one(program: &Program, engine: LitmusEngine, seconds: f64) -> Option<Difference> {
    let rc11 = run(program, LitmusEngine::Rc11, LONG).expect("an answer");
    let loom = run(program, engine, seconds).expect("an answer");
    let is_done = loom.complete || loom.race || loom.stuck;
    is_done.then(|| difference(&rc11, &loom))
}

/// What differs, both engines in one entry where they differ in the same way.
fn entries(compared: &Compared, recorded: &Recorded) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for ((test, engine), found) in compared {
        let Some((missed, extra)) = found.clone().filter(|(missed, extra)| !(missed.is_empty() && extra.is_empty()))
        else {
            continue;
        };
        let reason = recorded.reason(test, engine.name());
        let entry = Entry { test: test.clone(), engines: vec![engine.name().to_owned()], reason, missed, extra };
        match entries.last_mut() {
            Some(last) if *last == (Entry { engines: last.engines.clone(), ..entry.clone() }) => {
                last.engines.extend(entry.engines);
            }
            _ => entries.push(entry),
        }
    }
    entries
}

/// The file as it should be: the head and the reasons as they stand, the rest as it was found.
fn write(compared: &Compared) {
    let path = folder().join("loom.toml");
    let text = fs::read_to_string(&path).expect("loom.toml");
    let head = text.split("[unfinished]").next().unwrap_or_default();
    let mut text = format!("{head}[unfinished]\n");
    for engine in ENGINES {
        let _ = writeln!(text, "{} = [", engine.name());
        for ((test, _), _) in compared.iter().filter(|((_, of), found)| *of == engine && found.is_none()) {
            let _ = writeln!(text, "  {test:?},");
        }
        text.push_str("]\n");
    }
    for Entry { test, engines, reason, missed, extra } in entries(compared, &Recorded::read()) {
        let _ = writeln!(text, "\n[[differs]]\ntest = {test:?}\nengines = {engines:?}\nreason = {reason:?}");
        for (name, outcomes) in [("missed", missed), ("extra", extra)] {
            if !outcomes.is_empty() {
                let _ = writeln!(text, "{name} = {outcomes:?}");
            }
        }
    }
    fs::write(path, text).expect("a file that can be written");
}

fn is_wish_to_write() -> bool {
    std::env::var_os("LITMUS").is_some_and(|wish| wish == "write")
}

#[test]
#[ignore = "slow: `.ci/nightly` runs it"]
fn loom_differs_as_it_is_written_down() {
    if is_wish_to_write() {
        write(&compare(None, SOON));
        fs::write(folder().join(PAGE), page().1).expect("a file that can be written");
    }
    let recorded = Recorded::read();
    let compared = compare(Some(&recorded), LONG);
    let slow: Vec<_> = compared.iter().filter(|(_, found)| found.is_none()).map(|(pair, _)| pair).collect();
    assert!(slow.is_empty(), "not done in {LONG} s: {slow:?}");
    let found = entries(&compared, &recorded);
    for entry in &found {
        assert!(recorded.differs.contains(entry), "loom.toml does not say so: {entry:#?}\nLITMUS=write adds it");
    }
    for entry in &recorded.differs {
        assert!(found.contains(entry), "loom.toml says, but it is not so: {entry:#?}\nLITMUS=write takes it out");
    }
}

/// The page's table: a row a reason.
fn table(recorded: &Recorded) -> String {
    let mut text = "| reason | loom | loom-apart | outcomes | what loom does |\n|---|---:|---:|---|---|\n".to_owned();
    for (reason, meaning) in &recorded.reasons {
        let entries: Vec<_> = recorded.differs.iter().filter(|entry| entry.reason == *reason).collect();
        let is_of = |entry: &Entry, engine: LitmusEngine| entry.engines.iter().any(|name| name == engine.name());
        let [loom, apart] = ENGINES.map(|engine| entries.iter().filter(|entry| is_of(entry, engine)).count());
        let missed = if entries.iter().any(|entry| !entry.missed.is_empty()) { "missed" } else { "too many" };
        let _ = writeln!(text, "| `{reason}` | {loom} | {apart} | {missed} | {meaning} |");
    }
    let [loom, apart] = ENGINES.map(|engine| recorded.unfinished.get(engine.name()).map_or(0, BTreeSet::len));
    let _ = writeln!(text, "| not finished, so not compared | {loom} | {apart} | | |");
    text
}

/// The page as it is, and as it should be.
fn page() -> (String, String) {
    let page = fs::read_to_string(folder().join(PAGE)).expect("the page");
    let (before, rest) = page.split_once("<!-- loom -->\n").expect("where the table begins");
    let (_, after) = rest.split_once("<!-- end -->").expect("where it ends");
    let wanted = format!("{before}<!-- loom -->\n{}<!-- end -->{after}", table(&Recorded::read()));
    (page, wanted)
}

#[test]
fn the_page_has_the_table() {
    let (page, wanted) = page();
    assert!(
        is_wish_to_write() || page == wanted,
        "docs/evidence/litmus.md is out of date: LITMUS=write makes its table anew"
    );
}

#[test]
fn what_is_written_down_has_a_reason() {
    let recorded = Recorded::read();
    let names: BTreeSet<String> = programs().into_iter().map(|program| program.name).collect();
    let used: BTreeSet<&String> = recorded.differs.iter().map(|entry| &entry.reason).collect();
    assert!(used.into_iter().eq(recorded.reasons.keys()), "a reason without a meaning, or without a test");
    for (engine, tests) in &recorded.unfinished {
        assert!(ENGINES.iter().any(|known| known.name() == engine), "{engine}");
        assert!(tests.is_subset(&names), "loom.toml names tests of {engine} that are not there");
    }
}

/// Changes every statement, also those inside of others.
fn change(body: &mut [Stmt], how: &impl Fn(&mut Stmt)) {
    for stmt in body {
        how(stmt);
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                change(then, how);
                change(otherwise, how);
            }
            Stmt::Locked(_, body) => change(body, how),
            _ => (),
        }
    }
}

/// SeqCst accesses, as loom takes them. Fences stay.
fn without_seqcst(stmt: &mut Stmt) {
    match stmt {
        Stmt::Load { access: Access::Atomic(order @ SeqCst), .. } => *order = Acquire,
        Stmt::Store { access: Access::Atomic(order @ SeqCst), .. } => *order = Release,
        Stmt::Update { order: order @ SeqCst, .. } => *order = AcqRel,
        Stmt::Exchange { success, failure, .. } => {
            *success = if *success == SeqCst { AcqRel } else { *success };
            *failure = if *failure == SeqCst { Acquire } else { *failure };
        }
        _ => (),
    }
}

fn never_weak(stmt: &mut Stmt) {
    if let Stmt::Exchange { weak, .. } = stmt {
        *weak = false;
    }
}

/// Stores that release by themselves what their thread knows, so that no fence before them has to.
fn releasing(stmt: &mut Stmt) {
    if let Stmt::Store { access: Access::Atomic(order @ Relaxed), .. } = stmt {
        *order = Release;
    }
}

fn changed(mut program: Program, how: &impl Fn(&mut Stmt)) -> Program {
    program.threads.iter_mut().for_each(|thread| change(&mut thread.body, how));
    program
}

fn outcomes(program: &Program, engine: LitmusEngine) -> BTreeSet<String> {
    run(program, engine, LONG).expect("an answer").outcomes.into_keys().collect()
}

/// A reason explains a difference if the difference goes away with it.
#[test]
fn the_reasons_explain_what_they_can() {
    let recorded = Recorded::read();
    for entry in &recorded.differs {
        let program = programs().into_iter().find(|program| program.name == entry.test).expect("the test");
        let allowed = outcomes(&program, LitmusEngine::Reference);
        match entry.reason.as_str() {
            "sc-access-is-acqrel" => {
                let weaker = outcomes(&changed(program, &without_seqcst), LitmusEngine::Reference);
                let only_then = |outcome| weaker.contains(outcome) && !allowed.contains(outcome);
                assert!(entry.missed.is_empty() && entry.extra.iter().all(only_then), "{entry:#?}");
            }
            "weak-failure-never-tried" => {
                let strong = outcomes(&changed(program, &never_weak), LitmusEngine::Reference);
                let missed: BTreeSet<String> = entry.missed.iter().cloned().collect();
                assert!(allowed.difference(&strong).eq(&missed) && entry.extra.is_empty(), "{entry:#?}");
            }
            "seqcst-fence-releases-early" => {
                let program = changed(program, &releasing);
                let [rc11, loom] = [LitmusEngine::Rc11, LitmusEngine::Loom].map(|engine| outcomes(&program, engine));
                assert_eq!(rc11, loom, "{entry:#?}");
            }
            "one-last-access" => {
                assert_eq!(entry.engines, ["loom"], "the marks mend it");
                assert!(!recorded.is_unfinished(&entry.test, LitmusEngine::LoomApart), "{entry:#?}");
            }
            _ => (),
        }
    }
}
