//! Code on a thread that belongs to a runtime and is no task of it.

use crate::runtime::exec::context::{Beside, Context, Role};
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::sim_host::Sim;
use crate::runtime::id::RuntimeId;

/// What runs on this thread is inside this runtime, and is no task, as long as this lives. For a thread that holds no P.
pub(in crate::runtime) struct Inside {
    /// What the thread was before. A role on real cores is put aside while a simulated one counts.
    cores: Option<Role<Cores>>,
    sim: Option<Role<Sim>>,
}

impl Inside {
    pub(in crate::runtime) fn of(tasks: &Tasks) -> Inside {
        let entered = Context::try_with(|context| {
            let guest = Beside::Guest(tasks.clone());
            match tasks {
                Tasks::Cores(_) => (Some(context.cores.replace(Role::Other(guest))), None),
                Tasks::Sim(_) => {
                    (Some(context.cores.replace(Role::Outside)), Some(context.sim.replace(Role::Other(guest))))
                }
            }
        });
        let (cores, sim) = entered.unwrap_or((None, None));
        Inside { cores, sim }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let (cores, sim) = (self.cores.take(), self.sim.take());
        Context::try_with(|context| {
            let sim = sim.map(|before| context.sim.replace(before));
            let cores = cores.map(|before| context.cores.replace(before));
            drop((sim, cores));
        });
    }
}

/// A closure of the user's that is no task runs on this thread, on behalf of this runtime, as long as this lives.
pub(in crate::runtime) struct Callback(Option<RuntimeId>);

impl Callback {
    pub(in crate::runtime) fn of(runtime_id: RuntimeId) -> Callback {
        Callback(Context::try_with(|context| context.callback.replace(Some(runtime_id))).flatten())
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        Context::try_with(|context| context.callback.set(self.0));
    }
}
