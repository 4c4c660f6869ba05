//! What was done, and what may be said after it.

use crate::report::html::rooms;
use crate::report::html::text::{self, Id, Safe, count, duration, number};
use crate::report::html::words::{self, FATES, SORTS, VERDICTS};
use spinpark_verification::engines::{Engine, Verdict};
use spinpark_verification::record::{Fate, Record, RunRecord};
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(super) fn write(out: &mut String, record: &Record) {
    out.push_str("<header id=\"top\" class=\"top\">\n");
    let _ = writeln!(out, "<p class=\"eyebrow\">spinpark {} · verification report</p>", Safe(&record.version));
    let _ = writeln!(out, "<h1>{}</h1>", headline(record));
    out.push_str(
        "<p class=\"lead\">spinpark’s kernel is checked in the very source that runs on real cores. Each \
         <em>model</em> plays a few threads through one part of it, a <em>room</em>; each <em>engine</em> explores the orders in which \
         that can go, as its memory model allows. And each <em>mutant</em>, the kernel with one mistake made on \
         purpose, must make a model fail: else the models would not notice the mistake either.</p>\n",
    );
    write_facts(out, record);
    out.push_str(
        "</header>\n<section id=\"totals\" aria-labelledby=\"totals-h\">\n<h2 id=\"totals-h\">In numbers</h2>\n",
    );
    write_failures(out, record);
    write_verdicts(out, record);
    write_fates(out, record);
    write_museum(out, record);
    out.push_str("</section>\n");
}

/// The sentence that a reader takes away. It claims no more than the numbers do.
fn headline(record: &Record) -> String {
    let failed = record.runs.iter().filter(|run| run.verdict == Verdict::Failed).count();
    let open = record.mutants.iter().filter(|mutant| mutant.fate.is_unexplained()).count();
    let loose = record.museum.iter().filter(|exhibit| exhibit.fate.is_unexplained()).count();
    let mut bad = Vec::new();
    if failed > 0 {
        bad.push(format!("{} of {} failed", number(failed as u64), count(record.runs.len(), "run")));
    }
    if open > 0 {
        bad.push(format!("{} not accounted for", count(open, "mutant")));
    }
    if loose > 0 {
        bad.push(format!("{} of the museum not caught", count(loose, "exhibit")));
    }
    if !bad.is_empty() {
        return format!("{}.", bad.join(", "));
    }
    let mut good = Vec::new();
    let Proofs { claims, under_rc11, .. } = Proofs::of(record);
    if claims > 0 {
        good.push(format!("{}: none refuted, {} proved under RC11.", count(claims, "claim"), number(under_rc11)));
    }
    if !record.mutants.is_empty() {
        let killed = record.mutants.iter().filter(|mutant| mutant.fate.is_killed()).count();
        let argued = record.mutants.len() - killed;
        let (killed, argued) = (number(killed as u64), number(argued as u64));
        good.push(format!("{}: {killed} killed, {argued} argued.", count(record.mutants.len(), "mutant")));
    }
    if good.is_empty() { "Nothing was run.".to_owned() } else { good.join(" ") }
}

/// Claims, each counted once, by the strongest that may be said.
struct Proofs {
    claims: usize,
    under_rc11: u64,
    /// Only under a memory model with fewer executions.
    under_others: u64,
    refuted: u64,
}

impl Proofs {
    fn of(record: &Record) -> Proofs {
        let mut proofs = Proofs { claims: 0, under_rc11: 0, under_others: 0, refuted: 0 };
        for model in rooms::of(record).iter().flat_map(|room| &room.models) {
            let has = |verdict: Verdict| model.iter().any(|run| run.verdict == verdict);
            let is_rc11 = model.iter().any(|run| run.verdict == Verdict::Proved && run.engine == Engine::Rc11);
            proofs.claims += 1;
            match (has(Verdict::Failed), is_rc11, has(Verdict::Proved)) {
                (true, ..) => proofs.refuted += 1,
                (_, true, _) => proofs.under_rc11 += 1,
                (.., true) => proofs.under_others += 1,
                _ => (),
            }
        }
        proofs
    }

    /// What a count of runs does not tell.
    fn sentence(&self) -> String {
        let rest = self.claims as u64 - self.under_rc11 - self.under_others - self.refuted;
        let (rc11, others, rest) = (number(self.under_rc11), number(self.under_others), number(rest));
        let refuted = if self.refuted == 0 { String::new() } else { format!("; {} refuted", number(self.refuted)) };
        format!(
            "Of the claims, {rc11} are proved under RC11, the weakest memory model of a complete engine; {others} \
             only under a stronger one; {rest} by no complete engine{refuted}."
        )
    }
}

fn write_facts(out: &mut String, record: &Record) {
    out.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", Safe(value));
    };
    fact("Version", &record.version);
    fact("Date", &record.date);
    fact("Machine", &record.machine);
    fact("Bounds", if record.deep { "deep: hours, where they are needed" } else { "usual: minutes in all" });
    match &record.shard {
        None => fact("Part", "the whole"),
        Some(shard) => fact("Part", &format!("shard {shard} only: the numbers here are not those of the whole")),
    }
    let of_runs: f64 = record.runs.iter().map(|run| run.seconds).sum();
    let of_mutants: f64 = record.mutants.iter().map(|mutant| mutant.seconds).sum();
    fact("Machine time", &format!("{} for claims, {} for mutants", duration(of_runs), duration(of_mutants)));
    out.push_str("</dl>\n");
}

