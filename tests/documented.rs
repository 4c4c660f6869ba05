//! What a user reads of each public function, counted in the source: its example, its errors, and what becomes of a future that is dropped.
//!
//! The lint `unreachable_pub` is on, so each `pub fn` of the runtime, the kernel and the checker is on a page of rustdoc. A function is
//! *shown* by an example of its own, or by one on the same page that calls one of its name: its type's, its `impl` block's, its
//! module's. A getter needs none: it takes `self` alone, returns a plain value, and its text is one sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate's public functions.
struct Crate {
    sources: &'static str,
    /// What macros call when they are expanded, or only a checker builds: no user reads its page.
    is_without: &'static [&'static str],
    /// It has so many functions at least, futures among them, or the reader of the source is wrong.
    has: (usize, usize),
    /// Of those that need one, so many in a hundred have an example of their own.
    own: usize,
}

const RUNTIME: Crate =
    Crate { sources: "src/runtime", is_without: &["sync/select/", "structured/together.rs"], has: (500, 80), own: 45 };
const KERNEL: Crate =
    Crate { sources: "src/kernel/src", is_without: &["model.rs", "task/model.rs"], has: (500, 0), own: 15 };

const CHECKER: Crate =
    Crate { sources: "verification/rc11/src", is_without: &["machine/", "text.rs"], has: (250, 0), own: 18 };
const CRATES: [Crate; 3] = [RUNTIME, KERNEL, CHECKER];

#[derive(Default)]
struct Function {
    name: String,
    /// Where it is: a file and a line.
    place: String,
    docs: String,
    head: String,
    /// The texts of its `impl` block, its type and its module.
    page: String,
    /// Of the future that it returns, if it has a type of its own.
    returned: String,
    is_future: bool,
}

/// Types by their names, and which of them are futures.
#[derive(Default)]
struct Types {
    docs: BTreeMap<String, String>,
    futures: BTreeSet<String>,
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The name after one of `words`, in a line that is the head of an item.
fn name_after(line: &str, words: &[&str]) -> Option<String> {
    let mut rest = line;
    for prefix in ["pub(super) ", "pub(crate) ", "pub ", "const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    let rest = words.iter().find_map(|word| rest.strip_prefix(word))?.strip_prefix(' ')?;
    Some(rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect())
}

/// The type that an `impl` is of.
fn implemented(line: &str) -> Option<(bool, String)> {
    let mut rest = line.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.char_indices().find(|(n, c)| {
            depth += i32::from(*c == '<');
            depth -= i32::from(*c == '>' && !rest[..*n].ends_with('-'));
            depth == 0
        });
        rest = &rest[end?.0 + 1..];
    }
    let rest = rest.trim_start();
    let (is_future, of) = match rest.split_once(" for ") {
        Some((of, whose)) => (of.ends_with("Future"), whose),
        None => (false, rest),
    };
    let of = of.trim_start_matches('&').rsplit_once("::").map_or(of, |(_, name)| name);
    Some((is_future, of.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect()))
}

/// Each line's docs are those above it, with attributes between.
fn read(place: &str, text: &str) -> (Vec<Function>, Types) {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let module: String =
        text.lines().filter_map(|line| line.strip_prefix("//!")).map(|line| format!("{line}\n")).collect();
    let (mut found, mut types): (Vec<(Function, String)>, Types) = Default::default();
    let (mut docs, mut is_hidden) = (String::new(), false);
    let (mut implementing, mut of_impl) = (String::new(), String::new());
    let lines: Vec<&str> = text.lines().collect();
    for (n, line) in lines.iter().map(|line| line.trim_start()).enumerate() {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push_str(doc);
            docs.push('\n');
            continue;
        }
        if line.starts_with("#[") {
            is_hidden |= line.contains("doc(hidden)");
            continue;
        }
        if let Some((is_future, of)) = implemented(line) {
            if is_future {
                types.futures.insert(of.clone());
            }
            (implementing, of_impl) = (of, std::mem::take(&mut docs));
        } else if let Some(name) = name_after(line, &["struct", "enum", "trait"]) {
            if line.contains("trait ") {
                implementing.clone_from(&name);
            }
            types.docs.insert(name, std::mem::take(&mut docs));
        } else if line.starts_with("pub ")
            && let Some(name) = name_after(line, &["fn"])
        {
            let to = lines[n..].iter().position(|line| line.ends_with(['{', ';', '}'])).unwrap_or(0);
            let head = lines[n..=n + to].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
            let is_method = head.contains("self") || lines[n].starts_with(' ');
            let page = if is_method { of_impl.clone() } else { module.clone() };
            let of = if is_method { implementing.clone() } else { String::new() };
            let (docs, place) = (std::mem::take(&mut docs), format!("{place}:{}", n + 1));
            if !is_hidden {
                found.push((Function { name, place, docs, head, page, ..Function::default() }, of));
            }
        }
        docs.clear();
        is_hidden = false;
    }
    for (function, of) in &mut found {
        function.page.push_str(types.docs.get(of).map_or("", String::as_str));
    }
    (found.into_iter().map(|(function, _)| function).collect(), types)
}

