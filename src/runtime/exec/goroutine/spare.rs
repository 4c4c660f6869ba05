//! The stack that the next goroutine on this thread has: that of the last which has ended here.

use crate::kernel::types::p::PId;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::goroutine::stack::{Stack, Stacks};
use crate::runtime::exec::polling;
use crate::runtime::id::RuntimeId;
use crate::runtime::shared::Shared;
use std::io;

impl Context {
    /// A stack for a goroutine of the runtime `runtime_id`. `None`: that is gone, or its closures run on their threads' own.
    pub(in crate::runtime) fn take_stack(runtime_id: RuntimeId) -> Option<io::Result<Stack>> {
        match Context::try_with(|context| context.spare.take()).flatten() {
            Some((of, stack)) if of == runtime_id => return Some(Ok(stack)),
            Some((of, stack)) => put_into_stacks(of, stack),
            None => (),
        }
        with_stacks(runtime_id, Stacks::take)
    }

    /// It is unused from now on.
    pub(in crate::runtime) fn put_stack(runtime_id: RuntimeId, stack: Stack) {
        let mut unused = Some((runtime_id, stack));
        // A thread that runs tasks is asked for a stack again; and gives this one back in the end.
        Context::try_with(|context| {
            if polling::dispatched() != 0 {
                unused = context.spare.replace(unused.take());
            }
        });
        if let Some((runtime_id, stack)) = unused {
            put_into_stacks(runtime_id, stack);
        }
    }

    /// The thread needs it no more.
    pub(in crate::runtime::exec) fn put_spare(&self) {
        if let Some((runtime_id, stack)) = self.spare.take() {
            put_into_stacks(runtime_id, stack);
        }
    }
}

/// If the runtime is gone, the stack ends here.
fn put_into_stacks(runtime_id: RuntimeId, stack: Stack) {
    with_stacks(runtime_id, |stacks, row| stacks.put(row, stack));
}

/// Runs `f` with the stacks of this runtime and the row that is this thread's. `None`: the runtime is gone, or has none.
fn with_stacks<R>(runtime_id: RuntimeId, f: impl FnOnce(&Stacks, usize) -> R) -> Option<R> {
    let with = |shared: &Shared, p: Option<PId>| Some(f(shared.stacks.as_deref()?, p.map_or(0, PId::index)));
    Context::with_shared(runtime_id, with).flatten()
}
