//! The tests in the folder against the reference, and the parser against what is wrong.

use crate::enumerate::enumerate;
use crate::model::MemoryModel;
use crate::parse::parse;
use crate::program::{Access, Expr, Kind, Location, Program, Stmt, Thread};
use crate::question::{Quantifier, Verdict};
use crate::random::{self, Size};
use crate::run::{LitmusEngine, run};
use crate::speculate::{enumerate_in, guess};
use std::path::Path;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, SeqCst};

fn folder() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf();
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
    assert_eq!(body("int r = atomic_load(r);"), "t:4: expected a parameter that points to a location, found `r`");
    assert_eq!(body("switch (1) { }"), "t:4: `switch` is not supported");
    assert_eq!(body("*x *= 2;"), "t:4: this assignment to an atomic object is not supported");
    assert_eq!(body("int r = 4 / 2;"), "t:4: expected `;`, found `/`");
    assert_eq!(body("int r = atomic_load_explicit(x, memory_order_release);"), "t:4: a load cannot be Release");
    assert_eq!(
        body("int r = atomic_load_explicit(x, relaxed);"),
        "t:4: expected a memory order, as `memory_order_relaxed`, found `relaxed`"
    );
    assert_eq!(
        body("asymmetric_thread_fence_light(memory_order_acquire);"),
        "t:4: an asymmetric fence that is Acquire is not supported, only SeqCst"
    );
    assert_eq!(body("frobnicate(x);"), "t:4: `frobnicate` is not one of the functions that are supported");
    assert_eq!(body(&format!("*x = {}", "(".repeat(1000))), "t:4: this is nested too deep");
    assert_eq!(body(&"{".repeat(1000)), "t:4: this is nested too deep");
    assert_eq!(error("C t\n{}\nP0 (int* x) {}\nexists (0:r0 = 1)"), "t:4: expected a register of P0, found `r0`");
    assert_eq!(error("C t\n{}\nP0 (int* x) {}\nexists (y = 1)"), "t:4: expected a location of the test, found `y`");
    assert_eq!(error("C t\n{}\nP0 (int* x) {}\nfilter (x = 1)"), "t:4: `filter` is not supported");
    let elsewhere = "C t\n(* Under imm: Rarely *)\n{}\nP0 (int* x) {}";
    assert_eq!(error(elsewhere), "t:2: expected Never, Sometimes, Always or Race, found `Rarely`");
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

/// The outcomes of one thread that does this.
fn alone(body: &str, shown: &str) -> Vec<String> {
    let text =
        format!("C t\n{{ x = 5; y = 5; }}\nP0 (atomic_int* x, volatile int* y) {{\n{body}\n}}\nlocations [{shown}]");
    let program = parse("t", &text).unwrap_or_else(|error| panic!("{body}: {error}"));
    enumerate(&program).unwrap().outcomes.into_keys().collect()
}

#[test]
fn the_statements_of_published_files_do_what_they_do_in_c() {
    for (body, shown, wanted) in [
        ("int r = 1; r += 4; r -= 2; r *= 7; r ^= 1;", "0:r;", "0:r=20;"),
        ("int r = 6; r &= 3; r |= 8; r <<= 2; r >>= 1;", "0:r;", "0:r=20;"),
        ("int r = 1 + 2 << 1 + 1;", "0:r;", "0:r=12;"),
        ("int r = 3; r++; ++r; r--; --r; r++;", "0:r;", "0:r=4;"),
        ("*x += 2; *x |= 8; (*x)++; --*x;", "x;", "[x]=15;"),
        ("*y += 2; *y *= 2; (*y)++; --(*y);", "y;", "[y]=14;"),
        ("int s = 0; for (int i = 0; i < 3; i++) { s += i; }", "0:s;", "0:s=3;"),
        ("int s = 0; int i; for (i = 3; i > 1; --i) s += *x;", "0:s; 0:i;", "0:s=10; 0:i=1;"),
        ("int r = *x == 5 ? 2 : 3; int s = *x ? 0 ? 7 : 8 : 9;", "0:r; 0:s;", "0:r=2; 0:s=8;"),
        ("register int r = (int)*x; (void)r; size_t s = 1ul;", "0:r; 0:s;", "0:r=5; 0:s=1;"),
        ("atomic_init(x, 7); int r = atomic_load(x);", "0:r;", "0:r=7;"),
        (
            "int r = atomic_flag_test_and_set(x); atomic_flag_clear_explicit(x, memory_order_release);",
            "0:r; x;",
            "0:r=5; [x]=0;",
        ),
        ("int r = atomic_exchange(y, 1) + *y;", "0:r;", "0:r=6;"),
    ] {
        let mut wanted: Vec<&str> = wanted.split_inclusive(';').map(str::trim).collect();
        let found = alone(body, shown);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        let mut found: Vec<&str> = found[0].split_inclusive(';').map(str::trim).collect();
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted, "{body}");
    }
    assert_eq!(alone("for (;;) { *x = 1; }", "x;"), Vec::<String>::new(), "an endless loop has no end to show");
}

