//! A task that waits when its runtime is shut down.

use crate::runtime::exec::context::{Context, OnHost};
use crate::runtime::exec::current_worker::InSyscall;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::{self, sim_host::Sim};

/// What it is unwound with.
pub(in crate::runtime) struct Unwound;

/// How often a task may catch that, and wait again. After that it is left where it is.
pub(in crate::runtime) const PATIENCE: u32 = 64;

/// The runtime is shut down, and the task that this thread runs waits with it: it is unwound. One that catches that and
/// waits again, over and over, is left where it is, and the thread with it.
#[cold]
pub(in crate::runtime) fn unwind() -> ! {
    let times = Context::try_with(|context| context.unwound.replace(context.unwound.get().saturating_add(1)));
    if cfg!(panic = "unwind") && times.is_some_and(|times| times < PATIENCE || sim::is_here()) {
        std::panic::resume_unwind(Box::new(Unwound));
    }
    leave_thread::<Cores>();
    leave_thread::<Sim>();
    stays()
}

/// Not inlined: std looks at a thread local.
#[inline(never)]
fn stays() -> ! {
    loop {
        std::thread::park();
    }
}

/// The scheduler has this thread no more.
fn leave_thread<H: OnHost>() {
    let back = Context::try_with(|context| context.role::<H>().exit_syscall(InSyscall::come_back)).flatten();
    if let Some(current) = back.or_else(Context::take_current_worker::<H>) {
        current.shared().thread_config.threads().leave_this_one();
        current.end();
    }
}
