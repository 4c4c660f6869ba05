//! Every mutant at its line of the kernel, and what came of it.

use crate::report::html::picture::Drawings;
use crate::report::html::text::{self, Code, Id, Safe, count, duration, number};
use crate::report::html::words::{self, FATES, SORTS};
use spinpark_verification::record::{Fate, MutantRecord, Record};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

/// The mutants of a file, by line.
type File<'a> = BTreeMap<(Option<u32>, &'a str), Vec<&'a MutantRecord>>;

/// A file of the kernel; or a room, of variants that are in no file. The kernel comes first.
type Name<'a> = (bool, &'a str);

fn files(record: &Record) -> BTreeMap<Name<'_>, File<'_>> {
    let mut files: BTreeMap<Name<'_>, File<'_>> = BTreeMap::new();
    for mutant in &record.mutants {
        files
            .entry((mutant.file.is_empty(), place(mutant)))
            .or_default()
            .entry((mutant.line, &mutant.source))
            .or_default()
            .push(mutant);
    }
    files
}

pub(super) fn place(mutant: &MutantRecord) -> &str {
    if mutant.file.is_empty() { &mutant.room } else { &mutant.file }
}

pub(super) fn write(out: &mut String, record: &Record) {
    out.push_str(
        "<section id=\"matrix\" aria-labelledby=\"matrix-h\" data-scope>\n<h2 id=\"matrix-h\">Kill matrix</h2>\n\
         <p>Every mistake that was made on purpose, at its line of the kernel, and the model that noticed. \
         A cell is a mutant.</p>\n",
    );
    let files = files(record);
    write_strips(out, &files);
    write_filter(out, record);
    let models: HashSet<&str> = record.runs.iter().map(|run| run.model.as_str()).collect();
    files.iter().for_each(|(name, file)| write_file(out, *name, file, &models));
    out.push_str("</section>\n");
}

fn mutants<'a>(file: &'a File<'_>) -> impl Iterator<Item = &'a MutantRecord> {
    file.values().flatten().copied()
}

fn id((is_room, name): Name<'_>) -> Id<'_> {
    Id(if is_room { "variants" } else { "file" }, name)
}

/// In words, for a heading.
fn heading((is_room, name): Name<'_>) -> String {
    let of = if is_room { "variants of " } else { "" };
    format!("{of}<code>{}</code>", Safe(name))
}

/// `3 killed · 1 argued`.
fn tally(file: &File<'_>) -> String {
    let of = |fate: Fate| mutants(file).filter(|mutant| mutant.fate == fate).count();
    let parts = FATES.into_iter().filter(|&fate| of(fate) > 0);
    let parts: Vec<String> = parts.map(|fate| format!("{} {}", number(of(fate) as u64), words::fate(fate))).collect();
    parts.join(" · ")
}

/// A cell each. The numbers stand beside, for readers who cannot see the cells.
fn write_strips(out: &mut String, files: &BTreeMap<Name<'_>, File<'_>>) {
    out.push_str("<p class=\"key\" aria-hidden=\"true\">");
    for fate in FATES {
        let word = words::fate(fate);
        let _ = write!(out, "<span><i class=\"cell {word}\"></i> {word}</span> ");
    }
    out.push_str("</p>\n<dl class=\"strips\">\n");
    for (name, file) in files {
        let (id, name) = (id(*name), heading(*name));
        let _ = write!(out, "<div><dt><a href=\"#{id}\">{name}</a></dt><dd class=\"tally\">{}</dd>", tally(file));
        out.push_str("<dd class=\"strip\" aria-hidden=\"true\">");
        for mutant in mutants(file) {
            let word = words::fate(mutant.fate);
            let line = mutant.line.map(|line| format!("{line}: ")).unwrap_or_default();
            let (id, what) = (Id("mutant", &mutant.name), Safe(&mutant.what));
            let _ = write!(
                out,
                "<a tabindex=\"-1\" class=\"cell {word}\" href=\"#{id}\" title=\"{line}{what}, {word}\"></a>"
            );
        }
        out.push_str("</dd></div>\n");
    }
    out.push_str("</dl>\n");
}

fn write_filter(out: &mut String, record: &Record) {
    out.push_str(
        "<form class=\"filter\" hidden>\n<label>Find <input type=\"search\" data-text placeholder=\"line, \
         mutation, model\"></label>\n",
    );
    let fates = FATES.map(words::fate);
    let sorts = SORTS.map(words::sort);
    let rooms: BTreeSet<&str> = record.mutants.iter().map(|mutant| mutant.room.as_str()).collect();
    write_select(out, "Fate", "fate", fates);
    write_select(out, "Sort", "sort", sorts);
    write_select(out, "Room", "room", rooms);
    out.push_str(
        "<button type=\"button\" data-fold=\"open\">Unfold all</button>\n\
         <button type=\"button\" data-fold=\"shut\">Fold all</button>\n<output></output>\n</form>\n",
    );
}

fn write_select<'a>(out: &mut String, label: &str, key: &str, values: impl IntoIterator<Item = &'a str>) {
    let _ = write!(out, "<label>{label} <select data-key=\"{key}\"><option value=\"\">any</option>");
    for value in values {
        let value = Safe(value);
        let _ = write!(out, "<option value=\"{value}\">{value}</option>");
    }
    out.push_str("</select></label>\n");
}

