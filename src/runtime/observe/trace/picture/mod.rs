//! A trace as <https://ui.perfetto.dev> and `chrome://tracing` read it: the JSON of Chrome's trace events.
//!
//! That, and not Perfetto's own binary form: it can be read by eye, by `grep` and by every program, is written without a
//! schema, and both viewers know it. It is larger.
//!
//! | process   | track | what is in it                                                                         |
//! |-----------|-------|---------------------------------------------------------------------------------------|
//! | 1, Ps     | P0…   | a slice for each G that ran there, or whose system call has left the P there            |
//! | 2, Ms     | M0…   | what the thread did: ran a G under a P, span, slept, waited in the poller, …            |
//! | 3, counts |       | Gs in the global queue and in each P's; Ps that are not idle                            |
//!
//! Arrows go from slice to slice, on the Ps: from the P where a G was woken to the one where it runs, from the one it was stolen from; on the Ms: from
//! the one that had a P to the one that has it now. An arrow is written when it has arrived, with the moment at which it began, so none is
//! without its end.
//!
//! There is nothing in the file that an equal run would not write: no address, no thread's number, no time of day. Two
//! things that happened at the same moment are drawn a nanosecond apart, in their order.

mod events;

use crate::host::Nanos;
use crate::runtime::observe::trace::fact::Raw;
use crate::runtime::observe::trace::record::{Queue, Record, What, place};
use crate::runtime::observe::trace::scribe::Scribe;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Where something is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Track {
    P(u32),
    M(u32),
}

impl Track {
    /// Its process, and its thread there.
    fn ids(self) -> (u32, u32) {
        match self {
            Track::P(p) => (1, p),
            Track::M(m) => (2, m),
        }
    }
}

/// Where an arrow begins.
#[derive(Debug, Clone, Copy)]
struct Tail {
    track: Track,
    at: Nanos,
}

/// What is known of a G.
#[derive(Debug, Default)]
struct Drawn {
    name: String,
    /// Where it was woken, until it runs.
    woken: Option<Tail>,
    /// The P it was stolen from, until it runs.
    stolen: Option<Tail>,
}

/// A picture that is being drawn.
pub(super) struct Picture<W> {
    to: W,
    line: String,
    /// The moment of the last record.
    now: Nanos,
    is_begun: bool,
    /// What slice is open.
    open: BTreeMap<Track, String>,
    tracks: BTreeSet<Track>,
    gs: BTreeMap<u64, Drawn>,
    arrows: u64,
    /// The last values: of the global queue, of the busy Ps, and of each P's queue.
    counts: Vec<Option<usize>>,
    /// The Ps that a thread hands on.
    handed_on: BTreeMap<u32, Tail>,
}

