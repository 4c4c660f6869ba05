//! The wrong variants: the kernel with one line weakened or one step wrong, each of which must be caught.

use crate::engine::Engine;
use crate::wrap::weaken::{self, Change, Fault, Site, Strength};
use std::cell::Cell;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// The first line that contains `needle`, below the one that contains `after`: its fence is gone, its orderings
    /// are `Relaxed`.
    Weaken {
        /// A file of the kernel.
        file: &'static str,
        /// A function's first line.
        after: &'static str,
        /// What stands in the line.
        needle: &'static str,
    },
    /// The room's wrong variant of this name is played instead of the room.
    Variant(&'static str),
    /// One access is made in another way.
    Access(Fault),
}

/// A wrong variant, and who must catch it.
#[derive(Debug, Clone, Copy)]
pub struct Mutant {
    /// Its name.
    pub name: &'static str,
    /// The room it mutates.
    pub room: &'static str,
    /// What is wrong, for a reader.
    pub what: &'static str,
    /// How.
    pub mutation: Mutation,
    /// The models that kill it, and on which engine.
    pub killed_by: &'static [(&'static str, Engine)],
}

/// The sources of the kernel and of the models, to find lines in and to print beside a schedule.
pub const SOURCES: &[(&str, &str)] = &[
    ("atomic.rs", include_str!("../../src/atomic.rs")),
    ("kernel/sched/syscall.rs", include_str!("../../src/kernel/sched/syscall.rs")),
    ("kernel/queues/capacity.rs", include_str!("../../src/kernel/queues/capacity.rs")),
    ("kernel/sched/central.rs", include_str!("../../src/kernel/sched/central.rs")),
    ("kernel/sched/config.rs", include_str!("../../src/kernel/sched/config.rs")),
    ("kernel/protocol/deadlock.rs", include_str!("../../src/kernel/protocol/deadlock.rs")),
    ("kernel/types/token.rs", include_str!("../../src/kernel/types/token.rs")),
    ("kernel/protocol/find.rs", include_str!("../../src/kernel/protocol/find.rs")),
    ("kernel/types/g.rs", include_str!("../../src/kernel/types/g.rs")),
    ("kernel/queues/globq.rs", include_str!("../../src/kernel/queues/globq.rs")),
    ("kernel/protocol/handoff.rs", include_str!("../../src/kernel/protocol/handoff.rs")),
    ("kernel/queues/idle.rs", include_str!("../../src/kernel/queues/idle.rs")),
    ("kernel/queues/local.rs", include_str!("../../src/kernel/queues/local.rs")),
    ("kernel/protocol/locked.rs", include_str!("../../src/kernel/protocol/locked.rs")),
    ("kernel/types/m.rs", include_str!("../../src/kernel/types/m.rs")),
    ("kernel/mod.rs", include_str!("../../src/kernel/mod.rs")),
    ("kernel/sched/sysmon.rs", include_str!("../../src/kernel/sched/sysmon.rs")),
    ("kernel/sched/neighbours.rs", include_str!("../../src/kernel/sched/neighbours.rs")),
    ("kernel/protocol/netpoll.rs", include_str!("../../src/kernel/protocol/netpoll.rs")),
    ("kernel/sched/observer.rs", include_str!("../../src/kernel/sched/observer.rs")),
    ("kernel/types/p.rs", include_str!("../../src/kernel/types/p.rs")),
    ("kernel/sched/netpoll.rs", include_str!("../../src/kernel/sched/netpoll.rs")),
    ("kernel/protocol/random_order.rs", include_str!("../../src/kernel/protocol/random_order.rs")),
    ("kernel/protocol/stw/resize.rs", include_str!("../../src/kernel/protocol/stw/resize.rs")),
    ("kernel/protocol/role.rs", include_str!("../../src/kernel/protocol/role.rs")),
    ("kernel/queues/runnext.rs", include_str!("../../src/kernel/queues/runnext.rs")),
    ("kernel/queues/runq.rs", include_str!("../../src/kernel/queues/runq.rs")),
    ("kernel/protocol/stw/safepoint.rs", include_str!("../../src/kernel/protocol/stw/safepoint.rs")),
    ("kernel/sched/mod.rs", include_str!("../../src/kernel/sched/mod.rs")),
    ("kernel/sched/snapshot.rs", include_str!("../../src/kernel/sched/snapshot.rs")),
    ("kernel/protocol/sources.rs", include_str!("../../src/kernel/protocol/sources.rs")),
    ("kernel/protocol/spinning.rs", include_str!("../../src/kernel/protocol/spinning.rs")),
    ("kernel/protocol/stw/mod.rs", include_str!("../../src/kernel/protocol/stw/mod.rs")),
    ("kernel/protocol/syscall.rs", include_str!("../../src/kernel/protocol/syscall.rs")),
    ("kernel/protocol/sysmon.rs", include_str!("../../src/kernel/protocol/sysmon.rs")),
    ("kernel/protocol/threads.rs", include_str!("../../src/kernel/protocol/threads.rs")),
    ("kernel/protocol/timers.rs", include_str!("../../src/kernel/protocol/timers.rs")),
    ("kernel/protocol/stw/wanted.rs", include_str!("../../src/kernel/protocol/stw/wanted.rs")),
    ("kernel/protocol/work_source.rs", include_str!("../../src/kernel/protocol/work_source.rs")),
    ("kernel/sched/stw.rs", include_str!("../../src/kernel/sched/stw.rs")),
    ("models/common.rs", include_str!("models/common.rs")),
    ("models/diary.rs", include_str!("models/diary.rs")),
    ("models/g.rs", include_str!("models/g.rs")),
    ("models/globq.rs", include_str!("models/globq.rs")),
    ("models/handoff.rs", include_str!("models/handoff.rs")),
    ("models/idle.rs", include_str!("models/idle.rs")),
    ("models/idling.rs", include_str!("models/idling.rs")),
    ("models/lists.rs", include_str!("models/lists.rs")),
    ("models/local.rs", include_str!("models/local.rs")),
    ("models/locked.rs", include_str!("models/locked.rs")),
    ("models/monitor.rs", include_str!("models/monitor.rs")),
    ("models/netpoll.rs", include_str!("models/netpoll.rs")),
    ("models/poll.rs", include_str!("models/poll.rs")),
    ("models/poller.rs", include_str!("models/poller.rs")),
    ("models/runq.rs", include_str!("models/runq.rs")),
    ("models/sched.rs", include_str!("models/sched.rs")),
    ("models/snapshot.rs", include_str!("models/snapshot.rs")),
    ("models/spinning.rs", include_str!("models/spinning.rs")),
    ("models/story.rs", include_str!("models/story.rs")),
    ("models/stw.rs", include_str!("models/stw.rs")),
    ("models/syscall.rs", include_str!("models/syscall.rs")),
    ("models/sysmon.rs", include_str!("models/sysmon.rs")),
    ("models/threads.rs", include_str!("models/threads.rs")),
    ("models/timers.rs", include_str!("models/timers.rs")),
    ("models/whole.rs", include_str!("models/whole.rs")),
    ("models/work_source.rs", include_str!("models/work_source.rs")),
    ("museum/go.rs", include_str!("museum/go.rs")),
    ("museum/go/collection.rs", include_str!("museum/go/collection.rs")),
    ("museum/go/conserved.rs", include_str!("museum/go/conserved.rs")),
    ("museum/go/deadlock.rs", include_str!("museum/go/deadlock.rs")),
    ("museum/go/fair.rs", include_str!("museum/go/fair.rs")),
    ("museum/go/kernels.rs", include_str!("museum/go/kernels.rs")),
    ("museum/go/locks.rs", include_str!("museum/go/locks.rs")),
    ("museum/go/poller.rs", include_str!("museum/go/poller.rs")),
    ("museum/go/queues.rs", include_str!("museum/go/queues.rs")),
    ("museum/go/stop.rs", include_str!("museum/go/stop.rs")),
    ("museum/go/timers.rs", include_str!("museum/go/timers.rs")),
    ("museum/go/too_late.rs", include_str!("museum/go/too_late.rs")),
    ("museum/peers/counts.rs", include_str!("museum/peers/counts.rs")),
    ("museum/peers/dekker.rs", include_str!("museum/peers/dekker.rs")),
    ("museum/peers/deques.rs", include_str!("museum/peers/deques.rs")),
    ("museum/peers/futexes.rs", include_str!("museum/peers/futexes.rs")),
    ("museum/peers/handoff.rs", include_str!("museum/peers/handoff.rs")),
    ("museum/peers/kernel.rs", include_str!("museum/peers/kernel.rs")),
    ("museum/peers/lifetimes.rs", include_str!("museum/peers/lifetimes.rs")),
    ("museum/peers/locks.rs", include_str!("museum/peers/locks.rs")),
    ("museum/peers/mod.rs", include_str!("museum/peers/mod.rs")),
    ("museum/peers/rings.rs", include_str!("museum/peers/rings.rs")),
    ("museum/peers/tokens.rs", include_str!("museum/peers/tokens.rs")),
    ("tiny/bound.rs", include_str!("tiny/bound.rs")),
    ("tiny/handoff.rs", include_str!("tiny/handoff.rs")),
    ("tiny/locked.rs", include_str!("tiny/locked.rs")),
    ("tiny/netpoll.rs", include_str!("tiny/netpoll.rs")),
    ("tiny/queues.rs", include_str!("tiny/queues.rs")),
    ("tiny/safepoint.rs", include_str!("tiny/safepoint.rs")),
    ("tiny/spinning.rs", include_str!("tiny/spinning.rs")),
    ("tiny/stopper.rs", include_str!("tiny/stopper.rs")),
    ("tiny/stw.rs", include_str!("tiny/stw.rs")),
    ("tiny/syscall.rs", include_str!("tiny/syscall.rs")),
    ("tiny/threads.rs", include_str!("tiny/threads.rs")),
    ("tiny/timers.rs", include_str!("tiny/timers.rs")),
    ("tiny/unrest.rs", include_str!("tiny/unrest.rs")),
    ("variants/handoff.rs", include_str!("variants/handoff.rs")),
    ("variants/netpoll.rs", include_str!("variants/netpoll.rs")),
    ("variants/spinning.rs", include_str!("variants/spinning.rs")),
    ("variants/syscall.rs", include_str!("variants/syscall.rs")),
];

