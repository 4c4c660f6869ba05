//! As much of SVG as the figures need. The background is drawn, so that they can be read on a dark page too.

use std::fmt::Write;

pub(crate) const INK: &str = "#24292f";
pub(crate) const FAINT: &str = "#6e7781";
pub(crate) const RUNS: &str = "#1a7f37";
pub(crate) const WAITS: &str = "#9a6700";
pub(crate) const BLOCKED: &str = "#cf222e";
pub(crate) const PAPER: &str = "#ffffff";

const STYLE: &str = "font-family=\"Helvetica,Arial,sans-serif\" font-size=\"14\" text-anchor=\"middle\"";

/// A picture in the making.
pub(crate) struct Svg {
    width: i32,
    body: String,
}

impl Svg {
    pub(crate) fn new(width: i32) -> Svg {
        Svg { width, body: String::new() }
    }

    fn put(&mut self, line: String) {
        writeln!(self.body, "{line}").expect("a string takes everything");
    }

    /// Around its middle.
    pub(crate) fn text(&mut self, x: i32, y: i32, ink: &str, text: &str) {
        self.put(format!("<text x=\"{x}\" y=\"{y}\" fill=\"{ink}\">{text}</text>"));
    }

    pub(crate) fn title(&mut self, text: &str) {
        self.put(format!(
            "<text x=\"20\" y=\"30\" fill=\"{INK}\" font-size=\"16\" font-weight=\"bold\" text-anchor=\"start\">{text}</text>"
        ));
    }

    /// For readers who cannot see it.
    pub(crate) fn describe(&mut self, words: &str) {
        self.put(format!("<desc>{words}</desc>"));
    }

    pub(crate) fn rect(&mut self, [x, y, width, height]: [i32; 4], ink: &str, fill: &str) {
        self.put(format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\" stroke=\"{ink}\" stroke-width=\"2\" \
             fill=\"{fill}\"/>"
        ));
    }

    pub(crate) fn line(&mut self, [x1, y1, x2, y2]: [i32; 4], ink: &str) {
        self.put(format!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{ink}\" stroke-width=\"2\"/>"
        ));
    }

    /// A line with a head.
    pub(crate) fn arrow(&mut self, [x1, y1, x2, y2]: [i32; 4], ink: &str) {
        self.put(format!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{ink}\" stroke-width=\"2\" \
             marker-end=\"url(#head)\"/>"
        ));
    }

    /// A G.
    pub(crate) fn circle(&mut self, x: i32, y: i32, ink: &str, text: &str) {
        self.put(format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"19\" stroke=\"{ink}\" stroke-width=\"2\" fill=\"{PAPER}\"/>"
        ));
        self.text(x, y + 5, ink, text);
    }

    /// An M: its peak is there.
    pub(crate) fn triangle(&mut self, x: i32, y: i32, ink: &str, text: &str) {
        let (left, right, low) = (x - 34, x + 34, y + 58);
        self.put(format!(
            "<path d=\"M{x} {y}L{right} {low}L{left} {low}Z\" stroke=\"{ink}\" stroke-width=\"2\" fill=\"{PAPER}\"/>"
        ));
        self.text(x, y + 47, ink, text);
    }

    /// All of it, so high.
    pub(crate) fn end(self, height: i32) -> String {
        let (width, body) = (self.width, self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             {STYLE}>\n<defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L10 5L0 10Z\" fill=\"{INK}\"/></marker></defs>\n\
             <rect width=\"{width}\" height=\"{height}\" rx=\"10\" fill=\"#f6f8fa\"/>\n{body}</svg>\n"
        )
    }
}
