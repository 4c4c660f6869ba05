//! The steps of a shutdown, the right ones unless a variant says otherwise.

use crate::harness::owned_task::Queued;
use crate::harness::owned_tasks::Tiny;
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::variant;
use spinpark_kernel::waits::owned_tasks::Owned;

/// Ends the tasks of this runtime, as `Tasks::close` does. See [`OwnedTasks`](spinpark_kernel::waits::owned_tasks::OwnedTasks).
pub fn close<H: ModelHost>(tiny: &Tiny<H>, m: H::Thread<()>, mut busy: impl FnMut(usize)) -> Vec<Queued<H>> {
    let owned = &tiny.owned;
    let mut tries = 0;
    let pause = || {
        tries += 1;
        busy(tries);
    };
    match variant() {
        Some("owned-tasks-looks-before-the-scheduler-is-closed") => {
            let started = owned.addresses();
            let left = tiny.close_scheduler(m);
            let (started, unstarted) = left.into_iter().partition(|task| started.contains(&task.number()));
            drop::<Vec<_>>(started);
            owned.close_all(pause);
            unstarted
        }
        Some("owned-tasks-ends-before-the-scheduler-is-closed") => {
            owned.close_all(pause);
            let left = tiny.close_scheduler(m);
            owned.end_started(left, Queued::number)
        }
        Some("owned-tasks-drops-what-never-ran") => {
            drop(tiny.close_scheduler(m));
            owned.close_all(pause);
            Vec::new()
        }
        Some("owned-tasks-asks-once") => {
            let left = tiny.close_scheduler(m);
            let unstarted = owned.end_started(left, Queued::number);
            (0..owned.rows()).for_each(|row| {
                let tasks = owned.with(row, std::mem::take);
                tasks.into_iter().for_each(|(_, task)| drop((task.close(), task)));
            });
            unstarted
        }
        Some("owned-tasks-ends-under-the-lock") => {
            let left = tiny.close_scheduler(m);
            let unstarted = owned.end_started(left, Queued::number);
            (0..owned.rows()).for_each(|row| {
                owned.with(row, |tasks| tasks.drain().for_each(|task| assert!(task.close(), "no waker closes it")));
            });
            unstarted
        }
        _ => {
            let left = tiny.close_scheduler(m);
            let unstarted = owned.end_started(left, Queued::number);
            owned.close_all(pause);
            unstarted
        }
    }
}
