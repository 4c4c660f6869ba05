//! A picture for terminals: one column a thread.

use crate::picture::label::{circled, cut};
use crate::picture::{End, Node, Picture};
use std::fmt::Write as _;

/// A cell is no wider than this.
const WIDEST: usize = 44;

impl Picture {
    /// One column a thread, time from top to bottom; then what is wrong.
    pub fn columns(&self) -> String {
        let mut text = format!("{}\n{}\n", self.title, self.sentence.trim_end());
        if !self.nodes.is_empty() || !self.ends.is_empty() {
            self.table(&mut text);
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        text
    }

    fn table(&self, text: &mut String) {
        let rows: Vec<Row> = self.nodes.iter().map(row).chain(self.ends.iter().map(last_row)).collect();
        let threads: Vec<String> = self.threads.iter().map(|name| cut(name, WIDEST)).collect();
        let width = |column: usize| {
            let cells = rows.iter().filter(|row| row.column == column).map(|row| row.cell.chars().count());
            cells.max().unwrap_or(0).max(threads[column].chars().count())
        };
        let widths: Vec<usize> = (0..threads.len()).map(width).collect();
        let line = |cells: Vec<&str>| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join(" │ ")
        };
        let _ = writeln!(text, "\n     {} │", line(threads.iter().map(String::as_str).collect()));
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let _ = writeln!(text, "     {}─┤", rule.join("─┼─"));
        for (n, row) in rows.iter().enumerate() {
            let is_gap = n > 0 && n < self.nodes.len() && self.nodes[n].number != self.nodes[n - 1].number + 1;
            if is_gap {
                text.push_str("   ⋮\n");
            }
            let cells = (0..widths.len()).map(|column| if column == row.column { row.cell.as_str() } else { "" });
            let whole = format!("{:>4} {} │ {}", row.number, line(cells.collect()), row.source);
            let _ = writeln!(text, "{}", whole.trim_end());
        }
        if self.nodes.iter().any(|node| node.from == Some(None)) {
            let _ = writeln!(text, "     ←⓪: what it was made with");
        }
    }
}

struct Row {
    number: String,
    column: usize,
    cell: String,
    source: String,
}

fn row(node: &Node) -> Row {
    let cell = cut(&node.text(), WIDEST);
    let mark = if node.is_marked { "*" } else { "" };
    Row { number: format!("{mark}{}", circled(node.number)), column: node.column, cell, source: node.place.line() }
}

fn last_row(end: &End) -> Row {
    Row { number: "*".to_owned(), column: end.column, cell: cut(&end.what, WIDEST), source: end.place.line() }
}

impl Node {
    /// What it is, and of a read where its value is from.
    pub(super) fn text(&self) -> String {
        let from = self.reads.map(|number| format!(" ←{}", circled(number))).unwrap_or_default();
        let stale = if self.stale.is_some() { " stale" } else { "" };
        format!("{}{from}{stale}", self.label)
    }
}

impl crate::picture::Place {
    /// Where it is, and what stands there.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.at, self.text).trim().to_owned()
    }
}
