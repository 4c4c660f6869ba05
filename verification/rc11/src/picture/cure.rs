//! Which orderings, stronger on which lines, would forbid an execution: each candidate is tried on the execution itself, by
//! computing anew what happens before what.

use crate::axiom::is_sc_consistent;
use crate::graph::{Event, Graph, INIT, Kind, Order, Update};
use crate::machine::Site;
use crate::picture::label::Places;
use std::collections::BTreeMap;
use std::panic::Location;

/// Larger executions are not tried: it would take too long.
const MOST: usize = 400;

/// A line of the source, and what each of its events is to become at least.
type Wish = (&'static Location<'static>, Order);

/// Is the execution right with stronger orderings, or can it not be?
pub(super) type IsClosed<'a> = &'a dyn Fn(&Graph) -> bool;

/// The weakest orderings that are found to close it, in a sentence.
pub(super) fn cure(graph: &Graph, sites: &[Site], places: &Places, is_closed: IsClosed<'_>) -> Option<String> {
    let lines = lines(graph, sites);
    if graph.events.len() > MOST || lines.is_empty() {
        return None;
    }
    let closes = |wishes: &[Wish]| is_closed(&strengthened(graph, &lines, wishes));
    let wishes = single(&lines, graph, &closes).or_else(|| pair(&lines, graph, &closes));
    let wishes = wishes.or_else(|| all(&lines, graph, &closes))?;
    let told: Vec<String> = wishes.iter().flat_map(|wish| told(graph, &lines, places, wish)).collect();
    match told.as_slice() {
        [] => None,
        [one] => Some(format!("it would be forbidden by {one}")),
        several => Some(format!("it would be forbidden by these together: {}", several.join("; "))),
    }
}

/// The atomic accesses and fences of each line.
type Lines = BTreeMap<&'static Location<'static>, Vec<usize>>;

fn lines(graph: &Graph, sites: &[Site]) -> Lines {
    let mut lines = Lines::new();
    for (n, event) in graph.events.iter().enumerate() {
        let is_of_lock = matches!(event.kind, Kind::Updating(update) if update.is_await());
        let has_order = event.kind == Kind::Fence
            || matches!(event.kind, Kind::Load | Kind::Store | Kind::Updating(_)) && event.order != Order::Plain;
        let site = sites.iter().find(|(thread, idx, _)| (*thread, *idx) == (event.thread, event.idx));
        if let (true, false, Some((_, _, at))) = (has_order, is_of_lock, site) {
            lines.entry(*at).or_default().push(n);
        }
    }
    lines
}

/// One line with one ordering.
fn single(lines: &Lines, graph: &Graph, closes: &dyn Fn(&[Wish]) -> bool) -> Option<Vec<Wish>> {
    let orders = [Order::Release, Order::Acquire, Order::AcqRel, Order::SeqCst];
    let wishes = orders.iter().flat_map(|order| lines.keys().map(|at| vec![(*at, *order)]));
    wishes.into_iter().find(|wish| changes(graph, lines, &wish[0]) && closes(wish))
}

/// A line that releases, and one that acquires what it has released.
fn pair(lines: &Lines, graph: &Graph, closes: &dyn Fn(&[Wish]) -> bool) -> Option<Vec<Wish>> {
    let orders = [Order::Release, Order::Acquire];
    let wishes = lines.keys().flat_map(|a| lines.keys().map(move |b| vec![(*a, orders[0]), (*b, orders[1])]));
    let is_new = |wishes: &Vec<Wish>| wishes.iter().all(|wish| changes(graph, lines, wish));
    wishes.filter(is_new).take(2_000).find(|wishes| closes(wishes))
}

/// All lines, and then none that is not needed, and none stronger than needed.
fn all(lines: &Lines, graph: &Graph, closes: &dyn Fn(&[Wish]) -> bool) -> Option<Vec<Wish>> {
    let mut wishes: Vec<Wish> = lines.keys().map(|at| (*at, Order::SeqCst)).collect();
    wishes.retain(|wish| changes(graph, lines, wish));
    if wishes.is_empty() || !closes(&wishes) {
        return None;
    }
    for n in (0..wishes.len()).rev() {
        let wish = wishes.remove(n);
        if !closes(&wishes) {
            wishes.insert(n, wish);
        }
    }
    for n in 0..wishes.len() {
        for order in [Order::Release, Order::Acquire, Order::AcqRel] {
            let strong = std::mem::replace(&mut wishes[n].1, order);
            if changes(graph, lines, &wishes[n]) && closes(&wishes) {
                break;
            }
            wishes[n].1 = strong;
        }
    }
    Some(wishes)
}

/// Does the line become stronger by it?
fn changes(graph: &Graph, lines: &Lines, (at, wish): &Wish) -> bool {
    lines[at].iter().any(|&n| stronger(&graph.events[n], *wish) != graph.events[n])
}

/// What is to be written in the line, in place of what stands there.
fn told(graph: &Graph, lines: &Lines, places: &Places, (at, wish): &Wish) -> Option<String> {
    let changed = lines[at].iter().map(|&n| (graph.events[n], stronger(&graph.events[n], *wish)));
    let (is, should) = changed.into_iter().find(|(is, should)| is != should)?;
    let place = places.get(is.thread, is.idx).at;
    let of = if is.strength() == is.order { "" } else { " for its failure" };
    Some(format!("`{:?}` in place of `{:?}`{of} at {place}", should.strength(), is.strength()))
}

