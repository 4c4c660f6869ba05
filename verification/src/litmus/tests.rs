//! The tests in the folder against the reference, and the parser against what is wrong.

use super::enumerate::enumerate;
use super::parse::parse;
use super::program::{Access, Expr, Kind, Location, Program, Stmt, Thread};
use super::question::{Quantifier, Verdict};
use super::random::{self, Size};
use super::run::{LitmusEngine, run};
use std::path::Path;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, SeqCst};

fn folder() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "litmus"));
    files.map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_file_in_the_folder_has_the_answer_it_expects() {
    let files = folder();
    assert!(files.len() > 200);
    for (file, text) in files {
        let program = parse(&file, &text).unwrap();
        assert!(file.ends_with(&format!("{}.litmus", program.name)), "{file}: it is called {}", program.name);
        let found = run(&program, LitmusEngine::Reference, f64::INFINITY).unwrap();
        assert_eq!(program.expected.verdict, Some(found.verdict(&program)), "{file}");
        if found.race {
            continue;
        }
        assert_eq!(program.expected.executions, Some(found.executions), "{file}");
        assert_eq!(program.expected.outcomes, Some(found.outcomes.len() as u64), "{file}");
    }
}

#[test]
fn sequential_consistency_finds_no_outcome_that_rc11_does_not() {
    for seed in 0..60 {
        let (awaits, locks) = (seed % 3 == 0, seed % 3 == 1);
        let program = random::program(seed, Size { statements: 5, awaits, locks, ..Size::default() });
        let reference = run(&program, LitmusEngine::Reference, f64::INFINITY).unwrap();
        let sc = run(&program, LitmusEngine::Sc, 10.0).unwrap();
        assert!(sc.outcomes.keys().all(|outcome| reference.outcomes.contains_key(outcome)), "{program:#?}");
        assert!(!sc.stuck || reference.stuck, "{program:#?}");
    }
}

/// The program with every access in the order `order`, and `between` its statements.
fn with_orders(program: &Program, order: Ordering, between: Option<Stmt>) -> Program {
    fn reorder(body: &[Stmt], order: Ordering, between: &Option<Stmt>) -> Vec<Stmt> {
        let mut stronger = body.to_vec();
        for stmt in &mut stronger {
            match stmt {
                Stmt::Load { access: Access::Atomic(o), .. } | Stmt::Store { access: Access::Atomic(o), .. } => {
                    *o = order
                }
                Stmt::Update { order: o, .. } | Stmt::Await { order: o, .. } => *o = order,
                Stmt::Exchange { success, failure, .. } => (*success, *failure) = (order, order),
                Stmt::If { then, .. } => *then = reorder(then, order, between),
                _ => (),
            }
        }
        stronger.into_iter().flat_map(|stmt| [Some(stmt), between.clone()].into_iter().flatten()).collect()
    }
    let mut program = program.clone();
    program.threads.iter_mut().for_each(|thread| thread.body = reorder(&thread.body, order, &between));
    program
}

#[test]
fn seqcst_accesses_or_fences_everywhere_give_sequential_consistency() {
    for seed in 0..60 {
        let program = random::program(seed, Size { statements: 6, ..Size::default() });
        let sc = run(&program, LitmusEngine::Sc, 60.0).unwrap();
        let fence = Some(Stmt::Fence(SeqCst));
        for strong in [with_orders(&program, SeqCst, None), with_orders(&program, Relaxed, fence)] {
            let reference = run(&strong, LitmusEngine::Reference, f64::INFINITY).unwrap();
            assert!(sc.outcomes.keys().eq(reference.outcomes.keys()), "{program:#?}\n{sc:#?}\n{reference:#?}");
        }
    }
}

fn error(text: &str) -> String {
    parse("t", text).unwrap_err()
}

