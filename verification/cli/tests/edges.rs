//! What people do to a command line: a full disk, Ctrl-C, a file that never ends, a typing error. Nothing is lost, nothing is refuted by
//! it, and what is wrong is said in a few words.

use std::path::Path;
use std::process::{Command, Output};
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

/// It is a usage error, said with these words, in a few lines.
fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let output = verify(folder, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}{}", text(&output.stdout));
    assert!(said.lines().count() < 12, "{arguments:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?}: `{word}` is missing in\n{said}");
    }
}

const LARGE: [&str; 4] = ["run", "two_ps_three_ms", "--engine", "rc11"];
const SMALL: [&str; 4] = ["run", "one_submitter_one_spinning_m", "--engine", "rc11"];

mod a_checkpoint {
    use super::*;

    #[test]
    fn that_cannot_be_kept_is_a_usage_error() {
        let folder = folder();
        fs::create_dir(folder.path().join("directory")).expect("a folder");
        fs::write(folder.path().join("empty"), "").expect("a file");
        fs::write(folder.path().join("garbage"), "[1, 2").expect("a file");
        for file in ["directory", "no/such/folder", "empty", "garbage"] {
            let arguments = [&SMALL[..], &["--checkpoint", file]].concat();
            refused(folder.path(), &arguments, &["cannot keep the checkpoint", file]);
        }
        assert_eq!(fs::read(folder.path().join("garbage")).expect("it is there"), b"[1, 2");
    }

    #[test]
    fn stays_at_the_end_only_if_that_is_asked() {
        let folder = folder();
        let state = folder.path().join("state");
        for (more, stays) in [(&[][..], false), (&["--leave-checkpoint"][..], true)] {
            let arguments = [&SMALL[..], &["--checkpoint", "state"], more].concat();
            assert_eq!(verify(folder.path(), &arguments).status.code(), Some(0));
            assert_eq!(state.exists(), stays, "{more:?}");
        }
    }

    #[test]
    fn of_another_model_is_a_usage_error() {
        let folder = folder();
        let arguments = [&LARGE[..], &["--deep", "--checkpoint", "state", "--seconds", "0.5"]].concat();
        assert_eq!(verify(folder.path(), &arguments).status.code(), Some(0));
        let arguments = [&SMALL[..], &["--checkpoint", "state"]].concat();
        refused(folder.path(), &arguments, &["cannot keep the checkpoint", "it is of `"]);
    }

    #[test]
    #[cfg(unix)]
    fn is_kept_by_one_run_and_saved_on_ctrl_c() {
        use std::process::Stdio;
        use std::time::{Duration, Instant};
        let folder = folder();
        let arguments = [&LARGE[..], &["--deep", "--checkpoint", "state"]].concat();
        let mut command = Command::new(env!("CARGO_BIN_EXE_verify"));
        command.args(&arguments).current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let first = command.spawn().expect("the program starts");
        let since = Instant::now();
        while !folder.path().join("state").exists() {
            assert!(since.elapsed() < Duration::from_secs(60), "no state is written");
            std::thread::sleep(Duration::from_millis(10));
        }
        refused(folder.path(), &arguments, &["another process is using it"]);
        let killed = Command::new("kill").args(["-INT", &first.id().to_string()]).status().expect("there is a `kill`");
        assert!(killed.success());
        let output = first.wait_with_output().expect("it ends");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{said}{}", text(&output.stdout));
        assert!(said.contains("interrupted: what was explored is in state"), "{said}");
        // What it has saved is gone on with.
        let again = [&arguments[..], &["--seconds", "0.5"]].concat();
        let output = verify(folder.path(), &again);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
}

mod what_is_written {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn is_the_old_file_until_the_new_one_is_whole() {
        let folder = folder();
        fs::write(folder.path().join("old.json"), "old").expect("a file");
        // No file may have a byte: as on a full disk.
        let script = format!("ulimit -f 0; exec {:?} list --json old.json", env!("CARGO_BIN_EXE_verify"));
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("a shell");
        assert!(!output.status.success());
        assert_eq!(fs::read_to_string(folder.path().join("old.json")).expect("it is there"), "old");
    }

