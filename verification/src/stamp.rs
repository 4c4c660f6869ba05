//! What a record is stamped with: when it was made, and of which source. The package `parameterized` reads this file too.

use crate::fnv;
use std::time::{SystemTime, UNIX_EPOCH};

/// Today, in UTC. The days of the civil calendar are counted as Howard Hinnant does in `civil_from_days`.
pub fn today() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400) as i64;
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// A hash of a file's code: comments and white space are no part of it.
pub fn of_code(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let bytes = code.flat_map(str::bytes).filter(|byte| !byte.is_ascii_whitespace());
    format!("{:016x}", fnv::hash(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_changes_no_stamp_and_a_step_does() {
        let code = "fn f() {\n    a();\n}\n";
        assert_eq!(of_code("// Says more.\nfn f() {\n  a();\n}\n"), of_code(code));
        assert_ne!(of_code("fn f() {\n    b();\n}\n"), of_code(code));
    }
}
