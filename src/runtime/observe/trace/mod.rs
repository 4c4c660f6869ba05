//! What a runtime did, event by event: in memory, to be looked at and asserted on, or in a file, to be looked at in
//! <https://ui.perfetto.dev>.
//!
//! Go: `runtime/trace`.
//!
//! ```
//! use spinpark::trace::{Recorder, State, What};
//!
//! let recorder = Recorder::new();
//! let runtime = spinpark::Runtime::builder().procs(1).record(&recorder).build()?;
//! runtime.spawn(async { spinpark::yield_now().await }).join()?;
//! drop(runtime);
//!
//! let trace = recorder.trace();
//! use State::{Created, Dead, Executing, Runnable};
//! assert_eq!(trace.states(1), [Created, Runnable, Executing, Runnable, Executing, Dead]);
//! assert!(trace.records().iter().any(|record| matches!(record.what, What::Executing { .. })));
//! println!("{trace}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **What is not in it.** Tasks of a [`LocalSet`](crate::LocalSet) and the future of a `block_on` are no Gs. A task that is
//! dropped by another thread than one of the runtime's, at shutdown for instance, is not reported as over.

mod fact;
mod file;
mod frame;
mod picture;
mod record;
mod recorder;
mod scribe;

pub(in crate::runtime) use file::File;
pub use frame::{Frame, MFrame, MState, PFrame};
pub use record::{From, Queue, Record, State, What};
pub use recorder::{Recorder, Trace};