fn write_failures(out: &mut String, record: &Record) {
    let failed: Vec<&RunRecord> = record.runs.iter().filter(|run| run.verdict == Verdict::Failed).collect();
    if failed.is_empty() {
        return;
    }
    out.push_str("<div class=\"alarm\">\n<h3>What failed</h3>\n<ul>\n");
    for run in failed {
        let message = run.failure.as_ref().map(|failure| failure.message.lines().next().unwrap_or_default());
        let (id, model, message) =
            (Id("model", &run.model), text::model(&run.model), Safe(message.unwrap_or("no reason given")));
        let _ = writeln!(out, "<li><a href=\"#{id}\"><code>{model}</code></a> on {}: {message}</li>", run.engine);
    }
    out.push_str("</ul>\n</div>\n");
}

fn write_verdicts(out: &mut String, record: &Record) {
    let proofs = Proofs::of(record);
    let (claims, runs) = (count(proofs.claims, "claim"), count(record.runs.len(), "run"));
    let _ = writeln!(out, "<h3>{claims}, {runs}</h3>\n<p>{}</p>", proofs.sentence());
    let of = |verdict: Verdict| record.runs.iter().filter(move |run| run.verdict == verdict).count();
    write_bar(out, &VERDICTS.map(|verdict| (words::verdict(verdict), of(verdict))));
    out.push_str(
        "<table class=\"legend\">\n<thead><tr><th scope=\"col\">verdict</th><th scope=\"col\" class=\"n\">runs</th>\
         <th scope=\"col\">which means</th></tr></thead>\n<tbody>\n",
    );
    for verdict in VERDICTS {
        let more = if verdict == Verdict::Proved { memory_models(record) } else { String::new() };
        let (class, word) = (words::verdict(verdict), words::loud(verdict));
        let (n, meaning, none) = (number(of(verdict) as u64), words::meaning(verdict), none(of(verdict)));
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><span class=\"chip {class}{none}\">{word}</span></th><td class=\"n\">{n}</td>\
             <td>{meaning}{more}</td></tr>"
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

/// Proved under what? A proof without that is none.
fn memory_models(record: &Record) -> String {
    let mut by_model: BTreeMap<&str, usize> = BTreeMap::new();
    for run in record.runs.iter().filter(|run| run.verdict == Verdict::Proved) {
        *by_model.entry(&run.memory_model).or_default() += 1;
    }
    let list: Vec<String> =
        by_model.iter().map(|(model, n)| format!("{} under {}", number(*n as u64), Safe(model))).collect();
    if list.is_empty() { String::new() } else { format!(" <span class=\"by\">Here: {}.</span>", list.join(", ")) }
}

fn write_fates(out: &mut String, record: &Record) {
    let _ = writeln!(out, "<h3>{}</h3>", count(record.mutants.len(), "mutant"));
    let of = |fate: Fate| record.mutants.iter().filter(move |mutant| mutant.fate == fate);
    write_bar(out, &FATES.map(|fate| (words::fate(fate), of(fate).count())));
    out.push_str("<div class=\"scroll\"><table class=\"legend fates\">\n<thead><tr><th scope=\"col\">fate</th>");
    for sort in SORTS {
        let (word, meaning) = (words::sort(sort), words::meaning_of_sort(sort));
        let _ = write!(out, "<th scope=\"col\" class=\"n\"><abbr title=\"{meaning}\">{word}</abbr></th>");
    }
    out.push_str("<th scope=\"col\" class=\"n\">all</th><th scope=\"col\">which means</th></tr></thead>\n<tbody>\n");
    for fate in FATES {
        let (word, none) = (words::fate(fate), none(of(fate).count()));
        let _ = write!(out, "<tr><th scope=\"row\"><span class=\"chip {word}{none}\">{word}</span></th>");
        for sort in SORTS {
            let n = of(fate).filter(|mutant| mutant.sort == sort).count();
            let _ = write!(out, "<td class=\"n\">{}</td>", number(n as u64));
        }
        let (all, meaning) = (number(of(fate).count() as u64), words::meaning_of_fate(fate));
        let _ = writeln!(out, "<td class=\"n\">{all}</td><td>{meaning}</td></tr>");
    }
    out.push_str("</tbody>\n</table></div>\n<p class=\"note\">");
    for (n, sort) in SORTS.into_iter().enumerate() {
        let (word, meaning) = (words::sort(sort), words::meaning_of_sort(sort));
        let _ = write!(out, "{}<b>{word}</b>: {meaning}", if n == 0 { "" } else { "; " });
    }
    out.push_str(".</p>\n");
}

fn write_museum(out: &mut String, record: &Record) {
    let killed = record.museum.iter().filter(|exhibit| exhibit.fate == Fate::Killed).count();
    let all = count(record.museum.len(), "bug");
    let _ = writeln!(
        out,
        "<h3>The museum</h3>\n<p>{all} that other schedulers and queues had, made again: {} caught. \
         <a href=\"#museum\">See them</a>.</p>",
        number(killed as u64)
    );
}

/// What is not there must not alarm the reader.
const fn none(n: usize) -> &'static str {
    if n == 0 { " none" } else { "" }
}

/// How much of all each part is; the numbers stand in the table below it.
fn write_bar(out: &mut String, parts: &[(&str, usize)]) {
    if parts.iter().all(|(_, n)| *n == 0) {
        return;
    }
    out.push_str("<div class=\"bar\" aria-hidden=\"true\">");
    for (class, n) in parts.iter().filter(|(_, n)| *n > 0) {
        let _ = write!(out, "<i class=\"{class}\" style=\"flex-grow:{n}\"></i>");
    }
    out.push_str("</div>\n");
}
