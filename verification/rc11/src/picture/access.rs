//! An access in words: by which thread, of what, how strongly and where.

use crate::explore::Played;
use crate::graph::{Event, Kind, Order};
use crate::picture::label::{Names, Places};
use crate::picture::named;

pub(super) fn told(event: &Event, played: &Played, names: &Names, places: &Places) -> String {
    let written = if event.is_write() { Some(event.value) } else { event.will_write() };
    let does = if written.is_some() { "writes" } else { "reads" };
    let kind = played.seen.types.get(&event.loc).copied();
    let is_address = kind.is_some_and(|kind| kind.starts_with('*'));
    let value = match event.order {
        Order::Plain => played.seen.values.get(&(event.thread, event.idx)).cloned(),
        _ => Some(written.unwrap_or(event.value).to_string()).filter(|_| !is_address),
    };
    let of = match (kind, value) {
        (Some(kind), Some(value)) => format!(" ({kind} = {value})"),
        (Some(kind), None) => format!(" ({kind})"),
        (None, Some(value)) => format!(" (= {value})"),
        (None, None) => String::new(),
    };
    let how = match event.strength() {
        Order::Plain => "not atomic".to_owned(),
        order => format!("`{order:?}`"),
    };
    // An update is asked for with its reading half.
    let asked = event.idx - u16::from(event.kind == Kind::Updated);
    let at = places.get(event.thread, asked).at;
    let (thread, name) = (named(&played.names, event.thread), names.get(event.loc));
    format!("{thread} {does} {name}{of}, {how}, at {at}")
}