fn functions(of: &Crate) -> Vec<Function> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(of.sources);
    let (mut paths, mut files, mut all) = (Vec::new(), Vec::new(), Types::default());
    sources(&root, &mut paths);
    paths.sort();
    for path in paths {
        let place = path.strip_prefix(&root).expect("below it").to_string_lossy().replace('\\', "/");
        let (functions, types) = read(&place, &fs::read_to_string(&path).expect("text"));
        all.docs.extend(types.docs.clone());
        all.futures.extend(types.futures.clone());
        if !of.is_without.iter().any(|without| place.starts_with(without)) {
            files.push((functions, types));
        }
    }
    let mut found = Vec::new();
    for (functions, types) in files {
        for mut function in functions {
            let returned = function.returns().to_owned();
            let named: String = returned.chars().take_while(|c| c.is_alphanumeric()).collect();
            // Two files may each have a type of this name.
            let types = if types.docs.contains_key(&named) { &types } else { &all };
            if types.futures.contains(&named) {
                function.returned = types.docs.get(&named).cloned().unwrap_or_default();
                function.is_future = true;
            }
            function.is_future |= function.head.contains("async fn ") || returned.starts_with("impl Future");
            found.push(function);
        }
    }
    let futures = found.iter().filter(|function| function.is_future).count();
    assert!(
        found.len() > of.has.0 && futures >= of.has.1,
        "{}: only {} functions, {futures} futures",
        of.sources,
        found.len()
    );
    found
}

/// What stands between the fences of a text.
fn examples(docs: &str) -> String {
    let blocks = docs.split("```").skip(1).step_by(2);
    let is_run = |block: &&str| !["text", "compile_fail", "ignore"].iter().any(|word| block.starts_with(word));
    blocks.filter(is_run).collect()
}

fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = &text[at + name.len()..];
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            && (after.starts_with(['(', ')']) || after.starts_with("::<"))
    })
}

impl Function {
    /// What stands after its arguments, without what is asked of their types.
    fn returns(&self) -> &str {
        let head = self.head.split(" where ").next().unwrap_or_default().trim_end_matches(['{', '}', ' ']);
        let mut depth = 0;
        let arrow = head.char_indices().filter(|(n, c)| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            depth == 0 && head[*n..].starts_with(" -> ")
        });
        arrow.last().map_or("", |(n, _)| &head[n + 4..])
    }

    fn is_getter(&self) -> bool {
        let arguments = self.head.split_once('(').map_or("", |(_, rest)| rest.split(')').next().unwrap_or_default());
        let is_alone = ["&self", "self", "&mut self"].contains(&arguments);
        let returned = self.returns();
        let is_plain = !returned.is_empty() && !["Result", "impl ", "Poll<"].iter().any(|word| returned.contains(word));
        let text = self.docs.trim();
        let is_sentence = !text.contains('#') && text.matches(['.', '?']).count() <= 1;
        is_alone && is_plain && is_sentence && !self.is_future
    }

    fn has_example(&self) -> bool {
        !examples(&self.docs).is_empty()
    }

    fn is_shown(&self) -> bool {
        self.has_example() || calls(&examples(&self.page), &self.name)
    }

    fn has(&self, section: &str) -> bool {
        [&self.docs, &self.page, &self.returned].iter().any(|text| text.contains(section))
    }
}

fn report(what: &str, missing: &[&Function]) -> String {
    let rows: String = missing.iter().map(|f| format!("  {} {}\n", f.place, f.name)).collect();
    format!("{} without {what}:\n{rows}", missing.len())
}

