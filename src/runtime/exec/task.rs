//! A future in memory: what the rights of [`crate::kernel::task`] are rights to.
//!
//! ```text
//!   Task, the right to run it ──┐
//!   Waker ──────────────────────┼──► Header: word, slot, what can be done ─ how it is queued ─ the future, or the output
//!   Awaited, the handle ────────┘   (awaited.rs)
//! ```
//!
//! It rests on the protocol, which verification/rooms/src/rooms/task.rs declares: one [`Active`] is the right to the future, one
//! [`Handle`] that to the output, and the memory is freed when nothing refers to it.

#![allow(unsafe_code)]

use crate::host::Host;
use crate::kernel::task::{self, Active, Handle, JoinerSlot, Memory, Mode, TaskWord, WakerWords};
use crate::kernel::types::g::G;
use crate::runtime::exec::polling;
use crate::runtime::exec::waker_words::from_words;
use crate::runtime::exec::why::Why;
use crate::runtime::guarded::guarded;
use crate::runtime::host::cores::Cores;
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::sampling;
use core::cell::UnsafeCell;
use core::future::Future;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::num::NonZeroU64;
use core::panic::Location;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context as TaskContext, Poll, RawWaker, RawWakerVTable, Waker};

/// How a task becomes runnable.
pub(in crate::runtime) trait Queue: Clone + Send + Sync + 'static {
    /// Makes `task` run, which was woken; or, if it `yields`, was just polled.
    ///
    /// # Errors
    /// Nothing is run there any more.
    fn put(&self, task: Task, yields: bool) -> Result<(), Task>;
}

/// What is known of a task whatever it runs.
pub(super) struct Header {
    word: TaskWord<Cores>,
    slot: JoinerSlot<Cores>,
    can: &'static Can,
    /// Where it was spawned.
    spawned_at: &'static Location<'static>,
    /// The runtime whose task it is.
    runtime_id: RuntimeId,
    /// What it waits for.
    pub(super) why: Why,
}

/// What can be done with a task, whatever it runs. Each wants the right that the protocol says.
struct Can {
    poll: unsafe fn(NonNull<Header>) -> Poll<()>,
    drop_future: unsafe fn(NonNull<Header>),
    drop_output: unsafe fn(NonNull<Header>),
    /// To a place for the output.
    take_output: unsafe fn(NonNull<Header>, *mut ()),
    put: unsafe fn(NonNull<Header>, bool) -> Result<(), Task>,
    free: unsafe fn(NonNull<Header>),
}

/// A task's memory. The header comes first, so that a pointer to one is a pointer to the other.
#[repr(C)]
struct Cell<F: Future, Q> {
    header: Header,
    queue: Q,
    stage: UnsafeCell<Stage<F>>,
}

/// Which it is, the word says; perhaps it is neither any more. Both begin where the union does.
#[repr(C)]
union Stage<F: Future> {
    future: ManuallyDrop<F>,
    output: ManuallyDrop<F::Output>,
}

impl<F: Future, Q: Queue> Cell<F, Q> {
    const CAN: Can = Can {
        poll: Self::poll,
        drop_future: Self::drop_future,
        drop_output: Self::drop_output,
        take_output: Self::take_output,
        put: Self::put,
        free: Self::free,
    };

    /// # Safety
    /// `task` is the header of a cell of this type that was not freed.
    unsafe fn stage(task: NonNull<Header>) -> *mut Stage<F> {
        // SAFETY: the header is the cell's first field, and the pointer was made from the whole cell's. No reference to the
        // stage is made here.
        unsafe { UnsafeCell::raw_get(&raw const (*task.cast::<Self>().as_ptr()).stage) }
    }

    /// # Safety
    /// As [`stage`](Cell::stage), and the caller has the right to the future, which is there.
    unsafe fn poll(task: NonNull<Header>) -> Poll<()> {
        let waker = ManuallyDrop::new(Raw(task).waker());
        // SAFETY: by the right no other thread touches the stage. The future is not moved until it is dropped: it lies in an
        // allocation of its own.
        unsafe {
            let stage = Self::stage(task);
            let future = stage.cast::<F>();
            let polled = Pin::new_unchecked(&mut *future).poll(&mut TaskContext::from_waker(&waker));
            let Poll::Ready(output) = polled else { return Poll::Pending };
            polling::is_over(task.addr().get());
            guarded(|| future.drop_in_place());
            (*stage).output = ManuallyDrop::new(output);
        }
        Poll::Ready(())
    }

    /// # Safety
    /// As [`poll`](Cell::poll). There is no future any more then.
    unsafe fn drop_future(task: NonNull<Header>) {
        // SAFETY: by the right no other thread touches the stage; the future is there, and dropped once.
        guarded(|| unsafe { Self::stage(task).cast::<F>().drop_in_place() });
    }

    /// # Safety
    /// As [`stage`](Cell::stage), the output is there, and the caller has the right to it. It is gone then.
    unsafe fn drop_output(task: NonNull<Header>) {
        // SAFETY: by the right no other thread touches the stage; the output is there, and dropped once.
        guarded(|| unsafe { Self::stage(task).cast::<F::Output>().drop_in_place() });
    }

