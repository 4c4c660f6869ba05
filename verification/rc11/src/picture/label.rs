//! What the events of a picture are called.

use crate::graph::{Event, Graph, INIT, Kind, Loc, Order, Update};
use crate::heap;
use crate::machine::{Site, Wait, Wants};
use crate::naming::name_at;
use crate::picture::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

/// Where an event stands in the source.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// The file's name, with its folder if that alone says nothing, and the line.
    pub at: String,
    /// The text of the line, or nothing.
    pub text: String,
    /// What the line calls the location.
    pub(super) name: Option<String>,
}

/// Where every event stands, and those that were asked for and never came.
pub(super) struct Places(BTreeMap<(u8, u16), Place>);

impl Places {
    pub(super) fn of(sites: &[Site], graph: &Graph, source: Source<'_>) -> Places {
        let files = short_names(sites.iter().map(|(.., at)| at.file()));
        let place = |at: &Location<'_>, source| place(at, files.get(at.file()).copied(), source);
        let place = |site: &Site| {
            let (thread, idx, at) = *site;
            let Some(at) = in_std(at).then(|| took(site, sites, graph)).flatten() else {
                return ((thread, idx), place(at, source));
            };
            // A destructor has no line of its own in the model's source.
            let Place { at, text, name } = place(at, source);
            ((thread, idx), Place { at: format!("{at}, dropped"), text, name })
        };
        // An allocator has no caller's line.
        let is_models = |(.., at): &&Site| at.file() != heap::FILE;
        Places(sites.iter().filter(is_models).map(place).collect())
    }

    pub(super) fn get(&self, thread: u8, idx: u16) -> Place {
        self.0.get(&(thread, idx)).cloned().unwrap_or_default()
    }
}

fn in_std(at: &Location<'_>) -> bool {
    at.file().starts_with("/rustc/") || at.file().contains("/library/core/src/")
}

/// Where the same thread accessed the same location last in the model's own source: where a guard was taken.
fn took((thread, idx, _): &Site, sites: &[Site], graph: &Graph) -> Option<&'static Location<'static>> {
    let loc = |idx: u16| graph.events.iter().find(|e| (e.thread, e.idx) == (*thread, idx)).map(|e| e.loc);
    let of_it = |(other, before, at): &&Site| {
        other == thread && before < idx && loc(*before).is_some() && loc(*before) == loc(*idx) && !in_std(at)
    };
    sites.iter().filter(of_it).max_by_key(|(_, before, _)| *before).map(|(.., at)| *at)
}

fn place(at: &Location<'_>, file: Option<&str>, source: Source<'_>) -> Place {
    let mut text = source(at.file(), at.line()).unwrap_or_default().trim().to_owned();
    let mut name = name_at(&text, at.column()).map(str::to_owned);
    // A call that stands below what it is called on.
    let mut line = at.line();
    while name.is_none() && text.starts_with('.') && line > 1 {
        line -= 1;
        text.insert_str(0, source(at.file(), line).unwrap_or_default().trim());
        name = if text.starts_with('.') { None } else { name_at(&text, 0).map(str::to_owned) };
    }
    Place { at: format!("{}:{}", file.unwrap_or_else(|| short(at.file())), at.line()), text, name }
}

/// What files are called of which some would have one name: by as many folders as tell them apart.
fn short_names<'a>(files: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, &'a str> {
    let files: BTreeSet<&str> = files.collect();
    let name = |file: &&'a str| {
        let ends_alike = |name: &str| {
            let behind_a_folder = format!("/{name}");
            files.iter().any(|other| other != file && (*other == name || other.ends_with(&behind_a_folder)))
        };
        let begins = file.rmatch_indices('/').map(|(at, _)| &file[at + 1..]);
        let mut names = begins.chain([*file]).skip_while(|name| name.len() < short(file).len());
        (*file, names.find(|name| !ends_alike(name)).unwrap_or(file))
    };
    files.iter().map(name).collect()
}

/// A file's name; its folder too if it is called `mod.rs`, as many are.
pub(super) fn short(path: &str) -> &str {
    let components = if path.ends_with("/mod.rs") { 2 } else { 1 };
    let cut = path.rmatch_indices('/').nth(components - 1);
    cut.map_or(path, |(at, _)| &path[at + 1..])
}

