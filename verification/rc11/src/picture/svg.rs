//! A picture as a drawing that needs nothing but itself: no script, no font, its own background.

use crate::picture::cycle::Rel;
use crate::picture::draw::{Path, escaped, wrapped};
use crate::picture::label::{cut, uncircled};
use crate::picture::layout::{HEIGHT, Layout};
use crate::picture::paint::{
    FORK, Line, MO, NEWEST, OWN, PALE, RACE, RB, RED, RF, SB, Style, framed, write_glow, write_lines, write_node,
    write_path, write_texts, write_word, write_words,
};
use crate::picture::{Picture, is_of_threads};
use std::fmt::Write as _;

impl Picture {
    /// A drawing.
    pub fn svg(&self) -> String {
        let mut lines = self.lines();
        let room = (self.threads.len() as f64 * 250.0).max(640.0);
        let head = wrapped(self.sentence.lines().next().unwrap_or_default(), (room / 7.2) as usize);
        let layout = Layout::of(self, 102.0 + 18.0 * head.len() as f64);
        let width = layout.width().max(room + 48.0);
        let ends: Vec<(usize, usize)> = lines.iter().map(|line| (line.from, line.to)).collect();
        let paths = layout.lines(&ends);
        let mut body = String::new();
        self.write_head(&mut body, &head, &layout);
        self.write_program_order(&mut body, &layout);
        write_lines(&mut body, &lines, &paths);
        self.nodes.iter().enumerate().for_each(|(n, node)| write_node(&mut body, n, node, &layout));
        self.write_ends(&mut body, &layout);
        write_words(&mut body, &lines, &paths);
        self.write_missing(&mut body, &layout);
        let y = self.write_notes(&mut body, layout.bottom() + 6.0, width);
        let height = self.write_legend(&mut body, &mut lines, y, width);
        framed(&body, width, height, &self.title, &self.sentence)
    }

    /// All lines but those of program order.
    fn lines(&self) -> Vec<Line> {
        let style = |rel: Rel| match rel {
            Rel::Rf => RF,
            Rel::Mo => MO,
            _ => RB,
        };
        let is_missing = |from: usize, to: usize| self.missing.iter().any(|m| (m.from, m.to) == (from, to));
        let line = |from: usize, to: usize, rel: Rel, is_in_cycle: bool| {
            let word = match (is_in_cycle, is_missing(from, to)) {
                (_, true) => format!("{}: no order", rel.short()),
                (true, false) => rel.short().to_owned(),
                _ => String::new(),
            };
            let is_own = rel == Rel::Rf && !is_in_cycle && self.nodes[from].column == self.nodes[to].column;
            Line { from, to, style: if is_own { OWN } else { style(rel) }, is_in_cycle, word }
        };
        let races = || self.missing.iter().filter(|missing| missing.what == "race");
        let is_race = |from: usize, to: usize| races().any(|race| (race.from, race.to) == (from, to));
        let cycle = self.cycle.iter().filter(|edge| !is_of_threads(edge));
        let mut lines: Vec<Line> = cycle.map(|edge| line(edge.from, edge.to, edge.rel, true)).collect();
        for edge in &self.edges {
            let is_new =
                !lines.iter().any(|line| (line.from, line.to) == (edge.from, edge.to)) && !is_race(edge.from, edge.to);
            let matters = edge.rel == Rel::Rf || (edge.rel == Rel::Mo && self.is_overwritten_in_cycle(edge.to));
            if is_new && matters {
                lines.push(line(edge.from, edge.to, edge.rel, false));
            }
        }
        lines.extend(races().map(|race| Line {
            from: race.from,
            to: race.to,
            style: RACE,
            is_in_cycle: false,
            word: "race".to_owned(),
        }));
        let newest = self.ends.iter().enumerate().filter_map(|(n, end)| Some((end.newest?, self.nodes.len() + n)));
        let newest = newest.map(|(from, to)| Line { from, to, style: NEWEST, is_in_cycle: false, word: String::new() });
        lines.extend(newest);
        lines
    }

    /// Is the cycle about the location that node `n` writes?
    fn is_overwritten_in_cycle(&self, n: usize) -> bool {
        self.cycle
            .iter()
            .any(|edge| matches!(edge.rel, Rel::Rb | Rel::Mo) && self.nodes[edge.to].loc == self.nodes[n].loc)
    }

