//! A run in parts, on several machines: which of them takes which job, and one record of all parts.

use spinpark_museum as museum;
use spinpark_verification::mutation::mutant;
use spinpark_verification::record::{FORMAT, Record};
use spinpark_verification::{fnv, model};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// One of several parts of a run: `1/4` is the first of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shard {
    /// Which part, from 1.
    pub(crate) index: u32,
    /// Of how many.
    pub(crate) of: u32,
}

impl Shard {
    /// Does this part run the job of that name? Exactly one part does, whatever other jobs there are.
    pub(crate) fn takes(&self, key: &str) -> bool {
        hash(key) % u64::from(self.of) == u64::from(self.index - 1)
    }
}

/// FNV-1a's lowest bits know only the lowest bits of each byte, so the highest are mixed in.
fn hash(key: &str) -> u64 {
    let fnv = fnv::hash(key.bytes());
    fnv ^ (fnv >> 32)
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.index, self.of))
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let number = |part: &str| part.trim().parse::<u32>().ok();
        let parts = text.split_once('/').and_then(|(index, of)| Some((number(index)?, number(of)?)));
        match parts {
            None => Err(format!("`{text}` is no shard: write which one of how many, as in 1/4")),
            Some((_, 0)) => Err("a run in 0 shards has no jobs: the number after the slash is at least 1".to_owned()),
            Some((0, of)) => Err(format!("shards are counted from 1: from 1/{of} to {of}/{of}")),
            Some((index, of)) if index > of => Err(format!("there is no shard {index} of {of}: the last is {of}/{of}")),
            Some((index, of)) => Ok(Shard { index, of }),
        }
    }
}

/// One record from those of all shards, as a run of the whole would have made it. The error says what is missing.
pub(crate) fn merge(records: Vec<Record>) -> Result<Record, String> {
    let named = records.into_iter().map(|record| shard_of(&record).map(|shard| (shard, record)));
    let mut parts: Vec<(Shard, Record)> = named.collect::<Result<_, String>>()?;
    parts.sort_by_key(|(shard, _)| *shard);
    all_are_there(&parts)?;
    all_are_alike(&parts)?;
    none_overlap(&parts)?;
    let mut parts = parts.into_iter().map(|(_, record)| record);
    let mut whole = parts.next().ok_or_else(nothing)?;
    whole.shard = None;
    for part in parts {
        if !whole.machine.split("; ").any(|machine| machine == part.machine) {
            whole.machine = format!("{}; {}", whole.machine, part.machine);
        }
        // The whole was not there before its last part.
        whole.date = whole.date.max(part.date);
        whole.runs.extend(part.runs);
        whole.mutants.extend(part.mutants);
        whole.museum.extend(part.museum);
    }
    sort(&mut whole);
    Ok(whole)
}

fn nothing() -> String {
    "there is nothing to merge: give the records of all shards".to_owned()
}

fn shard_of(record: &Record) -> Result<Shard, String> {
    if record.format != FORMAT {
        return Err(format!(
            "a record of format {}, and only format {FORMAT} can be merged: run that shard again with this version",
            record.format
        ));
    }
    match &record.shard {
        Some(shard) => shard.parse().map_err(|error| format!("a record is of no shard: {error}")),
        None => Err(format!(
            "a record of {} is of a whole run: there is nothing to merge it with; merge only what `--shard` made",
            record.date
        )),
    }
}

/// Each shard once, and all of the same run.
fn all_are_there(parts: &[(Shard, Record)]) -> Result<(), String> {
    let (first, _) = parts.first().ok_or_else(nothing)?;
    if let Some((other, _)) = parts.iter().find(|(shard, _)| shard.of != first.of) {
        return Err(format!("{first} and {other} are parts of different runs: give the shards of one"));
    }
    if let Some(twice) = parts.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(format!("{} is given twice: give each shard once", twice[0].0));
    }
    let is_there = |index: u32| parts.iter().any(|(shard, _)| shard.index == index);
    let missing: Vec<String> =
        (1..=first.of).filter(|&index| !is_there(index)).map(|index| format!("{index}/{}", first.of)).collect();
    match missing.as_slice() {
        [] => Ok(()),
        [one] => Err(format!("{one} is missing: run it with `--shard {one}`, and merge again with its record")),
        [one, ..] => Err(format!(
            "{} are missing: run each, as in `--shard {one}`, and merge again with their records",
            missing.join(", ")
        )),
    }
}

