//! The rest of the scheduler, as a call of one protocol sees it: what it answers is part of the call's answer.

use std::cell::RefCell;

/// What is beside the protocol, and what it answered in one call, in order.
pub struct Others<'a, O, W> {
    /// All that is beside it.
    pub on: &'a O,
    was: RefCell<Vec<W>>,
}

impl<'a, O, W> Others<'a, O, W> {
    /// Of a call that begins.
    pub fn new(on: &'a O) -> Self {
        Others { on, was: RefCell::default() }
    }

    /// This was answered.
    pub fn says(&self, was: W) {
        self.was.borrow_mut().push(was);
    }

    /// All that was answered.
    pub fn into_was(self) -> Vec<W> {
        self.was.into_inner()
    }
}
