//! What was meant by a name that nothing has.

use crate::Stop;

/// At most so many are proposed.
const MOST: usize = 3;

/// There is no such `what`; and which of `all` may have been meant. `list` shows all of them.
pub(crate) fn unknown<'a>(what: &str, names: &[String], all: impl Iterator<Item = &'a str>, list: &str) -> Stop {
    let all: Vec<&str> = all.collect();
    let wrong = names.iter().find(|name| !all.iter().any(|of| of.contains(name.as_str()))).or(names.first());
    let wrong = wrong.map(String::as_str).unwrap_or_default();
    let near: Vec<String> = nearest(wrong, &all).into_iter().map(|name| format!("`{name}`")).collect();
    let meant = if near.is_empty() { String::new() } else { format!(" Did you mean {}?", near.join(" or ")) };
    Stop::BadInput(format!("there is no {what} `{wrong}`.{meant} `{list}` lists all."))
}

/// The few that differ from `name`, or in a part of theirs, by no more than one letter in three, the nearest first.
fn nearest<'a>(name: &str, all: &[&'a str]) -> Vec<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    let parts = |of: &'a str| [of].into_iter().chain(of.split("::"));
    let mut near: Vec<(usize, &str)> = all.iter().flat_map(|of| parts(of)).map(|of| (distance(name, of), of)).collect();
    near.retain(|(distance, _)| *distance <= most);
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, of)| of).take(MOST).collect()
}

/// How many letters have to be changed, put in, taken out, or exchanged with their neighbours.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows = vec![(0..=other.len()).collect::<Vec<usize>>()];
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let changed = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_lacks_a_letter_or_has_two_exchanged_is_near() {
        let all = ["spinning::work_is_conserved", "runq::two_thieves", "idle::a"];
        assert_eq!(nearest("spining", &all), ["spinning"]);
        assert_eq!(nearest("tow_thieves", &all), ["two_thieves"]);
        assert!(nearest("zebra", &all).is_empty());
    }
}
