//! Pointers as values: the graph holds names of them, since each play has its memory elsewhere.
//!
//! An address gets a name by the event that first brings it; a play that plays that event again gives the name to the
//! address that it is brought then. So what is named alike is one allocation, as long as none is freed and its address
//! given away again within the play: see [`quarantine`](crate::quarantine).

use super::Machine;
use crate::graph::{Event, Kind, Update};
use crate::heap;
use crate::step::Ask;
use std::collections::HashMap;

/// What the addresses of this play are called.
#[derive(Default)]
pub(super) struct Pointers {
    names: HashMap<usize, u64>,
    addresses: HashMap<u64, usize>,
}

impl Pointers {
    pub(super) fn clear(&mut self) {
        if !self.names.is_empty() {
            self.names.clear();
            self.addresses.clear();
        }
    }

    /// The address that is called so. Null is null.
    pub(super) fn address(&self, name: u64) -> u64 {
        self.addresses.get(&name).map_or(0, |address| *address as u64)
    }

    /// In the graph this address is called `name`. If one is null and the other not, they are not the same.
    fn bind(&mut self, name: u64, address: u64) -> u64 {
        if (name == 0) != (address == 0) {
            return !name;
        }
        if name != 0 {
            self.names.insert(address as usize, name);
            self.addresses.insert(name, address as usize);
        }
        name
    }

    /// What the address is called; if it has no name yet, a new one, by which event of which thread brings it.
    fn name(&mut self, address: u64, thread: u8, event: u16, operand: u64) -> u64 {
        if address == 0 {
            return 0;
        }
        if let Some(name) = self.names.get(&(address as usize)) {
            return *name;
        }
        let first = u64::from(thread) << 24 | u64::from(event) << 8 | operand << 1 | 1;
        let free = (0..).map(|n: u64| first | n << 32).find(|name| !self.addresses.contains_key(name));
        self.bind(free.unwrap_or(first), address)
    }
}

impl Machine {
    /// The same with names for addresses.
    pub(super) fn with_names(&mut self, thread: u8, ask: &Ask) -> Ask {
        let slot = &self.slots[usize::from(thread)];
        let told = slot.told;
        let was: Option<Event> = slot.events.get(usize::from(told)).map(|n| self.graph.events[usize::from(*n)]);
        let pointers = &mut self.pointers;
        let mut name = |was: Option<u64>, address: u64, operand: u64| match was {
            // What lies in an arena has an address that is the same in each play.
            _ if heap::is_address(heap::to_graph(address)) => heap::to_graph(address),
            Some(name) if heap::is_address(name) => !name,
            Some(name) => pointers.bind(name, address),
            None => pointers.name(address, thread, told, operand),
        };
        match *ask {
            Ask::Store { loc, value, order } => {
                let value = name(was.map(|was| was.value), value, 0);
                Ask::Store { loc, value, order }
            }
            Ask::Update { loc, init, order, update: Update::Swap(value) } => {
                let was = was.and_then(|was| match was.kind {
                    Kind::Updating(Update::Swap(value)) => Some(value),
                    _ => None,
                });
                Ask::Update { loc, init, order, update: Update::Swap(name(was, value, 0)) }
            }
            Ask::Update { loc, init, order, update: Update::Exchange { current, new, failure } } => {
                let was = was.and_then(|was| match was.kind {
                    Kind::Updating(Update::Exchange { current, new, .. }) => Some((current, new)),
                    _ => None,
                });
                let current = name(was.map(|was| was.0), current, 0);
                let new = name(was.map(|was| was.1), new, 1);
                Ask::Update { loc, init, order, update: Update::Exchange { current, new, failure } }
            }
            other => other,
        }
    }
}
