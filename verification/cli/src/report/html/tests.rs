//! The page is read as a browser would, roughly.

use crate::report::html::page;
use crate::report::sample;
use spinpark_verification::record::Record;
use std::collections::HashSet;

/// A tag with its attributes.
#[derive(Debug, PartialEq)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

const VOID: [&str; 3] = ["meta", "input", "wbr"];

/// The page without its style and its script, which have no markup in them.
fn plain(page: &str) -> String {
    let mut plain = page.to_owned();
    for (from, to) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let (begin, end) = (plain.find(from).expect(from), plain.find(to).expect(to));
        assert_eq!(plain.matches(to).count(), 1, "{to}");
        plain.replace_range(begin..end + to.len(), "");
    }
    plain
}

/// All tags. Panics if they are not closed as they are opened, or if quotes are not.
fn tags(page: &str) -> Vec<Tag> {
    let plain = plain(page);
    let (mut tags, mut open) = (Vec::new(), Vec::new());
    for piece in plain.trim_start_matches("<!doctype html>\n").split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("a tag ends");
        assert!(!text.contains(['>', '"', '\'']) || text.contains("id=\""), "{piece}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{piece}");
            continue;
        }
        let tag = parsed(tag.trim_end_matches('/'), tag.ends_with('/'), &mut open);
        tags.push(tag);
    }
    assert_eq!(open, Vec::<String>::new());
    tags
}

fn parsed(tag: &str, is_closed: bool, open: &mut Vec<String>) -> Tag {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes = Vec::new();
    while !rest.trim_start().is_empty() {
        rest = rest.trim_start();
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let (key, behind) = rest.split_at(end);
        assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{tag}");
        let value = behind.strip_prefix("=\"").map(|quoted| quoted.split_once('"').expect("a closing quote"));
        attributes.push((key.to_owned(), value.map(|(value, _)| value.to_owned()).unwrap_or_default()));
        rest = value.map_or(behind, |(_, rest)| rest);
    }
    if !is_closed && !VOID.contains(&name) {
        open.push(name.to_owned());
    }
    Tag { name: name.to_owned(), attributes }
}

fn values<'a>(tags: &'a [Tag], key: &str) -> Vec<&'a str> {
    let attributes = tags.iter().flat_map(|tag| &tag.attributes);
    attributes.filter(|(name, _)| name == key).map(|(_, value)| value.as_str()).collect()
}

/// Every place has its own name, and every link leads to one.
fn links_lead_somewhere(tags: &[Tag]) {
    let ids = values(tags, "id");
    let places: HashSet<&str> = ids.iter().copied().collect();
    let mut seen = HashSet::new();
    assert_eq!(ids.iter().find(|id| !seen.insert(**id)), None, "twice");
    for link in values(tags, "href").iter().filter_map(|href| href.strip_prefix('#')) {
        assert!(places.contains(link), "{link} is nowhere");
    }
    for (_, end) in tags.iter().flat_map(|tag| &tag.attributes).filter(|(key, _)| key.starts_with("marker-")) {
        let id = end.trim_start_matches("url(#").trim_end_matches(')');
        assert!(places.contains(id), "{end} is nowhere");
    }
}

#[test]
fn a_page_is_sound() {
    for record in [sample::record(), sample::hostile(), Record::default()] {
        links_lead_somewhere(&tags(&page(&record)));
    }
}

