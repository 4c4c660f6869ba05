//! Compiled by ../codegen.rs, never run, twice: with the kernel as it is, watched by `()`, and with a copy of it out of
//! which every report to the observer was cut.

use spinpark_kernel::sched::config::{Config, ConfigError};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::types::g::G;
use spinpark_kernel::sched::{Closed, Sched};
use spinpark::runtime::Cores;
use std::sync::Arc;

fn live(sched: &Arc<Sched<Cores>>, mut worker: Worker) {
    while let Some((next, g)) = sched.next(worker) {
        worker = next;
        sched.yield_now(&mut worker, g);
    }
}

#[unsafe(no_mangle)]
pub fn new(config: Config) -> Result<Arc<Sched<Cores>>, ConfigError> {
    Sched::new(config, (), live)
}

#[unsafe(no_mangle)]
pub fn start(sched: &Arc<Sched<Cores>>) -> bool {
    sched.start().is_ok()
}

#[unsafe(no_mangle)]
pub fn submit(sched: &Arc<Sched<Cores>>, g: G) -> Result<(), Closed> {
    sched.submit(g)
}

#[unsafe(no_mangle)]
pub fn ready(sched: &Arc<Sched<Cores>>, worker: &mut Worker, g: G) {
    sched.ready(worker, g);
}