    /// # Safety
    /// As [`drop_output`](Cell::drop_output); `place` is one for an output. It is there then, and here no more.
    unsafe fn take_output(task: NonNull<Header>, place: *mut ()) {
        // SAFETY: by the right no other thread touches the stage; what is read is not used here again.
        unsafe { place.cast::<F::Output>().write(Self::stage(task).cast::<F::Output>().read()) };
    }

    /// # Safety
    /// As [`stage`](Cell::stage), and the caller gives its right up.
    #[inline(never)] // because of `Context::ready`
    unsafe fn put(task: NonNull<Header>, yields: bool) -> Result<(), Task> {
        // A copy: once it is queued it may be run elsewhere, and freed, while we are still on our way out.
        // SAFETY: the memory is there as long as the right is the caller's.
        let queue = unsafe { (*task.cast::<Self>().as_ptr()).queue.clone() };
        queue.put(Task(task), yields)
    }

    /// # Safety
    /// `task` is as for [`stage`](Cell::stage), nothing refers to it any more, and neither future nor output is there.
    unsafe fn free(task: NonNull<Header>) {
        // SAFETY: it came out of a box of this type, in `Task::new`. What the stage holds is not dropped: it is a union.
        drop(unsafe { Box::from_raw(task.cast::<Self>().as_ptr()) });
    }
}

/// A task, by its address. It has no right to anything.
#[derive(Clone, Copy)]
pub(super) struct Raw(NonNull<Header>);

impl Raw {
    pub(super) fn header(&self) -> &Header {
        // SAFETY: its maker refers to the task: by a right, as its handle, or by a waker. So it is not freed; and
        // headers are only shared.
        unsafe { self.0.as_ref() }
    }

    /// Where it was spawned.
    pub(super) fn spawned_at(&self) -> &'static Location<'static> {
        self.header().spawned_at
    }

    /// Its output.
    ///
    /// # Safety
    /// It is complete and has an output, which is a `T`; the caller has its handle, and takes it once.
    pub(super) unsafe fn take_output<T>(&self) -> T {
        let mut output = MaybeUninit::<T>::uninit();
        // SAFETY: the caller's promise; it is written before it is read.
        unsafe {
            (self.header().can.take_output)(self.0, output.as_mut_ptr().cast());
            output.assume_init()
        }
    }

    /// The one that this thread polls, if it is a task of a runtime.
    pub(super) fn polled() -> Option<Raw> {
        NonNull::new(core::ptr::with_exposed_provenance_mut(polling::task())).map(Raw)
    }

    /// What the task's wakers carry.
    pub(super) fn address(self) -> usize {
        self.0.addr().get()
    }

    /// A waker that was not counted.
    fn waker(self) -> Waker {
        // SAFETY: the functions of the table do with such a pointer what wakers must.
        unsafe { Waker::new(self.0.as_ptr().cast_const().cast(), &WAKER) }
    }

    /// A waker of it.
    pub(super) fn to_waker(self) -> Waker {
        self.word().clone_waker();
        self.waker()
    }

    /// Of one of our wakers.
    pub(super) fn of(waker: &Waker) -> Option<Raw> {
        let is_ours = core::ptr::eq(waker.vtable(), &raw const WAKER);
        NonNull::new(waker.data().cast_mut().cast()).filter(|_| is_ours).map(Raw)
    }
}

impl Memory for Raw {
    type Host = Cores;

    #[inline(always)]
    fn word(&self) -> &TaskWord<Cores> {
        &self.header().word
    }

    fn slot(&self) -> &JoinerSlot<Cores> {
        &self.header().slot
    }

    #[inline(always)]
    fn poll(&self, _: &Active) -> Poll<()> {
        self.header().why.forget();
        // SAFETY: the caller has the right, and the future is there: the protocol polls only before it is dropped or ready.
        unsafe { (self.header().can.poll)(self.0) }
    }

    #[inline]
    fn has_woken_itself(&self) -> bool {
        polling::has_woken_itself(self.address())
    }

    fn drop_future(&self, _: &Active) {
        // SAFETY: the caller has the right, and the future is there, as above.
        unsafe { (self.header().can.drop_future)(self.0) }
        polling::is_over(self.address());
    }

    fn drop_output(&self) {
        // SAFETY: the protocol calls it once, of an output that is there: before the task completes, or for the handle.
        unsafe { (self.header().can.drop_output)(self.0) }
    }

    #[inline]
    fn schedule(&self, _: Active, mode: Mode) -> Result<(), Active> {
        // SAFETY: the caller gives its right up.
        let put = unsafe { (self.header().can.put)(self.0, mode == Mode::Yields) };
        put.map_err(|task| {
            core::mem::forget(task);
            Active::assume()
        })
    }

