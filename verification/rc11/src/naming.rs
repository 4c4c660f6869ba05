//! What a line of source calls the memory that it accesses, and which line that is.

/// How a word is accessed.
const ACCESSES: [&str; 6] = [".load(", ".store(", ".swap(", ".fetch_add(", ".fetch_sub(", ".compare_exchange("];

/// How else memory is accessed: locks, parkers, cells.
const OTHERS: [&str; 29] = [
    ".with(",
    ".park(",
    ".unpark(",
    ".park_timeout(",
    ".get(",
    ".set(",
    ".compare_exchange_weak(",
    ".compare_and_swap(",
    ".fetch_and(",
    ".fetch_nand(",
    ".fetch_or(",
    ".fetch_xor(",
    ".fetch_max(",
    ".fetch_min(",
    ".fetch_update(",
    ".unsync_load(",
    ".with_mut(",
    ".get_mut(",
    ".into_inner(",
    ".lock(",
    ".try_lock(",
    ".read(",
    ".write(",
    ".try_read(",
    ".try_write(",
    ".wait(",
    ".notify_one(",
    ".notify_all(",
    ".deref(",
];

/// The name that a line of source gives to the word it accesses: `self.nmspinning.load(…)` is `nmspinning`.
///
/// ```
/// assert_eq!(rc11::naming::name_in("self.nmspinning.load(Relaxed)"), Some("nmspinning"));
/// ```
pub fn name_in(source: &str) -> Option<&str> {
    name_before(source, first(source, &ACCESSES)?)
}

/// The same for locks, parkers and cells too, and for the access that begins at `column`, if it is one of several. The
/// line has lost the blanks before it, of which there were a multiple of four.
///
/// ```
/// assert_eq!(rc11::naming::name_at("self.nmspinning.load(Relaxed)", 1), Some("nmspinning"));
/// ```
pub fn name_at(source: &str, column: u32) -> Option<&str> {
    let accesses = || ACCESSES.iter().chain(&OTHERS);
    let dot = |indent: u32| column.checked_sub(indent + 2).map(|at| at as usize);
    let begins = |at: &usize| source.get(*at..).is_some_and(|rest| accesses().any(|access| rest.starts_with(access)));
    match (0..20).filter_map(|n| dot(4 * n)).find(begins) {
        Some(at) => name_before(source, at),
        None => name_in(source).or_else(|| name_before(source, first(source, &OTHERS)?)),
    }
}

/// A source file's path below its crate's `src`.
///
/// ```
/// assert_eq!(rc11::naming::below_src("a/src/b/c.rs"), "b/c.rs");
/// ```
pub fn below_src(path: &str) -> &str {
    path.rsplit_once("src/").map_or(path, |(_, below)| below)
}

/// `name`, if none of `others` is called so; else the first of `name 2`, `name 3`, … that is free. No name stays none.
///
/// ```
/// assert_eq!(rc11::naming::unlike("a", ["a", "b"].into_iter()), "a 2");
/// ```
pub fn unlike<'a>(name: &str, others: impl Iterator<Item = &'a str> + Clone) -> String {
    let is_free = |name: &str| others.clone().all(|other| other != name);
    if name.is_empty() || is_free(name) {
        return name.to_owned();
    }
    (2usize..).map(|n| format!("{name} {n}")).find(|name| is_free(name)).expect("there are fewer others")
}

fn first(source: &str, accesses: &[&str]) -> Option<usize> {
    accesses.iter().filter_map(|access| source.find(access)).min()
}

/// The name that ends at `at`.
fn name_before(source: &str, at: usize) -> Option<&str> {
    let mut depth = 0;
    let start = source[..at].char_indices().rev().find(|(_, c)| {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' => depth -= 1,
            _ => (),
        }
        depth < 0 || (depth == 0 && !(c.is_alphanumeric() || matches!(c, '_' | '.' | '(' | '[')))
    });
    let name = &source[start.map_or(0, |(i, c)| i + c.len_utf8())..at];
    let name = name.strip_prefix("self.").unwrap_or(name);
    // A field that has a number has no name.
    let has_name = name.starts_with(|c: char| !c.is_ascii_digit());
    (has_name && name != "word").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{name_at, name_in, unlike};

    #[test]
    fn a_word_is_called_what_the_source_calls_it() {
        assert_eq!(name_in("let n = self.nmspinning.load(Relaxed);"), Some("nmspinning"));
        assert_eq!(name_in("self.slot(tail).store(Some(g), Relaxed);"), Some("slot(tail)"));
        assert_eq!(
            name_in("mine.slot(Self::ahead(t, i - 1)).store(g, Relaxed);"),
            Some("mine.slot(Self::ahead(t, i - 1))")
        );
        assert_eq!(name_in("self.0.swap(Some(g), Release)"), None);
        assert_eq!(name_in("self.0[n as usize - 1].store(1, Relaxed)"), None);
        assert_eq!(name_in("let (head, tail) = (self.head.load(Relaxed), self.tail.load(Relaxed));"), Some("head"));
    }

    #[test]
    fn no_two_threads_have_one() {
        let others = ["m0", "m0 2", ""];
        assert_eq!(unlike("m1", others.into_iter()), "m1");
        assert_eq!(unlike("m0", others.into_iter()), "m0 3");
        assert_eq!(unlike("", others.into_iter()), "", "one without a name is called by its number");
    }

    #[test]
    fn so_is_a_lock() {
        assert_eq!(name_at("self.idle.with(|idle| idle.push(p));", 14), Some("idle"));
        assert_eq!(name_at("m.parker.park();", 0), Some("m.parker"));
        assert_eq!(name_at("self.0.with(f)", 8), None);
    }

    #[test]
    fn each_of_two_in_a_line_has_its_own_name() {
        let line = "let (head, tail) = (self.head.load(Relaxed), self.tail.load(Relaxed));";
        let column = |n: usize| line.match_indices("load(").nth(n).map_or(0, |(at, _)| at as u32 + 8 + 1);
        assert_eq!(name_at(line, column(0)), Some("head"));
        assert_eq!(name_at(line, column(1)), Some("tail"));
    }
}
