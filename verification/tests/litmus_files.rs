//! The litmus tests in `verification/litmus`: the checker against the reference, against sequential consistency, and
//! against loom; and what is said of broken files.
//!
//! Where loom differs stands in `verification/litmus/loom.toml`. After a change that is meant:
//! `LITMUS=write cargo test -p spinpark-verification --test all litmus_files`; a new entry's reason is written by hand.

#[path = "litmus_files/broken.rs"]
mod broken;
#[path = "litmus_files/loom.rs"]
mod loom;

use clap::ValueEnum as _;
use spinpark_litmus::parse::parse;
use spinpark_litmus::program::Program;
use spinpark_litmus::question::Verdict;
use spinpark_litmus::random::{self, Size};
use spinpark_litmus::report::{self, answer};
use spinpark_litmus::run::{Found, LitmusEngine, run};
use std::path::{Path, PathBuf};

/// Long enough for whatever is expected to come to its end.
const LONG: f64 = 40.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus")
}

fn programs() -> Vec<Program> {
    let files = report::files(&[folder()]).expect("the folder");
    let read = |file: PathBuf| parse(&file.display().to_string(), &std::fs::read_to_string(&file).expect("a file"));
    files.into_iter().map(|file| read(file).expect("a test that can be read")).collect()
}

fn found(program: &Program, engine: LitmusEngine) -> Found {
    run(program, engine, LONG).unwrap_or_else(|error| panic!("{} on {}: {error}", program.name, engine.name()))
}

#[test]
fn the_checker_finds_what_the_reference_finds() {
    let programs = programs();
    assert!(programs.len() >= 340);
    for program in programs {
        let (name, wanted) = (&program.name, found(&program, LitmusEngine::Reference));
        let found = found(&program, LitmusEngine::Rc11);
        assert_eq!(found.verdict(&program), wanted.verdict(&program), "{name}");
        assert_eq!(program.expected.verdict, Some(found.verdict(&program)), "{name}");
        assert_eq!((found.race, found.stuck), (wanted.race, wanted.stuck), "{name}");
        // The checker stops at the first race; the reference goes on.
        if !found.race && !found.stuck {
            assert!(found.complete, "{name}");
            assert!(found.outcomes.keys().eq(wanted.outcomes.keys()), "{name}: {found:#?}\n{wanted:#?}");
            if program.is_native() {
                assert_eq!(found.outcomes, wanted.outcomes, "{name}: how many executions have each outcome");
                assert_eq!(found.executions, wanted.executions, "{name}");
            }
        }
    }
}

/// Random programs: of atomics only, with plain memory, with locks and parkers, with waits for a value.
#[test]
#[ignore = "slow: `.ci/nightly` runs it"]
fn the_checker_finds_what_the_reference_finds_in_random_programs() {
    let (mut compared, mut races, mut stuck) = (0, 0, 0);
    for seed in 0..480 {
        let size = match seed % 6 {
            5 => Size { mixed: true, statements: 6, ..Size::default() },
            0 => Size { threads: 4, ..Size::default() },
            1 => Size { plain: true, ..Size::default() },
            2 => Size { locks: true, plain: seed % 2 == 0, ..Size::default() },
            3 => Size { awaits: true, ..Size::default() },
            _ => Size { locations: 1, ..Size::default() },
        };
        let program = random::program(seed, size);
        let (wanted, found) = (found(&program, LitmusEngine::Reference), found(&program, LitmusEngine::Rc11));
        // A wait is one look when it is played, so a thread that waits for ever is not seen there.
        let is_stuck = wanted.stuck && !size.awaits;
        races += u32::from(wanted.race);
        stuck += u32::from(is_stuck);
        if !(wanted.race && is_stuck) {
            assert_eq!((found.race, found.stuck), (wanted.race, is_stuck), "{program:#?}");
        }
        if !found.race && !found.stuck {
            assert!(found.complete && found.outcomes.keys().eq(wanted.outcomes.keys()), "{program:#?}");
            assert!(!program.is_native() || found.outcomes == wanted.outcomes, "{program:#?}");
            compared += 1;
        }
    }
    assert!(compared > 250 && races > 50 && stuck >= 5, "{compared} compared, {races} races, {stuck} stuck");
}

/// Under sequential consistency there is less, and in enough tests truly less.
#[test]
fn sequential_consistency_is_part_of_what_the_checker_finds() {
    let mut less = 0;
    for program in programs() {
        let (weak, sc) = (found(&program, LitmusEngine::Rc11), found(&program, LitmusEngine::Sc));
        assert!(sc.complete, "{}", program.name);
        if !weak.race {
            let more = sc.outcomes.keys().find(|outcome| !weak.outcomes.contains_key(*outcome));
            assert_eq!(more, None, "{}", program.name);
            less += usize::from(sc.outcomes.len() < weak.outcomes.len());
        }
    }
    assert!(less > 80, "only {less} tests tell the two apart");
}

/// Every answer that can be expected is expected somewhere.
#[test]
fn the_files_are_of_every_kind() {
    let programs = programs();
    for verdict in [Verdict::Never, Verdict::Sometimes, Verdict::Always, Verdict::Race] {
        let n = programs.iter().filter(|program| program.expected.verdict == Some(verdict)).count();
        assert!(n >= 10, "{verdict}: {n}");
    }
}

#[test]
fn an_answer_is_told_as_herd7_tells_it() {
    let one = answer(&folder().join("SB+scfences.litmus"), LitmusEngine::Rc11, LONG);
    assert_eq!(one.agrees(), Some(true));
    let text = report::text(std::slice::from_ref(&one));
    for line in [
        "Outcomes 3\n1    :> 0:r0=0; 1:r0=1;\n1    :> 0:r0=1; 1:r0=0;\n1    :> 0:r0=1; 1:r0=1;\nExecutions 3 (",
        "No exists (0:r0=0 /\\ 1:r0=0)\nVerdict Never\nExpected Never, 3 outcomes, 3 executions: agrees\n",
        "1 file: 1 as expected",
    ] {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
    let two = answer(&folder().join("SB+rlx.litmus"), LitmusEngine::Sc, LONG);
    assert_eq!(two.agrees(), Some(false), "sequential consistency knows no store buffers");
    let text = report::text(&[one.clone(), two.clone()]);
    assert!(text.starts_with("file "), "a table comes first:\n{text}");
    assert!(text.contains("2 files: 1 as expected, 1 otherwise"), "{text}");
    let json = report::json(&[one, two]);
    assert_eq!(json[0]["outcomes"]["0:r0=1; 1:r0=1;"], 1);
    assert_eq!(json[0]["expected"]["verdict"], "Never");
    assert_eq!((&json[0]["agrees"], &json[1]["agrees"]), (&true.into(), &false.into()));
    assert_eq!(json[1]["engine"], "sc");
}

#[test]
fn engines_are_called_the_same_everywhere() {
    for engine in LitmusEngine::ALL {
        assert_eq!(LitmusEngine::from_str(engine.name(), false), Ok(engine));
    }
    assert_eq!(LitmusEngine::value_variants(), LitmusEngine::ALL);
}

#[test]
fn an_engine_that_is_stopped_decides_nothing() {
    let path = folder().join("IRIW+scfences.litmus");
    let stopped = answer(&path, LitmusEngine::Loom, 0.05);
    assert_eq!(stopped.agrees(), None);
    assert!(report::text(&[stopped]).contains("Verdict Never so far"));
}
