//! What the tests of sockets run in.

use core::future::Future;
use core::pin::Pin;

/// Runs a test's future, in a runtime of its own.
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    let runtime = crate::Runtime::builder().procs(2).build().expect("a runtime");
    runtime.block_on(future).expect("no deadlock")
}

/// Runs a future as a task of its own.
pub(crate) fn spawn<F>(future: F) -> Pin<Box<dyn Future<Output = F::Output> + Send>>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let task = crate::spawn(future);
    Box::pin(async move { task.await.expect("the task did not panic") })
}
