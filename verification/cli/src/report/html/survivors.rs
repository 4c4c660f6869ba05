//! The mutants that no model killed: each with a reason, or as an open question.

use crate::report::html::matrix::place;
use crate::report::html::text::{Code, Id, Safe, count, paragraphs};
use crate::report::html::words;
use spinpark_verification::record::{Fate, MutantRecord, Record};
use std::fmt::Write as _;

pub(super) fn write(out: &mut String, record: &Record) {
    out.push_str(
        "<section id=\"survivors\" aria-labelledby=\"survivors-h\">\n<h2 id=\"survivors-h\">Surviving mutants, and why</h2>\n",
    );
    // The open questions first.
    let mut any = false;
    for fate in [Fate::Survived, Fate::Unreached, Fate::Argued] {
        let those: Vec<&MutantRecord> = record.mutants.iter().filter(|mutant| mutant.fate == fate).collect();
        if those.is_empty() {
            continue;
        }
        any = true;
        let (word, meaning) = (words::fate(fate), words::meaning_of_fate(fate));
        let _ = writeln!(out, "<h3>{} {word}</h3>\n<p>{meaning}</p>", count(those.len(), "mutant"));
        those.into_iter().for_each(|mutant| write_one(out, mutant));
    }
    if !any {
        out.push_str("<p>Nothing: every mutant was killed.</p>\n");
    }
    out.push_str("</section>\n");
}

fn write_one(out: &mut String, mutant: &MutantRecord) {
    let (id, back, fate) = (Id("lives", &mutant.name), Id("mutant", &mutant.name), words::fate(mutant.fate));
    let line = mutant.line.map(|line| format!(":{line}")).unwrap_or_default();
    let _ = write!(
        out,
        "<article class=\"lives\" id=\"{id}\">\n<h4><span class=\"chip {fate}\">{fate}</span> {} \
         <a class=\"where\" href=\"#{back}\"><code>{}{line}</code></a></h4>\n",
        Code(&mutant.what),
        Safe(place(mutant))
    );
    if !mutant.source.is_empty() {
        let _ = writeln!(out, "<pre class=\"source\">{}</pre>", Safe(&mutant.source));
    }
    let _ = writeln!(out, "{}</article>", mutant.reason.as_deref().map(paragraphs).unwrap_or_default());
}
