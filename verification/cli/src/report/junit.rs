//! A record as JUnit XML, which continuous integration reads and shows: GitHub's actions, GitLab, Jenkins.
//!
//! A suite is a room's runs, the mutants of a sort, or the museum. A run that failed is a failure; so is a mutant that
//! survived or that no model came by, and an exhibit that was not killed. A survivor that is argued passes, with its
//! reason as output.

use spinpark_verification::engines::{Engine, Verdict};
use spinpark_verification::record::{ExhibitRecord, Fate, MutantRecord, Picture, Record, RunRecord, Sort};
use std::fmt::Write as _;

/// The record as a JUnit file.
pub(crate) fn junit(record: &Record) -> String {
    let suites = suites(record);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let cases = || suites.iter().flat_map(|suite| &suite.cases);
    let (tests, failures) = (cases().count(), cases().filter(|case| case.failure.is_some()).count());
    let seconds: f64 = cases().map(|case| case.seconds).sum();
    let name = xml(&format!("spinpark {}", record.version));
    let _ = writeln!(
        out,
        "<testsuites name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{seconds:.3}\">"
    );
    suites.iter().for_each(|suite| suite.write(&mut out, record));
    out.push_str("</testsuites>\n");
    out
}

struct Suite {
    name: String,
    cases: Vec<Case>,
}

struct Case {
    class: String,
    name: String,
    seconds: f64,
    properties: Vec<(&'static str, String)>,
    failure: Option<Failed>,
    output: String,
}

struct Failed {
    /// What sort of failure, in a word.
    what: &'static str,
    message: String,
    text: String,
}

fn suites(record: &Record) -> Vec<Suite> {
    let mut suites: Vec<Suite> = Vec::new();
    let mut add = |name: String, case: Case| match suites.iter_mut().find(|suite| suite.name == name) {
        Some(suite) => suite.cases.push(case),
        None => suites.push(Suite { name, cases: vec![case] }),
    };
    record.runs.iter().for_each(|run| add(format!("room: {}", run.room), of_run(run)));
    record.mutants.iter().for_each(|mutant| add(format!("mutants: {}", of_sort(mutant.sort)), of_mutant(mutant)));
    record.museum.iter().for_each(|exhibit| add("museum".to_owned(), of_exhibit(exhibit)));
    suites
}

const fn of_sort(sort: Sort) -> &'static str {
    match sort {
        Sort::Variant => "variants",
        Sort::Ordering => "orderings",
        Sort::Step => "steps",
        Sort::Pair => "pairs",
    }
}

fn of_run(run: &RunRecord) -> Case {
    let mut properties = vec![
        ("engine", run.engine.to_string()),
        ("memory_model", run.memory_model.clone()),
        ("verdict", run.verdict.to_string()),
        ("bounds", run.bounds.to_string()),
        ("executions", run.executions.to_string()),
        ("size", run.size.clone()),
    ];
    properties.extend(run.seed.map(|seed| ("seed", seed.to_string())));
    let failure = (run.verdict == Verdict::Failed).then(|| {
        let nothing = || format!("does not hold on {}", run.engine);
        failed("FAILED", run.failure.as_ref(), nothing, &format!("{}\n", run.claim))
    });
    let property = run.model.split_once("::").map_or(run.model.as_str(), |(_, rest)| rest);
    Case {
        class: run.room.clone(),
        name: format!("{property} [{}]", run.engine),
        seconds: run.seconds,
        properties,
        failure,
        output: String::new(),
    }
}

fn of_mutant(mutant: &MutantRecord) -> Case {
    let place = match mutant.line {
        Some(line) => format!("{}:{line}", mutant.file),
        None => mutant.file.clone(),
    };
    let failure = unless_killed(mutant.fate, &format!("{}\n{place}  {}\n", mutant.what, mutant.source));
    Case {
        class: format!("mutants.{}.{}", of_sort(mutant.sort), mutant.room),
        name: mutant.name.clone(),
        seconds: mutant.seconds,
        properties: of_death(mutant.fate, mutant.model.as_deref(), mutant.engine, mutant.executions),
        failure,
        output: mutant.reason.clone().unwrap_or_default(),
    }
}

