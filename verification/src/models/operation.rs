//! Models of an operation that the system completes: what it uses is freed once, and not before.

use crate::harness::common::{Counted, party};
use crate::harness::told::{Log, Told};
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::operation::{self as steps, Operation};
use spinpark_kernel::host::Host;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// What the system uses: it writes there until it is done, and the thread that frees it does so too. Without an order
/// between the two that is a race.
struct Buffer<H: ModelHost> {
    bytes: Arc<H::Cell<u64>>,
    /// No memory of the model's: it orders nothing there, and is read when all has ended.
    freed: Arc<AtomicUsize>,
}

/// What the system leaves in a buffer.
const DATA: u64 = 7;
/// What is in it once it is freed.
const GARBAGE: u64 = 0;

impl<H: ModelHost> Drop for Buffer<H> {
    fn drop(&mut self) {
        self.bytes.set(GARBAGE);
        self.freed.fetch_add(1, SeqCst);
    }
}

/// An operation, and the same buffer as the system has it.
struct Tiny<H: ModelHost> {
    operation: Operation<H, Buffer<H>>,
    bytes: Arc<H::Cell<u64>>,
    waited: H::Cell<bool>,
    freed: Arc<AtomicUsize>,
}

impl<H: ModelHost> Tiny<H> {
    fn new() -> Arc<Self> {
        let (bytes, freed) = (Arc::new(Cell::new(1)), Arc::new(AtomicUsize::new(0)));
        let buffer = Buffer { bytes: Arc::clone(&bytes), freed: Arc::clone(&freed) };
        Arc::new(Tiny { operation: Operation::<H, _>::new(buffer), bytes, waited: Cell::new(false), freed })
    }

    /// The system: fills the buffer, and completes.
    fn completes(&self) {
        let was = self.bytes.get();
        self.bytes.set(DATA);
        steps::complete(&self.operation, 1);
        // Last: where the engine finds a race, that is what is reported, and replayed.
        assert!(was != GARBAGE, "the system filled a buffer that was freed");
    }

    /// The task waits for the data.
    fn waits(&self) {
        let (buffer, result) = steps::wait(&self.operation, || self.waited.set(true));
        assert!(result == 1 && buffer.bytes.get() == DATA, "it is complete, and what the system wrote is not seen");
    }

    fn was_freed_once(&self) {
        let freed = self.freed.load(SeqCst);
        assert!(freed == 1, "both sides have ended, and the buffer was freed {freed} times");
    }
}

/// The system completes; the task waits for it.
fn a_wait_beside_the_completion<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let system = party::<H, _, _>("system", &tiny, Tiny::completes);
    tiny.waits();
    H::join(system);
    tiny.was_freed_once();
    format!("waited: {}", tiny.waited.get())
}

/// The system completes; the task gives up, after it has polled or before.
fn a_task_that_gives_up_beside_the_completion<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new();
    let polls = H::choose(2) == 1;
    let system = party::<H, _, _>("system", &tiny, Tiny::completes);
    let sleeper = crate::harness::sleeper::Sleeper::<H>::new();
    let taken = polls.then(|| tiny.operation.poll(&mut sleeper.untrusted_lender()).is_ready());
    let cancels = steps::give_up(&tiny.operation);
    assert!(!(cancels && taken == Some(true)), "its result was taken, and it is to be cancelled");
    H::join(system);
    tiny.was_freed_once();
    format!("taken: {}, cancels: {cancels}", taken == Some(true))
}

/// What is known of an operation that is moved by hand.
#[derive(Default)]
struct Known {
    /// The waiter, by this waker.
    waits: Option<u64>,
    is_complete: bool,
    is_taken: bool,
    has_given_up: bool,
}

