//! Lines and words of a drawing.

use crate::picture::label::cut;
use std::fmt::Write as _;

/// A point.
pub(super) type Point = (f64, f64);

/// A line, and where a word about it may stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    pub d: String,
    pub word: Point,
    /// Between here and there nothing else is, to the left and right of the word.
    pub free: (f64, f64),
}

impl Path {
    /// From side to side, level at both ends.
    pub(super) fn sideways(from: Point, to: Point) -> Path {
        let reach = (to.0 - from.0) / 2.0;
        Path::cubic(from, (from.0 + reach, from.1), (to.0 - reach, to.1), to, 0.24)
    }

    /// Out of a side and back into it.
    pub(super) fn around(from: Point, to: Point, reach: f64) -> Path {
        Path::cubic(from, (from.0 + reach, from.1), (to.0 + reach, to.1), to, 0.5)
    }

    fn cubic(a: Point, b: Point, c: Point, d: Point, word_at: f64) -> Path {
        let t = word_at;
        let at = |a: f64, b: f64, c: f64, d: f64| {
            let s = 1.0 - t;
            s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
        };
        let word = (at(a.0, b.0, c.0, d.0), at(a.1, b.1, c.1, d.1));
        let curve = format!("M{:.0} {:.0}C{:.0} {:.0} {:.0} {:.0} {:.0} {:.0}", a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1);
        let free = (a.0.min(d.0).min(word.0), a.0.max(d.0).max(word.0));
        Path { d: curve, word, free }
    }

    /// Along these points, with round corners.
    pub(super) fn along(points: &[Point]) -> Path {
        let mut d = String::new();
        for (n, &(x, y)) in points.iter().enumerate() {
            let _ = match (n.checked_sub(1).map(|n| points[n]), points.get(n + 1)) {
                (None, _) => write!(d, "M{x:.0} {y:.0}"),
                (_, None) => write!(d, "L{x:.0} {y:.0}"),
                (Some(before), Some(&after)) => {
                    let (a, b) = (towards((x, y), before), towards((x, y), after));
                    write!(d, "L{:.0} {:.0}Q{x:.0} {y:.0} {:.0} {:.0}", a.0, a.1, b.0, b.1)
                }
            };
        }
        let middle = points.len() / 2;
        let [a, b] = [middle.saturating_sub(1), middle].map(|n| points.get(n).copied().unwrap_or_default());
        Path { d, word: ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0), free: (f64::MIN, f64::MAX) }
    }
}

/// The point at the radius of a corner from `corner` on the way to `to`, but not beyond the half of the way.
fn towards(corner: Point, to: Point) -> Point {
    let (dx, dy) = (to.0 - corner.0, to.1 - corner.1);
    let length = dx.hypot(dy);
    let part = if length > 0.0 { (10.0_f64).min(length / 2.0) / length } else { 0.0 };
    (corner.0 + dx * part, corner.1 + dy * part)
}

/// Text that stands between tags.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML has no way to write most of these, nor the two that are no characters.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// A text in lines of at most so many characters.
pub(super) fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = cut(word, room);
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}
