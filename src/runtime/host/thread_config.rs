//! How the threads of a runtime are: their names and stacks, what is run in each when it begins and ends, and where it is listed.
//!
//! A host starts threads without knowing their runtime. So the runtime that is about to ask for one sets a thread local, `NEXT`:
//! the kernel reports [`Starting`](crate::kernel::sched::observer::Event::Starting) just before.

use crate::runtime::host::thread_state::thread_state;
use crate::runtime::host::threads::{Expected, Threads};
use core::cell::Cell;
use core::fmt;
use std::sync::Arc;
use std::thread;

/// Something to run in a thread.
pub(in crate::runtime) type Hook = Arc<dyn Fn() + Send + Sync>;

/// What is known of the threads to be.
#[derive(Clone, Default)]
pub(in crate::runtime) struct Plan {
    /// What their names begin with.
    pub(in crate::runtime) name: Option<String>,
    /// The size of their stacks, in bytes.
    pub(in crate::runtime) stack: Option<usize>,
    pub(in crate::runtime) on_start: Option<Hook>,
    pub(in crate::runtime) on_stop: Option<Hook>,
}

impl Plan {
    /// What the kernel's names begin with.
    pub(in crate::runtime) const NAME: &str = "spinpark";
    /// The smallest stack: a panic is reported on it.
    pub(in crate::runtime) const SMALLEST_STACK: usize = 64 << 10;
    /// The largest stack.
    pub(in crate::runtime) const LARGEST_STACK: usize = 1 << 30;
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("name", &self.name).field("stack", &self.stack).finish_non_exhaustive()
    }
}

/// What a thread has to be that is started next.
#[derive(Default)]
struct Wish {
    name: Option<String>,
    stack: Option<usize>,
    threads: Arc<Threads>,
}

thread_state!(
    static NEXT: Cell<Option<Arc<Wish>>> = Cell::new(None);
);

/// The threads of one runtime.
pub(in crate::runtime) struct ThreadConfig {
    wish: Arc<Wish>,
    pub(in crate::runtime) on_start: Option<Hook>,
    pub(in crate::runtime) on_stop: Option<Hook>,
}

impl ThreadConfig {
    pub(in crate::runtime) fn new(plan: Plan) -> ThreadConfig {
        let Plan { name, stack, on_start, on_stop } = plan;
        let wish = Arc::new(Wish { name, stack, threads: Arc::default() });
        ThreadConfig { wish, on_start, on_stop }
    }

    /// The next thread that this one starts is for us.
    pub(in crate::runtime) fn announce(&self) {
        NEXT::with(|next| next.set(Some(Arc::clone(&self.wish))));
    }

    /// All that were started, and have not ended. None on a machine that is simulated.
    pub(in crate::runtime) fn threads(&self) -> &Threads {
        &self.wish.threads
    }

    /// Is there a hook to run in each thread?
    pub(in crate::runtime) fn has_hooks(&self) -> bool {
        self.on_start.is_some() || self.on_stop.is_some()
    }
}

/// A thread to be.
pub(in crate::runtime) struct Wanted {
    name: String,
    wish: Option<Arc<Wish>>,
}

impl Wanted {
    /// The one that the kernel calls `name`, and that was announced.
    pub(in crate::runtime) fn take(name: &str) -> Wanted {
        let wish = NEXT::with(Cell::take).flatten();
        let prefix = wish.as_ref().and_then(|wish| wish.name.as_deref());
        let name = match (prefix, name.strip_prefix(Plan::NAME)) {
            (Some(prefix), Some(rest)) => format!("{prefix}{rest}"),
            _ => name.to_owned(),
        };
        Wanted { name, wish }
    }

    /// The size of its stack, if it is set.
    pub(in crate::runtime) fn stack(&self) -> Option<usize> {
        self.wish.as_ref().and_then(|wish| wish.stack)
    }

    /// Its place among those of its runtime. `None`: it was announced by none.
    pub(in crate::runtime) fn expect(&self) -> Option<Expected> {
        self.wish.as_ref().map(|wish| wish.threads.expect())
    }

    /// A thread of the system that is so.
    pub(in crate::runtime) fn builder(self) -> thread::Builder {
        let stack = self.stack();
        let thread = thread::Builder::new().name(self.name);
        match stack {
            Some(stack) => thread.stack_size(stack),
            None => thread,
        }
    }
}
