//! What a channel of the runtime is made of.

use crate::runtime::guarded::Theirs;
use crate::runtime::host::cores::{Cores, CoresLock};
use crate::runtime::task_waker::TaskWaker;
use crate::waits::chan::state::State;
use crate::waits::chan::{self, Parts};
use core::fmt;
use core::marker::PhantomData;

/// Real cores, any value, and wakers of tasks.
pub(in crate::runtime) struct OnCores<T>(PhantomData<fn() -> T>);

impl<T> Parts for OnCores<T> {
    type Host = Cores;
    type Value = T;
    type Waker = TaskWaker;
    // Not the host's: a value may be bound to a thread, or borrow.
    type Lock = CoresLock<State<Self>>;

    fn drop_value(value: T) {
        drop(Theirs::new(value));
    }
}

/// What both ends have in common.
pub(in crate::runtime) type Channel<T> = chan::Channel<OnCores<T>>;

/// How many values it has room for. `None`: for all.
pub(super) fn capacity<T>(channel: &Channel<T>) -> Option<usize> {
    match channel.with(|state| state.capacity()) {
        usize::MAX => None,
        capacity => Some(capacity),
    }
}

pub(super) fn show<T>(channel: &Channel<T>, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    let (len, is_closed) = channel.with(|state| (state.len(), state.is_closed()));
    f.debug_struct(name).field("len", &len).field("is_closed", &is_closed).finish_non_exhaustive()
}
