//! A closure as a task. By default it runs on the stack of its thread, and that thread sleeps while it waits. In a runtime
//! with [stackful goroutines](crate::Builder::stackful_goroutines) it has a stack of its own: when it has to wait, its
//! thread leaves the stack as it is and runs something else; when it goes on, perhaps on another thread, that thread
//! changes to the stack again.
//!
//! Go: `g`, `gopark`, `mcall`, `gogo`.
//!
//! ```text
//!    the thread's stack                     the goroutine's stack
//!    ──────────────────                     ─────────────────────
//!    M: run the task
//!      └ Goroutine::poll ── resume ───────► f()
//!                                             └ receiver.recv().wait()
//!                                                 └ polls the future: not ready, it has our waker
//!                        ◄─ suspend ──────────────┘
//!      Poll::Pending
//!    M: run another task
//! ```
//!
//! So a goroutine is a task like any other, to the scheduler and to all that wakes, joins, aborts or counts it; and
//! whatever can be awaited can be waited for.

#![allow(unsafe_code)]

mod held;
mod on_stack;
mod spare;
pub(in crate::runtime) mod stack;
pub(in crate::runtime) mod wait_io;

use crate::kernel::protocol::role::Waits;
use crate::kernel::task::stackful;
use crate::runtime::exec::block_on;
use crate::runtime::exec::blocking::blocking;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::polling;
use crate::runtime::exec::task_locals::Scopes;
use crate::runtime::exec::unwind::{PATIENCE, Unwound, unwind};
use crate::runtime::exec::waits::{Unmet, wait_bound};
use crate::runtime::guarded::Theirs;
use crate::runtime::host::signal::{self, Interrupted};
use crate::runtime::host::thread_state::thread_state;
use crate::runtime::id::RuntimeId;
use core::cell::Cell;
use core::future::{Future, IntoFuture};
use core::marker::PhantomPinned;
use core::panic::Location;
use core::pin::{Pin, pin};
use core::ptr::{self, NonNull};
use core::task::{self, Poll, Waker};
use corosensei::{Coroutine, Yielder};
use std::panic::resume_unwind;

thread_state! {
    /// The goroutine on whose stack this thread is. Without a destructor, so that a signal handler may read it.
    static CURRENT: Cell<*const Frame> = Cell::new(ptr::null());
}

/// What a goroutine needs to wait; at its place as long as the goroutine lives.
pub(in crate::runtime) struct Frame {
    /// Wakes the task. Good while the thread is on the goroutine's stack.
    waker: Cell<*const Waker>,
    /// The way back. Good from the first moment on the goroutine's stack to the last.
    yielder: Cell<Option<NonNull<Yielder<(), ()>>>>,
    /// The lowest address of its stack's guard, and the size of the stack.
    guard: Cell<usize>,
    size: Cell<usize>,
    /// It is being thrown away: it does not go on after a wait.
    ends: Cell<bool>,
    /// The task-local values that are set on it, while no thread is.
    scopes: Cell<Scopes>,
    spawned_at: &'static Location<'static>,
}

/// A closure that is a task.
pub(in crate::runtime) struct Goroutine<F, T> {
    runtime_id: RuntimeId,
    frame: Frame,
    state: State<F, T>,
    /// The thread that runs it, and its own stack, refer to the frame: `&mut` of this is not exclusive access to the frame.
    _pinned: PhantomPinned,
}

/// A closure on a stack of its own.
struct OnOwnStack<T>(Coroutine<(), (), T, stack::Stack>);

enum State<F, T> {
    New(F),
    Live(OnOwnStack<T>),
    Over,
}

// SAFETY: what is in it is `f`, which is `Send`, or afterwards the stack on which it runs, which no other thread looks at, with
// a result that is `Send`. There is such a stack only in a runtime whose builder was promised, by `stackful_goroutines`,
// that nothing on it belongs to the thread it was suspended on. Its task-local values are counted by it and its stack alone. The pointers in the frame are set anew by each thread
// before it uses them, or point into the stack.
unsafe impl<F: Send, T: Send> Send for Goroutine<F, T> {}

