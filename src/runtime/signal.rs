//! Two signals: one that takes the P from a task that runs on and on, one that a goroutine's stack is used up.
//!
//! Go: `preemptM`, `sighandler`, `doSigPreempt`, `sigPreempt` (which is `SIGURG` too, and for the same reason: nobody
//! uses it, and who does has to expect it at any time).
//!
//! **Linux only, so far.** Elsewhere a task that does not make way keeps its P, and a used-up stack is a plain crash.
//!
//! # What the handlers may do
//!
//! A handler runs on the interrupted thread, between any two instructions of it: perhaps inside of `malloc`, with its lock
//! held. So it may not allocate, lock, or wait. Line by line, of [`interrupt`](super::worker::interrupt):
//!
//! 1. *Is this a thread that runs tasks?* One thread local without a destructor: a read relative to a register.
//! 2. *Its `THREAD`.* Was touched when the thread began, so its destructor is registered; nothing is allocated.
//! 3. *Does anybody look at the role?* Then the thread is inside of the runtime, and nothing is done. The monitor asks
//!    again at its next tick. If nobody does, the role is whole, and so is the [`Post`](super::task::Post) in it.
//! 4. *Is its P asked to make way?* One atomic load. A signal that came late, for a P that has gone on, ends here.
//! 5. *The count of hogs*: one atomic addition.
//! 6. *The P's word*: `interrupt` in the kernel, one load and one store. From then on the monitor may take the P.
//! 7. *The role is `Away` now*: the post's parts are moved, nothing is dropped, no count of references changes.
//!
//! `errno` is kept. The handler runs on the thread's signal stack (`SA_ONSTACK`), because a goroutine's has no room for
//! it: Rust's threads have one. System calls are restarted (`SA_RESTART`) where the system does so; the others end with
//! `EINTR`, which only tasks see that block outside of [`syscall`](crate::syscall) for 10 ms.

#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
pub(super) use linux::{Stack, interrupt, listen, this_thread};

#[cfg(target_os = "linux")]
pub(super) const CAN_INTERRUPT: bool = true;
#[cfg(not(target_os = "linux"))]
pub(super) const CAN_INTERRUPT: bool = false;

#[cfg(target_os = "linux")]
mod linux {
    use crate::runtime::{goroutine, worker};
    use core::fmt::{self, Write};
    use core::mem::MaybeUninit;
    use core::ptr;
    use libc::{c_int, c_void, siginfo_t};
    use std::sync::{Once, OnceLock};

    /// What was done about a signal before us.
    static BEFORE_URG: OnceLock<libc::sigaction> = OnceLock::new();
    static BEFORE_SEGV: OnceLock<libc::sigaction> = OnceLock::new();
    static BEFORE_BUS: OnceLock<libc::sigaction> = OnceLock::new();

    type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

