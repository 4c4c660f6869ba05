//! Two signals: one that takes the P from a task that is CPU-bound, one that says that a goroutine's stack is used up.
//!
//! Go: `preemptM`, `sighandler`, `doSigPreempt`, `sigPreempt` (which is `SIGURG` too, and for the same reason: no program
//! uses it, and one that does has to expect it at any time).
//!
//! **Linux only, so far.** Elsewhere a task that ignores preemption keeps its P, and a used-up stack is a plain crash.
//!
//! # What the handlers may do
//!
//! A handler runs on the interrupted thread, between any two instructions of it: perhaps inside of `malloc`, with its lock
//! held. So it may not allocate, lock, or wait. It touches no thread local either: in a library that was loaded by
//! `dlopen` the first touch of one allocates, on whichever thread the signal hits (rust-lang/rust #140628). Line by line:
//!
//! 1. *Is this a thread that runs tasks?* Its number is looked up in a table: a system call, and some atomic loads. An entry
//!    is written by the thread that it is of, before its first task and after its last. (A thread that only unwinds a goroutine's
//!    stack, because it shuts the runtime down, has an entry meanwhile, for the second signal.)
//! 2. *Is the thread inside the scheduler?* Then nothing is done, and the monitor asks again at its next tick. If it is not,
//!    the role is whole, and so is the [`CurrentWorker`](crate::runtime::exec::current_worker::CurrentWorker) in it: see [`role`](crate::kernel::protocol::role).
//! 3. *Is preemption of its P requested, and may one more task go on without?* Two atomic loads. A signal that came late, for
//!    a P that has gone on, ends here.
//! 4. *The counts of detached tasks*: atomic additions.
//! 5. *The P's word*: `interrupt` in the kernel, one load and one store. From then on the monitor may retake the P.
//! 6. *The role is `Detached` now*: the worker's parts are moved, nothing is dropped, no count of references changes.
//!
//! # What else may want the signal
//!
//! A handler that was there before ours is called after it. One that is installed later replaces ours, unless it calls the
//! one before it: that is noticed, by [`build`](crate::Builder::build) (an error) and by the monitor when it signals a
//! thread ([`Metrics::preemption_lost`](crate::Metrics::preemption_lost), and a warning of `tracing`). Threads that run
//! tasks unblock the signal, whatever the thread had blocked that started them.
//!
//! `errno` is kept. The handler runs on the thread's signal stack (`SA_ONSTACK`), because a goroutine's has no room for
//! it: Rust's threads have one. System calls are restarted (`SA_RESTART`) where the system does so; the others end with
//! `EINTR`, which only tasks see that block outside of [`syscall`](crate::syscall) for 10 ms.

#![allow(unsafe_code)]

use core::panic::Location;

/// A thread that runs tasks, or is on a goroutine's stack, as its signal handlers see it. What they call obeys the rules above.
pub(in crate::runtime) trait Interrupted {
    /// Preemption is wanted of the task that runs here, if it is requested and may be granted.
    fn preempt(&self);

    /// Is this address in the guard of the stack that the thread is on? Where its goroutine was spawned, and how large the
    /// stack is, then.
    fn overflows(&self, address: usize) -> Option<(&'static Location<'static>, usize)>;
}

#[cfg(target_os = "linux")]
pub(in crate::runtime) use linux::{Heard, Stack, interrupt, is_heard, listen, this_thread};

#[cfg(target_os = "linux")]
pub(in crate::runtime) const CAN_INTERRUPT: bool = true;
#[cfg(not(target_os = "linux"))]
pub(in crate::runtime) const CAN_INTERRUPT: bool = false;

