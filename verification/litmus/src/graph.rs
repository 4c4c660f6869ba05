//! Execution graphs, and what RC11 says about them: the axioms of the reference enumerator. And those of two models with
//! load buffering, which are RC11 but for what forbids that.
//!
//! Asymmetric fences (C++'s P1202) are two additions, `light_and_heavy` and `interrupted`.
//!
//! Written as plain relation algebra, to be compared line by line with the paper (Lahav, Vafeiadis, Kang, Hur, Dreyer:
//! Repairing Sequential Consistency in C/C++11, PLDI 2017), release sequences as in C++20. Slow.

use crate::program::Loc;
use crate::relation::{Relation, Set, members};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Release, SeqCst};

/// What an event does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Read,
    Write,
    Fence,
    /// A light fence: none of RC11's.
    Light,
    /// A heavy fence is called, and returns: two `SeqCst` fences.
    Call,
    Return,
}

impl Act {
    /// Is it a fence of RC11's?
    fn is_fence(self) -> bool {
        matches!(self, Act::Fence | Act::Call | Act::Return)
    }
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    /// Of which thread; `None`: it gives a location its initial value, before all threads.
    pub(super) thread: Option<usize>,
    pub(super) act: Act,
    /// `None` for fences.
    pub(super) loc: Option<Loc>,
    pub(super) value: i64,
    /// `None`: not atomic.
    pub(super) order: Option<Ordering>,
    /// For the write of a read-modify-write: the event before it is its read.
    pub(super) is_rmw: bool,
}

impl Event {
    fn acquires(&self) -> bool {
        self.act != Act::Write && matches!(self.order, Some(Acquire | AcqRel | SeqCst))
    }
    fn releases(&self) -> bool {
        self.act != Act::Read && matches!(self.order, Some(Release | AcqRel | SeqCst))
    }
}

/// What must be acyclic together with reads-from, so that no value comes out of thin air.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Grounds {
    /// Program order: RC11.
    ProgramOrder,
    /// These dependencies, from a read to a write: C11 with no more than dependencies.
    Dependencies(Relation),
    /// IMM's `ar`, of which these are the dependencies.
    Imm(Relation),
}

/// Events, their program order and which reads from which; the order of writes is not decided yet.
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    sb: Relation,
    rf: Relation,
    rmw: Relation,
    hb: Relation,
    grounds: Grounds,
}

impl Graph {
    /// Events are listed thread by thread, in program order; `rf` says which event each read reads from.
    pub(super) fn new(events: Vec<Event>, rf: &[(usize, usize)], grounds: Grounds) -> Graph {
        let n = events.len();
        let before = |a: usize, b: usize| match (events[a].thread, events[b].thread) {
            (None, thread) => thread.is_some(),
            (a_thread, b_thread) => a_thread == b_thread && a < b,
        };
        let sb = Relation::of(n, before);
        let mut reads_from = Relation::empty(n);
        rf.iter().for_each(|(write, read)| reads_from.add(*write, *read));
        let rmw = Relation::of(n, |a, b| a + 1 == b && events[b].is_rmw);
        let empty = Relation::empty(n);
        let mut graph = Graph { events, sb, rf: reads_from, rmw, hb: empty, grounds };
        graph.hb = graph.sb.or(&graph.synchronises_with()).closure();
        graph
    }

    fn set(&self, holds: impl Fn(&Event) -> bool) -> Set {
        self.events.iter().enumerate().filter(|(_, event)| holds(event)).fold(0, |set, (n, _)| set | 1 << n)
    }

