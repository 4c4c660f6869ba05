//! Where everything is in a drawing: a column a thread, and a row below all that an event depends on.

use crate::graph::Loc;
use crate::picture::cycle::{Edge, Rel};
use crate::picture::draw::{Path, Point};
use crate::picture::label::uncircled;
use crate::picture::{Picture, is_of_threads};

/// The height of a box, and of what is free below it.
pub(super) const HEIGHT: f64 = 42.0;
pub(super) const BELOW: f64 = 34.0;
/// What is free between two columns, and around all.
const BETWEEN: f64 = 96.0;
const MARGIN: f64 = 24.0;
/// The widths of a letter of a label and of a line of source.
pub(super) const LETTER: f64 = 7.9;
pub(super) const SMALL_LETTER: f64 = 6.1;
/// What of a box's width is not for its label.
pub(super) const NUMBER: f64 = 44.0;

/// The columns and rows.
pub(super) struct Layout {
    /// Of each column, its left side and its width.
    columns: Vec<(f64, f64)>,
    /// Of each node, then of each end, the column and the row.
    boxes: Vec<(usize, usize)>,
    /// Where the first row begins.
    pub top: f64,
}

/// Lines that begin or end on a side of a box share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Left,
    Right,
}

impl Layout {
    pub(super) fn of(picture: &Picture, top: f64) -> Layout {
        let mut columns: Vec<(f64, f64)> = Vec::new();
        for column in 0..picture.threads.len() {
            let x = columns.last().map_or(MARGIN, |(x, width)| x + width + BETWEEN);
            columns.push((x, width(picture, column)));
        }
        Layout { columns, boxes: boxes(picture), top }
    }

    /// How wide all of it is.
    pub(super) fn width(&self) -> f64 {
        self.columns.last().map_or(0.0, |(x, width)| x + width) + BETWEEN / 2.0 + MARGIN
    }

    /// Where the last row ends.
    pub(super) fn bottom(&self) -> f64 {
        let rows = self.boxes.iter().map(|(_, row)| row + 1).max().unwrap_or(0);
        self.y(rows)
    }

    fn y(&self, row: usize) -> f64 {
        self.top + row as f64 * (HEIGHT + BELOW)
    }

    /// A column's left side and its width.
    pub(super) fn column(&self, column: usize) -> (f64, f64) {
        self.columns[column]
    }

    /// A box's left upper corner, and its width.
    pub(super) fn place(&self, n: usize) -> (Point, f64) {
        let (column, row) = self.boxes[n];
        let (x, width) = self.columns[column];
        ((x, self.y(row)), width)
    }

    /// The middle of a box's upper side, and of its lower one.
    fn upper(&self, n: usize) -> Point {
        let ((x, y), width) = self.place(n);
        (x + width / 2.0, y)
    }

    fn lower(&self, n: usize) -> Point {
        let (x, y) = self.upper(n);
        (x, y + HEIGHT)
    }

    /// The middle of what is free right below a box.
    pub(super) fn below(&self, n: usize) -> Point {
        let (x, y) = self.lower(n);
        (x, y + BELOW / 2.0)
    }

    /// The line of program order: down the column; to another column through what is free between two rows. Below the
    /// end of a thread and above its beginning its column is free.
    pub(super) fn down(&self, from: usize, to: usize) -> Path {
        let (a, b) = (self.lower(from), self.upper(to));
        if self.boxes[from].0 == self.boxes[to].0 {
            return Path::along(&[a, b]);
        }
        let starts = self.boxes[from].0 < self.boxes[to].0;
        let level = if starts { a.1 + BELOW / 2.0 - 8.0 } else { b.1 - BELOW / 2.0 + 8.0 };
        Path::along(&[a, (a.0, level), (b.0, level), b])
    }

