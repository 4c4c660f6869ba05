//! The events of the file's format.

use super::{Picture, Tail, Track, micros};
use crate::host::Nanos;
use crate::runtime::observe::json::quoted;
use std::io::{self, Write};

impl<W: Write> Picture<W> {
    /// A slice begins, where another ends that is open.
    pub(super) fn open(&mut self, track: Track, name: &str) -> io::Result<()> {
        if self.open.get(&track).is_some_and(|open| open == name) {
            return Ok(());
        }
        self.close(track)?;
        self.open.insert(track, name.to_owned());
        self.on(track, "B", self.now, &format!(r#","name":{}"#, quoted(name)))
    }

    pub(super) fn close(&mut self, track: Track) -> io::Result<()> {
        match self.open.remove(&track) {
            Some(_) => self.on(track, "E", self.now, ""),
            None => Ok(()),
        }
    }

    /// From where it began to the slice that is open on `head`.
    pub(super) fn arrow(&mut self, name: &str, tail: Option<Tail>, head: Track) -> io::Result<()> {
        let Some(tail) = tail else { return Ok(()) };
        if !self.open.contains_key(&head) {
            return Ok(());
        }
        self.arrows += 1;
        let what = format!(r#","cat":"{name}","name":"{name}","id":{}"#, self.arrows);
        self.on(tail.track, "s", tail.at, &what)?;
        self.on(head, "f", self.now, &format!(r#","bp":"e"{what}"#))
    }

    /// Without a track: everywhere.
    pub(super) fn instant(&mut self, track: Option<Track>, name: &str) -> io::Result<()> {
        let name = quoted(name);
        match track {
            Some(track) => self.on(track, "i", self.now, &format!(r#","s":"t","name":{name}"#)),
            None => self.event(&format!(r#""ph":"i","pid":1,"tid":0,"ts":{},"s":"g","name":{name}"#, micros(self.now))),
        }
    }

    /// Of the global queue, of the busy Ps, and from 2 on of each P's queue.
    pub(super) fn count(&mut self, which: usize, value: usize) -> io::Result<()> {
        if self.counts.len() <= which {
            self.counts.resize(which + 1, None);
        }
        if self.counts[which].replace(value) == Some(value) {
            return Ok(());
        }
        let name = match which {
            0 => "Gs in the global queue".to_owned(),
            1 => "Ps busy".to_owned(),
            p => format!("Gs in the queue of P{}", p - 2),
        };
        let at = micros(self.now);
        self.event(&format!(r#""ph":"C","pid":3,"tid":0,"ts":{at},"name":"{name}","args":{{"n":{value}}}"#))
    }

    pub(super) fn on(&mut self, track: Track, kind: &str, at: Nanos, more: &str) -> io::Result<()> {
        let (pid, tid) = track.ids();
        if self.tracks.insert(track) {
            let name = format!("{}{tid}", if pid == 1 { "P" } else { "M" });
            let of = format!(r#""ph":"M","pid":{pid},"tid":{tid}"#);
            self.event(&format!(r#"{of},"name":"thread_name","args":{{"name":"{name}"}}"#))?;
            self.event(&format!(r#"{of},"name":"thread_sort_index","args":{{"sort_index":{tid}}}"#))?;
        }
        self.event(&format!(r#""ph":"{kind}","pid":{pid},"tid":{tid},"ts":{}{more}"#, micros(at)))
    }

    pub(super) fn event(&mut self, inside: &str) -> io::Result<()> {
        self.line.clear();
        self.line.push_str(if self.is_begun { ",\n{" } else { "[\n{" });
        self.line.push_str(inside);
        self.line.push('}');
        self.is_begun = true;
        self.to.write_all(self.line.as_bytes())
    }
}
