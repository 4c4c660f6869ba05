//! Which files a model is made of: the one that declares it, and what that names, on and on.
//!
//! A file names another by its module, in a path or in a `use`. An `impl` of a type that stands in another file belongs to that
//! file: who calls a method need not name where it stands. So these are more files than the model executes, and never fewer.

use crate::model::Model;
use crate::sources::{SOURCES, is_checked};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// What a file of [`SOURCES`] says of others.
struct File {
    path: &'static str,
    code: String,
    /// The modules that it names.
    names: BTreeSet<String>,
}

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| SOURCES.iter().map(|(path, text)| File::of(path, text)).collect());

/// By file: those that it takes along.
static EDGES: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(edges);

/// The files of `model`. All, if it is declared elsewhere.
pub fn of(model: &Model) -> BTreeSet<&'static str> {
    // What a room that is told once is made of stands in another package.
    let home = model.file.split_once("src/").and_then(|(_, path)| room_of(path)).filter(|home| *home != "rooms");
    let Some(home) = home else {
        return SOURCES.iter().map(|(path, _)| *path).collect();
    };
    let is_first = |path: &str| room_of(path) == Some(home) || layer(path) == Layer::Kernel && !path.contains('/');
    let mut todo: Vec<&str> = SOURCES.iter().map(|(path, _)| *path).filter(|path| is_first(path)).collect();
    let mut found: BTreeSet<&str> = todo.iter().copied().collect();
    while let Some(path) = todo.pop() {
        todo.extend(EDGES[path].iter().filter(|to| found.insert(to)));
    }
    found
}

/// The first part of the name of a file of models. `None`: the file is none.
fn room_of(path: &str) -> Option<&str> {
    path.strip_prefix("models/")?.split(['/', '.']).next()
}

/// What a file may take along: what its layer is built on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Kernel,
    Harness,
    Models,
    /// Rooms that are told once, and what only replaces the kernel or tells of others' bugs: no model here is made of them.
    Apart,
}

fn layer(path: &str) -> Layer {
    match path.split_once('/') {
        Some(("harness" | "checker", _)) => Layer::Harness,
        Some(("models", _)) => Layer::Models,
        Some(_) if is_checked(path) => Layer::Kernel,
        None => Layer::Kernel,
        Some(_) => Layer::Apart,
    }
}

/// Its folder, and its module.
fn place_of(path: &str) -> (&str, &str) {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.rsplit_once('/').unwrap_or(("", path))
}

impl File {
    fn of(path: &'static str, text: &str) -> File {
        // That a module is declared is not that it is used.
        let declares = |line: &str| line.ends_with(';') && line.split(' ').any(|word| word == "mod");
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//") && !declares(line));
        let code = lines.map(|line| format!("\n{line}")).collect::<String>();
        let imports = ["\nuse ", "\npub use "].into_iter().flat_map(|head| code.split(head).skip(1));
        let imports = imports.filter_map(|after| after.split_once(';')).map(|(path, _)| path);
        let in_imports = imports.flat_map(|path| path.split(is_between)).map(str::to_owned);
        let paths = code.split("::").map(|before| before.rsplit(is_between).next().unwrap_or_default().to_owned());
        let names = in_imports.chain(paths).collect();
        File { path, code, names }
    }

    /// By its module, and from another folder by each folder that it is in.
    fn names(&self, other: &File) -> bool {
        let (folder, module) = place_of(other.path);
        // `sched` in a model is the kernel's, and not the models of that name.
        let is_other_room = room_of(self.path).is_some() && room_of(other.path) != room_of(self.path);
        if is_other_room && layer(other.path) == Layer::Models {
            let path = other.path.trim_end_matches(".rs").replace('/', "::");
            return self.code.contains(&path);
        }
        let is_near = folder.is_empty() || folder == place_of(self.path).0;
        let names_all = |folders: &str| folders.split('/').all(|folder| self.names.contains(folder));
        layer(self.path) >= layer(other.path) && self.names.contains(module) && (is_near || names_all(folder))
    }

    /// The types of other files for which something is implemented here.
    fn implements(&self) -> BTreeSet<&str> {
        let heads = self.code.split("\nimpl").skip(1).filter_map(|after| after.split_once('{'));
        let subjects = heads.map(|(head, _)| {
            let head = behind_generics(head).split(" where").next().unwrap_or_default();
            head.rsplit_once(" for ").map_or(head, |(_, subject)| subject)
        });
        // A single letter is a parameter.
        let is_type = |name: &&str| name.len() > 1 && name.starts_with(|first: char| first.is_ascii_uppercase());
        let types = subjects.flat_map(|subject| subject.split(is_between)).filter(is_type);
        types.filter(|name| !self.defines(name)).collect()
    }

    fn defines(&self, name: &str) -> bool {
        ["struct", "enum", "trait", "type"].iter().any(|kind| {
            let head = format!("{kind} {name}");
            self.code.match_indices(&head).any(|(at, _)| self.code[at + head.len()..].starts_with(is_between))
        })
    }
}

fn is_between(char: char) -> bool {
    !char.is_alphanumeric() && char != '_'
}

/// What follows the parameters of an `impl`.
fn behind_generics(head: &str) -> &str {
    let mut depth = 0;
    let is_end = |char: char| {
        depth += i32::from(char == '<') - i32::from(char == '>');
        depth == 0
    };
    match head.starts_with('<') {
        true => head.find(is_end).map_or("", |end| &head[end + 1..]),
        false => head,
    }
}

fn edges() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut edges = BTreeMap::<_, BTreeSet<_>>::new();
    for file in FILES.iter() {
        let named: Vec<&File> = FILES.iter().filter(|other| file.names(other)).collect();
        for name in file.implements() {
            for home in named.iter().filter(|home| layer(home.path) == layer(file.path) && home.defines(name)) {
                edges.entry(home.path).or_default().insert(file.path);
            }
        }
        edges.entry(file.path).or_default().extend(named.iter().map(|other| other.path));
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_belongs_to_the_file_of_its_type() {
        assert!(EDGES["sched/mod.rs"].contains("sched/find.rs"));
        assert!(!EDGES["host.rs"].contains("sched/find.rs"), "a bound is no type that is implemented");
    }

    #[test]
    fn models_are_not_made_of_the_models_of_a_room_whose_name_they_say() {
        let (scheduler, models) = ("sched/mod.rs", "models/sched.rs");
        let stopping = &EDGES["models/stopping.rs"];
        assert!(stopping.contains(scheduler) && !stopping.contains(models), "{stopping:?}");
    }

    #[test]
    fn what_only_declares_a_module_does_not_use_it() {
        assert!(!EDGES["lib.rs"].contains("protocol/mod.rs") && !EDGES["waits/mod.rs"].contains("waits/chan/mod.rs"));
    }
}
