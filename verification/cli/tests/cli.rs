//! `cargo verify`, as its users call it.

use serde_json::Value;
use spinpark_verification::schedule::Schedule;
use std::path::Path;
use std::process::{Command, Output};
use std::time::UNIX_EPOCH;
use std::{fs, str};
use tempfile::TempDir;

fn verify(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_verify");
    Command::new(program).args(arguments).current_dir(folder).output().expect("the program starts")
}

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("it prints UTF-8")
}

fn json(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the file was written");
    serde_json::from_str(&text).expect("it is a JSON array")
}

const ONE: &str = "one_submitter_one_spinning_m";

/// The project's root, where its documents and records are.
fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

mod every_weaker_ordering {
    use super::*;

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it; `.ci/run` has every file"]
    fn of_a_file_is_killed_or_argued() {
        let folder = folder();
        let arguments = ["mutants", "queues/runq.rs", "--sort", "ordering", "--resume", "kept", "--json", "all.json"];
        let output = verify(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
        let all = json(&folder.path().join("all.json"));
        assert!(all.len() >= 12, "{} mistakes", all.len());
        let fates: Vec<&Value> = all.iter().map(|mistake| &mistake["fate"]).collect();
        assert!(fates.iter().all(|fate| *fate == "killed" || *fate == "argued"), "{fates:?}");
        assert!(fates.iter().filter(|fate| **fate == "killed").count() >= 8, "{fates:?}");
        // What was found out is kept: a line each, below the header.
        let kept = fs::read_to_string(folder.path().join("kept")).expect("it was kept");
        assert_eq!(kept.lines().count(), all.len() + 1);
    }

    #[test]
    fn is_not_gone_on_with_from_a_strange_file() {
        let folder = folder();
        fs::write(folder.path().join("kept"), "something else\n").expect("it can be written");
        let output = verify(folder.path(), &["mutants", "types/m.rs", "--sort", "ordering", "--resume", "kept"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("kept"), "{}", text(&output.stderr));
    }
}

mod the_museum {
    use super::*;

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it; `.ci/run` has the museum"]
    fn catches_each_bug() {
        let folder = folder();
        let output = verify(folder.path(), &["museum", "--json", "museum.json"]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let exhibits = json(&folder.path().join("museum.json"));
        assert!(exhibits.len() >= 40, "{} exhibits", exhibits.len());
        assert!(exhibits.iter().all(|exhibit| exhibit["fate"] == "killed"), "{said}");
    }

    #[test]
    fn tells_the_story_of_one() {
        let output = verify(folder().path(), &["museum", "45867"]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}");
        for word in ["golang/go#45867", "cause:", "fix:", "│", "1 of 1 bugs caught"] {
            assert!(said.contains(word), "`{word}` is missing in\n{said}");
        }
    }

    #[test]
    fn says_where_its_names_are() {
        let output = verify(folder().path(), &["museum", "the-philosophers-stone"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("cargo verify museum --list"), "{}", text(&output.stderr));
    }
}

mod a_report {
    use super::*;

    #[test]
    fn is_made_from_a_record() {
        let folder = folder();
        let record = root().join("verification/cli/tests/full-record.json");
        let record = record.to_str().expect("a path is text");
        let arguments = ["report", "--from", record, "--html", "page", "--junit", "junit.xml"];
        let output = verify(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let page = fs::read_to_string(folder.path().join("page/index.html")).expect("the page was written");
        assert!(page.contains("one_submitter_one_spinning_m") && page.ends_with("</html>\n"), "{} bytes", page.len());
        let junit = fs::read_to_string(folder.path().join("junit.xml")).expect("it was written");
        assert!(junit.starts_with("<?xml") && junit.contains("<testcase"), "{} bytes", junit.len());
    }

    #[test]
    fn must_go_somewhere() {
        let output = verify(folder().path(), &["report"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("--html"), "{}", text(&output.stderr));
    }

    #[test]
    fn knows_no_fourth_shard_of_three() {
        let output = verify(folder().path(), &["report", "--shard", "4/3", "--json", "out.json"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("3/3"), "{}", text(&output.stderr));
    }

    #[test]
    fn of_a_record_that_is_none_says_so() {
        let folder = folder();
        fs::write(folder.path().join("broken.json"), "[1, 2").expect("it can be written");
        for file in ["broken.json", "missing.json"] {
            let output = verify(folder.path(), &["report", "--from", file, "--html", "page"]);
            assert_eq!(output.status.code(), Some(2));
            assert!(text(&output.stderr).contains(file), "{}", text(&output.stderr));
        }
    }
}

mod a_record {
    use super::*;

    /// The record that this is compared with, as `change` makes it; what comes of that.
    fn compared(change: impl Fn(&mut Value)) -> (Option<i32>, String) {
        let folder = folder();
        let text = fs::read_to_string(root().join("verification/record.jsonl")).expect("there is one");
        let changed = |line: &str| {
            let mut line: Value = serde_json::from_str(line).expect("it is JSON");
            if line["model"].as_str().is_some_and(|model| model.ends_with(ONE)) {
                change(&mut line["runs"]["sc none"]);
            }
            line.to_string() + "\n"
        };
        fs::write(folder.path().join("record.jsonl"), text.lines().map(changed).collect::<String>()).expect("room");
        let output = verify(folder.path(), &["run", ONE, "--engine", "sc", "--against", "record.jsonl"]);
        (output.status.code(), text_of(&output))
    }

    fn text_of(output: &Output) -> String {
        text(&output.stdout).to_owned()
    }

    #[test]
    fn that_says_the_same_is_met() {
        let (status, said) = compared(|_| ());
        assert_eq!(status, Some(0), "{said}");
    }

    #[test]
    fn that_says_more_is_a_failure() {
        let (status, said) = compared(|run| run[1] = Value::from(1_000_000));
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("were 1000000"), "{said}");
    }

    #[test]
    fn of_another_outcome_is_a_failure() {
        let (status, said) = compared(|run| run[4] = Value::from("00000000"));
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("outcomes are not those that it had"), "{said}");
        let (status, said) = compared(|run| run[3] = Value::from(1_000));
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("outcomes, were 1000"), "{said}");
    }

    #[test]
    fn that_is_not_there_is_said_before_hours_are_spent() {
        let output = verify(folder().path(), &["--engine", "rc11", "--against", "missing.json"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("missing.json"), "{}", text(&output.stderr));
    }
}

mod what_holds_is_said {
    use super::*;

    #[test]
    fn with_a_table_and_status_0() {
        let folder = folder();
        let output = verify(folder.path(), &["run", ONE, "--jobs", "2"]);
        let table = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{table}");
        for word in ["spinning", ONE, "a G submitted while the last spinning M", "explored", "proved", "SC", "TSO"] {
            assert!(table.contains(word), "`{word}` is missing in\n{table}");
        }
    }

    #[test]
    fn in_json_with_every_field() {
        let folder = folder();
        let path = folder.path().join("out.json");
        let output = verify(folder.path(), &["run", "runnext", "--json", "out.json"]);
        assert_eq!(output.status.code(), Some(0));
        let rows = json(&path);
        assert!(rows.len() >= 6, "{} rows", rows.len());
        for row in &rows {
            for field in ["room", "model", "claim", "engine", "bounds", "executions", "outcomes", "seconds", "verdict"]
            {
                assert!(!row[field].is_null(), "{field} is missing in {row}");
            }
            assert_eq!(row["room"], "runnext");
            assert!(row["executions"].as_u64() > Some(0), "nothing was explored: {row}");
        }
    }

    #[test]
    fn in_a_list_without_running() {
        let folder = folder();
        let output = verify(folder.path(), &["list", "--json", "list.json"]);
        assert_eq!(output.status.code(), Some(0));
        let rows = json(&folder.path().join("list.json"));
        assert!(rows.iter().all(|row| row["verdict"].is_null() && row["executions"].is_null()));
        assert!(rows.iter().any(|row| row["engine"] == "loom" && row["room"] == "spinning"));
    }

    #[test]
    fn the_same_whatever_the_number_of_jobs() {
        let folder = folder();
        let counts = |jobs: &str| {
            let output =
                verify(folder.path(), &["run", "spinning", "--engine", "rc11", "--jobs", jobs, "--json", jobs]);
            assert_eq!(output.status.code(), Some(0));
            let rows = json(&folder.path().join(jobs));
            rows.iter().map(|row| row["executions"].as_u64()).collect::<Vec<_>>()
        };
        assert_eq!(counts("1"), counts("2"));
    }

    #[test]
    fn from_a_seed_the_same_sample() {
        let folder = folder();
        let sample = |seed: &str, file: &str| {
            let arguments =
                ["run", "a_g_and_an_outsider_run_one_each", "--engine", "random", "--seed", seed, "--json", file];
            assert_eq!(verify(folder.path(), &arguments).status.code(), Some(0));
            json(&folder.path().join(file))[0]["outcomes"].clone()
        };
        assert_eq!(sample("7", "a"), sample("7", "b"));
        assert_ne!(sample("7", "a"), sample("8", "c"));
    }
}

mod what_fails_is_shown {
    use super::*;

    #[test]
    fn as_columns_in_a_file_and_played_again() {
        let folder = folder();
        for engine in ["loom", "sc", "tso"] {
            let mutant = "spinning-looks-before-it-leaves";
            let output = verify(folder.path(), &["run", ONE, "--engine", engine, "--mutant", mutant]);
            let said = text(&output.stdout).to_owned();
            assert_eq!(output.status.code(), Some(1), "{said}");
            for word in ["FAILED", "spinning_m", "submitter", "nmspinning 1 -> 0", "spinning.rs:", "StoreLoad"] {
                assert!(said.contains(word), "`{word}` is missing in\n{said}");
            }
            let file = format!("schedules/{mutant}.spinning.work_is_conserved.{ONE}.{engine}.json");
            let output = verify(folder.path(), &["replay", &file]);
            let again = text(&output.stdout);
            assert_eq!(output.status.code(), Some(1), "{again}");
            assert!(again.contains("It still fails, in the same way"), "{again}");
            let picture = |text: &str| text.lines().filter(|line| line.contains('│')).collect::<Vec<_>>().join("\n");
            assert_eq!(picture(&said), picture(again), "{engine}: another schedule was played");
        }
    }

    fn schedule_of(folder: &Path, engine: &str) -> String {
        let mutant = "spinning-looks-before-it-leaves";
        let output = verify(folder, &["run", ONE, "--engine", engine, "--mutant", mutant]);
        assert_eq!(output.status.code(), Some(1));
        format!("schedules/{mutant}.spinning.work_is_conserved.{ONE}.{engine}.json")
    }

    #[test]
    fn but_not_if_the_file_was_changed() {
        let folder = folder();
        for engine in ["rc11", "loom", "sc"] {
            let file = schedule_of(folder.path(), engine);
            let path = folder.path().join(&file);
            let whole = fs::read_to_string(&path).expect("a schedule");
            let changed = [
                (whole[..whole.len() / 2].to_owned(), "no schedule file"),
                (whole.replace("\"seed\": 1", "\"seed\": 2"), "was changed after it was written"),
                (whole.replace("\"spinning-looks-before-it-leaves\"", "null"), "was changed after it was written"),
                (whole.replace("\"spinpark_schedule\": 2", "\"spinpark_schedule\": 1"), "has format 1"),
            ];
            for (text, says) in changed {
                fs::write(&path, text).expect("it can be written");
                for command in ["replay", "picture"] {
                    let output = verify(folder.path(), &[command, &file]);
                    let said = text_of(&output);
                    assert_eq!(output.status.code(), Some(2), "{engine}: {said}");
                    assert!(said.contains(says), "{engine}: {said}");
                }
            }
        }
    }

    fn text_of(output: &Output) -> String {
        format!("{}{}", text(&output.stdout), text(&output.stderr))
    }

    #[test]
    fn as_what_it_is_made_of_and_from_what() {
        let folder = folder();
        let file = schedule_of(folder.path(), "sc");
        let schedule = fs::read_to_string(folder.path().join(file)).expect("a schedule");
        for field in ["seal", "kernel_source", "checker_source", "bounds", "seed"] {
            assert!(schedule.contains(&format!("\"{field}\"")), "{field} is missing in\n{schedule}");
        }
    }

    #[test]
    fn and_an_edited_kernel_is_told_from_an_edited_file() {
        let folder = folder();
        let file = schedule_of(folder.path(), "sc");
        let path = folder.path().join(&file);
        let mut schedule = Schedule::read(&path).expect("a schedule");
        (schedule.sources.kernel_source, schedule.mutant) = ("0".repeat(16), None);
        fs::write(&path, schedule.text()).expect("it can be written");
        let output = verify(folder.path(), &["replay", &file]);
        let said = text_of(&output);
        match output.status.code() {
            Some(0) => assert!(said.contains("It no longer fails"), "{said}"),
            status => {
                assert_eq!(status, Some(2), "{said}");
                assert!(said.contains("it does not fit any more, for the kernel has changed"), "{said}");
            }
        }
    }

    #[test]
    fn by_sampling_too() {
        let folder = folder();
        let arguments =
            ["run", "a_g_waits", "--engine", "tso-pct", "--mutant", "sched-no-submitter-fence", "--seed", "1"];
        let output = verify(folder.path(), &arguments);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("deadlock"), "{said}");
    }
}

/// What rc11 finds is a graph.
mod what_rc11_finds_is_drawn {
    use super::*;

    const WRONG: [&str; 6] = ["run", ONE, "--engine", "rc11", "--mutant", "spinning-no-submitter-fence"];

    #[test]
    fn as_text_and_as_svg() {
        let folder = folder();
        let output = verify(folder.path(), &WRONG);
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stdout);
        assert!(said.contains("FAILED") && said.contains("queued"), "{said}");
        let file = fs::read_dir(folder.path().join("schedules")).expect("schedules were written").next();
        let file = file.expect("there is one").expect("it can be read").path();
        let file = file.to_str().expect("its name is text");
        let output = verify(folder.path(), &["picture", file, "--svg", "it.svg"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("nmspinning"), "{}", text(&output.stdout));
        let svg = fs::read_to_string(folder.path().join("it.svg")).expect("it was drawn");
        assert!(svg.starts_with("<svg") && svg.contains("nmspinning"));
        let output = verify(folder.path(), &["replay", file]);
        assert_eq!(output.status.code(), Some(1), "it still fails: {}", text(&output.stdout));
    }

    #[test]
    fn and_a_schedule_of_another_engine_is_refused() {
        let folder = folder();
        verify(folder.path(), &["run", ONE, "--engine", "tso", "--mutant", "spinning-no-submitter-fence"]);
        let file = fs::read_dir(folder.path().join("schedules")).expect("schedules were written").next();
        let file = file.expect("there is one").expect("it can be read").path();
        let output = verify(folder.path(), &["picture", file.to_str().expect("its name is text")]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("is a schedule of tso"), "{}", text(&output.stderr));
    }
}

mod an_exploration_goes_on_from_its_checkpoint {
    use super::*;

    const MODEL: &str = "one_p_two_gs";

    #[test]
    fn with_the_same_counts_in_the_end() {
        let folder = folder();
        let run = |arguments: &[&str]| {
            let mut all = vec!["run", MODEL, "--engine", "rc11", "--json", "out.json"];
            all.extend(arguments);
            assert_eq!(verify(folder.path(), &all).status.code(), Some(0));
            json(&folder.path().join("out.json"))[0]["executions"].as_u64()
        };
        let all = run(&[]);
        assert_eq!(run(&["--checkpoint", "state.json"]), all);
        assert_eq!(run(&["--checkpoint", "state.json"]), all, "what is finished is explored again");
    }

    #[test]
    fn and_in_short_sittings() {
        let folder = folder();
        let run = |arguments: &[&str]| {
            let mut all = vec!["run", MODEL, "--engine", "rc11", "--json", "out.json"];
            all.extend(arguments);
            assert_eq!(verify(folder.path(), &all).status.code(), Some(0));
            json(&folder.path().join("out.json"))[0].clone()
        };
        let whole = run(&[]);
        let sitting = || run(&["--checkpoint", "state.json", "--seconds", "0.02"]);
        let first = sitting();
        assert_eq!(first["verdict"], "bounded", "the first sitting did it all: {first}");
        let last = std::iter::repeat_with(sitting).find(|row| row["verdict"] == "proved").expect("without end");
        assert_eq!((&last["executions"], &last["outcomes"]), (&whole["executions"], &whole["outcomes"]));
    }

    #[test]
    fn and_what_is_kept_took_as_long_as_all_sittings() {
        let folder = folder();
        let sitting = || -> serde_json::Value {
            let all = ["best", MODEL, "--minutes", "0.001", "--folder", "sittings", "--keep", "best.jsonl"];
            assert_eq!(verify(folder.path(), &all).status.code(), Some(0));
            let kept = fs::read_to_string(folder.path().join("best.jsonl")).expect("it was written");
            let row = kept.lines().find(|line| line.contains(MODEL)).expect("a row");
            serde_json::from_str(row).expect("it is JSON")
        };
        let first = sitting();
        assert_eq!(first["run"][0], "bounded", "the first sitting did it all: {first}");
        let mut seconds = first["run"][2].as_f64();
        let last = std::iter::repeat_with(|| {
            let row = sitting();
            let before = std::mem::replace(&mut seconds, row["run"][2].as_f64());
            assert!(seconds > before, "{before:?} s and one more sitting: {row}");
            row
        });
        last.into_iter().find(|row| row["run"][0] == "proved").expect("without end");
    }

    #[test]
    fn but_not_from_that_of_another() {
        let folder = folder();
        let arguments = ["run", MODEL, "--engine", "rc11", "--checkpoint", "state.json", "--seconds", "0.02"];
        assert_eq!(verify(folder.path(), &arguments).status.code(), Some(0));
        let other = ["run", ONE, "--engine", "rc11", "--checkpoint", "state.json"];
        let output = verify(folder.path(), &other);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("it is of `"), "{}", text(&output.stderr));
    }
}

mod litmus_tests_are_answered {
    use super::*;

    const SB: &str = "C SB\n{ }\nP0 (atomic_int* x, atomic_int* y) {\n  atomic_store_explicit(x, 1, memory_order_relaxed);\n  \
        int r0 = atomic_load_explicit(y, memory_order_relaxed);\n}\nP1 (atomic_int* x, atomic_int* y) {\n  \
        atomic_store_explicit(y, 1, memory_order_relaxed);\n  int r0 = atomic_load_explicit(x, memory_order_relaxed);\n}\n\
        exists (0:r0 = 0 /\\ 1:r0 = 0)\n";

    fn answer(arguments: &[&str]) -> Output {
        let folder = folder();
        fs::write(folder.path().join("SB.litmus"), SB).expect("it can be written");
        fs::write(folder.path().join("broken.litmus"), "C broken\n{").expect("it can be written");
        verify(folder.path(), &[&["litmus"], arguments].concat())
    }

    #[test]
    fn with_the_outcomes_and_whether_exists_holds() {
        let output = answer(&["SB.litmus"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        assert!(said.contains("Executions 4") && said.contains("Sometimes"), "{said}");
        let said = text(&answer(&["SB.litmus", "--engine", "sc"]).stdout).to_owned();
        assert!(said.contains("Never"), "{said}");
    }

    #[test]
    fn under_a_model_that_only_the_reference_knows() {
        let sb = SB.replace("{ }", "(* Under c11-dep: Sometimes *)\n{ }");
        let folder = folder();
        fs::write(folder.path().join("SB.litmus"), sb).expect("it can be written");
        let asked = |arguments: &[&str]| verify(folder.path(), &[&["litmus", "SB.litmus"], arguments].concat());
        let output = asked(&["--engine", "reference", "--model", "c11-dep"]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("on reference c11-dep") && said.contains("Expected Sometimes: agrees"), "{said}");
        assert_eq!(asked(&["--engine", "reference", "--model", "imm"]).status.code(), Some(0), "nothing is expected");
        let output = asked(&["--model", "imm"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("rc11 knows no model but rc11"), "{}", text(&output.stderr));
    }

    #[test]
    fn as_far_as_the_time_goes() {
        let output = answer(&["SB.litmus", "--engine", "reference", "--seconds", "0.0000001"]);
        assert!(text(&output.stdout).contains("NO ANSWER") && text(&output.stdout).contains("the time was over"));
    }

    #[test]
    fn and_a_broken_one_is_an_error_with_its_line() {
        let output = answer(&["broken.litmus"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stdout).contains("broken.litmus:"), "{}", text(&output.stdout));
        assert_eq!(answer(&["nowhere.litmus"]).status.code(), Some(2));
    }
}

mod every_wrong_variant_is_killed {
    use super::*;

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn by_each_model_that_must() {
        let folder = folder();
        let output = verify(folder.path(), &["mutants", "--sort", "variant", "--json", "kills.json"]);
        let table = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{table}");
        let kills = json(&folder.path().join("kills.json"));
        assert!(kills.len() >= 30, "{} kills", kills.len());
        assert!(kills.iter().all(|kill| kill["verdict"] == "killed"), "{table}");
    }

    #[test]
    fn and_one_that_is_not_is_a_failure() {
        let folder = folder();
        // Under sequential consistency a missing fence cannot be seen.
        let arguments = ["run", ONE, "--engine", "sc", "--mutant", "spinning-no-spinning-m-fence"];
        let output = verify(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    }
}

/// The run of everything, on the quickest engine only.
mod the_whole {
    use super::*;

    #[test]
    fn is_a_line_for_each_room_and_a_summary() {
        let output = verify(folder().path(), &["--engine", "tso-random"]);
        let (said, rooms) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.lines().count() <= 12, "{said}");
        for word in ["1 room, 1 claim: all hold", "1 sampled", "slowest", "more by `cargo verify --all`", "--table"] {
            assert!(said.contains(word), "`{word}` is missing in\n{said}");
        }
        assert!(rooms.contains("sched ") && rooms.contains("1 claim holds: 0 proved, 1 sampled"), "{rooms}");
    }
}

/// The program that cargo would build and run is said, and not run.
#[cfg(unix)]
mod a_change {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    #[test]
    fn runs_its_room_again() {
        let folder = folder();
        let file = folder.path().join("src/kernel/src/queues/runq.rs");
        fs::create_dir_all(file.parent().expect("it has one")).expect("a folder");
        fs::write(&file, "").expect("it can be written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_verify"));
        command.args(["--watch", "--engine", "sc"]).current_dir(folder.path()).env("CARGO", "echo");
        let mut watcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        // It has looked once, and run everything once.
        let mut asked_lines = BufReader::new(watcher.stdout.take().expect("it is piped"));
        let mut first = String::new();
        asked_lines.read_line(&mut first).expect("a line");
        assert!(first.contains("--bin verify -- --engine sc"), "{first}");
        fs::File::options().write(true).open(&file).expect("it is there").set_modified(UNIX_EPOCH).expect("a time");
        let mut asked = String::new();
        asked_lines.read_line(&mut asked).expect("a line");
        watcher.kill().expect("it runs");
        watcher.wait().expect("it ends");
        assert!(asked.contains("--bin verify -- run ") && asked.contains("runq"), "{asked}");
        assert!(asked.contains("--engine sc"), "{asked}");
    }

    #[test]
    fn is_watched_for_where_there_is_source() {
        let output = verify(folder().path(), &["--watch"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("no source to watch"), "{}", text(&output.stderr));
    }
}

mod for_a_shell {
    use super::*;

    #[test]
    fn there_are_completions() {
        for shell in ["bash", "zsh", "fish"] {
            let output = verify(folder().path(), &["completions", shell]);
            assert_eq!(output.status.code(), Some(0));
            assert!(text(&output.stdout).contains("mutants"), "{shell}");
        }
    }

    #[test]
    fn and_a_man_page_for_each_command() {
        let folder = folder();
        assert_eq!(verify(folder.path(), &["man", "pages"]).status.code(), Some(0));
        for page in ["cargo-verify.1", "cargo-verify-run.1", "cargo-verify-replay.1"] {
            let page = fs::read_to_string(folder.path().join("pages").join(page)).expect("it is there");
            assert!(page.contains(".SH SYNOPSIS"), "{page}");
        }
    }
}

mod bad_input_is_an_error_with_status_2 {
    use super::*;

    fn refused(arguments: &[&str], because: &[&str]) {
        let folder = folder();
        fs::write(folder.path().join("broken.json"), "{ not json").expect("it can be written");
        fs::write(folder.path().join("other.json"), "{\"spinpark_schedule\": 1}").expect("it can be written");
        let output = verify(folder.path(), arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        for word in because {
            assert!(said.contains(word), "{arguments:?}: `{word}` is missing in\n{said}");
        }
    }

    #[test]
    fn an_unknown_model() {
        refused(&["run", "no_such_model"], &["no_such_model", "cargo verify list"]);
    }

    #[test]
    fn a_checkpoint_of_several_models() {
        refused(
            &["run", "spinning", "--engine", "rc11", "--checkpoint", "state.json"],
            &["of one model on one engine"],
        );
    }
    #[test]
    fn an_unknown_engine() {
        refused(&["run", ONE, "--engine", "magic"], &["magic", "loom", "sc", "tso-pct"]);
    }

    #[test]
    fn an_unknown_mutant() {
        refused(&["run", ONE, "--mutant", "none"], &["none", "cargo verify mutants --list"]);
        refused(&["mutants", "none"], &["none", "cargo verify mutants --list"]);
    }

    #[test]
    fn no_jobs_or_more_than_a_machine_has_room_for() {
        for jobs in ["0", "1000000", "many"] {
            refused(&["run", ONE, "--jobs", jobs], &["--jobs", "1 to 1024"]);
        }
    }

    #[test]
    fn a_name_that_is_none() {
        refused(&["run", ""], &["a NAME is empty"]);
        refused(&["run", ONE, " "], &["a NAME is empty"]);
        refused(&["mutants", ""], &["a NAME is empty"]);
        refused(&["museum", ""], &["a NAME is empty"]);
    }

    #[test]
    fn a_record_is_of_everything() {
        refused(&["run", ONE, "--record", "record.json"], &["writes no record", "cargo verify --all --record FILE"]);
        refused(&["--record", "record.json"], &["only the usual ones", "--all"]);
        refused(&["museum", "--record", "record.json"], &["writes no record"]);
    }

    #[test]
    fn an_option_without_effect() {
        refused(&["museum", "--engine", "sc"], &["`museum` has no `--engine`"]);
        refused(&["mutants", "--engine", "sc"], &["`mutants` has no `--engine`", "cargo verify mutants --help"]);
        refused(&["run", ONE, "--watch", "--checkpoint", "state.json"], &["`--watch`"]);
        refused(&["--deep", "list"], &["cannot be used with"]);
    }

    #[test]
    fn a_time_that_is_none() {
        for seconds in ["nan", "inf", "0", "-1", "1e300", "soon"] {
            let option = format!("--seconds={seconds}");
            refused(&["litmus", "one.litmus", &option], &["--seconds"]);
        }
    }

    #[test]
    fn a_schedule_that_is_not_there() {
        refused(&["replay", "missing.json"], &["missing.json"]);
    }

    #[test]
    fn a_schedule_that_is_broken() {
        refused(&["replay", "broken.json"], &["broken.json", "no schedule file"]);
        refused(&["replay", "other.json"], &["other.json", "has format 1"]);
    }

    #[test]
    fn a_place_where_nothing_can_be_written() {
        refused(&["run", ONE, "--json", "no/such/folder/out.json"], &["cannot write", "no/such/folder"]);
    }
}

/// The fuzzer is a program of another package. What is said to it goes there as it is, `--help` included.
mod the_fuzzer_is_built_and_run {
    use super::*;

    fn with_cargo(cargo: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_verify"));
        command.args(arguments).env("CARGO", cargo).output().expect("the program starts")
    }

    #[test]
    #[cfg(unix)]
    fn with_what_it_was_asked() {
        let output = with_cargo("echo", &["fuzz", "variants", "--help", "--seed", "3"]);
        let said = text(&output.stdout);
        assert!(said.contains("--bin fuzz -- variants --help --seed 3"), "{said}");
        assert_eq!(output.status.code(), Some(0));
    }

    #[test]
    fn or_it_is_said_that_it_cannot_be() {
        let output = with_cargo("no-such-cargo", &["fuzz"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("cannot run cargo"), "{}", text(&output.stderr));
    }
}

mod what_is_printed {
    use super::*;

    fn with(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_verify"));
        for name in ["NO_COLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.args(arguments).envs(variables.iter().copied()).output().expect("the program starts")
    }

    #[test]
    fn has_colours_where_they_are_wanted() {
        let run = ["run", ONE, "--engine", "sc"];
        let colours = |variables: &[(&str, &str)]| text(&with(&run, variables).stdout).contains("\u{1b}[");
        assert!(!colours(&[]), "there is no terminal");
        assert!(colours(&[("CLICOLOR_FORCE", "1")]));
        assert!(!colours(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(!colours(&[("CLICOLOR_FORCE", "0")]));
    }

    /// A device on which there is no room.
    #[test]
    #[cfg(target_os = "linux")]
    fn and_is_lost_is_an_error() {
        for arguments in [&["list"][..], &["--help"], &["run", ONE, "--engine", "sc"], &["museum", "--list"]] {
            let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
            let mut command = Command::new(env!("CARGO_BIN_EXE_verify"));
            let output = command.args(arguments).stdout(full).output().expect("the program starts");
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            let said = text(&output.stderr);
            assert!(said.contains("cannot write to the standard output"), "{arguments:?}: {said}");
        }
    }
}

/// Ending `cargo verify` ends all of it.
#[cfg(target_os = "linux")]
mod a_process_that_is_ended {
    use super::*;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    /// The processes that were started by this one, and have not ended.
    fn children(of: u32) -> Vec<u32> {
        let entries = fs::read_dir("/proc").expect("Linux has it").filter_map(Result::ok);
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_child = |process: &u32| {
            let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // `number (name) state parent …`
            let rest = status.rsplit(") ").next().unwrap_or_default();
            let mut fields = rest.split(' ');
            fields.next() != Some("Z") && fields.next() == Some(of.to_string().as_str())
        };
        numbers.filter(is_child).collect()
    }

    fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(20) {
            if let Some(seen) = look() {
                return Some(seen);
            }
            sleep(Duration::from_millis(10));
        }
        None
    }

    fn leaves_nobody_behind(signal: &str) {
        let folder = folder();
        // Hours of work for two processes.
        let mut parent = Command::new(env!("CARGO_BIN_EXE_verify"))
            .args(["run", "two_ps_three_ms", "--engine", "sc", "--engine", "tso", "--deep", "--jobs", "2"])
            .current_dir(folder.path())
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("the program starts");
        let workers = eventually(|| Some(children(parent.id())).filter(|workers| workers.len() == 2));
        let workers = workers.expect("two workers");
        let number = parent.id().to_string();
        let status = Command::new("kill").args([signal, &number]).status().expect("there is a `kill`");
        assert!(status.success());
        parent.wait().expect("it ends");
        let lives = |worker: &&u32| {
            let status = fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
            !status.is_empty() && !status.contains(") Z ")
        };
        let ended = eventually(|| (!workers.iter().any(|worker| lives(&worker))).then_some(()));
        assert!(ended.is_some(), "{signal}: its workers go on");
    }

    #[test]
    fn by_sigterm_leaves_nobody_behind() {
        leaves_nobody_behind("-TERM");
    }

    #[test]
    fn by_sigkill_leaves_nobody_behind() {
        leaves_nobody_behind("-KILL");
    }
}
