//! What is public in a crate's sources, read without a compiler: its items, by their paths.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// One block or statement of a file, without comments and texts.
struct Block<'a> {
    attributes: &'a str,
    head: &'a str,
    /// What stands between its braces.
    body: Option<&'a str>,
}

/// The text without comments, and with empty strings: so each brace is one.
fn strip(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if c == '"' {
            let mut chars = rest.char_indices().skip(1);
            let mut end = rest.len();
            while let Some((at, c)) = chars.next() {
                match c {
                    '\\' => drop(chars.next()),
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    _ => {}
                }
            }
            end
        } else if ["'{'", "'}'", "'\"'", "';'", "'('", "')'"].iter().any(|quoted| rest.starts_with(quoted)) {
            3
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        rest = &rest[skipped..];
    }
    out
}

/// Where the bracket that opens `text` is closed.
fn closed(text: &str) -> usize {
    let mut depth = 0;
    let end = text.char_indices().find(|(_, c)| {
        depth += i32::from(matches!(c, '{' | '[' | '(')) - i32::from(matches!(c, '}' | ']' | ')'));
        depth == 0
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The blocks of a text, one after the other.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let from = rest;
        while rest.starts_with("#[") || rest.starts_with("#![") {
            let at = rest.find('[').unwrap_or_default();
            rest = rest[at + closed(&rest[at..])..].trim_start();
        }
        let attributes = &from[..from.len() - rest.len()];
        let is_use = rest.starts_with("pub use") || rest.starts_with("use ");
        let mut at = 0;
        while let Some(c) = rest[at..].chars().next() {
            match c {
                ';' => break,
                '{' if !is_use => break,
                '(' | '[' | '{' => at += closed(&rest[at..]),
                _ => at += c.len_utf8(),
            }
        }
        let is_block = rest[at..].starts_with('{');
        let end = if is_block { at + closed(&rest[at..]) } else { (at + 1).min(rest.len()) };
        let body =
            is_block.then(|| rest[at..end].trim_start_matches('{')).map(|body| body.strip_suffix('}').unwrap_or(body));
        found.push(Block { attributes, head: rest[..at].trim(), body });
        rest = rest[end..].trim_start();
    }
    found
}

impl Block<'_> {
    /// Is what stands in it as if it stood outside? A macro that gives its text back on some systems, or with some features.
    fn is_transparent(&self) -> bool {
        let Some(name) = self.head.strip_suffix('!').map(str::trim) else { return false };
        let is_other =
            ["cfg_loom", "cfg_windows", "cfg_net_windows", "cfg_not_"].iter().any(|other| name.starts_with(other));
        name.starts_with("cfg_not_wasi")
            || name.starts_with("cfg_") && name != "cfg_test" && !is_other
            || name == "feature"
            || name.starts_with("pin_project")
    }

    fn is_hidden(&self) -> bool {
        self.attributes.replace(' ', "").contains("doc(hidden)") || other_system(self.attributes)
    }

    /// The name that it defines, after one of these words.
    fn defines(&self, words: &[&str]) -> Option<String> {
        let mut rest = self.head.strip_prefix("pub ")?;
        for word in ["const ", "async ", "unsafe "] {
            rest = rest.strip_prefix(word).unwrap_or(rest);
        }
        let rest = words.iter().find_map(|word| rest.strip_prefix(word))?.strip_prefix(' ')?;
        Some(rest.chars().take_while(|c| is_part(*c)).collect())
    }
}

fn other_system(attributes: &str) -> bool {
    attributes.contains("cfg(windows)") || attributes.contains("cfg(test)")
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
pub(crate) fn expanded(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.trim().to_owned()] };
    let rest = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, c) in rest.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            parts.push(&rest[from..at]);
            from = at + 1;
        }
    }
    parts.push(&rest[from..]);
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.flat_map(expanded).map(|part| format!("{}{part}", before.trim())).collect()
}

/// The public items of a module called `m` with this text.
pub(crate) fn items_of_text(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    Source { root: PathBuf::new() }.items_of("m", &strip(text), &mut found);
    found
}

/// A crate's sources.
pub(crate) struct Source {
    pub(crate) root: PathBuf,
}

impl Source {
    /// The file of a module, if there is one.
    fn file(&self, path: &str) -> Option<PathBuf> {
        let folder = self.root.join(path.replace("::", "/"));
        let files = [folder.with_extension("rs"), folder.join("mod.rs")];
        files.into_iter().find(|file| file.is_file())
    }

    /// Every public item below this module.
    pub(crate) fn items(&self, module: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        if let Some(file) = self.file(module) {
            let text = strip(&fs::read_to_string(file).expect("a file of the sources"));
            self.items_of(module, &text, &mut found);
        }
        found
    }

    fn items_of(&self, module: &str, text: &str, found: &mut BTreeSet<String>) {
        for block in blocks(text).into_iter().filter(|block| !block.is_hidden()) {
            if let (true, Some(body)) = (block.is_transparent(), block.body) {
                self.items_of(module, body, found);
            } else if let Some(name) = block.defines(&["mod"]) {
                let path = format!("{module}::{name}");
                match block.body {
                    Some(body) => self.items_of(&path, body, found),
                    None => found.extend(self.items(&path)),
                }
            } else if let Some(used) = block.head.strip_prefix("pub use ") {
                for path in expanded(used) {
                    let name = path.rsplit([':', ' ']).next().unwrap_or_default();
                    if name != "self" {
                        found.insert(format!("{module}::{name}"));
                    }
                }
            } else if let Some(name) = block.defines(&["struct", "enum", "trait", "fn", "type"]) {
                found.insert(format!("{module}::{name}"));
            }
        }
    }
}
