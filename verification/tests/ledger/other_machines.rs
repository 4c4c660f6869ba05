//! What the pages say of other machines is what `verification/targets/run` did there, or asked of Arm's model.

use super::{files, quoted, read};
use std::collections::BTreeSet;

/// The columns of a list of verification/targets, without its comments.
fn rows(list: &str) -> Vec<Vec<String>> {
    let text = read(&format!("verification/targets/{list}"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn are_in_the_table_as_the_script_has_left_them() {
    let (page, script) = (read("docs/reference/platforms.md"), read("verification/targets/run"));
    let recorded = rows("record.tsv");
    let shown = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| platform")).count();
    assert_eq!(shown, recorded.len(), "verification/targets/run table");
    for row in recorded {
        assert!(page.contains(&format!("| {} |", row.join(" | "))), "{row:?}: verification/targets/run table");
        // The two that it does not play are written by hand.
        let is_by_hand = ["Linux, x86-64", "Windows"].contains(&row[0].as_str());
        assert!(is_by_hand || script.contains(&format!("\"{}\"", row[0])), "{}: the script plays it no more", row[0]);
    }
}

/// The files of a program of tests/: of the module that the test is in, if it is in one.
fn files_of(program: &str, test: &str) -> Vec<String> {
    let all = files("tests");
    let is_below =
        |path: &str, name: &str| path == format!("tests/{name}.rs") || path.starts_with(&format!("tests/{name}/"));
    let of_several = modules_of(program);
    let modules: Vec<&str> = match test.split_once("::") {
        Some((module, _)) if of_several.iter().any(|name| name == module) => vec![module],
        _ => of_several.iter().map(String::as_str).chain([program]).collect(),
    };
    all.into_iter().filter(|path| modules.iter().any(|name| is_below(path, name))).collect()
}

/// What stands beside a program's file, and is part of it.
fn modules_of(program: &str) -> Vec<String> {
    let path = format!("tests/{program}.rs");
    let text = if files("tests").contains(&path) { read(&path) } else { String::new() };
    text.lines().filter_map(|line| Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())).collect()
}

/// Cargo.toml names each program: a file that belongs to none would never be built.
#[test]
fn play_programs_to_which_every_file_of_tests_belongs() {
    let manifest = read("Cargo.toml");
    let programs: Vec<&str> =
        manifest.split("[[test]]\nname = \"").skip(1).filter_map(|text| Some(text.split_once('"')?.0)).collect();
    assert!(programs.len() > 15, "{programs:?}");
    let belong: BTreeSet<String> = programs.iter().flat_map(|program| files_of(program, "*")).collect();
    let others = files("tests").into_iter().filter(|path| path.ends_with(".rs") && !path.starts_with("tests/interop/"));
    let others: Vec<String> = others.filter(|path| !belong.contains(path)).collect();
    assert!(others.is_empty(), "{others:?}: no program of Cargo.toml has them");
}

#[test]
fn have_exceptions_of_tests_that_there_are() {
    for row in rows("exceptions.tsv") {
        let [program, test, kind, why] = &row[..] else { panic!("{row:?}: not four columns") };
        let name = test.rsplit("::").next().unwrap_or_default();
        let texts: Vec<String> = files_of(program, test).iter().map(|path| read(path)).collect();
        assert!(texts.iter().any(|text| test == "*" || text.contains(name)), "{program} has no test {test}");
        assert!(["fails", "not run"].contains(&kind.as_str()), "{kind}");
        assert!(why.len() > 15, "{program}, {test}: no reason is given");
    }
}

#[test]
fn were_asked_about_each_litmus_test_and_each_pair() {
    let asked = rows("litmus.tsv");
    let names: BTreeSet<&str> = asked.iter().map(|row| row[0].as_str()).collect();
    let there = files("verification/litmus");
    let there: BTreeSet<&str> = there
        .iter()
        .filter_map(|path| path.strip_prefix("verification/litmus/")?.strip_suffix(".litmus"))
        .filter(|name| !name.starts_with("Asym"))
        .collect();
    assert_eq!(names, there, "verification/targets/run compiled");
    for row in asked.iter().filter(|row| ["Never", "Always"].contains(&row[1].as_str())) {
        let is_as_rc11_says = row[3..].iter().all(|answer| *answer == row[1]);
        assert!(is_as_rc11_says || row[2] == "LB", "{row:?}: Arm allows it, and it is no load buffering");
    }
    let (page, orderings, places) =
        (read("docs/evidence/arm.md"), read("docs/reference/orderings.md"), rows("pairs.tsv"));
    let pairs = orderings.lines().filter(|line| line.starts_with("| `")).filter_map(|line| quoted(line).next());
    for pair in pairs {
        assert!(places.iter().any(|row| row[0] == pair), "{pair}: verification/targets/run compiled");
        assert!(page.contains(&format!("| `{pair}` |")), "docs/evidence/arm.md does not show {pair}");
    }
}
