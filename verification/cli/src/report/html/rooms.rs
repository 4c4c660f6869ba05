//! Each room's claims, and what each engine says of them.

use crate::report::html::picture::Drawings;
use crate::report::html::text::{self, Code, Id, Safe, count, duration, number};
use crate::report::html::words::{self, VERDICTS};
use spinpark_verification::engines::Verdict;
use spinpark_verification::record::{Record, RunRecord};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Not more outcomes are shown than a reader reads.
const OUTCOMES: usize = 40;

pub(super) struct Room<'a> {
    pub(crate) name: &'a str,
    pub(crate) models: Vec<Vec<&'a RunRecord>>,
}

impl<'a> Room<'a> {
    pub(super) fn runs(&self) -> impl Iterator<Item = &'a RunRecord> {
        self.models.iter().flatten().copied()
    }
}

/// The rooms, and in each its models, in the record's order.
pub(super) fn of(record: &Record) -> Vec<Room<'_>> {
    let mut rooms: Vec<Room<'_>> = Vec::new();
    let mut places = HashMap::new();
    for run in &record.runs {
        let at = *places.entry((run.room.as_str(), "")).or_insert_with(|| {
            rooms.push(Room { name: &run.room, models: Vec::new() });
            rooms.len() - 1
        });
        let models = &mut rooms[at].models;
        let model = *places.entry((run.room.as_str(), run.model.as_str())).or_insert_with(|| {
            models.push(Vec::new());
            models.len() - 1
        });
        models[model].push(run);
    }
    rooms
}

pub(super) fn write(out: &mut String, record: &Record, drawings: &mut Drawings) {
    out.push_str(
        "<section id=\"rooms\" aria-labelledby=\"rooms-h\" data-scope>\n<h2 id=\"rooms-h\">Rooms</h2>\n\
         <p>Unfold a claim to see each engine’s run. A claim is bounded by its model’s size; \
         “invariants” are the specification’s, by number.</p>\n",
    );
    write_filter(out);
    of(record).iter().for_each(|room| write_room(out, room, drawings));
    out.push_str("</section>\n");
}

fn write_filter(out: &mut String) {
    out.push_str(
        "<form class=\"filter\" hidden>\n<label>Find <input type=\"search\" data-text placeholder=\"claim \
         or model\"></label>\n",
    );
    out.push_str("<label>Verdict <select data-key=\"verdicts\"><option value=\"\">any</option>");
    for verdict in VERDICTS {
        let _ = write!(out, "<option>{}</option>", words::verdict(verdict));
    }
    out.push_str(
        "</select></label>\n<button type=\"button\" data-fold=\"open\">Unfold all</button>\n\
         <button type=\"button\" data-fold=\"shut\">Fold all</button>\n<output></output>\n</form>\n",
    );
}

fn write_room(out: &mut String, room: &Room<'_>, drawings: &mut Drawings) {
    let (id, name) = (Id("room", room.name), Safe(room.name));
    let _ = write!(out, "<section class=\"room\" data-group>\n<h3 id=\"{id}\"><a href=\"#{id}\">{name}</a>");
    let _ = writeln!(out, " <small>{}{}</small></h3>", count(room.models.len(), "claim"), tally(room));
    room.models.iter().for_each(|runs| write_model(out, runs, drawings));
    out.push_str("</section>\n");
}

/// ` · 3 proved · 1 sampled`.
fn tally(room: &Room<'_>) -> String {
    let of = |verdict: Verdict| room.runs().filter(|run| run.verdict == verdict).count();
    let parts = VERDICTS.into_iter().filter(|&verdict| of(verdict) > 0);
    parts.map(|verdict| format!(" · {} {}", number(of(verdict) as u64), words::loud(verdict))).collect()
}