fn write_file(out: &mut String, name: Name<'_>, file: &File<'_>, models: &HashSet<&str>) {
    let (id, name) = (id(name), heading(name));
    let _ = writeln!(
        out,
        "<details class=\"file\" data-group>\n<summary><h3 id=\"{id}\">{name} <small>{}: {}</small></h3></summary>",
        count(mutants(file).count(), "mutant"),
        tally(file)
    );
    out.push_str(
        "<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr><th scope=\"col\">mistake</th><th \
         scope=\"col\">sort</th>\
         <th scope=\"col\">fate</th><th scope=\"col\">killed by</th><th scope=\"col\">on</th>\
         <th scope=\"col\" class=\"n\">executions</th><th scope=\"col\" class=\"n\">time</th></tr></thead>\n",
    );
    for ((line, source), mutants) in file {
        out.push_str("<tbody data-group>\n");
        write_line(out, *line, source);
        mutants.iter().for_each(|mutant| write_mutant(out, mutant, models));
        out.push_str("</tbody>\n");
    }
    out.push_str("</table></div>\n</details>\n");
}

fn write_line(out: &mut String, line: Option<u32>, source: &str) {
    if line.is_none() && source.is_empty() {
        return;
    }
    let line = line.map(|line| line.to_string()).unwrap_or_default();
    let _ = writeln!(
        out,
        "<tr class=\"line\"><th scope=\"rowgroup\" colspan=\"7\"><span class=\"at\">{line}</span><code>{}</code></th>\
         </tr>",
        Safe(source)
    );
}

fn write_mutant(out: &mut String, mutant: &MutantRecord, models: &HashSet<&str>) {
    let MutantRecord { name, room, what, executions, seconds, .. } = mutant;
    let (id, fate, sort) = (Id("mutant", name), words::fate(mutant.fate), words::sort(mutant.sort));
    let _ = writeln!(
        out,
        "<tr id=\"{id}\" data-item data-fate=\"{fate}\" data-sort=\"{sort}\" data-room=\"{}\"><td class=\"what\">{}\
         </td>\
         <td>{sort}</td><td><span class=\"chip {fate}\">{fate}</span></td><td>{}</td><td>{}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
        Safe(room),
        Code(what),
        killer(mutant, models),
        mutant.engine.map(|engine| format!("<code>{engine}</code>")).unwrap_or_default(),
        number(*executions),
        duration(*seconds),
    );
}

fn killer(mutant: &MutantRecord, models: &HashSet<&str>) -> String {
    let id = Id("drawn", &mutant.name);
    let picture = mutant.failure.is_some().then(|| format!(" <a class=\"see\" href=\"#{id}\">picture</a>"));
    let model = mutant.model.as_deref().map(|model| linked(model, models));
    let lives = Id("lives", &mutant.name);
    let why = (!mutant.fate.is_killed()).then(|| format!("<a class=\"see\" href=\"#{lives}\">see why</a>"));
    [model, picture, why].into_iter().flatten().collect()
}

/// A model's name, and the way to its claim if that was looked at too.
pub(super) fn linked(model: &str, models: &HashSet<&str>) -> String {
    let (id, name) = (Id("model", model), text::model(model));
    if models.contains(model) {
        format!("<a href=\"#{id}\"><code>{name}</code></a>")
    } else {
        format!("<code>{name}</code>")
    }
}

/// What killed them, drawn.
pub(super) fn write_pictures(out: &mut String, record: &Record, drawings: &mut Drawings) {
    out.push_str(
        "<section id=\"counterexamples\" aria-labelledby=\"counterexamples-h\">\n\
         <h2 id=\"counterexamples-h\">Counterexamples</h2>\n\
         <p>For each mutant that was killed, the execution that did it: the threads side by side, from top to bottom, \
         and as a graph where the engine has one. Those of failed runs stand with their claims, those of the museum \
         there.</p>\n",
    );
    for (name, file) in files(record) {
        let drawn: Vec<&MutantRecord> = mutants(&file).filter(|mutant| mutant.failure.is_some()).collect();
        if drawn.is_empty() {
            continue;
        }
        let _ = writeln!(out, "<h3>{}</h3>", heading(name));
        for (mutant, failure) in drawn.into_iter().filter_map(|mutant| Some((mutant, mutant.failure.as_ref()?))) {
            let (id, back) = (Id("drawn", &mutant.name), Id("mutant", &mutant.name));
            let line = mutant.line.map(|line| format!("{line}: ")).unwrap_or_default();
            let _ = write!(out, "<div class=\"drawn\" id=\"{id}\">");
            drawings.folded(out, failure, &format!("{line}{}.", Safe(&mutant.what)), false);
            let _ = writeln!(out, "<p class=\"back\"><a href=\"#{back}\">{}</a></p></div>", Safe(&mutant.name));
        }
    }
    out.push_str("</section>\n");
}
