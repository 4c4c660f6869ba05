//! Code on a thread that belongs to a runtime and is no task of it.

use crate::runtime::exec::context::{Beside, Context, Role};
use crate::runtime::exec::tasks::Tasks;
#[cfg(feature = "tokio-context")]
use crate::runtime::guarded::guarded;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::sim_host::Sim;
use crate::runtime::id::RuntimeId;
use core::marker::PhantomData;

/// What runs on this thread is inside this runtime, and is no task, as long as this lives. For a thread that holds no P.
pub(in crate::runtime) struct Inside<'a> {
    /// What the thread was before. A role on real cores is put aside while a simulated one counts.
    cores: Option<Role<Cores>>,
    sim: Option<Role<Sim>>,
    _theirs: InTokio<'a>,
}

impl Inside<'_> {
    pub(in crate::runtime) fn of(tasks: &Tasks) -> Inside<'_> {
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
        Inside { cores, sim, _theirs: InTokio::of(tasks) }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let (cores, sim) = (self.cores.take(), self.sim.take());
        Context::try_with(|context| {
            let sim = sim.map(|before| context.sim.replace(before));
            let cores = cores.map(|before| context.cores.replace(before));
            drop((sim, cores));
        });
    }
}

/// This thread is in the context of the runtime's tokio, if it has one, as long as this lives.
pub(in crate::runtime) struct InTokio<'a> {
    #[cfg(feature = "tokio-context")]
    guard: Option<::tokio::runtime::EnterGuard<'a>>,
    tasks: PhantomData<&'a Tasks>,
}

impl InTokio<'_> {
    #[cfg_attr(not(feature = "tokio-context"), expect(unused_variables, reason = "it has none"))]
    pub(in crate::runtime) fn of(tasks: &Tasks) -> InTokio<'_> {
        InTokio {
            #[cfg(feature = "tokio-context")]
            guard: tasks.shared().tokio.as_ref().map(::tokio::runtime::Handle::enter),
            tasks: PhantomData,
        }
    }
}

#[cfg(feature = "tokio-context")]
impl Drop for InTokio<'_> {
    fn drop(&mut self) {
        // tokio panics if code of the user's has kept a guard of its own.
        if let Some(guard) = self.guard.take() {
            guarded(|| drop(guard));
        }
    }
}

/// A closure of the user's that is no task runs on this thread, on behalf of this runtime, as long as this lives.
pub(in crate::runtime) struct Callback(Option<(RuntimeId, bool)>);

impl Callback {
    pub(in crate::runtime) fn of(runtime_id: RuntimeId) -> Callback {
        Callback::new(runtime_id, false)
    }

    /// One for which a stop of the world, and what runs under each P, would wait: the thread has a P meanwhile, or polls.
    pub(in crate::runtime) fn that_delays_stops(runtime_id: RuntimeId) -> Callback {
        Callback::new(runtime_id, true)
    }

    fn new(runtime_id: RuntimeId, delays_stops: bool) -> Callback {
        Callback(Context::try_with(|context| context.callback.replace(Some((runtime_id, delays_stops)))).flatten())
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        Context::try_with(|context| context.callback.set(self.0));
    }
}
