//! Models of a shutdown: tasks wait for the first time, are woken, aborted, spawned and left beside it.

use crate::harness::common::any_of;
use crate::harness::owned_task::Task;
use crate::harness::owned_tasks::Tiny;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, rc11, sc, sc_cut};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::waits::owned_tasks::{Key, Owned, OwnedTasks};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// The M of this runtime.
fn m<H: ModelHost>(tiny: &Arc<Tiny<H>>) -> H::Thread<()> {
    let tiny = Arc::clone(tiny);
    H::fork("M", move || tiny.run_m())
}

/// Shuts it down beside a thread that may be about to wake a task: if it is so twice, waits for that thread. All of `tasks`, if they
/// ran, have ended then. Tells how many were given back, and whether a task was found that was about to be woken.
fn close<H: ModelHost>(tiny: &Tiny<H>, m: H::Thread<()>, beside: H::Thread<()>, tasks: &[&Task<H>]) -> String {
    let (mut beside, mut was_busy) = (Some(beside), false);
    let unstarted = tiny.close(m, |times| {
        was_busy = true;
        if times > 1 {
            H::join(beside.take().expect("no thread is about to wake a task, and it cannot be ended"));
        }
    });
    let given_back = |task: &Task<H>| unstarted.iter().any(|queued| queued.number() == task.number());
    for task in tasks {
        assert!(task.has_ended() != given_back(task), "the runtime is shut down, and task {} goes on", task.number());
    }
    beside.into_iter().for_each(H::join);
    assert!(unstarted.iter().all(|task| !task.has_run()), "a task is given back that has run");
    format!("given back {}, busy {was_busy}", unstarted.len())
}

/// A task runs, and waits for what never comes.
fn a_first_wait_beside_it<H: ModelHost>() -> String {
    main_plays("closer");
    let tiny = Tiny::<H>::new(1);
    let (queued, task) = Task::new(&tiny, 0, 0, 1);
    assert!(tiny.spawn(queued), "the scheduler is open");
    let m = m(&tiny);
    let unstarted = tiny.close(m, |_| panic!("no thread is about to wake it"));
    let given_back = unstarted.len();
    assert!(unstarted.iter().all(|task| !task.has_run()), "a task is given back that has run");
    drop(unstarted);
    let ended = task.check_at_rest();
    assert!((given_back == 1) == (ended == "polled 0, Dropped"), "what never ran is given back: {given_back}, {ended}");
    format!("given back {given_back}, {ended}")
}

/// A task that has waited, or never ran, is woken.
fn a_wake_beside_it<H: ModelHost>() -> String {
    main_plays("closer");
    let has_waited = H::choose(2) == 0;
    let tiny = Tiny::<H>::new(1);
    let (queued, task) = Task::new(&tiny, 0, 0, 1);
    let waker = task.waker();
    assert!(tiny.spawn(queued), "the scheduler is open");
    if has_waited {
        tiny.run_once();
    }
    let beside = H::fork("waker", move || waker.wake(0));
    let closed = close(&tiny, m(&tiny), beside, &[&task]);
    format!("{closed}, {}", task.check_at_rest())
}

/// A task that has waited is aborted.
fn an_abort_beside_it<H: ModelHost>() -> String {
    main_plays("closer");
    let tiny = Tiny::<H>::new(1);
    let (queued, task) = Task::new(&tiny, 0, 0, 1);
    let waker = task.waker();
    assert!(tiny.spawn(queued), "the scheduler is open");
    tiny.run_once();
    let beside = H::fork("aborter", move || waker.abort());
    let closed = close(&tiny, m(&tiny), beside, &[&task]);
    format!("{closed}, {}", task.check_at_rest())
}

/// A task that has waited is let go by the only other one that could wake it.
fn the_last_waker_beside_it<H: ModelHost>() -> String {
    main_plays("closer");
    let tiny = Tiny::<H>::new(1);
    let (queued, task) = Task::new(&tiny, 0, 0, 1);
    let waker = task.waker();
    assert!(tiny.spawn(queued), "the scheduler is open");
    let beside = H::fork("owner", move || drop(waker));
    let closed = close(&tiny, m(&tiny), beside, &[&task]);
    format!("{closed}, {}", task.check_at_rest())
}

/// A task is spawned, which waits for nothing.
fn a_spawn_beside_it<H: ModelHost>() -> String {
    main_plays("closer");
    let tiny = Tiny::<H>::new(1);
    let (queued, task) = Task::new(&tiny, 0, 0, 0);
    let beside = {
        let tiny = Arc::clone(&tiny);
        H::fork("spawner", move || {
            tiny.spawn(queued);
        })
    };
    // Refused, it is its spawner's to drop, perhaps after that.
    let closed = close(&tiny, m(&tiny), beside, &[]);
    format!("{closed}, {}", task.check_at_rest())
}