/// The text of a line of the kernel.
pub fn source_line(file: &str, line: u32) -> Option<&'static str> {
    let (_, text) = SOURCES.iter().find(|(name, _)| *name == file)?;
    text.lines().nth(line as usize - 1).map(str::trim)
}

thread_local! {
    static TWIN: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Which variant to play, if any.
pub fn variant() -> Option<&'static str> {
    TWIN.get()
}

/// From now on, on this thread, play this.
pub(crate) fn set(mutation: Option<Mutation>) {
    TWIN.set(match mutation {
        Some(Mutation::Variant(name)) => Some(name),
        _ => None,
    });
    weaken::mutate(mutation.and_then(fault));
}

/// How often the mutated line was executed; a variant counts as executed.
pub(crate) fn hits() -> u64 {
    weaken::hits() + u64::from(TWIN.get().is_some())
}

fn fault(mutation: Mutation) -> Option<Fault> {
    match mutation {
        Mutation::Access(fault) => Some(fault),
        mutation => site(mutation).map(|site| Fault { site, change: Change::To(Strength::Relaxed) }),
    }
}

/// Where a weakened line is. `None`: for a variant, or if the kernel has no such line.
pub fn site(mutation: Mutation) -> Option<Site> {
    let Mutation::Weaken { file, after, needle } = mutation else { return None };
    let line = line_of(file, after, needle)?;
    Some(Site { file, line, column: 0 })
}

/// The first line with `needle` that is no comment, below the one with `after`.
pub fn line_of(file: &str, after: &str, needle: &str) -> Option<u32> {
    let (_, text) = SOURCES.iter().find(|(name, _)| *name == file)?;
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| !line.contains(after)).skip(1);
    let (index, _) = lines.find(|(_, line)| line.contains(needle) && !line.trim_start().starts_with("//"))?;
    Some(index as u32 + 1)
}

/// The mutant of this name.
pub fn find(name: &str) -> Option<&'static Mutant> {
    let museums = crate::museum::MUTANTS.iter().copied().flatten();
    all().chain(museums).find(|mutant| mutant.name == name)
}

/// All of the kernel's; the museum has its own.
pub fn all() -> impl Iterator<Item = &'static Mutant> {
    crate::models::MUTANTS.iter().copied().flatten()
}
