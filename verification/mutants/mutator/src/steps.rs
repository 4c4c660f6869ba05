//! Putting the mistakes into the text.

use crate::{Kind, Mutated, Placing, Step};
use proc_macro2::TokenStream;
use std::collections::BTreeMap;
use std::ops::Range;

/// A mistake that was found, before it has its number.
pub(crate) struct Found {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) function: String,
    pub(crate) kind: Kind,
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) put: Vec<Put>,
    /// The same as a change of the source itself.
    pub(crate) edits: Vec<Edit>,
    /// The body of the function it stands in, braces included. `None`: it stands in none.
    pub(crate) body: Option<Range<usize>>,
    /// Two of the others, both of which are on.
    pub(crate) both: Option<(usize, usize)>,
}

/// These bytes of the source become this.
pub(crate) type Edit = (Range<usize>, String);

/// Text to put in. `#` stands for the switch: `crate::is(17)`.
pub(crate) enum Put {
    /// Around what stands here. Of two that begin or end at the same place, the longer is outside.
    Around(Range<usize>, String, String),
    /// Here, before whatever is put around what begins here.
    Before(usize, String),
    /// Here, after whatever is put around what ends here.
    After(usize, String),
}

/// Where an insertion goes, and in which order with others at the same place.
type Place = (usize, i8, i64, i64);

pub(crate) fn splice(text: &str, found: Vec<Found>, first: u32, placing: &Placing) -> Result<Mutated, String> {
    let mut steps = Vec::new();
    let mut puts: BTreeMap<Place, (String, u32)> = BTreeMap::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    // The numbers of those that have a switch at their site.
    let mut at_site: BTreeMap<usize, u32> = BTreeMap::new();
    for (place_in_list, one) in found.into_iter().enumerate() {
        let Found { file, line, function, kind, before, after, put, edits, body, both } = one;
        let id = first + steps.len() as u32;
        let mut step = Step { id, file, line, function, kind, before, after, nth: 0, both: None };
        let nth = seen.entry(step.key()).or_default();
        step.nth = *nth;
        *nth += 1;
        let key = step.key();
        if placing.stillborn.contains(&key) || placing.alone.contains(&key) {
            continue;
        }
        if let Some((one, other)) = both {
            // Of a copy no other copy has a part.
            let (Some(&one), Some(&other)) = (at_site.get(&one), at_site.get(&other)) else { continue };
            step.both = Some((one, other));
        } else if step.kind == Kind::Edited {
            let put = body.and_then(|body| copy(text, body, edits));
            place(&mut puts, put.ok_or_else(|| format!("{key}: it is no Rust"))?, id);
        } else if placing.copied.contains(&key) {
            // A function that has no copy is no place for one: `prune` finds that out.
            let Some(put) = body.and_then(|body| copy(text, body, edits)) else { continue };
            place(&mut puts, put, id);
        } else {
            put.into_iter().for_each(|put| place(&mut puts, put, id));
            at_site.insert(place_in_list, id);
        }
        steps.push(step);
    }
    let (mut out, mut inserted, mut done) = (String::with_capacity(text.len() * 4), Vec::new(), 0);
    for ((at, ..), (put, id)) in puts {
        out.push_str(&text[done..at]);
        done = at;
        let from = out.len();
        out.push_str(&put);
        inserted.push((from..out.len(), id));
    }
    out.push_str(&text[done..]);
    Ok(Mutated { text: out, steps, inserted })
}

fn place(puts: &mut BTreeMap<Place, (String, u32)>, put: Put, id: u32) {
    let switch = |text: &str| text.replace('#', &format!("crate::is({id})")).replace('\n', " ");
    let n = i64::from(id);
    let mut insert = |at: usize, class: i8, rank: i64, order: i64, text: &str| {
        puts.insert((at, class, rank, order), (switch(text), id));
    };
    match put {
        // At one place: what ends there closes, the shortest first; then what comes after; then what comes before; then what
        // begins there opens, the longest first. Of equal ones the first is outside.
        Put::Around(range, open, close) => {
            let length = range.len() as i64;
            insert(range.start, 3, -length, n, &open);
            insert(range.end, 0, length, -n, &close);
        }
        Put::After(at, text) => insert(at, 1, 0, n, &text),
        Put::Before(at, text) => insert(at, 2, 0, n, &text),
    }
}

/// The source with the one mutant `key` in it, as a real edit. `None`: there is none of that key.
pub(crate) fn edited(text: &str, found: Vec<Found>, key: &str) -> Option<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for Found { file, line, function, kind, before, after, edits, .. } in found {
        let mut step = Step { id: 0, file, line, function, kind, before, after, nth: 0, both: None };
        let nth = seen.entry(step.key()).or_default();
        step.nth = *nth;
        *nth += 1;
        if step.key() == key {
            return Some(edit(text, 0..text.len(), edits));
        }
    }
    None
}

/// These bytes of `text`, edited.
fn edit(text: &str, within: Range<usize>, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let (mut out, mut done) = (String::new(), within.start);
    for (range, instead) in edits {
        out.push_str(&text[done..range.start]);
        out.push_str(&instead);
        done = range.end;
    }
    out + &text[done..within.end]
}

/// The whole body once more, edited, in front of itself: what is moved there is not moved here. `None`: what it becomes is
/// no Rust.
fn copy(text: &str, body: Range<usize>, edits: Vec<Edit>) -> Option<Put> {
    let at = body.start + 1;
    let tokens: TokenStream = edit(text, body, edits).parse().ok()?;
    // One line, or all lines below would have other numbers.
    let tokens = tokens.to_string();
    let lines = joined(tokens.lines());
    Some(Put::Before(at, format!(" if # {{ return {lines}; }}")))
}

/// One line of these. A string that goes on in the next line is put together.
pub(crate) fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut all = String::new();
    for line in lines {
        match all.strip_suffix('\\') {
            Some(begun) => all = format!("{begun}{}", line.trim_start()),
            None if all.is_empty() => all.push_str(line),
            None => all.extend([" ", line]),
        }
    }
    all
}