    /// From now on this process hears the signals. Once is enough.
    pub(in crate::runtime) fn listen() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            handle(libc::SIGURG, on_preempt, &BEFORE_URG);
            handle(libc::SIGSEGV, on_fault, &BEFORE_SEGV);
            handle(libc::SIGBUS, on_fault, &BEFORE_BUS);
        });
    }

    fn handle(signal: c_int, handler: Handler, before: &OnceLock<libc::sigaction>) {
        let mut old = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asks only. Known before our handler can need it.
        if unsafe { libc::sigaction(signal, ptr::null(), old.as_mut_ptr()) } != 0 {
            return;
        }
        // SAFETY: the system has filled it.
        let _ = before.set(unsafe { old.assume_init() });
        // SAFETY: all zero is a valid `sigaction`.
        let mut new: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        new.sa_sigaction = handler as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: a handler that does what the header of this file says, and hands on what is not its own.
        unsafe { libc::sigaction(signal, &raw const new, ptr::null_mut()) };
    }

    extern "C" fn on_preempt(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the place of this thread's `errno`.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        let before = unsafe { *errno };
        worker::interrupt();
        // SAFETY: as above.
        unsafe { *errno = before };
        hand_on(&BEFORE_URG, signal, info, context, false);
    }

    extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system gives this signal its information.
        let address = unsafe { (*info).si_addr() } as usize;
        if let Some((spawned_at, size)) = goroutine::overflows(address) {
            let mut text = Text { bytes: [0; 512], len: 0 };
            let _ = write!(
                text,
                "\nthe goroutine spawned at {spawned_at} has used up its stack of {size} bytes: give it more by \
                 Builder::goroutine_stack_size, or let it call itself less deeply\n",
            );
            // SAFETY: bytes that are there; and then the end.
            unsafe {
                libc::write(2, text.bytes.as_ptr().cast(), text.len);
                libc::abort();
            }
        }
        let before = if signal == libc::SIGBUS { &BEFORE_BUS } else { &BEFORE_SEGV };
        hand_on(before, signal, info, context, true);
    }

    /// It was not for us, or not only.
    fn hand_on(
        before: &OnceLock<libc::sigaction>,
        signal: c_int,
        info: *mut siginfo_t,
        context: *mut c_void,
        is_fault: bool,
    ) {
        let Some(before) = before.get() else { return };
        match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN if is_fault => {
                // The default is the end: it comes when the same instruction is tried again.
                // SAFETY: what was there before us.
                unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
            }
            libc::SIG_DFL | libc::SIG_IGN => (),
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: it was given to the system as a handler of this kind.
                let handler = unsafe { core::mem::transmute::<usize, Handler>(handler) };
                handler(signal, info, context);
            }
            handler => {
                // SAFETY: as above.
                let handler = unsafe { core::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
                handler(signal);
            }
        }
    }

    /// Text without memory from the heap.
    struct Text {
        bytes: [u8; 512],
        len: usize,
    }

    impl Write for Text {
        fn write_str(&mut self, s: &str) -> fmt::Result {
            let room = &mut self.bytes[self.len..];
            let len = room.len().min(s.len());
            room[..len].copy_from_slice(&s.as_bytes()[..len]);
            self.len += len;
            Ok(())
        }
    }

    /// This thread, as the system calls it.
    pub(in crate::runtime) fn this_thread() -> i32 {
        rustix::thread::gettid().as_raw_nonzero().get()
    }

    /// Signals a thread of this process. If it has ended nothing happens; if another has its number by now, that one
    /// finds that it is not meant.
    pub(in crate::runtime) fn interrupt(thread: i32) {
        if thread != 0 {
            // SAFETY: a signal that this process handles, whichever of its threads it hits.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGURG) };
        }
    }

    /// Room for the handlers on this thread, as long as this lives. `None` inside: it had some already.
    pub(in crate::runtime) struct Stack(Option<Box<[u8]>>);

    impl Stack {
        /// A frame with every register of today's processors, and some room.
        const SIZE: usize = 64 << 10;

        pub(in crate::runtime) fn of_this_thread() -> Stack {
            let mut old = MaybeUninit::<libc::stack_t>::zeroed();
            // SAFETY: asks only.
            let asked = unsafe { libc::sigaltstack(ptr::null(), old.as_mut_ptr()) };
            // SAFETY: filled by the system, or zero, which is valid.
            let old = unsafe { old.assume_init() };
            if asked != 0 || old.ss_flags & libc::SS_DISABLE == 0 {
                return Stack(None);
            }
            let mut room = vec![0; Self::SIZE].into_boxed_slice();
            let new = libc::stack_t { ss_sp: room.as_mut_ptr().cast(), ss_flags: 0, ss_size: room.len() };
            // SAFETY: memory that lives until we take it back.
            unsafe { libc::sigaltstack(&raw const new, ptr::null_mut()) };
            Stack(Some(room))
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            if self.0.is_some() {
                let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
                // SAFETY: the thread has none from now on.
                unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    pub(in crate::runtime) fn listen() {}
    pub(in crate::runtime) fn this_thread() -> i32 {
        0
    }
    pub(in crate::runtime) fn interrupt(_thread: i32) {}
    pub(in crate::runtime) struct Stack;
    impl Stack {
        pub(in crate::runtime) fn of_this_thread() -> Stack {
            Stack
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{Stack, interrupt, listen, this_thread};