/// What each location is called.
pub(super) struct Names {
    names: BTreeMap<Loc, String>,
    /// Those that are locks, and those that are waited for by `park`.
    locks: BTreeSet<Loc>,
    parkers: BTreeSet<Loc>,
}

impl Names {
    pub(super) fn of(graph: &Graph, places: &Places, waits: &[Wait]) -> Names {
        let mut votes: BTreeMap<Loc, BTreeMap<String, i32>> = BTreeMap::new();
        let accesses = graph.events.iter().filter(|e| e.loc != Loc::NONE).map(|e| (e.loc, e.thread, e.idx));
        let waiting = waits.iter().filter_map(|wait| match wait.wants {
            Wants::Value { loc, .. } | Wants::Room(loc) => {
                Some((loc, wait.thread, graph.threads[usize::from(wait.thread)].len))
            }
            _ => None,
        });
        let accesses: Vec<(Loc, u8, u16)> = accesses.chain(waiting).collect();
        for &(loc, thread, idx) in &accesses {
            if let Some(name) = places.get(thread, idx).name {
                *votes.entry(loc).or_default().entry(name).or_default() += 1;
            }
        }
        let order: Vec<Loc> = accesses.iter().map(|(loc, ..)| *loc).collect();
        let (locks, parkers) = kinds(graph, places, waits);
        Names { names: named(&order, &votes), locks, parkers }
    }

    pub(super) fn get(&self, loc: Loc) -> &str {
        self.names.get(&loc).map_or("?", String::as_str)
    }

    pub(super) fn is_lock(&self, loc: Loc) -> bool {
        self.locks.contains(&loc)
    }

    pub(super) fn is_parker(&self, loc: Loc) -> bool {
        self.parkers.contains(&loc)
    }
}

/// Each has a name of its own: the one that most accesses use, else a letter.
fn named(order: &[Loc], votes: &BTreeMap<Loc, BTreeMap<String, i32>>) -> BTreeMap<Loc, String> {
    let mut names: BTreeMap<Loc, String> = BTreeMap::new();
    let mut letters = 0;
    for &loc in order {
        if names.contains_key(&loc) {
            continue;
        }
        let elected = votes.get(&loc).and_then(|votes| {
            let best = |(name, n): &(&String, &i32)| (**n, std::cmp::Reverse(name.len()));
            votes.iter().max_by_key(best).map(|(name, _)| name.clone())
        });
        let name = match loc {
            Loc::CLOCK => "clock".to_owned(),
            Loc::REFUSALS => "refusals".to_owned(),
            _ => elected.unwrap_or_else(|| {
                letters += 1;
                letter(letters - 1)
            }),
        };
        let is_taken = |name: &String| names.values().any(|other| other == name);
        let nth = |n: u32| if n == 1 { name.clone() } else { format!("{name}{}", below(n)) };
        let free = (1..).map(nth).find(|name| !is_taken(name)).unwrap_or_default();
        names.insert(loc, free);
    }
    names
}

/// `a` to `z`, then `a1` and so on.
fn letter(n: u32) -> String {
    let letter = char::from(b'a' + (n % 26) as u8);
    if n < 26 { letter.to_string() } else { format!("{letter}{}", n / 26) }
}

/// A number in small digits.
fn below(n: u32) -> String {
    let small = |digit: char| char::from_u32(u32::from('₀') + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit);
    n.to_string().chars().map(small).collect()
}

fn kinds(graph: &Graph, places: &Places, waits: &[Wait]) -> (BTreeSet<Loc>, BTreeSet<Loc>) {
    let (mut locks, mut parkers) = (BTreeSet::new(), BTreeSet::new());
    let mut waited = |loc: Loc, wanted: u64| match wanted {
        0 => locks.insert(loc),
        _ => parkers.insert(loc),
    };
    for event in &graph.events {
        match event.kind {
            Kind::Updating(Update::Await { wanted, .. }) => _ = waited(event.loc, wanted),
            Kind::Updating(Update::Swap(1)) if places.get(event.thread, event.idx).text.contains(".unpark(") => {
                waited(event.loc, 1);
            }
            _ => (),
        }
    }
    for wait in waits {
        if let Wants::Value { loc, value } = wait.wants {
            waited(loc, value);
        }
    }
    (locks, parkers)
}

