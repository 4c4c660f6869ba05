//! Handlers that others install run on the thread's signal stack.
//!
//! A goroutine's stack may have no room for a handler, and the crate signal-hook does not ask for the signal stack, which each of
//! our threads has. So it is asked for afterwards. A signal that comes in between is handled as well, where there is room. While
//! such a handler runs, no other does on its thread, nor is its task preempted: two of them would not fit into the smallest signal
//! stacks, and as many as there are signals into none. (tokio's test of all real-time signals at once: signal_realtime.)

#![allow(unsafe_code)]

use core::ffi::c_int;
use std::io;

/// The handler that is installed for `signal` uses the signal stack from now on.
///
/// # Errors
/// Those of the system.
#[cfg(target_os = "linux")]
pub(in crate::runtime) fn use_for(signal: c_int) -> io::Result<()> {
    use core::mem::MaybeUninit;
    use core::ptr;
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks only.
    if unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has filled it.
    let mut action = unsafe { action.assume_init() };
    if action.sa_flags & libc::SA_ONSTACK != 0 || matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
        return Ok(());
    }
    action.sa_flags |= libc::SA_ONSTACK;
    // SAFETY: a set of ours; and the handler that is installed already, which knows nothing of the stack that it runs on. (A thread
    // that replaces it at the same moment may be replaced in its turn, as with any two that install handlers.)
    let done = unsafe {
        libc::sigfillset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Elsewhere there are no signal stacks of ours.
#[cfg(not(target_os = "linux"))]
pub(in crate::runtime) fn use_for(_: c_int) -> io::Result<()> {
    Ok(())
}
