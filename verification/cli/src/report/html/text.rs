//! What is written into the page: texts made safe, names of places, numbers.

use std::fmt::{self, Display, Write as _};

/// A text as text, between tags or in an attribute's quotes.
pub(super) struct Safe<'a>(pub &'a str);

impl Display for Safe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                // Those that turn the direction of what follows could make a line of source look like another.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => f.write_char('\u{fffd}')?,
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// The name of a place in the page, to link to: the same for the same thing in every report, and another for another.
pub(super) struct Id<'a>(pub &'static str, pub &'a str);

impl Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-", self.0)?;
        for c in self.1.chars() {
            match c {
                c if c.is_ascii_alphanumeric() => f.write_char(c)?,
                '_' | '-' | '.' | ':' | '/' => f.write_char(c)?,
                ' ' => f.write_char('+')?,
                c => write!(f, "~{:x}~", u32::from(c))?,
            }
        }
        Ok(())
    }
}

/// `1234567` as `1,234,567`.
pub(super) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration that a reader takes in.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match seconds {
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 99.95 => format!("{s:.1} s"),
        s if s < 600.0 => format!("{s:.0} s"),
        s if s < 36_000.0 => format!("{} min", number(whole / 60)),
        _ => format!("{} h {} min", number(whole / 3600), whole / 60 % 60),
    }
}

/// `1 claim`, `2 claims`.
pub(super) fn count(n: usize, what: &str) -> String {
    format!("{} {what}{}", number(n as u64), if n == 1 { "" } else { "s" })
}

/// A model's long name, which may be broken where its parts meet.
pub(super) fn model(name: &str) -> String {
    Safe(name).to_string().replace("::", "::<wbr>")
}

/// Paragraphs, as far as a text has several.
pub(super) fn paragraphs(text: &str) -> String {
    let mut out = String::new();
    for part in text.split("\n\n").filter(|part| !part.trim().is_empty()) {
        let _ = write!(out, "<p>{}</p>", Code(part.trim()));
    }
    out
}

/// A text in which `this` is code.
pub(super) struct Code<'a>(pub &'a str);

impl Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces: Vec<&str> = self.0.split('`').collect();
        let pairs = pieces.len() - (pieces.len() + 1) % 2;
        for (n, piece) in pieces.iter().enumerate() {
            match (n % 2, n < pairs) {
                (1, true) => write!(f, "<code>{}</code>", Safe(piece))?,
                // The last one has no partner: it stands for itself.
                (1, false) => write!(f, "`{}", Safe(piece))?,
                _ => write!(f, "{}", Safe(piece))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_at_a_glance() {
        assert_eq!([0, 7, 999, 1000, 1_234_567].map(number), ["0", "7", "999", "1,000", "1,234,567"]);
        let durations = [0.0, 0.004, 9.99, 12.34, 99.97, 312.0, 7200.0, 360_000.0].map(duration);
        assert_eq!(durations, ["0.00 s", "0.00 s", "9.99 s", "12.3 s", "100 s", "312 s", "120 min", "100 h 0 min"]);
        assert_eq!([count(1, "claim"), count(1000, "claim")], ["1 claim", "1,000 claims"]);
    }

    #[test]
    fn code_is_what_stands_between_two() {
        let code = |text| Code(text).to_string();
        assert_eq!(code("plain"), "plain");
        assert_eq!(code("`a<b` is"), "<code>a&lt;b</code> is");
        assert_eq!(code("a `b` c `d` e"), "a <code>b</code> c <code>d</code> e");
        assert_eq!(code("it`s"), "it`s");
        assert_eq!(code("a `b` it`s"), "a <code>b</code> it`s");
        assert_eq!(code("`"), "`");
    }

    #[test]
    fn a_place_has_one_name() {
        assert_eq!(Id("model", "runq::put::full").to_string(), "model-runq::put::full");
        assert_eq!(Id("mutant", "a \"b\"").to_string(), "mutant-a+~22~b~22~");
        assert_ne!(Id("m", "a+b").to_string(), Id("m", "a b").to_string());
    }
}
