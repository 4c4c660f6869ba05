//! A trace in memory.

use crate::host::Nanos;
use crate::kernel::sched::config::Config;
use crate::kernel::types::m::MId;
use crate::runtime::host::clock;
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::event::{Event, Observer};
use crate::runtime::observe::trace::fact::{Fact, Raw};
use crate::runtime::observe::trace::frame::Frame;
use crate::runtime::observe::trace::picture::Picture;
use crate::runtime::observe::trace::record::{Record, State};
use crate::runtime::observe::trace::scribe::Scribe;
use crate::runtime::observe::watch;
use core::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a trace begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begin {
    pub(super) since: Nanos,
    pub(super) procs: usize,
    pub(super) ring: usize,
    pub(super) runtime_id: RuntimeId,
}

impl Begin {
    /// Now, in the runtime `runtime_id`.
    pub(super) fn of(runtime_id: RuntimeId, config: &Config) -> Begin {
        Begin { since: clock::unpaused(), procs: config.procs, ring: config.ring, runtime_id }
    }

    pub(super) fn scribe(&self) -> Scribe {
        Scribe::new(self.since, self.procs, self.ring)
    }

    /// Which M of this runtime the thread is.
    pub(super) fn me(&self) -> Option<MId> {
        let (runtime_id, m) = watch::me();
        m.filter(|_| runtime_id == self.runtime_id)
    }
}

/// Keeps in memory what a runtime does: [`Builder::record`](crate::Builder::record). Clones share what they keep.
///
/// Each event takes 64 bytes, and about a tenth of a microsecond of the thread that causes it.
///
/// ```
/// use spinpark::trace::Recorder;
///
/// let recorder = Recorder::with_room(1000);
/// let runtime = spinpark::Runtime::builder().procs(1).record(&recorder).build()?;
/// runtime.spawn(async {}).join()?;
/// println!("{}", recorder.trace());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<Kept>>);

struct Kept {
    begin: Option<Begin>,
    raws: Vec<Raw>,
    most: usize,
    lost: u64,
}

impl Recorder {
    /// So many events are kept: 64 MB.
    const MOST: usize = 1 << 20;

    /// Keeps the first million events.
    #[must_use]
    pub fn new() -> Recorder {
        Recorder::with_room(Recorder::MOST)
    }

    /// Keeps the first `events`, and counts the others.
    #[must_use]
    pub fn with_room(events: usize) -> Recorder {
        Recorder(Arc::new(Mutex::new(Kept { begin: None, raws: Vec::new(), most: events, lost: 0 })))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it watches this runtime; what it has kept of another is forgotten.
    pub(in crate::runtime) fn begin(&self, runtime_id: RuntimeId, config: &Config) {
        let mut kept = self.kept();
        kept.begin = Some(Begin::of(runtime_id, config));
        kept.raws.clear();
        kept.lost = 0;
    }

    /// What it has kept so far. It goes on.
    #[must_use]
    pub fn trace(&self) -> Trace {
        let kept = self.kept();
        let (begin, raws, lost) = (kept.begin, kept.raws.clone(), kept.lost);
        drop(kept);
        Trace::new(begin, raws, lost)
    }
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder::new()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("events", &self.kept().raws.len()).finish_non_exhaustive()
    }
}

impl Observer for Recorder {
    fn event(&self, event: Event<'_>) {
        let Some(fact) = Fact::of(&event) else { return };
        let mut kept = self.kept();
        let Some(begin) = kept.begin else { return };
        if kept.raws.len() == kept.most {
            kept.lost += 1;
            return;
        }
        // The time is asked for under the lock, so that it does not go back from one to the next.
        kept.raws.push(Raw { at: clock::unpaused(), by: begin.me(), fact });
    }
}

/// What a [`Recorder`] has kept.
///
/// Shown as text it has a line for each record; of equal runs, equal lines but for the time.
///
/// ```
/// use spinpark::trace::{Recorder, State};
///
/// let recorder = Recorder::new();
/// let runtime = spinpark::Runtime::builder().procs(1).record(&recorder).build()?;
/// runtime.spawn(async {}).join()?;
/// drop(runtime);
/// let trace = recorder.trace();
/// assert_eq!(trace.states(1).last(), Some(&State::Dead));
/// println!("{} records, {} lost, {:?}", trace.records().len(), trace.lost(), trace.frame(1));
/// trace.write_json(&mut Vec::new())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Trace {
    begin: Option<Begin>,
    raws: Vec<Raw>,
    records: Vec<Record>,
    lost: u64,
}

impl Trace {
    fn new(begin: Option<Begin>, raws: Vec<Raw>, lost: u64) -> Trace {
        let mut records = Vec::new();
        if let Some(mut scribe) = begin.map(|begin| begin.scribe()) {
            raws.iter().for_each(|raw| records.extend(scribe.write(raw)));
        }
        Trace { begin, raws, records, lost }
    }

    /// All of it, in order.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// How many events were not kept, because there was no room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// What the G with this number did, one after the other.
    #[must_use]
    pub fn states(&self, g: u64) -> Vec<State> {
        self.records.iter().filter(|record| record.g == Some(g)).filter_map(Record::state).collect()
    }

    /// What everything looked like after the first `records` of them; or a little later, where one event made several
    /// records.
    #[must_use]
    pub fn frame(&self, records: usize) -> Frame {
        let Some(mut scribe) = self.begin.map(|begin| begin.scribe()) else { return Frame::default() };
        let mut written = 0;
        for raw in &self.raws {
            if written >= records {
                break;
            }
            written += scribe.write(raw).count();
        }
        scribe.frame()
    }

    /// Writes it as [`Builder::trace`](crate::Builder::trace) would have.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_json(&self, to: impl Write) -> io::Result<()> {
        let mut picture = Picture::new(to)?;
        let Some(mut scribe) = self.begin.map(|begin| begin.scribe()) else { return picture.end() };
        for raw in &self.raws {
            picture.draw(&mut scribe, raw)?;
        }
        picture.end()
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.records.iter().try_for_each(|record| writeln!(f, "{record}"))
    }
}

static_assertions::assert_impl_all!(Recorder: Send, Sync);
static_assertions::const_assert!(size_of::<Raw>() <= 64);
