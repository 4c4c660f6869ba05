//! What there is of std's types and functions, here, in loom and in shuttle: read from the sources, and from std's
//! documentation. The table stands in docs/guide/coming-from-loom.md; `RC11_WRITE=1` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "surface/sources.rs"]
mod sources;
#[path = "surface/std_docs.rs"]
mod std_docs;

/// The methods of each type, and the functions of each module, which is then an item of its own.
type Surface = BTreeMap<String, BTreeSet<String>>;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// Where cargo keeps the sources of a package that this workspace uses, if it does.
fn package(name: &str) -> Option<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Packages of other platforms may not have been fetched.
    let host = String::from_utf8(Command::new("rustc").arg("-vV").output().ok()?.stdout).ok()?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: "))?;
    cargo.args(["metadata", "--format-version", "1", "--filter-platform", host]).current_dir(CRATE);
    let metadata: serde_json::Value = serde_json::from_slice(&cargo.output().ok()?.stdout).ok()?;
    let packages = metadata["packages"].as_array()?;
    let found = packages.iter().find(|package| package["name"] == name)?;
    Some(Path::new(found["manifest_path"].as_str()?).parent()?.join("src"))
}

fn rc11() -> Surface {
    sources::surface(&Path::new(CRATE).join("src"))
}

fn known_std() -> Surface {
    let lines = include_str!("surface/std.txt").lines().filter(|line| !line.starts_with('#'));
    let item = |line: &str| {
        let (item, names) = line.split_once(" =").expect("an item, and its names");
        (item.to_owned(), names.split_whitespace().map(str::to_owned).collect())
    };
    lines.map(item).collect()
}

#[test]
fn all_of_loom_is_here() {
    let loom = sources::surface(&package("loom").expect("this package is tested beside it"));
    assert!(loom["sync::Arc"].contains("get_mut") && loom["thread (functions)"].contains("park"), "{loom:?}");
    let ours = rc11();
    for (item, names) in loom {
        let known = ours.get(&item).unwrap_or_else(|| panic!("loom has {item}"));
        let lacks: Vec<_> = names.difference(known).collect();
        assert!(lacks.is_empty(), "loom's {item} has {lacks:?}");
    }
}

/// If std's documentation is installed, and that of the version in the file.
#[test]
fn std_is_as_the_file_says() {
    let file = Path::new(CRATE).join("tests/surface/std.txt");
    let Some((version, std)) = std_docs::surface() else { return };
    let items = std.iter().map(|(item, names)| {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        format!("{item} = {}", names.join(" ")).trim_end().to_owned() + "\n"
    });
    let text =
        format!("# What is stable in std {version}. Written by tests/surface.rs.\n{}", items.collect::<String>());
    if env::var_os("RC11_WRITE").is_some() {
        fs::write(&file, text).unwrap();
        return;
    }
    let before = fs::read_to_string(&file).unwrap();
    if before.lines().next() == text.lines().next() {
        assert_eq!(before, text);
    }
}

fn number(of: Option<&BTreeSet<String>>, std: Option<&BTreeSet<String>>) -> String {
    match (of, std) {
        (None, _) => "–".to_owned(),
        (Some(of), None) => of.len().to_string(),
        (Some(of), Some(_)) if of.contains("*") => "std's own".to_owned(),
        (Some(of), Some(std)) => of.intersection(std).count().to_string(),
    }
}

/// What std has in an item, and this crate has not.
fn lacks(ours: Option<&BTreeSet<String>>, std: &BTreeSet<String>) -> String {
    let none = BTreeSet::new();
    let ours = ours.unwrap_or(&none);
    let lacks: Vec<&str> = std.difference(ours).map(String::as_str).collect();
    if ours.contains("*") { String::new() } else { lacks.join(", ") }
}

fn table(shuttle: &Surface) -> String {
    let loom = sources::surface(&package("loom").expect("this package is tested beside it"));
    let (std, ours) = (known_std(), rc11());
    let items: BTreeSet<&String> = std.keys().chain(loom.keys()).collect();
    let mut text = String::from("| | std | loom | shuttle | rc11 | what rc11 lacks |\n|--|--:|--:|--:|--:|--|\n");
    for item in items {
        let of_std = std.get(item);
        let [loom, shuttle, rc11] = [&loom, shuttle, &ours].map(|surface| number(surface.get(item), of_std));
        let in_std = of_std.map_or("–".to_owned(), |std| std.len().to_string());
        let lacks = of_std.map_or(String::new(), |std| lacks(ours.get(item), std));
        text += &format!("| `{item}` | {in_std} | {loom} | {shuttle} | {rc11} | {lacks} |\n");
    }
    text.replace("` (functions)`", "` (functions)").replace(" (functions)`", "` (functions)")
}

/// Where the page and shuttle are: in the repository.
#[test]
fn the_table_says_so() {
    let page = Path::new(CRATE).join("../../docs/guide/coming-from-loom.md");
    let (Ok(text), Some(shuttle), Some(shuttle_std)) =
        (fs::read_to_string(&page), package("shuttle"), package("shuttle-std"))
    else {
        return;
    };
    let mut shuttle = sources::surface(&shuttle);
    for (item, names) in sources::surface(&shuttle_std) {
        shuttle.entry(item).or_default().extend(names);
    }
    let (begin, end) = ("<!-- surface -->\n", "<!-- /surface -->");
    let (before, rest) = text.split_once(begin).expect("a place for the table");
    let (was, after) = rest.split_once(end).expect("an end of the table");
    let table = table(&shuttle);
    if env::var_os("RC11_WRITE").is_some() {
        fs::write(&page, format!("{before}{begin}{table}{end}{after}")).unwrap();
        return;
    }
    assert_eq!(was, table, "RC11_WRITE=1 writes it");
}
