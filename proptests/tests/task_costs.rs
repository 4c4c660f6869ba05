//! What a task's life costs its word: the table at the top of `src/kernel/src/task/mod.rs`, counted.
//!
//! Played by hand on one thread. A smaller number is no mistake: put it in, there and here.

use spinpark_kernel::task::{self, Active, Handle, JoinerSlot, Memory, Mode, TaskWord, View, WakerWords};
use spinpark_proptests::solo::Solo;
use spinpark_verification::hosts::wrap::count::{Count, Counts};
use std::cell::Cell;
use std::task::Poll;

type Host = Count<Solo>;

/// What the future does when it is polled.
#[derive(Clone, Copy)]
enum Does {
    Waits,
    WakesItself,
    Ends,
}

/// A task, and what became of it.
struct Task {
    word: TaskWord<Host>,
    slot: JoinerSlot<Host>,
    does: Cell<Does>,
    is_queued: Cell<bool>,
    is_freed: Cell<bool>,
    joiners_woken: Cell<u32>,
}

impl Task {
    fn new(does: Does) -> (Self, Handle) {
        let (word, _active, handle) = TaskWord::new();
        let (is_queued, is_freed, joiners_woken) = (Cell::new(true), Cell::new(false), Cell::new(0));
        let does = Cell::new(does);
        (Task { word, slot: JoinerSlot::new(), does, is_queued, is_freed, joiners_woken }, handle)
    }

    fn run(&self) {
        assert!(self.is_queued.take(), "it was not queued");
        task::run(self, Active::forge());
    }

    fn asks(&self, handle: &Handle) -> Poll<View> {
        let words = WakerWords { data: 1, vtable: 1 };
        task::poll_handle(self, handle, |old| (old != Some(words)).then_some(words))
    }
}

impl Memory for Task {
    type Host = Host;

    fn word(&self) -> &TaskWord<Host> {
        &self.word
    }
    fn slot(&self) -> &JoinerSlot<Host> {
        &self.slot
    }
    fn poll(&self, _: &Active) -> Poll<()> {
        match self.does.get() {
            Does::Ends => Poll::Ready(()),
            Does::Waits | Does::WakesItself => Poll::Pending,
        }
    }
    fn has_woken_itself(&self) -> bool {
        matches!(self.does.get(), Does::WakesItself)
    }
    fn drop_future(&self, _: &Active) {}
    fn drop_output(&self) {}
    fn schedule(&self, _: Active, _: Mode) -> Result<(), Active> {
        assert!(!self.is_queued.replace(true), "it is queued twice");
        Ok(())
    }
    fn wake_joiner(&self, _: WakerWords) {
        self.joiners_woken.set(self.joiners_woken.get() + 1);
    }
    fn drop_joiner(&self, _: WakerWords) {}
    fn free(&self) {
        assert!(!self.is_freed.replace(true), "it is freed twice");
    }
}

/// Does `act`, with so many read-modify-writes of the word, and no fence, lock or wake.
#[track_caller]
fn exchanges<T>(what: &str, rmws: u64, act: impl FnOnce() -> T) -> T {
    let (done, counts) = Counts::of(act);
    let rest = Counts { loads: 0, stores: 0, rmws: 0, ..counts };
    assert_eq!(counts.rmws, rmws, "{what} cost {counts}");
    assert_eq!(rest, Counts::NONE, "{what} cost {counts}");
    done
}

#[test]
fn a_wake_takes_one_exchange_and_so_does_the_wait() {
    let (task, _handle) = Task::new(Does::Waits);
    task.word.clone_waker();
    exchanges("a poll of what then waits", 1, || task.run());
    exchanges("a wake", 1, || task::wake_by_ref(&task));
    exchanges("a poll of what then waits", 1, || task.run());
}

#[test]
fn a_yield_takes_none() {
    let (task, _handle) = Task::new(Does::WakesItself);
    task.word.clone_waker();
    for _ in 0..3 {
        exchanges("a yield", 0, || task.run());
    }
}

#[test]
fn a_task_without_a_handle_takes_one_from_its_spawn_to_its_end() {
    let (task, handle) = exchanges("a spawn", 0, || Task::new(Does::Ends));
    exchanges("letting the handle go", 1, || task::drop_handle(&task, handle, false));
    exchanges("the run", 0, || task.run());
    assert!(task.is_freed.get());
}

#[test]
fn a_task_that_is_awaited_takes_two() {
    let (task, handle) = Task::new(Does::Ends);
    assert!(exchanges("the handle is asked", 1, || task.asks(&handle)).is_pending());
    exchanges("the run", 1, || task.run());
    assert_eq!(task.joiners_woken.get(), 1);
    assert!(exchanges("the handle is asked again", 0, || task.asks(&handle)).is_ready());
    exchanges("the handle goes", 0, || task::drop_handle(&task, handle, true));
    assert!(task.is_freed.get());
}

#[test]
fn a_task_whose_output_is_there_already_takes_one() {
    let (task, handle) = Task::new(Does::Ends);
    exchanges("the run", 1, || task.run());
    assert!(exchanges("the handle is asked", 0, || task.asks(&handle)).is_ready());
    exchanges("the handle goes", 0, || task::drop_handle(&task, handle, true));
    assert!(task.is_freed.get() && task.joiners_woken.get() == 0);
}
