//! The example counts right. It is included as a module: no second build, and errors are seen from inside.

#[allow(dead_code, reason = "`main` is not called here")]
#[path = "../examples/word_count.rs"]
mod example;

use example::{on_all_cores, on_one_thread, run};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// An empty directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("word_count").join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a directory");
    dir
}

/// Exit code, standard output, standard error.
fn run_with(args: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run(args.iter().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"))
}

mod both_ways_count_the_same {
    use super::*;

    #[test]
    fn many_small_files_in_nested_directories() {
        let dir = directory("small");
        for n in 0..300 {
            let sub = dir.join(format!("d{}", n % 7)).join(format!("e{}", n % 3));
            fs::create_dir_all(&sub).expect("a directory");
            fs::write(sub.join(format!("{n}.txt")), format!("One two, TWO; three-{n} über\n")).expect("a file");
        }
        let tally = on_all_cores(&dir).expect("a tally");
        assert_eq!(tally, on_one_thread(&dir).expect("a tally"));
        assert_eq!((tally.files, tally.words["two"], tally.words["über"], tally.words["299"]), (300, 600, 300, 1));
    }

    #[test]
    fn a_large_file_that_is_cut_into_pieces() {
        let dir = directory("large");
        let text: String = (0..600_000).map(|n| format!("wörd{} ", n % 1000)).collect();
        assert!(text.len() > 4 << 20);
        fs::write(dir.join("large.txt"), &text).expect("a file");
        let tally = on_all_cores(&dir).expect("a tally");
        assert_eq!(tally, on_one_thread(&dir).expect("a tally"));
        assert_eq!((tally.files, tally.words["wörd7"], tally.words.len()), (1, 600, 1000));
    }

    #[test]
    fn bytes_that_are_no_text() {
        let dir = directory("bytes");
        fs::write(dir.join("b"), b"a\xff\xfeb \xc3 c\xe2\x82").expect("a file");
        // No whitespace at all: one piece, however long.
        fs::write(dir.join("long"), vec![0xff; 3 << 20]).expect("a file");
        let tally = on_all_cores(&dir).expect("a tally");
        assert_eq!(tally, on_one_thread(&dir).expect("a tally"));
        assert_eq!(tally.words.len(), 3);
    }

    #[test]
    fn an_empty_directory() {
        let dir = directory("empty");
        assert_eq!(on_all_cores(&dir).expect("a tally"), on_one_thread(&dir).expect("a tally"));
    }
}

mod the_program {
    use super::*;

    #[test]
    fn prints_its_usage_without_a_directory() {
        for args in [&[] as &[&str], &["--sequential"], &["--wrong", "."], &[".", "."], &["--check", "--check", "."]] {
            let (code, out, err) = run_with(args);
            assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
            assert!(err.starts_with("usage: word_count"), "{args:?}: {err}");
        }
    }

    #[test]
    fn says_which_directory_is_missing() {
        for flags in [&[] as &[&str], &["--sequential"], &["--check"]] {
            let (code, _, err) = run_with(&[flags, &["no/such/directory"]].concat());
            assert_eq!(code, 1);
            assert!(err.contains("cannot count no/such/directory: "), "{err}");
        }
    }

    #[test]
    fn prints_the_ten_most_frequent_words_and_agrees_with_itself() {
        let dir = directory("top");
        let text: String = (0..12).map(|n| format!("w{n} ").repeat(20 - n)).collect();
        fs::write(dir.join("f"), text).expect("a file");
        let (code, out, err) = run_with(&["--check", dir.to_str().expect("text")]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("w9 ") && !out.contains("w10 "), "{out}");
        assert!(out.ends_with("both counts are the same\n"), "{out}");
    }

    #[cfg(unix)]
    #[test]
    fn reports_what_it_cannot_read_and_goes_on() {
        use std::os::unix::fs::PermissionsExt;
        let dir = directory("unreadable");
        fs::write(dir.join("good"), "word").expect("a file");
        let bad = dir.join("bad");
        fs::write(&bad, "word").expect("a file");
        fs::set_permissions(&bad, fs::Permissions::from_mode(0o000)).expect("permissions");
        if fs::read(&bad).is_ok() {
            return; // root may read everything
        }
        let (code, out, err) = run_with(&[dir.to_str().expect("text")]);
        assert_eq!(code, 0);
        assert!(out.contains("files                1"), "{out}");
        assert!(err.contains("skipped") && err.contains("bad"), "{err}");
    }
}
