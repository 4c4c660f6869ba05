//! The lines of source files, so that a picture says what the source calls a location.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

std::thread_local! {
    static FILES: RefCell<HashMap<String, Option<Vec<String>>>> = RefCell::new(HashMap::new());
}

/// The line with that number, from 1. `None`: the file is not found, or has no such line.
pub(super) fn line(file: &str, line: u32) -> Option<String> {
    FILES.with_borrow_mut(|files| {
        let lines = files.entry(file.to_owned()).or_insert_with(|| read(file));
        lines.as_ref()?.get(line.checked_sub(1)? as usize).cloned()
    })
}

/// The compiler names a file of the workspace by its path below the workspace, in which folder the test runs or the
/// executable lies.
fn read(file: &str) -> Option<Vec<String>> {
    let above = |path: Option<PathBuf>| path.map(|path| path.ancestors().map(Path::to_path_buf).collect::<Vec<_>>());
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let starts = [env::current_dir().ok(), manifest, env::current_exe().ok()];
    let folders = starts.into_iter().filter_map(above).flatten();
    let text = folders.map(|folder| folder.join(file)).find_map(|path| fs::read_to_string(path).ok())?;
    Some(text.lines().map(str::to_owned).collect())
}