mod a_public_function {
    use super::*;

    #[test]
    fn has_an_example() {
        for of in &CRATES {
            let all = functions(of);
            let asked: Vec<_> = all.iter().filter(|function| !function.is_getter()).collect();
            let missing: Vec<_> = asked.iter().copied().filter(|function| !function.is_shown()).collect();
            let own = asked.iter().filter(|function| function.has_example()).count();
            let figures = format!(
                "{}: {} functions, {} of them getters; {own} have an example of their own",
                of.sources,
                all.len(),
                all.len() - asked.len()
            );
            println!("{figures}; {}", report("an example", &missing));
            assert!(own * 100 >= asked.len() * of.own, "{figures}: less than {} in a hundred", of.own);
            assert!(missing.len() * 10 <= asked.len(), "{figures}; {}", report("an example", &missing));
        }
    }

    #[test]
    fn and_a_public_macro_too() {
        let mut shown = 0;
        for of in &CRATES {
            let mut paths = Vec::new();
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(of.sources), &mut paths);
            for path in paths {
                let text = fs::read_to_string(&path).expect("text");
                let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
                for n in (0..lines.len()).filter(|&n| lines[n].starts_with("macro_rules! ")) {
                    let above = lines[..n].iter().rev();
                    let above: Vec<_> =
                        above.take_while(|line| line.starts_with("///") || line.starts_with("#[")).collect();
                    let is_public = above.iter().any(|line| line.starts_with("#[macro_export"));
                    if is_public && !above.iter().any(|line| line.contains("doc(hidden)")) {
                        let has_example = above.iter().any(|line| line.contains("```"));
                        assert!(has_example, "{}:{} {}", path.display(), n + 1, lines[n]);
                        shown += 1;
                    }
                }
            }
        }
        assert!(shown >= 5, "only {shown} macros");
    }

    #[test]
    fn says_what_a_dropped_future_has_done() {
        for of in &CRATES {
            let all = functions(of);
            let futures: Vec<_> = all.iter().filter(|function| function.is_future).collect();
            let missing: Vec<_> = futures.iter().copied().filter(|function| !function.has("# Cancel safety")).collect();
            assert!(missing.is_empty(), "of {} futures {}", futures.len(), report("`# Cancel safety`", &missing));
        }
    }

    #[test]
    fn says_its_errors() {
        for of in &CRATES {
            let all = functions(of);
            let returns = |function: &&Function| function.returns().contains("Result<");
            let missing: Vec<_> = all.iter().filter(returns).filter(|function| !function.has("# Errors")).collect();
            assert!(missing.is_empty(), "{}: {}", of.sources, report("`# Errors`", &missing));
        }
    }
}

mod what_counts {
    use super::*;

    fn of(text: &str) -> Vec<Function> {
        read("a.rs", text).0
    }

    #[test]
    fn is_an_example_on_the_same_page() {
        let text = "/// ```\n/// a.shown();\n/// ```\npub struct A;\nimpl<T: Fn() -> u8> A<T> {\n    /// Does it.\n    pub fn shown(&self) {}\n    \
                    /// Does it.\n    pub fn not_shown(&self, n: u8) {}\n}\n";
        let functions = of(text);
        assert_eq!(functions.iter().map(Function::is_shown).collect::<Vec<_>>(), [true, false]);
        assert!(functions.iter().all(|function| !function.is_getter() && !function.has_example()));
    }

    #[test]
    fn is_no_picture() {
        assert!(!of("/// ```text\n/// f()\n/// ```\npub fn f(n: u8) {}\n")[0].is_shown());
        assert!(of("/// ```\n/// f(1);\n/// ```\npub fn f(n: u8) {}\n")[0].has_example());
    }

    #[test]
    fn of_a_getter_is_its_sentence() {
        let is_getter = |text: &str| of(text)[0].is_getter();
        assert!(is_getter("impl A {\n    /// How many.\n    pub fn len(&self) -> usize {\n"));
        assert!(!is_getter("impl A {\n    /// How many. Panics at noon.\n    pub fn len(&self) -> usize {\n"));
        assert!(!is_getter("impl A {\n    /// How many.\n    pub fn len(&self) -> io::Result<usize> {\n"));
        assert!(!is_getter("impl A {\n    /// How many.\n    pub fn len(&self, of: u8) -> usize {\n"));
    }
}
