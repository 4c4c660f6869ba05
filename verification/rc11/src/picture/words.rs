//! What is wrong with an execution, in words.

use crate::explore::{Counterexample, Played};
use crate::graph::{Graph, INIT, Kind, Order};
use crate::machine::{Wait, Wants};
use crate::picture::access;
use crate::picture::cure::{self, IsClosed, is_consistent};
use crate::picture::cycle::{Edge, Rel};
use crate::picture::label::{Names, Places, circled};
use crate::picture::{Missing, Picture};
use crate::verdict::Why;

/// Adds the notes, and marks what they are about.
pub(super) fn explain(picture: &mut Picture, found: &Counterexample, played: &Played, names: &Names, places: &Places) {
    let Counterexample { failure, graph } = found;
    let cure = |is_closed: IsClosed<'_>| cure::cure(graph, &played.sites, places, is_closed);
    match &failure.why {
        Why::Freed { access, is_end, thread, .. } => {
            let Some(node) = picture.node_of(*access, graph) else { return };
            picture.nodes[node].is_marked = true;
            let event = &graph.events[*access];
            let what = if *is_end { "the end of its life" } else { "the borrow of it" };
            picture.notes.push(format!("{} {}", number(node), access::told(event, played, names, places)));
            picture.notes.push(format!(
                "no path of happens-before leads from {} to {what}, by {}",
                number(node),
                crate::picture::named(&played.names, *thread)
            ));
            let knows = |g: &Graph| g.state(*thread).hb.has(event.thread, event.idx);
            picture.notes.push(cure(&|g| knows(g) || !is_consistent(g)).unwrap_or_else(|| {
                "no ordering of what was done is enough: the thread that frees must wait for the others (the counts of std's `Arc` \
                 are not seen: take `sync::Arc`)"
                    .to_owned()
            }));
        }
        Why::Race(other) => {
            let cure = race(picture, found, *other, played, names, places)
                .map(|(a, b)| (cure(&|g| g.happens_before(a, b) || g.happens_before(b, a) || !is_consistent(g)), a));
            if let Some((cure, a)) = cure {
                let name = names.get(graph.events[a].loc);
                picture.notes.push(cure.unwrap_or_else(|| {
                    format!("no ordering of these accesses is enough: take a lock, or hand {name} over by an atomic")
                }));
            }
        }
        Why::Uninitialised => unpublished(picture, found, played, places, &cure),
        Why::TooManyEvents(most) => endless(picture, graph, *most, places),
        Why::Panic(_) => {
            tell_the_cycle(picture, graph, names);
            if picture.has_cycle() {
                picture.notes.extend(cure(&|g| !is_consistent(g)));
            }
        }
        Why::Deadlock(threads) | Why::Unjoined(threads) => {
            for wait in played.waits.iter().filter(|wait| threads.contains(&wait.thread)) {
                waits(picture, graph, played, wait, names);
            }
            tell_the_cycle(picture, graph, names);
        }
        _ => {
            if let Some(last) = graph.events.len().checked_sub(1).and_then(|last| picture.node_of(last, graph)) {
                picture.nodes[last].is_marked = true;
                picture.notes.push(format!("{} is the last event", number(last)));
            }
        }
    }
}

fn number(node: usize) -> String {
    circled(node + 1)
}

/// Two accesses that no path joins, and the reads on the way that could have joined them.
fn race(
    picture: &mut Picture,
    found: &Counterexample,
    other: usize,
    played: &Played,
    names: &Names,
    places: &Places,
) -> Option<(usize, usize)> {
    let graph = &found.graph;
    let (a, b) = graph.race().unwrap_or((other, graph.events.len().saturating_sub(1)));
    let (first, second) = (picture.node_of(a, graph)?, picture.node_of(b, graph)?);
    let (first, second) = (first.min(second), first.max(second));
    for node in [first, second] {
        picture.nodes[node].is_marked = true;
    }
    picture.missing.push(Missing { from: first, to: second, what: "race" });
    picture.notes.push(format!(
        "{} and {} touch {}, not both are atomic, and no path of happens-before leads from one to the other",
        number(first),
        number(second),
        names.get(graph.events[a].loc)
    ));
    let (a, b) = (picture.nodes[first].event, picture.nodes[second].event);
    for (node, event) in [(first, a), (second, b)] {
        picture.notes.push(format!("{} {}", number(node), access::told(&graph.events[event], played, names, places)));
    }
    let joins = |edge: &&Edge| {
        let (write, read) = (picture.nodes[edge.from].event, picture.nodes[edge.to].event);
        let is_race = (edge.from, edge.to) == (first, second);
        edge.rel == Rel::Rf
            && !is_race
            && leads(graph, a, write)
            && leads(graph, read, b)
            && !synchronises(picture, graph, edge)
    };
    let joining: Vec<Edge> = picture.edges.iter().filter(joins).copied().collect();
    for edge in joining {
        tell_unsynchronised(picture, graph, &edge);
    }
    for (of, other) in [(b, a), (a, b)] {
        tell_what_is_known(picture, graph, of, graph.events[other].thread);
    }
    Some((a, b))
}

