//! `cargo verify fuzz` from outside: what it says, what it writes, and what it says to nonsense.

use spinpark_proptests::regression::Regression;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

fn fuzz(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fuzz")).args(args).current_dir(folder).output().expect("it can be run")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("there is room for a folder");
    folder
}

/// Nonsense is refused with status 2, and the answer says what to do.
#[track_caller]
fn is_refused(args: &[&str], says: &[&str]) {
    // Of its own: tests run at the same time, and making a folder removes the one that was there.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let output = fuzz(&folder(&format!("refused-{}", NEXT.fetch_add(1, Relaxed))), args);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    says.iter().for_each(|part| assert!(text.contains(part), "{args:?} should say {part:?}: {text}"));
}

mod nonsense_is_refused {
    use super::*;

    #[test]
    fn an_unknown_room() {
        is_refused(&["nowhere"], &["there is no room `nowhere`", "timers", "sched"]);
    }

    #[test]
    fn an_unknown_variant() {
        is_refused(&["--mutant", "nobody"], &["`nobody`", "list"]);
    }

    #[test]
    fn a_variant_that_the_room_does_not_find() {
        is_refused(&["sched", "--mutant", "timers-tells-when-late"], &["timers-tells-when-late"]);
    }

    #[test]
    fn no_time_at_all() {
        is_refused(&["--minutes", "0"], &["give a number above 0"]);
        is_refused(&["--minutes=-1"], &["give a number above 0"]);
        is_refused(&["--minutes", "NaN"], &["give a number above 0"]);
        is_refused(&["--minutes", "1e300"], &["not more than a year"]);
    }

    #[test]
    fn a_folder_of_regressions_that_is_not_there() {
        is_refused(&["--regressions", "nosuch"], &["--regressions is nosuch", "no such folder"]);
    }

    #[test]
    fn no_schedules() {
        is_refused(&["--schedules", "0"], &["give 1 or more"]);
    }

    #[test]
    fn programs_without_operations() {
        is_refused(&["--longest", "0"], &["give 1 to 100"]);
    }

    #[test]
    fn no_jobs() {
        is_refused(&["--jobs", "0"], &["--jobs"]);
    }

    #[test]
    fn more_jobs_than_a_machine_has_room_for() {
        is_refused(&["--jobs", "1000000"], &["--jobs", "1 to 1024"]);
    }

    #[test]
    fn a_file_that_is_not_there() {
        is_refused(&["replay", "nothing.json"], &["cannot read nothing.json"]);
    }

    #[test]
    fn a_file_that_is_no_program() {
        let file = folder("broken").join("broken.json");
        fs::write(&file, "{ \"room\": ").expect("it can be written");
        is_refused(&["replay", &file.to_string_lossy()], &["is no program file"]);
    }

    #[test]
    fn a_program_of_another_format_or_room() {
        let folder = folder("other");
        let output = fuzz(&folder, &["variants", "timers", "--seed", "1", "--jobs", "1"]);
        assert!(output.status.success(), "{}", said(&output));
        let file = files(&folder.join("programs")).remove(0);
        let text = fs::read_to_string(&file).expect("it was written");
        fs::write(&file, text.replace("\"spinpark_program\": 1", "\"spinpark_program\": 99"))
            .expect("it can be written");
        is_refused(&["replay", &file.to_string_lossy()], &["has format 99"]);
        fs::write(&file, text.replace("\"room\": \"timers\"", "\"room\": \"attic\"")).expect("it can be written");
        is_refused(&["replay", &file.to_string_lossy()], &["there is no room `attic`"]);
        fs::write(&file, text.replace("\"room\": \"timers\"", "\"room\": \"sched\"")).expect("it can be written");
        is_refused(&["replay", &file.to_string_lossy()], &["no program of sched"]);
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("it was made").map(|entry| entry.expect("it can be read").path()).collect()
}

#[test]
fn a_short_run_says_what_was_reached_and_writes_it_down() {
    let folder = folder("short");
    let args = ["timers", "sched", "--minutes", "0.05", "--seed", "7", "--jobs", "1", "--json", "done.json"];
    let output = fuzz(&folder, &args);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("seed 7, 1 jobs, 2 rooms") && text.contains("rare path"), "{text}");
    let json = fs::read_to_string(folder.join("done.json")).expect("it was written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert!(json["rooms"]["timers"]["programs"].as_u64() > Some(0), "{json}");
    assert_eq!(json["found"].as_array().map(Vec::len), Some(0), "{json}");
}

#[test]
fn what_was_never_reached_is_named() {
    let output =
        fuzz(&folder("never"), &["sched", "--minutes", "0.001", "--seed", "1", "--jobs", "1", "--longest", "1"]);
    assert!(said(&output).contains("rare paths were never reached"), "{}", said(&output));
}

#[test]
fn a_wrong_variant_is_found_written_and_played_again() {
    let folder = folder("found");
    let args = ["--mutant", "timers-tells-when-late", "--seed", "3", "--jobs", "1"];
    let output = fuzz(&folder, &args);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("FOUND in timers") && text.contains("play it again"), "{text}");
    let file = files(&folder.join("programs")).remove(0);
    let regression = Regression::read(&file).expect("it was written");
    assert!(regression.operations <= 12 && regression.failure.script.is_some());
    let again = fuzz(&folder, &["replay", &file.to_string_lossy()]);
    assert_eq!(again.status.code(), Some(1), "{}", said(&again));
    assert!(said(&again).contains("It still fails, in the same way."), "{}", said(&again));
    // The kernel is not the variant.
    let right = fs::read_to_string(&file).expect("it was written");
    let right = right.replace("\"mutant\": \"timers-tells-when-late\",", "");
    let mut right: Regression = serde_json::from_str(&right).expect("it is still a program");
    right.failure.script = None;
    let file = right.write(&folder).expect("it can be written");
    let held = fuzz(&folder, &["replay", &file.to_string_lossy()]);
    assert_eq!(held.status.code(), Some(0), "{}", said(&held));
}

