//! A task with a stack of its own: how its thread comes there and back, and how it is thrown away. Go: `gogo`, `mcall`, `gopark`.
//!
//! **A thread has left the stack before the task waits**: what is on it is polled by [`run`](super::run), which lets go of the task
//! when [`resume`] has returned.
//!
//! | the thread that runs the task, in [`resume`] | on the stack                                              |
//! |----------------------------------------------|-----------------------------------------------------------|
//! | 1. the frame has this thread's waker         |                                                           |
//! | 2. the thread knows whose stack it is on     |                                                           |
//! | 3. changes to the stack                      | polls what it waits for: a holder of the waker may wake the task from now on |
//! |                                              | leaves the stack                                          |
//! | 4. the thread is on it no more               |                                                           |
//! | 5. [`run`](super::run): the task waits, or was woken since | its waker may run it now, and finds the stack as it was left |
//!
//! Checked by: verification/src/models/goroutine.rs

/// What a thread sets before it changes to a stack, and what the closure there finds.
pub trait Frame {
    /// What wakes the task.
    type Waker: ?Sized;
    /// The thread is on the stack as long as this lives.
    type OnStack<'a>
    where
        Self: 'a;

    /// What runs on the stack waits by this waker, until the stack is left.
    fn set_waker(&self, waker: &Self::Waker);

    /// The thread is about to change to the stack.
    fn enter(&self) -> Self::OnStack<'_>;

    /// It is thrown away: it does not go on after a wait, but is unwound.
    fn set_ends(&self);
}

/// A closure on its stack.
pub trait Stack {
    /// What it returns.
    type Output;

    /// Changes to it, until it waits or returns. `None`: it waits. A panic of its comes out here.
    fn resume(&mut self) -> Option<Self::Output>;

    /// Changes to it, so that it is unwound; its panic ends here. `false`: it has caught that, and waits again.
    fn unwind(&mut self) -> bool;

    /// Has it ended, by a panic perhaps? No thread may change to it any more.
    fn has_ended(&self) -> bool;
}

/// Runs it, here, until it waits or returns. `None`: it waits. By the right to the task's future.
///
/// ```
/// use spinpark_kernel::task::stackful::{Frame, Stack, resume, throw_away};
/// struct Here; // a frame that keeps nothing
/// impl Frame for Here {
///     type Waker = ();
///     type OnStack<'a> = ();
///     fn set_waker(&self, (): &()) {}
///     fn enter(&self) {}
///     fn set_ends(&self) {}
/// }
/// struct Waits(u32); // waits so often, then returns
/// impl Stack for Waits {
///     type Output = &'static str;
///     fn resume(&mut self) -> Option<&'static str> { self.0 = self.0.checked_sub(1)?; (self.0 == 0).then_some("done") }
///     fn unwind(&mut self) -> bool { self.0 = 0; true }
///     fn has_ended(&self) -> bool { self.0 == 0 }
/// }
/// let mut stack = Waits(2);
/// assert_eq!(resume(&Here, &(), &mut stack), None);
/// assert_eq!(resume(&Here, &(), &mut stack), Some("done"));
/// assert!(throw_away(&Here, &(), &mut Waits(9), 1)); // unwound
/// ```
#[inline(always)] // the processor foresees returns by the calls that it has seen on this thread
pub fn resume<F: Frame, S: Stack>(frame: &F, waker: &F::Waker, stack: &mut S) -> Option<S::Output> {
    frame.set_waker(waker);
    let on_it = frame.enter();
    let returned = stack.resume();
    drop(on_it);
    returned
}

/// Throws one away that waits: unwinds it, here, in so many tries at most. `false`: it has caught them all. By the right to the task's
/// future, which is being dropped; what it waits for as it is unwound wakes `nobody`.
///
/// ```
/// use spinpark_kernel::task::stackful::{Frame, Stack, throw_away};
/// fn at_the_end<F: Frame, S: Stack>(frame: &F, no_task: &F::Waker, stack: &mut S) {
///     let has_ended = throw_away(frame, no_task, stack, 64);
///     assert!(has_ended || !stack.has_ended(), "it has caught its unwinding 64 times");
/// }
/// ```
pub fn throw_away<F: Frame, S: Stack>(frame: &F, nobody: &F::Waker, stack: &mut S, tries: usize) -> bool {
    frame.set_ends();
    frame.set_waker(nobody);
    let on_it = frame.enter();
    // A panic has ended it: it cannot be resumed.
    let has_ended = stack.has_ended() || (0..tries).any(|_| stack.unwind());
    drop(on_it);
    has_ended
}
