//! Small programs whose pictures are known.

use crate::engine::{Config, Counterexample, Lock, Parker, PlainCell, Played, Word, explore, fence, fork, watch};
use crate::graph::{Graph, Kind};
use crate::picture::Picture;
use crate::picture::cycle::{Edge, Rel, shortest};
use crate::verdict::{Failure, Why};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

/// No source: these pictures do not change with the lines of this file.
fn picture(program: fn() -> String) -> (Picture, Counterexample) {
    let found = explore(&Config::default(), program, |_| ()).failure.expect("a counterexample");
    let played = watch(found.graph.clone(), program);
    (Picture::of("a title", &found, &Played { sites: Vec::new(), ..played }, &|_, _| None), found)
}

/// What two threads read that each write one word and then read the other.
fn store_buffering(first_has_fence: bool) -> (u64, u64) {
    let words = Arc::new((Word::new(0), Word::new(0)));
    let theirs = Arc::clone(&words);
    let other = fork("other", move || {
        theirs.1.store(1, Relaxed);
        theirs.0.load(Relaxed)
    });
    words.0.store(1, Relaxed);
    if first_has_fence {
        fence(SeqCst);
    }
    let read = words.1.load(Relaxed);
    (read, other.join())
}

fn both_old() -> String {
    assert_ne!(store_buffering(false), (0, 0));
    String::new()
}

fn both_old_with_one_fence() -> String {
    assert_ne!(store_buffering(true), (0, 0));
    String::new()
}

fn both_new() -> String {
    assert!(store_buffering(false) != (1, 1), "both \"new\" <&>");
    String::new()
}

fn message_passing() -> String {
    let words = Arc::new((Word::new(0), Word::new(0)));
    let theirs = Arc::clone(&words);
    let _other = fork("other", move || {
        theirs.0.swap(7, AcqRel);
        theirs.1.store(1, Relaxed);
    });
    assert!(words.1.load(Acquire) == 0 || words.0.load(Relaxed) == 7);
    String::new()
}

fn race() -> String {
    let cell = Arc::new(PlainCell::new(0));
    let theirs = Arc::clone(&cell);
    let other = fork("other with a name that is much longer than a column of anything can be", move || theirs.set(1));
    let _ = cell.get();
    other.join();
    String::new()
}

fn deadlock() -> String {
    let shared = Arc::new((Lock::new(()), Parker::new()));
    let theirs = Arc::clone(&shared);
    let _other = fork("other", move || theirs.0.with(|()| theirs.1.unpark()));
    shared.0.with(|()| shared.1.park());
    String::new()
}

fn at_once() -> String {
    panic!("at once")
}

const ALL: [fn() -> String; 7] =
    [both_old, both_old_with_one_fence, both_new, message_passing, race, deadlock, at_once];

#[test]
fn store_buffering_is_a_cycle_and_two_fences_are_missing() {
    let (picture, _) = picture(both_old);
    let kinds: Vec<Rel> = picture.cycle.iter().map(|edge| edge.rel).collect();
    assert_eq!(kinds, [Rel::Sb, Rel::Rb, Rel::Sb, Rel::Rb]);
    assert_eq!(picture.missing.len(), 2);
}

#[test]
fn a_fence_on_one_side_is_not_missed_and_told_to_be_too_little() {
    let (picture, _) = picture(both_old_with_one_fence);
    assert_eq!(picture.missing.len(), 1);
    assert!(picture.notes.iter().any(|note| note.contains("alone it forbids nothing")));
}

#[test]
fn an_execution_of_sequential_consistency_has_no_cycle_and_no_stale_reads() {
    let (picture, _) = picture(both_new);
    assert!(!picture.has_cycle());
    assert!(picture.nodes.iter().all(|node| node.stale.is_none()));
    assert!(picture.notes[0].contains("no cycle"));
}

#[test]
fn what_does_not_synchronise_is_told() {
    let (picture, _) = picture(message_passing);
    assert!(picture.notes.iter().any(|note| note.ends_with("the write does not release")), "{:?}", picture.notes);
}