fn of_exhibit(exhibit: &ExhibitRecord) -> Case {
    Case {
        class: format!("museum.{}", exhibit.project),
        name: exhibit.name.clone(),
        seconds: 0.0,
        properties: of_death(exhibit.fate, exhibit.model.as_deref(), exhibit.engine, exhibit.executions),
        failure: unless_killed(exhibit.fate, &format!("{}\n{}\n", exhibit.issue, exhibit.change)),
        output: String::new(),
    }
}

fn of_death(fate: Fate, model: Option<&str>, engine: Option<Engine>, executions: u64) -> Vec<(&'static str, String)> {
    let word = match fate {
        Fate::Killed => "killed",
        Fate::KilledByProptest => "killed by proptest",
        Fate::Argued => "argued",
        Fate::Survived => "survived",
        Fate::Unreached => "unreached",
    };
    let mut properties = vec![("fate", word.to_owned())];
    properties.extend(model.map(|model| ("killed_by", model.to_owned())));
    properties.extend(engine.map(|engine| ("engine", engine.to_string())));
    properties.push(("executions", executions.to_string()));
    properties
}

fn unless_killed(fate: Fate, about: &str) -> Option<Failed> {
    let (what, message) = match fate {
        Fate::Killed | Fate::KilledByProptest | Fate::Argued => return None,
        Fate::Survived => ("survived", "no model failed, and nothing says why"),
        Fate::Unreached => ("unreached", "no model covers the line that is wrong"),
    };
    Some(failed(what, None, || message.to_owned(), about))
}

fn failed(what: &'static str, picture: Option<&Picture>, nothing: impl FnOnce() -> String, about: &str) -> Failed {
    let message = picture.map_or_else(nothing, |picture| picture.message.clone());
    let columns = picture.map(|picture| picture.columns.as_str()).unwrap_or_default();
    Failed { what, text: format!("{about}{message}\n{columns}"), message }
}

impl Suite {
    fn write(&self, out: &mut String, record: &Record) {
        let failures = self.cases.iter().filter(|case| case.failure.is_some()).count();
        let seconds: f64 = self.cases.iter().map(|case| case.seconds).sum();
        let (name, tests) = (xml(&self.name), self.cases.len());
        let _ = writeln!(
            out,
            "<testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" \
             time=\"{seconds:.3}\" timestamp=\"{}\">",
            xml(&timestamp(&record.date))
        );
        let mut properties = vec![
            ("version", record.version.clone()),
            ("machine", record.machine.clone()),
            ("date", record.date.clone()),
            ("deep", record.deep.to_string()),
        ];
        properties.extend(record.shard.clone().map(|shard| ("shard", shard)));
        write_properties(out, &properties);
        self.cases.iter().for_each(|case| case.write(out));
        out.push_str("</testsuite>\n");
    }
}

impl Case {
    fn write(&self, out: &mut String) {
        let (class, name, seconds) = (xml(&self.class), xml(&self.name), self.seconds);
        let _ = writeln!(out, "<testcase classname=\"{class}\" name=\"{name}\" time=\"{seconds:.3}\">");
        write_properties(out, &self.properties);
        if let Some(Failed { what, message, text }) = &self.failure {
            let (message, text) = (xml(message), xml(text));
            let _ = writeln!(out, "<failure type=\"{what}\" message=\"{message}\">{text}</failure>");
        }
        if !self.output.is_empty() {
            let _ = writeln!(out, "<system-out>{}</system-out>", xml(&self.output));
        }
        out.push_str("</testcase>\n");
    }
}

