//! The parts of a drawing: what lines and boxes look like.

use crate::picture::draw::{Path, Point, escaped};
use crate::picture::label::{cut, uncircled};
use crate::picture::layout::{HEIGHT, LETTER, Layout, NUMBER, SMALL_LETTER};
use crate::picture::{Node, Place};
use std::fmt::Write as _;

pub(super) const INK: &str = "#24292f";
pub(super) const PALE: &str = "#6e7781";
pub(super) const RED: &str = "#cf222e";
pub(super) const GREEN: &str = "#1a7f37";
pub(super) const BROWN: &str = "#8a5a00";
pub(super) const MONO: &str = "font-family=\"monospace\"";

/// What a line looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    pub name: &'static str,
    pub colour: &'static str,
    pub dashes: &'static str,
    pub width: &'static str,
    pub head: &'static str,
}

pub(super) const SB: Style = Style { name: "program order (sb)", colour: PALE, dashes: "", width: "1.2", head: "" };
pub(super) const FORK: Style = Style { name: "start, end", colour: "#afb8c1", dashes: "2 3", width: "1.2", head: "" };
pub(super) const RF: Style = Style { name: "reads from (rf)", colour: GREEN, dashes: "", width: "1.8", head: "green" };
pub(super) const OWN: Style = Style { width: "0.8", ..RF };
pub(super) const MO: Style =
    Style { name: "overwritten by (mo)", colour: BROWN, dashes: "7 3", width: "1.6", head: "brown" };
pub(super) const RB: Style = Style { name: "has not seen (rb)", colour: RED, dashes: "5 3", width: "1.8", head: "red" };
pub(super) const RACE: Style =
    Style { name: "no order: a race", colour: RED, dashes: "2 4", width: "2.6", head: "red" };
pub(super) const NEWEST: Style =
    Style { name: "the newest write", colour: BROWN, dashes: "2 3", width: "1.8", head: "brown" };

/// A line to be drawn.
pub(super) struct Line {
    pub from: usize,
    pub to: usize,
    pub style: Style,
    pub is_in_cycle: bool,
    pub word: String,
}

pub(super) fn write_lines(body: &mut String, lines: &[Line], paths: &[Path]) {
    for (line, path) in lines.iter().zip(paths) {
        if line.is_in_cycle {
            write_glow(body, path);
        }
        write_path(body, path, line.style);
    }
}

