//! The page around the report: its head, what it has, and how it looks.

use crate::every_size;
use crate::report::html::rooms::{self, Room};
use crate::report::html::text::{Id, Safe, number};
use spinpark_verification::engines::Verdict;
use spinpark_verification::record::{Fate, Record};
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing may be fetched: a report is the same wherever it is read.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(super) fn framed(record: &Record, main: &str) -> String {
    let (version, date) = (Safe(&record.version), Safe(&record.date));
    let mut out = String::with_capacity(main.len() + STYLE.len() + SCRIPT.len() + 16_384);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>spinpark {version}: verification report of {date}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#report\">To the report</a>\n\
         <div class=\"page\">\n"
    );
    write_contents(&mut out, record);
    let _ = write!(out, "<main id=\"report\">\n{main}");
    let _ = write!(
        out,
        "<footer><p>spinpark {version}, {date}. Made by <code>cargo verify</code>; a run of the same version, seeds \
         and bounds finds the same. The counts of what a time limit cut off differ from machine to machine.</p></footer>\n\
         </main>\n</div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    );
    out
}

fn write_contents(out: &mut String, record: &Record) {
    out.push_str(
        "<nav class=\"contents\" aria-label=\"Contents\">\n<p class=\"mark\"><a href=\"#top\">spinpark</a></p>\n<ul>\n",
    );
    out.push_str("<li><a href=\"#top\">Summary</a></li>\n<li><a href=\"#rooms\">Rooms</a>\n<ul>\n");
    rooms::of(record).iter().for_each(|room| write_room(out, room));
    out.push_str("</ul></li>\n");
    write_entry(out, "every-size", "For every size", every_size::proved().len(), 0);
    let lives = |fate: Fate| record.mutants.iter().filter(|mutant| mutant.fate == fate).count();
    let open = lives(Fate::Survived) + lives(Fate::Unreached);
    write_entry(out, "matrix", "Kill matrix", record.mutants.len(), 0);
    write_entry(out, "survivors", "Survivors", lives(Fate::Argued) + open, open);
    let not_killed = record.museum.iter().filter(|exhibit| exhibit.fate != Fate::Killed).count();
    write_entry(out, "museum", "Museum", record.museum.len(), not_killed);
    let drawn = record.mutants.iter().filter(|mutant| mutant.failure.is_some()).count();
    write_entry(out, "counterexamples", "Counterexamples", drawn, 0);
    out.push_str("</ul>\n</nav>\n");
}

fn write_entry(out: &mut String, id: &str, name: &str, count: usize, bad: usize) {
    let (count, bad) = (number(count as u64), sign(bad));
    let _ = writeln!(out, "<li><a href=\"#{id}\">{name} <span class=\"count\">{count}</span>{bad}</a></li>");
}

fn write_room(out: &mut String, room: &Room<'_>) {
    let bad = sign(room.runs().filter(|run| run.verdict == Verdict::Failed).count());
    let (id, name, count) = (Id("room", room.name), Safe(room.name), room.models.len());
    let _ = writeln!(out, "<li><a href=\"#{id}\">{name} <span class=\"count\">{count}</span>{bad}</a></li>");
}

fn sign(bad: usize) -> String {
    if bad == 0 { String::new() } else { format!(" <b class=\"bad\">✗ {bad}</b>") }
}
