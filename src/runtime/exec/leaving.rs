//! Leaving the P, and coming back to one.

use crate::kernel::protocol::syscall::Way;
use crate::runtime::exec::call_site::Call;
use crate::runtime::exec::context::{Context, OnHost, simulated};
use crate::runtime::exec::current_worker::InSyscall;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::sim_host::Sim;

/// Gets the P back when it is dropped, if there was one to leave.
pub(in crate::runtime) struct Return(Call);

impl Return {
    /// Leaves the P, if the thread holds one.
    #[inline]
    pub(in crate::runtime) fn after_leaving(call: Call) -> Option<Return> {
        #[inline(always)]
        fn leave<H: OnHost>(context: &Context, call: &Call) -> bool {
            let known_to_block = call.hands_off(H::IS_SIMULATED);
            let stays = |left: InSyscall<H>| left.enter_syscall(known_to_block);
            H::role(context).enter_syscall(|current| current.leave(known_to_block), stays)
        }
        let leaves = |context: &Context| leave::<Cores>(context, &call) || simulated(|| leave::<Sim>(context, &call));
        // Not made if there was nothing to leave: dropped, it comes back.
        Context::try_with(leaves).unwrap_or(false).then_some(call).map(Return)
    }
}

impl Drop for Return {
    #[inline]
    fn drop(&mut self) {
        #[inline(always)]
        fn come_back<H: OnHost>(context: &Context) -> Option<Way> {
            let mut way = Way::Kept;
            let current = H::role(context).exit_syscall(|left: InSyscall<H>| {
                let current;
                (current, way) = left.exit_syscall();
                current
            })?;
            drop(context.takes(current));
            Some(way)
        }
        let took = self.0.is_over();
        Context::try_with(|context| match come_back::<Cores>(context) {
            Some(way) => self.0.learn(took, way),
            None => simulated(|| _ = come_back::<Sim>(context)),
        });
    }
}
