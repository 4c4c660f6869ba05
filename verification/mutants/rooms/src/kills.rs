//! Which program kills which wrong variant: kept in `verification/rooms/kills.tsv`, so that it is played before all others.

use spinpark_rooms::explore::{shape_name, shape_of};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fmt, fs, io};

/// The program that kills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Killer {
    /// Whose it is.
    pub room: String,
    /// Of which shape, by number.
    pub n: usize,
    /// Which of them.
    pub nth: usize,
}

impl fmt::Display for Killer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.room, shape_name(self.n), self.nth)
    }
}

impl Killer {
    /// From three words.
    pub fn of(words: &[&str]) -> Option<Killer> {
        let [room, shape, nth] = words else { return None };
        Some(Killer { room: (*room).to_owned(), n: shape_of(shape)?, nth: nth.parse().ok()? })
    }
}

/// By room and by what is wrong.
#[derive(Debug, Default)]
pub struct Kills(BTreeMap<(String, String), Killer>);

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../rooms/kills.tsv")
}

impl Kills {
    /// What is kept. A line that is none is left out: then all programs are played.
    pub fn read() -> Kills {
        let text = fs::read_to_string(file()).unwrap_or_default();
        let of = |line: &str| {
            let words: Vec<&str> = line.split('\t').collect();
            let (of, killer) = words.split_at_checked(2)?;
            Some(((of[0].to_owned(), of[1].to_owned()), Killer::of(killer)?))
        };
        Kills(text.lines().filter_map(of).collect())
    }

    /// What killed this variant when that was kept.
    pub fn of(&self, room: &str, what: &str) -> Option<&Killer> {
        self.0.get(&(room.to_owned(), what.to_owned()))
    }

    /// Of this room only what is told from now on.
    pub fn forget(&mut self, room: &str) {
        self.0.retain(|(other, _), _| other != room);
    }

    /// This killed it.
    pub fn tell(&mut self, room: &str, what: &str, killer: Killer) {
        self.0.insert((room.to_owned(), what.to_owned()), killer);
    }

    /// Keeps it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self) -> io::Result<()> {
        let line = |((room, what), killer): (&(String, String), &Killer)| format!("{room}\t{what}\t{killer}\n");
        fs::write(file(), self.0.iter().map(line).collect::<String>())
    }
}
