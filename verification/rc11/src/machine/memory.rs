//! The end of a location's life: its memory is given back, moved away, or lent to one thread alone.
//!
//! None of these is an event of the graph. A thread gives memory back between two of its events, so what it knows then is
//! what it knew at the first of them, and that depends on nothing but what is before it. Each access of the location must
//! be known to it, in whatever order the two are played: an access that the graph has already is looked for when the
//! memory is given back, and one that comes later finds that it was.

use super::{MACHINE, Machine, Mode, Over, STRANGERS, fail, over, with};
use crate::graph::{Clock, Event, Kind, Loc};
use crate::sync::DROPS_OUR_ARC;
use crate::verdict::Why;
use std::alloc::Layout;
use std::backtrace::Backtrace;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// The locations whose life has ended in this play.
#[derive(Default)]
pub(super) struct Memory {
    ends: HashMap<Loc, End>,
    /// By what calls each block was freed, if an execution is played again.
    frees: HashMap<usize, Backtrace>,
}

/// How a location's life has ended.
struct End {
    /// It was not dropped, but the memory was freed in which it lay: it is gone, unless it lies elsewhere now.
    under: Option<Range<usize>>,
    /// By what calls, if an execution is played again.
    calls: Option<Backtrace>,
}

impl Memory {
    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.frees.clear();
    }
}

/// Has the life of `loc` ended, which is accessed at `address`?
pub(crate) fn has_ended(loc: Loc, address: Option<usize>) -> bool {
    let is_there = |end: &End| match (&end.under, address) {
        (Some(block), Some(address)) => !block.contains(&address),
        _ => false,
    };
    with(|machine| !machine.is_over && machine.memory.ends.get(&loc).is_some_and(|end| !is_there(end)))
}

/// What the calling thread knows now.
pub(crate) fn known() -> Clock {
    with(|machine| machine.known(machine.current))
}

/// The life of `loc`, which `maker` made after `told` events, ends, or one thread has it for itself: its making and every
/// access of it must be known to the calling thread.
pub(crate) fn must_know_all_of(loc: Loc, (maker, told): (u8, u16), is_end: bool) {
    let result = with(|machine| {
        let me = machine.current;
        if machine.is_on && !machine.is_over && maker != me && machine.known(me).of(maker) <= told {
            machine.fails(Why::Uninitialised);
            return Err(Over);
        }
        let was_dropped = is_end && machine.memory.ends.get(&loc).is_some_and(|end| end.under.is_none());
        machine.knows_all_of(loc, is_end).map(|()| was_dropped)
    });
    match result {
        // By a copy of its bits.
        Ok(true) => is_gone(loc, true),
        Ok(false) => (),
        Err(Over) => _ = over(),
    }
}

/// The calling thread gives back what was used in these events, of which it must know.
pub(crate) fn must_know_events(uses: &[(u8, u16)]) {
    let result = with(|machine| {
        if !machine.is_on || machine.is_over || uses.is_empty() {
            return Ok(());
        }
        let (me, known) = (machine.current, machine.known(machine.current));
        let is_unknown = |&&(thread, idx): &&(u8, u16)| thread != me && !known.has(thread, idx);
        let Some(&(thread, idx)) = uses.iter().find(is_unknown) else { return Ok(()) };
        let events = &machine.slot(thread).events;
        // One of an execution before this, whose thread outlived it, is none.
        let access = events.get(usize::from(idx)).map(|&n| usize::from(n));
        access.map_or(Ok(()), |access| machine.does_not_know(access, true))
    });
    if matches!(result, Err(Over)) {
        over();
    }
}

/// The calling thread frees memory in which `loc` was when it was accessed last. If it was moved away since, it lives on;
/// but all that was done to it there must be known.
pub(crate) fn is_freed_under(loc: Loc, block: Range<usize>) {
    let result = with(|machine| {
        if machine.memory.ends.contains_key(&loc) {
            return Ok(());
        }
        let is_played = |machine: &Machine, n: usize| {
            let Event { thread, idx, .. } = machine.graph.events[n];
            machine.slot(thread).told > idx
        };
        machine.knows_all(loc, true, is_played)?;
        machine.notes_end(loc, Some(block));
        Ok(())
    });
    if matches!(result, Err(Over)) {
        over();
    }
}