    fn wake_joiner(&self, joiner: WakerWords) {
        // SAFETY: the protocol says that they are the caller's.
        let waker = ManuallyDrop::new(unsafe { from_words(joiner) });
        guarded(|| match Raw::of(&waker).filter(|to| polling::joins_one_by_one(self.address(), to.address())) {
            Some(joiner) => task::wake(&joiner, Mode::Yields),
            None => ManuallyDrop::into_inner(waker).wake(),
        });
    }

    fn drop_joiner(&self, joiner: WakerWords) {
        // SAFETY: as above.
        guarded(|| drop(unsafe { from_words(joiner) }));
    }

    fn free(&self) {
        // SAFETY: the protocol calls it when nothing refers to the task: and then neither future nor output is left.
        unsafe { (self.header().can.free)(self.0) }
    }
}

/// What wakers of tasks do.
static WAKER: RawWakerVTable = {
    #[inline(never)] // because of `wakes_itself`
    fn wake_by_ref(task: Raw) {
        if !polling::wakes_itself(task.address()) {
            task::wake_by_ref(&task);
        }
    }
    fn raw(data: *const ()) -> Raw {
        Raw(NonNull::new(data.cast_mut().cast()).expect("task: a waker without a task"))
    }
    RawWakerVTable::new(
        |data| {
            raw(data).word().clone_waker();
            RawWaker::new(data, &WAKER)
        },
        |data| task::wake(&raw(data), Mode::Woken),
        |data| wake_by_ref(raw(data)),
        |data| task::drop_waker(&raw(data)),
    )
};

/// A task that can run now. Dropped, its future is dropped, and its handle says so.
pub(in crate::runtime) struct Task(NonNull<Header>);

// SAFETY: what can be sent is checked where tasks are made: the future is `Send`, or is touched on one thread only.
unsafe impl Send for Task {}

impl Task {
    /// A task of the runtime `runtime_id`, where it is, and the right to its outcome: [`Awaited`](super::awaited::Awaited) has
    /// these.
    #[inline]
    #[track_caller]
    pub(super) fn allocate<F>(runtime_id: RuntimeId, queue: impl Queue, future: F) -> (Task, Raw, Handle)
    where
        F: Future<Output: 'static> + Send + 'static,
    {
        fn can<F: Future, Q: Queue>(_: &Q) -> &'static Can {
            &Cell::<F, Q>::CAN
        }
        let (word, active, handle) = TaskWord::new();
        let header = Header {
            word,
            slot: JoinerSlot::new(),
            can: can::<F, _>(&queue),
            spawned_at: Location::caller(),
            runtime_id,
            why: Why::unknown(),
        };
        let stage = UnsafeCell::new(Stage { future: ManuallyDrop::new(future) });
        let cell = Box::new(Cell { header, queue, stage });
        let task = NonNull::from(Box::leak(cell)).cast();
        (Task::holding(task, active), Raw(task), handle)
    }

    fn holding(task: NonNull<Header>, _: Active) -> Task {
        Task(task)
    }

    /// Where the task is, and the right to its future.
    fn into_parts(self) -> (Raw, Active) {
        let raw = Raw(self.0);
        core::mem::forget(self);
        (raw, Active::assume())
    }

    /// Runs it, here and now, until it waits or ends.
    #[inline]
    pub(in crate::runtime) fn run(self) {
        let (raw, active) = self.into_parts();
        task::run(&raw, active);
    }

    /// Runs it where it would not be run again: if it waits it is dropped.
    #[inline(never)] // as an M's loop: what it polls may look at thread locals in place
    pub(in crate::runtime) fn run_last(self) {
        let (raw, active) = self.into_parts();
        task::run_last(&raw, active);
    }

    /// Where it was spawned.
    pub(in crate::runtime) fn spawned_at(&self) -> &'static Location<'static> {
        Raw(self.0).spawned_at()
    }

    /// The runtime whose task it is.
    pub(in crate::runtime) fn runtime_id(&self) -> RuntimeId {
        Raw(self.0).header().runtime_id
    }

    /// What its wakers carry.
    pub(in crate::runtime) fn address(&self) -> usize {
        Raw(self.0).address()
    }

    /// As a number that owns it, for a scheduler on the host `H`.
    #[inline]
    pub(in crate::runtime) fn into_g<H: Host>(self) -> G {
        let address = self.0.as_ptr().expose_provenance() as u64;
        core::mem::forget(self);
        sampling::readied(address, H::now);
        G::from_address(NonZeroU64::new(address).expect("task: an address is not null"))
    }

    /// Back from the number, and what the task's wakers carry.
    ///
    /// # Safety
    /// `g` came out of [`into_g`](Task::into_g), and no G of the same number was given to `from_g` since.
    #[inline]
    pub(in crate::runtime) unsafe fn from_g(g: G) -> (Task, usize) {
        let address = g.into_address().get() as usize;
        (Task(NonNull::new(core::ptr::with_exposed_provenance_mut(address)).expect("task: a G is not 0")), address)
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        task::cancel(&Raw(self.0), Active::assume());
    }
}

const _: () = assert!(size_of::<usize>() <= size_of::<u64>(), "an address has to fit a G");