fn all_are_alike(parts: &[(Shard, Record)]) -> Result<(), String> {
    let Some((first, head)) = parts.first() else { return Ok(()) };
    for (shard, record) in parts {
        if record.version != head.version {
            return Err(format!(
                "{first} is of version {}, {shard} of {}: run all shards with the same version",
                head.version, record.version
            ));
        }
        if record.deep != head.deep {
            let (deep, usual) = if head.deep { (first, shard) } else { (shard, first) };
            return Err(format!("{deep} went deep, {usual} did not: run all shards with `--deep`, or all without"));
        }
    }
    Ok(())
}

/// The same job in two shards: they were not cut the same way.
fn none_overlap(parts: &[(Shard, Record)]) -> Result<(), String> {
    let mut seen = HashMap::new();
    for (shard, record) in parts {
        let runs = record.runs.iter().map(|run| format!("{} on {} ({})", run.model, run.engine, run.bounds));
        let mutants = record.mutants.iter().map(|mutant| format!("mutant {}", mutant.name));
        let exhibits = record.museum.iter().map(|exhibit| format!("exhibit {}", exhibit.name));
        for job in runs.chain(mutants).chain(exhibits) {
            if let Some(other) = seen.get(&job).filter(|other| *other != shard) {
                return Err(format!("{job} is in {other} and in {shard}: run both again with the same version"));
            }
            seen.insert(job, *shard);
        }
    }
    Ok(())
}

/// Brings a record into reading order, in whatever order its jobs were done.
pub(crate) fn sort(record: &mut Record) {
    let models = places(model::all().map(|model| model.name));
    let place = |name: &str| models.get(name).copied().unwrap_or(usize::MAX);
    let of_run = |bounds: &spinpark_verification::engines::Bounds| (bounds.spurious, bounds.preemptions, bounds.depth);
    record.runs.sort_by(|a, b| {
        let (left, right) = ((place(&a.model), &a.model, a.engine), (place(&b.model), &b.model, b.engine));
        left.cmp(&right).then_with(|| of_run(&a.bounds).cmp(&of_run(&b.bounds)))
    });
    let variants = places(mutant::all().map(|mutant| mutant.name));
    let variant = |name: &str| variants.get(name).copied().unwrap_or(usize::MAX);
    record.mutants.sort_by(|a, b| {
        let left = (a.sort, variant(&a.name), &a.file, a.line, &a.name);
        left.cmp(&(b.sort, variant(&b.name), &b.file, b.line, &b.name))
    });
    let exhibits = places(museum::all().map(|exhibit| exhibit.name));
    let exhibit = |name: &str| exhibits.get(name).copied().unwrap_or(usize::MAX);
    record.museum.sort_by(|a, b| (exhibit(&a.name), &a.name).cmp(&(exhibit(&b.name), &b.name)));
}