    #[test]
    fn goes_to_the_standard_output_if_that_is_asked() {
        let folder = folder();
        for arguments in [&["list", "--json", "-"][..], &[&SMALL[..], &["--json", "-"]].concat()] {
            let output = verify(folder.path(), arguments);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("nothing but JSON");
            assert!(value.as_array().is_some_and(|rows| !rows.is_empty()), "{value}");
        }
        assert!(!folder.path().join("-").exists());
    }
}

mod what_is_read {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn has_an_end() {
        let folder = folder();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is a `mkfifo`").success());
        for file in ["/dev/zero", "pipe"] {
            refused(folder.path(), &["replay", file], &[file, "no regular file"]);
            refused(folder.path(), &["picture", file], &[file, "no regular file"]);
            refused(folder.path(), &["report", "--from", file, "--json", "out"], &[file, "no regular file"]);
            refused(folder.path(), &[&SMALL[..], &["--against", file]].concat(), &[file, "no regular file"]);
            let output = verify(folder.path(), &["litmus", file]);
            assert!(text(&output.stdout).contains("no regular file"), "{}", text(&output.stdout));
        }
    }

    #[test]
    fn is_said_to_be_what_it_is() {
        let folder = folder();
        let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record.jsonl");
        let record = record.to_str().expect("a path is text");
        refused(
            folder.path(),
            &["report", "--from", record, "--json", "out"],
            &["what is kept of a run", "report --json FILE"],
        );
        refused(
            folder.path(),
            &["report", "--from", record, "--shard", "1/4", "--json", "out"],
            &["cannot be used with"],
        );
    }
}

mod a_typing_error {
    use super::*;

    #[test]
    fn is_answered_by_what_may_have_been_meant() {
        let folder = folder();
        refused(folder.path(), &["run", "spining"], &["no model `spining`", "`spinning`", "cargo verify list"]);
        refused(folder.path(), &["run", "tow_thieves"], &["`two_thieves`"]);
        refused(
            folder.path(),
            &["run", "spinning", "--mutant", "spinning-looks-before-it-leavs"],
            &["no mutant `spinning-looks-before-it-leavs`", "`spinning-looks-before-it-leaves`"],
        );
        refused(folder.path(), &["mutants", "nosuch"], &["no mutant `nosuch`", "cargo verify mutants --list"]);
        refused(folder.path(), &["museum", "tokyo"], &["no exhibit `tokyo`", "`tokio`", "cargo verify museum --list"]);
    }

    #[test]
    fn in_a_path_is_said_at_once() {
        let folder = folder();
        fs::create_dir(folder.path().join("kept")).expect("a folder");
        refused(
            folder.path(),
            &["mutants", "--resume", "kept", "--sort", "variant"],
            &["--resume kept", "none is asked for"],
        );
        refused(folder.path(), &["mutants", "--resume", "kept", "--sort", "ordering"], &["this is a folder"]);
    }
}

mod an_order {
    use super::*;

    #[test]
    fn of_the_words_does_not_matter() {
        let folder = folder();
        for arguments in [["--watch", "run", "runnext"], ["run", "runnext", "--watch"]] {
            refused(folder.path(), &arguments, &["no source to watch"]);
        }
    }

    #[test]
    #[cfg(unix)]
    fn for_the_fuzzer_works_outside_of_the_clone() {
        let folder = folder();
        let mut command = Command::new(env!("CARGO_BIN_EXE_verify"));
        let output = command.args(["fuzz", "list"]).env("CARGO", "echo").current_dir(folder.path()).output();
        let output = output.expect("the program starts");
        let said = text(&output.stdout);
        assert!(said.starts_with("run --manifest-path /") && said.trim_end().ends_with("--bin fuzz -- list"), "{said}");
    }
}

mod a_verdict {
    use super::*;

    #[test]
    fn on_a_wrong_variant_is_of_the_models_that_must_kill_it() {
        let folder = folder();
        let output = verify(folder.path(), &["run", "spinning", "--mutant", "spinning-looks-before-it-leaves"]);
        let said = format!("{}{}", text(&output.stderr), text(&output.stdout));
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("kills of wrong variants; ") && !said.contains("SOME LIVE"), "{said}");
        // One picture says what is wrong; the others are in files.
        assert_eq!(said.matches("─┼─").count().min(1), 1, "{said}");
        assert!(said.lines().count() < 200, "{} lines", said.lines().count());
    }

    #[test]
    fn is_not_given_where_no_execution_ends() {
        let folder = folder();
        let endless = "C endless\n{ x = 0; }\nP0(atomic_int* x) {\n  int i = 1;\n  while (i) {\n    \
                       atomic_store_explicit(x, 1, memory_order_relaxed);\n  }\n}\nexists (x=1)\n";
        fs::write(folder.path().join("endless.litmus"), endless).expect("a file");
        for engine in ["rc11", "reference", "sc"] {
            let output = verify(folder.path(), &["litmus", "endless.litmus", "--engine", engine, "--seconds", "2"]);
            let said = text(&output.stdout);
            assert_eq!(output.status.code(), Some(2), "{engine}: {said}");
            assert!(said.contains("NO ANSWER") && !said.contains("Verdict"), "{engine}: {said}");
        }
    }
}