    /// `[rel+] ; ([F] ; sb)? ; rs ; rf ; [R rlx+] ; (sb ; [F])? ; [acq+]` with `rs = [W rlx+] ; (rf ; rmw)*`.
    fn synchronises_with(&self) -> Relation {
        let n = self.events.len();
        let every = self.set(|_| true);
        let fences = self.set(|e| e.act.is_fence());
        let identity = Relation::identity(n, every);
        let chain = identity.or(&self.rf.then(&self.rmw).closure());
        let rs = chain.between(self.set(|e| e.act == Act::Write && e.order.is_some()), every);
        let from = identity.or(&self.sb.between(fences, every)).between(self.set(Event::releases), every);
        let to = identity.or(&self.sb.between(every, fences)).between(every, self.set(Event::acquires));
        let reads = self.set(|e| e.act == Act::Read && e.order.is_some());
        let handed_on = rs.then(&self.rf).between(every, reads);
        let light_and_heavy = self.light_and_heavy(&self.sb.then(&handed_on).then(&self.sb));
        from.then(&handed_on).then(&to).or(&light_and_heavy)
    }

    /// `[L] ; sync ; [R] U [C] ; sync ; [L]`: a light fence synchronises with a heavy one's return, its call with a light
    /// fence, as a release fence does with an acquire fence. `sync = sb ; [W] ; rs ; rf ; [R] ; sb`.
    fn light_and_heavy(&self, sync: &Relation) -> Relation {
        let [lights, calls, returns] = [Act::Light, Act::Call, Act::Return].map(|act| self.set(|e| e.act == act));
        sync.between(lights, returns).or(&sync.between(calls, lights))
    }

    /// For each heavy fence and each other thread with light fences, an interrupt: a `SeqCst` fence behind the call and
    /// before the return. Call, thread.
    fn interrupts(&self) -> Vec<(usize, usize)> {
        let threads = |lights: Set| members(lights).filter_map(|n| self.events[n].thread).collect::<BTreeSet<_>>();
        let lights = threads(self.set(|e| e.act == Act::Light));
        let calls = members(self.set(|e| e.act == Act::Call));
        let others = |call: usize| lights.iter().map(move |&thread| (call, thread));
        calls.flat_map(others).filter(|&(call, thread)| self.events[call].thread != Some(thread)).collect()
    }

    /// How large relations get.
    pub(super) fn size(&self) -> usize {
        self.events.len() + self.interrupts().len()
    }

    /// `psc` of the `SeqCst` events and the interrupts. `p` is `psc` as it were if light fences were `SeqCst` fences: an
    /// interrupt is after those of its thread that are before the call in `p`, and before those that are after the return.
    /// Light fences themselves are not in it.
    fn interrupted(&self, p: &Relation) -> Relation {
        let (n, interrupts) = (self.events.len(), self.interrupts());
        let lights = self.set(|e| e.act == Act::Light);
        // What an event or an interrupt comes after, or before, by name; each stands for itself.
        let ends = |place: usize, is_after: bool| -> Set {
            let Some(&(call, thread)) = place.checked_sub(n).and_then(|n| interrupts.get(n)) else {
                return 1 << place & !lights;
            };
            // A call stands right before its return.
            let end = if is_after { call } else { call + 1 };
            let is_there = |light: &usize| if is_after { p.has(*light, end) } else { p.has(end, *light) };
            let of_thread = members(lights).filter(|light| self.events[*light].thread == Some(thread));
            of_thread.filter(is_there).fold(1 << end, |set, light| set | 1 << light)
        };
        Relation::of(n + interrupts.len(), |a, b| {
            let (from, to) = (ends(a, false), ends(b, true));
            members(from).any(|from| members(to).any(|to| p.has(from, to) || from == to && a != b))
        })
    }

    /// Is nothing its own cause, as far as that can be said without the order of writes? And is happens-before a partial
    /// order?
    fn is_causal(&self) -> bool {
        let grounded = match &self.grounds {
            Grounds::ProgramOrder => self.sb.or(&self.rf),
            Grounds::Dependencies(deps) => deps.or(&self.rf),
            Grounds::Imm(deps) => self.preserved(deps).or(&self.external(&self.rf)),
        };
        grounded.is_acyclic() && self.hb.is_irreflexive()
    }

    /// Those pairs that are of two threads, the initial writes' included.
    fn external(&self, relation: &Relation) -> Relation {
        let n = self.events.len();
        relation.and(&Relation::of(n, |a, b| self.events[a].thread != self.events[b].thread))
    }