// Else `&mut` of it would be unique, while the stack that it owns refers to its frame.
static_assertions::assert_not_impl_any!(Goroutine<fn(), ()>: Unpin);

impl<F, T> Goroutine<F, T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    /// Of the runtime `runtime_id`.
    #[track_caller]
    pub(in crate::runtime) fn new(runtime_id: RuntimeId, f: F) -> Goroutine<F, T> {
        let frame = Frame {
            waker: Cell::new(ptr::null()),
            yielder: Cell::new(None),
            guard: Cell::new(0),
            size: Cell::new(0),
            ends: Cell::new(false),
            scopes: Cell::new(None),
            spawned_at: Location::caller(),
        };
        Goroutine { runtime_id, frame, state: State::New(f), _pinned: PhantomPinned }
    }

    /// Takes a stack for it. `Err`: its runtime has none, or is gone: it runs here.
    fn begin(&mut self, f: F) -> Result<(), F> {
        let Some(stack) = Context::take_stack(self.runtime_id) else { return Err(f) };
        let stack = match stack {
            Ok(stack) => stack,
            Err(error) => {
                // Before the panic: std aborts if its destructor panics in the middle of one.
                drop(Theirs::new(f));
                panic!("no memory for the stack of a goroutine: {error}");
            }
        };
        self.frame.guard.set(stack.guard());
        self.frame.size.set(stack.size());
        let body = move |yielder: &Yielder<(), ()>, ()| {
            if let Some(frame) = current() {
                // SAFETY: set by `OnStack`, whose lender outlives it.
                unsafe { frame.as_ref() }.yielder.set(Some(NonNull::from(yielder)));
            }
            f()
        };
        self.state = State::Live(OnOwnStack(Coroutine::with_stack(stack, body)));
        Ok(())
    }

    fn resume(&mut self, waker: &Waker) -> Poll<T> {
        let State::Live(coroutine) = &mut self.state else { panic!("goroutine: polled after its end") };
        let Some(value) = stackful::resume(&self.frame, waker, coroutine) else { return Poll::Pending };
        self.put_stack();
        Poll::Ready(value)
    }
}

impl<F, T> Goroutine<F, T> {
    /// It is over: its stack is anybody's.
    fn put_stack(&mut self) {
        if let State::Live(OnOwnStack(coroutine)) = core::mem::replace(&mut self.state, State::Over)
            && coroutine.done()
        {
            Context::put_stack(self.runtime_id, coroutine.into_stack());
        }
    }
}

impl<F, T> Future for Goroutine<F, T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<T> {
        // SAFETY: nothing is moved out of it but `f`, before the first poll ends, and the coroutine, after its last.
        // The frame, to which `CURRENT` points, stays. While the coroutine runs, `this` is used for nothing else, and the
        // frame is reached by shared references only: it is all cells, and `PhantomPinned` keeps `&mut` from being unique.
        let this = unsafe { self.get_unchecked_mut() };
        if matches!(this.state, State::New(_))
            && let State::New(f) = core::mem::replace(&mut this.state, State::Over)
            && let Err(f) = this.begin(f)
        {
            polling::blocks();
            return Poll::Ready(f());
        }
        this.resume(cx.waker())
    }
}

impl<F, T> Drop for Goroutine<F, T> {
    /// One that waits is unwound: what it owns is dropped, on its own stack, which is this thread's meanwhile. One that
    /// catches the unwinding and waits again, over and over, is forgotten, with its stack. So is every one where panics
    /// cannot be unwound.
    fn drop(&mut self) {
        let State::Live(coroutine) = &mut self.state else { return };
        let tries = if cfg!(panic = "unwind") { PATIENCE } else { 0 };
        let has_ended =
            with_known_stack(|| stackful::throw_away(&self.frame, Waker::noop(), coroutine, tries as usize));
        match has_ended {
            true => self.put_stack(),
            false => core::mem::forget(core::mem::replace(&mut self.state, State::Over)),
        }
    }
}

