//! A counterexample, drawn.

use crate::report::html::text::{Code, Safe};
use spinpark_verification::record::Picture;
use std::fmt::Write as _;

/// Numbers the drawings of a page, so that names within one are not those within another.
#[derive(Default)]
pub(super) struct Drawings(usize);

impl Drawings {
    /// Folded, with what is wrong as its heading; unfolded if it is what the reader came for.
    pub(super) fn folded(&mut self, out: &mut String, picture: &Picture, word: &str, is_open: bool) {
        let open = if is_open { " open" } else { "" };
        let message = Code(picture.message.lines().next().unwrap_or_default());
        let _ = write!(out, "<details class=\"picture\"{open}><summary><b>{word}</b> <span>{message}</span></summary>");
        self.write(out, picture);
        out.push_str("</details>\n");
    }

    fn write(&mut self, out: &mut String, picture: &Picture) {
        if picture.message.lines().nth(1).is_some() {
            let _ = write!(out, "<pre class=\"message\">{}</pre>", Safe(&picture.message));
        }
        if let Some(svg) = picture.svg.as_deref().and_then(drawing) {
            self.0 += 1;
            let _ = write!(out, "<div class=\"drawing\">{}</div>", renamed(svg, &format!("d{}-", self.0)));
        }
        if !picture.columns.is_empty() {
            let _ = write!(out, "<pre class=\"columns\" tabindex=\"0\">{}</pre>", aligned(&picture.columns));
        }
    }
}

/// Numbers in circles are seldom as wide as a letter, and columns would not stand below each other.
fn aligned(columns: &str) -> String {
    let mut out = String::with_capacity(columns.len() + columns.len() / 8);
    for piece in columns.split_inclusive(is_circled) {
        match piece.chars().next_back().filter(|&last| is_circled(last)) {
            Some(last) => {
                let _ = write!(out, "{}<i>{last}</i>", Safe(piece.trim_end_matches(last)));
            }
            None => _ = write!(out, "{}", Safe(piece)),
        }
    }
    out
}

const fn is_circled(c: char) -> bool {
    matches!(c, '\u{2460}'..='\u{2473}' | '\u{24ea}' | '\u{3251}'..='\u{325f}' | '\u{32b1}'..='\u{32bf}')
}

/// A drawing is ours; but records travel, and what is no plain drawing is not shown.
fn drawing(svg: &str) -> Option<&str> {
    let svg = svg.trim();
    let is_whole = svg.starts_with("<svg ") && svg.ends_with("</svg>") && svg.matches("</svg").count() == 1;
    let low = svg.to_ascii_lowercase();
    let acts = ["<script", "<foreignobject", "<style", "<image", "<use", "<a ", "<!", "<?", "javascript:"];
    let is_handler = |part: &str| part.starts_with("on");
    let is_space = |c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'');
    let tags = low.split('<').filter_map(|piece| piece.split('>').next());
    let listens = tags.flat_map(|tag| tag.split(is_space)).any(is_handler);
    (is_whole && !listens && !acts.iter().any(|what| low.contains(what))).then_some(svg)
}

/// Every drawing names its boxes `e1`, `e2`, and the heads of its arrows by their colour. On one page an arrow would
/// get its head from the first drawing, and none while that is folded.
fn renamed(svg: &str, prefix: &str) -> String {
    let mut out = String::with_capacity(svg.len() + svg.len() / 16);
    // Texts have no `<` in them, and attributes neither: each piece is a tag and the text behind it.
    for (n, piece) in svg.split('<').enumerate() {
        if n > 0 {
            out.push('<');
        }
        match piece.split_once('>') {
            Some((tag, text)) => {
                let tag = tag.replace(" id=\"", &format!(" id=\"{prefix}"));
                let tag =
                    tag.replace("url(#", &format!("url(#{prefix}")).replace("href=\"#", &format!("href=\"#{prefix}"));
                let _ = write!(out, "{tag}>{text}");
            }
            None => out.push_str(piece),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn names_in_a_drawing_are_its_own() {
        let named = renamed(sample::SVG.trim(), "d7-");
        for part in ["<marker id=\"d7-red\">", "<g id=\"d7-e1\">", "url(#d7-red)", ">id=\"red\" is no id here<"] {
            assert!(named.contains(part), "{named}");
        }
        assert!(!named.contains("url(#red)"));
    }

    #[test]
    fn circled_numbers_are_as_wide_as_letters() {
        assert_eq!(aligned("*① a<b ←⓪\n②②"), "*<i>①</i> a&lt;b ←<i>⓪</i>\n<i>②</i><i>②</i>");
        assert_eq!(aligned("plain"), "plain");
    }

    #[test]
    fn what_acts_is_not_shown() {
        assert!(drawing(sample::SVG).is_some());
        let with = |part: &str| sample::SVG.replace("<g id=\"e1\">", part);
        for part in [
            "<script>alert(1)</script><g>",
            "<g onload=\"alert(1)\">",
            "<g\nonload=\"alert(1)\">",
            "<g/onload=\"alert(1)\">",
            "<foreignObject/><g>",
            "</svg><b>out</b><svg><g>",
        ] {
            assert!(drawing(&with(part)).is_none(), "{part}");
        }
        assert!(drawing("no drawing").is_none());
    }
}
