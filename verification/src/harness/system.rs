//! The sockets of a system, as its poller knows them: what can be done, what is reported of it, and how often.
//!
//! A socket is under a lock of its own. It reports each change, or, armed, once.

use crate::harness::readiness::Net;
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::is_variant;
use spinpark_kernel::host::Lock;
use spinpark_kernel::waits::readiness::{Direction, Interest, Source};
use std::sync::Arc;

/// Where the poller arms, the M is the thread that a model starts with.
const M: usize = 0;

/// A socket as the system has it.
pub struct System<H: ModelHost> {
    pub(super) state: H::Lock<SystemState>,
    pub(super) reports_changes: bool,
}

#[derive(Default)]
pub(super) struct SystemState {
    /// What can be done: something can be read, something written.
    pub(super) ready: Interest,
    /// What is reported once, where it has to be armed.
    pub(super) armed: Interest,
    /// How often it was armed.
    pub(super) arms: u64,
    /// It refuses to be armed, or to be known, once.
    refuses: bool,
    /// The system's poller knows it, as this.
    key: Option<usize>,
}

/// What the poller knows of a socket.
pub struct Known<H: ModelHost> {
    system: Arc<System<H>>,
    net: Arc<Net<H>>,
}

impl<H: ModelHost> Source for Known<H> {
    type Error = ();

    fn arm(&self, interest: Interest) -> Result<(), ()> {
        if is_variant("readiness-the-poller-arms-nothing") && H::me() == M {
            return Ok(());
        }
        assert!(!self.system.reports_changes, "a socket that reports all changes is armed");
        let due = self.system.state.with(|state| {
            if std::mem::take(&mut state.refuses) {
                return Err(());
            }
            state.armed = interest;
            state.arms += 1;
            Ok(state.take_report(false))
        })?;
        due.into_iter().for_each(|(key, what)| self.net.report(key, what));
        Ok(())
    }
}

impl<H: ModelHost> Drop for Known<H> {
    fn drop(&mut self) {
        // An execution that has failed is over: its locks have no owner any more.
        if !std::thread::panicking() {
            self.system.state.with(|state| state.key = None);
        }
    }
}

impl SystemState {
    /// What is to be reported of what is so.
    fn take_report(&mut self, reports_changes: bool) -> Option<(usize, Interest)> {
        let Interest { read, write } = self.ready;
        let what = match reports_changes {
            true => self.ready,
            false => Interest { read: read && self.armed.read, write: write && self.armed.write },
        };
        let key = self.key.filter(|_| what != Interest::default())?;
        self.armed = Interest::default();
        Some((key, what))
    }
}

impl<H: ModelHost> System<H> {
    /// One that no poller knows.
    pub fn new(reports_changes: bool) -> Arc<Self> {
        Arc::new(System { state: H::Lock::new(SystemState::default()), reports_changes })
    }

    /// The system's poller knows it from now on, by this key.
    pub(super) fn add(self: &Arc<Self>, net: &Arc<Net<H>>, key: usize) -> Result<Known<H>, ()> {
        self.state.with(|state| {
            if std::mem::take(&mut state.refuses) {
                return Err(());
            }
            state.key = Some(key);
            Ok(())
        })?;
        Ok(Known { system: Arc::clone(self), net: Arc::clone(net) })
    }

    /// What comes next the system refuses.
    pub fn refuse(&self) {
        self.state.with(|state| state.refuses = true);
    }

    /// Does its poller know it?
    pub fn is_known(&self) -> bool {
        self.state.with(|state| state.key.is_some())
    }

    /// The other end sends, or takes: something can be done in this direction.
    pub fn change(&self, net: &Net<H>, direction: Direction) {
        let due = self.state.with(|state| {
            match direction {
                Direction::Read => state.ready.read = true,
                Direction::Write => state.ready.write = true,
            }
            state.take_report(self.reports_changes)
        });
        due.into_iter().for_each(|(key, what)| net.report(key, what));
    }
}