/// The last event of `thread` that happens before event `of`.
fn tell_what_is_known(picture: &mut Picture, graph: &Graph, of: usize, thread: u8) {
    let known = graph.clocks[of].hb.of(thread);
    let last = picture.nodes.iter().rposition(|node| node.thread == thread && node.idx < known);
    let who = picture.nodes.iter().find(|node| node.thread == thread).map(|node| picture.threads[node.column].clone());
    if let (Some(of), Some(who)) = (picture.node_of(of, graph), who) {
        picture.notes.push(match last {
            Some(last) => format!("of {who}, {} is the last event that happens before {}", number(last), number(of)),
            None => format!("no event of {who} happens before {}", number(of)),
        });
    }
}

/// An object that a thread uses and another has made, with nothing between: a pointer that was published too weakly.
fn unpublished(
    picture: &mut Picture,
    found: &Counterexample,
    played: &Played,
    places: &Places,
    cure: &dyn Fn(IsClosed<'_>) -> Option<String>,
) {
    let Counterexample { failure, graph } = found;
    let user = failure.thread;
    let Some((maker, told, made)) = played.lost else { return };
    let name = |thread: u8| crate::picture::named(&played.names, thread);
    let place = places.get(user, graph.threads[usize::from(user)].len);
    picture.sentence = format!(
        "uninitialised: {} uses an object that {} has made, but nothing orders the making before the use",
        name(user),
        name(maker)
    );
    let what = place.name.as_ref().map_or_else(|| "the object".to_owned(), |name| format!("`{name}`"));
    let made = format!("{}:{}", crate::picture::label::short(made.file()), made.line());
    picture.notes.push(format!("{what}, used at {}, was made at {made} by {}", place.at, name(maker)));
    let of_maker = |n: usize| graph.events[n].thread == maker && graph.events[n].idx >= told;
    let is_of_user = |n: usize| graph.state(user).porf.has(graph.events[n].thread, graph.events[n].idx);
    let joins = |edge: &&Edge| {
        let (write, read) = (picture.nodes[edge.from].event, picture.nodes[edge.to].event);
        edge.rel == Rel::Rf && of_maker(write) && is_of_user(read) && !synchronises(picture, graph, edge)
    };
    let joining: Vec<Edge> = picture.edges.iter().filter(joins).copied().collect();
    for edge in &joining {
        (picture.nodes[edge.from].is_marked, picture.nodes[edge.to].is_marked) = (true, true);
        tell_unsynchronised(picture, graph, edge);
    }
    let releases = |edge: &Edge| graph.events[picture.nodes[edge.from].event].order.releases();
    let which = match joining.first() {
        None => "the pointer to it came past the model: by std's atomics, a `static`, or a thread's result",
        Some(edge) if releases(edge) => "a pointer is read without acquire",
        Some(_) => "a pointer is published without release",
    };
    picture.notes.push(which.to_owned());
    picture.notes.extend(cure(&|g| g.state(user).hb.of(maker) > told || !is_consistent(g)));
}

/// A loop without an end: where it is.
fn endless(picture: &mut Picture, graph: &Graph, most: usize, places: &Places) {
    let last = graph.events.iter().rev().take(64);
    let at = last.map(|e| places.get(e.thread, e.idx).at).find(|at| !at.is_empty());
    let at = at.map(|at| format!(" ({at})")).unwrap_or_default();
    picture.sentence = format!(
        "more than {most} events in one execution: a loop never ended{at}: call `hint::spin_loop()` in it, or raise \
         `max_branches`"
    );
}

/// Is `a` before `b` in `(sb ∪ rf)+`, or `b`?
fn leads(graph: &Graph, a: usize, b: usize) -> bool {
    graph.clocks[b].porf.has(graph.events[a].thread, graph.events[a].idx)
}

/// Does what is read happen before the read?
fn synchronises(picture: &Picture, graph: &Graph, edge: &Edge) -> bool {
    let (write, read) = (picture.nodes[edge.from].event, picture.nodes[edge.to].event);
    graph.happens_before(write, read)
}

fn tell_unsynchronised(picture: &mut Picture, graph: &Graph, edge: &Edge) {
    let (write, read) = (&graph.events[picture.nodes[edge.from].event], &graph.events[picture.nodes[edge.to].event]);
    let fence = |thread: u8, is_there: &dyn Fn(u16, Order) -> bool| {
        graph.events.iter().any(|e| e.thread == thread && e.is_fence() && is_there(e.idx, e.order))
    };
    let releases = write.order.releases() || fence(write.thread, &|idx, order| idx < write.idx && order.releases());
    let acquires = read.strength().acquires() || fence(read.thread, &|idx, order| idx > read.idx && order.acquires());
    let why = match (releases, acquires) {
        (false, false) => "the write does not release, nor does the read acquire",
        (false, true) => "the write does not release",
        (true, false) => "the read does not acquire",
        (true, true) => "the fence comes too late, or another write stands between",
    };
    let note = format!("{} reads {}, but that gives no order: {why}", number(edge.to), number(edge.from));
    picture.notes.push(note);
    picture.missing.push(Missing { from: edge.from, to: edge.to, what: "no sync" });
}

/// Why no order of all events explains it; or that one does.
fn tell_the_cycle(picture: &mut Picture, graph: &Graph, names: &Names) {
    if picture.cycle.is_empty() {
        if picture.nodes.is_empty() {
            return;
        }
        picture.notes.push(
            "sb ∪ rf ∪ mo ∪ rb has no cycle: sequential consistency has this execution too, read from top to bottom. \
             No fence helps; it is a mistake of the logic"
                .to_owned(),
        );
        return;
    }
    stale_reads(picture, graph, names);
    let cycle = picture.cycle.clone();
    let step = |edge: &Edge| format!("{} {} ", number(edge.from), edge.rel.short());
    let steps: String = cycle.iter().map(step).collect();
    picture
        .notes
        .push(format!("{steps}{}: a cycle, so no order of all events explains what was read", number(cycle[0].from)));
    let before = picture.missing.len();
    for edge in &cycle {
        picture.nodes[edge.from].is_marked = true;
        match edge.rel {
            Rel::Sb if is_store_load(picture, graph, edge) => tell_store_load(picture, graph, edge, names),
            Rel::Rf if !synchronises(picture, graph, edge) => tell_unsynchronised(picture, graph, edge),
            _ => (),
        }
    }
    if picture.missing.len() == before {
        tell_weak_steps(picture, graph, &cycle);
    }
    tell_lone_fences(picture, graph, &cycle);
}

/// Reads of what a write further up has overwritten: those of the cycle, and how many more there are.
fn stale_reads(picture: &mut Picture, graph: &Graph, names: &Names) {
    let is_in_cycle = |n: usize| picture.cycle.iter().any(|edge| edge.from == n);
    let stale = picture.nodes.iter().enumerate().filter_map(|(n, node)| node.stale.map(|newer| (n, node, newer)));
    let (told, left): (Vec<_>, Vec<_>) = stale.partition(|(n, ..)| is_in_cycle(*n));
    let note = |(n, node, newer): (usize, &crate::picture::Node, usize)| {
        let name = names.get(graph.events[node.event].loc);
        let newer = number(newer);
        format!("{} reads the old value of {name}: {newer} is newer, and nothing orders it before", number(n))
    };
    let notes: Vec<String> = told.into_iter().map(note).collect();
    picture.notes.extend(notes);
    match left.len() {
        0 => (),
        n => {
            let which: Vec<String> = left.iter().take(6).map(|(n, ..)| number(*n)).collect();
            let more = if n > which.len() { " and others" } else { "" };
            picture.notes.push(format!("old values are read by {}{more} too, outside the cycle", which.join(", ")));
        }
    }
}

/// From a write to a later read of another location, with no `SeqCst` fence between.
fn is_store_load(picture: &Picture, graph: &Graph, edge: &Edge) -> bool {
    let [from, to] = [edge.from, edge.to].map(|n| &graph.events[picture.nodes[n].event]);
    let writes = from.is_write() || from.will_write().is_some();
    writes && to.is_read() && from.loc != to.loc && is_weak(picture, graph, edge)
}

/// Is there no `SeqCst` fence between the ends, and are not both `SeqCst` themselves?
fn is_weak(picture: &Picture, graph: &Graph, edge: &Edge) -> bool {
    let [from, to] = [edge.from, edge.to].map(|n| &graph.events[picture.nodes[n].event]);
    let are_strong = [from, to].iter().all(|e| e.strength() == Order::SeqCst);
    !are_strong && fence_between(picture, edge, graph).is_none()
}

fn fence_between(picture: &Picture, edge: &Edge, graph: &Graph) -> Option<usize> {
    let [from, to] = [&picture.nodes[edge.from], &picture.nodes[edge.to]];
    let is_between = |node: &crate::picture::Node| {
        let event = &graph.events[node.event];
        let is_fence = event.is_fence() && event.order == Order::SeqCst;
        is_fence && node.thread == from.thread && (from.idx..to.idx).contains(&node.idx)
    };
    picture.nodes.iter().position(is_between)
}

fn tell_store_load(picture: &mut Picture, graph: &Graph, edge: &Edge, names: &Names) {
    let [write, read] = [edge.from, edge.to].map(|n| names.get(graph.events[picture.nodes[n].event].loc).to_owned());
    picture.notes.push(format!(
        "{} writes {write}, and then {} reads {read}, with no SeqCst fence between: the read may be done before another thread \
         sees the write (StoreLoad)",
        number(edge.from),
        number(edge.to)
    ));
    picture.missing.push(Missing { from: edge.from, to: edge.to, what: "no SeqCst fence" });
}

/// All that is read synchronises: then it takes `SeqCst` fences in each thread of the cycle.
fn tell_weak_steps(picture: &mut Picture, graph: &Graph, cycle: &[Edge]) {
    for edge in cycle.iter().filter(|edge| edge.rel == Rel::Sb) {
        if is_weak(picture, graph, edge) {
            picture.notes.push(format!(
                "between {} and {} there is no SeqCst fence: one at each such step of the cycle would forbid it",
                number(edge.from),
                number(edge.to)
            ));
            picture.missing.push(Missing { from: edge.from, to: edge.to, what: "no SeqCst fence" });
        }
    }
}

/// Fences that are there, but not enough.
fn tell_lone_fences(picture: &mut Picture, graph: &Graph, cycle: &[Edge]) {
    if picture.missing.iter().all(|missing| !missing.what.contains("fence")) {
        return;
    }
    for edge in cycle.iter().filter(|edge| edge.rel == Rel::Sb) {
        if let Some(fence) = fence_between(picture, edge, graph) {
            picture.notes.push(format!(
                "between {} and {} there is one, {}: alone it forbids nothing, it takes one at each such step",
                number(edge.from),
                number(edge.to),
                number(fence)
            ));
        }
    }
}

/// What a thread waits for, and what is there instead.
fn waits(picture: &mut Picture, graph: &Graph, played: &Played, wait: &Wait, names: &Names) {
    let who = crate::picture::named(&played.names, wait.thread);
    if let Some(last) = picture.nodes.iter().rposition(|node| node.thread == wait.thread) {
        let event = &graph.events[picture.nodes[last].event];
        picture.nodes[last].is_marked |= event.waits() || event.kind == Kind::Spin;
    }
    let note = match wait.wants {
        Wants::Thread(other) => {
            format!("{who} waits for {} to come to its end", crate::picture::named(&played.names, other))
        }
        Wants::Room(loc) => format!("{who} waits for {}, which others have", names.get(loc)),
        Wants::News => format!("{who} spins, and nothing newer comes of what it has read"),
        Wants::Value { loc, .. } => {
            let name = names.get(loc);
            let what = if names.is_lock(loc) { format!("the lock {name}") } else { format!("an unpark of {name}") };
            let newest = Some(graph.newest(loc)).filter(|&write| write != INIT);
            match newest.and_then(|write| picture.node_of(usize::from(write), graph)) {
                Some(newest) => {
                    picture.nodes[newest].is_marked = true;
                    let by = crate::picture::named(&played.names, picture.nodes[newest].thread);
                    format!("{who} waits for {what}: the newest write of it is {}, by {by}", number(newest))
                }
                None => format!("{who} waits for {what}: no thread has written it"),
            }
        }
    };
    picture.notes.push(note);
}