    /// The other lines, in the order of `ends`: out of one side and into another, past all boxes.
    pub(super) fn lines(&self, ends: &[(usize, usize)]) -> Vec<Path> {
        let sides: Vec<(Side, Side)> = ends.iter().map(|&(from, to)| self.sides(from, to)).collect();
        // Each end: the box and the side, and where the line goes to, by which they are sorted.
        let mut all: Vec<(usize, Side, f64, usize, bool)> = Vec::new();
        for (line, (&(from, to), &(out, into))) in ends.iter().zip(&sides).enumerate() {
            all.push((from, out, self.place(to).0.1, line, true));
            all.push((to, into, self.place(from).0.1, line, false));
        }
        all.sort_by(|a, b| (a.0, a.1 as u8).cmp(&(b.0, b.1 as u8)).then(a.2.total_cmp(&b.2)));
        let mut at = vec![[(0.0, 0.0); 2]; ends.len()];
        for shared in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (n, &(boxed, side, _, line, is_out)) in shared.iter().enumerate() {
                let ((x, y), width) = self.place(boxed);
                let x = if side == Side::Left { x } else { x + width };
                let part = (n + 1) as f64 / (shared.len() + 1) as f64;
                at[line][usize::from(!is_out)] = (x, y + part * HEIGHT);
            }
        }
        ends.iter().zip(at).enumerate().map(|(line, (&(from, to), [a, b]))| self.line(line, from, to, a, b)).collect()
    }

    fn sides(&self, from: usize, to: usize) -> (Side, Side) {
        let (a, b) = (self.boxes[from].0, self.boxes[to].0);
        match a.cmp(&b) {
            std::cmp::Ordering::Less => (Side::Right, Side::Left),
            std::cmp::Ordering::Greater => (Side::Left, Side::Right),
            // The last column has less room on its right.
            _ if a > 0 && a + 1 == self.columns.len() => (Side::Left, Side::Left),
            _ => (Side::Right, Side::Right),
        }
    }

    fn line(&self, nth: usize, from: usize, to: usize, a: Point, b: Point) -> Path {
        let ((left, from_row), (right, to_row)) = (self.boxes[from], self.boxes[to]);
        if left == right {
            let reach = 34.0 + 7.0 * (nth % 4) as f64;
            return Path::around(a, b, if self.sides(from, to).0 == Side::Left { -reach } else { reach });
        }
        if left.abs_diff(right) == 1 {
            return Path::sideways(a, b);
        }
        // Past the columns between, through what is free above or below the row of the end.
        let away = 18.0 + 9.0 * (nth % 6) as f64;
        let sign = if left < right { 1.0 } else { -1.0 };
        let (x1, x2) = (a.0 + sign * away, b.0 - sign * away);
        let free = if to_row > from_row { self.y(to_row) - BELOW } else { self.y(to_row) + HEIGHT };
        let level = free + BELOW * (0.3 + 0.2 * (nth % 3) as f64);
        Path::along(&[a, (x1, a.1), (x1, level), (x2, level), (x2, b.1), b])
    }
}

fn width(picture: &Picture, column: usize) -> f64 {
    // The source of a start of a thread is long, and says nothing.
    let line = |node: &crate::picture::Node| if node.loc == Loc::NONE { 0 } else { node.place.line().chars().count() };
    let nodes = picture.nodes.iter().filter(|node| node.column == column);
    let nodes = nodes.map(|node| (uncircled(&node.text()).chars().count(), line(node)));
    let ends = picture.ends.iter().filter(|end| end.column == column);
    let ends = ends.map(|end| (end.what.chars().count(), end.place.line().chars().count()));
    let needs = |(label, line): (usize, usize)| (label as f64 * LETTER + NUMBER).max(line as f64 * SMALL_LETTER + 20.0);
    nodes.chain(ends).map(needs).fold(170.0, f64::max).min(300.0)
}

/// Of each node and each end, the column and the row.
fn boxes(picture: &Picture) -> Vec<(usize, usize)> {
    // Without a cycle time goes down in all columns alike.
    let goes_down = |edge: &&Edge| {
        let is_hard = is_of_threads(edge) || edge.rel == Rel::Rf;
        is_hard || (picture.cycle.is_empty() && edge.from < edge.to)
    };
    let mut boxes: Vec<(usize, usize)> = picture.nodes.iter().map(|node| (node.column, 0)).collect();
    for n in 0..boxes.len() {
        let above = picture.edges.iter().filter(|edge| edge.to == n).filter(goes_down);
        boxes[n].1 = above.map(|edge| boxes[edge.from].1 + 1).max().unwrap_or(0);
    }
    for end in &picture.ends {
        let row = end.last.map_or(0, |last| boxes[last].1 + 1);
        boxes.push((end.column, row));
    }
    boxes
}
