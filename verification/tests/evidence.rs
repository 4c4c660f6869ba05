//! Evidence cannot be forged in a release build: what makes it out of nothing is in one file of the kernel and one beside a
//! task's states, behind the feature `model`, which checkers switch on and no default.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn manifest(path: &str) -> toml::Table {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every source below `folder`.
fn sources(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            sources(&path, into);
        } else {
            let text = fs::read_to_string(&path).expect("it is text");
            into.push((path, text));
        }
    }
}

mod the_feature_model {
    use super::*;

    #[test]
    fn is_switched_on_by_no_other() {
        let manifest = manifest("src/kernel/Cargo.toml");
        let features = manifest["features"].as_table().expect("there are features");
        assert!(features.contains_key("model"), "the feature is gone");
        for (name, switches) in features {
            let switches = switches.as_array().expect("a list");
            assert!(switches.iter().all(|it| it.as_str() != Some("model")), "`{name}` switches `model` on");
        }
        // The runtime and its tests do without, so that what they call is there in a release.
        let runtime = fs::read_to_string(root().join("Cargo.toml")).expect("the runtime's manifest");
        assert!(
            runtime.contains("spinpark-kernel = { workspace = true }\n"),
            "the runtime asks for features of the kernel"
        );
        assert!(!runtime.contains("\"model\"") && !runtime.contains("/model\""), "the runtime switches `model` on");
    }

    #[test]
    fn is_asked_for_by_one_file_of_the_kernel_and_one_of_tasks() {
        let mut all = Vec::new();
        sources(&root().join("src"), &mut all);
        let asks = |text: &str| {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            code.filter(|line| line.contains("feature = \"model\"")).count()
        };
        for (path, text) in &all {
            let expected = match path.strip_prefix(root().join("src")).expect("below src").to_str() {
                Some("kernel/src/model.rs" | "kernel/src/task/model.rs") => 1,
                // Its tests that a default build has none of it.
                Some("kernel/src/lib.rs") => 1,
                _ => 0,
            };
            assert_eq!(asks(text), expected, "{}", path.display());
        }
    }
}

mod a_constructor_of_evidence {
    use super::*;

    #[test]
    fn is_the_kernels_own() {
        let own = [
            ("types/p.rs", "fn assume("),
            ("types/p.rs", "fn relinquish("),
            ("types/m.rs", "fn assume("),
            ("types/m.rs", "fn relinquish("),
            ("types/m.rs", "struct NextPWord("),
            ("types/g.rs", "fn bound_to("),
            ("types/token.rs", "fn new("),
            ("protocol/syscall.rs", "fn without("),
            ("queues/runq.rs", "fn made("),
        ];
        for (file, what) in own {
            let text = fs::read_to_string(root().join("src/kernel/src").join(file)).expect("the file is there");
            let line = text.lines().find(|line| line.contains(what));
            let line = line.unwrap_or_else(|| panic!("{file}: there is no `{what}` any more"));
            let is_own = line.trim_start().starts_with("pub(crate)") || !line.trim_start().starts_with("pub");
            assert!(is_own, "{file}: {line}");
        }
    }

    /// A runtime keeps a task's right as a pointer in a queue, and makes it a right again.
    #[test]
    fn of_tasks_is_hidden() {
        let text = fs::read_to_string(root().join("src/kernel/src/task/word.rs")).expect("the file is there");
        assert!(text.contains("#[doc(hidden)]\n    pub fn assume() -> Active"), "`Active::assume` is in the documents");
    }
}