fn write_properties(out: &mut String, properties: &[(&'static str, String)]) {
    out.push_str("<properties>\n");
    for (name, value) in properties {
        let _ = writeln!(out, "<property name=\"{name}\" value=\"{}\"/>", xml(value));
    }
    out.push_str("</properties>\n");
}

/// JUnit wants a moment for a day: its first.
fn timestamp(date: &str) -> String {
    if date.contains('T') { date.to_owned() } else { format!("{date}T00:00:00") }
}

/// Safe in an attribute and in a text. XML cannot write most control characters, not even as entities: they are shown
/// as Rust would write them.
fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            // As they are they would become spaces in an attribute.
            '\n' | '\t' | '\r' => _ = write!(safe, "&#{};", u32::from(c)),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// A text without its tags: what stands between them may have no markup, and tags must close as they open.
    fn tags(text: &str) -> Vec<String> {
        let (mut tags, mut open) = (Vec::new(), Vec::new());
        let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a declaration");
        for piece in body.split('<').skip(1) {
            let (tag, between) = piece.split_once('>').expect("a tag ends");
            assert!(!between.contains('>'), "{piece}");
            assert!(tag.matches('"').count() % 2 == 0, "{tag}");
            let name = tag.trim_end_matches('/').split(' ').next().unwrap_or_default().to_owned();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop().as_deref(), Some(name)),
                None if tag.ends_with('/') => (),
                None => open.push(name.clone()),
            }
            tags.push(name);
        }
        assert_eq!(open, Vec::<String>::new());
        tags
    }

    #[test]
    fn each_room_each_sort_and_the_museum_are_suites() {
        let text = junit(&sample::record());
        tags(&text);
        for suite in [
            "<testsuite name=\"room: runq\" tests=\"8\" failures=\"0\"",
            "<testsuite name=\"room: handoff\" tests=\"4\" failures=\"1\"",
            "<testsuite name=\"mutants: variants\" tests=\"5\" failures=\"2\"",
            "<testsuite name=\"mutants: orderings\" tests=\"5\" failures=\"2\"",
            "<testsuite name=\"mutants: steps\" tests=\"5\" failures=\"2\"",
            "<testsuite name=\"museum\" tests=\"2\" failures=\"1\"",
            "<testsuites name=\"spinpark 0.1.0\" tests=\"29\" failures=\"8\" errors=\"0\" time=\"10.500\">",
            "timestamp=\"2026-11-22T00:00:00\"",
            "<testcase classname=\"runq\" name=\"steal::two_thieves [rc11]\" time=\"0.250\">",
            "<testcase classname=\"mutants.variants.runq\" name=\"mutant 0 Killed\" time=\"0.500\">",
            "<property name=\"seed\" value=\"7\"/>",
            "<property name=\"bounds\" value=\"≤2 preemptions\"/>",
            "<failure type=\"FAILED\" message=\"the G is missed&#10;by every M\">",
            "<failure type=\"survived\" message=\"no model failed, and nothing says why\">",
            "<failure type=\"unreached\" message=\"no model covers the line that is wrong\">",
            "<system-out>load buffering&#10;is beyond RC11</system-out>",
        ] {
            assert!(text.contains(suite), "{suite} is not in\n{text}");
        }
        assert_eq!(text.matches("<failure ").count(), 8);
    }

    #[test]
    fn hostile_texts_stay_texts() {
        let text = junit(&sample::hostile());
        assert_eq!(tags(&text), tags(&junit(&sample::record())));
        let is_char_of_xml = |c: char| matches!(c, '\n' | '\t' | ' '..) && !matches!(c, '\u{7f}'..='\u{9f}');
        assert!(text.chars().all(|c| is_char_of_xml(c) && !matches!(c, '\u{fffe}' | '\u{ffff}')));
        assert!(text.contains("&lt;/script&gt;"));
    }

    #[test]
    fn an_empty_record_is_a_file_too() {
        assert_eq!(tags(&junit(&Record::default())), ["testsuites", "/testsuites"]);
    }
}
