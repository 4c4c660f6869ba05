//! How the threads of a runtime are: their names and stacks, and what is run in each when it begins and ends.
//!
//! A host starts threads without knowing for whom. So who is about to ask for one leaves word on the thread that asks:
//! the kernel reports [`Starting`](crate::kernel::sched::observer::Event::Starting) just before.

use crate::runtime::exec::owned::guarded;
use crate::runtime::exec::task::Tasks;
use crate::runtime::exec::worker;
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
    /// A thread of a simulated machine.
    is_simulated: bool,
    name: Option<String>,
    stack: Option<usize>,
}

thread_local! {
    static NEXT: Cell<Option<Arc<Wish>>> = const { Cell::new(None) };
}

/// The threads of one runtime.
pub(in crate::runtime) struct ThreadConfig {
    wish: Option<Arc<Wish>>,
    on_start: Option<Hook>,
    on_stop: Option<Hook>,
    /// Those that have a hook to run yet.
    present: Mutex<usize>,
    left: Condvar,
}

impl ThreadConfig {
    pub(in crate::runtime) fn new(plan: Plan, is_simulated: bool) -> ThreadConfig {
        let Plan { name, stack, on_start, on_stop } = plan;
        let is_any = name.is_some() || stack.is_some() || is_simulated;
        let wish = is_any.then(|| Arc::new(Wish { is_simulated, name, stack }));
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

    /// One of its threads, which the caller is, never runs its hook: it is left where it is.
    pub(in crate::runtime) fn forget_one(&self) {
        if self.on_start.is_some() || self.on_stop.is_some() {
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

    /// Is it one of a simulated machine?
    pub(in crate::runtime) fn is_simulated(&self) -> bool {
        self.wish.as_ref().is_some_and(|wish| wish.is_simulated)
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

/// This thread runs tasks, as long as this lives.
pub(in crate::runtime) struct Present(Option<Tasks>);

impl Present {
    pub(in crate::runtime) fn new(tasks: &Tasks) -> Present {
        let thread_config = &tasks.shared().thread_config;
        if thread_config.on_start.is_none() && thread_config.on_stop.is_none() {
            return Present(None);
        }
        thread_config.count(|present| *present += 1);
        let present = Present(Some(tasks.clone()));
        present.run(thread_config.on_start.as_ref());
        present
    }

    fn run(&self, hook: Option<&Hook>) {
        if let (Some(hook), Some(tasks)) = (hook, &self.0) {
            let _inside = worker::enter(tasks);
            guarded(|| hook());
        }
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        if let Some(tasks) = &self.0 {
            let thread_config = &tasks.shared().thread_config;
            self.run(thread_config.on_stop.as_ref());
            thread_config.count(|present| *present -= 1);
            thread_config.left.notify_all();
        }
    }
}
