use super::pictures;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Those that are kept, drawn anew: `cargo run --example figures`.
#[test]
fn are_what_the_traces_give_today() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/figures");
    let mut names = BTreeSet::new();
    for (name, picture) in pictures::all() {
        let file = format!("{name}.svg");
        let old = fs::read_to_string(kept.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(old.replace("\r\n", "\n"), picture, "{file} is out of date: cargo run --example figures");
        assert!(picture.len() < 20_000, "{file} has {} bytes", picture.len());
        names.insert(file);
    }
    let there = fs::read_dir(&kept).expect("a directory").map(|file| file.expect("a file").file_name());
    assert_eq!(there.map(|name| name.to_string_lossy().into_owned()).collect::<BTreeSet<_>>(), names);
}