    /// `bob U ppo U [W_ex] ; rfi ; [acq]`: what IMM keeps of program order, but for `detour`.
    ///
    /// `bob = sb ; [rel] U [rel] ; sb|loc ; [W] U sb ; [F] U [F] ; sb U [acq] ; sb`, `ppo = [R] ; (deps U rfi)+ ; [W]`.
    /// IMM has also `[R_ex] ; sb` in `ppo`, the branch of a loop of exclusive accesses: an update that is one
    /// instruction has none, so it is left out.
    fn preserved(&self, deps: &Relation) -> Relation {
        let every = self.set(|_| true);
        let writes = self.set(|e| e.act == Act::Write);
        let reads = self.set(|e| e.act == Act::Read);
        let fences = self.set(|e| e.act.is_fence());
        let releasing = self.set(|e| e.act == Act::Write && e.releases());
        let acquiring = self.set(|e| e.act == Act::Read && e.acquires());
        let updating = self.set(|e| e.act == Act::Write && e.is_rmw);
        let sb = &self.sb;
        let one_place = Relation::of(self.events.len(), |a, b| self.events[a].loc == self.events[b].loc);
        let bob = sb.between(every, releasing).or(&sb.and(&one_place).between(releasing, writes));
        let bob = bob.or(&sb.between(every, fences)).or(&sb.between(fences, every)).or(&sb.between(acquiring, every));
        let internal = self.rf.without(&self.external(&self.rf));
        let ppo = deps.or(&internal).closure().between(reads, writes);
        bob.or(&ppo).or(&internal.between(updating, acquiring))
    }

    /// IMM: `ar = rfe U bob U ppo U detour U psc_F` is acyclic, where `detour = (moe ; rfe) & sb`.
    fn is_imm(&self, deps: &Relation, mo: &Relation, fences: &Relation) -> bool {
        let read = self.external(&self.rf);
        let detour = self.external(mo).then(&read).and(&self.sb);
        self.preserved(deps).or(&read).or(&detour).or(fences).is_acyclic()
    }

    /// Are two accesses of one place, one of them a write, one of them not atomic, unordered?
    pub(super) fn has_race(&self) -> bool {
        let clash = |a: &Event, b: &Event| {
            let conflict = a.loc.is_some() && a.loc == b.loc && (a.act == Act::Write || b.act == Act::Write);
            conflict && a.thread != b.thread && (a.order.is_none() || b.order.is_none())
        };
        let n = self.events.len();
        let clashes = Relation::of(n, |a, b| clash(&self.events[a], &self.events[b]));
        !clashes.without(&self.hb).without(&self.hb.inverse()).is_empty()
    }

    /// Which writes of one place come before which, whatever the rest of `mo`: what is written or read earlier is not
    /// younger. This only saves trying what [`is_coherent`](Self::is_coherent) would refuse.
    fn forced(&self) -> Relation {
        let n = self.events.len();
        let writes = self.set(|e| e.act == Act::Write);
        let itself = Relation::identity(n, writes);
        let touched = itself.or(&self.rf);
        let earlier = touched.then(&self.hb).then(&touched.inverse()).without(&itself);
        earlier.and(&Relation::of(n, |a, b| self.events[a].loc == self.events[b].loc)).between(writes, writes)
    }

    /// Can this graph, and so every graph that begins with it, be consistent at all? A quick look that misses some.
    pub(super) fn is_viable(&self) -> bool {
        let overwrites = self.rf.then(&self.rmw).inverse();
        let twice = overwrites.then(&overwrites.inverse()).without(&Relation::identity(self.events.len(), !0));
        self.is_causal() && twice.is_empty() && self.forced().is_acyclic()
    }