#[test]
fn hostile_texts_stay_texts() {
    let (plain, hostile) = (page(&sample::record()), page(&sample::hostile()));
    let names = |page: &str| -> Vec<(String, Vec<String>)> {
        let keys = |tag: &Tag| tag.attributes.iter().map(|(key, _)| key.clone()).collect();
        tags(page).iter().filter(|tag| tag.name != "code").map(|tag| (tag.name.clone(), keys(tag))).collect()
    };
    let (plain_names, hostile_names) = (names(&plain), names(&hostile));
    let differs = plain_names.iter().zip(&hostile_names).position(|(plain, hostile)| plain != hostile);
    assert_eq!(differs.map(|at| (&plain_names[at], &hostile_names[at])), None);
    assert_eq!(plain_names.len(), hostile_names.len());
    assert!(!hostile.contains("<script>alert"));
    assert!(!hostile.contains("\" onload"));
    assert!(hostile.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    assert!(hostile.contains("&lt;/script&gt;&lt;/style&gt;"));
    assert!(hostile.contains("&amp;lt;"), "an entity is shown as it was written");
}

#[test]
fn nothing_is_fetched() {
    let page = page(&sample::record());
    let tags = tags(&page);
    assert_eq!(values(&tags, "src"), Vec::<&str>::new());
    assert!(tags.iter().all(|tag| tag.name != "link" && tag.name != "img" && tag.name != "iframe"));
    assert!(!page.contains("@import") && !page.contains("@font-face"));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_page_says_what_was_found() {
    let page = page(&sample::record());
    for part in [
        "<h1>1 of 12 runs failed, 6 mutants not accounted for, 1 exhibit of the museum not caught.</h1>",
        "Here: 2 under RC11.",
        "Of the claims, 2 are proved under RC11, the weakest memory model of a complete engine; 0 only under a \
         stronger one; 0 by no",
        "complete engine; 1 refuted.",
        "<span class=\"chip failed\"><b>rc11</b> FAILED</span>",
        "<details class=\"model\" id=\"model-handoff::a_stop\" data-item data-verdicts=\"failed explored bounded \
         sampled\" open>",
        "≤2 preemptions",
        "depth 3, ≤2000 runs, seed 7",
        "≤60.0 s",
        "12,345",
        "self.tail.store(tail + 1, Release);",
        "load buffering",
        "golang/go#12345",
        "How well this is known: the issue was read.",
        "<g id=\"d1-e1\">",
        "<tr><td>sched</td><td><span class=\"chip ",
        &format!("\">{}</span></td><td>work_is_conserved,", crate::every_size::proved()[0].verdict()),
    ] {
        assert!(page.contains(part), "{part} is not in the page");
    }
    assert_eq!(page.matches("<svg ").count(), 4);
}

#[test]
fn a_run_without_blemish_says_so_and_no_more() {
    let mut record = sample::record();
    record.runs.retain(|run| run.failure.is_none());
    record.mutants.retain(|mutant| matches!(crate::report::html::words::fate(mutant.fate), "killed" | "argued"));
    record.museum.truncate(1);
    let all = page(&record);
    assert!(all.contains("<h1>3 claims: none refuted, 2 proved under RC11. 6 mutants: 3 killed, 3 argued.</h1>"));
    assert!(!all.contains("What failed"));
    record.shard = Some("1/4".to_owned());
    assert!(page(&record).contains("shard 1/4 only: the numbers here are not those of the whole"));
    assert!(page(&Record::default()).contains("Nothing was run."));
}

#[test]
fn a_large_record_is_a_page_that_can_be_used() {
    let small = sample::record();
    let mut large = Record { runs: Vec::new(), mutants: Vec::new(), ..small.clone() };
    for n in 0..800_usize {
        let mut run = small.runs[n % 8].clone();
        run.room = format!("room{}", n / 40);
        run.model = format!("room{}::a_property_with_a_long_name::a_topology_{}", n / 40, n / 4);
        run.failure = None;
        large.runs.push(run);
    }
    for n in 0..1500_usize {
        let mut mutant = small.mutants[n % small.mutants.len()].clone();
        mutant.name = format!("kernel/file{}.rs:{} step {n}", n / 50, n % 50);
        (mutant.file, mutant.line) = (format!("kernel/file{}.rs", n / 50), Some((n % 50) as u32 * 7));
        mutant.failure = None;
        large.mutants.push(mutant);
    }
    let page = page(&large);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    links_lead_somewhere(&tags(&page));
}
