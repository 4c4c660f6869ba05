//! A stream and a poller that reports every change, around [`spinpark_kernel::waits::drained`]; with the ways in which a reader may be wrong.
//!
//! What may be relied on of the system: the stream is under a lock of its own. What changes is reported, once, after the change, as
//! it is when the poller looks. A read takes what is there, up to what it asks for; the end, or that it would block, it finds only
//! where nothing is.

use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::is_variant;
use spinpark_kernel::host::Lock;
use spinpark_kernel::waits::bell::Bell;
use spinpark_kernel::waits::readiness::{Direction, Entry, Interest, Refused, Source, Waiting, Waits};
use std::sync::Arc;

/// A stream that is read, with the poller that reports it.
pub struct Stream<H: ModelHost> {
    system: H::Lock<System>,
    entry: Entry<H, Known, usize>,
    waiting: Waiting<H>,
    /// Of the tasks that read.
    bells: Vec<Bell<H>>,
}

#[derive(Default)]
struct System {
    /// Bytes that were not read yet.
    bytes: u64,
    has_ended: bool,
    /// Something has changed since the poller looked.
    has_changed: bool,
}

/// The poller knows the stream; it is never armed.
struct Known;

impl Source for Known {
    type Error = ();

    fn arm(&self, _: Interest) -> Result<(), ()> {
        unreachable!("a stream that reports all changes is armed")
    }
}

/// What a read found.
enum Found {
    Bytes(u64),
    End,
    WouldBlock,
}

const READ: Interest = Interest { read: true, write: false };

impl<H: ModelHost> Stream<H> {
    /// An empty one, for so many tasks.
    pub fn new(tasks: usize) -> Arc<Self> {
        let stream = Stream {
            system: H::Lock::new(System::default()),
            entry: Entry::new(false),
            waiting: Waiting::new(),
            bells: (0..tasks).map(|_| Bell::new()).collect(),
        };
        stream.entry.open(Known);
        Arc::new(stream)
    }

    /// The other end has sent so many bytes.
    pub fn comes(&self, bytes: u64) {
        self.system.with(|system| {
            system.bytes += bytes;
            system.has_changed = true;
        });
    }

    /// The other end sends no more.
    pub fn ends(&self) {
        self.system.with(|system| {
            system.has_ended = true;
            system.has_changed = true;
        });
    }

    /// The M looks what has changed, and wakes.
    pub fn poll(&self) {
        let report = self.system.with(|system| {
            let is_ready = system.bytes > 0 || system.has_ended;
            (std::mem::take(&mut system.has_changed) && is_ready).then_some(system.has_ended)
        });
        let Some(has_ended) = report else { return };
        let end = match has_ended && !is_variant("readiness-forgets-the-end") {
            true => READ,
            false => Interest::default(),
        };
        let mut wakers = Vec::new();
        assert!(self.entry.take_ready(READ, end, &mut wakers).is_ok(), "nothing is armed");
        self.wake(wakers);
    }

    /// The runtime ends: nothing is reported any more.
    pub fn close(&self) {
        let mut wakers = Vec::new();
        self.entry.close(&mut wakers);
        self.wake(wakers);
    }

    fn wake(&self, wakers: Vec<usize>) {
        let woken = wakers.len() as u64;
        wakers.into_iter().for_each(|task| self.bells[task].ring());
        self.waiting.woken(woken);
    }

    /// No thread waits, and none is counted.
    pub fn check_at_rest(&self) {
        assert!(self.waiting.count() == 0, "{} are counted that do not wait", self.waiting.count());
    }

    /// Reads up to `wanted` bytes.
    fn attempt(&self, wanted: u64) -> Found {
        self.system.with(|system| match system.bytes.min(wanted) {
            0 if system.has_ended => Found::End,
            0 => Found::WouldBlock,
            bytes => {
                system.bytes -= bytes;
                Found::Bytes(bytes)
            }
        })
    }

    /// As a task of the runtime's does: reads up to `wanted` bytes, and waits until it can. How many, 0 at the end; tries are counted.
    fn read(&self, wanted: u64, task: usize, tries: &mut u64) -> u64 {
        let direction = Direction::Read;
        loop {
            let mut seen = self.entry.ticks(direction);
            let known = if is_variant("readiness-drained-after-the-close") { seen & !(1 << 63) } else { seen };
            if !self.entry.is_drained(direction, known) {
                *tries += 1;
                let found = self.attempt(wanted);
                if is_variant("readiness-drained-at-the-tick-after-the-try") {
                    seen = self.entry.ticks(direction);
                }
                let is_drained = match found {
                    Found::WouldBlock => true,
                    Found::End => false,
                    Found::Bytes(bytes) => bytes < wanted || is_variant("readiness-a-full-read-drains"),
                };
                if is_drained {
                    self.entry.set_drained(direction, seen);
                }
                match found {
                    Found::WouldBlock => (),
                    Found::End => return 0,
                    Found::Bytes(bytes) => return bytes,
                }
            }
            match self.entry.wait(direction, Some(task as u64), task, seen, |a, b| a == b, || _ = self.waiting.add()) {
                Ok(Waits::Added | Waits::Replaced(_)) => {
                    assert!(self.bells[task].wait(|| Ok::<(), ()>(())).is_ok(), "a task that never gives up");
                }
                Ok(Waits::Changed(_)) => (),
                Err(Refused::Closed(_)) => {
                    panic!("the runtime's end was reported to a task, which has not read what is there")
                }
                Err(Refused::Arm((), _)) => unreachable!("nothing is armed"),
            }
        }
    }
}

/// A task reads to the end, so many bytes at a time at most: how many it got, and how often it tried.
pub fn read_all<H: ModelHost>(stream: &Stream<H>, wanted: u64) -> (u64, u64) {
    let (mut got, mut tries) = (0, 0);
    loop {
        match stream.read(wanted, 0, &mut tries) {
            0 => return (got, tries),
            bytes => got += bytes,
        }
    }
}

/// A task reads one byte: how often it tried.
pub fn read_one<H: ModelHost>(stream: &Stream<H>, task: usize) -> u64 {
    let mut tries = 0;
    assert_eq!(stream.read(1, task, &mut tries), 1, "there is no end");
    tries
}
