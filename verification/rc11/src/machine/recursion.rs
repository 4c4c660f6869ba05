//! A thread whose functions call each other without end is stopped before its stack ends, and it is said which.
//!
//! It is seen where the thread asks for its next step. A recursion that never asks for one still dies by a signal.

use std::backtrace::Backtrace;

/// So much of a stack is kept for what is done when the rest is used up: reading the backtrace, and unwinding.
const RESERVE: usize = 0x1_0000;

/// The longest cycle that is looked for.
const LONGEST: usize = 24;

/// Is the stack that ends at `end` used up, but for the reserve?
pub(super) fn is_used_up(end: usize) -> bool {
    let here = 0u8;
    (&raw const here).addr() < end.saturating_add(RESERVE)
}

/// What is wrong with the calling thread, whose stack is used up.
pub(super) fn sentence() -> String {
    let names = functions(&Backtrace::force_capture().to_string());
    match cycle(&names) {
        Some(cycle) => format!("endless recursion: {} -> {}", cycle.join(" -> "), cycle[0]),
        None => "the stack of a thread is used up, and no cycle of calls is seen on it".to_owned(),
    }
}

/// The functions of a backtrace as it is printed, the innermost first.
fn functions(trace: &str) -> Vec<String> {
    let name = |line: &str| {
        let (nth, name) = line.trim().split_once(": ")?;
        nth.parse::<usize>().ok().map(|_| without_hash(name).to_owned())
    };
    trace.lines().filter_map(name).collect()
}

fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => name,
    }
}

/// The shortest sequence of calls that comes four times in a row, a caller before what it calls.
fn cycle(names: &[String]) -> Option<Vec<&str>> {
    let repeats = |from: usize, of: usize| {
        let all = names.get(from..from + 4 * of)?;
        all.iter().zip(&all[of..]).all(|(a, b)| a == b).then(|| &all[..of])
    };
    let found = (1..=LONGEST).find_map(|of| (0..2 * LONGEST).find_map(|from| repeats(from, of)))?;
    Some(found.iter().rev().map(String::as_str).collect())
}

#[cfg(test)]
mod tests {
    use super::{cycle, functions};

    #[test]
    fn the_shortest_cycle_is_told_in_the_order_of_calls() {
        let names: Vec<String> = ["ask", "b", "a", "b", "a", "b", "a", "b", "a", "main"].map(str::to_owned).into();
        assert_eq!(cycle(&names), Some(vec!["a", "b"]));
        assert_eq!(cycle(&names[..6]), None, "three times are not enough");
    }

    #[test]
    fn functions_are_read_from_a_backtrace() {
        let trace = "   0: one::two::h0123456789abcdef\n             at ./src/one.rs:3:5\n  11: <T as U>::f\n";
        assert_eq!(functions(trace), ["one::two", "<T as U>::f"]);
    }
}