fn places(names: impl Iterator<Item = &'static str>) -> HashMap<&'static str, usize> {
    names.enumerate().map(|(place, name)| (name, place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn parsed(text: &str) -> Result<Shard, String> {
        text.parse()
    }

    #[test]
    fn a_shard_is_written_as_it_is_read() {
        for text in ["1/1", "1/4", "4/4", "12/100"] {
            assert_eq!(parsed(text).map(|shard| shard.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_shard_says_why() {
        for (text, says) in [
            ("0/3", "from 1/3 to 3/3"),
            ("4/3", "the last is 3/3"),
            ("a/b", "as in 1/4"),
            ("1/0", "at least 1"),
            ("0/0", "at least 1"),
            ("3", "as in 1/4"),
            ("", "as in 1/4"),
            ("-1/3", "as in 1/4"),
            ("1/2/3", "as in 1/4"),
            ("1/99999999999", "as in 1/4"),
        ] {
            let error = parsed(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn each_job_has_one_shard_and_shards_are_even() {
        let jobs: Vec<String> = (0..1200)
            .map(|n| format!("room{}::property_{}::topology on {}", n % 17, n, ["rc11", "loom", "sc"][n % 3]))
            .collect();
        for of in [1, 2, 3, 4, 7, 8, 16] {
            let shards = (1..=of).map(|index| Shard { index, of });
            let sizes: Vec<usize> = shards.map(|shard| jobs.iter().filter(|job| shard.takes(job)).count()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), jobs.len());
            let even = jobs.len() / of as usize;
            assert!(sizes.iter().all(|&size| size > even / 2 && size < even * 3 / 2), "{of}: {sizes:?}");
        }
    }

    #[test]
    fn a_job_stays_where_it_was_in_the_next_version() {
        // Records of yesterday's shards would not fit today's if this changed.
        let shard = |key: &str| (1..=4).find(|&index| Shard { index, of: 4 }.takes(key)).unwrap_or_default();
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325 ^ 0xcbf2_9ce4);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c ^ 0xaf63_dc4c);
        assert_eq!(["runq", "handoff", "stw", "netpoll"].map(shard), [3, 2, 3, 3]);
    }

    /// The sample, cut in `of` parts as a run would be.
    fn cut(of: u32) -> Vec<Record> {
        let part = |shard: Shard| {
            let mut record = sample::record();
            record.shard = Some(shard.to_string());
            record.runs.retain(|run| shard.takes(&format!("{} {}", run.model, run.engine)));
            record.mutants.retain(|mutant| shard.takes(&mutant.name));
            record.museum.retain(|exhibit| shard.takes(&exhibit.name));
            record
        };
        (1..=of).map(|index| part(Shard { index, of })).collect()
    }

    #[test]
    fn the_parts_are_the_whole_in_any_order() {
        let mut whole = sample::record();
        sort(&mut whole);
        for of in [1, 2, 3, 5] {
            let mut parts = cut(of);
            parts.reverse();
            let merged = merge(parts).expect("all are there");
            assert_eq!(format!("{merged:?}"), format!("{whole:?}"));
        }
    }

    #[test]
    fn machines_are_all_named_and_the_last_date_counts() {
        let mut parts = cut(3);
        parts[1].machine = "another".to_owned();
        parts[2].machine = "another".to_owned();
        parts[1].date = "2026-11-23".to_owned();
        let merged = merge(parts).expect("all are there");
        assert_eq!(merged.machine, format!("{}; another", sample::record().machine));
        assert_eq!(merged.date, "2026-11-23");
    }

    fn refused(change: impl FnOnce(&mut Vec<Record>)) -> String {
        let mut parts = cut(4);
        change(&mut parts);
        merge(parts).expect_err("not all of one run")
    }

    #[test]
    fn what_does_not_fit_says_what_to_do() {
        let missing = refused(|parts| _ = parts.remove(1));
        assert!(missing.starts_with("2/4 is missing: run it with `--shard 2/4`"), "{missing}");
        let missing = refused(|parts| parts.truncate(2));
        assert!(missing.starts_with("3/4, 4/4 are missing"), "{missing}");
        let twice = refused(|parts| parts.push(parts[2].clone()));
        assert!(twice.starts_with("3/4 is given twice"), "{twice}");
        let nothing = refused(Vec::clear);
        assert!(nothing.contains("nothing to merge"), "{nothing}");
        let whole = refused(|parts| parts[0].shard = None);
        assert!(whole.contains("of a whole run"), "{whole}");
        let odd = refused(|parts| parts[0].shard = Some("some".to_owned()));
        assert!(odd.contains("`some` is no shard"), "{odd}");
        let other = refused(|parts| parts[0].shard = Some("1/5".to_owned()));
        assert!(other.contains("different runs"), "{other}");
        let version = refused(|parts| parts[2].version = "9.9.9".to_owned());
        assert!(version.contains("3/4 of 9.9.9: run all shards with the same version"), "{version}");
        let deep = refused(|parts| parts[3].deep = true);
        assert!(deep.contains("4/4 went deep, 1/4 did not"), "{deep}");
        let format = refused(|parts| parts[3].format = 2);
        assert!(format.contains("a record of format 2"), "{format}");
        let overlap = refused(|parts| {
            let run = parts.iter().find_map(|part| part.runs.first().cloned()).expect("some run");
            parts[0].runs.push(run.clone());
            parts[1].runs.push(run);
        });
        assert!(overlap.contains("is in 1/4 and in 2/4"), "{overlap}");
    }
}