/// Runs `f`, which changes to a goroutine's stack, on a thread that may run no tasks: its handlers are to know when that is used up.
/// Not inlined, and `f` ends on the thread on which it begins.
#[inline(never)]
fn with_known_stack<R>(f: impl FnOnce() -> R) -> R {
    struct Unwinds<'a>(&'a Cell<Current>);

    impl Interrupted for Unwinds<'_> {
        fn preempt(&self) {}

        fn overflows(&self, address: usize) -> Option<(&'static Location<'static>, usize)> {
            overflows(self.0, address)
        }
    }

    with_place(|place| {
        let _room = signal::Stack::of_this_thread();
        let me: &dyn Interrupted = &Unwinds(place);
        let _heard = signal::Heard::unless_known(&me);
        f()
    })
    .unwrap_or_else(|| unreachable!("goroutine: a thread local without a destructor is there"))
}

/// The goroutine on whose stack this thread is, if it is on one's.
#[inline(never)]
fn current() -> Option<NonNull<Frame>> {
    CURRENT::in_place(Cell::get).and_then(|frame| NonNull::new(frame.cast_mut()))
}

/// What this thread knows of the goroutine that it runs.
pub(in crate::runtime) type Current = *const Frame;

/// The goroutine that this thread runs is `other` from now on.
fn exchange(other: Current) -> Current {
    CURRENT::with(|current| current.replace(other)).unwrap_or(ptr::null())
}

/// Runs `f` with where this thread keeps which goroutine it runs, for its signal handlers, which touch no thread locals.
pub(in crate::runtime) fn with_place<R>(f: impl FnOnce(&Cell<Current>) -> R) -> Option<R> {
    CURRENT::with(f)
}

/// Is this address in the guard of the stack that a thread is on? Whose it is, and how large it is, then. For a signal
/// handler on that thread, which gives the [place](with_place) of that.
pub(in crate::runtime) fn overflows(
    current: &Cell<Current>,
    address: usize,
) -> Option<(&'static Location<'static>, usize)> {
    let is_in_guard = |frame: &Frame| {
        let guard = frame.guard.get();
        let is_in = guard <= address && address < guard + stack::GUARD;
        is_in.then(|| (frame.spawned_at, frame.size.get()))
    };
    // SAFETY: set by `OnStack`, whose lender outlives it; and the thread is interrupted, or we would not be here.
    unsafe { current.get().as_ref() }.and_then(is_in_guard)
}

impl Frame {
    /// Runs `future` to its end on this goroutine's stack.
    ///
    /// All of it is inlined where the goroutine waits: the processor foresees where a function returns to by the calls
    /// that it has seen on this thread, so each return after the stack was changed is foreseen wrongly, and so is one more
    /// in the code that resumed it.
    #[inline(always)]
    fn wait<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        loop {
            if let Poll::Ready(value) = self.poll(future.as_mut()) {
                return value;
            }
            self.suspend();
        }
    }

    /// Not inlined: the address of a thread local that the future uses must not be kept from one poll to the next, which may
    /// be on another thread.
    #[inline(never)]
    fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        // SAFETY: set by the thread that changed to this stack, for as long as the thread is on it.
        let waker = unsafe { &*self.waker.get() };
        future.poll(&mut task::Context::from_waker(waker))
    }

    #[inline(always)]
    fn suspend(&self) {
        let yielder = self.yielder.get().expect("goroutine: on a stack that was never begun");
        // SAFETY: the yielder is at the bottom of this stack, on which we are.
        unsafe { yielder.as_ref() }.suspend(());
        if self.ends.get() {
            goes_on_unwinding();
        }
    }
}