#[cfg(target_os = "linux")]
mod linux {
    use super::Interrupted;
    use crate::runtime::host::signal_text::Text;
    use core::fmt::Write;
    use core::marker::PhantomData;
    use core::mem::MaybeUninit;
    use core::ptr;
    use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
    use core::sync::atomic::{AtomicI32, AtomicPtr};
    use libc::{c_int, c_void, siginfo_t};
    use std::sync::{Mutex, Once, OnceLock, PoisonError};

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
        let me = this_thread();
        // Relaxed: it is this thread that asks, in `is_heard`.
        let _ = ASKS.compare_exchange(me, 0, Relaxed, Relaxed);
        if let Some(thread) = find(me) {
            thread.preempt();
        }
        // SAFETY: as above.
        unsafe { *errno = before };
        hand_on(&BEFORE_URG, signal, info, context, false);
    }

    extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system gives this signal its information.
        let address = unsafe { (*info).si_addr() } as usize;
        if let Some(thread) = find(this_thread())
            && let Some((spawned_at, size)) = thread.overflows(address)
        {
            let mut text = Text::empty();
            let _ = write!(
                text,
                "\nthe goroutine spawned at {spawned_at} has used up its stack of {size} bytes: give it more by \
                 Builder::goroutine_stack_size, or let it call itself less deeply\n",
            );
            text.to_standard_error();
            // SAFETY: it ends the process.
            unsafe { libc::abort() };
        }
        let before = if signal == libc::SIGBUS { &BEFORE_BUS } else { &BEFORE_SEGV };
        hand_on(before, signal, info, context, true);
    }

    /// A thread that runs tasks, for its handlers. Entries are used again, and never freed.
    struct Entry {
        /// As the system calls it; 0: of none.
        number: AtomicI32,
        thread: AtomicPtr<&'static dyn Interrupted>,
        next: *const Entry,
    }

    /// By number, modulo the length.
    static TABLE: [AtomicPtr<Entry>; 256] = [const { AtomicPtr::new(ptr::null_mut()) }; 256];

    fn entries(number: i32) -> impl Iterator<Item = &'static Entry> {
        // Acquire: `table`, an entry that was put there is whole.
        let mut at: *const Entry = TABLE[number as usize % TABLE.len()].load(Acquire);
        core::iter::from_fn(move || {
            // SAFETY: entries are leaked when they are made, and `next` is not changed afterwards.
            let entry = unsafe { at.as_ref() }?;
            at = entry.next;
            Some(entry)
        })
    }

    /// What the thread of this number is, which is the caller's, if it runs tasks. For a handler.
    fn find<'a>(me: i32) -> Option<&'a dyn Interrupted> {
        // Relaxed: only this thread writes or clears an entry of its own number.
        let mine = entries(me).find(|entry| entry.number.load(Relaxed) == me)?;
        // Relaxed: as above.
        let thread = mine.thread.load(Relaxed);
        // SAFETY: `Heard` has put it there, on this thread, and takes it away before it ends.
        Some(unsafe { *thread })
    }

    /// The handlers know what this thread does, as long as this lives.
    pub(in crate::runtime) struct Heard<'a>(&'static Entry, PhantomData<(&'a (), *const ())>);

    impl<'a> Heard<'a> {
        /// The thread runs tasks: `thread` is what the handlers ask, of its stack and of its preemption.
        pub(in crate::runtime) fn new(thread: &'a &'a dyn Interrupted) -> Heard<'a> {
            let heard = Heard::of_faults(thread);
            unblock();
            heard
        }

        /// The same, where the thread is not preempted by a signal. `None`: the handlers know of it already.
        pub(in crate::runtime) fn unless_known(thread: &'a &'a dyn Interrupted) -> Option<Heard<'a>> {
            find(this_thread()).is_none().then(|| Heard::of_faults(thread))
        }

        /// The same, of a thread that plays several: each of them is known.
        pub(in crate::runtime) fn of_faults(thread: &'a &'a dyn Interrupted) -> Heard<'a> {
            let me = this_thread();
            let entry = Self::entry(me);
            // Relaxed: read on this thread only.
            entry.thread.store(ptr::from_ref(thread).cast_mut().cast(), Relaxed);
            // Release: for the compiler: a handler that finds the number finds the rest.
            entry.number.store(me, Release);
            Heard(entry, PhantomData)
        }

        /// A free entry, or a new one.
        fn entry(me: i32) -> &'static Entry {
            /// Held to look for an entry, or to make one. Handlers do not.
            static MAKING: Mutex<()> = Mutex::new(());
            let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
            // Acquire: its owner before is done with it.
            let unused = entries(me).find(|entry| entry.number.load(Acquire) == 0);
            if let Some(entry) = unused {
                // Relaxed: no entry has this number, and no other thread looks for one.
                entry.number.store(-1, Relaxed);
                return entry;
            }
            let head = &TABLE[me as usize % TABLE.len()];
            let entry = Box::leak(Box::new(Entry {
                number: AtomicI32::new(-1),
                thread: AtomicPtr::new(ptr::null_mut()),
                // Relaxed: written under the mutex only.
                next: head.load(Relaxed),
            }));
            // AcqRel: `table`.
            head.swap(entry, AcqRel);
            entry
        }
    }

    impl Drop for Heard<'_> {
        fn drop(&mut self) {
            // Release: we are done with it.
            self.0.number.store(0, Release);
        }
    }

    /// The signal is not blocked on this thread any more.
    fn unblock() {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: a set of our own; and then the mask of this thread, of which one signal is taken out that we handle.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGURG);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut());
        }
    }

    /// Is our handler called? It is, if it is the one that is installed; or the one that is calls it, which is tried on this
    /// thread.
    pub(in crate::runtime) fn is_heard() -> bool {
        let mut now = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asks only.
        let asked = unsafe { libc::sigaction(libc::SIGURG, ptr::null(), now.as_mut_ptr()) };
        // SAFETY: filled by the system, or zero, which is valid.
        let now = unsafe { now.assume_init() };
        if asked != 0 || now.sa_sigaction == on_preempt as *const () as usize {
            return true;
        }
        if matches!(now.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
            return false;
        }
        static TRYING: Mutex<()> = Mutex::new(());
        let _trying = TRYING.lock().unwrap_or_else(PoisonError::into_inner);
        let me = this_thread();
        // Relaxed: the handler reads it on this thread.
        ASKS.store(me, Relaxed);
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: as in `unblock`; then the thread's mask is as it was.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), before.as_mut_ptr());
            unblock();
            interrupt(me);
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
        }
        // Relaxed: a signal that a thread sends itself, and does not block, has come when the call returns.
        ASKS.swap(0, Relaxed) == 0
    }

    /// The thread that asks whether it is heard.
    static ASKS: AtomicI32 = AtomicI32::new(0);

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
    pub(in crate::runtime) fn is_heard() -> bool {
        true
    }
    pub(in crate::runtime) struct Heard<'a>(core::marker::PhantomData<&'a ()>);
    impl<'a> Heard<'a> {
        pub(in crate::runtime) fn new(_thread: &'a &'a dyn super::Interrupted) -> Heard<'a> {
            Heard(core::marker::PhantomData)
        }
        pub(in crate::runtime) fn of_faults(thread: &'a &'a dyn super::Interrupted) -> Heard<'a> {
            Heard::new(thread)
        }
        pub(in crate::runtime) fn unless_known(thread: &'a &'a dyn super::Interrupted) -> Option<Heard<'a>> {
            Some(Heard::new(thread))
        }
    }
    pub(in crate::runtime) struct Stack;
    impl Stack {
        pub(in crate::runtime) fn of_this_thread() -> Stack {
            Stack
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(in crate::runtime) use elsewhere::{Heard, Stack, interrupt, is_heard, listen, this_thread};