/// Runs `f`, a destructor, as if the calling thread knew `known`: what every thread knew that gave its share back.
pub(crate) fn as_if_it_knew<R>(known: Clock, f: impl FnOnce() -> R) -> R {
    let before = knows(Some(known));
    let result = f();
    knows(before);
    result
}

/// What the calling thread is taken to know besides, from now on and until now.
fn knows(known: Option<Clock>) -> Option<Clock> {
    with(|machine| {
        let thread = usize::from(machine.current);
        machine.slots.get_mut(thread).and_then(|slot| std::mem::replace(&mut slot.knows, known))
    })
}

/// Runs `f`, a destructor of what std counts: it is not known to the model which threads gave their shares back before.
pub(crate) fn as_if_it_knew_all<R>(f: impl FnOnce() -> R) -> R {
    // A thread of the machine that ends drops what it has left when there is no machine any more.
    match MACHINE.try_with(|_| ()) {
        Ok(()) => as_if_it_knew(Clock::ALL, f),
        Err(_) => f(),
    }
}

/// The calling thread accesses `loc`, or ends its life, after its life has ended.
pub(crate) fn is_gone(loc: Loc, is_end: bool) {
    let line = with(|machine| machine.memory.ends.get(&loc).and_then(|end| end.calls.as_ref()).and_then(line));
    let at = line.map_or_else(String::new, |line| format!("; it was given back at {line}"));
    let here = with(|machine| machine.here()).map_or_else(String::new, |line| format!(" at {line}"));
    fail(&match is_end {
        true => format!("double free: an object of the model's is dropped{here}, and was dropped before{at}"),
        false => format!("use after free: an object of the model's is used{here} after it was dropped{at}"),
    });
}

/// The calling thread frees the block that begins there: by what calls, if an execution is played again.
pub(crate) fn note_free(block: usize) {
    with(|machine| {
        if machine.mode == Mode::Replay && machine.is_on {
            machine.memory.frees.insert(block, Backtrace::force_capture());
        }
    });
}

/// The calling thread frees a block that was freed before.
pub(crate) fn is_freed_again(block: usize) {
    let before = with(|machine| machine.memory.frees.get(&block).and_then(line));
    let before = before.map_or_else(String::new, |line| format!(" at {line}"));
    let here = with(|machine| machine.here()).map_or_else(String::new, |line| format!(" at {line}"));
    fail(&format!("double free: a block of memory is freed{here}, and was freed before{before}"));
}

/// The calling thread frees a block with another layout than it was given out with.
pub(crate) fn is_freed_as_another(given: Layout, freed: Layout) {
    if with(|machine| STRANGERS.load(Relaxed) != machine.strangers) {
        return;
    }
    let here = with(|machine| machine.here()).map_or_else(String::new, |line| format!(" at {line}"));
    let [given, freed] = [given, freed].map(|layout| format!("{} bytes, aligned to {}", layout.size(), layout.align()));
    fail(&format!("wrong layout: a block of {given}, is freed{here} as one of {freed}"));
}

impl Machine {
    /// What `thread` knows at the last of its events that it has had the answer to.
    pub(super) fn known(&self, thread: u8) -> Clock {
        let slot = self.slot(thread);
        if let Some(known) = slot.knows {
            return known;
        }
        let last = match slot.told.checked_sub(1) {
            Some(last) => slot.events.get(usize::from(last)).map(|&n| usize::from(n)),
            None => self.graph.events.iter().rposition(|e| e.kind == Kind::Fork(thread)),
        };
        last.map_or_else(Clock::default, |n| self.graph.clocks[n].hb)
    }