/// The words stand on their lines, between the boxes, and not on each other.
pub(super) fn write_words(body: &mut String, lines: &[Line], paths: &[Path]) {
    let mut taken: Vec<Point> = Vec::new();
    for (line, path) in lines.iter().zip(paths).filter(|(line, _)| !line.word.is_empty()) {
        let width = line.word.chars().count() as f64 * 6.4 + 8.0;
        let (least, most) = (path.free.0 + width / 2.0 + 3.0, path.free.1 - width / 2.0 - 3.0);
        let (x, mut y) = (if least < most { path.word.0.clamp(least, most) } else { path.word.0 }, path.word.1);
        while taken.iter().any(|other| (other.0 - x).abs() < width && (other.1 - y).abs() < 17.0) {
            y += 17.0;
        }
        taken.push((x, y));
        let (left, top) = (x - width / 2.0, y - 8.0);
        let style = "height=\"16\" rx=\"3\" fill=\"#fff\"";
        let _ = writeln!(body, "<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" {style}/>");
        write_word(body, (x, y), &line.word, line.style.colour);
    }
}

pub(super) fn write_word(body: &mut String, (x, y): Point, word: &str, colour: &str) {
    let style = format!("font-size=\"12\" text-anchor=\"middle\" fill=\"{colour}\"");
    let _ = writeln!(body, "<text x=\"{x:.0}\" y=\"{:.0}\" {style}>{}</text>", y + 4.0, escaped(word));
}

pub(super) fn write_path(body: &mut String, path: &Path, style: Style) {
    let Style { colour, dashes, width, head, .. } = style;
    let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    let ends = match (head, style == RACE) {
        ("", _) => String::new(),
        (head, false) => format!(" marker-end=\"url(#{head})\""),
        (head, true) => format!(" marker-start=\"url(#{head})\" marker-end=\"url(#{head})\""),
    };
    let d = &path.d;
    let _ =
        writeln!(body, "<path d=\"{d}\" stroke=\"{colour}\" stroke-width=\"{width}\" fill=\"none\"{dashes}{ends}/>");
}

/// The cycle is a broad red line under the others.
pub(super) fn write_glow(body: &mut String, path: &Path) {
    let style = "stroke=\"#ff8182\" stroke-opacity=\"0.55\" stroke-width=\"9\" stroke-linecap=\"round\" fill=\"none\"";
    let _ = writeln!(body, "<path d=\"{}\" {style}/>", path.d);
}

pub(super) fn write_node(body: &mut String, n: usize, node: &Node, layout: &Layout) {
    let ((x, y), width) = layout.place(n);
    let (fill, stroke) = match (node.is_marked, node.label.starts_with("F ")) {
        (true, _) => ("#ffebe9", RED),
        (false, true) => ("#ddf4ff", "#0969da"),
        (false, false) => ("#f6f8fa", PALE),
    };
    let thick = if node.is_marked { 2 } else { 1 };
    let all = format!("{} — {}", node.text(), node.place.line());
    let _ = writeln!(body, "<g id=\"e{}\"><title>{}</title>", node.number, escaped(&all));
    let style = format!("rx=\"6\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{thick}\"");
    let _ = writeln!(body, "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{HEIGHT}\" {style}/>");
    let (cx, cy) = (x + 17.0, y + 14.0);
    let _ = writeln!(body, "<circle cx=\"{cx:.0}\" cy=\"{cy:.0}\" r=\"10\" fill=\"#fff\" stroke=\"{stroke}\"/>");
    let style = "font-size=\"11\" text-anchor=\"middle\"";
    let _ = writeln!(body, "<text x=\"{cx:.0}\" y=\"{:.0}\" {style}>{}</text>", cy + 4.0, node.number);
    write_texts(body, (x, y), width, 24.0, &node.text(), &node.place);
    body.push_str("</g>\n");
}

/// The label, and the line of source below it.
pub(super) fn write_texts(body: &mut String, (x, y): Point, width: f64, indent: f64, label: &str, place: &Place) {
    let room = (width - NUMBER + 24.0 - indent) / LETTER;
    let label = escaped(&cut(&uncircled(label), room as usize));
    let source = place.line();
    let down = if source.is_empty() { 26.0 } else { 18.0 };
    let style = format!("{MONO} font-size=\"13\" font-weight=\"bold\"");
    let _ = writeln!(body, "<text x=\"{:.0}\" y=\"{:.0}\" {style}>{label}</text>", x + 9.0 + indent, y + down);
    if !source.is_empty() {
        let source = escaped(&cut(&source, ((width - 20.0) / SMALL_LETTER) as usize));
        let style = format!("{MONO} font-size=\"10\" fill=\"{PALE}\"");
        let _ = writeln!(body, "<text x=\"{:.0}\" y=\"{:.0}\" {style}>{source}</text>", x + 10.0, y + 35.0);
    }
}

pub(super) fn framed(body: &str, width: f64, height: f64, title: &str, sentence: &str) -> String {
    let size = format!("width=\"{width:.0}\" height=\"{height:.0}\"");
    let font = "font-family=\"Helvetica,Arial,sans-serif\" font-size=\"14\"";
    let heads: String =
        [("green", GREEN), ("brown", BROWN), ("red", RED)].iter().map(|head| arrow_head(*head)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} viewBox=\"0 0 {width:.0} {height:.0}\" {font} fill=\"{INK}\">\n\
         <title>{}</title>\n<desc>{}</desc>\n<defs>{heads}</defs>\n<rect {size} rx=\"10\" fill=\"#fff\"/>\n{body}</svg>\n",
        escaped(title),
        escaped(sentence),
    )
}

fn arrow_head((name, colour): (&str, &str)) -> String {
    let shape = "viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" orient=\"auto-start-reverse\"";
    let size = "markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\"";
    format!("<marker id=\"{name}\" {shape} {size}><path d=\"M0 0L10 5L0 10Z\" fill=\"{colour}\"/></marker>")
}
