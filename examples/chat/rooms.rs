//! Rooms: their clients, what was said last, and a channel for what is said next.
//!
//! | invariant | race |
//! |-----------|------|
//! | a client that joins gets each line once: from the history, or from the channel | a join between the two steps of a line, kept and sent: both are under the room's lock, and so are the two of a join, history and subscription |
//! | each room has one person of a name | two that join at once: the name is asked for and entered under the lock |
//! | a room that was dropped is empty | a join beside the sweep of empty rooms: both are under the lock of all rooms |

use crate::protocol::{Line, Reply};
use spinpark::sync::broadcast::{Receiver, Sender};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// So many there can be. Empty ones go if there would be more.
const MAX_ROOMS: usize = 100;

/// All rooms.
pub(crate) struct Rooms {
    rooms: Mutex<HashMap<String, Arc<Room>>>,
    history: usize,
    backlog: usize,
}

struct Room {
    name: String,
    inside: Mutex<Inside>,
    /// What is sent to all, as it is sent.
    sender: Sender<Arc<str>>,
    history: usize,
}

#[derive(Default)]
struct Inside {
    people: BTreeSet<String>,
    lines: VecDeque<Line>,
}

/// A client in a room. Dropped, it has left.
pub(crate) struct Member {
    room: Arc<Room>,
    name: String,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rooms {
    pub(crate) fn new(history: usize, backlog: usize) -> Rooms {
        Rooms { rooms: Mutex::default(), history, backlog }
    }

    /// Comes into a room, which is made if need be: what to welcome him with, and what is said from now on.
    pub(crate) fn join(
        &self,
        room: String,
        name: String,
    ) -> Result<(Member, String, Receiver<Arc<str>>), &'static str> {
        let mut rooms = lock(&self.rooms);
        if rooms.len() >= MAX_ROOMS && !rooms.contains_key(&room) {
            rooms.retain(|_, room| !lock(&room.inside).people.is_empty());
            if rooms.len() >= MAX_ROOMS {
                return Err("there are too many rooms");
            }
        }
        let room = rooms.entry(room).or_insert_with_key(|name| {
            let (name, sender) = (name.clone(), Sender::new(self.backlog));
            Arc::new(Room { name, inside: Mutex::default(), sender, history: self.history })
        });
        Room::join(room, name)
    }
}

impl Inside {
    fn names(&self) -> Vec<&str> {
        self.people.iter().map(String::as_str).collect()
    }
}

impl Room {
    fn join(self: &Arc<Room>, name: String) -> Result<(Member, String, Receiver<Arc<str>>), &'static str> {
        let mut inside = lock(&self.inside);
        if !inside.people.insert(name.clone()) {
            return Err("this name is taken");
        }
        self.send(&Reply::Joined { name: &name });
        let people = inside.names();
        let history = inside.lines.iter().collect();
        let welcome = Reply::Welcome { room: &self.name, name: &name, people, history }.json();
        Ok((Member { room: Arc::clone(self), name }, welcome, self.sender.subscribe()))
    }

    fn send(&self, reply: &Reply<'_>) {
        // An error: the room is empty.
        let _ = self.sender.send(reply.json().into());
    }
}

impl Member {
    /// What he is sent instead of so many messages.
    pub(crate) fn missed(&self, count: u64) -> String {
        Reply::Missed { count, people: lock(&self.room.inside).names() }.json()
    }

    /// Says something to all, himself included.
    pub(crate) fn say(&self, text: String) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = Line { name: self.name.clone(), text, at: since.as_millis() as u64 };
        let mut inside = lock(&self.room.inside);
        self.room.send(&Reply::Said(&line));
        inside.lines.push_back(line);
        if inside.lines.len() > self.room.history {
            inside.lines.pop_front();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut inside = lock(&self.room.inside);
        inside.people.remove(&self.name);
        self.room.send(&Reply::Left { name: &self.name });
    }
}