    fn write_head(&self, body: &mut String, head: &[String], layout: &Layout) {
        let title = escaped(&cut(&self.title, 90));
        let _ = writeln!(body, "<text x=\"24\" y=\"34\" font-size=\"17\" font-weight=\"bold\">{title}</text>");
        for (n, line) in head.iter().enumerate() {
            let y = 58 + 18 * n;
            let _ = writeln!(body, "<text x=\"24\" y=\"{y}\" fill=\"{RED}\">{}</text>", escaped(line));
        }
        for (column, name) in self.threads.iter().enumerate() {
            let (x, width) = layout.column(column);
            let name = escaped(&cut(name, (width / 9.0) as usize));
            let (x, y) = (x + width / 2.0, layout.top - 16.0);
            let style = "font-size=\"14\" font-weight=\"bold\" text-anchor=\"middle\"";
            let _ = writeln!(body, "<text x=\"{x:.0}\" y=\"{y:.0}\" {style}>{name}</text>");
        }
    }

    fn write_program_order(&self, body: &mut String, layout: &Layout) {
        for edge in self.cycle.iter().filter(|edge| is_of_threads(edge)) {
            write_glow(body, &layout.down(edge.from, edge.to));
        }
        for edge in self.edges.iter().filter(|edge| is_of_threads(edge)) {
            write_path(body, &layout.down(edge.from, edge.to), if edge.rel == Rel::Sb { SB } else { FORK });
        }
        for (n, end) in self.ends.iter().enumerate() {
            if let Some(last) = end.last {
                let style = if self.nodes[last].column == end.column { SB } else { FORK };
                write_path(body, &layout.down(last, self.nodes.len() + n), style);
            }
        }
    }

    fn write_ends(&self, body: &mut String, layout: &Layout) {
        for (n, end) in self.ends.iter().enumerate() {
            let ((x, y), width) = layout.place(self.nodes.len() + n);
            let style = "rx=\"6\" fill=\"#fff8c5\" stroke=\"#9a6700\" stroke-width=\"2\" stroke-dasharray=\"5 3\"";
            let _ =
                writeln!(body, "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{HEIGHT}\" {style}/>");
            write_texts(body, (x, y), width, 1.0, &end.what, &end.place);
        }
    }

    /// Where a fence is missing.
    fn write_missing(&self, body: &mut String, layout: &Layout) {
        for missing in self.missing.iter().filter(|missing| missing.what.contains("fence")) {
            let (x, y) = layout.below(missing.from);
            let (left, top) = (x - 66.0, y - 10.0);
            let style =
                "width=\"132\" height=\"20\" rx=\"10\" fill=\"#fff\" stroke=\"#cf222e\" stroke-dasharray=\"4 3\"";
            let _ = writeln!(body, "<rect x=\"{left:.0}\" y=\"{top:.0}\" {style}/>");
            write_word(body, (x, y), missing.what, RED);
        }
    }

    fn write_notes(&self, body: &mut String, mut y: f64, width: f64) -> f64 {
        let of_start = self.nodes.iter().any(|node| node.from == Some(None));
        let of_start = of_start.then(|| "←(0): what the location was made with".to_owned());
        for note in self.notes.iter().chain(&of_start) {
            for (n, line) in wrapped(&uncircled(note), ((width - 66.0) / 7.2) as usize).iter().enumerate() {
                let x = if n == 0 { 24 } else { 42 };
                y += 19.0;
                let _ = writeln!(body, "<text x=\"{x}\" y=\"{y:.0}\">{}</text>", escaped(line));
            }
        }
        y
    }

    /// What the lines mean that there are. Returns where the drawing ends.
    fn write_legend(&self, body: &mut String, lines: &mut [Line], mut y: f64, width: f64) -> f64 {
        let mut styles: Vec<Style> = Vec::new();
        let order = self.edges.iter().filter(|edge| is_of_threads(edge));
        let order = order.map(|edge| if edge.rel == Rel::Sb { SB } else { FORK });
        for style in order.chain(lines.iter().map(|line| line.style)) {
            if !styles.iter().any(|other| other.name == style.name) {
                styles.push(style);
            }
        }
        let mut x = 24.0;
        y += 30.0;
        let has_cycle = !self.cycle.is_empty();
        let names = styles.iter().map(|style| style.name).chain(has_cycle.then_some("the cycle"));
        for (n, name) in names.enumerate() {
            let room = 44.0 + name.chars().count() as f64 * 6.4 + 20.0;
            if x + room > width - 24.0 {
                (x, y) = (24.0, y + 20.0);
            }
            let path = Path::along(&[(x, y - 4.0), (x + 34.0, y - 4.0)]);
            match styles.get(n) {
                Some(style) => write_path(body, &path, *style),
                None => write_glow(body, &path),
            }
            let at = x + 42.0;
            let _ = writeln!(body, "<text x=\"{at:.0}\" y=\"{y:.0}\" font-size=\"12\" fill=\"{PALE}\">{name}</text>");
            x += room;
        }
        y + 24.0
    }
}
