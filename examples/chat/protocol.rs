//! What is said over the WebSocket: one JSON object a text message. The first message of a client is a `join`.
//!
//! ```text
//!   client: {"type":"join","room":"lobby","name":"Ada"}          server: welcome | error (try again)
//!           {"type":"say","text":"hello"}                                said, to all in the room, the sender too
//!                                                                        joined, left, missed, error
//! ```

use serde::{Deserialize, Serialize};

/// From a client.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Request {
    /// Comes into a room.
    Join { room: String, name: String },
    /// Says something there.
    Say { text: String },
}

/// To clients.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Reply<'a> {
    /// You are in: all clients in the room, and what was said before.
    Welcome { room: &'a str, name: &'a str, people: Vec<&'a str>, history: Vec<&'a Line> },
    /// A client says something.
    Said(&'a Line),
    /// A client joins.
    Joined { name: &'a str },
    /// A client leaves.
    Left { name: &'a str },
    /// You were too slow for so many messages: they are not sent to you. Some may have been joins and leaves; so, all clients in the room.
    Missed { count: u64, people: Vec<&'a str> },
    /// What you have sent makes no sense, or is not allowed.
    Error { text: &'a str },
}

/// What was said.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Milliseconds since 1970.
    pub(crate) at: u64,
}

impl Reply<'_> {
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers have a form in JSON")
    }
}

/// A name, of a room or a person: without space around it, visible, not too long.
pub(crate) fn name(what: &str, text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err(format!("{what} is empty")),
        25.. => Err(format!("{what} is longer than 24 characters")),
        _ if text.chars().any(char::is_control) => Err(format!("{what} has control characters in it")),
        _ => Ok(text.to_owned()),
    }
}
