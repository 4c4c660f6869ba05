//! Bugs of other projects, each a card.

use crate::report::html::matrix::linked;
use crate::report::html::picture::Drawings;
use crate::report::html::text::{Code, Id, Safe, number};
use crate::report::html::words;
use spinpark_verification::record::{ExhibitRecord, Record};
use std::collections::HashSet;
use std::fmt::Write as _;

pub(super) fn write(out: &mut String, record: &Record, drawings: &mut Drawings) {
    out.push_str(
        "<section id=\"museum\" aria-labelledby=\"museum-h\">\n<h2 id=\"museum-h\">Museum</h2>\n\
         <p>Bugs that real schedulers and queues had. Each is made again by one change, in our kernel or in a small variant \
         of the code that had it, and a model must notice. How well a story is known stands at its foot: some are told as \
         others tell them.</p>\n<div class=\"cards\">\n",
    );
    let models: HashSet<&str> = record.runs.iter().map(|run| run.model.as_str()).collect();
    record.museum.iter().for_each(|exhibit| write_card(out, exhibit, &models, drawings));
    out.push_str("</div>\n</section>\n");
}

fn write_card(out: &mut String, exhibit: &ExhibitRecord, models: &HashSet<&str>, drawings: &mut Drawings) {
    let (id, name, fate) = (Id("exhibit", &exhibit.name), Safe(&exhibit.name), words::fate(exhibit.fate));
    let _ = write!(
        out,
        "<article class=\"card\" id=\"{id}\">\n<p class=\"eyebrow\">{} · {} · {}</p>\n\
         <h3><a href=\"#{id}\">{name}</a> <span class=\"chip {fate}\">{fate}</span></h3>\n<dl>\n",
        Safe(&exhibit.project),
        exhibit.year,
        issue(&exhibit.issue)
    );
    let parts = [
        ("What happened", &exhibit.people),
        ("Why", &exhibit.cause),
        ("What mended it", &exhibit.fix),
        ("Made again by", &exhibit.change),
    ];
    for (name, text) in parts {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", Code(text));
    }
    let _ = writeln!(out, "<div><dt>Caught by</dt><dd>{}</dd></div>\n</dl>", killer(exhibit, models));
    if let Some(failure) = &exhibit.failure {
        drawings.folded(out, failure, "The bug:", false);
    }
    let _ = writeln!(
        out,
        "<p class=\"known\">How well this is known: {}.</p>\n</article>",
        Code(exhibit.source.trim_end_matches('.'))
    );
}

/// As a link, if it is an address.
fn issue(issue: &str) -> String {
    let is_address = issue.starts_with("https://") && !issue.contains(char::is_whitespace);
    let safe = Safe(issue);
    if is_address {
        format!("<a href=\"{safe}\" rel=\"noreferrer\">{}</a>", Safe(short(issue)))
    } else {
        safe.to_string()
    }
}

fn short(address: &str) -> &str {
    let address = address.trim_start_matches("https://");
    address.strip_prefix("github.com/").unwrap_or(address)
}

fn killer(exhibit: &ExhibitRecord, models: &HashSet<&str>) -> String {
    let executions = number(exhibit.executions);
    let plural = if exhibit.executions == 1 { "" } else { "s" };
    match (&exhibit.model, exhibit.engine) {
        (Some(model), Some(engine)) => {
            format!("{} on {engine}, after {executions} execution{plural}", linked(model, models))
        }
        (Some(model), None) => format!("{}, after {executions} execution{plural}", linked(model, models)),
        (None, _) => format!("no model: {}", words::meaning_of_fate(exhibit.fate)),
    }
}
