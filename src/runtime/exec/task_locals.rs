//! The task-local values that are set where this thread is now. They belong to the task, not to the thread: a goroutine
//! that leaves its thread takes them along.
//!
//! ```text
//!   INNERMOST ──► scope of B ──► scope of A ──► nothing        each is set for one poll, or for one call
//! ```

use crate::runtime::host::thread_state::thread_state;
use core::any::Any;
use core::cell::Cell;
use std::rc::Rc;

thread_state!(
    static INNERMOST: Cell<Scopes> = Cell::new(None);
);

/// A scope, and those around it.
pub(in crate::runtime) type Scopes = Option<Rc<Node<dyn Any>>>;

/// One scope: of which key, and with what value.
pub(in crate::runtime) struct Node<T: ?Sized> {
    /// The address of its key.
    key: usize,
    around: Cell<Scopes>,
    value: T,
}

impl<T: 'static> Node<T> {
    pub(in crate::runtime) fn new(key: usize, value: T) -> Rc<Node<T>> {
        Rc::new(Node { key, around: Cell::new(None), value })
    }

    pub(in crate::runtime) fn value(&self) -> &T {
        &self.value
    }

    pub(in crate::runtime) fn into_value(self) -> T {
        self.value
    }
}

/// The scopes here are these from now on; those that were.
#[inline(never)]
pub(in crate::runtime) fn exchange(scopes: Scopes) -> Scopes {
    let mut scopes = Some(scopes);
    let before = INNERMOST::in_place(|innermost| innermost.replace(scopes.take().flatten()));
    // The thread ends, and there are none.
    before.unwrap_or_else(|| scopes.flatten())
}

/// The innermost scope of this key.
pub(in crate::runtime) fn find(key: usize) -> Scopes {
    let innermost = exchange(None);
    let mut next = innermost.clone();
    while let Some(node) = next.take_if(|node| node.key != key) {
        let around = node.around.take();
        next.clone_from(&around);
        node.around.set(around);
    }
    exchange(innermost);
    next
}

/// The value of a scope that was found.
pub(in crate::runtime) fn value_of<T: 'static>(node: &Node<dyn Any>) -> Option<&T> {
    node.value.downcast_ref()
}

/// This scope is the innermost as long as this lives.
pub(in crate::runtime) struct Entered(());

impl Entered {
    /// It is in no scope yet, and is left before the one that is innermost now.
    pub(in crate::runtime) fn new(scope: Rc<Node<dyn Any>>) -> Entered {
        scope.around.set(exchange(None));
        exchange(Some(scope));
        Entered(())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let around = exchange(None).and_then(|scope| scope.around.take());
        exchange(around);
    }
}