    /// The orders of the writes of one place that coherence and atomicity allow.
    pub(super) fn write_orders(&self, loc: Loc) -> Vec<Vec<usize>> {
        let is_write = |e: &Event| e.act == Act::Write && e.loc == Some(loc);
        let writes: Vec<usize> = (0..self.events.len()).filter(|n| is_write(&self.events[*n])).collect();
        let mut orders = Vec::new();
        self.extend_order(&self.forced(), &mut Vec::new(), &writes, &mut orders);
        orders.retain(|order| {
            let mo = self.modification_order(std::slice::from_ref(order));
            self.is_coherent(&mo) && self.is_atomic(&mo)
        });
        orders
    }

    /// All orders of `writes` that begin with `placed` and agree with `forced`.
    fn extend_order(&self, forced: &Relation, placed: &mut Vec<usize>, writes: &[usize], orders: &mut Vec<Vec<usize>>) {
        if placed.len() == writes.len() {
            orders.push(placed.clone());
        }
        let left: Vec<usize> = writes.iter().copied().filter(|write| !placed.contains(write)).collect();
        for write in &left {
            // A read-modify-write comes right behind what it reads.
            let torn = self.events[*write].is_rmw && !placed.last().is_some_and(|last| self.rf.has(*last, write - 1));
            if !torn && !left.iter().any(|other| forced.has(*other, *write)) {
                placed.push(*write);
                self.extend_order(forced, placed, writes, orders);
                placed.pop();
            }
        }
    }

    /// `mo`, from the order of each place's writes.
    pub(super) fn modification_order(&self, orders: &[Vec<usize>]) -> Relation {
        let place = |event| orders.iter().flatten().position(|other| *other == event);
        Relation::of(self.events.len(), |a, b| {
            self.events[a].loc == self.events[b].loc && matches!((place(a), place(b)), (Some(a), Some(b)) if a < b)
        })
    }

    /// `rb = rf^-1 ; mo`
    fn reads_before(&self, mo: &Relation) -> Relation {
        self.rf.inverse().then(mo)
    }
    /// `eco = (rf U mo U rb)+`
    fn extended_coherence(&self, mo: &Relation) -> Relation {
        self.rf.or(mo).or(&self.reads_before(mo)).closure()
    }
    /// Coherence: `hb ; eco?` is irreflexive.
    fn is_coherent(&self, mo: &Relation) -> bool {
        self.hb.then_maybe(&self.extended_coherence(mo)).is_irreflexive()
    }
    /// Atomicity: no write comes between the one that a read-modify-write reads and its own.
    fn is_atomic(&self, mo: &Relation) -> bool {
        self.rmw.and(&self.reads_before(mo).then(mo)).is_empty()
    }

    /// SC: `psc_base U psc_F` is acyclic, and IMM's own axiom, which has `psc_F` in it. A fence has no location, so it is never "on one location" with anything.
    pub(super) fn is_ordered(&self, mo: &Relation) -> bool {
        let n = self.events.len();
        let every = self.set(|_| true);
        let lights = self.set(|e| e.act == Act::Light);
        let sc = self.set(|e| e.order == Some(SeqCst)) | lights;
        let sc_fences = lights | self.set(|e| e.order == Some(SeqCst) && e.act.is_fence());
        let one_place =
            Relation::of(n, |a, b| self.events[a].loc.is_some() && self.events[a].loc == self.events[b].loc);
        let hb = &self.hb;
        let elsewhere = self.sb.without(&one_place);
        let scb = self.sb.or(&elsewhere.then(hb).then(&elsewhere)).or(&hb.and(&one_place));
        let scb = scb.or(mo).or(&self.reads_before(mo));
        let from = Relation::identity(n, sc).or(&hb.between(sc_fences, every));
        let to = Relation::identity(n, sc).or(&hb.between(every, sc_fences));
        let base = from.then(&scb).then(&to);
        let eco = self.extended_coherence(mo);
        let fences = hb.or(&hb.then(&eco).then(hb)).between(sc_fences, sc_fences);
        let grounded = match &self.grounds {
            Grounds::Imm(deps) => self.is_imm(deps, mo, &fences),
            _ => true,
        };
        grounded && self.interrupted(&base.or(&fences)).is_acyclic()
    }
}
