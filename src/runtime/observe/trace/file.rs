//! A trace in a file, written while the runtime runs, by a thread of its own.
//!
//! The thread that reports an event puts it into a batch, under a lock of its own; the writer takes the whole batch. A batch that is
//! full, because the disk is slower than the runtime, is waited for: nothing is lost, and memory is bounded. The writer
//! needs nothing of the scheduler, so it gets there also while a thread that waits holds the scheduler's lock.

use crate::host::SpawnError;
use crate::kernel::sched::config::Config;
use crate::runtime::host::clock;
use crate::runtime::host::foreign_threads::Known;
use crate::runtime::host::thread_config;
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::attached::Attached;
use crate::runtime::observe::event::{Event, Observer};
use crate::runtime::observe::trace::fact::{Fact, Raw};
use crate::runtime::observe::trace::picture::Picture;
use crate::runtime::observe::trace::recorder::Begin;
use core::time::Duration;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::{fs, mem};

/// So many events wait for the writer at most: 4 MB.
const FULL: usize = 1 << 16;
/// The writer waits so long for more, once there is something.
const PAUSE: Duration = Duration::from_millis(100);

/// A trace that is being written.
pub(in crate::runtime) struct File {
    begin: Begin,
    path: PathBuf,
    batch: Mutex<Batch>,
    /// The batch has something, is half full, or is the last.
    come: Condvar,
    /// There is room again.
    room: Condvar,
    writer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Batch {
    raws: Vec<Raw>,
    is_last: bool,
}

impl File {
    /// Makes the file.
    ///
    /// # Errors
    /// Those of the system.
    pub(in crate::runtime) fn create(
        path: PathBuf,
        runtime_id: RuntimeId,
        config: &Config,
    ) -> io::Result<(Arc<File>, fs::File)> {
        let to = fs::File::create(&path)?;
        let file = File {
            begin: Begin::of(runtime_id, config),
            path,
            batch: Mutex::default(),
            come: Condvar::new(),
            room: Condvar::new(),
            writer: Mutex::default(),
        };
        Ok((Arc::new(file), to))
    }

    /// Starts the thread that writes.
    ///
    /// # Errors
    /// If the system gives none.
    pub(in crate::runtime) fn start(self: &Arc<Self>, to: fs::File) -> Result<(), SpawnError> {
        let file = Arc::clone(self);
        let body = move || {
            let _known = Known::new();
            file.write(to);
        };
        let thread = thread_config::Wanted::take("spinpark-trace").builder().spawn(body);
        let thread = thread.map_err(|error| SpawnError { os_error: error.raw_os_error() })?;
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    fn batch(&self) -> MutexGuard<'_, Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, to: fs::File) {
        if let Err(error) = self.try_write(BufWriter::with_capacity(1 << 16, to)) {
            // Without a place to write there is no reader of it.
            let _ = writeln!(io::stderr(), "spinpark: the trace {} is not complete: {error}", self.path.display());
            while !self.take(&mut Vec::new()) {}
        }
    }

    fn try_write(&self, to: impl Write) -> io::Result<()> {
        let mut picture = Picture::new(to)?;
        let mut scribe = self.begin.scribe();
        let mut raws = Vec::new();
        loop {
            let is_last = self.take(&mut raws);
            for raw in raws.drain(..) {
                picture.draw(&mut scribe, &raw)?;
            }
            if is_last {
                return picture.end();
            }
            picture.flush()?;
        }
    }

    /// Waits for a batch, and exchanges it for `empty`. Was it the last?
    fn take(&self, empty: &mut Vec<Raw>) -> bool {
        let is_nothing = |batch: &mut Batch| batch.raws.is_empty() && !batch.is_last;
        let is_little = |batch: &mut Batch| batch.raws.len() < FULL / 2 && !batch.is_last;
        let batch = self.come.wait_while(self.batch(), is_nothing).unwrap_or_else(PoisonError::into_inner);
        let waited = self.come.wait_timeout_while(batch, PAUSE, is_little);
        let (mut batch, _) = waited.unwrap_or_else(PoisonError::into_inner);
        mem::swap(&mut batch.raws, empty);
        self.room.notify_all();
        batch.is_last
    }
}

impl Attached for File {
    /// Nothing comes any more: waits until all of it is written.
    fn close(&self) {
        self.batch().is_last = true;
        self.come.notify_all();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // It has no code that panics; if it did, it has been reported.
        drop(writer.map(JoinHandle::join));
    }
}

impl Observer for File {
    fn event(&self, event: Event<'_>) {
        let Some(fact) = Fact::of(&event) else { return };
        let is_full = |batch: &mut Batch| batch.raws.len() >= FULL && !batch.is_last;
        let mut batch = self.room.wait_while(self.batch(), is_full).unwrap_or_else(PoisonError::into_inner);
        if batch.is_last {
            return;
        }
        // The time is asked for under the lock, so that it does not go back from one to the next.
        batch.raws.push(Raw { at: clock::unpaused(), by: self.begin.me(), fact });
        if [1, FULL / 2].contains(&batch.raws.len()) {
            self.come.notify_one();
        }
    }
}