/// What `fuzz replay` decides about a program that failed once.
mod a_failing_program_played_again {
    use super::*;
    use spinpark_verification::engines::Script;
    use spinpark_verification::engines::record::Pick;

    const TWIN: &str = "timers-tells-when-late";

    /// A program that fails with its variant, changed; the status, and what is said.
    #[track_caller]
    fn replayed(name: &str, change: impl FnOnce(&mut Regression)) -> (Option<i32>, String) {
        let folder = folder(name);
        let output = fuzz(&folder, &["variants", TWIN, "--seed", "3", "--jobs", "1"]);
        assert!(output.status.success(), "{}", said(&output));
        let mut regression = Regression::read(&files(&folder.join("programs")).remove(0)).expect("it was written");
        change(&mut regression);
        let file = regression.write(&folder).expect("it can be written");
        let again = fuzz(&folder, &["replay", &file.to_string_lossy()]);
        (again.status.code(), said(&again))
    }

    #[test]
    fn fails_in_the_same_way() {
        let (status, said) = replayed("the-same", |_| ());
        assert!(status == Some(1) && said.contains("It still fails, in the same way."), "{status:?} {said}");
    }

    #[test]
    fn fails_in_another_way() {
        let (status, said) = replayed("another", |it| it.failure.message = "P0 is had by two".to_owned());
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("It fails, but in another way. It said before:\n  P0 is had by two"), "{said}");
    }

    #[test]
    fn fails_from_its_seed_if_its_schedule_does_not_fit() {
        let (status, said) = replayed("no-longer-fits", |it| {
            let Some(Script::Picks(picks)) = &mut it.failure.script else { panic!("it has a schedule") };
            picks[0] = Pick::T(999);
        });
        assert!(status == Some(1) && said.contains("from its seed it fails"), "{status:?} {said}");
    }

    #[test]
    fn no_longer_fails() {
        let (status, said) = replayed("mended", |it| (it.mutant, it.failure.script) = (None, None));
        assert!(status == Some(0) && said.contains("It no longer fails."), "{status:?} {said}");
    }

    #[test]
    fn does_not_fit() {
        // There is no such thread, and the kernel holds, whatever its variant does.
        let (status, said) = replayed("the-kernels", |it| {
            it.mutant = None;
            let Some(Script::Picks(picks)) = &mut it.failure.script else { panic!("it has a schedule") };
            picks[0] = Pick::T(999);
        });
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("its schedule does not fit: ") && said.contains("from its seed"), "{said}");
    }

    #[test]
    fn is_of_a_variant_that_there_is_not() {
        let (status, said) = replayed("no-variant", |it| it.mutant = Some("nobody".to_owned()));
        assert!(status == Some(2) && said.contains("there is no mutant `nobody`"), "{status:?} {said}");
    }
}

#[test]
fn the_rooms_can_be_listed() {
    let text = said(&fuzz(&folder("list"), &["list"]));
    for part in ["timers: the word of a shard", "path  one stays", "finds timers-tells-when-late"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn help_teaches() {
    let text = said(&fuzz(&folder("help"), &["--help"]));
    for part in ["--minutes", "rare paths", "Exit status", "replay", "variants"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_lost_is_an_error() {
    for args in [&["list"][..], &["--help"], &["timers", "--minutes", "0.001", "--jobs", "1", "--regressions", "."]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = Command::new(env!("CARGO_BIN_EXE_fuzz")).args(args).stdout(full).output().expect("it can be run");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
    }
}

mod minutes {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn are_an_end_however_many_schedules_a_program_has() {
        let since = Instant::now();
        let folder = folder("many-schedules");
        let output = fuzz(&folder, &["timers", "--jobs", "1", "--minutes", "0.01", "--schedules", "4000000000"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    }
}

mod a_regression_that_fails {
    use super::*;

    #[test]
    fn is_named_and_the_run_goes_on_without_noise() {
        let folder = folder("a-failed-regression");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
        // No timer comes to where this variant is; the other one panics, as it must.
        let (file, other) = ("timers.timers-tells-when-late.json", "timers.timers-forgets-to-tell-when.json");
        let mut wrong = Regression::read(&sources.join(file)).expect("it is there");
        wrong.mutant = Some("threads-nextp-relaxed".to_owned());
        wrong.failure.script = None;
        fs::write(folder.join("a.json"), serde_json::to_string(&wrong).expect("plain data")).expect("there is room");
        fs::copy(sources.join(other), folder.join("b.json")).expect("there is room");
        let output = fuzz(&folder, &["timers", "--jobs", "1", "--minutes", "0.01", "--regressions", "."]);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        for part in ["a.json: ", "replayed 2 programs", "programs   schedules"] {
            assert!(text.contains(part), "`{part}` is missing in\n{text}");
        }
        assert!(!text.contains("panicked"), "{text}");
    }
}