/// An event in a few words. Both halves of an update are one.
pub(super) fn label(event: &Event, names: &Names, threads: &[String]) -> String {
    let (name, value, order) = (names.get(event.loc), number(event.value), strength(event.strength()));
    let thread = |n: u8| threads.get(usize::from(n)).map_or_else(|| format!("thread {n}"), String::clone);
    match event.kind {
        // The checker does not know the values of what is not atomic.
        Kind::Load if event.order == Order::Plain => format!("reads {name} plain"),
        Kind::Store if event.order == Order::Plain => format!("writes {name} plain"),
        Kind::Load => format!("{name} = {value} {order}"),
        Kind::Store => format!("{name} := {value} {order}"),
        Kind::Open => format!("opens {name}"),
        Kind::Updating(update) => updating(event, update, names),
        Kind::Updated => format!("{name} := {value}"),
        Kind::Fence => format!("F {order}"),
        Kind::Light => "F light".to_owned(),
        Kind::HeavyCall => "F heavy".to_owned(),
        Kind::HeavyReturn => "F heavy: returns".to_owned(),
        Kind::Fork(child) => format!("starts {}", thread(child)),
        Kind::Join(child) => format!("joins {}", thread(child)),
        Kind::Choice(n) => format!("chooses {value} of {n}"),
        Kind::Spurious if event.value == 1 => "wakes spuriously".to_owned(),
        Kind::Spurious => "wakes for a reason".to_owned(),
        Kind::Spin => "spins: waits for news".to_owned(),
        Kind::Yield => "yields".to_owned(),
        Kind::Alloc if event.rf == INIT => "allocates".to_owned(),
        Kind::Alloc => "allocates where a block was freed".to_owned(),
        Kind::Free => "frees".to_owned(),
    }
}

fn updating(event: &Event, update: Update, names: &Names) -> String {
    let (name, value, order) = (names.get(event.loc), number(event.value), strength(event.strength()));
    match (update, event.will_write()) {
        (Update::Await { .. }, Some(_)) if names.is_lock(event.loc) => format!("locks {name}"),
        (Update::Await { .. }, Some(_)) => format!("park {name}: woken"),
        (Update::Await { .. }, None) if names.is_lock(event.loc) => format!("waits for lock {name}"),
        (Update::Await { .. }, None) => format!("park {name}: waits"),
        (Update::Enter { waits: true, .. }, None) => format!("waits for {name}"),
        (Update::Swap(1), _) if names.is_parker(event.loc) => format!("unpark {name}: {value} → 1"),
        (_, Some(new)) => format!("{name}: {value} → {} {order}", number(new)),
        (Update::Exchange { current, .. }, None) => format!("{name} = {value}, not {} {order}", number(current)),
        (_, None) => format!("{name} = {value} {order}"),
    }
}

/// A value; an address as one writes addresses.
fn number(value: u64) -> String {
    if heap::is_address(value) { format!("{value:#x}") } else { value.to_string() }
}

/// An ordering in short.
pub(super) fn strength(order: Order) -> &'static str {
    match order {
        Order::Plain => "plain",
        Order::Relaxed => "rlx",
        Order::Acquire => "acq",
        Order::Release => "rel",
        Order::AcqRel => "acq-rel",
        Order::SeqCst => "sc",
    }
}

/// The number of an event in a circle, as far as there are such.
pub(super) fn circled(n: usize) -> String {
    let circle = |first: char, from: usize| char::from_u32(u32::from(first) + (n - from) as u32);
    let circle = match n {
        0 => Some('⓪'),
        1..=20 => circle('①', 1),
        21..=35 => circle('㉑', 21),
        36..=50 => circle('㊱', 36),
        _ => None,
    };
    circle.map_or_else(|| format!("({n})"), String::from)
}

/// The same numbers in brackets: few fonts have all the circles.
pub(super) fn uncircled(text: &str) -> String {
    let number = |c: char| match c {
        '⓪' => Some(0),
        '①'..='⑳' => Some(u32::from(c) - u32::from('①') + 1),
        '㉑'..='㉟' => Some(u32::from(c) - u32::from('㉑') + 21),
        '㊱'..='㊿' => Some(u32::from(c) - u32::from('㊱') + 36),
        _ => None,
    };
    text.chars().map(|c| number(c).map_or_else(|| c.to_string(), |n| format!("({n})"))).collect()
}

/// At most so many characters, `…` for the rest.
pub(super) fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}