/// The event, at least so strong as far as an event of its kind can be.
fn stronger(event: &Event, wish: Order) -> Event {
    let is_read_only = event.kind == Kind::Load || event.is_read() && event.strength() != event.order;
    let join = |order: Order| match (order, wish) {
        (Order::SeqCst, _) | (_, Order::SeqCst) => Order::SeqCst,
        (order, Order::AcqRel) if is_read_only || event.kind == Kind::Store => order,
        (Order::AcqRel, _) | (_, Order::AcqRel) => Order::AcqRel,
        (order, Order::Release) if is_read_only => order,
        (order, Order::Acquire) if event.kind == Kind::Store => order,
        (Order::Acquire, Order::Release) | (Order::Release, Order::Acquire) => Order::AcqRel,
        (Order::Relaxed, wish) => wish,
        (order, _) => order,
    };
    let mut event = *event;
    match &mut event.kind {
        Kind::Updating(Update::Exchange { current, failure, .. }) if *current != event.value => {
            *failure = join(*failure)
        }
        _ => event.order = join(event.order),
    }
    event
}

/// The same execution with stronger orderings.
fn strengthened(graph: &Graph, lines: &Lines, wishes: &[Wish]) -> Graph {
    let mut result = graph.clone();
    for (at, wish) in wishes {
        for &n in &lines[at] {
            result.events[n] = stronger(&graph.events[n], *wish);
        }
    }
    for n in 1..result.events.len() {
        if result.events[n].kind == Kind::Updated
            && let Some(half) = result.previous(n)
        {
            result.events[n].order = result.events[half].order;
        }
    }
    with_clocks(&mut result);
    result
}

/// Computes the clocks anew, of each event when those are there that it depends on.
fn with_clocks(graph: &mut Graph) {
    let mut new = Graph::new(graph.spurious);
    new.threads.clone_from(&graph.threads);
    for (n, thread) in new.threads.iter_mut().enumerate() {
        (thread.len, thread.last, thread.is_there) = (0, INIT, n == 0);
    }
    let mut now = vec![INIT; graph.events.len()];
    loop {
        let before = new.events.len();
        for n in 0..graph.events.len() {
            if now[n] == INIT && is_next(graph, &new, &now, n) {
                now[n] = new.events.len() as u16;
                push(&mut new, &graph.events[n], &now);
            }
        }
        if new.events.len() == before {
            break;
        }
    }
    for (n, now) in now.iter().enumerate().filter(|(_, now)| **now != INIT) {
        graph.clocks[n] = new.clocks[usize::from(*now)];
    }
}

fn is_next(graph: &Graph, new: &Graph, now: &[u16], n: usize) -> bool {
    let event = &graph.events[n];
    let thread = &new.threads[usize::from(event.thread)];
    let is_ended = |child: u8| new.threads[usize::from(child)].len == graph.threads[usize::from(child)].len;
    thread.is_there
        && thread.len == event.idx
        && (event.rf == INIT || now[usize::from(event.rf)] != INIT)
        && !matches!(event.kind, Kind::Join(child) if !is_ended(child))
}

fn push(new: &mut Graph, event: &Event, now: &[u16]) {
    let Event { thread, loc, order, kind, value, mo, rf, .. } = *event;
    let from = if rf == INIT { INIT } else { now[usize::from(rf)] };
    if let Kind::Fork(child) = kind {
        let child = &mut new.threads[usize::from(child)];
        (child.is_there, child.last) = (true, new.events.len() as u16);
    }
    let mut next = match kind {
        Kind::Load | Kind::Updating(_) => new.next_read(thread, loc, value, order, kind, from),
        Kind::Updated => new.next_updated(thread),
        Kind::Store | Kind::Open => new.next_write(thread, loc, order, kind, value),
        Kind::Fence => new.next_fence(thread, order),
        Kind::Light => new.next_light(thread),
        Kind::HeavyCall => new.next_heavy_call(thread),
        Kind::HeavyReturn => new.next_heavy_return(thread),
        Kind::Join(child) => new.next_join(thread, child),
        _ => new.next(thread, loc, order, kind, value),
    };
    next.event.mo = mo;
    new.push(next);
}

/// Does RC11 allow it? Atomicity and the absence of thin air do not depend on orderings.
pub(super) fn is_consistent(graph: &Graph) -> bool {
    let place = |event: &Event| match event.is_write() {
        true => (2 * u32::from(event.mo), true),
        false => (2 * u32::from(graph.rank(event.rf)) + 1, false),
    };
    let accesses = |event: &Event| event.is_read() || event.is_write();
    let is_coherent = |a: usize, b: usize| {
        let (first, second) = (&graph.events[a], &graph.events[b]);
        if first.loc != second.loc || !accesses(first) || !accesses(second) || !graph.happens_before(a, b) {
            return true;
        }
        let ((first, _), (second, is_write)) = (place(first), place(second));
        if is_write { first < second } else { first <= second + 1 && first / 2 <= second / 2 }
    };
    let all = 0..graph.events.len();
    all.clone().all(|a| all.clone().all(|b| is_coherent(a, b))) && is_sc_consistent(graph)
}
