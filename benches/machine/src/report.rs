//! Tables and curves.

use crate::play::Outcome;
use std::fmt::Write;

/// One design with so many Ps.
#[derive(Debug, Clone)]
pub struct Entry {
    /// How many Ps.
    pub procs: usize,
    /// Which design.
    pub who: &'static str,
    /// What came of it.
    pub outcome: Outcome,
}

/// A table's first two lines.
pub const HEAD: &str = "\
| Ps | rules | ns | ns x Ps | used | wakes | wasted | lines | lines a steal | tries a steal | searching | locks | in the lock | before it | hottest line | own figures |
|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|";

fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "-".to_owned(),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

impl Entry {
    fn each(&self, picos: u64) -> f64 {
        picos as f64 / 1e3 / self.outcome.operations as f64
    }

    /// Nanoseconds of all Ps for each operation: a straight line for a design that grows with the machine.
    pub fn of_all_ps(&self) -> f64 {
        self.each(self.outcome.time) * self.procs as f64
    }
}

/// A table's row. Times are nanoseconds for each operation.
pub fn row(entry: &Entry) -> String {
    let Outcome { operations, time, computing, counts, hottest: (moving, line), figures } = &entry.outcome;
    let by = |n: u64, of: u64| if of == 0 { f64::NAN } else { n as f64 / of as f64 };
    let own: Vec<String> = figures.iter().map(|(name, value)| format!("{name} {}", number(*value))).collect();
    format!(
        "| {} | {} | {} | {} | {} % | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} % {} | {} |",
        entry.procs,
        entry.who,
        number(entry.each(*time)),
        number(entry.of_all_ps()),
        number(100.0 * *computing as f64 / (*time as f64 * entry.procs as f64)),
        counts.wakes,
        counts.wasted,
        number(by(counts.lines, *operations)),
        number(by(counts.lines_in_search, counts.steals)),
        number(by(counts.tries, counts.steals)),
        number(entry.each(counts.searched)),
        number(by(counts.locks, *operations)),
        number(entry.each(counts.held)),
        number(entry.each(counts.waited)),
        number(100.0 * *moving as f64 / *time as f64),
        line,
        own.join(", "),
    )
}

const WIDE: f64 = 520.0;
const HIGH: f64 = 300.0;
const LEFT: f64 = 60.0;
const COLOURS: [&str; 4] = ["#b02418", "#1f6fb2", "#2e8540", "#8a5a00"];

/// A curve for each design: Ps across, nanoseconds of all Ps for each operation upwards, both by powers of two.
pub fn curve(title: &str, entries: &[Entry]) -> String {
    let values: Vec<f64> = entries.iter().map(|entry| entry.of_all_ps().log2()).collect();
    let (low, high) =
        (values.iter().copied().fold(f64::MAX, f64::min).floor(), values.iter().copied().fold(0.0, f64::max).ceil());
    let most = entries.iter().map(|entry| entry.procs).max().unwrap_or(1).max(2) as f64;
    let x = |procs: usize| LEFT + (procs as f64).log2() / most.log2() * (WIDE - LEFT - 20.0);
    let y = |value: f64| HIGH - 30.0 - (value - low) / (high - low).max(1.0) * (HIGH - 70.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDE} {HIGH}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDE}\" height=\"{HIGH}\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"16\" font-weight=\"bold\">{title}: ns x Ps an operation</text>\n"
    );
    let mut put = |text: String| svg.write_str(&text).unwrap_or_else(|_| unreachable!("a string takes all"));
    let mut step = low;
    while step <= high {
        let at = y(step);
        put(format!(
            "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#ddd\"/><text x=\"4\" y=\"{at:.1}\">{}</text>\n",
            WIDE - 20.0,
            number(step.exp2())
        ));
        step += 1.0;
    }
    let mut columns: Vec<usize> = entries.iter().map(|entry| entry.procs).collect();
    columns.dedup();
    for procs in columns {
        put(format!("<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{procs}</text>\n", x(procs), HIGH - 10.0));
    }
    let mut names: Vec<&str> = Vec::new();
    entries.iter().for_each(|entry| {
        if !names.contains(&entry.who) {
            names.push(entry.who)
        }
    });
    for (n, who) in names.iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        let points = entries.iter().filter(|entry| entry.who == *who);
        let points: Vec<String> =
            points.map(|entry| format!("{:.1},{:.1}", x(entry.procs), y(entry.of_all_ps().log2()))).collect();
        put(format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n",
            points.join(" ")
        ));
        put(format!("<text x=\"{:.1}\" y=\"32\" fill=\"{colour}\">{who}</text>\n", LEFT + 130.0 * n as f64));
    }
    svg.push_str("</svg>\n");
    svg
}