fn write_model(out: &mut String, runs: &[&RunRecord], drawings: &mut Drawings) {
    let Some(model) = runs.first() else { return };
    let has_failed = runs.iter().any(|run| run.verdict == Verdict::Failed);
    let open = if has_failed { " open" } else { "" };
    let verdicts: Vec<&str> = runs.iter().map(|run| words::verdict(run.verdict)).collect();
    let (id, verdicts) = (Id("model", &model.model), verdicts.join(" "));
    let _ = writeln!(out, "<details class=\"model\" id=\"{id}\" data-item data-verdicts=\"{verdicts}\"{open}>");
    let _ = write!(
        out,
        "<summary><span class=\"claim\">{}</span>\n<code class=\"name\">{}</code>",
        Code(&model.claim),
        text::model(&model.model)
    );
    out.push_str("<span class=\"chips\">");
    for run in runs {
        let (class, word) = (words::verdict(run.verdict), words::loud(run.verdict));
        let _ = write!(out, "<span class=\"chip {class}\"><b>{}</b> {word}</span> ", run.engine);
    }
    out.push_str("</span></summary>\n<div class=\"body\">\n");
    write_size(out, model);
    write_runs(out, runs);
    write_outcomes(out, runs);
    for (run, failure) in runs.iter().filter_map(|run| Some((run, run.failure.as_ref()?))) {
        drawings.folded(out, failure, &format!("What {} found:", run.engine), true);
    }
    out.push_str("</div>\n</details>\n");
}

fn write_size(out: &mut String, model: &RunRecord) {
    let _ = write!(out, "<p class=\"size\">Size: {}.", Code(&model.size));
    if !model.invariants.is_empty() {
        let list: Vec<String> = model.invariants.iter().map(u8::to_string).collect();
        let what = if list.len() == 1 { "Invariant" } else { "Invariants" };
        let _ = write!(out, " {what}: {}.", list.join(", "));
    }
    out.push_str("</p>\n");
}

fn write_runs(out: &mut String, runs: &[&RunRecord]) {
    out.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">engine</th><th scope=\"col\">memory</th>\
         <th scope=\"col\">verdict</th><th scope=\"col\" class=\"n\">executions</th>\
         <th scope=\"col\" class=\"n\"><abbr title=\"given up because they only repeat others\">redundant</abbr></th>\
         <th scope=\"col\" class=\"n\">outcomes</th><th scope=\"col\">bounds</th><th scope=\"col\" class=\"n\">time\
         </th></tr></thead>\n<tbody>\n",
    );
    for run in runs {
        let (class, word) = (words::verdict(run.verdict), words::loud(run.verdict));
        let seed = run.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td><span class=\"chip {class}\">{word}</span></td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}{seed}</td><td class=\"n\">{}\
             </td></tr>",
            run.engine,
            Safe(&run.memory_model),
            number(run.executions),
            number(run.redundant),
            number(run.outcomes.len() as u64),
            bounds(run),
            duration(run.seconds),
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}

/// A bound on time counts only if it was what ended the run.
fn bounds(run: &RunRecord) -> String {
    let mut all: Vec<String> = Some(run.bounds.to_string()).filter(|parts| parts != "none").into_iter().collect();
    if run.verdict == Verdict::Bounded && (all.is_empty() || run.seconds >= run.bounds.seconds) {
        all.push(format!("≤{}", duration(run.bounds.seconds)));
    }
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// Which engine reached which outcome: what one misses is seen at once.
fn write_outcomes(out: &mut String, runs: &[&RunRecord]) {
    let mut all: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (column, run) in runs.iter().enumerate() {
        for (outcome, times) in &run.outcomes {
            all.entry(outcome).or_insert_with(|| vec![0; runs.len()])[column] = *times;
        }
    }
    if all.is_empty() {
        return;
    }
    out.push_str(
        "<div class=\"scroll\"><table class=\"outcomes\">\n<thead><tr><th scope=\"col\">executions that ended in</th>",
    );
    for run in runs {
        let _ = write!(out, "<th scope=\"col\" class=\"n\">{}</th>", run.engine);
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (outcome, times) in all.iter().take(OUTCOMES) {
        let _ = write!(out, "<tr><th scope=\"row\"><code>{}</code></th>", Safe(outcome));
        for &n in times {
            let n = if n == 0 { "–".to_owned() } else { number(n) };
            let _ = write!(out, "<td class=\"n\">{n}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    if all.len() > OUTCOMES {
        let more = count(all.len() - OUTCOMES, "outcome");
        let _ = writeln!(out, "<p class=\"note\">And {more} more, which the record has.</p>");
    }
}