#[test]
fn the_columns_of_a_known_execution() {
    let expected = "\
a title
assertion `left != right` failed
  left: (0, 0)
 right: (0, 0)

     main         │ other              │
     ─────────────┼────────────────────┤
   ① starts other │                    │
  *② a := 1 rlx   │                    │
  *③ b = 0 rlx ←⓪ │                    │
  *④              │ b := 1 rlx         │
  *⑤              │ a = 0 rlx ←⓪ stale │
   ⑥ joins other  │                    │
   * panics       │                    │
     ←⓪: what it was made with

⑤ reads the old value of a: ② is newer, and nothing orders it before
② sb ③ rb ④ sb ⑤ rb ②: a cycle, so no order of all events explains what was read
② writes a, and then ③ reads b, with no SeqCst fence between: the read may be done before another thread sees the write (StoreLoad)
④ writes b, and then ⑤ reads a, with no SeqCst fence between: the read may be done before another thread sees the write (StoreLoad)
";
    assert_eq!(picture(both_old).0.columns(), expected);
}

#[test]
fn rows_go_with_program_order_and_with_what_is_read() {
    for program in ALL {
        let (picture, _) = picture(program);
        for edge in picture.edges.iter().filter(|edge| !matches!(edge.rel, Rel::Mo | Rel::Rb)) {
            assert!(edge.from < edge.to, "{}", picture.columns());
        }
    }
}

#[test]
fn drawings_are_well_formed_and_show_every_event_once() {
    for program in ALL {
        let (mut picture, found) = picture(program);
        picture.title = "<title> & \"others\"\u{1}".repeat(30);
        let svg = picture.svg();
        assert_balanced(&svg);
        let events = found.graph.events.iter().filter(|event| event.kind != Kind::Updated).count();
        assert_eq!(svg.matches("<g id=").count(), events);
        for n in 1..=events {
            assert_eq!(svg.matches(&format!("<g id=\"e{n}\">")).count(), 1);
        }
    }
}

#[test]
fn a_graph_of_nothing_has_a_picture() {
    let failure = Failure { why: Why::TooManyEvents(0), thread: 0 };
    let found = Counterexample { failure, graph: Graph::new(0) };
    let picture = Picture::of("", &found, &Played::default(), &|_, _| None);
    assert_balanced(&picture.svg());
    assert!(picture.columns().contains("more than 0 events"));
}

#[test]
fn the_shortest_cycle_has_the_fewest_steps_between_threads() {
    let edge = |from, to, rel| Edge { from, to, rel };
    let long = [edge(0, 1, Rel::Rf), edge(1, 2, Rel::Rb), edge(2, 0, Rel::Rb)];
    let short = [edge(3, 4, Rel::Sb), edge(4, 5, Rel::Sb), edge(5, 0, Rel::Rb), edge(0, 3, Rel::Rf)];
    let cycle = shortest(6, &[&long[..], &short[..]].concat()).expect("a cycle");
    assert_eq!(cycle, [edge(3, 5, Rel::Sb), edge(5, 0, Rel::Rb), edge(0, 3, Rel::Rf)]);
    assert_eq!(shortest(6, &short[..3]), None);
}

/// Every tag that is opened is closed, in the right order, and no text has a sign that is not one of a tag.
fn assert_balanced(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find('<') {
        assert_is_text(&rest[..at]);
        let end = rest.find('>').expect("the end of a tag");
        let tag = &rest[at + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (false, false) => open.push(name),
            (false, true) => (),
        }
        rest = &rest[end + 1..];
    }
    assert_is_text(rest);
    assert_eq!(open, [""; 0]);
}

fn assert_is_text(text: &str) {
    assert!(!text.contains('>') && !text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
    for (at, _) in text.match_indices('&') {
        let is_entity =
            ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].iter().any(|entity| text[at..].starts_with(entity));
        assert!(is_entity, "{text}");
    }
}