/// Waits, where there is no `await`: in a closure that is a task, or on an ordinary thread.
///
/// Whatever can be awaited in a task can be waited for: a sleep, a join, a channel, a lock, a socket.
///
/// ```
/// use spinpark::{Wait, time};
/// use std::time::Duration;
///
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// let goroutine = runtime.go(|| {
///     time::sleep(Duration::from_millis(1)).wait();
///     spinpark::go(|| 6 * 7).wait()
/// });
/// assert_eq!(goroutine.wait()??, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | in                                                                       | what happens meanwhile                         |
/// |--------------------------------------------------------------------------|------------------------------------------------|
/// | a goroutine with [a stack of its own](crate::Builder::stackful_goroutines) | its thread runs others                       |
/// | the same, inside of [`syscall`](crate::syscall) or bound to its thread   | the thread sleeps; others run on other threads |
/// | a goroutine on its thread's stack (the default)                          | the same                                       |
/// | a task, a future                                                         | the same. Better await                         |
/// | another thread                                                           | the thread sleeps                              |
///
/// What needs a runtime, such as a sleep, finds it in the first four. If the runtime is shut down while one of those
/// waits, it is unwound: what it owns is dropped, as by a panic.
pub trait Wait: IntoFuture {
    /// Waits for it, and returns what comes out. Go: any call that blocks.
    #[track_caller]
    fn wait(self) -> Self::Output;
}

impl<F: IntoFuture> Wait for F {
    #[inline(always)] // as `Frame::wait`
    #[track_caller]
    fn wait(self) -> F::Output {
        let future = pin!(self.into_future());
        match here() {
            // SAFETY: the goroutine's frame stays at its place while anything is on its stack, as we are.
            (Waits::Suspend, Some(frame)) => unsafe { frame.as_ref() }.wait(future),
            (waits, _) => wait_with_thread(waits, future, Location::caller()),
        }
    }
}

/// The goroutine is thrown away. Not inlined: std counts panics in a thread local.
#[cold]
#[inline(never)]
fn goes_on_unwinding() -> ! {
    resume_unwind(Box::new(Unwound))
}

/// How the caller may wait, and the goroutine on whose stack this thread is.
///
/// A goroutine that is thrown away waits no more: it is unwound further. But a destructor of its cannot be: it waits with
/// the thread. So does the destructor of one that panics: that a thread panics is counted by the thread, and its next task
/// would be taken for the one that does.
#[inline(never)]
fn here() -> (Waits, Option<NonNull<Frame>>) {
    let frame = CURRENT::in_place(Cell::get).and_then(|frame| NonNull::new(frame.cast_mut()));
    // SAFETY: set by `OnStack`, whose lender outlives it.
    let waits = match frame.map(|frame| (unsafe { frame.as_ref() }.ends.get(), std::thread::panicking())) {
        Some((true, false)) => Waits::Suspend,
        Some((ends, panics)) => Context::waits(!ends && !panics),
        None => Context::waits(false),
    };
    (waits, frame)
}

/// How the caller may wait.
pub(in crate::runtime) fn waits() -> Waits {
    here().0
}

/// A destructor that waits while its task is unwound waits to the end: it cannot be unwound any further.
#[cold]
#[inline(never)]
fn wait_with_thread<F: Future>(waits: Waits, mut future: Pin<&mut F>, at: &'static Location<'static>) -> F::Output {
    let _held = (waits == Waits::Block).then(held::Held::new);
    if waits == Waits::Block {
        if let Some(value) = wait_bound(future.as_mut(), at) {
            return value;
        }
        if !std::thread::panicking() {
            unwind();
        }
    }
    let unwinds = !std::thread::panicking();
    match blocking(|| block_on::wait(&mut future, unwinds, at)) {
        Ok(value) => value,
        Err(Unmet::Closed) => unwind(),
        Err(Unmet::Deadlock(_)) => {
            panic!("deadlock: a thread of a deterministic runtime waits for what no task will bring")
        }
    }
}
