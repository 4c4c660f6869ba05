//! An executor of one's own on the bare kernel, in a hundred lines: `cargo run --release --example embed_executor`.
//!
//! The kernel moves Gs, which are numbers, and never looks into them. Here a number is the address of a future's task,
//! made by async-task. What an embedder writes is three things: how a G becomes runnable (`schedule`), how an M lives
//! (`live`), and what happens to what never ran (`Drop`). Nothing of `spinpark::runtime` is used but the host.

use async_task::{Runnable, Task};
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::sched::config::{Config, ConfigError};
use spinpark::kernel::sched::{Closed, Sched};
use spinpark::kernel::types::g::G;
use spinpark::runtime::Cores;
use std::cell::RefCell;
use std::future::Future;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

type Kernel = Arc<Sched<Cores>>;

thread_local! {
    /// The M that this thread is, while it runs a G.
    static M: RefCell<Option<(Kernel, Worker)>> = const { RefCell::new(None) };
}

/// Ends with the last line of `main`. Tasks share the kernel, not this: its end waits for the Ms, so no M may bring it.
struct Executor(Kernel);

impl Executor {
    fn new(procs: usize) -> Result<Executor, ConfigError> {
        Sched::new(Config { procs, ..Config::default() }, (), live).map(Executor)
    }
}

impl Drop for Executor {
    /// Ends the Ms after what they run now. What never ran is dropped, and the tasks that await it get an error.
    fn drop(&mut self) {
        self.0.close().into_iter().for_each(|g| drop(into_runnable(g)));
    }
}

fn spawn<F: Future<Output: Send> + Send + 'static>(kernel: &Kernel, future: F) -> Task<F::Output> {
    let weak = Arc::downgrade(kernel);
    let schedule = move |runnable| match weak.upgrade() {
        Some(kernel) => schedule(&kernel, runnable),
        None => drop(runnable),
    };
    // A task that panics gives the panic to the task that awaits it, and harms no M.
    let (runnable, task) = async_task::Builder::new().propagate_panic(true).spawn(|()| future, schedule);
    runnable.schedule();
    task
}

/// A task can run. On an M of the same kernel it is the next in line there; from anywhere else it goes to all.
fn schedule(kernel: &Kernel, runnable: Runnable) {
    let g = into_g(runnable);
    let from_outside = M.with_borrow_mut(|m| match m {
        Some((mine, worker)) if Arc::ptr_eq(mine, kernel) => {
            kernel.ready(worker, g);
            None
        }
        _ => Some(g),
    });
    if let Some(Err(Closed(g))) = from_outside.map(|g| kernel.submit(g)) {
        drop(into_runnable(g));
    }
}

/// An M's life: runs Gs until there will be no more.
fn live(kernel: &Kernel, mut worker: Worker) {
    while let Some((mine, g)) = kernel.next(worker) {
        M.set(Some((Arc::clone(kernel), mine)));
        into_runnable(g).run();
        (_, worker) = M.take().expect("no other thread takes it");
    }
}

fn into_g(runnable: Runnable) -> G {
    let address = runnable.into_raw().as_ptr() as u64;
    G::from_raw(NonZeroU64::new(address).expect("no task is at address 0"))
}

fn into_runnable(g: G) -> Runnable {
    let address = NonNull::new(g.into_raw().get() as *mut ()).expect("it is not 0");
    // SAFETY: the number came out of `into_g`, and the kernel gives each G back once: to an M, or from `close`.
    unsafe { Runnable::from_raw(address) }
}

/// Runs `future` on this thread, which is no M.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Lets others run.
async fn yield_now() {
    let mut has_yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A tree: each task waits for the two that it spawned.
fn tree(kernel: Kernel, depth: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        yield_now().await;
        if depth == 0 {
            return 1;
        }
        let [left, right] = [(); 2].map(|()| spawn(&kernel, tree(Arc::clone(&kernel), depth - 1)));
        left.await + right.await
    })
}

pub(crate) fn main() -> Result<(), ConfigError> {
    let executor = Executor::new(4)?;
    let leaves = block_on(spawn(&executor.0, tree(Arc::clone(&executor.0), 12)));
    let snapshot = executor.0.snapshot();
    println!("a tree of {} tasks, each of which waits for two others: {leaves} leaves", 2 * leaves - 1);
    println!("{} threads were enough for {} Ps", snapshot.alive, snapshot.procs);
    assert_eq!(leaves, 4096);

    // A panic, but for the message that it would print.
    let lost = spawn(&executor.0, async { resume_unwind(Box::new("on purpose")) });
    let lost: Result<(), _> = catch_unwind(AssertUnwindSafe(|| block_on(lost)));
    println!("a task that panicked harmed no M, and told the one that waited for it: {}", lost.is_err());
    Ok(())
}
