//! What failed once, in `regressions/`: with the wrong variant that it found it must still fail, and hold without.

use spinpark_proptests::regression::{Regression, files_in};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions")
}

#[test]
fn what_failed_once_is_as_it_should_be() {
    let files = files_in(&folder()).expect("the folder can be read");
    assert!(!files.is_empty(), "nothing is kept in {}", folder().display());
    for file in files {
        let regression = Regression::read(&file).unwrap_or_else(|wrong| panic!("{wrong}"));
        let checked = regression.is_as_it_should_be().unwrap_or_else(|wrong| panic!("{}: {wrong}", file.display()));
        checked.unwrap_or_else(|wrong| panic!("{}: {wrong}", file.display()));
    }
}

#[test]
fn no_regression_has_more_than_twelve_operations() {
    for file in files_in(&folder()).expect("the folder can be read") {
        let regression = Regression::read(&file).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(regression.operations <= 12, "{} has {}", file.display(), regression.operations);
    }
}
