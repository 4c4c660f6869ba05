//! Public items, from a crate's sources as rustfmt leaves them.

use super::Surface;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The modules that have std's names, by the beginning of a file's path: the first that fits.
const MODULES: [(&str, &str); 9] = [
    ("sync/atomic", "sync::atomic"),
    ("sync/mpsc", "sync::mpsc"),
    ("sync", "sync"),
    ("thread", "thread"),
    ("cell", "cell"),
    ("future", "future"),
    ("hint", "hint"),
    ("alloc", "alloc"),
    ("lazy_static", "lazy_static"),
];

pub(crate) fn surface(root: &Path) -> Surface {
    let mut files = Vec::new();
    visit(root, root, &mut files);
    let mut surface = Surface::new();
    for (module, text) in &files {
        let types = public_types(text).into_iter().map(|name| (item(module, name), BTreeSet::new()));
        surface.extend(types);
    }
    files.iter().for_each(|(module, text)| read(text, module, &mut surface));
    surface
}

fn visit(root: &Path, folder: &Path, files: &mut Vec<(&str, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(root, &path, files);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        let module = MODULES.iter().find(|(prefix, _)| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(['/', '.']))
        });
        if let Some((_, module)) = module {
            files.push((module, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn read(text: &str, module: &str, surface: &mut Surface) {
    // The type whose block this is, and how far it is indented.
    let mut block: Option<(String, usize)> = None;
    let mut functions = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (indent, code) = (line.len() - line.trim_start().len(), line.trim_start());
        if let Some((item, inside)) = &block {
            if code.starts_with('}') && indent == *inside {
                block = None;
            } else if let Some(name) = function(code).or_else(|| operation(code)) {
                surface.entry(item.clone()).or_default().insert(name.to_owned());
            }
        } else if code.starts_with("impl") {
            let mut header = code.to_owned();
            while !header.contains('{')
                && let Some(more) = lines.next()
            {
                header += more;
            }
            let name = inherent(&header);
            if !header.ends_with('}') {
                block = name.map(|name| (item(module, name), indent)).filter(|(name, _)| surface.contains_key(name));
            }
        } else if indent == 0 {
            functions.extend(function(code));
        }
        if indent == 0 && code.starts_with("pub use std::") {
            let mut names = code.to_owned();
            while !names.contains(';')
                && let Some(more) = lines.next()
            {
                names += more;
            }
            read_reexport(&names, module, surface);
        }
    }
    for function in functions {
        surface.entry(format!("{module} (functions)")).or_default().insert(function.to_owned());
    }
}

/// All integers are alike.
fn item(module: &str, name: &str) -> String {
    format!("{module}::{}", if name == "$name" { "AtomicUsize" } else { name })
}

fn public_types(text: &str) -> Vec<&str> {
    let names = text.lines().filter_map(|line| text_after(line.trim_start(), &["pub struct ", "pub enum "]));
    let is_other = |c: char| !c.is_alphanumeric() && c != '_' && c != '$';
    names.map(|rest| &rest[..rest.find(is_other).unwrap_or(rest.len())]).collect()
}

fn text_after<'a>(text: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))
}

fn function(code: &str) -> Option<&str> {
    let rest = text_after(code, &["pub fn ", "pub const fn ", "pub unsafe fn ", "pub const unsafe fn "])?;
    rest.split(['(', '<']).next().filter(|name| !name.starts_with('$'))
}

/// One of those that a macro makes here: `fetch_add Add`.
fn operation(code: &str) -> Option<&str> {
    let (name, op) = code.split_once(' ')?;
    (name.starts_with("fetch_") && op.chars().all(char::is_alphanumeric)).then_some(name)
}

/// Whose inherent methods follow.
fn inherent(header: &str) -> Option<&str> {
    let mut rest = header.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let mut before = ' ';
        let end = rest.find(|c: char| {
            depth += i32::from(c == '<') - i32::from(c == '>' && before != '-');
            before = c;
            depth == 0
        })?;
        rest = &rest[end + 1..];
    }
    let rest = rest.split('{').next()?.split(" where").next()?.trim();
    if rest.contains(" for ") {
        return None;
    }
    rest.split('<').next()
}

/// `pub use std::thread::{a, B};`: of a type all that std has.
fn read_reexport(names: &str, module: &str, surface: &mut Surface) {
    let path = names.trim_start_matches("pub use std::").trim_end_matches(';');
    let (_, last) = path.rsplit_once("::").unwrap_or(("", path));
    let listed = path.split_once('{').map_or(last, |(_, listed)| listed.trim_end_matches('}'));
    for name in listed.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if name.starts_with(char::is_uppercase) {
            surface.entry(item(module, name)).or_default().insert("*".to_owned());
        } else {
            surface.entry(format!("{module} (functions)")).or_default().insert(name.to_owned());
        }
    }
}
