//! The words of a litmus test.

use crate::model::MemoryModel;
use crate::question::Expected;

/// What went wrong: a line, and what was expected there.
pub(super) type Wrong = (usize, String);
/// The line where each comment begins, and the comment.
type Comments = Vec<(usize, String)>;

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Number(i64),
    Sign(&'static str),
}

/// What stands where, and what the comments expect.
pub(super) struct Words {
    pub(super) name: String,
    pub(super) tokens: Vec<(Token, usize)>,
    pub(super) expected: Expected,
}

/// Longer ones before those they begin with.
const SIGNS: &[&str] = &[
    "<<=", ">>=", "/\\", "\\/", "=>", "==", "!=", "<=", ">=", "&&", "||", "->", "+=", "-=", "*=", "&=", "|=", "^=",
    "++", "--", "<<", ">>", "{", "}", "(", ")", "[", "]", ";", ",", ":", "=", "<", ">", "+", "-", "*", "/", "%", "&",
    "|", "^", "!", "~", "?", ".", "@",
];

/// Splits a test into words: its name, and all from the first brace on. What herd7 writes between them is passed over.
///
/// # Errors
/// The line, and what was expected there.
pub(super) fn lex(text: &str) -> Result<Words, Wrong> {
    let (text, comments) = strip_comments(text)?;
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| line.trim().is_empty());
    let (n, first) = lines.next().ok_or((1, "expected `C` and the test's name, found nothing".to_owned()))?;
    let Some(name) = first.trim().strip_prefix("C ").and_then(|rest| rest.split_whitespace().next()) else {
        return Err((n + 1, "expected `C` and the test's name: only herd7's C format is read".to_owned()));
    };
    let start = text.find('{').ok_or((n + 1, "expected `{` and the initial values".to_owned()))?;
    let line = 1 + text[..start].matches('\n').count();
    Ok(Words { name: name.to_owned(), tokens: tokens(&text[start..], line)?, expected: expectations(&comments)? })
}

/// Replaces comments and quoted text by blanks; returns the comments too, with the line of each.
fn strip_comments(text: &str) -> Result<(String, Comments), Wrong> {
    let (mut code, mut comments, mut rest, mut line, mut depth) = (String::new(), Vec::new(), text, 1, 0);
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '(' if is_comment(rest, depth) => nested_end(rest),
            '/' if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            '/' if rest.starts_with("//") => Some(rest.find('\n').unwrap_or(rest.len())),
            '"' => rest[1..].find('"').map(|end| end + 2),
            _ => {
                code.push(next);
                line += usize::from(next == '\n');
                depth += i32::from(next == '{') - i32::from(next == '}');
                rest = &rest[next.len_utf8()..];
                continue;
            }
        };
        let length = length.ok_or((line, "expected the end of this comment or quotation, found none".to_owned()))?;
        let (comment, after) = rest.split_at(length);
        comments.push((line, comment.to_owned()));
        let breaks = comment.matches('\n').count();
        code.push(' ');
        code.extend(std::iter::repeat_n('\n', breaks));
        line += breaks;
        rest = after;
    }
    Ok((code, comments))
}

/// Does a comment begin here? Between braces `(*x` is C, a pointer followed.
fn is_comment(text: &str, depth: i32) -> bool {
    let Some(rest) = text.strip_prefix("(*") else { return false };
    depth == 0 || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Where the comment that `text` begins with ends. Comments of this kind may contain one another.
fn nested_end(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        let rest = &text[at..];
        let close = rest.find("*)")?;
        match rest.find("(*") {
            Some(open) if open < close => (depth, at) = (depth + 1, at + open + 2),
            _ => (depth, at) = (depth - 1, at + close + 2),
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// `Expected: Never`, `Under imm: Sometimes` and the like, in comments.
fn expectations(comments: &[Wrong]) -> Result<Expected, Wrong> {
    let mut expected = Expected::default();
    for (first, comment) in comments {
        for (n, line) in comment.lines().enumerate() {
            let line = line.trim_start_matches(|c: char| c.is_whitespace() || "(*/".contains(c));
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim().trim_end_matches(|c: char| c.is_whitespace() || ".*/)".contains(c));
            let number = || value.parse().map_err(|_| (first + n, format!("expected a number, found `{value}`")));
            if let Some(model) = key.strip_prefix("Under ")
                && let Some(model) = MemoryModel::ALL.into_iter().find(|other| other.name() == model)
            {
                expected.elsewhere.insert(model, value.parse().map_err(|what| (first + n, what))?);
            }
            match key {
                "Expected" => expected.verdict = Some(value.parse().map_err(|what| (first + n, what))?),
                "Outcomes" => expected.outcomes = Some(number()?),
                "Executions" => expected.executions = Some(number()?),
                _ => (),
            }
        }
    }
    Ok(expected)
}

fn tokens(text: &str, mut line: usize) -> Result<Vec<(Token, usize)>, Wrong> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(next) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if next.is_whitespace() {
            line += usize::from(next == '\n');
            next.len_utf8()
        } else if word(next) {
            let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
            let token =
                if next.is_ascii_digit() { number(&rest[..end], line)? } else { Token::Name(rest[..end].to_owned()) };
            tokens.push((token, line));
            end
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push((Token::Sign(sign), line));
            sign.len()
        } else {
            return Err((line, format!("`{next}` is not expected here")));
        };
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn number(text: &str, line: usize) -> Result<Token, Wrong> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).map(|value| value as i64),
        None => digits.parse(),
    };
    value.map(Token::Number).map_err(|_| (line, format!("expected a number, found `{text}`")))
}
