//! What a select's waiter has, on real cores.

use crate::runtime::host::cores::Cores;
use crate::waits::claim;

/// What a select's waiter has: which select, and which of its cases.
pub type Ticket = claim::Ticket<Cores>;

static_assertions::assert_impl_all!(Ticket: Send, Sync);