/// Of two tasks that have waited, on two rows or on one, one is woken.
fn two_wait<H: ModelHost>() -> String {
    main_plays("closer");
    let rows = 1 + H::choose(2);
    let tiny = Tiny::<H>::new(rows);
    let tasks: Vec<_> = (0..2).map(|n| Task::new(&tiny, n, n, 1)).collect();
    let waker = tasks[0].1.waker();
    let tasks: Vec<_> = tasks
        .into_iter()
        .map(|(queued, task)| {
            assert!(tiny.spawn(queued), "the scheduler is open");
            tiny.run_once();
            task
        })
        .collect();
    assert!(tiny.owned.len() == 2, "two wait");
    let beside = H::fork("waker", move || waker.wake(0));
    let closed = close(&tiny, m(&tiny), beside, &[&tasks[0], &tasks[1]]);
    let ended: Vec<_> = tasks.iter().map(|task| task.check_at_rest()).collect();
    assert!(ended[1] == "polled 1, Dropped", "the other is not woken: {}", ended[1]);
    format!("{closed}, {}", ended[0])
}

/// One that is driven by hand.
struct ByHand {
    address: usize,
    /// How often it is found that a thread is about to wake it.
    busy: AtomicUsize,
    /// Which were ended, in this order.
    ended: Arc<Mutex<Vec<usize>>>,
}

impl Owned for ByHand {
    fn address(&self) -> usize {
        self.address
    }

    fn close(&self) -> bool {
        // SeqCst: no memory of the model's.
        let is_busy = self.busy.fetch_update(SeqCst, SeqCst, |busy| busy.checked_sub(1)).is_ok();
        if !is_busy {
            self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(self.address);
        }
        !is_busy
    }
}

/// What is done with the list.
#[derive(Debug, Clone, Copy)]
enum Op {
    Insert(usize),
    RemoveOldest,
    RemoveNewest,
}

/// A list that is driven by hand, beside one that says what must be there; and a shutdown.
fn moved_by_hand<H: ModelHost>() -> String {
    const OPS: [Op; 5] = [Op::Insert(0), Op::Insert(1), Op::Insert(2), Op::RemoveOldest, Op::RemoveNewest];
    let ended = Arc::new(Mutex::new(Vec::new()));
    let (asked, mut inserted) = (H::choose(4), 0);
    let owned = OwnedTasks::<H, ByHand>::new(asked);
    let rows = owned.rows();
    assert!(rows == asked.max(1), "one row at least: {rows}");
    let mut listed: Vec<(Key, usize, usize)> = Vec::new();
    for op in (0..4).map(|_| any_of::<H, _>(&OPS)) {
        let gone = match op {
            Op::Insert(row) => {
                inserted += 1;
                let task =
                    ByHand { address: inserted, busy: AtomicUsize::new(inserted - 1), ended: Arc::clone(&ended) };
                let key = owned.insert(row, task);
                assert!(listed.iter().all(|&(other, ..)| other != key), "two are listed at one place: {key:?}");
                listed.push((key, row % rows, inserted));
                None
            }
            Op::RemoveOldest => (!listed.is_empty()).then(|| listed.remove(0)),
            Op::RemoveNewest => listed.pop(),
        };
        if let Some((key, of, address)) = gone {
            let mut left = usize::MAX;
            let there = owned.remove(key, |row| left = row.len());
            assert!(there.map(|task| task.address) == Some(address), "{op:?}: another was there");
            let listed = listed.iter().filter(|&&(_, row, _)| row == of).count();
            assert!(left == listed, "{op:?}: {left} are seen that are left on row {of}, and not {listed}");
        }
        let addresses: BTreeSet<usize> = listed.iter().map(|&(_, _, address)| address).collect();
        assert!(owned.addresses() == addresses, "{op:?}: listed are {:?}, and not {addresses:?}", owned.addresses());
        assert!(
            owned.len() == listed.len() && owned.is_empty() == listed.is_empty(),
            "{op:?}: {} are listed",
            owned.len()
        );
        let mut looks = 0;
        owned.for_each(|_| looks += 1);
        assert!(looks == listed.len(), "{op:?}: {looks} were looked at of {}", listed.len());
        for row in 0..rows {
            let there = listed.iter().filter(|&&(_, of, _)| of == row).count();
            assert!(owned.with(row, |row| row.len()) == there, "{op:?}: {there} are on row {row}");
        }
    }
    // Of each that was ever listed, and of one that was not.
    let unstarted = owned.end_started(0..=inserted, |&address| address);
    assert!(
        unstarted.iter().all(|&address| listed.iter().all(|&(.., there)| there != address)),
        "{unstarted:?} never ran"
    );
    assert!(
        unstarted.len() + listed.len() == inserted + 1,
        "{unstarted:?} are given back of {inserted}, and {listed:?} waited"
    );
    let mut pauses = 0;
    owned.close_all(|| pauses += 1);
    let busy: usize = listed.iter().map(|&(.., address)| address - 1).sum();
    assert!(pauses == busy, "between two tries there is a pause: {pauses}, and not {busy}");
    let mut ended = std::mem::take(&mut *ended.lock().unwrap_or_else(PoisonError::into_inner));
    ended.sort_unstable();
    assert!(ended == listed.iter().map(|&(.., address)| address).collect::<Vec<_>>(), "each is ended once: {ended:?}");
    assert!(owned.is_empty(), "all have ended");
    assert!(listed.iter().all(|&(key, ..)| owned.remove(key, |_| ()).is_none()), "one that was ended is listed");
    format!("rows {rows}, ended {}", ended.len())
}