/// What an object is shows in how it is accessed, not in the type of a parameter.
#[test]
fn an_object_is_what_it_is_used_as() {
    let text = "C t\n{}\nP0 (volatile int* a, atomic_int* b, atomic_int* m, _Atomic(int)* e) {\n\
        atomic_store(a, 1); atomic_store(b, 1); atomic_compare_exchange_strong(m, e, 1);\n}\n\
        P1 (int* m, int* p) {\n*m = 1; *p = 1;\n}";
    let program = parse("t", text).unwrap();
    let kinds: Vec<_> = program.locations.iter().map(|l| (l.name.as_str(), l.kind)).collect();
    assert_eq!(
        kinds,
        [("a", Kind::Atomic), ("b", Kind::Atomic), ("m", Kind::Mixed), ("e", Kind::Plain), ("p", Kind::Plain)]
    );
    assert!(enumerate(&program).unwrap().race, "the plain store races with the exchange");
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

/// Guessing finds what growing finds, and as often: the two ways share the axioms and nothing else.
#[test]
fn guessing_finds_the_graphs_that_growing_finds() {
    let mut compared = 0;
    let small = ["Asym", "CAS", "CoR", "Forms", "LB", "MP", "Mixed", "RMW", "S+", "SB", "Volatile", "Wake"];
    for (file, text) in folder() {
        let program = parse(&file, &text).unwrap();
        // One that is too large says so.
        if small.iter().any(|family| program.name.starts_with(family))
            && let Ok(guessed) = guess(&program, MemoryModel::Rc11)
        {
            assert_eq!(guessed, enumerate(&program).unwrap(), "{file}");
            compared += 1;
        }
    }
    assert!(compared > 180, "only {compared} files");
    for seed in 0..150 {
        let (plain, mixed, awaits, locks) = (seed % 5 == 1, seed % 5 == 2, seed % 5 == 3, seed % 5 == 4);
        let size = Size { statements: 5, plain, mixed, awaits, locks, ..Size::default() };
        let program = random::program(seed, size);
        if let Ok(guessed) = guess(&program, MemoryModel::Rc11) {
            assert_eq!(guessed, enumerate(&program).unwrap(), "{program:#?}");
            compared += 1;
        }
    }
    assert!(compared > 310, "only {compared} files and random programs");
}

/// What each model allows, as the files argue it; and each of the three differs from the others somewhere.
#[test]
fn every_file_of_load_buffering_has_the_answer_that_it_expects_of_each_model() {
    let (mut asked, mut allowed) = (0, [0, 0]);
    for (file, text) in folder() {
        let program = parse(&file, &text).unwrap();
        let is_load_buffering = program.name.contains("LB+");
        assert!(!is_load_buffering || program.expected.elsewhere.len() == 2, "{file}: what do imm and c11-dep say?");
        for (model, expected) in &program.expected.elsewhere {
            let found = enumerate_in(&program, *model).unwrap();
            let verdict = program.verdict(found.race, found.outcomes.keys());
            assert_eq!(verdict, *expected, "{file} under {}", model.name());
            allowed[usize::from(*model == MemoryModel::C11Dep)] += u32::from(verdict == Verdict::Sometimes);
            asked += 1;
        }
    }
    assert!(asked >= 48 && allowed[0] >= 7 && allowed[1] >= allowed[0] + 5, "{asked} {allowed:?}");
}

/// A model that only keeps dependencies allows what IMM allows, and what RC11 does.
#[test]
fn what_a_stronger_model_allows_a_weaker_one_does() {
    let mut more = [0, 0];
    for seed in 0..150 {
        let program = random::program(seed, Size { statements: 6, mixed: seed % 3 == 0, ..Size::default() });
        let [rc11, imm, weakest] = MemoryModel::ALL.map(|model| enumerate_in(&program, model).unwrap());
        for strong in [&rc11, &imm] {
            assert!(strong.outcomes.keys().all(|outcome| weakest.outcomes.contains_key(outcome)), "{program:#?}");
            assert!(strong.executions <= weakest.executions && (!strong.race || weakest.race), "{program:#?}");
        }
        more[0] += u32::from(rc11.executions < weakest.executions);
        more[1] += u32::from(imm.executions < weakest.executions);
    }
    assert!(more[0] >= 3 && more[1] >= 3, "{more:?}");
}

/// What compilers and hardware do with a light fence differs, so the models of hardware refuse it.
#[test]
fn asymmetric_fences_are_of_rc11_alone() {
    let text = "C t\n{}\nP0 (atomic_int* x) {\nasymmetric_thread_fence_heavy(memory_order_seq_cst);\n*x = 1;\n}";
    let program = parse("t", text).unwrap();
    assert!(enumerate_in(&program, MemoryModel::Rc11).is_ok());
    let error = enumerate_in(&program, MemoryModel::Imm).unwrap_err();
    assert_eq!(error, "t: asymmetric fences have no meaning under imm");
    let error = run(&program, LitmusEngine::Loom, 1.0).unwrap_err();
    assert_eq!(error, "t: loom has no asymmetric fences");
}
