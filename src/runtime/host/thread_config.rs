//! How the threads of a runtime are: their names and stacks, and what is run in each when it begins and ends.
//!
//! A host starts threads without knowing for whom. So the runtime that is about to ask for one sets a thread local, `NEXT`:
//! the kernel reports [`Starting`](crate::kernel::sched::observer::Event::Starting) just before.

use core::cell::Cell;
use core::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
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
}

thread_local! {
    static NEXT: Cell<Option<Arc<Wish>>> = const { Cell::new(None) };
}

/// The threads of one runtime.
pub(in crate::runtime) struct ThreadConfig {
    wish: Option<Arc<Wish>>,
    pub(in crate::runtime) on_start: Option<Hook>,
    pub(in crate::runtime) on_stop: Option<Hook>,
    /// Those that have a hook to run yet.
    present: Mutex<usize>,
    left: Condvar,
}

impl ThreadConfig {
    pub(in crate::runtime) fn new(plan: Plan) -> ThreadConfig {
        let Plan { name, stack, on_start, on_stop } = plan;
        let is_any = name.is_some() || stack.is_some();
        let wish = is_any.then(|| Arc::new(Wish { name, stack }));
        ThreadConfig { wish, on_start, on_stop, present: Mutex::new(0), left: Condvar::new() }
    }

    /// The next thread that this one starts is for us.
    pub(in crate::runtime) fn announce(&self) {
        if let Some(wish) = &self.wish {
            let _ = NEXT.try_with(|next| next.set(Some(Arc::clone(wish))));
        }
    }

    /// Waits until every hook has run. Only when no thread begins any more.
    pub(in crate::runtime) fn wait(&self) {
        let present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.left.wait_while(present, |present| *present > 0).unwrap_or_else(PoisonError::into_inner));
    }

    /// Is there a hook to run in each thread?
    pub(in crate::runtime) fn has_hooks(&self) -> bool {
        self.on_start.is_some() || self.on_stop.is_some()
    }

    /// One of its threads, which the caller is, has begun, and has a hook to run.
    pub(in crate::runtime) fn count_one(&self) {
        self.count(|present| *present += 1);
    }

    /// One of its threads, which the caller is, has run its last hook; or never will: it is left where it is.
    pub(in crate::runtime) fn forget_one(&self) {
        if self.has_hooks() {
            self.count(|present| *present -= 1);
            self.left.notify_all();
        }
    }

    fn count(&self, change: impl FnOnce(&mut usize)) {
        change(&mut self.present.lock().unwrap_or_else(PoisonError::into_inner));
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
        let wish = NEXT.try_with(Cell::take).ok().flatten();
        let prefix = wish.as_ref().and_then(|wish| wish.name.as_deref());
        let name = match (prefix, name.strip_prefix(Plan::NAME)) {
            (Some(prefix), Some(rest)) => format!("{prefix}{rest}"),
            _ => name.to_owned(),
        };
        Wanted { name, wish }
    }

    /// How large its stack is to be, if somebody says.
    pub(in crate::runtime) fn stack(&self) -> Option<usize> {
        self.wish.as_ref().and_then(|wish| wish.stack)
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