#[test]
fn errors_say_where_and_what() {
    let body =
        |body: &str| error(&format!("C t\n{{ x = 0; }}\nP0 (atomic_int* x, int* y) {{\n{body}\n}}\nexists (x = 0)"));
    assert_eq!(error(""), "t:1: expected `C` and the test's name, found nothing");
    assert_eq!(error("X86 SB\n{ x = 0; }"), "t:1: expected `C` and the test's name: only herd7's C format is read");
    assert_eq!(error("C t"), "t:1: expected `{` and the initial values");
    assert_eq!(error("C t\n(* never ends"), "t:2: expected the end of this comment or quotation, found none");
    assert_eq!(error("C t\n{ x = 0 y = 0; }"), "t:2: expected `;`, found `y`");
    assert_eq!(error("C t\n{}\nP1 (int* x) {}"), "t:3: expected `P0`, found `P1`");
    assert_eq!(error("C t\n{}\nexists (x=0)"), "t:3: expected `P0`, the first thread, found `exists`");
    assert_eq!(body("*x = ;"), "t:4: expected an expression, found `;`");
    assert_eq!(body("int r = x;"), "t:4: `x` is a pointer: expected `*x`");
    assert_eq!(body("int r = READ_ONCE(*x);"), "t:4: `READ_ONCE`: the Linux kernel's memory model is not supported");
    assert_eq!(body("int r = atomic_load(y);"), "t:4: expected an atomic location, found `y`");
    assert_eq!(body("int r = atomic_load_explicit(x, memory_order_release);"), "t:4: a load cannot be Release");
    assert_eq!(
        body("int r = atomic_load_explicit(x, relaxed);"),
        "t:4: expected a memory order, as `memory_order_relaxed`, found `relaxed`"
    );
    assert_eq!(body("frobnicate(x);"), "t:4: `frobnicate` is not one of the functions that are supported");
    assert_eq!(body(&format!("*x = {}", "(".repeat(1000))), "t:4: this is nested too deep");
    assert_eq!(body(&"{".repeat(1000)), "t:4: this is nested too deep");
    assert_eq!(error("C t\n{}\nP0 (int* x) {}\nexists (0:r0 = 1)"), "t:4: expected a register of P0, found `r0`");
    assert_eq!(error("C t\n{}\nP0 (int* x) {}\nexists (y = 1)"), "t:4: expected a location of the test, found `y`");
    assert_eq!(error("C t\n{}\nP0 (int* x) {}\nfilter (x = 1)"), "t:4: `filter` is not supported");
    let twice = "C t\n{}\nP0 (int* x) {}\nP1 (atomic_int* x) {}\nexists (x = 1)";
    assert_eq!(error(twice), "t:4: x is atomic in one place and plain in another");
    let verdict = "C t\n(* well\n Expected: Maybe *)\n{}\nP0 (int* x) {}";
    assert_eq!(error(verdict), "t:3: expected Never, Sometimes, Always or Race, found `Maybe`");
}

/// Pieces of broken tests: an error, never a panic.
#[test]
fn no_beginning_of_a_file_makes_the_parser_panic() {
    for (file, text) in folder().into_iter().step_by(10) {
        for (end, _) in text.char_indices() {
            let _ = parse(&file, &text[..end]);
            let _ = parse(&file, &format!("C t\n{}", &text[end..]));
        }
    }
}

#[test]
fn the_quirks_of_published_files_are_read() {
    let text = "C quirks\n\"as herd7 writes it\"\nCycle=Rfe PodRR Fre\n{\n[x]=0; int y=0x2; atomic_int z = -1; 0:r9 = 4;\n}\n\
        P0 (volatile atomic_int* x, volatile int *y, atomic_int* z) { // a comment\n  int r0 = 1, r1;\n\
        if (*x == 0 && atomic_load(z) == -1) r1 = *y + r9; else { r1 = 0; }\n  do { r0 = r0 + 1; } while (r0 < 3);\n\
        *x = (int)(r1 * 2) ^ 1; /* so */ }\nlocations [x; 0:r0;]\n\
        ~exists (not ([x]=13) \\/ 0:r1=6 /\\ false => true)";
    let text = text.replace("int r0 = 1, r1;", "int r0 = 1, r1, r9 = 4;");
    let program = parse("quirks", &text).unwrap();
    assert_eq!(program.question.as_ref().unwrap().quantifier, Quantifier::NotExists);
    let found = enumerate(&program).unwrap();
    let outcomes: Vec<_> = found.outcomes.keys().cloned().collect();
    assert_eq!(outcomes, ["0:r0=3; 0:r1=6; [x]=13;"]);
    assert_eq!(program.verdict(false, &outcomes), Verdict::Always);
}

#[test]
fn a_thread_that_waits_for_ever_is_seen() {
    let location = Location { name: "x".to_owned(), initial: 0, kind: Kind::Atomic };
    let store = |value| Stmt::Store { loc: 0, value: Expr::Const(value), access: Access::Atomic(Relaxed) };
    let wait = Stmt::Await { loc: 0, value: 1, order: Acquire, then: None };
    let thread = |body| Thread { body, ..Thread::default() };
    let mut program = Program { name: "wait".to_owned(), locations: vec![location], ..Program::default() };
    program.threads = vec![thread(vec![store(1)]), thread(vec![wait])];
    let found = enumerate(&program).unwrap();
    assert!(found.executions == 1 && !found.stuck);
    program.threads[0].body.push(store(2));
    let found = enumerate(&program).unwrap();
    assert!(found.executions == 1 && found.stuck);
}