/// A task polls, by one waker or another, or gives up, and the system completes: four moves, then what is left of the two.
fn moved_by_hand<H: ModelHost>() -> String {
    type State = spinpark_kernel::waits::operation::State<Counted, u64, Told>;
    let (log, freed) = (Arc::new(Log::default()), Arc::new(AtomicUsize::new(0)));
    let held = Counted(Arc::clone(&freed));
    let operation =
        spinpark_kernel::waits::operation::Operation::<Counted, u64, Told, <H as Host>::Lock<State>>::new(held);
    let (is_trusted, mut known) = (H::choose(2) == 1, Known::default());
    for n in 0..6 {
        let mut woken = Vec::new();
        let is_over = known.is_taken || known.has_given_up;
        // The last two moves are its ends.
        match if n < 4 { H::choose(4) } else { n - 2 } {
            by @ 0..2 if !is_over => {
                let polled = operation.poll(&mut log.lender(by as u64, is_trusted));
                known.is_taken = polled.is_ready();
                known.waits = (!known.is_taken).then_some(by as u64);
                assert!(
                    known.is_taken == known.is_complete,
                    "complete: {}, taken: {}",
                    known.is_complete,
                    known.is_taken
                );
            }
            2 if !is_over => {
                (known.has_given_up, known.waits) = (true, None);
                let cancels = operation.give_up();
                assert!(cancels != known.is_complete, "complete: {}, to be cancelled: {cancels}", known.is_complete);
            }
            3 if !known.is_complete => {
                known.is_complete = true;
                woken.extend(known.waits.take());
                assert!(!operation.complete(1).settle(), "it is complete, and under way still");
            }
            _ => (),
        }
        assert!(log.take_woken() == woken, "not {woken:?}");
        let told = usize::from(known.is_taken || known.has_given_up && known.is_complete);
        assert!(freed.load(SeqCst) == told, "freed {} times, not {told}", freed.load(SeqCst));
    }
    format!("taken: {}", known.is_taken)
}

const WAIT: &str = "operation::what_it_uses_is_freed_once::a_wait_beside_the_completion";
const GIVES_UP: &str = "operation::what_it_uses_is_freed_once::a_task_that_gives_up_beside_the_completion";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("operation::what_it_uses_is_freed_once::a_wait_beside_the_completion", a_wait_beside_the_completion,
        claim: "a task that waits for an operation goes on when it is complete, and sees what the system wrote",
        size: "2 threads, 1 operation",
        invariants: [120],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("operation::what_it_uses_is_freed_once::a_task_that_gives_up_beside_the_completion",
        a_task_that_gives_up_beside_the_completion,
        claim: "what an operation uses is freed once, and not before it is complete, also if the task gives up beside the completion",
        size: "2 threads, 1 operation, polled before or not",
        invariants: [120],
        must_reach: ["taken: true, cancels: false", "taken: false, cancels: true", "taken: false, cancels: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("operation::what_it_uses_is_freed_once::moved_by_hand", moved_by_hand,
        claim: "what a poll, the completion and the task's end answer, whom they wake and what they free is what a list says",
        size: "1 thread, every 4 moves: poll by either of two wakers, give up, complete; then the ends",
        invariants: [120],
        must_reach: ["taken: true", "taken: false"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "operation";
    "operation-looks-and-waits-apart": "the task looks, and leaves its waker under another lock",
        variant("looks-and-waits-apart"), by WAIT => [Sc, Rc11];
    "operation-completes-silently": "a completion wakes no task",
        variant("completes-silently"), by WAIT => [Sc, Rc11];
    "operation-frees-what-is-used": "a task that gives up frees what the system may still use",
        variant("frees-what-is-used"), by GIVES_UP => [Sc, Rc11];
    "operation-looks-and-gives-up-apart": "a task that gives up looks whether it is complete, and gives up under another lock",
        variant("looks-and-gives-up-apart"), by GIVES_UP => [Sc, Rc11];
    "operation-looks-and-completes-apart": "whether the task has given up is looked at under one lock, and it is completed under another",
        variant("looks-and-completes-apart"), by GIVES_UP => [Sc, Rc11];
};