const FIRST: &str = "owned_tasks::each_ends_once::a_first_wait_beside_it";
const WAKE: &str = "owned_tasks::each_ends_once::a_wake_beside_it";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("owned_tasks::each_ends_once::a_first_wait_beside_it", a_first_wait_beside_it,
        claim: "a task that runs, and waits for the first time, as its runtime is shut down is ended by the closer; if \
            it never ran it is given back",
        size: "2 threads, 1 task",
        invariants: [53, 56, 123],
        must_reach: ["given back 0, polled 1, Dropped", "given back 1, polled 0, Dropped"],
        runs: [rc11(), sc()]),
    crate::model!("owned_tasks::each_ends_once::a_wake_beside_it", a_wake_beside_it,
        claim: "a task that is woken as its runtime is shut down comes to its end, or is ended by the closer, which \
            finds it queued, or waiting, or about to be woken; it runs no more after that",
        size: "3 threads, 1 task, 1 wake",
        invariants: [53, 54, 56, 57, 123],
        must_reach: ["given back 0, busy false, polled 2, Output", "given back 0, busy false, polled 1, Dropped",
            "given back 0, busy true, polled 1, Dropped", "given back 0, busy false, polled 1, Output",
            "given back 1, busy false, polled 0, Dropped"],
        runs: [rc11(), sc_cut()]),
    crate::model!("owned_tasks::each_ends_once::an_abort_beside_it", an_abort_beside_it,
        claim: "a task that is aborted as its runtime is shut down is ended once, by its M or by the closer",
        size: "3 threads, 1 task, 1 abort",
        invariants: [53, 56, 57, 123],
        must_reach: ["busy false, polled 1, Dropped", "busy true, polled 1, Dropped"],
        runs: [rc11(), sc_cut()]),
    crate::model!("owned_tasks::each_ends_once::the_last_waker_beside_it", the_last_waker_beside_it,
        claim: "a task that waits, and whose other wakers are dropped as its runtime is shut down, is ended and freed once",
        size: "3 threads, 1 task",
        invariants: [53, 56, 123],
        must_reach: ["given back 0, busy false, polled 1, Dropped", "given back 1, busy false, polled 0, Dropped"],
        runs: [rc11(), sc()]),
    crate::model!("owned_tasks::each_ends_once::a_spawn_beside_it", a_spawn_beside_it,
        claim: "a task that is spawned as its runtime is shut down runs, or is given back, or is dropped by its \
                spawner",
        size: "3 threads, 1 task",
        invariants: [53, 56, 123],
        must_reach: ["given back 0, busy false, polled 1, Output", "given back 1, busy false, polled 0, Dropped",
            "given back 0, busy false, polled 0, Dropped"],
        runs: [rc11(), sc()]),
    crate::model!("owned_tasks::each_ends_once::two_wait", two_wait,
        claim: "of two tasks that wait, on one row or on two, one is woken as their runtime is shut down: each ends once",
        size: "3 threads, 2 tasks, 1 wake",
        invariants: [53, 54, 56, 57, 123],
        must_reach: ["busy false, polled 2, Output", "busy false, polled 1, Dropped", "busy true, polled 1, Dropped"],
        runs: [rc11(), sc_cut()]),
    crate::model!("owned_tasks::each_ends_once::moved_by_hand", moved_by_hand,
        claim: "which task is listed where, which of those that are queued have waited, and which are ended, step by step",
        size: "1 thread, every 4 moves: a task is listed on one of 3 rows, the oldest or the newest is not any more; 1 to 3 rows",
        invariants: [123],
        must_reach: ["rows 1, ended 4", "rows 3, ended 4", "rows 2, ended 0"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "owned_tasks";
    "owned-tasks-looks-before-the-scheduler-is-closed": "the closer looks which tasks have waited before the M has \
                                                         ended",
        variant("owned-tasks-looks-before-the-scheduler-is-closed"), by WAKE => [Rc11];
    "owned-tasks-ends-before-the-scheduler-is-closed": "the closer ends what waits before the M has ended",
        variant("owned-tasks-ends-before-the-scheduler-is-closed"), by FIRST => [Rc11, Sc];
    "owned-tasks-drops-what-never-ran": "the closer ends all that is queued",
        variant("owned-tasks-drops-what-never-ran"), by FIRST => [Rc11, Sc];
    "owned-tasks-asks-once": "the closer leaves a task that a waker is about to wake",
        variant("owned-tasks-asks-once"), by WAKE => [Rc11, Sc];
    "owned-tasks-drops-what-is-woken-while-polled": "a task that is woken while it is polled is dropped, though its runtime goes on",
        variant("task-drops-what-is-woken-while-polled"), by WAKE => [Rc11];
    "owned-tasks-ends-under-the-lock": "the closer ends what waits under the lock of its row",
        variant("owned-tasks-ends-under-the-lock"), by FIRST => [Rc11, Sc];
};