impl<W: Write> Picture<W> {
    pub(super) fn new(to: W) -> io::Result<Picture<W>> {
        let mut picture = Picture {
            to,
            line: String::new(),
            now: 0,
            is_begun: false,
            open: BTreeMap::new(),
            tracks: BTreeSet::new(),
            gs: BTreeMap::new(),
            arrows: 0,
            counts: Vec::new(),
            handed_on: BTreeMap::new(),
        };
        for (pid, name) in [(1, "Ps"), (2, "Ms"), (3, "counts")] {
            picture
                .event(&format!(r#""ph":"M","pid":{pid},"tid":0,"name":"process_name","args":{{"name":"{name}"}}"#))?;
            picture.event(&format!(
                r#""ph":"M","pid":{pid},"tid":0,"name":"process_sort_index","args":{{"sort_index":{pid}}}"#
            ))?;
        }
        Ok(picture)
    }

    /// Draws what happened.
    pub(super) fn draw(&mut self, scribe: &mut Scribe, raw: &Raw) -> io::Result<()> {
        for record in scribe.write(raw) {
            self.draw_one(&record)?;
        }
        self.count(0, scribe.global())?;
        self.count(1, scribe.busy())?;
        scribe.queues().enumerate().try_for_each(|(p, len)| self.count(2 + p, len))
    }

    /// Everything is drawn: ends what is open.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.now += 1;
        let open: Vec<Track> = self.open.keys().copied().collect();
        open.into_iter().try_for_each(|track| self.close(track))?;
        self.to.write_all(b"\n]\n")?;
        self.to.flush()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn draw_one(&mut self, record: &Record) -> io::Result<()> {
        self.now = record.at.max(self.now + 1);
        match &record.what {
            What::Created { at } => {
                let name = record.g.map(|g| format!("G{g} {}", place(at)));
                self.g(record).name = name.unwrap_or_default();
                Ok(())
            }
            What::Runnable { queue, yields } => self.runnable(record, *queue, *yields),
            What::Executing { .. } => self.executing(record),
            What::Waiting { .. } => self.stops(record),
            What::Dead => {
                record.g.map(|g| self.gs.remove(&g));
                self.stops(record)
            }
            What::Syscall { blocks } => self.syscall(record, *blocks),
            What::Returned { .. } => self.returned(record),
            What::Stole { victim, gs } => self.stole(record, *victim, gs),
            What::Got { .. } => self.got(record),
            What::Left => self.left(record),
            What::Retaken | What::Held => self.retaken(record),
            What::Idle => self.idle(record),
            What::Spinning => self.m_does(record, Some("spinning")),
            What::Slept => self.rests(record, "sleeping"),
            What::Polling => self.rests(record, "polling"),
            // It may have found its G already.
            What::Sought => self.no_longer(record, "spinning"),
            What::Polled => self.no_longer(record, "polling"),
            What::Exited => {
                self.m_does(record, None)?;
                self.instant(record.m.map(Track::M), "thread ends")
            }
            What::Starting => self.instant(record.m.map(Track::M), "thread start"),
            What::Woken => self.instant(record.m.map(Track::M), "woken"),
            What::Preempted => self.instant(record.p.map(Track::P), "asked to yield"),
            What::Spilled { .. } => self.instant(record.p.map(Track::P), "ring full: half to the global queue"),
            What::Shared { .. } => self.instant(record.p.map(Track::P), "share of the global queue"),
            What::Deadlock { .. } => self.instant(record.m.map(Track::M), "deadlock"),
            What::Stopped => self.instant(None, "the world is stopped"),
            What::Started { .. } => self.instant(None, "the world goes on"),
            What::Refused => self.instant(None, "thread creation failed"),
            What::Ticket { .. } => Ok(()),
        }
    }

    // What the records mean.

    fn g(&mut self, record: &Record) -> &mut Drawn {
        self.gs.entry(record.g.unwrap_or(0)).or_default()
    }

    /// `G3 main.rs:34`
    fn name(&mut self, record: &Record) -> String {
        let name = self.g(record).name.clone();
        if name.is_empty() { format!("G{}", record.g.unwrap_or(0)) } else { name }
    }

    fn runnable(&mut self, record: &Record, queue: Queue, yields: bool) -> io::Result<()> {
        if yields {
            return self.stops(record);
        }
        // From the G that did it, under its P.
        let track = record.p.map(Track::P).filter(|track| record.by.is_some() && self.open.contains_key(track));
        let tail = track.map(|track| Tail { track, at: self.now });
        self.g(record).woken = tail.filter(|_| queue != Queue::Sources);
        Ok(())
    }

    fn executing(&mut self, record: &Record) -> io::Result<()> {
        self.runs(record)?;
        let Some(p) = record.p else { return Ok(()) };
        let drawn = self.g(record);
        let (woken, stolen) = (drawn.woken.take(), drawn.stolen.take());
        self.arrow("wake", woken, Track::P(p))?;
        self.arrow("steal", stolen, Track::P(p))
    }

    /// It runs from now on.
    fn runs(&mut self, record: &Record) -> io::Result<()> {
        let name = self.name(record);
        if let Some(p) = record.p {
            self.open(Track::P(p), &name)?;
        }
        match record.p {
            Some(p) => self.m_does(record, Some(&format!("{name} under P{p}"))),
            None => self.m_does(record, Some(&format!("{name} without a P"))),
        }
    }

    /// It runs no more.
    fn stops(&mut self, record: &Record) -> io::Result<()> {
        record.p.map_or(Ok(()), |p| self.close(Track::P(p)))?;
        self.m_does(record, None)
    }

    fn syscall(&mut self, record: &Record, blocks: bool) -> io::Result<()> {
        let name = format!("{} in a system call", self.name(record));
        match record.p.map(Track::P) {
            Some(p) if blocks => self.close(p)?,
            Some(p) => self.open(p, &name)?,
            None => (),
        }
        self.m_does(record, Some(&name))
    }

    fn returned(&mut self, record: &Record) -> io::Result<()> {
        match record.g {
            Some(_) => self.runs(record),
            None => self.m_does(record, None),
        }
    }

    fn stole(&mut self, record: &Record, victim: u32, gs: &[u64]) -> io::Result<()> {
        let track = Track::P(victim);
        let tail = self.open.contains_key(&track).then_some(Tail { track, at: self.now });
        for g in gs {
            self.gs.entry(*g).or_default().stolen = tail;
        }
        self.instant(record.p.map(Track::P), &format!("stole {} from P{victim}", gs.len()))
    }

    fn got(&mut self, record: &Record) -> io::Result<()> {
        let (Some(m), Some(p)) = (record.m, record.p) else { return Ok(()) };
        self.m_does(record, Some(&format!("has P{p}")))?;
        let tail = self.handed_on.remove(&p);
        self.arrow("hand-off", tail, Track::M(m))
    }

    fn left(&mut self, record: &Record) -> io::Result<()> {
        self.hands_on(record);
        record.p.map_or(Ok(()), |p| self.close(Track::P(p)))?;
        match record.g {
            Some(_) if self.open.get(&Track::M(record.m.unwrap_or(0))).is_some_and(|what| what.ends_with("call")) => {
                Ok(())
            }
            Some(_) => {
                let name = format!("{} waits for its turn, here", self.name(record));
                self.m_does(record, Some(&name))
            }
            None => self.m_does(record, None),
        }
    }

    fn hands_on(&mut self, record: &Record) {
        if let (Some(m), Some(p)) = (record.m, record.p) {
            let track = Track::M(m);
            match self.open.contains_key(&track) {
                true => self.handed_on.insert(p, Tail { track, at: self.now }),
                false => self.handed_on.remove(&p),
            };
        }
    }

    fn retaken(&mut self, record: &Record) -> io::Result<()> {
        self.hands_on(record);
        let track = record.p.map(Track::P);
        track.map_or(Ok(()), |track| self.close(track))?;
        self.instant(track, if record.what == What::Held { "held for a stop" } else { "retaken" })?;
        let m_runs = record.m.and_then(|m| self.open.get(&Track::M(m))).is_some_and(|what| what.contains(" under P"));
        match m_runs {
            true => {
                let name = format!("{} without a P", self.name(record));
                self.m_does(record, Some(&name))
            }
            false => Ok(()),
        }
    }

    fn idle(&mut self, record: &Record) -> io::Result<()> {
        let Some(p) = record.p else { return Ok(()) };
        self.handed_on.remove(&p);
        self.close(Track::P(p))
    }

    fn rests(&mut self, record: &Record, what: &str) -> io::Result<()> {
        record.p.map_or(Ok(()), |p| self.close(Track::P(p)))?;
        self.m_does(record, Some(what))
    }

    fn m_does(&mut self, record: &Record, what: Option<&str>) -> io::Result<()> {
        match (record.m.map(Track::M), what) {
            (Some(m), Some(what)) => self.open(m, what),
            (Some(m), None) => self.close(m),
            (None, _) => Ok(()),
        }
    }

    /// It does this no longer, if it still did.
    fn no_longer(&mut self, record: &Record, what: &str) -> io::Result<()> {
        let track = record.m.map(Track::M).filter(|track| self.open.get(track).is_some_and(|open| open == what));
        track.map_or(Ok(()), |track| self.close(track))
    }

    // What is drawn.
}

/// In microseconds, as the form demands.
fn micros(at: Nanos) -> String {
    format!("{}.{:03}", at / 1000, at % 1000)
}