    fn knows_all_of(&mut self, loc: Loc, is_end: bool) -> Result<(), Over> {
        if is_end {
            self.knows_all(loc, is_end, |_, _| true)?;
            self.notes_end(loc, None);
            return Ok(());
        }
        // Where a thread lends what it has later shared, a graph that is played again may have accesses already that come after.
        let (me, told) = (self.current, self.slot(self.current).told);
        self.knows_all(loc, is_end, |machine, n| !machine.graph.clocks[n].hb.has(me, told))
    }

    fn notes_end(&mut self, loc: Loc, under: Option<Range<usize>>) {
        let calls = (self.mode == Mode::Replay).then(Backtrace::force_capture);
        self.memory.ends.insert(loc, End { under, calls });
    }

    /// Does the current thread know of all accesses of `loc` that count?
    fn knows_all(&mut self, loc: Loc, is_end: bool, counts: impl Fn(&Machine, usize) -> bool) -> Result<(), Over> {
        if !self.is_on || self.is_over {
            return Ok(());
        }
        let known = self.known(self.current);
        // Its own later ones find that it has ended.
        let is_unknown =
            |&(n, e): &(usize, &Event)| e.thread != self.current && !known.has(e.thread, e.idx) && counts(self, n);
        let unknown = self.graph.of(loc).find(is_unknown).map(|(n, _)| n);
        match unknown {
            Some(access) => self.does_not_know(access, is_end),
            None => Ok(()),
        }
    }

    /// The current thread ends a life, and does not know of that access. std's `Arc` may have told it.
    fn does_not_know(&mut self, access: usize, is_end: bool) -> Result<(), Over> {
        if is_end && is_dropped_by_stds_arc() {
            self.std_counts = true;
            return Ok(());
        }
        let (thread, at) = (self.current, self.here());
        self.fails(Why::Freed { access, thread, is_end, at });
        Err(Over)
    }

    /// The line of the model's that the calling thread is at, if an execution is played again.
    fn here(&self) -> Option<String> {
        if self.mode == Mode::Replay { line(&Backtrace::force_capture()) } else { None }
    }
}

/// Is the innermost `Arc` that drops its value now one of std's? The threads that gave their references back before are ordered
/// before its last owner, which the model does not see. This crate's own drops its value by one of std's too.
fn is_dropped_by_stds_arc() -> bool {
    let trace = Backtrace::force_capture().to_string();
    let lines: Vec<&str> = trace.lines().map(str::trim).collect();
    // What a frame is called, and where that is, if it is known.
    let frames = lines.iter().enumerate().filter_map(|(n, line)| {
        let (_, name) = line.split_once(": ").filter(|(number, _)| number.parse::<u32>().is_ok())?;
        Some((name, lines.get(n + 1).and_then(|next| next.strip_prefix("at ")).unwrap_or_default()))
    });
    let drops_arc = |(name, at): (&str, &str)| match name.strip_prefix("drop_slow<") {
        Some(_) => at.contains("/alloc/src/sync.rs"),
        None => name.trim_start_matches('<').starts_with("alloc::sync::Arc<") && name.contains("::drop_slow"),
    };
    let mut owners = frames
        .filter(|&frame| drops_arc(frame) || frame.0.contains(DROPS_OUR_ARC))
        .skip_while(|&frame| !drops_arc(frame));
    owners.next().is_some() && owners.next().is_none_or(drops_arc)
}

/// The innermost line of a backtrace that is neither this crate's nor the standard library's.
fn line(trace: &Backtrace) -> Option<String> {
    let text = trace.to_string();
    let places = text.lines().filter_map(|line| line.trim().strip_prefix("at "));
    let directory = std::env::current_dir().unwrap_or_default();
    let is_foreign = |place: &&str| {
        let path = directory.join(place.trim_start_matches("./"));
        let is_ours = path.starts_with(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
        !is_ours && !place.contains("/rustc/") && !place.contains("/library/")
    };
    // Without the column.
    places.filter(is_foreign).find_map(|place| Some(place.rsplit_once(':')?.0.trim_start_matches("./").to_owned()))
}
