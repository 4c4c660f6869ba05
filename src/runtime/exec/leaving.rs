//! Leaving the P, and coming back to one.

use crate::runtime::exec::context::{Context, OnHost, simulated};
use crate::runtime::exec::current_worker::InSyscall;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::Sim;

/// Gets the P back when it is dropped, if there was one to leave.
pub(in crate::runtime) struct Return(());

impl Return {
    /// Leaves the P, if the thread holds one.
    #[inline]
    pub(in crate::runtime) fn after_leaving(known_to_block: bool) -> Option<Return> {
        #[inline(always)]
        fn leave<H: OnHost>(context: &Context, known_to_block: bool) -> bool {
            let stays = |left: InSyscall<H>| left.enter_syscall(known_to_block);
            H::role(context).enter_syscall(|current| current.leave(known_to_block), stays)
        }
        let leaves = |context: &Context| {
            leave::<Cores>(context, known_to_block) || simulated(|| leave::<Sim>(context, known_to_block))
        };
        // Not made if there was nothing to leave: dropped, it comes back.
        Context::try_with(leaves).unwrap_or(false).then(|| Return(()))
    }
}

impl Drop for Return {
    #[inline]
    fn drop(&mut self) {
        #[inline(always)]
        fn come_back<H: OnHost>(context: &Context) -> bool {
            let current = H::role(context).exit_syscall(InSyscall::come_back);
            current.map(|current| drop(context.takes(current))).is_some()
        }
        Context::try_with(|context| {
            if !come_back::<Cores>(context) {
                simulated(|| come_back::<Sim>(context));
            }
        });
    }
}
