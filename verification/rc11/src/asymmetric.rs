//! Asymmetric fences: a *light* one, which costs its thread nothing but the compiler's freedom, and a *heavy* one, which
//! makes up for it: Linux's `membarrier(PRIVATE_EXPEDITED)`, Windows' `FlushProcessWriteBuffers`, C++'s P1202.
//!
//! ```text
//!      owner                  thief
//!      a := 1                 b := 1
//!      light fence            heavy fence: call      each thread has passed its light fence before the heavy fence
//!                                          return    returns, or passes it after the heavy fence was called
//!      r = b                  s = a                  so not both r and s are 0
//! ```
//!
//! The axioms, which are RC11's and two more. `C` is the call of a heavy fence and `R` its return: two `SeqCst` fences, one
//! after the other in their thread. `L` is a light fence, which is no fence of RC11's. `P` is RC11's `psc`, as it were if
//! light fences were `SeqCst` fences too.
//!
//! 1. `[L] ; sync ; [R]` and `[C] ; sync ; [L]` are part of `sw`, where `sync = sb ; [W] ; rs ; rf ; [R] ; sb` is what lies
//!    between a release fence and an acquire fence.
//! 2. For each heavy fence and each other thread there is an interrupt `I`: a `SeqCst` fence after `C` and before `R`. It
//!    is after those light fences of its thread that are before `C` in `P`, and before those that are after `R` in `P`.
//!    `psc` of the `SeqCst` events and of the interrupts is acyclic.
//!
//! A light fence is nowhere else: not ordered with light ones, `SeqCst` ones, or accesses, but as far as an interrupt is.
//!
//! Both systems' calls have all of these orders, and so have two `SeqCst` fences in place of light and heavy ones, which
//! is what a program falls back to where there is no such call. So what is proved here holds for both. (That they have is
//! argued, and compared on litmus tests and sampled programs: `docs/evidence/litmus.md`.) A call and a return are two and
//! not one, because what a light fence tells is known when the heavy one returns, and perhaps not yet when it is called.

use crate::axiom::Edges;
use crate::graph::{Event, Graph, INIT, Kind, Loc, New, Order};

impl Graph {
    /// A light fence of `thread`. It learns what was done before the heavy fences that other threads had passed before
    /// they wrote what `thread` has read.
    pub(super) fn next_light(&self, thread: u8) -> New {
        let mut new = self.next(thread, Loc::NONE, Order::Relaxed, Kind::Light, 0);
        self.last_before_what_was_read(thread, Kind::HeavyCall, |call| new.clocks.hb.join(&self.clocks[call].hb));
        new
    }

    /// A heavy fence of `thread` is called.
    pub(super) fn next_heavy_call(&self, thread: u8) -> New {
        let mut new = self.next_fence(thread, Order::SeqCst);
        new.event.kind = Kind::HeavyCall;
        new
    }

    /// It returns. It learns what was done before the light fences that other threads had passed before they wrote what
    /// `thread` has read.
    pub(super) fn next_heavy_return(&self, thread: u8) -> New {
        let mut new = self.next_fence(thread, Order::SeqCst);
        new.event.kind = Kind::HeavyReturn;
        self.last_before_what_was_read(thread, Kind::Light, |light| new.clocks.hb.join(&self.clocks[light].hb));
        new.clocks.fenced = new.clocks.hb;
        new
    }

    /// Hands over the last event of that kind before each write that heads a release sequence from which `thread` has
    /// read. Found by looking, when there is such a fence: other programs do not pay for it.
    fn last_before_what_was_read(&self, thread: u8, kind: Kind, mut found: impl FnMut(usize)) {
        let reads = self.events.iter().filter(|e| e.thread == thread && e.is_read() && e.order != Order::Plain);
        for read in reads {
            let mut write = read.rf;
            while write != INIT {
                let Event { thread: writer, idx, order, kind: how, .. } = self.events[usize::from(write)];
                if order == Order::Plain {
                    break;
                }
                let is_before = |e: &Event| e.thread == writer && e.idx < idx && e.kind == kind;
                if let Some(last) = self.events.iter().rposition(is_before) {
                    found(last);
                }
                let reading_half = |e: &&Event| how == Kind::Updated && e.thread == writer && e.idx + 1 == idx;
                write = self.events.iter().find(reading_half).map_or(INIT, |half| half.rf);
            }
        }
    }
}

/// The light fences, if any of `fences` is heavy. Else they have no effect.
pub(super) fn lights(graph: &Graph, fences: &[usize]) -> Vec<usize> {
    if !fences.iter().any(|&n| graph.events[n].kind == Kind::HeavyCall) {
        return Vec::new();
    }
    (0..graph.events.len()).filter(|&n| graph.events[n].kind == Kind::Light).collect()
}

/// Is there one order of the `SeqCst` events and the interrupts? `all` are those events, `count` of them, and then the
/// light fences, between which `is_before` is `P`.
pub(super) fn is_ordered(graph: &Graph, all: &[usize], count: usize, is_before: impl Fn(usize, usize) -> bool) -> bool {
    let event = |n: usize| &graph.events[all[n]];
    let lights_of = |thread: u8| (count..all.len()).filter(move |&n| event(n).thread == thread);
    let mut places: Vec<Place> = (0..count).map(Place::of_one).collect();
    for call in (0..count).filter(|&n| event(n).kind == Kind::HeavyCall) {
        let caller = event(call).thread;
        // Its thread's next event, if it has come so far.
        let ret = (0..count).find(|&n| event(n).thread == caller && event(n).idx == event(call).idx + 1);
        for thread in (0..graph.threads.len() as u8).filter(|&thread| thread != caller) {
            let before = lights_of(thread).filter(|&light| is_before(light, call));
            let after = |ret: usize| lights_of(thread).filter(|&light| is_before(ret, light)).chain([ret]).collect();
            places.push(Place { after: before.chain([call]).collect(), before: ret.map_or_else(Vec::new, after) });
        }
    }
    let leads = |a: &Place, b: &Place| {
        let to = |&from: &usize| b.after.iter().any(|&to| from == to || is_before(from, to));
        a.before.iter().any(to)
    };
    // An interrupt that leads to itself goes round through its call or its return too.
    let mut edges = Edges::none(places.len());
    for a in 0..places.len() {
        (0..places.len()).filter(|&b| a != b && leads(&places[a], &places[b])).for_each(|b| edges.add(a, b));
    }
    edges.are_acyclic()
}

/// Where an event or an interrupt stands: what it is after, and what it is before, as far as others are ordered with that.
struct Place {
    after: Vec<usize>,
    before: Vec<usize>,
}

impl Place {
    /// An event stands where it is.
    fn of_one(n: usize) -> Place {
        Place { after: vec![n], before: vec![n] }
    }
}
