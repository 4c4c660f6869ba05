//! What the facade remembers of the execution that is being played: what must be given back by its end, and what
//! belongs to a thread.

use crate::model::Settings;
use crate::timeout::TimedOut;
use crate::{heap, quarantine};
use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::sync::Arc;

/// A place in the source.
pub(crate) type At = &'static Location<'static>;

/// A value of a `OnceLock`, of any type: where it is, and what drops it. One that is forgotten is not dropped.
pub(crate) struct OnceValue {
    pub(crate) at: *mut (),
    pub(crate) drop: unsafe fn(*mut ()),
}

/// Of one execution.
#[derive(Default)]
pub(crate) struct State {
    /// `Arc`s that were made and not given back, by the address of their value.
    pub(crate) arcs: HashMap<usize, Arc<dyn Any + Send + Sync>>,
    /// `Weak`s that are raw pointers now, by these.
    pub(crate) weaks: HashMap<usize, Vec<Arc<dyn Any + Send + Sync>>>,
    pub(crate) arcs_made: BTreeMap<usize, At>,
    /// Blocks of memory, by address.
    pub(crate) blocks: BTreeMap<usize, At>,
    /// Blocks that were given back.
    pub(crate) freed: BTreeMap<usize, At>,
    /// What is tracked, by number.
    pub(crate) tracked: BTreeMap<u64, At>,
    pub(crate) next: u64,
    /// `thread_local!`s, by thread and key. None: it is gone.
    pub(crate) locals: HashMap<(u8, usize), Option<Arc<dyn Any>>>,
    /// The values of `OnceLock`s, by the numbers of their places.
    pub(crate) values: BTreeMap<u32, OnceValue>,
    /// The threads, by number.
    pub(crate) threads: HashMap<u8, crate::thread::About>,
    /// Waits that have timed out, by thread and line.
    pub(crate) timeouts: HashMap<(u8, usize), TimedOut>,
    pub(crate) settings: Arc<Settings>,
    /// Has the model made or used anything that is remembered here?
    is_used: bool,
}

std::thread_local! {
    static STATE: RefCell<State> = RefCell::new(State::default());
}

/// What is remembered.
pub(crate) fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    quarantine::checker(|| {
        STATE.with_borrow_mut(|state| {
            state.is_used = true;
            f(state)
        })
    })
}

/// Has the model made or used anything that is remembered here?
pub(crate) fn is_used() -> bool {
    STATE.with_borrow(|state| state.is_used)
}

/// An execution begins. What threads of the one before have left is forgotten, not dropped: what it would ask then
/// belongs to no execution.
pub(crate) fn begin(settings: &Arc<Settings>) {
    let left = with(|state| {
        state.arcs.clear();
        state.arcs_made.clear();
        state.weaks.clear();
        state.blocks.clear();
        state.freed.clear();
        state.tracked.clear();
        state.next = 0;
        state.threads.clear();
        state.timeouts.clear();
        state.settings = Arc::clone(settings);
        state.values.clear();
        state.locals.drain().filter_map(|(_, value)| value).collect::<Vec<_>>()
    });
    left.into_iter().for_each(std::mem::forget);
    STATE.with_borrow_mut(|state| state.is_used = false);
    heap::set_classes(&settings.classes);
}

/// All threads have come to their end: is anything left that should have been given back?
pub(crate) fn at_end() -> Result<Option<String>, String> {
    if let Some((count, size)) = quarantine::left() {
        return Err(format!("Allocation leaked: {count} blocks are not freed, one of {size} bytes"));
    }
    with(|state| {
        let State { arcs_made, blocks, tracked, .. } = state;
        let left = [("Arc leaked", arcs_made.values().next()), ("Allocation leaked", blocks.values().next())];
        let left = left.into_iter().chain([("Tracked value leaked", tracked.values().next())]);
        let mut found = left.filter_map(|(what, at)| Some(format!("{what}: made at {}", at?)));
        found.next().map_or(Ok(None), Err)
    })
}
