//! The real kernel: ours, and with Go's rules.
//!
//! | Go's rule                                                      | here                                              |
//! |----------------------------------------------------------------|---------------------------------------------------|
//! | the global queue before the other Ps                           | `order`                                           |
//! | `runnext` inherits the slice, however often                    | `inherit_at_most`: no limit                       |
//! | Ms spin for half of the busy Ps                                | `spinning_at_most`: no other bound                |
//! | an M that has found work calls `wakep`, whether or not there is more | the life of an M calls it, behind the kernel's own |
//! | the global queue's turn takes one G                            | ours: a share                                     |
//! | with no P idle `wakep` takes the lock all the same             | ours: looks first                                 |
//! | `nmspinning` is raised beside an M that idles its P            | ours: rechecks under the lock                     |
//! | timers, the collector, preemption                              | absent in both                                    |

use crate::designs::Scheduler;
use crate::engine;
use crate::host::{Sim, find_tries};
use crate::workloads::{Outside, Tasks, Workload};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::protocol::work_source::Waker;
use spinpark_kernel::queues::owner::Owner;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::{Event, Observer};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock};

/// Whose rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    Ours,
    Go,
}

/// The kernel's numbers as Go has them.
pub(super) fn as_go() -> Config {
    Config {
        order: SearchOrder::GlobalFirst,
        inherit_at_most: u32::MAX,
        spinning_at_most: usize::MAX,
        keep_alive: u64::MAX,
        ..Config::default()
    }
}

/// What the scheduler reports to; also what its Ms run.
struct Watch {
    rules: Rules,
    workload: Mutex<Option<Arc<dyn Workload>>>,
    waker: OnceLock<Waker>,
    /// This M has stopped to spin since it was last asked.
    sought: Vec<AtomicBool>,
}

impl Observer for Watch {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Stole { gs, .. } => engine::stole(gs),
            Event::Sought { m } => self.sought[m.index()].store(true, Relaxed),
            Event::Spinning { m } | Event::Called { m } | Event::Got { m, .. } => {
                self.sought[m.index()].store(false, Relaxed);
            }
            _ => (),
        }
    }
}

impl Watch {
    /// Did the search that has just ended stop this M's spinning?
    fn has_sought(&self, m: MId) -> bool {
        self.sought[m.index()].swap(false, Relaxed)
    }
}

/// The kernel on the simulated machine.
pub(super) struct Kernel(Arc<Sched<Sim, Watch>>);

fn g(number: u64) -> G {
    G::from_raw(NonZeroU64::new(number).expect("numbers begin at 1"))
}

/// A worker while its G runs.
struct Running<'a> {
    sched: &'a Arc<Sched<Sim, Watch>>,
    worker: &'a mut Worker,
}

impl Tasks for Running<'_> {
    fn ready(&mut self, number: u64) {
        self.sched.ready(self.worker, g(number));
    }
    fn yields(&mut self, number: u64) {
        self.sched.goyield(self.worker, g(number));
    }
}

fn run(sched: &Arc<Sched<Sim, Watch>>, worker: &mut Worker, taken: G) {
    engine::runs();
    let workload = sched.observer().workload.lock().expect("no panic under it").clone();
    let number = taken.into_raw().get();
    workload.expect("a G is some workload's").run(number, &mut Running { sched, worker });
}

/// An M's life: as the runtime's, without what a runtime adds.
fn live(sched: &Arc<Sched<Sim, Watch>>, mut worker: Worker) {
    loop {
        engine::searching(true);
        let found = sched.next(worker);
        engine::searching(false);
        let Some((found, taken)) = found else { return };
        worker = found;
        let watch = sched.observer();
        if watch.rules == Rules::Go && watch.has_sought(worker.m()) {
            watch.waker.get().expect("set before any M lives").wake();
        }
        run(sched, &mut worker, taken);
        while let Some(taken) = sched.next_local(&worker) {
            run(sched, &mut worker, taken);
        }
    }
}

impl Kernel {
    pub(super) fn start(config: Config, procs: usize, rules: Rules) -> Kernel {
        let rings = [0; 2].map(|_| Owner::<Sim>::new(Capacity::DEFAULT));
        find_tries(|| assert!(rings[0].stealer().steal_some(&rings[1]).is_none(), "an empty ring"));
        // Those that have given their P away, or have yet to get one, are Ms too.
        let max_ms = 2 * procs + 8;
        let sought = (0..max_ms).map(|_| AtomicBool::new(false)).collect();
        let watch = Watch { rules, workload: Mutex::new(None), waker: OnceLock::new(), sought };
        let mut waker = None;
        let sched = Sched::with_sources(Config { procs, max_procs: procs, max_ms, ..config }, watch, live, |made| {
            waker = Some(made.clone());
            Vec::new()
        });
        let sched = sched.expect("numbers that are allowed");
        let is_first = sched.observer().waker.set(waker.expect("it was asked for sources")).is_ok();
        assert!(is_first);
        Kernel(sched)
    }
}

impl Outside for Kernel {
    fn submit(&self, number: u64) {
        self.0.submit(g(number)).expect("it is open");
    }
}

impl Scheduler for Kernel {
    fn plays(&self, workload: Arc<dyn Workload>) {
        *self.0.observer().workload.lock().expect("no panic under it") = Some(workload);
    }

    fn close(&self) {
        assert!(self.0.close().is_empty(), "Gs were never run");
    }
}
