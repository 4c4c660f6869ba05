//! Putting the mistakes into the text.

use crate::{Kind, Mutated, Step};
use std::collections::{BTreeMap, BTreeSet};
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
}

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

pub(crate) fn splice(text: &str, found: Vec<Found>, first: u32, stillborn: &BTreeSet<String>) -> Mutated {
    let mut steps = Vec::new();
    let mut puts: BTreeMap<Place, (String, u32)> = BTreeMap::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for Found { file, line, function, kind, before, after, put } in found {
        let id = first + steps.len() as u32;
        let mut step = Step { id, file, line, function, kind, before, after, nth: 0 };
        let nth = seen.entry(step.key()).or_default();
        step.nth = *nth;
        *nth += 1;
        if stillborn.contains(&step.key()) {
            continue;
        }
        for put in put {
            place(&mut puts, put, id);
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
    Mutated { text: out, steps, inserted }
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
