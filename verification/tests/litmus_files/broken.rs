//! What is said of files that are broken, missing, or not what they should be.

use super::{LONG, folder};
use spinpark_litmus::report::{answer, files, json, text};
use spinpark_litmus::run::LitmusEngine;
use std::fs;
use std::path::PathBuf;

/// What is wrong, and what is said, after the file's name.
const BROKEN: &[(&str, &str)] = &[
    ("", ":1: expected `C` and the test's name, found nothing"),
    ("PPC SB\n{ x = 0; }\n", ":1: expected `C` and the test's name: only herd7's C format is read"),
    ("C t\n", ":1: expected `{` and the initial values"),
    ("C t\n{ x = 0 y = 0; }\n", ":2: expected `;`, found `y`"),
    ("C t\n{ x = &y; }\n", ":2: expected a number: pointers as values are not supported"),
    ("C t\n{ x[2]; }\n", ":2: arrays are not supported"),
    ("C t\n{ x = 0; }\nP1 (atomic_int* x) { }\n", ":3: expected `P0`, found `P1`"),
    ("C t\n{ x = 0; }\nP0 (atomic_int x) { }\n", ":3: expected `*`, found `x`"),
    ("C t\n{}\nP0 (int* x) {\n  *x = 1\n}\n", ":5: expected `;`, found `}`"),
    ("C t\n{ x = 0;\n", ":2: expected a `}` for this `{`, found none"),
    ("C t\n{}\nP0 (int* x) {\n  *x = 1;\n", ":3: expected a `}` for this `{`, found none"),
    (
        "C t\n{}\nP0 (int* x) {\n  *x = 1;\nP1 (int* x) { }\nexists (x = 1)\n",
        ":3: expected a `}` for this `{`, found none",
    ),
    ("C t\n{}\nP0 (int* x) {\n  *y = 1;\n}\n", ":4: expected a parameter that points to a location, found `y`"),
    (
        "C t\n{}\nP0 (int* x) {\n  frobnicate(x);\n}\n",
        ":4: `frobnicate` is not one of the functions that are supported",
    ),
    (
        "C t\n{}\nP0 (atomic_int* x) {\n  atomic_store_explicit(x, 1, memory_order_rlx);\n}\n",
        ":4: expected a memory order, as `memory_order_relaxed`, found `memory_order_rlx`",
    ),
    (
        "C t\n{}\nP0 (atomic_int* x) {\n  atomic_store_explicit(x, 1, memory_order_acquire);\n}\n",
        ":4: a store cannot be Acquire",
    ),
    (
        "C t\n{}\nP0 (int* x) {\n  int r0 = READ_ONCE(*x);\n}\n",
        ":4: `READ_ONCE`: the Linux kernel's memory model is not supported",
    ),
    ("C t\n{}\nP0 (int* x) { }\nexists (x = )\n", ":4: expected a number, found `)`"),
    ("C t\n{}\nP0 (int* x) { }\nexists (x = 0\n", ":4: expected `)`, found the end of the file"),
    ("C t\n{}\nP0 (int* x) { }\nexists (z = 0)\n", ":4: expected a location of the test, found `z`"),
    ("C t\n{}\nP0 (int* x) { }\nexists (0:r0 = 0)\n", ":4: expected a register of P0, found `r0`"),
    ("C t\n{}\nP0 (int* x) { }\nperhaps (x = 0)\n", ":4: expected `exists`, `~exists` or `forall`, found `perhaps`"),
    (
        "C t\n(* Expected: Seldom *)\n{}\nP0 (int* x) { }\n",
        ":2: expected Never, Sometimes, Always or Race, found `Seldom`",
    ),
    ("C t\n(* no end\n{}\n", ":2: expected the end of this comment or quotation, found none"),
];

#[test]
fn each_error_says_where_and_what() {
    let folder = tempfile::tempdir().expect("a folder");
    for (n, (broken, message)) in BROKEN.iter().enumerate() {
        let path = folder.path().join(format!("{n}.litmus"));
        fs::write(&path, broken).expect("a file");
        let answer = answer(&path, LitmusEngine::Rc11, LONG);
        assert_eq!(answer.result.unwrap_err(), format!("{}{message}", path.display()), "{broken}");
    }
}

#[test]
fn a_broken_file_does_not_stop_the_others() {
    let place = tempfile::tempdir().expect("a folder");
    let broken = place.path().join("broken.litmus");
    fs::write(&broken, "C broken\n").expect("a file");
    fs::copy(folder().join("SB+rlx.litmus"), place.path().join("good.litmus")).expect("a copy");
    fs::write(place.path().join("notes.txt"), "not a test").expect("a file");
    let files = files(&[place.path().to_owned()]).expect("two files");
    let answers: Vec<_> = files.iter().map(|file| answer(file, LitmusEngine::Rc11, LONG)).collect();
    assert_eq!(answers.iter().map(super::report::Answer::agrees).collect::<Vec<_>>(), [Some(false), Some(true)]);
    let text = text(&answers);
    assert!(text.contains(&format!("NO ANSWER from rc11: {}:1: expected", broken.display())), "{text}");
    assert!(text.contains("2 files: 1 as expected, 1 without an answer"), "{text}");
    assert!(json(&answers)[0]["error"].as_str().is_some_and(|error| error.contains("broken.litmus:1:")));
}

#[test]
fn what_is_missing_is_said() {
    let place = tempfile::tempdir().expect("a folder");
    let missing: PathBuf = place.path().join("missing.litmus");
    let said = files(std::slice::from_ref(&missing)).unwrap_err();
    assert_eq!(said, format!("{}: there is no such file or folder", missing.display()));
    let said = files(&[place.path().to_owned()]).unwrap_err();
    assert_eq!(said, format!("{}: there is no `*.litmus` file in this folder", place.path().display()));
    fs::write(&missing, [b'C', 0xff, 0xfe]).expect("a file");
    let said = answer(&missing, LitmusEngine::Rc11, LONG).result.unwrap_err();
    assert!(said.starts_with(&missing.display().to_string()) && said.contains("UTF-8"), "{said}");
}

#[test]
fn loom_cannot_have_more_than_four_threads() {
    let place = tempfile::tempdir().expect("a folder");
    let five = place.path().join("five.litmus");
    let threads: String = (0..5).map(|n| format!("P{n} (atomic_int* x) {{ *x = {n}; }}\n")).collect();
    fs::write(&five, format!("C five\n{{ x = 0; }}\n{threads}exists (x = 4)\n")).expect("a file");
    let said = answer(&five, LitmusEngine::Loom, LONG).result.unwrap_err();
    assert_eq!(said, "five: loom has no more than 4 threads beside the main one");
    assert_eq!(answer(&five, LitmusEngine::Rc11, LONG).agrees(), None, "nothing is expected");
}
